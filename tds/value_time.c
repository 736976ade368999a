/*
** tds/value_time.c: dates and times ([MS-TDS] 2.2.5.5.1.8, .9). The contracts are in tdsInt.h.
*/
#include "tdsInt.h"

static tds_status refuse(tds_stream *s, const char *what) {
  return tds_refuse(s, TDS_MALFORMED, what, 0);
}

/* Sets a value; days since 1970-01-01, of which years 1–9999 are legal. */
static tds_status set(tds_stream *s, tds_value *v, tds_time_form form, int64_t days, int64_t nanos,
                      int zoned) {
  if (form != TDS_CLOCK && (days < -TDS_DAYS_TO_1970 || days >= TDS_DAYS_END - TDS_DAYS_TO_1970)) {
    return refuse(s, "a date outside the years 1 to 9999");
  }
  v->kind = TDS_TIME;
  v->as.time = (tds_time){nanos, (int32_t)days, (uint8_t)form, (uint8_t)zoned};
  return TDS_OK;
}

/* Ticks of 1/300 s are shown in milliseconds: .000, .003, .007. Ticks of a whole day are the next one. */
#define TICKS_PER_DAY 25920000u

static int64_t tick_nanos(uint32_t ticks) { return ((int64_t)ticks * 1000 + 150) / 300 * 1000000; }

tds_status tds_decode_datetime(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                               tds_value *v) {
  (void)t;
  if (n == 8) {
    int64_t days = (int64_t)(int32_t)tds_get_u32(p) - TDS_DAYS_1900_TO_1970;
    uint32_t ticks = tds_get_u32(p + 4);
    if (ticks > TICKS_PER_DAY) return refuse(s, "a time of day beyond 24 hours");
    if (ticks == TICKS_PER_DAY) ticks = 0, days++;
    return set(s, v, TDS_DATETIME, days, tick_nanos(ticks), 0);
  }
  if (n == 4) { /* smalldatetime */
    const int64_t days = (int64_t)tds_get_u16(p) - TDS_DAYS_1900_TO_1970;
    const uint32_t minutes = tds_get_u16(p + 2);
    if (minutes >= 1440) return refuse(s, "a time of day beyond 24 hours");
    return set(s, v, TDS_DATETIME, days, (int64_t)minutes * 60 * 1000000000, 0);
  }
  return refuse(s, "a value whose length its type does not have");
}

static int64_t date_at(const uint8_t *p) {
  return (int64_t)(p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16) - TDS_DAYS_TO_1970;
}

/* Nanoseconds of a time of this scale, which takes tds_time_size bytes; -1 beyond the day's end. */
static int64_t clock_at(const uint8_t *p, unsigned scale) {
  static const int64_t unit[8] = {1000000000, 100000000, 10000000, 1000000,
                                  100000,     10000,     1000,     100};
  const unsigned size = tds_time_size(scale);
  uint64_t count = 0;
  for (unsigned i = size; i-- > 0;) count = count << 8 | p[i];
  if (count >= (uint64_t)(TDS_NANOS_PER_DAY / unit[scale])) return -1;
  return (int64_t)count * unit[scale];
}

tds_status tds_decode_date(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                           tds_value *v) {
  (void)t;
  if (n != 3) return refuse(s, "a value whose length its type does not have");
  return set(s, v, TDS_DATE, date_at(p), 0, 0);
}

/* time, and with `behind` more bytes datetime2 (a date) and datetimeoffset (a date, and the offset in minutes: the
** value itself is in UTC, so that it says only how the server would show it). */
static tds_status decode(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                         tds_value *v, unsigned behind, tds_time_form form) {
  const unsigned size = tds_time_size(t->scale);
  if (n != size + behind) return refuse(s, "a value whose length its type does not have");
  const int64_t nanos = clock_at(p, t->scale);
  if (nanos < 0) return refuse(s, "a time of day beyond 24 hours");
  return set(s, v, form, behind ? date_at(p + size) : 0, nanos, behind == 5);
}

tds_status tds_decode_time(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                           tds_value *v) {
  return decode(s, t, p, n, v, 0, TDS_CLOCK);
}

tds_status tds_decode_datetime2(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                                tds_value *v) {
  return decode(s, t, p, n, v, 3, TDS_DATETIME);
}

tds_status tds_decode_datetimeoffset(tds_stream *s, const tds_type_info *t, const uint8_t *p,
                                     size_t n, tds_value *v) {
  return decode(s, t, p, n, v, 5, TDS_DATETIME);
}
