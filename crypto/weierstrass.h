/*
** weierstrass.h: y² = x³ - 3x + b over the field that was included before: p256.c and p384.c include it
** once each, having defined curve_b, curve_order, curve_g and CURVE, the name of the table of functions.
**
** A point is Jacobian: x / z², y / z³, at infinity where z is 0. Doubling and adding are 4M + 4S and
** 11M + 3S (7M + 3S … 8M + 3S for an affine summand).
**
** Two ways to multiply:
**   multiply  by a secret: windows of five bits, signed; each takes its multiple by reading all 16.
**   verify    by what is public: the non-adjacent forms of both scalars, doubling once for the two.
*/
#ifndef ECR_WEIERSTRASS_H
#define ECR_WEIERSTRASS_H

#define BITS (64 * LIMBS)

typedef struct affine {
  fe x, y;
} affine;

typedef struct jacobian {
  fe x, y, z;
} jacobian;

/* With what an addition needs of z. */
typedef struct cached {
  fe x, y, z, zz, zzz;
} cached;

/* ---- Points ----------------------------------------------------------------------------------------- */

/* y² = x³ - 3x + b, coordinates below p (SEC 1 3.2.2.1): 1 or 0. p is 04 | x | y. */
static int affine_from_bytes(affine *r, const uint8_t *p) {
  fe t, u;
  if (p[0] != 4) return 0;
  uint64_t below = fe_from_bytes(&r->x, p + 1);
  below &= fe_from_bytes(&r->y, p + 1 + SIZE);
  fe_square(&t, &r->x);
  fe_sub(&t, &t, &fe_one);
  fe_sub(&t, &t, &fe_one);
  fe_sub(&t, &t, &fe_one);
  fe_mul(&t, &t, &r->x);
  fe_add(&t, &t, &curve_b);
  fe_square(&u, &r->y);
  fe_sub(&t, &t, &u);
  return (below & fe_zero_mask(&t)) != 0;
}

static void jacobian_to_affine(affine *r, const jacobian *a) {
  fe t, u;
  fe_invert(&t, &a->z);
  fe_square(&u, &t);
  fe_mul(&r->x, &a->x, &u);
  fe_mul(&u, &u, &t);
  fe_mul(&r->y, &a->y, &u);
}

static void cached_from_jacobian(cached *r, const jacobian *a) {
  r->x = a->x;
  r->y = a->y;
  r->z = a->z;
  fe_square(&r->zz, &a->z);
  fe_mul(&r->zzz, &r->zz, &a->z);
}

/* With l = 3 (x - z²) (x + z²) / 2: x' = l² - 2xy², y' = l (xy² - x') - y⁴, z' = yz. Right for infinity
** too; no point of these curves has y = 0. */
static void point_double(jacobian *r, const jacobian *a) {
  fe l, s, t, u;
  fe_square(&t, &a->z);
  fe_square(&s, &a->y);
  fe_add(&l, &a->x, &t);
  fe_sub(&t, &a->x, &t);
  fe_mul(&r->z, &a->y, &a->z);
  fe_mul(&l, &l, &t);
  fe_mul(&t, &a->x, &s);
  fe_half(&u, &l);
  fe_add(&l, &l, &u);
  fe_square(&s, &s);
  fe_square(&u, &l);
  fe_sub(&u, &u, &t);
  fe_sub(&r->x, &u, &t);
  fe_sub(&t, &t, &r->x);
  fe_mul(&t, &t, &l);
  fe_sub(&r->y, &t, &s);
}

/* What is left of an addition when both summands have a denominator in common: x coordinates u and u + h,
** y coordinates s and s + d; z is that denominator. Wrong where h is 0. */
static void sum(jacobian *r, const fe *h, const fe *d, const fe *u, const fe *s, const fe *z) {
  fe hh, hhh, v, x;
  fe_square(&hh, h);
  fe_square(&x, d);
  fe_mul(&hhh, &hh, h);
  fe_mul(&v, u, &hh);
  fe_mul(&r->z, z, h);
  fe_sub(&x, &x, &hhh);
  fe_sub(&x, &x, &v);
  fe_sub(&x, &x, &v);
  fe_sub(&v, &v, &x);
  fe_mul(&v, &v, d);
  fe_mul(&hhh, &hhh, s);
  fe_sub(&r->y, &v, &hhh);
  r->x = x;
}

