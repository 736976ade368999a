/*
** postgresql_two_phase.c: prepared transactions of the PostgreSQL driver.
**
** servers: postgresql
*/
#define LIVE_URL "EDB_TEST_POSTGRESQL_URL"
#include "two_phase.h"

/* What another user may not end is not taken for one that is not there. */
static void test_forbidden(void) {
  edb_connection c, d;
  edb_transaction t;
  must_open(&c);
  must_open(&d);
  run(&c, "DROP ROLE IF EXISTS edb_two_phase_other");
  run(&c, "CREATE ROLE edb_two_phase_other");
  CHECK_INT(begin_named(&c, "x.7", &t), EDB_OK);
  run(&c, "INSERT INTO edb_two_phase VALUES (9)");
  CHECK_INT(edb_transaction_prepare(&t), EDB_OK);
  run(&d, "SET ROLE edb_two_phase_other");
  CHECK_INT(edb_resolve(&d, "x.7", 1), EDB_FAILED);
  CHECK_STR(edb_detail(&d)->sqlstate, "42501");
  CHECK_INT(edb_resolve(&c, "x.7", 0), EDB_OK);
  run(&c, "DROP ROLE edb_two_phase_other");
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

/* A serialization failure that shows at the commit is the end, not a lock that may be waited for. */
static void test_serialization(void) {
  static const char write_skew[] = "WITH n AS (SELECT count(*) AS n FROM edb_two_phase) INSERT "
                                   "INTO edb_two_phase SELECT 100 + n * 10 + %s FROM n";
  edb_connection c[2];
  edb_transaction t[2];
  char sql[200];
  for (int i = 0; i < 2; i++) {
    must_open(&c[i]);
    run(&c[i], "SET default_transaction_isolation = 'serializable'");
    CHECK_INT(edb_begin(&c[i], &t[i]), EDB_OK);
  }
  for (int i = 0; i < 2; i++) {
    snprintf(sql, sizeof sql, "%.*s%d FROM n", (int)(strstr(write_skew, "%s") - write_skew),
             write_skew, i);
    run(&c[i], sql);
  }
  CHECK_INT(edb_transaction_commit(&t[0]), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t[1]), EDB_FAILED);
  CHECK_STR(edb_detail(&c[1])->sqlstate, "40001");
  CHECK_INT(edb_transaction_commit(&t[1]), EDB_CLOSED);
  usable(&c[1]);
  for (int i = 0; i < 2; i++) CHECK_INT(edb_close(&c[i]), EDB_OK);
}

int main(void) {
  if (!have_server("postgresql_two_phase")) return 0;
  test_two_phase(0);
  static const char *const kill[] = {"SELECT pg_terminate_backend(", ")"};
  test_lost_before_commit(kill, "SELECT pg_backend_pid()");
  test_forbidden();
  test_serialization();
  CHECK_INT(blocks, 0);
  return unit_done("postgresql_two_phase");
}
