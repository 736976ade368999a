/*
** Stored procedures: the system's, and those of CREATE PROCEDURE, by RPC or by EXEC.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static Var *nth(Var *vars, int n) {
  while (vars != NULL && n-- > 0) vars = vars->next;
  return vars;
}

static void report(Session *s, const SqlError *error) {
  token_error(s->c, error, NULL);
  s->error = error->number;
}

static const char *text_of(const Var *v) {
  return v != NULL && v->val.tag == V_TEXT ? v->val.p : "";
}
static size_t size_of(const Var *v) { return v != NULL && v->val.tag == V_TEXT ? v->val.n : 0; }

/* Runs sql with the parameters it declares, given by name or in their order. */
static int32_t run_declared(Session *s, const char *sql, size_t n, const char *declarations,
                            Var *given, int nesting) {
  SqlError error = {0};
  Var *vars = NULL;
  int32_t status = 0;
  if (!var_declare(s, declarations, strlen(declarations), &vars, &error)) {
    report(s, &error);
    var_free(vars);
    return -6;
  }
  Var *position = vars;
  for (Var *g = given; g != NULL; g = g->next) {
    Var *v = g->name[0] != 0 ? var_find(vars, g->name) : position;
    if (v == NULL) {
      sql_error(&error, g->name[0] ? 8145 : 8144, 16, "%s is not a parameter of the statement.",
                g->name[0] ? g->name : "A value");
      break;
    }
    var_set(v, &g->val, &g->type, &error);
    position = v->next;
  }
  if (error.number == 0) {
    batch_run(s, sql, n, vars, true, nesting, &status);
    position = vars;
    for (Var *g = given; g != NULL; g = g->next) {
      Var *v = g->name[0] != 0 ? var_find(vars, g->name) : position;
      if (v == NULL) break;
      if (g->output) var_set(g, &v->val, &v->type, &error);
      position = v->next;
    }
  } else {
    report(s, &error);
    status = -6;
  }
  var_free(vars);
  return status;
}

static int32_t executesql(Session *s, Var *vars, int nesting) {
  Var *statement = nth(vars, 0), *declared = nth(vars, 1);
  if (statement == NULL ||
      (statement->val.tag != V_NULL && !type_is_unicode(statement->type.kind))) {
    SqlError error = {0};
    sql_error(&error, 214, 16,
              "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.");
    report(s, &error);
    return 214;
  }
  return run_declared(s, text_of(statement), size_of(statement), text_of(declared),
                      declared ? declared->next : NULL, nesting);
}

/* Handles ----------------------------------------------------------------------------------------*/

static Handle *add_handle(Session *s, const char *sql, const char *declarations) {
  Handle *h = xmalloc(sizeof *h);
  h->id = ++s->next_handle;
  h->sql = xstrdup(sql);
  h->declarations = xstrdup(declarations);
  h->next = s->handles;
  s->handles = h;
  return h;
}

static Handle **find_handle(Session *s, const Var *v) {
  Handle **h = &s->handles;
  int64_t id = v != NULL && v->val.tag == V_INT ? v->val.i : -1;
  while (*h != NULL && (*h)->id != id) h = &(*h)->next;
  if (*h == NULL) {
    SqlError error = {0};
    sql_error(&error, 8179, 16, "Could not find prepared statement with handle %d.", (int)id);
    report(s, &error);
  }
  return h;
}

static void set_handle(Var *v, const Handle *h) {
  Type type = type_make(K_INT, 0, 0, 0);
  SqlError error;
  Val id = val_int(h->id);
  if (v != NULL) var_set(v, &id, &type, &error);
}

/* A statement that is prepared must at least be well formed. */
static bool well_formed(Session *s, const char *sql) {
  SqlError error = {0};
  Tok *tokens;
  int n = lex(sql, strlen(sql), &tokens, &error);
  if (n < 0) {
    report(s, &error);
    return false;
  }
  lex_free(tokens, n + 1);
  return true;
}

static int32_t prepare_handle(Session *s, Var *vars, int nesting) {
  (void)nesting;
  Var *declared = nth(vars, 1), *statement = nth(vars, 2);
  if (!well_formed(s, text_of(statement))) return -6;
  set_handle(nth(vars, 0), add_handle(s, text_of(statement), text_of(declared)));
  return 0;
}

