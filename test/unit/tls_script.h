/*
** tls_script.h: tls_peer.h's server, told by letters what to send, and the client that it is sent
** to. The letters are at the function `step`.
*/
#ifndef EDB_UNIT_TLS_SCRIPT_H
#define EDB_UNIT_TLS_SCRIPT_H

#include "tls_peer.h"

static tls_client client;
static uint8_t work[TLS_WORK];
static tls_status last;  /* what tls_receive said last */
static int connections;  /* how often TLS_CONNECTED came */
static uint8_t data[64]; /* application data that came */
static size_t data_n;
static tls_session session; /* the newest that was given */
static size_t chunk;        /* the client gets so many bytes at a time; 0: all there is */

/* ---- What the server sends ------------------------------------------------------------------- */

static const char *const retry_random =
    "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";

static void hello_extensions(server *v, uint8_t *out, size_t *n, int retry) {
  const script *s = v->s;
  uint8_t share[32];
  if (!(retry ? s->no_retry_versions : s->no_versions)) put_hex(out, n, "002b00020304");
  if (retry) {
    put_hex(out, n, s->retry);
    return;
  }
  peer_share(share);
  if (s->zero_share) memset(share, 0, sizeof share);
  if (!s->no_share) {
    put_hex(out, n, "00330024");
    put_number(out, n, s->group ? s->group : 0x1d, 2);
    put_hex(out, n, "0020");
    put(out, n, share, 32);
  }
  if (s->psk) {
    put_hex(out, n, "00290002");
    put_number(out, n, s->psk - 1, 2);
  }
  put_hex(out, n, s->hello);
}

/* A ServerHello of TLS 1.3 or 1.2, or a HelloRetryRequest. */
static void send_hello(server *v, int version, int retry) {
  const script *s = v->s;
  uint8_t body[400], block[300], random[32];
  size_t n = 0, block_n = 0, at = 24;
  const unsigned suite = retry && s->second_suite ? s->second_suite : s->suite;
  memset(random, 'r', sizeof random);
  put_hex(random, &at, s->random_end);
  put_number(body, &n, s->legacy ? s->legacy : 0x0303, 2);
  if (retry) {
    put_hex(body, &n, retry_random);
  } else {
    put(body, &n, random, 32);
  }
  const size_t echo = (version == 12 && !s->resumes) || s->no_echo ? 0 : v->session_id_n;
  const bytes id = hex(s->id ? s->id : "");
  put_number(body, &n, echo + id.n, 1);
  put(body, &n, v->session_id, echo);
  put(body, &n, id.p, id.n);
  put_number(body, &n, suite ? suite : version == 12 ? 0xc02b : 0x1301, 2);
  put_number(body, &n, (size_t)s->compression, 1);
  if (version == 13) {
    hello_extensions(v, block, &block_n, retry);
  } else {
    if (!s->no_renegotiation) put_hex(block, &block_n, "ff01000100");
    if (!s->no_master) put_hex(block, &block_n, "00170000");
    put_hex(block, &block_n, s->hello);
  }
  put_number(body, &n, block_n, 2);
  put(body, &n, block, block_n);
  if (retry) { /* the transcript's beginning becomes a hash */
    uint8_t hash[32];
    server_hash(v, hash);
    v->transcript_n = 0;
    put_hex(v->transcript, &v->transcript_n, "fe000020");
    put(v->transcript, &v->transcript_n, hash, 32);
  }
  server_message(v, 2, body, n - (size_t)s->short_body, 1);
}

