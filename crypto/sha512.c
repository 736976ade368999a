/*
** crypto/sha512.c: SHA-384 and SHA-512 (FIPS 180-4 6.4, 6.5).
*/
#include "cryptoInt.h"

#include <string.h>

/* FIPS 180-4 4.2.3. */
static const uint64_t k[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

static uint64_t rotate(uint64_t x, int n) { return x >> n | x << (64 - n); }

/* Round t of a block. The names of the eight words go round instead of their values. */
#define ROUND(t, a, b, c, d, e, f, g, h)                                                           \
  do {                                                                                             \
    h += (rotate(e, 14) ^ rotate(e, 18) ^ rotate(e, 41)) + (g ^ (e & (f ^ g))) + k[t] + w[(t)&15]; \
    d += h;                                                                                        \
    h += (rotate(a, 28) ^ rotate(a, 34) ^ rotate(a, 39)) + ((a & b) | (c & (a | b)));              \
  } while (0)

/* W of the round t + 16, in the place of that of round t. */
static void schedule(uint64_t w[16], int t) {
  const uint64_t x = w[(t + 1) & 15], y = w[(t + 14) & 15];
  w[t & 15] += (rotate(x, 1) ^ rotate(x, 8) ^ x >> 7) + w[(t + 9) & 15] +
               (rotate(y, 19) ^ rotate(y, 61) ^ y >> 6);
}

static void compress(uint64_t s[8], const uint8_t *p, size_t blocks) {
  uint64_t w[16];
  for (; blocks > 0; blocks--, p += 128) {
    uint64_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (int i = 0; i < 16; i++) w[i] = ecr_load64(p + 8 * i);
    for (int t = 0; t < 80; t += 8) {
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
  ecr_wipe(w, sizeof w);
}

static void start(ecr_hash_context *context, const uint64_t state[8]) {
  memset(context, 0, sizeof *context);
  memcpy(context->state, state, sizeof context->state);
}

static void init384(ecr_hash_context *context) {
  static const uint64_t state[8] = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17,
                                    0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511,
                                    0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};
  start(context, state);
}

static void init512(ecr_hash_context *context) {
  static const uint64_t state[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  start(context, state);
}

static void update(ecr_hash_context *context, const void *p, size_t n) {
  ecr_hash_update(context, p, n, 128, compress);
}

static void finish(const ecr_hash_context *context, uint8_t *out, int words) {
  uint64_t state[8];
  ecr_hash_pad(context, state, 128, compress);
  for (int i = 0; i < words; i++) ecr_store64(out + 8 * i, state[i]);
  ecr_wipe(state, sizeof state);
}

static void digest384(const ecr_hash_context *context, uint8_t *out) { finish(context, out, 6); }
static void digest512(const ecr_hash_context *context, uint8_t *out) { finish(context, out, 8); }

const ecr_hash ecr_sha384 = {"sha384", 48, 128, init384, update, digest384};
const ecr_hash ecr_sha512 = {"sha512", 64, 128, init512, update, digest512};
