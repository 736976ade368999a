/*
** name_directory.c: Names of the directory (RFC 5280 4.1.2.4), and whether one is below another.
**
**   Name ::= SEQUENCE OF RelativeDistinguishedName
**   RelativeDistinguishedName ::= SET SIZE (1..MAX) OF SEQUENCE { type OBJECT IDENTIFIER, value ANY }
*/
#include "x509Int.h"

static tls_der rdns_of(tls_bytes name) {
  tls_der outer = tls_der_of(name), inner = tls_der_enter(&outer, TLS_DER_SEQUENCE);
  if (!tls_der_done(&outer)) inner.bad = 1;
  return inner;
}

typedef struct attribute {
  tls_bytes type, value;
  int tag;
} attribute;

static attribute next_attribute(tls_der *rdn) {
  attribute a;
  tls_der in = tls_der_enter(rdn, TLS_DER_SEQUENCE);
  a.type = tls_der_take(&in, TLS_DER_OID);
  a.value = tls_der_any(&in, &a.tag);
  if (!tls_der_done(&in)) rdn->bad = 1;
  return a;
}

int tls_directory_valid(tls_bytes name) {
  tls_der rdns = rdns_of(name);
  while (tls_der_more(&rdns)) {
    tls_der rdn = tls_der_enter(&rdns, TLS_DER_SET);
    do {
      next_attribute(&rdn);
    } while (tls_der_more(&rdn));
    if (rdn.bad) rdns.bad = 1;
  }
  return tls_der_done(&rdns);
}

int tls_directory_empty(tls_bytes name) { return rdns_of(name).n == 0; }

tls_bytes tls_directory_attribute(tls_bytes name, tls_bytes type, size_t i, int *tag) {
  tls_der rdns = rdns_of(name);
  while (tls_der_more(&rdns)) {
    tls_der rdn = tls_der_enter(&rdns, TLS_DER_SET);
    while (tls_der_more(&rdn)) {
      const attribute a = next_attribute(&rdn);
      if (!tls_bytes_equal(a.type, type) || i-- > 0) continue;
      *tag = a.tag;
      return a.value;
    }
  }
  return tls_bytes_of(NULL, 0);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* The next character of ASCII text for comparing (7.1): in lower case, blanks squeezed to one
** and none at either end; -1 at the end, -2 for what is not ASCII. */
static int next_character(tls_bytes text, size_t *at) {
  const size_t start = *at;
  while (*at < text.n && text.p[*at] == ' ') ++*at;
  if (*at == text.n) return -1;
  if (*at > start && start > 0) return ' ';
  const uint8_t c = text.p[(*at)++];
  if (c >= 0x80) return -2;
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static int is_text(int tag) {
  return tag == TLS_DER_UTF8_STRING || tag == TLS_DER_PRINTABLE_STRING || tag == TLS_DER_IA5_STRING;
}

/* Sure where the bytes are the same, or both are ASCII; other alphabets have more than one case
** and more than one encoding, of which nothing is known here. */
static tls_likeness value_likeness(const attribute *a, const attribute *b) {
  if (!tls_bytes_equal(a->type, b->type)) return TLS_UNLIKE;
  if (a->tag == b->tag && tls_bytes_equal(a->value, b->value)) return TLS_ALIKE;
  if (!is_text(a->tag) || !is_text(b->tag)) return TLS_PERHAPS;
  size_t i = 0, j = 0;
  for (;;) {
    const int c = next_character(a->value, &i), d = next_character(b->value, &j);
    if (c == -2 || d == -2) return TLS_PERHAPS;
    if (c != d) return TLS_UNLIKE;
    if (c == -1) return TLS_ALIKE;
  }
}

#define ATTRIBUTES_MAX 8 /* of one RDN that are compared, each with each */

/* The best that one of b's attributes is like a. */
static tls_likeness best(const attribute *a, tls_der b) {
  tls_likeness found = TLS_UNLIKE;
  while (tls_der_more(&b)) {
    const attribute other = next_attribute(&b);
    const tls_likeness likeness = value_likeness(a, &other);
    if (likeness > found) found = likeness;
  }
  return found;
}

static size_t count(tls_der rdn) {
  size_t n = 0;
  for (; tls_der_more(&rdn); n++) next_attribute(&rdn);
  return n;
}

static tls_likeness rdn_likeness(tls_der a, tls_der b) {
  tls_likeness worst = TLS_ALIKE;
  const size_t n = count(a);
  if (n != count(b)) return TLS_UNLIKE;
  if (n > ATTRIBUTES_MAX) return TLS_PERHAPS;
  while (tls_der_more(&a)) {
    const attribute one = next_attribute(&a);
    const tls_likeness likeness = best(&one, b);
    if (likeness < worst) worst = likeness;
  }
  return worst;
}

tls_likeness tls_directory_below(tls_bytes name, tls_bytes base) {
  tls_der n = rdns_of(name), b = rdns_of(base);
  tls_likeness worst = TLS_ALIKE;
  while (worst != TLS_UNLIKE && tls_der_more(&b)) {
    if (!tls_der_more(&n)) return TLS_UNLIKE;
    const tls_der of_base = tls_der_enter(&b, TLS_DER_SET);
    const tls_likeness likeness = rdn_likeness(tls_der_enter(&n, TLS_DER_SET), of_base);
    if (likeness < worst) worst = likeness;
  }
  return worst;
}
