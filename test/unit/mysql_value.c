/*
** The MySQL driver's codecs and layouts, on bytes: no library and no server. What the layouts of libraries
** that are not here should be is written as numbers, from their headers.
*/
#include "unit.h"

#include <stdlib.h>

#include "drivers/mysql.h"

/* ---- Layouts ------------------------------------------------------------------------------------ */

static void put(char *at, const void *p, size_t n) { memcpy(at, p, n); }

/* Where pointers and unsigned long are 8 bytes: mysql.h of Connector/C 3.3, MySQL 5.7, 8.0, 8.4. */
static void test_layouts_lp64(const my_layout *l) {
  char field[128], binds[2 * 112];
  const char *name = "price";
  unsigned long length = 1020;
  unsigned flags = 0x21, decimals = 3, charset = 45;
  int type = 253, bound_type;
  my_field f;
  memset(field, 0x5a, sizeof field);
  put(field, &name, 8);
  put(field + 56, &length, 8);
  put(field + 100, &flags, 4);
  put(field + 104, &decimals, 4);
  put(field + 108, &charset, 4);
  put(field + 112, &type, 4);
  my_layout_field(l, field, &f);
  CHECK_STR(f.name, "price");
  CHECK_INT(f.length, 1020);
  CHECK_INT(f.flags, 0x21);
  CHECK_INT(f.decimals, 3);
  CHECK_INT(f.charset, 45);
  CHECK_INT(f.type, 253);

  char buffer[4], is_null, error, before[112];
  unsigned long size;
  void *p;
  memset(binds, 0, sizeof binds);
  memset(before, 0, sizeof before);
  my_bound bound = {.type = 8,
                    .is_unsigned = 2,
                    .buffer = buffer,
                    .buffer_length = 4,
                    .length = &length,
                    .is_null = &is_null,
                    .error = &error};
  my_layout_bind(l, binds, 1, &bound);
  CHECK_BYTES(binds, 112, before, 112); /* the first is not touched */
  const char *second = binds + 112;
  put((char *)&p, second, 8);
  CHECK(p == (void *)&length);
  put((char *)&p, second + 8, 8);
  CHECK(p == (void *)&is_null);
  put((char *)&p, second + 16, 8);
  CHECK(p == (void *)buffer);
  put((char *)&p, second + 24, 8);
  CHECK(p == (void *)&error);
  put((char *)&size, second + 64, 8);
  CHECK_INT(size, 4);
  put((char *)&bound_type, second + 96, 4);
  CHECK_INT(bound_type, 8);
  CHECK_INT(second[100], 0);
  CHECK_INT(second[101], 1); /* is_unsigned, as a bool */
  CHECK_INT(second[102], 0);
  CHECK_INT(l->bind_size, 112);
}

static void test_layouts(void) {
  static const struct {
    int mariadb;
    unsigned long version;
    const char *name;
  } versions[] = {
      {1, 30108, "MariaDB Connector/C 3"},
      {1, 30320, "MariaDB Connector/C 3"},
      {1, 30408, "MariaDB Connector/C 3"},
      {0, 80036, "MySQL 8 and 9"},
      {0, 80403, "MySQL 8 and 9"},
      {0, 90100, "MySQL 8 and 9"},
      {1, 20307, NULL},
      {1, 40000, NULL},
      {0, 50744, NULL},
      {0, 100000, NULL},
      {0, 30320, NULL},
      {1, 80036, NULL},
  };
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    const my_layout *l = my_layout_of(versions[i].mariadb, versions[i].version);
    CHECK_STR(l ? l->name : NULL, versions[i].name);
    if (l && sizeof(long) == 8 && sizeof(void *) == 8) test_layouts_lp64(l);
  }
  /* The numbers of mysql_options, counted in the enums of mysql.h. */
  const my_layout *mariadb = my_layout_of(1, 30320), *mysql = my_layout_of(0, 80036);
  CHECK_INT(mariadb->opt_ssl_enforce, 38);
  CHECK_INT(mariadb->opt_ssl_verify, 21);
  CHECK_INT(mariadb->opt_ssl_ca, 27);
  CHECK_INT(mariadb->opt_max_packet, 39);
  CHECK_INT(mariadb->opt_ssl_mode, -1);
  CHECK_INT(mariadb->opt_restricted_auth, 7026);
  CHECK_INT(mysql->opt_ssl_mode, 35);
  CHECK_INT(mysql->opt_ssl_ca, 21);
  CHECK_INT(mysql->opt_max_packet, 32);
  CHECK_INT(mysql->opt_restricted_auth, -1);
  CHECK_INT(mysql->opt_ssl_enforce, -1);
  CHECK_INT(mysql->opt_io_wait, -1);
}

