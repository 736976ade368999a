/*
** ext/ship_list.c: IN against remote columns: the list as one array, or a parameter a value.
*/
#include "extInt.h"

#include <string.h>

#define OP(name) SQLITE_INDEX_CONSTRAINT_##name

/* An element of an array literal, as PostgreSQL reads it. */
static void append_element(sqlite3_str *out, const edb_value *value) {
  if (value->kind == EDB_TEXT) {
    sqlite3_str_appendchar(out, 1, '"');
    for (size_t i = 0; i < value->as.text.n; i++) {
      const char *p = value->as.text.p + i;
      if (*p == '"' || *p == '\\') sqlite3_str_appendchar(out, 1, '\\');
      sqlite3_str_append(out, p, 1);
    }
    sqlite3_str_appendchar(out, 1, '"');
  } else if (value->kind == EDB_TIME) {
    char text[EDB_TIME_TEXT];
    edb_time_text(&value->as.time, text);
    sqlite3_str_appendf(out, "\"%s\"", text);
  } else {
    value_literal(out, value);
  }
}

/* ---- Gathering ----------------------------------------------------------------------------------- */

#define CHUNK_KEYS 1000          /* in one of several statements */
#define CHUNK_BYTES (256 * 1024) /* of an array, or of the text of so many parameters */
#define KEY_ROWS 4.0 /* that a server sends in the time in which it finds one by its key */

/* A list that is being read: what the next statement takes of it. */
typedef struct List {
  const Condition *c;
  sqlite3_str *array; /* NULL: each key is a parameter */
  int first;          /* of the parameters */
  int owned;          /* what the Sql owns from there on is the keys' */
  int others;         /* and from there on the present one's, which is not among them yet */
  int keys;           /* of the next statement */
  int most;           /* of them */
  size_t bytes;       /* of their text */
  double total;       /* keys so far */
  edb_row last;       /* the last one */
} List;

static int is_sized(const edb_value *value) {
  return value->kind == EDB_TEXT || value->kind == EDB_BYTES;
}

/* Text in a list lives only until SQLite is asked for the next value. */
static void keep_bytes(Sql *sql, edb_value *value) {
  if (!is_sized(value)) return;
  char *copy = sqlite3_malloc64(value->as.text.n + 1);
  if (copy) memcpy(copy, value->as.text.p, value->as.text.n);
  value->as.text.p = copy;
  sql_own(sql, copy);
}

static int list_is_full(const List *list) {
  const Sql *sql = list->c->sql;
  if (list->keys == 0) return 0;
  if (!list->array && list->keys >= list->most) return 1;
  return sql->may_chunk && list->bytes >= CHUNK_BYTES;
}

/* The array that has been written as a parameter. */
static void list_end_array(List *list) {
  Sql *sql = list->c->sql;
  edb_value value = {.kind = EDB_TEXT};
  sqlite3_str_appendchar(list->array, 1, '}');
  value.as.text.n = (size_t)sqlite3_str_length(list->array);
  char *text = sqlite3_str_finish(list->array);
  value.as.text.p = text;
  list->array = sqlite3_str_new(NULL);
  sql_own(sql, text);
  sql_add(sql, &value);
}

/* All chunks are the same statement: where one has fewer keys, its shortest fills it up. */
static void list_fill(List *list, int count) {
  Sql *sql = list->c->sql;
  edb_value shortest = sql->parameters[list->first].value;
  for (int i = 1; i < list->keys && is_sized(&shortest); i++) {
    const edb_value *value = &sql->parameters[list->first + i].value;
    if (is_sized(value) && value->as.text.n < shortest.as.text.n) shortest = *value;
  }
  while (list->keys < count && sql_add(sql, &shortest)) list->keys++;
}

