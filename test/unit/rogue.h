/*
** rogue.h: what the rogue TLS servers share: certificates, records, and the client under test, fed in memory.
**
** A rogue server is made of libcrypto's parts and shares nothing with tls/ or crypto/. It can say anything at
** any time: rogue13.h and rogue12.h have its messages; a case of tls_rogue13.c or tls_rogue12.c is a function
** that lets it misbehave once, and the alert that the client must send.
**
**     rogue_start(r, key, versions);     the client's hello is there
**     rogue_record / rogue_raw           bytes on their way to the client
**     rogue_pump(r)                      the client takes them and answers
**     r->alert, r->connected, r->data    what came of it
*/
#ifndef EDB_ROGUE_H
#define EDB_ROGUE_H

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <time.h>

#include "tls/tls.h"
#include "unit.h"

#define ROGUE_NAME "rogue.example"

/* libcrypto's answers, which are 1 where it did what it was asked. */
#define MUST(what)                                                                                 \
  do {                                                                                             \
    if ((what) <= 0) {                                                                             \
      printf("FAIL %s:%d: libcrypto: %s\n", __FILE__, __LINE__, #what);                            \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

/* ---- Bytes ------------------------------------------------------------------------------------------- */

typedef struct rogue_bytes {
  size_t n;
  uint8_t p[1 << 17];
} rogue_bytes;

static inline void put(rogue_bytes *b, const void *p, size_t n) {
  if (n > sizeof b->p - b->n) abort();
  if (n) memcpy(b->p + b->n, p, n);
  b->n += n;
}

/* A number of so many bytes, big-endian. */
static inline void put_number(rogue_bytes *b, uint64_t v, size_t bytes) {
  while (bytes-- > 0) {
    uint8_t byte = (uint8_t)(v >> (8 * bytes));
    put(b, &byte, 1);
  }
}

/* A vector with its length before it. */
static inline void put_vector(rogue_bytes *b, size_t bytes, const void *p, size_t n) {
  put_number(b, n, bytes);
  put(b, p, n);
}

static inline void put_extension(rogue_bytes *b, unsigned code, const void *p, size_t n) {
  put_number(b, code, 2);
  put_vector(b, 2, p, n);
}

/* The length in `bytes` bytes at `at` becomes what follows it. */
static inline void set_length(rogue_bytes *b, size_t at, size_t bytes) {
  size_t n = b->n - at - bytes;
  for (size_t i = 0; i < bytes; i++) b->p[at + i] = (uint8_t)(n >> (8 * (bytes - 1 - i)));
}

static inline size_t get_number(const uint8_t *p, size_t bytes) {
  size_t v = 0;
  for (size_t i = 0; i < bytes; i++) v = v << 8 | p[i];
  return v;
}

/* ---- Keys and certificates --------------------------------------------------------------------------- */

typedef enum rogue_key {
  ROGUE_P256,
  ROGUE_RSA,
  ROGUE_PSS,
  ROGUE_P384,
  ROGUE_ED25519,
  ROGUE_KEYS
} rogue_key;

typedef struct rogue_identity {
  EVP_PKEY *key;
  uint8_t *der; /* its certificate, by the authority */
  int size;
} rogue_identity;

static rogue_identity rogue_ca, rogue_leaf[ROGUE_KEYS],
    rogue_other; /* other: nobody's certificate */

/* issuer NULL: an authority. */
static inline X509 *rogue_certificate(EVP_PKEY *key, const char *name, X509 *issuer,
                                      EVP_PKEY *signer) {
  static const struct rogue_extension {
    int nid;
    const char *value;
  } authority[] = {{NID_basic_constraints, "critical,CA:TRUE"},
                   {NID_subject_key_identifier, "hash"},
                   {0, NULL}},
    leaf[] = {{NID_subject_alt_name, "DNS:" ROGUE_NAME},
              {NID_ext_key_usage, "serverAuth"},
              {NID_authority_key_identifier, "keyid"},
              {0, NULL}};
  static long serial = 1;
  X509 *x = X509_new();
  X509_NAME *subject = X509_get_subject_name(x);
  MUST(X509_set_version(x, X509_VERSION_3));
  MUST(ASN1_INTEGER_set(X509_get_serialNumber(x), serial++));
  MUST(X509_gmtime_adj(X509_getm_notBefore(x), -3600) != NULL);
  MUST(X509_gmtime_adj(X509_getm_notAfter(x), 86400) != NULL);
  MUST(X509_set_pubkey(x, key));
  MUST(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1,
                                  0));
  MUST(X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : subject));
  for (const struct rogue_extension *e = issuer ? leaf : authority; e->nid; e++) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer ? issuer : x, x, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, e->nid, e->value);
    MUST(extension != NULL);
    MUST(X509_add_ext(x, extension, -1));
    X509_EXTENSION_free(extension);
  }
  MUST(X509_sign(x, signer, EVP_sha256()));
  return x;
}

