/*
** url.c: servers' URLs and the options beside them: what they mean, what is refused, and that no secret is
** in an error or a masked URL, however broken the URL is.
*/
#include "host.h"
#include "drivers/driverInt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What a URL means ------------------------------------------------------------------------ */

/* The options that a driver's open would get, as `name=value` lines. */
static const char *options_of(const char *url, const edb_option *options, size_t n) {
  static char text[4096];
  const edb_driver *driver;
  edb_option_set set;
  edb_error e;
  size_t used = 0;
  int rc = edb_options_collect(url, options, n, &unit_host, &driver, &set, &e);
  text[0] = 0;
  if (rc != EDB_OK) {
    snprintf(text, sizeof text, "error %d: %s", rc, e.message);
    return text;
  }
  for (size_t i = 0; i < set.n; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i ? " " : "",
                             set.options[i].name, set.options[i].value);
  }
  edb_options_wipe(&unit_host, &set);
  CHECK_INT(unit_blocks, 0);
  CHECK(set.options == NULL);
  return text;
}

static void means(const char *url, const char *expected) {
  edb_error e;
  CHECK_STR(options_of(url, NULL, 0), expected);
  CHECK_INT(edb_url_check(url, NULL, 0, &e), EDB_OK);
}

static void test_means(void) {
  means("postgresql://app:pw@db.example:5433/shop?sslmode=require",
        "user=app password=pw host=db.example port=5433 database=shop sslmode=require");
  means("postgres://app@db.example/shop", "user=app host=db.example database=shop");
  means("POSTGRESQL://h/d", "host=h database=d");
  means("postgresql://", "");
  means("postgresql:///shop", "database=shop");
  means("postgresql://app@/shop", "user=app database=shop");
  means("postgresql://:pw@h", "password=pw host=h");
  means("postgresql://app:@h", "user=app host=h");
  means("postgresql://h?sslmode=require", "host=h sslmode=require");
  means("postgresql://h/?sslmode=require", "host=h sslmode=require");
  means("postgresql://h/d?", "host=h database=d");
  means("postgresql://h/d?&&sslmode=a&", "host=h database=d sslmode=a");
  means("postgresql:///d?host=/run/postgresql&port=5433",
        "database=d host=/run/postgresql port=5433");
  means("postgresql://a:1,b:2/d", "host=a,b port=1,2 database=d");
  means("postgresql://a,b:2,c/d", "host=a,b,c port=,2, database=d");
  means("postgresql://a,b/d", "host=a,b database=d");
  means("postgresql://[::1]/d", "host=::1 database=d");
  means("postgresql://u@[fe80::1%25eth0]:5432,[::2]:5433/d",
        "user=u host=fe80::1%eth0,::2 port=5432,5433 database=d");
  means("postgresql://%2Frun%2Fpostgresql/d", "host=/run/postgresql database=d");
  means("postgresql://%2Frun%2Fpostgresql:5433/d", "host=/run/postgresql port=5433 database=d");
  means("postgresql://a%40b:p%3Aw%2F%3F%25%40@h/d%20b?ssl%6Dode=%26%3D",
        "user=a@b password=p:w/?%@ host=h database=d b sslmode=&=");
  means("postgresql://a:b:c@h", "user=a password=b:c host=h");
  means("postgresql://a:b@c@h", "user=a password=b@c host=h");
  means("postgresql://a:b#c@h", "user=a password=b#c host=h");
  means("postgresql://h/a/b", "host=h database=a/b");
  means("postgresql://h/d?sslmode=", "host=h database=d sslmode=");
  means("postgresql://h/d?sslmode=a=b", "host=h database=d sslmode=a=b");
  means("postgresql://h/%C3%A9", "host=h database=\xc3\xa9");

  means("sqlite:shop.db", "path=shop.db");
  means("sqlite:/a/b c.db?mode=ro&busy_timeout=7", "path=/a/b c.db mode=ro busy_timeout=7");
  means("sqlite:a%3Fb%25.db", "path=a?b%.db");
  means("sqlite::memory:", "path=:memory:");
  means("sqlite:C:\\data\\a@b.db", "path=C:\\data\\a@b.db");
  means("sqlite:", "");
  means("sqlite:?mode=ro", "mode=ro");
  means("memory:", "");
  means("memory:anything", "path=anything");
}

