/*
** postgresql_session.c: the PostgreSQL driver on a real server: the order of calls, transactions, errors,
** stopping, lost connections, failing memory.
**
** servers: postgresql
*/
#define LIVE_URL "EDB_TEST_POSTGRESQL_URL"
#include "live.h"

static const char *const fetches[] = {"single", "chunked", "copy", "auto"};
#define N_FETCHES 4

/* ---- Order, transactions, errors ------------------------------------------------------------- */

static void test_busy(void) {
  edb_connection c;
  edb_statement s, s2;
  edb_rows r, r2;
  edb_transaction t, t2;
  const edb_value *v;
  must_open(&c);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_begin(&c, &t2), EDB_INVALID_QUERY);
  CHECK_INT(edb_prepare(&c, "SELECT i FROM generate_series(1, 5) i", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_statement_execute(&s, NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_statement_close(&s), EDB_BUSY);
  CHECK_INT(edb_query(&c, "SELECT 1", NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s2), EDB_BUSY);
  CHECK_INT(edb_begin(&c, &t2), EDB_BUSY);
  CHECK_INT(edb_transaction_execute(&t, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_transaction_query(&t, "SELECT 1", NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_transaction_commit(&t), EDB_BUSY);
  CHECK_INT(edb_transaction_rollback(&t), EDB_BUSY);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_alive(&c), 1);
  /* The reader is none the worse for it, and still open at its end. */
  for (int i = 0; i < 4; i++) CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_CLOSED);
}

static void test_transactions(void) {
  edb_connection c;
  edb_transaction t;
  int64_t affected;
  must_open(&c);
  run(&c, "CREATE TEMP TABLE tx (i int PRIMARY KEY)");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1), (2)", NULL, 0, &affected),
            EDB_OK);
  CHECK_INT(affected, 2);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "0");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "1");
  /* A failed one is not committed in silence. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (2)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1)", NULL, 0, NULL),
            EDB_CONSTRAINT);
  CHECK_STR(edb_detail(&c)->sqlstate, "23505");
  CHECK(strstr(edb_detail(&c)->hint, "already exists") != NULL);
  CHECK_INT(edb_transaction_commit(&t), EDB_FAILED);
  CHECK_STR(edb_detail(&c)->message, "the transaction had failed and was rolled back");
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "1");
  /* A constraint that speaks up at COMMIT. */
  run(&c, "CREATE TEMP TABLE tx2 (i int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx2 VALUES (1), (1)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CONSTRAINT);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx2", 0, NULL, 0), "0");
  /* A reader that is closed early leaves its transaction alone, be it short or long. */
  for (int expected = 0; expected <= 100000; expected += 100000) {
    edb_statement s;
    edb_rows r;
    const edb_value *v;
    CHECK_INT(edb_begin(&c, &t), EDB_OK);
    CHECK_INT(edb_transaction_execute(&t, "DELETE FROM tx", NULL, 0, NULL), EDB_OK);
    CHECK_INT(edb_prepare(&c, "SELECT i FROM generate_series(1, 300000) i", expected, &s), EDB_OK);
    for (int i = 0; i < 3; i++) {
      CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
      CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
      CHECK_INT(edb_rows_close(&r), EDB_OK);
    }
    long rows;
    uint64_t sum;
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
    CHECK_INT(read_all(&r, &sum, &rows), EDB_DONE);
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    CHECK_INT(edb_statement_close(&s), EDB_OK);
    CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "0");
    CHECK_INT(edb_transaction_execute(&t, "INSERT INTO tx VALUES (1)", NULL, 0, NULL), EDB_OK);
    CHECK_INT(edb_transaction_commit(&t), EDB_OK);
    CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "1");
  }
  /* A write whose rows are not all read is done all the same. */
  edb_rows r;
  const edb_value *v;
  CHECK_INT(
      edb_query(&c,
                "INSERT INTO tx SELECT generate_series(2, 200000) RETURNING i, repeat('x', 200)",
                NULL, 0, &r),
      EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM tx", 0, NULL, 0), "200000");
  CHECK_INT(edb_execute(&c, "UPDATE tx SET i = -i WHERE i > 199998", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 2);
  CHECK_INT(edb_execute(&c, "VACUUM pg_class", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 0);
  CHECK_INT(edb_execute(&c, "DO $$ BEGIN END $$", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, -1);
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_errors(void) {
  edb_connection c;
  must_open(&c);
  CHECK_STR(one(&c, "SELECT * FROM ordrs", 0, NULL, 0),
            "error 5 42P01 relation \"ordrs\" does not exist");
  CHECK_STR(one(&c, "SELECT 1; SELECT 2", 0, NULL, 0),
            "error 5 42601 cannot insert multiple commands into a prepared statement");
  CHECK_INT(edb_execute(&c, "SELECT 1; SELECT 2", NULL, 0, NULL), EDB_INVALID_QUERY);
  CHECK_INT(edb_execute(&c, "COPY pg_class TO STDOUT", NULL, 0, NULL), EDB_UNSUPPORTED);
  run(&c, "SELECT '=r/edb'::aclitem FROM generate_series(1, 2)"); /* it has no binary form */
  CHECK_INT(edb_execute(&c, "COPY edb_written FROM STDIN", NULL, 0, NULL), EDB_UNSUPPORTED);
  CHECK_STR(one(&c, "COPY pg_class TO STDOUT", 0, NULL, 0),
            "error 8  COPY TO STDOUT is not supported");
  usable(&c);
  run(&c, "DO $$ BEGIN RAISE NOTICE 'hello from %', 'edb'; END $$");
  CHECK_STR(last_log, "NOTICE: hello from edb");
  run(&c, "LISTEN edb_channel");
  run(&c, "NOTIFY edb_channel, 'x'");
  usable(&c);
  CHECK_INT(edb_alive(&c), 1);
  /* Closed statements do not pile up at the server. */
  for (int i = 0; i < 300; i++) {
    edb_statement s;
    CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s), EDB_OK);
    edb_statement_close(&s);
  }
  CHECK_STR(one(&c, "SELECT count(*) < 40 FROM pg_prepared_statements", 0, NULL, 0), "true");
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_open_errors(void) {
  edb_connection c;
  edb_error e;
  const char *nopassword = getenv("EDB_TEST_POSTGRESQL_URL_NOPASSWORD");
  if (nopassword) {
    edb_option wrong = {"password", "wr0ng-secret"};
    CHECK_INT(edb_open(nopassword, &wrong, 1, &host, &c, &e), EDB_FAILED);
    CHECK(strstr(e.message, "password authentication failed") != NULL);
    CHECK(strstr(e.message, "wr0ng") == NULL);
  }
  edb_option missing = {"database", "edb_no_such_database"};
  CHECK_INT(edb_open(url, &missing, 1, &host, &c, &e), EDB_FAILED);
  CHECK(strstr(e.message, "database \"edb_no_such_database\" does not exist") != NULL);
  CHECK(strchr(e.message, '\n') == NULL);
  CHECK_INT(edb_open("postgresql://u:s3same@127.0.0.1:1/x", NULL, 0, &host, &c, &e), EDB_FAILED);
  CHECK(strstr(e.message, "refused") != NULL && strstr(e.message, "s3same") == NULL);
  CHECK_INT(edb_open("postgresql://u:s3same@no-such-host.invalid/x", NULL, 0, &host, &c, &e),
            EDB_FAILED);
  CHECK(e.message[0] && strstr(e.message, "s3same") == NULL);
  edb_option mode = {"sslmode", "sometimes"};
  CHECK_INT(edb_open(url, &mode, 1, &host, &c, &e), EDB_FAILED);
  CHECK(strstr(e.message, "invalid sslmode") != NULL);
  edb_option fetch = {"fetch", "slowly"};
  CHECK_INT(edb_open(url, &fetch, 1, &host, &c, &e), EDB_FAILED);
  CHECK_STR(e.message, "fetch=slowly: must be auto, single, chunked or copy");
  /* A server that accepts and says nothing: the time-out ends the wait. */
  edb_option timeout = {"connect_timeout", "1"};
  double since = seconds();
  CHECK_INT(edb_open("postgresql://u:s3same@192.0.2.1/x", &timeout, 1, &host, &c, &e) == EDB_OK, 0);
  CHECK(seconds() - since < 5);
  CHECK(edb_close(&c) == EDB_CLOSED);
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void *cancel_soon(void *connection) {
  usleep(300000);
  edb_cancel(connection);
  return NULL;
}

static void *interrupt_soon(void *unused) {
  (void)unused;
  usleep(300000);
  atomic_store(&interrupted, 1);
  return NULL;
}

/* What is to be stopped would else last longer than the runner waits: no clock is asked how long it took. */
static void test_stopping(const char *fetch) {
  edb_connection c;
  edb_statement s;
  edb_rows r;
  const edb_value *v;
  pthread_t thread;
  int rc;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  pthread_create(&thread, NULL, cancel_soon, &c);
  CHECK_INT(edb_execute(&c, "SELECT pg_sleep(3600)", NULL, 0, NULL), EDB_INTERRUPTED);
  pthread_join(thread, NULL);
  CHECK_STR(edb_detail(&c)->message, "interrupted");
  usable(&c);
  pthread_create(&thread, NULL, interrupt_soon, NULL);
  CHECK_INT(edb_query(&c, "SELECT pg_sleep(3600)", NULL, 0, &r), EDB_INTERRUPTED);
  pthread_join(thread, NULL);
  atomic_store(&interrupted, 0);
  usable(&c);
  host.timeout_ms = 300;
  CHECK_INT(edb_execute(&c, "SELECT pg_sleep(3600)", NULL, 0, NULL), EDB_INTERRUPTED);
  CHECK_STR(edb_detail(&c)->message, "the server did not answer within 300 ms");
  host.timeout_ms = 0;
  usable(&c);
  /* In the middle of rows. */
  CHECK_INT(edb_prepare(&c,
                        "SELECT i, CASE WHEN i > 2000 THEN pg_sleep(1)::text END FROM "
                        "generate_series(1, 100000) i",
                        100000, &s),
            EDB_OK);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  pthread_create(&thread, NULL, cancel_soon, &c);
  while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) continue;
  CHECK_INT(rc, EDB_INTERRUPTED);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  pthread_join(thread, NULL);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  usable(&c);
  /* While rows that nobody wants never stop coming. */
  pthread_create(&thread, NULL, interrupt_soon, NULL);
  CHECK_INT(edb_execute(&c,
                        "SELECT repeat('x', 100) FROM generate_series(1, 2000000) i, "
                        "generate_series(1, 2000000) k",
                        NULL, 0, NULL),
            EDB_INTERRUPTED);
  pthread_join(thread, NULL);
  atomic_store(&interrupted, 0);
  usable(&c);
  /* By the server's own time-out. */
  run(&c, "SET statement_timeout TO 200");
  CHECK_STR(one(&c, "SELECT pg_sleep(3600)", 0, NULL, 0),
            "error 3 57014 canceling statement due to statement timeout");
  run(&c, "SET statement_timeout TO 0");
  /* With nothing running, and before the next command. */
  CHECK_INT(edb_cancel(&c), EDB_OK);
  usable(&c);
  /* A waiting lock is given up too, in describing as in running. */
  edb_connection other;
  edb_transaction t;
  must_open(&other);
  CHECK_INT(edb_begin(&other, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "LOCK TABLE edb_written", NULL, 0, NULL), EDB_OK);
  host.timeout_ms = 300;
  CHECK_STR(one(&c, "SELECT * FROM edb_written", 0, NULL, 0),
            "error 3  the server did not answer within 300 ms");
  host.timeout_ms = 0;
  usable(&c);
  run(&c, "SET lock_timeout TO 100");
  CHECK_INT(edb_execute(&c, "SELECT * FROM edb_written", NULL, 0, NULL), EDB_BUSY);
  run(&c, "SET lock_timeout TO 0");
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_INT(edb_close(&other), EDB_OK);
  /* A reader closed long before its end, which never comes. */
  edb_statement_close(&s);
  CHECK_INT(edb_prepare(&c,
                        "WITH RECURSIVE n(i) AS (SELECT 1::int8 UNION ALL SELECT i + 1 FROM n) "
                        "SELECT i, repeat('x', 50) FROM n",
                        3e6, &s),
            EDB_OK);
  for (int i = 0; i < 3; i++) {
    CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
    for (int k = 0; k < 1000; k++) CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    usable(&c);
  }
  edb_statement_close(&s);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* The server ends our session: in mid-scan, and between commands. */
static void test_killed(const char *fetch) {
  edb_connection c, killer;
  edb_statement s;
  edb_rows r;
  edb_transaction t;
  const edb_value *v;
  int rc;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  must_open(&killer);
  edb_parameter pid = integer(strtoll(one(&c, "SELECT pg_backend_pid()", 0, NULL, 0), NULL, 10));
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(
      edb_prepare(&c, "SELECT i, repeat('x', 100) FROM generate_series(1, 3000000) i", 3e6, &s),
      EDB_OK);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_execute(&killer, "SELECT pg_terminate_backend($1::int8::int)", &pid, 1, NULL),
            EDB_OK);
  while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) continue;
  CHECK_INT(rc, EDB_CLOSED);
  CHECK(edb_detail(&c)->message[0] != 0);
  edb_rows_close(&r);
  CHECK_INT(edb_alive(&c), 0);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_CLOSED);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_CLOSED);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  edb_statement_close(&s);
  CHECK_INT(edb_close(&c), EDB_OK);

  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  pid = integer(strtoll(one(&c, "SELECT pg_backend_pid()", 0, NULL, 0), NULL, 10));
  CHECK_INT(edb_alive(&c), 1);
  CHECK_INT(edb_execute(&killer, "SELECT pg_terminate_backend($1::int8::int)", &pid, 1, NULL),
            EDB_OK);
  usleep(200000);
  CHECK_INT(edb_alive(&c), 0);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_CLOSED);
  CHECK_INT(edb_close(&c), EDB_OK);

  /* The same with nobody asking alive before. */
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  pid = integer(strtoll(one(&c, "SELECT pg_backend_pid()", 0, NULL, 0), NULL, 10));
  CHECK_INT(edb_execute(&killer, "SELECT pg_terminate_backend($1::int8::int)", &pid, 1, NULL),
            EDB_OK);
  usleep(200000);
  CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s), EDB_CLOSED);
  CHECK(edb_detail(&c)->message[0] != 0);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&killer), EDB_OK);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Each allocation fails once: an error, no leak, no crash. */
