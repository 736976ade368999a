/*
** Stopping the SQL Server driver at every stage, by an interruption, by edb_cancel and by the time-out, against a tdsd of
** its own: the connection is used again, or is known to be gone; and what a server that lies or dawdles leads to.
*/
#include "tdsd.h"

typedef struct later {
  edb_connection *c; /* NULL: the host is asked instead */
  int ms;
} later;

static void *stop_later(void *context) {
  const later *l = context;
  usleep((useconds_t)l->ms * 1000);
  if (l->c) {
    edb_cancel(l->c);
  } else {
    atomic_store(&interrupted, 1);
  }
  return NULL;
}

/* By cancel, by the host's word, by time. */
enum { BY_CANCEL, BY_HOST, BY_TIME, WAYS };

static pthread_t thread;
static later stopping;

static void stop_soon(edb_connection *c, int way, int ms) {
  atomic_store(&interrupted, 0);
  host.timeout_ms = way == BY_TIME ? ms : 0;
  stopping = (later){way == BY_CANCEL ? c : NULL, ms};
  if (way != BY_TIME) pthread_create(&thread, NULL, stop_later, &stopping);
}

static void stopped(int way) {
  if (way != BY_TIME) pthread_join(thread, NULL);
  atomic_store(&interrupted, 0);
  host.timeout_ms = 0;
}

/* ---- Connecting ----------------------------------------------------------------------------------------- */

static void test_connecting(void) {
  static const char *const stages[] = {"login_stall 1", "login_stall 2"};
  edb_connection c;
  edb_error e;
  for (int stage = 0; stage < 4; stage++) {
    for (int way = BY_HOST; way <= BY_TIME; way++) {
      tell("fault %s", stages[stage / 2]);
      stop_soon(NULL, way, 200);
      const double began = seconds();
      CHECK_INT(try_open("127.0.0.1", stage % 2 ? "&encrypt=mandatory" : "", &c, &e),
                EDB_INTERRUPTED);
      CHECK(seconds() - began < 30);
      stopped(way);
      tell("fault reset");
    }
  }
  /* connect_timeout is for the whole of it. */
  tell("fault login_stall 2");
  CHECK_INT(try_open("127.0.0.1", "&connect_timeout=1", &c, &e), EDB_INTERRUPTED);
  tell("fault reset");
  /* Somebody listens and says nothing: TLS never begins. */
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t n = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0), real_port = port;
  CHECK(bind(fd, (struct sockaddr *)&address, n) == 0 && listen(fd, 10) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &n) == 0);
  port = ntohs(address.sin_port);
  for (int way = BY_HOST; way <= BY_TIME; way++) {
    stop_soon(NULL, way, 200);
    CHECK_INT(try_open("127.0.0.1", way == BY_TIME ? "&encrypt=mandatory" : "", &c, &e),
              EDB_INTERRUPTED);
    stopped(way);
  }
  close(fd);
  CHECK_INT(try_open("127.0.0.1", "", &c, &e), EDB_CLOSED);
  port = real_port;
  CHECK_STR(opened("127.0.0.1", ""), "42");
}

/* ---- A request that is being sent -------------------------------------------------------------------------- */

static void test_sending(void) {
  const size_t n = 20u << 20;
  char *p = malloc(n);
  memset(p, 'x', n);
  memcpy(p, "\xc3\xa9", 2); /* UTF-16 on the way: twice as long */
  edb_parameter parameter = text("");
  parameter.value.as.text.p = p;
  parameter.value.as.text.n = n;
  for (int way = 0; way < BY_TIME; way++) {
    edb_connection c;
    int64_t affected;
    open_own(&c, way == BY_HOST ? "&encrypt=mandatory" : "");
    fault(&c, "slow_read", 4);
    stop_soon(&c, way, 300);
    const double began = seconds();
    CHECK_INT(edb_execute(&c, "SELECT len(?)", &parameter, 1, &affected), EDB_INTERRUPTED);
    CHECK(seconds() - began < 30);
    stopped(way);
    if (CHECK(edb_alive(&c))) {
      fault(&c, "reset", 0);
      usable(&c);
    }
    CHECK_INT(edb_close(&c), EDB_OK);
  }
  free(p);
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

#define MANY                                                                                       \
  "SELECT a.object_id, a.name FROM sys.all_columns a, sys.all_columns b, sys.all_columns d"
#define LONG "SELECT 1, REPLICATE(CAST('x' AS varchar(max)), 6000000)"

static void test_rows(void) {
  for (int way = 0; way < WAYS; way++) {
    for (int kind = 0; kind < (way == BY_TIME ? 2 : 3); kind++) {
      edb_connection c;
      edb_rows r;
      const edb_value *v;
      int rc, rows = 0;
      open_own(&c, kind == 2 ? "&encrypt=mandatory" : "");
      if (kind > 0) fault(&c, "trickle", way == BY_TIME ? 1500 : 4);
      stop_soon(&c, way, 250);
      rc = edb_query(&c, kind == 0 ? MANY : LONG, NULL, 0, &r);
      if (kind == 0 && way == BY_TIME) { /* rows flow: nothing waits for so long */
        CHECK_INT(rc, EDB_OK);
        for (int i = 0; i < 1000; i++) CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
        rc = EDB_INTERRUPTED;
        CHECK_INT(edb_rows_close(&r), EDB_OK);
      } else if (rc == EDB_OK) {
        while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) rows++;
        CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
        edb_rows_close(&r);
      }
      CHECK_INT(rc, EDB_INTERRUPTED);
      if (kind > 0) CHECK_INT(rows, 0);
      stopped(way);
      if (kind > 0 && edb_alive(&c)) fault(&c, "reset", 0);
      if (way != BY_TIME || kind == 0) CHECK(edb_alive(&c));
      if (edb_alive(&c)) usable(&c);
      CHECK_INT(edb_close(&c), EDB_OK);
    }
  }
}

