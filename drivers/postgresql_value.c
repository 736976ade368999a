/*
** drivers/postgresql_value.c: PostgreSQL's binary values, decoded.
**
** A decoder gets the bytes of one value and checks their number before it reads them: nothing that the
** server sends makes it read further. Text and bytes are lent as they lie in the message; what has to be
** rendered (numeric, uuid, bit, dates that edb_time cannot express) goes to the reader's scratch.
**
** The forms are those of the types' send functions (src/backend/utils/adt): numbers in network order; days and
** microseconds since 2000-01-01; numeric in digits of base 10000.
*/
#include <string.h>

#include "postgresql.h"

#define DAY_MICROS INT64_C(86400000000)
#define DAYS_TO_2000 10957  /* from 1970-01-01 */
#define FIRST_DAY (-719162) /* 0001-01-01 */
#define LAST_DAY 2932896    /* 9999-12-31 */

/* Sorted by OID. */
static const pg_type types[] = {
    {16, "bool", "boolean", PG_BOOL},
    {17, "bytea", "bytea", PG_BYTEA},
    {18, "char", "\"char\"", PG_CHAR},
    {19, "name", "name", PG_TEXT},
    {20, "int8", "bigint", PG_INT8},
    {21, "int2", "smallint", PG_INT2},
    {23, "int4", "integer", PG_INT4},
    {25, "text", "text", PG_TEXT},
    {26, "oid", "oid", PG_OID},
    {114, "json", "json", PG_TEXT},
    {142, "xml", "xml", PG_TEXT},
    {700, "float4", "real", PG_FLOAT4},
    {701, "float8", "double precision", PG_FLOAT8},
    {705, "unknown", "unknown", PG_TEXT},
    {790, "money", "money", PG_MONEY},
    {1042, "bpchar", "character", PG_TEXT},
    {1043, "varchar", "character varying", PG_TEXT},
    {1082, "date", "date", PG_DATE},
    {1083, "time", "time without time zone", PG_TIME},
    {1114, "timestamp", "timestamp without time zone", PG_TIMESTAMP},
    {1184, "timestamptz", "timestamp with time zone", PG_TIMESTAMPTZ},
    {1266, "timetz", "time with time zone", PG_TIMETZ},
    {1560, "bit", "bit", PG_BIT},
    {1562, "varbit", "bit varying", PG_BIT},
    {1700, "numeric", "numeric", PG_NUMERIC},
    {2275, "cstring", "cstring", PG_TEXT},
    {2278, "void", "void", PG_TEXT},
    {2950, "uuid", "uuid", PG_UUID},
    {3802, "jsonb", "jsonb", PG_JSONB},
};

