/*
** ext/ship_text.c: text against remote columns.
*/
#include "extInt.h"

#include <string.h>

/* The code point of the UTF-8 sequence of 1 + more bytes. */
static unsigned code_point(const unsigned char *p, size_t more) {
  unsigned code = more == 0 ? p[0] : p[0] & (0x3Fu >> more);
  for (size_t k = 1; k <= more; k++) code = code << 6 | (p[k] & 0x3Fu);
  return code;
}

static int is_within(unsigned reach, unsigned code) {
  if (reach == 0) return 1;
  if (code >= 0x80 && code < 0xA0) return 0;
  return code <= reach && !(reach == EDB_REACH_ASCII && code == '?');
}

/* What a server would refuse as text is compared here alone. */
static int is_plain_utf8(const char *text, size_t n, unsigned reach) {
  const unsigned char *p = (const unsigned char *)text;
  for (size_t i = 0; i < n;) {
    unsigned c = p[i];
    size_t more = c < 0x80 ? 0 : c < 0xC2 ? 9 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : c < 0xF5 ? 3 : 9;
    if (c == 0 || more > n - i - 1) return 0;
    if ((c == 0xE0 && p[i + 1] < 0xA0) || (c == 0xED && p[i + 1] > 0x9F) ||
        (c == 0xF0 && p[i + 1] < 0x90) || (c == 0xF4 && p[i + 1] > 0x8F)) {
      return 0;
    }
    for (size_t k = 1; k <= more; k++) {
      if ((p[i + k] & 0xC0) != 0x80) return 0;
    }
    if (!is_within(reach, code_point(p + i, more))) return 0;
    i += more + 1;
  }
  return 1;
}

static int is_uuid(const char *p, size_t n) {
  if (n != 36) return 0;
  for (size_t i = 0; i < n; i++) {
    int dash = i == 8 || i == 13 || i == 18 || i == 23;
    int hex = (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f');
    if (dash ? p[i] != '-' : !hex) return 0;
  }
  return 1;
}

/* Against a number, SQLite compares as text or as numbers depending on what the number comes from,
** which is not told here: not sent. */
Shipped ship_bound_text(const edb_type *type, sqlite3_value *v, Bound *b) {
  if (sqlite3_value_type(v) != SQLITE_TEXT) return SHIP_SKIP;
  b->value = value_parameter(v);
  const char *p = b->value.as.text.p;
  size_t n = b->value.as.text.n;
  if (type->compare == EDB_COMPARE_UUID) {
    return is_uuid(p, n) ? SHIP_SENT : SHIP_NEVER;
  }
  return is_plain_utf8(p, n, type->reach) ? SHIP_SENT : SHIP_SKIP;
}
