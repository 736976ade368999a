/*
** crypto/gcm_vaes256.c: AES-GCM by VAES and VPCLMULQDQ, two blocks a vector.
*/
#include "cryptoInt.h"

#if defined(__x86_64__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,aes,pclmul,vaes,vpclmulqdq"))),           \
                             apply_to = function)
#else
#pragma GCC target("avx2,aes,pclmul,vaes,vpclmulqdq")
#endif
#include <immintrin.h>

#include <string.h>

#define BACKEND "vaes256"
#define TABLE ecr_gcm_vaes256
#define LANES 2
#define FIRST_COUNTERS _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 1)
#define INLINE static inline __attribute__((always_inline))

typedef __m256i vec;

INLINE vec load(const void *p) { return _mm256_loadu_si256(p); }
INLINE void store(void *p, vec v) { _mm256_storeu_si256(p, v); }
INLINE vec load_part(const uint8_t *p, size_t n) {
  uint8_t b[32] = {0};
  memcpy(b, p, n);
  return load(b);
}
INLINE void store_part(uint8_t *p, vec v, size_t n) {
  uint8_t b[32];
  store(b, v);
  memcpy(p, b, n);
}
INLINE vec keep(vec v, size_t n) {
  const vec place = _mm256_set_epi8(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                                    15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm256_and_si256(v, _mm256_cmpgt_epi8(_mm256_set1_epi8((char)n), place));
}
INLINE vec spread(__m128i b) { return _mm256_broadcastsi128_si256(b); }
INLINE vec extend(__m128i b) { return _mm256_zextsi128_si256(b); }
INLINE __m128i fold(vec v) {
  return _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
INLINE vec vadd(vec a, vec b) { return _mm256_add_epi32(a, b); }
INLINE vec vxor(vec a, vec b) { return _mm256_xor_si256(a, b); }
INLINE vec aes(vec v, vec k) { return _mm256_aesenc_epi128(v, k); }
INLINE vec aes_last(vec v, vec k) { return _mm256_aesenclast_epi128(v, k); }
INLINE vec halves(vec v) { return _mm256_shuffle_epi32(v, 0x4e); }
INLINE __m128i reverse_block(__m128i b) {
  return _mm_shuffle_epi8(b, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
INLINE vec reverse(vec v) {
  return _mm256_shuffle_epi8(
      v, spread(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
}
#define clmul(a, b, which) _mm256_clmulepi64_epi128(a, b, which)

#include "gcm_x86.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
