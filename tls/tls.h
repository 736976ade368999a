/*
** tls/tls.h: a TLS client (1.3 and 1.2) and the certificates that it trusts. Bytes in, bytes out:
** no socket, no allocation, no file, no clock; what it needs of these the caller gives.
**
**     tls_trust_init(&trust, anchors, 256, bytes, sizeof bytes);
**     tls_trust_add_pem(&trust, pem, pem_size);                  // once a process
**
**     tls_config config = {.server_name = "db.example", .trust = &trust, .now = time(NULL)};
**     tls_start(&client, &config, work, sizeof work);
**     for (;;) {
**       while ((p = tls_output(&client, &n)) != NULL) tls_sent(&client, send(fd, p, n));
**       switch (tls_receive(&client, in, have, &got)) {           // opens one record in place
**         case TLS_MORE: read up to got.need bytes into in; continue;
**         case TLS_CONNECTED: tls_seal(&client, request, size, out, sizeof out, &n);
**           send what tls_output has (it was made before), then out …
**         case TLS_DATA: got.data, got.size …; then drop got.used bytes of in
**
** Conventions, stated once:
**
**   Memory     Contexts and buffers are the caller's, of the sizes given here. A client holds
**              secrets: tls_clear wipes them.
**   Errors     A protocol error is the alert that is sent. After the first failure a client stays
**              failed: tls_failed tells it, the alert waits in tls_output, nothing more is opened,
**              sealed or resumed.
**   Trust      No switch skips the check of the certificate or of the name. A pin replaces the chain
**              of issuers, and nothing else.
**   Lending    Plaintext is lent in the caller's own input buffer, where its record stood.
*/
#ifndef TLS_TLS_H
#define TLS_TLS_H

#include <stddef.h>
#include <stdint.h>

#include "../crypto/crypto.h"

/* ---- Alerts and failures (alert.c) ----------------------------------------------------------- */

/* RFC 8446 6. The numbers are those of the wire; TLS_ALERT_NONE is none of them. */
typedef enum tls_alert {
  TLS_ALERT_CLOSE_NOTIFY = 0,
  TLS_ALERT_UNEXPECTED_MESSAGE = 10,
  TLS_ALERT_BAD_RECORD_MAC = 20,
  TLS_ALERT_RECORD_OVERFLOW = 22,
  TLS_ALERT_HANDSHAKE_FAILURE = 40,
  TLS_ALERT_BAD_CERTIFICATE = 42,
  TLS_ALERT_UNSUPPORTED_CERTIFICATE = 43,
  TLS_ALERT_CERTIFICATE_REVOKED = 44,
  TLS_ALERT_CERTIFICATE_EXPIRED = 45,
  TLS_ALERT_CERTIFICATE_UNKNOWN = 46,
  TLS_ALERT_ILLEGAL_PARAMETER = 47,
  TLS_ALERT_UNKNOWN_CA = 48,
  TLS_ALERT_ACCESS_DENIED = 49,
  TLS_ALERT_DECODE_ERROR = 50,
  TLS_ALERT_DECRYPT_ERROR = 51,
  TLS_ALERT_PROTOCOL_VERSION = 70,
  TLS_ALERT_INSUFFICIENT_SECURITY = 71,
  TLS_ALERT_INTERNAL_ERROR = 80,
  TLS_ALERT_INAPPROPRIATE_FALLBACK = 86,
  TLS_ALERT_USER_CANCELED = 90,
  TLS_ALERT_NO_RENEGOTIATION = 100,
  TLS_ALERT_MISSING_EXTENSION = 109,
  TLS_ALERT_UNSUPPORTED_EXTENSION = 110,
  TLS_ALERT_UNRECOGNIZED_NAME = 112,
  TLS_ALERT_BAD_CERTIFICATE_STATUS_RESPONSE = 113,
  TLS_ALERT_UNKNOWN_PSK_IDENTITY = 115,
  TLS_ALERT_CERTIFICATE_REQUIRED = 116,
  TLS_ALERT_NO_APPLICATION_PROTOCOL = 120,
  TLS_ALERT_NONE = 255
} tls_alert;

