/*
** ext/ship.c: which conditions go to the server, and how.
**
** SQLite checks each row again, so what is sent must let through every row that satisfies the
** condition in SQLite and may let through others. What cannot be promised so is not sent. The value
** alone decides in the end, in xFilter: `id > 2.5` on an integer column goes out as `id > 2`, `id =
** 'x'` needs no server at all.
**
** How SQLite compares, which the rules below rest on: a column declared INTEGER, REAL, NUMERIC,
** DATE, TIME or DATETIME turns text that looks like a number into one on both sides; numbers stand
** before text, text before blobs. Dates and times are text here, and compare as such: byte by byte.
*/
#include "extInt.h"

#include <math.h>
#include <string.h>

#define OP(name) SQLITE_INDEX_CONSTRAINT_##name

/* A condition being written. */
typedef struct Condition {
  Sql *sql;
  const edb_type *type;
  const char *column; /* as the server names it */
  int op;             /* SQLITE_INDEX_CONSTRAINT_… */
} Condition;

static const edb_type integer_identity = {.name = "identity",
                                          .kind = EDB_I64,
                                          .declared = EDB_DECLARED_INTEGER,
                                          .compare = EDB_COMPARE_INTEGER};

static int is_range(int op) { return op == OP(LT) || op == OP(LE) || op == OP(GT) || op == OP(GE); }

static int is_time(edb_compare compare) {
  return compare >= EDB_COMPARE_DATE && compare <= EDB_COMPARE_INSTANT;
}

static int is_integer(edb_compare compare) {
  return compare == EDB_COMPARE_INTEGER || compare == EDB_COMPARE_UNSIGNED;
}

static int is_number(edb_compare compare) {
  return compare >= EDB_COMPARE_INTEGER && compare <= EDB_COMPARE_FINITE;
}

/* ---- What can be sent at all ------------------------------------------------------------------ */

/* Where dates that SQLite cannot express become NULL here, they are not NULL there. */
static int null_possible(const Definition *d, const edb_type *type) {
  return type->declared < EDB_DECLARED_DATE || d->unrepresentable == UNREPRESENTABLE_TEXT;
}

