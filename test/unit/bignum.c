/*
** bignum.c: the big-number code against a slow one with digits of 16 bits, on patterns of limbs that make
** carries run: zeros, ones, their neighbours and random limbs.
**
** also: nou128
*/
#include "unit.h"
#include "crypto/cryptoInt.h"

#define MAX ECR_BN_LIMBS
#define DIGITS (4 * 2 * MAX + 4)

static uint64_t random64(void) {
  static uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return x * UINT64_C(2685821657736338717);
}

/* What a limb may be; random beyond the last. */
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 UINT64_MAX,
                                 UINT64_MAX - 1,
                                 UINT64_C(1) << 63,
                                 UINT64_C(0xffffffff),
                                 UINT64_C(1) << 32};
#define EDGES (sizeof edges / sizeof *edges)

/* pattern 0 … EDGES - 1: that edge throughout; then edges at random, then random limbs. */
#define PATTERNS (EDGES + 4)
static void make(uint64_t *a, size_t k, size_t pattern) {
  for (size_t i = 0; i < k; i++) {
    if (pattern < EDGES) {
      a[i] = edges[pattern];
    } else if (pattern < EDGES + 3) {
      a[i] = edges[random64() % EDGES];
    } else {
      a[i] = random64();
    }
  }
}

/* ---- The slow numbers ----------------------------------------------------------------------------- */

typedef struct slow {
  uint32_t d[DIGITS];
} slow;

static slow slow_from(const uint64_t *a, size_t k) {
  slow s = {{0}};
  for (size_t i = 0; i < 4 * k; i++) s.d[i] = (uint32_t)(a[i / 4] >> (16 * (i % 4)) & 0xffff);
  return s;
}

static int slow_same(const slow *s, const uint64_t *a, size_t k) {
  slow other = slow_from(a, k);
  return memcmp(s, &other, sizeof other) == 0;
}

static size_t slow_size(const slow *a) {
  size_t n = DIGITS;
  while (n > 0 && a->d[n - 1] == 0) n--;
  return n;
}

static slow slow_multiply(const slow *a, const slow *b) {
  slow r = {{0}};
  const size_t size = slow_size(b);
  for (size_t i = 0; i < DIGITS; i++) {
    uint32_t carry = 0;
    if (!a->d[i]) continue;
    for (size_t j = 0; i + j < DIGITS && (j < size || carry); j++) {
      uint32_t t = a->d[i] * b->d[j] + r.d[i + j];
      uint32_t sum = (t & 0xffff) + carry;
      r.d[i + j] = sum & 0xffff;
      carry = (t >> 16) + (sum >> 16);
    }
  }
  return r;
}

static int slow_less(const slow *a, const slow *b, size_t size) {
  for (size_t i = size; i-- > 0;)
    if (a->d[i] != b->d[i]) return a->d[i] < b->d[i];
  return 0;
}

/* a mod n, a bit at a time. */
static slow slow_modulo(const slow *a, const slow *n) {
  slow r = {{0}};
  const size_t size = slow_size(n) + 1;
  for (size_t bit = 16 * slow_size(a); bit-- > 0;) {
    uint32_t in = a->d[bit / 16] >> bit % 16 & 1;
    for (size_t i = 0; i < size; i++) {
      uint32_t t = r.d[i] << 1 | in;
      r.d[i] = t & 0xffff;
      in = t >> 16;
    }
    if (slow_less(&r, n, size)) continue;
    for (size_t i = 0, borrow = 0; i < size; i++) {
      uint32_t t = r.d[i] + 0x10000 - n->d[i] - (uint32_t)borrow;
      r.d[i] = t & 0xffff;
      borrow = 1 - (t >> 16);
    }
  }
  return r;
}

/* ---- Words ----------------------------------------------------------------------------------------- */

