/*
** drivers/mysql_rows.c: the reader.
**
** Rows are read one by one as they come, never as a whole: mysql_stmt_fetch writes a row to where its columns
** are bound, and what is bound is what is lent. A value that is longer than its column's buffer is fetched
** again into a larger one, which stays for the rows to come.
*/
#include <string.h>

#include "mysql.h"

#define SHORT_ROWS 100 /* what is left of a result is read to its end where it is this little */
#define SHORT_MS 10
#define LARGE_BYTES (1ul << 20) /* from here on a buffer is not doubled */
#define MAX_BYTES (1ul << 30)   /* the protocol's own limit, and ours for what a server claims */

/* ---- Ending ------------------------------------------------------------------------------------ */

/* Nothing more is read of the command. Answers rc, whose error stays. */
static int ended(my_rows *r, int rc) {
  my_connection *c = r->statement->connection;
  r->done = 1;
  if (rc == EDB_DONE) {
    int rest = my_statement_finish(r->statement);
    return rest == EDB_OK ? EDB_DONE : rest;
  }
  edb_error why = c->error;
  my_statement_finish(r->statement);
  c->error = why;
  return rc;
}

/* Between two rows somebody has called edb_cancel. */
static int cancelled(my_rows *r) {
  my_connection *c = r->statement->connection;
  c->stop = MY_STOP_INTERRUPTED;
  if (r->statement->reads) my_kill(c);
  c->stop_end = my_now_ms() + 5000;
  r->done = 1;
  my_statement_finish(r->statement);
  return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted");
}

/* ---- Values ------------------------------------------------------------------------------------- */

static int undecodable(my_rows *r, size_t i) {
  my_statement *s = r->statement;
  edb_fail(&s->connection->error, EDB_FAILED, "column \"%s\": the server sent what is no %s",
           s->columns[i].name, s->columns[i].type_name);
  return ended(r, EDB_FAILED);
}

/* A value that did not fit is fetched whole, into a buffer for the next ones too. */
static int complete(my_rows *r, size_t i) {
  my_statement *s = r->statement;
  my_connection *c = s->connection;
  my_cell *cell = &s->cells[i];
  unsigned long size = cell->size, n = cell->length;
  if (n > MAX_BYTES) {
    edb_fail(&c->error, EDB_FAILED, "column \"%s\": a value of %lu bytes is too long",
             s->columns[i].name, n);
    return ended(r, EDB_FAILED);
  }
  while (size < n && size < LARGE_BYTES) size *= 2;
  if (size < n) size = n + n / 8;
  s->grown = 1;
  edb_free(c->host, cell->bytes);
  cell->size = 0;
  cell->bytes = edb_alloc(c->host, size);
  if (!cell->bytes) {
    edb_fail(&c->error, EDB_NOMEM, "out of memory");
    return ended(r, EDB_NOMEM);
  }
  cell->size = size;
  my_bound bound = {.type = cell->codec == MY_TEXT ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB,
                    .buffer = cell->bytes,
                    .buffer_length = size,
                    .length = &cell->length,
                    .is_null = &cell->is_null,
                    .error = &cell->error};
  /* The library reads the row where it lies, so its own copy of the old binding does no harm. */
  void *bind = (char *)s->result_binds + i * my_layout_used->bind_size;
  memset(bind, 0, my_layout_used->bind_size);
  my_layout_bind(my_layout_used, s->result_binds, i, &bound);
  if (my.stmt_fetch_column(s->stmt, bind, (unsigned)i, 0) != 0) {
    return ended(r, my_stmt_error(c, s->stmt));
  }
  return cell->length == n ? EDB_OK : undecodable(r, i);
}

