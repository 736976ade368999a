/*
** rogue13.h: TLS 1.3 as a server of rogue.h speaks it (RFC 8446), a function for each message.
*/
#ifndef EDB_ROGUE13_H
#define EDB_ROGUE13_H

#include "rogue.h"

/* ---- The key schedule (7.1) ------------------------------------------------------------------------------ */

typedef struct r13_schedule {
  uint8_t secret[48], client_hs[48], server_hs[48], client_ap[48], server_ap[48], resumption[48];
} r13_schedule;

static r13_schedule r13; /* of the connection at hand */

static inline void r13_expand_label(const rogue *r, const uint8_t *secret, const char *label,
                                    const uint8_t *context, size_t context_size, uint8_t *out,
                                    size_t n) {
  uint8_t info[300], block[64];
  size_t at = 2, name = strlen(label) + 6;
  info[0] = 0, info[1] = (uint8_t)n;
  info[at++] = (uint8_t)name;
  memcpy(info + at, "tls13 ", 6);
  memcpy(info + at + 6, label, name - 6);
  at += name;
  info[at++] = (uint8_t)context_size;
  if (context_size) memcpy(info + at, context, context_size);
  at += context_size;
  info[at++] = 1; /* one block is always enough here */
  rogue_hmac(r, secret, rogue_hash_size(r), info, at, block);
  memcpy(out, block, n);
}

static inline void r13_derive(const rogue *r, const uint8_t *secret, const char *label,
                              const void *messages, size_t n, uint8_t *out) {
  uint8_t digest[64];
  rogue_hash(r, messages, n, digest);
  r13_expand_label(r, secret, label, digest, rogue_hash_size(r), out, rogue_hash_size(r));
}

/* The next Extract; input NULL: zeros. */
static inline void r13_advance(const rogue *r, const uint8_t *input, size_t n) {
  uint8_t derived[64], none[64] = {0};
  r13_derive(r, r13.secret, "derived", "", 0, derived);
  rogue_hmac(r, derived, rogue_hash_size(r), input ? input : none, input ? n : rogue_hash_size(r),
             r13.secret);
}

static inline void r13_set_keys(const rogue *r, rogue_keys *k, const uint8_t *secret) {
  if (k->secret != secret) memcpy(k->secret, secret, 48);
  r13_expand_label(r, secret, "key", NULL, 0, k->key, r->suite->key);
  r13_expand_label(r, secret, "iv", NULL, 0, k->iv, 12);
  k->sequence = 0;
  k->on = 1;
}

static inline void r13_next_keys(const rogue *r, rogue_keys *k) {
  uint8_t next[48];
  r13_expand_label(r, k->secret, "traffic upd", NULL, 0, next, rogue_hash_size(r));
  r13_set_keys(r, k, next);
}

static inline void r13_verify_data(const rogue *r, const uint8_t *secret,
                                   const rogue_bytes *transcript, uint8_t *out) {
  uint8_t key[64], digest[64];
  r13_expand_label(r, secret, "finished", NULL, 0, key, rogue_hash_size(r));
  rogue_hash(r, transcript->p, transcript->n, digest);
  rogue_hmac(r, key, rogue_hash_size(r), digest, rogue_hash_size(r), out);
}

/* ---- ServerHello, HelloRetryRequest ----------------------------------------------------------------------- */

typedef struct r13_hello {
  unsigned legacy, version; /* version 0: no supported_versions */
  unsigned suite, compression;
  int session; /* 0: echoed; 1: another; 2: none */
  int retry, no_share;
  unsigned group;
  const uint8_t *share; /* NULL: an honest one */
  size_t share_size;
  const uint8_t *psk; /* a secret: resumes with it */
  int psk_index;
  unsigned extra; /* an extension more, with an empty body */
  int twice;      /* supported_versions twice */
  const char *cookie;
} r13_hello;

static inline r13_hello r13_honest_hello(const rogue *r) {
  return (r13_hello){
      .legacy = 0x0303, .version = 0x0304, .suite = r->suite->code, .group = r->share_group};
}

