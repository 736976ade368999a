/*
** x509_key.c: SubjectPublicKeyInfo (RFC 5280 4.1.2.7, RFC 4055 1.2, RFC 5480 2, RFC 8410 4).
**
**   SubjectPublicKeyInfo ::= SEQUENCE { algorithm AlgorithmIdentifier, subjectPublicKey BIT STRING }
**
** An AlgorithmIdentifier has one DER encoding for each kind of key that is taken, so it is compared
** as a whole: explicit curve parameters, a missing NULL or a needless one are just other bytes.
*/
#include "x509Int.h"

#define BYTES(text)                                                                                \
  { (const uint8_t *)(text), sizeof(text) - 1 }

/* id-RSASSA-PSS with the parameters of one hash: SHA-2, MGF1 of the same, a salt as long as the
** hash. */
#define PSS(hash, salt)                                                                            \
  "\x30\x41\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x30\x34\xa0\x0f\x30\x0d\x06\x09\x60\x86"   \
  "\x48"                                                                                           \
  "\x01\x65\x03\x04\x02" hash                                                                      \
  "\x05\x00\xa1\x1c\x30\x1a\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08"                           \
  "\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02" hash "\x05\x00\xa2\x03\x02\x01" salt

#define RSA_SHA2(hash) BYTES("\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01" hash "\x05\x00")
#define ECDSA_SHA2(hash) BYTES("\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03" hash)
#define ED25519 BYTES("\x30\x05\x06\x03\x2b\x65\x70")

/* ---- Keys ------------------------------------------------------------------------------------ */

static const struct {
  tls_bytes identifier;
  tls_key_kind kind;
  uint16_t only;     /* the SignatureScheme that the identifier binds the key to, or 0 */
  size_t point_size; /* bytes of the key where it is a point */
} kinds[] = {
    {BYTES("\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00"), TLS_KEY_RSA, 0, 0},
    {BYTES("\x30\x0b\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a"), TLS_KEY_RSA_PSS, 0, 0},
    {BYTES(PSS("\x01", "\x20")), TLS_KEY_RSA_PSS, 0x0809, 0},
    {BYTES(PSS("\x02", "\x30")), TLS_KEY_RSA_PSS, 0x080a, 0},
    {BYTES(PSS("\x03", "\x40")), TLS_KEY_RSA_PSS, 0x080b, 0},
    {BYTES("\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"),
     TLS_KEY_P256, 0, 65},
    {BYTES("\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22"),
     TLS_KEY_P384, 0, 97},
    {ED25519, TLS_KEY_ED25519, 0, 32},
};

/* RSAPublicKey ::= SEQUENCE { modulus INTEGER, publicExponent INTEGER }. The modulus is of whole
** bytes, as the CA/Browser Forum asks (6.1.5); crypto/ looks at the exponent again. */
static ecr_status rsa_read(ecr_rsa_public *rsa, tls_bytes key) {
  tls_der outer = tls_der_of(key), in = tls_der_enter(&outer, TLS_DER_SEQUENCE);
  const tls_bytes n = tls_der_unsigned(&in), e = tls_der_unsigned(&in);
  if (!tls_der_done(&outer) || !tls_der_done(&in)) return ECR_REFUSED;
  *rsa = (ecr_rsa_public){n.p, n.n, e.p, e.n};
  const int whole = n.p[0] >= 0x80 && (n.p[n.n - 1] & 1);
  if (!whole || n.n < ECR_RSA_MIN_BITS / 8 || n.n > ECR_RSA_MAX_BITS / 8) return ECR_INVALID;
  if (e.n > 4 || !(e.p[e.n - 1] & 1) || (e.n == 1 && e.p[0] < 3)) return ECR_INVALID;
  return ECR_OK;
}

ecr_status tls_public_key_read(tls_public_key *key, tls_bytes spki) {
  tls_der outer = tls_der_of(spki), in = tls_der_enter(&outer, TLS_DER_SEQUENCE);
  const tls_bytes identifier = tls_der_whole(&in, TLS_DER_SEQUENCE), bits = tls_der_bits(&in);
  memset(key, 0, sizeof *key);
  if (!tls_der_done(&outer) || !tls_der_done(&in)) return ECR_REFUSED;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!tls_bytes_equal(kinds[i].identifier, identifier)) continue;
    key->kind = kinds[i].kind;
    key->only = kinds[i].only;
    if (kinds[i].point_size == 0) return rsa_read(&key->rsa, bits);
    key->point = bits;
    if (bits.n != kinds[i].point_size) return ECR_INVALID;
    return bits.n == 32 || bits.p[0] == 4 ? ECR_OK : ECR_INVALID; /* uncompressed */
  }
  return ECR_INVALID;
}

/* ---- Signatures' algorithms ------------------------------------------------------------------ */

static const struct {
  tls_bytes identifier;
  uint16_t scheme;
} algorithms[] = {
    {RSA_SHA2("\x0b"), 0x0401},           {RSA_SHA2("\x0c"), 0x0501},
    {RSA_SHA2("\x0d"), 0x0601},           {BYTES(PSS("\x01", "\x20")), 0x0809},
    {BYTES(PSS("\x02", "\x30")), 0x080a}, {BYTES(PSS("\x03", "\x40")), 0x080b},
    {ECDSA_SHA2("\x02"), 0x0403},         {ECDSA_SHA2("\x03"), 0x0503},
    {ECDSA_SHA2("\x04"), 0x0603},         {ED25519, 0x0807},
};

uint16_t tls_signature_algorithm(tls_bytes identifier) {
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
    if (tls_bytes_equal(algorithms[i].identifier, identifier)) return algorithms[i].scheme;
  }
  return 0;
}
