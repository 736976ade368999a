/*
** load_live.h: what the tests of loads on real servers share: rows of (bigint, text, double).
*/
#ifndef EDB_LOAD_LIVE_H
#define EDB_LOAD_LIVE_H

#include "live.h"

#define MAX_COLUMNS 12

typedef struct target {
  edb_load_column columns[MAX_COLUMNS];
  edb_load_spec spec;
} target;

/* The columns of a load, as "id int8, name text". */
static inline void aim(target *t, const edb_connection *c, const char *table, const char *columns) {
  static char words[MAX_COLUMNS][2][64];
  const edb_dialect *dialect = edb_connection_driver(c)->dialect;
  size_t n = 0;
  memset(t, 0, sizeof *t);
  for (const char *p = columns; *p; n++) {
    for (int k = 0; k < 2; k++) {
      size_t length = strcspn(p, " ,");
      snprintf(words[n][k], sizeof words[n][k], "%.*s", (int)length, p);
      p += length;
      p += strspn(p, " ,");
    }
    t->columns[n] = (edb_load_column){words[n][0], dialect->type(words[n][1]), words[n][1]};
  }
  t->spec = (edb_load_spec){.table = table, .columns = t->columns, .n = n};
}

/* Loads the rows `from` to `to`: (i, "name i", i / 8). The id of the row `bad` is `from` once more. Answers the first
** error, after which the load is aborted; *row is the one that it blames. */
static inline int load_rows(edb_connection *c, const target *t, int64_t from, int64_t to,
                            int64_t bad, int64_t *row) {
  edb_load load;
  int rc = edb_load_begin(c, &t->spec, &load);
  for (int64_t i = from; rc == EDB_OK && i <= to; i++) {
    char name[40];
    snprintf(name, sizeof name, "name %lld", (long long)i);
    edb_value values[3] = {integer(i == bad ? from : i).value, text(name).value,
                           real((double)i / 8).value};
    rc = edb_load_row(&load, values);
    memset(name, '#', sizeof name); /* it is not needed any more */
  }
  if (rc == EDB_OK) rc = edb_load_end(&load);
  *row = edb_detail(c)->row;
  if (rc == EDB_OK) return rc;
  CHECK_INT(edb_detail(c)->code, rc);
  if (load.context) CHECK_INT(edb_load_abort(&load), EDB_OK);
  return rc;
}

/* One row into the columns of the target. */
static inline int load_one(edb_connection *c, const target *t, const edb_value *values) {
  edb_load load;
  int rc = edb_load_begin(c, &t->spec, &load);
  if (rc != EDB_OK) return rc;
  rc = edb_load_row(&load, values);
  if (rc == EDB_OK) return edb_load_end(&load);
  edb_load_abort(&load);
  return rc;
}

#endif
