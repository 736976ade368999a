/*
** The FROM clause: tables, joins, derived tables and the few functions that answer tables.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

Rel *rel_add(Batch *b, Scope *scope, const char *alias) {
  Rel *r = batch_alloc(b, sizeof *r);
  snprintf(r->alias, sizeof r->alias, "%s", alias);
  Rel **tail = &scope->rels;
  while (*tail != NULL) tail = &(*tail)->next;
  *tail = r;
  return r;
}

static void set_columns(Batch *b, Rel *r, const Column *columns, int n) {
  r->columns = batch_alloc(b, (size_t)(n ? n : 1) * sizeof *columns);
  r->n = n;
  if (n > 0) memcpy(r->columns, columns, (size_t)n * sizeof *columns);
}

/* The columns of what a synonym stands for; r becomes that. */
static int synonym_columns(Batch *b, Rel *r, Column **columns) {
  char base[1100], parts[4][130];
  SqlError error = {0};
  *columns = NULL;
  if (!catalog_synonym(b->s, r->name, base)) return -1;
  name_split(base, parts);
  if (parts[0][0] != 0) {
    fail(b, 7202, 11, "Could not find server '%s' in sys.servers.", parts[0]);
    return 0;
  }
  catalog_name(parts[2], parts[3], r->name);
  if (parts[1][0] == 0 || strcasecmp(parts[1], b->s->database) == 0)
    return catalog_columns(b->s, r->name, columns);
  snprintf(r->database, sizeof r->database, "%s", parts[1]);
  if (engine_attach(b->s, r->database, &error))
    return catalog_columns_of(b->s, r->database, r->name, columns);
  fail(b, error.number, error.severity, "%s", error.message);
  return 0;
}

void rel_table(Batch *b, Rel *r, const char *schema, const char *name) {
  catalog_name(schema, name, r->name);
  for (Rel *cte = b->ctes; cte != NULL; cte = cte->next) {
    if (strcasecmp(cte->alias, name) != 0) continue;
    snprintf(r->name, sizeof r->name, "%s", cte->alias);
    set_columns(b, r, cte->columns, cte->n);
    return;
  }
  if (!b->run) return;
  Column *columns;
  int n = catalog_columns(b->s, r->name, &columns);
  if (n < 0) n = synonym_columns(b, r, &columns);
  if (n < 0) {
    b->i--;
    if (strcasecmp(schema, "dbo") == 0) {
      fail(b, 208, 16, "Invalid object name '%s'.", name);
    } else {
      fail(b, 208, 16, "Invalid object name '%s.%s'.", schema, name);
    }
    return;
  }
  set_columns(b, r, columns, n);
  free(columns);
}

/* [AS] alias; words that go on with the clause are none. */
static const char *take_alias(Batch *b) {
  static const char *const after[] = {
      "WHERE",  "GROUP",   "HAVING",  "ORDER",     "UNION",  "EXCEPT", "INTERSECT", "ON",
      "JOIN",   "INNER",   "LEFT",    "RIGHT",     "FULL",   "CROSS",  "OUTER",     "WITH",
      "SET",    "OPTION",  "FOR",     "VALUES",    "SELECT", "INSERT", "UPDATE",    "DELETE",
      "END",    "IF",      "ELSE",    "DECLARE",   "BEGIN",  "COMMIT", "ROLLBACK",  "SAVE",
      "EXEC",   "EXECUTE", "PRINT",   "RETURN",    "WHILE",  "DROP",   "CREATE",    "ALTER",
      "OUTPUT", "DEFAULT", "WAITFOR", "RAISERROR", "THROW",  "USE",    "TRUNCATE",  "FETCH",
      "OFFSET", "USING",   "WHEN",    "MERGE",     "GO"};
  if (take_word(b, "AS")) return take_name(b);
  Tok *t = peek(b);
  if (b->failed || (t->kind != L_NAME && t->kind != L_QUOTED)) return NULL;
  for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
    if (is_word(t, after[i])) return NULL;
  }
  return take_name(b);
}

static void skip_hints(Batch *b) {
  bool with =
      is_word(peek(b), "WITH") && peek_at(b, 1)->kind == L_OP && peek_at(b, 1)->text[0] == '(';
  if (!with) return;
  b->i += 2;
  while (!b->failed && !at_op(b, ")") && peek(b)->kind != L_END) b->i++;
  need_op(b, ")");
}

/* (name, name…) behind a derived table's alias. */
static void rename_columns(Batch *b, Rel *r) {
  if (!take_op(b, "(")) return;
  int i = 0;
  do {
    const char *name = take_name(b);
    if (i < r->n) snprintf(r->columns[i].name, sizeof r->columns[i].name, "%s", name);
    i++;
  } while (take_op(b, ","));
  need_op(b, ")");
}

/* Writes `(SELECT first AS a, second AS b FROM (…))` around what was written from `at` on. */
static void wrap_renamed(Buf *out, size_t at, const Rel *r) {
  buf_insert(out, at, "(");
  buf_text(out, ") AS ");
  quote(out, r->alias);
}

