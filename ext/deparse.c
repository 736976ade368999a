/*
** ext/deparse.c: the remote SQL of a plan. Its ORDER BY is order.c's.
*/
#include "extInt.h"

#include <string.h>

void sql_begin(Sql *sql, const edb_dialect *dialect) {
  memset(sql, 0, sizeof *sql);
  sql->dialect = dialect;
}

void sql_disown(Sql *sql, int first, int end) {
  for (int i = first; i < end; i++) sqlite3_free(sql->owned[i]);
  for (int i = end; i < sql->owned_count; i++) sql->owned[first + i - end] = sql->owned[i];
  sql->owned_count -= end - first;
}

void sql_clear(Sql *sql) {
  sql_disown(sql, 0, sql->owned_count);
  chunks_free(sql->chunks);
  sqlite3_free(sql->owned);
  sqlite3_free(sql->parameters);
  if (sql->text) sqlite3_free(sqlite3_str_finish(sql->text));
  memset(sql, 0, sizeof *sql);
}

/* Room for one more element; NULL, and a sticky failure, when out of memory. */
static void *room(Sql *sql, void *array, int count, int *size, size_t element) {
  if (count < *size) return array;
  int larger = *size ? *size * 2 : 8;
  void *grown = sqlite3_realloc64(array, (sqlite3_uint64)larger * element);
  if (grown == NULL) {
    sql->rc = SQLITE_NOMEM;
  } else {
    *size = larger;
  }
  return grown;
}

void sql_own(Sql *sql, void *memory) {
  void **grown = room(sql, sql->owned, sql->owned_count, &sql->owned_size, sizeof(void *));
  if (memory == NULL) sql->rc = SQLITE_NOMEM;
  if (grown) sql->owned = grown;
  if (grown == NULL || memory == NULL) {
    sqlite3_free(memory);
    return;
  }
  sql->owned[sql->owned_count++] = memory;
}

int sql_keep(Sql *sql) {
  char *text = sqlite3_mprintf("%s", sql->written);
  sql_own(sql, text);
  sql->written = text;
  for (int i = 0; i < sql->count && sql->rc == SQLITE_OK; i++) {
    edb_value *value = &sql->parameters[i].value;
    if (value->kind != EDB_TEXT && value->kind != EDB_BYTES) continue;
    if (sql->chunks && chunks_has(sql->chunks, i)) continue;
    char *copy = sqlite3_malloc64(value->as.text.n + 1);
    if (copy) memcpy(copy, value->as.text.p, value->as.text.n);
    value->as.text.p = copy;
    sql_own(sql, copy);
  }
  return sql->rc;
}

int sql_add(Sql *sql, const edb_value *value) {
  edb_parameter *grown = room(sql, sql->parameters, sql->count, &sql->size, sizeof(edb_parameter));
  if (grown == NULL) return 0;
  sql->parameters = grown;
  sql->parameters[sql->count].name = NULL;
  sql->parameters[sql->count].value = *value;
  sql->count++;
  return 1;
}

void sql_parameter(Sql *sql, const edb_value *value, char placeholder[16]) {
  placeholder[0] = 0;
  if (sql_add(sql, value)) edb_placeholder(sql->dialect, sql->count, placeholder);
}

void append_name(sqlite3_str *out, const edb_dialect *dialect, const char *name) {
  const char closing[2] = {dialect->quote[1], 0};
  sqlite3_str_appendchar(out, 1, dialect->quote[0]);
  for (const char *p = name; *p;) {
    size_t n = strcspn(p, closing);
    sqlite3_str_append(out, p, (int)n);
    p += n;
    if (*p) {
      sqlite3_str_appendchar(out, 2, closing[0]);
      p++;
    }
  }
  sqlite3_str_appendchar(out, 1, closing[0]);
}

void append_template(sqlite3_str *out, const char *format, const char *argument) {
  const char *mark;
  while ((mark = strstr(format, "%s")) != NULL) {
    sqlite3_str_append(out, format, (int)(mark - format));
    sqlite3_str_appendall(out, argument);
    format = mark + 2;
  }
  sqlite3_str_appendall(out, format);
}

char *deparse_column(const Definition *d, int column) {
  if (column < 0) return sqlite3_mprintf("%s", d->identity_sql);
  sqlite3_str *out = sqlite3_str_new(NULL);
  const Column *c = &d->columns[column];
  append_name(out, d->dialect, d->aliased ? c->name : c->remote);
  return sqlite3_str_finish(out);
}

