/*
** drivers/mysql.c: MySQL and MariaDB, through libmariadb or libmysqlclient.
**
**   mysql://app:secret@db.example/shop?ssl-mode=VERIFY_IDENTITY&ssl-ca=ca.pem
**
** The driver's table is here, with what every call has in common: the order of calls is checked, a connection
** that is gone answers EDB_CLOSED, a transaction that the server has ended is not written on. The rest, in
** reading order: mysql_library.c and _layout.c (the client library), _connect.c, _proof.c, _wait.c, _thread.c, _error.c,
** _statement.c, _bind.c (parameters), _each.c (many runs at once), _ahead.c (the answer later), _rows.c (the reader), _value.c; _scan.c, _render.c and _text.c (the
** text protocol); _two_phase.c (XA); _catalog.c (SQL).
**
** Memory kept in the host's allocator: the connection with its options, which a second connection needs to
** stop what the first one does (wiped at the end); a buffer that grows to the largest statement of the text
** protocol; for each statement its SQL, a buffer for each column of text that grows to its longest value, one
** for each parameter. The library keeps one row, and its own buffers, by malloc.
*/
#include <stdint.h>
#include <string.h>

#include "mysql.h"

#define UNKNOWN_VARIABLE 1193 /* ER_UNKNOWN_SYSTEM_VARIABLE */

#define MY_INSERT_ROWS 500 /* of a load, in one statement */

/* ---- What calls have in common -------------------------------------------------------------------- */

static int busy(my_connection *c) {
  return edb_fail(&c->error, EDB_BUSY, "a reader is open on this connection");
}

int my_ready(my_connection *c) {
  if (c->rows.open || c->ahead) return busy(c);
  my_wait_for(c);
  if (c->stop != MY_STOP_NONE || c->killed) my_after_stop(c);
  if (c->dead) return edb_fail(&c->error, EDB_CLOSED, "the connection to the server is gone");
  atomic_store_explicit(&c->cancelled, 0, memory_order_relaxed);
  if (c->error.code != EDB_OK) edb_fail(&c->error, EDB_OK, "%s", "");
  return EDB_OK;
}

static int ready(my_connection *c) {
  int rc = my_ready(c);
  if (rc != EDB_OK || !c->prepared) return rc;
  return edb_fail(&c->error, EDB_BUSY, "the connection's prepared transaction is not resolved yet");
}

/* Whether a statement can: what follows a lost transaction would commit by itself. */
static int ready_to_run(my_connection *c) {
  int rc = ready(c);
  if (rc == EDB_OK && c->transaction && c->doomed) {
    return edb_fail(&c->error, EDB_FAILED,
                    "the server has rolled the transaction back; it takes no more statements");
  }
  return rc;
}

/* After a statement: whether it has ended the transaction, as DDL does. The next ones shall be in one. */
static int still_in_transaction(my_connection *c, int rc) {
  static const char line[] = "the statement ended the transaction: what came before it in the "
                             "transaction is committed, unless it was a ROLLBACK";
  if (rc != EDB_OK || !c->transaction || c->doomed || my_in_transaction(c) != 0) return rc;
  c->committed = 1;
  if (c->host->log) c->host->log(c->host->context, line, sizeof line - 1);
  rc = my_run(c, "START TRANSACTION");
  if (rc != EDB_OK) c->doomed = 1;
  return rc;
}

static int cancel(void *connection) {
  my_connection *c = connection;
  /* Whoever waits for the server looks at it in each slice, and does the rest. */
  atomic_store(&c->cancelled, 1);
  return EDB_OK;
}

static const edb_error *detail(void *connection) { return &((my_connection *)connection)->error; }

/* ---- Statements ------------------------------------------------------------------------------------ */

static int prepare(void *connection, const char *sql, double expected, void **statement) {
  my_connection *c = connection;
  my_statement *s;
  (void)expected;
  int rc = ready_to_run(c);
  if (rc == EDB_OK) rc = my_statement_new(c, sql, &s);
  if (rc == EDB_OK) *statement = s;
  return rc;
}

static int statement_close(void *statement) {
  my_statement *s = statement;
  if (s->connection->rows.open) return busy(s->connection);
  my_statement_free(s);
  return EDB_OK;
}

static int64_t counted(unsigned long long rows) {
  return rows > INT64_MAX ? -1 : (int64_t)rows; /* ~0: there is no count */
}

/* What follows a statement that has run. */
static int ran(my_statement *s, int64_t *affected) {
  my_connection *c = s->connection;
  *affected = s->n_columns > 0
                  ? 0
                  : counted(s->stmt ? my.stmt_affected_rows(s->stmt) : my.affected_rows(c->mysql));
  return still_in_transaction(c, my_statement_finish(s));
}

