/*
** drivers/value.c: rows that the caller owns, numbers, and dates and times as text. The contracts are in driver.h.
*/
#include "driverInt.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

/* ---- Owned rows ------------------------------------------------------------------------------ */

static int holds_bytes(const edb_value *value) {
  return (value->kind == EDB_TEXT || value->kind == EDB_BYTES) && value->as.text.n > 0;
}

int edb_row_reset(edb_row *row, size_t n) {
  size_t i;
  row->count = 0;
  row->used = 0;
  if (n > row->slots) {
    edb_value *values;
    if (n > SIZE_MAX / sizeof *values) return EDB_NOMEM;
    values = row->host->resize(row->host->context, row->values, n * sizeof *values);
    if (!values) return EDB_NOMEM;
    row->values = values;
    row->slots = n;
  }
  for (i = 0; i < n; i++) row->values[i].kind = EDB_NULL;
  row->count = n;
  return EDB_OK;
}

/* Room for n more bytes. Growing moves the bytes, so the values that point into them move too: there is
** a moment when both blocks exist, because a pointer into a freed block must not even be computed with. */
#define LARGE ((size_t)1 << 26)

static int make_room(edb_row *row, size_t n) {
  size_t size = row->size ? row->size : 64, i;
  char *bytes;
  if (n <= row->size - row->used) return EDB_OK;
  if (n > SIZE_MAX / 2 - row->used) return EDB_NOMEM;
  while (size < row->used + n) size *= 2;
  bytes = edb_alloc(row->host, size);
  if (!bytes && size > LARGE) { /* more than is needed may be more than the host gives at once */
    size = row->used + n;
    bytes = edb_alloc(row->host, size);
  }
  if (!bytes) return EDB_NOMEM;
  if (row->used > 0) memcpy(bytes, row->bytes, row->used);
  for (i = 0; i < row->count; i++) {
    edb_value *value = &row->values[i];
    if (holds_bytes(value)) value->as.text.p = bytes + (value->as.text.p - row->bytes);
  }
  edb_free(row->host, row->bytes);
  row->bytes = bytes;
  row->size = size;
  return EDB_OK;
}

int edb_row_set(edb_row *row, size_t i, const edb_value *value) {
  edb_value copy = *value;
  if (copy.kind == EDB_TEXT || copy.kind == EDB_BYTES) {
    size_t n = copy.as.text.n;
    row->values[i].kind = EDB_NULL;
    if (make_room(row, n) != EDB_OK) return EDB_NOMEM;
    copy.as.text.p = n ? memcpy(row->bytes + row->used, copy.as.text.p, n) : "";
    row->used += n;
  }
  row->values[i] = copy;
  return EDB_OK;
}

