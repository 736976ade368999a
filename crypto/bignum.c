/*
** crypto/bignum.c: numbers of up to 8,192 bits, and Montgomery arithmetic modulo an odd one.
**
** A number is k limbs of 64 bits, the lowest first; k is even. Rows of products are done two at a time:
** a[] times two words of the other factor runs two chains of carries beside each other and touches
** each limb of the sum once. A product or square of 2k limbs is made first and reduced then, so that
** squaring saves a quarter. Where the processor has ADX, bignum_adx.c does the rows.
**
** No branch and no address depends on the numbers, except in what is named public.
*/
#include <stdatomic.h>
#include <string.h>

#include "cryptoInt.h"

#if ECR_U128
const char ecr_bignum[] = "u128";
#else
const char ecr_bignum[] = "u64";
#endif

static atomic_int portable_only;

void ecr_bn_force_portable(int portable) { atomic_store(&portable_only, portable != 0); }

static int by_adx(void) {
  return ecr_bn_has_adx() && !atomic_load_explicit(&portable_only, memory_order_relaxed);
}

/* ---- Bytes and comparisons ---------------------------------------------------------------------- */

uint64_t ecr_bn_load(uint64_t *r, size_t k, const uint8_t *p, size_t n) {
  uint64_t excess = 0;
  memset(r, 0, k * sizeof *r);
  for (size_t i = 0; i < n; i++) {
    uint64_t byte = p[n - 1 - i];
    if (i / 8 < k) {
      r[i / 8] |= byte << (i % 8 * 8);
    } else {
      excess |= byte;
    }
  }
  return ecr_mask_nonzero(excess);
}

void ecr_bn_store(uint8_t *p, size_t n, const uint64_t *a, size_t k) {
  for (size_t i = 0; i < n; i++) p[n - 1 - i] = i / 8 < k ? (uint8_t)(a[i / 8] >> (i % 8 * 8)) : 0;
}

uint64_t ecr_bn_less(const uint64_t *a, const uint64_t *b, size_t k) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < k; i++) (void)ecr_sub(a[i], b[i], &borrow);
  return ecr_hide(0 - borrow);
}

uint64_t ecr_bn_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t k) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < k; i++) r[i] = ecr_sub(a[i], b[i], &borrow);
  return borrow;
}

uint64_t ecr_bn_add_masked(uint64_t *r, const uint64_t *b, uint64_t mask, size_t k) {
  uint64_t carry = 0;
  mask = ecr_hide(mask);
  for (size_t i = 0; i < k; i++) r[i] = ecr_add(r[i], b[i] & mask, &carry);
  return carry;
}

/* ---- Products ------------------------------------------------------------------------------------ */

/* t[0..k-1] += a × (b0 + b1 × 2^64) + c; what goes beyond is in out[0] and out[1]. k is even. */
static inline void add_rows(uint64_t *t, const uint64_t *a, uint64_t b0, uint64_t b1, uint64_t c,
                            size_t k, uint64_t out[2]) {
  uint64_t d = 0, last = 0;
  size_t i = 0;
#define ADD_LIMB(j)                                                                                \
  do {                                                                                             \
    uint64_t limb = a[i + j], sum = ecr_mac(limb, b0, t[i + j], c, &c);                            \
    t[i + j] = ecr_mac(last, b1, sum, d, &d);                                                      \
    last = limb;                                                                                   \
  } while (0)
  if (k & 2) {
    ADD_LIMB(0);
    ADD_LIMB(1);
    i = 2;
  }
  for (; i < k; i += 4) {
    ADD_LIMB(0);
    ADD_LIMB(1);
    ADD_LIMB(2);
    ADD_LIMB(3);
  }
#undef ADD_LIMB
  out[0] = ecr_mac(last, b1, c, d, &out[1]);
}

void ecr_bn_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t k) {
  if (by_adx()) {
    ecr_bn_mul_adx(r, a, b, k);
    return;
  }
  memset(r, 0, k * sizeof *r);
  for (size_t i = 0; i < k; i += 2) add_rows(r + i, a, b[i], b[i + 1], 0, k, r + i + k);
}

