/*
** load_postgresql.c: loads into PostgreSQL: by COPY in both of its formats, by INSERTs where there is no COPY.
**
** servers: postgresql
*/
#define LIVE_URL "EDB_TEST_POSTGRESQL_URL"
#include "load_live.h"

static edb_connection c;

static void must_begin(edb_transaction *t) { CHECK_INT(edb_begin(&c, t), EDB_OK); }

static void within(edb_transaction *t, const char *sql) {
  if (!CHECK_INT(edb_transaction_execute(t, sql, NULL, 0, NULL), EDB_OK)) {
    printf("  %s: %s\n", sql, why(&c));
  }
}

#define SUMS                                                                                       \
  "SELECT count(*) || ' ' || sum(id) || ' ' || sum(length(name)) || ' ' || sum(score) FROM "

/* ---- Rows ------------------------------------------------------------------------------------------- */

static void test_rows(const char *create, const char *table, int64_t most) {
  target t;
  int64_t row;
  char sql[200], expected[100];
  run(&c, create);
  aim(&t, &c, table, "id int8, name text, score float8");
  snprintf(sql, sizeof sql, SUMS "%s", table);
  for (int64_t n = 0, before = 0; n <= most; n = n * 7 + 1) {
    CHECK_INT(load_rows(&c, &t, before + 1, before + n, 0, &row), EDB_OK);
    before += n;
    int64_t chars = 0;
    for (int64_t i = 1; i <= before; i++) chars += snprintf(NULL, 0, "name %" PRId64, i);
    snprintf(expected, sizeof expected, "'%" PRId64 " %" PRId64 " %" PRId64 " %.15g'", before,
             before * (before + 1) / 2, chars, (double)(before * (before + 1) / 2) / 8);
    if (before > 0) CHECK_STR(one(&c, sql, 0, NULL, 0), expected);
  }
}

/* The row to blame, wherever it is, and nothing of it or of the others stays. */
static void test_blame(const char *table, int64_t most) {
  target t;
  edb_transaction transaction;
  char sql[200];
  aim(&t, &c, table, "id int8, name text, score float8");
  snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE id < 0", table);
  for (int64_t bad = 2; bad <= most; bad = bad * 3 - 1) {
    for (int inside = 0; inside < 2; inside++) {
      int64_t row;
      if (inside) {
        must_begin(&transaction);
        within(&transaction, "SAVEPOINT a");
      }
      CHECK_INT(load_rows(&c, &t, -100000, -100000 + most - 1, -100000 + bad - 1, &row),
                EDB_CONSTRAINT);
      if (!CHECK_INT(row, bad)) printf("  of %" PRId64 " rows into %s\n", most, table);
      if (inside) {
        within(&transaction, "ROLLBACK TO SAVEPOINT a");
        CHECK_INT(edb_transaction_commit(&transaction), EDB_OK);
      } else if (strcmp(table, "load") != 0) {
        snprintf(sql, sizeof sql, "DELETE FROM load WHERE id < 0"); /* INSERTs by themselves */
        run(&c, sql);
      }
      usable(&c);
    }
  }
  CHECK_STR(one(&c, "SELECT count(*) FROM load WHERE id < 0", 0, NULL, 0), "0");
}

/* ---- Values ------------------------------------------------------------------------------------------ */

typedef struct value_case {
  const char *type; /* SQL's */
  const char *name; /* the dialect's */
  edb_parameter value;
  const char *expected; /* as text; NULL: refused */
} value_case;

/* Each value alone, and behind a row of text that has the load go on in COPY's text format. */
static void test_value(const value_case *v) {
  for (int as_text = 0; as_text < 2; as_text++) {
    char sql[300], columns[100];
    target t;
    run(&c, "DROP TABLE IF EXISTS v");
    snprintf(sql, sizeof sql, "CREATE TABLE v (a %s, b %s)", v->type, as_text ? "numeric" : "int4");
    run(&c, sql);
    snprintf(columns, sizeof columns, "a %s, b %s", v->name, as_text ? "numeric" : "int4");
    aim(&t, &c, "v", columns);
    edb_value row[2] = {v->value.value, integer(1).value};
    int rc = load_one(&c, &t, row);
    if (!CHECK_INT(rc == EDB_OK, v->expected != NULL)) printf("  %s: %s\n", v->type, why(&c));
    if (v->expected) {
      CHECK_STR(one(&c, "SELECT coalesce(a::text, 'NULL') FROM v", 0, NULL, 0), v->expected);
    } else {
      CHECK_INT(edb_detail(&c)->row, 1);
      CHECK_STR(one(&c, "SELECT count(*) FROM v", 0, NULL, 0), "0");
    }
  }
}

