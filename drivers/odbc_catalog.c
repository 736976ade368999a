/*
** drivers/odbc_catalog.c: the catalog, by ODBC's calls: SQLTables, SQLColumns, SQLPrimaryKeys, SQLStatistics.
**
** What edb asks is SQL for its other drivers, and so it is here where the product is one of theirs: its own catalog knows of
** defaults, of computed columns, of what a domain is made of, and of how many rows there are. Of others it is a word that stands for
** calls, whose answers become rows of our own (odbc_list.c). Names are arguments that are patterns to ODBC: they are escaped where the driver has an
** escape, and what comes back is compared to the byte all the same.
*/
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "odbcInt.h"

static const char *const queries[] = {[OD_CATALOG_TABLES] = "{edb tables}",
                                      [OD_CATALOG_RELATION] = "{edb relation}",
                                      [OD_CATALOG_COLUMNS] = "{edb columns}"};

/* PostgreSQL's and SQLite's, whose catalogs are asked in their own SQL. */
static const char *const identities[] = {
    "ctid::text", "tableoid::int8::text || ctid::text", "rowid", "_rowid_", "oid", NULL};

const edb_catalog od_catalog = {.tables = "{edb tables}",
                                .relation = "{edb relation}",
                                .columns = "{edb columns}",
                                .estimate = NULL,
                                .identities = identities};

od_catalog_query od_catalog_query_of(const char *sql) {
  for (int i = OD_CATALOG_TABLES; i <= OD_CATALOG_COLUMNS; i++) {
    if (strcmp(sql, queries[i]) == 0) return (od_catalog_query)i;
  }
  return OD_SQL;
}

const char *od_catalog_sql(const od_flavour *flavour, od_catalog_query query) {
  const edb_catalog *catalog = flavour->catalog_of ? flavour->catalog_of->catalog : NULL;
  if (!catalog) return NULL;
  return query == OD_CATALOG_TABLES     ? catalog->tables
         : query == OD_CATALOG_RELATION ? catalog->relation
                                        : catalog->columns;
}

void od_catalog_positions(char *sql, unsigned char order[OD_ORDER]) {
  size_t n = 0;
  char *to = sql;
  for (const char *from = sql; *from; from++) {
    if ((from[0] == '$' || from[0] == '?') && from[1] >= '1' && from[1] <= '9' &&
        n + 1 < OD_ORDER) {
      order[n++] = (unsigned char)(*++from - '0');
      *to++ = '?';
    } else {
      *to++ = *from;
    }
  }
  *to = 0;
}

/* ---- One call ------------------------------------------------------------------------------------- */

typedef enum od_asked { ASK_TABLES, ASK_COLUMNS, ASK_KEYS, ASK_INDEXES } od_asked;

/* A name as an argument: NULL where none was given. */
typedef struct od_name {
  edb_buffer wide;
  SQLINTEGER n;
} od_name;

static void make_name(od_connection *c, const char *name, int pattern, od_name *out) {
  edb_buffer text = {c->host, NULL, 0, 0, 0};
  out->wide = (edb_buffer){c->host, NULL, 0, 0, 0};
  out->n = 0;
  if (!name) return;
  const size_t escape = strlen(c->escape);
  for (const char *p = name; *p; p++) {
    const int special = *p == '_' || *p == '%' || (escape == 1 && *p == c->escape[0]);
    if (pattern && special) edb_buffer_text(&text, c->escape);
    edb_buffer_add(&text, p, 1);
  }
  out->n = od_wide_make(&out->wide, text.p ? text.p : "", text.n);
  edb_buffer_free(&text);
}

typedef struct od_ask {
  SQLHANDLE stmt;
  od_asked what;
  od_name catalog, schema, table;
} od_ask;