/* What went wrong. reason is static text for a person: "the certificate is for another name". */
typedef struct tls_failure {
  tls_alert alert; /* TLS_ALERT_NONE: nothing has */
  int from_server; /* 1: the server sent the alert */
  const char *reason;
} tls_failure;

/* "bad_certificate", as RFC 8446 6 spells it; "unknown alert" for numbers it has not. */
const char *tls_alert_name(int alert);

/* ---- Trust (pem.c, trust.c) ------------------------------------------------------------------ */

#define TLS_SPKI_HASH 32 /* SHA-256 of a SubjectPublicKeyInfo, DER */

/* A root: what the path check needs of it. The pointers are into the trust's own bytes. */
typedef struct tls_anchor {
  const uint8_t *subject; /* Name, DER */
  size_t subject_size;
  const uint8_t *spki; /* SubjectPublicKeyInfo, DER */
  size_t spki_size;
  const uint8_t *certificate; /* whole, DER */
  size_t certificate_size;
} tls_anchor;

/* Roots, or pins, or both: a server is trusted where its chain leads to a root, or its own
** certificate is a root or pinned; then its issuers are not asked about (README.md says what that
** spares it), and its name, validity and uses are as ever. With a pin and no root only the pinned is
** trusted. Made once, then only read: threads may share one. */
typedef struct tls_trust {
  tls_anchor *anchors; /* the caller's array; kept sorted by subject */
  size_t anchor_count, anchor_max;
  uint8_t *bytes; /* the caller's; certificates are copied here */
  size_t used, size;
  /* SHA-256 of itself and of the certificate that was added, from zeros on: sessions are bound to
  ** it. */
  uint8_t identity[32];
  const uint8_t (*pins)[TLS_SPKI_HASH]; /* SHA-256 of the SPKI of a leaf that is trusted */
  size_t pin_count;
  const uint8_t (*certificate_pins)[32]; /* SHA-256 of a whole leaf that is trusted */
  size_t certificate_pin_count;
} tls_trust;

typedef struct tls_added {
  size_t added;   /* certificates that are now roots */
  size_t refused; /* certificates that cannot be: not parsed, or no key that edb can check with */
} tls_added;

void tls_trust_init(tls_trust *trust, tls_anchor *anchors, size_t max, uint8_t *bytes, size_t size);

/* Adds every CERTIFICATE of a PEM text (RFC 7468; other blocks are skipped), or one certificate
** in DER. ECR_OK; ECR_SHORT where anchors or bytes run out (what was added stays); ECR_INVALID
** where there is no certificate in it at all. */
ecr_status tls_trust_add_pem(tls_trust *trust, const char *pem, size_t n, tls_added *added);
ecr_status tls_trust_add_der(tls_trust *trust, const uint8_t *der, size_t n);

/* ---- Certificates (der.c, x509*.c) ----------------------------------------------------------- */

typedef struct tls_bytes {
  const uint8_t *p;
  size_t n;
} tls_bytes;

#define TLS_CHAIN_MAX 16 /* certificates that a server may send */

typedef enum tls_key_kind {
  TLS_KEY_NONE = 0,
  TLS_KEY_RSA,     /* rsaEncryption: PKCS#1 and PSS */
  TLS_KEY_RSA_PSS, /* id-RSASSA-PSS: PSS only */
  TLS_KEY_P256,
  TLS_KEY_P384,
  TLS_KEY_ED25519
} tls_key_kind;

/* A subject's public key; the pointers are into its certificate. */
typedef struct tls_public_key {
  tls_key_kind kind;
  ecr_rsa_public rsa; /* TLS_KEY_RSA… */
  tls_bytes point;    /* the others: 04 | x | y, or Ed25519's 32 bytes */
  uint16_t only;      /* TLS_KEY_RSA_PSS: the one SignatureScheme that it may sign by, or 0 */
} tls_public_key;

#define TLS_DEPTH_NONE (~0U) /* for max_depth: a root must have signed the leaf */

