/*
** What SQLite must be taught first: conversions, exact arithmetic and sums.
*/
#include "function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Session *function_session(sqlite3_context *c) { return sqlite3_user_data(c); }

void function_error(sqlite3_context *c, const SqlError *error) {
  Session *s = function_session(c);
  if (s->pending.number == 0) s->pending = *error;
  sqlite3_result_error(c, error->message, -1);
}

bool any_null(int n, sqlite3_value **v) {
  for (int i = 0; i < n; i++) {
    if (sqlite3_value_type(v[i]) == SQLITE_NULL) return true;
  }
  return false;
}

bool function_type(sqlite3_value *v, Type *t) {
  const char *text = (const char *)sqlite3_value_text(v);
  if (text == NULL) return false;
  const char *collate = strstr(text, " COLLATE ");
  char name[64];
  size_t n = collate ? (size_t)(collate - text) : strlen(text);
  if (n >= sizeof name) return false;
  memcpy(name, text, n);
  name[n] = 0;
  *t = (Type){.kind = K_NONE};
  if (strcmp(name, "null") != 0 && !type_parse(name, t)) return false;
  if (collate != NULL) t->collation = collation_find(collate + 9);
  return true;
}

/* The type that a value has where its own is not known. */
static Type guess(const Val *v) {
  switch (v->tag) {
  case V_INT:
    return type_make(K_BIGINT, 0, 0, 0);
  case V_REAL:
    return type_make(K_FLOAT, 0, 0, 0);
  case V_BLOB:
    return type_make(K_VARBINARY, -1, 0, 0);
  default:
    return type_make(K_NVARCHAR, -1, 0, 0);
  }
}

/* tds_cast(x, from, to, style, try) */
static void cast(sqlite3_context *c, int n, sqlite3_value **v) {
  Type from, to;
  Val in = val_value(v[0]), out;
  Buf space = {0};
  SqlError error = {0};
  (void)n;
  if (in.tag == V_NULL) return;
  if (!function_type(v[1], &from) || !function_type(v[2], &to)) {
    sqlite3_result_error(c, "tds_cast", -1);
    return;
  }
  if (from.kind == K_NONE) from = guess(&in);
  if (convert(&in, &from, &to, sqlite3_value_int(v[3]), &space, &out, &error)) {
    val_result(c, &out);
  } else if (!sqlite3_value_int(v[4])) {
    function_error(c, &error);
  }
  buf_free(&space);
}

static size_t stored_length(const Val *v, const Type *t) {
  Buf space = {0};
  size_t n = v->n;
  if (v->tag == V_TEXT && type_is_unicode(t->kind)) {
    utf8_to_utf16(&space, v->p, v->n);
    n = space.n / 2;
  } else if (v->tag == V_TEXT) {
    collation_encode(t->collation ? t->collation->codepage : 1252, v->p, v->n, &space);
    n = space.n;
  }
  buf_free(&space);
  return n;
}

/* tds_store(x, from, to, table, column, nullable): what a column takes. */
static void store(sqlite3_context *c, int n, sqlite3_value **v) {
  Type from, to;
  Val in = val_value(v[0]), out;
  Buf space = {0}, text = {0};
  SqlError error = {0};
  const char *column = (const char *)sqlite3_value_text(v[4]),
             *table = (const char *)sqlite3_value_text(v[3]);
  (void)n;
  if (in.tag == V_NULL) {
    if (sqlite3_value_int(v[5])) return;
    sql_error(&error, 515, 16,
              "Cannot insert the value NULL into column '%s', table '%s.dbo.%s'; column does not "
              "allow nulls. The statement fails.",
              column, function_session(c)->database, table);
    function_error(c, &error);
    return;
  }
  function_type(v[1], &from);
  function_type(v[2], &to);
  if (from.kind == K_NONE) from = guess(&in);
  bool cuts = to.length > 0 && (type_class(&to) == C_TEXT || type_class(&to) == C_BYTES) &&
              to.kind != K_UDT;
  Type whole = to;
  if (cuts && to.kind != K_BINARY && to.kind != K_CHAR && to.kind != K_NCHAR) whole.length = -1;
  if (cuts && whole.length > 0) { /* padded kinds: measured before */
    const char *p = "";
    size_t size = 0;
    val_to_text(&in, &from, &text, &p, &size);
    Val plain = in.tag == V_BLOB ? in : val_text(p, size);
    whole.length = (int)stored_length(&plain, &to);
    if (whole.length < to.length) whole.length = to.length;
  }
  bool ok = convert(&in, &from, &whole, 0, &space, &out, &error);
  if (ok && cuts) {
    size_t length = stored_length(&out, &to);
    while (out.tag == V_TEXT && length > (size_t)to.length && out.p[out.n - 1] == ' ')
      out.n--, length--;
    if (length > (size_t)to.length) {
      sql_error(&error, 2628, 16,
                "String or binary data would be truncated in table '%s.dbo.%s', column '%s'. "
                "Truncated value: '%.*s'.",
                function_session(c)->database, table, column,
                out.tag == V_TEXT ? to.length > 100 ? 100 : to.length : 0, out.p);
      ok = false;
    }
  }
  if (ok) {
    val_result(c, &out);
  } else {
    function_error(c, &error);
  }
  buf_free(&space);
  buf_free(&text);
}