/* Each product of two different limbs once. */
static void multiply_across(uint64_t *r, const uint64_t *a, size_t k) {
  memset(r, 0, k * sizeof *r);
  for (size_t i = 0; i < k; i += 2) {
    uint64_t high;
    r[2 * i + 1] = ecr_mac(a[i], a[i + 1], r[2 * i + 1], 0, &high);
    add_rows(r + 2 * i + 2, a + i + 2, a[i], a[i + 1], high, k - i - 2, r + i + k);
  }
}

/* These doubled, and the squares added. */
void ecr_bn_sqr(uint64_t *r, const uint64_t *a, size_t k) {
  uint64_t shifted = 0, carry = 0;
  if (by_adx()) {
    ecr_bn_cross_adx(r, a, k);
  } else {
    multiply_across(r, a, k);
  }
  for (size_t i = 0; i < k; i++) {
    uint64_t high, low = ecr_mac(a[i], a[i], 0, 0, &high);
    uint64_t r0 = r[2 * i], r1 = r[2 * i + 1];
    r[2 * i] = ecr_add((r0 << 1) | shifted, low, &carry);
    r[2 * i + 1] = ecr_add((r1 << 1) | (r0 >> 63), high, &carry);
    shifted = r1 >> 63;
  }
}

/* ---- Montgomery arithmetic ----------------------------------------------------------------------- */

/* Adds the multiple of n that makes t[0..k-1] zero, two limbs at a time; the carry beyond t[2k-1]. */
static uint64_t clear_low(uint64_t *t, const uint64_t *n, uint64_t n0, size_t k) {
  uint64_t top = 0, out[2];
  for (size_t i = 0; i < k; i += 2) {
    uint64_t carry, q0 = t[i] * n0;
    (void)ecr_mac(q0, n[0], t[i], 0, &carry);
    add_rows(t + i, n, q0, (t[i + 1] + q0 * n[1] + carry) * n0, 0, k, out);
    t[i + k] = ecr_add(t[i + k], out[0], &top);
    t[i + k + 1] = ecr_add(t[i + k + 1], out[1], &top);
  }
  return top;
}

/* r = t × R^-1 mod n, for t below n × R; t[] is used up. */
static void reduce(const ecr_mont *m, uint64_t *r, uint64_t *t) {
  const size_t k = m->k;
  const uint64_t *n = m->n;
  const uint64_t top = by_adx() ? ecr_bn_reduce_adx(t, n, m->n0, k) : clear_low(t, n, m->n0, k);
  uint64_t borrow = 0;
  /* What there is now is below 2n: n is taken off once, and given back where that was too much. */
  for (size_t i = 0; i < k; i++) r[i] = ecr_sub(t[i + k], n[i], &borrow);
  (void)ecr_bn_add_masked(r, n, 0 - (borrow & ~top), k);
}

void ecr_mont_reduce(ecr_mont *m, uint64_t *r, const uint64_t *t) {
  memcpy(m->t, t, 2 * m->k * sizeof *t);
  reduce(m, r, m->t);
}

void ecr_mont_mul(ecr_mont *m, uint64_t *r, const uint64_t *a, const uint64_t *b) {
  ecr_bn_mul(m->t, a, b, m->k);
  reduce(m, r, m->t);
}

void ecr_mont_sqr(ecr_mont *m, uint64_t *r, const uint64_t *a) {
  ecr_bn_sqr(m->t, a, m->k);
  reduce(m, r, m->t);
}

/* -1 / n[0] mod 2^64: each step of Newton's doubles the bits that are right, of which n[0] itself
** gives 3. */
static uint64_t negative_inverse(uint64_t n) {
  uint64_t x = n;
  for (int i = 0; i < 5; i++) x *= 2 - n * x;
  return 0 - x;
}

/* R^2 mod n without a branch. Doubling 1 gives R × 2^k; six squarings make R × 2^(64k) of it. */
void ecr_mont_init(ecr_mont *m) {
  const size_t k = m->k;
  uint64_t *x = m->rr;
  m->n0 = negative_inverse(m->n[0]);
  memset(x, 0, k * sizeof *x);
  x[0] = 1;
  for (size_t i = 0; i < 65 * k; i++) {
    uint64_t carry = 0, borrow = 0;
    for (size_t j = 0; j < k; j++) m->t[j] = ecr_add(x[j], x[j], &carry);
    for (size_t j = 0; j < k; j++) x[j] = ecr_sub(m->t[j], m->n[j], &borrow);
    (void)ecr_bn_add_masked(x, m->n, 0 - (borrow & ~carry), k);
  }
  for (int i = 0; i < 6; i++) ecr_mont_sqr(m, x, x);
}

