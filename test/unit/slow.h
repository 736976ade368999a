/*
** slow.h: numbers of up to 512 bits, bit by bit: too simple to be wrong, for comparing fields with.
*/
#ifndef EDB_SLOW_H
#define EDB_SLOW_H

#include "curve_peer.h"

#define SLOW_WORDS 16

/* Words of 32 bits, the lowest first. */
typedef struct slow {
  uint32_t w[SLOW_WORDS];
} slow;

static inline slow slow_small(uint32_t v) {
  slow r = {{v}};
  return r;
}

static inline slow slow_words(const uint64_t *v, int n) {
  slow r = {{0}};
  for (int i = 0; i < n; i++) r.w[2 * i] = (uint32_t)v[i], r.w[2 * i + 1] = (uint32_t)(v[i] >> 32);
  return r;
}

static inline int slow_less(slow a, slow b) {
  for (int i = SLOW_WORDS - 1; i >= 0; i--) {
    if (a.w[i] != b.w[i]) return a.w[i] < b.w[i];
  }
  return 0;
}

static inline int slow_equal(slow a, slow b) { return memcmp(&a, &b, sizeof(a)) == 0; }

static inline slow slow_add(slow a, slow b) {
  uint64_t c = 0;
  for (int i = 0; i < SLOW_WORDS; i++, c >>= 32)
    a.w[i] = (uint32_t)(c += (uint64_t)a.w[i] + b.w[i]);
  return a;
}

static inline slow slow_sub(slow a, slow b) {
  int64_t c = 0;
  for (int i = 0; i < SLOW_WORDS; i++, c >>= 32) a.w[i] = (uint32_t)(c += (int64_t)a.w[i] - b.w[i]);
  return a;
}

/* a × b mod p, a of any size, and a mod p. */
static inline slow slow_mul(slow a, slow b, slow p) {
  slow r = {{0}};
  int i = 32 * SLOW_WORDS - 1;
  while (i >= 0 && a.w[i / 32] == 0) i -= 32;
  for (; i >= 0; i--) {
    r = slow_add(r, r);
    if (!slow_less(r, p)) r = slow_sub(r, p);
    if (a.w[i / 32] >> (i % 32) & 1) r = slow_add(r, b);
    if (!slow_less(r, p)) r = slow_sub(r, p);
  }
  return r;
}

static inline slow slow_mod(slow a, slow p) { return slow_mul(a, slow_small(1), p); }

/* 2^n */
static inline slow slow_power_of_2(int n) {
  slow r = {{0}};
  r.w[n / 32] = UINT32_C(1) << (n % 32);
  return r;
}

static inline slow slow_pattern(int bits) {
  slow r = {{0}};
  pattern_bytes((uint8_t *)r.w, (size_t)bits / 8);
  return r;
}

/* The i-th number below p that is likely to be wrong where something is: small ones, p less small ones, 2^k and
** one less, p - 2^k; then patterns. */
static inline slow slow_edge(int i, int bits, slow p) {
  slow r;
  if (i < 4) return slow_small((uint32_t)i);
  if (i < 8) return slow_sub(p, slow_small((uint32_t)(i - 3)));
  int k = (i - 8) * 16;
  if (k < bits) return slow_mod(slow_power_of_2(k), p);
  k -= bits;
  if (k < bits) return slow_mod(slow_sub(slow_power_of_2(k + 16), slow_small(1)), p);
  k -= bits;
  if (k < bits) return slow_sub(p, slow_mod(slow_power_of_2(k), p));
  do r = slow_pattern(bits);
  while (!slow_less(r, p));
  return r;
}

#endif
