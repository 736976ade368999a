/*
** rsa.c: RSA signatures: NIST's examples, libcrypto's signatures of every size, and forged blocks, each of which
** is refused.
**
** also: nou128
*/
#include "rsa_peer.h"
#include "rsa_facts.h"

static uint8_t digest[ECR_HASH_MAX];

static void hash_of(const ecr_hash *hash, const void *p, size_t n, uint8_t *out) {
  ecr_hash_context context;
  hash->init(&context);
  hash->update(&context, p, n);
  hash->digest(&context, out);
}

static int pkcs1(const rsa_key *key, const ecr_hash *hash, const uint8_t *signature, size_t n) {
  return (int)ecr_rsa_verify_pkcs1(&key->ours.public_key, hash, digest, signature, n);
}

static int pss(const rsa_key *key, const ecr_hash *hash, size_t salt, const uint8_t *signature) {
  return (int)ecr_rsa_verify_pss(&key->ours.public_key, hash, salt, digest, signature, key->size);
}

/* ---- Facts ------------------------------------------------------------------------------------------ */

static void test_facts(void) {
  uint8_t h[32];
  bytes n = hex(fact_v15_n), e = hex(fact_v15_e), message = hex(fact_v15_msg), s = hex(fact_v15_s);
  ecr_rsa_public key = {n.p, n.n, e.p, e.n};
  hash_of(&ecr_sha256, message.p, message.n, h);
  CHECK_INT(ecr_rsa_verify_pkcs1(&key, &ecr_sha256, h, s.p, s.n), ECR_OK);
  CHECK_INT(ecr_rsa_verify_pss(&key, &ecr_sha256, 0, h, s.p, s.n), ECR_REFUSED);
  h[31] ^= 1;
  CHECK_INT(ecr_rsa_verify_pkcs1(&key, &ecr_sha256, h, s.p, s.n), ECR_REFUSED);

  n = hex(fact_pss_n), e = hex(fact_pss_e), message = hex(fact_pss_msg), s = hex(fact_pss_s);
  key = (ecr_rsa_public){n.p, n.n, e.p, e.n};
  const size_t salt = hex(fact_pss_saltval).n;
  hash_of(&ecr_sha256, message.p, message.n, h);
  CHECK_INT(ecr_rsa_verify_pss(&key, &ecr_sha256, salt, h, s.p, s.n), ECR_OK);
  CHECK_INT(ecr_rsa_verify_pss(&key, &ecr_sha256, salt + 1, h, s.p, s.n), ECR_REFUSED);
  CHECK_INT(ecr_rsa_verify_pkcs1(&key, &ecr_sha256, h, s.p, s.n), ECR_REFUSED);
}

/* ---- Keys ------------------------------------------------------------------------------------------- */

static int with_key(const uint8_t *n, size_t n_size, const uint8_t *e, size_t e_size) {
  static const uint8_t zeros[RSA_BYTES];
  const ecr_rsa_public key = {n, n_size, e, e_size};
  return (int)ecr_rsa_verify_pkcs1(&key, &ecr_sha256, digest, zeros, n_size > 256 ? n_size : 256);
}

