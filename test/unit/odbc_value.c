/*
** What the ODBC driver does without a driver manager: connection strings, wide text, dates and times, bits, literals,
** types and quirks.
*/
#include "host.h"

#include "drivers/odbcInt.h"

/* ---- Connection strings ------------------------------------------------------------------------ */

static const char *masked(const char *url) {
  static char out[400];
  char *text = edb_url_mask(&unit_host, url);
  snprintf(out, sizeof out, "%s", text ? text : "out of memory");
  edb_free(&unit_host, text);
  return out;
}

static void test_words(void) {
  static const struct {
    const char *url, *shown;
  } cases[] = {
      {"odbc:DSN=shop;UID=app;PWD=secret", "odbc:DSN=shop;UID=app;PWD=***"},
      {"odbc:DSN=shop;pwd = {a;b}}c} ;Port=1", "odbc:DSN=shop;pwd = *** ;Port=1"},
      {"odbc:Driver={X};SSLPassword=a;AccessToken={t};B=c",
       "odbc:Driver={X};SSLPassword=***;AccessToken=***;B=c"},
      {"odbc:DSN=shop;password_env=SHOP;block=5", "odbc:DSN=shop;password_env=SHOP;block=5"},
      {"odbc:DSN=shop;PWD=", "odbc:DSN=shop;PWD="},
      /* What is no connection string is masked as a whole. */
      {"odbc:secret", "odbc:***"},
      {"odbc:DSN=a;PWD={secret", "odbc:***"},
      {"odbc:DSN=a;PWD={secret}x", "odbc:***"},
      {"odbc:=secret", "odbc:***"},
      {"odbc:DSN=a;block=1;BLOCK=2;PWD=s", "odbc:***"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_STR(masked(cases[i].url), cases[i].shown);
  }
  edb_error error;
  CHECK_INT(edb_url_check("odbc:DSN=a;block=1;block=2", NULL, 0, &error), EDB_INVALID_QUERY);
  CHECK_STR(error.message, "option \"block\" is given twice");
  CHECK(edb_url_has_secret("odbc:DSN=a;PWD=b"));
  CHECK(!edb_url_has_secret("odbc:DSN=a"));
  /* A database file chooses neither data sources nor drivers. */
  CHECK(edb_url_is_local("odbc:DSN=a"));
  CHECK(edb_url_is_local("odbc:Driver=/tmp/a.so"));
}

static void test_collect(void) {
  static const edb_option beside[] = {{"password", "s;1"}, {"block", "7"}};
  const edb_driver *driver;
  edb_option_set set;
  edb_error error;
  CHECK_INT(edb_options_collect("odbc: DSN = shop ;block=3;STREAM=0;Option={a;}}};UID=u", beside, 2,
                                &unit_host, &driver, &set, &error),
            EDB_OK);
  CHECK(driver == &edb_odbc_driver);
  CHECK_STR(edb_option_get(set.options, set.n, "connection"), "DSN=shop;Option={a;}}};UID=u;");
  CHECK_STR(edb_option_get(set.options, set.n, "block"), "7");
  CHECK_STR(edb_option_get(set.options, set.n, "stream"), "0");
  CHECK_STR(edb_option_get(set.options, set.n, "password"), "s;1");
  edb_options_wipe(&unit_host, &set);
  edb_buffer out = {&unit_host, NULL, 0, 0, 0};
  edb_word_add(&out, "PWD", "a;b}c");
  edb_word_add(&out, "UID", "u");
  CHECK_STR(out.p, "PWD={a;b}}c};UID=u;");
  edb_buffer_free(&out);
}

static void test_quirks(void) {
  edb_error error = {.code = EDB_OK};
  od_quirk quirk = *od_quirk_of("libmaodbc.so");
  CHECK(quirk.utf8 && quirk.trusted && quirk.lean && !quirk.no_block);
  CHECK_INT(od_quirk_change(&quirk, "-utf8,no_block,+lean,-trusted", &error), EDB_OK);
  CHECK(!quirk.utf8 && !quirk.trusted && quirk.lean && quirk.no_block && quirk.one_reread);
  CHECK(od_quirk_of("libmaodbc.so")->utf8); /* another connection's are as they were */
  CHECK_INT(od_quirk_change(&quirk, "", &error), EDB_OK);
  static const char *const wrong[] = {"nosuch", "utf", "utf8x", "-", ",", "lean,,lean", "utf8 "};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    CHECK_INT(od_quirk_change(&quirk, wrong[i], &error), EDB_INVALID_QUERY);
    CHECK(strstr(error.message, "option quirks: there is no") == error.message);
  }
}

