/*
** Queries.  FROM is read before the select list, so that the list's columns have types.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static Column *add_column(Batch *b, Query *q) {
  if (q->n % 16 == 0) { /* the batch frees it */
    Column *more = batch_alloc(b, (size_t)(q->n + 16) * sizeof *more);
    if (q->n > 0) memcpy(more, q->columns, (size_t)q->n * sizeof *more);
    q->columns = more;
    if (q->assign != NULL) {
      char(*names)[130] = batch_alloc(b, (size_t)(q->n + 16) * 130);
      memcpy(names, q->assign, (size_t)q->n * 130);
      q->assign = names;
    }
  }
  return &q->columns[q->n++];
}

/* `*` or `t.*`. */
static void expand(Batch *b, Buf *out, Query *q, const char *table) {
  int found = 0;
  for (Rel *r = b->scope ? b->scope->rels : NULL; r != NULL; r = r->next) {
    if (table != NULL && strcasecmp(table, r->alias) != 0) continue;
    for (int i = 0; i < r->n; i++) {
      if (r->columns[i].hidden) continue;
      if (found++ > 0) buf_u8(out, ',');
      *add_column(b, q) = r->columns[i];
      if (!r->bare) {
        quote(out, r->alias);
        buf_u8(out, '.');
      }
      quote(out, r->columns[i].name);
      buf_text(out, " AS ");
      quote(out, r->columns[i].name);
    }
  }
  if (found == 0 && b->run)
    fail(b, 107, 15,
         "The column prefix '%s' does not match with a table name or alias name used in the query.",
         table ? table : "*");
  if (found == 0) buf_text(out, "NULL");
}

static bool is_star(Batch *b, const char **table) {
  *table = NULL;
  if (take_op(b, "*")) return true;
  for (int ahead = 0; ahead < 6; ahead += 2) {
    Tok *name = peek_at(b, ahead), *dot = peek_at(b, ahead + 1), *star = peek_at(b, ahead + 2);
    if ((name->kind != L_NAME && name->kind != L_QUOTED) || dot->kind != L_OP ||
        dot->text[0] != '.')
      return false;
    if (star->kind == L_OP && star->text[0] == '*') {
      *table = name->text;
      b->i += ahead + 3;
      return true;
    }
  }
  return false;
}

/* [AS] alias behind an item; a word that begins what follows the list is none. */
static const char *item_alias(Batch *b) {
  static const char *const after[] = {
      "FROM",   "INTO",      "WHERE",    "GROUP",  "HAVING",  "ORDER",   "UNION",
      "EXCEPT", "INTERSECT", "OPTION",   "FOR",    "VALUES",  "SELECT",  "INSERT",
      "UPDATE", "DELETE",    "END",      "IF",     "ELSE",    "DECLARE", "BEGIN",
      "COMMIT", "ROLLBACK",  "SAVE",     "EXEC",   "EXECUTE", "PRINT",   "RETURN",
      "SET",    "WHILE",     "DROP",     "CREATE", "ALTER",   "WAITFOR", "RAISERROR",
      "THROW",  "USE",       "TRUNCATE", "WITH",   "MERGE",   "DEFAULT"};
  Tok *t = peek(b);
  if (take_word(b, "AS")) {
    t = peek(b);
    if (t->kind == L_STRING || t->kind == L_NSTRING) {
      b->i++;
      return t->text;
    }
    return take_name(b);
  }
  if (t->kind == L_STRING || t->kind == L_QUOTED) {
    b->i++;
    return t->text;
  }
  if (b->failed || t->kind != L_NAME) return NULL;
  for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
    if (is_word(t, after[i])) return NULL;
  }
  b->i++;
  return t->text;
}

void parse_item(Batch *b, Buf *out, Query *q) {
  const char *table;
  if (is_star(b, &table)) {
    expand(b, out, q, table);
    return;
  }
  Tok *t = peek(b), *next = peek_at(b, 1);
  bool equals =
      next->kind == L_OP && (strcmp(next->text, "=") == 0 || strcmp(next->text, "+=") == 0);
  const char *alias = NULL, *variable = NULL;
  if (equals && (t->kind == L_VAR || t->kind == L_NAME || t->kind == L_QUOTED)) {
    if (t->kind == L_VAR)
      variable = t->text;
    else
      alias = t->text;
    b->i += strcmp(next->text, "=") == 0 ? 2 : 0;
    if (strcmp(next->text, "=") != 0) syntax(b);
  }
  Expr e;
  parse_value(b, out, &e);
  if (alias == NULL && variable == NULL) alias = item_alias(b);
  if (b->failed) return;
  Column *k = add_column(b, q);
  *k = (Column){.type = e.type, .nullable = e.nullable};
  if (e.column && e.origin != NULL) {
    k->identity = e.origin->identity;
    k->computed = e.origin->computed;
  }
  snprintf(k->name, sizeof k->name, "%s", alias ? alias : e.column ? e.name : "");
  if (k->name[0] != 0) {
    buf_text(out, " AS ");
    quote(out, k->name);
  }
  if (variable != NULL) {
    if (q->assign == NULL) q->assign = batch_alloc(b, (size_t)(q->n + 15) / 16 * 16 * 130);
    snprintf(q->assign[q->n - 1], 130, "%s", variable);
  }
}

