/*
** ext/assign.c: values of SQLite for remote columns.
**
** A value that the column's type does not take is refused here, before anything is sent, with the table's and the
** column's name. Nothing is converted but what a column of that affinity would convert here: "12" is 12 for an
** integer, 12 is "12" for text. A server that is typed as SQLite is (dialect->dynamic) takes values as they are.
*/
#include "extInt.h"

#include <math.h>
#include <string.h>

/* ---- Text -------------------------------------------------------------------------------------------- */

/* Whether it is UTF-8, of characters that there are. */
static int is_utf8(const char *text, size_t n) {
  const unsigned char *p = (const unsigned char *)text;
  const unsigned char *end = p + n;
  while (p < end) {
    unsigned c = *p++;
    int more = c < 0x80 ? 0 : c < 0xc2 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : -1;
    unsigned code = more > 0 ? c & (0x3fu >> more) : c;
    if (more < 0 || more > end - p) return 0;
    for (int i = 0; i < more; i++, p++) {
      if ((*p & 0xc0) != 0x80) return 0;
      code = code << 6 | (*p & 0x3fu);
    }
    if (more == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) return 0;
    if (more == 3 && (code < 0x10000 || code > 0x10ffff)) return 0;
  }
  return 1;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Blanks around a number count for nothing, here as in SQLite. */
static void trim(const char **p, size_t *n) {
  while (*n > 0 && strchr(" \t\n\r\f\v", (*p)[0]) && (*p)[0]) {
    ++*p;
    --*n;
  }
  while (*n > 0 && strchr(" \t\n\r\f\v", (*p)[*n - 1]) && (*p)[*n - 1]) --*n;
}

/* [+-] digits [. digits] [e [+-] digits]; *whole: it has neither point nor exponent. */
static int is_number(const char *p, size_t n, int *whole) {
  size_t i = 0;
  int digits = 0;
  *whole = 1;
  if (i < n && (p[i] == '+' || p[i] == '-')) i++;
  for (; i < n && is_digit(p[i]); i++) digits++;
  if (i < n && p[i] == '.') {
    *whole = 0;
    for (i++; i < n && is_digit(p[i]); i++) digits++;
  }
  if (digits == 0) return 0;
  if (i < n && (p[i] == 'e' || p[i] == 'E')) {
    *whole = 0;
    i++;
    if (i < n && (p[i] == '+' || p[i] == '-')) i++;
    if (i == n) return 0;
    while (i < n && is_digit(p[i])) i++;
  }
  return i == n;
}

/* ---- Numbers ------------------------------------------------------------------------------------------- */

static void take_u64(edb_value *out, sqlite3_uint64 u) {
  out->kind = u <= INT64_MAX ? EDB_I64 : EDB_U64;
  if (u <= INT64_MAX) {
    out->as.i64 = (int64_t)u;
  } else {
    out->as.u64 = u;
  }
}

static const char *integer_of_text(edb_value *out) {
  const char *p = out->as.text.p;
  size_t n = out->as.text.n;
  sqlite3_uint64 u = 0;
  int whole;
  trim(&p, &n);
  if (!is_number(p, n, &whole) || !whole) return "an integer";
  int negative = p[0] == '-';
  for (size_t i = negative || p[0] == '+'; i < n; i++) {
    sqlite3_uint64 digit = (sqlite3_uint64)(p[i] - '0');
    if (u > (UINT64_MAX - digit) / 10) return "so large a number";
    u = u * 10 + digit;
  }
  if (negative && u > (sqlite3_uint64)INT64_MAX + 1) return "so small a number";
  if (negative) {
    out->kind = EDB_I64;
    out->as.i64 = u ? -(int64_t)(u - 1) - 1 : 0;
  } else {
    take_u64(out, u);
  }
  return NULL;
}

static const char *integer_of_double(edb_value *out) {
  double f = out->as.f64;
  if (!(f >= -0x1p63 && f < 0x1p63)) return "so large a number";
  int64_t i = (int64_t)f;
  if ((double)i < f || (double)i > f) return "an integer";
  out->kind = EDB_I64;
  out->as.i64 = i;
  return NULL;
}

/* Types whose name says how large their values are. */
static const struct {
  const char *name;
  int64_t least, most;
} ranges[] = {
    {"int2", INT16_MIN, INT16_MAX},
    {"int4", INT32_MIN, INT32_MAX},
    {"oid", 0, UINT32_MAX},
    {"int", INT32_MIN, INT32_MAX},
    {"smallint", INT16_MIN, INT16_MAX},
    {"mediumint", -8388608, 8388607},
    {"int unsigned", 0, UINT32_MAX},
    {"mediumint unsigned", 0, 16777215},
    {"smallint unsigned", 0, UINT16_MAX},
    {"tinyint unsigned", 0, UINT8_MAX},
};

static const char *in_range(const Column *column, const edb_value *value) {
  const edb_type *type = column->type;
  int64_t least = type->kind == EDB_U64 ? 0 : INT64_MIN;
  int64_t most = INT64_MAX;
  if (value->kind == EDB_U64)
    return type->kind == EDB_U64 && type->compare != EDB_COMPARE_INTEGER ? NULL
                                                                         : "so large a number";
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    if (strcmp(ranges[i].name, type->name) != 0) continue;
    least = ranges[i].least;
    most = ranges[i].most;
  }
  if (value->as.i64 > most) return "so large a number";
  return value->as.i64 < least ? "so small a number" : NULL;
}

