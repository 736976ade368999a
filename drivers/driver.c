/*
** drivers/driver.c: the drivers there are, and the calls of driver.h on whichever of them a handle is.
**
** What all drivers have in common is done here, once: a closed handle answers EDB_CLOSED before it reaches
** a driver, an out handle of a failing call is left closed, a reader that has ended stays ended.
*/
#include "driverInt.h"

#include <stdio.h>
#include <string.h>

const edb_driver *const edb_drivers[] = {&edb_postgresql_driver,
                                         &edb_mysql_driver,
                                         &edb_sqlserver_driver,
                                         &edb_odbc_driver,
                                         &edb_sqlite_driver,
                                         &edb_memory_driver,
                                         NULL};

/* ---- Connections ----------------------------------------------------------------------------- */

int edb_open(const char *url, const edb_option *options, size_t n, const edb_host *host,
             edb_connection *connection, edb_error *error) {
  const edb_driver *driver;
  edb_option_set set;
  void *context = NULL;
  int rc;
  connection->methods = NULL;
  connection->context = NULL;
  rc = edb_options_collect(url, options, n, host, &driver, &set, error);
  if (rc != EDB_OK) return rc;
  rc = driver->open(set.options, set.n, host, &context, error);
  edb_options_wipe(host, &set);
  if (rc != EDB_OK) return rc;
  connection->methods = driver->methods;
  connection->context = context;
  return EDB_OK;
}

int edb_close(edb_connection *connection) {
  int rc;
  if (!connection->context) return EDB_CLOSED;
  rc = connection->methods->close(connection->context);
  if (rc != EDB_BUSY) connection->context = NULL;
  return rc;
}

const edb_driver *edb_connection_driver(const edb_connection *connection) {
  const edb_driver *const *driver = edb_drivers;
  if (!connection->context) return NULL;
  while (*driver && (*driver)->methods != connection->methods) driver++;
  return *driver;
}

const edb_dialect *edb_connection_dialect(const edb_connection *connection) {
  const edb_driver *driver = edb_connection_driver(connection);
  if (!driver) return NULL;
  return driver->methods->dialect ? driver->methods->dialect(connection->context) : driver->dialect;
}

const edb_dialect *edb_dialect_named(const edb_driver *driver, const char *name) {
  const edb_dialect *const *dialect = driver->dialects;
  while (name && dialect && *dialect && strcmp((*dialect)->name, name) != 0) dialect++;
  return name && dialect && *dialect ? *dialect : driver->dialect;
}

int edb_prepare(edb_connection *connection, const char *sql, double expected,
                edb_statement *statement) {
  void *context = NULL;
  int rc;
  statement->methods = connection->methods;
  statement->context = NULL;
  if (!connection->context) return EDB_CLOSED;
  rc = connection->methods->prepare(connection->context, sql, expected, &context);
  if (rc == EDB_OK) statement->context = context;
  return rc;
}

/* What the calls that give a reader share: it is closed until they succeeded. */
static void start_rows(edb_rows *rows, const edb_methods *methods) {
  rows->methods = methods;
  rows->context = NULL;
  rows->ended = 0;
}

int edb_execute(edb_connection *connection, const char *sql, const edb_parameter *parameters,
                size_t n, int64_t *affected) {
  int64_t ignored;
  if (!connection->context) return EDB_CLOSED;
  return connection->methods->execute(connection->context, sql, parameters, n,
                                      affected ? affected : &ignored);
}

int edb_query(edb_connection *connection, const char *sql, const edb_parameter *parameters,
              size_t n, edb_rows *rows) {
  void *context = NULL;
  int rc;
  start_rows(rows, connection->methods);
  if (!connection->context) return EDB_CLOSED;
  rc = connection->methods->query(connection->context, sql, parameters, n, &context);
  if (rc == EDB_OK) rows->context = context;
  return rc;
}

int edb_begin(edb_connection *connection, edb_transaction *transaction) {
  static const edb_transaction_spec ordinary = {0};
  return edb_begin_with(connection, &ordinary, transaction);
}