/* ---- Wide text ------------------------------------------------------------------------------------ */

static void test_text(void) {
  static const char *const texts[] = {"",
                                      "a",
                                      "abcd",
                                      "abcde",
                                      "h\xc3\xa9",
                                      "abcd\xc3\xa9",
                                      "\xe4\xb8\xad",
                                      "a\xf0\x9f\x9a\x80z",
                                      "\xef\xbf\xbf",
                                      "\xf4\x8f\xbf\xbf"};
  for (int width = 2; width <= 4; width += 2) {
    od_wide = width;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
      edb_buffer wide = {&unit_host, NULL, 0, 0, 0}, back = {&unit_host, NULL, 0, 0, 0};
      const SQLINTEGER n = od_wide_make(&wide, texts[i], strlen(texts[i]));
      CHECK_INT(od_wide_length(wide.p, 100), n);
      od_text_add(&back, wide.p, (size_t)n);
      CHECK_STR(back.p, texts[i]);
      edb_buffer_free(&wide);
      edb_buffer_free(&back);
    }
  }
  od_wide = 2;
  /* Halves of pairs, and bytes that are no UTF-8. */
  static const uint16_t halves[] = {0xD83D, 'a', 0xDE80, 0xD83D};
  edb_buffer out = {&unit_host, NULL, 0, 0, 0};
  od_text_add(&out, halves, 4);
  CHECK_STR(out.p, "\xef\xbf\xbd"
                   "a\xef\xbf\xbd\xef\xbf\xbd");
  CHECK_INT(od_wide_make(&out, "\xff\xc3", 2), 2);
  CHECK(memcmp(out.p, "\xfd\xff\xfd\xff", 4) == 0);
  edb_buffer_free(&out);
}

/* ---- Values ------------------------------------------------------------------------------------------ */

static const char *shown(const edb_value *v) {
  static char out[200];
  switch (v->kind) {
  case EDB_TIME:
    edb_time_text(&v->as.time, out);
    break;
  case EDB_TEXT:
    snprintf(out, sizeof out, "'%.*s'", (int)v->as.text.n, v->as.text.p);
    break;
  case EDB_BYTES:
    snprintf(out, sizeof out, "x%zu", v->as.bytes.n);
    break;
  case EDB_I64:
    snprintf(out, sizeof out, "%" PRId64, v->as.i64);
    break;
  case EDB_U64:
    snprintf(out, sizeof out, "%" PRIu64 "u", v->as.u64);
    break;
  case EDB_F64:
    snprintf(out, sizeof out, "%.17gf", v->as.f64);
    break;
  default:
    snprintf(out, sizeof out, "kind %d", v->kind);
    break;
  }
  return out;
}

