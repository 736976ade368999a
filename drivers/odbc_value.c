/*
** drivers/odbc_value.c: values that are not lent as the driver gives them: dates and times, bits, and literals.
*/
#include <stdlib.h>
#include <string.h>

#include "odbcInt.h"

/* ---- Dates and times ------------------------------------------------------------------------------ */

static char *digits(char *out, unsigned value, int width) {
  for (int i = width; i-- > 0; value /= 10) out[i] = (char)('0' + value % 10);
  return out + width;
}

static char *put_date(char *p, int year, unsigned month, unsigned day) {
  if (year < 0) *p++ = '-';
  p = digits(p, (unsigned)(year < 0 ? -year : year), year > 9999 || year < -9999 ? 5 : 4);
  *p++ = '-';
  p = digits(p, month, 2);
  *p++ = '-';
  return digits(p, day, 2);
}

static void lend(edb_value *v, const char *text, size_t n) {
  v->kind = EDB_TEXT;
  v->as.text.p = text;
  v->as.text.n = n;
}

void od_date_value(const SQL_DATE_STRUCT *date, edb_value *v, char text[OD_MOMENT_TEXT]) {
  const size_t n = (size_t)(put_date(text, date->year, date->month, date->day) - text);
  lend(v, text, n);
  if (n == 10 && edb_time_parse(text, n, EDB_DATE, 0, &v->as.time)) {
    v->kind = EDB_TIME;
  } else {
    lend(v, text, n);
  }
}

void od_datetime_value(const SQL_TIMESTAMP_STRUCT *t, int zoned, edb_value *v,
                       char text[OD_MOMENT_TEXT]) {
  const int64_t second = INT64_C(1000000000);
  char *p = put_date(text, t->year, t->month, t->day);
  edb_time time;
  if (p == text + 10 && edb_time_parse(text, 10, EDB_DATE, 0, &time) && t->hour < 24 &&
      t->minute < 60 && t->second < 60 && t->fraction < second) {
    time.form = EDB_DATETIME;
    time.zoned = (uint8_t)zoned;
    time.nanos = ((t->hour * 60 + t->minute) * 60 + t->second) * second + t->fraction;
    v->kind = EDB_TIME;
    v->as.time = time;
    return;
  }
  *p++ = ' ';
  p = digits(p, t->hour, 2);
  *p++ = ':';
  p = digits(p, t->minute, 2);
  *p++ = ':';
  p = digits(p, t->second, 2);
  if (t->fraction > 0) {
    *p++ = '.';
    p = digits(p, t->fraction, 9);
    while (p[-1] == '0') p--;
  }
  lend(v, text, (size_t)(p - text));
}

/* The digits of "HH:MM:SS[.f…]" behind a sign, of any number of hours; -1: it is no such text. */
static int64_t clock_nanos(const char *p, size_t n) {
  int64_t parts[3] = {0}, fraction = 0, unit = 1000000000;
  size_t i = 0;
  for (int part = 0; part < 3; part++) {
    const size_t from = i;
    while (i < n && i - from < 4 && p[i] >= '0' && p[i] <= '9') {
      parts[part] = parts[part] * 10 + (p[i++] - '0');
    }
    if (i == from || (part > 0 && (i - from != 2 || parts[part] > 59))) return -1;
    if (part < 2 && (i >= n || p[i++] != ':')) return -1;
  }
  if (i < n && p[i] == '.') {
    i++;
    while (i < n && unit > 1 && p[i] >= '0' && p[i] <= '9')
      fraction += (p[i++] - '0') * (unit /= 10);
  }
  if (i != n) return -1;
  return ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000000000 + fraction;
}

/* "+02", "-03:30", "Z" at the end: seconds east of UTC, and how many bytes it takes. */
static size_t zone_of(const char *p, size_t n, int64_t *seconds) {
  *seconds = 0;
  if (n > 0 && p[n - 1] == 'Z') return 1;
  for (size_t size = 3; size <= 9 && size < n; size += 3) {
    const char *z = p + n - size;
    if (*z != '+' && *z != '-') continue;
    int64_t total = 0;
    for (size_t i = 1; i < size; i += 3) {
      if (z[i] < '0' || z[i] > '9' || z[i + 1] < '0' || z[i + 1] > '9') return 0;
      total = total * 60 + (z[i] - '0') * 10 + (z[i + 1] - '0');
    }
    for (size_t i = size; i < 9; i += 3) total *= 60;
    *seconds = *z == '-' ? -total : total;
    return size;
  }
  return 0;
}