/* The next secrets of TLS 1.3: of the handshake, then of the data. */
static void next_secrets(server *v, int handshake) {
  static const char *const labels[] = {"c hs traffic", "s hs traffic", "c ap traffic",
                                       "s ap traffic"};
  uint8_t hash[32], none[32] = {0}, empty[32], salt[32], shared[32];
  SHA256(none, 0, empty);
  if (handshake) {
    peer_hmac(none, 0, v->s->psk ? v->psk : none, 32, v->schedule);
    peer_agree(v->client_share, shared);
  }
  peer_label(v->schedule, "derived", empty, 32, salt, 32);
  peer_hmac(salt, 32, handshake ? shared : none, 32, v->schedule);
  server_hash(v, hash);
  for (int i = handshake ? 0 : 2; i < (handshake ? 2 : 4); i++) {
    peer_label(v->schedule, labels[i], hash, 32, v->secrets[i], 32);
  }
}

static void switch_keys(server *v) {
  const int handshake = v->switched++ == 0;
  if (handshake) next_secrets(v, 1);
  if (handshake) direction_secret(&v->in, v->secrets[0]);
  direction_secret(&v->out, v->secrets[handshake ? 1 : 3]);
}

static void send_extensions(server *v) {
  uint8_t body[400];
  size_t n = 2;
  put_hex(body, &n, v->s->encrypted);
  body[0] = (uint8_t)((n - 2) >> 8);
  body[1] = (uint8_t)(n - 2);
  server_message(v, 8, body, n, 1);
}

static void send_request(server *v) {
  uint8_t body[400];
  size_t n = 0;
  put_hex(body, &n, v->s->context ? "0107" : "00");
  put_hex(body, &n, v->s->request ? v->s->request : "0008000d000400020403");
  server_message(v, 13, body, n, 1);
}

static void send_certificate(server *v, int version) {
  uint8_t body[400];
  size_t n = 0;
  const char *block = v->s->certificate ? v->s->certificate : "";
  const size_t count = v->s->empty_chain ? 0 : v->s->certificates ? v->s->certificates : 1;
  const size_t extensions = version == 13 ? 2 + strlen(block) / 2 : 0;
  if (version == 13) put_hex(body, &n, v->s->context ? "0107" : "00");
  put_number(body, &n, count * (3 + 3 + extensions), 3);
  for (size_t i = 0; i < count; i++) {
    put_hex(body, &n, "000003414243");
    if (version == 12) continue;
    put_number(body, &n, extensions - 2, 2);
    put_hex(body, &n, block);
  }
  server_message(v, 11, body, n, 1);
}

/* Scheme, and the SHA-256 of what is signed. */
static void put_signature(server *v, uint8_t *body, size_t *n, const uint8_t *content,
                          size_t size) {
  uint8_t signature[32];
  SHA256(content, size, signature);
  if (v->s->wrong_signature) signature[0] ^= 1;
  put_number(body, n, v->s->scheme ? v->s->scheme : 0x0403, 2);
  put_number(body, n, 32, 2);
  put(body, n, signature, 32);
}

static void send_verify(server *v) {
  static const char context[] = "TLS 1.3, server CertificateVerify";
  uint8_t body[64], content[200];
  size_t n = 0, size = 64;
  memset(content, ' ', 64);
  put(content, &size, context, sizeof context);
  server_hash(v, content + size);
  put_signature(v, body, &n, content, size + 32);
  server_message(v, 15, body, n, 1);
}

static void send_finished(server *v) {
  uint8_t hash[32], key[32], body[32];
  server_hash(v, hash);
  peer_label(v->secrets[1], "finished", NULL, 0, key, 32);
  peer_hmac(key, 32, hash, 32, body);
  if (v->s->wrong_finished) body[31] ^= 0x80;
  server_message(v, 20, body, 32 - (size_t)v->s->short_body, 1);
  next_secrets(v, 0);
}

static void send_key_exchange(server *v) {
  uint8_t body[200], content[200], share[32];
  size_t n = 0, size = 0;
  peer_share(share);
  if (v->s->zero_share) memset(share, 0, sizeof share);
  put_number(body, &n, v->s->curve_type ? (size_t)v->s->curve_type : 3, 1);
  put_number(body, &n, v->s->group ? v->s->group : 0x1d, 2);
  put_number(body, &n, 32, 1);
  put(body, &n, share, 32);
  put(content, &size, v->client_random, 32);
  memset(content + size, 'r', 32);
  size += 32;
  put(content, &size, body, n);
  put_signature(v, body, &n, content, size);
  server_message(v, 12, body, n, 1);
}

