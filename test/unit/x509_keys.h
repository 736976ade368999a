/*
** x509_keys.h: keys and signatures by libcrypto, opened at run time, for the tests of tls/: made
** anew in each run, except that which key is at fault is seen from its name.
*/
#ifndef EDB_UNIT_X509_KEYS_H
#define EDB_UNIT_X509_KEYS_H

#include "primitives.h"

typedef struct test_key {
  const char *name;
  void *pkey;
  size_t spki_size;
  uint8_t spki[1200]; /* SubjectPublicKeyInfo, as libcrypto writes it */
} test_key;

/* EVP's functions, which 1.1.1 and 3 both have. */
static struct {
  void *(*ctx_new_id)(int, void *);
  void (*ctx_free)(void *);
  int (*keygen_init)(void *), (*keygen)(void *, void **);
  int (*ctrl_str)(void *, const char *, const char *);
  int (*i2d_pubkey)(const void *, unsigned char **);
  void (*pkey_free)(void *);
  void *(*md_ctx_new)(void);
  void (*md_ctx_free)(void *);
  int (*sign_init)(void *, void **, const void *, void *, void *);
  int (*sign)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
  const void *(*md)(const char *);
} evp;

/* 1, or 0 where there is no libcrypto. */
static inline int keys_open(void) {
  if (!peer("EVP_PKEY_keygen")) return 0;
  PEER(evp.ctx_new_id, "EVP_PKEY_CTX_new_id");
  PEER(evp.ctx_free, "EVP_PKEY_CTX_free");
  PEER(evp.keygen_init, "EVP_PKEY_keygen_init");
  PEER(evp.keygen, "EVP_PKEY_keygen");
  PEER(evp.ctrl_str, "EVP_PKEY_CTX_ctrl_str");
  PEER(evp.i2d_pubkey, "i2d_PUBKEY");
  PEER(evp.pkey_free, "EVP_PKEY_free");
  PEER(evp.md_ctx_new, "EVP_MD_CTX_new");
  PEER(evp.md_ctx_free, "EVP_MD_CTX_free");
  PEER(evp.sign_init, "EVP_DigestSignInit");
  PEER(evp.sign, "EVP_DigestSign");
  PEER(evp.md, "EVP_get_digestbyname");
  return 1;
}

/* Kinds of keys: libcrypto's number, and what it is told. */
static const struct key_kind {
  const char *name;
  int id;
  const char *options[2][2];
} key_kinds[] = {
    {"p256", 408, {{"ec_paramgen_curve", "P-256"}}},
    {"p384", 408, {{"ec_paramgen_curve", "P-384"}}},
    {"p521", 408, {{"ec_paramgen_curve", "P-521"}}},
    {"explicit", 408, {{"ec_paramgen_curve", "P-256"}, {"ec_param_enc", "explicit"}}},
    {"rsa", 6, {{"rsa_keygen_bits", "2048"}}},
    {"rsa1024", 6, {{"rsa_keygen_bits", "1024"}}},
    {"rsa2052", 6, {{"rsa_keygen_bits", "2052"}}},
    {"pss", 912, {{"rsa_keygen_bits", "2048"}}},
    {"ed25519", 1087, {{NULL, NULL}}},
    {"ed448", 1088, {{NULL, NULL}}},
};

static inline int key_make(test_key *k, const char *name) {
  const struct key_kind *kind = NULL;
  unsigned char *p = k->spki;
  for (size_t i = 0; i < sizeof key_kinds / sizeof *key_kinds; i++) {
    if (strcmp(key_kinds[i].name, name) == 0) kind = &key_kinds[i];
  }
  memset(k, 0, sizeof *k);
  if (!CHECK(kind != NULL)) return 0;
  k->name = name;
  void *ctx = evp.ctx_new_id(kind->id, NULL);
  int ok = ctx && evp.keygen_init(ctx) == 1;
  for (int i = 0; i < 2 && kind->options[i][0]; i++) {
    ok = ok && evp.ctrl_str(ctx, kind->options[i][0], kind->options[i][1]) == 1;
  }
  ok = ok && evp.keygen(ctx, &k->pkey) == 1;
  if (ctx) evp.ctx_free(ctx);
  if (!CHECK(ok)) return 0;
  const int n = evp.i2d_pubkey(k->pkey, NULL);
  if (!CHECK(n > 0 && n <= (int)sizeof k->spki)) return 0;
  k->spki_size = (size_t)evp.i2d_pubkey(k->pkey, &p);
  return 1;
}

static inline void key_free(test_key *k) {
  if (k->pkey) evp.pkey_free(k->pkey);
  k->pkey = NULL;
}

/* hash: "SHA256" …, NULL for Ed25519; pss: the salt's length as libcrypto is told, or NULL. */
static inline size_t key_sign(const test_key *k, const char *hash, const char *pss, const void *p,
                              size_t n, uint8_t *signature, size_t room) {
  void *md = evp.md_ctx_new(), *ctx = NULL;
  size_t size = room;
  int ok = evp.sign_init(md, &ctx, hash ? evp.md(hash) : NULL, NULL, k->pkey) == 1;
  if (pss) {
    ok = ok && evp.ctrl_str(ctx, "rsa_padding_mode", "pss") == 1 &&
         evp.ctrl_str(ctx, "rsa_pss_saltlen", pss) == 1;
  }
  ok = ok && evp.sign(md, signature, &size, p, n) == 1;
  evp.md_ctx_free(md);
  CHECK(ok);
  return ok ? size : 0;
}

#endif
