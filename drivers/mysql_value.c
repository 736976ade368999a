/*
** drivers/mysql_value.c: what a column is, and its values as the client library leaves them, decoded.
**
** Dates that the calendar does not have ('0000-00-00', '2200-00-08', '2023-02-31', which a permissive server
** stores) are lent as text in the server's spelling.
*/
#include <string.h>

#include "mysql.h"

/* ---- What a column is --------------------------------------------------------------------------- */

/* Text and bytes by their longest value, in bytes: what the protocol calls BLOB is any of four. */
static const char *sized(unsigned long length, const char *const names[4]) {
  return names[length <= 255 ? 0 : length <= 65535 ? 1 : length <= 16777215 ? 2 : 3];
}

static my_type string_type(const my_field *f, const char *text, const char *bytes) {
  if (f->flags & MYSQL_ENUM_FLAG) return (my_type){MY_TEXT, "enum"};
  if (f->flags & MYSQL_SET_FLAG) return (my_type){MY_TEXT, "set"};
  if (f->charset == MYSQL_BINARY_CHARSET) return (my_type){MY_BYTES, bytes};
  return (my_type){MY_TEXT, text};
}

static my_type blob_type(const my_field *f) {
  static const char *const blobs[] = {"tinyblob", "blob", "mediumblob", "longblob"};
  static const char *const texts[] = {"tinytext", "text", "mediumtext", "longtext"};
  if (f->charset == MYSQL_BINARY_CHARSET) return (my_type){MY_BYTES, sized(f->length, blobs)};
  return (my_type){MY_TEXT, sized(f->length, texts)};
}

/* Integers: the name of the signed type and that of the unsigned one. */
static my_type integer_type(const my_field *f, const char *plain, const char *without_sign) {
  int u = (f->flags & MYSQL_UNSIGNED_FLAG) != 0;
  return (my_type){u ? MY_UINT : MY_INT, u ? without_sign : plain};
}

my_type my_type_of(const my_field *f, const char *extended, size_t n) {
  /* Types that MariaDB sends as others, and says so. */
  static const my_type known[] = {
      {MY_TEXT, "uuid"}, {MY_TEXT, "inet6"}, {MY_TEXT, "inet4"}, {MY_TEXT, "json"}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (n == strlen(known[i].name) && memcmp(extended, known[i].name, n) == 0) return known[i];
  }
  switch (f->type) {
  case MYSQL_TYPE_NULL:
    return (my_type){MY_NULL, "null"};
  case MYSQL_TYPE_TINY:
    return integer_type(f, "tinyint", "tinyint unsigned");
  case MYSQL_TYPE_SHORT:
    return integer_type(f, "smallint", "smallint unsigned");
  case MYSQL_TYPE_INT24:
    return integer_type(f, "mediumint", "mediumint unsigned");
  case MYSQL_TYPE_LONG:
    return integer_type(f, "int", "int unsigned");
  case MYSQL_TYPE_LONGLONG:
    return integer_type(f, "bigint", "bigint unsigned");
  case MYSQL_TYPE_YEAR:
    return (my_type){MY_UINT, "year"};
  case MYSQL_TYPE_BIT:
    return (my_type){MY_BIT, "bit"};
  case MYSQL_TYPE_FLOAT:
    return (my_type){MY_FLOAT, "float"};
  case MYSQL_TYPE_DOUBLE:
    return (my_type){MY_DOUBLE, "double"};
  case MYSQL_TYPE_DECIMAL:
  case MYSQL_TYPE_NEWDECIMAL:
    return (my_type){MY_TEXT, "decimal"};
  case MYSQL_TYPE_DATE:
  case MYSQL_TYPE_NEWDATE:
    return (my_type){MY_DATE, "date"};
  case MYSQL_TYPE_TIME:
    return (my_type){MY_CLOCK, "time"};
  case MYSQL_TYPE_DATETIME:
    return (my_type){MY_DATETIME, "datetime"};
  case MYSQL_TYPE_TIMESTAMP:
    return (my_type){MY_TIMESTAMP, "timestamp"};
  case MYSQL_TYPE_JSON:
    return (my_type){MY_TEXT, "json"};
  case MYSQL_TYPE_ENUM:
    return (my_type){MY_TEXT, "enum"};
  case MYSQL_TYPE_SET:
    return (my_type){MY_TEXT, "set"};
  case MYSQL_TYPE_GEOMETRY:
    return (my_type){MY_GEOMETRY, "geometry"};
  case MYSQL_TYPE_STRING:
    return string_type(f, "char", "binary");
  case MYSQL_TYPE_VARCHAR:
  case MYSQL_TYPE_VAR_STRING:
    return string_type(f, "varchar", "varbinary");
  case MYSQL_TYPE_TINY_BLOB:
  case MYSQL_TYPE_MEDIUM_BLOB:
  case MYSQL_TYPE_LONG_BLOB:
  case MYSQL_TYPE_BLOB:
    return blob_type(f);
  default:
    return (my_type){MY_BYTES, ""};
  }
}

/* ---- Dates and times ------------------------------------------------------------------------------ */

#define DAY_NANOS INT64_C(86400000000000)

