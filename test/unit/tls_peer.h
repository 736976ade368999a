/*
** tls_peer.h: a TLS server in the test's own process, told what to send by a string of letters. It
** shares no code with tls/: bytes are put together here, primitives are libcrypto's (AES-128-GCM,
** SHA-256, X25519).
**
** Certificates are not its subject: tls_verify_chain and tls_signature_verify are defined here, and
** a signature is right where it is the SHA-256 of what is signed.
*/
#ifndef EDB_UNIT_TLS_PEER_H
#define EDB_UNIT_TLS_PEER_H

#include "primitives.h"
#include "tls/tls.h"

/* ---- libcrypto ------------------------------------------------------------------------------- */

static unsigned char *(*SHA256)(const unsigned char *p, size_t n, unsigned char *out);
static unsigned char *(*HMAC)(const void *hash, const void *key, int key_size,
                              const unsigned char *p, size_t n, unsigned char *out, unsigned *size);
static const void *(*EVP_sha256)(void);
static const void *(*EVP_aes_128_gcm)(void);
static void *(*EVP_CIPHER_CTX_new)(void);
static void (*EVP_CIPHER_CTX_free)(void *context);
static int (*EVP_CipherInit_ex)(void *context, const void *cipher, void *engine, const uint8_t *key,
                                const uint8_t *iv, int encrypt);
static int (*EVP_CipherUpdate)(void *context, uint8_t *out, int *written, const uint8_t *in, int n);
static int (*EVP_CipherFinal_ex)(void *context, uint8_t *out, int *written);
static int (*EVP_CIPHER_CTX_ctrl)(void *context, int type, int n, void *p);
static void *(*EVP_PKEY_new_raw_private_key)(int type, void *engine, const uint8_t *p, size_t n);
static void *(*EVP_PKEY_new_raw_public_key)(int type, void *engine, const uint8_t *p, size_t n);
static int (*EVP_PKEY_get_raw_public_key)(const void *key, uint8_t *out, size_t *n);
static void *(*EVP_PKEY_CTX_new)(void *key, void *engine);
static int (*EVP_PKEY_derive_init)(void *context);
static int (*EVP_PKEY_derive_set_peer)(void *context, void *key);
static int (*EVP_PKEY_derive)(void *context, uint8_t *out, size_t *n);
static void (*EVP_PKEY_CTX_free)(void *context);
static void (*EVP_PKEY_free)(void *key);

static inline int peer_load(void) {
  if (!peer("EVP_sha256")) return 0;
  PEER(SHA256, "SHA256");
  PEER(HMAC, "HMAC");
  PEER(EVP_sha256, "EVP_sha256");
  PEER(EVP_aes_128_gcm, "EVP_aes_128_gcm");
  PEER(EVP_CIPHER_CTX_new, "EVP_CIPHER_CTX_new");
  PEER(EVP_CIPHER_CTX_free, "EVP_CIPHER_CTX_free");
  PEER(EVP_CipherInit_ex, "EVP_CipherInit_ex");
  PEER(EVP_CipherUpdate, "EVP_CipherUpdate");
  PEER(EVP_CipherFinal_ex, "EVP_CipherFinal_ex");
  PEER(EVP_CIPHER_CTX_ctrl, "EVP_CIPHER_CTX_ctrl");
  PEER(EVP_PKEY_new_raw_private_key, "EVP_PKEY_new_raw_private_key");
  PEER(EVP_PKEY_new_raw_public_key, "EVP_PKEY_new_raw_public_key");
  PEER(EVP_PKEY_get_raw_public_key, "EVP_PKEY_get_raw_public_key");
  PEER(EVP_PKEY_CTX_new, "EVP_PKEY_CTX_new");
  PEER(EVP_PKEY_derive_init, "EVP_PKEY_derive_init");
  PEER(EVP_PKEY_derive_set_peer, "EVP_PKEY_derive_set_peer");
  PEER(EVP_PKEY_derive, "EVP_PKEY_derive");
  PEER(EVP_PKEY_CTX_free, "EVP_PKEY_CTX_free");
  PEER(EVP_PKEY_free, "EVP_PKEY_free");
  return 1;
}