static inline EVP_PKEY *rogue_pss_key(void) {
  EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA_PSS, NULL);
  EVP_PKEY *key = NULL;
  MUST(EVP_PKEY_keygen_init(c));
  MUST(EVP_PKEY_CTX_set_rsa_keygen_bits(c, 2048));
  MUST(EVP_PKEY_keygen(c, &key));
  EVP_PKEY_CTX_free(c);
  return key;
}

/* Once a process. */
static inline void rogue_make_identities(void) {
  X509 *ca, *x;
  rogue_ca.key = EVP_EC_gen("P-256");
  rogue_other.key = EVP_EC_gen("P-256");
  ca = rogue_certificate(rogue_ca.key, "authority", NULL, rogue_ca.key);
  rogue_ca.size = i2d_X509(ca, &rogue_ca.der);
  for (int i = 0; i < ROGUE_KEYS; i++) {
    EVP_PKEY *key = i == ROGUE_RSA       ? EVP_RSA_gen(2048)
                    : i == ROGUE_PSS     ? rogue_pss_key()
                    : i == ROGUE_ED25519 ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                                         : EVP_EC_gen(i == ROGUE_P256 ? "P-256" : "P-384");
    MUST(key != NULL);
    x = rogue_certificate(key, ROGUE_NAME, ca, rogue_ca.key);
    rogue_leaf[i].key = key;
    rogue_leaf[i].size = i2d_X509(x, &rogue_leaf[i].der);
    MUST(rogue_leaf[i].size);
    X509_free(x);
  }
  X509_free(ca);
}

static inline void rogue_free_identities(void) {
  rogue_identity *all[] = {&rogue_ca, &rogue_other};
  for (int i = 0; i < ROGUE_KEYS; i++) {
    EVP_PKEY_free(rogue_leaf[i].key);
    OPENSSL_free(rogue_leaf[i].der);
  }
  for (int i = 0; i < 2; i++) {
    EVP_PKEY_free(all[i]->key);
    OPENSSL_free(all[i]->der);
  }
}

/* A signature by a SignatureScheme over bytes. */
static inline void rogue_sign(EVP_PKEY *key, unsigned scheme, const uint8_t *p, size_t n,
                              rogue_bytes *out) {
  EVP_MD_CTX *c = EVP_MD_CTX_new();
  EVP_PKEY_CTX *k;
  unsigned hash = scheme >> 8 == 8 ? scheme & 0xf : scheme >> 8;
  const EVP_MD *md = scheme == 0x0807           ? NULL
                     : scheme >> 8 == 2         ? EVP_sha1()
                     : hash == 4 || hash == 9   ? EVP_sha256()
                     : hash == 5 || hash == 0xa ? EVP_sha384()
                                                : EVP_sha512();
  size_t size = 600;
  out->n = 0;
  MUST(EVP_DigestSignInit(c, &k, md, NULL, key));
  if (scheme >> 8 == 8 && md) {
    MUST(EVP_PKEY_CTX_set_rsa_padding(k, RSA_PKCS1_PSS_PADDING));
    MUST(EVP_PKEY_CTX_set_rsa_pss_saltlen(k, RSA_PSS_SALTLEN_DIGEST));
  }
  MUST(EVP_DigestSign(c, out->p, &size, p, n));
  out->n = size;
  EVP_MD_CTX_free(c);
}

