/*
** The SQL Server driver's loads against a tdsd of its own: every type that can be sent, what goes by INSERTs instead,
** the meaning of an INSERT, errors, stopping, memory.
*/
#include "tdsd.h"

#include <malloc.h>

/* ---- Words ------------------------------------------------------------------------------------------- */

#define MOST 24

static edb_load_column columns[MOST];

/* Begins a load of the columns named, with bars between. */
static int begin(edb_connection *c, const char *table, const char *names, edb_load *load) {
  static char kept[400];
  static edb_load_spec spec;
  size_t n = 0;
  snprintf(kept, sizeof kept, "%s", names);
  for (char *p = kept, *next; p; p = next) {
    next = strchr(p, '|');
    if (next) *next++ = 0;
    columns[n++] = (edb_load_column){.name = p};
  }
  spec = (edb_load_spec){NULL, table, columns, n, 0};
  return edb_load_begin(c, &spec, load);
}

/* Rows that came by bulk loads. */
static long bulk_rows(void) { return strtol(tell("loaded"), NULL, 10); }

static int row(edb_load *load, const edb_parameter *values, size_t n) {
  edb_value v[MOST];
  for (size_t i = 0; i < n; i++) v[i] = values[i].value;
  return edb_load_row(load, v);
}

/* ---- Types -------------------------------------------------------------------------------------------- */

#define AT (19782) /* 2024-02-29 */
#define NOON (INT64_C(43200123456789))

