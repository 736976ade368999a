/*
** tls_rogue13.c: what a TLS 1.3 server must not get away with before the handshake is over. A row of the table is
** one misbehaviour and the alert that RFC 8446 has for it; in every one of them the client must not connect.
** tls_rogue13_data.c has what comes after.
*/
#include "rogue13.h"

/* Says the hello with one thing changed, then goes on as if all were right. */
#define HELLO(change)                                                                              \
  do {                                                                                             \
    r13_hello h = r13_honest_hello(r);                                                             \
    change;                                                                                        \
    r13_say_hello(r, &h);                                                                          \
    r13_say_flight(r);                                                                             \
    r13_pump(r);                                                                                   \
  } while (0)

/* An honest hello, then what is given, then the client's turn. */
#define AFTER_HELLO(messages)                                                                      \
  do {                                                                                             \
    r13_hello h = r13_honest_hello(r);                                                             \
    r13_say_hello(r, &h);                                                                          \
    messages;                                                                                      \
    r13_pump(r);                                                                                   \
  } while (0)

static const uint8_t zeros[133];

/* ---- ServerHello ------------------------------------------------------------------------------------------- */

static void no_share(rogue *r) { HELLO(h.no_share = 1); }
static void zero_share(rogue *r) { HELLO((h.share = zeros, h.share_size = 32)); }
static void empty_share(rogue *r) { HELLO((h.share = zeros, h.share_size = 0)); }
static void short_share(rogue *r) { HELLO((h.share = zeros, h.share_size = 31)); }
static void long_share(rogue *r) { HELLO((h.share = zeros, h.share_size = 33)); }
static void group_without_share(rogue *r) {
  HELLO((h.group = 0x17, h.share = zeros, h.share_size = 65));
}
static void group_unknown(rogue *r) {
  HELLO((h.group = 0x9a9a, h.share = zeros, h.share_size = 32));
}
static void other_session_id(rogue *r) { HELLO(h.session = 1); }
static void no_session_id(rogue *r) { HELLO(h.session = 2); }
static void compression(rogue *r) { HELLO(h.compression = 1); }
static void suite_not_offered(rogue *r) { HELLO(h.suite = 0x1304); }
static void suite_of_12(rogue *r) { HELLO(h.suite = 0xc02b); }
static void version_newer(rogue *r) { HELLO(h.version = 0x0305); }
static void version_in_extension_older(rogue *r) { HELLO(h.version = 0x0303); }
static void version_draft(rogue *r) { HELLO(h.version = 0x7f1c); }
static void version_legacy_13(rogue *r) { HELLO(h.legacy = 0x0304); }
static void version_11(rogue *r) { HELLO((h.version = 0, h.legacy = 0x0302)); }
static void version_13_by_legacy(rogue *r) { HELLO((h.version = 0, h.legacy = 0x0304)); }
static void extension_twice(rogue *r) { HELLO(h.twice = 1); }
static void extension_of_elsewhere(rogue *r) { HELLO(h.extra = 16); }
static void extension_unknown(rogue *r) { HELLO(h.extra = 0x1234); }
static void extension_not_offered(rogue *r) { HELLO(h.extra = 41); }
static void cookie_in_hello(rogue *r) { HELLO(h.cookie = "c"); }
static void psk_not_offered(rogue *r) { HELLO(h.psk = zeros); }

static void hello_twice(rogue *r) {
  const rogue_bytes *t = &r->transcript;
  AFTER_HELLO(rogue_handshake(r, t->p + r->hello.n, t->n - r->hello.n));
}

/* The rest of the flight begins in the hello's record, before the keys. */
static void hello_with_more(rogue *r) {
  static rogue_bytes record;
  r13_hello h = r13_honest_hello(r);
  r13_say_hello(r, &h);
  record.n = 0;
  put(&record, r->wire.p + 5, r->wire.n - 5);
  put(&record, "\x08\0\0\2\0\0", 6);
  r->wire.n = 0;
  rogue_raw(r, 22, record.p, record.n);
  r13_pump(r);
}

