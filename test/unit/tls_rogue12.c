/*
** tls_rogue12.c: what a TLS 1.2 server must not get away with (RFC 5246, 7627, 5746, 8422); rogue.h has the rest of
** the server.
*/
#include "rogue.h"

static uint8_t master[48];
static uint8_t key_block[88];
static size_t key_size, iv_size;

/* P_hash of 5, with the suite's hash. */
static void prf(const rogue *r, const void *key, size_t key_n, const char *label, const void *seed,
                size_t seed_n, uint8_t *out, size_t n) {
  uint8_t input[64 + 200], a[64], block[64];
  size_t size = rogue_hash_size(r), text = strlen(label) + seed_n;
  memcpy(input + size, label, strlen(label));
  memcpy(input + size + strlen(label), seed, seed_n);
  rogue_hmac(r, key, key_n, input + size, text, a);
  for (size_t at = 0; at < n; at += size) {
    memcpy(input, a, size);
    rogue_hmac(r, key, key_n, input, size + text, block);
    memcpy(out + at, block, n - at < size ? n - at : size);
    rogue_hmac(r, key, key_n, a, size, a);
  }
}

/* What a case changes; all zeros is honest. */
static struct {
  unsigned legacy, suite, compression, version_extension, extra, group, scheme, curve_type;
  int no_ems, renegotiation, no_renegotiation, twice, sentinel;
  const uint8_t *share;
  size_t share_size;
  EVP_PKEY *signer;
  int other_randoms, empty_chain, other_leaf, finished, early_change, no_change, no_exchange,
      status, ticket;
} m;

static void say_hello(rogue *r) {
  static rogue_bytes body;
  static const char *const sentinels[] = {"", "DOWNGRD\1", "DOWNGRD\0"};
  body.n = 0;
  for (size_t i = 0; i < 32; i++) r->server_random[i] = (uint8_t)(i * 5);
  if (m.sentinel) memcpy(r->server_random + 24, sentinels[m.sentinel], 8);
  put_number(&body, m.legacy ? m.legacy : 0x0303, 2);
  put(&body, r->server_random, 32);
  put_number(&body, 0, 1);
  put_number(&body, m.suite ? m.suite : r->suite->code, 2);
  put_number(&body, m.compression, 1);
  size_t at = body.n;
  put_number(&body, 0, 2);
  if (!m.no_ems) put_extension(&body, 23, NULL, 0);
  if (m.twice) put_extension(&body, 23, NULL, 0);
  if (!m.no_renegotiation)
    put_extension(&body, 0xff01, m.renegotiation ? "\1x" : "\0", m.renegotiation ? 2 : 1);
  if (m.version_extension) put_extension(&body, 43, "\3\3", 2);
  if (m.extra) put_extension(&body, m.extra, NULL, 0);
  set_length(&body, at, 2);
  rogue_say(r, 2, &body);
}

/* Certificate, ServerKeyExchange, ServerHelloDone. own: our key of the exchange, the caller's to free. */
static void say_flight(rogue *r, EVP_PKEY **own) {
  static rogue_bytes body, content, signature, params;
  uint8_t *encoded = NULL;
  unsigned group = m.group ? m.group : 0x1d;
  body.n = content.n = params.n = 0;
  put_number(&body, 0, 3);
  const rogue_identity *leaf = &rogue_leaf[m.other_leaf ? ROGUE_RSA : r->key];
  if (!m.empty_chain) put_vector(&body, 3, leaf->der, (size_t)leaf->size);
  set_length(&body, 0, 3);
  rogue_say(r, 11, &body);
  body.n = 0;
  if (m.status) rogue_say(r, 22, &body);
  *own = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
  size_t n = EVP_PKEY_get1_encoded_public_key(*own, &encoded);
  put_number(&params, m.curve_type ? m.curve_type : 3, 1);
  put_number(&params, group, 2);
  put_vector(&params, 1, m.share ? m.share : encoded, m.share ? m.share_size : n);
  OPENSSL_free(encoded);
  put(&content, r->client_random, 32);
  put(&content, m.other_randoms ? r->client_random : r->server_random, 32);
  put(&content, params.p, params.n);
  static const unsigned schemes[ROGUE_KEYS] = {0x0403, 0x0401, 0x0809, 0x0503, 0x0807};
  unsigned scheme = schemes[m.signer == rogue_leaf[ROGUE_RSA].key ? ROGUE_RSA : r->key];
  rogue_sign(m.signer ? m.signer : leaf->key, m.other_leaf ? 0x0401 : scheme, content.p, content.n,
             &signature);
  put_number(&params, m.scheme ? m.scheme : m.other_leaf ? 0x0401 : scheme, 2);
  put_vector(&params, 2, signature.p, signature.n);
  if (!m.no_exchange) rogue_say(r, 12, &params);
  body.n = 0;
  rogue_say(r, 14, &body);
}

