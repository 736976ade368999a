/*
** tls_path.c: paths to roots: any order, needless certificates, more than one way, loops, depth,
** and servers that send what makes a search long; and what is trusted: roots, pins, a certificate
** that is its own root, PEM.
*/
#include <time.h>

#include "x509_maker.h"
#include "tls/x509Int.h"

#define NOW 1800000000
#define CERTIFICATES 20

enum { ROOT, A, B, C, LEAF, OTHER, KEYS };
static test_key keys[KEYS];
static made *certificates; /* as many as CERTIFICATES */
static tls_failure failure;
static tls_public_key found;
static uint8_t room[400000];
static tls_anchor anchors[CERTIFICATES];
static tls_trust trust;

static tls_bytes bytes_of(const made *d) { return tls_bytes_of(d->p, d->n); }

static made *put_certificate(int i, const spec *s) {
  make(&certificates[i], s);
  return &certificates[i];
}

static void trust_none(void) { tls_trust_init(&trust, anchors, CERTIFICATES, room, sizeof room); }

static ecr_status trust_root(const made *d) { return tls_trust_add_der(&trust, d->p, d->n); }

/* The certificates by number, up to -1. */
static ecr_status verify_depth(const int *order, unsigned depth) {
  const tls_verify verify = {
      .trust = &trust, .server_name = "db.example", .now = NOW, .max_depth = depth};
  tls_bytes sent[CERTIFICATES];
  size_t n = 0;
  for (; order[n] >= 0; n++) sent[n] = bytes_of(&certificates[order[n]]);
  return tls_verify_chain(&verify, sent, n, &found, &failure);
}

#define VERIFY(...) verify_depth((const int[]){__VA_ARGS__, -1}, 0)
#define VERIFY_DEPTH(depth, ...) verify_depth((const int[]){__VA_ARGS__, -1}, depth)

/* Whether that is the verdict, for that reason. */
#define REFUSED(status, words)                                                                     \
  do {                                                                                             \
    CHECK_INT(status, ECR_REFUSED);                                                                \
    if (!CHECK(strstr(failure.reason, words) != NULL)) printf("  %s\n", failure.reason);           \
  } while (0)

static spec ca(const char *subject, int key, const char *issuer, int by) {
  return spec_ca(subject, &keys[key], issuer, &keys[by]);
}

static spec leaf(const char *issuer, int by) {
  return spec_leaf("CN=db.example", "dns:db.example", &keys[LEAF], issuer, &keys[by]);
}

/* 0: the root; 1, 2, 3: A, B and C, each under the one before; 4: the leaf under C. */
static void make_line(void) {
  spec s = ca("CN=Root", ROOT, "CN=Root", ROOT);
  put_certificate(0, &s);
  s = ca("CN=A", A, "CN=Root", ROOT), put_certificate(1, &s);
  s = ca("CN=B", B, "CN=A", A), put_certificate(2, &s);
  s = ca("CN=C", C, "CN=B", B), put_certificate(3, &s);
  s = leaf("CN=C", C), put_certificate(4, &s);
  trust_none();
  CHECK_INT(trust_root(&certificates[0]), ECR_OK);
}

static void test_order(void) {
  make_line();
  CHECK_INT(VERIFY(4, 3, 2, 1), ECR_OK);
  CHECK_INT(VERIFY(4, 1, 2, 3), ECR_OK);
  CHECK_INT(VERIFY(4, 2, 0, 3, 1, 1, 3), ECR_OK);
  CHECK_INT(VERIFY(4, 3, 2, 1, 0), ECR_OK);
  REFUSED(VERIFY(4, 3, 2), "no root that is trusted");
  REFUSED(VERIFY(4, 2, 1), "no root that is trusted");
  REFUSED(VERIFY(4), "no root that is trusted");
  CHECK_INT(failure.alert, TLS_ALERT_UNKNOWN_CA);
  REFUSED(VERIFY(3, 2, 1), "certification authority's");
  REFUSED(verify_depth((const int[]){-1}, 0), "no certificate");
  CHECK_INT(failure.alert, TLS_ALERT_DECODE_ERROR);
  /* Needless ones may be anything; they are passed over. */
  certificates[5].n = 3;
  memcpy(certificates[5].p, "abc", 3);
  CHECK_INT(VERIFY(4, 5, 3, 2, 1), ECR_OK);
  REFUSED(VERIFY(5, 4, 3, 2, 1), "malformed");
  CHECK_INT(VERIFY(4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 3, 2, 1), ECR_OK);
  REFUSED(VERIFY(4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 3, 2, 1), "too many");
  /* An issuer may be the root itself. */
  trust_none();
  CHECK_INT(trust_root(&certificates[2]), ECR_OK);
  CHECK_INT(VERIFY(4, 3), ECR_OK);
  REFUSED(VERIFY(4, 1, 0), "no root");
}

