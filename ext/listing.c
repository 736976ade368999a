/*
** ext/listing.c: what edb's own tables and table-valued functions have in common: a declaration, and cursors that are a
** piece of memory.
*/
#include "extInt.h"

#include <string.h>

int listing_connect(sqlite3 *db, Edb *edb, const char *declaration, int direct,
                    sqlite3_vtab **vtab) {
  int rc = sqlite3_declare_vtab(db, declaration);
  if (rc == SQLITE_OK && direct) rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  if (rc != SQLITE_OK) return rc;
  Listing *listing = sqlite3_malloc64(sizeof *listing);
  if (listing == NULL) return SQLITE_NOMEM;
  memset(listing, 0, sizeof *listing);
  listing->edb = edb;
  *vtab = &listing->base;
  return SQLITE_OK;
}

int listing_disconnect(sqlite3_vtab *vtab) {
  sqlite3_free(vtab);
  return SQLITE_OK;
}

int listing_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)vtab;
  info->estimatedCost = 100;
  info->estimatedRows = 10;
  return SQLITE_OK;
}

int listing_open(size_t size, sqlite3_vtab_cursor **cursor) {
  *cursor = sqlite3_malloc64(size);
  if (*cursor == NULL) return SQLITE_NOMEM;
  memset(*cursor, 0, size);
  return SQLITE_OK;
}

int arguments_plan(sqlite3_index_info *info, int first, int count) {
  for (int i = 0; i < info->nConstraint; i++) {
    int argument = info->aConstraint[i].iColumn - first;
    if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (argument >= 0 && argument < count && !info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
  }
  for (int argument = 0; argument < count && info->idxNum == argument; argument++) {
    for (int i = 0; i < info->nConstraint && info->idxNum == argument; i++) {
      if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
      if (info->aConstraint[i].iColumn != first + argument) continue;
      info->aConstraintUsage[i].argvIndex = ++info->idxNum;
      info->aConstraintUsage[i].omit = 1;
    }
  }
  info->estimatedCost = 1000;
  info->estimatedRows = 100;
  return SQLITE_OK;
}
