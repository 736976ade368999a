/*
** The AEAD table: the published examples by every back end, what is refused, and the choice of a back end.
** also: nou128
*/
#include "primitives.h"

#include "crypto/cryptoInt.h"

/* AES-GCM: test cases 2-4 and 13-16 of McGrew and Viega, "The Galois/Counter Mode of Operation", the
** examples that SP 800-38D's validation grew from. ChaCha20-Poly1305: RFC 8439 2.8.2. */
#define KEY "feffe9928665731c6d6a8f9467308308"
#define TEXT                                                                                       \
  "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72"                              \
  "1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39"
#define AAD "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define CIPHER_128                                                                                 \
  "42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e"                              \
  "21d514b25466931c7d8f6a5aac84aa05 1ba30b396a0aac973d58e091"
#define CIPHER_256                                                                                 \
  "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa"                              \
  "8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662"
#define ZEROS "00000000000000000000000000000000"

static const struct fact {
  ecr_cipher cipher;
  const char *key, *nonce, *aad, *text, *sealed;
} facts[] = {
    {ECR_AES_128_GCM, ZEROS, "000000000000000000000000", "", "",
     "58e2fccefa7e3061367f1d57a4e7455a"},
    {ECR_AES_128_GCM, ZEROS, "000000000000000000000000", "", ZEROS,
     "0388dace60b6a392f328c2b971b2fe78 ab6e47d42cec13bdf53a67b21257bddf"},
    {ECR_AES_128_GCM, KEY, "cafebabefacedbaddecaf888", "", TEXT "1aafd255",
     CIPHER_128 "473f5985 4d5c2af327cd64a62cf35abd2ba6fab4"},
    {ECR_AES_128_GCM, KEY, "cafebabefacedbaddecaf888", AAD, TEXT,
     CIPHER_128 "5bc94fbc3221a5db94fae95ae7121a47"},
    {ECR_AES_256_GCM, ZEROS ZEROS, "000000000000000000000000", "", "",
     "530f8afbc74536b9a963b4f1c4cb738b"},
    {ECR_AES_256_GCM, ZEROS ZEROS, "000000000000000000000000", "", ZEROS,
     "cea7403d4d606b6e074ec5d3baf39d18 d0d1c8a799996bf0265b98b5d48ab919"},
    {ECR_AES_256_GCM, KEY KEY, "cafebabefacedbaddecaf888", "", TEXT "1aafd255",
     CIPHER_256 "898015ad b094dac5d93471bdec1a502270e3cc6c"},
    {ECR_AES_256_GCM, KEY KEY, "cafebabefacedbaddecaf888", AAD, TEXT,
     CIPHER_256 "76fc6ece0f4e1768cddf8853bb2d551b"},
    {ECR_CHACHA20_POLY1305, "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c 656d656e206f662074686520636c6173"
     "73206f66202739393a20496620492063 6f756c64206f6666657220796f75206f"
     "6e6c79206f6e652074697020666f7220 746865206675747572652c2073756e73"
     "637265656e20776f756c642062652069 742e",
     "d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6"
     "3dbea45e8ca9671282fafb69da92728b 1a71de0a9e060b2905d6a5b67ecd3b36"
     "92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc"
     "3ff4def08e4b7a9de576d26586cec64b 6116 1ae10b594f09e26a7e902ecbd0600691"},
};

static void examples(const struct fact *fact) {
  const bytes key = hex(fact->key), nonce = hex(fact->nonce), aad = hex(fact->aad);
  const bytes text = hex(fact->text), sealed = hex(fact->sealed);
  const ecr_aead *aead;
  for (int i = 0; (aead = ecr_aead_list(fact->cipher, i)); i++) {
    ecr_aead_context context;
    uint8_t out[200], back[200];
    CHECK_INT(aead->key_size, key.n);
    CHECK_INT(aead->init(&context, key.p), ECR_OK);
    CHECK_INT(aead->seal(&context, nonce.p, aad.p, aad.n, text.p, text.n, out, sealed.n), ECR_OK);
    if (!CHECK_BYTES(out, sealed.n, sealed.p, sealed.n)) printf("  by %s\n", aead->backend);
    CHECK_INT(aead->open(&context, nonce.p, aad.p, aad.n, out, sealed.n, back, text.n), ECR_OK);
    CHECK_BYTES(back, text.n, text.p, text.n);
    aead->clear(&context);
  }
}

