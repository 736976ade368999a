/*
** crypto/crypto.h: the primitives that TLS and Always Encrypted need.
**
** Conventions, stated once:
**
**   Memory     No allocation, no I/O. Contexts are the caller's, of the sizes given here, and hold secrets
**              where their purpose says so: ecr_wipe them when done.
**   Results    Functions that can refuse answer an ecr_status, ECR_OK being 0. The others cannot fail.
**   Pointers   None is NULL unless its length is 0. In and out may be the same buffer (in place), but may
**              not overlap in any other way.
**   Secrets    Keys, scalars, plaintext and what is computed from them take no part in a branch, an address
**              or a division. What is public by its nature (lengths, signatures, public keys, certificates)
**              may. `make ct` checks it.
**   Integers   Byte strings are big-endian unless a curve's own standard says otherwise (X25519, Ed25519).
*/
#ifndef ECR_CRYPTO_H
#define ECR_CRYPTO_H

#include <stddef.h>
#include <stdint.h>

typedef enum ecr_status {
  ECR_OK = 0,
  ECR_REFUSED,   /* a tag, signature, padding or point that is not right */
  ECR_SHORT,     /* the caller's buffer is too small, or the input too short to be one */
  ECR_INVALID,   /* a key or parameter outside what is supported */
  ECR_NOT_FOUND, /* no such back end here (libcrypto is missing, the processor lacks it) */
  ECR_TOO_LONG   /* beyond the algorithm's limit */
} ecr_status;

/* ---- Bytes (bytes.c) ------------------------------------------------------------------------- */

/* Wipes memory in a way that the compiler keeps. */
void ecr_wipe(void *p, size_t n);

/* 1 where the n bytes are equal, else 0; in a time that depends on n alone. */
int ecr_equal(const void *a, const void *b, size_t n);

/* out = choice ? a : b, n bytes, for choice 0 or 1; in a time that depends on n alone. out may be a
** or b. */
void ecr_select(void *out, const void *a, const void *b, size_t n, int choice);

/* ---- Random bytes (random.c) ----------------------------------------------------------------- */

/* From the system (getrandom, BCryptGenRandom). ECR_OK, or ECR_NOT_FOUND where the system gives
** none. */
ecr_status ecr_random(void *out, size_t n);

/* ---- What this processor has (cpu.c) --------------------------------------------------------- */

typedef struct ecr_cpu {
  unsigned aes : 1, pclmul : 1, ssse3 : 1, sse41 : 1, avx2 : 1, vaes256 : 1, vaes512 : 1, sha : 1,
      bmi2 : 1, adx : 1;
  unsigned arm_aes : 1, arm_pmull : 1,
      arm_sha2 : 1; /* vaes… includes the carry-less multiplication of its width */
} ecr_cpu;

const ecr_cpu *ecr_cpu_get(void); /* found once; safe from several threads */

/* What the big-number code multiplies with: "u128" or "u64". */
extern const char ecr_bignum[];

/* ---- Authenticated encryption (aead.c and a file for each back end) --------------------------- */

#define ECR_NONCE 12
#define ECR_TAG 16
#define ECR_AEAD_CONTEXT 4096 /* bytes; no back end needs more. Aligned to 64. */

typedef enum ecr_cipher { ECR_AES_128_GCM = 0, ECR_AES_256_GCM, ECR_CHACHA20_POLY1305 } ecr_cipher;
#define ECR_CIPHERS 3

typedef struct ecr_aead ecr_aead;

/* A context: holds the key. */
typedef struct ecr_aead_context {
  _Alignas(64) unsigned char bytes[ECR_AEAD_CONTEXT];
} ecr_aead_context;

/* One cipher by one back end. */
struct ecr_aead {
  const char *cipher;  /* "aes128gcm", "aes256gcm", "chacha20poly1305" */
  const char *backend; /* "portable", "aesni", "vaes256", "vaes512", "armv8", "avx2", "openssl" */
  size_t key_size;     /* bytes: 16 or 32 */
  size_t context_size; /* bytes of ecr_aead_context that it uses */

  /* Sets the key. ECR_OK or ECR_NOT_FOUND. */
  ecr_status (*init)(ecr_aead_context *context, const uint8_t *key);

