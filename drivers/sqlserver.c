/*
** drivers/sqlserver.c: SQL Server and Azure SQL, which edb speaks to itself: TDS (tds/) over TLS (tls/).
**
**   sqlserver://app:secret@db.example/shop?encrypt=strict&ca=/etc/ssl/corp.pem
**   sqlserver://app@old.example:1433/shop?encrypt=mandatory&password_env=SHOP_PASSWORD
**
** The driver's table is here, with what every call has in common: the order of calls is checked, a connection
** that is gone answers EDB_CLOSED, a transaction that the server has ended or doomed takes nothing but its
** rollback, so that nothing of it is committed by itself. The rest, in reading order: _options.c, _connect.c,
** _browser.c, _login.c, _session.c (of TLS), _link.c (bytes), _request.c, _reply.c, _error.c, _statement.c, _rows.c, _load.c, _catalog.c (SQL).
**
** Memory kept in the host's allocator: one block with the connection and the buffers of TLS (about 230 KB); the
** packets of the longest request (32 KB and more; above 1 MB it is given back); descriptions of columns; the
** longest row that straddles packets and the text of a row (above 256 KB given back when the reader is closed); for each
** statement its SQL and its parameters' types.
*/
#include <string.h>

#include "sqlserver.h"

/* ---- What calls have in common -------------------------------------------------------------------- */

static int busy(ms_connection *c) {
  return edb_fail(&c->error, EDB_BUSY, "a reader is open on this connection");
}

/* Whether a command can start, be it the end of a transaction. */
static int may_start(ms_connection *c) {
  if (c->rows.open) return busy(c);
  if (c->loading) return edb_fail(&c->error, EDB_BUSY, "a load is open on this connection");
  if (ms_dead(c)) return edb_fail(&c->error, EDB_CLOSED, "the connection to the server is gone");
  atomic_store_explicit(&c->link.cancelled, 0, memory_order_relaxed);
  return edb_fail(&c->error, EDB_OK, "%s", "");
}

static int ready(ms_connection *c) {
  const int rc = may_start(c);
  if (rc != EDB_OK || !c->lost) return rc;
  edb_fail(&c->error, EDB_FAILED, "the transaction has been ended by the server");
  edb_fail_hint(&c->error, "roll it back; nothing more is done in it");
  return EDB_FAILED;
}

static int reset(void *connection) {
  ms_connection *c = connection;
  const int rc = may_start(c);
  if (rc != EDB_OK) return rc;
  if (c->transaction) return edb_fail(&c->error, EDB_BUSY, "a transaction is open");
  return ms_setup(c, 1);
}

static int cancel(void *connection) {
  ms_connection *c = connection;
  /* Whoever waits for the server looks at it in each slice, and does the rest. */
  atomic_store(&c->link.cancelled, 1);
  return EDB_OK;
}

static const edb_error *detail(void *connection) { return &((ms_connection *)connection)->error; }

static int alive(void *connection) {
  const ms_connection *c = connection;
  return !ms_dead(c) && edb_net_alive(&c->link.net);
}

/* ---- Statements ------------------------------------------------------------------------------------ */

static int prepare(void *connection, const char *sql, double expected, void **statement) {
  ms_connection *c = connection;
  ms_statement *s;
  (void)expected;
  int rc = ready(c);
  if (rc == EDB_OK) rc = ms_statement_new(c, sql, &s);
  if (rc == EDB_OK) *statement = s;
  return rc;
}

static int statement_close(void *statement) {
  ms_statement *s = statement;
  if (s->connection->rows.open) return busy(s->connection);
  ms_statement_free(s);
  return EDB_OK;
}

/* What was changed. A procedure may keep its counts to itself (SET NOCOUNT ON). */
static int count(ms_connection *c, int rc, int64_t *affected) {
  if (rc == EDB_OK) rc = ms_finish(c);
  rc = ms_ended(c, rc);
  *affected = c->reply.affected;
  return rc;
}

static int statement_execute(void *statement, const edb_parameter *parameters, size_t n,
                             int64_t *affected) {
  ms_statement *s = statement;
  int rc = ready(s->connection);
  if (rc == EDB_OK) {
    rc = count(s->connection, ms_statement_start(s, parameters, n), affected);
    *affected = s->connection->reply.last; /* a trigger's statements count before it */
    ms_statement_ended(s);
  }
  return rc;
}

static int statement_query(void *statement, const edb_parameter *parameters, size_t n,
                           void **rows) {
  ms_statement *s = statement;
  int rc = ready(s->connection);
  if (rc == EDB_OK) rc = ms_statement_start(s, parameters, n);
  return rc == EDB_OK ? ms_rows_start(s->connection, s, rows) : rc;
}

