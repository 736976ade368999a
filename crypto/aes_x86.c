/*
** crypto/aes_x86.c: blocks of AES by AES-NI, for modes that have no file of instructions of their own.
** Eight blocks are in flight where they do not depend on each other.
*/
#include "cryptoInt.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("aes,sse2")))
#define FLIGHT 8

TARGET static __m128i load(const uint8_t *p) {
  return _mm_loadu_si128((const __m128i *)(const void *)p);
}
TARGET static void store(uint8_t *p, __m128i v) { _mm_storeu_si128((__m128i *)(void *)p, v); }

TARGET void ecr_aes_x86_encrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                                size_t blocks) {
  while (blocks) {
    const size_t n = blocks < FLIGHT ? blocks : FLIGHT;
    __m128i s[FLIGHT], k = load(key->round[0]);
    for (size_t i = 0; i < n; i++) s[i] = _mm_xor_si128(load(in + 16 * i), k);
    for (unsigned r = 1; r < key->rounds; r++) {
      k = load(key->round[r]);
      for (size_t i = 0; i < n; i++) s[i] = _mm_aesenc_si128(s[i], k);
    }
    k = load(key->round[key->rounds]);
    for (size_t i = 0; i < n; i++) store(out + 16 * i, _mm_aesenclast_si128(s[i], k));
    blocks -= n;
    in += 16 * n;
    out += 16 * n;
  }
}

/* The equivalent inverse cipher (FIPS 197 5.3.5): its round keys pass InvMixColumns. */
TARGET void ecr_aes_x86_decrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                                size_t blocks) {
  __m128i inverse[15];
  inverse[0] = load(key->round[key->rounds]);
  for (unsigned r = 1; r < key->rounds; r++) {
    inverse[r] = _mm_aesimc_si128(load(key->round[key->rounds - r]));
  }
  inverse[key->rounds] = load(key->round[0]);
  while (blocks) {
    const size_t n = blocks < FLIGHT ? blocks : FLIGHT;
    __m128i s[FLIGHT];
    for (size_t i = 0; i < n; i++) s[i] = _mm_xor_si128(load(in + 16 * i), inverse[0]);
    for (unsigned r = 1; r < key->rounds; r++) {
      for (size_t i = 0; i < n; i++) s[i] = _mm_aesdec_si128(s[i], inverse[r]);
    }
    for (size_t i = 0; i < n; i++) {
      store(out + 16 * i, _mm_aesdeclast_si128(s[i], inverse[key->rounds]));
    }
    blocks -= n;
    in += 16 * n;
    out += 16 * n;
  }
  ecr_wipe(inverse, sizeof inverse);
}
#endif
