/*
** vector_host.c: runs one primitive of crypto/ for each line of standard input, for the suites that read
** other people's vectors (vectors.tcl).
**
**     vector_host cpu|portable <REQUESTS >ANSWERS
**
** `portable` is a processor without any special instructions. A request is an operation and its arguments,
** separated by single spaces; bytes are hexadecimal, and `-` where there are none. The answer is a line:
** OK, with the bytes that come out if any do, or the name of the ecr_status.
**
**     backends CIPHER                               their names: of "aes128gcm", …
**     seal CIPHER BACKEND key nonce aad text        ciphertext and tag
**     open CIPHER BACKEND key nonce aad text
**     hash HASH message
**     hmac HASH key message
**     hkdf HASH secret salt info SIZE
**     cbc_encrypt key iv text                       cbc_decrypt the same
**     x25519 scalar point
**     ec_public CURVE scalar                        "p256", "p384"
**     ecdh CURVE scalar point
**     ecdsa CURVE HASH point message signature
**     ed25519 key message signature
**     pkcs1 HASH n e message signature
**     pss HASH SALTSIZE n e message signature
**     oaep HASH n e p q dp dq qinv text
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../crypto/crypto.h"
#include "../crypto/cryptoInt.h"

#define ARGUMENTS 12

typedef struct argument {
  const char *word;
  uint8_t *p; /* the word's bytes, where it is hexadecimal */
  size_t n;
} argument;

static uint8_t *out; /* what an operation writes, out_size bytes at most */
static size_t out_size, written;

static void broken(const char *why) {
  fprintf(stderr, "vector_host: %s\n", why);
  exit(2);
}

/* ---- What the words mean --------------------------------------------------------------------------- */

static int digit(char c) {
  static const char digits[] = "0123456789abcdef";
  const char *found = c ? strchr(digits, c | 32) : NULL;
  return found ? (int)(found - digits) : -1;
}

/* Sets p and n where the word is hexadecimal. p ends where its memory does, for the sanitizers. */
static void decode(argument *a) {
  const size_t length = strlen(a->word);
  a->n = strcmp(a->word, "-") == 0 ? 0 : length / 2;
  a->p = malloc(a->n ? a->n : 1);
  if (!a->p) broken("no memory");
  for (size_t i = 0; i < a->n; i++) {
    const int high = digit(a->word[2 * i]), low = digit(a->word[2 * i + 1]);
    if (high < 0 || low < 0 || length % 2) {
      a->n = 0;
      return;
    }
    a->p[i] = (uint8_t)(high << 4 | low);
  }
}

static const ecr_hash *hash_named(const char *name) {
  static const ecr_hash *const hashes[] = {&ecr_sha1, &ecr_sha256, &ecr_sha384, &ecr_sha512};
  for (size_t i = 0; i < 4; i++) {
    if (strcmp(hashes[i]->name, name) == 0) return hashes[i];
  }
  broken("no such hash");
  return NULL;
}

static ecr_cipher cipher_named(const char *name) {
  for (int i = 0; i < ECR_CIPHERS; i++) {
    const ecr_aead *aead = ecr_aead_get((ecr_cipher)i, "portable");
    if (aead && strcmp(aead->cipher, name) == 0) return (ecr_cipher)i;
  }
  broken("no such cipher");
  return ECR_AES_128_GCM;
}

static ecr_curve curve_named(const char *name) {
  if (strcmp(name, "p256") != 0 && strcmp(name, "p384") != 0) broken("no such curve");
  return strcmp(name, "p256") == 0 ? ECR_P256 : ECR_P384;
}

static const uint8_t *exactly(const argument *a, size_t n) {
  if (a->n != n) broken("an argument has the wrong size");
  return a->p;
}

static uint8_t *room(size_t n) {
  free(out);
  out = malloc(n ? n : 1);
  if (!out) broken("no memory");
  out_size = written = n;
  return out;
}

static const uint8_t *digest_of(const ecr_hash *hash, const argument *message) {
  static uint8_t digest[ECR_HASH_MAX];
  ecr_hash_context context;
  hash->init(&context);
  hash->update(&context, message->p, message->n);
  hash->digest(&context, digest);
  return digest;
}

/* ---- Operations: a[0] is the first argument -------------------------------------------------------- */

