/*
** ct_host.c: runs crypto/ on secrets that the checker follows: valgrind's memcheck has their bits as
** undefined, clang's memory sanitizer as uninitialized. Both report a branch or an address that depends
** on one, and both carry that through arithmetic; so no report means that time and memory's traces do not
** depend on them (as far as these inputs go; ct.tcl looks for divisions besides).
**
**     ct_host [NAME]        all operations, or the one of that name; `planted_…` only so
**
** What is public is left alone: lengths, nonces, associated data, ciphertexts, signatures, public keys.
** crypto/ is built with ECR_CT, which makes its ecr_declassify the one below: each use in it says why.
** Here, an answer is declassified before it is looked at, which is what a caller does.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ECR_CT
#define ECR_CT 1
#endif
#include "../../crypto/crypto.h"
#include "../../crypto/cryptoInt.h"
#include "../unit/rsa_facts.h"

#if defined(ECR_CT_MSAN)
#include <sanitizer/msan_interface.h>
#define SECRET(p, n) __msan_allocated_memory(p, n)
#define PUBLIC(p, n) __msan_unpoison(p, n)
#elif __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define SECRET(p, n) VALGRIND_MAKE_MEM_UNDEFINED(p, n)
#define PUBLIC(p, n) VALGRIND_MAKE_MEM_DEFINED(p, n)
#else
#define SECRET(p, n) ((void)(p), (void)(n))
#define PUBLIC(p, n) ((void)(p), (void)(n))
#endif

void ecr_declassify(const void *p, size_t n) { PUBLIC((void *)(uintptr_t)p, n); }

static void broken(const char *what) {
  fprintf(stderr, "ct_host: %s is wrong\n", what);
  exit(3);
}

/* Whether an answer is what it must be; the answer is no secret any more. */
static void expect(ecr_status got, ecr_status wanted, const char *what) {
  PUBLIC(&got, sizeof got);
  if (got != wanted) broken(what);
}

static void expect_bytes(void *got, const void *wanted, size_t n, const char *what) {
  PUBLIC(got, n);
  if (memcmp(got, wanted, n) != 0) broken(what);
}

static void fill(uint8_t *p, size_t n) {
  static uint64_t seed = 1;
  for (size_t i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    p[i] = (uint8_t)(seed >> 56);
  }
}

/* ---- AEADs: the key and the plaintext, and so the hash subkey and the key stream -------------------- */

enum { RECORD = 1500 };

static void aead_record(const ecr_aead *aead, size_t n, size_t aad_size) {
  static ecr_aead_context context;
  static uint8_t text[RECORD], again[RECORD], sealed[RECORD + ECR_TAG];
  uint8_t key[32], nonce[ECR_NONCE], aad[32];
  fill(key, sizeof key);
  fill(nonce, sizeof nonce);
  fill(aad, sizeof aad);
  fill(text, sizeof text);
  memcpy(again, text, sizeof text);
  SECRET(key, sizeof key);
  SECRET(text, sizeof text);
  expect(aead->init(&context, key), ECR_OK, "init");
  expect(aead->seal(&context, nonce, aad, aad_size, text, n, sealed, sizeof sealed), ECR_OK,
         "seal");
  /* It goes over the network. */
  PUBLIC(sealed, n + ECR_TAG);
  expect(aead->open(&context, nonce, aad, aad_size, sealed, n + ECR_TAG, text, sizeof text), ECR_OK,
         "open");
  expect_bytes(text, again, n, "opened text");
  sealed[n] ^= 1;
  expect(aead->open(&context, nonce, aad, aad_size, sealed, n + ECR_TAG, text, sizeof text),
         ECR_REFUSED, "refusal");
  aead->clear(&context);
}

