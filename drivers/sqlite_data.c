/*
** drivers/sqlite_data.c: what the SQLite driver says of its server: types, dialect, catalog.
*/
#include "sqlite_data.h"

#include <string.h>
#include <strings.h>

#define ROWID_ALIAS "INTEGER PRIMARY KEY"

/* ---- Types ----------------------------------------------------------------------------------- */

/* A column of another file is compared as the same column here would be, whatever is stored in it, if the
** collation is the same: BINARY is forced where it matters, and does no harm to an index on numbers. Text
** is only compared for equality, which another collation makes larger. */
#define TYPE(spelling, its_kind, its_declared, its_compare)                                        \
  {                                                                                                \
    .name = spelling, .kind = its_kind, .declared = its_declared, .compare = its_compare,          \
    .parameter = its_compare == EDB_COMPARE_SQLITE ? "%s COLLATE BINARY" : NULL,                   \
    .order = its_compare == EDB_COMPARE_INTEGER ? "%s" : "%s COLLATE BINARY"                       \
  }

/* What the catalog adds to a type of text in a file in UTF-8, where BINARY is the order of bytes: whether that is the
** column's own collation, so that to say so costs it no index. */
#define OWN_BINARY " COLLATE BINARY"
#define OWN_OTHER " COLLATE OTHER"
#define MATCH(its_name, word)                                                                      \
  static const edb_match its_name = {.before = "%s " word " ", .after = "", .exact = 1}
