/*
** postgresql_live.c: the PostgreSQL driver on a real server, through the contract alone: values, columns,
** parameters, the ways of fetching.
**
** servers: postgresql
*/
#define LIVE_URL "EDB_TEST_POSTGRESQL_URL"
#include "live.h"

static const char *const fetches[] = {"single", "chunked", "copy", "auto"};
#define N_FETCHES 4

/* ---- Values ---------------------------------------------------------------------------------- */

static const struct {
  const char *sql, *expected;
} values[] = {
    {"NULL::int", "NULL"},
    {"true", "true"},
    {"false", "false"},
    {"(-32768)::int2", "-32768"},
    {"32767::int2", "32767"},
    {"(-2147483648)::int4", "-2147483648"},
    {"2147483647", "2147483647"},
    {"(-9223372036854775808)::int8", "-9223372036854775808"},
    {"9223372036854775807", "9223372036854775807"},
    {"0::oid", "0"},
    {"4294967295::oid", "4294967295"},
    {"0.1::float4", "0.10000000149011612"},
    {"'-3.4028235e38'::float4", "-3.4028234663852886e+38"},
    {"'1e-45'::float4", "1.4012984643248171e-45"},
    {"0.1::float8", "0.10000000000000001"},
    {"'-0'::float8", "-0"},
    {"'1.7976931348623157e308'::float8", "1.7976931348623157e+308"},
    {"'5e-324'::float8", "4.9406564584124654e-324"},
    {"2.5::float8 / 3", "0.83333333333333337"},
    {"'Infinity'::float8", "inf"},
    {"'-Infinity'::float4", "-inf"},
    {"'NaN'::float8", "nan"},
    {"0::numeric", "'0'"},
    {"'-0.000100'::numeric", "'-0.000100'"},
    {"'0.00'::numeric", "'0.00'"},
    {"'60.00'::numeric(18,2)", "'60.00'"},
    {"12345678901234567890.123456789::numeric", "'12345678901234567890.123456789'"},
    {"1e20::numeric", "'100000000000000000000'"},
    {"1e-20::numeric", "'0.00000000000000000001'"},
    {"10000::numeric", "'10000'"},
    {"99999999::numeric", "'99999999'"},
    {"100000000.0001::numeric", "'100000000.0001'"},
    {"'NaN'::numeric", "'NaN'"},
    {"'Infinity'::numeric", "'Infinity'"},
    {"'-Infinity'::numeric", "'-Infinity'"},
    {"''::text", "''"},
    {"'h\xc3\xa9llo \xf0\x9f\x90\x98'::text", "'h\xc3\xa9llo \xf0\x9f\x90\x98'"},
    {"'ab'::varchar(5)", "'ab'"},
    {"'ab'::char(5)", "'ab   '"},
    {"'ab'::name", "'ab'"},
    {"'a'::\"char\"", "'a'"},
    {"''::\"char\"", "''"},
    {"'unknown'", "'unknown'"},
    {"''::bytea", "x''"},
    {"'\\x00ff5c27'::bytea", "x'00ff5c27'"},
    {"'2024-02-29'::date", "D 2024-02-29"},
    {"'0001-01-01'::date", "D 0001-01-01"},
    {"'9999-12-31'::date", "D 9999-12-31"},
    {"'10000-01-01'::date", "'10000-01-01'"},
    {"'0044-03-15 BC'::date", "'0044-03-15 BC'"},
    {"'0001-12-31 BC'::date", "'0001-12-31 BC'"},
    {"'4713-01-01 BC'::date", "'4713-01-01 BC'"},
    {"'5874897-12-31'::date", "'5874897-12-31'"},
    {"'infinity'::date", "'infinity'"},
    {"'-infinity'::date", "'-infinity'"},
    {"'00:00:00'::time", "C 00:00:00"},
    {"'23:59:59.999999'::time", "C 23:59:59.999999"},
    {"'24:00:00'::time", "C 24:00:00"},
    {"'12:30:00.5'::time", "C 12:30:00.5"},
    {"'01:00:00+02'::timetz", "C 23:00:00Z"},
    {"'23:30:00-02:30'::timetz", "C 02:00:00Z"},
    {"'24:00:00+00'::timetz", "C 24:00:00Z"},
    {"'12:00:00.000001+15:59:59'::timetz", "C 20:00:01.000001Z"},
    {"'2024-02-29 12:34:56.789'::timestamp", "T 2024-02-29 12:34:56.789"},
    {"'1969-12-31 23:59:59.999999'::timestamp", "T 1969-12-31 23:59:59.999999"},
    {"'0001-01-01 00:00:00'::timestamp", "T 0001-01-01 00:00:00"},
    {"'9999-12-31 23:59:59.999999'::timestamp", "T 9999-12-31 23:59:59.999999"},
    {"'10000-01-01 00:00:00'::timestamp", "'10000-01-01 00:00:00'"},
    {"'0044-03-15 01:02:03.5 BC'::timestamp", "'0044-03-15 01:02:03.5 BC'"},
    {"'294276-12-31 23:59:59.999999'::timestamp", "'294276-12-31 23:59:59.999999'"},
    {"'infinity'::timestamp", "'infinity'"},
    {"'2024-02-29 12:34:56+02'::timestamptz", "T 2024-02-29 10:34:56Z"},
    {"'0044-03-15 12:00:00+00 BC'::timestamptz", "'0044-03-15 12:00:00+00 BC'"},
    {"'10000-01-01 00:00:00.25+00'::timestamptz", "'10000-01-01 00:00:00.25+00'"},
    {"'-infinity'::timestamptz", "'-infinity'"},
    {"'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"},
    {"'{\"a\": [1, null]}'::json", "'{\"a\": [1, null]}'"},
    {"'{\"b\":1,  \"a\":\"\xc3\xa9\"}'::jsonb", "'{\"a\": \"\xc3\xa9\", \"b\": 1}'"},
    {"'1234.5'::money", "'1234.50'"},
    {"'-0.05'::money", "'-0.05'"},
    {"'92233720368547758.07'::money", "'92233720368547758.07'"},
    {"B''", "''"},
    {"B'1010010111'::bit(10)", "'1010010111'"},
    {"B'1'::varbit", "'1'"},
    /* Types without a codec, in the server's own text. */
    {"'{1,2,NULL}'::int[]", "'{1,2,NULL}'"},
    {"'1 day 02:00:00'::interval", "'1 day 02:00:00'"},
    {"'192.168.0.1/24'::inet", "'192.168.0.1/24'"},
    {"'[1,5)'::int4range", "'[1,5)'"},
    {"ROW(1, 'x')", "'(1,x)'"},
    {"'(1,2)'::point", "'(1,2)'"},
    {"'pg_class'::regclass", "'pg_class'"},
    {"'sad'::edb_mood", "'sad'"},
    {"'7'::edb_small", "7"},
    {"'hello'::edb_word", "'hello'"},
    {"pg_sleep(0)", "''"},
};

