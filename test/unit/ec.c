/*
** ec.c: P-256 and P-384: public keys and key agreement, by published multiples, scalars at their edges,
** points that are none, and libcrypto.
**
** also: nou128
*/
#include "curve_peer.h"
#include "curve_facts.h"

#define POINT ECR_EC_POINT_MAX
#define SCALAR ECR_EC_SCALAR_MAX

static void number(uint8_t *out, const char *text) {
  bytes b = hex(text);
  memcpy(out, b.p, b.n);
}

static size_t point(uint8_t *out, ecr_curve curve, const char *x, const char *y) {
  size_t size = ecr_ec_size(curve);
  out[0] = 4;
  number(out + 1, x);
  number(out + 1 + size, y);
  return 2 * size + 1;
}

/* a += delta, big-endian. */
static void bump(uint8_t *a, size_t n, int delta) {
  for (size_t i = n; i-- > 0;) {
    delta += a[i];
    a[i] = (uint8_t)delta;
    delta >>= 8;
  }
}

/* ---- Multiples -------------------------------------------------------------------------------------- */

static void test_multiples(const facts *f) {
  const size_t size = ecr_ec_size(f->curve);
  uint8_t g[POINT], k[SCALAR], expected[POINT], out[POINT];
  size_t n = point(g, f->curve, f->gx, f->gy);
  for (size_t i = 0; i < sizeof(f->multiples) / sizeof(f->multiples[0]); i++) {
    const multiple *m = &f->multiples[i];
    number(k, m->k);
    point(expected, f->curve, m->x, m->y);
    CHECK_INT(ecr_ec_public(f->curve, out, k), ECR_OK);
    CHECK_BYTES(out, n, expected, n);
    CHECK_INT(ecr_ecdh(f->curve, out, k, g, n), ECR_OK);
    CHECK_BYTES(out, size, expected + 1, size);
  }
}

/* Scalars: 1 and n - 1 are G and -G; 0, n and more are refused. k and n - k have the same x, for those
** with a digit at its edge too. */
static void test_edges(const facts *f) {
  const size_t size = ecr_ec_size(f->curve);
  uint8_t g[POINT], zero[SCALAR] = {0}, k[SCALAR] = {0}, m[SCALAR], out[POINT], other[POINT];
  size_t n = point(g, f->curve, f->gx, f->gy);
  memset(out, 0xaa, sizeof(out));
  CHECK_INT(ecr_ec_public(f->curve, out, k), ECR_INVALID);
  CHECK_INT(ecr_ecdh(f->curve, out, k, g, n), ECR_INVALID);
  k[size - 1] = 1;
  CHECK_INT(ecr_ec_public(f->curve, out, k), ECR_OK);
  CHECK_BYTES(out, n, g, n);
  number(k, f->n);
  for (int more = 0; more < 3; more++) {
    CHECK_INT(ecr_ec_public(f->curve, out, k), ECR_INVALID);
    CHECK_INT(ecr_ecdh(f->curve, out, k, g, n), ECR_INVALID);
    bump(k, size, 1);
  }
  memset(k, 0xff, size);
  CHECK_INT(ecr_ec_public(f->curve, out, k), ECR_INVALID);

  for (int i = 1; i < 1200; i++) {
    memset(k, 0, size);
    bump(k, size, i < 200 ? i : 0);
    if (i >= 200)
      k[(i - 200) / 8 % (int)size] = (uint8_t)(1 << i % 8); /* 2^j, without the top ones */
    if (i >= 600) bump(k, size, i % 2 ? 1 : -1);
    if (memcmp(k, zero, size) == 0) continue;
    number(m, f->n);
    int borrow = 0;
    for (size_t j = size; j-- > 0;) {
      borrow += m[j] - k[j];
      m[j] = (uint8_t)borrow;
      borrow >>= 8;
    }
    if (borrow) continue;
    CHECK_INT(ecr_ec_public(f->curve, out, k), ECR_OK);
    CHECK_INT(ecr_ec_public(f->curve, other, m), ECR_OK);
    CHECK_BYTES(other, size + 1, out, size + 1);
    CHECK(memcmp(other + size + 1, out + size + 1, size) != 0);
    CHECK_INT((other[n - 1] ^ out[n - 1]) & 1, 1);
  }
}

/* ---- Points ------------------------------------------------------------------------------------------- */

static void refused(const facts *f, const uint8_t *p, size_t n) {
  uint8_t k[SCALAR] = {0}, out[SCALAR];
  k[ecr_ec_size(f->curve) - 1] = 7;
  CHECK_INT(ecr_ecdh(f->curve, out, k, p, n), ECR_REFUSED);
}

