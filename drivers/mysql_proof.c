/*
** drivers/mysql_proof.c: whether the client library's structures are where mysql_layout.c says.
**
** The version says so first; then, once a process, a row of known values is sent and comes back through
** every member that edb uses: a column's name, type, flags, length, decimals and character set decide how
** each value is read, and each member of a binding how it comes back, the long text in two pieces. What is
** not as it was sent means the text protocol from then on.
*/
#include <stdio.h>
#include <string.h>

#include "mysql.h"

#define LONG_TEXT 1200 /* longer than a column's first buffer */

static const char question[] =
    "SELECT CAST(? AS SIGNED) AS edb_i, CAST(? AS UNSIGNED) AS edb_u, ? + 0e0 AS edb_f, "
    "CAST(? AS CHAR(2000)) AS edb_t, CAST(? AS BINARY(4)) AS edb_b, NULL AS edb_n, "
    "CAST(? AS DECIMAL(9,3)) AS edb_d, CAST(? AS TIME(6)) AS edb_c, "
    "CAST(? AS DATETIME(6)) AS edb_m";

static edb_value bytes_of(edb_kind kind, const char *p, size_t n) {
  edb_value v = {.kind = kind};
  v.as.text.p = p;
  v.as.text.n = n;
  return v;
}

static int same_value(const edb_value *a, const edb_value *b) {
  if (a->kind != b->kind) return 0;
  switch (a->kind) {
  case EDB_TEXT:
  case EDB_BYTES:
    return a->as.text.n == b->as.text.n && memcmp(a->as.text.p, b->as.text.p, a->as.text.n) == 0;
  case EDB_TIME:
    return a->as.time.nanos == b->as.time.nanos && a->as.time.days == b->as.time.days &&
           a->as.time.form == b->as.time.form;
  case EDB_F64:
    return a->as.f64 >= b->as.f64 && a->as.f64 <= b->as.f64;
  case EDB_NULL:
    return 1;
  default:
    return a->as.u64 == b->as.u64;
  }
}

static int same_row(my_rows *r, const edb_value *row, const edb_value *expected, size_t n) {
  static const char names[] = "iuftbndcm";
  const edb_column *columns;
  size_t count;
  my_rows_columns(r, &columns, &count);
  if (count != n) return 0;
  for (size_t i = 0; i < n; i++) {
    char name[] = "edb_?";
    name[4] = names[i];
    if (strcmp(columns[i].name, name) != 0 || !same_value(&row[i], &expected[i])) return 0;
  }
  return 1;
}

/* 1: it fits; 0: it does not; negative: the row could not be had. */
static int try_row(my_connection *c) {
  char text[LONG_TEXT];
  memset(text, 'e', sizeof text);
  memcpy(text + LONG_TEXT - 4, "\xe2\x82\xac!", 4);
  edb_value sent[] = {
      {.kind = EDB_I64, .as.i64 = -5},
      {.kind = EDB_U64, .as.u64 = UINT64_MAX - 1},
      {.kind = EDB_F64, .as.f64 = -0.375},
      bytes_of(EDB_TEXT, text, sizeof text),
      bytes_of(EDB_BYTES, "\0\xff'", 4),
      {.kind = EDB_NULL},
      bytes_of(EDB_TEXT, "-123456.789", 11),
      {.kind = EDB_TIME, .as.time = {-INT64_C(122401500000000), 0, EDB_CLOCK, 0}},
      {.kind = EDB_TIME, .as.time = {INT64_C(45296000007000), 19782, EDB_DATETIME, 0}}};
  enum { N = sizeof sent / sizeof sent[0] };
  edb_parameter parameters[N];
  size_t n = 0;
  my_statement *s;
  void *rows;
  const edb_value *row;
  for (size_t i = 0; i < N; i++) {
    if (sent[i].kind != EDB_NULL) parameters[n++] = (edb_parameter){NULL, sent[i]};
  }
  if (my_statement_new(c, question, &s) != EDB_OK) return -1;
  int fits = -1;
  if (my_rows_start(s, parameters, n, 0, &rows) == EDB_OK) {
    int rc = my_rows_next_borrowed(rows, &row);
    fits = rc == EDB_ROW && same_row(rows, row, sent, N);
    my_rows_close(rows);
  }
  my_statement_free(s);
  return fits;
}

int my_prove(my_connection *c) {
  if (atomic_load(&my_layout_state) != MY_LAYOUT_UNPROVEN) return EDB_OK;
  c->proving = 1;
  int fits = try_row(c);
  c->proving = 0;
  if (c->dead) return (int)c->error.code;
  if (fits >= 0) atomic_store(&my_layout_state, fits ? MY_LAYOUT_FITS : MY_LAYOUT_MISFIT);
  if (fits <= 0 && c->host->log) {
    char line[200];
    int n = snprintf(line, sizeof line, "%s is not laid out as %s is: the text protocol is used",
                     my_library_name(), my_layout_used->name);
    c->host->log(c->host->context, line, (size_t)n);
  }
  return EDB_OK;
}
