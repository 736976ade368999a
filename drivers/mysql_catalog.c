/*
** drivers/mysql_catalog.c: how MySQL and MariaDB write SQL, their types, and what their catalog is asked. Data
** alone.
**
** What is compared there rests on these facts, all held by test/mysql_pushdown.test and the differential test:
**
**   text       `=` under any collation holds at least where the bytes are the same, whatever it makes of case,
**              accents and blanks at the end. A parameter with a character that the column's character set lacks
**              is an error (1267), and what a column's bytes cannot be read as comes as `?`: hence reach.
**   floats     a FLOAT is compared as the double that it is read as; there is no NaN and no infinity.
**   dates      '0000-00-00', '2024-00-10' and '2023-02-31' stand where their text does. `d IS NULL` finds
**              '0000-00-00' in a NOT NULL column; `d <=> NULL` does not.
**   time       from 100 hours on, text stands elsewhere.
**   year       5 is taken for 2005, but not by `y + 0`; 0 is 0000.
**   bit        -1 is taken for 2^64-1, but not by `b + 0`.
**
** MariaDB's JSON is a LONGTEXT with a CHECK, and is text here: its checks are in a catalog table that opens
** every table of the server. Invisible columns are listed like others.
*/
#include <stdlib.h>
#include <string.h>

#include "mysql.h"

/* ---- Types -------------------------------------------------------------------------------------- */

/* Compared by no server. */
#define PLAIN(its_name, its_kind, its_declared)                                                    \
  { .name = its_name, .kind = its_kind, .declared = its_declared }
#define INTEGER(its_name, its_kind, its_compare)                                                   \
  { .name = its_name, .kind = its_kind, .declared = EDB_DECLARED_INTEGER, .compare = its_compare }
#define FLOAT(its_name, as)                                                                        \
  {                                                                                                \
    .name = its_name, .kind = EDB_F64, .declared = EDB_DECLARED_REAL,                              \
    .compare = EDB_COMPARE_FINITE, .read = as                                                      \
  }
#define MOMENT(its_name, its_declared, its_compare, as)                                            \
  {                                                                                                \
    .name = its_name, .kind = EDB_TIME, .declared = its_declared, .compare = its_compare,          \
    .parameter = "CAST(%s AS " as ")", .is_null = "%s <=> NULL"                                    \
  }
#define TEXT_AS(its_name, its_reach, its_text)                                                     \
  {                                                                                                \
    .name = its_name, .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT,                             \
    .compare = EDB_COMPARE_TEXT, .reach = its_reach, .text = its_text                              \
  }
#define TEXT(its_name, its_reach) TEXT_AS(its_name, its_reach, &any_collation)

/* In UTF-8, whatever the column is in. Nothing sorts: ORDER BY looks at no more than max_sort_length bytes. */
#define AS_UTF8 "CONVERT(%s USING utf8mb4)"
#define AS_BYTES "CAST(" AS_UTF8 " AS BINARY)"
#define MATCH(its_name, column, its_folds, its_exact)                                              \
  static const edb_match its_name = {.before = column " LIKE ",                                    \
                                     .after = " ESCAPE '!'",                                       \
                                     .special = "%_!",                                             \
                                     .folds = its_folds,                                           \
                                     .exact = its_exact}
MATCH(folding, AS_UTF8 " COLLATE utf8mb4_general_ci", 1, 0);
MATCH(telling, AS_UTF8 " COLLATE utf8mb4_bin", 0, 1);
MATCH(folding_itself, "%s", 1, 0);
MATCH(telling_itself, "%s", 0, 1);

static const edb_text any_collation = {
    .ordered = AS_BYTES, .bound = "CAST(%s AS BINARY)", .like = &folding, .glob = &telling};
/* One that disregards case, as that of English: its index finds a prefix. */
static const edb_text ci_collation = {.ordered = AS_BYTES,
                                      .bound = "CAST(%s AS BINARY)",
                                      .like = &folding_itself,
                                      .glob = &folding_itself};
/* One that compares code points, blanks at the end being as good as none: its index finds a range, too. But MariaDB itself
** misses 'a\n' in it by LIKE 'a%'. */
static const edb_text bin_collation = {
    .ordered = "%s", .bound = "%s", .padded = 1, .like = &folding, .glob = &telling};
