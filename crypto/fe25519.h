/*
** fe25519.h: the field of 2^255 - 19, for X25519 (x25519.c) and Ed25519 (ed25519.c).
**
** An element is five limbs in radix 2^51 that need not be reduced. *Tight* limbs are below 2^51 + 2^15:
** so are the results of mul, square, small and carry. *Loose* ones are below 2^54: so are the
** results of one add or sub of tight ones; mul and square take these. Nothing here branches or indexes by value.
*/
#ifndef ECR_FE25519_H
#define ECR_FE25519_H

#include "cryptoInt.h"

typedef struct fe {
  uint64_t v[5];
} fe;

#define FE_MASK ((UINT64_C(1) << 51) - 1)

/* ---- Sums of products -------------------------------------------------------------------------- */

#if ECR_U128
typedef ecr_u128 fe_wide;
static inline fe_wide fe_product(uint64_t a, uint64_t b) { return (ecr_u128)a * b; }
static inline fe_wide fe_plus(fe_wide a, fe_wide b) { return a + b; }
static inline uint64_t fe_low(fe_wide a) { return (uint64_t)a & FE_MASK; }
static inline uint64_t fe_high(fe_wide a) { return (uint64_t)(a >> 51); }
static inline fe_wide fe_plus64(fe_wide a, uint64_t b) { return a + b; }
#else
typedef struct fe_wide {
  uint64_t low, high;
} fe_wide;
static inline fe_wide fe_product(uint64_t a, uint64_t b) {
  fe_wide r;
  r.low = ecr_mac(a, b, 0, 0, &r.high);
  return r;
}
static inline fe_wide fe_plus(fe_wide a, fe_wide b) {
  fe_wide r = {a.low + b.low, a.high + b.high};
  r.high += r.low < b.low;
  return r;
}
static inline uint64_t fe_low(fe_wide a) { return a.low & FE_MASK; }
static inline uint64_t fe_high(fe_wide a) { return (a.low >> 51) | (a.high << 13); }
static inline fe_wide fe_plus64(fe_wide a, uint64_t b) {
  fe_wide r = {a.low + b, a.high};
  r.high += r.low < b;
  return r;
}
#endif

/* Five sums, each below 2^115 and the last below 2^111, to tight limbs. Two chains of carries, from t0 and
** from t3, run beside each other. */
static inline void fe_reduce(fe *r, fe_wide t0, fe_wide t1, fe_wide t2, fe_wide t3, fe_wide t4) {
  t4 = fe_plus64(t4, fe_high(t3));
  t1 = fe_plus64(t1, fe_high(t0));
  uint64_t v0 = fe_low(t0) + 19 * fe_high(t4);
  t2 = fe_plus64(t2, fe_high(t1));
  uint64_t v3 = fe_low(t3) + fe_high(t2);
  r->v[0] = v0 & FE_MASK;
  r->v[1] = fe_low(t1) + (v0 >> 51);
  r->v[2] = fe_low(t2);
  r->v[3] = v3 & FE_MASK;
  r->v[4] = fe_low(t4) + (v3 >> 51);
}

/* ---- Arithmetic --------------------------------------------------------------------------------- */

static inline void fe_add(fe *r, const fe *a, const fe *b) {
  for (int i = 0; i < 5; i++) r->v[i] = a->v[i] + b->v[i];
}

/* a - b + 2p, for a tight b. */
static inline void fe_sub(fe *r, const fe *a, const fe *b) {
  r->v[0] = a->v[0] + UINT64_C(0xfffffffffffda) - b->v[0];
  for (int i = 1; i < 5; i++) r->v[i] = a->v[i] + UINT64_C(0xffffffffffffe) - b->v[i];
}

/* a - b + 4p, for b the sum or difference of two tight ones, a tight or the sum of two. */
static inline void fe_sub_loose(fe *r, const fe *a, const fe *b) {
  r->v[0] = a->v[0] + UINT64_C(0x1fffffffffffb4) - b->v[0];
  for (int i = 1; i < 5; i++) r->v[i] = a->v[i] + UINT64_C(0x1ffffffffffffc) - b->v[i];
}

