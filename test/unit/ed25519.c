/*
** ed25519.c: Ed25519 verification: RFC 8032's examples, what is not canonical, keys of small order, the table,
** and libcrypto's signatures.
**
** also: nou128
*/
#include "curve_peer.h"
#include "crypto/fe25519.h"

/* L and p, little-endian. */
static const char order_hex[] = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
static const char p_hex[] = "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f";

static int verify(const bytes *key, const bytes *message, const bytes *signature) {
  return (int)ecr_ed25519_verify(key->p, message->p, message->n, signature->p);
}

/* a += b, 32 bytes, little-endian; the carry. */
static int add_to(uint8_t *a, const uint8_t *b) {
  int carry = 0;
  for (int i = 0; i < 32; i++) {
    carry += a[i] + b[i];
    a[i] = (uint8_t)carry;
    carry >>= 8;
  }
  return carry;
}

/* ---- RFC 8032 7.1 ------------------------------------------------------------------------------------- */

static const struct {
  const char *key, *message, *signature;
} examples[] = {
    {"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "46bd25bf5f0595bbe24655141438e7a100b"},
    {"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6594a7c15e9716ed28dc027beceea1ec40a"},
    {"ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3fee"
     "bbd454d4423643ce80e2a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e"
     "0303dca179c138ac17ad9bef1177331a704"},
};

static void test_rfc8032(void) {
  for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
    bytes key = hex(examples[i].key), message = hex(examples[i].message),
          signature = hex(examples[i].signature);
    CHECK_INT(verify(&key, &message, &signature), ECR_OK);
    for (size_t j = 0; j < 512; j++) {
      signature.p[j / 8] ^= (uint8_t)(1 << j % 8);
      CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
      signature.p[j / 8] ^= (uint8_t)(1 << j % 8);
    }
    for (size_t j = 0; j < 256; j++) {
      key.p[j / 8] ^= (uint8_t)(1 << j % 8);
      CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
      key.p[j / 8] ^= (uint8_t)(1 << j % 8);
    }
    for (size_t j = 0; j < 8 * message.n; j++) {
      message.p[j / 8] ^= (uint8_t)(1 << j % 8);
      CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
      message.p[j / 8] ^= (uint8_t)(1 << j % 8);
    }
    message.n++;
    CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
    message.n--;
    /* s + L, s + 2L, … as far as 32 bytes go: the same modulo L (8.4). */
    bytes order = hex(order_hex);
    for (int more = 0; more < 16; more++) {
      if (add_to(signature.p + 32, order.p)) break;
      CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
    }
  }
}

/* ---- Spellings and small orders -------------------------------------------------------------------------- */

/* With s = 0 and R the point at infinity, y = 1, a key of small order holds for messages whose hash is a
** multiple of its order; the point at infinity itself for all. */
static void test_small_order(void) {
  bytes signature = {64, {1}}, message = hex("00");
  bytes key = {32, {1}}, p = hex(p_hex);
  CHECK_INT(verify(&key, &message, &signature), ECR_OK);
  /* y = 1 with a sign for x = 0 (5.1.3, step 4); y = p + 1, with and without it. */
  key.p[31] = 0x80;
  CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
  key.p[31] = 0;
  add_to(key.p, p.p);
  CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
  key.p[31] |= 0x80;
  CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
  /* The same spellings for R, with the right key. */
  key = (bytes){32, {1}};
  memcpy(signature.p, p.p, 32);
  signature.p[0]++; /* p + 1 */
  CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
  signature = (bytes){64, {1}};
  signature.p[31] = 0x80;
  CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);

  /* Orders 2, 4 and 8: of 64 messages about a half, a quarter, an eighth. */
  static const struct {
    const char *key;
    int order;
  } keys[] = {{"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", 2},
              {"0000000000000000000000000000000000000000000000000000000000000000", 4},
              {"0000000000000000000000000000000000000000000000000000000000000080", 4},
              {"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", 8},
              {"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", 8}};
  signature = (bytes){64, {1}};
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
    int held = 0;
    key = hex(keys[i].key);
    for (int j = 0; j < 256; j++) {
      message.p[0] = (uint8_t)j;
      held += verify(&key, &message, &signature) == ECR_OK;
    }
    CHECK(held > 128 / keys[i].order && held < 512 / keys[i].order);
  }
}

/* y of p and more, for all there are; y that no x belongs to. */
static void test_keys(void) {
  bytes signature = hex(examples[0].signature), message = {0, {0}}, p = hex(p_hex);
  for (int i = 0; i < 19; i++) {
    bytes key = {32, {(uint8_t)i}};
    add_to(key.p, p.p);
    CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
  }
  /* 2 is the smallest y that is not on the curve. */
  bytes key = {32, {2}};
  CHECK_INT(verify(&key, &message, &signature), ECR_REFUSED);
}

/* ---- The table -------------------------------------------------------------------------------------------- */

