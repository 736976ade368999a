/*
** crypto/hmac.c: HMAC (RFC 2104, FIPS 198-1). The context holds the two hashes behind their padded keys,
** so that a key costs its two blocks once, however many messages follow.
*/
#include "cryptoInt.h"

#include <string.h>

void ecr_hmac_init(ecr_hmac_context *context, const ecr_hash *hash, const void *key, size_t n) {
  uint8_t pad[ECR_BLOCK_MAX] = {0};
  context->hash = hash;
  if (n > hash->block) {
    hash->init(&context->inner);
    hash->update(&context->inner, key, n);
    hash->digest(&context->inner, pad);
  } else if (n > 0) {
    memcpy(pad, key, n);
  }
  for (size_t i = 0; i < hash->block; i++) pad[i] ^= 0x36;
  hash->init(&context->inner);
  hash->update(&context->inner, pad, hash->block);
  for (size_t i = 0; i < hash->block; i++) pad[i] ^= 0x36 ^ 0x5c;
  hash->init(&context->outer);
  hash->update(&context->outer, pad, hash->block);
  ecr_wipe(pad, sizeof pad);
}

void ecr_hmac_update(ecr_hmac_context *context, const void *p, size_t n) {
  context->hash->update(&context->inner, p, n);
}

void ecr_hmac_digest(const ecr_hmac_context *context, uint8_t *out) {
  const ecr_hash *hash = context->hash;
  uint8_t inner[ECR_HASH_MAX];
  ecr_hash_context outer = context->outer;
  hash->digest(&context->inner, inner);
  hash->update(&outer, inner, hash->size);
  hash->digest(&outer, out);
  ecr_wipe(inner, sizeof inner);
  ecr_wipe(&outer, sizeof outer);
}

void ecr_hmac(const ecr_hash *hash, const void *key, size_t key_size, const void *p, size_t n,
              uint8_t *out) {
  ecr_hmac_context context;
  ecr_hmac_init(&context, hash, key, key_size);
  ecr_hmac_update(&context, p, n);
  ecr_hmac_digest(&context, out);
  ecr_wipe(&context, sizeof context);
}