static inline void fe_carry(fe *r, const fe *a) {
  uint64_t v0 = a->v[0], v1 = a->v[1] + (v0 >> 51), v2 = a->v[2] + (v1 >> 51);
  uint64_t v3 = a->v[3] + (v2 >> 51), v4 = a->v[4] + (v3 >> 51);
  r->v[0] = (v0 & FE_MASK) + 19 * (v4 >> 51);
  r->v[1] = v1 & FE_MASK;
  r->v[2] = v2 & FE_MASK;
  r->v[3] = v3 & FE_MASK;
  r->v[4] = v4 & FE_MASK;
}

static inline void fe_mul(fe *r, const fe *a, const fe *b) {
  uint64_t a0 = a->v[0], a1 = a->v[1], a2 = a->v[2], a3 = a->v[3], a4 = a->v[4];
  uint64_t b0 = b->v[0], b1 = b->v[1], b2 = b->v[2], b3 = b->v[3], b4 = b->v[4];
  uint64_t c1 = 19 * b1, c2 = 19 * b2, c3 = 19 * b3, c4 = 19 * b4;
#define FE_SUM(p0, q0, p1, q1, p2, q2, p3, q3, p4, q4)                                             \
  fe_plus(fe_plus(fe_plus(fe_plus(fe_product(p0, q0), fe_product(p1, q1)), fe_product(p2, q2)),    \
                  fe_product(p3, q3)),                                                             \
          fe_product(p4, q4))
  fe_reduce(r, FE_SUM(a0, b0, a1, c4, a2, c3, a3, c2, a4, c1),
            FE_SUM(a0, b1, a1, b0, a2, c4, a3, c3, a4, c2),
            FE_SUM(a0, b2, a1, b1, a2, b0, a3, c4, a4, c3),
            FE_SUM(a0, b3, a1, b2, a2, b1, a3, b0, a4, c4),
            FE_SUM(a0, b4, a1, b3, a2, b2, a3, b1, a4, b0));
#undef FE_SUM
}

static inline void fe_square(fe *r, const fe *a) {
  uint64_t a0 = a->v[0], a1 = a->v[1], a2 = a->v[2], a3 = a->v[3], a4 = a->v[4];
  uint64_t d0 = 2 * a0, d1 = 2 * a1, d2 = 2 * a2, c3 = 19 * a3, c4 = 19 * a4;
#define FE_SUM(p0, q0, p1, q1, p2, q2)                                                             \
  fe_plus(fe_plus(fe_product(p0, q0), fe_product(p1, q1)), fe_product(p2, q2))
  fe_reduce(r, FE_SUM(a0, a0, d1, c4, d2, c3), FE_SUM(d0, a1, d2, c4, a3, c3),
            FE_SUM(d0, a2, a1, a1, 2 * a3, c4), FE_SUM(d0, a3, d1, a2, a4, c4),
            FE_SUM(d0, a4, d1, a3, a2, a2));
#undef FE_SUM
}

/* a × n + b, for n below 2^20 and a tight b. */
static inline void fe_small_add(fe *r, const fe *a, uint32_t n, const fe *b) {
  fe_reduce(r, fe_plus64(fe_product(a->v[0], n), b->v[0]),
            fe_plus64(fe_product(a->v[1], n), b->v[1]), fe_plus64(fe_product(a->v[2], n), b->v[2]),
            fe_plus64(fe_product(a->v[3], n), b->v[3]), fe_plus64(fe_product(a->v[4], n), b->v[4]));
}

/* r = choice ? b : a, for choice 0 or 1. */
static inline void fe_select(fe *r, const fe *a, const fe *b, uint64_t choice) {
  uint64_t mask = 0 - choice;
  for (int i = 0; i < 5; i++) r->v[i] = a->v[i] ^ (mask & (a->v[i] ^ b->v[i]));
}

/* ---- Bytes, little-endian (RFC 7748 5, RFC 8032 5.1.2) -------------------------------------------- */