/* ---- What columns are ------------------------------------------------------------------------------ */

static void test_types(void) {
  static const struct {
    my_field field; /* name, length, flags, decimals, charset, type */
    const char *extended, *name;
    my_codec codec;
  } cases[] = {
      {{NULL, 4, 0, 0, 63, MYSQL_TYPE_TINY}, "", "tinyint", MY_INT},
      {{NULL, 1, 0, 0, 63, MYSQL_TYPE_TINY}, "", "tinyint", MY_INT},
      {{NULL, 3, 32 | 64, 0, 63, MYSQL_TYPE_TINY}, "", "tinyint unsigned", MY_UINT},
      {{NULL, 6, 0, 0, 63, MYSQL_TYPE_SHORT}, "", "smallint", MY_INT},
      {{NULL, 8, 32, 0, 63, MYSQL_TYPE_INT24}, "", "mediumint unsigned", MY_UINT},
      {{NULL, 11, 0, 0, 63, MYSQL_TYPE_LONG}, "", "int", MY_INT},
      {{NULL, 20, 32, 0, 63, MYSQL_TYPE_LONGLONG}, "", "bigint unsigned", MY_UINT},
      {{NULL, 4, 32 | 64, 0, 63, MYSQL_TYPE_YEAR}, "", "year", MY_UINT},
      {{NULL, 12, 0, 31, 63, MYSQL_TYPE_FLOAT}, "", "float", MY_FLOAT},
      {{NULL, 22, 0, 31, 63, MYSQL_TYPE_DOUBLE}, "", "double", MY_DOUBLE},
      {{NULL, 67, 0, 30, 63, MYSQL_TYPE_NEWDECIMAL}, "", "decimal", MY_TEXT},
      {{NULL, 64, 32, 0, 63, MYSQL_TYPE_BIT}, "", "bit", MY_BIT},
      {{NULL, 10, 128, 0, 63, MYSQL_TYPE_DATE}, "", "date", MY_DATE},
      {{NULL, 10, 128, 0, 63, MYSQL_TYPE_TIME}, "", "time", MY_CLOCK},
      {{NULL, 19, 128, 0, 63, MYSQL_TYPE_DATETIME}, "", "datetime", MY_DATETIME},
      {{NULL, 19, 128, 0, 63, MYSQL_TYPE_TIMESTAMP}, "", "timestamp", MY_TIMESTAMP},
      {{NULL, 80, 0, 0, 45, MYSQL_TYPE_VAR_STRING}, "", "varchar", MY_TEXT},
      {{NULL, 80, 128, 0, 63, MYSQL_TYPE_VAR_STRING}, "", "varbinary", MY_BYTES},
      {{NULL, 80, 0, 0, 45, MYSQL_TYPE_STRING}, "", "char", MY_TEXT},
      {{NULL, 16, 128, 0, 63, MYSQL_TYPE_STRING}, "", "binary", MY_BYTES},
      {{NULL, 8, 256, 0, 45, MYSQL_TYPE_STRING}, "", "enum", MY_TEXT},
      {{NULL, 8, 256, 0, 63, MYSQL_TYPE_STRING}, "", "enum", MY_TEXT},
      {{NULL, 8, 2048, 0, 45, MYSQL_TYPE_STRING}, "", "set", MY_TEXT},
      {{NULL, 255, 16, 0, 63, MYSQL_TYPE_BLOB}, "", "tinyblob", MY_BYTES},
      {{NULL, 65535, 16, 0, 63, MYSQL_TYPE_BLOB}, "", "blob", MY_BYTES},
      {{NULL, 16777215, 16, 0, 63, MYSQL_TYPE_BLOB}, "", "mediumblob", MY_BYTES},
      {{NULL, 4294967295ul, 16, 0, 63, MYSQL_TYPE_BLOB}, "", "longblob", MY_BYTES},
      {{NULL, 65535, 16, 0, 45, MYSQL_TYPE_BLOB}, "", "text", MY_TEXT},
      {{NULL, 4294967295ul, 16, 0, 45, MYSQL_TYPE_BLOB}, "json", "json", MY_TEXT},
      {{NULL, 4294967295ul, 16, 0, 63, MYSQL_TYPE_JSON}, "", "json", MY_TEXT},
      {{NULL, 36, 128, 0, 8, MYSQL_TYPE_STRING}, "uuid", "uuid", MY_TEXT},
      {{NULL, 39, 128, 0, 63, MYSQL_TYPE_STRING}, "inet6", "inet6", MY_TEXT},
      {{NULL, 4294967295ul, 16, 0, 63, MYSQL_TYPE_GEOMETRY}, "point", "geometry", MY_GEOMETRY},
      {{NULL, 0, 0, 0, 63, MYSQL_TYPE_NULL}, "", "null", MY_NULL},
      {{NULL, 100, 0, 0, 63, MYSQL_TYPE_VECTOR}, "", "", MY_BYTES},
      {{NULL, 100, 0, 0, 63, 200}, "", "", MY_BYTES},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    my_type type = my_type_of(&cases[i].field, cases[i].extended, strlen(cases[i].extended));
    CHECK_STR(type.name, cases[i].name);
    CHECK_INT(type.codec, cases[i].codec);
  }
}

