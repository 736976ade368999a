/*
** Statements: what each word at the beginning of one leads to, and those of control.
*/
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Queries ----------------------------------------------------------------------------------------*/

/* Whether an answer was kept for this very text; it is sent then. */
static bool replayed(Batch *b, int from) {
  if (b->c->server->replays == NULL || b->i <= from) return false;
  size_t at = b->t[from].from;
  int64_t rows = replay_send(b->c, b->text + at, b->t[b->i - 1].to - at);
  if (rows < 0) return false;
  b->s->rowcount = rows;
  if (!b->c->attention) done(b, DONE_COUNT, 0xC1, (uint64_t)rows);
  return true;
}

static void statement_select(Batch *b) {
  Query q = {0};
  Buf sql = {0};
  int64_t rows = 0;
  int from = b->i;
  parse_query(b, &sql, &q);
  SqlError error = {0};
  if (b->run && !b->failed && replayed(b, from)) {
    buf_free(&sql);
    return;
  }
  if (b->run && !b->failed && !engine_enter(b->s, q.into[0] != 0, &error)) {
    fail(b, error.number, error.severity, "%s", error.message);
  }
  if (b->run && !b->failed && q.into[0] != 0) {
    create_into(b, &q);
    buf_insert(&sql, 0, " ");
    Buf head = {0};
    buf_text(&head, "INSERT INTO ");
    quote(&head, q.into);
    buf_insert(&sql, 0, buf_string(&head));
    buf_free(&head);
    sqlite3_stmt *s = b->failed ? NULL : prepare(b, buf_string(&sql));
    if (s != NULL) {
      int code = sqlite3_step(s);
      if (code != SQLITE_DONE) {
        engine_error(b->s, code, &error);
        fail(b, error.number, error.severity, "%s", error.message);
      }
      rows = sqlite3_changes64(b->s->db);
    }
    kept_finish(b->s, s);
  } else if (b->run && !b->failed) {
    run_rows(b, buf_string(&sql), &q, &rows);
  }
  if (b->run && !b->failed && b->flow == FLOW_NEXT) {
    b->s->rowcount = rows;
    b->s->error = 0;
    done(b, DONE_COUNT, 0xC1, (uint64_t)rows);
  }
  buf_free(&sql);
}

/* WITH … SELECT, INSERT, UPDATE or DELETE. */
static void statement_with(Batch *b) {
  int depth = 0;
  for (int i = b->i; i < b->n; i++) {
    const Tok *t = &b->t[i];
    if (t->kind == L_OP && t->text[0] == '(') depth++;
    if (t->kind == L_OP && t->text[0] == ')') depth--;
    if (depth > 0) continue;
    if (is_word(t, "SELECT")) {
      statement_select(b);
      return;
    }
    if (is_word(t, "INSERT") || is_word(t, "UPDATE") || is_word(t, "DELETE")) break;
  }
  Buf with = {0};
  Rel *ctes = b->ctes;
  parse_with(b, &with);
  buf_string(&with);
  if (take_word(b, "INSERT")) {
    statement_insert(b, (char *)with.p);
  } else if (take_word(b, "UPDATE")) {
    statement_update(b, (char *)with.p);
  } else {
    need_word(b, "DELETE");
    statement_delete(b, (char *)with.p);
  }
  b->ctes = ctes;
  buf_free(&with);
}

/* Variables and settings -------------------------------------------------------------------------*/

bool take_value(Batch *b, Val *v, Type *type, Buf *space) {
  Buf sql = {0};
  Expr e;
  parse_value(b, &sql, &e);
  *type = e.type;
  bool ok = b->run && !b->failed && evaluate(b, buf_string(&sql), &e.type, v, space);
  buf_free(&sql);
  return ok;
}

