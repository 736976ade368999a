/*
** rsa_peer.h: what the RSA tests share: keys that are the same in every run, and libcrypto, opened at run
** time, to sign and to encrypt.
**
** A key is made of two primes, each the first that follows a stream of bytes: the streams' seeds are 1
** and 2, and how far the primes are from them was found once.
*/
#ifndef EDB_UNIT_RSA_PEER_H
#define EDB_UNIT_RSA_PEER_H

#include "primitives.h"

#define RSA_BYTES 1040
#define NO_PADDING 3

typedef struct rsa_shape {
  int bits, p_bits, q_bits;
  uint32_t e;
  unsigned p_after, q_after;
} rsa_shape;

/* The modulus of 2,049 bits begins with a byte of one bit; that of 2,056 fills its limbs' last byte only. */
static const rsa_shape rsa_shapes[] = {
    {2048, 1024, 1024, 65537, 716, 296},  {3072, 1536, 1536, 3, 3768, 6454},
    {4096, 2048, 2048, 65537, 4254, 654}, {8192, 4096, 4096, 17, 152, 3772},
    {2049, 1025, 1024, 65537, 788, 296},  {2056, 1028, 1028, 4294967295, 2370, 1522},
};
#define RSA_SHAPES (sizeof rsa_shapes / sizeof *rsa_shapes)
/* The primes' lengths differ by more than we take. */
static const rsa_shape rsa_lopsided = {2048, 1030, 1018, 65537, 336, 202};

/* A key as libcrypto has it and as we do. */
typedef struct rsa_key {
  void *rsa;
  size_t size;
  ecr_rsa_private ours;
  uint8_t n[RSA_BYTES], e[8], p[RSA_BYTES / 2], q[RSA_BYTES / 2];
  uint8_t dp[RSA_BYTES / 2], dq[RSA_BYTES / 2], qinv[RSA_BYTES / 2];
} rsa_key;

/* libcrypto's functions: the low-level ones, which 1.1 and 3 both have. */
static struct {
  void *(*bn_new)(void), *(*bn_bin2bn)(const uint8_t *, int, void *), *(*bn_ctx_new)(void);
  int (*bn_bn2bin)(const void *, uint8_t *);
  int (*bn_num_bits)(const void *), (*bn_add_word)(void *, unsigned long);
  int (*bn_sub_word)(void *, unsigned long), (*bn_sub)(void *, const void *, const void *);
  int (*bn_mul)(void *, const void *, const void *, void *);
  int (*bn_div)(void *, void *, const void *, const void *, void *);
  void *(*bn_mod_inverse)(void *, const void *, const void *, void *), *(*bn_dup)(const void *);
  void (*bn_free)(void *), (*bn_ctx_free)(void *);
  void *(*rsa_new)(void);
  void (*rsa_free)(void *);
  int (*rsa_set0_key)(void *, void *, void *, void *), (*rsa_set0_factors)(void *, void *, void *);
  int (*rsa_set0_crt_params)(void *, void *, void *, void *);
  int (*rsa_sign)(int, const uint8_t *, unsigned, uint8_t *, unsigned *, void *);
  int (*rsa_private_encrypt)(int, const uint8_t *, uint8_t *, void *, int);
  int (*rsa_public_encrypt)(int, const uint8_t *, uint8_t *, void *, int);
  int (*pss_pad)(void *, uint8_t *, const uint8_t *, const void *, const void *, int);
  int (*oaep_pad)(uint8_t *, int, const uint8_t *, int, const uint8_t *, int, const void *,
                  const void *);
  const void *(*md[4])(void);
} lib;

static const struct {
  const ecr_hash *hash;
  int nid;
} rsa_hashes[4] = {{&ecr_sha1, 64}, {&ecr_sha256, 672}, {&ecr_sha384, 673}, {&ecr_sha512, 674}};

/* 1, or 0 where there is no libcrypto. */
static inline int rsa_peer_open(void) {
  if (!peer("RSA_new")) return 0;
  PEER(lib.bn_new, "BN_new");
  PEER(lib.bn_bin2bn, "BN_bin2bn");
  PEER(lib.bn_ctx_new, "BN_CTX_new");
  PEER(lib.bn_bn2bin, "BN_bn2bin");
  PEER(lib.bn_num_bits, "BN_num_bits");
  PEER(lib.bn_add_word, "BN_add_word");
  PEER(lib.bn_sub_word, "BN_sub_word");
  PEER(lib.bn_sub, "BN_sub");
  PEER(lib.bn_mul, "BN_mul");
  PEER(lib.bn_div, "BN_div");
  PEER(lib.bn_mod_inverse, "BN_mod_inverse");
  PEER(lib.bn_dup, "BN_dup");
  PEER(lib.bn_free, "BN_free");
  PEER(lib.bn_ctx_free, "BN_CTX_free");
  PEER(lib.rsa_new, "RSA_new");
  PEER(lib.rsa_free, "RSA_free");
  PEER(lib.rsa_set0_key, "RSA_set0_key");
  PEER(lib.rsa_set0_factors, "RSA_set0_factors");
  PEER(lib.rsa_set0_crt_params, "RSA_set0_crt_params");
  PEER(lib.rsa_sign, "RSA_sign");
  PEER(lib.rsa_private_encrypt, "RSA_private_encrypt");
  PEER(lib.rsa_public_encrypt, "RSA_public_encrypt");
  PEER(lib.pss_pad, "RSA_padding_add_PKCS1_PSS_mgf1");
  PEER(lib.oaep_pad, "RSA_padding_add_PKCS1_OAEP_mgf1");
  PEER(lib.md[0], "EVP_sha1");
  PEER(lib.md[1], "EVP_sha256");
  PEER(lib.md[2], "EVP_sha384");
  PEER(lib.md[3], "EVP_sha512");
  return 1;
}