static void test_points(const facts *f) {
  const size_t size = ecr_ec_size(f->curve);
  uint8_t p[POINT + 1] = {0}, k[SCALAR] = {0}, out[POINT];
  size_t n = point(p, f->curve, f->gx, f->gy);
  /* Lengths and forms. */
  for (size_t i = 0; i <= POINT; i++) {
    if (i != n) refused(f, p, i);
  }
  for (int form = 0; form < 256; form++) {
    p[0] = (uint8_t)form;
    if (form != 4) refused(f, p, n);
    if (form != 4) refused(f, p, size + 1);
  }
  p[0] = 4;
  /* Any bit. */
  for (size_t i = 8; i < 8 * n; i++) {
    p[i / 8] ^= (uint8_t)(1 << i % 8);
    refused(f, p, n);
    p[i / 8] ^= (uint8_t)(1 << i % 8);
  }
  /* Infinity, as it is not spelt. */
  memset(p + 1, 0, n - 1);
  refused(f, p, n);
  refused(f, p + 1, 1);
  refused(f, p + 1, n);
  /* (0, y0) is a point; (p, y0) is not how it is spelt. */
  point(p, f->curve, "", f->y0);
  memset(p + 1, 0, size);
  k[size - 1] = 1;
  CHECK_INT(ecr_ecdh(f->curve, out, k, p, n), ECR_OK);
  CHECK_BYTES(out, size, p + 1, size);
  number(p + 1, f->p);
  refused(f, p, n);
  /* Coordinates of p and more. */
  point(p, f->curve, f->gx, f->p);
  refused(f, p, n);
  memset(p + 1, 0xff, n - 1);
  refused(f, p, n);
  /* In place. */
  point(p, f->curve, f->gx, f->gy);
  CHECK_INT(ecr_ecdh(f->curve, p, k, p, n), ECR_OK);
  number(out, f->gx);
  CHECK_BYTES(p, size, out, size);
}

/* ---- libcrypto ------------------------------------------------------------------------------------------- */

static void test_libcrypto(const facts *f) {
  LIBCRYPTO(void *, EC_GROUP_new_by_curve_name, int);
  LIBCRYPTO(void *, EC_POINT_new, const void *);
  LIBCRYPTO(int, EC_POINT_mul, const void *, void *, const void *, const void *, const void *,
            void *);
  LIBCRYPTO(size_t, EC_POINT_point2oct, const void *, const void *, int, uint8_t *, size_t, void *);
  LIBCRYPTO(void *, BN_bin2bn, const uint8_t *, int, void *);
  LIBCRYPTO(void, BN_free, void *);
  LIBCRYPTO(void, EC_POINT_free, void *);
  LIBCRYPTO(void, EC_GROUP_free, void *);
  if (!EC_POINT_mul) return;
  const size_t size = ecr_ec_size(f->curve);
  const int nid = f->curve == ECR_P256 ? 415 : 715;
  void *group = EC_GROUP_new_by_curve_name(nid), *p = EC_POINT_new(group), *q = EC_POINT_new(group);
  for (int i = 0; i < 400; i++) {
    uint8_t a[SCALAR], b[SCALAR], ours[POINT], theirs[POINT], shared[SCALAR];
    pattern_bytes(a, size);
    pattern_bytes(b, size);
    if (ecr_ec_public(f->curve, ours, b) != ECR_OK || ecr_ec_public(f->curve, ours, a) != ECR_OK)
      continue;
    void *a_number = BN_bin2bn(a, (int)size, NULL), *b_number = BN_bin2bn(b, (int)size, NULL);
    EC_POINT_mul(group, p, a_number, NULL, NULL, NULL);
    CHECK_INT(EC_POINT_point2oct(group, p, 4, theirs, POINT, NULL), 2 * size + 1);
    CHECK_BYTES(ours, 2 * size + 1, theirs, 2 * size + 1);
    EC_POINT_mul(group, q, NULL, p, b_number, NULL);
    CHECK_INT(EC_POINT_point2oct(group, q, 4, theirs, POINT, NULL), 2 * size + 1);
    CHECK_INT(ecr_ecdh(f->curve, shared, b, ours, 2 * size + 1), ECR_OK);
    CHECK_BYTES(shared, size, theirs + 1, size);
    BN_free(a_number);
    BN_free(b_number);
  }
  EC_POINT_free(p);
  EC_POINT_free(q);
  EC_GROUP_free(group);
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    test_multiples(&curves[i]);
    test_edges(&curves[i]);
    test_points(&curves[i]);
    test_libcrypto(&curves[i]);
  }
  uint8_t out[POINT], k[SCALAR] = {1};
  CHECK_INT(ecr_ec_public((ecr_curve)2, out, k), ECR_INVALID);
  CHECK_INT(ecr_ecdh((ecr_curve)2, out, k, out, 65), ECR_INVALID);
  return unit_done("ec");
}