static void statement_declare(Batch *b) {
  b->i++;
  do {
    Tok *name = peek(b);
    Type type = {0};
    if (name->kind != L_VAR) syntax(b);
    if (!b->failed) b->i++;
    take_word(b, "AS");
    take_type(b, &type);
    if (b->run && !b->failed && var_find(b->vars, name->text) == NULL) {
      Var *v = xmalloc(sizeof *v);
      snprintf(v->name, sizeof v->name, "%s", name->text);
      v->type = type;
      Var **tail = &b->vars;
      while (*tail != NULL) tail = &(*tail)->next;
      *tail = v;
    }
    if (take_op(b, "=")) {
      Val value;
      Type from;
      Buf space = {0};
      SqlError error = {0};
      if (take_value(b, &value, &from, &space))
        var_set(var_find(b->vars, name->text), &value, &from, &error);
      if (error.number != 0) fail(b, error.number, error.severity, "%s", error.message);
      buf_free(&space);
    }
  } while (take_op(b, ","));
}

static void set_variable(Batch *b) {
  Tok *name = peek(b);
  b->i++;
  need_op(b, "=");
  Val value;
  Type from;
  Buf space = {0};
  SqlError error = {0};
  if (take_value(b, &value, &from, &space)) {
    Var *v = var_find(b->vars, name->text);
    if (v == NULL) fail(b, 137, 15, "Must declare the scalar variable \"%s\".", name->text);
    if (v != NULL) var_set(v, &value, &from, &error);
    if (error.number != 0) fail(b, error.number, error.severity, "%s", error.message);
  }
  buf_free(&space);
}

static void set_isolation(Batch *b) {
  static const char *const levels[][2] = {{"READ", "UNCOMMITTED"},
                                          {"READ", "COMMITTED"},
                                          {"REPEATABLE", "READ"},
                                          {"SERIALIZABLE", NULL},
                                          {"SNAPSHOT", NULL}};
  need_word(b, "ISOLATION");
  need_word(b, "LEVEL");
  for (int i = 0; i < 5; i++) {
    if (!is_word(peek(b), levels[i][0])) continue;
    if (levels[i][1] != NULL && !is_word(peek_at(b, 1), levels[i][1])) continue;
    b->i += levels[i][1] != NULL ? 2 : 1;
    if (b->run) b->s->isolation = i + 1;
    return;
  }
  syntax(b);
}

static void statement_set(Batch *b) {
  b->i++;
  Session *s = b->s;
  if (peek(b)->kind == L_VAR) {
    set_variable(b);
    return;
  }
  if (take_word(b, "TRANSACTION")) {
    set_isolation(b);
  } else if (take_word(b, "LOCK_TIMEOUT")) {
    bool minus = take_op(b, "-");
    long n = strtol(peek(b)->text, NULL, 10);
    if (peek(b)->kind != L_NUMBER) syntax(b);
    b->i++;
    if (b->run) s->lock_timeout = minus ? -1 : (int)n;
  } else if (take_word(b, "IDENTITY_INSERT")) {
    char schema[130], name[130];
    take_table(b, schema, name);
    bool on = take_word(b, "ON");
    if (!on) need_word(b, "OFF");
    if (b->run) s->identity_insert = on;
  } else {
    /* Options: several may share one ON or OFF; those that mean nothing here are taken too. */
    static const char *const known[] = {"NOCOUNT",
                                        "XACT_ABORT",
                                        "ANSI_NULLS",
                                        "ANSI_PADDING",
                                        "ANSI_WARNINGS",
                                        "ANSI_NULL_DFLT_ON",
                                        "ARITHABORT",
                                        "CONCAT_NULL_YIELDS_NULL",
                                        "QUOTED_IDENTIFIER",
                                        "NUMERIC_ROUNDABORT",
                                        "CURSOR_CLOSE_ON_COMMIT",
                                        "IMPLICIT_TRANSACTIONS",
                                        "TEXTSIZE",
                                        "LANGUAGE",
                                        "DATEFORMAT",
                                        "DATEFIRST",
                                        "ROWCOUNT",
                                        "FMTONLY",
                                        "NOEXEC",
                                        "SHOWPLAN_ALL",
                                        "ANSI_DEFAULTS",
                                        "DEADLOCK_PRIORITY",
                                        "STATISTICS"};
    int from = b->i;
    do {
      size_t i = 0, n = sizeof known / sizeof *known;
      while (i < n && !is_word(peek(b), known[i])) i++;
      if (i == n) {
        fail(b, 195, 15, "'%.100s' is not a recognized SET option.", peek(b)->text);
        return;
      }
      b->i++;
    } while (take_op(b, ","));
    int end = b->i;
    bool on = is_word(peek(b), "ON");
    take_op(b, "-");
    b->i++;
    for (int i = from; b->run && i < end; i++) {
      if (is_word(&b->t[i], "NOCOUNT")) s->nocount = on;
      if (is_word(&b->t[i], "XACT_ABORT")) s->xact_abort = on;
      if (is_word(&b->t[i], "IMPLICIT_TRANSACTIONS")) s->implicit = on;
      if (is_word(&b->t[i], "ROWCOUNT") && peek_at(b, -1)->text[0] != '0')
        fail(b, 195, 15, "'ROWCOUNT' is not supported here.");
    }
  }
  if (b->run && !b->failed) done(b, 0, 0xF9, 0);
}