static void agree(rogue *r, EVP_PKEY *own, const uint8_t *share) {
  EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, share, 32);
  EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(own, NULL);
  uint8_t secret[32], seed[64];
  size_t n = 32;
  MUST(EVP_PKEY_derive_init(c));
  MUST(EVP_PKEY_derive_set_peer(c, peer));
  MUST(EVP_PKEY_derive(c, secret, &n));
  EVP_PKEY_CTX_free(c);
  EVP_PKEY_free(peer);
  memcpy(seed, r->client_random, 32);
  memcpy(seed + 32, r->server_random, 32);
  if (m.no_ems) {
    prf(r, secret, 32, "master secret", seed, 64, master, 48);
  } else {
    rogue_hash(r, r->transcript.p, r->transcript.n, seed);
    prf(r, secret, 32, "extended master secret", seed, rogue_hash_size(r), master, 48);
  }
  key_size = r->suite->key;
  iv_size = rogue_explicit(r) ? 4 : 12;
  memcpy(seed, r->server_random, 32);
  memcpy(seed + 32, r->client_random, 32);
  prf(r, master, 48, "key expansion", seed, 64, key_block, 2 * (key_size + iv_size));
}

static void set_keys(rogue_keys *k, int server) {
  memcpy(k->key, key_block + (server ? key_size : 0), key_size);
  memcpy(k->iv, key_block + 2 * key_size + (server ? iv_size : 0), iv_size);
  k->sequence = 0;
  k->on = 1;
}

/* Reads the client's flight: its Finished is checked. 0 where it did not come. */
static int take_flight(rogue *r, EVP_PKEY *own) {
  static rogue_bytes content;
  uint8_t expected[12], digest[64];
  int type, finished = 0;
  while (rogue_read(r, &type, &content)) {
    if (type == 20) set_keys(&r->in, 0);
    if (type != 22) continue;
    if (content.p[0] == 20) {
      rogue_hash(r, r->transcript.p, r->transcript.n, digest);
      prf(r, master, 48, "client finished", digest, rogue_hash_size(r), expected, 12);
      CHECK_BYTES(content.p + 4, content.n - 4, expected, 12);
      finished = 1;
    }
    put(&r->transcript, content.p, content.n);
    if (content.p[0] == 16) agree(r, own, content.p + 5);
  }
  return finished;
}

/* A whole handshake, with what m changes. */
static int connect12(rogue *r) {
  static rogue_bytes body;
  EVP_PKEY *own = NULL;
  uint8_t digest[64];
  say_hello(r);
  if (m.early_change) rogue_raw(r, 20, "\1", 1);
  say_flight(r, &own);
  rogue_pump(r);
  int ok = take_flight(r, own);
  EVP_PKEY_free(own);
  if (!ok) return 0;
  body.n = 0;
  if (m.ticket) {
    put(&body, "\0\0\0\1\0\1t", 7);
    rogue_say(r, 4, &body);
  }
  if (!m.no_change) {
    rogue_raw(r, 20, "\1", 1);
    set_keys(&r->out, 1);
  }
  rogue_hash(r, r->transcript.p, r->transcript.n, digest);
  prf(r, master, 48, m.finished == 2 ? "client finished" : "server finished", digest,
      rogue_hash_size(r), body.p, 12);
  body.n = 12;
  body.p[0] = (uint8_t)(body.p[0] + (m.finished == 1));
  rogue_say(r, 20, &body);
  rogue_pump(r);
  rogue_drain(r);
  return r->connected == 1 && !r->failed;
}

