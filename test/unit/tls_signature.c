/*
** tls_signature.c: which key may sign by which SignatureScheme in which version: every key with
** every scheme, signed by libcrypto; and the keys that are not taken.
*/
#include "x509_keys.h"
#include "tls/x509Int.h"

static const char message[] = "what is signed";
enum { K256, K384, KRSA, KPSS, KED, KEYS };
static const char *const names[KEYS] = {"p256", "p384", "rsa", "pss", "ed25519"};

/* RFC 8446 4.2.3 and RFC 5246 7.4.1.4.1, written down once more: the keys that may, as letters:
** P(-256), Q (P-384), R(SA), S (PSS only), E(d25519). */
static const struct {
  uint16_t scheme;
  const char *hash, *pss, *in13, *in12, *in_certificate;
} schemes[] = {
    {0x0201, "SHA1", NULL, "", "", ""},
    {0x0203, "SHA1", NULL, "", "", ""},
    {0x0401, "SHA256", NULL, "", "R", "R"},
    {0x0501, "SHA384", NULL, "", "R", "R"},
    {0x0601, "SHA512", NULL, "", "R", "R"},
    {0x0403, "SHA256", NULL, "P", "PQ", "PQ"},
    {0x0503, "SHA384", NULL, "Q", "PQ", "PQ"},
    {0x0603, "SHA512", NULL, "", "PQ", "PQ"},
    {0x0804, "SHA256", "digest", "R", "R", ""},
    {0x0805, "SHA384", "digest", "R", "R", ""},
    {0x0806, "SHA512", "digest", "R", "R", ""},
    {0x0809, "SHA256", "digest", "S", "S", "RS"},
    {0x080a, "SHA384", "digest", "S", "S", "RS"},
    {0x080b, "SHA512", "digest", "S", "S", "RS"},
    {0x0807, NULL, NULL, "E", "E", "E"},
    {0x0808, NULL, NULL, "", "", ""},
    {0, "SHA256", NULL, "", "", ""},
};

static ecr_status check(const tls_public_key *key, uint16_t scheme, int what, const uint8_t *s,
                        size_t n) {
  const size_t size = sizeof message - 1;
  if (what == TLS_SIGNED_CERTIFICATE) {
    return tls_signature_check(key, scheme, TLS_SIGNED_CERTIFICATE, message, size, s, n);
  }
  return tls_signature_verify(key, scheme, what == TLS_SIGNED_13 ? 0x0304 : 0x0303, message, size,
                              s, n);
}

static void test_pair(const test_key *k, int number, size_t row) {
  static const char letters[] = "PQRSE";
  const char *const may[] = {schemes[row].in13, schemes[row].in12, schemes[row].in_certificate};
  const int is_rsa = number == KRSA || number == KPSS, is_ed = number == KED;
  uint8_t signature[600];
  tls_public_key ours;
  size_t n = 0;
  CHECK_INT(tls_public_key_read(&ours, tls_bytes_of(k->spki, k->spki_size)), ECR_OK);
  /* A signature that is right as mathematics goes, wherever the key can give one by such a scheme. */
  const char *pss = schemes[row].pss ? "digest" : number == KPSS ? "digest" : NULL;
  if (is_rsa || !pss)
    n = key_sign(k,
                 is_ed               ? NULL
                 : schemes[row].hash ? schemes[row].hash
                                     : "SHA256",
                 is_rsa ? pss : NULL, message, sizeof message - 1, signature, sizeof signature);
  for (int what = 0; what < TLS_SIGNED_KINDS; what++) {
    const int expected = strchr(may[what], letters[number]) != NULL;
    if (!CHECK_INT(check(&ours, schemes[row].scheme, what, signature, n),
                   expected ? ECR_OK : ECR_INVALID)) {
      printf("  %s, scheme %04x, what %d\n", k->name, schemes[row].scheme, what);
    }
    if (!expected) continue;
    signature[n - 1] ^= 1;
    CHECK_INT(check(&ours, schemes[row].scheme, what, signature, n), ECR_REFUSED);
    signature[n - 1] ^= 1;
    CHECK_INT(check(&ours, schemes[row].scheme, what, signature, n - 1), ECR_REFUSED);
    CHECK_INT(check(&ours, schemes[row].scheme, what, signature, 0), ECR_REFUSED);
  }
}

