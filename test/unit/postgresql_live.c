/*
** postgresql_live.c: the PostgreSQL driver against a real server, through the contract alone.
**
** servers: postgresql
**
** EDB_TEST_POSTGRESQL_URL says where; EDB_TEST_POSTGRESQL_URL_NOPASSWORD is the same without the password.
*/
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "drivers/driver.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- The host ------------------------------------------------------------------------------------ */

static long blocks;     /* allocated and not freed */
static long fail_after; /* allocations that succeed before one fails; 0: all do */
static char last_log[400];
static atomic_int interrupted;

static void *resize(void *context, void *memory, size_t size) {
  (void)context;
  if (size == 0) {
    if (memory) blocks--;
    free(memory);
    return NULL;
  }
  if (fail_after > 0 && --fail_after == 0) return NULL;
  void *p = realloc(memory, size);
  if (p && !memory) blocks++;
  return p;
}

static void on_log(void *context, const char *text, size_t n) {
  (void)context;
  snprintf(last_log, sizeof last_log, "%.*s", (int)n, text);
}

static int is_interrupted(void *context) {
  (void)context;
  return atomic_load(&interrupted);
}

static edb_host host = {NULL, resize, on_log, is_interrupted, 0};

static const char *url;

static int open_with(const char *name, const char *value, edb_connection *c) {
  edb_error error;
  edb_option option = {name, value};
  int rc = edb_open(url, &option, name ? 1 : 0, &host, c, &error);
  if (rc != EDB_OK) printf("  open: %s\n", error.message);
  return rc;
}

