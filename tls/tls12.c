/*
** tls/tls12.c: TLS 1.2's messages after the ServerHello (RFC 5246 7.4, RFC 8422 5, RFC 7627, RFC
** 5746).
*/
#include "tlsInt.h"

static tls_alert unreadable(tls_state *s, const char *reason) {
  return tls_fail(s, TLS_ALERT_DECODE_ERROR, reason);
}

/* RFC 5746 3.4: "verify that the length of the "renegotiated_connection" field is zero"; a server
** without the extension could be made to continue somebody else's handshake. */
static tls_alert check_renegotiation(tls_state *s, const tls_extensions *x) {
  const tls_bytes info = x->body[TLS_EXT_RENEGOTIATION_INFO];
  if (!tls_has(x->present, TLS_EXT_RENEGOTIATION_INFO)) {
    return tls_fail(s, TLS_ALERT_HANDSHAKE_FAILURE, "the server cannot renegotiate securely");
  }
  if (info.n != 1 || info.p[0] != 0) {
    return tls_fail(s, TLS_ALERT_HANDSHAKE_FAILURE, "the server continues another handshake");
  }
  return TLS_ALERT_NONE;
}

/* RFC 8422 5.1.2: "If the Supported Point Formats Extension is sent, it MUST contain the value 0".
** */
static tls_alert check_formats(tls_state *s, const tls_extensions *x) {
  if (!tls_has(x->present, TLS_EXT_EC_POINT_FORMATS)) return TLS_ALERT_NONE;
  tls_reader r = tls_reader_of(x->body[TLS_EXT_EC_POINT_FORMATS]);
  const tls_bytes formats = tls_read_vector(&r, 1, 1);
  if (!tls_read_done(&r)) return unreadable(s, "point formats that cannot be read");
  if (!memchr(formats.p, 0, formats.n)) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "the server takes no uncompressed points");
  }
  return TLS_ALERT_NONE;
}

/* RFC 7627 5.2, 5.3: what has no extended master secret is not taken, and never resumed. */
static tls_alert check_master_secret(tls_state *s, const tls_extensions *x) {
  tls_handshake *hs = &s->hs;
  hs->extended = tls_has(x->present, TLS_EXT_EXTENDED_MASTER_SECRET);
  if (hs->extended || (hs->config.allow_no_extended_master_secret && !s->resumed)) {
    return TLS_ALERT_NONE;
  }
  return tls_fail(s, TLS_ALERT_HANDSHAKE_FAILURE,
                  "the server does not bind its keys to the handshake (RFC 7627)");
}

static void derive_keys(tls_state *s) {
  tls_handshake *hs = &s->hs;
  tls12_key_block(s->suite, tls_aead_of(s, s->suite)->key_size, hs->secret, hs->random,
                  hs->server_random, &hs->keys);
}

/* Whether the server takes our session: it then echoes the id that was offered with it. */
static tls_alert take_session(tls_state *s, tls_bytes id) {
  tls_handshake *hs = &s->hs;
  s->ticket.id_size = id.n;
  if (id.n) memcpy(s->ticket.id, id.p, id.n);
  if (id.n == 0 || id.n != hs->session_id_size || memcmp(id.p, hs->session_id, id.n) != 0) {
    return TLS_ALERT_NONE;
  }
  /* "the … cipher suite … of the session" (RFC 5246 7.4.1.3); and there is one. */
  if (!hs->session || hs->session->version != TLS_1_2 || hs->session->suite != s->suite->code) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "the server resumes what was not offered");
  }
  s->resumed = 1;
  s->verified = hs->session->verified;
  s->ticket = *hs->session; /* goes on, unless a new ticket comes */
  s->ticket.used = 0;
  memcpy(hs->secret, hs->session->secret, TLS12_MASTER);
  derive_keys(s);
  return TLS_ALERT_NONE;
}

tls_alert tls12_start(tls_state *s, const tls_extensions *x, tls_bytes session_id) {
  tls_handshake *hs = &s->hs;
  tls_alert alert;
  /* In TLS 1.2 a CCS has one place, which is later. */
  if (hs->changes) {
    return tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "a change of ciphers that may not come now");
  }
  if ((alert = check_renegotiation(s, x)) != TLS_ALERT_NONE) return alert;
  if ((alert = check_formats(s, x)) != TLS_ALERT_NONE) return alert;
  if ((alert = take_session(s, session_id)) != TLS_ALERT_NONE) return alert;
  if ((alert = check_master_secret(s, x)) != TLS_ALERT_NONE) return alert;
  hs->ticket = tls_has(x->present, TLS_EXT_SESSION_TICKET);
  s->stage = !s->resumed  ? TLS12_WAIT_CERTIFICATE
             : hs->ticket ? TLS12_WAIT_TICKET
                          : TLS12_WAIT_CHANGE;
  return tls_peer_extensions(s, x);
}

