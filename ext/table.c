/*
** ext/table.c: the module edb.
**
**   CREATE VIRTUAL TABLE orders USING edb(shop, 'public.orders');
**   SELECT * FROM orders WHERE id = 17;
**
** CREATE asks the server for the columns and keeps them in shadow tables; CONNECT reads them there
** and never fails for want of a server or of a shadow table, since SQLite could then not even drop
** the table: what is wrong is said by the first query. Reading is in plan.c (xBestIndex) and
** scan.c.
*/
#include "extInt.h"

#include <string.h>

static void table_free(Table *table) {
  if (table->edb) returned_leave(&table->edb->returned, table);
  plans_free(table);
  definition_clear(&table->definition);
  sqlite3_free(table->schema);
  sqlite3_free(table->name);
  sqlite3_free(table->broken);
  sqlite3_free(table);
}

static int table_declare(sqlite3 *db, Table *table, char **message) {
  if (table->definition.count == 0 && table->broken) {
    return sqlite3_declare_vtab(db, "CREATE TABLE x(edb_key)");
  }
  table->identity = definition_identity(&table->definition);
  char *sql = definition_declare(&table->definition);
  if (sql == NULL) return SQLITE_NOMEM;
  int rc = sqlite3_declare_vtab(db, sql);
  if (rc == SQLITE_OK) rc = sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
  if (rc != SQLITE_OK) *message = sqlite3_mprintf("edb: %s: %s", table->name, sqlite3_errmsg(db));
  sqlite3_free(sql);
  return rc;
}

static int table_new(Edb *edb, const char *const *argv, Table **out) {
  Table *table = sqlite3_malloc64(sizeof *table);
  if (table == NULL) return SQLITE_NOMEM;
  memset(table, 0, sizeof *table);
  table->edb = edb;
  table->schema = sqlite3_mprintf("%s", argv[1]);
  table->name = sqlite3_mprintf("%s", argv[2]);
  *out = table;
  return table->schema && table->name ? SQLITE_OK : SQLITE_NOMEM;
}

/* In a file in UTF-16, SQLite compares text by its bytes there. */
static void table_encoding(sqlite3 *db, Table *table) {
  sqlite3_stmt *row = NULL;
  if (sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &row, NULL) == SQLITE_OK &&
      sqlite3_step(row) == SQLITE_ROW) {
    const char *encoding = (const char *)sqlite3_column_text(row, 0);
    table->definition.utf8 = encoding && sqlite3_stricmp(encoding, "UTF-8") == 0;
  }
  sqlite3_finalize(row);
}

static int table_create(sqlite3 *db, void *edb, int argc, const char *const *argv,
                        sqlite3_vtab **vtab, char **message) {
  Table *table = NULL;
  int rc = table_new(edb, argv, &table);
  if (rc == SQLITE_OK) rc = definition_parse(&table->definition, argc - 3, argv + 3, message);
  if (rc == SQLITE_OK) rc = definition_discover(edb, &table->definition, message);
  if (rc == SQLITE_OK) rc = table_declare(db, table, message);
  if (rc == SQLITE_OK) rc = definition_save(db, argv[1], argv[2], &table->definition, message);
  if (rc == SQLITE_OK) {
    table_encoding(db, table);
    *vtab = &table->base;
  } else if (table) {
    table_free(table);
  }
  return rc;
}

static int table_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message) {
  Table *table = NULL;
  int rc = table_new(edb, argv, &table);
  if (rc == SQLITE_OK) {
    rc = definition_parse(&table->definition, argc - 3, argv + 3, &table->broken);
    /* Even where the table cannot be read it has its columns, so that a query is told why. */
    char *unreadable = NULL;
    if (rc != SQLITE_NOMEM) {
      rc = definition_load(db, argv[1], argv[2], &table->definition, &unreadable);
    }
    if (table->broken == NULL) {
      table->broken = unreadable;
    } else {
      sqlite3_free(unreadable);
    }
    if (rc != SQLITE_NOMEM) rc = table_declare(db, table, message);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM) { /* shadow tables that somebody changed */
      if (table->broken == NULL) {
        table->broken = *message;
        *message = NULL;
      }
      definition_clear(&table->definition);
      rc = table_declare(db, table, message);
    }
  }
  if (rc == SQLITE_OK) {
    table_encoding(db, table);
    *vtab = &table->base;
  } else if (table) {
    table_free(table);
  }
  return rc;
}

