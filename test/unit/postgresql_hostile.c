/*
** postgresql_hostile.c: the PostgreSQL driver against a server that lies.
**
** A thread of this program plays the server: it lets anybody in, takes what it is sent as a script says, and
** answers with messages made here. What it says wrong must come out as an error, and never as a crash or a
** read of what is not there (make asan).
*/
#include "unit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "drivers/driver.h"

/* ---- The server -------------------------------------------------------------------------------- */

typedef struct message {
  unsigned char bytes[4096];
  size_t n;
} message;

static void put(message *m, const void *p, size_t n) {
  if (n > sizeof m->bytes - m->n) abort();
  memcpy(m->bytes + m->n, p, n);
  m->n += n;
}

static void put_number(message *m, uint32_t u, int size) {
  unsigned char wire[4];
  for (int i = 0; i < size; i++) wire[i] = (unsigned char)(u >> (8 * (size - 1 - i)));
  put(m, wire, (size_t)size);
}

/* A message of a type and a body. */
static void say(message *m, char type, const void *body, size_t n) {
  put(m, &type, 1);
  put_number(m, (uint32_t)n + 4, 4);
  put(m, body, n);
}

static void ready(message *m) { say(m, 'Z', "I", 1); }

typedef struct column {
  uint32_t oid;
  const char *bytes; /* of its only value; NULL is NULL */
  size_t n;
} column;

static void describe(message *m, const column *columns, int n, int binary) {
  message body = {.n = 0};
  put_number(&body, (uint32_t)n, 2);
  for (int i = 0; i < n; i++) {
    put(&body, "c", 2);
    put_number(&body, 0, 4);
    put_number(&body, 0, 2);
    put_number(&body, columns[i].oid, 4);
    put_number(&body, 0xffff, 2);
    put_number(&body, 0xffffffff, 4);
    put_number(&body, (uint32_t)binary, 2);
  }
  say(m, 'T', body.bytes, body.n);
}

static void row(message *m, char type, const column *columns, int n) {
  message body = {.n = 0};
  put_number(&body, (uint32_t)n, 2);
  for (int i = 0; i < n; i++) {
    put_number(&body, columns[i].bytes ? (uint32_t)columns[i].n : 0xffffffff, 4);
    if (columns[i].bytes) put(&body, columns[i].bytes, columns[i].n);
  }
  say(m, type, body.bytes, body.n);
}

/* What it answers to Sync, in turn; the connection ends behind the last. */
typedef struct script {
  message answers[8];
  int n;
  int listener, port;
} script;

static int receive(int fd, void *p, size_t n) {
  char *to = p;
  while (n > 0) {
    ssize_t got = recv(fd, to, n, 0);
    if (got <= 0) return 0;
    to += got;
    n -= (size_t)got;
  }
  return 1;
}

static uint32_t number_of(const unsigned char *u) {
  return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* Takes messages up to a query of the simple protocol or a Sync. */
static int request(int fd) {
  static char skipped[65536];
  for (;;) {
    unsigned char head[5];
    if (!receive(fd, head, sizeof head)) return 0;
    uint32_t n = number_of(head + 1);
    if (n < 4 || n - 4 > sizeof skipped || !receive(fd, skipped, n - 4)) return 0;
    if (head[0] == 'S' || head[0] == 'Q') return 1;
    if (head[0] == 'X') return 0;
  }
}

static void converse(const script *s, int fd) {
  unsigned char head[8];
  char skipped[1024];
  message hello = {.n = 0};
  if (!receive(fd, head, sizeof head)) return;
  if (number_of(head) == 16) return; /* a request to cancel */
  uint32_t n = number_of(head) - 8;
  if (n > sizeof skipped || !receive(fd, skipped, n)) return;
  say(&hello, 'R', "\0\0\0\0", 4);
  say(&hello, 'S', "server_version\00015.0", 20);
  say(&hello, 'S', "client_encoding\0UTF8", 21);
  say(&hello, 'K', "\0\0\0\1\0\0\0\2", 8);
  ready(&hello);
  if (send(fd, hello.bytes, hello.n, MSG_NOSIGNAL) < 0 || !request(fd)) return;
  message set = {.n = 0};
  say(&set, 'C', "SET", 4);
  ready(&set);
  if (send(fd, set.bytes, set.n, MSG_NOSIGNAL) < 0) return;
  for (int i = 0; i < s->n; i++) {
    if (!request(fd)) return;
    if (send(fd, s->answers[i].bytes, s->answers[i].n, MSG_NOSIGNAL) < 0) return;
  }
}

static void *serve(void *context) {
  const script *s = context;
  for (;;) {
    int fd = accept(s->listener, NULL, NULL);
    if (fd < 0) return NULL;
    converse(s, fd);
    close(fd);
  }
}

/* ---- The client -------------------------------------------------------------------------------- */

static void *resize(void *context, void *memory, size_t size) {
  (void)context;
  if (size == 0) {
    free(memory);
    return NULL;
  }
  return realloc(memory, size);
}

static const edb_host host = {.resize = resize, .timeout_ms = 2000};
static char error_text[1100];

/* Runs a query, as a large one where copy is set, and reads all; what came of it. */
static int ask(script *s, const char *fetch) {
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t size = sizeof at;
  pthread_t thread;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  s->listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(s->listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(s->listener, 5) < 0 ||
      getsockname(s->listener, (struct sockaddr *)&at, &size) < 0) {
    abort();
  }
  pthread_create(&thread, NULL, serve, s);
  char url[100];
  snprintf(url, sizeof url,
           "postgresql://u:p@127.0.0.1:%d/d?sslmode=disable&gssencmode=disable&fetch=%s",
           ntohs(at.sin_port), fetch);
  edb_connection c;
  edb_error e;
  edb_statement statement;
  edb_rows r;
  const edb_value *v;
  int rc = edb_open(url, NULL, 0, &host, &c, &e);
  snprintf(error_text, sizeof error_text, "%s", rc == EDB_OK ? "" : e.message);
  if (rc == EDB_OK) {
    rc = edb_prepare(&c, "SELECT x", 1e6, &statement);
    if (rc == EDB_OK) rc = edb_statement_query(&statement, NULL, 0, &r);
    if (rc == EDB_OK) {
      while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) continue;
    }
    if (rc != EDB_OK) snprintf(error_text, sizeof error_text, "%s", edb_detail(&c)->message);
    edb_rows_close(&r);
    if (rc == EDB_CLOSED) {
      CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_CLOSED);
      CHECK_INT(edb_alive(&c), 0);
    }
    edb_statement_close(&statement);
    CHECK_INT(edb_close(&c), EDB_OK);
  }
  shutdown(s->listener, SHUT_RDWR);
  pthread_join(thread, NULL);
  close(s->listener);
  return rc;
}

