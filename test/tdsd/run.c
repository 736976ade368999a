/*
** Running SQL in SQLite for a statement: binding variables, sending rows.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void bind_variables(Batch *b, sqlite3_stmt *statement) {
  int n = sqlite3_bind_parameter_count(statement);
  Buf name = {0};
  for (int i = 1; i <= n; i++) {
    const char *wanted = sqlite3_bind_parameter_name(statement, i);
    for (Var *v = b->vars; v != NULL && wanted != NULL; v = v->next) {
      name.n = 0;
      if (v->name[0] == 0) continue;
      variable_name(&name, v->name);
      if (strcasecmp(wanted, buf_string(&name)) == 0) val_bind(statement, i, &v->val);
    }
  }
  buf_free(&name);
}

sqlite3_stmt *prepare(Batch *b, const char *sql) {
  Session *s = b->s;
  int code;
  s->pending.number = 0;
  sqlite3_stmt *statement = kept_prepare(s, sql, &code);
  if (code != SQLITE_OK) {
    SqlError error = {0};
    engine_error(s, code, &error);
    fail(b, error.number, error.severity, "%s", error.message);
    if (getenv("TDSD_TRACE")) fprintf(stderr, "tdsd: %s\n  in %s\n", sqlite3_errmsg(s->db), sql);
    return NULL;
  }
  bind_variables(b, statement);
  return statement;
}

/* Makes a value be what its column's type says. */
static bool normalize(Batch *b, const Type *t, Val *v, Buf *space) {
  static const struct {
    Tag tag;
    Kind kind;
  } guesses[] = {{V_INT, K_BIGINT}, {V_REAL, K_FLOAT}, {V_TEXT, K_NVARCHAR}, {V_BLOB, K_VARBINARY}};
  Class class = type_class(t);
  Tag wanted = class == C_INT || t->kind == K_NONE        ? V_INT
               : class == C_REAL                          ? V_REAL
               : class == C_BYTES || t->kind == K_VARIANT ? V_BLOB
                                                          : V_TEXT;
  if (v->tag == V_NULL) return true;
  bool sized = class == C_TEXT || class == C_DECIMAL;
  if (v->tag == wanted && !sized) return true;
  SqlError error = {0};
  Type from = *t;
  for (size_t i = 0; i < 4; i++) {
    if (v->tag == guesses[i].tag && v->tag != wanted) from = type_make(guesses[i].kind, -1, 0, 0);
  }
  Val out;
  if (convert(v, &from, t, 0, space, &out, &error)) {
    *v = out;
    return true;
  }
  fail(b, error.number, error.severity, "%s", error.message);
  return false;
}

bool evaluate(Batch *b, const char *sql, const Type *type, Val *v, Buf *space) {
  Buf text = {0};
  buf_printf(&text, "SELECT %s", sql);
  sqlite3_stmt *statement = prepare(b, buf_string(&text));
  buf_free(&text);
  if (statement == NULL) return false;
  int code = sqlite3_step(statement);
  bool ok = code == SQLITE_ROW;
  if (ok) {
    Val got = val_column(statement, 0);
    Buf kept = {0};
    ok = normalize(b, type, &got, &kept);
    space->n = 0;
    if (ok && (got.tag == V_TEXT || got.tag == V_BLOB)) {
      buf_add(space, got.p, got.n);
      got.p = buf_string(space);
    }
    *v = got;
    buf_free(&kept);
  } else {
    SqlError error = {0};
    engine_error(b->s, code, &error);
    fail(b, error.number, error.severity, "%s", error.message);
  }
  kept_finish(b->s, statement);
  return ok;
}

