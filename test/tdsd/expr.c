/*
** Expressions: read as T-SQL, written as SQLite's, with the type that SQL Server would give them.
**
** Each function appends SQL to `out` and fills in an Expr.  Where a conversion must go around what
** was written already, wrap_cast inserts it.
*/
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void insert_type(Buf *text, const Type *t) {
  char name[64];
  type_print(t, name, sizeof name);
  buf_printf(text, "'%s", name);
  if (t->collation != NULL) buf_printf(text, " COLLATE %s", t->collation->name);
  buf_text(text, "'");
}

void wrap_cast(Buf *out, size_t at, const Type *from, const Type *to, int style, bool try) {
  Buf tail = {0};
  buf_insert(out, at, "tds_cast(");
  buf_text(&tail, ",");
  insert_type(&tail, from);
  buf_text(&tail, ",");
  insert_type(&tail, to);
  buf_printf(&tail, ",%d,%d)", style, try ? 1 : 0);
  buf_add(out, tail.p, tail.n);
  buf_free(&tail);
}

const char *collation_of(const Type *t) {
  switch (type_class(t)) {
  case C_DECIMAL:
    return "TDS_DEC";
  case C_TIME:
    return "TDS_TIME";
  case C_GUID:
    return "TDS_GUID";
  case C_TEXT: {
    const Collation *c = t->collation ? t->collation : collation_default();
    if (c->binary) return type_is_unicode(t->kind) ? "TDS_UNITS" : "TDS_BIN";
    if (!c->ignore_case) return "TDS_CS";
    return c->ignore_accent ? "TDS_AI" : "TDS_CI";
  }
  default:
    return "BINARY";
  }
}

/* Columns ----------------------------------------------------------------------------------------*/

static const Column *rel_column(const Rel *r, const char *name) {
  for (int i = 0; i < r->n; i++) {
    if (strcasecmp(r->columns[i].name, name) == 0) return &r->columns[i];
  }
  return NULL;
}

static bool names_rel(const Rel *r, const char *table) {
  const char *bare = strrchr(r->name, '.');
  return strcasecmp(r->alias, table) == 0 ||
         (r->alias[0] == 0 && bare != NULL && strcasecmp(bare + 1, table) == 0);
}

static void write_column(Buf *out, Expr *e, const Rel *r, const Column *k) {
  e->type = k->type;
  e->nullable = k->nullable;
  e->column = true;
  e->origin = k;
  if (!r->bare) {
    quote(out, r->alias);
    buf_u8(out, '.');
  }
  quote(out, k->name);
}

/* `a`, `t.a`, `s.t.a`; the last part is the column. */
static void parse_column(Batch *b, Buf *out, Expr *e) {
  char part[4][130] = {{0}};
  int n = 0;
  do {
    snprintf(part[n++], 130, "%s", take_name(b));
  } while (n < 4 && take_op(b, "."));
  const char *name = part[n - 1], *table = n > 1 ? part[n - 2] : NULL;
  memcpy(e->name, part[n - 1], sizeof e->name);
  e->nullable = true;
  if (b->failed || !b->run) {
    buf_text(out, "NULL");
    return;
  }
  for (Scope *s = b->scope; s != NULL; s = s->outer) {
    for (Rel *r = s->rels; r != NULL; r = r->next) {
      if (table != NULL && !names_rel(r, table)) continue;
      const Column *k = rel_column(r, name);
      if (k == NULL) continue;
      write_column(out, e, r, k);
      return;
    }
  }
  b->i--;
  if (table != NULL) {
    fail(b, 4104, 16, "The multi-part identifier \"%s.%s\" could not be bound.", table, name);
  } else {
    fail(b, 207, 16, "Invalid column name '%s'.", name);
  }
}

/* Literals and variables -------------------------------------------------------------------------*/

