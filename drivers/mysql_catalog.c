/*
** drivers/mysql_catalog.c: how MySQL and MariaDB write SQL, their types, and what their catalog is asked. Data
** alone.
*/
#include <stdlib.h>
#include <string.h>

#include "mysql.h"

/* ---- Types -------------------------------------------------------------------------------------- */

#define PLAIN(name, kind, declared)                                                                \
  { name, kind, declared, EDB_COMPARE_NONE, NULL, NULL, NULL, NULL, NULL, NULL }

/* Sorted by name. */
static const edb_type types[] = {
    PLAIN("bigint", EDB_I64, EDB_DECLARED_INTEGER),
    PLAIN("bigint unsigned", EDB_U64, EDB_DECLARED_INTEGER),
    PLAIN("binary", EDB_BYTES, EDB_DECLARED_BLOB),
    PLAIN("bit", EDB_I64, EDB_DECLARED_INTEGER),
    PLAIN("blob", EDB_BYTES, EDB_DECLARED_BLOB),
    PLAIN("char", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("date", EDB_TIME, EDB_DECLARED_DATE),
    PLAIN("datetime", EDB_TIME, EDB_DECLARED_DATETIME),
    PLAIN("decimal", EDB_TEXT, EDB_DECLARED_NUMERIC),
    PLAIN("double", EDB_F64, EDB_DECLARED_REAL),
    PLAIN("enum", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("float", EDB_F64, EDB_DECLARED_REAL),
    PLAIN("geometry", EDB_BYTES, EDB_DECLARED_BLOB),
    PLAIN("inet4", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("inet6", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("int", EDB_I64, EDB_DECLARED_INTEGER),
    PLAIN("int unsigned", EDB_U64, EDB_DECLARED_INTEGER),
    PLAIN("json", EDB_TEXT, EDB_DECLARED_JSON),
    PLAIN("longblob", EDB_BYTES, EDB_DECLARED_BLOB),
    PLAIN("longtext", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("mediumblob", EDB_BYTES, EDB_DECLARED_BLOB),
    PLAIN("mediumint", EDB_I64, EDB_DECLARED_INTEGER),
    PLAIN("mediumint unsigned", EDB_U64, EDB_DECLARED_INTEGER),
    PLAIN("mediumtext", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("set", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("smallint", EDB_I64, EDB_DECLARED_INTEGER),
    PLAIN("smallint unsigned", EDB_U64, EDB_DECLARED_INTEGER),
    PLAIN("text", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("time", EDB_TIME, EDB_DECLARED_TIME),
    PLAIN("timestamp", EDB_TIME, EDB_DECLARED_DATETIME),
    PLAIN("tinyblob", EDB_BYTES, EDB_DECLARED_BLOB),
    PLAIN("tinyint", EDB_I64, EDB_DECLARED_INTEGER),
    PLAIN("tinyint unsigned", EDB_U64, EDB_DECLARED_INTEGER),
    PLAIN("tinytext", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("uuid", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("varbinary", EDB_BYTES, EDB_DECLARED_BLOB),
    PLAIN("varchar", EDB_TEXT, EDB_DECLARED_TEXT),
    PLAIN("year", EDB_U64, EDB_DECLARED_INTEGER),
};

static const edb_type other = PLAIN("", EDB_BYTES, EDB_DECLARED_BLOB);

static int compare_names(const void *name, const void *type) {
  return strcmp(name, ((const edb_type *)type)->name);
}

static const edb_type *type_called(const char *name) {
  const edb_type *found =
      bsearch(name, types, sizeof types / sizeof types[0], sizeof types[0], compare_names);
  return found ? found : &other;
}

const edb_dialect my_dialect = {{'`', '`'}, "?", " LIMIT %s", "false", 65535, 0, type_called};

/* ---- The catalog -------------------------------------------------------------------------------- */

#define KIND "CASE table_type WHEN 'BASE TABLE' THEN 'table' ELSE lower(table_type) END"

static const char tables[] =
    "SELECT table_schema, table_name, " KIND ", table_rows, table_comment"
    " FROM information_schema.tables WHERE table_schema = coalesce(?, database())"
    " ORDER BY 1, 2";

static const char relation[] =
    "SELECT table_schema, table_name, " KIND ", table_rows, NULL, 0"
    " FROM information_schema.tables WHERE table_schema = coalesce(?, database())"
    " AND table_name = ?";

static const char columns[] =
    "SELECT c.column_name, concat(c.data_type, CASE WHEN c.data_type LIKE '%int'"
    " AND c.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END), c.column_type,"
    " c.is_nullable = 'YES', coalesce(k.ordinal_position, 0),"
    " c.column_default IS NOT NULL OR c.extra <> ''"
    " FROM information_schema.columns c LEFT JOIN information_schema.key_column_usage k"
    " ON k.table_schema = c.table_schema AND k.table_name = c.table_name"
    " AND k.column_name = c.column_name AND k.constraint_name = 'PRIMARY'"
    " WHERE c.table_schema = coalesce(?, database()) AND c.table_name = ?"
    " ORDER BY c.ordinal_position";

static const char *const identities[] = {NULL};

const edb_catalog my_catalog = {tables, relation, columns, NULL, identities};
