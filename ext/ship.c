/*
** ext/ship.c: which conditions go to the server, and how.
**
** SQLite checks each row again, so what is sent must let through every row that satisfies the
** condition in SQLite and may let through others: it is then a superset, else exact. What cannot be
** promised so is unsafe, and not sent. The value alone decides in the end, in xFilter: `id > 2.5` on
** an integer column goes out as `id > 2`, `id = 'x'` needs no server at all.
**
** How SQLite compares, which the rules rest on: a column declared INTEGER, REAL, NUMERIC, DATE, TIME
** or DATETIME turns text that looks like a number into one on both sides; numbers stand before text,
** text before blobs. What each kind of column makes of a value is in ship_number.c, ship_time.c and
** ship_text.c, lists are in ship_list.c.
*/
#include "extInt.h"

#include <string.h>

#define OP(name) SQLITE_INDEX_CONSTRAINT_##name

static const edb_type integer_identity = {.name = "identity",
                                          .kind = EDB_I64,
                                          .declared = EDB_DECLARED_INTEGER,
                                          .compare = EDB_COMPARE_INTEGER};

int ship_is_range(int op) { return op == OP(LT) || op == OP(LE) || op == OP(GT) || op == OP(GE); }

static int is_time(edb_compare compare) {
  return compare >= EDB_COMPARE_DATE && compare <= EDB_COMPARE_INSTANT;
}

static int is_number(edb_compare compare) {
  return compare >= EDB_COMPARE_INTEGER && compare <= EDB_COMPARE_DECIMAL;
}

int ship_minds_outer(int op) { return ship_is_range(op) || op == OP(EQ) || op == OP(IS) ? 0 : 1; }

/* ---- What a predicate can be at best ------------------------------------------------------------ */

/* What is asked of a column. */
typedef struct Question {
  const Definition *definition;
  const edb_type *type;
  int op;
  const char *collation; /* what SQLite compares by */
} Question;

/* Operators that the rules tell apart. */
enum { NULLS = 1, EQUAL = 2, UNEQUAL = 4, RANGE = 8, PATTERN = 16, OTHER = 32 };

static unsigned family_of(int op) {
  static const struct {
    int op;
    unsigned family;
  } families[] = {{OP(ISNULL), NULLS},    {OP(ISNOTNULL), NULLS}, {OP(EQ), EQUAL},
                  {OP(IS), EQUAL},        {OP(NE), UNEQUAL},      {OP(ISNOT), UNEQUAL},
                  {OP(LT), RANGE},        {OP(LE), RANGE},        {OP(GT), RANGE},
                  {OP(GE), RANGE},        {OP(LIKE), PATTERN},    {OP(GLOB), PATTERN},
                  {SHIP_STARTS, PATTERN}, {SHIP_ENDS, PATTERN},   {SHIP_CONTAINS, PATTERN},
                  {SHIP_LIKE, PATTERN}};
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    if (families[i].op == op) return families[i].family;
  }
  return OTHER;
}

static int always(const Question *q) {
  (void)q;
  return 1;
}

static int is_incomparable(const Question *q) { return q->type->compare == EDB_COMPARE_NONE; }

static int is_text(const Question *q) { return q->type->compare == EDB_COMPARE_TEXT; }

static int is_text_or_uuid(const Question *q) {
  return is_text(q) || q->type->compare == EDB_COMPARE_UUID;
}

static int is_equal_beyond_bytes(const Question *q) {
  return is_text(q) && !(q->type->text && q->type->text->equal);
}

static int has_no_byte_order(const Question *q) {
  return is_text_or_uuid(q) && !(q->type->text && q->type->text->ordered);
}

static int is_in_utf16(const Question *q) { return is_text_or_uuid(q) && !q->definition->utf8; }

static int is_padded(const Question *q) { return q->type->text && q->type->text->padded; }

static int is_unequal_beyond_bytes(const Question *q) {
  return is_equal_beyond_bytes(q) && (has_no_byte_order(q) || is_padded(q));
}

static int has_no_match(const Question *q) { return ship_match_of(q->type, q->op) == NULL; }

static int matches_more(const Question *q) { return !ship_match_of(q->type, q->op)->exact; }

static int is_decimal_as_text(const Question *q) {
  return q->type->declared == EDB_DECLARED_NUMERIC && q->definition->decimal_text;
}

static int is_decimal(const Question *q) { return q->type->compare == EDB_COMPARE_DECIMAL; }

static int is_by_another_collation(const Question *q) {
  return !is_number(q->type->compare) && sqlite3_stricmp(q->collation, "BINARY") != 0;
}

