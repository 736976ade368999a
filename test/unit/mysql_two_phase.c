/*
** mysql_two_phase.c: prepared transactions (XA) of the MySQL driver.
**
** servers: mysql
*/
#define LIVE_URL "EDB_TEST_MYSQL_URL"
#include "two_phase.h"

/* A statement that would commit is refused by the server. */
static void test_ddl(void) {
  edb_connection c;
  edb_transaction t;
  must_open(&c);
  CHECK_INT(begin_named(&c, "x.8", &t), EDB_OK);
  run(&c, "INSERT INTO edb_two_phase VALUES (10)");
  CHECK(edb_execute(&c, "CREATE TABLE edb_two_phase_ddl (a int)", NULL, 0, NULL) != EDB_OK);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  count_is(&c, "3");
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  if (!have_server("mysql_two_phase")) return 0;
  test_two_phase(1);
  static const char *const kill[] = {"KILL ", ""};
  test_lost_before_commit(kill, "SELECT connection_id()");
  test_ddl();
  CHECK_INT(blocks, 0);
  return unit_done("mysql_two_phase");
}
