/*
** dispatch.c: what all drivers have in common: closed handles, the order of calls, who owns a row, and
** memory that runs out, on the memory and the SQLite driver and on one of this file that only counts.
*/
#include "host.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* ---- A driver that counts calls and answers what it is told ---------------------------------- */

static int calls, answer;
static edb_error told = {EDB_FAILED, 7, "ABCDE", "told", "", 0, 0};

static int one(void *context) {
  (void)context;
  calls++;
  return answer;
}

static int fake_prepare(void *context, const char *sql, double expected, void **out) {
  (void)sql, (void)expected;
  *out = context;
  return one(context);
}

static int fake_execute(void *context, const char *sql, const edb_parameter *p, size_t n,
                        int64_t *affected) {
  (void)sql, (void)p, (void)n;
  *affected = 5;
  return one(context);
}

static int fake_query(void *context, const char *sql, const edb_parameter *p, size_t n,
                      void **out) {
  (void)sql, (void)p, (void)n;
  *out = context;
  return one(context);
}

static int fake_begin(void *context, const edb_transaction_spec *spec, void **out) {
  (void)spec;
  *out = context;
  return one(context);
}

static int fake_statement_execute(void *context, const edb_parameter *p, size_t n,
                                  int64_t *affected) {
  return fake_execute(context, "", p, n, affected);
}

static int fake_statement_query(void *context, const edb_parameter *p, size_t n, void **out) {
  return fake_query(context, "", p, n, out);
}

static int fake_columns(void *context, const edb_column **columns, size_t *n) {
  (void)context;
  *columns = NULL;
  *n = 0;
  return EDB_OK;
}

static int fake_next(void *context, edb_row *row) {
  (void)row;
  return one(context);
}

static int fake_borrowed(void *context, const edb_value **values) {
  *values = NULL;
  return one(context);
}

static const edb_error *fake_detail(void *context) {
  (void)context;
  return &told;
}

static int fake_load(void *context, const edb_load_spec *spec, void **out) {
  (void)spec;
  *out = context;
  return one(context);
}

static int fake_load_row(void *context, const edb_value *values) {
  (void)values;
  return one(context);
}

static int fake_resolve(void *context, const char *name, int commit) {
  (void)name, (void)commit;
  return one(context);
}

static edb_methods fake = {.version = 1,
                           .close = one,
                           .prepare = fake_prepare,
                           .execute = fake_execute,
                           .query = fake_query,
                           .begin = fake_begin,
                           .statement_close = one,
                           .statement_execute = fake_statement_execute,
                           .statement_query = fake_statement_query,
                           .rows_columns = fake_columns,
                           .rows_next = fake_next,
                           .rows_next_borrowed = fake_borrowed,
                           .rows_close = one,
                           .transaction_execute = fake_execute,
                           .transaction_query = fake_query,
                           .transaction_commit = one,
                           .transaction_rollback = one,
                           .transaction_prepare = one,
                           .resolve = fake_resolve,
                           .load = fake_load,
                           .load_row = fake_load_row,
                           .load_end = one,
                           .load_abort = one,
                           .cancel = one,
                           .detail = fake_detail,
                           .alive = one};

/* A driver of several dialects: the first of that name, else what it assumes. */
static void test_dialects(void) {
  static const edb_dialect plain = {.name = "plain"}, other = {.name = "other"};
  static const edb_dialect *const both[] = {&plain, &other, NULL};
  const edb_driver several = {.dialect = &plain, .dialects = both};
  const edb_driver one_only = {.dialect = &other};
  CHECK(edb_dialect_named(&several, "other") == &other);
  CHECK(edb_dialect_named(&several, "plain") == &plain);
  CHECK(edb_dialect_named(&several, "none") == &plain);
  CHECK(edb_dialect_named(&several, NULL) == &plain);
  CHECK(edb_dialect_named(&one_only, "plain") == &other);
}

static int something;