/* Sets aside what the next statement takes; behind: the key that comes behind it, NULL at the end. */
static Shipped list_cut(List *list, const edb_value *behind) {
  Sql *sql = list->c->sql;
  if (sql->chunks == NULL) { /* the first cut says how many keys all have */
    list->most = list->keys;
    sql->chunks = chunks_new(list->c, list->first, list->array ? 1 : list->keys);
  }
  if (list->array) {
    list_end_array(list);
  } else {
    list_fill(list, list->most);
  }
  if (sql->chunks == NULL || sql->rc != SQLITE_OK) return SHIP_FAIL;
  int rc = chunks_add(sql->chunks, &sql->parameters[list->first], behind);
  sql->count = list->first;
  if (list->array) sql_disown(sql, sql->owned_count - 1, sql->owned_count);
  sql_disown(sql, list->owned, list->others);
  list->others = list->owned;
  list->keys = 0;
  list->bytes = 0;
  return rc == SQLITE_OK ? SHIP_SENT : SHIP_FAIL;
}

/* Whether the list may go out in several statements: it alone, in order, and if that is better than to read all rows. */
static int list_may_divide(const List *list) {
  const Sql *sql = list->c->sql;
  double rows = definition_rows(list->c->definition);
  if (!sql->may_chunk || (sql->chunks && chunks_first(sql->chunks) != list->first)) return 0;
  return rows < 0 || list->total * KEY_ROWS <= rows;
}

/* Whether the key comes behind those before it, as chunks need it. */
static int list_in_order(List *list, const edb_value *key) {
  if (list->last.count > 0 && value_compare(&list->last.values[0], key) > 0) return 0;
  if (edb_row_reset(&list->last, 1) != EDB_OK || edb_row_set(&list->last, 0, key) != EDB_OK) {
    list->c->sql->rc = SQLITE_NOMEM;
  }
  return 1;
}

/* key: as SQLite has it; parameter: as the server is to have it. */
static Shipped list_add(List *list, const edb_value *key, edb_value *parameter) {
  Sql *sql = list->c->sql;
  if (sql->may_chunk && !list_in_order(list, key)) {
    if (sql->chunks) return SHIP_SKIP;
    sql->may_chunk = 0;
  }
  if (list_is_full(list)) {
    Shipped shipped = list_may_divide(list) ? list_cut(list, key) : SHIP_SKIP;
    if (shipped != SHIP_SENT) return shipped;
  }
  if (list->array) {
    sqlite3_str_appendchar(list->array, 1, list->keys ? ',' : '{');
    append_element(list->array, parameter);
    list->bytes = (size_t)sqlite3_str_length(list->array);
  } else {
    keep_bytes(sql, parameter);
    sql_add(sql, parameter);
    if (is_sized(parameter)) list->bytes += parameter->as.text.n;
  }
  list->keys++;
  list->total++;
  return sql->rc == SQLITE_OK ? SHIP_SENT : SHIP_FAIL;
}

static Shipped list_read(List *list, sqlite3_value *values) {
  sqlite3_value *v;
  int rc = sqlite3_vtab_in_first(values, &v);
  for (; rc == SQLITE_OK && v; rc = sqlite3_vtab_in_next(values, &v)) {
    Bound b = {.sql = list->c->sql};
    list->others = list->c->sql->owned_count;
    Shipped shipped = ship_bound(list->c->definition, list->c->type, OP(EQ), v, &b);
    if (shipped == SHIP_NEVER) continue;
    edb_value key = value_parameter(v);
    if (shipped == SHIP_SENT) shipped = list_add(list, &key, &b.value);
    if (shipped != SHIP_SENT) return shipped;
  }
  return rc == SQLITE_OK || rc == SQLITE_DONE ? SHIP_SENT : SHIP_FAIL;
}

/* ---- Writing ------------------------------------------------------------------------------------- */

#define FEW_KEYS 16

/* How the column is compared with the array. */
static const char *array_format(const List *list) {
  const Condition *c = list->c;
  const int indexed = c->number < 0 || c->definition->columns[c->number].key == 1;
  const char *format = NULL;
  if (list->total > FEW_KEYS) format = indexed ? c->type->array_indexed : c->type->array_long;
  return format ? format : c->type->array;
}

