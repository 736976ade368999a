/*
** crypto/cryptoInt.h: what the files of crypto/ share beside crypto.h; a bannered block for each
** file or group of files.
*/
#ifndef ECR_CRYPTO_INT_H
#define ECR_CRYPTO_INT_H

#include "crypto.h"

/* ---- What `make ct` is told (test/ct/) ----------------------------------------------------------- */

/* From here on these n bytes may decide a branch or an address: an attacker sees them anyway, such
** as whether a tag was right. Each use says why. Nothing outside of the constant-time check, which
** marks keys as undefined and is so told where that ends. */
#ifdef ECR_CT
void ecr_declassify(const void *p, size_t n);
#else
static inline void ecr_declassify(const void *p, size_t n) {
  (void)p;
  (void)n;
}
#endif

/* ---- Words of 64 bits: products and carries (used by bignum.c and the curves) ------------------- */

/* -DECR_NO_U128 forces the portable halves, which every test runs over too. bignum.c says in
** ecr_bignum which one was compiled. */
#if defined(__SIZEOF_INT128__) && !defined(ECR_NO_U128)
#define ECR_U128 1
__extension__ typedef unsigned __int128 ecr_u128;
#else
#define ECR_U128 0
#endif

/* The low word of a × b + c + d, which can not overflow 128 bits; its high word in *hi, which may
** be where c or d came from. */
static inline uint64_t ecr_mac(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t *hi) {
#if ECR_U128
  ecr_u128 t = (ecr_u128)a * b + c + d;
  *hi = (uint64_t)(t >> 64);
  return (uint64_t)t;
#else
  uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  uint64_t p = a0 * b0, q = a0 * b1, r = a1 * b0;
  uint64_t middle = (p >> 32) + (q & 0xffffffff) + (r & 0xffffffff);
  uint64_t high = a1 * b1 + (q >> 32) + (r >> 32) + (middle >> 32);
  uint64_t low = (middle << 32) | (p & 0xffffffff);
  low += c;
  high += low < c;
  low += d;
  high += low < d;
  *hi = high;
  return low;
#endif
}

/* a + b + *carry; *carry is 0 or 1 before and after. */
static inline uint64_t ecr_add(uint64_t a, uint64_t b, uint64_t *carry) {
#if ECR_U128
  ecr_u128 t = (ecr_u128)a + b + *carry;
  *carry = (uint64_t)(t >> 64);
  return (uint64_t)t;
#else
  uint64_t s = a + *carry, t = s + b;
  *carry = (uint64_t)(s < a) | (uint64_t)(t < s);
  return t;
#endif
}

/* a - b - *borrow; *borrow is 0 or 1 before and after. */
static inline uint64_t ecr_sub(uint64_t a, uint64_t b, uint64_t *borrow) {
#if ECR_U128
  ecr_u128 t = (ecr_u128)a - b - *borrow;
  *borrow = (uint64_t)(t >> 64) & 1;
  return (uint64_t)t;
#else
  uint64_t s = a - *borrow, t = s - b;
  *borrow = (uint64_t)(a < s) | (uint64_t)(s < b);
  return t;
#endif
}

/* All ones where v is not 0, else 0; and the opposite. Without a branch. */
static inline uint64_t ecr_mask_nonzero(uint64_t v) { return 0 - ((v | (0 - v)) >> 63); }
static inline uint64_t ecr_mask_zero(uint64_t v) { return ~ecr_mask_nonzero(v); }

/* Big-endian bytes and words. */
static inline uint64_t ecr_load64(const uint8_t *p) {
  uint64_t v = 0;
  for (int i = 0; i < 8; i++) v = (v << 8) | p[i];
  return v;
}

static inline void ecr_store64(uint8_t *p, uint64_t v) {
  for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (56 - 8 * i));
}

static inline uint32_t ecr_load32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void ecr_store32(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* ---- What the hashes share (hash.c, sha256_cpu.c) ------------------------------------------------ */

/* Takes whole blocks into the state. */
typedef void ecr_compress(uint64_t state[8], const uint8_t *p, size_t blocks);

/* The update of an ecr_hash whose blocks have so many bytes: 64 or 128. */
void ecr_hash_update(ecr_hash_context *context, const void *p, size_t n, size_t block,
                     ecr_compress *compress);

/* The state behind the padded last block (FIPS 180-4 5.1); the context stays as it is. */
void ecr_hash_pad(const ecr_hash_context *context, uint64_t state[8], size_t block,
                  ecr_compress *compress);

int ecr_hash_is_portable(void); /* what ecr_hash_force_portable was told */

extern const uint32_t ecr_sha256_k[64];

/* SHA-256 by the processor's instructions; NULL where it has none. */
ecr_compress *ecr_sha256_cpu(void);

#endif
