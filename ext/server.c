/*
** ext/server.c: servers by name or URL, and what a driver asks of its host.
*/
#include "extInt.h"

#include <string.h>

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
  if (error->code == EDB_CONSTRAINT && error->foreign_key) return SQLITE_CONSTRAINT_FOREIGNKEY;
  return error_code(error->code);
}

/* ---- What a driver asks of its host ---------------------------------------------------------- */

static void server_log(void *context, const char *text, size_t n) {
  Server *server = context;
  edb_log(server->edb, server->name, text, n);
}

static int server_interrupted(void *context) { return interrupt_pending(((Server *)context)->edb); }

/* ---- Servers -------------------------------------------------------------------------------- */

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
  batch_free(server);
  server_wipe(server);
  sqlite3_free(server->name);
  sqlite3_free(server);
}

void server_unlink(Server *server) {
  if (--server->links == 0 && server->removed) server_free(server);
}

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
  if (edb->servers == NULL) interrupt_learn(edb);
  server->host.anywhere = interrupt_anywhere(edb);
  server->name = sqlite3_mprintf("%s", name);
  if (server->name == NULL) {
    sqlite3_free(server);
    return NULL;
  }
  server->next = edb->servers;
  edb->servers = server;
  server_touch(server);
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

/* What a server's options say that drivers do not see. */
typedef struct Flags {
  int two_phase, readonly, snapshot;
} Flags;

static void server_take_flags(Server *server, const Flags *flags) {
  server->two_phase = flags->two_phase;
  server->readonly = flags->readonly;
  server->snapshot = flags->snapshot;
}

/* EDB_OK, or an error. */
static int flags_read(Flags *flags, const edb_driver *driver, const char *url,
                      const edb_option *options, size_t count, edb_error *error) {
  int rc = edb_url_flag(url, options, count, "readonly", &flags->readonly, error);
  if (rc == EDB_OK) rc = edb_url_flag(url, options, count, "snapshot", &flags->snapshot, error);
  if (rc == EDB_OK) rc = edb_url_flag(url, options, count, "two_phase", &flags->two_phase, error);
  if (rc != EDB_OK || !flags->two_phase || driver->methods->transaction_prepare) return rc;
  const char *why = driver->dialect->no_two_phase;
  sqlite3_snprintf(sizeof error->message, error->message, "two_phase: %s",
                   why ? why : "this driver prepares no transactions");
  return EDB_UNSUPPORTED;
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
  Flags flags;
  if (driver == NULL || edb_url_check(url, options, count, &error) != EDB_OK ||
      flags_read(&flags, driver, url, options, count, &error) != EDB_OK) {
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
  server_take_flags(server, &flags);
  server->settled = 0;
  server->generation++;
  server_touch(server);
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
  Flags flags;
  if (driver == NULL || edb_url_check(url, NULL, 0, &error) != EDB_OK ||
      flags_read(&flags, driver, url, NULL, 0, &error) != EDB_OK) {
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
  server_take_flags(server, &flags);
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

void server_touch(Server *server) { server->written = ++server->edb->writes; }

void servers_free(Edb *edb) {
  while (edb->servers) server_remove(edb, edb->servers);
}