/* A message's first bytes before the change of keys, the rest after it. */
static void message_across_keys(rogue *r) {
  static rogue_bytes record;
  r13_hello h = r13_honest_hello(r);
  r13_say_hello(r, &h);
  record.n = 0;
  put(&record, r->wire.p + 5, r->wire.n - 5);
  put(&record, "\x08\0", 2);
  r->wire.n = 0;
  rogue_raw(r, 22, record.p, record.n);
  rogue_record(r, 22, "\0\2\0\0", 4);
  r13_pump(r);
}

static void other_message_first(rogue *r) {
  static rogue_bytes body;
  rogue_say(r, 14, &body);
  r13_pump(r);
}

static void hello_too_long(rogue *r) {
  rogue_raw(r, 22, "\2\xff\xff\xff\3\3", 6);
  r13_pump(r);
}

/* ---- HelloRetryRequest ---------------------------------------------------------------------------------------- */

static void retry_same_group(rogue *r) { r13_retry(r, 0x1d); }
static void retry_unknown_group(rogue *r) { r13_retry(r, 0x9a9a); }
static void retry_twice(rogue *r) {
  if (r13_retry(r, 0x17)) r13_retry(r, 0x18);
}

#define RETRY(change)                                                                              \
  do {                                                                                             \
    r13_hello h = r13_honest_hello(r);                                                             \
    h.retry = 1;                                                                                   \
    change;                                                                                        \
    r13_say_hello(r, &h);                                                                          \
    r13_pump(r);                                                                                   \
  } while (0)

static void retry_for_nothing(rogue *r) { RETRY(h.no_share = 1); }
static void retry_empty_cookie(rogue *r) { RETRY((h.no_share = 1, h.cookie = "")); }
static void retry_extension_unknown(rogue *r) { RETRY((h.group = 0x17, h.extra = 0x1234)); }
static void retry_psk(rogue *r) { RETRY((h.group = 0x17, h.psk = zeros)); }
static void retry_other_session_id(rogue *r) { RETRY((h.group = 0x17, h.session = 1)); }

static void retry_then_no_share(rogue *r) {
  if (r13_retry(r, 0x17)) HELLO(h.no_share = 1);
}

static void retry_then_first_group(rogue *r) {
  if (r13_retry(r, 0x17)) HELLO((h.group = 0x1d, h.share = zeros + 1, h.share_size = 32));
}

static void retry_then_other_suite(rogue *r) {
  if (r13_retry(r, 0x17)) HELLO(h.suite = 0x1303);
}

static void retry_then_12(rogue *r) {
  if (r13_retry(r, 0x17)) HELLO((h.version = 0, h.suite = 0xc02b, h.no_share = 1));
}

static void retry_point_off_curve(rogue *r) {
  static const uint8_t point[65] = {4, 1};
  if (r13_retry(r, 0x17)) HELLO((h.share = point, h.share_size = 65));
}

static void retry_point_at_infinity(rogue *r) {
  if (r13_retry(r, 0x17)) HELLO((h.share = zeros, h.share_size = 1));
}

static void retry_point_compressed(rogue *r) {
  static const uint8_t point[33] = {2, 1};
  if (r13_retry(r, 0x17)) HELLO((h.share = point, h.share_size = 33));
}

/* ---- EncryptedExtensions --------------------------------------------------------------------------------------- */

static void alpn_not_offered(rogue *r) { AFTER_HELLO(r13_say_extensions(r, "tds/8.0", 0)); }
static void alpn_of_another(rogue *r) { AFTER_HELLO(r13_say_extensions(r, "http/1.1", 0)); }
static void alpn_prefix(rogue *r) { AFTER_HELLO(r13_say_extensions(r, "tds/8", 0)); }
static void share_in_extensions(rogue *r) { AFTER_HELLO(r13_say_extensions(r, NULL, 51)); }
static void unknown_in_extensions(rogue *r) { AFTER_HELLO(r13_say_extensions(r, NULL, 0x1234)); }
static void early_data(rogue *r) { AFTER_HELLO(r13_say_extensions(r, NULL, 42)); }
static void alpn_left_out(rogue *r) { AFTER_HELLO(r13_say_flight(r)); }

static void no_extensions(rogue *r) {
  AFTER_HELLO(r13_say_certificate(r, &rogue_leaf[r->key]); r13_say_honest_verify(r);
              r13_say_finished(r, 0));
}