int edb_begin_with(edb_connection *connection, const edb_transaction_spec *spec,
                   edb_transaction *transaction) {
  void *context = NULL;
  int rc;
  transaction->methods = connection->methods;
  transaction->context = NULL;
  if (!connection->context) return EDB_CLOSED;
  rc = connection->methods->begin(connection->context, spec, &context);
  if (rc == EDB_OK) transaction->context = context;
  return rc;
}

int edb_cancel(const edb_connection *connection) {
  if (!connection->context) return EDB_CLOSED;
  return connection->methods->cancel(connection->context);
}

const edb_error *edb_detail(const edb_connection *connection) {
  static const edb_error closed = {EDB_CLOSED, 0, "", "the connection is closed", "", 0, 0};
  if (!connection->context) return &closed;
  return connection->methods->detail(connection->context);
}

int edb_alive(const edb_connection *connection) {
  if (!connection->context) return 0;
  return connection->methods->alive(connection->context);
}

int edb_reset(edb_connection *connection) {
  if (!connection->context) return EDB_CLOSED;
  if (!connection->methods->reset) return EDB_UNSUPPORTED;
  return connection->methods->reset(connection->context);
}

/* ---- Statements ------------------------------------------------------------------------------ */

int edb_statement_close(edb_statement *statement) {
  int rc;
  if (!statement->context) return EDB_CLOSED;
  rc = statement->methods->statement_close(statement->context);
  if (rc != EDB_BUSY) statement->context = NULL;
  return rc;
}

int edb_statement_execute(edb_statement *statement, const edb_parameter *parameters, size_t n,
                          int64_t *affected) {
  int64_t ignored;
  if (!statement->context) return EDB_CLOSED;
  return statement->methods->statement_execute(statement->context, parameters, n,
                                               affected ? affected : &ignored);
}

int edb_can_run_each(const edb_connection *connection) {
  return connection->context && connection->methods->statement_each;
}

int edb_statement_each(edb_statement *statement, const edb_parameter *parameters, size_t n,
                       size_t runs, int64_t *affected, size_t *done) {
  *done = 0;
  if (!statement->context) return EDB_CLOSED;
  if (!statement->methods->statement_each) return EDB_UNSUPPORTED;
  return statement->methods->statement_each(statement->context, parameters, n, runs, affected,
                                            done);
}

int edb_statement_query(edb_statement *statement, const edb_parameter *parameters, size_t n,
                        edb_rows *rows) {
  void *context = NULL;
  int rc;
  start_rows(rows, statement->methods);
  if (!statement->context) return EDB_CLOSED;
  rc = statement->methods->statement_query(statement->context, parameters, n, &context);
  if (rc == EDB_OK) rows->context = context;
  return rc;
}

/* ---- Readers --------------------------------------------------------------------------------- */

int edb_rows_columns(edb_rows *rows, const edb_column **columns, size_t *n) {
  *columns = NULL;
  *n = 0;
  if (!rows->context) return EDB_CLOSED;
  return rows->methods->rows_columns(rows->context, columns, n);
}

/* An owned row, of a driver that only lends. */
static int next_copied(edb_rows *rows, edb_row *row) {
  const edb_column *columns;
  const edb_value *values;
  size_t n, i;
  int rc = rows->methods->rows_columns(rows->context, &columns, &n);
  if (rc != EDB_OK) return rc;
  rc = rows->methods->rows_next_borrowed(rows->context, &values);
  if (rc != EDB_ROW) return rc;
  if (edb_row_reset(row, n) != EDB_OK) return EDB_NOMEM;
  for (i = 0; i < n; i++) {
    if (edb_row_set(row, i, &values[i]) != EDB_OK) return EDB_NOMEM;
  }
  return EDB_ROW;
}

int edb_rows_next(edb_rows *rows, edb_row *row) {
  int rc;
  if (!rows->context) return EDB_CLOSED;
  if (rows->ended) return EDB_DONE;
  rc = rows->methods->rows_next ? rows->methods->rows_next(rows->context, row)
                                : next_copied(rows, row);
  rows->ended = rc != EDB_ROW;
  return rc;
}