/* What the library wrote becomes a value. The most frequent kinds need no more than their kind. */
static int decode(my_rows *r, size_t i) {
  my_statement *s = r->statement;
  my_cell *cell = &s->cells[i];
  edb_value *v = &s->values[i];
  if (cell->is_null) {
    v->kind = EDB_NULL;
    return EDB_OK;
  }
  switch (cell->codec) {
  case MY_INT:
    v->kind = EDB_I64;
    return EDB_OK;
  case MY_UINT:
    v->kind = EDB_U64;
    return EDB_OK;
  case MY_DOUBLE:
    v->kind = EDB_F64;
    return EDB_OK;
  case MY_FLOAT:
    v->kind = EDB_F64;
    v->as.f64 = (double)cell->fixed.f32;
    return EDB_OK;
  case MY_BIT:
    if (cell->length > sizeof cell->fixed.bits) return undecodable(r, i);
    my_bits((const char *)&cell->fixed.bits, cell->length, v);
    return EDB_OK;
  case MY_DATE:
  case MY_CLOCK:
  case MY_DATETIME:
  case MY_TIMESTAMP:
    my_moment(cell->codec, &cell->fixed.time, cell->field.decimals, v, cell->moment);
    return EDB_OK;
  case MY_NULL:
  case MY_TEXT:
  case MY_BYTES:
  case MY_GEOMETRY:
    break;
  }
  if (cell->length > cell->size) {
    int rc = complete(r, i);
    if (rc != EDB_OK) return rc;
  }
  v->kind = cell->codec == MY_TEXT ? EDB_TEXT : EDB_BYTES;
  v->as.text.p = cell->bytes;
  v->as.text.n = cell->length;
  if (cell->codec == MY_GEOMETRY) { /* the SRID stands before the WKB */
    if (cell->length < 4) return undecodable(r, i);
    v->as.text.p += 4;
    v->as.text.n -= 4;
  }
  return EDB_OK;
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

static int next_prepared(my_rows *r) {
  my_statement *s = r->statement;
  my_connection *c = s->connection;
  int got = my.stmt_fetch(s->stmt);
  if (got == MYSQL_NO_DATA) return ended(r, EDB_DONE);
  if (got != 0 && got != MYSQL_DATA_TRUNCATED) return ended(r, my_stmt_error(c, s->stmt));
  for (size_t i = 0; i < s->n_columns; i++) {
    int rc = decode(r, i);
    if (rc != EDB_OK) return rc;
  }
  if (s->grown) { /* at once: whoever fetches next must not write to what was freed */
    int rc = my_bind_columns(s);
    if (rc != EDB_OK) return ended(r, rc);
  }
  return EDB_ROW;
}

static int next_text(my_rows *r) {
  my_statement *s = r->statement;
  my_connection *c = s->connection;
  char **row = my.fetch_row(r->result);
  if (!row) return ended(r, my.number(c->mysql) != 0 ? my_error(c) : EDB_DONE);
  const unsigned long *lengths = my.fetch_lengths(r->result);
  for (size_t i = 0; i < s->n_columns; i++) {
    my_cell *cell = &s->cells[i];
    edb_value *v = &s->values[i];
    if (!row[i]) {
      v->kind = EDB_NULL;
    } else if (my_decode_text(cell->codec, cell->field.decimals, row[i], lengths[i], v,
                              cell->moment) != EDB_OK) {
      return undecodable(r, i);
    }
  }
  return EDB_ROW;
}

int my_rows_start(my_statement *s, const edb_parameter *parameters, size_t n, int owns,
                  void **rows) {
  my_rows *r = &s->connection->rows;
  memset(r, 0, sizeof *r);
  int rc = my_statement_run(s, parameters, n);
  if (rc != EDB_OK) return rc;
  r->statement = s;
  r->owns = (unsigned char)owns;
  r->open = 1;
  if (s->n_columns == 0) { /* nothing to read */
    rc = ended(r, EDB_OK);
    if (rc != EDB_OK) {
      r->open = 0;
      return rc;
    }
  }
  *rows = r;
  return EDB_OK;
}

int my_rows_columns(void *rows, const edb_column **columns, size_t *n) {
  const my_statement *s = ((my_rows *)rows)->statement;
  *columns = s->columns;
  *n = s->n_columns;
  return EDB_OK;
}

int my_rows_next_borrowed(void *rows, const edb_value **values) {
  my_rows *r = rows;
  my_statement *s = r->statement;
  my_connection *c = s->connection;
  if (r->done) return EDB_DONE;
  my_wait_for(c);
  if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) return cancelled(r);
  *values = s->values;
  return s->stmt ? next_prepared(r) : next_text(r);
}

/* What is left is read where it is little, else stopped where that loses nothing: a statement that writes is
** let to its end. */
static int end_early(my_rows *r) {
  my_statement *s = r->statement;
  my_connection *c = s->connection;
  int64_t end = my_now_ms() + SHORT_MS;
  r->done = 1;
  if (!s->reads) return my_statement_finish(s);
  for (int i = 0; i < SHORT_ROWS; i++) {
    int more = s->stmt ? my.stmt_fetch(s->stmt) : my.fetch_row(r->result) == NULL;
    if (more != 0 && more != MYSQL_DATA_TRUNCATED) return my_statement_finish(s);
    if (my_now_ms() > end) break;
  }
  c->stop = MY_STOP_INTERRUPTED;
  my_kill(c);
  c->stop_end = my_now_ms() + 5000;
  my_statement_finish(s);
  return c->dead ? edb_fail(&c->error, EDB_CLOSED,
                            "the server did not stop the command; the connection ends")
                 : EDB_OK;
}

int my_rows_close(void *rows) {
  my_rows *r = rows;
  my_connection *c = r->statement->connection;
  int rc = EDB_OK;
  my_wait_for(c);
  atomic_store(&c->cancelled, 0);
  if (!r->done && !c->dead) {
    rc = end_early(r);
  } else if (r->result) {
    my.free_result(r->result);
    r->result = NULL;
  }
  r->open = 0;
  r->done = 1;
  if (r->owns) my_statement_free(r->statement);
  return rc;
}
