/*
** drivers/sqlserver_link.c: bytes to and from the server: TCP, TLS records opened where they were received, and
** the ways in which a wait ends.
**
** Nothing is lost by stopping: what was received stays in the buffer, and a packet that was begun is sent to its
** end, so that the server can be told to stop between two packets.
*/
#include <string.h>
#include <time.h>

#include "sqlserver.h"
#include "trust.h"

#define DRAIN_MS 5000 /* for the rest of a packet when someone wants to stop */
#define ASK_MS 100

/* ---- Stopping ---------------------------------------------------------------------------------------------- */

int ms_link_asks(void *context) {
  ms_link *l = context;
  if (l->draining) return 0;
  if (atomic_load_explicit(&l->cancelled, memory_order_relaxed)) return 1;
  return l->host->interrupted && l->host->interrupted(l->host->context);
}

/* When the next wait ends. */
static int64_t deadline(const ms_link *l, int64_t now) {
  if (l->end) return l->end;
  return l->host->timeout_ms > 0 ? now + l->host->timeout_ms : 0;
}

/* While bytes flow, nothing waits and nobody is asked; so it is done here. */
static int wants_stop(ms_link *l, int64_t now, edb_error *error) {
  if (now - l->asked < ASK_MS) return EDB_OK;
  l->asked = now;
  return ms_link_asks(l) ? edb_fail(error, EDB_INTERRUPTED, "interrupted") : EDB_OK;
}

/* ---- Sending ------------------------------------------------------------------------------------------------ */

static int broken(ms_link *l, int rc) {
  l->broken = 1;
  return rc;
}

static int tls_broken(ms_link *l, edb_error *error) {
  const tls_failure f = tls_failed(l->tls);
  const char *reason = f.reason ? f.reason : "the connection broke";
  const edb_code code = l->secure ? EDB_CLOSED : EDB_FAILED;
  edb_fail(error, code, "TLS with %s failed: %s%s%s%s", l->net.peer, reason,
           f.alert == TLS_ALERT_NONE ? ""
           : f.from_server           ? " (the server's alert: "
                                     : " (",
           f.alert == TLS_ALERT_NONE ? "" : tls_alert_name((int)f.alert),
           f.alert == TLS_ALERT_NONE ? "" : ")");
  if (f.alert == TLS_ALERT_UNKNOWN_CA && !f.from_server) {
    edb_fail_hint(error, "ca=FILE says which authorities are trusted, pin=SHA-256 which key");
  }
  return broken(l, (int)code);
}

/* All of it, also where someone wants to stop: EDB_INTERRUPTED then. */
static int send_all(ms_link *l, const uint8_t *p, size_t n, edb_error *error) {
  int64_t end = deadline(l, edb_net_now_ms());
  int stopped = 0;
  while (n > 0) {
    size_t sent;
    int may, rc = edb_net_send_some(&l->net, p, n, &sent, error);
    if (rc != EDB_OK) return broken(l, rc);
    p += sent, n -= sent;
    if (n == 0) break;
    rc = edb_net_wait(&l->net, EDB_NET_WRITE, &may, end, stopped ? NULL : error);
    if (rc == EDB_OK) continue;
    if (rc != EDB_INTERRUPTED || stopped || l->draining) return broken(l, rc);
    stopped = l->draining = 1;
    end = edb_net_now_ms() + DRAIN_MS;
  }
  if (!stopped) return wants_stop(l, edb_net_now_ms(), error);
  l->draining = 0;
  return EDB_INTERRUPTED;
}

/* What TLS has to say of its own: the handshake, alerts, new keys. */
static int send_output(ms_link *l, edb_error *error) {
  const uint8_t *p;
  size_t n;
  int rc = EDB_OK;
  while (rc == EDB_OK && (p = tls_output(l->tls, &n)) != NULL) {
    if (l->wrapped && !l->secure) {
      tds_message m;
      const uint8_t *packet;
      size_t size;
      if (n > TDS_LOGIN_PACKET - TDS_HEADER) n = TDS_LOGIN_PACKET - TDS_HEADER;
      tds_message_begin(&m, TDS_PRELOGIN, TDS_LOGIN_PACKET, l->out, MS_LINK_OUT);
      tds_put(&m, p, n);
      tds_message_end(&m);
      if (tds_message_next(&m, &packet, &size) == TDS_OK) rc = send_all(l, packet, size, error);
    } else {
      rc = send_all(l, p, n, error);
    }
    tls_sent(l->tls, n);
  }
  return rc;
}

