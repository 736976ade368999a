/*
** tds/sql.c: the ? placeholders of a statement. The contracts are in tds.h.
*/
#include "tdsInt.h"

/* Behind the closing mark of what began before i; n where it is not closed. A doubled mark stands for one. */
static size_t behind(const char *sql, size_t n, size_t i, char mark) {
  for (; i < n; i++) {
    if (sql[i] != mark) continue;
    if (i + 1 < n && sql[i + 1] == mark) {
      i++;
    } else {
      return i + 1;
    }
  }
  return n;
}

/* Behind a comment whose first two characters end at i. T-SQL's nest. */
static size_t behind_comment(const char *sql, size_t n, size_t i) {
  for (int depth = 1; i < n && depth > 0;) {
    if (i + 1 < n && sql[i] == '*' && sql[i + 1] == '/') {
      depth--;
      i += 2;
    } else if (i + 1 < n && sql[i] == '/' && sql[i + 1] == '*') {
      depth++;
      i += 2;
    } else {
      i++;
    }
  }
  return i;
}

size_t tds_sql_placeholder(const char *sql, size_t n, size_t from) {
  size_t i = from;
  while (i < n) {
    const char c = sql[i], next = i + 1 < n ? sql[i + 1] : 0;
    if (c == '?') return i;
    if (c == '\'' || c == '"') {
      i = behind(sql, n, i + 1, c);
    } else if (c == '[') {
      i = behind(sql, n, i + 1, ']');
    } else if (c == '-' && next == '-') {
      while (i < n && sql[i] != '\n') i++;
    } else if (c == '/' && next == '*') {
      i = behind_comment(sql, n, i + 2);
    } else {
      i++;
    }
  }
  return n;
}

typedef struct text {
  char *p;
  size_t size, n;
} text;

static void append(text *t, const char *p, size_t n) {
  for (size_t i = 0; i < n && t->n + i < t->size; i++) t->p[t->n + i] = p[i];
  t->n += n;
}

static void append_number(text *t, size_t number) {
  char digits[20];
  size_t i = sizeof digits;
  do {
    digits[--i] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  append(t, digits + i, sizeof digits - i);
}

size_t tds_sql_rewrite(char *out, size_t size, const char *sql, size_t n, const uint8_t *null,
                       size_t count) {
  text t = {out, size, 0};
  size_t number = 0;
  for (size_t from = 0, i = 0;; i++) {
    const size_t at = tds_sql_placeholder(sql, n, from);
    append(&t, sql + from, at - from);
    if (at == n) return t.n;
    if (null && i < count && null[i]) {
      append(&t, "NULL", 4);
    } else {
      append(&t, "@p", 2);
      append_number(&t, ++number);
    }
    from = at + 1;
  }
}
