/*
** tls_rogue13_data.c: what a TLS 1.3 server must not get away with once connected; and what it may: new keys, tickets,
** padding, resumption.
*/
#include "rogue13.h"

static const char secret[] = "the eagle has landed";

static rogue *connected(const tls_config *config, unsigned suite) {
  rogue *r = rogue_start(0x0304, suite, ROGUE_P256, config);
  CHECK(r13_connect(r));
  return r;
}

/* ---- Refused: each begins with a connection that stands ------------------------------------------------------ */

static void say_message(rogue *r, const char *p, size_t n) { rogue_record(r, 22, p, n); }

static void wrong_tag(rogue *r) {
  rogue_record(r, 23, secret, sizeof secret);
  r->wire.p[r->wire.n - 1] ^= 1;
}
static void wrong_byte(rogue *r) {
  rogue_record(r, 23, secret, sizeof secret);
  r->wire.p[7] ^= 0x80;
}
static void wrong_length(rogue *r) {
  rogue_record(r, 23, secret, sizeof secret);
  r->wire.p[r->wire.n - 1] = 0;
  r->wire.p[4]--;
}
static void replayed(rogue *r) {
  rogue_record(r, 23, NULL, 0);
  put(&r->wire, r->wire.p, r->wire.n);
}
static void left_out(rogue *r) {
  rogue_record(r, 23, secret, sizeof secret);
  r->wire.n = 0;
  rogue_record(r, 23, secret, sizeof secret);
}
static void too_short(rogue *r) { rogue_raw(r, 23, "0123456789abcde", 15); }
static void empty_record(rogue *r) { rogue_raw(r, 23, NULL, 0); }
static void padding_alone(rogue *r) { rogue_padded(r, 0, NULL, 0, 100); }
static void long_on_the_wire(rogue *r) {
  static uint8_t much[16384 + 257];
  rogue_raw(r, 23, much, sizeof much);
}
static void long_inside(rogue *r) {
  static uint8_t much[16385];
  rogue_record(r, 23, much, sizeof much);
}
static void long_by_padding(rogue *r) {
  static uint8_t much[16384];
  rogue_padded(r, 23, much, sizeof much, 1);
}
static void empty_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) rogue_record(r, 23, NULL, 0);
}
static void update_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) r13_say_update(r, 0);
}
static void update_asking_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) r13_say_update(r, 1);
}
static void ticket_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) r13_say_ticket(r, "t");
}
static void update_of_two(rogue *r) { r13_say_update(r, 2); }
static void update_too_long(rogue *r) { say_message(r, "\x18\0\0\2\0\0", 6); }
static void update_empty(rogue *r) { say_message(r, "\x18\0\0\0", 4); }
/* Behind a KeyUpdate come other keys, so its record must end with it (5.1). */
static void update_with_more(rogue *r) { say_message(r, "\x18\0\0\1\0\x18\0\0\1\0", 10); }
static void update_with_half(rogue *r) { say_message(r, "\x18\0\0\1\0\x18", 6); }
static void data_by_old_keys(rogue *r) {
  rogue_keys old = r->out;
  r13_say_update(r, 0);
  old.sequence++;
  r->out = old;
  rogue_record(r, 23, secret, sizeof secret);
}
static void hello_request(rogue *r) { say_message(r, "\0\0\0\0", 4); }
static void hello_again(rogue *r) {
  say_message(r, (const char *)r->transcript.p + r->hello.n, r->sizes[2] + 4);
}
static void finished_again(rogue *r) {
  r->packing = 0;
  static rogue_bytes body;
  body.n = 32;
  rogue_say(r, 20, &body);
}
static void certificate_after(rogue *r) { r13_say_certificate(r, &rogue_leaf[ROGUE_P256]); }
/* We did not offer post_handshake_auth (4.6.2). */
static void request_after(rogue *r) { r13_say_request(r); }
static void extensions_after(rogue *r) { r13_say_extensions(r, NULL, 0); }
static void unknown_message(rogue *r) { say_message(r, "\x63\0\0\0", 4); }
static void message_too_long(rogue *r) { say_message(r, "\4\xff\xff\xff", 4); }
static void data_within_message(rogue *r) {
  say_message(r, "\4\0\0", 3);
  rogue_record(r, 23, secret, sizeof secret);
}
static void change_after(rogue *r) { rogue_raw(r, 20, "\1", 1); }
static void clear_handshake(rogue *r) { rogue_raw(r, 22, "\x18\0\0\1\0", 5); }
static void clear_alert(rogue *r) { rogue_raw(r, 21, "\1\0", 2); }
static void inner_change(rogue *r) { rogue_record(r, 20, "\1", 1); }
static void inner_unknown(rogue *r) { rogue_record(r, 99, secret, sizeof secret); }
static void outer_unknown(rogue *r) { rogue_raw(r, 99, secret, sizeof secret); }
static void empty_handshake(rogue *r) { rogue_record(r, 22, NULL, 0); }
static void empty_alert(rogue *r) { rogue_record(r, 21, NULL, 0); }
static void long_alert(rogue *r) { rogue_record(r, 21, "\1\0\0", 3); }
static void cancel_flood(rogue *r) {
  for (int i = 0; i < 1000; i++) rogue_record(r, 21, "\1\x5a", 2);
}
static void ticket_cut(rogue *r) { say_message(r, "\4\0\0\x0b\0\0\x0e\x10\0\0\0\0\0\0\5", 15); }
static void ticket_empty(rogue *r) {
  say_message(r, "\4\0\0\x0d\0\0\x0e\x10\0\0\0\0\0\0\0\0\0", 17);
}

