/*
** ext/server.c: servers by name or URL, and the connections to them.
**
** A link is a connection with the statements that it keeps prepared. Whoever runs a remote
** statement has a link to itself until its rows are read, since a connection has one command in
** flight: two scans of one server in one statement have two links. Idle links wait at their server
** for the next user; a statement that runs again finds itself prepared there.
*/
#include "extInt.h"

#include <ctype.h>
#include <string.h>

#define IDLE_LINKS 8 /* more are closed when they come back */

/* ---- Errors --------------------------------------------------------------------------------- */

int error_code(edb_code code) {
  switch (code) {
  case EDB_OK:
  case EDB_ROW:
  case EDB_DONE:
    return SQLITE_OK;
  case EDB_INTERRUPTED:
    return SQLITE_INTERRUPT;
  case EDB_CONSTRAINT:
    return SQLITE_CONSTRAINT;
  case EDB_BUSY:
    return SQLITE_BUSY;
  case EDB_NOMEM:
    return SQLITE_NOMEM;
  default: /* not SQLITE_IOERR, which would roll the caller's whole transaction back */
    return SQLITE_ERROR;
  }
}

char *error_message(const Server *server, const edb_error *error) {
  sqlite3_str *out = sqlite3_str_new(server->edb->db);
  sqlite3_str_appendf(out, "edb: %s %s: %s", server->driver->name, server->name, error->message);
  if (error->vendor != 0 && error->sqlstate[0]) {
    sqlite3_str_appendf(out, " (%d, %s)", error->vendor, error->sqlstate);
  } else if (error->vendor != 0) {
    sqlite3_str_appendf(out, " (%d)", error->vendor);
  } else if (error->sqlstate[0]) {
    sqlite3_str_appendf(out, " (%s)", error->sqlstate);
  }
  if (error->hint[0]) sqlite3_str_appendf(out, "; %s", error->hint);
  return sqlite3_str_finish(out);
}

int server_fail(const Server *server, const edb_error *error, char **message) {
  *message = error_message(server, error);
  return error_code(error->code);
}

/* ---- What a driver asks of its host ---------------------------------------------------------- */

static void server_log(void *context, const char *text, size_t n) {
  Server *server = context;
  edb_log(server->edb, server->name, text, n);
}

