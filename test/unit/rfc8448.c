/*
** RFC 8448's traces, byte for byte: every section of every file tls13/(name).vec below
** $EDB_VECTORS, by what it holds, whatever its name.
**
** Each section is gone through twice. First the key schedule, the transcript and the records alone,
** all of them, early data and its end too. Then by the client itself, as a program would use it:
** its random bytes come from the section's pool, and every record that it sends is compared with
** the section's.
**
** Compared of the ClientHello are its random, session id and key share; the rest is the section's
** (the traces offer what edb does not, in another order): tls_hello_make is defined here, in place
** of hello.c's. So are the two that judge certificates, whose RSA-1024 keys edb refuses: by
** libcrypto, whose answer must be yes, over the very bytes that the section says are signed.
**
** Not compared, as edb does otherwise on purpose: the client's second flight where the section
** signs with a client's certificate (edb sends an empty one) or ends early data (edb sends none).
** Where a server answers extensions that edb cannot offer (raw public keys), the client must
** refuse.
*/
#include <ctype.h>
#include <dirent.h>

#include "primitives.h"
#include "tls/tlsInt.h"

/* ---- A section of a file --------------------------------------------------------------------- */

#define FIELDS 48
#define FIELD_MAX 2048

typedef struct field {
  char key[64];
  size_t n;
  uint8_t p[FIELD_MAX];
} field;

typedef struct section {
  char name[80];
  size_t count;
  field fields[FIELDS];
} section;

static section trace; /* the one that is gone through */

static tls_bytes get(const char *key) {
  for (size_t i = 0; i < trace.count; i++) {
    if (strcmp(trace.fields[i].key, key) == 0) {
      return (tls_bytes){trace.fields[i].p, trace.fields[i].n};
    }
  }
  return (tls_bytes){NULL, 0};
}

static int has(const char *key) { return get(key).n > 0; }

#define CHECK_FIELD(got, size, key)                                                                \
  do {                                                                                             \
    const tls_bytes expected_ = get(key);                                                          \
    if (!CHECK_BYTES(got, size, expected_.p, expected_.n)) printf("  %s, %s\n", trace.name, key);  \
  } while (0)

static void add_field(char *line) {
  char *value = strstr(line, " =");
  if (!value || trace.count == FIELDS) return;
  field *f = &trace.fields[trace.count];
  *value = 0;
  memset(f, 0, sizeof *f);
  snprintf(f->key, sizeof f->key, "%.63s", line);
  for (value += 2;; value += 2) {
    while (*value == ' ') value++;
    if (!isxdigit((unsigned char)value[0]) || !isxdigit((unsigned char)value[1])) break;
    if (f->n == FIELD_MAX) break;
    f->p[f->n++] = (uint8_t)(hex_digit((char)tolower((unsigned char)value[0])) << 4 |
                             hex_digit((char)tolower((unsigned char)value[1])));
  }
  if (*value == '\n' || *value == '\r' || *value == 0) trace.count++; /* else it is text */
}

/* ---- Hellos ---------------------------------------------------------------------------------- */

typedef struct hello {
  tls_bytes message, random, session_id, extensions;
} hello;

/* A ClientHello or ServerHello without its record's header. */
static hello read_hello(tls_bytes message) {
  tls_reader r = tls_reader_of(message);
  hello h = {.message = message};
  const uint32_t type = tls_read(&r, 1);
  tls_read_bytes(&r, 5);
  h.random = tls_read_bytes(&r, 32);
  h.session_id = tls_read_vector(&r, 1, 0);
  if (type == TLS_CLIENT_HELLO) {
    tls_read_vector(&r, 2, 2);
    tls_read_vector(&r, 1, 1);
  } else {
    tls_read(&r, 3);
  }
  h.extensions = tls_read_vector(&r, 2, 0);
  CHECK(tls_read_done(&r));
  return h;
}

