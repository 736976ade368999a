/*
** crypto_openssl.c: libcrypto as its user has it: EVP, the context and its key kept from record to record,
** the nonce set for each. It makes the inputs too.
*/
#include <stdio.h>
#include <string.h>

#include "crypto_bench.h"

#if __has_include(<openssl/evp.h>)
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

/* Of the inputs; X25519's is both sides'. */
static EVP_PKEY *x25519, *p256, *p384, *ed25519, *rsa[3];

typedef struct state {
  const bench_inputs *in;
  const uint8_t *signature;
  size_t signature_size, digest_size;
  bench_aead what;
  EVP_CIPHER_CTX *cipher;
  EVP_PKEY_CTX *key;
  EVP_MD_CTX *message;
  uint8_t out[BENCH_RECORD + 16];
} state;

static const char *version(void) { return OpenSSL_version(OPENSSL_VERSION); }

/* ---- Records ------------------------------------------------------------------------------------ */

static int run_seal(void *p) {
  state *s = p;
  int n, last;
  return EVP_EncryptInit_ex(s->cipher, NULL, NULL, NULL, s->in->nonce) == 1 &&
         EVP_EncryptUpdate(s->cipher, NULL, &n, s->in->aad, BENCH_AAD) == 1 &&
         EVP_EncryptUpdate(s->cipher, s->out, &n, s->in->plain, (int)s->what.n) == 1 &&
         EVP_EncryptFinal_ex(s->cipher, s->out + n, &last) == 1 &&
         EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_GET_TAG, 16, s->out + s->what.n) == 1;
}

static int run_open(void *p) {
  state *s = p;
  uint8_t tag[16];
  int n, last;
  memcpy(tag, s->what.sealed + s->what.n, sizeof tag);
  return EVP_DecryptInit_ex(s->cipher, NULL, NULL, NULL, s->in->nonce) == 1 &&
         EVP_DecryptUpdate(s->cipher, NULL, &n, s->in->aad, BENCH_AAD) == 1 &&
         EVP_DecryptUpdate(s->cipher, s->out, &n, s->what.sealed, (int)s->what.n) == 1 &&
         EVP_CIPHER_CTX_ctrl(s->cipher, EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1 &&
         EVP_DecryptFinal_ex(s->cipher, s->out + n, &last) == 1;
}

static int make_aead(const bench_aead *what, const bench_inputs *in, bench_task *task) {
  const char *names[][2] = {{"aes128gcm", "AES-128-GCM"},
                            {"aes256gcm", "AES-256-GCM"},
                            {"chacha20poly1305", "ChaCha20-Poly1305"}};
  state *s = bench_memory(sizeof *s);
  EVP_CIPHER *cipher = NULL;
  s->in = in;
  s->what = *what;
  s->cipher = EVP_CIPHER_CTX_new();
  for (size_t i = 0; i < 3; i++)
    if (strcmp(names[i][0], what->cipher) == 0) cipher = EVP_CIPHER_fetch(NULL, names[i][1], NULL);
  if (!cipher) return 0;
  EVP_CipherInit_ex(s->cipher, cipher, NULL, in->key, NULL, !what->open);
  *task = (bench_task){what->open ? run_open : run_seal, s, s->out};
  return 1;
}

/* ---- Keys --------------------------------------------------------------------------------------- */

static int run_x25519(void *p) {
  state *s = p;
  size_t n = 32;
  return EVP_PKEY_derive(s->key, s->out, &n) == 1;
}

static int run_verify(void *p) {
  const state *s = p;
  return EVP_PKEY_verify(s->key, s->signature, s->signature_size, s->in->digest, s->digest_size) ==
         1;
}

/* Ed25519 takes a message, and its context ends with it. */
static int run_ed25519(void *p) {
  const state *s = p;
  return EVP_DigestVerifyInit(s->message, NULL, NULL, NULL, ed25519) == 1 &&
         EVP_DigestVerify(s->message, s->in->ed25519_signature, 64, s->in->digest,
                          sizeof s->in->digest) == 1;
}

static int run_oaep(void *p) {
  state *s = p;
  size_t n = sizeof s->out;
  return EVP_PKEY_decrypt(s->key, s->out, &n, s->in->wrapped, sizeof s->in->wrapped) == 1 &&
         n == BENCH_MESSAGE;
}

static void verify_with(state *s, EVP_PKEY *key, const EVP_MD *md, const uint8_t *signature,
                        size_t n) {
  s->key = EVP_PKEY_CTX_new(key, NULL);
  EVP_PKEY_verify_init(s->key);
  EVP_PKEY_CTX_set_signature_md(s->key, md);
  s->digest_size = (size_t)EVP_MD_get_size(md);
  s->signature = signature;
  s->signature_size = n;
}

static int make_other(const char *work, const bench_inputs *in, bench_task *task) {
  const bench_rsa *key = bench_rsa_of(work, in);
  state *s = bench_memory(sizeof *s);
  s->in = in;
  *task = (bench_task){run_verify, s, NULL};
  if (strcmp(work, "x25519") == 0) {
    EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, in->point, 32);
    s->key = EVP_PKEY_CTX_new(x25519, NULL);
    EVP_PKEY_derive_init(s->key);
    EVP_PKEY_derive_set_peer(s->key, other);
    *task = (bench_task){run_x25519, s, s->out};
  } else if (strcmp(work, "p256.verify") == 0) {
    verify_with(s, p256, EVP_sha256(), in->p256_signature, in->p256_signature_size);
  } else if (strcmp(work, "p384.verify") == 0) {
    verify_with(s, p384, EVP_sha384(), in->p384_signature, in->p384_signature_size);
  } else if (strcmp(work, "ed25519.verify") == 0) {
    s->message = EVP_MD_CTX_new();
    task->run = run_ed25519;
  } else if (strcmp(work, "rsa2048.oaep") == 0) {
    s->key = EVP_PKEY_CTX_new(rsa[0], NULL);
    EVP_PKEY_decrypt_init(s->key);
    EVP_PKEY_CTX_set_rsa_padding(s->key, RSA_PKCS1_OAEP_PADDING);
    *task = (bench_task){run_oaep, s, s->out};
  } else {
    verify_with(s, rsa[key - in->rsa], EVP_sha256(), key->signature, key->n_size);
  }
  return 1;
}

