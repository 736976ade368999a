/*
** drivers/load.c: loads by INSERTs of many rows, for drivers that have nothing faster.
**
** Rows are copied into an arena until they make a statement: as many as the driver asked for, or as many as
** fit. Then they go by a prepared INSERT of that many rows; what is left at the end goes by smaller ones, each
** a quarter of the last, down to a single row. A row that is larger than the arena is sent alone, from where the
** caller has it.
**
** The row to blame. A statement that fails has done nothing (the server undoes it, or a savepoint before it
** does), but it does not say which of its rows was wrong. So its rows are sent again, one by one, up to the one
** that fails by itself. If none does, the rows are in, and the load goes on.
**
** Where the driver can send without waiting for the answer, full statements go so: while the server works on one, the next
** one's rows are collected in a second arena.
**
** Memory: the arenas, the values of one statement or two, the INSERTs.
*/
#include <string.h>

#include "driverInt.h"

#define ARENA_BYTES (256 * 1024)
#define LEVELS 8 /* sizes of statements: 4^7 rows are more than any has */
#define SAVEPOINT "edb_load"

typedef struct inserts {
  edb_inserts_spec spec;
  size_t n;              /* columns */
  size_t most;           /* rows of the largest statement */
  size_t sizes[LEVELS];  /* rows of each statement, falling; ends with 1 */
  int single;            /* the first of them that is 1 */
  void *levels[LEVELS];  /* the driver's statements; NULL: not prepared yet */
  edb_parameter *values; /* of the rows that wait */
  size_t waiting;        /* rows */
  int64_t sent;          /* rows before them and before those in flight */
  char *arena;
  size_t used;
  edb_parameter *flying; /* with send: the rows of a largest statement that has no answer yet, */
  char *flying_arena;    /* and their text and bytes */
  int in_flight;
  edb_buffer head; /* "INSERT INTO t (a, b) VALUES " */
  int failed;      /* the code of the error that ended it */
} inserts;

/* ---- The statements -------------------------------------------------------------------------------- */

static void add_name(edb_buffer *sql, const edb_dialect *dialect, const char *name) {
  edb_buffer_add(sql, &dialect->quote[0], 1);
  for (; *name; name++) {
    edb_buffer_add(sql, name, 1);
    if (*name == dialect->quote[1]) edb_buffer_add(sql, name, 1);
  }
  edb_buffer_add(sql, &dialect->quote[1], 1);
}

void edb_load_table(edb_buffer *sql, const edb_dialect *dialect, const edb_load_spec *load) {
  if (load->schema) {
    add_name(sql, dialect, load->schema);
    edb_buffer_text(sql, ".");
  }
  add_name(sql, dialect, load->table);
}

void edb_load_columns(edb_buffer *sql, const edb_dialect *dialect, const edb_load_spec *load) {
  for (size_t i = 0; i < load->n; i++) {
    edb_buffer_text(sql, i == 0 ? " (" : ", ");
    add_name(sql, dialect, load->columns[i].name);
  }
  edb_buffer_text(sql, ")");
}

void edb_load_values(edb_buffer *sql, const edb_dialect *dialect, size_t columns, size_t rows) {
  char placeholder[EDB_PLACEHOLDER_TEXT];
  int number = 0;
  for (size_t row = 0; row < rows; row++) {
    for (size_t i = 0; i < columns; i++) {
      edb_buffer_text(sql, i > 0 ? ", " : row > 0 ? "), (" : "(");
      edb_buffer_text(sql, edb_placeholder(dialect, ++number, placeholder));
    }
  }
  edb_buffer_text(sql, ")");
}

static int nomem(inserts *l) { return edb_fail(l->spec.error, EDB_NOMEM, "out of memory"); }

