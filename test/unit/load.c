/*
** load.c: loads by INSERTs of many rows (drivers/load.c), on a driver that only writes down what it is told, and
** on SQLite.
*/
#include "drivers/driverInt.h"
#include "host.h"

/* ---- A driver that writes down ------------------------------------------------------------------------ */

static char told
    [4000]; /* rows of each execution: "4 4 1 ", "S", "R", "T" for a savepoint, its release, back to it */
static int64_t bad_id; /* the statement that has it fails */
static int bad_code = EDB_CONSTRAINT;
static edb_error error;
static int prepared;
static int64_t sum, blamed;
static const char *seen;            /* where the last text was */
static int ahead;                   /* statements are sent before they answer: "16> 16 " */
static const edb_parameter *flying; /* their values, until they have answered */
static size_t n_flying;

typedef struct scribe {
  size_t parameters;
} scribe;

static void tell(const char *what) {
  snprintf(told + strlen(told), sizeof told - strlen(told), "%s", what);
}

static int write_prepare(void *connection, const char *sql, double expected, void **out) {
  (void)connection, (void)expected;
  CHECK(flying == NULL);
  scribe *s = calloc(1, sizeof *s);
  if (!s) abort();
  for (; *sql; sql++) s->parameters += *sql == '?';
  prepared++;
  *out = s;
  return EDB_OK;
}

static int write_close(void *statement) {
  CHECK(flying == NULL);
  free(statement);
  prepared--;
  return EDB_OK;
}

static int write_execute(void *statement, const edb_parameter *values, size_t n,
                         int64_t *affected) {
  char rows[24];
  const scribe *s = statement;
  CHECK(flying == NULL);
  CHECK_INT(n, s->parameters);
  *affected = (int64_t)n / 2;
  snprintf(rows, sizeof rows, "%zu ", n / 2);
  tell(rows);
  for (size_t i = 0; i < n; i += 2) {
    if (values[i].value.as.i64 == bad_id) return edb_fail(&error, (edb_code)bad_code, "bad");
  }
  for (size_t i = 0; i < n; i += 2) {
    sum += values[i].value.as.i64 * (int64_t)values[i + 1].value.as.text.n;
    seen = values[i + 1].value.as.text.p;
    for (size_t k = 0; k < values[i + 1].value.as.text.n; k += 1000) CHECK_INT(seen[k], 'x');
  }
  return EDB_OK;
}

static int write_send(void *statement, const edb_parameter *values, size_t n) {
  const scribe *s = statement;
  char rows[24];
  CHECK(flying == NULL);
  CHECK_INT(n, s->parameters);
  snprintf(rows, sizeof rows, "%zu> ", n / 2);
  tell(rows);
  flying = values;
  n_flying = n;
  return EDB_OK;
}

/* The rows are still there. */
static int write_receive(void *statement, int64_t *affected) {
  const edb_parameter *values = flying;
  if (!CHECK(values != NULL)) return EDB_FAILED;
  flying = NULL;
  return write_execute(statement, values, n_flying, affected);
}

static int write_control(void *connection, const char *sql, const edb_parameter *p, size_t n,
                         int64_t *affected) {
  (void)connection, (void)p, (void)n;
  *affected = 0;
  tell(strcmp(sql, "SAVE edb_load") == 0   ? "S "
       : strcmp(sql, "FREE edb_load") == 0 ? "R "
       : strcmp(sql, "BACK edb_load") == 0 ? "T "
                                           : sql);
  return EDB_OK;
}

static const edb_methods write_methods = {.prepare = write_prepare,
                                          .execute = write_control,
                                          .statement_close = write_close,
                                          .statement_execute = write_execute};

static const edb_dialect write_dialect = {.quote = {'"', '"'},
                                          .placeholder = "?",
                                          .max_parameters = 1000,
                                          .savepoint = "SAVE %s",
                                          .rollback_to = "BACK %s",
                                          .release = "FREE %s"};

static const edb_load_column columns[2] = {{.name = "id"}, {.name = "x"}};
static const edb_load_spec spec = {.table = "t", .columns = columns, .n = 2};

