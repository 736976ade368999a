/*
** drivers/postgresql_catalog.c: how PostgreSQL writes SQL, its types, and what its catalog is asked. Data alone.
**
** The catalog queries read pg_class and its like, never information_schema, whose views join everything for
** every row; none of them locks a table but for the size of one that was never analyzed. They need
** PostgreSQL 12.
*/
#include <stdlib.h>
#include <string.h>

#include "postgresql.h"

/* ---- Types -------------------------------------------------------------------------------------- */

#define ARRAYS(type)                                                                               \
  .array = "= ANY (%s::text::" type "[])",                                                         \
  .array_indexed = "= ANY ((SELECT %s::text::" type "[])::" type "[])",                            \
  .array_long = "IN (SELECT unnest(%s::text::" type "[]))"
#define AS_TEXT "%s::text COLLATE \"C\"" /* infinities and years after 9999 are text here */
#define IS_NAN "%s IS NULL OR %s = 'NaN'"

/* Compared by no server; read as they are, or as something else. */
#define PLAIN(its_name, its_kind, its_declared)                                                    \
  { .name = its_name, .kind = its_kind, .declared = its_declared }
#define READ(its_name, its_declared, as)                                                           \
  { .name = its_name, .kind = EDB_TEXT, .declared = its_declared, .read = as }
/* Compared with a parameter of the type `as`. */
#define COMPARED(its_name, its_kind, its_declared, its_compare, as)                                \
  {                                                                                                \
    .name = its_name, .kind = its_kind, .declared = its_declared, .compare = its_compare,          \
    .parameter = "%s::" as, ARRAYS(as)                                                             \
  }
/* Text: what is known of its collation and of the database's encoding beside. */
#define TEXT(its_name, its_reach, its_text, as_sorted)                                             \
  {                                                                                                \
    .name = its_name, .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT,                             \
    .compare = EDB_COMPARE_TEXT, .parameter = "%s::text", ARRAYS("text"), .reach = its_reach,      \
    .text = its_text, .order = as_sorted                                                           \
  }
#define FLOAT(its_name)                                                                            \
  {                                                                                                \
    .name = its_name, .kind = EDB_F64, .declared = EDB_DECLARED_REAL,                              \
    .compare = EDB_COMPARE_FLOAT, .parameter = "%s::float8", ARRAYS("float8"), .is_null = IS_NAN,  \
    .order = "nullif(%s, 'NaN')"                                                                   \
  }
#define MOMENT(its_name, its_declared, its_compare, before, after, as_sorted)                      \
  {                                                                                                \
    .name = its_name, .kind = EDB_TIME, .declared = its_declared, .compare = its_compare,          \
    .parameter = "%s::" its_name, ARRAYS(its_name), .early = before, .late = after,                \
    .order = as_sorted                                                                             \
  }

/* What to_json wrote. The table's row type knows what the column is made of. */
#define FROM_JSON                                                                                  \
  "(pg_catalog.json_populate_record(NULL::%r, pg_catalog.json_build_object(%l, "                   \
  "%s::text::json))).%c"

#define BY_BYTES "%s COLLATE \"C\""

/* In collation C, letters of ASCII alone have two cases. Elsewhere they may have others than these (Turkish). */
#define MATCH(column, word)                                                                        \
  { .before = column " " word " ", .after = "::text ESCAPE '!'", .special = "%_!", .exact = 1 }
static const edb_match like = {.before = BY_BYTES " ILIKE ",
                               .after = "::text ESCAPE '!'",
                               .special = "%_!",
                               .folds = 1,
                               .exact = 1};
static const edb_match glob = MATCH(BY_BYTES, "LIKE");
static const edb_match plain_glob = MATCH("%s", "LIKE");

/* Of an unknown collation, in an unknown encoding. */
#define AS_UTF8 "pg_catalog.convert_to(%s::text, 'UTF8')"
static const edb_text text_of_any = {
    .ordered = AS_UTF8, .bound = AS_UTF8, .like = &like, .glob = &glob};
/* In UTF-8: of a collation for which only the same is equal, and of one that compares bytes. */
static const edb_text text_exact = {
    .equal = 1, .ordered = BY_BYTES, .bound = "%s::text", .like = &like, .glob = &plain_glob};
static const edb_text text_bytes = {
    .equal = 1, .ordered = "%s", .bound = "%s::text", .like = &like, .glob = &plain_glob};
