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
** A server with two_phase=1 is prepared in xSync instead, before any other is committed, and committed in xCommit
** (two_phase.c). Beside such servers there may be one without: its COMMIT is the last thing before SQLite's own.
**
** Levels are SQLite's: a savepoint of the user's, or the one around a statement that may fail half-way. Those between
** which nothing was written share one SAVEPOINT, edb_<the lowest>.
**
** A server where an error dooms the transaction (dialect->error_dooms) has another SAVEPOINT, edb_guard, before each
** command whose failure SQLite would survive: a failing INSERT inside BEGIN … COMMIT undoes itself alone.
**
** On a server with snapshot=1 the transaction begins with the first read, too, and reads one state. Before the first write
** it has a SAVEPOINT more, edb_snapshot, so that ROLLBACK TO the savepoint that began SQLite's transaction keeps that state.
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
  char name[EDB_TWO_PHASE_NAME + 1]; /* what it is prepared as; "": it is just committed */
  int prepared;
  int prepared_levels; /* how many there were then: nothing is written in later ones */
  int ended;           /* it was committed or rolled back, and nothing follows */
  char *failed;        /* why nothing but a rollback is done in it */
  Level *levels;
  int count;
  int written; /* 1: something may have been written */
  int kept;    /* 1: edb_snapshot stands below the levels */
  int guard;   /* 1: edb_guard stands above the levels */
  int fresh;   /* 1: nothing was written since the topmost SAVEPOINT */
  int undo;    /* 1: the last command has a SAVEPOINT just before it */
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

#define GUARD (-1)
#define SNAPSHOT (-2)

/* SAVEPOINT and its like, with edb_<number>, edb_guard or edb_snapshot. A NULL template needs nothing to be sent. */
static int session_control(Session *session, const char *template, int number, char **message) {
  char name[24];
  if (template == NULL) return SQLITE_OK;
  sqlite3_snprintf(sizeof name, name, number == GUARD ? "edb_guard" : "edb_snapshot");
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
  Edb *edb = session->server->edb;
  edb_transaction_spec spec = {.snapshot = session->server->snapshot};
  int rc = SQLITE_OK;
  if (session->server->two_phase) {
    rc = journal_possible(edb, message);
    journal_name(edb, session->name);
    spec.two_phase = session->name;
  }
  if (rc == SQLITE_OK)
    rc = link_begin(session->server, &spec, &session->link, &session->transaction, message);
  if (rc != SQLITE_OK) return rc;
  session->link->session = session;
  session->dialect = edb_connection_dialect(&session->link->connection);
  return rc;
}

int session_read(Server *server, char **message) {
  Session *session = NULL;
  if (!server->snapshot) return SQLITE_OK;
  int rc = session_enter(server, &session, message);
  if (rc != SQLITE_OK || session == NULL || session->ended) return rc;
  if (session->failed) return session_refuse(session, message);
  return session->link ? SQLITE_OK : session_begin(session, message);
}

/* The topmost SAVEPOINT below edb_guard; -1: there is none. */
static int session_top(const Session *session) {
  for (int i = session->count; i-- > 0;) {
    if (session->levels[i].name >= 0) return session->levels[i].name;
  }
  return session->kept ? SNAPSHOT : -1;
}

static int drop_guard(Session *session, char **message) {
  if (!session->guard) return SQLITE_OK;
  session->guard = 0;
  return session_control(session, session->dialect->release, GUARD, message);
}

static int send_guard(Session *session, char **message) {
  int rc = drop_guard(session, message);
  if (rc == SQLITE_OK) {
    rc = session_control(session, session->dialect->savepoint, GUARD, message);
  }
  session->guard = session->fresh = rc == SQLITE_OK && session->dialect->savepoint;
  return rc;
}

