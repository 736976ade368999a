/*
** What a client does beside the handshake's order (tls_handshake.c): what its configuration asks
** for, the end of a connection, sizes, new keys.
*/
#include "tls/tlsInt.h"
#include "tls_script.h"

/* ---- What depends on the configuration ------------------------------------------------------- */

static void configurations(void) {
  tls_config config = base();
  script good = {TO("a good one", GOOD, TLS_ALERT_NONE)},
         good12 = {TO("TLS 1.2", GOOD12, TLS_ALERT_NONE)};
  config.alpn_required = 1;
  good.expected = TLS_ALERT_NO_APPLICATION_PROTOCOL;
  run(&good, &config);
  good.expected = TLS_ALERT_NONE;
  good.encrypted = "0010000a0008077464732f382e30";
  run(&good, &config);
  config = base();
  good.encrypted = NULL;
  config.min_version = 0x0304;
  run(&good, &config);
  good12.expected = TLS_ALERT_PROTOCOL_VERSION;
  run(&good12, &config);
  config.min_version = 0x0303;
  config.max_version = 0x0303;
  good12.expected = TLS_ALERT_NONE;
  run(&good12, &config);
  good.expected = TLS_ALERT_PROTOCOL_VERSION;
  run(&good, &config);
  good12.random_end = "444f574e47524401"; /* no downgrade where 1.3 was not offered */
  good12.steps = "h|c|";
  start(&good12, &config);
  step(&peer_server, 'h');
  step(&peer_server, '|');
  deliver(&peer_server);
  CHECK_INT(last, TLS_OK);
  good12 = (script){TO("the old master secret", GOOD12, TLS_ALERT_NONE), .no_master = 1};
  config.allow_no_extended_master_secret = 1;
  run(&good12, &config);
}

static void refused_configurations(void) {
  static const char *const empty[] = {"", NULL};
  static char long_name[300], protocol[256];
  const char *const many[] = {"four",   protocol, protocol, protocol, protocol,
                              protocol, protocol, protocol, protocol, NULL};
  const tls_config good = base();
  tls_config c[10];
  for (size_t i = 0; i < 10; i++) c[i] = good;
  memset(long_name, 'a', sizeof long_name - 1);
  c[0].server_name = NULL;
  c[1].server_name = "";
  c[2].trust = NULL;
  c[3].min_version = 0x0302;
  c[4].max_version = 0x0305;
  c[5].min_version = 0x0304;
  c[5].max_version = 0x0303;
  c[6].alpn = empty;
  c[7].server_name = long_name;
  memset(protocol, 'p', 255);
  c[9].alpn = many + 1; /* 8 × 256 bytes, then 5 more */
  CHECK_INT(tls_start(&client, &c[9], work, sizeof work), ECR_OK);
  c[9].alpn = many;
  c[8].alpn = NULL;
  c[8].alpn_required = 1;
  for (size_t i = 0; i < 10; i++) {
    size_t n;
    CHECK_INT(tls_start(&client, &c[i], work, sizeof work), ECR_INVALID);
    CHECK(tls_output(&client, &n) == NULL);
  }
  CHECK_INT(tls_start(&client, &good, work, sizeof work - 1), ECR_INVALID);
}