static void test_depth(void) {
  make_line();
  CHECK_INT(VERIFY_DEPTH(3, 4, 3, 2, 1), ECR_OK);
  REFUSED(VERIFY_DEPTH(2, 4, 3, 2, 1), "longer than allowed");
  REFUSED(VERIFY_DEPTH(TLS_DEPTH_NONE, 4, 3, 2, 1), "longer than allowed");
  trust_root(&certificates[3]);
  CHECK_INT(VERIFY_DEPTH(TLS_DEPTH_NONE, 4), ECR_OK);

  /* Ten in a line: the default is eight. */
  char names[11][16];
  spec s = ca("CN=0", ROOT, "CN=0", ROOT);
  put_certificate(0, &s);
  snprintf(names[0], sizeof names[0], "CN=0");
  for (int i = 1; i <= 10; i++) {
    snprintf(names[i], sizeof names[i], "CN=%d", i);
    s = ca(names[i], A, names[i - 1], i == 1 ? ROOT : A);
    put_certificate(i, &s);
  }
  s = leaf(names[8], A), put_certificate(11, &s);
  s = leaf(names[9], A), put_certificate(12, &s);
  trust_none();
  trust_root(&certificates[0]);
  CHECK_INT(VERIFY(11, 8, 7, 6, 5, 4, 3, 2, 1), ECR_OK);
  REFUSED(VERIFY(12, 9, 8, 7, 6, 5, 4, 3, 2, 1), "longer than allowed");
  CHECK_INT(VERIFY_DEPTH(9, 12, 9, 8, 7, 6, 5, 4, 3, 2, 1), ECR_OK);
}

static void test_path_length(void) {
  make_line();
  spec s = ca("CN=A", A, "CN=Root", ROOT);
  spec_set(&s, BASIC, 1, "3006 0101ff 020101");
  put_certificate(1, &s);
  REFUSED(VERIFY(4, 3, 2, 1), "pathLenConstraint");
  spec_set(&s, BASIC, 1, "3006 0101ff 020102");
  put_certificate(1, &s);
  CHECK_INT(VERIFY(4, 3, 2, 1), ECR_OK);
  /* Of the root, and one that is self-issued in between, which does not count. */
  s = ca("CN=Root", ROOT, "CN=Root", ROOT);
  spec_set(&s, BASIC, 1, "3006 0101ff 020102");
  put_certificate(0, &s);
  trust_none();
  trust_root(&certificates[0]);
  REFUSED(VERIFY(4, 3, 2, 1), "pathLenConstraint");
  s = ca("CN=A", A, "CN=Root", ROOT), put_certificate(1, &s);
  s = ca("CN=A", B, "CN=A", A), put_certificate(2, &s);
  s = ca("CN=C", C, "CN=A", B), put_certificate(3, &s);
  CHECK_INT(VERIFY(4, 3, 2, 1), ECR_OK);
  CHECK_INT(VERIFY_DEPTH(2, 4, 3, 2, 1), ECR_OK);
}