static int starts(const char *text) {
  if (strncmp(error_text, text, strlen(text)) == 0) return 1;
  printf("  the error: %s\n", error_text);
  return 0;
}

/* The answers to Parse, Describe, Sync. Both spellings of libpq: with and without a pipeline. */
static void prepared(script *s, const column *columns, int n) {
  message *m = &s->answers[s->n++];
  say(m, '1', "", 0);
  say(m, 't', "\0\0", 2);
  describe(m, columns, n, 0);
  ready(m);
}

static void selected(script *s, const column *announced, int n, const column *sent, int m) {
  message *a = &s->answers[s->n++];
  say(a, '2', "", 0);
  describe(a, announced, n, 1);
  row(a, 'D', sent, m);
  say(a, 'C', "SELECT 1", 9);
  ready(a);
}

/* ---- The lies ----------------------------------------------------------------------------------- */

static void test_lengths(void) {
  static const struct {
    column c;
    const char *error;
  } lies[] = {
      {{23, "\0\0\1", 3}, "column \"c\": the server sent 3 bytes that are no integer"},
      {{20, "\0\0\0\1", 4}, "column \"c\": the server sent 4 bytes that are no bigint"},
      {{16, "", 0}, "column \"c\": the server sent 0 bytes that are no boolean"},
      {{701, "123456789", 9}, "column \"c\": the server sent 9 bytes that are no double precision"},
      {{1700, "\0\5\0\0\0\0\0\0\0\1", 10},
       "column \"c\": the server sent 10 bytes that are no numeric"},
      {{1114, "1", 1},
       "column \"c\": the server sent 1 bytes that are no timestamp without time zone"},
      {{2950, "1", 1}, "column \"c\": the server sent 1 bytes that are no uuid"},
      {{1560, "\0\0\xff\xff\xff", 5}, "column \"c\": the server sent 5 bytes that are no bit"},
      {{3802, "", 0}, "column \"c\": the server sent 0 bytes that are no jsonb"},
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    script s = {.n = 0};
    prepared(&s, &lies[i].c, 1);
    selected(&s, &lies[i].c, 1, &lies[i].c, 1);
    CHECK_INT(ask(&s, "single"), EDB_FAILED);
    CHECK(starts(lies[i].error));
  }
}

static void test_truth(void) {
  column c[2] = {{23, "\0\0\0\7", 4}, {25, NULL, 0}};
  script s = {.n = 0};
  prepared(&s, c, 2);
  selected(&s, c, 2, c, 2);
  CHECK_INT(ask(&s, "single"), EDB_DONE);
}

static void test_columns(void) {
  column c[3] = {{23, "\0\0\0\7", 4}, {23, "\0\0\0\7", 4}, {23, "\0\0\0\7", 4}};
  for (int said = 1; said <= 3; said++) {
    for (int sent = 0; sent <= 3; sent++) {
      if (said == 2 && sent == 2) continue;
      script s = {.n = 0};
      prepared(&s, c, 2);
      selected(&s, c, said, c, sent);
      int rc = ask(&s, "single");
      CHECK(rc == EDB_FAILED || rc == EDB_CLOSED);
      CHECK(error_text[0] != 0);
    }
  }
}