/* The other side's share, and ours: what they agree on. Returns its length. */
static inline size_t rogue_agree(unsigned group, const uint8_t *share, size_t n, rogue_bytes *ours,
                                 uint8_t secret[64]) {
  EVP_PKEY *key = group == 0x1d ? EVP_PKEY_Q_keygen(NULL, NULL, "X25519")
                                : EVP_EC_gen(group == 0x17 ? "P-256" : "P-384");
  EVP_PKEY *peer = EVP_PKEY_new();
  uint8_t *encoded = NULL;
  size_t size = 64;
  MUST(EVP_PKEY_copy_parameters(peer, key));
  if (group == 0x1d) {
    EVP_PKEY_free(peer);
    peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, share, n);
  } else {
    MUST(EVP_PKEY_set1_encoded_public_key(peer, share, n));
  }
  ours->n = 0;
  put(ours, "", 0);
  size_t length = EVP_PKEY_get1_encoded_public_key(key, &encoded);
  put(ours, encoded, length);
  OPENSSL_free(encoded);
  EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(key, NULL);
  MUST(EVP_PKEY_derive_init(c));
  MUST(EVP_PKEY_derive_set_peer(c, peer));
  MUST(EVP_PKEY_derive(c, secret, &size));
  EVP_PKEY_CTX_free(c);
  EVP_PKEY_free(peer);
  EVP_PKEY_free(key);
  return size;
}

/* ---- One connection ------------------------------------------------------------------------------------ */

typedef struct rogue_suite {
  unsigned code, version;
  const char *cipher, *hash;
  size_t key;
} rogue_suite;

static const rogue_suite rogue_suites[] = {
    {0x1301, 0x0304, "AES-128-GCM", "SHA256", 16},
    {0x1302, 0x0304, "AES-256-GCM", "SHA384", 32},
    {0x1303, 0x0304, "ChaCha20-Poly1305", "SHA256", 32},
    {0xc02b, 0x0303, "AES-128-GCM", "SHA256", 16},       /* ECDHE_ECDSA */
    {0xc02f, 0x0303, "AES-128-GCM", "SHA256", 16},       /* ECDHE_RSA */
    {0xc030, 0x0303, "AES-256-GCM", "SHA384", 32},       /* ECDHE_RSA */
    {0xcca9, 0x0303, "ChaCha20-Poly1305", "SHA256", 32}, /* ECDHE_ECDSA */
};

/* One direction's keys. */
typedef struct rogue_keys {
  int on;
  uint8_t secret[48], key[32], iv[12];
  uint64_t sequence;
} rogue_keys;

typedef struct rogue rogue;
struct rogue {
  tls_client client;
  uint8_t work[TLS_WORK];
  uint8_t pin[1][32];
  tls_anchor anchors[2];
  uint8_t anchor_bytes[4096];
  tls_trust trust;

  rogue_bytes wire; /* on its way to the client */
  rogue_bytes got;  /* the client's records, those not read yet */
  rogue_bytes transcript;
  const rogue_suite *suite;
  unsigned version;
  rogue_key key;
  rogue_keys out, in;

  /* The ClientHello's parts, within transcript. */
  rogue_bytes hello;
  uint8_t client_random[32], server_random[32];
  const uint8_t *session_id, *share, *psk;
  size_t session_id_size, share_size, psk_size;
  unsigned share_group;

  /* What the client did. */
  int connected, ended, failed;
  rogue_bytes data;
  int alert, alert_level, alerts; /* -1, or the last alert on the wire */
  int unreadable;                 /* records that our keys do not open */

  /* Misbehaviour of a kind that many cases have: 0 is none. */
  int cut_type,
      cut;          /* messages of this type have their body cut (or lengthened) to so many bytes */
  int flip_type;    /* in messages of this type, the transcript not knowing, */
  size_t flip_at;   /* this byte is changed */
  size_t sizes[32]; /* of the messages that were sent, by type */
  size_t packing;   /* > 0: handshake records of so many bytes */
};

static inline const EVP_MD *rogue_md(const rogue *r) {
  return EVP_get_digestbyname(r->suite->hash);
}
static inline size_t rogue_hash_size(const rogue *r) {
  return (size_t)EVP_MD_get_size(rogue_md(r));
}

static inline void rogue_hash(const rogue *r, const void *p, size_t n, uint8_t *out) {
  MUST(EVP_Digest(p, n, out, NULL, rogue_md(r), NULL));
}

static inline void rogue_hmac(const rogue *r, const void *key, size_t key_size, const void *p,
                              size_t n, uint8_t *out) {
  static const uint8_t none;
  MUST(HMAC(rogue_md(r), key_size ? key : &none, (int)key_size, p, n, out, NULL) != NULL);
}

