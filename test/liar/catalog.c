/*
** The catalog: a table `t` with the key `id`, another `tx` whose name a pattern might take for it, and what SQLGetInfo says.
*/
#include "liar.h"

#include <stdlib.h>
#include <string.h>

/* ---- Results of catalog functions ------------------------------------------------------------------- */

enum { MOST = 26 };

typedef struct Shape {
  const char *const *names;
  int count;
} Shape;

/* As SQL_IDENTIFIER_CASE says. */
static const char *in_case(const Connection *c, const char *name) {
  static const char *const capitals[][2] = {{"main", "MAIN"}, {"t", "T"}, {"tx", "TX"}, {"v", "V"}};
  for (size_t i = 0; c->upper && name && i < sizeof capitals / sizeof capitals[0]; i++) {
    if (strcmp(name, capitals[i][0]) == 0) return capitals[i][1];
  }
  return name;
}

static const char *const extra_names[] = {"EXTRA_1", "EXTRA_2", "EXTRA_3"};

/* Answers ROWS of SHAPE, each `count` cells, those of which the table's name (column 2) is none of `wanted` left out. */
static SQLRETURN answer_catalog(Statement *s, const Shape *shape, const char *const *cells,
                                long rows, const char *wanted) {
  Connection *c = s->connection;
  int count = shape->count - (lies(c, LIE_CATALOG_FEW) ? shape->count / 3 : 0) +
              (lies(c, LIE_CATALOG_MORE) ? 3 : 0);
  const char *names[MOST + 3], *kept[40 * MOST];
  long n = 0;
  forget(s);
  answer_clear(&s->answer);
  s->row = -1;
  s->in_block = 0;
  s->got = -1;
  s->executed = 1;
  s->results = 2;
  if (c->dead) return fail(s, c, "08S01", "communication link failure");
  if (lies(c, LIE_CATALOG_NONE)) return fail(s, c, "HYC00", "there is no catalog");
  for (int i = 0; i < count; i++)
    names[i] = i < shape->count ? shape->names[i] : extra_names[i - shape->count];
  for (long row = 0; row < rows; row++) {
    const char *const *from = cells + row * shape->count;
    if (wanted && strcmp(wanted, in_case(c, from[2])) != 0 && !lies(c, LIE_CATALOG_ALL)) continue;
    for (int i = 0; i < count; i++) {
      kept[n * count + i] = i >= shape->count                               ? "extra"
                            : lies(c, LIE_CATALOG_NULL) && i != 2 && i != 3 ? NULL
                            : i == 1 || i == 2                              ? in_case(c, from[i])
                                                                            : from[i];
    }
    n++;
  }
  answer_cells(&s->answer, names, count, kept, n);
  return succeed(s, c);
}

static const char *const table_names[] = {"TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE",
                                          "REMARKS"};
static const Shape table_shape = {table_names, 5};
static const char *const table_rows[] = {NULL, "main", "t",  "TABLE", "what it is",
                                         NULL, "main", "tx", "TABLE", NULL,
                                         NULL, "main", "v",  "VIEW",  NULL};

EXPORT SQLRETURN SQL_API ENTRY(SQLTables)(SQLHSTMT hstmt, Char *catalog, SQLSMALLINT n1,
                                          Char *schema, SQLSMALLINT n2, Char *table, SQLSMALLINT n3,
                                          Char *type, SQLSMALLINT n4) {
  char *wanted = text_in(table, n3);
  (void)catalog, (void)n1, (void)schema, (void)n2, (void)type, (void)n4;
  int any = !wanted || !*wanted || strcmp(wanted, "%") == 0;
  SQLRETURN rc = answer_catalog(hstmt, &table_shape, table_rows, 3, any ? NULL : wanted);
  free(wanted);
  return rc;
}

static const char *const column_names[] = {
    "TABLE_CAT",         "TABLE_SCHEM",      "TABLE_NAME",    "COLUMN_NAME",    "DATA_TYPE",
    "TYPE_NAME",         "COLUMN_SIZE",      "BUFFER_LENGTH", "DECIMAL_DIGITS", "NUM_PREC_RADIX",
    "NULLABLE",          "REMARKS",          "COLUMN_DEF",    "SQL_DATA_TYPE",  "SQL_DATETIME_SUB",
    "CHAR_OCTET_LENGTH", "ORDINAL_POSITION", "IS_NULLABLE"};