/* The same issuer from two sides, one of which is no way: expired, not an authority, of no root,
** constrained. */
static void test_alternatives(void) {
  static const struct {
    const char *what, *value;
  } faults[] = {{NULL, "170d3236303130313030303030305a"},
                {BASIC, "3000"},
                {USAGE, "0302 0780"},
                {"2a0304", "0500"},
                {CONSTRAINTS, "3009 a007 3005 8203 636f6d"}};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    make_line();
    spec s = ca("CN=Other", OTHER, "CN=Root", ROOT);
    put_certificate(5, &s);
    s = ca("CN=C", C, "CN=Other", OTHER);
    if (faults[i].what) spec_set(&s, faults[i].what, 1, faults[i].value);
    if (!faults[i].what) s.not_after = faults[i].value;
    put_certificate(6, &s);
    CHECK_INT(VERIFY(4, 6, 5, 3, 2, 1), ECR_OK);
    CHECK_INT(VERIFY(4, 3, 2, 1, 6, 5), ECR_OK);
    CHECK_INT(VERIFY(4, 6, 5), ECR_REFUSED);
  }
  /* Constraints of the one do not hold on the other; here both lead to the root, one of them by way of A. */
  make_line();
  spec s = ca("CN=A", A, "CN=Root", ROOT);
  spec_constraints(&s, "dns:example.com", NULL);
  put_certificate(1, &s);
  REFUSED(VERIFY(4, 3, 2, 1), "nameConstraints");
  s = ca("CN=B", B, "CN=Root", ROOT), put_certificate(5, &s);
  CHECK_INT(VERIFY(4, 3, 2, 1, 5), ECR_OK);
}

/* Name constraints hold for every name below but a self-issued issuer's, and are added up. */
static void test_constraints(void) {
  make_line();
  spec s = ca("CN=A", A, "CN=Root", ROOT);
  spec_constraints(&s, "dir:CN=B dir:CN=C dir:CN=db.example dns:example", NULL);
  put_certificate(1, &s);
  CHECK_INT(VERIFY(4, 3, 2, 1), ECR_OK);
  spec_constraints(&s, "dir:CN=B dir:CN=db.example dns:example", NULL);
  put_certificate(1, &s);
  REFUSED(VERIFY(4, 3, 2, 1), "nameConstraints");
  spec_constraints(&s, "dns:example", NULL);
  put_certificate(1, &s);
  spec t = ca("CN=B", B, "CN=A", A);
  spec_constraints(&t, "dns:other", NULL);
  put_certificate(2, &t);
  REFUSED(VERIFY(4, 3, 2, 1), "nameConstraints");
  /* A certificate with the names of its issuer is spared, unless it is the server's. */
  spec_constraints(&s, NULL, "dir:CN=A");
  put_certificate(1, &s);
  t = ca("CN=A", B, "CN=A", A), put_certificate(2, &t);
  t = ca("CN=C", C, "CN=A", B), put_certificate(3, &t);
  CHECK_INT(VERIFY(4, 3, 2, 1), ECR_OK);
  t = leaf("CN=A", A);
  t.subject = "CN=A", put_certificate(5, &t);
  REFUSED(VERIFY(5, 1), "nameConstraints");
}

/* ---- Servers that make it long --------------------------------------------------------------- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Fifteen issuers of one name, and what each of them signs: all the same key or not. None is a
** root's. */
static void test_same_name(int same_key) {
  test_key *many = calloc(15, sizeof *many);
  spec s;
  for (int i = 0; i < 15; i++) {
    if (!same_key || i == 0) key_make(&many[i], "p256");
    if (same_key) many[i] = many[0];
  }
  for (int i = 0; i < 15; i++) {
    char serial[24];
    s = spec_ca("CN=Loop", &many[i], "CN=Loop", &many[(i + 1) % 15]);
    snprintf(serial, sizeof serial, "%02d%02d", 11 + i, 22);
    s.serial = serial;
    /* No key identifiers to tell one from the other. */
    spec_set(&s, KEY_ID, 0, "0401 05");
    spec_set(&s, ISSUER_KEY_ID, 0, "3003 800105");
    put_certificate(1 + i, &s);
  }
  s = spec_leaf("CN=db.example", "dns:db.example", &keys[LEAF], "CN=Loop", &many[0]);
  spec_set(&s, ISSUER_KEY_ID, 0, "3003 800105");
  put_certificate(0, &s);
  const double before = seconds();
  CHECK_INT(VERIFY_DEPTH(15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), ECR_REFUSED);
  CHECK(seconds() - before < 2);
  CHECK(strstr(failure.reason, same_key ? "no root" : "too much work") != NULL);
  for (int i = 0; i < 15; i++) {
    if (!same_key || i == 0) key_free(&many[i]);
  }
  free(many);
}

