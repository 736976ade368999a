/*
** INSERT, UPDATE, DELETE and TRUNCATE.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* OUTPUT items; *given says whether there were any.  Old values of an UPDATE cannot be had. */
static void parse_output(Batch *b, const Rel *target, Buf *returning, Query *q, bool *given,
                         bool old, bool new) {
  *given = take_word(b, "OUTPUT");
  if (!*given) return;
  Scope scope = {0};
  for (int i = 0; i < 2; i++) {
    if (i == 0 ? !new : !old) continue;
    Rel *r = rel_add(b, &scope, i == 0 ? "inserted" : "deleted");
    r->columns = target->columns;
    r->n = target->n;
    r->bare = true;
  }
  scope.outer = NULL;
  Scope *outer = b->scope;
  b->scope = &scope;
  do {
    parse_item(b, returning, q);
  } while (take_op(b, ",") && (buf_u8(returning, ','), true));
  b->scope = outer;
  if (at_word(b, "INTO")) syntax(b);
}

/* Runs what changes rows of a table; with OUTPUT its rows are sent. */
static void run_change(Batch *b, Buf *sql, Query *q, bool output, const Rel *table,
                       unsigned command) {
  const char *event = command == 0xC3 ? "INSERT" : command == 0xC5 ? "UPDATE" : "DELETE";
  SqlError error = {0};
  int64_t rows = 0;
  if (output && trigger_exists(b->s, table->name, event)) {
    fail(b, 334, 16,
         "The target table '%s' of the DML statement cannot have any enabled triggers if the "
         "statement contains an OUTPUT clause without INTO clause.",
         table->name);
    return;
  }
  if (!engine_enter(b->s, true, &error)) {
    fail(b, error.number, error.severity, "%s", error.message);
    return;
  }
  if (output) {
    run_rows(b, buf_string(sql), q, &rows);
  } else {
    sqlite3_stmt *s = prepare(b, buf_string(sql));
    if (s == NULL) return;
    int code = sqlite3_step(s);
    rows = sqlite3_changes64(b->s->db);
    if (code != SQLITE_DONE) {
      engine_error(b->s, code, &error);
      fail(b, error.number, error.severity, "%s", error.message);
    }
    kept_finish(b->s, s);
  }
  if (b->failed || b->flow != FLOW_NEXT) return;
  trigger_fire(b->s, table->name, event, b->nesting);
  b->s->rowcount = rows;
  b->s->error = 0;
  done(b, DONE_COUNT, command, (uint64_t)rows);
}

static const Column *find_column(const Rel *r, const char *name) {
  for (int i = 0; i < r->n; i++) {
    if (strcasecmp(r->columns[i].name, name) == 0) return &r->columns[i];
  }
  return NULL;
}

static bool is_generated(const Column *k) {
  return k->computed || k->generated || k->type.kind == K_ROWVERSION;
}

/* Writes `tds_store(VALUE, from, to, table, column)`: a conversion that refuses to cut. */
static void write_store(Buf *out, const char *value, const Type *from, const Rel *table,
                        const Column *k) {
  char name[64];
  type_print(from, name, sizeof name);
  buf_printf(out, "tds_store(%s,'%s','", value, name);
  type_print(&k->type, name, sizeof name);
  buf_text(out, name);
  if (k->type.collation != NULL) buf_printf(out, " COLLATE %s", k->type.collation->name);
  buf_text(out, "',");
  quote_text(out, table->name, strlen(table->name));
  buf_u8(out, ',');
  quote_text(out, k->name, strlen(k->name));
  buf_printf(out, ",%d)", k->nullable);
}

/* INSERT -----------------------------------------------------------------------------------------*/

typedef struct {
  const Column *columns[1024];
  int n;
  bool listed;
} Targets;

static void default_targets(Batch *b, const Rel *r, Targets *t) {
  for (int i = 0; i < r->n && t->n < 1024; i++) {
    if (!is_generated(&r->columns[i]) && !(r->columns[i].identity && !b->s->identity_insert))
      t->columns[t->n++] = &r->columns[i];
  }
}

