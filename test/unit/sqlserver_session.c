/*
** The SQL Server driver against a tdsd of its own, which is told to misbehave: encryption, certificates, routing,
** transactions, errors, stopping, and replies that are cut, chopped and broken off.
*/
#include "tdsd.h"

/* ---- Encryption ------------------------------------------------------------------------------------ */

static void test_encryption(void) {
  static const char *const ciphers[] = {"&cipher=portable", "&cipher=auto", "&packet_size=512",
                                        "&packet_size=16383"};
  for (int mandatory = 0; mandatory < 2; mandatory++) {
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++) {
      char options[100];
      snprintf(options, sizeof options, "%s%s", ciphers[i], mandatory ? "&encrypt=mandatory" : "");
      CHECK_STR(opened("127.0.0.1", options), "42");
    }
  }
  tell("tls 1.2 1.2");
  CHECK_STR(opened("localhost", ""), "42");
  tell("tls 1.3 1.3");
  CHECK_STR(opened("localhost", ""), "42");
  tell("tls 1.2 1.3");
  HAS(opened("127.0.0.1", "&encrypt=off"), "strict or mandatory");
  tell("policy none");
  HAS(opened("127.0.0.1", "&encrypt=mandatory"), "does not encrypt");
  tell("policy required");
  tell("fault alpn 2");
  HAS(opened("127.0.0.1", ""), "TLS with");
  tell("fault alpn 1");
  CHECK_STR(opened("127.0.0.1", ""), "42");
  tell("fault reset");
}

/* A pin is the server's own key, as OpenSSL says what that is; another one is refused also where the system's
** authorities would vouch for the server. */
static void test_pins(void) {
  char command[2400], pin[65] = "", path[1100];
  edb_connection c;
  edb_error e;
  snprintf(command, sizeof command,
           "openssl x509 -in %s/good.pem -noout -pubkey | openssl pkey -pubin -outform DER |"
           " openssl dgst -sha256 -r",
           dir);
  FILE *f = popen(command, "r");
  CHECK(f != NULL && fread(pin, 1, 64, f) == 64);
  if (f) pclose(f);
  snprintf(path, sizeof path, "%s/ca.pem", dir);
  setenv("SSL_CERT_FILE", path, 1);
  for (int wrong = 0; wrong < 2; wrong++) {
    if (wrong) pin[63] = pin[63] == '0' ? '1' : '0';
    snprintf(made, sizeof made, "sqlserver://edb:s3cret%%40edb@127.0.0.1:%d/master?pin=%s", port,
             pin);
    CHECK_INT(edb_open(made, NULL, 0, &host, &c, &e), wrong ? EDB_FAILED : EDB_OK);
    if (!wrong) CHECK_INT(edb_close(&c), EDB_OK);
  }
  unsetenv("SSL_CERT_FILE");
}

static void test_certificates(void) {
  static const char *const modes[] = {"", "&encrypt=mandatory"};
  for (size_t i = 0; i < 2; i++) {
    char options[100];
    tell("cert wrong-name");
    HAS(opened("127.0.0.1", modes[i]), "bad_certificate");
    snprintf(options, sizeof options, "%s&server_name=elsewhere.test", modes[i]);
    CHECK_STR(opened("127.0.0.1", options), "42");
    tell("cert expired");
    HAS(opened("127.0.0.1", modes[i]), "certificate_expired");
    tell("cert self-signed");
    HAS(opened("127.0.0.1", modes[i]), "TLS with");
    tell("cert good");
  }
  edb_connection c;
  edb_error e;
  snprintf(made, sizeof made, "sqlserver://edb:s3cret%%40edb@127.0.0.1:%d/master?pin=%064d", port,
           0);
  CHECK(edb_open(made, NULL, 0, &host, &c, &e) != EDB_OK);
  HAS(e.message, "TLS with");
  HAS(opened("127.0.0.1", "&pin=00"), "one of them is wanted");
  test_pins();
}

