/*
** ext/link.c: connections to servers.
**
** A link is a connection with the statements that it keeps prepared. Whoever runs a remote
** statement has a link to itself until its rows are read, since a connection has one command in
** flight: two scans of one server in one statement have two links. Idle links wait at their server
** for the next user; a statement that runs again finds itself prepared there.
**
** The exception is a server that the transaction of SQLite has written to: all that is done there goes over the one link
** of its session (transaction.c), and rows that are still to be read from it are set aside first (stream.c).
*/
#include "extInt.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#define IDLE_LINKS 8 /* more are closed when they come back */

/* ---- What a statement begins with ----------------------------------------------------------------- */

/* Behind blanks, comments, and what opens a comment that MySQL executes. */
static const char *statement_start(const char *sql) {
  for (;;) {
    while (isspace((unsigned char)*sql)) sql++;
    if (sql[0] == '/' && sql[1] == '*' && (sql[2] == '!' || (sql[2] == 'M' && sql[3] == '!'))) {
      sql += sql[2] == '!' ? 3 : 4;
      while (isdigit((unsigned char)*sql)) sql++;
      continue;
    }
    const char *end = NULL;
    if (sql[0] == '#' || (sql[0] == '-' && sql[1] == '-')) end = strchr(sql, '\n');
    if (sql[0] == '/' && sql[1] == '*') end = strstr(sql + 2, "*/");
    if (end == NULL) return sql;
    sql = *end == '\n' ? end + 1 : end + 2;
  }
}

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether the statement starts with the words, whatever blanks are between them. */
static int starts_with(const char *sql, const char *words) {
  for (; *words; words++) {
    if (*words == ' ') {
      if (!isspace((unsigned char)*sql)) return 0;
      while (isspace((unsigned char)*sql)) sql++;
    } else if (tolower((unsigned char)*sql++) != *words) {
      return 0;
    }
  }
  return !is_word(*sql);
}

static int starts_with_any(const char *sql, const char *const *words) {
  while (words && *words && !starts_with(sql, *words)) words++;
  return words && *words;
}

int is_transaction_control(const Server *server, const char *sql) {
  static const char *const words[] = {"begin",     "start",   "commit", "end", "rollback",
                                      "savepoint", "release", "abort",  NULL};
  sql = statement_start(sql);
  if (starts_with(sql, "begin try")) return 0;
  return starts_with_any(sql, words) || starts_with_any(sql, server->driver->dialect->control);
}

/* Whether one of the words begins somewhere in the statement. */
static int has_any(const char *sql, const char *const *words) {
  for (; words && *words; words++) {
    const size_t n = strlen(*words);
    for (const char *p = sql; *p; p++) {
      if (sqlite3_strnicmp(p, *words, (int)n) == 0 && (p == sql || !is_word(p[-1]))) return 1;
    }
  }
  return 0;
}

/* What edb_config says holds for the statement that starts now. What SET and USE change would last as long as
** the link, and so would what a procedure, a block or a statement in a string does of that kind. users: the
** statement is its user's, not edb's. */
static void link_starts(Link *link, const char *sql, int users) {
  static const char *const lasting[] = {
      "set",    "use",  "call", "execute", "prepare", "do",      "if",     "case",  "for", "while",
      "repeat", "loop", "lock", "load",    "handler", "declare", "listen", "reset", NULL};
  Server *server = link->server;
  if (users && (starts_with_any(statement_start(sql), lasting) ||
                has_any(sql, server->driver->dialect->lasting))) {
    link->touched = 1;
  }
  server->host.timeout_ms = server->edb->host.timeout_ms;
  if (server->edb->log_statements) edb_log(server->edb, server->name, sql, strlen(sql));
}

int is_reading(const char *sql) {
  static const char *const reads[] = {"select",   "values", "table", "show",
                                      "describe", "with",   NULL};
  static const char *const writes[] = {"insert", "update",  "delete", "merge",
                                       "into",   "replace", NULL};
  return starts_with_any(statement_start(sql), reads) && !has_any(sql, writes);
}

