/*
** name_constraints.c: NameConstraints (RFC 5280 4.2.1.10).
**
**   NameConstraints ::= SEQUENCE { permittedSubtrees [0], excludedSubtrees [1] }, each SEQUENCE OF
**   GeneralSubtree ::= SEQUENCE { base GeneralName, minimum [0] DEFAULT 0, maximum [1] OPTIONAL }
**
** A name may stand for many: `*.example.com` for each host there. It is permitted where all of them
** are, and excluded where one of them is. So are names of a form that nothing is known of, where
** there is a constraint of that form: neither permitted nor surely not excluded.
*/
#include "x509Int.h"

enum { EMAIL = 0x81, DNS = 0x82, ADDRESS = 0x87, DIRECTORY = 0xa4 };

/* ---- Forms ----------------------------------------------------------------------------------- */

static int dns_base_valid(tls_bytes base) { return base.n == 0 || tls_dns_valid(base, 0); }

/* name is domain, or ends with a dot and it. */
static int dns_below(tls_bytes name, tls_bytes domain) {
  if (domain.n == 0) return 1;
  if (name.n < domain.n) return 0;
  const tls_bytes end = {name.p + (name.n - domain.n), domain.n};
  return tls_text_equal(end, domain) && (name.n == domain.n || end.p[-1] == '.');
}

static int is_wildcard(tls_bytes name) { return name.n > 2 && name.p[0] == '*'; }

static int dns_within(tls_bytes name, tls_bytes base) {
  if (!tls_dns_valid(name, 1)) return 0;
  /* Its hosts are below the domain; the base may be one of them. */
  if (is_wildcard(name)) name.p += 2, name.n -= 2;
  return dns_below(name, base);
}

static int dns_meets(tls_bytes name, tls_bytes base) {
  if (!tls_dns_valid(name, 1) || dns_within(name, base)) return 1;
  if (!is_wildcard(name)) return 0;
  const tls_bytes domain = {name.p + 2, name.n - 2};
  if (!dns_below(base, domain)) return 0;
  /* The base is further down: the wildcard is one label of it and no more. */
  return memchr(base.p, '.', base.n - domain.n - 1) == NULL;
}

/* An address and a mask, whose ones are all before its zeros. */
static int address_base_valid(tls_bytes base) {
  int ended = 0;
  if (base.n != 8 && base.n != 32) return 0;
  for (size_t i = 4 * base.n; i < 8 * base.n; i++) {
    const int bit = base.p[i / 8] >> (7 - i % 8) & 1;
    if (bit && ended) return 0;
    if (!bit) ended = 1;
  }
  return 1;
}

static int address_within(tls_bytes name, tls_bytes base) {
  if (base.n != 2 * name.n) return 0;
  for (size_t i = 0; i < name.n; i++) {
    if ((name.p[i] ^ base.p[i]) & base.p[name.n + i]) return 0;
  }
  return 1;
}

/* The content of [4] is the Name, whole. */
static int directory_base_valid(tls_bytes base) { return tls_directory_valid(base); }

static int directory_within(tls_bytes name, tls_bytes base) {
  return tls_directory_below(name, base) == TLS_ALIKE;
}

static int directory_meets(tls_bytes name, tls_bytes base) {
  return tls_directory_below(name, base) != TLS_UNLIKE;
}

static int other_valid(tls_bytes base) {
  (void)base;
  return 1;
}

static int never(tls_bytes name, tls_bytes base) {
  (void)name, (void)base;
  return 0;
}

static int always(tls_bytes name, tls_bytes base) {
  (void)name, (void)base;
  return 1;
}

static const struct form {
  int tag;
  int (*valid)(tls_bytes base);
  int (*within)(tls_bytes name, tls_bytes base); /* all that the name stands for is */
  int (*meets)(tls_bytes name, tls_bytes base);  /* some of it may be */
} forms[] = {
    {DNS, dns_base_valid, dns_within, dns_meets},
    {ADDRESS, address_base_valid, address_within, address_within},
    {DIRECTORY, directory_base_valid, directory_within, directory_meets},
    {0, other_valid, never, always},
};

