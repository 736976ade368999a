/*
** Search conditions.  Where two sides are of different classes, one is converted to the type that
** SQL Server would compare in; where neither brings SQLite the right collation, it is written out.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Makes a side be of the comparison's class. */
static void align(Buf *out, size_t at, const Expr *side, const Type *type) {
  if (side->type.kind == K_NONE || type->kind == K_NONE) return;
  if (type_class(&side->type) != type_class(type)) wrap_cast(out, at, &side->type, type, 0, false);
}

static Type comparison_type(const Expr *a, const Expr *b) {
  Type t = type_combine(&a->type, &b->type);
  if (t.kind == K_VARIANT) t = a->type.kind == K_VARIANT ? b->type : a->type;
  /* A literal of more digits than the column must not be cut. */
  if (type_class(&t) == C_DECIMAL && t.kind != K_MONEY && t.kind != K_SMALLMONEY) t.precision = 38;
  if (t.collation == NULL) t.collation = a->type.collation ? a->type.collation : b->type.collation;
  return t;
}

/* Whether either side brings SQLite the right collation by itself. */
static bool has_collation(const Expr *e, const Type *type) {
  return e->column && type_class(&e->type) == type_class(type);
}

static void write_compare(Batch *b, Buf *out, size_t at, Expr *left, const char *op) {
  Buf right_text = {0};
  Expr right;
  bool all = false;
  if (take_word(b, "ANY") || take_word(b, "SOME")) {
    syntax(b);
  } else {
    parse_value(b, &right_text, &right);
  }
  if (b->failed) {
    buf_free(&right_text);
    return;
  }
  Type type = comparison_type(left, &right);
  align(out, at, left, &type);
  align(&right_text, 0, &right, &type);
  Class class = type_class(&type);
  bool needs = class != C_INT && class != C_REAL && class != C_BYTES && class != C_OTHER;
  if (needs && !has_collation(left, &type) && !has_collation(&right, &type)) {
    buf_insert(out, at, "(");
    buf_printf(out, " COLLATE %s)", collation_of(&type));
  }
  (void)all;
  buf_printf(out, " %s %s", op, buf_string(&right_text));
  buf_free(&right_text);
}

static void parse_in(Batch *b, Buf *out, size_t at, const Expr *left, bool not ) {
  Buf list = {0};
  need_op(b, "(");
  Type type = left->type;
  if (at_word(b, "SELECT") || at_word(b, "WITH")) {
    Query q = {0};
    parse_query(b, &list, &q);
    check_unordered(b, &q);
  } else {
    int n = 0;
    do {
      Buf item = {0};
      Expr e;
      parse_value(b, &item, &e);
      type = comparison_type(left, &e);
      Type wanted = left->type.kind == K_NONE ? type : left->type;
      if (type_class(&type) == type_class(&left->type)) wanted = type;
      if (type_class(&e.type) == C_DECIMAL && type_class(&left->type) == C_INT)
        wanted = left->type, wanted.kind = K_NONE;
      align(&item, 0, &e, &wanted);
      buf_text(&list, n++ ? "," : "");
      buf_text(&list, buf_string(&item));
      buf_free(&item);
    } while (take_op(b, ","));
  }
  need_op(b, ")");
  Class class = type_class(&left->type);
  if (!left->column && class != C_INT && class != C_REAL) {
    buf_insert(out, at, "(");
    buf_printf(out, " COLLATE %s)", collation_of(&left->type));
  }
  buf_printf(out, "%s IN (%s)", not ? " NOT" : "", buf_string(&list));
  buf_free(&list);
}

static void parse_like(Batch *b, Buf *out, size_t at, const Expr *left, bool not ) {
  const Collation *c = left->type.collation ? left->type.collation : collation_default();
  buf_insert(out, at, not ? "NOT tds_like(" : "tds_like(");
  buf_u8(out, ',');
  Expr pattern;
  parse_value(b, out, &pattern);
  buf_u8(out, ',');
  if (take_word(b, "ESCAPE")) {
    parse_value(b, out, &pattern);
  } else {
    buf_text(out, "NULL");
  }
  buf_printf(out, ",%d)", c->ignore_case ? 1 : 0);
}

