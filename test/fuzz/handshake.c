/*
** handshake.c: a server's messages in the clear. The cipher is one that does nothing, certificates
** and signatures are right where their last byte is even, and a Finished of zeros that stands first
** in its record is made right: so mutations reach what is behind keys.
**
** The input: a byte that chooses the configuration, then records, each a type, two bytes of length,
** the content.
*/
#include <stdlib.h>

#include "tls/tlsInt.h"

static int chain_trusted, signature_right;

ecr_status tls_verify_chain(const tls_verify *verify, const tls_bytes *chain, size_t n,
                            tls_public_key *key, tls_failure *failure) {
  static const uint8_t point[65];
  (void)verify;
  if (n == 0 || n > TLS_CHAIN_MAX || chain[0].n == 0) abort();
  *failure = (tls_failure){TLS_ALERT_BAD_CERTIFICATE, 0, "refused"};
  if (chain[0].p[chain[0].n - 1] % 2) return ECR_REFUSED;
  key->kind = chain[0].p[0] % 2 ? TLS_KEY_RSA : TLS_KEY_P256;
  key->rsa = (ecr_rsa_public){point, 65, point, 3};
  key->point = (tls_bytes){point, 65};
  chain_trusted = 1;
  return ECR_OK;
}

ecr_status tls_signature_verify(const tls_public_key *key, uint16_t scheme, unsigned version,
                                const void *message, size_t n, const uint8_t *signature,
                                size_t signature_size) {
  (void)scheme;
  if (key->kind == TLS_KEY_NONE || n == 0 || !message || (version != 0x0303 && version != 0x0304)) {
    abort();
  }
  if (signature_size == 0 || signature[signature_size - 1] % 2) return ECR_REFUSED;
  signature_right = 1;
  return ECR_OK;
}

/* ---- A cipher that does nothing -------------------------------------------------------------- */

static ecr_status null_init(ecr_aead_context *context, const uint8_t *key) {
  (void)context;
  (void)key;
  return ECR_OK;
}

static ecr_status null_seal(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                            const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                            uint8_t *out, size_t out_size) {
  (void)context;
  (void)nonce;
  (void)aad;
  (void)aad_size;
  if (out_size < n + ECR_TAG) return ECR_SHORT;
  memmove(out, in, n);
  memset(out + n, 0, ECR_TAG);
  return ECR_OK;
}

static ecr_status null_open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                            const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                            uint8_t *out, size_t out_size) {
  (void)context;
  (void)nonce;
  (void)aad;
  (void)aad_size;
  if (n < ECR_TAG || out_size < n - ECR_TAG) return ECR_SHORT;
  memmove(out, in, n - ECR_TAG);
  return ECR_OK;
}

static void null_clear(ecr_aead_context *context) { (void)context; }

#define NULL_AEAD(name, key)                                                                       \
  { name, "null", key, 0, null_init, null_seal, null_open, null_clear }
static const ecr_aead aes128 = NULL_AEAD("aes128gcm", 16), aes256 = NULL_AEAD("aes256gcm", 32),
                      chacha = NULL_AEAD("chacha20poly1305", 32);
static const ecr_aead *const aeads[ECR_CIPHERS] = {&aes128, &aes256, &chacha};

/* ---- One connection -------------------------------------------------------------------------- */

static tls_client client;
static uint8_t work[TLS_WORK], record[TLS_RECORD_MAX];
static tls_session session;

static ecr_status draw(void *context, void *out, size_t n) {
  (void)context;
  memset(out, 0x11, n);
  return ECR_OK;
}

/* The verify_data of a Finished of zeros, where one stands first in the record and is waited for.
** */
static void put_finished_right(tls_state *s, uint8_t *p, size_t n) {
  static const uint8_t zeros[TLS_SECRET_MAX];
  uint8_t digest[ECR_HASH_MAX];
  const int waits = s->stage == TLS13_WAIT_FINISHED || s->stage == TLS12_WAIT_FINISHED;
  if (!waits || s->have || n < 4 || p[0] != TLS_FINISHED) return;
  const size_t size = s->version == TLS_1_3 ? s->suite->hash->size : TLS12_VERIFY;
  if (n < 4 + size || memcmp(p + 4, zeros, size) != 0) return;
  tls_transcript_digest(&s->hs.transcript, digest);
  if (s->version == TLS_1_3) {
    tls13_finished(s->suite->hash, s->read.secret, digest, p + 4);
  } else {
    tls12_finished(s->suite->hash, s->hs.secret, "server finished", digest, p + 4);
  }
}

