/*
** Functions over dates and times.
*/
#include "function.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const Type datetime2 = {.kind = K_DATETIME2, .scale = 7};

static bool moment_of(sqlite3_value *v, Moment *m) {
  if (sqlite3_value_type(v) == SQLITE_INTEGER) {
    *m = (Moment){.days = DAYS_1900 + sqlite3_value_int(v)};
    return true;
  }
  const char *p = (const char *)sqlite3_value_text(v);
  return p != NULL && moment_parse(p, (size_t)sqlite3_value_bytes(v), m);
}

static void result_moment(sqlite3_context *c, Moment *m, const Type *t) {
  char text[64];
  SqlError error = {0};
  if (!moment_round(m, t)) {
    sql_error(&error, 517, 16, "Adding a value to a '%s' column caused an overflow.", type_name(t));
    function_error(c, &error);
    return;
  }
  moment_print(m, t, text);
  sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
}

static void now(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment m;
  (void)n, (void)v;
  moment_now(&m);
  result_moment(c, &m, &datetime2);
}

static void now_offset(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment m;
  Type t = type_make(K_DATETIMEOFFSET, 0, 0, 7);
  (void)n, (void)v;
  moment_now(&m);
  result_moment(c, &m, &t);
}

/* The parts of a date: their names, and how many ticks one is; 0 where months are counted. */
static const struct {
  const char *name, *short_name;
  int64_t ticks;
  int months;
} parts[] = {
    {"year", "yy", 0, 12},
    {"quarter", "qq", 0, 3},
    {"month", "mm", 0, 1},
    {"day", "dd", TICKS_PER_DAY, 0},
    {"week", "wk", 7 * TICKS_PER_DAY, 0},
    {"hour", "hh", INT64_C(36000000000), 0},
    {"minute", "mi", 600000000, 0},
    {"second", "ss", 10000000, 0},
    {"millisecond", "ms", 10000, 0},
    {"microsecond", "mcs", 10, 0},
    {"nanosecond", "ns", 0, 0},
    {"dayofyear", "dy", TICKS_PER_DAY, 0},
    {"weekday", "dw", TICKS_PER_DAY, 0},
    {"yyyy", "yyyy", 0, 12},
    {"q", "q", 0, 3},
    {"m", "m", 0, 1},
    {"d", "d", TICKS_PER_DAY, 0},
    {"n", "n", 600000000, 0},
    {"s", "s", 10000000, 0},
};

static int part_of(sqlite3_value *v) {
  const char *name = (const char *)sqlite3_value_text(v);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (strcasecmp(name, parts[i].name) == 0 || strcasecmp(name, parts[i].short_name) == 0)
      return (int)i;
  }
  return -1;
}

static bool known_part(sqlite3_context *c, sqlite3_value *v, int *part) {
  SqlError error = {0};
  *part = part_of(v);
  if (*part >= 0) return true;
  sql_error(&error, 155, 15, "'%s' is not a recognized date option.",
            (const char *)sqlite3_value_text(v));
  function_error(c, &error);
  return false;
}

/* tds_dateadd(part, number, date, type) */
static void dateadd(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment m;
  Type t;
  int part;
  (void)n;
  if (any_null(3, v) || !known_part(c, v[0], &part) || !moment_of(v[2], &m) ||
      !function_type(v[3], &t))
    return;
  int64_t number = sqlite3_value_int64(v[1]);
  if (parts[part].months > 0) {
    int year, month, day;
    moment_civil(m.days, &year, &month, &day);
    int64_t months = (int64_t)year * 12 + month - 1 + number * parts[part].months;
    if (months < 12 || months >= 120000) months = 0;
    while (day > 28 && !moment_days((int)(months / 12), (int)(months % 12) + 1, day, &m.days))
      day--;
    if (!moment_days((int)(months / 12), (int)(months % 12) + 1, day, &m.days)) m.days = -1;
  } else {
    __extension__ typedef __int128 I128;
    I128 ticks = (I128)m.days * TICKS_PER_DAY + m.ticks + (I128)number * parts[part].ticks;
    I128 last = (I128)3652059 * TICKS_PER_DAY;
    if (ticks < 0 || ticks >= last) {
      m.days = -1;
    } else {
      m.days = (int32_t)(ticks / TICKS_PER_DAY);
      m.ticks = (int64_t)(ticks % TICKS_PER_DAY);
    }
  }
  result_moment(c, &m, &t);
}

