/*
** certificate.c: one certificate: read, judged in every place that it may have, under its own name
** constraints, as a root, and as PEM.
*/
#include <stdlib.h>

#include "tls/x509Int.h"

static void judge(const tls_certificate *c) {
  static const tls_role roles[] = {TLS_ROLE_LEAF, TLS_ROLE_OWN, TLS_ROLE_ISSUER, TLS_ROLE_ROOT};
  static const char *const names[] = {"db.example.com", "10.0.0.1", "::1"};
  for (size_t i = 0; i < 4; i++) {
    tls_failure failure;
    const tls_flaw flaw = tls_certificate_check(c, roles[i], 1700000000, (unsigned)i);
    tls_flaw_tell(flaw, roles[i], &failure);
    if ((flaw == TLS_FLAW_NONE) != (failure.alert == TLS_ALERT_NONE) || !failure.reason) abort();
  }
  for (size_t i = 0; i < 3; i++) {
    tls_name name;
    if (!tls_name_read(&name, names[i])) abort();
    tls_name_matches(&name, c->names);
  }
  tls_common_name_strays(c);
  if (tls_constraints_valid(c->constraints)) {
    unsigned work = 1000;
    tls_constraints_check(c->constraints, c, &work);
    if (work > 1000) abort();
  }
  /* A name is below itself, or nothing is sure of it. */
  if (tls_directory_below(c->subject, c->subject) == TLS_UNLIKE) abort();
}

static void trust_it(const uint8_t *data, size_t size, int whole) {
  static uint8_t bytes[1 << 17], hash[32];
  tls_anchor anchors[4];
  tls_trust trust;
  tls_added added;
  tls_trust_init(&trust, anchors, 4, bytes, sizeof bytes);
  if ((tls_trust_add_der(&trust, data, size) == ECR_OK) != whole) abort();
  if ((tls_spki_hash(data, size, hash) == ECR_OK) != whole) abort();
  if (trust.anchor_count != (size_t)whole) abort();
  tls_trust_add_pem(&trust, (const char *)data, size, &added);
  if (added.added > 4 && trust.anchor_count < 1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tls_certificate c;
  if (size > 1 << 16) return 0;
  const tls_flaw flaw = tls_certificate_read(&c, tls_bytes_of(data, size));
  if (flaw == TLS_FLAW_NONE) judge(&c);
  trust_it(data, size, flaw == TLS_FLAW_NONE);
  return 0;
}
