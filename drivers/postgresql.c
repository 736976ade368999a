/*
** drivers/postgresql.c: PostgreSQL, through libpq.
**
**   postgresql://app:secret@db.example/shop?sslmode=verify-full&fetch=auto
**
** The driver's table is here, with what every call has in common: the order of calls is checked, a connection
** that is gone answers EDB_CLOSED. The rest, in reading order: postgresql_library.c (libpq), _connect.c
** (options, waiting, stopping, errors), _statement.c (preparing, describing), _encode.c (parameters), _each.c (many runs at once), _rows.c
** (the reader), _load.c (COPY to the server), _savepoint.c, _value.c and _text.c (values), _two_phase.c (prepared transactions),
** _catalog.c (SQL).
**
** Memory kept in the host's allocator: the connection; a buffer that grows to the largest parameters; one
** that grows to the largest row of rendered values; for each statement its SQL, columns and parameters. libpq
** keeps the chunk of rows that is read, and its own buffers, by malloc.
*/
#include <string.h>

#include "postgresql.h"

/* ---- What calls have in common -------------------------------------------------------------------- */

static int busy(pg_connection *c) {
  return edb_fail(&c->error, EDB_BUSY, "a %s is open on this connection",
                  c->loading ? "load" : "reader");
}

/* Whether a command can start, before which nothing is sent. */
static int ready_at_all(pg_connection *c) {
  if (c->rows.open || c->loading) return busy(c);
  if (c->dead) return edb_fail(&c->error, EDB_CLOSED, "the connection to the server is gone");
  atomic_store_explicit(&c->cancelled, 0, memory_order_relaxed);
  edb_fail(&c->error, EDB_OK, "%s", "");
  return EDB_OK;
}

int pg_ready(pg_connection *c) {
  int rc = ready_at_all(c);
  return rc == EDB_OK ? pg_send_deferred(c) : rc;
}

static int cancel(void *connection) {
  pg_connection *c = connection;
  /* Whoever waits for the server looks at it in each slice, and does the rest. */
  atomic_store(&c->cancelled, 1);
  return EDB_OK;
}

static const edb_error *detail(void *connection) { return &((pg_connection *)connection)->error; }

/* ---- Statements ------------------------------------------------------------------------------------ */

static int prepare(void *connection, const char *sql, double expected, void **statement) {
  pg_connection *c = connection;
  pg_statement *s;
  int rc = pg_ready(c);
  if (rc == EDB_OK) rc = pg_statement_new(c, sql, expected, 1, &s);
  if (rc == EDB_OK) *statement = s;
  return rc;
}

static int statement_close(void *statement) {
  pg_statement *s = statement;
  if (s->connection->rows.open || s->connection->loading) return busy(s->connection);
  pg_statement_free(s);
  return EDB_OK;
}

static int run(pg_statement *s, const edb_parameter *parameters, size_t n, int64_t *affected) {
  pg_connection *c = s->connection;
  int rc = pg_encode(s, parameters, n);
  if (rc == EDB_OK) rc = pg_statement_send(s);
  if (rc != EDB_OK) return rc;
  if (s->n_columns > 0) pq.setSingleRowMode(c->pq);
  return pg_affected(c, affected);
}

static int statement_execute(void *statement, const edb_parameter *parameters, size_t n,
                             int64_t *affected) {
  pg_statement *s = statement;
  pg_connection *c = s->connection;
  int rc = ready_at_all(c);
  if (rc != EDB_OK) return rc;
  if (c->deferred.n > 0 && s->name[0] && s->n_columns == 0 && pq.pipelineSync) {
    rc = pg_encode(s, parameters, n);
    return rc == EDB_OK ? pg_run_with_deferred(s, affected) : rc;
  }
  rc = pg_send_deferred(c);
  return rc == EDB_OK ? run(s, parameters, n, affected) : rc;
}

static int statement_each(void *statement, const edb_parameter *parameters, size_t n, size_t runs,
                          int64_t *affected, size_t *done) {
  pg_statement *s = statement;
  int rc = ready_at_all(s->connection);
  return rc == EDB_OK ? pg_run_each(s, parameters, n, runs, affected, done) : rc;
}

static int statement_query(void *statement, const edb_parameter *parameters, size_t n,
                           void **rows) {
  pg_statement *s = statement;
  int rc = ready_at_all(s->connection);
  return rc == EDB_OK ? pg_rows_start(s, parameters, n, 0, rows) : rc;
}

static int execute(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                   int64_t *affected) {
  pg_connection *c = connection;
  pg_statement *s;
  int rc = ready_at_all(c);
  *affected = 0;
  if (rc == EDB_OK && n == 0 && pg_defer(c, sql)) return rc;
  if (rc == EDB_OK) rc = pg_send_deferred(c);
  if (rc != EDB_OK) return rc;
  if (n == 0) {
    c->unnamed++;
    rc = pg_sent(c, pq.sendQueryParams(c->pq, sql, 0, NULL, NULL, NULL, NULL, 0));
    if (rc != EDB_OK) return rc;
    pq.setSingleRowMode(c->pq);
    return pg_affected(c, affected);
  }
  rc = pg_statement_new(c, sql, 0, 0, &s);
  if (rc != EDB_OK) return rc;
  rc = run(s, parameters, n, affected);
  pg_statement_free(s);
  return rc;
}

