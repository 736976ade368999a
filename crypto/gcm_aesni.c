/*
** crypto/gcm_aesni.c: AES-GCM by AES-NI and PCLMULQDQ, one block a vector.
*/
#include "cryptoInt.h"

#if defined(__x86_64__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("aes,pclmul,ssse3,sse4.1"))),                   \
                             apply_to = function)
#else
#pragma GCC target("aes,pclmul,ssse3,sse4.1")
#endif
#include <immintrin.h>

#include <string.h>

#define BACKEND "aesni"
#define TABLE ecr_gcm_aesni
#define LANES 1
#define FIRST_COUNTERS _mm_set_epi32(0, 0, 0, 1)
#define INLINE static inline __attribute__((always_inline))

typedef __m128i vec;

INLINE vec load(const void *p) { return _mm_loadu_si128(p); }
INLINE void store(void *p, vec v) { _mm_storeu_si128(p, v); }
INLINE vec load_part(const uint8_t *p, size_t n) {
  uint8_t b[16] = {0};
  memcpy(b, p, n);
  return load(b);
}
INLINE void store_part(uint8_t *p, vec v, size_t n) {
  uint8_t b[16];
  store(b, v);
  memcpy(p, b, n);
}
INLINE vec keep(vec v, size_t n) {
  const vec place = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm_and_si128(v, _mm_cmplt_epi8(place, _mm_set1_epi8((char)n)));
}
INLINE vec spread(__m128i b) { return b; }
INLINE vec extend(__m128i b) { return b; }
INLINE __m128i fold(vec v) { return v; }
INLINE vec vadd(vec a, vec b) { return _mm_add_epi32(a, b); }
INLINE vec vxor(vec a, vec b) { return _mm_xor_si128(a, b); }
INLINE vec aes(vec v, vec k) { return _mm_aesenc_si128(v, k); }
INLINE vec aes_last(vec v, vec k) { return _mm_aesenclast_si128(v, k); }
INLINE vec halves(vec v) { return _mm_shuffle_epi32(v, 0x4e); }
INLINE vec reverse_block(__m128i b) {
  return _mm_shuffle_epi8(b, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
INLINE vec reverse(vec v) { return reverse_block(v); }
#define clmul(a, b, which) _mm_clmulepi64_si128(a, b, which)

#include "gcm_x86.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
