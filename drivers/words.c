/*
** drivers/words.c: connection strings, as ODBC writes them:
**
**     DSN=shop;UID=app;PWD={a;b}}c}
**
** A value that begins with { ends with the first } that is not doubled. The contract is in driverInt.h.
*/
#include "driverInt.h"

#include <string.h>
#include <strings.h>

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The end of a value in braces, behind the closing one; NULL where there is none. */
static const char *end_of_braces(const char *p) {
  for (p++; *p; p++) {
    if (*p != '}') continue;
    if (p[1] != '}') return p + 1;
    p++;
  }
  return NULL;
}

int edb_word_next(const char **from, edb_word *word) {
  const char *p = *from;
  while (is_blank(*p) || *p == ';') p++;
  if (!*p) return 0;
  word->name = p;
  while (*p && *p != '=' && *p != ';') p++;
  word->name_n = (size_t)(p - word->name);
  while (word->name_n > 0 && is_blank(word->name[word->name_n - 1])) word->name_n--;
  if (*p != '=' || word->name_n == 0) return -1;
  do p++;
  while (is_blank(*p));
  word->value = p;
  if (*p == '{') {
    p = end_of_braces(p);
    if (!p) return -1;
    word->value_n = (size_t)(p - word->value);
    while (is_blank(*p)) p++;
    if (*p && *p != ';') return -1;
  } else {
    p += strcspn(p, ";");
    word->value_n = (size_t)(p - word->value);
    while (word->value_n > 0 && is_blank(word->value[word->value_n - 1])) word->value_n--;
  }
  *from = p;
  return 1;
}

int edb_word_is(const edb_word *word, const char *name) {
  return strlen(name) == word->name_n && strncasecmp(word->name, name, word->name_n) == 0;
}

static int holds(const edb_word *word, const char *part) {
  size_t n = strlen(part);
  for (size_t i = 0; i + n <= word->name_n; i++) {
    if (strncasecmp(word->name + i, part, n) == 0) return 1;
  }
  return 0;
}

int edb_word_is_secret(const edb_word *word) {
  /* What drivers call their secrets, or a part of it: PWD, Password, PRIV_KEY_FILE_PWD, sslpassword, AccessToken,
  ** ClientSecret, SAS key, … */
  static const char *const parts[] = {"pwd",    "pass",       "secret", "token",
                                      "apikey", "credential", "key_id", "accesskey"};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (holds(word, parts[i])) return 1;
  }
  return 0;
}

size_t edb_word_decode(const edb_word *word, char *out) {
  size_t n = 0;
  if (word->value_n == 0 || word->value[0] != '{') {
    if (out) memcpy(out, word->value, word->value_n);
    return word->value_n;
  }
  for (size_t i = 1; i + 1 < word->value_n; i++) {
    if (out) out[n] = word->value[i];
    n++;
    if (word->value[i] == '}') i++;
  }
  return n;
}

void edb_word_add(edb_buffer *out, const char *name, const char *value) {
  edb_buffer_text(out, name);
  edb_buffer_text(out, "=");
  if (value[strcspn(value, ";{}[](),?*=!@ ")] || !*value) {
    edb_buffer_text(out, "{");
    for (const char *p = value; *p; p++)
      edb_buffer_add(out, *p == '}' ? "}}" : p, *p == '}' ? 2 : 1);
    edb_buffer_text(out, "}");
  } else {
    edb_buffer_text(out, value);
  }
  edb_buffer_text(out, ";");
}
