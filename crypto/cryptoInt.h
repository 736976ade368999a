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

/* v, of which the compiler then knows nothing: a mask that it knew to be all ones or 0 it may select
** with by a branch. */
static inline uint64_t ecr_hide(uint64_t v) {
#ifndef ECR_CT_MSAN /* the sanitizer takes what assembler sees for a leak (test/ct/) */
  __asm__("" : "+r"(v));
#endif
  return v;
}

/* All ones where v is not 0, else 0; and the opposite. Without a branch. */
static inline uint64_t ecr_mask_nonzero(uint64_t v) { return ecr_hide(0 - ((v | (0 - v)) >> 63)); }
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

/* ---- Numbers of up to 8,192 bits (bignum.c; used by rsa.c and rsa_private.c) --------------------- */

/* k limbs, the lowest first; k is even and the same for all that a function takes. r may be a or b
** where it has k limbs; a result of 2k limbs stands apart. Nothing depends on the numbers in time,
** but in the functions named public. */
#define ECR_BN_LIMBS (ECR_RSA_MAX_BITS / 64)

/* From and to n big-endian bytes. load: all ones where the number has more than k limbs, else 0. */
uint64_t ecr_bn_load(uint64_t *r, size_t k, const uint8_t *p, size_t n);
void ecr_bn_store(uint8_t *p, size_t n, const uint64_t *a, size_t k);

uint64_t ecr_bn_less(const uint64_t *a, const uint64_t *b, size_t k); /* all ones or 0 */
uint64_t ecr_bn_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t k); /* the borrow */
/* r += b & mask; the carry. */
uint64_t ecr_bn_add_masked(uint64_t *r, const uint64_t *b, uint64_t mask, size_t k);
void ecr_bn_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t k); /* 2k limbs */
void ecr_bn_sqr(uint64_t *r, const uint64_t *a, size_t k);                    /* 2k limbs */

/* Without ADX from now on, or again with it where it is. For tests. */
void ecr_bn_force_portable(int portable);

/* By ADX, where there is (bignum_adx.c). cross: the products of two different limbs, once each.
** reduce: adds to t the multiple of n that makes its low half zero; the carry. */
int ecr_bn_has_adx(void);
void ecr_bn_mul_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t k);
void ecr_bn_cross_adx(uint64_t *r, const uint64_t *a, size_t k);
uint64_t ecr_bn_reduce_adx(uint64_t *t, const uint64_t *n, uint64_t n0, size_t k);

/* An odd modulus. R = 2^(64k). The caller sets k and n and calls one of the inits. */
typedef struct ecr_mont {
  size_t k;
  uint64_t n0; /* -1/n mod 2^64 */
  uint64_t n[ECR_BN_LIMBS];
  uint64_t rr[ECR_BN_LIMBS];    /* R^2 mod n */
  uint64_t t[2 * ECR_BN_LIMBS]; /* products: wiped with the rest */
} ecr_mont;

void ecr_mont_init(ecr_mont *m);
void ecr_mont_init_public(ecr_mont *m); /* faster */

/* a × b × R^-1 mod n, for a and b with a × b below n × R. */
void ecr_mont_mul(ecr_mont *m, uint64_t *r, const uint64_t *a, const uint64_t *b);
void ecr_mont_sqr(ecr_mont *m, uint64_t *r, const uint64_t *a);
/* t × R^-1 mod n, for t of 2k limbs below n × R. */
void ecr_mont_reduce(ecr_mont *m, uint64_t *r, const uint64_t *t);
/* a^e mod n for a below n and e odd, above 1; in and out without Montgomery's factor. e is public.
** r is not a. */
void ecr_mont_exp_public(ecr_mont *m, uint64_t *r, const uint64_t *a, uint32_t e);

/* ---- What RSA's two files share (rsa.c) ---------------------------------------------------------- */

/* A public key that is in order: n without leading zeros. */
typedef struct ecr_rsa_modulus {
  const uint8_t *n;
  size_t size, bits;
  uint32_t e;
} ecr_rsa_modulus;

ecr_status ecr_rsa_check(const ecr_rsa_public *key, ecr_rsa_modulus *modulus);

