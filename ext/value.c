/*
** ext/value.c: values from and to SQLite, by the value table of README.md.
*/
#include "extInt.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Decimals ------------------------------------------------------------------------------- */

#define EXACT_DIGITS 15 /* a double keeps any decimal of so many significant digits */

static int is_word(const char *p, size_t n, const char *word) {
  return n == strlen(word) && sqlite3_strnicmp(p, word, (int)n) == 0;
}

/* m × 10^e, correctly rounded: m and the powers up to 10^22 are exact doubles, so one operation
** rounds once. */
static double scale(sqlite3_uint64 m, int e) {
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (e >= 0 && e <= 22) return (double)m * power[e];
  if (e < 0 && e >= -22) return (double)m / power[-e];
  char text[48]; /* has no decimal point, so the host's locale does not matter to strtod */
  sqlite3_snprintf(sizeof text, text, "%llue%d", m, e);
  return strtod(text, NULL);
}

static edb_value of_integer(sqlite3_int64 i) {
  edb_value value = {.kind = EDB_I64};
  value.as.i64 = i;
  return value;
}

static edb_value of_double(double f) {
  edb_value value = {.kind = EDB_F64};
  value.as.f64 = f;
  return value;
}

static edb_value of_text(const char *p, size_t n) {
  edb_value value = {.kind = EDB_TEXT};
  value.as.text.p = p;
  value.as.text.n = n;
  return value;
}

/* An INTEGER or a REAL where 15 significant digits say it all, as an insert into a NUMERIC column
** would store it; else the exact text. */
static edb_value native_decimal(const char *p, size_t n) {
  size_t i = 0;
  int negative = n > 0 && p[0] == '-';
  if (n > 0 && (p[0] == '-' || p[0] == '+')) i = 1;
  if (is_word(p, n, "NaN")) return (edb_value){.kind = EDB_NULL};
  if (is_word(p + i, n - i, "Infinity")) return of_double(negative ? -HUGE_VAL : HUGE_VAL);
  sqlite3_uint64 m = 0;
  int digits = 0;      /* seen so far */
  int integers = -1;   /* of them before the point */
  int last = 0;        /* index of the last that is not 0 */
  int significant = 0; /* from the first to the last that is not 0 */
  int zeros = 0;       /* since then */
  for (; i < n; i++) {
    if (p[i] == '.' && integers < 0) {
      integers = digits;
      continue;
    }
    if (p[i] < '0' || p[i] > '9' || digits > 1000000) break;
    if (p[i] != '0') {
      significant += zeros + 1;
      if (significant > EXACT_DIGITS) break;
      for (; zeros > 0; zeros--) m *= 10;
      m = m * 10 + (sqlite3_uint64)(p[i] - '0');
      last = digits;
    } else if (significant > 0) {
      zeros++;
    }
    digits++;
  }
  /* More digits than a double keeps, or not a decimal at all. */
  if (i < n || digits == 0) return of_text(p, n);
  if (integers < 0) integers = digits;
  int e = m ? integers - 1 - last : 0;
  if (e >= 0) {
    sqlite3_uint64 whole = m;
    int k = e;
    while (k > 0 && whole <= (sqlite3_uint64)INT64_MAX / 10) {
      whole *= 10;
      k--;
    }
    if (k == 0) return of_integer(negative ? -(sqlite3_int64)whole : (sqlite3_int64)whole);
  }
  double value = scale(m, e);
  if (isinf(value) || value == 0.0) return of_text(p, n);
  return of_double(negative ? -value : value);
}

/* ---- Results -------------------------------------------------------------------------------- */

static int is_time(edb_declared declared) { return declared >= EDB_DECLARED_DATE; }

/* What the server has to be asked to write as JSON (arrays) is not, where the SQL is the user's own. */
static int is_json(const edb_type *type, const Definition *definition) {
  return type->declared == EDB_DECLARED_JSON && (definition || type->read == NULL);
}

/* Where decimals come as text; a dynamically typed server has numbers, or other text. */
static int is_exact_decimal(const edb_type *type) {
  return type->declared == EDB_DECLARED_NUMERIC && type->kind == EDB_TEXT;
}

#define SHORT_TEXT 256