static void test_moments(void) {
  static const edb_type date = {.declared = EDB_DECLARED_DATE, .compare = EDB_COMPARE_DATE};
  static const edb_type clock = {.declared = EDB_DECLARED_TIME, .compare = EDB_COMPARE_CLOCK};
  static const edb_type stamp = {.declared = EDB_DECLARED_DATETIME};
  static const edb_type instant = {.declared = EDB_DECLARED_DATETIME,
                                   .compare = EDB_COMPARE_INSTANT};
  static const struct {
    const edb_type *type;
    const char *text, *value;
  } cases[] = {
      {&date, "2024-02-29", "2024-02-29"},
      {&date, "2023-02-29", "'2023-02-29'"},
      {&date, "0000-00-00", "'0000-00-00'"},
      {&date, "0044-03-15 BC", "'0044-03-15 BC'"},
      {&date, "", "''"},
      {&clock, "01:02:03.000007", "01:02:03.000007"},
      {&clock, "-838:59:59.000000", "-838:59:59"},
      {&clock, "24:00:00", "24:00:00"},
      {&clock, "01:02", "'01:02'"},
      {&clock, "01:62:00", "'01:62:00'"},
      {&stamp, "2024-02-29 01:02:03.120", "2024-02-29 01:02:03.12"},
      {&stamp, "2024-02-29T01:02:03", "2024-02-29 01:02:03"},
      {&stamp, "2024-02-29", "2024-02-29 00:00:00"},
      {&stamp, "2024-02-29 24:00:00", "'2024-02-29 24:00:00'"},
      {&stamp, "2024-02-29x", "'2024-02-29x'"},
      {&stamp, "infinity", "'infinity'"},
      {&instant, "2024-01-01 00:30:00+01", "2023-12-31 23:30:00Z"},
      {&instant, "2024-01-01 00:30:00.5-03:30", "2024-01-01 04:00:00.5Z"},
      {&instant, "2024-01-01 00:30:00", "2024-01-01 00:30:00Z"},
      {&instant, "2024-01-01 00:30:00Z", "2024-01-01 00:30:00Z"},
      {&instant, "1890-01-01 00:00:00+00:19:32", "1889-12-31 23:40:28Z"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    edb_value v;
    od_moment_value(cases[i].type, cases[i].text, strlen(cases[i].text), &v);
    unit_check_str(shown(&v), cases[i].value, __FILE__, __LINE__, cases[i].text);
  }
  char text[OD_MOMENT_TEXT];
  edb_value v;
  od_date_value(&(SQL_DATE_STRUCT){2024, 2, 29}, &v, text);
  CHECK_STR(shown(&v), "2024-02-29");
  od_date_value(&(SQL_DATE_STRUCT){-44, 3, 15}, &v, text);
  CHECK_STR(shown(&v), "'-0044-03-15'");
  od_date_value(&(SQL_DATE_STRUCT){2023, 2, 29}, &v, text);
  CHECK_STR(shown(&v), "'2023-02-29'");
  od_datetime_value(&(SQL_TIMESTAMP_STRUCT){2024, 2, 29, 23, 59, 59, 120000000}, 1, &v, text);
  CHECK_STR(shown(&v), "2024-02-29 23:59:59.12Z");
  od_datetime_value(&(SQL_TIMESTAMP_STRUCT){0, 0, 0, 0, 0, 0, 500}, 0, &v, text);
  CHECK_STR(shown(&v), "'0000-00-00 00:00:00.0000005'");
}

static void test_literals(void) {
  static const struct {
    const char *text, *value;
  } cases[] = {
      {"NULL", "kind 0"},
      {"5", "5"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"0.1", "0.10000000000000001f"},
      {"3.0000000000000004408e-01", "0.30000000000000004f"},
      {"9.0e+999", "inff"},
      {"'it''s'", "'it's'"},
      {"''", "''"},
      {"''''", "'''"},
      {"B", "x0"},
      {"B00FF", "x2"},
  };
  static const char *const wrong[] = {"", "'", "B0", "BGG", "abc", "1x", "'a", "--", "X'00'"};
  char text[64];
  edb_value v;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    memcpy(text, cases[i].text, strlen(cases[i].text) + 1);
    CHECK_INT(od_quoted_value(text, strlen(text), &v), 1);
    unit_check_str(shown(&v), cases[i].value, __FILE__, __LINE__, cases[i].text);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    memcpy(text, wrong[i], strlen(wrong[i]) + 1);
    if (!CHECK_INT(od_quoted_value(text, strlen(text), &v), 0)) printf("  %s\n", wrong[i]);
  }
  od_bits_value("\x01\x01", 2, &v);
  CHECK_STR(shown(&v), "257");
  od_bits_value("\xff\xff\xff\xff\xff\xff\xff\xff", 8, &v);
  CHECK_STR(shown(&v), "18446744073709551615u");
  /* Four bytes of a length that are all that the driver wrote. */
  CHECK_INT(od_length((SQLLEN)UINT64_C(0xFFFFFFFF)), SQL_NULL_DATA);
  CHECK_INT(od_length((SQLLEN)UINT64_C(0xFFFFFFFC)), SQL_NO_TOTAL);
  CHECK_INT(od_length(5000000000), 5000000000);
  CHECK_INT(od_length(SQL_NULL_DATA), SQL_NULL_DATA);
}

