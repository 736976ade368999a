/*
** SQLite under a session: a file a database, transactions, and errors by SQL Server's numbers.
**
** SQL Server reads what is committed at each statement, SQLite what was committed when its
** transaction began.  So SQLite's transaction begins with the first statement that writes (or that
** reads, from REPEATABLE READ up), not with BEGIN TRANSACTION.  One connection writes at a time: a
** second one waits as SET LOCK_TIMEOUT says and then gets error 1222.
*/
#include "session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static bool file_of(const Server *server, const char *database, char path[4400]) {
  size_t n = strlen(database);
  if (n == 0 || n > 128 || strchr(database, '/') != NULL || database[0] == '.') return false;
  int at = snprintf(path, 4400, "%s/", server->dir);
  for (size_t i = 0; i <= n; i++) path[(size_t)at + i] = (char)tolower((unsigned char)database[i]);
  memcpy(path + (size_t)at + n, ".db", 4);
  return true;
}

bool engine_exists(const Server *server, const char *database) {
  char path[4400];
  return file_of(server, database, path) && access(path, F_OK) == 0;
}

bool engine_create(Server *server, const char *database) {
  char path[4400];
  sqlite3 *db = NULL;
  if (!file_of(server, database, path)) return false;
  Session s = {.isolation = 2};
  bool ok = sqlite3_open(path, &s.db) == SQLITE_OK;
  db = s.db;
  if (ok) function_register(&s);
  ok = ok && sqlite3_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF", NULL, NULL,
                          NULL) == SQLITE_OK;
  ok = ok && catalog_create(db, database);
  if (!ok) fprintf(stderr, "tdsd: %s: %s\n", path, sqlite3_errmsg(db));
  sqlite3_close(db);
  return ok;
}

bool engine_drop(Server *server, const char *database) {
  char path[4400], other[4410];
  if (!file_of(server, database, path) || unlink(path) != 0) return false;
  snprintf(other, sizeof other, "%s-wal", path);
  unlink(other);
  snprintf(other, sizeof other, "%s-shm", path);
  unlink(other);
  return true;
}

/* Waiting for another's lock: until LOCK_TIMEOUT, an attention, or the end of the connection. */
static int busy(void *session, int times) {
  Session *s = session;
  struct timespec pause = {0, 2000000};
  if (s->lock_timeout >= 0 && times * 2 >= s->lock_timeout) return 0;
  if (times > 30000) return 0; /* a minute: a test has hung */
  if (s->c != NULL && msg_poll(s->c, 0)) return 0;
  nanosleep(&pause, NULL);
  return 1;
}

/* Long statements look for an attention now and then. */
static int progress(void *session) {
  Session *s = session;
  return s->c != NULL && s->c->fault.attention != 2 && msg_poll(s->c, 0);
}

bool engine_open(Session *s, const char *database, SqlError *error) {
  char path[4400];
  sqlite3 *db = NULL;
  if (!file_of(s->c->server, database, path) || !engine_exists(s->c->server, database)) {
    sql_error(error, 911, 16,
              "Database '%s' does not exist. Make sure that the name is entered correctly.",
              database);
    return false;
  }
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
    sql_error(error, 945, 16, "Database '%s' cannot be opened: %s", database, sqlite3_errmsg(db));
    sqlite3_close(db);
    return false;
  }
  kept_forget(s);
  if (s->db != NULL) sqlite3_close(s->db);
  s->db = db;
  snprintf(s->database, sizeof s->database, "%s", database);
  sqlite3_busy_handler(db, busy, s);
  sqlite3_progress_handler(db, 20000, progress, s);
  sqlite3_extended_result_codes(db, 1);
  function_register(s);
  sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY",
               NULL, NULL, NULL);
  return engine_exec(
      s,
      "CREATE TEMP TABLE tdsd_object AS SELECT * FROM main.tdsd_object WHERE false;"
      "CREATE TEMP TABLE tdsd_column AS SELECT * FROM main.tdsd_column WHERE false;"
      "CREATE TEMP TABLE tdsd_index AS SELECT * FROM main.tdsd_index WHERE false;"
      "CREATE TEMP TABLE tdsd_index_column AS SELECT * FROM main.tdsd_index_column WHERE false;"
      "CREATE TEMP TABLE tdsd_foreign AS SELECT * FROM main.tdsd_foreign WHERE false;"
      "CREATE TEMP TABLE tdsd_identity(name TEXT COLLATE NOCASE PRIMARY KEY, seed, step, last)",
      error);
}