static void test_words(void) {
  int wrong = 0;
  for (size_t n = 0; n < EDGES * EDGES * EDGES * EDGES; n++) {
    const uint64_t a = edges[n % EDGES], b = edges[n / EDGES % EDGES];
    const uint64_t c = edges[n / EDGES / EDGES % EDGES], d = edges[n / EDGES / EDGES / EDGES];
    uint64_t got[2], carry;
    slow x = slow_from(&a, 1), y = slow_from(&b, 1), product = slow_multiply(&x, &y);
    uint32_t up = 0;
    for (size_t i = 0; i < 8; i++) {
      uint32_t t = product.d[i] + up;
      if (i < 4) t += (uint32_t)(c >> 16 * i & 0xffff) + (uint32_t)(d >> 16 * i & 0xffff);
      product.d[i] = t & 0xffff;
      up = t >> 16;
    }
    got[0] = ecr_mac(a, b, c, d, &got[1]);
    if (!slow_same(&product, got, 2)) wrong++;
    for (uint64_t in = 0; in < 2; in++) {
      carry = in;
      if (ecr_add(a, b, &carry) != a + b + in || carry != (in ? a + b + 1 <= a : a + b < a))
        wrong++;
      carry = in;
      if (ecr_sub(a, b, &carry) != a - b - in || carry != (in ? a <= b : a < b)) wrong++;
    }
  }
  CHECK_INT(wrong, 0);
  CHECK(ecr_mask_nonzero(0) == 0 && ecr_mask_zero(0) == UINT64_MAX);
  for (size_t i = 1; i < EDGES; i++)
    CHECK(ecr_mask_nonzero(edges[i]) == UINT64_MAX && ecr_mask_zero(edges[i]) == 0);
}

/* ---- Bytes ----------------------------------------------------------------------------------------- */

