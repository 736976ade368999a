/*
** drivers/memory.c: a complete driver that keeps its rows in memory: the template for the next one, and what
** tests put in a server's place.
**
**     memory:       each connection starts empty, and what it holds is gone when it is closed
**
**     CREATE TABLE t (id INTEGER, name TEXT)      INSERT INTO t VALUES (1, ?)
**     SELECT * FROM t                             SELECT name FROM t WHERE id = ?
**     DELETE FROM t WHERE id = 1                  DROP TABLE t
**
** Read it from its end: a driver is an edb_driver with its methods, its dialect and its catalog. The methods
** do what every driver's do: refuse calls while a reader is open, count what must be closed before the
** connection, keep the last error for detail. Where other drivers call a client library, this one calls its
** store (memory_store.c).
**
** Memory: the store, in the host's allocator. What a reader lends is in a row that is freed before the next,
** so that the address sanitizer catches who keeps a pointer too long.
*/
#include "memory.h"

#include <string.h>

typedef struct connection {
  const edb_host *host;
  memory_store store;
  int reading;
  int statements; /* open ones */
  edb_error error;
} connection;

typedef struct statement {
  connection *c;
  char *sql;
} statement;

typedef struct rows {
  connection *c;
  memory_cursor cursor;
  edb_column columns[MEMORY_COLUMNS];
  edb_row lent;
} rows;

static int nomem(connection *c) { return edb_fail(&c->error, EDB_NOMEM, "out of memory"); }

static int refuse_reading(connection *c) {
  return c->reading ? edb_fail(&c->error, EDB_BUSY, "a reader is open") : EDB_OK;
}

/* ---- Types: any value goes into any column --------------------------------------------------- */

static const edb_type *any_type(const char *name) {
  static const edb_type any = {.name = "", .kind = EDB_NULL, .declared = EDB_DECLARED_BLOB};
  (void)name;
  return &any;
}

/* ---- Connections ----------------------------------------------------------------------------- */

static int memory_open(const edb_option *options, size_t n, const edb_host *host, void **out,
                       edb_error *error) {
  connection *c = edb_alloc(host, sizeof *c);
  (void)options, (void)n;
  if (!c) return edb_fail(error, EDB_NOMEM, "out of memory");
  memset(c, 0, sizeof *c);
  c->host = c->store.host = host;
  c->store.error = &c->error;
  *out = c;
  return EDB_OK;
}

static int memory_close(void *context) {
  connection *c = context;
  if (c->reading || c->statements || c->store.in_transaction) {
    return edb_fail(&c->error, EDB_BUSY, "a reader, a statement or a transaction is open");
  }
  memory_clear(&c->store);
  edb_free(c->host, c);
  return EDB_OK;
}

static int memory_cancel(void *context) {
  (void)context; /* nothing takes long here */
  return EDB_OK;
}

static const edb_error *memory_detail(void *context) {
  const connection *c = context;
  return &c->error;
}

static int memory_alive(void *context) {
  (void)context;
  return 1;
}

/* ---- Readers --------------------------------------------------------------------------------- */

static int memory_rows_columns(void *context, const edb_column **columns, size_t *n) {
  const rows *r = context;
  *columns = r->columns;
  *n = r->cursor.n;
  return EDB_OK;
}

static int memory_rows_next_borrowed(void *context, const edb_value **values) {
  rows *r = context;
  const edb_row *row = memory_next(&r->cursor);
  edb_row_clear(&r->lent);
  if (!row) return EDB_DONE;
  if (edb_row_reset(&r->lent, r->cursor.n) != EDB_OK) return nomem(r->c);
  for (size_t i = 0; i < r->cursor.n; i++) {
    int rc = edb_row_set(&r->lent, i, &row->values[r->cursor.picked[i]]);
    if (rc != EDB_OK) return nomem(r->c);
  }
  *values = r->lent.values;
  return EDB_ROW;
}

static int memory_rows_close(void *context) {
  rows *r = context;
  connection *c = r->c;
  memory_cursor_clear(&r->cursor);
  edb_row_clear(&r->lent);
  edb_free(c->host, r);
  c->reading = 0;
  return EDB_OK;
}

/* ---- Commands, which are the same inside a transaction: its context is the connection -------- */

static int memory_execute(void *context, const char *sql, const edb_parameter *parameters, size_t n,
                          int64_t *affected) {
  connection *c = context;
  memory_cursor dropped = {0};
  int rc = refuse_reading(c);
  if (rc != EDB_OK) return rc;
  rc = memory_run(&c->store, sql, parameters, n, &dropped, affected);
  memory_cursor_clear(&dropped);
  return rc;
}

