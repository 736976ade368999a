/*
** drivers/postgresql_text.c: PostgreSQL's values in text format, decoded.
**
** A result with a column of a type that has no decoder is asked for in text format as a whole, so these give
** the same values from text as postgresql_value.c from binary. The session's settings (postgresql_connect.c)
** make the text exact; where a user has changed them, a date that is not written as expected stays text.
*/
#include <string.h>

#include "postgresql.h"

static int text_of(edb_value *v, const char *p, size_t n) {
  v->kind = EDB_TEXT;
  v->as.text.p = p;
  v->as.text.n = n;
  return EDB_OK;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static int decode_integer(const char *p, size_t n, edb_value *v) {
  size_t i = n > 0 && p[0] == '-';
  if (n - i < 1 || n - i > 19) return EDB_FAILED;
  uint64_t u = 0, limit = (uint64_t)INT64_MAX + (p[0] == '-');
  for (size_t at = i; at < n; at++) {
    if (p[at] < '0' || p[at] > '9') return EDB_FAILED;
    u = u * 10 + (uint64_t)(p[at] - '0'); /* 19 digits fit */
  }
  if (u > limit) return EDB_FAILED;
  v->kind = EDB_I64;
  v->as.i64 = i ? (int64_t)(0 - u) : (int64_t)u;
  return EDB_OK;
}

static int decode_float(const char *p, size_t n, int single, edb_value *v) {
  char text[64], *end;
  if (n == 0 || n >= sizeof text) return EDB_FAILED;
  memcpy(text, p, n);
  text[n] = 0;
  v->kind = EDB_F64;
  v->as.f64 = edb_parse_double(text, &end, single);
  return end == text + n ? EDB_OK : EDB_FAILED;
}

/* ---- Dates and times -------------------------------------------------------------------------- */

/* Reads text from left to right; `bad` once something else stood there. */
typedef struct reader {
  const char *p, *end;
  int bad;
} reader;

static int at(const reader *r, char c) { return r->p < r->end && *r->p == c; }

static void skip(reader *r, char c) {
  if (at(r, c)) {
    r->p++;
  } else {
    r->bad = 1;
  }
}

static int64_t number(reader *r, int least, int most) {
  int64_t value = 0;
  int n = 0;
  while (n < most && r->p < r->end && *r->p >= '0' && *r->p <= '9') {
    value = value * 10 + (*r->p++ - '0');
    n++;
  }
  if (n < least) r->bad = 1;
  return value;
}

/* HH:MM:SS[.f…], in microseconds. */
static int64_t clock_of(reader *r) {
  int64_t micros = number(r, 2, 2) * 3600;
  skip(r, ':');
  micros += number(r, 2, 2) * 60;
  skip(r, ':');
  micros = (micros + number(r, 2, 2)) * 1000000;
  if (at(r, '.')) {
    r->p++;
    const char *first = r->p;
    int64_t fraction = number(r, 1, 6);
    for (long i = r->p - first; i < 6; i++) fraction *= 10;
    micros += fraction;
  }
  return micros;
}

/* [+-]HH[:MM[:SS]], in seconds east of Greenwich. */
static int64_t zone_of(reader *r) {
  int west = at(r, '-');
  if (west) {
    r->p++;
  } else {
    skip(r, '+');
  }
  int64_t seconds = number(r, 2, 2) * 3600;
  for (int64_t unit = 60; unit && at(r, ':'); unit /= 60) {
    r->p++;
    seconds += number(r, 2, 2) * unit;
  }
  return west ? -seconds : seconds;
}

#define DAY_MICROS INT64_C(86400000000)

/* What is not written as ISO with years 1 to 9999 is handed on as it is. */
static int decode_moment(const char *p, size_t n, pg_codec codec, edb_value *v) {
  reader r = {p, p + n, 0};
  int zoned = codec == PG_TIMESTAMPTZ || codec == PG_TIMETZ;
  int64_t days = 0, micros = 0;
  edb_time_form form = codec == PG_DATE                         ? EDB_DATE
                       : codec == PG_TIME || codec == PG_TIMETZ ? EDB_CLOCK
                                                                : EDB_DATETIME;
  if (form != EDB_CLOCK) {
    int64_t year = number(&r, 4, 4);
    skip(&r, '-');
    int64_t month = number(&r, 2, 2);
    skip(&r, '-');
    int64_t day = number(&r, 2, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) r.bad = 1;
    if (!r.bad) days = pg_days_of(year, (unsigned)month, (unsigned)day);
  }
  if (form == EDB_DATETIME) skip(&r, ' ');
  if (form != EDB_DATE) micros = clock_of(&r);
  if (zoned) {
    int64_t east = zone_of(&r) * 1000000;
    if (form == EDB_CLOCK) {
      if (east) micros = (micros - east + 2 * DAY_MICROS) % DAY_MICROS;
    } else {
      micros -= east;
      days += micros < 0 ? -1 : micros >= DAY_MICROS;
      micros = (micros + DAY_MICROS) % DAY_MICROS;
    }
  }
  if (r.bad || r.p != r.end || micros < 0 || micros > DAY_MICROS) return text_of(v, p, n);
  if (form != EDB_CLOCK && (days < pg_days_of(1, 1, 1) || days > pg_days_of(9999, 12, 31))) {
    return text_of(v, p, n);
  }
  v->kind = EDB_TIME;
  v->as.time.nanos = micros * 1000;
  v->as.time.days = (int32_t)days;
  v->as.time.form = (uint8_t)form;
  v->as.time.zoned = (uint8_t)zoned;
  return EDB_OK;
}

/* ---- The rest --------------------------------------------------------------------------------- */

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* bytea_output: hex is \x and two digits a byte; escape has \\ and \ooo. */
static int decode_bytea(const char *p, size_t n, edb_value *v, pg_scratch *s) {
  char *out = pg_scratch_room(s, n ? n : 1), *q = out;
  if (!out) return EDB_NOMEM;
  if (n >= 2 && p[0] == '\\' && p[1] == 'x') {
    if (n % 2) return EDB_FAILED;
    for (size_t i = 2; i < n; i += 2) {
      int high = hex(p[i]), low = hex(p[i + 1]);
      if (high < 0 || low < 0) return EDB_FAILED;
      *q++ = (char)(high << 4 | low);
    }
  } else {
    for (size_t i = 0; i < n; i++) {
      if (p[i] != '\\') {
        *q++ = p[i];
      } else if (i + 1 < n && p[i + 1] == '\\') {
        *q++ = p[++i];
      } else {
        if (n - i < 4) return EDB_FAILED;
        unsigned byte = 0;
        for (size_t k = 1; k <= 3; k++) {
          if (p[i + k] < '0' || p[i + k] > '7') return EDB_FAILED;
          byte = byte << 3 | (unsigned)(p[i + k] - '0');
        }
        *q++ = (char)byte;
        i += 3;
      }
    }
  }
  v->kind = EDB_BYTES;
  v->as.bytes.p = out;
  v->as.bytes.n = (size_t)(q - out);
  s->used += v->as.bytes.n;
  return EDB_OK;
}

/* money is written by lc_monetary ("-$1,234.50"): the digits are taken and the sign. */
static int decode_money(const char *p, size_t n, edb_value *v, pg_scratch *s) {
  uint64_t units = 0;
  int negative = 0;
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '-' || p[i] == '(') negative = 1;
    if (p[i] < '0' || p[i] > '9') continue;
    if (units > (UINT64_MAX - 9) / 10) return EDB_FAILED;
    units = units * 10 + (uint64_t)(p[i] - '0');
  }
  if (negative) units = 0 - units;
  char wire[8];
  for (int i = 0; i < 8; i++) wire[i] = (char)(units >> (56 - 8 * i));
  return pg_decode(PG_MONEY, wire, sizeof wire, v, s);
}

int pg_decode_text(pg_codec codec, const char *p, size_t n, edb_value *v, pg_scratch *s) {
  switch (codec) {
  case PG_INT8:
  case PG_INT4:
  case PG_INT2:
  case PG_OID:
    return decode_integer(p, n, v);
  case PG_FLOAT8:
  case PG_FLOAT4:
    return decode_float(p, n, codec == PG_FLOAT4, v);
  case PG_BOOL:
    if (n != 1 || (*p != 't' && *p != 'f')) return EDB_FAILED;
    v->kind = EDB_BOOL;
    v->as.boolean = *p == 't';
    return EDB_OK;
  case PG_BYTEA:
    return decode_bytea(p, n, v, s);
  case PG_DATE:
  case PG_TIME:
  case PG_TIMETZ:
  case PG_TIMESTAMP:
  case PG_TIMESTAMPTZ:
    return decode_moment(p, n, codec, v);
  case PG_MONEY:
    return decode_money(p, n, v, s);
  case PG_TEXT:
  case PG_NUMERIC:
  case PG_UUID:
  case PG_JSONB:
  case PG_CHAR:
  case PG_BIT:
  case PG_OTHER:
    break;
  }
  return text_of(v, p, n);
}