static void write_number(Buf *out, Expr *e, const char *text) {
  if (strpbrk(text, "eE") != NULL) {
    e->type = type_make(K_FLOAT, 0, 0, 0);
    char number[40];
    snprintf(number, sizeof number, "%.17g", strtod(text, NULL));
    buf_printf(out, "%s%s", number, strchr(number, 'e') != NULL ? "" : "e0");
    return;
  }
  Decimal d = {0};
  decimal_parse(text, strlen(text), &d);
  char digits[64];
  decimal_print(&d, digits);
  if (d.scale == 0 && strchr(text, '.') == NULL && d.magnitude <= INT32_MAX) {
    e->type = type_make(K_INT, 0, 0, 0);
    buf_text(out, digits);
    return;
  }
  int precision = decimal_digits(&d);
  if (precision < d.scale) precision = d.scale;
  e->type = type_make(K_NUMERIC, 0, precision, d.scale);
  if (d.scale == 0 && d.magnitude <= INT64_MAX) {
    buf_text(out, digits);
  } else {
    buf_printf(out, "'%s'", digits);
  }
}

static size_t units(const Tok *t) {
  size_t n = 0;
  for (size_t i = 0; i < t->n; i++)
    n += (t->text[i] & 0xC0) != 0x80 ? ((uint8_t)t->text[i] >= 0xF0 ? 2 : 1) : 0;
  return n == 0 ? 1 : n;
}

static void write_string(Batch *b, Buf *out, Expr *e, const Tok *t) {
  size_t n = units(t);
  bool wide = t->kind == L_NSTRING;
  e->type = type_make(wide ? K_NVARCHAR : K_VARCHAR, n > (wide ? 4000 : 8000) ? -1 : (int)n, 0, 0);
  size_t at = out->n;
  quote_text(out, t->text, t->n);
  if (wide) return;
  /* A literal without N loses what the code page lacks. */
  bool ascii = true;
  for (size_t i = 0; i < t->n; i++) ascii &= (t->text[i] & 0x80) == 0;
  Type from = type_make(K_NVARCHAR, -1, 0, 0);
  if (!ascii && b->run) wrap_cast(out, at, &from, &e->type, 0, false);
}

static void write_global(Batch *b, Buf *out, Expr *e, const char *name) {
  Session *s = b->s;
  const struct {
    const char *name;
    Kind kind;
    int64_t value;
    bool null;
  } globals[] = {
      {"@@ROWCOUNT", K_INT, s->rowcount, false},
      {"@@TRANCOUNT", K_INT, s->trancount, false},
      {"@@SPID", K_SMALLINT, s->c->spid, false},
      {"@@ERROR", K_INT, s->error, false},
      {"@@NESTLEVEL", K_INT, b->nesting, false},
      {"@@LOCK_TIMEOUT", K_INT, s->lock_timeout, false},
      {"@@MAX_PRECISION", K_TINYINT, 38, false},
      {"@@OPTIONS", K_INT, s->xact_abort ? 16384 + 5496 : 5496, false},
      {"@@DATEFIRST", K_TINYINT, 7, false},
      {"@@TEXTSIZE", K_INT, INT32_MAX, false},
      {"@@MICROSOFTVERSION", K_INT, 0x10000000, false},
      {"@@FETCH_STATUS", K_INT, -1, false},
  };
  for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
    if (strcasecmp(name, globals[i].name) != 0) continue;
    e->type = type_make(globals[i].kind, 0, 0, 0);
    buf_printf(out, "%" PRId64, globals[i].value);
    return;
  }
  static const struct {
    const char *name, *value;
  } texts[] = {
      {"@@VERSION", "Microsoft SQL Server 2022 (RTM) - 16.0.1000.6 (X64) tdsd, a test server"},
      {"@@SERVERNAME", "tdsd"},
      {"@@SERVICENAME", "MSSQLSERVER"},
      {"@@LANGUAGE", "us_english"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (strcasecmp(name, texts[i].name) != 0) continue;
    e->type = type_make(K_NVARCHAR, i == 0 ? 300 : 128, 0, 0);
    quote_text(out, texts[i].value, strlen(texts[i].value));
    return;
  }
  if (strcasecmp(name, "@@IDENTITY") == 0) {
    e->type = type_make(K_NUMERIC, 0, 38, 0);
    e->nullable = true;
    if (s->has_identity) {
      buf_printf(out, "%" PRId64, s->identity);
    } else {
      buf_text(out, "NULL");
    }
    return;
  }
  b->i--;
  fail(b, 137, 15, "Must declare the scalar variable \"%s\".", name);
}