static const struct form *form_of(int tag) {
  const struct form *f = forms;
  while (f->tag && f->tag != tag) f++;
  return f;
}

/* ---- Subtrees -------------------------------------------------------------------------------- */

static tls_bytes next_base(tls_der *subtrees, int *tag) {
  tls_der one = tls_der_enter(subtrees, TLS_DER_SEQUENCE);
  const tls_bytes base = tls_der_any(&one, tag);
  /* 4.2.1.10: minimum is 0, and so not written, and maximum is absent. */
  if (!tls_der_done(&one)) subtrees->bad = 1;
  return base;
}

static int subtrees_valid(tls_bytes subtrees) {
  tls_der in = tls_der_of(subtrees);
  do {
    int tag;
    const tls_bytes base = next_base(&in, &tag);
    if (!in.bad && !form_of(tag)->valid(base)) return 0;
  } while (tls_der_more(&in));
  return !in.bad;
}

typedef struct subtrees {
  tls_bytes permitted, excluded;
} subtrees;

static subtrees read(tls_der *in) {
  const tls_bytes permitted = tls_der_optional(in, TLS_DER_CONTEXT_CONSTRUCTED);
  return (subtrees){permitted, tls_der_optional(in, TLS_DER_CONTEXT_CONSTRUCTED + 1)};
}

int tls_constraints_valid(tls_bytes constraints) {
  tls_der in = tls_der_of(constraints);
  const subtrees s = read(&in);
  if (!tls_der_done(&in) || (!s.permitted.p && !s.excluded.p)) return 0;
  return (!s.permitted.p || subtrees_valid(s.permitted)) &&
         (!s.excluded.p || subtrees_valid(s.excluded));
}

/* ---- A name under them ----------------------------------------------------------------------- */

typedef struct search {
  subtrees s;
  unsigned *work;
  int exhausted;
} search;

static int spend(search *x) {
  if (*x->work == 0) {
    x->exhausted = 1;
    return 0;
  }
  --*x->work;
  return 1;
}

static int is_excluded(search *x, int tag, tls_bytes name) {
  tls_der in = tls_der_of(x->s.excluded);
  while (tls_der_more(&in) && spend(x)) {
    int form;
    const tls_bytes base = next_base(&in, &form);
    if (form == tag && form_of(tag)->meets(name, base)) return 1;
  }
  return 0;
}

static int is_permitted(search *x, int tag, tls_bytes name) {
  tls_der in = tls_der_of(x->s.permitted);
  int constrained = 0;
  while (tls_der_more(&in) && spend(x)) {
    int form;
    const tls_bytes base = next_base(&in, &form);
    if (form != tag) continue;
    constrained = 1;
    if (form_of(tag)->within(name, base)) return 1;
  }
  return !constrained;
}

static int name_allowed(search *x, int tag, tls_bytes name) {
  return !is_excluded(x, tag, name) && is_permitted(x, tag, name) && !x->exhausted;
}

static int names_allowed(search *x, const tls_certificate *c) {
  static const tls_bytes email = {(const uint8_t *)"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01", 9};
  tls_der in = tls_der_of(c->names);
  int tag;
  while (tls_der_more(&in)) {
    const tls_bytes name = tls_der_any(&in, &tag);
    if (!name_allowed(x, tag, name)) return 0;
  }
  if (tls_directory_empty(c->subject)) return 1;
  if (!name_allowed(x, DIRECTORY, c->subject)) return 0;
  /* Constraints on mail hold for an emailAddress in the subject too. */
  const tls_bytes address = tls_directory_attribute(c->subject, email, 0, &tag);
  return !address.p || name_allowed(x, EMAIL, address);
}

tls_flaw tls_constraints_check(tls_bytes constraints, const tls_certificate *certificate,
                               unsigned *work) {
  tls_der in = tls_der_of(constraints);
  search x = {read(&in), work, 0};
  if (names_allowed(&x, certificate)) return TLS_FLAW_NONE;
  return x.exhausted ? TLS_FLAW_WORK : TLS_FLAW_NOT_PERMITTED;
}