/* h and d for sum; u, s and z too. */
static void differences(fe *h, fe *d, fe *u, fe *s, fe *z, const jacobian *a, const cached *b) {
  fe t;
  fe_square(&t, &a->z);
  fe_mul(u, &a->x, &b->zz);
  fe_mul(s, &a->y, &b->zzz);
  fe_mul(h, &b->x, &t);
  fe_mul(&t, &t, &a->z);
  fe_mul(d, &b->y, &t);
  fe_mul(z, &a->z, &b->z);
  fe_sub(h, h, u);
  fe_sub(d, d, s);
}

/* a + b for points that are neither equal, nor opposite, nor at infinity. */
static void add_distinct(jacobian *r, const jacobian *a, const cached *b) {
  fe h, d, u, s, z;
  differences(&h, &d, &u, &s, &z, a, b);
  sum(r, &h, &d, &u, &s, &z);
}

/* ---- By a secret ---------------------------------------------------------------------------------------- */

#define WINDOW 5
#define MULTIPLES (1 << (WINDOW - 1))
#define WINDOWS ((BITS + WINDOW) / WINDOW) /* one more bit than BITS: a window can carry */

/* The i-th signed digit of k, -16 to 16: bits 5i - 1 to 5i + 4, the lowest of which is the carry that
** the window below leaves. Answers its absolute value, and all ones in *negative where it is less than 0. */
static uint32_t digit(const uint64_t k[LIMBS + 1], int i, uint64_t *negative) {
  int from = WINDOW * i - 1, word = from >= 0 ? from / 64 : 0, bit = from & 63;
  uint64_t v = from < 0 ? k[0] << 1 : k[word] >> bit;
  if (from >= 0 && bit > 64 - (WINDOW + 1) && word < LIMBS) v |= k[word + 1] << (64 - bit);
  v &= (1 << (WINDOW + 1)) - 1;
  uint64_t minus = 0 - (v >> WINDOW);
  v = (v & ~minus) | (((1 << (WINDOW + 1)) - 1 - v) & minus);
  *negative = minus;
  return (uint32_t)((v >> 1) + (v & 1));
}

/* r = table[i - 1], zeros for i = 0; every entry is read. */
static void take(cached *r, const cached table[MULTIPLES], uint32_t i) {
  static const cached zeros;
  *r = zeros;
  for (uint32_t e = 0; e < MULTIPLES; e++) {
    uint64_t mask = ecr_mask_zero((uint64_t)(e + 1) ^ i);
    fe_move(&r->x, &table[e].x, mask);
    fe_move(&r->y, &table[e].y, mask);
    fe_move(&r->z, &table[e].z, mask);
    fe_move(&r->zz, &table[e].zz, mask);
    fe_move(&r->zzz, &table[e].zzz, mask);
  }
}

/* table[i] = (i + 1) × p, n of them. */
static void multiples(cached *table, int n, const affine *p) {
  jacobian t = {p->x, p->y, fe_one};
  cached_from_jacobian(&table[0], &t);
  for (int i = 1; i < n; i++) {
    const cached *of = i % 2 ? &table[i / 2] : &table[i - 1];
    jacobian a = {of->x, of->y, of->z};
    if (i % 2) {
      point_double(&t, &a);
    } else {
      add_distinct(&t, &a, &table[0]);
    }
    cached_from_jacobian(&table[i], &t);
  }
}

