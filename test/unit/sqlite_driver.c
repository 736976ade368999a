/*
** sqlite_driver.c: the SQLite driver by itself: values of every kind both ways, errors and their codes,
** locks, interrupts and time-outs, what counts as affected, transactions that SQLite ends, the catalog.
*/
#include "host.h"
#include "drivers/sqlite_data.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

static char path[64], url[128];

static void open_url(const char *which, edb_connection *c) {
  edb_error e;
  if (!CHECK_INT(edb_open(which, NULL, 0, &unit_host, c, &e), EDB_OK)) {
    printf("  %s\n", e.message);
    exit(1);
  }
}

/* The first value of the first row, in an owned row that the next call reuses. */
static const edb_value *first(edb_connection *c, const char *sql, const edb_parameter *p,
                              size_t n) {
  static edb_row row;
  static const edb_value none = {.kind = EDB_NULL};
  edb_rows r;
  int rc;
  row.host = &unit_host;
  if (!c) {
    edb_row_clear(&row);
    return NULL;
  }
  if (!CHECK_INT(edb_query(c, sql, p, n, &r), EDB_OK)) {
    printf("  %s\n  %s\n", sql, edb_detail(c)->message);
    return &none;
  }
  rc = edb_rows_next(&r, &row);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  return CHECK_INT(rc, EDB_ROW) ? &row.values[0] : &none;
}

static int64_t integer(edb_connection *c, const char *sql) {
  const edb_value *v = first(c, sql, NULL, 0);
  CHECK_INT(v->kind, EDB_I64);
  return v->as.i64;
}

