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
** A reader's context is its statement: there is one reader at a time. edb_query makes a statement that goes
** with its reader.
**
** Memory: the host's allocator holds a connection, and for each statement its columns and the values it
** lends. The rest is SQLite's own.
*/
#include "driverInt.h"
#include "sqlite_data.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

#define OPCODES_PER_POLL 1000 /* what SQLite does between two questions whether to stop */

typedef enum stop_reason { GO_ON = 0, STOPPED_BY_HOST, STOPPED_BY_TIME } stop_reason;

typedef struct connection {
  const edb_host *host;
  sqlite3 *db;
  int busy_ms; /* longest wait for another's lock */
  int reading, in_transaction;
  int statements;        /* open ones, a reader's own included */
  atomic_int cancelled;  /* SQLite's own flag is not seen while a lock is waited for */
  stop_reason stopped;   /* why the running call was stopped */
  int64_t waiting_since; /* 0: the running call was not asked yet */
  int64_t waited_for_lock;
  edb_error error;
} connection;

typedef enum statement_state { AT_ROW, READ_ROW, ENDED } statement_state;

typedef struct statement {
  connection *c;
  sqlite3_stmt *stmt;
  statement_state state;
  int goes_with_reader;
  int reprepared; /* SQLite's count when the columns were read; -1: never */
  int n;
  edb_column *columns;
  edb_value *values; /* behind the columns */
} statement;

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

/* What SQLite has just answered, told in its words where it was not we who stopped it. */
static int fail(connection *c, int rc) {
  if (c->stopped == STOPPED_BY_TIME) {
    return edb_fail(&c->error, EDB_INTERRUPTED, "no answer within %d ms", c->host->timeout_ms);
  }
  if (c->stopped == STOPPED_BY_HOST) {
    return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted");
  }
  edb_fail(&c->error, (edb_code)code_of(rc), "%s", sqlite3_errmsg(c->db));
  c->error.vendor = rc;
  return (int)c->error.code;
}

static int nomem(connection *c) { return edb_fail(&c->error, EDB_NOMEM, "out of memory"); }

/* Each call that may wait starts so. */
static void start_waiting(connection *c) {
  c->stopped = GO_ON;
  c->waiting_since = 0;
}

/* Before each command. After some errors SQLite ends a transaction by itself: what was meant to be part of
** it must not run without it. */
static int ready(connection *c) {
  if (c->reading) return edb_fail(&c->error, EDB_BUSY, "a reader is open");
  if (c->in_transaction && sqlite3_get_autocommit(c->db)) {
    return edb_fail(&c->error, EDB_FAILED, "the transaction was rolled back by an earlier error");
  }
  atomic_store(&c->cancelled, 0);
  start_waiting(c);
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
  connection *c = context;
  const edb_host *host = c->host;
  if (atomic_load(&c->cancelled) || (host->interrupted && host->interrupted(host->context))) {
    c->stopped = STOPPED_BY_HOST;
  } else if (host->timeout_ms > 0 && c->waiting_since == 0) {
    c->waiting_since = now_ms();
  } else if (host->timeout_ms > 0 && now_ms() - c->waiting_since > host->timeout_ms) {
    c->stopped = STOPPED_BY_TIME;
  }
  return c->stopped != GO_ON;
}

static int wait_for_lock(void *context, int count) {
  static const int delays[] = {1, 2, 5, 10, 15, 20, 25};
  const int n = (int)(sizeof delays / sizeof delays[0]);
  connection *c = context;
  int delay = delays[count < n ? count : n - 1];
  if (count == 0) c->waited_for_lock = 0;
  if (c->waited_for_lock + delay > c->busy_ms) delay = (int)(c->busy_ms - c->waited_for_lock);
  if (delay <= 0 || must_stop(c)) return 0;
  c->waited_for_lock += delay;
  sqlite3_sleep(delay);
  return 1;
}

static int step(statement *s) {
  start_waiting(s->c);
  return sqlite3_step(s->stmt);
}