/* Seals (n bytes of plaintext to n + 16) or opens (n + 16 to n). Answers whether the tag was right. */
static inline int rogue_aead(const rogue *r, int seal, const uint8_t *key, const uint8_t nonce[12],
                             const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                             uint8_t *out) {
  EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
  EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, r->suite->cipher, NULL);
  uint8_t tag[16];
  int m, ok;
  MUST(EVP_CipherInit_ex2(c, cipher, key, nonce, seal, NULL));
  MUST(EVP_CipherUpdate(c, NULL, &m, aad, (int)aad_size));
  MUST(EVP_CipherUpdate(c, out, &m, in, (int)n));
  if (!seal) {
    memcpy(tag, in + n, 16);
    MUST(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, tag));
  }
  ok = EVP_CipherFinal_ex(c, tag, &m) > 0;
  if (seal) MUST(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, out + n));
  EVP_CIPHER_free(cipher);
  EVP_CIPHER_CTX_free(c);
  return ok;
}

static inline void rogue_nonce(const rogue *r, const rogue_keys *k, const uint8_t *explicit_nonce,
                               uint8_t nonce[12]) {
  memcpy(nonce, k->iv, 12);
  if (explicit_nonce) {
    memcpy(nonce + 4, explicit_nonce, 8);
  } else {
    for (int i = 0; i < 8; i++) nonce[11 - i] ^= (uint8_t)(k->sequence >> (8 * i));
  }
  (void)r;
}

/* TLS 1.2's GCM carries half of its nonce. */
static inline size_t rogue_explicit(const rogue *r) {
  return r->version == 0x0303 && r->suite->cipher[0] == 'A' ? 8 : 0;
}

static inline void rogue_raw(rogue *r, int type, const void *p, size_t n) {
  put_number(&r->wire, (uint64_t)type, 1);
  put_number(&r->wire, 0x0303, 2);
  put_vector(&r->wire, 2, p, n);
}

/* TLS 1.2: sequence, type, version, length. */
static inline void rogue_aad12(const rogue_keys *k, int type, size_t n, uint8_t aad[13]) {
  for (int i = 0; i < 8; i++) aad[7 - i] = (uint8_t)(k->sequence >> (8 * i));
  aad[8] = (uint8_t)type, aad[9] = 3, aad[10] = 3;
  aad[11] = (uint8_t)(n >> 8), aad[12] = (uint8_t)n;
}

/* One record: protected where keys are on; padding: zeros behind it (1.3). */
static inline void rogue_padded(rogue *r, int type, const void *p, size_t n, size_t padding) {
  static rogue_bytes inner, sealed;
  uint8_t nonce[12], aad[13];
  if (!r->out.on) {
    rogue_raw(r, type, p, n);
    return;
  }
  inner.n = sealed.n = 0;
  put(&inner, p, n);
  if (r->version == 0x0304) {
    put_number(&inner, (uint64_t)type, 1);
    while (padding-- > 0) put_number(&inner, 0, 1);
    rogue_bytes *w = &r->wire;
    size_t at = w->n;
    put_number(w, 23, 1);
    put_number(w, 0x0303, 2);
    put_number(w, inner.n + 16, 2);
    rogue_nonce(r, &r->out, NULL, nonce);
    MUST(rogue_aead(r, 1, r->out.key, nonce, w->p + at, 5, inner.p, inner.n, sealed.p));
    put(w, sealed.p, inner.n + 16);
  } else {
    size_t before = rogue_explicit(r);
    rogue_aad12(&r->out, type, n, aad);
    memcpy(sealed.p, aad, 8); /* the sequence serves as nonce */
    rogue_nonce(r, &r->out, before ? sealed.p : NULL, nonce);
    MUST(rogue_aead(r, 1, r->out.key, nonce, aad, 13, inner.p, n, sealed.p + before));
    rogue_raw(r, type, sealed.p, before + n + 16);
  }
  r->out.sequence++;
}

static inline void rogue_record(rogue *r, int type, const void *p, size_t n) {
  rogue_padded(r, type, p, n, 0);
}

