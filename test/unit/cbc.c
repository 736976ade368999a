/*
** AES-256-CBC with PKCS#7: SP 800-38A's example, libcrypto at every length, in place, bad padding of every
** kind, short buffers; by the portable code and the processor's.
*/
#include "primitives.h"

#include "crypto/cryptoInt.h"

enum { LONGEST = 1100 };

/* SP 800-38A F.2.5, F.2.6: the four blocks, behind which our padding makes a fifth. */
static void example(void) {
  const bytes key = hex("603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4");
  const bytes iv = hex("000102030405060708090a0b0c0d0e0f");
  const bytes text = hex("6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51"
                         "30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710");
  uint8_t out[80], back[80];
  size_t written;
  CHECK_INT(ecr_aes256_cbc_encrypt(key.p, iv.p, text.p, text.n, out, sizeof out, &written), ECR_OK);
  CHECK_INT(written, 80);
  CHECK_HEX(out, 64,
            "f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d"
            "39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b");
  CHECK_INT(ecr_aes256_cbc_decrypt(key.p, iv.p, out, 80, back, sizeof back, &written), ECR_OK);
  CHECK_BYTES(back, written, text.p, text.n);
}

typedef void *evp_new(void);
typedef const void *evp_cipher(void);
typedef int evp_init(void *context, const void *cipher, void *engine, const uint8_t *key,
                     const uint8_t *iv);
typedef int evp_update(void *context, uint8_t *out, int *written, const uint8_t *in, int n);
typedef int evp_final(void *context, uint8_t *out, int *written);

/* Every length from 0 to 1,100, ending where memory faults, in place and not. */
static void against_libcrypto(void) {
  evp_new *create;
  evp_cipher *cipher;
  evp_init *init;
  evp_update *update;
  evp_final *final;
  PEER(create, "EVP_CIPHER_CTX_new");
  if (!create) return;
  PEER(cipher, "EVP_aes_256_cbc");
  PEER(init, "EVP_EncryptInit_ex");
  PEER(update, "EVP_EncryptUpdate");
  PEER(final, "EVP_EncryptFinal_ex");
  void *context = create();
  uint8_t key[32], iv[16], text[LONGEST], expected[LONGEST + 16];
  uint8_t *end = guarded(LONGEST + 16) + LONGEST + 16;
  size_t wrong = 0, written;
  fill(key, sizeof key, 1);
  fill(iv, sizeof iv, 2);
  fill(text, sizeof text, 3);
  for (size_t n = 0; n <= LONGEST; n++) {
    const size_t size = (n / 16 + 1) * 16;
    int first, last;
    uint8_t *out = end - size;
    init(context, cipher(), NULL, key, iv);
    update(context, expected, &first, text, (int)n);
    final(context, expected + first, &last);
    wrong += ecr_aes256_cbc_encrypt(key, iv, text, n, out, size, &written) != ECR_OK;
    wrong += written != size || memcmp(out, expected, size) != 0;
    memmove(out, text, n);
    wrong += ecr_aes256_cbc_encrypt(key, iv, out, n, out, size, &written) != ECR_OK;
    wrong += written != size || memcmp(out, expected, size) != 0;
    wrong += ecr_aes256_cbc_decrypt(key, iv, out, size, out, size, &written) != ECR_OK;
    wrong += written != n || memcmp(out, text, n) != 0;
  }
  CHECK_INT(wrong, 0);
  void (*release)(void *);
  PEER(release, "EVP_CIPHER_CTX_free");
  release(context);
}

/* Encrypts two blocks as they are, the second being PAD; whether decrypting takes PAD as padding is as
** RFC 5652 says, and if not, nothing is left. */
static int try_padding(const uint8_t pad[16]) {
  static const uint8_t key[32] = {1, 2, 3}, iv[16] = {4, 5, 6};
  uint8_t blocks[32], out[64];
  size_t written, expected = 0;
  memset(blocks, 7, 16);
  memcpy(blocks + 16, pad, 16);
  for (size_t size = 1; size <= 16; size++) {
    size_t same = 0;
    while (same < size && pad[15 - same] == size) same++;
    if (same == size && pad[15] == size) expected = size;
  }
  ecr_aes256_cbc_encrypt(key, iv, blocks, 32, out, sizeof out, &written);
  const ecr_status status = ecr_aes256_cbc_decrypt(key, iv, out, 32, out, sizeof out, &written);
  if (expected > 0)
    return status == ECR_OK && written == 32 - expected && memcmp(out, blocks, 32) == 0;
  for (size_t i = 0; i < 32; i++) {
    if (out[i] != 0) return 0;
  }
  return status == ECR_REFUSED && written == 0;
}

static void paddings(void) {
  uint8_t pad[16];
  for (unsigned last = 0; last < 256; last++) {
    /* So many bytes of the value, and what stands before them is not. */
    memset(pad, 0xee, sizeof pad);
    memset(pad + (last <= 16 ? 16 - last : 0), (int)last, last <= 16 ? last : 16);
    pad[15] = (uint8_t)last;
    CHECK(try_padding(pad));
    /* Each bit of each byte changed. */
    for (unsigned bit = 0; last <= 17 && bit < 128; bit++) {
      pad[bit / 8] ^= (uint8_t)(1 << bit % 8);
      CHECK(try_padding(pad));
      pad[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
  }
}

static void refused(void) {
  static const uint8_t key[32], iv[16], in[64];
  uint8_t out[64];
  size_t written = 9;
  memset(out, 0xa5, sizeof out);
  for (size_t size = 0; size < 48; size++) {
    CHECK_INT(ecr_aes256_cbc_encrypt(key, iv, in, 32, out, size, &written), ECR_SHORT);
    CHECK_INT(written, 0);
    CHECK_INT(ecr_aes256_cbc_decrypt(key, iv, in, 48, out, size, &written), ECR_SHORT);
    CHECK_INT(written, 0);
  }
  CHECK_INT(ecr_aes256_cbc_encrypt(key, iv, in, SIZE_MAX, out, sizeof out, &written), ECR_SHORT);
  for (size_t n = 0; n < 48; n++) {
    if (n > 0 && n % 16 == 0) continue;
    CHECK_INT(ecr_aes256_cbc_decrypt(key, iv, in, n, out, sizeof out, &written), ECR_INVALID);
    CHECK_INT(written, 0);
  }
  for (size_t i = 0; i < sizeof out; i++) CHECK_INT(out[i], 0xa5);
}

int main(void) {
  for (int portable = 0; portable < 2; portable++) {
    ecr_aes_force_portable(portable);
    example();
    against_libcrypto();
    paddings();
    refused();
  }
  return unit_done("cbc");
}