/* What a snapshot can be gone back to without another one. */
static int send_snapshot(Session *session, char **message) {
  if (!session->server->snapshot || session->kept || !session->dialect->savepoint) return SQLITE_OK;
  int rc = drop_guard(session, message);
  if (rc == SQLITE_OK)
    rc = session_control(session, session->dialect->savepoint, SNAPSHOT, message);
  session->kept = session->fresh = rc == SQLITE_OK;
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
  if (session->prepared) {
    *message = sqlite3_mprintf(
        "edb: %s %s: the transaction is prepared to be committed: only COMMIT or ROLLBACK follow",
        session->server->driver->name, session->server->name);
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  if (command->writes) rc = send_snapshot(session, message);
  if (rc == SQLITE_OK && command->writes) rc = send_levels(session, message);
  if (rc == SQLITE_OK && !session->fresh && careful(session, command))
    rc = send_guard(session, message);
  if (rc != SQLITE_OK) return rc;
  session->undo = session->fresh;
  if (command->writes) session->fresh = 0;
  if (command->writes || command->users) session->written = 1;
  return SQLITE_OK;
}

int session_run(Session *session, const Command *command, Stream *stream, sqlite3_int64 *affected,
                char **message) {
  if (session->ended) session_fail(session, "it is committed there already");
  int rc = session->failed || session->link ? SQLITE_OK : session_begin(session, message);
  if (rc == SQLITE_OK && session->link == NULL) rc = session_refuse(session, message);
  if (rc != SQLITE_OK) return rc;
  Link *link = session->link;
  return link_run(&link, command, stream, affected, message);
}

int session_run_each(Session *session, const Command *command, size_t runs, int64_t *affected,
                     size_t *done, char **message) {
  *done = 0;
  if (session->ended) session_fail(session, "it is committed there already");
  if (session->failed || session->link == NULL) return session_refuse(session, message);
  return link_run_each(session->link, command, runs, affected, done, message);
}

void session_doom(Session *session, const char *why) { session_fail(session, why); }

int session_undo(Session *session, const char *why) {
  char *message = NULL;
  if (session->failed) return SQLITE_ERROR;
  if (!session->undo) {
    session_fail(session, why);
    return SQLITE_ERROR;
  }
  int rc = session_control(session, session->dialect->rollback_to,
                           session->guard ? GUARD : session_top(session), &message);
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

/* It came to an end that is not SQLite's: nothing is to be committed here any more. */
static int session_broken(Session *session, int code, char **message) {
  int rc = link_fail(session->link, code, message);
  session_fail(session, *message);
  session->ended = 1;
  if (code == EDB_CLOSED || code == EDB_INTERRUPTED) session->link->generation = -1;
  session_give_back(session);
  return rc == SQLITE_BUSY ? SQLITE_ERROR : rc; /* after which COMMIT could be tried again */
}

static int session_prepare(Session *session, char **message) {
  link_free_for_command(session->link);
  int code = edb_transaction_prepare(&session->transaction);
  if (code == EDB_BUSY) return link_fail(session->link, code, message);
  session->prepared = code == EDB_OK;
  session->prepared_levels = session->count;
  if (code == EDB_OK) return SQLITE_OK;
  if (code == EDB_CLOSED || code == EDB_INTERRUPTED) two_phase_unsettle(session->server, 1);
  return session_broken(session, code, message);
}

/* What is prepared is committed or, before SQLite's own commit, rolled back; if not now, then when the server is used
** next. */
static void session_resolve(Session *session, int commit) {
  Server *server = session->server;
  char *message = NULL;
  session->ended = 1;
  session->prepared = 0;
  int rc = two_phase_resolve(session->link, session->name, commit, &message);
  if (server_unheard(server, rc, message) != SQLITE_OK) {
    session->link->generation = -1;
    two_phase_unsettle(server, 0);
  }
  session_give_back(session);
}

/* What was only read from is just ended. */
static int is_writer(const Session *session) {
  return session && session->link && session->written;
}

static int is_named(const Session *session) { return is_writer(session) && session->name[0]; }

/* Prepares all that is to be. The decisions are written before anything is prepared, since that takes the lock by which
** others know that the transaction runs. */
static int prepare_all(Edb *edb, char **message) {
  int named = 0, others = 0;
  int rc = SQLITE_OK;
  for (Server *server = edb->servers; server && rc == SQLITE_OK; server = server->next) {
    if (server->session) rc = batch_end(server, message);
  }
  if (rc != SQLITE_OK) return rc;
  for (const Server *server = edb->servers; server; server = server->next) {
    const Session *session = server->session;
    if (is_named(session)) {
      named++;
    } else if (is_writer(session)) {
      others++;
    }
  }
  if (named > 0 && others > 1) {
    *message = sqlite3_mprintf(
        "edb: beside servers with two_phase, a transaction can write to one server without it, "
        "not to %d",
        others);
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  for (Server *server = edb->servers; server && rc == SQLITE_OK; server = server->next) {
    Session *session = server->session;
    if (!is_named(session)) continue;
    if (session->failed) rc = session_refuse(session, message);
    if (rc == SQLITE_OK && !session->prepared)
      rc = journal_write(edb, server, session->name, message);
    edb->preparing = 1;
  }
  for (Server *server = edb->servers; server && rc == SQLITE_OK; server = server->next) {
    Session *session = server->session;
    if (is_named(session) && !session->prepared) rc = session_prepare(session, message);
  }
  return rc;
}

/* Once for all of its tables. */
static int session_commit(Session *session, char **message) {
  int rc = batch_end(session->server, message);
  if (rc != SQLITE_OK) return rc;
  if (session->failed) return session_refuse(session, message);
  if (session->ended || session->prepared) return SQLITE_OK;
  if (session->link == NULL) return SQLITE_OK;
  link_free_for_command(session->link);
  int code = edb_transaction_commit(&session->transaction);
  if (code == EDB_BUSY) return link_fail(session->link, code, message);
  if (code != EDB_OK) return session_broken(session, code, message);
  session->ended = 1;
  session_give_back(session);
  return SQLITE_OK;
}

static void session_end(Session *session) {
  Link *link = session->link;
  if (link == NULL) return;
  if (session->prepared) {
    session_resolve(session, 0);
    return;
  }
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
  session->count = session->guard = session->fresh = session->undo = session->ended = 0;
  session->kept = session->written = 0;
}

/* ---- SQLite's calls ---------------------------------------------------------------------------------------------- */

int session_sync(Session *session, char **message) {
  int rc = prepare_all(session->server->edb, message);
  return rc == SQLITE_OK ? session_commit(session, message) : rc;
}

void session_leave(Session *session) {
  Server *server = session->server;
  server->edb->preparing = 0;
  server_touch(server);
  if (session->prepared) session_resolve(session, 1); /* it is SQLite's commit that we leave by */
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

int session_savepoint(Session *session, int number, char **message) {
  int rc = batch_end(session->server, message);
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
  int rc = batch_end(session->server, message);
  if (rc != SQLITE_OK) return rc;
  int name = drop_levels(session, number);
  if (session->prepared_levels > session->count) session->prepared_levels = session->count;
  if (name < 0 || has_name(session, name) || session->ended || session->failed) return SQLITE_OK;
  if (session->prepared) return SQLITE_OK;
  link_free_for_command(session->link);
  session->guard = 0; /* it stood above */
  session->fresh = session->undo = 0;
  return session_control(session, session->dialect->release, name, message);
}

/* A snapshot stays what it is. */
static int session_rewind(Session *session, char **message) {
  const int here = session->link && session->server->snapshot && !session->prepared;
  const int untouched = !session->written && !session->failed;
  if (!here || !(session->kept || untouched)) {
    session_restart(session);
    return SQLITE_OK;
  }
  session->count = session->undo = 0;
  if (untouched) return SQLITE_OK;
  link_free_for_command(session->link);
  sqlite3_free(session->failed);
  session->failed = NULL;
  session->guard = 0;
  int rc = session_control(session, session->dialect->rollback_to, SNAPSHOT, message);
  session->fresh = rc == SQLITE_OK;
  return rc;
}

int session_rollback_to(Session *session, int number, char **message) {
  if (session->ended) return SQLITE_OK;
  batch_abort(session->server);
  if (number < 0) { /* to the SAVEPOINT that began the transaction, which goes on */
    return session_rewind(session, message);
  }
  int first = 0;
  while (first < session->count && session->levels[first].number < number) first++;
  if (first == session->count) return SQLITE_OK;
  if (session->prepared) {
    if (first < session->prepared_levels)
      session_fail(session, "it was prepared, and cannot go back to a savepoint");
    return SQLITE_OK;
  }
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
