/*
** mysql_client.h: the client's side of the tests of a hostile MySQL server: a session with it through the contract,
** in a process of its own, what came of it, and what has to hold whatever came.
*/
#ifndef EDB_MYSQL_CLIENT_H
#define EDB_MYSQL_CLIENT_H

#include "mysql_rogue.h"

#include "drivers/driver.h"

/* ---- A session ------------------------------------------------------------------------------- */

#define PASSWORD "correct-horse-battery"
#define SECRET "these-bytes-stay-on-this-computer"

static inline void *resize(void *context, void *memory, size_t size) {
  (void)context;
  if (size > 0) return realloc(memory, size);
  free(memory);
  return NULL;
}

static edb_host host = {.resize = resize, .timeout_ms = 3000};

/* What came of a session, told to the other process. */
typedef struct outcome {
  int opened; /* what edb_open answered */
  int rc;     /* the last answer: EDB_DONE where all went well */
  int rows;   /* how many came */
  int wrong;  /* how many of them were not the server's */
  int again;  /* what the connection answered next */
  int ms;     /* how long it took */
  int vendor; /* the error's number */
  int sessions;
  long bad; /* of many sessions: the first byte at which a cut one ended wrongly; -1: none did */
  char message[1024 + 512];
} outcome;

/* What the session does with its statement. */
enum { BY_PREPARE, BY_QUERY, BY_EXECUTE };

typedef struct shared {
  rogue_control control;
  int way;
  const char *options;
  outcome o;
} shared;

static shared *common;

static inline int same_text(const edb_value *v, edb_kind kind, const char *p, size_t n) {
  return v->kind == kind && v->as.text.n == n && memcmp(v->as.text.p, p, n) == 0;
}

static inline int same_time(const edb_value *v, const char *expected) {
  char text[EDB_TIME_TEXT];
  return v->kind == EDB_TIME && edb_time_text(&v->as.time, text) == strlen(expected) &&
         strcmp(text, expected) == 0;
}

/* Is this row i of the honest ones? */
static inline int is_honest(const edb_value *v, int i) {
  if (v[0].kind != EDB_I64 || v[0].as.i64 != i - 1) return 0;
  if (i == 1) {
    int values = 0;
    for (size_t column = 1; column < HONEST_COLUMNS; column++) values += v[column].kind != EDB_NULL;
    return values == 0;
  }
  double score = i + 0.25;
  return v[1].kind == EDB_U64 && v[1].as.u64 == 4000000000u && v[2].kind == EDB_F64 &&
         memcmp(&v[2].as.f64, &score, sizeof score) == 0 && same_text(&v[3], EDB_TEXT, "Łódź", 7) &&
         same_text(&v[4], EDB_BYTES, "\0\1\xff", 3) && same_text(&v[5], EDB_TEXT, "-12.50", 6) &&
         same_time(&v[6], "2026-02-28 23:59:58.123456") && same_time(&v[7], "-26:03:04");
}

static inline void say(outcome *o, const edb_error *e) {
  o->vendor = e->vendor;
  snprintf(o->message, sizeof o->message, "%s|%s", e->message, e->hint);
}

static inline void read_rows(edb_connection *c, edb_rows *r, outcome *o) {
  const edb_value *v;
  const edb_column *columns;
  size_t n = 0;
  edb_rows_columns(r, &columns, &n);
  while ((o->rc = edb_rows_next_borrowed(r, &v)) == EDB_ROW) {
    if (n != HONEST_COLUMNS || !is_honest(v, o->rows % HONEST_ROWS)) o->wrong++;
    o->rows++;
  }
  if (o->rc != EDB_DONE) say(o, edb_detail(c));
}

static inline void use(edb_connection *c, outcome *o) {
  static const edb_parameter parameter = {NULL, {.kind = EDB_I64, .as.i64 = 5}};
  edb_statement statement = {0};
  edb_rows r = {0};
  switch (common->way) {
  case BY_PREPARE:
    o->rc = edb_prepare(c, "SELECT x WHERE y = ?", 1e6, &statement);
    if (o->rc == EDB_OK) o->rc = edb_statement_query(&statement, &parameter, 1, &r);
    break;
  case BY_QUERY:
    o->rc = edb_query(c, "SELECT x", NULL, 0, &r);
    break;
  default:
    o->rc = edb_execute(c, "DO x", NULL, 0, NULL);
    if (o->rc == EDB_OK) o->rc = EDB_DONE;
  }
  if (r.context) {
    read_rows(c, &r, o);
    int rc = edb_rows_close(&r);
    if (o->rc == EDB_DONE && rc != EDB_OK) {
      o->rc = rc;
      say(o, edb_detail(c));
    }
  } else if (o->rc != EDB_DONE) {
    say(o, edb_detail(c));
  }
  edb_statement_close(&statement);
  o->again = edb_execute(c, "SET @x = 1", NULL, 0, NULL);
}