static void test_login(void) {
  edb_connection c;
  edb_error e;
  snprintf(made, sizeof made, "sqlserver://edb:wr0ng@127.0.0.1:%d/master?ca=%s/ca.pem", port, dir);
  CHECK_INT(edb_open(made, NULL, 0, &host, &c, &e), EDB_FAILED);
  CHECK_INT(e.vendor, 18456);
  CHECK(strstr(e.message, "wr0ng") == NULL);
  snprintf(made, sizeof made, "sqlserver://edb:s3cret%%40edb@127.0.0.1:%d/none?ca=%s/ca.pem", port,
           dir);
  CHECK_INT(edb_open(made, NULL, 0, &host, &c, &e), EDB_CLOSED);
  CHECK_INT(e.vendor, 4060);
  /* An instance's port is asked for. */
  snprintf(
      made, sizeof made,
      "sqlserver://edb:s3cret%%40edb@127.0.0.1/master?ca=%s/ca.pem&instance=TDSD&browser_port=%d",
      dir, browser_port);
  CHECK_INT(edb_open(made, NULL, 0, &host, &c, &e), EDB_OK);
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_routing(void) {
  tell("route localhost");
  tell("fault route 1");
  CHECK_STR(opened("127.0.0.1", ""), "42");
  tell("fault route 2");
  CHECK_STR(opened("127.0.0.1", "&encrypt=mandatory"), "42");
  tell("fault route 9");
  HAS(opened("127.0.0.1", ""), "on and on");
  tell("fault route 0");
  /* The certificate must be the new host's. */
  tell("route 127.0.0.2");
  tell("fault route 1");
  CHECK(strcmp(opened("127.0.0.1", ""), "42") != 0);
  tell("route localhost");
  tell("cert wrong-name");
  CHECK_STR(opened("127.0.0.1", "&server_name=elsewhere.test"), "42");
  tell("fault route 1");
  HAS(opened("127.0.0.1", "&server_name=elsewhere.test"), "bad_certificate");
  tell("cert good");
  tell("fault reset");
}

/* ---- Transactions ------------------------------------------------------------------------------------- */

static void test_transactions(void) {
  edb_connection c, d;
  edb_transaction t, u;
  open_own(&c, "");
  open_own(&d, "&encrypt=mandatory");
  run(&c, "CREATE TABLE edb_t (id int NOT NULL PRIMARY KEY, v int)");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_begin(&c, &u), EDB_INVALID_QUERY);
  run(&c, "INSERT INTO edb_t VALUES (1, 1)");
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM edb_t", 0, NULL, 0), "0");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&c, "INSERT INTO edb_t VALUES (1, 1)");
  CHECK_INT(edb_execute(&c, "INSERT INTO edb_t VALUES (1, 2)", NULL, 0, NULL), EDB_CONSTRAINT);
  CHECK_INT(edb_detail(&c)->vendor, 2627);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_STR(one(&d, "SELECT count(*) FROM edb_t", 0, NULL, 0), "1");
  /* Ended by the server: nothing more is done, and nothing committed by itself. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&c, "SET XACT_ABORT ON");
  run(&c, "INSERT INTO edb_t VALUES (2, 2)");
  CHECK_INT(edb_execute(&c, "INSERT INTO edb_t VALUES (1, 2)", NULL, 0, NULL), EDB_CONSTRAINT);
  CHECK_INT(edb_execute(&c, "INSERT INTO edb_t VALUES (3, 3)", NULL, 0, NULL), EDB_FAILED);
  HAS(edb_detail(&c)->message, "ended by the server");
  CHECK_INT(edb_transaction_commit(&t), EDB_FAILED);
  run(&c, "SET XACT_ABORT OFF");
  CHECK_STR(one(&d, "SELECT count(*) FROM edb_t", 0, NULL, 0), "1");
  /* A lock that is not granted. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&c, "UPDATE edb_t SET v = 5");
  run(&d, "SET LOCK_TIMEOUT 100");
  CHECK_INT(edb_execute(&d, "UPDATE edb_t SET v = 6", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  run(&c, "DROP TABLE edb_t");
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

/* Ended or doomed by the server in ways that a statement's error does not tell by itself: nothing more is done in the
** transaction, and nothing of it is kept. */
static void test_doomed(void) {
  static const struct {
    const char *sql;
    int vendor;
  } cases[] = {
      {"INSERT INTO edb_d VALUES (2, 2)", 1205}, /* the victim of a deadlock */
      {"SET XACT_ABORT ON; BEGIN TRY INSERT INTO edb_d VALUES (1, 1) END TRY BEGIN CATCH SELECT 1 "
       "END CATCH",
       3998},
      {"ROLLBACK; SELECT 1", 0},
  };
  edb_connection c;
  edb_transaction t;
  open_own(&c, "");
  run(&c, "CREATE TABLE edb_d (id int NOT NULL PRIMARY KEY, v int)");
  run(&c, "INSERT INTO edb_d VALUES (1, 1)");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_INT(edb_begin(&c, &t), EDB_OK);
    run(&c, "INSERT INTO edb_d VALUES (5, 5)");
    if (cases[i].vendor == 1205) fault(&c, "deadlock", 1);
    const int rc = edb_execute(&c, cases[i].sql, NULL, 0, NULL);
    CHECK_INT(rc, cases[i].vendor == 1205 ? EDB_BUSY
                  : cases[i].vendor       ? EDB_INVALID_QUERY
                                          : EDB_OK);
    CHECK_INT(edb_detail(&c)->vendor, cases[i].vendor);
    CHECK_INT(edb_execute(&c, "INSERT INTO edb_d VALUES (6, 6)", NULL, 0, NULL), EDB_FAILED);
    HAS(edb_detail(&c)->message, "ended by the server");
    HAS(edb_detail(&c)->hint, "roll it back");
    CHECK_INT(i % 2 ? edb_transaction_commit(&t) : edb_transaction_rollback(&t),
              i % 2 ? EDB_FAILED : EDB_OK);
    CHECK_STR(one(&c, "SELECT count(*) FROM edb_d", 0, NULL, 0), "1");
    run(&c, "SET XACT_ABORT OFF");
  }
  /* A savepoint, to which is gone back by the server's own words. */
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  run(&c, "SAVE TRANSACTION s");
  run(&c, "INSERT INTO edb_d VALUES (7, 7)");
  run(&c, "ROLLBACK TRANSACTION s");
  run(&c, "INSERT INTO edb_d VALUES (8, 8)");
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT sum(id) FROM edb_d", 0, NULL, 0), "9");
  run(&c, "DROP TABLE edb_d");
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* The connection breaks off: what was open on it says so, whatever is asked of it, and can be closed. */
static void test_killed(void) {
  edb_connection c;
  edb_transaction t;
  edb_statement s;
  edb_rows r;
  edb_parameter p = integer(1);
  int64_t affected;
  for (int when = 0; when < 3; when++) {
    open_own(&c, when == 1 ? "&encrypt=mandatory" : "");
    CHECK_INT(edb_prepare(&c, "SELECT ?", 0, &s), EDB_OK);
    for (int i = 0; i < 3; i++) CHECK_INT(edb_statement_execute(&s, &p, 1, &affected), EDB_OK);
    if (when == 1) CHECK_INT(edb_begin(&c, &t), EDB_OK);
    if (when == 2)
      CHECK_INT(
          edb_query(&c, "SELECT a.name FROM sys.all_columns a, sys.all_columns b", NULL, 0, &r),
          EDB_OK);
    tell("kill");
    if (when == 2) {
      const edb_value *v;
      int rc;
      while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) {
      }
      CHECK_INT(rc, EDB_CLOSED);
      HAS(edb_detail(&c)->message, "127.0.0.1");
      edb_rows_close(&r);
    }
    CHECK_INT(edb_statement_execute(&s, &p, 1, &affected), EDB_CLOSED);
    CHECK(!edb_alive(&c));
    CHECK_INT(edb_statement_query(&s, &p, 1, &r), EDB_CLOSED);
    CHECK_INT(edb_statement_close(&s), EDB_OK);
    if (when == 1) CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
    CHECK_INT(edb_close(&c), EDB_OK);
  }
}