/* SQLite tells an extension whether sqlite3_interrupt was called only since 3.41; on every version
** a nested statement does, by failing to start. It is not kept: sqlite3_close refuses to close over
** it. */
static int server_interrupted(void *context) {
  Edb *edb = ((Server *)context)->edb;
  sqlite3_stmt *probe = NULL;
  int rc = sqlite3_prepare_v2(edb->db, "SELECT 1", -1, &probe, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(probe);
  sqlite3_finalize(probe);
  return rc == SQLITE_INTERRUPT;
}

/* ---- Links ---------------------------------------------------------------------------------- */

/* They may hold passwords. */
static void server_wipe(Server *server) {
  if (server->url) memset(server->url, 0, strlen(server->url));
  if (server->options) memset(server->options, 0, server->option_bytes);
  sqlite3_free(server->url);
  sqlite3_free(server->options);
  server->url = NULL;
  server->options = NULL;
  server->option_count = 0;
}

static void server_free(Server *server) {
  server_wipe(server);
  sqlite3_free(server->name);
  sqlite3_free(server);
}

static void link_close(Link *link) {
  Server *server = link->server;
  for (int i = 0; i < LINK_STATEMENTS; i++) {
    edb_statement_close(&link->kept[i].statement);
    sqlite3_free(link->kept[i].sql);
  }
  edb_close(&link->connection);
  sqlite3_free(link);
  if (--server->links == 0 && server->removed) server_free(server);
}

/* Closes those that wait. The server may be gone afterwards, if it was removed. */
static void server_close_idle(Server *server) {
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
  *out = link;
  return SQLITE_OK;
}

int link_acquire(Server *server, Link **out, char **message) {
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

/* What was changed of a session is undone before the next one has it. */
void link_release(Link *link) {
  Server *server = link->server;
  int idle = 0;
  for (Link *other = server->idle; other; other = other->next) idle++;
  if (server->removed || link->generation != server->generation || idle >= IDLE_LINKS ||
      (link->touched && edb_reset(&link->connection) != EDB_OK)) {
    link_close(link);
    return;
  }
  link->touched = 0;
  link->next = server->idle;
  server->idle = link;
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
** the link, and so would what a procedure, a block or a statement in a string does of that kind. its_own: the
** statement is edb's, not its user's. */
static void link_starts(Link *link, const char *sql, int its_own) {
  static const char *const lasting[] = {
      "set",    "use",  "call", "execute", "prepare", "do",      "if",     "case",  "for", "while",
      "repeat", "loop", "lock", "load",    "handler", "declare", "listen", "reset", NULL};
  Server *server = link->server;
  if (!its_own && (starts_with_any(statement_start(sql), lasting) ||
                   has_any(sql, server->driver->dialect->lasting))) {
    link->touched = 1;
  }
  server->host.timeout_ms = server->edb->host.timeout_ms;
  if (server->edb->log_statements) edb_log(server->edb, server->name, sql, strlen(sql));
}

/* Whether a statement that was prepared long ago may have failed because the server's tables
** changed since. */
static int is_stale(int rc) {
  return rc == EDB_INVALID_QUERY || rc == EDB_UNSUPPORTED || rc == EDB_FAILED;
}

int link_query(Link **link, const char *sql, double expected, const edb_parameter *parameters,
               size_t n, Repeat repeat, edb_rows *rows, char **message) {
  Server *server = (*link)->server;
  for (;;) {
    struct Kept *kept = NULL;
    int reused = 0;
    link_starts(*link, sql, repeat == REPEAT_ONCE);
    int rc = link_prepare(*link, sql, expected, &kept, &reused);
    if (rc == EDB_OK) rc = edb_statement_query(&kept->statement, parameters, n, rows);
    if (rc == EDB_OK) {
      (*link)->idled = 0;
      return SQLITE_OK;
    }
    if (rc == EDB_NOMEM) return SQLITE_NOMEM;
    if (rc == EDB_CLOSED && (*link)->idled && repeat == REPEAT_ONCE) {
      /* The connection went away while it waited. A link has no transaction, so a new one will do.
      ** */
      Link *again = NULL;
      rc = link_open(server, &again, message);
      if (rc != SQLITE_OK) return rc;
      link_close(*link);
      *link = again;
    } else if (reused && is_stale(rc)) {
      kept_drop(kept);
    } else {
      return link_fail(*link, rc, message);
    }
  }
}

int transaction_refused(const Server *server, char **message) {
  *message =
      sqlite3_mprintf("edb: %s %s: a transaction does not last from one call to the next, since "
                      "each may use another connection: write one statement, or a function of "
                      "the server's",
                      server->driver->name, server->name);
  return SQLITE_ERROR;
}

int link_execute(Link *link, const char *sql, const edb_parameter *parameters, size_t n,
                 sqlite3_int64 *affected, char **message) {
  int64_t count = 0;
  if (is_transaction_control(link->server, sql)) return transaction_refused(link->server, message);
  link_starts(link, sql, 0);
  int rc = edb_execute(&link->connection, sql, parameters, n, &count);
  *affected = count;
  return rc == EDB_OK ? SQLITE_OK : link_fail(link, rc, message);
}

/* ---- Servers -------------------------------------------------------------------------------- */

static Server *server_named(Edb *edb, const char *name) {
  for (Server *server = edb->servers; server; server = server->next) {
    if (strcmp(server->name, name) == 0) return server;
  }
  return NULL;
}

/* Takes it off the list; it lives until its last link is closed. */
static void server_remove(Edb *edb, Server *server) {
  for (Server **p = &edb->servers; *p; p = &(*p)->next) {
    if (*p == server) {
      *p = server->next;
      break;
    }
  }
  server->removed = 1;
  if (server->links == 0) {
    server_free(server);
  } else {
    server_close_idle(server);
  }
}

static Server *server_add(Edb *edb, const char *name) {
  Server *server = sqlite3_malloc64(sizeof *server);
  if (server == NULL) return NULL;
  memset(server, 0, sizeof *server);
  server->edb = edb;
  server->host = edb->host;
  server->host.context = server;
  server->host.log = server_log;
  server->host.interrupted = server_interrupted;
  server->name = sqlite3_mprintf("%s", name);
  if (server->name == NULL) {
    sqlite3_free(server);
    return NULL;
  }
  server->next = edb->servers;
  edb->servers = server;
  return server;
}

/* A copy of the options in one allocation: the array, then the strings. */
static int options_copy(Server *server, const edb_option *options, size_t count) {
  size_t bytes = count * sizeof(edb_option);
  for (size_t i = 0; i < count; i++) {
    bytes += strlen(options[i].name) + strlen(options[i].value) + 2;
  }
  if (count == 0) return SQLITE_OK;
  edb_option *copy = sqlite3_malloc64(bytes);
  if (copy == NULL) return SQLITE_NOMEM;
  char *p = (char *)(copy + count);
  for (size_t i = 0; i < count; i++) {
    size_t name = strlen(options[i].name) + 1;
    size_t value = strlen(options[i].value) + 1;
    copy[i].name = memcpy(p, options[i].name, name);
    copy[i].value = memcpy(p + name, options[i].value, value);
    p += name + value;
  }
  server->options = copy;
  server->option_count = count;
  server->option_bytes = bytes;
  return SQLITE_OK;
}

static int server_set(Edb *edb, const char *name, const char *url, const edb_option *options,
                      size_t count, char **message) {
  Server *server = server_named(edb, name);
  edb_error error;
  if (name[0] == 0 || strchr(name, ':')) {
    /* What stands there may be a URL with a password. */
    *message = sqlite3_mprintf("edb: a server's name is not empty and has no colon");
    return SQLITE_ERROR;
  }
  const edb_driver *driver = edb_url_driver(url, &error);
  if (driver == NULL || edb_url_check(url, options, count, &error) != EDB_OK) {
    *message = sqlite3_mprintf("edb: server %s: %s", name, error.message);
    return SQLITE_ERROR;
  }
  char *copy = sqlite3_mprintf("%s", url);
  if (copy && server == NULL) server = server_add(edb, name);
  if (copy == NULL || server == NULL) {
    sqlite3_free(copy);
    return SQLITE_NOMEM;
  }
  server_wipe(server);
  server->url = copy;
  server->driver = driver;
  server->generation++;
  server_close_idle(server);
  return options_copy(server, options, count);
}

int server_define(Edb *edb, const char *name, const char *url, char **message) {
  if (url) return server_set(edb, name, url, NULL, 0, message);
  Server *server = server_named(edb, name);
  if (server) server_remove(edb, server);
  return SQLITE_OK;
}

int server_configure(Edb *edb, const char *name, const char *url, const edb_option *options,
                     size_t count, char **message) {
  if (server_named(edb, name)) return SQLITE_OK;
  return server_set(edb, name, url, options, count, message);
}

/* The server that a URL stands for is named by the URL without its secrets; two URLs that differ in
** nothing else are told apart by the whole URL. */
static Server *server_of_url(Edb *edb, const char *url, char **message) {
  edb_error error;
  for (Server *server = edb->servers; server; server = server->next) {
    if (server->by_url && strcmp(server->url, url) == 0) return server;
  }
  const edb_driver *driver = edb_url_driver(url, &error);
  if (driver == NULL || edb_url_check(url, NULL, 0, &error) != EDB_OK) {
    *message = sqlite3_mprintf("edb: %s", error.message);
    return NULL;
  }
  char *shown = edb_url_mask(&edb->host, url);
  char *copy = sqlite3_mprintf("%s", url);
  Server *server = shown && copy ? server_add(edb, shown) : NULL;
  sqlite3_free(shown);
  if (server == NULL) {
    sqlite3_free(copy);
    return NULL;
  }
  server->by_url = 1;
  server->url = copy;
  server->driver = driver;
  return server;
}

Server *server_find(Edb *edb, const char *name, char **message) {
  if (strchr(name, ':')) return server_of_url(edb, name, message);
  Server *server = server_named(edb, name);
  if (server == NULL && config_load(edb, message) == SQLITE_OK) server = server_named(edb, name);
  if (server == NULL && *message == NULL) {
    *message = sqlite3_mprintf("edb: there is no server %s: define it with edb_server('%q', URL)",
                               name, name);
  }
  return server;
}

void servers_free(Edb *edb) {
  while (edb->servers) server_remove(edb, edb->servers);
}