/* Issuers that sign each other, each with each: every path there is leads nowhere, and there are
** thousands. */
static void test_mesh(void) {
  int n = 1;
  for (int i = A; i <= C; i++) {
    for (int k = A; k <= C; k++) {
      static const char *const names[] = {"", "CN=A", "CN=B", "CN=C"};
      const spec s = ca(names[i], i, names[k], k);
      if (i != k) put_certificate(n++, &s);
    }
  }
  const spec s = leaf("CN=A", A);
  put_certificate(0, &s);
  const double before = seconds();
  REFUSED(VERIFY_DEPTH(15, 0, 1, 2, 3, 4, 5, 6), "no root");
  REFUSED(VERIFY_DEPTH(15, 0, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2), "too much work");
  CHECK(seconds() - before < 2);
  /* With a root at the end of it, it is found. */
  const spec t = ca("CN=C", C, "CN=Root", ROOT);
  put_certificate(7, &t);
  CHECK_INT(VERIFY_DEPTH(15, 0, 1, 2, 3, 4, 5, 6, 7), ECR_OK);
}

/* Seven issuers in a line, two certificates for each: 128 ways of 26 pairs, which are verified once
** each. At the end of every way stand roots that are over; looking at them is a step as well. */
static void test_ways(void) {
  static const struct {
    int roots;
    const char *reason;
  } cases[] = {{0, "no root"}, {5, "has expired"}, {8, "too much work"}};
  static const char *const names[] = {"CN=Top", "CN=1", "CN=2", "CN=3",
                                      "CN=4",   "CN=5", "CN=6", "CN=7"};
  char serial[12];
  spec s = spec_leaf("CN=db.example", "dns:db.example", &keys[LEAF], names[7], &keys[A]);
  put_certificate(0, &s);
  for (int i = 0; i < 14; i++) {
    s = ca(names[1 + i / 2], A, names[i / 2], A);
    s.serial = i % 2 ? "11" : "12";
    put_certificate(1 + i, &s);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    trust_none();
    s = ca("CN=Root", ROOT, "CN=Root", ROOT);
    trust_root(put_certificate(15, &s));
    s = ca("CN=Top", A, "CN=Top", A);
    s.not_after = "170d3236303130313030303030305a";
    for (int k = 0; k < cases[i].roots; k++) {
      snprintf(serial, sizeof serial, "%d", 21 + k);
      s.serial = serial;
      CHECK_INT(trust_root(put_certificate(15, &s)), ECR_OK);
    }
    REFUSED(VERIFY(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14), cases[i].reason);
  }
}

/* As many names as constraints, and very many of both. */
static void test_many_names(void) {
  made *names = calloc(3, sizeof *names), *subtrees = names + 1, *one = names + 2;
  for (int i = 0; i < 600; i++) {
    char name[32];
    snprintf(name, sizeof name, "n%d.example", i);
    put(names, 0x82, name, strlen(name));
    one->n = 0;
    put(one, 0x82, name, strlen(name));
    put(subtrees, 0x30, one->p, one->n);
  }
  put(names, 0x82, "db.example", 10);
  wrap(names, 0x30);
  wrap(subtrees, 0xa1);
  tls_certificate c = {0};
  unsigned work = TLS_VERIFY_COMPARISONS;
  tls_der whole = tls_der_of(bytes_of(names));
  c.names = tls_der_take(&whole, 0x30);
  static const uint8_t empty[] = {0x30, 0};
  c.subject = tls_bytes_of(empty, 2);
  subtrees->p[subtrees->n - 1] = 'x'; /* so that the last is none of the names */
  const double before = seconds();
  CHECK_INT(tls_constraints_check(bytes_of(subtrees), &c, &work), TLS_FLAW_NOT_PERMITTED);
  /* None of them excluded: all are compared, until there is no more work to be had. */
  for (size_t i = 0; i + 8 < subtrees->n; i++) {
    if (memcmp(subtrees->p + i, ".example", 8) == 0)
      subtrees->p[i + 1] = 'E', subtrees->p[i + 2] = '0';
  }
  work = TLS_VERIFY_COMPARISONS;
  CHECK_INT(tls_constraints_check(bytes_of(subtrees), &c, &work), TLS_FLAW_WORK);
  CHECK_INT(work, 0);
  CHECK(seconds() - before < 2);
  free(names);
}

/* ---- Trust ----------------------------------------------------------------------------------- */

static void sha256(const void *p, size_t n, uint8_t out[32]) {
  ecr_hash_context context;
  ecr_sha256.init(&context);
  ecr_sha256.update(&context, p, n);
  ecr_sha256.digest(&context, out);
}

