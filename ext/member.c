/*
** ext/member.c: who hears of SQLite's transaction for a session: the tables that are written to, and edb_transaction for
** what is no table.
**
** A function and a table-valued function get no xBegin. In BEGIN … COMMIT, edb_exec and an edb_query that may write (and
** the first read of a server with snapshot=1) so run a statement of their own that writes to the eponymous table
** edb_transaction: SQLite begins it, and tells it of savepoints, COMMIT and ROLLBACK, as it does every table. The write
** itself does nothing but let the server's session in; it takes the local database's write lock.
*/
#include "extInt.h"

#include <string.h>

/* ---- Tables -------------------------------------------------------------------------------------------- */

/* A table that cannot be read, or whose server is not to be had, says so when it is written to. */
int transaction_begin(sqlite3_vtab *vtab) {
  Table *table = (Table *)vtab;
  Server *server = NULL;
  char *message = NULL;
  int rc = table_server(table, &server, &message);
  sqlite3_free(message);
  if (rc != SQLITE_OK) return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
  return session_join(server, &table->session);
}

int transaction_sync(sqlite3_vtab *vtab) {
  Table *table = (Table *)vtab;
  char *message = NULL;
  if (table->session == NULL) return SQLITE_OK;
  int rc = session_sync(table->session, &message);
  return rc == SQLITE_OK ? rc : vtab_fail(vtab, rc, message);
}

int transaction_commit(sqlite3_vtab *vtab) {
  Table *table = (Table *)vtab;
  if (table->session) session_leave(table->session);
  table->session = NULL;
  return SQLITE_OK;
}

int transaction_rollback(sqlite3_vtab *vtab) {
  Table *table = (Table *)vtab;
  if (table->session) session_rollback(table->session);
  table->session = NULL;
  return SQLITE_OK;
}

int server_unheard(const Server *server, int rc, char *message) {
  if (rc != SQLITE_OK && message) {
    edb_log(server->edb, server->name, message, strlen(message));
    sqlite3_log(rc, "%s", message);
  }
  sqlite3_free(message);
  return rc;
}

static int unheard(const Session *session, int rc, char *message) {
  return server_unheard(session_server(session), rc, message);
}

int transaction_savepoint(sqlite3_vtab *vtab, int number) {
  Table *table = (Table *)vtab;
  char *message = NULL;
  table->given = 0;
  if (table->session == NULL) return SQLITE_OK;
  int rc = session_savepoint(table->session, number, &message);
  return unheard(table->session, rc, message);
}

int transaction_release(sqlite3_vtab *vtab, int number) {
  Table *table = (Table *)vtab;
  char *message = NULL;
  if (table->session == NULL) return SQLITE_OK;
  int rc = session_release(table->session, number, &message);
  return unheard(table->session, rc, message);
}

int transaction_rollback_to(sqlite3_vtab *vtab, int number) {
  Table *table = (Table *)vtab;
  char *message = NULL;
  if (table->session == NULL) return SQLITE_OK;
  int rc = session_rollback_to(table->session, number, &message);
  return unheard(table->session, rc, message);
}

/* ---- edb_transaction ------------------------------------------------------------------------------------- */

typedef struct Member {
  sqlite3_vtab base;
  Edb *edb;
  Session **sessions;
  int count;
  int depth; /* levels that there are */
} Member;

int session_enter(Server *server, Session **session, char **message) {
  Edb *edb = server->edb;
  *session = server->session;
  if (*session || sqlite3_get_autocommit(edb->db)) return SQLITE_OK;
  edb->entering = server;
  char *told = NULL;
  int rc = sql_run(edb->db, sqlite3_mprintf("INSERT INTO main.edb_transaction VALUES (1)"), &told);
  edb->entering = NULL;
  *session = server->session;
  if (rc == SQLITE_OK && *session == NULL) rc = SQLITE_ERROR;
  if (rc != SQLITE_OK) {
    *message =
        sqlite3_mprintf("edb: %s %s: cannot take part in the transaction: %s", server->driver->name,
                        server->name, told ? told : "a table has the name edb_transaction");
  }
  sqlite3_free(told);
  return rc;
}

