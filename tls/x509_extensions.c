/*
** x509_extensions.c: extensions (RFC 5280 4.2): a table of those that are known, and a reader for
** each.
**
**   Extension ::= SEQUENCE { extnID OBJECT IDENTIFIER, critical BOOLEAN DEFAULT FALSE,
**                            extnValue OCTET STRING }
**
** A reader takes the content of extnValue, which its caller sees used up.
*/
#include "x509Int.h"

#define EXTENSIONS_MAX 40 /* of one certificate: each is compared with all before it */
#define BYTES(text)                                                                                \
  { (const uint8_t *)(text), sizeof(text) - 1 }

/* BasicConstraints ::= SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER OPTIONAL
** }. There are issuers who write the FALSE out, which DER has not. */
static void basic_constraints(tls_certificate *c, tls_der *in) {
  tls_der s = tls_der_enter(in, TLS_DER_SEQUENCE);
  c->ca = tls_der_boolean(&s, 1);
  if (tls_der_peek(&s) == TLS_DER_INTEGER) {
    c->path_length = (int)tls_der_small(&s);
    if (!c->ca) in->bad = 1; /* 4.2.1.9: only where cA is asserted */
  }
  if (!tls_der_done(&s)) in->bad = 1;
}

static void key_usage(tls_certificate *c, tls_der *in) {
  c->usage = tls_der_named_bits(in, &c->loose);
  if (c->usage == 0) in->bad = 1; /* 4.2.1.3: at least one bit */
}

/* ExtKeyUsageSyntax ::= SEQUENCE SIZE (1..MAX) OF KeyPurposeId */
static void extended_key_usage(tls_certificate *c, tls_der *in) {
  static const tls_bytes server = BYTES("\x2b\x06\x01\x05\x05\x07\x03\x01");
  static const tls_bytes any = BYTES("\x55\x1d\x25\x00");
  tls_der s = tls_der_enter(in, TLS_DER_SEQUENCE);
  do {
    const tls_bytes purpose = tls_der_take(&s, TLS_DER_OID);
    c->purposes |= tls_bytes_equal(purpose, server) ? (unsigned)TLS_PURPOSE_SERVER
                   : tls_bytes_equal(purpose, any)  ? (unsigned)TLS_PURPOSE_ANY
                                                    : (unsigned)TLS_PURPOSE_OTHER;
  } while (tls_der_more(&s));
  if (s.bad) in->bad = 1;
}

/* GeneralName's tags, and what their content may be. */
static int general_name_valid(int tag, tls_bytes name) {
  tls_der in = tls_der_of(name);
  switch (tag) {
  case 0x87: /* iPAddress */
    return name.n == 4 || name.n == 16;
  case 0xa4: /* directoryName, which is a CHOICE and so explicit */
    return tls_directory_valid(tls_der_whole(&in, TLS_DER_SEQUENCE)) && tls_der_done(&in);
  case 0x81: /* rfc822Name, dNSName, uniformResourceIdentifier, registeredID */
  case 0x82:
  case 0x86:
  case 0x88:
  case 0xa0: /* otherName, x400Address, ediPartyName */
  case 0xa3:
  case 0xa5:
    return 1;
  default:
    return 0;
  }
}

static void alt_names(tls_certificate *c, tls_der *in) {
  tls_der s = tls_der_enter(in, TLS_DER_SEQUENCE);
  c->names = tls_bytes_of(s.p, s.n);
  do {
    int tag;
    const tls_bytes name = tls_der_any(&s, &tag);
    if (!general_name_valid(tag, name)) s.bad = 1;
  } while (tls_der_more(&s));
  if (s.bad) in->bad = 1;
}

static void name_constraints(tls_certificate *c, tls_der *in) {
  c->constraints = tls_der_take(in, TLS_DER_SEQUENCE);
}

static void subject_key_id(tls_certificate *c, tls_der *in) {
  c->key_id = tls_der_take(in, TLS_DER_OCTET_STRING);
  if (c->key_id.n == 0) in->bad = 1;
}

/* AuthorityKeyIdentifier ::= SEQUENCE { keyIdentifier [0], authorityCertIssuer [1],
** authorityCertSerialNumber [2] }, each OPTIONAL */
static void authority_key_id(tls_certificate *c, tls_der *in) {
  tls_der s = tls_der_enter(in, TLS_DER_SEQUENCE);
  c->issuer_key_id = tls_der_optional(&s, TLS_DER_CONTEXT);
  c->issuer_names = tls_der_optional(&s, TLS_DER_CONTEXT_CONSTRUCTED + 1);
  c->issuer_serial = tls_der_optional(&s, TLS_DER_CONTEXT + 2);
  if (!tls_der_done(&s)) in->bad = 1;
}