void variable_name(Buf *out, const char *name) {
  buf_text(out, "@");
  for (const char *p = name + 1; *p != 0; p++) {
    bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
    if (plain) {
      buf_u8(out, (unsigned char)*p);
    } else {
      buf_printf(out, "_%02x_", (unsigned char)*p);
    }
  }
}

static void write_variable(Batch *b, Buf *out, Expr *e, const char *name) {
  if (strncmp(name, "@@", 2) == 0) {
    write_global(b, out, e, name);
    return;
  }
  e->nullable = true;
  if (!b->run) {
    buf_text(out, "NULL");
    return;
  }
  Var *v = var_find(b->vars, name);
  if (v == NULL) {
    b->i--;
    fail(b, 137, 15, "Must declare the scalar variable \"%s\".", name);
    return;
  }
  e->type = v->type;
  variable_name(out, v->name); /* bound when the statement is prepared */
}

/* Primaries --------------------------------------------------------------------------------------*/

void parse_subquery(Batch *b, Buf *out, Expr *e) {
  Query q = {0};
  parse_query(b, out, &q);
  check_unordered(b, &q);
  need_op(b, ")");
  buf_u8(out, ')');
  if (q.n > 0) e->type = q.columns[0].type;
  e->nullable = true;
}

static void parse_case(Batch *b, Buf *out, Expr *e) {
  Type type = {.kind = K_NONE};
  buf_text(out, "CASE ");
  Buf operand = {0};
  bool simple = !at_word(b, "WHEN");
  if (simple) {
    Expr what = {0};
    parse_value(b, &operand, &what);
    buf_text(out, buf_string(&operand));
    if (type_class(&what.type) != C_INT && !what.column)
      buf_printf(out, " COLLATE %s", collation_of(&what.type));
  }
  buf_free(&operand);
  while (take_word(b, "WHEN")) {
    Expr arm = {0};
    buf_text(out, " WHEN ");
    if (simple) {
      parse_value(b, out, &arm);
    } else {
      parse_condition(b, out);
    }
    need_word(b, "THEN");
    buf_text(out, " THEN ");
    arm = (Expr){0};
    parse_value(b, out, &arm);
    type = type_combine(&type, &arm.type);
  }
  if (take_word(b, "ELSE")) {
    Expr arm = {0};
    buf_text(out, " ELSE ");
    parse_value(b, out, &arm);
    type = type_combine(&type, &arm.type);
  }
  need_word(b, "END");
  buf_text(out, " END");
  e->type = type;
  e->nullable = true;
}

/* CAST and TRY_CAST (x AS type); CONVERT and TRY_CONVERT (type, x[, style]). */
static bool parse_cast(Batch *b, Buf *out, Expr *e) {
  Tok *t = peek(b);
  bool try = strncasecmp(t->text, "TRY_", 4) == 0;
  const char *name = t->text + (try ? 4 : 0);
  bool cast = strcasecmp(name, "CAST") == 0;
  if (!cast && strcasecmp(name, "CONVERT") != 0) return false;
  b->i++;
  need_op(b, "(");
  Type to = {0};
  Expr in = {0};
  long style = 0;
  if (!cast) {
    take_type(b, &to);
    need_op(b, ",");
  }
  size_t at = out->n;
  parse_value(b, out, &in);
  if (cast) {
    need_word(b, "AS");
    take_type(b, &to);
  } else if (take_op(b, ",")) {
    style = strtol(peek(b)->text, NULL, 10);
    if (peek(b)->kind != L_NUMBER) syntax(b);
    b->i++;
  }
  need_op(b, ")");
  /* CAST AS varchar without a length means 30 characters. */
  bool sized = b->t[b->i - 2].kind == L_OP;
  if (!sized && cast &&
      (to.kind == K_VARCHAR || to.kind == K_NVARCHAR || to.kind == K_CHAR || to.kind == K_NCHAR ||
       to.kind == K_VARBINARY || to.kind == K_BINARY) &&
      to.length == 1)
    to.length = 30;
  if (to.collation == NULL && type_class(&to) == C_TEXT) to.collation = in.type.collation;
  wrap_cast(out, at, &in.type, &to, (int)style, try);
  e->type = to;
  e->nullable = true;
  return true;
}