static ecr_status do_backends(const argument *a) {
  const ecr_aead *aead;
  for (int i = 0; (aead = ecr_aead_list(cipher_named(a[0].word), i)); i++) {
    printf("%s%s", i ? " " : "", aead->backend);
  }
  printf("\n");
  return ECR_OK;
}

static ecr_status do_aead(const argument *a, int seal) {
  static ecr_aead_context context;
  const ecr_aead *aead = ecr_aead_get(cipher_named(a[0].word), a[1].word);
  ecr_status status;
  if (!aead) return ECR_NOT_FOUND;
  status = aead->init(&context, exactly(&a[2], aead->key_size));
  if (status != ECR_OK) return status;
  exactly(&a[3], ECR_NONCE);
  if (seal) {
    room(a[5].n + ECR_TAG);
    status = aead->seal(&context, a[3].p, a[4].p, a[4].n, a[5].p, a[5].n, out, out_size);
  } else {
    room(a[5].n < ECR_TAG ? 0 : a[5].n - ECR_TAG);
    memset(out, 0xa5, out_size);
    status = aead->open(&context, a[3].p, a[4].p, a[4].n, a[5].p, a[5].n, out, out_size);
    /* What a refused text leaves is part of the promise. */
    for (size_t i = 0; status == ECR_REFUSED && i < out_size; i++) {
      if (out[i] != 0) broken("a refused text left something behind");
    }
  }
  aead->clear(&context);
  return status;
}

static ecr_status do_seal(const argument *a) { return do_aead(a, 1); }
static ecr_status do_open(const argument *a) { return do_aead(a, 0); }

static ecr_status do_hash(const argument *a) {
  const ecr_hash *hash = hash_named(a[0].word);
  memcpy(room(hash->size), digest_of(hash, &a[1]), hash->size);
  return ECR_OK;
}

static ecr_status do_hmac(const argument *a) {
  const ecr_hash *hash = hash_named(a[0].word);
  ecr_hmac(hash, a[1].p, a[1].n, a[2].p, a[2].n, room(hash->size));
  return ECR_OK;
}

static ecr_status do_hkdf(const argument *a) {
  const ecr_hash *hash = hash_named(a[0].word);
  uint8_t prk[ECR_HASH_MAX];
  ecr_hkdf_extract(hash, a[2].p, a[2].n, a[1].p, a[1].n, prk);
  room((size_t)strtoul(a[4].word, NULL, 10));
  return ecr_hkdf_expand(hash, prk, hash->size, a[3].p, a[3].n, out, out_size);
}

static ecr_status do_cbc_encrypt(const argument *a) {
  room((a[2].n / 16 + 1) * 16);
  return ecr_aes256_cbc_encrypt(exactly(&a[0], 32), exactly(&a[1], 16), a[2].p, a[2].n, out,
                                out_size, &written);
}

static ecr_status do_cbc_decrypt(const argument *a) {
  room(a[2].n);
  return ecr_aes256_cbc_decrypt(exactly(&a[0], 32), exactly(&a[1], 16), a[2].p, a[2].n, out,
                                out_size, &written);
}

static ecr_status do_x25519(const argument *a) {
  return ecr_x25519(room(32), exactly(&a[0], 32), exactly(&a[1], 32));
}

static ecr_status do_ec_public(const argument *a) {
  const ecr_curve curve = curve_named(a[0].word);
  const size_t size = ecr_ec_size(curve);
  return ecr_ec_public(curve, room(2 * size + 1), exactly(&a[1], size));
}

static ecr_status do_ecdh(const argument *a) {
  const ecr_curve curve = curve_named(a[0].word);
  const size_t size = ecr_ec_size(curve);
  return ecr_ecdh(curve, room(size), exactly(&a[1], size), a[2].p, a[2].n);
}

static ecr_status do_ecdsa(const argument *a) {
  const ecr_hash *hash = hash_named(a[1].word);
  return ecr_ecdsa_verify(curve_named(a[0].word), a[2].p, a[2].n, digest_of(hash, &a[3]),
                          hash->size, a[4].p, a[4].n);
}

static ecr_status do_ed25519(const argument *a) {
  return ecr_ed25519_verify(exactly(&a[0], 32), a[1].p, a[1].n, exactly(&a[2], 64));
}

