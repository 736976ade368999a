/*
** Rows into bound buffers and values out by SQLGetData, with all that can be wrong about them.
*/
#include "liar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Conversions ---------------------------------------------------------------------------------- */

/* A value as its C type has it. */
typedef struct Converted {
  void *bytes; /* from malloc; NULL: SQL NULL, or it cannot be */
  size_t n;
  size_t end; /* how much the end of a text takes in the buffer; fixed: 0 and the size is n */
  size_t unit;
  int fixed;
} Converted;

static Converted keep(const void *from, size_t n) {
  Converted v = {malloc(n), n, 0, 1, 1};
  memcpy(v.bytes, from, n);
  return v;
}

static int scan_numbers(const char *text, long *numbers, int count) {
  int i = 0;
  for (const char *p = text; *p && i < count; i++) {
    char *end;
    numbers[i] = strtol(p, &end, 10);
    if (end == p) break;
    p = *end ? end + 1 : end;
  }
  return i;
}

static Converted convert_time(const char *text, SQLSMALLINT type) {
  long n[7] = {0};
  int clock = strlen(text) > 2 && text[2] == ':';
  int got = scan_numbers(text, clock ? n + 3 : n, clock ? 3 : 7);
  if (got < 3) return (Converted){0};
  if (type == SQL_C_TYPE_DATE || type == SQL_C_DATE) {
    SQL_DATE_STRUCT d = {(SQLSMALLINT)n[0], (SQLUSMALLINT)n[1], (SQLUSMALLINT)n[2]};
    return keep(&d, sizeof d);
  }
  if (type == SQL_C_TYPE_TIME || type == SQL_C_TIME) {
    SQL_TIME_STRUCT t = {(SQLUSMALLINT)n[3], (SQLUSMALLINT)n[4], (SQLUSMALLINT)n[5]};
    return keep(&t, sizeof t);
  }
  SQL_TIMESTAMP_STRUCT s = {
      (SQLSMALLINT)n[0],  (SQLUSMALLINT)n[1], (SQLUSMALLINT)n[2],           (SQLUSMALLINT)n[3],
      (SQLUSMALLINT)n[4], (SQLUSMALLINT)n[5], (SQLUINTEGER)n[6] * 100000000};
  return keep(&s, sizeof s);
}

static Converted convert_guid(const char *text) {
  SQLGUID g = {0};
  unsigned char bytes[16];
  size_t n = 0;
  for (const char *p = text; *p && n < 16; p++) {
    char two[3] = {p[0], p[1], 0};
    if (*p == '-') continue;
    bytes[n++] = (unsigned char)strtoul(two, NULL, 16);
    p++;
  }
  g.Data1 = (SQLUINTEGER)bytes[0] << 24 | (SQLUINTEGER)bytes[1] << 16 | (SQLUINTEGER)bytes[2] << 8 |
            bytes[3];
  g.Data2 = (unsigned short)(bytes[4] << 8 | bytes[5]);
  g.Data3 = (unsigned short)(bytes[6] << 8 | bytes[7]);
  memcpy(g.Data4, bytes + 8, 8);
  return keep(&g, sizeof g);
}

static Converted convert_hex(const char *bytes, size_t n) {
  Converted v = {malloc(2 * n + 1), 2 * n, 1, 1, 0};
  for (size_t i = 0; i < n; i++)
    snprintf((char *)v.bytes + 2 * i, 3, "%02X", (unsigned char)bytes[i]);
  return v;
}

