/*
** Records: both directions of every cipher in both versions, each broken in every bit of a short
** one; sizes at their limits; padding; a cipher that is hostile.
*/
#include "primitives.h"
#include "tls/tlsInt.h"

static tls_protection seal, open_;
static uint8_t plain[TLS_PLAIN_MAX + 300], record[TLS_RECORD_MAX + 300], copy[TLS_RECORD_MAX + 300];

static void keys(ecr_cipher cipher, const char *backend, unsigned version) {
  uint8_t key[32], iv[ECR_NONCE];
  const ecr_aead *aead = ecr_aead_get(cipher, backend);
  fill(key, sizeof key, 1);
  fill(iv, sizeof iv, 2);
  tls_protect_clear(&seal);
  tls_protect_clear(&open_);
  CHECK_INT(tls_protect(&seal, aead, version, key, iv), ECR_OK);
  CHECK_INT(tls_protect(&open_, aead, version, key, iv), ECR_OK);
}

static size_t make(int type, size_t n) {
  size_t size = 0;
  CHECK_INT(tls_record_seal(&seal, type, plain, n, record, sizeof record, &size), ECR_OK);
  CHECK_INT(size, tls_record_before(&seal) + n + tls_record_after(&seal));
  return size;
}

/* Each record opens in its turn and in no other, in place. */
static void there_and_back(void) {
  static const size_t sizes[] = {1, 2, 15, 16, 17, 100, 1000, 16383, TLS_PLAIN_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const size_t size = make(TLS_APPLICATION_DATA, sizes[i]);
    CHECK(size <= sizes[i] + TLS_OVERHEAD);
    CHECK(size <= TLS_RECORD_MAX);
    const tls_content c = tls_record_open(&open_, record, size);
    CHECK_INT(c.alert, TLS_ALERT_NONE);
    CHECK_INT(c.type, TLS_APPLICATION_DATA);
    CHECK(c.p == record + tls_record_before(&seal));
    CHECK_BYTES(c.p, c.n, plain, sizes[i]);
    CHECK_INT(open_.sequence, i + 1);
  }
}

/* Any bit: nothing of the plaintext is left, and the sequence does not move. */
static void broken(void) {
  static const uint8_t zeros[64];
  const size_t n = 21, size = make(TLS_APPLICATION_DATA, n);
  const uint64_t before = open_.sequence;
  const size_t text = tls_record_before(&seal);
  for (size_t bit = 0; bit < size * 8; bit++) {
    if (bit / 8 == 1 || bit / 8 == 3 || bit / 8 == 4)
      continue; /* version and length: the header's rules */
    memcpy(copy, record, size);
    copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    const tls_content c = tls_record_open(&open_, copy, size);
    CHECK(c.alert != TLS_ALERT_NONE || copy[0] == TLS_CHANGE_CIPHER_SPEC);
    if (c.alert == TLS_ALERT_BAD_RECORD_MAC) CHECK_BYTES(copy + text, n, zeros, n);
    CHECK(memmem(copy, size, plain, n) == NULL);
    CHECK_INT(open_.sequence, before);
  }
  memcpy(copy, record, size);
  open_.sequence++;
  CHECK_INT(tls_record_open(&open_, copy, size).alert, TLS_ALERT_BAD_RECORD_MAC);
  open_.sequence = before;
  for (size_t cut = TLS_HEADER; cut < size; cut++) {
    memcpy(copy, record, size);
    CHECK_INT(tls_record_open(&open_, copy, cut).alert, TLS_ALERT_BAD_RECORD_MAC);
  }
  CHECK_INT(tls_record_open(&open_, record, size).alert, TLS_ALERT_NONE);
}

static void ciphers(void) {
  static const ecr_cipher all[] = {ECR_AES_128_GCM, ECR_AES_256_GCM, ECR_CHACHA20_POLY1305};
  for (size_t c = 0; c < 3; c++) {
    const ecr_aead *aead;
    for (int i = 0; (aead = ecr_aead_list(all[c], i)) != NULL; i++) {
      for (unsigned version = TLS_1_2; version <= TLS_1_3; version++) {
        keys(all[c], aead->backend, version);
        CHECK_INT(seal.explicit_nonce, version == TLS_1_2 && c < 2 ? 8 : 0);
        there_and_back();
        broken();
      }
    }
  }
}

/* A header of that type and fragment's size. */
static tls_content header(int type, int major, size_t n) {
  const uint8_t h[TLS_HEADER] = {(uint8_t)type, (uint8_t)major, 3, (uint8_t)(n >> 8), (uint8_t)n};
  return tls_record_header(&open_, h);
}