static void test_beside(void) {
  const edb_option database = {"database", "b"}, password = {"password", "mine"};
  const edb_option two[] = {{"user", "u"}, {"sslmode", "require"}};
  const edb_option twice[] = {{"user", "u"}, {"user", "v"}};
  const edb_option both[] = {{"password", "u"}, {"password_env", "v"}};
  const edb_option unknown = {"usr", "u"};
  CHECK_STR(options_of("postgresql://h/a", &database, 1), "host=h database=b");
  CHECK_STR(options_of("postgresql://w:x@h/a", two, 2),
            "password=x host=h database=a user=u sslmode=require");
  CHECK_STR(options_of("postgresql://w:x@h/a", &password, 1),
            "user=w host=h database=a password=mine");
  CHECK_STR(options_of("postgresql://h/a?password_env=NOT_SET", &password, 1),
            "host=h database=a password=mine");
  CHECK_STR(options_of("postgresql://h", twice, 2), "error 5: option \"user\" is given twice");
  CHECK_STR(options_of("postgresql://h", both, 2),
            "error 5: of the options \"password\" and \"password_env\" only one can be given");
  CHECK(strstr(options_of("postgresql://h", &unknown, 1), "unknown option \"usr\"; valid ones: "));
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refused(const char *url, const char *message) {
  edb_error e = {.code = EDB_OK};
  if (!CHECK_INT(edb_url_check(url, NULL, 0, &e), EDB_INVALID_QUERY) ||
      !CHECK(strstr(e.message, message) != NULL)) {
    printf("  %s\n  %s\n", url, e.message);
  }
  CHECK_INT(e.code, EDB_INVALID_QUERY);
  CHECK_INT(edb_url_check(url, NULL, 0, NULL), EDB_INVALID_QUERY);
  CHECK_INT(unit_blocks, 0);
}

static void test_refused(void) {
  edb_error e;
  refused("", "a URL starts with one of these schemes: postgresql://, ");
  refused("shop", "a URL starts with one of these schemes");
  refused(":shop", "a URL starts with one of these schemes");
  refused("a b:shop", "a URL starts with one of these schemes");
  refused("oracle://h", "unknown scheme \"oracle\"; valid ones: postgresql://, ");
  refused("postgresq://h", "sqlite:");
  refused("postgresqll://h", "unknown scheme");
  CHECK(edb_url_driver("sqlite:x", &e) == &edb_sqlite_driver);
  CHECK(edb_url_driver("SQLite:x", &e) == &edb_sqlite_driver);
  CHECK(edb_url_driver("postgres://x", &e) == &edb_postgresql_driver);
  CHECK(edb_url_driver("sqlit:x", NULL) == NULL);

  refused("postgresql:shop", "the URL is written postgresql://user@host/database");
  refused("postgresql:/shop", "the URL is written postgresql://user@host/database");
  refused("postgresql://h:x", "has a port that is no number");
  refused("postgresql://h:543210", "has a port that is no number");
  refused("postgresql://a:1:2", "an IPv6 address stands in brackets");
  refused("postgresql://::1/d", "an IPv6 address stands in brackets");
  refused("postgresql://[::1/d", "has a [ without its ]");
  refused("postgresql://[::1]x/d", "between a ] and its port");
  refused("postgresql://h%/d", "two hexadecimal digits");
  refused("postgresql://h/%2", "two hexadecimal digits");
  refused("postgresql://h/%2g", "two hexadecimal digits");
  refused("postgresql://h/%00", "%00");
  refused("postgresql://h/d?sslmode", "has an option without a value");
  refused("postgresql://h/d?ssl%mode=1", "unknown option");
  refused("postgresql://h/d?sslmod=1", "unknown option \"sslmod\"; valid ones: ");
  refused("postgresql://h/d?sslmod=1", "password_env, password_file");
  refused("postgresql://h/d?sslmode=1&sslmode=2", "option \"sslmode\" is given twice");
  refused("postgresql://h/d?host=x", "option \"host\" is given twice");
  refused("postgresql://u:p@h/d?password=x", "option \"password\" is given twice");
  refused("postgresql://u:p@h/d?password_file=x", "only one can be given");
  refused("sqlite:a?mode=ro&nolock=1",
          "unknown option \"nolock\"; valid ones: path, mode, busy_timeout");
  refused("sqlite:a?password=x", "unknown option \"password\"");
  refused("sqlite:a?password_env=x", "unknown option \"password_env\"");
  refused("sqlite:a%zz", "two hexadecimal digits");
  refused("sqlite:a?path=b", "given twice");
}

/* ---- Secrets --------------------------------------------------------------------------------- */

static void masked(const char *url, const char *expected) {
  char *text = edb_url_mask(&unit_host, url);
  CHECK_STR(text, expected);
  CHECK_INT(edb_url_has_secret(url), strcmp(url, expected) != 0);
  unit_resize(NULL, text, 0);
  CHECK_INT(unit_blocks, 0);
}

static void test_mask(void) {
  masked("postgresql://app@h/d", "postgresql://app@h/d");
  masked("postgresql://app:hunter2@h:1/d?sslmode=a", "postgresql://app:***@h:1/d?sslmode=a");
  masked("postgresql://:hunter2@h", "postgresql://:***@h");
  masked("postgresql://a:b@c:d@h", "postgresql://a:***@h");
  masked("postgresql://h/d?password=hunter2", "postgresql://h/d?password=***");
  masked("postgresql://h/d?pass%77ord=hunter2&sslmode=x",
         "postgresql://h/d?pass%77ord=***&sslmode=x");
  masked("postgresql://h/d?password=", "postgresql://h/d?password=");
  masked("postgresql://h/d?password_env=PW", "postgresql://h/d?password_env=PW");
  masked("sqlite:shop.db?mode=ro", "sqlite:shop.db?mode=ro");
  masked("memory:", "memory:");
  /* What cannot be parsed: as a whole. */
  masked("postgresql://app:hun/ter2@h/d", "postgresql://***");
  masked("postgresql://app:hun?ter2@h/d", "postgresql://***");
  masked("postgresql://app:12?ter=2@h/d", "postgresql://***");
  masked("postgresql://app:12/34@h/d", "postgresql://***");
  masked("postgresql://app:hunter2%@h", "postgresql://***");
  masked("postgresql://app:hunter2@h?nonsense=1", "postgresql://***");
  masked("postgresql:app:hunter2@h", "postgresql:***");
  masked("postgresql://app:hunter2", "postgresql://***");
  masked("oracle://app:hunter2@h", "oracle://***");
  masked("app:hunter2@h", "app:***");
  masked("hunter2@h", "***");
  masked("", "***");
  unit_fail_in = 0;
  CHECK(edb_url_mask(&unit_host, "memory:") == NULL);
  CHECK_INT(unit_blocks, 0);
}

/* No error and no masked URL holds the secret, whatever is wrong with the URL. */
static void keeps_secret(const char *url) {
  edb_error e = {.code = EDB_OK};
  edb_connection c;
  char *text = edb_url_mask(&unit_host, url);
  int ok = CHECK(text && !strstr(text, "hunter") && !strstr(text, "etnuh"));
  unit_resize(NULL, text, 0);
  edb_url_check(url, NULL, 0, &e);
  ok &= CHECK(!strstr(e.message, "hunter") && !strstr(e.message, "etnuh"));
  ok &= CHECK(!strstr(e.hint, "hunter") && !strstr(e.hint, "etnuh"));
  if (e.code != EDB_OK) ok &= CHECK_INT(edb_open(url, NULL, 0, &unit_host, &c, &e), e.code);
  ok &= CHECK(!strstr(e.message, "hunter") && !strstr(e.message, "etnuh"));
  if (!ok) printf("  %s\n", url);
}

static void test_secrets(void) {
  static const char *const between[] = {":", "@", "/", "?", "%", "%2", "&",  "=",   "#",
                                        "[", "]", ",", " ", "+", "//", "/?", "?x=", "\xff"};
  static const char *const rest[] = {"@h/d", "@h:x/d", "@[::1/d", "@h/d?nonsense=1", "@h/%zz", "@"};
  char url[256];
  for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
    for (size_t j = 0; j < sizeof rest / sizeof rest[0]; j++) {
      snprintf(url, sizeof url, "postgresql://app:hunter%setnuh%s", between[i], rest[j]);
      /* A port that is no number, or an unescaped mark: each is an error or a password. */
      keeps_secret(url);
      snprintf(url, sizeof url, "nosuch://app:hunter%setnuh%s", between[i], rest[j]);
      keeps_secret(url);
      snprintf(url, sizeof url, "postgresql:app:hunter%setnuh%s", between[i], rest[j]);
      keeps_secret(url);
    }
  }
  keeps_secret("postgresql://h/d?password=hunter%zz");
  keeps_secret("postgresql://h/d?password=hunter&password=etnuh");
  keeps_secret("postgresql://h/d?password=hunter&nonsense=1");
  keeps_secret("postgresql://u:hunter@h/d?password=etnuh");
}

