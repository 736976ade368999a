/*
** drivers/mysql_ahead.c: a statement that is sent now and answers later, by libmariadb's non-blocking calls.
**
** mysql_stmt_execute_start returns where it would wait for its socket, mostly with everything sent; until
** mysql_stmt_execute_cont has brought the answer, the connection takes nothing else. Meanwhile the caller makes ready what
** it sends next. The wait for the answer is as any other one (mysql_wait.c): it can be interrupted, and times out.
*/
#include "mysql.h"

#define OPT_NONBLOCK 6000
enum { WAIT_READ = 1, WAIT_WRITE = 2, WAIT_TIMEOUT = 8 };

int my_can_send_ahead(my_connection *c) {
  if (!c->hooked || !my.stmt_execute_start || !my.stmt_execute_cont || !my.get_socket) return 0;
  if (!c->nonblock) c->nonblock = my.options(c->mysql, OPT_NONBLOCK, NULL) == 0;
  return c->nonblock;
}

int my_statement_send(my_statement *s, const edb_parameter *parameters, size_t n) {
  my_connection *c = s->connection;
  if (!s->stmt) return edb_fail(&c->error, EDB_UNSUPPORTED, "the statement is not a prepared one");
  int rc = my_bind(s, parameters, n);
  if (rc != EDB_OK) return rc;
  c->ahead = s;
  c->ahead_wait = my.stmt_execute_start(&c->ahead_failed, s->stmt);
  return EDB_OK;
}

int my_statement_receive(my_statement *s) {
  my_connection *c = s->connection;
  while (c->ahead_wait) {
    const int ready = my_wait_ready(c, (c->ahead_wait & WAIT_WRITE) == 0);
    c->ahead_wait = my.stmt_execute_cont(
        &c->ahead_failed, s->stmt, ready ? c->ahead_wait & (WAIT_READ | WAIT_WRITE) : WAIT_TIMEOUT);
  }
  c->ahead = NULL;
  return c->ahead_failed ? my_stmt_error(c, s->stmt) : EDB_OK;
}