/* Arithmetic -------------------------------------------------------------------------------------*/

static void overflow_error(sqlite3_context *c, const Type *t) {
  SqlError error = {0};
  sql_error(&error, 8115, 16, "Arithmetic overflow error converting expression to data type %s.",
            type_name(t));
  function_error(c, &error);
}

static void zero_error(sqlite3_context *c) {
  SqlError error = {0};
  sql_error(&error, 8134, 16, "Divide by zero error encountered.");
  function_error(c, &error);
}

static void int_arith(sqlite3_context *c, char op, int64_t a, int64_t b, const Type *t) {
  int64_t r = 0;
  bool bad = false;
  if ((op == '/' || op == '%') && b == 0) {
    zero_error(c);
    return;
  }
  switch (op) {
  case '+':
    bad = __builtin_add_overflow(a, b, &r);
    break;
  case '-':
    bad = __builtin_sub_overflow(a, b, &r);
    break;
  case '*':
    bad = __builtin_mul_overflow(a, b, &r);
    break;
  case '/':
    bad = a == INT64_MIN && b == -1;
    r = bad ? 0 : a / b;
    break;
  case '%':
    r = b == -1 ? 0 : a % b;
    break;
  case '&':
    r = a & b;
    break;
  case '|':
    r = a | b;
    break;
  default:
    r = a ^ b;
  }
  int64_t high = t->kind == K_TINYINT    ? 255
                 : t->kind == K_SMALLINT ? 32767
                 : t->kind == K_INT      ? INT32_MAX
                                         : INT64_MAX;
  int64_t low = t->kind == K_TINYINT ? 0 : -high - 1;
  if (bad || r < low || r > high) {
    overflow_error(c, t);
  } else {
    sqlite3_result_int64(c, r);
  }
}

static bool to_decimal(sqlite3_value *v, Decimal *d) {
  const char *p = (const char *)sqlite3_value_text(v);
  return p != NULL && decimal_parse(p, strlen(p), d);
}

static U128 magnitude_of(const Decimal *d) { return d->magnitude; }

static bool decimal_arith(char op, Decimal a, Decimal b, int scale, Decimal *r) {
  if (op == '*') {
    *r = (Decimal){.negative = a.negative != b.negative, .scale = a.scale + b.scale};
    if (__builtin_mul_overflow(a.magnitude, b.magnitude, &r->magnitude)) return false;
    return decimal_rescale(r, scale);
  }
  if (op == '/') {
    /* a and b at one scale; then digits one by one, one more than wanted, to round. */
    int common = a.scale > b.scale ? a.scale : b.scale;
    if (!decimal_rescale(&a, common) || !decimal_rescale(&b, common)) return false;
    U128 divisor = magnitude_of(&b), rest = a.magnitude % divisor;
    *r = (Decimal){.negative = a.negative != b.negative, .magnitude = a.magnitude / divisor};
    for (; r->scale < scale && rest <= ~(U128)0 / 10; r->scale++) {
      rest *= 10;
      r->magnitude = r->magnitude * 10 + rest / divisor;
      rest %= divisor;
    }
    return decimal_rescale(r, scale);
  }
  int common = a.scale > b.scale ? a.scale : b.scale;
  if (!decimal_rescale(&a, common) || !decimal_rescale(&b, common)) return false;
  if (op == '%') {
    *r = (Decimal){.negative = a.negative, .magnitude = a.magnitude % b.magnitude, .scale = common};
    return decimal_rescale(r, scale);
  }
  if (op == '-') b.negative = !b.negative;
  *r = a;
  if (a.negative == b.negative) {
    r->magnitude += b.magnitude;
  } else if (a.magnitude >= b.magnitude) {
    r->magnitude -= b.magnitude;
  } else {
    r->magnitude = b.magnitude - a.magnitude;
    r->negative = b.negative;
  }
  return decimal_rescale(r, scale);
}

static int precision_of(const Type *t) {
  return t->kind == K_MONEY ? 19 : t->kind == K_SMALLMONEY ? 10 : t->precision;
}

/* tds_arith(op, a, b, type) */
static void arith(sqlite3_context *c, int n, sqlite3_value **v) {
  Type t;
  char op = ((const char *)sqlite3_value_text(v[0]))[0];
  (void)n;
  if (any_null(3, v) || !function_type(v[3], &t)) return;
  if (type_class(&t) == C_DECIMAL) {
    Decimal a, b, r;
    char text[64];
    if (!to_decimal(v[1], &a) || !to_decimal(v[2], &b)) {
      SqlError error = {0};
      sql_error(&error, 8114, 16, "Error converting data type varchar to numeric.");
      function_error(c, &error);
    } else if ((op == '/' || op == '%') && b.magnitude == 0) {
      zero_error(c);
    } else if (!decimal_arith(op, a, b, type_scale(&t), &r) ||
               !decimal_fits(&r, precision_of(&t))) {
      overflow_error(c, &t);
    } else {
      decimal_print(&r, text);
      sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
    }
    return;
  }
  if (type_class(&t) == C_REAL) {
    double a = sqlite3_value_double(v[1]), b = sqlite3_value_double(v[2]);
    double r = op == '+'   ? a + b
               : op == '-' ? a - b
               : op == '*' ? a * b
               : op == '%' ? fmod(a, b)
                           : a / b;
    if ((op == '/' || op == '%') && b == 0) {
      zero_error(c);
    } else if (!isfinite(r)) {
      overflow_error(c, &t);
    } else {
      sqlite3_result_double(c, t.kind == K_REAL ? (double)(float)r : r);
    }
    return;
  }
  int_arith(c, op, sqlite3_value_int64(v[1]), sqlite3_value_int64(v[2]), &t);
}

