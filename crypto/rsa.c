/*
** crypto/rsa.c: RSA signatures, verified: PKCS#1 v1.5 and PSS (RFC 8017). All of it is public.
**
** The key is given with each call, since a certificate's is used once: R^2 mod n costs half a
** multiplication, of some twenty. Everything stands on the stack, about 6 KB for any size.
*/
#include <string.h>

#include "cryptoInt.h"

#define MAX_BYTES (ECR_RSA_MAX_BITS / 8)

/* ---- The key, and the public operation ----------------------------------------------------------- */

ecr_status ecr_rsa_check(const ecr_rsa_public *key, ecr_rsa_modulus *modulus) {
  const uint8_t *n = key->n, *e = key->e;
  size_t size = key->n_size, e_size = key->e_size;
  while (size && *n == 0) n++, size--;
  while (e_size && *e == 0) e++, e_size--;
  if (size > MAX_BYTES || size < ECR_RSA_MIN_BITS / 8 || e_size > 4) return ECR_INVALID;
  modulus->n = n;
  modulus->size = size;
  modulus->bits = size * 8;
  for (unsigned byte = n[0]; byte < 0x80; byte = byte << 1 | 1) modulus->bits--;
  modulus->e = 0;
  for (size_t i = 0; i < e_size; i++) modulus->e = modulus->e << 8 | e[i];
  if (modulus->bits < ECR_RSA_MIN_BITS || !(n[size - 1] & 1)) return ECR_INVALID;
  return modulus->e >= 3 && (modulus->e & 1) ? ECR_OK : ECR_INVALID;
}

/* em = signature^e mod n (RFC 8017 5.2.2), of the modulus' size. */
static ecr_status public_operation(const ecr_rsa_public *key, const uint8_t *signature, size_t size,
                                   uint8_t em[MAX_BYTES], ecr_rsa_modulus *modulus) {
  uint64_t s[ECR_BN_LIMBS], result[ECR_BN_LIMBS];
  ecr_mont m;
  ecr_status status = ecr_rsa_check(key, modulus);
  if (status) return status;
  if (size != modulus->size) return ECR_REFUSED;
  m.k = (size + 15) / 16 * 2;
  (void)ecr_bn_load(m.n, m.k, modulus->n, size);
  (void)ecr_bn_load(s, m.k, signature, size);
  if (!ecr_bn_less(s, m.n, m.k)) return ECR_REFUSED;
  ecr_mont_init_public(&m);
  ecr_mont_exp_public(&m, result, s, modulus->e);
  ecr_bn_store(em, size, result, m.k);
  return ECR_OK;
}

/* ---- PKCS#1 v1.5 --------------------------------------------------------------------------------- */

/* The DER of DigestInfo up to the digest (RFC 8017 9.2, note 1): the parameters are NULL. */
static const struct digest_info {
  const ecr_hash *hash;
  size_t size;
  uint8_t der[19];
} digest_infos[] = {
    {&ecr_sha1,
     15,
     {0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14}},
    {&ecr_sha256,
     19,
     {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
      0x05, 0x00, 0x04, 0x20}},
    {&ecr_sha384,
     19,
     {0x30, 0x41, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02,
      0x05, 0x00, 0x04, 0x30}},
    {&ecr_sha512,
     19,
     {0x30, 0x51, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03,
      0x05, 0x00, 0x04, 0x40}},
};

ecr_status ecr_rsa_verify_pkcs1(const ecr_rsa_public *key, const ecr_hash *hash,
                                const uint8_t *digest, const uint8_t *signature, size_t n) {
  uint8_t em[MAX_BYTES], expected[MAX_BYTES];
  const struct digest_info *info = digest_infos, *end = info + sizeof digest_infos / sizeof *info;
  ecr_rsa_modulus modulus;
  while (info < end && info->hash != hash) info++;
  if (info == end) return ECR_INVALID;
  ecr_status status = public_operation(key, signature, n, em, &modulus);
  if (status) return status;

  /* 00 01 ff … ff 00 DigestInfo digest; n has 256 bytes at least, and this fits. */
  const size_t tail = info->size + hash->size;
  memset(expected, 0xff, n);
  expected[0] = 0;
  expected[1] = 1;
  expected[n - tail - 1] = 0;
  memcpy(expected + n - tail, info->der, info->size);
  memcpy(expected + n - hash->size, digest, hash->size);
  return ecr_equal(em, expected, n) ? ECR_OK : ECR_REFUSED;
}

/* ---- PSS ------------------------------------------------------------------------------------------ */

void ecr_mgf1_xor(const ecr_hash *hash, const uint8_t *seed, size_t seed_size, uint8_t *p,
                  size_t n) {
  ecr_hash_context seeded, context;
  uint8_t mask[ECR_HASH_MAX], counter[4];
  hash->init(&seeded);
  hash->update(&seeded, seed, seed_size);
  for (uint32_t i = 0; n > 0; i++) {
    size_t take = n < hash->size ? n : hash->size;
    ecr_store32(counter, i);
    context = seeded;
    hash->update(&context, counter, sizeof counter);
    hash->digest(&context, mask);
    for (size_t j = 0; j < take; j++) p[j] ^= mask[j];
    p += take;
    n -= take;
  }
  ecr_wipe(&seeded, sizeof seeded);
  ecr_wipe(&context, sizeof context);
  ecr_wipe(mask, sizeof mask);
}

ecr_status ecr_rsa_verify_pss(const ecr_rsa_public *key, const ecr_hash *hash, size_t salt_size,
                              const uint8_t *digest, const uint8_t *signature, size_t n) {
  static const uint8_t zeros[8];
  uint8_t block[MAX_BYTES], *em = block, again[ECR_HASH_MAX];
  ecr_hash_context context;
  ecr_rsa_modulus modulus;
  ecr_status status = public_operation(key, signature, n, block, &modulus);
  if (status) return status;

  /* RFC 8017 9.1.2 with emBits = modBits - 1; where these fill whole bytes, em is a byte shorter than n,
  ** and that byte must be zero (8.1.2, 2c). */
  const unsigned spare =
      (unsigned)(8 - (modulus.bits - 1) % 8) % 8; /* bits of em[0] that must be zero */
  size_t size = n;
  if (spare == 0) {
    if (*em++) return ECR_REFUSED;
    size--;
  }
  if (salt_size > size || size - salt_size < hash->size + 2) return ECR_REFUSED;
  const size_t db_size = size - hash->size - 1, salt_at = db_size - salt_size;
  uint8_t *h = em + db_size;
  if (em[size - 1] != 0xbc || em[0] & (uint8_t)(0xff00 >> spare)) return ECR_REFUSED;
  ecr_mgf1_xor(hash, h, hash->size, em, db_size);
  em[0] &= (uint8_t)(0xff >> spare);
  for (size_t i = 0; i < salt_at - 1; i++)
    if (em[i]) return ECR_REFUSED;
  if (em[salt_at - 1] != 1) return ECR_REFUSED;

  hash->init(&context);
  hash->update(&context, zeros, sizeof zeros);
  hash->update(&context, digest, hash->size);
  hash->update(&context, em + salt_at, salt_size);
  hash->digest(&context, again);
  return ecr_equal(h, again, hash->size) ? ECR_OK : ECR_REFUSED;
}