/* ---- Replies that are broken ----------------------------------------------------------------------------- */

#define QUERY                                                                                      \
  "SELECT 7, N'h\xc3\xa9\xf0\x9f\x98\x80', NULL, 1.50, CAST(N'long' AS nvarchar(max)) UNION ALL "  \
  "SELECT 8, N'b', 2, NULL, NULL"

static uint64_t sum_of(edb_connection *c, int *rc) {
  edb_rows r;
  uint64_t sum = 0;
  long rows = 0;
  *rc = edb_query(c, QUERY, NULL, 0, &r);
  if (*rc != EDB_OK) return 0;
  *rc = read_all(&r, &sum, &rows);
  edb_rows_close(&r);
  return sum;
}

/* Columns are described anew where anything about them differs from the last ones. */
static void test_columns(void) {
  static const struct {
    const char *sql, *columns;
  } cases[] = {{"SELECT 1 AS a, 2 AS b", "a int, b int"},
               {"SELECT 1 AS a, 2 AS c", "a int, c int"},
               {"SELECT 1 AS ac, 2 AS \"\"", "ac int,  int"},
               {"SELECT 1 AS a, 2 AS c, 3 AS d", "a int, c int, d int"},
               {"SELECT 1 AS a", "a int"},
               {"SELECT CAST(1 AS bigint) AS a", "a bigint"},
               {"SELECT CAST(N'x' AS nvarchar(4)) AS a", "a nvarchar(4)"},
               {"SELECT CAST(N'x' AS nvarchar(5)) AS a", "a nvarchar(5)"},
               {"SELECT CAST(1 AS decimal(5,1)) AS a", "a decimal(5,1)"},
               {"SELECT CAST(1 AS decimal(5,2)) AS a", "a decimal(5,2)"}};
  edb_connection c;
  open_own(&c, "");
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
      edb_rows r;
      const edb_column *columns;
      char text[200] = "";
      size_t n, at = 0;
      CHECK_INT(edb_query(&c, cases[i / 2].sql, NULL, 0, &r), EDB_OK);
      CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
      for (size_t k = 0; k < n; k++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s", k ? ", " : "",
                               columns[k].name, columns[k].type_name);
      }
      CHECK_STR(text, cases[i / 2].columns);
      CHECK_INT(edb_rows_close(&r), EDB_OK);
    }
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_splits(void) {
  edb_connection c;
  int rc;
  open_own(&c, "");
  const uint64_t expected = sum_of(&c, &rc);
  CHECK_INT(rc, EDB_DONE);
  for (long i = 1; i < 320; i++) {
    fault(&c, "split", i);
    CHECK(sum_of(&c, &rc) == expected && rc == EDB_DONE);
  }
  fault(&c, "split", 0);
  for (long i = 1; i < 40; i++) {
    fault(&c, "split_all", i);
    CHECK(sum_of(&c, &rc) == expected && rc == EDB_DONE);
  }
  fault(&c, "split_all", 0);
  static const struct {
    const char *name;
    long value;
  } others[] = {{"plp", 1},    {"plp", 3},    {"nbcrow", 1},
                {"nbcrow", 2}, {"nbcrow", 3}, {"between", 1}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    fault(&c, others[i].name, others[i].value);
    CHECK(sum_of(&c, &rc) == expected && rc == EDB_DONE);
    fault(&c, "reset", 0);
  }
  /* Errors behind the columns and behind rows reach the caller, and the connection lives on. */
  static const long at[] = {-1, 1, 2};
  for (size_t i = 0; i < 3; i++) {
    fault(&c, "error_at", at[i]);
    fault(&c, "errors", 12);
    (void)sum_of(&c, &rc);
    CHECK(rc != EDB_DONE && rc != EDB_OK && rc != EDB_CLOSED);
    CHECK(edb_detail(&c)->vendor != 0);
    fault(&c, "reset", 0);
    usable(&c);
  }
  fault(&c, "silent", 1);
  (void)sum_of(&c, &rc);
  CHECK_INT(rc, EDB_FAILED);
  fault(&c, "reset", 0);
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* Broken off at any byte: an error, no hang, nothing leaks. */
static void test_drops(void) {
  for (long i = 1; i < 300; i += SANITIZED ? 37 : 11) {
    edb_connection c;
    edb_error e;
    int rc = EDB_OK;
    tell("fault drop %ld", i);
    if (try_open("127.0.0.1", i % 2 ? "" : "&encrypt=mandatory", &c, &e) != EDB_OK) continue;
    for (int k = 0; k < 9 && rc != EDB_CLOSED; k++) (void)sum_of(&c, &rc);
    CHECK_INT(rc, EDB_CLOSED);
    CHECK(!edb_alive(&c));
    CHECK_INT(edb_close(&c), EDB_OK);
  }
  for (long i = 0; i < 60; i += 7) {
    edb_connection c;
    edb_error e;
    int rc = EDB_OK;
    tell("fault reset");
    tell("fault flip %ld", i + 1);
    if (try_open("127.0.0.1", "", &c, &e) != EDB_OK) continue;
    for (int k = 0; k < 9 && rc != EDB_CLOSED; k++) (void)sum_of(&c, &rc);
    CHECK_INT(rc, EDB_CLOSED);
    CHECK_INT(edb_close(&c), EDB_OK);
  }
  tell("fault reset");
}

/* ---- Stopping ----------------------------------------------------------------------------------------------- */

static void *cancel_soon(void *connection) {
  usleep(250000);
  edb_cancel(connection);
  return NULL;
}

static void test_stopping(void) {
  edb_connection c;
  pthread_t thread;
  for (long attention = 0; attention <= 2; attention++) {
    open_own(&c, attention == 1 ? "&encrypt=mandatory" : "");
    fault(&c, "attention", attention);
    pthread_create(&thread, NULL, cancel_soon, &c);
    double began = seconds();
    CHECK_INT(edb_execute(&c, "WAITFOR DELAY '00:00:20'", NULL, 0, NULL), EDB_INTERRUPTED);
    CHECK(seconds() - began < 10);
    pthread_join(thread, NULL);
    usable(&c);
    host.timeout_ms = 200;
    CHECK_INT(edb_execute(&c, "WAITFOR DELAY '00:00:20'", NULL, 0, NULL), EDB_INTERRUPTED);
    host.timeout_ms = 0;
    usable(&c);
    CHECK_INT(edb_close(&c), EDB_OK);
  }
  /* A reader that is closed half-way. */
  open_own(&c, "");
  for (int i = 0; i < 3; i++) {
    edb_rows r;
    const edb_value *v;
    CHECK_INT(edb_query(&c,
                        "SELECT a.object_id FROM sys.all_columns a, sys.all_columns b,"
                        " sys.all_columns d",
                        NULL, 0, &r),
              EDB_OK);
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    /* Once without an error from before, which would be taken for that of what is stopped. */
    if (i > 0) CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    CHECK_INT(edb_detail(&c)->code, i > 0 ? EDB_BUSY : EDB_OK);
    usable(&c);
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  start_server();
  test_encryption();
  test_certificates();
  test_login();
  test_routing();
  test_transactions();
  test_doomed();
  test_killed();
  test_columns();
  test_splits();
  test_stopping();
  test_drops();
  stop_server();
  return unit_done("sqlserver_session");
}