static void send_finished_12(server *v) {
  uint8_t hash[32], body[12];
  server_hash(v, hash);
  peer_prf(v->master, 48, "server finished", hash, 32, body, 12);
  if (v->s->wrong_finished) body[11] ^= 1;
  server_message(v, 20, body, 12, 1);
}

static void put_ticket(const script *s, uint8_t *body, size_t *n) {
  static const uint8_t large[TLS_TICKET_MAX + 1];
  put_number(body, n, s->ticket_size, 2);
  put(body, n, large, s->ticket_size);
}

static void send_ticket(server *v) {
  uint8_t body[TLS_TICKET_MAX + 300];
  size_t n = 0;
  put_hex(body, &n, v->s->lifetime ? v->s->lifetime : "00001c20");
  put_hex(body, &n, "000004d2 01 01");
  if (v->s->ticket_size) {
    put_ticket(v->s, body, &n);
  } else {
    put_hex(body, &n, "0006 7469636b6574");
  }
  put_hex(body, &n, v->s->ticket ? v->s->ticket : "0000");
  server_message(v, 4, body, n, 0);
}

static void send_ticket_12(server *v) {
  uint8_t body[TLS_TICKET_MAX + 300];
  size_t n = 0;
  put_hex(body, &n, v->s->ticket_size ? "00000001" : "00000001 0001 78");
  if (v->s->ticket_size) put_ticket(v->s, body, &n);
  server_message(v, 4, body, n, 1);
}

/* ---- Between the two ------------------------------------------------------------------------- */

static void flush(server *v, size_t pad) {
  if (v->flight_n) server_record(v, 22, v->flight, v->flight_n, pad);
  v->flight_n = 0;
}

/* All that was sent reaches the client, until it fails. */
static void deliver(server *v) {
  tls_received got;
  size_t have = 0;
  while (v->fed < v->wire_n && last != TLS_FAILED) {
    const size_t rest = v->wire_n - v->fed;
    have = chunk && have + chunk < rest ? have + chunk : rest;
    last = tls_receive(&client, v->wire + v->fed, have, &got);
    if (last == TLS_MORE) {
      CHECK(got.need > have && got.need <= TLS_RECORD_MAX);
      if (have == rest) return;
      continue;
    }
    v->fed += got.used;
    have = 0;
    connections += last == TLS_CONNECTED;
    if (last == TLS_DATA) {
      CHECK(got.size > 0 && got.size <= sizeof data);
      memcpy(data, got.data, got.size);
      data_n = got.size;
    }
  }
}

static void read_client(server *v) {
  size_t n;
  const uint8_t *p = tls_output(&client, &n);
  if (p) server_read(v, p, n);
  tls_sent(&client, n);
}

/* Bytes both ways, which only right keys bring through. */
static void talk(server *v) {
  uint8_t out[100];
  size_t n = 0;
  read_client(v);
  CHECK_INT(tls_seal(&client, (const uint8_t *)"question", 8, out, sizeof out, &n), ECR_OK);
  CHECK(n <= 8 + TLS_OVERHEAD);
  read_client(v);
  server_read(v, out, n);
  CHECK_TEXT(v->from_client, v->from_client_n, "question");
  server_record(v, 23, (const uint8_t *)"answer", 6, 0);
  deliver(v);
  CHECK_INT(last, TLS_DATA);
  CHECK_TEXT(data, data_n, "answer");
}