static void aead(void) {
  static const size_t sizes[] = {0, 1, 16, 31, 64, 100, 255, 256, 300, 512, 777, 1024, RECORD};
  for (int cipher = 0; cipher < ECR_CIPHERS; cipher++) {
    const ecr_aead *one;
    for (int i = 0; (one = ecr_aead_list((ecr_cipher)cipher, i)); i++) {
      /* That is others' code. */
      if (strcmp(one->backend, "openssl") == 0) continue;
      printf("  %s by %s\n", one->cipher, one->backend);
      for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) aead_record(one, sizes[j], j);
    }
  }
}

/* ---- Hashes and keys from secrets ---------------------------------------------------------------- */

static const ecr_hash *const hashes[] = {&ecr_sha1, &ecr_sha256, &ecr_sha384, &ecr_sha512};

static void hash(void) {
  for (int portable = 0; portable < 2; portable++) {
    ecr_hash_force_portable(portable);
    for (size_t i = 0; i < 4; i++) {
      uint8_t text[300], out[ECR_HASH_MAX];
      ecr_hash_context context;
      fill(text, sizeof text);
      SECRET(text, sizeof text);
      hashes[i]->init(&context);
      hashes[i]->update(&context, text, 100);
      hashes[i]->update(&context, text + 100, 200);
      hashes[i]->digest(&context, out);
    }
  }
  ecr_hash_force_portable(0);
}

static void kdf(void) {
  for (int portable = 0; portable < 2; portable++) {
    ecr_hash_force_portable(portable);
    for (size_t i = 0; i < 4; i++) {
      uint8_t key[200], out[300];
      fill(key, sizeof key);
      SECRET(key, sizeof key);
      ecr_hmac(hashes[i], key, 32, key + 32, 100, out);
      ecr_hmac(hashes[i], key, 200, "public", 6, out);
      ecr_hkdf_extract(hashes[i], key, 32, key + 32, 48, out);
      expect(ecr_hkdf_expand(hashes[i], out, hashes[i]->size, key, 20, out + 64, 200), ECR_OK,
             "expand");
      expect(ecr_hkdf_expand_label(hashes[i], key, "key", key + 64, 32, out, 32), ECR_OK, "label");
      ecr_tls12_prf(hashes[i], key, 48, "master secret", key + 48, 64, out, 150);
    }
  }
  ecr_hash_force_portable(0);
}

static void bytes(void) {
  uint8_t a[64], b[64];
  int choice = 1;
  fill(a, sizeof a);
  memcpy(b, a, sizeof b);
  SECRET(a, sizeof a);
  SECRET(b, sizeof b);
  SECRET(&choice, sizeof choice);
  ecr_select(a, a, b, sizeof a, choice);
  int same = ecr_equal(a, b, sizeof a);
  PUBLIC(&same, sizeof same);
  if (!same) broken("equal");
  ecr_wipe(a, sizeof a);
}

/* ---- AES-CBC: the key, the plaintext, and whether the padding is right ------------------------------ */

static void cbc(void) {
  for (int portable = 0; portable < 2; portable++) {
    ecr_aes_force_portable(portable);
    for (size_t n = 0; n < 300; n += 13) {
      uint8_t key[32], iv[16], text[300], again[300], out[320];
      size_t written;
      fill(key, sizeof key);
      fill(iv, sizeof iv);
      fill(text, sizeof text);
      for (size_t i = 0; i < sizeof text; i++) text[i] |= 0x40;
      memcpy(again, text, sizeof text);
      SECRET(key, sizeof key);
      SECRET(text, sizeof text);
      expect(ecr_aes256_cbc_encrypt(key, iv, text, n, out, sizeof out, &written), ECR_OK,
             "encrypt");
      PUBLIC(out, written);
      expect(ecr_aes256_cbc_decrypt(key, iv, out, written, out, sizeof out, &written), ECR_OK,
             "decrypt");
      PUBLIC(&written, sizeof written);
      if (written != n) broken("length");
      expect_bytes(out, again, n, "decrypted text");
      /* Without its last block a text ends in bytes that are no padding. */
      if (n < 16) continue;
      expect(ecr_aes256_cbc_encrypt(key, iv, text, n, out, sizeof out, &written), ECR_OK,
             "encrypt");
      PUBLIC(out, written);
      expect(ecr_aes256_cbc_decrypt(key, iv, out, n / 16 * 16, out, sizeof out, &written),
             ECR_REFUSED, "padding");
    }
  }
  ecr_aes_force_portable(0);
}