/* AES-128-GCM, in place: seals n bytes (16 more are written), or opens n (16 fewer): 0 where
** refused. */
static inline int peer_gcm(int seal, const uint8_t *key, const uint8_t *nonce, const uint8_t *aad,
                           size_t aad_size, uint8_t *p, size_t n) {
  void *context = EVP_CIPHER_CTX_new();
  int written = 0, ok;
  if (!seal) n -= 16;
  ok = EVP_CipherInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce, seal);
  if (!seal) EVP_CIPHER_CTX_ctrl(context, 0x11, 16, p + n);
  ok &= EVP_CipherUpdate(context, NULL, &written, aad, (int)aad_size);
  if (n) ok &= EVP_CipherUpdate(context, p, &written, p, (int)n);
  ok &= EVP_CipherFinal_ex(context, p + n, &written);
  if (seal) EVP_CIPHER_CTX_ctrl(context, 0x10, 16, p + n);
  EVP_CIPHER_CTX_free(context);
  return ok;
}

static const uint8_t peer_scalar[32] = {7, 1, 2, 3};

static inline void peer_share(uint8_t out[32]) {
  size_t n = 32;
  void *key = EVP_PKEY_new_raw_private_key(1034, NULL, peer_scalar, 32); /* EVP_PKEY_X25519 */
  EVP_PKEY_get_raw_public_key(key, out, &n);
  EVP_PKEY_free(key);
}

static inline void peer_agree(const uint8_t theirs[32], uint8_t out[32]) {
  size_t n = 32;
  void *mine = EVP_PKEY_new_raw_private_key(1034, NULL, peer_scalar, 32);
  void *point = EVP_PKEY_new_raw_public_key(1034, NULL, theirs, 32);
  void *context = EVP_PKEY_CTX_new(mine, NULL);
  CHECK(EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, point) == 1 &&
        EVP_PKEY_derive(context, out, &n) == 1);
  EVP_PKEY_CTX_free(context);
  EVP_PKEY_free(point);
  EVP_PKEY_free(mine);
}

static inline void peer_hmac(const uint8_t *key, size_t key_size, const uint8_t *p, size_t n,
                             uint8_t out[32]) {
  HMAC(EVP_sha256(), key, (int)key_size, p, n, out, NULL);
}

/* HKDF-Expand-Label, of at most 32 bytes. */
static inline void peer_label(const uint8_t secret[32], const char *label, const uint8_t *context,
                              size_t context_size, uint8_t *out, size_t n) {
  uint8_t info[128], block[32];
  size_t i = 0;
  info[i++] = 0;
  info[i++] = (uint8_t)n;
  info[i++] = (uint8_t)(6 + strlen(label));
  memcpy(info + i, "tls13 ", 6);
  memcpy(info + i + 6, label, strlen(label));
  i += 6 + strlen(label);
  info[i++] = (uint8_t)context_size;
  if (context_size) memcpy(info + i, context, context_size);
  i += context_size;
  info[i++] = 1;
  peer_hmac(secret, 32, info, i, block);
  memcpy(out, block, n);
}

/* TLS 1.2's PRF. */
static inline void peer_prf(const uint8_t *secret, size_t secret_size, const char *label,
                            const uint8_t *seed, size_t seed_size, uint8_t *out, size_t n) {
  uint8_t text[256], a[32 + 256], block[32];
  const size_t size = strlen(label) + seed_size;
  memcpy(text, label, strlen(label));
  memcpy(text + strlen(label), seed, seed_size);
  peer_hmac(secret, secret_size, text, size, a);
  while (n > 0) {
    const size_t part = n < 32 ? n : 32;
    memcpy(a + 32, text, size);
    peer_hmac(secret, secret_size, a, 32 + size, block);
    memcpy(out, block, part);
    peer_hmac(secret, secret_size, a, 32, a);
    out += part;
    n -= part;
  }
}

