/*
** load_mysql.c: loads into MySQL and MariaDB.
**
** servers: mysql
*/
#define LIVE_URL "EDB_TEST_MYSQL_URL"
#include "load_live.h"

static edb_connection c;

#define COLUMNS "id bigint, name text, score double"

static void test_rows(void) {
  target t;
  int64_t row;
  char expected[100];
  run(&c,
      "CREATE TABLE `lo``ad` (id bigint PRIMARY KEY, name text, score double, more int DEFAULT 7)");
  aim(&t, &c, "lo`ad", COLUMNS);
  for (int64_t n = 0, before = 0; n <= 20000; n = n * 7 + 1) {
    CHECK_INT(load_rows(&c, &t, before + 1, before + n, 0, &row), EDB_OK);
    before += n;
    snprintf(expected, sizeof expected, "'%" PRId64 " %" PRId64 " %" PRId64 "'", before,
             before * (before + 1) / 2, before * 7);
    if (before == 0) continue;
    CHECK_STR(
        one(&c, "SELECT concat(count(*), ' ', sum(id), ' ', sum(more)) FROM `lo``ad`", 0, NULL, 0),
        expected);
    CHECK_STR(one(&c, "SELECT sum(name <> concat('name ', id) OR score <> id / 8e0) FROM `lo``ad`",
                  0, NULL, 0),
              "'0'");
  }
  run(&c, "DROP TABLE `lo``ad`");
}

static void test_blame(void) {
  target t;
  edb_transaction transaction;
  run(&c, "CREATE TABLE l (id bigint PRIMARY KEY, name text, score double)");
  aim(&t, &c, "l", COLUMNS);
  for (int64_t bad = 2; bad <= 3000; bad = bad * 3 - 1) {
    int64_t row;
    CHECK_INT(edb_begin(&c, &transaction), EDB_OK);
    CHECK_INT(load_rows(&c, &t, 1, 3000, bad, &row), EDB_CONSTRAINT);
    CHECK_INT(row, bad);
    CHECK_INT(edb_transaction_rollback(&transaction), EDB_OK);
    CHECK_STR(one(&c, "SELECT count(*) FROM l", 0, NULL, 0), "0");
  }
  /* A lost race is nobody's row. */
  edb_connection other;
  edb_transaction holder;
  int64_t row;
  must_open(&other);
  CHECK_INT(edb_begin(&other, &holder), EDB_OK);
  CHECK_INT(edb_transaction_execute(&holder, "INSERT INTO l VALUES (700, '', 0)", NULL, 0, NULL),
            EDB_OK);
  run(&c, "SET innodb_lock_wait_timeout = 1");
  CHECK_INT(edb_begin(&c, &transaction), EDB_OK);
  CHECK_INT(load_rows(&c, &t, 1, 3000, 0, &row), EDB_BUSY);
  CHECK_INT(row, 0);
  CHECK_INT(edb_transaction_rollback(&transaction), EDB_OK);
  edb_transaction_rollback(&holder);
  CHECK_INT(edb_close(&other), EDB_OK);
}

/* Each value as the same parameter of an INSERT leaves it. */
static void test_values(void) {
  static const struct {
    const char *type, *name;
  } types[] = {{"bigint unsigned", "bigint"}, {"decimal(20,4)", "decimal"},
               {"varchar(40)", "varchar"},    {"varbinary(40)", "varbinary"},
               {"datetime(6)", "datetime"},   {"time(3)", "time"},
               {"double", "double"},          {"tinyint", "tinyint"}};
  const edb_parameter values[] = {integer(1),
                                  integer(100),
                                  integer(-7),
                                  real(0.1),
                                  real(1e15),
                                  null(),
                                  text(""),
                                  text("12.50"),
                                  text("it's \\ \"\n%"),
                                  text("h\xc3\xa9llo"),
                                  text("2024-02-29 12:00:00.25"),
                                  bytes("\0'\\\xff", 4),
                                  moment(EDB_DATETIME, 19782, INT64_C(43200500000000), 0),
                                  moment(EDB_CLOCK, 0, -INT64_C(90061500000000), 0)};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    char sql[200], columns[100];
    target t;
    snprintf(sql, sizeof sql, "CREATE TABLE v (id bigint, a %s)", types[i].type);
    run(&c, sql);
    snprintf(columns, sizeof columns, "id bigint, a %s", types[i].name);
    aim(&t, &c, "v", columns);
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
      edb_parameter p[2] = {integer((int64_t)k), values[k]};
      edb_value row[2] = {p[0].value, p[1].value};
      int by_insert = edb_execute(&c, "INSERT INTO v VALUES (?, ?)", p, 2, NULL);
      row[0].as.i64 += 100;
      /* Beside others, so that it is no single row. */
      edb_load load;
      int rc = edb_load_begin(&c, &t.spec, &load);
      for (int n = 0; rc == EDB_OK && n < 5; n++) {
        rc = edb_load_row(&load, row);
        row[0].as.i64 = 1000;
        row[1].kind = EDB_NULL;
      }
      rc = rc == EDB_OK ? edb_load_end(&load) : rc;
      if (load.context) edb_load_abort(&load);
      if (!CHECK_INT(rc, by_insert)) printf("  %s, value %zu: %s\n", types[i].type, k, why(&c));
      run(&c, "DELETE FROM v WHERE id = 1000");
    }
    CHECK_STR(one(&c,
                  "SELECT count(*) FROM v x LEFT JOIN v y ON y.id = x.id + 100 AND binary x.a <=> "
                  "binary y.a"
                  " WHERE x.id < 100 AND y.id IS NULL",
                  0, NULL, 0),
              "0");
    run(&c, "DROP TABLE v");
  }
}

