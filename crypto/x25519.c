/*
** x25519.c: RFC 7748's X25519, by the Montgomery ladder in constant time.
*/
#include "fe25519.h"

/* (A - 2) / 4 for the curve's A = 486662, RFC 7748 5. */
#define A24 121665

/* RFC 7748 5: the projective x of scalar × x1.
**
** Where the RFC swaps (x2, z2) and (x3, z3), the sum of the two (da, cb) stays the same but for a sign
** that is squared; so it is enough to choose which of the two is doubled. */
static void ladder(fe *x2, fe *z2, const uint8_t scalar[32], const fe *x1) {
  static const fe one = {{1}}, zero = {{0}};
  fe x3 = *x1, z3 = one;
  uint64_t last = 0;
  *x2 = one;
  *z2 = zero;
  for (int i = 254; i >= 0; i--) {
    uint64_t bit = (scalar[i / 8] >> (i % 8)) & 1, swap = bit ^ last;
    fe a, b, c, d, da, cb, aa, bb, e, t;
    last = bit;
    fe_add(&a, x2, z2);
    fe_sub(&b, x2, z2);
    fe_add(&c, &x3, &z3);
    fe_sub(&d, &x3, &z3);
    fe_mul(&da, &d, &a);
    fe_mul(&cb, &c, &b);
    fe_select(&a, &a, &c, swap);
    fe_select(&b, &b, &d, swap);
    fe_square(&aa, &a);
    fe_square(&bb, &b);
    fe_add(&t, &da, &cb);
    fe_square(&x3, &t);
    fe_sub(&t, &da, &cb);
    fe_square(&t, &t);
    fe_mul(&z3, &t, x1);
    fe_mul(x2, &aa, &bb);
    fe_sub(&e, &aa, &bb);
    fe_small_add(&t, &e, A24, &aa);
    fe_mul(z2, &e, &t);
  }
  /* A clamped scalar's last bit is 0: there is nothing left to swap. */
  ecr_wipe(&x3, sizeof(x3));
  ecr_wipe(&z3, sizeof(z3));
}

static void multiply(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]) {
  uint8_t clamped[32];
  fe x, z, x1;
  for (int i = 0; i < 32; i++) clamped[i] = scalar[i];
  clamped[0] &= 248;
  clamped[31] = (uint8_t)((clamped[31] & 127) | 64);
  fe_from_bytes(&x1, point);
  ladder(&x, &z, clamped, &x1);
  fe_invert(&z, &z);
  fe_mul(&x, &x, &z);
  fe_to_bytes(out, &x);
  ecr_wipe(clamped, sizeof(clamped));
  ecr_wipe(&x, sizeof(x));
  ecr_wipe(&z, sizeof(z));
}

void ecr_x25519_public(uint8_t out[32], const uint8_t scalar[32]) {
  static const uint8_t base[32] = {9};
  multiply(out, scalar, base);
}

ecr_status ecr_x25519(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]) {
  static const uint8_t zero[32] = {0};
  multiply(out, scalar, point);
  /* RFC 7748 6.1: whether it is all zeros is told to the peer anyway, by the handshake's end. */
  int refused = ecr_equal(out, zero, 32);
  ecr_declassify(&refused, sizeof(refused));
  return refused ? ECR_REFUSED : ECR_OK;
}
