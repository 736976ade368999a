/*
** crypto/gcm_armv8.c: AES-GCM (SP 800-38D) by ARMv8's Cryptography Extensions, eight blocks at a time. The
** head of gcm_x86.h says how the hash works; here as there the products stand between the rounds.
*/
#include "cryptoInt.h"

#if defined(__aarch64__) && defined(__AARCH64EL__)

#ifdef __clang__
/* Before version 17 its arm_neon.h asks for this macro, whatever the functions' targets are. */
#ifndef __ARM_FEATURE_AES
#define __ARM_FEATURE_AES 1
#endif
#pragma clang attribute push(__attribute__((target("crypto"))), apply_to = function)
#else
#pragma GCC target("+crypto")
#endif
#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define BLOCKS 8
#define BATCH ((size_t)16 * BLOCKS) /* bytes */

typedef struct gcm_key {
  uint8x16_t round[15];
  uint64x2_t power[BLOCKS + 2]; /* power[e]: H^e; e up to 9 */
  uint64x2_t half[BLOCKS + 2];  /* the sum of its halves, in both */
  unsigned rounds;
} gcm_key;

_Static_assert(sizeof(gcm_key) <= ECR_AEAD_CONTEXT, "the context holds a key");

/* ---- GHASH (6.4) ---------------------------------------------------------------------------------- */

typedef struct product {
  uint64x2_t low, middle, high;
} product;

INLINE uint64x2_t halves(uint64x2_t v) { return vextq_u64(v, v, 1); }

INLINE uint64x2_t clmul(uint64_t a, uint64_t b) {
  return vreinterpretq_u64_p128(vmull_p64((poly64_t)a, (poly64_t)b));
}

INLINE uint64x2_t clmul_high(uint64x2_t a, uint64x2_t b) {
  return vreinterpretq_u64_p128(vmull_high_p64(vreinterpretq_p64_u64(a), vreinterpretq_p64_u64(b)));
}

INLINE uint8x16_t reverse_bytes(uint8x16_t v) {
  v = vrev64q_u8(v);
  return vextq_u8(v, v, 8);
}

INLINE uint64x2_t to_number(uint8x16_t v) { return vreinterpretq_u64_u8(reverse_bytes(v)); }

/* Adds x × H^e. */
INLINE void multiply(product *p, const gcm_key *key, uint64x2_t x, size_t e) {
  const uint64x2_t h = key->power[e], sum = veorq_u64(x, halves(x));
  p->low = veorq_u64(p->low, clmul(vgetq_lane_u64(x, 0), vgetq_lane_u64(h, 0)));
  p->high = veorq_u64(p->high, clmul_high(x, h));
  p->middle = veorq_u64(p->middle, clmul(vgetq_lane_u64(sum, 0), vgetq_lane_u64(key->half[e], 0)));
}

INLINE uint64x2_t reduce(product p) {
  const uint64_t poly = UINT64_C(0xc200000000000000);
  uint64x2_t middle = veorq_u64(p.middle, veorq_u64(p.low, p.high));
  middle = veorq_u64(middle, halves(p.low));
  middle = veorq_u64(middle, clmul(vgetq_lane_u64(p.low, 0), poly));
  const uint64x2_t high = veorq_u64(p.high, halves(middle));
  return veorq_u64(high, clmul(vgetq_lane_u64(middle, 0), poly));
}

INLINE product nothing(void) {
  const uint64x2_t zero = vdupq_n_u64(0);
  return (product){zero, zero, zero};
}

INLINE uint8x16_t load_part(const uint8_t *p, size_t n) {
  uint8_t b[16] = {0};
  memcpy(b, p, n);
  return vld1q_u8(b);
}

/* Adds up to BATCH bytes, padded with zeros, whose first block is multiplied by H^e. */
static void absorb(product *sum, const gcm_key *key, uint64x2_t acc, const uint8_t *p, size_t n,
                   size_t e) {
  for (; n >= 16; n -= 16, p += 16, e--) {
    multiply(sum, key, veorq_u64(acc, to_number(vld1q_u8(p))), e);
    acc = vdupq_n_u64(0);
  }
  if (n) multiply(sum, key, veorq_u64(acc, to_number(load_part(p, n))), e);
}