/* Entry i as a point: x = (sum - difference) / 2, y = (sum + difference) / 2; on the curve; and entries add
** up: entry i + 1 = entry i + 2B by the affine law (RFC 8032 5.1.4). */
static void test_table(void) {
  static const fe one = {{1}};
  fe d, half, x[64], y[64], two_x, two_y, t, u, v;
  fe_from_bytes(&d, hex("a3785913ca4deb75abd841414d0a700098e879777940c78c73fe6f2bee6c0352").p);
  fe two = {{2}};
  fe_invert(&half, &two);
  for (int i = 0; i < ECR_ED25519_ODD; i++) {
    fe sum, difference, t2d;
    memcpy(&sum, ecr_ed25519_b[i][0], sizeof(sum));
    memcpy(&difference, ecr_ed25519_b[i][1], sizeof(sum));
    memcpy(&t2d, ecr_ed25519_b[i][2], sizeof(sum));
    fe_sub(&t, &sum, &difference);
    fe_mul(&x[i], &t, &half);
    fe_add(&t, &sum, &difference);
    fe_mul(&y[i], &t, &half);
    uint8_t got[32], expected[32];
    fe_mul(&t, &x[i], &y[i]);
    fe_mul(&t, &t, &d);
    fe_add(&t, &t, &t);
    fe_to_bytes(got, &t);
    fe_to_bytes(expected, &t2d);
    CHECK_BYTES(got, 32, expected, 32);
    if (i == 0) { /* B; and 2B: x = 2xy / (1 + dx²y²), y = (y² + x²) / (1 - dx²y²) */
      fe_to_bytes(got, &y[0]);
      CHECK_HEX(got, 32, "5866666666666666666666666666666666666666666666666666666666666666");
      fe_to_bytes(got, &x[0]);
      CHECK_HEX(got, 32, "1ad5258f602d56c9b2a7259560c72c695cdcd6fd31e2a4c0fe536ecdd3366921");
    }
    /* Adding A = B at first, then 2B. */
    const fe *ax = i ? &two_x : &x[0], *ay = i ? &two_y : &y[0];
    const fe *bx = i ? &x[i - 1] : &x[0], *by = i ? &y[i - 1] : &y[0];
    fe xs, ys, dxy;
    fe_mul(&t, ax, by);
    fe_mul(&u, ay, bx);
    fe_mul(&dxy, &t, &u);
    fe_mul(&dxy, &dxy, &d);
    fe_add(&xs, &t, &u);
    fe_mul(&t, ax, bx);
    fe_mul(&u, ay, by);
    fe_add(&ys, &t, &u);
    fe_add(&v, &one, &dxy);
    fe_invert(&v, &v);
    fe_mul(&xs, &xs, &v);
    fe_sub(&v, &one, &dxy);
    fe_invert(&v, &v);
    fe_mul(&ys, &ys, &v);
    if (i == 0) {
      two_x = xs;
      two_y = ys;
      continue;
    }
    fe_to_bytes(got, &x[i]);
    fe_to_bytes(expected, &xs);
    CHECK_BYTES(got, 32, expected, 32);
    fe_to_bytes(got, &y[i]);
    fe_to_bytes(expected, &ys);
    CHECK_BYTES(got, 32, expected, 32);
  }
}

/* ---- libcrypto --------------------------------------------------------------------------------------------- */

#define NID_ED25519 1087

static void test_libcrypto(void) {
  LIBCRYPTO(void *, EVP_PKEY_new_raw_private_key, int, void *, const uint8_t *, size_t);
  LIBCRYPTO(int, EVP_PKEY_get_raw_public_key, const void *, uint8_t *, size_t *);
  LIBCRYPTO(void *, EVP_PKEY_new_raw_public_key, int, void *, const uint8_t *, size_t);
  LIBCRYPTO(void *, EVP_MD_CTX_new, void);
  LIBCRYPTO(int, EVP_DigestSignInit, void *, void *, const void *, void *, void *);
  LIBCRYPTO(int, EVP_DigestSign, void *, uint8_t *, size_t *, const uint8_t *, size_t);
  LIBCRYPTO(int, EVP_DigestVerifyInit, void *, void *, const void *, void *, void *);
  LIBCRYPTO(int, EVP_DigestVerify, void *, const uint8_t *, size_t, const uint8_t *, size_t);
  LIBCRYPTO(void, EVP_MD_CTX_free, void *);
  LIBCRYPTO(void, EVP_PKEY_free, void *);
  if (!EVP_DigestSign) return;
  for (size_t i = 0; i < 400; i++) {
    uint8_t secret[32], key[32], signature[64], message[400];
    size_t n = 64, key_size = 32;
    pattern_bytes(secret, 32);
    pattern_bytes(message, i);
    void *pair = EVP_PKEY_new_raw_private_key(NID_ED25519, NULL, secret, 32);
    void *context = EVP_MD_CTX_new();
    CHECK_INT(EVP_PKEY_get_raw_public_key(pair, key, &key_size), 1);
    CHECK_INT(EVP_DigestSignInit(context, NULL, NULL, NULL, pair), 1);
    CHECK_INT(EVP_DigestSign(context, signature, &n, message, i), 1);
    CHECK_INT(ecr_ed25519_verify(key, message, i, signature), ECR_OK);
    size_t bit = (size_t)(random64() >> 40) % 512;
    signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
    CHECK_INT(ecr_ed25519_verify(key, message, i, signature), ECR_REFUSED);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pair);
  }
  /* Small order again: keys of y below p on both sides of what decodes, R = infinity, s = 0. */
  for (int i = 0; i < 40; i++) {
    uint8_t key[32] = {(uint8_t)(i / 2)}, signature[64] = {1}, message[1];
    key[31] = (uint8_t)(i % 2 << 7);
    if (i == 3) continue; /* y = 1 with a sign: libcrypto takes it */
    void *pair = EVP_PKEY_new_raw_public_key(NID_ED25519, NULL, key, 32);
    for (int j = 0; j < 16; j++) {
      message[0] = (uint8_t)j;
      void *context = EVP_MD_CTX_new();
      CHECK_INT(EVP_DigestVerifyInit(context, NULL, NULL, NULL, pair), 1);
      int theirs = EVP_DigestVerify(context, signature, 64, message, 1);
      CHECK_INT(ecr_ed25519_verify(key, message, 1, signature) == ECR_OK, theirs == 1);
      EVP_MD_CTX_free(context);
    }
    EVP_PKEY_free(pair);
  }
}

int main(void) {
  test_rfc8032();
  test_small_order();
  test_keys();
  test_table();
  test_libcrypto();
  return unit_done("ed25519");
}