/* The collation of IN is the column's own, whatever stands with the parameters. */
static const char *list_head(const Condition *c) {
  return c->type->compare == EDB_COMPARE_SQLITE ? "%s COLLATE BINARY IN (" : "%s IN (";
}

/* The condition, for so many parameters. */
static void list_write(const List *list, int count) {
  const Condition *c = list->c;
  sqlite3_str *out = c->sql->text;
  sqlite3_str_appendf(out, list->array ? "%s " : list_head(c), c->column);
  for (int i = 0; i < count; i++) {
    char placeholder[EDB_PLACEHOLDER_TEXT];
    edb_placeholder(c->sql->dialect, list->first + i + 1, placeholder);
    if (i > 0) sqlite3_str_appendall(out, ", ");
    const char *format = list->array ? array_format(list) : c->type->parameter;
    append_template(out, format ? format : "%s", placeholder);
  }
  if (!list->array) sqlite3_str_appendall(out, ")");
}

/* The parameters are in place, of the first chunk if there are several. */
static Shipped list_finish(List *list) {
  Sql *sql = list->c->sql;
  int count = list->array ? 1 : list->keys;
  if (list->total <= 0) return SHIP_NEVER;
  list->others = sql->owned_count;
  if (sql->chunks && chunks_first(sql->chunks) == list->first) {
    Shipped shipped = list_cut(list, NULL);
    if (shipped != SHIP_SENT) return shipped;
    count = list->array ? 1 : list->most;
    sql->count = list->first + count; /* they were there before the cut */
    if (chunks_next(sql->chunks, sql->parameters) != SQLITE_ROW) return SHIP_FAIL;
  } else if (list->array) {
    list_end_array(list);
  }
  list_write(list, count);
  return SHIP_SENT;
}

Shipped ship_list(const Condition *c, sqlite3_value *values) {
  if (c->type->compare == EDB_COMPARE_DECIMAL) return ship_decimal_list(c, values);
  Sql *sql = c->sql;
  int may_chunk = sql->may_chunk;
  List list = {.c = c, .first = sql->count, .owned = sql->owned_count, .last = {.host = sql->host}};
  if (c->type->array) list.array = sqlite3_str_new(NULL);
  list.most = sql->dialect->max_parameters - sql->count - sql->later;
  if (may_chunk && list.most > CHUNK_KEYS) list.most = CHUNK_KEYS;
  Shipped shipped = list.most > 0 || list.array ? list_read(&list, values) : SHIP_SKIP;
  if (shipped == SHIP_SENT) shipped = list_finish(&list);
  if (shipped != SHIP_SENT && sql->chunks && chunks_first(sql->chunks) == list.first) {
    chunks_free(sql->chunks);
    sql->chunks = NULL;
  }
  sql->may_chunk = may_chunk;
  edb_row_clear(&list.last);
  if (list.array) sqlite3_free(sqlite3_str_finish(list.array));
  return shipped;
}

/* For EXPLAIN: a list of unknown length. */
Shipped ship_typical_list(const Condition *c) {
  static const edb_value null = {.kind = EDB_NULL};
  char placeholder[16];
  if (c->type->compare == EDB_COMPARE_DECIMAL) {
    ship_decimal(c, OP(EQ), 0);
    sqlite3_str_appendall(c->sql->text, " OR …");
  } else if (c->type->array) {
    sql_parameter(c->sql, &null, placeholder);
    sqlite3_str_appendf(c->sql->text, "%s ", c->column);
    append_template(c->sql->text, c->type->array, placeholder);
  } else {
    sqlite3_str_appendf(c->sql->text, list_head(c), c->column);
    ship_parameter(c, &null);
    sqlite3_str_appendall(c->sql->text, ", …)");
  }
  return SHIP_SENT;
}