/* ---- Values --------------------------------------------------------------------------------------- */

static const char *shown(const edb_value *v) {
  static char out[200];
  switch (v->kind) {
  case EDB_I64:
    snprintf(out, sizeof out, "%" PRId64, v->as.i64);
    break;
  case EDB_U64:
    snprintf(out, sizeof out, "%" PRIu64 "u", v->as.u64);
    break;
  case EDB_F64:
    snprintf(out, sizeof out, "%.17g", v->as.f64);
    break;
  case EDB_TEXT:
    snprintf(out, sizeof out, "'%.*s'", (int)v->as.text.n, v->as.text.p);
    break;
  case EDB_BYTES:
    snprintf(out, sizeof out, "%zu bytes", v->as.bytes.n);
    break;
  case EDB_TIME:
    out[0] = "?DCT"[v->as.time.form];
    out[1] = ' ';
    edb_time_text(&v->as.time, out + 2);
    break;
  default:
    return "other";
  }
  return out;
}

/* The text protocol's values; what it says of dates is said of binary ones too, below. */
static const struct {
  my_codec codec;
  unsigned decimals;
  const char *text, *expected; /* NULL: it is none */
} texts[] = {
    {MY_INT, 0, "0", "0"},
    {MY_INT, 0, "-9223372036854775808", "-9223372036854775808"},
    {MY_INT, 0, "9223372036854775807", "9223372036854775807"},
    {MY_INT, 0, "9223372036854775808", NULL},
    {MY_INT, 0, "-9223372036854775809", NULL},
    {MY_INT, 0, "00042", "42"},
    {MY_INT, 0, "", NULL},
    {MY_INT, 0, "-", NULL},
    {MY_INT, 0, "1x", NULL},
    {MY_UINT, 0, "18446744073709551615", "18446744073709551615u"},
    {MY_UINT, 0, "18446744073709551616", NULL},
    {MY_UINT, 0, "-1", NULL},
    {MY_UINT, 0, "0000000042", "42u"}, /* zerofill */
    {MY_DOUBLE, 0, "0.1", "0.10000000000000001"},
    {MY_DOUBLE, 0, "-1.7976931348623157e308", "-1.7976931348623157e+308"},
    {MY_DOUBLE, 0, "5e-324", "4.9406564584124654e-324"},
    {MY_DOUBLE, 0, "", NULL},
    {MY_DOUBLE, 0, "1,5", NULL},
    {MY_FLOAT, 0, "0.1", "0.10000000149011612"},
    {MY_FLOAT, 0, "3.40282e38", "3.402820018375656e+38"},
    {MY_BIT, 0, "\1\2", "258"},
    {MY_BIT, 0, "\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615u"},
    {MY_BIT, 0, "123456789", NULL},
    {MY_TEXT, 0, "", "''"},
    {MY_BYTES, 0, "ab", "2 bytes"},
    {MY_GEOMETRY, 0, "\1\1\1\1wkb", "3 bytes"},
    {MY_GEOMETRY, 0, "\1\1\1", NULL},
    {MY_DATE, 0, "2024-02-29", "D 2024-02-29"},
    {MY_DATE, 0, "0001-01-01", "D 0001-01-01"},
    {MY_DATE, 0, "1969-12-31", "D 1969-12-31"},
    {MY_DATE, 0, "9999-12-31", "D 9999-12-31"},
    {MY_DATE, 0, "1900-02-28", "D 1900-02-28"},
    {MY_DATE, 0, "1900-02-29", "'1900-02-29'"},
    {MY_DATE, 0, "2000-02-29", "D 2000-02-29"},
    {MY_DATE, 0, "2023-02-29", "'2023-02-29'"},
    {MY_DATE, 0, "2023-04-31", "'2023-04-31'"},
    {MY_DATE, 0, "0000-00-00", "'0000-00-00'"},
    {MY_DATE, 0, "0000-01-01", "'0000-01-01'"},
    {MY_DATE, 0, "2200-00-08", "'2200-00-08'"},
    {MY_DATE, 0, "2200-13-08", "'2200-13-08'"},
    {MY_DATE, 0, "2024-02-29 ", NULL},
    {MY_DATE, 0, "2024-02", NULL},
    {MY_DATETIME, 0, "2024-02-29 01:02:03", "T 2024-02-29 01:02:03"},
    {MY_DATETIME, 6, "2024-02-29 01:02:03.500000", "T 2024-02-29 01:02:03.5"},
    {MY_DATETIME, 3, "2024-02-29 01:02:03.007", "T 2024-02-29 01:02:03.007"},
    {MY_DATETIME, 0, "0000-00-00 00:00:00", "'0000-00-00 00:00:00'"},
    {MY_DATETIME, 3, "0000-00-00 00:00:00.000", "'0000-00-00 00:00:00.000'"},
    {MY_DATETIME, 31, "2023-02-31 01:02:03.000007", "'2023-02-31 01:02:03.000007'"},
    {MY_DATETIME, 31, "2023-02-31 01:02:03", "'2023-02-31 01:02:03'"},
    {MY_DATETIME, 0, "2024-02-29", NULL},
    {MY_TIMESTAMP, 0, "2024-02-29 01:02:03", "T 2024-02-29 01:02:03Z"},
    {MY_TIMESTAMP, 0, "0000-00-00 00:00:00", "'0000-00-00 00:00:00'"},
    {MY_CLOCK, 0, "00:00:00", "C 00:00:00"},
    {MY_CLOCK, 6, "838:59:59.999999", "C 838:59:59.999999"},
    {MY_CLOCK, 6, "-838:59:59.000001", "C -838:59:59.000001"},
    {MY_CLOCK, 3, "-00:00:00.250", "C -00:00:00.25"},
    {MY_CLOCK, 0, "00:00", NULL},
    {MY_CLOCK, 0, "", NULL},
};

