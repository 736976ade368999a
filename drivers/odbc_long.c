/*
** drivers/odbc_long.c: values read by SQLGetData, in parts, to their ends: those that are not bound, and those that
** did not fit their places.
*/
#include <string.h>

#include "odbcInt.h"

#define FIRST_BYTES 4096
#define LARGEST_BYTES (1u << 20)
#define MAX_BYTES (1u << 30) /* ours for what a driver claims */

static int too_long(od_statement *s, size_t column) {
  return edb_fail(&s->connection->error, EDB_FAILED,
                  "column \"%s\": a value is longer than %u bytes", s->columns[column].name,
                  MAX_BYTES);
}

/* A driver that writes four bytes of a length leaves the others as they were: zero. */
SQLLEN od_length(SQLLEN length) {
  if (sizeof length == 8 && (uint64_t)length >= UINT64_C(0xFFFFFF00) &&
      (uint64_t)length <= UINT64_C(0xFFFFFFFF)) {
    return (SQLLEN)(int32_t)(uint32_t)length;
  }
  return length;
}

static int read_parts(od_statement *s, size_t column, edb_buffer *raw, int *null) {
  od_connection *c = s->connection;
  const od_cell *cell = &s->cells[column];
  const int c_type = od_c_type(cell->codec);
  /* One stands behind each part of a text. */
  const size_t nul = od_nul_size(cell->codec);
  size_t size = FIRST_BYTES;
  *null = 0;
  for (int part = 0;; part++) {
    SQLLEN length = 0;
    char *room = edb_buffer_room(raw, size);
    if (!room) return od_nomem(c);
    const SQLRETURN rc = od.GetData(s->stmt, (SQLUSMALLINT)(column + 1), (SQLSMALLINT)c_type, room,
                                    (SQLLEN)size, &length);
    if (rc == SQL_NO_DATA) return EDB_OK;
    if (!od_ok(rc)) return od_statement_error(s);
    length = od_length(length);
    if (length == SQL_NULL_DATA) {
      *null = 1;
      return EDB_OK;
    }
    if (length >= 0 && (size_t)length <= size - nul && rc == SQL_SUCCESS) {
      raw->n += (size_t)length;
      return EDB_OK;
    }
    if (length >= 0 && (size_t)length <= size - nul) {
      /* With information: of something else, unless the part is full. */
      raw->n += (size_t)length;
      if ((size_t)length < size - nul) return EDB_OK;
    } else {
      raw->n += size - nul;
    }
    if (raw->n > MAX_BYTES) return too_long(s, column);
    /* What is left, where it is known; else more at a time. */
    if (length > 0 && (size_t)length > size - nul) {
      const size_t left = (size_t)length - (size - nul);
      if (left > MAX_BYTES) return too_long(s, column);
      size = left + nul;
    } else if (size < LARGEST_BYTES) {
      size *= 4;
    }
  }
}

int od_long_read(od_statement *s, size_t column, int *null) {
  od_connection *c = s->connection;
  od_cell *cell = &s->cells[column];
  if (cell->codec != OD_TEXT) {
    cell->text.n = 0;
    return read_parts(s, column, &cell->text, null);
  }
  c->line.n = 0;
  const int rc = read_parts(s, column, &c->line, null);
  if (rc != EDB_OK) return rc;
  cell->text.n = 0;
  od_text_add(&cell->text, c->line.p ? c->line.p : "", c->line.n / (size_t)od_wide);
  return cell->text.nomem ? od_nomem(c) : EDB_OK;
}
