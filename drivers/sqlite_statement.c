/*
** drivers/sqlite_statement.c: parameters, statements and readers of the SQLite driver.
**
** A reader's context is its statement: there is one reader at a time. edb_query makes a statement that goes
** with its reader.
*/
#include "sqlite.h"

#include <string.h>

#include "sqlite_data.h"

/* ---- Parameters ------------------------------------------------------------------------------ */

static int bind_value(sqlite3_stmt *stmt, int i, const edb_value *v, sqlite3_destructor_type keep) {
  char text[EDB_TIME_TEXT];
  switch (v->kind) {
  case EDB_NULL:
    return sqlite3_bind_null(stmt, i);
  case EDB_BOOL:
    return sqlite3_bind_int(stmt, i, v->as.boolean);
  case EDB_I64:
    return sqlite3_bind_int64(stmt, i, v->as.i64);
  case EDB_U64:
    if (v->as.u64 <= INT64_MAX) return sqlite3_bind_int64(stmt, i, (sqlite3_int64)v->as.u64);
    sqlite3_snprintf((int)sizeof text, text, "%llu", (unsigned long long)v->as.u64);
    return sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
  case EDB_F64:
    return sqlite3_bind_double(stmt, i, v->as.f64);
  case EDB_TEXT:
    return sqlite3_bind_text64(stmt, i, v->as.text.p, v->as.text.n, keep, SQLITE_UTF8);
  case EDB_BYTES:
    return sqlite3_bind_blob64(stmt, i, v->as.bytes.p, v->as.bytes.n, keep);
  case EDB_TIME:
    edb_time_text(&v->as.time, text);
    return sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
  }
  return SQLITE_MISUSE;
}

/* Which parameter of the SQL: by place, or by its name; 0 and an error if there is none of that name, or if
** an earlier one has it already. */
static int parameter_index(lite_statement *s, const edb_parameter *parameters, size_t i) {
  const char *name = parameters[i].name;
  int index = name ? sqlite3_bind_parameter_index(s->stmt, name) : (int)i + 1;
  if (index == 0) {
    edb_fail(&s->c->error, EDB_INVALID_QUERY, "the SQL has no parameter %s", name);
    return 0;
  }
  for (size_t j = 0; name && j < i; j++) {
    if (parameters[j].name && strcmp(parameters[j].name, name) == 0) {
      edb_fail(&s->c->error, EDB_INVALID_QUERY, "parameter %s is given twice", name);
      return 0;
    }
  }
  return index;
}

