/*
** postgresql_catalog.c: the catalog queries and the dialect of the PostgreSQL driver on a real server.
**
** servers: postgresql
*/
#define LIVE_URL "EDB_TEST_POSTGRESQL_URL"
#include "live.h"

/* ---- The catalog ----------------------------------------------------------------------------- */

/* All rows as text, values between bars, rows between semicolons. */
static const char *listed(edb_connection *c, const char *sql, const char *schema,
                          const char *name) {
  static char out[20000];
  edb_rows r;
  const edb_column *columns;
  const edb_value *v;
  size_t n, at = 0;
  edb_parameter p[2] = {schema ? text(schema) : null(), text(name ? name : "")};
  out[0] = 0;
  if (edb_query(c, sql, p, name ? 2 : 1, &r) != EDB_OK) return why(c);
  edb_rows_columns(&r, &columns, &n);
  while (edb_rows_next_borrowed(&r, &v) == EDB_ROW) {
    for (size_t i = 0; i < n && at < sizeof out - 1; i++) {
      at += (size_t)snprintf(out + at, sizeof out - at, "%s%s",
                             i    ? "|"
                             : at ? "; "
                                  : "",
                             shown(&v[i]));
    }
  }
  edb_rows_close(&r);
  return out;
}

static const char *const catalog_setup[] = {
    "DROP SCHEMA IF EXISTS \"edb Cat\" CASCADE",
    "CREATE SCHEMA \"edb Cat\"",
    "SET search_path TO \"edb Cat\", public",
    "CREATE DOMAIN small AS int2 CHECK (value > 0)",
    "CREATE DOMAIN smaller AS small DEFAULT 3",
    "CREATE TYPE pair AS (a int, b text)",
    "CREATE TABLE plain (a int PRIMARY KEY, gone int, \"b \"\"q\" varchar(10) NOT NULL DEFAULT 'x',"
    " c numeric(10,2), d smaller, e int[], f pair, g int GENERATED ALWAYS AS IDENTITY, h interval, "
    "i char(3))",
    "ALTER TABLE plain DROP COLUMN gone",
    "COMMENT ON TABLE plain IS 'a comment'",
    "CREATE TABLE two (x int, y int, z int, PRIMARY KEY (z, x))",
    "CREATE TABLE keys (a int NOT NULL, b int NOT NULL, c int, d int NOT NULL)",
    "CREATE UNIQUE INDEX ON keys (c)",             /* nullable */
    "CREATE UNIQUE INDEX ON keys (d) WHERE d > 0", /* partial */
    "CREATE UNIQUE INDEX ON keys (abs(d))",        /* an expression */
    "CREATE UNIQUE INDEX ON keys (a, b, d)",       /* longer */
    "CREATE UNIQUE INDEX ON keys (b, a) INCLUDE (d)",
    "CREATE TABLE nokey (a int)",
    "CREATE TABLE parent (a int PRIMARY KEY)",
    "CREATE TABLE child (b int) INHERITS (parent)",
    "CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a)",
    "CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (100)",
    "CREATE TABLE nothing ()",
    "CREATE VIEW seen AS SELECT a, c FROM plain",
    "CREATE MATERIALIZED VIEW kept AS SELECT a FROM plain",
    "INSERT INTO parted SELECT generate_series(0, 49)",
    "INSERT INTO nokey SELECT generate_series(1, 1000)",
    "ANALYZE parted",
    "ANALYZE nokey",
};