/* A salt of another length than the digest's. */
static void test_salt(const test_key *k) {
  uint8_t signature[600];
  tls_public_key ours;
  const size_t n = key_sign(k, "SHA256", "20", message, sizeof message - 1, signature, 600);
  CHECK_INT(tls_public_key_read(&ours, tls_bytes_of(k->spki, k->spki_size)), ECR_OK);
  CHECK_INT(check(&ours, 0x0804, TLS_SIGNED_13, signature, n), ECR_REFUSED);
}

static void test_versions(const test_key *k) {
  uint8_t signature[600];
  tls_public_key ours;
  const size_t n = key_sign(k, "SHA256", NULL, message, sizeof message - 1, signature, 600);
  CHECK_INT(tls_public_key_read(&ours, tls_bytes_of(k->spki, k->spki_size)), ECR_OK);
  for (unsigned version = 0x0300; version < 0x0306; version++) {
    CHECK_INT(
        tls_signature_verify(&ours, 0x0403, version, message, sizeof message - 1, signature, n),
        version == 0x0303 || version == 0x0304 ? ECR_OK : ECR_INVALID);
  }
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static int read_key(const uint8_t *p, size_t n) {
  tls_public_key ours;
  return (int)tls_public_key_read(&ours, tls_bytes_of(p, n));
}

static void test_kinds(void) {
  static const struct {
    const char *name;
    int status;
  } kinds[] = {{"p256", ECR_OK},          {"p384", ECR_OK},         {"rsa", ECR_OK},
               {"pss", ECR_OK},           {"ed25519", ECR_OK},      {"p521", ECR_INVALID},
               {"explicit", ECR_INVALID}, {"rsa1024", ECR_INVALID}, {"rsa2052", ECR_INVALID},
               {"ed448", ECR_INVALID}};
  uint8_t *const end = guarded(sizeof((test_key *)0)->spki) + sizeof((test_key *)0)->spki;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    test_key k;
    if (!key_make(&k, kinds[i].name)) continue;
    if (!CHECK_INT(read_key(k.spki, k.spki_size), kinds[i].status)) printf("  %s\n", k.name);
    /* Cut short at each place, and with a byte behind it. */
    for (size_t n = 0; n < k.spki_size; n++) {
      if (n) memcpy(end - n, k.spki, n);
      CHECK(read_key(end - n, n) == ECR_REFUSED);
    }
    CHECK_INT(read_key(k.spki, k.spki_size + 1), ECR_REFUSED);
    key_free(&k);
  }
}

static void test_hand_made(void) {
  /* Ed25519 with parameters; P-256 compressed, hybrid, and short of a byte; spare bits in the BIT STRING. */
  bytes b = hex("302c 3007 06032b6570 0500 0321 00"
                "0000000000000000000000000000000000000000000000000000000000000000");
  CHECK_INT(read_key(b.p, b.n), ECR_INVALID);
  b = hex("302a 3005 06032b6570 0321 00 00000000000000000000000000000000000000000000000000000000"
          "00000000");
  CHECK_INT(read_key(b.p, b.n), ECR_OK);
  b.p[11] = 1;
  CHECK_INT(read_key(b.p, b.n), ECR_REFUSED);
  b = hex("3039 3013 06072a8648ce3d0201 06082a8648ce3d030107 0322 00 02"
          "0000000000000000000000000000000000000000000000000000000000000000");
  CHECK_INT(read_key(b.p, b.n), ECR_INVALID);
  b = hex("3059 3013 06072a8648ce3d0201 06082a8648ce3d030107 0342 00 06"
          "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
          "000000000000000000000000000000000000000000");
  CHECK_INT(read_key(b.p, b.n), ECR_INVALID);
}

/* RSA by hand: the modulus' first and last byte, and the exponent. */
static int read_rsa(size_t size, int first, int last, const char *exponent) {
  static const uint8_t identifier[] = {0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86,
                                       0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00};
  uint8_t p[1200];
  const bytes e = hex(exponent);
  const size_t inner = size + 1 + 4 + 2 + e.n, key = inner + 4,
               all = key + 1 + 4 + sizeof identifier;
  const size_t sizes[] = {all, key + 1, inner, size + 1};
  static const uint8_t tags[] = {0x30, 0x03, 0x30, 0x02};
  size_t n = 0;
  for (int i = 0; i < 4; i++) {
    p[n++] = tags[i], p[n++] = 0x82, p[n++] = (uint8_t)(sizes[i] >> 8), p[n++] = (uint8_t)sizes[i];
    if (i == 0) memcpy(p + n, identifier, sizeof identifier), n += sizeof identifier;
    if (i == 1 || i == 3) p[n++] = 0;
  }
  memset(p + n, 0x5a, size);
  p[n] = (uint8_t)first, p[n + size - 1] = (uint8_t)last;
  n += size;
  p[n++] = 2, p[n++] = (uint8_t)e.n;
  memcpy(p + n, e.p, e.n);
  return read_key(p, n + e.n);
}