static int execute(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                   int64_t *affected) {
  ms_connection *c = connection;
  int rc = ready(c);
  if (rc != EDB_OK) return rc;
  rc = count(c, ms_start(c, sql, parameters, n), affected);
  if (n == 0 && c->reply.procedure && !c->reply.counted) *affected = -1;
  return rc;
}

static int query(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                 void **rows) {
  ms_connection *c = connection;
  int rc = ready(c);
  if (rc == EDB_OK) rc = ms_start(c, sql, parameters, n);
  return rc == EDB_OK ? ms_rows_start(c, NULL, rows) : rc;
}

static int load(void *connection, const edb_load_spec *spec, void **context) {
  ms_connection *c = connection;
  const int rc = ready(c);
  return rc == EDB_OK ? ms_load_begin(c, spec, context) : rc;
}

/* ---- Transactions: their context is the connection ------------------------------------------------- */

static int run(ms_connection *c, ms_kind kind) {
  const ms_request request = {.kind = kind};
  return ms_run(c, &request);
}

/* What is read outside of transactions needs no database that allows snapshots. */
static void leave_snapshot(ms_connection *c) {
  const edb_error why = c->error;
  if (c->snapshot && !ms_dead(c) &&
      ms_run_batch(c, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED") != EDB_OK) {
    c->link.broken = 1;
  }
  c->snapshot = 0;
  c->error = why;
}

static int begin(void *connection, const edb_transaction_spec *spec, void **transaction) {
  ms_connection *c = connection;
  int rc = ready(c);
  const edb_transaction_spec kind = {0, spec->readonly, spec->two_phase};
  if (rc == EDB_OK) rc = edb_spec_plain(&kind, &c->error);
  if (rc != EDB_OK) return rc;
  if (c->transaction || c->descriptor) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "a transaction is open on this connection");
  }
  c->told = 0;
  c->transaction = 1;
  c->snapshot = spec->snapshot != 0;
  rc = run(c, MS_BEGIN);
  if (rc == EDB_OK && c->descriptor == 0) {
    c->link.broken = 1;
    rc = edb_fail(&c->error, EDB_FAILED, "the server began no transaction");
  }
  if (rc != EDB_OK) {
    /* One that was begun all the same must not stay open. */
    if (c->descriptor) c->link.broken = 1;
    c->transaction = c->lost = 0;
    leave_snapshot(c);
    return rc;
  }
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
static int end(ms_connection *c, ms_kind kind) {
  int rc = may_start(c);
  const int was_lost = c->lost;
  if (rc == EDB_BUSY) return rc;
  c->transaction = c->lost = 0;
  if (rc != EDB_OK) return rc;
  c->ending = 1;
  if (was_lost && kind == MS_COMMIT) {
    rc = edb_fail(&c->error, EDB_FAILED, "the transaction had failed and was rolled back");
  } else if (c->descriptor) {
    rc = run(c, kind);
    if (rc != EDB_OK && kind == MS_COMMIT && ms_dead(c)) edb_fail_unknown(&c->error);
  }
  if (c->descriptor && !ms_dead(c)) {
    const edb_error why = c->error;
    if (run(c, MS_ROLLBACK) != EDB_OK || c->descriptor) c->link.broken = 1;
    c->error = why;
  }
  leave_snapshot(c);
  c->ending = 0;
  return edb_fail_ended(&c->error, rc);
}

static int transaction_commit(void *transaction) { return end(transaction, MS_COMMIT); }

static int transaction_rollback(void *transaction) { return end(transaction, MS_ROLLBACK); }

/* ---- The driver ------------------------------------------------------------------------------------- */

static const edb_methods methods = {
    .version = 1,
    .close = ms_close,
    .prepare = prepare,
    .execute = execute,
    .query = query,
    .begin = begin,
    .statement_close = statement_close,
    .statement_execute = statement_execute,
    .statement_query = statement_query,
    .rows_columns = ms_rows_columns,
    .rows_next = NULL,
    .rows_next_borrowed = ms_rows_next_borrowed,
    .rows_close = ms_rows_close,
    .transaction_execute = transaction_execute,
    .transaction_query = transaction_query,
    .transaction_commit = transaction_commit,
    .transaction_rollback = transaction_rollback,
    .load = load,
    .load_row = ms_load_row,
    .load_end = ms_load_end,
    .load_abort = ms_load_abort,
    .cancel = cancel,
    .detail = detail,
    .alive = alive,
    .reset = reset,
};

/* Nothing has to be installed. */
static const char *library(void) { return ""; }

static const char *const schemes[] = {"sqlserver", NULL};

const edb_driver edb_sqlserver_driver = {
    .name = "sqlserver",
    .schemes = schemes,
    .url = EDB_URL_AUTHORITY,
    .options = ms_options,
    .dialect = &ms_dialect,
    .catalog = &ms_catalog,
    .methods = &methods,
    .open = ms_open,
    .library = library,
};