/* k × p, for k from 1 to n - 1; n is the order.
**
** add_distinct is never wrong where its result is used. Before digit d is added there is 32 c × p, where
** 32 c + d is k's upper part, rounded. c = 0 and d = 0 are seen to. Else 32 c is more than |d|, at most 16; so
** 32 c = ±d modulo n only where 32 c = n ± d, which is at the last digit, with k = n or n ± 2d: beyond
** what k can be, but for n - 2|d| with 32 c = n - |d|. Then |d| would be n mod 32, which is 17 for P-256 and
** 19 for P-384: too much for a digit. */
static void multiply(jacobian *r, const uint64_t scalar[LIMBS], const affine *p) {
  cached table[MULTIPLES], t;
  uint64_t k[LIMBS + 1] = {0};
  jacobian s;
  static const jacobian infinity;
  multiples(table, MULTIPLES, p);
  for (int i = 0; i < LIMBS; i++) k[i] = scalar[i];
  *r = infinity;
  for (int i = WINDOWS - 1; i >= 0; i--) {
    uint64_t negative;
    uint32_t d = digit(k, i, &negative);
    if (i < WINDOWS - 1) {
      for (int j = 0; j < WINDOW; j++) point_double(r, r);
    }
    take(&t, table, d);
    fe_sub(&s.y, &infinity.y, &t.y);
    fe_move(&t.y, &s.y, negative);
    add_distinct(&s, r, &t);
    uint64_t at_infinity = fe_zero_mask(&r->z), used = ~ecr_mask_zero(d) & ~at_infinity;
    fe_move(&r->x, &t.x, at_infinity);
    fe_move(&r->y, &t.y, at_infinity);
    fe_move(&r->z, &t.z, at_infinity);
    fe_move(&r->x, &s.x, used);
    fe_move(&r->y, &s.y, used);
    fe_move(&r->z, &s.z, used);
  }
  ecr_wipe(k, sizeof(k));
  ecr_wipe(&s, sizeof(s));
  ecr_wipe(&t, sizeof(t));
}

static void curve_public(uint8_t *point, const uint64_t *scalar) {
  affine a;
  jacobian r;
  for (int i = 0; i < LIMBS; i++) {
    a.x.v[i] = curve_g[0][i];
    a.y.v[i] = curve_g[0][LIMBS + i];
  }
  multiply(&r, scalar, &a);
  jacobian_to_affine(&a, &r);
  point[0] = 4;
  fe_to_bytes(point + 1, &a.x);
  fe_to_bytes(point + 1 + SIZE, &a.y);
  ecr_wipe(&r, sizeof(r));
}

static int curve_has_point(const uint8_t *point) {
  affine a;
  return affine_from_bytes(&a, point);
}

static int curve_ecdh(uint8_t *out, const uint8_t *point, const uint64_t *scalar) {
  affine a;
  jacobian r;
  if (!affine_from_bytes(&a, point)) return 0;
  multiply(&r, scalar, &a);
  jacobian_to_affine(&a, &r);
  fe_to_bytes(out, &a.x);
  ecr_wipe(&a, sizeof(a));
  ecr_wipe(&r, sizeof(r));
  return 1;
}

/* ---- By what is public -------------------------------------------------------------------------------------- */

#define Q_WIDTH 5 /* odd multiples 1 to 15 */
#define Q_ODD (1 << (Q_WIDTH - 2))

/* a + b, whatever they are. */
static void add_public(jacobian *r, const jacobian *a, const cached *b) {
  fe h, d, u, s, z;
  if (fe_zero_mask(&a->z)) {
    r->x = b->x;
    r->y = b->y;
    r->z = b->z;
    return;
  }
  differences(&h, &d, &u, &s, &z, a, b);
  if (!fe_zero_mask(&h)) {
    sum(r, &h, &d, &u, &s, &z);
  } else if (fe_zero_mask(&d)) {
    point_double(r, a);
  } else {
    r->z = h;
  }
}

