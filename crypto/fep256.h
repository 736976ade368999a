/*
** fep256.h: the field of P-256, p = 2^256 - 2^224 + 2^192 + 2^96 - 1 (SP 800-186 3.2.1.3).
**
** An element is four words, the lowest first, always below p, in Montgomery's form: a × 2^256 mod p.
*/
#ifndef ECR_FEP256_H
#define ECR_FEP256_H

#include "words.h"

#define LIMBS 4
#define SIZE 32 /* bytes */

typedef struct fe {
  uint64_t v[LIMBS];
} fe;

static const uint64_t fe_p[LIMBS] = {UINT64_C(0xffffffffffffffff), UINT64_C(0x00000000ffffffff), 0,
                                     UINT64_C(0xffffffff00000001)};

/* R^2 mod p, R = 2^256: brings a number into Montgomery's form. */
static const fe fe_rr = {{UINT64_C(0x0000000000000003), UINT64_C(0xfffffffbffffffff),
                          UINT64_C(0xfffffffffffffffe), UINT64_C(0x00000004fffffffd)}};
/* 1 in it. */
static const fe fe_one = {{UINT64_C(0x0000000000000001), UINT64_C(0xffffffff00000000),
                           UINT64_C(0xffffffffffffffff), UINT64_C(0x00000000fffffffe)}};

/* r = t / 2^256 mod p, for t below p × 2^256.
**
** p is -1 modulo 2^64, so each of four steps adds m × p where m is t's lowest word, and drops that
** word. m × (p + 1) is m × 2^96 + m × (2^64 - 2^32 + 1) × 2^192: no multiplication is needed. */
static inline void fe_reduce(fe *r, const uint64_t t[2 * LIMBS]) {
  uint64_t t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3], s[LIMBS];
  unsigned char c;
  ECR_UNROLL
  for (int i = 0; i < 4; i++) {
    uint64_t m = t0, low, high;
    c = ecr_subb(0, m, m << 32, &low);
    ecr_subb(c, m, m >> 32, &high);
    c = ecr_addc(0, t1, m << 32, &t0);
    c = ecr_addc(c, t2, m >> 32, &t1);
    c = ecr_addc(c, t3, low, &t2);
    t3 = high + c;
  }
  c = ecr_addc(0, t0, t[4], &s[0]);
  c = ecr_addc(c, t1, t[5], &s[1]);
  c = ecr_addc(c, t2, t[6], &s[2]);
  c = ecr_addc(c, t3, t[7], &s[3]);
  ecr_words_reduce_once(r->v, s, c, fe_p, LIMBS);
}

#include "feWords.h"

/* 1 / a = a^(p - 2); 0 for 0. p - 2 in words of 32 bits is
** ffffffff 00000001 00000000 00000000 00000000 ffffffff ffffffff fffffffd; x<n> is a^(2^n - 1). */
static inline void fe_invert(fe *r, const fe *a) {
  fe x2, x4, x8, x16, x32, t;
  fe_squares_mul(&x2, a, 1, a);
  fe_squares_mul(&x4, &x2, 2, &x2);
  fe_squares_mul(&x8, &x4, 4, &x4);
  fe_squares_mul(&x16, &x8, 8, &x8);
  fe_squares_mul(&x32, &x16, 16, &x16);
  fe_squares_mul(&t, &x32, 32, a);   /* ffffffff 00000001 */
  fe_squares_mul(&t, &t, 128, &x32); /* 00000000 00000000 00000000 ffffffff */
  fe_squares_mul(&t, &t, 32, &x32);  /* ffffffff */
  fe_squares_mul(&t, &t, 16, &x16);  /* fffffffd: 30 ones and 01 */
  fe_squares_mul(&t, &t, 8, &x8);
  fe_squares_mul(&t, &t, 4, &x4);
  fe_squares_mul(&t, &t, 2, &x2);
  fe_squares_mul(r, &t, 2, a);
}

#endif