static SQLRETURN ask(const od_ask *a) {
  SQLWCHAR *catalog = a->catalog.wide.p, *schema = a->schema.wide.p, *table = a->table.wide.p;
  const SQLSMALLINT c = (SQLSMALLINT)a->catalog.n, s = (SQLSMALLINT)a->schema.n,
                    t = (SQLSMALLINT)a->table.n;
  switch (a->what) {
  case ASK_TABLES:
    return od.Tables(a->stmt, catalog, c, schema, s, table, t, NULL, 0);
  case ASK_COLUMNS:
    return od.Columns(a->stmt, catalog, c, schema, s, table, t, NULL, 0);
  case ASK_KEYS:
    return od.PrimaryKeys(a->stmt, catalog, c, schema, s, table, t);
  case ASK_INDEXES:
    return od.Statistics(a->stmt, catalog, c, schema, s, table, t, SQL_INDEX_UNIQUE, SQL_QUICK);
  }
  return SQL_ERROR;
}

/* A statement whose rows are the answer. */
static int start(od_connection *c, od_asked what, const char *schema, const char *table,
                 od_statement **out) {
  od_statement *s;
  int rc = od_statement_bare(c, &s);
  if (rc != EDB_OK) return rc;
  const int pattern = what == ASK_TABLES || what == ASK_COLUMNS;
  const int as_catalog = c->catalog_schemas;
  od_ask a = {.stmt = s->stmt, .what = what};
  make_name(c, as_catalog ? schema : NULL, 0, &a.catalog);
  make_name(c, as_catalog ? NULL : schema, pattern, &a.schema);
  make_name(c, table, pattern, &a.table);
  if (a.catalog.n < 0 || a.schema.n < 0 || a.table.n < 0 || a.table.n > INT16_MAX) {
    rc = od_nomem(c);
  } else if (!od_ok(ask(&a))) {
    rc = od_statement_error(s);
  }
  edb_buffer_free(&a.catalog.wide);
  edb_buffer_free(&a.schema.wide);
  edb_buffer_free(&a.table.wide);
  s->cursor = 1;
  if (rc == EDB_OK) rc = od_describe(s);
  if (rc == EDB_OK) {
    memset(&c->rows, 0, sizeof c->rows);
    *out = s;
  } else {
    od_statement_free(s);
  }
  return rc;
}

static void stop(od_statement *s) {
  od_statement_finish(s, 0);
  od_statement_free(s);
}

/* ---- Values of an answer, by ODBC's numbers of columns, from 1 ---------------------------------------- */

static const edb_value *value(const od_statement *s, size_t column) {
  static const edb_value none = {.kind = EDB_NULL};
  return column <= s->n_columns ? &s->values[column - 1] : &none;
}

static int is(const od_statement *s, size_t column, const char *text) {
  const edb_value *v = value(s, column);
  if (v->kind != EDB_TEXT) return !text || !*text;
  return text && v->as.text.n == strlen(text) && memcmp(v->as.text.p, text, v->as.text.n) == 0;
}

static int64_t number(const od_statement *s, size_t column, int64_t absent) {
  const edb_value *v = value(s, column);
  char text[24];
  switch (v->kind) {
  case EDB_I64:
    return v->as.i64;
  case EDB_U64:
    return (int64_t)v->as.u64;
  case EDB_BOOL:
    return v->as.boolean;
  case EDB_F64:
    return (int64_t)v->as.f64;
  case EDB_TEXT:
    edb_copy_line(text, sizeof text, v->as.text.p, v->as.text.n);
    return text[0] ? strtoll(text, NULL, 10) : absent;
  default:
    return absent;
  }
}

static void copy(od_list *list, size_t to, const od_statement *s, size_t column) {
  const edb_value *v = value(s, column);
  if (v->kind == EDB_TEXT) od_list_text(list, to, v->as.text.p, v->as.text.n);
}

/* Which column of SQLTables and its like is what edb calls the schema. */
static size_t schema_column(const od_connection *c) { return c->catalog_schemas ? 1 : 2; }