/* Loads ids from 1 to n with texts of `length` bytes; what was told is in told. */
static int load(int rows, int savepoint, int n, size_t length) {
  edb_inserts_spec inserts = {.methods = &write_methods,
                              .dialect = &write_dialect,
                              .host = &unit_host,
                              .error = &error,
                              .rows = rows,
                              .send = ahead ? write_send : NULL,
                              .receive = ahead ? write_receive : NULL,
                              .savepoint = savepoint};
  void *l = NULL;
  int rc = edb_inserts_begin(&inserts, &spec, &l);
  char *x = malloc(length + 1);
  if (!x) abort();
  told[0] = 0;
  sum = 0;
  for (int i = 1; rc == EDB_OK && i <= n; i++) {
    edb_value row[2] = {{.kind = EDB_I64, .as.i64 = i}, {.kind = EDB_TEXT, .as.text = {x, length}}};
    memset(x, 'x', length);
    rc = edb_inserts_row(l, row);
    memset(x, '#', length);
  }
  free(x);
  if (!l) return rc;
  if (rc == EDB_OK) {
    rc = edb_inserts_end(l);
    blamed = error.row;
  } else {
    blamed = error.row;
    CHECK_INT(edb_inserts_row(l, NULL), EDB_FAILED);
    edb_inserts_abort(l);
  }
  return rc;
}

static void test_groups(void) {
  CHECK_INT(load(16, 0, 0, 1), EDB_OK);
  CHECK_STR(told, "");
  CHECK_INT(load(16, 0, 1, 1), EDB_OK);
  CHECK_STR(told, "1 ");
  CHECK_INT(load(16, 0, 54, 3), EDB_OK);
  CHECK_STR(told, "16 16 16 4 1 1 ");
  CHECK_INT(sum, 3 * 54 * 55 / 2);
  CHECK_INT(load(1, 0, 3, 1), EDB_OK);
  CHECK_STR(told, "1 1 1 ");
  CHECK_INT(load(10000, 0, 1001, 0), EDB_OK); /* the server's parameters are 1000 */
  CHECK_STR(told, "500 500 1 ");
  CHECK_INT(load(16, 1, 18, 1), EDB_OK);
  CHECK_STR(told, "S 16 R 1 1 ");
  CHECK_INT(prepared, 0);
  CHECK_INT(unit_blocks, 0);
}

/* 256 KB of text make a statement, whatever the rows; a longer row goes alone, and is not copied. */
static void test_bytes(void) {
  CHECK_INT(load(16, 0, 7, 60000), EDB_OK);
  CHECK_STR(told, "4 1 1 1 ");
  CHECK_INT(sum, 60000 * 28);
  CHECK_INT(load(16, 0, 2, 262144), EDB_OK);
  CHECK_STR(told, "1 1 ");
  CHECK_INT(load(16, 0, 2, 262145), EDB_OK);
  CHECK_STR(told, "1 1 ");
  CHECK_INT(sum, 262145 * 3);
}

/* Whichever row is bad: it is named, and all before it were sent once. */
static void test_each(void) {
  for (int n = 1; n <= 40; n++) {
    for (int bad = 1; bad <= n; bad++) {
      bad_id = bad;
      if (!CHECK_INT(load(8, n & 1, n, 1), EDB_CONSTRAINT) || !CHECK_INT(blamed, bad)) return;
      CHECK_INT(sum, bad * (bad - 1) / 2);
    }
  }
  bad_id = 0;
}

static void test_blame(void) {
  bad_id = 6;
  CHECK_INT(load(8, 1, 9, 1), EDB_CONSTRAINT);
  CHECK_STR(told, "S 8 T 1 1 1 1 1 1 ");
  /* What is not the rows' fault is not looked for among them. */
  static const int others[] = {EDB_BUSY, EDB_CLOSED, EDB_INTERRUPTED, EDB_NOMEM};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    bad_code = others[i];
    CHECK_INT(load(8, 1, 9, 1), others[i]);
    CHECK_STR(told, "S 8 ");
    CHECK_INT(blamed, 0);
  }
  bad_code = EDB_CONSTRAINT;
  bad_id = 0;
}

/* What the server works on is kept until it has answered; the next rows wait elsewhere. */
static void test_ahead(void) {
  CHECK_INT(load(16, 0, 54, 3), EDB_OK);
  CHECK_STR(told, "16> 16 16> 16 16> 16 4 1 1 ");
  CHECK_INT(sum, 3 * 54 * 55 / 2);
  CHECK_INT(load(16, 0, 32, 3), EDB_OK);
  CHECK_STR(told, "16> 16 16> 16 ");
  CHECK_INT(load(4, 0, 9, 60000), EDB_OK); /* full of bytes as of rows */
  CHECK_STR(told, "4> 4 4> 4 1 ");
  CHECK_INT(load(16, 0, 7, 60000), EDB_OK);
  CHECK_STR(told, "4 1 1 1 ");
  CHECK_INT(load(16, 1, 18, 1), EDB_OK);
  CHECK_STR(told, "S 16 R 1 1 ");
  bad_id = 6;
  CHECK_INT(load(4, 0, 20, 1), EDB_CONSTRAINT);
  CHECK_STR(told, "4> 4 4> 4 1 1 ");
  CHECK_INT(blamed, 6);
  bad_id = 0;
}

