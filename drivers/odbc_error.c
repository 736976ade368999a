/*
** drivers/odbc_error.c: diagnostic records, as errors of the contract.
*/
#include <string.h>

#include "odbcInt.h"

#define RECORDS 8 /* of one call that are read */
#define RECORD_UNITS 2048

/* ---- Codes ------------------------------------------------------------------------------------- */

/* By what the SQLSTATE begins with; the longest one first where two do. */
static const struct {
  const char *prefix;
  edb_code code;
} states[] = {
    {"23", EDB_CONSTRAINT},     {"44", EDB_CONSTRAINT},     {"40001", EDB_BUSY},
    {"40P01", EDB_BUSY},        {"40002", EDB_CONSTRAINT},  {"40", EDB_BUSY},
    {"55P03", EDB_BUSY},        {"57033", EDB_BUSY},        {"57014", EDB_INTERRUPTED},
    {"70100", EDB_INTERRUPTED}, {"HY008", EDB_INTERRUPTED}, {"HYT00", EDB_INTERRUPTED},
    {"HYT01", EDB_CLOSED},      {"08007", EDB_CLOSED},      {"08", EDB_CLOSED},
    {"57P", EDB_CLOSED},        {"42", EDB_INVALID_QUERY},  {"22", EDB_INVALID_QUERY},
    {"21", EDB_INVALID_QUERY},  {"07", EDB_INVALID_QUERY},  {"3D", EDB_INVALID_QUERY},
    {"3F", EDB_INVALID_QUERY},  {"37", EDB_INVALID_QUERY},  {"S0", EDB_INVALID_QUERY},
    {"S1T00", EDB_INTERRUPTED}, {"HYC00", EDB_UNSUPPORTED}, {"0A", EDB_UNSUPPORTED},
    {"IM001", EDB_UNSUPPORTED}, {"HY001", EDB_NOMEM},
};

/* Where a driver says HY000 of everything: the server's own numbers. */
static const struct {
  const char *dbms;
  int vendor;
  edb_code code;
} numbers[] = {
    {"sqlite", 1, EDB_INVALID_QUERY}, {"sqlite", 5, EDB_BUSY},
    {"sqlite", 6, EDB_BUSY},          {"sqlite", 9, EDB_INTERRUPTED},
    {"sqlite", 19, EDB_CONSTRAINT},   {"mysql", 1205, EDB_BUSY},
    {"mysql", 1213, EDB_BUSY},        {"mysql", 1317, EDB_INTERRUPTED},
    {"mysql", 1364, EDB_CONSTRAINT},  {"mysql", 1366, EDB_INVALID_QUERY},
    {"mysql", 1969, EDB_INTERRUPTED}, {"mysql", 2006, EDB_CLOSED},
    {"mysql", 2013, EDB_CLOSED},      {"mysql", 2055, EDB_CLOSED},
    {"mysql", 4025, EDB_CONSTRAINT},  {"sqlserver", 1205, EDB_BUSY},
    {"mysql", 1020, EDB_BUSY},        {"sqlserver", 3960, EDB_BUSY},
    {"sqlserver", 1222, EDB_BUSY},    {"sqlserver", 20004, EDB_CLOSED},
    {"sqlserver", 20006, EDB_CLOSED}, {"sqlserver", 20047, EDB_CLOSED},
};

/* With these the transaction is over, and what follows would be committed by itself. */
static const struct {
  const char *dbms;
  int vendor;
} ends[] = {{"mysql", 1213}, {"sqlserver", 1205}, {"sqlserver", 3960}};

static int ends_transaction(const od_connection *c, int vendor) {
  const char *dbms = c->flavour ? c->flavour->dialect->name : "";
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    if (ends[i].vendor == vendor && strcmp(ends[i].dbms, dbms) == 0) return 1;
  }
  return 0;
}

static edb_code code_of(const od_connection *c, const char *state, int vendor) {
  const char *dbms = c->flavour ? c->flavour->dialect->name : "";
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (numbers[i].vendor == vendor && strcmp(numbers[i].dbms, dbms) == 0) return numbers[i].code;
  }
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    if (strncmp(state, states[i].prefix, strlen(states[i].prefix)) == 0) return states[i].code;
  }
  return EDB_FAILED;
}

