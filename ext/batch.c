/*
** ext/batch.c: consecutive INSERTs of one statement travel together.
**
**   INSERT INTO remote SELECT … FROM local
**
** The first rows of a statement go one by one, as any row does. When more follow of the same columns, a load is opened
** on the session's link (drivers/driver.h: COPY, bulk load, INSERTs of many rows), and the rest goes into it. It is
** ended before anything else is done over the link, and when the statement ends.
**
** A row may be delayed only where the end of its statement will be seen, so that its error can be the statement's own:
**
**   outside of BEGIN   xSync belongs to the statement's end, and its error and message are the statement's
**   within BEGIN       a statement of many rows stands between xSavepoint and xRelease. An error of the load mostly shows
**                      in the xUpdate of a later row; one that shows in xRelease only makes SQLite fail the statement with
**                      the bare result code and roll the whole transaction back, so that it is told in edb_log and in
**                      the application's error log
**
** What SQLite would do otherwise with a failing row (OR IGNORE, OR FAIL, OR REPLACE) goes row by row. So does what
** needs the key that the server makes (RETURNING); without it the key is not asked for, and last_insert_rowid() is 0.
*/
#include "extInt.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SINGLE_ROWS 8      /* of a statement, before a load is worth its start */
#define LATER 4            /* times as many after each load that something else ended */
#define PROGRESS_ROWS 1024 /* between two looks at the clock */

struct Batch {
  Running running;      /* the statement whose rows these are */
  const Table *table;   /* and the table */
  sqlite3_int64 rows;   /* that it has inserted */
  sqlite3_int64 before; /* those of them before the load that is open */
  int run;              /* rows of the same columns in sequence, not in a load */
  int enough;           /* of those, for a load to be opened */
  int returns;          /* 1: the statement wants to see its rows */
  Session *session;     /* of the open load; NULL: none is open */
  Link *link;
  edb_load load;
  edb_load_spec spec;
  edb_load_column *columns;
  edb_value *values;  /* of a row, behind the columns */
  int *picked;        /* which columns of the definition these are, behind the values */
  sqlite3_int64 told; /* when the progress was shown, in seconds */
};

/* ---- Which statement ------------------------------------------------------------------------------------ */

/* The one statement that runs and may write; none if there are two, as when a function of the application's inserts. */
Running running_writer(sqlite3 *db) {
  static const Running none = {NULL, 0, 0};
  Running running = none;
  for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s; s = sqlite3_next_stmt(db, s)) {
    if (!sqlite3_stmt_busy(s) || sqlite3_stmt_readonly(s)) continue;
    if (running.statement) return none;
    running.statement = s;
  }
  if (running.statement) {
    running.run = sqlite3_stmt_status(running.statement, SQLITE_STMTSTATUS_RUN, 0);
    running.changes = sqlite3_total_changes(db); /* counted when a statement ends */
  }
  return running;
}

int running_same(Running a, Running b) {
  return a.statement && a.statement == b.statement && a.run == b.run && a.changes == b.changes;
}

/* ---- Progress --------------------------------------------------------------------------------------------- */

static void progress_show(const Batch *b) {
  Edb *edb = b->table->edb;
  const char *server = b->link->server->name;
  char *line = sqlite3_mprintf("%lld rows into %s", b->rows, b->table->name);
  if (line == NULL) return;
  edb_log(edb, server, line, strlen(line));
  if (edb->progress > 1) fprintf(stderr, "edb: %s: %s\n", server, line);
  sqlite3_free(line);
}

/* Every second, if it was asked for. */
static void progress(Batch *b) {
  if (!b->table->edb->progress || b->rows % PROGRESS_ROWS != 0) return;
  sqlite3_int64 now = (sqlite3_int64)time(NULL);
  if (b->told && now != b->told) progress_show(b);
  b->told = now;
}

/* ---- Loads ------------------------------------------------------------------------------------------------- */

