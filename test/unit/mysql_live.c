/*
** The MySQL driver against a real server: values of all types in both protocols, columns, parameters, long
** values.
**
** servers: mysql
*/
#include "drivers/mysql.h" /* first: live.h has a host */

#define LIVE_URL "EDB_TEST_MYSQL_URL"
#include "live.h"

/* ---- Values ---------------------------------------------------------------------------------- */

/* A column's type, the value's SQL, what it is. */
static const struct {
  const char *type, *sql, *expected;
} values[] = {
    {"tinyint", "-128", "-128"},
    {"tinyint unsigned", "255", "255"},
    {"tinyint(1)", "-3", "-3"},
    {"bool", "true", "1"},
    {"smallint", "-32768", "-32768"},
    {"smallint unsigned", "65535", "65535"},
    {"mediumint", "-8388608", "-8388608"},
    {"mediumint unsigned", "16777215", "16777215"},
    {"int", "-2147483648", "-2147483648"},
    {"int unsigned", "4294967295", "4294967295"},
    {"int(10) unsigned zerofill", "42", "42"},
    {"tinyint(3) zerofill", "7", "7"},
    {"bigint", "-9223372036854775808", "-9223372036854775808"},
    {"bigint unsigned", "18446744073709551615", "18446744073709551615"},
    {"bigint unsigned", "9223372036854775808", "9223372036854775808"},
    {"bigint", "NULL", "NULL"},
    {"float", "1.5", "1.5"},
    {"float", "0.1", "0.10000000149011612"},
    {"float zerofill", "1.5", "1.5"},
    {"float(7,2)", "3.25", "3.25"},
    {"double", "0.1e0", "0.10000000000000001"},
    {"double", "-1.7976931348623157e308", "-1.7976931348623157e+308"},
    {"double", "5e-324", "4.9406564584124654e-324"},
    {"double(10,3)", "1.25", "1.25"},
    {"decimal(65,30)", "12345678901234567890123456789012345.012345678901234567890123456789",
     "'12345678901234567890123456789012345.012345678901234567890123456789'"},
    {"decimal(10,6)", "-0.0001", "'-0.000100'"},
    {"decimal(10,2)", "60", "'60.00'"},
    {"decimal(10,0)", "0", "'0'"},
    {"bit(1)", "b'1'", "1"},
    {"bit(9)", "b'100000001'", "257"},
    {"bit(64)", "x'ffffffffffffffff'", "18446744073709551615"},
    {"bit(64)", "x'7fffffffffffffff'", "9223372036854775807"},
    {"year", "2024", "2024"},
    {"year", "0", "0"},
    {"date", "'2024-02-29'", "D 2024-02-29"},
    {"date", "'9999-12-31'", "D 9999-12-31"},
    {"date", "'0001-01-01'", "D 0001-01-01"},
    {"date", "'0000-00-00'", "'0000-00-00'"},
    {"date", "'2200-00-08'", "'2200-00-08'"},
    {"date", "'2023-02-31'", "'2023-02-31'"},
    {"datetime", "'2024-02-29 01:02:03'", "T 2024-02-29 01:02:03"},
    {"datetime(6)", "'2024-02-29 01:02:03.000007'", "T 2024-02-29 01:02:03.000007"},
    {"datetime(3)", "'2024-02-29 01:02:03.12'", "T 2024-02-29 01:02:03.12"},
    {"datetime", "'0000-00-00 00:00:00'", "'0000-00-00 00:00:00'"},
    {"datetime(6)", "'0000-00-00 00:00:00'", "'0000-00-00 00:00:00.000000'"},
    {"datetime(3)", "'2200-00-08 10:00:00'", "'2200-00-08 10:00:00.000'"},
    {"timestamp NULL", "'2024-07-01 12:00:00'", "T 2024-07-01 12:00:00Z"},
    {"timestamp(6) NULL", "'1970-01-01 00:00:01.5'", "T 1970-01-01 00:00:01.5Z"},
    {"timestamp NULL", "0", "'0000-00-00 00:00:00'"},
    {"time", "'838:59:59'", "C 838:59:59"},
    {"time(6)", "'-838:59:58.999999'", "C -838:59:58.999999"},
    {"time(3)", "'-00:00:00.25'", "C -00:00:00.25"},
    {"time", "'24:00:00'", "C 24:00:00"},
    {"enum('a','b''c')", "'b''c'", "'b'c'"},
    {"set('x','y','z')", "'x,z'", "'x,z'"},
    {"set('x','y')", "''", "''"},
    {"json", "'{\"a\": [1, null]}'", "'{\"a\": [1, null]}'"},
    {"char(5)", "'ab'", "'ab'"},
    {"char(5)", "''", "''"},
    {"varchar(5)", "'ab '", "'ab '"},
    {"varchar(20) character set latin1", "'h\xc3\xa9llo'", "'h\xc3\xa9llo'"},
    {"varchar(20) character set gbk", "'\xe4\xb8\xad\xe6\x96\x87'", "'\xe4\xb8\xad\xe6\x96\x87'"},
    {"text character set utf8mb4", "'\xf0\x9f\x90\x98'", "'\xf0\x9f\x90\x98'"},
    {"tinytext", "'t'", "'t'"},
    {"longtext", "'l'", "'l'"},
    {"binary(4)", "x'6100'", "x'61000000'"},
    {"varbinary(4)", "x'6100'", "x'6100'"},
    {"blob", "x'00ff27'", "x'00ff27'"},
    {"mediumblob", "x''", "x''"},
    {"point", "point(1, 2)", "x'0101000000000000000000f03f0000000000000040'"},
    {"geometry", "ST_GeomFromText('POINT(1 2)', 4326)",
     "x'0101000000000000000000f03f0000000000000040'"},
    {"uuid", "'6CCD780C-BABA-1026-9564-5B8C656024DB'", "'6ccd780c-baba-1026-9564-5b8c656024db'"},
    {"inet6", "'2001:DB8::FF00:42:8329'", "'2001:db8::ff00:42:8329'"},
};

