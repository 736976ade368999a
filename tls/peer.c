/*
** tls/peer.c: what both versions ask of the server: that its chain is trusted, that signatures are
** by its leaf's key, that it answers what was asked, that Finished is right.
*/
#include "tlsInt.h"

/* n bytes behind what work's part for the leaf already holds. */
static int keep(tls_state *s, size_t *used, const uint8_t **p, size_t n) {
  if (n > TLS_LEAF_SIZE - *used) return 0;
  memcpy(s->leaf + *used, *p, n);
  *p = s->leaf + *used;
  *used += n;
  return 1;
}

/* The key's bytes are in the Certificate message, over which the next one will come. */
static int keep_key(tls_state *s, tls_public_key *key) {
  size_t used = 0;
  if (key->kind == TLS_KEY_RSA || key->kind == TLS_KEY_RSA_PSS) {
    return keep(s, &used, &key->rsa.n, key->rsa.n_size) &&
           keep(s, &used, &key->rsa.e, key->rsa.e_size);
  }
  return key->kind != TLS_KEY_NONE && keep(s, &used, &key->point.p, key->point.n);
}

tls_alert tls_peer_chain(tls_state *s, const tls_bytes *chain, size_t n) {
  tls_handshake *hs = &s->hs;
  tls_failure failure = {TLS_ALERT_BAD_CERTIFICATE, 0, "the certificate is not trusted"};
  memset(&hs->leaf, 0, sizeof hs->leaf);
  if (tls_verify_chain(&hs->verify, chain, n, &hs->leaf, &failure) != ECR_OK) {
    return tls_fail(s, failure.alert == TLS_ALERT_NONE ? TLS_ALERT_BAD_CERTIFICATE : failure.alert,
                    failure.reason);
  }
  if (!keep_key(s, &hs->leaf)) {
    return tls_fail(s, TLS_ALERT_UNSUPPORTED_CERTIFICATE, "a key of a size that is not supported");
  }
  return TLS_ALERT_NONE;
}

tls_alert tls_peer_signature(tls_state *s, uint32_t scheme, const uint8_t *message, size_t n,
                             tls_bytes signature) {
  /* "the signature algorithm MUST be one offered in the client's "signature_algorithms" extension"
  ** (RFC 8446 4.4.3; RFC 5246 7.4.3). */
  if (!tls_scheme_offered(s, scheme)) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a signature scheme that was not offered");
  }
  switch (tls_signature_verify(&s->hs.leaf, (uint16_t)scheme, s->version, message, n, signature.p,
                               signature.n)) {
  case ECR_OK:
    return TLS_ALERT_NONE;
  case ECR_INVALID:
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a signature scheme of another kind of key");
  default:
    /* "If the verification fails, the receiver MUST terminate the handshake with a "decrypt_error"
    ** alert" (4.4.3). */
    return tls_fail(s, TLS_ALERT_DECRYPT_ERROR, "the server does not have the certificate's key");
  }
}

static tls_alert take_alpn(tls_state *s, tls_bytes body) {
  const char *const *names = s->hs.config.alpn;
  tls_reader r = tls_reader_of(body), list;
  list = tls_reader_of(tls_read_vector(&r, 2, 1));
  const tls_bytes name = tls_read_vector(&list, 1, 1);
  /* "MUST contain exactly one "ProtocolName"" (RFC 7301 3.1). */
  if (!tls_read_done(&r) || !tls_read_done(&list)) {
    return tls_fail(s, TLS_ALERT_DECODE_ERROR, "an answer to ALPN that cannot be read");
  }
  for (; *names; names++) {
    if (strlen(*names) == name.n && memcmp(*names, name.p, name.n) == 0) {
      memcpy(s->alpn, name.p, name.n);
      return TLS_ALERT_NONE;
    }
  }
  return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER,
                  "the server chose a protocol that was not offered");
}

tls_alert tls_peer_extensions(tls_state *s, const tls_extensions *x) {
  /* RFC 6066 3: "The "extension_data" field of this extension SHALL be empty." */
  if (tls_has(x->present, TLS_EXT_SERVER_NAME) && x->body[TLS_EXT_SERVER_NAME].n != 0) {
    return tls_fail(s, TLS_ALERT_DECODE_ERROR, "an answer to the server's name that is not empty");
  }
  if (tls_has(x->present, TLS_EXT_ALPN)) return take_alpn(s, x->body[TLS_EXT_ALPN]);
  if (s->hs.config.alpn_required) {
    return tls_fail(s, TLS_ALERT_NO_APPLICATION_PROTOCOL, "the server chose no protocol");
  }
  return TLS_ALERT_NONE;
}

tls_alert tls_peer_finished(tls_state *s, tls_bytes body, const uint8_t *expected, size_t n) {
  if (body.n != n) return tls_fail(s, TLS_ALERT_DECODE_ERROR, "a Finished of the wrong size");
  /* "Recipients of Finished messages MUST verify that the contents are correct and if incorrect
  ** MUST terminate the connection with a "decrypt_error" alert" (RFC 8446 4.4.4). */
  if (!ecr_equal(body.p, expected, n)) {
    return tls_fail(s, TLS_ALERT_DECRYPT_ERROR, "a Finished that is not right");
  }
  return TLS_ALERT_NONE;
}

const ecr_aead *tls_aead_of(const tls_state *s, const tls_suite *suite) {
  const ecr_aead *given = s->aeads[suite->cipher];
  return given ? given : ecr_aead_get(suite->cipher, NULL);
}

void tls_handshake_over(tls_state *s) {
  ecr_wipe(&s->hs, sizeof s->hs);
  ecr_wipe(s->leaf, TLS_LEAF_SIZE);
}