void parse_top(Batch *b, Buf *limit) {
  if (!take_word(b, "TOP")) return;
  Expr e;
  if (take_op(b, "(")) {
    parse_value(b, limit, &e);
    need_op(b, ")");
  } else if (peek(b)->kind == L_NUMBER) {
    buf_text(limit, peek(b)->text);
    b->i++;
  } else {
    syntax(b);
  }
  if (take_word(b, "PERCENT") || at_word(b, "WITH")) syntax(b);
}

/* Where FROM stands, of the SELECT whose list begins here; -1: it has none. */
static int find_from(Batch *b) {
  static const char *const ends[] = {
      "WHERE",  "UNION",   "EXCEPT",   "INTERSECT", "ORDER", "SELECT",  "INSERT", "UPDATE",
      "DELETE", "DECLARE", "SET",      "IF",        "ELSE",  "WHILE",   "EXEC",   "EXECUTE",
      "PRINT",  "COMMIT",  "ROLLBACK", "CREATE",    "DROP",  "ALTER",   "RETURN", "WAITFOR",
      "GROUP",  "HAVING",  "OPTION",   "RAISERROR", "THROW", "TRUNCATE"};
  int depth = 0, cases = 0;
  for (int i = b->i; i < b->n; i++) {
    const Tok *t = &b->t[i];
    if (t->kind == L_OP && t->text[0] == '(') depth++;
    if (t->kind == L_OP && t->text[0] == ')' && --depth < 0) return -1;
    if (t->kind == L_OP && t->text[0] == ';') return -1;
    if (t->kind != L_NAME || depth > 0) continue;
    if (is_word(t, "CASE")) cases++;
    if (is_word(t, "END") && --cases < 0) return -1;
    if (cases > 0) continue;
    if (is_word(t, "FROM")) return i;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
      if (is_word(t, ends[k])) return -1;
    }
  }
  return -1;
}

static void parse_list(Batch *b, Buf *out, void (*one)(Batch *, Buf *, Query *), Query *q) {
  do {
    one(b, out, q);
  } while (take_op(b, ",") && (buf_u8(out, ','), true));
}

static void group_item(Batch *b, Buf *out, Query *q) {
  Expr e;
  (void)q;
  parse_value(b, out, &e);
  if (!e.column && type_class(&e.type) != C_INT && !b->failed)
    buf_printf(out, " COLLATE %s", collation_of(&e.type));
}

/* One SELECT without ORDER BY.  *limit is what TOP says.  The scope stays for the caller's ORDER BY. */
static void parse_select(Batch *b, Buf *out, Query *q, Buf *limit) {
  need_word(b, "SELECT");
  buf_text(out, "SELECT ");
  if (take_word(b, "DISTINCT")) buf_text(out, "DISTINCT ");
  take_word(b, "ALL");
  parse_top(b, limit);
  int list = b->i, from = find_from(b), behind = -1;
  Buf from_text = {0}, items = {0};
  if (from >= 0) {
    b->i = from + 1;
    Scope *inner = b->scope;
    b->scope = inner->outer; /* a derived table does not see its siblings */
    inner->rels = NULL;
    parse_from(b, &from_text, inner);
    b->scope = inner;
    behind = b->i;
    b->i = list;
  }
  if (!b->failed) parse_list(b, &items, parse_item, q);
  if (take_word(b, "INTO")) {
    take_table(b, q->into_schema, q->into_name);
    catalog_name(q->into_schema, q->into_name, q->into);
  }
  if (!b->failed && from >= 0 && b->i != from) syntax(b);
  buf_text(out, buf_string(&items));
  if (from >= 0 && !b->failed) {
    b->i = behind;
    buf_printf(out, " FROM %s", buf_string(&from_text));
  }
  buf_free(&from_text);
  buf_free(&items);
  if (take_word(b, "WHERE")) {
    buf_text(out, " WHERE ");
    parse_condition(b, out);
  }
  if (take_word(b, "GROUP")) {
    need_word(b, "BY");
    buf_text(out, " GROUP BY ");
    parse_list(b, out, group_item, q);
  }
  if (take_word(b, "HAVING")) {
    buf_text(out, " HAVING ");
    parse_condition(b, out);
  }
}

