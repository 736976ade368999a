/*
** drivers/odbc_rows.c: the reader. A row is lent out of the block, with text as UTF-8 beside it; numbers are copied
** to where they are lent.
*/
#include <string.h>

#include "odbcInt.h"

/* ---- Values ------------------------------------------------------------------------------------- */

static void lend(edb_value *v, edb_kind kind, const char *p, size_t n) {
  v->kind = kind;
  v->as.text.p = p;
  v->as.text.n = n;
}

/* psqlODBC writes booleans as 1 and 0, with BoolsAsChar; others as words. */
static void lend_boolean(edb_value *v, const char *p, size_t n) {
  if (n == 0) {
    lend(v, EDB_TEXT, p, n);
    return;
  }
  v->kind = EDB_BOOL;
  v->as.boolean = *p == '1' || *p == 't' || *p == 'T' || *p == 'y' || *p == 'Y' || *p == '-';
}

/* Text and bytes as they are lent. */
static int lend_bytes(od_statement *s, size_t i, char *p, size_t n) {
  edb_value *v = &s->values[i];
  switch (s->cells[i].codec) {
  case OD_BYTES:
    lend(v, EDB_BYTES, p, n);
    break;
  case OD_MOMENT:
    od_moment_value(s->columns[i].type, p, n, v);
    break;
  case OD_BOOL_TEXT:
    lend_boolean(v, p, n);
    break;
  case OD_BITS:
    od_bits_value(p, n, v);
    break;
  case OD_QUOTED:
    if (od_quoted_value(p, n, v)) break;
    return edb_fail(&s->connection->error, EDB_FAILED, "the driver gave what is no literal");
  default:
    /* ODBC writes the digits of a GUID in capitals. */
    for (size_t k = 0; s->cells[i].sql_type == SQL_GUID && k < n; k++) {
      if (p[k] >= 'A' && p[k] <= 'F') p[k] = (char)(p[k] | 32);
    }
    lend(v, EDB_TEXT, p, n);
    break;
  }
  return EDB_OK;
}

static void lend_fixed(od_statement *s, size_t i, const char *p) {
  od_cell *cell = &s->cells[i];
  edb_value *v = &s->values[i];
  SQL_DATE_STRUCT date;
  SQL_TIMESTAMP_STRUCT stamp;
  double f;
  switch (cell->codec) {
  case OD_INT:
    v->kind = EDB_I64;
    memcpy(&v->as.i64, p, sizeof v->as.i64);
    break;
  case OD_UINT:
    v->kind = EDB_U64;
    memcpy(&v->as.u64, p, sizeof v->as.u64);
    break;
  case OD_BOOL:
    v->kind = EDB_BOOL;
    v->as.boolean = *p != 0;
    break;
  case OD_DOUBLE:
    v->kind = EDB_F64;
    memcpy(&v->as.f64, p, sizeof v->as.f64);
    break;
  case OD_FLOAT:
    memcpy(&f, p, sizeof f);
    v->kind = EDB_F64;
    v->as.f64 = (double)(float)f; /* as a double: MariaDB's driver puts floats 8 bytes apart */
    break;
  case OD_DATE:
    memcpy(&date, p, sizeof date);
    od_date_value(&date, v, cell->moment);
    break;
  default:
    memcpy(&stamp, p, sizeof stamp);
    od_datetime_value(&stamp, cell->zoned, v, cell->moment);
    break;
  }
}

/* A value that has to be asked for. */
static int lend_read(od_statement *s, size_t i) {
  od_cell *cell = &s->cells[i];
  int null = 0;
  const int rc = od_long_read(s, i, &null);
  if (rc != EDB_OK) return rc;
  if (null) {
    s->values[i].kind = EDB_NULL;
  } else if (od_fixed_size(cell->codec) > 0) {
    lend_fixed(s, i, cell->text.p);
  } else {
    if (!edb_buffer_room(&cell->text, 0)) return od_nomem(s->connection);
    return lend_bytes(s, i, cell->text.p, cell->text.n);
  }
  return EDB_OK;
}

/* What did not fit its place: from the driver, whole, and the next places are larger. */
static int lend_cut(od_statement *s, size_t i, SQLLEN length) {
  od_cell *cell = &s->cells[i];
  od_connection *c = s->connection;
  if (!(c->getdata & SQL_GD_BOUND) || (s->capacity > 1 && c->quirk.one_reread)) {
    return edb_fail(&c->error, EDB_FAILED,
                    "column \"%s\": a value is longer than the driver said of its column",
                    s->columns[i].name);
  }
  if (s->capacity > 1 &&
      !od_ok(od.SetPos(s->stmt, c->rows.at + 1, SQL_POSITION, SQL_LOCK_NO_CHANGE))) {
    return od_statement_error(s);
  }
  const size_t most = 8192u * (size_t)od_wide;
  cell->wanted = length > 0 && (size_t)length < most ? (size_t)length + 16 : cell->width * 2;
  s->grow = 1;
  return lend_read(s, i);
}

