/*
** SQLite's statements that a session keeps prepared: most of what a client runs, and all that is asked about tables,
** is the same text again.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>

sqlite3_stmt *kept_prepare(Session *s, const char *sql, int *code) {
  sqlite3_stmt *statement = NULL;
  Kept *oldest = NULL;
  for (int i = 0; i < KEPT_COUNT; i++) {
    Kept *k = &s->kept[i];
    if (k->busy) continue;
    if (k->statement != NULL && strcmp(sqlite3_sql(k->statement), sql) == 0) {
      k->busy = true;
      k->used = ++s->kept_clock;
      *code = SQLITE_OK;
      return k->statement;
    }
    if (oldest == NULL || k->used < oldest->used) oldest = k;
  }
  *code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
  if (statement != NULL && oldest != NULL) {
    sqlite3_finalize(oldest->statement);
    *oldest = (Kept){.statement = statement, .busy = true, .used = ++s->kept_clock};
  }
  return statement;
}

void kept_finish(Session *s, sqlite3_stmt *statement) {
  for (int i = 0; statement != NULL && i < KEPT_COUNT; i++) {
    if (s->kept[i].statement != statement) continue;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    s->kept[i].busy = false;
    return;
  }
  sqlite3_finalize(statement);
}

void kept_forget(Session *s) {
  for (int i = 0; i < KEPT_COUNT; i++) {
    sqlite3_finalize(s->kept[i].statement);
    s->kept[i] = (Kept){.statement = NULL};
  }
}