/* A column's type, what is loaded, what is read. */
static void test_types(edb_connection *c) {
  const struct {
    const char *type;
    edb_parameter value;
    const char *expected;
  } cases[] = {
      {"bit", integer(1), "true"},
      {"tinyint", integer(255), "255"},
      {"smallint", integer(-32768), "-32768"},
      {"int", integer(-2147483648), "-2147483648"},
      {"int", real(7), "7"},
      {"bigint", integer(INT64_MIN), "-9223372036854775808"},
      {"real", real(0.5), "0.5"},
      {"float", real(-0.1), "-0.10000000000000001"},
      {"float", integer(3), "3"},
      {"decimal(38,38)", text("0.12345678901234567890123456789012345678"),
       "'0.12345678901234567890123456789012345678'"},
      {"decimal(10,2)", integer(-17), "'-17.00'"},
      {"decimal(10,2)", text("-17.8"), "'-17.80'"},
      {"numeric(5,0)", real(12345), "'12345'"},
      {"money", text("-922337203685477.5808"), "'-922337203685477.5808'"},
      {"smallmoney", text("214748.3647"), "'214748.3647'"},
      {"date", moment(EDB_DATE, -719162, 0, 0), "D 0001-01-01"},
      {"date", text("2024-02-29"), "D 2024-02-29"},
      {"time(7)", moment(EDB_CLOCK, 0, NOON, 0), "C 12:00:00.1234568"},
      {"time(0)", text("23:59:58.5"), "C 23:59:59"},
      {"datetime", moment(EDB_DATETIME, AT, INT64_C(1003000000), 0), "T 2024-02-29 00:00:01.003"},
      {"smalldatetime", moment(EDB_DATETIME, AT, INT64_C(90000000000), 0), "T 2024-02-29 00:02:00"},
      {"datetime2(7)", moment(EDB_DATETIME, AT, NOON, 0), "T 2024-02-29 12:00:00.1234568"},
      {"datetime2(0)", moment(EDB_DATETIME, AT, INT64_C(86399600000000), 0),
       "T 2024-03-01 00:00:00"},
      {"datetime2(3)", text("2024-02-29 01:02:03.1235"), "T 2024-02-29 01:02:03.124"},
      {"datetime2(3)", moment(EDB_DATE, AT, 0, 0), "T 2024-02-29 00:00:00"},
      {"datetimeoffset(7)", moment(EDB_DATETIME, AT, NOON, 1), "T 2024-02-29 12:00:00.1234568Z"},
      {"datetimeoffset(0)", text("2024-02-29 01:02:03Z"), "T 2024-02-29 01:02:03Z"},
      {"uniqueidentifier", text("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
       "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"},
      {"char(5)", text("ab"), "'ab   '"},
      {"varchar(10)", text("h\xc3\xa9llo"), "'h\xc3\xa9llo'"},
      {"varchar(10) COLLATE Cyrillic_General_CI_AS", text("\xd0\xb6"), "'\xd0\xb6'"},
      {"varchar(max)", text("h\xc3\xa9llo"), "'h\xc3\xa9llo'"},
      {"varchar(max)", text(""), "''"},
      {"nvarchar(4)", text("\xc3\xa9\xf0\x9f\x98\x80z"), "'\xc3\xa9\xf0\x9f\x98\x80z'"},
      {"nvarchar(max)", text("\xe2\x82\xac"), "'\xe2\x82\xac'"},
      {"nchar(3)", text("\xc3\xa9"), "'\xc3\xa9  '"},
      {"varbinary(4)", bytes("\0\xff", 2), "x'00ff'"},
      {"varbinary(max)", bytes("", 0), "x''"},
      {"binary(4)", bytes("\1", 1), "x'01000000'"},
  /* By INSERTs: the type cannot be sent, or the value is for the server to convert. */
#define FIRST_INSERTED 39
      {"text", text("old"), "'old'"},
      {"ntext", text("\xc3\xa9"), "'\xc3\xa9'"},
      {"xml", text("<a>1</a>"), "'<a>1</a>'"},
      {"sql_variant", integer(7), "7"},
      {"int", text("12"), "12"},
      {"bit", integer(5), "true"},
      {"decimal(10,2)", text("1.005"), "'1.01'"},
      {"nvarchar(10)", integer(12), "'12'"},
      {"date", text("20240229"), "D 2024-02-29"},
  };
  char sql[300];
  edb_load load;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const edb_parameter none[2] = {integer(2), null()}, given[2] = {integer(1), cases[i].value};
    for (int nullable = 0; nullable < 2; nullable++) {
      snprintf(sql, sizeof sql, "CREATE TABLE edb_l (id int NOT NULL, v %s %s)", cases[i].type,
               nullable ? "NULL" : "NOT NULL");
      run(c, sql);
      const long before = bulk_rows();
      CHECK_INT(begin(c, "edb_l", "id|v", &load), EDB_OK);
      CHECK_INT(row(&load, given, 2), EDB_OK);
      if (nullable) CHECK_INT(row(&load, none, 2), EDB_OK);
      CHECK_INT(edb_load_end(&load), EDB_OK);
      if (!CHECK_INT(bulk_rows() - before, i < FIRST_INSERTED ? 1 + nullable : 0)) {
        printf("  %zu %s\n", i, cases[i].type);
      }
      if (!CHECK_STR(one(c, "SELECT v FROM edb_l WHERE id = 1", 0, NULL, 0), cases[i].expected)) {
        printf("  %s: %s\n", cases[i].type, edb_detail(c)->message);
      }
      CHECK_STR(one(c, "SELECT count(*) FROM edb_l WHERE v IS NULL", 0, NULL, 0),
                nullable ? "1" : "0");
      run(c, "DROP TABLE edb_l");
    }
  }
}

/* Where INSERT BULK is refused, INSERTs may do. */
static void test_refused(edb_connection *c) {
  edb_load load;
  const edb_parameter values[] = {integer(1)};
  const long before = bulk_rows();
  run(c, "CREATE TABLE edb_w (a int)");
  fault(c, "no_bulk", 1);
  CHECK_INT(begin(c, "edb_w", "a", &load), EDB_OK);
  CHECK_INT(row(&load, values, 1), EDB_OK);
  CHECK_INT(edb_load_end(&load), EDB_OK);
  fault(c, "reset", 0);
  CHECK_STR(one(c, "SELECT count(*) FROM edb_w", 0, NULL, 0), "1");
  CHECK_INT(bulk_rows() - before, 0);
  run(c, "DROP TABLE edb_w");
}

