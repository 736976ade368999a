/*
** feWords.h: what the fields of P-256 and P-384 have in common. fep256.h and fep384.h include it where
** they have defined fe, LIMBS, SIZE, fe_p, fe_rr and fe_reduce.
*/
#ifndef ECR_FE_WORDS_H
#define ECR_FE_WORDS_H

/* Not inline: a point operation has a dozen of these two, and one copy of each is faster than that. */
ECR_NOINLINE static void fe_mul(fe *r, const fe *a, const fe *b) {
  uint64_t t[2 * LIMBS];
  ecr_words_mul(t, a->v, b->v, LIMBS);
  fe_reduce(r, t);
}

ECR_NOINLINE static void fe_square(fe *r, const fe *a) {
  uint64_t t[2 * LIMBS];
  ecr_words_square(t, a->v, LIMBS);
  fe_reduce(r, t);
}

static inline void fe_add(fe *r, const fe *a, const fe *b) {
  ecr_words_add(r->v, a->v, b->v, fe_p, LIMBS);
}

static inline void fe_sub(fe *r, const fe *a, const fe *b) {
  ecr_words_sub(r->v, a->v, b->v, fe_p, LIMBS);
}

static inline void fe_half(fe *r, const fe *a) { ecr_words_half(r->v, a->v, fe_p, LIMBS); }

/* r = a^(2^n) × b. */
static inline void fe_squares_mul(fe *r, const fe *a, int n, const fe *b) {
  fe t = *a;
  for (int i = 0; i < n; i++) fe_square(&t, &t);
  fe_mul(r, &t, b);
}

/* All ones where a is 0, else 0. */
static inline uint64_t fe_zero_mask(const fe *a) {
  uint64_t all = 0;
  for (int i = 0; i < LIMBS; i++) all |= a->v[i];
  return ecr_mask_zero(all);
}

/* r = mask ? a : r, for a mask of all ones or 0. */
static inline void fe_move(fe *r, const fe *a, uint64_t mask) {
  for (int i = 0; i < LIMBS; i++) r->v[i] ^= mask & (r->v[i] ^ a->v[i]);
}

/* From big-endian bytes, into Montgomery's form. All ones where they are below p, else 0. */
static inline uint64_t fe_from_bytes(fe *r, const uint8_t p[SIZE]) {
  uint64_t unused;
  unsigned char b = 0;
  for (int i = 0; i < LIMBS; i++) r->v[i] = ecr_load64(p + SIZE - 8 - 8 * i);
  for (int i = 0; i < LIMBS; i++) b = ecr_subb(b, r->v[i], fe_p[i], &unused);
  fe_mul(r, r, &fe_rr);
  return 0 - (uint64_t)b;
}

static inline void fe_to_bytes(uint8_t p[SIZE], const fe *a) {
  uint64_t t[2 * LIMBS] = {0};
  fe r;
  for (int i = 0; i < LIMBS; i++) t[i] = a->v[i];
  fe_reduce(&r, t);
  for (int i = 0; i < LIMBS; i++) ecr_store64(p + SIZE - 8 - 8 * i, r.v[i]);
}

#endif