/* SNI holds a DNS name without the dot at its end, and no address (RFC 6066 3). What is neither is
** told at once, before anybody hears of it. */
static void names(void) {
  static const struct {
    const char *name, *sni; /* NULL: none */
    ecr_status status;
  } cases[] = {{"db.example", "db.example", ECR_OK},
               {"db.example.", "db.example", ECR_OK},
               {"DB.example", "DB.example", ECR_OK},
               {"localhost", "localhost", ECR_OK},
               {"7.example", "7.example", ECR_OK},
               {"10.0.0.1", NULL, ECR_OK},
               {"::1", NULL, ECR_OK},
               {"fe80::1:2", NULL, ECR_OK},
               {"10.0.0.1.", NULL, ECR_INVALID},
               {"10.0.0.256", NULL, ECR_INVALID},
               {"[::1]", NULL, ECR_INVALID},
               {"fe80::1%eth0", NULL, ECR_INVALID},
               {"db_1.example", NULL, ECR_INVALID},
               {"b\xc3\xbc.example", NULL, ECR_INVALID},
               {"db.example:1433", NULL, ECR_INVALID},
               {".", NULL, ECR_INVALID}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tls_config config = base();
    size_t n;
    config.server_name = cases[i].name;
    if (!CHECK_INT(tls_start(&client, &config, work, sizeof work), cases[i].status)) {
      printf("  %s\n", cases[i].name);
    }
    const uint8_t *hello = tls_output(&client, &n);
    if (cases[i].status != ECR_OK) {
      CHECK(hello == NULL && strstr(tls_failed(&client).reason, "name") != NULL);
      continue;
    }
    /* The record's and the message's header, version, random, an id of 32 bytes, suites, compression. */
    const size_t suites = 5 + 4 + 2 + 32 + 33;
    const uint8_t *extension = hello + suites + 2 + hello[suites + 1] + 2 + 2;
    uint8_t sni[64] = {0};
    size_t size = 0, text = cases[i].sni ? strlen(cases[i].sni) : 0;
    if (cases[i].sni) {
      put_hex(sni, &size, "0000");
      put_number(sni, &size, text + 5, 2);
      put_number(sni, &size, text + 3, 2);
      put_hex(sni, &size, "00");
      put_number(sni, &size, text, 2);
      put(sni, &size, cases[i].sni, text);
      CHECK_BYTES(extension, size, sni, size);
    } else {
      CHECK(extension[0] != 0 || extension[1] != 0);
    }
  }
}

/* ---- The end, new keys, the limit ------------------------------------------------------------ */

static void connect_to(const script *s) {
  const tls_config config = base();
  start(s, &config);
  for (const char *p = s->steps; *p; p++) {
    step(&peer_server, *p);
    deliver(&peer_server);
  }
  CHECK_INT(tls_failed(&client).alert, TLS_ALERT_NONE);
}

static void ends(void) {
  const script good = {TO("a good one", GOOD, TLS_ALERT_NONE)};
  uint8_t more[] = {23, 3, 3, 0, 1, 0}, out[64];
  tls_received got;
  size_t n;
  /* Without close_notify data may be missing. */
  connect_to(&good);
  CHECK_INT(tls_receive_end(&client), TLS_FAILED);
  CHECK(tls_failed(&client).alert != TLS_ALERT_NONE);
  CHECK(tls_output(&client, &n) == NULL);
  /* After it nothing is taken. */
  connect_to(&good);
  step(&peer_server, 'N');
  deliver(&peer_server);
  CHECK_INT(last, TLS_END);
  CHECK_INT(tls_receive(&client, more, sizeof more, &got), TLS_END);
  CHECK_INT(got.size, 0);
  CHECK_INT(tls_receive_end(&client), TLS_END);
  /* We may still send, and close. */
  CHECK_INT(tls_seal(&client, more, 1, out, sizeof out, &n), ECR_OK);
  server_read(&peer_server, out, n);
  tls_close(&client);
  read_client(&peer_server);
  CHECK_INT(peer_server.from_client_type, 21);
  CHECK_BYTES(peer_server.from_client, peer_server.from_client_n, "\1", 2);
  CHECK_INT(tls_seal(&client, more, 1, out, sizeof out, &n), ECR_INVALID);
  CHECK_INT(tls_update_keys(&client), ECR_INVALID);
  /* Ours first: the server's data still come, and its new keys, unanswered. */
  connect_to(&good);
  tls_close(&client);
  read_client(&peer_server);
  for (const char *p = "u|+"; *p; p++) step(&peer_server, *p);
  deliver(&peer_server);
  CHECK(tls_output(&client, &n) == NULL);
  step(&peer_server, 'D');
  deliver(&peer_server);
  CHECK_INT(last, TLS_DATA);
  /* Before the end of the handshake. */
  const tls_config config = base();
  start(&good, &config);
  CHECK_INT(tls_seal(&client, more, 1, out, sizeof out, &n), ECR_INVALID);
  tls_close(&client);
  CHECK_INT(tls_failed(&client).alert, TLS_ALERT_USER_CANCELED);
}

