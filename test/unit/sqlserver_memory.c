/*
** The SQL Server driver out of memory, against a tdsd of its own: each allocation fails once, in everything that a
** connection is used for. It is an error and nothing else; nothing leaks; the connection works or is gone.
*/
#include "tdsd.h"

static char *long_text; /* more than the driver's buffers hold */
#define LONG_BYTES 300000

static int drain(edb_rows *r, int rc) {
  const edb_value *v;
  while (rc == EDB_OK || rc == EDB_ROW) rc = edb_rows_next_borrowed(r, &v);
  return rc == EDB_DONE ? EDB_OK : rc;
}

static int rows_of(edb_connection *c, const char *sql, const edb_parameter *p, size_t n) {
  edb_rows r;
  int rc = edb_query(c, sql, p, n, &r);
  if (rc != EDB_OK) return rc;
  rc = drain(&r, rc);
  const int closed = edb_rows_close(&r);
  return rc == EDB_OK ? closed : rc;
}

static int query(edb_connection *c) {
  edb_parameter p = text(long_text);
  int rc = rows_of(
      c, "SELECT 1 AS [a long name], N'x' AS b, REPLICATE(CAST('x' AS varchar(max)), 100000)", NULL,
      0);
  return rc == EDB_OK ? rows_of(c, "SELECT ? AS a, ? AS b", (edb_parameter[]){p, p}, 2) : rc;
}

/* More parameters than have room on the stack, some of them NULL. */
static int many(edb_connection *c) {
  edb_parameter p[100];
  char sql[600] = "SELECT ?";
  for (int i = 0; i < 100; i++) p[i] = i % 3 ? integer(i) : null();
  for (int i = 1; i < 100; i++) memcpy(sql + 8 + 3 * (i - 1), ", ?", 4);
  return rows_of(c, sql, p, 100);
}

static int prepared(edb_connection *c) {
  const edb_parameter p[] = {integer(1), integer(2), text("a"), null(), real(1.5)};
  int rc = EDB_OK;
  for (int round = 0; round < 12 && rc == EDB_OK;
       round++) { /* so many that handles are given back */
    edb_statement s;
    edb_rows r;
    rc = edb_prepare(c, "SELECT ? AS v", 0, &s);
    for (size_t i = 0; i < sizeof p / sizeof p[0] && rc == EDB_OK; i++) {
      rc = edb_statement_query(&s, &p[i], 1, &r);
      if (rc != EDB_OK) break;
      rc = drain(&r, rc);
      edb_rows_close(&r);
    }
    edb_statement_close(&s);
  }
  return rc;
}

static int insert(edb_connection *c) {
  edb_transaction t;
  edb_statement s;
  const edb_parameter p[] = {integer(1), text(long_text)};
  int64_t affected;
  int rc = edb_begin(c, &t);
  if (rc == EDB_OK)
    rc = edb_execute(c, "CREATE TABLE edb_i (a int, t nvarchar(max))", NULL, 0, NULL);
  if (rc == EDB_OK) rc = edb_prepare(c, "INSERT INTO edb_i VALUES (?, ?)", 0, &s);
  if (rc == EDB_OK) {
    for (int i = 0; i < 3 && rc == EDB_OK; i++) rc = edb_statement_execute(&s, p, 2, &affected);
    edb_statement_close(&s);
  }
  const int ended = edb_transaction_rollback(&t);
  return rc == EDB_OK ? ended : rc;
}

static int load(edb_connection *c) {
  static const edb_load_column columns[] = {{.name = "a"}, {.name = "t"}};
  static const edb_load_spec spec = {NULL, "edb_i", columns, 2, 0};
  edb_load l;
  edb_transaction t;
  int rc = edb_begin(c, &t);
  if (rc == EDB_OK)
    rc = edb_execute(c, "CREATE TABLE edb_i (a int, t nvarchar(max))", NULL, 0, NULL);
  if (rc == EDB_OK) rc = edb_load_begin(c, &spec, &l);
  if (rc == EDB_OK) {
    /* By bulk load, then, as text is no int, by INSERTs. */
    const edb_parameter p[][2] = {{integer(1), text(long_text)},
                                  {integer(2), text("b")},
                                  {text("3"), null()},
                                  {integer(4), text("d")}};
    for (int i = 0; i < 4 && rc == EDB_OK; i++) {
      rc = edb_load_row(&l, (edb_value[]){p[i][0].value, p[i][1].value});
    }
    const int ended = rc == EDB_OK ? edb_load_end(&l) : edb_load_abort(&l);
    if (rc == EDB_OK) rc = ended;
  }
  const int ended = edb_transaction_rollback(&t);
  return rc == EDB_OK ? ended : rc;
}

/* A reader that is stopped half-way, and a request. */
static int cancel(edb_connection *c) {
  edb_rows r;
  const edb_value *v;
  int rc =
      edb_query(c, "SELECT a.name, b.name FROM sys.all_columns a, sys.all_columns b", NULL, 0, &r);
  if (rc != EDB_OK) return rc;
  rc = edb_rows_next_borrowed(&r, &v);
  const int closed = edb_rows_close(&r);
  if (rc != EDB_ROW || closed != EDB_OK) return rc != EDB_ROW ? rc : closed;
  host.timeout_ms = 50;
  rc = edb_execute(c, "WAITFOR DELAY '00:00:20'", NULL, 0, NULL);
  host.timeout_ms = 0;
  return rc == EDB_INTERRUPTED ? EDB_OK : rc;
}

static int connect_only(edb_connection *c) {
  (void)c;
  return EDB_OK;
}

static int (*const uses[])(edb_connection *c) = {connect_only, query, many,  prepared,
                                                 insert,       load,  cancel};

static int use(size_t i, const char *options, long n) {
  edb_connection c;
  edb_error e;
  fail_after = n;
  int rc = try_open("127.0.0.1", options, &c, &e);
  if (rc != EDB_OK) {
    CHECK(e.message[0] != 0);
    return rc;
  }
  rc = uses[i](&c);
  const long left = fail_after;
  fail_after = 0;
  const int after = edb_execute(&c, "SELECT 1", NULL, 0, NULL);
  CHECK(after == EDB_OK || (after == EDB_CLOSED && !edb_alive(&c)));
  if (after == EDB_OK) CHECK_STR(one(&c, "SELECT 42", 0, NULL, 0), "42");
  CHECK_INT(edb_close(&c), EDB_OK);
  fail_after = left;
  return rc;
}

int main(void) {
  start_server();
  long_text = malloc(LONG_BYTES + 1);
  memset(long_text, 'y', LONG_BYTES);
  long_text[LONG_BYTES] = 0;
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
    int through = 0;
    for (long n = 1; n < 300 && !through; n++) {
      const int rc = use(i, n % 2 ? "" : "&encrypt=mandatory", n);
      through = fail_after > 0;
      fail_after = 0;
      CHECK(rc == EDB_NOMEM || rc == EDB_OK);
      if (rc != EDB_NOMEM && rc != EDB_OK) printf("  use %zu, allocation %ld: %d\n", i, n, rc);
      if (through) CHECK_INT(rc, EDB_OK);
      CHECK_INT(blocks, 0);
    }
    CHECK(through);
  }
  free(long_text);
  stop_server();
  return unit_done("sqlserver_memory");
}