static void fails(edb_connection *c, const char *sql, edb_code code, int vendor,
                  const char *message) {
  edb_rows r;
  for (int way = 0; way < 2; way++) {
    int rc = way ? edb_execute(c, sql, NULL, 0, NULL) : edb_query(c, sql, NULL, 0, &r);
    const edb_error *e = edb_detail(c);
    int ok = CHECK_INT(rc, code);
    ok &= CHECK_INT(e->code, code) & CHECK_INT(e->vendor, vendor);
    ok &= CHECK(strstr(e->message, message) != NULL);
    if (!ok) printf("  %s\n  %s\n", sql, e->message);
    if (rc == EDB_OK && !way) edb_rows_close(&r);
  }
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void refused(const char *which, edb_code code, const char *message, const char *hint) {
  edb_connection c;
  edb_error e;
  int ok = CHECK_INT(edb_open(which, NULL, 0, &unit_host, &c, &e), code);
  ok &= CHECK_INT(e.code, code) & CHECK(strstr(e.message, message) != NULL);
  ok &= CHECK_STR(e.hint, hint);
  if (!ok) printf("  %s\n  %s\n", which, e.message);
  CHECK(c.context == NULL);
  CHECK_INT(edb_open(which, NULL, 0, &unit_host, &c, NULL) == EDB_OK, 0);
  CHECK_INT(unit_blocks, 0);
}

static void test_open(void) {
  char text[128], expected[160];
  edb_connection c;
  FILE *f;
  unlink(path);
  snprintf(text, sizeof text, "sqlite:%s", path);
  snprintf(expected, sizeof expected, "cannot open \"%s\": there is no such file", path);
  refused(text, EDB_FAILED, expected, "mode=rwc creates it");
  snprintf(text, sizeof text, "sqlite:%s?mode=ro", path);
  refused(text, EDB_FAILED, expected, "mode=rwc creates it");
  refused("sqlite:", EDB_INVALID_QUERY, "needs a path", "");
  refused("sqlite:x?mode=rx", EDB_INVALID_QUERY, "mode is \"rx\"; valid ones: ro, rw, rwc", "");
  refused("sqlite:x?busy_timeout=", EDB_INVALID_QUERY, "busy_timeout is", "");
  refused("sqlite:x?busy_timeout=-1", EDB_INVALID_QUERY, "busy_timeout is \"-1\"", "");
  refused("sqlite:x?busy_timeout=1s", EDB_INVALID_QUERY, "busy_timeout is \"1s\"", "");
  refused("sqlite:.", EDB_FAILED, "cannot open \".\"", "");

  f = fopen(path, "w");
  fputs("this is no database, but a text that is long enough to be taken for the header of one\n",
        f);
  fputs("this is no database, but a text that is long enough to be taken for the header of one\n",
        f);
  fclose(f);
  snprintf(text, sizeof text, "sqlite:%s", path);
  refused(text, EDB_FAILED, "file is not a database", "");
  unlink(path);

  open_url(url, &c);
  unit_run(&c, "CREATE TABLE t (a INTEGER)");
  CHECK_INT(unit_run(&c, "INSERT INTO t VALUES (1)"), 1);
  CHECK_INT(edb_close(&c), EDB_OK);
  snprintf(text, sizeof text, "sqlite:%s?mode=ro", path);
  open_url(text, &c);
  CHECK_INT(integer(&c, "SELECT count(*) FROM t"), 1);
  fails(&c, "INSERT INTO t VALUES (2)", EDB_UNSUPPORTED, SQLITE_READONLY, "readonly");
  CHECK_INT(edb_close(&c), EDB_OK);
  snprintf(text, sizeof text, "sqlite:%s", path);
  open_url(text, &c);
  CHECK_INT(unit_run(&c, "INSERT INTO t VALUES (2)"), 1);
  CHECK_INT(edb_alive(&c), 1);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK(strncmp(edb_sqlite_driver.library(), "SQLite 3.", 9) == 0);
}

/* A file of someone else's may not call what its host has, nor may SQL write to its schema. */
static void test_hardened(edb_connection *c) {
  fails(c, "SELECT load_extension('x')", EDB_INVALID_QUERY, SQLITE_ERROR, "not authorized");
  unit_run(c, "PRAGMA writable_schema = ON");
  fails(c, "DELETE FROM sqlite_schema", EDB_INVALID_QUERY, SQLITE_ERROR, "may not be modified");
  CHECK_INT(integer(c, "PRAGMA trusted_schema"), 0);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void test_parameters(edb_connection *c) {
  static const unsigned char bytes[] = {0, 1, 255};
  static const struct {
    edb_value value;
    const char *stored; /* quote() of it, behind its typeof */
  } cases[] = {
      {{.kind = EDB_NULL}, "null NULL"},
      {{.kind = EDB_BOOL, .as.boolean = 1}, "integer 1"},
      {{.kind = EDB_BOOL, .as.boolean = 0}, "integer 0"},
      {{.kind = EDB_I64, .as.i64 = INT64_MIN}, "integer -9223372036854775808"},
      {{.kind = EDB_I64, .as.i64 = INT64_MAX}, "integer 9223372036854775807"},
      {{.kind = EDB_U64, .as.u64 = INT64_MAX}, "integer 9223372036854775807"},
      {{.kind = EDB_U64, .as.u64 = (uint64_t)INT64_MAX + 1}, "text '9223372036854775808'"},
      {{.kind = EDB_U64, .as.u64 = UINT64_MAX}, "text '18446744073709551615'"},
      {{.kind = EDB_F64, .as.f64 = 0.5}, "real 0.5"},
      {{.kind = EDB_TEXT, .as.text = {"", 0}}, "text ''"},
      {{.kind = EDB_TEXT, .as.text = {"it's \xc3\xa9, cut", 8}}, "text 'it''s \xc3\xa9,'"},
      {{.kind = EDB_BYTES, .as.bytes = {"", 0}}, "blob X''"},
      {{.kind = EDB_BYTES, .as.bytes = {(const char *)bytes, 3}}, "blob X'0001FF'"},
      {{.kind = EDB_TIME, .as.time = {0, 19782, EDB_DATE, 0}}, "text '2024-02-29'"},
      {{.kind = EDB_TIME, .as.time = {1500000000, 0, EDB_CLOCK, 0}}, "text '00:00:01.5'"},
      {{.kind = EDB_TIME, .as.time = {0, 0, EDB_DATETIME, 1}}, "text '1970-01-01 00:00:00Z'"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    edb_parameter p = {NULL, cases[i].value};
    const edb_value *v = first(c, "SELECT typeof(?1) || ' ' || quote(?1)", &p, 1);
    CHECK_BYTES(v->as.text.p, v->as.text.n, cases[i].stored, strlen(cases[i].stored));
  }
  {
    edb_parameter p = {NULL, {.kind = EDB_TEXT, .as.text = {"a\0b", 3}}};
    const edb_value *v = first(c, "SELECT ?", &p, 1);
    CHECK_BYTES(v->as.text.p, v->as.text.n, "a\0b", 3);
  }
}

static void test_named(edb_connection *c) {
  edb_parameter p[] = {{":b", {.kind = EDB_I64, .as.i64 = 2}},
                       {"@a", {.kind = EDB_I64, .as.i64 = 1}},
                       {"$c", {.kind = EDB_I64, .as.i64 = 3}}};
  edb_rows r;
  CHECK_INT(first(c, "SELECT @a * 100 + :b * 10 + $c", p, 3)->as.i64, 123);
  CHECK_INT(first(c, "SELECT :b + :b", p, 1)->as.i64, 4);
  CHECK_INT(edb_query(c, "SELECT :b, @a", p, 1, &r), EDB_INVALID_QUERY);
  CHECK_STR(edb_detail(c)->message, "the SQL has 2 parameters, and 1 were given");
  p[1].name = ":b";
  CHECK_INT(edb_query(c, "SELECT :b, @a", p, 2, &r), EDB_INVALID_QUERY);
  CHECK_STR(edb_detail(c)->message, "parameter :b is given twice");
  p[1].name = ":nothing";
  CHECK_INT(edb_query(c, "SELECT :b, @a", p, 2, &r), EDB_INVALID_QUERY);
  CHECK_STR(edb_detail(c)->message, "the SQL has no parameter :nothing");
  p[0].name = p[1].name = NULL;
  CHECK_INT(first(c, "SELECT ?2 * 10 + ?1", p, 2)->as.i64, 12);
  CHECK_INT(edb_query(c, "SELECT 1", p, 1, &r), EDB_INVALID_QUERY);
}

static void test_values(edb_connection *c) {
  edb_rows r;
  const edb_value *v;
  const edb_column *columns;
  size_t n;
  unit_run(c,
           "CREATE TABLE v (i INTEGER, r REAL, n DECIMAL(10,2), s TEXT, b BLOB, o BOOLEAN, d DATE,"
           " m TIME, t TIMESTAMP, j JSON, x)");
  unit_run(
      c, "INSERT INTO v VALUES (-5, 2, 1.50, 'caf\xc3\xa9', x'00ff', 1, '2024-02-29', '12:34:56.5',"
         " '2024-02-29 12:34:56Z', '{}', 'any')");
  unit_run(c, "INSERT INTO v VALUES ('not one', 'nor this', 'x', x'01', '', 2, '2024-2-29', 12, "
              "'2024-02-29 12:34:56.50', x'', 1.5)");
  unit_run(c,
           "INSERT INTO v VALUES (9223372036854775807, 9e999, -7, '', x'', 0, 20240229, '24:00:00',"
           " '2024-02-29 12:34:56', '1', NULL)");
  unit_run(c, "INSERT INTO v DEFAULT VALUES");
  CHECK_INT(edb_query(c, "SELECT *, i + 1, NULL FROM v", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT(n, 13);
  {
    static const struct {
      edb_kind kind;
      edb_declared declared;
      const char *name, *type_name;
    } expected[] = {{EDB_I64, EDB_DECLARED_INTEGER, "i", "INTEGER"},
                    {EDB_F64, EDB_DECLARED_REAL, "r", "REAL"},
                    {EDB_NULL, EDB_DECLARED_NUMERIC, "n", "DECIMAL(10,2)"},
                    {EDB_TEXT, EDB_DECLARED_TEXT, "s", "TEXT"},
                    {EDB_BYTES, EDB_DECLARED_BLOB, "b", "BLOB"},
                    {EDB_BOOL, EDB_DECLARED_INTEGER, "o", "BOOLEAN"},
                    {EDB_TIME, EDB_DECLARED_DATE, "d", "DATE"},
                    {EDB_TIME, EDB_DECLARED_TIME, "m", "TIME"},
                    {EDB_TIME, EDB_DECLARED_DATETIME, "t", "TIMESTAMP"},
                    {EDB_NULL, EDB_DECLARED_NUMERIC, "j", "JSON"},
                    {EDB_NULL, EDB_DECLARED_BLOB, "x", ""},
                    {EDB_NULL, EDB_DECLARED_BLOB, "i + 1", ""},
                    {EDB_NULL, EDB_DECLARED_BLOB, "NULL", ""}};
    for (size_t i = 0; i < n; i++) {
      CHECK_INT(columns[i].kind, expected[i].kind);
      CHECK_INT(columns[i].type->declared, expected[i].declared);
      CHECK_STR(columns[i].name, expected[i].name);
      CHECK_STR(columns[i].type_name, expected[i].type_name);
      CHECK_INT(columns[i].nullable, 1);
    }
  }
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK(v[0].kind == EDB_I64 && v[0].as.i64 == -5);
  CHECK(v[1].kind == EDB_F64 && v[1].as.f64 == 2);
  CHECK(v[2].kind == EDB_F64 && v[2].as.f64 == 1.5);
  CHECK(v[3].kind == EDB_TEXT);
  CHECK_TEXT(v[3].as.text.p, v[3].as.text.n, "caf\xc3\xa9");
  CHECK(v[4].kind == EDB_BYTES);
  CHECK_BYTES(v[4].as.bytes.p, v[4].as.bytes.n, "\0\xff", 2);
  CHECK(v[5].kind == EDB_BOOL && v[5].as.boolean == 1);
  CHECK(v[6].kind == EDB_TIME && v[6].as.time.form == EDB_DATE && v[6].as.time.days == 19782);
  CHECK(v[7].kind == EDB_TIME && v[7].as.time.form == EDB_CLOCK);
  CHECK(v[7].as.time.nanos == INT64_C(45296500000000));
  CHECK(v[8].kind == EDB_TIME && v[8].as.time.form == EDB_DATETIME && v[8].as.time.zoned == 1);
  CHECK(v[9].kind == EDB_TEXT && v[10].kind == EDB_TEXT);
  CHECK(v[11].kind == EDB_I64 && v[11].as.i64 == -4);
  CHECK(v[12].kind == EDB_NULL);
  /* What its declaration does not express comes as it is stored. */
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK(v[0].kind == EDB_TEXT && v[1].kind == EDB_TEXT && v[2].kind == EDB_TEXT);
  CHECK(v[3].kind == EDB_BYTES && v[4].kind == EDB_TEXT);
  CHECK(v[5].kind == EDB_I64 && v[5].as.i64 == 2);
  CHECK_TEXT(v[6].as.text.p, v[6].as.text.n, "2024-2-29");
  CHECK(v[7].kind == EDB_I64 && v[7].as.i64 == 12);
  CHECK_TEXT(v[8].as.text.p, v[8].as.text.n, "2024-02-29 12:34:56.50");
  CHECK(v[9].kind == EDB_BYTES && v[10].kind == EDB_F64);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK(v[0].as.i64 == INT64_MAX);
  CHECK(v[1].kind == EDB_F64 && v[1].as.f64 > 1e308);
  CHECK(v[2].kind == EDB_I64 && v[2].as.i64 == -7);
  CHECK(v[3].kind == EDB_TEXT && v[3].as.text.n == 0 && v[3].as.text.p);
  CHECK(v[4].kind == EDB_BYTES && v[4].as.bytes.n == 0 && v[4].as.bytes.p);
  CHECK(v[5].kind == EDB_BOOL && v[5].as.boolean == 0);
  CHECK(v[6].kind == EDB_I64 && v[7].kind == EDB_TIME);
  CHECK(v[8].kind == EDB_TIME && v[8].as.time.zoned == 0);
  CHECK(v[9].kind == EDB_I64); /* JSON has numeric affinity */
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  for (size_t i = 0; i < n; i++) CHECK_INT(v[i].kind, EDB_NULL);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
}

static void test_types(void) {
  static const struct {
    const char *name;
    edb_declared declared;
    edb_kind kind;
    edb_compare compare;
  } cases[] = {{"INT", EDB_DECLARED_INTEGER, EDB_I64, EDB_COMPARE_SQLITE},
               {"unsigned big int", EDB_DECLARED_INTEGER, EDB_I64, EDB_COMPARE_SQLITE},
               {"FLOATING POINT", EDB_DECLARED_INTEGER, EDB_I64, EDB_COMPARE_SQLITE}, /* so it is */
               {"VARCHAR(20)", EDB_DECLARED_TEXT, EDB_TEXT, EDB_COMPARE_TEXT},
               {"clob", EDB_DECLARED_TEXT, EDB_TEXT, EDB_COMPARE_TEXT},
               {"BLOB", EDB_DECLARED_BLOB, EDB_BYTES, EDB_COMPARE_NONE},
               {"", EDB_DECLARED_BLOB, EDB_NULL, EDB_COMPARE_NONE},
               {"double precision", EDB_DECLARED_REAL, EDB_F64, EDB_COMPARE_SQLITE},
               {"FLOAT", EDB_DECLARED_REAL, EDB_F64, EDB_COMPARE_SQLITE},
               {"DECIMAL(9,2)", EDB_DECLARED_NUMERIC, EDB_NULL, EDB_COMPARE_SQLITE},
               {"STRING", EDB_DECLARED_NUMERIC, EDB_NULL, EDB_COMPARE_SQLITE}, /* so it is */
               {"bool", EDB_DECLARED_INTEGER, EDB_BOOL, EDB_COMPARE_SQLITE},
               {"DATE", EDB_DECLARED_DATE, EDB_TIME, EDB_COMPARE_SQLITE},
               {"TIME", EDB_DECLARED_TIME, EDB_TIME, EDB_COMPARE_SQLITE},
               {"datetime", EDB_DECLARED_DATETIME, EDB_TIME, EDB_COMPARE_SQLITE},
               {"TIMESTAMP (6)", EDB_DECLARED_DATETIME, EDB_TIME, EDB_COMPARE_SQLITE},
               {"TIMESTAMP WITH TIME ZONE", EDB_DECLARED_NUMERIC, EDB_NULL, EDB_COMPARE_SQLITE},
               {"JSON", EDB_DECLARED_NUMERIC, EDB_NULL, EDB_COMPARE_SQLITE},
               {"ANY", EDB_DECLARED_BLOB, EDB_NULL, EDB_COMPARE_NONE},
               {"INTEGER PRIMARY KEY", EDB_DECLARED_INTEGER, EDB_I64, EDB_COMPARE_INTEGER},
               {"(", EDB_DECLARED_NUMERIC, EDB_NULL, EDB_COMPARE_SQLITE}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const edb_type *type = edb_sqlite_type(cases[i].name);
    int ok = CHECK_INT(type->declared, cases[i].declared);
    ok &= CHECK_INT(type->kind, cases[i].kind) & CHECK_INT(type->compare, cases[i].compare);
    if (!ok) printf("  %s\n", cases[i].name);
  }
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void test_errors(edb_connection *c) {
  edb_statement s;
  unit_run(
      c, "CREATE TABLE e (id INTEGER PRIMARY KEY, u TEXT UNIQUE, k INT CHECK (k > 0), m NOT NULL)");
  unit_run(c, "INSERT INTO e VALUES (1, 'a', 1, 1)");
  fails(c, "SELEC 1", EDB_INVALID_QUERY, SQLITE_ERROR, "syntax error");
  fails(c, "SELECT * FROM nowhere", EDB_INVALID_QUERY, SQLITE_ERROR, "no such table: nowhere");
  fails(c, "SELECT nowhere FROM e", EDB_INVALID_QUERY, SQLITE_ERROR, "no such column: nowhere");
  fails(c, "", EDB_INVALID_QUERY, 0, "no statement");
  fails(c, " ; -- nothing\n /* at all */ ;", EDB_INVALID_QUERY, 0, "no statement");
  fails(c, "SELECT 1; SELECT 2", EDB_INVALID_QUERY, 0, "more than one statement");
  fails(c, "SELECT 1; x", EDB_INVALID_QUERY, 0, "more than one statement");
  CHECK_INT(integer(c, "SELECT 1; -- comment"), 1);
  CHECK_INT(integer(c, "SELECT 1;;\n /* a */ -- b\n;/* open"), 1);
  fails(c, "INSERT INTO e VALUES (1, 'b', 1, 1)", EDB_CONSTRAINT, SQLITE_CONSTRAINT_PRIMARYKEY,
        "UNIQUE constraint failed: e.id");
  fails(c, "INSERT INTO e VALUES (2, 'a', 1, 1)", EDB_CONSTRAINT, SQLITE_CONSTRAINT_UNIQUE, "e.u");
  fails(c, "INSERT INTO e VALUES (2, 'b', 0, 1)", EDB_CONSTRAINT, SQLITE_CONSTRAINT_CHECK, "k > 0");
  fails(c, "INSERT INTO e VALUES (2, 'b', 1, NULL)", EDB_CONSTRAINT, SQLITE_CONSTRAINT_NOTNULL,
        "e.m");
  fails(c, "INSERT INTO e (id, m) VALUES ('x', 1)", EDB_INVALID_QUERY, SQLITE_MISMATCH, "mismatch");
  fails(c, "SELECT abs(-9223372036854775808)", EDB_INVALID_QUERY, SQLITE_ERROR, "integer overflow");
  fails(c, "SELECT zeroblob(2000000000)", EDB_INVALID_QUERY, SQLITE_TOOBIG, "too big");
  CHECK_INT(edb_prepare(c, "SELECT * FROM nowhere", 0, &s), EDB_INVALID_QUERY);
  CHECK_INT(integer(c, "SELECT count(*) FROM e"), 1);
}

static void test_error_in_scan(edb_connection *c) {
  edb_rows r;
  const edb_value *v;
  CHECK_INT(edb_query(c,
                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)"
                      " SELECT CASE WHEN i < 4 THEN i ELSE abs(-9223372036854775808) END FROM n",
                      NULL, 0, &r),
            EDB_OK);
  for (int i = 1; i < 4; i++) {
    CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
    CHECK_INT(v[0].as.i64, i);
  }
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_INVALID_QUERY);
  CHECK_STR(edb_detail(c)->message, "integer overflow");
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(integer(c, "SELECT 1"), 1);
}

static void test_affected(edb_connection *c) {
  edb_statement s;
  edb_parameter p = unit_i64(10);
  int64_t affected = -1;
  CHECK_INT(unit_run(c, "CREATE TABLE a (i INTEGER)"), 0);
  CHECK_INT(unit_run(c, "INSERT INTO a VALUES (1), (2), (3)"), 3);
  CHECK_INT(unit_run(c, "CREATE TABLE a2 (i INTEGER)"), 0);
  CHECK_INT(unit_run(c, "UPDATE a SET i = i + 1 WHERE i > 1"), 2);
  CHECK_INT(unit_run(c, "UPDATE a SET i = 1 WHERE i > 100"), 0);
  CHECK_INT(unit_run(c, "SELECT * FROM a"), 0);
  CHECK_INT(unit_run(c, "PRAGMA user_version"), 0);
  CHECK_INT(unit_run(c, "INSERT INTO a2 SELECT i FROM a RETURNING i"), 3);
  CHECK_INT(unit_run(c, "CREATE TRIGGER tr AFTER DELETE ON a BEGIN DELETE FROM a2; END"), 0);
  CHECK_INT(unit_run(c, "DELETE FROM a WHERE i = 1"), 1); /* its own, not the trigger's */
  CHECK_INT(unit_run(c, "DROP TRIGGER tr"), 0);
  CHECK_INT(unit_run(c, "DELETE FROM a"), 2);
  CHECK_INT(unit_run(c, "DROP TABLE a2"), 0);
  CHECK_INT(edb_prepare(c, "INSERT INTO a VALUES (?)", 0, &s), EDB_OK);
  for (int i = 0; i < 3; i++) {
    CHECK_INT(edb_statement_execute(&s, &p, 1, &affected), EDB_OK);
    CHECK_INT(affected, 1);
  }
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  CHECK_INT(integer(c, "SELECT count(*) FROM a WHERE i = 10"), 3);
}

/* A prepared statement runs again with other parameters, and after the schema changed. */
static void test_prepared(edb_connection *c) {
  edb_statement s;
  edb_rows r;
  edb_row row = {.host = &unit_host};
  const edb_column *columns;
  size_t n;
  char text[] = "changes later";
  edb_parameter p = unit_text(text);
  unit_run(c, "CREATE TABLE p (a TEXT)");
  unit_run(c, "INSERT INTO p VALUES ('changes later'), ('x')");
  CHECK_INT(edb_prepare(c, "SELECT *, ? || a FROM p", 0, &s), EDB_OK);
  CHECK_INT(edb_statement_query(&s, &p, 1, &r), EDB_OK);
  memset(text, 'y', sizeof text - 1); /* the call is over: the reader has its own */
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_TEXT(row.values[0].as.text.p, row.values[0].as.text.n, "x");
  CHECK_TEXT(row.values[1].as.text.p, row.values[1].as.text.n, "changes laterx");
  unit_run(c, "ALTER TABLE p ADD COLUMN b BOOL DEFAULT 1");
  CHECK_INT(edb_statement_query(&s, &p, 1, &r), EDB_OK);
  CHECK_INT(edb_rows_columns(&r, &columns, &n), EDB_OK);
  CHECK_INT(n, 3);
  CHECK_STR(columns[1].name, "b");
  CHECK_INT(edb_rows_next(&r, &row), EDB_ROW);
  CHECK_INT(row.count, 3);
  CHECK_INT(row.values[1].kind, EDB_BOOL);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  unit_run(c, "DROP TABLE p");
  CHECK_INT(edb_statement_query(&s, &p, 1, &r), EDB_INVALID_QUERY);
  CHECK_STR(edb_detail(c)->message, "no such table: p");
  unit_run(c, "CREATE TABLE p (z)");
  CHECK_INT(edb_statement_query(&s, &p, 1, &r), EDB_INVALID_QUERY); /* no a */
  CHECK_INT(edb_statement_close(&s), EDB_OK);
  edb_row_clear(&row);
}

/* ---- Transactions and locks ------------------------------------------------------------------ */

static void test_transactions(edb_connection *c) {
  edb_transaction t;
  edb_rows r;
  unit_run(c, "CREATE TABLE x (i INTEGER PRIMARY KEY, y INTEGER REFERENCES x DEFERRABLE INITIALLY "
              "DEFERRED)");
  unit_run(c, "PRAGMA foreign_keys = ON");
  /* What fails at COMMIT is over, and nothing of it stays. */
  CHECK_INT(edb_begin(c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO x VALUES (1, 99)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_CONSTRAINT);
  CHECK_INT(edb_detail(c)->vendor, SQLITE_CONSTRAINT_FOREIGNKEY);
  CHECK_INT(edb_transaction_commit(&t), EDB_CLOSED);
  CHECK_INT(integer(c, "SELECT count(*) FROM x"), 0);

  /* After SQLite ended it by itself nothing runs in its place. */
  CHECK_INT(edb_begin(c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO x VALUES (1, NULL)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(
      edb_transaction_execute(&t, "INSERT OR ROLLBACK INTO x VALUES (1, NULL)", NULL, 0, NULL),
      EDB_CONSTRAINT);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO x VALUES (2, NULL)", NULL, 0, NULL),
            EDB_FAILED);
  CHECK_STR(edb_detail(c)->message,
            "the transaction was rolled back: UNIQUE constraint failed: x.i");
  CHECK_INT(edb_query(c, "SELECT 1", NULL, 0, &r), EDB_FAILED);
  CHECK_INT(edb_transaction_commit(&t), EDB_FAILED);
  CHECK_INT(integer(c, "SELECT count(*) FROM x"), 0);
  CHECK_INT(edb_begin(c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "ROLLBACK", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  CHECK_INT(integer(c, "SELECT count(*) FROM x"), 0);
  unit_run(c, "PRAGMA foreign_keys = OFF");
}

static void test_locks(void) {
  edb_connection a, b;
  edb_transaction t, u;
  edb_rows r;
  edb_error e;
  char text[160];
  int64_t affected;
  snprintf(text, sizeof text, "%s&busy_timeout=30", url);
  open_url(text, &a);
  open_url(text, &b);
  unit_run(&a, "CREATE TABLE l (i INTEGER)");
  CHECK_INT(edb_begin(&a, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO l VALUES (1)", NULL, 0, NULL), EDB_OK);
  unit_asked = 0;
  CHECK_INT(edb_execute(&b, "INSERT INTO l VALUES (2)", NULL, 0, &affected), EDB_BUSY);
  CHECK_INT(edb_detail(&b)->vendor, SQLITE_BUSY);
  CHECK(unit_asked >= 3); /* while it waited */
  /* A commit that has to wait for a reader is Busy, and can be tried again. */
  CHECK_INT(edb_query(&b, "SELECT * FROM t", NULL, 0, &r), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_BUSY);
  CHECK(t.context != NULL);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO l VALUES (3)", NULL, 0, NULL), EDB_OK);
  CHECK_INT(edb_rows_close(&r), EDB_OK);
  CHECK_INT(edb_transaction_commit(&t), EDB_OK);
  CHECK_INT(integer(&b, "SELECT count(*) FROM l"), 2);
  /* The wait for a lock is interrupted too. */
  CHECK_INT(edb_begin(&a, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO l VALUES (1)", NULL, 0, NULL), EDB_OK);
  unit_interrupt = 1;
  CHECK_INT(edb_execute(&b, "INSERT INTO l VALUES (2)", NULL, 0, NULL), EDB_INTERRUPTED);
  CHECK_STR(edb_detail(&b)->message, "interrupted");
  unit_interrupt = 0;
  CHECK_INT(edb_begin(&b, &u), EDB_OK);
  CHECK_INT(edb_transaction_rollback(&u), EDB_OK);
  CHECK_INT(edb_transaction_rollback(&t), EDB_OK);
  /* A file that another has locked whole is Busy when it is opened. */
  unit_run(&a, "PRAGMA locking_mode = EXCLUSIVE");
  unit_run(&a, "INSERT INTO l VALUES (9)");
  CHECK_INT(edb_close(&b), EDB_OK);
  CHECK_INT(edb_open(text, NULL, 0, &unit_host, &b, &e), EDB_BUSY);
  CHECK_INT(e.code, EDB_BUSY);
  CHECK_INT(edb_close(&a), EDB_OK);
  first(NULL, NULL, NULL, 0);
  CHECK_INT(unit_blocks, 0);
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

static const char endless[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                              " SELECT count(*) FROM n";

static void *cancel_soon(void *connection) {
  usleep(30000);
  edb_cancel(connection);
  return NULL;
}

static void test_interrupts(edb_connection *c) {
  pthread_t thread;
  time_t before;
  edb_rows r;
  edb_transaction t;
  const edb_value *v;

  CHECK_INT(edb_cancel(c), EDB_OK); /* nothing runs */
  CHECK_INT(integer(c, "SELECT 1"), 1);
  unit_interrupt = 1;
  CHECK_INT(edb_query(c, endless, NULL, 0, &r), EDB_INTERRUPTED);
  CHECK_STR(edb_detail(c)->message, "interrupted");
  unit_interrupt = 0;
  CHECK_INT(integer(c, "SELECT 1"), 1);

  before = time(NULL);
  unit_host.timeout_ms = 30;
  CHECK_INT(edb_execute(c, endless, NULL, 0, NULL), EDB_INTERRUPTED);
  CHECK_STR(edb_detail(c)->message, "no answer within 30 ms");
  CHECK(time(NULL) - before < 10);
  unit_host.timeout_ms = 0;
  CHECK_INT(integer(c, "SELECT 1"), 1);

  CHECK_INT(pthread_create(&thread, NULL, cancel_soon, c), 0);
  CHECK_INT(edb_query(c, endless, NULL, 0, &r), EDB_INTERRUPTED);
  CHECK_INT(edb_detail(c)->vendor & 0xff, edb_detail(c)->vendor ? SQLITE_INTERRUPT : 0);
  pthread_join(thread, NULL);
  CHECK_INT(integer(c, "SELECT 1"), 1);

  /* Between two rows. */
  CHECK_INT(edb_query(c,
                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                      " SELECT i FROM n",
                      NULL, 0, &r),
            EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_ROW);
  CHECK_INT(edb_cancel(c), EDB_OK);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_INTERRUPTED);
  CHECK_INT(edb_rows_next_borrowed(&r, &v), EDB_DONE);
  CHECK_INT(edb_rows_close(&r), EDB_OK);

  /* A write that is interrupted ends its transaction. */
  unit_run(c, "CREATE TABLE w (i INTEGER)");
  CHECK_INT(edb_begin(c, &t), EDB_OK);
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO w VALUES (1)", NULL, 0, NULL), EDB_OK);
  unit_interrupt = 1;
  CHECK_INT(edb_transaction_execute(&t,
                                    "INSERT INTO w WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                                    " SELECT i + 1 FROM n) SELECT i FROM n",
                                    NULL, 0, NULL),
            EDB_INTERRUPTED);
  unit_interrupt = 0;
  CHECK_INT(edb_transaction_execute(&t, "INSERT INTO w VALUES (2)", NULL, 0, NULL), EDB_FAILED);
  CHECK_INT(edb_transaction_commit(&t), EDB_FAILED);
  CHECK_INT(integer(c, "SELECT count(*) FROM w"), 0);
}

/* ---- The catalog ----------------------------------------------------------------------------- */

/* A catalog query's rows, as `a|b|c` with a blank behind each row. */
static void catalog(edb_connection *c, const char *sql, const char *table, const char *expected) {
  edb_parameter p[2] = {{NULL, {.kind = EDB_NULL}}, {NULL, {.kind = EDB_NULL}}};
  char text[2048] = "";
  size_t used = 0, n;
  const edb_column *columns;
  const edb_value *v;
  edb_rows r;
  if (table) p[1] = unit_text(table);
  if (!CHECK_INT(edb_query(c, sql, p, table ? 2 : 1, &r), EDB_OK)) {
    printf("  %s\n", edb_detail(c)->message);
    return;
  }
  edb_rows_columns(&r, &columns, &n);
  while (edb_rows_next_borrowed(&r, &v) == EDB_ROW) {
    for (size_t i = 0; i < n; i++) {
      const char *between = i + 1 < n ? "|" : " ";
      if (v[i].kind == EDB_I64) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%" PRId64 "%s", v[i].as.i64,
                                 between);
      } else {
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s%s",
                                 v[i].kind == EDB_TEXT ? (int)v[i].as.text.n : 0,
                                 v[i].kind == EDB_TEXT ? v[i].as.text.p : "", between);
      }
    }
  }
  edb_rows_close(&r);
  CHECK_STR(text, expected);
}

static void test_catalog(void) {
  static const char *const schema[] = {
      "CREATE TABLE alias (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', f BOOL)",
      "CREATE TABLE descending (id INTEGER PRIMARY KEY DESC, name)",
      "CREATE TABLE nullable (a TEXT PRIMARY KEY, b)",
      "CREATE TABLE pair (x INT NOT NULL, y TEXT NOT NULL, z, PRIMARY KEY (y, x))",
      "CREATE TABLE worowid (a TEXT PRIMARY KEY, b) WITHOUT ROWID",
      "CREATE TABLE nokey (a, b INT)",
      "CREATE TABLE shadowed (rowid TEXT, _ROWID_ INT)",
      "CREATE TABLE \"odd \"\"name\" (\"a|b\" INTEGER, g AS (1), h AS (2) STORED)",
      "CREATE VIEW v AS SELECT id, name FROM alias",
      "INSERT INTO nokey VALUES (1, 2), (3, 4)"};
  const edb_catalog *k = &edb_sqlite_catalog;
  edb_connection c;
  open_url("sqlite::memory:", &c);
  for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++) unit_run(&c, schema[i]);
  catalog(&c, k->tables, NULL,
          "main|alias|table|| main|descending|table|| main|nokey|table|| main|nullable|table|| "
          "main|odd \"name|table|| main|pair|table|| main|shadowed|table|| main|v|view|| "
          "main|worowid|table|| ");
  catalog(&c, k->relation, "alias", "main|alias|table|||1 ");
  catalog(&c, k->relation, "ALIAS", "main|alias|table|||1 ");
  catalog(&c, k->relation, "descending", "main|descending|table||rowid|1 ");
  catalog(&c, k->relation, "nullable", "main|nullable|table||rowid|1 ");
  catalog(&c, k->relation, "pair", "main|pair|table|||1 ");
  catalog(&c, k->relation, "worowid", "main|worowid|table|||1 ");
  catalog(&c, k->relation, "nokey", "main|nokey|table||rowid|1 ");
  catalog(&c, k->relation, "shadowed", "main|shadowed|table||oid|1 ");
  catalog(&c, k->relation, "odd \"name", "main|odd \"name|table||rowid|1 ");
  catalog(&c, k->relation, "v", "main|v|view|||1 ");
  catalog(&c, k->relation, "nothing", "");
  /* Of a view or a virtual table, no collation is told. */
  catalog(&c, k->columns, "alias",
          "id|INTEGER PRIMARY KEY|INTEGER|0|1|1|0 name|TEXT COLLATE BINARY|TEXT|0|0|1|0 "
          "f|BOOL COLLATE BINARY|BOOL|1|0|0|0 ");
  catalog(&c, k->columns, "descending",
          "id|INTEGER COLLATE BINARY|INTEGER|1|0|0|1 name| COLLATE BINARY||1|0|0|0 ");
  catalog(&c, k->columns, "nullable",
          "a|TEXT COLLATE BINARY|TEXT|1|0|0|1 b| COLLATE BINARY||1|0|0|0 ");
  catalog(&c, k->columns, "pair",
          "x|INT COLLATE BINARY|INT|0|2|0|0 y|TEXT COLLATE BINARY|TEXT|0|1|0|0 z| COLLATE "
          "BINARY||1|0|0|0 ");
  catalog(&c, k->columns, "worowid",
          "a|TEXT COLLATE BINARY|TEXT|0|1|0|1 b| COLLATE BINARY||1|0|0|0 ");
  catalog(&c, k->columns, "odd \"name",
          "a|b|INTEGER COLLATE BINARY|INTEGER|1|0|0|0 g| COLLATE BINARY||1|0|2|0 h| COLLATE "
          "BINARY||1|0|2|0 ");
  catalog(&c, k->columns, "v",
          "id|INTEGER COLLATE OTHER|INTEGER|1|0|0|0 name|TEXT COLLATE OTHER|TEXT|1|0|0|0 ");
  catalog(&c, k->columns, "nothing", "");
  {
    edb_rows r;
    CHECK_INT(integer(&c, "SELECT max(_rowid_) FROM \"nokey\""), 2);
    CHECK_INT(edb_query(&c, "SELECT max(_rowid_) FROM \"worowid\"", NULL, 0, &r),
              EDB_INVALID_QUERY);
  }
  /* Hidden columns are not shown, and nobody counts a virtual table. */
  if (edb_execute(&c, "CREATE VIRTUAL TABLE f USING fts5(body)", NULL, 0, NULL) == EDB_OK) {
    catalog(&c, k->relation, "f", "main|f|virtual|10000||1 ");
    catalog(&c, k->columns, "f", "body| COLLATE OTHER||1|0|0|0 ");
  }
  first(NULL, NULL, NULL, 0);
  CHECK_INT(edb_close(&c), EDB_OK);
}

int main(void) {
  edb_connection c;
  unit_use_sqlite();
  snprintf(path, sizeof path, "unit_sqlite_%ld.db", (long)getpid());
  snprintf(url, sizeof url, "sqlite:%s?mode=rwc", path);
  test_open();
  first(NULL, NULL, NULL, 0);
  test_types();
  open_url(url, &c);
  test_hardened(&c);
  test_parameters(&c);
  test_named(&c);
  test_values(&c);
  test_errors(&c);
  test_error_in_scan(&c);
  test_affected(&c);
  test_prepared(&c);
  test_transactions(&c);
  test_interrupts(&c);
  first(NULL, NULL, NULL, 0);
  CHECK_INT(edb_close(&c), EDB_OK);
  test_locks();
  test_catalog();
  CHECK_INT(unit_blocks, 0);
  unlink(path);
  return unit_done("sqlite_driver");
}