/* Which of the constraints are foreign keys: by SQLSTATE, by number, and by words where a number is that of others too. */
static const struct {
  const char *dbms, *state;
  int vendor;
  const char *word;
} foreign_keys[] = {
    {"postgresql", "23503", 0, NULL},
    {"mysql", NULL, 1216, NULL},
    {"mysql", NULL, 1217, NULL},
    {"mysql", NULL, 1451, NULL},
    {"mysql", NULL, 1452, NULL},
    {"sqlserver", NULL, 547, "FOREIGN KEY"},
    {"sqlserver", NULL, 547, "REFERENCE"},
    {"sqlite", NULL, 19, "FOREIGN KEY"},
    {"oracle", NULL, 2291, NULL},
    {"oracle", NULL, 2292, NULL},
    {"db2", "23503", 0, NULL},
    {"db2", "23504", 0, NULL},
};

static int is_foreign_key(const od_connection *c, const edb_error *error) {
  const char *dbms = c->flavour ? c->flavour->dialect->name : "";
  if (error->code != EDB_CONSTRAINT) return 0;
  for (size_t i = 0; i < sizeof foreign_keys / sizeof foreign_keys[0]; i++) {
    if (strcmp(foreign_keys[i].dbms, dbms) != 0) continue;
    if (foreign_keys[i].state && strcmp(foreign_keys[i].state, error->sqlstate) != 0) continue;
    if (foreign_keys[i].vendor && foreign_keys[i].vendor != error->vendor) continue;
    if (!foreign_keys[i].word || strstr(error->message, foreign_keys[i].word)) return 1;
  }
  return 0;
}

/* ---- Records ----------------------------------------------------------------------------------- */

/* Behind "[unixODBC][Vendor][Driver]". */
static const char *without_origin(const char *message) {
  while (*message == '[') {
    const char *end = strchr(message, ']');
    if (!end) break;
    message = end + 1;
  }
  while (*message == ' ') message++;
  return message;
}

/* What a driver repeats of its connection string is masked. */
static void add_masked(od_connection *c, edb_buffer *out, const char *text) {
  while (*text) {
    size_t longest = 0;
    for (char **secret = c->secrets; secret && *secret; secret++) {
      const size_t n = strlen(*secret);
      if (n > longest && strncmp(text, *secret, n) == 0) longest = n;
    }
    if (longest > 0) {
      edb_buffer_text(out, "***");
      text += longest;
    } else {
      edb_buffer_add(out, text++, 1);
    }
  }
}

typedef struct od_record {
  char state[6];
  int vendor;
  edb_buffer text;
} od_record;

/* The i-th record of the handle, from 1; 0: there is none. */
static int read_record(od_connection *c, int kind, SQLHANDLE handle, int i, od_record *record) {
  uint32_t state[6] = {0}; /* in either width */
  uint32_t *message = NULL;
  SQLINTEGER vendor = 0;
  SQLSMALLINT n = 0;
  record->text.n = 0;
  message = edb_alloc(c->host, RECORD_UNITS * sizeof *message);
  if (!message) return 0;
  const SQLRETURN rc = od.GetDiagRec((SQLSMALLINT)kind, handle, (SQLSMALLINT)i, state, &vendor,
                                     message, RECORD_UNITS, &n);
  if (od_ok(rc)) {
    od_text_add(&record->text, state, od_wide_length(state, 5));
    edb_copy_line(record->state, sizeof record->state, record->text.p ? record->text.p : "",
                  record->text.n);
    record->text.n = 0;
    record->vendor = vendor;
    od_text_add(&record->text, message, od_wide_length(message, RECORD_UNITS));
  }
  edb_free(c->host, message);
  return od_ok(rc) && record->text.p;
}

static SQLLEN record_row(int kind, SQLHANDLE handle, int i) {
  SQLLEN row = 0;
  if (kind != SQL_HANDLE_STMT) return 0;
  od.GetDiagField((SQLSMALLINT)kind, handle, (SQLSMALLINT)i, SQL_DIAG_ROW_NUMBER, &row, 0, NULL);
  return row;
}