int transaction_refused(const Server *server, char **message) {
  *message =
      sqlite3_mprintf("edb: %s %s: a transaction does not last from one call to the next, since "
                      "each may use another connection: write one statement, or a function of "
                      "the server's",
                      server->driver->name, server->name);
  return SQLITE_ERROR;
}

/* ---- Opening and closing ------------------------------------------------------------------------ */

static void link_close(Link *link) {
  Server *server = link->server;
  for (int i = 0; i < LINK_STATEMENTS; i++) {
    edb_statement_close(&link->kept[i].statement);
    sqlite3_free(link->kept[i].sql);
  }
  edb_close(&link->connection);
  sqlite3_free(link);
  server_unlink(server);
}

/* Closes those that wait. The server may be gone afterwards, if it was removed. */
void server_close_idle(Server *server) {
  Link *link = server->idle;
  server->idle = NULL;
  while (link) {
    Link *next = link->next;
    link_close(link);
    link = next;
  }
}

static int link_open(Server *server, Link **out, char **message) {
  edb_error error;
  Link *link = sqlite3_malloc64(sizeof *link);
  if (link == NULL) return SQLITE_NOMEM;
  memset(link, 0, sizeof *link);
  server->host.timeout_ms = server->edb->host.timeout_ms;
  if (edb_open(server->url, server->options, server->option_count, &server->host, &link->connection,
               &error) != EDB_OK) {
    sqlite3_free(link);
    return server_fail(server, &error, message);
  }
  link->server = server;
  link->generation = server->generation;
  server->links++;
  const edb_dialect *dialect = edb_connection_dialect(&link->connection);
  if (server->readonly && dialect && dialect->read_only) {
    int code = edb_execute(&link->connection, dialect->read_only, NULL, 0, NULL);
    if (code != EDB_OK) {
      int rc = link_fail(link, code, message);
      link_close(link);
      return rc;
    }
  }
  *out = link;
  return SQLITE_OK;
}

int link_have(Server *server, Link **out, char **message) {
  while (server->idle) {
    Link *link = server->idle;
    server->idle = link->next;
    link->next = NULL;
    if (edb_alive(&link->connection)) {
      link->idled = 1;
      *out = link;
      return SQLITE_OK;
    }
    link_close(link);
  }
  return link_open(server, out, message);
}

int link_take(Server *server, Link **out, char **message) {
  int rc = link_have(server, out, message);
  if (rc == SQLITE_OK) two_phase_settle(*out);
  return rc;
}

int link_acquire(Server *server, Link **out, char **message) {
  int rc = session_read(server, message);
  if (rc != SQLITE_OK) return rc;
  *out = session_link(server);
  return *out ? SQLITE_OK : link_take(server, out, message);
}

/* What was changed of a session is undone before the next one has it. */
void link_release(Link *link) {
  Server *server = link->server;
  int idle = 0;
  if (link->session) return;
  for (Link *other = server->idle; other; other = other->next) idle++;
  if (server->removed || link->generation != server->generation || idle >= IDLE_LINKS ||
      (link->touched && (server->readonly || edb_reset(&link->connection) != EDB_OK))) {
    link_close(link);
    return;
  }
  link->touched = 0;
  link->next = server->idle;
  server->idle = link;
}

void link_free_for_command(Link *link) {
  link->server->host.timeout_ms =
      link->server->edb->host.timeout_ms; /* COMMIT starts no statement */
  if (link->stream) stream_park(link->stream);
}

int link_begin(Server *server, const edb_transaction_spec *spec, Link **out,
               edb_transaction *transaction, char **message) {
  Link *link = NULL;
  int rc = link_take(server, &link, message);
  if (rc != SQLITE_OK) return rc;
  link_starts(link, "BEGIN", 0);
  int code = edb_begin_with(&link->connection, spec, transaction);
  if (code == EDB_CLOSED && link->idled) {
    /* It went away while it waited, and nothing has been done over it. */
    link_close(link);
    rc = link_open(server, &link, message);
    if (rc != SQLITE_OK) return rc;
    code = edb_begin_with(&link->connection, spec, transaction);
  }
  if (code != EDB_OK) {
    rc = link_fail(link, code, message);
    link_close(link);
    return rc;
  }
  link->idled = 0;
  *out = link;
  return SQLITE_OK;
}