/* ---- With a public modulus ------------------------------------------------------------------------ */

/* floor((2^128 - 1) / d) - 2^64 for d with its top bit set, a bit at a time: once a modulus. */
static uint64_t reciprocal(uint64_t d) {
  uint64_t q = 0, rest = ~d;
  for (int i = 0; i < 64; i++) {
    uint64_t top = rest >> 63;
    rest = (rest << 1) | 1;
    q <<= 1;
    if (top || rest >= d) {
      rest -= d;
      q |= 1;
    }
  }
  return q;
}

/* (high × 2^64 + low) / d for high below d (Möller and Granlund, Improved division by invariant
** integers, algorithm 4). */
static uint64_t divide(uint64_t high, uint64_t low, uint64_t d, uint64_t inverse) {
  uint64_t q1, carry = 0, q0 = ecr_mac(inverse, high, low, 0, &q1);
  q1 += high + carry + 1;
  uint64_t rest = low - q1 * d;
  if (rest > q0) {
    q1--;
    rest += d;
  }
  return rest >= d ? q1 + 1 : q1;
}

/* x = x × 2^64 mod n, where n has its top bit set. */
static void shift_limb(uint64_t *x, const uint64_t *n, size_t k, uint64_t inverse) {
  const uint64_t d = n[k - 1], high = x[k - 1];
  const uint64_t q = high < d ? divide(high, k > 1 ? x[k - 2] : 0, d, inverse) : UINT64_MAX;
  uint64_t carry = 0, borrow = 0;
  uint64_t shifted = 0;
  for (size_t i = 0; i < k; i++) {
    uint64_t product = ecr_mac(q, n[i], carry, 0, &carry), limb = x[i];
    x[i] = ecr_sub(shifted, product, &borrow);
    shifted = limb;
  }
  /* The estimate is at most 2 too large. */
  uint64_t top = ecr_sub(shifted, carry, &borrow);
  while (top) top += ecr_bn_add_masked(x, n, UINT64_MAX, k);
}

void ecr_mont_init_public(ecr_mont *m) {
  size_t k = m->k, bits = 0;
  uint64_t *n = m->t, *x = m->rr;
  m->n0 = negative_inverse(m->n[0]);
  while (m->n[k - 1] == 0) k--;
  while (m->n[k - 1] << bits >> 63 == 0) bits++;
  for (size_t i = 0; i < k; i++)
    n[i] = m->n[i] << bits | (bits && i ? m->n[i - 1] >> (64 - bits) : 0);
  /* 2^(64k) - n, then as many limbs and bits up as are missing to R^2 in the shifted numbers. */
  memset(x, 0, m->k * sizeof *x);
  (void)ecr_bn_sub(x, x, n, k);
  const uint64_t inverse = reciprocal(n[k - 1]);
  for (size_t i = k; i < 2 * m->k; i++) shift_limb(x, n, k, inverse);
  for (size_t i = 0; i < bits; i++) {
    uint64_t carry = ecr_bn_add_masked(x, x, UINT64_MAX, k);
    if (carry || !ecr_bn_less(x, n, k)) (void)ecr_bn_sub(x, x, n, k);
  }
  for (size_t i = 0; i < k; i++)
    x[i] = x[i] >> bits | (bits && i + 1 < k ? x[i + 1] << (64 - bits) : 0);
}

void ecr_mont_exp_public(ecr_mont *m, uint64_t *r, const uint64_t *a, uint32_t e) {
  uint64_t base[ECR_BN_LIMBS];
  int bit = 31;
  while (!(e >> bit)) bit--;
  ecr_mont_mul(m, base, a, m->rr);
  memcpy(r, base, m->k * sizeof *r);
  /* e is odd: its last bit's factor is a itself, which takes the result out of Montgomery's form. */
  while (bit-- > 0) {
    ecr_mont_sqr(m, r, r);
    if (bit == 0) {
      ecr_mont_mul(m, r, r, a);
    } else if (e >> bit & 1) {
      ecr_mont_mul(m, r, r, base);
    }
  }
}