/* ---- The table: each a whole handshake with one thing changed ---------------------------------------------------- */

static const uint8_t zeros[133], off_curve[65] = {4, 1};

#define CASE(name, alert, change)                                                                  \
  static void name(void) { change; }
#define CASES(X)                                                                                   \
  X(no_ems, HANDSHAKE_FAILURE, m.no_ems = 1)                                                       \
  X(renegotiation_info_not_empty, HANDSHAKE_FAILURE, m.renegotiation = 1)                          \
  X(downgrade_to_12, ILLEGAL_PARAMETER, m.sentinel = 1)                                            \
  X(downgrade_to_11, ILLEGAL_PARAMETER, m.sentinel = 2)                                            \
  X(version_11, PROTOCOL_VERSION, m.legacy = 0x0302)                                               \
  X(version_30, PROTOCOL_VERSION, m.legacy = 0x0300)                                               \
  X(version_extension, ILLEGAL_PARAMETER, m.version_extension = 1)                                 \
  X(compression, ILLEGAL_PARAMETER, m.compression = 1)                                             \
  X(suite_cbc, ILLEGAL_PARAMETER, m.suite = 0xc013)                                                \
  X(suite_rsa, ILLEGAL_PARAMETER, m.suite = 0x009c)                                                \
  X(suite_13, ILLEGAL_PARAMETER, m.suite = 0x1301)                                                 \
  X(extension_twice, ILLEGAL_PARAMETER, m.twice = 1)                                               \
  X(extension_unknown, UNSUPPORTED_EXTENSION, m.extra = 0x1234)                                    \
  X(alpn_not_offered, UNSUPPORTED_EXTENSION, m.extra = 16)                                         \
  X(certificates_none, DECODE_ERROR, m.empty_chain = 1)                                            \
  X(certificate_of_another_kind, ILLEGAL_PARAMETER, m.other_leaf = 1)                              \
  X(status_not_asked, UNEXPECTED_MESSAGE, m.status = 1)                                            \
  X(exchange_left_out, UNEXPECTED_MESSAGE, m.no_exchange = 1)                                      \
  X(exchange_by_another, DECRYPT_ERROR, m.signer = rogue_other.key)                                \
  X(exchange_by_another_kind, ILLEGAL_PARAMETER, m.signer = rogue_leaf[ROGUE_RSA].key)             \
  X(exchange_of_other_randoms, DECRYPT_ERROR, m.other_randoms = 1)                                 \
  X(exchange_sha1, ILLEGAL_PARAMETER, m.scheme = 0x0203)                                           \
  X(exchange_said_rsa, ILLEGAL_PARAMETER, m.scheme = 0x0804)                                       \
  X(curve_explicit, ILLEGAL_PARAMETER, m.curve_type = 1)                                           \
  X(curve_weak, ILLEGAL_PARAMETER, m.group = 0x0013)                                               \
  X(curve_unknown, ILLEGAL_PARAMETER, m.group = 0x0015)                                            \
  X(share_zero, ILLEGAL_PARAMETER, (m.share = zeros, m.share_size = 32))                           \
  X(share_short, ILLEGAL_PARAMETER, (m.share = zeros, m.share_size = 31))                          \
  X(share_empty, DECODE_ERROR, (m.share = zeros, m.share_size = 0))                                \
  X(point_off_curve, ILLEGAL_PARAMETER, (m.group = 0x17, m.share = off_curve, m.share_size = 65))  \
  X(change_early, UNEXPECTED_MESSAGE, m.early_change = 1)                                          \
  X(change_left_out, UNEXPECTED_MESSAGE, m.no_change = 1)                                          \
  X(ticket_not_promised, UNEXPECTED_MESSAGE, m.ticket = 1)                                         \
  X(finished_wrong, DECRYPT_ERROR, m.finished = 1)                                                 \
  X(finished_reflected, DECRYPT_ERROR, m.finished = 2)