static int prepare(inserts *l, int level) {
  edb_buffer sql = {l->spec.host, NULL, 0, 0, 0};
  if (l->levels[level]) return EDB_OK;
  edb_buffer_add(&sql, l->head.p, l->head.n);
  edb_load_values(&sql, l->spec.dialect, l->n, l->sizes[level]);
  int rc = sql.nomem ? nomem(l)
                     : l->spec.methods->prepare(l->spec.connection, sql.p, 0, &l->levels[level]);
  edb_buffer_free(&sql);
  return rc;
}

int edb_load_counted(edb_error *error, int64_t sent, int64_t counted) {
  if (counted == sent || counted < 0) return EDB_OK;
  return edb_fail(
      error, EDB_FAILED,
      "%lld rows were sent, and the server counts %lld: a trigger or rule of its interferes",
      (long long)sent, (long long)counted);
}

static int execute(inserts *l, int level, const edb_parameter *values, int64_t *counted) {
  int rc = prepare(l, level);
  if (rc != EDB_OK) return rc;
  return l->spec.methods->statement_execute(l->levels[level], values, l->sizes[level] * l->n,
                                            counted);
}

/* A statement on the savepoint, where the server does not undo what failed. */
static int savepoint(inserts *l, int wanted, const char *form) {
  int64_t affected;
  if (!wanted || !form) return EDB_OK;
  edb_buffer sql = {l->spec.host, NULL, 0, 0, 0};
  const char *at = strstr(form, "%s");
  edb_buffer_add(&sql, form, (size_t)(at - form));
  edb_buffer_text(&sql, SAVEPOINT);
  int rc = sql.nomem ? nomem(l)
                     : l->spec.methods->execute(l->spec.connection, sql.p, NULL, 0, &affected);
  edb_buffer_free(&sql);
  return rc;
}

/* ---- Sending --------------------------------------------------------------------------------------- */

int edb_load_is_of_rows(int rc) {
  return rc == EDB_CONSTRAINT || rc == EDB_INVALID_QUERY || rc == EDB_FAILED ||
         rc == EDB_UNSUPPORTED;
}

static int fail(inserts *l, int rc, int64_t row) {
  l->failed = rc;
  l->spec.error->row = row;
  return rc;
}

/* Rows one by one, after they failed together. */
static int send_singly(inserts *l, const edb_parameter *values, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    int64_t counted;
    int rc = execute(l, l->single, values + i * l->n, &counted);
    if (rc == EDB_OK) rc = edb_load_counted(l->spec.error, 1, counted);
    if (rc != EDB_OK) return fail(l, rc, edb_load_is_of_rows(rc) ? l->sent + 1 : 0);
    l->sent++;
  }
  return EDB_OK;
}

/* What the server says of one statement's rows. */
static int take_answer(inserts *l, int rc, int64_t counted, const edb_parameter *values,
                       size_t rows) {
  const edb_dialect *dialect = l->spec.dialect;
  if (rc == EDB_OK) {
    rc = edb_load_counted(l->spec.error, (int64_t)rows, counted);
    if (rc != EDB_OK) return fail(l, rc, 0); /* some are in: they are not sent again */
    l->sent += (int64_t)rows;
    rc = savepoint(l, l->spec.savepoint, dialect->release);
    return rc == EDB_OK ? EDB_OK : fail(l, rc, 0);
  }
  if (!edb_load_is_of_rows(rc) || savepoint(l, l->spec.savepoint, dialect->rollback_to) != EDB_OK)
    return fail(l, rc, 0);
  return send_singly(l, values, rows);
}

/* One statement. */
static int send_together(inserts *l, int level, const edb_parameter *values) {
  size_t rows = l->sizes[level];
  if (rows == 1) return send_singly(l, values, 1);
  int64_t counted = 0;
  int rc = savepoint(l, l->spec.savepoint, l->spec.dialect->savepoint);
  if (rc == EDB_OK) rc = execute(l, level, values, &counted);
  return take_answer(l, rc, counted, values, rows);
}