/* SQLite wants a NUL behind text as soon as a function or the host reads it, and takes one over only where it is not
** told the length: else it allocates the value anew for it, and for the next row once more. Copying short text
** once more costs a tenth of that. */
static void result_text(sqlite3_context *context, const char *p, size_t n) {
  char copy[SHORT_TEXT];
  if (n < sizeof copy && memchr(p, 0, n) == NULL) {
    memcpy(copy, p, n);
    copy[n] = 0;
    sqlite3_result_text(context, copy, -1, SQLITE_TRANSIENT);
  } else {
    sqlite3_result_text64(context, p, n, SQLITE_TRANSIENT, SQLITE_UTF8);
  }
}

int value_native(const edb_value *value, const edb_type *type, const Definition *definition,
                 char text[EDB_TIME_TEXT], edb_value *out) {
  *out = *value;
  switch (value->kind) {
  case EDB_BOOL:
    *out = of_integer(value->as.boolean);
    break;
  case EDB_U64:
    if (value->as.u64 <= INT64_MAX) {
      *out = of_integer((sqlite3_int64)value->as.u64);
    } else {
      sqlite3_snprintf(EDB_TIME_TEXT, text, "%llu", (sqlite3_uint64)value->as.u64);
      *out = of_text(text, strlen(text));
    }
    break;
  case EDB_F64:
    if (isnan(value->as.f64)) out->kind = EDB_NULL;
    break;
  case EDB_TEXT:
    if (is_exact_decimal(type) && !(definition && definition->decimal_text)) {
      *out = native_decimal(value->as.text.p, value->as.text.n);
    } else if (is_time(type->declared) && definition) {
      if (definition->unrepresentable == UNREPRESENTABLE_ERROR) return SQLITE_MISMATCH;
      if (definition->unrepresentable == UNREPRESENTABLE_NULL) out->kind = EDB_NULL;
    }
    break;
  case EDB_TIME:
    *out = of_text(text, edb_time_text(&value->as.time, text));
    break;
  default:
    break;
  }
  return SQLITE_OK;
}

int value_result(sqlite3_context *context, const edb_value *value, const edb_type *type,
                 const Definition *definition) {
  char text[EDB_TIME_TEXT];
  edb_value native;
  int rc = value_native(value, type, definition, text, &native);
  if (rc != SQLITE_OK) return rc;
  switch (native.kind) {
  case EDB_I64:
    sqlite3_result_int64(context, native.as.i64);
    break;
  case EDB_F64:
    sqlite3_result_double(context, native.as.f64);
    break;
  case EDB_TEXT:
    result_text(context, native.as.text.p, native.as.text.n);
    if (is_json(type, definition)) sqlite3_result_subtype(context, 'J');
    break;
  case EDB_BYTES:
    sqlite3_result_blob64(context, native.as.bytes.p, native.as.bytes.n, SQLITE_TRANSIENT);
    break;
  default:
    sqlite3_result_null(context);
    break;
  }
  return SQLITE_OK;
}

/* ---- Order ---------------------------------------------------------------------------------- */

/* NULL, numbers, text, blobs. */
static int class_of(edb_kind kind) {
  return kind == EDB_NULL ? 0 : kind == EDB_I64 || kind == EDB_F64 ? 1 : kind == EDB_TEXT ? 2 : 3;
}

#define TWO_63 9223372036854775808.0

static int compare_integer_real(sqlite3_int64 i, double r) {
  if (r >= TWO_63) return -1;
  if (r < -TWO_63) return 1;
  sqlite3_int64 whole = (sqlite3_int64)r; /* towards 0, and exactly */
  if (i != whole) return i < whole ? -1 : 1;
  return (double)whole < r ? -1 : (double)whole > r;
}

static int compare_numbers(const edb_value *a, const edb_value *b) {
  if (a->kind == EDB_I64 && b->kind == EDB_I64) {
    return a->as.i64 < b->as.i64 ? -1 : a->as.i64 > b->as.i64;
  }
  if (a->kind == EDB_I64) return compare_integer_real(a->as.i64, b->as.f64);
  if (b->kind == EDB_I64) return -compare_integer_real(b->as.i64, a->as.f64);
  return a->as.f64 < b->as.f64 ? -1 : a->as.f64 > b->as.f64;
}

