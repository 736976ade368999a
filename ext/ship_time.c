/*
** ext/ship_time.c: dates and times against remote columns.
**
** They are text here, and compare as such, byte by byte. Numbers stand before text, blobs behind it.
*/
#include "extInt.h"

#include <string.h>

#define OP(name) SQLITE_INDEX_CONSTRAINT_##name

#define NANOS_A_SECOND 1000000000
#define NANOS_A_DAY (86400 * (int64_t)NANOS_A_SECOND)
#define LAST_DAY 2932896 /* 9999-12-31: some servers know no later one */

/* Servers keep at least microseconds; a parameter with more digits might be rounded there. */
static int is_fine(const edb_type *type, const edb_time *time) {
  return time->nanos % (type->finest ? type->finest : 1000) == 0;
}

static int is_lower(int op) { return op == OP(GT) || op == OP(GE); }

/* What a type cannot hold is before or after all that it holds. */
static Shipped within(const edb_span *span, const Bound *b) {
  const edb_time *time = &b->value.as.time;
  if (time->days < span->first) return ship_beyond(b->op, 1);
  if (time->days < span->last.days || time->nanos <= span->last.nanos) return SHIP_SENT;
  return ship_beyond(b->op, 0);
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
static Shipped bound_prefix(const edb_type *type, const char *p, size_t n, Bound *b) {
  int has_clock = type->compare != EDB_COMPARE_DATE;
  int lower = is_lower(b->op);
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
  b->value = time_value(time);
  b->op = lower ? OP(GE) : OP(LT);
  b->exact = 0;
  return SHIP_SENT;
}

/* Text that is written as edb writes such a value compares as the value does, but for `…00Z` and
** `…00.5Z`, since Z stands behind the point: ranges of instants are bounded by whole seconds. */
Shipped ship_bound_time(const edb_type *type, sqlite3_value *v, Bound *b) {
  static const edb_time_form forms[] = {[EDB_COMPARE_DATE] = EDB_DATE,
                                        [EDB_COMPARE_CLOCK] = EDB_CLOCK,
                                        [EDB_COMPARE_DATETIME] = EDB_DATETIME,
                                        [EDB_COMPARE_INSTANT] = EDB_DATETIME};
  int kind = sqlite3_value_numeric_type(v);
  if (kind == SQLITE_INTEGER || kind == SQLITE_FLOAT) return ship_beyond(b->op, 1);
  if (kind == SQLITE_BLOB) return ship_beyond(b->op, 0);
  const char *p = (const char *)sqlite3_value_text(v);
  size_t n = (size_t)sqlite3_value_bytes(v);
  int zoned = type->compare == EDB_COMPARE_INSTANT;
  edb_time time;
  if (p == NULL) return SHIP_FAIL;
  int whole = edb_time_parse(p, n, forms[type->compare], zoned, &time) && is_fine(type, &time);
  Shipped shipped = SHIP_SENT;
  if (whole && !(zoned && ship_is_range(b->op))) {
    b->value = time_value(time);
  } else {
    shipped = ship_is_range(b->op) ? bound_prefix(type, p, n, b) : SHIP_SKIP;
  }
  if (shipped != SHIP_SENT || type->span == NULL) return shipped;
  return within(type->span, b);
}
