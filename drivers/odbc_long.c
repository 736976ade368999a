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

int od_bad_length(od_statement *s, size_t column, SQLLEN length) {
  return edb_fail(&s->connection->error, EDB_FAILED,
                  "column \"%s\": the driver says that a value has %lld bytes",
                  s->columns[column].name, (long long)length);
}

/* A driver that writes four bytes of a length leaves the others as they were: zero. */
SQLLEN od_length(SQLLEN length) {
  if (sizeof length == 8 && (uint64_t)length >= UINT64_C(0xFFFFFF00) &&
      (uint64_t)length <= UINT64_C(0xFFFFFFFF)) {
    return (SQLLEN)(int32_t)(uint32_t)length;
  }
  return length;
}

/* A value on its way. total: what the driver said at first that there is, -1 where it did not. */
typedef struct od_parts {
  size_t unit, nul; /* bytes of a unit, and of the NUL behind each part of a text */
  SQLLEN total;
  size_t first; /* bytes of the first part */
  int stuck;    /* parts in a row that had nothing */
} od_parts;

/* Whether the NUL of a text is there. */
static int ends_at(const od_parts *p, const char *room, size_t n) {
  static const char zero[4] = {0};
  return p->nul == 0 || memcmp(room + n / p->unit * p->unit, zero, p->unit) == 0;
}

/* How much of the room a part took that is not known to be the last one: not all of a text's where the driver does
** not split a character, or has less at a time. The room's last unit was not zero before. */
static size_t part_size(const od_parts *p, const char *room, size_t size) {
  if (p->nul == 0) return size;
  if (ends_at(p, room, size - p->unit)) return size - p->nul;
  return p->unit == 1 ? strlen(room) : od_wide_length(room, size / p->unit) * p->unit;
}

/* What a part added to the value, and whether it was the last one. Lengths are not relied on: a driver may repeat the
** whole one, say that of the part, or none. */
static size_t take_part(od_parts *p, SQLRETURN rc, SQLLEN length, const char *room, size_t size,
                        size_t have, int *last) {
  const size_t fits = size - p->nul;
  *last = 0;
  if (rc == SQL_SUCCESS && length >= 0) {
    const size_t left =
        p->total >= 0 && (size_t)p->total >= have ? (size_t)p->total - have : fits + 1;
    /* A full room may be all that there is: the next call tells. */
    *last = (size_t)length + p->unit < fits;
    if ((size_t)length <= fits && ends_at(p, room, (size_t)length)) return (size_t)length;
    if (length == p->total && left <= fits) {
      *last = 1;
      return left;
    }
  }
  return part_size(p, room, size);
}

static int not_whole(od_statement *s, size_t column, size_t have, SQLLEN total) {
  return edb_fail(&s->connection->error, EDB_FAILED,
                  "column \"%s\": the driver gave %zu of a value's %lld bytes",
                  s->columns[column].name, have, (long long)total);
}

/* Reads until the driver has no more. *null: it is NULL. */
static int read_parts(od_statement *s, size_t column, edb_buffer *raw, int *null) {
  od_connection *c = s->connection;
  const od_cell *cell = &s->cells[column];
  const SQLSMALLINT c_type = (SQLSMALLINT)od_c_type(cell->codec);
  od_parts p = {cell->codec == OD_TEXT ? (size_t)od_wide : 1, 0, -1, 0, 0};
  size_t size = FIRST_BYTES;
  int last = 0;
  p.nul = cell->codec == OD_BYTES || od_fixed_size(cell->codec) > 0 ? 0 : p.unit;
  *null = 0;
  for (int part = 0; !last; part++) {
    SQLLEN length = 0;
    char *room = edb_buffer_room(raw, size);
    if (!room) return od_nomem(c);
    /* So that the NUL behind a part is found. */
    memset(part == 0 ? room + size - p.unit : room, 0xFF, part == 0 ? p.unit : size);
    const SQLRETURN rc =
        od.GetData(s->stmt, (SQLUSMALLINT)(column + 1), c_type, room, (SQLLEN)size, &length);
    if (rc == SQL_NO_DATA) break;
    if (!od_ok(rc)) return od_statement_error(s);
    length = od_length(length);
    if (length == SQL_NULL_DATA) {
      *null = part == 0;
      break;
    }
    if (length < 0 && length != SQL_NO_TOTAL) return od_bad_length(s, column, length);
    if (od_fixed_size(cell->codec) > 0) {
      raw->n += od_fixed_size(cell->codec);
      return EDB_OK;
    }
    if (part == 0) p.total = length;
    const size_t n = take_part(&p, rc, length, room, size, raw->n, &last);
    p.stuck = n > 0 ? 0 : p.stuck + 1;
    if (part == 0) p.first = n;
    raw->n += n;
    if (raw->n > MAX_BYTES) return too_long(s, column);
    if (p.stuck > 2) return not_whole(s, column, raw->n, p.total);
    /* What is left, where it is known, and a character more; else more at a time. */
    if (length >= 0 && (size_t)length > n) {
      if ((size_t)length - n > MAX_BYTES) return too_long(s, column);
      size = (size_t)length - n + p.nul + 4;
    } else if (size < LARGEST_BYTES) {
      size *= 4;
    }
  }
  /* A length that is not more than the first part may be that of the part. */
  const size_t total = p.total > 0 ? (size_t)p.total / p.unit * p.unit : 0;
  if (raw->n < total || (total > p.first && raw->n != total)) {
    return not_whole(s, column, raw->n, p.total);
  }
  return EDB_OK;
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
