/*
** Sessions: which are kept, what they are bound to, when they are offered, and that a server resumes
** nothing else.
*/
#include "tls/tlsInt.h"
#include "tls_script.h"

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
  /* A HelloRetryRequest of another hash than the session's ends the offer (RFC 8446 4.1.4). */
  tls_session longer = kept;
  longer.suite = 0x1302;
  longer.secret_size = 48;
  config.session = &longer;
  again = (script){TO("is not offered again", "R|?H|", TLS_ALERT_UNSUPPORTED_EXTENSION), .psk = 1,
                   .retry = "002c00050003616263"};
  run(&again, &config);
  config.session = &kept;
  /* Where it is not to be offered, the server must not resume. */
  again = (script){TO("was not offered", "H|", TLS_ALERT_UNSUPPORTED_EXTENSION), .psk = 1};
  static const uint8_t pins[1][32];
  tls_config c[9];
  tls_trust other = {0}, pinned = {.pins = pins, .pin_count = 1},
            whole = {.certificate_pins = pins, .certificate_pin_count = 1};
  tls_session broken = kept;
  other.identity[0] = 1;
  for (size_t i = 0; i < 9; i++) c[i] = config;
  c[0].server_name = "other.example";
  c[1].alpn = others;
  c[2].trust = &other;
  c[3].now = 1000 + 7200;
  broken.secret_size = 48;
  c[4].session = &broken;
  c[5].trust = &pinned;
  c[6].trust = &whole;
  c[7].alpn_required = 1;
  c[8].allow_no_extended_master_secret = 1;
  for (size_t i = 0; i < 9; i++) run(&again, &c[i]);
  c[3].now = 1000 + 7199;
  again = (script){TO("at its last second", "H|!EF|!?=<", TLS_ALERT_NONE), .psk = 1};
  memcpy(peer_server.psk, psk, 32);
  run(&again, &c[3]);
}

/* Sessions come from the caller, who may have kept them in a file. */
static void fitting(void) {
  tls_config config = base();
  const script first = {TO("gives a ticket", GOOD "T|", TLS_ALERT_NONE)};
  session.used = 0;
  run(&first, &config);
  tls_session broken[9];
  for (size_t i = 0; i < 9; i++) broken[i] = session;
  broken[0].used = 0;
  broken[1].version = 0x0303;
  broken[2].suite = 0xc02b;
  broken[3].suite = 0x1302; /* of a longer secret */
  broken[4].ticket_size = TLS_TICKET_MAX + 1;
  broken[5].ticket_size = 0;
  broken[6].id_size = 33;
  broken[7].received = config.now + 1;
  broken[8].verified = config.now + 1;
  CHECK_INT(tls_start(&client, &config, work, sizeof work), ECR_OK);
  CHECK_INT(tls_session_fits(tls_state_of(&client), &session), 1);
  CHECK_INT(tls_session_fits(tls_state_of(&client), NULL), 0);
  for (size_t i = 0; i < 9; i++) {
    if (!CHECK_INT(tls_session_fits(tls_state_of(&client), &broken[i]), 0)) printf("  %zu\n", i);
  }
  config.max_version = 0x0303;
  CHECK_INT(tls_start(&client, &config, work, sizeof work), ECR_OK);
  CHECK_INT(tls_session_fits(tls_state_of(&client), &session), 0);
  broken[1].suite = 0xc02b;
  broken[1].secret_size = 48;
  CHECK_INT(tls_session_fits(tls_state_of(&client), &broken[1]), 1);
  config.min_version = config.max_version = 0x0304;
  CHECK_INT(tls_start(&client, &config, work, sizeof work), ECR_OK);
  CHECK_INT(tls_session_fits(tls_state_of(&client), &broken[1]), 0);
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
      CHECK_INT(session.lifetime, kept.lifetime);
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

int main(void) {
  if (!peer_load()) {
    printf("tls_session: 0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  resumption();
  fitting();
  tickets();
  verified_anew();
  resumption_12();
  no_session_of_failures();
  identities();
  return unit_done("tls_session");
}
