/*
** The SQL Server driver's TLS sessions, against a tdsd of its own, which tells how many handshakes resumed one: the
** second connection does, and none does that trusts, names or encrypts otherwise.
*/
#include "tdsd.h"

static int handshakes, resumed;

/* Connects and uses the connection: how many handshakes that took, and how many of them resumed. */
static void connect_once(const char *name, const char *options, const char *expected) {
  int before, resumed_before;
  char *p;
  before = (int)strtol(tell("handshakes"), &p, 10);
  resumed_before = (int)strtol(p, NULL, 10);
  HAS(opened(name, options), expected);
  handshakes = (int)strtol(tell("handshakes"), &p, 10) - before;
  resumed = (int)strtol(p, NULL, 10) - resumed_before;
}

static void expect(const char *name, const char *options, int whole, int again) {
  connect_once(name, options, "42");
  CHECK_INT(handshakes, whole + again);
  CHECK_INT(resumed, again);
  if (handshakes != whole + again || resumed != again) printf("  with %s\n", options);
}

static void test_resumption(void) {
  static const char *const modes[] = {"", "&encrypt=mandatory"};
  static const char *const versions[] = {"1.2 1.2", "1.3 1.3"};
  for (int m = 0; m < 2; m++) {
    for (int v = 0; v < 2; v++) {
      tell("tls %s", versions[v]);
      connect_once("127.0.0.1", modes[m], "42");
      for (int i = 0; i < 3; i++) expect("127.0.0.1", modes[m], 0, 1);
    }
  }
  tell("tls 1.2 1.3");
  /* Two at once: each leaves one for the next. */
  edb_connection c, d;
  expect("127.0.0.1", "", 0, 1);
  const int before = (int)strtol(strchr(tell("handshakes"), ' '), NULL, 10);
  open_own(&c, "");
  open_own(&d, "");
  CHECK_INT((int)strtol(strchr(tell("handshakes"), ' '), NULL, 10) - before, 2);
  usable(&c);
  usable(&d);
  CHECK_INT(edb_close(&c), EDB_OK);
  CHECK_INT(edb_close(&d), EDB_OK);
}

/* What decides whom to trust, and how to encrypt. */
static void test_others(void) {
  char options[1400], path[1100], command[2400], pin[65] = "";
  FILE *f;
  expect("127.0.0.1", "", 0, 1);
  expect("localhost", "", 1, 0); /* another name */
  expect("localhost", "", 0, 1);
  expect("127.0.0.1", "&server_name=localhost", 1, 0);
  expect("127.0.0.1", "&server_name=localhost", 0, 1);
  expect("127.0.0.1", "&cipher=portable", 1, 0);
  expect("127.0.0.1", "&cipher=portable", 0, 1);
  connect_once("127.0.0.1", "&server_name=elsewhere.test", "certificate");
  CHECK_INT(resumed, 0);
  expect("127.0.0.1", "", 0, 1);
  /* The same roots in another file are another trust; so is the same file with other roots. */
  snprintf(path, sizeof path, "%s/other.pem", dir);
  snprintf(command, sizeof command, "cp %s/ca.pem %s", dir, path);
  CHECK_INT(system(command), 0);
  snprintf(options, sizeof options, "sqlserver://edb:s3cret%%40edb@127.0.0.1:%d/master?ca=%s", port,
           path);
  for (int round = 0; round < 3; round++) {
    edb_connection c;
    edb_error e;
    if (round == 2) {
      snprintf(command, sizeof command, "cp %s/self-signed.pem %s", dir, path);
      CHECK_INT(system(command), 0);
    }
    const int before = (int)strtol(strchr(tell("handshakes"), ' '), NULL, 10);
    CHECK_INT(edb_open(options, NULL, 0, &host, &c, &e), round == 2 ? EDB_FAILED : EDB_OK);
    if (round < 2) CHECK_INT(edb_close(&c), EDB_OK);
    CHECK_INT((int)strtol(strchr(tell("handshakes"), ' '), NULL, 10) - before, round == 1);
  }
  /* A pin, and then another one. */
  snprintf(command, sizeof command,
           "openssl x509 -in %s/good.pem -noout -pubkey | openssl pkey -pubin -outform DER |"
           " openssl dgst -sha256 -r",
           dir);
  f = popen(command, "r");
  CHECK(f != NULL && fread(pin, 1, 64, f) == 64);
  if (f) pclose(f);
  for (int round = 0; round < 3; round++) {
    edb_connection c;
    edb_error e;
    if (round == 2) pin[5] = pin[5] == '0' ? '1' : '0';
    snprintf(options, sizeof options, "sqlserver://edb:s3cret%%40edb@127.0.0.1:%d/master?pin=%s",
             port, pin);
    const int before = (int)strtol(strchr(tell("handshakes"), ' '), NULL, 10);
    CHECK_INT(edb_open(options, NULL, 0, &host, &c, &e), round == 2 ? EDB_FAILED : EDB_OK);
    if (round < 2) CHECK_INT(edb_close(&c), EDB_OK);
    CHECK_INT((int)strtol(strchr(tell("handshakes"), ' '), NULL, 10) - before, round == 1);
  }
}

/* A session that the server does not know, or does not even want to see. */
static void test_refused(void) {
  static const char *const modes[] = {"", "&encrypt=mandatory"};
  for (int m = 0; m < 2; m++) {
    connect_once("127.0.0.1", modes[m], "42");
    expect("127.0.0.1", modes[m], 0, 1);
    tell("cert wrong-name"); /* whoever has other keys than the one who gave it */
    connect_once("127.0.0.1", modes[m], "certificate");
    CHECK_INT(resumed, 0);
    tell("cert good");
    expect("127.0.0.1", modes[m], 1, 0);
    tell("fault no_resume 1");
    expect("127.0.0.1", modes[m], 1, 0);
    tell("fault reset");
    expect("127.0.0.1", modes[m], 0, 1);
  }
}

/* More servers' names than are kept. */
static void test_bounds(void) {
  char name[40];
  for (int i = 0; i < 40; i++) {
    snprintf(name, sizeof name, "&server_name=h%d.routed.test", i);
    expect("127.0.0.1", name, 1, 0);
  }
  expect("127.0.0.1", "&server_name=h39.routed.test", 0, 1);
  expect("127.0.0.1", "&server_name=h20.routed.test", 0, 1);
  expect("127.0.0.1", "&server_name=h0.routed.test", 1, 0);
}

static void *plain_resize(void *context, void *memory, size_t size) {
  (void)context;
  if (size > 0) return realloc(memory, size);
  free(memory);
  return NULL;
}

static void *many(void *context) {
  (void)context;
  for (int i = 0; i < 10; i++) {
    edb_connection c;
    edb_error e;
    const edb_host own = {.resize = plain_resize};
    char text[1200];
    snprintf(text, sizeof text, "sqlserver://edb:s3cret%%40edb@127.0.0.1:%d/master?ca=%s/ca.pem",
             port, dir);
    if (edb_open(text, NULL, 0, &own, &c, &e) == EDB_OK) edb_close(&c);
  }
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, many, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  connect_once("127.0.0.1", "", "42");
  expect("127.0.0.1", "", 0, 1);
}

int main(void) {
  start_server();
  test_resumption();
  test_others();
  test_refused();
  test_bounds();
  test_threads();
  stop_server();
  return unit_done("sqlserver_resume");
}
