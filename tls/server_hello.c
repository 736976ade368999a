/*
** tls/server_hello.c: ServerHello and HelloRetryRequest: which version, which suite (RFC 8446
** 4.1.3, 4.1.4; RFC 5246 7.4.1.3).
*/
#include "tlsInt.h"

/* RFC 8446 4.1.3: SHA-256 of "HelloRetryRequest". */
static const uint8_t retry_random[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

/* What a server writes at its random's end that could have spoken a newer version. */
static const uint8_t downgrade[7] = {'D', 'O', 'W', 'N', 'G', 'R', 'D'};

typedef struct server_hello {
  tls_bytes random, session_id, block; /* block: the extensions */
  const tls_suite *suite;
  uint32_t suite_code, compression;
  unsigned version;
  int retry;
} server_hello;

/* supported_versions decides, else legacy_version (4.2.1). */
static tls_alert parse(tls_state *s, tls_bytes body, server_hello *hello) {
  tls_reader r = tls_reader_of(body);
  tls_bytes chosen;
  const uint32_t legacy = tls_read(&r, 2);
  hello->random = tls_read_bytes(&r, 32);
  hello->session_id = tls_read_vector(&r, 1, 0);
  hello->suite_code = tls_read(&r, 2);
  hello->compression = tls_read(&r, 1);
  hello->block = (tls_bytes){NULL, 0};
  if (r.i < r.n) hello->block = tls_read_vector(&r, 2, 0); /* TLS 1.2 may leave them out */
  if (!tls_read_done(&r) || hello->session_id.n > 32) {
    return tls_fail(s, TLS_ALERT_DECODE_ERROR, "a ServerHello that cannot be read");
  }
  hello->version = legacy;
  if (tls_extension_find(hello->block, TLS_EXT_SUPPORTED_VERSIONS, &chosen)) {
    /* legacy_version "MUST be set to 0x0303"; below 1.3 the extension is not sent (4.2.1). */
    if (chosen.n != 2) return tls_fail(s, TLS_ALERT_DECODE_ERROR, "a version that cannot be read");
    hello->version = (unsigned)(chosen.p[0] << 8 | chosen.p[1]);
    if (hello->version != TLS_1_3 || legacy != TLS_1_2) {
      return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "the server chose a version out of order");
    }
  } else if (legacy > TLS_1_2) {
    /* "If the version chosen by the server is not supported by the client … the client MUST abort
    ** the handshake with a "protocol_version" alert" (D.1): 1.3 cannot be chosen so. */
    return tls_fail(s, TLS_ALERT_PROTOCOL_VERSION, "the server chose a version out of order");
  }
  if (hello->version < s->hs.config.min_version || hello->version > s->hs.config.max_version) {
    return tls_fail(s, TLS_ALERT_PROTOCOL_VERSION,
                    "the server speaks no version of TLS that we may");
  }
  hello->retry = hello->version == TLS_1_3 && memcmp(hello->random.p, retry_random, 32) == 0;
  return TLS_ALERT_NONE;
}

/* What holds for every hello, whatever its version. */
static tls_alert check(tls_state *s, server_hello *hello) {
  hello->suite = tls_suite_find(hello->suite_code);
  if (!hello->suite || hello->suite->version != hello->version) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a cipher suite that was not offered");
  }
  if (hello->compression != 0) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "the server chose compression");
  }
  if (hello->version == TLS_1_2) {
    /* "TLS 1.3 clients receiving a ServerHello indicating TLS 1.2 or below MUST check that the last
    ** 8 bytes are not equal to either of these values" (4.1.3). 01 tells of 1.2, 00 of what is
    ** older. */
    if (s->hs.config.max_version >= TLS_1_3 &&
        memcmp(hello->random.p + 24, downgrade, sizeof downgrade) == 0 &&
        hello->random.p[31] <= 1) {
      return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "somebody between took TLS 1.3 away");
    }
    return TLS_ALERT_NONE;
  }
  /* "A client which receives a legacy_session_id_echo field that does not match what it sent in the
  ** ClientHello MUST abort the handshake with an "illegal_parameter" alert" (4.1.3). */
  if (hello->session_id.n != s->hs.session_id_size ||
      (hello->session_id.n > 0 &&
       memcmp(hello->session_id.p, s->hs.session_id, hello->session_id.n) != 0)) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "the server echoes another session id");
  }
  return TLS_ALERT_NONE;
}

/* 4.1.4: the group to take now; TLS_ALERT_NONE and NULL where it asks for none. */
static tls_alert retry_group(tls_state *s, const tls_extensions *x, const tls_group **group) {
  *group = NULL;
  if (!tls_has(x->present, TLS_EXT_KEY_SHARE)) return TLS_ALERT_NONE;
  tls_reader r = tls_reader_of(x->body[TLS_EXT_KEY_SHARE]);
  const uint32_t code = tls_read(&r, 2);
  if (!tls_read_done(&r)) {
    return tls_fail(s, TLS_ALERT_DECODE_ERROR, "a HelloRetryRequest that cannot be read");
  }
  *group = tls_group_find(code);
  /* "(1) … a group which was provided in the "supported_groups" extension … and (2) … does not
  ** correspond to a group which was provided in the "key_share" extension" (4.2.8). */
  if (!*group || *group == s->hs.group) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "the server asks for a key share out of order");
  }
  return TLS_ALERT_NONE;
}

