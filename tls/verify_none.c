/*
** tls/verify_none.c: until the path check is here nobody is trusted. Whoever brings tls_verify_chain removes
** this file.
*/
#include "tlsInt.h"

ecr_status tls_verify_chain(const tls_verify *verify, const tls_bytes *chain, size_t n,
                            tls_public_key *key, tls_failure *failure) {
  (void)verify;
  (void)chain;
  (void)n;
  (void)key;
  *failure = (tls_failure){TLS_ALERT_UNKNOWN_CA, 0, "nobody is trusted yet"};
  return ECR_REFUSED;
}
