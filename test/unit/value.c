/*
** value.c: owned rows, dates and times as text in both directions, errors of one line.
*/
#include "host.h"
#include "drivers/driverInt.h"

/* ---- Dates and times ------------------------------------------------------------------------- */

#define SECOND INT64_C(1000000000)
#define DAY (86400 * SECOND)

static void text(edb_time_form form, int32_t days, int64_t nanos, int zoned, const char *expected) {
  edb_time t = {nanos, days, (uint8_t)form, (uint8_t)zoned}, back;
  char out[EDB_TIME_TEXT];
  size_t n = edb_time_text(&t, out);
  CHECK_STR(out, expected);
  CHECK_INT(n, strlen(expected));
  CHECK(n < EDB_TIME_TEXT);
  /* What is within what parsing takes comes back as it was. */
  if (nanos >= 0 && (nanos < DAY || form != EDB_DATETIME) &&
      edb_time_parse(out, n, form, zoned, &back)) {
    CHECK_INT(back.days, t.days);
    CHECK_INT(back.nanos, t.nanos);
    CHECK_INT(back.form, t.form);
    CHECK_INT(back.zoned, zoned && form != EDB_DATE);
  }
}

static void test_text(void) {
  text(EDB_DATE, 0, 0, 0, "1970-01-01");
  text(EDB_DATE, -1, 0, 0, "1969-12-31");
  text(EDB_DATE, 11016, 0, 0, "2000-02-29");
  text(EDB_DATE, 11017, 0, 0, "2000-03-01");
  text(EDB_DATE, 19782, 0, 0, "2024-02-29");
  text(EDB_DATE, -25509, 0, 0, "1900-02-28");
  text(EDB_DATE, -25508, 0, 0, "1900-03-01");
  text(EDB_DATE, 47540, 0, 0, "2100-02-28");
  text(EDB_DATE, 47541, 0, 0, "2100-03-01");
  text(EDB_DATE, -719162, 0, 0, "0001-01-01");
  text(EDB_DATE, -719163, 0, 0, "0000-12-31");
  text(EDB_DATE, 2932896, 0, 0, "9999-12-31");
  text(EDB_DATE, 2932897, 0, 0, "10000-01-01");
  text(EDB_DATE, 10, 0, 1, "1970-01-11"); /* a date has no zone */
  text(EDB_DATE, INT32_MAX, 0, 0, "5881580-07-11");
  text(EDB_DATE, INT32_MIN, 0, 0, "-5877641-06-23");

  text(EDB_CLOCK, 0, 0, 0, "00:00:00");
  text(EDB_CLOCK, 0, 1, 0, "00:00:00.000000001");
  text(EDB_CLOCK, 0, SECOND / 2, 0, "00:00:00.5");
  text(EDB_CLOCK, 0, 45296 * SECOND + 789000000, 0, "12:34:56.789");
  text(EDB_CLOCK, 0, DAY - 1, 0, "23:59:59.999999999");
  text(EDB_CLOCK, 0, DAY, 0, "24:00:00");
  text(EDB_CLOCK, 0, -SECOND, 0, "-00:00:01");
  text(EDB_CLOCK, 0, -1, 0, "-00:00:00.000000001");
  text(EDB_CLOCK, 0, -(838 * 3600 + 59 * 60 + 59) * SECOND, 0, "-838:59:59");
  text(EDB_CLOCK, 0, (838 * 3600 + 59 * 60 + 59) * SECOND, 0, "838:59:59");
  text(EDB_CLOCK, 0, 45296 * SECOND, 1, "12:34:56Z");
  text(EDB_CLOCK, 0, INT64_MAX, 1, "2562047:47:16.854775807Z");
  text(EDB_CLOCK, 0, INT64_MIN, 1, "-2562047:47:16.854775808Z");

  text(EDB_DATETIME, 0, 0, 0, "1970-01-01 00:00:00");
  text(EDB_DATETIME, -1, DAY - SECOND, 0, "1969-12-31 23:59:59");
  text(EDB_DATETIME, 19782, 45296 * SECOND + 120000, 1, "2024-02-29 12:34:56.00012Z");
  text(EDB_DATETIME, 2932896, DAY - 1, 1, "9999-12-31 23:59:59.999999999Z");
  /* Nanoseconds beyond a day carry into the date. */
  text(EDB_DATETIME, 0, DAY, 0, "1970-01-02 00:00:00");
  text(EDB_DATETIME, 0, -1, 0, "1969-12-31 23:59:59.999999999");
  text(EDB_DATETIME, INT32_MIN, INT64_MIN, 1, "-5877933-03-13 00:12:43.145224192Z");
}

