/*
** The ODBC driver against each data source: what goes in by parameters comes back, in blocks of any size, long values
** too; the order of calls; transactions; the catalog; what stops a statement.
**
** servers: odbc
*/
#include "drivers/odbcInt.h" /* first: live.h has a host */

#define LIVE_URL "EDB_TEST_ODBC_URL"
#include "live.h"

static const edb_dialect *dialect;

static int is_dialect(const char *name) { return strcmp(dialect->name, name) == 0; }

/* The words of each product for a table of ours. */
static void make_table(edb_connection *c) {
  char sql[400];
  const char *text_type = is_dialect("sqlserver") ? "nvarchar(max)"
                          : is_dialect("mysql")   ? "longtext"
                                                  : "text";
  const char *bytes_type = is_dialect("sqlserver")    ? "varbinary(max)"
                           : is_dialect("postgresql") ? "bytea"
                           : is_dialect("mysql")      ? "longblob"
                                                      : "blob";
  edb_execute(c, "DROP TABLE edb_live", NULL, 0, NULL);
  snprintf(sql, sizeof sql,
           "CREATE TABLE edb_live (id bigint NOT NULL PRIMARY KEY, t %s, s %s(20), b %s, d %s)%s",
           text_type, is_dialect("sqlserver") ? "nvarchar" : "varchar", bytes_type,
           is_dialect("sqlserver") ? "float"
           : is_dialect("sqlite")  ? "real"
                                   : "double precision",
           is_dialect("mysql") ? " CHARACTER SET utf8mb4" : "");
  run(c, sql);
}

static void still_usable(edb_connection *c) {
  CHECK_STR(one(c, "SELECT 42", 0, NULL, 0), is_dialect("sqlite") ? "'42'" : "42");
}

/* ---- Values -------------------------------------------------------------------------------------- */

static const char insert[] = "INSERT INTO edb_live VALUES (?, ?, ?, ?, ?)";

static edb_parameter sized(const char *p, size_t n) {
  edb_parameter parameter = text("");
  parameter.value.as.text.p = p;
  parameter.value.as.text.n = n;
  return parameter;
}

/* Lengths about every bound there is: of a place, of a part, of a type. */
static const size_t lengths[] = {0,    1,    63,   64,    65,    127,   128,   129,    255,
                                 256,  2047, 2048, 4000,  4001,  4095,  4096,  8190,   8191,
                                 5000, 3,    0,    70000, 16384, 65535, 65536, 100000, 7};
#define N_LENGTHS (sizeof lengths / sizeof lengths[0])

static char *long_text; /* of the longest, in characters of one byte */

static void fill(edb_connection *c) {
  edb_statement s;
  CHECK_INT(edb_prepare(c, insert, 0, &s), EDB_OK);
  for (size_t i = 0; i < N_LENGTHS; i++) {
    edb_parameter p[5] = {integer((int64_t)i), sized(long_text, lengths[i]),
                          i % 4 == 3 ? null() : text(i % 2 ? "h\xc3\xa9llo \xf0\x9f\x9a\x80" : ""),
                          bytes(long_text, lengths[N_LENGTHS - 1 - i]),
                          i % 5 == 4 ? null() : real((double)i * 0.1)};
    if (i % 7 == 6) p[1] = null();
    if (!CHECK_INT(edb_statement_execute(&s, p, 5, NULL), EDB_OK)) {
      printf("  %zu: %s\n", i, why(c));
      break;
    }
  }
  edb_statement_close(&s);
}

static void check_row(size_t i, const edb_value *v) {
  CHECK_INT(v[0].as.i64, i);
  if (i % 7 == 6) {
    CHECK_INT(v[1].kind, EDB_NULL);
  } else if (CHECK_INT(v[1].kind, EDB_TEXT) && CHECK_INT(v[1].as.text.n, lengths[i])) {
    CHECK(memcmp(v[1].as.text.p, long_text, lengths[i]) == 0);
  }
  CHECK_STR(shown(&v[2]), i % 4 == 3 ? "NULL" : i % 2 ? "'h\xc3\xa9llo \xf0\x9f\x9a\x80'" : "''");
  if (CHECK_INT(v[3].as.bytes.n, lengths[N_LENGTHS - 1 - i])) {
    CHECK(memcmp(v[3].as.bytes.p, long_text, v[3].as.bytes.n) == 0);
  }
  if (i % 5 == 4) {
    CHECK_INT(v[4].kind, EDB_NULL);
  } else {
    CHECK_INT(v[4].kind, EDB_F64);
    CHECK(v[4].as.f64 == (double)i * 0.1);
  }
}