/* ---- Curves: scalars ---------------------------------------------------------------------------- */

static void x25519(void) {
  for (int i = 0; i < 3; i++) {
    uint8_t a[32], b[32], public_a[32], public_b[32], secret_a[32], secret_b[32];
    fill(a, sizeof a);
    fill(b, sizeof b);
    SECRET(a, sizeof a);
    SECRET(b, sizeof b);
    ecr_x25519_public(public_a, a);
    ecr_x25519_public(public_b, b);
    PUBLIC(public_a, 32);
    PUBLIC(public_b, 32);
    expect(ecr_x25519(secret_a, a, public_b), ECR_OK, "x25519");
    expect(ecr_x25519(secret_b, b, public_a), ECR_OK, "x25519");
    PUBLIC(secret_b, 32);
    expect_bytes(secret_a, secret_b, 32, "x25519's secret");
  }
}

static void ecdh(void) {
  for (int curve = 0; curve < 2; curve++) {
    const size_t size = ecr_ec_size((ecr_curve)curve), point = 2 * size + 1;
    for (int i = 0; i < 3; i++) {
      uint8_t a[ECR_EC_SCALAR_MAX], b[ECR_EC_SCALAR_MAX], public_a[ECR_EC_POINT_MAX],
          public_b[ECR_EC_POINT_MAX], secret_a[ECR_EC_SCALAR_MAX], secret_b[ECR_EC_SCALAR_MAX];
      fill(a, sizeof a);
      fill(b, sizeof b);
      /* Small ones are of a kind of their own. */
      if (i == 0) memset(a, 0, size - 1);
      a[0] &= 0x7f;
      b[0] &= 0x7f;
      SECRET(a, sizeof a);
      SECRET(b, sizeof b);
      expect(ecr_ec_public((ecr_curve)curve, public_a, a), ECR_OK, "ec_public");
      expect(ecr_ec_public((ecr_curve)curve, public_b, b), ECR_OK, "ec_public");
      PUBLIC(public_a, point);
      PUBLIC(public_b, point);
      expect(ecr_ecdh((ecr_curve)curve, secret_a, a, public_b, point), ECR_OK, "ecdh");
      expect(ecr_ecdh((ecr_curve)curve, secret_b, b, public_a, point), ECR_OK, "ecdh");
      PUBLIC(secret_b, size);
      expect_bytes(secret_a, secret_b, size, "ecdh's secret");
    }
  }
}

/* ---- OAEP: the key's private numbers, and the plaintext that comes of them ---------------------------- */

