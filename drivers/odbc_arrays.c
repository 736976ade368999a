/*
** drivers/odbc_arrays.c: many rows by one run of a statement: its parameters are bound as arrays, a place a row.
**
** ODBC has it for every INSERT, whatever the server's SQL; what drivers make of it differs: one round trip, one for each
** row, or an answer that is not true. So it is used in a transaction alone, where it is known to be fast or there is no
** INSERT of many rows (load.c), and what the driver says of it is compared with what it was given: how many sets of
** parameters it took, a status for each, and how many rows were changed. Where that does not fit, the rows are taken back and
** go another way, and so do all others of the connection.
**
** An array has values of one kind; rows that mix kinds in a column go the other way, too.
*/
#include <string.h>

#include "odbcInt.h"

#define MOST_BYTES (4u << 20) /* of the arrays of one run */
#define NO_STATUS 0xFFFF

/* A column of values. */
typedef struct od_array {
  edb_kind kind; /* of all that are not NULL; EDB_NULL: all are */
  size_t width;  /* bytes of a place */
  char *data;
  SQLLEN *lengths;
} od_array;

static size_t text_width(const od_connection *c, const edb_value *v) {
  /* A byte of UTF-8 makes one unit at most. */
  return c->quirk.utf8 ? v->as.text.n + 1 : (v->as.text.n + 1) * (size_t)od_wide;
}

static size_t width_of(const od_connection *c, const edb_value *v) {
  switch (v->kind) {
  case EDB_NULL:
    return 1;
  case EDB_BOOL:
    return 1;
  case EDB_TEXT:
    return text_width(c, v);
  case EDB_BYTES:
    return v->as.bytes.n + 1;
  case EDB_TIME:
    return OD_MOMENT_TEXT;
  default:
    return sizeof(int64_t);
  }
}

/* What the column's values have in common; 0: nothing. */
static int survey(const od_connection *c, const edb_parameter *values, size_t n, size_t rows,
                  od_array *array) {
  array->kind = EDB_NULL;
  array->width = 1;
  for (size_t row = 0; row < rows; row++) {
    const edb_value *v = &values[row * n].value;
    const size_t width = width_of(c, v);
    if (v->kind == EDB_U64 || (v->kind == EDB_BYTES && c->quirk.bound_size)) return 0;
    if (v->kind != EDB_NULL && array->kind != EDB_NULL && v->kind != array->kind) return 0;
    if (v->kind != EDB_NULL) array->kind = v->kind;
    if (width > array->width) array->width = width;
  }
  return 1;
}

static int put_text(od_connection *c, const edb_value *v, char *place, SQLLEN *length) {
  if (c->quirk.utf8) {
    memcpy(place, v->as.text.p, v->as.text.n);
    place[v->as.text.n] = 0;
    *length = (SQLLEN)v->as.text.n;
    return EDB_OK;
  }
  const SQLINTEGER units = od_wide_make(&c->wide, v->as.text.p, v->as.text.n);
  if (units < 0) return od_nomem(c);
  memcpy(place, c->wide.p, ((size_t)units + 1) * (size_t)od_wide);
  *length = (SQLLEN)units * od_wide;
  return EDB_OK;
}

static int put(od_connection *c, const edb_value *v, char *place, SQLLEN *length) {
  *length = 0;
  switch (v->kind) {
  case EDB_NULL:
    *length = SQL_NULL_DATA;
    return EDB_OK;
  case EDB_BOOL:
    *place = v->as.boolean != 0;
    return EDB_OK;
  case EDB_TEXT:
    return put_text(c, v, place, length);
  case EDB_BYTES:
    if (v->as.bytes.n > 0) memcpy(place, v->as.bytes.p, v->as.bytes.n);
    *length = (SQLLEN)v->as.bytes.n;
    return EDB_OK;
  case EDB_TIME:
    *length = (SQLLEN)od_time_text(&v->as.time, place);
    return EDB_OK;
  default:
    memcpy(place, &v->as, sizeof(int64_t));
    return EDB_OK;
  }
}

