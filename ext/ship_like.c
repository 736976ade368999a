/*
** ext/ship_like.c: LIKE, GLOB and edb's own tests of text against remote columns.
**
**     name LIKE 'ab%'        name GLOB 'ab*'        edb_starts(name, 'ab')
**
** What SQLite's patterns mean: LIKE disregards the case of ASCII's letters and of no others, `%` stands for any text
** and `_` for one character. GLOB's are `*` and `?`, and classes, `[a-z]`. Neither has an escape here: SQLite does not
** offer LIKE … ESCAPE. To both, text ends at the character NUL.
**
** The pattern is written anew as the server has them (edb_match): a class becomes any one character, and what cannot be
** said becomes any text. Where that makes it match more, it is a superset.
*/
#include "extInt.h"

#include <string.h>

#define OP(name) SQLITE_INDEX_CONSTRAINT_##name
#define LONGEST 50000 /* SQLITE_MAX_LIKE_PATTERN_LENGTH: beyond, it is an error here */

/* What is asked, by operator. */
typedef struct Asked {
  int op;
  int folds; /* the case of ASCII's letters is disregarded */
  char any;  /* stands for any text, for one character; 0: nothing does */
  char one;
  int classes; /* [a-z] does for one of some */
  char escape; /* 0: there is none */
  int before;  /* any text may stand before and behind it */
  int behind;
} Asked;

static const Asked asked[] = {
    {OP(LIKE), 1, '%', '_', 0, 0, 0, 0},  {OP(GLOB), 0, '*', '?', 1, 0, 0, 0},
    {SHIP_STARTS, 0, 0, 0, 0, 0, 0, 1},   {SHIP_ENDS, 0, 0, 0, 0, 0, 1, 0},
    {SHIP_CONTAINS, 0, 0, 0, 0, 0, 1, 1}, {SHIP_LIKE, 1, '%', '_', 0, '\\', 0, 0},
};

static const Asked *asked_by(int op) {
  size_t i = 0;
  while (asked[i].op != op) i++;
  return &asked[i];
}

const edb_match *ship_match_of(const edb_type *type, int op) {
  const edb_text *text = type->text;
  const Asked *a = asked_by(op);
  if (text == NULL) return NULL;
  return a->before && text->contains ? text->contains : a->folds ? text->like : text->glob;
}

/* ---- LIKE and GLOB as the application has them ------------------------------------------------------
**
** SQLite offers `x LIKE y` by the function's name, whoever's function that is: ICU's, PRAGMA case_sensitive_like's or
** another. All of them are listed beside the built-in ones. The longest pattern may have been set, too. */

#define IS_REPLACED                                                                                \
  "SELECT 1 FROM pragma_function_list WHERE name = ?1 COLLATE NOCASE AND NOT builtin"

int ship_is_own(sqlite3 *db, int op) {
  const char *name = op == OP(LIKE) ? "like" : "glob";
  sqlite3_stmt *rows = NULL;
  if (op != OP(LIKE) && op != OP(GLOB)) return 1;
  int own = sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1) == LONGEST &&
            sqlite3_prepare_v2(db, IS_REPLACED, -1, &rows, NULL) == SQLITE_OK &&
            sqlite3_bind_text(rows, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
            sqlite3_step(rows) == SQLITE_DONE;
  sqlite3_finalize(rows);
  return own;
}

/* ---- Writing ------------------------------------------------------------------------------------- */

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* A pattern being written. */
typedef struct Pattern {
  sqlite3_str *out;
  const edb_match *match;
  int folds; /* the case of letters is disregarded */
  int exact;
  int open; /* the last thing written is % */
} Pattern;

static void add_any(Pattern *p) {
  if (!p->open) sqlite3_str_appendchar(p->out, 1, '%');
  p->open = 1;
}

static void add_one(Pattern *p) {
  if (p->match->units) {
    add_any(p);
    p->exact = 0;
  } else {
    sqlite3_str_appendchar(p->out, 1, '_');
    p->open = 0;
  }
}

static void add_itself(Pattern *p, char c) {
  p->open = 0;
  if (p->folds && is_letter(c) && p->match->classes) {
    sqlite3_str_appendf(p->out, "[%c%c]", c & ~0x20, c | 0x20);
    return;
  }
  if (is_letter(c) && p->folds != p->match->folds) p->exact = 0;
  if (strchr(p->match->special, c)) sqlite3_str_appendchar(p->out, 1, '!');
  sqlite3_str_appendchar(p->out, 1, c);
}

