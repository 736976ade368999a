/*
** The MySQL driver against a real server: the order of calls, transactions, errors, connecting, TLS, stopping,
** memory.
**
** servers: mysql
*/
#include "drivers/mysql.h" /* first: live.h has a host */

#define LIVE_URL "EDB_TEST_MYSQL_URL"
#include "live.h"

/* ---- Order, transactions, errors ------------------------------------------------------------- */

static void test_busy(void) {
  edb_connection c;
  edb_statement s, other;
  edb_rows r, r2;
  edb_transaction t;
  const edb_value *v;
  must_open(&c);
  CHECK_INT(edb_prepare(&c, "SELECT id FROM edb_many", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_statement_query(&s, NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_query(&c, "SELECT 1", NULL, 0, &r2), EDB_BUSY);
  CHECK_INT(edb_execute(&c, "DO 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &other), EDB_BUSY);
  CHECK_INT(edb_begin(&c, &t), EDB_BUSY);
  CHECK_INT(edb_statement_close(&s), EDB_BUSY);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK(edb_alive(&c));
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_transactions(void) {
  edb_connection c, d;
  edb_transaction t, u;
  edb_rows r;
  int64_t affected;
  must_open(&c);
  must_open(&d);
  run(&c, "DELETE FROM edb_t");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_begin(&c, &u), EDB_INVALID_QUERY);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_t VALUES (1, 'a'), (2, 'b')", NULL, 0,
                                    &affected),
            EDB_OK);
  CHECK_INT(affected, 2);
  CHECK_STR(one(&d, "SELECT COUNT(*) FROM edb_t", 0, NULL, 0), "0");
  CHECK_INT(edb_transaction_query(&t, "SELECT id FROM edb_t", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_BUSY);
  edb_rows_close(&r);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK_STR(one(&d, "SELECT COUNT(*) FROM edb_t", 0, NULL, 0), "2");
  /* Rolled back, and to a savepoint. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&c, "DELETE FROM edb_t WHERE id = 1");
  run(&c, "SAVEPOINT s");
  run(&c, "DELETE FROM edb_t");
  run(&c, "ROLLBACK TO s");
  CHECK_STR(one(&c, "SELECT COUNT(*) FROM edb_t", 0, NULL, 0), "1");
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT COUNT(*) FROM edb_t", 0, NULL, 0), "2");
  /* Matched rows count, also those that did not change. */
  CHECK_INT(edb_execute(&c, "UPDATE edb_t SET v = v", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 2);
  edb_parameter p = integer(2);
  CHECK_INT(edb_execute(&c, "UPDATE edb_t SET v = v WHERE id = ?", &p, 1, &affected), EDB_OK);
  CHECK_INT(affected, 1);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 0);
  /* Each statement by itself is one, whatever the server's default. */
  CHECK_STR(one(&d, "SELECT @@autocommit", 0, NULL, 0), "1");
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

/* DDL commits: that is logged, what follows is in a transaction again, a rollback says so. */
static void test_implicit_commit(void) {
  edb_connection c, d;
  edb_transaction t;
  must_open(&c);
  must_open(&d);
  run(&c, "DELETE FROM edb_t");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&c, "INSERT INTO edb_t VALUES (1, 'a')");
  last_log[0] = 0;
  run(&c, "CREATE TABLE edb_ddl (a int)");
  CHECK(strstr(last_log, "committed") != NULL);
  run(&c, "INSERT INTO edb_t VALUES (2, 'b')");
  CHECK_STR(one(&d, "SELECT COUNT(*) FROM edb_t", 0, NULL, 0), "1");
  CHECK_INT(edb_transaction_rollback(&t), EDB_FAILED);
  CHECK(strstr(edb_detail(&c)->message, "had been committed") != NULL);
  CHECK_STR(one(&d, "SELECT COUNT(*) FROM edb_t", 0, NULL, 0), "1");
  run(&c, "DROP TABLE edb_ddl");
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

static void *lock_the_other(void *connection) {
  return (void *)(intptr_t)edb_execute(connection, "UPDATE edb_t SET v = 'x' WHERE id = 1", NULL, 0,
                                       NULL);
}

/* The victim of a deadlock has no transaction any more, and nothing more is written by it. */
static void test_deadlock(void) {
  edb_connection c, d;
  edb_transaction t, u;
  pthread_t thread;
  void *other;
  must_open(&c);
  must_open(&d);
  run(&c, "DELETE FROM edb_t");
  run(&c, "INSERT INTO edb_t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_begin(&d, &u), EDB_OK);
  run(&c, "UPDATE edb_t SET v = 'c' WHERE id = 1");
  run(&d, "UPDATE edb_t SET v = 'd' WHERE id IN (2, 3)");
  pthread_create(&thread, NULL, lock_the_other, &d);
  usleep(300000);
  int rc = edb_transaction_execute(&t, "UPDATE edb_t SET v = 'c' WHERE id = 2", NULL, 0, NULL);
  edb_connection *lost = rc == EDB_BUSY ? &c : &d;
  edb_transaction *gone = rc == EDB_BUSY ? &t : &u;
  if (rc == EDB_BUSY) {
    CHECK_INT(edb_detail(&c)->vendor, 1213);
    CHECK_STR(edb_detail(&c)->sqlstate, "40001");
  }
  pthread_join(thread, &other);
  CHECK((rc == EDB_BUSY) != ((int)(intptr_t)other == EDB_BUSY));
  CHECK_INT(edb_execute(lost, "INSERT INTO edb_t VALUES (9, 'stray')", NULL, 0, NULL), EDB_FAILED);
  CHECK_STR(one(lost, "SELECT 1", 0, NULL, 0),
            "error 9  the server has rolled the transaction back; it takes no more statements");
  CHECK_INT(edb_transaction_commit(gone), EDB_FAILED);
  usable(lost);
  CHECK_INT(edb_transaction_rollback(&t), gone == &t ? EDB_CLOSED : EDB_OK);
  CHECK_INT(edb_transaction_rollback(&u), gone == &u ? EDB_CLOSED : EDB_OK);
  CHECK_STR(one(&c, "SELECT COUNT(*) FROM edb_t", 0, NULL, 0), "3");
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

static void test_errors(void) {
  static const struct {
    const char *sql;
    int code, vendor;
    const char *sqlstate;
  } cases[] = {
      {"INSERT INTO edb_t VALUES (1, 'again')", EDB_CONSTRAINT, 1062, "23000"},
      {"INSERT INTO edb_t VALUES (NULL, 'x')", EDB_CONSTRAINT, 1048, "23000"},
      {"INSERT INTO edb_t VALUES (7, 'bad')", EDB_CONSTRAINT, 4025, "23000"},
      {"INSERT INTO edb_child VALUES (99)", EDB_CONSTRAINT, 1452, "23000"},
      {"INSERT INTO edb_t (v) VALUES ('x')", EDB_CONSTRAINT, 1364, "HY000"},
      {"SELEC 1", EDB_INVALID_QUERY, 1064, "42000"},
      {"SELECT * FROM nowhere", EDB_INVALID_QUERY, 1146, "42S02"},
      {"SELECT nothing FROM edb_t", EDB_INVALID_QUERY, 1054, "42S22"},
      {"INSERT INTO edb_t VALUES ('x', 'x')", EDB_INVALID_QUERY, 1366, "22007"},
      {"SELECT 1; SELECT 2", EDB_INVALID_QUERY, 1064, "42000"},
      {"", EDB_INVALID_QUERY, 1065, "42000"},
  };
  edb_connection c;
  edb_statement s;
  must_open(&c);
  run(&c, "DELETE FROM edb_t");
  run(&c, "INSERT INTO edb_t VALUES (1, 'a')");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int rc = edb_execute(&c, cases[i].sql, NULL, 0, NULL);
    unit_check_int(rc, cases[i].code, __FILE__, __LINE__, cases[i].sql);
    CHECK_INT(edb_detail(&c)->vendor, cases[i].vendor);
    CHECK_STR(edb_detail(&c)->sqlstate, cases[i].sqlstate);
    rc = edb_prepare(&c, cases[i].sql, 0, &s);
    if (rc == EDB_OK) rc = edb_statement_execute(&s, NULL, 0, NULL);
    unit_check_int(rc, cases[i].code, __FILE__, __LINE__, cases[i].sql);
    edb_statement_close(&s);
  }
  /* An error behind some rows. */
  edb_rows r;
  const edb_value *v;
  int rc;
  long rows = 0;
  CHECK_INT(edb_query(&c,
                      "SELECT id, IF(id = 5000, (SELECT 1 UNION SELECT 2), 0) FROM edb_many "
                      "ORDER BY id",
                      NULL, 0, &r),
            EDB_OK);
  while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) rows++;
  CHECK_INT(rc, EDB_INVALID_QUERY);
  CHECK_INT(edb_detail(&c)->vendor, 1242);
  CHECK(rows < 5000);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* What cannot be prepared goes all the same; a CALL gives its first result. */
static void test_other_statements(void) {
  edb_connection c;
  edb_rows r;
  const edb_value *v;
  must_open(&c);
  edb_parameter p = text("it's");
  run(&c, "LOCK TABLES edb_t READ");
  run(&c, "UNLOCK TABLES");
  edb_statement s;
  CHECK_INT(edb_prepare(&c, "LOCK TABLES edb_t READ", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_execute(&s, NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  run(&c, "UNLOCK TABLES");
  CHECK_INT(edb_query(&c, "CALL edb_two(?)", &p, 1, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_STR(shown(&v[0]), "'it's'");
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  usable(&c);
  CHECK_INT(edb_query(&c, "CALL edb_two(?)", &p, 1, &r), EDB_OK);
  edb_rows_close(&r);
  usable(&c);
  CHECK_INT(edb_execute(&c, "CALL edb_two('x')", NULL, 0, NULL), EDB_OK);
  usable(&c);
  CHECK_INT(edb_query(&c, "DO 1", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- Connecting -------------------------------------------------------------------------------- */

/* Opens with options beside the URL; the message of its failure, or "open". */
static const char *opened(const edb_option *options, size_t n) {
  static edb_error e;
  edb_connection c;
  if (edb_open(url, options, n, &host, &c, &e) != EDB_OK) return e.message;
  snprintf(e.message, sizeof e.message, "open %s",
           one(&c,
               "SELECT IF(VARIABLE_VALUE = '', 'plain', 'encrypted') FROM "
               "information_schema.session_status WHERE VARIABLE_NAME = 'Ssl_cipher'",
               0, NULL, 0));
  usable(&c);
  edb_close(&c);
  return e.message;
}

static void test_tls(void) {
  const char *ca = getenv("EDB_TEST_MYSQL_CA"), *other = getenv("EDB_TEST_MYSQL_OTHER_CA");
  if (!ca || !other) return;
  edb_option mode[] = {{"ssl-mode", "DISABLED"}, {"ssl-ca", ca}, {"host", "127.0.0.1"}};
  CHECK_STR(opened(mode, 1), "open 'plain'");
  mode[0].value = "PREFERRED";
  CHECK_STR(opened(mode, 1), "open 'encrypted'");
  mode[0].value = "REQUIRED"; /* verifies, and this authority is not the system's */
  CHECK(strncmp(opened(mode, 1), "no connection to ", 17) == 0);
  mode[0].value = "VERIFY_IDENTITY";
  CHECK_STR(opened(mode, 3), "open 'encrypted'");
  mode[0].value = "VERIFY_CA";
  CHECK_STR(opened(mode, 3), "open 'encrypted'");
  CHECK_STR(opened(mode + 1, 1), "open 'encrypted'");
  mode[1].value = other;
  CHECK(strncmp(opened(mode, 3), "no connection to ", 17) == 0);
  CHECK(strncmp(opened(mode + 1, 1), "no connection to ", 17) == 0);
  mode[1].value = ca; /* the right one, for another name */
  mode[2].value = "127.0.0.2";
  mode[0].value = "VERIFY_IDENTITY";
  CHECK(strncmp(opened(mode, 3), "no connection to ", 17) == 0);
  mode[0].value = "REQUIRED";
  CHECK(strncmp(opened(mode, 3), "no connection to ", 17) == 0);
  mode[1] = (edb_option){"ssl-verify-server-cert", "0"};
  CHECK_STR(opened(mode, 3), "open 'encrypted'");
}

static void test_connecting(void) {
  edb_option wrong = {"password", "not it"}, port = {"port", "1"};
  const char *message = opened(&wrong, 1);
  CHECK(strstr(message, "Access denied") != NULL);
  CHECK(strstr(message, "not it") == NULL);
  message = opened(&port, 1);
  CHECK(strncmp(message, "no connection to 127.0.0.1:1: ", 30) == 0);
  const char *path = getenv("EDB_TEST_MYSQL_SOCKET");
  edb_option through = {"socket", path};
  if (path) CHECK_STR(opened(&through, 1), "open 'plain'");
  edb_option compress = {"compress", "1"};
  CHECK(strncmp(opened(&compress, 1), "open", 4) == 0);
  /* The server is asked for a file of ours. */
  edb_connection c;
  must_open(&c);
  CHECK(edb_execute(&c, "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE edb_t", NULL, 0, NULL) !=
        EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* The session is the same whatever the server's configuration. */
static void test_session(void) {
  static const char *const same[][2] = {
      {"SELECT @@time_zone", "'+00:00'"},
      {"SELECT @@sql_mode", "'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ALLOW_INVALID_DATES,"
                            "NO_ENGINE_SUBSTITUTION'"},
      {"SELECT @@character_set_client", "'utf8mb4'"},
      {"SELECT @@character_set_results", "'utf8mb4'"},
      {"SELECT @@completion_type", "'NO_CHAIN'"},
      {"SELECT @@sql_select_limit > 1000000", "1"},
      {"SELECT 1 / 3", "'0.3333'"},
      {"SELECT \"a\"", "'a'"},
      {"SELECT 'a\\'b'", "'a'b'"},
  };
  edb_connection c;
  must_open(&c);
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    CHECK_STR(one(&c, same[i][0], 0, NULL, 0), same[i][1]);
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void *cancel_soon(void *connection) {
  usleep(200000);
  edb_cancel(connection);
  return NULL;
}

static void *interrupt_soon(void *unused) {
  usleep(200000);
  atomic_store(&interrupted, 1);
  return unused;
}

/* A command that takes long is stopped at once, by each of three ways, at each place; then all is well. */
static void test_stopping(int textual) {
  static const char *const slow[] = {
      "SELECT SLEEP(20)", "SELECT id, SLEEP(id > 5000) FROM edb_many",
      ("SET @n = (SELECT COUNT(*) FROM edb_many a, edb_many b, edb_many c "
       "WHERE a.id + b.id + c.id < 0)")};
  edb_connection c;
  must_open(&c);
  atomic_store(&my_layout_state, textual ? MY_LAYOUT_MISFIT : MY_LAYOUT_FITS);
  for (int way = 0; way < 3; way++) {
    for (int i = 0; i < 3; i++) {
      /* Between rows a library without a callback is not ours to stop. */
      if (i == 1 && my_layout_used->opt_io_wait < 0) continue;
      pthread_t thread = 0;
      edb_rows r = {0};
      const edb_value *v;
      double start = seconds();
      if (way == 0) pthread_create(&thread, NULL, cancel_soon, &c);
      if (way == 1) pthread_create(&thread, NULL, interrupt_soon, NULL);
      if (way == 2) host.timeout_ms = 300;
      int rc =
          i == 2 ? edb_execute(&c, slow[i], NULL, 0, NULL) : edb_query(&c, slow[i], NULL, 0, &r);
      while (i < 2 && rc == EDB_OK && (rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) rc = EDB_OK;
      if (!CHECK_INT(rc, EDB_INTERRUPTED)) printf("  way %d, %s: %s\n", way, slow[i], why(&c));
      edb_rows_close(&r);
      if (!CHECK(seconds() - start < 2)) printf("  way %d, %s\n", way, slow[i]);
      if (thread) pthread_join(thread, NULL);
      atomic_store(&interrupted, 0);
      host.timeout_ms = 0;
      usable(&c);
      CHECK(edb_alive(&c));
    }
  }
  atomic_store(&my_layout_state, MY_LAYOUT_FITS);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* The same with a library that does not call back while it waits, as libmysqlclient. */
static void test_without_callback(void) {
  const my_layout *real = my_layout_used;
  my_layout without = *real;
  without.opt_io_wait = -1;
  my_layout_used = &without;
  test_stopping(0);
  test_transactions();
  test_errors();
  my_layout_used = real;
}

/* Half-read results are ended without reading the rest; what comes next is not hit by it. */
static void test_early_close(void) {
  static const char *const sql[] = {
      "SELECT a.id FROM edb_many a, edb_many b", /* 100 million rows */
      "SELECT id FROM edb_many LIMIT 3", "SELECT id FROM edb_many",
      "SELECT REPEAT('x', 100000) FROM edb_many"};
  edb_connection c;
  must_open(&c);
  for (int textual = 0; textual < 2; textual++) {
    atomic_store(&my_layout_state, textual ? MY_LAYOUT_MISFIT : MY_LAYOUT_FITS);
    for (int i = 0; i < 40; i++) {
      edb_rows r;
      const edb_value *v;
      double start = seconds();
      CHECK_INT(edb_query(&c, sql[i % 4], NULL, 0, &r), EDB_OK);
      for (int k = 0; k < i % 3; k++) CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
      CHECK_INT(edb_rows_close(&r), EDB_OK);
      CHECK(seconds() - start < 1);
      usable(&c);
    }
  }
  atomic_store(&my_layout_state, MY_LAYOUT_FITS);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* A cancel that comes while nothing runs, or just as something ends, does no harm to what follows. */
static void test_late_cancels(void) {
  edb_connection c;
  must_open(&c);
  for (int i = 0; i < 10; i++) { /* as late as can be: it hits when nothing runs any more */
    CHECK(my_kill(c.context));
    usleep(20000);
    usable(&c);
    CHECK(my_kill(c.context));
    CHECK_INT(edb_execute(&c, "DO 1", NULL, 0, NULL), EDB_OK);
  }
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    char sql[60];
    edb_cancel(&c);
    usable(&c);
    snprintf(sql, sizeof sql, "DO SLEEP(0.2%03d)", i * 10);
    pthread_create(&thread, NULL, cancel_soon, &c);
    edb_execute(&c, sql, NULL, 0, NULL);
    pthread_join(thread, NULL);
    usable(&c);
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* The server ends our session: in mid-scan, and between commands. */
static void test_killed(void) {
  edb_connection c, killer;
  edb_rows r;
  edb_transaction t;
  const edb_value *v;
  char sql[60];
  int rc;
  must_open(&killer);
  must_open(&c);
  snprintf(sql, sizeof sql, "KILL %s", one(&c, "SELECT CONNECTION_ID()", 0, NULL, 0));
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&killer, sql);
  usleep(100000);
  CHECK(!edb_alive(&c));
  if (!CHECK_INT(edb_execute(&c, "DO 1", NULL, 0, NULL), EDB_CLOSED)) printf("%s\n", why(&c));
  CHECK(!edb_alive(&c));
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK_INT(edb_close(&c), EDB_OK);

  must_open(&c);
  snprintf(sql, sizeof sql, "KILL %s", one(&c, "SELECT CONNECTION_ID()", 0, NULL, 0));
  CHECK_INT(edb_query(&c, "SELECT REPEAT('x', 10000) FROM edb_many", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  run(&killer, sql);
  while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) continue;
  CHECK_INT(rc, EDB_CLOSED);
  edb_rows_close(&r);
  CHECK(!edb_alive(&c));
  CHECK_INT(edb_execute(&c, "DO 1", NULL, 0, NULL), EDB_CLOSED);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&killer), EDB_OK);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int all_of_it(void) {
  edb_connection c;
  edb_error e;
  edb_statement s = {0};
  edb_rows r = {0};
  const edb_value *v;
  edb_parameter p[] = {text("a text of some length that is kept in a place of its own, as it is "
                            "longer than the first sixty-four bytes"),
                       integer(3)};
  int rc = edb_open(url, NULL, 0, &host, &c, &e);
  if (rc != EDB_OK) return rc;
  rc = edb_prepare(&c, "SELECT id, CONCAT(?, id), REPEAT('x', 2000) FROM edb_many LIMIT ?", 0, &s);
  if (rc == EDB_OK) rc = edb_statement_query(&s, p, 2, &r);
  while (rc == EDB_OK && (rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) rc = EDB_OK;
  edb_rows_close(&r);
  edb_statement_close(&s);
  CHECK_INT(edb_close(&c), EDB_OK);
  return rc;
}

/* Each allocation fails once: an error, no leak, no crash. */
static void test_memory(void) {
  for (int textual = 0; textual < 2; textual++) {
    int rc = EDB_NOMEM;
    atomic_store(&my_layout_state, textual ? MY_LAYOUT_MISFIT : MY_LAYOUT_FITS);
    for (long n = 1; n < 200 && rc != EDB_DONE; n++) {
      fail_after = n;
      rc = all_of_it();
      CHECK(rc == EDB_NOMEM || rc == EDB_DONE);
      CHECK_INT(blocks, 0);
    }
    fail_after = 0;
    CHECK_INT(rc, EDB_DONE);
  }
  atomic_store(&my_layout_state, MY_LAYOUT_FITS);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static const char *const setup[] = {
    "DROP TABLE IF EXISTS edb_child",
    "CREATE OR REPLACE TABLE edb_t (id int PRIMARY KEY, v varchar(20), CHECK (v <> 'bad')) "
    "ENGINE=InnoDB",
    "CREATE OR REPLACE TABLE edb_child (t int, FOREIGN KEY (t) REFERENCES edb_t (id)) "
    "ENGINE=InnoDB",
    "CREATE OR REPLACE TABLE edb_many (id int PRIMARY KEY) ENGINE=InnoDB SELECT seq AS id FROM "
    "seq_1_to_10000",
    "CREATE OR REPLACE PROCEDURE edb_two(t varchar(20) CHARACTER SET utf8mb4) BEGIN SELECT t; "
    "SELECT id FROM edb_many; END",
};

int main(void) {
  if (!have_server("mysql_session")) return 0;
  edb_connection c;
  must_open(&c);
  for (size_t i = 0; i < sizeof setup / sizeof setup[0]; i++) run(&c, setup[i]);
  CHECK_INT(edb_close(&c), EDB_OK);
  test_busy();
  test_transactions();
  test_implicit_commit();
  test_deadlock();
  test_errors();
  test_other_statements();
  test_tls();
  test_connecting();
  test_session();
  test_stopping(0);
  test_stopping(1);
  test_without_callback();
  test_early_close();
  test_late_cancels();
  test_killed();
  test_memory();
  CHECK_INT(blocks, 0);
  return unit_done("mysql_session");
}
