/*
** ext/changes.c: consecutive UPDATEs, or DELETEs, of one statement travel together.
**
**   UPDATE remote SET price = price * 1.1
**
** SQLite reads the rows that it is to change first, and then calls xUpdate for each. Those that send the same SQL with
** other parameters wait, and are run one after the other without waiting for each answer (edb_statement_each), before
** anything else is done over the link. Each must have changed one row: else the statement fails, and names the row.
**
** A row waits only where that can be told as the statement's own error, as in batch.c. Within BEGIN the error of the last rows
** would come too late, in xRelease; so they are sent with the last row that was read, where SQLite changes all that it
** reads. Where it does not, because it checks conditions itself, an error of the last rows ends as in batch.c.
*/
#include "extInt.h"

#include <string.h>

#define SINGLE_ROWS 8             /* of a statement, that go one by one */
#define WAITING_ROWS 128          /* then they are sent */
#define WAITING_BYTES (64 * 1024) /* of texts, blobs and keys; a row that has more goes alone */

struct Changes {
  Running running; /* the statement whose rows these are */
  const Table *table;
  sqlite3_int64 rows; /* that it has changed */
  Session *session;
  char *sql;        /* what each of those that wait runs */
  const char *verb; /* "updated" */
  int on_conflict;
  size_t n; /* parameters of a row */
  size_t waiting;
  edb_parameter *parameters; /* of all that wait */
  const char *keys[WAITING_ROWS];
  int64_t affected[WAITING_ROWS];
  size_t used;
  char bytes[WAITING_BYTES]; /* what parameters and keys point into */
};

/* ---- Sending ------------------------------------------------------------------------------------------------ */

static Command command_of(const Changes *c, size_t row) {
  return (Command){.sql = c->sql,
                   .parameters = c->parameters + row * c->n,
                   .n = c->n,
                   .prepared = 1,
                   .writes = 1,
                   .on_conflict = c->on_conflict,
                   .table = c->table};
}

/* Which of them has not changed one row, where the server has told no more than that. They are undone and run again, one by
** one; the statement has failed anyway. SQLITE_OK with *row behind the last one where none is found. */
static int find_row(Changes *c, size_t waiting, size_t *row, sqlite3_int64 *affected,
                    char **message) {
  int rc = session_undo(c->session, "rows were not changed");
  if (rc != SQLITE_OK) *row = waiting;
  if (rc != SQLITE_OK) return SQLITE_OK;
  for (*row = 0; *row < waiting; ++*row) {
    Command command = command_of(c, *row);
    rc = session_run(c->session, &command, NULL, affected, message);
    if (rc != SQLITE_OK || *affected != 1) break;
  }
  return rc;
}

/* The error of a row names it, where the server has not. */
static void name_row(const Changes *c, size_t row, size_t waiting, char **message) {
  char *told = *message;
  if (told == NULL || row >= waiting) return;
  *message = sqlite3_mprintf("%s (the row %s)", told, c->keys[row]);
  sqlite3_free(told);
}

static int check_rows(Changes *c, size_t waiting, char **message) {
  size_t row = 0;
  while (row < waiting && c->affected[row] == 1) row++;
  if (row == waiting) return SQLITE_OK;
  sqlite3_int64 affected = c->affected[row];
  if (affected < 0) {
    int rc = find_row(c, waiting, &row, &affected, message);
    if (rc != SQLITE_OK) {
      name_row(c, row, waiting, message);
      return rc;
    }
    if (row == waiting) row = 0;
  }
  *message = write_unchanged(c->table, c->verb, c->keys[row], affected);
  return *message ? SQLITE_ERROR : SQLITE_NOMEM;
}

int changes_end(Server *server, char **message) {
  Changes *c = server->changes;
  if (c == NULL || c->waiting == 0) return SQLITE_OK;
  size_t waiting = c->waiting;
  size_t done;
  Command command = command_of(c, 0);
  command.careful = c->table->definition.dialect->each_sums; /* to be undone by find_row */
  c->waiting = c->used = 0; /* what is sent now asks to send what waits */
  int rc = session_run_each(c->session, &command, waiting, c->affected, &done, message);
  if (rc != SQLITE_OK) {
    name_row(c, done, waiting, message);
  } else {
    rc = check_rows(c, waiting, message);
  }
  if (rc == SQLITE_OK) return rc;
  /* Who hears of it may be another statement than theirs, of a function of the application's: theirs must not succeed. */
  c->running.statement = NULL;
  session_doom(c->session, *message);
  return rc;
}