static void must_open(edb_connection *c) {
  if (open_with(NULL, NULL, c) != EDB_OK) {
    CHECK(!"a connection");
    exit(unit_done("postgresql_live"));
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Words --------------------------------------------------------------------------------------- */

static edb_parameter text(const char *p) {
  edb_parameter parameter = {NULL, {.kind = EDB_TEXT}};
  parameter.value.as.text.p = p;
  parameter.value.as.text.n = strlen(p);
  return parameter;
}

static edb_parameter integer(int64_t i) {
  edb_parameter parameter = {NULL, {.kind = EDB_I64}};
  parameter.value.as.i64 = i;
  return parameter;
}

static edb_parameter real(double d) {
  edb_parameter parameter = {NULL, {.kind = EDB_F64}};
  parameter.value.as.f64 = d;
  return parameter;
}

static edb_parameter null(void) {
  edb_parameter parameter = {NULL, {.kind = EDB_NULL}};
  return parameter;
}

static edb_parameter bytes(const char *p, size_t n) {
  edb_parameter parameter = {NULL, {.kind = EDB_BYTES}};
  parameter.value.as.bytes.p = p;
  parameter.value.as.bytes.n = n;
  return parameter;
}

static edb_parameter moment(edb_time_form form, int32_t days, int64_t nanos, int zoned) {
  edb_parameter parameter = {NULL, {.kind = EDB_TIME}};
  parameter.value.as.time.form = (uint8_t)form;
  parameter.value.as.time.days = days;
  parameter.value.as.time.nanos = nanos;
  parameter.value.as.time.zoned = (uint8_t)zoned;
  return parameter;
}

static const char *shown(const edb_value *v) {
  static char out[20000];
  switch (v->kind) {
  case EDB_NULL:
    return "NULL";
  case EDB_BOOL:
    return v->as.boolean ? "true" : "false";
  case EDB_I64:
    snprintf(out, sizeof out, "%" PRId64, v->as.i64);
    break;
  case EDB_U64:
    snprintf(out, sizeof out, "%" PRIu64, v->as.u64);
    break;
  case EDB_F64:
    snprintf(out, sizeof out, "%.17g", v->as.f64);
    break;
  case EDB_TEXT:
    snprintf(out, sizeof out, "'%.*s'", (int)v->as.text.n, v->as.text.p);
    break;
  case EDB_BYTES: {
    size_t n = (size_t)snprintf(out, sizeof out, "x'");
    for (size_t i = 0; i < v->as.bytes.n && i < 100; i++) {
      n += (size_t)snprintf(out + n, sizeof out - n, "%02x", (unsigned char)v->as.bytes.p[i]);
    }
    snprintf(out + n, sizeof out - n, "'");
    break;
  }
  case EDB_TIME: {
    size_t n = (size_t)snprintf(out, sizeof out, "%c ", "?DCT"[v->as.time.form]);
    edb_time_text(&v->as.time, out + n);
    break;
  }
  }
  return out;
}

static const char *why(const edb_connection *c) {
  static char out[1700];
  const edb_error *e = edb_detail(c);
  snprintf(out, sizeof out, "%d %s %s", e->code, e->sqlstate, e->message);
  return out;
}

/* The first value of the first row, as shown; an error as "error CODE SQLSTATE MESSAGE". */
static const char *one(edb_connection *c, const char *sql, double expected,
                       const edb_parameter *parameters, size_t n) {
  static char out[20000];
  edb_statement s;
  edb_rows r;
  const edb_value *v;
  int rc = edb_prepare(c, sql, expected, &s);
  if (rc == EDB_OK) rc = edb_statement_query(&s, parameters, n, &r);
  if (rc == EDB_OK) {
    rc = edb_rows_next_borrowed(&r, &v);
    if (rc == EDB_ROW) snprintf(out, sizeof out, "%s", shown(v));
    if (rc == EDB_DONE) snprintf(out, sizeof out, "no row");
    if (rc == EDB_ROW || rc == EDB_DONE) rc = EDB_OK;
    if (rc != EDB_OK) snprintf(out, sizeof out, "error %s", why(c));
    edb_rows_close(&r);
  } else {
    snprintf(out, sizeof out, "error %s", why(c));
  }
  edb_statement_close(&s);
  return out;
}

static void run(edb_connection *c, const char *sql) {
  if (edb_execute(c, sql, NULL, 0, NULL) != EDB_OK) {
    printf("  %s: %s\n", sql, why(c));
    CHECK(!"it runs");
  }
}

static void usable(edb_connection *c) { CHECK_STR(one(c, "SELECT 42", 0, NULL, 0), "42"); }

/* ---- Values ---------------------------------------------------------------------------------------- */

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

/* ---- The ways of fetching ---------------------------------------------------------------------------- */

static uint64_t hash(uint64_t h, const void *p, size_t n) {
  const unsigned char *u = p;
  for (size_t i = 0; i < n; i++) h = (h ^ u[i]) * UINT64_C(1099511628211);
  return h;
}

/* Reads all; the sum of the values in *sum, the rows in *rows; the code at the end. */
static int read_all(edb_rows *r, uint64_t *sum, long *rows) {
  const edb_column *columns;
  const edb_value *v;
  size_t n;
  int rc;
  *sum = 0;
  *rows = 0;
  edb_rows_columns(r, &columns, &n);
  while ((rc = edb_rows_next_borrowed(r, &v)) == EDB_ROW) {
    for (size_t i = 0; i < n; i++) {
      const char *s = shown(&v[i]);
      *sum = hash(*sum, s, strlen(s) + 1);
    }
    ++*rows;
  }
  return rc;
}

static const char *const fetches[] = {"single", "chunked", "copy", "auto"};
#define N_FETCHES 4

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
      "SELECT (i::text || CASE WHEN i > 700 THEN 'x' ELSE '' END)::int FROM generate_series(1, "
      "1000) i",
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

/* ---- Parameters -------------------------------------------------------------------------------------- */

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
  BOUND("int8", real(NAN), "error 5  parameter $1: NaN is out of range for bigint");
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
  BOUND("float4", real(-INFINITY), "-inf");
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

/* ---- Order, transactions, errors ----------------------------------------------------------------------- */

static void test_busy(void) {
  edb_connection c;
  edb_statement s, s2;
  edb_rows r, r2;
  edb_transaction t, t2;
  const edb_value *v;
  must_open(&c);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_begin(&c, &t2), EDB_INVALID_QUERY);
  CHECK_INT(edb_prepare(&c, "SELECT i FROM generate_series(1, 5) i", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_statement_execute(&s, NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_statement_close(&s), EDB_BUSY);
  CHECK_INT(edb_query(&c, "SELECT 1", NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s2), EDB_BUSY);
  CHECK_INT(edb_begin(&c, &t2), EDB_BUSY);
  CHECK_INT(edb_transaction_execute(&t, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_transaction_query(&t, "SELECT 1", NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_transaction_commit(&t), EDB_BUSY);
  CHECK_INT(edb_transaction_rollback(&t), EDB_BUSY);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_alive(&c), 1);
  /* The reader is none the worse for it, and still open at its end. */
  for (int i = 0; i < 4; i++) CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_CLOSED);
}

static void test_transactions(void) {
  edb_connection c;
  edb_transaction t;
  int64_t affected;
  must_open(&c);
  run(&c, "CREATE TEMP TABLE tx (i int PRIMARY KEY)");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1), (2)", NULL, 0, &affected),
            EDB_OK);
  CHECK_INT(affected, 2);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "0");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "1");
  /* A failed one is not committed in silence. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (2)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1)", NULL, 0, NULL),
            EDB_CONSTRAINT);
  CHECK_STR(edb_detail(&c)->sqlstate, "23505");
  CHECK(strstr(edb_detail(&c)->hint, "already exists") != NULL);
  CHECK_INT(edb_transaction_commit(&t), EDB_FAILED);
  CHECK_STR(edb_detail(&c)->message, "the transaction had failed and was rolled back");
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "1");
  /* A constraint that speaks up at COMMIT. */
  run(&c, "CREATE TEMP TABLE tx2 (i int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx2 VALUES (1), (1)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CONSTRAINT);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx2", 0, NULL, 0), "0");
  /* A reader that is closed early leaves its transaction alone, be it short or long. */
  for (int expected = 0; expected <= 100000; expected += 100000) {
    edb_statement s;
    edb_rows r;
    const edb_value *v;
    CHECK_INT(edb_begin(&c, &t), EDB_OK);
    CHECK_INT(edb_transaction_execute(&t, "DELETE FROM tx", NULL, 0, NULL), EDB_OK);
    CHECK_INT(edb_prepare(&c, "SELECT i FROM generate_series(1, 300000) i", expected, &s), EDB_OK);
    for (int i = 0; i < 3; i++) {
      CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
      CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
      CHECK_INT(edb_rows_close(&r), EDB_OK);
    }
    long rows;
    uint64_t sum;
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
    CHECK_INT(read_all(&r, &sum, &rows), EDB_DONE);
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    CHECK_INT(edb_statement_close(&s), EDB_OK);
    CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "0");
    CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1)", NULL, 0, NULL), EDB_OK);
    CHECK_INT(edb_transaction_commit(&t), EDB_OK);
    CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "1");
  }
  /* A write whose rows are not all read is done all the same. */
  edb_rows r;
  const edb_value *v;
  CHECK_INT(
      edb_query(&c, "INSERT INTO tx SELECT generate_series(2, 200000) RETURNING i", NULL, 0, &r),
      EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "200000");
  CHECK_INT(edb_execute(&c, "UPDATE tx SET i = -i WHERE i > 199998", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 2);
  CHECK_INT(edb_execute(&c, "VACUUM pg_class", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 0);
  CHECK_INT(edb_execute(&c, "DO $$ BEGIN END $$", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, -1);
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_errors(void) {
  edb_connection c;
  must_open(&c);
  CHECK_STR(one(&c, "SELECT * FROM ordrs", 0, NULL, 0),
            "error 5 42P01 relation \"ordrs\" does not exist");
  CHECK_STR(one(&c, "SELECT 1; SELECT 2", 0, NULL, 0),
            "error 5 42601 cannot insert multiple commands into a prepared statement");
  CHECK_INT(edb_execute(&c, "SELECT 1; SELECT 2", NULL, 0, NULL), EDB_INVALID_QUERY);
  CHECK_INT(edb_execute(&c, "COPY pg_class TO STDOUT", NULL, 0, NULL), EDB_UNSUPPORTED);
  CHECK_INT(edb_execute(&c, "COPY edb_written FROM STDIN", NULL, 0, NULL), EDB_UNSUPPORTED);
  CHECK_STR(one(&c, "COPY pg_class TO STDOUT", 0, NULL, 0),
            "error 8  COPY TO STDOUT is not supported");
  usable(&c);
  run(&c, "DO $$ BEGIN RAISE NOTICE 'hello from %', 'edb'; END $$");
  CHECK_STR(last_log, "NOTICE: hello from edb");
  run(&c, "LISTEN edb_channel");
  run(&c, "NOTIFY edb_channel, 'x'");
  usable(&c);
  CHECK_INT(edb_alive(&c), 1);
  /* Closed statements do not pile up at the server. */
  for (int i = 0; i < 300; i++) {
    edb_statement s;
    CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s), EDB_OK);
    edb_statement_close(&s);
  }
  CHECK_STR(one(&c, "SELECT count(*) < 40 FROM pg_prepared_statements", 0, NULL, 0), "true");
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_open_errors(void) {
  edb_connection c;
  edb_error e;
  const char *nopassword = getenv("EDB_TEST_POSTGRESQL_URL_NOPASSWORD");
  if (nopassword) {
    edb_option wrong = {"password", "wr0ng-secret"};
    CHECK_INT(edb_open(nopassword, &wrong, 1, &host, &c, &e), EDB_FAILED);
    CHECK(strstr(e.message, "password authentication failed") != NULL);
    CHECK(strstr(e.message, "wr0ng") == NULL);
  }
  edb_option missing = {"database", "edb_no_such_database"};
  CHECK_INT(edb_open(url, &missing, 1, &host, &c, &e), EDB_FAILED);
  CHECK(strstr(e.message, "database \"edb_no_such_database\" does not exist") != NULL);
  CHECK(strchr(e.message, '\n') == NULL);
  CHECK_INT(edb_open("postgresql://u:s3same@127.0.0.1:1/x", NULL, 0, &host, &c, &e), EDB_FAILED);
  CHECK(strstr(e.message, "refused") != NULL && strstr(e.message, "s3same") == NULL);
  CHECK_INT(edb_open("postgresql://u:s3same@no-such-host.invalid/x", NULL, 0, &host, &c, &e),
            EDB_FAILED);
  CHECK(e.message[0] && strstr(e.message, "s3same") == NULL);
  edb_option mode = {"sslmode", "sometimes"};
  CHECK_INT(edb_open(url, &mode, 1, &host, &c, &e), EDB_FAILED);
  CHECK(strstr(e.message, "invalid sslmode") != NULL);
  edb_option fetch = {"fetch", "slowly"};
  CHECK_INT(edb_open(url, &fetch, 1, &host, &c, &e), EDB_FAILED);
  CHECK_STR(e.message, "fetch=slowly: must be auto, single, chunked or copy");
  /* A server that accepts and says nothing: the time-out ends the wait. */
  edb_option timeout = {"connect_timeout", "1"};
  double since = seconds();
  CHECK_INT(edb_open("postgresql://u:s3same@192.0.2.1/x", &timeout, 1, &host, &c, &e) == EDB_OK, 0);
  CHECK(seconds() - since < 5);
  CHECK(edb_close(&c) == EDB_CLOSED);
}

/* ---- Stopping -------------------------------------------------------------------------------------------- */

static void *cancel_soon(void *connection) {
  usleep(300000);
  edb_cancel(connection);
  return NULL;
}

static void *interrupt_soon(void *unused) {
  (void)unused;
  usleep(300000);
  atomic_store(&interrupted, 1);
  return NULL;
}

static void test_stopping(const char *fetch) {
  edb_connection c;
  edb_statement s;
  edb_rows r;
  const edb_value *v;
  pthread_t thread;
  int rc;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  double since = seconds();
  pthread_create(&thread, NULL, cancel_soon, &c);
  CHECK_INT(edb_execute(&c, "SELECT pg_sleep(30)", NULL, 0, NULL), EDB_INTERRUPTED);
  pthread_join(thread, NULL);
  CHECK_STR(edb_detail(&c)->message, "interrupted");
  CHECK(seconds() - since < 3);
  usable(&c);
  since = seconds();
  pthread_create(&thread, NULL, interrupt_soon, NULL);
  CHECK_INT(edb_query(&c, "SELECT pg_sleep(30)", NULL, 0, &r), EDB_INTERRUPTED);
  pthread_join(thread, NULL);
  atomic_store(&interrupted, 0);
  CHECK(seconds() - since < 3);
  usable(&c);
  host.timeout_ms = 300;
  since = seconds();
  CHECK_INT(edb_execute(&c, "SELECT pg_sleep(30)", NULL, 0, NULL), EDB_INTERRUPTED);
  CHECK_STR(edb_detail(&c)->message, "the server did not answer within 300 ms");
  CHECK(seconds() - since < 3);
  host.timeout_ms = 0;
  usable(&c);
  /* In the middle of rows. */
  CHECK_INT(edb_prepare(&c,
                        "SELECT i, CASE WHEN i > 2000 THEN pg_sleep(1)::text END FROM "
                        "generate_series(1, 100000) i",
                        100000, &s),
            EDB_OK);
  since = seconds();
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  pthread_create(&thread, NULL, cancel_soon, &c);
  while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) continue;
  CHECK_INT(rc, EDB_INTERRUPTED);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  pthread_join(thread, NULL);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK(seconds() - since < 4);
  usable(&c);
  /* By the server's own time-out. */
  run(&c, "SET statement_timeout TO 200");
  CHECK_STR(one(&c, "SELECT pg_sleep(30)", 0, NULL, 0),
            "error 3 57014 canceling statement due to statement timeout");
  run(&c, "SET statement_timeout TO 0");
  /* With nothing running, and before the next command. */
  CHECK_INT(edb_cancel(&c), EDB_OK);
  usable(&c);
  /* A waiting lock is given up too, in describing as in running. */
  edb_connection other;
  edb_transaction t;
  must_open(&other);
  CHECK_INT(edb_begin(&other, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "LOCK TABLE edb_written", NULL, 0, NULL), EDB_OK);
  host.timeout_ms = 300;
  CHECK_STR(one(&c, "SELECT * FROM edb_written", 0, NULL, 0),
            "error 3  the server did not answer within 300 ms");
  host.timeout_ms = 0;
  usable(&c);
  run(&c, "SET lock_timeout TO 100");
  CHECK_INT(edb_execute(&c, "SELECT * FROM edb_written", NULL, 0, NULL), EDB_BUSY);
  run(&c, "SET lock_timeout TO 0");
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_INT(edb_close(&other), EDB_OK);
  /* A reader closed long before its end. */
  edb_statement_close(&s);
  CHECK_INT(
      edb_prepare(&c, "SELECT i, repeat('x', 50) FROM generate_series(1, 3000000) i", 3e6, &s),
      EDB_OK);
  for (int i = 0; i < 3; i++) {
    since = seconds();
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
    for (int k = 0; k < 1000; k++) CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    CHECK(seconds() - since < 2);
    usable(&c);
  }
  edb_statement_close(&s);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* The server ends our session: in mid-scan, and between commands. */
static void test_killed(const char *fetch) {
  edb_connection c, killer;
  edb_statement s;
  edb_rows r;
  edb_transaction t;
  const edb_value *v;
  int rc;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  must_open(&killer);
  edb_parameter pid = integer(strtoll(one(&c, "SELECT pg_backend_pid()", 0, NULL, 0), NULL, 10));
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(
      edb_prepare(&c, "SELECT i, repeat('x', 100) FROM generate_series(1, 3000000) i", 3e6, &s),
      EDB_OK);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_execute(&killer, "SELECT pg_terminate_backend($1::int8::int)", &pid, 1, NULL),
            EDB_OK);
  while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) continue;
  CHECK_INT(rc, EDB_CLOSED);
  CHECK(edb_detail(&c)->message[0] != 0);
  edb_rows_close(&r);
  CHECK_INT(edb_alive(&c), 0);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_CLOSED);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_CLOSED);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  edb_statement_close(&s);
  CHECK_INT(edb_close(&c), EDB_OK);

  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  pid = integer(strtoll(one(&c, "SELECT pg_backend_pid()", 0, NULL, 0), NULL, 10));
  CHECK_INT(edb_alive(&c), 1);
  CHECK_INT(edb_execute(&killer, "SELECT pg_terminate_backend($1::int8::int)", &pid, 1, NULL),
            EDB_OK);
  usleep(200000);
  CHECK_INT(edb_alive(&c), 0);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_CLOSED);
  CHECK_INT(edb_close(&c), EDB_OK);

  /* The same with nobody asking alive before. */
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  pid = integer(strtoll(one(&c, "SELECT pg_backend_pid()", 0, NULL, 0), NULL, 10));
  CHECK_INT(edb_execute(&killer, "SELECT pg_terminate_backend($1::int8::int)", &pid, 1, NULL),
            EDB_OK);
  usleep(200000);
  CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s), EDB_CLOSED);
  CHECK(edb_detail(&c)->message[0] != 0);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&killer), EDB_OK);
}

