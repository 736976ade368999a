/*
** drivers/postgresql_error.c: what the server and libpq say, as errors of the contract; notices to the log.
*/
#include <string.h>

#include "postgresql.h"

/* SQLSTATEs by their beginning; the first that fits counts. */
static const struct {
  const char *prefix;
  edb_code code;
} codes[] = {
    {"23", EDB_CONSTRAINT},    {"40001", EDB_BUSY},        {"40P01", EDB_BUSY},
    {"55P03", EDB_BUSY},       {"55006", EDB_BUSY},        {"08", EDB_CLOSED},
    {"57P0", EDB_CLOSED},      {"57014", EDB_INTERRUPTED}, {"0A", EDB_UNSUPPORTED},
    {"42", EDB_INVALID_QUERY}, {"22", EDB_INVALID_QUERY},  {"21", EDB_INVALID_QUERY},
    {"26", EDB_INVALID_QUERY}, {"34", EDB_INVALID_QUERY},  {"3D", EDB_INVALID_QUERY},
    {"3F", EDB_INVALID_QUERY}, {"2B", EDB_INVALID_QUERY},  {"44", EDB_CONSTRAINT},
};

edb_code pg_code_of(const char *sqlstate) {
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (strncmp(sqlstate, codes[i].prefix, strlen(codes[i].prefix)) == 0) return codes[i].code;
  }
  return EDB_FAILED;
}

size_t pg_trimmed(const char *text) {
  size_t n = strlen(text);
  while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) n--;
  return n;
}

int pg_lost(pg_connection *c) {
  const char *text = c->pq ? pq.errorMessage(c->pq) : "";
  size_t n = pg_trimmed(text);
  c->dead = 1;
  if (n == 0) return edb_fail(&c->error, EDB_CLOSED, "the connection to the server is gone");
  return edb_fail(&c->error, EDB_CLOSED, "%.*s", n > 2000 ? 2000 : (int)n, text);
}

/* The row of a COPY that an error is about: "COPY items, line 5, column price: ...", in the server's language, so
** that only the table's name and the number behind it are sure. 0: it is not about one. */
static int64_t copied_row(const pg_connection *c, const char *context) {
  size_t n = strlen(c->loading);
  for (const char *line = context; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, "COPY ", 5) != 0 || strncmp(line + 5, c->loading, n) != 0) continue;
    const char *p = line + 5 + n + strcspn(line + 5 + n, "0123456789\n:");
    int64_t row = 0;
    for (; *p >= '0' && *p <= '9' && row < INT64_MAX / 20; p++) row = row * 10 + (*p - '0');
    return row > 0 ? c->copied_before + row : 0;
  }
  return 0;
}

int pg_result_error(pg_connection *c, const PGresult *result) {
  const char *message = pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char *sqlstate = pq.resultErrorField(result, PG_DIAG_SQLSTATE);
  const char *detail = pq.resultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
  const char *hint = pq.resultErrorField(result, PG_DIAG_MESSAGE_HINT);
  const char *severity = pq.resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (!message) {
    /* libpq's own: what came was no answer of the server's, or there is no connection any more. */
    if (pq.status(c->pq) == CONNECTION_BAD) return pg_lost(c);
    message = pq.resultErrorMessage(result);
  }
  size_t n = pg_trimmed(message);
  edb_code code = sqlstate ? pg_code_of(sqlstate) : EDB_FAILED;
  /* After these the server ends the connection, whatever the reason. */
  if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)) {
    code = EDB_CLOSED;
    c->dead = 1;
  }
  edb_fail(&c->error, code, "%.*s", n > 2000 ? 2000 : (int)n, message);
  c->error.foreign_key = sqlstate && strcmp(sqlstate, "23503") == 0;
  if (sqlstate)
    edb_copy_line(c->error.sqlstate, sizeof c->error.sqlstate, sqlstate, strlen(sqlstate));
  const char *context = c->loading ? pq.resultErrorField(result, PG_DIAG_CONTEXT) : NULL;
  if (context) c->error.row = copied_row(c, context);
  if (sqlstate && strcmp(sqlstate, "40001") == 0 && !detail && !hint) hint = EDB_CHANGED_SINCE;
  if (detail || hint) {
    edb_fail_hint(&c->error, "%s%s%s", detail ? detail : "", detail && hint ? " " : "",
                  hint ? hint : "");
  }
  return (int)code;
}

void pg_notice(void *context, const PGresult *result) {
  const edb_host *host = ((const pg_connection *)context)->host;
  if (!host->log) return;
  const char *severity = pq.resultErrorField(result, PG_DIAG_SEVERITY);
  const char *message = pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (!message) message = pq.resultErrorMessage(result);
  edb_error line;
  edb_fail(&line, EDB_OK, "%s%s%s", severity ? severity : "", severity ? ": " : "", message);
  host->log(host->context, line.message, strlen(line.message));
}
