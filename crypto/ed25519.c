/*
** ed25519.c: Ed25519 verification (RFC 8032 5.1.7).
**
** Refused: s of the order or more; a key whose y is p or more, or that is not on the curve. What decides is
** S × B = R + k × A itself, not eight times both sides, by the bytes of S × B - k × A: so R has to be
** spelt canonically too. As in the RFC, a key of small order is a key: who has one in his trust has
** signatures that anyone can make.
**
** All is public, so times may depend on it.
**
** The curve is -x² + y² = 1 + d x² y², x = X / Z, y = Y / Z, xy = T / Z: Hisil, Wong, Carter and
** Dawson, "Twisted Edwards Curves Revisited" (2008), whose formulas hold for all points.
*/
#include <string.h>

#include "fe25519.h"
#include "words.h"

static const fe edwards_d = {{UINT64_C(0x34dca135978a3), UINT64_C(0x1a8283b156ebd),
                              UINT64_C(0x5e7a26001c029), UINT64_C(0x739c663a03cbb),
                              UINT64_C(0x52036cee2b6ff)}};
static const fe root_of_minus_1 = {{UINT64_C(0x61b274a0ea0b0), UINT64_C(0x0d5a5fc8f189d),
                                    UINT64_C(0x7ef5e9cbd0c60), UINT64_C(0x78595a6804c9e),
                                    UINT64_C(0x2b8324804fc1d)}};
static const fe fe_one = {{1}}, fe_zero = {{0}};

/* L, the order of B. */
static const ecr_order order = {4,
                                {UINT64_C(0x5812631a5cf5d3ed), UINT64_C(0x14def9dea2f79cd6),
                                 UINT64_C(0x0000000000000000), UINT64_C(0x1000000000000000)},
                                {UINT64_C(0xa40611e3449c0f01), UINT64_C(0xd00e1ba768859347),
                                 UINT64_C(0xceec73d217f5be65), UINT64_C(0x0399411b7c309a3d)},
                                UINT64_C(0xd2b51da312547e1b)};
/* R mod L, R = 2^256. */
static const uint64_t order_r[4] = {UINT64_C(0xd6ec31748d98951d), UINT64_C(0xc6ef5bf4737dcf70),
                                    UINT64_C(0xfffffffffffffffe), UINT64_C(0x0fffffffffffffff)};

typedef struct projective {
  fe x, y, z;
} projective;

typedef struct extended {
  fe x, y, z, t;
} extended;

/* X / Z and Y / T, both to be multiplied out. */
typedef struct completed {
  fe x, y, z, t;
} completed;

/* A summand: Y + X, Y - X, 2Z, 2dT. */
typedef struct cached {
  fe sum, difference, z2, t2d;
} cached;

/* ---- The field, each of the two in one copy ------------------------------------------------------------ */

ECR_NOINLINE static void mul(fe *r, const fe *a, const fe *b) { fe_mul(r, a, b); }
ECR_NOINLINE static void square(fe *r, const fe *a) { fe_square(r, a); }

static int fe_equal_public(const fe *a, const fe *b) {
  uint8_t x[32], y[32];
  fe_to_bytes(x, a);
  fe_to_bytes(y, b);
  return memcmp(x, y, 32) == 0;
}

/* ---- Points --------------------------------------------------------------------------------------------- */

static void to_projective(projective *r, const completed *a) {
  mul(&r->x, &a->x, &a->t);
  mul(&r->y, &a->y, &a->z);
  mul(&r->z, &a->z, &a->t);
}

static void to_extended(extended *r, const completed *a) {
  mul(&r->x, &a->x, &a->t);
  mul(&r->y, &a->y, &a->z);
  mul(&r->z, &a->z, &a->t);
  mul(&r->t, &a->x, &a->y);
}

static void to_cached(cached *r, const extended *a) {
  fe d2;
  fe_add(&d2, &edwards_d, &edwards_d);
  fe_add(&r->sum, &a->y, &a->x);
  fe_sub(&r->difference, &a->y, &a->x);
  fe_add(&r->z2, &a->z, &a->z);
  mul(&r->t2d, &a->t, &d2);
}

static void point_double(completed *r, const projective *a) {
  fe xx, yy, zz, t;
  square(&xx, &a->x);
  square(&yy, &a->y);
  square(&zz, &a->z);
  fe_add(&zz, &zz, &zz);
  fe_add(&t, &a->x, &a->y);
  square(&t, &t);
  fe_add(&r->y, &yy, &xx);
  fe_sub(&r->z, &yy, &xx);
  fe_sub_loose(&r->x, &t, &r->y);
  fe_sub_loose(&r->t, &zz, &r->z);
}

/* a + b, or a - b; z2 is NULL where b's Z is 1. */
static void add(completed *r, const extended *a, const fe *sum, const fe *difference, const fe *z2,
                const fe *t2d, int minus) {
  fe p, q, z, t;
  fe_add(&p, &a->y, &a->x);
  fe_sub(&q, &a->y, &a->x);
  mul(&p, &p, minus ? difference : sum);
  mul(&q, &q, minus ? sum : difference);
  mul(&t, &a->t, t2d);
  if (z2) {
    mul(&z, &a->z, z2);
  } else {
    fe_add(&z, &a->z, &a->z);
  }
  fe_sub(&r->x, &p, &q);
  fe_add(&r->y, &p, &q);
  if (minus) {
    fe_sub(&r->z, &z, &t);
    fe_add(&r->t, &z, &t);
  } else {
    fe_add(&r->z, &z, &t);
    fe_sub(&r->t, &z, &t);
  }
}

