/*
** The SQL Server driver against tdsd: values of all types, columns, parameters, counts, long values.
**
** servers: sqlserver
*/
#define LIVE_URL "EDB_TEST_SQLSERVER_URL"
#include "live.h"

/* ---- Values ---------------------------------------------------------------------------------- */

/* A column's type, the value's SQL, what it is. */
static const struct {
  const char *type, *sql, *expected;
} values[] = {
    {"bit", "1", "true"},
    {"bit", "0", "false"},
    {"bit", "NULL", "NULL"},
    {"tinyint", "255", "255"},
    {"smallint", "-32768", "-32768"},
    {"int", "-2147483648", "-2147483648"},
    {"bigint", "-9223372036854775808", "-9223372036854775808"},
    {"bigint", "9223372036854775807", "9223372036854775807"},
    {"real", "0.1", "0.10000000149011612"},
    {"float", "0.1e0", "0.10000000000000001"},
    {"float", "'-1.7976931348623157e308'", "-1.7976931348623157e+308"},
    {"decimal(38,38)", "0.12345678901234567890123456789012345678",
     "'0.12345678901234567890123456789012345678'"},
    {"decimal(38,0)", "-99999999999999999999999999999999999999",
     "'-99999999999999999999999999999999999999'"},
    {"decimal(10,6)", "-0.0001", "'-0.000100'"},
    {"numeric(5,2)", "60", "'60.00'"},
    {"money", "-17.8", "'-17.8000'"},
    {"money", "-922337203685477.5808", "'-922337203685477.5808'"},
    {"smallmoney", "214748.3647", "'214748.3647'"},
    {"date", "'0001-01-01'", "D 0001-01-01"},
    {"date", "'9999-12-31'", "D 9999-12-31"},
    {"time(7)", "'23:59:59.9999999'", "C 23:59:59.9999999"},
    {"time(0)", "'01:02:03'", "C 01:02:03"},
    {"datetime", "'1753-01-01 00:00:00'", "T 1753-01-01 00:00:00"},
    {"datetime", "'2024-02-29 01:02:03.003'", "T 2024-02-29 01:02:03.003"},
    {"datetime", "'2024-02-29 01:02:03.007'", "T 2024-02-29 01:02:03.007"},
    {"datetime", "'2024-02-29 23:59:59.997'", "T 2024-02-29 23:59:59.997"},
    {"smalldatetime", "'2024-02-29 01:02:00'", "T 2024-02-29 01:02:00"},
    {"datetime2(7)", "'0001-01-01 00:00:00.0000001'", "T 0001-01-01 00:00:00.0000001"},
    {"datetime2(3)", "'2024-02-29 01:02:03.12'", "T 2024-02-29 01:02:03.12"},
    {"datetimeoffset(7)", "'2024-07-01 12:00:00.5 +02:00'", "T 2024-07-01 10:00:00.5Z"},
    {"datetimeoffset(0)", "'2024-01-01 00:30:00 +01:00'", "T 2023-12-31 23:30:00Z"},
    {"uniqueidentifier", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
     "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"},
    {"char(5)", "'ab'", "'ab   '"},
    {"varchar(5)", "'ab '", "'ab '"},
    {"varchar(10)", "''", "''"},
    {"nvarchar(20)", "N'h\xc3\xa9llo \xf0\x9f\x98\x80'", "'h\xc3\xa9llo \xf0\x9f\x98\x80'"},
    {"nchar(3)", "N'\xc3\xa9'", "'\xc3\xa9  '"},
    {"nvarchar(max)", "N'\xe2\x82\xac'", "'\xe2\x82\xac'"},
    {"varchar(max)", "'long'", "'long'"},
    {"text", "'old'", "'old'"},
    {"ntext", "N'\xc3\xa9'", "'\xc3\xa9'"},
    {"varbinary(8)", "0x00FF10", "x'00ff10'"},
    {"varbinary(max)", "0x", "x''"},
    {"binary(4)", "0x01", "x'01000000'"},
    {"image", "0x0102", "x'0102'"},
    {"xml", "'<a>1</a>'", "'<a>1</a>'"},
    {"sql_variant", "CAST(1.50 AS decimal(5,2))", "'1.50'"},
    {"sql_variant", "CAST(7 AS int)", "7"},
    {"sql_variant", "N'x'", "'x'"},
    {"varchar(20) COLLATE Cyrillic_General_CI_AS", "N'\xd0\xb6'", "'\xd0\xb6'"},
    {"varchar(20) COLLATE SQL_Latin1_General_CP437_CI_AS", "N'\xc3\xa9'", "'\xc3\xa9'"},
    {"varchar(20) COLLATE SQL_Latin1_General_CP850_CI_AS", "N'\xc3\xa9'", "'\xc3\xa9'"},
    {"varchar(20) COLLATE Japanese_CI_AS", "N'\xe6\x97\xa5\xe6\x9c\xac'",
     "'\xe6\x97\xa5\xe6\x9c\xac'"},
};

