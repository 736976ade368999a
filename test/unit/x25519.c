/*
** x25519.c: RFC 7748's examples, points of small order, scalars' and points' ignored bits, and libcrypto.
**
** also: nou128
*/
#include "curve_peer.h"

/* ---- RFC 7748 ------------------------------------------------------------------------------------ */

static void example(const char *scalar_hex, const char *point_hex, const char *expected_hex) {
  uint8_t scalar[32], point[32], expected[32], out[32];
  memcpy(scalar, hex(scalar_hex).p, 32);
  memcpy(point, hex(point_hex).p, 32);
  memcpy(expected, hex(expected_hex).p, 32);
  CHECK_INT(ecr_x25519(out, scalar, point), ECR_OK);
  CHECK_BYTES(out, 32, expected, 32);
}

static void test_rfc7748(void) {
  /* 5.2 */
  example("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
          "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
          "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
  example("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
          "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
          "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957");
  /* 6.1 */
  uint8_t a[32], b[32], a_public[32], b_public[32], expected[32], shared[32];
  memcpy(a, hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a").p, 32);
  memcpy(b, hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb").p, 32);
  ecr_x25519_public(a_public, a);
  memcpy(expected, hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a").p, 32);
  CHECK_BYTES(a_public, 32, expected, 32);
  ecr_x25519_public(b_public, b);
  memcpy(expected, hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f").p, 32);
  CHECK_BYTES(b_public, 32, expected, 32);
  memcpy(expected, hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742").p, 32);
  CHECK_INT(ecr_x25519(shared, a, b_public), ECR_OK);
  CHECK_BYTES(shared, 32, expected, 32);
  CHECK_INT(ecr_x25519(shared, b, a_public), ECR_OK);
  CHECK_BYTES(shared, 32, expected, 32);
}

/* 5.2: k = u = 9; then k, u = X25519(k, u), k. */
static void test_iterations(void) {
  uint8_t k[32] = {9}, u[32] = {9}, out[32], expected[32];
  for (int i = 1; i <= 1000; i++) {
    CHECK_INT(ecr_x25519(out, k, u), ECR_OK);
    memcpy(u, k, 32);
    memcpy(k, out, 32);
    if (i == 1) {
      memcpy(expected, hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079").p,
             32);
      CHECK_BYTES(k, 32, expected, 32);
    }
  }
  memcpy(expected, hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51").p, 32);
  CHECK_BYTES(k, 32, expected, 32);
}

/* ---- Bits and points at the edge ------------------------------------------------------------------- */

/* The points of small order, and their other spellings of at most 255 bits (RFC 7748 6.1, 7). */
static void test_small_order(void) {
  static const char *const points[] = {
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};
  static const uint8_t zero[32] = {0};
  for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
    uint8_t point[32], scalar[32], out[32];
    memcpy(point, hex(points[i]).p, 32);
    for (int top = 0; top < 2; top++, point[31] ^= 0x80) {
      random_bytes(scalar, 32);
      CHECK_INT(ecr_x25519(out, scalar, point), ECR_REFUSED);
      CHECK_BYTES(out, 32, zero, 32);
    }
  }
}

/* What clamping changes, the point's top bit, and a point of p or more make no difference. */
static void test_ignored(void) {
  uint8_t scalar[32], point[32], out[32], other[32];
  for (int i = 0; i < 50; i++) {
    random_bytes(scalar, 32);
    random_bytes(point, 32);
    CHECK_INT(ecr_x25519(out, scalar, point), ECR_OK);
    scalar[0] ^= (uint8_t)(1 << (i % 3));
    scalar[31] ^= (uint8_t)(0x40 << (i % 2));
    point[31] ^= 0x80;
    CHECK_INT(ecr_x25519(other, scalar, point), ECR_OK);
    CHECK_BYTES(other, 32, out, 32);
  }
  /* 2 to 18, and the same plus p. */
  for (int i = 2; i < 19; i++) {
    uint8_t small[32] = {(uint8_t)i}, large[32];
    memset(large, 0xff, 32);
    large[0] = (uint8_t)(0xed + i);
    large[31] = 0x7f;
    CHECK_INT(ecr_x25519(out, scalar, small), ECR_OK);
    CHECK_INT(ecr_x25519(other, scalar, large), ECR_OK);
    CHECK_BYTES(other, 32, out, 32);
  }
  /* In place. */
  memcpy(other, point, 32);
  CHECK_INT(ecr_x25519(out, scalar, point), ECR_OK);
  CHECK_INT(ecr_x25519(other, scalar, other), ECR_OK);
  CHECK_BYTES(other, 32, out, 32);
}

/* ---- libcrypto ---------------------------------------------------------------------------------------- */

#define NID_X25519 1034

static void test_libcrypto(void) {
  LIBCRYPTO(void *, EVP_PKEY_new_raw_private_key, int, void *, const uint8_t *, size_t);
  LIBCRYPTO(void *, EVP_PKEY_new_raw_public_key, int, void *, const uint8_t *, size_t);
  LIBCRYPTO(int, EVP_PKEY_get_raw_public_key, const void *, uint8_t *, size_t *);
  LIBCRYPTO(void *, EVP_PKEY_CTX_new, void *, void *);
  LIBCRYPTO(int, EVP_PKEY_derive_init, void *);
  LIBCRYPTO(int, EVP_PKEY_derive_set_peer, void *, void *);
  LIBCRYPTO(int, EVP_PKEY_derive, void *, uint8_t *, size_t *);
  LIBCRYPTO(void, EVP_PKEY_CTX_free, void *);
  LIBCRYPTO(void, EVP_PKEY_free, void *);
  if (!EVP_PKEY_derive) return;
  for (int i = 0; i < 500; i++) {
    uint8_t scalar[32], point[32], ours[32], theirs[32];
    size_t n = 32;
    random_bytes(scalar, 32);
    random_bytes(point, 32);
    /* Limbs at their edges: runs of zeros and ones. */
    if (i % 2) memset(point + i % 24, i % 4 == 1 ? 0 : 0xff, 8);
    if (i % 5 == 0) memset(scalar + i % 24, i % 4 < 2 ? 0 : 0xff, 8);
    void *key = EVP_PKEY_new_raw_private_key(NID_X25519, NULL, scalar, 32);
    void *peer = EVP_PKEY_new_raw_public_key(NID_X25519, NULL, point, 32);
    void *derive = EVP_PKEY_CTX_new(key, NULL);
    CHECK(EVP_PKEY_derive_init(derive) == 1 && EVP_PKEY_derive_set_peer(derive, peer) == 1);
    CHECK_INT(EVP_PKEY_derive(derive, theirs, &n), 1);
    CHECK_INT(ecr_x25519(ours, scalar, point), ECR_OK);
    CHECK_BYTES(ours, 32, theirs, 32);
    CHECK_INT(EVP_PKEY_get_raw_public_key(key, theirs, &n), 1);
    ecr_x25519_public(ours, scalar);
    CHECK_BYTES(ours, 32, theirs, 32);
    EVP_PKEY_CTX_free(derive);
    EVP_PKEY_free(peer);
    EVP_PKEY_free(key);
  }
}

int main(void) {
  test_rfc7748();
  test_iterations();
  test_small_order();
  test_ignored();
  test_libcrypto();
  return unit_done("x25519");
}