static void parse_targets(Batch *b, const Rel *r, Targets *t) {
  bool list = at_op(b, "(") && !is_word(peek_at(b, 1), "SELECT") && !is_word(peek_at(b, 1), "WITH");
  if (!list) {
    default_targets(b, r, t);
    return;
  }
  b->i++;
  t->listed = true;
  do {
    const char *name = take_name(b);
    while (take_op(b, ".")) name = take_name(b);
    if (!b->run || b->failed || t->n == 1024) continue;
    const Column *k = find_column(r, name);
    if (k == NULL) {
      fail(b, 207, 16, "Invalid column name '%s'.", name);
    } else if (k->identity && !b->s->identity_insert) {
      fail(b, 544, 16,
           "Cannot insert explicit value for identity column in table '%s' when IDENTITY_INSERT is "
           "set to OFF.",
           r->name);
    } else if (k->generated) {
      fail(b, 13536, 16,
           "Cannot insert an explicit value into a GENERATED ALWAYS column in table '%s.dbo.%s'.",
           b->s->database, r->name);
    } else if (is_generated(k)) {
      fail(b, k->computed ? 271 : 273, 16,
           "The column \"%s\" cannot be modified because it is either a computed column or is the "
           "result of a UNION operator.",
           name);
    } else {
      t->columns[t->n++] = k;
    }
  } while (take_op(b, ","));
  need_op(b, ")");
}

/* VALUES: each row's values, converted.  DEFAULT in a row of its own takes its column away. */
static void parse_insert_values(Batch *b, Buf *out, const Rel *r, Targets *t) {
  int rows = 0;
  do {
    int n = 0, kept = 0;
    const Column *columns[1024];
    need_op(b, "(");
    buf_text(out, rows++ ? " UNION ALL SELECT " : "SELECT ");
    do {
      if (take_word(b, "DEFAULT")) {
        if (rows > 1)
          fail(b, 102, 15,
               "Incorrect syntax near 'DEFAULT': only in the one row of an INSERT here.");
        n++;
        continue;
      }
      Buf value = {0};
      Expr e;
      parse_value(b, &value, &e);
      if (b->run && !b->failed && n < t->n) {
        if (kept > 0) buf_u8(out, ',');
        write_store(out, buf_string(&value), &e.type, r, t->columns[n]);
        columns[kept++] = t->columns[n];
      }
      buf_free(&value);
      n++;
    } while (take_op(b, ","));
    need_op(b, ")");
    if (b->run && !b->failed && n != t->n) {
      fail(b, t->listed ? (n > t->n ? 110 : 109) : 213, t->listed ? 15 : 16,
           t->listed
               ? "There are %s columns in the INSERT statement than values specified in the VALUES "
                 "clause."
               : "Column name or number of supplied values does not match table definition.%s",
           t->listed ? (n > t->n ? "fewer" : "more") : "");
    }
    if (rows == 1) {
      memcpy(t->columns, columns, sizeof *columns * (size_t)(kept ? kept : 0));
      if (b->run) t->n = kept;
    }
  } while (take_op(b, ","));
}

static void parse_insert_select(Batch *b, Buf *out, const Rel *r, const Targets *t) {
  Query q = {0};
  Buf inner = {0};
  parse_query(b, &inner, &q);
  if (b->run && !b->failed && q.n != t->n) {
    fail(b, t->listed ? (q.n > t->n ? 121 : 120) : 213, 16,
         "The select list for the INSERT statement contains %s items than the insert list.",
         q.n > t->n ? "more" : "fewer");
  }
  buf_text(out, "SELECT ");
  for (int i = 0; i < t->n && !b->failed; i++) {
    char name[16];
    snprintf(name, sizeof name, "c%d", i);
    if (i > 0) buf_u8(out, ',');
    write_store(out, name, &q.columns[i].type, r, t->columns[i]);
  }
  buf_text(out, " FROM (WITH tdsd_new(");
  for (int i = 0; i < t->n; i++) buf_printf(out, "%sc%d", i ? "," : "", i);
  buf_printf(out, ") AS (%s) SELECT * FROM tdsd_new) WHERE true", buf_string(&inner));
  buf_free(&inner);
}