/* A SELECT, or a query in parentheses, as one arm of a UNION. */
static void parse_arm(Batch *b, Buf *out, Query *q, Buf *limit) {
  if (take_op(b, "(")) {
    buf_text(out, "SELECT * FROM (");
    parse_query(b, out, q);
    need_op(b, ")");
    buf_u8(out, ')');
    return;
  }
  parse_select(b, out, q, limit);
}

static void order_item(Batch *b, Buf *out, const Query *q) {
  Tok *t = peek(b), *next = peek_at(b, 1);
  bool alone = !(next->kind == L_OP && strchr(".(+-*/%|", next->text[0]) != NULL);
  const Column *found = NULL;
  if ((t->kind == L_NAME || t->kind == L_QUOTED) && alone) {
    for (int i = 0; i < q->n; i++) {
      if (strcasecmp(q->columns[i].name, t->text) == 0) found = &q->columns[i];
    }
  }
  if (found != NULL) {
    b->i++;
    quote(out, found->name);
    if (type_class(&found->type) != C_INT && !is_word(peek(b), "COLLATE"))
      buf_printf(out, " COLLATE %s", collation_of(&found->type));
    if (take_word(b, "COLLATE")) {
      Type type = found->type;
      type.collation = collation_find(take_name(b));
      buf_printf(out, " COLLATE %s", collation_of(&type));
    }
  } else if (t->kind == L_NUMBER && alone) {
    long at = strtol(t->text, NULL, 10);
    b->i++;
    if (at < 1 || (at > q->n && b->run))
      fail(b, 108, 16,
           "The ORDER BY position number %ld is out of range of the number of items in the select "
           "list.",
           at);
    buf_printf(out, "%ld", at);
    if (!b->failed && at <= q->n && type_class(&q->columns[at - 1].type) != C_INT)
      buf_printf(out, " COLLATE %s", collation_of(&q->columns[at - 1].type));
  } else {
    Expr e;
    parse_value(b, out, &e);
    if (!b->failed && !e.column && type_class(&e.type) != C_INT)
      buf_printf(out, " COLLATE %s", collation_of(&e.type));
  }
  if (!take_word(b, "ASC") && take_word(b, "DESC")) buf_text(out, " DESC");
}

void check_unordered(Batch *b, const Query *q) {
  if (!q->ordered) return;
  fail(b, 1033, 15,
       "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, "
       "and common table expressions, unless TOP, OFFSET or FOR XML is also specified.");
}

static void parse_fetch(Batch *b, Buf *limit) {
  Expr e;
  size_t at = limit->n;
  if (!take_word(b, "NEXT")) need_word(b, "FIRST");
  bool none = peek(b)->kind == L_NUMBER && strtod(peek(b)->text, NULL) < 1;
  parse_value(b, limit, &e);
  if (none || limit->p[at] == '-')
    fail(b, 10744, 15, "The number of rows provided for a FETCH clause must be greater then zero.");
  if (!take_word(b, "ROWS")) need_word(b, "ROW");
  need_word(b, "ONLY");
}

static void parse_order(Batch *b, Buf *out, const Query *q, Buf *limit) {
  if (!take_word(b, "ORDER")) return;
  need_word(b, "BY");
  buf_text(out, " ORDER BY ");
  do {
    order_item(b, out, q);
  } while (take_op(b, ",") && (buf_u8(out, ','), true));
  if (!take_word(b, "OFFSET")) return;
  Buf offset = {0};
  Expr e;
  if (limit->n > 0)
    fail(b, 10741, 15, "A TOP can not be used in the same query or sub-query as a OFFSET.");
  parse_value(b, &offset, &e);
  if (!take_word(b, "ROWS")) need_word(b, "ROW");
  if (take_word(b, "FETCH")) {
    parse_fetch(b, limit);
  } else {
    buf_text(limit, "-1");
  }
  buf_printf(limit, " OFFSET %s", buf_string(&offset));
  buf_free(&offset);
}