static void statement_use(Batch *b) {
  b->i++;
  const char *name = take_name(b);
  if (!b->run || b->failed) return;
  char old[129], text[200];
  SqlError error = {0};
  memcpy(old, b->s->database, sizeof old);
  if (b->s->trancount > 0) {
    fail(b, 226, 16, "USE statement not allowed within multi-statement transaction.");
  } else if (!engine_open(b->s, name, &error)) {
    fail(b, error.number, error.severity, "%s", error.message);
  } else {
    token_env_text(b->c, 1, b->s->database, old);
    snprintf(text, sizeof text, "Changed database context to '%s'.", b->s->database);
    token_info(b->c, 5701, 0, 2, text);
    done(b, 0, 0xE1, 0);
  }
}

/* Transactions -----------------------------------------------------------------------------------*/

/* A transaction's or savepoint's name: a word, or a variable's value. */
static const char *transaction_name(Batch *b) {
  static const char *const after[] = {
      "SELECT", "INSERT",    "UPDATE", "DELETE", "SET",     "IF",   "COMMIT",  "ROLLBACK", "SAVE",
      "BEGIN",  "END",       "EXEC",   "PRINT",  "DECLARE", "WITH", "RETURN",  "ELSE",     "WHILE",
      "THROW",  "RAISERROR", "CREATE", "DROP",   "ALTER",   "USE",  "WAITFOR", "TRUNCATE"};
  Tok *t = peek(b);
  if (t->kind == L_VAR) {
    b->i++;
    Var *v = var_find(b->vars, t->text);
    return v != NULL && v->val.tag == V_TEXT ? v->val.p : t->text;
  }
  if (t->kind != L_NAME && t->kind != L_QUOTED) return NULL;
  for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
    if (is_word(t, after[i])) return NULL;
  }
  b->i++;
  return t->text;
}

static bool take_tran(Batch *b) {
  return take_word(b, "TRANSACTION") || take_word(b, "TRAN") || take_word(b, "WORK");
}

static void statement_transaction(Batch *b) {
  static const struct {
    const char *word;
    unsigned command;
  } kinds[] = {{"BEGIN", 0xD4}, {"COMMIT", 0xD5}, {"ROLLBACK", 0xD2}, {"SAVE", 0xD6}};
  size_t kind = 0;
  while (kind < 3 && !at_word(b, kinds[kind].word)) kind++;
  b->i++;
  bool named = take_tran(b);
  if (!named && (kind == 0 || kind == 3)) syntax(b);
  const char *name = named ? transaction_name(b) : NULL;
  if (kind == 0 && take_word(b, "WITH")) {
    need_word(b, "MARK");
  }
  if (!b->run || b->failed) return;
  SqlError error = {0};
  bool ok = kind == 0   ? tran_begin(b->s, &error)
            : kind == 1 ? tran_commit(b->s, &error)
            : kind == 2 ? tran_rollback(b->s, name, &error)
                        : tran_save(b->s, name ? name : "", &error);
  if (!ok) {
    fail(b, error.number, error.severity, "%s", error.message);
  } else {
    done(b, 0, kinds[kind].command, 0);
  }
}

/* Control ----------------------------------------------------------------------------------------*/

static bool take_condition(Batch *b, bool *value) {
  Buf sql = {0}, space = {0};
  Type type = type_make(K_BIT, 0, 0, 0);
  Val v = {0};
  parse_condition(b, &sql);
  bool ok = b->run && !b->failed && evaluate(b, buf_string(&sql), &type, &v, &space);
  *value = v.tag == V_INT && v.i != 0;
  buf_free(&sql);
  buf_free(&space);
  return ok;
}

