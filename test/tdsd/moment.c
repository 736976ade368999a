/*
** Dates and times: text, grids, and the calendar (proleptic Gregorian, from 0001-01-01 = day 0).
*/
#include "tdsd.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int month_days(int year, int month) {
  static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

bool moment_days(int year, int month, int day, int32_t *days) {
  if (year < 1 || year > 9999 || month < 1 || month > 12) return false;
  if (day < 1 || day > month_days(year, month)) return false;
  int y = year - 1;
  *days = 365 * y + y / 4 - y / 100 + y / 400 + day - 1;
  for (int m = 1; m < month; m++) *days += month_days(year, m);
  return true;
}

void moment_civil(int32_t days, int *year, int *month, int *day) {
  int32_t first;
  int y = days / 366 + 1;
  while (y < 9999 && moment_days(y + 1, 1, 1, &first) && first <= days) y++;
  moment_days(y, 1, 1, &first);
  int left = days - first;
  int m = 1;
  while (left >= month_days(y, m)) left -= month_days(y, m++);
  *year = y;
  *month = m;
  *day = left + 1;
}

/* Text -------------------------------------------------------------------------------------------*/

typedef struct {
  const char *p, *end;
} Cursor;

static bool number(Cursor *c, int min_digits, int max_digits, int *value) {
  int digits = 0;
  *value = 0;
  while (c->p < c->end && digits < max_digits && isdigit((unsigned char)*c->p)) {
    *value = *value * 10 + (*c->p++ - '0');
    digits++;
  }
  return digits >= min_digits;
}

static bool take(Cursor *c, char what) {
  if (c->p == c->end || *c->p != what) return false;
  c->p++;
  return true;
}

static void blanks(Cursor *c) {
  while (c->p < c->end && *c->p == ' ') c->p++;
}

/* YYYY-MM-DD, YYYYMMDD, MM/DD/YYYY. */
static bool parse_date(Cursor *c, Moment *m) {
  Cursor at = *c;
  int year, month, day;
  if (number(&at, 8, 8, &year) && (at.p == at.end || !isdigit((unsigned char)*at.p))) {
    day = year % 100;
    month = year / 100 % 100;
    year /= 10000;
  } else if (at = *c, number(&at, 4, 4, &year) && (take(&at, '-') || take(&at, '/'))) {
    if (!number(&at, 1, 2, &month) || !(take(&at, '-') || take(&at, '/'))) return false;
    if (!number(&at, 1, 2, &day)) return false;
  } else if (at = *c, number(&at, 1, 2, &month) && take(&at, '/')) {
    if (!number(&at, 1, 2, &day) || !take(&at, '/') || !number(&at, 4, 4, &year)) return false;
  } else {
    return false;
  }
  *c = at;
  m->has_date = true;
  return moment_days(year, month, day, &m->days);
}

