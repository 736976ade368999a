/*
** crypto/sha256_cpu.c: SHA-256 by the instructions of x86 (SHA-NI) and of ARMv8. Both work on four
** words of the schedule at a time.
*/
#include "cryptoInt.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* Four rounds with the words m. s0 holds the words a b e f, s1 c d g h (Intel SDM 2B, SHA256RNDS2). */
#define ROUNDS(t, m)                                                                               \
  do {                                                                                             \
    const __m128i wk = _mm_add_epi32(m, _mm_load_si128((const __m128i *)(ecr_sha256_k + (t))));    \
    s1 = _mm_sha256rnds2_epu32(s1, s0, wk);                                                        \
    s0 = _mm_sha256rnds2_epu32(s0, s1, _mm_shuffle_epi32(wk, 0x0e));                               \
  } while (0)

/* m0 from 16 rounds on, m1 to m3 being the words between. */
#define SCHEDULE(m0, m1, m2, m3)                                                                   \
  m0 = _mm_sha256msg2_epu32(                                                                       \
      _mm_add_epi32(_mm_sha256msg1_epu32(m0, m1), _mm_alignr_epi8(m3, m2, 4)), m3)

TARGET static __m128i load(const uint8_t *p) {
  const __m128i reverse = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), reverse);
}

TARGET static void compress(uint64_t state[8], const uint8_t *p, size_t blocks) {
#define WORD(i) ((int)(uint32_t)state[i])
  __m128i s0 = _mm_set_epi32(WORD(0), WORD(1), WORD(4), WORD(5));
  __m128i s1 = _mm_set_epi32(WORD(2), WORD(3), WORD(6), WORD(7));
#undef WORD
  for (; blocks > 0; blocks--, p += 64) {
    const __m128i old0 = s0, old1 = s1;
    __m128i m0 = load(p), m1 = load(p + 16), m2 = load(p + 32), m3 = load(p + 48);
    ROUNDS(0, m0);
    ROUNDS(4, m1);
    ROUNDS(8, m2);
    ROUNDS(12, m3);
    for (int t = 16; t < 64; t += 16) {
      SCHEDULE(m0, m1, m2, m3);
      ROUNDS(t, m0);
      SCHEDULE(m1, m2, m3, m0);
      ROUNDS(t + 4, m1);
      SCHEDULE(m2, m3, m0, m1);
      ROUNDS(t + 8, m2);
      SCHEDULE(m3, m0, m1, m2);
      ROUNDS(t + 12, m3);
    }
    s0 = _mm_add_epi32(s0, old0);
    s1 = _mm_add_epi32(s1, old1);
  }
  state[0] = (uint32_t)_mm_extract_epi32(s0, 3);
  state[1] = (uint32_t)_mm_extract_epi32(s0, 2);
  state[2] = (uint32_t)_mm_extract_epi32(s1, 3);
  state[3] = (uint32_t)_mm_extract_epi32(s1, 2);
  state[4] = (uint32_t)_mm_extract_epi32(s0, 1);
  state[5] = (uint32_t)_mm_extract_epi32(s0, 0);
  state[6] = (uint32_t)_mm_extract_epi32(s1, 1);
  state[7] = (uint32_t)_mm_extract_epi32(s1, 0);
}

ecr_compress *ecr_sha256_cpu(void) {
  const ecr_cpu *cpu = ecr_cpu_get();
  return cpu->sha && cpu->sse41 && cpu->ssse3 ? compress : NULL;
}

/* clang declares these intrinsics only where the whole file may use them. */
#elif defined(__aarch64__) && (!defined(__clang__) || defined(__ARM_FEATURE_SHA2))
#include <arm_neon.h>

#ifdef __clang__
#define TARGET
#else
#define TARGET __attribute__((target("+crypto")))
#endif

/* Four rounds with the words m: s0 holds a b c d, s1 e f g h (Arm ARM, SHA256H). */
#define ROUNDS(t, m)                                                                               \
  do {                                                                                             \
    const uint32x4_t wk = vaddq_u32(m, vld1q_u32(ecr_sha256_k + (t))), abcd = s0;                  \
    s0 = vsha256hq_u32(s0, s1, wk);                                                                \
    s1 = vsha256h2q_u32(s1, abcd, wk);                                                             \
  } while (0)

#define SCHEDULE(m0, m1, m2, m3) m0 = vsha256su1q_u32(vsha256su0q_u32(m0, m1), m2, m3)

TARGET static uint32x4_t load(const uint8_t *p) {
  return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p)));
}

TARGET static void compress(uint64_t state[8], const uint8_t *p, size_t blocks) {
  uint32_t words[8];
  for (int i = 0; i < 8; i++) words[i] = (uint32_t)state[i];
  uint32x4_t s0 = vld1q_u32(words), s1 = vld1q_u32(words + 4);
  for (; blocks > 0; blocks--, p += 64) {
    const uint32x4_t old0 = s0, old1 = s1;
    uint32x4_t m0 = load(p), m1 = load(p + 16), m2 = load(p + 32), m3 = load(p + 48);
    ROUNDS(0, m0);
    ROUNDS(4, m1);
    ROUNDS(8, m2);
    ROUNDS(12, m3);
    for (int t = 16; t < 64; t += 16) {
      SCHEDULE(m0, m1, m2, m3);
      ROUNDS(t, m0);
      SCHEDULE(m1, m2, m3, m0);
      ROUNDS(t + 4, m1);
      SCHEDULE(m2, m3, m0, m1);
      ROUNDS(t + 8, m2);
      SCHEDULE(m3, m0, m1, m2);
      ROUNDS(t + 12, m3);
    }
    s0 = vaddq_u32(s0, old0);
    s1 = vaddq_u32(s1, old1);
  }
  vst1q_u32(words, s0);
  vst1q_u32(words + 4, s1);
  for (int i = 0; i < 8; i++) state[i] = words[i];
  ecr_wipe(words, sizeof words);
}

ecr_compress *ecr_sha256_cpu(void) { return ecr_cpu_get()->arm_sha2 ? compress : NULL; }

#else
ecr_compress *ecr_sha256_cpu(void) { return NULL; }
#endif
