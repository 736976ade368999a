/*
** tls/tls13.c: TLS 1.3's messages after the ServerHello (RFC 8446 4.3 to 4.6).
*/
#include "tlsInt.h"

static tls_alert unreadable(tls_state *s, const char *reason) {
  return tls_fail(s, TLS_ALERT_DECODE_ERROR, reason);
}

/* New keys for one direction, from a secret of the transcript so far. */
static tls_alert protect(tls_state *s, tls_protection *p, const uint8_t *secret) {
  const ecr_aead *aead = p->aead ? p->aead : tls_aead_of(s, s->suite);
  if (aead && tls13_protect(p, aead, s->suite->hash, secret) == ECR_OK) return TLS_ALERT_NONE;
  return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the cipher is not there");
}

/* The traffic secrets of both sides, which hs then holds. */
static void derive_pair(tls_handshake *hs, const char *client, const char *server) {
  uint8_t digest[ECR_HASH_MAX];
  const ecr_hash *hash = hs->transcript.hash;
  tls_transcript_digest(&hs->transcript, digest);
  tls13_derive(hash, hs->secret, client, digest, hs->client_secret);
  tls13_derive(hash, hs->secret, server, digest, hs->server_secret);
}

/* 4.2.11: whether our session is taken. */
static tls_alert take_session(tls_state *s, const tls_extensions *x) {
  const tls_handshake *hs = &s->hs;
  if (!tls_has(x->present, TLS_EXT_PRE_SHARED_KEY)) return TLS_ALERT_NONE;
  tls_reader r = tls_reader_of(x->body[TLS_EXT_PRE_SHARED_KEY]);
  const uint32_t identity = tls_read(&r, 2);
  if (!tls_read_done(&r)) return unreadable(s, "a chosen session that cannot be read");
  /* "Clients MUST verify that the server's selected_identity is within the range supplied by the
  ** client, that the server selected a cipher suite indicating a Hash associated with the PSK, and
  ** that a server "key_share" extension is present if required". */
  if (identity != 0 || !hs->session || tls_suite_find(hs->session->suite)->hash != s->suite->hash) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "the server resumes what was not offered");
  }
  s->resumed = 1;
  s->verified = hs->session->verified;
  return TLS_ALERT_NONE;
}

tls_alert tls13_start(tls_state *s, const tls_extensions *x) {
  tls_handshake *hs = &s->hs;
  uint8_t shared[TLS_SECRET_MAX];
  tls_alert alert = take_session(s, x);
  if (alert != TLS_ALERT_NONE) return alert;
  /* We offer psk_dhe_ke alone, so it is always required (4.2.8, 4.2.9). */
  if (!tls_has(x->present, TLS_EXT_KEY_SHARE)) {
    return tls_fail(s, TLS_ALERT_MISSING_EXTENSION, "a ServerHello without a key share");
  }
  tls_reader r = tls_reader_of(x->body[TLS_EXT_KEY_SHARE]);
  const uint32_t group = tls_read(&r, 2);
  const tls_bytes share = tls_read_vector(&r, 2, 1);
  if (!tls_read_done(&r)) return unreadable(s, "a key share that cannot be read");
  /* "the selected group … MUST be" one of ours; after a HelloRetryRequest the one that it named
  ** (4.2.8). */
  if (group != hs->group->code) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a key share of a group that was not offered");
  }
  if ((alert = tls_group_agree(s, share, shared)) != TLS_ALERT_NONE) return alert;
  tls13_early(s->suite->hash, s->resumed ? hs->session->secret : NULL, hs->secret);
  tls13_advance(s->suite->hash, shared, hs->group->secret, hs->secret);
  ecr_wipe(shared, sizeof shared);
  derive_pair(hs, "c hs traffic", "s hs traffic");
  s->stage = TLS13_WAIT_EXTENSIONS;
  if ((alert = protect(s, &s->read, hs->server_secret)) != TLS_ALERT_NONE) return alert;
  return protect(s, &s->write, hs->client_secret);
}

tls_alert tls13_on_extensions(tls_state *s, tls_bytes body) {
  tls_extensions x;
  const char *reason = NULL;
  tls_reader r = tls_reader_of(body);
  const tls_bytes block = tls_read_vector(&r, 2, 0);
  if (!tls_read_done(&r)) return unreadable(s, "EncryptedExtensions that cannot be read");
  const tls_alert alert = tls_extensions_read(block, TLS_IN_ENCRYPTED, s->hs.offered, &x, &reason);
  if (alert != TLS_ALERT_NONE) return tls_fail(s, alert, reason);
  s->stage = s->resumed ? TLS13_WAIT_FINISHED : TLS13_WAIT_CERTIFICATE_OR_REQUEST;
  return tls_peer_extensions(s, &x);
}