tls_alert tls12_on_certificate(tls_state *s, tls_bytes body) {
  tls_bytes chain[TLS_CHAIN_MAX];
  size_t n = 0;
  tls_reader r = tls_reader_of(body), list = tls_reader_of(tls_read_vector(&r, 3, 0));
  if (!tls_read_done(&r)) return unreadable(s, "a Certificate message that cannot be read");
  while (list.i < list.n) {
    const tls_bytes certificate = tls_read_vector(&list, 3, 1);
    if (list.bad) return unreadable(s, "a Certificate message that cannot be read");
    if (n == TLS_CHAIN_MAX) {
      return tls_fail(s, TLS_ALERT_BAD_CERTIFICATE, "the server sends too many certificates");
    }
    chain[n++] = certificate;
  }
  if (n == 0) return unreadable(s, "the server sends no certificate");
  const tls_alert alert = tls_peer_chain(s, chain, n);
  if (alert != TLS_ALERT_NONE) return alert;
  /* RFC 8422 2: the suite says what the certificate's key is. */
  const tls_key_kind kind = s->hs.leaf.kind;
  const int rsa = kind == TLS_KEY_RSA || kind == TLS_KEY_RSA_PSS;
  if (rsa != (s->suite->signs == TLS_SIGNS_RSA)) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER,
                    "a certificate of another kind than the suite's");
  }
  return TLS_ALERT_NONE;
}

/* RFC 8422 5.4: curve_type, the named curve, the point; then the signature over both randoms and
** them. */
tls_alert tls12_on_key_exchange(tls_state *s, tls_bytes body) {
  tls_handshake *hs = &s->hs;
  uint8_t content[64 + 4 + 255], premaster[TLS_SECRET_MAX];
  tls_reader r = tls_reader_of(body);
  const uint32_t kind = tls_read(&r, 1), code = tls_read(&r, 2);
  const tls_bytes point = tls_read_vector(&r, 1, 1);
  const tls_bytes params = {body.p, r.i};
  const uint32_t scheme = tls_read(&r, 2);
  const tls_bytes signature = tls_read_vector(&r, 2, 0);
  if (body.n > 0 && body.p[0] != 3) { /* explicit curves (RFC 8422 5.4: "MUST NOT be used") */
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a curve that is not named");
  }
  if (!tls_read_done(&r) || kind != 3) return unreadable(s, "a key exchange that cannot be read");
  const tls_group *group = tls_group_find(code);
  if (!group) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a group that was not offered");
  }
  memcpy(content, hs->random, 32);
  memcpy(content + 32, hs->server_random, 32);
  memcpy(content + 64, params.p, params.n);
  tls_alert alert = tls_peer_signature(s, scheme, content, 64 + params.n, signature);
  if (alert != TLS_ALERT_NONE) return alert;
  if (group != hs->group && (alert = tls_group_start(s, group)) != TLS_ALERT_NONE) return alert;
  if ((alert = tls_group_agree(s, point, premaster)) != TLS_ALERT_NONE) return alert;
  memcpy(hs->secret, premaster, group->secret);
  ecr_wipe(premaster, sizeof premaster);
  return TLS_ALERT_NONE;
}

/* We have no certificate, so what would suit the server does not matter; 7.4.4. */
tls_alert tls12_on_request(tls_state *s, tls_bytes body) {
  tls_reader r = tls_reader_of(body);
  tls_read_vector(&r, 1, 1);
  tls_read_vector(&r, 2, 2);
  tls_read_vector(&r, 2, 0);
  if (!tls_read_done(&r)) return unreadable(s, "a CertificateRequest that cannot be read");
  s->hs.asked = 1;
  return TLS_ALERT_NONE;
}

/* CCS in the clear, then our keys. */
static tls_alert send_change(tls_state *s) {
  static const uint8_t one = 1;
  tls_handshake *hs = &s->hs;
  const ecr_aead *aead = tls_aead_of(s, s->suite);
  const tls_alert alert = tls_send(s, TLS_CHANGE_CIPHER_SPEC, &one, 1);
  if (alert != TLS_ALERT_NONE) return alert;
  if (!aead || tls_protect(&s->write, aead, TLS_1_2, hs->keys.client_key, hs->keys.client_iv)) {
    return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the cipher is not there");
  }
  return TLS_ALERT_NONE;
}

static tls_alert send_finished(tls_state *s) {
  tls_handshake *hs = &s->hs;
  uint8_t digest[ECR_HASH_MAX], finished[4 + TLS12_VERIFY] = {TLS_FINISHED, 0, 0, TLS12_VERIFY};
  tls_transcript_digest(&hs->transcript, digest);
  tls12_finished(s->suite->hash, hs->secret, "client finished", digest, finished + 4);
  return tls_send_message(s, finished, sizeof finished);
}