/* ---- What judges certificates ---------------------------------------------------------------- */

static ecr_status peer_chain_answer; /* what tls_verify_chain says */
static tls_key_kind peer_leaf;       /* and of which kind the key is */
static size_t peer_modulus;          /* of how many bytes, where it is RSA's */

ecr_status tls_verify_chain(const tls_verify *verify, const tls_bytes *chain, size_t n,
                            tls_public_key *key, tls_failure *failure) {
  static uint8_t point[2000];
  (void)verify;
  CHECK(n > 0 && chain[0].n > 0);
  if (peer_chain_answer != ECR_OK) {
    *failure = (tls_failure){TLS_ALERT_UNKNOWN_CA, 0, "not trusted"};
    return peer_chain_answer;
  }
  *key = (tls_public_key){.kind = peer_leaf, .point = {point, 65}};
  if (peer_leaf == TLS_KEY_RSA) key->rsa = (ecr_rsa_public){point, peer_modulus, point, 3};
  return ECR_OK;
}

ecr_status tls_signature_verify(const tls_public_key *key, uint16_t scheme, unsigned version,
                                const void *message, size_t n, const uint8_t *signature,
                                size_t signature_size) {
  uint8_t right[32];
  (void)version;
  if (key->kind != TLS_KEY_P256 || (scheme & 0xff) != 3) return ECR_INVALID;
  SHA256(message, n, right);
  return signature_size == 32 && memcmp(right, signature, 32) == 0 ? ECR_OK : ECR_REFUSED;
}

/* ---- The server ------------------------------------------------------------------------------ */

/* What differs from a good server. Extensions are in hexadecimal, code and length with them. */
typedef struct script {
  const char *name, *steps;
  tls_alert expected; /* TLS_ALERT_NONE: the client connects and has no complaint */
  unsigned suite, second_suite, group, scheme, legacy, psk;
  const char *retry, *hello, *encrypted, *certificate, *request, *ticket, *random_end;
  int no_versions, no_share, no_echo, zero_share, compression, wrong_signature, wrong_finished,
      empty_chain, context, no_renegotiation, no_master, curve_type, untrusted, short_body;
  int no_retry_versions, resumes;   /* resumes: TLS 1.2, the client's session id is echoed */
  const char *id;                   /* TLS 1.2: the session's, in hexadecimal */
  const char *lifetime;             /* TLS 1.3: a ticket's, in hexadecimal; NULL: two hours */
  size_t certificates, ticket_size; /* 0: one, of three bytes; the usual one */
  size_t rsa_leaf;                  /* bytes of the modulus; 0: the leaf's key is not RSA's */
} script;

typedef struct direction {
  int version; /* 0: in the clear */
  uint8_t secret[32], key[16], iv[12];
  uint64_t sequence;
} direction;

typedef struct server {
  const script *s;
  uint8_t transcript[32768], flight[20000], wire[80000];
  size_t transcript_n, flight_n, wire_n, fed;
  direction in, out;
  uint8_t client_random[32], session_id[32], client_share[32];
  size_t session_id_n;
  uint8_t schedule[32], secrets[4][32]; /* c hs, s hs, c ap, s ap */
  uint8_t master[48], block[40], psk[32];
  int switched, hellos;
  uint8_t from_client[20000]; /* the last content that the client sent */
  size_t from_client_n;
  int from_client_type, client_ccs;
} server;

static inline void put(uint8_t *out, size_t *n, const void *p, size_t size) {
  if (size) memcpy(out + *n, p, size);
  *n += size;
}

static inline void put_number(uint8_t *out, size_t *n, size_t v, int width) {
  while (width-- > 0) out[(*n)++] = (uint8_t)(v >> (8 * width));
}