/* Every call on closed handles answers Closed, and leaves what it gives out closed. */
static void closed(edb_connection *c, edb_statement *s, edb_rows *r, edb_transaction *t) {
  edb_statement s2 = {&fake, &something};
  edb_rows r2 = {&fake, &something, 0};
  edb_transaction t2 = {&fake, &something};
  edb_load l2 = {&fake, &something};
  edb_load_spec spec = {0};
  edb_row row = {.host = &unit_host};
  const edb_value *values;
  const edb_column *columns;
  size_t n = 9;
  int64_t affected;
  int before = calls;
  CHECK_INT(edb_prepare(c, "x", 0, &s2), EDB_CLOSED);
  CHECK(!s2.context);
  CHECK_INT(edb_execute(c, "x", NULL, 0, &affected), EDB_CLOSED);
  CHECK_INT(edb_query(c, "x", NULL, 0, &r2), EDB_CLOSED);
  CHECK(!r2.context);
  CHECK_INT(edb_begin(c, &t2), EDB_CLOSED);
  CHECK(!t2.context);
  CHECK_INT(edb_cancel(c), EDB_CLOSED);
  CHECK_INT(edb_alive(c), 0);
  CHECK_INT(edb_detail(c)->code, EDB_CLOSED);
  CHECK_STR(edb_detail(c)->message, "the connection is closed");
  CHECK(edb_connection_driver(c) == NULL);
  CHECK(edb_connection_dialect(c) == NULL);
  CHECK_INT(edb_close(c), EDB_CLOSED);
  CHECK_INT(edb_close(c), EDB_CLOSED);

  CHECK_INT(edb_statement_execute(s, NULL, 0, NULL), EDB_CLOSED);
  r2.context = &something;
  CHECK_INT(edb_statement_query(s, NULL, 0, &r2), EDB_CLOSED);
  CHECK(!r2.context);
  CHECK_INT(edb_statement_close(s), EDB_CLOSED);
  CHECK_INT(edb_statement_close(s), EDB_CLOSED);

  CHECK_INT(edb_rows_columns(r, &columns, &n), EDB_CLOSED);
  CHECK_INT(n, 0);
  CHECK_INT(edb_rows_next(r, &row), EDB_CLOSED);
  CHECK_INT(edb_rows_next_borrowed(r, &values), EDB_CLOSED);
  CHECK_INT(edb_rows_close(r), EDB_CLOSED);
  CHECK_INT(edb_rows_close(r), EDB_CLOSED);

  CHECK_INT(edb_transaction_execute(t, "x", NULL, 0, NULL), EDB_CLOSED);
  r2.context = &something;
  CHECK_INT(edb_transaction_query(t, "x", NULL, 0, &r2), EDB_CLOSED);
  CHECK(!r2.context);
  CHECK_INT(edb_transaction_commit(t), EDB_CLOSED);
  CHECK_INT(edb_transaction_rollback(t), EDB_CLOSED);
  CHECK_INT(edb_transaction_prepare(t), EDB_CLOSED);
  CHECK_INT(edb_resolve(c, "x", 1), EDB_CLOSED);
  CHECK_INT(edb_load_begin(c, &spec, &l2), EDB_CLOSED);
  CHECK(!l2.context);
  CHECK_INT(edb_load_row(&l2, NULL), EDB_CLOSED);
  CHECK_INT(edb_load_end(&l2), EDB_CLOSED);
  CHECK_INT(edb_load_abort(&l2), EDB_CLOSED);
  CHECK_INT(calls, before);
}

