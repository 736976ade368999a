/*
** Every AEAD back end against libcrypto, called here and not through the product: each length from 0 to
** 1,100, records around 16,384 bytes and one of a megabyte, each alignment, in place and not, with pages
** that may not be touched before and behind all buffers.
*/
#include "primitives.h"

enum { LONGEST = 1100, RECORD = 16384, RECORD_LONGEST = RECORD + 256, AAD_LONGEST = 600 };

/* ---- The second opinion: EVP, or the portable back end where there is no libcrypto -------------- */

#define CTRL_GET_TAG 0x10

static struct {
  void *(*create)(void);
  const void *(*cipher[ECR_CIPHERS])(void);
  int (*init)(void *, const void *, void *, const uint8_t *, const uint8_t *);
  int (*update)(void *, uint8_t *, int *, const uint8_t *, int);
  int (*final)(void *, uint8_t *, int *);
  int (*ctrl)(void *, int, int, void *);
  void *context;
} evp;

static void find_libcrypto(void) {
  PEER(evp.create, "EVP_CIPHER_CTX_new");
  if (!evp.create) return;
  PEER(evp.cipher[ECR_AES_128_GCM], "EVP_aes_128_gcm");
  PEER(evp.cipher[ECR_AES_256_GCM], "EVP_aes_256_gcm");
  PEER(evp.cipher[ECR_CHACHA20_POLY1305], "EVP_chacha20_poly1305");
  PEER(evp.init, "EVP_EncryptInit_ex");
  PEER(evp.update, "EVP_EncryptUpdate");
  PEER(evp.final, "EVP_EncryptFinal_ex");
  PEER(evp.ctrl, "EVP_CIPHER_CTX_ctrl");
  evp.context = evp.create();
}

static void expect(ecr_cipher cipher, const uint8_t *key, const uint8_t *nonce, const uint8_t *aad,
                   size_t aad_size, const uint8_t *in, size_t n, uint8_t *out) {
  if (!evp.context) {
    ecr_aead_context context;
    const ecr_aead *portable = ecr_aead_get(cipher, "portable");
    portable->init(&context, key);
    portable->seal(&context, nonce, aad, aad_size, in, n, out, n + ECR_TAG);
    return;
  }
  int written;
  evp.init(evp.context, evp.cipher[cipher](), NULL, key, nonce);
  if (aad_size) evp.update(evp.context, NULL, &written, aad, (int)aad_size);
  if (n) evp.update(evp.context, out, &written, in, (int)n);
  evp.final(evp.context, out + n, &written);
  evp.ctrl(evp.context, CTRL_GET_TAG, ECR_TAG, out + n);
}

/* ---- Memory between pages that may not be touched ----------------------------------------------- */

typedef struct room {
  uint8_t *begin, *end;
} room;

static room walled(size_t n) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (n + page - 1) / page * page;
  uint8_t *p =
      mmap(NULL, size + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0 ||
      mprotect(p + page + size, page, PROT_NONE) != 0) {
    abort();
  }
  return (room){p + page, p + page + size};
}

static room text_room, aad_room, in_room, out_room;
static uint8_t key[32], nonce[ECR_NONCE], text[RECORD_LONGEST], aad_bytes[AAD_LONGEST];
static uint8_t expected[RECORD_LONGEST + ECR_TAG];

/* Where n bytes stand: at the room's end, or that many bytes behind its beginning. */
enum { AT_END = -1 };
static uint8_t *place(room r, size_t n, int at) { return at == AT_END ? r.end - n : r.begin + at; }

/* Seals and opens, in place and not; how many of the four were wrong. */
static size_t wrong(const ecr_aead *aead, ecr_aead_context *context, size_t aad_size, size_t n,
                    int in_at, int out_at) {
  const size_t sealed = n + ECR_TAG;
  const uint8_t *aad = memcpy(place(aad_room, aad_size, in_at), aad_bytes, aad_size);
  const uint8_t *plain = memcpy(place(text_room, n, in_at), text, n);
  uint8_t *in = memcpy(place(in_room, sealed, in_at), expected, sealed);
  uint8_t *out = place(out_room, sealed, out_at);
  size_t bad = 0;

  memset(out, 0xaa, sealed);
  bad += aead->seal(context, nonce, aad, aad_size, plain, n, out, sealed) != ECR_OK ||
         memcmp(out, expected, sealed) != 0;
  memcpy(out, text, n);
  bad += aead->seal(context, nonce, aad, aad_size, out, n, out, sealed) != ECR_OK ||
         memcmp(out, expected, sealed) != 0;
  bad += aead->open(context, nonce, aad, aad_size, out, sealed, out, n) != ECR_OK ||
         memcmp(out, text, n) != 0 || memcmp(out + n, expected + n, ECR_TAG) != 0;
  out = place(out_room, n, out_at);
  memset(out, 0xaa, n);
  bad += aead->open(context, nonce, aad, aad_size, in, sealed, out, n) != ECR_OK ||
         memcmp(out, text, n) != 0;
  return bad;
}