/* What is asked of a chain. */
typedef struct tls_verify {
  const tls_trust *trust;
  /* A DNS name ("db.example"; of letters, digits and hyphens, others as A-labels; a dot at its end is
  ** dropped) or an address ("::1", "10.0.0.1"). NULL or empty is refused. */
  const char *server_name;
  int64_t now; /* seconds since 1970-01-01 UTC */
  /* How many issuers there may be between leaf and root, not counting those that only renew
  ** themselves (RFC 5280 6.1.4 l). 0: the default, 8. */
  unsigned max_depth;
} tls_verify;

/* Whether the server's certificates (the leaf first; the others in any order, some of them
** needless) prove that it is server_name: path to a root (or a pin), validity, names and their
** constraints, uses, key sizes, critical extensions (RFC 5280 6, RFC 6125 6, RFC 9525). Work is
** bounded: TLS_VERIFY_SIGNATURES signatures. ECR_OK and the leaf's key, or ECR_REFUSED and why. */
#define TLS_VERIFY_SIGNATURES 32
ecr_status tls_verify_chain(const tls_verify *verify, const tls_bytes *chain, size_t n,
                            tls_public_key *key, tls_failure *failure);

/* Whether signature is the key's over the message, by a SignatureScheme (RFC 8446 4.2.3). The
** scheme must fit the key, and be one that may sign in that version (0x0304: no PKCS#1; 0x0303:
** ECDSA's hash is not bound to the curve). ECR_OK, ECR_REFUSED, or ECR_INVALID for a scheme that
** does not fit. */
ecr_status tls_signature_verify(const tls_public_key *key, uint16_t scheme, unsigned version,
                                const void *message, size_t n, const uint8_t *signature,
                                size_t signature_size);

/* The SHA-256 that a pin is compared with. ECR_INVALID where der is no certificate. */
ecr_status tls_spki_hash(const uint8_t *der, size_t n, uint8_t hash[TLS_SPKI_HASH]);

/* ---- Sessions (session.c) -------------------------------------------------------------------- */

/* What resumes: a ticket and its secret, with the name, ALPN and trust that it was got under;
** offered only where these are the same. Plain data without pointers: the caller keeps and copies
** it, and wipes it (ecr_wipe). used: 0 where there is none. */
#define TLS_TICKET_MAX 4096 /* longer ones are not kept */
typedef struct tls_session {
  int used;
  unsigned version; /* 0x0304 or 0x0303 */
  uint16_t suite;
  uint8_t secret[48];
  size_t secret_size;
  uint32_t lifetime, age_add;
  int64_t received;    /* seconds, the caller's clock */
  int64_t verified;    /* when the certificate was: of the first of sessions that came of others */
  uint8_t binding[32]; /* SHA-256 of name, ALPN and the trust's identity */
  size_t id_size, ticket_size;
  uint8_t id[32]; /* TLS 1.2: where there is no ticket, the session's id */
  uint8_t ticket[TLS_TICKET_MAX];
} tls_session;

/* ---- The client (client.c and a file for each part) ------------------------------------------ */

#define TLS_RECORD_MAX (5 + 16384 + 256) /* bytes of the longest record on the wire */
#define TLS_PLAIN_MAX 16384
#define TLS_OVERHEAD 30 /* bytes that tls_seal may add to the plaintext */
#define TLS_WORK                                                                                   \
  65536 /* bytes of work: handshake messages are put together here; the longest is 48 KB */
#define TLS_CLIENT_SIZE 16384

typedef struct tls_client {
  _Alignas(64) unsigned char bytes[TLS_CLIENT_SIZE];
} tls_client;

typedef struct tls_config {
  const char *server_name; /* as in tls_verify; a DNS name goes into SNI, an address does not */
  const tls_trust *trust;
  int64_t now;
  const char *const *alpn; /* NULL-terminated, or NULL */
  int alpn_required;       /* 1: a server that chooses none is refused; another's name always is */
  unsigned min_version, max_version;   /* 0x0303, 0x0304; 0: 1.2 and 1.3 */
  int allow_no_extended_master_secret; /* 1: TLS 1.2 servers without RFC 7627 are taken too */
  const tls_session
      *session; /* to resume, or NULL; may be of any server; lives as the strings do */
  /* The source of random bytes; NULL: ecr_random. For tests that replay traces. */
  ecr_status (*random)(void *context, void *out, size_t n);
  void *random_context;
} tls_config;

