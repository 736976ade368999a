/*
** ext/match.c: tests of text that can be sent, as functions.
**
**     SELECT … WHERE edb_starts(name, 'ab') AND edb_contains(note, :word)      byte by byte, no wildcards to mind
**     SELECT … WHERE edb_like(name, 'a\_b%')                                   x LIKE y ESCAPE '\'
**
** SQLite offers a function of two arguments whose first one is a column to the column's table, if xFindFunction knows
** it. These four have what LIKE and GLOB lack: a prefix that may hold any character; an escape, which SQLite does not
** tell of; and one meaning, whatever function the application has put in LIKE's place. Elsewhere they are ordinary
** functions, and every row that the server sends is tested by them again.
**
** REGEXP and MATCH are not among them: the servers' are as many languages, and none is SQLite's.
*/
#include "extInt.h"

#include <string.h>

typedef struct Text {
  const char *p;
  size_t n;
} Text;

static int starts(Text text, Text with) {
  return text.n >= with.n && memcmp(text.p, with.p, with.n) == 0;
}

static int ends(Text text, Text with) {
  return text.n >= with.n && memcmp(text.p + (text.n - with.n), with.p, with.n) == 0;
}

static int contains(Text text, Text with) {
  for (; text.n >= with.n; text.p++, text.n--) {
    if (memcmp(text.p, with.p, with.n) == 0) return 1;
    if (text.n == 0) break;
  }
  return 0;
}

static int is_like(Text text, Text pattern) {
  return sqlite3_strlike(pattern.p, text.p, '\\') == 0;
}

/* NULL where an argument is. */
static void answer(sqlite3_context *context, sqlite3_value **argv, int (*test)(Text, Text)) {
  Text texts[2];
  for (int i = 0; i < 2; i++) {
    if (sqlite3_value_type(argv[i]) == SQLITE_NULL) return;
    texts[i].p = (const char *)sqlite3_value_text(argv[i]);
    texts[i].n = (size_t)sqlite3_value_bytes(argv[i]);
    if (texts[i].p == NULL) {
      sqlite3_result_error_nomem(context);
      return;
    }
  }
  sqlite3_result_int(context, test(texts[0], texts[1]));
}

void function_starts(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  answer(context, argv, starts);
}

void function_ends(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  answer(context, argv, ends);
}

void function_contains(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  answer(context, argv, contains);
}

void function_like(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  answer(context, argv, is_like);
}

int match_find(sqlite3_vtab *vtab, int argc, const char *name,
               void (**function)(sqlite3_context *, int, sqlite3_value **), void **data) {
  static const struct {
    const char *name;
    int op;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
  } known[] = {{"edb_starts", SHIP_STARTS, function_starts},
               {"edb_ends", SHIP_ENDS, function_ends},
               {"edb_contains", SHIP_CONTAINS, function_contains},
               {"edb_like", SHIP_LIKE, function_like}};
  (void)vtab;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (argc != 2 || sqlite3_stricmp(name, known[i].name) != 0) continue;
    *function = known[i].function;
    *data = NULL;
    return known[i].op;
  }
  return 0;
}