CASES(CASE)
#define ROW(name, alert, change) {#name, name, TLS_ALERT_##alert},
static const struct {
  const char *name;
  void (*change)(void);
  int alert;
} cases[] = {CASES(ROW)};

static void run_cases(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int before = unit_failed;
    rogue *r = rogue_start(0x0303, 0xc02b, ROGUE_P256, NULL);
    memset(&m, 0, sizeof m);
    cases[i].change();
    CHECK(!connect12(r));
    rogue_pump(r);
    rogue_drain(r);
    CHECK_INT(r->alert, cases[i].alert);
    CHECK_INT(tls_failed(&r->client).alert, cases[i].alert);
    CHECK_INT(r->alert_level, 2);
    CHECK_INT(r->connected, 0);
    CHECK_INT(r->unreadable, 0);
    rogue_stays_failed(r);
    rogue_end(r);
    if (unit_failed > before) printf("  in %s\n", cases[i].name);
  }
  memset(&m, 0, sizeof m);
}

/* ---- Once connected ------------------------------------------------------------------------------------------------ */

static void wrong_tag(rogue *r) {
  rogue_record(r, 23, "secret", 6);
  r->wire.p[r->wire.n - 1] ^= 1;
}
static void wrong_nonce(rogue *r) {
  rogue_record(r, 23, "secret", 6);
  r->wire.p[5] ^= 1;
}
static void too_short(rogue *r) { rogue_raw(r, 23, zeros, 23); }
static void too_long(rogue *r) {
  static uint8_t much[16385];
  rogue_record(r, 23, much, sizeof much);
}
static void clear_data(rogue *r) { rogue_raw(r, 23, "secret", 6); }
static void empty_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) rogue_record(r, 23, NULL, 0);
}
static void warning_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) rogue_record(r, 21, "\1\x5a", 2);
}
static void request_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) rogue_record(r, 22, "\0\0\0\0", 4);
}
static void change_again(rogue *r) { rogue_record(r, 20, "\1", 1); }
static void hello_again(rogue *r) {
  rogue_record(r, 22, r->transcript.p + r->hello.n, r->sizes[2] + 4);
}
static void update_of_13(rogue *r) { rogue_record(r, 22, "\x18\0\0\1\0", 5); }
static void empty_handshake(rogue *r) { rogue_record(r, 22, NULL, 0); }

static const struct {
  const char *name;
  void (*run)(rogue *r);
  int alert;
} data_cases[] = {
    {"wrong_tag", wrong_tag, TLS_ALERT_BAD_RECORD_MAC},
    {"wrong_nonce", wrong_nonce, TLS_ALERT_BAD_RECORD_MAC},
    {"too_short", too_short, TLS_ALERT_BAD_RECORD_MAC},
    {"too_long", too_long, TLS_ALERT_RECORD_OVERFLOW},
    {"clear_data", clear_data, TLS_ALERT_BAD_RECORD_MAC},
    {"empty_flood", empty_flood, TLS_ALERT_UNEXPECTED_MESSAGE},
    {"warning_flood", warning_flood, TLS_ALERT_UNEXPECTED_MESSAGE},
    {"request_flood", request_flood, TLS_ALERT_UNEXPECTED_MESSAGE},
    {"change_again", change_again, TLS_ALERT_UNEXPECTED_MESSAGE},
    {"hello_again", hello_again, TLS_ALERT_UNEXPECTED_MESSAGE},
    {"update_of_13", update_of_13, TLS_ALERT_UNEXPECTED_MESSAGE},
    {"empty_handshake", empty_handshake, TLS_ALERT_UNEXPECTED_MESSAGE},
};

