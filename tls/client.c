/*
** tls/client.c: the calls of tls.h: start, records in, records out, the end.
*/
#include "tlsInt.h"

_Static_assert(sizeof(tls_state) <= TLS_CLIENT_SIZE, "TLS_CLIENT_SIZE has become too small");
_Static_assert(TLS_OUT_SIZE + TLS_LEAF_SIZE + 4 + TLS_MESSAGE_MAX <= TLS_WORK,
               "TLS_WORK has become too small");

/* ---- Start and end --------------------------------------------------------------------------- */

static int connected(const tls_state *s) {
  return s->stage == TLS13_CONNECTED || s->stage == TLS12_CONNECTED;
}

static int failed(const tls_state *s) { return s->failure.alert != TLS_ALERT_NONE; }

/* No certificate could be for it, so that nobody needs to be asked. */
static int has_name(const tls_config *config) {
  tls_name name;
  return tls_name_read(&name, config->server_name);
}

/* 0 where the config asks for what there is not. Sets what it leaves to us. */
static int check_config(tls_config *config) {
  if (!config->trust) return 0;
  if (config->min_version == 0) config->min_version = TLS_1_2;
  if (config->max_version == 0) config->max_version = TLS_1_3;
  if (config->min_version < TLS_1_2 || config->max_version > TLS_1_3 ||
      config->min_version > config->max_version) {
    return 0;
  }
  size_t names = 0;
  for (const char *const *name = config->alpn; name && *name; name++) {
    if (!**name || strlen(*name) > TLS_ALPN_MAX) return 0;
    names += 1 + strlen(*name);
    if (names > TLS_ALPN_LIST_MAX) return 0;
  }
  return !config->alpn_required || (config->alpn && *config->alpn);
}

/* "A client which has a cached session ID set by a pre-TLS 1.3 server SHOULD set this field to that
** value" (RFC 8446 4.1.2). With a ticket any id serves to see in the answer that it was taken (RFC
** 5077 3.4). */
static void offer_session_id(tls_handshake *hs) {
  const tls_session *session = hs->session;
  if (session->ticket_size > 0) {
    hs->session_id_size = sizeof hs->session_id;
  } else {
    hs->session_id_size = session->id_size;
    memcpy(hs->session_id, session->id, session->id_size);
  }
}

/* The ClientHello, whose record says 0x0301 "for compatibility purposes" (RFC 8446 5.1). */
static tls_alert send_hello(tls_state *s) {
  tls_handshake *hs = &s->hs;
  uint8_t *message = s->out + TLS_HEADER;
  tls_alert alert = tls_draw(s, hs->random, sizeof hs->random);
  if (alert != TLS_ALERT_NONE) return alert;
  if ((alert = tls_draw(s, hs->session_id, sizeof hs->session_id)) != TLS_ALERT_NONE) return alert;
  if (hs->config.max_version >= TLS_1_3) hs->session_id_size = sizeof hs->session_id;
  if (hs->session && hs->session->version == TLS_1_2) offer_session_id(hs);
  if ((alert = tls_group_start(s, tls_group_offer(0))) != TLS_ALERT_NONE) return alert;
  const size_t n = tls_hello_make(s, message, TLS_OUT_SIZE - TLS_HEADER);
  if (n == 0) return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "no room for the ClientHello");
  hs->hello = (tls_bytes){message, n};
  if ((alert = tls_send(s, TLS_HANDSHAKE, message, n)) != TLS_ALERT_NONE) return alert;
  s->out[2] = 1;
  return TLS_ALERT_NONE;
}