static int table_disconnect(sqlite3_vtab *vtab) {
  table_free((Table *)vtab);
  return SQLITE_OK;
}

static int table_destroy(sqlite3_vtab *vtab) {
  Table *table = (Table *)vtab;
  if (table->session) { /* SQLite would not tell it of the COMMIT any more */
    return vtab_fail(
        vtab, SQLITE_LOCKED,
        sqlite3_mprintf("edb: %s has been written to: it can be dropped after COMMIT or ROLLBACK",
                        table->name));
  }
  int rc = definition_drop(table->edb->db, table->schema, table->name);
  if (rc == SQLITE_OK) table_free(table);
  return rc;
}

static int table_rename(sqlite3_vtab *vtab, const char *name) {
  Table *table = (Table *)vtab;
  char *copy = sqlite3_mprintf("%s", name);
  if (copy == NULL) return SQLITE_NOMEM;
  int rc = definition_rename(table->edb->db, table->schema, table->name, name);
  if (rc == SQLITE_OK) {
    sqlite3_free(table->name);
    table->name = copy;
  } else {
    sqlite3_free(copy);
  }
  return rc;
}

/* A database file from elsewhere must not make its reader call where it says, or run what it says: with
** trusted_schema off, the server has to be defined by the application, and a query is not run. */
int table_server(const Table *table, Server **server, char **message) {
  const Definition *d = &table->definition;
  int trusted = 1;
  if (table->broken) {
    *message = sqlite3_mprintf("%s", table->broken);
    return SQLITE_ERROR;
  }
  if (strchr(d->server, ':') || d->query) {
    sqlite3_db_config(table->edb->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &trusted);
    if (!trusted) {
      *message = sqlite3_mprintf(
          "edb: %s: trusted_schema is off, so the %s in this database is not "
          "used: %s",
          table->name, d->query ? "query" : "URL",
          d->query ? "run it by edb_query()" : "define its server with edb_server()");
      return SQLITE_ERROR;
    }
  }
  *server = server_find(table->edb, d->server, message);
  if (*server == NULL) return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  if ((*server)->driver == d->driver) return SQLITE_OK;
  *message =
      sqlite3_mprintf("edb: %s was created on a %s server, but %s is a %s server now", table->name,
                      d->driver->name, (*server)->name, (*server)->driver->name);
  return SQLITE_ERROR;
}

sqlite3_int64 table_written(const Table *table) {
  char *message = NULL;
  Server *server;
  if (table_server(table, &server, &message) == SQLITE_OK) return server->written;
  sqlite3_free(message);
  return -1;
}

/* Only what is known of it: planning neither reads files nor complains. */
double table_latency(const Table *table) {
  for (const Server *server = table->edb->servers; server; server = server->next) {
    if (strcmp(server->name, table->definition.server) == 0 ||
        strcmp(server->url, table->definition.server) == 0)
      return server->latency;
  }
  return 0;
}

sqlite3_int64 table_join_memory(const Table *table) {
  sqlite3_int64 own = table->definition.join_memory;
  sqlite3_int64 all = table->edb->join_memory;
  return own >= 0 && own < all ? own : all;
}

const sqlite3_module table_module = {.iVersion = 3,
                                     .xCreate = table_create,
                                     .xConnect = table_connect,
                                     .xBestIndex = plan_best_index,
                                     .xDisconnect = table_disconnect,
                                     .xDestroy = table_destroy,
                                     .xOpen = scan_open,
                                     .xClose = scan_close,
                                     .xFilter = scan_filter,
                                     .xNext = scan_next,
                                     .xEof = scan_eof,
                                     .xColumn = scan_column,
                                     .xRowid = scan_rowid,
                                     .xUpdate = write_update,
                                     .xBegin = transaction_begin,
                                     .xSync = transaction_sync,
                                     .xCommit = transaction_commit,
                                     .xRollback = transaction_rollback,
                                     .xFindFunction = match_find,
                                     .xRename = table_rename,
                                     .xSavepoint = transaction_savepoint,
                                     .xRelease = transaction_release,
                                     .xRollbackTo = transaction_rollback_to,
                                     .xShadowName = definition_is_shadow};