static inline void put_hex(uint8_t *out, size_t *n, const char *text) {
  if (!text) return;
  const bytes b = hex(text);
  put(out, n, b.p, b.n);
}

static inline void server_hash(const server *v, uint8_t out[32]) {
  SHA256(v->transcript, v->transcript_n, out);
}

static inline void direction_secret(direction *d, const uint8_t secret[32]) {
  memcpy(d->secret, secret, 32);
  peer_label(secret, "key", NULL, 0, d->key, 16);
  peer_label(secret, "iv", NULL, 0, d->iv, 12);
  d->version = 13;
  d->sequence = 0;
}

static inline void direction_next(direction *d) {
  uint8_t next[32];
  peer_label(d->secret, "traffic upd", NULL, 0, next, 32);
  direction_secret(d, next);
}

static inline size_t direction_nonce(const direction *d, const uint8_t *record, size_t content,
                                     uint8_t nonce[12], uint8_t aad[13]) {
  uint8_t sequence[8];
  for (int i = 0; i < 8; i++) sequence[i] = (uint8_t)(d->sequence >> (56 - 8 * i));
  memcpy(nonce, d->iv, 12);
  if (d->version == 13) {
    for (int i = 0; i < 8; i++) nonce[4 + i] ^= sequence[i];
    memcpy(aad, record, 5);
    return 5;
  }
  memcpy(nonce + 4, record + 5, 8);
  memcpy(aad, sequence, 8);
  memcpy(aad + 8, record, 3);
  aad[11] = (uint8_t)(content >> 8);
  aad[12] = (uint8_t)content;
  return 13;
}

/* A record to the client; pad bytes of padding in TLS 1.3. A type of 0 there: padding alone. */
static inline void server_record(server *v, int type, const uint8_t *p, size_t n, size_t pad) {
  uint8_t *record = v->wire + v->wire_n, nonce[12], aad[13];
  direction *d = &v->out;
  const size_t before = d->version == 12 ? 13 : 5;
  size_t size = n;
  record[0] = (uint8_t)(d->version == 13 ? 23 : type);
  record[1] = record[2] = 3;
  if (n) memcpy(record + before, p, n);
  if (d->version == 13) {
    record[5 + size++] = (uint8_t)type;
    memset(record + 5 + size, 0, pad);
    size += pad;
  }
  const size_t fragment = before - 5 + size + (d->version ? 16 : 0);
  record[3] = (uint8_t)(fragment >> 8);
  record[4] = (uint8_t)fragment;
  if (d->version == 12) {
    for (int i = 0; i < 8; i++) record[5 + i] = (uint8_t)(d->sequence >> (56 - 8 * i));
  }
  if (d->version) {
    const size_t aad_n = direction_nonce(d, record, n, nonce, aad);
    CHECK(peer_gcm(1, d->key, nonce, aad, aad_n, record + before, size));
    d->sequence++;
  }
  v->wire_n += 5 + fragment;
}

static inline void server_raw(server *v, const char *text) { put_hex(v->wire, &v->wire_n, text); }

/* A handshake message into the flight that the next '|' sends. hashed: it counts for the
** transcript. */
static inline void server_message(server *v, int type, const uint8_t *body, size_t n, int hashed) {
  const size_t start = v->flight_n;
  put_number(v->flight, &v->flight_n, (size_t)type, 1);
  put_number(v->flight, &v->flight_n, n, 3);
  put(v->flight, &v->flight_n, body, n);
  if (hashed) put(v->transcript, &v->transcript_n, v->flight + start, 4 + n);
}

/* ---- What the client sent -------------------------------------------------------------------- */

/* Where an extension's body is, or NULL. */
static inline const uint8_t *find_extension(const uint8_t *p, const uint8_t *end, unsigned code,
                                            size_t *n) {
  while (end - p >= 4) {
    const unsigned c = (unsigned)(p[0] << 8 | p[1]);
    *n = (size_t)(p[2] << 8 | p[3]);
    if (c == code) return p + 4;
    p += 4 + *n;
  }
  return NULL;
}