#define CASE(name, alert)                                                                          \
  { #name, name, TLS_ALERT_##alert }

static const struct {
  const char *name;
  void (*run)(rogue *r);
  int alert;
} cases[] = {
    CASE(wrong_tag, BAD_RECORD_MAC),
    CASE(wrong_byte, BAD_RECORD_MAC),
    CASE(wrong_length, BAD_RECORD_MAC),
    CASE(replayed, BAD_RECORD_MAC),
    CASE(left_out, BAD_RECORD_MAC),
    CASE(too_short, BAD_RECORD_MAC),
    CASE(empty_record, BAD_RECORD_MAC),
    CASE(padding_alone, UNEXPECTED_MESSAGE),
    CASE(long_on_the_wire, RECORD_OVERFLOW),
    CASE(long_inside, RECORD_OVERFLOW),
    CASE(long_by_padding, RECORD_OVERFLOW),
    CASE(empty_flood, UNEXPECTED_MESSAGE),
    CASE(update_flood, UNEXPECTED_MESSAGE),
    CASE(update_asking_flood, UNEXPECTED_MESSAGE),
    CASE(ticket_flood, UNEXPECTED_MESSAGE),
    CASE(update_of_two, ILLEGAL_PARAMETER),
    CASE(update_too_long, DECODE_ERROR),
    CASE(update_empty, DECODE_ERROR),
    CASE(update_with_more, UNEXPECTED_MESSAGE),
    CASE(update_with_half, UNEXPECTED_MESSAGE),
    CASE(data_by_old_keys, BAD_RECORD_MAC),
    CASE(hello_request, UNEXPECTED_MESSAGE),
    CASE(hello_again, UNEXPECTED_MESSAGE),
    CASE(finished_again, UNEXPECTED_MESSAGE),
    CASE(certificate_after, UNEXPECTED_MESSAGE),
    CASE(request_after, UNEXPECTED_MESSAGE),
    CASE(extensions_after, UNEXPECTED_MESSAGE),
    CASE(unknown_message, UNEXPECTED_MESSAGE),
    CASE(message_too_long, DECODE_ERROR),
    CASE(data_within_message, UNEXPECTED_MESSAGE),
    CASE(change_after, UNEXPECTED_MESSAGE),
    CASE(clear_handshake, UNEXPECTED_MESSAGE),
    CASE(clear_alert, UNEXPECTED_MESSAGE),
    CASE(inner_change, UNEXPECTED_MESSAGE),
    CASE(inner_unknown, UNEXPECTED_MESSAGE),
    CASE(outer_unknown, UNEXPECTED_MESSAGE),
    CASE(empty_handshake, UNEXPECTED_MESSAGE),
    CASE(empty_alert, UNEXPECTED_MESSAGE),
    CASE(long_alert, DECODE_ERROR),
    CASE(cancel_flood, UNEXPECTED_MESSAGE),
    CASE(ticket_cut, DECODE_ERROR),
    CASE(ticket_empty, DECODE_ERROR),
};

static void run_cases(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int before = unit_failed;
    rogue *r = connected(NULL, 0x1301);
    cases[i].run(r);
    /* What comes behind it is not delivered either. */
    rogue_record(r, 23, secret, sizeof secret);
    r13_pump(r);
    CHECK_INT(r->alert, cases[i].alert);
    CHECK_INT(tls_failed(&r->client).alert, cases[i].alert);
    CHECK_INT(r->alert_level, 2);
    CHECK_INT(r->alerts, 1);
    CHECK_INT(r->unreadable, 0);
    CHECK_INT(r->data.n, 0);
    rogue_stays_failed(r);
    rogue_end(r);
    if (unit_failed > before) printf("  in %s\n", cases[i].name);
  }
}