tls_alert tls13_on_request(tls_state *s, tls_bytes body) {
  tls_extensions x;
  const char *reason = NULL;
  tls_reader r = tls_reader_of(body);
  const tls_bytes context = tls_read_vector(&r, 1, 0), block = tls_read_vector(&r, 2, 2);
  if (!tls_read_done(&r)) return unreadable(s, "a CertificateRequest that cannot be read");
  const tls_alert alert = tls_extensions_read(block, TLS_IN_REQUEST, s->hs.offered, &x, &reason);
  if (alert != TLS_ALERT_NONE) return tls_fail(s, alert, reason);
  /* "This field SHALL be zero length unless used for the post-handshake authentication" (4.3.2). */
  if (context.n != 0) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a CertificateRequest with a context");
  }
  /* "The "signature_algorithms" extension MUST be specified" (4.3.2). */
  if (!tls_has(x.present, TLS_EXT_SIGNATURE_ALGORITHMS)) {
    return tls_fail(s, TLS_ALERT_MISSING_EXTENSION, "a CertificateRequest without algorithms");
  }
  s->hs.asked = 1;
  return TLS_ALERT_NONE;
}

tls_alert tls13_on_certificate(tls_state *s, tls_bytes body) {
  tls_bytes chain[TLS_CHAIN_MAX];
  size_t n = 0;
  tls_extensions x;
  const char *reason = NULL;
  tls_reader r = tls_reader_of(body);
  const tls_bytes context = tls_read_vector(&r, 1, 0);
  tls_reader list = tls_reader_of(tls_read_vector(&r, 3, 0));
  if (!tls_read_done(&r)) return unreadable(s, "a Certificate message that cannot be read");
  /* "In the case of server authentication, this field SHALL be zero length" (4.4.2). */
  if (context.n != 0) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a Certificate message with a context");
  }
  while (list.i < list.n) {
    const tls_bytes certificate = tls_read_vector(&list, 3, 1),
                    block = tls_read_vector(&list, 2, 0);
    if (list.bad) return unreadable(s, "a Certificate message that cannot be read");
    if (n == TLS_CHAIN_MAX) {
      return tls_fail(s, TLS_ALERT_BAD_CERTIFICATE, "the server sends too many certificates");
    }
    const tls_alert alert =
        tls_extensions_read(block, TLS_IN_CERTIFICATE, s->hs.offered, &x, &reason);
    if (alert != TLS_ALERT_NONE) return tls_fail(s, alert, reason);
    chain[n++] = certificate;
  }
  /* "If the server supplies an empty Certificate message, the client MUST abort the handshake with
  ** a "decode_error" alert" (4.4.2.4). */
  if (n == 0) return unreadable(s, "the server sends no certificate");
  return tls_peer_chain(s, chain, n);
}

tls_alert tls13_on_verify(tls_state *s, tls_bytes body) {
  /* 4.4.3: 64 spaces, the context string, a zero, the transcript's hash. */
  static const char context[] = "TLS 1.3, server CertificateVerify";
  uint8_t content[64 + sizeof context + ECR_HASH_MAX];
  tls_reader r = tls_reader_of(body);
  const uint32_t scheme = tls_read(&r, 2);
  const tls_bytes signature = tls_read_vector(&r, 2, 0);
  if (!tls_read_done(&r)) return unreadable(s, "a CertificateVerify that cannot be read");
  memset(content, ' ', 64);
  memcpy(content + 64, context, sizeof context);
  tls_transcript_digest(&s->hs.transcript, content + 64 + sizeof context);
  return tls_peer_signature(s, scheme, content, 64 + sizeof context + s->suite->hash->size,
                            signature);
}

