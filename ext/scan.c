/*
** ext/scan.c: the cursor of a remote table.
**
** xFilter builds the remote SQL from the plan and the actual values (or takes what it built last, where these
** would make the same), sends it over a link of the cursor's own and lends each row on to SQLite as the driver lends it. At the end of the rows the
** link goes back to its server, so that a join's inner side needs it only while a lookup lasts; the
** statement stays prepared there.
*/
#include "extInt.h"

#include <string.h>

typedef struct Scan {
  sqlite3_vtab_cursor base;
  const Plan *plan;
  Link *link; /* NULL while nothing is read */
  edb_rows rows;
  const edb_value *row;
  edb_row owned; /* where the driver has nothing to lend */
  int eof;
  int counting;         /* rows are only counted: there is no reader */
  sqlite3_int64 left;   /* then, how many there are yet, the present one included */
  sqlite3_int64 passed; /* and how many there were before it */
} Scan;

int vtab_fail(sqlite3_vtab *vtab, int rc, char *message) {
  sqlite3_free(vtab->zErrMsg);
  vtab->zErrMsg = message;
  return rc;
}

static Table *scan_table(const Scan *scan) { return (Table *)scan->base.pVtab; }

/* ---- Open and close ----------------------------------------------------------------------------- */

int scan_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  (void)vtab;
  Scan *scan = sqlite3_malloc64(sizeof *scan);
  if (scan == NULL) return SQLITE_NOMEM;
  memset(scan, 0, sizeof *scan);
  *cursor = &scan->base;
  return SQLITE_OK;
}

/* Ends the reader and gives the link back. */
static void scan_end(Scan *scan) {
  scan->row = NULL;
  scan->eof = 1;
  edb_row_clear(&scan->owned);
  if (scan->link == NULL) return;
  edb_rows_close(&scan->rows);
  link_release(scan->link);
  scan->link = NULL;
}