/* Given up while a statement is on its way. */
static void test_abort(void) {
  edb_inserts_spec inserts = {.methods = &write_methods,
                              .dialect = &write_dialect,
                              .host = &unit_host,
                              .error = &error,
                              .rows = 2,
                              .send = write_send,
                              .receive = write_receive};
  void *l = NULL;
  told[0] = 0;
  CHECK_INT(edb_inserts_begin(&inserts, &spec, &l), EDB_OK);
  for (int i = 0; i < 3; i++) {
    edb_value row[2] = {{.kind = EDB_I64, .as.i64 = i}, {.kind = EDB_TEXT, .as.text = {"x", 1}}};
    CHECK_INT(edb_inserts_row(l, row), EDB_OK);
  }
  CHECK_INT(edb_inserts_abort(l), EDB_OK);
  CHECK_STR(told, "2> 2 ");
  CHECK_INT(prepared, 0);
}

static void test_memory(void) {
  int failures = 0, rc = EDB_NOMEM;
  for (int in = 0; rc == EDB_NOMEM; in++) {
    unit_fail_in = in;
    rc = load(16, 0, 20, 10);
    failures += rc == EDB_NOMEM;
    CHECK_INT(unit_blocks, 0);
    CHECK_INT(prepared, 0);
  }
  unit_fail_in = -1;
  CHECK_INT(rc, EDB_OK);
  CHECK(failures >= 6);
}

static void test_columns(void) {
  edb_inserts_spec inserts = {.methods = &write_methods,
                              .dialect = &write_dialect,
                              .host = &unit_host,
                              .error = &error,
                              .rows = 10};
  edb_load_spec none = {.table = "t", .columns = columns, .n = 0}, many = none;
  void *l;
  many.n = 1001;
  CHECK_INT(edb_inserts_begin(&inserts, &none, &l), EDB_UNSUPPORTED);
  CHECK_INT(edb_inserts_begin(&inserts, &many, &l), EDB_UNSUPPORTED);
}

/* ---- SQLite ------------------------------------------------------------------------------------------- */

static void test_sqlite(void) {
  edb_connection c;
  edb_load load;
  edb_load_column items[2] = {{.name = "a \"b"}, {.name = "name"}};
  edb_load_spec into = {.schema = "main", .table = "t\".", .columns = items, .n = 2};
  CHECK_INT(edb_open("sqlite::memory:", NULL, 0, &unit_host, &c, NULL), EDB_OK);
  unit_run(&c, "CREATE TABLE \"t\"\".\" (\"a \"\"b\" INTEGER PRIMARY KEY, name, more DEFAULT 7)");
  for (int bad = 0; bad < 2; bad++) {
    CHECK_INT(edb_load_begin(&c, &into, &load), EDB_OK);
    int rc = EDB_OK, i;
    for (i = 1; rc == EDB_OK && i <= 2000; i++) {
      edb_value row[2] = {unit_i64(bad ? 2500 - i : i).value, unit_text("x").value};
      rc = edb_load_row(&load, row);
    }
    CHECK_INT(rc, bad ? EDB_CONSTRAINT : EDB_OK);
    if (bad) {
      CHECK_INT(i, 501);
      CHECK_INT(edb_detail(&c)->row, 500);
      CHECK_INT(edb_load_abort(&load), EDB_OK);
    } else {
      CHECK_INT(edb_load_end(&load), EDB_OK);
    }
  }
  edb_rows r;
  const edb_value *v;
  CHECK_INT(edb_query(&c, "SELECT count(*), sum(more) FROM \"t\"\".\"", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(v[0].as.i64, 2499);
  CHECK_INT(v[1].as.i64, 2499 * 7);
  edb_rows_close(&r);
  into.table = "nosuch";
  CHECK_INT(edb_load_begin(&c, &into, &load), EDB_INVALID_QUERY);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(unit_blocks, 0);
}

int main(void) {
  unit_use_sqlite();
  test_groups();
  test_bytes();
  test_each();
  test_blame();
  test_memory();
  ahead = 1;
  test_ahead();
  test_each();
  test_memory();
  test_abort();
  test_columns();
  test_sqlite();
  return unit_done("load");
}
