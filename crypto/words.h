/*
** words.h: chains of carries and rows of products for the fields of P-256 and P-384, in the form that
** compilers turn into add-with-carry: a carry that is one byte, and on x86-64 the intrinsics.
**
** -O3 is meant: the loops have constant ends and are unrolled.
*/
#ifndef ECR_WORDS_H
#define ECR_WORDS_H

#include "cryptoInt.h"

#if defined(__clang__)
#define ECR_UNROLL _Pragma("clang loop unroll(full)")
#define ECR_NOINLINE __attribute__((noinline))
#elif defined(__GNUC__)
#define ECR_UNROLL _Pragma("GCC unroll 16")
#define ECR_NOINLINE __attribute__((noinline))
#else
#define ECR_UNROLL
#define ECR_NOINLINE
#endif

/* ---- Carries: 0 or 1 in, 0 or 1 out ----------------------------------------------------------------- */

#if defined(__x86_64__) && ECR_U128
#include <immintrin.h>

/* *r = a + b + carry; the carry out. */
static inline unsigned char ecr_addc(unsigned char carry, uint64_t a, uint64_t b, uint64_t *r) {
  unsigned long long t;
  carry = _addcarry_u64(carry, a, b, &t);
  *r = t;
  return carry;
}

/* *r = a - b - borrow; the borrow out. */
static inline unsigned char ecr_subb(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *r) {
  unsigned long long t;
  borrow = _subborrow_u64(borrow, a, b, &t);
  *r = t;
  return borrow;
}
#else
static inline unsigned char ecr_addc(unsigned char carry, uint64_t a, uint64_t b, uint64_t *r) {
  uint64_t c = carry;
  *r = ecr_add(a, b, &c);
  return (unsigned char)c;
}

static inline unsigned char ecr_subb(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *r) {
  uint64_t c = borrow;
  *r = ecr_sub(a, b, &c);
  return (unsigned char)c;
}
#endif

/* a × b: the low word, and the high one in *high. */
static inline uint64_t ecr_mul64(uint64_t a, uint64_t b, uint64_t *high) {
#if ECR_U128
  ecr_u128 t = (ecr_u128)a * b;
  *high = (uint64_t)(t >> 64);
  return (uint64_t)t;
#else
  return ecr_mac(a, b, 0, 0, high);
#endif
}

/* ---- Numbers of n words, n known to the compiler ------------------------------------------------------ */

/* t[0..2n-1] = a × b. */
static inline void ecr_words_mul(uint64_t *t, const uint64_t *a, const uint64_t *b, int n) {
  uint64_t low[6], high[6];
  ECR_UNROLL
  for (int i = 0; i < n; i++) {
    unsigned char c = 0;
    ECR_UNROLL
    for (int j = 0; j < n; j++) low[j] = ecr_mul64(a[j], b[i], &high[j]);
    ECR_UNROLL
    for (int j = 1; j < n; j++) c = ecr_addc(c, low[j], high[j - 1], &low[j]);
    high[n - 1] += c;
    if (i == 0) {
      ECR_UNROLL
      for (int j = 0; j < n; j++) t[j] = low[j];
    } else {
      c = 0;
      ECR_UNROLL
      for (int j = 0; j < n; j++) c = ecr_addc(c, t[i + j], low[j], &t[i + j]);
      high[n - 1] += c;
    }
    t[i + n] = high[n - 1];
  }
}

/* t[0..2n-1] = a²: each product of two different words once, all doubled, and the squares added. */
static inline void ecr_words_square(uint64_t *t, const uint64_t *a, int n) {
  uint64_t low[6], high[6];
  unsigned char c = 0;
  ECR_UNROLL
  for (int i = 0; i < n - 1; i++) {
    const int m = n - 1 - i; /* a[i] × a[i+1..n-1], to t[2i+1..i+n] */
    ECR_UNROLL
    for (int j = 0; j < m; j++) low[j] = ecr_mul64(a[i + 1 + j], a[i], &high[j]);
    c = 0;
    ECR_UNROLL
    for (int j = 1; j < m; j++) c = ecr_addc(c, low[j], high[j - 1], &low[j]);
    high[m - 1] += c;
    if (i == 0) {
      ECR_UNROLL
      for (int j = 0; j < m; j++) t[1 + j] = low[j];
    } else {
      c = 0;
      ECR_UNROLL
      for (int j = 0; j < m; j++) c = ecr_addc(c, t[2 * i + 1 + j], low[j], &t[2 * i + 1 + j]);
      high[m - 1] += c;
    }
    t[i + n] = high[m - 1];
  }
  c = 0;
  ECR_UNROLL
  for (int i = 1; i < 2 * n - 1; i++) c = ecr_addc(c, t[i], t[i], &t[i]);
  t[2 * n - 1] = c;
  c = 0;
  t[0] = 0;
  ECR_UNROLL
  for (int i = 0; i < n; i++) {
    uint64_t h, l = ecr_mul64(a[i], a[i], &h);
    c = ecr_addc(c, t[2 * i], l, &t[2 * i]);
    c = ecr_addc(c, t[2 * i + 1], h, &t[2 * i + 1]);
  }
}

/* r = t, less p where that leaves something; top is t's next word, and t below 2p. */
static inline void ecr_words_reduce_once(uint64_t *r, const uint64_t *t, unsigned char top,
                                         const uint64_t *p, int n) {
  uint64_t s[6], unused;
  unsigned char b = 0;
  ECR_UNROLL
  for (int i = 0; i < n; i++) b = ecr_subb(b, t[i], p[i], &s[i]);
  b = ecr_subb(b, top, 0, &unused);
  uint64_t keep = 0 - (uint64_t)b;
  ECR_UNROLL
  for (int i = 0; i < n; i++) r[i] = s[i] ^ (keep & (s[i] ^ t[i]));
}

/* r = a + b and r = a - b modulo p. */
static inline void ecr_words_add(uint64_t *r, const uint64_t *a, const uint64_t *b,
                                 const uint64_t *p, int n) {
  uint64_t t[6];
  unsigned char c = 0;
  ECR_UNROLL
  for (int i = 0; i < n; i++) c = ecr_addc(c, a[i], b[i], &t[i]);
  ecr_words_reduce_once(r, t, c, p, n);
}

static inline void ecr_words_sub(uint64_t *r, const uint64_t *a, const uint64_t *b,
                                 const uint64_t *p, int n) {
  uint64_t t[6];
  unsigned char c = 0;
  ECR_UNROLL
  for (int i = 0; i < n; i++) c = ecr_subb(c, a[i], b[i], &t[i]);
  uint64_t mask = 0 - (uint64_t)c;
  c = 0;
  ECR_UNROLL
  for (int i = 0; i < n; i++) c = ecr_addc(c, t[i], p[i] & mask, &r[i]);
}

/* r = a / 2 modulo an odd p. */
static inline void ecr_words_half(uint64_t *r, const uint64_t *a, const uint64_t *p, int n) {
  uint64_t t[6], mask = 0 - (a[0] & 1);
  unsigned char c = 0;
  ECR_UNROLL
  for (int i = 0; i < n; i++) c = ecr_addc(c, a[i], p[i] & mask, &t[i]);
  ECR_UNROLL
  for (int i = 0; i < n - 1; i++) r[i] = t[i] >> 1 | t[i + 1] << 63;
  r[n - 1] = t[n - 1] >> 1 | (uint64_t)c << 63;
}

#endif