/* What the load's call has answered: the statement's error, with the row that is to blame. */
static int batch_fail(Batch *b, int code, char **message) {
  Link *link = b->link;
  int64_t row = edb_detail(&link->connection)->row;
  int rc = link_fail(link, code, message);
  if (row > 0 && *message) {
    char *told = *message;
    *message = sqlite3_mprintf("%s (row %lld of the statement)", told, b->before + row);
    sqlite3_free(told);
  }
  if (b->load.context) edb_load_abort(&b->load);
  Session *session = b->session;
  b->session = NULL;
  batch_forget(link->server);
  session_after(session, code, *message);
  session_doom(session, *message); /* as changes_end */
  return rc;
}

int batch_end_load(Server *server, char **message) {
  Batch *b = server->batch;
  if (b == NULL || b->session == NULL) return SQLITE_OK;
  int code = edb_load_end(&b->load);
  if (code != EDB_OK) return batch_fail(b, code, message);
  if (b->table->edb->progress) progress_show(b);
  b->session = NULL;
  b->run = 0;
  if (b->enough < INT_MAX / LATER) b->enough *= LATER;
  return SQLITE_OK;
}

/* Rows wait in one of them at a time. */
int batch_end(Server *server, char **message) {
  int rc = changes_end(server, message);
  return rc == SQLITE_OK ? batch_end_load(server, message) : rc;
}

void batch_abort(Server *server) {
  Batch *b = server->batch;
  changes_abort(server);
  if (b == NULL || b->session == NULL) return;
  edb_load_abort(&b->load);
  b->session = NULL;
}

void batch_forget(Server *server) {
  changes_forget(server);
  if (server->batch) server->batch->running.statement = NULL;
}

void batch_free(Server *server) {
  Batch *b = server->batch;
  batch_abort(server);
  changes_free(server);
  server->batch = NULL;
  if (b) sqlite3_free(b->columns);
  sqlite3_free(b);
}

/* For the log: what the load stands for. */
static char *load_text(const Batch *b) {
  const Definition *d = &b->table->definition;
  char *relation = deparse_relation(d);
  sqlite3_str *text = sqlite3_str_new(NULL);
  sqlite3_str_appendf(text, "INSERT INTO %s", relation ? relation : "?");
  for (size_t i = 0; i < b->spec.n; i++) {
    sqlite3_str_appendall(text, i == 0 ? " (" : ", ");
    append_name(text, d->dialect, b->columns[i].name);
  }
  sqlite3_str_appendall(text, ") … (a load)");
  sqlite3_free(relation);
  return sqlite3_str_finish(text);
}