static void test_texts(void) {
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    edb_value v;
    char moment[MY_MOMENT_TEXT];
    size_t n = strlen(texts[i].text);
    char *exact = malloc(n ? n : 1); /* so that reading behind it is caught */
    if (!exact) abort();
    memcpy(exact, texts[i].text, n);
    int rc = my_decode_text(texts[i].codec, texts[i].decimals, exact, n, &v, moment);
    unit_check_str(rc == EDB_OK ? shown(&v) : NULL, texts[i].expected, __FILE__, __LINE__,
                   texts[i].text);
    free(exact);
  }
}

static void test_moments(void) {
  edb_value v;
  char text[MY_MOMENT_TEXT];
  my_time t = {0};
  /* One library leaves days in a time, the other makes hours of them. */
  t = (my_time){.day = 34, .hour = 22, .minute = 59, .second = 59, .second_part = 1, .negative = 1};
  my_moment(MY_CLOCK, &t, 6, &v, text);
  CHECK_STR(shown(&v), "C -838:59:59.000001");
  t = (my_time){.hour = 838, .minute = 59, .second = 59};
  my_moment(MY_CLOCK, &t, 0, &v, text);
  CHECK_STR(shown(&v), "C 838:59:59");
  t = (my_time){.year = 9999, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 59};
  my_moment(MY_DATE, &t, 0, &v, text);
  CHECK_STR(shown(&v), "D 9999-12-31");
  /* Nothing that a server may send overruns the text. */
  t = (my_time){.year = UINT32_MAX,
                .month = UINT32_MAX,
                .day = UINT32_MAX,
                .hour = UINT32_MAX,
                .minute = UINT32_MAX,
                .second = UINT32_MAX,
                .second_part = UINT32_MAX};
  memset(text, '!', sizeof text);
  my_moment(MY_DATETIME, &t, 6, &v, text);
  CHECK_INT(v.kind, EDB_TEXT);
  CHECK_INT(v.as.text.n, 26);
}