static int run(my_statement *s, const edb_parameter *parameters, size_t n, int64_t *affected) {
  int rc = my_statement_run(s, parameters, n);
  return rc == EDB_OK ? ran(s, affected) : rc;
}

static int statement_send(void *statement, const edb_parameter *parameters, size_t n) {
  my_statement *s = statement;
  int rc = ready_to_run(s->connection);
  return rc == EDB_OK ? my_statement_send(s, parameters, n) : rc;
}

static int statement_receive(void *statement, int64_t *affected) {
  my_statement *s = statement;
  my_wait_for(s->connection);
  int rc = my_statement_receive(s);
  return rc == EDB_OK ? ran(s, affected) : rc;
}

static int statement_execute(void *statement, const edb_parameter *parameters, size_t n,
                             int64_t *affected) {
  my_statement *s = statement;
  int rc = ready_to_run(s->connection);
  return rc == EDB_OK ? run(s, parameters, n, affected) : rc;
}

static int statement_each(void *statement, const edb_parameter *parameters, size_t n, size_t runs,
                          int64_t *affected, size_t *done) {
  my_statement *s = statement;
  my_connection *c = s->connection;
  int rc = ready_to_run(c);
  *done = SIZE_MAX;
  if (rc != EDB_OK) return rc;
  rc = EDB_UNSUPPORTED;
  if (s->stmt && n > 0 && n == s->n_parameters && s->n_columns == 0 && my_can_bulk(c)) {
    rc = my_run_bulk(s, parameters, n, runs, affected);
    if (rc == EDB_OK) rc = still_in_transaction(c, my_statement_finish(s));
  }
  if (rc != EDB_UNSUPPORTED) return rc;
  for (*done = 0, rc = EDB_OK; rc == EDB_OK && *done < runs; *done += rc == EDB_OK) {
    rc = statement_execute(s, parameters + *done * n, n, &affected[*done]);
  }
  return rc;
}

static int statement_query(void *statement, const edb_parameter *parameters, size_t n,
                           void **rows) {
  my_statement *s = statement;
  int rc = ready_to_run(s->connection);
  return rc == EDB_OK ? my_rows_start(s, parameters, n, 0, rows) : rc;
}

/* One without parameters needs not be prepared: it costs one round trip so. */
static int execute_text(my_connection *c, const char *sql, int64_t *affected) {
  int more = 0;
  if (my_query(c, sql, strlen(sql)) != 0) return my_error(c);
  for (; more == 0; more = my.next_result(c->mysql)) {
    MYSQL_RES *result = my.use_result(c->mysql);
    *affected = result ? 0 : counted(my.affected_rows(c->mysql));
    if (result) my.free_result(result);
    if (my.number(c->mysql) != 0) return my_error(c);
  }
  return more > 0 ? my_error(c) : still_in_transaction(c, EDB_OK);
}

static int execute(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                   int64_t *affected) {
  my_connection *c = connection;
  my_statement *s;
  int rc = ready_to_run(c);
  if (rc != EDB_OK) return rc;
  if (n == 0) return execute_text(c, sql, affected);
  rc = my_statement_new(c, sql, &s);
  if (rc != EDB_OK) return rc;
  rc = run(s, parameters, n, affected);
  my_statement_free(s);
  return rc;
}

static int query(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                 void **rows) {
  my_connection *c = connection;
  my_statement *s;
  int rc = ready_to_run(c);
  if (rc == EDB_OK) rc = my_statement_new(c, sql, &s);
  if (rc != EDB_OK) return rc;
  rc = my_rows_start(s, parameters, n, 1, rows);
  if (rc != EDB_OK) my_statement_free(s);
  return rc;
}

/* ---- Transactions: their context is the connection ------------------------------------------------- */

/* REPEATABLE READ reads one state from the first read on; the words behind START TRANSACTION, which XA does not have, make
** that now. That a write to a row that has changed since is refused, as elsewhere, is a setting of MariaDB's since
** 10.6.18; MySQL does not refuse it. */
static int set_snapshot(my_connection *c) {
  int rc = EDB_OK;
  if (!c->snapshots) rc = my_run(c, "SET SESSION innodb_snapshot_isolation = 1");
  if (rc != EDB_OK && c->error.vendor == UNKNOWN_VARIABLE) rc = EDB_OK;
  c->snapshots = rc == EDB_OK;
  return rc == EDB_OK ? my_run(c, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ") : rc;
}

static int begin_now(my_connection *c, const edb_transaction_spec *spec) {
  int rc = spec->snapshot ? set_snapshot(c) : EDB_OK;
  if (rc != EDB_OK) return rc;
  if (spec->two_phase) return my_two_phase_begin(c, spec->two_phase);
  return my_run(c, spec->snapshot ? "START TRANSACTION WITH CONSISTENT SNAPSHOT"
                                  : "START TRANSACTION");
}

static int begin(void *connection, const edb_transaction_spec *spec, void **transaction) {
  my_connection *c = connection;
  int rc = ready(c);
  const edb_transaction_spec kind = {0, spec->readonly, NULL};
  if (rc == EDB_OK) rc = edb_spec_plain(&kind, &c->error);
  if (rc != EDB_OK) return rc;
  if (c->transaction) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "a transaction is open on this connection");
  }
  rc = begin_now(c, spec);
  if (rc != EDB_OK) return rc;
  c->transaction = 1;
  c->doomed = c->committed = 0;
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