/* A load is over once it was ended or aborted, whatever came of it; one that fails to begin never was. What a
** driver lacks is unsupported. */
static void test_loads(edb_connection *c) {
  edb_load_spec spec = {.table = "t"};
  edb_load load;
  edb_transaction t;
  answer = EDB_OK;
  CHECK_INT(edb_load_begin(c, &spec, &load), EDB_OK);
  answer = EDB_CONSTRAINT;
  CHECK_INT(edb_load_row(&load, NULL), EDB_CONSTRAINT);
  CHECK_INT(edb_load_end(&load), EDB_CONSTRAINT);
  CHECK_INT(edb_load_abort(&load), EDB_CLOSED);
  CHECK_INT(edb_load_begin(c, &spec, &load), EDB_CONSTRAINT);
  CHECK(!load.context);
  answer = EDB_OK;
  CHECK_INT(edb_load_begin(c, &spec, &load), EDB_OK);
  CHECK_INT(edb_load_abort(&load), EDB_OK);
  CHECK_INT(edb_load_row(&load, NULL), EDB_CLOSED);

  CHECK_INT(edb_begin(c, &t), EDB_OK);
  answer = EDB_BUSY;
  CHECK_INT(edb_transaction_prepare(&t), EDB_BUSY);
  answer = EDB_FAILED;
  CHECK_INT(edb_transaction_prepare(&t), EDB_FAILED);
  CHECK_INT(edb_transaction_prepare(&t), EDB_CLOSED);
  CHECK_INT(edb_resolve(c, "x", 1), EDB_FAILED);

  answer = EDB_OK;
  fake.transaction_prepare = NULL;
  fake.resolve = NULL;
  fake.load = NULL;
  CHECK_INT(edb_begin(c, &t), EDB_OK);
  CHECK_INT(edb_transaction_prepare(&t), EDB_UNSUPPORTED);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_INT(edb_resolve(c, "x", 1), EDB_UNSUPPORTED);
  CHECK_INT(edb_load_begin(c, &spec, &load), EDB_UNSUPPORTED);
  CHECK(!load.context);
  fake.transaction_prepare = one;
  fake.resolve = fake_resolve;
  fake.load = fake_load;
}

static void test_closed(void) {
  edb_connection c = {NULL, NULL};
  edb_statement s = {NULL, NULL};
  edb_rows r = {NULL, NULL, 0};
  edb_transaction t = {NULL, NULL};
  closed(&c, &s, &r, &t);
}

static void test_fake(void) {
  edb_connection c = {&fake, &something};
  edb_statement s;
  edb_rows r;
  edb_transaction t;
  edb_row row = {.host = &unit_host};
  const edb_value *values;
  int64_t affected = 0;

  answer = EDB_OK;
  CHECK_INT(edb_execute(&c, "x", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_execute(&c, "x", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 5);
  CHECK_STR(edb_detail(&c)->message, "told");
  CHECK_INT(edb_prepare(&c, "x", 0, &s), EDB_OK);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_query(&c, "x", NULL, 0, &r), EDB_OK);

  /* What fails leaves its handle closed, even if the driver wrote a context. */
  answer = EDB_FAILED;
  {
    edb_statement s2 = {&fake, &something};
    edb_rows r2 = {&fake, &something, 1};
    edb_transaction t2 = {&fake, &something};
    CHECK_INT(edb_prepare(&c, "x", 0, &s2), EDB_FAILED);
    CHECK(!s2.context);
    CHECK_INT(edb_begin(&c, &t2), EDB_FAILED);
    CHECK(!t2.context);
    CHECK_INT(edb_query(&c, "x", NULL, 0, &r2), EDB_FAILED);
    CHECK(!r2.context);
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r2), EDB_FAILED);
    CHECK(!r2.context);
    CHECK_INT(edb_transaction_query(&t, "x", NULL, 0, &r2), EDB_FAILED);
    CHECK(!r2.context);
  }

  /* After an error, and after the end, the driver is not asked again. */
  answer = EDB_ROW;
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  CHECK_INT(edb_rows_next_borrowed(&r, &values), EDB_ROW);
  answer = EDB_CONSTRAINT;
  CHECK_INT(edb_rows_next_borrowed(&r, &values), EDB_CONSTRAINT);
  answer = EDB_ROW;
  calls = 0;
  CHECK_INT(edb_rows_next_borrowed(&r, &values), EDB_DONE);
  CHECK_INT(edb_rows_next(&r, &row), EDB_DONE);
  CHECK_INT(calls, 0);
  answer = EDB_OK;
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(calls, 1);
  CHECK_INT(edb_query(&c, "x", NULL, 0, &r), EDB_OK);
  answer = EDB_DONE;
  CHECK_INT(edb_rows_next(&r, &row), EDB_DONE);
  answer = EDB_ROW;
  CHECK_INT(edb_rows_next(&r, &row), EDB_DONE);
  answer = EDB_FAILED; /* of closing: it is closed all the same */
  CHECK_INT(edb_rows_close(&r), EDB_FAILED);
  CHECK_INT(edb_rows_close(&r), EDB_CLOSED);

  /* A driver without borrowed rows. */
  fake.rows_next_borrowed = NULL;
  answer = EDB_OK;
  CHECK_INT(edb_query(&c, "x", NULL, 0, &r), EDB_OK);
  answer = EDB_ROW;
  CHECK_INT(edb_rows_next_borrowed(&r, &values), EDB_UNSUPPORTED);
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  fake.rows_next_borrowed = fake_borrowed;
  answer = EDB_OK;
  edb_rows_close(&r);

  test_loads(&c);

  /* Busy leaves a handle open, any other answer closes it. */
  answer = EDB_BUSY;
  CHECK_INT(edb_statement_close(&s), EDB_BUSY);
  CHECK_INT(edb_transaction_commit(&t), EDB_BUSY);
  CHECK_INT(edb_transaction_rollback(&t), EDB_BUSY);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK(s.context && t.context && c.context);
  answer = EDB_FAILED;
  CHECK_INT(edb_statement_close(&s), EDB_FAILED);
  CHECK_INT(edb_transaction_commit(&t), EDB_FAILED);
  CHECK_INT(edb_close(&c), EDB_FAILED);
  closed(&c, &s, &r, &t);
}