bool engine_attach(Session *s, const char *database, SqlError *error) {
  char path[4400];
  if (sqlite3_db_filename(s->db, database) != NULL) return true;
  if (!file_of(s->c->server, database, path) || !engine_exists(s->c->server, database)) {
    sql_error(error, 208, 16, "Invalid object name: there is no database '%s'.", database);
    return false;
  }
  Buf sql = {0};
  buf_text(&sql, "ATTACH ");
  quote_text(&sql, path, strlen(path));
  buf_text(&sql, " AS ");
  quote(&sql, database);
  bool ok = engine_exec(s, buf_string(&sql), error);
  buf_free(&sql);
  return ok;
}

static void forget_handles(Session *s) {
  while (s->handles != NULL) {
    Handle *next = s->handles->next;
    free(s->handles->sql);
    free(s->handles->declarations);
    free(s->handles);
    s->handles = next;
  }
}

void engine_close(Session *s) {
  kept_forget(s);
  if (s->db != NULL) sqlite3_close(s->db);
  s->db = NULL;
  free(s->bulk);
  s->bulk = NULL;
  forget_handles(s);
}

bool engine_exec(Session *s, const char *sql, SqlError *error) {
  s->pending.number = 0;
  int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
  if (code != SQLITE_OK) engine_error(s, code, error);
  return code == SQLITE_OK;
}

/* Errors -----------------------------------------------------------------------------------------*/

static void unique_error(Session *s, const char *text, SqlError *error) {
  char table[200] = "", column[200] = "";
  const char *at = strstr(text, ": ");
  const char *dot = at ? strrchr(at, '.') : NULL;
  const char *first_end = at ? strchr(at, ',') : NULL;
  if (dot != NULL) {
    const char *end = first_end ? first_end : text + strlen(text);
    const char *cut = end;
    while (cut > at && *cut != '.') cut--;
    snprintf(table, sizeof table, "%.*s", (int)(cut - at - 2), at + 2);
    snprintf(column, sizeof column, "%s", dot + 1);
  }
  int64_t plain = catalog_int(
      s,
      "SELECT count(*) FROM main.tdsd_index AS i JOIN main.tdsd_object AS o ON o.id = i.object_id "
      "WHERE o.sqlite = ? AND i.is_unique AND NOT i.is_pk AND NOT i.is_uc AND NOT EXISTS (SELECT 1 "
      "FROM main.tdsd_index AS k WHERE k.object_id = i.object_id AND (k.is_pk OR k.is_uc))",
      table, 0);
  if (plain > 0) {
    sql_error(error, 2601, 14,
              "Cannot insert duplicate key row in object 'dbo.%s' with unique index on '%s'.",
              table, column);
  } else {
    sql_error(error, 2627, 14,
              "Violation of PRIMARY KEY or UNIQUE KEY constraint. Cannot insert duplicate key in "
              "object 'dbo.%s' (column '%s').",
              table, column);
  }
}

void engine_error(Session *s, int code, SqlError *error) {
  const char *text = sqlite3_errmsg(s->db);
  int line = error->line;
  if (s->pending.number != 0) {
    *error = s->pending;
    s->pending.number = 0;
    error->line = line;
    return;
  }
  switch (code) {
  case SQLITE_BUSY_SNAPSHOT:
    if (s->isolation == 5) {
      sql_error(
          error, 3960, 16,
          "Snapshot isolation transaction aborted due to update conflict in database '%s'. Retry "
          "the transaction or change the isolation level for the update/delete statement.",
          s->database);
    } else {
      sql_error(error, 1205, 13,
                "Transaction (Process ID %u) was deadlocked on lock resources with another process "
                "and has been chosen as the deadlock victim. Rerun the transaction.",
                s->c ? s->c->spid : 0);
    }
    return;
  case SQLITE_CONSTRAINT_UNIQUE:
  case SQLITE_CONSTRAINT_PRIMARYKEY:
  case SQLITE_CONSTRAINT_ROWID:
    unique_error(s, text, error);
    return;
  case SQLITE_CONSTRAINT_NOTNULL: {
    const char *dot = strrchr(text, '.'), *from = strstr(text, ": ");
    int n = dot && from ? (int)(dot - from - 2) : 0;
    sql_error(error, 515, 16,
              "Cannot insert the value NULL into column '%s', table '%s.dbo.%.*s'; column does not "
              "allow nulls. The statement fails.",
              dot ? dot + 1 : "", s->database, n, from ? from + 2 : "");
    return;
  }
  case SQLITE_CONSTRAINT_CHECK: {
    const char *from = strstr(text, ": ");
    sql_error(error, 547, 16,
              "The statement conflicted with the CHECK constraint \"%s\". The conflict occurred in "
              "database \"%s\".",
              from ? from + 2 : "", s->database);
    return;
  }
  case SQLITE_CONSTRAINT_FOREIGNKEY:
    sql_error(error, 547, 16,
              "The statement conflicted with the FOREIGN KEY constraint. The conflict occurred in "
              "database \"%s\".",
              s->database);
    return;
  case SQLITE_INTERRUPT:
    sql_error(error, 3617, 16, "The query was canceled.");
    return;
  default:
    break;
  }
  if ((code & 0xFF) == SQLITE_BUSY || (code & 0xFF) == SQLITE_LOCKED) {
    sql_error(error, 1222, 16, "Lock request time out period exceeded.");
  } else {
    sql_error(error, 102, 15, "Incorrect syntax, or nothing that this test server knows: %s", text);
  }
}

