/*
** tls_name.c: names of servers, the names of certificates that are theirs, name constraints, and
** common names that stray: by tables, without a certificate.
*/
#include "x509_maker.h"
#include "tls/x509Int.h"

/* ---- Names of servers ------------------------------------------------------------------------ */

static void test_read(void) {
  static const struct {
    const char *text, *address; /* address: hexadecimal, "" a DNS name, NULL refused */
  } cases[] = {
      {"db.example", ""},
      {"db.example.", ""},
      {"LocalHost", ""},
      {"a-b.1c.example", ""},
      {"xn--bcher-kva.example", ""},
      {"10.0.0.1", "0a000001"},
      {"255.255.255.255", "ffffffff"},
      {"::", "00000000000000000000000000000000"},
      {"::1", "00000000000000000000000000000001"},
      {"2001:DB8::8:800:200c:417a", "20010db80000000000080800200c417a"},
      {"1:2:3:4:5:6:7:8", "00010002000300040005000600070008"},
      {"1:2:3:4:5:6:7::", "00010002000300040005000600070000"},
      {"::2:3:4:5:6:7:8", "00000002000300040005000600070008"},
      {"::ffff:10.0.0.1", "00000000000000000000ffff0a000001"},
      {"1:2:3:4:5:6:10.0.0.1", "0001000200030004000500060a000001"},
      {NULL, NULL},
      {"", NULL},
      {".", NULL},
      {"..", NULL},
      {".db", NULL},
      {"db..example", NULL},
      {"db.example..", NULL},
      {"-db.example", NULL},
      {"db-.example", NULL},
      {"d_b.example", NULL},
      {"*.example", NULL},
      {"db example", NULL},
      {"d\xc3\xb6.example", NULL},
      {"db.example/", NULL},
      {"db.example:1433", NULL},
      {"[::1]", NULL},
      {"::1%eth0", NULL},
      {"10.0.0", NULL},
      {"10.0.0.1.", NULL},
      {"10.0.0.256", NULL},
      {"10.0.0.01", NULL},
      {"10.0.0.1.2", NULL},
      {"0x0a000001", ""}, /* no address: a label of letters and digits */
      {"1:2:3:4:5:6:7", NULL},
      {"1:2:3:4:5:6:7:8:9", NULL},
      {"1::2::3", NULL},
      {":::", NULL},
      {":1", NULL},
      {"1:", NULL},
      {"1:2:3:4:5:6:7:8::", NULL},
      {"12345::", NULL},
      {"::g", NULL},
      {"::10.0.0.1:1", NULL},
      {"1:2:3:4:5:6:7:10.0.0.1", NULL},
      {"1::2:3:4:5:6:7:8", NULL},
      {"db.1", NULL},
      {"1", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tls_name name;
    const int taken = tls_name_read(&name, cases[i].text);
    if (!CHECK_INT(taken, cases[i].address != NULL)) printf("  %s\n", cases[i].text);
    if (!taken || !cases[i].address) continue;
    const bytes address = hex(cases[i].address);
    if (!CHECK_BYTES(name.address, name.address_size, address.p, address.n))
      printf("  %s\n", cases[i].text);
    CHECK((name.dns.n > 0) == (address.n == 0));
  }
  /* 63 in a label, 253 in all. */
  char text[300], label[65];
  tls_name name;
  memset(label, 'a', sizeof label);
  snprintf(text, sizeof text, "%.63s.%.63s.%.63s.%.61s", label, label, label, label);
  CHECK(tls_name_read(&name, text));
  snprintf(text, sizeof text, "%.63s.%.63s.%.63s.%.61s.", label, label, label, label);
  CHECK(tls_name_read(&name, text) && name.dns.n == 253);
  snprintf(text, sizeof text, "%.63s.%.63s.%.63s.%.62s", label, label, label, label);
  CHECK(!tls_name_read(&name, text));
  snprintf(text, sizeof text, "%.64s.example", label);
  CHECK(!tls_name_read(&name, text));
}

/* What may stand in a certificate: "*" for the first label, and nothing else that is no label. */
static void test_wildcards(void) {
  static const struct {
    const char *name;
    int plain, wildcard;
  } cases[] = {{"a.example", 1, 1},   {"*.example", 0, 1},   {"_.example", 0, 0},
               {"-.example", 0, 0},   {"*a.example", 0, 0},  {"**.example", 0, 0},
               {"*.*.example", 0, 0}, {"a.*.example", 0, 0}, {"*", 0, 0},
               {"*.", 0, 0},          {"..example", 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tls_bytes name = tls_bytes_of(cases[i].name, strlen(cases[i].name));
    if (!CHECK_INT(tls_dns_valid(name, 0), cases[i].plain) ||
        !CHECK_INT(tls_dns_valid(name, 1), cases[i].wildcard))
      printf("  %s\n", cases[i].name);
  }
}

static made names_of(const char *general) {
  made d = {0};
  put_general(&d, general);
  return d;
}

static void test_match(void) {
  static const struct {
    const char *server, *names;
    int expected;
  } cases[] = {
      {"db.example", "dns:db.example", 1},
      {"DB.Example", "dns:db.EXAMPLE", 1},
      {"db.example.", "dns:db.example", 1},
      {"db.example", "dns:db.example.", 0},
      {"db.example", "dns:x.example dns:db.example", 1},
      {"db.example", "dns:example", 0},
      {"example.com", "dns:db.example.com", 0},
      {"xdb.example", "dns:db.example", 0},
      {"db.example", "mail:db.example uri:db.example dir:CN=db.example other:", 0},
      {"db.example", "", 0},
      {"a.pool.example", "dns:*.pool.example", 1},
      {"xn--bcher-kva.pool.example", "dns:*.pool.example", 1},
      {"pool.example", "dns:*.pool.example", 0},
      {"a.b.pool.example", "dns:*.pool.example", 0},
      {"a.pool.example", "dns:a*.pool.example", 0},
      {"a.pool.example", "dns:*a.pool.example", 0},
      {"a.pool.example", "dns:a.*.example", 0},
      {"a.b.example", "dns:*.*.example", 0},
      {"a.example", "dns:*.example", 0}, /* nobody owns all of that */
      {"example", "dns:*", 0},
      {"a.pool.example", "dns:*", 0},
      {"a.pool.example", "dns:*.", 0},
      {"a.pool.example", "dns:**.pool.example", 0},
      {"a.pool.example", "dns:.pool.example", 0},
      {"10.0.0.1", "ip:0a000001", 1},
      {"10.0.0.1", "ip:0a000002", 0},
      {"10.0.0.1", "dns:10.0.0.1", 0},
      {"10.0.0.1", "ip:00000000000000000000ffff0a000001", 0},
      {"::ffff:10.0.0.1", "ip:00000000000000000000ffff0a000001", 1},
      {"::ffff:10.0.0.1", "ip:0a000001", 0},
      {"::1", "ip:00000000000000000000000000000001", 1},
      {"db.example", "ip:64622e6578616d706c65", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const made d = names_of(cases[i].names);
    tls_name name;
    CHECK(tls_name_read(&name, cases[i].server));
    if (!CHECK_INT(tls_name_matches(&name, tls_bytes_of(d.p, d.n)), cases[i].expected))
      printf("  %s: %s\n", cases[i].server, cases[i].names);
  }
  /* A NUL within: what C would take for the end is not. */
  static const uint8_t nul[] = "\x82\x0f"
                               "db.example\0.com";
  tls_name name;
  CHECK(tls_name_read(&name, "db.example"));
  CHECK(!tls_name_matches(&name, tls_bytes_of(nul, 16)));
}

/* ---- Constraints ----------------------------------------------------------------------------- */

static void test_valid(void) {
  static const struct {
    const char *permitted, *excluded;
    int expected;
  } cases[] = {
      {"dns:example", NULL, 1},
      {"dns:", NULL, 1},
      {NULL, "dns:db.example", 1},
      {"dns:*.example", NULL, 0},
      {"dns:.example", NULL, 0},
      {"dns:example.", NULL, 0},
      {NULL, "dns:*.example", 0},
      {"ip:0a000000ff000000", NULL, 1},
      {"ip:0a000000ff00ff00", NULL, 0},
      {"ip:0a000000ffc00000", NULL, 1},
      {"ip:0a000000ffa00000", NULL, 0},
      {"ip:0a000001", NULL, 0},
      {"ip:0a00000000000000ff", NULL, 0},
      {"dir:CN=x", NULL, 1},
      {"dir:", NULL, 1},
      {"mail:example uri:x other:", NULL, 1},
      {NULL, NULL, 0},
      {"", NULL, 0},
      {NULL, "", 0},
      {"", "dns:example", 0},
      {"dns:example", "dns:db.example", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made d = {0};
    put_constraints(&d, cases[i].permitted, cases[i].excluded);
    if (!CHECK_INT(tls_constraints_valid(tls_bytes_of(d.p, d.n)), cases[i].expected))
      printf("  %s / %s\n", cases[i].permitted, cases[i].excluded);
  }
  /* A minimum that is written out, a maximum, something behind, the two in the wrong order. */
  static const char *const bad[] = {"a00c 300a 820578 2e636f6d 8001 00",
                                    "a00e 300c 8207 6578616d706c65 8101 05",
                                    "a00b 3009 8207 6578616d706c65 0500",
                                    "a10b 3009 8207 6578616d706c65 a00b 3009 8207 6578616d706c65",
                                    "3000",
                                    ""};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const bytes b = hex(bad[i]);
    if (!CHECK(!tls_constraints_valid(tls_bytes_of(b.p, b.n)))) printf("  %s\n", bad[i]);
  }
}

static tls_flaw constrain(const char *permitted, const char *excluded, const char *subject,
                          const char *names, unsigned *work) {
  made c = {0}, s = {0}, n = {0};
  tls_certificate certificate = {0};
  put_constraints(&c, permitted, excluded);
  put_name(&s, subject);
  put_general(&n, names);
  CHECK(tls_constraints_valid(tls_bytes_of(c.p, c.n)));
  certificate.subject = tls_bytes_of(s.p, s.n);
  certificate.names = tls_bytes_of(n.p, n.n);
  return tls_constraints_check(tls_bytes_of(c.p, c.n), &certificate, work);
}

static void test_constraints(void) {
  static const struct {
    const char *permitted, *excluded, *subject, *names;
    int allowed;
  } cases[] = {
      /* A name and what is below it. */
      {"dns:example", NULL, "", "dns:example", 1},
      {"dns:example", NULL, "", "dns:db.EXAMPLE", 1},
      {"dns:example", NULL, "", "dns:dbexample.com", 0},
      {"dns:b.example", NULL, "", "dns:ab.example", 0},
      {"dns:db.example", NULL, "", "dns:example", 0},
      {"dns:", NULL, "", "dns:db.example", 1},
      {"dns:a.com dns:example", NULL, "", "dns:db.example", 1},
      {"dns:a.com", NULL, "", "dns:a.com dns:db.example", 0}, /* each of them */
      {NULL, "dns:example", "", "dns:db.example", 0},
      {NULL, "dns:example", "", "dns:db.other", 1},
      {NULL, "dns:", "", "dns:db.other", 0},
      {"dns:example", "dns:bad.example", "", "dns:bad.example", 0},
      {"dns:example", "dns:bad.example", "", "dns:x.bad.example", 0},
      {"dns:example", "dns:bad.example", "", "dns:good.example", 1},
      /* Wildcards: permitted where all that they are is, excluded where one of it is. */
      {"dns:pool.example", NULL, "", "dns:*.pool.example", 1},
      {"dns:a.pool.example", NULL, "", "dns:*.pool.example", 0},
      {"dns:example", NULL, "", "dns:*.pool.example", 1},
      {NULL, "dns:pool.example", "", "dns:*.pool.example", 0},
      {NULL, "dns:a.pool.example", "", "dns:*.pool.example", 0},
      {NULL, "dns:A.POOL.example", "", "dns:*.pool.example", 0},
      {NULL, "dns:a.b.pool.example", "", "dns:*.pool.example", 1},
      {NULL, "dns:example", "", "dns:*.pool.example", 0},
      {NULL, "dns:apool.example", "", "dns:*.pool.example", 1},
      {NULL, "dns:a.other", "", "dns:*.pool.example", 1},
      /* Names that are none are under no constraint and in every exclusion. */
      {"dns:example", NULL, "", "dns:.example", 0},
      {"dns:example", NULL, "", "dns:a*.example", 0},
      {"dns:", NULL, "", "dns:d_b.example", 0},
      {NULL, "dns:other", "", "dns:d_b.example", 0},
      {NULL, "ip:0a000000ff000000", "", "dns:d_b.example", 1},
      /* Addresses: a constraint on one family is one on addresses. */
      {"ip:0a000000ff000000", NULL, "", "ip:0a010203", 1},
      {"ip:0a000000ff000000", NULL, "", "ip:0b010203", 0},
      {"ip:0a000000ff000000", NULL, "", "ip:00000000000000000000ffff0a010203", 0},
      {NULL, "ip:0a000000ff000000", "", "ip:0a010203", 0},
      {NULL, "ip:0a000000ff000000", "", "ip:0b010203", 1},
      {"ip:0a000000ff000000", NULL, "", "dns:db.example", 1},
      {"ip:fe800000000000000000000000000000ffc00000000000000000000000000000", NULL, "",
       "ip:febf0000000000000000000000000001", 1},
      {"ip:fe800000000000000000000000000000ffc00000000000000000000000000000", NULL, "",
       "ip:fec00000000000000000000000000001", 0},
      {NULL, "ip:0000000000000000", "", "ip:7f000001", 0},
      /* The directory: the subject, and names of that form. */
      {"dir:O=edb", NULL, "O=edb,CN=db", "dns:db.example", 1},
      {"dir:O=edb", NULL, "O=EDB,CN=db", "dns:db.example", 1},
      {"dir:O=edb", NULL, "O=~edb,CN=db", "dns:db.example", 1},
      {"dir:O=edb", NULL, "O=edbx,CN=db", "dns:db.example", 0},
      {"dir:O=edb", NULL, "CN=db,O=edb", "dns:db.example", 0},
      {"dir:O=edb", NULL, "", "dns:db.example", 1},
      {"dir:O=edb", NULL, "O=edb", "dir:O=other", 0},
      {"dir:O=edb,CN=db", NULL, "O=edb", "", 0},
      {NULL, "dir:O=edb", "O=~EDB,CN=db", "", 0},
      {NULL, "dir:O=edb", "O= edb,CN=db", "", 0},
      {NULL, "dir:O=edb", "O=other", "dir:O=edb", 0},
      {NULL, "dir:O=edb", "O=other", "dir:O=else", 1},
      {NULL, "dir:O=edb", "CN=edb", "", 1},
      {NULL,
       "dir:O=~\xc3\xa9"
       "db",
       "O=~\xc3\x89"
       "DB",
       "", 0}, /* perhaps the same */
      {"dir:O=~\xc3\xa9"
       "db",
       NULL,
       "O=~\xc3\x89"
       "DB",
       "", 0},
      {"dir:O=~\xc3\xa9"
       "db",
       NULL,
       "O=~\xc3\xa9"
       "db",
       "", 1},
      {"dir:O=edb+CN=x", NULL, "CN=x+O=edb", "", 1},
      {"dir:O=edb+CN=x", NULL, "O=edb", "", 0},
      {NULL, "dir:", "O=edb", "", 0},
      /* Forms that nothing is known of: where one is constrained and there. */
      {"mail:example", NULL, "", "dns:db.example", 1},
      {"mail:example", NULL, "", "mail:a@example", 0},
      {"mail:example", NULL, "E=a@example", "", 0},
      {NULL, "mail:example", "E=a@other", "", 0},
      {NULL, "other:", "", "other:", 0},
      {NULL, "uri:x", "", "uri:y", 0},
      {NULL, "uri:x", "", "dns:y", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned work = 1000;
    const tls_flaw flaw =
        constrain(cases[i].permitted, cases[i].excluded, cases[i].subject, cases[i].names, &work);
    if (!CHECK_INT(flaw, cases[i].allowed ? TLS_FLAW_NONE : TLS_FLAW_NOT_PERMITTED))
      printf("  %s / %s: %s %s\n", cases[i].permitted, cases[i].excluded, cases[i].subject,
             cases[i].names);
  }
}

static void test_work(void) {
  unsigned work = 6;
  const char *const permitted = "dns:a.com dns:b.com dns:c.com", *const names =
                                                                     "dns:c.com dns:c.com";
  CHECK_INT(constrain(permitted, NULL, "", names, &work), TLS_FLAW_NONE);
  CHECK_INT(work, 0);
  work = 5;
  CHECK_INT(constrain(permitted, NULL, "", names, &work), TLS_FLAW_WORK);
  work = 0;
  CHECK_INT(constrain(NULL, "dns:x.com", "", "dns:db.example", &work), TLS_FLAW_WORK);
  CHECK_INT(constrain(permitted, NULL, "", "", &work), TLS_FLAW_NONE);
}

/* ---- Common names ---------------------------------------------------------------------------- */

static void test_common(void) {
  static const struct {
    const char *subject, *names;
    int strays;
  } cases[] = {
      {"CN=db.example", "dns:db.example", 0},
      {"CN=db.example", "dns:x.example dns:db.example", 0},
      {"CN=db.example", "dns:x.example", 1},
      {"CN=DB.example", "dns:db.example", 1}, /* to the letter */
      {"CN=example.com", "dns:*.example.com", 0},
      {"CN=example.com", "dns:db.example.com", 0},
      {"CN=ample.com", "dns:db.example.com", 1},
      {"CN=*.example.com", "dns:*.example.com", 0},
      {"CN=db.example", "ip:0a000001", 0},
      {"CN=db.example", "dns:localhost", 0},
      {"CN=Example Database", "dns:db.example", 0},
      {"CN=project:instance", "dns:db.example", 0},
      {"CN=localhost", "dns:db.example", 0},
      {"O=x.example", "dns:db.example", 0},
      {"", "dns:db.example", 0},
      {"CN=db.example,CN=other.example", "dns:db.example", 1},
      {"CN=1,CN=2,CN=3,CN=4,CN=5", "dns:db.example", 1},
      {"CN=~d\xc3\xb6.example", "dns:xn--d-1ga.example", 1},
      {"CN=10.0.0.1", "ip:0a000001", 0},
      {"CN=10.0.0.01", "ip:0a000001", 1},
      {"CN=0x0a000001", "ip:0a000001", 1},
      {"CN=10.0.0.1", "dns:db.example", 0},
      {"CN=2001:db8::1", "ip:20010db8000000000000000000000001", 0},
      {"CN=2001:DB8::1", "ip:20010db8000000000000000000000001", 1},
      {"CN=2001:db8:0:0:0:0:0:1", "ip:20010db8000000000000000000000001", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made s = {0}, n = {0};
    tls_certificate c = {0};
    put_name(&s, cases[i].subject);
    put_general(&n, cases[i].names);
    c.subject = tls_bytes_of(s.p, s.n);
    c.names = tls_bytes_of(n.p, n.n);
    if (!CHECK_INT(tls_common_name_strays(&c), cases[i].strays))
      printf("  %s: %s\n", cases[i].subject, cases[i].names);
  }
  /* RFC 5952's own examples. */
  static const char *const texts[][2] = {
      {"20010db8000000000000000000000001", "2001:db8::1"},
      {"20010db8000000010001000100010001", "2001:db8:0:1:1:1:1:1"},
      {"20010000000000010000000000000001", "2001:0:0:1::1"},
      {"20010db8000000000001000000000001", "2001:db8::1:0:0:1"},
      {"00000000000000000000000000000000", "::"},
      {"00000000000000000000000000000001", "::1"},
      {"00010000000000000000000000000000", "1::"},
      {"abcdef0123456789abcdef0123456789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"},
      {"0a0000ff", "10.0.0.255"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const bytes b = hex(texts[i][0]);
    char text[TLS_ADDRESS_TEXT];
    const size_t n = tls_address_text(b.p, b.n, text);
    CHECK_BYTES(text, n, texts[i][1], strlen(texts[i][1]));
  }
}

/* ---- Times ----------------------------------------------------------------------------------- */

static void test_times(void) {
  static const struct {
    unsigned tag;
    const char *text;
    int64_t expected; /* -1: refused */
  } cases[] = {
      {0x17, "700101000000Z", 0},
      {0x17, "700101000001Z", 1},
      {0x17, "491231235959Z", 2524607999},
      {0x17, "500101000000Z", -631152000},
      {0x17, "000229120000Z", 951825600},
      {0x17, "010229120000Z", -1},
      {0x18, "20500101000000Z", 2524608000},
      {0x18, "99991231235959Z", 253402300799},
      {0x18, "20491231235959Z", -1},
      {0x18, "21000229000000Z", -1},
      {0x18, "24000229000000Z", 13574563200},
      {0x17, "700101000000", -1},
      {0x17, "7001010000Z", -1},
      {0x17, "700101000000+0000", -1},
      {0x17, "701301000000Z", -1},
      {0x17, "700001000000Z", -1},
      {0x17, "700132000000Z", -1},
      {0x17, "700100000000Z", -1},
      {0x17, "700101240000Z", -1},
      {0x17, "700101006000Z", -1},
      {0x17, "700101000060Z", -1},
      {0x17, "7001010000:0Z", -1},
      {0x17, "20500101000000Z", -1},
      {0x18, "700101000000Z", -1},
      {0x18, "20500101000000.5Z", -1},
      {0x17, "", -1},
      {0x04, "700101000000Z", -1},
      {0x17, "700101000000z", -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made d = {0};
    put(&d, cases[i].tag, cases[i].text, strlen(cases[i].text));
    tls_der in = tls_der_of(tls_bytes_of(d.p, d.n)), again = in;
    const int64_t t = tls_der_time(&in, NULL);
    int loose = 0;
    if (!CHECK_INT(in.bad ? -1 : t, cases[i].expected)) printf("  %s\n", cases[i].text);
    /* A root's time may be one that is early for its form. */
    tls_der_time(&again, &loose);
    CHECK_INT(loose, strcmp(cases[i].text, "20491231235959Z") == 0);
    CHECK_INT(again.bad, in.bad && !loose);
  }
}

int main(void) {
  test_read();
  test_wildcards();
  test_match();
  test_valid();
  test_constraints();
  test_work();
  test_common();
  test_times();
  return unit_done("tls_name");
}