static void sizes(void) {
  /* Handshake messages: the header alone is enough to refuse one. */
  for (unsigned more = 0; more < 2; more++) {
    uint8_t record[] = {22, 3, 3, 0, 4, 2, 0, TLS_MESSAGE_MAX >> 8, (uint8_t)more};
    const tls_config config = base();
    tls_received got;
    CHECK_INT(tls_start(&client, &config, work, sizeof work), ECR_OK);
    CHECK_INT(tls_receive(&client, record, sizeof record, &got), more ? TLS_FAILED : TLS_OK);
    CHECK_INT(tls_failed(&client).alert, more ? TLS_ALERT_DECODE_ERROR : TLS_ALERT_NONE);
  }
  static uint8_t big[TLS_PLAIN_MAX + 1], out[TLS_RECORD_MAX + 1];
  const script good = {TO("a good one", GOOD, TLS_ALERT_NONE)};
  size_t n;
  connect_to(&good);
  CHECK_INT(tls_seal_offset(&client), TLS_SEAL_OFFSET);
  CHECK_INT(tls_seal(&client, big, 0, out, sizeof out, &n), ECR_INVALID);
  CHECK_INT(tls_seal(&client, big, TLS_PLAIN_MAX + 1, out, sizeof out, &n), ECR_TOO_LONG);
  CHECK_INT(tls_seal(&client, big, 100, out, 121, &n), ECR_SHORT);
  CHECK_INT(tls_seal(&client, big, 100, out, 122, &n), ECR_OK);
  CHECK_INT(n, 122);
  server_read(&peer_server, out, n);
  CHECK_INT(tls_seal(&client, big, TLS_PLAIN_MAX, out, sizeof out, &n), ECR_OK);
  server_read(&peer_server, out, n);
  CHECK_INT(peer_server.from_client_n, TLS_PLAIN_MAX);
}

/* One request at a time; an answer for each of the server's that ours has not met yet. */
static void updates(void) {
  const script good = {TO("a good one", GOOD, TLS_ALERT_NONE)};
  server *v = &peer_server;
  size_t n, m;
  connect_to(&good);
  CHECK_INT(tls_update_keys(&client), ECR_OK);
  CHECK(tls_output(&client, &n) != NULL);
  CHECK_INT(tls_update_keys(&client), ECR_OK);
  CHECK(tls_output(&client, &m) != NULL);
  CHECK_INT(m, n);
  read_client(v);
  CHECK_BYTES(v->from_client, v->from_client_n, "\x18\0\0\1\1", 5);
  for (const char *p = "k|+<"; *p; p++) {
    step(v, *p);
    deliver(v);
  }
  CHECK_INT(tls_update_keys(&client), ECR_OK);
  CHECK(tls_output(&client, &m) != NULL);
  read_client(v);
  /* Two that ask, before we say anything: one answer. */
  connect_to(&good);
  for (const char *p = "u|+u|+"; *p; p++) {
    step(v, *p);
    deliver(v);
  }
  CHECK(tls_output(&client, &m) != NULL);
  CHECK_INT(m, n);
  read_client(v);
  CHECK_BYTES(v->from_client, v->from_client_n, "\x18\0\0\1", 5);
  talk(v);
}

/* The limit of records under one key: the update goes first, in both directions. */
static void limits(void) {
  const script good = {TO("a good one", GOOD, TLS_ALERT_NONE)};
  server *v = &peer_server;
  uint8_t out[64];
  size_t n, m;
  connect_to(&good);
  tls_state_of(&client)->write.limit = 3;
  for (int i = 0; i < 20; i++) {
    const uint64_t sequence = v->in.sequence;
    CHECK_INT(tls_seal(&client, (const uint8_t *)"x", 1, out, sizeof out, &n), ECR_OK);
    CHECK_INT(tls_output(&client, &m) != NULL, sequence == 3);
    read_client(v);
    server_read(v, out, n);
    CHECK_TEXT(v->from_client, v->from_client_n, "x");
    CHECK(v->in.sequence <= 3);
  }
  tls_state_of(&client)->write.limit = tls_state_of(&client)->read.limit = 4;
  int asked = 0;
  for (int i = 0; i < 20; i++) {
    step(v, 'D');
    deliver(v);
    CHECK_INT(last, TLS_DATA);
    v->from_client_n = 0;
    read_client(v);
    if (v->from_client_n != 5) continue;
    CHECK_BYTES(v->from_client, 5, "\x18\0\0\1\1", 5);
    asked++;
    step(v, 'D'); /* one more before it answers, for which it is not asked again */
    deliver(v);
    CHECK(tls_output(&client, &m) == NULL);
    for (const char *p = "k|+"; *p; p++) step(v, *p);
    deliver(v);
  }
  CHECK(asked >= 3);
  talk(v);
  /* A server that does not do as it is asked has some records more, and is then cut off. */
  connect_to(&good);
  tls_state_of(&client)->read.limit = 4;
  tls_state_of(&client)->read.most = 8;
  const uint64_t before = tls_state_of(&client)->read.sequence;
  for (uint64_t i = before; i <= 8; i++) {
    CHECK_INT(tls_failed(&client).alert, TLS_ALERT_NONE);
    step(v, 'D');
    deliver(v);
    CHECK_INT(last, i < 8 ? TLS_DATA : TLS_FAILED);
  }
  CHECK_INT(tls_failed(&client).alert, TLS_ALERT_INTERNAL_ERROR);
}