/* A uuid's bytes are in its text's order. */
static const edb_text uuid = {.equal = 1, .ordered = "%s", .bound = "%s::uuid"};

/* Sorted by name. */
static const edb_type types[] = {
    {.name = "array",
     .kind = EDB_TEXT,
     .declared = EDB_DECLARED_JSON,
     .read = "to_json(%s)::text",
     .from_json = FROM_JSON,
     .json = '['},
    PLAIN("bit", EDB_TEXT, EDB_DECLARED_TEXT),
    COMPARED("bool", EDB_BOOL, EDB_DECLARED_INTEGER, EDB_COMPARE_BOOLEAN, "bool"),
    COMPARED("bpchar", EDB_TEXT, EDB_DECLARED_TEXT, EDB_COMPARE_TEXT, "bpchar"),
    {.name = "bytea", .kind = EDB_BYTES, .declared = EDB_DECLARED_BLOB, .order = "%s"},
    PLAIN("char", EDB_TEXT, EDB_DECLARED_TEXT),
    /* (NULL, 1) IS NOT NULL is false there. */
    {.name = "composite",
     .kind = EDB_TEXT,
     .declared = EDB_DECLARED_JSON,
     .read = "to_json(%s)::text",
     .from_json = FROM_JSON,
     .json = '{',
     .is_null = "%s IS NOT DISTINCT FROM NULL"},
    MOMENT("date", EDB_DECLARED_DATE, EDB_COMPARE_DATE, "%s < '0001-01-01'", "%s > '9999-12-31'",
           AS_TEXT),
    FLOAT("float4"),
    FLOAT("float8"),
    /* The cast to text adds /32 where the type itself does not. */
    READ("inet", EDB_DECLARED_TEXT, "pg_catalog.textin(pg_catalog.inet_out(%s))"),
    COMPARED("int2", EDB_I64, EDB_DECLARED_INTEGER, EDB_COMPARE_INTEGER, "int8"),
    COMPARED("int4", EDB_I64, EDB_DECLARED_INTEGER, EDB_COMPARE_INTEGER, "int8"),
    COMPARED("int8", EDB_I64, EDB_DECLARED_INTEGER, EDB_COMPARE_INTEGER, "int8"),
    PLAIN("json", EDB_TEXT, EDB_DECLARED_JSON),
    PLAIN("jsonb", EDB_TEXT, EDB_DECLARED_JSON),
    READ("money", EDB_DECLARED_NUMERIC, "%s::numeric"),
    TEXT("name", 0, &text_of_any, AS_UTF8),
    {.name = "numeric",
     .kind = EDB_TEXT,
     .declared = EDB_DECLARED_NUMERIC,
     .compare = EDB_COMPARE_DECIMAL,
     .decimal_bound = "%s::numeric",
     .is_null = IS_NAN},
    {.name = "oid", .kind = EDB_I64, .declared = EDB_DECLARED_INTEGER, .order = "%s"},
    TEXT("text", 0, &text_of_any, AS_UTF8),
    TEXT("text ascii", EDB_REACH_ASCII, &text_of_any, AS_UTF8),
    TEXT("text bytes", 0, &text_bytes, "%s"),
    TEXT("text exact", 0, &text_exact, BY_BYTES),
    MOMENT("time", EDB_DECLARED_TIME, EDB_COMPARE_CLOCK, NULL, NULL, NULL),
    MOMENT("timestamp", EDB_DECLARED_DATETIME, EDB_COMPARE_DATETIME, "%s < '0001-01-01'",
           "%s >= '10000-01-01'", AS_TEXT),
    MOMENT("timestamptz", EDB_DECLARED_DATETIME, EDB_COMPARE_INSTANT,
           "%s < '0001-01-01 00:00:00+00'", "%s >= '10000-01-01 00:00:00+00'", NULL),
    PLAIN("timetz", EDB_TIME, EDB_DECLARED_TIME),
    {.name = "uuid",
     .kind = EDB_TEXT,
     .declared = EDB_DECLARED_TEXT,
     .compare = EDB_COMPARE_UUID,
     .parameter = "%s::uuid",
     ARRAYS("uuid"),
     .order = "%s",
     .text = &uuid},
    PLAIN("varbit", EDB_TEXT, EDB_DECLARED_TEXT),
    TEXT("varchar", 0, &text_of_any, AS_UTF8),
    PLAIN("xml", EDB_TEXT, EDB_DECLARED_TEXT),
};

