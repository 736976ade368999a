/*
** chain.c: chains of certificates, where a signature is right if the last byte of it is even and it
** is not empty: mutations then reach what is behind signatures. The input is certificates, each
** after two bytes of its length; the top bit of the length makes a root of it, the next one a pin.
*/
#include <stdlib.h>

#include "tls/x509Int.h"

static unsigned verified;

/* In the place of signature.c's. */
ecr_status tls_signature_check(const tls_public_key *key, uint16_t scheme, tls_signed what,
                               const void *message, size_t n, const uint8_t *signature,
                               size_t signature_size) {
  (void)message;
  if (key->kind == TLS_KEY_NONE || what != TLS_SIGNED_CERTIFICATE || n == 0) abort();
  if (scheme == 0) return ECR_INVALID;
  if (++verified > TLS_VERIFY_SIGNATURES) abort();
  return signature_size > 0 && signature[signature_size - 1] % 2 == 0 ? ECR_OK : ECR_REFUSED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t bytes[1 << 17];
  tls_anchor anchors[8];
  tls_bytes chain[TLS_CHAIN_MAX + 1];
  uint8_t pin[1][TLS_SPKI_HASH];
  tls_trust trust;
  size_t count = 0, roots = 0;
  tls_trust_init(&trust, anchors, 8, bytes, sizeof bytes);
  while (size >= 2 && count <= TLS_CHAIN_MAX) {
    const unsigned head = (unsigned)data[0] << 8 | data[1];
    size_t n = head & 0x3fff;
    data += 2, size -= 2;
    if (n > size) n = size;
    if (head & 0x8000) {
      roots += tls_trust_add_der(&trust, data, n) == ECR_OK;
    } else if (head & 0x4000) {
      if (tls_spki_hash(data, n, pin[0]) == ECR_OK)
        trust.pins = (const uint8_t(*)[32])pin, trust.pin_count = 1;
    } else {
      chain[count++] = tls_bytes_of(data, n);
    }
    data += n, size -= n;
  }
  if (roots < trust.anchor_count) abort();
  tls_verify verify = {.trust = &trust, .server_name = "db.example", .now = 1700000000};
  for (verify.max_depth = 0; verify.max_depth < 3; verify.max_depth++) {
    tls_public_key key;
    tls_failure failure;
    verified = 0;
    const ecr_status status = tls_verify_chain(&verify, chain, count, &key, &failure);
    if ((status == ECR_OK) != (failure.alert == TLS_ALERT_NONE)) abort();
    if ((status == ECR_OK) != (key.kind != TLS_KEY_NONE)) abort();
    if (status == ECR_OK && trust.anchor_count + trust.pin_count == 0) abort();
  }
  return 0;
}
