/*
** drivers/mysql_scan.c: SQL read as MySQL's lexer reads it, as far as parameters need it: what is a string, a
** quoted name or a comment, and what stands outside of them.
**
** The statement that the server sees must be the one that was scanned: all the rules below are the server's
** (sql_lex.cc), with what they depend on in my_lexer.
*/
#include <string.h>

#include "mysql.h"

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Behind the quote that ends what began at i. A doubled quote ends it too, and begins the next. */
static size_t skip_quoted(const char *sql, size_t n, size_t i, int backslash) {
  char quote = sql[i++];
  while (i < n && sql[i] != quote) i += sql[i] == '\\' && backslash ? 2 : 1;
  return i < n ? i + 1 : n;
}

static size_t skip_line(const char *sql, size_t n, size_t i) {
  while (i < n && sql[i] != '\n') i++;
  return i;
}

/* Behind the comment's end; `deep`: how many may stand in it. */
static size_t skip_comment(const char *sql, size_t n, size_t i, int deep) {
  i += 2;
  while (i < n) {
    if (sql[i] == '*' && i + 1 < n && sql[i + 1] == '/') return i + 2;
    if (deep && sql[i] == '/' && i + 1 < n && sql[i + 1] == '*') {
      i = skip_comment(sql, n, i, deep - 1);
    } else {
      i++;
    }
  }
  return n;
}

/* A comment whose text is SQL for servers from some version on. For this one it is: behind the version; it is
** not: behind the comment. */
static size_t open_comment(const my_lexer *lexer, const char *sql, size_t n, size_t i) {
  int for_mariadb = sql[i + 2] == 'M';
  size_t at = i + 3 + (size_t)for_mariadb, digits = 0;
  unsigned long version = 0;
  while (digits < 6 && at + digits < n && is_digit(sql[at + digits])) digits++;
  if (digits < 5) return for_mariadb && !lexer->mariadb ? skip_comment(sql, n, i, 1) : at;
  for (size_t k = 0; k < digits; k++) version = version * 10 + (unsigned long)(sql[at + k] - '0');
  /* MariaDB has not what MySQL 5.7 to 9 have. */
  int theirs = lexer->mariadb && !for_mariadb && version >= 50700 && version <= 99999;
  if (version > lexer->version || theirs || (for_mariadb && !lexer->mariadb)) {
    return skip_comment(sql, n, i, 1);
  }
  return at + digits;
}

/* Behind the space, string, name or comment that begins at i; i where none does. */
static size_t skip(const my_lexer *lexer, const char *sql, size_t n, size_t i) {
  char c = sql[i], next = i + 1 < n ? sql[i + 1] : 0, third = i + 2 < n ? sql[i + 2] : 0;
  switch (c) {
  case '\'':
  case '"':
    return skip_quoted(sql, n, i, !lexer->no_backslash);
  case '`':
    return skip_quoted(sql, n, i, 0);
  case '#':
    return skip_line(sql, n, i);
  case '-':
    /* 1--1 is no comment. */
    if (next == '-' && (i + 2 >= n || is_space(third) || (third > 0 && third < ' ')))
      return skip_line(sql, n, i);
    return i;
  case '/':
    if (next != '*') return i;
    if (third == '!' || (third == 'M' && i + 3 < n && sql[i + 3] == '!'))
      return open_comment(lexer, sql, n, i);
    return skip_comment(sql, n, i, 0);
  case '*':
    return next == '/' ? i + 2 : i; /* the end of a comment whose text is SQL */
  default:
    return is_space(c) ? i + 1 : i;
  }
}

size_t my_scan(const my_lexer *lexer, const char *sql, size_t n, size_t from) {
  int ended = 0;
  for (size_t i = from; i < n;) {
    size_t behind = skip(lexer, sql, n, i);
    int quoted = sql[i] == '\'' || sql[i] == '"' || sql[i] == '`';
    if (ended && sql[i] != ';' && (behind == i || quoted)) return MY_SCAN_SECOND;
    if (behind > i) {
      i = behind;
    } else if (sql[i] == '?') {
      return i;
    } else {
      ended |= sql[i] == ';';
      i++;
    }
  }
  return n;
}

/* ---- What the SQL begins with ------------------------------------------------------------------- */

const char *my_first_word(const char *sql) {
  static const my_lexer any = {0, 0, 999999};
  size_t n = strlen(sql), i = 0;
  while (i < n) {
    size_t behind = sql[i] == '(' ? i + 1 : skip(&any, sql, n, i);
    if (behind == i || sql[i] == '\'' || sql[i] == '"' || sql[i] == '`') break;
    i = behind;
  }
  return sql + i;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static int is_letter(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || is_digit(c) || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}

static int is_word(const char *p, const char *word) {
  while (*word && lower(*p) == *word) {
    p++;
    word++;
  }
  return !*word && !is_letter(*p);
}

/* Wherever it stands: also in a string, which errs on the safe side. */
static int has_word(const char *p, const char *word) {
  for (int within = 0; *p; within = is_letter(*p++)) {
    if (!within && is_word(p, word)) return 1;
  }
  return 0;
}

int my_only_reads(const char *sql) {
  static const char *const readers[] = {"values", "table", "show", "desc", "describe", NULL};
  static const char *const writers[] = {"insert", "update", "delete", "replace", NULL};
  const char *p = my_first_word(sql);
  for (int i = 0; readers[i]; i++) {
    if (is_word(p, readers[i])) return 1;
  }
  if (is_word(p, "select")) return !has_word(p, "into");
  if (!is_word(p, "with")) return 0;
  for (int i = 0; writers[i]; i++) {
    if (has_word(p, writers[i])) return 0;
  }
  return 1;
}
