/*
** x509.c: a certificate's fields (RFC 5280 4.1).
**
**   Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signatureValue BIT STRING }
**   TBSCertificate ::= SEQUENCE { version [0], serialNumber, signature, issuer, validity, subject,
**                                 subjectPublicKeyInfo, extensions [3] }
**
** Of version 3 alone, so that there are extensions to judge it by, and without the unique
** identifiers that nobody issues.
*/
#include "x509Int.h"

static void read_version(tls_der *tbs) {
  tls_der version = tls_der_enter(tbs, TLS_DER_CONTEXT_CONSTRUCTED);
  if (tls_der_small(&version) != 2 || !tls_der_done(&version)) tbs->bad = 1;
}

static void read_validity(tls_certificate *c, tls_der *tbs) {
  tls_der validity = tls_der_enter(tbs, TLS_DER_SEQUENCE);
  c->not_before = tls_der_time(&validity, &c->loose);
  c->not_after = tls_der_time(&validity, &c->loose);
  if (!tls_der_done(&validity)) tbs->bad = 1;
}

static void read_tbs(tls_certificate *c) {
  tls_der outer = tls_der_of(c->tbs), tbs = tls_der_enter(&outer, TLS_DER_SEQUENCE);
  read_version(&tbs);
  c->serial = tls_der_integer(&tbs);
  const tls_bytes algorithm = tls_der_whole(&tbs, TLS_DER_SEQUENCE);
  c->issuer = tls_der_whole(&tbs, TLS_DER_SEQUENCE);
  read_validity(c, &tbs);
  c->subject = tls_der_whole(&tbs, TLS_DER_SEQUENCE);
  c->spki = tls_der_whole(&tbs, TLS_DER_SEQUENCE);
  tls_der explicit = tls_der_enter(&tbs, TLS_DER_CONTEXT_CONSTRUCTED + 3);
  const tls_der extensions = tls_der_enter(&explicit, TLS_DER_SEQUENCE);
  /* 4.1.1.2: the algorithm stands twice, once where it is signed. */
  if (!tls_der_done(&tbs) || !tls_der_done(&explicit) ||
      !tls_bytes_equal(algorithm, c->algorithm) || !tls_directory_valid(c->issuer) ||
      !tls_directory_valid(c->subject) || !tls_certificate_extensions(c, extensions))
    c->tbs.n = 0;
}

tls_flaw tls_certificate_read(tls_certificate *c, tls_bytes der) {
  tls_der outer = tls_der_of(der), in = tls_der_enter(&outer, TLS_DER_SEQUENCE);
  memset(c, 0, sizeof *c);
  c->path_length = -1;
  c->der = der;
  c->tbs = tls_der_whole(&in, TLS_DER_SEQUENCE);
  c->algorithm = tls_der_whole(&in, TLS_DER_SEQUENCE);
  c->signature = tls_der_bits(&in);
  if (!tls_der_done(&outer) || !tls_der_done(&in)) return TLS_FLAW_ENCODING;
  read_tbs(c);
  if (c->tbs.n == 0) return TLS_FLAW_ENCODING;
  switch (tls_public_key_read(&c->key, c->spki)) {
  case ECR_OK:
    return TLS_FLAW_NONE;
  case ECR_INVALID:
    return TLS_FLAW_KEY;
  default:
    return TLS_FLAW_ENCODING;
  }
}