int ms_link_send(ms_link *l, const uint8_t *p, size_t n, edb_error *error) {
  size_t written;
  int rc = EDB_OK, stop = EDB_OK;
  if (l->broken) return edb_fail(error, EDB_CLOSED, "the connection to the server is gone");
  if (!l->secure) return send_all(l, p, n, error);
  if (tls_seal(l->tls, p, n, l->out, MS_LINK_OUT, &written) != ECR_OK) return tls_broken(l, error);
  stop = send_output(l, error);
  if (stop != EDB_OK && stop != EDB_INTERRUPTED) return stop;
  rc = send_all(l, l->out, written, error);
  return rc == EDB_OK ? stop : rc;
}

/* ---- Receiving ----------------------------------------------------------------------------------------------- */

/* The payload of the PRELOGIN packets that stand in the last n bytes takes their place. */
static int unwrap(ms_link *l, size_t n, edb_error *error) {
  const uint8_t *p = l->in + l->have;
  tds_chunk chunk;
  tds_status status;
  while ((status = tds_packets_next(&l->unwrapping, &p, &n, &chunk)) == TDS_OK) {
    if (chunk.type != TDS_PRELOGIN && chunk.type != TDS_REPLY) status = TDS_MALFORMED;
    if (status != TDS_OK) break;
    memmove(l->in + l->have, chunk.p, chunk.n);
    l->have += chunk.n;
  }
  if (status == TDS_MORE) return EDB_OK;
  edb_fail(error, EDB_CLOSED, "%s does not answer as a SQL Server does", l->net.peer);
  return broken(l, EDB_CLOSED);
}

/* Receives more, behind what is there. EDB_DONE: nothing is there, and wait is not set. */
static int fill(ms_link *l, int wait, edb_error *error) {
  size_t got;
  const int64_t now = edb_net_now_ms();
  int rc = wants_stop(l, now, error);
  if (rc != EDB_OK) return rc;
  if (l->from > 0) {
    memmove(l->in, l->in + l->from, l->have - l->from);
    l->have -= l->from;
    l->from = 0;
  }
  rc = edb_net_receive(&l->net, l->in + l->have, wait ? 1 : 0, MS_LINK_IN - l->have, &got,
                       deadline(l, now), error);
  if (rc == EDB_OK && got == 0) return EDB_DONE;
  if (rc == EDB_OK && l->wrapped && !l->secure) return unwrap(l, got, error);
  if (rc == EDB_OK) {
    l->have += got;
    return EDB_OK;
  }
  if (rc == EDB_INTERRUPTED) return rc;
  if (rc == EDB_DONE) {
    rc = edb_fail(error, EDB_CLOSED, "%s has closed the connection", l->net.peer);
    if (l->tls && !l->secure) {
      edb_fail_hint(
          error,
          "encrypt=strict needs SQL Server 2022 or Azure SQL; before them encrypt=mandatory");
    }
  }
  return broken(l, rc);
}

int ms_link_receive(ms_link *l, int wait, const uint8_t **p, size_t *n, edb_error *error) {
  for (;;) {
    int rc;
    if (l->broken) return edb_fail(error, EDB_CLOSED, "the connection to the server is gone");
    if (!l->secure && l->have > l->from) {
      *p = l->in + l->from;
      *n = l->have - l->from;
      l->from = l->have;
      return EDB_OK;
    }
    while (l->secure && l->have > l->from) {
      tls_received got;
      const tls_status status = tls_receive(l->tls, l->in + l->from, l->have - l->from, &got);
      if (status == TLS_MORE) break;
      l->from += got.used;
      if (status == TLS_DATA) {
        *p = got.data;
        *n = got.size;
        return EDB_OK;
      }
      if (status == TLS_FAILED) {
        (void)send_output(l, NULL);
        return tls_broken(l, error);
      }
      if (status == TLS_END) {
        edb_fail(error, EDB_CLOSED, "%s has closed the connection", l->net.peer);
        return broken(l, EDB_CLOSED);
      }
      rc = send_output(l, error);
      if (rc != EDB_OK) return rc;
    }
    rc = fill(l, wait, error);
    if (rc != EDB_OK) return rc;
  }
}

/* ---- Opening and closing --------------------------------------------------------------------------------------- */