/* ---- Allowed ------------------------------------------------------------------------------------------------ */

static void data_both_ways(rogue *r) {
  static uint8_t out[TLS_PLAIN_MAX + TLS_OVERHEAD];
  size_t n = 0;
  r->data.n = 0;
  rogue_record(r, 23, secret, sizeof secret);
  r13_pump(r);
  CHECK_BYTES(r->data.p, r->data.n, secret, sizeof secret);
  rogue_listen(r);
  CHECK_INT(tls_seal(&r->client, (const uint8_t *)secret, sizeof secret, out, sizeof out, &n),
            ECR_OK);
  rogue_listen(r);
  put(&r->got, out, n);
  r13_answers a = r13_pump(r);
  CHECK_INT(a.data, 1);
  CHECK_INT(r->unreadable, 0);
  CHECK_INT(r->failed, 0);
}

static void keys_and_padding(void) {
  rogue *r = connected(NULL, 0x1302);
  r13_answers a;
  data_both_ways(r);
  for (int ask = 0; ask < 2; ask++) {
    r13_say_update(r, ask);
    a = r13_pump(r);
    CHECK_INT(a.updates, ask); /* asked, it answers with one */
    data_both_ways(r);
  }
  /* One answer for all that came before it left (4.6.3). */
  for (int i = 0; i < 5; i++) r13_say_update(r, 1);
  a = r13_pump(r);
  CHECK(a.updates >= 1 && a.updates <= 5);
  data_both_ways(r);
  /* One request of ours at a time. */
  CHECK_INT(tls_update_keys(&r->client), ECR_OK);
  CHECK_INT(tls_update_keys(&r->client), ECR_OK);
  a = r13_pump(r);
  CHECK_INT(a.updates, 1);
  r13_say_update(r, 0);
  a = r13_pump(r);
  CHECK_INT(a.updates, 0);
  CHECK_INT(tls_update_keys(&r->client), ECR_OK);
  a = r13_pump(r);
  CHECK_INT(a.updates, 1);
  data_both_ways(r);
  /* The longest records that there may be, padded and not. */
  static uint8_t much[16384];
  r->data.n = 0;
  rogue_record(r, 23, much, sizeof much);
  rogue_padded(r, 23, secret, sizeof secret, 16384 - sizeof secret);
  rogue_record(r, 23, NULL, 0);
  rogue_padded(r, 23, NULL, 0, 16384);
  r13_pump_by(r, 1000);
  CHECK_INT(r->data.n, sizeof much + sizeof secret);
  /* A ticket in many records; user_canceled, which says nothing. */
  r->packing = 2;
  r13_say_ticket(r, "ticket");
  rogue_record(r, 21, "\1\x5a", 2);
  data_both_ways(r);
  rogue_end(r);
}