static uint64x2_t hash(const gcm_key *key, uint64x2_t acc, const uint8_t *p, size_t n) {
  while (n) {
    const size_t now = n < BATCH ? n : BATCH;
    product sum = nothing();
    absorb(&sum, key, acc, p, now, (now + 15) / 16);
    acc = reduce(sum);
    p += now;
    n -= now;
  }
  return acc;
}

/* ---- Counter mode (6.5) ---------------------------------------------------------------------------- */

/* AESE adds its key first: the last round key but one is the last that it takes. */
INLINE void round_of_all(const gcm_key *key, unsigned r, uint8x16_t s[BLOCKS]) {
  const uint8x16_t k = key->round[r];
  for (int i = 0; i < BLOCKS; i++) s[i] = vaesmcq_u8(vaeseq_u8(s[i], k));
}

INLINE uint8x16_t counter_block(uint8x16_t y0, uint32_t counter) {
  return vreinterpretq_u8_u32(
      vsetq_lane_u32(__builtin_bswap32(counter), vreinterpretq_u32_u8(y0), 3));
}

static uint8x16_t encrypt_block(const gcm_key *key, uint8x16_t x) {
  for (unsigned r = 0; r + 1 < key->rounds; r++) x = vaesmcq_u8(vaeseq_u8(x, key->round[r]));
  return veorq_u8(vaeseq_u8(x, key->round[key->rounds - 1]), key->round[key->rounds]);
}

/* The key stream of a batch; meanwhile, the products of the batch at hashed, unless it is NULL. */
INLINE void stream_and_hash(const gcm_key *key, uint8x16_t y0, uint32_t counter,
                            uint8x16_t s[BLOCKS], product *sum, uint64x2_t acc,
                            const uint8_t *hashed) {
  for (unsigned i = 0; i < BLOCKS; i++) s[i] = counter_block(y0, counter + i);
  for (unsigned r = 0; r < BLOCKS; r++) {
    round_of_all(key, r, s);
    if (!hashed) continue;
    uint64x2_t x = to_number(vld1q_u8(hashed + (size_t)16 * r));
    if (r == 0) x = veorq_u64(x, acc);
    multiply(sum, key, x, BLOCKS - r);
  }
  for (unsigned r = BLOCKS; r + 1 < key->rounds; r++) round_of_all(key, r, s);
  const uint8x16_t k = key->round[key->rounds - 1], last = key->round[key->rounds];
  for (int i = 0; i < BLOCKS; i++) s[i] = veorq_u8(vaeseq_u8(s[i], k), last);
}

/* ---- Records (7.1, 7.2) ----------------------------------------------------------------------------- */

INLINE void crypt(const uint8x16_t s[BLOCKS], const uint8_t *in, size_t n, uint8_t *out) {
  for (; n >= 16; n -= 16, in += 16, out += 16) vst1q_u8(out, veorq_u8(vld1q_u8(in), *s++));
  if (n) {
    uint8_t b[16];
    vst1q_u8(b, veorq_u8(load_part(in, n), *s));
    memcpy(out, b, n);
  }
}