/* Transactions -----------------------------------------------------------------------------------*/

static void run_quietly(Session *s, const char *sql) { sqlite3_exec(s->db, sql, NULL, NULL, NULL); }

bool engine_enter(Session *s, bool writes, SqlError *error) {
  if (s->trancount == 0 || s->begun) return true;
  if (!writes && s->isolation < 3) return true;
  if (!engine_exec(s, writes ? "BEGIN IMMEDIATE" : "BEGIN", error)) return false;
  s->begun = true;
  return true;
}

bool tran_begin(Session *s, SqlError *error) {
  static uint64_t next = 1;
  (void)error;
  if (++s->trancount > 1) return true;
  pthread_mutex_lock(&s->c->server->lock);
  s->descriptor = (UINT64_C(0x3A) << 32) + next++;
  pthread_mutex_unlock(&s->c->server->lock);
  s->doomed = false;
  token_env(s->c, 8, &s->descriptor, 8, NULL, 0);
  return true;
}

static void end_transaction(Session *s, int env) {
  token_env(s->c, env, NULL, 0, &s->descriptor, 8);
  s->trancount = 0;
  s->descriptor = 0;
  s->begun = s->doomed = false;
}

bool tran_commit(Session *s, SqlError *error) {
  if (s->trancount == 0) {
    sql_error(error, 3902, 16,
              "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.");
    return false;
  }
  if (s->doomed) {
    sql_error(error, 3930, 16,
              "The current transaction cannot be committed and cannot support operations that "
              "write to the log file. Roll back the transaction.");
    return false;
  }
  if (s->trancount > 1) {
    s->trancount--;
    return true;
  }
  if (s->begun && !engine_exec(s, "COMMIT", error)) return false;
  end_transaction(s, 9);
  return true;
}

static void savepoint_sql(Buf *sql, const char *verb, const char *name) {
  buf_text(sql, verb);
  buf_text(sql, "\"s.");
  for (const char *p = name; *p != 0; p++)
    buf_u8(sql, *p == '"' ? '_' : (unsigned char)tolower((unsigned char)*p));
  buf_text(sql, "\"");
}

bool tran_rollback(Session *s, const char *name, SqlError *error) {
  if (s->trancount == 0) {
    sql_error(error, 3903, 16,
              "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.");
    return false;
  }
  if (name != NULL && name[0] != 0 && s->begun) {
    Buf sql = {0};
    savepoint_sql(&sql, "ROLLBACK TO ", name);
    bool found = sqlite3_exec(s->db, buf_string(&sql), NULL, NULL, NULL) == SQLITE_OK;
    buf_free(&sql);
    if (found && s->doomed) {
      sql_error(error, 3931, 16,
                "The current transaction cannot be committed and cannot be rolled back to a "
                "savepoint. Roll back the entire transaction.");
      return false;
    }
    if (found) return true;
  }
  if (s->begun) run_quietly(s, "ROLLBACK");
  end_transaction(s, 10);
  return true;
}

bool tran_save(Session *s, const char *name, SqlError *error) {
  if (s->trancount == 0) {
    sql_error(error, 628, 16, "Cannot issue SAVE TRANSACTION when there is no active transaction.");
    return false;
  }
  if (s->doomed) {
    sql_error(error, 3930, 16,
              "The current transaction cannot be committed and cannot support operations that "
              "write to the log file. Roll back the transaction.");
    return false;
  }
  if (!engine_enter(s, true, error)) return false;
  Buf sql = {0};
  savepoint_sql(&sql, "SAVEPOINT ", name);
  bool ok = engine_exec(s, buf_string(&sql), error);
  buf_free(&sql);
  return ok;
}

void tran_reset(Session *s) {
  if (s->begun) run_quietly(s, "ROLLBACK");
  if (s->trancount > 0) end_transaction(s, 10);
}

void session_reset(Session *s, bool keep) {
  SqlError ignored;
  char old[129];
  s->xact_abort = s->nocount = s->identity_insert = s->implicit = false;
  s->lock_timeout = -1;
  if (keep) return;
  tran_reset(s);
  forget_handles(s);
  s->next_handle = 0; /* so that an old one may name another statement */
  memcpy(old, s->database, sizeof old);
  (void)engine_open(s, s->login_database, &ignored);
  if (strcmp(old, s->database) != 0) token_env_text(s->c, 1, s->database, old);
}
