/*
** tls/tlsInt.h: what the files of tls/ share beside tls.h; a bannered block for each file or group
** of files.
*/
#ifndef TLS_TLS_INT_H
#define TLS_TLS_INT_H

#include <string.h>

#include "tls.h"
#include "x509Int.h"

/* ---- Bytes of the wire (RFC 8446 3) ---------------------------------------------------------- */

/* Sticky: after a field that is not there all reads give 0 and nothing; bad is tested once. */
typedef struct tls_reader {
  const uint8_t *p;
  size_t n, i;
  int bad;
} tls_reader;

static inline tls_reader tls_reader_of(tls_bytes b) {
  const tls_reader r = {b.p, b.n, 0, 0};
  return r;
}

static inline tls_bytes tls_read_bytes(tls_reader *r, size_t n) {
  tls_bytes b = {NULL, 0};
  if (r->bad || r->n - r->i < n) {
    r->bad = 1;
    return b;
  }
  b.p = r->p + r->i;
  b.n = n;
  r->i += n;
  return b;
}

/* A big-endian number of 1 to 4 bytes. */
static inline uint32_t tls_read(tls_reader *r, size_t width) {
  const tls_bytes b = tls_read_bytes(r, width);
  uint32_t v = 0;
  for (size_t i = 0; i < b.n; i++) v = v << 8 | b.p[i];
  return v;
}

/* A vector <min..2^(8 × width) - 1>, whose length stands before it in that many bytes. */
static inline tls_bytes tls_read_vector(tls_reader *r, size_t width, size_t min) {
  const tls_bytes b = tls_read_bytes(r, tls_read(r, width));
  if (b.n < min) r->bad = 1;
  return b;
}

/* Whether all was there, and nothing more. */
static inline int tls_read_done(const tls_reader *r) { return !r->bad && r->i == r->n; }

/* Sticky: writes nothing once there is no room. */
typedef struct tls_writer {
  uint8_t *p;
  size_t n, i;
  int bad;
} tls_writer;

static inline void tls_write_bytes(tls_writer *w, const void *p, size_t n) {
  if (w->bad || w->n - w->i < n) {
    w->bad = 1;
    return;
  }
  if (n) memcpy(w->p + w->i, p, n);
  w->i += n;
}

static inline void tls_write(tls_writer *w, uint32_t v, size_t width) {
  uint8_t b[4];
  for (size_t i = 0; i < width; i++) b[i] = (uint8_t)(v >> (8 * (width - 1 - i)));
  tls_write_bytes(w, b, width);
}

/* Between the two: a vector, whose length is put before it. */
static inline size_t tls_write_open(tls_writer *w, size_t width) {
  tls_write(w, 0, width);
  return w->i;
}

static inline void tls_write_close(tls_writer *w, size_t from, size_t width) {
  const size_t n = w->i - from;
  if (w->bad) return;
  for (size_t i = 0; i < width; i++) w->p[from - 1 - i] = (uint8_t)(n >> (8 * i));
}

/* ---- What is spoken: suites and groups (suite.c, group.c) ------------------------------------ */

#define TLS_1_2 0x0303
#define TLS_1_3 0x0304

typedef struct tls_suite {
  uint16_t code, version;
  ecr_cipher cipher;
  const ecr_hash *hash; /* of the transcript, the key schedule, the PRF */
  enum {
    TLS_SIGNS_ANY,
    TLS_SIGNS_RSA,
    TLS_SIGNS_EC
  } signs; /* TLS 1.2: what the leaf's key must be */
  const char *name;
} tls_suite;

const tls_suite *tls_suite_find(uint32_t code); /* NULL for none of ours */
/* The i-th by preference (what is fast on this machine first), NULL behind the last. */
const tls_suite *tls_suite_offer(int i);

#define TLS_X25519 0x001d
#define TLS_SECRET_MAX 48 /* bytes of the longest hash of a suite, and of a group's secret */

typedef struct tls_group {
  uint16_t code;
  const char *name;
  size_t share, secret; /* bytes on the wire, and of what is agreed (and of the scalar) */
  ecr_curve curve;      /* not X25519's */
} tls_group;

const tls_group *tls_group_find(uint32_t code);
const tls_group *tls_group_offer(int i); /* in order of preference */

/* ---- The transcript (transcript.c; RFC 8446 4.4.1) ------------------------------------------- */

typedef struct tls_transcript {
  const ecr_hash *hash;
  ecr_hash_context context;
} tls_transcript;

