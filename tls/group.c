/*
** tls/group.c: (EC)DHE: the groups, our share of one, what is agreed (RFC 8446 4.2.8, 7.4.2; RFC
** 8422 5).
*/
#include "tlsInt.h"

/* In order of preference. A ClientHello has a share of the first alone; a HelloRetryRequest may ask
** for another. */
static const tls_group table[] = {
    {TLS_X25519, "x25519", 32, 32, ECR_P256},
    {0x0017, "secp256r1", 65, 32, ECR_P256},
    {0x0018, "secp384r1", 97, 48, ECR_P384},
};
#define GROUPS ((int)(sizeof table / sizeof table[0]))

const tls_group *tls_group_find(uint32_t code) {
  for (int i = 0; i < GROUPS; i++) {
    if (table[i].code == code) return &table[i];
  }
  return NULL;
}

const tls_group *tls_group_offer(int i) { return i < GROUPS ? &table[i] : NULL; }

tls_alert tls_group_start(tls_state *s, const tls_group *group) {
  tls_handshake *hs = &s->hs;
  hs->group = group;
  /* A scalar of 0 or beyond the order is drawn again; that takes luck once in 2^32 connections. */
  for (int tries = 0; tries < 8; tries++) {
    const tls_alert alert = tls_draw(s, hs->scalar, group->secret);
    if (alert != TLS_ALERT_NONE) return alert;
    if (group->code == TLS_X25519) {
      ecr_x25519_public(hs->share, hs->scalar);
      return TLS_ALERT_NONE;
    }
    if (ecr_ec_public(group->curve, hs->share, hs->scalar) == ECR_OK) return TLS_ALERT_NONE;
  }
  return tls_fail(s, TLS_ALERT_INTERNAL_ERROR, "the random source gives no key");
}

tls_alert tls_group_agree(tls_state *s, tls_bytes share, uint8_t secret[TLS_SECRET_MAX]) {
  tls_handshake *hs = &s->hs;
  ecr_status status = ECR_REFUSED;
  if (share.n != hs->group->share) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a key share of the wrong size");
  }
  /* "endpoints SHOULD abort" where the result is zeros (7.4.2); a point must be on the curve and
  ** uncompressed (4.2.8.2). */
  if (hs->group->code == TLS_X25519) {
    status = ecr_x25519(secret, hs->scalar, share.p);
  } else if (share.p[0] == 4) {
    status = ecr_ecdh(hs->group->curve, secret, hs->scalar, share.p, share.n);
  }
  ecr_wipe(hs->scalar, sizeof hs->scalar);
  if (status != ECR_OK) {
    return tls_fail(s, TLS_ALERT_ILLEGAL_PARAMETER, "a key share that is no point of its group");
  }
  s->group = hs->group;
  return TLS_ALERT_NONE;
}
