/*
** drivers/postgresql_savepoint.c: SAVEPOINT and RELEASE, which travel with the command that follows them.
**
** Within a transaction each of them would cost a round trip, and they come before every single write that may fail
** by itself. They are set down instead, and sent in one pipeline with the next prepared statement, or in one simple query
** before any other command. What would fail of them fails then: there is nothing but a lost connection, or a name that nobody
** has. A COMMIT or a ROLLBACK ends what they are about, so they are dropped.
*/
#include <stdio.h>
#include <string.h>

#include "postgresql.h"

/* `SAVEPOINT name` or `RELEASE SAVEPOINT name`, of a name that needs no quotes. */
static int is_savepoint(const char *sql) {
  static const char *const forms[] = {"SAVEPOINT ", "RELEASE SAVEPOINT "};
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    size_t n = strlen(forms[i]);
    if (strncmp(sql, forms[i], n) == 0) return sql[n] && !sql[n + strspn(sql + n, letters)];
  }
  return 0;
}

int pg_defer(pg_connection *c, const char *sql) {
  if (!c->transaction || !is_savepoint(sql)) return 0;
  if (pq.transactionStatus(c->pq) != PQTRANS_INTRANS) return 0; /* it fails, and must say so */
  size_t before = c->deferred.n;
  edb_buffer_text(&c->deferred, sql);
  edb_buffer_text(&c->deferred, ";");
  if (c->deferred.nomem) c->deferred.n = before;
  return !c->deferred.nomem;
}

int pg_send_deferred(pg_connection *c) {
  if (c->deferred.n == 0) return EDB_OK;
  c->deferred.n = 0;
  return pg_run(c, c->deferred.p, NULL);
}

void pg_drop_deferred(pg_connection *c) { c->deferred.n = 0; }

/* They are few and come again and again: prepared, they cost the server a third less. */
static int send_prepared(pg_connection *c, const char *sql, size_t *count) {
  const size_t n = sizeof c->savepoints / sizeof c->savepoints[0];
  pg_savepoint *s = NULL;
  if (strlen(sql) >= sizeof s->sql) {
    c->unnamed++;
    return pq.sendQueryParams(c->pq, sql, 0, NULL, NULL, NULL, NULL, 0);
  }
  for (size_t i = 0; i < n && !s; i++) {
    if (strcmp(c->savepoints[i].sql, sql) == 0) s = &c->savepoints[i];
  }
  if (!s) {
    s = &c->savepoints[c->next_savepoint++ % n];
    if (s->sql[0]) pg_deallocate_later(c, s->name);
    edb_copy_line(s->sql, sizeof s->sql, sql, strlen(sql));
    snprintf(s->name, sizeof s->name, "edb%lu", ++c->serial);
    s->fresh = 1;
    if (!pq.sendPrepare(c->pq, s->name, sql, 0, NULL)) return 0;
    ++*count;
  }
  return pq.sendQueryPrepared(c->pq, s->name, 0, NULL, NULL, NULL, 0);
}

/* Each by itself: the extended protocol takes one statement at a time. The text is cut up on the way. */
int pg_pipeline_deferred(pg_connection *c, size_t *count) {
  *count = 0;
  if (c->deferred.n == 0) return 1;
  c->deferred.n = 0;
  for (char *sql = c->deferred.p, *end; (end = strchr(sql, ';')) != NULL; sql = end + 1) {
    *end = 0;
    if (!send_prepared(c, sql, count)) return 0;
    ++*count;
  }
  return 1;
}

/* Whether one that was prepared on the way is there after an error, nobody knows: it is not used again. */
void pg_settle_deferred(pg_connection *c, int rc) {
  for (size_t i = 0; i < sizeof c->savepoints / sizeof c->savepoints[0]; i++) {
    if (c->savepoints[i].fresh && rc != EDB_OK) c->savepoints[i].sql[0] = 0;
    c->savepoints[i].fresh = 0;
  }
}

int pg_run_with_deferred(pg_statement *s, int64_t *affected) {
  pg_connection *c = s->connection;
  c->pipeline = (unsigned char)pq.enterPipelineMode(c->pq);
  size_t count;
  int sent = c->pipeline && pg_pipeline_deferred(c, &count) &&
             pq.sendQueryPrepared(c->pq, s->name, s->n_parameters, s->parameter_values, s->lengths,
                                  s->formats, 1) &&
             pq.pipelineSync(c->pq);
  int rc = pg_sent(c, sent);
  if (rc == EDB_OK) rc = pg_affected(c, affected);
  pg_settle_deferred(c, rc);
  return pg_leave_pipeline(c, rc);
}

/* Takes the results of the first commands of a pipeline. */
static int take_deferred(pg_connection *c, size_t commands) {
  while (commands > 0) {
    int rc = pg_wait(c);
    if (rc != EDB_OK) return rc;
    PGresult *result = pq.getResult(c->pq);
    if (!result && pq.status(c->pq) == CONNECTION_BAD) return pg_lost(c);
    commands -= !result; /* behind each command */
    const int good = !result || pq.resultStatus(result) == PGRES_COMMAND_OK;
    if (!good) rc = pg_result_error(c, result);
    if (result) pq.clear(result);
    if (good) continue;
    const edb_error why = c->error;
    if (pg_drain(c) != EDB_CLOSED) c->error = why;
    return (int)c->error.code;
  }
  return EDB_OK;
}

int pg_query_with_deferred(pg_statement *s) {
  pg_connection *c = s->connection;
  size_t count = 0;
  c->pipeline = (unsigned char)pq.enterPipelineMode(c->pq);
  int rc = pg_sent(c, c->pipeline && pg_pipeline_deferred(c, &count) &&
                          pq.sendQueryPrepared(c->pq, s->name, s->n_parameters, s->parameter_values,
                                               s->lengths, s->formats, !s->text) &&
                          pq.pipelineSync(c->pq));
  if (rc == EDB_OK) rc = take_deferred(c, count);
  pg_settle_deferred(c, rc);
  return rc == EDB_OK ? rc : pg_leave_pipeline(c, rc);
}

int pg_leave_pipeline(pg_connection *c, int rc) {
  c->pipeline = 0;
  if (c->dead || pq.exitPipelineMode(c->pq)) return rc;
  if (rc == EDB_OK || rc == EDB_DONE) return pg_lost(c);
  c->dead = 1;
  return rc;
}