/* Enums, intervals, addresses, ranges, geometry, types of extensions. */
static const edb_type other = READ("", EDB_DECLARED_TEXT, "%s::text");

static int compare_names(const void *name, const void *type) {
  return strcmp(name, ((const edb_type *)type)->name);
}

static const edb_type *type_called(const char *name) {
  const edb_type *found =
      bsearch(name, types, sizeof types / sizeof types[0], sizeof types[0], compare_names);
  return found ? found : &other;
}

static const char *const lasting[] = {
    "set_config", "setseed", "pg_advisory", "pg_try_advisory", "temp", "dblink_connect", NULL};
const edb_dialect pg_dialect = {.quote = {'"', '"'},
                                .placeholder = "$%d",
                                .limit = " LIMIT %s",
                                .explain = "EXPLAIN %s",
                                .ascending = " NULLS FIRST",
                                .descending = " DESC NULLS LAST",
                                .savepoint = "SAVEPOINT %s",
                                .rollback_to = "ROLLBACK TO SAVEPOINT %s",
                                .release = "RELEASE SAVEPOINT %s",
                                .read_only = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
                                .error_dooms = 1,
                                .no_nul = 1,
                                .insert_defaults = " DEFAULT VALUES",
                                .upsert = 1,
                                .returning = 1,
                                .false_clause = "false",
                                .lasting = lasting,
                                .max_parameters = 65535,
                                .column_aliases = 1,
                                .type = type_called};

/* ---- The catalog -------------------------------------------------------------------------------- */

#define KIND                                                                                       \
  "CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view'"    \
  " WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END"

/* The relations below c: its partitions, or the tables that inherit from it. */
#define BELOW(what)                                                                                \
  "(WITH RECURSIVE below(oid) AS ("                                                                \
  "SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = c.oid UNION "                     \
  "SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN below b ON i.inhparent = b.oid) "          \
  "SELECT " what " FROM below JOIN pg_catalog.pg_class k ON k.oid = below.oid)"

/* reltuples is -1 before the first ANALYZE; a table that has relations below it counts them too. */
#define ROWS                                                                                       \
  "CASE WHEN c.relhassubclass THEN (greatest(c.reltuples, 0) * (c.relkind = 'r')::int + "          \
  "coalesce(" BELOW(                                                                               \
      "sum(greatest(k.reltuples, 0)) FILTER (WHERE k.relkind <> 'p')") ", 0))::int8"               \
                                                                       " WHEN c.relkind = 'p' "    \
                                                                       "THEN 0"                    \
                                                                       " WHEN c.relkind = 'v' "    \
                                                                       "THEN NULL"                 \
                                                                       " WHEN c.reltuples >= 0 "   \
                                                                       "THEN c.reltuples::int8"    \
                                                                       " WHEN c.relkind IN ('r', " \
                                                                       "'m') THEN "                \
                                                                       "pg_catalog.pg_relation_"   \
                                                                       "size(c.oid) / 100 END"

#define RELKINDS "c.relkind IN ('r', 'p', 'v', 'm', 'f')"

/* Partitions are left out: their rows are their parent's. */
static const char tables[] =
    "SELECT n.nspname, c.relname, " KIND ", " ROWS ", pg_catalog.obj_description(c.oid, 'pg_class')"
    " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE " RELKINDS " AND NOT c.relispartition"
    " AND CASE WHEN $1::text IS NULL THEN n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
    " ELSE n.nspname = $1 END"
    " ORDER BY 1, 2";

#define FROM_RELATION                                                                              \
  " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"           \
  " WHERE " RELKINDS " AND c.relname = $2"                                                         \
  " AND CASE WHEN $1::text IS NULL THEN pg_catalog.pg_table_is_visible(c.oid)"                     \
  " ELSE n.nspname = $1 END"

/* ctid names a row of one table; a foreign table has none of its own, even as a partition. */
static const char relation[] =
    "SELECT n.nspname, c.relname, " KIND ", " ROWS
    ", CASE WHEN c.relkind NOT IN ('r', 'p', 'm') THEN NULL"
    " WHEN NOT c.relhassubclass THEN 'ctid::text'"
    " WHEN " BELOW(
        "coalesce(bool_or(k.relkind = 'f'), false)") " THEN NULL"
                                                     " ELSE 'tableoid::int8::text || "
                                                     "ctid::text' END, 0, "
                                                     "CASE WHEN c.reltuples > 0 AND c.relpages > 0 "
                                                     "THEN c.relpages * "
                                                     "current_setting('block_size')::float8 / "
                                                     "c.reltuples END" FROM_RELATION;

