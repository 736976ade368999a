/*
** tls/extension.c: which extension may stand where (RFC 8446 4.2's table; RFC 5246, 5746, 7627,
** 8422), and the reading of a block of them.
*/
#include "tlsInt.h"

static const struct row {
  uint16_t code;
  unsigned in; /* the server's messages in which it may be */
} table[TLS_EXT_COUNT] = {
    [TLS_EXT_SERVER_NAME] = {0, TLS_IN_ENCRYPTED | TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_EXTENDED_MASTER_SECRET] = {23, TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_RENEGOTIATION_INFO] = {0xff01, TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_SUPPORTED_GROUPS] = {10, TLS_IN_ENCRYPTED},
    [TLS_EXT_EC_POINT_FORMATS] = {11, TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_SESSION_TICKET] = {35, TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_ALPN] = {16, TLS_IN_ENCRYPTED | TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_STATUS_REQUEST] = {5, TLS_IN_CERTIFICATE | TLS_IN_REQUEST | TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_RECORD_SIZE_LIMIT] = {28, TLS_IN_ENCRYPTED | TLS_IN_SERVER_HELLO_12},
    [TLS_EXT_SIGNATURE_ALGORITHMS] = {13, TLS_IN_REQUEST},
    [TLS_EXT_SIGNATURE_ALGORITHMS_CERT] = {50, TLS_IN_REQUEST},
    [TLS_EXT_SUPPORTED_VERSIONS] = {43, TLS_IN_SERVER_HELLO | TLS_IN_RETRY},
    [TLS_EXT_COOKIE] = {44, TLS_IN_RETRY},
    [TLS_EXT_PSK_KEY_EXCHANGE_MODES] = {45, 0},
    [TLS_EXT_KEY_SHARE] = {51, TLS_IN_SERVER_HELLO | TLS_IN_RETRY},
    [TLS_EXT_EARLY_DATA] = {42, TLS_IN_ENCRYPTED | TLS_IN_TICKET},
    [TLS_EXT_PRE_SHARED_KEY] = {41, TLS_IN_SERVER_HELLO},
};

uint16_t tls_ext_code(tls_ext ext) { return table[ext].code; }

static int find_row(uint32_t code) {
  for (int i = 0; i < TLS_EXT_COUNT; i++) {
    if (table[i].code == code) return i;
  }
  return -1;
}

int tls_extension_find(tls_bytes block, tls_ext ext, tls_bytes *body) {
  tls_reader r = tls_reader_of(block);
  while (!r.bad && r.i < r.n) {
    const uint32_t code = tls_read(&r, 2);
    const tls_bytes b = tls_read_vector(&r, 2, 0);
    if (!r.bad && code == table[ext].code) {
      *body = b;
      return 1;
    }
  }
  return 0;
}

/* The alert for an extension that may not be there, or TLS_ALERT_NONE. row below 0: unknown. */
static tls_alert judge(int row, unsigned in, uint32_t offered, const char **reason) {
  /* A client ignores what it does not know where the server, not it, speaks first (4.3.2, 4.6.1).
  ** */
  const int server_first = in == TLS_IN_REQUEST || in == TLS_IN_TICKET;
  if (row < 0 || !(table[row].in & in)) {
    if (row < 0 && server_first) return TLS_ALERT_NONE;
    /* "recognizes and which is not specified for the message in which it appears, it MUST abort the
    ** handshake with an "illegal_parameter" alert" (4.2); but what was not asked for is
    ** unsupported_extension. */
    *reason = "an extension where it may not be";
    if (row >= 0 && (server_first || tls_has(offered, (tls_ext)row))) {
      return TLS_ALERT_ILLEGAL_PARAMETER;
    }
    *reason = "an extension that was not asked for";
    return TLS_ALERT_UNSUPPORTED_EXTENSION;
  }
  /* The cookie is the one that may come unasked (4.2.2). */
  if (!server_first && row != TLS_EXT_COOKIE && !tls_has(offered, (tls_ext)row)) {
    *reason = "an extension that was not asked for";
    return TLS_ALERT_UNSUPPORTED_EXTENSION;
  }
  return TLS_ALERT_NONE;
}

tls_alert tls_extensions_read(tls_bytes block, unsigned in, uint32_t offered, tls_extensions *out,
                              const char **reason) {
  tls_reader r = tls_reader_of(block);
  memset(out, 0, sizeof *out);
  while (r.i < r.n) {
    const int row = find_row(tls_read(&r, 2));
    const tls_bytes body = tls_read_vector(&r, 2, 0);
    if (r.bad) {
      *reason = "extensions that end too early";
      return TLS_ALERT_DECODE_ERROR;
    }
    const tls_alert alert = judge(row, in, offered, reason);
    if (alert != TLS_ALERT_NONE) return alert;
    if (row < 0) continue;
    /* "There MUST NOT be more than one extension of the same type" (4.2). */
    if (tls_has(out->present, (tls_ext)row)) {
      *reason = "an extension that comes twice";
      return TLS_ALERT_ILLEGAL_PARAMETER;
    }
    out->present |= (uint32_t)1 << row;
    out->body[row] = body;
  }
  return TLS_ALERT_NONE;
}