static tls_bytes without_header(const char *key) {
  const tls_bytes record = get(key);
  return record.n > TLS_HEADER ? (tls_bytes){record.p + TLS_HEADER, record.n - TLS_HEADER} : record;
}

/* The share's bytes in a ServerHello (skip 4: group, size) or in a ClientHello (skip 6: the list's
** too). */
static tls_bytes share_of(const hello *h, size_t skip) {
  tls_bytes body = {NULL, 0};
  CHECK(tls_extension_find(h->extensions, TLS_EXT_KEY_SHARE, &body) && body.n > skip);
  return (tls_bytes){body.p + skip, body.n - skip};
}

static hello last_client_hello(void) {
  return read_hello(without_header(has("Record_ClientHello_2") ? "Record_ClientHello_2"
                                                               : "Record_ClientHello_1"));
}

/* The secret of the session that is resumed: an OCTET STRING of 32 bytes in Client_SessionData;
** or the external one. */
static const uint8_t *psk(void) {
  const tls_bytes data = get("Client_SessionData");
  if (has("PskSecret")) return get("PskSecret").p;
  if (!has("SessionTicket") || has("Record_NewSessionTicket")) return NULL;
  for (size_t i = 0; i + 34 <= data.n; i++) {
    if (data.p[i] == 0x04 && data.p[i + 1] == 0x20) return data.p + i + 2;
  }
  return NULL;
}

/* ---- What the client is given in place of its own -------------------------------------------- */

static size_t pool_used;
static int draws, hellos;

/* The session id is the second draw; where the trace has none, it takes nothing from the pool. */
static ecr_status draw(void *context, void *out, size_t n) {
  const tls_bytes pool = get("Client_RNG_Pool");
  (void)context;
  memset(out, 0, n);
  if (++draws == 2 && read_hello(without_header("Record_ClientHello_1")).session_id.n == 0) {
    return ECR_OK;
  }
  if (pool.n - pool_used < n) return ECR_NOT_FOUND;
  memcpy(out, pool.p + pool_used, n);
  pool_used += n;
  return ECR_OK;
}

size_t tls_hello_make(tls_state *s, uint8_t *out, size_t size) {
  const tls_bytes message =
      without_header(++hellos == 1 ? "Record_ClientHello_1" : "Record_ClientHello_2");
  const hello h = read_hello(message);
  const tls_bytes share = share_of(&h, 6);
  tls_bytes body;
  CHECK_BYTES(s->hs.random, 32, h.random.p, h.random.n);
  s->hs.session_id_size = h.session_id.n;
  CHECK_BYTES(s->hs.session_id, s->hs.session_id_size, h.session_id.p, h.session_id.n);
  CHECK_BYTES(s->hs.share, s->hs.group->share, share.p, share.n);
  s->hs.offered = 0;
  for (int i = 0; i < TLS_EXT_COUNT; i++) {
    if (tls_extension_find(h.extensions, (tls_ext)i, &body)) s->hs.offered |= (uint32_t)1 << i;
  }
  if (message.n > size) return 0;
  memcpy(out, message.p, message.n);
  return message.n;
}

int tls_scheme_offered(const tls_state *s, uint32_t scheme) {
  const hello h = last_client_hello();
  tls_bytes body;
  (void)s;
  if (!tls_extension_find(h.extensions, TLS_EXT_SIGNATURE_ALGORITHMS, &body)) return 0;
  for (size_t i = 2; i + 2 <= body.n; i += 2) {
    if ((uint32_t)(body.p[i] << 8 | body.p[i + 1]) == scheme) return 1;
  }
  return 0;
}

static void *leaf; /* libcrypto's key */