static const uint8_t r13_retry_random[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static inline void r13_put_extensions(rogue_bytes *b, const r13_hello *h, const uint8_t *share,
                                      size_t n) {
  static rogue_bytes body;
  uint8_t version[2] = {(uint8_t)(h->version >> 8), (uint8_t)h->version};
  for (int i = 0; i < (h->version ? 1 + h->twice : 0); i++) put_extension(b, 43, version, 2);
  body.n = 0;
  if (!h->no_share) {
    put_number(&body, h->group, 2);
    if (!h->retry) put_vector(&body, 2, share, n);
    put_extension(b, 51, body.p, body.n);
  }
  body.n = 0;
  if (h->cookie) {
    put_vector(&body, 2, h->cookie, strlen(h->cookie));
    put_extension(b, 44, body.p, body.n);
  }
  if (h->psk) {
    uint8_t index[2] = {0, (uint8_t)h->psk_index};
    put_extension(b, 41, index, 2);
  }
  if (h->extra) put_extension(b, h->extra, NULL, 0);
}

/* Says it; behind a ServerHello the handshake's keys are on. */
static inline void r13_say_hello(rogue *r, const r13_hello *h) {
  static rogue_bytes body, ours;
  uint8_t shared[64] = {0};
  const uint8_t zeros[64] = {0};
  size_t agreed = 32;
  ours.n = 0;
  if (!h->retry && r->share && r->share_group == h->group) {
    agreed = rogue_agree(h->group, r->share, r->share_size, &ours, shared);
  } else if (!h->retry) {
    put(&ours, zeros, 32);
  }
  for (size_t i = 0; i < 32; i++) r->server_random[i] = (uint8_t)(i * 7);
  body.n = 0;
  put_number(&body, h->legacy, 2);
  put(&body, h->retry ? r13_retry_random : r->server_random, 32);
  static const uint8_t another[32] = {1, 2, 3};
  put_vector(&body, 1, h->session == 1 ? another : r->session_id,
             h->session == 2   ? 0
             : h->session == 1 ? 32
                               : r->session_id_size);
  put_number(&body, h->suite, 2);
  put_number(&body, h->compression, 1);
  size_t at = body.n;
  put_number(&body, 0, 2);
  r13_put_extensions(&body, h, h->share ? h->share : ours.p, h->share ? h->share_size : ours.n);
  set_length(&body, at, 2);
  if (h->retry) { /* 4.4.1: the first hello becomes a message_hash */
    uint8_t digest[64];
    rogue_hash(r, r->transcript.p, r->transcript.n, digest);
    r->transcript.n = 0;
    put_number(&r->transcript, 254, 1);
    put_vector(&r->transcript, 3, digest, rogue_hash_size(r));
  }
  rogue_say(r, 2, &body);
  if (h->retry) return;
  memset(&r13, 0, sizeof r13);
  rogue_hmac(r, zeros, rogue_hash_size(r), h->psk ? h->psk : zeros, rogue_hash_size(r), r13.secret);
  r13_advance(r, shared, agreed);
  r13_derive(r, r13.secret, "c hs traffic", r->transcript.p, r->transcript.n, r13.client_hs);
  r13_derive(r, r13.secret, "s hs traffic", r->transcript.p, r->transcript.n, r13.server_hs);
  r13_set_keys(r, &r->out, r13.server_hs);
  r13_set_keys(r, &r->in, r13.client_hs);
}

/* A HelloRetryRequest for that group, and the second ClientHello, if it comes: answers whether. */
static inline int r13_retry(rogue *r, unsigned group) {
  r13_hello h = r13_honest_hello(r);
  h.retry = 1;
  h.group = group;
  r13_say_hello(r, &h);
  rogue_pump(r);
  if (r->failed) return 0;
  rogue_read_hello(r);
  return 1;
}

/* ---- The other messages -------------------------------------------------------------------------------------- */

/* EncryptedExtensions. alpn: a name, or NULL; extra: an extension with an empty body, 0: none. */
static inline void r13_say_extensions(rogue *r, const char *alpn, unsigned extra) {
  static rogue_bytes body, list;
  body.n = list.n = 0;
  put_number(&body, 0, 2);
  if (alpn) {
    put_number(&list, strlen(alpn) + 1, 2);
    put_vector(&list, 1, alpn, strlen(alpn));
    put_extension(&body, 16, list.p, list.n);
  }
  if (extra) put_extension(&body, extra, NULL, 0);
  set_length(&body, 0, 2);
  rogue_say(r, 8, &body);
}

static inline void r13_say_request(rogue *r) {
  static const uint8_t body[] = {0, 0, 8, 0, 13, 0, 4, 0, 2, 4, 3};
  static rogue_bytes b;
  b.n = 0;
  put(&b, body, sizeof body);
  rogue_say(r, 13, &b);
}

/* A Certificate with the leaf of that key. */
static inline void r13_say_certificate(rogue *r, const rogue_identity *leaf) {
  static rogue_bytes body;
  body.n = 0;
  put_number(&body, 0, 1);
  put_number(&body, 0, 3);
  put_vector(&body, 3, leaf->der, (size_t)leaf->size);
  put_number(&body, 0, 2);
  set_length(&body, 1, 3);
  rogue_say(r, 11, &body);
}

static inline unsigned rogue_scheme(rogue_key key) {
  static const unsigned schemes[ROGUE_KEYS] = {0x0403, 0x0804, 0x0809, 0x0503, 0x0807};
  return schemes[key];
}

/* CertificateVerify: signed by `signer` with `scheme`, which is said to be `said`. */
static inline void r13_say_verify(rogue *r, EVP_PKEY *signer, unsigned scheme, unsigned said,
                                  const char *context) {
  static rogue_bytes content, signature, body;
  uint8_t digest[64];
  content.n = body.n = 0;
  for (int i = 0; i < 64; i++) put_number(&content, ' ', 1);
  put(&content, context, strlen(context) + 1);
  rogue_hash(r, r->transcript.p, r->transcript.n, digest);
  put(&content, digest, rogue_hash_size(r));
  rogue_sign(signer, scheme, content.p, content.n, &signature);
  put_number(&body, said, 2);
  put_vector(&body, 2, signature.p, signature.n);
  rogue_say(r, 15, &body);
}

#define R13_CONTEXT "TLS 1.3, server CertificateVerify"

static inline void r13_say_honest_verify(rogue *r) {
  unsigned scheme = rogue_scheme(r->key);
  r13_say_verify(r, rogue_leaf[r->key].key, scheme, scheme, R13_CONTEXT);
}

/* Finished; behind it our records have the application's keys. change: is added to its first byte. */
static inline void r13_say_finished(rogue *r, int change) {
  static rogue_bytes body;
  body.n = 0;
  r13_verify_data(r, r->out.secret, &r->transcript, body.p);
  body.n = rogue_hash_size(r);
  body.p[0] = (uint8_t)(body.p[0] + change);
  rogue_say(r, 20, &body);
  r13_advance(r, NULL, 0);
  r13_derive(r, r13.secret, "c ap traffic", r->transcript.p, r->transcript.n, r13.client_ap);
  r13_derive(r, r13.secret, "s ap traffic", r->transcript.p, r->transcript.n, r13.server_ap);
  r13_set_keys(r, &r->out, r13.server_ap);
}

static inline void r13_say_ticket(rogue *r, const char *ticket) {
  static rogue_bytes body;
  body.n = 0;
  put_number(&body, 3600, 4);
  put_number(&body, 0x01020304, 4);
  put_vector(&body, 1, "n", 1);
  put_vector(&body, 2, ticket, strlen(ticket));
  put_number(&body, 0, 2);
  rogue_say(r, 4, &body);
}

static inline void r13_say_update(rogue *r, int ask) {
  uint8_t message[5] = {24, 0, 0, 1, (uint8_t)ask};
  rogue_record(r, 22, message, 5);
  r13_next_keys(r, &r->out);
}

/* The client takes all, and what it answers is read: its Finished, checked; its KeyUpdates, counted. */
typedef struct r13_answers {
  int finished, certificates, updates, data;
} r13_answers;

static inline r13_answers r13_pump_by(rogue *r, size_t piece) {
  static rogue_bytes content;
  r13_answers a = {0};
  uint8_t expected[64];
  int type;
  rogue_pump_by(r, piece);
  while (rogue_read(r, &type, &content)) {
    if (type == 23) a.data++;
    if (type != 22) continue;
    if (content.p[0] == 11) {
      a.certificates++;
      CHECK_INT(content.n, 8); /* an empty one */
      put(&r->transcript, content.p, content.n);
    }
    if (content.p[0] == 20) {
      r13_verify_data(r, r->in.secret, &r->transcript, expected);
      CHECK_BYTES(content.p + 4, content.n - 4, expected, rogue_hash_size(r));
      put(&r->transcript, content.p, content.n);
      r13_derive(r, r13.secret, "res master", r->transcript.p, r->transcript.n, r13.resumption);
      r13_set_keys(r, &r->in, r13.client_ap);
      a.finished++;
    }
    if (content.p[0] == 24) {
      a.updates++;
      r13_next_keys(r, &r->in);
    }
  }
  return a;
}

static inline r13_answers r13_pump(rogue *r) { return r13_pump_by(r, 0); }

/* What stands between ServerHello and the client's turn. */
static inline void r13_say_flight(rogue *r) {
  r13_say_extensions(r, NULL, 0);
  r13_say_certificate(r, &rogue_leaf[r->key]);
  r13_say_honest_verify(r);
  r13_say_finished(r, 0);
}

/* A whole handshake that is right in all, but for what r's fields say. Answers whether it succeeded. */
static inline int r13_connect(rogue *r) {
  r13_hello h = r13_honest_hello(r);
  r13_say_hello(r, &h);
  r13_say_flight(r);
  r13_answers a = r13_pump(r);
  return r->connected == 1 && a.finished == 1 && !r->failed;
}

#endif