/* RFC 8017 B.2.1: p[0..n-1] ^= MGF1(seed). */
void ecr_mgf1_xor(const ecr_hash *hash, const uint8_t *seed, size_t seed_size, uint8_t *p,
                  size_t n);

/* ---- AES (aes.c, aes_portable.c, aes_x86.c) ------------------------------------------------------ */

/* Holds a key: the caller wipes it. */
typedef struct ecr_aes_key {
  _Alignas(16) uint8_t round[15][16]; /* round keys as in FIPS 197 5.2 */
  uint64_t sliced[15][8];             /* the same as aes_portable.c wants them */
  unsigned rounds;                    /* 10 or 14 */
} ecr_aes_key;

/* key_size: 16 or 32. Takes the same time for all keys. */
void ecr_aes_key_init(ecr_aes_key *key, const uint8_t *bytes, size_t key_size);

/* Independent blocks, by the processor's instructions where it has them. in may be out. */
void ecr_aes_encrypt_blocks(const ecr_aes_key *key, const uint8_t *in, uint8_t *out, size_t blocks);
void ecr_aes_decrypt_blocks(const ecr_aes_key *key, const uint8_t *in, uint8_t *out, size_t blocks);

/* As ecr_hash_force_portable, for these two. */
void ecr_aes_force_portable(int portable);

void ecr_aes_portable_encrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                              size_t blocks);
void ecr_aes_portable_decrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                              size_t blocks);
void ecr_aes_x86_encrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out, size_t blocks);
void ecr_aes_x86_decrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out, size_t blocks);

/* The round keys alone. */
void ecr_aes_expand(uint8_t round[15][16], unsigned *rounds, const uint8_t *key, size_t key_size);
void ecr_aes_portable_sub_word(uint8_t p[4]);  /* SubWord (FIPS 197 5.2), in place */
void ecr_aes_portable_slice(ecr_aes_key *key); /* sets sliced from round */

/* ---- Back ends of AES-GCM (gcm_*.c) -------------------------------------------------------------- */

/* SP 800-38D 5.2.1.1: the counter has 32 bits; 1 is for the tag, the text begins at 2. */
#define ECR_GCM_MAX (((uint64_t)1 << 36) - 32)

static inline ecr_status ecr_gcm_check_seal(size_t n, size_t out_size) {
  if (n > ECR_GCM_MAX) return ECR_TOO_LONG;
  return out_size < ECR_TAG || out_size - ECR_TAG < n ? ECR_SHORT : ECR_OK;
}

static inline ecr_status ecr_gcm_check_open(size_t n, size_t out_size) {
  if (n < ECR_TAG) return ECR_SHORT;
  if (n - ECR_TAG > ECR_GCM_MAX) return ECR_TOO_LONG;
  return out_size < n - ECR_TAG ? ECR_SHORT : ECR_OK;
}

/* Whether a tag is right; where not, n bytes of out are zeroed. Whoever sent the record learns which,
** so that it may decide a branch. */
int ecr_aead_accept(const uint8_t tag[ECR_TAG], const uint8_t *sent, uint8_t *out, size_t n);

/* AES-128 and AES-256. Those of an instruction set exist where the compiler has it; aead.c asks
** cpu.c before it hands one out. */
extern const ecr_aead ecr_gcm_portable[2], ecr_gcm_openssl[2];
extern const ecr_aead ecr_gcm_aesni[2], ecr_gcm_vaes256[2], ecr_gcm_vaes512[2], ecr_gcm_armv8[2];
extern const ecr_aead ecr_chacha20poly1305_portable, ecr_chacha20poly1305_avx2;

int ecr_openssl_found(void);            /* whether libcrypto is there; loads it */
extern const char *ecr_openssl_library; /* for tests: the only name to look for, unless NULL */

/* Poly1305 (poly1305.c): RFC 8439 2.5 over blocks that are padded with zeros. Wipe it. */
typedef struct ecr_poly1305 {
  uint64_t r[5], r2[5], h[5];
  uint8_t s[16];
} ecr_poly1305;

void ecr_poly1305_init(ecr_poly1305 *p, const uint8_t key[32]);
void ecr_poly1305_padded(ecr_poly1305 *p, const uint8_t *in, size_t n);
void ecr_poly1305_tag(ecr_poly1305 *p, uint8_t tag[ECR_TAG]);

