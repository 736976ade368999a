/*
** drivers/odbc.c: ODBC: any source with a driver.
**
**   odbc:DSN=shop;UID=app;password_env=SHOP_PASSWORD
**   odbc:Driver={MariaDB Unicode};Server=db.example;Database=shop;UID=app;block=1
**
** Words that name an option of edb's are that, the others are the connection string. The driver's table is here, with
** what every call has in common: the order of calls is checked, a connection that is gone answers EDB_CLOSED. The
** rest, in reading order: odbc_library.c (the driver manager), _connect.c, _quirk.c (what drivers and servers are
** like), _call.c, _error.c, _statement.c, _bind.c (parameters), _block.c, _long.c and _rows.c (the reader), _type.c, _text.c
** (wide characters), _catalog.c with _list.c.
**
** Memory kept in the host's allocator: for each statement its SQL, a block of rows of about 256 KB, the longest value of
** each column of text, and of each parameter. Drivers keep what they like, by malloc.
*/
#include <string.h>
#include <strings.h>

#include "odbcInt.h"

/* ---- What calls have in common -------------------------------------------------------------------- */

static int busy(od_connection *c) {
  return edb_fail(&c->error, EDB_BUSY, "a reader is open on this connection");
}

/* Whether a command can start, be it the end of a transaction. */
static int may_start(od_connection *c) {
  if (c->rows.open) return busy(c);
  if (c->dead) return edb_fail(&c->error, EDB_CLOSED, "the connection to the server is gone");
  od_settle(c);
  atomic_store_explicit(&c->cancelled, 0, memory_order_relaxed);
  c->stop = OD_STOP_NONE;
  if (c->error.code != EDB_OK) edb_fail(&c->error, EDB_OK, "%s", "");
  return EDB_OK;
}

/* A doomed transaction takes what leads back to before its error. */
static int leads_back(const char *sql) { return strncasecmp(sql, "ROLLBACK TO ", 12) == 0; }

static int ready(od_connection *c, const char *sql) {
  const int rc = may_start(c);
  if (rc != EDB_OK || !c->doomed || leads_back(sql)) return rc;
  return edb_fail(&c->error, EDB_FAILED, "the transaction has failed; it takes no more statements");
}

static int cancel(void *connection) {
  od_connection *c = connection;
  /* Whoever waits for the server looks at it in each slice, and does the rest. */
  atomic_store(&c->cancelled, 1);
  return EDB_OK;
}

static const edb_error *detail(void *connection) { return &((od_connection *)connection)->error; }

/* ---- Statements ------------------------------------------------------------------------------------ */

static int prepare(void *connection, const char *sql, double expected, void **statement) {
  od_connection *c = connection;
  od_statement *s;
  int rc = ready(c, sql);
  if (rc != EDB_OK) return rc;
  rc = od_statement_new(c, sql, expected, &s);
  if (rc != EDB_OK) return rc;
  if (!s->catalog) rc = od_statement_prepare(s);
  if (rc == EDB_OK) {
    *statement = s;
  } else {
    od_statement_free(s);
  }
  return rc;
}

static int statement_close(void *statement) {
  od_statement *s = statement;
  if (s->connection->rows.open) return busy(s->connection);
  od_statement_free(s);
  return EDB_OK;
}

static int run(od_statement *s, const edb_parameter *parameters, size_t n, int64_t *affected) {
  SQLLEN count = -1;
  SQLSMALLINT columns = 0;
  int rc = od_statement_run(s, parameters, n);
  if (rc != EDB_OK) return rc;
  s->connection->doomed = 0;
  if (!s->empty) od.NumResultCols(s->stmt, &columns);
  s->empty = s->plain && columns == 0;
  if (columns == 0) od.RowCount(s->stmt, &count);
  *affected = columns > 0 ? 0 : count;
  return od_statement_finish(s, 0);
}