ecr_status tls_start(tls_client *client, const tls_config *config, uint8_t *work,
                     size_t work_size) {
  tls_state *s = tls_state_of(client);
  memset(s, 0, sizeof *s);
  s->failure.alert = TLS_ALERT_NONE;
  s->hs.config = *config;
  s->now = s->verified = config->now;
  if (!has_name(config)) {
    tls_flaw_tell(TLS_FLAW_NO_NAME, TLS_ROLE_LEAF, &s->failure);
    return ECR_INVALID;
  }
  if (!check_config(&s->hs.config) || !work || work_size < TLS_WORK) {
    s->failure = (tls_failure){TLS_ALERT_INTERNAL_ERROR, 0, "the configuration is not complete"};
    return ECR_INVALID;
  }
  s->out = work;
  s->leaf = work + TLS_OUT_SIZE;
  s->message = s->leaf + TLS_LEAF_SIZE;
  s->read.limit = s->write.limit = TLS_RECORDS_PER_KEY;
  s->read.most = 2 * TLS_RECORDS_PER_KEY;
  s->stage = TLS_WAIT_SERVER_HELLO;
  s->hs.verify =
      (tls_verify){.trust = config->trust, .server_name = config->server_name, .now = config->now};
  tls_session_bind(s);
  if (tls_session_fits(s, config->session)) s->hs.session = config->session;
  return send_hello(s) == TLS_ALERT_NONE ? ECR_OK : ECR_NOT_FOUND;
}

void tls_clear(tls_client *client) {
  tls_state *s = tls_state_of(client);
  tls_protect_clear(&s->read);
  tls_protect_clear(&s->write);
  if (s->out) ecr_wipe(s->out, TLS_WORK);
  ecr_wipe(s, sizeof *s);
  s->failure = (tls_failure){TLS_ALERT_INTERNAL_ERROR, 0, "the client was cleared"};
}

ecr_status tls_use_aead(tls_client *client, const ecr_aead *const aeads[ECR_CIPHERS]) {
  static const struct {
    const char *cipher;
    size_t key_size;
  } places[ECR_CIPHERS] = {[ECR_AES_128_GCM] = {"aes128gcm", 16},
                           [ECR_AES_256_GCM] = {"aes256gcm", 32},
                           [ECR_CHACHA20_POLY1305] = {"chacha20poly1305", 32}};
  tls_state *s = tls_state_of(client);
  if (failed(s) || s->taken) return ECR_INVALID;
  for (int i = 0; i < ECR_CIPHERS; i++) {
    const ecr_aead *aead = aeads[i];
    if (!aead) continue;
    if (!aead->cipher || strcmp(aead->cipher, places[i].cipher) != 0 ||
        aead->key_size != places[i].key_size || aead->context_size > ECR_AEAD_CONTEXT ||
        !aead->init || !aead->seal || !aead->open || !aead->clear) {
      return ECR_INVALID;
    }
  }
  memcpy(s->aeads, aeads, sizeof s->aeads);
  return ECR_OK;
}

/* ---- Out ------------------------------------------------------------------------------------- */

const uint8_t *tls_output(tls_client *client, size_t *n) {
  tls_state *s = tls_state_of(client);
  s->taken = 1;
  *n = s->out_to - s->out_from;
  return *n ? s->out + s->out_from : NULL;
}

void tls_sent(tls_client *client, size_t n) {
  tls_state *s = tls_state_of(client);
  const size_t waiting = s->out_to - s->out_from;
  s->out_from += n < waiting ? n : waiting;
  if (s->out_from == s->out_to) s->update_waits = 0;
}

size_t tls_seal_offset(const tls_client *client) {
  return tls_record_before(&((const tls_state *)(const void *)client->bytes)->write);
}

ecr_status tls_seal(tls_client *client, const uint8_t *data, size_t n, uint8_t *out,
                    size_t out_size, size_t *written) {
  tls_state *s = tls_state_of(client);
  *written = 0;
  if (!connected(s) || failed(s) || s->closed || n == 0) return ECR_INVALID;
  if (s->version == TLS_1_3 && s->write.sequence >= s->write.limit &&
      tls_send_update(s, 0) != TLS_ALERT_NONE) {
    return ECR_INVALID;
  }
  return tls_record_seal(&s->write, TLS_APPLICATION_DATA, data, n, out, out_size, written);
}