static void test_values(void) {
  const int64_t noon = INT64_C(43200500000000);
  const value_case cases[] = {
      {"int2", "int2", integer(-32768), "'-32768'"},
      {"int2", "int2", integer(32768), NULL},
      {"int4", "int4", text("12"), "'12'"},
      {"int8", "int8", integer(INT64_MIN), "'-9223372036854775808'"},
      {"int8", "int8", real(5), "'5'"},
      {"int8", "int8", real(5.5), NULL},
      {"int8", "int8", null(), "'NULL'"},
      {"int8", "int8", text("abc"), NULL},
      {"bool", "bool", integer(1), "'true'"},
      {"bool", "bool", text("off"), "'false'"},
      {"oid", "oid", integer(4294967295), "'4294967295'"},
      {"float4", "float4", real(0.1), "'0.1'"},
      {"float8", "float8", real(1e300), "'1e+300'"},
      {"float8", "float8", real(HUGE_VAL), "'Infinity'"},
      {"float8", "float8", text("NaN"), "'NaN'"},
      {"numeric(10,2)", "numeric", text("60.00"), "'60.00'"},
      {"numeric", "numeric", real(0.1), "'0.1'"},
      {"text", "text", text(""), "''"},
      {"text", "text", text("\\N"), "'\\N'"},
      {"text", "text", text("a\tb\nc\rd\\e\\.\n\\.\n"), "'a\tb\nc\rd\\e\\.\n\\.\n'"},
      {"text", "text", text("h\xc3\xa9llo"), "'h\xc3\xa9llo'"},
      {"text", "text", integer(7), "'7'"},
      {"text", "text", bytes("a\0b", 3), NULL},
      {"varchar(3)", "varchar", text("abcd"), NULL},
      {"char(4)", "bpchar", text("ab"), "'ab'"},
      {"bytea", "bytea", bytes("\0\\\t\xff", 4), "'\\x005c09ff'"},
      {"bytea", "bytea", bytes("", 0), "'\\x'"},
      {"bytea", "bytea", text("abc"), "'\\x616263'"},
      {"date", "date", moment(EDB_DATE, 19782, 0, 0), "'2024-02-29'"},
      {"date", "date", text("2024-02-29"), "'2024-02-29'"},
      {"date", "date", text("infinity"), "'infinity'"},
      {"date", "date", text("0044-03-15 BC"), "'0044-03-15 BC'"},
      {"date", "date", text("2024-02-30"), NULL},
      {"time", "time", moment(EDB_CLOCK, 0, noon, 0), "'12:00:00.5'"},
      {"time", "time", text("23:59:59.999999"), "'23:59:59.999999'"},
      {"timetz", "timetz", text("12:00:00Z"), "'12:00:00+00'"},
      {"timestamp", "timestamp", moment(EDB_DATETIME, 19782, noon, 0), "'2024-02-29 12:00:00.5'"},
      {"timestamp", "timestamp", text("1969-12-31 23:59:59.5"), "'1969-12-31 23:59:59.5'"},
      {"timestamptz", "timestamptz", text("2024-02-29 12:00:00Z"), "'2024-02-29 12:00:00+00'"},
      {"timestamptz", "timestamptz", text("2024-02-29 12:00:00+02"), "'2024-02-29 10:00:00+00'"},
      {"uuid", "uuid", text("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
       "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"},
      {"uuid", "uuid", bytes("0123456789abcdef", 16), "'30313233-3435-3637-3839-616263646566'"},
      {"json", "json", text("{\"a\": \"\\n\"}"), "'{\"a\": \"\\n\"}'"},
      {"jsonb", "jsonb", text("{\"a\": \"\\t\"}"), "'{\"a\": \"\\t\"}'"},
      {"jsonb", "jsonb", text("{"), NULL},
      {"money", "money", text("12.5"), "'$12.50'"},
      {"bit(3)", "bit", text("101"), "'101'"},
      {"\"char\"", "char", text("x"), "'x'"},
      {"interval", "interval", text("1 day"), "'1 day'"},
      {"int[]", "array", text("{1,2,NULL}"), "'{1,2,NULL}'"},
      {"inet", "inet", text("10.0.0.1/8"), "'10.0.0.1/8'"},
      {"load_mood", "load_mood", text("sad"), "'sad'"},
      {"load_mood", "load_mood", text("cheerful"), NULL},
      {"load_small", "int4", integer(7), "'7'"},
      {"load_small", "int4", integer(11), NULL},
  };
  run(&c, "CREATE TYPE load_mood AS ENUM ('sad', 'happy')");
  run(&c, "CREATE DOMAIN load_small AS int CHECK (VALUE < 10)");
  run(&c, "SET lc_monetary TO 'C'");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) test_value(&cases[i]);
}