static void headers(void) {
  tls_protect_clear(&open_);
  CHECK_INT(header(22, 3, 16384).alert, TLS_ALERT_NONE);
  CHECK_INT(header(22, 3, 16385).alert, TLS_ALERT_RECORD_OVERFLOW);
  CHECK_INT(header(19, 3, 1).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(header(24, 3, 1).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(header(22, 2, 1).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(header('H', 'T', 1).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  keys(ECR_AES_128_GCM, NULL, TLS_1_3);
  CHECK_INT(header(23, 3, 16384 + 256).alert, TLS_ALERT_NONE);
  CHECK_INT(header(23, 3, 16384 + 257).alert, TLS_ALERT_RECORD_OVERFLOW);
  CHECK_INT(header(20, 3, 16385).alert, TLS_ALERT_RECORD_OVERFLOW);
}

/* A TLSInnerPlaintext as it is: content, type, zeros. */
static tls_content inner(size_t content, int type, size_t zeros) {
  uint8_t nonce[ECR_NONCE];
  const size_t n = content + (type != 0) + zeros;
  memcpy(nonce, seal.iv, sizeof nonce);
  for (int i = 0; i < 8; i++) nonce[4 + i] ^= (uint8_t)(open_.sequence >> (56 - 8 * i));
  record[0] = 23;
  record[1] = record[2] = 3;
  record[3] = (uint8_t)((n + ECR_TAG) >> 8);
  record[4] = (uint8_t)(n + ECR_TAG);
  memset(record + 5, 0, n);
  memset(record + 5, 'x', content);
  if (type) record[5 + content] = (uint8_t)type;
  CHECK_INT(
      seal.aead->seal(&seal.context, nonce, record, 5, record + 5, n, record + 5, n + ECR_TAG),
      ECR_OK);
  return tls_record_open(&open_, record, 5 + n + ECR_TAG);
}

static void padding(void) {
  keys(ECR_AES_128_GCM, NULL, TLS_1_3);
  CHECK_INT(inner(5, 23, 0).n, 5);
  CHECK_INT(inner(5, 23, 300).n, 5);
  CHECK_INT(inner(0, 23, 300).n, 0);
  CHECK_INT(inner(0, 23, 300).alert, TLS_ALERT_NONE);
  CHECK_INT(inner(5, 22, 16384 - 5).n, 5);
  CHECK_INT(inner(TLS_PLAIN_MAX, 23, 0).n, TLS_PLAIN_MAX);
  /* 2^14 + 1 bytes with the type, padding counted. */
  CHECK_INT(inner(5, 22, 16384 - 4).alert, TLS_ALERT_RECORD_OVERFLOW);
  CHECK_INT(inner(TLS_PLAIN_MAX, 23, 1).alert, TLS_ALERT_RECORD_OVERFLOW);
  CHECK_INT(inner(TLS_PLAIN_MAX + 1, 23, 0).alert, TLS_ALERT_RECORD_OVERFLOW);
  CHECK_INT(inner(0, 0, 40).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(inner(0, 0, 0).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(inner(0, 22, 4).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(inner(0, 21, 0).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(inner(1, 20, 0).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  CHECK_INT(inner(1, 24, 0).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  /* Over-long after the tag in TLS 1.2 too. */
  keys(ECR_CHACHA20_POLY1305, NULL, TLS_1_2);
  uint8_t nonce[ECR_NONCE], aad[13] = {0, 0, 0, 0, 0, 0, 0, 0, 23, 3, 3, 64, 1};
  memcpy(nonce, seal.iv, sizeof nonce);
  memcpy(record, "\x17\3\3\x40\x11", 5);
  CHECK_INT(seal.aead->seal(&seal.context, nonce, aad, 13, plain, 16385, record + 5, 16385 + 16),
            ECR_OK);
  CHECK_INT(tls_record_open(&open_, record, 5 + 16385 + 16).alert, TLS_ALERT_RECORD_OVERFLOW);
}

static void in_the_clear(void) {
  tls_protect_clear(&seal);
  tls_protect_clear(&open_);
  size_t n = make(TLS_HANDSHAKE, 10);
  CHECK_INT(n, 15);
  CHECK_INT(tls_record_open(&open_, record, n).n, 10);
  n = make(TLS_APPLICATION_DATA, 10);
  CHECK_INT(tls_record_open(&open_, record, n).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  n = make(TLS_HANDSHAKE, 0);
  CHECK_INT(tls_record_open(&open_, record, n).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  /* With keys a record in the clear is refused, but for TLS 1.3's CCS. */
  n = make(TLS_ALERT, 2);
  keys(ECR_AES_128_GCM, NULL, TLS_1_3);
  CHECK_INT(tls_record_open(&open_, record, n).alert, TLS_ALERT_UNEXPECTED_MESSAGE);
  memcpy(record, "\x14\3\3\0\1\1", 6);
  CHECK_INT(tls_record_open(&open_, record, 6).type, TLS_CHANGE_CIPHER_SPEC);
  keys(ECR_AES_128_GCM, NULL, TLS_1_2);
  CHECK_INT(tls_record_open(&open_, record, 6).alert, TLS_ALERT_BAD_RECORD_MAC);
}

static void limits(void) {
  size_t n = 77;
  keys(ECR_AES_128_GCM, NULL, TLS_1_3);
  CHECK_INT(tls_record_seal(&seal, 23, plain, TLS_PLAIN_MAX + 1, record, sizeof record, &n),
            ECR_TOO_LONG);
  memset(record, 0x55, 64);
  CHECK_INT(tls_record_seal(&seal, 23, plain, 10, record, 31, &n), ECR_SHORT);
  for (size_t i = 0; i < 64; i++) CHECK_INT(record[i], 0x55);
  CHECK_INT(n, 77);
  /* Sequence numbers do not wrap. */
  seal.sequence = open_.sequence = UINT64_MAX - 1;
  n = make(TLS_APPLICATION_DATA, 1);
  CHECK_INT(tls_record_open(&open_, record, n).alert, TLS_ALERT_NONE);
  CHECK_INT(tls_record_seal(&seal, 23, plain, 1, record, sizeof record, &n), ECR_TOO_LONG);
  seal.sequence--;
  n = make(TLS_APPLICATION_DATA, 1);
  CHECK_INT(tls_record_open(&open_, record, n).alert, TLS_ALERT_INTERNAL_ERROR);
  /* No byte behind what a record takes is written, and none of its plaintext is needed elsewhere.
  ** */
  keys(ECR_AES_256_GCM, NULL, TLS_1_2);
  uint8_t *end = guarded(13 + 100 + 16);
  memcpy(end + 13, plain, 100);
  CHECK_INT(tls_record_seal(&seal, 23, end + 13, 100, end, 129, &n), ECR_OK);
  CHECK_INT(tls_record_open(&open_, end, 129).n, 100);
  CHECK_BYTES(end + 13, 100, plain, 100);
}

/* ---- A cipher that lies: all right, whatever comes; zeros, or other text than was sealed ----- */

static int lie; /* 0: zeros; 1: all ones; 2: refuses to seal */

static ecr_status hostile_init(ecr_aead_context *context, const uint8_t *key) {
  (void)context;
  (void)key;
  return ECR_OK;
}

static ecr_status hostile_seal(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                               const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                               uint8_t *out, size_t out_size) {
  (void)context;
  (void)nonce;
  (void)aad;
  (void)aad_size;
  (void)in;
  if (lie == 2) return (ecr_status)99;
  memset(out, 0, n < out_size ? n : out_size);
  return ECR_OK;
}

static ecr_status hostile_open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                               const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                               uint8_t *out, size_t out_size) {
  (void)context;
  (void)nonce;
  (void)aad;
  (void)aad_size;
  (void)in;
  (void)n;
  memset(out, lie ? 0xff : 0, out_size);
  return lie == 2 ? (ecr_status)99 : ECR_OK;
}

static void hostile_clear(ecr_aead_context *context) { (void)context; }

static void hostile(void) {
  static const ecr_aead aead = {"aes128gcm",  "hostile",    16,           64,
                                hostile_init, hostile_seal, hostile_open, hostile_clear};
  const uint8_t key[32] = {0}, iv[ECR_NONCE] = {0};
  size_t n = 0;
  for (unsigned version = TLS_1_2; version <= TLS_1_3; version++) {
    tls_protect_clear(&seal);
    tls_protect_clear(&open_);
    CHECK_INT(tls_protect(&seal, &aead, version, key, iv), ECR_OK);
    CHECK_INT(tls_protect(&open_, &aead, version, key, iv), ECR_OK);
    for (lie = 0; lie < 2; lie++) {
      n = make(TLS_APPLICATION_DATA, 100);
      const tls_content c = tls_record_open(&open_, record, n);
      CHECK(c.alert != TLS_ALERT_NONE || c.p + c.n <= record + n);
    }
    memset(record, 0x77, 129);
    memcpy(record, "\x17\3\3\0\x7c", 5);
    CHECK_INT(tls_record_open(&open_, record, 129).alert, TLS_ALERT_BAD_RECORD_MAC);
    CHECK(memchr(record + 13, 0xff, 100) == NULL); /* what it left is gone */
    /* Plaintext is not left in what is to be sent. */
    memset(record, 0, sizeof record);
    CHECK(tls_record_seal(&seal, 23, plain, 100, record, sizeof record, &n) != ECR_OK);
    CHECK(memmem(record, sizeof record, plain, 16) == NULL);
  }
}

int main(void) {
  fill(plain, sizeof plain, 9);
  ciphers();
  headers();
  padding();
  in_the_clear();
  limits();
  hostile();
  return unit_done("tls_record");
}