static int lend_bound(od_statement *s, size_t i) {
  od_cell *cell = &s->cells[i];
  const size_t at = s->connection->rows.at;
  char *p = cell->data + at * cell->width;
  const SQLLEN length = od_length(cell->lengths[at]);
  if (length == SQL_NULL_DATA) {
    s->values[i].kind = EDB_NULL;
    return EDB_OK;
  }
  if ((length < 0 && length != SQL_NO_TOTAL) || length > INT32_MAX)
    return od_bad_length(s, i, length);
  if (od_fixed_size(cell->codec) > 0) {
    lend_fixed(s, i, p);
    return EDB_OK;
  }
  /* A place has room for a character more than its values have: a full one was cut, whatever the driver says. */
  const size_t unit = cell->codec == OD_TEXT ? (size_t)od_wide : 1;
  const size_t full = cell->width - od_nul_size(cell->codec) - unit;
  if (length < 0 || (size_t)length >= full) return lend_cut(s, i, length);
  if (cell->codec != OD_TEXT) {
    return lend_bytes(s, i, p, (size_t)length);
  }
  cell->text.n = 0;
  od_text_add(&cell->text, p, (size_t)length / (size_t)od_wide);
  if (cell->text.nomem) return od_nomem(s->connection);
  lend(&s->values[i], EDB_TEXT, cell->text.p, cell->text.n);
  return EDB_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------------ */

static int next_listed(od_statement *s) {
  od_list *list = s->list;
  if (list->at >= list->rows) return EDB_DONE;
  memcpy(s->values, list->values + list->at++ * list->width, list->width * sizeof *s->values);
  return EDB_ROW;
}

int od_next(od_statement *s) {
  od_rows *r = &s->connection->rows;
  int rc;
  if (s->list) return next_listed(s);
  if (s->n_columns == 0) return EDB_DONE;
  do {
    if (s->capacity == 0 && (rc = od_block_start(s)) != EDB_OK) return rc;
    if (r->at >= r->have) {
      if (r->have > 0 && r->trouble_at == r->have) break;
      if (r->last) return EDB_DONE;
      rc = od_block_fetch(s);
      if (rc != EDB_ROW) return rc;
    }
  } while (r->have == 0 || (s->status[r->at] == SQL_ROW_NOROW && ++r->at >= r->have));
  if (r->at == r->trouble_at) {
    s->connection->error = r->trouble;
    return (int)r->trouble.code;
  }
  for (size_t i = 0; i < s->n_columns; i++) {
    rc = s->cells[i].bound ? lend_bound(s, i) : lend_read(s, i);
    if (rc != EDB_OK) return rc;
  }
  r->at++;
  return EDB_ROW;
}

static int ended(od_rows *r, int rc) {
  od_statement *s = r->statement;
  edb_error why = s->connection->error;
  r->done = 1;
  const int rest = od_statement_finish(s, 0);
  if (rc != EDB_DONE) {
    /* That a driver cannot do what it said is no word on lent rows. */
    if (rc == EDB_UNSUPPORTED) why.code = EDB_FAILED;
    s->connection->error = why;
    return (int)why.code;
  }
  return rest == EDB_OK ? EDB_DONE : rest;
}

int od_rows_start(od_statement *s, const edb_parameter *parameters, size_t n, int owns,
                  void **rows) {
  od_rows *r = &s->connection->rows;
  int rc = od_statement_run(s, parameters, n);
  if (rc != EDB_OK) return rc;
  /* Results without rows may come before the first one with rows. */
  if (!s->list) rc = od_describe(s);
  for (int i = 0; rc == EDB_OK && !s->list && s->n_columns == 0 && od_ok(od.MoreResults(s->stmt));
       i++) {
    rc = i < OD_MOST_RESULTS ? od_describe(s) : od_endless(s);
  }
  if (rc != EDB_OK) {
    const edb_error why = s->connection->error;
    od_statement_finish(s, 0);
    s->connection->error = why;
    return rc;
  }
  memset(r, 0, sizeof *r);
  r->statement = s;
  r->owns = (unsigned char)owns;
  r->open = 1;
  r->trouble_at = SIZE_MAX;
  if (s->n_columns == 0) { /* nothing to read */
    rc = ended(r, EDB_DONE);
    if (rc != EDB_DONE) {
      r->open = 0;
      return rc;
    }
  }
  *rows = r;
  return EDB_OK;
}

int od_rows_columns(void *rows, const edb_column **columns, size_t *n) {
  const od_statement *s = ((od_rows *)rows)->statement;
  *columns = s->columns;
  *n = s->n_columns;
  return EDB_OK;
}

int od_rows_next_borrowed(void *rows, const edb_value **values) {
  od_rows *r = rows;
  od_statement *s = r->statement;
  od_connection *c = s->connection;
  if (r->done) return EDB_DONE;
  if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) {
    od_statement_finish(s, 1);
    r->done = 1;
    return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted");
  }
  *values = s->values;
  const int rc = od_next(s);
  return rc == EDB_ROW ? rc : ended(r, rc);
}

int od_rows_close(void *rows) {
  od_rows *r = rows;
  od_statement *s = r->statement;
  int rc = EDB_OK;
  atomic_store(&s->connection->cancelled, 0);
  if (!r->done && !s->connection->dead) rc = od_statement_finish(s, 1);
  r->open = 0;
  r->done = 1;
  od_connection *c = s->connection;
  if (r->owns) od_statement_free(s);
  od_settle(c);
  return rc;
}