/* Days since 1970-01-01 in the proleptic Gregorian calendar, by years that begin in March. */
static int32_t days_of(unsigned year, unsigned month, unsigned day) {
  unsigned y = year - (month <= 2);
  unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return (int32_t)(y * 365 + y / 4 - y / 100 + y / 400 + of_year) - 719468;
}

static int is_date(const my_time *t) {
  static const unsigned char lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (t->year < 1 || t->year > 9999 || t->month < 1 || t->month > 12 || t->day < 1) return 0;
  int leap = t->year % 4 == 0 && (t->year % 100 != 0 || t->year % 400 == 0);
  return t->day <= lengths[t->month - 1] - (unsigned)(t->month == 2 && !leap);
}

static char *digits(char *out, unsigned long value, int width) {
  for (int i = width; i-- > 0; value /= 10) out[i] = (char)('0' + value % 10);
  return out + width;
}

/* As the server writes it: 2200-00-08, 0000-00-00 00:00:00.000000. */
static size_t spelled(my_codec codec, const my_time *t, unsigned decimals, char *out) {
  char *p = digits(out, t->year, 4);
  *p++ = '-';
  p = digits(p, t->month, 2);
  *p++ = '-';
  p = digits(p, t->day, 2);
  if (codec == MY_DATE) return (size_t)(p - out);
  *p++ = ' ';
  p = digits(p, t->hour, 2);
  *p++ = ':';
  p = digits(p, t->minute, 2);
  *p++ = ':';
  p = digits(p, t->second, 2);
  if (decimals > 6) decimals = t->second_part ? 6 : 0; /* an expression's */
  if (decimals > 0) {
    char micros[6];
    digits(micros, t->second_part, 6);
    *p++ = '.';
    memcpy(p, micros, decimals);
    p += decimals;
  }
  return (size_t)(p - out);
}

void my_moment(my_codec codec, const my_time *t, unsigned decimals, edb_value *v,
               char text[MY_MOMENT_TEXT]) {
  int64_t nanos = ((int64_t)t->hour * 3600 + t->minute * 60 + t->second) * INT64_C(1000000000) +
                  (int64_t)t->second_part * 1000;
  if (codec != MY_CLOCK && !is_date(t)) {
    v->kind = EDB_TEXT;
    v->as.text.p = text;
    v->as.text.n = spelled(codec, t, decimals, text);
    return;
  }
  v->kind = EDB_TIME;
  v->as.time.zoned = codec == MY_TIMESTAMP;
  if (codec == MY_CLOCK) {
    /* One library makes hours of the days, the other may not. */
    nanos += t->day * DAY_NANOS;
    v->as.time.form = EDB_CLOCK;
    v->as.time.days = 0;
    v->as.time.nanos = t->negative ? -nanos : nanos;
    return;
  }
  v->as.time.form = codec == MY_DATE ? EDB_DATE : EDB_DATETIME;
  v->as.time.days = days_of(t->year, t->month, t->day);
  v->as.time.nanos = codec == MY_DATE ? 0 : nanos;
}

static void set_clock(my_time *out, int64_t nanos) {
  out->second_part = (unsigned long)(nanos / 1000 % 1000000);
  nanos /= INT64_C(1000000000);
  out->second = (unsigned)(nanos % 60);
  out->minute = (unsigned)(nanos / 60 % 60);
  out->hour = (unsigned)(nanos / 3600);
}

int my_time_of(const edb_time *time, my_time *out) {
  memset(out, 0, sizeof *out);
  out->type = time->form == EDB_DATE ? 0 : time->form == EDB_DATETIME ? 1 : 2;
  if (time->form == EDB_CLOCK) {
    out->negative = time->nanos < 0;
    set_clock(out, time->nanos < 0 ? -time->nanos : time->nanos);
    if (out->hour > 838) return 0;
    out->day = out->hour / 24; /* an hour is a byte on the wire */
    out->hour %= 24;
    return 1;
  }
  int64_t days = time->days, nanos = time->nanos;
  if (time->form == EDB_DATE) nanos = 0;
  days += nanos / DAY_NANOS;
  nanos %= DAY_NANOS;
  if (nanos < 0) {
    nanos += DAY_NANOS;
    days--;
  }
  edb_time whole = {nanos, (int32_t)days, EDB_DATE, 0};
  char text[EDB_TIME_TEXT];
  if (edb_time_text(&whole, text) != 10) return 0; /* a year before 0 or behind 9999 */
  for (int i = 0; i < 4; i++) out->year = out->year * 10 + (unsigned)(text[i] - '0');
  out->month = (unsigned)(text[5] - '0') * 10 + (unsigned)(text[6] - '0');
  out->day = (unsigned)(text[8] - '0') * 10 + (unsigned)(text[9] - '0');
  set_clock(out, nanos);
  return 1;
}

/* ---- bit(n) ------------------------------------------------------------------------------------- */

void my_bits(const char *p, size_t n, edb_value *v) {
  uint64_t bits = 0;
  for (size_t i = 0; i < n; i++) bits = bits << 8 | (unsigned char)p[i];
  v->kind = bits > INT64_MAX ? EDB_U64 : EDB_I64;
  v->as.u64 = bits;
}