/* ---- Sizes ------------------------------------------------------------------------------------------------ */

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

/* Each allocation fails once: an error, no leak, no crash. */
static void test_memory(void) {
  for (long n = 1; n < 200; n++) {
    edb_connection c;
    edb_error e;
    edb_rows r;
    const edb_value *v;
    long before = blocks;
    int ended = 0;
    fail_after = n;
    int rc = edb_open(url, NULL, 0, &host, &c, &e);
    if (rc == EDB_OK) {
      edb_parameter p[2] = {text("abc"), integer(5)};
      rc = edb_query(&c, "SELECT $1::text, $2::numeric(5,2), '{}'::int[], '1'::money", p, 2, &r);
      if (rc == EDB_OK) rc = edb_rows_next_borrowed(&r, &v);
      if (rc == EDB_ROW) rc = edb_rows_next_borrowed(&r, &v);
      ended = rc == EDB_DONE;
      edb_rows_close(&r);
      if (!ended) CHECK_INT(edb_detail(&c)->code, EDB_NOMEM);
      fail_after = 0;
      usable(&c);
      CHECK_INT(edb_close(&c), EDB_OK);
    }
    fail_after = 0;
    if (!ended) CHECK_INT(rc, EDB_NOMEM);
    CHECK_INT(blocks, before);
    if (ended) {
      CHECK(n > 10);
      break;
    }
  }
}