static void run_data_cases(void) {
  for (size_t i = 0; i < sizeof data_cases / sizeof data_cases[0]; i++) {
    int before = unit_failed;
    rogue *r = rogue_start(0x0303, 0xc02b, ROGUE_P256, NULL);
    CHECK(connect12(r));
    data_cases[i].run(r);
    rogue_record(r, 23, "secret", 6);
    rogue_pump(r);
    rogue_drain(r);
    CHECK_INT(r->alert, data_cases[i].alert);
    CHECK_INT(r->alert_level, 2);
    CHECK_INT(r->data.n, 0);
    CHECK_INT(r->unreadable, 0);
    rogue_stays_failed(r);
    rogue_end(r);
    if (unit_failed > before) printf("  in %s\n", data_cases[i].name);
  }
}

static void allowed(void) {
  static const struct {
    unsigned suite;
    rogue_key key;
  } all[] = {{0xc02b, ROGUE_P256}, {0xc02b, ROGUE_P384}, {0xc02b, ROGUE_ED25519},
             {0xc02f, ROGUE_RSA},  {0xc030, ROGUE_RSA},  {0xcca9, ROGUE_P256},
             {0xc02f, ROGUE_PSS}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    rogue *r = rogue_start(0x0303, all[i].suite, all[i].key, NULL);
    r->packing = 1 + 7 * i;
    CHECK(connect12(r));
    r->packing = 0;
    /* HelloRequest: no, but the connection goes on (RFC 5246 7.4.1.1). */
    rogue_record(r, 22, "\0\0\0\0", 4);
    rogue_record(r, 23, "data", 4);
    rogue_record(r, 23, NULL, 0);
    rogue_pump_by(r, 3);
    rogue_drain(r);
    CHECK_INT(r->alert, TLS_ALERT_NO_RENEGOTIATION);
    CHECK_INT(r->alert_level, 1);
    CHECK_INT(r->failed, 0);
    CHECK_TEXT(r->data.p, r->data.n, "data");
    rogue_record(r, 21, "\1\0", 2);
    rogue_record(r, 23, "more", 4);
    rogue_pump(r);
    CHECK_INT(r->ended, 1);
    CHECK_INT(r->data.n, 4);
    rogue_end(r);
  }
  /* The old master secret, where that is allowed. */
  const tls_config config = {.allow_no_extended_master_secret = 1};
  rogue *r = rogue_start(0x0303, 0xc02b, ROGUE_P256, &config);
  m.no_ems = 1;
  CHECK(connect12(r));
  m.no_ems = 0;
  rogue_end(r);
}

/* Every length and every byte of every message. */
static void cut_and_flipped(void) {
  static const int types[] = {2, 11, 12, 14, 20};
  size_t sizes[32];
  rogue *r = rogue_start(0x0303, 0xc02b, ROGUE_ED25519, NULL);
  CHECK(connect12(r));
  memcpy(sizes, r->sizes, sizeof sizes);
  rogue_end(r);
  for (int i = 0; i < 5; i++) {
    for (size_t at = 0; at < 2 * sizes[types[i]] + 6; at++) {
      int flips = at > sizes[types[i]] + 1;
      if (at == sizes[types[i]]) continue;
      r = rogue_start(0x0303, 0xc02b, ROGUE_ED25519, NULL);
      if (flips) {
        r->flip_type = types[i];
        r->flip_at = at - sizes[types[i]] - 2;
      } else {
        r->cut_type = types[i];
        r->cut = (int)at;
      }
      if (!CHECK(!connect12(r) && r->connected == 0)) printf("  message %d at %zu\n", types[i], at);
      CHECK(tls_failed(&r->client).alert != TLS_ALERT_INTERNAL_ERROR);
      rogue_end(r);
    }
  }
}

int main(void) {
  rogue_make_identities();
  allowed();
  run_cases();
  run_data_cases();
  cut_and_flipped();
  rogue_free_identities();
  return unit_done("tls_rogue12");
}