int server_dialect(Server *server, const edb_dialect **dialect, char **message) {
  Link *link = NULL;
  *dialect = server->driver->dialect;
  if (server->driver->dialects == NULL) return SQLITE_OK;
  int rc = link_acquire(server, &link, message);
  if (rc != SQLITE_OK) return rc;
  *dialect = edb_connection_dialect(&link->connection);
  link_release(link);
  return SQLITE_OK;
}

/* ---- Statements kept prepared ---------------------------------------------------------------- */

int link_fail(const Link *link, int rc, char **message) {
  const edb_error *error = edb_detail(&link->connection);
  if (rc == EDB_NOMEM) return SQLITE_NOMEM;
  if (error->code == (edb_code)rc) return server_fail(link->server, error, message);
  /* The failure was this side's, so the connection tells of an older one. */
  edb_error own = {.code = EDB_FAILED, .message = "the answer could not be taken"};
  return server_fail(link->server, &own, message);
}

static void kept_drop(struct Kept *kept) {
  edb_statement_close(&kept->statement);
  sqlite3_free(kept->sql);
  kept->sql = NULL;
  kept->used = 0;
}

/* *reused: it was prepared before, perhaps for another number of rows; expected only guides the
** fetch. */
static int link_prepare(Link *link, const char *sql, double expected, struct Kept **out,
                        int *reused) {
  struct Kept *oldest = &link->kept[0];
  link->clock++;
  for (int i = 0; i < LINK_STATEMENTS; i++) {
    struct Kept *kept = &link->kept[i];
    if (kept->sql && strcmp(kept->sql, sql) == 0) {
      kept->used = link->clock;
      *out = kept;
      *reused = 1;
      return EDB_OK;
    }
    if (kept->used < oldest->used) oldest = kept;
  }
  *reused = 0;
  kept_drop(oldest);
  int rc = edb_prepare(&link->connection, sql, expected, &oldest->statement);
  if (rc != EDB_OK) return rc;
  oldest->sql = sqlite3_mprintf("%s", sql);
  if (oldest->sql == NULL) {
    kept_drop(oldest);
    return EDB_NOMEM;
  }
  oldest->used = link->clock;
  *out = oldest;
  return EDB_OK;
}

/* Whether a statement that was prepared long ago may have failed because the server's tables
** changed since. */
static int is_stale(int rc) {
  return rc == EDB_INVALID_QUERY || rc == EDB_UNSUPPORTED || rc == EDB_FAILED;
}

double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The quickest answer is the nearest to what the way there and back takes. Catalogs take long, and are not asked about. */
static void link_timed(const Link *link, double seconds) {
  Server *server = link->server;
  if (server->latency <= 0 || seconds < server->latency) server->latency = seconds;
}

static int link_send(Link *link, const Command *command, Stream *stream, int64_t *affected,
                     struct Kept **kept, int *reused) {
  *kept = NULL;
  *reused = 0;
  if (!command->prepared) {
    return edb_execute(&link->connection, command->sql, command->parameters, command->n, affected);
  }
  int rc = link_prepare(link, command->sql, command->expected, kept, reused);
  if (rc != EDB_OK) return rc;
  edb_statement *statement = &(*kept)->statement;
  return stream ? edb_statement_query(statement, command->parameters, command->n, &stream->rows)
                : edb_statement_execute(statement, command->parameters, command->n, affected);
}

/* Where nothing at the server's holds a session to reading, what may write is not sent. */
static int link_may(const Link *link, const Command *command, char **message) {
  const Server *server = link->server;
  const edb_dialect *dialect = edb_connection_dialect(&link->connection);
  if (!server->readonly || !command->writes || (dialect && dialect->read_only)) return SQLITE_OK;
  *message = sqlite3_mprintf("edb: %s %s is read-only (readonly=1), and this statement may write",
                             server->driver->name, server->name);
  return SQLITE_ERROR;
}