/* The content as a record for the client as it is now. */
static size_t make_record(tls_state *s, int type, const uint8_t *p, size_t n) {
  const int hidden = s->read.aead && s->version == TLS_1_3 && type != TLS_CHANGE_CIPHER_SPEC;
  const int plain = !s->read.aead || (s->version == TLS_1_3 && !hidden);
  const size_t before = plain ? TLS_HEADER : TLS_HEADER + s->read.explicit_nonce;
  size_t size = n;
  if (n > TLS_PLAIN_MAX) n = size = TLS_PLAIN_MAX;
  if (n) memcpy(record + before, p, n);
  if (type == TLS_HANDSHAKE) put_finished_right(s, record + before, n);
  if (hidden) record[before + size++] = (uint8_t)type;
  if (!plain) {
    memset(record + before + size, 0, ECR_TAG);
    size += ECR_TAG;
  }
  size += before - TLS_HEADER;
  record[0] = hidden ? TLS_APPLICATION_DATA : (uint8_t)type;
  record[1] = record[2] = 3;
  record[3] = (uint8_t)(size >> 8);
  record[4] = (uint8_t)size;
  return TLS_HEADER + size;
}

static void start(uint8_t choice) {
  static const char *const protocols[] = {"tds/8.0", NULL};
  static const tls_trust trust;
  tls_config config = {.server_name = "db.example",
                       .trust = &trust,
                       .now = 1000,
                       .random = draw,
                       .min_version = choice & 1 ? TLS_1_3 : 0,
                       .max_version = choice & 2 ? TLS_1_2 : 0,
                       .alpn = choice & 4 ? protocols : NULL,
                       .allow_no_extended_master_secret = choice >> 3 & 1};
  if ((choice & 3) == 3) config.min_version = 0;
  if (choice & 0x30) { /* a session to resume: by ticket, by id, of 1.3 */
    if (tls_start(&client, &config, work, sizeof work) != ECR_OK) abort();
    session = (tls_session){.used = 1, .lifetime = 100, .received = 1000};
    session.version = choice & 0x10 ? TLS_1_3 : TLS_1_2;
    session.suite = choice & 0x10 ? 0x1301 : 0xc02b;
    session.secret_size = choice & 0x10 ? 32 : 48;
    if ((choice & 0x30) == 0x20) {
      session.id_size = 32;
      memset(session.id, 0x11, 32);
    } else {
      session.ticket_size = 5;
    }
    memcpy(session.binding, tls_state_of(&client)->binding, sizeof session.binding);
    config.session = &session;
    tls_clear(&client);
  }
  if (tls_start(&client, &config, work, sizeof work) != ECR_OK) abort();
  if (tls_use_aead(&client, aeads) != ECR_OK) abort();
}

static void drain(void) {
  size_t n;
  const uint8_t *p = tls_output(&client, &n);
  if (p && (n == 0 || p < work || p + n > work + sizeof work)) abort();
  tls_sent(&client, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tls_received got;
  int connected = 0;
  if (size == 0) return 0;
  chain_trusted = signature_right = 0;
  start(data[0]);
  drain();
  for (size_t i = 1; i + 3 <= size;) {
    tls_state *s = tls_state_of(&client);
    size_t n = (size_t)(data[i + 1] << 8 | data[i + 2]);
    const int type = data[i];
    i += 3;
    if (n > size - i) n = size - i;
    const size_t whole = make_record(s, type, data + i, n);
    i += n;
    const tls_status status = tls_receive(&client, record, whole, &got);
    if (status == TLS_MORE) abort();
    if (status == TLS_CONNECTED) {
      connected++;
      /* Nobody is connected to who has not proved who he is, now or when the session began. */
      if (connected > 1 || (!s->resumed && !(chain_trusted && signature_right))) abort();
      if (s->resumed && !(data[0] & 0x30)) abort();
    }
    if (status == TLS_DATA) {
      if (!connected || got.size == 0 || got.data < record ||
          got.data + got.size > record + whole) {
        abort();
      }
    }
    if ((status == TLS_FAILED) != (tls_failed(&client).alert != TLS_ALERT_NONE)) abort();
    if (status == TLS_FAILED && !tls_failed(&client).reason) abort();
    if (got.used > whole) abort();
    drain();
    if (tls_session_get(&client, &session) && (!connected || !session.used)) abort();
  }
  tls_clear(&client);
  return 0;
}