static void add_affine_public(jacobian *r, const jacobian *a, const affine *b) {
  fe h, d, t;
  if (fe_zero_mask(&a->z)) {
    r->x = b->x;
    r->y = b->y;
    r->z = fe_one;
    return;
  }
  fe_square(&t, &a->z);
  fe_mul(&h, &b->x, &t);
  fe_mul(&t, &t, &a->z);
  fe_mul(&d, &b->y, &t);
  fe_sub(&h, &h, &a->x);
  fe_sub(&d, &d, &a->y);
  if (!fe_zero_mask(&h)) {
    sum(r, &h, &d, &a->x, &a->y, &a->z);
  } else if (fe_zero_mask(&d)) {
    point_double(r, a);
  } else {
    r->z = h;
  }
}

/* Q, 3Q, 5Q, … */
static void odd_multiples(cached table[Q_ODD], const affine *q) {
  jacobian t = {q->x, q->y, fe_one}, two;
  cached two_cached;
  point_double(&two, &t);
  cached_from_jacobian(&two_cached, &two);
  cached_from_jacobian(&table[0], &t);
  for (int i = 1; i < Q_ODD; i++) {
    add_distinct(&t, &t, &two_cached);
    cached_from_jacobian(&table[i], &t);
  }
}

/* u1 × G + u2 × Q. */
static void multiply_both(jacobian *r, const uint64_t *u1, const uint64_t *u2, const affine *q) {
  static const fe zero;
  cached table[Q_ODD], c;
  affine g;
  int8_t g_digits[BITS + 1], q_digits[BITS + 1];
  int n = ecr_non_adjacent_public(g_digits, u1, LIMBS, ECR_EC_G_WIDTH),
      m = ecr_non_adjacent_public(q_digits, u2, LIMBS, Q_WIDTH);
  odd_multiples(table, q);
  r->x = r->y = r->z = zero;
  for (int i = (n > m ? n : m) - 1; i >= 0; i--) {
    int d = q_digits[i], e = g_digits[i];
    point_double(r, r);
    if (d) {
      c = table[(d < 0 ? -d : d) / 2];
      if (d < 0) fe_sub(&c.y, &zero, &c.y);
      add_public(r, r, &c);
    }
    if (e) {
      const uint64_t *entry = curve_g[(e < 0 ? -e : e) / 2];
      for (int j = 0; j < LIMBS; j++) {
        g.x.v[j] = entry[j];
        g.y.v[j] = entry[LIMBS + j];
      }
      if (e < 0) fe_sub(&g.y, &zero, &g.y);
      add_affine_public(r, r, &g);
    }
  }
}

/* Whether x mod n is r, for the x of u1 × G + u2 × Q: x is r or r + n, and x = X / Z² need not be
** computed. */
static ecr_status curve_verify(const uint8_t *point, const uint64_t *u1, const uint64_t *u2,
                               const uint64_t *r) {
  affine q;
  jacobian sum_point;
  fe zz, x, t;
  if (!affine_from_bytes(&q, point)) return ECR_INVALID;
  multiply_both(&sum_point, u1, u2, &q);
  if (fe_zero_mask(&sum_point.z)) return ECR_REFUSED;
  fe_square(&zz, &sum_point.z);
  for (int i = 0; i < LIMBS; i++) x.v[i] = r[i];
  for (int candidate = 0; candidate < 2; candidate++) {
    fe_mul(&t, &x, &fe_rr);
    fe_mul(&t, &t, &zz);
    fe_sub(&t, &t, &sum_point.x);
    if (fe_zero_mask(&t)) return ECR_OK;
    uint64_t unused;
    unsigned char carry = 0, below = 0;
    for (int i = 0; i < LIMBS; i++) carry = ecr_addc(carry, r[i], curve_order.n[i], &x.v[i]);
    for (int i = 0; i < LIMBS; i++) below = ecr_subb(below, x.v[i], fe_p[i], &unused);
    if (carry || !below) break;
  }
  return ECR_REFUSED;
}

const ecr_ec CURVE = {&curve_order, curve_public, curve_has_point, curve_ecdh, curve_verify};

#endif
