/*
** crypto/sha256.c: SHA-256 (FIPS 180-4 6.2), and the choice of who compresses.
*/
#include "cryptoInt.h"

#include <string.h>

/* FIPS 180-4 4.2.2. */
_Alignas(64) const uint32_t ecr_sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* Round t of a block. The names of the eight words go round instead of their values. */
#define ROUND(t, a, b, c, d, e, f, g, h)                                                           \
  do {                                                                                             \
    h += (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + ecr_sha256_k[t] +  \
         w[(t)&15];                                                                                \
    d += h;                                                                                        \
    h += (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));               \
  } while (0)

/* W of the round t + 16, in the place of that of round t. */
static void schedule(uint32_t w[16], int t) {
  const uint32_t x = w[(t + 1) & 15], y = w[(t + 14) & 15];
  w[t & 15] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(t + 9) & 15] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
}

static void compress_portable(uint64_t state[8], const uint8_t *p, size_t blocks) {
  uint32_t w[16], s[8];
  for (int i = 0; i < 8; i++) s[i] = (uint32_t)state[i];
  for (; blocks > 0; blocks--, p += 64) {
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (int i = 0; i < 16; i++) w[i] = ecr_load32(p + 4 * i);
    for (int t = 0; t < 64; t += 8) {
      ROUND(t, a, b, c, d, e, f, g, h);
      ROUND(t + 1, h, a, b, c, d, e, f, g);
      ROUND(t + 2, g, h, a, b, c, d, e, f);
      ROUND(t + 3, f, g, h, a, b, c, d, e);
      ROUND(t + 4, e, f, g, h, a, b, c, d);
      ROUND(t + 5, d, e, f, g, h, a, b, c);
      ROUND(t + 6, c, d, e, f, g, h, a, b);
      ROUND(t + 7, b, c, d, e, f, g, h, a);
      for (int i = t; i < t + 8; i++) schedule(w, i);
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
  }
  for (int i = 0; i < 8; i++) state[i] = s[i];
  ecr_wipe(w, sizeof w);
  ecr_wipe(s, sizeof s);
}

static ecr_compress *compressor(void) {
  ecr_compress *fast = ecr_hash_is_portable() ? NULL : ecr_sha256_cpu();
  return fast ? fast : compress_portable;
}

static void init(ecr_hash_context *context) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memset(context, 0, sizeof *context);
  for (int i = 0; i < 8; i++) context->state[i] = start[i];
}

static void update(ecr_hash_context *context, const void *p, size_t n) {
  ecr_hash_update(context, p, n, 64, compressor());
}

static void digest(const ecr_hash_context *context, uint8_t *out) {
  uint64_t state[8];
  ecr_hash_pad(context, state, 64, compressor());
  for (int i = 0; i < 8; i++) ecr_store32(out + 4 * i, (uint32_t)state[i]);
  ecr_wipe(state, sizeof state);
}

const ecr_hash ecr_sha256 = {"sha256", 32, 64, init, update, digest};