/* Waits for the answer to what is in flight. */
static int land(inserts *l) {
  int64_t counted = 0;
  if (!l->in_flight) return EDB_OK;
  l->in_flight = 0;
  int rc = l->spec.receive(l->levels[0], &counted);
  return take_answer(l, rc, counted, l->flying, l->sizes[0]);
}

/* Sends a largest statement's rows, and has the other half collect the next ones. */
static int take_off(inserts *l) {
  edb_parameter *values = l->values;
  char *arena = l->arena;
  int rc = prepare(l, 0);
  if (rc == EDB_OK) rc = l->spec.send(l->levels[0], values, l->waiting * l->n);
  if (rc != EDB_OK) return rc;
  l->values = l->flying;
  l->arena = l->flying_arena;
  l->flying = values;
  l->flying_arena = arena;
  l->in_flight = 1;
  l->waiting = l->used = 0;
  return EDB_OK;
}

/* All that wait by one run of the INSERT of one row. EDB_UNSUPPORTED: they are still to be sent. */
static int send_many(inserts *l) {
  const edb_dialect *dialect = l->spec.dialect;
  const int undo = l->spec.undo_many;
  const edb_error before = *l->spec.error;
  int rc = prepare(l, l->single);
  if (rc == EDB_OK) rc = savepoint(l, undo, dialect->savepoint);
  if (rc != EDB_OK) return fail(l, rc, 0);
  rc = l->spec.run_many(l->levels[l->single], l->values, l->waiting);
  if (rc == EDB_OK) {
    l->sent += (int64_t)l->waiting;
    rc = savepoint(l, undo, dialect->release);
    return rc == EDB_OK ? EDB_OK : fail(l, rc, 0);
  }
  const edb_error why = *l->spec.error;
  const int64_t row = why.row > 0 ? l->sent + why.row : 0;
  if (rc != EDB_UNSUPPORTED && !edb_load_is_of_rows(rc)) return fail(l, rc, 0);
  if (!undo) return rc == EDB_UNSUPPORTED && !why.message[0] ? rc : fail(l, rc, row);
  if (savepoint(l, undo, dialect->rollback_to) != EDB_OK ||
      savepoint(l, undo, dialect->release) != EDB_OK) {
    *l->spec.error = why;
    return fail(l, rc, row);
  }
  *l->spec.error = before;
  return EDB_UNSUPPORTED;
}

static int flush(inserts *l) {
  const edb_parameter *values = l->values;
  int rc = land(l), level = 0;
  if (rc != EDB_OK) return rc;
  if (l->flying && l->waiting > 1 && l->waiting == l->sizes[0] && take_off(l) == EDB_OK) {
    return EDB_OK;
  }
  if (l->spec.run_many && l->waiting > 1) {
    rc = send_many(l);
    if (rc == EDB_OK) l->waiting = 0;
    if (rc == EDB_UNSUPPORTED && !l->failed) rc = EDB_OK;
  }
  while (rc == EDB_OK && l->waiting > 0) {
    while (l->sizes[level] > l->waiting) level++;
    rc = send_together(l, level, values);
    values += l->sizes[level] * l->n;
    l->waiting -= l->sizes[level];
  }
  l->used = 0;
  return rc;
}

/* ---- The calls ------------------------------------------------------------------------------------- */

static size_t bytes_of(const edb_value *values, size_t n) {
  size_t bytes = 0;
  for (size_t i = 0; i < n; i++) {
    if (values[i].kind != EDB_TEXT && values[i].kind != EDB_BYTES) continue;
    if (values[i].as.text.n > ARENA_BYTES || bytes > ARENA_BYTES) return ARENA_BYTES + 1;
    bytes += values[i].as.text.n;
  }
  return bytes;
}

