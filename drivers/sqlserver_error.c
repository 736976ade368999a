/*
** drivers/sqlserver_error.c: errors and messages of the server.
*/
#include <stdio.h>
#include <string.h>

#include "sqlserver.h"

/* Those with a portable meaning, and those to which ODBC gives an SQLSTATE of their own: TDS has none. */
static const struct {
  int32_t number;
  edb_code code;
  char sqlstate[6];
} codes[] = {
    {102, EDB_INVALID_QUERY, "42000"},  /* syntax */
    {207, EDB_INVALID_QUERY, "42S22"},  /* no such column */
    {208, EDB_INVALID_QUERY, "42S02"},  /* no such table */
    {220, EDB_INVALID_QUERY, "22003"},  /* overflow */
    {229, EDB_INVALID_QUERY, "42000"},  /* permission */
    {241, EDB_INVALID_QUERY, "22007"},  /* no date */
    {242, EDB_INVALID_QUERY, "22007"},  /* a date out of range */
    {245, EDB_INVALID_QUERY, "22018"},  /* conversion */
    {515, EDB_CONSTRAINT, "23000"},     /* NULL into NOT NULL */
    {547, EDB_CONSTRAINT, "23000"},     /* foreign key, check */
    {1205, EDB_BUSY, "40001"},          /* victim of a deadlock */
    {1222, EDB_BUSY, "HYT00"},          /* a lock was not granted in time */
    {2601, EDB_CONSTRAINT, "23000"},    /* unique index */
    {2627, EDB_CONSTRAINT, "23000"},    /* unique constraint */
    {2628, EDB_INVALID_QUERY, "22001"}, /* text that is too long */
    {2714, EDB_INVALID_QUERY, "42S01"}, /* the table is there already */
    {3930, EDB_FAILED, "25000"},        /* the transaction is doomed */
    {3951, EDB_UNSUPPORTED, "25000"},   /* no snapshot isolation in a transaction begun without */
    {3952, EDB_UNSUPPORTED, "25000"},   /* the database does not allow it: ALTER DATABASE */
    {3960, EDB_BUSY, "40001"},          /* snapshot isolation: somebody else was first */
    {8114, EDB_INVALID_QUERY, "22018"}, /* conversion */
    {8115, EDB_INVALID_QUERY, "22003"}, /* overflow */
    {8134, EDB_INVALID_QUERY, "22012"}, /* division by zero */
    {8152, EDB_INVALID_QUERY, "22001"}, /* text that is too long */
    {18452, EDB_FAILED, "28000"},       /* logins that are refused */
    {18456, EDB_FAILED, "28000"},
};

/* At login, those that pass: the server is starting, moving or too busy. */
static const int32_t transient[] = {4060,  4221,  10053, 10054, 10060, 10928, 10929, 17142,
                                    40143, 40197, 40501, 40540, 40613, 49918, 49919, 49920};

#define MS_CONFLICT 547 /* of a check as well, which the text tells in every language */
#define MS_UPDATE_CONFLICT 3960
#define INFORMATION 10 /* severities up to it are no errors */
#define LAST_OF_USER 16
#define FATAL 20 /* from it on, the server closes the connection */

edb_code ms_code_of(int32_t number, unsigned severity, int logged_in) {
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (codes[i].number == number) return codes[i].code;
  }
  for (size_t i = 0; !logged_in && i < sizeof transient / sizeof transient[0]; i++) {
    if (transient[i] == number) return EDB_CLOSED;
  }
  if (severity >= FATAL) return EDB_CLOSED;
  return logged_in && severity <= LAST_OF_USER ? EDB_INVALID_QUERY : EDB_FAILED;
}

/* Cut at a whole character where the text is longer than the buffer. */
void ms_line(char *out, size_t size, tds_utf16 text) {
  char utf8[3 * 512];
  const size_t units = text.units < 512 ? text.units : 512;
  edb_copy_line(out, size, utf8, tds_to_utf8(utf8, text.p, units));
}

static const char *sqlstate_of(int32_t number, edb_code code) {
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (codes[i].number == number) return codes[i].sqlstate;
  }
  return code == EDB_INVALID_QUERY ? "42000" : "";
}

void ms_take_error(ms_connection *c) {
  const tds_token *t = &c->stream.token;
  char text[sizeof c->error.message], procedure[200];
  if (t->as.message.number == MS_DOOMED && c->transaction) c->lost = 1;
  if (c->reply.failed) return;
  c->reply.failed = 1;
  ms_line(text, sizeof text, t->as.message.text);
  edb_fail(&c->error, ms_code_of(t->as.message.number, t->as.message.severity, c->logged_in), "%s",
           text[0] ? text : "the server gave no reason");
  c->error.vendor = t->as.message.number;
  c->error.foreign_key = t->as.message.number == MS_CONFLICT &&
                         (strstr(text, "FOREIGN KEY") || strstr(text, "REFERENCE"));
  const char *sqlstate = sqlstate_of(t->as.message.number, c->error.code);
  edb_copy_line(c->error.sqlstate, sizeof c->error.sqlstate, sqlstate, strlen(sqlstate));
  if (c->error.vendor == MS_UPDATE_CONFLICT) edb_fail_hint(&c->error, "%s", EDB_CHANGED_SINCE);
  ms_line(procedure, sizeof procedure, t->as.message.procedure);
  if (procedure[0]) {
    edb_fail_hint(&c->error, "in procedure %s, line %d", procedure, (int)t->as.message.line);
  }
}

void ms_take_info(ms_connection *c) {
  enum { DATABASE_CHANGED = 5701, LANGUAGE_CHANGED = 5703 };
  const tds_token *t = &c->stream.token;
  char text[1024];
  const int32_t number = t->as.message.number;
  if (!c->host->log || number == DATABASE_CHANGED || number == LANGUAGE_CHANGED) return;
  ms_line(text, sizeof text, t->as.message.text);
  c->host->log(c->host->context, text, strlen(text));
}

int ms_refused(ms_connection *c) {
  char text[300];
  const int known = c->stream.fault.what && c->stream.failed == TDS_UNSUPPORTED;
  tds_fault_text(&c->stream.fault, text, sizeof text);
  c->link.broken = 1;
  c->reply.open = 0;
  if (known) return edb_fail(&c->error, EDB_UNSUPPORTED, "%s", text);
  edb_fail(&c->error, EDB_CLOSED, "what the server sent cannot be read: %s", text);
  edb_fail_hint(
      &c->error,
      "the connection is given up; if it happens again, is what answers there a SQL Server?");
  return EDB_CLOSED;
}

int ms_nomem(ms_connection *c) { return edb_fail(&c->error, EDB_NOMEM, "out of memory"); }