/* VALUES (…), (…): the columns are column1, column2 in SQLite. */
static void parse_values(Batch *b, Buf *out, Query *q) {
  int rows = 0;
  buf_text(out, "VALUES ");
  do {
    int n = 0;
    buf_text(out, rows++ ? ",(" : "(");
    need_op(b, "(");
    do {
      Expr e;
      if (n > 0) buf_u8(out, ',');
      parse_value(b, out, &e);
      if (n >= q->n) {
        q->columns = realloc(q->columns, (size_t)(n + 1) * sizeof *q->columns);
        if (q->columns == NULL) abort();
        memset(&q->columns[n], 0, sizeof *q->columns);
        q->columns[n].nullable = true;
        q->columns[n].type = e.type;
        q->n = n + 1;
      } else {
        q->columns[n].type = type_combine(&q->columns[n].type, &e.type);
      }
      n++;
    } while (take_op(b, ","));
    need_op(b, ")");
    buf_u8(out, ')');
  } while (take_op(b, ","));
}

/* The columns of a derived table have names, each its own. */
static void check_names(Batch *b, const Rel *r) {
  for (int i = 0; i < r->n && b->run; i++) {
    if (r->columns[i].name[0] == 0)
      fail(b, 8155, 16, "No column name was specified for column %d of '%s'.", i + 1, r->alias);
    for (int k = 0; k < i; k++) {
      if (strcasecmp(r->columns[k].name, r->columns[i].name) == 0)
        fail(b, 8156, 16, "The column '%s' was specified multiple times for '%s'.",
             r->columns[i].name, r->alias);
    }
  }
}

static void parse_derived(Batch *b, Buf *out, Scope *scope) {
  Query q = {0};
  Buf inner = {0};
  bool values = take_word(b, "VALUES");
  if (values) {
    parse_values(b, &inner, &q);
  } else {
    parse_query(b, &inner, &q);
  }
  need_op(b, ")");
  const char *alias = take_alias(b);
  if (alias == NULL) {
    syntax(b);
    alias = "";
  }
  Rel *r = rel_add(b, scope, alias);
  set_columns(b, r, q.columns, q.n);
  bool renamed = at_op(b, "(");
  rename_columns(b, r);
  check_unordered(b, &q);
  check_names(b, r);
  size_t at = out->n;
  if (values || renamed) {
    /* A CTE is the one place where SQLite takes names for columns. */
    buf_text(out, "WITH tdsd_derived(");
    for (int i = 0; i < r->n; i++) {
      if (i > 0) buf_u8(out, ',');
      quote(out, r->columns[i].name[0] ? r->columns[i].name : "?");
    }
    buf_text(out, r->n > 0 ? ") AS (" : "\"?\") AS (");
    buf_text(out, buf_string(&inner));
    buf_text(out, ") SELECT * FROM tdsd_derived");
  } else {
    buf_text(out, buf_string(&inner));
  }
  wrap_renamed(out, at, r);
  buf_free(&inner);
  if (values) free(q.columns);
}

static Column make_column(const char *name, Type type) {
  Column k = {.type = type, .nullable = true};
  snprintf(k.name, sizeof k.name, "%s", name);
  return k;
}

/* GENERATE_SERIES(from, to). */
static void parse_series(Batch *b, Buf *out, Scope *scope) {
  Buf from = {0}, to = {0};
  Expr first, last;
  b->i += 2;
  parse_value(b, &from, &first);
  need_op(b, ",");
  parse_value(b, &to, &last);
  need_op(b, ")");
  const char *alias = take_alias(b);
  Rel *r = rel_add(b, scope, alias ? alias : "generate_series");
  Column k = make_column("value", first.type);
  set_columns(b, r, &k, 1);
  buf_printf(out,
             "(WITH RECURSIVE g(value) AS (SELECT %s UNION ALL SELECT value + 1 FROM g WHERE value "
             "< %s) SELECT value FROM g) AS ",
             buf_string(&from), buf_string(&to));
  quote(out, r->alias);
  buf_free(&from);
  buf_free(&to);
}

/* OPENJSON(text) [WITH (name type 'path', …)]. */
static void parse_openjson(Batch *b, Buf *out, Scope *scope) {
  Column columns[64];
  Buf text = {0}, list = {0};
  Expr e;
  int n = 0;
  b->i += 2;
  parse_value(b, &text, &e);
  need_op(b, ")");
  if (take_word(b, "WITH")) {
    need_op(b, "(");
    do {
      const char *name = take_name(b);
      Type type = {0};
      char path[300];
      take_type(b, &type);
      snprintf(path, sizeof path, "$.%s", name);
      if (peek(b)->kind == L_STRING || peek(b)->kind == L_NSTRING) {
        snprintf(path, sizeof path, "%s", peek(b)->text);
        b->i++;
      }
      Type from = type_make(K_NVARCHAR, -1, 0, 0);
      size_t at = list.n;
      buf_printf(&list, "tds_json_path(value, ");
      quote_text(&list, path, strlen(path));
      buf_u8(&list, ')');
      wrap_cast(&list, at, &from, &type, 0, false);
      buf_text(&list, " AS ");
      quote(&list, name);
      buf_text(&list, at_op(b, ",") ? "," : "");
      if (n < 64) columns[n++] = make_column(name, type);
    } while (take_op(b, ","));
    need_op(b, ")");
  } else {
    columns[n++] = make_column("key", type_make(K_NVARCHAR, 4000, 0, 0));
    columns[n++] = make_column("value", type_make(K_NVARCHAR, -1, 0, 0));
    columns[n++] = make_column("type", type_make(K_TINYINT, 0, 0, 0));
    buf_text(&list, "CAST(key AS TEXT) AS key, CAST(value AS TEXT) AS value, 1 AS type");
  }
  const char *alias = take_alias(b);
  Rel *r = rel_add(b, scope, alias ? alias : "openjson");
  set_columns(b, r, columns, n);
  buf_printf(out, "(SELECT %s FROM json_each(%s)) AS ", buf_string(&list), buf_string(&text));
  quote(out, r->alias);
  buf_free(&text);
  buf_free(&list);
}