static int statement_execute(void *statement, const edb_parameter *parameters, size_t n,
                             int64_t *affected) {
  od_statement *s = statement;
  const int rc = ready(s->connection, s->sql);
  return rc == EDB_OK ? run(s, parameters, n, affected) : rc;
}

static int statement_query(void *statement, const edb_parameter *parameters, size_t n,
                           void **rows) {
  od_statement *s = statement;
  const int rc = ready(s->connection, s->sql);
  return rc == EDB_OK ? od_rows_start(s, parameters, n, 0, rows) : rc;
}

static int execute(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                   int64_t *affected) {
  od_connection *c = connection;
  od_statement *s;
  int rc = ready(c, sql);
  if (rc == EDB_OK) rc = od_statement_new(c, sql, 1, &s);
  if (rc != EDB_OK) return rc;
  rc = run(s, parameters, n, affected);
  od_statement_free(s);
  return rc;
}

static int query(void *connection, const char *sql, const edb_parameter *parameters, size_t n,
                 void **rows) {
  od_connection *c = connection;
  od_statement *s;
  int rc = ready(c, sql);
  if (rc == EDB_OK) rc = od_statement_new(c, sql, 0, &s);
  if (rc != EDB_OK) return rc;
  rc = od_rows_start(s, parameters, n, 1, rows);
  if (rc != EDB_OK) od_statement_free(s);
  return rc;
}

/* ---- Transactions: their context is the connection ------------------------------------------------- */

static int set_autocommit(od_connection *c, int on) {
  const SQLRETURN rc =
      od.SetConnectAttr(c->dbc, SQL_ATTR_AUTOCOMMIT, (void *)(uintptr_t)on, SQL_IS_UINTEGER);
  return od_ok(rc) ? EDB_OK : od_error(c, SQL_HANDLE_DBC, c->dbc);
}

/* What the first statement of a transaction says of it. */
static int set_kind(od_connection *c, int wanted, const char *sql) {
  return wanted && *sql ? od_run(c, sql) : EDB_OK;
}

static int can_begin(od_connection *c, const edb_transaction_spec *spec) {
  if (spec->two_phase) {
    return edb_fail(&c->error, EDB_UNSUPPORTED, "ODBC has no two-phase commit");
  }
  if ((spec->snapshot && !c->flavour->snapshot) || (spec->readonly && !c->flavour->readonly)) {
    return edb_fail(&c->error, EDB_UNSUPPORTED, "this server has no %s transactions by ODBC",
                    spec->snapshot && !c->flavour->snapshot ? "snapshot" : "read-only");
  }
  return EDB_OK;
}

static int begin(void *connection, const edb_transaction_spec *spec, void **transaction) {
  od_connection *c = connection;
  int rc = ready(c, "");
  if (rc == EDB_OK) rc = can_begin(c, spec);
  if (rc != EDB_OK) return rc;
  if (c->transaction) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "a transaction is open on this connection");
  }
  rc = set_autocommit(c, 0);
  if (rc != EDB_OK) return rc;
  rc = set_kind(c, spec->snapshot, c->flavour->snapshot);
  if (rc == EDB_OK) rc = set_kind(c, spec->readonly, c->flavour->readonly);
  if (rc != EDB_OK) {
    const edb_error why = c->error;
    if (set_autocommit(c, 1) != EDB_OK) c->dead = 1;
    c->error = why;
    return rc;
  }
  c->transaction = 1;
  c->doomed = 0;
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

static SQLRETURN call_end(const od_job *job) {
  return od.EndTran(SQL_HANDLE_DBC, job->handle, job->completion);
}

static int end_tran(od_connection *c, int completion) {
  const od_job job = {call_end, c->dbc, NULL, 0, (SQLSMALLINT)completion};
  return od_ok(od_call(c, NULL, &job)) ? EDB_OK : od_error(c, SQL_HANDLE_DBC, c->dbc);
}