tls_alert tls12_on_done(tls_state *s, tls_bytes body) {
  static const uint8_t certificate[] = {TLS_CERTIFICATE, 0, 0, 3, 0, 0, 0};
  tls_handshake *hs = &s->hs;
  const size_t share = hs->group->share;
  uint8_t exchange[4 + 1 + ECR_EC_POINT_MAX] = {TLS_CLIENT_KEY_EXCHANGE, 0, 0, (uint8_t)(share + 1),
                                                (uint8_t)share};
  uint8_t digest[ECR_HASH_MAX], master[TLS12_MASTER];
  tls_alert alert = TLS_ALERT_NONE;
  if (body.n != 0) return unreadable(s, "a ServerHelloDone that is not empty");
  if (hs->asked) alert = tls_send_message(s, certificate, sizeof certificate);
  memcpy(exchange + 5, hs->share, share);
  if (alert == TLS_ALERT_NONE) alert = tls_send_message(s, exchange, 5 + share);
  if (alert != TLS_ALERT_NONE) return alert;
  /* RFC 7627 3: the session's hash is up to the ClientKeyExchange. */
  tls_transcript_digest(&hs->transcript, digest);
  tls12_master(s->suite->hash, hs->secret, hs->group->secret, hs->extended ? digest : NULL,
               hs->random, hs->server_random, master);
  memcpy(hs->secret, master, sizeof master);
  ecr_wipe(master, sizeof master);
  derive_keys(s);
  if ((alert = send_change(s)) != TLS_ALERT_NONE) return alert;
  if ((alert = send_finished(s)) != TLS_ALERT_NONE) return alert;
  s->stage = hs->ticket ? TLS12_WAIT_TICKET : TLS12_WAIT_CHANGE;
  return TLS_ALERT_NONE;
}

/* RFC 5077 3.3: a lifetime (0: not said) and the ticket, which may be none. */
tls_alert tls12_on_ticket(tls_state *s, tls_bytes body) {
  tls_reader r = tls_reader_of(body);
  const uint32_t lifetime = tls_read(&r, 4);
  const tls_bytes ticket = tls_read_vector(&r, 2, 0);
  if (!tls_read_done(&r)) return unreadable(s, "a ticket that cannot be read");
  if (ticket.n == 0 || ticket.n > sizeof s->ticket.ticket) return TLS_ALERT_NONE;
  memcpy(s->ticket.ticket, ticket.p, ticket.n);
  s->ticket.ticket_size = ticket.n;
  s->ticket.lifetime = lifetime;
  s->hs.renewed = 1;
  return TLS_ALERT_NONE;
}

tls_alert tls12_on_change(tls_state *s, tls_bytes body) {
  const tls12_keys *keys = &s->hs.keys;
  const ecr_aead *aead = tls_aead_of(s, s->suite);
  (void)body;
  if (!aead || tls_protect(&s->read, aead, TLS_1_2, keys->server_key, keys->server_iv) != ECR_OK) {
    return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the cipher is not there");
  }
  return TLS_ALERT_NONE;
}

/* What resumes this session: a new ticket, the one that did so now, or the server's id for it. "An
** upper limit of 24 hours is suggested" (RFC 5246 F.1.4). */
static void keep_session(tls_state *s) {
  const int64_t received = s->ticket.received;
  const uint32_t lifetime = s->ticket.lifetime;
  const int fresh = s->hs.renewed;
  if (!s->hs.extended || s->ticket.id_size + s->ticket.ticket_size == 0) return;
  tls_session_keep(s, s->hs.secret, TLS12_MASTER, lifetime && fresh ? lifetime : 86400);
  if (s->resumed && !fresh) {
    s->ticket.received = received;
    s->ticket.lifetime = lifetime;
  }
}

tls_alert tls12_on_finished(tls_state *s, tls_bytes body) {
  uint8_t digest[ECR_HASH_MAX], expected[TLS12_VERIFY];
  tls_transcript_digest(&s->hs.transcript, digest);
  tls12_finished(s->suite->hash, s->hs.secret, "server finished", digest, expected);
  tls_alert alert = tls_peer_finished(s, body, expected, sizeof expected);
  if (alert != TLS_ALERT_NONE) return alert;
  if (s->resumed) { /* ours comes second (RFC 5246 7.3) */
    tls_transcript_add(&s->hs.transcript, (tls_bytes){body.p - 4, body.n + 4});
    if ((alert = send_change(s)) != TLS_ALERT_NONE) return alert;
    if ((alert = send_finished(s)) != TLS_ALERT_NONE) return alert;
  }
  keep_session(s);
  tls_handshake_over(s);
  return TLS_ALERT_NONE;
}

/* RFC 5246 7.4.1.1, 7.2.2: "the client … may respond with a no_renegotiation alert" and go on. */
tls_alert tls12_on_hello_request(tls_state *s, tls_bytes body) {
  static const uint8_t warning[2] = {1, TLS_ALERT_NO_RENEGOTIATION};
  if (body.n != 0) return unreadable(s, "a HelloRequest that is not empty");
  return s->closed ? TLS_ALERT_NONE : tls_send(s, TLS_ALERT, warning, sizeof warning);
}
