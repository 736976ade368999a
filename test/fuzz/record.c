/*
** record.c: raw bytes, in pieces, to a client that waits for a ServerHello, or that is connected,
** with keys that are known: a record of the input that opens was sealed by us.
**
** The input: a byte that chooses (0: no keys; TLS 1.2 and 1.3; the cipher), one for the size of
** pieces, then what is received. A record whose type has its top bit set is sealed here first, so
** that mutations reach what is within.
*/
#include <stdlib.h>

#include "tls/tlsInt.h"

static tls_client client;
static uint8_t work[TLS_WORK], in[1 << 17];
static tls_protection server;

static void connect_now(unsigned choice) {
  static const uint8_t key[32] = {1}, iv[ECR_NONCE] = {2}, secret[TLS_SECRET_MAX] = {3};
  static const uint16_t suites[2][3] = {{0xc02b, 0xc02c, 0xcca9}, {0x1301, 0x1302, 0x1303}};
  tls_state *s = tls_state_of(&client);
  const int newer = choice & 1;
  s->version = newer ? TLS_1_3 : TLS_1_2;
  s->suite = tls_suite_find(suites[newer][choice / 2 % 3]);
  s->stage = newer ? TLS13_CONNECTED : TLS12_CONNECTED;
  tls_handshake_over(s);
  const ecr_aead *aead = ecr_aead_get(s->suite->cipher, NULL);
  tls_protection *const all[] = {&s->read, &s->write, &server};
  for (size_t i = 0; i < 3; i++) {
    if ((newer ? tls13_protect(all[i], aead, s->suite->hash, secret)
               : tls_protect(all[i], aead, TLS_1_2, key, iv)) != ECR_OK) {
      abort();
    }
  }
}

/* The bytes that the client will get; sealed where they ask for it. */
static size_t prepare(const uint8_t *data, size_t size) {
  size_t n = 0;
  while (size >= 3 && data[0] & 0x80 && server.aead) {
    size_t content = (size_t)(data[1] << 8 | data[2]), written = 0;
    if (content > size - 3) content = size - 3;
    if (content > TLS_PLAIN_MAX) content = TLS_PLAIN_MAX;
    if (tls_record_seal(&server, data[0] & 0x7f, data + 3, content, in + n, sizeof in - n,
                        &written) != ECR_OK) {
      return n;
    }
    n += written;
    data += 3 + content;
    size -= 3 + content;
  }
  if (size > sizeof in - n) size = sizeof in - n;
  if (size) memcpy(in + n, data, size);
  return n + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const tls_trust trust;
  const tls_config config = {.server_name = "db.example", .trust = &trust, .now = 1000};
  tls_received got;
  size_t n;
  if (size < 2 || size > 1 << 16) return 0;
  if (tls_start(&client, &config, work, sizeof work) != ECR_OK) abort();
  tls_protect_clear(&server);
  if (data[0]) connect_now(data[0]);
  const size_t piece = data[1] ? data[1] : sizeof in;
  const size_t total = prepare(data + 2, size - 2);
  size_t at = 0, have = 0;
  tls_output(&client, &n);
  tls_sent(&client, n);
  while (at < total) {
    have = have + piece < total - at ? have + piece : total - at;
    const tls_status status = tls_receive(&client, in + at, have, &got);
    if (got.used > have) abort();
    if (status == TLS_MORE) {
      if (got.used || got.need <= have || got.need > TLS_RECORD_MAX) abort();
      if (have == total - at) break;
      continue;
    }
    if (status == TLS_CONNECTED) abort(); /* nobody here can finish a handshake */
    if (status == TLS_DATA &&
        (!data[0] || got.size == 0 || got.data < in + at || got.data + got.size > in + at + have)) {
      abort();
    }
    if (status == TLS_FAILED) {
      if (tls_receive(&client, in, total, &got) != TLS_FAILED || got.data) abort();
      break;
    }
    tls_output(&client, &n);
    tls_sent(&client, n);
    at += got.used;
    have = 0;
    if (status == TLS_END) break;
  }
  tls_clear(&client);
  return 0;
}