static int all(const uint8_t *p, size_t n, uint8_t value) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] != value) return 0;
  }
  return 1;
}

/* Every bit of a record, its nonce and its AAD: refused, zeros where the text would be, and nothing
** touched behind. */
static void flipped_bits(const ecr_aead *aead) {
  enum { TEXT_SIZE = 37, AAD_SIZE = 13, AT_AAD = ECR_NONCE, AT_TEXT = ECR_NONCE + AAD_SIZE };
  ecr_aead_context context;
  uint8_t key[32], text[TEXT_SIZE], input[AT_TEXT + TEXT_SIZE + ECR_TAG], out[TEXT_SIZE + 8];
  size_t taken = 0, left = 0, touched = 0;
  fill(key, sizeof key, 1);
  fill(text, sizeof text, 2);
  fill(input, sizeof input, 3);
  CHECK_INT(aead->init(&context, key), ECR_OK);
  CHECK_INT(aead->seal(&context, input, input + AT_AAD, AAD_SIZE, text, TEXT_SIZE, input + AT_TEXT,
                       TEXT_SIZE + ECR_TAG),
            ECR_OK);
  for (size_t bit = 0; bit < 8 * sizeof input; bit++) {
    input[bit / 8] ^= (uint8_t)(1 << bit % 8);
    memset(out, 0xaa, sizeof out);
    taken += aead->open(&context, input, input + AT_AAD, AAD_SIZE, input + AT_TEXT,
                        TEXT_SIZE + ECR_TAG, out, TEXT_SIZE) != ECR_REFUSED;
    left += !all(out, TEXT_SIZE, 0);
    touched += !all(out + TEXT_SIZE, 8, 0xaa);
    input[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  if (!CHECK(taken == 0 && left == 0 && touched == 0)) printf("  by %s\n", aead->backend);
  CHECK_INT(aead->open(&context, input, input + AT_AAD, AAD_SIZE, input + AT_TEXT,
                       TEXT_SIZE + ECR_TAG, out, TEXT_SIZE),
            ECR_OK);
  CHECK_BYTES(out, TEXT_SIZE, text, TEXT_SIZE);

  /* Long enough for what works batch by batch, and in place. */
  static uint8_t record[5000 + ECR_TAG];
  CHECK_INT(aead->seal(&context, input, NULL, 0, record, 5000, record, sizeof record), ECR_OK);
  record[4999] ^= 1;
  CHECK_INT(aead->open(&context, input, NULL, 0, record, sizeof record, record, 5000), ECR_REFUSED);
  CHECK(all(record, 5000, 0));
  aead->clear(&context);
}

static void short_buffers(const ecr_aead *aead) {
  ecr_aead_context context;
  const uint8_t key[32] = {0}, nonce[ECR_NONCE] = {0}, text[40] = {0};
  uint8_t record[40 + ECR_TAG], out[64];
  CHECK_INT(aead->init(&context, key), ECR_OK);
  memset(out, 0xaa, sizeof out);
  for (size_t size = 0; size < 40 + ECR_TAG; size++) {
    CHECK_INT(aead->seal(&context, nonce, NULL, 0, text, 40, out, size), ECR_SHORT);
  }
  CHECK_INT(aead->seal(&context, nonce, NULL, 0, text, 0, out, ECR_TAG - 1), ECR_SHORT);
  CHECK_INT(aead->seal(&context, nonce, NULL, 0, text, 40, record, sizeof record), ECR_OK);
  for (size_t size = 0; size < 40; size++) {
    CHECK_INT(aead->open(&context, nonce, NULL, 0, record, sizeof record, out, size), ECR_SHORT);
  }
  for (size_t n = 0; n < ECR_TAG; n++) {
    CHECK_INT(aead->open(&context, nonce, NULL, 0, record, n, out, sizeof out), ECR_SHORT);
  }
  CHECK(all(out, sizeof out, 0xaa));
  aead->clear(&context);
}

/* The counter's 32 bits are refused to be used up (SP 800-38D 5.2.1.1, RFC 8439 2.8) before memory is
** looked at; one byte less is not, and so must have room. */
static void too_long(const ecr_aead *aead) {
#if SIZE_MAX > UINT32_MAX
  const int gcm = strcmp(aead->cipher, "chacha20poly1305") != 0;
  const size_t most = gcm ? ((size_t)1 << 36) - 32 : ((size_t)1 << 38) - 64;
  ecr_aead_context context;
  const uint8_t key[32] = {0}, nonce[ECR_NONCE] = {0};
  uint8_t p[ECR_TAG] = {0};
  CHECK_INT(aead->init(&context, key), ECR_OK);
  CHECK_INT(aead->seal(&context, nonce, NULL, 0, p, most + 1, p, SIZE_MAX), ECR_TOO_LONG);
  CHECK_INT(aead->seal(&context, nonce, NULL, 0, p, SIZE_MAX, p, SIZE_MAX), ECR_TOO_LONG);
  CHECK_INT(aead->seal(&context, nonce, NULL, 0, p, most, p, most + ECR_TAG - 1), ECR_SHORT);
  CHECK_INT(aead->open(&context, nonce, NULL, 0, p, most + ECR_TAG + 1, p, SIZE_MAX), ECR_TOO_LONG);
  CHECK_INT(aead->open(&context, nonce, NULL, 0, p, most + ECR_TAG, p, most - 1), ECR_SHORT);
  aead->clear(&context);
#else
  (void)aead;
#endif
}

static void cleared(const ecr_aead *aead) {
  ecr_aead_context context;
  uint8_t key[32];
  fill(key, sizeof key, 4);
  CHECK(aead->context_size <= sizeof context.bytes);
  memset(&context, 0, sizeof context);
  CHECK_INT(aead->init(&context, key), ECR_OK);
  CHECK(all(context.bytes + aead->context_size, sizeof context.bytes - aead->context_size, 0));
  aead->clear(&context);
  CHECK(all(context.bytes, sizeof context.bytes, 0));
}

/* The list has no back end twice, portable in any case, and OpenSSL at its end if at all. */
static void choice(void) {
  for (int c = 0; c < ECR_CIPHERS; c++) {
    const ecr_cipher cipher = (ecr_cipher)c;
    const ecr_aead *aead, *best = ecr_aead_get(cipher, NULL);
    CHECK(best && best == ecr_aead_list(cipher, 0));
    CHECK(best && strcmp(best->backend, "openssl") != 0);
    CHECK(ecr_aead_get(cipher, "portable") != NULL);
    CHECK(ecr_aead_get(cipher, "nosuch") == NULL);
    for (int i = 0; (aead = ecr_aead_list(cipher, i)); i++) {
      printf("  %s by %s\n", aead->cipher, aead->backend);
      CHECK(ecr_aead_get(cipher, aead->backend) == aead);
      if (strcmp(aead->backend, "openssl") == 0) CHECK(ecr_aead_list(cipher, i + 1) == NULL);
    }
  }
}

int main(void) {
  choice();
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) examples(&facts[i]);
  for (int c = 0; c < ECR_CIPHERS; c++) {
    const ecr_aead *aead;
    for (int i = 0; (aead = ecr_aead_list((ecr_cipher)c, i)); i++) {
      flipped_bits(aead);
      short_buffers(aead);
      too_long(aead);
      cleared(aead);
    }
  }
  return unit_done("aead");
}
