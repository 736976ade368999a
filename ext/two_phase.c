/*
** ext/two_phase.c: transactions on servers with the option two_phase=1, prepared before SQLite commits and committed
** after it, and what is left of them when something breaks between the two.
**
**   SELECT * FROM edb_in_doubt;                      what is prepared at the servers and not resolved
**   SELECT edb_resolve('shop');                      ends what of that has a decision: how many
**   SELECT edb_resolve('shop', name, 'rollback');    what has none, by the user's
**
** The order (transaction.c calls it):
**
**   xSync     rows in edb_journal (journal.c), PREPARE at each server
**             SQLite commits: with the rows, which is the decision
**   xCommit   COMMIT PREPARED at each server
**
** Whatever breaks before SQLite's commit leaves no row, and what was prepared is rolled back; whatever breaks after it
** leaves the rows, and what is still prepared is committed. Both happen by itself when the server is used next
** (two_phase_settle), in this process or another one.
*/
#include "extInt.h"

#include <string.h>
#include <time.h>

/* For so long after the connection was lost over a PREPARE, that may still arrive at the server. */
#define LATE_SECONDS 60
#define FORGET_SECONDS 3600

/* ---- Names that a server has prepared ------------------------------------------------------------ */

typedef char Name[EDB_TWO_PHASE_NAME + 1];

typedef struct Names {
  Name *names;
  int count;
} Names;

static int names_add(Names *names, const char *p, size_t n) {
  Name *grown = sqlite3_realloc64(names->names, sizeof(Name) * (size_t)(names->count + 1));
  if (grown == NULL) return SQLITE_NOMEM;
  names->names = grown;
  sqlite3_snprintf((int)sizeof(Name), grown[names->count++], "%.*s", (int)n, p);
  return SQLITE_OK;
}

static int names_have(const Names *names, const char *name) {
  for (int i = 0; i < names->count; i++) {
    if (strcmp(names->names[i], name) == 0) return 1;
  }
  return 0;
}

/* Those of edb's form, of any local database. */
static int names_read(Link *link, Names *names, char **message) {
  const edb_driver *driver = link->server->driver;
  edb_rows rows;
  const edb_column *columns;
  const edb_value *v;
  size_t n;
  memset(names, 0, sizeof *names);
  if (driver->catalog->in_doubt == NULL) return SQLITE_OK;
  int code = edb_query(&link->connection, driver->catalog->in_doubt, NULL, 0, &rows);
  if (code != EDB_OK) return link_fail(link, code, message);
  int rc = SQLITE_OK;
  code = edb_rows_columns(&rows, &columns, &n);
  while (rc == SQLITE_OK && code == EDB_OK &&
         (code = edb_rows_next_borrowed(&rows, &v)) == EDB_ROW) {
    const edb_value *name = &v[n - 1]; /* text and bytes lie alike */
    if ((name->kind == EDB_TEXT || name->kind == EDB_BYTES) &&
        journal_is_name(name->as.text.p, name->as.text.n)) {
      rc = names_add(names, name->as.text.p, name->as.text.n);
    }
    code = EDB_OK;
  }
  if (rc == SQLITE_OK && code != EDB_DONE && code != EDB_OK) rc = link_fail(link, code, message);
  edb_rows_close(&rows);
  return rc;
}

/* ---- Resolving ----------------------------------------------------------------------------------- */

int two_phase_resolve(Link *link, const char *name, int commit, char **message) {
  Edb *edb = link->server->edb;
  int code = edb_resolve(&link->connection, name, commit);
  if (edb->log_statements) {
    char *line = sqlite3_mprintf("%s of prepared %s", commit ? "commit" : "rollback", name);
    if (line) edb_log(edb, link->server->name, line, strlen(line));
    sqlite3_free(line);
  }
  if (code == EDB_OK && commit) journal_finished(edb, name);
  return code == EDB_OK ? SQLITE_OK : link_fail(link, code, message);
}

/* What is to be resolved. */
typedef struct Task {
  const char *name;  /* NULL: all of this local database */
  Decision decision; /* the user's, or DECISION_UNKNOWN */
  int finished;
} Task;