/* Text by what its collation c, or the database's own (100), makes of it. What came after version 12 is asked of the
** row as JSON. */
#define IS_BY_BYTES(provider, locale)                                                              \
  "(" provider " = 'b' OR (" provider " = 'c' AND " locale " IN ('C', 'POSIX')))"
#define TEXT_TYPE                                                                                  \
  "CASE WHEN t.typname NOT IN ('text', 'varchar') THEN " PG_TYPE_NAME(                             \
      "t") " WHEN e.encoding <> 'UTF8' THEN 'text ascii'"                                          \
           " WHEN CASE WHEN c.oid <> 100 THEN " IS_BY_BYTES(                                       \
               "c.collprovider",                                                                   \
               "c.collcollate") " ELSE e.by_bytes END THEN 'text bytes'"                           \
                                " WHEN c.collisdeterministic THEN 'text exact' ELSE 'text' END"
#define DATABASE                                                                                   \
  "(SELECT pg_catalog.getdatabaseencoding() AS encoding, " IS_BY_BYTES(                            \
      "coalesce(to_jsonb(d)->>'datlocprovider', 'c')",                                             \
      "d.datcollate") " AS by_bytes FROM pg_catalog.pg_database d"                                 \
                      " WHERE d.datname = pg_catalog.current_database())"

/* The key: the primary key, else the shortest unique index that says so of every row at any time. An index of
** a table that others inherit from says nothing of their rows. */
static const char columns[] =
    "WITH r AS (SELECT c.oid, c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits"
    " WHERE inhparent = c.oid) AS inherited" FROM_RELATION
    "), k AS (SELECT (i.indkey::int2[])[0:i.indnkeyatts - 1] AS attnums"
    " FROM pg_catalog.pg_index i JOIN r ON i.indrelid = r.oid AND NOT r.inherited"
    " WHERE i.indisunique AND i.indisvalid AND (i.indimmediate OR i.indisprimary)"
    " AND i.indpred IS NULL AND i.indexprs IS NULL AND NOT EXISTS ("
    "SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indrelid AND NOT a.attnotnull"
    " AND a.attnum = ANY((i.indkey::int2[])[0:i.indnkeyatts - 1]))"
    " ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid LIMIT 1)"
    " SELECT a.attname, " TEXT_TYPE ","
    " pg_catalog.format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,"
    " coalesce(pg_catalog.array_position(k.attnums, a.attnum), 0),"
    " CASE WHEN a.attgenerated <> '' THEN 2"
    " WHEN a.atthasdef OR a.attidentity <> '' OR d.typdefault IS NOT NULL THEN 1 ELSE 0 "
    "END,"
    " NOT r.inherited AND EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = r.oid AND "
    "i.indisunique"
    " AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indnkeyatts = 1 AND "
    "i.indkey[0] = a.attnum)"
    " FROM r JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid"
    " JOIN pg_catalog.pg_type d ON d.oid = a.atttypid"
    " JOIN LATERAL (WITH RECURSIVE b AS (SELECT d.oid, d.typtype, d.typbasetype UNION ALL"
    " SELECT x.oid, x.typtype, x.typbasetype FROM pg_catalog.pg_type x"
    " JOIN b ON b.typtype = 'd' AND x.oid = b.typbasetype)"
    " SELECT oid FROM b WHERE typtype <> 'd') b ON true"
    " JOIN pg_catalog.pg_type t ON t.oid = b.oid"
    " CROSS JOIN " DATABASE " e"
    " LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation"
    " LEFT JOIN k ON true"
    " WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

/* A view's rows can only be counted by running it. */
#define CTID "ctid::text"
#define TABLE_CTID "tableoid::int8::text || ctid::text"
static const char *const identities[] = {CTID, TABLE_CTID, NULL};

const edb_catalog pg_catalog = {.tables = tables,
                                .relation = relation,
                                .columns = columns,
                                .identities = identities,
                                /* Those of other databases cannot be resolved from this one. */
                                .in_doubt = "SELECT gid FROM pg_catalog.pg_prepared_xacts WHERE "
                                            "database = pg_catalog.current_database()"};