ecr_status tls_verify_chain(const tls_verify *verify, const tls_bytes *chain, size_t n,
                            tls_public_key *key, tls_failure *failure) {
  void *(*d2i_X509)(void **out, const unsigned char **p, long size);
  void *(*X509_get_pubkey)(void *certificate);
  void (*X509_free)(void *certificate);
  const unsigned char *p = chain[0].p;
  PEER(d2i_X509, "d2i_X509");
  PEER(X509_get_pubkey, "X509_get_pubkey");
  PEER(X509_free, "X509_free");
  (void)failure;
  CHECK_STR(verify->server_name, "server");
  CHECK_INT(n, 1);
  /* Message: header, context, the list's and the certificate's sizes. */
  CHECK_BYTES(chain[0].p, chain[0].n, get("Message_Server_Certificate").p + 11,
              get("Message_Server_Certificate").n - 13);
  void *certificate = d2i_X509(NULL, &p, (long)chain[0].n);
  CHECK(certificate != NULL);
  leaf = X509_get_pubkey(certificate);
  X509_free(certificate);
  key->kind = TLS_KEY_P256; /* any with a point: the check is libcrypto's */
  key->point = (tls_bytes){chain[0].p, 65};
  return leaf ? ECR_OK : ECR_REFUSED;
}

ecr_status tls_signature_verify(const tls_public_key *key, uint16_t scheme, unsigned version,
                                const void *message, size_t n, const uint8_t *signature,
                                size_t signature_size) {
  void *(*EVP_MD_CTX_new)(void);
  void (*EVP_MD_CTX_free)(void *context);
  void (*EVP_PKEY_free)(void *key);
  const void *(*EVP_sha256)(void);
  int (*init)(void *context, void **inner, const void *hash, void *engine, void *key);
  int (*verify)(void *context, const unsigned char *sig, size_t size, const unsigned char *p,
                size_t n);
  int (*control)(void *inner, int type, int operation, int command, int p1, void *p2);
  void *inner = NULL;
  PEER(EVP_MD_CTX_new, "EVP_MD_CTX_new");
  PEER(EVP_MD_CTX_free, "EVP_MD_CTX_free");
  PEER(EVP_PKEY_free, "EVP_PKEY_free");
  PEER(EVP_sha256, "EVP_sha256");
  PEER(init, "EVP_DigestVerifyInit");
  PEER(verify, "EVP_DigestVerify");
  PEER(control, "EVP_PKEY_CTX_ctrl");
  (void)key;
  CHECK_INT(version, 0x0304);
  CHECK_FIELD(message, n, "Server_MessageToSign");
  CHECK_FIELD(signature, signature_size, "Server_MessageSignature");
  void *context = EVP_MD_CTX_new();
  CHECK_INT(init(context, &inner, EVP_sha256(), NULL, leaf), 1);
  /* EVP_PKEY_CTRL_RSA_PADDING is 0x1001, RSA_PKCS1_PSS_PADDING 6. */
  if (scheme == 0x0804) CHECK(control(inner, -1, -1, 0x1001, 6, NULL) > 0);
  const int right = verify(context, signature, signature_size, message, n);
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(leaf);
  leaf = NULL;
  return CHECK_INT(right, 1) ? ECR_OK : ECR_REFUSED;
}

/* ---- The schedule alone ---------------------------------------------------------------------- */

static const char *const flight[] = {"Message_EncryptedExtensions", "Message_CertificateRequest",
                                     "Message_Server_Certificate",
                                     "Message_Server_CertificateVerify", "Message_Server_Finished"};
#define FLIGHT (sizeof flight / sizeof flight[0])

/* The server's messages, one behind the other. */
static size_t join_flight(uint8_t *out) {
  size_t n = 0;
  for (size_t i = 0; i < FLIGHT; i++) {
    const tls_bytes b = get(flight[i]);
    if (b.n) memcpy(out + n, b.p, b.n);
    n += b.n;
  }
  return n;
}

/* Puts an empty server_name into EncryptedExtensions, before early_data, which stands last. */
static size_t put_server_name_back(uint8_t *joined, size_t n) {
  const size_t end = get(flight[0]).n;
  memmove(joined + end, joined + end - 4, n - end + 4);
  memset(joined + end - 4, 0, 4);
  joined[3] = (uint8_t)(joined[3] + 4);
  joined[5] = (uint8_t)(joined[5] + 4);
  return n + 4;
}

