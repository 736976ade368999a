/*
** Functions over text, bytes and numbers.  Positions count UTF-16 units, as in SQL Server.
*/
#include "function.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

/* An argument as UTF-16, or as bytes where it is a blob. */
typedef struct {
  Buf b;
  bool bytes;
  size_t n; /* units */
} Units;

static Units units_of(sqlite3_value *v) {
  Units u = {.bytes = sqlite3_value_type(v) == SQLITE_BLOB};
  Val value = val_value(v);
  if (u.bytes) {
    buf_add(&u.b, value.p ? value.p : "", value.n);
    u.n = u.b.n;
  } else {
    const char *p = (const char *)sqlite3_value_text(v);
    utf8_to_utf16(&u.b, p ? p : "", (size_t)sqlite3_value_bytes(v));
    u.n = u.b.n / 2;
  }
  buf_string(&u.b);
  return u;
}

static void result_units(sqlite3_context *c, const Units *u, size_t from, size_t n) {
  if (u->bytes) {
    sqlite3_result_blob64(c, u->b.p + from, n, SQLITE_TRANSIENT);
    return;
  }
  Buf text = {0};
  utf16_to_utf8(&text, u->b.p + 2 * from, 2 * n);
  sqlite3_result_text64(c, buf_string(&text), text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  buf_free(&text);
}

static void substring(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  Units u = units_of(v[0]);
  int64_t from = sqlite3_value_int64(v[1]) - 1, count = sqlite3_value_int64(v[2]);
  if (from < 0) count += from, from = 0;
  if (from > (int64_t)u.n) from = (int64_t)u.n;
  if (count < 0) count = 0;
  if (count > (int64_t)u.n - from) count = (int64_t)u.n - from;
  result_units(c, &u, (size_t)from, (size_t)count);
  buf_free(&u.b);
}

static void left_or_right(sqlite3_context *c, sqlite3_value **v, bool right) {
  if (any_null(2, v)) return;
  Units u = units_of(v[0]);
  int64_t count = sqlite3_value_int64(v[1]);
  size_t n = count < 0 ? 0 : count > (int64_t)u.n ? u.n : (size_t)count;
  result_units(c, &u, right ? u.n - n : 0, n);
  buf_free(&u.b);
}

static void left(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  left_or_right(c, v, false);
}

static void right(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  left_or_right(c, v, true);
}

/* Blanks at the end do not count. */
static void len(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  Units u = units_of(v[0]);
  if (!u.bytes) {
    while (u.n > 0 && u.b.p[2 * u.n - 2] == ' ' && u.b.p[2 * u.n - 1] == 0) u.n--;
  }
  sqlite3_result_int64(c, (int64_t)u.n);
  buf_free(&u.b);
}

static void datalength(sqlite3_context *c, int n, sqlite3_value **v) {
  Type t;
  (void)n;
  if (any_null(1, v) || !function_type(v[1], &t)) return;
  Val value = val_value(v[0]);
  Buf out = {0};
  if (value.tag == V_BLOB && t.kind != K_VARIANT) {
    sqlite3_result_int64(c, (int64_t)value.n);
  } else if (type_class(&t) == C_TEXT && value.tag == V_TEXT) {
    if (type_is_unicode(t.kind) || t.kind == K_XML)
      utf8_to_utf16(&out, value.p, value.n);
    else
      collation_encode(t.collation ? t.collation->codepage : 1252, value.p, value.n, &out);
    sqlite3_result_int64(c, (int64_t)out.n);
  } else {
    sqlite3_result_int64(c, type_max_length(&t));
  }
  buf_free(&out);
}

static void change_case(sqlite3_context *c, sqlite3_value **v, bool up) {
  if (any_null(1, v)) return;
  Units u = units_of(v[0]);
  for (size_t i = 0; i < u.n && !u.bytes; i++) {
    wint_t unit = (wint_t)(u.b.p[2 * i] | u.b.p[2 * i + 1] << 8);
    if (unit < 0xD800 || unit > 0xDFFF)
      put_u16(u.b.p + 2 * i, (unsigned)(up ? towupper(unit) : towlower(unit)));
  }
  result_units(c, &u, 0, u.n);
  buf_free(&u.b);
}

static void upper(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  change_case(c, v, true);
}

static void lower(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  change_case(c, v, false);
}

static bool same(const Units *a, size_t i, const Units *b, size_t j) {
  wint_t x = (wint_t)(a->b.p[2 * i] | a->b.p[2 * i + 1] << 8),
         y = (wint_t)(b->b.p[2 * j] | b->b.p[2 * j + 1] << 8);
  return x == y || towupper(x) == towupper(y);
}

static void charindex(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  Units what = units_of(v[0]), in = units_of(v[1]);
  int64_t from = n > 2 ? sqlite3_value_int64(v[2]) - 1 : 0, found = 0;
  if (from < 0) from = 0;
  for (size_t i = (size_t)from; found == 0 && what.n > 0 && i + what.n <= in.n; i++) {
    size_t k = 0;
    while (k < what.n && same(&in, i + k, &what, k)) k++;
    if (k == what.n) found = (int64_t)i + 1;
  }
  sqlite3_result_int64(c, found);
  buf_free(&what.b);
  buf_free(&in.b);
}

static void replicate(sqlite3_context *c, int n, sqlite3_value **v) {
  Buf out = {0};
  int64_t times = sqlite3_value_int64(v[1]);
  if (any_null(n, v) || times < 0) return;
  if (times * sqlite3_value_bytes(v[0]) > 100000000) times = 0;
  Val value = val_value(v[0]);
  bool blob = value.tag == V_BLOB;
  const char *p = blob ? value.p : (const char *)sqlite3_value_text(v[0]);
  size_t bytes = (size_t)sqlite3_value_bytes(v[0]);
  for (int64_t i = 0; i < times; i++) buf_add(&out, p, bytes);
  buf_string(&out);
  if (blob)
    sqlite3_result_blob64(c, out.p, out.n, SQLITE_TRANSIENT);
  else
    sqlite3_result_text64(c, (char *)out.p, out.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  buf_free(&out);
}

static void space(sqlite3_context *c, int n, sqlite3_value **v) {
  Buf out = {0};
  if (any_null(n, v)) return;
  for (int64_t i = sqlite3_value_int64(v[0]); i > 0 && out.n < 8000; i--) buf_u8(&out, ' ');
  sqlite3_result_text(c, buf_string(&out), -1, SQLITE_TRANSIENT);
  buf_free(&out);
}

static void reverse(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  Units u = units_of(v[0]), r = {.bytes = u.bytes, .n = u.n};
  for (size_t i = u.n; i-- > 0;) buf_add(&r.b, u.b.p + (u.bytes ? i : 2 * i), u.bytes ? 1 : 2);
  buf_string(&r.b);
  result_units(c, &r, 0, r.n);
  buf_free(&u.b);
  buf_free(&r.b);
}

static void stuff(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  Units u = units_of(v[0]), in = units_of(v[3]), r = {0};
  size_t from = (size_t)(sqlite3_value_int64(v[1]) - 1), count = (size_t)sqlite3_value_int64(v[2]);
  if (from < u.n) {
    if (count > u.n - from) count = u.n - from;
    buf_add(&r.b, u.b.p, 2 * from);
    buf_add(&r.b, in.b.p, 2 * in.n);
    buf_add(&r.b, u.b.p + 2 * (from + count), 2 * (u.n - from - count));
    result_units(c, &r, 0, r.b.n / 2);
  }
  buf_free(&u.b);
  buf_free(&in.b);
  buf_free(&r.b);
}

static void concat(sqlite3_context *c, int n, sqlite3_value **v) {
  Buf out = {0};
  for (int i = 0; i < n; i++) {
    if (sqlite3_value_type(v[i]) != SQLITE_NULL)
      buf_add(&out, sqlite3_value_text(v[i]), (size_t)sqlite3_value_bytes(v[i]));
  }
  sqlite3_result_text64(c, buf_string(&out), out.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  buf_free(&out);
}

static void concat_ws(sqlite3_context *c, int n, sqlite3_value **v) {
  Buf out = {0};
  bool any = false;
  for (int i = 1; i < n; i++) {
    if (sqlite3_value_type(v[i]) == SQLITE_NULL) continue;
    if (any) buf_add(&out, sqlite3_value_text(v[0]), (size_t)sqlite3_value_bytes(v[0]));
    any = true;
    buf_add(&out, sqlite3_value_text(v[i]), (size_t)sqlite3_value_bytes(v[i]));
  }
  sqlite3_result_text64(c, buf_string(&out), out.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  buf_free(&out);
}

static void bytes_add(sqlite3_context *c, int n, sqlite3_value **v) {
  Buf out = {0};
  if (any_null(n, v)) return;
  for (int i = 0; i < 2; i++) {
    const void *p = sqlite3_value_blob(v[i]);
    buf_add(&out, p ? p : "", (size_t)sqlite3_value_bytes(v[i]));
  }
  sqlite3_result_blob64(c, buf_string(&out), out.n, SQLITE_TRANSIENT);
  buf_free(&out);
}

/* LIKE -------------------------------------------------------------------------------------------*/

typedef struct {
  const uint8_t *p;
  size_t n;
} Span;

static unsigned at(Span s, size_t i) { return (unsigned)(s.p[2 * i] | s.p[2 * i + 1] << 8); }

static unsigned folded(unsigned c, bool ci) { return ci ? (unsigned)towupper((wint_t)c) : c; }

/* [a-z], [^x]: where the set ends, and whether c is in it. */
static size_t match_set(Span p, size_t i, unsigned c, bool ci, bool *in) {
  bool invert = i < p.n && at(p, i) == '^', found = false;
  size_t from = i + invert;
  for (i = from; i < p.n && (at(p, i) != ']' || i == from); i++) {
    unsigned low = folded(at(p, i), ci), high = low;
    if (i + 2 < p.n && at(p, i + 1) == '-' && at(p, i + 2) != ']') {
      high = folded(at(p, i + 2), ci);
      i += 2;
    }
    found |= c >= low && c <= high;
  }
  *in = found != invert;
  return i < p.n ? i + 1 : i;
}

static bool match(Span p, size_t i, Span s, size_t j, unsigned escape, bool ci) {
  while (i < p.n) {
    unsigned c = at(p, i);
    if (escape != 0 && c == escape && i + 1 < p.n) {
      if (j == s.n || folded(at(s, j), ci) != folded(at(p, i + 1), ci)) return false;
      i += 2;
      j++;
    } else if (c == '%') {
      while (i < p.n && at(p, i) == '%') i++;
      if (i == p.n) return true;
      for (; j <= s.n; j++) {
        if (match(p, i, s, j, escape, ci)) return true;
      }
      return false;
    } else if (j == s.n) {
      return false;
    } else if (c == '[') {
      bool in;
      i = match_set(p, i + 1, folded(at(s, j), ci), ci, &in);
      if (!in) return false;
      j++;
    } else {
      if (c != '_' && folded(at(s, j), ci) != folded(c, ci)) return false;
      i++;
      j++;
    }
  }
  while (j < s.n && at(s, j) == ' ') j++; /* blanks at the end of the text may go unmatched */
  return j == s.n;
}

/* tds_like(text, pattern, escape, ignore case) */
static void like(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  if (any_null(2, v)) return;
  Units text = units_of(v[0]), pattern = units_of(v[1]);
  const unsigned char *escape = sqlite3_value_text(v[2]);
  Span p = {pattern.b.p, pattern.n}, s = {text.b.p, text.n};
  sqlite3_result_int(c, match(p, 0, s, 0, escape ? escape[0] : 0, sqlite3_value_int(v[3])));
  buf_free(&text.b);
  buf_free(&pattern.b);
}

/* Numbers ----------------------------------------------------------------------------------------*/

/* Applies one rule to integers, reals and decimals alike. */
static void on_number(sqlite3_context *c, sqlite3_value *v, int64_t (*whole)(int64_t),
                      double (*real)(double), void (*exact)(Decimal *)) {
  Decimal d;
  char text[64];
  switch (sqlite3_value_type(v)) {
  case SQLITE_NULL:
    return;
  case SQLITE_INTEGER:
    sqlite3_result_int64(c, whole(sqlite3_value_int64(v)));
    return;
  case SQLITE_FLOAT:
    sqlite3_result_double(c, real(sqlite3_value_double(v)));
    return;
  default:
    break;
  }
  if (!decimal_parse((const char *)sqlite3_value_text(v), (size_t)sqlite3_value_bytes(v), &d))
    return;
  exact(&d);
  decimal_print(&d, text);
  sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
}

static int64_t whole_abs(int64_t i) { return i < 0 ? -i : i; }
static int64_t whole_same(int64_t i) { return i; }
static void exact_abs(Decimal *d) { d->negative = false; }

static void cut(Decimal *d, bool away) {
  bool rest = false;
  while (d->scale > 0) {
    rest |= d->magnitude % 10 != 0;
    d->magnitude /= 10;
    d->scale--;
  }
  if (rest && away) d->magnitude++;
}

static void exact_floor(Decimal *d) { cut(d, d->negative); }
static void exact_ceiling(Decimal *d) { cut(d, !d->negative); }

static void absolute(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  on_number(c, v[0], whole_abs, fabs, exact_abs);
}

static void floor_(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  on_number(c, v[0], whole_same, floor, exact_floor);
}

static void ceiling(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  on_number(c, v[0], whole_same, ceil, exact_ceiling);
}

static void round_(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  int digits = sqlite3_value_int(v[1]);
  Decimal d;
  char text[64];
  if (sqlite3_value_type(v[0]) == SQLITE_TEXT) {
    if (!decimal_parse((const char *)sqlite3_value_text(v[0]), (size_t)sqlite3_value_bytes(v[0]),
                       &d))
      return;
    int scale = d.scale;
    if (digits >= 0 && digits < scale) decimal_rescale(&d, digits);
    decimal_rescale(&d, scale);
    decimal_print(&d, text);
    sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
    return;
  }
  double unit = pow(10, digits), r = round(sqlite3_value_double(v[0]) * unit) / unit;
  if (sqlite3_value_type(v[0]) == SQLITE_INTEGER)
    sqlite3_result_int64(c, (int64_t)r);
  else
    sqlite3_result_double(c, r);
}

static void power(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  double r = pow(sqlite3_value_double(v[0]), sqlite3_value_double(v[1]));
  if (sqlite3_value_type(v[0]) == SQLITE_INTEGER)
    sqlite3_result_int64(c, (int64_t)r);
  else
    sqlite3_result_double(c, r);
}

static void isnumeric(sqlite3_context *c, int n, sqlite3_value **v) {
  Decimal d;
  (void)n;
  const char *p = (const char *)sqlite3_value_text(v[0]);
  sqlite3_result_int(c, p != NULL && decimal_parse(p, strlen(p), &d));
}

static void code_point(sqlite3_context *c, sqlite3_value **v, int64_t limit) {
  int64_t code = sqlite3_value_int64(v[0]);
  if (any_null(1, v) || code < 0 || code > limit) return;
  uint8_t unit[2];
  Buf out = {0};
  put_u16(unit, (unsigned)code);
  if (limit == 255)
    collation_decode(1252, unit, 1, &out);
  else
    utf16_to_utf8(&out, unit, 2);
  sqlite3_result_text64(c, buf_string(&out), out.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  buf_free(&out);
}

static void char_(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  code_point(c, v, 255);
}

static void nchar(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  code_point(c, v, 65535);
}

static void ascii(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  if (any_null(1, v) || sqlite3_value_bytes(v[0]) == 0) return;
  Buf out = {0};
  collation_encode(1252, (const char *)sqlite3_value_text(v[0]), (size_t)sqlite3_value_bytes(v[0]),
                   &out);
  sqlite3_result_int(c, out.p[0]);
  buf_free(&out);
}

static void quotename(sqlite3_context *c, int n, sqlite3_value **v) {
  if (any_null(n, v)) return;
  char mark = n > 1 ? ((const char *)sqlite3_value_text(v[1]))[0] : '[';
  char close = mark == '[' ? ']' : mark;
  Buf out = {0};
  buf_u8(&out, (unsigned char)mark);
  for (const char *p = (const char *)sqlite3_value_text(v[0]); *p != 0; p++) {
    buf_u8(&out, (unsigned char)*p);
    if (*p == close) buf_u8(&out, (unsigned char)close);
  }
  buf_u8(&out, (unsigned char)close);
  sqlite3_result_text64(c, buf_string(&out), out.n, SQLITE_TRANSIENT, SQLITE_UTF8);
  buf_free(&out);
}

/* JSON by SQLite's own functions: run as a query, since functions cannot call each other. */
static void json(sqlite3_context *c, sqlite3_value **v) {
  sqlite3_stmt *s;
  sqlite3 *db = sqlite3_context_db_handle(c);
  if (any_null(2, v)) return;
  if (sqlite3_prepare_v2(
          db, "SELECT CASE WHEN json_valid(?1) THEN json_extract(?1, ?2) WHEN ?2 = '$' THEN ?1 END",
          -1, &s, NULL) != SQLITE_OK)
    return;
  sqlite3_bind_value(s, 1, v[0]);
  sqlite3_bind_text(s, 2,
                    strncmp((const char *)sqlite3_value_text(v[1]), "strict ", 7) == 0
                        ? (const char *)sqlite3_value_text(v[1]) + 7
                        : (const char *)sqlite3_value_text(v[1]),
                    -1, SQLITE_TRANSIENT);
  if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL) {
    sqlite3_result_text(c, (const char *)sqlite3_column_text(s, 0), -1, SQLITE_TRANSIENT);
  }
  sqlite3_finalize(s);
}

static void json_value(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  json(c, v);
}

const SqlFunction text_functions[] = {{"tds_substring", 3, substring, true},
                                      {"tds_left", 2, left, true},
                                      {"tds_right", 2, right, true},
                                      {"tds_len", 1, len, true},
                                      {"tds_datalength", 2, datalength, true},
                                      {"tds_upper", 1, upper, true},
                                      {"tds_lower", 1, lower, true},
                                      {"tds_charindex", -1, charindex, true},
                                      {"tds_replicate", 2, replicate, true},
                                      {"tds_space", 1, space, true},
                                      {"tds_reverse", 1, reverse, true},
                                      {"tds_stuff", 4, stuff, true},
                                      {"tds_concat", -1, concat, true},
                                      {"tds_concat_ws", -1, concat_ws, true},
                                      {"tds_bytes_add", 2, bytes_add, true},
                                      {"tds_like", 4, like, true},
                                      {"tds_abs", 1, absolute, true},
                                      {"tds_floor", 1, floor_, true},
                                      {"tds_ceiling", 1, ceiling, true},
                                      {"tds_round", -1, round_, true},
                                      {"tds_power", 2, power, true},
                                      {"tds_isnumeric", 1, isnumeric, true},
                                      {"tds_char", 1, char_, true},
                                      {"tds_nchar", 1, nchar, true},
                                      {"tds_ascii", 1, ascii, true},
                                      {"tds_quotename", -1, quotename, true},
                                      {"tds_json_value", 2, json_value, true},
                                      {"tds_json_path", 2, json_value, true},
                                      {0}};