/* One that compares bytes and nothing else. */
static const edb_text bytes_collation = {
    .equal = 1, .ordered = "%s", .bound = "%s", .like = &folding, .glob = &telling_itself};

/* Sorted by name. Those of two words but "unsigned" are the catalog's own, which knows the character set. */
static const edb_type types[] = {
    INTEGER("bigint", EDB_I64, EDB_COMPARE_INTEGER),
    INTEGER("bigint unsigned", EDB_U64, EDB_COMPARE_UNSIGNED),
    PLAIN("binary", EDB_BYTES, EDB_DECLARED_BLOB),
    {.name = "bit",
     .kind = EDB_U64,
     .declared = EDB_DECLARED_INTEGER,
     .compare = EDB_COMPARE_UNSIGNED,
     .compared = "%s + 0"},
    PLAIN("blob", EDB_BYTES, EDB_DECLARED_BLOB),
    TEXT("char", EDB_REACH_ASCII),
    MOMENT("date", EDB_DECLARED_DATE, EDB_COMPARE_DATE, "DATE"),
    MOMENT("datetime", EDB_DECLARED_DATETIME, EDB_COMPARE_DATETIME, "DATETIME(6)"),
    {.name = "decimal",
     .kind = EDB_TEXT,
     .declared = EDB_DECLARED_NUMERIC,
     .compare = EDB_COMPARE_DECIMAL,
     .decimal_bound = "CAST(%s AS DECIMAL(65,10))"},
    FLOAT("double", NULL),
    TEXT("enum", EDB_REACH_ASCII),
    /* As text, the server writes six digits of it. */
    FLOAT("float", "%s * 1e0"),
    PLAIN("geometry", EDB_BYTES, EDB_DECLARED_BLOB),
    TEXT_AS("inet4", EDB_REACH_ASCII, NULL),
    TEXT_AS("inet6", EDB_REACH_ASCII, NULL),
    INTEGER("int", EDB_I64, EDB_COMPARE_INTEGER),
    INTEGER("int unsigned", EDB_U64, EDB_COMPARE_INTEGER),
    PLAIN("json", EDB_TEXT, EDB_DECLARED_JSON),
    PLAIN("longblob", EDB_BYTES, EDB_DECLARED_BLOB),
    TEXT("longtext", EDB_REACH_ASCII),
    PLAIN("mediumblob", EDB_BYTES, EDB_DECLARED_BLOB),
    INTEGER("mediumint", EDB_I64, EDB_COMPARE_INTEGER),
    INTEGER("mediumint unsigned", EDB_U64, EDB_COMPARE_INTEGER),
    TEXT("mediumtext", EDB_REACH_ASCII),
    PLAIN("null", EDB_NULL, EDB_DECLARED_BLOB),
    TEXT("set", EDB_REACH_ASCII),
    INTEGER("smallint", EDB_I64, EDB_COMPARE_INTEGER),
    INTEGER("smallint unsigned", EDB_U64, EDB_COMPARE_INTEGER),
    TEXT("text", EDB_REACH_ASCII),
    TEXT("text all", 0),
    TEXT_AS("text all bin", 0, &bin_collation),
    TEXT_AS("text all bytes", 0, &bytes_collation),
    TEXT_AS("text all ci", 0, &ci_collation),
    TEXT("text ascii", EDB_REACH_ASCII),
    TEXT_AS("text ascii ci", EDB_REACH_ASCII, &ci_collation),
    TEXT("text bmp", 0xFFFF),
    TEXT_AS("text bmp bin", 0xFFFF, &bin_collation),
    TEXT_AS("text bmp bytes", 0xFFFF, &bytes_collation),
    TEXT_AS("text bmp ci", 0xFFFF, &ci_collation),
    TEXT("text latin1", 0xFF),
    TEXT_AS("text latin1 ci", 0xFF, &ci_collation),
    PLAIN("text other", EDB_TEXT, EDB_DECLARED_TEXT),
    {.name = "time",
     .kind = EDB_TIME,
     .declared = EDB_DECLARED_TIME,
     .compare = EDB_COMPARE_CLOCK,
     .parameter = "CAST(%s AS TIME(6))",
     .late = "%s >= '100:00:00'"},
    MOMENT("timestamp", EDB_DECLARED_DATETIME, EDB_COMPARE_INSTANT, "DATETIME(6)"),
    PLAIN("tinyblob", EDB_BYTES, EDB_DECLARED_BLOB),
    INTEGER("tinyint", EDB_I64, EDB_COMPARE_INTEGER),
    INTEGER("tinyint unsigned", EDB_U64, EDB_COMPARE_INTEGER),
    TEXT("tinytext", EDB_REACH_ASCII),
    {.name = "uuid", .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT, .compare = EDB_COMPARE_UUID},
    PLAIN("varbinary", EDB_BYTES, EDB_DECLARED_BLOB),
    TEXT("varchar", EDB_REACH_ASCII),
    {.name = "year",
     .kind = EDB_U64,
     .declared = EDB_DECLARED_INTEGER,
     .compare = EDB_COMPARE_INTEGER,
     .compared = "%s + 0"},
};

