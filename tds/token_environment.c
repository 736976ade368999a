/*
** tds/token_environment.c: ENVCHANGE ([MS-TDS] 2.2.7.9). A token may hold several changes, each of which is told
** as a token of its own.
*/
#include "tdsInt.h"

/* How the new and the old value are written. */
enum form {
  NAMES,     /* B_VARCHAR each */
  DATA,      /* B_VARBYTE each */
  LONG_DATA, /* u32 and bytes; then a zero */
  ADDRESS    /* u16 and protocol, port, US_VARCHAR; then u16 and bytes */
};

static const struct {
  uint8_t kind, form;
} kinds[] = {
    {TDS_ENV_DATABASE, NAMES},
    {TDS_ENV_LANGUAGE, NAMES},
    {3, NAMES}, /* character set */
    {TDS_ENV_PACKET_SIZE, NAMES},
    {5, NAMES},
    {6, NAMES}, /* sorting */
    {TDS_ENV_COLLATION, DATA},
    {TDS_ENV_BEGIN, DATA},
    {TDS_ENV_COMMIT, DATA},
    {TDS_ENV_ROLLBACK, DATA},
    {11, DATA},
    {12, DATA}, /* enlisted, left */
    {TDS_ENV_MIRROR, NAMES},
    {15, LONG_DATA},
    {16, DATA}, /* promoted, manager */
    {TDS_ENV_TRANSACTION_ENDED, DATA},
    {TDS_ENV_RESET, DATA},
    {19, NAMES}, /* user instance */
    {TDS_ENV_ROUTING, ADDRESS},
};

typedef struct data {
  const uint8_t *p;
  size_t n;
} data;

static data b_varbyte(tds_reader *r) {
  const size_t n = tds_u8(r);
  const uint8_t *p = tds_take(r, n);
  return (data){p, p ? n : 0};
}

static tds_status refuse(tds_stream *s, const char *what) {
  return tds_refuse(s, TDS_MALFORMED, what, 0);
}

static tds_status packet_size(tds_stream *s, tds_utf16 text) {
  uint32_t size = 0;
  for (size_t i = 0; i < text.units; i++) {
    const uint32_t c = tds_get_u16(text.p + 2 * i);
    if (c < '0' || c > '9' || size > TDS_PACKET_MAX) return refuse(s, "a packet size that is none");
    size = size * 10 + (c - '0');
  }
  if (size < TDS_PACKET_MIN || size > TDS_PACKET_MAX)
    return refuse(s, "a packet size out of range");
  s->token.as.environment.packet_size = size;
  return TDS_OK;
}

static tds_status collation(tds_stream *s, data d) {
  if (d.n == 0) return TDS_OK;
  if (d.n != 5) return refuse(s, "a collation that is not 5 bytes");
  s->collation = s->token.as.environment.collation = tds_get_u32(d.p);
  s->sort_id = s->token.as.environment.sort_id = d.p[4];
  return TDS_OK;
}

/* The descriptor is new on begin and old at the end. */
static tds_status descriptor(tds_stream *s, data fresh, data old) {
  const data d = s->token.as.environment.kind == TDS_ENV_BEGIN ? fresh : old;
  if (d.n != 0 && d.n != 8) return refuse(s, "a transaction descriptor that is not 8 bytes");
  if (d.n == 8) s->token.as.environment.descriptor = tds_get_u64(d.p);
  return TDS_OK;
}

static tds_status address(tds_stream *s, tds_reader *r) {
  const size_t size = tds_u16(r);
  const uint8_t *p = tds_take(r, size);
  tds_reader in = {p, p ? size : 0, 0, 0};
  const uint8_t protocol = tds_u8(&in);
  s->token.as.environment.port = tds_u16(&in);
  s->token.as.environment.text = tds_us_varchar(&in);
  tds_take(r, tds_u16(r));
  if (r->bad) return TDS_OK;
  if (in.bad || in.i != in.n || s->token.as.environment.text.units == 0) {
    return refuse(s, "a routing address that is none");
  }
  if (protocol != 0) {
    return tds_refuse(s, TDS_UNSUPPORTED, "routing to a protocol other than TCP:", protocol);
  }
  return TDS_OK;
}

static tds_status named(tds_stream *s, tds_reader *r) {
  const tds_utf16 text = tds_b_varchar(r), former = tds_b_varchar(r);
  if (r->bad) return TDS_OK;
  s->token.as.environment.text = text;
  s->token.as.environment.former = former;
  return s->token.as.environment.kind == TDS_ENV_PACKET_SIZE ? packet_size(s, text) : TDS_OK;
}

static tds_status valued(tds_stream *s, tds_reader *r) {
  const data fresh = b_varbyte(r), old = b_varbyte(r);
  if (r->bad) return TDS_OK;
  switch (s->token.as.environment.kind) {
  case TDS_ENV_COLLATION:
    return collation(s, fresh);
  case TDS_ENV_BEGIN:
  case TDS_ENV_COMMIT:
  case TDS_ENV_ROLLBACK:
  case TDS_ENV_TRANSACTION_ENDED:
    return descriptor(s, fresh, old);
  default:
    return TDS_OK;
  }
}

tds_status tds_parse_environment(tds_stream *s, tds_reader *r) {
  const uint8_t kind = tds_u8(r);
  tds_status status = TDS_OK;
  size_t i = 0;
  memset(&s->token.as.environment, 0, sizeof s->token.as.environment);
  s->token.as.environment.kind = kind;
  while (i < sizeof kinds / sizeof kinds[0] && kinds[i].kind != kind) i++;
  if (i == sizeof kinds / sizeof kinds[0]) {
    r->i = r->n; /* not known: what is behind it cannot be told from it */
  } else if (kinds[i].form == NAMES) {
    status = named(s, r);
  } else if (kinds[i].form == DATA) {
    status = valued(s, r);
  } else if (kinds[i].form == ADDRESS) {
    status = address(s, r);
  } else {
    tds_take(r, tds_u32(r));
    tds_u8(r);
  }
  if (status != TDS_OK) return status;
  if (!r->bad && r->i < r->n) {
    s->again = 1;
    s->resume = r->i;
  }
  return TDS_TOKEN;
}