/* Rows of any size up to what the server takes, and an error that says so beyond it. */
static void test_long(void) {
  target t;
  edb_transaction transaction;
  size_t n = strtoul(one(&c, "SELECT @@max_allowed_packet", 0, NULL, 0), NULL, 10);
  char *long_text = calloc(1, n);
  if (!CHECK(n >= (size_t)1 << 24) || !long_text) return;
  run(&c, "CREATE TABLE long_text (id bigint PRIMARY KEY, name longtext, score double)");
  aim(&t, &c, "long_text", COLUMNS);
  edb_value row[3] = {integer(0).value, bytes(long_text, 0).value, null().value};
  CHECK_INT(edb_begin(&c, &transaction), EDB_OK);
  edb_load load;
  CHECK_INT(edb_load_begin(&c, &t.spec, &load), EDB_OK);
  for (row[1].as.text.n = 1; row[1].as.text.n <= (size_t)1 << 22; row[1].as.text.n *= 2) {
    row[0].as.i64++;
    CHECK_INT(edb_load_row(&load, row), EDB_OK);
  }
  CHECK_INT(edb_load_end(&load), EDB_OK);
  CHECK_INT(edb_transaction_commit(&transaction), EDB_OK);
  CHECK_STR(
      one(&c, "SELECT count(*) FROM long_text WHERE length(name) = 1 << (id - 1)", 0, NULL, 0),
      "23");
  row[0].as.i64 = 100;
  row[1].as.text.n = n;
  CHECK_INT(load_one(&c, &t, row), EDB_INVALID_QUERY);
  CHECK(strstr(edb_detail(&c)->hint, "max_allowed_packet") != NULL);
  CHECK_INT(edb_detail(&c)->row, 1);
  usable(&c);
  free(long_text);
}

static atomic_int asked;

static int stops(void *context) {
  (void)context;
  return atomic_fetch_add(&asked, 1) >= 2;
}

static void test_interrupted(void) {
  target t;
  int64_t row;
  edb_connection other;
  edb_transaction holder, transaction;
  run(&c, "CREATE TABLE held (id bigint PRIMARY KEY, name text, score double)");
  aim(&t, &c, "held", COLUMNS);
  must_open(&other);
  CHECK_INT(edb_begin(&other, &holder), EDB_OK);
  CHECK_INT(edb_transaction_execute(&holder, "INSERT INTO held VALUES (700, '', 0)", NULL, 0, NULL),
            EDB_OK);
  run(&c, "SET innodb_lock_wait_timeout = 100");
  CHECK_INT(edb_begin(&c, &transaction), EDB_OK);
  host.interrupted = stops;
  CHECK_INT(load_rows(&c, &t, 1, 3000, 0, &row), EDB_INTERRUPTED);
  host.interrupted = is_interrupted;
  CHECK_INT(edb_transaction_rollback(&transaction), EDB_OK);
  edb_transaction_rollback(&holder);
  CHECK_STR(one(&c, "SELECT count(*) FROM held", 0, NULL, 0), "0");
  /* The server ends the connection. */
  char sql[100];
  snprintf(sql, sizeof sql, "KILL %s", one(&other, "SELECT connection_id()", 0, NULL, 0));
  run(&c, sql);
  CHECK_INT(load_rows(&other, &t, 1, 3000, 0, &row), EDB_CLOSED);
  CHECK_INT(row, 0);
  CHECK_INT(edb_alive(&other), 0);
  edb_close(&other);
  usable(&c);
}

static void test_memory(void) {
  target t;
  int64_t row;
  int failures = 0;
  aim(&t, &c, "held", COLUMNS);
  for (long n = 1; n < 3000; n += n < 60 ? 1 : 97) {
    fail_after = n;
    int rc = load_rows(&c, &t, 1, 600, 0, &row);
    int through = fail_after > 0;
    fail_after = 0;
    failures += rc != EDB_OK;
    if (rc != EDB_OK && !CHECK_INT(rc, EDB_NOMEM)) printf("  %ld: %s\n", n, why(&c));
    usable(&c);
    run(&c, "DELETE FROM held");
    if (through) break;
  }
  CHECK(failures > 10);
}

int main(void) {
  if (!have_server("load_mysql")) return 0;
  must_open(&c);
  test_rows();
  test_blame();
  test_values();
  test_long();
  test_interrupted();
  test_memory();
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(blocks, 0);
  return unit_done("load_mysql");
}