/* Only the cipher of its place, only before the first byte is out; then every record is its. */
static int sealed, opened, begun, cleared;
static const ecr_aead *inner;

static ecr_status count_init(ecr_aead_context *context, const uint8_t *key) {
  begun++;
  return inner->init(context, key);
}

static ecr_status count_seal(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                             const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                             uint8_t *out, size_t out_size) {
  sealed++;
  return inner->seal(context, nonce, aad, aad_size, in, n, out, out_size);
}

static ecr_status count_open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                             const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                             uint8_t *out, size_t out_size) {
  opened++;
  return inner->open(context, nonce, aad, aad_size, in, n, out, out_size);
}

static void count_clear(ecr_aead_context *context) {
  cleared++;
  inner->clear(context);
}

static void own_cipher(void) {
  static ecr_aead mine = {"aes128gcm", "mine",     16,         ECR_AEAD_CONTEXT,
                          count_init,  count_seal, count_open, count_clear};
  const script good = {TO("a good one", GOOD, TLS_ALERT_NONE)};
  const ecr_aead *aeads[ECR_CIPHERS] = {&mine}, *wrong[ECR_CIPHERS] = {NULL, &mine};
  const tls_config config = base();
  tls_agreed agreed;
  size_t n;
  inner = ecr_aead_get(ECR_AES_128_GCM, NULL);
  CHECK_INT(tls_start(&client, &config, work, sizeof work), ECR_OK);
  CHECK_INT(tls_use_aead(&client, wrong), ECR_INVALID);
  mine.context_size++;
  CHECK_INT(tls_use_aead(&client, aeads), ECR_INVALID);
  mine.context_size--;
  mine.key_size = 64;
  CHECK_INT(tls_use_aead(&client, aeads), ECR_INVALID);
  mine.key_size = 16;
  CHECK_INT(tls_use_aead(&client, aeads), ECR_OK);
  CHECK(tls_output(&client, &n) != NULL);
  CHECK_INT(tls_use_aead(&client, aeads), ECR_INVALID);

  server *v = &peer_server;
  use_aeads = aeads;
  start(&good, &config);
  for (const char *p = GOOD; *p; p++) {
    step(v, *p);
    deliver(v);
  }
  use_aeads = NULL;
  CHECK_INT(opened, 2); /* the flight, and "answer" */
  CHECK_INT(sealed, 2); /* Finished, and "question" */
  tls_agreed_get(&client, &agreed);
  CHECK_STR(agreed.cipher_backend, "mine");
  CHECK_STR(agreed.suite, "TLS_AES_128_GCM_SHA256");
  CHECK_STR(agreed.group, "x25519");
  CHECK_INT(agreed.version, 0x0304);
  CHECK_INT(agreed.resumed, 0);
  CHECK(agreed.alpn == NULL);
  /* Two keys in each direction, each cleared when the next comes or at the end. */
  CHECK_INT(begun, 4);
  CHECK_INT(cleared, 2);
  tls_clear(&client);
  CHECK_INT(cleared, 4);
}

/* ---- A hostile cipher: it may break the connection, and nothing more ------------------------- */

static int forgery; /* 0: zeros; 1: ones; 2: a flight of its own, whose signature is nobody's */