static void parse_primary(Batch *b, Buf *out, Expr *e) {
  Tok *t = peek(b);
  *e = (Expr){0};
  switch (b->failed ? L_END : t->kind) {
  case L_NUMBER:
    b->i++;
    write_number(out, e, t->text);
    return;
  case L_STRING:
  case L_NSTRING:
    b->i++;
    write_string(b, out, e, t);
    return;
  case L_BYTES:
    b->i++;
    e->type = type_make(K_VARBINARY, t->n < 2 ? 1 : (int)(t->n + 1) / 2, 0, 0);
    if (e->type.length > 8000) e->type.length = -1;
    buf_printf(out, "x'%s%s'", t->n % 2 ? "0" : "", t->text);
    return;
  case L_VAR:
    b->i++;
    write_variable(b, out, e, t->text);
    return;
  case L_OP:
    if (take_op(b, "(")) {
      buf_u8(out, '(');
      if (at_word(b, "SELECT") || at_word(b, "WITH")) {
        parse_subquery(b, out, e);
        return;
      }
      parse_value(b, out, e);
      e->column = false;
      need_op(b, ")");
      buf_u8(out, ')');
      return;
    }
    break;
  case L_QUOTED:
  case L_NAME:
    if (is_word(t, "NULL")) {
      b->i++;
      buf_text(out, "NULL");
      e->nullable = true;
      return;
    }
    if (take_word(b, "CASE")) {
      parse_case(b, out, e);
      return;
    }
    if (t->kind == L_NAME && peek_at(b, 1)->kind == L_OP && peek_at(b, 1)->text[0] == '(' &&
        parse_cast(b, out, e))
      return;
    if (t->kind == L_NAME && parse_function(b, out, e, t->text)) return;
    static const char *const reserved[] = {
        "FROM", "WHERE", "GROUP",   "ORDER", "SELECT", "AND",    "OR",    "ON",     "THEN",
        "WHEN", "END",   "ELSE",    "AS",    "SET",    "VALUES", "UNION", "HAVING", "BEGIN",
        "INTO", "TABLE", "BETWEEN", "IN",    "LIKE",   "IS",     "NOT"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
      if (is_word(t, reserved[i])) {
        fail(b, 156, 15, "Incorrect syntax near the keyword '%s'.", t->text);
        return;
      }
    }
    parse_column(b, out, e);
    return;
  default:
    break;
  }
  syntax(b);
}

/* Arithmetic -------------------------------------------------------------------------------------*/

static void as_decimal(Type *t) {
  Type none = type_make(K_DECIMAL, 0, 1, 0);
  if (type_class(t) == C_INT) *t = type_combine(t, &none);
  if (t->kind == K_MONEY || t->kind == K_SMALLMONEY) *t = type_make(K_DECIMAL, 0, 19, 4);
}

/* The precision and scale of a result, as documented for SQL Server. */
static Type decimal_result(char op, Type a, Type b) {
  if (a.kind == K_MONEY && b.kind == K_MONEY) return a;
  as_decimal(&a);
  as_decimal(&b);
  int p1 = a.precision, s1 = a.scale, p2 = b.precision, s2 = b.scale, p, s;
  int whole = p1 - s1 > p2 - s2 ? p1 - s1 : p2 - s2, max = s1 > s2 ? s1 : s2;
  if (op == '*') {
    p = p1 + p2 + 1;
    s = s1 + s2;
  } else if (op == '/') {
    s = s1 + p2 + 1 > 6 ? s1 + p2 + 1 : 6;
    p = p1 - s1 + s2 + s;
  } else {
    p = whole + max + 1;
    s = max;
  }
  if (p > 38) {
    int integral = p - s;
    s = integral < 32 ? (38 - integral < s ? 38 - integral : s) : s > 6 ? 6 : s;
    p = 38;
  }
  return type_make(K_DECIMAL, 0, p, s);
}

