/*
** ext/query.c: edb_query, any SQL that answers rows.
**
**   SELECT c1, c2 FROM edb_query('shop', 'SELECT * FROM f($1)', 42);
**   SELECT "row" ->> '$.name' FROM edb_query('shop', 'SELECT name FROM item');
**
** An eponymous table whose hidden columns server, sql, p1, p2, … are the function's arguments. c1
** to c16 are the result's first columns (c17 to c100 are there too, hidden), `row` is the whole row
** as a JSON object. There are 14 parameters, since SQLite lets a function's first 16 arguments pass
** unchecked, and would compare the others with the columns that they are.
**
** xBestIndex: idxNum is the number of arguments that are given, which are those of xFilter, in
** order.
*/
#include "extInt.h"

#include <string.h>

#define SHOWN 16      /* c1 … */
#define PARAMETERS 14 /* p1 … */
#define RESULTS 100   /* c1 … with the hidden ones */

/* Columns of the table, in order. */
#define COLUMN_ROW SHOWN
#define COLUMN_SERVER (SHOWN + 1)
#define COLUMN_SQL (SHOWN + 2)
#define COLUMN_P1 (SHOWN + 3)
#define COLUMN_BEYOND (COLUMN_P1 + PARAMETERS) /* takes an argument too many */
#define COLUMN_HIDDEN (COLUMN_BEYOND + 1)

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  Reader reader;
  sqlite3_int64 rowid;
  int eof;
} Cursor;

static int query_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  sqlite3_str *sql = sqlite3_str_new(db);
  sqlite3_str_appendall(sql, "CREATE TABLE x(");
  for (int i = 1; i <= SHOWN; i++) sqlite3_str_appendf(sql, "c%d, ", i);
  sqlite3_str_appendall(sql, "\"row\" TEXT, server HIDDEN, sql HIDDEN");
  for (int i = 1; i <= PARAMETERS; i++) sqlite3_str_appendf(sql, ", p%d HIDDEN", i);
  sqlite3_str_appendall(sql, ", beyond HIDDEN");
  for (int i = SHOWN + 1; i <= RESULTS; i++) sqlite3_str_appendf(sql, ", c%d HIDDEN", i);
  sqlite3_str_appendall(sql, ")");
  char *text = sqlite3_str_finish(sql);
  int rc = text ? listing_connect(db, edb, text, 1, vtab) : SQLITE_NOMEM;
  sqlite3_free(text);
  return rc;
}

static int query_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  for (int i = 0; i < info->nConstraint; i++) {
    if (info->aConstraint[i].iColumn != COLUMN_BEYOND) continue;
    char *message = sqlite3_mprintf("edb: edb_query takes %d parameters at most", PARAMETERS);
    return vtab_fail(vtab, SQLITE_ERROR, message);
  }
  return arguments_plan(info, COLUMN_SERVER, 2 + PARAMETERS);
}

static int query_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  (void)vtab;
  return listing_open(sizeof(Cursor), out);
}

static int query_close(sqlite3_vtab_cursor *base) {
  reader_end(&((Cursor *)base)->reader);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int query_next(sqlite3_vtab_cursor *base) {
  Cursor *cursor = (Cursor *)base;
  char *message = NULL;
  int rc = reader_next(&cursor->reader, &message);
  cursor->rowid++;
  cursor->eof = rc != SQLITE_ROW;
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : vtab_fail(base->pVtab, rc, message);
}

static int query_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                        sqlite3_value **argv) {
  Cursor *cursor = (Cursor *)base;
  edb_parameter parameters[PARAMETERS];
  char *message = NULL;
  (void)string;
  (void)argc;
  reader_end(&cursor->reader);
  cursor->eof = 1;
  cursor->rowid = 0;
  const char *name = number > 0 ? (const char *)sqlite3_value_text(argv[0]) : NULL;
  const char *sql = number > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
  if (name == NULL || sql == NULL) {
    message = sqlite3_mprintf("edb: write edb_query(server, sql, …)");
    return vtab_fail(base->pVtab, SQLITE_ERROR, message);
  }
  for (int i = 2; i < number; i++) {
    parameters[i - 2].name = NULL;
    parameters[i - 2].value = value_parameter(argv[i]);
  }
  Server *server = server_find(listing_edb(base), name, &message);
  if (server && is_transaction_control(server, sql)) {
    int refused = transaction_refused(server, &message);
    return vtab_fail(base->pVtab, refused, message);
  }
  int rc = server ? reader_open(&cursor->reader, server, sql, parameters, (size_t)number - 2,
                                REPEAT_NEVER, &message)
                  : (message ? SQLITE_ERROR : SQLITE_NOMEM);
  return rc == SQLITE_OK ? query_next(base) : vtab_fail(base->pVtab, rc, message);
}

static int query_eof(sqlite3_vtab_cursor *base) { return ((Cursor *)base)->eof; }

/* {"name": value, …}, in the result's order. */
static void result_row(const Reader *reader, sqlite3_context *context) {
  static const edb_type text = {.name = "text", .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT};
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  sqlite3_str_appendchar(out, 1, '{');
  for (size_t i = 0; i < reader->stream.count; i++) {
    edb_value name = {.kind = EDB_TEXT};
    name.as.text.p = reader->stream.columns[i].name;
    name.as.text.n = strlen(name.as.text.p);
    if (i) sqlite3_str_appendchar(out, 1, ',');
    value_json(out, &name, &text);
    sqlite3_str_appendchar(out, 1, ':');
    value_json(out, &reader->stream.row[i], reader->stream.columns[i].type);
  }
  sqlite3_str_appendchar(out, 1, '}');
  int rc = sqlite3_str_errcode(out);
  char *json = sqlite3_str_finish(out);
  if (rc != SQLITE_OK) {
    sqlite3_free(json);
    sqlite3_result_error_code(context, rc);
    return;
  }
  sqlite3_result_text(context, json, -1, sqlite3_free);
  sqlite3_result_subtype(context, 'J');
}

static int query_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const Reader *reader = &((Cursor *)base)->reader;
  size_t i = column < SHOWN            ? (size_t)column
             : column >= COLUMN_HIDDEN ? (size_t)(SHOWN + column - COLUMN_HIDDEN)
                                       : reader->stream.count;
  if (column == COLUMN_ROW) {
    result_row(reader, context);
  } else if (i < reader->stream.count) {
    value_result(context, &reader->stream.row[i], reader->stream.columns[i].type, NULL);
  }
  return SQLITE_OK;
}

static int query_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((Cursor *)base)->rowid;
  return SQLITE_OK;
}

const sqlite3_module query_module = {.iVersion = 1,
                                     .xConnect = query_connect,
                                     .xBestIndex = query_best_index,
                                     .xDisconnect = listing_disconnect,
                                     .xOpen = query_open,
                                     .xClose = query_close,
                                     .xFilter = query_filter,
                                     .xNext = query_next,
                                     .xEof = query_eof,
                                     .xColumn = query_column,
                                     .xRowid = query_rowid};