/* A load whose first rows are binary and whose last are not: each counts as what it is. */
static void test_formats(void) {
  target t;
  edb_load load;
  run(&c, "CREATE TABLE formats (id int8 PRIMARY KEY, day date)");
  aim(&t, &c, "formats", "id int8, day date");
  for (int bad = 0; bad < 2; bad++) {
    int rc = edb_load_begin(&c, &t.spec, &load);
    for (int i = 1; rc == EDB_OK && i <= 3000; i++) {
      edb_value row[2] = {integer(bad && i == 2500 ? 1 : i).value,
                          text(i % 2000 == 1999 ? "infinity" : "2024-02-29").value};
      rc = edb_load_row(&load, row);
    }
    if (rc == EDB_OK) rc = edb_load_end(&load);
    CHECK_INT(rc, bad ? EDB_CONSTRAINT : EDB_OK);
    if (!bad) {
      CHECK_STR(
          one(&c, "SELECT count(*) || ' ' || count(*) FILTER (WHERE day = 'infinity') FROM formats",
              0, NULL, 0),
          "'3000 1'");
      run(&c, "TRUNCATE formats");
    } else {
      CHECK_INT(edb_detail(&c)->row, 2500);
      edb_load_abort(&load);
    }
    usable(&c);
  }
}

/* ---- What is no table, or no ordinary one ------------------------------------------------------------ */

