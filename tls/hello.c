/*
** tls/hello.c: the ClientHello (RFC 8446 4.1.2; RFC 5246 7.4.1.2): one writer for each extension,
** in the order of tls_ext.
**
** The second one, after a HelloRetryRequest, is made from the same facts again, but for the key
** share, the cookie and the binder, which is all that may differ.
*/
#include "tlsInt.h"

/* RFC 8446 4.2.3. What is cheap to check first; then what TLS 1.2 and certificates alone may use.
** */
static const uint16_t schemes[] = {
    0x0403,                 /* ecdsa_secp256r1_sha256 */
    0x0804, 0x0809,         /* rsa_pss_rsae_sha256, rsa_pss_pss_sha256 */
    0x0807,                 /* ed25519 */
    0x0503,                 /* ecdsa_secp384r1_sha384 */
    0x0805, 0x080a,         /* rsa_pss_…_sha384 */
    0x0806, 0x080b,         /* rsa_pss_…_sha512 */
    0x0401, 0x0501, 0x0601, /* rsa_pkcs1_sha256, 384, 512 */
};
#define SCHEMES (sizeof schemes / sizeof schemes[0])
#define SCHEMES_1_3 (SCHEMES - 3) /* without PKCS#1 */

static int may_be(const tls_state *s, unsigned version) {
  return s->hs.config.min_version <= version && version <= s->hs.config.max_version;
}

int tls_scheme_offered(const tls_state *s, uint32_t scheme) {
  const size_t n = may_be(s, TLS_1_2) ? SCHEMES : SCHEMES_1_3;
  for (size_t i = 0; i < n; i++) {
    if (schemes[i] == scheme) return 1;
  }
  return 0;
}

/* ---- Extensions: each writes its body; 0 where it is left out -------------------------------- */

/* RFC 6066 3: "without a trailing dot"; "Literal IPv4 and IPv6 addresses are not permitted". */
static int server_name(tls_state *s, tls_writer *w) {
  tls_name name;
  if (!tls_name_read(&name, s->hs.config.server_name) || name.dns.n == 0) return 0;
  const size_t list = tls_write_open(w, 2);
  tls_write(w, 0, 1); /* host_name */
  tls_write(w, (uint32_t)name.dns.n, 2);
  tls_write_bytes(w, name.dns.p, name.dns.n);
  tls_write_close(w, list, 2);
  return 1;
}

static int extended_master_secret(tls_state *s, tls_writer *w) {
  (void)w;
  return may_be(s, TLS_1_2);
}

/* RFC 5746 3.4: in a first handshake it is empty. */
static int renegotiation_info(tls_state *s, tls_writer *w) {
  if (!may_be(s, TLS_1_2)) return 0;
  tls_write(w, 0, 1);
  return 1;
}

static int supported_groups(tls_state *s, tls_writer *w) {
  (void)s;
  const size_t list = tls_write_open(w, 2);
  const tls_group *group;
  for (int i = 0; (group = tls_group_offer(i)) != NULL; i++) tls_write(w, group->code, 2);
  tls_write_close(w, list, 2);
  return 1;
}

/* RFC 8422 5.1.2: uncompressed alone. */
static int ec_point_formats(tls_state *s, tls_writer *w) {
  if (!may_be(s, TLS_1_2)) return 0;
  tls_write(w, 0x0100, 2);
  return 1;
}

/* RFC 5077 3.2: the ticket, or that one is wanted. */
static int session_ticket(tls_state *s, tls_writer *w) {
  const tls_session *session = s->hs.session;
  if (!may_be(s, TLS_1_2)) return 0;
  if (session && session->version == TLS_1_2) {
    tls_write_bytes(w, session->ticket, session->ticket_size);
  }
  return 1;
}

static int alpn(tls_state *s, tls_writer *w) {
  const char *const *names = s->hs.config.alpn;
  if (!names || !*names) return 0;
  const size_t list = tls_write_open(w, 2);
  for (; *names; names++) {
    tls_write(w, (uint32_t)strlen(*names), 1);
    tls_write_bytes(w, *names, strlen(*names));
  }
  tls_write_close(w, list, 2);
  return 1;
}

static int scheme_list(tls_writer *w, size_t n) {
  const size_t list = tls_write_open(w, 2);
  for (size_t i = 0; i < n; i++) tls_write(w, schemes[i], 2);
  tls_write_close(w, list, 2);
  return 1;
}

/* What may sign the handshake; and where that leaves out PKCS#1, what may sign certificates. */
static int signature_algorithms(tls_state *s, tls_writer *w) {
  return scheme_list(w, may_be(s, TLS_1_2) ? SCHEMES : SCHEMES_1_3);
}

static int signature_algorithms_cert(tls_state *s, tls_writer *w) {
  return may_be(s, TLS_1_2) ? 0 : scheme_list(w, SCHEMES);
}

static int supported_versions(tls_state *s, tls_writer *w) {
  if (!may_be(s, TLS_1_3)) return 0;
  const size_t list = tls_write_open(w, 1);
  tls_write(w, TLS_1_3, 2);
  if (may_be(s, TLS_1_2)) tls_write(w, TLS_1_2, 2);
  tls_write_close(w, list, 1);
  return 1;
}

static int cookie(tls_state *s, tls_writer *w) {
  if (s->hs.cookie.n == 0) return 0;
  tls_write(w, (uint32_t)s->hs.cookie.n, 2);
  tls_write_bytes(w, s->hs.cookie.p, s->hs.cookie.n);
  return 1;
}

