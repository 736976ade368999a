/*
** crypto_bearssl.c: BearSSL, built with crypto/'s flags or as Debian builds it (peers.tcl). AES-GCM is its constant-time portable code (ct64), the
** counterpart of our "portable"; for the rest its own default on 64 bits. It has no Ed25519.
*/
#include <string.h>

#include "crypto_bench.h"

#if __has_include(<bearssl.h>)
#include <bearssl.h>

typedef struct state {
  const bench_inputs *in;
  const bench_rsa *rsa;
  bench_aead what;
  br_aes_ct64_ctr_keys aes;
  br_gcm_context gcm;
  br_chacha20_run chacha20;
  const br_ec_impl *curve;
  br_ec_public_key point;
  br_rsa_pkcs1_vrfy verify;
  br_rsa_oaep_decrypt decrypt;
  br_rsa_private_key key;
  uint8_t p[128], q[128], dp[128], dq[128], qinv[128];
  uint8_t out[BENCH_RECORD + 16];
} state;

#ifdef BEARSSL_BUILD
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
static const char *version(void) { return "BearSSL 0.6, built with " TEXT(BEARSSL_BUILD); }
#else
static const char *version(void) { return "BearSSL 0.6, Debian's build"; }
#endif

/* SHA-256's name (RFC 8017 B.1), as BearSSL wants it: length, then bytes. */
static const unsigned char sha256_oid[] = {9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01};

/* ---- Records (in place, as BearSSL works) --------------------------------------------------------- */

static int run_gcm(void *p) {
  state *s = p;
  const size_t n = s->what.n;
  memcpy(s->out, s->what.open ? s->what.sealed : s->in->plain, n);
  br_gcm_reset(&s->gcm, s->in->nonce, sizeof s->in->nonce);
  br_gcm_aad_inject(&s->gcm, s->in->aad, BENCH_AAD);
  br_gcm_flip(&s->gcm);
  br_gcm_run(&s->gcm, !s->what.open, s->out, n);
  if (s->what.open) return (int)br_gcm_check_tag(&s->gcm, s->what.sealed + n);
  br_gcm_get_tag(&s->gcm, s->out + n);
  return 1;
}

static int run_chacha20(void *p) {
  state *s = p;
  const size_t n = s->what.n;
  uint8_t tag[16];
  memcpy(s->out, s->what.open ? s->what.sealed : s->in->plain, n);
  br_poly1305_ctmulq_run(s->in->key, s->in->nonce, s->out, n, s->in->aad, BENCH_AAD, tag,
                         s->chacha20, !s->what.open);
  if (s->what.open) return memcmp(tag, s->what.sealed + n, sizeof tag) == 0;
  memcpy(s->out + n, tag, sizeof tag);
  return 1;
}

static int make_aead(const bench_aead *what, const bench_inputs *in, bench_task *task) {
  state *s = bench_memory(sizeof *s);
  s->in = in;
  s->what = *what;
  if (what->cipher[0] == 'a') {
    br_aes_ct64_ctr_init(&s->aes, in->key, strcmp(what->cipher, "aes128gcm") == 0 ? 16 : 32);
    br_gcm_init(&s->gcm, &s->aes.vtable, br_ghash_ctmul64);
    *task = (bench_task){run_gcm, s, s->out};
  } else {
    s->chacha20 = br_chacha20_sse2_get() ? br_chacha20_sse2_get() : br_chacha20_ct_run;
    *task = (bench_task){run_chacha20, s, s->out};
  }
  return 1;
}

/* ---- Keys ---------------------------------------------------------------------------------------- */

static int run_x25519(void *p) {
  state *s = p;
  memcpy(s->out, s->in->point, 32);
  return (int)s->curve->mul(s->out, 32, s->in->scalar, 32, BR_EC_curve25519);
}

static int run_ecdsa(void *p) {
  const state *s = p;
  const bench_inputs *in = s->in;
  const int is_p256 = s->point.curve == BR_EC_secp256r1;
  return (int)br_ecdsa_i31_vrfy_asn1(s->curve, in->digest, is_p256 ? 32 : 48, &s->point,
                                     is_p256 ? in->p256_signature : in->p384_signature,
                                     is_p256 ? in->p256_signature_size : in->p384_signature_size);
}

static int run_rsa(void *p) {
  const state *s = p;
  uint8_t n[512], e[4], digest[32];
  memcpy(n, s->rsa->n, s->rsa->n_size);
  memcpy(e, s->rsa->e, s->rsa->e_size);
  const br_rsa_public_key key = {n, s->rsa->n_size, e, s->rsa->e_size};
  return s->verify(s->rsa->signature, s->rsa->n_size, sha256_oid, sizeof digest, &key, digest) &&
         memcmp(digest, s->in->digest, sizeof digest) == 0;
}

static int run_oaep(void *p) {
  state *s = p;
  size_t n = sizeof s->in->wrapped;
  memcpy(s->out, s->in->wrapped, n);
  return s->decrypt(&br_sha1_vtable, NULL, 0, &s->key, s->out, &n) && n == BENCH_MESSAGE;
}

static int make_oaep(state *s, const bench_inputs *in) {
  memcpy(s->p, in->p, sizeof s->p);
  memcpy(s->q, in->q, sizeof s->q);
  memcpy(s->dp, in->dp, sizeof s->dp);
  memcpy(s->dq, in->dq, sizeof s->dq);
  memcpy(s->qinv, in->qinv, sizeof s->qinv);
  s->key = (br_rsa_private_key){2048,         s->p,  sizeof s->p,  s->q,    sizeof s->q,   s->dp,
                                sizeof s->dp, s->dq, sizeof s->dq, s->qinv, sizeof s->qinv};
  s->decrypt = br_rsa_oaep_decrypt_get_default();
  return s->decrypt != 0;
}

static int make_other(const char *work, const bench_inputs *in, bench_task *task) {
  state *s = bench_memory(sizeof *s);
  s->in = in;
  s->rsa = bench_rsa_of(work, in);
  *task = (bench_task){run_ecdsa, s, NULL};
  if (strcmp(work, "x25519") == 0) {
    s->curve = br_ec_get_default();
    *task = (bench_task){run_x25519, s, s->out};
  } else if (strcmp(work, "p256.verify") == 0 || strcmp(work, "p384.verify") == 0) {
    const int is_p256 = work[1] == '2';
    const uint8_t *point = is_p256 ? in->p256 : in->p384;
    const size_t size = is_p256 ? sizeof in->p256 : sizeof in->p384;
    s->curve = br_ec_get_default();
    memcpy(s->out, point, size);
    s->point = (br_ec_public_key){is_p256 ? BR_EC_secp256r1 : BR_EC_secp384r1, s->out, size};
  } else if (strcmp(work, "rsa2048.oaep") == 0) {
    *task = (bench_task){run_oaep, s, s->out};
    return make_oaep(s, in);
  } else if (s->rsa) {
    s->verify = br_rsa_pkcs1_vrfy_get_default();
    task->run = run_rsa;
  } else {
    return 0;
  }
  return 1;
}

const bench_participant bench_bearssl = {"bearssl", NULL, version, NULL, make_aead, make_other};

#else
const bench_participant bench_bearssl = {.name = "bearssl", .missing = "libbearssl-dev"};
#endif