static void check_seal(tls_protection *p, int type, tls_bytes plain, const char *key) {
  uint8_t out[FIELD_MAX];
  size_t n = 0;
  CHECK_INT(tls_record_seal(p, type, plain.p, plain.n, out, sizeof out, &n), ECR_OK);
  CHECK_FIELD(out, n, key);
}

static void check_open(tls_protection *p, const char *key, int type, tls_bytes plain) {
  uint8_t in[FIELD_MAX];
  const tls_bytes record = get(key);
  if (record.n == 0) return;
  memcpy(in, record.p, record.n);
  const tls_content content = tls_record_open(p, in, record.n);
  CHECK_INT(content.alert, TLS_ALERT_NONE);
  CHECK_INT(content.type, type);
  CHECK_BYTES(content.p, content.n, plain.p, plain.n);
}

/* The group's secret, by the scalar that stands last in what the client drew. */
static void agree(const hello *client, const hello *server, uint8_t secret[TLS_SECRET_MAX]) {
  const tls_bytes pool = get("Client_RNG_Pool"), share = share_of(server, 4);
  const int x25519 = share.n == 32;
  const size_t at = 32 + client->session_id.n + (has("Record_ClientHello_2") ? 32 : 0);
  CHECK(pool.n >= at + 32);
  CHECK_INT(x25519 ? ecr_x25519(secret, pool.p + at, share.p)
                   : ecr_ecdh(ECR_P256, secret, pool.p + at, share.p, share.n),
            ECR_OK);
}

/* The last 32 bytes of a hello that resumes: its binder. */
static void check_binder(tls_bytes message) {
  tls_transcript t;
  uint8_t digest[ECR_HASH_MAX], binder[ECR_HASH_MAX];
  tls_transcript_start(&t, &ecr_sha256);
  tls_transcript_add(&t, (tls_bytes){message.p, message.n - 35});
  tls_transcript_digest(&t, digest);
  tls13_binder(&ecr_sha256, psk(), digest, binder);
  CHECK_BYTES(binder, 32, message.p + message.n - 32, 32);
}

/* Early data and its end, sealed with the key that the ClientHello gives. */
static void check_early(const uint8_t *early, tls_bytes message) {
  static const uint8_t end[] = {5, 0, 0, 0};
  uint8_t digest[ECR_HASH_MAX], traffic[TLS_SECRET_MAX], out[64];
  static tls_protection p;
  size_t n = 0;
  tls_transcript t;
  tls_transcript_start(&t, &ecr_sha256);
  tls_transcript_add(&t, message);
  tls_transcript_digest(&t, digest);
  tls13_derive(&ecr_sha256, early, "c e traffic", digest, traffic);
  memset(&p, 0, sizeof p);
  CHECK_INT(tls13_protect(&p, ecr_aead_get(ECR_AES_128_GCM, NULL), &ecr_sha256, traffic), ECR_OK);
  check_seal(&p, TLS_APPLICATION_DATA, get("Client_EarlyAppData"), "Record_Client_EarlyAppData");
  CHECK_INT(tls_record_seal(&p, TLS_HANDSHAKE, end, sizeof end, out, sizeof out, &n), ECR_OK);
  CHECK_BYTES(out, n, get("Record_ClientFinished").p, n);
  tls_protect_clear(&p);
}

