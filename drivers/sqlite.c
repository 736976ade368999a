/*
** drivers/sqlite.c: another SQLite file as the remote server, through the host's own SQLite.
**
**     sqlite:shop.db                 to read and write; the file must be there
**     sqlite:shop.db?mode=rwc        which is created if it is not
**     sqlite:/data/log.db?mode=ro&busy_timeout=0
**
** A query steps once before it answers, so that what SQLite refuses is refused there. Text and blobs are
** lent from where SQLite has them. Values come as they are stored, except that a column declared BOOL or
** BOOLEAN gives EDB_BOOL for the integers 0 and 1, and one declared DATE, TIME, DATETIME or TIMESTAMP gives
** EDB_TIME for text that is written exactly as edb_time_text would.
**
** Memory: the host's allocator holds a connection, and for each statement its columns and the values it
** lends. The rest is SQLite's own.
*/
#include "sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sqlite_data.h"

#define OPCODES_PER_POLL 1000 /* what SQLite does between two questions whether to stop */

/* ---- Errors ---------------------------------------------------------------------------------- */

static int code_of(int rc) {
  static const struct {
    int primary;
    edb_code code;
  } codes[] = {{SQLITE_ERROR, EDB_INVALID_QUERY},   {SQLITE_BUSY, EDB_BUSY},
               {SQLITE_LOCKED, EDB_BUSY},           {SQLITE_NOMEM, EDB_NOMEM},
               {SQLITE_INTERRUPT, EDB_INTERRUPTED}, {SQLITE_TOOBIG, EDB_INVALID_QUERY},
               {SQLITE_CONSTRAINT, EDB_CONSTRAINT}, {SQLITE_MISMATCH, EDB_INVALID_QUERY},
               {SQLITE_RANGE, EDB_INVALID_QUERY},   {SQLITE_AUTH, EDB_INVALID_QUERY},
               {SQLITE_SCHEMA, EDB_INVALID_QUERY},  {SQLITE_READONLY, EDB_UNSUPPORTED},
               {SQLITE_NOLFS, EDB_UNSUPPORTED}};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (codes[i].primary == (rc & 0xff)) return (int)codes[i].code;
  }
  return EDB_FAILED;
}

/* SQLite gives a transaction up by itself where there is no room, no memory, or no reading of the file. */
static int is_rolled_back(const lite_connection *c) {
  return c->in_transaction && sqlite3_get_autocommit(c->db);
}

int lite_fail(lite_connection *c, int rc) {
  if (c->stopped == LITE_STOPPED_BY_TIME) {
    return edb_fail(&c->error, EDB_INTERRUPTED, "no answer within %d ms", c->host->timeout_ms);
  }
  if (c->stopped == LITE_STOPPED_BY_HOST) {
    return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted");
  }
  edb_fail(&c->error, (edb_code)code_of(rc), "%s", sqlite3_errmsg(c->db));
  c->error.vendor = rc;
  c->error.foreign_key = rc == SQLITE_CONSTRAINT_FOREIGNKEY;
  if (rc == SQLITE_BUSY_SNAPSHOT) edb_fail_hint(&c->error, "%s", EDB_CHANGED_SINCE);
  if (is_rolled_back(c) && !c->ended_by[0]) {
    snprintf(c->ended_by, sizeof c->ended_by, "%.*s", (int)sizeof c->ended_by - 1,
             c->error.message);
    c->ended_vendor = rc;
  }
  return (int)c->error.code;
}

int lite_nomem(lite_connection *c) { return edb_fail(&c->error, EDB_NOMEM, "out of memory"); }

void lite_start_waiting(lite_connection *c) {
  c->stopped = LITE_GO_ON;
  c->waiting_since = 0;
}

int lite_ready(lite_connection *c) {
  if (c->reading) return edb_fail(&c->error, EDB_BUSY, "a reader is open");
  if (is_rolled_back(c)) {
    edb_fail(&c->error, EDB_FAILED, "the transaction was rolled back: %s",
             c->ended_by[0] ? c->ended_by : "a statement of its own did so");
    c->error.vendor = c->ended_vendor;
    return EDB_FAILED;
  }
  atomic_store(&c->cancelled, 0);
  lite_start_waiting(c);
  return EDB_OK;
}

/* ---- Stopping and waiting -------------------------------------------------------------------- */

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The clock is read here alone, and not at each row: rows are many and most come at once. */
static int must_stop(void *context) {
  lite_connection *c = context;
  const edb_host *host = c->host;
  if (atomic_load(&c->cancelled) || (host->interrupted && host->interrupted(host->context))) {
    c->stopped = LITE_STOPPED_BY_HOST;
  } else if (host->timeout_ms > 0 && c->waiting_since == 0) {
    c->waiting_since = now_ms();
  } else if (host->timeout_ms > 0 && now_ms() - c->waiting_since > host->timeout_ms) {
    c->stopped = LITE_STOPPED_BY_TIME;
  }
  return c->stopped != LITE_GO_ON;
}