typedef struct subject {
  ecr_cipher cipher;
  const ecr_aead *aead[8];
  ecr_aead_context context[8];
  int n;
} subject;

/* All back ends on one record; a failure is told once for each. */
static void record(subject *s, size_t aad_size, size_t n, int in_at, int out_at) {
  expect(s->cipher, key, nonce, aad_bytes, aad_size, text, n, expected);
  for (int i = 0; i < s->n; i++) {
    const size_t bad = wrong(s->aead[i], &s->context[i], aad_size, n, in_at, out_at);
    if (!bad) continue;
    CHECK_INT(bad, 0);
    printf("  %s by %s: %zu bytes of AAD, %zu of text, at %d and %d\n", s->aead[i]->cipher,
           s->aead[i]->backend, aad_size, n, in_at, out_at);
  }
}

static void lengths(subject *s) {
  for (size_t n = 0; n <= LONGEST; n++) {
    record(s, n % 3 * 13, n, AT_END, AT_END);
    record(s, n % 40, n, 0, 0);
  }
  for (size_t n = RECORD - 1; n <= RECORD_LONGEST; n++) record(s, 5, n, AT_END, 0);
  for (size_t n = 0; n <= AAD_LONGEST; n++) record(s, n, n % 70, AT_END, AT_END);
}

static void alignments(subject *s) {
  static const size_t sizes[] = {16, 100, 256, 777, 1024 + 3, 4096};
  for (int at = 0; at < 64; at++) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      record(s, 13, sizes[i], at, (at * 37 + 11) % 64);
    }
  }
}

/* So many blocks that the counter's third byte moves too. */
static void megabyte(subject *s) {
  enum { SIZE = (1 << 20) + 1234 };
  uint8_t *big = malloc(SIZE), *out = malloc(SIZE + ECR_TAG), *got = malloc(SIZE + ECR_TAG);
  if (!big || !out || !got) abort();
  fill(big, SIZE, 9);
  expect(s->cipher, key, nonce, NULL, 0, big, SIZE, out);
  for (int i = 0; i < s->n; i++) {
    CHECK_INT(s->aead[i]->seal(&s->context[i], nonce, NULL, 0, big, SIZE, got, SIZE + ECR_TAG),
              ECR_OK);
    CHECK(memcmp(got, out, SIZE + ECR_TAG) == 0);
    CHECK_INT(s->aead[i]->open(&s->context[i], nonce, NULL, 0, out, SIZE + ECR_TAG, got, SIZE),
              ECR_OK);
    CHECK(memcmp(got, big, SIZE) == 0);
  }
  free(big);
  free(out);
  free(got);
}

/* Keys of each kind: all zeros, all ones, others. */
static void keys(ecr_cipher cipher) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    const ecr_aead *aead;
    fill(key, sizeof key, seed);
    fill(nonce, sizeof nonce, seed + 1);
    if (seed < 2) memset(key, seed ? 0xff : 0, sizeof key);
    if (seed < 4) memset(nonce, seed & 1 ? 0xff : 0, sizeof nonce);
    expect(cipher, key, nonce, aad_bytes, 20, text, 700, expected);
    for (int i = 0; (aead = ecr_aead_list(cipher, i)); i++) {
      ecr_aead_context context;
      CHECK_INT(aead->init(&context, key), ECR_OK);
      CHECK_INT(wrong(aead, &context, 20, 700, 1, 2), 0);
      aead->clear(&context);
    }
  }
}

int main(void) {
  find_libcrypto();
  text_room = walled(RECORD_LONGEST);
  in_room = walled(RECORD_LONGEST + ECR_TAG);
  out_room = walled(RECORD_LONGEST + ECR_TAG);
  aad_room = walled(AAD_LONGEST);
  fill(text, sizeof text, 1);
  fill(aad_bytes, sizeof aad_bytes, 2);
  for (int c = 0; c < ECR_CIPHERS; c++) {
    static subject s;
    s.cipher = (ecr_cipher)c;
    keys(s.cipher);
    for (s.n = 0; s.n < 8 && (s.aead[s.n] = ecr_aead_list(s.cipher, s.n)); s.n++) {
      CHECK_INT(s.aead[s.n]->init(&s.context[s.n], key), ECR_OK);
    }
    lengths(&s);
    alignments(&s);
    megabyte(&s);
    for (int i = 0; i < s.n; i++) s.aead[i]->clear(&s.context[i]);
  }
  return unit_done("aead_backends");
}