static void schedule(void) {
  static const uint8_t notify[] = {1, 0}, end[] = {5, 0, 0, 0};
  static tls_protection client, server;
  const ecr_hash *hash = &ecr_sha256;
  const ecr_aead *aead = ecr_aead_get(ECR_AES_128_GCM, NULL);
  const hello ours = last_client_hello(), theirs = read_hello(get("Message_ServerHello"));
  uint8_t secret[TLS_SECRET_MAX], shared[TLS_SECRET_MAX], digest[ECR_HASH_MAX];
  uint8_t c[TLS_SECRET_MAX], s[TLS_SECRET_MAX], joined[2 * FIELD_MAX], finished[TLS_SECRET_MAX];
  tls_transcript t;
  tls_transcript_start(&t, hash);
  if (has("Record_ClientHello_2")) {
    tls_transcript_add(&t, without_header("Record_ClientHello_1"));
    tls_transcript_retry(&t);
    tls_transcript_add(&t, without_header("Record_HelloRetryRequest"));
  }
  tls_transcript_add(&t, ours.message);
  tls13_early(hash, psk(), secret);
  if (psk() && !has("PskSecret")) check_binder(ours.message);
  if (has("Client_EarlyAppData")) check_early(secret, ours.message);
  tls_transcript_add(&t, theirs.message);
  agree(&ours, &theirs, shared);
  tls13_advance(hash, shared, 32, secret);
  tls_transcript_digest(&t, digest);
  tls13_derive(hash, secret, "c hs traffic", digest, c);
  tls13_derive(hash, secret, "s hs traffic", digest, s);
  memset(&client, 0, sizeof client);
  memset(&server, 0, sizeof server);
  CHECK_INT(tls13_protect(&client, aead, hash, c), ECR_OK);
  CHECK_INT(tls13_protect(&server, aead, hash, s), ECR_OK);

  /* The server's flight: its Finished; sealed, and but for the CCS that may stand before it
  ** compared. */
  const size_t last = get("Message_Server_Finished").n;
  size_t n = 0, joined_size = join_flight(joined);
  uint8_t record[FIELD_MAX];
  if (has("Client_EarlyAppData")) joined_size = put_server_name_back(joined, joined_size);
  tls_transcript_add(&t, (tls_bytes){joined, joined_size - last});
  tls_transcript_digest(&t, digest);
  tls13_finished(hash, s, digest, finished);
  CHECK_BYTES(finished, 32, get("Message_Server_Finished").p + 4, last - 4);
  tls_transcript_add(&t, get("Message_Server_Finished"));
  if (!has("Client_EarlyAppData")) {
    const tls_bytes sent = get("Record_ServerHandshakeMessages");
    const size_t ccs = sent.n > 6 && sent.p[0] == TLS_CHANGE_CIPHER_SPEC ? 6 : 0;
    CHECK_INT(
        tls_record_seal(&server, TLS_HANDSHAKE, joined, joined_size, record, sizeof record, &n),
        ECR_OK);
    CHECK_BYTES(record, n, sent.p + ccs, sent.n - ccs);
  }

  tls13_advance(hash, NULL, 0, secret);
  tls_transcript_digest(&t, digest);
  if (has("Client_EarlyAppData")) {
    tls_transcript_add(&t, (tls_bytes){end, sizeof end});
    uint8_t own[4 + 32] = {TLS_FINISHED, 0, 0, 32}, mark[ECR_HASH_MAX];
    tls_transcript_digest(&t, mark);
    tls13_finished(hash, c, mark, own + 4);
    CHECK_INT(tls_record_seal(&client, TLS_HANDSHAKE, own, sizeof own, record, sizeof record, &n),
              ECR_OK);
    CHECK_BYTES(record, n, get("Record_ClientFinished").p + 26, n);
  }
  tls13_derive(hash, secret, "c ap traffic", digest, c);
  tls13_derive(hash, secret, "s ap traffic", digest, s);
  CHECK_INT(tls13_protect(&client, aead, hash, c), ECR_OK);
  CHECK_INT(tls13_protect(&server, aead, hash, s), ECR_OK);
  server.sequence = has("Record_NewSessionTicket") ? 1 : 0;
  if (has("Client_AppData")) {
    check_seal(&client, TLS_APPLICATION_DATA, get("Client_AppData"), "Record_Client_AppData");
    check_open(&server, "Record_Server_AppData", TLS_APPLICATION_DATA, get("Server_AppData"));
  }
  check_seal(&client, TLS_ALERT, (tls_bytes){notify, 2}, "Record_Client_CloseNotify");
  check_open(&server, "Record_Server_CloseNotify", TLS_ALERT, (tls_bytes){notify, 2});
  tls_protect_clear(&client);
  tls_protect_clear(&server);
}