/* A server that never acknowledges, or goes on and on: the connection is given up when the time for it is over. */
static void test_draining(void) {
  static const struct {
    const char *fault;
    long value;
    const char *sql;
  } cases[] = {{"attention", 3, "WAITFOR DELAY '00:00:30'"}, {"stall", 3000, MANY}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    edb_connection c;
    edb_error e;
    const double began = seconds();
    tell("fault %s %ld", cases[i].fault, cases[i].value);
    CHECK_INT(try_open("127.0.0.1", "", &c, &e), EDB_OK);
    tell("fault reset");
    stop_soon(&c, BY_TIME, 300);
    int rc;
    edb_rows r;
    const edb_value *v;
    rc = edb_query(&c, cases[i].sql, NULL, 0, &r);
    if (rc == EDB_OK) {
      while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) {
      }
      edb_rows_close(&r);
    }
    CHECK_INT(rc, EDB_INTERRUPTED);
    stopped(BY_TIME);
    CHECK(seconds() - began < 60);
    CHECK(!edb_alive(&c));
    CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_CLOSED);
    CHECK_INT(edb_close(&c), EDB_OK);
  }
}

/* An acknowledgement of nothing, as of an attention that crossed the reply's end. */
static void test_unasked(void) {
  edb_connection c;
  open_own(&c, "");
  fault(&c, "attention", 4);
  for (int i = 0; i < 3; i++) usable(&c);
  stop_soon(&c, BY_CANCEL, 200);
  CHECK_INT(edb_execute(&c, "WAITFOR DELAY '00:00:20'", NULL, 0, NULL), EDB_INTERRUPTED);
  stopped(BY_CANCEL);
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- Servers that lie ------------------------------------------------------------------------------------------ */

static void test_lies(void) {
  static const struct {
    const char *fault;
    int value, code;
    const char *said, *sql;
  } cases[] = {
      {"lie", 1, EDB_CLOSED, "cannot be read", "PRINT 'x'; SELECT 1"},
      {"lie", 2, EDB_INTERRUPTED, "", NULL},
      {"lie", 3, EDB_CLOSED, "cannot be read", NULL},
      {"lie", 4, EDB_CLOSED, "cannot be read", NULL},
      {"lie", 5, EDB_CLOSED, "cannot be read", NULL},
      {"long_record", 1, EDB_CLOSED, "record_overflow", NULL},
      {"cek", 1, EDB_CLOSED, "cannot be read", NULL},
      {"cek", 2, EDB_UNSUPPORTED, "Always Encrypted", NULL},
  };
  static const char sql[] =
      "SELECT CAST(N'abc' AS nvarchar(max)), CAST(NULL AS int), CAST(N'def' AS nvarchar(9))"
      " UNION ALL SELECT N'x', 1, N'y'";
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int mandatory = cases[i].code == EDB_INTERRUPTED; mandatory < 2; mandatory++) {
      edb_connection c;
      edb_rows r;
      const edb_value *v;
      const double began = seconds();
      open_own(&c, mandatory ? "&encrypt=mandatory" : "");
      host.timeout_ms = 1000;
      int rc;
      char command[100];
      snprintf(command, sizeof command, "EXEC tdsd_fault '%s', %d", cases[i].fault, cases[i].value);
      rc = edb_execute(&c, command, NULL, 0, NULL);
      if (rc == EDB_OK) rc = edb_query(&c, cases[i].sql ? cases[i].sql : sql, NULL, 0, &r);
      if (rc == EDB_OK) {
        while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) {
        }
        const edb_error e = *edb_detail(&c);
        edb_rows_close(&r);
        if (!CHECK(strstr(e.message, cases[i].said) != NULL)) printf("  %s\n", e.message);
      } else if (!CHECK(strstr(edb_detail(&c)->message, cases[i].said) != NULL)) {
        printf("  %s\n", edb_detail(&c)->message);
      }
      host.timeout_ms = 0;
      if (!CHECK_INT(rc, cases[i].code)) printf("  %s %d\n", cases[i].fault, cases[i].value);
      CHECK(!edb_alive(&c));
      CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_CLOSED);
      CHECK_INT(edb_close(&c), EDB_OK);
      CHECK(seconds() - began < 30);
    }
  }
  CHECK_STR(opened("127.0.0.1", ""), "42");
}

/* Slow, but right. */
static void test_dawdling(void) {
  edb_connection c;
  open_own(&c, "&packet_size=512");
  fault(&c, "trickle", 30);
  CHECK_STR(one(&c, "SELECT REPLICATE('abcdefghij', 200)", 0, NULL, 0) + 1991, "abcdefghij'");
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  start_server();
  test_connecting();
  test_sending();
  test_rows();
  test_draining();
  test_unasked();
  test_lies();
  test_dawdling();
  stop_server();
  return unit_done("sqlserver_stop");
}
