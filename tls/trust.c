/*
** trust.c: roots, kept sorted by their subjects, and pins.
*/
#include "x509Int.h"

void tls_trust_init(tls_trust *trust, tls_anchor *anchors, size_t max, uint8_t *bytes,
                    size_t size) {
  *trust = (tls_trust){.anchors = anchors, .anchor_max = max, .bytes = bytes, .size = size};
}

/* ---- Looking up ------------------------------------------------------------------------------ */

/* Shorter names first: any order will do that is one. */
static int compare(tls_bytes a, tls_bytes b) {
  if (a.n != b.n) return a.n < b.n ? -1 : 1;
  return a.n ? memcmp(a.p, b.p, a.n) : 0;
}

static tls_bytes subject_of(const tls_anchor *a) {
  return tls_bytes_of(a->subject, a->subject_size);
}

/* The first anchor whose subject is not before that one. */
static size_t lower_bound(const tls_trust *trust, tls_bytes subject) {
  size_t from = 0, to = trust->anchor_count;
  while (from < to) {
    const size_t middle = from + (to - from) / 2;
    if (compare(subject_of(&trust->anchors[middle]), subject) < 0) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

const tls_anchor *tls_trust_find(const tls_trust *trust, tls_bytes subject, size_t *count) {
  const size_t from = lower_bound(trust, subject);
  size_t to = from;
  while (to < trust->anchor_count && compare(subject_of(&trust->anchors[to]), subject) == 0) to++;
  *count = to - from;
  return *count ? &trust->anchors[from] : NULL;
}

static int is_root(const tls_trust *trust, const tls_certificate *c) {
  size_t count;
  const tls_anchor *a = tls_trust_find(trust, c->subject, &count);
  for (; count > 0; a++, count--) {
    if (tls_bytes_equal(tls_bytes_of(a->certificate, a->certificate_size), c->der)) return 1;
  }
  return 0;
}

static int is_among(const uint8_t (*hashes)[32], size_t count, tls_bytes p) {
  uint8_t hash[32];
  ecr_hash_context context;
  if (count == 0) return 0;
  ecr_sha256.init(&context);
  ecr_sha256.update(&context, p.p, p.n);
  ecr_sha256.digest(&context, hash);
  for (size_t i = 0; i < count; i++) {
    if (ecr_equal(hash, hashes[i], sizeof hash)) return 1;
  }
  return 0;
}

int tls_trust_itself(const tls_trust *trust, const tls_certificate *c) {
  return is_root(trust, c) || is_among(trust->pins, trust->pin_count, c->spki) ||
         is_among(trust->certificate_pins, trust->certificate_pin_count, c->der);
}

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Sessions must not outlive what they were trusted by (session.c). */
static void identify(tls_trust *trust, tls_bytes der) {
  ecr_hash_context context;
  ecr_sha256.init(&context);
  ecr_sha256.update(&context, trust->identity, sizeof trust->identity);
  ecr_sha256.update(&context, der.p, der.n);
  ecr_sha256.digest(&context, trust->identity);
}

/* Makes a root of a certificate whose n bytes stand behind those that are used, and takes these. */
static ecr_status add(tls_trust *trust, size_t n) {
  tls_certificate c;
  const tls_bytes der = {trust->bytes + trust->used, n};
  if (tls_certificate_read(&c, der) != TLS_FLAW_NONE) return ECR_INVALID;
  if (is_root(trust, &c)) return ECR_OK;
  if (trust->anchor_count == trust->anchor_max) return ECR_SHORT;
  const size_t at = lower_bound(trust, c.subject);
  tls_anchor *a = &trust->anchors[at];
  memmove(a + 1, a, (trust->anchor_count - at) * sizeof *a);
  *a = (tls_anchor){c.subject.p, c.subject.n, c.spki.p, c.spki.n, der.p, der.n};
  trust->anchor_count++;
  trust->used += n;
  identify(trust, der);
  return ECR_OK;
}

ecr_status tls_trust_add_der(tls_trust *trust, const uint8_t *der, size_t n) {
  tls_certificate c;
  if (tls_certificate_read(&c, tls_bytes_of(der, n)) != TLS_FLAW_NONE) return ECR_INVALID;
  if (n > trust->size - trust->used) return ECR_SHORT;
  memcpy(trust->bytes + trust->used, der, n);
  return add(trust, n);
}

ecr_status tls_trust_add_pem(tls_trust *trust, const char *pem, size_t n, tls_added *added) {
  tls_added counts = {0, 0};
  ecr_status status = ECR_OK;
  size_t at = 0, size;
  while (status == ECR_OK) {
    status =
        tls_pem_next(pem, n, &at, trust->bytes + trust->used, trust->size - trust->used, &size);
    if (status == ECR_OK) status = add(trust, size);
    counts.added += status == ECR_OK;
    counts.refused += status == ECR_INVALID;
    if (status == ECR_INVALID) status = ECR_OK;
  }
  if (added) *added = counts;
  if (status != ECR_NOT_FOUND) return status;
  return counts.added + counts.refused > 0 ? ECR_OK : ECR_INVALID;
}
