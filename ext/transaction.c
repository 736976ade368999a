/*
** ext/transaction.c: what a transaction of SQLite means for each server.
**
** SQLite calls xBegin of a table that a statement writes to, before the statement starts. The table then joins its
** server's session (member.c). The first write begins a transaction over a link of its own, which from then on carries
** all that is done on that server, reads as well, until SQLite commits or rolls back:
**
**   xBegin       a table joins the session                          nothing is sent
**   xSavepoint   a level is noted                                   nothing is sent
**   xUpdate      BEGIN, SAVEPOINTs that are due, the statement
**   xRollbackTo  ROLLBACK TO
**   xSync        COMMIT                                             an error rolls the local side back too
**   xCommit      the table leaves; the last one gives the link back
**   xRollback    ROLLBACK, likewise
**
** Levels are SQLite's: a savepoint of the user's, or the one around a statement that may fail half-way. Those between
** which nothing was written share one SAVEPOINT, edb_<the lowest>.
**
** A server where an error dooms the transaction (dialect->error_dooms) has another SAVEPOINT, edb_guard, before each
** command whose failure SQLite would survive: a failing INSERT inside BEGIN … COMMIT undoes itself alone.
*/
#include "extInt.h"

#include <string.h>

typedef struct Level {
  int number;
  Running running; /* the statement that it stands around */
  int name;        /* edb_<name> is its SAVEPOINT; -1: none was sent */
} Level;

struct Session {
  Server *server;
  int members;                /* tables that joined and did not leave */
  Link *link;                 /* NULL: nothing was sent */
  const edb_dialect *dialect; /* of the link */
  edb_transaction transaction;
  int ended;    /* it was committed or rolled back, and nothing follows */
  char *failed; /* why nothing but a rollback is done in it */
  Level *levels;
  int count;
  int guard; /* 1: edb_guard stands above the levels */
  int fresh; /* 1: nothing was written since the topmost SAVEPOINT */
  int undo;  /* 1: the last command has a SAVEPOINT just before it */
};

/* ---- Joining and leaving -------------------------------------------------------------------------------- */

int session_join(Server *server, Session **out) {
  Session *session = server->session;
  if (session == NULL) {
    session = sqlite3_malloc64(sizeof *session);
    if (session == NULL) return SQLITE_NOMEM;
    memset(session, 0, sizeof *session);
    session->server = server;
    server->session = session;
    server->links++; /* it lives as long as this */
  }
  session->members++;
  *out = session;
  return SQLITE_OK;
}

/* The link has no transaction any more. */
static void session_give_back(Session *session) {
  Link *link = session->link;
  if (link == NULL) return;
  session->link = NULL;
  link->session = NULL;
  link_release(link);
}

int session_failed(const Session *session) { return session->failed != NULL; }

Server *session_server(const Session *session) { return session->server; }

int session_brackets(const Session *session, Running running) {
  return session->count > 0 && running_same(session->levels[session->count - 1].running, running);
}

Link *session_link(const Server *server) {
  return server->session && !server->session->ended ? server->session->link : NULL;
}

/* ---- Commands of its own ----------------------------------------------------------------------------------- */

static void session_fail(Session *session, const char *why) {
  if (session->failed == NULL) session->failed = sqlite3_mprintf("%s", why ? why : "out of memory");
}