static int wait_for_lock(void *context, int count) {
  static const int delays[] = {1, 2, 5, 10, 15, 20, 25};
  const int n = (int)(sizeof delays / sizeof delays[0]);
  lite_connection *c = context;
  int delay = delays[count < n ? count : n - 1];
  if (count == 0) c->waited_for_lock = 0;
  if (c->waited_for_lock + delay > c->busy_ms) delay = (int)(c->busy_ms - c->waited_for_lock);
  if (delay <= 0 || must_stop(c)) return 0;
  c->waited_for_lock += delay;
  sqlite3_sleep(delay);
  return 1;
}

static int run_plain(lite_connection *c, const char *sql) {
  int rc;
  lite_start_waiting(c);
  rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? EDB_OK : lite_fail(c, rc);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static int open_flags(const char *mode) {
  if (!mode || strcmp(mode, "rw") == 0) return SQLITE_OPEN_READWRITE;
  if (strcmp(mode, "ro") == 0) return SQLITE_OPEN_READONLY;
  if (strcmp(mode, "rwc") == 0) return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  return -1;
}

/* Decimal digits, or -1. */
static int milliseconds(const char *text) {
  long value = 0;
  if (!*text || strlen(text) > 9) return -1;
  for (; *text >= '0' && *text <= '9'; text++) value = value * 10 + (*text - '0');
  return *text ? -1 : (int)value;
}

/* A file of someone else's: its schema may not call what is not known to be harmless, and SQL may not
** write to the schema behind SQLite's back. */
static void harden(sqlite3 *db) {
  static const struct {
    int option, value;
  } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                  {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    sqlite3_db_config(db, settings[i].option, settings[i].value, (int *)NULL);
  }
}

static int open_file(lite_connection *c, const char *path, int flags, edb_error *error) {
  int rc = sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
  if (rc == SQLITE_OK) {
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_progress_handler(c->db, OPCODES_PER_POLL, must_stop, c);
    sqlite3_busy_handler(c->db, wait_for_lock, c);
    harden(c->db);
    /* Reads the file's header, so that a file of another kind is refused here. */
    if (run_plain(c, "PRAGMA schema_version") == EDB_OK) return EDB_OK;
    edb_fail(error, c->error.code, "cannot open \"%s\": %s", path, c->error.message);
  } else if (c->db && sqlite3_system_errno(c->db) == ENOENT) {
    edb_fail(error, EDB_FAILED, "cannot open \"%s\": there is no such file", path);
    edb_fail_hint(error, "mode=rwc creates it");
  } else {
    edb_fail(error, rc == SQLITE_NOMEM ? EDB_NOMEM : EDB_FAILED, "cannot open \"%s\": %s", path,
             c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc));
  }
  rc = error ? (int)error->code : EDB_FAILED;
  if (error) error->vendor = c->db ? sqlite3_extended_errcode(c->db) : SQLITE_NOMEM;
  sqlite3_close(c->db);
  return rc;
}

static int sqlite_open(const edb_option *options, size_t n, const edb_host *host, void **out,
                       edb_error *error) {
  const char *path = edb_option_get(options, n, "path");
  const char *mode = edb_option_get(options, n, "mode");
  const char *busy = edb_option_get(options, n, "busy_timeout");
  int flags = open_flags(mode), busy_ms = busy ? milliseconds(busy) : 5000, rc;
  lite_connection *c;
  if (!path || !*path) return edb_fail(error, EDB_INVALID_QUERY, "sqlite: needs a path");
  if (flags < 0) {
    return edb_fail(error, EDB_INVALID_QUERY, "mode is \"%s\"; valid ones: ro, rw, rwc", mode);
  }
  if (busy_ms < 0) {
    return edb_fail(error, EDB_INVALID_QUERY, "busy_timeout is \"%s\", not milliseconds", busy);
  }
  c = edb_alloc(host, sizeof *c);
  if (!c) return edb_fail(error, EDB_NOMEM, "out of memory");
  memset(c, 0, sizeof *c);
  c->host = host;
  c->busy_ms = busy_ms;
  rc = open_file(c, path, flags, error);
  if (rc == EDB_OK) {
    *out = c;
  } else {
    edb_free(host, c);
  }
  return rc;
}

static int sqlite_close(void *context) {
  lite_connection *c = context;
  if (c->reading || c->statements || c->in_transaction) {
    return edb_fail(&c->error, EDB_BUSY, "a reader, a statement or a transaction is open");
  }
  sqlite3_close(c->db);
  edb_free(c->host, c);
  return EDB_OK;
}