static void test_catalog(void) {
  edb_connection c;
  must_open(&c);
  const edb_catalog *catalog = edb_connection_driver(&c)->catalog;
  for (size_t i = 0; i < sizeof catalog_setup / sizeof catalog_setup[0]; i++)
    run(&c, catalog_setup[i]);
  CHECK_STR(
      listed(&c, catalog->tables, "edb Cat", NULL),
      "'edb Cat'|'child'|'table'|0|NULL; 'edb Cat'|'kept'|'materialized view'|0|NULL; "
      "'edb Cat'|'keys'|'table'|0|NULL; 'edb Cat'|'nokey'|'table'|1000|NULL; "
      "'edb Cat'|'nothing'|'table'|0|NULL; 'edb Cat'|'parent'|'table'|0|NULL; "
      "'edb Cat'|'parted'|'partitioned table'|50|NULL; 'edb Cat'|'plain'|'table'|0|'a comment'; "
      "'edb Cat'|'seen'|'view'|NULL|NULL; 'edb Cat'|'two'|'table'|0|NULL");
  const char *all = listed(&c, catalog->tables, NULL, NULL);
  CHECK(strstr(all, "'edb Cat'|'two'") != NULL && strstr(all, "pg_class") == NULL);
  CHECK_STR(listed(&c, catalog->relation, NULL, "plain"),
            "'edb Cat'|'plain'|'table'|0|'ctid::text'|0|NULL");
  CHECK_STR(listed(&c, catalog->relation, "edb Cat", "nokey"),
            "'edb Cat'|'nokey'|'table'|1000|'ctid::text'|0|40.960000000000001");
  CHECK_STR(listed(&c, catalog->relation, "edb Cat", "seen"),
            "'edb Cat'|'seen'|'view'|NULL|NULL|0|NULL");
  CHECK_STR(
      listed(&c, catalog->relation, NULL, "parted"),
      "'edb Cat'|'parted'|'partitioned table'|50|'tableoid::int8::text || ctid::text'|0|NULL");
  CHECK_STR(listed(&c, catalog->relation, NULL, "parent"),
            "'edb Cat'|'parent'|'table'|0|'tableoid::int8::text || ctid::text'|0|NULL");
  CHECK_STR(listed(&c, catalog->relation, NULL, "part1"),
            "'edb Cat'|'part1'|'table'|50|'ctid::text'|0|163.84");
  CHECK_STR(listed(&c, catalog->relation, NULL, "Plain"), "");
  CHECK_STR(listed(&c, catalog->relation, "public", "plain"), "");
  CHECK_STR(listed(&c, catalog->columns, NULL, "plain"),
            "'a'|'int4'|'integer'|false|1|0|true; "
            "'b \"q'|'text exact'|'character varying(10)'|false|0|1|false; "
            "'c'|'numeric'|'numeric(10,2)'|true|0|0|false; 'd'|'int2'|'smaller'|true|0|1|false; "
            "'e'|'array'|'integer[]'|true|0|0|false; 'f'|'composite'|'pair'|true|0|0|false; "
            "'g'|'int4'|'integer'|false|0|1|false; 'h'|'interval'|'interval'|true|0|0|false; "
            "'i'|'bpchar'|'character(3)'|true|0|0|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "two"),
            "'x'|'int4'|'integer'|false|2|0|false; 'y'|'int4'|'integer'|true|0|0|false; "
            "'z'|'int4'|'integer'|false|1|0|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "keys"),
            "'a'|'int4'|'integer'|false|2|0|false; 'b'|'int4'|'integer'|false|1|0|false; "
            "'c'|'int4'|'integer'|true|0|0|true; 'd'|'int4'|'integer'|false|0|0|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "parent"), "'a'|'int4'|'integer'|false|0|0|false");
  CHECK_STR(listed(&c, catalog->columns, NULL, "parted"), "'a'|'int4'|'integer'|false|1|0|true");
  CHECK_STR(listed(&c, catalog->columns, NULL, "nothing"), "");
  CHECK_STR(listed(&c, catalog->columns, "no such", "plain"), "");
  /* Every comparison that the dialect offers is SQL. */
  static const char *const types[] = {"bool",   "int2", "int4",      "int8",        "float4",
                                      "float8", "text", "varchar",   "bpchar",      "name",
                                      "date",   "time", "timestamp", "timestamptz", "uuid"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    const edb_type *type = edb_connection_driver(&c)->dialect->type(types[i]);
    char sql[600], parameter[60], array[60], null_test[60], early[60], late[60];
    snprintf(parameter, sizeof parameter, "%.*s$1%s",
             (int)(strstr(type->parameter, "%s") - type->parameter), type->parameter,
             strstr(type->parameter, "%s") + 2);
    snprintf(array, sizeof array, "%.*s$2%s", (int)(strstr(type->array, "%s") - type->array),
             type->array, strstr(type->array, "%s") + 2);
    snprintf(null_test, sizeof null_test, "%s",
             type->is_null ? "x IS NULL OR x = 'NaN'" : "x IS NULL");
    snprintf(early, sizeof early, "%s%s", type->early ? "x" : "false",
             type->early ? type->early + 2 : "");
    snprintf(late, sizeof late, "%s%s", type->late ? "x" : "false",
             type->late ? type->late + 2 : "");
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT NULL::%s AS x) t WHERE x = %s OR x %s OR %s OR %s OR %s",
             types[i], parameter, array, null_test, early, late);
    edb_parameter p[2] = {null(), text("{}")};
    CHECK_STR(one(&c, sql, 0, p, 2), "1");
  }
  run(&c, "DROP SCHEMA \"edb Cat\" CASCADE");
  CHECK_INT(edb_close(&c), EDB_OK);
}

/* ---- All of it ------------------------------------------------------------------------------- */

int main(void) {
  if (!have_server("postgresql_catalog")) return 0;
  test_catalog();
  CHECK_INT(blocks, 0);
  return unit_done("postgresql_catalog");
}