/* Columns that SQLite must be given though the statement does not name them. */
static void add_generated(Buf *columns, Buf *values, const Rel *r, const Targets *t) {
  int n = t->n;
  for (int i = 0; i < r->n; i++) {
    const Column *k = &r->columns[i];
    bool given = false;
    for (int j = 0; j < t->n; j++) given |= t->columns[j] == k;
    if (given || !(k->identity || k->type.kind == K_ROWVERSION)) continue;
    buf_text(columns, n > 0 ? "," : "");
    quote(columns, k->name);
    buf_text(values, n++ > 0 ? "," : "");
    if (k->identity) {
      buf_text(values, "tds_next_identity(");
      quote_text(values, r->name, strlen(r->name));
      buf_u8(values, ')');
    } else {
      buf_text(values, "tds_rowversion()");
    }
  }
}

/* A column that may not be NULL and that nothing gives a value. */
static void check_missing(Batch *b, const Rel *r, const Targets *t) {
  for (int i = 0; i < r->n; i++) {
    const Column *k = &r->columns[i];
    bool given = k->nullable || k->has_default || k->identity || is_generated(k);
    for (int j = 0; j < t->n; j++) given |= t->columns[j] == k;
    if (!given)
      fail(b, 515, 16,
           "Cannot insert the value NULL into column '%s', table '%s.dbo.%s'; column does not "
           "allow nulls. INSERT fails.",
           k->name, b->s->database, r->name);
  }
}

void statement_insert(Batch *b, const char *with) {
  char schema[130], name[130];
  Buf limit = {0}, returning = {0}, source = {0}, columns = {0}, generated = {0}, sql = {0};
  Query q = {0};
  Targets *t = batch_alloc(b, sizeof *t);
  bool output;
  parse_top(b, &limit);
  take_word(b, "INTO");
  take_table(b, schema, name);
  Rel *r = batch_alloc(b, sizeof *r);
  rel_table(b, r, schema, name);
  if (at_word(b, "WITH") && peek_at(b, 1)->kind == L_OP) {
    while (!b->failed && !take_op(b, ")")) b->i++;
  }
  parse_targets(b, r, t);
  parse_output(b, r, &returning, &q, &output, false, true);
  if (take_word(b, "DEFAULT")) {
    need_word(b, "VALUES");
    t->n = 0;
    buf_text(&source, "SELECT NULL");
  } else if (take_word(b, "VALUES")) {
    parse_insert_values(b, &source, r, t);
  } else if (at_word(b, "SELECT") || at_word(b, "WITH") || at_op(b, "(")) {
    parse_insert_select(b, &source, r, t);
  } else {
    syntax(b);
  }
  if (b->run && !b->failed) {
    check_missing(b, r, t);
    for (int i = 0; i < t->n; i++) {
      if (i > 0) buf_u8(&columns, ',');
      quote(&columns, t->columns[i]->name);
    }
    add_generated(&columns, &generated, r, t);
    buf_text(&sql, with);
    buf_text(&sql, "INSERT INTO ");
    quote(&sql, r->name);
    if (columns.n == 0) {
      buf_text(&sql, " DEFAULT VALUES");
    } else {
      /* MATERIALIZED and ordered: identities are given in the order of the rows. */
      buf_printf(&sql, "(%s) SELECT ", buf_string(&columns));
      for (int i = 0; i < t->n; i++) buf_printf(&sql, "%sv%d", i ? "," : "", i);
      buf_printf(&sql, "%s FROM (WITH tdsd_values(", buf_string(&generated));
      for (int i = 0; i < (t->n ? t->n : 1); i++) buf_printf(&sql, "%sv%d", i ? "," : "", i);
      buf_printf(&sql, ") AS MATERIALIZED (%s) SELECT * FROM tdsd_values) WHERE true",
                 buf_string(&source));
      if (limit.n > 0) buf_printf(&sql, " LIMIT %s", buf_string(&limit));
    }
    if (output) buf_printf(&sql, " RETURNING %s", buf_string(&returning));
    if (!b->failed) run_change(b, &sql, &q, output, r, 0xC3);
    if (!b->failed && b->s->identity_insert) {
      for (int i = 0; i < t->n; i++) {
        if (!t->columns[i]->identity) continue;
        Buf text = {0};
        buf_printf(&text, "UPDATE tdsd_identity SET last = max(last, coalesce((SELECT max(");
        quote(&text, t->columns[i]->name);
        buf_text(&text, ") FROM ");
        quote(&text, r->name);
        buf_text(&text, "), last)) WHERE name = ");
        quote_text(&text, r->name, strlen(r->name));
        SqlError ignored;
        engine_exec(b->s, buf_string(&text), &ignored);
        buf_free(&text);
      }
    }
  }
  buf_free(&limit);
  buf_free(&returning);
  buf_free(&source);
  buf_free(&columns);
  buf_free(&generated);
  buf_free(&sql);
}

