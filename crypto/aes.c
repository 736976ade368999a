/*
** crypto/aes.c: AES's key expansion (FIPS 197 5.2), which all back ends share, and blocks for modes
** that have no file of instructions of their own.
*/
#include "cryptoInt.h"

#include <stdatomic.h>
#include <string.h>

static atomic_int portable_alone;

void ecr_aes_force_portable(int portable) { portable_alone = portable; }

/* Words of four bytes, as they stand in the round keys. The S-box takes the same time for any. */
void ecr_aes_expand(uint8_t round[15][16], unsigned *rounds, const uint8_t *key, size_t key_size) {
  const size_t words = key_size / 4;
  uint8_t(*w)[4] = (uint8_t(*)[4])round, t[4];
  uint8_t rcon = 1;
  *rounds = (unsigned)words + 6;
  memcpy(w, key, key_size);
  for (size_t i = words, at = 0; i < 4 * ((size_t)*rounds + 1); i++) {
    memcpy(t, w[i - 1], 4);
    if (at == 0) {
      const uint8_t first = t[0];
      memmove(t, t + 1, 3);
      t[3] = first;
      ecr_aes_portable_sub_word(t);
      t[0] ^= rcon;
      rcon = (uint8_t)(rcon << 1 ^ (rcon >> 7) * 0x1b);
    } else if (words == 8 && at == 4) {
      ecr_aes_portable_sub_word(t);
    }
    for (int j = 0; j < 4; j++) w[i][j] = w[i - words][j] ^ t[j];
    if (++at == words) at = 0; /* at: i modulo words */
  }
  ecr_wipe(t, sizeof t);
}

void ecr_aes_key_init(ecr_aes_key *key, const uint8_t *bytes, size_t key_size) {
  ecr_aes_expand(key->round, &key->rounds, bytes, key_size);
  ecr_aes_portable_slice(key);
}

#if defined(__x86_64__)
static int has_instructions(void) { return ecr_cpu_get()->aes && !portable_alone; }

void ecr_aes_encrypt_blocks(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                            size_t blocks) {
  if (has_instructions()) {
    ecr_aes_x86_encrypt(key, in, out, blocks);
  } else {
    ecr_aes_portable_encrypt(key, in, out, blocks);
  }
}

void ecr_aes_decrypt_blocks(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                            size_t blocks) {
  if (has_instructions()) {
    ecr_aes_x86_decrypt(key, in, out, blocks);
  } else {
    ecr_aes_portable_decrypt(key, in, out, blocks);
  }
}
#else
void ecr_aes_encrypt_blocks(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                            size_t blocks) {
  ecr_aes_portable_encrypt(key, in, out, blocks);
}

void ecr_aes_decrypt_blocks(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                            size_t blocks) {
  ecr_aes_portable_decrypt(key, in, out, blocks);
}
#endif
