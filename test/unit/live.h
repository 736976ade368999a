/*
** live.h: what the tests of drivers against a real server share.
**
** LIVE_URL, defined by who includes it, names the variable that says where the server is; without it they are
** skipped.
*/
#ifndef EDB_LIVE_H
#define EDB_LIVE_H

#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "drivers/driver.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- The host ------------------------------------------------------------------------------------ */

static long blocks;     /* allocated and not freed */
static long fail_after; /* allocations that succeed before one fails; 0: all do */
static char last_log[400];
static atomic_int interrupted;

static inline void *resize(void *context, void *memory, size_t size) {
  (void)context;
  if (size == 0) {
    if (memory) blocks--;
    free(memory);
    return NULL;
  }
  if (fail_after > 0 && --fail_after == 0) return NULL;
  void *p = realloc(memory, size);
  if (p && !memory) blocks++;
  return p;
}

static inline void on_log(void *context, const char *text, size_t n) {
  (void)context;
  snprintf(last_log, sizeof last_log, "%.*s", (int)n, text);
}

static inline int is_interrupted(void *context) {
  (void)context;
  return atomic_load(&interrupted);
}

static edb_host host = {.resize = resize, .log = on_log, .interrupted = is_interrupted};

static const char *url;

static inline int open_with(const char *name, const char *value, edb_connection *c) {
  edb_error error;
  edb_option option = {name, value};
  int rc = edb_open(url, &option, name ? 1 : 0, &host, c, &error);
  if (rc != EDB_OK) printf("  open: %s\n", error.message);
  return rc;
}

static inline void must_open(edb_connection *c) {
  if (open_with(NULL, NULL, c) != EDB_OK) {
    unit_check(0, __FILE__, __LINE__, "a connection");
    exit(1);
  }
}

static inline double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Words --------------------------------------------------------------------------------------- */

static inline edb_parameter text(const char *p) {
  edb_parameter parameter = {NULL, {.kind = EDB_TEXT}};
  parameter.value.as.text.p = p;
  parameter.value.as.text.n = strlen(p);
  return parameter;
}

static inline edb_parameter integer(int64_t i) {
  edb_parameter parameter = {NULL, {.kind = EDB_I64}};
  parameter.value.as.i64 = i;
  return parameter;
}

static inline edb_parameter real(double d) {
  edb_parameter parameter = {NULL, {.kind = EDB_F64}};
  parameter.value.as.f64 = d;
  return parameter;
}

static inline edb_parameter null(void) {
  edb_parameter parameter = {NULL, {.kind = EDB_NULL}};
  return parameter;
}

static inline edb_parameter bytes(const char *p, size_t n) {
  edb_parameter parameter = {NULL, {.kind = EDB_BYTES}};
  parameter.value.as.bytes.p = p;
  parameter.value.as.bytes.n = n;
  return parameter;
}

static inline edb_parameter moment(edb_time_form form, int32_t days, int64_t nanos, int zoned) {
  edb_parameter parameter = {NULL, {.kind = EDB_TIME}};
  parameter.value.as.time.form = (uint8_t)form;
  parameter.value.as.time.days = days;
  parameter.value.as.time.nanos = nanos;
  parameter.value.as.time.zoned = (uint8_t)zoned;
  return parameter;
}

static inline const char *shown(const edb_value *v) {
  static char out[20000];
  switch (v->kind) {
  case EDB_NULL:
    return "NULL";
  case EDB_BOOL:
    return v->as.boolean ? "true" : "false";
  case EDB_I64:
    snprintf(out, sizeof out, "%" PRId64, v->as.i64);
    break;
  case EDB_U64:
    snprintf(out, sizeof out, "%" PRIu64, v->as.u64);
    break;
  case EDB_F64:
    snprintf(out, sizeof out, "%.17g", v->as.f64);
    break;
  case EDB_TEXT:
    snprintf(out, sizeof out, "'%.*s'", (int)v->as.text.n, v->as.text.p);
    break;
  case EDB_BYTES: {
    size_t n = (size_t)snprintf(out, sizeof out, "x'");
    for (size_t i = 0; i < v->as.bytes.n && i < 100; i++) {
      n += (size_t)snprintf(out + n, sizeof out - n, "%02x", (unsigned char)v->as.bytes.p[i]);
    }
    snprintf(out + n, sizeof out - n, "'");
    break;
  }
  case EDB_TIME: {
    size_t n = (size_t)snprintf(out, sizeof out, "%c ", "?DCT"[v->as.time.form]);
    edb_time_text(&v->as.time, out + n);
    break;
  }
  }
  return out;
}

static inline const char *why(const edb_connection *c) {
  static char out[1700];
  const edb_error *e = edb_detail(c);
  snprintf(out, sizeof out, "%d %s %s", e->code, e->sqlstate, e->message);
  return out;
}

/* The first value of the first row, as shown; an error as "error CODE SQLSTATE MESSAGE". */
static inline const char *one(edb_connection *c, const char *sql, double expected,
                              const edb_parameter *parameters, size_t n) {
  static char out[20000];
  edb_statement s;
  edb_rows r;
  const edb_value *v;
  int rc = edb_prepare(c, sql, expected, &s);
  if (rc == EDB_OK) rc = edb_statement_query(&s, parameters, n, &r);
  if (rc == EDB_OK) {
    rc = edb_rows_next_borrowed(&r, &v);
    if (rc == EDB_ROW) snprintf(out, sizeof out, "%s", shown(v));
    if (rc == EDB_DONE) snprintf(out, sizeof out, "no row");
    if (rc == EDB_ROW || rc == EDB_DONE) rc = EDB_OK;
    if (rc != EDB_OK) snprintf(out, sizeof out, "error %s", why(c));
    edb_rows_close(&r);
  } else {
    snprintf(out, sizeof out, "error %s", why(c));
  }
  edb_statement_close(&s);
  return out;
}

static inline void run(edb_connection *c, const char *sql) {
  if (edb_execute(c, sql, NULL, 0, NULL) != EDB_OK) {
    printf("  %s: %s\n", sql, why(c));
    unit_check(0, __FILE__, __LINE__, "it runs");
  }
}

static inline void usable(edb_connection *c) { CHECK_STR(one(c, "SELECT 42", 0, NULL, 0), "42"); }

static inline uint64_t hash(uint64_t h, const void *p, size_t n) {
  const unsigned char *u = p;
  for (size_t i = 0; i < n; i++) h = (h ^ u[i]) * UINT64_C(1099511628211);
  return h;
}

/* Reads all; the sum of the values in *sum, the rows in *rows; the code at the end. */
static inline int read_all(edb_rows *r, uint64_t *sum, long *rows) {
  const edb_column *columns;
  const edb_value *v;
  size_t n;
  int rc;
  *sum = 0;
  *rows = 0;
  edb_rows_columns(r, &columns, &n);
  while ((rc = edb_rows_next_borrowed(r, &v)) == EDB_ROW) {
    for (size_t i = 0; i < n; i++) {
      const char *s = shown(&v[i]);
      *sum = hash(*sum, s, strlen(s) + 1);
    }
    ++*rows;
  }
  return rc;
}

/* Whether there is a server; prints what the runner counts if there is none. */
static inline int have_server(const char *name) {
  url = getenv(LIVE_URL);
  if (url) return 1;
  printf("skip %s: " LIVE_URL " is not set\n", name);
  printf("%s: 0 passed, 0 failed, 1 skipped\n", name);
  return 0;
}

#endif