static void test_bytes(void) {
  const uint8_t bytes[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  uint64_t a[4] = {7, 7, 7, 7};
  uint8_t back[20];
  CHECK_INT(ecr_bn_load(a, 2, bytes, sizeof bytes), 0);
  CHECK(a[0] == UINT64_C(0x0203040506070809) && a[1] == 1 && a[2] == 7);
  memset(back, 0xee, sizeof back);
  ecr_bn_store(back, sizeof back, a, 2);
  CHECK_BYTES(back + sizeof back - sizeof bytes, sizeof bytes, bytes, sizeof bytes);
  CHECK_INT(back[0] | back[5] | back[8], 0);
  memset(back, 0, sizeof back);
  CHECK_INT(ecr_bn_load(a, 2, back, sizeof back), 0);
  CHECK(a[0] == 0 && a[1] == 0);
  back[3] = 1; /* the 17th byte from the end: one too many for two limbs */
  CHECK(ecr_bn_load(a, 2, back, sizeof back) == UINT64_MAX);
  back[3] = 0;
  back[4] = 0x80;
  CHECK(ecr_bn_load(a, 2, back, sizeof back) == 0 && a[1] == UINT64_C(1) << 63);
  CHECK(ecr_bn_load(a, 2, NULL, 0) == 0 && a[1] == 0);
}

/* ---- Products -------------------------------------------------------------------------------------- */

static void test_products(size_t k, size_t pattern_a, size_t pattern_b) {
  uint64_t a[MAX], b[MAX], r[2 * MAX];
  make(a, k, pattern_a);
  make(b, k, pattern_b);
  slow x = slow_from(a, k), y = slow_from(b, k), product = slow_multiply(&x, &y);
  memset(r, 0xee, sizeof r);
  ecr_bn_mul(r, a, b, k);
  CHECK(slow_same(&product, r, 2 * k));
  CHECK_INT(ecr_bn_less(a, b, k) & 1, slow_less(&x, &y, DIGITS));
  product = slow_multiply(&x, &x);
  memset(r, 0xee, sizeof r);
  ecr_bn_sqr(r, a, k);
  CHECK(slow_same(&product, r, 2 * k));
}

/* ---- Montgomery's form ----------------------------------------------------------------------------- */

static int is_zero(const uint64_t *a, size_t k) {
  uint64_t any = 0;
  for (size_t i = 0; i < k; i++) any |= a[i];
  return any == 0;
}

/* Modulo n, which is made odd and loses its top bits. */
static void test_modulo(size_t k, size_t pattern, unsigned lost_bits) {
  static ecr_mont m, again;
  uint64_t a[MAX], b[MAX], r[2 * MAX], unit[MAX] = {1};
  m.k = again.k = k;
  make(m.n, k, pattern);
  m.n[0] |= 1;
  for (unsigned i = 0; i < lost_bits; i++) m.n[k - 1 - i / 64] &= ~(UINT64_C(1) << (63 - i % 64));
  if (is_zero(m.n + 1, k - 1) && m.n[0] == 1) m.n[0] = 3;
  memcpy(again.n, m.n, sizeof m.n);
  const slow n = slow_from(m.n, k);
  ecr_mont_init(&m);
  ecr_mont_init_public(&again);
  CHECK(m.n0 * m.n[0] == UINT64_MAX);
  CHECK_BYTES(m.rr, k * 8, again.rr, k * 8);

  for (size_t other = 0; other < PATTERNS; other++) {
    /* a below n, b any k limbs: the result times R is their product. */
    make(a, k, other);
    make(b, k, PATTERNS - 1 - other);
    slow x = slow_from(a, k), y = slow_from(b, k), t;
    if (other == 0) { /* n - 1 */
      memcpy(a, m.n, k * 8);
      a[0]--;
      x = slow_from(a, k);
    }
    x = slow_modulo(&x, &n);
    for (size_t i = 0; i < k; i++)
      a[i] = (uint64_t)x.d[4 * i] | (uint64_t)x.d[4 * i + 1] << 16 |
             (uint64_t)x.d[4 * i + 2] << 32 | (uint64_t)x.d[4 * i + 3] << 48;
    ecr_mont_mul(&m, r, a, b);
    slow got = slow_from(r, k);
    CHECK(slow_less(&got, &n, DIGITS));
    slow radix = {{0}};
    radix.d[4 * k] = 1;
    t = slow_multiply(&got, &radix);
    t = slow_modulo(&t, &n);
    slow product = slow_multiply(&x, &y);
    product = slow_modulo(&product, &n);
    CHECK(memcmp(&t, &product, sizeof t) == 0);

    ecr_bn_mul(r, a, b, k);
    ecr_mont_reduce(&m, r, r);
    CHECK(slow_same(&got, r, k));
    ecr_mont_mul(&m, r, a, a);
    memcpy(b, r, k * 8);
    ecr_mont_sqr(&m, r, a);
    CHECK_BYTES(r, k * 8, b, k * 8);
    memcpy(b, a, k * 8); /* in place */
    ecr_mont_mul(&m, b, b, b);
    CHECK_BYTES(b, k * 8, r, k * 8);

    /* There and back. */
    ecr_mont_mul(&m, r, a, m.rr);
    ecr_mont_mul(&m, r, r, unit);
    CHECK_BYTES(r, k * 8, a, k * 8);
  }
}

static void test_power(size_t k, uint32_t e) {
  static ecr_mont m;
  uint64_t a[MAX], r[MAX];
  m.k = k;
  make(m.n, k, PATTERNS - 1);
  m.n[0] |= 1;
  make(a, k, PATTERNS - 1);
  a[k - 1] = m.n[k - 1] ? m.n[k - 1] - 1 : 0;
  ecr_mont_init_public(&m);
  slow n = slow_from(m.n, k), x = slow_from(a, k), power = x;
  int bit = 31;
  x = slow_modulo(&x, &n);
  power = x;
  while (!(e >> bit)) bit--;
  while (bit-- > 0) {
    power = slow_multiply(&power, &power);
    power = slow_modulo(&power, &n);
    if (!(e >> bit & 1)) continue;
    power = slow_multiply(&power, &x);
    power = slow_modulo(&power, &n);
  }
  ecr_mont_exp_public(&m, r, a, e);
  CHECK(slow_same(&power, r, k));
}

static void test_all(void) {
  test_words();
  test_bytes();
  for (size_t k = 2; k <= 12; k += 2)
    for (size_t i = 0; i < PATTERNS * PATTERNS; i++) test_products(k, i % PATTERNS, i / PATTERNS);
  test_products(MAX, 3, 3);
  test_products(MAX, PATTERNS - 1, PATTERNS - 1);
  for (size_t k = 2; k <= 8; k += 2) {
    for (size_t pattern = 0; pattern < PATTERNS; pattern++) {
      const unsigned lost[] = {0, 1, 7, 63, 64, 65};
      for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) test_modulo(k, pattern, lost[i]);
    }
  }
  test_modulo(MAX, 3, 0);
  test_modulo(34, PATTERNS - 1, 70);
  const uint32_t exponents[] = {3, 5, 17, 65537, 65539, UINT32_C(0x80000001), UINT32_MAX};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
    test_power(2, exponents[i]);
    test_power(6, exponents[i]);
  }
}

int main(void) {
#ifdef ECR_NO_U128
  CHECK_STR(ecr_bignum, "u64");
#elif defined(__x86_64__) || defined(__aarch64__)
  CHECK_STR(ecr_bignum, "u128");
#endif
  test_all();
  if (ecr_bn_has_adx()) {
    ecr_bn_force_portable(1);
    test_all();
  }
  return unit_done("bignum");
}
