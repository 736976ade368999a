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

int main(void) {
  if (!have_server("postgresql_two_phase")) return 0;
  test_two_phase(0);
  static const char *const kill[] = {"SELECT pg_terminate_backend(", ")"};
  test_lost_before_commit(kill, "SELECT pg_backend_pid()");
  test_forbidden();
  CHECK_INT(blocks, 0);
  return unit_done("postgresql_two_phase");
}
