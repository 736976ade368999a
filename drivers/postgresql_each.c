/*
** drivers/postgresql_each.c: a statement that runs many times without waiting in between: libpq's pipeline.
**
** All runs are sent, then the point of synchronization up to which the server goes through them; behind one that
** fails it skips the rest. What SAVEPOINTs and RELEASEs were set down (postgresql_savepoint.c) go before them.
*/
#include <string.h>

#include "postgresql.h"

/* What the results of a pipeline have said. */
typedef struct each {
  size_t before;     /* results of what was set down, which come first */
  size_t done, runs; /* of the statement */
  int64_t *affected;
  int failed; /* the first error, which is the connection's then */
} each;

static void take_result(pg_connection *c, each *e, PGresult *result) {
  const int status = pq.resultStatus(result);
  if (status == PGRES_PIPELINE_ABORTED) return;
  if (status != PGRES_COMMAND_OK) {
    if (e->failed == EDB_OK) e->failed = pg_result_error(c, result);
  } else if (e->before > 0) {
    e->before--;
  } else if (e->done < e->runs) {
    e->affected[e->done++] = pg_tag_count(result);
  }
}

/* Takes results up to the point of synchronization. */
static int take_results(pg_connection *c, each *e) {
  for (;;) {
    const int rc = pg_wait(c);
    if (rc != EDB_OK) return rc;
    PGresult *result = pq.getResult(c->pq);
    if (!result && pq.status(c->pq) == CONNECTION_BAD) return pg_lost(c);
    if (!result) continue; /* between two commands */
    const int synced = pq.resultStatus(result) == PGRES_PIPELINE_SYNC;
    if (!synced) take_result(c, e, result);
    pq.clear(result);
    if (synced) return e->failed;
  }
}

/* Sends as many runs as there are with parameters that fit. 0: libpq failed. */
static int send_runs(pg_statement *s, const edb_parameter *parameters, size_t n, size_t runs,
                     int *unfit) {
  pg_connection *c = s->connection;
  for (size_t i = 0; i < runs; i++) {
    *unfit = pg_encode(s, parameters + i * n, n);
    if (*unfit != EDB_OK) return 1;
    if (!pq.sendQueryPrepared(c->pq, s->name, s->n_parameters, s->parameter_values, s->lengths,
                              s->formats, 1)) {
      return 0;
    }
  }
  return 1;
}

int pg_run_each(pg_statement *s, const edb_parameter *parameters, size_t n, size_t runs,
                int64_t *affected, size_t *done) {
  pg_connection *c = s->connection;
  each e = {.affected = affected, .runs = runs};
  int unfit = EDB_OK;
  edb_error why;
  if (!pq.pipelineSync || !s->name[0] || s->n_columns > 0) {
    return edb_fail(&c->error, EDB_UNSUPPORTED, "this statement waits for each answer");
  }
  c->pipeline = (unsigned char)pq.enterPipelineMode(c->pq);
  int sent = c->pipeline && pg_pipeline_deferred(c, &e.before) &&
             send_runs(s, parameters, n, runs, &unfit);
  why = c->error;
  int rc = pg_sent(c, sent && pq.pipelineSync(c->pq));
  if (rc == EDB_OK) rc = take_results(c, &e);
  pg_settle_deferred(c, rc);
  c->pipeline = 0;
  if (!pq.exitPipelineMode(c->pq) && rc == EDB_OK) rc = pg_lost(c);
  pg_drop_notifications(c);
  *done = e.done;
  if (rc != EDB_OK || unfit == EDB_OK) return rc;
  c->error = why;
  return unfit;
}