static inline void *rsa_prime(int bits, uint64_t seed, unsigned after) {
  uint8_t p[RSA_BYTES / 2];
  const size_t n = (size_t)(bits + 7) / 8;
  const unsigned top = (unsigned)(bits - 1) % 8; /* of the first byte, the highest bit */
  fill(p, n, seed);
  p[0] = (uint8_t)((p[0] & ((2U << top) - 1)) | 1U << top);
  if (top > 0) {
    p[0] |= (uint8_t)(1U << (top - 1));
  } else {
    p[1] |= 0x80;
  }
  p[n - 1] |= 1;
  void *bn = lib.bn_bin2bn(p, (int)n, NULL);
  lib.bn_add_word(bn, after);
  return bn;
}

static inline void rsa_give(const uint8_t **p, size_t *n, uint8_t *into, const void *bn) {
  *n = (size_t)lib.bn_bn2bin(bn, into);
  *p = into;
}

static inline void rsa_make(rsa_key *key, const rsa_shape *shape) {
  void *ctx = lib.bn_ctx_new();
  void *p = rsa_prime(shape->p_bits, 1, shape->p_after);
  void *q = rsa_prime(shape->q_bits, 2, shape->q_after);
  void *n = lib.bn_new(), *phi = lib.bn_new(), *dp = lib.bn_new(), *dq = lib.bn_new();
  void *p1 = lib.bn_dup(p), *q1 = lib.bn_dup(q), *e = lib.bn_new();
  lib.bn_add_word(e, shape->e);
  lib.bn_mul(n, p, q, ctx);
  lib.bn_sub_word(p1, 1);
  lib.bn_sub_word(q1, 1);
  lib.bn_mul(phi, p1, q1, ctx);
  void *d = lib.bn_mod_inverse(NULL, e, phi, ctx), *qinv = lib.bn_mod_inverse(NULL, q, p, ctx);
  lib.bn_div(NULL, dp, d, p1, ctx);
  lib.bn_div(NULL, dq, d, q1, ctx);

  memset(key, 0, sizeof *key);
  CHECK_INT(lib.bn_num_bits(n), shape->bits);
  key->size = (size_t)(shape->bits + 7) / 8;
  rsa_give(&key->ours.public_key.n, &key->ours.public_key.n_size, key->n, n);
  rsa_give(&key->ours.public_key.e, &key->ours.public_key.e_size, key->e, e);
  rsa_give(&key->ours.p, &key->ours.p_size, key->p, p);
  rsa_give(&key->ours.q, &key->ours.q_size, key->q, q);
  rsa_give(&key->ours.dp, &key->ours.dp_size, key->dp, dp);
  rsa_give(&key->ours.dq, &key->ours.dq_size, key->dq, dq);
  rsa_give(&key->ours.qinv, &key->ours.qinv_size, key->qinv, qinv);
  key->rsa = lib.rsa_new();
  CHECK(lib.rsa_set0_key(key->rsa, n, e, d) && lib.rsa_set0_factors(key->rsa, p, q) &&
        lib.rsa_set0_crt_params(key->rsa, dp, dq, qinv));
  lib.bn_free(phi);
  lib.bn_free(p1);
  lib.bn_free(q1);
  lib.bn_ctx_free(ctx);
}

/* em^d mod n. */
static inline void rsa_sign_raw(const rsa_key *key, const uint8_t *em, uint8_t *signature) {
  CHECK_INT(lib.rsa_private_encrypt((int)key->size, em, signature, key->rsa, NO_PADDING),
            key->size);
}

/* em^e mod n. */
static inline void rsa_encrypt_raw(const rsa_key *key, const uint8_t *em, uint8_t *out) {
  CHECK_INT(lib.rsa_public_encrypt((int)key->size, em, out, key->rsa, NO_PADDING), key->size);
}

/* n bytes, big-endian, and a small number: r = a + by. */
static inline void add_small(uint8_t *r, const uint8_t *a, size_t n, int by) {
  for (size_t i = n; i-- > 0;) {
    const int t = a[i] + by;
    r[i] = (uint8_t)(t & 0xff);
    by = t >> 8;
  }
}

#endif
