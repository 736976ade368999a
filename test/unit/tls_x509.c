/*
** tls_x509.c: certificates and chains of three (root, issuer, server), each field wrong in turn;
** every algorithm; and that no bit of a certificate may change.
*/
#include "x509_maker.h"
#include "tls/x509Int.h"

#define NOW 1800000000 /* 2027 */
#define SERVER_NAMES "dns:db.example dns:*.pool.example ip:0a000001"

enum { ROOT, ISSUER, LEAF, OTHER, RSA, PSS, ED, P384, KEYS };
static test_key keys[KEYS];
static spec specs[3];
static made chain[3];

static tls_failure failure;
static tls_public_key found;

static void reset(void) {
  specs[ROOT] = spec_ca("CN=Root", &keys[ROOT], "CN=Root", &keys[ROOT]);
  specs[ISSUER] = spec_ca("CN=Issuer", &keys[ISSUER], "CN=Root", &keys[ROOT]);
  specs[LEAF] = spec_leaf("CN=db.example", SERVER_NAMES, &keys[LEAF], "CN=Issuer", &keys[ISSUER]);
}

static tls_bytes bytes_of(const made *d) { return tls_bytes_of(d->p, d->n); }

/* Judges what is in chain, as it is. */
static ecr_status judge(const char *name, int64_t now) {
  static uint8_t room[2 * MADE_MAX];
  static tls_anchor anchors[4];
  tls_trust trust;
  const tls_bytes sent[] = {bytes_of(&chain[LEAF]), bytes_of(&chain[ISSUER])};
  const tls_verify verify = {.trust = &trust, .server_name = name, .now = now};
  tls_trust_init(&trust, anchors, 4, room, sizeof room);
  /* Never empty: where the root cannot be one, another is there. */
  static made other;
  if (other.n == 0) {
    const spec s = spec_ca("CN=Other", &keys[OTHER], "CN=Other", &keys[OTHER]);
    make(&other, &s);
  }
  CHECK_INT(tls_trust_add_der(&trust, other.p, other.n), ECR_OK);
  tls_trust_add_der(&trust, chain[ROOT].p, chain[ROOT].n);
  const ecr_status status = tls_verify_chain(&verify, sent, 2, &found, &failure);
  CHECK((status == ECR_OK) == (found.kind != TLS_KEY_NONE));
  CHECK((status == ECR_OK) == (failure.alert == TLS_ALERT_NONE));
  CHECK_INT(failure.from_server, 0);
  return status;
}

/* Makes the three and judges them; reason: words of it, NULL where they are right. */
static int expect(const char *what, const char *reason) {
  for (int i = 0; i < 3; i++) make(&chain[i], &specs[i]);
  const ecr_status status = judge("db.example", NOW);
  const int ok =
      reason ? status == ECR_REFUSED && strstr(failure.reason, reason) : status == ECR_OK;
  if (!CHECK(ok)) printf("  %s: %s, expected %s\n", what, failure.reason, reason ? reason : "none");
  return ok;
}

/* ---- One thing changed ----------------------------------------------------------------------- */

#define SERIAL "serial"
#define VERSION "version"
#define BEFORE "before"
#define AFTER "after"
#define SUBJECT "subject"
#define ISSUED_BY "issuer"
#define OUTER "outer"
#define RAW "raw"

static void change(spec *s, const char *what, int critical, const char *value) {
  const struct {
    const char *name, **field;
  } fields[] = {{SERIAL, &s->serial},   {VERSION, &s->version}, {BEFORE, &s->not_before},
                {AFTER, &s->not_after}, {SUBJECT, &s->subject}, {ISSUED_BY, &s->issuer},
                {OUTER, &s->outer},     {RAW, &s->raw}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    if (strcmp(fields[i].name, what) != 0) continue;
    *fields[i].field = value;
    return;
  }
  spec_set(s, what, critical, value);
}

