/*
** crypto/ghash_portable.c: GHASH (SP 800-38D 6.4) from integer products, without tables.
**
** An integer product of two numbers whose bits stand four apart is a carry-less one in every fourth
** bit, the bits between taking the carries, as long as fewer than 16 terms meet in a place (Pornin,
** BearSSL, ghash_ctmul64.c, calls these "holes"). A factor of 64 bits is split into four such numbers.
** In the middle place 16 terms could meet: so the top four bits of the hash key's parts are left out,
** and what they contribute is added under a mask.
**
** As in gcm_x86.h, blocks are taken byte-reversed and the hash key was multiplied by x, which spares a
** shift of each product.
*/
#include "cryptoInt.h"

#include <string.h>

#define EVERY_4TH UINT64_C(0x1111111111111111)

static uint64_t load_reversed(const uint8_t *p) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t v;
  memcpy(&v, p, 8);
  return __builtin_bswap64(v);
#else
  return ecr_load64(p);
#endif
}

#if ECR_U128

/* part: every fourth bit, without the topmost one; top: whether that one is set, as a mask. */
static void set_factor(ecr_ghash_factor *f, uint64_t y) {
  for (int i = 0; i < 4; i++) {
    f->part[i] = y & EVERY_4TH << i & UINT64_MAX >> 4;
    f->top[i] = 0 - (y >> (60 + i) & 1);
  }
}

static inline ecr_u128 multiply(uint64_t x, const ecr_ghash_factor *y) {
  const ecr_u128 every_4th = (ecr_u128)EVERY_4TH << 64 | EVERY_4TH;
  const uint64_t x0 = x & EVERY_4TH, x1 = x & EVERY_4TH << 1;
  const uint64_t x2 = x & EVERY_4TH << 2, x3 = x & EVERY_4TH << 3;
  const uint64_t *p = y->part;
#define TIMES(a, b) ((ecr_u128)(a) * (b))
  ecr_u128 z0 = TIMES(x0, p[0]) ^ TIMES(x1, p[3]) ^ TIMES(x2, p[2]) ^ TIMES(x3, p[1]);
  ecr_u128 z1 = TIMES(x0, p[1]) ^ TIMES(x1, p[0]) ^ TIMES(x2, p[3]) ^ TIMES(x3, p[2]);
  ecr_u128 z2 = TIMES(x0, p[2]) ^ TIMES(x1, p[1]) ^ TIMES(x2, p[0]) ^ TIMES(x3, p[3]);
  ecr_u128 z3 = TIMES(x0, p[3]) ^ TIMES(x1, p[2]) ^ TIMES(x2, p[1]) ^ TIMES(x3, p[0]);
#undef TIMES
  ecr_u128 z =
      (z0 & every_4th) | (z1 & every_4th << 1) | (z2 & every_4th << 2) | (z3 & every_4th << 3);
  uint64_t high = x >> 4 & y->top[0], low = x << 60 & y->top[0];
  high ^= x >> 3 & y->top[1];
  low ^= x << 61 & y->top[1];
  high ^= x >> 2 & y->top[2];
  low ^= x << 62 & y->top[2];
  high ^= x >> 1 & y->top[3];
  low ^= x << 63 & y->top[3];
  return z ^ ((ecr_u128)high << 64 | low);
}

/* The 256 bits of x × h (Karatsuba). */
static inline void product(uint64_t v[4], const uint64_t x[2], const ecr_ghash_key *key) {
  const ecr_u128 low = multiply(x[0], &key->low), high = multiply(x[1], &key->high);
  const ecr_u128 middle = multiply(x[0] ^ x[1], &key->middle) ^ low ^ high;
  v[0] = (uint64_t)low;
  v[1] = (uint64_t)(low >> 64) ^ (uint64_t)middle;
  v[2] = (uint64_t)high ^ (uint64_t)(middle >> 64);
  v[3] = (uint64_t)(high >> 64);
}

#else

static uint64_t reverse_bits(uint64_t x) {
  static const uint64_t mask[6] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                   0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  for (int i = 0; i < 6; i++) x = (x >> (1 << i) & mask[i]) | (x & mask[i]) << (1 << i);
  return x;
}

/* The upper half of a carry-less product is the lower half of that of the reversed factors. */
static void set_factor(ecr_ghash_factor *f, uint64_t y) {
  f->part[0] = y;
  f->part[1] = reverse_bits(y);
}

/* The lower 64 bits alone: what the 16 terms of the middle place carry falls off. */
static uint64_t multiply_low(uint64_t x, uint64_t y) {
  uint64_t z = 0;
  for (int i = 0; i < 4; i++) {
    uint64_t t = 0;
    for (int j = 0; j < 4; j++) t ^= (x & EVERY_4TH << j) * (y & EVERY_4TH << ((i - j) & 3));
    z |= t & EVERY_4TH << i;
  }
  return z;
}

static uint64_t multiply(uint64_t *high, uint64_t x, const ecr_ghash_factor *y) {
  *high = reverse_bits(multiply_low(reverse_bits(x), y->part[1])) >> 1;
  return multiply_low(x, y->part[0]);
}

static void product(uint64_t v[4], const uint64_t x[2], const ecr_ghash_key *key) {
  uint64_t low1, high1, middle1;
  const uint64_t low0 = multiply(&low1, x[0], &key->low);
  const uint64_t high0 = multiply(&high1, x[1], &key->high);
  const uint64_t middle0 = multiply(&middle1, x[0] ^ x[1], &key->middle);
  v[0] = low0;
  v[1] = low1 ^ middle0 ^ low0 ^ high0;
  v[2] = high0 ^ middle1 ^ low1 ^ high1;
  v[3] = high1;
}

#endif

/* Modulo x^128 + x^127 + x^126 + x^121 + 1, the polynomial reflected; 64 bits at a time. */
static inline void reduce(uint64_t acc[2], uint64_t v[4]) {
  for (int i = 0; i < 2; i++) {
    v[i + 1] ^= v[i] << 63 ^ v[i] << 62 ^ v[i] << 57;
    v[i + 2] ^= v[i] ^ v[i] >> 1 ^ v[i] >> 2 ^ v[i] >> 7;
  }
  acc[0] = v[2];
  acc[1] = v[3];
}

void ecr_ghash_init(ecr_ghash_key *key, const uint8_t h[16]) {
  const uint64_t high = ecr_load64(h), low = ecr_load64(h + 8), out = 0 - (high >> 63);
  const uint64_t low_x = low << 1 ^ (out & 1);
  const uint64_t high_x = high << 1 ^ low >> 63 ^ (out & UINT64_C(0xc200000000000000));
  set_factor(&key->low, low_x);
  set_factor(&key->high, high_x);
  set_factor(&key->middle, low_x ^ high_x);
}

void ecr_ghash(const ecr_ghash_key *key, uint64_t acc[2], const uint8_t *p, size_t n) {
  uint64_t x[2] = {acc[0], acc[1]}, v[4];
  for (; n >= 16; n -= 16, p += 16) {
    x[0] ^= load_reversed(p + 8);
    x[1] ^= load_reversed(p);
    product(v, x, key);
    reduce(x, v);
  }
  if (n) {
    uint8_t block[16] = {0};
    memcpy(block, p, n);
    x[0] ^= ecr_load64(block + 8);
    x[1] ^= ecr_load64(block);
    product(v, x, key);
    reduce(x, v);
  }
  acc[0] = x[0];
  acc[1] = x[1];
}