void tls_close(tls_client *client) {
  static const uint8_t notify[2] = {1, TLS_ALERT_CLOSE_NOTIFY};
  tls_state *s = tls_state_of(client);
  if (failed(s) || s->closed) return;
  if (!connected(s)) {
    tls_fail(s, TLS_ALERT_USER_CANCELED, "closed before the handshake was over");
  } else if (tls_send(s, TLS_ALERT, notify, sizeof notify) == TLS_ALERT_NONE) {
    s->closed = 1;
  }
}

ecr_status tls_update_keys(tls_client *client) {
  tls_state *s = tls_state_of(client);
  if (!connected(s) || failed(s) || s->closed) return ECR_INVALID;
  if (s->version != TLS_1_3 || s->update_asked) return ECR_OK;
  return tls_send_update(s, 1) == TLS_ALERT_NONE ? ECR_OK : ECR_INVALID;
}

/* ---- In -------------------------------------------------------------------------------------- */

/* A record that brought nothing; a server could send them for ever. */
static tls_alert idle(tls_state *s) {
  if (++s->idle <= TLS_IDLE_MAX) return TLS_ALERT_NONE;
  return tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "the server sends records without end and data");
}

/* RFC 8446 5: a CCS of one byte 01 "at any time after the first ClientHello message has been sent …
** and before the peer's Finished message has been received" is dropped. In TLS 1.2 it has its place
** in the table. */
static tls_alert take_change(tls_state *s, const tls_content *content) {
  if (content->n != 1 || content->p[0] != 1 || connected(s)) {
    return tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "a change of ciphers that may not come now");
  }
  if (s->version == TLS_1_2) return tls_handshake_change(s);
  if (s->hs.config.max_version < TLS_1_3) {
    return tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "a change of ciphers that may not come now");
  }
  s->hs.changes = 1;
  return idle(s);
}

static tls_status end_by_server(tls_state *s, int alert, const char *reason) {
  s->failure = (tls_failure){(tls_alert)alert, 1, reason};
  tls_forget(s);
  return TLS_FAILED;
}

/* RFC 8446 6; RFC 5246 7.2, whose warnings (level 1) a client may leave unanswered. */
static tls_status take_alert(tls_state *s, const tls_content *content) {
  if (content->n != 2) {
    tls_fail(s, TLS_ALERT_DECODE_ERROR, "an alert that cannot be read");
    return TLS_FAILED;
  }
  const int level = content->p[0], alert = content->p[1];
  if (alert == TLS_ALERT_NONE) { /* a number that RFC 8446 B.2 does not give, and that we use */
    tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "an alert that there is not");
    return TLS_FAILED;
  }
  if (alert == TLS_ALERT_CLOSE_NOTIFY) {
    if (!connected(s)) {
      return end_by_server(s, alert, "the server closed the connection during the handshake");
    }
    s->ended = 1;
    return TLS_END;
  }
  /* "user_canceled … SHOULD be followed by a close_notify" (6.1); else in TLS 1.3 "all … MUST be
  ** treated as error alerts regardless of the AlertLevel" (6.2). */
  if (alert == TLS_ALERT_USER_CANCELED || (level == 1 && s->version != TLS_1_3)) {
    return idle(s) == TLS_ALERT_NONE ? TLS_OK : TLS_FAILED;
  }
  return end_by_server(s, alert, "the server ended the connection");
}

static tls_status take_data(tls_state *s, const tls_content *content, tls_received *got) {
  if (!connected(s)) {
    tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "data came before the handshake was over");
    return TLS_FAILED;
  }
  /* "Zero-length fragments of Application Data MAY be sent, as they are potentially useful as a
  ** traffic analysis countermeasure" (5.1). */
  if (content->n == 0) return idle(s) == TLS_ALERT_NONE ? TLS_OK : TLS_FAILED;
  /* One that was asked and goes on under the old key would pass what a cipher bears (5.5). */
  if (s->version == TLS_1_3 && s->read.sequence > s->read.most) {
    tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the server does not change its key when it should");
    return TLS_FAILED;
  }
  s->idle = 0;
  got->data = content->p;
  got->size = content->n;
  /* The server is asked for new keys as we would make our own (5.5). */
  if (s->version == TLS_1_3 && s->read.sequence >= s->read.limit && !s->update_asked &&
      !s->closed && tls_send_update(s, 1) != TLS_ALERT_NONE) {
    return TLS_FAILED;
  }
  return TLS_DATA;
}

