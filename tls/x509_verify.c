/*
** x509_verify.c: whether certificates prove that a server is who it was asked for as: the order of
** the questions.
*/
#include "x509Int.h"

/* The leaf first and cheap questions before dear ones: a certificate for another name costs no
** signature. */
static tls_flaw verify(const tls_verify *v, const tls_bytes *chain, size_t n, tls_public_key *key,
                       tls_role *role) {
  tls_certificate sent[TLS_CHAIN_MAX];
  tls_flaw flaws[TLS_CHAIN_MAX];
  tls_name name;
  *role = TLS_ROLE_LEAF;
  if (!v->trust ||
      v->trust->anchor_count + v->trust->pin_count + v->trust->certificate_pin_count == 0)
    return TLS_FLAW_NO_TRUST;
  if (!tls_name_read(&name, v->server_name)) return TLS_FLAW_NO_NAME;
  if (n == 0) return TLS_FLAW_NO_CERTIFICATE;
  if (n > TLS_CHAIN_MAX) return TLS_FLAW_TOO_MANY;
  for (size_t i = 0; i < n; i++) flaws[i] = tls_certificate_read(&sent[i], chain[i]);

  const tls_certificate *leaf = &sent[0];
  if (flaws[0] != TLS_FLAW_NONE) return flaws[0];
  const int own = tls_trust_itself(v->trust, leaf);
  const tls_flaw flaw = tls_certificate_check(leaf, own ? TLS_ROLE_OWN : TLS_ROLE_LEAF, v->now, 0);
  if (flaw != TLS_FLAW_NONE) return flaw;
  if (!tls_name_matches(&name, leaf->names)) return TLS_FLAW_NAME;
  *key = leaf->key;
  if (own) return TLS_FLAW_NONE;
  if (v->trust->anchor_count == 0) return TLS_FLAW_NOT_PINNED;
  return tls_path_find(v, sent, flaws, n, role);
}

ecr_status tls_verify_chain(const tls_verify *v, const tls_bytes *chain, size_t n,
                            tls_public_key *key, tls_failure *failure) {
  tls_role role;
  const tls_flaw flaw = verify(v, chain, n, key, &role);
  tls_flaw_tell(flaw, role, failure);
  if (flaw == TLS_FLAW_NONE) return ECR_OK;
  memset(key, 0, sizeof *key); /* TLS_KEY_NONE signs nothing */
  return ECR_REFUSED;
}

ecr_status tls_spki_hash(const uint8_t *der, size_t n, uint8_t hash[TLS_SPKI_HASH]) {
  tls_certificate c;
  ecr_hash_context context;
  const tls_flaw flaw = tls_certificate_read(&c, tls_bytes_of(der, n));
  if (flaw != TLS_FLAW_NONE) return ECR_INVALID;
  ecr_sha256.init(&context);
  ecr_sha256.update(&context, c.spki.p, c.spki.n);
  ecr_sha256.digest(&context, hash);
  return ECR_OK;
}
