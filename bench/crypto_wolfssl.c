/*
** crypto_wolfssl.c: wolfSSL's wolfCrypt (Debian's build), keys and contexts kept.
*/
#include <string.h>

#include "crypto_bench.h"

#if __has_include(<wolfssl/options.h>)
#include <wolfssl/options.h>
#include <wolfssl/version.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/asn.h>
#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/curve25519.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/ed25519.h>
#include <wolfssl/wolfcrypt/random.h>
#include <wolfssl/wolfcrypt/rsa.h>

typedef struct state {
  const bench_inputs *in;
  const bench_rsa *key;
  bench_aead what;
  Aes aes;
  curve25519_key x25519, peer;
  ecc_key ecc;
  ed25519_key ed25519;
  RsaKey rsa;
  WC_RNG random;
  const uint8_t *signature;
  size_t signature_size, digest_size;
  uint8_t out[BENCH_RECORD + 16];
} state;

static const char *version(void) { return "wolfSSL " LIBWOLFSSL_VERSION_STRING; }

/* ---- Records ------------------------------------------------------------------------------------ */

static int run_seal(void *p) {
  state *s = p;
  return wc_AesGcmEncrypt(&s->aes, s->out, s->in->plain, (word32)s->what.n, s->in->nonce, 12,
                          s->out + s->what.n, 16, s->in->aad, BENCH_AAD) == 0;
}

static int run_open(void *p) {
  state *s = p;
  return wc_AesGcmDecrypt(&s->aes, s->out, s->what.sealed, (word32)s->what.n, s->in->nonce, 12,
                          s->what.sealed + s->what.n, 16, s->in->aad, BENCH_AAD) == 0;
}

static int run_seal_chacha20(void *p) {
  state *s = p;
  return wc_ChaCha20Poly1305_Encrypt(s->in->key, s->in->nonce, s->in->aad, BENCH_AAD, s->in->plain,
                                     (word32)s->what.n, s->out, s->out + s->what.n) == 0;
}

static int run_open_chacha20(void *p) {
  state *s = p;
  return wc_ChaCha20Poly1305_Decrypt(s->in->key, s->in->nonce, s->in->aad, BENCH_AAD,
                                     s->what.sealed, (word32)s->what.n, s->what.sealed + s->what.n,
                                     s->out) == 0;
}

static int make_aead(const bench_aead *what, const bench_inputs *in, bench_task *task) {
  state *s = bench_memory(sizeof *s);
  s->in = in;
  s->what = *what;
  if (what->cipher[0] == 'c') {
    *task = (bench_task){what->open ? run_open_chacha20 : run_seal_chacha20, s, s->out};
    return 1;
  }
  *task = (bench_task){what->open ? run_open : run_seal, s, s->out};
  return wc_AesInit(&s->aes, NULL, INVALID_DEVID) == 0 &&
         wc_AesGcmSetKey(&s->aes, in->key, strcmp(what->cipher, "aes128gcm") == 0 ? 16 : 32) == 0;
}

/* ---- Keys --------------------------------------------------------------------------------------- */

static int run_x25519(void *p) {
  state *s = p;
  word32 n = 32;
  return wc_curve25519_shared_secret_ex(&s->x25519, &s->peer, s->out, &n, EC25519_LITTLE_ENDIAN) ==
         0;
}

static int run_ecdsa(void *p) {
  state *s = p;
  int right = 0;
  return wc_ecc_verify_hash(s->signature, (word32)s->signature_size, s->in->digest,
                            (word32)s->digest_size, &right, &s->ecc) == 0 &&
         right;
}

static int run_ed25519(void *p) {
  state *s = p;
  int right = 0;
  return wc_ed25519_verify_msg(s->in->ed25519_signature, 64, s->in->digest, sizeof s->in->digest,
                               &right, &s->ed25519) == 0 &&
         right;
}

static int run_rsa(void *p) {
  state *s = p;
  uint8_t info[128];
  /* wolfSSL takes the padding off; what is left is DigestInfo, 19 bytes before the digest. */
  return wc_RsaSSL_Verify(s->key->signature, (word32)s->key->n_size, info, sizeof info, &s->rsa) ==
             19 + 32 &&
         memcmp(info + 19, s->in->digest, 32) == 0;
}

static int run_oaep(void *p) {
  state *s = p;
  return wc_RsaPrivateDecrypt_ex(s->in->wrapped, sizeof s->in->wrapped, s->out, sizeof s->out,
                                 &s->rsa, WC_RSA_OAEP_PAD, WC_HASH_TYPE_SHA, WC_MGF1SHA1, NULL,
                                 0) == BENCH_MESSAGE;
}

static int make_ecdsa(state *s, int curve, const uint8_t *point, size_t size,
                      const uint8_t *signature, size_t signature_size, size_t digest_size) {
  s->signature = signature;
  s->signature_size = signature_size;
  s->digest_size = digest_size;
  return wc_ecc_init(&s->ecc) == 0 &&
         wc_ecc_import_x963_ex(point, (word32)size, &s->ecc, curve) == 0;
}

static int make_oaep(state *s, const bench_inputs *in) {
  word32 at = 0;
  return wc_InitRng(&s->random) == 0 &&
         wc_RsaPrivateKeyDecode(in->der, &at, &s->rsa, (word32)in->der_size) == 0 &&
         wc_RsaSetRNG(&s->rsa, &s->random) == 0;
}

static int make_other(const char *work, const bench_inputs *in, bench_task *task) {
  state *s = bench_memory(sizeof *s);
  s->in = in;
  s->key = bench_rsa_of(work, in);
  *task = (bench_task){run_ecdsa, s, NULL};
  if (strcmp(work, "x25519") == 0) {
    *task = (bench_task){run_x25519, s, s->out};
    return wc_curve25519_init(&s->x25519) == 0 && wc_curve25519_init(&s->peer) == 0 &&
           wc_InitRng(&s->random) == 0 &&
           wc_curve25519_import_private_ex(in->scalar, 32, &s->x25519, EC25519_LITTLE_ENDIAN) ==
               0 &&
           wc_curve25519_import_public_ex(in->point, 32, &s->peer, EC25519_LITTLE_ENDIAN) == 0;
  }
  if (strcmp(work, "p256.verify") == 0)
    return make_ecdsa(s, ECC_SECP256R1, in->p256, sizeof in->p256, in->p256_signature,
                      in->p256_signature_size, 32);
  if (strcmp(work, "p384.verify") == 0)
    return make_ecdsa(s, ECC_SECP384R1, in->p384, sizeof in->p384, in->p384_signature,
                      in->p384_signature_size, 48);
  if (strcmp(work, "ed25519.verify") == 0) {
    task->run = run_ed25519;
    return wc_ed25519_init(&s->ed25519) == 0 &&
           wc_ed25519_import_public(in->ed25519, 32, &s->ed25519) == 0;
  }
  if (!s->key || wc_InitRsaKey(&s->rsa, NULL) != 0) return 0;
  if (strcmp(work, "rsa2048.oaep") == 0) {
    *task = (bench_task){run_oaep, s, s->out};
    return make_oaep(s, in);
  }
  task->run = run_rsa;
  return wc_RsaPublicKeyDecodeRaw(s->key->n, (word32)s->key->n_size, s->key->e,
                                  (word32)s->key->e_size, &s->rsa) == 0;
}

const bench_participant bench_wolfssl = {"wolfssl", NULL, version, NULL, make_aead, make_other};

#else
const bench_participant bench_wolfssl = {.name = "wolfssl", .missing = "libwolfssl-dev"};
#endif
