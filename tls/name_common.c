/*
** name_common.c: a common name that claims another host than the certificate is for. It is never
** asked who a server is; but the CA/Browser Forum (7.1.4.3) has one repeat one of the
** subjectAltNames, to the letter, so an issuer who lets it be another host's did not look at it.
** What is no host's name may say what it likes, and so may the domain that a host is in.
*/
#include "x509Int.h"

static size_t put_number(char *out, unsigned value, unsigned base) {
  static const char digits[] = "0123456789abcdef";
  char reversed[8];
  size_t n = 0;
  do {
    reversed[n++] = digits[value % base];
    value /= base;
  } while (value > 0);
  for (size_t i = 0; i < n; i++) out[i] = reversed[n - 1 - i];
  return n;
}

/* RFC 5952 4: the longest run of zero groups, of two or more, the first of equals, is `::`. */
static size_t ipv6_text(const uint8_t *address, char *out) {
  unsigned group[8];
  size_t from = 8, length = 1, n = 0;
  for (size_t i = 0; i < 8; i++) group[i] = (unsigned)address[2 * i] << 8 | address[2 * i + 1];
  for (size_t i = 0; i < 8; i++) {
    size_t run = 0;
    while (i + run < 8 && group[i + run] == 0) run++;
    if (run > length) from = i, length = run;
  }
  for (size_t i = 0; i < 8;) {
    if (i == from) {
      out[n++] = ':';
      if (i == 0) out[n++] = ':';
      i += length;
      continue;
    }
    n += put_number(out + n, group[i++], 16);
    if (i < 8) out[n++] = ':';
  }
  return n;
}

size_t tls_address_text(const uint8_t *address, size_t size, char out[TLS_ADDRESS_TEXT]) {
  size_t n = 0;
  if (size == 16) return ipv6_text(address, out);
  for (size_t i = 0; i < size; i++) {
    if (i > 0) out[n++] = '.';
    n += put_number(out + n, address[i], 10);
  }
  return n;
}

/* What a text reads as. "Example Database", "project:instance" and "localhost" are nobody's on
** the Internet. */
enum { NOBODY, DNS = 0x82, ADDRESS = 0x87 };

static int reads_as(tls_bytes text) {
  size_t dots = 0, colons = 0, letters = 0;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] <= ' ') return NOBODY;
    dots += text.p[i] == '.';
    colons += text.p[i] == ':';
    letters += text.p[i] != '.' && (text.p[i] < '0' || text.p[i] > '9');
  }
  if (colons > 1 || (dots > 0 && letters == 0)) return ADDRESS;
  if (text.n > 2 && text.p[0] == '0' && (text.p[1] | 32) == 'x') return ADDRESS;
  return dots > 0 ? DNS : NOBODY;
}

/* The name is a host in the domain. */
static int is_in(tls_bytes name, tls_bytes domain) {
  if (name.n <= domain.n + 1 || name.p[name.n - domain.n - 1] != '.') return 0;
  return tls_bytes_equal(tls_bytes_of(name.p + (name.n - domain.n), domain.n), domain);
}

static int strays(tls_bytes text, tls_bytes names) {
  const int form = reads_as(text);
  tls_der in = tls_der_of(names);
  int others = 0;
  while (form != NOBODY && tls_der_more(&in)) {
    int tag;
    char address[TLS_ADDRESS_TEXT];
    tls_bytes name = tls_der_any(&in, &tag);
    if (tag != form) continue;
    if (tag == ADDRESS) {
      name = tls_bytes_of(address, tls_address_text(name.p, name.n, address));
    } else if (reads_as(name) == NOBODY) {
      continue;
    }
    if (tls_bytes_equal(name, text) || (tag == DNS && is_in(name, text))) return 0;
    others = 1;
  }
  return others;
}

#define COMMON_NAMES_MAX 4 /* each is sought among all names */

int tls_common_name_strays(const tls_certificate *c) {
  static const tls_bytes type = {(const uint8_t *)"\x55\x04\x03", 3};
  for (size_t i = 0; i < COMMON_NAMES_MAX; i++) {
    int tag;
    const tls_bytes text = tls_directory_attribute(c->subject, type, i, &tag);
    if (!text.p) return 0;
    if (strays(text, c->names)) return 1;
  }
  return 1;
}