static void test_values(edb_connection *c) {
  char sql[600];
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    snprintf(sql, sizeof sql, "CREATE TABLE edb_v (v %s)", values[i].type);
    run(c, sql);
    snprintf(sql, sizeof sql, "INSERT INTO edb_v VALUES (%s)", values[i].sql);
    run(c, sql);
    CHECK_STR(one(c, "SELECT v FROM edb_v", 0, NULL, 0), values[i].expected);
    run(c, "DROP TABLE edb_v");
  }
}

/* ---- Parameters -------------------------------------------------------------------------------- */

static const char *echo(edb_connection *c, edb_parameter p) { return one(c, "SELECT ?", 0, &p, 1); }

static void test_parameters(edb_connection *c) {
  edb_parameter p = {NULL, {.kind = EDB_BOOL}};
  p.value.as.boolean = 1;
  CHECK_STR(echo(c, p), "true");
  p.value.kind = EDB_U64;
  p.value.as.u64 = UINT64_MAX;
  CHECK_STR(echo(c, p), "'18446744073709551615'");
  CHECK_STR(echo(c, integer(INT64_MIN)), "-9223372036854775808");
  CHECK_STR(echo(c, real(0.1)), "0.10000000000000001");
  CHECK_STR(echo(c, text("")), "''");
  CHECK_STR(echo(c, text("plain")), "'plain'");
  CHECK_STR(echo(c, text("\xc3\xa9\xf0\x9f\x98\x80")), "'\xc3\xa9\xf0\x9f\x98\x80'");
  CHECK_STR(echo(c, bytes("\0\1\xff", 3)), "x'0001ff'");
  CHECK_STR(echo(c, bytes("", 0)), "x''");
  CHECK_STR(echo(c, moment(EDB_DATE, 19782, 0, 0)), "D 2024-02-29");
  CHECK_STR(echo(c, moment(EDB_CLOCK, 0, 100, 0)), "C 00:00:00.0000001");
  CHECK_STR(echo(c, moment(EDB_DATETIME, 19782, 1500000000, 0)), "T 2024-02-29 00:00:01.5");
  CHECK_STR(echo(c, moment(EDB_DATETIME, 19782, 0, 1)), "T 2024-02-29 00:00:00Z");
  CHECK_STR(echo(c, null()), "NULL");
  /* What no type there can hold is told before it is sent. */
  edb_parameter beyond = moment(EDB_CLOCK, 0, INT64_C(100) * 3600 * 1000000000, 0);
  CHECK(strncmp(one(c, "SELECT ?", 0, &beyond, 1), "error 5", 7) == 0);
  CHECK(strstr(one(c, "SELECT ?, ?", 0, &beyond, 1), "has 2 parameters, 1 were given") != NULL);
  edb_parameter named = integer(1);
  named.name = ":a";
  CHECK(strncmp(one(c, "SELECT ?", 0, &named, 1), "error 8", 7) == 0);
  /* What looks like a placeholder and is none. */
  edb_parameter two = integer(2);
  CHECK_STR(one(c, "SELECT '?' /* ? /* ? */ */ + CAST(? AS varchar(5)) -- ?", 0, &two, 1), "'?2'");
  CHECK_STR(one(c, "SELECT [a?] FROM (SELECT ? AS [a?]) AS t", 0, &two, 1), "2");
  usable(c);
}

/* A NULL goes where an nvarchar would not convert to. */
static void test_null_parameters(edb_connection *c) {
  edb_statement s;
  edb_parameter p[2];
  int64_t affected;
  run(c, "CREATE TABLE edb_n (id int, b varbinary(10))");
  CHECK_INT(edb_prepare(c, "INSERT INTO edb_n VALUES (?, ?)", 0, &s), EDB_OK);
  for (int i = 0; i < 8; i++) {
    p[0] = integer(i);
    p[1] = i % 2 == 0 ? null() : bytes("ab", 2);
    CHECK_INT(edb_statement_execute(&s, p, 2, &affected), EDB_OK);
    CHECK_INT(affected, 1);
  }
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_STR(one(c, "SELECT count(*) FROM edb_n WHERE b IS NULL", 0, NULL, 0), "4");
  CHECK_STR(one(c, "SELECT count(*) FROM edb_n WHERE b = 0x6162", 0, NULL, 0), "4");
  run(c, "DROP TABLE edb_n");
}

/* One statement, values of types that change: each is right, and the handle is that of its types. */
static void test_changing_types(edb_connection *c) {
  edb_statement s;
  edb_rows r;
  const edb_value *v;
  const edb_parameter p[] = {integer(1), integer(2), text("a"), text("\xc3\xa9"), text("b"),
                             real(1.5),  null(),     real(2.5), integer(3)};
  const char *const expected[] = {"1", "2", "'a'", "'\xc3\xa9'", "'b'", "1.5", "NULL", "2.5", "3"};
  CHECK_INT(edb_prepare(c, "SELECT ?", 0, &s), EDB_OK);
  for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
    CHECK_INT(edb_statement_query(&s, &p[i], 1, &r), EDB_OK);
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_STR(shown(v), expected[i]);
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
    CHECK_INT(edb_rows_close(&r), EDB_OK);
  }
  CHECK_INT(edb_statement_close(&s), EDB_OK);
}