static void test_rsa(void) {
  CHECK_INT(read_rsa(256, 0x80, 1, "010001"), ECR_OK);
  CHECK_INT(read_rsa(1024, 0x80, 1, "03"), ECR_OK);
  CHECK_INT(read_rsa(255, 0x80, 1, "010001"), ECR_INVALID);
  CHECK_INT(read_rsa(1025, 0x80, 1, "010001"), ECR_INVALID);
  CHECK_INT(read_rsa(256, 0x7f, 1, "010001"), ECR_REFUSED); /* a zero to spare */
  CHECK_INT(read_rsa(256, 0x80, 2, "010001"), ECR_INVALID);
  CHECK_INT(read_rsa(256, 0x80, 1, "01"), ECR_INVALID);
  CHECK_INT(read_rsa(256, 0x80, 1, "04"), ECR_INVALID);
  CHECK_INT(read_rsa(256, 0x80, 1, "00"), ECR_INVALID);
  CHECK_INT(read_rsa(256, 0x80, 1, "0100000001"), ECR_INVALID);
  CHECK_INT(read_rsa(256, 0x80, 1, "0003"), ECR_REFUSED);
  CHECK_INT(read_rsa(256, 0x80, 1, "ff"), ECR_REFUSED); /* negative */
}

/* A key that its AlgorithmIdentifier binds to one hash signs by no other. */
static void test_bound(const test_key *k) {
  bytes bound =
      hex("3041 06092a864886f70d01010a 3034 a00f 300d 0609608648016503040201 0500 a11c 301a"
          "06092a864886f70d010108 300d 0609608648016503040201 0500 a203 020120");
  uint8_t p[1200] = {0x30, 0x82}, signature[600];
  const size_t rest = k->spki_size - 4 - 13; /* behind the plain identifier */
  tls_public_key ours;
  memcpy(p + 4, bound.p, bound.n);
  memcpy(p + 4 + bound.n, k->spki + 4 + 13, rest);
  p[2] = (uint8_t)((bound.n + rest) >> 8), p[3] = (uint8_t)(bound.n + rest);
  const size_t size = 4 + bound.n + rest;
  if (!CHECK_INT(tls_public_key_read(&ours, tls_bytes_of(p, size)), ECR_OK)) return;
  size_t n = key_sign(k, "SHA256", "digest", message, sizeof message - 1, signature, 600);
  CHECK_INT(check(&ours, 0x0809, TLS_SIGNED_13, signature, n), ECR_OK);
  n = key_sign(k, "SHA384", "digest", message, sizeof message - 1, signature, 600);
  CHECK_INT(check(&ours, 0x080a, TLS_SIGNED_13, signature, n), ECR_INVALID);
  /* Parameters that do not agree: the mask of another hash, a salt of 20 bytes. */
  p[4 + 60] = 2;
  CHECK_INT(read_key(p, size), ECR_INVALID);
  p[4 + 60] = 1;
  p[4 + 66] = 20;
  CHECK_INT(read_key(p, size), ECR_INVALID);
}

int main(void) {
  static test_key keys[KEYS];
  CHECK_STR(tls_alert_name(TLS_ALERT_BAD_CERTIFICATE), "bad_certificate");
  CHECK_STR(tls_alert_name(TLS_ALERT_CLOSE_NOTIFY), "close_notify");
  CHECK_STR(tls_alert_name(TLS_ALERT_NO_APPLICATION_PROTOCOL), "no_application_protocol");
  CHECK_STR(tls_alert_name(1), "unknown alert");
  CHECK_STR(tls_alert_name(-1), "unknown alert");
  test_hand_made();
  test_rsa();
  if (keys_open()) {
    for (int i = 0; i < KEYS; i++) {
      if (!key_make(&keys[i], names[i])) continue;
      for (size_t row = 0; row < sizeof schemes / sizeof *schemes; row++) {
        test_pair(&keys[i], i, row);
      }
    }
    test_salt(&keys[KRSA]);
    test_versions(&keys[K256]);
    test_bound(&keys[KPSS]);
    for (int i = 0; i < KEYS; i++) key_free(&keys[i]);
    test_kinds();
  }
  return unit_done("tls_signature");
}