/* UPDATE and DELETE ------------------------------------------------------------------------------*/

/* Where FROM stands in the rest of this statement, -1 if nowhere. */
static int find_word(Batch *b, const char *word, const char *stop) {
  int depth = 0, cases = 0;
  for (int i = b->i; i < b->n; i++) {
    const Tok *t = &b->t[i];
    if (t->kind == L_OP && t->text[0] == '(') depth++;
    if (t->kind == L_OP && t->text[0] == ')' && --depth < 0) return -1;
    if (t->kind == L_OP && t->text[0] == ';') return -1;
    if (depth > 0) continue;
    if (is_word(t, "CASE")) cases++;
    if (is_word(t, "END") && --cases < 0) return -1;
    if (is_word(t, word)) return i;
    if (is_word(t, stop) || is_word(t, "SELECT") || is_word(t, "INSERT") || is_word(t, "DELETE"))
      return -1;
  }
  return -1;
}

/* The table to change, once FROM is known: by alias or by name. */
static Rel *target_of(Scope *scope, const char *sqlite_name, const char *name) {
  for (Rel *r = scope->rels; r != NULL; r = r->next) {
    if (strcasecmp(r->alias, name) == 0) return r;
  }
  for (Rel *r = scope->rels; r != NULL; r = r->next) {
    if (strcasecmp(r->name, sqlite_name) == 0) return r;
  }
  return NULL;
}