/* ---- The client ------------------------------------------------------------------------------ */

static tls_client client;
static uint8_t work[TLS_WORK], in[2 * FIELD_MAX];

/* Feeds the records of a field; the last one's answer. */
static tls_status feed(const char *key, tls_received *got) {
  const tls_bytes records = get(key);
  tls_status status = TLS_FAILED;
  if (records.n) memcpy(in, records.p, records.n);
  for (size_t at = 0; at < records.n; at += got->used) {
    status = tls_receive(&client, in + at, records.n - at, got);
    if (got->used == 0) return status;
  }
  return status;
}

static void check_output(const char *key) {
  size_t n = 0;
  const uint8_t *p = tls_output(&client, &n);
  if (key) CHECK_FIELD(p, n, key);
  tls_sent(&client, n);
  CHECK(tls_output(&client, &n) == NULL);
}

/* An extension of EncryptedExtensions that edb has no row for. */
static int unknown_extension(void) {
  tls_reader r = tls_reader_of(get("Message_EncryptedExtensions"));
  int unknown = 0;
  tls_read_bytes(&r, 6);
  while (!r.bad && r.i < r.n) {
    const uint32_t code = tls_read(&r, 2);
    int known = 0;
    tls_read_vector(&r, 2, 0);
    for (int i = 0; i < TLS_EXT_COUNT; i++) known |= tls_ext_code((tls_ext)i) == code;
    unknown |= !known;
  }
  return unknown;
}

static void check_ticket(void) {
  static tls_session session;
  const tls_bytes data = get("Client_SessionData");
  int found = 0;
  CHECK_INT(tls_session_get(&client, &session), 1);
  CHECK_FIELD(session.ticket, session.ticket_size, "SessionTicket");
  for (size_t i = 0; i + 32 <= data.n; i++) found |= memcmp(data.p + i, session.secret, 32) == 0;
  CHECK(found);
  CHECK_INT(tls_session_get(&client, &session), 0);
}

static void data_both_ways(void) {
  uint8_t out[FIELD_MAX];
  size_t n = 0;
  tls_received got;
  const tls_bytes mine = get("Client_AppData"), theirs = get("Server_AppData");
  memcpy(out + TLS_SEAL_OFFSET, mine.p, mine.n);
  CHECK_INT(tls_seal(&client, out + TLS_SEAL_OFFSET, mine.n, out, sizeof out, &n), ECR_OK);
  CHECK_FIELD(out, n, "Record_Client_AppData");
  CHECK_INT(feed("Record_Server_AppData", &got), TLS_DATA);
  CHECK_BYTES(got.data, got.size, theirs.p, theirs.n);
}