static const char *assign_integer(const Column *column, edb_value *out) {
  const char *why = NULL;
  if (out->kind == EDB_TEXT) why = integer_of_text(out);
  if (out->kind == EDB_F64) why = integer_of_double(out);
  if (why) return why;
  if (out->kind != EDB_I64 && out->kind != EDB_U64) return "bytes";
  if (column->type->kind == EDB_BOOL) {
    if (out->kind != EDB_I64 || (out->as.i64 != 0 && out->as.i64 != 1))
      return "anything but 0 and 1";
    int boolean = out->as.i64 == 1;
    out->kind = EDB_BOOL;
    out->as.boolean = boolean;
    return NULL;
  }
  return in_range(column, out);
}

static const char *assign_real(sqlite3_value *value, edb_value *out) {
  int whole;
  if (out->kind == EDB_BYTES) return "bytes";
  if (out->kind == EDB_TEXT) {
    const char *p = out->as.text.p;
    size_t n = out->as.text.n;
    trim(&p, &n);
    if (!is_number(p, n, &whole)) return "text";
    out->kind = EDB_F64;
    out->as.f64 = sqlite3_value_double(value);
  }
  if (out->kind == EDB_I64) {
    double f = (double)out->as.i64;
    out->kind = EDB_F64;
    out->as.f64 = f;
  }
  return NULL;
}

/* Whether the number has more digits before its point than the column; of a real at the edge the server decides. */
static int is_too_large(const Column *column, const edb_value *value) {
  if (column->holds < 0) return 0;
  if (value->kind == EDB_TEXT) {
    const char *p = value->as.text.p;
    size_t n = value->as.text.n, digits = 0;
    if (memchr(p, 'e', n) || memchr(p, 'E', n)) return 0;
    while (n > 0 && (*p == '+' || *p == '-' || *p == '0')) p++, n--;
    while (digits < n && is_digit(p[digits])) digits++;
    return digits > (size_t)column->holds;
  }
  double most = column->holds > 22 ? 1.000000001 : 1; /* above 1e22 it is not exact */
  for (int i = 0; i < column->holds && i < 300; i++) most *= 10;
  const double number = value->kind == EDB_I64 ? (double)value->as.i64 : value->as.f64;
  return column->holds < 300 && (number >= most || number <= -most);
}

/* An exact decimal stays the text that it is. A type that has NaN has infinities; MySQL's makes 0 of them. */
static const char *assign_decimal(const Column *column, edb_value *out) {
  const edb_type *type = column->type;
  int whole;
  if (out->kind == EDB_F64 && isinf(out->as.f64) && !type->is_null) return "infinity";
  if (out->kind == EDB_BYTES) return "bytes";
  if (out->kind == EDB_TEXT) {
    trim(&out->as.text.p, &out->as.text.n);
    if (!is_number(out->as.text.p, out->as.text.n, &whole)) return "text";
  }
  return is_too_large(column, out) ? "so large a number" : NULL;
}

/* ---- Text, dates, bytes -------------------------------------------------------------------------------- */

static int is_uuid(const char *p, size_t n) {
  if (n != 36) return 0;
  for (size_t i = 0; i < n; i++) {
    int dash = i == 8 || i == 13 || i == 18 || i == 23;
    int hex = is_digit(p[i]) || (p[i] >= 'a' && p[i] <= 'f') || (p[i] >= 'A' && p[i] <= 'F');
    if (dash ? p[i] != '-' : !hex) return 0;
  }
  return 1;
}

/* Whether it has more characters than the column. Blanks at the end are the server's to cut. */
static int is_too_long(const Column *column, const char *text, size_t n) {
  int characters = 0;
  if (column->holds < 0 || n <= (size_t)column->holds) return 0;
  while (n > 0 && text[n - 1] == ' ') n--;
  for (size_t i = 0; i < n; i++) characters += ((unsigned char)text[i] & 0xc0) != 0x80;
  return characters > column->holds;
}

/* A number becomes the text that SQLite would make of it. */
static const char *assign_text(const Definition *d, const Column *column, sqlite3_value *value,
                               edb_value *out) {
  if (out->kind == EDB_BYTES) return "bytes";
  if (out->kind != EDB_TEXT) {
    out->kind = EDB_TEXT;
    out->as.text.p = (const char *)sqlite3_value_text(value);
    out->as.text.n = (size_t)sqlite3_value_bytes(value);
    if (out->as.text.p == NULL) return "out of memory";
  }
  if (!is_utf8(out->as.text.p, out->as.text.n)) return "text that is not UTF-8";
  if (is_too_long(column, out->as.text.p, out->as.text.n)) return "so long a text";
  if (d->dialect->no_nul && memchr(out->as.text.p, 0, out->as.text.n)) {
    return "text with a NUL character";
  }
  if (column->type->compare == EDB_COMPARE_UUID && !is_uuid(out->as.text.p, out->as.text.n)) {
    return "anything but a UUID";
  }
  return NULL;
}