static tls_alert retry(tls_state *s, const server_hello *hello, tls_bytes message) {
  tls_extensions x;
  tls_handshake *hs = &s->hs;
  const tls_group *group;
  const char *reason = NULL;
  uint8_t second[TLS_OUT_SIZE - 2 * TLS_HEADER - 6]; /* its record and a CCS */
  /* "If a client receives a second HelloRetryRequest in the same connection … it MUST abort the
  ** handshake with an "unexpected_message" alert" (4.1.4). */
  if (s->stage == TLS_WAIT_SECOND_HELLO) {
    return tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "a second HelloRetryRequest");
  }
  tls_alert alert = tls_extensions_read(hello->block, TLS_IN_RETRY, hs->offered, &x, &reason);
  if (alert != TLS_ALERT_NONE) return tls_fail(s, alert, reason);
  if (tls_has(x.present, TLS_EXT_COOKIE)) {
    tls_reader r = tls_reader_of(x.body[TLS_EXT_COOKIE]);
    hs->cookie = tls_read_vector(&r, 2, 1);
    if (!tls_read_done(&r)) {
      return tls_fail(s, TLS_ALERT_DECODE_ERROR, "a cookie that cannot be read");
    }
  }
  if ((alert = retry_group(s, &x, &group)) != TLS_ALERT_NONE) return alert;
  /* "Clients MUST abort the handshake with an "illegal_parameter" alert if the HelloRetryRequest
  ** would not result in any change in the ClientHello" (4.1.4). */
  if (!group && hs->cookie.n == 0) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a HelloRetryRequest that changes nothing");
  }
  if (group && (alert = tls_group_start(s, group)) != TLS_ALERT_NONE) return alert;
  hs->retry_suite = hello->suite;
  /* A session of another hash than the suite's is of no more use (4.1.4). */
  if (hs->session && tls_suite_find(hs->session->suite)->hash != hello->suite->hash) {
    hs->session = NULL;
  }
  tls_transcript_start(&hs->transcript, hello->suite->hash);
  tls_transcript_add(&hs->transcript, hs->hello);
  tls_transcript_retry(&hs->transcript);
  tls_transcript_add(&hs->transcript, message);
  const size_t n = tls_hello_make(s, second, sizeof second);
  hs->cookie = (tls_bytes){NULL, 0};
  if (n == 0) return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "no room for the second ClientHello");
  s->stage = TLS_WAIT_SECOND_HELLO;
  /* D.4: the CCS goes before the second flight. */
  if ((alert = tls_send_change(s)) != TLS_ALERT_NONE) return alert;
  return tls_send_message(s, second, n);
}

tls_alert tls_on_server_hello(tls_state *s, tls_bytes body) {
  const tls_bytes message = {body.p - 4, body.n + 4};
  tls_handshake *hs = &s->hs;
  server_hello hello;
  tls_extensions x;
  const char *reason = NULL;
  tls_alert alert = parse(s, body, &hello);
  if (alert == TLS_ALERT_NONE) alert = check(s, &hello);
  if (alert != TLS_ALERT_NONE) return alert;
  if (hello.retry) {
    s->version = TLS_1_3; /* from here on its rules hold (4.1.4) */
    return retry(s, &hello, message);
  }
  /* "the client MUST check that the cipher suite … is the same as that in the HelloRetryRequest"
  ** (4.1.4); so is the version (supported_versions there: 4.2.1). */
  if (s->stage == TLS_WAIT_SECOND_HELLO && hello.suite != hs->retry_suite) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "another suite after a HelloRetryRequest");
  }
  s->version = hello.version;
  s->suite = hello.suite;
  memcpy(hs->server_random, hello.random.p, sizeof hs->server_random);
  const unsigned in = hello.version == TLS_1_3 ? TLS_IN_SERVER_HELLO : TLS_IN_SERVER_HELLO_12;
  alert = tls_extensions_read(hello.block, in, hs->offered, &x, &reason);
  if (alert != TLS_ALERT_NONE) return tls_fail(s, alert, reason);
  if (s->stage == TLS_WAIT_SERVER_HELLO) {
    tls_transcript_start(&hs->transcript, hello.suite->hash);
    tls_transcript_add(&hs->transcript, hs->hello);
  }
  tls_transcript_add(&hs->transcript, message);
  if (hello.version == TLS_1_3) return tls13_start(s, &x);
  return tls12_start(s, &x, hello.session_id);
}
