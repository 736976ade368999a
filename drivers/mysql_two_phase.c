/*
** drivers/mysql_two_phase.c: transactions that are prepared, as MySQL and MariaDB have them: XA transactions.
**
**   XA START 'name' … XA END 'name', XA PREPARE 'name'; later, by whoever knows the name: XA COMMIT 'name'
**
** The session that has prepared one takes nothing but its end, and keeps it from all others while it lasts. That a
** prepared one outlives its session holds since MariaDB 10.5 and MySQL 5.7.7. The server lists no times.
*/
#include <stdio.h>
#include <string.h>

#include "mysql.h"

#define XAER_NOTA 1397

static int run_xa(my_connection *c, const char *verb, const char *more) {
  char sql[EDB_TWO_PHASE_NAME + 48];
  snprintf(sql, sizeof sql, "XA %s '%s'%s", verb, c->two_phase, more);
  return my_run(c, sql);
}

/* The server keeps what is prepared. */
static int is_kept(my_connection *c) {
  unsigned long version = my.get_server_version(c->mysql);
  int mariadb = strstr(my.get_server_info(c->mysql), "MariaDB") != NULL;
  if (version >= (mariadb ? 100500ul : 50707ul)) return EDB_OK;
  return edb_fail(&c->error, EDB_UNSUPPORTED,
                  "this server rolls prepared transactions back with their connection; two_phase "
                  "needs %s or newer",
                  mariadb ? "MariaDB 10.5" : "MySQL 5.7.7");
}

int my_two_phase_begin(my_connection *c, const char *name) {
  int rc = edb_two_phase_check(name, &c->error);
  if (rc == EDB_OK) rc = is_kept(c);
  if (rc != EDB_OK) return rc;
  edb_copy_line(c->two_phase, sizeof c->two_phase, name, strlen(name));
  rc = run_xa(c, "START", "");
  if (rc != EDB_OK) c->two_phase[0] = 0;
  return rc;
}

int my_two_phase_commit(my_connection *c) {
  int rc = run_xa(c, "END", "");
  if (rc != EDB_OK) return rc;
  rc = run_xa(c, "COMMIT", " ONE PHASE");
  if (rc == EDB_OK) c->two_phase[0] = 0;
  return rc;
}

/* XA END fails where it was done, or the server has rolled back: either way the rollback goes. */
int my_two_phase_rollback(my_connection *c) {
  (void)run_xa(c, "END", "");
  int rc = c->dead ? EDB_CLOSED : run_xa(c, "ROLLBACK", "");
  c->two_phase[0] = 0;
  return rc;
}

int my_two_phase_prepare(void *transaction) {
  my_connection *c = transaction;
  int rc = my_ready(c);
  int doomed = c->doomed;
  if (rc == EDB_BUSY) return rc;
  c->transaction = c->doomed = c->committed = 0;
  if (rc != EDB_OK) return rc;
  if (!c->two_phase[0]) {
    rc = my_run(c, "ROLLBACK");
    return rc != EDB_OK ? rc
                        : edb_fail(&c->error, EDB_INVALID_QUERY,
                                   "the transaction has no name to be prepared under");
  }
  if (doomed) {
    (void)my_two_phase_rollback(c);
    return edb_fail(&c->error, EDB_FAILED, "the transaction had failed and was rolled back");
  }
  rc = run_xa(c, "END", "");
  if (rc == EDB_OK) rc = run_xa(c, "PREPARE", "");
  if (rc == EDB_OK) {
    c->prepared = 1;
  } else if (!c->dead) {
    edb_error why = c->error;
    if (my_ready(c) != EDB_OK || my_two_phase_rollback(c) != EDB_OK) c->dead = 1;
    c->error = why;
  }
  return edb_fail_ended(&c->error, rc);
}

int my_two_phase_resolve(void *connection, const char *name, int commit) {
  my_connection *c = connection;
  char sql[EDB_TWO_PHASE_NAME + 32];
  int rc = my_ready(c);
  int own = c->prepared && strcmp(c->two_phase, name) == 0;
  if (rc == EDB_OK) rc = edb_two_phase_check(name, &c->error);
  if (rc == EDB_OK && c->prepared && !own) {
    rc = edb_fail(&c->error, EDB_BUSY, "the connection's prepared transaction is not resolved yet");
  }
  if (rc != EDB_OK) return rc;
  snprintf(sql, sizeof sql, "XA %s '%s'", commit ? "COMMIT" : "ROLLBACK", name);
  rc = my_run(c, sql);
  if (rc == EDB_OK && own) {
    c->prepared = 0;
    c->two_phase[0] = 0;
  }
  /* Only "there is none" may be read as that. */
  if (rc != EDB_OK && c->error.vendor == XAER_NOTA) {
    rc = EDB_INVALID_QUERY;
  } else if (rc == EDB_INVALID_QUERY) {
    rc = EDB_FAILED;
  }
  c->error.code = (edb_code)rc;
  return rc;
}