/* Whether the row is of the schema; NULL: of any. */
static int of_schema(const od_statement *s, const char *schema) {
  return !schema || is(s, schema_column(s->connection), schema);
}

static void copy_schema(od_list *list, size_t to, const od_statement *s) {
  const edb_value *v = value(s, schema_column(s->connection));
  if (v->kind == EDB_TEXT && v->as.text.n > 0) copy(list, to, s, schema_column(s->connection));
}

/* ---- Tables ------------------------------------------------------------------------------------------- */

/* What is the system's, by its kind or its schema. */
static int of_system(const od_statement *s) {
  static const char *const schemas[] = {"information_schema",
                                        "INFORMATION_SCHEMA",
                                        "pg_catalog",
                                        "pg_toast",
                                        "mysql",
                                        "performance_schema",
                                        "sys",
                                        "SYS",
                                        "SYSTEM",
                                        "SYSCAT",
                                        "SYSIBM",
                                        "SYSSTAT"};
  if (is(s, 4, "SYSTEM TABLE") || is(s, 4, "SYSTEM VIEW")) return 1;
  for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
    if (is(s, schema_column(s->connection), schemas[i])) return 1;
  }
  return 0;
}

/* What can be read from: not indexes, sequences, synonyms of who knows what. */
static int is_relation(const od_statement *s) {
  const edb_value *v = value(s, 4);
  static const char *const words[] = {"TABLE", "VIEW", "SYNONYM", "ALIAS"};
  if (v->kind != EDB_TEXT) return 1;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    const size_t n = strlen(words[i]);
    for (size_t k = 0; k + n <= v->as.text.n; k++) {
      if (strncasecmp(v->as.text.p + k, words[i], n) == 0) return 1;
    }
  }
  return 0;
}

static void copy_kind(od_list *list, size_t to, const od_statement *s) {
  char kind[64];
  const edb_value *v = value(s, 4);
  if (v->kind != EDB_TEXT) return;
  edb_copy_line(kind, sizeof kind, v->as.text.p, v->as.text.n);
  for (char *p = kind; *p; p++) *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
  od_list_text(list, to, kind, strlen(kind));
}

static int tables(od_statement *out, const char *schema) {
  od_statement *s;
  int rc = start(out->connection, ASK_TABLES, schema, NULL, &s);
  if (rc != EDB_OK) return rc;
  while ((rc = od_next(s)) == EDB_ROW) {
    if (!is_relation(s) || !of_schema(s, schema) || (!schema && of_system(s))) continue;
    od_list_row(out->list);
    copy_schema(out->list, 0, s);
    copy(out->list, 1, s, 3);
    copy_kind(out->list, 2, s);
    if (value(s, 5)->kind == EDB_TEXT && value(s, 5)->as.text.n > 0) copy(out->list, 4, s, 5);
  }
  stop(s);
  return rc == EDB_DONE ? EDB_OK : rc;
}

/* What an unqualified name finds: NUL-terminated, in out; "" where the server has no such thing. */
static int current_schema(od_connection *c, char *out, size_t size) {
  od_statement *s;
  out[0] = 0;
  if (!c->flavour->current_schema) return EDB_OK;
  int rc = od_statement_new(c, c->flavour->current_schema, 1, &s);
  if (rc != EDB_OK) return rc;
  rc = od_statement_run(s, NULL, 0);
  if (rc == EDB_OK) rc = od_describe(s);
  if (rc == EDB_OK && (rc = od_next(s)) == EDB_ROW && value(s, 1)->kind == EDB_TEXT) {
    edb_copy_line(out, size, value(s, 1)->as.text.p, value(s, 1)->as.text.n);
  }
  if (rc == EDB_ROW || rc == EDB_DONE) rc = EDB_OK;
  od_statement_finish(s, 1);
  od_statement_free(s);
  return rc;
}

static void put_relation(od_list *list, const od_statement *s) {
  od_list_row(list);
  copy_schema(list, 0, s);
  copy(list, 1, s, 3);
  copy_kind(list, 2, s);
  od_list_number(list, 5, 0);
}