/* ---- password_env, password_file ------------------------------------------------------------- */

static void write_file(const char *name, const void *p, size_t n, mode_t mode) {
  int fd;
  unlink(name);
  fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);
  CHECK(fd >= 0 && write(fd, p, n) == (ssize_t)n && fchmod(fd, mode) == 0);
  close(fd);
}

static void test_password(void) {
  char name[64], url[160], expected[256], big[2000];
  snprintf(name, sizeof name, "unit_url_%ld.pw", (long)getpid());
  snprintf(url, sizeof url, "postgresql://u@h?password_file=%s", name);
  setenv("EDB_UNIT_PASSWORD", "from the environment", 1);
  unsetenv("EDB_UNIT_NOT_SET");
  CHECK_STR(options_of("postgresql://h?password_env=EDB_UNIT_PASSWORD", NULL, 0),
            "host=h password=from the environment");
  CHECK_STR(options_of("postgresql://h?password_env=EDB_UNIT_NOT_SET", NULL, 0),
            "error 9: the environment variable \"EDB_UNIT_NOT_SET\" (password_env) is not set");

  write_file(name, "hunter2\nsecond line\n", 20, 0600);
  CHECK_STR(options_of(url, NULL, 0), "user=u host=h password=hunter2");
  write_file(name, "hunter2\r\n", 9, 0400);
  CHECK_STR(options_of(url, NULL, 0), "user=u host=h password=hunter2");
  write_file(name, " spaced ", 8, 0600);
  CHECK_STR(options_of(url, NULL, 0), "user=u host=h password= spaced ");
  write_file(name, "hunter2", 7, 0640);
  snprintf(expected, sizeof expected,
           "error 9: the password_file \"%s\" can be read or written by others; chmod 600 it",
           name);
  CHECK_STR(options_of(url, NULL, 0), expected);
  write_file(name, "hunter2", 7, 0602);
  CHECK_STR(options_of(url, NULL, 0), expected);
  snprintf(expected, sizeof expected,
           "error 9: the first line of the password_file \"%s\" is no password", name);
  write_file(name, "", 0, 0600);
  CHECK_STR(options_of(url, NULL, 0), expected);
  write_file(name, "\nhunter2\n", 9, 0600);
  CHECK_STR(options_of(url, NULL, 0), expected);
  write_file(name, "hun\0ter2\n", 9, 0600);
  CHECK_STR(options_of(url, NULL, 0), expected);
  memset(big, 'x', sizeof big);
  write_file(name, big, sizeof big, 0600);
  CHECK(strstr(options_of(url, NULL, 0), "is too long") != NULL);
  write_file(name, big, 1024, 0600);
  CHECK(strstr(options_of(url, NULL, 0), "is too long") != NULL);
  write_file(name, big, 1023, 0600);
  CHECK_INT(strlen(options_of(url, NULL, 0)), strlen("user=u host=h password=") + 1023);
  unlink(name);
  snprintf(expected, sizeof expected,
           "error 9: the password_file \"%s\" cannot be read: No such file or directory", name);
  CHECK_STR(options_of(url, NULL, 0), expected);
  CHECK(strstr(options_of("postgresql://h?password_file=.", NULL, 0), "password_file \".\"") !=
        NULL);
}