/* Whether the client's Finished is the right one: the transcript's end. TLS 1.3's and 1.2's. */
static void check_finished(server *v) {
  uint8_t hash[32], key[32], right[32];
  const size_t size = v->switched == 12 ? 12 : 32;
  CHECK_INT(v->from_client[0], 20);
  v->transcript_n -= 4 + size;
  server_hash(v, hash);
  v->transcript_n += 4 + size;
  if (size == 12) {
    peer_prf(v->master, 48, "client finished", hash, 32, right, 12);
  } else {
    peer_label(v->secrets[0], "finished", NULL, 0, key, 32);
    peer_hmac(key, 32, hash, 32, right);
  }
  CHECK_BYTES(v->from_client + 4, v->from_client_n - 4, right, size);
}

/* Letters. Handshake messages gather until '|' sends them as one record.
**   TLS 1.3:  H ServerHello, R HelloRetryRequest, E EncryptedExtensions, Q CertificateRequest,
**             C Certificate, V CertificateVerify, F Finished, T NewSessionTicket, k KeyUpdate, u one
**             that asks, + the server's next key, ! the handshake's keys, then those of the data
**   TLS 1.2:  h ServerHello, c Certificate, x ServerKeyExchange, q CertificateRequest,
**             o ServerHelloDone, t ticket, s CCS and new key, f Finished, g HelloRequest, G one that is not
**             empty
**   Both:     | a record, p one with padding, 1 the first half of what waits, S CCS, Y and y what is
**             none, Z an empty handshake record, A empty data, D data, P padding alone, W warning,
**             N close_notify, X fatal alert, e one that is none, ? reads the client, = whose
**             Finished is right, < talks both ways */
static void step(server *v, char letter) {
  static const uint8_t zero = 0, one = 1;
  switch (letter) {
  case 'H':
    send_hello(v, 13, 0);
    break;
  case 'R':
    send_hello(v, 13, 1);
    break;
  case 'h':
    send_hello(v, 12, 0);
    break;
  case 'E':
    send_extensions(v);
    break;
  case 'Q':
    send_request(v);
    break;
  case 'q':
    server_message(v, 13, (const uint8_t *)"\1\100\0\2\4\3\0\0", 8, 1);
    break;
  case 'C':
    send_certificate(v, 13);
    break;
  case 'c':
    send_certificate(v, 12);
    break;
  case 'V':
    send_verify(v);
    break;
  case 'x':
    send_key_exchange(v);
    break;
  case 'o':
    server_message(v, 14, NULL, 0, 1);
    break;
  case 'F':
    send_finished(v);
    break;
  case 'f':
    send_finished_12(v);
    break;
  case 'T':
    send_ticket(v);
    break;
  case 't':
    send_ticket_12(v);
    break;
  case 'g':
    server_message(v, 0, NULL, 0, 0);
    break;
  case 'G':
    server_message(v, 0, &one, 1, 0);
    break;
  case 'k':
    server_message(v, 24, &zero, 1, 0);
    break;
  case 'u':
    server_message(v, 24, &one, 1, 0);
    break;
  case '+':
    direction_next(&v->out);
    break;
  case '!':
    switch_keys(v);
    break;
  case 's':
    server_raw(v, "140303000101");
    if (v->s->resumes) server_keys_12(v);
    v->out = (direction){.version = 12};
    memcpy(v->out.key, v->block + 16, 16);
    memcpy(v->out.iv, v->block + 36, 4);
    break;
  case '|':
    flush(v, 0);
    break;
  case 'p':
    flush(v, 100);
    break;
  case '1': {
    const size_t half = v->flight_n / 2;
    server_record(v, 22, v->flight, half, 0);
    v->flight_n -= half;
    memmove(v->flight, v->flight + half, v->flight_n);
    break;
  }
  case 'S':
    server_raw(v, "140303000101");
    break;
  case 'Y':
    server_raw(v, "140303000102");
    break;
  case 'y':
    server_raw(v, "14030300020101");
    break;
  case 'e':
    server_record(v, 21, (const uint8_t *)"\2\377", 2, 0);
    break;
  case 'Z':
    server_record(v, 22, NULL, 0, 0);
    break;
  case 'A':
    server_record(v, 23, NULL, 0, 0);
    break;
  case 'D':
    server_record(v, 23, (const uint8_t *)"data", 4, 0);
    break;
  case 'P':
    server_record(v, 0, NULL, 0, 40);
    break;
  case 'W':
    server_record(v, 21, (const uint8_t *)"\1\132", 2, 0);
    break; /* user_canceled */
  case 'N':
    server_record(v, 21, (const uint8_t *)"\1\0", 2, 0);
    break;
  case 'X':
    server_record(v, 21, (const uint8_t *)"\2\50", 2, 0);
    break;
  case '?':
    read_client(v);
    break;
  case '=':
    check_finished(v);
    break;
  case '<':
    talk(v);
    break;
  default:
    CHECK_INT(letter, 0);
  }
}