const bench_participant bench_openssl = {"openssl", NULL, version, NULL, make_aead, make_other};

/* ---- The inputs --------------------------------------------------------------------------------- */

static int number(EVP_PKEY *key, const char *name, uint8_t *out, size_t room, size_t *size) {
  BIGNUM *n = NULL;
  if (EVP_PKEY_get_bn_param(key, name, &n) != 1) return 0;
  const int bytes = size ? BN_num_bytes(n) : (int)room;
  const int ok = bytes <= (int)room && BN_bn2binpad(n, out, bytes) == bytes;
  if (size) *size = (size_t)bytes;
  BN_free(n);
  return ok;
}

static int sign(EVP_PKEY *key, const EVP_MD *md, const uint8_t *digest, uint8_t *out, size_t room,
                size_t *size) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  *size = room;
  const int ok = EVP_PKEY_sign_init(context) == 1 &&
                 EVP_PKEY_CTX_set_signature_md(context, md) == 1 &&
                 EVP_PKEY_sign(context, out, size, digest, (size_t)EVP_MD_get_size(md)) == 1;
  EVP_PKEY_CTX_free(context);
  return ok;
}

static int make_rsa(bench_inputs *in, int i, int bits) {
  bench_rsa *key = &in->rsa[i];
  size_t n;
  rsa[i] = EVP_RSA_gen((unsigned)bits);
  key->bits = bits;
  return rsa[i] && number(rsa[i], OSSL_PKEY_PARAM_RSA_N, key->n, sizeof key->n, &key->n_size) &&
         number(rsa[i], OSSL_PKEY_PARAM_RSA_E, key->e, sizeof key->e, &key->e_size) &&
         sign(rsa[i], EVP_sha256(), in->digest, key->signature, sizeof key->signature, &n);
}

