/*
** tls/flow.c: what waits to be sent, and how a connection ends.
*/
#include "tlsInt.h"

/* Where the next record goes, and how much room there is. */
static uint8_t *room(tls_state *s, size_t *n) {
  if (s->out_from == s->out_to && s->version) s->out_from = s->out_to = 0;
  *n = TLS_OUT_SIZE - s->out_to;
  return s->out + s->out_to;
}

void tls_forget(tls_state *s) {
  s->stage = TLS_STAGE_NONE;
  tls_protect_clear(&s->read);
  tls_protect_clear(&s->write);
  ecr_wipe(&s->hs, sizeof s->hs);
  ecr_wipe(s->resumption, sizeof s->resumption);
  ecr_wipe(&s->ticket, sizeof s->ticket);
}

tls_alert tls_fail(tls_state *s, tls_alert alert, const char *reason) {
  const uint8_t message[2] = {2, (uint8_t)alert}; /* fatal */
  size_t n, written;
  uint8_t *out;
  if (s->failure.alert != TLS_ALERT_NONE) return s->failure.alert;
  s->failure.alert = alert;
  s->failure.reason = reason;
  out = room(s, &n);
  if (!s->closed &&
      tls_record_seal(&s->write, TLS_ALERT, message, sizeof message, out, n, &written) == ECR_OK) {
    s->out_to += written;
  }
  tls_forget(s);
  return alert;
}

tls_alert tls_send(tls_state *s, int type, const uint8_t *p, size_t n) {
  size_t size, written;
  uint8_t *out = room(s, &size);
  if (tls_record_seal(&s->write, type, p, n, out, size, &written) != ECR_OK) {
    return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "what was to be sent could not be sealed");
  }
  s->out_to += written;
  return TLS_ALERT_NONE;
}

tls_alert tls_send_message(tls_state *s, const uint8_t *p, size_t n) {
  if (s->hs.transcript.hash) tls_transcript_add(&s->hs.transcript, (tls_bytes){p, n});
  return tls_send(s, TLS_HANDSHAKE, p, n);
}

tls_alert tls_send_change(tls_state *s) {
  static const uint8_t record[] = {TLS_CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1};
  size_t n;
  uint8_t *out = room(s, &n);
  /* Only where the ClientHello had a session id, which is what asks for the compatibility mode. */
  if (s->changed || s->hs.session_id_size == 0) return TLS_ALERT_NONE;
  s->changed = 1;
  if (n < sizeof record) {
    return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "what was to be sent could not be sealed");
  }
  memcpy(out, record, sizeof record);
  s->out_to += sizeof record;
  return TLS_ALERT_NONE;
}

tls_alert tls_send_update(tls_state *s, int ask) {
  const uint8_t message[5] = {TLS_KEY_UPDATE, 0, 0, 1, (uint8_t)ask};
  const tls_alert alert = tls_send(s, TLS_HANDSHAKE, message, sizeof message);
  if (alert != TLS_ALERT_NONE) return alert;
  /* "After sending a KeyUpdate message, the sender SHALL send all its traffic using the next
  ** generation of keys" (RFC 8446 4.6.3). */
  if (tls13_protect_next(&s->write, s->suite->hash) != ECR_OK) {
    return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the cipher is not there any more");
  }
  s->update_asked |= ask;
  s->update_waits = 1;
  return TLS_ALERT_NONE;
}

tls_alert tls_draw(tls_state *s, void *out, size_t n) {
  const tls_config *config = &s->hs.config;
  const ecr_status status =
      config->random ? config->random(config->random_context, out, n) : ecr_random(out, n);
  if (status == ECR_OK) return TLS_ALERT_NONE;
  return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the system gives no random bytes");
}
