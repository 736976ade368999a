/*
** curve_peer.h: what the curves' tests share beside primitives.h.
*/
#ifndef EDB_CURVE_PEER_H
#define EDB_CURVE_PEER_H

#include "primitives.h"

/* xorshift64*: the same numbers in every run. */
static inline uint64_t random64(void) {
  static uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return x * UINT64_C(2685821657736338717);
}

static inline void random_bytes(uint8_t *out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(random64() >> 32);
}

/* Random bytes, some of them in runs of zeros or ones, where carries go far. */
static inline void pattern_bytes(uint8_t *out, size_t n) {
  random_bytes(out, n);
  for (int i = (int)(random64() >> 40) % 4; i > 0; i--) {
    size_t from = (size_t)(random64() >> 40) % n, to = from + (size_t)(random64() >> 40) % 20;
    int v = random64() >> 63 ? 0xff : 0;
    for (size_t j = from; j < to && j < n; j++) out[j] = (uint8_t)v;
  }
}

/* name = libcrypto's function of that name; its objects are void pointers here. */
#define LIBCRYPTO(result, name, ...)                                                               \
  result (*name)(__VA_ARGS__);                                                                     \
  PEER(name, #name)

#endif