static tls_status take_handshake(tls_state *s, const tls_content *content) {
  const int before = connected(s);
  if (tls_handshake_take(s, content->p, content->n) != TLS_ALERT_NONE) return TLS_FAILED;
  if (connected(s) && !before) {
    s->idle = 0;
    return TLS_CONNECTED;
  }
  if (before && idle(s) != TLS_ALERT_NONE) return TLS_FAILED;
  return TLS_OK;
}

static tls_status take(tls_state *s, const tls_content *content, tls_received *got) {
  /* "If a handshake message is split over two or more records, there MUST NOT be any other records
  ** between them" (5.1). */
  if (s->have > 0 && content->type != TLS_HANDSHAKE) {
    tls_fail(s, TLS_ALERT_UNEXPECTED_MESSAGE, "a record within a handshake message");
    return TLS_FAILED;
  }
  switch (content->type) {
  case TLS_CHANGE_CIPHER_SPEC:
    return take_change(s, content) == TLS_ALERT_NONE ? TLS_OK : TLS_FAILED;
  case TLS_ALERT:
    return take_alert(s, content);
  case TLS_HANDSHAKE:
    return take_handshake(s, content);
  default:
    return take_data(s, content, got);
  }
}

tls_status tls_receive(tls_client *client, uint8_t *in, size_t n, tls_received *got) {
  tls_state *s = tls_state_of(client);
  tls_content content;
  memset(got, 0, sizeof *got);
  if (failed(s)) return TLS_FAILED;
  /* "Any data received after a closure alert has been received MUST be ignored" (6.1). */
  if (s->ended) {
    got->used = n;
    return TLS_END;
  }
  got->need = TLS_HEADER;
  if (n < TLS_HEADER) return TLS_MORE;
  content = tls_record_header(&s->read, in);
  if (content.alert == TLS_ALERT_NONE) {
    got->need = TLS_HEADER + (size_t)(in[3] << 8 | in[4]);
    if (n < got->need) return TLS_MORE;
    got->used = got->need;
    content = tls_record_open(&s->read, in, got->used);
  }
  if (content.alert != TLS_ALERT_NONE) {
    tls_fail(s, content.alert, content.reason);
    return TLS_FAILED;
  }
  return take(s, &content, got);
}

tls_status tls_receive_end(tls_client *client) {
  tls_state *s = tls_state_of(client);
  if (failed(s)) return TLS_FAILED;
  if (s->ended) return TLS_END;
  /* Nothing is sent: there is nobody to hear it. */
  s->closed = 1;
  tls_fail(s, TLS_ALERT_CLOSE_NOTIFY,
           "the connection ended without close_notify: data may be missing");
  return TLS_FAILED;
}

/* ---- What there is to know ------------------------------------------------------------------- */

tls_failure tls_failed(const tls_client *client) {
  return ((const tls_state *)(const void *)client->bytes)->failure;
}

void tls_agreed_get(const tls_client *client, tls_agreed *agreed) {
  const tls_state *s = (const tls_state *)(const void *)client->bytes;
  memset(agreed, 0, sizeof *agreed);
  agreed->version = s->version;
  if (s->suite) agreed->suite = s->suite->name;
  if (s->group) agreed->group = s->group->name;
  if (s->alpn[0]) agreed->alpn = s->alpn;
  if (s->read.aead) agreed->cipher_backend = s->read.aead->backend;
  agreed->resumed = s->resumed;
}

int tls_session_get(tls_client *client, tls_session *session) {
  tls_state *s = tls_state_of(client);
  if (!s->ticket.used) return 0;
  *session = s->ticket;
  ecr_wipe(&s->ticket, sizeof s->ticket);
  return 1;
}