static int32_t prepexec(Session *s, Var *vars, int nesting) {
  Var *declared = nth(vars, 1), *statement = nth(vars, 2);
  Var *old = nth(vars, 0);
  if (old != NULL && old->val.tag == V_INT) { /* a handle that is no longer needed */
    for (Handle **h = &s->handles; *h != NULL; h = &(*h)->next) {
      if ((*h)->id != old->val.i) continue;
      Handle *gone = *h;
      *h = gone->next;
      free(gone->sql);
      free(gone->declarations);
      free(gone);
      break;
    }
  }
  Handle *h = add_handle(s, text_of(statement), text_of(declared));
  set_handle(old, h);
  return run_declared(s, h->sql, strlen(h->sql), h->declarations,
                      statement ? statement->next : NULL, nesting);
}

static int32_t execute_handle(Session *s, Var *vars, int nesting) {
  Handle *h = *find_handle(s, vars);
  if (h == NULL) return 8179;
  return run_declared(s, h->sql, strlen(h->sql), h->declarations, vars->next, nesting);
}

static int32_t unprepare(Session *s, Var *vars, int nesting) {
  (void)nesting;
  Handle **at = find_handle(s, vars), *h = *at;
  if (h == NULL) return 8179;
  *at = h->next;
  free(h->sql);
  free(h->declarations);
  free(h);
  return 0;
}

/* Others -----------------------------------------------------------------------------------------*/

static int32_t reset_connection(Session *s, Var *vars, int nesting) {
  (void)vars, (void)nesting;
  session_reset(s, false);
  return 0;
}

static int32_t nothing(Session *s, Var *vars, int nesting) {
  (void)s, (void)vars, (void)nesting;
  return 0;
}

/* tdsd_fault 'name', value: a misbehaviour of this connection alone. */
static int32_t fault(Session *s, Var *vars, int nesting) {
  const Var *name = nth(vars, 0), *value = nth(vars, 1);
  SqlError error = {0};
  (void)nesting;
  if (fault_set(&s->c->fault, text_of(name),
                value != NULL && value->val.tag == V_INT ? value->val.i : 1)) {
    s->c->sent_after_login = 0;
    return 0;
  }
  Buf names = {0};
  fault_names(&names);
  sql_error(&error, 50001, 16, "There is no fault '%s'; there are%s.", text_of(name),
            buf_string(&names));
  buf_free(&names);
  report(s, &error);
  return 1;
}

/* sp_describe_first_result_set and the like are answered by what a SELECT would have. */
static int32_t databases(Session *s, Var *vars, int nesting) {
  static const char sql[] = "SELECT name AS DATABASE_NAME, 0 AS DATABASE_SIZE, NULL AS REMARKS "
                            "FROM sys.databases ORDER BY name";
  int32_t status;
  (void)vars;
  batch_run(s, sql, sizeof sql - 1, NULL, true, nesting, &status);
  return status;
}

static const struct {
  const char *name;
  int32_t (*call)(Session *, Var *, int);
} system_procedures[] = {
    {"sp_executesql", executesql},
    {"sp_prepare", prepare_handle},
    {"sp_prepexec", prepexec},
    {"sp_execute", execute_handle},
    {"sp_unprepare", unprepare},
    {"sp_reset_connection", reset_connection},
    {"sp_oledb_ro_usrname", nothing},
    {"sp_databases", databases},
    {"tdsd_fault", fault},
};

/* What stands in CREATE PROCEDURE before AS: parameters, with values to begin with. */
static bool parse_header(Session *s, const char *definition, Var **vars, size_t *body,
                         SqlError *error) {
  Batch b = {.s = s, .c = s->c, .text = definition};
  char schema[130], name[130];
  b.n = lex(definition, strlen(definition), &b.t, error);
  if (b.n < 0) return false;
  while (b.i < b.n && !at_word(&b, "PROCEDURE") && !at_word(&b, "PROC")) b.i++;
  b.i++;
  take_table(&b, schema, name);
  bool parenthesis = take_op(&b, "(");
  Var **tail = vars;
  int ordinal = 0;
  while (!b.failed && peek(&b)->kind == L_VAR) {
    Var *v = xmalloc(sizeof *v);
    *tail = v;
    tail = &v->next;
    snprintf(v->name, sizeof v->name, "%s", peek(&b)->text);
    b.i++;
    take_word(&b, "AS");
    take_type(&b, &v->type);
    v->ordinal = ordinal++;
    if (take_op(&b, "=")) {
      bool minus = take_op(&b, "-");
      Tok *t = peek(&b);
      Type from = type_make(t->kind == L_NUMBER ? K_VARCHAR : K_NVARCHAR, -1, 0, 0);
      Buf text = {0};
      buf_printf(&text, "%s%s", minus ? "-" : "", t->text);
      Val value = is_word(t, "NULL") ? val_null() : val_text(buf_string(&text), text.n);
      var_set(v, &value, &from, error);
      buf_free(&text);
      b.i++;
    }
    v->output = take_word(&b, "OUTPUT") || take_word(&b, "OUT");
    if (!take_op(&b, ",")) break;
  }
  if (parenthesis) need_op(&b, ")");
  while (!b.failed && b.i < b.n && !at_word(&b, "AS")) b.i++;
  *body = b.t[b.i < b.n ? b.i : b.n].to;
  lex_free(b.t, b.n + 1);
  if (b.failed) *error = b.error;
  return !b.failed;
}