static int commit_now(my_connection *c) {
  int rc = c->two_phase[0] ? my_two_phase_commit(c) : my_run(c, "COMMIT");
  if (rc != EDB_OK && c->dead) edb_fail_unknown(&c->error);
  return rc;
}

static int rollback_now(my_connection *c) {
  return c->two_phase[0] ? my_two_phase_rollback(c) : my_run(c, "ROLLBACK");
}

/* COMMIT or ROLLBACK. Whatever comes of it, the transaction is over: a connection on which that cannot be
** reached is given up, and the server rolls back. */
static int end(my_connection *c, int commit) {
  if (c->rows.open) return busy(c);
  int doomed = c->doomed, committed = c->committed;
  c->transaction = c->doomed = c->committed = 0;
  int rc = ready(c);
  if (rc != EDB_OK) return rc;
  rc = commit && !doomed ? commit_now(c) : rollback_now(c);
  if (rc == EDB_OK && commit && doomed) {
    return edb_fail(&c->error, EDB_FAILED, "the transaction had failed and was rolled back");
  }
  if (rc == EDB_OK && !commit && committed) {
    return edb_fail(
        &c->error, EDB_FAILED,
        "a part of the transaction had been committed by a statement in it, as DDL does");
  }
  if (rc != EDB_OK && !c->dead) {
    edb_error why = c->error;
    if (ready(c) != EDB_OK || rollback_now(c) != EDB_OK) c->dead = 1;
    c->error = why;
  }
  return edb_fail_ended(&c->error, rc);
}

static int transaction_commit(void *transaction) { return end(transaction, 1); }

static int transaction_rollback(void *transaction) { return end(transaction, 0); }

/* ---- Loads: by INSERTs -------------------------------------------------------------------------------- */

static int load(void *connection, const edb_load_spec *spec, void **out) {
  my_connection *c = connection;
  edb_inserts_spec inserts = {.methods = edb_mysql_driver.methods,
                              .dialect = &my_dialect,
                              .connection = c,
                              .host = c->host,
                              .error = &c->error,
                              .rows = MY_INSERT_ROWS};
  int rc = ready_to_run(c);
  if (rc == EDB_OK && my_can_send_ahead(c)) {
    inserts.send = statement_send;
    inserts.receive = statement_receive;
  }
  return rc == EDB_OK ? edb_inserts_begin(&inserts, spec, out) : rc;
}

/* ---- The driver ------------------------------------------------------------------------------------- */

static const edb_methods methods = {
    .version = 1,
    .close = my_close,
    .prepare = prepare,
    .execute = execute,
    .query = query,
    .begin = begin,
    .statement_close = statement_close,
    .statement_execute = statement_execute,
    .statement_query = statement_query,
    .statement_each = statement_each,
    .rows_columns = my_rows_columns,
    .rows_next = NULL,
    .rows_next_borrowed = my_rows_next_borrowed,
    .rows_close = my_rows_close,
    .transaction_execute = transaction_execute,
    .transaction_query = transaction_query,
    .transaction_commit = transaction_commit,
    .transaction_rollback = transaction_rollback,
    .load = load,
    .load_row = edb_inserts_row,
    .load_end = edb_inserts_end,
    .load_abort = edb_inserts_abort,
    .transaction_prepare = my_two_phase_prepare,
    .resolve = my_two_phase_resolve,
    .cancel = cancel,
    .detail = detail,
    .alive = my_alive,
};

static const char *const schemes[] = {"mysql", "mariadb", NULL};

const edb_driver edb_mysql_driver = {
    .name = "mysql",
    .schemes = schemes,
    .url = EDB_URL_AUTHORITY,
    .options = my_options,
    .dialect = &my_dialect,
    .catalog = &my_catalog,
    .methods = &methods,
    .open = my_open,
    .library = my_library_name,
};