static void test_changes(void) {
  static const struct {
    int who;
    const char *what;
    int critical;
    const char *value, *reason;
  } cases[] = {
      /* Fields. */
      {LEAF, VERSION, 0, NULL, "malformed"},
      {LEAF, VERSION, 0, "01", "malformed"},
      {LEAF, VERSION, 0, "03", "malformed"},
      {ISSUER, VERSION, 0, "01", "no root"},
      {LEAF, SERIAL, 0, "ff12", NULL}, /* negative: SQL Server's */
      {LEAF, SERIAL, 0, "00", "serial"},
      {LEAF, SERIAL, 0, "0012", "malformed"},
      {LEAF, SERIAL, 0, "7f00000000000000000000000000000000000000", NULL},
      {LEAF, SERIAL, 0, "7f0000000000000000000000000000000000000000", "serial"},
      {ISSUER, SERIAL, 0, "00", "issuer's serial"},
      {ROOT, SERIAL, 0, "00", NULL},
      {LEAF, ISSUED_BY, 0, "", "no name"},
      {LEAF, ISSUED_BY, 0, "CN=Nobody", "no root"},
      {ISSUER, ISSUED_BY, 0, "", "the issuer of an issuer's certificate has no name"},
      {ROOT, ISSUED_BY, 0, "", "the issuer of an issuer's certificate has no name"},
      {LEAF, OUTER, 0, "300a 0608 2a8648ce3d040303", "malformed"},
      {ROOT, OUTER, 0, "300a 0608 2a8648ce3d040303", "no root"},
      {LEAF, RAW, 0, "8101 00", "malformed"},
      {LEAF, SUBJECT, 0, "", "subjectAltName is not critical"},
      {LEAF, SUBJECT, 0, "CN=other.example", "common name"},
      {LEAF, SUBJECT, 0, "O=edb", NULL},
      /* Times. */
      {LEAF, AFTER, 0, "170d3236303130313030303030305a", "the certificate has expired"},
      {ISSUER, AFTER, 0, "170d3236303130313030303030305a", "an issuer's certificate has expired"},
      {ROOT, AFTER, 0, "170d3236303130313030303030305a", "an issuer's certificate has expired"},
      {LEAF, BEFORE, 0, "170d3238303130313030303030305a", "the certificate is not valid yet"},
      {ISSUER, BEFORE, 0, "170d3238303130313030303030305a", "an issuer's certificate is not valid"},
      {ROOT, BEFORE, 0, "170d3238303130313030303030305a", "not valid yet"},
      {LEAF, AFTER, 0, "180f32303238303130313030303030305a", "malformed"},
      {ROOT, AFTER, 0, "180f32303238303130313030303030305a", NULL},
      /* BasicConstraints. */
      {LEAF, BASIC, 1, NULL, NULL},
      {LEAF, BASIC, 1, "3003 010100", NULL}, /* written out, as some issuers do */
      {LEAF, BASIC, 1, "3003 0101ff", "certification authority's"},
      {LEAF, BASIC, 1, "3003 020100", "malformed"},
      {LEAF, BASIC, 1, "3003 010101", "malformed"},
      {LEAF, BASIC, 1, "3000 0500", "malformed"},
      {ISSUER, BASIC, 1, NULL, "lack CA:TRUE"},
      {ISSUER, BASIC, 1, "3000", "lack CA:TRUE"},
      {ISSUER, BASIC, 0, "3003 0101ff", "basicConstraints are not critical"},
      {ISSUER, BASIC, 1, "3006 0101ff 020100", NULL},
      {ISSUER, BASIC, 1, "3006 0101ff 0201ff", "no root"},
      {ISSUER, BASIC, 1, "3009 0101ff 0204 ffffffff", "no root"},
      {ROOT, BASIC, 1, NULL, "lack CA:TRUE"},
      {ROOT, BASIC, 0, "3003 0101ff", "basicConstraints are not critical"},
      {ROOT, BASIC, 1, "3006 0101ff 020100", "pathLenConstraint"},
      {ROOT, BASIC, 1, "3006 0101ff 020101", NULL},
      {LEAF, BASIC, 2, "3000", "malformed"}, /* critical FALSE, written out */
      /* KeyUsage. */
      {LEAF, USAGE, 1, NULL, NULL},
      {LEAF, USAGE, 1, "0302 0520", "lacks digitalSignature"}, /* keyEncipherment */
      {LEAF, USAGE, 1, "0302 05a0", NULL},
      {LEAF, USAGE, 1, "0302 0284", "has keyCertSign"}, /* and keyCertSign */
      {LEAF, USAGE, 1, "0301 00", "malformed"},
      {LEAF, USAGE, 1, "0302 0080", "malformed"},
      {ISSUER, USAGE, 1, "0303 070600", "issuer's certificate is malformed"},
      {ROOT, USAGE, 1, "0303 070600", NULL}, /* old roots do */
      {ISSUER, USAGE, 1, "0302 0780", "keyCertSign"},
      {ISSUER, USAGE, 1, NULL, NULL},
      {ROOT, USAGE, 1, "0302 0102", "keyCertSign"},
      /* ExtendedKeyUsage. */
      {LEAF, PURPOSE, 0, NULL, "no extendedKeyUsage with serverAuth; have it made"},
      {LEAF, PURPOSE, 0, "300a 0608 2b06010505070302", "lacks serverAuth"},
      {LEAF, PURPOSE, 0, "3014 0608 2b06010505070302 0608 2b06010505070301", NULL},
      {LEAF, PURPOSE, 0, "3006 0604 551d2500", "lacks serverAuth"},
      {LEAF, PURPOSE, 0, "3010 0604 551d2500 0608 2b06010505070301", "has any purpose"},
      {LEAF, PURPOSE, 1, SERVER, "extendedKeyUsage is critical"},
      {LEAF, PURPOSE, 0, "3000", "malformed"},
      {ISSUER, PURPOSE, 0, SERVER, NULL},
      {ISSUER, PURPOSE, 0, "3006 0604 551d2500", NULL},
      {ISSUER, PURPOSE, 0, "300a 0608 2b06010505070302", "not for issuers of servers"},
      {ROOT, PURPOSE, 0, SERVER, "a root has an extendedKeyUsage"},
      {ROOT, PURPOSE, 0, "300a 0608 2b06010505070302", "not for issuers of servers"},
      /* Key identifiers. */
      {LEAF, KEY_ID, 0, NULL, NULL},
      {LEAF, KEY_ID, 1, "=", "critical"},
      {LEAF, ISSUER_KEY_ID, 0, NULL, "the certificate has no authorityKeyIdentifier"},
      {LEAF, ISSUER_KEY_ID, 0, "3000", "the certificate has no authorityKeyIdentifier"},
      {LEAF, ISSUER_KEY_ID, 0, "3003 800105", "no root"},
      {LEAF, ISSUER_KEY_ID, 0, "3003 830105", "malformed"},
      {LEAF, ISSUER_KEY_ID, 1, "=", "critical"},
      {ISSUER, KEY_ID, 0, NULL, "no subjectKeyIdentifier"},
      {ISSUER, KEY_ID, 0, "0400", "no root"},
      {ISSUER, KEY_ID, 1, "=", "critical"},
      {ISSUER, ISSUER_KEY_ID, 0, NULL, "an issuer's certificate has no authorityKeyIdentifier"},
      {ROOT, KEY_ID, 0, NULL, "subjectKeyIdentifier"},
      {ROOT, KEY_ID, 1, "=", "critical"},
      {ROOT, ISSUER_KEY_ID, 0, "=", NULL},
      {ROOT, ISSUER_KEY_ID, 0, "3000", "another's than its own"},
      {ROOT, ISSUER_KEY_ID, 0, "3003 800105", "another's than its own"},
      {ROOT, ISSUER_KEY_ID, 0, "3003 820105", "another's than its own"},
      /* Names. */
      {LEAF, NAMES, 0, NULL, "no subjectAltName"},
      {LEAF, NAMES, 0, "3000", "malformed"},
      {LEAF, NAMES, 0, "3003 820178", "another name"},
      {LEAF, NAMES, 0, "3005 8703 0a0000", "malformed"},
      {LEAF, NAMES, 0, "3003 890178", "malformed"},
      {LEAF, NAMES, 0, "300c 820a 64622e6578616d706c65 00", "malformed"},
      {LEAF, NAMES, 0, "300c 820a 64622e6578616d706c65", NULL},
      {LEAF, NAMES, 1, "300c 820a 64622e6578616d706c65", "subjectAltName is critical"},
      {LEAF, NAMES, 0, "3004 a402 3005", "malformed"},
      /* Constraints. */
      {LEAF, CONSTRAINTS, 1, "300d a00b 3009 8207 6578616d706c65", "nameConstraints"},
      {ISSUER, CONSTRAINTS, 1, "300d a00b 3009 8207 6578616d706c65", NULL},
      {ISSUER, CONSTRAINTS, 0, "300d a00b 3009 8207 6578616d706c65", "not critical"},
      {ISSUER, CONSTRAINTS, 1, "3000", "malformed"},
      {ISSUER, CONSTRAINTS, 1, "3005 a003 300182", "malformed"},
      {ROOT, CONSTRAINTS, 1, "3000", "malformed"},
      {ROOT, CONSTRAINTS, 1, "3009 a107 3005 8203 636f6d", NULL},
      {ROOT, CONSTRAINTS, 1, "300d a10b 3009 8207 6578616d706c65", "do not let"},
      {ROOT, CONSTRAINTS, 1, "3009 a007 3005 8203 636f6d", "do not let"},
      /* Others: critical and unknown; policies, which are obeyed, their limits, which are not; where to ask. */
      {LEAF, "2a0304", 0, "0500", NULL},
      {LEAF, "2a0304", 1, "0500", "critical"},
      {ISSUER, "2a0304", 1, "0500", "issuer's certificate has a critical"},
      {ROOT, "2a0304", 1, "0500", "critical"},
      {LEAF, "551d20", 1, "3006 3004 0602 2a03", NULL},
      {LEAF, "551d20", 0, "3000", "malformed"},
      {LEAF, "551d24", 0, "3003 800100", "policies"},
      {ISSUER, "551d24", 1, "3003 800100", "policies"},
      {ISSUER, "551d24", 0, "3003 800100", "policies"},
      {ISSUER, "551d36", 1, "020100", "policies"},
      {ROOT, "551d36", 0, "020100", "policies"},
      {LEAF, "2b06010505070101", 0, "300f 300d 0608 2b06010505073001 8601 78", NULL},
      {LEAF, "2b06010505070101", 1, "300f 300d 0608 2b06010505073001 8601 78", "critical"},
      {LEAF, "2b06010505070101", 0, "300f 300d 0608 2b06010505073001 0c01 78", "malformed"},
      {LEAF, "2b06010505070101", 0, "3000", "malformed"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char what[200];
    reset();
    change(&specs[cases[i].who], cases[i].what, cases[i].critical, cases[i].value);
    snprintf(what, sizeof what, "case %zu: %s %s", i, cases[i].what,
             cases[i].value ? cases[i].value : "absent");
    expect(what, cases[i].reason);
  }
}

static void test_extensions(void) {
  /* Twice the same: a known one, an unknown one; without any; more than there may be. */
  reset();
  specs[LEAF].extensions[6].oid = specs[LEAF].extensions[7].oid = "2a0305";
  specs[LEAF].extensions[6].value = specs[LEAF].extensions[7].value = "0500";
  expect("an unknown extension twice", "malformed");
  reset();
  specs[LEAF].extensions[6] = specs[LEAF].extensions[1];
  expect("keyUsage twice", "malformed");
  reset();
  memset(specs[LEAF].extensions, 0, sizeof specs[LEAF].extensions);
  expect("no extensions", "malformed");
  reset();
  specs[LEAF].subject = "";
  spec_names(&specs[LEAF], 1, SERVER_NAMES);
  expect("critical names without a subject", NULL);
}

/* A root's authorityKeyIdentifier that names a certificate too, as easy-rsa's does: its own. */
static void test_root_names_itself(void) {
#define SELF "800105 a113 a411 300f310d300b06035504031304526f6f74"
  static const struct {
    const char *value, *reason;
  } cases[] = {{"3003 800105", NULL},
               {"301c " SELF " 8202 1234", NULL},
               {"3018 " SELF, "another's than its own"},
               {"3007 800105 8202 1234", "another's than its own"},
               {"301c " SELF " 8202 1235", "another's than its own"},
               {"301c 800105 a113 a411 300f310d300b06035504031304526f6f75 8202 1234",
                "another's than its own"},
               {"301c 800106 a113 a411 300f310d300b06035504031304526f6f74 8202 1234",
                "another's than its own"},
               {"301f 800105 a116 a411 300f310d300b06035504031304526f6f74 820178 8202 1234",
                "another's than its own"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    reset();
    spec_set(&specs[ROOT], KEY_ID, 0, "0401 05");
    spec_set(&specs[ROOT], ISSUER_KEY_ID, 0, cases[i].value);
    spec_set(&specs[ISSUER], ISSUER_KEY_ID, 0, "3003 800105");
    expect(cases[i].value, cases[i].reason);
  }
}

/* An authority below another that is trusted as a root itself. */
static void test_issuer_as_root(void) {
  static const struct {
    const char *value, *reason;
  } cases[] = {{NULL, NULL}, {SERVER, NULL}, {"300a 0608 2b06010505070302", "not for issuers"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    reset();
    specs[ROOT].issuer = "CN=Above";
    spec_set(&specs[ROOT], PURPOSE, 0, cases[i].value);
    expect("an issuer as root", cases[i].reason);
  }
  reset();
  specs[ROOT].subject = specs[ISSUER].issuer = "";
  expect("a root without a name", "the issuer of an issuer's certificate has no name");
  reset();
  specs[ISSUER].subject = specs[LEAF].issuer = "";
  expect("an issuer without a name", "the certificate's issuer has no name");
}

static void test_alerts(void) {
  static const struct {
    int who;
    const char *what, *value;
    tls_alert alert;
  } cases[] = {
      {LEAF, AFTER, "170d3236303130313030303030305a", TLS_ALERT_CERTIFICATE_EXPIRED},
      {LEAF, ISSUED_BY, "CN=Nobody", TLS_ALERT_UNKNOWN_CA},
      {LEAF, "2a0304", "0500", TLS_ALERT_UNSUPPORTED_CERTIFICATE},
      {LEAF, NAMES, "3003 820178", TLS_ALERT_BAD_CERTIFICATE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    reset();
    change(&specs[cases[i].who], cases[i].what, strcmp(cases[i].what, NAMES) != 0, cases[i].value);
    for (int k = 0; k < 3; k++) make(&chain[k], &specs[k]);
    CHECK_INT(judge("db.example", NOW), ECR_REFUSED);
    CHECK_INT(failure.alert, cases[i].alert);
  }
}

/* Every flaw has a text and an alert, in every place. */
static void test_texts(void) {
  for (int flaw = TLS_FLAW_NO_TRUST; flaw <= TLS_FLAW_NAME; flaw++) {
    for (int role = TLS_ROLE_LEAF; role <= TLS_ROLE_ROOT; role *= 2) {
      tls_flaw_tell((tls_flaw)flaw, (tls_role)role, &failure);
      CHECK(failure.alert != TLS_ALERT_NONE && failure.reason && strlen(failure.reason) > 10);
    }
  }
}

/* ---- Names and times ------------------------------------------------------------------------- */

static void test_names(void) {
  static const struct {
    const char *name;
    ecr_status status;
  } cases[] = {{"db.example", ECR_OK},
               {"a.pool.example", ECR_OK},
               {"10.0.0.1", ECR_OK},
               {"other.example", ECR_REFUSED},
               {"10.0.0.2", ECR_REFUSED},
               {"::1", ECR_REFUSED},
               {"", ECR_REFUSED},
               {NULL, ECR_REFUSED},
               {"*.pool.example", ECR_REFUSED}};
  reset();
  for (int k = 0; k < 3; k++) make(&chain[k], &specs[k]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (!CHECK_INT(judge(cases[i].name, NOW), cases[i].status)) printf("  %s\n", cases[i].name);
  }
  /* Both ends of the validity are within it: 2020-01-01 and 2050-01-01. */
  CHECK_INT(judge("db.example", 1577836800), ECR_OK);
  CHECK_INT(judge("db.example", 1577836799), ECR_REFUSED);
  CHECK_INT(judge("db.example", 2524608000), ECR_OK);
  CHECK_INT(judge("db.example", 2524608001), ECR_REFUSED);
}

/* ---- Algorithms ------------------------------------------------------------------------------ */

static void test_algorithms(void) {
  static const struct {
    int by;
    const char *hash, *pss, *algorithm, *reason;
  } cases[] = {
      {RSA, "SHA256", NULL, NULL, NULL},
      {RSA, "SHA384", NULL, NULL, NULL},
      {RSA, "SHA512", NULL, NULL, NULL},
      {RSA, "SHA1", NULL, NULL, "SHA-1"},
      {RSA, "SHA256", "digest", NULL, NULL},
      {RSA, "SHA384", "digest", NULL, NULL},
      {RSA, "SHA512", "digest", NULL, NULL},
      {PSS, "SHA256", "digest", NULL, NULL},
      {PSS, "SHA512", "digest", NULL, NULL},
      {ISSUER, "SHA256", NULL, NULL, NULL},
      {ISSUER, "SHA384", NULL, NULL, NULL},
      {ISSUER, "SHA512", NULL, NULL, NULL},
      {ISSUER, "SHA1", NULL, NULL, "SHA-1"},
      {P384, "SHA256", NULL, NULL, NULL},
      {P384, "SHA384", NULL, NULL, NULL},
      {ED, NULL, NULL, NULL, NULL},
      /* Another length of salt than the parameters tell, PKCS#1 under PSS's name and the other way round. */
      {RSA, "SHA256", "20", NULL, "signature of the certificate is wrong"},
      {RSA, "SHA256", NULL,
       "3041 0609 2a864886f70d01010a 3034 a00f 300d 0609 608648016503040201 0500 a11c 301a 0609"
       "2a864886f70d010108 300d 0609 608648016503040201 0500 a203 020120",
       "signature of the certificate is wrong"},
      {RSA, "SHA256", "digest", "300d 0609 2a864886f70d01010b 0500",
       "signature of the certificate is wrong"},
      /* Parameters: NULL missing, or where there are none; PSS with SHA-1's defaults; the hash of another. */
      {RSA, "SHA256", NULL, "300b 0609 2a864886f70d01010b", "algorithm is not supported"},
      {ISSUER, "SHA256", NULL, "300c 0608 2a8648ce3d040302 0500", "algorithm is not supported"},
      {RSA, "SHA256", "digest", "300d 0609 2a864886f70d01010a 3000", "algorithm is not supported"},
      {RSA, "SHA384", NULL, "300d 0609 2a864886f70d01010b 0500",
       "signature of the certificate is wrong"},
      /* The algorithm of another kind of key. */
      {RSA, "SHA256", NULL, "300a 0608 2a8648ce3d040302", "not of the issuer's key"},
      {ISSUER, "SHA256", NULL, "300d 0609 2a864886f70d01010b 0500", "not of the issuer's key"},
      {PSS, "SHA256", "digest", "300d 0609 2a864886f70d01010b 0500", "not of the issuer's key"},
      {ED, NULL, NULL, "300a 0608 2a8648ce3d040302", "not of the issuer's key"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char what[100];
    reset();
    specs[ISSUER].key = specs[LEAF].by = &keys[cases[i].by];
    specs[LEAF].hash = cases[i].hash;
    specs[LEAF].pss = cases[i].pss;
    specs[LEAF].algorithm = cases[i].algorithm;
    snprintf(what, sizeof what, "algorithm %zu: %s %s", i, keys[cases[i].by].name, cases[i].hash);
    expect(what, cases[i].reason);
  }
}

/* Keys that are not taken, as the server's, an issuer's and a root's. */
static void test_keys(void) {
  static const char *const names[] = {"p521", "explicit", "rsa1024", "rsa2052", "ed448"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    test_key k;
    if (!key_make(&k, names[i])) continue;
    reset();
    specs[LEAF].key = &k;
    expect(names[i], "the certificate's key");
    reset();
    specs[ISSUER].key = &k;
    specs[LEAF].extensions[spec_find(&specs[LEAF], ISSUER_KEY_ID)].value = "3003 800105";
    specs[ISSUER].extensions[spec_find(&specs[ISSUER], KEY_ID)].value = "0401 05";
    expect(names[i], "an issuer's key");
    reset();
    specs[ROOT].key = &k;
    expect(names[i], "no root");
    key_free(&k);
  }
  static const int kinds[][2] = {{RSA, TLS_KEY_RSA},
                                 {PSS, TLS_KEY_RSA_PSS},
                                 {ED, TLS_KEY_ED25519},
                                 {P384, TLS_KEY_P384},
                                 {LEAF, TLS_KEY_P256}};
  for (size_t i = 0; i < 5; i++) {
    reset();
    specs[LEAF].key = &keys[kinds[i][0]];
    expect(keys[kinds[i][0]].name, NULL);
    CHECK_INT(found.kind, kinds[i][1]);
  }
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* One of each byte's bits, in turn, of the server's certificate and of its issuer's. Nothing may
** read behind. */
static void test_bits(void) {
  reset();
  for (int k = 0; k < 3; k++) make(&chain[k], &specs[k]);
  for (int k = ISSUER; k <= LEAF; k++) {
    for (size_t i = 0; i < chain[k].n; i++) {
      const uint8_t bit = (uint8_t)(1 << i % 8);
      chain[k].p[i] ^= bit;
      if (!CHECK_INT(judge("db.example", NOW), ECR_REFUSED))
        printf("  certificate %d, byte %zu\n", k, i);
      chain[k].p[i] ^= bit;
    }
  }
  CHECK_INT(judge("db.example", NOW), ECR_OK);
  uint8_t *const end = guarded(chain[LEAF].n) + chain[LEAF].n;
  for (size_t n = 0; n < chain[LEAF].n; n++) {
    tls_certificate c;
    memcpy(end - n, chain[LEAF].p, n);
    CHECK_INT(tls_certificate_read(&c, tls_bytes_of(end - n, n)), TLS_FLAW_ENCODING);
  }
  chain[LEAF].p[chain[LEAF].n++] = 0;
  CHECK_INT(judge("db.example", NOW), ECR_REFUSED);
}

int main(void) {
  static const char *const names[KEYS] = {"p256", "p256", "p256",    "p256",
                                          "rsa",  "pss",  "ed25519", "p384"};
  test_texts();
  if (!keys_open()) return unit_done("tls_x509");
  for (int i = 0; i < KEYS; i++) key_make(&keys[i], names[i]);
  reset();
  expect("the three as they should be", NULL);
  test_changes();
  test_extensions();
  test_root_names_itself();
  test_issuer_as_root();
  test_alerts();
  test_names();
  test_algorithms();
  test_keys();
  test_bits();
  for (int i = 0; i < KEYS; i++) key_free(&keys[i]);
  return unit_done("tls_x509");
}
