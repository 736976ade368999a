/*
** crypto/hash.c: what the hashes share: gathering blocks, padding, and the choice between the portable
** code and the processor's.
*/
#include "cryptoInt.h"

#include <stdatomic.h>
#include <string.h>

static atomic_int portable_only;

void ecr_hash_force_portable(int portable) { atomic_store(&portable_only, portable != 0); }

int ecr_hash_is_portable(void) {
  return atomic_load_explicit(&portable_only, memory_order_relaxed);
}

void ecr_hash_update(ecr_hash_context *context, const void *p, size_t n, size_t block,
                     ecr_compress *compress) {
  const uint8_t *in = p;
  const size_t held = (size_t)context->count & (block - 1);
  if (n == 0) return;
  context->count += n;
  if (held > 0) {
    const size_t room = block - held, take = n < room ? n : room;
    memcpy(context->block + held, in, take);
    if (take < room) return;
    compress(context->state, context->block, 1);
    in += take;
    n -= take;
  }
  if (n >= block) compress(context->state, in, n >> (block == ECR_BLOCK_MAX ? 7 : 6));
  memcpy(context->block, in + (n & ~(block - 1)), n & (block - 1));
}

void ecr_hash_pad(const ecr_hash_context *context, uint64_t state[8], size_t block,
                  ecr_compress *compress) {
  uint8_t last[2 * ECR_BLOCK_MAX] = {0};
  const size_t held = (size_t)context->count & (block - 1);
  /* The length takes an eighth of the block (FIPS 180-4 5.1): 8 bytes, or 16. */
  const size_t blocks = held + 1 + block / 8 <= block ? 1 : 2;
  memcpy(state, context->state, sizeof context->state);
  memcpy(last, context->block, held);
  last[held] = 0x80;
  ecr_store64(last + blocks * block - 8, context->count << 3);
  if (block == ECR_BLOCK_MAX) last[blocks * block - 9] = (uint8_t)(context->count >> 61);
  compress(state, last, blocks);
  ecr_wipe(last, sizeof last);
}
