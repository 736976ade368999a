/*
** Many runs of one statement at once: values of each kind and NULLs arrive, also those that MariaDB's bulk command does not
** take; what was changed is told.
**
** servers: mysql
*/
#include "drivers/mysql.h" /* first: live.h has a host */

#define LIVE_URL "EDB_TEST_MYSQL_URL"
#include "live.h"

#define RUNS 200

/* Sets column v of rows 1 … RUNS to what `value` says for each, and answers what edb_statement_each does. */
static int set_all(edb_connection *c, const char *type, edb_parameter (*value)(int),
                   int64_t *affected, size_t *done) {
  static edb_parameter p[2 * RUNS];
  char sql[200];
  edb_statement update;
  snprintf(sql, sizeof sql,
           "CREATE OR REPLACE TEMPORARY TABLE each_t (id bigint PRIMARY KEY, v %s, w int) "
           "ENGINE = InnoDB",
           type);
  run(c, sql);
  run(c, "INSERT INTO each_t (id) SELECT seq FROM seq_1_to_200");
  CHECK_INT(edb_prepare(c, "UPDATE each_t SET v = ? WHERE id = ?", 0, &update), EDB_OK);
  for (int i = 0; i < RUNS; i++) {
    p[2 * i] = value(i);
    p[2 * i + 1] = integer(i + 1);
  }
  const int rc = edb_statement_each(&update, p, 2, RUNS, affected, done);
  /* The statement runs by itself afterwards. */
  edb_parameter one_row[2] = {p[0], integer(1)};
  int64_t n;
  CHECK_INT(edb_statement_execute(&update, one_row, 2, &n), rc == EDB_OK ? EDB_OK : rc);
  CHECK_INT(edb_statement_close(&update), EDB_OK);
  return rc;
}

static edb_parameter of_bytes(int i) {
  static const char bytes[] = {0, 'a', (char)255, '\\'};
  edb_parameter v = {NULL, {.kind = i % 5 ? EDB_BYTES : EDB_NULL}};
  v.value.as.bytes.p = bytes;
  v.value.as.bytes.n = (size_t)i % 5;
  return v;
}
static edb_parameter of_unsigned(int i) {
  edb_parameter v = {NULL, {.kind = EDB_U64}};
  v.value.as.u64 = UINT64_MAX - (uint64_t)i;
  return v;
}
static edb_parameter of_booleans(int i) {
  edb_parameter v = {NULL, {.kind = EDB_BOOL}};
  v.value.as.boolean = i % 2;
  return v;
}
static edb_parameter of_doubles(int i) {
  edb_parameter v = {NULL, {.kind = i ? EDB_F64 : EDB_NULL}};
  v.value.as.f64 = i / 8.0;
  return v;
}
static edb_parameter of_nulls(int i) {
  (void)i;
  return (edb_parameter){NULL, {.kind = EDB_NULL}};
}
static edb_parameter of_dates(int i) {
  edb_parameter v = {NULL, {.kind = EDB_TIME}};
  v.value.as.time.form = EDB_DATE;
  v.value.as.time.days = i;
  return v;
}
static edb_parameter of_kinds(int i) {
  return i % 2 ? integer(i) : i % 4 ? text("1.5") : of_doubles(i);
}
static edb_parameter of_long(int i) {
  static char p[20001];
  memset(p, 'x', sizeof p - 1);
  return text(p + i);
}

static void test_kinds(void) {
  static const struct {
    const char *type, *query, *expected;
    edb_parameter (*value)(int);
  } cases[] = {
      {"varbinary(8)", "SELECT group_concat(hex(v) ORDER BY id) FROM each_t WHERE id < 6",
       "'00,0061,0061FF,0061FF5C'", of_bytes},
      {"varbinary(8)", "SELECT sum(v IS NULL) FROM each_t", "'40'", of_bytes},
      {"bigint unsigned", "SELECT concat(max(v), ' ', min(v)) FROM each_t",
       "'18446744073709551615 18446744073709551416'", of_unsigned},
      {"boolean", "SELECT sum(v) FROM each_t", "'100'", of_booleans},
      {"double", "SELECT concat(sum(v), ' ', sum(v IS NULL)) FROM each_t", "'2487.5 1'",
       of_doubles},
      {"int", "SELECT sum(v IS NULL) FROM each_t", "'200'", of_nulls},
      {"date", "SELECT concat(min(v), ' ', max(v)) FROM each_t", "'1970-01-01 1970-07-19'",
       of_dates},
      {"double", "SELECT sum(v) FROM each_t", "10687.5", of_kinds},
      {"text", "SELECT sum(length(v)) FROM each_t", "'3980100'", of_long},
  };
  edb_connection c;
  int64_t affected[RUNS];
  size_t done;
  must_open(&c);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_INT(set_all(&c, cases[i].type, cases[i].value, affected, &done), EDB_OK);
    for (int k = 0; k < RUNS; k++) CHECK_INT(affected[k], 1);
    CHECK_STR(one(&c, cases[i].query, 0, NULL, 0), cases[i].expected);
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* A row that is not there: the sum tells that there is one, not which. An error: how many were done is not known. */
static void test_counts(void) {
  edb_connection c;
  edb_statement s;
  static edb_parameter p[RUNS];
  int64_t affected[RUNS];
  size_t done;
  must_open(&c);
  CHECK_INT(edb_can_run_each(&c), 1);
  run(&c,
      "CREATE OR REPLACE TEMPORARY TABLE each_c (id bigint PRIMARY KEY, w int) ENGINE = InnoDB");
  run(&c, "INSERT INTO each_c (id) SELECT seq FROM seq_1_to_200 WHERE seq <> 77");
  for (int i = 0; i < RUNS; i++) p[i] = integer(i + 1);
  CHECK_INT(edb_prepare(&c, "DELETE FROM each_c WHERE id = ?", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_each(&s, p, 1, RUNS, affected, &done), EDB_OK);
  CHECK_INT(affected[0], -1);
  CHECK_INT(affected[76], -1);
  CHECK_STR(one(&c, "SELECT count(*) FROM each_c", 0, NULL, 0), "0");
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  p[100] = integer(50);
  CHECK_INT(edb_prepare(&c, "INSERT INTO each_c (id) VALUES (?)", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_each(&s, p, 1, RUNS, affected, &done), EDB_CONSTRAINT);
  CHECK(done == SIZE_MAX);
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  if (!have_server("mysql_each")) return 0;
  test_kinds();
  test_counts();
  CHECK_INT(blocks, 0);
  return unit_done("mysql_each");
}
