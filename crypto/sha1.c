/*
** crypto/sha1.c: SHA-1 (FIPS 180-4 6.1), which OAEP with its default parameters needs and nothing else
** may use.
*/
#include "cryptoInt.h"

#include <string.h>

static uint32_t rotate(uint32_t x, int n) { return x << n | x >> (32 - n); }

static uint32_t schedule(uint32_t w[16], int t) {
  if (t >= 16) {
    w[t & 15] = rotate(w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15], 1);
  }
  return w[t & 15];
}

static void compress(uint64_t state[8], const uint8_t *p, size_t blocks) {
  uint32_t w[16];
  for (; blocks > 0; blocks--, p += 64) {
    uint32_t a = (uint32_t)state[0], b = (uint32_t)state[1], c = (uint32_t)state[2],
             d = (uint32_t)state[3], e = (uint32_t)state[4];
    for (int i = 0; i < 16; i++) w[i] = ecr_load32(p + 4 * i);
    for (int t = 0; t < 80; t++) {
      uint32_t f, k, next;
      if (t < 20) {
        f = d ^ (b & (c ^ d)), k = 0x5a827999;
      } else if (t < 40) {
        f = b ^ c ^ d, k = 0x6ed9eba1;
      } else if (t < 60) {
        f = (b & c) | (d & (b | c)), k = 0x8f1bbcdc;
      } else {
        f = b ^ c ^ d, k = 0xca62c1d6;
      }
      next = rotate(a, 5) + f + e + k + schedule(w, t);
      e = d, d = c, c = rotate(b, 30), b = a, a = next;
    }
    state[0] = (uint32_t)(state[0] + a);
    state[1] = (uint32_t)(state[1] + b);
    state[2] = (uint32_t)(state[2] + c);
    state[3] = (uint32_t)(state[3] + d);
    state[4] = (uint32_t)(state[4] + e);
  }
  ecr_wipe(w, sizeof w);
}

static void init(ecr_hash_context *context) {
  static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  memset(context, 0, sizeof *context);
  for (int i = 0; i < 5; i++) context->state[i] = start[i];
}

static void update(ecr_hash_context *context, const void *p, size_t n) {
  ecr_hash_update(context, p, n, 64, compress);
}

static void digest(const ecr_hash_context *context, uint8_t *out) {
  uint64_t state[8];
  ecr_hash_pad(context, state, 64, compress);
  for (int i = 0; i < 5; i++) ecr_store32(out + 4 * i, (uint32_t)state[i]);
  ecr_wipe(state, sizeof state);
}

const ecr_hash ecr_sha1 = {"sha1", 20, 64, init, update, digest};
