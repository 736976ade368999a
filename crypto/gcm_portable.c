/*
** crypto/gcm_portable.c: AES-GCM (SP 800-38D) from aes_portable.c and ghash_portable.c.
*/
#include "cryptoInt.h"

#include <string.h>

#define BLOCKS 8 /* of key stream at a time */

typedef struct gcm_key {
  ecr_aes_key aes;
  ecr_ghash_key hash;
} gcm_key;

_Static_assert(sizeof(gcm_key) <= ECR_AEAD_CONTEXT, "the context holds a key");

static gcm_key *key_of(ecr_aead_context *context) { return (gcm_key *)(void *)context->bytes; }

/* The key stream of one record. Its first block, which is for the tag, is in mask. */
typedef struct stream {
  const gcm_key *key;
  const uint8_t *nonce;
  uint32_t counter;
  size_t used; /* bytes of ready */
  _Alignas(16) uint8_t ready[16 * BLOCKS];
  uint8_t mask[ECR_TAG];
} stream;

static void refill(stream *s, size_t blocks) {
  for (size_t i = 0; i < blocks; i++) {
    memcpy(s->ready + 16 * i, s->nonce, ECR_NONCE);
    ecr_store32(s->ready + 16 * i + ECR_NONCE, s->counter++);
  }
  ecr_aes_portable_encrypt(&s->key->aes, s->ready, s->ready, blocks);
  s->used = 0;
}

/* n: how many bytes of text will be asked for. */
static void start(stream *s, const gcm_key *key, const uint8_t nonce[ECR_NONCE], size_t n) {
  s->key = key;
  s->nonce = nonce;
  s->counter = 1;
  refill(s, n < sizeof s->ready - 16 ? (n + 15) / 16 + 1 : BLOCKS);
  memcpy(s->mask, s->ready, ECR_TAG);
  s->used = 16;
}

static void crypt(stream *s, const uint8_t *in, size_t n, uint8_t *out) {
  while (n) {
    if (s->used == sizeof s->ready) refill(s, BLOCKS);
    const uint8_t *k = s->ready + s->used;
    size_t now = sizeof s->ready - s->used;
    if (now > n) now = n;
    size_t i = 0;
    for (; i + 8 <= now; i += 8) {
      uint64_t a, b;
      memcpy(&a, in + i, 8);
      memcpy(&b, k + i, 8);
      a ^= b;
      memcpy(out + i, &a, 8);
    }
    for (; i < now; i++) out[i] = in[i] ^ k[i];
    s->used += now;
    in += now;
    out += now;
    n -= now;
  }
}

static void make_tag(const stream *s, const uint8_t *aad, size_t aad_size, const uint8_t *text,
                     size_t n, uint8_t tag[ECR_TAG]) {
  uint64_t acc[2] = {0};
  uint8_t lengths[16];
  ecr_store64(lengths, (uint64_t)aad_size * 8);
  ecr_store64(lengths + 8, (uint64_t)n * 8);
  ecr_ghash(&s->key->hash, acc, aad, aad_size);
  ecr_ghash(&s->key->hash, acc, text, n);
  ecr_ghash(&s->key->hash, acc, lengths, sizeof lengths);
  ecr_store64(tag, acc[1]);
  ecr_store64(tag + 8, acc[0]);
  for (int i = 0; i < ECR_TAG; i++) tag[i] ^= s->mask[i];
}

static ecr_status seal(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  stream s;
  const ecr_status status = ecr_gcm_check_seal(n, out_size);
  if (status) return status;
  start(&s, key_of(context), nonce, n);
  crypt(&s, in, n, out);
  make_tag(&s, aad, aad_size, out, n, out + n);
  ecr_wipe(&s, sizeof s);
  return ECR_OK;
}

/* Nothing is decrypted before the tag was found right. */
static ecr_status open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  stream s;
  uint8_t tag[ECR_TAG];
  const ecr_status status = ecr_gcm_check_open(n, out_size);
  if (status) return status;
  n -= ECR_TAG;
  start(&s, key_of(context), nonce, n);
  make_tag(&s, aad, aad_size, in, n, tag);
  const int right = ecr_aead_accept(tag, in + n, out, n);
  if (right) crypt(&s, in, n, out);
  ecr_wipe(&s, sizeof s);
  return right ? ECR_OK : ECR_REFUSED;
}

static ecr_status init(ecr_aead_context *context, const uint8_t *bytes, size_t key_size) {
  gcm_key *key = key_of(context);
  uint8_t h[16] = {0};
  ecr_aes_key_init(&key->aes, bytes, key_size);
  ecr_aes_portable_encrypt(&key->aes, h, h, 1);
  ecr_ghash_init(&key->hash, h);
  ecr_wipe(h, sizeof h);
  return ECR_OK;
}

static ecr_status init_128(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 16);
}

static ecr_status init_256(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 32);
}

static void clear(ecr_aead_context *context) { ecr_wipe(context, sizeof(gcm_key)); }

const ecr_aead ecr_gcm_portable[2] = {
    {"aes128gcm", "portable", 16, sizeof(gcm_key), init_128, seal, open, clear},
    {"aes256gcm", "portable", 32, sizeof(gcm_key), init_256, seal, open, clear},
};