static int query(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                 void **rows) {
  pg_connection *c = connection;
  pg_statement *s;
  int rc = pg_ready(c);
  if (rc == EDB_OK) rc = pg_statement_new(c, sql, 0, 0, &s);
  if (rc != EDB_OK) return rc;
  rc = pg_rows_start(s, parameters, n, 1, rows);
  if (rc != EDB_OK) pg_statement_free(s);
  return rc;
}

/* ---- Transactions: their context is the connection ------------------------------------------------- */

/* REPEATABLE READ is PostgreSQL's snapshot isolation, from the first statement on. */
static const char *begin_sql(const edb_transaction_spec *spec) {
  if (spec->snapshot) {
    return spec->readonly ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                          : "BEGIN ISOLATION LEVEL REPEATABLE READ";
  }
  return spec->readonly ? "BEGIN READ ONLY" : "BEGIN";
}

static int begin(void *connection, const edb_transaction_spec *spec, void **transaction) {
  pg_connection *c = connection;
  int rc = pg_ready(c);
  if (rc != EDB_OK) return rc;
  if (c->transaction) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "a transaction is open on this connection");
  }
  rc = pg_two_phase_begin(c, spec->two_phase);
  if (rc == EDB_OK) rc = pg_run(c, begin_sql(spec), NULL);
  if (rc != EDB_OK) return rc;
  c->transaction = 1;
  *transaction = c;
  return EDB_OK;
}

static int transaction_execute(void *transaction, const char *sql, const edb_parameter *parameters,
                               size_t n, int64_t *affected) {
  return execute(transaction, sql, parameters, n, affected);
}

static int transaction_query(void *transaction, const char *sql, const edb_parameter *parameters,
                             size_t n, void **rows) {
  return query(transaction, sql, parameters, n, rows);
}

/* Whatever comes of it, the transaction is over: a connection on which that cannot be reached is given up, and the
** server rolls back. */
int pg_end(pg_connection *c, const char *sql, const char *tag) {
  PGresult *result = NULL;
  if (c->rows.open || c->loading) return busy(c);
  c->transaction = 0;
  pg_drop_deferred(c);
  int rc = pg_ready(c);
  if (rc != EDB_OK) return rc;
  rc = pg_run(c, sql, &result);
  if (result) {
    if (tag && strcmp(pq.cmdStatus(result), tag) != 0) {
      rc = edb_fail(&c->error, EDB_FAILED, "the transaction had failed and was rolled back");
    }
    pq.clear(result);
  }
  if (!c->dead && pq.transactionStatus(c->pq) != PQTRANS_IDLE) {
    edb_error why = c->error;
    if (pg_run(c, "ROLLBACK", NULL) != EDB_OK) c->dead = 1;
    c->error = why;
  }
  return edb_fail_ended(&c->error, rc); /* COMMIT is where some serialization failures show */
}

static int transaction_commit(void *transaction) {
  pg_connection *c = transaction;
  int gone = c->dead;
  int rc = pg_end(c, "COMMIT", "COMMIT");
  if (rc != EDB_OK && c->dead && !gone) edb_fail_unknown(&c->error);
  return rc;
}

static int transaction_rollback(void *transaction) { return pg_end(transaction, "ROLLBACK", NULL); }

/* ---- Loads ------------------------------------------------------------------------------------------- */

static int load(void *connection, const edb_load_spec *spec, void **out) {
  pg_connection *c = connection;
  int rc = pg_ready(c);
  return rc == EDB_OK ? pg_load_begin(c, spec, out) : rc;
}

/* ---- The driver ------------------------------------------------------------------------------------- */

static const edb_methods methods = {
    .version = 1,
    .close = pg_close,
    .prepare = prepare,
    .execute = execute,
    .query = query,
    .begin = begin,
    .statement_close = statement_close,
    .statement_execute = statement_execute,
    .statement_query = statement_query,
    .statement_each = statement_each,
    .rows_columns = pg_rows_columns,
    .rows_next = NULL,
    .rows_next_borrowed = pg_rows_next_borrowed,
    .rows_close = pg_rows_close,
    .transaction_execute = transaction_execute,
    .transaction_query = transaction_query,
    .transaction_commit = transaction_commit,
    .transaction_rollback = transaction_rollback,
    .load = load,
    .load_row = pg_load_row,
    .load_end = pg_load_end,
    .load_abort = pg_load_abort,
    .transaction_prepare = pg_two_phase_prepare,
    .resolve = pg_two_phase_resolve,
    .cancel = cancel,
    .detail = detail,
    .alive = pg_alive,
};

static const char *const schemes[] = {"postgresql", "postgres", NULL};

const edb_driver edb_postgresql_driver = {
    .name = "postgresql",
    .schemes = schemes,
    .url = EDB_URL_AUTHORITY,
    .options = pg_options,
    .dialect = &pg_dialect,
    .catalog = &pg_catalog,
    .methods = &methods,
    .open = pg_open,
    .library = pg_library_name,
};