/* Without a schema, the current one's, else the only one of that name. */
static int find_relation(od_statement *out, const char *schema, const char *table) {
  od_connection *c = out->connection;
  char current[256];
  od_statement *s;
  size_t others = 0;
  int rc = schema ? EDB_OK : current_schema(c, current, sizeof current);
  if (rc == EDB_OK) rc = start(c, ASK_TABLES, schema, table, &s);
  if (rc != EDB_OK) return rc;
  const char *wanted = schema ? schema : current[0] ? current : NULL;
  while ((rc = od_next(s)) == EDB_ROW) {
    if (!is_relation(s) || !is(s, 3, table)) continue;
    if (of_schema(s, wanted)) {
      out->list->rows = 0;
      put_relation(out->list, s);
      others = 1;
      if (wanted) break;
    } else if (!schema && others++ == 0) {
      put_relation(out->list, s);
    }
  }
  stop(s);
  if (rc != EDB_ROW && rc != EDB_DONE) return rc;
  if (others > 1) {
    return edb_fail(&c->error, EDB_INVALID_QUERY,
                    "several schemas have a table %s: say which by 'schema.table'", table);
  }
  return EDB_OK;
}

/* As the server keeps a name that is not quoted. */
static void fold(const od_connection *c, char *out, size_t size, const char *name) {
  edb_copy_line(out, size, name, strlen(name));
  const char from = c->folds == SQL_IC_UPPER ? 'a' : 'A';
  for (char *p = out; *p; p++) {
    if (*p >= from && *p < from + 26) *p = (char)(*p ^ 32);
  }
}

/* How many rows there are, where the driver tells without counting. */
static int count_rows(od_statement *out, const char *schema, const char *table) {
  od_statement *s;
  int rc = start(out->connection, ASK_INDEXES, schema, table, &s);
  if (rc != EDB_OK) return rc;
  while ((rc = od_next(s)) == EDB_ROW) {
    if (number(s, 7, SQL_TABLE_STAT + 1) != SQL_TABLE_STAT || !is(s, 3, table) ||
        !of_schema(s, schema))
      continue;
    const int64_t rows = number(s, 11, -1);
    if (rows >= 0) od_list_number(out->list, 3, rows);
  }
  stop(s);
  return rc == EDB_DONE ? EDB_OK : rc;
}

/* A name that is none of the server's may be one that was never quoted there. */
static int relation(od_statement *out, const char *schema, const char *table) {
  const od_connection *c = out->connection;
  char folded_schema[256], folded_table[256];
  int rc = find_relation(out, schema, table);
  if (rc == EDB_OK && out->list->rows == 0 && c->folds) {
    if (schema) fold(c, folded_schema, sizeof folded_schema, schema);
    fold(c, folded_table, sizeof folded_table, table);
    schema = schema ? folded_schema : NULL;
    table = folded_table;
    rc = find_relation(out, schema, table);
  }
  if (rc != EDB_OK || out->list->rows != 1) return rc;
  /* A driver may not have this call. */
  rc = count_rows(out, schema, table);
  return rc == EDB_NOMEM || rc == EDB_CLOSED || rc == EDB_INTERRUPTED ? rc : EDB_OK;
}

/* ---- Columns -------------------------------------------------------------------------------------------- */

/* The row of the column, from 1 up to the list's end; NULL. */
static edb_value *column_row(od_list *list, const edb_value *name) {
  for (size_t i = 0; i < list->rows; i++) {
    edb_value *row = list->values + i * list->width;
    const size_t offset = (size_t)(uintptr_t)row[0].as.text.p;
    if (name->kind == EDB_TEXT && row[0].as.text.n == name->as.text.n &&
        memcmp(list->text.p + offset, name->as.text.p, name->as.text.n) == 0) {
      return row;
    }
  }
  return NULL;
}