/* ---- The meaning of an INSERT ------------------------------------------------------------------------- */

static void test_meaning(edb_connection *c) {
  edb_load load;
  const edb_parameter two[] = {integer(1), null()}, one_row[] = {integer(1)};
  run(c, "CREATE TABLE edb_m (id int IDENTITY(10,1) PRIMARY KEY, a int NOT NULL, b int DEFAULT 7,"
         " c int DEFAULT 8, d AS a + 1, [e]] f] int CHECK ([e]] f] > 0))");
  CHECK_INT(begin(c, "edb_m", "a|b", &load), EDB_OK);
  CHECK_INT(row(&load, two, 2), EDB_OK);
  CHECK_INT(row(&load, two, 2), EDB_OK);
  CHECK_INT(edb_load_end(&load), EDB_OK);
  CHECK_STR(one(c, "SELECT concat(id, ' ', a, ' ', b, ' ', c, ' ', d) FROM edb_m WHERE id = 11", 0,
                NULL, 0),
            "'11 1  8 2'");
  CHECK_INT(begin(c, "edb_m", "a|e]_f", &load), EDB_INVALID_QUERY); /* no such column */
  /* A column that the server fills, given: refused as an INSERT is. */
  static const char *const filled[] = {"id", "d"};
  for (int i = 0; i < 2; i++) {
    int rc = begin(c, "edb_m", filled[i], &load);
    if (rc == EDB_OK) rc = row(&load, one_row, 1);
    if (rc == EDB_OK) rc = edb_load_end(&load);
    CHECK_INT(rc, EDB_INVALID_QUERY);
    edb_load_abort(&load);
  }
  CHECK_STR(one(c, "SELECT count(*) FROM edb_m", 0, NULL, 0), "2");
  run(c, "DROP TABLE edb_m");
  CHECK_INT(begin(c, "nosuch", "a", &load), EDB_INVALID_QUERY);
  CHECK_INT(edb_detail(c)->vendor, 208);
  usable(c);
}

