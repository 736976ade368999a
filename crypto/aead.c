/*
** crypto/aead.c: which back ends there are, which this machine has, and the choice among them.
*/
#include "cryptoInt.h"

#include <string.h>

static int always(const ecr_cpu *cpu) {
  (void)cpu;
  return 1;
}

#if defined(__x86_64__)
static int has_aesni(const ecr_cpu *cpu) {
  return cpu->aes && cpu->pclmul && cpu->ssse3 && cpu->sse41;
}
static int has_vaes256(const ecr_cpu *cpu) { return cpu->vaes256; }
static int has_vaes512(const ecr_cpu *cpu) { return cpu->vaes512; }
static int has_avx2(const ecr_cpu *cpu) { return cpu->avx2; }
#elif defined(__aarch64__) && defined(__AARCH64EL__)
static int has_armv8(const ecr_cpu *cpu) { return cpu->arm_aes && cpu->arm_pmull; }
#endif

static int has_libcrypto(const ecr_cpu *cpu) {
  (void)cpu;
  return ecr_openssl_found();
}

/* The best first; OpenSSL behind portable, so that it is never chosen unasked. */
static const struct row {
  ecr_cipher cipher;
  const ecr_aead *aead;
  int (*has)(const ecr_cpu *cpu);
} table[] = {
#if defined(__x86_64__)
    {ECR_AES_128_GCM, &ecr_gcm_vaes512[0], has_vaes512},
    {ECR_AES_128_GCM, &ecr_gcm_vaes256[0], has_vaes256},
    {ECR_AES_128_GCM, &ecr_gcm_aesni[0], has_aesni},
    {ECR_AES_256_GCM, &ecr_gcm_vaes512[1], has_vaes512},
    {ECR_AES_256_GCM, &ecr_gcm_vaes256[1], has_vaes256},
    {ECR_AES_256_GCM, &ecr_gcm_aesni[1], has_aesni},
    {ECR_CHACHA20_POLY1305, &ecr_chacha20poly1305_avx2, has_avx2},
#elif defined(__aarch64__) && defined(__AARCH64EL__)
    {ECR_AES_128_GCM, &ecr_gcm_armv8[0], has_armv8},
    {ECR_AES_256_GCM, &ecr_gcm_armv8[1], has_armv8},
#endif
    {ECR_AES_128_GCM, &ecr_gcm_portable[0], always},
    {ECR_AES_256_GCM, &ecr_gcm_portable[1], always},
    {ECR_CHACHA20_POLY1305, &ecr_chacha20poly1305_portable, always},
    {ECR_AES_128_GCM, &ecr_gcm_openssl[0], has_libcrypto},
    {ECR_AES_256_GCM, &ecr_gcm_openssl[1], has_libcrypto},
};
#define ROWS (sizeof table / sizeof table[0])

const ecr_aead *ecr_aead_get(ecr_cipher cipher, const char *backend) {
  for (const struct row *row = table; row < table + ROWS; row++) {
    if (row->cipher != cipher) continue;
    if (backend && strcmp(row->aead->backend, backend) != 0) continue;
    if (row->has(ecr_cpu_get())) return row->aead;
  }
  return NULL;
}

const ecr_aead *ecr_aead_list(ecr_cipher cipher, int i) {
  for (const struct row *row = table; row < table + ROWS; row++) {
    if (row->cipher == cipher && row->has(ecr_cpu_get()) && i-- == 0) return row->aead;
  }
  return NULL;
}

int ecr_aead_accept(const uint8_t tag[ECR_TAG], const uint8_t *sent, uint8_t *out, size_t n) {
  int right = ecr_equal(tag, sent, ECR_TAG);
  ecr_declassify(&right, sizeof right);
  if (!right && n) memset(out, 0, n);
  return right;
}