/* Where an operator is told of without its collation. The same bytes are equal by any. */
static int is_by_some_collation(const Question *q) { return !is_number(q->type->compare); }

/* Dates that SQLite cannot express become NULL here (or an error), and are not NULL there. */
static int loses_dates(const Question *q) {
  return q->type->declared >= EDB_DECLARED_DATE &&
         q->definition->unrepresentable != UNREPRESENTABLE_TEXT;
}

static int loses_dates_as_null(const Question *q) { return loses_dates(q) && q->op == OP(ISNULL); }

static int has_years_outside(const Question *q) { return q->type->early || q->type->late; }

static int is_instant(const Question *q) { return q->type->compare == EDB_COMPARE_INSTANT; }

static int is_rounded(const Question *q) { return q->type->span && q->type->span->rounded; }

/* Where `holds`, a predicate of these families is `most` at best, for that reason. */
static const struct Limit {
  unsigned families;
  int (*holds)(const Question *question);
  ShipClass most;
  const char *reason;
} limits[] = {
    {OTHER, always, SHIP_UNSAFE, "no server is known to mean the same by this operator"},
    {EQUAL | UNEQUAL | RANGE, is_incomparable, SHIP_UNSAFE,
     "no comparison of this type is known to mean the same on the server"},
    {EQUAL | RANGE, is_by_another_collation, SHIP_UNSAFE,
     "SQLite compares by a collation that is not BINARY"},
    {EQUAL | UNEQUAL | RANGE, is_decimal_as_text, SHIP_UNSAFE,
     "decimals are compared as text here"},
    {UNEQUAL, is_decimal, SHIP_UNSAFE, "decimals are compared as doubles here"},
    {UNEQUAL, is_unequal_beyond_bytes, SHIP_UNSAFE,
     "the server may take for equal what differs in case, accents or blanks at the end"},
    {UNEQUAL, is_rounded, SHIP_UNSAFE, "the server rounds what the column is compared with"},
    {RANGE, has_no_byte_order, SHIP_UNSAFE, "the server orders text otherwise than byte by byte"},
    {RANGE, is_in_utf16, SHIP_UNSAFE,
     "in a database in UTF-16, SQLite's order is not that of UTF-8"},
    {PATTERN, has_no_match, SHIP_UNSAFE, "no pattern of the server's matches what SQLite's does"},
    {NULLS, loses_dates_as_null, SHIP_UNSAFE,
     "dates that SQLite cannot express are NULL here and not there"},
    {NULLS | UNEQUAL | RANGE, loses_dates, SHIP_SUPERSET,
     "dates that SQLite cannot express are NULL here and not there"},
    {UNEQUAL, is_by_some_collation, SHIP_SUPERSET,
     "SQLite does not tell by which collation it compares"},
    {EQUAL, is_equal_beyond_bytes, SHIP_SUPERSET,
     "the server may take for equal what differs in case, accents or blanks at the end"},
    {EQUAL | RANGE, is_decimal, SHIP_SUPERSET, "decimals are compared as doubles here"},
    {RANGE, is_padded, SHIP_SUPERSET, "the server disregards blanks at the end"},
    {PATTERN, matches_more, SHIP_SUPERSET, "the server's patterns may disregard case or accents"},
    {RANGE, has_years_outside, SHIP_SUPERSET,
     "dates of years before 1 and after 9999 stand elsewhere as text"},
    {RANGE, is_instant, SHIP_SUPERSET, "instants within a second stand elsewhere as text"},
    {EQUAL | RANGE, is_rounded, SHIP_SUPERSET,
     "the server rounds what the column is compared with"},
};

ShipClass ship_class(const Definition *d, const edb_type *type, int op, const char *collation,
                     const char **reason) {
  const Question question = {d, type ? type : &integer_identity, op, collation};
  ShipClass best = SHIP_EXACT;
  if (reason) *reason = NULL;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    const struct Limit *limit = &limits[i];
    if (!(limit->families & family_of(op)) || limit->most >= best || !limit->holds(&question)) {
      continue;
    }
    best = limit->most;
    if (reason) *reason = limit->reason;
  }
  return best;
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
  case OP(NE):
  case OP(ISNOT):
    return "<>";
  default:
    return "=";
  }
}

void ship_parameter(const Condition *c, const edb_value *value) {
  char placeholder[16];
  sql_parameter(c->sql, value, placeholder);
  append_template(c->sql->text, c->type->parameter ? c->type->parameter : "%s", placeholder);
}

int ship_by_bytes(const edb_type *type, int op) {
  const edb_text *text = type->text;
  if (text == NULL || text->ordered == NULL) return 0;
  return ship_is_range(op) || (family_of(op) == UNEQUAL && !text->equal);
}

