/*
** field_words.h: the fields of P-256 and P-384, and the tables of multiples, against slow.h.
** fep256.c and fep384.c include it once each, having defined CURVE and TABLE.
*/
#include "slow.h"

#define BITS (64 * LIMBS)
#define EDGES (8 + 3 * BITS / 16 + 20)

static slow p_slow, r_slow; /* p, and R mod p */

static slow value(const fe *a) { return slow_words(a->v, LIMBS); }

static fe element(slow a) {
  fe r;
  for (int i = 0; i < LIMBS; i++) r.v[i] = a.w[2 * i] | (uint64_t)a.w[2 * i + 1] << 32;
  return r;
}

static void bytes_of(uint8_t out[SIZE], slow a) {
  for (int i = 0; i < SIZE; i++) out[SIZE - 1 - i] = (uint8_t)(a.w[i / 4] >> (8 * (i % 4)));
}

/* Results are below p, and right: in Montgomery's form a product is r × R = a × b. */
static void test_two(slow a_slow, slow b_slow) {
  fe a = element(a_slow), b = element(b_slow), r;
  fe_mul(&r, &a, &b);
  CHECK(slow_less(value(&r), p_slow));
  CHECK(slow_equal(slow_mul(value(&r), r_slow, p_slow), slow_mul(a_slow, b_slow, p_slow)));
  fe_add(&r, &a, &b);
  CHECK(slow_equal(value(&r), slow_mod(slow_add(a_slow, b_slow), p_slow)));
  fe_sub(&r, &a, &b);
  CHECK(slow_equal(value(&r), slow_mod(slow_sub(slow_add(a_slow, p_slow), b_slow), p_slow)));
  /* In place. */
  r = a;
  fe_mul(&r, &r, &b);
  fe_mul(&b, &a, &b);
  CHECK(slow_equal(value(&r), value(&b)));
}

static void test_one(slow a_slow) {
  fe a = element(a_slow), r, t;
  uint8_t text[SIZE], back[SIZE];
  fe_square(&r, &a);
  fe_mul(&t, &a, &a);
  CHECK(slow_equal(value(&r), value(&t)));
  fe_half(&r, &a);
  CHECK(slow_less(value(&r), p_slow));
  CHECK(slow_equal(slow_mod(slow_add(value(&r), value(&r)), p_slow), a_slow));
  fe_invert(&r, &a);
  fe_mul(&t, &r, &a);
  CHECK(slow_equal(value(&t), fe_zero_mask(&a) ? slow_small(0) : r_slow));
  CHECK_INT(fe_zero_mask(&a) != 0, slow_equal(a_slow, slow_small(0)));
  bytes_of(text, a_slow);
  CHECK(fe_from_bytes(&r, text) == UINT64_MAX);
  CHECK(slow_equal(value(&r), slow_mul(a_slow, r_slow, p_slow)));
  fe_to_bytes(back, &r);
  CHECK_BYTES(back, SIZE, text, SIZE);
}

static void test_bytes(void) {
  uint8_t text[SIZE];
  fe r;
  for (uint32_t i = 0; i < 100; i++) {
    bytes_of(text, slow_add(p_slow, slow_small(i)));
    CHECK(fe_from_bytes(&r, text) == 0);
  }
  memset(text, 0xff, SIZE);
  CHECK(fe_from_bytes(&r, text) == 0);
}

/* entry i is 2i + 1 times G, by what multiplies without that table. */
static void test_table(void) {
  for (int i = 0; i < ECR_EC_G_ODD; i++) {
    uint8_t k[SIZE] = {0}, expected[1 + 2 * SIZE], got[2 * SIZE];
    fe x, y;
    k[SIZE - 1] = (uint8_t)(2 * i + 1);
    CHECK_INT(ecr_ec_public(CURVE, expected, k), ECR_OK);
    for (int j = 0; j < LIMBS; j++) x.v[j] = TABLE[i][j], y.v[j] = TABLE[i][LIMBS + j];
    fe_to_bytes(got, &x);
    fe_to_bytes(got + SIZE, &y);
    CHECK_BYTES(got, 2 * SIZE, expected + 1, 2 * SIZE);
  }
}

int main(void) {
  p_slow = slow_words(fe_p, LIMBS);
  r_slow = slow_sub(slow_power_of_2(BITS), p_slow);
  CHECK(slow_equal(value(&fe_one), r_slow));
  CHECK(slow_equal(value(&fe_rr), slow_mul(r_slow, r_slow, p_slow)));
  for (int i = 0; i < EDGES; i++) {
    slow a = slow_edge(i, BITS, p_slow);
    test_one(a);
    for (int j = 0; j < EDGES; j++) test_two(a, slow_edge(j, BITS, p_slow));
  }
  test_bytes();
  test_table();
  return unit_done("fep" NAME);
}
