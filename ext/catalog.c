/*
** ext/catalog.c: what a server has.
**
**   SELECT * FROM edb_tables('shop');                    schema, name, kind, rows, comment
**   SELECT * FROM edb_tables('shop', 'public');          those of one schema
**   SELECT * FROM edb_columns('shop', 'public.orders');  name, type, declared, nullable, key, has_default
*/
#include "extInt.h"

#include <string.h>

/* edb_tables reads rows as they come; edb_columns lists a definition that was discovered as CREATE
** does. */
typedef struct Cursor {
  sqlite3_vtab_cursor base;
  Reader reader;
  Definition definition;
  int column; /* of the definition: the present one */
  sqlite3_int64 rowid;
  int eof;
} Cursor;

static int catalog_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  (void)vtab;
  return listing_open(sizeof(Cursor), out);
}

static void catalog_reset(Cursor *cursor) {
  reader_end(&cursor->reader);
  definition_clear(&cursor->definition);
  cursor->eof = 1;
  cursor->rowid = 0;
}

static int catalog_close(sqlite3_vtab_cursor *base) {
  catalog_reset((Cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int catalog_eof(sqlite3_vtab_cursor *base) { return ((Cursor *)base)->eof; }

static int catalog_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((Cursor *)base)->rowid;
  return SQLITE_OK;
}

static const char *argument_text(int number, sqlite3_value **argv, int i) {
  return i < number ? (const char *)sqlite3_value_text(argv[i]) : NULL;
}

/* ---- edb_tables ----------------------------------------------------------------------------------- */

enum { TABLES_RESULTS = 5 };

static int tables_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                          sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  return listing_connect(db, edb,
                         "CREATE TABLE x(schema TEXT, name TEXT, kind TEXT, rows INTEGER, "
                         "comment TEXT, server HIDDEN, of_schema HIDDEN)",
                         1, vtab);
}

static int tables_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)vtab;
  return arguments_plan(info, TABLES_RESULTS, 2);
}

static int tables_next(sqlite3_vtab_cursor *base) {
  Cursor *cursor = (Cursor *)base;
  char *message = NULL;
  int rc = reader_next(&cursor->reader, &message);
  cursor->rowid++;
  cursor->eof = rc != SQLITE_ROW;
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : vtab_fail(base->pVtab, rc, message);
}

static int tables_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                         sqlite3_value **argv) {
  Cursor *cursor = (Cursor *)base;
  const char *name = argument_text(number, argv, 0);
  const char *schema = argument_text(number, argv, 1);
  char *message = NULL;
  (void)string;
  (void)argc;
  catalog_reset(cursor);
  if (name == NULL) {
    message = sqlite3_mprintf("edb: write edb_tables(server) or edb_tables(server, schema)");
    return vtab_fail(base->pVtab, SQLITE_ERROR, message);
  }
  Server *server = server_find(listing_edb(base), name, &message);
  if (server == NULL) return vtab_fail(base->pVtab, message ? SQLITE_ERROR : SQLITE_NOMEM, message);
  edb_parameter parameter = {.name = NULL, .value = {.kind = EDB_NULL}};
  if (schema) parameter.value = value_parameter(argv[1]);
  int rc = reader_open(&cursor->reader, server, server->driver->catalog->tables, &parameter, 1,
                       REPEAT_ONCE, &message);
  return rc == SQLITE_OK ? tables_next(base) : vtab_fail(base->pVtab, rc, message);
}

static int tables_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const Reader *reader = &((Cursor *)base)->reader;
  if (column >= TABLES_RESULTS || (size_t)column >= reader->stream.count) return SQLITE_OK;
  const edb_value *value = &reader->stream.row[column];
  if (value->kind == EDB_F64) { /* an estimate of rows */
    sqlite3_result_int64(context, (sqlite3_int64)value->as.f64);
    return SQLITE_OK;
  }
  return value_result(context, value, reader->stream.columns[column].type, NULL);
}

const sqlite3_module tables_module = {.iVersion = 1,
                                      .xConnect = tables_connect,
                                      .xBestIndex = tables_best_index,
                                      .xDisconnect = listing_disconnect,
                                      .xOpen = catalog_open,
                                      .xClose = catalog_close,
                                      .xFilter = tables_filter,
                                      .xNext = tables_next,
                                      .xEof = catalog_eof,
                                      .xColumn = tables_column,
                                      .xRowid = catalog_rowid};

/* ---- edb_columns ------------------------------------------------------------------------------------ */

enum { COLUMNS_RESULTS = 6 };

static int columns_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                           sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  return listing_connect(db, edb,
                         "CREATE TABLE x(name TEXT, type TEXT, declared TEXT, nullable INTEGER, "
                         "\"key\" INTEGER, has_default INTEGER, server HIDDEN, relation HIDDEN)",
                         1, vtab);
}

static int columns_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)vtab;
  return arguments_plan(info, COLUMNS_RESULTS, 2);
}

static int columns_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                          sqlite3_value **argv) {
  Cursor *cursor = (Cursor *)base;
  Definition *d = &cursor->definition;
  const char *name = argument_text(number, argv, 0);
  const char *relation = argument_text(number, argv, 1);
  char *message = NULL;
  (void)string;
  (void)argc;
  catalog_reset(cursor);
  if (name == NULL || relation == NULL) {
    message = sqlite3_mprintf("edb: write edb_columns(server, 'schema.table')");
    return vtab_fail(base->pVtab, SQLITE_ERROR, message);
  }
  definition_begin(d);
  d->server = sqlite3_mprintf("%s", name);
  int rc = d->server ? definition_parse_table(d, relation, &message) : SQLITE_NOMEM;
  if (rc == SQLITE_OK) rc = definition_discover(listing_edb(base), d, &message);
  if (rc != SQLITE_OK) return vtab_fail(base->pVtab, rc, message);
  cursor->column = 0;
  cursor->eof = d->count == 0;
  return SQLITE_OK;
}

static int columns_next(sqlite3_vtab_cursor *base) {
  Cursor *cursor = (Cursor *)base;
  cursor->rowid = ++cursor->column;
  cursor->eof = cursor->column >= cursor->definition.count;
  return SQLITE_OK;
}

static int columns_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i) {
  const Cursor *cursor = (Cursor *)base;
  const Definition *d = &cursor->definition;
  const Column *column = &d->columns[cursor->column];
  switch (i) {
  case 0:
    sqlite3_result_text(context, column->remote, -1, SQLITE_TRANSIENT);
    break;
  case 1:
    sqlite3_result_text(context, column->type_name, -1, SQLITE_TRANSIENT);
    break;
  case 2:
    sqlite3_result_text(context, definition_declared(d, column->type), -1, SQLITE_STATIC);
    break;
  case 3:
    sqlite3_result_int(context, column->nullable);
    break;
  case 4:
    sqlite3_result_int(context, column->key);
    break;
  case 5:
    sqlite3_result_int(context, column->has_default != 0);
    break;
  default:
    break;
  }
  return SQLITE_OK;
}

const sqlite3_module columns_module = {.iVersion = 1,
                                       .xConnect = columns_connect,
                                       .xBestIndex = columns_best_index,
                                       .xDisconnect = listing_disconnect,
                                       .xOpen = catalog_open,
                                       .xClose = catalog_close,
                                       .xFilter = columns_filter,
                                       .xNext = columns_next,
                                       .xEof = catalog_eof,
                                       .xColumn = columns_column,
                                       .xRowid = catalog_rowid};