static bool call_user(Session *s, const char *name, Var *given, int nesting, int32_t *status) {
  char sqlite[300];
  const char *bare = strncasecmp(name, "dbo.", 4) == 0 ? name + 4 : name;
  SqlError error = {0};
  sqlite3_stmt *q;
  catalog_name("dbo", bare, sqlite);
  if (sqlite3_prepare_v2(s->db,
                         "SELECT definition FROM main.tdsd_object WHERE type = 'P' AND sqlite = ?",
                         -1, &q, NULL) != SQLITE_OK)
    return false;
  sqlite3_bind_text(q, 1, sqlite, -1, SQLITE_TRANSIENT);
  char *definition =
      sqlite3_step(q) == SQLITE_ROW ? xstrdup((const char *)sqlite3_column_text(q, 0)) : NULL;
  sqlite3_finalize(q);
  if (definition == NULL) return false;
  Var *vars = NULL;
  size_t body = 0;
  bool ok = parse_header(s, definition, &vars, &body, &error);
  Var *position = vars;
  for (Var *g = given; ok && g != NULL && error.number == 0; g = g->next) {
    Var *v = g->name[0] != 0 ? var_find(vars, g->name) : position;
    if (v == NULL) {
      sql_error(&error, 8145, 16, "%s is not a parameter for procedure %s.", g->name, bare);
      break;
    }
    var_set(v, &g->val, &g->type, &error);
    position = v->next;
  }
  if (error.number != 0) {
    report(s, &error);
    *status = -6;
  } else if (nesting > 32) {
    sql_error(
        &error, 217, 16,
        "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).");
    report(s, &error);
  } else {
    batch_run(s, definition + body, strlen(definition + body), vars, true, nesting, status);
    position = vars;
    for (Var *g = given; g != NULL; g = g->next) {
      Var *v = g->name[0] != 0 ? var_find(vars, g->name) : position;
      if (v == NULL) break;
      if (g->output && v->output) var_set(g, &v->val, &v->type, &error);
      position = v->next;
    }
  }
  var_free(vars);
  free(definition);
  return true;
}

bool procedure_call(Session *s, const char *name, Var *vars, int nesting, int32_t *status,
                    Batch *batch) {
  const char *dot = strrchr(name, '.');
  const char *bare = dot ? dot + 1 : name;
  (void)batch;
  *status = 0;
  for (size_t i = 0; i < sizeof system_procedures / sizeof *system_procedures; i++) {
    if (strcasecmp(bare, system_procedures[i].name) != 0) continue;
    *status = system_procedures[i].call(s, vars, nesting);
    return true;
  }
  return call_user(s, name, vars, nesting, status);
}

/* EXEC -------------------------------------------------------------------------------------------*/

/* One argument: [@name =] value [OUTPUT]. */
static void parse_argument(Batch *b, Var **tail, const char **output) {
  Var *v = xmalloc(sizeof *v);
  *tail = v;
  *output = NULL;
  Tok *next = peek_at(b, 1);
  if (peek(b)->kind == L_VAR && next->kind == L_OP && strcmp(next->text, "=") == 0) {
    snprintf(v->name, sizeof v->name, "%s", peek(b)->text);
    b->i += 2;
  }
  Tok *value = peek(b);
  if (value->kind == L_NAME && !is_word(value, "NULL")) { /* a bare word is a string here */
    v->type = type_make(K_NVARCHAR, 128, 0, 0);
    Type from = v->type;
    Val word = val_text(value->text, value->n);
    SqlError error;
    var_set(v, &word, &from, &error);
    b->i++;
    return;
  }
  Buf sql = {0}, space = {0};
  Expr e;
  SqlError error = {0};
  Val got = {0};
  parse_value(b, &sql, &e);
  v->type = e.type.kind == K_NONE ? type_make(K_NVARCHAR, 4000, 0, 0) : e.type;
  if (b->run && !b->failed && evaluate(b, buf_string(&sql), &e.type, &got, &space))
    var_set(v, &got, &v->type, &error);
  v->output = take_word(b, "OUTPUT") || take_word(b, "OUT");
  if (v->output && value->kind == L_VAR) *output = value->text;
  buf_free(&sql);
  buf_free(&space);
}