static void test_relations(void) {
  target t;
  int64_t row;
  static const char *const setup[] = {
      "CREATE VIEW load_view AS SELECT * FROM load",
      "CREATE VIEW load_trigger AS SELECT id, name, score FROM load",
      "CREATE FUNCTION load_function() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN INSERT INTO load VALUES (NEW.id, NEW.name, NEW.score); RETURN NEW; END'",
      "CREATE TRIGGER load_instead INSTEAD OF INSERT ON load_trigger FOR EACH ROW"
      " EXECUTE FUNCTION load_function()",
      "CREATE TABLE load_ruled (id int8, name text, score float8)",
      "CREATE RULE load_rule AS ON INSERT TO load_ruled DO INSTEAD INSERT INTO load VALUES (NEW.*)",
      "CREATE TABLE load_parts (id int8, name text, score float8) PARTITION BY RANGE (id)",
      "CREATE TABLE load_part PARTITION OF load_parts FOR VALUES FROM (-1000000) TO (5000)",
      "CREATE TABLE load_more (x int DEFAULT 7, id int8 GENERATED BY DEFAULT AS IDENTITY,"
      " name text, twice text GENERATED ALWAYS AS (name || name) STORED)",
      "CREATE TABLE load_always (id int8 GENERATED ALWAYS AS IDENTITY, name text)",
      "CREATE SCHEMA \"load \"\"s.\"",
      "CREATE TABLE \"load \"\"s.\".\"T \"\".\" (\"a \"\"b\" int, \"\xc3\xa9\" text)"};
  run(&c, "TRUNCATE load");
  for (size_t i = 0; i < sizeof setup / sizeof setup[0]; i++) run(&c, setup[i]);
  static const char *const through[] = {"load_view", "load_trigger", "load_ruled"};
  for (int i = 0; i < 3; i++) {
    aim(&t, &c, through[i], "id int8, name text, score float8");
    CHECK_INT(load_rows(&c, &t, 3000 * i, 3000 * i + 1700, 0, &row), EDB_OK);
    CHECK_STR(one(&c, "SELECT count(*) || ' ' || count(DISTINCT name) FROM load", 0, NULL, 0),
              i == 0   ? "'1701 1701'"
              : i == 1 ? "'3402 3402'"
                       : "'5103 5103'");
    test_blame(through[i], 1200);
  }
  aim(&t, &c, "load_parts", "id int8, name text, score float8");
  CHECK_INT(load_rows(&c, &t, 1, 4000, 0, &row), EDB_OK);
  CHECK_INT(load_rows(&c, &t, 4001, 5100, 0, &row), EDB_CONSTRAINT); /* there is no partition */
  CHECK_INT(row, 1000);
  aim(&t, &c, "load_more", "name text");
  edb_value names[2] = {text("ab").value, null().value};
  CHECK_INT(load_one(&c, &t, names), EDB_OK);
  CHECK_STR(one(&c, "SELECT x || ' ' || id || ' ' || twice FROM load_more", 0, NULL, 0),
            "'7 1 abab'");
  aim(&t, &c, "load_always", "name text");
  CHECK_INT(load_one(&c, &t, names), EDB_OK);
  aim(&t, &c, "load_always", "id int8, name text");
  names[0] = integer(5).value;
  CHECK_INT(load_one(&c, &t, names), EDB_INVALID_QUERY);
  CHECK_STR(edb_detail(&c)->sqlstate, "428C9");
  aim(&t, &c, "T \".", "a int4, b text");
  t.spec.schema = "load \"s.";
  t.columns[0].name = "a \"b";
  t.columns[1].name = "\xc3\xa9";
  CHECK_INT(load_one(&c, &t, names), EDB_OK);
  CHECK_STR(one(&c, "SELECT \"a \"\"b\" FROM \"load \"\"s.\".\"T \"\".\"", 0, NULL, 0), "5");
  aim(&t, &c, "nosuch", "id int8");
  CHECK_INT(load_one(&c, &t, names), EDB_INVALID_QUERY);
  aim(&t, &c, "load", "nosuch int8");
  CHECK_INT(load_one(&c, &t, names), EDB_INVALID_QUERY);
  usable(&c);
}

/* ---- What happens meanwhile -------------------------------------------------------------------------- */

/* Notices are no errors, however many; the rows around them all arrive. */
static void test_notices(void) {
  target t;
  int64_t row;
  run(&c, "CREATE TABLE noisy (id int8, name text, score float8)");
  run(&c,
      "CREATE FUNCTION noise() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN IF NEW.id % 100 = 0 THEN RAISE NOTICE ''row %'', NEW.id; END IF; RETURN NEW; END'");
  run(&c, "CREATE TRIGGER noise BEFORE INSERT ON noisy FOR EACH ROW EXECUTE FUNCTION noise()");
  aim(&t, &c, "noisy", "id int8, name text, score float8");
  last_log[0] = 0;
  CHECK_INT(load_rows(&c, &t, 1, 30000, 0, &row), EDB_OK);
  CHECK(strstr(last_log, "row 30000") != NULL);
  CHECK_STR(one(&c, "SELECT count(DISTINCT id) FROM noisy", 0, NULL, 0), "30000");
  run(&c, "ALTER TABLE noisy ADD UNIQUE (id)");
  CHECK_INT(load_rows(&c, &t, 30001, 60000, 59000, &row), EDB_CONSTRAINT);
  CHECK_INT(row, 28999 + 1);
}

/* An error early in a long load is heard long before its end. */
static void test_early(void) {
  target t;
  edb_load load;
  aim(&t, &c, "load", "id int8, name text, score float8");
  CHECK_INT(edb_load_begin(&c, &t.spec, &load), EDB_OK);
  static char long_name[1000];
  memset(long_name, 'x', sizeof long_name - 1);
  int rc = EDB_OK, i;
  for (i = 0; rc == EDB_OK && i < 1000000; i++) {
    edb_value row[3] = {integer(-5).value, text(long_name).value, real(1).value};
    rc = edb_load_row(&load, row);
  }
  CHECK_INT(rc, EDB_CONSTRAINT);
  CHECK_INT(edb_detail(&c)->row, 2);
  CHECK(i < 500000);
  CHECK_INT(edb_load_row(&load, &(edb_value){.kind = EDB_NULL}), EDB_FAILED);
  CHECK_INT(edb_load_abort(&load), EDB_OK);
  usable(&c);
}