static inline void server_read_hello(server *v, const uint8_t *p, size_t n) {
  const uint8_t *at = p + 6, *body;
  size_t size = 0;
  v->hellos++;
  memcpy(v->client_random, at, 32);
  v->session_id_n = at[32];
  memcpy(v->session_id, at + 33, v->session_id_n);
  at += 33 + v->session_id_n;
  at += 2 + (at[0] << 8 | at[1]);
  at += 1 + at[0];
  body = find_extension(at + 2, p + n, 51, &size);
  if (body && size == 38) memcpy(v->client_share, body + 6, 32);
}

/* TLS 1.2's keys, of the master secret. */
static inline void server_keys_12(server *v) {
  uint8_t seed[64];
  memset(seed, 'r', 32);
  memcpy(seed + 32, v->client_random, 32);
  peer_prf(v->master, 48, "key expansion", seed, 64, v->block, 40);
  v->switched = 12;
}

/* Takes all that the client has to send; the last record's content stays in from_client. */
static inline void server_read(server *v, const uint8_t *p, size_t n) {
  uint8_t record[20000], nonce[12], aad[13];
  while (n >= 5) {
    const size_t fragment = (size_t)(p[3] << 8 | p[4]);
    direction *d = &v->in;
    CHECK(n >= 5 + fragment);
    memcpy(record, p, 5 + fragment);
    p += 5 + fragment;
    n -= 5 + fragment;
    if (record[0] == 20) {
      v->client_ccs++;
      if (v->out.version == 12 || v->switched == 12) { /* TLS 1.2's: the keys begin */
        v->in = (direction){.version = 12};
        memcpy(v->in.key, v->block, 16);
        memcpy(v->in.iv, v->block + 32, 4);
      }
      continue;
    }
    uint8_t *content = record + 5;
    size_t size = fragment;
    int type = record[0];
    if (d->version) {
      const size_t before = d->version == 12 ? 13 : 5;
      content = record + before;
      size = 5 + fragment - before - 16;
      const size_t aad_n = direction_nonce(d, record, size, nonce, aad);
      CHECK(peer_gcm(0, d->key, nonce, aad, aad_n, content, size + 16));
      d->sequence++;
      if (d->version == 13) {
        while (size > 0 && content[size - 1] == 0) size--;
        type = content[--size];
      }
    }
    v->from_client_type = type;
    memcpy(v->from_client, content, size);
    v->from_client_n = size;
    if (type != 22) continue;
    if (content[0] == 1) server_read_hello(v, content, size);
    if (content[0] == 24) {
      direction_next(d);
    } else {
      put(v->transcript, &v->transcript_n, content, size);
    }
    if (content[0] == 20 &&
        d->version == 13) { /* Finished: what resumes, and the client's new key */
      uint8_t hash[32], resumption[32];
      static const uint8_t nonce_of_ticket = 1;
      server_hash(v, hash);
      peer_label(v->schedule, "res master", hash, 32, resumption, 32);
      peer_label(resumption, "resumption", &nonce_of_ticket, 1, v->psk, 32);
      direction_secret(d, v->secrets[2]);
    }
    if (content[0] == 16) { /* ClientKeyExchange: the extended master secret and the keys */
      uint8_t shared[32], hash[32], seed[64];
      memcpy(v->client_share, content + 5, 32);
      peer_agree(v->client_share, shared);
      server_hash(v, hash);
      memcpy(seed, v->client_random, 32);
      memset(seed + 32, 'r', 32);
      if (v->s->no_master) {
        peer_prf(shared, 32, "master secret", seed, 64, v->master, 48);
      } else {
        peer_prf(shared, 32, "extended master secret", hash, 32, v->master, 48);
      }
      server_keys_12(v);
    }
  }
  CHECK_INT(n, 0);
}

#endif