static void refused(edb_time_form form, int zoned, const char *p) {
  edb_time t = {7, 7, 7, 7};
  if (!CHECK(!edb_time_parse(p, strlen(p), form, zoned, &t)) || !CHECK_INT(t.days, 7)) {
    printf("  %s\n", p);
  }
}

static void test_parse(void) {
  static const char *const dates[] = {"",
                                      "2024",
                                      "2024-1-1",
                                      "2024-01-1",
                                      "24-01-01",
                                      "0000-01-01",
                                      "2024-00-01",
                                      "2024-13-01",
                                      "2024-01-00",
                                      "2024-01-32",
                                      "2024-04-31",
                                      "2023-02-29",
                                      "1900-02-29",
                                      "2024-02-30",
                                      "2024/01/01",
                                      "2024-01-01 ",
                                      " 2024-01-01",
                                      "-024-01-01",
                                      "2024-01-01Z",
                                      "+2024-01-01",
                                      "10000-01-01",
                                      "infinity",
                                      "2024-01-0x",
                                      "2024-01-01 00:00:00"};
  static const char *const clocks[] = {"",
                                       "1:00:00",
                                       "00:00",
                                       "24:00:01",
                                       "25:00:00",
                                       "00:60:00",
                                       "00:00:60",
                                       "00:00:00.",
                                       "00:00:00.0",
                                       "00:00:00.50",
                                       "00:00:00.1234567891",
                                       "-00:00:01",
                                       "00:00:00 ",
                                       "00:00:00Z",
                                       "100:00:00",
                                       "00-00-00",
                                       "24:00:00.1",
                                       "00:00:00,5",
                                       "00:00:00.5x"};
  static const char *const datetimes[] = {"2024-01-01",           "2024-01-01T00:00:00",
                                          "2024-01-01 24:00:00",  "2024-01-01 00:00:00Z",
                                          "2024-01-01  00:00:00", "2024-01-01 00:00:00+00",
                                          "2024-02-30 00:00:00",  "2024-01-01 00:00:00.10"};
  edb_time t;
  for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) refused(EDB_DATE, 0, dates[i]);
  for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) refused(EDB_CLOCK, 0, clocks[i]);
  for (size_t i = 0; i < sizeof datetimes / sizeof datetimes[0]; i++) {
    refused(EDB_DATETIME, 0, datetimes[i]);
  }
  refused(EDB_CLOCK, 1, "00:00:00");
  refused(EDB_DATETIME, 1, "2024-01-01 00:00:00");
  refused(EDB_DATETIME, 1, "2024-01-01 00:00:00ZZ");
  CHECK(edb_time_parse("24:00:00", 8, EDB_CLOCK, 0, &t));
  CHECK_INT(t.nanos, DAY);
  CHECK(edb_time_parse("24:00:00Z", 9, EDB_CLOCK, 1, &t));
  CHECK(edb_time_parse("0001-01-01", 10, EDB_DATE, 0, &t));
  CHECK_INT(t.days, -719162);
  CHECK(edb_time_parse("9999-12-31 23:59:59.999999999", 29, EDB_DATETIME, 0, &t));
  CHECK_INT(t.days, 2932896);
  CHECK_INT(t.nanos, DAY - 1);
  /* Sized: what is behind the text is not looked at. */
  CHECK(edb_time_parse("2024-02-29garbage", 10, EDB_DATE, 0, &t));
  CHECK(!edb_time_parse("2024-02-29", 9, EDB_DATE, 0, &t));
}

static uint64_t seed = 20240229;