#define QUOTED(x) OD_SQLITE_LITERAL(x) " AS edb_as_quoted, "

static void test_values(void) {
  static const char *const blocks_of[] = {"0", "1", "2", "7", "100"};
  const char *sql = is_dialect("sqlite")
                        ? "SELECT id, " QUOTED("t") QUOTED("s") QUOTED("b")
                              OD_SQLITE_LITERAL("d") " AS edb_as_quoted FROM edb_live ORDER BY id"
                        : "SELECT id, t, s, b, d FROM edb_live ORDER BY id";
  for (size_t k = 0; k < sizeof blocks_of / sizeof blocks_of[0]; k++) {
    edb_connection c;
    edb_rows r;
    const edb_value *v;
    size_t rows = 0;
    int rc;
    if (open_with("block", blocks_of[k], &c) != EDB_OK) {
      CHECK(0);
      return;
    }
    if (k == 0) {
      make_table(&c);
      fill(&c);
    }
    if (!CHECK_INT(edb_query(&c, sql, NULL, 0, &r), EDB_OK)) printf("  %s\n", why(&c));
    while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) check_row(rows++, v);
    if (!CHECK_INT(rc, EDB_DONE)) printf("  %s\n", why(&c));
    CHECK_INT(rows, N_LENGTHS);
    edb_rows_close(&r);
    /* A reader that is closed half-way leaves the connection as it was. */
    CHECK_INT(edb_query(&c, sql, NULL, 0, &r), EDB_OK);
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_INT(edb_rows_close(&r), EDB_OK);
    still_usable(&c);
    CHECK_INT(edb_close(&c), EDB_OK);
  }
}