static void parse_source(Batch *b, Buf *out, Scope *scope) {
  Tok *t = peek(b);
  bool call = peek_at(b, 1)->kind == L_OP && peek_at(b, 1)->text[0] == '(';
  if (at_op(b, "(")) {
    b->i++;
    if (at_word(b, "SELECT") || at_word(b, "VALUES") || at_word(b, "WITH") || at_op(b, "(")) {
      parse_derived(b, out, scope);
    } else {
      buf_u8(out, '(');
      parse_from(b, out, scope);
      need_op(b, ")");
      buf_u8(out, ')');
    }
    return;
  }
  if (call && is_word(t, "GENERATE_SERIES")) {
    parse_series(b, out, scope);
    return;
  }
  if (call && is_word(t, "OPENJSON")) {
    parse_openjson(b, out, scope);
    return;
  }
  char schema[130], name[130];
  take_table(b, schema, name);
  if (b->failed) return;
  Rel *r = rel_add(b, scope, name);
  rel_table(b, r, schema, name);
  if (b->failed) return;
  skip_hints(b);
  const char *alias = take_alias(b);
  if (alias != NULL) snprintf(r->alias, sizeof r->alias, "%s", alias);
  skip_hints(b);
  if (r->database[0] != 0) {
    quote(out, r->database);
    buf_u8(out, '.');
  }
  quote(out, r->name);
  buf_text(out, " AS ");
  quote(out, r->alias);
}

/* The columns of the tables from r on may be NULL: the other side of an outer join. */
static void make_nullable(Rel *r, const Rel *end) {
  for (; r != NULL && r != end; r = r->next) {
    for (int i = 0; i < r->n; i++) r->columns[i].nullable = true;
  }
}

static Rel *last(Scope *scope) {
  Rel *r = scope->rels;
  while (r != NULL && r->next != NULL) r = r->next;
  return r;
}

/* Takes a join's words and writes SQLite's; NULL where there is no join. */
static const char *take_join(Batch *b, bool *on) {
  static const char *const hints[] = {"LOOP", "HASH", "MERGE", "REMOTE"};
  *on = true;
  if (take_op(b, ",")) {
    *on = false;
    return ", ";
  }
  const char *kind = NULL;
  if (take_word(b, "CROSS")) {
    *on = false;
    if (take_word(b, "APPLY")) return " CROSS JOIN ";
    kind = " CROSS JOIN ";
  } else if (at_word(b, "OUTER") && is_word(peek_at(b, 1), "APPLY")) {
    syntax(b);
    return NULL;
  } else if (take_word(b, "INNER")) {
    kind = " JOIN ";
  } else if (take_word(b, "LEFT")) {
    kind = " LEFT JOIN ";
  } else if (take_word(b, "RIGHT")) {
    kind = " RIGHT JOIN ";
  } else if (take_word(b, "FULL")) {
    kind = " FULL JOIN ";
  } else if (!at_word(b, "JOIN")) {
    return NULL;
  }
  take_word(b, "OUTER");
  for (size_t i = 0; i < 4; i++) take_word(b, hints[i]);
  need_word(b, "JOIN");
  return kind ? kind : " JOIN ";
}

void parse_from(Batch *b, Buf *out, Scope *scope) {
  Rel *before = last(scope);
  parse_source(b, out, scope);
  bool on;
  const char *join;
  while (!b->failed && (join = take_join(b, &on)) != NULL) {
    Rel *left_end = last(scope);
    buf_text(out, join);
    parse_source(b, out, scope);
    if (left_end == NULL) continue;
    if (strstr(join, "LEFT") || strstr(join, "FULL")) make_nullable(left_end->next, NULL);
    if (strstr(join, "RIGHT") || strstr(join, "FULL"))
      make_nullable(before ? before->next : scope->rels, left_end->next);
    if (!on) continue;
    /* A join within a join: A JOIN B JOIN C ON … ON … is not read; ON follows its table. */
    need_word(b, "ON");
    buf_text(out, " ON ");
    Scope *outer = b->scope;
    if (b->scope != scope) {
      scope->outer = outer;
      b->scope = scope;
    }
    parse_condition(b, out);
    b->scope = outer;
  }
}