void tls_transcript_start(tls_transcript *t, const ecr_hash *hash);
void tls_transcript_add(tls_transcript *t, tls_bytes message);
/* What was added so far becomes a message_hash, as a HelloRetryRequest asks. */
void tls_transcript_retry(tls_transcript *t);
void tls_transcript_digest(const tls_transcript *t, uint8_t *out);

/* ---- Keys (keys.c; RFC 8446 7, RFC 5246 6.3 and 8.1) ----------------------------------------- */

/* One direction's records. aead is NULL where they are in the clear. */
typedef struct tls_protection {
  ecr_aead_context context;
  const ecr_aead *aead;
  unsigned version;
  unsigned keys;         /* how many were set so far */
  uint64_t sequence;     /* of the next record (RFC 8446 5.3) */
  uint64_t limit;        /* records under one key, then an update is due (5.5) */
  uint64_t most;         /* TLS 1.3: records of a server that does not update, then it is cut off */
  uint8_t iv[ECR_NONCE]; /* GCM in TLS 1.2: 4 bytes, then zeros */
  size_t explicit_nonce; /* bytes of it in each record: 8 for GCM in TLS 1.2 */
  uint8_t secret[TLS_SECRET_MAX]; /* TLS 1.3: what the next key comes of */
} tls_protection;

/* RFC 8446 5.5: 2^24.5 full-size records are safe with AES-GCM. Twice this is below it. */
#define TLS_RECORDS_PER_KEY ((uint64_t)1 << 23)

/* Sets the key. ECR_NOT_FOUND where the cipher is not there, with which the connection ends. */
ecr_status tls_protect(tls_protection *p, const ecr_aead *aead, unsigned version,
                       const uint8_t *key, const uint8_t *iv);
void tls_protect_clear(tls_protection *p);

/* TLS 1.3: the key of a traffic secret; and the next one (7.2). */
ecr_status tls13_protect(tls_protection *p, const ecr_aead *aead, const ecr_hash *hash,
                         const uint8_t *secret);
ecr_status tls13_protect_next(tls_protection *p, const ecr_hash *hash);

/* The schedule of RFC 8446 7.1: each step replaces secret. secret NULL or psk NULL are zeros. */
void tls13_early(const ecr_hash *hash, const uint8_t *psk, uint8_t *secret);
void tls13_advance(const ecr_hash *hash, const uint8_t *input, size_t n, uint8_t *secret);
/* Derive-Secret, of a transcript's hash. */
void tls13_derive(const ecr_hash *hash, const uint8_t *secret, const char *label,
                  const uint8_t *transcript, uint8_t *out);
/* The verify_data of Finished (4.4.4) and of a binder. */
void tls13_finished(const ecr_hash *hash, const uint8_t *secret, const uint8_t *transcript,
                    uint8_t *out);
/* The binder of a session's secret over a truncated ClientHello (4.2.11.2). */
void tls13_binder(const ecr_hash *hash, const uint8_t *psk, const uint8_t *transcript,
                  uint8_t *out);

#define TLS12_MASTER 48
#define TLS12_VERIFY 12

/* What both sides' records need in TLS 1.2. */
typedef struct tls12_keys {
  uint8_t client_key[32], server_key[32], client_iv[ECR_NONCE], server_iv[ECR_NONCE];
} tls12_keys;

/* session: the transcript's hash for an extended master secret (RFC 7627 4), NULL for the old one.
** */
void tls12_master(const ecr_hash *hash, const uint8_t *premaster, size_t n, const uint8_t *session,
                  const uint8_t client_random[32], const uint8_t server_random[32],
                  uint8_t master[TLS12_MASTER]);
void tls12_key_block(const tls_suite *suite, size_t key_size, const uint8_t master[TLS12_MASTER],
                     const uint8_t client_random[32], const uint8_t server_random[32],
                     tls12_keys *keys);
void tls12_finished(const ecr_hash *hash, const uint8_t master[TLS12_MASTER], const char *label,
                    const uint8_t *transcript, uint8_t out[TLS12_VERIFY]);

/* ---- Records (record.c; RFC 8446 5, RFC 5246 6.2) -------------------------------------------- */

enum { TLS_CHANGE_CIPHER_SPEC = 20, TLS_ALERT = 21, TLS_HANDSHAKE = 22, TLS_APPLICATION_DATA = 23 };