static size_t unhex(uint8_t *out, const char *hex) {
  size_t n = 0;
  for (; hex[2 * n]; n++) {
    unsigned byte = 0;
    for (int i = 0; i < 2; i++) {
      const char c = hex[2 * n + (size_t)i];
      byte = byte << 4 | (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    out[n] = (uint8_t)byte;
  }
  return n;
}

static void oaep(void) {
  static uint8_t n[256], e[3], p[128], q[128], dp[128], dq[128], qinv[128], text[256], out[256],
      message[64];
  ecr_rsa_private key = {
      {n, unhex(n, fact_oaep_n), e, unhex(e, fact_oaep_e)}, p, q, dp, dq, qinv, 0, 0, 0, 0, 0};
  const size_t text_size = unhex(text, fact_oaep_ciphertext);
  const size_t message_size = unhex(message, fact_oaep_message);
  size_t written;
  key.p_size = unhex(p, fact_oaep_p);
  key.q_size = unhex(q, fact_oaep_q);
  key.dp_size = unhex(dp, fact_oaep_dp);
  key.dq_size = unhex(dq, fact_oaep_dq);
  key.qinv_size = unhex(qinv, fact_oaep_qinv);
  SECRET(p, key.p_size);
  SECRET(q, key.q_size);
  SECRET(dp, key.dp_size);
  SECRET(dq, key.dq_size);
  SECRET(qinv, key.qinv_size);
  expect(ecr_rsa_oaep_decrypt(&key, &ecr_sha1, text, text_size, out, sizeof out, &written), ECR_OK,
         "oaep");
  PUBLIC(&written, sizeof written);
  if (written != message_size) broken("oaep's length");
  expect_bytes(out, message, message_size, "oaep's message");
  /* Under another hash the padding is wrong, and where is the secret of Manger's attack. */
  expect(ecr_rsa_oaep_decrypt(&key, &ecr_sha256, text, text_size, out, sizeof out, &written),
         ECR_REFUSED, "oaep's refusal");
  text[text_size - 1] ^= 1;
  expect(ecr_rsa_oaep_decrypt(&key, &ecr_sha1, text, text_size, out, sizeof out, &written),
         ECR_REFUSED, "oaep's refusal");
}

/* ---- Planted leaks: the checker must report each ------------------------------------------------------ */

static volatile unsigned sink;
static volatile uint8_t planted_table[256];

static void planted_lookup(void) {
  uint8_t key[16];
  fill(key, sizeof key);
  SECRET(key, sizeof key);
  for (size_t i = 0; i < sizeof key; i++) sink += planted_table[key[i]];
}

static void planted_branch(void) {
  uint8_t key[16];
  fill(key, sizeof key);
  SECRET(key, sizeof key);
  for (size_t i = 0; i < sizeof key; i++) {
    if (key[i] & 1) sink++;
  }
}

/* Through a cipher: its plaintext is as secret as its key. */
static void planted_far(void) {
  static const uint8_t nonce[ECR_NONCE], zeros[64];
  static ecr_aead_context context;
  const ecr_aead *one = ecr_aead_get(ECR_AES_128_GCM, NULL);
  uint8_t key[16], out[64 + ECR_TAG];
  fill(key, sizeof key);
  SECRET(key, sizeof key);
  one->init(&context, key);
  one->seal(&context, nonce, NULL, 0, zeros, sizeof zeros, out, sizeof out);
  sink += planted_table[out[63]];
}

/* For the scan for divisions, which looks for it. */
unsigned planted_division(unsigned a, unsigned b);
unsigned planted_division(unsigned a, unsigned b) { return a / b; }

static const struct operation {
  const char *name;
  void (*run)(void);
} operations[] = {
    {"bytes", bytes},
    {"hash", hash},
    {"kdf", kdf},
    {"cbc", cbc},
    {"aead", aead},
    {"x25519", x25519},
    {"ecdh", ecdh},
    {"oaep", oaep},
    {"planted_lookup", planted_lookup},
    {"planted_branch", planted_branch},
    {"planted_far", planted_far},
};

/* Valgrind can run ADCX and ADOX, but its CPUID has none. */
static void find_adx(void) {
#if !defined(ECR_CT_MSAN)
  static char line[8192];
  FILE *file = fopen("/proc/cpuinfo", "r");
  int found = 0;
  while (file && !found && fgets(line, sizeof line, file)) found = strstr(line, " adx ") != NULL;
  if (file) fclose(file);
  /* Not const in its own file. */
  if (found) ((ecr_cpu *)(uintptr_t)ecr_cpu_get())->adx = 1;
#endif
}

int main(int argc, char **argv) {
  int ran = 0;
  find_adx();
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    const char *name = operations[i].name;
    if (argc > 1 ? strcmp(argv[1], name) != 0 : strncmp(name, "planted", 7) == 0) continue;
    printf("%s\n", name);
    operations[i].run();
    ran++;
  }
  return ran ? 0 : 2;
}