/* Tells the driver of the array, as which type od_bind would for a value of its kind. */
static int bind(od_statement *s, size_t i, const od_array *array) {
  const od_connection *c = s->connection;
  const size_t unit = c->quirk.utf8 ? 1 : (size_t)od_wide;
  short c_type = SQL_C_CHAR, sql_type = SQL_VARCHAR;
  size_t size = array->width;
  switch (array->kind) {
  case EDB_NULL:
    sql_type = od_described(s, i);
    break;
  case EDB_BOOL:
    c_type = SQL_C_BIT;
    sql_type = SQL_BIT;
    break;
  case EDB_F64:
    c_type = SQL_C_DOUBLE;
    sql_type = SQL_DOUBLE;
    size = 15;
    break;
  case EDB_TEXT:
    size = array->width / unit - 1;
    c_type = c->quirk.utf8 ? SQL_C_CHAR : SQL_C_WCHAR;
    sql_type = size > OD_LONG_UNITS ? SQL_WLONGVARCHAR : SQL_WVARCHAR;
    break;
  case EDB_BYTES:
    size = array->width - 1;
    c_type = SQL_C_BINARY;
    sql_type = size > 2 * OD_LONG_UNITS ? SQL_LONGVARBINARY : SQL_VARBINARY;
    break;
  case EDB_TIME:
    break;
  default:
    c_type = SQL_C_SBIGINT;
    sql_type = SQL_BIGINT;
    size = 19;
  }
  return od_ok(od.BindParameter(s->stmt, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT, c_type, sql_type,
                                size > 0 ? size : 1, 0, array->data, (SQLLEN)array->width,
                                array->lengths));
}

static int set(od_statement *s, int attribute, void *value, int kind) {
  return od_ok(od.SetStmtAttr(s->stmt, attribute, value, kind));
}

/* Whether the driver takes so many sets of parameters, as far as it says. */
static int set_size(od_statement *s, size_t rows) {
  SQLULEN got = 0;
  return set(s, SQL_ATTR_PARAMSET_SIZE, (void *)rows, SQL_IS_UINTEGER) &&
         od_ok(od.GetStmtAttr(s->stmt, SQL_ATTR_PARAMSET_SIZE, &got, 0, NULL)) && got == rows;
}

/* A row for a set of parameters, counted together or result by result. */
static int64_t count_rows(od_statement *s) {
  int64_t sum = 0;
  for (int i = 0; i < OD_MOST_RESULTS; i++) {
    SQLLEN count = -1;
    if (!od_ok(od.RowCount(s->stmt, &count)) || count < 0) return -1;
    sum += count;
    if (!od_ok(od.MoreResults(s->stmt))) return sum;
  }
  return -1;
}

/* Whether all has come true; else *row is the first one of which it is not known, from 1. */
static int all_taken(od_statement *s, const SQLUSMALLINT *status, SQLULEN processed, size_t rows,
                     int64_t *row) {
  for (size_t i = 0; i < rows; i++) {
    if (status[i] == SQL_PARAM_SUCCESS || status[i] == SQL_PARAM_SUCCESS_WITH_INFO) continue;
    *row = status[i] == SQL_PARAM_ERROR ? (int64_t)i + 1 : 0;
    return 0;
  }
  *row = 0;
  return processed == rows && count_rows(s) == (int64_t)rows;
}

static SQLRETURN call_execute(const od_job *job) { return od.Execute(job->handle); }

/* Runs it. EDB_OK; EDB_UNSUPPORTED: the driver did not do it; or an error, with the row. */
static int run(od_statement *s, size_t rows, SQLUSMALLINT *status, SQLULEN *processed) {
  od_connection *c = s->connection;
  const od_job job = {call_execute, s->stmt, NULL, 0, 0};
  int64_t row = 0;
  for (size_t i = 0; i < rows; i++) status[i] = NO_STATUS;
  *processed = 0;
  const SQLRETURN rc = od_call(c, s->stmt, &job);
  const int done = od_ok(rc) || rc == SQL_NO_DATA;
  const edb_code failed = done ? EDB_OK : (edb_code)od_statement_error(s);
  const int taken = all_taken(s, status, *processed, rows, &row);
  /* Some drivers answer that it went well, and tell of rows that did not. */
  if (done && !taken && row > 0) od_statement_error(s);
  od.FreeStmt(s->stmt, SQL_CLOSE);
  if (!done || row > 0) {
    c->error.row = row;
    return done ? (int)c->error.code : (int)failed;
  }
  if (taken) return EDB_OK;
  c->no_arrays = 1;
  return edb_fail(&c->error, EDB_UNSUPPORTED, "the driver took not all of %zu rows at once", rows);
}

