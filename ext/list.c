/*
** ext/list.c: tables that list what edb knows.
**
**   SELECT name, driver, url, connections FROM edb_servers;   passwords are written ***
**   SELECT id, at, server, text FROM edb_log;                 notices of the servers; statements, by edb_config('log', 1)
*/
#include "extInt.h"

#include <string.h>

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  const Server *server; /* edb_servers: the present one */
  sqlite3_int64 line;   /* edb_log: the present one, from 1 */
} Cursor;

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  (void)vtab;
  return listing_open(sizeof(Cursor), out);
}

static int cursor_close(sqlite3_vtab_cursor *cursor) {
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* ---- edb_servers --------------------------------------------------------------------------------- */

static int servers_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                           sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  return listing_connect(
      db, edb, "CREATE TABLE x(name TEXT, driver TEXT, url TEXT, connections INTEGER)", 0, vtab);
}

static int servers_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                          sqlite3_value **argv) {
  (void)number;
  (void)string;
  (void)argc;
  (void)argv;
  char *message = NULL;
  int rc = config_load(listing_edb(base), &message);
  if (rc != SQLITE_OK) return vtab_fail(base->pVtab, rc, message);
  ((Cursor *)base)->server = listing_edb(base)->servers;
  return SQLITE_OK;
}

/* The server may have been forgotten since, by a function in the same statement: then the list
** ends. */
static int servers_next(sqlite3_vtab_cursor *base) {
  Cursor *cursor = (Cursor *)base;
  const Server *server = listing_edb(base)->servers;
  while (server && server != cursor->server) server = server->next;
  cursor->server = server ? server->next : NULL;
  return SQLITE_OK;
}

static int servers_eof(sqlite3_vtab_cursor *base) { return ((Cursor *)base)->server == NULL; }

static int servers_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const Cursor *cursor = (Cursor *)base;
  const Server *server = cursor->server;
  const Server *listed = listing_edb(base)->servers;
  while (listed && listed != server) listed = listed->next;
  if (listed == NULL) return SQLITE_OK;
  switch (column) {
  case 0:
    sqlite3_result_text(context, server->name, -1, SQLITE_TRANSIENT);
    break;
  case 1:
    sqlite3_result_text(context, server->driver->name, -1, SQLITE_STATIC);
    break;
  case 2:
    sqlite3_result_text(context, edb_url_mask(&server->edb->host, server->url), -1, sqlite3_free);
    break;
  default:
    sqlite3_result_int(context, server->links);
    break;
  }
  return SQLITE_OK;
}

static int servers_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = (sqlite3_int64)(intptr_t)((Cursor *)base)->server;
  return SQLITE_OK;
}

const sqlite3_module servers_module = {.iVersion = 1,
                                       .xConnect = servers_connect,
                                       .xBestIndex = listing_best_index,
                                       .xDisconnect = listing_disconnect,
                                       .xOpen = cursor_open,
                                       .xClose = cursor_close,
                                       .xFilter = servers_filter,
                                       .xNext = servers_next,
                                       .xEof = servers_eof,
                                       .xColumn = servers_column,
                                       .xRowid = servers_rowid};

/* ---- edb_log --------------------------------------------------------------------------------------- */

static int log_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                       sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  return listing_connect(db, edb, "CREATE TABLE x(id INTEGER, at DATETIME, server TEXT, text TEXT)",
                         0, vtab);
}

/* Lines that were dropped meanwhile are passed over. */
static void log_settle(Cursor *cursor) {
  sqlite3_int64 first = listing_edb(&cursor->base)->logged - EDB_LOG_LINES + 1;
  if (cursor->line < first) cursor->line = first;
}

static int log_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                      sqlite3_value **argv) {
  (void)number;
  (void)string;
  (void)argc;
  (void)argv;
  ((Cursor *)base)->line = 1;
  log_settle((Cursor *)base);
  return SQLITE_OK;
}

static int log_next(sqlite3_vtab_cursor *base) {
  ((Cursor *)base)->line++;
  log_settle((Cursor *)base);
  return SQLITE_OK;
}

static int log_eof(sqlite3_vtab_cursor *base) {
  return ((Cursor *)base)->line > listing_edb(base)->logged;
}

static int log_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  sqlite3_int64 id = ((Cursor *)base)->line;
  const LogLine *line = &listing_edb(base)->log[(id - 1) % EDB_LOG_LINES];
  char at[EDB_TIME_TEXT];
  switch (column) {
  case 0:
    sqlite3_result_int64(context, id);
    break;
  case 1:
    edb_time_text(&line->at, at);
    sqlite3_result_text(context, at, -1, SQLITE_TRANSIENT);
    break;
  case 2:
    sqlite3_result_text(context, line->server, -1, SQLITE_TRANSIENT);
    break;
  default:
    sqlite3_result_text(context, line->text, -1, SQLITE_TRANSIENT);
    break;
  }
  return SQLITE_OK;
}

static int log_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((Cursor *)base)->line;
  return SQLITE_OK;
}

const sqlite3_module log_module = {.iVersion = 1,
                                   .xConnect = log_connect,
                                   .xBestIndex = listing_best_index,
                                   .xDisconnect = listing_disconnect,
                                   .xOpen = cursor_open,
                                   .xClose = cursor_close,
                                   .xFilter = log_filter,
                                   .xNext = log_next,
                                   .xEof = log_eof,
                                   .xColumn = log_column,
                                   .xRowid = log_rowid};
