/*
** invert.c: 1 / a modulo the order of a curve, for what is public.
**
** Bernstein and Yang, "Fast constant-time gcd computation and modular inversion" (2019), in the variable
** time that a signature allows: f = n and g = a are divided by 2 and subtracted until g is 0 and f
** 1 or -1, while d and e keep f = d × a, g = e × a modulo n. What happens depends on the lowest bits
** alone, so 62 steps are found on one word each of f and g, as a matrix t, and then done at once:
** (f, g) = t × (f, g) / 2^62 and the same for d, e, to which a multiple of n is added first, so that 2^62
** divides them.
*/
#include "cryptoInt.h"

/* A signed number: limbs of 62 bits, the lowest first; the last one has the sign. */
#define LIMBS62 7 /* 434 bits */
#define MASK62 (UINT64_MAX >> 2)

typedef struct matrix {
  int64_t u, v, q, r;
} matrix;

/* ---- Signed sums of products -------------------------------------------------------------------------- */

#if ECR_U128
__extension__ typedef __int128 wide;
static inline wide wide_zero(void) { return 0; }
static inline wide wide_add(wide t, int64_t a, int64_t b) { return t + (wide)a * b; }
static inline uint64_t wide_low(wide t) { return (uint64_t)t; }
static inline wide wide_shift(wide t) { return t >> 62; }
#else
typedef struct wide {
  uint64_t low, high; /* two's complement */
} wide;
static inline wide wide_zero(void) {
  wide t = {0, 0};
  return t;
}
static inline wide wide_add(wide t, int64_t a, int64_t b) {
  uint64_t high;
  t.low = ecr_mac((uint64_t)a, (uint64_t)b, t.low, 0, &high);
  t.high += high - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0);
  return t;
}
static inline uint64_t wide_low(wide t) { return t.low; }
static inline wide wide_shift(wide t) {
  wide s = {(t.low >> 62) | (t.high << 2), (uint64_t)((int64_t)t.high >> 62)};
  return s;
}
#endif

static int64_t limb(wide t) { return (int64_t)(wide_low(t) & MASK62); }

/* ---- 62 steps -------------------------------------------------------------------------------------------- */

static inline int trailing_zeros(uint64_t v) {
#if defined(__GNUC__)
  return __builtin_ctzll(v);
#else
  int n = 0;
  for (; !(v & 1); v >>= 1) n++;
  return n;
#endif
}

/* eta is -delta of the paper. */
static int64_t steps(int64_t eta, uint64_t f, uint64_t g, matrix *t) {
  uint64_t u = 1, v = 0, q = 0, r = 1;
  for (int left = 62;;) {
    int zeros = trailing_zeros(g | (UINT64_MAX << left));
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    eta -= zeros;
    left -= zeros;
    if (left == 0) break;
    if (eta < 0) {
      uint64_t x = f;
      eta = -eta;
      f = g, g = 0 - x;
      x = u, u = q, q = 0 - x;
      x = v, v = r, r = 0 - x;
    }
    /* As many bits of g as may go before eta changes its sign: g += w × f with w = -g / f modulo 2^limit,
    ** of which 1 / f is x (5 bits), and then one step of Newton's (10). */
    int limit = eta + 1 > left ? left : (int)eta + 1;
    if (limit > 8) limit = 8;
    uint64_t x = (3 * f) ^ 2;
    x *= 2 - f * x;
    uint64_t w = (0 - g * x) & (UINT64_MAX >> (64 - limit));
    g += f * w;
    q += u * w;
    r += v * w;
  }
  t->u = (int64_t)u;
  t->v = (int64_t)v;
  t->q = (int64_t)q;
  t->r = (int64_t)r;
  return eta;
}

static void update_fg(int64_t *f, int64_t *g, int n, const matrix *t) {
  wide a = wide_zero(), b = wide_zero();
  for (int i = 0; i < n; i++) {
    a = wide_add(wide_add(a, t->u, f[i]), t->v, g[i]);
    b = wide_add(wide_add(b, t->q, f[i]), t->r, g[i]);
    if (i > 0) {
      f[i - 1] = limb(a);
      g[i - 1] = limb(b);
    }
    a = wide_shift(a);
    b = wide_shift(b);
  }
  f[n - 1] = (int64_t)wide_low(a);
  g[n - 1] = (int64_t)wide_low(b);
}