/* Handshake bytes, in one record or, where packing says so, in more. */
static inline void rogue_handshake(rogue *r, const void *p, size_t n) {
  const uint8_t *from = p;
  while (n > 0) {
    size_t part = r->packing && r->packing < n ? r->packing : n;
    rogue_record(r, 22, from, part);
    from += part, n -= part;
  }
}

/* A handshake message, to the transcript and to the client; misbehaves as the fields cut and flip say. */
static inline void rogue_say(rogue *r, int type, const rogue_bytes *body) {
  static rogue_bytes message;
  message.n = 0;
  size_t n = body->n;
  r->sizes[type & 31] = n;
  if (r->cut_type == type) n = (size_t)r->cut;
  put_number(&message, (uint64_t)type, 1);
  put_number(&message, n, 3);
  put(&message, body->p, n < body->n ? n : body->n);
  while (message.n < n + 4) put_number(&message, 0, 1);
  put(&r->transcript, message.p, message.n);
  if (r->flip_type == type && r->flip_at < message.n) message.p[r->flip_at] ^= 1;
  rogue_handshake(r, message.p, message.n);
}

/* ---- The client under test -------------------------------------------------------------------------------- */

/* Takes what the client has to say: its alerts are looked at, the rest waits in got. */
static inline void rogue_listen(rogue *r) {
  const uint8_t *p;
  size_t n;
  while ((p = tls_output(&r->client, &n)) != NULL) {
    /* Not always all of it at once. */
    size_t part = n > 7 ? n - 7 : n;
    put(&r->got, p, part);
    tls_sent(&r->client, part);
  }
}

/* The next record of the client, opened where it is protected; 0 where there is none. */
static inline int rogue_read(rogue *r, int *type, rogue_bytes *content) {
  uint8_t nonce[12], aad[13];
  if (r->got.n < 5) return 0;
  const uint8_t *p = r->got.p;
  size_t size = get_number(p + 3, 2);
  if (r->got.n < 5 + size) return 0;
  *type = p[0];
  content->n = 0;
  int clear = !r->in.on || *type == 20, opened = 1;
  if (r->version == 0x0304 && *type == 21)
    clear = 1; /* before the keys, or wrong: the case will tell */
  if (clear) {
    put(content, p + 5, size);
  } else if (r->version == 0x0304) {
    rogue_nonce(r, &r->in, NULL, nonce);
    opened = rogue_aead(r, 0, r->in.key, nonce, p, 5, p + 5, size - 16, content->p);
    content->n = opened ? size - 16 : 0;
    while (content->n > 0 && content->p[content->n - 1] == 0) content->n--;
    *type = content->n > 0 ? content->p[--content->n] : 0;
  } else {
    size_t before = rogue_explicit(r);
    rogue_aad12(&r->in, *type, size - before - 16, aad);
    rogue_nonce(r, &r->in, before ? p + 5 : NULL, nonce);
    opened =
        rogue_aead(r, 0, r->in.key, nonce, aad, 13, p + 5 + before, size - before - 16, content->p);
    content->n = opened ? size - before - 16 : 0;
  }
  if (!clear) r->in.sequence++;
  r->unreadable += !opened;
  r->got.n -= 5 + size;
  memmove(r->got.p, r->got.p + 5 + size, r->got.n);
  if (*type == 21 && content->n == 2) {
    r->alert_level = content->p[0];
    r->alert = content->p[1];
    r->alerts++;
  }
  return 1;
}

/* The client takes what is on the wire, in pieces of `piece` bytes (0: whole), and answers. */
static inline void rogue_pump_by(rogue *r, size_t piece) {
  static uint8_t in[2 * TLS_RECORD_MAX];
  size_t have = 0, at = 0;
  rogue_listen(r);
  while (!r->failed) {
    tls_received got = {0};
    tls_status status = tls_receive(&r->client, in, have, &got);
    rogue_listen(r);
    if (status == TLS_CONNECTED) r->connected++;
    if (status == TLS_DATA) put(&r->data, got.data, got.size);
    if (status == TLS_END) r->ended = 1;
    if (status == TLS_FAILED) r->failed = 1;
    if (status == TLS_FAILED || status == TLS_END) break;
    if (status == TLS_MORE) {
      if (!CHECK(got.need > have && got.need <= TLS_RECORD_MAX)) break;
      size_t part = got.need - have;
      if (piece && part > piece) part = piece;
      if (part > r->wire.n - at) part = r->wire.n - at;
      if (part == 0) break;
      memcpy(in + have, r->wire.p + at, part);
      have += part, at += part;
      continue;
    }
    memmove(in, in + got.used, have - got.used);
    have -= got.used;
  }
  /* A rest stays for the next time. */
  r->wire.n -= at;
  memmove(r->wire.p, r->wire.p + at, r->wire.n);
  if (have > 0 && !r->failed) {
    memmove(r->wire.p + have, r->wire.p, r->wire.n);
    memcpy(r->wire.p, in, have);
    r->wire.n += have;
  }
}