  /* Writes n + ECR_TAG bytes to out, which has room for out_size: ECR_SHORT if that is too little.
  ** At most 2^36 - 32 bytes (GCM) or 2^38 - 64 (ChaCha20): ECR_TOO_LONG. A nonce must never be used
  ** twice with a key. */
  ecr_status (*seal)(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE], const uint8_t *aad,
                     size_t aad_size, const uint8_t *in, size_t n, uint8_t *out, size_t out_size);

  /* Takes n bytes, the tag at their end, and writes n - ECR_TAG bytes to out. Where the tag is
  ** wrong: ECR_REFUSED, and what out would have held is zeroed. n below ECR_TAG or out_size too
  ** small: ECR_SHORT, out untouched. */
  ecr_status (*open)(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE], const uint8_t *aad,
                     size_t aad_size, const uint8_t *in, size_t n, uint8_t *out, size_t out_size);

  /* Wipes the key, and frees what the back end holds elsewhere ("openssl"). */
  void (*clear)(ecr_aead_context *context);
};

/* The cipher by the named back end, or by the one chosen for this machine where backend is NULL
** (the processor's instructions, else portable; never "openssl"). NULL where this machine has no
** such back end. */
const ecr_aead *ecr_aead_get(ecr_cipher cipher, const char *backend);

/* The i-th back end that this machine has for the cipher, from 0, the automatic choice first; NULL
** behind the last. "openssl" is asked for by loading libcrypto, so it comes last. */
const ecr_aead *ecr_aead_list(ecr_cipher cipher, int i);

/* ---- Hashes (sha1.c, sha256.c, sha512.c) ------------------------------------------------------ */

#define ECR_HASH_MAX 64 /* bytes of the longest hash */
#define ECR_BLOCK_MAX 128

typedef struct ecr_hash_context {
  uint64_t state[8]; /* SHA-1 and SHA-256 use halves of it */
  uint64_t count;    /* bytes so far */
  uint8_t block[ECR_BLOCK_MAX];
} ecr_hash_context;

typedef struct ecr_hash {
  const char *name;   /* "sha1", "sha256", "sha384", "sha512" */
  size_t size, block; /* bytes */
  void (*init)(ecr_hash_context *context);
  void (*update)(ecr_hash_context *context, const void *p, size_t n);
  /* Does not change the context: more may follow, for a transcript's running hash. */
  void (*digest)(const ecr_hash_context *context, uint8_t *out);
} ecr_hash;

extern const ecr_hash ecr_sha1; /* for OAEP only */
extern const ecr_hash ecr_sha256, ecr_sha384, ecr_sha512;

/* Uses the portable code alone from now on, or again the processor's instructions. For tests. */
void ecr_hash_force_portable(int portable);

/* ---- HMAC, HKDF, the TLS 1.2 PRF (hmac.c, hkdf.c) ---------------------------------------------- */

typedef struct ecr_hmac_context {
  const ecr_hash *hash;
  ecr_hash_context inner, outer;
} ecr_hmac_context;

void ecr_hmac_init(ecr_hmac_context *context, const ecr_hash *hash, const void *key, size_t n);
void ecr_hmac_update(ecr_hmac_context *context, const void *p, size_t n);
void ecr_hmac_digest(const ecr_hmac_context *context,
                     uint8_t *out); /* hash->size bytes; as ecr_hash's */

/* One call. */
void ecr_hmac(const ecr_hash *hash, const void *key, size_t key_size, const void *p, size_t n,
              uint8_t *out);

/* In the functions below that derive keys, out may be the key, but neither info nor seed: these are
** read again for each block. */

/* RFC 5869. prk: hash->size bytes. Expand: ECR_TOO_LONG beyond 255 × hash->size. */
void ecr_hkdf_extract(const ecr_hash *hash, const void *salt, size_t salt_size, const void *secret,
                      size_t n, uint8_t *prk);
ecr_status ecr_hkdf_expand(const ecr_hash *hash, const void *prk, size_t prk_size, const void *info,
                           size_t info_size, uint8_t *out, size_t n);

/* RFC 8446 7.1, HKDF-Expand-Label; label without "tls13 ", at most 249 bytes; context at most 255.
** */
ecr_status ecr_hkdf_expand_label(const ecr_hash *hash, const void *secret, const char *label,
                                 const void *context, size_t context_size, uint8_t *out, size_t n);

/* RFC 5246 5: PRF(secret, label, seed). */
void ecr_tls12_prf(const ecr_hash *hash, const void *secret, size_t secret_size, const char *label,
                   const void *seed, size_t seed_size, uint8_t *out, size_t n);

/* ---- AES-256-CBC with PKCS#7 (cbc.c) ----------------------------------------------------------- */

#define ECR_AES_BLOCK 16

/* Writes (n / 16 + 1) × 16 bytes: *written. ECR_SHORT where out_size is too little. */
ecr_status ecr_aes256_cbc_encrypt(const uint8_t key[32], const uint8_t iv[ECR_AES_BLOCK],
                                  const uint8_t *in, size_t n, uint8_t *out, size_t out_size,
                                  size_t *written);

