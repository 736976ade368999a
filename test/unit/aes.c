/*
** AES's blocks (FIPS 197) and the parts of AES-GCM and ChaCha20-Poly1305 that have cases which no record is
** likely to meet: GHASH where most bits are set, Poly1305 at the edges of its modulus.
** also: nou128
*/
#include "primitives.h"

#include "crypto/cryptoInt.h"

/* FIPS 197 appendix A.1 and A.3: the last words of the key schedules. */
static void key_expansion(void) {
  const bytes key128 = hex("2b7e151628aed2a6abf7158809cf4f3c");
  const bytes key256 = hex("603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4");
  uint8_t round[15][16];
  unsigned rounds;
  ecr_aes_expand(round, &rounds, key128.p, key128.n);
  CHECK_INT(rounds, 10);
  CHECK_HEX(round[1], 16, "a0fafe1788542cb123a339392a6c7605");
  CHECK_HEX(round[10], 16, "d014f9a8c9ee2589e13f0cc8b6630ca6");
  ecr_aes_expand(round, &rounds, key256.p, key256.n);
  CHECK_INT(rounds, 14);
  CHECK_HEX(round[2], 16, "9ba354118e6925afa51a8b5f2067fcde");
  CHECK_HEX(round[14], 16, "fe4890d1e6188d0b046df344706c631e");
}

/* FIPS 197 appendices B, C.1 and C.3, in every place that a block can have among others. */
static void examples(void) {
  static const struct {
    const char *key, *text, *cipher;
  } facts[] = {
      {"2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
       "3925841d02dc09fbdc118597196a0b32"},
      {"000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
       "69c4e0d86a7b0430d8cdb78070b4c55a"},
      {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
       "00112233445566778899aabbccddeeff", "8ea2b7ca516745bfeafc49904b496089"},
  };
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    const bytes key = hex(facts[i].key), text = hex(facts[i].text), cipher = hex(facts[i].cipher);
    uint8_t in[16 * 20], out[16 * 20];
    ecr_aes_key k;
    ecr_aes_key_init(&k, key.p, key.n);
    for (size_t blocks = 1; blocks <= 20; blocks++) {
      fill(in, sizeof in, blocks);
      memcpy(in + 16 * (blocks - 1), text.p, 16);
      for (int portable = 0; portable < 2; portable++) {
        ecr_aes_force_portable(portable);
        ecr_aes_encrypt_blocks(&k, in, out, blocks);
        CHECK_BYTES(out + 16 * (blocks - 1), 16, cipher.p, 16);
        ecr_aes_decrypt_blocks(&k, out, out, blocks);
        CHECK_BYTES(out, 16 * blocks, in, 16 * blocks);
      }
    }
  }
  ecr_aes_force_portable(0);
}

/* SP 800-38D 6.3, algorithm 1, bit by bit. */
static void multiply_slowly(uint8_t x[16], const uint8_t y[16]) {
  uint8_t z[16] = {0}, v[16];
  memcpy(v, y, 16);
  for (int i = 0; i < 128; i++) {
    const int lost = v[15] & 1;
    if (x[i / 8] >> (7 - i % 8) & 1) {
      for (int j = 0; j < 16; j++) z[j] ^= v[j];
    }
    for (int j = 15; j > 0; j--) v[j] = (uint8_t)(v[j] >> 1 | v[j - 1] << 7);
    v[0] = (uint8_t)(v[0] >> 1 ^ (lost ? 0xe1 : 0));
  }
  memcpy(x, z, 16);
}

/* Numbers in which all bits of a place modulo 4 are set make the longest carries. */
static void ghash(void) {
  static const uint8_t patterns[] = {0xff, 0x11, 0x22, 0x44, 0x88, 0x77, 0xee, 0x00, 0x01, 0x80};
  const size_t n = sizeof patterns + 40;
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      uint8_t h[16], x[16], got[16];
      uint64_t acc[2] = {0};
      ecr_ghash_key key;
      fill(h, 16, i);
      fill(x, 16, j + 1000);
      if (i < sizeof patterns) memset(h, patterns[i], 16);
      if (j < sizeof patterns) memset(x, patterns[j], 16);
      ecr_ghash_init(&key, h);
      ecr_ghash(&key, acc, x, 16);
      ecr_store64(got, acc[1]);
      ecr_store64(got + 8, acc[0]);
      multiply_slowly(x, h);
      wrong += memcmp(got, x, 16) != 0;
    }
  }
  CHECK_INT(wrong, 0);
}

/* RFC 8439 A.3, test vectors 7 to 11: r, s, the text, the tag. */
static void poly1305(void) {
#define ZEROS "000000000000000000000000000000"
#define ONES "ffffffffffffffffffffffffffffff"
  static const char *const facts[][4] = {
      {"02" ZEROS, "00" ZEROS, "ff" ONES, "03" ZEROS},
      {"02" ZEROS, "ff" ONES, "02" ZEROS, "03" ZEROS},
      {"01" ZEROS, "00" ZEROS, "ff" ONES "f0" ONES "11" ZEROS, "05" ZEROS},
      {"01" ZEROS, "00" ZEROS,
       "ff" ONES "fbfefefefefefefefefefefefefefefe 01010101010101010101010101010101", "00" ZEROS},
      {"02" ZEROS, "00" ZEROS, "fd" ONES, "fa" ONES},
      {"01000000000000000400000000000000", "00" ZEROS,
       "e33594d7505e43b90000000000000000 3394d7505e4379cd0100000000000000"
       "00" ZEROS "01" ZEROS,
       "14000000000000005500000000000000"},
      {"01000000000000000400000000000000", "00" ZEROS,
       "e33594d7505e43b90000000000000000 3394d7505e4379cd0100000000000000"
       "00" ZEROS,
       "13" ZEROS},
  };
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    const bytes r = hex(facts[i][0]), s = hex(facts[i][1]), text = hex(facts[i][2]);
    uint8_t key[32], tag[16];
    ecr_poly1305 p;
    memcpy(key, r.p, 16);
    memcpy(key + 16, s.p, 16);
    ecr_poly1305_init(&p, key);
    ecr_poly1305_padded(&p, text.p, text.n);
    ecr_poly1305_tag(&p, tag);
    CHECK_HEX(tag, 16, facts[i][3]);
  }
}

int main(void) {
  key_expansion();
  examples();
  ghash();
  poly1305();
  return unit_done("aes");
}
