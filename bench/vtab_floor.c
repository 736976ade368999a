/*
** The peer vtab-floor: a virtual table that has its rows in memory before the clock starts.
**
**     CREATE VIRTUAL TABLE t USING vtab_floor(1000000);
**     SELECT count(*), sum(id), sum(length(name)), sum(score) FROM t;
**
** No row travels and none is decoded, so what a statement costs over this table is SQLite's own
** share: the floor under any virtual table that returns these rows. It hands text over as edb does,
** with SQLITE_TRANSIENT and its NUL, and has edb's declared types. The rows are participant.h's.
**
** The row of id i is element i - 1, so a constraint on id is a range of elements.
**
**   idxNum bit   constraint        argument, in this order
**            1   id = ?            the key
**            2   id >= ? or > ?    the lower bound, checked again by SQLite
**            4   id <= ? or < ?    the upper bound, checked again by SQLite
*/
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "participant.h"

enum { COLUMN_ID, COLUMN_NAME, COLUMN_SCORE };
enum { PLAN_EQ = 1, PLAN_GE = 2, PLAN_LE = 4 };

typedef struct floor_row {
  sqlite3_int64 id;
  double score;
  const char *name;
} floor_row;

typedef struct floor_table {
  sqlite3_vtab base;
  sqlite3_int64 count;
  floor_row *rows;
  char *names;
} floor_table;

typedef struct floor_cursor {
  sqlite3_vtab_cursor base;
  sqlite3_int64 at, end; /* elements of rows */
} floor_cursor;

static int floor_disconnect(sqlite3_vtab *base) {
  floor_table *table = (floor_table *)base;
  sqlite3_free(table->rows);
  sqlite3_free(table->names);
  sqlite3_free(table);
  return SQLITE_OK;
}

static int floor_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error) {
  (void)aux;
  sqlite3_int64 count = argc > 3 ? strtoll(argv[3], NULL, 10) : 0;
  if (count < 1) {
    *error = sqlite3_mprintf("usage: vtab_floor(ROWS)");
    return SQLITE_ERROR;
  }
  int rc = sqlite3_declare_vtab(db, "CREATE TABLE t(id INTEGER, name TEXT, score REAL)");
  if (rc != SQLITE_OK) {
    return rc;
  }
  floor_table *table = sqlite3_malloc64(sizeof *table);
  if (!table) {
    return SQLITE_NOMEM;
  }
  memset(table, 0, sizeof *table);
  table->count = count;
  table->rows = sqlite3_malloc64((sqlite3_uint64)count * sizeof *table->rows);
  table->names = sqlite3_malloc64((sqlite3_uint64)count * BENCH_NAME_MAX);
  if (!table->rows || !table->names) {
    floor_disconnect(&table->base);
    return SQLITE_NOMEM;
  }
  char *name = table->names;
  for (sqlite3_int64 i = 0; i < count; i++) {
    table->rows[i] = (floor_row){i + 1, bench_score(i + 1), name};
    name += bench_name(i + 1, name) + 1;
  }
  *out = &table->base;
  return SQLITE_OK;
}

static int floor_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  const floor_table *table = (const floor_table *)base;
  int eq = -1, ge = -1, le = -1;
  for (int i = 0; i < info->nConstraint; i++) {
    if (!info->aConstraint[i].usable || info->aConstraint[i].iColumn != COLUMN_ID) {
      continue;
    }
    switch (info->aConstraint[i].op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      eq = i;
      break;
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_GT:
      ge = i;
      break;
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_LT:
      le = i;
      break;
    default:
      break;
    }
  }
  info->estimatedRows = table->count;
  if (eq >= 0) {
    info->idxNum = PLAN_EQ;
    info->aConstraintUsage[eq].argvIndex = 1;
    info->estimatedRows = 1;
  } else {
    int args = 0;
    if (ge >= 0) {
      info->idxNum |= PLAN_GE;
      info->aConstraintUsage[ge].argvIndex = ++args;
      info->estimatedRows /= 4;
    }
    if (le >= 0) {
      info->idxNum |= PLAN_LE;
      info->aConstraintUsage[le].argvIndex = ++args;
      info->estimatedRows /= 4;
    }
  }
  info->estimatedCost = (double)info->estimatedRows;
  return SQLITE_OK;
}

static int floor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  (void)base;
  floor_cursor *cursor = sqlite3_malloc64(sizeof *cursor);
  if (!cursor) {
    return SQLITE_NOMEM;
  }
  memset(cursor, 0, sizeof *cursor);
  *out = &cursor->base;
  return SQLITE_OK;
}

static int floor_close(sqlite3_vtab_cursor *base) {
  sqlite3_free(base);
  return SQLITE_OK;
}

static int floor_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                        sqlite3_value **argv) {
  (void)text;
  (void)argc;
  floor_cursor *cursor = (floor_cursor *)base;
  const floor_table *table = (const floor_table *)base->pVtab;
  sqlite3_int64 low = 1, high = table->count;
  int arg = 0;
  if (plan & PLAN_EQ) {
    low = high = sqlite3_value_int64(argv[arg++]);
  }
  if (plan & PLAN_GE) {
    low = sqlite3_value_int64(argv[arg++]);
  }
  if (plan & PLAN_LE) {
    high = sqlite3_value_int64(argv[arg++]);
  }
  cursor->at = low < 1 ? 0 : low - 1;
  cursor->end = high > table->count ? table->count : high;
  return SQLITE_OK;
}

static int floor_next(sqlite3_vtab_cursor *base) {
  ((floor_cursor *)base)->at++;
  return SQLITE_OK;
}

static int floor_eof(sqlite3_vtab_cursor *base) {
  const floor_cursor *cursor = (const floor_cursor *)base;
  return cursor->at >= cursor->end;
}

static int floor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const floor_table *table = (const floor_table *)base->pVtab;
  const floor_row *row = &table->rows[((floor_cursor *)base)->at];
  switch (column) {
  case COLUMN_ID:
    sqlite3_result_int64(context, row->id);
    break;
  case COLUMN_NAME:
    sqlite3_result_text(context, row->name, -1, SQLITE_TRANSIENT); /* as in ext/value.c */
    break;
  default:
    sqlite3_result_double(context, row->score);
    break;
  }
  return SQLITE_OK;
}

static int floor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((floor_cursor *)base)->at + 1;
  return SQLITE_OK;
}

static const sqlite3_module floor_module = {
    .xCreate = floor_connect,
    .xConnect = floor_connect,
    .xBestIndex = floor_best_index,
    .xDisconnect = floor_disconnect,
    .xDestroy = floor_disconnect,
    .xOpen = floor_open,
    .xClose = floor_close,
    .xFilter = floor_filter,
    .xNext = floor_next,
    .xEof = floor_eof,
    .xColumn = floor_column,
    .xRowid = floor_rowid,
};

__attribute__((visibility("default"))) int sqlite3_vtabfloor_init(sqlite3 *db, char **error,
                                                                  const sqlite3_api_routines *api);

int sqlite3_vtabfloor_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  (void)error;
  SQLITE_EXTENSION_INIT2(api);
  return sqlite3_create_module(db, "vtab_floor", &floor_module, NULL);
}