/* GHASH (ghash_portable.c): one half of the key, or their sum, made ready to multiply with. */
typedef struct ecr_ghash_factor {
  uint64_t part[4], top[4];
} ecr_ghash_factor;

typedef struct ecr_ghash_key {
  ecr_ghash_factor low, high, middle;
} ecr_ghash_key;

void ecr_ghash_init(ecr_ghash_key *key, const uint8_t h[16]);

/* Takes n bytes, padded with zeros to whole blocks, into the hash; acc[1] holds its first 8 bytes, both
** big-endian. */
void ecr_ghash(const ecr_ghash_key *key, uint64_t acc[2], const uint8_t *p, size_t n);

/* ---- Elliptic curves (ec.c, ecdsa.c, order.c, invert.c, p256.c, p384.c) ------------------------------ */

/* Numbers are words of 64 bits, the lowest first, as many as the curve has limbs. */
#define ECR_EC_LIMBS 6

/* The points 1, 3, 5, … 127 × G, x and y in Montgomery's form (tables.tcl makes them). */
#define ECR_EC_G_WIDTH 8
#define ECR_EC_G_ODD (1 << (ECR_EC_G_WIDTH - 2))
extern const uint64_t ecr_p256_g[ECR_EC_G_ODD][2 * 4], ecr_p384_g[ECR_EC_G_ODD][2 * 6];

/* A modulus n that is odd, of 4 or 6 limbs. */
typedef struct ecr_order {
  int limbs;
  uint64_t n[ECR_EC_LIMBS];
  uint64_t rr[ECR_EC_LIMBS]; /* R² mod n, R = 2^(64 × limbs) */
  uint64_t n0;               /* -1 / n mod 2^64 */
} ecr_order;

typedef struct ecr_ec {
  const ecr_order *order;

  /* Scalars are 1 to n - 1, points ecr_ec_size × 2 + 1 bytes that begin with any byte. */
  void (*public_point)(uint8_t *point, const uint64_t *scalar);
  int (*has_point)(const uint8_t *point);
  int (*ecdh)(uint8_t *out, const uint8_t *point, const uint64_t *scalar); /* 0: no such point */
  /* Whether the x coordinate of u1 × G + u2 × point is r modulo n, in a time that depends on them.
  ** ECR_INVALID: no such point. */
  ecr_status (*verify)(const uint8_t *point, const uint64_t *u1, const uint64_t *u2,
                       const uint64_t *r);
} ecr_ec;

extern const ecr_ec ecr_ec_p256, ecr_ec_p384;
const ecr_ec *ecr_ec_get(ecr_curve curve); /* NULL for none */

/* r = the number in big-endian bytes, as many as the order has. All ones where it is 1 to n - 1, else 0. */
uint64_t ecr_order_load(const ecr_order *order, uint64_t *r, const uint8_t *p);
/* r = a × b / R mod n, for a below R and b below n. */
void ecr_order_mul(const ecr_order *order, uint64_t *r, const uint64_t *a, const uint64_t *b);
/* r = 1 / a mod n, for a from 1 to n - 1, in a time that depends on a. */
void ecr_order_invert_public(const ecr_order *order, uint64_t *r, const uint64_t *a);
/* The width-w non-adjacent form of k, w at most 8: digits that are 0 or odd and below 2^(w-1) either way,
** of which w next to each other hold at most one that is not 0; 64 × limbs + 1 of them. How many are left
** without the zeros at the end. In a time that depends on k. */
int ecr_non_adjacent_public(int8_t *digits, const uint64_t *k, int limbs, int w);

/* ---- Ed25519 (ed25519.c, ed25519_table.c) --------------------------------------------------------- */

/* The points 1, 3, 5, … 127 × B: y + x, y - x, 2dxy in radix 2^51 (tables.tcl makes them). */
#define ECR_ED25519_WIDTH 8
#define ECR_ED25519_ODD (1 << (ECR_ED25519_WIDTH - 2))
extern const uint64_t ecr_ed25519_b[ECR_ED25519_ODD][3][5];

#endif
