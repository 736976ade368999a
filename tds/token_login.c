/*
** tds/token_login.c: LOGINACK, FEATUREEXTACK, FEDAUTHINFO, SSPI, SESSIONSTATE ([MS-TDS] 2.2.7.15, .11, .12, .22, .21).
*/
#include "tdsInt.h"

static tds_status refuse(tds_stream *s, const char *what, int detail) {
  return tds_refuse(s, TDS_MALFORMED, what, detail);
}

tds_status tds_parse_bytes(tds_stream *s, tds_reader *r) {
  s->token.as.bytes.p = r->p;
  s->token.as.bytes.n = r->n;
  r->i = r->n;
  return TDS_TOKEN;
}

/* Version and build are BE. */
tds_status tds_parse_loginack(tds_stream *s, tds_reader *r) {
  tds_token *t = &s->token;
  t->as.loginack.interface_type = tds_u8(r);
  uint32_t version = 0;
  for (int i = 0; i < 4; i++) version = version << 8 | tds_u8(r);
  t->as.loginack.tds_version = version;
  t->as.loginack.program = tds_b_varchar(r);
  t->as.loginack.major = tds_u8(r);
  t->as.loginack.minor = tds_u8(r);
  const uint32_t high = tds_u8(r);
  t->as.loginack.build = (uint16_t)(high << 8 | tds_u8(r));
  if (!r->bad && r->i != r->n) return refuse(s, "a LOGINACK longer than its fields", 0);
  return TDS_TOKEN;
}

/* "If the client did not send a request for a specific feature but the FeatureId is returned, the client MUST
** consider it as a TDS Protocol error" */
tds_status tds_parse_features(tds_stream *s, tds_reader *r) {
  tds_token *t = &s->token;
  t->as.features.n = 0;
  t->as.features.mask = 0;
  for (;;) {
    const uint8_t id = tds_u8(r);
    if (r->bad) return TDS_OK;
    if (id == 0xFF) break;
    if (id >= 32 || !(s->features & TDS_FEATURE(id))) {
      return refuse(s, "a feature acknowledged that was not asked for:", id);
    }
    if (t->as.features.n == TDS_FEATURES) return refuse(s, "too many features", 0);
    const size_t n = tds_u32(r);
    if (n > TDS_HELD_MAX) return refuse(s, "a feature of excessive length:", id);
    const uint8_t *p = tds_take(r, n);
    if (r->bad) return TDS_OK;
    if (id == TDS_FEATURE_DATA_CLASSIFICATION && n > 0) s->classification = p[0];
    const size_t i = t->as.features.n++;
    t->as.features.feature[i].id = id;
    t->as.features.feature[i].p = p;
    t->as.features.feature[i].n = n;
    t->as.features.mask |= TDS_FEATURE(id);
  }
  return TDS_TOKEN;
}

/* ---- FEDAUTHINFO: a count, entries of {id, length, offset from the count on}, then what they point to ------ */

#define ENTRY 9

int tds_fedauth_entry(const tds_token *token, size_t i, tds_fedauth *out) {
  tds_reader r = {token->as.bytes.p, token->as.bytes.n, 0, 0};
  const uint32_t count = tds_u32(&r);
  if (r.bad || i >= count || i > r.n / ENTRY) return 0;
  tds_take(&r, i * ENTRY);
  out->id = tds_u8(&r);
  const size_t n = tds_u32(&r), offset = tds_u32(&r);
  if (r.bad || offset > r.n || n > r.n - offset || n % 2 != 0) return 0;
  out->text = (tds_utf16){token->as.bytes.p + offset, n / 2};
  return 1;
}

tds_status tds_parse_fedauth(tds_stream *s, tds_reader *r) {
  const tds_reader start = *r;
  tds_parse_bytes(s, r);
  tds_reader head = start;
  const uint32_t count = tds_u32(&head);
  tds_fedauth entry;
  if (head.bad) return refuse(s, "a FEDAUTHINFO without entries", 0);
  for (uint32_t i = 0; i < count; i++) {
    if (!tds_fedauth_entry(&s->token, i, &entry)) {
      return refuse(s, "a FEDAUTHINFO entry beyond its end", 0);
    }
  }
  return TDS_TOKEN;
}

tds_status tds_parse_session(tds_stream *s, tds_reader *r) {
  tds_u32(r); /* sequence number */
  tds_u8(r);  /* recoverable */
  while (r->i < r->n && !r->bad) {
    tds_u8(r); /* id */
    size_t n = tds_u8(r);
    if (n == 0xFF) n = tds_u32(r);
    tds_take(r, n);
  }
  if (r->bad) return TDS_OK;
  return tds_parse_bytes(s, r);
}