static void play(void) {
  static tls_session session;
  const tls_trust trust = {0};
  tls_config config = {.server_name = "server", .trust = &trust, .now = 1651826546, .random = draw};
  uint8_t joined[2 * FIELD_MAX];
  tls_received got;
  tls_agreed agreed;
  pool_used = 0;
  draws = hellos = 0;
  CHECK_INT(tls_start(&client, &config, work, sizeof work), ECR_OK);
  if (psk()) { /* once more, with what it binds sessions to */
    session = (tls_session){.used = 1,
                            .version = 0x0304,
                            .suite = 0x1301,
                            .secret_size = 32,
                            .lifetime = 30,
                            .received = config.now,
                            .verified = config.now,
                            .ticket_size = 1};
    memcpy(session.secret, psk(), 32);
    memcpy(session.binding, tls_state_of(&client)->binding, sizeof session.binding);
    config.session = &session;
    tls_clear(&client);
    pool_used = 0;
    draws = hellos = 0;
    CHECK_INT(tls_start(&client, &config, work, sizeof work), ECR_OK);
  }
  check_output("Record_ClientHello_1");
  if (has("Record_HelloRetryRequest")) {
    CHECK_INT(feed("Record_HelloRetryRequest", &got), TLS_OK);
    check_output("Record_ClientHello_2");
  }
  CHECK_INT(feed("Record_ServerHello", &got), TLS_OK);
  if (unknown_extension()) {
    CHECK_INT(feed("Record_ServerHandshakeMessages", &got), TLS_FAILED);
    CHECK_INT(tls_failed(&client).alert, TLS_ALERT_UNSUPPORTED_EXTENSION);
    printf("  %s: its server answers extensions that edb cannot ask for, and is refused\n",
           trace.name);
    tls_clear(&client);
    return;
  }
  CHECK_INT(feed("Record_ServerHandshakeMessages", &got), TLS_CONNECTED);
  tls_agreed_get(&client, &agreed);
  CHECK_STR(agreed.suite, "TLS_AES_128_GCM_SHA256");
  CHECK_STR(agreed.group, has("Record_HelloRetryRequest") ? "secp256r1" : "x25519");
  CHECK_INT(agreed.resumed, psk() != NULL);
  if (has("Client_EarlyAppData")) {
    tls_clear(&client);
    return;
  }
  const size_t n = join_flight(joined);
  const size_t ccs = in[0] == TLS_CHANGE_CIPHER_SPEC ? 6 : 0;
  CHECK_BYTES(in + ccs + TLS_HEADER, n, joined, n);
  check_output(has("Message_CertificateRequest") ? NULL : "Record_ClientFinished");
  if (has("Record_NewSessionTicket")) {
    CHECK_INT(feed("Record_NewSessionTicket", &got), TLS_OK);
    check_ticket();
  }
  if (has("Client_AppData")) data_both_ways();
  tls_close(&client);
  check_output("Record_Client_CloseNotify");
  CHECK_INT(feed("Record_Server_CloseNotify", &got), TLS_END);
  CHECK_INT(tls_receive_end(&client), TLS_END);
  tls_clear(&client);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int sections;

static void end_section(void) {
  if (trace.count == 0) return;
  sections++;
  schedule();
  play();
}

static void go_through(const char *path) {
  static char line[2 * FIELD_MAX + 256];
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  if (!file) return;
  trace.count = 0;
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '[') {
      end_section();
      memset(&trace, 0, sizeof trace);
      snprintf(trace.name, sizeof trace.name, "%.*s", (int)strcspn(line + 1, "]"), line + 1);
    } else if (line[0] != '#') {
      add_field(line);
    }
  }
  end_section();
  fclose(file);
}

int main(void) {
  const char *vectors = getenv("EDB_VECTORS"), *root = getenv("EDB_ROOT");
  char folder[2048], path[4096];
  struct dirent *entry;
  if (vectors && *vectors) {
    snprintf(folder, sizeof folder, "%s%s%s/tls13", vectors[0] == '/' || !root ? "" : root,
             vectors[0] == '/' || !root ? "" : "/", vectors);
  } else {
    snprintf(folder, sizeof folder, "%s/../shared/vectors/tls13", root ? root : ".");
  }
  DIR *files = opendir(folder);
  if (!files || !peer("EVP_sha256")) {
    printf("skip rfc8448: there is no folder %s (EDB_VECTORS), or no libcrypto\n", folder);
    printf("rfc8448: 0 passed, 0 failed, 1 skipped\n");
    if (files) closedir(files);
    return 0;
  }
  while ((entry = readdir(files)) != NULL) {
    const size_t n = strlen(entry->d_name);
    if (n < 4 || strcmp(entry->d_name + n - 4, ".vec") != 0) {
      if (entry->d_name[0] != '.') printf("  not known: %s\n", entry->d_name);
      continue;
    }
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    go_through(path);
  }
  closedir(files);
  CHECK(sections > 0);
  return unit_done("rfc8448");
}