int value_same_class(const edb_value *a, const edb_value *b) {
  return class_of(a->kind) == class_of(b->kind);
}

int value_compare(const edb_value *a, const edb_value *b) {
  int class = class_of(a->kind);
  if (!value_same_class(a, b)) return class < class_of(b->kind) ? -1 : 1;
  if (class == 0) return 0;
  if (class == 1) return compare_numbers(a, b);
  size_t n = a->as.text.n < b->as.text.n ? a->as.text.n : b->as.text.n;
  int order = n ? memcmp(a->as.text.p, b->as.text.p, n) : 0;
  if (order == 0 && a->as.text.n != b->as.text.n) order = a->as.text.n < b->as.text.n ? -1 : 1;
  return order;
}

/* ---- Parameters ----------------------------------------------------------------------------- */

edb_value value_parameter(sqlite3_value *value) {
  edb_value out = {.kind = EDB_NULL};
  switch (sqlite3_value_type(value)) {
  case SQLITE_INTEGER:
    out.kind = EDB_I64;
    out.as.i64 = sqlite3_value_int64(value);
    break;
  case SQLITE_FLOAT:
    out.kind = EDB_F64;
    out.as.f64 = sqlite3_value_double(value);
    break;
  case SQLITE_TEXT:
    out.kind = EDB_TEXT;
    out.as.text.p = (const char *)sqlite3_value_text(value);
    out.as.text.n = (size_t)sqlite3_value_bytes(value);
    if (out.as.text.p == NULL) out.as.text.p = "";
    break;
  case SQLITE_BLOB:
    out.kind = EDB_BYTES;
    out.as.bytes.p = sqlite3_value_blob(value);
    out.as.bytes.n = (size_t)sqlite3_value_bytes(value);
    if (out.as.bytes.p == NULL) out.as.bytes.p = "";
    break;
  default:
    break;
  }
  return out;
}

/* ---- Literals and JSON ---------------------------------------------------------------------- */

/* In runs, never byte by byte: close to its limit sqlite3_str grows by no more than what is appended. */
static void append_bytes(sqlite3_str *out, const char *p, size_t n) {
  for (; n > INT32_MAX / 2; p += INT32_MAX / 2, n -= INT32_MAX / 2) {
    sqlite3_str_append(out, p, INT32_MAX / 2);
  }
  sqlite3_str_append(out, p, (int)n);
}

static void append_hex(sqlite3_str *out, const char *p, size_t n) {
  static const char digits[] = "0123456789abcdef";
  char run[4096];
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned char byte = (unsigned char)p[i];
    run[used++] = digits[byte >> 4];
    run[used++] = digits[byte & 15];
    if (used == sizeof run || i + 1 == n) {
      append_bytes(out, run, used);
      used = 0;
    }
  }
}

static void append_time(sqlite3_str *out, const edb_time *time, const char *quote) {
  char text[EDB_TIME_TEXT];
  edb_time_text(time, text);
  sqlite3_str_appendf(out, "%s%s%s", quote, text, quote);
}

/* The shortest of 15 to 17 digits that is this number again, in any locale. SQLite's own printf gets
** some 17th digits wrong (3.40). */
static void append_double(sqlite3_str *out, double f) {
  char text[32];
  int whole = 1;
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, f);
    if (strtod(text, NULL) == f) break;
  }
  for (char *p = text; *p; p++) {
    if (*p >= '0' && *p <= '9') continue;
    if (*p != '-') whole = 0;
    if (!strchr("+-einfa", *p)) *p = '.'; /* the locale's point */
  }
  sqlite3_str_appendf(out, "%s%s", text, whole ? ".0" : "");
}

double value_double(const char *text) {
  char local[48];
  const char *point = localeconv()->decimal_point;
  size_t n = strcspn(text, ".");
  sqlite3_snprintf(sizeof local, local, "%.*s%s%s", (int)n, text, text[n] ? point : "",
                   text[n] ? text + n + 1 : "");
  return strtod(local, NULL);
}