static server peer_server;
static const ecr_aead *const *use_aeads; /* for the client, where set */

static const tls_trust trust;
static const char *const protocols[] = {"tds/8.0", "other", NULL};

static void start(const script *s, const tls_config *config) {
  server *v = &peer_server;
  uint8_t psk[32], master[48];
  memcpy(psk, v->psk, 32);
  memcpy(master, v->master, 48);
  memset(v, 0, sizeof *v);
  memcpy(v->psk, psk, 32); /* what resumes stays */
  memcpy(v->master, master, 48);
  v->s = s;
  last = TLS_OK;
  connections = 0;
  data_n = 0;
  peer_chain_answer = s->untrusted ? ECR_REFUSED : ECR_OK;
  peer_leaf = s->rsa_leaf ? TLS_KEY_RSA : TLS_KEY_P256;
  peer_modulus = s->rsa_leaf;
  CHECK_INT(tls_start(&client, config, work, sizeof work), ECR_OK);
  if (use_aeads) CHECK_INT(tls_use_aead(&client, use_aeads), ECR_OK);
  read_client(v);
  CHECK_INT(v->hellos, 1);
}

/* A server's steps; then the failure is the expected one, and its alert was sent. */
static void run(const script *s, const tls_config *config) {
  server *v = &peer_server;
  start(s, config);
  for (const char *p = s->steps; *p && last != TLS_FAILED; p++) {
    step(v, *p);
    deliver(v);
  }
  const tls_failure failure = tls_failed(&client);
  if (!CHECK_INT(failure.alert, s->expected) || unit_failed > 30) {
    printf("  %s (%s): %s\n", s->name, s->steps, failure.reason ? failure.reason : "no failure");
  }
  if (s->expected == TLS_ALERT_NONE) {
    CHECK_INT(connections, 1);
  } else {
    CHECK(failure.reason && last == TLS_FAILED);
    if (!failure.from_server && (v->in.version || !v->switched)) {
      size_t n;
      const uint8_t *p = tls_output(&client, &n);
      CHECK(p != NULL);
      if (p && (v->in.version || p[0] == 21)) {
        read_client(v);
        CHECK_INT(v->from_client_type, 21);
        CHECK_INT(v->from_client[1], s->expected);
      }
    }
    /* It stays failed. */
    tls_received got;
    size_t n;
    uint8_t record[] = {23, 3, 3, 0, 1, 0}, out[64];
    CHECK_INT(tls_receive(&client, record, sizeof record, &got), TLS_FAILED);
    CHECK_INT(tls_seal(&client, record, 1, out, sizeof out, &n), ECR_INVALID);
    CHECK_INT(tls_failed(&client).alert, s->expected);
  }
  tls_session_get(&client, &session);
  tls_clear(&client);
}

#define X4(s) s s s s
#define X16(s) X4(X4(s))
#define X33(s) X16(s) X16(s) s
#define GOOD "H|!ECVF|!?=<"
#define GOOD12 "h|c|x|o|?=sf|<"
#define TO(what, how, alert) .name = what, .steps = how, .expected = alert

static tls_config base(void) {
  return (tls_config){.server_name = "db.example", .trust = &trust, .now = 1000, .alpn = protocols};
}

#endif