static inline uint64_t fe_load64(const uint8_t *p) {
  uint64_t v = 0;
  for (int i = 7; i >= 0; i--) v = (v << 8) | p[i];
  return v;
}

/* The top bit is masked; what is p or more is taken modulo p. */
static inline void fe_from_bytes(fe *r, const uint8_t p[32]) {
  uint64_t w0 = fe_load64(p), w1 = fe_load64(p + 8), w2 = fe_load64(p + 16);
  uint64_t w3 = fe_load64(p + 24);
  r->v[0] = w0 & FE_MASK;
  r->v[1] = ((w0 >> 51) | (w1 << 13)) & FE_MASK;
  r->v[2] = ((w1 >> 38) | (w2 << 26)) & FE_MASK;
  r->v[3] = ((w2 >> 25) | (w3 << 39)) & FE_MASK;
  r->v[4] = (w3 >> 12) & FE_MASK;
}

/* The only representative below p. */
static inline void fe_to_bytes(uint8_t p[32], const fe *a) {
  fe t;
  fe_carry(&t, a);
  fe_carry(&t, &t);
  /* Now below 2p. q = 1 where t >= p, that is t + 19 >= 2^255. */
  uint64_t q = (t.v[0] + 19) >> 51;
  for (int i = 1; i < 5; i++) q = (t.v[i] + q) >> 51;
  t.v[0] += 19 * q;
  for (int i = 0; i < 4; i++) {
    t.v[i + 1] += t.v[i] >> 51;
    t.v[i] &= FE_MASK;
  }
  t.v[4] &= FE_MASK;
  uint64_t w[4] = {t.v[0] | t.v[1] << 51, t.v[1] >> 13 | t.v[2] << 38, t.v[2] >> 26 | t.v[3] << 25,
                   t.v[3] >> 39 | t.v[4] << 12};
  for (int i = 0; i < 32; i++) p[i] = (uint8_t)(w[i / 8] >> (8 * (i % 8)));
}

/* ---- Powers ---------------------------------------------------------------------------------------- */

static inline void fe_squares(fe *r, const fe *a, int n) {
  fe_square(r, a);
  while (--n > 0) fe_square(r, r);
}

/* r = a^(2^250 - 1), and *eleven = a^11. */
static inline void fe_power_250(fe *r, fe *eleven, const fe *a) {
  fe t, u;
  fe_square(&t, a);        /* 2 */
  fe_squares(&u, &t, 2);   /* 8 */
  fe_mul(&u, &u, a);       /* 9 */
  fe_mul(eleven, &t, &u);  /* 11 */
  fe_square(&t, eleven);   /* 22 */
  fe_mul(r, &t, &u);       /* 2^5 - 1 */
  fe_squares(&t, r, 5);    /* 2^10 - 2^5 */
  fe_mul(r, &t, r);        /* 2^10 - 1 */
  fe_squares(&t, r, 10);   /* … */
  fe_mul(&u, &t, r);       /* 2^20 - 1 */
  fe_squares(&t, &u, 20);  /* … */
  fe_mul(&t, &t, &u);      /* 2^40 - 1 */
  fe_squares(&t, &t, 10);  /* … */
  fe_mul(r, &t, r);        /* 2^50 - 1 */
  fe_squares(&t, r, 50);   /* … */
  fe_mul(&u, &t, r);       /* 2^100 - 1 */
  fe_squares(&t, &u, 100); /* … */
  fe_mul(&t, &t, &u);      /* 2^200 - 1 */
  fe_squares(&t, &t, 50);  /* … */
  fe_mul(r, &t, r);        /* 2^250 - 1 */
}

/* 1 / a = a^(p - 2) = a^(2^255 - 21); 0 for 0. */
static inline void fe_invert(fe *r, const fe *a) {
  fe t, eleven;
  fe_power_250(&t, &eleven, a);
  fe_squares(&t, &t, 5);
  fe_mul(r, &t, &eleven);
}

#endif
