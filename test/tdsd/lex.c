/*
** The words of T-SQL.
*/
#include "session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *p;
  size_t n, i;
  int line;
  Tok *tokens;
  int count, room;
} Lexer;

static Tok *add(Lexer *l, Lexeme kind, char *text, size_t n, size_t from) {
  if (l->count + 1 >= l->room) {
    l->room = l->room ? 2 * l->room : 64;
    l->tokens = realloc(l->tokens, (size_t)l->room * sizeof *l->tokens);
    if (l->tokens == NULL) abort();
  }
  Tok *t = &l->tokens[l->count++];
  *t = (Tok){.kind = kind, .text = text, .n = n, .line = l->line, .from = from, .to = l->i};
  return t;
}

static bool is_name_start(int c) { return isalpha(c) || c == '_' || c == '#' || c >= 0x80; }
static bool is_name(int c) { return is_name_start(c) || isdigit(c) || c == '@' || c == '$'; }

static int at(const Lexer *l, size_t ahead) {
  return l->i + ahead < l->n ? (unsigned char)l->p[l->i + ahead] : 0;
}

/* Comments nest. */
static bool skip_comment(Lexer *l) {
  int depth = 0;
  do {
    if (at(l, 0) == '/' && at(l, 1) == '*') {
      depth++;
      l->i += 2;
    } else if (at(l, 0) == '*' && at(l, 1) == '/') {
      depth--;
      l->i += 2;
    } else {
      if (at(l, 0) == '\n') l->line++;
      l->i++;
    }
    if (l->i > l->n) return false;
  } while (depth > 0 && l->i < l->n);
  return depth == 0;
}

static bool skip_blank(Lexer *l) {
  for (;;) {
    int c = at(l, 0);
    if (l->i >= l->n) return true;
    if (c == '\n') l->line++;
    if (isspace(c) || c == 0) {
      l->i++;
    } else if (c == 0xC2 && at(l, 1) == 0xA0) {
      l->i += 2;
    } else if (c == '-' && at(l, 1) == '-') {
      while (l->i < l->n && at(l, 0) != '\n') l->i++;
    } else if (c == '/' && at(l, 1) == '*') {
      if (!skip_comment(l)) return false;
    } else {
      return true;
    }
  }
}

/* What stands between quotes, where a doubled closing quote is one. */
static bool quoted(Lexer *l, Lexeme kind, int close, size_t from) {
  Buf text = {0};
  int line = l->line;
  l->i++;
  for (;;) {
    if (l->i >= l->n) {
      buf_free(&text);
      return false;
    }
    int c = at(l, 0);
    if (c == '\n') l->line++;
    l->i++;
    if (c == close) {
      if (at(l, 0) != close) break;
      l->i++;
    }
    buf_u8(&text, (unsigned)c);
  }
  buf_string(&text);
  add(l, kind, (char *)text.p, text.n, from)->line = line;
  return true;
}

static void number(Lexer *l, size_t from) {
  while (isdigit(at(l, 0)) || at(l, 0) == '.') l->i++;
  if ((at(l, 0) == 'e' || at(l, 0) == 'E') &&
      (isdigit(at(l, 1)) || ((at(l, 1) == '-' || at(l, 1) == '+') && isdigit(at(l, 2))))) {
    l->i += 2;
    while (isdigit(at(l, 0))) l->i++;
  }
  add(l, L_NUMBER, xstrndup(l->p + from, l->i - from), l->i - from, from);
}

static void operator_(Lexer *l, size_t from) {
  static const char *const two[] = {"<>", "<=", ">=", "!=", "!<", "!>",
                                    "+=", "-=", "*=", "/=", "::"};
  size_t n = 1;
  for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
    if (at(l, 0) == two[i][0] && at(l, 1) == two[i][1]) n = 2;
  }
  l->i += n;
  add(l, L_OP, xstrndup(l->p + from, n), n, from);
}

static bool one(Lexer *l) {
  size_t from = l->i;
  int c = at(l, 0);
  if (c == '\'') return quoted(l, L_STRING, '\'', from);
  if (c == '[') return quoted(l, L_QUOTED, ']', from);
  if (c == '"') return quoted(l, L_QUOTED, '"', from);
  if ((c == 'N' || c == 'n') && at(l, 1) == '\'') {
    l->i++;
    return quoted(l, L_NSTRING, '\'', from);
  }
  if (c == '0' && (at(l, 1) == 'x' || at(l, 1) == 'X')) {
    l->i += 2;
    while (isxdigit(at(l, 0))) l->i++;
    add(l, L_BYTES, xstrndup(l->p + from + 2, l->i - from - 2), l->i - from - 2, from);
    return true;
  }
  if (isdigit(c) || (c == '.' && isdigit(at(l, 1)))) {
    number(l, from);
  } else if (c == '@' || is_name_start(c)) {
    do l->i++;
    while (is_name(at(l, 0)));
    add(l, c == '@' ? L_VAR : L_NAME, xstrndup(l->p + from, l->i - from), l->i - from, from);
  } else {
    operator_(l, from);
  }
  return true;
}

int lex(const char *text, size_t n, Tok **tokens, SqlError *error) {
  Lexer l = {.p = text, .n = n, .line = 1};
  for (;;) {
    size_t from = l.i;
    if (!skip_blank(&l)) {
      sql_error(error, 113, 15, "Missing end comment mark '*/'.");
      break;
    }
    if (l.i >= l.n) {
      from = l.i;
      add(&l, L_END, xstrdup(""), 0, from);
      *tokens = l.tokens;
      return l.count - 1;
    }
    from = l.i;
    if (!one(&l)) {
      size_t shown = l.n - from > 100 ? 100 : l.n - from;
      sql_error(error, 105, 15, "Unclosed quotation mark after the character string '%.*s'.",
                (int)(shown - (shown > 0)), l.p + from + 1);
      break;
    }
  }
  error->line = l.line;
  lex_free(l.tokens, l.count);
  return -1;
}

void lex_free(Tok *tokens, int n) {
  for (int i = 0; i < n; i++) free(tokens[i].text);
  free(tokens);
}
