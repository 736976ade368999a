/*
** ext/ship_decimal.c: numbers against remote decimals.
**
** The server compares exactly, SQLite the nearest doubles (it reads text of more than 15 digits to a few units of the last
** place). So a bound is wider there, by what is more than that and than what rounding it to ten digits behind the point
** does; and equality is to be between two of them.
*/
#include "extInt.h"

#include <math.h>
#include <string.h>

#define OP(name) SQLITE_INDEX_CONSTRAINT_##name

#define WIDER (1.0 / 281474976710656) /* 2^-48 of the value: 16 units in the last place */
#define WIDER_BY 1e-9
#define MOST 1e27 /* beyond, no bound is sent */

Shipped ship_bound_decimal(sqlite3_value *v, Bound *b) {
  b->value.kind = EDB_F64;
  b->value.as.f64 = sqlite3_value_double(v);
  return fabs(b->value.as.f64) < MOST ? SHIP_SENT : SHIP_SKIP;
}

/* The bound, moved downwards or upwards. */
static void append_bound(const Condition *c, double f, int down) {
  double wider = fabs(f) * WIDER + WIDER_BY;
  const char *format = c->type->decimal_bound;
  edb_value value = {.kind = EDB_F64};
  char placeholder[EDB_PLACEHOLDER_TEXT];
  value.as.f64 = down ? f - wider : f + wider;
  if (format) {
    char *text = sqlite3_mprintf("%.10f", value.as.f64);
    value.kind = EDB_TEXT;
    value.as.text.p = text ? text : "";
    value.as.text.n = strlen(value.as.text.p);
    sql_own(c->sql, text);
  }
  sql_parameter(c->sql, &value, placeholder);
  append_template(c->sql->text, format ? format : "%s", placeholder);
}

static void append_between(const Condition *c, double least, double most) {
  sqlite3_str_appendf(c->sql->text, "%s BETWEEN ", c->column);
  append_bound(c, least, 1);
  sqlite3_str_appendall(c->sql->text, " AND ");
  append_bound(c, most, 0);
}

void ship_decimal(const Condition *c, int op, double f) {
  int lower = op == OP(GT) || op == OP(GE);
  if (!ship_is_range(op)) {
    append_between(c, f, f);
    return;
  }
  sqlite3_str_appendf(c->sql->text, "%s %s ", c->column, lower ? ">" : "<");
  append_bound(c, f, lower);
}

/* ---- IN --------------------------------------------------------------------------------------- */

#define FEW                                                                                        \
  32 /* values that each are a condition; all of more are between the least and the greatest */

typedef struct Few {
  double values[FEW];
  int count; /* of values, more where they do not fit */
  double least, most;
} Few;

static void few_add(Few *few, double f) {
  if (few->count < FEW) few->values[few->count] = f;
  if (few->count == 0 || f < few->least) few->least = f;
  if (few->count == 0 || f > few->most) few->most = f;
  if (few->count <= FEW) few->count++;
}

static void few_write(const Condition *c, const Few *few) {
  const Sql *sql = c->sql;
  if (few->count > FEW || 2 * few->count > sql->dialect->max_parameters - sql->count - sql->later) {
    append_between(c, few->least, few->most);
    return;
  }
  for (int i = 0; i < few->count; i++) {
    sqlite3_str_appendall(sql->text, i == 0 ? "(" : " OR ");
    append_between(c, few->values[i], few->values[i]);
  }
  sqlite3_str_appendall(sql->text, ")");
}

Shipped ship_decimal_list(const Condition *c, sqlite3_value *list) {
  Few few = {.count = 0};
  sqlite3_value *v;
  int rc = sqlite3_vtab_in_first(list, &v);
  for (; rc == SQLITE_OK && v; rc = sqlite3_vtab_in_next(list, &v)) {
    Bound b = {.sql = c->sql};
    Shipped shipped = ship_bound(c->definition, c->type, OP(EQ), v, &b);
    if (shipped == SHIP_NEVER) continue;
    if (shipped != SHIP_SENT) return shipped;
    few_add(&few, b.value.as.f64);
  }
  if (rc != SQLITE_OK && rc != SQLITE_DONE) return SHIP_FAIL;
  if (few.count == 0) return SHIP_NEVER;
  few_write(c, &few);
  return SHIP_SENT;
}