static uint64_t random_bits(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

/* Each day from 0001 to 9999, by the rule of months counted up from the first. */
static void test_every_day(void) {
  static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int32_t days = -719162;
  int wrong = 0;
  for (int year = 1; year <= 9999; year++) {
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    for (int month = 1; month <= 12; month++) {
      for (int day = 1; day <= lengths[month - 1] + (month == 2 && leap); day++, days++) {
        edb_time t = {0, days, EDB_DATE, 0}, back = {0, 0, 0, 0};
        char out[EDB_TIME_TEXT], expected[EDB_TIME_TEXT];
        size_t n = edb_time_text(&t, out);
        snprintf(expected, sizeof expected, "%04d-%02d-%02d", year, month, day);
        if (strcmp(out, expected) != 0) wrong++;
        if (!edb_time_parse(out, n, EDB_DATE, 0, &back) || back.days != days) wrong++;
      }
    }
  }
  CHECK_INT(wrong, 0);
  CHECK_INT(days, 2932897);
}

static void test_random(void) {
  int wrong = 0;
  for (int i = 0; i < 100000; i++) {
    edb_time t = {0, 0, EDB_DATETIME, (uint8_t)(random_bits() % 2)}, back;
    int64_t unit = 1;
    char out[EDB_TIME_TEXT];
    size_t n;
    for (uint64_t k = random_bits() % 10; k > 0; k--) unit *= 10;
    t.days = (int32_t)(random_bits() % 3652059) - 719162;
    t.nanos = (int64_t)(random_bits() % (uint64_t)DAY) / unit * unit;
    if (random_bits() % 2) {
      t.form = EDB_CLOCK;
      t.days = 0;
    }
    n = edb_time_text(&t, out);
    if (!edb_time_parse(out, n, (edb_time_form)t.form, t.zoned, &back) || back.days != t.days ||
        back.nanos != t.nanos || back.zoned != t.zoned || back.form != t.form) {
      if (wrong++ == 0) printf("  %s\n", out);
    }
    /* One byte other: it is refused, or what it says is written so. */
    out[random_bits() % n] = "0123456789-:. Z"[random_bits() % 15];
    if (edb_time_parse(out, n, (edb_time_form)t.form, t.zoned, &back)) {
      char again[EDB_TIME_TEXT];
      if (edb_time_text(&back, again) != n || memcmp(again, out, n) != 0) {
        if (wrong++ == 0) printf("  %s %s\n", out, again);
      }
    }
  }
  CHECK_INT(wrong, 0);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static edb_value text_value(const char *p, size_t n) {
  return (edb_value){.kind = EDB_TEXT, .as.text = {p, n}};
}

static void test_rows(void) {
  edb_row row = {.host = &unit_host};
  char big[5000];
  edb_value v;
  memset(big, 'x', sizeof big);
  CHECK_INT(edb_row_reset(&row, 0), EDB_OK);
  CHECK_INT(row.count, 0);
  CHECK_INT(edb_row_reset(&row, 5), EDB_OK);
  CHECK_INT(row.values[4].kind, EDB_NULL);
  v = text_value("first", 5);
  CHECK_INT(edb_row_set(&row, 0, &v), EDB_OK);
  v = text_value("", 0);
  CHECK_INT(edb_row_set(&row, 1, &v), EDB_OK);
  v.kind = EDB_BYTES;
  v.as.bytes.p = "\0\1\2";
  v.as.bytes.n = 3;
  CHECK_INT(edb_row_set(&row, 2, &v), EDB_OK);
  v = (edb_value){.kind = EDB_I64, .as.i64 = INT64_MIN};
  CHECK_INT(edb_row_set(&row, 3, &v), EDB_OK);
  /* What was set before stays right when the bytes move. */
  v = text_value(big, sizeof big);
  CHECK_INT(edb_row_set(&row, 4, &v), EDB_OK);
  CHECK_TEXT(row.values[0].as.text.p, row.values[0].as.text.n, "first");
  CHECK(row.values[1].as.text.p != NULL);
  CHECK_INT(row.values[1].as.text.n, 0);
  CHECK_BYTES(row.values[2].as.bytes.p, row.values[2].as.bytes.n, "\0\1\2", 3);
  CHECK(row.values[3].as.i64 == INT64_MIN);
  CHECK_BYTES(row.values[4].as.text.p, row.values[4].as.text.n, big, sizeof big);
  /* Anew, with fewer and with more. */
  CHECK_INT(edb_row_reset(&row, 1), EDB_OK);
  CHECK_INT(row.values[0].kind, EDB_NULL);
  CHECK_INT(edb_row_reset(&row, 100), EDB_OK);
  CHECK_INT(row.values[99].kind, EDB_NULL);
  /* Out of memory: the value is NULL, the others stay. */
  v = text_value("kept", 4);
  CHECK_INT(edb_row_set(&row, 0, &v), EDB_OK);
  unit_fail_in = 0;
  for (size_t i = 1; i < 100; i++) {
    v = text_value(big, sizeof big);
    if (edb_row_set(&row, i, &v) == EDB_NOMEM) {
      CHECK_INT(row.values[i].kind, EDB_NULL);
      break;
    }
  }
  CHECK_INT(unit_fail_in, -1);
  CHECK_TEXT(row.values[0].as.text.p, row.values[0].as.text.n, "kept");
  unit_fail_in = 0;
  CHECK_INT(edb_row_reset(&row, 1000), EDB_NOMEM);
  CHECK_INT(row.count, 0);
  CHECK_INT(edb_row_reset(&row, SIZE_MAX / 4), EDB_NOMEM);
  edb_row_clear(&row);
  edb_row_clear(&row);
  CHECK_INT(unit_blocks, 0);
}

/* ---- Errors, buffers, options ---------------------------------------------------------------- */

static void line(size_t size, const char *in, const char *expected) {
  char out[64];
  memset(out, '#', sizeof out);
  edb_copy_line(out, size, in, strlen(in));
  CHECK_STR(out, expected);
  CHECK(out[size] == '#');
}

static void test_errors(void) {
  edb_error e;
  char p[3000] = {0};
  line(16, "plain", "plain");
  line(6, "plain", "plain");
  line(5, "plain", "plai");
  line(1, "plain", "");
  line(32, "two\r\n\tlines\n", "two lines");
  line(32, "\n\nleading", "leading");
  line(5, "abc\xc3\xa9", "abc"); /* é does not fit */
  line(6, "abc\xc3\xa9", "abc\xc3\xa9");
  line(6, "ab\xf0\x9f\x98\x80", "ab");
  line(5, "ab\xf0\x9f\x98\x80", "ab");
  line(4, "ab\xf0\x9f\x98\x80", "ab");
  line(7, "ab\xf0\x9f\x98\x80", "ab\xf0\x9f\x98\x80");
  line(8, "\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf", "\xbf\xbf\xbf\xbf"); /* not UTF-8: no crash */

  CHECK_INT(edb_fail(NULL, EDB_BUSY, "nobody listens %d", 1), EDB_BUSY);
  memset(&e, 'x', sizeof e);
  CHECK_INT(edb_fail(&e, EDB_CONSTRAINT, "a\nb %s", "c"), EDB_CONSTRAINT);
  CHECK_STR(e.message, "a b c");
  CHECK_STR(e.hint, "");
  CHECK_STR(e.sqlstate, "");
  CHECK_INT(e.vendor, 0);
  edb_fail_hint(&e, "%s", "try\nthis");
  CHECK_STR(e.hint, "try this");
  CHECK_INT(e.code, EDB_CONSTRAINT);
  edb_fail(&e, EDB_FAILED, "cannot: %s", e.message); /* of itself */
  CHECK_STR(e.message, "cannot: a b c");
  for (size_t i = 0; i < 2997; i += 3) memcpy(p + i, "\xe2\x82\xac", 3); /* € */
  edb_fail(&e, EDB_FAILED, "%s", p);
  CHECK_INT(strlen(e.message), 1023);
  edb_fail(&e, EDB_FAILED, "a%s", p);
  CHECK_INT(strlen(e.message), 1021);
  CHECK(memcmp(e.message + strlen(e.message) - 3, "\xe2\x82\xac", 3) == 0);
}

static void test_buffer(void) {
  edb_buffer b = {&unit_host, NULL, 0, 0, 0};
  char *room;
  for (int i = 0; i < 1000; i++) edb_buffer_text(&b, "abc");
  edb_buffer_add(&b, "\0x", 2);
  CHECK_INT(b.n, 3002);
  CHECK_INT(b.nomem, 0);
  CHECK(memcmp(b.p + 2997, "abc\0x\0", 6) == 0);
  room = edb_buffer_room(&b, 5000);
  CHECK(room == b.p + b.n);
  CHECK(edb_buffer_room(&b, SIZE_MAX - 10) == NULL);
  CHECK_INT(b.nomem, 1);
  edb_buffer_text(&b, "more"); /* takes nothing more */
  CHECK_INT(b.n, 3002);
  edb_buffer_free(&b);
  unit_fail_in = 0;
  edb_buffer_text(&b, "x");
  CHECK_INT(b.nomem, 1);
  edb_buffer_free(&b);
  CHECK_INT(unit_blocks, 0);
}

int main(void) {
  test_text();
  test_parse();
  test_every_day();
  test_random();
  test_rows();
  test_errors();
  test_buffer();
  return unit_done("value");
}