static void test_pins(void) {
  uint8_t pins[2][32] = {{0}}, spki[1][32] = {{0}};
  make_line();
  trust_none();
  REFUSED(VERIFY(4, 3, 2, 1), "neither a root nor a pin");
  CHECK_INT(tls_spki_hash(certificates[4].p, certificates[4].n, spki[0]), ECR_OK);
  sha256(keys[LEAF].spki, keys[LEAF].spki_size, pins[1]);
  CHECK_BYTES(spki[0], 32, pins[1], 32);
  trust.pins = (const uint8_t(*)[32])pins;
  trust.pin_count = 1;
  REFUSED(VERIFY(4, 3, 2, 1), "pinned");
  trust.pin_count = 2;
  CHECK_INT(VERIFY(4), ECR_OK);
  CHECK_INT(found.kind, TLS_KEY_P256);
  /* An issuer's pin is nothing. */
  sha256(keys[C].spki, keys[C].spki_size, pins[1]);
  REFUSED(VERIFY(4, 3, 2, 1), "pinned");
  trust_none();
  sha256(certificates[4].p, certificates[4].n, pins[0]);
  trust.certificate_pins = (const uint8_t(*)[32])pins;
  trust.certificate_pin_count = 1;
  CHECK_INT(VERIFY(4), ECR_OK);
  pins[0][31] ^= 1;
  REFUSED(VERIFY(4), "pinned");
  /* A root beside it will do too. */
  trust_root(&certificates[0]);
  CHECK_INT(VERIFY(4, 3, 2, 1), ECR_OK);
  CHECK_INT(tls_spki_hash(certificates[4].p, certificates[4].n - 1, spki[0]), ECR_INVALID);
}

/* A certificate that is its own root, or pinned: its issuers are not asked for, everything else
** is. */
static void test_own(void) {
  static const struct {
    const char *what, *value, *reason;
  } cases[] = {
      {BASIC, "3003 0101ff", NULL}, /* as `openssl req -x509` makes them */
      {BASIC, NULL, NULL},
      {PURPOSE, NULL, NULL},
      {PURPOSE, "300a 0608 2b06010505070302", "serverAuth"},
      {USAGE, NULL, NULL},
      {USAGE, "0302 0520", "keyUsage"},
      {USAGE, "0302 0284", "has keyCertSign"},
      {KEY_ID, NULL, NULL},
      {NAMES, NULL, "subjectAltName"},
      {NAMES, "3003 820178", "another name"},
      {CONSTRAINTS, "300d a00b 3009 8207 6578616d706c65", "nameConstraints"},
      {"2a0304", "0500", "critical"},
      {"551d24", "3003 800100", "policies"},
      {"not_before", "170d3238303130313030303030305a", "not valid yet"},
      {"not_after", "170d3236303130313030303030305a", "expired"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int how = 0; how < 2; how++) {
      uint8_t pin[1][32];
      spec s = spec_leaf("CN=server.other", "dns:db.example", &keys[LEAF], "CN=server.other",
                         &keys[LEAF]);
      s.serial = "00";
      if (strcmp(cases[i].what, "not_before") == 0)
        s.not_before = cases[i].value;
      else if (strcmp(cases[i].what, "not_after") == 0)
        s.not_after = cases[i].value;
      else
        spec_set(&s, cases[i].what, 1, cases[i].value);
      put_certificate(0, &s);
      trust_none();
      sha256(certificates[0].p, certificates[0].n, pin[0]);
      if (how == 0) CHECK_INT(trust_root(&certificates[0]), ECR_OK);
      if (how == 1)
        trust.certificate_pins = (const uint8_t(*)[32])pin, trust.certificate_pin_count = 1;
      if (cases[i].reason)
        REFUSED(VERIFY(0), cases[i].reason);
      else if (!CHECK_INT(VERIFY(0), ECR_OK))
        printf("  case %zu: %s\n", i, failure.reason);
      /* Another certificate of that name, not the one that is trusted. */
      spec t = spec_leaf("CN=server.other", "dns:db.example", &keys[OTHER], "CN=server.other",
                         &keys[OTHER]);
      put_certificate(1, &t);
      CHECK_INT(VERIFY(1, 0), ECR_REFUSED);
    }
  }
}