static inline void rogue_pump(rogue *r) { rogue_pump_by(r, 0); }

/* Reads the records that wait: alerts are noted by rogue_read, all else is passed over. */
static inline void rogue_drain(rogue *r) {
  static rogue_bytes content;
  int type;
  while (rogue_read(r, &type, &content)) continue;
}

/* ---- The ClientHello ---------------------------------------------------------------------------------------- */

/* The body of an extension of the ClientHello, or NULL. */
static inline const uint8_t *rogue_offered(const rogue *r, unsigned code, size_t *n) {
  const uint8_t *p = r->hello.p + 4 + 34, *end = r->hello.p + r->hello.n;
  p += 1 + p[0];
  p += 2 + get_number(p, 2);
  p += 1 + p[0];
  for (p += 2; p + 4 <= end; p += 4 + get_number(p + 2, 2)) {
    *n = get_number(p + 2, 2);
    if (get_number(p, 2) == code) return p + 4;
  }
  return NULL;
}

/* Reads a ClientHello that waits. */
static inline void rogue_read_hello(rogue *r) {
  int type = 0;
  size_t n = 0;
  rogue_listen(r);
  do {
    MUST(rogue_read(r, &type, &r->hello));
  } while (type == 20);
  if (type != 22 || r->hello.p[0] != 1) abort();
  put(&r->transcript, r->hello.p, r->hello.n);
  memcpy(r->client_random, r->hello.p + 6, 32);
  r->session_id_size = r->hello.p[38];
  r->session_id = r->hello.p + 39;
  const uint8_t *share = rogue_offered(r, 51, &n);
  r->share = NULL;
  if (share) {
    r->share_group = (unsigned)get_number(share + 2, 2);
    r->share_size = get_number(share + 4, 2);
    r->share = share + 6;
  }
  r->psk = rogue_offered(r, 41, &r->psk_size);
}

/* A client that has said hello, and a server with that key. session, alpn: as in tls_config. */
static inline rogue *rogue_start(unsigned version, unsigned suite, rogue_key key,
                                 const tls_config *with) {
  rogue *r = aligned_alloc(64, (sizeof(rogue) + 63) / 64 * 64);
  tls_config config = with ? *with : (tls_config){0};
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < sizeof rogue_suites / sizeof rogue_suites[0]; i++) {
    if (rogue_suites[i].code == suite) r->suite = &rogue_suites[i];
  }
  r->version = version;
  r->key = key;
  r->alert = -1;
  tls_trust_init(&r->trust, r->anchors, 2, r->anchor_bytes, sizeof r->anchor_bytes);
  CHECK_INT(tls_trust_add_der(&r->trust, rogue_ca.der, (size_t)rogue_ca.size), ECR_OK);
  config.server_name = ROGUE_NAME;
  config.trust = &r->trust;
  config.now = (int64_t)time(NULL);
  CHECK_INT(tls_start(&r->client, &config, r->work, sizeof r->work), ECR_OK);
  rogue_read_hello(r);
  return r;
}

/* After the first failure nothing works any more, whatever is tried. */
static inline void rogue_stays_failed(rogue *r) {
  static uint8_t in[64] = {23, 3, 3, 0, 17}, out[64];
  tls_received got = {0};
  size_t n = 0;
  CHECK_INT(tls_receive(&r->client, in, 22, &got), TLS_FAILED);
  CHECK_INT(tls_seal(&r->client, in, 1, out, sizeof out, &n), ECR_INVALID);
  CHECK(tls_output(&r->client, &n) == NULL);
  CHECK_INT(tls_receive_end(&r->client), TLS_FAILED);
}

static inline void rogue_end(rogue *r) {
  tls_clear(&r->client);
  free(r);
}

#endif