/* The faults that come with rows: errors after rows, tokens between them. */
static void interrupt_rows(Batch *b, int64_t row) {
  Fault *f = &b->c->fault;
  if (f->between > 0 && row > 0 && row % f->between == 0) {
    token_info(b->c, 5703, 0, 1, "A message between rows.");
    token_env_text(b->c, 2, "us_english", "us_english");
  }
  if (f->error_at != 0 && (f->error_at < 0 || row == f->error_at)) {
    for (int64_t i = 1; i < f->errors; i++) {
      SqlError e = {.number = 50000 + (int)i, .severity = 16, .state = 1, .line = 1};
      snprintf(e.message, sizeof e.message, "error %d of several", (int)i);
      token_error(b->c, &e, NULL);
    }
    fail(b, 8134, 16, "Divide by zero error encountered.");
  }
  if (f->silent > 0 && row == f->silent) {
    done(b, DONE_ERROR, 0xC1, 0);
    b->flow = FLOW_ABORT;
  }
}

static void assign(Batch *b, const Query *q, const Val *values) {
  for (int i = 0; i < q->n; i++) {
    SqlError error = {0};
    Var *v = var_find(b->vars, q->assign[i]);
    if (v == NULL) {
      fail(b, 137, 15, "Must declare the scalar variable \"%s\".", q->assign[i]);
      return;
    }
    var_set(v, &values[i], &q->columns[i].type, &error);
    if (error.number != 0) fail(b, error.number, error.severity, "%s", error.message);
  }
}

static bool one_row(Batch *b, Query *q, sqlite3_stmt *statement, Val *values, Buf *spaces,
                    int64_t row) {
  for (int i = 0; i < q->n; i++) {
    values[i] = val_column(statement, i);
    if (!normalize(b, &q->columns[i].type, &values[i], &spaces[i])) return false;
  }
  if (q->assign != NULL) {
    assign(b, q, values);
  } else {
    token_row(b->c, q->columns, values, q->n, row);
  }
  return !b->failed;
}

/* The type that a column is sent as: a client that did not ask for UTF-8, json or vector gets text of
** kinds that it knows. */
static void show_type(const Conn *c, Column *k) {
  Type *t = &k->type;
  if (t->kind == K_NONE) {
    *t = type_make(K_INT, 0, 0, 0);
    k->nullable = true;
  } else if (type_is_codepage(t->kind) && t->collation != NULL && t->collation->codepage == 65001 &&
             !c->utf8) {
    t->kind = t->kind == K_CHAR ? K_NCHAR : t->kind == K_VARCHAR ? K_NVARCHAR : K_NTEXT;
    if (t->length > 4000) t->length = -1;
  } else if ((t->kind == K_JSON && !c->json) || (t->kind == K_VECTOR && !c->vector)) {
    *t = type_make(t->kind == K_JSON ? K_NVARCHAR : K_VARCHAR, -1, 0, 0);
  }
}

bool run_rows(Batch *b, const char *sql, Query *q, int64_t *rows) {
  sqlite3_stmt *statement = prepare(b, sql);
  Val *values = xmalloc((size_t)(q->n + 1) * sizeof *values);
  Buf *spaces = xmalloc((size_t)(q->n + 1) * sizeof *spaces);
  *rows = 0;
  for (int i = 0; i < q->n && q->assign == NULL; i++) show_type(b->c, &q->columns[i]);
  if (statement != NULL && q->assign == NULL) token_columns(b->c, q->columns, q->n);
  while (statement != NULL && !b->failed && b->flow == FLOW_NEXT) {
    if (q->assign == NULL) interrupt_rows(b, *rows);
    if (b->failed || b->flow != FLOW_NEXT) break;
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) {
      SqlError error = {0};
      engine_error(b->s, code, &error);
      fail(b, error.number, error.severity, "%s", error.message);
    } else if (one_row(b, q, statement, values, spaces, *rows)) {
      ++*rows;
      if (*rows % 64 == 0 && b->c->fault.attention != 2) msg_poll(b->c, 0);
      if (b->c->attention || b->c->dead)
        b->flow = b->c->fault.attention == 2 ? b->flow : FLOW_ABORT;
    }
  }
  /* What TRY catches has no ERROR and DONE of its own: the result set must still end. */
  if (b->failed && b->try_depth > 0 && statement != NULL && q->assign == NULL) done(b, 0, 0xC1, 0);
  kept_finish(b->s, statement);
  for (int i = 0; i < q->n; i++) buf_free(&spaces[i]);
  free(spaces);
  free(values);
  return !b->failed;
}