/* ---- Types and products -------------------------------------------------------------------------------- */

static void test_types(void) {
  const od_flavour *pg = od_flavour_of("PostgreSQL"), *my = od_flavour_of("MariaDB 10"),
                   *none = od_flavour_of("Informix");
  CHECK_STR(pg->dialect->name, "postgresql");
  CHECK_STR(my->dialect->name, "mysql");
  CHECK_STR(none->dialect->name, "generic");
  CHECK_STR(od_flavour_of("Microsoft SQL Server")->dialect->name, "sqlserver");
  CHECK_STR(od_flavour_of("DB2/LINUXX8664")->dialect->name, "db2");
  CHECK_STR(od_flavour_of("Oracle")->dialect->name, "oracle");
  CHECK_STR(od_column_type(pg, "_int4", SQL_VARCHAR, 0)->name, "array");
  CHECK_STR(od_column_type(pg, "int8", SQL_BIGINT, 0)->name, "int8");
  CHECK_STR(od_column_type(my, "BIGINT", SQL_BIGINT, 1)->name, "bigint unsigned");
  CHECK_STR(od_column_type(my, "INT UNSIGNED", SQL_INTEGER, -1)->name, "int unsigned");
  CHECK_STR(od_column_type(od_flavour_of("SQL Server"), "int identity", SQL_INTEGER, 0)->name,
            "int");
  CHECK_STR(od_column_type(none, "SERIAL8", SQL_BIGINT, 0)->name, "bigint");
  CHECK_INT(od_column_type(none, "LVARCHAR", SQL_VARCHAR, 0)->compare, EDB_COMPARE_NONE);
  CHECK_INT(od_column_type(none, "INTERVAL", SQL_INTERVAL_YEAR, 0)->kind, EDB_TEXT);
  /* What a type's name is kept as finds it again, in each dialect. */
  for (const edb_dialect *const *d = od_dialects; *d; d++) {
    static const char *const names[] = {"int8",    "bigint",   "date",    "REAL", "timestamptz",
                                        "varchar", "nvarchar", "numeric", "",     "no such type"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      const edb_type *type = (*d)->type(names[i]);
      CHECK((*d)->type(type->name) == type);
    }
    CHECK(edb_dialect_named(&edb_odbc_driver, (*d)->name) == *d);
  }
  CHECK_INT(od_codec_of(pg->dialect->type("bool"), SQL_VARCHAR, 0, 1), OD_BOOL_TEXT);
  CHECK_INT(od_codec_of(pg->dialect->type("bool"), SQL_BIT, 0, 1), OD_BOOL);
  CHECK_INT(od_codec_of(my->dialect->type("bit"), SQL_BINARY, 1, 1), OD_BITS);
  CHECK_INT(od_codec_of(none->dialect->type("time"), SQL_TYPE_TIME, 0, 0), OD_MOMENT);
  CHECK_INT(od_codec_of(none->dialect->type("timestamp"), SQL_TYPE_TIMESTAMP, 0, 0), OD_DATETIME);
  CHECK_INT(od_codec_of(none->dialect->type("decimal"), SQL_DECIMAL, 0, 0), OD_NARROW);
  CHECK(od_quirk_of("PSQLODBCW.DLL")->stream_attribute != 0);
  CHECK(od_quirk_of("libsqora.so")->driver == NULL);
}

int main(void) {
  test_words();
  test_collect();
  test_quirks();
  test_text();
  test_moments();
  test_literals();
  test_types();
  CHECK_INT(unit_blocks, 0);
  return unit_done("odbc_value");
}