/* Handles are given back, many at a time. */
static void test_many_statements(edb_connection *c) {
  for (int i = 0; i < 60; i++) {
    edb_statement s;
    edb_parameter p = integer(i);
    int64_t affected;
    CHECK_INT(edb_prepare(c, "SELECT ?", 0, &s), EDB_OK);
    for (int k = 0; k < 3; k++) CHECK_INT(edb_statement_execute(&s, &p, 1, &affected), EDB_OK);
    CHECK_INT(affected, 0);
    CHECK_INT(edb_statement_close(&s), EDB_OK);
  }
  usable(c);
}

/* ---- Columns, counts ------------------------------------------------------------------------------ */

static void test_columns(edb_connection *c) {
  static const struct {
    const char *name, *type_name;
    edb_kind kind;
    int nullable;
  } expected[] = {{"id", "int", EDB_I64, 0},          {"n", "nvarchar(50)", EDB_TEXT, 1},
                  {"m", "varchar(max)", EDB_TEXT, 1}, {"d", "decimal(10,2)", EDB_TEXT, 1},
                  {"t", "datetime2(3)", EDB_TIME, 1}, {"\xc3\xa9", "varbinary(8)", EDB_BYTES, 1}};
  edb_rows r;
  const edb_column *columns;
  size_t n;
  run(c, "CREATE TABLE edb_c (id int NOT NULL, n nvarchar(50), m varchar(max), d decimal(10,2),"
         " t datetime2(3), [\xc3\xa9] varbinary(8))");
  CHECK_INT(edb_query(c, "SELECT * FROM edb_c", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT((int)n, 6);
  for (size_t i = 0; i < n; i++) {
    CHECK_STR(columns[i].name, expected[i].name);
    CHECK_STR(columns[i].type_name, expected[i].type_name);
    CHECK_INT(columns[i].kind, expected[i].kind);
    CHECK_INT(columns[i].nullable, expected[i].nullable);
  }
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  /* A statement without rows. */
  CHECK_INT(edb_query(c, "INSERT INTO edb_c (id) VALUES (1)", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT((int)n, 0);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  run(c, "DROP TABLE edb_c");
}

/* A SELECT's count is of rows that were read. */
static void test_counts(edb_connection *c) {
  int64_t affected;
  edb_parameter p = integer(2);
  CHECK_INT(edb_execute(c, "CREATE TABLE edb_k (a int)", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 0);
  CHECK_INT(edb_execute(c, "INSERT INTO edb_k VALUES (1), (2), (3)", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 3);
  CHECK_INT(edb_execute(c, "SELECT * FROM edb_k", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 0);
  CHECK_INT(edb_execute(c, "UPDATE edb_k SET a = a WHERE a >= ?", &p, 1, &affected), EDB_OK);
  CHECK_INT(affected, 2);
  CHECK_INT(edb_execute(c, "SELECT * FROM edb_k; DELETE FROM edb_k", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 3);
  run(c, "DROP TABLE edb_k");
}

/* ---- Long values ------------------------------------------------------------------------------------- */

static void test_long(edb_connection *c, size_t n) {
  char *p = malloc(n);
  edb_rows r;
  const edb_value *v;
  edb_parameter parameters[2];
  long before = blocks;
  for (size_t i = 0; i < n; i++) p[i] = (char)('a' + i % 26);
  if (n >= 4) memcpy(p + n - 4, "\xf0\x9f\x98\x80", 4); /* travels as UTF-16 */
  parameters[0] = bytes(p, n);
  parameters[1] = parameters[0];
  parameters[1].value.kind = EDB_TEXT;
  double began = seconds();
  CHECK_INT(edb_query(c, "SELECT ?, ?", parameters, 2, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  for (int i = 0; i < 2; i++) {
    CHECK_INT(v[i].kind, i == 0 ? EDB_BYTES : EDB_TEXT);
    CHECK(v[i].as.text.n == n && memcmp(v[i].as.text.p, p, n) == 0);
  }
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK(SANITIZED || seconds() - began < 20);
  CHECK(blocks <= before + 3); /* rooms, and the parameters */
  free(p);
  usable(c);
}

int main(void) {
  edb_connection c;
  if (!have_server("sqlserver_live")) return 0;
  must_open(&c);
  test_values(&c);
  test_parameters(&c);
  test_null_parameters(&c);
  test_changing_types(&c);
  test_many_statements(&c);
  test_columns(&c);
  test_counts(&c);
  test_long(&c, 3999);
  test_long(&c, 8001);
  test_long(&c, 100 << 10);
  test_long(&c, 20 << 20);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(blocks, 0);
  return unit_done("sqlserver_live");
}