static void *carve(char **from, size_t bytes) {
  char *p = *from;
  *from += (bytes + 15) & ~(size_t)15;
  return p;
}

/* Fills the arrays. */
static int fill(od_statement *s, const edb_parameter *values, size_t n, size_t rows,
                od_array *arrays) {
  int rc = EDB_OK;
  for (size_t i = 0; rc == EDB_OK && i < n; i++) {
    for (size_t row = 0; rc == EDB_OK && row < rows; row++) {
      rc = put(s->connection, &values[row * n + i].value, arrays[i].data + row * arrays[i].width,
               &arrays[i].lengths[row]);
    }
  }
  return rc;
}

int od_run_arrays(void *statement, const edb_parameter *values, size_t rows) {
  od_statement *s = statement;
  od_connection *c = s->connection;
  const size_t n = (size_t)s->n_parameters;
  size_t bytes = rows * sizeof(SQLUSMALLINT) + 16 + n * sizeof(od_array) + 16;
  SQLULEN processed = 0;
  int rc = EDB_UNSUPPORTED;
  edb_fail(&c->error, EDB_OK, "%s", "");
  if (c->no_arrays) return rc;
  od_array *arrays = edb_alloc(c->host, n * sizeof *arrays);
  if (!arrays) return od_nomem(c);
  char *block = NULL;
  int fit = 1;
  for (size_t i = 0; fit && i < n; i++) {
    fit = survey(c, values + i, n, rows, &arrays[i]) && arrays[i].width <= MOST_BYTES / rows;
    bytes += rows * (arrays[i].width + sizeof(SQLLEN)) + 32;
    fit = fit && bytes <= MOST_BYTES;
  }
  if (!fit) goto done;
  block = edb_alloc(c->host, bytes);
  if (!block) {
    rc = od_nomem(c);
    goto done;
  }
  char *next = block;
  SQLUSMALLINT *status = carve(&next, rows * sizeof *status);
  for (size_t i = 0; i < n; i++) {
    arrays[i].lengths = carve(&next, rows * sizeof(SQLLEN));
    arrays[i].data = carve(&next, rows * arrays[i].width);
  }
  rc = fill(s, values, n, rows, arrays);
  int bound = set_size(s, rows) && set(s, SQL_ATTR_PARAM_STATUS_PTR, status, SQL_IS_POINTER) &&
              set(s, SQL_ATTR_PARAMS_PROCESSED_PTR, &processed, SQL_IS_POINTER);
  for (size_t i = 0; bound && i < n; i++) bound = bind(s, i, &arrays[i]);
  if (!bound) c->no_arrays = 1;
  if (rc == EDB_OK) rc = bound ? run(s, rows, status, &processed) : EDB_UNSUPPORTED;
  /* Nothing that is bound stays: the next run may be of one row. */
  od.FreeStmt(s->stmt, SQL_RESET_PARAMS);
  set(s, SQL_ATTR_PARAM_STATUS_PTR, NULL, SQL_IS_POINTER);
  set(s, SQL_ATTR_PARAMS_PROCESSED_PTR, NULL, SQL_IS_POINTER);
  set(s, SQL_ATTR_PARAMSET_SIZE, (void *)(uintptr_t)1, SQL_IS_UINTEGER);
  for (size_t i = 0; i < n; i++) s->places[i].c_type = 0;
done:
  edb_free(c->host, block);
  edb_free(c->host, arrays);
  return rc;
}