/* Whatever comes of it, the transaction is over: a connection on which that cannot be reached is given up, and
** the server rolls back. */
static int end(od_connection *c, int commit) {
  if (c->rows.open) return busy(c);
  const int doomed = c->doomed;
  c->transaction = c->doomed = 0;
  int rc = may_start(c);
  if (rc != EDB_OK) return rc;
  rc = end_tran(c, commit && !doomed ? SQL_COMMIT : SQL_ROLLBACK);
  if (rc != EDB_OK && commit && c->dead) edb_fail_unknown(&c->error);
  if (rc != EDB_OK && commit && !c->dead) {
    const edb_error why = c->error;
    if (end_tran(c, SQL_ROLLBACK) != EDB_OK) c->dead = 1;
    c->error = why;
  }
  const edb_error why = c->error;
  if (!c->dead && set_autocommit(c, 1) != EDB_OK) c->dead = 1;
  c->error = why;
  if (rc == EDB_OK && commit && doomed) {
    return edb_fail(&c->error, EDB_FAILED, "the transaction had failed and was rolled back");
  }
  return edb_fail_ended(&c->error, rc);
}

static int transaction_commit(void *transaction) { return end(transaction, 1); }

static int transaction_rollback(void *transaction) { return end(transaction, 0); }

/* ---- Loads ------------------------------------------------------------------------------------------ */

#define ARRAY_ROWS 1000

/* Whether rows go by arrays of parameters: where they can be taken back, and it is known to be faster, or there is no
** INSERT of many rows. */
static int takes_arrays(const od_connection *c) {
  if (!c->transaction || c->no_arrays || c->arrays == 0) return 0;
  if (c->arrays == 1) return 1;
  return c->quirk.arrays > 0 || (c->quirk.arrays == 0 && c->flavour->insert_rows <= 1);
}

static int load(void *connection, const edb_load_spec *spec, void **out) {
  od_connection *c = connection;
  const edb_inserts_spec inserts = {.methods = edb_odbc_driver.methods,
                                    .dialect = c->flavour->dialect,
                                    .connection = c,
                                    .host = c->host,
                                    .error = &c->error,
                                    .rows =
                                        c->flavour->insert_rows > 0 ? c->flavour->insert_rows : 1,
                                    .savepoint = c->transaction && c->flavour->dooms,
                                    .run_many = takes_arrays(c) ? od_run_arrays : NULL,
                                    .many = ARRAY_ROWS,
                                    .undo_many = c->flavour->dialect->savepoint != NULL};
  const int rc = ready(c, "");
  return rc == EDB_OK ? edb_inserts_begin(&inserts, spec, out) : rc;
}

/* ---- The driver ------------------------------------------------------------------------------------- */

static const edb_methods methods = {
    .version = 1,
    .close = od_close,
    .prepare = prepare,
    .execute = execute,
    .query = query,
    .begin = begin,
    .statement_close = statement_close,
    .statement_execute = statement_execute,
    .statement_query = statement_query,
    .rows_columns = od_rows_columns,
    .rows_next = NULL,
    .rows_next_borrowed = od_rows_next_borrowed,
    .rows_close = od_rows_close,
    .transaction_execute = transaction_execute,
    .transaction_query = transaction_query,
    .transaction_commit = transaction_commit,
    .transaction_rollback = transaction_rollback,
    .load = load,
    .load_row = edb_inserts_row,
    .load_end = edb_inserts_end,
    .load_abort = edb_inserts_abort,
    .cancel = cancel,
    .detail = detail,
    .alive = od_alive,
    .dialect = od_dialect,
};

static const char *const schemes[] = {"odbc", NULL};

const edb_driver edb_odbc_driver = {
    .name = "odbc",
    .schemes = schemes,
    .url = EDB_URL_WORDS,
    .options = od_options,
    .dialect = &od_generic,
    .dialects = od_dialects,
    .catalog = &od_catalog,
    .methods = &methods,
    .open = od_open,
    .library = od_library_name,
    .sources = od_sources,
};