static int make_private(bench_inputs *in) {
  EVP_PKEY *key = rsa[0];
  size_t n = sizeof in->wrapped;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
  const int ok = EVP_PKEY_encrypt_init(context) == 1 &&
                 EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1 &&
                 EVP_PKEY_encrypt(context, in->wrapped, &n, in->message, BENCH_MESSAGE) == 1;
  EVP_PKEY_CTX_free(context);
  uint8_t *der = in->der;
  const int size = i2d_PrivateKey(key, NULL);
  if (!ok || size <= 0 || size > (int)sizeof in->der) return 0;
  in->der_size = (size_t)size;
  return i2d_PrivateKey(key, &der) == size &&
         number(key, OSSL_PKEY_PARAM_RSA_FACTOR1, in->p, sizeof in->p, NULL) &&
         number(key, OSSL_PKEY_PARAM_RSA_FACTOR2, in->q, sizeof in->q, NULL) &&
         number(key, OSSL_PKEY_PARAM_RSA_EXPONENT1, in->dp, sizeof in->dp, NULL) &&
         number(key, OSSL_PKEY_PARAM_RSA_EXPONENT2, in->dq, sizeof in->dq, NULL) &&
         number(key, OSSL_PKEY_PARAM_RSA_COEFFICIENT1, in->qinv, sizeof in->qinv, NULL);
}

static int make_point(EVP_PKEY *key, uint8_t *out, size_t size) {
  size_t n = 0;
  return EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, out, size, &n) == 1 &&
         n == size;
}

static int make_curves(bench_inputs *in) {
  size_t n = 64;
  x25519 = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, in->scalar, 32);
  EVP_PKEY *other = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, in->key, 32);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(x25519, NULL);
  int ok = EVP_PKEY_get_raw_public_key(other, in->point, &(size_t){32}) == 1 &&
           EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, other) == 1 &&
           EVP_PKEY_derive(context, in->shared, &(size_t){32}) == 1;
  EVP_PKEY_CTX_free(context);
  EVP_PKEY_free(other);
  ed25519 = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, in->scalar, 32);
  EVP_MD_CTX *message = EVP_MD_CTX_new();
  ok = ok && EVP_PKEY_get_raw_public_key(ed25519, in->ed25519, &(size_t){32}) == 1 &&
       EVP_DigestSignInit(message, NULL, NULL, NULL, ed25519) == 1 &&
       EVP_DigestSign(message, in->ed25519_signature, &n, in->digest, sizeof in->digest) == 1;
  EVP_MD_CTX_free(message);
  p256 = EVP_EC_gen("P-256");
  p384 = EVP_EC_gen("P-384");
  return ok && p256 && p384 && make_point(p256, in->p256, sizeof in->p256) &&
         make_point(p384, in->p384, sizeof in->p384) &&
         sign(p256, EVP_sha256(), in->digest, in->p256_signature, sizeof in->p256_signature,
              &in->p256_signature_size) &&
         sign(p384, EVP_sha384(), in->digest, in->p384_signature, sizeof in->p384_signature,
              &in->p384_signature_size);
}

int bench_make_inputs(bench_inputs *in) {
  if (RAND_bytes(in->key, sizeof in->key) == 1 && RAND_bytes(in->nonce, sizeof in->nonce) == 1 &&
      RAND_bytes(in->plain, sizeof in->plain) == 1 &&
      RAND_bytes(in->digest, sizeof in->digest) == 1 &&
      RAND_bytes(in->scalar, sizeof in->scalar) == 1 && make_curves(in) && make_rsa(in, 0, 2048) &&
      make_rsa(in, 1, 3072) && make_rsa(in, 2, 4096) && make_private(in))
    return 1;
  fprintf(stderr, "libcrypto could not make the keys\n");
  return 0;
}

#else
const bench_participant bench_openssl = {.name = "openssl", .missing = "libssl-dev"};

int bench_make_inputs(bench_inputs *in) {
  (void)in;
  fprintf(stderr, "libssl-dev is not installed\n");
  return 0;
}
#endif