static void test_constraints(edb_connection *c) {
  edb_load load;
  edb_transaction t;
  const edb_parameter bad[] = {integer(2), integer(-1)}, null_key[] = {null(), integer(1)};
  run(c, "CREATE TABLE edb_x (a int NOT NULL PRIMARY KEY, b int CHECK (b > 0), s nvarchar(3))");
  for (int inside = 0; inside < 2; inside++) {
    for (int kind = 0; kind < 4; kind++) {
      int rc = inside ? edb_begin(c, &t) : EDB_OK;
      CHECK_INT(rc, EDB_OK);
      if (inside) run(c, "INSERT INTO edb_x VALUES (1000, 1, NULL)");
      rc = begin(c, "edb_x", kind == 3 ? "a|s" : "a|b", &load);
      CHECK_INT(rc, EDB_OK);
      for (int i = 0; i < 50; i++) {
        const edb_parameter good[] = {integer(100 + i), kind == 3 ? text("abc") : integer(1)};
        CHECK_INT(row(&load, good, 2), EDB_OK);
      }
      const edb_parameter twice[] = {integer(100), integer(1)}, wide[] = {integer(1), text("abcd")};
      rc = row(&load, kind == 0 ? bad : kind == 1 ? twice : kind == 2 ? null_key : wide, 2);
      if (rc == EDB_OK) rc = edb_load_end(&load);
      CHECK_INT(rc, kind == 3 ? EDB_INVALID_QUERY : EDB_CONSTRAINT);
      CHECK_INT(edb_detail(c)->vendor, kind == 0 ? 547 : kind == 1 ? 2627 : kind == 2 ? 515 : 2628);
      CHECK_INT(edb_detail(c)->row, inside || kind > 1 ? 51 : 0);
      if (load.context) CHECK_INT(edb_load_abort(&load), EDB_OK);
      if (kind < 2 && !inside) { /* nothing of it is there */
        CHECK_STR(one(c, "SELECT count(*) FROM edb_x", 0, NULL, 0), "0");
      }
      if (inside) CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
      run(c, "DELETE FROM edb_x");
      usable(c);
    }
  }
  /* In a transaction: its rows are the transaction's. */
  for (int commit = 0; commit < 2; commit++) {
    const edb_parameter good[] = {integer(1), integer(1)};
    CHECK_INT(edb_begin(c, &t), EDB_OK);
    CHECK_INT(begin(c, "edb_x", "a|b", &load), EDB_OK);
    CHECK_INT(edb_execute(c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
    CHECK_INT(edb_transaction_commit(&t), EDB_BUSY);
    CHECK_INT(row(&load, good, 2), EDB_OK);
    CHECK_INT(edb_load_end(&load), EDB_OK);
    CHECK_INT(commit ? edb_transaction_commit(&t) : edb_transaction_rollback(&t), EDB_OK);
    CHECK_STR(one(c, "SELECT count(*) FROM edb_x", 0, NULL, 0), commit ? "1" : "0");
  }
  run(c, "DROP TABLE edb_x");
}

/* The row to blame is found in the second piece of a transaction's load, beside one that is larger than any piece. */
static void test_pieces(edb_connection *c) {
  enum { LARGE = 600 << 10, FIRST = 17000 };
  edb_load load;
  edb_transaction t;
  char *large = malloc(LARGE + 1);
  memset(large, 'x', LARGE);
  large[LARGE] = 0;
  run(c, "CREATE TABLE edb_p (a int NOT NULL PRIMARY KEY, s nvarchar(max))");
  for (int bad = 0; bad < 2; bad++) {
    CHECK_INT(edb_begin(c, &t), EDB_OK);
    CHECK_INT(begin(c, "edb_p", "a|s", &load), EDB_OK);
    int rc = EDB_OK;
    for (int i = 0; i < FIRST && rc == EDB_OK; i++) {
      const edb_parameter v[] = {integer(i), text("some text")};
      rc = row(&load, v, 2);
    }
    CHECK_INT(rc, EDB_OK);
    const edb_parameter v[] = {integer(FIRST), text(large)},
                        last[] = {integer(bad ? 7 : FIRST + 1), null()};
    CHECK_INT(row(&load, v, 2), EDB_OK);
    CHECK_INT(row(&load, last, 2), EDB_OK);
    CHECK_INT(edb_load_end(&load), bad ? EDB_CONSTRAINT : EDB_OK);
    if (bad) CHECK_INT(edb_detail(c)->row, FIRST + 2);
    if (bad) CHECK_INT(edb_detail(c)->vendor, 2627);
    if (!bad) CHECK_STR(one(c, "SELECT count(*) FROM edb_p", 0, NULL, 0), "17002");
    CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  }
  CHECK_STR(one(c, "SELECT count(*) FROM edb_p", 0, NULL, 0), "0");
  run(c, "DROP TABLE edb_p");
  free(large);
}

/* ---- Many rows ------------------------------------------------------------------------------------------ */

static size_t held, most_held;

static void *counting_resize(void *context, void *memory, size_t size) {
  (void)context;
  const size_t before = memory ? malloc_usable_size(memory) : 0;
  held -= before;
  if (size == 0) {
    free(memory);
    return NULL;
  }
  void *p = realloc(memory, size);
  held += p ? malloc_usable_size(p) : before;
  if (held > most_held) most_held = held;
  return p;
}

/* How much was held at most while n rows were loaded. */
static size_t load_many(int n) {
  edb_connection c;
  edb_error e;
  edb_load load;
  const edb_host own = {.resize = counting_resize};
  char options[1300];
  snprintf(options, sizeof options,
           "sqlserver://edb:s3cret%%40edb@127.0.0.1:%d/master?ca=%s/ca.pem", port, dir);
  CHECK_INT(edb_open(options, NULL, 0, &own, &c, &e), EDB_OK);
  run(&c, "CREATE TABLE edb_many (a bigint, t nvarchar(40), f float)");
  most_held = held;
  CHECK_INT(begin(&c, "edb_many", "a|t|f", &load), EDB_OK);
  int rc = EDB_OK;
  for (int i = 0; i < n && rc == EDB_OK; i++) {
    const edb_parameter v[] = {integer(i), text("some text of a row"), real(i / 2.0)};
    rc = row(&load, v, 3);
  }
  CHECK_INT(rc, EDB_OK);
  CHECK_INT(edb_load_end(&load), EDB_OK);
  char expected[60];
  snprintf(expected, sizeof expected, "'%d %" PRId64 "'", n, (int64_t)n * (n - 1) / 2);
  CHECK_STR(one(&c, "SELECT concat(count(*), ' ', sum(a)) FROM edb_many", 0, NULL, 0), expected);
  run(&c, "DROP TABLE edb_many");
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT((int64_t)held, 0);
  return most_held;
}

static void test_many(edb_connection *c) {
  const size_t few = load_many(4000), many = load_many(SANITIZED ? 20000 : 100000);
  CHECK(many <= few + 4096);
  /* A row that is longer than the packets that wait. */
  const size_t n = 3u << 20;
  char *p = malloc(n + 1);
  edb_load load;
  memset(p, 'x', n);
  p[n] = 0;
  run(c, "CREATE TABLE edb_long (a int, t nvarchar(max), b varbinary(max))");
  CHECK_INT(begin(c, "edb_long", "a|t|b", &load), EDB_OK);
  for (int i = 0; i < 3; i++) {
    const edb_parameter v[] = {integer(i), text(i == 1 ? p : "short"),
                               bytes(p, i == 1 ? n : (size_t)i)};
    CHECK_INT(row(&load, v, 3), EDB_OK);
  }
  CHECK_INT(edb_load_end(&load), EDB_OK);
  CHECK_STR(one(c,
                "SELECT concat(count(*), ' ', sum(len(t)), ' ', sum(datalength(b))) FROM edb_long",
                0, NULL, 0),
            "'3 3145738 3145730'");
  run(c, "DROP TABLE edb_long");
  free(p);
}

/* ---- Stopping --------------------------------------------------------------------------------------------- */

static void test_stopping(void) {
  edb_connection c;
  edb_load load;
  open_own(&c, "");
  run(&c, "CREATE TABLE edb_s (a int, t nvarchar(100))");
  for (int n = 0; n <= 20000; n = n == 0 ? 1 : n * 20000) {
    for (int how = 0; how < 2; how++) {
      int rc = begin(&c, "edb_s", "a|t", &load);
      CHECK_INT(rc, EDB_OK);
      for (int i = 0; i < n && rc == EDB_OK; i++) {
        const edb_parameter v[] = {integer(i), text("a text that makes this row longer")};
        if (how == 1 && i == n / 2) {
          usleep(120000); /* so that whoever flows on asks */
          atomic_store(&interrupted, 1);
        }
        rc = row(&load, v, 2);
      }
      if (how == 1 && n > 1) CHECK_INT(rc, EDB_INTERRUPTED);
      atomic_store(&interrupted, 0);
      CHECK_INT(edb_load_abort(&load), EDB_OK);
      CHECK_INT(edb_load_abort(&load), EDB_CLOSED);
      CHECK(edb_alive(&c));
      usable(&c);
      CHECK_STR(one(&c, "SELECT count(*) FROM edb_s", 0, NULL, 0), "0");
    }
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  edb_connection c;
  start_server();
  open_own(&c, "");
  test_types(&c);
  test_refused(&c);
  test_meaning(&c);
  test_constraints(&c);
  test_pieces(&c);
  test_many(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
  open_own(&c, "&encrypt=mandatory&packet_size=512");
  test_constraints(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
  test_stopping();
  stop_server();
  return unit_done("sqlserver_load");
}
