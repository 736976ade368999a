/*
** drivers/url.c: a server's URL, and the options beside it, as one checked list for a driver's open.
**
**     postgresql://app:s%3Acret@a.example:5432,b.example/shop?sslmode=require
**                  user password host, port              database  option
**     sqlite:shop.db?mode=ro
**            path    option
**     odbc:DSN=shop;UID=app;password_env=SHOP
**          words            option
**
** A URL is split into parts, which point into it; each part is one option. Checking decodes the parts
** to nowhere, collecting decodes them into one block that is wiped after use.
**
** A URL may hold a password where its writer did not mean it to be one: with `/` or `?` left unescaped in a
** password, the rest of it looks like a database or an option. So an unescaped @ behind the host is
** refused, what cannot be parsed is masked as a whole, and no message here quotes a value of a URL.
*/
#include "driverInt.h"

#include <stdlib.h>
#include <string.h>

typedef struct slice {
  const char *p;
  size_t n;
} slice;

typedef struct split_url {
  const edb_driver *driver;
  slice user, password, hosts, database, path, query;
  const char *words; /* NULL: it has no such form */
} split_url;

/* The hosts and the ports are two options from one part: `a:1,b:2` gives `a,b` and `1,2`. A word has nothing
** percent-encoded. */
typedef enum part_form { PART_WHOLE, PART_HOSTS, PART_PORTS, PART_WORD } part_form;

typedef struct part {
  slice name; /* may be percent-encoded */
  slice raw;  /* percent-encoded */
  part_form form;
} part;

typedef struct part_cursor {
  int fixed;    /* parts taken before the query */
  size_t query; /* bytes of the query, or of the words, taken */
} part_cursor;

/* What every driver that takes a password takes too. */
static const edb_option_spec password_specs[] = {
    {"password_env", EDB_OPTION_LOCAL, "environment variable that holds the password"},
    {"password_file", EDB_OPTION_LOCAL, "file whose first line is the password"},
    {NULL, 0, NULL}};

/* What any server may have; drivers do not see it. */
static const edb_option_spec common_specs[] = {
    {"readonly", 0, "1: nothing is written there"},
    {"snapshot", 0, "1: a transaction reads one state of the database"},
    {"two_phase", 0, "1: transactions are committed on all such servers or on none"},
    {NULL, 0, NULL}};

/* ---- Schemes --------------------------------------------------------------------------------- */

static int same_scheme(const char *scheme, const char *url, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) {
    char c = url[i] >= 'A' && url[i] <= 'Z' ? (char)(url[i] - 'A' + 'a') : url[i];
    if (scheme[i] != c) return 0;
  }
  return scheme[n] == 0;
}

/* Bytes of what looks like a scheme before a colon, or 0. */
static size_t scheme_size(const char *url) {
  size_t n = strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
  return n < 32 && url[n] == ':' ? n : 0;
}

/* Appends to a list in a fixed buffer, which it does not overrun. */
static void list_add(char *list, size_t size, const char *separator, const char *text) {
  size_t used = strlen(list), a = strlen(separator), b = strlen(text);
  if (used == 0) a = 0;
  if (used + a + b + 1 > size) return;
  memcpy(list + used, separator, a);
  memcpy(list + used + a, text, b + 1);
}