static void names_twice_in_extensions(rogue *r) {
  static rogue_bytes body;
  body.n = 0;
  put(&body, "\0\x08\0\0\0\0\0\0\0\0", 10);
  AFTER_HELLO(rogue_say(r, 8, &body); r13_say_certificate(r, &rogue_leaf[r->key]));
}

/* ---- Certificate and CertificateVerify ------------------------------------------------------------------------- */

static void finished_without_certificate(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_finished(r, 0));
}

static void finished_without_verify(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_certificate(r, &rogue_leaf[r->key]);
              r13_say_finished(r, 0));
}

static void verify_without_certificate(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_honest_verify(r); r13_say_finished(r, 0));
}

static void certificate_twice(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_certificate(r, &rogue_leaf[r->key]);
              r13_say_certificate(r, &rogue_leaf[r->key]); r13_say_honest_verify(r);
              r13_say_finished(r, 0));
}

static void verify_twice(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_certificate(r, &rogue_leaf[r->key]);
              r13_say_honest_verify(r); r13_say_honest_verify(r); r13_say_finished(r, 0));
}

static void say_certificate_bytes(rogue *r, const char *p, size_t n) {
  static rogue_bytes body;
  body.n = 0;
  put(&body, p, n);
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); rogue_say(r, 11, &body); r13_say_honest_verify(r);
              r13_say_finished(r, 0));
}

static void certificate_list_empty(rogue *r) { say_certificate_bytes(r, "\0\0\0\0", 4); }
static void certificate_of_no_bytes(rogue *r) { say_certificate_bytes(r, "\0\0\0\5\0\0\0\0\0", 9); }
static void certificate_no_der(rogue *r) { say_certificate_bytes(r, "\0\0\0\6\0\0\1x\0\0", 10); }

/* A certificate of somebody who calls himself as the authority. */
static void certificate_by_impostor(rogue *r) {
  X509 *ca = rogue_certificate(rogue_other.key, "authority", NULL, rogue_other.key);
  X509 *x = rogue_certificate(rogue_other.key, ROGUE_NAME, ca, rogue_other.key);
  rogue_identity own = {rogue_other.key, NULL, 0};
  own.size = i2d_X509(x, &own.der);
  X509_free(x);
  X509_free(ca);
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_certificate(r, &own);
              r13_say_verify(r, own.key, 0x0403, 0x0403, R13_CONTEXT); r13_say_finished(r, 0));
  OPENSSL_free(own.der);
}

#define VERIFY(signer, scheme, said, context)                                                      \
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_certificate(r, &rogue_leaf[r->key]);         \
              r13_say_verify(r, signer, scheme, said, context); r13_say_finished(r, 0))
#define LEAF rogue_leaf[r->key].key

static void verify_by_another(rogue *r) { VERIFY(rogue_other.key, 0x0403, 0x0403, R13_CONTEXT); }
static void verify_context_of_client(rogue *r) {
  VERIFY(LEAF, 0x0403, 0x0403, "TLS 1.3, client CertificateVerify");
}
static void verify_said_other_curve(rogue *r) { VERIFY(LEAF, 0x0503, 0x0503, R13_CONTEXT); }
static void verify_said_rsa(rogue *r) { VERIFY(LEAF, 0x0403, 0x0804, R13_CONTEXT); }
static void verify_said_ed25519(rogue *r) { VERIFY(LEAF, 0x0403, 0x0807, R13_CONTEXT); }
static void verify_by_rsa(rogue *r) {
  VERIFY(rogue_leaf[ROGUE_RSA].key, 0x0804, 0x0804, R13_CONTEXT);
}
static void verify_sha1(rogue *r) { VERIFY(LEAF, 0x0203, 0x0203, R13_CONTEXT); }
static void verify_unknown(rogue *r) { VERIFY(LEAF, 0x0403, 0xfe01, R13_CONTEXT); }
static void verify_pkcs1(rogue *r) { VERIFY(LEAF, 0x0401, 0x0401, R13_CONTEXT); }
static void verify_pss_as_pkcs1(rogue *r) { VERIFY(LEAF, 0x0804, 0x0401, R13_CONTEXT); }
static void verify_rsa_as_pss_pss(rogue *r) { VERIFY(LEAF, 0x0804, 0x0809, R13_CONTEXT); }
static void verify_pss_as_rsae(rogue *r) { VERIFY(LEAF, 0x0809, 0x0804, R13_CONTEXT); }
static void verify_other_hash(rogue *r) { VERIFY(LEAF, 0x0804, 0x0805, R13_CONTEXT); }