static void send_plain(const Condition *c, int op, const edb_value *value) {
  sqlite3_str *out = c->sql->text;
  if (!ship_by_bytes(c->type, op)) {
    sqlite3_str_appendf(out, "%s %s ", c->column, op_text(op));
    ship_parameter(c, value);
    return;
  }
  char placeholder[16];
  append_template(out, c->type->text->ordered, c->name);
  sqlite3_str_appendf(out, " %s ", op_text(op));
  sql_parameter(c->sql, value, placeholder);
  append_template(out, c->type->text->bound, placeholder);
}

/* What is NULL here may be a value there, NaN: more than any other, and unequal to it. */
static int has_null_above(const Condition *c, int op) {
  return c->type->compare == EDB_COMPARE_FLOAT && c->type->is_null &&
         (op == OP(GT) || op == OP(GE) || op == OP(NE));
}

static void append_null_test(const Condition *c) {
  append_template(c->sql->text, c->type->is_null ? c->type->is_null : "%s IS NULL", c->name);
}

static void send(const Condition *c, int op, const edb_value *value) {
  const char *more = op == OP(ISNOT) ? " OR (" : has_null_above(c, op) ? " AND NOT (" : NULL;
  if (more) sqlite3_str_appendall(c->sql->text, "(");
  send_plain(c, op, value);
  if (more == NULL) return;
  sqlite3_str_appendall(c->sql->text, more);
  append_null_test(c);
  sqlite3_str_appendall(c->sql->text, "))");
}

static Shipped send_null(const Condition *c, int negated) {
  sqlite3_str *out = c->sql->text;
  int nan_is_text = c->type->declared == EDB_DECLARED_NUMERIC && c->definition->decimal_text;
  if (c->type->is_null && !nan_is_text) {
    if (negated) sqlite3_str_appendall(out, "NOT ");
    sqlite3_str_appendall(out, "(");
    append_template(out, c->type->is_null, c->name);
    sqlite3_str_appendall(out, ")");
  } else {
    sqlite3_str_appendf(out, "%s IS %sNULL", c->name, negated ? "NOT " : "");
  }
  return SHIP_SENT;
}

/* As text, dates before the year 1 and after 9999 do not stand where they belong: a range takes
** them along. */
static void send_time(const Condition *c, int op, const edb_value *value) {
  int lower = op == OP(GT) || op == OP(GE);
  if (c->type->span && c->type->span->rounded && ship_is_range(op)) op = lower ? OP(GE) : OP(LE);
  const char *outside = !ship_is_range(op) ? NULL : lower ? c->type->early : c->type->late;
  if (outside) sqlite3_str_appendall(c->sql->text, "(");
  send(c, op, value);
  if (outside == NULL) return;
  sqlite3_str_appendall(c->sql->text, " OR ");
  append_template(c->sql->text, outside, c->column);
  sqlite3_str_appendall(c->sql->text, ")");
}

/* ---- One value ---------------------------------------------------------------------------------- */

/* Whether a number's text may begin so, which is none itself: 1.0e+20, Inf. */
static int begins_number(const char *p, size_t n) {
  size_t sign = n > 0 && p[0] == '-';
  if (n > sign && n <= sign + 3 && sqlite3_strnicmp(p + sign, "Inf", (int)(n - sign)) == 0)
    return 1;
  if (n > 0 && (p[n - 1] == '+' || p[n - 1] == '-')) n--;
  return n > 1 && (p[n - 1] == 'e' || p[n - 1] == 'E') &&
         (p[n - 2] == '.' || (p[n - 2] >= '0' && p[n - 2] <= '9'));
}

/* SQLite adds b >= '1.0e+' to b GLOB '1.0e+*', where numbers have text like that and are less than any text. */
static int may_be_pattern(int op, sqlite3_value *v) {
  if (op != OP(GE) || sqlite3_value_type(v) != SQLITE_TEXT) return 0;
  const char *text = (const char *)sqlite3_value_text(v);
  return text != NULL && begins_number(text, (size_t)sqlite3_value_bytes(v));
}

Shipped ship_bound(const Definition *d, const edb_type *type, int op, sqlite3_value *v, Bound *b) {
  b->op = op;
  b->exact = 1;
  if (sqlite3_value_type(v) == SQLITE_NULL) return SHIP_NEVER;
  if ((is_number(type->compare) || type->compare == EDB_COMPARE_SQLITE) && may_be_pattern(op, v))
    return SHIP_SKIP;
  if (is_number(type->compare)) return ship_bound_number(type, v, b);
  if (is_time(type->compare)) return ship_bound_time(type, v, b);
  if (type->compare == EDB_COMPARE_SQLITE) return ship_bound_sqlite(v, b);
  return ship_bound_text(d, type, v, b);
}

