/*
** ext/outer.c: whether a running statement may have an outer join.
**
** SQLite (3.40 to 3.54 at least) hands the IS NULL and IS NOT NULL of
**
**     a LEFT JOIN b ON b.x = a.x AND a.y IS NULL
**
** to table a as if they stood in WHERE, and nothing in xBestIndex tells them apart. Were they sent,
** rows of a would be lost. There is no outer join without the word JOIN, in the statement itself or
** in a view or a trigger; so the word is looked for when such a condition is about to be sent.
*/
#include "extInt.h"

/* Whether the word stands in the text, in capital or small letters. */
static int has_join(const char *text) { return sqlite3_strlike("%join%", text, 0) == 0; }

/* A statement without text was prepared by sqlite3_prepare(), which keeps none. */
static int statement_may_join(sqlite3 *db) {
  for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s; s = sqlite3_next_stmt(db, s)) {
    if (!sqlite3_stmt_busy(s)) continue;
    const char *text = sqlite3_sql(s);
    if (text == NULL || has_join(text)) return 1;
  }
  return 0;
}

/* 1 where the query has a row or cannot be run. */
static int finds(sqlite3 *db, char *sql) {
  sqlite3_stmt *rows = NULL;
  int found = 1;
  if (sql && sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK) {
    found = sqlite3_step(rows) != SQLITE_DONE;
  }
  sqlite3_finalize(rows);
  sqlite3_free(sql);
  return found;
}

static int schema_may_join(sqlite3 *db) {
  sqlite3_stmt *schemas = NULL;
  int found = sqlite3_prepare_v2(db, "PRAGMA database_list", -1, &schemas, NULL) != SQLITE_OK;
  int rc = SQLITE_DONE;
  while (!found && (rc = sqlite3_step(schemas)) == SQLITE_ROW) {
    found = finds(db, sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master WHERE type IN "
                                      "('view', 'trigger') AND sql LIKE '%%join%%'",
                                      (const char *)sqlite3_column_text(schemas, 1)));
  }
  sqlite3_finalize(schemas);
  return found || rc != SQLITE_DONE;
}

int outer_join_possible(sqlite3 *db) { return statement_may_join(db) || schema_may_join(db); }