/* keep: SQLITE_STATIC where the statement ends before the caller's values do. */
static int bind(lite_statement *s, const edb_parameter *parameters, size_t n,
                sqlite3_destructor_type keep) {
  int expected = sqlite3_bind_parameter_count(s->stmt);
  if (n != (size_t)expected) {
    return edb_fail(&s->c->error, EDB_INVALID_QUERY,
                    "the SQL has %d parameters, and %zu were given", expected, n);
  }
  for (size_t i = 0; i < n; i++) {
    int rc, index = parameter_index(s, parameters, i);
    if (index == 0) return EDB_INVALID_QUERY;
    rc = bind_value(s->stmt, index, &parameters[i].value, keep);
    if (rc != SQLITE_OK) return lite_fail(s->c, rc);
  }
  return EDB_OK;
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* Blanks, comments and semicolons alone. */
static int is_empty(const char *sql) {
  for (;;) {
    sql += strspn(sql, " \t\n\f\r;");
    if (strncmp(sql, "--", 2) == 0) {
      sql += strcspn(sql, "\n");
    } else if (strncmp(sql, "/*", 2) == 0) {
      const char *end = strstr(sql + 2, "*/");
      sql = end ? end + 2 : sql + strlen(sql);
    } else {
      return *sql == 0;
    }
  }
}

static int prepare(lite_connection *c, const char *sql, unsigned flags, lite_statement **out) {
  const char *tail = sql;
  sqlite3_stmt *stmt = NULL;
  lite_statement *s;
  int rc = lite_ready(c);
  if (rc != EDB_OK) return rc;
  rc = sqlite3_prepare_v3(c->db, sql, -1, flags, &stmt, &tail);
  if (rc != SQLITE_OK) return lite_fail(c, rc);
  if (!stmt || !is_empty(tail)) {
    sqlite3_finalize(stmt);
    return edb_fail(&c->error, EDB_INVALID_QUERY,
                    stmt ? "more than one statement" : "the SQL holds no statement");
  }
  s = edb_alloc(c->host, sizeof *s);
  if (!s) {
    sqlite3_finalize(stmt);
    return lite_nomem(c);
  }
  memset(s, 0, sizeof *s);
  s->c = c;
  s->stmt = stmt;
  s->reprepared = -1;
  c->statements++;
  *out = s;
  return EDB_OK;
}

static void finalize(lite_statement *s) {
  lite_connection *c = s->c;
  sqlite3_finalize(s->stmt);
  edb_free(c->host, s->columns);
  edb_free(c->host, s);
  c->statements--;
}

/* Makes the statement fit to run again, and lets go of what was bound. */
static void reset(lite_statement *s) {
  sqlite3_reset(s->stmt);
  sqlite3_clear_bindings(s->stmt);
}

static int step(lite_statement *s) {
  lite_start_waiting(s->c);
  return sqlite3_step(s->stmt);
}

static int64_t changes(sqlite3 *db) {
  return sqlite3_libversion_number() >= 3037000 ? sqlite3_changes64(db) : sqlite3_changes(db);
}

/* sqlite3_changes is what the last INSERT, UPDATE or DELETE changed, however long ago. */
static int execute(lite_statement *s, const edb_parameter *parameters, size_t n,
                   int64_t *affected) {
  int before = sqlite3_total_changes(s->c->db);
  int rc = bind(s, parameters, n, SQLITE_STATIC);
  *affected = 0;
  if (rc == EDB_OK) {
    do {
      rc = step(s);
    } while (rc == SQLITE_ROW);
    rc = rc == SQLITE_DONE ? EDB_OK : lite_fail(s->c, rc);
  }
  if (rc == EDB_OK && sqlite3_total_changes(s->c->db) != before) *affected = changes(s->c->db);
  reset(s);
  return rc;
}

/* The columns stay as they are until SQLite prepares the statement anew, which it does in the first step
** after the schema changed. */
static int read_columns(lite_statement *s) {
  lite_connection *c = s->c;
  int reprepared = sqlite3_stmt_status(s->stmt, SQLITE_STMTSTATUS_REPREPARE, 0);
  int n = sqlite3_column_count(s->stmt);
  size_t size = (size_t)n * (sizeof *s->columns + sizeof *s->values);
  edb_column *columns;
  if (s->reprepared == reprepared) return EDB_OK;
  columns = c->host->resize(c->host->context, s->columns, size ? size : 1);
  if (!columns) return lite_nomem(c);
  s->columns = columns;
  s->values = (edb_value *)(void *)(columns + n);
  for (int i = 0; i < n; i++) {
    const char *declared = sqlite3_column_decltype(s->stmt, i);
    columns[i].name = sqlite3_column_name(s->stmt, i);
    if (!columns[i].name) return lite_nomem(c);
    columns[i].type_name = declared ? declared : "";
    columns[i].type = edb_sqlite_type(columns[i].type_name);
    columns[i].kind = columns[i].type->kind;
    columns[i].nullable = 1;
  }
  s->n = n;
  s->reprepared = reprepared;
  return EDB_OK;
}

static int query(lite_statement *s, const edb_parameter *parameters, size_t n, void **rows) {
  int rc = bind(s, parameters, n, SQLITE_TRANSIENT);
  if (rc == EDB_OK) {
    rc = step(s);
    s->state = rc == SQLITE_ROW ? LITE_AT_ROW : LITE_ENDED;
    rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? read_columns(s) : lite_fail(s->c, rc);
  }
  if (rc != EDB_OK) {
    reset(s);
    return rc;
  }
  s->c->reading = 1;
  *rows = s;
  return EDB_OK;
}

int lite_prepare(void *context, const char *sql, double expected, void **out) {
  lite_statement *s;
  int rc = prepare(context, sql, SQLITE_PREPARE_PERSISTENT, &s);
  (void)expected;
  if (rc == EDB_OK) *out = s;
  return rc;
}

int lite_statement_close(void *context) {
  lite_statement *s = context;
  if (s->c->reading) return lite_ready(s->c);
  finalize(s);
  return EDB_OK;
}

int lite_statement_execute(void *context, const edb_parameter *parameters, size_t n,
                           int64_t *affected) {
  lite_statement *s = context;
  int rc = lite_ready(s->c);
  return rc == EDB_OK ? execute(s, parameters, n, affected) : rc;
}

int lite_statement_query(void *context, const edb_parameter *parameters, size_t n, void **rows) {
  lite_statement *s = context;
  int rc = lite_ready(s->c);
  return rc == EDB_OK ? query(s, parameters, n, rows) : rc;
}

int lite_execute(void *context, const char *sql, const edb_parameter *parameters, size_t n,
                 int64_t *affected) {
  lite_statement *s;
  int rc = prepare(context, sql, 0, &s);
  if (rc != EDB_OK) return rc;
  rc = execute(s, parameters, n, affected);
  finalize(s);
  return rc;
}

int lite_query(void *context, const char *sql, const edb_parameter *parameters, size_t n,
               void **rows) {
  lite_statement *s;
  int rc = prepare(context, sql, 0, &s);
  if (rc != EDB_OK) return rc;
  s->goes_with_reader = 1;
  rc = query(s, parameters, n, rows);
  if (rc != EDB_OK) finalize(s);
  return rc;
}

/* ---- Readers --------------------------------------------------------------------------------- */

int lite_rows_columns(void *context, const edb_column **columns, size_t *n) {
  const lite_statement *s = context;
  *columns = s->columns;
  *n = (size_t)s->n;
  return EDB_OK;
}

/* Text in a column of dates or times, where it is exactly what the value would be written as. */
static void read_time(edb_declared declared, edb_value *value) {
  const char *p = value->as.text.p;
  size_t n = value->as.text.n;
  edb_time_form form = declared == EDB_DECLARED_DATE   ? EDB_DATE
                       : declared == EDB_DECLARED_TIME ? EDB_CLOCK
                                                       : EDB_DATETIME;
  edb_time time;
  if (edb_time_parse(p, n, form, form != EDB_DATE && n > 0 && p[n - 1] == 'Z', &time)) {
    value->kind = EDB_TIME;
    value->as.time = time;
  }
}

static int read_value(lite_statement *s, int i, edb_value *value) {
  const edb_column *column = &s->columns[i];
  switch (sqlite3_column_type(s->stmt, i)) {
  case SQLITE_INTEGER:
    value->kind = EDB_I64;
    value->as.i64 = sqlite3_column_int64(s->stmt, i);
    if (column->kind == EDB_BOOL && (value->as.i64 == 0 || value->as.i64 == 1)) {
      int boolean = value->as.i64 == 1;
      value->kind = EDB_BOOL;
      value->as.boolean = boolean;
    }
    return EDB_OK;
  case SQLITE_FLOAT:
    value->kind = EDB_F64;
    value->as.f64 = sqlite3_column_double(s->stmt, i);
    return EDB_OK;
  case SQLITE_TEXT:
    value->kind = EDB_TEXT;
    value->as.text.p = (const char *)sqlite3_column_text(s->stmt, i);
    if (!value->as.text.p) return lite_nomem(s->c);
    value->as.text.n = (size_t)sqlite3_column_bytes(s->stmt, i);
    if (column->kind == EDB_TIME) read_time(column->type->declared, value);
    return EDB_OK;
  case SQLITE_BLOB:
    value->kind = EDB_BYTES;
    value->as.bytes.p = sqlite3_column_blob(s->stmt, i);
    value->as.bytes.n = (size_t)sqlite3_column_bytes(s->stmt, i);
    if (!value->as.bytes.p && value->as.bytes.n > 0) return lite_nomem(s->c);
    if (!value->as.bytes.p) value->as.bytes.p = "";
    return EDB_OK;
  default:
    value->kind = EDB_NULL;
    return EDB_OK;
  }
}

int lite_rows_next_borrowed(void *context, const edb_value **values) {
  lite_statement *s = context;
  if (s->state == LITE_READ_ROW) {
    int rc = step(s);
    if (rc != SQLITE_ROW) s->state = LITE_ENDED;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return lite_fail(s->c, rc);
  }
  if (s->state == LITE_ENDED) return EDB_DONE;
  s->state = LITE_READ_ROW;
  for (int i = 0; i < s->n; i++) {
    int rc = read_value(s, i, &s->values[i]);
    if (rc != EDB_OK) return rc;
  }
  *values = s->values;
  return EDB_ROW;
}

int lite_rows_close(void *context) {
  lite_statement *s = context;
  s->c->reading = 0;
  if (s->goes_with_reader) {
    finalize(s);
  } else {
    reset(s);
  }
  return EDB_OK;
}
