/*
** unit.h: the words of a C unit test.
**
**     #include "unit.h"
**     int main(void) {
**       CHECK(edb_true());
**       CHECK_INT(edb_count(), 3);
**       return unit_done("count");
**     }
**
** A failing check is printed with its place and the rest goes on. Each argument is evaluated once.
*/
#ifndef EDB_UNIT_H
#define EDB_UNIT_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int unit_passed, unit_failed;

static inline int unit_check(int ok, const char *file, int line, const char *what) {
  if (ok) {
    unit_passed++;
  } else {
    unit_failed++;
    printf("FAIL %s:%d: %s\n", file, line, what);
  }
  return ok;
}

static inline int unit_check_int(int64_t got, int64_t expected, const char *file, int line,
                                 const char *what) {
  if (unit_check(got == expected, file, line, what)) return 1;
  printf("  expected: %" PRId64 "\n  got:      %" PRId64 "\n", expected, got);
  return 0;
}

static inline void unit_print_bytes(const char *label, const unsigned char *p, size_t n) {
  printf("  %s (%zu)", label, n);
  for (size_t i = 0; p && i < n && i < 64; i++) printf(" %02x", p[i]);
  printf(p ? "\n" : " NULL\n");
}

static inline int unit_check_bytes(const void *got, size_t n, const void *expected, size_t m,
                                   const char *file, int line, const char *what) {
  int same = n == m && (n == 0 || (got && expected && memcmp(got, expected, n) == 0));
  if (unit_check(same, file, line, what)) return 1;
  unit_print_bytes("expected:", expected, m);
  unit_print_bytes("got:     ", got, n);
  return 0;
}

static inline int unit_check_str(const char *got, const char *expected, const char *file, int line,
                                 const char *what) {
  int same = got && expected ? strcmp(got, expected) == 0 : got == expected;
  if (unit_check(same, file, line, what)) return 1;
  printf("  expected: %s\n  got:      %s\n", expected ? expected : "(NULL)", got ? got : "(NULL)");
  return 0;
}

/* Each answers whether it held. */
#define CHECK(condition) unit_check(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(got, expected)                                                                   \
  unit_check_int((int64_t)(got), (int64_t)(expected), __FILE__, __LINE__, #got)
#define CHECK_STR(got, expected) unit_check_str(got, expected, __FILE__, __LINE__, #got)
/* Text or bytes of a length against a string literal, whose NUL does not count. */
#define CHECK_TEXT(got, n, literal)                                                                \
  unit_check_bytes(got, n, "" literal, sizeof(literal) - 1, __FILE__, __LINE__, #got)
#define CHECK_BYTES(got, n, expected, m)                                                           \
  unit_check_bytes(got, n, expected, m, __FILE__, __LINE__, #got)

/* The line that the runner counts, and main's answer. */
static inline int unit_done(const char *name) {
  printf("%s: %d passed, %d failed\n", name, unit_passed, unit_failed);
  return unit_failed > 0;
}

#endif