/* The statement of a table is written for the server that the table was created on. */
static int link_speaks(const Link *link, const Command *command, char **message) {
  const edb_dialect *dialect = edb_connection_dialect(&link->connection);
  if (command->table == NULL || dialect == NULL || dialect == command->table->definition.dialect) {
    return SQLITE_OK;
  }
  *message =
      sqlite3_mprintf("edb: %s was created on a server that speaks %s, but %s speaks %s: drop it "
                      "and create it again",
                      command->table->name, command->table->definition.dialect->name,
                      link->server->name, dialect->name);
  return SQLITE_ERROR;
}

int link_run(Link **in, const Command *command, Stream *stream, sqlite3_int64 *affected,
             char **message) {
  int64_t count = 0;
  for (;;) {
    Link *link = *in;
    Session *session = link->session;
    struct Kept *kept;
    int reused;
    link_free_for_command(link);
    int rc = link_speaks(link, command, message);
    if (rc == SQLITE_OK) rc = link_may(link, command, message);
    if (rc == SQLITE_OK && session) rc = session_before(session, command, message);
    if (rc != SQLITE_OK) return rc;
    if (command->writes || command->users) server_touch(link->server);
    link_starts(link, command->sql, command->users);
    const double started = clock_seconds();
    int code = link_send(link, command, stream, &count, &kept, &reused);
    if (code == EDB_OK) {
      if (command->table) link_timed(link, clock_seconds() - started);
      link->idled = 0;
      if (stream) stream_start(stream, link);
      if (affected) *affected = count;
      return SQLITE_OK;
    }
    if (code == EDB_CLOSED && !session && link->idled && command->repeat == REPEAT_ONCE) {
      /* The connection went away while it waited. A link has no transaction, so a new one will do.
      ** */
      Link *again = NULL;
      rc = link_open(link->server, &again, message);
      if (rc != SQLITE_OK) return rc;
      link_close(link);
      *in = again;
      continue;
    }
    rc = link_fail(link, code, message);
    if (session) session_after(session, code, *message);
    if (!reused || !is_stale(code) || (session && session_failed(session))) return rc;
    kept_drop(kept);
    sqlite3_free(*message);
    *message = NULL;
  }
}

int link_run_each(Link *link, const Command *command, size_t runs, int64_t *affected, size_t *done,
                  char **message) {
  struct Kept *kept;
  int reused;
  *done = 0;
  link_free_for_command(link);
  int rc = link_speaks(link, command, message);
  if (rc == SQLITE_OK) rc = link_may(link, command, message);
  if (rc == SQLITE_OK) rc = session_before(link->session, command, message);
  if (rc != SQLITE_OK) return rc;
  link_starts(link, command->sql, 0);
  int code = link_prepare(link, command->sql, 0, &kept, &reused);
  if (code == EDB_OK)
    code =
        edb_statement_each(&kept->statement, command->parameters, command->n, runs, affected, done);
  if (code == EDB_OK) return SQLITE_OK;
  rc = link_fail(link, code, message);
  session_after(link->session, code, *message);
  return rc;
}

int link_load(Link *link, const Command *command, const edb_load_spec *spec, edb_load *load,
              char **message) {
  link_free_for_command(link);
  int rc = link_speaks(link, command, message);
  if (rc == SQLITE_OK) rc = session_before(link->session, command, message);
  if (rc != SQLITE_OK) return rc;
  link_starts(link, command->sql, 0);
  int code = edb_load_begin(&link->connection, spec, load);
  if (code == EDB_OK) return SQLITE_OK;
  rc = link_fail(link, code, message);
  session_after(link->session, code, *message);
  return rc;
}

int link_control(Link *link, const char *sql, char **message) {
  server_touch(link->server); /* ROLLBACK TO changes as much as what it undoes */
  link_starts(link, sql, 0);
  int code = edb_execute(&link->connection, sql, NULL, 0, NULL);
  return code == EDB_OK ? SQLITE_OK : link_fail(link, code, message);
}
