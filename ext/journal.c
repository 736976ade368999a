/*
** ext/journal.c: what was decided of prepared transactions, in the local database.
**
**   CREATE TABLE main.edb_journal(name TEXT PRIMARY KEY, server TEXT, url TEXT) WITHOUT ROWID
**
** The row of a prepared transaction is written by the transaction of SQLite that it is a part of. So SQLite's own commit
** is the decision: a name with a row is to be committed. One without is to be rolled back, once it is certain that its
** transaction does not run any more, in this process or another one that shares the file. It is certain for whoever
** holds the file's write lock, which every such transaction takes before it prepares anything, and keeps until the
** decision is made.
**
** Names say whose they are: edb.<local database>.<seconds since 1970>.<random>, in hexadecimal. The local database is
** known by its machine's name, its path and its inode, so that a copy of the file takes nothing for its own: what is
** not this database's is only ever resolved by hand, or because its row is here (a file that was moved).
**
** Rows outlive their use: those of names that were resolved, or that their server does not know any more, are removed by a
** later transaction of the process that knows it (journal_finished, journal_write).
*/
#include "extInt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_LENGTH 46  /* "edb." 16 "." 8 "." 16 */
#define OWNER_LENGTH 21 /* to behind the second point */

/* ---- Names --------------------------------------------------------------------------------------- */

static sqlite3_uint64 hash(sqlite3_uint64 h, const void *p, size_t n) {
  const unsigned char *u = p;
  for (size_t i = 0; i < n; i++) h = (h ^ u[i]) * 1099511628211u;
  return h;
}

/* "edb.<local database>." */
static void owner(const Edb *edb, char out[OWNER_LENGTH + 1]) {
  const char *path = sqlite3_db_filename(edb->db, "main");
  sqlite3_uint64 h = 14695981039346656037u;
  struct stat about;
  char machine[256] = "";
#ifdef _WIN32
  const char *name = getenv("COMPUTERNAME");
  sqlite3_snprintf(sizeof machine, machine, "%s", name ? name : "");
#else
  gethostname(machine, sizeof machine - 1);
#endif
  h = hash(h, machine, strlen(machine) + 1);
  if (path) h = hash(h, path, strlen(path));
  if (path && stat(path, &about) == 0) h = hash(h, &about.st_ino, sizeof about.st_ino);
  sqlite3_snprintf(OWNER_LENGTH + 1, out, "edb.%016llx.", h);
}

void journal_name(const Edb *edb, char name[EDB_TWO_PHASE_NAME + 1]) {
  sqlite3_uint64 random;
  sqlite3_randomness(sizeof random, &random);
  owner(edb, name);
  sqlite3_snprintf(EDB_TWO_PHASE_NAME + 1 - OWNER_LENGTH, name + OWNER_LENGTH, "%08llx.%016llx",
                   (sqlite3_uint64)time(NULL), random);
}

int journal_is_name(const char *p, size_t n) {
  if (n != NAME_LENGTH || memcmp(p, "edb.", 4) != 0) return 0;
  for (size_t i = 4; i < n; i++) {
    int point = i == OWNER_LENGTH - 1 || i == OWNER_LENGTH + 8;
    if (point ? p[i] != '.' : !strchr("0123456789abcdef", p[i])) return 0;
  }
  return 1;
}

sqlite3_int64 journal_began(const char *name) { return strtoll(name + OWNER_LENGTH, NULL, 16); }

void journal_since(const char *name, char out[EDB_TIME_TEXT]) {
  sqlite3_int64 seconds = journal_began(name);
  const edb_time at = {.form = EDB_DATETIME,
                       .zoned = 1,
                       .days = (int32_t)(seconds / 86400),
                       .nanos = (int64_t)(seconds % 86400) * 1000000000};
  edb_time_text(&at, out);
}

/* ---- Writing ------------------------------------------------------------------------------------- */

