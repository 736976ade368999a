/*
** drivers/sqlserver_rows.c: the reader. Its values are lent as tds/ leaves them, in the record that was received.
*/
#include <stdio.h>
#include <string.h>

#include "sqlserver.h"

#define KEPT (256u << 10) /* larger rooms are given back when the reader is closed */

/* ---- Columns ---------------------------------------------------------------------------------------------------- */

static void add_name(edb_buffer *names, tds_utf16 name) {
  char *room = edb_buffer_room(names, 3 * name.units + 1);
  if (!room) return;
  const size_t n = tds_to_utf8(room, name.p, name.units);
  room[n] = 0;
  names->n += n + 1;
}

/* "nvarchar(50)"; of a type from a library, its name. */
static void add_type(edb_buffer *names, const tds_type_info *t, tds_utf16 udt) {
  char text[TDS_DECLARATION];
  if (udt.units > 0) {
    add_name(names, udt);
  } else {
    edb_buffer_add(names, text, tds_declare(t, text) + 1);
  }
}

static int room_for_columns(ms_connection *c, size_t n) {
  ms_rows *r = &c->rows;
  if (n <= r->columns_size) return EDB_OK;
  edb_column *p = c->host->resize(c->host->context, r->columns, n * sizeof *p);
  if (!p) return ms_nomem(c);
  r->columns = p;
  r->columns_size = n;
  return EDB_OK;
}

/* Whether the columns are those that were described last: so it is each time a prepared statement runs. */
static int described_before(const ms_connection *c) {
  const edb_buffer *d = &c->rows.described;
  const tds_stream *s = &c->stream;
  const size_t size = s->n_columns * sizeof *s->columns;
  return d->n == size + s->names && d->n > 0 && memcmp(d->p, s->columns, size) == 0 &&
         (s->names == 0 || memcmp(d->p + size, s->room[TDS_ROOM_NAMES].p, s->names) == 0);
}

/* Where there is no memory for it, they are described each time. */
static void keep_described(ms_connection *c) {
  edb_buffer *d = &c->rows.described;
  const tds_stream *s = &c->stream;
  edb_buffer_add(d, s->columns, s->n_columns * sizeof *s->columns);
  if (s->names > 0) edb_buffer_add(d, s->room[TDS_ROOM_NAMES].p, s->names);
  if (d->nomem) edb_buffer_free(d);
}

static int describe(ms_connection *c) {
  ms_rows *r = &c->rows;
  const size_t n = c->stream.n_columns;
  if (described_before(c)) {
    r->n = n;
    return EDB_OK;
  }
  r->described.n = 0;
  int rc = room_for_columns(c, n);
  if (rc != EDB_OK) return rc;
  r->names.n = 0;
  for (size_t i = 0; i < n; i++) {
    add_name(&r->names, tds_column_name(&c->stream, i));
    add_type(&r->names, &c->stream.columns[i].info, tds_column_udt(&c->stream, i));
  }
  if (r->names.nomem) {
    edb_buffer_free(&r->names);
    r->names.nomem = 0;
    return ms_nomem(c);
  }
  const char *p = r->names.p;
  for (size_t i = 0; i < n; i++) {
    const tds_column *from = &c->stream.columns[i];
    edb_column *to = &r->columns[i];
    to->name = p;
    p += strlen(p) + 1;
    to->type_name = p;
    p += strlen(p) + 1;
    to->type = ms_dialect.type(tds_type_name(&from->info));
    to->kind = to->type->kind;
    to->nullable = (from->flags & TDS_COLUMN_NULLABLE) != 0;
  }
  r->n = n;
  keep_described(c);
  return EDB_OK;
}

/* ---- The reader ---------------------------------------------------------------------------------------------------- */

int ms_rows_start(ms_connection *c, ms_statement *s, void **rows) {
  ms_rows *r = &c->rows;
  r->statement = s;
  r->n = 0;
  r->done = 0;
  if (c->reply.columns) {
    const int rc = describe(c);
    if (rc != EDB_OK) {
      ms_stop(c);
      return rc;
    }
  }
  r->open = 1;
  *rows = c;
  return EDB_OK;
}

int ms_rows_columns(void *rows, const edb_column **columns, size_t *n) {
  ms_connection *c = rows;
  *columns = c->rows.columns;
  *n = c->rows.n;
  return EDB_OK;
}

int ms_rows_next_borrowed(void *rows, const edb_value **values) {
  ms_connection *c = rows;
  if (!c->rows.done) {
    const int rc = ms_next(c);
    if (rc == EDB_ROW && c->reply.columns == 1) {
      *values = (const edb_value *)(const void *)c->stream.values;
      return EDB_ROW;
    }
    c->rows.done = 1;
    /* A second result: one reader gives one. */
    const int end = ms_ended(c, rc == EDB_ROW ? ms_finish(c) : rc == EDB_DONE ? EDB_OK : rc);
    return end == EDB_OK ? EDB_DONE : end;
  }
  return EDB_DONE;
}

/* Rooms that a long value has made are given back: the next one may never come. */
static void shrink(ms_connection *c) {
  static const tds_room long_ones[] = {TDS_ROOM_HELD, TDS_ROOM_TEXT};
  for (size_t i = 0; i < sizeof long_ones / sizeof long_ones[0] && !c->reply.open; i++) {
    if (c->stream.room[long_ones[i]].size <= KEPT) continue;
    edb_free(c->host, c->stream.room[long_ones[i]].p);
    c->stream.room[long_ones[i]].p = NULL;
    c->stream.room[long_ones[i]].size = 0;
  }
}

int ms_rows_close(void *rows) {
  ms_connection *c = rows;
  int rc = EDB_OK;
  if (c->reply.open) {
    rc = ms_finish_quickly(c);
    if (rc == EDB_BUSY) {
      ms_stop(c);
      rc = EDB_OK;
    }
  }
  if (!c->rows.done) rc = ms_ended(c, rc);
  if (c->rows.statement) ms_statement_ended(c->rows.statement);
  shrink(c);
  c->rows.open = 0;
  c->rows.statement = NULL;
  return rc;
}

void ms_rows_free(ms_connection *c) {
  edb_free(c->host, c->rows.columns);
  edb_buffer_free(&c->rows.names);
  edb_buffer_free(&c->rows.described);
}