static int session_refuse(const Session *session, char **message) {
  const Server *server = session->server;
  *message =
      sqlite3_mprintf("edb: %s %s: the transaction failed and takes nothing more: roll it back "
                      "(%s)",
                      server->driver->name, server->name, session->failed);
  return *message ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* SAVEPOINT and its like, with edb_<number>, or edb_guard for -1. A NULL template needs nothing to be sent. */
static int session_control(Session *session, const char *template, int number, char **message) {
  char name[24] = "edb_guard";
  if (template == NULL) return SQLITE_OK;
  if (number >= 0) sqlite3_snprintf(sizeof name, name, "edb_%d", number);
  sqlite3_str *text = sqlite3_str_new(NULL);
  append_template(text, template, name);
  char *sql = sqlite3_str_finish(text);
  int rc = sql ? link_control(session->link, sql, message) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if (rc != SQLITE_OK) session_fail(session, *message);
  return rc;
}

static int session_begin(Session *session, char **message) {
  static const edb_transaction_spec spec = {0};
  int rc = link_begin(session->server, &spec, &session->link, &session->transaction, message);
  if (rc != SQLITE_OK) return rc;
  session->link->session = session;
  session->dialect = edb_connection_dialect(&session->link->connection);
  return rc;
}

/* Whether something stands on the server's side that edb_guard would be above. */
static int session_top(const Session *session) {
  for (int i = session->count; i-- > 0;) {
    if (session->levels[i].name >= 0) return session->levels[i].name;
  }
  return -1;
}

static int drop_guard(Session *session, char **message) {
  if (!session->guard) return SQLITE_OK;
  session->guard = 0;
  return session_control(session, session->dialect->release, -1, message);
}

static int send_guard(Session *session, char **message) {
  int rc = drop_guard(session, message);
  if (rc == SQLITE_OK) {
    rc = session_control(session, session->dialect->savepoint, -1, message);
  }
  session->guard = session->fresh = rc == SQLITE_OK && session->dialect->savepoint;
  return rc;
}

/* One SAVEPOINT for all levels that have none. */
static int send_levels(Session *session, char **message) {
  int first = session->count;
  while (first > 0 && session->levels[first - 1].name < 0) first--;
  if (first == session->count) return SQLITE_OK;
  int name = session->levels[first].number;
  int rc = drop_guard(session, message);
  if (rc == SQLITE_OK) {
    rc = session_control(session, session->dialect->savepoint, name, message);
  }
  if (rc != SQLITE_OK) return rc;
  for (int i = first; i < session->count; i++) session->levels[i].name = name;
  session->fresh = session->dialect->savepoint != NULL;
  return SQLITE_OK;
}

/* ---- Around each command of the link ------------------------------------------------------------------------ */

/* Whether SQLite would go on after an error. Outside of BEGIN it gives the whole transaction up, but for what OR FAIL
** and OR IGNORE keep. */
static int careful(const Session *session, const Command *command) {
  int on_conflict = command->on_conflict;
  if (command->careful) return 1;
  if (!session->dialect->error_dooms || on_conflict == SQLITE_ROLLBACK) return 0;
  return !sqlite3_get_autocommit(session->server->edb->db) || on_conflict == SQLITE_FAIL ||
         on_conflict == SQLITE_IGNORE;
}

int session_before(Session *session, const Command *command, char **message) {
  int rc = SQLITE_OK;
  rc = batch_end(session->server, message);
  if (rc != SQLITE_OK) return rc;
  session->undo = 0;
  if (session->failed) return session_refuse(session, message);
  if (command->writes) rc = send_levels(session, message);
  if (rc == SQLITE_OK && !session->fresh && careful(session, command))
    rc = send_guard(session, message);
  if (rc != SQLITE_OK) return rc;
  session->undo = session->fresh;
  if (command->writes) session->fresh = 0;
  return SQLITE_OK;
}

int session_run(Session *session, const Command *command, Stream *stream, sqlite3_int64 *affected,
                char **message) {
  int rc = session->failed || session->link ? SQLITE_OK : session_begin(session, message);
  if (rc == SQLITE_OK && session->link == NULL) rc = session_refuse(session, message);
  if (rc != SQLITE_OK) return rc;
  Link *link = session->link;
  return link_run(&link, command, stream, affected, message);
}

int session_undo(Session *session, const char *why) {
  char *message = NULL;
  if (session->failed) return SQLITE_ERROR;
  if (!session->undo) {
    session_fail(session, why);
    return SQLITE_ERROR;
  }
  int rc = session_control(session, session->dialect->rollback_to,
                           session->guard ? -1 : session_top(session), &message);
  sqlite3_free(message);
  if (rc == SQLITE_OK) session->fresh = 1;
  return rc;
}

void session_after(Session *session, int code, const char *why) {
  if (code == EDB_CLOSED) {
    session_fail(session, why);
  } else if (session->dialect->error_dooms) {
    session_undo(session, why);
  }
}

/* ---- The end -------------------------------------------------------------------------------------------------- */

/* Once for all of its tables. */
static int session_commit(Session *session, char **message) {
  if (session->ended) return SQLITE_OK;
  int rc = batch_end(session->server, message);
  if (rc != SQLITE_OK) return rc;
  if (session->failed) return session_refuse(session, message);
  if (session->link == NULL) return SQLITE_OK;
  link_free_for_command(session->link);
  int code = edb_transaction_commit(&session->transaction);
  if (code == EDB_BUSY) return link_fail(session->link, code, message);
  session->ended = 1;
  if (code == EDB_OK) {
    session_give_back(session);
    return SQLITE_OK;
  }
  rc = link_fail(session->link, code, message);
  if (code == EDB_CLOSED || code == EDB_INTERRUPTED) {
    char *told = *message;
    *message = sqlite3_mprintf("%s; whether it was committed is not known", told ? told : "");
    sqlite3_free(told);
    session->link->generation = -1;
  }
  session_give_back(session);
  return rc;
}

static void session_end(Session *session) {
  Link *link = session->link;
  if (link == NULL) return;
  batch_abort(session->server);
  link_free_for_command(link);
  if (edb_transaction_rollback(&session->transaction) != EDB_OK) {
    const char *why = edb_detail(&link->connection)->message;
    edb_log(session->server->edb, session->server->name, why, strlen(why));
    link->generation = -1;
  }
  session_give_back(session);
}

/* As if nothing had been sent yet. */
static void session_restart(Session *session) {
  session_end(session);
  sqlite3_free(session->failed);
  session->failed = NULL;
  session->count = session->guard = session->fresh = session->undo = 0;
}

/* ---- SQLite's calls ---------------------------------------------------------------------------------------------- */

int session_sync(Session *session, char **message) { return session_commit(session, message); }

void session_leave(Session *session) {
  Server *server = session->server;
  if (--session->members > 0) return;
  session_give_back(session);
  server->session = NULL;
  sqlite3_free(session->levels);
  sqlite3_free(session->failed);
  sqlite3_free(session);
  server_unlink(server);
}

void session_rollback(Session *session) {
  if (!session->ended) {
    session->ended = 1;
    session_end(session);
  }
  session_leave(session);
}

/* Where the statement that inserts ends, or another begins within it. SQLite drops the message of this error. */
static int session_flush(Session *session, char **message) {
  int rc = batch_end(session->server, message);
  if (rc != SQLITE_OK && *message) {
    edb_log(session->server->edb, session->server->name, *message, strlen(*message));
  }
  return rc;
}

int session_savepoint(Session *session, int number, char **message) {
  int rc = session_flush(session, message);
  if (rc != SQLITE_OK) return rc;
  int next = session->count ? session->levels[session->count - 1].number + 1 : 0;
  if (next > number) return SQLITE_OK;
  size_t more = (size_t)(session->count + number - next + 1);
  Level *grown = sqlite3_realloc64(session->levels, more * sizeof *grown);
  if (grown == NULL) return SQLITE_NOMEM;
  session->levels = grown;
  for (; next <= number; next++) {
    session->levels[session->count++] = (Level){.number = next, .name = -1};
  }
  session->levels[session->count - 1].running = running_writer(session->server->edb->db);
  return SQLITE_OK;
}

/* Forgets the levels from `number` on; the lowest of them that has a SAVEPOINT, -1 for none. */
static int drop_levels(Session *session, int number) {
  int name = -1;
  while (session->count > 0 && session->levels[session->count - 1].number >= number) {
    session->count--;
    if (session->levels[session->count].name >= 0) name = session->levels[session->count].name;
  }
  return name;
}

static int has_name(const Session *session, int name) {
  for (int i = 0; i < session->count; i++) {
    if (session->levels[i].name == name) return 1;
  }
  return 0;
}

int session_release(Session *session, int number, char **message) {
  int rc = session_flush(session, message);
  if (rc != SQLITE_OK) return rc;
  int name = drop_levels(session, number);
  if (name < 0 || has_name(session, name) || session->ended || session->failed) return SQLITE_OK;
  link_free_for_command(session->link);
  session->guard = 0; /* it stood above */
  session->fresh = session->undo = 0;
  return session_control(session, session->dialect->release, name, message);
}

int session_rollback_to(Session *session, int number, char **message) {
  if (session->ended) return SQLITE_OK;
  batch_abort(session->server);
  if (number < 0) { /* to the SAVEPOINT that began the transaction, which goes on */
    session_restart(session);
    return SQLITE_OK;
  }
  int first = 0;
  while (first < session->count && session->levels[first].number < number) first++;
  if (first == session->count) return SQLITE_OK;
  int name = session->levels[first].name;
  /* Nothing was written since it began, or it was rolled back to by another table's call. */
  int there = session->fresh && !session->guard && !session->failed && session_top(session) == name;
  session->count = first + 1;
  if (name < 0 || there) return SQLITE_OK;
  link_free_for_command(session->link);
  if (session->dialect->rollback_to == NULL) {
    session_fail(session, "the server has no savepoints, so that a part of it cannot be undone");
    return session_refuse(session, message);
  }
  sqlite3_free(session->failed);
  session->failed = NULL;
  session->guard = 0;
  int rc = session_control(session, session->dialect->rollback_to, name, message);
  session->fresh = rc == SQLITE_OK;
  session->undo = 0;
  return rc;
}
