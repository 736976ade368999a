/*
** crypto_bench.h: what the parts of the crypto group share. One program holds edb and its peers and runs them
** alternately in one process: crypto_bench.c measures, crypto_edb.c is ours, and each crypto_PEER.c is one
** peer, which also compiles, and says so, where that library's headers are missing.
*/
#ifndef BENCH_CRYPTO_BENCH_H
#define BENCH_CRYPTO_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_RECORD 16384 /* the longest record */
#define BENCH_AAD 5        /* a TLS 1.3 record's header */
#define BENCH_MESSAGE 32   /* what OAEP wraps: a column encryption key */

/* Keys, records and signatures: the same for all participants, made by crypto_openssl.c. */
typedef struct bench_rsa {
  int bits;
  uint8_t n[512], e[4], signature[512]; /* PKCS#1 v1.5 over digest, SHA-256 */
  size_t n_size, e_size;
} bench_rsa;

typedef struct bench_inputs {
  uint8_t key[32], nonce[12], aad[BENCH_AAD], plain[BENCH_RECORD];
  uint8_t digest[48];                        /* its first 32 bytes stand for a SHA-256 */
  uint8_t scalar[32], point[32], shared[32]; /* X25519 */
  uint8_t p256[65], p256_signature[80], p384[97], p384_signature[112]; /* DER */
  size_t p256_signature_size, p384_signature_size;
  uint8_t ed25519[32], ed25519_signature[64]; /* over digest's 48 bytes */
  bench_rsa rsa[3];
  uint8_t p[128], q[128], dp[128], dq[128], qinv[128]; /* of rsa[0] */
  uint8_t der[1400];                                   /* the same as RSAPrivateKey */
  size_t der_size;
  uint8_t message[BENCH_MESSAGE], wrapped[256]; /* OAEP with SHA-1 under rsa[0] */
} bench_inputs;

/* One thing that is timed. run returns whether it succeeded; where out is given, what stands there
** after a run is compared, once. */
typedef struct bench_task {
  int (*run)(void *state);
  void *state; /* lives as long as the process */
  const uint8_t *out;
} bench_task;

typedef struct bench_aead {
  const char *cipher, *backend; /* backend: edb's, from backends() */
  int open;
  size_t n;
  const uint8_t *sealed; /* n + 16 bytes: what seal gives and open takes */
} bench_aead;

/* The makers return 0 where the participant has no such primitive. work: x25519, p256.verify,
** p384.verify, ed25519.verify, rsa2048.verify, rsa3072.verify, rsa4096.verify, rsa2048.oaep. */
typedef struct bench_participant {
  const char *name;
  const char *missing; /* what to install, where it was compiled without its library; else NULL */
  const char *(*version)(void);
  const char *(*backend)(const char *cipher, int i); /* the i-th, or NULL; edb alone */
  int (*aead)(const bench_aead *what, const bench_inputs *in, bench_task *task);
  int (*other)(const char *work, const bench_inputs *in, bench_task *task);
} bench_participant;

extern const bench_participant bench_edb, bench_openssl, bench_bearssl, bench_wolfssl;

/* Fills in, with libcrypto. Returns 0, and says why on standard error, where that fails. */
int bench_make_inputs(bench_inputs *in);

/* Zeroed memory, aligned to 64 bytes; or the end. */
static inline void *bench_memory(size_t n) {
  n = (n + 63) / 64 * 64;
  void *p = aligned_alloc(64, n);
  if (!p) exit(2);
  return memset(p, 0, n);
}

/* The key of a work like rsa3072.verify, or NULL. */
static inline const bench_rsa *bench_rsa_of(const char *work, const bench_inputs *in) {
  if (work[0] != 'r') return NULL;
  return &in->rsa[work[3] == '2' ? 0 : work[3] == '3' ? 1 : 2];
}

#endif