/* Parameters: what is sent comes back. */
static void test_parameters(void) {
  static const edb_time times[] = {
      {0, 0, EDB_DATE, 0},
      {0, 19782, EDB_DATE, 0},
      {0, -719162, EDB_DATE, 0}, /* 0001-01-01 */
      {INT64_C(45296789012000), 19782, EDB_DATETIME, 0},
      {INT64_C(86399999999000), -1, EDB_DATETIME, 0},
      {INT64_C(-3020399000001000), 0, EDB_CLOCK, 0},
      {INT64_C(1000), 0, EDB_CLOCK, 0},
  };
  static const my_codec codecs[] = {0, MY_DATE, MY_CLOCK, MY_DATETIME};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    my_time t;
    edb_value v;
    char text[MY_MOMENT_TEXT];
    if (!CHECK(my_time_of(&times[i], &t))) continue;
    my_moment(codecs[times[i].form], &t, 6, &v, text);
    CHECK_INT(v.kind, EDB_TIME);
    CHECK_INT(v.as.time.nanos, times[i].nanos);
    CHECK_INT(v.as.time.days, times[i].days);
  }
  my_time t;
  CHECK(!my_time_of(&(edb_time){INT64_C(3020400000000000), 0, EDB_CLOCK, 0}, &t)); /* 839:00:00 */
  CHECK(!my_time_of(&(edb_time){0, 2932897, EDB_DATE, 0}, &t));                    /* 10000-01-01 */
  CHECK(!my_time_of(&(edb_time){0, -719893, EDB_DATE, 0}, &t));                    /* -0001-12-31 */
  /* A moment before midnight of the day before. */
  CHECK(my_time_of(&(edb_time){-1000, 0, EDB_DATETIME, 1}, &t));
  CHECK_INT(t.year, 1969);
  CHECK_INT(t.hour, 23);
  CHECK_INT(t.second_part, 999999);
}

/* ---- Errors ---------------------------------------------------------------------------------------- */

