/*
** What a client does beside the handshake's order (tls_handshake.c): what its configuration asks
** for, resumption, the end of a connection, sizes, new keys.
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

/* ---- Resumption ------------------------------------------------------------------------------ */

static void resumption(void) {
  static const char *const others[] = {"other", NULL};
  tls_config config = base();
  const script first = {TO("gives a ticket", GOOD "T|", TLS_ALERT_NONE)};
  script again = {TO("resumes", "H|!EF|!?=<T|", TLS_ALERT_NONE), .psk = 1};
  const script declined = {TO("takes none", GOOD, TLS_ALERT_NONE)};
  session.used = 0;
  run(&first, &config);
  CHECK_INT(session.used, 1);
  CHECK_TEXT(session.ticket, session.ticket_size, "ticket");
  const tls_session kept = session;
  config.session = &kept;
  config.now = 2000;
  uint8_t psk[32];
  memcpy(psk, peer_server.psk, 32);
  run(&again, &config);
  /* The server still may want a full handshake; a resumed one has no certificate. */
  memcpy(peer_server.psk, psk, 32);
  run(&declined, &config);
  again.steps = "H|!EC|";
  again.expected = TLS_ALERT_UNEXPECTED_MESSAGE;
  memcpy(peer_server.psk, psk, 32);
  run(&again, &config);
  again = (script){TO("another than was offered", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .psk = 2};
  run(&again, &config);
  again = (script){TO("without a key share", "H|", TLS_ALERT_MISSING_EXTENSION), .psk = 1,
                   .no_share = 1};
  run(&again, &config);
  again =
      (script){TO("of another hash", "H|", TLS_ALERT_ILLEGAL_PARAMETER), .psk = 1, .suite = 0x1302};
  run(&again, &config);
  /* Where it is not to be offered, the server must not resume. */
  again = (script){TO("was not offered", "H|", TLS_ALERT_UNSUPPORTED_EXTENSION), .psk = 1};
  tls_config c[5];
  tls_trust other = {0};
  tls_session broken = kept;
  other.identity[0] = 1;
  for (size_t i = 0; i < 5; i++) c[i] = config;
  c[0].server_name = "other.example";
  c[1].alpn = others;
  c[2].trust = &other;
  c[3].now = 1000 + 7200;
  broken.secret_size = 48;
  c[4].session = &broken;
  for (size_t i = 0; i < 5; i++) run(&again, &c[i]);
  c[3].now = 1000 + 7199;
  again = (script){TO("at its last second", "H|!EF|!?=<", TLS_ALERT_NONE), .psk = 1};
  memcpy(peer_server.psk, psk, 32);
  run(&again, &c[3]);
}

/* Tickets that are not kept, and how long the others are good for. */
static void tickets(void) {
  static const struct {
    const char *lifetime;
    size_t size;
    int kept;
    uint32_t seconds;
  } cases[] = {{"00000001", 0, 1, 1},
               {"00000000", 0, 0, 0}, /* to be discarded at once */
               {"00093a80", 0, 1, 604800},
               {"00093a81", 0, 1, 604800}, /* a week is the longest */
               {"ffffffff", 0, 1, 604800},
               {"00000001", TLS_TICKET_MAX, 1, 1},
               {"00000001", TLS_TICKET_MAX + 1, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const tls_config config = base();
    const script s = {TO("gives a ticket", GOOD "T|<", TLS_ALERT_NONE),
                      .lifetime = cases[i].lifetime, .ticket_size = cases[i].size};
    session.used = 0;
    run(&s, &config);
    CHECK_INT(session.used, cases[i].kept);
    if (!session.used) continue;
    CHECK_INT(session.lifetime, cases[i].seconds);
    CHECK_INT(session.ticket_size, cases[i].size ? cases[i].size : 6);
  }
  /* TLS 1.2: too long a one, and what has no extended master secret. */
  static const script not_kept[] = {
      {TO("a long ticket", "hcxo|?=t|sf|<", TLS_ALERT_NONE), .hello = "00230000",
       .ticket_size = TLS_TICKET_MAX + 1},
      {TO("the old master secret", "hcxo|?=t|sf|<", TLS_ALERT_NONE), .hello = "00230000",
       .no_master = 1},
      {TO("the old master secret, by id", "hcxo|?=sf|<", TLS_ALERT_NONE), .id = "0102",
       .no_master = 1},
  };
  for (size_t i = 0; i < sizeof not_kept / sizeof not_kept[0]; i++) {
    tls_config config = base();
    config.allow_no_extended_master_secret = 1;
    session.used = 0;
    run(&not_kept[i], &config);
    CHECK_INT(session.used, 0);
  }
}

/* A chain of sessions, each resumed by the one before, ends a week after the certificate was
** looked at, in both versions. */
static void verified_anew(void) {
  static const script fulls[] = {{TO("gives a ticket", GOOD "T|", TLS_ALERT_NONE)},
                                 {TO("gives an id", "hcxo|?=sf|<", TLS_ALERT_NONE), .id = "0102"}};
  static const script resumes[] = {
      {TO("resumes", "H|!EF|!?=<T|", TLS_ALERT_NONE), .psk = 1},
      {TO("renews", "ht|sf|?=<", TLS_ALERT_NONE), .resumes = 1, .hello = "00230000"}};
  static const script refused[] = {
      {TO("was not offered", "H|", TLS_ALERT_UNSUPPORTED_EXTENSION), .psk = 1},
      {TO("was not offered", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .resumes = 1}};
  static const int64_t week = 604800;
  for (int old = 0; old < 2; old++) {
    tls_config config = base();
    config.max_version = old ? 0x0303 : 0;
    session.used = 0;
    run(&fulls[old], &config);
    CHECK_INT(session.verified, config.now);
    for (int i = 0; i < 3; i++) {
      tls_session kept = session;
      /* As old as may be, if it were not for the certificate. */
      config.now = 1000 + (i < 2 ? (i + 1) * 7199 : week - 1);
      kept.received = config.now;
      config.session = &kept;
      session.used = 0;
      run(&resumes[old], &config);
      CHECK_INT(session.used, 1);
      CHECK_INT(session.verified, 1000);
    }
    tls_session kept = session;
    kept.received = config.now = 1000 + week;
    config.session = &kept;
    config.max_version = 0; /* so that there is an id to echo */
    run(&refused[old], &config);
  }
}

/* What fails leaves nothing to resume: by our alert, by the server's, in the record that ends the
** handshake. */
static void no_session_of_failures(void) {
  static const script failures[] = {
      {TO("ours", GOOD "T|S", TLS_ALERT_UNEXPECTED_MESSAGE)},
      {TO("the server's", GOOD "T|X", TLS_ALERT_HANDSHAKE_FAILURE)},
      {TO("more in Finished's record", "hcxo|?=t|sfx|", TLS_ALERT_UNEXPECTED_MESSAGE),
       .hello = "00230000"},
  };
  const tls_config config = base();
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    session.used = 0;
    run(&failures[i], &config);
    CHECK_INT(session.used, 0);
  }
}

/* TLS 1.2: by ticket and by id, which the server may decline, but may not turn into another
** session. */
static void resumption_12(void) {
  static const char *const hellos[] = {"00230000", NULL}, *const ids[] = {NULL, "0102030405060708"};
  static const char *const firsts[] = {"hcxo|?=t|sf|<", "hcxo|?=sf|<"};
  for (int by_id = 0; by_id < 2; by_id++) {
    tls_config config = base();
    config.allow_no_extended_master_secret = 1;
    const script first = {TO("gives a session", firsts[by_id], TLS_ALERT_NONE),
                          .hello = hellos[by_id], .id = ids[by_id]};
    script again = {TO("resumes", "h|sf|?=<", TLS_ALERT_NONE), .resumes = 1};
    session.used = 0;
    run(&first, &config);
    CHECK_INT(session.used, 1);
    CHECK_INT(session.version, 0x0303);
    CHECK_INT(session.ticket_size, by_id ? 0 : 1);
    CHECK_INT(session.id_size, by_id ? 8 : 0);
    const tls_session kept = session;
    uint8_t master[48];
    memcpy(master, peer_server.master, 48);
    CHECK_BYTES(session.secret, session.secret_size, master, 48);
    config.session = &kept;
    if (by_id) config.now += 500; /* the ticket is good for a second */
    for (int only = 0; only < 2; only++) {
      config.max_version = only ? 0x0303 : 0;
      session.used = 0;
      memcpy(peer_server.master, master, 48);
      run(&again, &config);
      /* Without a new ticket the old one goes on. */
      CHECK_INT(session.used, 1);
      CHECK_INT(session.received, kept.received);
      CHECK_BYTES(session.secret, session.secret_size, master, 48);
    }
    const script renews = {TO("renews", "ht|sf|?=<", TLS_ALERT_NONE), .resumes = 1,
                           .hello = "00230000"};
    memcpy(peer_server.master, master, 48);
    run(&renews, &config);
    CHECK_INT(session.lifetime, 1);
    const script declines = {TO("declines", GOOD12, TLS_ALERT_NONE)};
    run(&declines, &config);
    again = (script){TO("of another suite", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .resumes = 1,
                     .suite = 0xc02f};
    run(&again, &config);
    again = (script){TO("the old master secret", "h|", TLS_ALERT_HANDSHAKE_FAILURE), .resumes = 1,
                     .no_master = 1};
    run(&again, &config);
    again = (script){TO("wrong keys", "h|sf|", TLS_ALERT_BAD_RECORD_MAC), .resumes = 1};
    memset(peer_server.master, 1, 48);
    run(&again, &config);
    again = (script){TO("with a certificate", "hc|", TLS_ALERT_UNEXPECTED_MESSAGE), .resumes = 1};
    run(&again, &config);
    /* Offered to nobody else: the echo of an id that stands for nothing. */
    config.server_name = "other.example";
    again = (script){TO("was not offered", "h|", TLS_ALERT_ILLEGAL_PARAMETER), .resumes = 1};
    config.max_version = 0;
    run(&again, &config);
  }
}

/* openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=r */
static const char *const root =
    "3082016e30820115a00302010202146ff5aca4253eda20ff85ed8dbaf6b7ee9f7e54e1300a06082a8648ce3d"
    "040302300c310a300806035504030c01723020170d3236313133303231353333385a180f3231323631313036"
    "3231353333385a300c310a300806035504030c01723059301306072a8648ce3d020106082a8648ce3d030107"
    "03420004c065d2c6269d0d8386dd940faa5aded3f79ca934fe4dffa0960abfe0c97ddba79c0cd693a327cc06"
    "c3ef56f5fa05ced9171013a685f430e30c9d8bfd88038f64a3533051301d0603551d0e041604147192d6c650"
    "7f31585f89a1b2499915a79847aeeb301f0603551d230418301680147192d6c6507f31585f89a1b2499915a7"
    "9847aeeb300f0603551d130101ff040530030101ff300a06082a8648ce3d040302034700304402201bc051a0"
    "58c33cab65756ccbc93737d967a016f22a7294e8a5af251e6ceaff1c02207ea6c08d69b13a5a190a285bcb09"
    "75d3b0b76a3696c06a3505cb8435e7866322";

/* A trust that takes another root is another trust. */
static void identities(void) {
  static tls_anchor anchors[2];
  static uint8_t store[2000];
  static const uint8_t none[32];
  tls_trust roots;
  const bytes der = hex(root);
  tls_trust_init(&roots, anchors, 2, store, sizeof store);
  CHECK_BYTES(roots.identity, 32, none, 32);
  CHECK_INT(tls_trust_add_der(&roots, der.p, der.n), ECR_OK);
  CHECK(memcmp(roots.identity, none, 32) != 0);
  const tls_trust before = roots;
  CHECK_INT(tls_trust_add_der(&roots, der.p, der.n), ECR_OK);
  CHECK_BYTES(roots.identity, 32, before.identity, 32);
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
}

/* Only the cipher of its place, only before the first byte is out; then every record is its. */
static int sealed, opened;
static const ecr_aead *inner;

static ecr_status count_init(ecr_aead_context *context, const uint8_t *key) {
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

static void count_clear(ecr_aead_context *context) { inner->clear(context); }

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
  tls_clear(&client);
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
  resumption();
  resumption_12();
  tickets();
  verified_anew();
  no_session_of_failures();
  identities();
  ends();
  sizes();
  updates();
  limits();
  own_cipher();
  hostile_cipher();
  wiped();
  return unit_done("tls_client");
}