static size_t encode(const made *d, char *out, size_t width) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t n = 0;
  for (size_t i = 0; i < d->n; i += 3) {
    const unsigned b = i + 1 < d->n ? d->p[i + 1] : 0, c = i + 2 < d->n ? d->p[i + 2] : 0;
    const unsigned v = (unsigned)d->p[i] << 16 | b << 8 | c;
    for (int k = 0; k < 4; k++)
      out[n++] = i + (size_t)k > d->n ? '=' : digits[v >> (18 - 6 * k) & 63];
    if (width && i / 3 % (width / 4) == width / 4 - 1) out[n++] = '\n';
  }
  out[n] = 0;
  return n;
}

static tls_added added;

static int add_pem(const char *text) {
  trust_none();
  return (int)tls_trust_add_pem(&trust, text, strlen(text), &added);
}

static void test_pem(void) {
  static char body[4000], text[20000];
  make_line();
  encode(&certificates[0], body, 64);
  snprintf(text, sizeof text, "Root\n-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n",
           body);
  CHECK_INT(add_pem(text), ECR_OK);
  CHECK_INT(added.added, 1);
  CHECK_INT(trust.anchor_count, 1);
  CHECK_BYTES(trust.anchors[0].certificate, trust.anchors[0].certificate_size, certificates[0].p,
              certificates[0].n);
  CHECK_INT(VERIFY(4, 3, 2, 1), ECR_OK);
  /* Once more the same is no other root. */
  CHECK_INT(tls_trust_add_pem(&trust, text, strlen(text), &added), ECR_OK);
  CHECK_INT(added.added, 1);
  CHECK_INT(trust.anchor_count, 1);
  CHECK_INT(trust.used, certificates[0].n);
  /* Lines that end otherwise, other widths, blanks, other blocks; without an end of line at the end. */
  snprintf(text, sizeof text,
           "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\r\n"
           "-----BEGIN CERTIFICATE-----\r\n \t%s\r\n-----END CERTIFICATE-----",
           body);
  CHECK_INT(add_pem(text), ECR_OK);
  CHECK_INT(added.added, 1);
  encode(&certificates[0], body, 0);
  snprintf(text, sizeof text, "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n", body);
  CHECK_INT(add_pem(text), ECR_OK);
  /* Broken ones: refused, and what is whole stays. */
  static const char *const broken[] = {"AAA", "A*AA", "A=AA", "AB==", "AAAA=", "=", "", "AAAAA==="};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    snprintf(text, sizeof text,
             "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
             "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n",
             broken[i], body);
    CHECK_INT(add_pem(text), ECR_OK);
    CHECK_INT(added.added, 1);
    CHECK_INT(added.refused, 1);
  }
  snprintf(text, sizeof text,
           "-----BEGIN CERTIFICATE-----\n%s\n-----BEGIN CERTIFICATE-----\n%s\n-----END "
           "CERTIFICATE-----\n",
           body, body);
  CHECK_INT(add_pem(text), ECR_OK);
  CHECK(added.added == 1 && added.refused == 1);
  CHECK_INT(add_pem("-----BEGIN CERTIFICATE-----\nAAAA"), ECR_OK);
  CHECK(added.added == 0 && added.refused == 1);
  CHECK_INT(add_pem("no certificate at all"), ECR_INVALID);
  CHECK_INT(add_pem(""), ECR_INVALID);
  CHECK_INT(add_pem("x-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"), ECR_INVALID);
}