static Converted convert(const Answer *a, int column, char *text, size_t n, SQLSMALLINT type) {
  Converted v = {0};
  if (type == SQL_C_DEFAULT) type = answer_is_binary(a, column) ? SQL_C_BINARY : SQL_C_CHAR;
  switch (type) {
  case SQL_C_WCHAR: {
    v.unit = v.end = sizeof(SQLWCHAR);
    if (answer_is_binary(a, column)) {
      Converted hex = convert_hex(text, n);
      v.bytes = to_utf16(hex.bytes, hex.n, &v.n);
      free(hex.bytes);
    } else {
      v.bytes = to_utf16(text, n, &v.n);
    }
    v.n *= sizeof(SQLWCHAR);
    return v;
  }
  case SQL_C_CHAR:
    if (answer_is_binary(a, column)) return convert_hex(text, n);
    v = keep(text, n + 1);
    v.n = n;
    v.end = 1;
    v.fixed = 0;
    return v;
  case SQL_C_BINARY:
    v = keep(text, n + 1);
    v.n = n;
    v.fixed = 0;
    return v;
  case SQL_C_SBIGINT:
    return keep(&(SQLBIGINT){strtoll(text, NULL, 10)}, sizeof(SQLBIGINT));
  case SQL_C_UBIGINT:
    return keep(&(SQLUBIGINT){strtoull(text, NULL, 10)}, sizeof(SQLUBIGINT));
  case SQL_C_LONG:
  case SQL_C_SLONG:
    return keep(&(SQLINTEGER){(SQLINTEGER)strtol(text, NULL, 10)}, sizeof(SQLINTEGER));
  case SQL_C_SHORT:
  case SQL_C_SSHORT:
    return keep(&(SQLSMALLINT){(SQLSMALLINT)strtol(text, NULL, 10)}, sizeof(SQLSMALLINT));
  case SQL_C_BIT:
    return keep(&(unsigned char){(unsigned char)strtol(text, NULL, 10)}, 1);
  case SQL_C_DOUBLE:
    return keep(&(double){strtod(text, NULL)}, sizeof(double));
  case SQL_C_GUID:
    return convert_guid(text);
  case SQL_C_DATE:
  case SQL_C_TIME:
  case SQL_C_TIMESTAMP:
  case SQL_C_TYPE_DATE:
  case SQL_C_TYPE_TIME:
  case SQL_C_TYPE_TIMESTAMP:
    return convert_time(text, type);
  default:
    return v;
  }
}

/* ---- Into a buffer -------------------------------------------------------------------------------- */

static void indicate(const Connection *c, SQLLEN *indicator, SQLLEN n) {
  if (!indicator) return;
  if (lies(c, LIE_NARROW) || lies(c, LIE_PACKED)) {
    memcpy(indicator, &(SQLINTEGER){(SQLINTEGER)n}, sizeof(SQLINTEGER));
  } else {
    memcpy(indicator, &n, sizeof n);
  }
}

/* How much of `left` bytes goes into the room, the text's end aside. */
static size_t fitting(const Statement *s, const Converted *v, size_t left, SQLLEN room,
                      int by_part) {
  size_t fits = room > (SQLLEN)v->end ? ((size_t)room - v->end) / v->unit * v->unit : 0;
  if (by_part && lies(s->connection, LIE_STUCK)) return 0;
  if (by_part && lies(s->connection, LIE_SHORT_PARTS) && v->end > 0 && fits > 14 && left > 14)
    fits = 14;
  if (left <= fits) return left;
  if (v->unit == 2 && fits >= 2 && !lies(s->connection, LIE_SPLIT)) {
    SQLWCHAR last;
    memcpy(&last, (const char *)v->bytes + v->n - left + fits - 2, 2);
    if ((last & 0xFC00) == 0xD800) fits -= 2;
  }
  return fits;
}