static const edb_type *type_of(const Definition *d, const Term *term) {
  return term->column < 0 ? &integer_identity : d->columns[term->column].type;
}

int ship_form(const Definition *d, const Term *term, sqlite3_value *value, edb_value *parameter,
              int *exact) {
  Bound b = {.literal = term->literal};
  if (term->in || value == NULL || sqlite3_value_type(value) == SQLITE_NULL) return SHIP_OWN;
  const edb_type *type = type_of(d, term);
  const edb_text *text = type->text;
  if (ship_minds_outer(term->op) || (text && text->padded)) return SHIP_OWN;
  if (type->compare == EDB_COMPARE_DECIMAL) return SHIP_OWN;
  Shipped shipped = ship_bound(d, type, term->op, value, &b);
  *parameter = b.value;
  *exact = shipped == SHIP_SENT && b.exact && term->class == SHIP_EXACT;
  return shipped == SHIP_SENT ? b.op : shipped == SHIP_SKIP ? 0 : SHIP_OWN;
}

/* exact: set to 0 where it is less with this value. */
static Shipped ship_value(const Condition *c, int op, sqlite3_value *v, int *exact) {
  Bound b = {
      .sql = c->sql, .literal = c->literal, .op = op, .exact = 1, .value = {.kind = EDB_NULL}};
  Shipped shipped = v ? ship_bound(c->definition, c->type, op, v, &b) : SHIP_SENT;
  *exact = *exact && b.exact;
  /* What no value equals, all are unequal to: IS NOT, NULL as well. */
  if (shipped == SHIP_NEVER && op == OP(ISNOT)) return SHIP_SKIP;
  if (shipped == SHIP_NEVER && op == OP(NE) && sqlite3_value_type(v) != SQLITE_NULL) {
    shipped = SHIP_PRESENT;
  }
  if (shipped == SHIP_PRESENT) return send_null(c, 1);
  if (shipped != SHIP_SENT) return shipped;
  if (c->type->compare == EDB_COMPARE_DECIMAL) {
    ship_decimal(c, b.op, b.value.as.f64);
  } else if (is_time(c->type->compare)) {
    send_time(c, b.op, &b.value);
  } else {
    send(c, b.op, &b.value);
  }
  return SHIP_SENT;
}

/* ---- A term ------------------------------------------------------------------------------------- */

/* The column as it is compared. */
static char *compared_column(const edb_type *type, const char *name) {
  if (name == NULL || type->compared == NULL) return sqlite3_mprintf("%s", name);
  sqlite3_str *out = sqlite3_str_new(NULL);
  append_template(out, type->compared, name);
  return sqlite3_str_finish(out);
}

static Shipped ship_condition(const Condition *c, const Term *term, sqlite3_value *value,
                              int *exact) {
  const Question question = {c->definition, c->type, OP(ISNULL), ""};
  int is_null = value && sqlite3_value_type(value) == SQLITE_NULL;
  if (c->sql->outer && ship_minds_outer(term->op)) return SHIP_SKIP;
  if (c->sql->collated && term->in && !is_number(c->type->compare)) return SHIP_SKIP;
  if (term->op == OP(ISNULL) || term->op == OP(ISNOTNULL)) {
    return send_null(c, term->op == OP(ISNOTNULL));
  }
  if (is_null && term->op == OP(IS)) return loses_dates(&question) ? SHIP_SKIP : send_null(c, 0);
  if (is_null && term->op == OP(ISNOT)) return send_null(c, 1);
  if (family_of(term->op) == PATTERN) return ship_pattern(c, term->op, value, exact);
  if (!term->in) return ship_value(c, term->op, value, exact);
  return value ? ship_list(c, value) : ship_typical_list(c);
}

Shipped ship_term(Sql *sql, const Definition *d, const Term *term, sqlite3_value *value) {
  const edb_type *type = type_of(d, term);
  char *name = deparse_column(d, term->column);
  char *column = compared_column(type, name);
  const Condition c = {sql, d, term->column, type, name, column, term->literal};
  Shipped shipped = SHIP_FAIL;
  int parameters = sql->count;
  int exact = term->class == SHIP_EXACT;
  if (name && column) shipped = ship_condition(&c, term, value, &exact);
  if (shipped == SHIP_SKIP) sql->count = parameters; /* those of a list given up half-way */
  if (shipped == SHIP_SKIP || !exact) sql->supersets++;
  sqlite3_free(name);
  sqlite3_free(column);
  return shipped;
}