static void skip_option(Batch *b) {
  if (!at_word(b, "OPTION") || peek_at(b, 1)->kind != L_OP) return;
  b->i += 2;
  int depth = 1;
  while (!b->failed && depth > 0 && peek(b)->kind != L_END) {
    if (at_op(b, "(")) depth++;
    if (at_op(b, ")")) depth--;
    b->i++;
  }
  if (depth > 0) syntax(b);
}

/* WITH a AS (…), b(x) AS (…). */
void parse_with(Batch *b, Buf *out) {
  if (!take_word(b, "WITH")) return;
  buf_text(out, "WITH RECURSIVE ");
  do {
    Rel *r = batch_alloc(b, sizeof *r);
    snprintf(r->alias, sizeof r->alias, "%s", take_name(b));
    quote(out, r->alias);
    char(*names)[130] = r->names = batch_alloc(b, 64 * 130);
    int n = 0;
    if (take_op(b, "(")) {
      do {
        snprintf(names[n < 63 ? n++ : 63], 130, "%s", take_name(b));
      } while (take_op(b, ","));
      need_op(b, ")");
    }
    for (int i = 0; i < n; i++) {
      buf_u8(out, i ? ',' : '(');
      quote(out, names[i]);
    }
    r->names_n = n;
    need_word(b, "AS");
    need_op(b, "(");
    buf_text(out, n > 0 ? ") AS (" : " AS (");
    r->next = b->ctes;
    r->unknown = true; /* until its first arm is read */
    b->ctes = r;
    Query q = {0};
    r->name[0] = 0;
    parse_query(b, out, &q);
    r->columns = q.columns;
    r->n = q.n;
    r->unknown = false;
    for (int i = 0; i < n && i < q.n; i++) snprintf(q.columns[i].name, 130, "%s", names[i]);
    need_op(b, ")");
    buf_u8(out, ')');
  } while (take_op(b, ",") && (buf_u8(out, ','), true));
  buf_u8(out, ' ');
}

/* A recursive CTE refers to itself: its columns are those of the first arm. */
static void know_cte(Batch *b, const Query *q) {
  for (Rel *r = b->ctes; r != NULL; r = r->next) {
    if (!r->unknown || r->n > 0) continue;
    r->columns = batch_alloc(b, (size_t)(q->n ? q->n : 1) * sizeof *r->columns);
    if (q->n > 0) memcpy(r->columns, q->columns, (size_t)q->n * sizeof *r->columns);
    r->n = q->n;
    for (int i = 0; i < r->names_n && i < r->n; i++)
      snprintf(r->columns[i].name, 130, "%s", r->names[i]);
    return;
  }
}

void parse_query(Batch *b, Buf *out, Query *q) {
  static const char *const operators[] = {"UNION", "EXCEPT", "INTERSECT"};
  Scope scope = {.outer = b->scope};
  Rel *ctes = b->ctes;
  Buf limit = {0};
  b->scope = &scope;
  parse_with(b, out);
  size_t at = out->n;
  parse_arm(b, out, q, &limit);
  for (size_t i = 0; i < 3 && !b->failed; i++) {
    if (!take_word(b, operators[i])) continue;
    bool all = take_word(b, "ALL");
    if (limit.n > 0) { /* TOP belongs to its arm alone */
      buf_insert(out, at, "SELECT * FROM (");
      buf_printf(out, " LIMIT %s)", buf_string(&limit));
      limit.n = 0;
    }
    if (i == 0) know_cte(b, q);
    buf_printf(out, " %s%s ", operators[i], all ? " ALL" : "");
    Query arm = {0};
    size_t arm_at = out->n;
    scope.rels = NULL;
    parse_arm(b, out, &arm, &limit);
    if (limit.n > 0) {
      buf_insert(out, arm_at, "SELECT * FROM (");
      buf_printf(out, " LIMIT %s)", buf_string(&limit));
      limit.n = 0;
    }
    if (b->run && !b->failed && arm.n != q->n)
      fail(b, 205, 16,
           "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal "
           "number of expressions in their target lists.");
    for (int k = 0; k < q->n && k < arm.n; k++) {
      q->columns[k].type = type_combine(&q->columns[k].type, &arm.columns[k].type);
      q->columns[k].nullable |= arm.columns[k].nullable;
    }
    i = (size_t)-1;
  }
  q->ordered = at_word(b, "ORDER");
  parse_order(b, out, q, &limit);
  if (limit.n > 0) {
    buf_printf(out, " LIMIT %s", buf_string(&limit));
    q->ordered = false;
  }
  skip_option(b);
  buf_free(&limit);
  b->scope = scope.outer;
  b->ctes = ctes;
}