/* One statement, run again and again with parameters of other types and lengths. */
static void test_lookups(void) {
  edb_connection c;
  edb_statement s;
  must_open(&c);
  CHECK_INT(edb_prepare(&c, "SELECT id FROM edb_live WHERE id = ?", 1, &s), EDB_OK);
  for (int64_t i = 0; i < 2 * (int64_t)N_LENGTHS; i++) {
    edb_parameter p = integer(i);
    edb_rows r;
    const edb_value *v;
    if (!CHECK_INT(edb_statement_query(&s, &p, 1, &r), EDB_OK)) printf("  %s\n", why(&c));
    CHECK_INT(edb_rows_next_borrowed(&r, &v), i < (int64_t)N_LENGTHS ? EDB_ROW : EDB_DONE);
    if (i < (int64_t)N_LENGTHS) CHECK_INT(v[0].as.i64, i);
    edb_rows_close(&r);
  }
  edb_parameter none = null(), two[2] = {integer(1), integer(2)};
  edb_rows r;
  const edb_value *v;
  CHECK_INT(edb_statement_query(&s, &none, 1, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  CHECK_INT(edb_statement_query(&s, two, 2, &r), EDB_INVALID_QUERY);
  two[0].name = ":a";
  CHECK_INT(edb_statement_query(&s, two, 1, &r), EDB_UNSUPPORTED);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- Order, errors, transactions --------------------------------------------------------------------- */

/* A statement of the dialect's that has a savepoint's name in it. */
static void savepoint(edb_transaction *t, const char *format) {
  char sql[64], *hole;
  snprintf(sql, sizeof sql, "%s", format);
  hole = strstr(sql, "%s");
  if (hole) memcpy(hole, "sp", 2);
  CHECK_INT(edb_transaction_execute(t, sql, NULL, 0, NULL), EDB_OK);
}

static void test_order(void) {
  edb_connection c;
  edb_transaction t, second;
  edb_rows r;
  edb_statement s;
  int64_t affected;
  must_open(&c);
  CHECK_INT(edb_query(&c, "SELECT id FROM edb_live", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s), EDB_BUSY);
  CHECK_INT(edb_begin(&c, &t), EDB_BUSY);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  edb_rows_close(&r);
  CHECK_INT(edb_query(&c, "SELECT nothing FROM nowhere", NULL, 0, &r), EDB_INVALID_QUERY);
  CHECK(edb_detail(&c)->message[0] != 0 && edb_detail(&c)->message[0] != '[');
  still_usable(&c);
  edb_parameter again[5] = {integer(0), null(), null(), null(), null()};
  CHECK_INT(edb_execute(&c, insert, again, 5, NULL), EDB_CONSTRAINT);
  still_usable(&c);
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  CHECK_INT(edb_begin(&c, &second), EDB_INVALID_QUERY);
  CHECK_INT(edb_transaction_execute(&t, "DELETE FROM edb_live WHERE id < 5", NULL, 0, &affected),
            EDB_OK);
  CHECK_INT(affected, 5);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM edb_live", 0, NULL, 0),
            is_dialect("sqlite") ? "'27'" : "27");
  CHECK_INT(edb_begin(&c, &t), EDB_OK);
  edb_transaction_execute(&t, "DELETE FROM edb_live WHERE id < 5", NULL, 0, &affected);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(edb_execute(&c, "DELETE FROM edb_live WHERE id < 7", NULL, 0, &affected), EDB_OK);
  CHECK_INT(affected, 2);
  /* PostgreSQL takes nothing more of a transaction in which something failed, but what leads back, and commits none. */
  const int dooms = edb_connection_dialect(&c)->error_dooms;
  for (int back = 0; back < 2; back++) {
    const int lost = dooms && !back;
    CHECK_INT(edb_begin(&c, &t), EDB_OK);
    CHECK_INT(edb_transaction_execute(&t, "DELETE FROM edb_live WHERE id = 7", NULL, 0, &affected),
              EDB_OK);
    CHECK_INT(affected, back && !dooms ? 0 : 1);
    savepoint(&t, edb_connection_dialect(&c)->savepoint);
    CHECK_INT(edb_transaction_execute(&t, "DELETE FROM nowhere", NULL, 0, NULL), EDB_INVALID_QUERY);
    if (back) savepoint(&t, edb_connection_dialect(&c)->rollback_to);
    CHECK_INT(edb_transaction_execute(&t, "DELETE FROM edb_live WHERE id = 8", NULL, 0, NULL),
              lost ? EDB_FAILED : EDB_OK);
    CHECK_INT(edb_transaction_commit(&t), lost ? EDB_FAILED : EDB_OK);
    still_usable(&c);
    const char *left = is_dialect("sqlite") ? "'18'" : lost ? "20" : "18";
    CHECK_STR(one(&c, "SELECT count(*) FROM edb_live", 0, NULL, 0), left);
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- The catalog --------------------------------------------------------------------------------------- */

static void test_catalog(void) {
  static const char *const expected[] = {"id", "t", "s", "b", "d"};
  edb_connection c;
  edb_rows r;
  const edb_value *v;
  edb_parameter p[2] = {null(), text("edb_live")};
  char schema[200] = "";
  must_open(&c);
  /* A name that is a pattern for the other's. */
  edb_execute(&c, "DROP TABLE edbxlive", NULL, 0, NULL);
  run(&c, "CREATE TABLE edbxlive (other int)");
  if (!CHECK_INT(edb_query(&c, od_catalog.relation, p, 2, &r), EDB_OK)) printf("  %s\n", why(&c));
  if (CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW)) {
    snprintf(schema, sizeof schema, "%.*s", (int)v[0].as.text.n, v[0].as.text.p);
    CHECK_STR(shown(&v[1]), "'edb_live'");
    CHECK_STR(shown(&v[2]), "'table'");
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  }
  edb_rows_close(&r);
  p[0] = text(schema);
  CHECK_INT(edb_query(&c, od_catalog.columns, p, 2, &r), EDB_OK);
  for (size_t i = 0; i < 5 && CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW); i++) {
    CHECK_INT(v[0].as.text.n, strlen(expected[i]));
    CHECK(memcmp(v[0].as.text.p, expected[i], strlen(expected[i])) == 0);
    CHECK_STR(shown(&v[4]), i == 0 ? "1" : "0");
  }
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  p[1] = text("edb%live");
  CHECK_INT(edb_query(&c, od_catalog.relation, p, 2, &r), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  edb_rows_close(&r);
  int seen = 0;
  CHECK_INT(edb_query(&c, od_catalog.tables, p, 1, &r), EDB_OK);
  while (edb_rows_next_borrowed(&r, &v) == EDB_ROW) {
    const char *name = shown(&v[1]);
    seen += strcmp(name, "'edb_live'") == 0 || strcmp(name, "'edbxlive'") == 0;
  }
  CHECK_INT(seen, 2);
  edb_rows_close(&r);
  run(&c, "DROP TABLE edbxlive");
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- What stops a statement ------------------------------------------------------------------------------ */

static void *cancel_soon(void *context) {
  usleep(200000);
  edb_cancel(context);
  return NULL;
}

/* Something that takes long; NULL where the server has no such thing. */
static const char *slow(void) {
  return is_dialect("postgresql") ? "SELECT pg_sleep(60)"
         : is_dialect("mysql")    ? "SELECT SLEEP(60) FROM edb_live"
                                  : NULL;
}

static void test_stops(void) {
  edb_connection c;
  edb_rows r;
  const edb_value *v;
  pthread_t thread;
  if (!slow()) return;
  must_open(&c);
  for (int how = 0; how < 3; how++) {
    const double from = seconds();
    if (how == 0) pthread_create(&thread, NULL, cancel_soon, &c);
    if (how == 1) host.timeout_ms = 300;
    if (how == 2) atomic_store(&interrupted, 1);
    int rc = edb_query(&c, slow(), NULL, 0, &r);
    if (rc == EDB_OK) rc = edb_rows_next_borrowed(&r, &v);
    CHECK_INT(rc, EDB_INTERRUPTED);
    CHECK(strstr(edb_detail(&c)->message, how == 1 ? "within 300 ms" : "interrupted") != NULL);
    CHECK(seconds() - from < 30);
    if (how == 0) pthread_join(thread, NULL);
    host.timeout_ms = 0;
    atomic_store(&interrupted, 0);
    edb_rows_close(&r);
    still_usable(&c);
  }
  CHECK_INT(edb_close(&c), EDB_OK);
}

static void test_open_fails(void) {
  edb_connection c;
  edb_error error;
  CHECK_INT(edb_open("odbc:DSN=no such source;PWD=s3cr3t", NULL, 0, &host, &c, &error), EDB_FAILED);
  CHECK_STR(error.sqlstate, "IM002");
  CHECK(strstr(error.message, "s3cr3t") == NULL);
  CHECK_INT(edb_open("odbc:Driver=/no/such/s3cr3t.so;PWD=s3cr3t", NULL, 0, &host, &c, &error),
            EDB_FAILED);
  CHECK(strstr(error.message, "s3cr3t") == NULL);
  CHECK_INT(open_with("block", "many", &c), EDB_INVALID_QUERY);
  CHECK_INT(open_with("stream", "2", &c), EDB_INVALID_QUERY);
  CHECK_INT(open_with("dbms", "Ingres", &c), EDB_INVALID_QUERY);
  CHECK_INT(open_with("dbms", "generic", &c), EDB_OK);
  /* With the quotes that the driver tells. */
  CHECK(strncmp(edb_connection_dialect(&c)->name, "generic", 7) == 0);
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* Memory that runs out at every allocation there is leaves nothing behind. */
static void test_memory(void) {
  for (long at = 1; at < 400; at++) {
    edb_connection c;
    edb_rows r;
    edb_error error;
    const edb_value *v;
    fail_after = at;
    int rc = edb_open(url, NULL, 0, &host, &c, &error);
    if (rc == EDB_OK) rc = edb_query(&c, "SELECT id, t, s FROM edb_live", NULL, 0, &r);
    if (rc == EDB_OK) {
      while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) continue;
      edb_rows_close(&r);
    }
    const int whole = fail_after > 0;
    fail_after = 0;
    if (c.context) edb_close(&c);
    if (!CHECK_INT(blocks, 0)) break;
    if (whole) break;
    at += at > 40 ? 6 : 0; /* each connects */
  }
}

int main(void) {
  edb_connection c;
  if (!have_server("odbc_live")) return 0;
  long_text = malloc(200000);
  if (!long_text) abort();
  for (int i = 0; i < 200000; i++) long_text[i] = (char)('a' + i % 26);
  must_open(&c);
  dialect = edb_connection_dialect(&c);
  CHECK_INT(edb_close(&c), EDB_OK);
  test_values();
  test_lookups();
  test_order();
  test_catalog();
  test_stops();
  test_open_fails();
  test_memory();
  free(long_text);
  CHECK_INT(blocks, 0);
  return unit_done("odbc_live");
}
