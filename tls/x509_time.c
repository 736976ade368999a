/*
** x509_time.c: UTCTime and GeneralizedTime, as RFC 5280 4.1.2.5 lets certificates have them: to the
** second, in UTC, and the first wherever it can tell the year.
*/
#include "x509Int.h"

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static int64_t days(int64_t year, unsigned month, unsigned day) {
  /* Years that begin in March, so that the leap day is their last. */
  static const unsigned before[] = {306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275};
  const int64_t y = year - (month < 3);
  return y * 365 + y / 4 - y / 100 + y / 400 + before[month - 1] + (day - 1) - 719468;
}

static unsigned month_days(int64_t year, unsigned month) {
  static const unsigned of[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return of[month - 1] + (month == 2 && leap);
}

int64_t tls_der_time(tls_der *in, int *loose) {
  const size_t utc = tls_der_peek(in) == TLS_DER_UTC_TIME;
  const tls_bytes t = tls_der_take(in, utc ? TLS_DER_UTC_TIME : TLS_DER_GENERALIZED_TIME);
  const size_t pairs = utc ? 6 : 7;
  unsigned v[7] = {0};
  if (t.n != 2 * pairs + 1 || t.p[t.n - 1] != 'Z') {
    in->bad = 1;
    return 0;
  }
  for (size_t i = 0; i < 2 * pairs; i++) {
    if (t.p[i] < '0' || t.p[i] > '9') in->bad = 1;
    v[i / 2 + utc] = 10 * v[i / 2 + utc] + (unsigned)(t.p[i] - '0') % 10;
  }
  /* The century: YY from 50 on is 19YY. */
  if (utc) v[0] = v[1] >= 50 ? 19 : 20;
  const int64_t year = 100 * (int64_t)v[0] + v[1];
  if (!utc && year < 2050) loose ? (void)(*loose = 1) : (void)(in->bad = 1);
  if (in->bad || v[2] < 1 || v[2] > 12 || v[3] < 1 || v[3] > month_days(year, v[2]) || v[4] > 23 ||
      v[5] > 59 || v[6] > 59) {
    in->bad = 1;
    return 0;
  }
  return days(year, v[2], v[3]) * 86400 + v[4] * 3600 + v[5] * 60 + v[6];
}