const edb_driver *edb_url_driver(const char *url, edb_error *error) {
  const edb_driver *const *driver;
  const char *const *scheme;
  size_t n = scheme_size(url);
  char list[256] = "";
  for (driver = edb_drivers; *driver; driver++) {
    for (scheme = (*driver)->schemes; *scheme; scheme++) {
      if (n > 0 && same_scheme(*scheme, url, n)) return *driver;
      list_add(list, sizeof list, ", ", *scheme);
      list_add(list, sizeof list, "", (*driver)->url == EDB_URL_AUTHORITY ? "://" : ":");
    }
  }
  if (n > 0) {
    edb_fail(error, EDB_INVALID_QUERY, "unknown scheme \"%.*s\"; valid ones: %s", (int)n, url,
             list);
  } else {
    edb_fail(error, EDB_INVALID_QUERY, "a URL starts with one of these schemes: %s", list);
  }
  return NULL;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* What stands before the mark; the rest, from the mark on, stays. All, if there is no mark. */
static slice take_until(slice *rest, const char *marks) {
  slice taken = {rest->p, 0};
  while (taken.n < rest->n && !strchr(marks, rest->p[taken.n])) taken.n++;
  rest->p += taken.n;
  rest->n -= taken.n;
  return taken;
}

static void skip(slice *rest) {
  rest->p++;
  rest->n--;
}

static int split_authority(slice rest, split_url *u, edb_error *error) {
  slice authority;
  size_t at;
  if (rest.n < 2 || memcmp(rest.p, "//", 2) != 0) {
    return edb_fail(error, EDB_INVALID_QUERY, "the URL is written %s://user@host/database",
                    u->driver->schemes[0]);
  }
  skip(&rest);
  skip(&rest);
  authority = take_until(&rest, "/?");
  if (memchr(rest.p, '@', rest.n)) {
    return edb_fail(
        error, EDB_INVALID_QUERY,
        "the URL has an @ behind its host; in a user, a password, a database or an option, "
        "write / as %%2F, ? as %%3F, @ as %%40");
  }
  at = authority.n;
  while (at > 0 && authority.p[at - 1] != '@') at--;
  if (at > 0) {
    slice credentials = {authority.p, at - 1};
    u->user = take_until(&credentials, ":");
    if (credentials.n > 0) skip(&credentials);
    u->password = credentials;
  }
  u->hosts.p = authority.p + at;
  u->hosts.n = authority.n - at;
  if (rest.n > 0 && *rest.p == '/') {
    skip(&rest);
    u->database = take_until(&rest, "?");
  }
  if (rest.n > 0) skip(&rest);
  u->query = rest;
  return EDB_OK;
}

static int split_words(const char *words, split_url *u, edb_error *error) {
  edb_word word;
  int more;
  u->words = words;
  while ((more = edb_word_next(&words, &word)) > 0) continue;
  if (more == 0) return EDB_OK;
  return edb_fail(error, EDB_INVALID_QUERY,
                  "the connection string is written %s:keyword=value;keyword={value}",
                  u->driver->schemes[0]);
}

static int split(const char *url, split_url *u, edb_error *error) {
  slice rest;
  memset(u, 0, sizeof *u);
  u->driver = edb_url_driver(url, error);
  if (!u->driver) return EDB_INVALID_QUERY;
  rest.p = strchr(url, ':') + 1;
  rest.n = strlen(rest.p);
  if (u->driver->url == EDB_URL_AUTHORITY) return split_authority(rest, u, error);
  if (u->driver->url == EDB_URL_WORDS) return split_words(rest.p, u, error);
  u->path = take_until(&rest, "?");
  if (rest.n > 0) skip(&rest);
  u->query = rest;
  return EDB_OK;
}

static slice slice_of(const char *text) {
  slice s = {text, strlen(text)};
  return s;
}

/* Whether any host is followed by a colon, outside the brackets of an address. */
static int has_port(slice hosts) {
  int inside = 0;
  for (; hosts.n > 0; skip(&hosts)) {
    if (*hosts.p == '[' || *hosts.p == ']') inside = *hosts.p == '[';
    if (*hosts.p == ':' && !inside) return 1;
  }
  return 0;
}

static int next_word(const split_url *u, part_cursor *c, part *out) {
  const char *from = u->words + c->query;
  edb_word word;
  if (edb_word_next(&from, &word) <= 0) return 0;
  c->query = (size_t)(from - u->words);
  out->name = (slice){word.name, word.name_n};
  out->raw = (slice){word.value, word.value_n};
  out->form = PART_WORD;
  return 1;
}

/* The next part that is not empty, in the URL's order; 0 at the end. An option without a = has the
** value NULL. */
static int next_part(const split_url *u, part_cursor *c, part *out) {
  const struct {
    const char *name;
    slice raw;
    part_form form;
  } fixed[] = {{"user", u->user, PART_WHOLE},         {"password", u->password, PART_WHOLE},
               {"host", u->hosts, PART_HOSTS},        {"port", u->hosts, PART_PORTS},
               {"database", u->database, PART_WHOLE}, {"path", u->path, PART_WHOLE}};
  const int count = (int)(sizeof fixed / sizeof fixed[0]);
  slice rest;
  if (u->words) return next_word(u, c, out);
  while (c->fixed < count) {
    int i = c->fixed++;
    if (fixed[i].raw.n == 0) continue;
    if (fixed[i].form == PART_PORTS && !has_port(u->hosts)) continue;
    out->name = slice_of(fixed[i].name);
    out->raw = fixed[i].raw;
    out->form = fixed[i].form;
    return 1;
  }
  rest.p = u->query.p + c->query;
  rest.n = u->query.n - c->query;
  while (rest.n > 0 && *rest.p == '&') skip(&rest);
  if (rest.n == 0) return 0;
  out->raw = take_until(&rest, "&");
  out->name = take_until(&out->raw, "=");
  if (out->raw.n > 0) {
    skip(&out->raw);
  } else {
    out->raw.p = NULL;
  }
  out->form = PART_WHOLE;
  c->query = u->query.n - rest.n;
  return 1;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Where decoded bytes go: nowhere if out is NULL. The first thing that does not fit is kept in wrong. */
typedef struct decoder {
  char *out;
  size_t n;
  const char *wrong;
} decoder;

static void put(decoder *d, char c) {
  if (d->out) d->out[d->n] = c;
  d->n++;
}

static void decode_slice(decoder *d, slice s) {
  size_t i;
  for (i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (c == '%') {
      int high = s.n - i > 2 ? hex_digit(s.p[i + 1]) : -1;
      int low = s.n - i > 2 ? hex_digit(s.p[i + 2]) : -1;
      if (high < 0 || low < 0) {
        d->wrong =
            "has a % that two hexadecimal digits do not follow; write %25 for the sign itself";
        return;
      }
      if (high == 0 && low == 0) {
        d->wrong = "has a %00, which no option may hold";
        return;
      }
      c = (char)(high * 16 + low);
      i += 2;
    }
    put(d, c);
  }
}

/* Splits `host`, `host:port` or `[address]:port`. */
static const char *split_host(slice s, slice *host, slice *port) {
  slice rest = s;
  port->p = NULL;
  port->n = 0;
  if (s.n > 0 && *s.p == '[') {
    skip(&rest);
    *host = take_until(&rest, "]");
    if (rest.n == 0) return "has a [ without its ]";
    skip(&rest);
  } else {
    *host = take_until(&rest, ":");
  }
  if (rest.n == 0) return NULL;
  if (*rest.p != ':') return "has something between a ] and its port";
  skip(&rest);
  *port = rest;
  if (memchr(rest.p, ':', rest.n)) {
    return "has more than one colon in a host; an IPv6 address stands in brackets";
  }
  if (rest.n > 5) return "has a port that is no number";
  for (; rest.n > 0; skip(&rest)) {
    if (*rest.p < '0' || *rest.p > '9') return "has a port that is no number";
  }
  return NULL;
}

static void decode_hosts(decoder *d, slice all, part_form form) {
  for (;;) {
    slice host, port, one = take_until(&all, ",");
    d->wrong = split_host(one, &host, &port);
    if (d->wrong) return;
    decode_slice(d, form == PART_HOSTS ? host : port);
    if (d->wrong || all.n == 0) return;
    skip(&all);
    put(d, ',');
  }
}

/* Answers the decoded size. out: NULL, or as large as the part's raw form. */
static size_t decode_part(const part *p, char *out, const char **wrong) {
  decoder d = {out, 0, NULL};
  if (p->form == PART_WORD) {
    const edb_word word = {p->name.p, p->raw.p, p->name.n, p->raw.n};
    d.n = edb_word_decode(&word, out);
  } else if (!p->raw.p) {
    d.wrong = "has an option without a value";
  } else if (p->form == PART_WHOLE) {
    decode_slice(&d, p->raw);
  } else {
    decode_hosts(&d, p->raw, p->form);
  }
  *wrong = d.wrong;
  return d.n;
}

/* ---- Checking -------------------------------------------------------------------------------- */

static const edb_option_spec *spec_in(const edb_option_spec *specs, const char *name) {
  for (; specs->name; specs++) {
    if (strcmp(specs->name, name) == 0) return specs;
  }
  return NULL;
}

static const edb_option_spec *find_spec(const edb_driver *driver, const char *name) {
  const edb_option_spec *spec = spec_in(driver->options, name);
  if (!spec && spec_in(driver->options, "password")) spec = spec_in(password_specs, name);
  if (!spec) spec = spec_in(common_specs, name);
  return spec;
}

/* A word that names an option is that; every other one is for what the connection string is made for. */
static const edb_option_spec *word_spec(const edb_driver *driver, const part *p) {
  const edb_word word = {p->name.p, p->raw.p, p->name.n, p->raw.n};
  const edb_option_spec *const lists[] = {driver->options, password_specs, common_specs};
  for (int i = 0; i < 3; i++) {
    for (const edb_option_spec *spec = lists[i]; spec->name; spec++) {
      /* What the connection string itself has a word for stays there. */
      const int own = strcmp(spec->name, "password") == 0 || strcmp(spec->name, "user") == 0;
      if (!own && edb_word_is(&word, spec->name)) return spec;
    }
  }
  return spec_in(driver->options, "connection");
}

/* The spec that a part's name means, or NULL with its (decoded, cut) name in text. */
static const edb_option_spec *part_spec(const edb_driver *driver, const part *p, char text[64]) {
  if (p->form == PART_WORD) return word_spec(driver, p);
  decoder d = {text, 0, NULL};
  slice name = p->name;
  int cut = name.n >= 64;
  if (cut) name.n = 63;
  decode_slice(&d, name);
  text[d.n] = 0;
  return cut || d.wrong ? NULL : find_spec(driver, text);
}

static int unknown_option(const edb_driver *driver, const char *name, edb_error *error) {
  const edb_option_spec *spec;
  char list[768] = "";
  for (spec = driver->options; spec->name; spec++) list_add(list, sizeof list, ", ", spec->name);
  if (spec_in(driver->options, "password")) {
    for (spec = password_specs; spec->name; spec++) list_add(list, sizeof list, ", ", spec->name);
  }
  for (spec = common_specs; spec->name; spec++) list_add(list, sizeof list, ", ", spec->name);
  return edb_fail(error, EDB_INVALID_QUERY, "unknown option \"%s\"; valid ones: %s", name, list);
}

/* The three ways to give a password are one option to whoever overrides it or gives it twice. */
static int same_option(const char *a, const char *b) {
  return strcmp(a, b) == 0 || (strncmp(a, "password", 8) == 0 && strncmp(b, "password", 8) == 0);
}

static int given_twice(const char *a, const char *b, edb_error *error) {
  if (strcmp(a, b) == 0) {
    return edb_fail(error, EDB_INVALID_QUERY, "option \"%s\" is given twice", a);
  }
  return edb_fail(error, EDB_INVALID_QUERY,
                  "of the options \"%s\" and \"%s\" only one can be given", a, b);
}

/* The words that are no option of their own. */
static int is_connection(const edb_option_spec *spec) {
  return strcmp(spec->name, "connection") == 0;
}

static int check_parts(const split_url *u, edb_error *error) {
  part_cursor c = {0, 0};
  part p, earlier;
  char text[64];
  /* Form before names: what a broken URL calls an option may be a piece of a password. */
  while (next_part(u, &c, &p)) {
    const char *wrong;
    decode_part(&p, NULL, &wrong);
    if (wrong) return edb_fail(error, EDB_INVALID_QUERY, "the URL %s", wrong);
  }
  memset(&c, 0, sizeof c);
  while (next_part(u, &c, &p)) {
    const edb_option_spec *spec = part_spec(u->driver, &p, text), *other;
    part_cursor before = {0, 0};
    if (!spec) return unknown_option(u->driver, text, error);
    if (is_connection(spec)) continue;
    while (next_part(u, &before, &earlier) && earlier.name.p != p.name.p) {
      other = part_spec(u->driver, &earlier, text);
      if (other && same_option(other->name, spec->name)) {
        return given_twice(other->name, spec->name, error);
      }
    }
  }
  return EDB_OK;
}

static int check(const char *url, const edb_option *options, size_t n, split_url *u,
                 edb_error *error) {
  size_t i, j;
  int rc = split(url, u, error);
  if (rc == EDB_OK) rc = check_parts(u, error);
  for (i = 0; rc == EDB_OK && i < n; i++) {
    if (!find_spec(u->driver, options[i].name)) {
      return unknown_option(u->driver, options[i].name, error);
    }
    for (j = 0; j < i; j++) {
      if (same_option(options[i].name, options[j].name)) {
        return given_twice(options[j].name, options[i].name, error);
      }
    }
  }
  return rc;
}

int edb_url_check(const char *url, const edb_option *options, size_t n, edb_error *error) {
  split_url u;
  return check(url, options, n, &u, error);
}

int edb_url_flag(const char *url, const edb_option *options, size_t n, const char *name, int *value,
                 edb_error *error) {
  part_cursor c = {0, 0};
  part p;
  split_url u;
  char text[64], flag[2] = "0";
  int rc = check(url, options, n, &u, error);
  while (rc == EDB_OK && next_part(&u, &c, &p)) {
    const edb_option_spec *spec = part_spec(u.driver, &p, text);
    if (spec && strcmp(spec->name, name) == 0) flag[0] = (char)(p.raw.n == 1 ? p.raw.p[0] : 0);
  }
  const char *given = edb_option_get(options, n, name) ? edb_option_get(options, n, name) : flag;
  *value = strcmp(given, "1") == 0;
  if (rc != EDB_OK || *value || strcmp(given, "0") == 0) return rc;
  return edb_fail(error, EDB_INVALID_QUERY, "option \"%s\" is 0 or 1", name);
}

/* ---- Collecting ------------------------------------------------------------------------------ */

/* Replaces password_env and password_file by password. line: EDB_PASSWORD_LINE + 1 bytes. */
static int resolve_password(edb_option *options, size_t n, char *line, edb_error *error) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (strcmp(options[i].name, "password_env") == 0) {
      const char *value = getenv(options[i].value);
      if (!value) {
        return edb_fail(error, EDB_FAILED,
                        "the environment variable \"%s\" (password_env) is not set",
                        options[i].value);
      }
      options[i].name = "password";
      options[i].value = value;
    } else if (strcmp(options[i].name, "password_file") == 0) {
      int rc = edb_password_file(options[i].value, line, error);
      if (rc != EDB_OK) return rc;
      options[i].name = "password";
      options[i].value = line;
    }
  }
  return EDB_OK;
}

