/*
** A batch: its tokens, variables and errors, and the loop over its statements.
**
** The whole batch is read over once before anything runs, so that an error of syntax stops all of it,
** as SQL Server does.  While something runs, each simple statement is read over first to know where
** it ends, so that the batch goes on behind one that failed.
*/
#include "session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void *batch_alloc(Batch *b, size_t n) {
  if (b->owned_n == b->owned_room) {
    b->owned_room = b->owned_room ? 2 * b->owned_room : 32;
    b->owned = realloc(b->owned, (size_t)b->owned_room * sizeof *b->owned);
    if (b->owned == NULL) abort();
  }
  return b->owned[b->owned_n++] = xmalloc(n);
}

void fail(Batch *b, int number, int severity, const char *format, ...) {
  if (b->failed) return;
  b->failed = true;
  b->error.number = number;
  b->error.severity = severity;
  b->error.state = 1;
  b->error.line = peek(b)->line;
  va_list list;
  va_start(list, format);
  vsnprintf(b->error.message, sizeof b->error.message, format, list);
  va_end(list);
}

void syntax(Batch *b) {
  Tok *t = peek(b);
  if (t->kind == L_END) {
    Tok *last = b->n > 0 ? &b->t[b->n - 1] : t;
    fail(b, 102, 15, "Incorrect syntax near '%.100s'.", last->text);
  } else {
    fail(b, 102, 15, "Incorrect syntax near '%.100s'.", t->text);
  }
}

/* Tokens -----------------------------------------------------------------------------------------*/

Tok *peek_at(Batch *b, int ahead) { return &b->t[b->i + ahead < b->n ? b->i + ahead : b->n]; }

/* After a failure there is nothing more to read. */
Tok *peek(Batch *b) { return &b->t[b->i < b->n ? b->i : b->n]; }

bool is_word(const Tok *t, const char *word) {
  return t->kind == L_NAME && strcasecmp(t->text, word) == 0;
}
bool at_word(Batch *b, const char *word) { return !b->failed && is_word(peek(b), word); }

bool at_op(Batch *b, const char *op) {
  return !b->failed && peek(b)->kind == L_OP && strcmp(peek(b)->text, op) == 0;
}

bool take_word(Batch *b, const char *word) {
  if (!at_word(b, word)) return false;
  b->i++;
  return true;
}

bool take_op(Batch *b, const char *op) {
  if (!at_op(b, op)) return false;
  b->i++;
  return true;
}

void need_word(Batch *b, const char *word) {
  if (!take_word(b, word)) syntax(b);
}

void need_op(Batch *b, const char *op) {
  if (!take_op(b, op)) syntax(b);
}

const char *take_name(Batch *b) {
  Tok *t = peek(b);
  if (b->failed || (t->kind != L_NAME && t->kind != L_QUOTED)) {
    syntax(b);
    return "";
  }
  b->i++;
  if (t->n > 128)
    fail(b, 103, 15, "The identifier that starts with '%.100s' is too long. Maximum length is 128.",
         t->text);
  return b->failed ? "" : t->text;
}

void take_table(Batch *b, char schema[130], char name[130]) {
  char database[130] = "";
  schema[0] = 0;
  snprintf(name, 130, "%s", take_name(b));
  while (take_op(b, ".")) {
    memcpy(database, schema, 130);
    memcpy(schema, name, 130);
    if (at_op(b, ".")) {
      name[0] = 0; /* database..table */
    } else {
      snprintf(name, 130, "%s", take_name(b));
    }
  }
  if (database[0] != 0 && strcasecmp(database, b->s->database) != 0 && b->run) {
    fail(b, 208, 16, "Invalid object name '%s.%s.%s'.", database, schema, name);
  }
  if (schema[0] == 0) snprintf(schema, 130, "dbo");
}

void take_type(Batch *b, Type *t) {
  char text[200];
  const char *name = take_name(b);
  if (take_op(b, ".")) name = take_name(b); /* sys.hierarchyid */
  if (strcasecmp(name, "double") == 0 && take_word(b, "precision")) name = "double precision";
  size_t n = (size_t)snprintf(text, sizeof text, "%s", name);
  if (take_op(b, "(")) {
    n += (size_t)snprintf(text + n, sizeof text - n, "(");
    while (!b->failed && !at_op(b, ")")) {
      if (peek(b)->kind == L_END || n > 150) {
        syntax(b);
        break;
      }
      n += (size_t)snprintf(text + n, sizeof text - n, "%.20s", peek(b)->text);
      b->i++;
    }
    need_op(b, ")");
    snprintf(text + n, sizeof text - n, ")");
  }
  if (!b->failed && !type_parse(text, t)) {
    b->i--;
    fail(b, 2715, 16, "Column, parameter, or variable: Cannot find data type %s.", text);
  }
  if (take_word(b, "COLLATE")) {
    const char *collation = take_name(b);
    t->collation = collation_find(collation);
    if (t->collation == NULL) fail(b, 448, 16, "Invalid collation '%s'.", collation);
  }
}

void quote(Buf *out, const char *name) {
  buf_u8(out, '"');
  for (; *name != 0; name++) {
    if (*name == '"') buf_u8(out, '"');
    buf_u8(out, (unsigned char)*name);
  }
  buf_u8(out, '"');
}

void quote_text(Buf *out, const char *text, size_t n) {
  if (memchr(text, 0, n) != NULL) { /* SQLite's literals end at a NUL */
    buf_text(out, "CAST(x'");
    for (size_t i = 0; i < n; i++) buf_printf(out, "%02x", (unsigned char)text[i]);
    buf_text(out, "' AS TEXT)");
    return;
  }
  buf_u8(out, '\'');
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\'') buf_u8(out, '\'');
    buf_u8(out, (unsigned char)text[i]);
  }
  buf_u8(out, '\'');
}

