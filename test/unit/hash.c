/*
** The hashes: the published examples, libcrypto at every length and alignment, pieces against wholes; the
** portable code and the processor's.
*/
#include "primitives.h"

typedef int evp_digest(const void *p, size_t n, unsigned char *out, unsigned *size,
                       const void *type, void *engine);
typedef const void *evp_type(void);

static const ecr_hash *const hashes[] = {&ecr_sha1, &ecr_sha256, &ecr_sha384, &ecr_sha512};
static const char *const evp_names[] = {"EVP_sha1", "EVP_sha256", "EVP_sha384", "EVP_sha512"};

static void hash(const ecr_hash *h, const void *p, size_t n, uint8_t *out) {
  ecr_hash_context context;
  h->init(&context);
  h->update(&context, p, n);
  h->digest(&context, out);
}

/* FIPS 180-4's examples, as NIST publishes them beside it: one block, two blocks, a million letters. */
static void examples(void) {
  static const char *const texts[] = {"", "abc",
                                      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                                      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijk"
                                      "lmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                                      "mnopqrstnopqrstu"};
  static const char *const sums[4][5] = {
      {"da39a3ee 5e6b4b0d 3255bfef 95601890 afd80709",
       "a9993e36 4706816a ba3e2571 7850c26c 9cd0d89d",
       "84983e44 1c3bd26e baae4aa1 f95129e5 e54670f1",
       "a49b2446 a02c645b f419f995 b6709125 3a04a259",
       "34aa973c d4c4daa4 f61eeb2b dbad2731 6534016f"},
      {"e3b0c442 98fc1c14 9afbf4c8 996fb924 27ae41e4 649b934c a495991b 7852b855",
       "ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad",
       "248d6a61 d20638b8 e5c02693 0c3e6039 a33ce459 64ff2167 f6ecedd4 19db06c1",
       "cf5b16a7 78af8380 036ce59e 7b049237 0b249b11 e8f07a51 afac4503 7afee9d1",
       "cdc76e5c 9914fb92 81a1c7e2 84d73e67 f1809a48 a497200e 046d39cc c7112cd0"},
      {"38b060a7 51ac9638 4cd9327e b1b1e36a 21fdb711 14be0743 4c0cc7bf 63f6e1da 274edebf e76f65fb "
       "d51ad2f1 4898b95b",
       "cb00753f 45a35e8b b5a03d69 9ac65007 272c32ab 0eded163 1a8b605a 43ff5bed 8086072b a1e7cc23 "
       "58baeca1 34c825a7",
       "3391fddd fc8dc739 3707a65b 1b470939 7cf8b1d1 62af05ab fe8f450d e5f36bc6 b0455a85 20bc4e6f "
       "5fe95b1f e3c8452b",
       "09330c33 f71147e8 3d192fc7 82cd1b47 53111b17 3b3b05d2 2fa08086 e3b0f712 fcc7c71a 557e2db9 "
       "66c3e9fa 91746039",
       "9d0e1809 716474cb 086e834e 310a4a1c ed149e9c 00f24852 7972cec5 704c2a5b 07b8b3dc 38ecc4eb "
       "ae97ddd8 7f3d8985"},
      {"cf83e135 7eefb8bd f1542850 d66d8007 d620e405 0b5715dc 83f4a921 d36ce9ce 47d0d13c 5d85f2b0 "
       "ff8318d2 877eec2f 63b931bd 47417a81 a538327a f927da3e",
       "ddaf35a1 93617aba cc417349 ae204131 12e6fa4e 89a97ea2 0a9eeee6 4b55d39a 2192992a 274fc1a8 "
       "36ba3c23 a3feebbd 454d4423 643ce80e 2a9ac94f a54ca49f",
       "204a8fc6 dda82f0a 0ced7beb 8e08a416 57c16ef4 68b228a8 279be331 a703c335 96fd15c1 3b1b07f9 "
       "aa1d3bea 57789ca0 31ad85c7 a71dd703 54ec6312 38ca3445",
       "8e959b75 dae313da 8cf4f728 14fc143f 8f7779c6 eb9f7fa1 7299aead b6889018 501d289e 4900f7e4 "
       "331b99de c4b5433a c7d329ee b6dd2654 5e96e55b 874be909",
       "e718483d 0ce76964 4e2e42c7 bc15b463 8e1f98b1 3b204428 5632a803 afa973eb de0ff244 877ea60a "
       "4cb0432c e577c31b eb009c5c 2c49aa2e 4eadb217 ad8cc09b"}};
  uint8_t got[ECR_HASH_MAX];
  char *million = malloc(1000000);
  if (!million) abort();
  memset(million, 'a', 1000000);
  for (size_t i = 0; i < 4; i++) {
    for (size_t j = 0; j < 4; j++) {
      hash(hashes[i], texts[j], strlen(texts[j]), got);
      CHECK_HEX(got, hashes[i]->size, sums[i][j]);
    }
    hash(hashes[i], million, 1000000, got);
    CHECK_HEX(got, hashes[i]->size, sums[i][4]);
  }
  free(million);
}

/* Every length from 0 to 1,100 at every alignment within 16, ending where reading faults. */
static void against_libcrypto(void) {
  enum { LONGEST = 1100 };
  evp_digest *evp;
  uint8_t *end = guarded(LONGEST + 16) + LONGEST + 16;
  uint8_t got[ECR_HASH_MAX], expected[ECR_HASH_MAX];
  PEER(evp, "EVP_Digest");
  if (!evp) return;
  fill(end - LONGEST - 16, LONGEST + 16, 1);
  for (size_t i = 0; i < 4; i++) {
    evp_type *type;
    size_t wrong = 0;
    PEER(type, evp_names[i]);
    for (size_t n = 0; n <= LONGEST; n++) {
      for (size_t shift = 0; shift < 16; shift++) {
        const uint8_t *p = end - n - shift;
        hash(hashes[i], p, n, got);
        evp(p, n, expected, NULL, type(), NULL);
        wrong += memcmp(got, expected, hashes[i]->size) != 0;
      }
    }
    CHECK_INT(wrong, 0);
  }
}

/* In pieces of every size up to two blocks and one; a digest on the way changes nothing. */
static void pieces(void) {
  uint8_t text[1500], got[ECR_HASH_MAX], expected[ECR_HASH_MAX];
  fill(text, sizeof text, 2);
  for (size_t i = 0; i < 4; i++) {
    size_t wrong = 0;
    for (size_t piece = 1; piece <= 2 * hashes[i]->block + 1; piece++) {
      ecr_hash_context context;
      hashes[i]->init(&context);
      for (size_t at = 0; at < sizeof text; at += piece) {
        const size_t n = sizeof text - at < piece ? sizeof text - at : piece;
        hashes[i]->update(&context, text + at, n);
        hashes[i]->digest(&context, got);
        hash(hashes[i], text, at + n, expected);
        wrong += memcmp(got, expected, hashes[i]->size) != 0;
      }
    }
    CHECK_INT(wrong, 0);
  }
}

static void tables(void) {
  static const struct {
    const char *name;
    size_t size, block;
  } expected[] = {{"sha1", 20, 64}, {"sha256", 32, 64}, {"sha384", 48, 128}, {"sha512", 64, 128}};
  for (size_t i = 0; i < 4; i++) {
    CHECK_STR(hashes[i]->name, expected[i].name);
    CHECK_INT(hashes[i]->size, expected[i].size);
    CHECK_INT(hashes[i]->block, expected[i].block);
  }
}

/* More than 2^29 bytes: the count of bits needs more than 32 of its own. */
static void long_message(void) {
  const size_t piece = 1 << 20;
  uint8_t got[ECR_HASH_MAX];
  ecr_hash_context context;
  uint8_t *zeros = calloc(1, piece);
  if (!zeros) abort();
  ecr_sha256.init(&context);
  for (int i = 0; i < 513; i++) ecr_sha256.update(&context, zeros, piece);
  ecr_sha256.digest(&context, got);
  CHECK_HEX(got, 32, "a3e2acbb 469e4e59 dde406f9 12e754c9 33c1ac0f b0092a36 34d61d50 73309c0c");
  free(zeros);
}

int main(void) {
  tables();
  for (int portable = 0; portable < 2; portable++) {
    ecr_hash_force_portable(portable);
    examples();
    against_libcrypto();
    pieces();
  }
  ecr_hash_force_portable(0);
  long_message();
  return unit_done("hash");
}