static void combine(Batch *b, Buf *out, size_t at, size_t middle, char op, Expr *left,
                    Expr *right) {
  Type type = type_combine(&left->type, &right->type);
  Class class = type_class(&type);
  Expr e = {.type = type,
            .nullable = left->nullable || right->nullable,
            .aggregate = left->aggregate || right->aggregate};
  if (op == '+' && (class == C_TEXT || class == C_BYTES)) {
    if (type.length > 0) {
      int sum = left->type.length + right->type.length;
      e.type.length = left->type.length < 0 || right->type.length < 0 ||
                              sum > (type_is_unicode(type.kind) ? 4000 : 8000)
                          ? (type_is_unicode(type.kind) ? 4000 : 8000)
                          : sum;
    }
    if (e.type.kind == K_CHAR) e.type.kind = K_VARCHAR;
    if (e.type.kind == K_NCHAR) e.type.kind = K_NVARCHAR;
    buf_insert(out, middle, class == C_BYTES ? "," : "||");
    buf_insert(out, at, class == C_BYTES ? "tds_bytes_add(" : "(");
    buf_u8(out, ')');
    *left = e;
    return;
  }
  if (type.kind == K_DATETIME && (op == '+' || op == '-')) { /* days may be added */
    char tail[32];
    snprintf(tail, sizeof tail, ",'%c')", op);
    buf_insert(out, middle, ",");
    buf_insert(out, at, "tds_days_add(");
    buf_text(out, tail);
    *left = e;
    return;
  }
  if (class != C_INT && class != C_REAL && class != C_DECIMAL && type.kind != K_NONE) {
    fail(b, 402, 16, "The data types %s and %s are incompatible in the %s operator.",
         type_name(&left->type), type_name(&right->type),
         op == '+'   ? "add"
         : op == '-' ? "subtract"
         : op == '*' ? "multiply"
                     : "divide");
    return;
  }
  if (class == C_DECIMAL) e.type = decimal_result(op, left->type, right->type);
  if (type.kind == K_BIT) e.type.kind = K_INT;
  Buf head = {0}, tail = {0};
  buf_printf(&head, "tds_arith('%c',", op);
  buf_text(&tail, ",");
  insert_type(&tail, &e.type);
  buf_text(&tail, ")");
  buf_insert(out, middle, ",");
  buf_insert(out, at, buf_string(&head));
  buf_add(out, tail.p, tail.n);
  buf_free(&head);
  buf_free(&tail);
  *left = e;
}

static void parse_unary(Batch *b, Buf *out, Expr *e) {
  if (take_op(b, "+")) {
    parse_unary(b, out, e);
    return;
  }
  bool minus = take_op(b, "-"), invert = !minus && take_op(b, "~");
  size_t at = out->n;
  if (!minus && !invert) {
    parse_primary(b, out, e);
  } else {
    parse_unary(b, out, e);
    bool number = type_class(&e->type) == C_INT || type_class(&e->type) == C_REAL;
    if (invert || number) {
      buf_insert(out, at, minus ? "(- " : "(~ ");
      buf_u8(out, ')');
    } else if (type_class(&e->type) == C_DECIMAL || e->type.kind == K_NONE) {
      buf_insert(out, at, "tds_negate(");
      buf_u8(out, ')');
    } else if (b->run) {
      fail(b, 8117, 16, "Operand data type %s is invalid for minus operator.", type_name(&e->type));
    }
    e->column = false;
  }
  while (take_word(b, "COLLATE")) {
    const char *name = take_name(b);
    e->type.collation = collation_find(name);
    if (e->type.collation == NULL && !b->failed) fail(b, 448, 16, "Invalid collation '%s'.", name);
    buf_printf(out, " COLLATE %s", collation_of(&e->type));
    e->column = true; /* it has its collation */
  }
}

static void parse_product(Batch *b, Buf *out, Expr *e) {
  size_t at = out->n;
  parse_unary(b, out, e);
  while (at_op(b, "*") || at_op(b, "/") || at_op(b, "%")) {
    char op = peek(b)->text[0];
    b->i++;
    size_t middle = out->n;
    Expr right;
    parse_unary(b, out, &right);
    if (!b->failed) combine(b, out, at, middle, op, e, &right);
  }
}

void parse_value(Batch *b, Buf *out, Expr *e) {
  size_t at = out->n;
  if (++b->depth > 2000) fail(b, 191, 15, "Some part of your SQL statement is nested too deeply.");
  parse_product(b, out, e);
  while (at_op(b, "+") || at_op(b, "-") || at_op(b, "&") || at_op(b, "|") || at_op(b, "^")) {
    char op = peek(b)->text[0];
    b->i++;
    size_t middle = out->n;
    Expr right;
    parse_product(b, out, &right);
    if (!b->failed) combine(b, out, at, middle, op, e, &right);
  }
  b->depth--;
}