static const char *alias_word(const edb_dialect *dialect) {
  return dialect->bare_alias ? "" : "AS ";
}

char *deparse_relation(const Definition *d) {
  sqlite3_str *out = sqlite3_str_new(NULL);
  if (d->query) {
    size_t n = strlen(d->query);
    while (n > 0 && strchr("; \t\r\n", d->query[n - 1])) n--;
    /* The line's end closes a comment that the query may end with. */
    sqlite3_str_appendf(out, "(%.*s%s) %sedb", (int)n, d->query,
                        strstr(d->query, "--") || strchr(d->query, '#') ? "\n" : "",
                        alias_word(d->dialect));
    for (int i = 0; d->aliased && i < d->count; i++) {
      sqlite3_str_appendall(out, i ? ", " : "(");
      append_name(out, d->dialect, d->columns[i].name);
    }
    if (d->aliased) sqlite3_str_appendchar(out, 1, ')');
  } else {
    if (d->schema) {
      append_name(out, d->dialect, d->schema);
      sqlite3_str_appendchar(out, 1, '.');
    }
    append_name(out, d->dialect, d->table);
  }
  return sqlite3_str_finish(out);
}

/* The columns that travel, each as its type is read. */
static void deparse_list(Sql *sql, const Definition *d, const Plan *plan) {
  const char *comma = "";
  for (int i = 0; i < plan->fetches; i++) {
    char *name = deparse_column(d, plan->fetch[i]);
    const edb_type *type = d->columns[plan->fetch[i]].type;
    sqlite3_str_appendall(sql->text, comma);
    append_template(sql->text, type->read ? type->read : "%s", name ? name : "");
    if (name == NULL) sql->rc = SQLITE_NOMEM;
    sqlite3_free(name);
    comma = ", ";
  }
  if (plan->identity >= 0) {
    sqlite3_str_appendf(sql->text, "%s%s", comma, d->identity_sql);
  } else if (plan->fetches == 0) {
    sqlite3_str_appendall(sql->text, "NULL");
  }
}

/* Each condition that can be sent, with AND between. */
static Shipped deparse_where(Sql *sql, const Definition *d, const Plan *plan,
                             sqlite3_value **values, const char **word) {
  *word = " WHERE ";
  for (int i = 0; i < plan->count; i++) {
    const Term *term = &plan->terms[i];
    sqlite3_value *value = values && term->argument >= 0 ? values[term->argument] : NULL;
    sqlite3_str *whole = sql->text;
    sql->text = sqlite3_str_new(NULL);
    sql->later = plan->count - i - 1;
    Shipped shipped = ship_term(sql, d, term, value);
    if (sqlite3_str_errcode(sql->text)) sql->rc = SQLITE_NOMEM;
    char *condition = sqlite3_str_finish(sql->text);
    sql->text = whole;
    if (shipped == SHIP_SENT && condition) {
      sqlite3_str_appendf(sql->text, "%s%s", *word, condition);
      *word = " AND ";
    }
    sqlite3_free(condition);
    if (shipped == SHIP_NEVER || shipped == SHIP_FAIL) return shipped;
  }
  return SHIP_SENT;
}

/* LIMIT and OFFSET as one limit: SQLite skips the rows itself. Negative means none, and for no rows nobody is asked:
** SQL Server would refuse it. Rows that SQLite may still drop are not counted there. */
static Shipped choose_limit(Sql *sql, const Plan *plan, sqlite3_value **values) {
  sqlite3_int64 limit = 1;
  sqlite3_int64 offset = 0;
  sql->bound = 0;
  if (plan->limit < 0 && plan->shortcut != SHORTCUT_FIRST) return SHIP_SENT;
  if (plan->limit >= 0 && values) {
    limit = sqlite3_value_int64(values[plan->limit]);
    if (plan->offset >= 0) offset = sqlite3_value_int64(values[plan->offset]);
    if (offset < 0) offset = 0;
    if (limit == 0) return SHIP_NEVER;
  }
  if (limit < 0 || limit > INT64_MAX - offset || sql->supersets > 0 || sql->unbound) {
    return SHIP_SENT;
  }
  if (plan->shortcut == SHORTCUT_FIRST && limit + offset > FIRST_ROWS) return SHIP_SENT;
  sql->bound = limit + offset;
  return SHIP_SENT;
}