/* Part of a value, from *offset on, which it moves. */
static SQLRETURN deliver(Statement *s, int column, long row, const Binding *b, size_t *offset,
                         int by_part) {
  Connection *c = s->connection;
  size_t n = 0;
  char *text = answer_value(&s->answer, column, row, &n);
  if (by_part) s->whole = 0;
  if (!text) {
    if (!b->indicator) return fail(s, c, "22002", "indicator variable required but not supplied");
    indicate(c, b->indicator, SQL_NULL_DATA);
    return SQL_SUCCESS;
  }
  Converted v = convert(&s->answer, column, text, n, b->type);
  free(text);
  if (!v.bytes) return fail(s, c, "07006", "restricted data type attribute violation");
  if (by_part) s->whole = v.n;
  if (by_part && v.n == 0 && lies(c, LIE_NO_DATA)) {
    free(v.bytes);
    return SQL_NO_DATA;
  }
  SQLRETURN rc = SQL_SUCCESS;
  if (v.fixed) {
    memcpy(b->target, v.bytes, v.n);
    indicate(c, b->indicator, (SQLLEN)v.n);
    *offset = v.n;
  } else {
    size_t left = v.n - *offset, part = fitting(s, &v, left, b->room, by_part);
    SQLLEN length = (SQLLEN)(by_part && lies(c, LIE_LENGTH_ONCE) ? v.n : left);
    if (part > 0) memcpy(b->target, (const char *)v.bytes + *offset, part);
    if (b->room >= (SQLLEN)(part + v.end)) memset((char *)b->target + part, 0, v.end);
    if (part < left) {
      if (lies(c, LIE_NO_TOTAL)) length = SQL_NO_TOTAL;
      if (lies(c, LIE_HIDDEN)) length = (SQLLEN)part;
      if (!lies(c, LIE_QUIET)) rc = inform(s, "01004", "string data, right truncated");
    } else if (lies(c, LIE_ODD_LENGTH) && v.unit == 2) {
      length += 1;
    }
    indicate(c, b->indicator, length);
    *offset += part;
  }
  if (lies(c, LIE_NEGATIVE) && lie_number(c, LIE_NEGATIVE) == row) indicate(c, b->indicator, -7);
  free(v.bytes);
  return rc;
}

/* ---- SQLFetch -------------------------------------------------------------------------------------- */

/* What a fixed C type takes in an array; a text's place is as large as its room. */
static size_t width_of(const Binding *b) {
  switch (b->type) {
  case SQL_C_CHAR:
  case SQL_C_WCHAR:
  case SQL_C_BINARY:
    return (size_t)b->room;
  case SQL_C_SBIGINT:
  case SQL_C_UBIGINT:
  case SQL_C_DOUBLE:
    return 8;
  case SQL_C_LONG:
  case SQL_C_SLONG:
    return 4;
  case SQL_C_SHORT:
  case SQL_C_SSHORT:
    return 2;
  case SQL_C_BIT:
    return 1;
  case SQL_C_GUID:
    return sizeof(SQLGUID);
  case SQL_C_DATE:
  case SQL_C_TYPE_DATE:
    return sizeof(SQL_DATE_STRUCT);
  case SQL_C_TIME:
  case SQL_C_TYPE_TIME:
    return sizeof(SQL_TIME_STRUCT);
  default:
    return sizeof(SQL_TIMESTAMP_STRUCT);
  }
}

/* The binding as it is at place i of the block. */
static Binding at_place(const Statement *s, const Binding *b, size_t i) {
  Binding at = *b;
  size_t by = s->offset_by ? *s->offset_by : 0;
  size_t step = s->row_bind == SQL_BIND_BY_COLUMN ? width_of(b) : s->row_bind;
  size_t indicator_step = s->row_bind != SQL_BIND_BY_COLUMN ? s->row_bind
                          : lies(s->connection, LIE_PACKED) ? sizeof(SQLINTEGER)
                                                            : sizeof(SQLLEN);
  at.target = (char *)b->target + by + i * step;
  if (b->indicator)
    at.indicator = (SQLLEN *)(void *)((char *)b->indicator + by + i * indicator_step);
  return at;
}

static SQLRETURN fetch_row(Statement *s, long row, size_t place) {
  SQLRETURN rc = SQL_SUCCESS;
  if (lies(s->connection, LIE_ROW_ERROR) && lie_number(s->connection, LIE_ROW_ERROR) == row) {
    return fail(s, s->connection, "22003", "numeric value out of range in this row");
  }
  for (int i = 0; i < s->bound && i < s->answer.count; i++) {
    size_t offset = 0;
    if (!s->bindings[i].target) continue;
    Binding b = at_place(s, &s->bindings[i], place);
    SQLRETURN one = deliver(s, i, row, &b, &offset, 0);
    if (one == SQL_ERROR) return one;
    if (one == SQL_SUCCESS_WITH_INFO) rc = one;
  }
  return rc;
}