/* SQLite's own flag is only kept while a statement runs, so that this is harmless when none does. */
static int sqlite_cancel(void *context) {
  lite_connection *c = context;
  atomic_store(&c->cancelled, 1);
  sqlite3_interrupt(c->db);
  return EDB_OK;
}

static const edb_error *sqlite_detail(void *context) {
  const lite_connection *c = context;
  return &c->error;
}

static int sqlite_alive(void *context) {
  (void)context;
  return 1;
}

/* ---- Transactions: their context is the connection ------------------------------------------- */

static int begin(void *context, const edb_transaction_spec *spec, void **transaction) {
  lite_connection *c = context;
  int rc = lite_ready(c);
  if (rc == EDB_OK && c->in_transaction) {
    rc = edb_fail(&c->error, EDB_INVALID_QUERY, "a transaction is open");
  }
  /* It reads one state from its first read on anyway. */
  const edb_transaction_spec kind = {0, spec->readonly, spec->two_phase};
  if (rc == EDB_OK) rc = edb_spec_plain(&kind, &c->error);
  if (rc == EDB_OK) rc = run_plain(c, "BEGIN");
  if (rc != EDB_OK) return rc;
  c->in_transaction = 1;
  c->ended_by[0] = 0;
  *transaction = c;
  return EDB_OK;
}

/* A lock that was not granted leaves the transaction open, here as in SQLite, to be tried again. Any
** other failure ends it, which SQLite leaves to its caller (a deferred foreign key, say). */
static int commit(void *context) {
  lite_connection *c = context;
  int rc = lite_ready(c);
  if (rc == EDB_OK) rc = run_plain(c, "COMMIT");
  if (rc == EDB_BUSY) return rc;
  if (rc != EDB_OK && !sqlite3_get_autocommit(c->db)) {
    sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  }
  c->in_transaction = 0;
  return rc;
}

static int rollback(void *context) {
  lite_connection *c = context;
  int rc = EDB_OK;
  if (c->reading) return lite_ready(c);
  if (!sqlite3_get_autocommit(c->db)) rc = run_plain(c, "ROLLBACK");
  c->in_transaction = 0;
  return rc;
}

/* ---- Loads: row by row, since there are no round trips to save ----------------------------------- */

static int load(void *context, const edb_load_spec *spec, void **out) {
  lite_connection *c = context;
  const edb_inserts_spec inserts = {.methods = edb_sqlite_driver.methods,
                                    .dialect = &edb_sqlite_dialect,
                                    .connection = c,
                                    .host = c->host,
                                    .error = &c->error,
                                    .rows = 1};
  int rc = lite_ready(c);
  return rc == EDB_OK ? edb_inserts_begin(&inserts, spec, out) : rc;
}

/* ---- The driver ------------------------------------------------------------------------------ */

static const edb_methods methods = {.version = 1,
                                    .close = sqlite_close,
                                    .prepare = lite_prepare,
                                    .execute = lite_execute,
                                    .query = lite_query,
                                    .begin = begin,
                                    .statement_close = lite_statement_close,
                                    .statement_execute = lite_statement_execute,
                                    .statement_query = lite_statement_query,
                                    .rows_columns = lite_rows_columns,
                                    .rows_next_borrowed = lite_rows_next_borrowed,
                                    .rows_close = lite_rows_close,
                                    .transaction_execute = lite_execute,
                                    .transaction_query = lite_query,
                                    .transaction_commit = commit,
                                    .transaction_rollback = rollback,
                                    .load = load,
                                    .load_row = edb_inserts_row,
                                    .load_end = edb_inserts_end,
                                    .load_abort = edb_inserts_abort,
                                    .cancel = sqlite_cancel,
                                    .detail = sqlite_detail,
                                    .alive = sqlite_alive};

static const char *const schemes[] = {"sqlite", NULL};

static const edb_option_spec options_taken[] = {
    {"path", 0, "the database file"},
    {"mode", EDB_OPTION_LOCAL, "ro, rw (the default) or rwc, which creates the file"},
    {"busy_timeout", 0, "milliseconds to wait for a lock (5000)"},
    {NULL, 0, NULL}};

static const char *library(void) {
  static _Thread_local char text[32];
  snprintf(text, sizeof text, "SQLite %s", sqlite3_libversion());
  return text;
}

const edb_driver edb_sqlite_driver = {.name = "sqlite",
                                      .schemes = schemes,
                                      .url = EDB_URL_PATH,
                                      .options = options_taken,
                                      .dialect = &edb_sqlite_dialect,
                                      .catalog = &edb_sqlite_catalog,
                                      .methods = &methods,
                                      .open = sqlite_open,
                                      .library = library};
