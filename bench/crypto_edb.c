/*
** crypto_edb.c: edb's own primitives as a participant. The same file makes the shared object that has
** 128-bit products forced off, of which bench_edb is the only symbol to be seen.
*/
#include <string.h>

#include "../crypto/crypto.h"
#include "crypto_bench.h"

typedef struct state {
  ecr_aead_context context;
  const bench_inputs *in;
  const bench_rsa *rsa;
  const ecr_aead *aead;
  bench_aead what;
  uint8_t out[BENCH_RECORD + ECR_TAG];
} state;

static ecr_cipher cipher_of(const char *name) {
  if (strcmp(name, "aes128gcm") == 0) return ECR_AES_128_GCM;
  return strcmp(name, "aes256gcm") == 0 ? ECR_AES_256_GCM : ECR_CHACHA20_POLY1305;
}

static const char *version(void) { return ecr_bignum; }

static const char *backend(const char *cipher, int i) {
  const ecr_aead *aead = ecr_aead_list(cipher_of(cipher), i);
  return aead ? aead->backend : NULL;
}

static int run_open(void *p) {
  state *s = p;
  return s->aead->open(&s->context, s->in->nonce, s->in->aad, BENCH_AAD, s->what.sealed,
                       s->what.n + ECR_TAG, s->out, s->what.n) == ECR_OK;
}

static int run_seal(void *p) {
  state *s = p;
  return s->aead->seal(&s->context, s->in->nonce, s->in->aad, BENCH_AAD, s->in->plain, s->what.n,
                       s->out, s->what.n + ECR_TAG) == ECR_OK;
}

static int make_aead(const bench_aead *what, const bench_inputs *in, bench_task *task) {
  state *s = bench_memory(sizeof *s);
  s->in = in;
  s->what = *what;
  s->aead = ecr_aead_get(cipher_of(what->cipher), what->backend);
  if (!s->aead || s->aead->init(&s->context, in->key) != ECR_OK) return 0;
  *task = (bench_task){what->open ? run_open : run_seal, s, s->out};
  return 1;
}

static int run_x25519(void *p) {
  state *s = p;
  return ecr_x25519(s->out, s->in->scalar, s->in->point) == ECR_OK;
}

static int run_p256(void *p) {
  const bench_inputs *in = ((state *)p)->in;
  return ecr_ecdsa_verify(ECR_P256, in->p256, sizeof in->p256, in->digest, 32, in->p256_signature,
                          in->p256_signature_size) == ECR_OK;
}

static int run_p384(void *p) {
  const bench_inputs *in = ((state *)p)->in;
  return ecr_ecdsa_verify(ECR_P384, in->p384, sizeof in->p384, in->digest, 48, in->p384_signature,
                          in->p384_signature_size) == ECR_OK;
}

static int run_ed25519(void *p) {
  const bench_inputs *in = ((state *)p)->in;
  return ecr_ed25519_verify(in->ed25519, in->digest, sizeof in->digest, in->ed25519_signature) ==
         ECR_OK;
}

static int run_rsa(void *p) {
  const state *s = p;
  const ecr_rsa_public key = {s->rsa->n, s->rsa->n_size, s->rsa->e, s->rsa->e_size};
  return ecr_rsa_verify_pkcs1(&key, &ecr_sha256, s->in->digest, s->rsa->signature,
                              s->rsa->n_size) == ECR_OK;
}

static int run_oaep(void *p) {
  state *s = p;
  const bench_inputs *in = s->in;
  const ecr_rsa_private key = {{s->rsa->n, s->rsa->n_size, s->rsa->e, s->rsa->e_size},
                               in->p,
                               in->q,
                               in->dp,
                               in->dq,
                               in->qinv,
                               sizeof in->p,
                               sizeof in->q,
                               sizeof in->dp,
                               sizeof in->dq,
                               sizeof in->qinv};
  size_t written;
  return ecr_rsa_oaep_decrypt(&key, &ecr_sha1, in->wrapped, sizeof in->wrapped, s->out,
                              sizeof s->out, &written) == ECR_OK &&
         written == BENCH_MESSAGE;
}

static int make_other(const char *work, const bench_inputs *in, bench_task *task) {
  state *s = bench_memory(sizeof *s);
  s->in = in;
  s->rsa = bench_rsa_of(work, in);
  *task = (bench_task){NULL, s, NULL};
  if (strcmp(work, "x25519") == 0) {
    *task = (bench_task){run_x25519, s, s->out};
  } else if (strcmp(work, "p256.verify") == 0) {
    task->run = run_p256;
  } else if (strcmp(work, "p384.verify") == 0) {
    task->run = run_p384;
  } else if (strcmp(work, "ed25519.verify") == 0) {
    task->run = run_ed25519;
  } else if (strcmp(work, "rsa2048.oaep") == 0) {
    *task = (bench_task){run_oaep, s, s->out};
  } else if (s->rsa) {
    task->run = run_rsa;
  }
  return task->run != NULL;
}

__attribute__((visibility("default")))
const bench_participant bench_edb = {"edb", NULL, version, backend, make_aead, make_other};