static void put_column(od_list *list, const od_statement *s) {
  char name[128];
  const edb_value *v = value(s, 6);
  const int sql_type = (int)number(s, 5, SQL_UNKNOWN_TYPE);
  edb_copy_line(name, sizeof name, v->kind == EDB_TEXT ? v->as.text.p : "",
                v->kind == EDB_TEXT ? v->as.text.n : 0);
  const edb_type *type = od_column_type(s->connection->flavour, name, sql_type, -1);
  od_list_row(list);
  copy(list, 0, s, 4);
  od_list_text(list, 1, type->name, strlen(type->name));
  od_list_text(list, 2, name, strlen(name));
  od_list_number(list, 3, number(s, 11, 1) != 0);
  od_list_number(list, 4, 0);
  const edb_value *def = value(s, 13);
  od_list_number(list, 5, def->kind == EDB_TEXT && !is(s, 13, "NULL"));
  od_list_number(list, 6, 0);
}

static int primary_key(od_connection *c, od_list *list, const char *schema, const char *table,
                       int *found) {
  od_statement *s;
  int rc = start(c, ASK_KEYS, schema, table, &s);
  if (rc != EDB_OK) return rc;
  while ((rc = od_next(s)) == EDB_ROW) {
    edb_value *row = is(s, 3, table) && of_schema(s, schema) ? column_row(list, value(s, 4)) : NULL;
    if (!row) continue;
    row[4].as.i64 = number(s, 5, *found + 1);
    ++*found;
  }
  stop(s);
  return rc == EDB_DONE ? EDB_OK : rc;
}

/* An index, while its columns come, one a row. */
typedef struct od_index {
  char name[256];
  int open;
  int whole;        /* it is of columns alone, and of all rows */
  int fits;         /* and none of them is ever NULL */
  int columns;      /* so far */
  edb_value *first; /* of them: its row of the list */
} od_index;

/* chosen: the table has its key. */
static void end_index(const od_index *index, od_list *list, int *chosen) {
  if (!index->open) return;
  if (index->whole && index->columns == 1) index->first[6].as.i64 = 1;
  if (*chosen) return;
  *chosen = index->fits;
  for (size_t i = 0; !index->fits && i < list->rows; i++) {
    list->values[i * list->width + 4].as.i64 = 0;
  }
}

static void take_index_column(od_index *index, const od_statement *s, od_list *list, int chosen) {
  edb_value *row = column_row(list, value(s, 9));
  if (!row || !is(s, 13, "")) {
    index->whole = index->fits = 0;
    return;
  }
  if (row[3].as.i64) index->fits = 0;
  if (index->columns++ == 0) index->first = row;
  if (!chosen) row[4].as.i64 = number(s, 8, 1);
}

/* Unique indexes: which columns alone are so; and where there is no primary key, the first one whose columns are never
** NULL is the key. They come one behind the other. */
static int unique_indexes(od_connection *c, od_list *list, const char *schema, const char *table,
                          int chosen) {
  od_statement *s;
  od_index index = {.open = 0};
  char name[sizeof index.name];
  int rc = start(c, ASK_INDEXES, schema, table, &s);
  if (rc != EDB_OK) return rc;
  while ((rc = od_next(s)) == EDB_ROW) {
    if (number(s, 7, SQL_TABLE_STAT) == SQL_TABLE_STAT || number(s, 4, 1) != 0) continue;
    if (!is(s, 3, table) || !of_schema(s, schema) || value(s, 6)->kind != EDB_TEXT) continue;
    edb_copy_line(name, sizeof name, value(s, 6)->as.text.p, value(s, 6)->as.text.n);
    if (!index.open || strcmp(name, index.name) != 0) {
      end_index(&index, list, &chosen);
      index = (od_index){.open = 1, .whole = 1, .fits = 1};
      memcpy(index.name, name, sizeof name);
    }
    take_index_column(&index, s, list, chosen);
  }
  stop(s);
  end_index(&index, list, &chosen);
  return rc == EDB_DONE ? EDB_OK : rc;
}