/* 6.1: what follows close_notify is ignored; an end without it is an error. */
static void closing(void) {
  rogue *r = connected(NULL, 0x1303);
  size_t n;
  rogue_record(r, 23, secret, sizeof secret);
  rogue_record(r, 21, "\1\0", 2);
  rogue_record(r, 23, secret, sizeof secret);
  r13_pump(r);
  CHECK_INT(r->ended, 1);
  CHECK_INT(r->data.n, sizeof secret);
  CHECK_INT(r->alert, -1);
  r13_pump(r);
  CHECK_INT(r->data.n, sizeof secret);
  CHECK_INT(tls_receive_end(&r->client), TLS_END);
  /* Our side may still speak, then ends too. */
  tls_close(&r->client);
  r13_pump(r);
  CHECK_INT(r->alert, 0);
  CHECK_INT(r->alert_level, 1);
  CHECK(tls_output(&r->client, &n) == NULL);
  rogue_end(r);

  r = connected(NULL, 0x1301);
  CHECK_INT(tls_receive_end(&r->client), TLS_FAILED);
  rogue_end(r);
  /* "all the error alerts … regardless of the AlertLevel" (6.2). */
  r = connected(NULL, 0x1301);
  rogue_record(r, 21, "\1\x28", 2);
  rogue_record(r, 23, secret, sizeof secret);
  r13_pump(r);
  CHECK_INT(r->failed, 1);
  CHECK_INT(tls_failed(&r->client).alert, TLS_ALERT_HANDSHAKE_FAILURE);
  CHECK_INT(tls_failed(&r->client).from_server, 1);
  CHECK_INT(r->data.n, 0);
  CHECK_INT(r->alert, -1); /* nothing is answered */
  rogue_end(r);
}

/* A failed tag leaves no plaintext in the caller's buffer. */
static void nothing_left(void) {
  static uint8_t in[TLS_RECORD_MAX];
  for (int cipher = 0; cipher < 3; cipher++) {
    rogue *r = connected(NULL, 0x1301 + (unsigned)cipher);
    tls_received got;
    int found = 0;
    rogue_record(r, 23, secret, sizeof secret);
    r->wire.p[r->wire.n - 1] ^= 1;
    memcpy(in, r->wire.p, r->wire.n);
    CHECK_INT(tls_receive(&r->client, in, r->wire.n, &got), TLS_FAILED);
    for (size_t i = 0; i + 4 < r->wire.n; i++) found |= memcmp(in + i, secret + 4, 5) == 0;
    CHECK(!found && got.data == NULL && got.size == 0);
    rogue_end(r);
  }
}

/* ---- Resumption ------------------------------------------------------------------------------------------------ */

static int resume(rogue *r, const uint8_t *psk, int index, unsigned suite, int with_certificate) {
  r13_hello h = r13_honest_hello(r);
  h.psk = psk;
  h.psk_index = index;
  h.suite = suite;
  r13_say_hello(r, &h);
  r13_say_extensions(r, NULL, 0);
  if (with_certificate) r13_say_certificate(r, &rogue_leaf[r->key]);
  if (with_certificate) r13_say_honest_verify(r);
  r13_say_finished(r, 0);
  r13_answers a = r13_pump(r);
  return r->connected && a.finished == 1;
}

/* The binder over the hello up to itself (4.2.11.2), reckoned anew. */
static void check_binder(const rogue *r, const uint8_t *psk) {
  rogue_bytes *hello = malloc(sizeof *hello);
  uint8_t none[64] = {0}, early[64], binder_key[64], expected[64];
  rogue_hmac(r, none, 32, psk, 32, early);
  r13_derive(r, early, "res binder", "", 0, binder_key);
  hello->n = 0;
  put(hello, r->hello.p, r->hello.n - 35);
  r13_verify_data(r, binder_key, hello, expected);
  CHECK_BYTES(r->hello.p + r->hello.n - 32, 32, expected, 32);
  free(hello);
}