static uint8x16_t run(const gcm_key *key, const uint8_t nonce[ECR_NONCE], const uint8_t *aad,
                      size_t aad_size, const uint8_t *in, size_t n, uint8_t *out, int sealing) {
  const uint64x2_t lengths = {(uint64_t)n * 8, (uint64_t)aad_size * 8};
  const uint8x16_t y0 = counter_block(load_part(nonce, ECR_NONCE), 1);
  const uint8x16_t mask = encrypt_block(key, y0);
  uint64x2_t acc = hash(key, vdupq_n_u64(0), aad, aad_size);
  uint32_t counter = 2;
  uint8x16_t s[BLOCKS];
  product sum = nothing();

  if (n > BATCH) {
    const uint8_t *hashed = in;
    if (sealing) {
      stream_and_hash(key, y0, counter, s, &sum, acc, NULL);
      crypt(s, in, BATCH, out);
      hashed = out;
      counter += BLOCKS, n -= BATCH, in += BATCH, out += BATCH;
    }
    for (; n > BATCH; counter += BLOCKS, n -= BATCH, in += BATCH, out += BATCH) {
      sum = nothing();
      stream_and_hash(key, y0, counter, s, &sum, acc, hashed);
      acc = reduce(sum);
      hashed += BATCH;
      crypt(s, in, BATCH, out);
    }
    if (sealing) acc = hash(key, acc, hashed, BATCH);
  }
  const size_t blocks = (n + 15) / 16;
  sum = nothing();
  stream_and_hash(key, y0, counter, s, &sum, acc, NULL);
  if (!sealing) absorb(&sum, key, acc, in, n, blocks + 1);
  crypt(s, in, n, out);
  if (sealing) absorb(&sum, key, acc, out, n, blocks + 1);
  multiply(&sum, key, n ? lengths : veorq_u64(lengths, acc), 1);
  return veorq_u8(mask, reverse_bytes(vreinterpretq_u8_u64(reduce(sum))));
}

static gcm_key *key_of(ecr_aead_context *context) { return (gcm_key *)(void *)context->bytes; }

static ecr_status seal(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  const ecr_status status = ecr_gcm_check_seal(n, out_size);
  if (status) return status;
  const uint8x16_t tag = run(key_of(context), nonce, aad, aad_size, in, n, out, 1);
  vst1q_u8(out + n, tag);
  return ECR_OK;
}

static ecr_status open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  uint8_t tag[ECR_TAG];
  const ecr_status status = ecr_gcm_check_open(n, out_size);
  if (status) return status;
  n -= ECR_TAG;
  vst1q_u8(tag, run(key_of(context), nonce, aad, aad_size, in, n, out, 0));
  return ecr_aead_accept(tag, in + n, out, n) ? ECR_OK : ECR_REFUSED;
}

/* ---- Keys --------------------------------------------------------------------------------------------- */

/* H × x, H's bytes reversed: the bit that falls out comes back as the polynomial. */
static uint64x2_t times_x(uint64x2_t h) {
  const uint64_t low = vgetq_lane_u64(h, 0), high = vgetq_lane_u64(h, 1), out = 0 - (high >> 63);
  const uint64x2_t shifted = {low << 1 ^ (out & 1),
                              high << 1 ^ low >> 63 ^ (out & UINT64_C(0xc200000000000000))};
  return shifted;
}

static ecr_status init(ecr_aead_context *context, const uint8_t *bytes, size_t key_size) {
  gcm_key *key = key_of(context);
  uint8_t round[15][16];
  memset(key, 0, sizeof *key);
  ecr_aes_expand(round, &key->rounds, bytes, key_size);
  for (unsigned r = 0; r <= key->rounds; r++) key->round[r] = vld1q_u8(round[r]);
  ecr_wipe(round, sizeof round);

  uint64x2_t h = times_x(to_number(encrypt_block(key, vdupq_n_u8(0))));
  for (size_t e = 1; e < BLOCKS + 2; e++) {
    key->power[e] = h;
    key->half[e] = veorq_u64(h, halves(h));
    product p = nothing();
    multiply(&p, key, h, 1);
    h = reduce(p);
  }
  return ECR_OK;
}

static ecr_status init_128(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 16);
}

static ecr_status init_256(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 32);
}

static void clear(ecr_aead_context *context) { ecr_wipe(context, sizeof(gcm_key)); }

const ecr_aead ecr_gcm_armv8[2] = {
    {"aes128gcm", "armv8", 16, sizeof(gcm_key), init_128, seal, open, clear},
    {"aes256gcm", "armv8", 32, sizeof(gcm_key), init_256, seal, open, clear},
};

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