void edb_row_clear(edb_row *row) {
  edb_free(row->host, row->values);
  edb_free(row->host, row->bytes);
  row->values = NULL;
  row->bytes = NULL;
  row->count = row->slots = row->used = row->size = 0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

double edb_parse_double(const char *text, char **end, int single) {
#if defined(_WIN32)
  static _locale_t c_locale;
  if (!c_locale) c_locale = _create_locale(LC_ALL, "C");
  return single ? (double)_strtof_l(text, end, c_locale) : _strtod_l(text, end, c_locale);
#else
  static _Atomic(locale_t) c_locale;
  locale_t locale = atomic_load(&c_locale);
  if (!locale) {
    locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t none = (locale_t)0;
    if (!atomic_compare_exchange_strong(&c_locale, &none, locale)) {
      freelocale(locale);
      locale = none;
    }
  }
  return single ? (double)strtof_l(text, end, locale) : strtod_l(text, end, locale);
#endif
}

/* ---- Dates and times ------------------------------------------------------------------------- */

#define NANOS_PER_SECOND INT64_C(1000000000)
#define NANOS_PER_DAY (86400 * NANOS_PER_SECOND)

/* The calendar by 400-year eras that start on 1 March, so that the leap day is a year's last one
** (H. Hinnant, "chrono-compatible low-level date algorithms"). */
#define DAYS_PER_ERA 146097
#define EPOCH_IN_ERA_0 719468 /* 1970-01-01, from 0000-03-01 */

static int64_t days_of(int64_t year, int month, int day) {
  int64_t y = month > 2 ? year : year - 1;
  int64_t era = (y >= 0 ? y : y - 399) / 400;
  int64_t year_of_era = y - era * 400;
  int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * DAYS_PER_ERA + day_of_era - EPOCH_IN_ERA_0;
}

static void date_of(int64_t days, int64_t *year, int *month, int *day) {
  int64_t z = days + EPOCH_IN_ERA_0;
  int64_t era = (z >= 0 ? z : z - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
  int64_t day_of_era = z - era * DAYS_PER_ERA;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t march_month = (5 * day_of_year + 2) / 153;
  *day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1);
  *month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
  *year = year_of_era + era * 400 + (*month <= 2);
}

static char *put_digits(char *out, uint64_t n, int width) {
  char digits[20];
  int i = 0;
  do {
    digits[i++] = (char)('0' + n % 10);
    n /= 10;
  } while (n > 0 || i < width);
  while (i > 0) *out++ = digits[--i];
  return out;
}

static char *put_date(char *out, int64_t days) {
  int64_t year;
  int month, day;
  date_of(days, &year, &month, &day);
  if (year < 0) {
    *out++ = '-';
    year = -year;
  }
  out = put_digits(out, (uint64_t)year, 4);
  *out++ = '-';
  out = put_digits(out, (uint64_t)month, 2);
  *out++ = '-';
  return put_digits(out, (uint64_t)day, 2);
}

static char *put_clock(char *out, int64_t nanos) {
  uint64_t n = nanos < 0 ? 0 - (uint64_t)nanos : (uint64_t)nanos;
  uint64_t seconds = n / (uint64_t)NANOS_PER_SECOND, fraction = n % (uint64_t)NANOS_PER_SECOND;
  int width = 9;
  if (nanos < 0) *out++ = '-';
  out = put_digits(out, seconds / 3600, 2);
  *out++ = ':';
  out = put_digits(out, seconds / 60 % 60, 2);
  *out++ = ':';
  out = put_digits(out, seconds % 60, 2);
  if (fraction > 0) {
    while (fraction % 10 == 0) {
      fraction /= 10;
      width--;
    }
    *out++ = '.';
    out = put_digits(out, fraction, width);
  }
  return out;
}

size_t edb_time_text(const edb_time *time, char out[EDB_TIME_TEXT]) {
  char *p = out;
  if (time->form == EDB_DATE) {
    p = put_date(p, time->days);
  } else {
    int64_t nanos = time->nanos;
    if (time->form == EDB_DATETIME) {
      int64_t carry = nanos / NANOS_PER_DAY;
      nanos -= carry * NANOS_PER_DAY;
      if (nanos < 0) {
        nanos += NANOS_PER_DAY;
        carry--;
      }
      p = put_date(p, time->days + carry);
      *p++ = ' ';
    }
    p = put_clock(p, nanos);
    if (time->zoned) *p++ = 'Z';
  }
  *p = 0;
  return (size_t)(p - out);
}

/* A reader of fixed forms, sticky once something did not fit. */
typedef struct scan {
  const char *p;
  size_t n, i;
  int bad;
} scan;

static int scan_digits(scan *s, int width) {
  int value = 0;
  for (; width > 0; width--, s->i++) {
    if (s->i >= s->n || s->p[s->i] < '0' || s->p[s->i] > '9') {
      s->bad = 1;
      return 0;
    }
    value = value * 10 + (s->p[s->i] - '0');
  }
  return value;
}

static void scan_mark(scan *s, char mark) {
  if (s->i < s->n && s->p[s->i] == mark) {
    s->i++;
  } else {
    s->bad = 1;
  }
}

static int32_t scan_date(scan *s) {
  static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int year, month, day, leap;
  year = scan_digits(s, 4);
  scan_mark(s, '-');
  month = scan_digits(s, 2);
  scan_mark(s, '-');
  day = scan_digits(s, 2);
  if (s->bad || year < 1 || month < 1 || month > 12 || day < 1) {
    s->bad = 1;
    return 0;
  }
  leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day > lengths[month - 1] + leap) s->bad = 1;
  return (int32_t)days_of(year, month, day);
}

static int64_t scan_clock(scan *s) {
  int64_t hours, minutes, seconds, fraction = 0;
  hours = scan_digits(s, 2);
  scan_mark(s, ':');
  minutes = scan_digits(s, 2);
  scan_mark(s, ':');
  seconds = scan_digits(s, 2);
  if (minutes > 59 || seconds > 59) s->bad = 1;
  if (!s->bad && s->i < s->n && s->p[s->i] == '.') {
    int64_t unit = NANOS_PER_SECOND;
    s->i++;
    while (unit > 1 && s->i < s->n && s->p[s->i] >= '0' && s->p[s->i] <= '9') {
      unit /= 10;
      fraction += (s->p[s->i++] - '0') * unit;
    }
    if (s->p[s->i - 1] == '0' || s->p[s->i - 1] == '.') s->bad = 1; /* not as we write it */
  }
  return ((hours * 60 + minutes) * 60 + seconds) * NANOS_PER_SECOND + fraction;
}

int edb_time_parse(const char *text, size_t n, edb_time_form form, int zoned, edb_time *time) {
  scan s = {text, n, 0, 0};
  edb_time t = {0, 0, (uint8_t)form, (uint8_t)(zoned && form != EDB_DATE)};
  if (form != EDB_CLOCK) t.days = scan_date(&s);
  if (form == EDB_DATETIME) scan_mark(&s, ' ');
  if (form != EDB_DATE) {
    t.nanos = scan_clock(&s);
    if (t.nanos > NANOS_PER_DAY || (t.nanos == NANOS_PER_DAY && form != EDB_CLOCK)) s.bad = 1;
    if (zoned) scan_mark(&s, 'Z');
  }
  if (s.bad || s.i != n) return 0;
  *time = t;
  return 1;
}