#define TLS_HEADER 5
#define TLS_PROTECTED_MAX (TLS_PLAIN_MAX + 256) /* RFC 8446 5.2; RFC 5246's ciphers need less */

/* What a record says, or why it is refused: alert is TLS_ALERT_NONE where it was taken. */
typedef struct tls_content {
  tls_alert alert;
  const char *reason;
  int type;
  uint8_t *p;
  size_t n;
} tls_content;

/* The header's own rules. Whether a record is protected is p's affair. */
tls_content tls_record_header(const tls_protection *p, const uint8_t header[TLS_HEADER]);
/* Opens a whole record of `size` bytes in place; one in the clear where p has no key. */
tls_content tls_record_open(tls_protection *p, uint8_t *record, size_t size);
/* Bytes that stand before the plaintext and behind it. */
size_t tls_record_before(const tls_protection *p);
size_t tls_record_after(const tls_protection *p);
/* Makes one of n bytes. ECR_SHORT; ECR_TOO_LONG where the sequence has come to its end. */
ecr_status tls_record_seal(tls_protection *p, int type, const uint8_t *data, size_t n, uint8_t *out,
                           size_t out_size, size_t *written);

/* ---- Extensions (extension.c; RFC 8446 4.2) -------------------------------------------------- */

/* In the order of our ClientHello. */
typedef enum tls_ext {
  TLS_EXT_SERVER_NAME,
  TLS_EXT_EXTENDED_MASTER_SECRET,
  TLS_EXT_RENEGOTIATION_INFO,
  TLS_EXT_SUPPORTED_GROUPS,
  TLS_EXT_EC_POINT_FORMATS,
  TLS_EXT_SESSION_TICKET,
  TLS_EXT_ALPN,
  TLS_EXT_STATUS_REQUEST,    /* never offered, so never accepted; */
  TLS_EXT_RECORD_SIZE_LIMIT, /* here to be told from what nobody knows */
  TLS_EXT_SIGNATURE_ALGORITHMS,
  TLS_EXT_SIGNATURE_ALGORITHMS_CERT,
  TLS_EXT_SUPPORTED_VERSIONS,
  TLS_EXT_COOKIE,
  TLS_EXT_PSK_KEY_EXCHANGE_MODES,
  TLS_EXT_KEY_SHARE,
  TLS_EXT_EARLY_DATA,
  TLS_EXT_PRE_SHARED_KEY, /* the last (4.2.11) */
  TLS_EXT_COUNT
} tls_ext;

/* The messages that have extensions. */
enum {
  TLS_IN_SERVER_HELLO = 1,
  TLS_IN_RETRY = 2,
  TLS_IN_ENCRYPTED = 4,
  TLS_IN_CERTIFICATE = 8,
  TLS_IN_REQUEST = 16,
  TLS_IN_TICKET = 32,
  TLS_IN_SERVER_HELLO_12 = 64
};

typedef struct tls_extensions {
  uint32_t present; /* a bit for each tls_ext */
  tls_bytes body[TLS_EXT_COUNT];
} tls_extensions;

static inline int tls_has(uint32_t set, tls_ext ext) { return (int)(set >> ext & 1); }

uint16_t tls_ext_code(tls_ext ext);
/* The body of one, whatever the others are; 0 where it is not there. */
int tls_extension_find(tls_bytes block, tls_ext ext, tls_bytes *body);
/* All of a message's, of which only those in offered may be there. */
tls_alert tls_extensions_read(tls_bytes block, unsigned in, uint32_t offered, tls_extensions *out,
                              const char **reason);

/* ---- The client (client.c, flow.c, hello.c, server_hello.c, tls13.c, tls12.c, session.c) ----- */

enum {
  TLS_HELLO_REQUEST = 0,
  TLS_CLIENT_HELLO = 1,
  TLS_SERVER_HELLO = 2,
  TLS_NEW_SESSION_TICKET = 4,
  TLS_ENCRYPTED_EXTENSIONS = 8,
  TLS_CERTIFICATE = 11,
  TLS_SERVER_KEY_EXCHANGE = 12,
  TLS_CERTIFICATE_REQUEST = 13,
  TLS_SERVER_HELLO_DONE = 14,
  TLS_CERTIFICATE_VERIFY = 15,
  TLS_CLIENT_KEY_EXCHANGE = 16,
  TLS_FINISHED = 20,
  TLS_KEY_UPDATE = 24,
  TLS_MESSAGE_HASH = 254
};