#define N_VALUES (sizeof values / sizeof values[0])

static void test_values(void) {
  edb_connection c;
  char sql[500];
  must_open(&c);
  for (size_t i = 0; i < N_VALUES; i++) {
    run(&c, "DROP TABLE IF EXISTS edb_one");
    snprintf(sql, sizeof sql, "CREATE TABLE edb_one (v %s)", values[i].type);
    run(&c, sql);
    snprintf(sql, sizeof sql, "INSERT INTO edb_one VALUES (%s)", values[i].sql);
    run(&c, sql);
    unit_check_str(one(&c, "SELECT v FROM edb_one", 0, NULL, 0), values[i].expected, __FILE__,
                   __LINE__, values[i].type);
    /* The text protocol says the same. */
    atomic_store(&my_layout_state, MY_LAYOUT_MISFIT);
    unit_check_str(one(&c, "SELECT v FROM edb_one", 0, NULL, 0), values[i].expected, __FILE__,
                   __LINE__, values[i].type);
    atomic_store(&my_layout_state, MY_LAYOUT_FITS);
  }
  run(&c, "DROP TABLE edb_one");
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_columns(void) {
  static const struct {
    const char *name, *type;
    edb_kind kind;
    int nullable;
  } expected[] = {
      {"id", "int", EDB_I64, 0},
      {"", "bigint", EDB_I64, 0},
      {"a`b \"c\"", "json", EDB_TEXT, 1},
      {"\xc3\xa9", "uuid", EDB_TEXT, 1},
      {"id", "timestamp", EDB_TIME, 1},
      {"g", "geometry", EDB_BYTES, 1},
      {"u", "bigint unsigned", EDB_U64, 1},
      {"n", "null", EDB_NULL, 1},
  };
  edb_connection c;
  edb_rows r;
  const edb_column *columns;
  size_t n;
  must_open(&c);
  run(&c, "CREATE TEMPORARY TABLE edb_cols (id int NOT NULL, j json, u uuid, t timestamp NULL, "
          "g point, b bigint unsigned)");
  CHECK_INT(
      edb_query(&c,
                "SELECT id, id + 1 AS ``, j AS `a``b \"c\"`, u AS `\xc3\xa9`, t AS id, g, b AS u, "
                "NULL AS n FROM edb_cols",
                NULL, 0, &r),
      EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT(n, 8);
  for (size_t i = 0; i < n && i < 8; i++) {
    CHECK_STR(columns[i].name, expected[i].name);
    CHECK_STR(columns[i].type_name, expected[i].type);
    CHECK_INT(columns[i].kind, expected[i].kind);
    CHECK_INT(columns[i].nullable, expected[i].nullable);
  }
  const edb_value *v;
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- Parameters -------------------------------------------------------------------------------- */

static edb_parameter u64(uint64_t u) {
  edb_parameter p = {NULL, {.kind = EDB_U64}};
  p.value.as.u64 = u;
  return p;
}

static void test_parameters(void) {
  struct {
    edb_parameter parameter;
    const char *sql, *expected;
  } cases[] = {
      {integer(INT64_MIN), "SELECT CAST(? AS SIGNED)", "-9223372036854775808"},
      {u64(UINT64_MAX), "SELECT CAST(? AS UNSIGNED)", "18446744073709551615"},
      {real(0.1), "SELECT ? + 0e0", "0.10000000000000001"},
      {real(3), "SELECT ? / 7", "0.42857142857142855"}, /* a decimal would be 0.4286 */
      {real(-1.7976931348623157e308), "SELECT ? + 0e0", "-1.7976931348623157e+308"},
      {real(5e-324), "SELECT ? + 0e0", "4.9406564584124654e-324"},
      {null(), "SELECT ? IS NULL", "1"},
      {null(), "SELECT CAST(? AS CHAR)", "NULL"},
      {text(""), "SELECT CONCAT('<', ?, '>')", "'<>'"},
      {text("it's \\ \"x\" `y` \n\x1a% ?"), "SELECT CONCAT('', ?)",
       "'it's \\ \"x\" `y` \n\x1a% ?'"},
      {text("h\xc3\xa9llo \xf0\x9f\x90\x98"), "SELECT CHAR_LENGTH(?)", "7"},
      {bytes("a\0b'\\\xff", 6), "SELECT HEX(?)", "'610062275CFF'"},
      {bytes("", 0), "SELECT LENGTH(?)", "0"},
      {text("a"), "SELECT /* ? */ CONCAT('?', ?, \"?\") -- ?", "'?a?'"},
      {moment(EDB_DATE, 19782, 0, 0), "SELECT DATE_FORMAT(?, '%Y-%m-%d')", "'2024-02-29'"},
      {moment(EDB_DATETIME, 19782, INT64_C(3723000007000), 1),
       "SELECT DATE_FORMAT(?, '%Y-%m-%d %H:%i:%s.%f')", "'2024-02-29 01:02:03.000007'"},
      {moment(EDB_CLOCK, 0, INT64_C(-3020399000001000), 0), "SELECT CAST(? AS TIME(6))",
       "C -838:59:59.000001"},
  };
  edb_connection c;
  must_open(&c);
  for (int textual = 0; textual < 3; textual++) {
    atomic_store(&my_layout_state, textual ? MY_LAYOUT_MISFIT : MY_LAYOUT_FITS);
    if (textual == 2) run(&c, "SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      unit_check_str(one(&c, cases[i].sql, 0, &cases[i].parameter, 1), cases[i].expected, __FILE__,
                     __LINE__, cases[i].sql);
    }
    edb_parameter two[] = {integer(1), integer(2)};
    CHECK(strstr(one(&c, "SELECT ?", 0, two, 2), "has 1 parameters, not 2") != NULL);
    CHECK(strstr(one(&c, "SELECT ?, ?", 0, two, 1), "parameters, not 1") != NULL);
    edb_parameter named = integer(1);
    named.name = ":a";
    CHECK_INT(edb_query(&c, "SELECT ?", &named, 1, &(edb_rows){0}), EDB_UNSUPPORTED);
    edb_parameter late = moment(EDB_CLOCK, 0, INT64_C(3020400000000000), 0);
    CHECK_INT(edb_query(&c, "SELECT ?", &late, 1, &(edb_rows){0}), EDB_INVALID_QUERY);
    usable(&c);
  }
  atomic_store(&my_layout_state, MY_LAYOUT_FITS);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* One statement, whose parameters change type and length from one run to the next. */
static void test_changing_parameters(void) {
  edb_connection c;
  edb_statement s;
  int64_t affected;
  must_open(&c);
  run(&c, "CREATE TEMPORARY TABLE edb_p (i int, t longtext)");
  CHECK_INT(edb_prepare(&c, "INSERT INTO edb_p VALUES (?, ?)", 0, &s), EDB_OK);
  char *long_text = malloc(200000);
  if (!long_text) abort();
  memset(long_text, 'x', 200000);
  for (int i = 0; i < 60; i++) {
    edb_parameter p[2] = {i % 7 == 3 ? null() : integer(i), null()};
    size_t n = i % 10 == 9 ? 200000 : (size_t)i * 97;
    if (i % 5 == 1) p[1] = integer(i);
    if (i % 5 > 1) {
      p[1] = text("");
      p[1].value.as.text.p = long_text;
      p[1].value.as.text.n = n;
    }
    if (!CHECK_INT(edb_statement_execute(&s, p, 2, &affected), EDB_OK)) printf("%s\n", why(&c));
    CHECK_INT(affected, 1);
  }
  edb_statement_close(&s);
  CHECK_STR(one(&c, "SELECT COUNT(*) FROM edb_p WHERE i IS NULL", 0, NULL, 0), "9");
  CHECK_STR(one(&c, "SELECT COUNT(*) FROM edb_p WHERE t IS NULL", 0, NULL, 0), "12");
  CHECK_STR(one(&c, "SELECT COUNT(*) FROM edb_p WHERE LENGTH(t) = 200000", 0, NULL, 0), "6");
  CHECK_STR(one(&c,
                "SELECT GROUP_CONCAT(LENGTH(t) - i * 97 ORDER BY i SEPARATOR '') FROM edb_p "
                "WHERE LENGTH(t) <> 200000 AND LENGTH(t) > 2",
                0, NULL, 0),
            "'0000000000000000000000000'");
  free(long_text);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- Long values ------------------------------------------------------------------------------- */

/* Rows of many lengths, in order and out of it: each whole, none missing. */
static void test_lengths(void) {
  static const int lengths[] = {0, 1, 511, 512, 513, 100000, 3, 1024, 70000, 2000000, 5, 2000001};
  edb_connection c;
  edb_rows r;
  const edb_value *v;
  must_open(&c);
  run(&c, "CREATE TEMPORARY TABLE edb_l (id int, t longtext, b longblob)");
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    edb_parameter p[] = {integer((int64_t)i), integer(lengths[i]), integer(lengths[i])};
    CHECK_INT(
        edb_execute(&c, "INSERT INTO edb_l VALUES (?, REPEAT('t', ?), REPEAT('b', ?))", p, 3, NULL),
        EDB_OK);
  }
  CHECK_INT(edb_query(&c, "SELECT * FROM edb_l ORDER BY id", NULL, 0, &r), EDB_OK);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    if (!CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW)) break;
    CHECK_INT(v[0].as.i64, i);
    CHECK_INT(v[1].as.text.n, lengths[i]);
    CHECK_INT(v[2].as.bytes.n, lengths[i]);
    CHECK_INT(v[2].kind, EDB_BYTES);
    for (int k = 0; k < lengths[i]; k++) {
      if (v[1].as.text.p[k] != 't' || v[2].as.bytes.p[k] != 'b') {
        CHECK(0);
        break;
      }
    }
  }
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* 64 MB come whole where the server lets them. */
static void test_large(void) {
  edb_connection c;
  edb_rows r;
  const edb_value *v;
  must_open(&c);
  if (strtoll(one(&c, "SELECT @@max_allowed_packet", 0, NULL, 0), NULL, 10) >= 70000000) {
    CHECK_INT(edb_query(&c, "SELECT REPEAT('x', 67108864), 7", NULL, 0, &r), EDB_OK);
    if (CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW)) {
      CHECK_INT(v[0].as.text.n, 67108864);
      CHECK_INT(v[0].as.text.p[67108863], 'x');
      CHECK_INT(v[1].as.i64, 7);
    } else {
      printf("%s\n", why(&c));
    }
    edb_rows_close(&r);
    usable(&c);
  }
  /* What it would not take is not sent: the connection stays. */
  size_t most = (size_t)strtoll(one(&c, "SELECT @@max_allowed_packet", 0, NULL, 0), NULL, 10);
  char *much = malloc(most);
  if (!much) abort();
  memset(much, 'x', most);
  for (int textual = 0; textual < 2; textual++) {
    edb_parameter p = bytes(much, most);
    atomic_store(&my_layout_state, textual ? MY_LAYOUT_MISFIT : MY_LAYOUT_FITS);
    CHECK_INT(edb_query(&c, "SELECT LENGTH(?)", &p, 1, &r), EDB_INVALID_QUERY);
    CHECK(strstr(edb_detail(&c)->message, "and the server takes") != NULL);
    usable(&c);
    p.value.as.bytes.n = most / 2 - 1000;
    char expected[24];
    snprintf(expected, sizeof expected, "%zu", p.value.as.bytes.n);
    CHECK_STR(one(&c, "SELECT LENGTH(?)", 0, &p, 1), expected);
  }
  atomic_store(&my_layout_state, MY_LAYOUT_FITS);
  free(much);
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  if (!have_server("mysql_live")) return 0;
  test_values();
  test_columns();
  test_parameters();
  test_changing_parameters();
  test_lengths();
  test_large();
  CHECK_INT(blocks, 0);
  return unit_done("mysql_live");
}
