/*
** name.c: the name of a server, and whether a certificate is for it (RFC 9525 6). A DNS name is
** compared with dNSNames alone, an address with iPAddresses alone, and a common name with nothing.
*/
#include "x509Int.h"

static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }
static int is_letter(uint8_t c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

int tls_text_equal(tls_bytes a, tls_bytes b) {
  if (a.n != b.n) return 0;
  for (size_t i = 0; i < a.n; i++) {
    if (lower(a.p[i]) != lower(b.p[i])) return 0;
  }
  return 1;
}

/* ---- DNS names ------------------------------------------------------------------------------- */

/* The length of the label at the start of a name, or 0 where there is none that is valid (RFC
** 1123 2.1). */
static size_t label(tls_bytes name, int *digits) {
  size_t n = 0;
  *digits = 1;
  while (n < name.n && name.p[n] != '.') {
    const uint8_t c = name.p[n++];
    if (!is_digit(c)) *digits = 0;
    if (!is_digit(c) && !is_letter(c) && c != '-') return 0;
  }
  if (n == 0 || n > 63 || name.p[0] == '-' || name.p[n - 1] == '-') return 0;
  return n;
}

int tls_dns_valid(tls_bytes name, int wildcard) {
  int digits = 1;
  if (name.n == 0 || name.n > TLS_NAME_MAX) return 0;
  if (wildcard && name.n > 2 && name.p[0] == '*' && name.p[1] == '.') name.p += 2, name.n -= 2;
  for (;;) {
    const size_t n = label(name, &digits);
    if (n == 0) return 0;
    if (n == name.n) return !digits; /* or it would be an address */
    name.p += n + 1, name.n -= n + 1;
  }
}

/* What is behind the first label. */
static tls_bytes parent(tls_bytes name) {
  while (name.n > 0 && name.p[0] != '.') name.p++, name.n--;
  if (name.n > 0) name.p++, name.n--;
  return name;
}

/* RFC 9525 6.3: a wildcard is the whole of the left-most label and stands for one label. Below a
** domain of one label (`*.com`) it stands for nothing, as nobody owns all that it would be. */
static int dns_matches(tls_bytes presented, tls_bytes name) {
  if (!tls_dns_valid(presented, 1)) return 0;
  if (presented.p[0] != '*') return tls_text_equal(presented, name);
  const tls_bytes domain = parent(presented);
  return parent(domain).n > 0 && tls_text_equal(domain, parent(name));
}

int tls_name_matches(const tls_name *name, tls_bytes names) {
  tls_der in = tls_der_of(names);
  const tls_bytes address = {name->address, name->address_size};
  while (tls_der_more(&in)) {
    int tag;
    const tls_bytes presented = tls_der_any(&in, &tag);
    if (tag == 0x82 && name->dns.n > 0 && dns_matches(presented, name->dns)) return 1;
    if (tag == 0x87 && address.n > 0 && tls_bytes_equal(presented, address)) return 1;
  }
  return 0;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* Four decimal numbers without needless zeros (RFC 3986 3.2.2). */
static int read_ipv4(uint8_t out[4], tls_bytes text) {
  size_t at = 0;
  for (int i = 0; i < 4; i++) {
    unsigned value = 0;
    size_t digits = 0;
    if (i > 0 && (at == text.n || text.p[at++] != '.')) return 0;
    for (; at < text.n && is_digit(text.p[at]) && digits < 3; at++, digits++) {
      if (digits == 1 && value == 0) return 0;
      value = 10 * value + (unsigned)(text.p[at] - '0');
    }
    if (digits == 0 || value > 255) return 0;
    out[i] = (uint8_t)value;
  }
  return at == text.n;
}

static int hex_value(uint8_t c) {
  if (is_digit(c)) return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One to four hexadecimal digits at *at. */
static int read_group(tls_bytes text, size_t *at, uint8_t out[2]) {
  unsigned value = 0;
  size_t digits = 0;
  for (; *at < text.n && hex_value(text.p[*at]) >= 0 && digits < 4; ++*at, digits++) {
    value = value << 4 | (unsigned)hex_value(text.p[*at]);
  }
  out[0] = (uint8_t)(value >> 8), out[1] = (uint8_t)value;
  return digits > 0;
}

/* RFC 4291 2.2: groups of 16 bits, one run of zeros left out as `::`, the last two perhaps as
** IPv4's. */
static int read_ipv6(uint8_t out[16], tls_bytes text) {
  uint8_t groups[16];
  size_t n = 0, at = 0, gap = 17; /* the gap is before the byte `gap` */
  while (at < text.n) {
    if (text.n - at >= 2 && text.p[at] == ':' && text.p[at + 1] == ':') {
      if (gap != 17) return 0;
      gap = n;
      at += 2;
      continue;
    }
    if (n > 0 && gap != n && text.p[at++] != ':') return 0;
    if (n <= 12 && read_ipv4(groups + n, tls_bytes_of(text.p + at, text.n - at))) {
      n += 4;
      break;
    }
    if (n > 14 || !read_group(text, &at, groups + n)) return 0;
    n += 2;
  }
  if (gap == 17 ? n != 16 : n > 14) return 0;
  if (gap == 17) gap = n;
  memset(out, 0, 16);
  memcpy(out, groups, gap);
  memcpy(out + 16 - (n - gap), groups + gap, n - gap);
  return 1;
}

int tls_name_read(tls_name *name, const char *text) {
  memset(name, 0, sizeof *name);
  const size_t n = text ? strlen(text) : 0;
  const tls_bytes all = tls_bytes_of(text, n);
  if (n == 0) return 0;
  if (read_ipv4(name->address, all)) {
    name->address_size = 4;
  } else if (read_ipv6(name->address, all)) {
    name->address_size = 16;
  } else {
    name->dns = tls_bytes_of(text, n - (text[n - 1] == '.'));
    if (!tls_dns_valid(name->dns, 0)) name->dns.n = 0;
  }
  return name->dns.n > 0 || name->address_size > 0;
}
