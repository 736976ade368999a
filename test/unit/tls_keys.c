/*
** Key schedules: TLS 1.3's against libcrypto's HMAC at every length that is used here, TLS 1.2's
** master secret and key block against tls_peer.h's PRF. rfc8448.c has the values that others
** computed.
*/
#include "tls_peer.h"
#include "tls/tlsInt.h"

static void compare_schedule(void) {
  uint8_t psk[32], shared[32], hash[32], ours[48], theirs[32], salt[32], empty[32], none[32] = {0};
  fill(psk, sizeof psk, 1);
  fill(shared, sizeof shared, 2);
  fill(hash, sizeof hash, 3);
  SHA256(none, 0, empty);
  for (int with = 0; with < 2; with++) {
    tls13_early(&ecr_sha256, with ? psk : NULL, ours);
    peer_hmac(none, 0, with ? psk : none, 32, theirs);
    CHECK_BYTES(ours, 32, theirs, 32);
    tls13_advance(&ecr_sha256, with ? shared : NULL, 32, ours);
    peer_label(theirs, "derived", empty, 32, salt, 32);
    peer_hmac(salt, 32, with ? shared : none, 32, theirs);
    CHECK_BYTES(ours, 32, theirs, 32);
    tls13_derive(&ecr_sha256, ours, "c hs traffic", hash, ours);
    peer_label(theirs, "c hs traffic", hash, 32, theirs, 32);
    CHECK_BYTES(ours, 32, theirs, 32);
    tls13_finished(&ecr_sha256, ours, hash, ours);
    peer_label(theirs, "finished", NULL, 0, salt, 32);
    peer_hmac(salt, 32, hash, 32, theirs);
    CHECK_BYTES(ours, 32, theirs, 32);
  }
}

/* Keys, and the keys after them, of a secret. */
static void compare_protection(void) {
  static tls_protection p;
  uint8_t secret[32], next[32], key[16], iv[12], out[64], nonce[12], text[64], aad[5];
  size_t n = 0;
  fill(secret, sizeof secret, 4);
  memset(&p, 0, sizeof p);
  CHECK_INT(tls13_protect(&p, ecr_aead_get(ECR_AES_128_GCM, NULL), &ecr_sha256, secret), ECR_OK);
  for (int generation = 0; generation < 3; generation++) {
    peer_label(secret, "key", NULL, 0, key, 16);
    peer_label(secret, "iv", NULL, 0, iv, 12);
    for (uint8_t sequence = 0; sequence < 3; sequence++) {
      CHECK_INT(p.sequence, sequence);
      CHECK_INT(tls_record_seal(&p, 23, (const uint8_t *)"abc", 3, out, sizeof out, &n), ECR_OK);
      memcpy(nonce, iv, 12);
      nonce[11] ^= sequence;
      memcpy(aad, "\x17\3\3\0\x14", 5);
      memcpy(text, "abc\x17", 4);
      CHECK(peer_gcm(1, key, nonce, aad, 5, text, 4));
      CHECK_BYTES(out + 5, n - 5, text, 20);
      CHECK_BYTES(out, 5, aad, 5);
    }
    peer_label(secret, "traffic upd", NULL, 0, next, 32);
    memcpy(secret, next, 32);
    CHECK_INT(tls13_protect_next(&p, &ecr_sha256), ECR_OK);
  }
  tls_protect_clear(&p);
  uint8_t zeros[sizeof p.secret] = {0};
  CHECK_BYTES(p.secret, sizeof p.secret, zeros, sizeof zeros);
  CHECK(p.aead == NULL);
}

static void compare_tls12(void) {
  uint8_t premaster[48], ours_random[32], theirs_random[32], hash[48], seed[64], ours[48],
      theirs[48], block[88];
  tls12_keys keys;
  fill(premaster, sizeof premaster, 5);
  fill(ours_random, 32, 6);
  fill(theirs_random, 32, 7);
  fill(hash, sizeof hash, 8);
  for (size_t n = 32; n <= 48; n += 16) {
    tls12_master(&ecr_sha256, premaster, n, hash, ours_random, theirs_random, ours);
    peer_prf(premaster, n, "extended master secret", hash, 32, theirs, 48);
    CHECK_BYTES(ours, 48, theirs, 48);
    memcpy(seed, ours_random, 32);
    memcpy(seed + 32, theirs_random, 32);
    tls12_master(&ecr_sha256, premaster, n, NULL, ours_random, theirs_random, ours);
    peer_prf(premaster, n, "master secret", seed, 64, theirs, 48);
    CHECK_BYTES(ours, 48, theirs, 48);
  }
  memcpy(seed, theirs_random, 32);
  memcpy(seed + 32, ours_random, 32);
  peer_prf(theirs, 48, "key expansion", seed, 64, block, sizeof block);
  tls12_key_block(tls_suite_find(0xc02f), 16, ours, ours_random, theirs_random, &keys);
  CHECK_BYTES(keys.client_key, 16, block, 16);
  CHECK_BYTES(keys.server_key, 16, block + 16, 16);
  CHECK_BYTES(keys.client_iv, 4, block + 32, 4);
  CHECK_BYTES(keys.server_iv, 4, block + 36, 4);
  tls12_key_block(tls_suite_find(0xcca8), 32, ours, ours_random, theirs_random, &keys);
  CHECK_BYTES(keys.client_key, 32, block, 32);
  CHECK_BYTES(keys.server_key, 32, block + 32, 32);
  CHECK_BYTES(keys.client_iv, 12, block + 64, 12);
  CHECK_BYTES(keys.server_iv, 12, block + 76, 12);
  tls12_finished(&ecr_sha256, ours, "client finished", hash, ours);
  peer_prf(theirs, 48, "client finished", hash, 32, theirs, 12);
  CHECK_BYTES(ours, 12, theirs, 12);
}

/* Every suite's numbers fit its cipher; each is offered once, in an order that the processor
** decides. */
static void suites(void) {
  int seen = 0;
  const tls_suite *suite;
  const int aes = ecr_cpu_get()->aes || ecr_cpu_get()->arm_aes;
  for (int i = 0; (suite = tls_suite_offer(i)) != NULL; i++, seen++) {
    CHECK(tls_suite_find(suite->code) == suite);
    for (int j = 0; j < i; j++) CHECK(tls_suite_offer(j) != suite);
    CHECK(strstr(suite->name, suite->hash == &ecr_sha384 ? "_SHA384" : "_SHA256") != NULL);
    CHECK((strstr(suite->name, "AES_128") != NULL) == (suite->cipher == ECR_AES_128_GCM));
    CHECK((strstr(suite->name, "AES_256") != NULL) == (suite->cipher == ECR_AES_256_GCM));
    CHECK((strstr(suite->name, "ECDHE") != NULL) == (suite->version == TLS_1_2));
    CHECK((strstr(suite->name, "_RSA_") != NULL) == (suite->signs == TLS_SIGNS_RSA));
  }
  CHECK_INT(seen, 9);
  CHECK_INT(tls_suite_offer(0)->cipher == ECR_CHACHA20_POLY1305, !aes);
  CHECK(tls_suite_find(0x1304) == NULL);
}

int main(void) {
  if (!peer_load()) {
    printf("tls_keys: 0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  compare_schedule();
  compare_protection();
  compare_tls12();
  suites();
  return unit_done("tls_keys");
}