static void parse_between(Batch *b, Buf *out, size_t at, Expr *left, bool not ) {
  Buf low = {0}, high = {0};
  Expr l, h;
  parse_value(b, &low, &l);
  need_word(b, "AND");
  parse_value(b, &high, &h);
  if (!b->failed) {
    Type type = comparison_type(left, &l);
    Expr both = {.type = type};
    type = comparison_type(&both, &h);
    align(out, at, left, &type);
    align(&low, 0, &l, &type);
    align(&high, 0, &h, &type);
    if (!has_collation(left, &type) && type_class(&type) != C_INT && type_class(&type) != C_REAL) {
      buf_printf(out, " COLLATE %s", collation_of(&type));
    }
    buf_printf(out, " %sBETWEEN %s AND %s", not ? "NOT " : "", buf_string(&low), buf_string(&high));
  }
  buf_free(&low);
  buf_free(&high);
}

static void parse_predicate(Batch *b, Buf *out) {
  size_t at = out->n;
  if (take_word(b, "NOT")) {
    buf_text(out, "NOT (");
    parse_predicate(b, out);
    buf_u8(out, ')');
    return;
  }
  if (take_word(b, "EXISTS")) {
    need_op(b, "(");
    buf_text(out, "EXISTS (");
    Expr e;
    parse_subquery(b, out, &e);
    return;
  }
  if (at_op(b, "(")) {
    /* Either a condition in parentheses or a value: try the value, then go back. */
    int from = b->i;
    Batch saved = *b;
    Buf ignored = {0};
    Expr e;
    bool was_running = b->run;
    b->run = false;
    parse_value(b, &ignored, &e);
    bool value = !b->failed && (peek(b)->kind == L_OP
                                    ? strchr("<>=!", peek(b)->text[0]) != NULL
                                    : is_word(peek(b), "IS") || is_word(peek(b), "IN") ||
                                          is_word(peek(b), "LIKE") || is_word(peek(b), "BETWEEN") ||
                                          is_word(peek(b), "NOT"));
    b->failed = saved.failed;
    b->error = saved.error;
    b->depth = saved.depth;
    b->run = was_running;
    b->i = from;
    buf_free(&ignored);
    if (!value) {
      b->i++;
      buf_u8(out, '(');
      parse_condition(b, out);
      need_op(b, ")");
      buf_u8(out, ')');
      return;
    }
  }
  Expr left;
  parse_value(b, out, &left);
  static const char *const operators[][2] = {{"=", "="},   {"<>", "<>"}, {"!=", "<>"},
                                             {"<=", "<="}, {">=", ">="}, {"<", "<"},
                                             {">", ">"},   {"!<", ">="}, {"!>", "<="}};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    if (take_op(b, operators[i][0])) {
      write_compare(b, out, at, &left, operators[i][1]);
      return;
    }
  }
  if (take_word(b, "IS")) {
    bool not = take_word(b, "NOT");
    if (take_word(b, "DISTINCT")) { /* IS [NOT] DISTINCT FROM, of SQL Server 2022 */
      need_word(b, "FROM");
      write_compare(b, out, at, &left, not ? "IS" : "IS NOT");
      return;
    }
    need_word(b, "NULL");
    buf_text(out, not ? " IS NOT NULL" : " IS NULL");
    return;
  }
  bool not = take_word(b, "NOT");
  if (take_word(b, "IN")) {
    parse_in(b, out, at, &left, not );
  } else if (take_word(b, "LIKE")) {
    parse_like(b, out, at, &left, not );
  } else if (take_word(b, "BETWEEN")) {
    parse_between(b, out, at, &left, not );
  } else if (!b->failed) {
    Tok *t = peek(b);
    if (t->kind == L_END && b->i > 0) t = peek_at(b, -1);
    fail(b, 4145, 15,
         "An expression of non-boolean type specified in a context where a condition is expected, "
         "near '%.100s'.",
         t->text);
  }
}

static void parse_and(Batch *b, Buf *out) {
  parse_predicate(b, out);
  while (take_word(b, "AND")) {
    buf_text(out, " AND ");
    parse_predicate(b, out);
  }
}

void parse_condition(Batch *b, Buf *out) {
  if (++b->depth > 2000) fail(b, 191, 15, "Some part of your SQL statement is nested too deeply.");
  parse_and(b, out);
  while (take_word(b, "OR")) {
    buf_text(out, " OR ");
    parse_and(b, out);
  }
  b->depth--;
}