static int member_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                          sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  int rc = sqlite3_declare_vtab(db, "CREATE TABLE x(server)");
  Member *member = rc == SQLITE_OK ? sqlite3_malloc64(sizeof *member) : NULL;
  if (rc == SQLITE_OK && member == NULL) rc = SQLITE_NOMEM;
  if (rc != SQLITE_OK) return rc;
  memset(member, 0, sizeof *member);
  member->edb = edb;
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  *vtab = &member->base;
  return SQLITE_OK;
}

static int member_disconnect(sqlite3_vtab *vtab) {
  sqlite3_free(((Member *)vtab)->sessions);
  sqlite3_free(vtab);
  return SQLITE_OK;
}

static int member_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid) {
  Member *member = (Member *)vtab;
  Server *server = member->edb->entering;
  (void)argc;
  (void)argv;
  *rowid = 0;
  if (server == NULL) {
    return vtab_fail(vtab, SQLITE_READONLY, sqlite3_mprintf("edb_transaction is edb's own"));
  }
  size_t bytes = (size_t)(member->count + 1) * sizeof(Session *);
  Session **grown = sqlite3_realloc64(member->sessions, bytes);
  if (grown == NULL) return SQLITE_NOMEM;
  member->sessions = grown;
  int rc = session_join(server, &member->sessions[member->count]);
  if (rc != SQLITE_OK) return rc;
  Session *session = member->sessions[member->count++];
  if (member->depth == 0) return SQLITE_OK;
  char *message = NULL;
  rc = session_savepoint(session, member->depth - 1, &message);
  return rc == SQLITE_OK ? rc : vtab_fail(vtab, rc, message);
}

static int member_begin(sqlite3_vtab *vtab) {
  ((Member *)vtab)->depth = 0;
  return SQLITE_OK;
}

static int member_sync(sqlite3_vtab *vtab) {
  Member *member = (Member *)vtab;
  for (int i = 0; i < member->count; i++) {
    char *message = NULL;
    int rc = session_sync(member->sessions[i], &message);
    if (rc != SQLITE_OK) return vtab_fail(vtab, rc, message);
  }
  return SQLITE_OK;
}

static int member_commit(sqlite3_vtab *vtab) {
  Member *member = (Member *)vtab;
  while (member->count > 0) session_leave(member->sessions[--member->count]);
  return SQLITE_OK;
}

static int member_rollback(sqlite3_vtab *vtab) {
  Member *member = (Member *)vtab;
  while (member->count > 0) session_rollback(member->sessions[--member->count]);
  return SQLITE_OK;
}

static int member_savepoint(sqlite3_vtab *vtab, int number) {
  Member *member = (Member *)vtab;
  member->depth = number + 1;
  for (int i = 0; i < member->count; i++) {
    char *message = NULL;
    int rc = session_savepoint(member->sessions[i], number, &message);
    if (rc != SQLITE_OK) return unheard(member->sessions[i], rc, message);
  }
  return SQLITE_OK;
}

static int member_release(sqlite3_vtab *vtab, int number) {
  Member *member = (Member *)vtab;
  member->depth = number;
  for (int i = 0; i < member->count; i++) {
    char *message = NULL;
    int rc = session_release(member->sessions[i], number, &message);
    if (rc != SQLITE_OK) return unheard(member->sessions[i], rc, message);
  }
  return SQLITE_OK;
}

static int member_rollback_to(sqlite3_vtab *vtab, int number) {
  Member *member = (Member *)vtab;
  member->depth = number + 1;
  for (int i = 0; i < member->count; i++) {
    char *message = NULL;
    int rc = session_rollback_to(member->sessions[i], number, &message);
    if (rc != SQLITE_OK) return unheard(member->sessions[i], rc, message);
  }
  return SQLITE_OK;
}

/* Nothing is ever read from it. */
static int member_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)info;
  return vtab_fail(vtab, SQLITE_ERROR, sqlite3_mprintf("edb_transaction is edb's own"));
}

static int member_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  (void)vtab;
  (void)cursor;
  return SQLITE_ERROR;
}

const sqlite3_module member_module = {.iVersion = 2,
                                      .xConnect = member_connect,
                                      .xBestIndex = member_best_index,
                                      .xDisconnect = member_disconnect,
                                      .xOpen = member_open,
                                      .xUpdate = member_update,
                                      .xBegin = member_begin,
                                      .xSync = member_sync,
                                      .xCommit = member_commit,
                                      .xRollback = member_rollback,
                                      .xSavepoint = member_savepoint,
                                      .xRelease = member_release,
                                      .xRollbackTo = member_rollback_to};