/* d and e stay between -2 × modulus and modulus. inverse is 1 / modulus mod 2^62. */
static void update_de(int64_t *d, int64_t *e, int n, const matrix *t, const int64_t *modulus,
                      uint64_t inverse) {
  int64_t d_sign = d[n - 1] >> 63, e_sign = e[n - 1] >> 63;
  int64_t x = (t->u & d_sign) + (t->v & e_sign), y = (t->q & d_sign) + (t->r & e_sign);
  wide a = wide_zero(), b = wide_zero();
  for (int i = 0; i < n; i++) {
    a = wide_add(wide_add(a, t->u, d[i]), t->v, e[i]);
    b = wide_add(wide_add(b, t->q, d[i]), t->r, e[i]);
    if (i == 0) {
      x -= (int64_t)((inverse * wide_low(a) + (uint64_t)x) & MASK62);
      y -= (int64_t)((inverse * wide_low(b) + (uint64_t)y) & MASK62);
    }
    a = wide_add(a, modulus[i], x);
    b = wide_add(b, modulus[i], y);
    if (i > 0) {
      d[i - 1] = limb(a);
      e[i - 1] = limb(b);
    }
    a = wide_shift(a);
    b = wide_shift(b);
  }
  d[n - 1] = (int64_t)wide_low(a);
  e[n - 1] = (int64_t)wide_low(b);
}

/* ---- In all ------------------------------------------------------------------------------------------------ */

static void to_62(int64_t *r, const uint64_t *a, int words) {
  for (int i = 0; i < LIMBS62; i++) {
    int word = 62 * i / 64, bit = 62 * i % 64;
    uint64_t v = word < words ? a[word] >> bit : 0;
    if (bit > 2 && word + 1 < words) v |= a[word + 1] << (64 - bit);
    r[i] = (int64_t)(v & MASK62);
  }
}

static void from_62(uint64_t *r, const int64_t *a, int words) {
  for (int i = 0; i < words; i++) {
    int at = 64 * i / 62, bit = 64 * i % 62;
    r[i] = (uint64_t)a[at] >> bit | (uint64_t)a[at + 1] << (62 - bit);
    if (bit > 60) r[i] |= (uint64_t)a[at + 2] << (124 - bit);
  }
}

/* d = sign × d + add × modulus, limbs carried. */
static void adjust(int64_t *d, int n, int64_t sign, int64_t add, const int64_t *modulus) {
  int64_t carry = 0;
  for (int i = 0; i < n; i++) {
    carry += sign * d[i] + add * modulus[i];
    d[i] = i < n - 1 ? carry & (int64_t)MASK62 : carry;
    carry >>= 62;
  }
}

void ecr_order_invert_public(const ecr_order *order, uint64_t *r, const uint64_t *a) {
  int64_t modulus[LIMBS62], f[LIMBS62], g[LIMBS62], d[LIMBS62] = {0}, e[LIMBS62] = {1}, any,
                                                    eta = -1;
  const int n = order->limbs == 4 ? 5 : LIMBS62;
  const uint64_t inverse = (0 - order->n0) & MASK62;
  int length = n;
  matrix t;
  to_62(modulus, order->n, order->limbs);
  to_62(f, order->n, order->limbs);
  to_62(g, a, order->limbs);
  do {
    eta = steps(eta, (uint64_t)f[0], (uint64_t)g[0], &t);
    update_de(d, e, n, &t, modulus, inverse);
    update_fg(f, g, length, &t);
    any = 0;
    for (int i = 0; i < length; i++) any |= g[i];
    /* The last limbs of both are a sign alone: it goes into the ones below. */
    int64_t f_last = f[length - 1], g_last = g[length - 1];
    if (length > 1 && f_last == f_last >> 63 && g_last == g_last >> 63) {
      length--;
      f[length - 1] |= (int64_t)((uint64_t)f_last << 62);
      g[length - 1] |= (int64_t)((uint64_t)g_last << 62);
    }
  } while (any);
  /* f is 1 or -1. */
  if (d[n - 1] < 0) adjust(d, n, 1, 1, modulus);
  if (f[length - 1] < 0) adjust(d, n, -1, 0, modulus);
  if (d[n - 1] < 0) adjust(d, n, 1, 1, modulus);
  from_62(r, d, order->limbs);
}