/* tds_datediff(part, from, to): the boundaries that are crossed. */
static void datediff(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment a, b;
  int part;
  if (any_null(n, v) || !known_part(c, v[0], &part) || !moment_of(v[1], &a) || !moment_of(v[2], &b))
    return;
  if (parts[part].months > 0) {
    int y1, m1, d1, y2, m2, d2, unit = parts[part].months;
    moment_civil(a.days, &y1, &m1, &d1);
    moment_civil(b.days, &y2, &m2, &d2);
    sqlite3_result_int64(c, (y2 * 12 + m2 - 1) / unit - (y1 * 12 + m1 - 1) / unit);
    return;
  }
  if (parts[part].ticks == 0) return;
  int64_t x = a.days * TICKS_PER_DAY + a.ticks, y = b.days * TICKS_PER_DAY + b.ticks;
  sqlite3_result_int64(c, y / parts[part].ticks - x / parts[part].ticks);
}

static int64_t part_value(int part, const Moment *m) {
  int year, month, day;
  int32_t first;
  moment_civil(m->days, &year, &month, &day);
  switch (part) {
  case 0:
  case 13:
    return year;
  case 1:
  case 14:
    return (month + 2) / 3;
  case 2:
  case 15:
    return month;
  case 3:
  case 16:
    return day;
  case 4:
    moment_days(year, 1, 1, &first);
    return (m->days - first + (first + 1) % 7) / 7 + 1;
  case 5:
    return m->ticks / INT64_C(36000000000);
  case 6:
  case 17:
    return m->ticks / 600000000 % 60;
  case 7:
  case 18:
    return m->ticks / 10000000 % 60;
  case 8:
    return m->ticks / 10000 % 1000;
  case 9:
    return m->ticks / 10 % 1000000;
  case 10:
    return m->ticks % 10000000 * 100;
  case 11:
    moment_days(year, 1, 1, &first);
    return m->days - first + 1;
  default:
    return (m->days + 1) % 7 + 1; /* Sunday is 1 */
  }
}

static void datepart(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment m;
  int part;
  if (any_null(n, v) || !known_part(c, v[0], &part) || !moment_of(v[1], &m)) return;
  sqlite3_result_int64(c, part_value(part, &m));
}

static void year_(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment m;
  if (!any_null(n, v) && moment_of(v[0], &m)) sqlite3_result_int64(c, part_value(0, &m));
}

static void month_(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment m;
  if (!any_null(n, v) && moment_of(v[0], &m)) sqlite3_result_int64(c, part_value(2, &m));
}

static void day_(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment m;
  if (!any_null(n, v) && moment_of(v[0], &m)) sqlite3_result_int64(c, part_value(3, &m));
}

/* tds_days_add(a, b, op): datetime plus or minus days, or another datetime's days. */
static void days_add(sqlite3_context *c, int n, sqlite3_value **v) {
  Moment a, b;
  Type t = type_make(K_DATETIME, 0, 0, 0);
  (void)n;
  if (any_null(2, v) || !moment_of(v[0], &a) || !moment_of(v[1], &b)) return;
  int sign = ((const char *)sqlite3_value_text(v[2]))[0] == '-' ? -1 : 1;
  int64_t ticks =
      a.days * TICKS_PER_DAY + a.ticks + sign * ((b.days - DAYS_1900) * TICKS_PER_DAY + b.ticks);
  a.days = ticks < 0 ? -1 : (int32_t)(ticks / TICKS_PER_DAY);
  a.ticks = ticks < 0 ? 0 : ticks % TICKS_PER_DAY;
  result_moment(c, &a, &t);
}

const SqlFunction time_functions[] = {
    {"tds_now", 0, now, false},          {"tds_now_offset", 0, now_offset, false},
    {"tds_dateadd", 4, dateadd, true},   {"tds_datediff", 3, datediff, true},
    {"tds_datepart", 2, datepart, true}, {"tds_year", 1, year_, true},
    {"tds_month", 1, month_, true},      {"tds_day", 1, day_, true},
    {"tds_days_add", 3, days_add, true}, {0}};
