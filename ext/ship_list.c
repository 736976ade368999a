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

/* The list as one parameter. */
static Shipped send_array(const Condition *c, sqlite3_str *elements) {
  char *text = sqlite3_str_finish(elements);
  edb_value value = {.kind = EDB_TEXT};
  char placeholder[16];
  value.as.text.p = text;
  value.as.text.n = text ? strlen(text) : 0;
  sql_own(c->sql, text);
  sql_parameter(c->sql, &value, placeholder);
  sqlite3_str_appendf(c->sql->text, "%s ", c->column);
  append_template(c->sql->text, c->type->array, placeholder);
  return SHIP_SENT;
}

/* Text in a list lives only until SQLite is asked for the next value. */
static void keep_text(Sql *sql, edb_value *value) {
  if (value->kind != EDB_TEXT) return;
  char *copy = sqlite3_malloc64(value->as.text.n + 1);
  if (copy) memcpy(copy, value->as.text.p, value->as.text.n);
  value->as.text.p = copy;
  sql_own(sql, copy);
}

Shipped ship_list(const Condition *c, sqlite3_value *list) {
  int as_array = c->type->array != NULL;
  sqlite3_str *elements = sqlite3_str_new(NULL);
  sqlite3_value *v;
  int sent = 0;
  Shipped shipped = SHIP_SENT;
  int room = c->sql->dialect->max_parameters - c->sql->count;
  if (as_array) {
    sqlite3_str_appendchar(elements, 1, '{');
  } else {
    sqlite3_str_appendf(c->sql->text, "%s IN (", c->column);
  }
  int rc = sqlite3_vtab_in_first(list, &v);
  for (; rc == SQLITE_OK && v; rc = sqlite3_vtab_in_next(list, &v)) {
    Bound b = {.sql = c->sql};
    Shipped one = ship_bound(c->definition, c->type, OP(EQ), v, &b);
    if (one == SHIP_NEVER) continue;
    if (one == SHIP_SENT && !as_array && sent >= room) one = SHIP_SKIP;
    if (one != SHIP_SENT) {
      shipped = one;
      break;
    }
    if (as_array) {
      if (sent) sqlite3_str_appendchar(elements, 1, ',');
      append_element(elements, &b.value);
    } else {
      keep_text(c->sql, &b.value);
      if (sent) sqlite3_str_appendall(c->sql->text, ", ");
      ship_parameter(c, &b.value);
    }
    sent++;
  }
  if (rc != SQLITE_OK && rc != SQLITE_DONE) shipped = SHIP_FAIL;
  if (shipped == SHIP_SENT && sent == 0) shipped = SHIP_NEVER;
  if (shipped == SHIP_SENT && as_array) {
    sqlite3_str_appendchar(elements, 1, '}');
    return send_array(c, elements);
  }
  sqlite3_free(sqlite3_str_finish(elements));
  if (shipped == SHIP_SENT) sqlite3_str_appendall(c->sql->text, ")");
  return shipped;
}

/* For EXPLAIN: a list of unknown length. */
Shipped ship_typical_list(const Condition *c) {
  static const edb_value null = {.kind = EDB_NULL};
  char placeholder[16];
  if (c->type->array) {
    sql_parameter(c->sql, &null, placeholder);
    sqlite3_str_appendf(c->sql->text, "%s ", c->column);
    append_template(c->sql->text, c->type->array, placeholder);
  } else {
    sqlite3_str_appendf(c->sql->text, "%s IN (", c->column);
    ship_parameter(c, &null);
    sqlite3_str_appendall(c->sql->text, ", …)");
  }
  return SHIP_SENT;
}
