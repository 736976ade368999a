/*
** drivers/postgresql_two_phase.c: transactions that are prepared, to be committed or rolled back by whoever knows
** their name.
**
** PostgreSQL has room for max_prepared_transactions of them, by default for none. That is asked when the first one
** begins: what would fail at its end is better not begun.
*/
#include <stdio.h>
#include <string.h>

#include "postgresql.h"

static int has_room(pg_connection *c) {
  PGresult *result = NULL;
  int rc = pg_run(c, "SHOW max_prepared_transactions", &result);
  if (rc != EDB_OK) return rc;
  int none = result && pq.ntuples(result) == 1 && strcmp(pq.getvalue(result, 0, 0), "0") == 0;
  if (result) pq.clear(result);
  if (none) {
    edb_fail(&c->error, EDB_UNSUPPORTED,
             "the server prepares no transactions, which two_phase needs");
    edb_fail_hint(&c->error,
                  "set max_prepared_transactions in its postgresql.conf above 0, to the number of "
                  "transactions at once, and restart it");
    return EDB_UNSUPPORTED;
  }
  c->prepares = 1;
  return EDB_OK;
}

int pg_two_phase_begin(pg_connection *c, const char *name) {
  c->two_phase[0] = 0;
  if (!name) return EDB_OK;
  int rc = edb_two_phase_check(name, &c->error);
  if (rc == EDB_OK && !c->prepares) rc = has_room(c);
  if (rc == EDB_OK) edb_copy_line(c->two_phase, sizeof c->two_phase, name, strlen(name));
  return rc;
}

int pg_two_phase_prepare(void *transaction) {
  pg_connection *c = transaction;
  char sql[EDB_TWO_PHASE_NAME + 32];
  if (!c->two_phase[0]) {
    edb_error why;
    int rc = pg_end(c, "ROLLBACK", NULL);
    if (rc != EDB_OK) return rc;
    edb_fail(&why, EDB_INVALID_QUERY, "the transaction has no name to be prepared under");
    c->error = why;
    return EDB_INVALID_QUERY;
  }
  snprintf(sql, sizeof sql, "PREPARE TRANSACTION '%s'", c->two_phase);
  return pg_end(c, sql, "PREPARE TRANSACTION");
}

int pg_two_phase_resolve(void *connection, const char *name, int commit) {
  pg_connection *c = connection;
  char sql[EDB_TWO_PHASE_NAME + 32];
  int rc = pg_ready(c);
  if (rc == EDB_OK) rc = edb_two_phase_check(name, &c->error);
  if (rc != EDB_OK) return rc;
  snprintf(sql, sizeof sql, "%s PREPARED '%s'", commit ? "COMMIT" : "ROLLBACK", name);
  rc = pg_run(c, sql, NULL);
  /* Only "there is none" may be read as that: not that the user may not, that another database has it, … */
  if (rc == EDB_INVALID_QUERY && strcmp(c->error.sqlstate, "42704") != 0) {
    c->error.code = EDB_FAILED;
    rc = EDB_FAILED;
  }
  return rc;
}