static int columns(od_statement *out, const char *schema, const char *table) {
  od_connection *c = out->connection;
  od_statement *s;
  int found = 0;
  int rc = start(c, ASK_COLUMNS, schema, table, &s);
  if (rc != EDB_OK) return rc;
  while ((rc = od_next(s)) == EDB_ROW) {
    if (is(s, 3, table) && of_schema(s, schema)) put_column(out->list, s);
  }
  stop(s);
  if (rc != EDB_DONE) return rc;
  if (out->list->nomem || out->list->text.nomem) return od_nomem(c);
  /* A driver may have neither of these calls: then the table has no key. */
  rc = primary_key(c, out->list, schema, table, &found);
  if (rc == EDB_OK) rc = unique_indexes(c, out->list, schema, table, found > 0);
  return rc == EDB_NOMEM || rc == EDB_CLOSED || rc == EDB_INTERRUPTED ? rc : EDB_OK;
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

/* The reader's columns, which nobody asks for more than their number and their types. */
static int describe(od_statement *s, size_t n) {
  od_connection *c = s->connection;
  od_forget_columns(s);
  s->columns = edb_alloc(c->host, n * sizeof *s->columns);
  s->values = edb_alloc(c->host, n * sizeof *s->values);
  s->cells = edb_alloc(c->host, n * sizeof *s->cells);
  if (!s->columns || !s->values || !s->cells) {
    od_forget_columns(s);
    return od_nomem(c);
  }
  memset(s->values, 0, n * sizeof *s->values);
  memset(s->cells, 0, n * sizeof *s->cells);
  for (size_t i = 0; i < n; i++) {
    s->cells[i].text.host = c->host;
    s->columns[i] = (edb_column){"", "", od_type_of(SQL_VARCHAR, 0), EDB_NULL, 1};
  }
  s->n_columns = n;
  return EDB_OK;
}

/* The i-th parameter as a text of our own, or NULL. */
static int parameter(od_connection *c, const edb_parameter *parameters, size_t n, size_t i,
                     char **out) {
  *out = NULL;
  if (i >= n || parameters[i].value.kind != EDB_TEXT) return EDB_OK;
  const size_t size = parameters[i].value.as.text.n;
  *out = edb_alloc(c->host, size + 1);
  if (!*out) return od_nomem(c);
  memcpy(*out, parameters[i].value.as.text.p, size);
  (*out)[size] = 0;
  return EDB_OK;
}

int od_catalog_run(od_statement *s, const edb_parameter *parameters, size_t n) {
  static const size_t widths[] = {
      [OD_CATALOG_TABLES] = 5, [OD_CATALOG_RELATION] = 6, [OD_CATALOG_COLUMNS] = 7};
  od_connection *c = s->connection;
  char *schema = NULL, *table = NULL;
  int rc = describe(s, widths[s->catalog]);
  od_list_free(s->list);
  s->list = od_list_new(c->host, widths[s->catalog]);
  if (rc == EDB_OK && !s->list) rc = od_nomem(c);
  if (rc == EDB_OK) rc = parameter(c, parameters, n, 0, &schema);
  if (rc == EDB_OK) rc = parameter(c, parameters, n, 1, &table);
  if (rc == EDB_OK && s->catalog == OD_CATALOG_TABLES) rc = tables(s, schema);
  if (rc == EDB_OK && s->catalog == OD_CATALOG_RELATION)
    rc = relation(s, schema, table ? table : "");
  if (rc == EDB_OK && s->catalog == OD_CATALOG_COLUMNS) rc = columns(s, schema, table ? table : "");
  if (rc == EDB_OK && od_list_end(s->list) != EDB_OK) rc = od_nomem(c);
  edb_free(c->host, schema);
  edb_free(c->host, table);
  return rc;
}