int edb_rows_next_borrowed(edb_rows *rows, const edb_value **values) {
  int rc;
  if (!rows->context) return EDB_CLOSED;
  if (!rows->methods->rows_next_borrowed) return EDB_UNSUPPORTED;
  if (rows->ended) return EDB_DONE;
  rc = rows->methods->rows_next_borrowed(rows->context, values);
  rows->ended = rc != EDB_ROW;
  return rc;
}

int edb_rows_close(edb_rows *rows) {
  void *context = rows->context;
  if (!context) return EDB_CLOSED;
  rows->context = NULL;
  return rows->methods->rows_close(context);
}

/* ---- Transactions ---------------------------------------------------------------------------- */

int edb_transaction_execute(edb_transaction *transaction, const char *sql,
                            const edb_parameter *parameters, size_t n, int64_t *affected) {
  int64_t ignored;
  if (!transaction->context) return EDB_CLOSED;
  return transaction->methods->transaction_execute(transaction->context, sql, parameters, n,
                                                   affected ? affected : &ignored);
}

int edb_transaction_query(edb_transaction *transaction, const char *sql,
                          const edb_parameter *parameters, size_t n, edb_rows *rows) {
  void *context = NULL;
  int rc;
  start_rows(rows, transaction->methods);
  if (!transaction->context) return EDB_CLOSED;
  rc = transaction->methods->transaction_query(transaction->context, sql, parameters, n, &context);
  if (rc == EDB_OK) rows->context = context;
  return rc;
}

int edb_transaction_commit(edb_transaction *transaction) {
  int rc;
  if (!transaction->context) return EDB_CLOSED;
  rc = transaction->methods->transaction_commit(transaction->context);
  if (rc != EDB_BUSY) transaction->context = NULL;
  return rc;
}

int edb_transaction_rollback(edb_transaction *transaction) {
  int rc;
  if (!transaction->context) return EDB_CLOSED;
  rc = transaction->methods->transaction_rollback(transaction->context);
  if (rc != EDB_BUSY) transaction->context = NULL;
  return rc;
}

int edb_transaction_prepare(edb_transaction *transaction) {
  int rc;
  if (!transaction->context) return EDB_CLOSED;
  if (!transaction->methods->transaction_prepare) return EDB_UNSUPPORTED;
  rc = transaction->methods->transaction_prepare(transaction->context);
  if (rc != EDB_BUSY) transaction->context = NULL;
  return rc;
}

int edb_resolve(edb_connection *connection, const char *name, int commit) {
  if (!connection->context) return EDB_CLOSED;
  if (!connection->methods->resolve) return EDB_UNSUPPORTED;
  return connection->methods->resolve(connection->context, name, commit);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

int edb_can_load(const edb_connection *connection) {
  return connection->context && connection->methods->load;
}

int edb_load_begin(edb_connection *connection, const edb_load_spec *spec, edb_load *load) {
  void *context = NULL;
  int rc;
  load->methods = connection->methods;
  load->context = NULL;
  if (!connection->context) return EDB_CLOSED;
  if (!connection->methods->load) return EDB_UNSUPPORTED;
  rc = connection->methods->load(connection->context, spec, &context);
  if (rc == EDB_OK) load->context = context;
  return rc;
}

int edb_load_row(edb_load *load, const edb_value *values) {
  if (!load->context) return EDB_CLOSED;
  return load->methods->load_row(load->context, values);
}

int edb_load_end(edb_load *load) {
  void *context = load->context;
  if (!context) return EDB_CLOSED;
  load->context = NULL;
  return load->methods->load_end(context);
}

int edb_load_abort(edb_load *load) {
  void *context = load->context;
  if (!context) return EDB_CLOSED;
  load->context = NULL;
  return load->methods->load_abort(context);
}

/* ---- Dialects -------------------------------------------------------------------------------- */

char *edb_placeholder(const edb_dialect *dialect, int i, char out[EDB_PLACEHOLDER_TEXT]) {
  const char *form = dialect->placeholder, *number = strstr(form, "%d");
  if (number) {
    snprintf(out, EDB_PLACEHOLDER_TEXT, "%.*s%d%s", (int)(number - form), form, i, number + 2);
  } else {
    snprintf(out, EDB_PLACEHOLDER_TEXT, "%s", form);
  }
  return out;
}