static void branch(Batch *b, bool run) {
  bool running = b->run;
  b->run = running && run;
  statement(b);
  b->run = running;
}

static void statement_if(Batch *b) {
  b->i++;
  bool value;
  bool known = take_condition(b, &value);
  if (b->failed) return;
  branch(b, known && value);
  if (b->failed || (b->run && b->flow != FLOW_NEXT)) return;
  int at = b->i;
  while (take_op(b, ";")) continue;
  if (!take_word(b, "ELSE")) {
    b->i = at;
    return;
  }
  branch(b, known && !value);
}

static void statement_while(Batch *b) {
  b->i++;
  int condition = b->i;
  for (;;) {
    bool value;
    b->i = condition;
    bool known = take_condition(b, &value);
    if (b->failed) return;
    branch(b, known && value);
    if (b->run && b->flow == FLOW_CONTINUE) b->flow = FLOW_NEXT;
    bool stop = b->failed || !b->run || !value || b->flow != FLOW_NEXT || msg_poll(b->c, 0);
    if (b->run && b->flow == FLOW_BREAK) b->flow = FLOW_NEXT;
    if (stop) break;
  }
  /* Behind the loop's body, from wherever BREAK was. */
  if (b->run && !b->failed) {
    bool value;
    b->i = condition;
    b->run = false;
    take_condition(b, &value);
    statement(b);
    b->run = true;
  }
}

/* BEGIN TRY … END TRY BEGIN CATCH … END CATCH, behind the first two words. */
static void statement_try(Batch *b) {
  Session *s = b->s;
  int from = b->i;
  bool running = b->run;
  b->run = false; /* finds the ends first */
  run_block(b);
  need_word(b, "END");
  need_word(b, "TRY");
  take_op(b, ";");
  need_word(b, "BEGIN");
  need_word(b, "CATCH");
  int catch = b->i;
  run_block(b);
  need_word(b, "END");
  need_word(b, "CATCH");
  int end = b->i;
  b->run = running;
  if (!running || b->failed) return;
  b->i = from;
  b->try_depth++;
  run_block(b);
  b->try_depth--;
  if (b->failed && b->error.severity < 20) {
    SqlError outer = s->caught;
    bool was_in = s->in_catch;
    s->caught = b->error;
    s->error = b->error.number;
    s->in_catch = true;
    if (s->trancount > 0 && (s->xact_abort || b->error.number == 1205 || b->error.number == 3960))
      s->doomed = true;
    b->failed = false;
    b->flow = FLOW_NEXT;
    b->i = catch;
    run_block(b);
    s->caught = outer;
    s->in_catch = was_in;
  }
  if (!b->failed) b->i = end;
}

static void statement_begin(Batch *b) {
  Tok *next = peek_at(b, 1);
  if (is_word(next, "TRAN") || is_word(next, "TRANSACTION")) {
    statement_transaction(b);
  } else if (is_word(next, "TRY")) {
    b->i += 2;
    statement_try(b);
  } else {
    b->i++;
    run_block(b);
    if (!b->failed && b->flow == FLOW_NEXT) need_word(b, "END");
  }
}

static void statement_return(Batch *b) {
  b->i++;
  Tok *t = peek(b);
  bool value = t->kind == L_NUMBER || t->kind == L_VAR ||
               (t->kind == L_OP && (t->text[0] == '-' || t->text[0] == '('));
  if (value) {
    Val v;
    Type type;
    Buf space = {0};
    if (take_value(b, &v, &type, &space) && v.tag == V_INT) b->status = (int32_t)v.i;
    buf_free(&space);
  }
  if (b->run) b->flow = FLOW_RETURN;
}

static void statement_break(Batch *b) {
  b->i++;
  if (b->run) b->flow = FLOW_BREAK;
}

static void statement_continue(Batch *b) {
  b->i++;
  if (b->run) b->flow = FLOW_CONTINUE;
}