int edb_inserts_row(void *context, const edb_value *values) {
  inserts *l = context;
  if (l->failed) return edb_fail(l->spec.error, EDB_FAILED, "the load has failed");
  size_t bytes = bytes_of(values, l->n);
  if (l->waiting > 0 && bytes > ARENA_BYTES - l->used) {
    int rc = flush(l);
    if (rc != EDB_OK) return rc;
  }
  edb_parameter *row = l->values + l->waiting * l->n;
  int alone = bytes > ARENA_BYTES;
  for (size_t i = 0; i < l->n; i++) {
    row[i].value = values[i];
    if (alone || (values[i].kind != EDB_TEXT && values[i].kind != EDB_BYTES)) continue;
    char *copy = l->arena + l->used;
    if (values[i].as.text.n > 0) memcpy(copy, values[i].as.text.p, values[i].as.text.n);
    row[i].value.as.text.p = copy;
    l->used += values[i].as.text.n;
  }
  l->waiting++;
  return alone || l->waiting == l->most ? flush(l) : EDB_OK;
}

/* The error stays, whatever the driver says when its statements are closed. */
static void free_all(inserts *l) {
  const edb_host *host = l->spec.host;
  edb_error *error = l->spec.error, why = *error;
  int64_t counted;
  if (l->in_flight) (void)l->spec.receive(l->levels[0], &counted);
  for (int i = 0; i < LEVELS; i++) {
    if (l->levels[i]) l->spec.methods->statement_close(l->levels[i]);
  }
  edb_buffer_free(&l->head);
  edb_free(host, l->values);
  edb_free(host, l->arena);
  edb_free(host, l->flying);
  edb_free(host, l->flying_arena);
  edb_free(host, l);
  *error = why;
}

int edb_inserts_end(void *context) {
  inserts *l = context;
  int rc = l->failed ? edb_fail(l->spec.error, EDB_FAILED, "the load has failed") : flush(l);
  free_all(l);
  return rc;
}

int edb_inserts_abort(void *context) {
  free_all(context);
  return EDB_OK;
}

static int make_room(const inserts *l, edb_parameter **values, char **arena) {
  const size_t bytes = l->most * l->n * sizeof **values;
  *values = edb_alloc(l->spec.host, bytes);
  *arena = edb_alloc(l->spec.host, ARENA_BYTES);
  if (*values) memset(*values, 0, bytes);
  return *values && *arena;
}

int edb_inserts_begin(const edb_inserts_spec *spec, const edb_load_spec *load, void **out) {
  const edb_dialect *dialect = spec->dialect;
  if (load->n == 0 || load->n > (size_t)dialect->max_parameters) {
    return edb_fail(spec->error, EDB_UNSUPPORTED, "%zu columns cannot be loaded", load->n);
  }
  inserts *l = edb_alloc(spec->host, sizeof *l);
  if (!l) return edb_fail(spec->error, EDB_NOMEM, "out of memory");
  memset(l, 0, sizeof *l);
  l->spec = *spec;
  l->n = load->n;
  l->most = (size_t)dialect->max_parameters / load->n;
  if (l->most > (size_t)spec->rows) l->most = (size_t)spec->rows;
  size_t size = l->most;
  if (spec->run_many && (size_t)spec->many > l->most) l->most = (size_t)spec->many;
  for (int i = 0; i < LEVELS; i++, size /= 4) l->sizes[i] = size > 0 ? size : 1;
  while (l->sizes[l->single] != 1) l->single++;
  l->head.host = spec->host;
  edb_buffer_text(&l->head, "INSERT INTO ");
  edb_load_table(&l->head, dialect, load);
  edb_load_columns(&l->head, dialect, load);
  edb_buffer_text(&l->head, " VALUES ");
  if (!make_room(l, &l->values, &l->arena) ||
      (spec->send && !spec->savepoint && !make_room(l, &l->flying, &l->flying_arena)) ||
      l->head.nomem) {
    nomem(l);
    free_all(l);
    return EDB_NOMEM;
  }
  /* A statement that the server refuses is refused here. */
  int rc = prepare(l, l->single);
  if (rc == EDB_OK) {
    *out = l;
  } else {
    free_all(l);
  }
  return rc;
}