SQLRETURN fetch_block(Statement *s) {
  Connection *c = s->connection;
  size_t array = lies(c, LIE_ONE_ROW) ? 1 : s->array, failed = 0;
  SQLRETURN rc = SQL_SUCCESS;
  forget(s);
  if (c->dead) return fail(s, c, "08S01", "communication link failure");
  if (s->answer.count == 0) return fail(s, c, "24000", "invalid cursor state");
  s->row = s->row < 0 ? 0 : s->row + s->in_block;
  s->in_block = s->answer.rows - s->row < (long)array ? s->answer.rows - s->row : (long)array;
  s->at = 0;
  s->got = -1;
  if (s->fetched && !lies(c, LIE_NO_COUNT)) {
    *s->fetched = (SQLULEN)s->in_block * (lies(c, LIE_HIGH_COUNT) && s->in_block > 0 ? 1000 : 1);
  }
  if (s->in_block <= 0) {
    s->in_block = 0;
    return SQL_NO_DATA;
  }
  long bad = lies(c, LIE_FETCH_ERROR) ? lie_number(c, LIE_FETCH_ERROR) : -1;
  if (bad >= s->row && bad < s->row + s->in_block)
    return fail(s, c, "HY000", "the block cannot be fetched");
  for (size_t i = 0; i < array; i++) {
    int there = (long)i < s->in_block;
    SQLRETURN one = there ? fetch_row(s, s->row + (long)i, i) : SQL_NO_DATA;
    if (s->status && !lies(c, LIE_NO_STATUS)) {
      s->status[i] = !there                         ? SQL_ROW_NOROW
                     : one == SQL_ERROR             ? SQL_ROW_ERROR
                     : one == SQL_SUCCESS_WITH_INFO ? SQL_ROW_SUCCESS_WITH_INFO
                                                    : SQL_ROW_SUCCESS;
    }
    failed += there && one == SQL_ERROR;
    if (there && one != SQL_SUCCESS) rc = SQL_SUCCESS_WITH_INFO;
  }
  return failed == (size_t)s->in_block ? SQL_ERROR : rc == SQL_SUCCESS ? succeed(s, c) : rc;
}

/* ---- SQLGetData ------------------------------------------------------------------------------------ */

SQLRETURN get_data(Statement *s, int column, SQLSMALLINT type, void *target, SQLLEN room,
                   SQLLEN *indicator) {
  Connection *c = s->connection;
  forget(s);
  if (c->dead) return fail(s, c, "08S01", "communication link failure");
  if (s->row < 0 || s->in_block <= s->at) return fail(s, c, "24000", "invalid cursor state");
  if (column < 0 || column >= s->answer.count)
    return fail(s, c, "07009", "invalid descriptor index");
  if (!lies(c, LIE_GETDATA_BLOCKS)) {
    int last = 0;
    for (int i = 0; i < s->bound; i++) {
      if (s->bindings[i].target) last = i + 1;
    }
    if (s->array > 1) return fail(s, c, "HY109", "SQLGetData of a block of rows");
    if (column < last)
      return fail(s, c, "07009", "SQLGetData of a column before the last bound one");
    if (column < s->got) return fail(s, c, "07009", "SQLGetData of a column before the last one");
  }
  int again = column == s->got;
  if (!again) {
    s->got = column;
    s->offset = 0;
  }
  if (again && s->offset >= s->whole && !lies(c, LIE_STUCK)) return SQL_NO_DATA;
  Binding b = {type, target, room, indicator};
  return deliver(s, column, s->row + s->at, &b, &s->offset, 1);
}