/* The number of two digits at p[at]; -1 where there are none. */
static int two_digits(const char *p, size_t n, size_t at) {
  if (at + 2 > n || !is_digit(p[at]) || !is_digit(p[at + 1])) return -1;
  return (p[at] - '0') * 10 + p[at + 1] - '0';
}

static int month_days(int year, int month) {
  static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && leap);
}

/* Whether it is written as a date, or a date and a time, and there is none such: 2024-02-30, 2024-02-01 25:00. Some
** servers would take it for what it is not. A month or day of 0 is another matter: MySQL has those. */
static int is_no_date(const char *p, size_t n) {
  int century = two_digits(p, n, 0), year = two_digits(p, n, 2), month = two_digits(p, n, 5),
      day = two_digits(p, n, 8);
  if (century < 0 || year < 0 || month < 0 || day < 0 || p[4] != '-' || p[7] != '-') return 0;
  if (month > 12 || day > 31) return 1;
  if (month > 0 && day > month_days(century * 100 + year, month)) return 1;
  return two_digits(p, n, 11) > 24 || two_digits(p, n, 14) > 59 || two_digits(p, n, 17) > 60;
}

static int before(const edb_time *a, const edb_time *b) {
  return a->days < b->days || (a->days == b->days && a->nanos < b->nanos);
}

static const char *take_time(const edb_type *type, edb_value *out, edb_time *time,
                             edb_time_form form) {
  const edb_span *span = type->span;
  if (form == EDB_DATE && time->nanos != 0) return "a time of day";
  time->form = (uint8_t)form;
  if (form == EDB_DATE) time->zoned = 0;
  if (span && (time->days < span->first || before(&span->last, time)))
    return "so early or late a time";
  out->kind = EDB_TIME;
  out->as.time = *time;
  return NULL;
}

/* What SQLite's dates cannot express (infinity, BC, zero dates) came as the server's own text, and goes back as that;
** the server judges it. So is anything that does not begin as a date does. */
static const char *assign_time(const edb_type *type, edb_value *out) {
  edb_time_form form = type->declared == EDB_DECLARED_DATE   ? EDB_DATE
                       : type->declared == EDB_DECLARED_TIME ? EDB_CLOCK
                                                             : EDB_DATETIME;
  const char *p = out->as.text.p;
  size_t n = out->as.text.n;
  edb_time time;
  if (out->kind != EDB_TEXT) return "anything but a date or time as text";
  int zoned = n > 0 && p[n - 1] == 'Z';
  if (edb_time_parse(p, n, form, zoned, &time) ||
      (form == EDB_DATETIME && edb_time_parse(p, n, EDB_DATE, 0, &time)) ||
      (form == EDB_DATE && edb_time_parse(p, n, EDB_DATETIME, zoned, &time))) {
    return take_time(type, out, &time, form);
  }
  if (!is_utf8(p, n) || memchr(p, 0, n)) return "text that is not UTF-8";
  if (n == strspn(p, " ")) return "an empty text"; /* SQL Server would make 1900-01-01 of it */
  return form != EDB_CLOCK && is_no_date(p, n) ? "a date or time that there is not" : NULL;
}

int assign_value(Sql *sql, const Definition *d, const Column *column, sqlite3_value *value,
                 edb_value *out, const char **why) {
  const edb_type *type = column->type;
  (void)sql;
  *out = value_parameter(value);
  *why = NULL;
  if (out->kind == EDB_NULL || d->dialect->dynamic) return SQLITE_OK;
  switch (type->declared) {
  case EDB_DECLARED_INTEGER:
    *why = assign_integer(column, out);
    break;
  case EDB_DECLARED_REAL:
    *why = assign_real(value, out);
    break;
  case EDB_DECLARED_NUMERIC:
    *why = assign_decimal(column, out);
    break;
  case EDB_DECLARED_DATE:
  case EDB_DECLARED_TIME:
  case EDB_DECLARED_DATETIME:
    *why = assign_time(type, out);
    break;
  case EDB_DECLARED_BLOB:
    if (type->kind == EDB_BYTES && out->kind != EDB_BYTES) *why = "anything but bytes";
    break;
  default:
    *why = assign_text(d, column, value, out);
    break;
  }
  return *why ? SQLITE_MISMATCH : SQLITE_OK;
}

int assign_is_json(const edb_type *type, const edb_value *value) {
  return type->from_json && value->kind == EDB_TEXT && value->as.text.n > 0 &&
         value->as.text.p[0] == type->json;
}