/* 4.2.9: without it servers give no tickets. psk_dhe_ke alone. */
static int psk_key_exchange_modes(tls_state *s, tls_writer *w) {
  if (!may_be(s, TLS_1_3)) return 0;
  tls_write(w, 0x0101, 2);
  return 1;
}

static int key_share(tls_state *s, tls_writer *w) {
  if (!may_be(s, TLS_1_3)) return 0;
  const size_t list = tls_write_open(w, 2);
  tls_write(w, s->hs.group->code, 2);
  tls_write(w, (uint32_t)s->hs.group->share, 2);
  tls_write_bytes(w, s->hs.share, s->hs.group->share);
  tls_write_close(w, list, 2);
  return 1;
}

static const tls_suite *session_suite(const tls_state *s) {
  return s->hs.session ? tls_suite_find(s->hs.session->suite) : NULL;
}

/* 4.2.11: one identity, and room for its binder. */
static int pre_shared_key(tls_state *s, tls_writer *w) {
  const tls_session *session = s->hs.session;
  if (!session || session->version != TLS_1_3) return 0;
  const size_t binder = session_suite(s)->hash->size;
  const uint64_t age = (uint64_t)(s->hs.config.now - session->received) * 1000;
  const size_t identities = tls_write_open(w, 2);
  tls_write(w, (uint32_t)session->ticket_size, 2);
  tls_write_bytes(w, session->ticket, session->ticket_size);
  tls_write(w, (uint32_t)age + session->age_add, 4); /* modulo 2^32 (4.2.11.1) */
  tls_write_close(w, identities, 2);
  const uint8_t none[TLS_SECRET_MAX] = {0};
  tls_write(w, (uint32_t)binder + 1, 2);
  tls_write(w, (uint32_t)binder, 1);
  tls_write_bytes(w, none, binder);
  return 1;
}

static int (*const writers[TLS_EXT_COUNT])(tls_state *s, tls_writer *w) = {
    [TLS_EXT_SERVER_NAME] = server_name,
    [TLS_EXT_EXTENDED_MASTER_SECRET] = extended_master_secret,
    [TLS_EXT_RENEGOTIATION_INFO] = renegotiation_info,
    [TLS_EXT_SUPPORTED_GROUPS] = supported_groups,
    [TLS_EXT_EC_POINT_FORMATS] = ec_point_formats,
    [TLS_EXT_SESSION_TICKET] = session_ticket,
    [TLS_EXT_ALPN] = alpn,
    [TLS_EXT_SIGNATURE_ALGORITHMS] = signature_algorithms,
    [TLS_EXT_SIGNATURE_ALGORITHMS_CERT] = signature_algorithms_cert,
    [TLS_EXT_SUPPORTED_VERSIONS] = supported_versions,
    [TLS_EXT_COOKIE] = cookie,
    [TLS_EXT_PSK_KEY_EXCHANGE_MODES] = psk_key_exchange_modes,
    [TLS_EXT_KEY_SHARE] = key_share,
    [TLS_EXT_PRE_SHARED_KEY] = pre_shared_key,
};

/* ---- The message ----------------------------------------------------------------------------- */

/* 4.2.11.2: the binder is over the transcript up to itself, which ends the message. */
static void bind(const tls_state *s, uint8_t *message, size_t n) {
  const ecr_hash *hash = session_suite(s)->hash;
  const size_t truncated = n - (2 + 1 + hash->size);
  uint8_t digest[ECR_HASH_MAX];
  tls_transcript t = s->hs.transcript; /* of a HelloRetryRequest, or not begun */
  if (!t.hash) tls_transcript_start(&t, hash);
  tls_transcript_add(&t, (tls_bytes){message, truncated});
  tls_transcript_digest(&t, digest);
  tls13_binder(hash, s->hs.session->secret, digest, message + n - hash->size);
}

size_t tls_hello_make(tls_state *s, uint8_t *out, size_t size) {
  tls_handshake *hs = &s->hs;
  tls_writer w = {out, size, 0, 0};
  const tls_suite *suite;
  hs->offered = 0;
  tls_write(&w, TLS_CLIENT_HELLO, 1);
  const size_t body = tls_write_open(&w, 3);
  tls_write(&w, TLS_1_2, 2); /* legacy_version: 1.3 is in supported_versions */
  tls_write_bytes(&w, hs->random, sizeof hs->random);
  tls_write(&w, (uint32_t)hs->session_id_size, 1);
  tls_write_bytes(&w, hs->session_id, hs->session_id_size);
  const size_t suites = tls_write_open(&w, 2);
  for (int i = 0; (suite = tls_suite_offer(i)) != NULL; i++) {
    if (may_be(s, suite->version)) tls_write(&w, suite->code, 2);
  }
  tls_write_close(&w, suites, 2);
  tls_write(&w, 0x0100, 2); /* legacy_compression_methods: null */
  const size_t extensions = tls_write_open(&w, 2);
  for (int i = 0; i < TLS_EXT_COUNT; i++) {
    const size_t start = w.i;
    if (!writers[i]) continue;
    tls_write(&w, tls_ext_code((tls_ext)i), 2);
    const size_t content = tls_write_open(&w, 2);
    if (writers[i](s, &w)) {
      tls_write_close(&w, content, 2);
      hs->offered |= (uint32_t)1 << i;
    } else if (!w.bad) {
      w.i = start;
    }
  }
  tls_write_close(&w, extensions, 2);
  tls_write_close(&w, body, 3);
  if (w.bad) return 0;
  if (tls_has(hs->offered, TLS_EXT_PRE_SHARED_KEY)) bind(s, out, w.i);
  return w.i;
}