static int overridden(const edb_option *options, size_t n, const char *name) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (same_option(options[i].name, name)) return 1;
  }
  return 0;
}

/* The words that are no options, one behind the other; answers the end of what it wrote. */
static char *join_words(const split_url *u, char *text) {
  part_cursor c = {0, 0};
  part p;
  while (next_word(u, &c, &p)) {
    if (!is_connection(word_spec(u->driver, &p))) continue;
    memcpy(text, p.name.p, p.name.n);
    text += p.name.n;
    *text++ = '=';
    memcpy(text, p.raw.p, p.raw.n);
    text += p.raw.n;
    *text++ = ';';
  }
  *text++ = 0;
  return text;
}

int edb_options_collect(const char *url, const edb_option *options, size_t n, const edb_host *host,
                        const edb_driver **driver, edb_option_set *set, edb_error *error) {
  split_url u;
  part_cursor c = {0, 0};
  part p;
  char name[64], *text;
  size_t count = n, i;
  int rc = check(url, options, n, &u, error);
  memset(set, 0, sizeof *set);
  *driver = u.driver;
  if (rc != EDB_OK) return rc;

  set->size = EDB_PASSWORD_LINE + 1;
  while (next_part(&u, &c, &p)) {
    count++;
    set->size += p.raw.n + 1;
  }
  if (u.words) {
    count++;
    set->size += strlen(u.words) + 2;
  }
  set->size += count * sizeof *set->options;
  set->options = edb_alloc(host, set->size);
  if (!set->options) return edb_fail(error, EDB_NOMEM, "out of memory");
  text = (char *)(set->options + count);

  if (u.words) {
    set->options[set->n++] = (edb_option){"connection", text};
    text = join_words(&u, text);
  }
  memset(&c, 0, sizeof c);
  while (next_part(&u, &c, &p)) {
    const edb_option_spec *spec = part_spec(u.driver, &p, name);
    const char *wrong;
    if (p.form == PART_WORD && is_connection(spec)) continue;
    if (overridden(options, n, spec->name) || spec_in(common_specs, spec->name)) continue;
    set->options[set->n].name = spec->name;
    set->options[set->n++].value = text;
    text += decode_part(&p, text, &wrong);
    *text++ = 0;
  }
  for (i = 0; i < n; i++) {
    if (!spec_in(common_specs, options[i].name)) set->options[set->n++] = options[i];
  }
  rc = resolve_password(set->options, set->n, text, error);
  if (rc != EDB_OK) edb_options_wipe(host, set);
  return rc;
}