static void resumption(void) {
  tls_session session = {0};
  uint8_t psk[32];
  tls_agreed agreed;
  const tls_config config = {.session = &session};
  rogue *r = connected(NULL, 0x1301);
  CHECK_INT(tls_session_get(&r->client, &session), 0);
  r13_say_ticket(r, "ticket");
  r13_pump(r);
  CHECK_INT(tls_session_get(&r->client, &session), 1);
  CHECK_INT(tls_session_get(&r->client, &(tls_session){0}), 0);
  r13_expand_label(r, r13.resumption, "resumption", (const uint8_t *)"n", 1, psk, 32);
  CHECK_BYTES(session.secret, session.secret_size, psk, 32);
  rogue_end(r);

  r = rogue_start(0x0304, 0x1301, ROGUE_P256, &config);
  CHECK(r->psk != NULL);
  CHECK_TEXT(r->psk + 4, 6, "ticket");
  check_binder(r, psk);
  CHECK(resume(r, psk, 0, 0x1301, 0));
  tls_agreed_get(&r->client, &agreed);
  CHECK_INT(agreed.resumed, 1);
  data_both_ways(r);
  rogue_end(r);
  /* Not taken: a whole handshake. */
  r = rogue_start(0x0304, 0x1301, ROGUE_P256, &config);
  CHECK(r13_connect(r));
  tls_agreed_get(&r->client, &agreed);
  CHECK_INT(agreed.resumed, 0);
  rogue_end(r);

  uint8_t wrong[32] = {1};
  const struct {
    const uint8_t *psk;
    int index;
    unsigned suite;
    int with_certificate, alert;
  } refused[] = {
      {psk, 1, 0x1301, 0, TLS_ALERT_ILLEGAL_PARAMETER},
      {psk, 0, 0x1302, 0, TLS_ALERT_ILLEGAL_PARAMETER}, /* another hash */
      {psk, 0, 0x1301, 1, TLS_ALERT_UNEXPECTED_MESSAGE},
      {wrong, 0, 0x1301, 0, TLS_ALERT_BAD_RECORD_MAC},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    r = rogue_start(0x0304, refused[i].suite, ROGUE_P256, &config);
    r->suite = &rogue_suites[refused[i].suite - 0x1301];
    CHECK(!resume(r, refused[i].psk, refused[i].index, refused[i].suite,
                  refused[i].with_certificate));
    CHECK_INT(tls_failed(&r->client).alert, refused[i].alert);
    CHECK_INT(r->connected, 0);
    rogue_end(r);
  }
  ecr_wipe(&session, sizeof session);
}

/* "Clients MUST ignore unrecognized extensions" in tickets and requests (4.6.1, 4.3.2). */
static void unknown_extensions(void) {
  rogue *r = connected(NULL, 0x1301);
  static rogue_bytes body;
  tls_session session;
  body.n = 0;
  put(&body, "\0\0\x0e\x10\0\0\0\0\1n\0\1t\0\4\x1a\x1a\0\0", 19);
  rogue_say(r, 4, &body);
  data_both_ways(r);
  CHECK_INT(tls_session_get(&r->client, &session), 1);
  rogue_end(r);

  r = rogue_start(0x0304, 0x1301, ROGUE_P256, NULL);
  r13_hello h = r13_honest_hello(r);
  r13_say_hello(r, &h);
  r13_say_extensions(r, NULL, 0);
  body.n = 0;
  put(&body, "\0\0\x0c\x1a\x1a\0\0\0\x0d\0\4\0\2\4\3", 15);
  rogue_say(r, 13, &body);
  r13_say_certificate(r, &rogue_leaf[r->key]);
  r13_say_honest_verify(r);
  r13_say_finished(r, 0);
  r13_answers a = r13_pump(r);
  CHECK_INT(a.finished, 1);
  CHECK_INT(r->connected, 1);
  rogue_end(r);
}

int main(void) {
  rogue_make_identities();
  run_cases();
  keys_and_padding();
  closing();
  nothing_left();
  resumption();
  unknown_extensions();
  rogue_free_identities();
  return unit_done("tls_rogue13_data");
}