static void negate(sqlite3_context *c, int n, sqlite3_value **v) {
  Decimal d;
  char text[64];
  (void)n;
  if (any_null(1, v)) return;
  if (!to_decimal(v[0], &d)) return;
  d.negative = !d.negative;
  decimal_print(&d, text);
  sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
}

/* Sums and averages ------------------------------------------------------------------------------*/

typedef struct {
  int64_t count;
  int64_t whole;
  double real;
  Decimal exact;
  Type type;
  bool bad;
} Sum;

/* SQLite's own memory is aligned to 8 bytes, a Decimal to 16: it holds a pointer. */
static void sum_step(sqlite3_context *c, int n, sqlite3_value **v) {
  Sum **held = sqlite3_aggregate_context(c, sizeof *held);
  if (held != NULL && *held == NULL) *held = xmalloc(sizeof **held);
  Sum *s = held ? *held : NULL;
  (void)n;
  if (s == NULL) return;
  if (s->count == 0) function_type(v[1], &s->type);
  if (sqlite3_value_type(v[0]) == SQLITE_NULL) return;
  s->count++;
  if (type_class(&s->type) == C_DECIMAL) {
    Decimal d;
    s->bad |= !to_decimal(v[0], &d) ||
              !decimal_arith('+', s->exact, d, d.scale > s->exact.scale ? d.scale : s->exact.scale,
                             &s->exact);
  } else if (type_class(&s->type) == C_REAL) {
    s->real += sqlite3_value_double(v[0]);
  } else {
    s->bad |= __builtin_add_overflow(s->whole, sqlite3_value_int64(v[0]), &s->whole);
  }
}

static void sum_answer(sqlite3_context *c, Sum *s, bool average) {
  if (s == NULL || s->count == 0) return;
  Decimal count = {.magnitude = (U128)s->count};
  char text[64];
  if (type_class(&s->type) == C_DECIMAL) {
    bool ok =
        !s->bad && (average ? decimal_arith('/', s->exact, count, type_scale(&s->type), &s->exact)
                            : decimal_rescale(&s->exact, type_scale(&s->type)));
    if (!ok || !decimal_fits(&s->exact, precision_of(&s->type))) {
      overflow_error(c, &s->type);
      return;
    }
    decimal_print(&s->exact, text);
    sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
  } else if (type_class(&s->type) == C_REAL) {
    sqlite3_result_double(c, average ? s->real / (double)s->count : s->real);
  } else {
    int64_t r = average ? s->whole / s->count : s->whole;
    if (s->bad || (s->type.kind == K_INT && (r < INT32_MIN || r > INT32_MAX))) {
      overflow_error(c, &s->type);
    } else {
      sqlite3_result_int64(c, r);
    }
  }
}

static void sum_end(sqlite3_context *c, bool average) {
  Sum **held = sqlite3_aggregate_context(c, 0);
  if (held == NULL) return;
  sum_answer(c, *held, average);
  free(*held);
  *held = NULL;
}

static void sum_final(sqlite3_context *c) { sum_end(c, false); }
static void avg_final(sqlite3_context *c) { sum_end(c, true); }

/* ------------------------------------------------------------------------------------------------*/

static void add_functions(Session *s, const SqlFunction *f) {
  for (; f->name != NULL; f++) {
    sqlite3_create_function(s->db, f->name, f->n,
                            SQLITE_UTF8 | (f->pure ? SQLITE_DETERMINISTIC : 0), s, f->call, NULL,
                            NULL);
  }
}

void function_register(Session *s) {
  static const SqlFunction own[] = {{"tds_cast", 5, cast, true},
                                    {"tds_store", 6, store, true},
                                    {"tds_arith", 4, arith, true},
                                    {"tds_negate", 1, negate, true},
                                    {0}};
  add_functions(s, own);
  add_functions(s, text_functions);
  add_functions(s, time_functions);
  add_functions(s, catalog_functions);
  sqlite3_create_window_function(s->db, "tds_sum", 2, SQLITE_UTF8, s, sum_step, sum_final, NULL,
                                 NULL, NULL);
  sqlite3_create_window_function(s->db, "tds_avg", 2, SQLITE_UTF8, s, sum_step, avg_final, NULL,
                                 NULL, NULL);
  compare_register(s);
}