static inline void session(int port, outcome *o) {
  char url[300];
  struct timespec from, to;
  edb_connection c;
  edb_error e;
  *o = (outcome){.bad = -1};
  snprintf(url, sizeof url, "mysql://u:" PASSWORD "@127.0.0.1:%d/d?%s", port, common->options);
  clock_gettime(CLOCK_MONOTONIC, &from);
  o->opened = o->rc = edb_open(url, NULL, 0, &host, &c, &e);
  if (o->rc == EDB_OK) {
    use(&c, o);
    edb_close(&c);
  } else {
    say(o, &e);
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  o->ms = (int)((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000);
}

static inline void client_once(int port) { session(port, &common->o); }

/* ---- One session, and what is to come of it ------------------------------------------------------ */

static inline script *new_script(void) {
  static script s;
  s = (script){0};
  common->control.cut = common->control.keep = -1;
  common->control.ends = common->control.slow = 0;
  common->control.step = common->control.pause_ms = 0;
  common->way = BY_PREPARE;
  common->options = "ssl-mode=DISABLED";
  return &s;
}

/* What holds whatever happens: the client ended by itself and leaked nothing, and neither what it said nor
** what it sent has a secret in it. */
static inline int check_always(script *s, int status, const char *name) {
  const outcome *o = &common->o;
  int held = CHECK_INT(status, 0);
  held &= CHECK(!strstr(o->message, PASSWORD));
  held &=
      CHECK(!s->received.p || !memmem(s->received.p, s->received.n, PASSWORD, strlen(PASSWORD)));
  held &= CHECK(!s->received.p || !memmem(s->received.p, s->received.n, SECRET, strlen(SECRET)));
  if (!held) printf("  in: %s; %s\n", name, o->message);
  return held;
}

/* Runs the script; the session is to end with the code, an error with the words in it. */
static inline void expect(script *s, const char *name, int code, const char *words) {
  const outcome *o = &common->o;
  int status = rogue_run(s, client_once);
  int held = check_always(s, status, name);
  held &= CHECK_INT(o->rc, code) & CHECK_INT(o->wrong, 0);
  held &= CHECK(o->ms < 2 * host.timeout_ms + 8000);
  if (code == EDB_DONE) {
    held &= CHECK_INT(o->rows, common->way == BY_EXECUTE ? 0 : HONEST_ROWS);
    held &= CHECK_INT(o->again, EDB_OK);
  } else {
    held &= CHECK(o->message[0] != '|' && strstr(o->message, words) != NULL);
  }
  if (!held)
    printf("  in: %s; %s (%d), %d rows, %d wrong, %d ms\n", name, o->message, o->vendor, o->rows,
           o->wrong, o->ms);
  rogue_free(s);
}

/* Did a session that went wrong somewhere end as one may: with an error, or with all of the rows? */
static inline int ended_well(const outcome *o) {
  if (o->wrong != 0) return 0;
  if (o->rc == EDB_DONE) return o->rows == HONEST_ROWS;
  return (o->rc == EDB_CLOSED || o->rc == EDB_FAILED || o->rc == EDB_INVALID_QUERY) &&
         o->message[0] != '|' && !strstr(o->message, PASSWORD);
}

/* Before the tests; 0 where the client library cannot be had, which is said. */
static inline int set_up(const char *name) {
  edb_connection c;
  edb_error e;
  common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (common == MAP_FAILED) abort();
  control = &common->control;
  signal(SIGPIPE, SIG_IGN);
  if (edb_open("mysql://127.0.0.1:1/x", NULL, 0, &host, &c, &e) != EDB_UNSUPPORTED) return 1;
  printf("skip %s: %s\n%s: 0 passed, 0 failed, 1 skipped\n", name, e.message, name);
  return 0;
}

#endif