static void parse_set(Batch *b, Buf *set, Rel *target) {
  int n = 0;
  do {
    const char *name = take_name(b);
    while (take_op(b, ".")) name = take_name(b);
    const Column *k = b->run && !b->failed ? find_column(target, name) : NULL;
    if (b->run && !b->failed && k == NULL) fail(b, 207, 16, "Invalid column name '%s'.", name);
    if (k != NULL && k->identity) fail(b, 8102, 16, "Cannot update identity column '%s'.", name);
    if (k != NULL && k->generated)
      fail(b, 13537, 16, "Cannot update GENERATED ALWAYS columns in table '%s.dbo.%s'.",
           b->s->database, target->name);
    if (k != NULL && is_generated(k))
      fail(b, k->computed ? 271 : 272, 16,
           "The column \"%s\" cannot be modified because it is either a computed column or is the "
           "result of a UNION operator.",
           name);
    bool add = at_op(b, "+=");
    if (add) {
      /* a += x is a = a + x: the name is read again as the first operand. */
      Tok plus = *peek(b);
      b->i -= 1;
      char *saved = peek_at(b, 1)->text, sign[] = "+";
      peek_at(b, 1)->text = sign;
      Buf value = {0};
      Expr e;
      parse_value(b, &value, &e);
      for (int i = b->i; i >= 0; i--) {
        if (b->t[i].text == sign) b->t[i].text = saved;
      }
      (void)plus;
      if (k != NULL && !b->failed) {
        buf_text(set, n++ ? "," : "");
        quote(set, k->name);
        buf_u8(set, '=');
        write_store(set, buf_string(&value), &e.type, target, k);
      }
      buf_free(&value);
      continue;
    }
    need_op(b, "=");
    if (at_word(b, "DEFAULT")) syntax(b);
    Buf value = {0};
    Expr e;
    parse_value(b, &value, &e);
    if (k != NULL && !b->failed) {
      buf_text(set, n++ ? "," : "");
      quote(set, k->name);
      buf_u8(set, '=');
      write_store(set, buf_string(&value), &e.type, target, k);
    }
    buf_free(&value);
  } while (take_op(b, ","));
  for (int i = 0; i < target->n; i++) {
    if (target->columns[i].type.kind != K_ROWVERSION) continue;
    buf_u8(set, ',');
    quote(set, target->columns[i].name);
    buf_text(set, "=tds_rowversion()");
  }
}

/* Reads FROM ahead of SET; the scope then has its tables, and the place behind is answered. */
static int read_from(Batch *b, Scope *scope, Buf *from, int at) {
  int here = b->i;
  b->i = at + 1;
  Scope *outer = b->scope;
  b->scope = NULL;
  parse_from(b, from, scope);
  b->scope = outer;
  int behind = b->i;
  b->i = here;
  return behind;
}

static void write_from(Buf *sql, const Buf *from, const Rel *target) {
  buf_printf(sql, " FROM %s WHERE \"tdsd_target\".rowid = ", (const char *)from->p);
  quote(sql, target->alias);
  buf_text(sql, ".rowid");
}

static void parse_where(Batch *b, Buf *sql, bool more) {
  if (!take_word(b, "WHERE")) return;
  if (at_word(b, "CURRENT")) syntax(b);
  buf_text(sql, more ? " AND (" : " WHERE (");
  parse_condition(b, sql);
  buf_u8(sql, ')');
}

static void skip_table_hints(Batch *b) {
  if (!at_word(b, "WITH") || peek_at(b, 1)->kind != L_OP) return;
  while (!b->failed && !take_op(b, ")") && peek(b)->kind != L_END) b->i++;
}

static void skip_options(Batch *b) {
  if (!take_word(b, "OPTION")) return;
  while (!b->failed && !take_op(b, ")") && peek(b)->kind != L_END) b->i++;
}

void statement_update(Batch *b, const char *with) {
  char schema[130], name[130], sqlite_name[300];
  Buf limit = {0}, returning = {0}, set = {0}, from = {0}, sql = {0};
  Query q = {0};
  Scope scope = {0}, *outer = b->scope;
  bool output;
  int behind = -1;
  parse_top(b, &limit);
  take_table(b, schema, name);
  catalog_name(schema, name, sqlite_name);
  skip_table_hints(b);
  int at = b->failed ? -1 : find_word(b, "FROM", "WHERE");
  Rel *target;
  if (at >= 0) {
    behind = read_from(b, &scope, &from, at);
    target = target_of(&scope, sqlite_name, name);
    if (target == NULL && !b->failed) fail(b, 208, 16, "Invalid object name '%s'.", name);
  } else {
    target = rel_add(b, &scope, name);
    rel_table(b, target, schema, name);
  }
  need_word(b, "SET");
  if (!b->failed) {
    b->scope = &scope;
    parse_set(b, &set, target);
    parse_output(b, target, &returning, &q, &output, false, true);
    buf_text(&sql, with);
    buf_text(&sql, "UPDATE ");
    quote(&sql, target->name);
    buf_text(&sql, " AS ");
    quote(&sql, at >= 0 ? "tdsd_target" : target->alias);
    buf_printf(&sql, " SET %s", buf_string(&set));
    if (at >= 0) {
      if (b->i != at) syntax(b);
      b->i = behind;
      buf_string(&from);
      write_from(&sql, &from, target);
    }
    parse_where(b, &sql, at >= 0);
    skip_options(b);
    if (output) buf_printf(&sql, " RETURNING %s", buf_string(&returning));
    if (limit.n > 0) buf_printf(&sql, " LIMIT %s", buf_string(&limit));
    b->scope = outer;
    if (b->run && !b->failed) run_change(b, &sql, &q, output, target, 0xC5);
  }
  buf_free(&limit);
  buf_free(&returning);
  buf_free(&set);
  buf_free(&from);
  buf_free(&sql);
}

