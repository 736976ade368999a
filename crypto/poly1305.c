/*
** crypto/poly1305.c: Poly1305 (RFC 8439 2.5) over whole blocks, which is all that the AEAD needs: it pads
** with zeros. Two blocks are taken at once, (h + m1) r^2 + m2 r, as their products do not wait for
** each other.
**
** Numbers modulo 2^130 - 5 have three limbs of 44, 44 and 42 bits, or five of 26 where there are no
** products of 128 bits.
*/
#include "cryptoInt.h"

#include <string.h>

static uint64_t load_little(const uint8_t *p, int n) {
  uint64_t v = 0;
  for (int i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
  return v;
}

#if ECR_U128

#define LIMBS 3
#define MASK44 ((UINT64_C(1) << 44) - 1)
#define MASK42 ((UINT64_C(1) << 42) - 1)
typedef ecr_u128 wide;

static const unsigned width[LIMBS] = {44, 44, 42};

static inline void limbs(uint64_t m[LIMBS], const uint8_t p[16], uint64_t top) {
  const uint64_t low = load_little(p, 8), high = load_little(p + 8, 8);
  m[0] = low & MASK44;
  m[1] = (low >> 44 | high << 20) & MASK44;
  m[2] = high >> 24 | top << 40;
}

/* d += a × b; limbs that pass 2^130 come back times 5, and times 4 as the limbs' widths make 132. */
static inline void multiply(wide d[LIMBS], const uint64_t a[LIMBS], const uint64_t b[LIMBS]) {
  const uint64_t b1 = b[1] * 20, b2 = b[2] * 20;
  d[0] += (wide)a[0] * b[0] + (wide)a[1] * b2 + (wide)a[2] * b1;
  d[1] += (wide)a[0] * b[1] + (wide)a[1] * b[0] + (wide)a[2] * b2;
  d[2] += (wide)a[0] * b[2] + (wide)a[1] * b[1] + (wide)a[2] * b[0];
}

#else

#define LIMBS 5
typedef uint64_t wide;

static const unsigned width[LIMBS] = {26, 26, 26, 26, 26};

static void limbs(uint64_t m[LIMBS], const uint8_t p[16], uint64_t top) {
  m[0] = load_little(p, 4) & 0x3ffffff;
  m[1] = load_little(p + 3, 4) >> 2 & 0x3ffffff;
  m[2] = load_little(p + 6, 4) >> 4 & 0x3ffffff;
  m[3] = load_little(p + 9, 4) >> 6 & 0x3ffffff;
  m[4] = load_little(p + 12, 4) >> 8 | top << 24;
}

static void multiply(wide d[LIMBS], const uint64_t a[LIMBS], const uint64_t b[LIMBS]) {
  for (int i = 0; i < LIMBS; i++) {
    for (int j = 0; j < LIMBS; j++) d[i] += a[j] * b[(i - j + LIMBS) % LIMBS] * (j > i ? 5 : 1);
  }
}

#endif

#define LIMB_MASK(i) ((UINT64_C(1) << width[i]) - 1)

static inline void carry(uint64_t h[LIMBS], wide d[LIMBS]) {
  for (int i = 0; i < LIMBS; i++) {
    h[i] = (uint64_t)d[i] & LIMB_MASK(i);
    if (i + 1 < LIMBS) d[i + 1] += d[i] >> width[i];
  }
  h[0] += (uint64_t)(d[LIMBS - 1] >> width[LIMBS - 1]) * 5;
  h[1] += h[0] >> width[0];
  h[0] &= LIMB_MASK(0);
}

static void add(uint64_t h[LIMBS], const uint64_t m[LIMBS]) {
  for (int i = 0; i < LIMBS; i++) h[i] += m[i];
}

/* 2.5: some bits of r are cleared. */
void ecr_poly1305_init(ecr_poly1305 *p, const uint8_t key[32]) {
  static const uint8_t clamp[16] = {0xff, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f,
                                    0xfc, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f};
  uint8_t r[16];
  wide d[LIMBS] = {0};
  memset(p, 0, sizeof *p);
  for (int i = 0; i < 16; i++) r[i] = key[i] & clamp[i];
  limbs(p->r, r, 0);
  multiply(d, p->r, p->r);
  carry(p->r2, d);
  memcpy(p->s, key + 16, 16);
  ecr_wipe(r, sizeof r);
}

static void block(ecr_poly1305 *p, const uint8_t in[16]) {
  uint64_t m[LIMBS];
  wide d[LIMBS] = {0};
  limbs(m, in, 1);
  add(p->h, m);
  multiply(d, p->h, p->r);
  carry(p->h, d);
}

void ecr_poly1305_padded(ecr_poly1305 *p, const uint8_t *in, size_t n) {
  uint64_t h[LIMBS], m[LIMBS];
  memcpy(h, p->h, sizeof h);
  for (; n >= 32; n -= 32, in += 32) {
    wide d[LIMBS] = {0};
    limbs(m, in, 1);
    add(h, m);
    multiply(d, h, p->r2);
    limbs(m, in + 16, 1);
    multiply(d, m, p->r);
    carry(h, d);
  }
  memcpy(p->h, h, sizeof h);
  if (n >= 16) {
    block(p, in);
    n -= 16;
    in += 16;
  }
  if (n) {
    uint8_t last[16] = {0};
    memcpy(last, in, n);
    block(p, last);
  }
}

/* h modulo 2^130 - 5, plus s, modulo 2^128. */
void ecr_poly1305_tag(ecr_poly1305 *p, uint8_t tag[16]) {
  uint64_t g[LIMBS], *h = p->h, over = 5;
  for (int round = 0; round < 2; round++) { /* carries all the way, twice */
    for (int i = 0; i < LIMBS; i++) {
      h[(i + 1) % LIMBS] += (h[i] >> width[i]) * (i + 1 < LIMBS ? 1 : 5);
      h[i] &= LIMB_MASK(i);
    }
  }
  h[1] += h[0] >> width[0];
  h[0] &= LIMB_MASK(0);
  /* h + 5 passes 2^130 if and only if h is not below the modulus. */
  for (int i = 0; i < LIMBS; i++) {
    g[i] = h[i] + over;
    over = g[i] >> width[i];
    g[i] &= LIMB_MASK(i);
  }
  const uint64_t mask = 0 - over;
  for (int i = 0; i < LIMBS; i++) h[i] ^= mask & (h[i] ^ g[i]);

  uint64_t word[2] = {0}, c = 0;
  unsigned at = 0;
  for (int i = 0; i < LIMBS; at += width[i++]) {
    if (at < 64) word[0] |= h[i] << at;
    if (at < 64 && at + width[i] > 64) word[1] |= h[i] >> (64 - at);
    if (at >= 64) word[1] |= h[i] << (at - 64);
  }
  for (int i = 0; i < 2; i++) {
    const uint64_t v = ecr_add(word[i], load_little(p->s + 8 * i, 8), &c);
    for (int j = 0; j < 8; j++) tag[8 * i + j] = (uint8_t)(v >> 8 * j);
  }
}