static void deparse_limit(Sql *sql, const Plan *plan, sqlite3_value **values) {
  const edb_dialect *dialect = sql->dialect;
  char number[24] = "?";
  if (sql->bound == 0) return;
  if (values || plan->limit < 0) sqlite3_snprintf(sizeof number, number, "%lld", sql->bound);
  append_template(
      sql->text,
      plan->orders > 0 && dialect->limit_ordered ? dialect->limit_ordered : dialect->limit, number);
}

/* What stands behind FROM and the relation. */
static Shipped deparse_rest(Sql *sql, const Definition *d, const Plan *plan,
                            sqlite3_value **values) {
  const char *word;
  Shipped shipped = deparse_where(sql, d, plan, values, &word);
  if (shipped == SHIP_SENT) shipped = choose_limit(sql, plan, values);
  if (shipped != SHIP_SENT) return shipped;
  if (order_condition(sql, d, plan, word) == SHIP_FAIL) return SHIP_FAIL;
  order_deparse(sql, d, plan);
  deparse_limit(sql, plan, values);
  return SHIP_SENT;
}

Shipped deparse_select(Sql *sql, const Definition *d, const Plan *plan, sqlite3_value **values) {
  char *relation = deparse_relation(d);
  int counted = plan->shortcut == SHORTCUT_COUNT;
  int nested = counted && plan->limit >= 0;
  sql->text = sqlite3_str_new(NULL);
  if (relation == NULL) sql->rc = SQLITE_NOMEM;
  sqlite3_str_appendall(sql->text, nested    ? "SELECT count(*) FROM (SELECT 1 AS n"
                                   : counted ? "SELECT count(*)"
                                             : "SELECT ");
  if (plan->shortcut == SHORTCUT_DISTINCT) sqlite3_str_appendall(sql->text, "DISTINCT ");
  if (!counted) deparse_list(sql, d, plan);
  sqlite3_str_appendf(sql->text, " FROM %s", relation);
  Shipped shipped = deparse_rest(sql, d, plan, values);
  if (nested) sqlite3_str_appendf(sql->text, ") %sedb", alias_word(sql->dialect));
  sqlite3_free(relation);
  if (sqlite3_str_errcode(sql->text)) sql->rc = SQLITE_NOMEM;
  return sql->rc == SQLITE_OK ? shipped : SHIP_FAIL;
}

/* ---- What was written before ---------------------------------------------------------------------- */

/* The forms of the values, with their parameters; 0 where the SQL depends on more than them. */
static int take_forms(Sql *sql, const Definition *d, const Plan *plan, sqlite3_value **values,
                      int *forms) {
  if (plan->limit >= 0 || plan->shortcut == SHORTCUT_FIRST) return 0;
  for (int i = 0; i < plan->count; i++) {
    const Term *term = &plan->terms[i];
    edb_value parameter;
    int exact = 0;
    if (values == NULL || term->argument < 0) return 0;
    forms[i] = ship_form(d, term, values[term->argument], &parameter, &exact);
    if (!exact) sql->supersets++;
    if (forms[i] == SHIP_OWN) return 0;
    if (forms[i] != 0 && !sql_add(sql, &parameter)) return 0;
  }
  return 1;
}

static int same_forms(const Plan *plan, const int *forms) {
  for (int i = 0; i < plan->count; i++) {
    if (plan->terms[i].form != forms[i]) return 0;
  }
  return plan->written != NULL;
}

Shipped deparse_plan(Sql *sql, const Definition *d, Plan *plan, sqlite3_value **values) {
  enum { MOST = 8 };
  int forms[MOST];
  int known = plan->count <= MOST && take_forms(sql, d, plan, values, forms);
  sql->written = plan->written;
  if (sql->rc != SQLITE_OK) return SHIP_FAIL;
  if (known && same_forms(plan, forms)) return SHIP_SENT;
  sql->count = 0;
  sql->supersets = 0;
  Shipped shipped = deparse_select(sql, d, plan, values);
  sql->written = sqlite3_str_value(sql->text);
  if (!known || shipped != SHIP_SENT) return shipped;
  sqlite3_free(plan->written);
  plan->written = sqlite3_mprintf("%s", sql->written);
  for (int i = 0; i < plan->count; i++) plan->terms[i].form = forms[i];
  return SHIP_SENT;
}