static const Shape column_shape = {column_names, 18};
/* clang-format off */
static const char *const column_rows[] = {
  NULL, "main", "t", "id", "4", "INTEGER", "10", "4", "0", "10", "0", NULL, NULL, "4", NULL, NULL, "1", "NO",
  NULL, "main", "t", "name", "12", "VARCHAR", "20", "20", NULL, NULL, "1", NULL, NULL, "12", NULL, "20", "2", "YES",
  NULL, "main", "t", "note", "-10", "CLOB", "0", "0", NULL, NULL, "1", NULL, NULL, "-10", NULL, "0", "3", "YES",
  NULL, "main", "t", "price", "3", "DECIMAL", "10", "12", "2", "10", "1", NULL, NULL, "3", NULL, NULL, "4", "YES",
  NULL, "main", "t", "day", "91", "DATE", "10", "6", NULL, NULL, "1", NULL, NULL, "9", "1", NULL, "5", "YES",
  NULL, "main", "tx", "other", "4", "INTEGER", "10", "4", "0", "10", "0", NULL, NULL, "4", NULL, NULL, "1", "NO",
  NULL, "main", "v", "id", "4", "INTEGER", "10", "4", "0", "10", "0", NULL, NULL, "4", NULL, NULL, "1", "NO"};
/* clang-format on */

EXPORT SQLRETURN SQL_API ENTRY(SQLColumns)(SQLHSTMT hstmt, Char *catalog, SQLSMALLINT n1,
                                           Char *schema, SQLSMALLINT n2, Char *table,
                                           SQLSMALLINT n3, Char *column, SQLSMALLINT n4) {
  char *wanted = text_in(table, n3);
  (void)catalog, (void)n1, (void)schema, (void)n2, (void)column, (void)n4;
  SQLRETURN rc = answer_catalog(hstmt, &column_shape, column_rows, 7, wanted);
  free(wanted);
  return rc;
}

static const char *const key_names[] = {"TABLE_CAT",   "TABLE_SCHEM", "TABLE_NAME",
                                        "COLUMN_NAME", "KEY_SEQ",     "PK_NAME"};
static const Shape key_shape = {key_names, 6};
static const char *const key_rows[] = {NULL, "main", "t",  "id",    "1", "pk",
                                       NULL, "main", "tx", "other", "1", "pk"};

EXPORT SQLRETURN SQL_API ENTRY(SQLPrimaryKeys)(SQLHSTMT hstmt, Char *catalog, SQLSMALLINT n1,
                                               Char *schema, SQLSMALLINT n2, Char *table,
                                               SQLSMALLINT n3) {
  char *wanted = text_in(table, n3);
  (void)catalog, (void)n1, (void)schema, (void)n2;
  SQLRETURN rc = answer_catalog(hstmt, &key_shape, key_rows, 2, wanted);
  free(wanted);
  return rc;
}

static const char *const index_names[] = {
    "TABLE_CAT",   "TABLE_SCHEM", "TABLE_NAME",       "NON_UNIQUE",  "INDEX_QUALIFIER",
    "INDEX_NAME",  "TYPE",        "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC",
    "CARDINALITY", "PAGES",       "FILTER_CONDITION"};
static const Shape index_shape = {index_names, 13};
/* clang-format off */
static const char *const index_rows[] = {
  NULL, "main", "t", NULL, NULL, NULL, "0", NULL, NULL, NULL, "10", "1", NULL,
  NULL, "main", "t", "0", NULL, "pair", "3", "1", "name", "A", "10", "1", NULL,
  NULL, "main", "t", "0", NULL, "pair", "3", "2", "day", "A", "10", "1", NULL,
  NULL, "main", "t", "0", NULL, "part", "3", "1", "price", "A", "10", "1", "price > 0",
  NULL, "main", "t", "0", NULL, "pk", "3", "1", "id", "A", "10", "1", NULL,
  NULL, "main", "t", "0", NULL, "text", "3", "1", "name", "A", "10", "1", NULL,
  NULL, "main", "v", NULL, NULL, NULL, "0", NULL, NULL, NULL, "7", "1", NULL,
  NULL, "main", "v", "0", NULL, "made", "3", "1", NULL, "A", "7", "1", NULL,
  NULL, "main", "v", "0", NULL, "only", "3", "1", "id", "A", "7", "1", NULL};
/* clang-format on */

EXPORT SQLRETURN SQL_API ENTRY(SQLStatistics)(SQLHSTMT hstmt, Char *catalog, SQLSMALLINT n1,
                                              Char *schema, SQLSMALLINT n2, Char *table,
                                              SQLSMALLINT n3, SQLUSMALLINT unique,
                                              SQLUSMALLINT accuracy) {
  char *wanted = text_in(table, n3);
  (void)catalog, (void)n1, (void)schema, (void)n2, (void)unique, (void)accuracy;
  SQLRETURN rc = answer_catalog(hstmt, &index_shape, index_rows, 9, wanted);
  free(wanted);
  return rc;
}

