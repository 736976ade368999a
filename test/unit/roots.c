/*
** roots.c: drivers/trust.c: roots from files, folders and the environment; parsed once, and again when they have
** changed; shared by threads.
*/
#include "rogue.h"
#include "drivers/trust.h"

#include <openssl/pem.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static edb_error error;

/* Writes certificates of authorities with these names to a file; der: the one, in DER. */
static void write_roots(const char *path, const char *const *names, int der) {
  FILE *f = fopen(path, "w");
  if (!f) exit(2);
  fputs(names[0] ? "some words before\n" : "no certificate", f);
  if (der) rewind(f);
  for (; *names; names++) {
    X509 *x = rogue_certificate(rogue_ca.key, *names, NULL, rogue_ca.key);
    MUST(der ? i2d_X509_fp(f, x) : PEM_write_X509(f, x));
    X509_free(x);
  }
  fclose(f);
}

static size_t count_of(const char *path) {
  const tls_trust *trust = NULL;
  if (edb_trust_get(path, &trust, &error) != EDB_OK) return 0;
  size_t n = trust->anchor_count;
  edb_trust_done(trust);
  return n;
}

static void files(void) {
  const tls_trust *first, *second, *third;
  write_roots("two.pem", (const char *[]){"one", "two", NULL}, 0);
  write_roots("one.der", (const char *[]){"three", NULL}, 1);
  write_roots("none.pem", (const char *[]){NULL}, 0);
  CHECK_INT(edb_trust_get("two.pem", &first, &error), EDB_OK);
  CHECK_INT(first->anchor_count, 2);
  CHECK_INT(count_of("one.der"), 1);
  /* The same again is the same again. */
  CHECK_INT(edb_trust_get("two.pem", &second, &error), EDB_OK);
  CHECK(second == first);
  edb_trust_done(second);
  /* Who began with the old roots keeps them; who comes now gets the new ones. */
  write_roots("two.pem", (const char *[]){"one", "two", "four", NULL}, 0);
  CHECK_INT(edb_trust_get("two.pem", &third, &error), EDB_OK);
  CHECK(third != first);
  CHECK_INT(third->anchor_count, 3);
  CHECK_INT(first->anchor_count, 2);
  CHECK(first->anchors[0].subject[0] == 0x30);
  edb_trust_done(first);
  edb_trust_done(third);
  CHECK_INT(count_of("two.pem"), 3);

  CHECK_INT(edb_trust_get("none.pem", &first, &error), EDB_FAILED);
  CHECK(first == NULL);
  CHECK_STR(error.message, "there is no certificate in none.pem");
  CHECK_INT(edb_trust_get("nosuch.pem", &first, &error), EDB_FAILED);
  CHECK_STR(error.message,
            "there are no certificates to trust in nosuch.pem: it cannot be read, or is empty");
  /* And it is not remembered that there was none. */
  write_roots("nosuch.pem", (const char *[]){"five", NULL}, 0);
  CHECK_INT(count_of("nosuch.pem"), 1);
  unlink("nosuch.pem");
  CHECK_INT(count_of("nosuch.pem"), 0);
}

static void folders(void) {
  mkdir("roots", 0755);
  mkdir("roots/inner", 0755);
  mkdir("empty", 0755);
  write_roots("roots/a.pem", (const char *[]){"one", "two", NULL}, 0);
  write_roots("roots/b.crt", (const char *[]){"three", NULL}, 1);
  write_roots("roots/README", (const char *[]){NULL}, 0);
  CHECK_INT(symlink("a.pem", "roots/0123abcd.0"), 0);
  /* What a link names a second time is one root all the same. */
  CHECK_INT(count_of("roots"), 3);
  write_roots("roots/c.pem", (const char *[]){"four", NULL}, 0);
  CHECK_INT(count_of("roots"), 4);
  unlink("roots/b.crt");
  CHECK_INT(count_of("roots"), 3);
  CHECK_INT(count_of("empty"), 0);
}

static void system_store(void) {
  const tls_trust *trust;
  setenv("SSL_CERT_FILE", "two.pem", 1);
  CHECK_INT(count_of(NULL), 3);
  setenv("SSL_CERT_FILE", "", 1);
  setenv("SSL_CERT_DIR", "roots", 1);
  CHECK_INT(count_of(NULL), 3);
  unsetenv("SSL_CERT_DIR");
  unsetenv("SSL_CERT_FILE");
  /* Machines without any are said so of. */
  if (edb_trust_get(NULL, &trust, &error) == EDB_OK) {
    CHECK(trust->anchor_count > 0);
    edb_trust_done(trust);
  } else {
    CHECK(strstr(error.message, "there are no certificates to trust") == error.message);
  }
}

static void *use(void *trusts) {
  for (int i = 0; i < 200; i++) {
    const tls_trust *trust = NULL;
    if (edb_trust_get("two.pem", &trust, NULL) != EDB_OK || trust->anchor_count != 3) return NULL;
    *(const tls_trust **)trusts = trust;
    edb_trust_done(trust);
  }
  return trusts;
}

static void threads(void) {
  pthread_t thread[8];
  const tls_trust *trusts[8];
  for (int i = 0; i < 8; i++) pthread_create(&thread[i], NULL, use, &trusts[i]);
  for (int i = 0; i < 8; i++) {
    void *result = NULL;
    pthread_join(thread[i], &result);
    CHECK(result != NULL);
    CHECK(trusts[i] == trusts[0]);
  }
}

int main(void) {
  char folder[] = "/tmp/edb-roots-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder) != 0) return 2;
  rogue_make_identities();
  files();
  folders();
  system_store();
  threads();
  rogue_free_identities();
  const char *const made[] = {"two.pem",      "one.der",     "none.pem",        "roots/a.pem",
                              "roots/README", "roots/c.pem", "roots/0123abcd.0"};
  for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) unlink(made[i]);
  CHECK_INT(rmdir("roots/inner") | rmdir("roots") | rmdir("empty"), 0);
  CHECK_INT(chdir("/") | rmdir(folder), 0);
  return unit_done("roots");
}
