/*
** A machine without libcrypto: the "openssl" back end is not there, and says so.
*/
#include "primitives.h"

#include "crypto/cryptoInt.h"

int main(void) {
  const uint8_t key[32] = {0};
  ecr_openssl_library = "libedb-no-such-library.so.3";
  for (int i = 0; i < 2; i++) {
    ecr_aead_context context;
    CHECK(ecr_aead_get((ecr_cipher)i, "openssl") == NULL);
    CHECK(ecr_aead_get((ecr_cipher)i, NULL) != NULL);
    CHECK_INT(ecr_gcm_openssl[i].init(&context, key), ECR_NOT_FOUND);
    ecr_gcm_openssl[i].clear(&context);
  }
  /* A library that is there but is not libcrypto would have been refused as well. */
  CHECK_INT(ecr_openssl_found(), 0);
  return unit_done("aead_missing");
}