static void test_keys(void) {
  uint8_t n[1025], e[] = {0, 0, 0, 1, 0, 1};
  memset(n, 0xff, sizeof n);
  CHECK_INT(with_key(n, 256, e, 6), ECR_REFUSED); /* taken, and the signature is not */
  CHECK_INT(with_key(n, 1024, e, 6), ECR_REFUSED);
  CHECK_INT(with_key(n, 1025, e, 6), ECR_INVALID);
  CHECK_INT(with_key(n, 255, e, 6), ECR_INVALID);
  CHECK_INT(with_key(n, 0, e, 6), ECR_INVALID);
  n[0] = 0x7f; /* 2,047 bits */
  CHECK_INT(with_key(n, 256, e, 6), ECR_INVALID);
  n[0] = 0; /* leading zeros count for nothing */
  CHECK_INT(with_key(n, 256, e, 6), ECR_INVALID);
  CHECK_INT(with_key(n, 257, e, 6), ECR_REFUSED);
  CHECK_INT(with_key(n, 1025, e, 6), ECR_REFUSED);
  n[256] = 0xfe; /* even */
  CHECK_INT(with_key(n, 257, e, 6), ECR_INVALID);
  n[256] = 0xff;

  static const struct {
    uint8_t e[5];
    int expected;
  } exponents[] = {{{0, 0, 0, 0, 0}, ECR_INVALID},    {{0, 0, 0, 0, 1}, ECR_INVALID},
                   {{0, 0, 0, 0, 2}, ECR_INVALID},    {{0, 0, 0, 0, 3}, ECR_REFUSED},
                   {{0, 0, 0, 1, 0}, ECR_INVALID},    {{0, 255, 255, 255, 255}, ECR_REFUSED},
                   {{1, 0, 0, 0, 0}, ECR_INVALID},    {{1, 0, 0, 0, 1}, ECR_INVALID},
                   {{0, 0x80, 0, 0, 1}, ECR_REFUSED}, {{0, 255, 255, 255, 254}, ECR_INVALID}};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++)
    CHECK_INT(with_key(n + 1, 256, exponents[i].e, 5), exponents[i].expected);
  CHECK_INT(with_key(n + 1, 256, e, 0), ECR_INVALID);
}

/* ---- Signatures ------------------------------------------------------------------------------------- */

