/*
** ext/listingInt.h: tables and table-valued functions that list something; part of extInt.h.
*/
#ifndef EDB_LISTING_INT_H
#define EDB_LISTING_INT_H

extern const sqlite3_module query_module;   /* edb_query(server, sql, …) */
extern const sqlite3_module tables_module;  /* edb_tables(server, schema) */
extern const sqlite3_module columns_module; /* edb_columns(server, 'schema.table') */
extern const sqlite3_module servers_module; /* edb_servers */
extern const sqlite3_module log_module;     /* edb_log */
extern const sqlite3_module sources_module; /* edb_odbc_sources */

/* ---- listing.c ------------------------------------------------------------------------------------- */

/* What each of them is to SQLite. */
typedef struct Listing {
  sqlite3_vtab base;
  Edb *edb;
} Listing;

static inline Edb *listing_edb(const sqlite3_vtab_cursor *cursor) {
  return ((const Listing *)cursor->pVtab)->edb;
}

/* xConnect. direct: it asks servers, and so must not be reached by a view or a trigger of a file that somebody else made. */
int listing_connect(sqlite3 *db, Edb *edb, const char *declaration, int direct,
                    sqlite3_vtab **vtab);
int listing_disconnect(sqlite3_vtab *vtab);

/* xBestIndex: the whole list. */
int listing_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* xOpen: a cursor of `size` bytes, all 0, that begins with SQLite's. */
int listing_open(size_t size, sqlite3_vtab_cursor **cursor);

/* xBestIndex of a table-valued function whose arguments are the hidden columns from `first` on:
** idxNum is how many are given, without a gap, and they are the arguments of xFilter. */
int arguments_plan(sqlite3_index_info *info, int first, int count);

#endif