/* Each kind of geometry, vectors, and what is new: bytes. */
static const edb_type other = PLAIN("", EDB_BYTES, EDB_DECLARED_BLOB);

static int compare_names(const void *name, const void *type) {
  return strcmp(name, ((const edb_type *)type)->name);
}

static const edb_type *type_called(const char *name) {
  const edb_type *found =
      bsearch(name, types, sizeof types / sizeof types[0], sizeof types[0], compare_names);
  return found ? found : &other;
}

/* Variables, locks by name. */
static const char *const lasting[] = {"@", "get_lock", "temporary", NULL};
static const char *const control[] = {"xa",
                                      "lock",
                                      "unlock",
                                      "set autocommit",
                                      "set session autocommit",
                                      "set local autocommit",
                                      "set @@autocommit",
                                      "set @@session.autocommit",
                                      "set @@local.autocommit",
                                      NULL};

const edb_dialect my_dialect = {.each_sums = 1,
                                .quote = {'`', '`'},
                                .placeholder = "?",
                                .limit = " LIMIT %s",
                                .explain = "EXPLAIN %s",
                                .savepoint = "SAVEPOINT %s",
                                .rollback_to = "ROLLBACK TO SAVEPOINT %s",
                                .release = "RELEASE SAVEPOINT %s",
                                .read_only = "SET SESSION TRANSACTION READ ONLY",
                                .insert_defaults = " () VALUES ()",
                                .replace = "REPLACE INTO",
                                .last_identity = "SELECT LAST_INSERT_ID()",
                                .false_clause = "FALSE",
                                .max_parameters = 65535,
                                .column_aliases = 0, /* MySQL since 8.0.19 alone */
                                .control = control,
                                .lasting = lasting,
                                .type = type_called};

/* ---- The catalog -------------------------------------------------------------------------------- */

/* MariaDB looks one table up instead of opening all where schema and name are compared with constants,
** which columns of a table of one row are to it. The comparison disregards case: where the server does not, the
** names must be the same to the byte. */
#define SAME(column, name)                                                                         \
  column " = " name " AND (@@lower_case_table_names > 0 OR CAST(" column                           \
         " AS BINARY) = CAST(" name " AS BINARY))"
#define OF_TABLE(alias)                                                                            \
  " FROM (SELECT coalesce(?, DATABASE()) AS s, ? AS t) p JOIN information_schema." alias           \
  " c ON " SAME("c.TABLE_SCHEMA", "p.s") " AND " SAME("c.TABLE_NAME", "p.t")

#define KIND                                                                                       \
  "CASE c.TABLE_TYPE WHEN 'BASE TABLE' THEN 'table' WHEN 'SYSTEM VERSIONED' THEN 'table'"          \
  " ELSE lower(c.TABLE_TYPE) END"
#define ROWS "CAST(c.TABLE_ROWS AS SIGNED)"