/* Variables --------------------------------------------------------------------------------------*/

Var *var_find(Var *vars, const char *name) {
  for (Var *v = vars; v != NULL; v = v->next) {
    if (strcasecmp(v->name, name) == 0) return v;
  }
  return NULL;
}

void var_set(Var *v, const Val *value, const Type *from, SqlError *error) {
  Buf space = {0}, kept = {0};
  Val out;
  if (!convert(value, from, &v->type, 0, &space, &out, error)) {
    buf_free(&space);
    return;
  }
  if (out.tag == V_TEXT || out.tag == V_BLOB) {
    buf_add(&kept, out.p, out.n);
    out.p = buf_string(&kept);
  }
  buf_free(&space);
  buf_free(&v->space);
  v->space = kept;
  v->val = out;
}

void var_free(Var *vars) {
  while (vars != NULL) {
    Var *next = vars->next;
    buf_free(&vars->space);
    free(vars);
    vars = next;
  }
}

static void add_var(Var **vars, const char *name, const Type *type, bool output, int ordinal) {
  Var *v = xmalloc(sizeof *v);
  snprintf(v->name, sizeof v->name, "%s", name);
  v->type = *type;
  v->output = output;
  v->ordinal = ordinal;
  while (*vars != NULL) vars = &(*vars)->next;
  *vars = v;
}

bool var_declare(Session *s, const char *declarations, size_t n, Var **vars, SqlError *error) {
  Batch b = {.s = s, .c = s->c, .text = declarations};
  int ordinal = 0;
  b.n = lex(declarations, n, &b.t, error);
  if (b.n < 0) return false;
  while (b.i < b.n && !b.failed) {
    Tok *name = peek(&b);
    Type type = {0};
    if (name->kind != L_VAR) syntax(&b);
    b.i++;
    take_word(&b, "AS");
    take_type(&b, &type);
    bool output = take_word(&b, "OUTPUT") || take_word(&b, "OUT");
    if (!b.failed) add_var(vars, name->text, &type, output, ordinal++);
    if (b.i < b.n) need_op(&b, ",");
  }
  lex_free(b.t, b.n + 1);
  if (b.failed) *error = b.error;
  return !b.failed;
}

/* Running ----------------------------------------------------------------------------------------*/

void done(Batch *b, unsigned status, unsigned command, uint64_t count) {
  if (b->s->nocount && command != 0xC1 && b->in_proc && !(status & DONE_ERROR)) return;
  if (b->s->nocount) status &= ~(unsigned)DONE_COUNT;
  token_done(b->c, b->in_proc ? DONEINPROC : DONE, status, command, count);
}

/* Errors after which the batch does not go on. */
static bool ends_batch(const Batch *b) {
  switch (b->error.number) {
  case 102:
  case 105:
  case 113:
  case 137:
  case 207:
  case 208:
  case 241:
  case 242:
  case 245:
  case 1205:
  case 2715:
  case 3930:
  case 3960:
  case 8114:
  case 8115:
  case 8169:
  case 42204:
    return true;
  default:
    return b->error.severity >= 17 || b->s->xact_abort;
  }
}

/* Tells the error of a statement that failed, and what it means for the transaction. */
static void report(Batch *b) {
  Session *s = b->s;
  SqlError ignored;
  s->error = b->error.number;
  bool lost = b->error.number == 1205 || b->error.number == 3960;
  bool ends = ends_batch(b);
  if (s->trancount > 0 && (lost || (s->xact_abort && b->error.number != 1222))) {
    tran_rollback(s, NULL, &ignored);
  }
  token_error(b->c, &b->error, NULL);
  done(b, DONE_ERROR, 0xFD, 0);
  b->failed = false;
  if (ends) b->flow = FLOW_ABORT;
}

static bool at_block_end(Batch *b) {
  return peek(b)->kind == L_END || (at_word(b, "END") && b->nesting >= 0);
}

void run_block(Batch *b) {
  while (!b->failed && b->flow == FLOW_NEXT && !at_block_end(b)) {
    if (take_op(b, ";")) continue;
    statement(b);
    if (b->run && b->failed && b->try_depth == 0) report(b);
    if (b->run && (b->c->attention || b->c->dead)) b->flow = FLOW_ABORT;
  }
}

void batch_run(Session *s, const char *text, size_t n, Var *vars, bool in_proc, int nesting,
               int32_t *status) {
  Batch b = {.s = s, .c = s->c, .text = text, .vars = vars, .in_proc = in_proc, .nesting = nesting};
  Var own = {.next = NULL};
  b.n = lex(text, n, &b.t, &b.error);
  if (b.n < 0) {
    token_error(s->c, &b.error, NULL);
    done(&b, DONE_ERROR, 0xFD, 0);
    *status = -6;
    return;
  }
  /* Variables that the batch declares are put behind the caller's, and taken away again. */
  Var **tail = vars ? &vars->next : &own.next;
  if (vars != NULL) {
    while (*tail != NULL) tail = &(*tail)->next;
  } else {
    b.vars = &own;
  }
  run_block(&b);
  if (!b.failed && b.i < b.n) syntax(&b);
  if (b.failed) {
    token_error(s->c, &b.error, NULL);
    done(&b, DONE_ERROR, 0xFD, 0);
    s->error = b.error.number;
    b.status = -6;
  } else {
    b.i = 0;
    b.flow = FLOW_NEXT;
    b.run = true;
    run_block(&b);
    if (b.flow == FLOW_ABORT) b.status = -6;
  }
  var_free(*tail);
  *tail = NULL;
  *status = b.status;
  for (int i = 0; i < b.owned_n; i++) free(b.owned[i]);
  free(b.owned);
  lex_free(b.t, b.n + 1);
}