/* RFC 8032 5.1.3: 1, or 0 for what is no point. */
static int decode(extended *r, const uint8_t p[32]) {
  uint8_t canonical[32];
  fe u, v, v3, t;
  const int sign = p[31] >> 7;
  fe_from_bytes(&r->y, p);
  fe_to_bytes(canonical, &r->y);
  canonical[31] |= (uint8_t)(sign << 7);
  if (memcmp(canonical, p, 32) != 0) return 0; /* y is p or more */
  square(&u, &r->y);
  mul(&v, &u, &edwards_d);
  fe_sub(&u, &u, &fe_one);
  fe_add(&v, &v, &fe_one);
  /* x = u v^3 (u v^7)^((p-5)/8), and (p - 5) / 8 = 2^252 - 3. */
  square(&v3, &v);
  mul(&v3, &v3, &v);
  square(&r->x, &v3);
  mul(&r->x, &r->x, &v);
  mul(&r->x, &r->x, &u);
  fe_power_250(&t, &r->z, &r->x);
  fe_squares(&t, &t, 2);
  mul(&r->x, &r->x, &t);
  mul(&r->x, &r->x, &v3);
  mul(&r->x, &r->x, &u);
  square(&t, &r->x);
  mul(&t, &t, &v);
  if (!fe_equal_public(&t, &u)) {
    fe_add(&t, &t, &u);
    if (!fe_equal_public(&t, &fe_zero)) return 0;
    mul(&r->x, &r->x, &root_of_minus_1);
  }
  fe_to_bytes(canonical, &r->x);
  if (sign && fe_equal_public(&r->x, &fe_zero)) return 0;
  if ((canonical[0] & 1) != sign) {
    fe_sub(&r->x, &fe_zero, &r->x);
    fe_carry(&r->x, &r->x);
  }
  r->z = fe_one;
  mul(&r->t, &r->x, &r->y);
  return 1;
}

/* RFC 8032 5.1.2. */
static void encode(uint8_t p[32], const projective *a) {
  uint8_t x_bytes[32];
  fe x, y, z;
  fe_invert(&z, &a->z);
  mul(&x, &a->x, &z);
  mul(&y, &a->y, &z);
  fe_to_bytes(x_bytes, &x);
  fe_to_bytes(p, &y);
  p[31] |= (uint8_t)(x_bytes[0] << 7);
}

/* ---- s × B - k × A ------------------------------------------------------------------------------------------ */

#define A_WIDTH 5
#define A_ODD (1 << (A_WIDTH - 2))

/* A, 3A, … 15A. */
static void odd_multiples(cached table[A_ODD], const extended *a) {
  projective p = {a->x, a->y, a->z};
  completed c;
  extended e, two;
  to_cached(&table[0], a);
  point_double(&c, &p);
  to_extended(&two, &c);
  for (int i = 1; i < A_ODD; i++) {
    const cached *t = &table[i - 1];
    add(&c, &two, &t->sum, &t->difference, &t->z2, &t->t2d, 0);
    to_extended(&e, &c);
    to_cached(&table[i], &e);
  }
}

static void multiply_both(projective *r, const uint64_t s[4], const uint64_t k[4],
                          const extended *a) {
  cached table[A_ODD];
  int8_t b_digits[4 * 64 + 1], a_digits[4 * 64 + 1];
  int n = ecr_non_adjacent_public(b_digits, s, 4, ECR_ED25519_WIDTH);
  int m = ecr_non_adjacent_public(a_digits, k, 4, A_WIDTH);
  completed c;
  extended e;
  odd_multiples(table, a);
  r->x = fe_zero;
  r->y = r->z = fe_one;
  for (int i = (n > m ? n : m) - 1; i >= 0; i--) {
    int d = a_digits[i], b = b_digits[i];
    point_double(&c, r);
    if (d) {
      const cached *t = &table[(d < 0 ? -d : d) / 2];
      to_extended(&e, &c);
      add(&c, &e, &t->sum, &t->difference, &t->z2, &t->t2d, d > 0);
    }
    if (b) {
      fe t[3];
      memcpy(t, ecr_ed25519_b[(b < 0 ? -b : b) / 2], sizeof(t));
      to_extended(&e, &c);
      add(&c, &e, &t[0], &t[1], NULL, &t[2], b < 0);
    }
    to_projective(r, &c);
  }
}

/* ---- Verification ------------------------------------------------------------------------------------------- */

static void load(uint64_t r[4], const uint8_t *p) {
  for (int i = 0; i < 4; i++) r[i] = fe_load64(p + 8 * i);
}

/* k = 64 bytes, little-endian, mod L: low × R / R + high × R² / R. */
static void reduce(uint64_t k[4], const uint8_t p[64]) {
  uint64_t low[4], high[4];
  load(low, p);
  load(high, p + 32);
  ecr_order_mul(&order, low, low, order_r);
  ecr_order_mul(&order, high, high, order.rr);
  ecr_words_add(k, low, high, order.n, 4);
}

ecr_status ecr_ed25519_verify(const uint8_t key[32], const void *message, size_t n,
                              const uint8_t signature[64]) {
  ecr_hash_context hash;
  uint8_t digest[64], expected[32];
  uint64_t s[4], k[4], borrow = 0;
  extended a;
  projective r;
  load(s, signature + 32);
  for (int i = 0; i < 4; i++) (void)ecr_sub(s[i], order.n[i], &borrow);
  if (!borrow || !decode(&a, key)) return ECR_REFUSED;
  ecr_sha512.init(&hash);
  ecr_sha512.update(&hash, signature, 32);
  ecr_sha512.update(&hash, key, 32);
  ecr_sha512.update(&hash, message, n);
  ecr_sha512.digest(&hash, digest);
  reduce(k, digest);
  multiply_both(&r, s, k, &a);
  encode(expected, &r);
  return memcmp(expected, signature, 32) == 0 ? ECR_OK : ECR_REFUSED;
}
