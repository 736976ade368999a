/*
** tls/keys.c: from what was agreed to the keys of records: RFC 8446 7 and RFC 5246 5, 6.3, 7.4.9,
** 8.1.
*/
#include "tlsInt.h"

/* ---- One direction --------------------------------------------------------------------------- */

void tls_protect_clear(tls_protection *p) {
  if (p->aead) p->aead->clear(&p->context);
  ecr_wipe(p, sizeof *p);
  p->limit = TLS_RECORDS_PER_KEY;
  p->most = 2 * TLS_RECORDS_PER_KEY;
}

/* The key of p's cipher is set or replaced; the sequence begins again (RFC 8446 5.3). */
static ecr_status set_key(tls_protection *p, const ecr_aead *aead, const uint8_t *key) {
  if (p->aead) p->aead->clear(&p->context);
  p->aead = NULL;
  p->sequence = 0;
  p->keys++;
  const ecr_status status = aead->init(&p->context, key);
  if (status == ECR_OK) p->aead = aead;
  return status;
}

ecr_status tls_protect(tls_protection *p, const ecr_aead *aead, unsigned version,
                       const uint8_t *key, const uint8_t *iv) {
  p->version = version;
  memcpy(p->iv, iv, sizeof p->iv);
  /* RFC 5288 3: salt | explicit nonce. ChaCha20-Poly1305 (RFC 7905 2) does as TLS 1.3. */
  p->explicit_nonce = version == TLS_1_2 && strcmp(aead->cipher, "chacha20poly1305") != 0 ? 8 : 0;
  return set_key(p, aead, key);
}

ecr_status tls13_protect(tls_protection *p, const ecr_aead *aead, const ecr_hash *hash,
                         const uint8_t *secret) {
  uint8_t key[32], iv[ECR_NONCE];
  /* 7.3: [sender]_write_key and [sender]_write_iv. */
  ecr_hkdf_expand_label(hash, secret, "key", NULL, 0, key, aead->key_size);
  ecr_hkdf_expand_label(hash, secret, "iv", NULL, 0, iv, sizeof iv);
  if (secret != p->secret) memcpy(p->secret, secret, hash->size);
  const ecr_status status = tls_protect(p, aead, TLS_1_3, key, iv);
  ecr_wipe(key, sizeof key);
  ecr_wipe(iv, sizeof iv);
  return status;
}

ecr_status tls13_protect_next(tls_protection *p, const ecr_hash *hash) {
  uint8_t next[TLS_SECRET_MAX];
  ecr_hkdf_expand_label(hash, p->secret, "traffic upd", NULL, 0, next, hash->size);
  const ecr_status status = tls13_protect(p, p->aead, hash, next);
  ecr_wipe(next, sizeof next);
  return status;
}

/* ---- TLS 1.3's schedule ---------------------------------------------------------------------- */

static const uint8_t zeros[TLS_SECRET_MAX];

void tls13_early(const ecr_hash *hash, const uint8_t *psk, uint8_t *secret) {
  ecr_hkdf_extract(hash, NULL, 0, psk ? psk : zeros, hash->size, secret);
}

static void empty_transcript(const ecr_hash *hash, uint8_t *out) {
  ecr_hash_context context;
  hash->init(&context);
  hash->digest(&context, out);
}

void tls13_advance(const ecr_hash *hash, const uint8_t *input, size_t n, uint8_t *secret) {
  uint8_t empty[ECR_HASH_MAX], salt[TLS_SECRET_MAX];
  empty_transcript(hash, empty);
  tls13_derive(hash, secret, "derived", empty, salt);
  if (!input) n = hash->size;
  ecr_hkdf_extract(hash, salt, hash->size, input ? input : zeros, n, secret);
  ecr_wipe(salt, sizeof salt);
}

void tls13_derive(const ecr_hash *hash, const uint8_t *secret, const char *label,
                  const uint8_t *transcript, uint8_t *out) {
  ecr_hkdf_expand_label(hash, secret, label, transcript, hash->size, out, hash->size);
}

void tls13_finished(const ecr_hash *hash, const uint8_t *secret, const uint8_t *transcript,
                    uint8_t *out) {
  uint8_t key[TLS_SECRET_MAX];
  ecr_hkdf_expand_label(hash, secret, "finished", NULL, 0, key, hash->size);
  ecr_hmac(hash, key, hash->size, transcript, hash->size, out);
  ecr_wipe(key, sizeof key);
}

void tls13_binder(const ecr_hash *hash, const uint8_t *psk, const uint8_t *transcript,
                  uint8_t *out) {
  uint8_t empty[ECR_HASH_MAX], secret[TLS_SECRET_MAX];
  tls13_early(hash, psk, secret);
  empty_transcript(hash, empty);
  tls13_derive(hash, secret, "res binder", empty, secret);
  tls13_finished(hash, secret, transcript, out);
  ecr_wipe(secret, sizeof secret);
}

/* ---- TLS 1.2 --------------------------------------------------------------------------------- */

static void join_randoms(uint8_t out[64], const uint8_t a[32], const uint8_t b[32]) {
  memcpy(out, a, 32);
  memcpy(out + 32, b, 32);
}

void tls12_master(const ecr_hash *hash, const uint8_t *premaster, size_t n, const uint8_t *session,
                  const uint8_t client_random[32], const uint8_t server_random[32],
                  uint8_t master[TLS12_MASTER]) {
  if (session) {
    ecr_tls12_prf(hash, premaster, n, "extended master secret", session, hash->size, master,
                  TLS12_MASTER);
  } else {
    uint8_t seed[64];
    join_randoms(seed, client_random, server_random);
    ecr_tls12_prf(hash, premaster, n, "master secret", seed, sizeof seed, master, TLS12_MASTER);
  }
}

void tls12_key_block(const tls_suite *suite, size_t key_size, const uint8_t master[TLS12_MASTER],
                     const uint8_t client_random[32], const uint8_t server_random[32],
                     tls12_keys *keys) {
  /* The implicit nonce: GCM's salt of 4 bytes, or all of ChaCha20's. */
  const size_t iv = suite->cipher == ECR_CHACHA20_POLY1305 ? ECR_NONCE : 4;
  uint8_t seed[64], block[2 * (32 + ECR_NONCE)], *p = block;
  join_randoms(seed, server_random, client_random);
  ecr_tls12_prf(suite->hash, master, TLS12_MASTER, "key expansion", seed, sizeof seed, block,
                2 * (key_size + iv));
  memset(keys, 0, sizeof *keys);
  memcpy(keys->client_key, p, key_size);
  memcpy(keys->server_key, p += key_size, key_size);
  memcpy(keys->client_iv, p += key_size, iv);
  memcpy(keys->server_iv, p + iv, iv);
  ecr_wipe(block, sizeof block);
}

void tls12_finished(const ecr_hash *hash, const uint8_t master[TLS12_MASTER], const char *label,
                    const uint8_t *transcript, uint8_t out[TLS12_VERIFY]) {
  ecr_tls12_prf(hash, master, TLS12_MASTER, label, transcript, hash->size, out, TLS12_VERIFY);
}