void changes_abort(Server *server) {
  if (server->changes) server->changes->waiting = server->changes->used = 0;
}

void changes_forget(Server *server) {
  if (server->changes) server->changes->running.statement = NULL;
}

void changes_free(Server *server) {
  Changes *c = server->changes;
  server->changes = NULL;
  if (c == NULL) return;
  sqlite3_free(c->parameters);
  sqlite3_free(c->sql);
  sqlite3_free(c);
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static int changes_new(Server *server) {
  if (server->changes) return SQLITE_OK;
  Changes *c = sqlite3_malloc64(sizeof *c);
  if (c == NULL) return SQLITE_NOMEM;
  memset(c, 0, offsetof(Changes, keys));
  c->used = 0;
  server->changes = c;
  return SQLITE_OK;
}

/* What the row needs of bytes: its texts, its blobs and its key. */
static size_t row_bytes(const Command *command, const char *key) {
  size_t bytes = strlen(key) + 1;
  for (size_t i = 0; i < command->n; i++) {
    const edb_value *value = &command->parameters[i].value;
    if (value->kind == EDB_TEXT || value->kind == EDB_BYTES) bytes += value->as.text.n;
  }
  return bytes;
}

static const char *keep(Changes *c, const char *p, size_t n) {
  char *to = c->bytes + c->used;
  memcpy(to, p, n);
  c->used += n;
  return to;
}

/* The SQL that those from now on run. */
static int take_sql(Changes *c, const Command *command) {
  sqlite3_free(c->sql);
  sqlite3_free(c->parameters);
  c->sql = sqlite3_mprintf("%s", command->sql);
  c->n = command->n;
  c->parameters = sqlite3_malloc64((c->n + 1) * WAITING_ROWS * sizeof *c->parameters);
  return c->sql && c->parameters ? SQLITE_OK : SQLITE_NOMEM;
}

static void take_row(Changes *c, const Command *command, const char *key) {
  edb_parameter *to = c->parameters + c->waiting * c->n;
  memcpy(to, command->parameters, command->n * sizeof *to);
  for (size_t i = 0; i < command->n; i++) {
    if (to[i].value.kind != EDB_TEXT && to[i].value.kind != EDB_BYTES) continue;
    to[i].value.as.text.p = keep(c, to[i].value.as.text.p, to[i].value.as.text.n);
  }
  c->keys[c->waiting++] = keep(c, key, strlen(key) + 1);
}

static int may_wait(const Changes *c, const Command *command) {
  const Edb *edb = c->table->edb;
  const Link *link = session_link(session_server(c->session));
  if (c->rows <= SINGLE_ROWS || command->careful || !edb->batch || c->running.statement == NULL)
    return 0;
  if (command->on_conflict != SQLITE_ABORT && command->on_conflict != SQLITE_ROLLBACK) return 0;
  if (link == NULL || !edb_can_run_each(&link->connection)) return 0;
  return sqlite3_get_autocommit(edb->db) || session_brackets(c->session, c->running);
}

/* Whether SQLite has now changed all rows that it has read of the table since the statement began. */
static int is_last(const Changes *c) {
  return !sqlite3_get_autocommit(c->table->edb->db) && c->rows >= c->table->given;
}

int changes_add(const Table *table, const Command *command, const char *verb, const char *key,
                int waits, int *taken, char **message) {
  Server *server = session_server(table->session);
  Running running = running_writer(table->edb->db);
  int rc = changes_new(server);
  *taken = 0;
  if (rc != SQLITE_OK) return rc;
  Changes *c = server->changes;
  if (!running_same(running, c->running) || table != c->table) {
    rc = changes_end(server, message);
    if (rc != SQLITE_OK) return rc;
    c->running = running;
    c->table = table;
    c->rows = 0;
  }
  c->rows++;
  server_touch(server);
  c->session = table->session;
  size_t bytes = row_bytes(command, key);
  if (!waits || !may_wait(c, command) || bytes > WAITING_BYTES) return SQLITE_OK;
  int same = c->sql && c->n == command->n && strcmp(c->sql, command->sql) == 0;
  rc = batch_end_load(server, message);
  if (rc == SQLITE_OK && (!same || c->waiting == WAITING_ROWS || c->used + bytes > WAITING_BYTES))
    rc = changes_end(server, message);
  if (rc == SQLITE_OK && !same) rc = take_sql(c, command);
  if (rc != SQLITE_OK) return rc;
  c->verb = verb;
  c->on_conflict = command->on_conflict;
  take_row(c, command, key);
  *taken = 1;
  return is_last(c) ? changes_end(server, message) : SQLITE_OK;
}
