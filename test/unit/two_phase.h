/*
** two_phase.h: prepared transactions on a real server, for the drivers that have them. After live.h.
*/
#ifndef EDB_UNIT_TWO_PHASE_H
#define EDB_UNIT_TWO_PHASE_H

#include "live.h"

static inline int begin_named(edb_connection *c, const char *name, edb_transaction *t) {
  const edb_transaction_spec spec = {.two_phase = name};
  return edb_begin_with(c, &spec, t);
}

/* Whether the catalog lists the name among the prepared ones. */
static inline int listed(edb_connection *c, const char *name) {
  edb_rows r;
  const edb_value *v;
  const edb_column *columns;
  size_t n;
  int found = 0;
  if (edb_query(c, edb_connection_driver(c)->catalog->in_doubt, NULL, 0, &r) != EDB_OK) return -1;
  edb_rows_columns(&r, &columns, &n);
  while (edb_rows_next_borrowed(&r, &v) == EDB_ROW) {
    const edb_value *last = &v[n - 1];
    if (last->as.text.n == strlen(name) && memcmp(last->as.text.p, name, last->as.text.n) == 0)
      found = 1;
  }
  edb_rows_close(&r);
  return found;
}

static inline void count_is(edb_connection *c, const char *expected) {
  CHECK_STR(one(c, "SELECT count(*) FROM edb_two_phase", 0, NULL, 0), expected);
}

/* Waits until the connection that had prepared is gone at the server, which then gives its transaction away. */
static inline int resolve_soon(edb_connection *c, const char *name, int commit) {
  int rc = EDB_INVALID_QUERY;
  for (int i = 0; i < 200 && rc == EDB_INVALID_QUERY; i++) {
    rc = edb_resolve(c, name, commit);
    if (rc == EDB_INVALID_QUERY) usleep(20000);
  }
  return rc;
}

/* single: the connection that has prepared takes nothing else. */
static inline void test_two_phase(int single) {
  const char *longest = "abc_DEF-123.456789012345678901234567890123456789012345678901234";
  edb_connection c, d;
  edb_transaction t;
  edb_rows r;
  must_open(&c);
  must_open(&d);
  run(&c, "DROP TABLE IF EXISTS edb_two_phase");
  run(&c, "CREATE TABLE edb_two_phase (a int PRIMARY KEY)");

  /* Prepared, it is nobody's yet; resolved, it is there or never was. */
  CHECK_INT(strlen(longest), EDB_TWO_PHASE_NAME);
  CHECK_INT(begin_named(&c, longest, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (1)", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(listed(&d, longest), 0);
  CHECK_INT(edb_transaction_prepare(&t), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK_INT(listed(&d, longest), 1);
  CHECK_INT(listed(&d, "abc"), 0);
  count_is(&d, "0");
  if (single) {
    CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
    CHECK_INT(edb_query(&c, "SELECT 1", NULL, 0, &r), EDB_BUSY);
    CHECK_INT(begin_named(&c, "x", &t), EDB_BUSY);
    CHECK_INT(edb_resolve(&c, "another", 1), EDB_BUSY);
  }
  CHECK_INT(edb_resolve(&c, longest, 1), EDB_OK);
  CHECK_INT(listed(&d, longest), 0);
  count_is(&d, "1");
  usable(&c);
  CHECK_INT(edb_resolve(&c, longest, 1), EDB_INVALID_QUERY);
  CHECK_INT(begin_named(&c, "x.2", &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (2)", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(edb_transaction_prepare(&t), EDB_OK);
  CHECK_INT(edb_resolve(&c, "x.2", 0), EDB_OK);
  count_is(&c, "1");

  /* It outlives its connection, and any other of the same user ends it. */
  CHECK_INT(begin_named(&c, "x.3", &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (3)", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(edb_transaction_prepare(&t), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(listed(&d, "x.3"), 1);
  CHECK_INT(resolve_soon(&d, "x.3", 1), EDB_OK);
  count_is(&d, "2");
  must_open(&c);

  /* One that has a name may end as any other. */
  CHECK_INT(begin_named(&c, "x.4", &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (4)", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(begin_named(&c, "x.4", &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (5)", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (6)", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(edb_transaction_prepare(&t), EDB_INVALID_QUERY);
  CHECK_INT(edb_transaction_rollback(&t), EDB_CLOSED);
  count_is(&c, "3");
  usable(&c);

  /* After an error nothing is prepared that the caller has not been told of. */
  CHECK_INT(begin_named(&c, "x.5", &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (7)", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO edb_two_phase VALUES (1)", NULL, 0, NULL),
            EDB_CONSTRAINT);
  if (edb_transaction_prepare(&t) == EDB_OK) CHECK_INT(edb_resolve(&c, "x.5", 0), EDB_OK);
  CHECK_INT(listed(&d, "x.5"), 0);
  count_is(&c, "3");

  /* One that has written nothing is no trouble either. */
  CHECK_INT(begin_named(&c, "x.6", &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "DELETE FROM edb_two_phase WHERE a = 99", NULL, 0, NULL),
            EDB_OK);
  CHECK_INT(edb_transaction_prepare(&t), EDB_OK);
  CHECK_INT(edb_resolve(&c, "x.6", 1), EDB_OK);
  usable(&c);
  CHECK_INT(listed(&d, "x.6"), 0);

  /* Names that would be SQL are none. */
  CHECK_INT(begin_named(&c, "x'", &t), EDB_INVALID_QUERY);
  CHECK_INT(begin_named(&c, "", &t), EDB_INVALID_QUERY);
  CHECK_INT(begin_named(&c, "abc_DEF-123.4567890123456789012345678901234567890123456789012345", &t),
            EDB_INVALID_QUERY);
  CHECK_INT(edb_resolve(&c, "x'", 1), EDB_INVALID_QUERY);
  CHECK_INT(edb_resolve(&c, "x.none", 0), EDB_INVALID_QUERY);
  usable(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

/* A connection that is lost in a transaction: its commit was not sent, and is known not to have been. */
static inline void test_lost_before_commit(const char *const kill[2], const char *own_id) {
  edb_connection c, d;
  edb_transaction t;
  char sql[200];
  must_open(&c);
  must_open(&d);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  snprintf(sql, sizeof sql, "%s%s%s", kill[0], one(&c, own_id, 0, NULL, 0), kill[1]);
  (void)edb_execute(&d, sql, NULL, 0, NULL);
  CHECK(edb_execute(&c, "INSERT INTO edb_two_phase VALUES (8)", NULL, 0, NULL) == EDB_CLOSED);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK(strstr(edb_detail(&c)->hint, EDB_OUTCOME_UNKNOWN) == NULL);
  CHECK_INT(edb_close(&c), EDB_OK);
  /* Lost while it waits for its commit, it is not. */
  must_open(&c);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  snprintf(sql, sizeof sql, "%s%s%s", kill[0], one(&c, own_id, 0, NULL, 0), kill[1]);
  (void)edb_execute(&d, sql, NULL, 0, NULL);
  usleep(100000);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK(strstr(edb_detail(&c)->hint, EDB_OUTCOME_UNKNOWN) != NULL);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

#endif