static void test_errors(void) {
  static const struct {
    unsigned number;
    const char *sqlstate;
    edb_code code;
  } cases[] = {
      {1062, "23000", EDB_CONSTRAINT},    {3819, "HY000", EDB_CONSTRAINT},
      {4025, "23000", EDB_CONSTRAINT},    {1364, "HY000", EDB_CONSTRAINT},
      {1205, "HY000", EDB_BUSY},          {1213, "40001", EDB_BUSY},
      {3572, "HY000", EDB_BUSY},          {2006, "HY000", EDB_CLOSED},
      {2013, "HY000", EDB_CLOSED},        {1927, "70100", EDB_CLOSED},
      {1317, "70100", EDB_INTERRUPTED},   {1969, "70100", EDB_INTERRUPTED},
      {3024, "HY000", EDB_INTERRUPTED},   {1064, "42000", EDB_INVALID_QUERY},
      {1146, "42S02", EDB_INVALID_QUERY}, {1054, "42S22", EDB_INVALID_QUERY},
      {1264, "22003", EDB_INVALID_QUERY}, {1366, "HY000", EDB_INVALID_QUERY},
      {1046, "3D000", EDB_INVALID_QUERY}, {1295, "HY000", EDB_UNSUPPORTED},
      {1105, "HY000", EDB_FAILED},        {9999, "", EDB_FAILED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_INT(my_code_of(cases[i].number, cases[i].sqlstate), cases[i].code);
  }
}

/* ---- Options --------------------------------------------------------------------------------------- */

static void test_options(void) {
  static const struct {
    const char *name, *value;
    int tls; /* negative: refused */
  } cases[] = {
      {"user", "a", MY_TLS_PREFERRED},
      {"ssl-mode", "disabled", MY_TLS_DISABLED},
      {"ssl-mode", "PREFERRED", MY_TLS_PREFERRED},
      {"ssl-mode", "Required", MY_TLS_VERIFIED},
      {"ssl-mode", "VERIFY_CA", MY_TLS_VERIFIED},
      {"ssl-mode", "verify_identity", MY_TLS_VERIFIED},
      {"ssl-mode", "", -1},
      {"ssl-mode", "require", -1},
      {"ssl-ca", "ca.pem", MY_TLS_VERIFIED},
      {"ssl-capath", "certs", MY_TLS_VERIFIED},
      {"socket", "/s", MY_TLS_DISABLED},
      {"port", "0", MY_TLS_PREFERRED},
      {"port", "65536", -1},
      {"port", "-1", -1},
      {"port", "33 06", -1},
      {"port", "", -1},
      {"port", "99999999999999999999", -1},
      {"charset", "UTF8MB4", MY_TLS_PREFERRED},
      {"charset", "latin1", -1},
      {"compress", "2", -1},
      {"connect_timeout", "soon", -1},
      {"ssl-verify-server-cert", "0", MY_TLS_PREFERRED},
  };
  my_target target;
  edb_error error;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    edb_option option = {cases[i].name, cases[i].value};
    int rc = my_target_of(&option, 1, &target, &error);
    unit_check_int(rc == EDB_OK ? (int)target.tls : -1, cases[i].tls, __FILE__, __LINE__,
                   cases[i].value);
    if (rc != EDB_OK) CHECK(strncmp(error.message, cases[i].name, strlen(cases[i].name)) == 0);
  }
  edb_option unverified[] = {{"ssl-mode", "REQUIRED"}, {"ssl-verify-server-cert", "0"}};
  CHECK_INT(my_target_of(unverified, 2, &target, &error), EDB_OK);
  CHECK_INT(target.tls, MY_TLS_REQUIRED);
  unverified[0].value = "VERIFY_CA"; /* says that it verifies, and does */
  CHECK_INT(my_target_of(unverified, 2, &target, &error), EDB_OK);
  CHECK_INT(target.tls, MY_TLS_VERIFIED);
}

int main(void) {
  test_layouts();
  test_types();
  test_texts();
  test_moments();
  test_parameters();
  test_errors();
  test_options();
  return unit_done("mysql_value");
}
