/*
** fep384.h: the field of P-384, p = 2^384 - 2^128 - 2^96 + 2^32 - 1 (SP 800-186 3.2.1.4).
**
** An element is six words, the lowest first, always below p, in Montgomery's form: a × 2^384 mod p.
*/
#ifndef ECR_FEP384_H
#define ECR_FEP384_H

#include "words.h"

#define LIMBS 6
#define SIZE 48 /* bytes */

typedef struct fe {
  uint64_t v[LIMBS];
} fe;

static const uint64_t fe_p[LIMBS] = {UINT64_C(0x00000000ffffffff), UINT64_C(0xffffffff00000000),
                                     UINT64_C(0xfffffffffffffffe), UINT64_C(0xffffffffffffffff),
                                     UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)};

/* R^2 mod p, R = 2^384: brings a number into Montgomery's form. */
static const fe fe_rr = {{UINT64_C(0xfffffffe00000001), UINT64_C(0x0000000200000000),
                          UINT64_C(0xfffffffe00000000), UINT64_C(0x0000000200000000),
                          UINT64_C(0x0000000000000001), UINT64_C(0x0000000000000000)}};
/* 1 in it. */
static const fe fe_one = {{UINT64_C(0xffffffff00000001), UINT64_C(0x00000000ffffffff),
                           UINT64_C(0x0000000000000001), UINT64_C(0x0000000000000000),
                           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}};

/* r = t / 2^384 mod p, for t below p × 2^384.
**
** Each of six steps adds m × p, where m = t × (2^32 + 1) mod 2^64 makes the lowest word 0, and drops
** that word. m × p is m × 2^384 - y with y = m × (2^128 + 2^96 - 2^32 + 1); y's lowest word is t's. */
static inline void fe_reduce(fe *r, const uint64_t t[2 * LIMBS]) {
  uint64_t t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3], t4 = t[4], t5 = t[5], s[LIMBS];
  unsigned char c;
  ECR_UNROLL
  for (int i = 0; i < 6; i++) {
    uint64_t m = t0 + (t0 << 32), low = m << 32, high = m >> 32, y1, y2, y3, unused;
    /* y / 2^64 = (low - high - b) + (high + m) × 2^64, where b is what m - low borrows. */
    c = ecr_subb(0, m, low, &unused);
    c = ecr_subb(c, low, high, &y1);
    c = ecr_subb(c, high, 0, &y2);
    y3 = 0 - (uint64_t)c;
    c = ecr_addc(0, y2, m, &y2);
    y3 += c;
    c = ecr_subb(0, t1, y1, &t0);
    c = ecr_subb(c, t2, y2, &t1);
    c = ecr_subb(c, t3, y3, &t2);
    c = ecr_subb(c, t4, 0, &t3);
    c = ecr_subb(c, t5, 0, &t4);
    t5 = m - c;
  }
  c = ecr_addc(0, t0, t[6], &s[0]);
  c = ecr_addc(c, t1, t[7], &s[1]);
  c = ecr_addc(c, t2, t[8], &s[2]);
  c = ecr_addc(c, t3, t[9], &s[3]);
  c = ecr_addc(c, t4, t[10], &s[4]);
  c = ecr_addc(c, t5, t[11], &s[5]);
  ecr_words_reduce_once(r->v, s, c, fe_p, LIMBS);
}

#include "feWords.h"

/* 1 / a = a^(p - 2); 0 for 0. p - 2 in bits is 255 ones, 0, 32 ones, 64 zeros, 30 ones, 01; x<n> is
** a^(2^n - 1). */
static inline void fe_invert(fe *r, const fe *a) {
  fe x2, x3, x6, x12, x15, x30, x32, t;
  fe_squares_mul(&x2, a, 1, a);
  fe_squares_mul(&x3, &x2, 1, a);
  fe_squares_mul(&x6, &x3, 3, &x3);
  fe_squares_mul(&x12, &x6, 6, &x6);
  fe_squares_mul(&x15, &x12, 3, &x3);
  fe_squares_mul(&x30, &x15, 15, &x15);
  fe_squares_mul(&x32, &x30, 2, &x2);
  fe_squares_mul(&t, &x30, 30, &x30); /* 60 */
  fe_squares_mul(&t, &t, 60, &t);     /* 120 */
  fe_squares_mul(&t, &t, 120, &t);    /* 240 */
  fe_squares_mul(&t, &t, 15, &x15);   /* 255 ones */
  fe_squares_mul(&t, &t, 33, &x32);   /* 0, 32 ones */
  fe_squares_mul(&t, &t, 94, &x30);   /* 64 zeros, 30 ones */
  fe_squares_mul(r, &t, 2, a);        /* 01 */
}

#endif