static void test_abort(void) {
  target t;
  edb_load load;
  edb_transaction transaction;
  edb_statement s;
  edb_rows r;
  run(&c, "TRUNCATE load");
  aim(&t, &c, "load", "id int8, name text, score float8");
  edb_value row[3] = {integer(1).value, text("x").value, real(1).value};
  CHECK_INT(edb_load_begin(&c, &t.spec, &load), EDB_OK);
  CHECK_INT(edb_load_row(&load, row), EDB_OK);
  CHECK_INT(edb_load_abort(&load), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM load", 0, NULL, 0), "0");
  must_begin(&transaction);
  within(&transaction, "INSERT INTO load VALUES (7)");
  within(&transaction, "SAVEPOINT a");
  CHECK_INT(edb_load_begin(&c, &t.spec, &load), EDB_OK);
  CHECK_INT(edb_load_row(&load, row), EDB_OK);
  /* Nothing else goes meanwhile. */
  CHECK_INT(edb_execute(&c, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_prepare(&c, "SELECT 1", 0, &s), EDB_BUSY);
  CHECK_INT(edb_query(&c, "SELECT 1", NULL, 0, &r), EDB_BUSY);
  CHECK_INT(edb_transaction_execute(&transaction, "SELECT 1", NULL, 0, NULL), EDB_BUSY);
  CHECK_INT(edb_transaction_commit(&transaction), EDB_BUSY);
  CHECK_INT(edb_close(&c), EDB_BUSY);
  CHECK_INT(edb_load_abort(&load), EDB_OK);
  within(&transaction, "ROLLBACK TO SAVEPOINT a");
  CHECK_INT(edb_load_begin(&c, &t.spec, &load), EDB_OK);
  CHECK_INT(edb_load_row(&load, row), EDB_OK);
  CHECK_INT(edb_load_end(&load), EDB_OK);
  CHECK_INT(edb_transaction_commit(&transaction), EDB_OK);
  CHECK_STR(one(&c, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM load", 0, NULL, 0), "'1 7'");
  usable(&c);
}

static atomic_int asked;
static int stop_after;

static int stops(void *context) {
  (void)context;
  return atomic_fetch_add(&asked, 1) >= stop_after;
}

/* Interrupted while the server does not read, and while it does not begin: the connection serves on. */
static void test_interrupted(void) {
  target t;
  edb_load load;
  edb_connection other;
  edb_transaction lock;
  run(&c, "CREATE TABLE slow (id int8, name text, score float8)");
  run(&c, "CREATE FUNCTION sleepy() RETURNS trigger LANGUAGE plpgsql AS"
          " 'BEGIN PERFORM pg_sleep(100); RETURN NEW; END'");
  run(&c, "CREATE TRIGGER sleepy BEFORE INSERT ON slow FOR EACH ROW EXECUTE FUNCTION sleepy()");
  aim(&t, &c, "slow", "id int8, name text, score float8");
  static char long_name[100000];
  memset(long_name, 'x', sizeof long_name - 1);
  edb_value row[3] = {integer(1).value, text(long_name).value, real(1).value};
  for (int by_time = 0; by_time < 2; by_time++) {
    CHECK_INT(edb_load_begin(&c, &t.spec, &load), EDB_OK);
    atomic_store(&asked, 0);
    stop_after = 3;
    if (by_time) {
      host.timeout_ms = 300;
    } else {
      host.interrupted = stops;
    }
    int rc = EDB_OK;
    for (int i = 0; rc == EDB_OK && i < 1000; i++) rc = edb_load_row(&load, row);
    CHECK_INT(rc, EDB_INTERRUPTED);
    host.timeout_ms = 0;
    host.interrupted = is_interrupted;
    CHECK_INT(edb_load_abort(&load), EDB_OK);
    usable(&c);
  }
  /* Another one holds the table. */
  must_open(&other);
  CHECK_INT(edb_begin(&other, &lock), EDB_OK);
  CHECK_INT(edb_transaction_execute(&lock, "LOCK TABLE slow", NULL, 0, NULL), EDB_OK);
  host.timeout_ms = 300;
  CHECK_INT(edb_load_begin(&c, &t.spec, &load), EDB_INTERRUPTED);
  CHECK(!load.context);
  host.timeout_ms = 0;
  usable(&c);
  edb_transaction_rollback(&lock);
  CHECK_INT(edb_close(&other), EDB_OK);
  CHECK_STR(one(&c, "SELECT count(*) FROM slow", 0, NULL, 0), "0");
}

/* The server's process ends in the middle: nothing stays, and that is said. */
static void test_killed(void) {
  target t;
  edb_load load;
  edb_connection victim;
  char sql[100];
  must_open(&victim);
  const char *pid = one(&victim, "SELECT pg_backend_pid()", 0, NULL, 0);
  snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%s)", pid);
  aim(&t, &victim, "load", "id int8, name text, score float8");
  edb_value row[3] = {integer(99).value, text("x").value, real(1).value};
  CHECK_INT(edb_load_begin(&victim, &t.spec, &load), EDB_OK);
  CHECK_INT(edb_load_row(&load, row), EDB_OK);
  CHECK_STR(one(&c, sql, 0, NULL, 0), "true");
  int rc = EDB_OK;
  for (int i = 0; rc == EDB_OK && i < 10000000; i++) rc = edb_load_row(&load, row);
  CHECK_INT(rc, EDB_CLOSED);
  edb_load_abort(&load);
  CHECK_INT(edb_alive(&victim), 0);
  edb_close(&victim);
  CHECK_STR(one(&c, "SELECT count(*) FROM load WHERE id = 99", 0, NULL, 0), "0");
}

/* Long values go from where they are: what is kept stays small. */
static size_t largest;

static void *watching(void *context, void *memory, size_t size) {
  if (size > largest) largest = size;
  return resize(context, memory, size);
}

static void test_long(void) {
  target t;
  size_t n = (size_t)20 << 20;
  char *long_text = malloc(n + 1);
  if (!long_text) return;
  memset(long_text, 'y', n);
  long_text[n] = 0;
  run(&c, "CREATE TABLE long (id int8, a text, b bytea, c text)");
  aim(&t, &c, "long", "id int8, a text, b bytea, c text");
  edb_value row[4] = {integer(1).value, text(long_text).value, bytes(long_text, n).value,
                      text("end").value};
  host.resize = watching;
  CHECK_INT(load_one(&c, &t, row), EDB_OK);
  CHECK(largest < 1 << 20);
  host.resize = resize;
  CHECK_STR(one(&c,
                "SELECT length(a) || ' ' || length(b) || ' ' || c || (a = repeat('y', 20 << 20)) "
                "FROM long",
                0, NULL, 0),
            "'20971520 20971520 endtrue'");
  free(long_text);
}

/* Memory that runs out at each place in turn. */
static void test_memory(void) {
  target t;
  int64_t row;
  long before = blocks;
  int failures = 0;
  static const char *const tables[] = {"load", "load_view"};
  for (int k = 0; k < 2; k++) {
    aim(&t, &c, tables[k], "id int8, name text, score float8");
    for (long n = 1; n < 100; n++) {
      fail_after = n;
      int rc = load_rows(&c, &t, 10000, 10600, 0, &row);
      int through = fail_after > 0;
      fail_after = 0;
      if (rc != EDB_OK) failures++;
      if (rc != EDB_OK) CHECK_INT(rc, EDB_NOMEM);
      usable(&c);
      run(&c, "DELETE FROM load WHERE id >= 10000");
      if (through) break;
    }
  }
  CHECK(failures > 10);
  CHECK(blocks - before < 20); /* buffers that the connection keeps */
}

int main(void) {
  if (!have_server("load_postgresql")) return 0;
  must_open(&c);
  test_rows("CREATE TABLE load (id int8 PRIMARY KEY, name text, score float8)", "load", 20000);
  test_rows("CREATE TABLE load_text (id numeric PRIMARY KEY, name text, score float8)", "load_text",
            3000);
  test_blame("load", 4000);
  test_values();
  test_formats();
  test_relations();
  test_notices();
  test_early();
  test_abort();
  test_interrupted();
  test_killed();
  test_long();
  test_memory();
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(blocks, 0);
  return unit_done("load_postgresql");
}