/* EXEC ('…'): a batch of its own. */
static void execute_text(Batch *b) {
  Buf sql = {0}, space = {0};
  Expr e;
  Val v = {0};
  int32_t status;
  parse_value(b, &sql, &e);
  need_op(b, ")");
  if (b->run && !b->failed && evaluate(b, buf_string(&sql), &e.type, &v, &space) &&
      v.tag == V_TEXT) {
    batch_run(b->s, v.p, v.n, NULL, b->in_proc, b->nesting + 1, &status);
  }
  buf_free(&sql);
  buf_free(&space);
}

/* What is called: a name, or a variable that holds one. */
static void take_module(Batch *b, char parts[4][130]) {
  memset(parts, 0, 4 * 130);
  if (peek(b)->kind == L_VAR) {
    const Var *v = var_find(b->vars, peek(b)->text);
    b->i++;
    if (b->run) name_split(text_of(v), parts);
    return;
  }
  for (;;) {
    snprintf(parts[3], 130, "%s", at_op(b, ".") ? "" : take_name(b));
    if (!take_op(b, ".")) return;
    memmove(parts[0], parts[1], 3 * 130);
  }
}

/* A procedure of another database runs there. */
static bool enter_database(Batch *b, const char *database) {
  SqlError error = {0};
  if (b->s->trancount > 0)
    sql_error(&error, 226, 16, "tdsd: not within a transaction: another database's procedure.");
  if (error.number == 0 && engine_open(b->s, database, &error)) return true;
  fail(b, error.number, error.severity, "%s", error.message);
  return false;
}

void statement_exec(Batch *b) {
  b->i++;
  if (take_op(b, "(")) {
    execute_text(b);
    return;
  }
  const char *result = NULL, *outputs[200] = {NULL};
  Tok *next = peek_at(b, 1);
  if (peek(b)->kind == L_VAR && next->kind == L_OP && next->text[0] == '=') {
    result = peek(b)->text;
    b->i += 2;
  }
  char parts[4][130], full[300];
  const char *name = parts[3];
  take_module(b, parts);
  snprintf(full, sizeof full, "%s.%s", parts[2][0] ? parts[2] : "dbo", name);
  Var *vars = NULL, **tail = &vars;
  int n = 0;
  Lexeme kind = peek(b)->kind;
  bool arguments = kind == L_VAR || kind == L_STRING || kind == L_NSTRING || kind == L_NUMBER ||
                   kind == L_BYTES || is_word(peek(b), "NULL") || at_op(b, "-");
  if (arguments && peek(b)->line >= 0) {
    do {
      parse_argument(b, tail, &outputs[n < 199 ? n++ : 199]);
      tail = &(*tail)->next;
    } while (take_op(b, ","));
  }
  if (b->run && !b->failed) {
    int32_t status = 0;
    SqlError error = {0};
    Type type = type_make(K_INT, 0, 0, 0);
    b->s->error = 0;
    char home[129];
    memcpy(home, b->s->database, sizeof home);
    if (parts[1][0] != 0 && strcasecmp(parts[1], home) != 0 && !enter_database(b, parts[1])) {
      var_free(vars);
      return;
    }
    bool called = procedure_call(b->s, full, vars, b->nesting + 1, &status, b);
    if (strcasecmp(b->s->database, home) != 0) (void)enter_database(b, home);
    if (!called) {
      fail(b, 2812, 16, "Could not find stored procedure '%s'.", name);
    } else {
      Val value = val_int(status);
      Var *v = result ? var_find(b->vars, result) : NULL;
      if (v != NULL) var_set(v, &value, &type, &error);
      int i = 0;
      for (Var *g = vars; g != NULL && i < n; g = g->next, i++) {
        v = outputs[i] ? var_find(b->vars, outputs[i]) : NULL;
        if (v != NULL) var_set(v, &g->val, &g->type, &error);
      }
      if (!b->c->attention) {
        token_return_status(b->c, status);
        token_done(b->c, DONEPROC, b->s->error != 0 ? DONE_ERROR : 0, 0xE0, 0);
      }
    }
  }
  var_free(vars);
}
