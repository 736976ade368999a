/*
** crypto/chacha20poly1305.c: the AEAD of RFC 8439 2.8. ChaCha20 makes four blocks at a time with vectors
** as the compiler has them anywhere, eight with AVX2. Poly1305 is the same code for both.
*/
#include "cryptoInt.h"

#include <string.h>

/* 2.8: the counter has 32 bits; block 0 is the one-time key. */
#define TEXT_MAX (((uint64_t)1 << 38) - 64)
#define LANES_MAX 8

typedef void chacha_blocks(const uint32_t state[16], uint8_t *out);

static inline void store_little(uint8_t *p, uint32_t v) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(p, &v, 4);
#else
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> 8 * i);
#endif
}

static uint32_t load_little(const uint8_t *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#if defined(__GNUC__) && !defined(ECR_NO_VECTORS)
#define LANES_PORTABLE 4
#else
#define LANES_PORTABLE 1
#endif
#define LANES LANES_PORTABLE
#define NAME blocks_portable
#define TARGET
#include "chacha20.h"

#if defined(__x86_64__)
#define LANES 8
#define NAME blocks_avx2
#define TARGET __attribute__((target("avx2")))
#include "chacha20.h"
#endif

/* ---- Records -------------------------------------------------------------------------------------- */

typedef struct chacha_key {
  uint32_t words[8];
} chacha_key;

static chacha_key *key_of(ecr_aead_context *context) {
  return (chacha_key *)(void *)context->bytes;
}

/* The key stream of one record, and the tag that is being made. */
typedef struct record {
  chacha_blocks *blocks;
  uint32_t lanes, state[16];
  size_t used; /* bytes of ready */
  uint8_t ready[64 * LANES_MAX];
  ecr_poly1305 poly;
} record;

static void refill(record *r) {
  r->blocks(r->state, r->ready);
  r->state[12] += r->lanes;
  r->used = 0;
}

static void start(record *r, const ecr_aead_context *context, chacha_blocks *blocks, uint32_t lanes,
                  const uint8_t nonce[ECR_NONCE]) {
  static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; /* 2.3 */
  memcpy(r->state, constants, sizeof constants);
  memcpy(r->state + 4, context->bytes, sizeof(chacha_key));
  r->state[12] = 0;
  for (int i = 0; i < 3; i++) r->state[13 + i] = load_little(nonce + 4 * i);
  r->blocks = blocks;
  r->lanes = lanes;
  refill(r);
  ecr_poly1305_init(&r->poly, r->ready); /* 2.6 */
  r->used = 64;
}

static void crypt(record *r, const uint8_t *in, size_t n, uint8_t *out) {
  const size_t size = 64 * (size_t)r->lanes;
  while (n) {
    if (r->used == size) refill(r);
    const uint8_t *k = r->ready + r->used;
    const size_t now = n < size - r->used ? n : size - r->used;
    size_t i = 0;
    for (; i + 8 <= now; i += 8) {
      uint64_t a, b;
      memcpy(&a, in + i, 8);
      memcpy(&b, k + i, 8);
      a ^= b;
      memcpy(out + i, &a, 8);
    }
    for (; i < now; i++) out[i] = in[i] ^ k[i];
    r->used += now;
    in += now;
    out += now;
    n -= now;
  }
}

static void make_tag(record *r, const uint8_t *aad, size_t aad_size, const uint8_t *text, size_t n,
                     uint8_t tag[ECR_TAG]) {
  uint8_t lengths[16];
  for (int i = 0; i < 8; i++) {
    lengths[i] = (uint8_t)((uint64_t)aad_size >> 8 * i);
    lengths[8 + i] = (uint8_t)((uint64_t)n >> 8 * i);
  }
  ecr_poly1305_padded(&r->poly, aad, aad_size);
  ecr_poly1305_padded(&r->poly, text, n);
  ecr_poly1305_padded(&r->poly, lengths, sizeof lengths);
  ecr_poly1305_tag(&r->poly, tag);
}

static inline ecr_status seal(const ecr_aead_context *context, chacha_blocks *blocks,
                              uint32_t lanes, const uint8_t nonce[ECR_NONCE], const uint8_t *aad,
                              size_t aad_size, const uint8_t *in, size_t n, uint8_t *out,
                              size_t out_size) {
  record r;
  if (n > TEXT_MAX) return ECR_TOO_LONG;
  if (out_size < ECR_TAG || out_size - ECR_TAG < n) return ECR_SHORT;
  start(&r, context, blocks, lanes, nonce);
  crypt(&r, in, n, out);
  make_tag(&r, aad, aad_size, out, n, out + n);
  ecr_wipe(&r, sizeof r);
  return ECR_OK;
}

/* Nothing is decrypted before the tag was found right. */
static inline ecr_status open(const ecr_aead_context *context, chacha_blocks *blocks,
                              uint32_t lanes, const uint8_t nonce[ECR_NONCE], const uint8_t *aad,
                              size_t aad_size, const uint8_t *in, size_t n, uint8_t *out,
                              size_t out_size) {
  record r;
  uint8_t tag[ECR_TAG];
  if (n < ECR_TAG) return ECR_SHORT;
  n -= ECR_TAG;
  if (n > TEXT_MAX) return ECR_TOO_LONG;
  if (out_size < n) return ECR_SHORT;
  start(&r, context, blocks, lanes, nonce);
  make_tag(&r, aad, aad_size, in, n, tag);
  const int right = ecr_aead_accept(tag, in + n, out, n);
  if (right) crypt(&r, in, n, out);
  ecr_wipe(&r, sizeof r);
  return right ? ECR_OK : ECR_REFUSED;
}

static ecr_status init(ecr_aead_context *context, const uint8_t *bytes) {
  for (int i = 0; i < 8; i++) key_of(context)->words[i] = load_little(bytes + 4 * i);
  return ECR_OK;
}

static void clear(ecr_aead_context *context) { ecr_wipe(context, sizeof(chacha_key)); }

/* ---- The two back ends ------------------------------------------------------------------------------ */

static ecr_status seal_portable(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                                const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                                uint8_t *out, size_t out_size) {
  return seal(context, blocks_portable, LANES_PORTABLE, nonce, aad, aad_size, in, n, out, out_size);
}

static ecr_status open_portable(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                                const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                                uint8_t *out, size_t out_size) {
  return open(context, blocks_portable, LANES_PORTABLE, nonce, aad, aad_size, in, n, out, out_size);
}

const ecr_aead ecr_chacha20poly1305_portable = {"chacha20poly1305", "portable", 32,
                                                sizeof(chacha_key), init,       seal_portable,
                                                open_portable,      clear};

#if defined(__x86_64__)
static ecr_status seal_avx2(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                            const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                            uint8_t *out, size_t out_size) {
  return seal(context, blocks_avx2, 8, nonce, aad, aad_size, in, n, out, out_size);
}

static ecr_status open_avx2(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                            const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                            uint8_t *out, size_t out_size) {
  return open(context, blocks_avx2, 8, nonce, aad, aad_size, in, n, out, out_size);
}

const ecr_aead ecr_chacha20poly1305_avx2 = {
    "chacha20poly1305", "avx2", 32, sizeof(chacha_key), init, seal_avx2, open_avx2, clear};
#endif
