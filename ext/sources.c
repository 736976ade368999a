/*
** ext/sources.c: what a driver knows that can be connected to.
**
**   SELECT name, kind, description FROM edb_odbc_sources;    data sources (odbc:DSN=name), drivers (odbc:Driver={name};…)
*/
#include "extInt.h"

#include <string.h>

typedef struct Source {
  struct Source *next;
  char *name, *description;
  const char *kind; /* the driver's own, static */
} Source;

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  Source *first, **last, *present;
  sqlite3_int64 row;
} Cursor;

static int sources_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                           sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  return listing_connect(db, edb, "CREATE TABLE x(name TEXT, kind TEXT, description TEXT)", 0,
                         vtab);
}

static void sources_clear(Cursor *cursor) {
  while (cursor->first) {
    Source *next = cursor->first->next;
    sqlite3_free(cursor->first->name);
    sqlite3_free(cursor->first->description);
    sqlite3_free(cursor->first);
    cursor->first = next;
  }
  cursor->last = &cursor->first;
  cursor->present = NULL;
}

static int sources_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  (void)vtab;
  return listing_open(sizeof(Cursor), out);
}

static int sources_close(sqlite3_vtab_cursor *base) {
  sources_clear((Cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

/* edb_source_taker */
static int sources_take(void *context, const char *kind, const char *name,
                        const char *description) {
  Cursor *cursor = context;
  Source *source = sqlite3_malloc64(sizeof *source);
  if (source == NULL) return EDB_NOMEM;
  memset(source, 0, sizeof *source);
  source->kind = kind;
  source->name = sqlite3_mprintf("%s", name);
  source->description = sqlite3_mprintf("%s", description);
  *cursor->last = source;
  cursor->last = &source->next;
  return source->name && source->description ? EDB_OK : EDB_NOMEM;
}

static int sources_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                          sqlite3_value **argv) {
  Cursor *cursor = (Cursor *)base;
  const Edb *edb = listing_edb(base);
  edb_error error;
  (void)number;
  (void)string;
  (void)argc;
  (void)argv;
  sources_clear(cursor);
  for (int i = 0; edb_drivers[i]; i++) {
    if (edb_drivers[i]->sources == NULL) continue;
    int rc = edb_drivers[i]->sources(&edb->host, sources_take, cursor, &error);
    if (rc == EDB_NOMEM) return SQLITE_NOMEM;
    if (rc != EDB_OK) {
      char *message = sqlite3_mprintf("edb: %s: %s", edb_drivers[i]->name, error.message);
      return vtab_fail(base->pVtab, error_code((edb_code)rc), message);
    }
  }
  cursor->present = cursor->first;
  cursor->row = 1;
  return SQLITE_OK;
}

static int sources_next(sqlite3_vtab_cursor *base) {
  Cursor *cursor = (Cursor *)base;
  cursor->present = cursor->present->next;
  cursor->row++;
  return SQLITE_OK;
}

static int sources_eof(sqlite3_vtab_cursor *base) { return ((Cursor *)base)->present == NULL; }

static int sources_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const Source *source = ((Cursor *)base)->present;
  const char *text = column == 0 ? source->name : column == 1 ? source->kind : source->description;
  sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
  return SQLITE_OK;
}

static int sources_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((Cursor *)base)->row;
  return SQLITE_OK;
}

const sqlite3_module sources_module = {.iVersion = 1,
                                       .xConnect = sources_connect,
                                       .xBestIndex = listing_best_index,
                                       .xDisconnect = listing_disconnect,
                                       .xOpen = sources_open,
                                       .xClose = sources_close,
                                       .xFilter = sources_filter,
                                       .xNext = sources_next,
                                       .xEof = sources_eof,
                                       .xColumn = sources_column,
                                       .xRowid = sources_rowid};