static int resolve_one(Link *link, const Journal *journal, const char *name, Task *task,
                       char **message) {
  Decision decision = journal_decision(journal, name);
  if (task->decision != DECISION_UNKNOWN && decision == DECISION_UNKNOWN &&
      !journal_is_own(journal->edb, name)) {
    decision = task->decision;
  }
  if (task->decision != DECISION_UNKNOWN && decision != DECISION_UNKNOWN &&
      decision != task->decision) {
    *message = sqlite3_mprintf("edb: %s is to be %s: the local database has decided so", name,
                               decision == DECISION_COMMIT ? "committed" : "rolled back");
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  if (decision == DECISION_UNKNOWN) {
    if (task->name == NULL) return SQLITE_OK;
    *message =
        journal_is_own(journal->edb, name)
            ? sqlite3_mprintf(
                  "edb: %s is not decided yet: a transaction holds the local database's lock", name)
            : sqlite3_mprintf("edb: %s is of another local database: say 'commit' or 'rollback'",
                              name);
    return *message ? SQLITE_BUSY : SQLITE_NOMEM;
  }
  int rc = two_phase_resolve(link, name, decision == DECISION_COMMIT, message);
  if (rc == SQLITE_OK) task->finished++;
  return rc;
}

/* Rows whose names the server does not list any more have done their work, if they are not so young that it may just not
** list them at this moment: MariaDB does not while the session ends that has prepared. Whether there are such. */
static int forget_finished(const Server *server, const Journal *journal, const Names *names) {
  char *url = edb_url_mask(&server->edb->host, server->url);
  sqlite3_stmt *rows = url ? journal_rows(journal) : NULL;
  int young = 0;
  while (rows && sqlite3_step(rows) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(rows, 0);
    const char *theirs = (const char *)sqlite3_column_text(rows, 2);
    if (name == NULL || theirs == NULL || strcmp(theirs, url) != 0) continue;
    if (!journal_is_name(name, strlen(name)) || names_have(names, name)) continue;
    sqlite3_int64 age = (sqlite3_int64)time(NULL) - journal_began(name);
    if (age > FORGET_SECONDS) journal_finished(server->edb, name);
    if (age < LATE_SECONDS) young = 1;
  }
  sqlite3_finalize(rows);
  sqlite3_free(url);
  return young;
}

/* Does the task over the link. The journal's lock is had before the server is asked: what is prepared then and has no
** row belongs to no running transaction. */
static int settle(Link *link, Task *task, int wait_ms, int *certain, char **message) {
  Server *server = link->server;
  Names names = {NULL, 0};
  Journal journal;
  *certain = journal_open(&journal, server->edb, wait_ms);
  if (journal.db == NULL) return SQLITE_OK;
  int rc = names_read(link, &names, message);
  int first = rc;
  if (rc == SQLITE_OK && *certain && forget_finished(server, &journal, &names))
    two_phase_unsettle(server, 1);
  if (rc == SQLITE_OK && task->name && !names_have(&names, task->name)) {
    *message = sqlite3_mprintf("edb: %s %s has prepared no %s", server->driver->name, server->name,
                               task->name);
    first = *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  for (int i = 0; rc == SQLITE_OK && i < names.count; i++) {
    char *why = NULL;
    if (task->name && strcmp(task->name, names.names[i]) != 0) continue;
    int one = resolve_one(link, &journal, names.names[i], task, &why);
    if (one != SQLITE_OK && first == SQLITE_OK) {
      first = one;
      *message = why;
    } else {
      sqlite3_free(why);
    }
  }
  sqlite3_free(names.names);
  journal_close(&journal);
  return first;
}

void two_phase_settle(Link *link) {
  Server *server = link->server;
  Task all = {NULL, DECISION_UNKNOWN, 0};
  char *message = NULL;
  int certain = 0;
  if (!server->two_phase || server->settled || server->edb->preparing) return;
  int rc = settle(link, &all, 0, &certain, &message);
  server_unheard(server, rc, message);
  server->settled = rc == SQLITE_OK && certain && (sqlite3_int64)time(NULL) >= server->late;
}

void two_phase_unsettle(Server *server, int late) {
  server->settled = 0;
  if (late) server->late = (sqlite3_int64)time(NULL) + LATE_SECONDS;
}

/* ---- edb_resolve(server, name, decision) --------------------------------------------------------- */

static int decision_of(const char *word, Decision *decision) {
  *decision = DECISION_UNKNOWN;
  if (word == NULL) return 1;
  if (sqlite3_stricmp(word, "commit") == 0) *decision = DECISION_COMMIT;
  if (sqlite3_stricmp(word, "rollback") == 0) *decision = DECISION_ROLLBACK;
  return *decision != DECISION_UNKNOWN;
}

void function_resolve(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Edb *edb = sqlite3_user_data(context);
  const char *name = (const char *)sqlite3_value_text(argv[0]);
  const char *word = argc > 2 ? (const char *)sqlite3_value_text(argv[2]) : NULL;
  Task task = {argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL, DECISION_UNKNOWN, 0};
  char *message = NULL;
  Link *link = NULL;
  int certain;
  if (name == NULL || !decision_of(word, &task.decision) || (task.decision && task.name == NULL)) {
    sqlite3_result_error(context,
                         "edb: write edb_resolve(server), edb_resolve(server, name) or "
                         "edb_resolve(server, name, 'commit' or 'rollback')",
                         -1);
    return;
  }
  Server *server = server_find(edb, name, &message);
  int rc = server ? SQLITE_OK : (message ? SQLITE_ERROR : SQLITE_NOMEM);
  if (server && edb->preparing) {
    message = sqlite3_mprintf(
        "edb: a transaction of this connection is about to be committed: end it first");
    rc = SQLITE_BUSY;
  }
  if (rc == SQLITE_OK) rc = link_have(server, &link, &message);
  if (rc == SQLITE_OK) rc = settle(link, &task, 5000, &certain, &message);
  if (link) link_release(link);
  if (rc != SQLITE_OK) {
    result_failed(context, rc, message);
    return;
  }
  sqlite3_result_int(context, task.finished);
}

/* ---- edb_in_doubt --------------------------------------------------------------------------------- */

typedef struct Doubt {
  char *server;
  Name name;
  Decision decision;
  char *note;
} Doubt;

typedef struct DoubtCursor {
  sqlite3_vtab_cursor base;
  Doubt *doubts;
  int count, at;
} DoubtCursor;

/* Takes note, which may be NULL for want of memory. */
static int doubt_add(DoubtCursor *cursor, const char *server, const char *name, Decision decision,
                     char *note) {
  Doubt *grown = sqlite3_realloc64(cursor->doubts, sizeof *grown * (size_t)(cursor->count + 1));
  char *copy = sqlite3_mprintf("%s", server);
  if (grown) cursor->doubts = grown;
  if (grown == NULL || copy == NULL || note == NULL) {
    sqlite3_free(copy);
    sqlite3_free(note);
    return SQLITE_NOMEM;
  }
  Doubt *doubt = &grown[cursor->count++];
  doubt->server = copy;
  doubt->note = note;
  doubt->decision = decision;
  sqlite3_snprintf((int)sizeof doubt->name, doubt->name, "%s", name);
  return SQLITE_OK;
}

/* First all servers are asked, which may take long: what is asked of the journal afterwards needs its lock. A server that
** does not answer is one doubt without a name, whose note says why. */
static int doubts_ask(DoubtCursor *cursor, Edb *edb) {
  int rc = SQLITE_OK;
  for (Server *server = edb->servers; server && rc == SQLITE_OK; server = server->next) {
    Names names = {NULL, 0};
    Link *link = NULL;
    char *why = NULL;
    if (!server->two_phase) continue;
    rc = link_have(server, &link, &why);
    if (rc == SQLITE_OK) rc = names_read(link, &names, &why);
    for (int i = 0; i < names.count && rc == SQLITE_OK; i++) {
      rc = doubt_add(cursor, server->name, names.names[i], DECISION_UNKNOWN,
                     sqlite3_mprintf("prepared"));
    }
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT) {
      rc = doubt_add(cursor, server->name, "", DECISION_UNKNOWN,
                     sqlite3_mprintf("%s", why ? why : "no answer"));
    }
    if (link) link_release(link);
    sqlite3_free(names.names);
    sqlite3_free(why);
  }
  return rc;
}

static int is_defined(const Edb *edb, const char *name) {
  const Server *server = edb->servers;
  while (server && strcmp(server->name, name) != 0) server = server->next;
  return server != NULL;
}

/* Rows of the journal whose server could not be asked may be in doubt too. */
static int doubts_of_rows(DoubtCursor *cursor, const Journal *journal) {
  int rc = SQLITE_OK;
  const int asked = cursor->count;
  sqlite3_stmt *rows = journal_rows(journal);
  while (rows && rc == SQLITE_OK && sqlite3_step(rows) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(rows, 0);
    const char *server = (const char *)sqlite3_column_text(rows, 1);
    const char *why = NULL;
    if (name == NULL || server == NULL || !journal_is_name(name, strlen(name))) continue;
    for (int i = 0; i < asked && why == NULL; i++) {
      const Doubt *doubt = &cursor->doubts[i];
      if (doubt->name[0] == 0 && strcmp(doubt->server, server) == 0) why = doubt->note;
    }
    if (why == NULL && !is_defined(journal->edb, server)) why = "the server is not defined here";
    if (why) rc = doubt_add(cursor, server, name, DECISION_COMMIT, sqlite3_mprintf("%s", why));
  }
  sqlite3_finalize(rows);
  return rc;
}

static int doubts_decide(DoubtCursor *cursor, Edb *edb) {
  Journal journal;
  journal_open(&journal, edb, 0);
  for (int i = 0; i < cursor->count; i++) {
    Doubt *doubt = &cursor->doubts[i];
    if (doubt->name[0] == 0) continue;
    if (journal.db) doubt->decision = journal_decision(&journal, doubt->name);
    if (doubt->decision != DECISION_UNKNOWN) continue;
    sqlite3_free(doubt->note);
    doubt->note = sqlite3_mprintf("%s", journal_is_own(edb, doubt->name)
                                            ? "prepared; a transaction may be about to decide"
                                            : "prepared by another local database");
  }
  int rc = journal.db ? doubts_of_rows(cursor, &journal) : SQLITE_OK;
  journal_close(&journal);
  return rc;
}

static int doubt_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message) {
  (void)argc, (void)argv, (void)message;
  return listing_connect(
      db, edb, "CREATE TABLE x(server TEXT, name TEXT, since DATETIME, decision TEXT, note TEXT)",
      1, vtab);
}