/* ---- SQLGetInfo ------------------------------------------------------------------------------------- */

typedef struct Info {
  SQLUSMALLINT key;
  const char *text; /* NULL: a number */
  SQLUINTEGER number;
  size_t size; /* of the number */
} Info;

static const Info infos[] = {{SQL_DBMS_VER, "01.02.0003", 0, 0},
                             {SQL_DRIVER_NAME, "liar.so", 0, 0},
                             {SQL_DRIVER_VER, "01.00.0000", 0, 0},
                             {SQL_DRIVER_ODBC_VER, "03.52", 0, 0},
                             {SQL_IDENTIFIER_QUOTE_CHAR, "\"", 0, 0},
                             {SQL_SEARCH_PATTERN_ESCAPE, "\\", 0, 0},
                             {SQL_CATALOG_NAME, "N", 0, 0},
                             {SQL_CATALOG_NAME_SEPARATOR, "", 0, 0},
                             {SQL_CATALOG_TERM, "", 0, 0},
                             {SQL_SCHEMA_TERM, "schema", 0, 0},
                             {SQL_NEED_LONG_DATA_LEN, "N", 0, 0},
                             {SQL_IDENTIFIER_CASE, NULL, SQL_IC_SENSITIVE, 2},
                             {SQL_TXN_CAPABLE, NULL, SQL_TC_ALL, 2},
                             {SQL_CURSOR_COMMIT_BEHAVIOR, NULL, SQL_CB_CLOSE, 2},
                             {SQL_CURSOR_ROLLBACK_BEHAVIOR, NULL, SQL_CB_CLOSE, 2},
                             {SQL_MAX_IDENTIFIER_LEN, NULL, 128, 2},
                             {SQL_MAX_CONCURRENT_ACTIVITIES, NULL, 0, 2},
                             {SQL_SCHEMA_USAGE, NULL, SQL_SU_DML_STATEMENTS, 4},
                             {SQL_CATALOG_USAGE, NULL, 0, 4},
                             {SQL_GETDATA_EXTENSIONS, NULL, 0, 4},
                             {SQL_SCROLL_OPTIONS, NULL, SQL_SO_FORWARD_ONLY, 4},
                             {0, NULL, 0, 0}};

static const char *nonsense(SQLUSMALLINT key) {
  static char long_text[3001];
  memset(long_text, '"', 3000);
  return key % 2 ? long_text : "";
}

EXPORT SQLRETURN SQL_API ENTRY(SQLGetInfo)(SQLHDBC hdbc, SQLUSMALLINT key, SQLPOINTER out,
                                           SQLSMALLINT room, SQLSMALLINT *length) {
  Connection *c = hdbc;
  const Info *info = infos;
  SQLLEN bytes = 0;
  forget(c);
  while (info->key && info->key != key) info++;
  const char *text = key == SQL_DBMS_NAME                           ? (c->dbms ? c->dbms : "Liar")
                     : key == SQL_IDENTIFIER_QUOTE_CHAR && c->quote ? c->quote
                                                                    : info->text;
  if (text) {
    int whole = text_out(lies(c, LIE_INFO) ? nonsense(key) : text, out, room, &bytes);
    if (length) *length = (SQLSMALLINT)(lies(c, LIE_INFO) && key % 3 == 0 ? -5 : bytes);
    return whole ? SQL_SUCCESS : inform(c, "01004", "the text was cut");
  }
  if (!info->key) return fail(c, c, "HY096", "information type out of range");
  SQLUINTEGER number = lies(c, LIE_INFO) ? 0xFFFFFFFF : info->number;
  if (key == SQL_GETDATA_EXTENSIONS && (lies(c, LIE_FALSE_ORDER) || lies(c, LIE_GETDATA_BLOCKS))) {
    number = SQL_GD_ANY_COLUMN | SQL_GD_ANY_ORDER | SQL_GD_BLOCK | SQL_GD_BOUND;
  }
  if (key == SQL_IDENTIFIER_CASE && c->upper) number = SQL_IC_UPPER;
  if (key == SQL_TXN_CAPABLE && lies(c, LIE_NO_TRANSACTIONS)) number = SQL_TC_NONE;
  if (out) memcpy(out, &number, info->size); /* little-endian: the lower half comes first */
  if (length) *length = (SQLSMALLINT)info->size;
  return SQL_SUCCESS;
}