void edb_options_wipe(const edb_host *host, edb_option_set *set) {
  if (set->options) edb_wipe(set->options, set->size);
  edb_free(host, set->options);
  memset(set, 0, sizeof *set);
}

/* ---- Secrets --------------------------------------------------------------------------------- */

static int is_secret(const split_url *u, const part *p) {
  char text[64];
  const edb_option_spec *spec = part_spec(u->driver, p, text);
  if (p->form == PART_WORD && is_connection(spec)) {
    const edb_word word = {p->name.p, p->raw.p, p->name.n, p->raw.n};
    return p->raw.n > 0 && edb_word_is_secret(&word);
  }
  return p->raw.n > 0 &&
         (!spec || (spec->flags & EDB_OPTION_SECRET) || strcmp(spec->name, "password") == 0);
}

int edb_url_has_secret(const char *url) {
  split_url u;
  part_cursor c = {0, 0};
  part p;
  if (check(url, NULL, 0, &u, NULL) != EDB_OK) return 1;
  while (next_part(&u, &c, &p)) {
    if (is_secret(&u, &p)) return 1;
  }
  return 0;
}

int edb_url_is_local(const char *url) {
  split_url u;
  part_cursor c = {0, 0};
  part p;
  char text[64];
  if (check(url, NULL, 0, &u, NULL) != EDB_OK) return 1;
  while (next_part(&u, &c, &p)) {
    const edb_option_spec *spec = part_spec(u.driver, &p, text);
    if (!spec || (spec->flags & EDB_OPTION_LOCAL)) return 1;
  }
  return 0;
}

char *edb_url_mask(const edb_host *host, const char *url) {
  edb_buffer buffer = {host, NULL, 0, 0, 0};
  split_url u;
  part_cursor c = {0, 0};
  part p;
  if (check(url, NULL, 0, &u, NULL) != EDB_OK) {
    size_t n = scheme_size(url);
    if (n > 0) n += 1 + strspn(url + n + 1, "/");
    edb_buffer_add(&buffer, url, n);
    edb_buffer_text(&buffer, "***");
  } else {
    const char *from = url;
    while (next_part(&u, &c, &p)) {
      if (!is_secret(&u, &p)) continue;
      edb_buffer_add(&buffer, from, (size_t)(p.raw.p - from));
      edb_buffer_text(&buffer, "***");
      from = p.raw.p + p.raw.n;
    }
    edb_buffer_text(&buffer, from);
  }
  if (buffer.nomem) edb_buffer_free(&buffer);
  return buffer.p;
}