void statement_delete(Batch *b, const char *with) {
  char schema[130], name[130], sqlite_name[300];
  Buf limit = {0}, returning = {0}, from = {0}, sql = {0};
  Query q = {0};
  Scope scope = {0}, *outer = b->scope;
  bool output;
  parse_top(b, &limit);
  take_word(b, "FROM");
  take_table(b, schema, name);
  catalog_name(schema, name, sqlite_name);
  skip_table_hints(b);
  int at = b->failed ? -1 : find_word(b, "FROM", "WHERE"), behind = -1;
  Rel *target;
  if (at >= 0) {
    behind = read_from(b, &scope, &from, at);
    target = target_of(&scope, sqlite_name, name);
    if (target == NULL && !b->failed) fail(b, 208, 16, "Invalid object name '%s'.", name);
  } else {
    target = rel_add(b, &scope, name);
    rel_table(b, target, schema, name);
  }
  if (!b->failed) {
    parse_output(b, target, &returning, &q, &output, true, false);
    b->scope = &scope;
    buf_text(&sql, with);
    buf_text(&sql, "DELETE FROM ");
    quote(&sql, target->name);
    buf_text(&sql, " AS ");
    quote(&sql, at >= 0 ? "tdsd_target" : target->alias);
    if (at >= 0) {
      if (b->i != at) syntax(b);
      b->i = behind;
      buf_text(&sql, " WHERE rowid IN (SELECT ");
      quote(&sql, target->alias);
      buf_printf(&sql, ".rowid FROM %s", buf_string(&from));
    }
    parse_where(b, &sql, false);
    if (at >= 0) buf_u8(&sql, ')');
    skip_options(b);
    if (output) buf_printf(&sql, " RETURNING %s", buf_string(&returning));
    if (limit.n > 0) buf_printf(&sql, " LIMIT %s", buf_string(&limit));
    b->scope = outer;
    if (b->run && !b->failed) run_change(b, &sql, &q, output, target, 0xC4);
  }
  buf_free(&limit);
  buf_free(&returning);
  buf_free(&from);
  buf_free(&sql);
}

void statement_truncate(Batch *b) {
  char schema[130], name[130];
  b->i++;
  need_word(b, "TABLE");
  take_table(b, schema, name);
  Rel *r = batch_alloc(b, sizeof *r);
  rel_table(b, r, schema, name);
  if (!b->run || b->failed) return;
  Buf sql = {0};
  SqlError error = {0};
  buf_text(&sql, "DELETE FROM ");
  quote(&sql, r->name);
  bool ok = engine_enter(b->s, true, &error) && engine_exec(b->s, buf_string(&sql), &error);
  sql.n = 0;
  buf_text(&sql, "UPDATE tdsd_identity SET last = seed - step WHERE name = ");
  quote_text(&sql, r->name, strlen(r->name));
  ok = ok && engine_exec(b->s, buf_string(&sql), &error);
  buf_free(&sql);
  if (!ok) {
    fail(b, error.number, error.severity, "%s", error.message);
  } else {
    done(b, 0, 0xF9, 0);
  }
}