static int load_open(Batch *b, Session *session, int on_conflict, char **message) {
  Link *link = session_link(session_server(session));
  const Definition *d = &b->table->definition;
  b->spec.schema = d->schema;
  b->spec.table = d->table;
  b->spec.columns = b->columns;
  char *text = load_text(b);
  if (text == NULL) return SQLITE_NOMEM;
  const Command command = {.sql = text, .writes = 1, .on_conflict = on_conflict, .table = b->table};
  int rc = link_load(link, &command, &b->spec, &b->load, message);
  sqlite3_free(text);
  if (rc != SQLITE_OK) return rc;
  b->link = link;
  b->session = session;
  b->before = b->rows;
  b->told = 0;
  return rc;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static int batch_new(Server *server) {
  if (server->batch) return SQLITE_OK;
  server->batch = sqlite3_malloc64(sizeof *server->batch);
  if (server->batch == NULL) return SQLITE_NOMEM;
  memset(server->batch, 0, sizeof *server->batch);
  return SQLITE_OK;
}

static int same_columns(const Batch *b, const Assigned *columns) {
  size_t n = 0;
  for (int i = 0; i < b->table->definition.count; i++) {
    if (!columns[i].sent) continue;
    if (n == b->spec.n || b->picked[n] != i) return 0;
    n++;
  }
  return n == b->spec.n;
}

static int pick_columns(Batch *b, const Assigned *columns) {
  const Definition *d = &b->table->definition;
  size_t n = (size_t)d->count;
  sqlite3_free(b->columns);
  b->columns = sqlite3_malloc64(n * (sizeof *b->columns + sizeof *b->values + sizeof *b->picked));
  if (b->columns == NULL) return SQLITE_NOMEM;
  b->values = (edb_value *)(void *)(b->columns + n);
  b->picked = (int *)(void *)(b->values + n);
  b->spec.n = 0;
  for (int i = 0; i < d->count; i++) {
    if (!columns[i].sent) continue;
    b->picked[b->spec.n] = i;
    b->columns[b->spec.n++] =
        (edb_load_column){d->columns[i].remote, d->columns[i].type, d->columns[i].type_name};
  }
  return SQLITE_OK;
}

/* A statement that begins, or another table of it. */
static void batch_begin(Batch *b, Running running, const Table *table) {
  const char *sql = running.statement ? sqlite3_sql(running.statement) : NULL;
  b->running = running;
  b->table = table;
  b->rows = b->run = 0;
  b->spec.n = 0;
  b->enough = SINGLE_ROWS;
  b->returns = sql == NULL || sqlite3_strlike("%returning%", sql, 0) == 0;
}

static int can_load(const Link *link) { return link && edb_can_load(&link->connection); }

/* Whether such a row may wait. */
static int may_wait(const Batch *b, const Session *session, const Assigned *columns,
                    int on_conflict, int generated) {
  const Definition *d = &b->table->definition;
  sqlite3 *db = b->table->edb->db;
  if (on_conflict != SQLITE_ABORT && on_conflict != SQLITE_ROLLBACK) return 0;
  if (b->running.statement == NULL || (generated && b->returns)) return 0;
  if (!sqlite3_get_autocommit(db) && !session_brackets(session, b->running)) return 0;
  for (int i = 0; i < d->count; i++) {
    if (!columns[i].sent) continue;
    if (assign_is_json(d->columns[i].type, &columns[i].value)) return 0;
    /* MySQL takes it among many rows, as 0, where it refuses it alone. */
    if (columns[i].value.kind == EDB_NULL && !d->columns[i].nullable) return 0;
  }
  return b->table->edb->batch && b->spec.n > 0;
}

int batch_insert(const Table *table, const Assigned *columns, int on_conflict, int generated,
                 int *taken, char **message) {
  Session *session = table->session;
  Server *server = session_server(session);
  Running running = running_writer(table->edb->db);
  int rc = batch_new(server);
  if (rc == SQLITE_OK) rc = changes_end(server, message);
  *taken = 0;
  if (rc != SQLITE_OK) return rc;
  Batch *b = server->batch;
  if (!running_same(running, b->running) || table != b->table) {
    rc = batch_end(server, message);
    if (rc != SQLITE_OK) return rc;
    batch_begin(b, running, table);
  }
  if (b->spec.n == 0 || !same_columns(b, columns)) {
    rc = batch_end(server, message);
    if (rc == SQLITE_OK) rc = pick_columns(b, columns);
    if (rc != SQLITE_OK) return rc;
    b->run = 0;
  }
  int waits = may_wait(b, session, columns, on_conflict, generated);
  if (!waits) {
    rc = batch_end(server, message);
  } else if (b->session == NULL && b->run++ >= b->enough && can_load(session_link(server))) {
    rc = load_open(b, session, on_conflict, message);
  }
  b->rows++;
  if (rc != SQLITE_OK || b->session == NULL) return rc;
  server_touch(server);
  for (size_t i = 0; i < b->spec.n; i++) b->values[i] = columns[b->picked[i]].value;
  int code = edb_load_row(&b->load, b->values);
  if (code != EDB_OK) return batch_fail(b, code, message);
  progress(b);
  *taken = 1;
  return SQLITE_OK;
}