int scan_close(sqlite3_vtab_cursor *cursor) {
  scan_end((Scan *)cursor);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

/* After an answer that made no sense the connection is not used again, nor is the statement that it
** keeps prepared. */
static int scan_failed(Scan *scan, int code) {
  char *message = NULL;
  int rc = link_fail(scan->link, code, &message);
  if (code == EDB_FAILED) scan->link->generation = -1;
  scan_end(scan);
  return vtab_fail(scan->base.pVtab, rc, message);
}

static int scan_fetch(Scan *scan) {
  int rc = EDB_UNSUPPORTED;
  if (scan->owned.host == NULL) {
    rc = edb_rows_next_borrowed(&scan->rows, &scan->row);
    if (rc == EDB_ROW) return SQLITE_OK;
    if (rc == EDB_UNSUPPORTED && scan->row == NULL) scan->owned.host = &scan->link->server->host;
  }
  if (scan->owned.host) {
    rc = edb_rows_next(&scan->rows, &scan->owned);
    scan->row = scan->owned.values;
    if (rc == EDB_ROW) return SQLITE_OK;
  }
  if (rc != EDB_DONE) return scan_failed(scan, rc);
  scan_end(scan);
  return SQLITE_OK;
}

int scan_next(sqlite3_vtab_cursor *cursor) {
  Scan *scan = (Scan *)cursor;
  if (scan->counting) {
    scan->passed++;
    scan->left--;
    scan->eof = scan->left <= 0;
    return SQLITE_OK;
  }
  return scan_fetch(scan);
}

int scan_eof(sqlite3_vtab_cursor *cursor) { return ((Scan *)cursor)->eof; }

/* ---- xFilter --------------------------------------------------------------------------------------- */

/* A database file from elsewhere must not make its reader call where it says, or run what it says: with
** trusted_schema off, the server has to be defined by the application, and a query is not run. */
static int scan_server(const Table *table, Server **server, char **message) {
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

/* The statement is written for the server that the table was created on. */
static int scan_dialect(Scan *scan, char **message) {
  const Definition *d = &scan_table(scan)->definition;
  const edb_dialect *dialect = edb_connection_dialect(&scan->link->connection);
  if (dialect == NULL || dialect == d->dialect) return SQLITE_OK;
  *message = sqlite3_mprintf(
      "edb: %s was created on a server that speaks %s, but %s speaks %s: drop it "
      "and create it again",
      scan_table(scan)->name, d->dialect->name, scan->link->server->name, dialect->name);
  return SQLITE_ERROR;
}

/* Sends the plan's statement. *never: the values admit no row, nothing was sent. */
static int scan_send(Scan *scan, Plan *plan, sqlite3_value **values, int *never) {
  Table *table = scan_table(scan);
  char *message = NULL;
  Server *server = NULL;
  Sql sql;
  *never = 0;
  int rc = scan_server(table, &server, &message);
  if (rc != SQLITE_OK) return vtab_fail(&table->base, rc, message);
  sql_begin(&sql, table->definition.dialect);
  sql.outer = plan_asks_null(plan) && outer_join_possible(table->edb->db);
  Shipped shipped = deparse_plan(&sql, &table->definition, plan, values);
  if (shipped == SHIP_NEVER) {
    *never = 1;
  } else if (shipped == SHIP_FAIL) {
    rc = SQLITE_NOMEM;
  } else {
    rc = link_acquire(server, &scan->link, &message);
    if (rc == SQLITE_OK) rc = scan_dialect(scan, &message);
    if (rc == SQLITE_OK) {
      rc = link_query(&scan->link, sql.written, plan->rows, sql.parameters, (size_t)sql.count,
                      REPEAT_ONCE, &scan->rows, &message);
    }
    if (rc != SQLITE_OK) scan_end(scan);
  }
  sql_clear(&sql);
  return rc == SQLITE_OK ? rc : vtab_fail(&table->base, rc, message);
}

/* The count has come as the only row: its rows can be given without the server. */
static int scan_count(Scan *scan) {
  int rc = scan_fetch(scan);
  if (rc != SQLITE_OK) return rc;
  scan->left = scan->row && scan->row[0].kind == EDB_I64 ? scan->row[0].as.i64 : 0;
  scan_end(scan);
  scan->counting = 1;
  scan->passed = 0;
  scan->eof = scan->left <= 0;
  return SQLITE_OK;
}

int scan_filter(sqlite3_vtab_cursor *cursor, int number, const char *string, int argc,
                sqlite3_value **argv) {
  Scan *scan = (Scan *)cursor;
  Table *table = scan_table(scan);
  int never;
  (void)string;
  (void)argc;
  scan_end(scan);
  scan->counting = 0;
  Plan *plan = table->broken ? NULL : table->plans[number];
  scan->plan = plan;
  int rc = scan_send(scan, plan, argv, &never);
  if (rc != SQLITE_OK || never) return rc;
  scan->eof = 0;
  return scan->plan->count_only ? scan_count(scan) : scan_fetch(scan);
}

/* ---- Columns ---------------------------------------------------------------------------------------- */

/* Counted rows have been told apart by nothing yet, so any order of the real ones will do: reads
** them, and stands at the same place among them. */
static int scan_identify(Scan *scan) {
  Plan *plan;
  int never;
  sqlite3_int64 passed = scan->passed;
  int rc = plan_identities(scan_table(scan), &plan);
  if (rc == SQLITE_OK) rc = scan_send(scan, plan, NULL, &never);
  if (rc != SQLITE_OK) return rc;
  scan->counting = 0;
  scan->plan = plan;
  scan->eof = 0;
  rc = scan_fetch(scan);
  while (rc == SQLITE_OK && !scan->eof && passed-- > 0) rc = scan_fetch(scan);
  if (rc != SQLITE_OK || !scan->eof) return rc;
  return vtab_fail(scan->base.pVtab, SQLITE_ERROR,
                   sqlite3_mprintf("edb: %s: rows went away while they were counted: try again",
                                   scan_table(scan)->name));
}

static int scan_column_failed(Scan *scan, sqlite3_context *context, const char *column) {
  char *message =
      sqlite3_mprintf("edb: %s: column %s has a value that SQLite's dates cannot express "
                      "(on_unrepresentable=error)",
                      scan_table(scan)->name, column);
  if (message) sqlite3_result_error(context, message, -1);
  sqlite3_free(message);
  return SQLITE_ERROR;
}

/* The key's values as SQL literals, in the key's order: text that is the same for the same key, and
** only then. */
static void result_key(Scan *scan, sqlite3_context *context) {
  const Definition *d = &scan_table(scan)->definition;
  sqlite3_str *out = sqlite3_str_new(NULL);
  int found = 1;
  if (scan->plan->identity >= 0) value_literal(out, &scan->row[scan->plan->identity]);
  for (int ordinal = 1; found && scan->plan->identity < 0; ordinal++) {
    found = 0;
    for (int i = 0; i < d->count; i++) {
      if (d->columns[i].key != ordinal) continue;
      if (ordinal > 1) sqlite3_str_appendchar(out, 1, ',');
      value_literal(out, &scan->row[scan->plan->slot[i]]);
      found = 1;
    }
  }
  int n = sqlite3_str_length(out);
  char *text = sqlite3_str_finish(out);
  if (text == NULL) {
    sqlite3_result_error_nomem(context);
  } else {
    sqlite3_result_text(context, text, n, sqlite3_free);
  }
}

int scan_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column) {
  Scan *scan = (Scan *)cursor;
  const Definition *d = &scan_table(scan)->definition;
  if (scan->counting) {
    int rc = scan_identify(scan);
    if (rc != SQLITE_OK) return rc;
  }
  if (scan->row == NULL) return SQLITE_OK;
  if (column >= d->count) {
    if (scan_table(scan)->identity == IDENTITY_KEY) result_key(scan, context);
    return SQLITE_OK;
  }
  int slot = scan->plan->slot[column];
  if (slot < 0) { /* SQLite read a column that it did not announce */
    sqlite3_result_error(context, "edb: a column was read that was not asked for", -1);
    return SQLITE_ERROR;
  }
  if (value_result(context, &scan->row[slot], d->columns[column].type, d) == SQLITE_OK) {
    return SQLITE_OK;
  }
  return scan_column_failed(scan, context, d->columns[column].name);
}

int scan_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid) {
  Scan *scan = (Scan *)cursor;
  Table *table = scan_table(scan);
  const Definition *d = &table->definition;
  if (table->identity == IDENTITY_NONE) {
    return vtab_fail(
        &table->base, SQLITE_ERROR,
        sqlite3_mprintf("edb: %s has no key, so its rows cannot be told apart: name its key "
                        "with the option key=",
                        table->name));
  }
  if (scan->counting) {
    int rc = scan_identify(scan);
    if (rc != SQLITE_OK) return rc;
  }
  int slot = scan->plan->identity;
  for (int i = 0; i < d->count && slot < 0; i++) {
    if (d->columns[i].key) slot = scan->plan->slot[i];
  }
  const edb_value *key = scan->row ? &scan->row[slot] : NULL;
  int integer = key && (key->kind == EDB_I64 || (key->kind == EDB_U64 && key->as.u64 <= INT64_MAX));
  if (!integer) {
    return vtab_fail(&table->base, SQLITE_ERROR,
                     sqlite3_mprintf("edb: %s: the key of a row is not an integer", table->name));
  }
  *rowid = key->as.i64; /* the same bits */
  return SQLITE_OK;
}