static bool parse_time(Cursor *c, Moment *m) {
  Cursor at = *c;
  int hour, minute, second = 0;
  int64_t fraction = 0;
  if (!number(&at, 1, 2, &hour) || !take(&at, ':') || !number(&at, 2, 2, &minute)) return false;
  if (take(&at, ':')) {
    if (!number(&at, 2, 2, &second)) return false;
    if (take(&at, '.')) {
      int64_t unit = 1000000;
      while (at.p < at.end && isdigit((unsigned char)*at.p)) {
        fraction += (*at.p++ - '0') * unit;
        unit /= 10;
      }
    }
  }
  blanks(&at);
  if (at.end - at.p >= 2 && (at.p[1] == 'M' || at.p[1] == 'm')) {
    if (hour < 1 || hour > 12) return false;
    hour = hour % 12 + (*at.p == 'P' || *at.p == 'p' ? 12 : 0);
    at.p += 2;
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  m->ticks = ((int64_t)(hour * 60 + minute) * 60 + second) * 10000000 + fraction;
  m->has_time = true;
  *c = at;
  return true;
}

static bool parse_offset(Cursor *c, Moment *m) {
  int hour, minute, sign = 1;
  m->has_offset = true;
  if (take(c, 'Z') || take(c, 'z')) return true;
  if (take(c, '-')) {
    sign = -1;
  } else if (!take(c, '+')) {
    m->has_offset = false;
    return true;
  }
  if (!number(c, 1, 2, &hour) || !take(c, ':') || !number(c, 2, 2, &minute)) return false;
  m->offset = sign * (hour * 60 + minute);
  return minute < 60 && m->offset >= -840 && m->offset <= 840;
}

bool moment_parse(const char *text, size_t n, Moment *m) {
  Cursor c = {text, text + n};
  *m = (Moment){.days = DAYS_1900};
  blanks(&c);
  if (c.p == c.end) return true; /* '' is 1900-01-01 */
  if (parse_date(&c, m)) {
    if (c.p < c.end && (*c.p == 'T' || *c.p == 't')) c.p++;
    blanks(&c);
    if (c.p < c.end && !parse_time(&c, m)) return false;
  } else if (m->has_date || !parse_time(&c, m)) {
    return false;
  }
  blanks(&c);
  if (c.p < c.end && !parse_offset(&c, m)) return false;
  blanks(&c);
  return c.p == c.end;
}

static void print_fraction(int64_t ticks, int digits, char *out, size_t room) {
  int64_t fraction = ticks % 10000000;
  for (int i = digits; i < 7; i++) fraction /= 10;
  if (digits > 0) {
    char text[16];
    snprintf(text, sizeof text, ".%07u", (unsigned)(fraction % 10000000));
    snprintf(out, room, ".%s", text + 8 - digits);
  } else {
    *out = 0;
  }
}

void moment_print(const Moment *m, const Type *t, char out[64]) {
  int year, month, day;
  moment_civil(m->days, &year, &month, &day);
  int seconds = (int)(m->ticks / 10000000);
  char date[16], clock[16], fraction[16], offset[16] = "";
  snprintf(date, sizeof date, "%04d-%02d-%02d", year % 10000, month % 100, day % 100);
  snprintf(clock, sizeof clock, "%02d:%02d:%02d", seconds / 3600 % 100, seconds / 60 % 60,
           seconds % 60);
  bool none = t->kind == K_SMALLDATETIME;
  print_fraction(m->ticks, none ? 0 : type_scale(t), fraction, sizeof fraction);
  if (t->kind == K_DATETIMEOFFSET) {
    int minutes = m->offset < 0 ? -m->offset : m->offset;
    snprintf(offset, sizeof offset, " %c%02d:%02d", m->offset < 0 ? '-' : '+', minutes / 60 % 100,
             minutes % 60);
  }
  if (t->kind == K_DATE) {
    snprintf(out, 64, "%s", date);
  } else if (t->kind == K_TIME) {
    snprintf(out, 64, "%s%s", clock, fraction);
  } else {
    snprintf(out, 64, "%s %s%s%s", date, clock, fraction, offset);
  }
}

/* Grids ------------------------------------------------------------------------------------------*/

/* Rounds ticks to a multiple of unit; may carry into the next day. */
static void round_ticks(Moment *m, int64_t unit) {
  m->ticks = (m->ticks + unit / 2) / unit * unit;
  if (m->ticks >= TICKS_PER_DAY) {
    m->ticks -= TICKS_PER_DAY;
    m->days++;
  }
}

bool moment_round(Moment *m, const Type *t) {
  static const int64_t units[] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
  switch (t->kind) {
  case K_DATE:
    m->ticks = 0;
    break;
  case K_TIME:
    round_ticks(m, units[t->scale]);
    m->days = DAYS_1900;
    break;
  case K_SMALLDATETIME:
    /* 29.998 seconds and less round down, as they do in SQL Server. */
    m->ticks += 20000;
    round_ticks(m, INT64_C(600000000));
    m->offset = 0;
    return m->days >= DAYS_1900 && m->days - DAYS_1900 <= 65535;
  case K_DATETIME: {
    int64_t thirds = (m->ticks * 3 + 50000) / 100000; /* of a hundredth: 1/300 s */
    if (thirds >= 25920000) {
      thirds -= 25920000;
      m->days++;
    }
    /* The three digits that are shown for a 300th are .000, .003 and .007. */
    m->ticks = (thirds * 10 + 1) / 3 * 10000;
    m->offset = 0;
    return m->days >= 639905 && m->days <= 3652058; /* 1753 to 9999 */
  }
  case K_DATETIME2:
    m->offset = 0;
    round_ticks(m, units[t->scale]);
    break;
  default:
    round_ticks(m, units[t->scale]);
  }
  return m->days >= 0 && m->days <= 3652058;
}

int64_t moment_utc(const Moment *m) {
  return m->days * TICKS_PER_DAY + m->ticks - m->offset * INT64_C(600000000);
}

void moment_now(Moment *m) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *m = (Moment){.days = (int32_t)(719162 + now.tv_sec / 86400), .has_date = true, .has_time = true};
  m->ticks = (int64_t)(now.tv_sec % 86400) * 10000000 + now.tv_nsec / 100;
}