/* The padding that RFC 4648 asks for, no more and no less. */
static void test_padding(void) {
  static const struct {
    const char *body;
    int size; /* -1: refused */
  } cases[] = {{"", 0},          {"AAAA", 3},   {"AAA=", 2},   {"AA==", 1},     {"AAAAAAA=", 5},
               {"AAA", -1},      {"AA", -1},    {"A", -1},     {"AA=", -1},     {"A=", -1},
               {"A===", -1},     {"AAA==", -1}, {"AAAA=", -1}, {"AAAA==", -1},  {"AAAA====", -1},
               {"AAAAA===", -1}, {"=", -1},     {"AA=A", -1},  {"AA==AAAA", -1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[200];
    uint8_t out[20];
    size_t at = 0, size;
    snprintf(text, sizeof text, "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n",
             cases[i].body);
    const ecr_status status = tls_pem_next(text, strlen(text), &at, out, sizeof out, &size);
    if (!CHECK_INT(status == ECR_OK ? (int)size : -1, cases[i].size))
      printf("  %s\n", cases[i].body);
  }
}

/* A certificate is one text: the bits that base64 has to spare are zeros. */
static void test_spare_bits(void) {
  static char body[4000], text[5000];
  spec s = ca("CN=Root", ROOT, "CN=Root", ROOT);
  do {
    put_certificate(0, &s);
  } while (certificates[0].n % 3 == 0 && (s.subject = s.issuer = "CN=Roots"));
  encode(&certificates[0], body, 0);
  for (int spare = 0; spare < 2; spare++) {
    char *last = strchr(body, '=') - 1;
    if (spare)
      *last = *last == 'z' ? '0' : *last == 'Z' ? 'a' : *last == '9' ? '+' : (char)(*last + 1);
    snprintf(text, sizeof text, "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n",
             body);
    CHECK_INT(add_pem(text), ECR_OK);
    CHECK_INT(added.added, !spare);
  }
}

static void test_room(void) {
  make_line();
  tls_anchor two[2];
  uint8_t small[4000];
  tls_trust_init(&trust, two, 2, small, sizeof small);
  CHECK_INT(trust_root(&certificates[0]), ECR_OK);
  CHECK_INT(trust_root(&certificates[1]), ECR_OK);
  CHECK_INT(trust_root(&certificates[2]), ECR_SHORT);
  CHECK_INT(trust_root(&certificates[1]), ECR_OK);
  CHECK_INT(trust.anchor_count, 2);
  tls_trust_init(&trust, two, 2, small, certificates[0].n + certificates[1].n - 1);
  CHECK_INT(trust_root(&certificates[0]), ECR_OK);
  CHECK_INT(trust_root(&certificates[1]), ECR_SHORT);
  CHECK_INT(trust.anchor_count, 1);
  CHECK_INT(tls_trust_add_der(&trust, certificates[0].p, certificates[0].n - 1), ECR_INVALID);
  static char body[4000], text[10000];
  encode(&certificates[1], body, 64);
  snprintf(text, sizeof text, "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n", body);
  CHECK_INT(tls_trust_add_pem(&trust, text, strlen(text), &added), ECR_SHORT);
  CHECK_INT(trust.anchor_count, 1);
}

/* Many roots, some of one name, are each found again. */
static void test_sorted(void) {
  static const char *const names[] = {"CN=m",  "CN=bb", "CN=a",   "CN=zz",
                                      "CN=bb", "",      "CN=ccc", "CN=bb"};
  size_t count;
  trust_none();
  for (int i = 0; i < 8; i++) {
    const spec s = ca(names[i], i % KEYS, names[i], i % KEYS);
    CHECK_INT(trust_root(put_certificate(i, &s)), ECR_OK);
  }
  CHECK_INT(trust.anchor_count, 8);
  for (int i = 0; i < 8; i++) {
    made d = {0};
    put_name(&d, names[i]);
    const tls_anchor *a = tls_trust_find(&trust, bytes_of(&d), &count);
    CHECK_INT(count, strcmp(names[i], "CN=bb") == 0 ? 3 : 1);
    for (size_t k = 0; a && k < count; k++) CHECK_BYTES(a[k].subject, a[k].subject_size, d.p, d.n);
  }
  made d = {0};
  put_name(&d, "CN=none");
  CHECK(tls_trust_find(&trust, bytes_of(&d), &count) == NULL && count == 0);
}

int main(void) {
  trust_none();
  CHECK_INT(add_pem("nothing"), ECR_INVALID);
  certificates = calloc(CERTIFICATES, sizeof *certificates);
  if (keys_open()) {
    for (int i = 0; i < KEYS; i++) key_make(&keys[i], "p256");
    test_order();
    test_depth();
    test_path_length();
    test_alternatives();
    test_constraints();
    make_line();
    test_same_name(1);
    test_same_name(0);
    make_line();
    test_mesh();
    test_ways();
    test_many_names();
    test_pins();
    test_own();
    test_pem();
    test_spare_bits();
    test_padding();
    test_room();
    test_sorted();
    for (int i = 0; i < KEYS; i++) key_free(&keys[i]);
  }
  free(certificates);
  return unit_done("tls_path");
}