/* What is waited for; handshake.c's table says by whom. */
typedef enum tls_stage {
  TLS_STAGE_NONE,
  TLS_WAIT_SERVER_HELLO,
  TLS_WAIT_SECOND_HELLO,
  TLS13_WAIT_EXTENSIONS,
  TLS13_WAIT_CERTIFICATE_OR_REQUEST,
  TLS13_WAIT_CERTIFICATE,
  TLS13_WAIT_VERIFY,
  TLS13_WAIT_FINISHED,
  TLS13_CONNECTED,
  TLS12_WAIT_CERTIFICATE,
  TLS12_WAIT_KEY_EXCHANGE,
  TLS12_WAIT_DONE_OR_REQUEST,
  TLS12_WAIT_DONE,
  TLS12_WAIT_TICKET,
  TLS12_WAIT_CHANGE,
  TLS12_WAIT_FINISHED,
  TLS12_CONNECTED
} tls_stage;

/* Records that bring nothing (CCS, empty data, warnings, tickets, new keys): so many in a row. */
#define TLS_IDLE_MAX 32

#define TLS_OUT_SIZE 8192  /* of work: what waits to be sent; the first ClientHello stays here */
#define TLS_LEAF_SIZE 1152 /* of work: the leaf's key, copied from its certificate */
#define TLS_MESSAGE_MAX (48 << 10) /* the longest handshake message, without its header */
#define TLS_ALPN_MAX 255
#define TLS_ALPN_LIST_MAX 2048 /* with a ticket they fit TLS_OUT_SIZE */

/* What is needed until Finished, then wiped. */
typedef struct tls_handshake {
  tls_config config;
  tls_verify verify;
  uint8_t random[32], server_random[32];
  uint8_t session_id[32];
  size_t session_id_size;
  uint32_t offered;               /* extensions of the ClientHello, a bit for each */
  const tls_group *group;         /* whose share was sent, or is agreed */
  uint8_t scalar[TLS_SECRET_MAX]; /* of that group */
  uint8_t share[ECR_EC_POINT_MAX];
  tls_bytes hello;              /* the first ClientHello, until the transcript has begun */
  tls_bytes cookie;             /* while the second is being made */
  const tls_suite *retry_suite; /* of a HelloRetryRequest */
  const tls_session *session;   /* offered, NULL for none */
  int asked;                    /* a CertificateRequest came */
  int changes;                  /* CCS that came before the version was known */
  int extended;                 /* TLS 1.2: extended master secret */
  int ticket;                   /* TLS 1.2: a NewSessionTicket will come */
  int renewed;                  /* and has */
  tls_public_key leaf;
  tls_transcript transcript;
  uint8_t secret[TLS_SECRET_MAX]; /* 1.3: the schedule's; 1.2: the master secret */
  uint8_t client_secret[TLS_SECRET_MAX], server_secret[TLS_SECRET_MAX];
  tls12_keys keys;
} tls_handshake;

typedef struct tls_state {
  tls_protection read, write;
  tls_stage stage;
  tls_failure failure;
  unsigned version; /* 0 until the ServerHello says */
  const tls_suite *suite;
  const tls_group *group;
  const ecr_aead *aeads[ECR_CIPHERS];
  uint8_t *out; /* work's parts */
  size_t out_from, out_to;
  uint8_t *leaf;
  uint8_t *message; /* header and body of the one that is coming */
  size_t have;
  int taken;         /* tls_output was asked: no other ciphers from here on */
  int ended, closed; /* close_notify came, went */
  int changed;       /* our CCS went (1.3) */
  int resumed;
  unsigned idle;
  int update_asked;                   /* our KeyUpdate's answer is awaited */
  int update_waits;                   /* a KeyUpdate of ours has not left yet */
  uint8_t resumption[TLS_SECRET_MAX]; /* 1.3: the tickets' secret */
  uint8_t binding[32];
  int64_t now, verified; /* verified: as tls_session's */
  char alpn[TLS_ALPN_MAX + 1];
  tls_handshake hs;
  tls_session ticket; /* the newest; used: not yet asked for */
} tls_state;

static inline tls_state *tls_state_of(tls_client *client) {
  return (tls_state *)(void *)client->bytes;
}

/* flow.c: what goes out, and how it ends. */

