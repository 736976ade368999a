/*
** tls/suite.c: the cipher suites, and which is fast here.
*/
#include "tlsInt.h"

/* RFC 8446 B.4, RFC 5289 3.2, RFC 7905 2. In the order for a processor with AES's instructions. */
static const tls_suite table[] = {
    {0x1301, TLS_1_3, ECR_AES_128_GCM, &ecr_sha256, TLS_SIGNS_ANY, "TLS_AES_128_GCM_SHA256"},
    {0x1302, TLS_1_3, ECR_AES_256_GCM, &ecr_sha384, TLS_SIGNS_ANY, "TLS_AES_256_GCM_SHA384"},
    {0x1303, TLS_1_3, ECR_CHACHA20_POLY1305, &ecr_sha256, TLS_SIGNS_ANY,
     "TLS_CHACHA20_POLY1305_SHA256"},
    {0xc02b, TLS_1_2, ECR_AES_128_GCM, &ecr_sha256, TLS_SIGNS_EC,
     "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
    {0xc02f, TLS_1_2, ECR_AES_128_GCM, &ecr_sha256, TLS_SIGNS_RSA,
     "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
    {0xc02c, TLS_1_2, ECR_AES_256_GCM, &ecr_sha384, TLS_SIGNS_EC,
     "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
    {0xc030, TLS_1_2, ECR_AES_256_GCM, &ecr_sha384, TLS_SIGNS_RSA,
     "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
    {0xcca9, TLS_1_2, ECR_CHACHA20_POLY1305, &ecr_sha256, TLS_SIGNS_EC,
     "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
    {0xcca8, TLS_1_2, ECR_CHACHA20_POLY1305, &ecr_sha256, TLS_SIGNS_RSA,
     "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
};
#define SUITES ((int)(sizeof table / sizeof table[0]))

const tls_suite *tls_suite_find(uint32_t code) {
  for (int i = 0; i < SUITES; i++) {
    if (table[i].code == code) return &table[i];
  }
  return NULL;
}

/* Without instructions for it AES is several times slower than ChaCha20, which then comes first. */
const tls_suite *tls_suite_offer(int i) {
  const ecr_cpu *cpu = ecr_cpu_get();
  const int aes = (cpu->aes && cpu->pclmul) || (cpu->arm_aes && cpu->arm_pmull);
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < SUITES; j++) {
      const int first = (table[j].cipher != ECR_CHACHA20_POLY1305) == aes;
      if (first == (pass == 0) && i-- == 0) return &table[j];
    }
  }
  return NULL;
}
