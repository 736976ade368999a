/*
** drivers/mysql_text.c: values of the text protocol, decoded to what mysql_value.c gives from binary ones.
**
** One thing is not the same: the server writes a float with six digits here, so that 16777217 is read as
** 16777200. The text protocol is for statements that cannot be prepared, which read no tables.
*/
#include <stdlib.h>
#include <string.h>

#include "mysql.h"

/* Reads text from left to right; `bad` once something else stood there. */
typedef struct reader {
  const char *p, *end;
  int bad;
} reader;

static int skip(reader *r, char c) {
  int there = r->p < r->end && *r->p == c;
  r->p += there;
  return there;
}

static void expect(reader *r, char c) {
  if (!skip(r, c)) r->bad = 1;
}

static unsigned number(reader *r, int most) {
  unsigned value = 0;
  int n = 0;
  for (; n < most && r->p < r->end && *r->p >= '0' && *r->p <= '9'; n++) {
    value = value * 10 + (unsigned)(*r->p++ - '0');
  }
  if (n == 0) r->bad = 1;
  return value;
}

static void read_clock(reader *r, my_time *t) {
  t->negative = (char)skip(r, '-');
  t->hour = number(r, 4);
  expect(r, ':');
  t->minute = number(r, 2);
  expect(r, ':');
  t->second = number(r, 2);
  if (!skip(r, '.')) return;
  const char *first = r->p;
  t->second_part = number(r, 6);
  for (long i = r->p - first; i < 6; i++) t->second_part *= 10;
}

static int decode_moment(my_codec codec, unsigned decimals, const char *p, size_t n, edb_value *v,
                         char text[MY_MOMENT_TEXT]) {
  reader r = {p, p + n, 0};
  my_time t;
  memset(&t, 0, sizeof t);
  if (codec != MY_CLOCK) {
    t.year = number(&r, 4);
    expect(&r, '-');
    t.month = number(&r, 2);
    expect(&r, '-');
    t.day = number(&r, 2);
    if (codec != MY_DATE) expect(&r, ' ');
  }
  if (codec != MY_DATE) read_clock(&r, &t);
  if (r.bad || r.p != r.end) return EDB_FAILED;
  my_moment(codec, &t, decimals, v, text);
  return EDB_OK;
}

static int decode_integer(int without_sign, const char *p, size_t n, edb_value *v) {
  reader r = {p, p + n, 0};
  int negative = !without_sign && skip(&r, '-');
  uint64_t u = 0, limit = without_sign ? UINT64_MAX : (uint64_t)INT64_MAX + (uint64_t)negative;
  if (r.p == r.end) return EDB_FAILED;
  for (; r.p < r.end; r.p++) {
    unsigned digit = (unsigned)(*r.p - '0');
    if (digit > 9 || u > (limit - digit) / 10) return EDB_FAILED;
    u = u * 10 + digit;
  }
  v->kind = without_sign ? EDB_U64 : EDB_I64;
  v->as.u64 = negative ? 0 - u : u;
  return EDB_OK;
}

static int decode_float(int single, const char *p, size_t n, edb_value *v) {
  char text[400], *end; /* a double has up to 309 digits before its point */
  if (n == 0 || n >= sizeof text) return EDB_FAILED;
  memcpy(text, p, n);
  text[n] = 0;
  v->kind = EDB_F64;
  v->as.f64 = edb_parse_double(text, &end, single);
  return end == text + n ? EDB_OK : EDB_FAILED;
}

int my_decode_text(my_codec codec, unsigned decimals, const char *p, size_t n, edb_value *v,
                   char text[MY_MOMENT_TEXT]) {
  switch (codec) {
  case MY_INT:
    return decode_integer(0, p, n, v);
  case MY_UINT:
    return decode_integer(1, p, n, v);
  case MY_FLOAT:
    return decode_float(1, p, n, v);
  case MY_DOUBLE:
    return decode_float(0, p, n, v);
  case MY_BIT:
    if (n > 8) return EDB_FAILED;
    my_bits(p, n, v);
    return EDB_OK;
  case MY_DATE:
  case MY_CLOCK:
  case MY_DATETIME:
  case MY_TIMESTAMP:
    return decode_moment(codec, decimals, p, n, v, text);
  case MY_GEOMETRY:
    if (n < 4) return EDB_FAILED;
    v->kind = EDB_BYTES;
    v->as.bytes.p = p + 4;
    v->as.bytes.n = n - 4;
    return EDB_OK;
  case MY_NULL:
  case MY_TEXT:
  case MY_BYTES:
    v->kind = codec == MY_BYTES ? EDB_BYTES : EDB_TEXT;
    v->as.text.p = p;
    v->as.text.n = n;
    return EDB_OK;
  }
  return EDB_FAILED;
}