/* A signature over other messages than the client has seen. */
static void verify_of_before(rogue *r) {
  AFTER_HELLO(put(&r->transcript, "\x08\0\0\2\0\1", 6); rogue_handshake(r, "\x08\0\0\2\0\0", 6);
              r13_say_certificate(r, &rogue_leaf[r->key]); r13_say_honest_verify(r);
              r13_say_finished(r, 0));
}

static void request_twice(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_request(r); r13_say_request(r));
}

static void request_late(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_certificate(r, &rogue_leaf[r->key]);
              r13_say_request(r));
}

static void say_request_bytes(rogue *r, const char *p, size_t n) {
  static rogue_bytes body;
  body.n = 0;
  put(&body, p, n);
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); rogue_say(r, 13, &body));
}

static void request_with_context(rogue *r) {
  say_request_bytes(r, "\1x\0\x08\0\x0d\0\4\0\2\4\3", 12);
}
static void request_without_algorithms(rogue *r) { say_request_bytes(r, "\0\0\4\x12\x34\0\0", 7); }
static void request_without_extensions(rogue *r) { say_request_bytes(r, "\0\0\0", 3); }

/* ---- Finished, and records before it --------------------------------------------------------------------------- */

static void finished_wrong(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_certificate(r, &rogue_leaf[r->key]);
              r13_say_honest_verify(r); r13_say_finished(r, 1));
}

/* More handshake bytes in the record of Finished, which ends with a change of keys. */
static void finished_with_more(rogue *r) {
  rogue_keys handshake;
  static rogue_bytes record;
  r13_hello h = r13_honest_hello(r);
  r13_say_hello(r, &h);
  r13_say_extensions(r, NULL, 0);
  r13_say_certificate(r, &rogue_leaf[r->key]);
  r13_say_honest_verify(r);
  handshake = r->out;
  size_t at = r->wire.n, from = r->transcript.n;
  r13_say_finished(r, 0);
  record.n = 0;
  put(&record, r->transcript.p + from, r->transcript.n - from);
  put(&record, "\x18\0\0\1\0", 5);
  r->wire.n = at;
  r->out = handshake;
  rogue_record(r, 22, record.p, record.n);
  r13_pump(r);
}