static const char tables[] =
    "SELECT c.TABLE_SCHEMA, c.TABLE_NAME, " KIND ", " ROWS
    ", IF(c.TABLE_TYPE = 'VIEW', NULL, nullif(c.TABLE_COMMENT, ''))"
    " FROM (SELECT ? AS s) p JOIN information_schema.TABLES c ON " SAME(
        "c.TABLE_SCHEMA",
        "coalesce(p.s, IF(c.TABLE_SCHEMA IN ('information_schema', 'mysql',"
        " 'performance_schema', 'sys'), NULL, c.TABLE_SCHEMA))") " ORDER BY c.TABLE_SCHEMA, "
                                                                 "c.TABLE_NAME";

static const char relation[] = "SELECT c.TABLE_SCHEMA, c.TABLE_NAME, " KIND ", " ROWS
                               ", NULL, 0, nullif(c.AVG_ROW_LENGTH, 0)" OF_TABLE("TABLES");

/* How far parameters reach into each character set. In the last three a character of ASCII has two codes, or
** none. UTF-16 and the like are in no order of UTF-8's. */
#define SET "c.CHARACTER_SET_NAME"
#define COLLATION "c.COLLATION_NAME"
#define TEXT_TYPE                                                                                  \
  "CASE WHEN " SET " IN ('armscii8', 'sjis', 'swe7') THEN 'text other' ELSE concat(CASE"           \
  " WHEN " SET " IN ('utf8mb4', 'utf16', 'utf16le', 'utf32') THEN 'text all'"                      \
  " WHEN " SET " IN ('utf8mb3', 'utf8', 'ucs2') THEN 'text bmp'"                                   \
  " WHEN " SET " = 'latin1' THEN 'text latin1' ELSE 'text ascii' END, CASE"                        \
  " WHEN c.DATA_TYPE IN ('enum', 'set') THEN ''"                                                   \
  " WHEN " COLLATION " LIKE '%_general_ci' OR " COLLATION " LIKE '%_unicode_ci'"                   \
  " OR " COLLATION " LIKE '%_unicode_520_ci' OR " COLLATION " LIKE '%1400_ai_ci'"                  \
  " OR " COLLATION " IN ('utf8mb4_0900_ai_ci', 'latin1_swedish_ci') THEN ' ci'"                    \
  " WHEN " SET " NOT IN ('utf8mb4', 'utf8mb3', 'utf8') THEN ''"                                    \
  " WHEN " COLLATION " = 'utf8mb4_0900_bin' OR " COLLATION " LIKE '%_nopad_bin' THEN ' bytes'"     \
  " WHEN " COLLATION " LIKE '%_bin' THEN ' bin' ELSE '' END) END"

/* PRI is the primary key or else the first unique key that has no NULL. MariaDB says that there is no default
** by the word NULL. */
static const char columns[] =
    "SELECT c.COLUMN_NAME, CASE WHEN c.DATA_TYPE IN ('char', 'varchar', 'tinytext', 'text',"
    " 'mediumtext', 'longtext', 'enum', 'set') THEN " TEXT_TYPE
    " WHEN c.DATA_TYPE LIKE '%int' AND c.COLUMN_TYPE LIKE '% unsigned%'"
    " THEN concat(c.DATA_TYPE, ' unsigned') ELSE c.DATA_TYPE END,"
    " c.COLUMN_TYPE, c.IS_NULLABLE = 'YES',"
    " IF(c.COLUMN_KEY = 'PRI', row_number() OVER (PARTITION BY c.COLUMN_KEY ORDER BY"
    " c.ORDINAL_POSITION), 0),"
    " CASE WHEN c.EXTRA LIKE '% GENERATED%' THEN 2 WHEN coalesce(c.COLUMN_DEFAULT, 'NULL') <> "
    "'NULL'"
    " OR c.EXTRA LIKE '%auto_increment%' OR c.EXTRA LIKE '%generated%' THEN 1 ELSE 0 END,"
    " c.COLUMN_KEY = 'UNI'" OF_TABLE("COLUMNS") " ORDER BY c.ORDINAL_POSITION";

static const char *const identities[] = {NULL};

/* A view's rows can only be counted by running it. */
const edb_catalog my_catalog = {.tables = tables,
                                .relation = relation,
                                .columns = columns,
                                .identities = identities,
                                /* MySQL 8 lets only those with XA_RECOVER_ADMIN see them. */
                                .in_doubt = "XA RECOVER"};