MATCH(like, "LIKE");
MATCH(glob, "GLOB");
/* Unlike GLOB, it does not end at a NUL. */
static const edb_match within = {.before = "instr(%s, ", .after = ") > 0", .plain = 1, .exact = 1};
#define TEXT(its_name, is_equal, its_order)                                                        \
  static const edb_text its_name##_text = {.equal = is_equal,                                      \
                                           .ordered = its_order,                                   \
                                           .bound = "%s",                                          \
                                           .like = &like,                                          \
                                           .glob = &glob,                                          \
                                           .contains = &within};                                   \
  static const edb_type its_name = {.name = "TEXT" its_name##_suffix,                              \
                                    .kind = EDB_TEXT,                                              \
                                    .declared = EDB_DECLARED_TEXT,                                 \
                                    .compare = EDB_COMPARE_TEXT,                                   \
                                    .order = its_order,                                            \
                                    .text = &its_name##_text}
#define type_text_suffix ""
#define type_binary_suffix OWN_BINARY
#define type_other_suffix OWN_OTHER
TEXT(type_text, 0, NULL);
TEXT(type_binary, 1, "%s COLLATE BINARY");
TEXT(type_other, 0, "%s COLLATE BINARY");

static const edb_type type_integer =
    TYPE("INTEGER", EDB_I64, EDB_DECLARED_INTEGER, EDB_COMPARE_SQLITE);
static const edb_type type_blob = TYPE("BLOB", EDB_BYTES, EDB_DECLARED_BLOB, EDB_COMPARE_NONE);
static const edb_type type_none = TYPE("", EDB_NULL, EDB_DECLARED_BLOB, EDB_COMPARE_NONE);
static const edb_type type_real = TYPE("REAL", EDB_F64, EDB_DECLARED_REAL, EDB_COMPARE_SQLITE);
static const edb_type type_numeric =
    TYPE("NUMERIC", EDB_NULL, EDB_DECLARED_NUMERIC, EDB_COMPARE_SQLITE);

/* Names that say more than their affinity. The first is the catalog's, for another name of the rowid, which
** holds integers and nothing else. ANY has no affinity in a STRICT table. */
static const edb_type named_types[] = {
    TYPE(ROWID_ALIAS, EDB_I64, EDB_DECLARED_INTEGER, EDB_COMPARE_INTEGER),
    TYPE("ANY", EDB_NULL, EDB_DECLARED_BLOB, EDB_COMPARE_NONE),
    TYPE("BOOL", EDB_BOOL, EDB_DECLARED_INTEGER, EDB_COMPARE_SQLITE),
    TYPE("BOOLEAN", EDB_BOOL, EDB_DECLARED_INTEGER, EDB_COMPARE_SQLITE),
    TYPE("DATE", EDB_TIME, EDB_DECLARED_DATE, EDB_COMPARE_SQLITE),
    TYPE("TIME", EDB_TIME, EDB_DECLARED_TIME, EDB_COMPARE_SQLITE),
    TYPE("DATETIME", EDB_TIME, EDB_DECLARED_DATETIME, EDB_COMPARE_SQLITE),
    TYPE("TIMESTAMP", EDB_TIME, EDB_DECLARED_DATETIME, EDB_COMPARE_SQLITE)};

static int contains(const char *text, const char *word) {
  size_t n = strlen(word);
  for (; *text; text++) {
    if (strncasecmp(text, word, n) == 0) return 1;
  }
  return 0;
}

/* By the rules of "Determination Of Column Affinity" (sqlite.org/datatype3.html), in their order. */
const edb_type *edb_sqlite_type(const char *name) {
  static const struct {
    const char *word;
    const edb_type *type;
  } affinities[] = {{"INT", &type_integer}, {"CHAR", &type_text}, {"CLOB", &type_text},
                    {"TEXT", &type_text},   {"BLOB", &type_blob}, {"REAL", &type_real},
                    {"FLOA", &type_real},   {"DOUB", &type_real}};
  const char *suffix = strstr(name, OWN_BINARY) ? OWN_BINARY : OWN_OTHER;
  const char *end = strstr(name, suffix);
  size_t i, n = strcspn(name, "(");
  if (end && (size_t)(end - name) < n) n = (size_t)(end - name);
  if (!*name || end == name) return &type_none;
  while (n > 0 && name[n - 1] == ' ') n--;
  for (i = 0; i < sizeof named_types / sizeof named_types[0]; i++) {
    if (strncasecmp(named_types[i].name, name, n) == 0 && !named_types[i].name[n]) {
      return &named_types[i];
    }
  }
  for (i = 0; i < sizeof affinities / sizeof affinities[0]; i++) {
    if (!contains(name, affinities[i].word)) continue;
    if (end == NULL || affinities[i].type != &type_text) return affinities[i].type;
    return strcmp(suffix, OWN_BINARY) == 0 ? &type_binary : &type_other;
  }
  return &type_numeric;
}

const edb_dialect edb_sqlite_dialect = {.quote = {'"', '"'},
                                        .placeholder = "?",
                                        .limit = " LIMIT %s",
                                        .explain = "EXPLAIN QUERY PLAN %s",
                                        .no_two_phase = "an SQLite file prepares no transactions",
                                        .savepoint = "SAVEPOINT %s",
                                        .rollback_to = "ROLLBACK TO SAVEPOINT %s",
                                        .release = "RELEASE SAVEPOINT %s",
                                        .read_only = "PRAGMA query_only = 1",
                                        .dynamic = 1,
                                        .insert_defaults = " DEFAULT VALUES",
                                        .replace = "INSERT OR REPLACE INTO",
                                        .returning = 1,
                                        .false_clause = "0",
                                        .max_parameters = 32766, /* from 3.32 on */
                                        .type = edb_sqlite_type};

/* ---- Catalog --------------------------------------------------------------------------------- */

/* l: the table. k: its primary key: how many columns, whether all are declared NOT NULL, and whether it
** is another name of the rowid, which is when a rowid table has no index for it. u: whether the key names
** a row: a nullable one, which SQLite allows, may be NULL in several. What a virtual table says of its key
** is only binding where it is WITHOUT ROWID. */
#define TABLE_AND_KEY                                                                              \
  "WITH l AS (SELECT schema, name, type, wr FROM pragma_table_list(?2)"                            \
  " WHERE schema = coalesce(?1, 'main') AND name = ?2 COLLATE NOCASE),"                            \
  " k AS (SELECT count(*) AS n, min(c.\"notnull\") AS strict,"                                     \
  " count(*) AND NOT l.wr AND l.type <> 'virtual' AND NOT EXISTS"                                  \
  " (SELECT 1 FROM pragma_index_list(l.name, l.schema) WHERE origin = 'pk') AS alias"              \
  " FROM l, pragma_table_xinfo(l.name, l.schema) AS c WHERE c.pk),"                                \
  " u AS (SELECT k.n AND (l.wr OR (l.type <> 'virtual' AND (k.alias OR k.strict))) AS is_key"      \
  " FROM l, k) "

/* Columns of tables alone have the collation that the table's text names, if it names any. */
#define ORDER                                                                                      \
  "iif((SELECT encoding FROM pragma_encoding) = 'UTF-8', iif(l.type = 'table' AND l.schema = "     \
  "'main' AND (SELECT sql NOT LIKE '%collate%' FROM sqlite_master WHERE type = 'table' AND name "  \
  "= l.name), '" OWN_BINARY "', '" OWN_OTHER "'), '')"

/* The first name of the rowid that no column has taken. */
#define ROWID_NAME                                                                                 \
  "(SELECT r.column1 FROM (VALUES ('rowid'), ('_rowid_'), ('oid')) AS r WHERE NOT EXISTS"          \
  " (SELECT 1 FROM pragma_table_xinfo(l.name, l.schema) AS c"                                      \
  " WHERE c.name = r.column1 COLLATE NOCASE) LIMIT 1)"

static const char *const identities[] = {"rowid", "_rowid_", "oid", NULL};

const edb_catalog edb_sqlite_catalog = {
    .tables = "SELECT schema, name, type, NULL, NULL FROM pragma_table_list"
              " WHERE (schema = ?1 OR ?1 IS NULL) AND type <> 'shadow'"
              " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY schema, name",
    /* To count a virtual table's rows may be dear, so that a guess stands in for it. */
    .relation = TABLE_AND_KEY
    "SELECT l.schema, l.name, CASE l.type WHEN 'shadow' THEN 'table' ELSE l.type END,"
    " CASE l.type WHEN 'virtual' THEN 10000 END,"
    " CASE WHEN l.type IN ('table', 'shadow') AND NOT u.is_key THEN " ROWID_NAME " END, 1"
    " FROM l, u",
    .columns = TABLE_AND_KEY
    "SELECT c.name, CASE WHEN c.pk AND k.alias THEN '" ROWID_ALIAS "' ELSE c.type || " ORDER
    " END, c.type, NOT (c.\"notnull\" OR (c.pk AND u.is_key)),"
    " CASE WHEN u.is_key THEN c.pk ELSE 0 END,"
    " CASE WHEN c.hidden IN (2, 3) THEN 2 ELSE c.dflt_value IS NOT NULL OR (c.pk AND k.alias) END,"
    " EXISTS (SELECT 1 FROM pragma_index_list(l.name, l.schema) AS i"
    " WHERE i.\"unique\" AND NOT i.partial AND (SELECT count(*) = 1 AND max(x.name) = c.name"
    " FROM pragma_index_info(i.name, l.schema) AS x))"
    " FROM l, k, u, pragma_table_xinfo(l.name, l.schema) AS c WHERE c.hidden <> 1 ORDER BY c.cid",
    /* The end of a b-tree is near. Tables without rowid and views refuse it: then it is not known. */
    .estimate = "SELECT max(_rowid_) FROM %s",
    .identities = identities};