static void extensions_in_the_clear(rogue *r) {
  AFTER_HELLO(rogue_raw(r, 22, "\x08\0\0\2\0\0", 6));
}
static void alert_in_the_clear(rogue *r) { AFTER_HELLO(rogue_raw(r, 21, "\2\x28", 2)); }
static void data_in_the_clear(rogue *r) {
  rogue_raw(r, 23, "secret", 6);
  r13_pump(r);
}
static void data_before_finished(rogue *r) { AFTER_HELLO(rogue_record(r, 23, "secret", 6)); }
static void update_before_finished(rogue *r) {
  AFTER_HELLO(rogue_record(r, 22, "\x18\0\0\1\0", 5));
}
static void ticket_before_finished(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r13_say_ticket(r, "t"));
}
static void empty_handshake_record(rogue *r) { AFTER_HELLO(rogue_record(r, 22, NULL, 0)); }
static void empty_clear_record(rogue *r) {
  rogue_raw(r, 22, NULL, 0);
  r13_pump(r);
}
static void alert_within_message(rogue *r) {
  AFTER_HELLO(rogue_record(r, 22, "\x08\0", 2); rogue_record(r, 21, "\1\x5a", 2));
}
static void change_within_message(rogue *r) {
  AFTER_HELLO(rogue_record(r, 22, "\x08\0", 2); rogue_raw(r, 20, "\1", 1));
}
static void unknown_record(rogue *r) {
  rogue_raw(r, 24, "x", 1);
  r13_pump(r);
}
static void not_tls(rogue *r) {
  put(&r->wire, "HTTP/1.1 400 Bad Request\r\n", 26);
  r13_pump(r);
}
static void clear_record_too_long(rogue *r) {
  static uint8_t much[16385];
  rogue_raw(r, 22, much, sizeof much);
  r13_pump(r);
}
static void change_of_two(rogue *r) { AFTER_HELLO(rogue_raw(r, 20, "\2", 1)); }
static void change_too_long(rogue *r) { AFTER_HELLO(rogue_raw(r, 20, "\1\1", 2)); }
static void change_empty(rogue *r) { AFTER_HELLO(rogue_raw(r, 20, NULL, 0)); }
static void change_protected(rogue *r) { AFTER_HELLO(rogue_record(r, 20, "\1", 1)); }
static void change_flood(rogue *r) {
  AFTER_HELLO(for (int i = 0; i < 1000; i++) rogue_raw(r, 20, "\1", 1));
}
static void cancel_flood(rogue *r) {
  AFTER_HELLO(for (int i = 0; i < 1000; i++) rogue_record(r, 21, "\1\x5a", 2));
}
static void alert_too_long(rogue *r) { AFTER_HELLO(rogue_record(r, 21, "\2\x28\2", 3)); }
static void wrong_tag(rogue *r) {
  AFTER_HELLO(r13_say_extensions(r, NULL, 0); r->wire.p[r->wire.n - 1] ^= 1);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static const char *const alpn[] = {"tds/8.0", NULL};
static const tls_config asks_alpn = {.alpn = alpn};
static const tls_config needs_alpn = {.alpn = alpn, .alpn_required = 1};

#define CASE(name, alert)                                                                          \
  { #name, name, alert, ROGUE_P256, NULL }
#define CASE_OF(name, alert, key)                                                                  \
  { #name, name, alert, key, NULL }
#define CASE_WITH(name, alert, config)                                                             \
  { #name, name, alert, ROGUE_P256, config }

static const struct {
  const char *name;
  void (*run)(rogue *r);
  int alert;
  rogue_key key;
  const tls_config *config;
} cases[] = {
    CASE(no_share, TLS_ALERT_MISSING_EXTENSION),
    CASE(zero_share, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(empty_share, TLS_ALERT_DECODE_ERROR),
    CASE(short_share, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(long_share, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(group_without_share, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(group_unknown, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(other_session_id, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(no_session_id, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(compression, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(suite_not_offered, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(suite_of_12, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(version_newer, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(version_in_extension_older, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(version_draft, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(version_legacy_13, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(version_11, TLS_ALERT_PROTOCOL_VERSION),
    CASE(version_13_by_legacy, TLS_ALERT_PROTOCOL_VERSION),
    CASE(extension_twice, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE_WITH(extension_of_elsewhere, TLS_ALERT_ILLEGAL_PARAMETER, &asks_alpn),
    CASE(extension_unknown, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(extension_not_offered, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(cookie_in_hello, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(psk_not_offered, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(hello_twice, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(hello_with_more, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(message_across_keys, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(other_message_first, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(hello_too_long, TLS_ALERT_DECODE_ERROR),

    CASE(retry_same_group, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_unknown_group, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_twice, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(retry_for_nothing, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_empty_cookie, TLS_ALERT_DECODE_ERROR),
    CASE(retry_extension_unknown, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(retry_psk, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(retry_other_session_id, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_then_no_share, TLS_ALERT_MISSING_EXTENSION),
    CASE(retry_then_first_group, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_then_other_suite, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_then_12, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_point_off_curve, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_point_at_infinity, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(retry_point_compressed, TLS_ALERT_ILLEGAL_PARAMETER),

    CASE(alpn_not_offered, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE_WITH(alpn_of_another, TLS_ALERT_ILLEGAL_PARAMETER, &asks_alpn),
    CASE_WITH(alpn_prefix, TLS_ALERT_ILLEGAL_PARAMETER, &asks_alpn),
    CASE_WITH(alpn_left_out, TLS_ALERT_NO_APPLICATION_PROTOCOL, &needs_alpn),
    CASE(share_in_extensions, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(unknown_in_extensions, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(early_data, TLS_ALERT_UNSUPPORTED_EXTENSION),
    CASE(no_extensions, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(names_twice_in_extensions, TLS_ALERT_ILLEGAL_PARAMETER),

    CASE(finished_without_certificate, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(finished_without_verify, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(verify_without_certificate, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(certificate_twice, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(verify_twice, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(certificate_list_empty, TLS_ALERT_DECODE_ERROR),
    CASE(certificate_of_no_bytes, TLS_ALERT_DECODE_ERROR),
    CASE(certificate_no_der, TLS_ALERT_BAD_CERTIFICATE),
    CASE(certificate_by_impostor, TLS_ALERT_UNKNOWN_CA),
    CASE(verify_by_another, TLS_ALERT_DECRYPT_ERROR),
    CASE(verify_context_of_client, TLS_ALERT_DECRYPT_ERROR),
    CASE(verify_said_other_curve, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(verify_said_rsa, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(verify_said_ed25519, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(verify_by_rsa, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(verify_sha1, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(verify_unknown, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE_OF(verify_pkcs1, TLS_ALERT_ILLEGAL_PARAMETER, ROGUE_RSA),
    CASE_OF(verify_pss_as_pkcs1, TLS_ALERT_ILLEGAL_PARAMETER, ROGUE_RSA),
    CASE_OF(verify_rsa_as_pss_pss, TLS_ALERT_ILLEGAL_PARAMETER, ROGUE_RSA),
    CASE_OF(verify_other_hash, TLS_ALERT_DECRYPT_ERROR, ROGUE_RSA),
    CASE_OF(verify_pss_as_rsae, TLS_ALERT_ILLEGAL_PARAMETER, ROGUE_PSS),
    CASE_OF(verify_by_another, TLS_ALERT_ILLEGAL_PARAMETER, ROGUE_P384),
    CASE_OF(verify_by_another, TLS_ALERT_ILLEGAL_PARAMETER, ROGUE_ED25519),
    CASE(verify_of_before, TLS_ALERT_DECRYPT_ERROR),
    CASE(request_twice, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(request_late, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(request_with_context, TLS_ALERT_ILLEGAL_PARAMETER),
    CASE(request_without_algorithms, TLS_ALERT_MISSING_EXTENSION),
    CASE(request_without_extensions, TLS_ALERT_DECODE_ERROR),

    CASE(finished_wrong, TLS_ALERT_DECRYPT_ERROR),
    CASE(finished_with_more, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(extensions_in_the_clear, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(alert_in_the_clear, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(data_in_the_clear, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(data_before_finished, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(update_before_finished, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(ticket_before_finished, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(empty_handshake_record, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(empty_clear_record, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(alert_within_message, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(change_within_message, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(unknown_record, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(not_tls, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(clear_record_too_long, TLS_ALERT_RECORD_OVERFLOW),
    CASE(change_of_two, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(change_too_long, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(change_empty, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(change_protected, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(change_flood, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(cancel_flood, TLS_ALERT_UNEXPECTED_MESSAGE),
    CASE(alert_too_long, TLS_ALERT_DECODE_ERROR),
    CASE(wrong_tag, TLS_ALERT_BAD_RECORD_MAC),
};

static void run_cases(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int before = unit_failed;
    rogue *r = rogue_start(0x0304, 0x1301, cases[i].key, cases[i].config);
    cases[i].run(r);
    rogue_drain(r);
    CHECK_INT(r->alert, cases[i].alert);
    CHECK_INT(tls_failed(&r->client).alert, cases[i].alert);
    CHECK_INT(tls_failed(&r->client).from_server, 0);
    CHECK(tls_failed(&r->client).reason != NULL);
    CHECK_INT(r->alert_level, 2);
    CHECK_INT(r->alerts, 1);
    CHECK_INT(r->connected, 0);
    CHECK_INT(r->data.n, 0);
    CHECK_INT(r->unreadable, 0);
    const char *reason = tls_failed(&r->client).reason;
    rogue_stays_failed(r);
    rogue_end(r);
    if (unit_failed > before) printf("  in %s: %s\n", cases[i].name, reason);
  }
}

/* ---- What is right, in every key, suite and packing ------------------------------------------------------------- */

static void connects(void) {
  static const unsigned suites[] = {0x1301, 0x1302, 0x1303}, groups[] = {0x17, 0x18};
  static const size_t packings[] = {1, 3, 100};
  for (int key = 0; key < ROGUE_KEYS; key++) {
    for (int suite = 0; suite < 3; suite++) {
      rogue *r = rogue_start(0x0304, suites[suite], (rogue_key)key, NULL);
      r->packing = packings[(key + suite) % 3];
      rogue_raw(r, 20, "\1", 1); /* a CCS is harmless */
      CHECK(r13_connect(r));
      rogue_end(r);
    }
  }
  for (int i = 0; i < 2; i++) {
    rogue *r = rogue_start(0x0304, 0x1301, ROGUE_P256, NULL);
    CHECK(r13_retry(r, groups[i]));
    CHECK_INT(r->share_group, groups[i]);
    CHECK(r13_connect(r));
    rogue_end(r);
  }
  /* A request for a certificate is answered with none. */
  rogue *r = rogue_start(0x0304, 0x1301, ROGUE_P256, &asks_alpn);
  r13_hello h = r13_honest_hello(r);
  r13_say_hello(r, &h);
  r13_say_extensions(r, "tds/8.0", 0);
  r13_say_request(r);
  r13_say_certificate(r, &rogue_leaf[r->key]);
  r13_say_honest_verify(r);
  r13_say_finished(r, 0);
  r13_answers a = r13_pump_by(r, 1);
  CHECK_INT(a.certificates, 1);
  CHECK_INT(a.finished, 1);
  CHECK_INT(r->connected, 1);
  tls_agreed agreed;
  tls_agreed_get(&r->client, &agreed);
  CHECK_STR(agreed.alpn, "tds/8.0");
  rogue_end(r);
}

/* A cookie comes back as it went, and the second hello is the first but for it (4.1.2). */
static void cookie_comes_back(void) {
  rogue *r = rogue_start(0x0304, 0x1301, ROGUE_P256, NULL);
  uint8_t random[32];
  size_t n = 0;
  memcpy(random, r->client_random, 32);
  r13_hello h = r13_honest_hello(r);
  h.retry = h.no_share = 1;
  h.cookie = "crumbs";
  r13_say_hello(r, &h);
  rogue_pump(r);
  CHECK_INT(r->failed, 0);
  rogue_read_hello(r);
  const uint8_t *cookie = rogue_offered(r, 44, &n);
  CHECK_TEXT(cookie, n, "\0\6crumbs");
  CHECK_BYTES(r->client_random, 32, random, 32);
  CHECK_INT(r->share_group, 0x1d);
  CHECK(r13_connect(r));
  rogue_end(r);
}

/* ---- Every length and every byte of every message ---------------------------------------------------------------- */

static void refused(rogue *r, const char *what, int type, size_t at) {
  int before = unit_failed;
  int connected = r13_connect(r);
  CHECK(!connected && r->connected == 0 && r->failed);
  int alert = (int)tls_failed(&r->client).alert;
  CHECK(alert > 0 && alert != TLS_ALERT_INTERNAL_ERROR);
  /* Where the hellos differ, so do the keys: then our alert can be read by nobody. */
  CHECK(r->alert == alert || (type == 2 && r->unreadable == 1));
  if (unit_failed > before) printf("  %s, message %d at %zu\n", what, type, at);
  rogue_end(r);
}

static void cut_and_flipped(void) {
  /* A key whose signatures are all of one size. */
  static const int types[] = {2, 8, 11, 15, 20};
  rogue *r = rogue_start(0x0304, 0x1301, ROGUE_ED25519, NULL);
  size_t sizes[32];
  CHECK(r13_connect(r));
  memcpy(sizes, r->sizes, sizeof sizes);
  rogue_end(r);
  for (int i = 0; i < 5; i++) {
    size_t n = sizes[types[i]];
    for (size_t at = 0; at <= n + 1; at++) {
      if (at == n) continue;
      r = rogue_start(0x0304, 0x1301, ROGUE_ED25519, NULL);
      r->cut_type = types[i];
      r->cut = (int)at;
      refused(r, "cut", types[i], at);
    }
    for (size_t at = 0; at < n + 4; at++) {
      r = rogue_start(0x0304, 0x1301, ROGUE_ED25519, NULL);
      r->flip_type = types[i];
      r->flip_at = at;
      /* A length that has grown waits for more: the end of the flight is then the end. */
      if (at >= 1 && at <= 3) {
        r13_connect(r);
        CHECK_INT(r->connected, 0);
        rogue_end(r);
        continue;
      }
      refused(r, "flipped", types[i], at);
    }
  }
}

int main(void) {
  rogue_make_identities();
  connects();
  cookie_comes_back();
  run_cases();
  cut_and_flipped();
  rogue_free_identities();
  return unit_done("tls_rogue13");
}
