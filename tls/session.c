/*
** tls/session.c: what is kept of a session, and where it may be offered again (RFC 8446 4.2.11,
** 4.6.1; RFC 5246 7.4.1.2, RFC 5077).
**
** A ticket resumes what was verified under some name, trust and list of protocols. Offered
** elsewhere it would let one server speak for another, so each session carries a hash of these.
*/
#include "tlsInt.h"

static void add(ecr_hash_context *context, const void *p, size_t n) {
  uint8_t size[8];
  for (int i = 0; i < 8; i++) size[i] = (uint8_t)((uint64_t)n >> (8 * i));
  ecr_sha256.update(context, size, sizeof size);
  if (n) ecr_sha256.update(context, p, n);
}

void tls_session_bind(tls_state *s) {
  const tls_config *config = &s->hs.config;
  const tls_trust *trust = config->trust;
  const uint8_t demands[2] = {(uint8_t)(config->alpn_required != 0),
                              (uint8_t)(config->allow_no_extended_master_secret != 0)};
  ecr_hash_context context;
  ecr_sha256.init(&context);
  add(&context, config->server_name, strlen(config->server_name));
  add(&context, trust->identity, sizeof trust->identity);
  add(&context, trust->pins, trust->pin_count * TLS_SPKI_HASH);
  add(&context, trust->certificate_pins, trust->certificate_pin_count * 32);
  add(&context, demands, sizeof demands);
  for (const char *const *name = config->alpn; name && *name; name++) {
    add(&context, *name, strlen(*name));
  }
  ecr_sha256.digest(&context, s->binding);
}

void tls_session_keep(tls_state *s, const uint8_t *secret, size_t n, uint32_t lifetime) {
  tls_session *session = &s->ticket;
  session->used = 1;
  session->version = s->version;
  session->suite = s->suite->code;
  memcpy(session->secret, secret, n);
  session->secret_size = n;
  /* "Clients MUST NOT cache tickets for longer than 7 days, regardless of the ticket_lifetime"
  ** (4.6.1). */
  session->lifetime = lifetime < TLS_SESSION_MAX ? lifetime : TLS_SESSION_MAX;
  session->received = s->now;
  session->verified = s->verified;
  memcpy(session->binding, s->binding, sizeof session->binding);
}

/* A clock that went back makes no session older. */
static int is_within(int64_t now, int64_t from, uint32_t seconds) {
  return now >= from && (uint64_t)now - (uint64_t)from < seconds;
}

int tls_session_fits(const tls_state *s, const tls_session *session) {
  const tls_config *config = &s->hs.config;
  if (!session || !session->used) return 0;
  if (session->version < config->min_version || session->version > config->max_version) return 0;
  const tls_suite *suite = tls_suite_find(session->suite);
  if (!suite || suite->version != session->version) return 0;
  const size_t secret = suite->version == TLS_1_3 ? suite->hash->size : TLS12_MASTER;
  if (session->secret_size != secret || session->ticket_size > sizeof session->ticket ||
      session->id_size > sizeof session->id) {
    return 0;
  }
  if (session->ticket_size == 0 && (suite->version == TLS_1_3 || session->id_size == 0)) return 0;
  /* One that is over is not offered (4.6.1). */
  if (!is_within(config->now, session->received, session->lifetime) ||
      !is_within(config->now, session->verified, TLS_SESSION_MAX)) {
    return 0;
  }
  return ecr_equal(session->binding, s->binding, sizeof s->binding);
}