/* ---- The catalog -------------------------------------------------------------------------------------------- */

/* All rows as text, values between bars, rows between semicolons. */
static const char *listed(edb_connection *c, const char *sql, const char *schema,
                          const char *name) {
  static char out[20000];
  edb_rows r;
  const edb_column *columns;
  const edb_value *v;
  size_t n, at = 0;
  edb_parameter p[2] = {schema ? text(schema) : null(), text(name ? name : "")};
  out[0] = 0;
  if (edb_query(c, sql, p, name ? 2 : 1, &r) != EDB_OK) return why(c);
  edb_rows_columns(&r, &columns, &n);
  while (edb_rows_next_borrowed(&r, &v) == EDB_ROW) {
    for (size_t i = 0; i < n && at < sizeof out - 1; i++) {
      at += (size_t)snprintf(out + at, sizeof out - at, "%s%s",
                             i    ? "|"
                             : at ? "; "
                                  : "",
                             shown(&v[i]));
    }
  }
  edb_rows_close(&r);
  return out;
}

static const char *const catalog_setup[] = {
    "DROP SCHEMA IF EXISTS \"edb Cat\" CASCADE",
    "CREATE SCHEMA \"edb Cat\"",
    "SET search_path TO \"edb Cat\", public",
    "CREATE DOMAIN small AS int2 CHECK (value > 0)",
    "CREATE DOMAIN smaller AS small DEFAULT 3",
    "CREATE TYPE pair AS (a int, b text)",
    "CREATE TABLE plain (a int PRIMARY KEY, gone int, \"b \"\"q\" varchar(10) NOT NULL DEFAULT 'x',"
    " c numeric(10,2), d smaller, e int[], f pair, g int GENERATED ALWAYS AS IDENTITY, h interval, "
    "i char(3))",
    "ALTER TABLE plain DROP COLUMN gone",
    "COMMENT ON TABLE plain IS 'a comment'",
    "CREATE TABLE two (x int, y int, z int, PRIMARY KEY (z, x))",
    "CREATE TABLE keys (a int NOT NULL, b int NOT NULL, c int, d int NOT NULL)",
    "CREATE UNIQUE INDEX ON keys (c)",             /* nullable */
    "CREATE UNIQUE INDEX ON keys (d) WHERE d > 0", /* partial */
    "CREATE UNIQUE INDEX ON keys (abs(d))",        /* an expression */
    "CREATE UNIQUE INDEX ON keys (a, b, d)",       /* longer */
    "CREATE UNIQUE INDEX ON keys (b, a) INCLUDE (d)",
    "CREATE TABLE nokey (a int)",
    "CREATE TABLE parent (a int PRIMARY KEY)",
    "CREATE TABLE child (b int) INHERITS (parent)",
    "CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a)",
    "CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (100)",
    "CREATE TABLE nothing ()",
    "CREATE VIEW seen AS SELECT a, c FROM plain",
    "CREATE MATERIALIZED VIEW kept AS SELECT a FROM plain",
    "INSERT INTO parted SELECT generate_series(0, 49)",
    "INSERT INTO nokey SELECT generate_series(1, 1000)",
    "ANALYZE parted",
    "ANALYZE nokey",
};