/* Callers authenticate first (encrypt-then-MAC): bad padding is ECR_REFUSED, in constant time, out
** zeroed. n is a multiple of 16 and not 0, else ECR_INVALID. out_size at least n, else ECR_SHORT.
** */
ecr_status ecr_aes256_cbc_decrypt(const uint8_t key[32], const uint8_t iv[ECR_AES_BLOCK],
                                  const uint8_t *in, size_t n, uint8_t *out, size_t out_size,
                                  size_t *written);

/* ---- Key agreement (x25519.c, p256.c, p384.c) --------------------------------------------------- */

/* RFC 7748. The scalar is clamped. ECR_REFUSED where the result is all zeros (6.1). */
void ecr_x25519_public(uint8_t out[32], const uint8_t scalar[32]);
ecr_status ecr_x25519(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]);

typedef enum ecr_curve { ECR_P256 = 0, ECR_P384 } ecr_curve;
#define ECR_EC_SCALAR_MAX 48
#define ECR_EC_POINT_MAX 97

static inline size_t ecr_ec_size(ecr_curve curve) { return curve == ECR_P256 ? 32 : 48; }

/* Points are uncompressed: 04 | x | y. The scalar is ecr_ec_size bytes, 1 to order - 1, else
** ECR_INVALID. */
ecr_status ecr_ec_public(ecr_curve curve, uint8_t *point, const uint8_t *scalar);
/* The x coordinate of scalar × point. The point must be on the curve and not at infinity, else
** ECR_REFUSED. */
ecr_status ecr_ecdh(ecr_curve curve, uint8_t *out, const uint8_t *scalar, const uint8_t *point,
                    size_t point_size);

/* ---- Signatures: verification (ecdsa.c, ed25519.c, rsa.c) ---------------------------------------- */

/* The signature is strict DER, r and s between 1 and order - 1; the hash is taken from the left as
** FIPS 186-4 says. ECR_OK or ECR_REFUSED; ECR_INVALID for a key that is not a point of the curve.
** */
ecr_status ecr_ecdsa_verify(ecr_curve curve, const uint8_t *point, size_t point_size,
                            const uint8_t *hash, size_t hash_size, const uint8_t *signature,
                            size_t signature_size);

/* RFC 8032 5.1.7, with s below the order and canonical points. */
ecr_status ecr_ed25519_verify(const uint8_t key[32], const void *message, size_t n,
                              const uint8_t signature[64]);

#define ECR_RSA_MIN_BITS 2048
#define ECR_RSA_MAX_BITS 8192

/* Modulus and exponent, big-endian, leading zeros allowed. */
typedef struct ecr_rsa_public {
  const uint8_t *n;
  size_t n_size;
  const uint8_t *e;
  size_t e_size;
} ecr_rsa_public;

/* RSASSA-PKCS1-v1_5 (RFC 8017 8.2.2): the expected block is built and compared. hash: by ecr_sha1 …
** ecr_sha512. ECR_INVALID: a modulus outside 2,048 to 8,192 bits or even, an exponent even, below 3
** or above 2^32. */
ecr_status ecr_rsa_verify_pkcs1(const ecr_rsa_public *key, const ecr_hash *hash,
                                const uint8_t *digest, const uint8_t *signature, size_t n);

/* RSASSA-PSS (RFC 8017 8.1.2), MGF1 with the same hash. salt_size: exactly that many bytes. */
ecr_status ecr_rsa_verify_pss(const ecr_rsa_public *key, const ecr_hash *hash, size_t salt_size,
                              const uint8_t *digest, const uint8_t *signature, size_t n);

/* ---- RSA-OAEP decryption (rsa_private.c) --------------------------------------------------------- */

/* CRT form (RFC 8017 3.2), big-endian. Primes of very unequal length are ECR_INVALID: each must fit
** half the modulus' bits, rounded up to 128. */
typedef struct ecr_rsa_private {
  ecr_rsa_public public_key;
  const uint8_t *p, *q, *dp, *dq, *qinv;
  size_t p_size, q_size, dp_size, dq_size, qinv_size;
} ecr_rsa_private;

/* RFC 8017 7.1.2, empty label, MGF1 with the same hash; blinded with ecr_random, the result of CRT
** checked with the public exponent. out has room for the modulus' size. ECR_REFUSED for any
** ciphertext that is not right, in constant time. */
ecr_status ecr_rsa_oaep_decrypt(const ecr_rsa_private *key, const ecr_hash *hash, const uint8_t *in,
                                size_t n, uint8_t *out, size_t out_size, size_t *written);

#endif