/* Blocks with the password are overwritten before they are freed. */
static size_t block_size;
static int found_secret;

static void *looking_resize(void *context, void *p, size_t n) {
  if (n == 0 && p) found_secret |= memmem(p, block_size, "hunter2", 7) != NULL;
  block_size = n;
  return unit_resize(context, p, n);
}

static void test_wiped(void) {
  const edb_host host = {.resize = looking_resize};
  const edb_driver *driver;
  edb_option_set set;
  edb_error e;
  CHECK_INT(edb_options_collect("postgresql://u:hunter2@h", NULL, 0, &host, &driver, &set, &e),
            EDB_OK);
  CHECK(memmem(set.options, set.size, "hunter2", 7) != NULL);
  edb_options_wipe(&host, &set);
  CHECK_INT(found_secret, 0);
  CHECK_INT(edb_options_collect("postgresql://u:hunter2@h?password_env=X", NULL, 0, &host, &driver,
                                &set, &e),
            EDB_INVALID_QUERY);
  CHECK_INT(found_secret, 0);
  CHECK_INT(unit_blocks, 0);
}

/* ---- Anything at all ------------------------------------------------------------------------- */

static uint64_t seed = 4711;

static size_t below(size_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (size_t)(seed % n);
}

/* Heap memory of the right size, so that the sanitizer sees a byte too many. */
static void try_url(const char *bytes, size_t n) {
  char *url = malloc(n + 1), *mask;
  edb_error e;
  if (!url) abort();
  memcpy(url, bytes, n);
  url[n] = 0;
  mask = edb_url_mask(&unit_host, url);
  if (mask) unit_resize(NULL, mask, 0);
  edb_url_has_secret(url);
  if (edb_url_check(url, NULL, 0, &e) == EDB_OK) {
    const edb_driver *driver;
    edb_option_set set;
    if (edb_options_collect(url, NULL, 0, &unit_host, &driver, &set, &e) == EDB_OK) {
      edb_options_wipe(&unit_host, &set);
    }
  } else if (e.message[0] == 0) {
    CHECK(e.message[0] != 0);
  }
  free(url);
}

