/*
** crypto/gcm_vaes512.c: AES-GCM by VAES and VPCLMULQDQ with AVX-512, four blocks a vector.
*/
#include "cryptoInt.h"

#if defined(__x86_64__)

#ifdef __clang__
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,aes,pclmul,vaes,vpclmulqdq"))), \
    apply_to = function)
#else
#pragma GCC target("avx2,avx512f,avx512bw,avx512dq,avx512vl,aes,pclmul,vaes,vpclmulqdq")
#endif
#include <immintrin.h>

#define BACKEND "vaes512"
#define TABLE ecr_gcm_vaes512
#define LANES 4
#define FIRST_COUNTERS _mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1)
#define INLINE static inline __attribute__((always_inline))

typedef __m512i vec;

INLINE vec load(const void *p) { return _mm512_loadu_si512(p); }
INLINE void store(void *p, vec v) { _mm512_storeu_si512(p, v); }
INLINE __mmask64 first_bytes(size_t n) { return ((__mmask64)1 << n) - 1; }
INLINE vec load_part(const uint8_t *p, size_t n) {
  return _mm512_maskz_loadu_epi8(first_bytes(n), p);
}
INLINE void store_part(uint8_t *p, vec v, size_t n) {
  _mm512_mask_storeu_epi8(p, first_bytes(n), v);
}
INLINE vec keep(vec v, size_t n) { return _mm512_maskz_mov_epi8(first_bytes(n), v); }
INLINE vec spread(__m128i b) { return _mm512_broadcast_i32x4(b); }
INLINE vec extend(__m128i b) { return _mm512_zextsi128_si512(b); }
INLINE __m128i fold(vec v) {
  const __m256i t = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  return _mm_xor_si128(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
}
INLINE vec vadd(vec a, vec b) { return _mm512_add_epi32(a, b); }
INLINE vec vxor(vec a, vec b) { return _mm512_xor_si512(a, b); }
INLINE vec aes(vec v, vec k) { return _mm512_aesenc_epi128(v, k); }
INLINE vec aes_last(vec v, vec k) { return _mm512_aesenclast_epi128(v, k); }
INLINE vec halves(vec v) { return _mm512_shuffle_epi32(v, 0x4e); }
INLINE __m128i reverse_block(__m128i b) {
  return _mm_shuffle_epi8(b, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
INLINE vec reverse(vec v) {
  return _mm512_shuffle_epi8(
      v, spread(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
}
#define clmul(a, b, which) _mm512_clmulepi64_epi128(a, b, which)

#include "gcm_x86.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