static void test_catalog(void) {
  edb_connection c;
  must_open(&c);
  const edb_catalog *catalog = edb_connection_driver(&c)->catalog;
  for (size_t i = 0; i < sizeof catalog_setup / sizeof catalog_setup[0]; i++)
    run(&c, catalog_setup[i]);
  CHECK_STR(
      listed(&c, catalog->tables, "edb Cat", NULL),
      "'edb Cat'|'child'|'table'|0|NULL; 'edb Cat'|'kept'|'materialized view'|0|NULL; "
      "'edb Cat'|'keys'|'table'|0|NULL; 'edb Cat'|'nokey'|'table'|1000|NULL; "
      "'edb Cat'|'nothing'|'table'|0|NULL; 'edb Cat'|'parent'|'table'|0|NULL; "
      "'edb Cat'|'parted'|'partitioned table'|50|NULL; 'edb Cat'|'plain'|'table'|0|'a comment'; "
      "'edb Cat'|'seen'|'view'|NULL|NULL; 'edb Cat'|'two'|'table'|0|NULL");
  const char *all = listed(&c, catalog->tables, NULL, NULL);
  CHECK(strstr(all, "'edb Cat'|'two'") != NULL && strstr(all, "pg_class") == NULL);
  CHECK_STR(listed(&c, catalog->relation, NULL, "plain"),
            "'edb Cat'|'plain'|'table'|0|'ctid::text'|0");
  CHECK_STR(listed(&c, catalog->relation, "edb Cat", "nokey"),
            "'edb Cat'|'nokey'|'table'|1000|'ctid::text'|0");
  CHECK_STR(listed(&c, catalog->relation, "edb Cat", "seen"),
            "'edb Cat'|'seen'|'view'|NULL|NULL|0");
  CHECK_STR(listed(&c, catalog->relation, NULL, "parted"),
            "'edb Cat'|'parted'|'partitioned table'|50|'tableoid::int8::text || ctid::text'|0");
  CHECK_STR(listed(&c, catalog->relation, NULL, "parent"),
            "'edb Cat'|'parent'|'table'|0|'tableoid::int8::text || ctid::text'|0");
  CHECK_STR(listed(&c, catalog->relation, NULL, "part1"),
            "'edb Cat'|'part1'|'table'|50|'ctid::text'|0");
  CHECK_STR(listed(&c, catalog->relation, NULL, "Plain"), "");
  CHECK_STR(listed(&c, catalog->relation, "public", "plain"), "");
  CHECK_STR(listed(&c, catalog->columns, NULL, "plain"),
            "'a'|'int4'|'integer'|false|1|false; "
            "'b \"q'|'varchar'|'character varying(10)'|false|0|true; "
            "'c'|'numeric'|'numeric(10,2)'|true|0|false; 'd'|'int2'|'smaller'|true|0|true; "
            "'e'|'array'|'integer[]'|true|0|false; 'f'|'composite'|'pair'|true|0|false; "
            "'g'|'int4'|'integer'|false|0|true; 'h'|'interval'|'interval'|true|0|false; "
            "'i'|'bpchar'|'character(3)'|true|0|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "two"),
            "'x'|'int4'|'integer'|false|2|false; 'y'|'int4'|'integer'|true|0|false; "
            "'z'|'int4'|'integer'|false|1|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "keys"),
            "'a'|'int4'|'integer'|false|2|false; 'b'|'int4'|'integer'|false|1|false; "
            "'c'|'int4'|'integer'|true|0|false; 'd'|'int4'|'integer'|false|0|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "parent"), "'a'|'int4'|'integer'|false|0|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "parted"), "'a'|'int4'|'integer'|false|1|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "nothing"), "");
  CHECK_STR(listed(&c, catalog->columns, "no such", "plain"), "");
  /* Every comparison that the dialect offers is SQL. */
  static const char *const types[] = {"bool",   "int2", "int4",      "int8",        "float4",
                                      "float8", "text", "varchar",   "bpchar",      "name",
                                      "date",   "time", "timestamp", "timestamptz", "uuid"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    const edb_type *type = edb_connection_driver(&c)->dialect->type(types[i]);
    char sql[600], parameter[60], array[60], null_test[60], early[60], late[60];
    snprintf(parameter, sizeof parameter, "%.*s$1%s",
             (int)(strstr(type->parameter, "%s") - type->parameter), type->parameter,
             strstr(type->parameter, "%s") + 2);
    snprintf(array, sizeof array, "%.*s$2%s", (int)(strstr(type->array, "%s") - type->array),
             type->array, strstr(type->array, "%s") + 2);
    snprintf(null_test, sizeof null_test, "%s",
             type->is_null ? "x IS NULL OR x = 'NaN'" : "x IS NULL");
    snprintf(early, sizeof early, "%s%s", type->early ? "x" : "false",
             type->early ? type->early + 2 : "");
    snprintf(late, sizeof late, "%s%s", type->late ? "x" : "false",
             type->late ? type->late + 2 : "");
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT NULL::%s AS x) t WHERE x = %s OR x %s OR %s OR %s OR %s",
             types[i], parameter, array, null_test, early, late);
    edb_parameter p[2] = {null(), text("{}")};
    CHECK_STR(one(&c, sql, 0, p, 2), "1");
  }
  run(&c, "DROP SCHEMA \"edb Cat\" CASCADE");
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- All of it ------------------------------------------------------------------------------------------------ */

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
  url = getenv("EDB_TEST_POSTGRESQL_URL");
  if (!url) {
    printf("skip postgresql_live: EDB_TEST_POSTGRESQL_URL is not set\n");
    printf("postgresql_live: 0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
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
  test_busy();
  test_transactions();
  test_errors();
  test_open_errors();
  for (int f = 0; f < N_FETCHES; f++) {
    test_stopping(fetches[f]);
    test_killed(fetches[f]);
    test_flat(fetches[f]);
  }
  test_catalog();
  test_memory();
  for (int f = 0; f < N_FETCHES; f++) test_large(fetches[f]);
  CHECK_INT(blocks, 0);
  return unit_done("postgresql_live");
}
