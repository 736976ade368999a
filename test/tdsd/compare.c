/*
** How values compare: the collations of the SQLite inside.
**
** Of text, what differs between the collations of SQL Server as far as it matters to clients: case, accents
** (of Latin letters), binary order by code points or, as nvarchar is stored, by units of UTF-16.
*/
#include "function.h"

#include <wctype.h>

static uint32_t code_at(const uint8_t *p, int n, int *i) {
  uint32_t c = p[(*i)++];
  int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC2 ? 1 : 0;
  if (more > 0) c &= 0x3Fu >> more;
  while (more-- > 0 && *i < n) c = c << 6 | (p[(*i)++] & 0x3Fu);
  return c;
}

static uint32_t fold(uint32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
  return (uint32_t)towupper((wint_t)c);
}

/* Blanks at the end do not count, in any collation. */
static int trimmed(const uint8_t *p, int n) {
  while (n > 0 && p[n - 1] == ' ') n--;
  return n;
}

/* As characters are, without regard to their case, without that to their accents either, or as units of
** UTF-16, where what takes two units is less than U+E000. */
typedef enum { AS_CODES, AS_LETTERS, AS_BASES, AS_UNITS } Weighing;

/* The letter below its accents; of Latin-1 alone. */
static uint32_t base(uint32_t c) {
  static const char bases[] = "AAAAAA\0CEEEEIIII\0NOOOOO\0\0UUUUY";
  if (c >= 0xC0 && c <= 0xDD && bases[c - 0xC0] != 0) return (uint32_t)bases[c - 0xC0];
  return c;
}

static bool is_accent(uint32_t c) { return c >= 0x300 && c <= 0x36F; }

static uint32_t weigh(Weighing how, uint32_t c) {
  switch (how) {
  case AS_LETTERS:
    return fold(c);
  case AS_BASES:
    return base(fold(c));
  case AS_UNITS:
    return c > 0xFFFF ? 0xD800 * 0x400u + (c - 0x10000) : c * 0x400u;
  default:
    return c;
  }
}

static void skip_accents(const uint8_t *p, int n, int *i) {
  int next = *i;
  while (next < n && is_accent(code_at(p, n, &next))) *i = next;
}

static int compare_text(const uint8_t *p, int n, const uint8_t *q, int m, Weighing how) {
  n = trimmed(p, n);
  m = trimmed(q, m);
  int i = 0, j = 0;
  while (i < n && j < m) {
    uint32_t a = weigh(how, code_at(p, n, &i)), b = weigh(how, code_at(q, m, &j));
    if (a != b) return a < b ? -1 : 1;
    if (how != AS_BASES) continue;
    skip_accents(p, n, &i);
    skip_accents(q, m, &j);
  }
  return i < n ? 1 : j < m ? -1 : 0;
}

static int compare_ci(void *s, int n, const void *p, int m, const void *q) {
  (void)s;
  return compare_text(p, n, q, m, AS_LETTERS);
}

static int compare_cs(void *s, int n, const void *p, int m, const void *q) {
  int r = compare_ci(s, n, p, m, q);
  return r != 0 ? r : -compare_text(p, n, q, m, AS_CODES); /* a before A */
}

static int compare_bin(void *s, int n, const void *p, int m, const void *q) {
  (void)s;
  return compare_text(p, n, q, m, AS_CODES);
}

static int compare_ai(void *s, int n, const void *p, int m, const void *q) {
  (void)s;
  return compare_text(p, n, q, m, AS_BASES);
}

static int compare_units(void *s, int n, const void *p, int m, const void *q) {
  (void)s;
  return compare_text(p, n, q, m, AS_UNITS);
}

static int compare_decimal(void *s, int n, const void *p, int m, const void *q) {
  Decimal a, b;
  if (decimal_parse(p, (size_t)n, &a) && decimal_parse(q, (size_t)m, &b))
    return decimal_compare(&a, &b);
  return compare_bin(s, n, p, m, q);
}

static int compare_time(void *s, int n, const void *p, int m, const void *q) {
  Moment a, b;
  if (!moment_parse(p, (size_t)n, &a) || !moment_parse(q, (size_t)m, &b))
    return compare_bin(s, n, p, m, q);
  int64_t x = moment_utc(&a), y = moment_utc(&b);
  return x < y ? -1 : x > y;
}

/* uniqueidentifier: the last six bytes count most, then groups towards the front. */
static int compare_guid(void *s, int n, const void *p, int m, const void *q) {
  static const struct {
    uint8_t from, n;
  } groups[] = {{24, 12}, {19, 4}, {16, 2}, {14, 2}, {11, 2},
                {9, 2},   {6, 2},  {4, 2},  {2, 2},  {0, 2}};
  if (n != 36 || m != 36) return compare_ci(s, n, p, m, q);
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    int r = compare_text((const uint8_t *)p + groups[i].from, groups[i].n,
                         (const uint8_t *)q + groups[i].from, groups[i].n, AS_LETTERS);
    if (r != 0) return r;
  }
  return 0;
}

void compare_register(Session *s) {
  static const struct {
    const char *name;
    int (*compare)(void *, int, const void *, int, const void *);
  } collations[] = {{"TDS_CI", compare_ci},       {"TDS_CS", compare_cs},
                    {"TDS_AI", compare_ai},       {"TDS_BIN", compare_bin},
                    {"TDS_UNITS", compare_units}, {"TDS_DEC", compare_decimal},
                    {"TDS_TIME", compare_time},   {"TDS_GUID", compare_guid}};
  for (size_t i = 0; i < sizeof collations / sizeof *collations; i++) {
    sqlite3_create_collation(s->db, collations[i].name, SQLITE_UTF8, s, collations[i].compare);
  }
}