int journal_possible(const Edb *edb, char **message) {
  const char *path = sqlite3_db_filename(edb->db, "main");
  const char *why = NULL;
  if (path == NULL || path[0] == 0) {
    why = "the local database is in memory, where no decision outlives a crash";
  } else if (sqlite3_db_readonly(edb->db, "main") == 1) {
    why = "the local database cannot be written to, and decisions are kept there";
  }
  if (why == NULL) return SQLITE_OK;
  *message = sqlite3_mprintf("edb: two_phase: %s", why);
  return *message ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int run(sqlite3 *db, char *sql, char **message) {
  char *why = NULL;
  int rc = sql_run(db, sql, &why);
  if (rc != SQLITE_OK && rc != SQLITE_NOMEM) {
    *message = sqlite3_mprintf("edb: two_phase: the decision cannot be kept in edb_journal: %s",
                               why ? why : "");
  }
  sqlite3_free(why);
  return rc;
}

int journal_write(Edb *edb, const Server *server, const char *name, char **message) {
  char *url = edb_url_mask(&edb->host, server->url);
  if (url == NULL) return SQLITE_NOMEM;
  int rc =
      run(edb->db,
          sqlite3_mprintf(
              "CREATE TABLE IF NOT EXISTS main.edb_journal(name TEXT PRIMARY KEY, server TEXT, "
              "url TEXT) WITHOUT ROWID;"
              "INSERT OR REPLACE INTO main.edb_journal VALUES (%Q, %Q, %Q)",
              name, server->name, url),
          message);
  sqlite3_free(url);
  while (rc == SQLITE_OK && edb->finished_count > 0) {
    const char *old = edb->finished[--edb->finished_count];
    rc =
        run(edb->db, sqlite3_mprintf("DELETE FROM main.edb_journal WHERE name = %Q", old), message);
  }
  return rc;
}

void journal_finished(Edb *edb, const char *name) {
  if (edb->finished_count == EDB_FINISHED)
    return; /* its row stays until a process finds that out again */
  sqlite3_snprintf(sizeof edb->finished[0], edb->finished[edb->finished_count++], "%s", name);
}

/* ---- Reading ------------------------------------------------------------------------------------- */

/* A connection of its own to the file: what runs on the user's may see an old state of it. */
static sqlite3 *open_again(const Edb *edb, int wait_ms) {
  sqlite3 *db = NULL;
  sqlite3_vfs *vfs = NULL;
  sqlite3_file_control(edb->db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  int rc = sqlite3_open_v2(sqlite3_db_filename(edb->db, "main"), &db, SQLITE_OPEN_READWRITE,
                           vfs ? vfs->zName : NULL);
  if (rc == SQLITE_OK) return sqlite3_busy_timeout(db, wait_ms), db;
  sqlite3_close(db);
  return NULL;
}

/* The first column of the first row; SQLITE_DONE where there is no row. */
static int first_integer(sqlite3 *db, const char *sql, const char *parameter, int *value) {
  sqlite3_stmt *statement = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (rc != SQLITE_OK) return rc;
  sqlite3_bind_text(statement, 1, parameter, -1, SQLITE_STATIC);
  if (sqlite3_step(statement) == SQLITE_ROW) *value = sqlite3_column_int(statement, 0);
  return sqlite3_finalize(statement);
}

int journal_open(Journal *journal, Edb *edb, int wait_ms) {
  char *why = NULL;
  memset(journal, 0, sizeof *journal);
  journal->edb = edb;
  int rc = journal_possible(edb, &why);
  sqlite3_free(why);
  if (rc != SQLITE_OK) return 0;
  if (sqlite3_txn_state(edb->db, "main") == SQLITE_TXN_WRITE) {
    journal->db = edb->db;
    journal->certain = 1;
  } else if ((journal->db = open_again(edb, wait_ms)) != NULL) {
    journal->certain = sqlite3_exec(journal->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
  } else {
    journal->db = edb->db;
  }
  rc = first_integer(journal->db, "SELECT count(*) FROM main.sqlite_schema WHERE name = ?",
                     "edb_journal", &journal->exists);
  if (rc != SQLITE_OK) journal->certain = 0;
  return journal->certain;
}

void journal_close(Journal *journal) {
  if (journal->db == NULL || journal->db == journal->edb->db) return;
  sqlite3_exec(journal->db, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_close(journal->db);
}

int journal_is_own(const Edb *edb, const char *name) {
  char mine[OWNER_LENGTH + 1];
  owner(edb, mine);
  return strncmp(name, mine, OWNER_LENGTH) == 0;
}

Decision journal_decision(const Journal *journal, const char *name) {
  int found = 0;
  int rc = SQLITE_OK;
  if (journal->exists) {
    rc = first_integer(journal->db, "SELECT 1 FROM main.edb_journal WHERE name = ?", name, &found);
  }
  if (found) return DECISION_COMMIT;
  if (rc == SQLITE_OK && journal->certain && journal_is_own(journal->edb, name))
    return DECISION_ROLLBACK;
  return DECISION_UNKNOWN;
}

sqlite3_stmt *journal_rows(const Journal *journal) {
  sqlite3_stmt *statement = NULL;
  if (!journal->exists) return NULL;
  sqlite3_prepare_v2(journal->db, "SELECT name, server, url FROM main.edb_journal", -1, &statement,
                     NULL);
  return statement;
}