/* CHECKPOINT, RECONFIGURE, DBCC …: taken, with no effect. */
static void statement_nothing(Batch *b) {
  b->i++;
  while (!b->failed && !at_op(b, ";") && peek(b)->kind != L_END &&
         peek(b)->line == peek_at(b, -1)->line)
    b->i++;
  if (b->run) done(b, 0, 0xFD, 0);
}

static void insert_(Batch *b) {
  b->i++;
  if (at_word(b, "BULK")) {
    statement_bulk(b);
  } else {
    statement_insert(b, "");
  }
}

static void update_(Batch *b) {
  b->i++;
  statement_update(b, "");
}

static void delete_(Batch *b) {
  b->i++;
  statement_delete(b, "");
}

/* One row a word.  A compound statement contains others; `data` marks those that touch tables. */
static const struct {
  const char *word;
  void (*run)(Batch *);
  bool compound, data, writes;
} statements[] = {
    {"SELECT", statement_select, false, true, false},
    {"WITH", statement_with, false, true, false},
    {"INSERT", insert_, false, true, true},
    {"UPDATE", update_, false, true, true},
    {"DELETE", delete_, false, true, true},
    {"TRUNCATE", statement_truncate, false, true, true},
    {"CREATE", statement_create, false, true, true},
    {"DROP", statement_drop, false, true, true},
    {"ALTER", statement_alter, false, true, true},
    {"EXEC", statement_exec, false, false, false},
    {"EXECUTE", statement_exec, false, false, false},
    {"DECLARE", statement_declare, false, false, false},
    {"SET", statement_set, false, false, false},
    {"USE", statement_use, false, false, false},
    {"PRINT", statement_print, false, false, false},
    {"RAISERROR", statement_raiserror, false, false, false},
    {"THROW", statement_throw, false, false, false},
    {"WAITFOR", statement_waitfor, false, false, false},
    {"COMMIT", statement_transaction, false, false, false},
    {"ROLLBACK", statement_transaction, false, false, false},
    {"SAVE", statement_transaction, false, false, false},
    {"RETURN", statement_return, false, false, false},
    {"BREAK", statement_break, false, false, false},
    {"CONTINUE", statement_continue, false, false, false},
    {"CHECKPOINT", statement_nothing, false, false, false},
    {"DBCC", statement_nothing, false, false, false},
    {"BEGIN", statement_begin, true, false, false},
    {"IF", statement_if, true, false, false},
    {"WHILE", statement_while, true, false, false},
};

/* A simple statement is read over first, to know where it ends should it fail. */
static void simple(Batch *b, void (*run)(Batch *), bool data, bool writes) {
  int from = b->i;
  b->run = false;
  run(b);
  int end = b->i;
  b->run = true;
  b->i = from;
  if (b->failed) return;
  if (data && b->c->fault.deadlock > 0) {
    b->c->fault.deadlock--;
    fail(b, 1205, 13,
         "Transaction (Process ID %u) was deadlocked on lock resources with another process and "
         "has been chosen as the deadlock victim. Rerun the transaction.",
         b->c->spid);
  } else if (writes && b->s->doomed) {
    fail(b, 3930, 16,
         "The current transaction cannot be committed and cannot support operations that write to "
         "the log file. Roll back the transaction.");
  } else {
    SqlError error;
    if (data && b->s->implicit && b->s->trancount == 0) tran_begin(b->s, &error);
    run(b);
  }
  if (b->failed) b->i = end;
}

static void bare_exec(Batch *b) {
  b->i--;
  statement_exec(b);
}

void statement(Batch *b) {
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    if (!at_word(b, statements[i].word)) continue;
    if (b->run && !statements[i].compound) {
      simple(b, statements[i].run, statements[i].data, statements[i].writes);
    } else {
      statements[i].run(b);
    }
    return;
  }
  /* The first statement of a batch may be a procedure's name alone. */
  if (b->i == 0 && (peek(b)->kind == L_NAME || peek(b)->kind == L_QUOTED) && b->t[0].text[0] != 0) {
    Tok *next = peek_at(b, 1);
    if (strncasecmp(peek(b)->text, "sp_", 3) == 0 || next->kind == L_END ||
        next->kind == L_STRING || next->kind == L_VAR) {
      if (b->run) {
        simple(b, bare_exec, false, false);
      } else {
        bare_exec(b);
      }
      return;
    }
  }
  syntax(b);
}