static int doubt_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)vtab;
  info->estimatedCost = 1e6; /* it is asked once */
  info->estimatedRows = 10;
  return SQLITE_OK;
}

static int doubt_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  (void)vtab;
  return listing_open(sizeof(DoubtCursor), out);
}

static void doubt_clear(DoubtCursor *cursor) {
  for (int i = 0; i < cursor->count; i++) {
    sqlite3_free(cursor->doubts[i].server);
    sqlite3_free(cursor->doubts[i].note);
  }
  sqlite3_free(cursor->doubts);
  cursor->doubts = NULL;
  cursor->count = cursor->at = 0;
}

static int doubt_close(sqlite3_vtab_cursor *base) {
  doubt_clear((DoubtCursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

/* Over those that only say that a server does not answer. */
static void doubt_skip(DoubtCursor *cursor) {
  while (cursor->at < cursor->count && cursor->doubts[cursor->at].name[0] == 0) cursor->at++;
}

static int doubt_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                        sqlite3_value **argv) {
  (void)number, (void)string, (void)argc, (void)argv;
  DoubtCursor *cursor = (DoubtCursor *)base;
  Edb *edb = listing_edb(base);
  char *message = NULL;
  doubt_clear(cursor);
  int rc = config_load(edb, &message);
  if (rc != SQLITE_OK) return vtab_fail(base->pVtab, rc, message);
  rc = doubts_ask(cursor, edb);
  if (rc == SQLITE_OK) rc = doubts_decide(cursor, edb);
  doubt_skip(cursor);
  return rc;
}

static int doubt_next(sqlite3_vtab_cursor *base) {
  ((DoubtCursor *)base)->at++;
  doubt_skip((DoubtCursor *)base);
  return SQLITE_OK;
}

static int doubt_eof(sqlite3_vtab_cursor *base) {
  return ((DoubtCursor *)base)->at >= ((DoubtCursor *)base)->count;
}

static int doubt_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  static const char *const decisions[] = {
      [DECISION_COMMIT] = "commit", [DECISION_ROLLBACK] = "rollback"};
  const Doubt *doubt = &((DoubtCursor *)base)->doubts[((DoubtCursor *)base)->at];
  char since[EDB_TIME_TEXT];
  const char *text = doubt->note;
  if (column == 0) text = doubt->server;
  if (column == 1) text = doubt->name;
  if (column == 2) journal_since(doubt->name, since), text = since;
  if (column == 3) text = decisions[doubt->decision];
  sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT); /* NULL: not decided */
  return SQLITE_OK;
}

static int doubt_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((DoubtCursor *)base)->at;
  return SQLITE_OK;
}

const sqlite3_module in_doubt_module = {.iVersion = 1,
                                        .xConnect = doubt_connect,
                                        .xBestIndex = doubt_best_index,
                                        .xDisconnect = listing_disconnect,
                                        .xOpen = doubt_open,
                                        .xClose = doubt_close,
                                        .xFilter = doubt_filter,
                                        .xNext = doubt_next,
                                        .xEof = doubt_eof,
                                        .xColumn = doubt_column,
                                        .xRowid = doubt_rowid};