/* Where the class that begins at i ends, as SQLite reads it; n: nowhere. */
static size_t class_end(const char *p, size_t i, size_t n) {
  i++;
  if (i < n && p[i] == '^') i++;
  if (i < n && p[i] == ']') i++;
  while (i < n && p[i] != ']') i++;
  return i;
}

/* 0: it cannot be said. */
static int add_pattern(Pattern *to, const Asked *a, const char *p, size_t n) {
  if (a->before) add_any(to);
  for (size_t i = 0; i < n; i++) {
    if (a->any && p[i] == a->any) {
      add_any(to);
    } else if (a->one && p[i] == a->one) {
      add_one(to);
    } else if (a->classes && p[i] == '[') {
      i = class_end(p, i, n);
      if (i == n) return 0;
      add_one(to);
      to->exact = 0;
    } else {
      if (a->escape && p[i] == a->escape && ++i == n) return 0;
      add_itself(to, p[i]);
    }
  }
  if (a->behind) add_any(to);
  return 1;
}

/* As SQLite has it. What stands for itself does so in a class of its own. */
static void add_native(Pattern *to, const Asked *a, const char *p, size_t n) {
  if (a->any || to->match->plain) {
    sqlite3_str_append(to->out, p, (int)n);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    int special = strchr("*?[", p[i]) != NULL;
    if (special) sqlite3_str_appendchar(to->out, 1, '[');
    sqlite3_str_appendchar(to->out, 1, p[i]);
    if (special) sqlite3_str_appendchar(to->out, 1, ']');
  }
  sqlite3_str_appendchar(to->out, 1, '*');
}

/* What SQLite takes for one another in patterns: U+FFFD, and what it reads as that. */
static int has_replacement(const char *p, size_t n) {
  for (size_t i = 0; i + 2 < n; i++) {
    if (memcmp(p + i, "\xEF\xBF", 2) == 0 && (unsigned char)p[i + 2] >= 0xBD) return 1;
  }
  return 0;
}

/* 0: it cannot be said. */
static int write_pattern(const Condition *c, Pattern *to, const Asked *a, const char *p, size_t n) {
  if (n > LONGEST || !ship_is_text(p, n, c->type->reach)) return 0;
  if (a->any && has_replacement(p, n)) return 0;
  if (to->match->special == NULL) {
    add_native(to, a, p, n);
    return 1;
  }
  if (!add_pattern(to, a, p, n)) return 0;
  if (a->any && !c->sql->dialect->no_nul && !to->open) { /* text may go on behind a NUL */
    add_any(to);
    to->exact = 0;
  }
  return 1;
}

static Shipped send_pattern(const Condition *c, const Asked *a, const edb_match *match,
                            const edb_value *value) {
  int escapes = match->special == NULL && a->escape;
  char placeholder[16];
  append_template(c->sql->text, match->before, c->name);
  sql_parameter(c->sql, value, placeholder);
  sqlite3_str_appendf(c->sql->text, "%s%s", placeholder, match->after);
  if (escapes) sqlite3_str_appendf(c->sql->text, " ESCAPE '%c'", a->escape);
  return SHIP_SENT;
}

Shipped ship_pattern(const Condition *c, int op, sqlite3_value *v, int *exact) {
  const edb_match *match = ship_match_of(c->type, op);
  const Asked *a = asked_by(op);
  edb_value value = {.kind = EDB_NULL};
  if (v == NULL) return send_pattern(c, a, match, &value);
  if (sqlite3_value_type(v) == SQLITE_NULL) return SHIP_NEVER;
  if (sqlite3_value_type(v) == SQLITE_BLOB) return SHIP_SKIP;
  const char *p = (const char *)sqlite3_value_text(v);
  size_t n = (size_t)sqlite3_value_bytes(v);
  if (p == NULL) return SHIP_FAIL;
  Pattern pattern = {sqlite3_str_new(NULL), match, a->folds, *exact, 0};
  int written = write_pattern(c, &pattern, a, p, n);
  value.kind = EDB_TEXT;
  value.as.text.n = (size_t)sqlite3_str_length(pattern.out);
  char *text = sqlite3_str_finish(pattern.out);
  if (!written) {
    sqlite3_free(text);
    return SHIP_SKIP;
  }
  *exact = pattern.exact && !(match->plain && !a->behind);
  value.as.text.p = text ? text : "";
  if (text) sql_own(c->sql, text);
  return send_pattern(c, a, match, &value);
}
