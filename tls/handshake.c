/*
** tls/handshake.c: which message may come when, as a table; and the putting together of messages
** from records (RFC 8446 4, 5.1; RFC 5246 7.3).
*/
#include "tlsInt.h"

/* When the transcript takes a message: before its handler asks for the hash, after it, or as the
** handler sees to itself. */
enum { BEFORE, AFTER, ITSELF };

/* TLS 1.2's CCS, which is no handshake message, has its place among them. */
#define CHANGE 256

static const struct row {
  tls_stage stage;
  int message;
  tls_alert (*handler)(tls_state *s, tls_bytes body);
  tls_stage next; /* TLS_STAGE_NONE: the handler says */
  int hashed;
} table[] = {
    {TLS_WAIT_SERVER_HELLO, TLS_SERVER_HELLO, tls_on_server_hello, TLS_STAGE_NONE, ITSELF},
    {TLS_WAIT_SECOND_HELLO, TLS_SERVER_HELLO, tls_on_server_hello, TLS_STAGE_NONE, ITSELF},

    /* TLS 1.3. A resumed one goes from the extensions to Finished. */
    {TLS13_WAIT_EXTENSIONS, TLS_ENCRYPTED_EXTENSIONS, tls13_on_extensions, TLS_STAGE_NONE, BEFORE},
    {TLS13_WAIT_CERTIFICATE_OR_REQUEST, TLS_CERTIFICATE_REQUEST, tls13_on_request,
     TLS13_WAIT_CERTIFICATE, BEFORE},
    {TLS13_WAIT_CERTIFICATE_OR_REQUEST, TLS_CERTIFICATE, tls13_on_certificate, TLS13_WAIT_VERIFY,
     BEFORE},
    {TLS13_WAIT_CERTIFICATE, TLS_CERTIFICATE, tls13_on_certificate, TLS13_WAIT_VERIFY, BEFORE},
    {TLS13_WAIT_VERIFY, TLS_CERTIFICATE_VERIFY, tls13_on_verify, TLS13_WAIT_FINISHED, AFTER},
    {TLS13_WAIT_FINISHED, TLS_FINISHED, tls13_on_finished, TLS13_CONNECTED, ITSELF},
    {TLS13_CONNECTED, TLS_NEW_SESSION_TICKET, tls13_on_ticket, TLS13_CONNECTED, ITSELF},
    {TLS13_CONNECTED, TLS_KEY_UPDATE, tls13_on_update, TLS13_CONNECTED, ITSELF},

    /* TLS 1.2. A resumed one goes from the ServerHello to the ticket or the CCS. */
    {TLS12_WAIT_CERTIFICATE, TLS_CERTIFICATE, tls12_on_certificate, TLS12_WAIT_KEY_EXCHANGE,
     BEFORE},
    {TLS12_WAIT_KEY_EXCHANGE, TLS_SERVER_KEY_EXCHANGE, tls12_on_key_exchange,
     TLS12_WAIT_DONE_OR_REQUEST, BEFORE},
    {TLS12_WAIT_DONE_OR_REQUEST, TLS_CERTIFICATE_REQUEST, tls12_on_request, TLS12_WAIT_DONE,
     BEFORE},
    {TLS12_WAIT_DONE_OR_REQUEST, TLS_SERVER_HELLO_DONE, tls12_on_done, TLS_STAGE_NONE, BEFORE},
    {TLS12_WAIT_DONE, TLS_SERVER_HELLO_DONE, tls12_on_done, TLS_STAGE_NONE, BEFORE},
    {TLS12_WAIT_TICKET, TLS_NEW_SESSION_TICKET, tls12_on_ticket, TLS12_WAIT_CHANGE, BEFORE},
    {TLS12_WAIT_CHANGE, CHANGE, tls12_on_change, TLS12_WAIT_FINISHED, ITSELF},
    {TLS12_WAIT_FINISHED, TLS_FINISHED, tls12_on_finished, TLS12_CONNECTED, ITSELF},
    {TLS12_CONNECTED, TLS_HELLO_REQUEST, tls12_on_hello_request, TLS12_CONNECTED, ITSELF},
};

static tls_alert run(tls_state *s, int message, tls_bytes body) {
  const tls_bytes whole = {s->message, s->have};
  for (const struct row *row = table; row < table + sizeof table / sizeof table[0]; row++) {
    if (row->stage != s->stage || row->message != message) continue;
    if (row->hashed == BEFORE) tls_transcript_add(&s->hs.transcript, whole);
    const tls_alert alert = row->handler(s, body);
    if (alert != TLS_ALERT_NONE) return alert;
    if (row->hashed == AFTER) tls_transcript_add(&s->hs.transcript, whole);
    if (row->next != TLS_STAGE_NONE) s->stage = row->next;
    return TLS_ALERT_NONE;
  }
  return tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "a message that may not come now");
}

/* Appends what the message still lacks of `want` bytes. */
static void gather(tls_state *s, tls_reader *r, size_t want) {
  size_t n = want - s->have;
  if (n > r->n - r->i) n = r->n - r->i;
  const tls_bytes b = tls_read_bytes(r, n);
  if (b.n) memcpy(s->message + s->have, b.p, b.n);
  s->have += b.n;
}

tls_alert tls_handshake_take(tls_state *s, const uint8_t *p, size_t n) {
  tls_reader r = {p, n, 0, 0};
  while (r.i < r.n) {
    if (s->have < 4) gather(s, &r, 4);
    if (s->have < 4) break;
    const size_t size = (size_t)s->message[1] << 16 | (size_t)s->message[2] << 8 | s->message[3];
    if (size > TLS_MESSAGE_MAX) {
      return tls_fail(s, TLS_ALERT_DECODE_ERROR, "a handshake message is too long");
    }
    gather(s, &r, 4 + size);
    if (s->have < 4 + size) break;
    const unsigned keys = s->read.keys;
    const tls_alert alert = run(s, s->message[0], (tls_bytes){s->message + 4, size});
    if (alert != TLS_ALERT_NONE) return alert;
    s->have = 0;
    /* "Handshake messages MUST NOT span key changes"; what precedes one ends its record (RFC 8446
    ** 5.1). */
    if (r.i < r.n && s->read.keys != keys) {
      return tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "a message stands across a change of keys");
    }
  }
  return TLS_ALERT_NONE;
}

tls_alert tls_handshake_change(tls_state *s) { return run(s, CHANGE, (tls_bytes){NULL, 0}); }