/* ---- Real drivers ---------------------------------------------------------------------------- */

static const char *const urls[] = {"memory:", "sqlite::memory:"};

static void open_with_rows(const char *url, edb_connection *c) {
  edb_error e;
  edb_parameter p[2] = {unit_i64(1), unit_text("one")};
  if (!CHECK_INT(edb_open(url, NULL, 0, &unit_host, c, &e), EDB_OK)) printf("  %s\n", e.message);
  unit_run(c, "CREATE TABLE t (id INTEGER, name TEXT)");
  CHECK_INT(edb_execute(c, "INSERT INTO t VALUES (?, ?)", p, 2, NULL), EDB_OK);
  p[0] = unit_i64(2);
  p[1] = unit_text("two, which is longer than the one before it, by far, and then some more of it");
  CHECK_INT(edb_execute(c, "INSERT INTO t VALUES (?, ?)", p, 2, NULL), EDB_OK);
}

static int64_t count(edb_connection *c) {
  edb_rows r;
  const edb_value *v;
  int64_t n = 0;
  int rc;
  CHECK_INT(edb_query(c, "SELECT id FROM t", NULL, 0, &r), EDB_OK);
  while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) n++;
  CHECK_INT(rc, EDB_DONE);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  return n;
}

static void test_rows(const char *url) {
  edb_connection c;
  edb_rows r;
  edb_row row = {.host = &unit_host}, kept = {.host = &unit_host};
  const edb_value *v;
  const edb_column *columns;
  size_t n;
  open_with_rows(url, &c);
  CHECK(edb_connection_driver(&c) == edb_url_driver(url, NULL));
  CHECK(edb_connection_dialect(&c) == edb_connection_driver(&c)->dialect);
  CHECK_INT(edb_alive(&c), 1);
  CHECK_INT(edb_cancel(&c), EDB_OK);
  CHECK_INT(count(&c), 2);

  CHECK_INT(edb_query(&c, "SELECT name, id FROM t", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT(n, 2);
  CHECK_STR(columns[0].name, "name");
  CHECK_STR(columns[1].name, "id");
  CHECK(columns[0].type && columns[1].type);
  /* An owned row outlives the rows after it and its reader. */
  CHECK_INT(edb_rows_next(&r, &kept), EDB_ROW);
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  CHECK_INT(edb_rows_next(&r, &row), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(kept.count, 2);
  CHECK_TEXT(kept.values[0].as.text.p, kept.values[0].as.text.n, "one");
  CHECK_INT(kept.values[1].as.i64, 1);
  edb_row_clear(&kept);
  edb_row_clear(&row);

  /* Borrowed and owned may be mixed. */
  CHECK_INT(edb_query(&c, "SELECT * FROM t", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(v[0].as.i64, 1);
  CHECK_TEXT(v[1].as.text.p, v[1].as.text.n, "one");
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  CHECK_INT(row.values[0].as.i64, 2);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  edb_row_clear(&row);

  /* A reader without columns, of what gives no rows. */
  CHECK_INT(edb_query(&c, "DELETE FROM t WHERE id = 2", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT(n, 0);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(count(&c), 1);
  CHECK_INT(unit_run(&c, "DELETE FROM t"), 1);
  CHECK_INT(unit_run(&c, "DELETE FROM t"), 0);
  CHECK_INT(unit_run(&c, "DROP TABLE t"), 0);
  CHECK_INT(edb_query(&c, "SELECT * FROM t", NULL, 0, &r), EDB_INVALID_QUERY);
  CHECK_STR(edb_detail(&c)->message, "no such table: t");
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(unit_blocks, 0);
}

/* What the memory driver lends is really gone at the next call: the sanitizer sees who keeps it. */
static void test_lent(void) {
#ifdef __SANITIZE_ADDRESS__
  edb_connection c;
  edb_rows r;
  const edb_value *v;
  const char *p;
  open_with_rows("memory:", &c);
  CHECK_INT(edb_query(&c, "SELECT name FROM t", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  p = v[0].as.text.p;
  CHECK(!__asan_address_is_poisoned(p));
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK(__asan_address_is_poisoned(p));
  p = v[0].as.text.p;
  edb_rows_close(&r);
  CHECK(__asan_address_is_poisoned(p));
  CHECK_INT(edb_close(&c), EDB_OK);
#endif
}

/* While a reader is open, all but it and what needs no server answers Busy. */
static void test_busy(const char *url) {
  edb_connection c;
  edb_statement s, s2 = {NULL, NULL};
  edb_transaction t, t2 = {NULL, NULL};
  edb_rows r, r2;
  const edb_value *v;
  open_with_rows(url, &c);
  CHECK_INT(edb_prepare(&c, "SELECT name FROM t", 0, &s), EDB_OK);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  for (int way = 0; way < 3; way++) {
    int rc = way == 0   ? edb_query(&c, "SELECT * FROM t", NULL, 0, &r)
             : way == 1 ? edb_statement_query(&s, NULL, 0, &r)
                        : edb_transaction_query(&t, "SELECT * FROM t", NULL, 0, &r);
    CHECK_INT(rc, EDB_OK);
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_INT(edb_execute(&c, "DELETE FROM t", NULL, 0, NULL), EDB_BUSY);
    CHECK_STR(edb_detail(&c)->message, "a reader is open");
    CHECK_INT(edb_detail(&c)->code, EDB_BUSY);
    CHECK_INT(edb_query(&c, "SELECT * FROM t", NULL, 0, &r2), EDB_BUSY);
    CHECK_INT(edb_prepare(&c, "SELECT * FROM t", 0, &s2), EDB_BUSY);
    CHECK_INT(edb_begin(&c, &t2), EDB_BUSY);
    CHECK_INT(edb_statement_execute(&s, NULL, 0, NULL), EDB_BUSY);
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r2), EDB_BUSY);
    CHECK_INT(edb_statement_close(&s), EDB_BUSY);
    CHECK_INT(edb_transaction_execute(&t, "DELETE FROM t", NULL, 0, NULL), EDB_BUSY);
    CHECK_INT(edb_transaction_query(&t, "SELECT * FROM t", NULL, 0, &r2), EDB_BUSY);
    CHECK_INT(edb_transaction_commit(&t), EDB_BUSY);
    CHECK_INT(edb_transaction_rollback(&t), EDB_BUSY);
    CHECK_INT(edb_close(&c), EDB_BUSY);
    CHECK_INT(edb_alive(&c), 1);
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
    CHECK_INT(edb_execute(&c, "DELETE FROM t", NULL, 0, NULL), EDB_BUSY); /* ended, not closed */
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    CHECK_INT(edb_rows_close(&r), EDB_CLOSED);
  }
  CHECK_INT(edb_begin(&c, &t2), EDB_INVALID_QUERY);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_BUSY); /* the statement */
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
  closed(&c, &s, &r, &t);
  CHECK_INT(unit_blocks, 0);
}

static void test_transactions(const char *url) {
  edb_connection c;
  edb_transaction t;
  edb_rows r;
  const edb_value *v;
  edb_parameter p[2] = {unit_i64(3), unit_text("three")};
  int64_t affected = -1;
  open_with_rows(url, &c);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO t VALUES (?, ?)", p, 2, &affected), EDB_OK);
  CHECK_INT(affected, 1);
  CHECK_INT(edb_transaction_execute(&t, "DELETE FROM t WHERE id = 1", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 1);
  CHECK_INT(edb_transaction_execute(&t, "CREATE TABLE u (a INTEGER)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_query(&t, "SELECT name FROM t WHERE id = ?", p, 1, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_TEXT(v[0].as.text.p, v[0].as.text.n, "three");
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(count(&c), 2); /* on the connection: inside the transaction too */
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_INT(edb_transaction_rollback(&t), EDB_CLOSED);
  CHECK_INT(edb_transaction_execute(&t, "DELETE FROM t", NULL, 0, NULL), EDB_CLOSED);
  CHECK_INT(count(&c), 2);
  CHECK_INT(edb_execute(&c, "DROP TABLE u", NULL, 0, NULL), EDB_INVALID_QUERY);
  CHECK_INT(edb_query(&c, "SELECT name FROM t WHERE id = 1", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  edb_rows_close(&r);

  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "DELETE FROM t WHERE id = 1", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO t VALUES (?, ?)", p, 2, NULL), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "DROP TABLE nowhere", NULL, 0, NULL), EDB_INVALID_QUERY);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK_INT(edb_transaction_query(&t, "SELECT * FROM t", NULL, 0, &r), EDB_CLOSED);
  CHECK_INT(count(&c), 2);

  /* A dropped table comes back with its rows. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "DROP TABLE t", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_INT(count(&c), 2);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(unit_blocks, 0);
}

static void test_bad(const char *url) {
  static const char *const bad[] = {"",
                                    ";",
                                    "nonsense",
                                    "SELECT",
                                    "SELECT * FROM",
                                    "SELECT * FROM t WHERE",
                                    "SELECT * FROM t WHERE id =",
                                    "SELECT nowhere FROM t",
                                    "SELECT id name, FROM t",
                                    "SELECT * FROM t WHERE nowhere = 1",
                                    "INSERT INTO t VALUES (1)",
                                    "INSERT INTO t VALUES (1, 2, 3)",
                                    "INSERT INTO t VALUES (1, 'two)",
                                    "INSERT INTO t VALUES (1, 2) 3",
                                    "INSERT INTO u VALUES (1)",
                                    "CREATE TABLE",
                                    "CREATE TABLE t (a)",
                                    "CREATE TABLE v (a",
                                    "DROP TABLE",
                                    "DROP TABLE u",
                                    "DELETE FROM u",
                                    "DELETE t"};
  edb_connection c;
  edb_statement s;
  edb_rows r;
  edb_parameter p[3] = {unit_i64(1), unit_i64(1), unit_i64(1)};
  open_with_rows(url, &c);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    int ok = CHECK_INT(edb_execute(&c, bad[i], NULL, 0, NULL), EDB_INVALID_QUERY);
    ok &= CHECK_INT(edb_query(&c, bad[i], NULL, 0, &r), EDB_INVALID_QUERY);
    ok &= CHECK_INT(edb_detail(&c)->code, EDB_INVALID_QUERY);
    ok &= CHECK(edb_detail(&c)->message[0] != 0);
    if (!ok) printf("  %s\n", bad[i]);
  }
  CHECK_INT(edb_prepare(&c, "nonsense", 0, &s), EDB_INVALID_QUERY);
  CHECK_INT(edb_execute(&c, "DELETE FROM t WHERE id = ?", p, 0, NULL), EDB_INVALID_QUERY);
  CHECK_INT(edb_execute(&c, "DELETE FROM t WHERE id = ?", p, 2, NULL), EDB_INVALID_QUERY);
  CHECK_INT(edb_prepare(&c, "INSERT INTO t VALUES (?, ?)", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_execute(&s, p, 3, NULL), EDB_INVALID_QUERY);
  CHECK_INT(edb_statement_query(&s, p, 1, &r), EDB_INVALID_QUERY);
  CHECK_INT(edb_statement_execute(&s, p, 2, NULL), EDB_OK);
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(count(&c), 3);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(unit_blocks, 0);
}

/* ---- Memory that runs out -------------------------------------------------------------------- */

/* Does a little of everything, and answers the first failure after having closed what was opened. */
static int everything(const char *url) {
  edb_connection c;
  edb_statement s = {NULL, NULL};
  edb_rows r = {NULL, NULL, 0};
  edb_transaction t = {NULL, NULL};
  edb_row row = {.host = &unit_host};
  edb_parameter p[2] = {
      unit_i64(4), unit_text("a text that does not fit into the first sixty-four bytes of a row")};
  const edb_value *v;
  edb_error e;
  int rc = edb_open(url, NULL, 0, &unit_host, &c, &e);
  if (rc != EDB_OK) return rc;
  rc = edb_execute(&c, "CREATE TABLE t (id INTEGER, name TEXT)", NULL, 0, NULL);
  if (rc == EDB_OK) rc = edb_prepare(&c, "INSERT INTO t VALUES (?, ?)", 0, &s);
  if (rc == EDB_OK) rc = edb_begin(&c, &t);
  for (int i = 0; rc == EDB_OK && i < 3; i++) rc = edb_statement_execute(&s, p, 2, NULL);
  if (rc == EDB_OK) rc = edb_transaction_execute(&t, "DELETE FROM t WHERE id = ?", p, 1, NULL);
  if (rc == EDB_OK) rc = edb_transaction_execute(&t, "INSERT INTO t VALUES (?, ?)", p, 2, NULL);
  if (rc == EDB_OK) rc = edb_transaction_commit(&t);
  if (rc == EDB_OK) rc = edb_query(&c, "SELECT * FROM t WHERE id = ?", p, 1, &r);
  if (rc == EDB_OK) rc = edb_rows_next(&r, &row) == EDB_ROW ? EDB_OK : EDB_NOMEM;
  if (rc == EDB_OK) rc = edb_rows_next_borrowed(&r, &v) == EDB_DONE ? EDB_OK : EDB_FAILED;
  edb_rows_close(&r);
  edb_row_clear(&row);
  edb_transaction_rollback(&t);
  edb_statement_close(&s);
  CHECK_INT(edb_close(&c), EDB_OK);
  return rc;
}

static void test_memory(const char *url) {
  int i, rc = EDB_NOMEM;
  for (i = 0; rc == EDB_NOMEM && i < 1000; i++) {
    unit_fail_in = i;
    rc = everything(url);
    if (!CHECK(rc == EDB_OK || rc == EDB_NOMEM) || !CHECK_INT(unit_blocks, 0)) {
      printf("  %s, allocation %d\n", url, i);
    }
  }
  CHECK_INT(rc, EDB_OK);
  CHECK(i > 5);
  unit_fail_in = -1;
}

static void test_placeholders(void) {
  static const edb_dialect numbered = {.placeholder = "$%d"}, named = {.placeholder = "@P%d"},
                           plain = {.placeholder = "?"};
  char out[EDB_PLACEHOLDER_TEXT];
  CHECK_STR(edb_placeholder(&numbered, 1, out), "$1");
  CHECK_STR(edb_placeholder(&numbered, 65535, out), "$65535");
  CHECK_STR(edb_placeholder(&named, 12, out), "@P12");
  CHECK_STR(edb_placeholder(&plain, 12, out), "?");
}

int main(void) {
  test_dialects();
  unit_use_sqlite();
  test_closed();
  test_fake();
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    test_rows(urls[i]);
    test_busy(urls[i]);
    test_transactions(urls[i]);
    test_bad(urls[i]);
    test_memory(urls[i]);
  }
  test_lent();
  test_placeholders();
  return unit_done("dispatch");
}