static void test_anything(void) {
  static const char *const seeds[] = {
      "postgresql://app:pw%40@h:5433,[::1]:1/shop?sslmode=a&password_env=X&host=%2Ft",
      "sqlite:a%20b.db?mode=rwc&busy_timeout=10", "memory:x?path=y", "nosuch://user:pw@host"};
  static const char marks[] = ":/?#[]@%&=,;+. \xff\x80"
                              "0aZ";
  char url[400];
  for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
    size_t n = strlen(seeds[i]);
    for (size_t cut = 0; cut <= n; cut++) {
      try_url(seeds[i], cut);
      try_url(seeds[i] + cut, n - cut);
    }
    for (int round = 0; round < 20000; round++) {
      size_t m = n;
      memcpy(url, seeds[i], n);
      for (size_t edits = 1 + below(4); edits > 0 && m > 2; edits--) {
        size_t at = below(m - 1);
        if (below(3) == 0) {
          memmove(url + at, url + at + 1, m - at - 1);
          m--;
        } else {
          url[at] = below(2) ? marks[below(sizeof marks - 1)] : (char)(1 + below(255));
        }
      }
      try_url(url, m);
    }
  }
  for (int round = 0; round < 20000; round++) {
    size_t n = below(60), head = below(2) ? 13 : 0;
    memcpy(url, "postgresql://", 13);
    for (size_t i = 0; i < n; i++) url[head + i] = marks[below(sizeof marks - 1)];
    try_url(url, head + n);
  }
  CHECK_INT(unit_blocks, 0);
}

int main(void) {
  unit_use_sqlite();
  test_means();
  test_beside();
  test_refused();
  test_mask();
  test_secrets();
  test_password();
  test_wiped();
  test_anything();
  return unit_done("url");
}
