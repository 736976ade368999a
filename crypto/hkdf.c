/*
** crypto/hkdf.c: keys from secrets: HKDF (RFC 5869), TLS 1.3's use of it (RFC 8446 7.1), and the PRF of
** TLS 1.2 (RFC 5246 5).
*/
#include "cryptoInt.h"

#include <string.h>

void ecr_hkdf_extract(const ecr_hash *hash, const void *salt, size_t salt_size, const void *secret,
                      size_t n, uint8_t *prk) {
  /* No salt is a salt of zeros (RFC 5869 2.2), which is what HMAC makes of an empty key. */
  ecr_hmac(hash, salt, salt_size, secret, n, prk);
}

ecr_status ecr_hkdf_expand(const ecr_hash *hash, const void *prk, size_t prk_size, const void *info,
                           size_t info_size, uint8_t *out, size_t n) {
  ecr_hmac_context keyed, step;
  uint8_t t[ECR_HASH_MAX];
  size_t t_size = 0;
  if (n > 255 * hash->size) return ECR_TOO_LONG;
  ecr_hmac_init(&keyed, hash, prk, prk_size);
  /* T(i) = HMAC(PRK, T(i-1) | info | i), i being one byte (RFC 5869 2.3). */
  for (uint8_t i = 1; n > 0; i++) {
    step = keyed;
    ecr_hmac_update(&step, t, t_size);
    ecr_hmac_update(&step, info, info_size);
    ecr_hmac_update(&step, &i, 1);
    ecr_hmac_digest(&step, t);
    t_size = hash->size;
    const size_t part = n < t_size ? n : t_size;
    memcpy(out, t, part);
    out += part;
    n -= part;
  }
  ecr_wipe(&keyed, sizeof keyed);
  ecr_wipe(&step, sizeof step);
  ecr_wipe(t, sizeof t);
  return ECR_OK;
}

ecr_status ecr_hkdf_expand_label(const ecr_hash *hash, const void *secret, const char *label,
                                 const void *context, size_t context_size, uint8_t *out, size_t n) {
  static const char prefix[6] = {'t', 'l', 's', '1', '3', ' '};
  /* struct { uint16 length; opaque label<7..255>; opaque context<0..255>; } HkdfLabel */
  uint8_t info[2 + 1 + 255 + 1 + 255], *p = info;
  const size_t label_size = strlen(label);
  if (label_size < 1 || label_size > 255 - sizeof prefix || context_size > 255) return ECR_INVALID;
  if (n > 0xffff) return ECR_TOO_LONG;
  *p++ = (uint8_t)(n >> 8);
  *p++ = (uint8_t)n;
  *p++ = (uint8_t)(sizeof prefix + label_size);
  memcpy(p, prefix, sizeof prefix);
  memcpy(p + sizeof prefix, label, label_size);
  p += sizeof prefix + label_size;
  *p++ = (uint8_t)context_size;
  if (context_size > 0) memcpy(p, context, context_size);
  p += context_size;
  return ecr_hkdf_expand(hash, secret, hash->size, info, (size_t)(p - info), out, n);
}

void ecr_tls12_prf(const ecr_hash *hash, const void *secret, size_t secret_size, const char *label,
                   const void *seed, size_t seed_size, uint8_t *out, size_t n) {
  ecr_hmac_context keyed, step;
  uint8_t a[ECR_HASH_MAX], t[ECR_HASH_MAX];
  const size_t label_size = strlen(label);
  ecr_hmac_init(&keyed, hash, secret, secret_size);
  /* A(1) = HMAC(secret, label | seed), A(i) = HMAC(secret, A(i-1)); the output is HMAC(secret, A(1) |
  ** label | seed), HMAC(secret, A(2) | label | seed), … */
  step = keyed;
  ecr_hmac_update(&step, label, label_size);
  ecr_hmac_update(&step, seed, seed_size);
  ecr_hmac_digest(&step, a);
  while (n > 0) {
    const size_t part = n < hash->size ? n : hash->size;
    step = keyed;
    ecr_hmac_update(&step, a, hash->size);
    ecr_hmac_update(&step, label, label_size);
    ecr_hmac_update(&step, seed, seed_size);
    ecr_hmac_digest(&step, t);
    memcpy(out, t, part);
    out += part;
    n -= part;
    step = keyed;
    ecr_hmac_update(&step, a, hash->size);
    ecr_hmac_digest(&step, a);
  }
  ecr_wipe(&keyed, sizeof keyed);
  ecr_wipe(&step, sizeof step);
  ecr_wipe(a, sizeof a);
  ecr_wipe(t, sizeof t);
}