int ms_link_open(ms_link *l, const char *host, unsigned port, edb_error *error) {
  l->from = l->have = 0;
  l->secure = l->wrapped = l->broken = l->offered = 0;
  l->unwrapping = (tds_packets){0};
  const int rc =
      edb_net_connect(&l->net, host, port, deadline(l, edb_net_now_ms()), ms_link_asks, l, error);
  return rc == EDB_OK ? rc : broken(l, rc);
}

static int shake_hands(ms_link *l, edb_error *error) {
  for (;;) {
    tls_received got;
    int rc = send_output(l, error);
    if (rc != EDB_OK) return rc;
    const tls_status status = tls_receive(l->tls, l->in + l->from, l->have - l->from, &got);
    l->from += got.used;
    if (status == TLS_FAILED) {
      (void)send_output(l, NULL);
      return tls_broken(l, error);
    }
    if (status == TLS_CONNECTED) {
      rc = send_output(l, error);
      l->secure = 1;
      return rc;
    }
    if (status == TLS_MORE && (rc = fill(l, 1, error)) != EDB_OK) return rc;
  }
}

void ms_link_keep_session(ms_link *l) {
  tls_session session;
  if (!l->secure || !tls_session_get(l->tls, &session)) return;
  ms_session_keep(l->session_key, &session);
  ecr_wipe(&session, sizeof session);
}

/* The handshake, with a session to resume if there is one. */
static int start_tls(ms_link *l, const ms_target *target, tls_config *config, edb_error *error) {
  tls_session session = {0};
  ms_session_key(target, l->net.peer, config->server_name, l->session_key);
  l->offered = !l->anew && ms_session_take(l->session_key, &session);
  if (l->offered) config->session = &session;
  int rc = EDB_OK;
  const ecr_status status = tls_start(l->tls, config, l->work, TLS_WORK);
  if (status == ECR_NOT_FOUND) {
    rc = edb_fail(error, EDB_FAILED, "this system has no random bytes to give");
  } else if (status != ECR_OK || tls_use_aead(l->tls, target->ciphers) != ECR_OK) {
    rc = edb_fail(error, EDB_FAILED, "\"%s\" is no name that a certificate can have",
                  config->server_name);
  } else {
    rc = shake_hands(l, error);
  }
  if (rc == EDB_OK && l->offered) {
    tls_agreed agreed;
    tls_agreed_get(l->tls, &agreed);
    /* In TLS 1.2 it is good for more than one use. */
    if (agreed.resumed && agreed.version < 0x0304) ms_session_keep(l->session_key, &session);
    l->offered = 0;
  }
  ecr_wipe(&session, sizeof session);
  return rc;
}

int ms_link_secure(ms_link *l, const ms_target *target, const char *name, edb_error *error) {
  static const char *const strict_alpn[] = {"tds/8.0", NULL};
  const tls_trust *roots = NULL;
  tls_trust trust;
  tls_trust_init(&trust, NULL, 0, NULL, 0);
  /* A pin replaces the authorities: were both asked, whoever an authority vouches for would pass it. */
  if (target->n_pins > 0) {
    trust.pins = (const uint8_t(*)[TLS_SPKI_HASH])target->pins;
    trust.pin_count = target->n_pins;
  } else {
    const int rc = edb_trust_get(target->ca, &roots, error);
    if (rc != EDB_OK) return rc;
    trust = *roots;
  }
  /* Servers of 7.4 may be as old as TLS 1.2 without RFC 7627, and do not expect 1.3 within packets. */
  tls_config config = {.server_name = name,
                       .trust = &trust,
                       .now = (int64_t)time(NULL),
                       .alpn = target->strict ? strict_alpn : NULL,
                       .max_version = target->strict ? 0 : 0x0303,
                       .allow_no_extended_master_secret = !target->strict};
  l->wrapped = !target->strict;
  const int rc = start_tls(l, target, &config, error);
  if (roots) edb_trust_done(roots);
  return rc == EDB_OK ? rc : broken(l, rc);
}

void ms_link_close(ms_link *l) {
  size_t n, sent;
  const uint8_t *p;
  ms_link_keep_session(l);
  if (l->secure && !l->broken) {
    tls_close(l->tls);
    if ((p = tls_output(l->tls, &n)) != NULL) (void)edb_net_send_some(&l->net, p, n, &sent, NULL);
  }
  edb_net_close(&l->net);
  l->broken = 1;
  l->secure = 0;
  tls_clear(l->tls);
}