int ship_possible(const Definition *d, const edb_type *type, int op, const char *collation) {
  if (type == NULL) type = &integer_identity;
  if (op == OP(ISNOTNULL)) return 1;
  if (op == OP(ISNULL)) return null_possible(d, type);
  if (type->compare == EDB_COMPARE_NONE) return 0;
  if (!is_range(op) && op != OP(EQ) && op != OP(IS)) return 0;
  if (!is_number(type->compare) && sqlite3_stricmp(collation, "BINARY") != 0) return 0;
  if (type->declared == EDB_DECLARED_NUMERIC && d->decimal_text) return 0;
  if (type->compare == EDB_COMPARE_TEXT || type->compare == EDB_COMPARE_UUID) return !is_range(op);
  return 1;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static const char *op_text(int op) {
  switch (op) {
  case OP(LT):
    return "<";
  case OP(LE):
    return "<=";
  case OP(GT):
    return ">";
  case OP(GE):
    return ">=";
  default:
    return "=";
  }
}

static void append_parameter(const Condition *c, const edb_value *value) {
  char placeholder[16];
  sql_parameter(c->sql, value, placeholder);
  append_template(c->sql->text, c->type->parameter ? c->type->parameter : "%s", placeholder);
}

static Shipped send(const Condition *c, int op, const edb_value *value) {
  sqlite3_str_appendf(c->sql->text, "%s %s ", c->column, op_text(op));
  append_parameter(c, value);
  return SHIP_SENT;
}

static Shipped send_null(const Condition *c, const Definition *d, int negated) {
  sqlite3_str *out = c->sql->text;
  int nan_is_text = c->type->declared == EDB_DECLARED_NUMERIC && d->decimal_text;
  if (c->type->is_null && !nan_is_text) {
    if (negated) sqlite3_str_appendall(out, "NOT ");
    sqlite3_str_appendall(out, "(");
    append_template(out, c->type->is_null, c->column);
    sqlite3_str_appendall(out, ")");
  } else {
    sqlite3_str_appendf(out, "%s IS %sNULL", c->column, negated ? "NOT " : "");
  }
  return SHIP_SENT;
}

/* ---- Numbers ---------------------------------------------------------------------------------- */

/* A number column against text or a blob, which every number stands before. */
static Shipped number_against_text(int op) {
  return op == OP(LT) || op == OP(LE) ? SHIP_SKIP : SHIP_NEVER;
}

static edb_value integer_value(sqlite3_int64 i) {
  edb_value value = {.kind = EDB_I64};
  value.as.i64 = i;
  return value;
}

static edb_value float_value(double f) {
  edb_value value = {.kind = EDB_F64};
  value.as.f64 = f;
  return value;
}

#define TWO_63 9223372036854775808.0

/* A column all of whose numbers are on one side of another number. */
static Shipped number_beyond(int op, int below) {
  int less = op == OP(LT) || op == OP(LE);
  return !is_range(op) || less == below ? SHIP_NEVER : SHIP_SKIP;
}

/* An integer column against a real number r: `< 2.5` and `<= 2.5` are `<= 2`, `> 2.5` and `>= 2.5`
** are `> 2`. Integers from 2^63 on are compared here, as the reals next to them. */
static Shipped integer_against_real(const edb_type *type, int op, double r, int *op_out,
                                    edb_value *value) {
  if (r >= TWO_63 && type->compare == EDB_COMPARE_UNSIGNED) return SHIP_SKIP;
  if (r >= TWO_63 || r < -TWO_63) return number_beyond(op, r < 0);
  sqlite3_int64 whole = (sqlite3_int64)r; /* towards 0 */
  if (r < (double)whole) whole--;
  *value = integer_value(whole);
  if ((double)whole == r) return SHIP_SENT;
  if (!is_range(op)) return SHIP_NEVER;
  *op_out = op == OP(LT) || op == OP(LE) ? OP(LE) : OP(GT);
  return SHIP_SENT;
}

/* A float column against an integer: where no double equals it, the nearest one bounds the same
** rows or more. */
static Shipped float_against_integer(int op, sqlite3_int64 i, int *op_out, edb_value *value) {
  double f = (double)i;
  *value = float_value(f);
  if (f < TWO_63 && (sqlite3_int64)f == i) return SHIP_SENT;
  if (!is_range(op)) return SHIP_NEVER;
  *op_out = op == OP(LT) || op == OP(LE) ? OP(LE) : OP(GE);
  return SHIP_SENT;
}

/* A boolean is 0 or 1 here: a range holds for none, one or both of them. */
static Shipped boolean_against(int op, double number, int *op_out, edb_value *value) {
  int holds[2];
  for (int b = 0; b < 2; b++) {
    holds[b] = op == OP(LT)   ? b < number
               : op == OP(LE) ? b <= number
               : op == OP(GT) ? b > number
               : op == OP(GE) ? b >= number
                              : (b ? number == 1.0 : number == 0.0);
  }
  if (holds[0] && holds[1]) return SHIP_SKIP;
  if (!holds[0] && !holds[1]) return SHIP_NEVER;
  value->kind = EDB_BOOL;
  value->as.boolean = holds[1];
  *op_out = OP(EQ);
  return SHIP_SENT;
}

static Shipped bound_number(const edb_type *type, int op, sqlite3_value *v, int *op_out,
                            edb_value *value) {
  int kind = sqlite3_value_numeric_type(v);
  if (kind != SQLITE_INTEGER && kind != SQLITE_FLOAT) return number_against_text(op);
  if (type->compare == EDB_COMPARE_BOOLEAN) {
    return boolean_against(op, sqlite3_value_double(v), op_out, value);
  }
  int same = (kind == SQLITE_INTEGER) == is_integer(type->compare);
  if (same) {
    *value = value_parameter(v);
    if (type->compare == EDB_COMPARE_FINITE && isinf(value->as.f64)) {
      return number_beyond(op, value->as.f64 < 0);
    }
    return SHIP_SENT;
  }
  if (kind == SQLITE_FLOAT) {
    return integer_against_real(type, op, sqlite3_value_double(v), op_out, value);
  }
  return float_against_integer(op, sqlite3_value_int64(v), op_out, value);
}

/* ---- Dates and times ---------------------------------------------------------------------------- */

#define NANOS_A_SECOND 1000000000
#define NANOS_A_DAY (86400 * (int64_t)NANOS_A_SECOND)
#define LAST_DAY 2932896 /* 9999-12-31: some servers know no later one */

/* Servers keep at least microseconds; a parameter with more digits might be rounded there. */
static int is_fine(const edb_type *type, const edb_time *time) {
  return time->nanos % (type->finest ? type->finest : 1000) == 0;
}

/* What a type cannot hold is before or after all that it holds. */
static Shipped within(const edb_span *span, int op, const edb_time *time) {
  const int greater = op == OP(GT) || op == OP(GE);
  if (time->days < span->first) return greater ? SHIP_SKIP : SHIP_NEVER;
  if (time->days < span->last.days || time->nanos <= span->last.nanos) return SHIP_SENT;
  return is_range(op) && !greater ? SHIP_SKIP : SHIP_NEVER;
}

static edb_value time_value(edb_time time) {
  edb_value value = {.kind = EDB_TIME};
  value.as.time = time;
  return value;
}

/* A range that the server cannot take by the letter: the text starts with a whole date, perhaps
** with a time to the second. A row on the right side of the text is, by its own first characters,
** on that day (second) or on the right side of it. Answers the bound that includes the whole day
** (second). */
static Shipped bound_prefix(const edb_type *type, int op, const char *p, size_t n, int *op_out,
                            edb_value *value) {
  int has_clock = type->compare != EDB_COMPARE_DATE;
  int lower = op == OP(GT) || op == OP(GE);
  edb_time time;
  if (type->compare == EDB_COMPARE_CLOCK) return SHIP_SKIP;
  if (has_clock && n >= 19 && edb_time_parse(p, 19, EDB_DATETIME, 0, &time)) {
    if (!lower) time.nanos += NANOS_A_SECOND;
  } else if (n >= 10 && edb_time_parse(p, 10, EDB_DATE, 0, &time)) {
    if (!lower) time.days++;
  } else {
    return SHIP_SKIP;
  }
  if (time.nanos >= NANOS_A_DAY) {
    time.nanos -= NANOS_A_DAY;
    time.days++;
  }
  if (time.days > LAST_DAY) return SHIP_SKIP;
  time.form = has_clock ? EDB_DATETIME : EDB_DATE;
  time.zoned = type->compare == EDB_COMPARE_INSTANT;
  *value = time_value(time);
  *op_out = lower ? OP(GE) : OP(LT);
  return SHIP_SENT;
}

/* Text that is written as edb writes such a value compares as the value does, but for `…00Z` and
** `…00.5Z`, since Z stands behind the point: ranges of instants are bounded by whole seconds. */
static Shipped bound_time(const edb_type *type, int op, sqlite3_value *v, int *op_out,
                          edb_value *value) {
  static const edb_time_form forms[] = {[EDB_COMPARE_DATE] = EDB_DATE,
                                        [EDB_COMPARE_CLOCK] = EDB_CLOCK,
                                        [EDB_COMPARE_DATETIME] = EDB_DATETIME,
                                        [EDB_COMPARE_INSTANT] = EDB_DATETIME};
  int kind = sqlite3_value_numeric_type(v);
  if (kind == SQLITE_INTEGER || kind == SQLITE_FLOAT) { /* text stands behind numbers */
    return op == OP(GT) || op == OP(GE) ? SHIP_SKIP : SHIP_NEVER;
  }
  if (kind == SQLITE_BLOB) return number_against_text(op);
  const char *p = (const char *)sqlite3_value_text(v);
  size_t n = (size_t)sqlite3_value_bytes(v);
  int zoned = type->compare == EDB_COMPARE_INSTANT;
  edb_time time;
  if (p == NULL) return SHIP_FAIL;
  int exact = edb_time_parse(p, n, forms[type->compare], zoned, &time) && is_fine(type, &time);
  Shipped shipped = SHIP_SENT;
  if (exact && !(zoned && is_range(op))) {
    *value = time_value(time);
  } else {
    shipped = is_range(op) ? bound_prefix(type, op, p, n, op_out, value) : SHIP_SKIP;
  }
  if (shipped != SHIP_SENT || type->span == NULL) return shipped;
  return within(type->span, op, &value->as.time);
}

/* As text, dates before the year 1 and after 9999 do not stand where they belong: a range takes
** them along. */
static Shipped send_time(const Condition *c, int op, const edb_value *value) {
  int lower = op == OP(GT) || op == OP(GE);
  if (c->type->span && c->type->span->rounded && is_range(op)) op = lower ? OP(GE) : OP(LE);
  const char *outside = !is_range(op) ? NULL : lower ? c->type->early : c->type->late;
  if (outside == NULL) return send(c, op, value);
  sqlite3_str_appendall(c->sql->text, "(");
  send(c, op, value);
  sqlite3_str_appendall(c->sql->text, " OR ");
  append_template(c->sql->text, outside, c->column);
  sqlite3_str_appendall(c->sql->text, ")");
  return SHIP_SENT;
}

/* ---- Text --------------------------------------------------------------------------------------- */

/* The code point of the UTF-8 sequence of 1 + more bytes. */
static unsigned code_point(const unsigned char *p, size_t more) {
  unsigned code = more == 0 ? p[0] : p[0] & (0x3Fu >> more);
  for (size_t k = 1; k <= more; k++) code = code << 6 | (p[k] & 0x3Fu);
  return code;
}

static int is_within(unsigned reach, unsigned code) {
  if (reach == 0) return 1;
  if (code >= 0x80 && code < 0xA0) return 0;
  return code <= reach && !(reach == EDB_REACH_ASCII && code == '?');
}

/* What a server would refuse as text is compared here alone. */
static int is_plain_utf8(const char *text, size_t n, unsigned reach) {
  const unsigned char *p = (const unsigned char *)text;
  for (size_t i = 0; i < n;) {
    unsigned c = p[i];
    size_t more = c < 0x80 ? 0 : c < 0xC2 ? 9 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : c < 0xF5 ? 3 : 9;
    if (c == 0 || more > n - i - 1) return 0;
    if ((c == 0xE0 && p[i + 1] < 0xA0) || (c == 0xED && p[i + 1] > 0x9F) ||
        (c == 0xF0 && p[i + 1] < 0x90) || (c == 0xF4 && p[i + 1] > 0x8F)) {
      return 0;
    }
    for (size_t k = 1; k <= more; k++) {
      if ((p[i + k] & 0xC0) != 0x80) return 0;
    }
    if (!is_within(reach, code_point(p + i, more))) return 0;
    i += more + 1;
  }
  return 1;
}

static int is_uuid(const char *p, size_t n) {
  if (n != 36) return 0;
  for (size_t i = 0; i < n; i++) {
    int dash = i == 8 || i == 13 || i == 18 || i == 23;
    int hex = (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f');
    if (dash ? p[i] != '-' : !hex) return 0;
  }
  return 1;
}

/* Against a number, SQLite compares as text or as numbers depending on what the number comes from,
** which is not told here: not sent. */
static Shipped equal_text(const edb_type *type, sqlite3_value *v, edb_value *value) {
  if (sqlite3_value_type(v) != SQLITE_TEXT) return SHIP_SKIP;
  *value = value_parameter(v);
  if (type->compare == EDB_COMPARE_UUID) {
    return is_uuid(value->as.text.p, value->as.text.n) ? SHIP_SENT : SHIP_NEVER;
  }
  return is_plain_utf8(value->as.text.p, value->as.text.n, type->reach) ? SHIP_SENT : SHIP_SKIP;
}

/* ---- One value ---------------------------------------------------------------------------------- */

/* What to compare with there, and by which operator, for a comparison with v here. */
static Shipped bound(const edb_type *type, int op, sqlite3_value *v, int *op_out,
                     edb_value *value) {
  *op_out = op;
  if (sqlite3_value_type(v) == SQLITE_NULL) return SHIP_NEVER;
  if (is_number(type->compare)) return bound_number(type, op, v, op_out, value);
  if (is_time(type->compare)) return bound_time(type, op, v, op_out, value);
  if (type->compare == EDB_COMPARE_SQLITE) {
    *value = value_parameter(v);
    /* An INTEGER PRIMARY KEY is not found by this real, which any other column equals. */
    if (value->kind == EDB_F64 && value->as.f64 == -TWO_63) *value = integer_value(INT64_MIN);
    return value->kind == EDB_BYTES ? SHIP_SKIP : SHIP_SENT;
  }
  return equal_text(type, v, value);
}

int ship_form(const Definition *d, const Term *term, sqlite3_value *value, edb_value *parameter) {
  const edb_type *type = term->column < 0 ? &integer_identity : d->columns[term->column].type;
  int op;
  if (term->in || value == NULL || sqlite3_value_type(value) == SQLITE_NULL) return SHIP_OWN;
  Shipped shipped = bound(type, term->op, value, &op, parameter);
  return shipped == SHIP_SENT ? op : shipped == SHIP_SKIP ? 0 : SHIP_OWN;
}

static Shipped ship_value(const Condition *c, sqlite3_value *v) {
  int op = OP(EQ);
  edb_value value = {.kind = EDB_NULL};
  Shipped shipped = SHIP_SENT;
  if (v) shipped = bound(c->type, c->op, v, &op, &value);
  if (shipped != SHIP_SENT) return shipped;
  if (v == NULL && is_range(c->op)) op = c->op;
  return is_time(c->type->compare) ? send_time(c, op, &value) : send(c, op, &value);
}

/* ---- Lists -------------------------------------------------------------------------------------- */

/* An element of an array literal, as PostgreSQL reads it. */
static void append_element(sqlite3_str *out, const edb_value *value) {
  if (value->kind == EDB_TEXT) {
    sqlite3_str_appendchar(out, 1, '"');
    for (size_t i = 0; i < value->as.text.n; i++) {
      const char *p = value->as.text.p + i;
      if (*p == '"' || *p == '\\') sqlite3_str_appendchar(out, 1, '\\');
      sqlite3_str_append(out, p, 1);
    }
    sqlite3_str_appendchar(out, 1, '"');
  } else if (value->kind == EDB_TIME) {
    char text[EDB_TIME_TEXT];
    edb_time_text(&value->as.time, text);
    sqlite3_str_appendf(out, "\"%s\"", text);
  } else {
    value_literal(out, value);
  }
}

/* The list as one parameter. */
static Shipped send_array(const Condition *c, sqlite3_str *elements) {
  char *text = sqlite3_str_finish(elements);
  edb_value value = {.kind = EDB_TEXT};
  char placeholder[16];
  value.as.text.p = text;
  value.as.text.n = text ? strlen(text) : 0;
  sql_own(c->sql, text);
  sql_parameter(c->sql, &value, placeholder);
  sqlite3_str_appendf(c->sql->text, "%s ", c->column);
  append_template(c->sql->text, c->type->array, placeholder);
  return SHIP_SENT;
}

/* Text in a list lives only until SQLite is asked for the next value. */
static void keep_text(Sql *sql, edb_value *value) {
  if (value->kind != EDB_TEXT) return;
  char *copy = sqlite3_malloc64(value->as.text.n + 1);
  if (copy) memcpy(copy, value->as.text.p, value->as.text.n);
  value->as.text.p = copy;
  sql_own(sql, copy);
}

static Shipped ship_list(const Condition *c, sqlite3_value *list) {
  int as_array = c->type->array != NULL;
  sqlite3_str *elements = sqlite3_str_new(NULL);
  sqlite3_value *v;
  int sent = 0;
  Shipped shipped = SHIP_SENT;
  int room = c->sql->dialect->max_parameters - c->sql->count;
  if (as_array) {
    sqlite3_str_appendchar(elements, 1, '{');
  } else {
    sqlite3_str_appendf(c->sql->text, "%s IN (", c->column);
  }
  int rc = sqlite3_vtab_in_first(list, &v);
  for (; rc == SQLITE_OK && v; rc = sqlite3_vtab_in_next(list, &v)) {
    int op;
    edb_value value;
    Shipped one = bound(c->type, OP(EQ), v, &op, &value);
    if (one == SHIP_NEVER) continue;
    if (one == SHIP_SENT && !as_array && sent >= room) one = SHIP_SKIP;
    if (one != SHIP_SENT) {
      shipped = one;
      break;
    }
    if (as_array) {
      if (sent) sqlite3_str_appendchar(elements, 1, ',');
      append_element(elements, &value);
    } else {
      keep_text(c->sql, &value);
      if (sent) sqlite3_str_appendall(c->sql->text, ", ");
      append_parameter(c, &value);
    }
    sent++;
  }
  if (rc != SQLITE_OK && rc != SQLITE_DONE) shipped = SHIP_FAIL;
  if (shipped == SHIP_SENT && sent == 0) shipped = SHIP_NEVER;
  if (shipped == SHIP_SENT && as_array) {
    sqlite3_str_appendchar(elements, 1, '}');
    return send_array(c, elements);
  }
  sqlite3_free(sqlite3_str_finish(elements));
  if (shipped == SHIP_SENT) sqlite3_str_appendall(c->sql->text, ")");
  return shipped;
}

/* For EXPLAIN: a list of unknown length. */
static Shipped send_typical_list(const Condition *c) {
  static const edb_value null = {.kind = EDB_NULL};
  char placeholder[16];
  if (c->type->array) {
    sql_parameter(c->sql, &null, placeholder);
    sqlite3_str_appendf(c->sql->text, "%s ", c->column);
    append_template(c->sql->text, c->type->array, placeholder);
  } else {
    sqlite3_str_appendf(c->sql->text, "%s IN (", c->column);
    append_parameter(c, &null);
    sqlite3_str_appendall(c->sql->text, ", …)");
  }
  return SHIP_SENT;
}

/* ---- A term ------------------------------------------------------------------------------------- */

/* The column as it is compared, or as it is. */
static char *compared_column(const Definition *d, const Term *term, const edb_type *type,
                             int null_test) {
  char *column = deparse_column(d, term->column);
  if (column == NULL || null_test || type->compared == NULL) return column;
  sqlite3_str *out = sqlite3_str_new(NULL);
  append_template(out, type->compared, column);
  sqlite3_free(column);
  return sqlite3_str_finish(out);
}

Shipped ship_term(Sql *sql, const Definition *d, const Term *term, sqlite3_value *value) {
  const edb_type *type = term->column < 0 ? &integer_identity : d->columns[term->column].type;
  int is_null = term->op == OP(IS) && value && sqlite3_value_type(value) == SQLITE_NULL;
  int null_test = is_null || term->op == OP(ISNULL) || term->op == OP(ISNOTNULL);
  char *column = compared_column(d, term, type, null_test);
  Condition c = {sql, type, column, term->op};
  Shipped shipped;
  int parameters = sql->count;
  if (column == NULL) return SHIP_FAIL;
  if (term->op == OP(ISNULL) || term->op == OP(ISNOTNULL)) {
    shipped = sql->outer ? SHIP_SKIP : send_null(&c, d, term->op == OP(ISNOTNULL));
  } else if (is_null) {
    shipped = null_possible(d, type) ? send_null(&c, d, 0) : SHIP_SKIP;
  } else if (term->in) {
    shipped = value ? ship_list(&c, value) : send_typical_list(&c);
  } else {
    shipped = ship_value(&c, value);
  }
  if (shipped == SHIP_SKIP) sql->count = parameters; /* those of a list given up half-way */
  sqlite3_free(column);
  return shipped;
}
