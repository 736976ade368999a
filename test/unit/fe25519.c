/*
** fe25519.c: the field of 2^255 - 19 against slow.h, with limbs as large as they may be.
**
** also: nou128
*/
#include "crypto/fe25519.h"
#include "slow.h"

static slow p;

static slow value(const fe *a) {
  slow r = {{0}};
  for (int i = 4; i >= 0; i--) {
    for (int j = 0; j < 51; j++) r = slow_add(r, r);
    slow v = slow_words(&a->v[i], 1);
    r = slow_add(r, v);
  }
  return slow_mod(r, p);
}

static void check(const fe *a, slow expected, const char *what) {
  uint8_t text[32];
  slow got = {{0}};
  fe_to_bytes(text, a);
  for (int i = 0; i < 32; i++) got.w[i / 4] |= (uint32_t)text[i] << (8 * (i % 4));
  if (!CHECK(slow_equal(got, expected))) printf("  %s\n", what);
}

/* Limbs of up to so many bits, at either end of what they can be or anywhere. */
static fe limbs(int bits, uint64_t limit) {
  fe r;
  for (int i = 0; i < 5; i++) {
    uint64_t v = random64();
    switch (random64() >> 62) {
    case 0:
      v = 0;
      break;
    case 1:
      v = UINT64_MAX;
      break;
    case 2:
      v = v >> 62;
      break;
    }
    v >>= 64 - bits;
    r.v[i] = v < limit ? v : limit - 1;
  }
  return r;
}

#define TIGHT ((UINT64_C(1) << 51) + (1 << 15))
#define LOOSE (UINT64_C(1) << 54)

static void test_tight(const fe *a, const char *what) {
  for (int i = 0; i < 5; i++) {
    if (!CHECK(a->v[i] < TIGHT)) printf("  %s\n", what);
  }
}

static void test_arithmetic(void) {
  for (int i = 0; i < 3000; i++) {
    fe a = limbs(54, LOOSE), b = limbs(54, LOOSE), r;
    fe_mul(&r, &a, &b);
    test_tight(&r, "mul");
    check(&r, slow_mul(value(&a), value(&b), p), "mul");
    fe_square(&r, &a);
    test_tight(&r, "square");
    check(&r, slow_mul(value(&a), value(&a), p), "square");
    fe c = limbs(52, TIGHT);
    fe_small_add(&r, &a, 121665, &c);
    test_tight(&r, "small_add");
    check(&r, slow_mod(slow_add(slow_mul(value(&a), slow_small(121665), p), value(&c)), p),
          "small_add");
    fe_carry(&r, &a);
    test_tight(&r, "carry");
    check(&r, value(&a), "carry");
    check(&a, value(&a), "to_bytes");
    a = limbs(52, TIGHT), b = limbs(52, TIGHT);
    fe_add(&r, &a, &b);
    check(&r, slow_mod(slow_add(value(&a), value(&b)), p), "add");
    fe_sub(&r, &a, &b);
    check(&r, slow_mod(slow_sub(slow_add(value(&a), p), value(&b)), p), "sub");
    for (int j = 0; j < 5; j++) CHECK(r.v[j] < LOOSE);
    b = limbs(53, (UINT64_C(1) << 53) - 76);
    fe_sub_loose(&r, &a, &b);
    check(&r, slow_mod(slow_sub(slow_add(value(&a), p), value(&b)), p), "sub_loose");
    for (int j = 0; j < 5; j++) CHECK(r.v[j] < LOOSE);
  }
}

/* Numbers around p and 2^255, whose bytes have a single form; the top bit is not read. */
static void test_bytes(void) {
  for (int i = 0; i < 8 + 48 + 30; i++) {
    slow a = slow_edge(i, 256, p);
    for (int more = 0; more < 2; more++) { /* a, and a + p where that is below 2^255 */
      uint8_t in[32];
      slow v = more ? slow_add(a, p) : a;
      if (!slow_less(v, slow_power_of_2(255))) continue;
      for (int j = 0; j < 32; j++) in[j] = (uint8_t)(v.w[j / 4] >> (8 * (j % 4)));
      fe r, t;
      fe_from_bytes(&r, in);
      check(&r, a, "from_bytes");
      in[31] |= 0x80;
      fe_from_bytes(&r, in);
      check(&r, a, "from_bytes, top bit");
      fe_invert(&t, &r);
      fe_mul(&t, &t, &r);
      check(&t, slow_small(!slow_equal(a, slow_small(0))), "invert");
    }
  }
}

static void test_select(void) {
  fe a = limbs(54, LOOSE), b = limbs(54, LOOSE), c;
  fe_select(&c, &a, &b, 0);
  CHECK(memcmp(&a, &c, sizeof(a)) == 0);
  fe_select(&c, &a, &b, 1);
  CHECK(memcmp(&b, &c, sizeof(a)) == 0);
}

int main(void) {
  p = slow_sub(slow_power_of_2(255), slow_small(19));
  test_arithmetic();
  test_bytes();
  test_select();
  return unit_done("fe25519");
}