/* A SEQUENCE SIZE (1..MAX) OF SEQUENCE { OBJECT IDENTIFIER, … } of which nothing is asked:
** policies, and where to ask the issuer (whose second element, accessLocation, has a tag of
** GeneralName's). */
static void list(tls_der *in, int second) {
  tls_der s = tls_der_enter(in, TLS_DER_SEQUENCE);
  do {
    int tag = second;
    tls_der one = tls_der_enter(&s, TLS_DER_SEQUENCE);
    tls_der_take(&one, TLS_DER_OID);
    if (second < 0 || tls_der_more(&one)) tls_der_any(&one, &tag);
    if (!tls_der_done(&one) || (second < 0 ? tag < 0x80 : tag != second)) s.bad = 1;
  } while (tls_der_more(&s));
  if (s.bad) in->bad = 1;
}

static void policies(tls_certificate *c, tls_der *in) {
  (void)c;
  list(in, TLS_DER_SEQUENCE);
}

static void authority_access(tls_certificate *c, tls_der *in) {
  (void)c;
  list(in, -1);
}

/* Read by nobody, as it is refused in any case. */
static void policy_limits(tls_certificate *c, tls_der *in) {
  (void)c;
  in->i = in->n;
}

static const struct {
  tls_bytes oid;
  unsigned bit;
  void (*read)(tls_certificate *c, tls_der *in);
} known[] = {
    {BYTES("\x55\x1d\x13"), TLS_X509_BASIC_CONSTRAINTS, basic_constraints},
    {BYTES("\x55\x1d\x0f"), TLS_X509_KEY_USAGE, key_usage},
    {BYTES("\x55\x1d\x25"), TLS_X509_EXTENDED_KEY_USAGE, extended_key_usage},
    {BYTES("\x55\x1d\x11"), TLS_X509_ALT_NAMES, alt_names},
    {BYTES("\x55\x1d\x1e"), TLS_X509_NAME_CONSTRAINTS, name_constraints},
    {BYTES("\x55\x1d\x20"), TLS_X509_POLICIES, policies},
    {BYTES("\x55\x1d\x0e"), TLS_X509_SUBJECT_KEY_ID, subject_key_id},
    {BYTES("\x55\x1d\x23"), TLS_X509_AUTHORITY_KEY_ID, authority_key_id},
    {BYTES("\x2b\x06\x01\x05\x05\x07\x01\x01"), TLS_X509_AUTHORITY_ACCESS, authority_access},
    {BYTES("\x55\x1d\x24"), TLS_X509_POLICY_LIMITS, policy_limits},
    {BYTES("\x55\x1d\x36"), TLS_X509_POLICY_LIMITS, policy_limits},
};

static unsigned read_one(tls_certificate *c, tls_bytes oid, tls_bytes value, int *bad) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!tls_bytes_equal(known[i].oid, oid)) continue;
    tls_der in = tls_der_of(value);
    known[i].read(c, &in);
    if (!tls_der_done(&in)) *bad = 1;
    return known[i].bit;
  }
  return TLS_X509_UNKNOWN;
}

int tls_certificate_extensions(tls_certificate *c, tls_der extensions) {
  tls_bytes seen[EXTENSIONS_MAX];
  size_t count = 0;
  int bad = 0;
  do {
    tls_der one = tls_der_enter(&extensions, TLS_DER_SEQUENCE);
    const tls_bytes oid = tls_der_take(&one, TLS_DER_OID);
    const int written = tls_der_peek(&one) == TLS_DER_BOOLEAN;
    const int critical = tls_der_boolean(&one, 1);
    const tls_bytes value = tls_der_take(&one, TLS_DER_OCTET_STRING);
    if (!tls_der_done(&one) || written != critical || count == EXTENSIONS_MAX) return 0;
    for (size_t i = 0; i < count; i++) {
      if (tls_bytes_equal(seen[i], oid)) return 0; /* 4.2: not more than one of each */
    }
    seen[count++] = oid;
    const unsigned bit = read_one(c, oid, value, &bad);
    c->present |= bit;
    if (critical) c->critical |= bit;
  } while (tls_der_more(&extensions));
  return !bad && tls_der_done(&extensions);
}