/* PostgreSQL's serialization failure, SQL Server's update conflict, MariaDB's changed record; 1213 is a deadlock. */
static int is_changed_since(const char *state, int vendor) {
  return (strcmp(state, "40001") == 0 && vendor != 1213) || vendor == 3960 || vendor == 1020;
}

void od_diagnose(od_connection *c, int kind, SQLHANDLE handle, size_t row, edb_error *error) {
  od_record record = {.text = {c->host, NULL, 0, 0, 0}};
  edb_buffer all = {c->host, NULL, 0, 0, 0};
  char state[6] = "";
  int vendor = 0, found = 0;
  for (int i = 1; i <= RECORDS && read_record(c, kind, handle, i, &record); i++) {
    const SQLLEN of = record_row(kind, handle, i);
    if (row != SIZE_MAX && of > 0 && (size_t)of != row + 1) continue;
    /* A warning beside an error is not what the error is called by. */
    if (!found || (strncmp(state, "01", 2) == 0 && strncmp(record.state, "01", 2) != 0)) {
      memcpy(state, record.state, sizeof state);
      vendor = record.vendor;
    }
    if (found++) edb_buffer_text(&all, "; ");
    add_masked(c, &all, without_origin(record.text.p));
  }
  edb_fail(error, code_of(c, state, vendor), "%s",
           all.p && all.n ? all.p : "the driver failed without a word");
  error->vendor = vendor;
  memcpy(error->sqlstate, state, sizeof state);
  if (error->code == EDB_BUSY && is_changed_since(state, vendor))
    edb_fail_hint(error, "%s", EDB_CHANGED_SINCE);
  error->foreign_key = is_foreign_key(c, error);
  edb_buffer_free(&record.text);
  edb_buffer_free(&all);
}

int od_error(od_connection *c, int kind, SQLHANDLE handle) {
  od_diagnose(c, kind, handle, SIZE_MAX, &c->error);
  const edb_code code = c->error.code;
  if (c->transaction && ends_transaction(c, c->error.vendor)) c->doomed = 1;
  if (c->stop != OD_STOP_NONE) {
    /* Whatever the driver called the end of what was stopped. */
    if (code == EDB_CLOSED) c->dead = 1;
    return edb_fail(&c->error, EDB_INTERRUPTED,
                    c->stop == OD_STOP_TIMEOUT ? "the server did not answer within %d ms%s"
                                               : "interrupted%.0d%s",
                    c->host->timeout_ms, c->dead ? "; the connection ends" : "");
  }
  if (code == EDB_CLOSED && c->connected) c->dead = 1;
  return (int)code;
}

int od_statement_error(od_statement *s) {
  od_connection *c = s->connection;
  if (!c->transaction && c->quirk.left_failed) c->left = 1;
  if (c->transaction && c->flavour && c->flavour->dooms) c->doomed = 1;
  return od_error(c, SQL_HANDLE_STMT, s->stmt);
}

/* Autocommit off and on again ends whatever is open. */
void od_settle(od_connection *c) {
  if (!c->left || c->transaction || c->dead) return;
  c->left = 0;
  od.SetConnectAttr(c->dbc, SQL_ATTR_AUTOCOMMIT, (void *)(uintptr_t)0, SQL_IS_UINTEGER);
  od.SetConnectAttr(c->dbc, SQL_ATTR_AUTOCOMMIT, (void *)(uintptr_t)1, SQL_IS_UINTEGER);
}

int od_nomem(od_connection *c) { return edb_fail(&c->error, EDB_NOMEM, "out of memory"); }

void od_notice(od_connection *c, int kind, SQLHANDLE handle) {
  od_record record = {.text = {c->host, NULL, 0, 0, 0}};
  edb_buffer line = {c->host, NULL, 0, 0, 0};
  for (int i = 1; c->host->log && i <= RECORDS && read_record(c, kind, handle, i, &record); i++) {
    line.n = 0;
    add_masked(c, &line, without_origin(record.text.p));
    if (line.p) c->host->log(c->host->context, line.p, line.n);
  }
  edb_buffer_free(&record.text);
  edb_buffer_free(&line);
}