#define DAY_NANOS INT64_C(86400000000000)

/* A clock's time in UTC, on whatever day. */
static int64_t in_utc(int64_t nanos, int64_t east) {
  nanos = (nanos - east * 1000000000) % DAY_NANOS;
  return nanos < 0 ? nanos + DAY_NANOS : nanos;
}

void od_moment_value(const edb_type *type, const char *p, size_t n, edb_value *v) {
  const int zoned = type->compare == EDB_COMPARE_INSTANT;
  edb_time time = {0};
  int64_t east = 0;
  size_t end = n;
  lend(v, p, n);
  if (type->declared == EDB_DECLARED_TIME) {
    const int negative = n > 0 && *p == '-';
    const size_t zone = negative ? 0 : zone_of(p, n, &east);
    const int64_t nanos = clock_nanos(p + negative, n - zone - (size_t)negative);
    if (nanos < 0) return;
    time = (edb_time){negative ? -nanos : nanos, 0, EDB_CLOCK, zone > 0};
    if (zone > 0) time.nanos = in_utc(nanos, east);
  } else {
    if (n < 10 || !edb_time_parse(p, 10, EDB_DATE, 0, &time)) return;
    if (type->declared == EDB_DECLARED_DATE) {
      if (n != 10) return;
    } else {
      if (zoned) end -= zone_of(p, n, &east);
      if (end < n && end > 0 && p[end - 1] == ' ') end--; /* SQL Server's */
      if (end > 10) {
        if (end < 12 || (p[10] != ' ' && p[10] != 'T')) return;
        time.nanos = clock_nanos(p + 11, end - 11);
        if (time.nanos < 0 || time.nanos >= DAY_NANOS) return;
      }
      time.nanos -= east * 1000000000;
      time.form = EDB_DATETIME;
      time.zoned = (uint8_t)zoned;
    }
  }
  v->kind = EDB_TIME;
  v->as.time = time;
}

/* ---- Bits and literals ---------------------------------------------------------------------------- */

void od_bits_value(const char *p, size_t n, edb_value *v) {
  uint64_t bits = 0;
  if (n > 8) {
    lend(v, p, n);
    v->kind = EDB_BYTES;
    return;
  }
  for (size_t i = 0; i < n; i++) bits = bits << 8 | (unsigned char)p[i];
  v->kind = bits > INT64_MAX ? EDB_U64 : EDB_I64;
  v->as.u64 = bits;
}

static int hex(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* B00FF, whose bytes are written over its digits. */
static int blob_literal(char *p, size_t n, edb_value *v) {
  size_t used = 0;
  if (n % 2 == 0) return 0;
  for (size_t i = 1; i + 1 < n; i += 2) {
    const int high = hex(p[i]), low = hex(p[i + 1]);
    if (high < 0 || low < 0) return 0;
    p[used++] = (char)(high * 16 + low);
  }
  lend(v, p, used);
  v->kind = EDB_BYTES;
  return 1;
}

static int text_literal(char *p, size_t n, edb_value *v) {
  size_t used = 0;
  if (n < 2 || p[n - 1] != '\'') return 0;
  for (size_t i = 1; i + 1 < n; i++) {
    p[used++] = p[i];
    if (p[i] == '\'') i++;
  }
  lend(v, p, used);
  return 1;
}

/* An integer where it is written as one, else a real: 1.0, -1.5e+300, 9.0e+999 for infinity. */
static int number_literal(const char *p, size_t n, edb_value *v) {
  char text[64], *end;
  if (n == 0 || n >= sizeof text) return 0;
  memcpy(text, p, n);
  text[n] = 0;
  if (!text[strspn(text, "-0123456789")]) {
    v->kind = EDB_I64;
    v->as.i64 = strtoll(text, &end, 10);
  } else {
    v->kind = EDB_F64;
    v->as.f64 = edb_parse_double(text, &end, 0);
  }
  return *end == 0;
}

int od_quoted_value(char *p, size_t n, edb_value *v) {
  if (n == 4 && memcmp(p, "NULL", 4) == 0) {
    v->kind = EDB_NULL;
    return 1;
  }
  if (n > 0 && p[0] == 'B') return blob_literal(p, n, v);
  if (n > 0 && p[0] == '\'') return text_literal(p, n, v);
  return number_literal(p, n, v);
}