/* A signature that holds, in every way that it must not. */
static void test_tampered(const rsa_key *key, size_t h, uint8_t *s) {
  const ecr_hash *hash = rsa_hashes[h].hash;
  const size_t size = key->size;
  uint8_t other[RSA_BYTES] = {0};
  for (size_t bit = 0; bit < 8 * size; bit += size / 8 + 1) {
    s[bit / 8] ^= (uint8_t)(1 << bit % 8);
    CHECK_INT(pkcs1(key, hash, s, size), ECR_REFUSED);
    s[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  for (size_t i = 0; i < 4; i++)
    if (i != h) CHECK_INT(pkcs1(key, rsa_hashes[i].hash, s, size), ECR_REFUSED);
  digest[hash->size - 1] ^= 0x80;
  CHECK_INT(pkcs1(key, hash, s, size), ECR_REFUSED);
  digest[hash->size - 1] ^= 0x80;
  CHECK_INT(pkcs1(key, hash, s, size - 1), ECR_REFUSED);
  CHECK_INT(pkcs1(key, hash, s, 0), ECR_REFUSED);
  memcpy(other + 1, s, size);
  CHECK_INT(pkcs1(key, hash, other, size + 1), ECR_REFUSED);

  /* s + n, where it has the same length, is s to the arithmetic. */
  unsigned carry = 0;
  for (size_t i = size; i-- > 0;) {
    carry += (unsigned)s[i] + key->n[i];
    other[i] = (uint8_t)carry;
    carry >>= 8;
  }
  if (!carry) CHECK_INT(pkcs1(key, hash, other, size), ECR_REFUSED);
  CHECK_INT(pkcs1(key, hash, s, size), ECR_OK);
}

static void test_boundaries(const rsa_key *key) {
  uint8_t s[RSA_BYTES] = {0};
  for (int by = -1; by <= 2; by++) { /* n - 1, n, n + 1, and by = 2: all ones */
    add_small(s, key->n, key->size, by);
    if (by == 2) memset(s, 0xff, key->size);
    CHECK_INT(pkcs1(key, &ecr_sha256, s, key->size), ECR_REFUSED);
    CHECK_INT(pss(key, &ecr_sha256, 0, s), ECR_REFUSED);
  }
  for (uint8_t small = 0; small <= 2; small++) {
    memset(s, 0, key->size);
    s[key->size - 1] = small;
    CHECK_INT(pkcs1(key, &ecr_sha256, s, key->size), ECR_REFUSED);
    CHECK_INT(pss(key, &ecr_sha256, 0, s), ECR_REFUSED);
  }
}

static void test_signatures(const rsa_key *key) {
  uint8_t s[RSA_BYTES];
  for (size_t h = 0; h < 4; h++) {
    unsigned n = 0;
    fill(digest, sizeof digest, h + 7);
    const unsigned size = (unsigned)rsa_hashes[h].hash->size;
    CHECK(lib.rsa_sign(rsa_hashes[h].nid, digest, size, s, &n, key->rsa) == 1 && n == key->size);
    CHECK_INT(pkcs1(key, rsa_hashes[h].hash, s, n), ECR_OK);
    if (h == 1) test_tampered(key, h, s);
  }
}

/* ---- Forged PKCS#1 blocks ---------------------------------------------------------------------------- */

/* Signs 00 01 ff … 00, the tail, the digest and what stands behind it. */
static int with_tail(const rsa_key *key, const char *tail, const char *behind) {
  uint8_t em[RSA_BYTES], s[RSA_BYTES];
  const bytes info = hex(tail), rest = hex(behind);
  const size_t used = info.n + 32 + rest.n;
  memset(em, 0xff, key->size);
  em[0] = 0;
  em[1] = 1;
  em[key->size - used - 1] = 0;
  memcpy(em + key->size - used, info.p, info.n);
  memcpy(em + key->size - used + info.n, digest, 32);
  memcpy(em + key->size - rest.n, rest.p, rest.n);
  rsa_sign_raw(key, em, s);
  return pkcs1(key, &ecr_sha256, s, key->size);
}

static void test_forged(const rsa_key *key) {
  const char *info = "30 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20";
  uint8_t em[RSA_BYTES], s[RSA_BYTES];
  CHECK_INT(with_tail(key, info, ""), ECR_OK);
  static const char *const tails[][2] = {
      {"", ""},
      {"04 20", ""},
      /* no parameters, with the lengths right; NULL of another length; another tag */
      {"30 2f 30 0b 06 09 60 86 48 01 65 03 04 02 01 04 20", ""},
      {"30 32 30 0e 06 09 60 86 48 01 65 03 04 02 01 05 01 00 04 20", ""},
      {"30 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 30 00 04 20", ""},
      {"30 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 03 20", ""},
      /* BER: long lengths, indefinite length, a constructed string */
      {"30 81 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20", ""},
      {"30 32 30 81 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20", ""},
      {"30 32 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 81 20", ""},
      {"30 80 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20", "00 00"},
      {"30 33 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 24 22 04 20", ""},
      /* another hash's name */
      {"30 31 30 0d 06 09 60 86 48 01 65 03 04 02 02 05 00 04 20", ""},
      {"30 31 30 0d 06 09 60 86 48 01 65 03 04 02 04 05 00 04 20", ""},
      /* something behind, in and out of the sequence */
      {"30 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20", "00"},
      {"30 33 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20", "05 00"},
      {"30 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20", "2a 2a 2a 2a 2a 2a 2a 2a"},
      /* the separator within, so that the padding ends early */
      {"00 30 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20", ""},
  };
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
    CHECK_INT(with_tail(key, tails[i][0], tails[i][1]), ECR_REFUSED);

  /* Every byte of the padding counts. */
  const bytes right = hex(info);
  for (size_t i = 0; i < key->size - 32; i++) {
    memset(em, 0xff, key->size);
    em[0] = 0;
    em[1] = 1;
    em[key->size - 52] = 0;
    memcpy(em + key->size - 51, right.p, right.n);
    memcpy(em + key->size - 32, digest, 32);
    if (i < 10 || i % 16 == 0 || i > key->size - 60) {
      em[i] ^= i == 0 ? 0x01 : 0x03;
      rsa_sign_raw(key, em, s);
      CHECK_INT(pkcs1(key, &ecr_sha256, s, key->size), ECR_REFUSED);
    }
  }
}

/* ---- PSS --------------------------------------------------------------------------------------------- */

/* What a block of libcrypto's is changed by before it is signed. */
typedef struct change {
  size_t at; /* from the end */
  uint8_t by;
} change;

static int with_pss(const rsa_key *key, size_t h, int salt, const change *flip, size_t claimed) {
  uint8_t em[RSA_BYTES] = {0}, s[RSA_BYTES];
  const void *md = lib.md[h]();
  CHECK_INT(lib.pss_pad(key->rsa, em, digest, md, md, salt), 1);
  if (flip) em[key->size - 1 - flip->at] ^= flip->by;
  rsa_sign_raw(key, em, s);
  return pss(key, rsa_hashes[h].hash, claimed, s);
}

static void test_pss(const rsa_key *key, int bits) {
  const size_t em_size = (size_t)(bits - 1 + 7) / 8;
  for (size_t h = 0; h < 4; h++) {
    const size_t size = rsa_hashes[h].hash->size, most = em_size - size - 2;
    const size_t salts[] = {0, 1, 20, size, most - 1, most};
    fill(digest, sizeof digest, h + 70);
    for (size_t i = 0; i < sizeof salts / sizeof *salts; i++) {
      const int salt = (int)salts[i];
      CHECK_INT(with_pss(key, h, salt, NULL, salts[i]), ECR_OK);
      CHECK_INT(with_pss(key, h, salt, NULL, salts[i] + 1), ECR_REFUSED);
      CHECK_INT(with_pss(key, h, salt, NULL, salts[i] ? salts[i] - 1 : size), ECR_REFUSED);
      CHECK_INT(with_pss(key, h, salt, NULL, SIZE_MAX), ECR_REFUSED);
    }
    /* The trailer, the hash, the salt, 01, the zeros before it. */
    const change flips[] = {{0, 0x01},         {1, 0x80},        {size, 0x01},
                            {size + 1, 0x01},  {size + 21, 1},   {size + 21, 2},
                            {size + 22, 0x10}, {em_size - 2, 1}, {em_size - 1, 1}};
    for (size_t i = 0; i < sizeof flips / sizeof *flips; i++)
      CHECK_INT(with_pss(key, h, 20, &flips[i], 20), ECR_REFUSED);
  }
  /* The bits above the block's own, where the number stays below n. */
  const unsigned spare = (unsigned)(8 - (bits - 1) % 8) % 8;
  const change above = {spare ? em_size - 1 : em_size, (uint8_t)(spare ? 0x100 >> spare : 1)};
  uint8_t em[RSA_BYTES] = {0};
  do {
    lib.pss_pad(key->rsa, em, digest, lib.md[1](), lib.md[1](), 32);
    em[key->size - 1 - above.at] ^= above.by;
  } while (memcmp(em, key->n, key->size) >= 0);
  uint8_t s[RSA_BYTES];
  rsa_sign_raw(key, em, s);
  CHECK_INT(pss(key, &ecr_sha256, 32, s), ECR_REFUSED);
  CHECK_INT(with_pss(key, 1, 32, NULL, 32), ECR_OK);
}

int main(void) {
  test_facts();
  test_keys();
  if (rsa_peer_open()) {
    for (size_t i = 0; i < RSA_SHAPES; i++) {
      rsa_key key;
      rsa_make(&key, &rsa_shapes[i]);
      test_signatures(&key);
      test_boundaries(&key);
      if (rsa_shapes[i].bits < 8192) {
        fill(digest, sizeof digest, 3);
        test_forged(&key);
        test_pss(&key, rsa_shapes[i].bits);
      }
      lib.rsa_free(key.rsa);
    }
  }
  return unit_done("rsa");
}
