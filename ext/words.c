/*
** ext/words.c: what stands in the statements that run.
**
** Some things decide what may be sent, and nothing in xBestIndex tells them; but none of them is without a word for it in
** the statement itself, or in a view or a trigger. So the word is looked for when the plan would profit. A word
** that is there and means something else costs a better plan, never a row.
**
**   JOIN, LEFT,   SQLite (3.40 to 3.54 at least) hands the IS NULL and IS NOT NULL of
**   RIGHT, FULL       a LEFT JOIN b ON b.x = a.x AND a.y IS NULL
**                 to table a as if they stood in WHERE, and likewise <>, IS NOT, LIKE, GLOB and functions. Were they
**                 sent, rows of a would be lost. And a RIGHT JOIN asks for the identity of each row.
**   ROWID, OID    asks for it as well, without that colUsed says so
**   EDB_KEY       likewise: newer versions say that it is read in all plans
**   MIN, MAX      look like ORDER BY
**   COLLATE       SQLite (3.40, not 3.53) makes a list of `a = x OR a = y COLLATE RTRIM`, without the collation. It
**                 looks at the OR again, but in its own tables, too, an index finds too little.
**   63 commas     of 64 columns in ORDER BY nothing is told, but LIMIT is (3.38 to 3.54 at least)
*/
#include "extInt.h"

typedef int TextTest(const char *text);

/* Whether the word stands in the text, in capital or small letters. */
static int has(const char *text, const char *pattern) {
  return sqlite3_strlike(pattern, text, 0) == 0;
}
static int has_join(const char *text) { return has(text, "%join%"); }
static int has_outer_join(const char *text) {
  return has_join(text) && (has(text, "%left%") || has(text, "%right%") || has(text, "%full%"));
}
static int has_key(const char *text) { return has(text, "%edb_key%"); }
static int has_identity(const char *text) {
  return has_join(text) || has(text, "%rowid%") || has(text, "%oid%") || has_key(text);
}
static int has_extreme(const char *text) { return has(text, "%min%") || has(text, "%max%"); }
static int has_collate(const char *text) { return has(text, "%collate%"); }
static int has_long_list(const char *text) {
  int commas = 0;
  for (; *text; text++) commas += *text == ',';
  return commas >= 63;
}

/* A statement without text was prepared by sqlite3_prepare(), which keeps none. */
static int statement_may(sqlite3 *db, TextTest *test) {
  for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s; s = sqlite3_next_stmt(db, s)) {
    if (!sqlite3_stmt_busy(s)) continue;
    const char *text = sqlite3_sql(s);
    if (text == NULL || test(text)) return 1;
  }
  return 0;
}

/* 1 where a text in the first column of the query passes, or the query cannot be run. */
static int finds(sqlite3 *db, char *sql, TextTest *test) {
  sqlite3_stmt *rows = NULL;
  int found = 0;
  int rc = sql ? sqlite3_prepare_v2(db, sql, -1, &rows, NULL) : SQLITE_NOMEM;
  while (rc == SQLITE_OK && !found && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(rows, 0);
    found = text == NULL || test(text);
    rc = SQLITE_OK;
  }
  sqlite3_finalize(rows);
  sqlite3_free(sql);
  return found || rc != SQLITE_DONE;
}

static int schema_may(sqlite3 *db, TextTest *test) {
  sqlite3_stmt *schemas = NULL;
  int found = sqlite3_prepare_v2(db, "PRAGMA database_list", -1, &schemas, NULL) != SQLITE_OK;
  int rc = SQLITE_DONE;
  while (!found && (rc = sqlite3_step(schemas)) == SQLITE_ROW) {
    found = finds(db,
                  sqlite3_mprintf("SELECT sql FROM \"%w\".sqlite_master "
                                  "WHERE type IN ('view', 'trigger')",
                                  (const char *)sqlite3_column_text(schemas, 1)),
                  test);
  }
  sqlite3_finalize(schemas);
  return found || rc != SQLITE_DONE;
}

static int may(sqlite3 *db, TextTest *test) {
  return statement_may(db, test) || schema_may(db, test);
}

int outer_join_possible(sqlite3 *db) { return may(db, has_outer_join); }
int key_possible(sqlite3 *db) { return may(db, has_key); }
int identity_possible(sqlite3 *db) { return may(db, has_identity); }
int extreme_possible(sqlite3 *db) { return may(db, has_extreme); }
int lost_collation_possible(sqlite3 *db) {
  return sqlite3_libversion_number() < 3053000 && may(db, has_collate);
}
int long_order_possible(sqlite3 *db) { return may(db, has_long_list); }