const pg_type *pg_type_of(unsigned oid) {
  size_t low = 0, high = sizeof types / sizeof types[0];
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (types[middle].oid == oid) return &types[middle];
    if (types[middle].oid < oid) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

/* ---- The scratch ---------------------------------------------------------------------------- */

static char *grow(pg_scratch *s, size_t n) {
  size_t size = s->size ? s->size : 256;
  while (size - s->used < n) {
    if (size > SIZE_MAX / 2) return NULL;
    size *= 2;
  }
  char *p = edb_alloc(s->host, size);
  if (!p) return NULL;
  if (s->used) memcpy(p, s->p, s->used);
  /* What this row has rendered so far moves along. */
  uintptr_t old = (uintptr_t)s->p;
  for (size_t i = 0; i < s->count; i++) {
    edb_value *v = &s->values[i];
    if (v->kind != EDB_TEXT && v->kind != EDB_BYTES) continue;
    uintptr_t at = (uintptr_t)v->as.text.p;
    if (s->p && at >= old && at - old < s->used) v->as.text.p = p + (at - old);
  }
  edb_free(s->host, s->p);
  s->p = p;
  s->size = size;
  return p + s->used;
}

char *pg_scratch_room(pg_scratch *s, size_t n) {
  return s->size - s->used >= n && s->p ? s->p + s->used : grow(s, n);
}

static int rendered(pg_scratch *s, edb_value *v, char *p, size_t n) {
  s->used += n;
  v->kind = EDB_TEXT;
  v->as.text.p = p;
  v->as.text.n = n;
  return EDB_OK;
}

static int constant(edb_value *v, const char *text) {
  v->kind = EDB_TEXT;
  v->as.text.p = text;
  v->as.text.n = strlen(text);
  return EDB_OK;
}

static int lent(edb_value *v, edb_kind kind, const char *p, size_t n) {
  v->kind = kind;
  v->as.text.p = p;
  v->as.text.n = n;
  return EDB_OK;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static char *four_digits(char *out, unsigned digit) {
  out[0] = (char)('0' + digit / 1000);
  out[1] = (char)('0' + digit / 100 % 10);
  out[2] = (char)('0' + digit / 10 % 10);
  out[3] = (char)('0' + digit % 10);
  return out + 4;
}

/* numeric_send: int16 number of digits, int16 weight of the first (a power of 10000), uint16 sign, uint16
** scale, then the digits. */
static int decode_numeric(const char *p, size_t n, edb_value *v, pg_scratch *s) {
  if (n < 8) return EDB_FAILED;
  size_t digits = pg_get16(p);
  int weight = (int16_t)pg_get16(p + 2);
  unsigned sign = pg_get16(p + 4);
  int scale = pg_get16(p + 6);
  if (sign == 0xC000) return constant(v, "NaN");
  if (sign == 0xD000) return constant(v, "Infinity");
  if (sign == 0xF000) return constant(v, "-Infinity");
  if ((sign != 0 && sign != 0x4000) || scale > 0x3FFF || n != 8 + 2 * digits) return EDB_FAILED;
  for (size_t i = 0; i < digits; i++) {
    if (pg_get16(p + 8 + 2 * i) > 9999) return EDB_FAILED;
  }
  size_t whole = weight >= 0 ? 4 * ((size_t)weight + 1) : 1;
  char *start = pg_scratch_room(s, whole + (size_t)scale + 8);
  if (!start) return EDB_NOMEM;
  char *out = start;
  if (sign) *out++ = '-';
  char *first = out;
  for (int i = 0; i <= weight; i++) {
    out = four_digits(out, (size_t)i < digits ? pg_get16(p + 8 + 2 * i) : 0);
  }
  /* Leading zeros but one digit: of the first group alone, unless the server sends odd ones. */
  char *keep = first;
  while (keep < out && *keep == '0') keep++;
  if (keep == out) {
    *first = '0';
    out = first + 1;
  } else if (keep > first) {
    memmove(first, keep, (size_t)(out - keep));
    out -= keep - first;
  }
  if (scale > 0) {
    *out++ = '.';
    char *end = out + scale;
    for (int i = weight + 1; out < end; i++) {
      out = four_digits(out, i >= 0 && (size_t)i < digits ? pg_get16(p + 8 + 2 * i) : 0);
    }
    out = end;
  }
  return rendered(s, v, start, (size_t)(out - start));
}

/* The currency's smallest units, as a decimal. */
static int decode_money(int64_t units, edb_value *v, pg_scratch *s) {
  char text[80], *end = text + sizeof text, *out = end;
  uint64_t u = units < 0 ? 0 - (uint64_t)units : (uint64_t)units;
  int digits = s->money_digits;
  for (int i = 0; i <= digits || u; i++) {
    if (i == digits && digits > 0) *--out = '.';
    *--out = (char)('0' + u % 10);
    u /= 10;
  }
  if (units < 0) *--out = '-';
  size_t n = (size_t)(end - out);
  char *p = pg_scratch_room(s, n);
  if (!p) return EDB_NOMEM;
  memcpy(p, out, n);
  return rendered(s, v, p, n);
}

/* ---- Dates and times -------------------------------------------------------------------------- */

/* Both from H. Hinnant, "chrono-compatible low-level date algorithms". */
int64_t pg_days_of(int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  int64_t era = (year >= 0 ? year : year - 399) / 400;
  int64_t of_era = year - era * 400;
  int64_t of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int64_t)day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, unsigned *month, unsigned *day) {
  days += 719468;
  int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  int64_t of_era = days - era * 146097;
  int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
  int64_t m = (5 * of_year + 2) / 153;
  *day = (unsigned)(of_year - (153 * m + 2) / 5 + 1);
  *month = (unsigned)(m < 10 ? m + 3 : m - 9);
  *year = y + era * 400 + (*month <= 2);
}

static char *decimal(char *out, uint64_t number, int width) {
  char reversed[20];
  int n = 0;
  do {
    reversed[n++] = (char)('0' + number % 10);
    number /= 10;
  } while (number || n < width);
  while (n > 0) *out++ = reversed[--n];
  return out;
}

size_t pg_moment_text(int64_t days, int64_t micros, int zoned, char out[PG_MOMENT_TEXT]) {
  int64_t year;
  unsigned month, day;
  date_of(days, &year, &month, &day);
  char *p = decimal(out, (uint64_t)(year > 0 ? year : 1 - year), 4);
  *p++ = '-';
  p = decimal(p, month, 2);
  *p++ = '-';
  p = decimal(p, day, 2);
  if (micros >= 0) {
    uint64_t u = (uint64_t)micros, seconds = u / 1000000;
    *p++ = ' ';
    p = decimal(p, seconds / 3600, 2);
    *p++ = ':';
    p = decimal(p, seconds / 60 % 60, 2);
    *p++ = ':';
    p = decimal(p, seconds % 60, 2);
    if (u % 1000000) {
      *p++ = '.';
      p = decimal(p, u % 1000000, 6);
      while (p[-1] == '0') p--;
    }
    if (zoned) {
      memcpy(p, "+00", 3);
      p += 3;
    }
  }
  if (year <= 0) {
    memcpy(p, " BC", 3);
    p += 3;
  }
  return (size_t)(p - out);
}

static int moment(int64_t days, int64_t micros, int zoned, edb_value *v, pg_scratch *s) {
  if (days >= FIRST_DAY && days <= LAST_DAY) {
    v->kind = EDB_TIME;
    v->as.time.nanos = micros < 0 ? 0 : micros * 1000;
    v->as.time.days = (int32_t)days;
    v->as.time.form = micros < 0 ? EDB_DATE : EDB_DATETIME;
    v->as.time.zoned = (uint8_t)zoned;
    return EDB_OK;
  }
  char *p = pg_scratch_room(s, PG_MOMENT_TEXT);
  if (!p) return EDB_NOMEM;
  return rendered(s, v, p, pg_moment_text(days, micros, zoned, p));
}

static int decode_date(int32_t days, edb_value *v, pg_scratch *s) {
  if (days == INT32_MAX) return constant(v, "infinity");
  if (days == INT32_MIN) return constant(v, "-infinity");
  return moment((int64_t)days + DAYS_TO_2000, -1, 0, v, s);
}

static int decode_timestamp(int64_t micros, int zoned, edb_value *v, pg_scratch *s) {
  if (micros == INT64_MAX) return constant(v, "infinity");
  if (micros == INT64_MIN) return constant(v, "-infinity");
  int64_t days = micros / DAY_MICROS, rest = micros % DAY_MICROS;
  if (rest < 0) {
    days--;
    rest += DAY_MICROS;
  }
  return moment(days + DAYS_TO_2000, rest, zoned, v, s);
}

/* zone: seconds west of Greenwich. 24:00:00 is a time of its own where no zone moves it. */
static int decode_clock(int64_t micros, int32_t zone, int zoned, edb_value *v) {
  if (micros < 0 || micros > DAY_MICROS || zone < -86400 || zone > 86400) return EDB_FAILED;
  if (zone) micros = (micros + zone * INT64_C(1000000) + 2 * DAY_MICROS) % DAY_MICROS;
  v->kind = EDB_TIME;
  v->as.time.nanos = micros * 1000;
  v->as.time.days = 0;
  v->as.time.form = EDB_CLOCK;
  v->as.time.zoned = (uint8_t)zoned;
  return EDB_OK;
}

/* ---- The rest --------------------------------------------------------------------------------- */

static int decode_uuid(const char *p, edb_value *v, pg_scratch *s) {
  char *out = pg_scratch_room(s, 36);
  if (!out) return EDB_NOMEM;
  char *q = out;
  for (int i = 0; i < 16; i++) {
    unsigned byte = (unsigned char)p[i];
    if (i == 4 || i == 6 || i == 8 || i == 10) *q++ = '-';
    *q++ = "0123456789abcdef"[byte >> 4];
    *q++ = "0123456789abcdef"[byte & 15];
  }
  return rendered(s, v, out, 36);
}

/* bit_send: int32 number of bits, then the bits, the first one in the highest place. */
static int decode_bit(const char *p, size_t n, edb_value *v, pg_scratch *s) {
  if (n < 4) return EDB_FAILED;
  uint32_t bits = pg_get32(p);
  if (bits > INT32_MAX || n - 4 != ((size_t)bits + 7) / 8) return EDB_FAILED;
  char *out = pg_scratch_room(s, bits);
  if (!out) return EDB_NOMEM;
  for (size_t i = 0; i < bits; i++) {
    out[i] = (char)('0' + (((unsigned char)p[4 + i / 8] >> (7 - i % 8)) & 1));
  }
  return rendered(s, v, out, bits);
}

/* "char": a byte of no encoding. Zero is the empty text and high ones are in octal, as PostgreSQL 16 has it. */
static int decode_char(const char *p, edb_value *v, pg_scratch *s) {
  unsigned byte = (unsigned char)*p;
  if (byte < 0x80) return lent(v, EDB_TEXT, p, byte ? 1 : 0);
  char *out = pg_scratch_room(s, 4);
  if (!out) return EDB_NOMEM;
  out[0] = '\\';
  out[1] = (char)('0' + (byte >> 6));
  out[2] = (char)('0' + (byte >> 3 & 7));
  out[3] = (char)('0' + (byte & 7));
  return rendered(s, v, out, 4);
}

static int integer(edb_value *v, int64_t i64) {
  v->kind = EDB_I64;
  v->as.i64 = i64;
  return EDB_OK;
}

static double double_of(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* How many bytes a value of the codec has; 0: that varies. */
static size_t fixed_length(pg_codec codec) {
  switch (codec) {
  case PG_BOOL:
  case PG_CHAR:
    return 1;
  case PG_INT2:
    return 2;
  case PG_INT4:
  case PG_OID:
  case PG_FLOAT4:
  case PG_DATE:
    return 4;
  case PG_INT8:
  case PG_FLOAT8:
  case PG_MONEY:
  case PG_TIME:
  case PG_TIMESTAMP:
  case PG_TIMESTAMPTZ:
    return 8;
  case PG_TIMETZ:
    return 12;
  case PG_UUID:
    return 16;
  default:
    return 0;
  }
}

int pg_decode(pg_codec codec, const char *p, size_t n, edb_value *v, pg_scratch *s) {
  size_t length = fixed_length(codec);
  if (length && n != length) return EDB_FAILED;
  switch (codec) {
  case PG_TEXT:
    return lent(v, EDB_TEXT, p, n);
  case PG_BYTEA:
    return lent(v, EDB_BYTES, p, n);
  case PG_INT8:
    return integer(v, (int64_t)pg_get64(p));
  case PG_INT4:
    return integer(v, (int32_t)pg_get32(p));
  case PG_INT2:
    return integer(v, (int16_t)pg_get16(p));
  case PG_OID:
    return integer(v, (int64_t)pg_get32(p));
  case PG_FLOAT8:
  case PG_FLOAT4:
    v->kind = EDB_F64;
    v->as.f64 = codec == PG_FLOAT8 ? double_of(pg_get64(p)) : (double)float_of(pg_get32(p));
    return EDB_OK;
  case PG_BOOL:
    v->kind = EDB_BOOL;
    v->as.boolean = *p != 0;
    return EDB_OK;
  case PG_NUMERIC:
    return decode_numeric(p, n, v, s);
  case PG_DATE:
    return decode_date((int32_t)pg_get32(p), v, s);
  case PG_TIME:
    return decode_clock((int64_t)pg_get64(p), 0, 0, v);
  case PG_TIMETZ:
    return decode_clock((int64_t)pg_get64(p), (int32_t)pg_get32(p + 8), 1, v);
  case PG_TIMESTAMP:
    return decode_timestamp((int64_t)pg_get64(p), 0, v, s);
  case PG_TIMESTAMPTZ:
    return decode_timestamp((int64_t)pg_get64(p), 1, v, s);
  case PG_UUID:
    return decode_uuid(p, v, s);
  case PG_JSONB: /* a version, then the text */
    if (n < 1 || *p != 1) return EDB_FAILED;
    return lent(v, EDB_TEXT, p + 1, n - 1);
  case PG_CHAR:
    return decode_char(p, v, s);
  case PG_MONEY:
    return decode_money((int64_t)pg_get64(p), v, s);
  case PG_BIT:
    return decode_bit(p, n, v, s);
  case PG_OTHER:
    break;
  }
  return EDB_FAILED;
}