#define N_VALUES (sizeof values / sizeof values[0])

/* Each value by each way: alone in binary, beside a column that makes the result text, in each mode. */
static void test_values(const char *fetch) {
  edb_connection c;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  for (size_t i = 0; i < N_VALUES; i++) {
    char sql[300];
    for (int beside = 0; beside < 2; beside++) {
      snprintf(sql, sizeof sql, "SELECT %s%s", values[i].sql, beside ? ", '1 day'::interval" : "");
      const char *got = one(&c, sql, 100000, NULL, 0);
      /* NaN's sign is nobody's concern. */
      if (strcmp(got, "-nan") == 0) got = "nan";
      if (!unit_check_str(got, values[i].expected, __FILE__, __LINE__, sql)) {
        printf("  fetch=%s\n", fetch);
      }
    }
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* What a column says of itself. */
static void test_columns(void) {
  edb_connection c;
  edb_rows r;
  const edb_column *columns;
  size_t n;
  must_open(&c);
  CHECK_INT(edb_query(&c,
                      "SELECT 1::int8 AS a, 2::numeric(5,2) AS a, '{}'::int[] AS \"b \"\"c\", "
                      "'x'::edb_mood AS e, '1'::edb_small AS \"\xc3\xa9\" LIMIT 0",
                      NULL, 0, &r),
            EDB_INVALID_QUERY); /* 'x' is no mood: found out while it is planned */
  CHECK_INT(edb_query(&c,
                      "SELECT 1::int8 AS a, 2::numeric(5,2) AS a, '{}'::int[] AS \"b \"\"c\", "
                      "'sad'::edb_mood AS e, '1'::edb_small AS \"\xc3\xa9\" LIMIT 0",
                      NULL, 0, &r),
            EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  if (CHECK_INT(n, 5)) {
    CHECK_STR(columns[0].name, "a");
    CHECK_STR(columns[0].type_name, "bigint");
    CHECK_STR(columns[0].type->name, "int8");
    CHECK_INT(columns[0].kind, EDB_I64);
    CHECK_STR(columns[1].name, "a");
    CHECK_INT(columns[1].type->declared, EDB_DECLARED_NUMERIC);
    CHECK_STR(columns[2].name, "b \"c");
    CHECK_STR(columns[2].type_name, "integer[]");
    CHECK_STR(columns[3].type_name, "edb_mood");
    CHECK_INT(columns[3].kind, EDB_TEXT);
    CHECK_STR(columns[4].name, "\xc3\xa9");
    CHECK_STR(columns[4].type_name, "smallint"); /* PostgreSQL tells the base of a domain */
  }
  edb_rows_close(&r);
  /* No columns, and statements without rows. */
  const edb_value *v;
  CHECK_INT(edb_query(&c, "SELECT FROM generate_series(1, 3)", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT(n, 0);
  for (int i = 0; i < 3; i++) CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  CHECK_INT(edb_query(&c, "SET work_mem TO '8MB'", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  CHECK_INT(edb_query(&c, "", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  /* As many columns as there can be, and one more. */
  static char sql[20000];
  for (int more = 0; more < 2; more++) {
    size_t at = (size_t)snprintf(sql, sizeof sql, "SELECT 0");
    for (int i = 1; i < 1664 + more; i++)
      at += (size_t)snprintf(sql + at, sizeof sql - at, ",%d", i);
    CHECK_INT(edb_query(&c, sql, NULL, 0, &r), more ? EDB_FAILED : EDB_OK);
    if (more) {
      CHECK_STR(edb_detail(&c)->sqlstate, "54011");
      break;
    }
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_INT(v[1663].as.i64, 1663);
    edb_rows_close(&r);
  }
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- The ways of fetching -------------------------------------------------------------------- */

static void test_ways(void) {
  static const char *const queries[] = {
      "SELECT i, CASE WHEN i % 7 <> 0 THEN 'name ' || i END, i * 0.5::float8, (i * 1.25)::numeric,"
      " date '2000-01-01' + i, md5(i::text)::uuid, decode(md5(i::text), 'hex'), i % 2 = 0"
      " FROM generate_series(1, 3000) i ORDER BY i",
      "VALUES (1, 'a'), (2, NULL), (NULL, '')",
      "  -- a comment\n /* and /* another */ */ (SELECT 1, 'x' -- at the end",
      "SELECT 1, ';'",
      "WITH t AS (SELECT 1 AS i) SELECT i FROM t FOR UPDATE",
      "WITH t AS (INSERT INTO edb_written VALUES (1) RETURNING i) SELECT i FROM t",
      "INSERT INTO edb_written SELECT generate_series(1, 1000) RETURNING i",
      "TABLE edb_small_table",
      "SELECT i FROM generate_series(1, 1024) i",
      "SELECT NULL::text FROM generate_series(1, 300)",
      "SELECT repeat('x', i * 100) FROM generate_series(1, 600) i",
      "SELECT i FROM generate_series(1, 300) i, pg_sleep(0) WHERE false",
      /* Errors: at the start, in the middle. */
      "SELECT 1 / 0 FROM generate_series(1, 10)",
      "SELECT 1 / (500000 - i) FROM generate_series(1, 600000) i",
      "SELECT (CASE WHEN i > 700 THEN 'x' ELSE '1' END)::int FROM generate_series(1, 1000) i",
      "SELECT * FROM edb_no_such_table",
      "SELECT i INTO edb_into FROM edb_no_such_table",
      "EXPLAIN (COSTS off) SELECT 1",
      "SHOW server_encoding",
  };
  for (size_t q = 0; q < sizeof queries / sizeof queries[0]; q++) {
    uint64_t sums[N_FETCHES] = {0};
    long rows[N_FETCHES] = {0};
    int codes[N_FETCHES] = {0};
    char states[N_FETCHES][6] = {""}, messages[N_FETCHES][1024] = {""};
    for (int f = 0; f < N_FETCHES; f++) {
      edb_connection c;
      edb_statement s;
      edb_rows r;
      char sql[400];
      snprintf(sql, sizeof sql, "%s%s", queries[q], strstr(queries[q], "at the end") ? "\n)" : "");
      if (!CHECK_INT(open_with("fetch", fetches[f], &c), EDB_OK)) return;
      codes[f] = edb_prepare(&c, sql, 1e6, &s);
      if (codes[f] == EDB_OK) codes[f] = edb_statement_query(&s, NULL, 0, &r);
      if (codes[f] == EDB_OK) {
        codes[f] = read_all(&r, &sums[f], &rows[f]);
        if (codes[f] != EDB_DONE) codes[f] += 100; /* while reading */
      }
      snprintf(states[f], sizeof states[f], "%s", edb_detail(&c)->sqlstate);
      snprintf(messages[f], sizeof messages[f], "%s", edb_detail(&c)->message);
      edb_rows_close(&r);
      usable(&c);
      edb_statement_close(&s);
      CHECK_INT(edb_close(&c), EDB_OK);
      if (f == 0) continue;
      int same = codes[f] % 100 == codes[0] % 100 && strcmp(states[f], states[0]) == 0 &&
                 strcmp(messages[f], messages[0]) == 0 &&
                 (codes[f] != EDB_DONE || (rows[f] == rows[0] && sums[f] == sums[0]));
      if (!CHECK(same)) {
        printf("  %s\n  single: %d %s %s, %ld rows\n  %s: %d %s %s, %ld rows\n", sql, codes[0],
               states[0], messages[0], rows[0], fetches[f], codes[f], states[f], messages[f],
               rows[f]);
      }
    }
  }
}

/* Owned rows outlive their reader. */
static void test_owned(void) {
  edb_connection c;
  edb_rows r;
  edb_row row = {.host = &host};
  must_open(&c);
  CHECK_INT(edb_query(&c, "SELECT 'text', 1.50::numeric, NULL, '\\x00'::bytea", NULL, 0, &r),
            EDB_OK);
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  edb_rows_close(&r);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_TEXT(row.values[0].as.text.p, row.values[0].as.text.n, "text");
  CHECK_TEXT(row.values[1].as.text.p, row.values[1].as.text.n, "1.50");
  CHECK_INT(row.values[2].kind, EDB_NULL);
  CHECK_TEXT(row.values[3].as.bytes.p, row.values[3].as.bytes.n, "\0");
  edb_row_clear(&row);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static void bound(edb_connection *c, const char *type, edb_parameter p, const char *expected,
                  int line) {
  char sql[100];
  snprintf(sql, sizeof sql, "SELECT $1::%s", type);
  if (!unit_check_str(one(c, sql, 0, &p, 1), expected, __FILE__, line, sql)) return;
  /* The same unprepared. */
  edb_rows r;
  const edb_value *v;
  int rc = edb_query(c, sql, &p, 1, &r);
  if (rc == EDB_OK) rc = edb_rows_next_borrowed(&r, &v);
  if (rc == EDB_ROW) unit_check_str(shown(v), expected, __FILE__, line, sql);
  unit_check((rc != EDB_ROW) == (strncmp(expected, "error", 5) == 0), __FILE__, line, sql);
  edb_rows_close(&r);
}

#define BOUND(type, parameter, expected) bound(&c, type, parameter, expected, __LINE__)

static void test_parameters(void) {
  edb_connection c;
  must_open(&c);
  BOUND("int2", integer(32767), "32767");
  BOUND("int2", integer(70000), "error 5  parameter $1: 70000 is out of range for smallint");
  BOUND("int2", integer(-32769), "error 5  parameter $1: -32769 is out of range for smallint");
  BOUND("int4", integer(INT64_C(2147483648)),
        "error 5  parameter $1: 2147483648 is out of range for integer");
  BOUND("int8", integer(INT64_MIN), "-9223372036854775808");
  BOUND("int8", real(3.0), "3");
  BOUND("int8", real(3.5), "error 5  parameter $1: a floating-point number does not fit bigint");
  BOUND("int8", real(9.3e18), "error 5  parameter $1: 9.3e+18 is out of range for bigint");
  BOUND("int8", real((double)NAN), "error 5  parameter $1: NaN is out of range for bigint");
  BOUND("int8", text("17"), "17");
  BOUND("int8", text("x"), "error 5 22P02 invalid input syntax for type bigint: \"x\"");
  BOUND("int8", bytes("x", 1), "error 5  parameter $1: bytes does not fit bigint");
  BOUND("oid", integer(-1), "error 5  parameter $1: -1 is out of range for oid");
  BOUND("bool", integer(1), "true");
  BOUND("bool", integer(0), "false");
  BOUND("bool", integer(2), "error 5  parameter $1: 2 is out of range for boolean");
  BOUND("bool", text("yes"), "true");
  BOUND("float8", real(0.1), "0.10000000000000001");
  BOUND("float8", integer(7), "7");
  BOUND("float4", real(0.1), "0.10000000149011612");
  BOUND("float4", real(1e39), "error 5  parameter $1: 1e+39 is out of range for real");
  BOUND("float4", real(-(double)INFINITY), "-inf");
  BOUND("float4", real(1e-60), "error 5  parameter $1: 1e-60 is out of range for real");
  BOUND("numeric", real(0.1), "'0.1'");
  BOUND(
      "numeric", real(1e300 * 10),
      "'10000000000000000" /* 1e301 in full */
      "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
      "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
      "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
      "000000000'");
  BOUND("numeric", integer(INT64_MAX), "'9223372036854775807'");
  BOUND("numeric", text("-0.000100"), "'-0.000100'");
  edb_parameter u = {NULL, {.kind = EDB_U64}};
  u.value.as.u64 = UINT64_MAX;
  BOUND("numeric", u, "'18446744073709551615'");
  BOUND("int8", u, "error 5  parameter $1: 18446744073709551615 is out of range for bigint");
  BOUND("text", text("h\xc3\xa9"), "'h\xc3\xa9'");
  BOUND("text", text(""), "''");
  BOUND("text", null(), "NULL");
  BOUND("text", integer(5), "'5'");
  BOUND("text", real(0.1), "'0.1'");
  BOUND("text", bytes("x", 1), "error 5  parameter $1: bytes does not fit text");
  edb_parameter nul = text("abc");
  nul.value.as.text.p = "a\0b";
  BOUND("text", nul, "error 5  parameter $1: PostgreSQL's text cannot hold a NUL character");
  BOUND("inet", nul, "error 5  parameter $1: PostgreSQL's text cannot hold a NUL character");
  BOUND("bytea", nul, "x'610062'");
  BOUND("text", text("\xff\xfe"),
        "error 5 22021 invalid byte sequence for encoding \"UTF8\": 0xff");
  BOUND("bytea", bytes("\0\xff", 2), "x'00ff'");
  BOUND("bytea", bytes("", 0), "x''");
  BOUND("bytea", text("\\x41"), "x'5c783431'"); /* text is its bytes */
  BOUND("date", moment(EDB_DATE, 19782, 0, 0), "D 2024-02-29");
  BOUND("date", text("2024-02-29"), "D 2024-02-29");
  BOUND("date", text("infinity"), "'infinity'");
  BOUND("date", integer(20240101), "error 5  parameter $1: an integer does not fit date");
  BOUND("date", moment(EDB_DATETIME, 19782, 1, 0),
        "error 5  parameter $1: a date or time does not fit date");
  BOUND("timestamp", moment(EDB_DATETIME, -1, INT64_C(86399999999000), 0),
        "T 1969-12-31 23:59:59.999999");
  BOUND("timestamp", moment(EDB_DATE, -719162, 0, 0), "T 0001-01-01 00:00:00");
  BOUND("timestamptz", moment(EDB_DATETIME, 2932896, 0, 1), "T 9999-12-31 00:00:00Z");
  BOUND("timestamptz", text("2024-02-29 12:00:00Z"), "T 2024-02-29 12:00:00Z");
  BOUND("time", moment(EDB_CLOCK, 0, INT64_C(86400000000000), 0), "C 24:00:00");
  BOUND("time", moment(EDB_CLOCK, 0, -1000, 0),
        "error 5  parameter $1: it is out of range for time without time zone");
  BOUND("timetz", moment(EDB_CLOCK, 0, 1000, 1), "C 00:00:00.000001Z");
  BOUND("interval", text("1 day"), "'1 day'");
  BOUND("uuid", text("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'");
  BOUND("json", text("{\"a\":1}"), "'{\"a\":1}'");
  BOUND("jsonb", text("{\"a\":1}"), "'{\"a\": 1}'");
  BOUND("int8[]", text("{1,2,3}"), "'{1,2,3}'");
  BOUND("money", text("12.5"), "'12.50'");
  BOUND("bit(4)", text("1010"), "'1010'");
  BOUND("edb_mood", text("sad"), "'sad'");
  BOUND("edb_small", integer(7), "7");
  BOUND("edb_small", integer(70000), "error 5  parameter $1: 70000 is out of range for smallint");

  edb_parameter two[2] = {integer(1), integer(2)};
  CHECK_STR(one(&c, "SELECT $1::int", 0, two, 2),
            "error 5  the statement has 1 parameter, 2 given");
  CHECK_STR(one(&c, "SELECT $1::int + $2", 0, two, 1),
            "error 5  the statement has 2 parameters, 1 given");
  CHECK_STR(one(&c, "SELECT $1::int + $2", 0, two, 2), "3");
  two[0].name = ":a";
  CHECK_STR(one(&c, "SELECT $1::int + $2", 0, two, 2),
            "error 8  PostgreSQL's parameters are numbered ($1, $2, ...), not named");
  CHECK_STR(
      one(&c, "SELECT 1 WHERE 2 = ANY ($1::text::int8[])", 0, (edb_parameter[]){text("{1,2}")}, 1),
      "1");
  /* A domain of a table's column is encoded as its base. */
  int64_t affected;
  CHECK_INT(edb_execute(&c, "INSERT INTO edb_domains VALUES ($1, $2)",
                        (edb_parameter[]){integer(5), text("w")}, 2, &affected),
            EDB_OK);
  CHECK_INT(affected, 1);
  CHECK_INT(edb_execute(&c, "INSERT INTO edb_domains VALUES ($1, $2)",
                        (edb_parameter[]){integer(99999), text("w")}, 2, &affected),
            EDB_INVALID_QUERY);
  CHECK_INT(edb_execute(&c, "INSERT INTO edb_domains VALUES ($1, $2)",
                        (edb_parameter[]){integer(-5), text("w")}, 2, &affected),
            EDB_CONSTRAINT);
  CHECK_STR(edb_detail(&c)->sqlstate, "23514");
  /* The most parameters, and a statement used again and again. */
  edb_statement s;
  CHECK_INT(edb_prepare(&c, "SELECT $1::int * 2", 1, &s), EDB_OK);
  for (int i = 0; i < 100; i++) {
    edb_rows r;
    const edb_value *v;
    edb_parameter p = integer(i);
    CHECK_INT(edb_statement_query(&s, &p, 1, &r), EDB_OK);
    if (CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW)) CHECK_INT(v[0].as.i64, 2 * i);
    edb_rows_close(&r);
  }
  edb_statement_close(&s);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static void test_large(const char *fetch) {
  edb_connection c;
  edb_statement s;
  edb_rows r;
  const edb_value *v;
  size_t size = 200000000;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  static const char *const sql[] = {"SELECT repeat('x', 200000000), 1",
                                    "SELECT decode(repeat('78', 200000000), 'hex'), 1"};
  for (int i = 0; i < 2; i++) {
    CHECK_INT(edb_prepare(&c, sql[i], 100000, &s), EDB_OK);
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
    if (CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW)) {
      CHECK_INT(v[0].kind, i ? EDB_BYTES : EDB_TEXT);
      CHECK_INT(v[0].as.text.n, size);
      CHECK(v[0].as.text.p[0] == 'x' && v[0].as.text.p[size - 1] == 'x');
      CHECK_INT(v[1].as.i64, 1);
    }
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    edb_statement_close(&s);
  }
  /* And to the server. */
  char *big = malloc(size);
  if (big) {
    memset(big, 'y', size);
    edb_parameter p = bytes(big, size);
    CHECK_STR(one(&c, "SELECT length($1::bytea)", 0, &p, 1), "200000000");
    free(big);
  }
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
}

static long resident_kb(void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f) return 0;
  if (fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
  fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void test_flat(const char *fetch) {
  edb_connection c;
  edb_statement s;
  edb_rows r;
  const edb_value *v;
  int rc;
  long small = 0;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  for (int n = 10000; n <= 1000000; n *= 100) {
    char sql[200];
    long peak = 0, rows = 0;
    snprintf(sql, sizeof sql,
             "SELECT i, 'name ' || i, i * 0.5::float8, i::numeric FROM generate_series(1, %d) i",
             n);
    CHECK_INT(edb_prepare(&c, sql, 1e6, &s), EDB_OK);
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
    while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) {
      if (++rows % 1000 == 0 && resident_kb() > peak) peak = resident_kb();
    }
    CHECK_INT(rc, EDB_DONE);
    CHECK_INT(rows, n);
    edb_rows_close(&r);
    edb_statement_close(&s);
    if (n == 10000) small = peak;
    if (n > 10000 && !SANITIZED && !CHECK(peak - small <= 2048))
      printf("  %ld, then %ld kB\n", small, peak);
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static const char *const setup[] = {
    "DROP TABLE IF EXISTS edb_written, edb_small_table, edb_domains",
    "DROP TYPE IF EXISTS edb_mood CASCADE",
    "DROP DOMAIN IF EXISTS edb_small, edb_word",
    "CREATE TYPE edb_mood AS ENUM ('sad', 'glad')",
    "CREATE DOMAIN edb_small AS int2 CHECK (value > 0)",
    "CREATE DOMAIN edb_word AS text",
    "CREATE TABLE edb_written (i int)",
    "CREATE TABLE edb_small_table AS SELECT 1 AS a, 'x'::text AS b",
    "CREATE TABLE edb_domains (a edb_small, b edb_word)",
};

int main(void) {
  if (!have_server("postgresql_live")) return 0;
  edb_connection c;
  must_open(&c);
  for (size_t i = 0; i < sizeof setup / sizeof setup[0]; i++) run(&c, setup[i]);
  printf("%s\n", edb_connection_driver(&c)->library());
  CHECK_INT(edb_close(&c), EDB_OK);
  for (int f = 0; f < N_FETCHES; f++) test_values(fetches[f]);
  test_columns();
  test_ways();
  test_owned();
  test_parameters();
  for (int f = 0; f < N_FETCHES; f++) test_flat(fetches[f]);
  test_large("auto");
  test_large("copy");
  CHECK_INT(blocks, 0);
  return unit_done("postgresql_live");
}