/* Notes the failure, sends its alert, wipes the keys; gives alert back. */
tls_alert tls_fail(tls_state *s, tls_alert alert, const char *reason);
/* Wipes keys and sessions: nothing is opened or sealed from here on, and "any connection terminated
** with a fatal alert MUST NOT be resumed" (RFC 5246 7.2.2). */
void tls_forget(tls_state *s);
/* Queues a record; a failure where there is no room. */
tls_alert tls_send(tls_state *s, int type, const uint8_t *p, size_t n);
/* Queues a handshake message, whose header stands in it, and takes it into the transcript. */
tls_alert tls_send_message(tls_state *s, const uint8_t *p, size_t n);
/* The CCS of RFC 8446 D.4, once. */
tls_alert tls_send_change(tls_state *s);
/* New keys for what we send, told by a KeyUpdate. ask: the server is to do so too. */
tls_alert tls_send_update(tls_state *s, int ask);
/* Random bytes, from the configured source. */
tls_alert tls_draw(tls_state *s, void *out, size_t n);

/* group.c: our share of a group, into hs; and what is agreed with the server's. */
tls_alert tls_group_start(tls_state *s, const tls_group *group);
tls_alert tls_group_agree(tls_state *s, tls_bytes share, uint8_t secret[TLS_SECRET_MAX]);

/* hello.c: a ClientHello from what is in hs, the binder too; how long, or 0 where there is no room.
** */
size_t tls_hello_make(tls_state *s, uint8_t *out, size_t size);
/* Whether a SignatureScheme is in it. */
int tls_scheme_offered(const tls_state *s, uint32_t scheme);

/* handshake.c: takes the content of a handshake record; and TLS 1.2's CCS. */
tls_alert tls_handshake_take(tls_state *s, const uint8_t *p, size_t n);
tls_alert tls_handshake_change(tls_state *s);

/* Handlers of handshake.c's table: body is a message without its header, which stands before it. */
tls_alert tls_on_server_hello(tls_state *s, tls_bytes body);
tls_alert tls13_start(tls_state *s, const tls_extensions *x);
tls_alert tls13_on_extensions(tls_state *s, tls_bytes body);
tls_alert tls13_on_request(tls_state *s, tls_bytes body);
tls_alert tls13_on_certificate(tls_state *s, tls_bytes body);
tls_alert tls13_on_verify(tls_state *s, tls_bytes body);
tls_alert tls13_on_finished(tls_state *s, tls_bytes body);
tls_alert tls13_on_ticket(tls_state *s, tls_bytes body);
tls_alert tls13_on_update(tls_state *s, tls_bytes body);
tls_alert tls12_start(tls_state *s, const tls_extensions *x, tls_bytes session_id);
tls_alert tls12_on_certificate(tls_state *s, tls_bytes body);
tls_alert tls12_on_key_exchange(tls_state *s, tls_bytes body);
tls_alert tls12_on_request(tls_state *s, tls_bytes body);
tls_alert tls12_on_done(tls_state *s, tls_bytes body);
tls_alert tls12_on_ticket(tls_state *s, tls_bytes body);
tls_alert tls12_on_change(tls_state *s, tls_bytes body);
tls_alert tls12_on_finished(tls_state *s, tls_bytes body);
tls_alert tls12_on_hello_request(tls_state *s, tls_bytes body);

/* peer.c: what both versions ask of the server: its chain, whose leaf's key is kept; a signature by
** that key; the answer to ALPN and to the server's name; that verify_data is what it should be. */
tls_alert tls_peer_chain(tls_state *s, const tls_bytes *chain, size_t n);
tls_alert tls_peer_signature(tls_state *s, uint32_t scheme, const uint8_t *message, size_t n,
                             tls_bytes signature);
tls_alert tls_peer_extensions(tls_state *s, const tls_extensions *x);
tls_alert tls_peer_finished(tls_state *s, tls_bytes body, const uint8_t *expected, size_t n);
/* The cipher for the suite: the given one, or the best here. */
const ecr_aead *tls_aead_of(const tls_state *s, const tls_suite *suite);
/* The handshake is over: what only it needed is wiped. */
void tls_handshake_over(tls_state *s);

/* session.c */
/* "It is RECOMMENDED that implementations place limits on the total lifetime of such keying
** material" (RFC 8446 4.6.1): sessions that come of others end with the first one's week. */
#define TLS_SESSION_MAX 604800
void tls_session_bind(tls_state *s);
/* What is not the ticket's own: of this connection. */
void tls_session_keep(tls_state *s, const uint8_t *secret, size_t n, uint32_t lifetime);
/* Whether a session may be offered now, here. */
int tls_session_fits(const tls_state *s, const tls_session *session);

#endif