static ecr_status forge_open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                             const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                             uint8_t *out, size_t out_size) {
  static const char flight[] =
      "0800000200000b00000c0000000800000341424300000f0000080403000401020304"
      "14000020";
  (void)context;
  (void)nonce;
  (void)aad;
  (void)aad_size;
  (void)in;
  (void)n;
  opened++;
  memset(out, forgery == 1 ? 0xff : 0, out_size);
  const bytes forged = hex(flight);
  if (forgery == 2 && out_size > forged.n + 33) {
    memcpy(out, forged.p, forged.n);
    out[forged.n + 32] = 22; /* the type, behind a Finished of zeros */
  }
  return ECR_OK;
}

static void hostile_cipher(void) {
  static const tls_alert expected[] = {TLS_ALERT_UNEXPECTED_MESSAGE, TLS_ALERT_UNEXPECTED_MESSAGE,
                                       TLS_ALERT_DECRYPT_ERROR};
  static const ecr_aead hostile = {"aes128gcm", "hostile",  16,         ECR_AEAD_CONTEXT,
                                   count_init,  count_seal, forge_open, count_clear};
  const ecr_aead *const aeads[ECR_CIPHERS] = {&hostile};
  const script good = {TO("a good one", GOOD, TLS_ALERT_NONE)};
  const tls_config config = base();
  inner = ecr_aead_get(ECR_AES_128_GCM, NULL);
  use_aeads = aeads;
  for (forgery = 0; forgery < 3; forgery++) {
    opened = 0;
    start(&good, &config);
    for (const char *p = "H|!ECVF|"; *p && last != TLS_FAILED; p++) {
      step(&peer_server, *p);
      deliver(&peer_server);
    }
    CHECK_INT(opened, 1);
    CHECK_INT(connections, 0);
    CHECK_INT(tls_failed(&client).alert, expected[forgery]);
    tls_clear(&client);
  }
  use_aeads = NULL;
}

/* No secret is left: neither in the client nor in its work. */
static void wiped(void) {
  const script good = {TO("a good one", GOOD, TLS_ALERT_NONE)};
  const server *v = &peer_server;
  const tls_config config = base();
  uint8_t scalar[32];
  /* The key share's scalar is gone once the secret is agreed. */
  start(&good, &config);
  memcpy(scalar, tls_state_of(&client)->hs.scalar, sizeof scalar);
  CHECK(memmem(&client, sizeof client, scalar, sizeof scalar) != NULL);
  for (const char *p = "H|"; *p; p++) step(&peer_server, *p);
  deliver(&peer_server);
  CHECK_INT(last, TLS_OK);
  CHECK(!memmem(&client, sizeof client, scalar, sizeof scalar));
  CHECK(!memmem(work, sizeof work, scalar, sizeof scalar));
  connect_to(&good);
  /* The handshake's secrets are gone once it is over. */
  for (int i = 0; i < 2; i++) CHECK(!memmem(&client, sizeof client, v->secrets[i], 32));
  CHECK(memmem(&client, sizeof client, v->secrets[2], 32) != NULL);
  CHECK(!memmem(&client, sizeof client, v->schedule, 32));
  for (const char *p = "T|"; *p; p++) step(&peer_server, *p);
  deliver(&peer_server);
  CHECK(memmem(&client, sizeof client, v->psk, 32) != NULL);
  tls_clear(&client);
  for (int i = 0; i < 4; i++) CHECK(!memmem(&client, sizeof client, v->secrets[i], 32));
  CHECK(!memmem(&client, sizeof client, v->psk, 32));
  for (size_t i = 0; i < sizeof work; i++) {
    if (work[i]) {
      CHECK_INT(work[i], 0);
      break;
    }
  }
  /* A failure leaves no keys either. */
  connect_to(&good);
  step(&peer_server, 'S');
  deliver(&peer_server);
  CHECK_INT(last, TLS_FAILED);
  for (int i = 0; i < 4; i++) CHECK(!memmem(&client, sizeof client, v->secrets[i], 32));
  CHECK_BYTES(tls_state_of(&client)->resumption, 48, ((const uint8_t[48]){0}), 48);
  CHECK(tls_state_of(&client)->read.aead == NULL && tls_state_of(&client)->write.aead == NULL);
}

int main(void) {
  if (!peer_load()) {
    printf("tls_client: 0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  configurations();
  refused_configurations();
  names();
  ends();
  sizes();
  updates();
  limits();
  own_cipher();
  hostile_cipher();
  wiped();
  return unit_done("tls_client");
}