static void test_memory(void) {
  for (long n = 1; n < 200; n++) {
    edb_connection c;
    edb_error e;
    edb_rows r;
    const edb_value *v;
    long before = blocks;
    int ended = 0;
    fail_after = n;
    int rc = edb_open(url, NULL, 0, &host, &c, &e);
    if (rc == EDB_OK) {
      edb_parameter p[2] = {text("abc"), integer(5)};
      rc = edb_query(&c, "SELECT $1::text, $2::numeric(5,2), '{}'::int[], '1'::money", p, 2, &r);
      if (rc == EDB_OK) rc = edb_rows_next_borrowed(&r, &v);
      if (rc == EDB_ROW) rc = edb_rows_next_borrowed(&r, &v);
      ended = rc == EDB_DONE;
      edb_rows_close(&r);
      if (!ended) CHECK_INT(edb_detail(&c)->code, EDB_NOMEM);
      fail_after = 0;
      usable(&c);
      CHECK_INT(edb_close(&c), EDB_OK);
    }
    fail_after = 0;
    if (!ended) CHECK_INT(rc, EDB_NOMEM);
    CHECK_INT(blocks, before);
    if (ended) {
      CHECK(n > 10);
      break;
    }
  }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static const char *const setup[] = {
    "DROP TABLE IF EXISTS edb_written",
    "CREATE TABLE edb_written (i int)",
};

/* Savepoints, which are sent with what follows: each command finds those before it. */
static void test_savepoints(void) {
  edb_connection c;
  edb_transaction t;
  edb_statement insert;
  int64_t n;
  must_open(&c);
  run(&c, "CREATE TEMP TABLE saved (id int8 PRIMARY KEY)");
  CHECK_INT(edb_prepare(&c, "INSERT INTO saved VALUES ($1)", 0, &insert), EDB_OK);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  for (int64_t i = 1; i <= 3; i++) {
    edb_parameter id = integer(i);
    run(&c, "SAVEPOINT a");
    CHECK_INT(edb_statement_execute(&insert, &id, 1, &n), EDB_OK);
    CHECK_INT(n, 1);
    if (i < 3) run(&c, "RELEASE SAVEPOINT a");
  }
  /* The statement that fails undoes itself alone, and the savepoint before it stands. */
  edb_parameter again = integer(2);
  run(&c, "SAVEPOINT b");
  CHECK_INT(edb_statement_execute(&insert, &again, 1, &n), EDB_CONSTRAINT);
  CHECK_STR(edb_detail(&c)->sqlstate, "23505");
  CHECK_INT(edb_transaction_execute(&t, "SAVEPOINT c", NULL, 0, NULL), EDB_FAILED);
  CHECK_STR(edb_detail(&c)->sqlstate, "25P02");
  CHECK_INT(edb_transaction_execute(&t, "ROLLBACK TO SAVEPOINT b", NULL, 0, NULL), EDB_OK);
  run(&c, "RELEASE SAVEPOINT b");
  CHECK_STR(one(&c, "SELECT count(*) FROM saved", 0, NULL, 0), "3");
  run(&c, "ROLLBACK TO SAVEPOINT a");
  CHECK_STR(one(&c, "SELECT count(*) FROM saved", 0, NULL, 0), "2");
  /* A name that nobody has is told by the command behind it; and only the first two were released. */
  run(&c, "RELEASE SAVEPOINT a");
  run(&c, "RELEASE SAVEPOINT a");
  again = integer(9);
  CHECK_INT(edb_statement_execute(&insert, &again, 1, &n), EDB_FAILED);
  CHECK_STR(edb_detail(&c)->sqlstate, "3B001");
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM saved", 0, NULL, 0), "0");
  /* More names than are kept prepared, each first used before a statement that fails, and again before one that does not. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 7; i++) {
      char sql[40];
      edb_parameter id = integer(round == 0 ? 1 : 10 * round + i);
      snprintf(sql, sizeof sql, "SAVEPOINT name_%d", i);
      if (round == 0 && i == 0) CHECK_INT(edb_statement_execute(&insert, &id, 1, &n), EDB_OK);
      run(&c, sql);
      CHECK_INT(edb_statement_execute(&insert, &id, 1, &n), round ? EDB_OK : EDB_CONSTRAINT);
      snprintf(sql, sizeof sql, "%s SAVEPOINT name_%d", round ? "RELEASE" : "ROLLBACK TO", i);
      run(&c, sql);
    }
  }
  CHECK_STR(one(&c, "SELECT count(*) FROM saved", 0, NULL, 0), "15");
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  /* Behind one that fails, none is prepared. */
  for (int round = 0; round < 2; round++) {
    CHECK_INT(edb_begin(&c, &t), EDB_OK);
    if (round == 0) run(&c, "RELEASE SAVEPOINT nobody");
    run(&c, "SAVEPOINT behind");
    CHECK_INT(edb_statement_execute(&insert, &again, 1, &n), round ? EDB_OK : EDB_FAILED);
    CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  }
  /* The end of the transaction forgets what was not sent. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&c, "SAVEPOINT a");
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(edb_statement_execute(&insert, &again, 1, &n), EDB_OK);
  CHECK_INT(edb_statement_close(&insert), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* Reads the thousand rows of 10 / (i - $1), `most` of them at most. The code that ended it: EDB_ROW where rows were left. */
static int read_behind(edb_statement *s, int64_t zero, int most) {
  const edb_parameter p = integer(zero);
  const edb_value *v;
  edb_rows r;
  int rows = 0;
  int rc = edb_statement_query(s, &p, 1, &r);
  if (rc != EDB_OK) return rc;
  rc = EDB_ROW;
  while (rows < most && (rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) {
    CHECK_INT(v[0].as.i64, ++rows);
  }
  if (rc == EDB_DONE) CHECK_INT(rows, 1000);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  return rc;
}

/* A SELECT behind a savepoint comes with it, and however it ends, the savepoint is there. */
static void test_savepoints_of_readers(const char *fetch) {
  static const struct {
    int64_t zero;
    int most, rc;
  } readings[] = {{0, 2000, EDB_DONE},
                  {0, 1000, EDB_ROW},
                  {0, 0, EDB_ROW},
                  {0, 1, EDB_ROW},
                  {1, 2000, EDB_INVALID_QUERY},
                  {1000, 2000, EDB_INVALID_QUERY},
                  {700, 2000, EDB_INVALID_QUERY}};
  const int64_t never = -1;
  edb_connection c;
  edb_transaction t;
  edb_statement s, sleeps;
  edb_rows r;
  pthread_t thread;
  if (!CHECK_INT(open_with("fetch", fetch, &c), EDB_OK)) return;
  run(&c, "CREATE TEMP TABLE behind (i int8)");
  CHECK_INT(edb_prepare(&c, "SELECT i, 10 / (i - $1::int8) FROM generate_series(1, 1000) i", 1, &s),
            EDB_OK);
  CHECK_INT(edb_prepare(&c, "SELECT pg_sleep(30)::text", 1, &sleeps), EDB_OK);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
      run(&c, "INSERT INTO behind VALUES (1)");
      run(&c, "SAVEPOINT reader");
      CHECK_INT(read_behind(&s, readings[i].zero, readings[i].most), readings[i].rc);
      if (readings[i].rc != EDB_INVALID_QUERY) run(&c, "INSERT INTO behind VALUES (2)");
      run(&c, "ROLLBACK TO SAVEPOINT reader");
      run(&c, "RELEASE SAVEPOINT reader");
    }
  }
  CHECK_STR(one(&c, "SELECT string_agg(i::text, '') FROM behind", 0, NULL, 0), "'11111111111111'");
  /* One that is stopped. */
  run(&c, "SAVEPOINT reader");
  pthread_create(&thread, NULL, interrupt_soon, NULL);
  CHECK_INT(edb_statement_query(&sleeps, NULL, 0, &r), EDB_INTERRUPTED);
  pthread_join(thread, NULL);
  atomic_store(&interrupted, 0);
  run(&c, "ROLLBACK TO SAVEPOINT reader");
  /* A name that nobody has is the reader's error, and what is before it is as it was. */
  run(&c, "RELEASE SAVEPOINT nobody");
  CHECK_INT(read_behind(&s, never, 1), EDB_FAILED);
  CHECK_STR(edb_detail(&c)->sqlstate, "3B001");
  run(&c, "ROLLBACK TO SAVEPOINT reader");
  CHECK_INT(read_behind(&s, never, 2000), EDB_DONE);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM behind", 0, NULL, 0), "14");
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(edb_statement_close(&sleeps), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* Many runs that do not wait for each other: each one's count, and which one failed. */
static void test_each(void) {
  edb_connection c;
  edb_transaction t;
  edb_statement update, select;
  edb_parameter p[2 * 600];
  int64_t affected[600];
  size_t done;
  must_open(&c);
  run(&c, "CREATE TEMP TABLE eached (id int8 PRIMARY KEY, v int2 CHECK (v < 1000))");
  run(&c, "INSERT INTO eached SELECT i, 0 FROM generate_series(1, 600) AS i WHERE i <> 400");
  CHECK_INT(edb_can_run_each(&c), 1);
  CHECK_INT(edb_prepare(&c, "UPDATE eached SET v = $1 WHERE id = $2", 0, &update), EDB_OK);
  for (int i = 0; i < 600; i++) {
    p[2 * i] = integer(i);
    p[2 * i + 1] = integer(i + 1);
  }
  CHECK_INT(edb_statement_each(&update, p, 2, 600, affected, &done), EDB_OK);
  CHECK_INT(done, 600);
  for (int i = 0; i < 600; i++) CHECK_INT(affected[i], i != 399);
  CHECK_STR(one(&c, "SELECT sum(v) FROM eached", 0, NULL, 0), "179301");
  /* The server's error, behind a savepoint that travels along; then a parameter that does not fit. */
  static const struct {
    int64_t v;
    int code;
  } bad[] = {{1000, EDB_CONSTRAINT}, {100000, EDB_INVALID_QUERY}};
  for (size_t i = 0; i < 2; i++) {
    p[2 * 123] = integer(bad[i].v);
    CHECK_INT(edb_begin(&c, &t), EDB_OK);
    run(&c, "SAVEPOINT a");
    CHECK_INT(edb_statement_each(&update, p, 2, 300, affected, &done), bad[i].code);
    CHECK_INT(done, 123);
    CHECK_INT(edb_detail(&c)->code, bad[i].code);
    CHECK_INT(affected[122], 1);
    run(&c, "ROLLBACK TO SAVEPOINT a");
    CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  }
  CHECK_STR(one(&c, "SELECT sum(v) FROM eached", 0, NULL, 0), "179301");
  /* What gives rows is not run so. */
  CHECK_INT(edb_prepare(&c, "SELECT v FROM eached WHERE id = $1", 0, &select), EDB_OK);
  CHECK_INT(edb_statement_each(&select, p, 1, 2, affected, &done), EDB_UNSUPPORTED);
  CHECK_INT(edb_statement_close(&select), EDB_OK);
  CHECK_INT(edb_statement_close(&update), EDB_OK);
  CHECK_INT(edb_statement_each(&update, p, 2, 2, affected, &done), EDB_CLOSED);
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  if (!have_server("postgresql_session")) return 0;
  edb_connection c;
  must_open(&c);
  for (size_t i = 0; i < sizeof setup / sizeof setup[0]; i++) run(&c, setup[i]);
  printf("%s\n", edb_connection_driver(&c)->library());
  CHECK_INT(edb_close(&c), EDB_OK);
  test_busy();
  test_transactions();
  test_savepoints();
  test_each();
  test_errors();
  test_open_errors();
  for (int f = 0; f < N_FETCHES; f++) {
    test_savepoints_of_readers(fetches[f]);
    test_stopping(fetches[f]);
    test_killed(fetches[f]);
  }
  test_memory();
  CHECK_INT(blocks, 0);
  return unit_done("postgresql_session");
}