/* Every way to end too soon. */
static void test_cut(void) {
  column c[1] = {{23, "\0\0\0\7", 4}};
  script whole = {.n = 0};
  prepared(&whole, c, 1);
  selected(&whole, c, 1, c, 1);
  for (int answer = 0; answer < 2; answer++) {
    for (size_t n = 0; n < whole.answers[answer].n; n += 3) {
      script s = whole;
      s.n = answer + 1;
      s.answers[answer].n = n;
      int rc = ask(&s, "single");
      CHECK_INT(rc, EDB_CLOSED);
      CHECK(error_text[0] != 0);
    }
  }
}

/* COPY's messages: the header, then rows. */
static void copied(script *s, const char *bytes, size_t n) {
  message *m = &s->answers[s->n++];
  say(m, '1', "", 0);
  say(m, '2', "", 0);
  say(m, 'H', "\1\0\1\0\1", 5);
  say(m, 'd', bytes, n);
  say(m, 'c', "", 0);
  say(m, 'C', "COPY 1", 7);
  ready(m);
}

#define COPY_HEAD "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"

static void test_copy(void) {
  static const struct {
    const char *bytes;
    size_t n;
    int code;
  } copies[] = {
#define COPY(bytes, code) {bytes, sizeof(bytes) - 1, code}
      COPY(COPY_HEAD "\0\1\0\0\0\4\0\0\0\7\xff\xff", EDB_DONE),
      COPY(COPY_HEAD "\0\1\xff\xff\xff\xff", EDB_DONE),
      COPY(COPY_HEAD "\0\1\0\0\0\4\0\0\0\7\0\1\0\0\0\4\0\0\0\7",
           EDB_DONE), /* two rows in a message */
      COPY(COPY_HEAD, EDB_DONE),
      COPY("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\3abc\0\1\0\0\0\4\0\0\0\7",
           EDB_DONE), /* an extension */
      COPY("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\4abc", EDB_FAILED),
      COPY("PGCOPY\n\377\r\n\0\0\0\0\0\xff\xff\xff\xff", EDB_FAILED),
      COPY("PGCOPY\n", EDB_FAILED),
      COPY("something else that is long enough", EDB_FAILED),
      COPY(COPY_HEAD "\0", EDB_FAILED),
      COPY(COPY_HEAD "\0\2\0\0\0\4\0\0\0\7\0\0\0\4\0\0\0\7", EDB_FAILED),
      COPY(COPY_HEAD "\0\0\0\0\0\4\0\0\0\7", EDB_FAILED),
      COPY(COPY_HEAD "\0\1", EDB_FAILED),
      COPY(COPY_HEAD "\0\1\0\0\0", EDB_FAILED),
      COPY(COPY_HEAD "\0\1\0\0\0\4\0\0\0", EDB_FAILED),
      COPY(COPY_HEAD "\0\1\0\0\0\3\0\0\7", EDB_FAILED),
      COPY(COPY_HEAD "\0\1\x7f\xff\xff\xff\0\0\0\7", EDB_FAILED),
      COPY(COPY_HEAD "\0\1\xff\xff\xff\xfe\0\0\0\7", EDB_FAILED),
#undef COPY
  };
  column c[1] = {{23, "\0\0\0\7", 4}};
  for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
    script s = {.n = 0};
    prepared(&s, c, 1);
    copied(&s, copies[i].bytes, copies[i].n);
    if (!CHECK_INT(ask(&s, "copy"), copies[i].code)) printf("  COPY %zu: %s\n", i, error_text);
  }
}

/* A server that takes the question and says nothing: the time-out ends it. */
static void test_silence(void) {
  column c[1] = {{23, "\0\0\0\7", 4}};
  script s = {.n = 0};
  prepared(&s, c, 1);
  s.answers[s.n++].n = 0;
  s.answers[s.n++].n = 0;
  time_t since = time(NULL);
  CHECK_INT(ask(&s, "single"), EDB_CLOSED);
  CHECK(starts("the server did not stop the command within 5 s"));
  CHECK(time(NULL) - since < 10);
}

int main(void) {
  /* Without libpq there is nothing to test. */
  edb_connection c;
  edb_error e;
  if (edb_open("postgresql://127.0.0.1:1/x", NULL, 0, &host, &c, &e) == EDB_UNSUPPORTED) {
    printf("skip postgresql_hostile: %s\n", e.message);
    printf("postgresql_hostile: 0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  test_truth();
  test_lengths();
  test_columns();
  test_cut();
  test_copy();
  test_silence();
  return unit_done("postgresql_hostile");
}