static int memory_query(void *context, const char *sql, const edb_parameter *parameters, size_t n,
                        void **out) {
  connection *c = context;
  int64_t affected;
  rows *r;
  int rc = refuse_reading(c);
  if (rc != EDB_OK) return rc;
  r = edb_alloc(c->host, sizeof *r);
  if (!r) return nomem(c);
  memset(r, 0, sizeof *r);
  r->c = c;
  r->lent.host = c->host;
  c->reading = 1;
  rc = memory_run(&c->store, sql, parameters, n, &r->cursor, &affected);
  if (rc != EDB_OK) {
    memory_rows_close(r);
    return rc;
  }
  for (size_t i = 0; i < r->cursor.n; i++) {
    r->columns[i] = (edb_column){.name = memory_column_name(&r->cursor, i),
                                 .type_name = "",
                                 .type = any_type(""),
                                 .nullable = 1};
  }
  *out = r;
  return EDB_OK;
}

static int memory_prepare(void *context, const char *sql, double expected, void **out) {
  connection *c = context;
  size_t size = strlen(sql) + 1;
  statement *s;
  int rc = refuse_reading(c);
  (void)expected;
  if (rc == EDB_OK) rc = memory_check(&c->store, sql);
  if (rc != EDB_OK) return rc;
  s = edb_alloc(c->host, sizeof *s + size);
  if (!s) return nomem(c);
  s->c = c;
  s->sql = memcpy(s + 1, sql, size);
  c->statements++;
  *out = s;
  return EDB_OK;
}

static int memory_statement_execute(void *context, const edb_parameter *parameters, size_t n,
                                    int64_t *affected) {
  statement *s = context;
  return memory_execute(s->c, s->sql, parameters, n, affected);
}

static int memory_statement_query(void *context, const edb_parameter *parameters, size_t n,
                                  void **out) {
  statement *s = context;
  return memory_query(s->c, s->sql, parameters, n, out);
}

static int memory_statement_close(void *context) {
  statement *s = context;
  connection *c = s->c;
  int rc = refuse_reading(c);
  if (rc != EDB_OK) return rc;
  edb_free(c->host, s);
  c->statements--;
  return EDB_OK;
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static int begin(void *context, const edb_transaction_spec *spec, void **out) {
  connection *c = context;
  const edb_transaction_spec kind = {0, spec->readonly, spec->two_phase}; /* nobody else writes */
  int rc = refuse_reading(c);
  if (rc == EDB_OK) rc = edb_spec_plain(&kind, &c->error);
  if (rc != EDB_OK) return rc;
  if (c->store.in_transaction) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "a transaction is open");
  }
  memory_begin(&c->store);
  *out = c;
  return EDB_OK;
}

static int commit(void *context) {
  connection *c = context;
  int rc = refuse_reading(c);
  if (rc == EDB_OK) memory_commit(&c->store);
  return rc;
}

static int rollback(void *context) {
  connection *c = context;
  int rc = refuse_reading(c);
  if (rc == EDB_OK) memory_rollback(&c->store);
  return rc;
}

/* ---- The driver ------------------------------------------------------------------------------ */

static const edb_methods methods = {.version = 1,
                                    .close = memory_close,
                                    .prepare = memory_prepare,
                                    .execute = memory_execute,
                                    .query = memory_query,
                                    .begin = begin,
                                    .statement_close = memory_statement_close,
                                    .statement_execute = memory_statement_execute,
                                    .statement_query = memory_statement_query,
                                    .rows_columns = memory_rows_columns,
                                    .rows_next_borrowed = memory_rows_next_borrowed,
                                    .rows_close = memory_rows_close,
                                    .transaction_execute = memory_execute,
                                    .transaction_query = memory_query,
                                    .transaction_commit = commit,
                                    .transaction_rollback = rollback,
                                    .cancel = memory_cancel,
                                    .detail = memory_detail,
                                    .alive = memory_alive};

static const edb_dialect dialect = {.quote = {'"', '"'},
                                    .placeholder = "?",
                                    .limit = " LIMIT %s",
                                    .unordered = 1,
                                    .no_two_phase = "rows in memory outlive no crash",
                                    .false_clause = "0",
                                    .max_parameters = MEMORY_COLUMNS,
                                    .type = any_type};

/* There is no catalog: these are answered as statements that are not understood. */
static const edb_catalog catalog = {
    .tables = "TABLES", .relation = "RELATION", .columns = "COLUMNS"};

static const char *const schemes[] = {"memory", NULL};
static const edb_option_spec options_taken[] = {{"path", 0, "not used"}, {NULL, 0, NULL}};
static const char *library(void) { return ""; }

const edb_driver edb_memory_driver = {.name = "memory",
                                      .schemes = schemes,
                                      .url = EDB_URL_PATH,
                                      .options = options_taken,
                                      .dialect = &dialect,
                                      .catalog = &catalog,
                                      .methods = &methods,
                                      .open = memory_open,
                                      .library = library};