static int run_plain(connection *c, const char *sql) {
  int rc;
  start_waiting(c);
  rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? EDB_OK : fail(c, rc);
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

static int open_file(connection *c, const char *path, int flags, edb_error *error) {
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
  connection *c;
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
  connection *c = context;
  if (c->reading || c->statements || c->in_transaction) {
    return edb_fail(&c->error, EDB_BUSY, "a reader, a statement or a transaction is open");
  }
  sqlite3_close(c->db);
  edb_free(c->host, c);
  return EDB_OK;
}

/* SQLite's own flag is only kept while a statement runs, so that this is harmless when none does. */
static int sqlite_cancel(void *context) {
  connection *c = context;
  atomic_store(&c->cancelled, 1);
  sqlite3_interrupt(c->db);
  return EDB_OK;
}

static const edb_error *sqlite_detail(void *context) {
  const connection *c = context;
  return &c->error;
}

static int sqlite_alive(void *context) {
  (void)context;
  return 1;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static int bind_value(sqlite3_stmt *stmt, int i, const edb_value *v, sqlite3_destructor_type keep) {
  char text[EDB_TIME_TEXT];
  switch (v->kind) {
  case EDB_NULL:
    return sqlite3_bind_null(stmt, i);
  case EDB_BOOL:
    return sqlite3_bind_int(stmt, i, v->as.boolean);
  case EDB_I64:
    return sqlite3_bind_int64(stmt, i, v->as.i64);
  case EDB_U64:
    if (v->as.u64 <= INT64_MAX) return sqlite3_bind_int64(stmt, i, (sqlite3_int64)v->as.u64);
    sqlite3_snprintf((int)sizeof text, text, "%llu", (unsigned long long)v->as.u64);
    return sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
  case EDB_F64:
    return sqlite3_bind_double(stmt, i, v->as.f64);
  case EDB_TEXT:
    return sqlite3_bind_text64(stmt, i, v->as.text.p, v->as.text.n, keep, SQLITE_UTF8);
  case EDB_BYTES:
    return sqlite3_bind_blob64(stmt, i, v->as.bytes.p, v->as.bytes.n, keep);
  case EDB_TIME:
    edb_time_text(&v->as.time, text);
    return sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
  }
  return SQLITE_MISUSE;
}

/* Which parameter of the SQL: by place, or by its name; 0 and an error if there is none of that name, or if
** an earlier one has it already. */
static int parameter_index(statement *s, const edb_parameter *parameters, size_t i) {
  const char *name = parameters[i].name;
  int index = name ? sqlite3_bind_parameter_index(s->stmt, name) : (int)i + 1;
  if (index == 0) {
    edb_fail(&s->c->error, EDB_INVALID_QUERY, "the SQL has no parameter %s", name);
    return 0;
  }
  for (size_t j = 0; name && j < i; j++) {
    if (parameters[j].name && strcmp(parameters[j].name, name) == 0) {
      edb_fail(&s->c->error, EDB_INVALID_QUERY, "parameter %s is given twice", name);
      return 0;
    }
  }
  return index;
}

/* keep: SQLITE_STATIC where the statement ends before the caller's values do. */
static int bind(statement *s, const edb_parameter *parameters, size_t n,
                sqlite3_destructor_type keep) {
  int expected = sqlite3_bind_parameter_count(s->stmt);
  if (n != (size_t)expected) {
    return edb_fail(&s->c->error, EDB_INVALID_QUERY,
                    "the SQL has %d parameters, and %zu were given", expected, n);
  }
  for (size_t i = 0; i < n; i++) {
    int rc, index = parameter_index(s, parameters, i);
    if (index == 0) return EDB_INVALID_QUERY;
    rc = bind_value(s->stmt, index, &parameters[i].value, keep);
    if (rc != SQLITE_OK) return fail(s->c, rc);
  }
  return EDB_OK;
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* Blanks, comments and semicolons alone. */
static int is_empty(const char *sql) {
  for (;;) {
    sql += strspn(sql, " \t\n\f\r;");
    if (strncmp(sql, "--", 2) == 0) {
      sql += strcspn(sql, "\n");
    } else if (strncmp(sql, "/*", 2) == 0) {
      const char *end = strstr(sql + 2, "*/");
      sql = end ? end + 2 : sql + strlen(sql);
    } else {
      return *sql == 0;
    }
  }
}

static int prepare(connection *c, const char *sql, unsigned flags, statement **out) {
  const char *tail = sql;
  sqlite3_stmt *stmt = NULL;
  statement *s;
  int rc = ready(c);
  if (rc != EDB_OK) return rc;
  rc = sqlite3_prepare_v3(c->db, sql, -1, flags, &stmt, &tail);
  if (rc != SQLITE_OK) return fail(c, rc);
  if (!stmt || !is_empty(tail)) {
    sqlite3_finalize(stmt);
    return edb_fail(&c->error, EDB_INVALID_QUERY,
                    stmt ? "more than one statement" : "the SQL holds no statement");
  }
  s = edb_alloc(c->host, sizeof *s);
  if (!s) {
    sqlite3_finalize(stmt);
    return nomem(c);
  }
  memset(s, 0, sizeof *s);
  s->c = c;
  s->stmt = stmt;
  s->reprepared = -1;
  c->statements++;
  *out = s;
  return EDB_OK;
}

static void finalize(statement *s) {
  connection *c = s->c;
  sqlite3_finalize(s->stmt);
  edb_free(c->host, s->columns);
  edb_free(c->host, s);
  c->statements--;
}

/* Makes the statement fit to run again, and lets go of what was bound. */
static void reset(statement *s) {
  sqlite3_reset(s->stmt);
  sqlite3_clear_bindings(s->stmt);
}

static int64_t changes(sqlite3 *db) {
  return sqlite3_libversion_number() >= 3037000 ? sqlite3_changes64(db) : sqlite3_changes(db);
}

/* sqlite3_changes is what the last INSERT, UPDATE or DELETE changed, however long ago. */
static int execute(statement *s, const edb_parameter *parameters, size_t n, int64_t *affected) {
  int before = sqlite3_total_changes(s->c->db);
  int rc = bind(s, parameters, n, SQLITE_STATIC);
  *affected = 0;
  if (rc == EDB_OK) {
    do {
      rc = step(s);
    } while (rc == SQLITE_ROW);
    rc = rc == SQLITE_DONE ? EDB_OK : fail(s->c, rc);
  }
  if (rc == EDB_OK && sqlite3_total_changes(s->c->db) != before) *affected = changes(s->c->db);
  reset(s);
  return rc;
}

/* The columns stay as they are until SQLite prepares the statement anew, which it does in the first step
** after the schema changed. */
static int read_columns(statement *s) {
  connection *c = s->c;
  int reprepared = sqlite3_stmt_status(s->stmt, SQLITE_STMTSTATUS_REPREPARE, 0);
  int n = sqlite3_column_count(s->stmt);
  size_t size = (size_t)n * (sizeof *s->columns + sizeof *s->values);
  edb_column *columns;
  if (s->reprepared == reprepared) return EDB_OK;
  columns = c->host->resize(c->host->context, s->columns, size ? size : 1);
  if (!columns) return nomem(c);
  s->columns = columns;
  s->values = (edb_value *)(void *)(columns + n);
  for (int i = 0; i < n; i++) {
    const char *declared = sqlite3_column_decltype(s->stmt, i);
    columns[i].name = sqlite3_column_name(s->stmt, i);
    if (!columns[i].name) return nomem(c);
    columns[i].type_name = declared ? declared : "";
    columns[i].type = edb_sqlite_type(columns[i].type_name);
    columns[i].kind = columns[i].type->kind;
    columns[i].nullable = 1;
  }
  s->n = n;
  s->reprepared = reprepared;
  return EDB_OK;
}

static int query(statement *s, const edb_parameter *parameters, size_t n, void **rows) {
  int rc = bind(s, parameters, n, SQLITE_TRANSIENT);
  if (rc == EDB_OK) {
    rc = step(s);
    s->state = rc == SQLITE_ROW ? AT_ROW : ENDED;
    rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? read_columns(s) : fail(s->c, rc);
  }
  if (rc != EDB_OK) {
    reset(s);
    return rc;
  }
  s->c->reading = 1;
  *rows = s;
  return EDB_OK;
}

static int sqlite_prepare(void *context, const char *sql, double expected, void **out) {
  statement *s;
  int rc = prepare(context, sql, SQLITE_PREPARE_PERSISTENT, &s);
  (void)expected;
  if (rc == EDB_OK) *out = s;
  return rc;
}

static int sqlite_statement_close(void *context) {
  statement *s = context;
  if (s->c->reading) return ready(s->c);
  finalize(s);
  return EDB_OK;
}

static int sqlite_statement_execute(void *context, const edb_parameter *parameters, size_t n,
                                    int64_t *affected) {
  statement *s = context;
  int rc = ready(s->c);
  return rc == EDB_OK ? execute(s, parameters, n, affected) : rc;
}

static int sqlite_statement_query(void *context, const edb_parameter *parameters, size_t n,
                                  void **rows) {
  statement *s = context;
  int rc = ready(s->c);
  return rc == EDB_OK ? query(s, parameters, n, rows) : rc;
}

static int sqlite_execute(void *context, const char *sql, const edb_parameter *parameters, size_t n,
                          int64_t *affected) {
  statement *s;
  int rc = prepare(context, sql, 0, &s);
  if (rc != EDB_OK) return rc;
  rc = execute(s, parameters, n, affected);
  finalize(s);
  return rc;
}

static int sqlite_query(void *context, const char *sql, const edb_parameter *parameters, size_t n,
                        void **rows) {
  statement *s;
  int rc = prepare(context, sql, 0, &s);
  if (rc != EDB_OK) return rc;
  s->goes_with_reader = 1;
  rc = query(s, parameters, n, rows);
  if (rc != EDB_OK) finalize(s);
  return rc;
}

/* ---- Readers --------------------------------------------------------------------------------- */

static int sqlite_rows_columns(void *context, const edb_column **columns, size_t *n) {
  const statement *s = context;
  *columns = s->columns;
  *n = (size_t)s->n;
  return EDB_OK;
}

/* Text in a column of dates or times, where it is exactly what the value would be written as. */
static void read_time(edb_declared declared, edb_value *value) {
  const char *p = value->as.text.p;
  size_t n = value->as.text.n;
  edb_time_form form = declared == EDB_DECLARED_DATE   ? EDB_DATE
                       : declared == EDB_DECLARED_TIME ? EDB_CLOCK
                                                       : EDB_DATETIME;
  edb_time time;
  if (edb_time_parse(p, n, form, form != EDB_DATE && n > 0 && p[n - 1] == 'Z', &time)) {
    value->kind = EDB_TIME;
    value->as.time = time;
  }
}

static int read_value(statement *s, int i, edb_value *value) {
  const edb_column *column = &s->columns[i];
  switch (sqlite3_column_type(s->stmt, i)) {
  case SQLITE_INTEGER:
    value->kind = EDB_I64;
    value->as.i64 = sqlite3_column_int64(s->stmt, i);
    if (column->kind == EDB_BOOL && (value->as.i64 == 0 || value->as.i64 == 1)) {
      int boolean = value->as.i64 == 1;
      value->kind = EDB_BOOL;
      value->as.boolean = boolean;
    }
    return EDB_OK;
  case SQLITE_FLOAT:
    value->kind = EDB_F64;
    value->as.f64 = sqlite3_column_double(s->stmt, i);
    return EDB_OK;
  case SQLITE_TEXT:
    value->kind = EDB_TEXT;
    value->as.text.p = (const char *)sqlite3_column_text(s->stmt, i);
    if (!value->as.text.p) return nomem(s->c);
    value->as.text.n = (size_t)sqlite3_column_bytes(s->stmt, i);
    if (column->kind == EDB_TIME) read_time(column->type->declared, value);
    return EDB_OK;
  case SQLITE_BLOB:
    value->kind = EDB_BYTES;
    value->as.bytes.p = sqlite3_column_blob(s->stmt, i);
    value->as.bytes.n = (size_t)sqlite3_column_bytes(s->stmt, i);
    if (!value->as.bytes.p && value->as.bytes.n > 0) return nomem(s->c);
    if (!value->as.bytes.p) value->as.bytes.p = "";
    return EDB_OK;
  default:
    value->kind = EDB_NULL;
    return EDB_OK;
  }
}

static int sqlite_rows_next_borrowed(void *context, const edb_value **values) {
  statement *s = context;
  if (s->state == READ_ROW) {
    int rc = step(s);
    if (rc != SQLITE_ROW) s->state = ENDED;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return fail(s->c, rc);
  }
  if (s->state == ENDED) return EDB_DONE;
  s->state = READ_ROW;
  for (int i = 0; i < s->n; i++) {
    int rc = read_value(s, i, &s->values[i]);
    if (rc != EDB_OK) return rc;
  }
  *values = s->values;
  return EDB_ROW;
}

static int sqlite_rows_close(void *context) {
  statement *s = context;
  s->c->reading = 0;
  if (s->goes_with_reader) {
    finalize(s);
  } else {
    reset(s);
  }
  return EDB_OK;
}

/* ---- Transactions: their context is the connection ------------------------------------------- */

static int begin(void *context, void **transaction) {
  connection *c = context;
  int rc = ready(c);
  if (rc == EDB_OK && c->in_transaction) {
    rc = edb_fail(&c->error, EDB_INVALID_QUERY, "a transaction is open");
  }
  if (rc == EDB_OK) rc = run_plain(c, "BEGIN");
  if (rc != EDB_OK) return rc;
  c->in_transaction = 1;
  *transaction = c;
  return EDB_OK;
}

/* A lock that was not granted leaves the transaction open, here as in SQLite, to be tried again. Any
** other failure ends it, which SQLite leaves to its caller (a deferred foreign key, say). */
static int commit(void *context) {
  connection *c = context;
  int rc = ready(c);
  if (rc == EDB_OK) rc = run_plain(c, "COMMIT");
  if (rc == EDB_BUSY) return rc;
  if (rc != EDB_OK && !sqlite3_get_autocommit(c->db)) {
    sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  }
  c->in_transaction = 0;
  return rc;
}

static int rollback(void *context) {
  connection *c = context;
  int rc = EDB_OK;
  if (c->reading) return ready(c);
  if (!sqlite3_get_autocommit(c->db)) rc = run_plain(c, "ROLLBACK");
  c->in_transaction = 0;
  return rc;
}

/* ---- The driver ------------------------------------------------------------------------------ */

static const edb_methods methods = {.version = 1,
                                    .close = sqlite_close,
                                    .prepare = sqlite_prepare,
                                    .execute = sqlite_execute,
                                    .query = sqlite_query,
                                    .begin = begin,
                                    .statement_close = sqlite_statement_close,
                                    .statement_execute = sqlite_statement_execute,
                                    .statement_query = sqlite_statement_query,
                                    .rows_columns = sqlite_rows_columns,
                                    .rows_next_borrowed = sqlite_rows_next_borrowed,
                                    .rows_close = sqlite_rows_close,
                                    .transaction_execute = sqlite_execute,
                                    .transaction_query = sqlite_query,
                                    .transaction_commit = commit,
                                    .transaction_rollback = rollback,
                                    .cancel = sqlite_cancel,
                                    .detail = sqlite_detail,
                                    .alive = sqlite_alive};

static const char *const schemes[] = {"sqlite", NULL};

static const edb_option_spec options_taken[] = {
    {"path", 0, "the database file"},
    {"mode", 0, "ro, rw (the default) or rwc, which creates the file"},
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
