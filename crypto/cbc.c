/*
** crypto/cbc.c: AES-256 in CBC mode (SP 800-38A 6.2) with PKCS#7 padding (RFC 5652 6.3), which Always
** Encrypted's cells use.
*/
#include "cryptoInt.h"

#include <string.h>

#define BLOCK ECR_AES_BLOCK
#define BATCH 8 /* blocks decrypted at a time: they do not depend on each other */

static void xor_block(uint8_t *out, const uint8_t *a, const uint8_t *b) {
  for (size_t i = 0; i < BLOCK; i++) out[i] = a[i] ^ b[i];
}

ecr_status ecr_aes256_cbc_encrypt(const uint8_t key[32], const uint8_t iv[ECR_AES_BLOCK],
                                  const uint8_t *in, size_t n, uint8_t *out, size_t out_size,
                                  size_t *written) {
  ecr_aes_key aes;
  uint8_t last[BLOCK], chain[BLOCK];
  const size_t whole = n / BLOCK, rest = n % BLOCK;
  *written = 0;
  if (out_size / BLOCK <= whole) return ECR_SHORT;
  memset(last, (int)(BLOCK - rest), sizeof last);
  if (rest > 0) memcpy(last, in + whole * BLOCK, rest);
  memcpy(chain, iv, BLOCK);
  ecr_aes_key_init(&aes, key, 32);
  for (size_t i = 0; i <= whole; i++) {
    xor_block(chain, chain, i < whole ? in + i * BLOCK : last);
    ecr_aes_encrypt_blocks(&aes, chain, chain, 1);
    memcpy(out + i * BLOCK, chain, BLOCK);
  }
  *written = (whole + 1) * BLOCK;
  ecr_wipe(&aes, sizeof aes);
  ecr_wipe(last, sizeof last);
  return ECR_OK;
}

/* 0xff where a < b, else 0; both below 2^31. */
static uint8_t mask_less(uint32_t a, uint32_t b) { return (uint8_t)(0 - ((a - b) >> 31)); }

/* The length of the padding at the end of a block, or 0 where it is wrong: the last byte says 1 to 16
** (a 0 comes out as it is), and so many bytes have that value. */
static uint8_t padding(const uint8_t block[BLOCK]) {
  const uint8_t size = block[BLOCK - 1];
  uint8_t wrong = mask_less(BLOCK, size);
  for (uint32_t i = 0; i < BLOCK; i++) {
    wrong |= mask_less(i, size) & (block[BLOCK - 1 - i] ^ size);
  }
  return size & mask_less(wrong, 1);
}

ecr_status ecr_aes256_cbc_decrypt(const uint8_t key[32], const uint8_t iv[ECR_AES_BLOCK],
                                  const uint8_t *in, size_t n, uint8_t *out, size_t out_size,
                                  size_t *written) {
  ecr_aes_key aes;
  uint8_t plain[BATCH * BLOCK], chain[BLOCK];
  *written = 0;
  if (n == 0 || n % BLOCK != 0) return ECR_INVALID;
  if (out_size < n) return ECR_SHORT;
  memcpy(chain, iv, BLOCK);
  ecr_aes_key_init(&aes, key, 32);
  for (size_t at = 0, part; at < n; at += part) {
    part = n - at < sizeof plain ? n - at : sizeof plain;
    ecr_aes_decrypt_blocks(&aes, in + at, plain, part / BLOCK);
    xor_block(plain, plain, chain);
    for (size_t i = BLOCK; i < part; i += BLOCK)
      xor_block(plain + i, plain + i, in + at + i - BLOCK);
    /* out may be in: what the next batch needs of it is taken first. */
    memcpy(chain, in + at + part - BLOCK, BLOCK);
    memcpy(out + at, plain, part);
  }
  const uint8_t size = padding(out + n - BLOCK), right = (uint8_t)~mask_less(size, 1);
  for (size_t i = 0; i < n; i++) out[i] &= right;
  ecr_wipe(&aes, sizeof aes);
  ecr_wipe(plain, sizeof plain);
  /* Without a branch, although the caller will tell the two apart. */
  *written = (n - size) & (0 - (size_t)(right & 1));
  return (ecr_status)(ECR_REFUSED & ~right);
}
