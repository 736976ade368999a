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
int ship_is_text(const char *text, size_t n, unsigned reach) {
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

/* ---- Ranges where blanks at the end are disregarded ------------------------------------------------
**
** There the shorter of two that begin alike stands as if blanks stood behind it, or the blanks at both ends are cut off
** first: so what SQLite tells apart by blanks and control characters is in another order. Bounds moved by as little as
** can be take all rows along, whichever it is. */

/* Where the first control character is, or the end. */
static size_t before_control(const edb_value *text) {
  size_t n = 0;
  while (n < text->as.text.n && (unsigned char)text->as.text.p[n] >= ' ') n++;
  return n;
}

/* Ends with the character before the last one that is more than a blank and has one before it of as many bytes, and
** before any control character: what is not before the value is behind that, whatever follows. */
static Shipped lower_padded(Bound *b) {
  size_t n = before_control(&b->value);
  const unsigned char *p = (const unsigned char *)b->value.as.text.p;
  while (n > 0 && (p[n - 1] == 0x80 || p[n - 1] <= ' ')) {
    while ((p[n - 1] & 0xC0) == 0x80) n--;
    n--;
  }
  if (n == 0) return SHIP_PRESENT;
  char *copy = sqlite3_malloc64(n);
  if (copy == NULL) return SHIP_FAIL;
  memcpy(copy, p, n);
  copy[n - 1] = (char)(p[n - 1] - 1);
  b->value.as.text.p = copy;
  b->value.as.text.n = n;
  b->op = SQLITE_INDEX_CONSTRAINT_GE;
  sql_own(b->sql, copy);
  return SHIP_SENT;
}

/* Ends before the first control character, and before blanks at its end, with what is more than them. */
static Shipped upper_padded(Bound *b) {
  const unsigned char *p = (const unsigned char *)b->value.as.text.p;
  size_t n = before_control(&b->value);
  if (n == b->value.as.text.n) {
    while (n > 0 && p[n - 1] == ' ') n--;
  }
  b->op = SQLITE_INDEX_CONSTRAINT_LE;
  if (n == b->value.as.text.n) return SHIP_SENT;
  char *copy = sqlite3_malloc64(n + 1);
  if (copy == NULL) return SHIP_FAIL;
  memcpy(copy, p, n);
  copy[n] = '!';
  b->value.as.text.p = copy;
  b->value.as.text.n = n + 1;
  sql_own(b->sql, copy);
  return SHIP_SENT;
}

static Shipped padded(Bound *b) {
  int lower = b->op == SQLITE_INDEX_CONSTRAINT_GT || b->op == SQLITE_INDEX_CONSTRAINT_GE;
  b->exact = 0;
  return lower ? lower_padded(b) : upper_padded(b);
}

/* ---- Text ---------------------------------------------------------------------------------------- */

/* All of whose code points are up to this one; 0: any. */
static int is_up_to(const char *text, size_t n, unsigned last) {
  const unsigned char *p = (const unsigned char *)text;
  for (size_t i = 0; last && i < n; i++) {
    size_t more = p[i] < 0xC0 ? 0 : p[i] < 0xE0 ? 1 : p[i] < 0xF0 ? 2 : 3;
    if (code_point(p + i, more) > last) return 0;
    i += more;
  }
  return 1;
}

/* More digits than a number holds: what edb gives of such a decimal, and of an unsigned integer. */
static int is_long_number(const edb_value *text) {
  const char *p = text->as.text.p;
  size_t digits = 0;
  for (size_t i = 0; i < text->as.text.n; i++) {
    const int digit = p[i] >= '0' && p[i] <= '9';
    if (!digit && p[i] != '.' && !(i == 0 && p[i] == '-')) return 0;
    digits += (size_t)digit;
  }
  return digits > 15;
}

/* Where the value is a column's that is declared to hold numbers, SQLite makes numbers of this column's text that looks
** like them, and they stand before all text. Whether it is such a column's is not told. All that looks like a number
** begins with no more than a digit; the rest is more than any number. */
static Shipped beside_numbers(Bound *b) {
  const int upper = b->op == SQLITE_INDEX_CONSTRAINT_LT || b->op == SQLITE_INDEX_CONSTRAINT_LE;
  if (b->value.as.text.n > 0 && (unsigned char)b->value.as.text.p[0] > '9') return SHIP_SENT;
  b->exact = 0;
  if (!upper) return is_long_number(&b->value) ? SHIP_PRESENT : SHIP_SENT;
  b->op = SQLITE_INDEX_CONSTRAINT_LT;
  b->value.as.text.p = ":";
  b->value.as.text.n = 1;
  return SHIP_SENT;
}

/* Against a number, SQLite compares as text or as numbers depending on what the number comes from,
** which is not told here: not sent. Blobs stand behind all text. */
Shipped ship_bound_text(const Definition *d, const edb_type *type, sqlite3_value *v, Bound *b) {
  if (sqlite3_value_type(v) == SQLITE_BLOB && !d->dialect->dynamic) return ship_beyond(b->op, 0);
  if (sqlite3_value_type(v) != SQLITE_TEXT) return SHIP_SKIP;
  b->value = value_parameter(v);
  const char *p = b->value.as.text.p;
  size_t n = b->value.as.text.n;
  if (type->compare == EDB_COMPARE_UUID) {
    return is_uuid(p, n) ? SHIP_SENT : ship_is_range(b->op) ? SHIP_SKIP : SHIP_NEVER;
  }
  if (!ship_by_bytes(type, b->op)) return ship_is_text(p, n, type->reach) ? SHIP_SENT : SHIP_SKIP;
  if (!ship_is_text(p, n, 0) || !is_up_to(p, n, type->text->reach)) return SHIP_SKIP;
  if (!ship_is_range(b->op)) return SHIP_SENT;
  Shipped shipped = b->literal ? SHIP_SENT : beside_numbers(b);
  return shipped == SHIP_SENT && type->text->padded ? padded(b) : shipped;
}
