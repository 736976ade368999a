/*
** ext/ship_number.c: numbers against remote columns.
**
** A column declared INTEGER, REAL or NUMERIC makes a number of text that looks like one, on both sides of a
** comparison; all other text, and blobs, stand behind every number.
*/
#include "extInt.h"

#include <math.h>

#define OP(name) SQLITE_INDEX_CONSTRAINT_##name
#define TWO_63 9223372036854775808.0

static int is_less(int op) { return op == OP(LT) || op == OP(LE); }

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

/* A column all of whose values are on one side of what it is compared with. */
Shipped ship_beyond(int op, int below) {
  return !ship_is_range(op) || is_less(op) == below ? SHIP_NEVER : SHIP_PRESENT;
}

/* An integer column against a real number r: `< 2.5` and `<= 2.5` are `<= 2`, `> 2.5` and `>= 2.5`
** are `> 2`. Integers from 2^63 on are compared here, as the reals next to them. */
static Shipped integer_against_real(const edb_type *type, double r, Bound *b) {
  if (r >= TWO_63 && type->compare == EDB_COMPARE_UNSIGNED) return SHIP_SKIP;
  if (r >= TWO_63 || r < -TWO_63) return ship_beyond(b->op, r < 0);
  sqlite3_int64 whole = (sqlite3_int64)r; /* towards 0 */
  if (r < (double)whole) whole--;
  b->value = integer_value(whole);
  if ((double)whole == r) return SHIP_SENT;
  if (!ship_is_range(b->op)) return SHIP_NEVER;
  b->op = is_less(b->op) ? OP(LE) : OP(GT);
  return SHIP_SENT;
}

/* A float column against an integer that no double equals: the nearest double is on one side of it, with none
** between. */
static Shipped float_against_integer(sqlite3_int64 i, Bound *b) {
  double f = (double)i;
  int above = f >= TWO_63 || (sqlite3_int64)f > i;
  b->value = float_value(f);
  if (f < TWO_63 && (sqlite3_int64)f == i) return SHIP_SENT;
  if (!ship_is_range(b->op)) return SHIP_NEVER;
  b->op = is_less(b->op) ? (above ? OP(LT) : OP(LE)) : (above ? OP(GE) : OP(GT));
  return SHIP_SENT;
}

/* A boolean is 0 or 1 here: a comparison holds for none, one or both of them. */
static Shipped boolean_against(double number, Bound *b) {
  int holds[2];
  if (b->op == OP(NE) || b->op == OP(ISNOT)) {
    b->value.kind = EDB_BOOL;
    b->value.as.boolean = number > 0;
    return number == 0.0 || number == 1.0 ? SHIP_SENT : SHIP_NEVER;
  }
  for (int i = 0; i < 2; i++) {
    holds[i] = b->op == OP(LT)   ? i < number
               : b->op == OP(LE) ? i <= number
               : b->op == OP(GT) ? i > number
               : b->op == OP(GE) ? i >= number
                                 : (i ? number == 1.0 : number == 0.0);
  }
  if (holds[0] && holds[1]) return SHIP_PRESENT;
  if (!holds[0] && !holds[1]) return SHIP_NEVER;
  b->value.kind = EDB_BOOL;
  b->value.as.boolean = holds[1];
  b->op = OP(EQ);
  return SHIP_SENT;
}

Shipped ship_bound_number(const edb_type *type, sqlite3_value *v, Bound *b) {
  int kind = sqlite3_value_numeric_type(v);
  if (kind != SQLITE_INTEGER && kind != SQLITE_FLOAT) return ship_beyond(b->op, 0);
  if (type->compare == EDB_COMPARE_DECIMAL) return ship_bound_decimal(v, b);
  if (type->compare == EDB_COMPARE_BOOLEAN) return boolean_against(sqlite3_value_double(v), b);
  int integers = type->compare == EDB_COMPARE_INTEGER || type->compare == EDB_COMPARE_UNSIGNED;
  if (kind == SQLITE_FLOAT && integers) {
    return integer_against_real(type, sqlite3_value_double(v), b);
  }
  if (kind == SQLITE_INTEGER && !integers) return float_against_integer(sqlite3_value_int64(v), b);
  b->value = value_parameter(v);
  if (type->compare == EDB_COMPARE_FINITE && isinf(b->value.as.f64)) {
    return ship_beyond(b->op, b->value.as.f64 < 0);
  }
  return SHIP_SENT;
}

/* The server compares as SQLite does. */
Shipped ship_bound_sqlite(sqlite3_value *v, Bound *b) {
  b->value = value_parameter(v);
  /* An INTEGER PRIMARY KEY is not found by this real, which any other column equals. */
  if (b->value.kind == EDB_F64 && b->value.as.f64 == -TWO_63) b->value = integer_value(INT64_MIN);
  return b->value.kind == EDB_BYTES ? SHIP_SKIP : SHIP_SENT;
}