void value_literal(sqlite3_str *out, const edb_value *value) {
  switch (value->kind) {
  case EDB_NULL:
    sqlite3_str_appendall(out, "NULL");
    break;
  case EDB_BOOL:
    sqlite3_str_appendchar(out, 1, value->as.boolean ? '1' : '0');
    break;
  case EDB_I64:
    sqlite3_str_appendf(out, "%lld", (sqlite3_int64)value->as.i64);
    break;
  case EDB_U64:
    sqlite3_str_appendf(out, "%llu", (sqlite3_uint64)value->as.u64);
    break;
  case EDB_F64:
    append_double(out, value->as.f64);
    break;
  case EDB_TEXT: {
    const char *p = value->as.text.p;
    size_t start = 0;
    sqlite3_str_appendchar(out, 1, '\'');
    for (size_t i = 0; i < value->as.text.n; i++) {
      if (p[i] != '\'') continue;
      append_bytes(out, p + start, i - start);
      start = i; /* the quote once more, with what follows it */
      sqlite3_str_appendchar(out, 1, '\'');
    }
    append_bytes(out, p + start, value->as.text.n - start);
    sqlite3_str_appendchar(out, 1, '\'');
    break;
  }
  case EDB_BYTES:
    sqlite3_str_appendall(out, "x'");
    append_hex(out, value->as.bytes.p, value->as.bytes.n);
    sqlite3_str_appendchar(out, 1, '\'');
    break;
  case EDB_TIME:
    append_time(out, &value->as.time, "'");
    break;
  }
}

static void json_text(sqlite3_str *out, const char *p, size_t n) {
  size_t start = 0;
  sqlite3_str_appendchar(out, 1, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)p[i];
    if (c != '"' && c != '\\' && c >= 0x20) continue;
    append_bytes(out, p + start, i - start);
    start = i + 1;
    if (c < 0x20) {
      sqlite3_str_appendf(out, "\\u%04x", c);
    } else {
      sqlite3_str_appendf(out, "\\%c", c);
    }
  }
  append_bytes(out, p + start, n - start);
  sqlite3_str_appendchar(out, 1, '"');
}

static int is_decimal(const char *p, size_t n) {
  size_t i = n > 0 && p[0] == '-' ? 1 : 0;
  size_t point = n;
  if (i == n) return 0;
  for (; i < n; i++) {
    if (p[i] == '.' && point == n && i > 0 && i + 1 < n && p[i - 1] != '-') {
      point = i;
    } else if (p[i] < '0' || p[i] > '9') {
      return 0;
    }
  }
  return 1;
}

/* Decimals are written as they are, since JSON's numbers are decimals too; what JSON lacks is
** written as a string: bytes in hexadecimal, infinities by name. NaN is null, as everywhere in edb.
** */
void value_json(sqlite3_str *out, const edb_value *value, const edb_type *type) {
  switch (value->kind) {
  case EDB_NULL:
    sqlite3_str_appendall(out, "null");
    break;
  case EDB_BOOL:
    sqlite3_str_appendall(out, value->as.boolean ? "true" : "false");
    break;
  case EDB_F64:
    if (isnan(value->as.f64)) {
      sqlite3_str_appendall(out, "null");
    } else if (isinf(value->as.f64)) {
      sqlite3_str_appendall(out, value->as.f64 < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    } else {
      value_literal(out, value);
    }
    break;
  case EDB_TEXT: {
    const char *p = value->as.text.p;
    size_t n = value->as.text.n;
    int decimal = is_exact_decimal(type) && is_decimal(p, n);
    if (is_exact_decimal(type) && is_word(p, n, "NaN")) {
      sqlite3_str_appendall(out, "null");
      break;
    }
    if ((decimal || is_json(type, NULL)) && n <= INT32_MAX) {
      sqlite3_str_append(out, p, (int)n);
    } else {
      json_text(out, p, n);
    }
    break;
  }
  case EDB_BYTES:
    sqlite3_str_appendchar(out, 1, '"');
    append_hex(out, value->as.bytes.p, value->as.bytes.n);
    sqlite3_str_appendchar(out, 1, '"');
    break;
  case EDB_TIME:
    append_time(out, &value->as.time, "\"");
    break;
  default:
    value_literal(out, value);
    break;
  }
}
