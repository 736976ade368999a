/*
** signature.c: SignatureSchemes (RFC 8446 4.2.3): which key may sign what by which, and the check.
*/
#include "x509Int.h"

enum { PKCS1, PSS, ECDSA, EDDSA };

#define KEY(kind) (1U << TLS_KEY_##kind)
#define EC (KEY(P256) | KEY(P384))
#define ANY_RSA (KEY(RSA) | KEY(RSA_PSS))

/* keys: who may sign by the scheme in TLS 1.3, in TLS 1.2, and a certificate. TLS 1.3 binds
** ECDSA's hash to the curve, and leaves PKCS#1 to certificates. In a certificate, whose
** AlgorithmIdentifier does not tell rsa_pss_rsae from rsa_pss_pss, the latter stands for both
** (RFC 4055 1.2: an rsaEncryption key may sign by PSS). */
static const struct row {
  uint16_t scheme;
  int how;
  const ecr_hash *hash;
  unsigned keys[TLS_SIGNED_KINDS];
} rows[] = {
    {0x0401, PKCS1, &ecr_sha256, {0, KEY(RSA), KEY(RSA)}},
    {0x0501, PKCS1, &ecr_sha384, {0, KEY(RSA), KEY(RSA)}},
    {0x0601, PKCS1, &ecr_sha512, {0, KEY(RSA), KEY(RSA)}},
    {0x0403, ECDSA, &ecr_sha256, {KEY(P256), EC, EC}},
    {0x0503, ECDSA, &ecr_sha384, {KEY(P384), EC, EC}},
    {0x0603, ECDSA, &ecr_sha512, {0, EC, EC}},
    {0x0804, PSS, &ecr_sha256, {KEY(RSA), KEY(RSA), 0}},
    {0x0805, PSS, &ecr_sha384, {KEY(RSA), KEY(RSA), 0}},
    {0x0806, PSS, &ecr_sha512, {KEY(RSA), KEY(RSA), 0}},
    {0x0809, PSS, &ecr_sha256, {KEY(RSA_PSS), KEY(RSA_PSS), ANY_RSA}},
    {0x080a, PSS, &ecr_sha384, {KEY(RSA_PSS), KEY(RSA_PSS), ANY_RSA}},
    {0x080b, PSS, &ecr_sha512, {KEY(RSA_PSS), KEY(RSA_PSS), ANY_RSA}},
    {0x0807, EDDSA, NULL, {KEY(ED25519), KEY(ED25519), KEY(ED25519)}},
};

static const struct row *row_of(const tls_public_key *key, uint16_t scheme, tls_signed what) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].scheme != scheme) continue;
    const int fits = (rows[i].keys[what] >> key->kind & 1) && (!key->only || key->only == scheme);
    return fits ? &rows[i] : NULL;
  }
  return NULL;
}

ecr_status tls_signature_check(const tls_public_key *key, uint16_t scheme, tls_signed what,
                               const void *message, size_t n, const uint8_t *signature,
                               size_t signature_size) {
  const struct row *row = row_of(key, scheme, what);
  const ecr_curve curve = key->kind == TLS_KEY_P384 ? ECR_P384 : ECR_P256;
  uint8_t digest[ECR_HASH_MAX];
  if (!row) return ECR_INVALID;
  if (row->hash) {
    ecr_hash_context context;
    row->hash->init(&context);
    row->hash->update(&context, message, n);
    row->hash->digest(&context, digest);
  }
  switch (row->how) {
  case PKCS1:
    return ecr_rsa_verify_pkcs1(&key->rsa, row->hash, digest, signature, signature_size);
  case PSS: /* RFC 8446 4.2.3: the salt is as long as the digest */
    return ecr_rsa_verify_pss(&key->rsa, row->hash, row->hash->size, digest, signature,
                              signature_size);
  case ECDSA:
    return ecr_ecdsa_verify(curve, key->point.p, key->point.n, digest, row->hash->size, signature,
                            signature_size);
  default:
    if (signature_size != 64) return ECR_REFUSED;
    return ecr_ed25519_verify(key->point.p, message, n, signature);
  }
}

ecr_status tls_signature_verify(const tls_public_key *key, uint16_t scheme, unsigned version,
                                const void *message, size_t n, const uint8_t *signature,
                                size_t signature_size) {
  const tls_signed what = version == 0x0304 ? TLS_SIGNED_13 : TLS_SIGNED_12;
  if (version != 0x0304 && version != 0x0303) return ECR_INVALID;
  return tls_signature_check(key, scheme, what, message, n, signature, signature_size);
}