static ecr_status do_pkcs1(const argument *a) {
  const ecr_rsa_public key = {a[1].p, a[1].n, a[2].p, a[2].n};
  const ecr_hash *hash = hash_named(a[0].word);
  return ecr_rsa_verify_pkcs1(&key, hash, digest_of(hash, &a[3]), a[4].p, a[4].n);
}

static ecr_status do_pss(const argument *a) {
  const ecr_rsa_public key = {a[2].p, a[2].n, a[3].p, a[3].n};
  const ecr_hash *hash = hash_named(a[0].word);
  const size_t salt_size = (size_t)strtoul(a[1].word, NULL, 10);
  return ecr_rsa_verify_pss(&key, hash, salt_size, digest_of(hash, &a[4]), a[5].p, a[5].n);
}

static ecr_status do_oaep(const argument *a) {
  const ecr_rsa_private key = {{a[1].p, a[1].n, a[2].p, a[2].n},
                               a[3].p,
                               a[4].p,
                               a[5].p,
                               a[6].p,
                               a[7].p,
                               a[3].n,
                               a[4].n,
                               a[5].n,
                               a[6].n,
                               a[7].n};
  room(a[1].n);
  return ecr_rsa_oaep_decrypt(&key, hash_named(a[0].word), a[8].p, a[8].n, out, out_size, &written);
}

static const struct operation {
  const char *name;
  int arguments, answers; /* answers: whether bytes come out */
  ecr_status (*run)(const argument *a);
} operations[] = {
    {"seal", 6, 1, do_seal},
    {"open", 6, 1, do_open},
    {"hash", 2, 1, do_hash},
    {"hmac", 3, 1, do_hmac},
    {"hkdf", 5, 1, do_hkdf},
    {"cbc_encrypt", 3, 1, do_cbc_encrypt},
    {"cbc_decrypt", 3, 1, do_cbc_decrypt},
    {"x25519", 2, 1, do_x25519},
    {"ec_public", 2, 1, do_ec_public},
    {"ecdh", 3, 1, do_ecdh},
    {"ecdsa", 5, 0, do_ecdsa},
    {"ed25519", 3, 0, do_ed25519},
    {"pkcs1", 5, 0, do_pkcs1},
    {"pss", 6, 0, do_pss},
    {"oaep", 9, 1, do_oaep},
};

/* ---- Lines ----------------------------------------------------------------------------------------- */

static void answer(const struct operation *operation, const argument *a) {
  static const char *const names[] = {"OK", "REFUSED", "SHORT", "INVALID", "NOT_FOUND", "TOO_LONG"};
  const ecr_status status = operation->run(a);
  printf("%s", names[status]);
  if (status == ECR_OK && operation->answers) {
    printf(" ");
    for (size_t i = 0; i < written; i++) printf("%02x", out[i]);
  }
  printf("\n");
}

static void request(char *line) {
  argument a[ARGUMENTS] = {{0}};
  int n = 0;
  char *p = line + strcspn(line, " \n");
  const struct operation *operation = NULL;
  while (*p == ' ' && n < ARGUMENTS) {
    *p++ = 0;
    a[n++].word = p;
    p += strcspn(p, " \n");
  }
  *p = 0;
  for (int i = 0; i < n; i++) decode(&a[i]);
  if (strcmp(line, "backends") == 0 && n == 1) {
    do_backends(a);
  } else {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
      if (strcmp(operations[i].name, line) == 0) operation = &operations[i];
    }
    if (!operation || operation->arguments != n) broken("a request that is none");
    answer(operation, a);
  }
  for (int i = 0; i < n; i++) free(a[i].p);
}

int main(int argc, char **argv) {
  char *line = NULL;
  size_t size = 0;
  if (argc != 2) broken("cpu or portable?");
  if (strcmp(argv[1], "portable") == 0) {
    /* Not const in its own file. */
    memset((void *)(uintptr_t)ecr_cpu_get(), 0, sizeof(ecr_cpu));
    ecr_hash_force_portable(1);
    ecr_aes_force_portable(1);
  }
  while (getline(&line, &size, stdin) > 0) request(line);
  free(line);
  free(out);
  return 0;
}