/* Begins: tls_output then has the ClientHello. config's strings, trust and work live until the
** handshake is over (trust and config no longer); work until tls_clear. ECR_INVALID: no name, or
** one that no certificate can be for (tls_verify says which may be), no trust, work too small, a
** version that is not there, ALPN's names not of 1 to 255 bytes, 2 KB in all.
** ECR_NOT_FOUND: no random bytes. */
ecr_status tls_start(tls_client *client, const tls_config *config, uint8_t *work, size_t work_size);
void tls_clear(tls_client *client);

/* Every protected record, the handshake's too, is sealed and opened by these instead of the
** automatic choice: each may be NULL; they live until tls_clear. Before tls_start's first output is taken; ECR_INVALID after
** it, or where an entry is of another cipher than its place. Trust is decided without them: a
** hostile cipher can break the connection and nothing more. */
ecr_status tls_use_aead(tls_client *client, const ecr_aead *const aeads[ECR_CIPHERS]);

/* What is to be sent now, in order, or NULL where there is nothing; it stays until tls_sent says
** how much went out. */
const uint8_t *tls_output(tls_client *client, size_t *n);
void tls_sent(tls_client *client, size_t n);

typedef enum tls_status {
  TLS_OK = 0,    /* a record was taken that concerns the caller not */
  TLS_MORE,      /* the record is not whole: got.need bytes from in's start are wanted */
  TLS_CONNECTED, /* the handshake is over; comes once */
  TLS_DATA,      /* application data */
  TLS_END,       /* the server's close_notify: no more data will come */
  TLS_FAILED     /* tls_failure says why */
} tls_status;

typedef struct tls_received {
  size_t used;   /* bytes of in that are done with: 0 or one record */
  size_t need;   /* TLS_MORE: bytes that in must hold; at least 5, at most TLS_RECORD_MAX */
  uint8_t *data; /* TLS_DATA: lent within in */
  size_t size;   /* never 0 */
} tls_received;

/* Takes the first record of in, n bytes received and not yet used, which it may overwrite. */
tls_status tls_receive(tls_client *client, uint8_t *in, size_t n, tls_received *got);

/* The transport ended: TLS_END after close_notify, else TLS_FAILED, as data may be missing. */
tls_status tls_receive_end(tls_client *client);

/* Makes one record of n bytes, 1 to TLS_PLAIN_MAX: *written bytes in out, n + TLS_OVERHEAD at most.
** data may be out + TLS_SEAL_OFFSET, so that nothing is moved. Where the keys' limit is near, the
** update waits in tls_output and goes first: what tls_output has and what tls_seal made leave in
** the order in which they were made. ECR_INVALID before TLS_CONNECTED, after tls_close or a
** failure; ECR_SHORT; ECR_TOO_LONG beyond TLS_PLAIN_MAX. */
#define TLS_SEAL_OFFSET 5 /* 13 for AES-GCM in TLS 1.2: tls_seal_offset tells */
size_t tls_seal_offset(const tls_client *client);
ecr_status tls_seal(tls_client *client, const uint8_t *data, size_t n, uint8_t *out,
                    size_t out_size, size_t *written);

/* close_notify: to tls_output. Data may still be received. */
void tls_close(tls_client *client);

/* Asks both sides for new keys (1.3's KeyUpdate; nothing in 1.2). One request is outstanding at a
** time. */
ecr_status tls_update_keys(tls_client *client);

tls_failure tls_failed(const tls_client *client);

/* What was agreed, once connected. Static text or within the client. */
typedef struct tls_agreed {
  unsigned version;
  const char *suite;          /* "TLS_AES_128_GCM_SHA256" */
  const char *group;          /* "x25519" */
  const char *alpn;           /* NULL: none */
  const char *cipher_backend; /* "vaes512" */
  int resumed;
} tls_agreed;
void tls_agreed_get(const tls_client *client, tls_agreed *agreed);

/* Copies the newest session that the server gave; 0 where it gave none since the last call. Tickets
** come at any time after TLS_CONNECTED. */
int tls_session_get(tls_client *client, tls_session *session);

#endif
