/*
** crypto/bytes.c: wiping, comparing and selecting bytes.
**
** barrier() hides from the compiler what it could otherwise reason about: that a mask has two values
** (and so may become a branch), or that wiped memory is not read again (and so need not be wiped).
*/
#include "crypto.h"

#include <string.h>

static inline uint8_t barrier(uint8_t x) {
#ifndef ECR_CT_MSAN /* the sanitizer takes what assembler sees for a leak (test/ct/) */
  __asm__("" : "+r"(x));
#endif
  return x;
}

void ecr_wipe(void *p, size_t n) {
  if (n) memset(p, 0, n);
  __asm__ __volatile__("" : : "r"(p) : "memory");
}

int ecr_equal(const void *a, const void *b, size_t n) {
  const uint8_t *x = a, *y = b;
  uint8_t differ = 0;
  for (size_t i = 0; i < n; i++) differ = barrier((uint8_t)(differ | (x[i] ^ y[i])));
  return (int)(((uint32_t)differ - 1) >> 31);
}

void ecr_select(void *out, const void *a, const void *b, size_t n, int choice) {
  uint8_t *o = out;
  const uint8_t *x = a, *y = b;
  const uint8_t mask = barrier((uint8_t)-choice);
  for (size_t i = 0; i < n; i++) o[i] = (uint8_t)(y[i] ^ (mask & (x[i] ^ y[i])));
}