/* Our second flight: an empty Certificate if one was asked for (4.4.2), and Finished. */
static tls_alert send_flight(tls_state *s) {
  static const uint8_t certificate[] = {TLS_CERTIFICATE, 0, 0, 4, 0, 0, 0, 0};
  const ecr_hash *hash = s->suite->hash;
  uint8_t digest[ECR_HASH_MAX],
      finished[4 + TLS_SECRET_MAX] = {TLS_FINISHED, 0, 0, (uint8_t)hash->size};
  tls_alert alert = tls_send_change(s);
  if (alert == TLS_ALERT_NONE && s->hs.asked) {
    alert = tls_send_message(s, certificate, sizeof certificate);
  }
  if (alert != TLS_ALERT_NONE) return alert;
  tls_transcript_digest(&s->hs.transcript, digest);
  tls13_finished(hash, s->write.secret, digest, finished + 4);
  return tls_send_message(s, finished, 4 + hash->size);
}

tls_alert tls13_on_finished(tls_state *s, tls_bytes body) {
  tls_handshake *hs = &s->hs;
  const ecr_hash *hash = s->suite->hash;
  uint8_t digest[ECR_HASH_MAX], expected[TLS_SECRET_MAX];
  tls_transcript_digest(&hs->transcript, digest);
  tls13_finished(hash, s->read.secret, digest, expected);
  tls_alert alert = tls_peer_finished(s, body, expected, hash->size);
  if (alert != TLS_ALERT_NONE) return alert;
  tls_transcript_add(&hs->transcript, (tls_bytes){body.p - 4, body.n + 4});
  /* 7.1: the master secret, whose traffic secrets end with the server's Finished. */
  tls13_advance(hash, NULL, 0, hs->secret);
  derive_pair(hs, "c ap traffic", "s ap traffic");
  if ((alert = send_flight(s)) != TLS_ALERT_NONE) return alert;
  if ((alert = protect(s, &s->read, hs->server_secret)) != TLS_ALERT_NONE) return alert;
  if ((alert = protect(s, &s->write, hs->client_secret)) != TLS_ALERT_NONE) return alert;
  tls_transcript_digest(&hs->transcript, digest);
  tls13_derive(hash, hs->secret, "res master", digest, s->resumption);
  tls_handshake_over(s);
  return TLS_ALERT_NONE;
}

tls_alert tls13_on_ticket(tls_state *s, tls_bytes body) {
  tls_extensions x;
  const char *reason = NULL;
  uint8_t secret[TLS_SECRET_MAX];
  tls_session *session = &s->ticket;
  tls_reader r = tls_reader_of(body);
  const uint32_t lifetime = tls_read(&r, 4), age_add = tls_read(&r, 4);
  const tls_bytes nonce = tls_read_vector(&r, 1, 0), ticket = tls_read_vector(&r, 2, 1),
                  block = tls_read_vector(&r, 2, 0);
  if (!tls_read_done(&r)) return unreadable(s, "a NewSessionTicket that cannot be read");
  const tls_alert alert = tls_extensions_read(block, TLS_IN_TICKET, 0, &x, &reason);
  if (alert != TLS_ALERT_NONE) return tls_fail(s, alert, reason);
  /* "The value of zero indicates that the ticket should be discarded immediately" (4.6.1). */
  if (lifetime == 0 || ticket.n > sizeof session->ticket) return TLS_ALERT_NONE;
  ecr_hkdf_expand_label(s->suite->hash, s->resumption, "resumption", nonce.p, nonce.n, secret,
                        s->suite->hash->size);
  tls_session_keep(s, secret, s->suite->hash->size, lifetime);
  ecr_wipe(secret, sizeof secret);
  session->age_add = age_add;
  memcpy(session->ticket, ticket.p, ticket.n);
  session->ticket_size = ticket.n;
  return TLS_ALERT_NONE;
}

tls_alert tls13_on_update(tls_state *s, tls_bytes body) {
  if (body.n != 1) return unreadable(s, "a KeyUpdate that cannot be read");
  /* "If an implementation receives any other value, it MUST terminate the connection with an
  ** "illegal_parameter" alert" (4.6.3). */
  if (body.p[0] > 1) return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a KeyUpdate out of order");
  if (tls13_protect_next(&s->read, s->suite->hash) != ECR_OK) {
    return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the cipher is not there any more");
  }
  s->update_asked = 0;
  /* "then the receiver MUST send a KeyUpdate of its own with request_update set to
  ** "update_not_requested" prior to sending its next Application Data record" (4.6.3); one answers
  ** all that came before it left. */
  if (body.p[0] == 0 || s->closed || s->update_waits) return TLS_ALERT_NONE;
  return tls_send_update(s, 0);
}
