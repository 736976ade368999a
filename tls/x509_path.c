/*
** x509_path.c: the search for a path from a server's certificate to a root (RFC 5280 6.1, RFC
** 4158).
**
** Depth first, roots before other issuers. Each step is checked when it is made, the dear things
** last: name, key identifier, what an issuer must be, then the signature, then its name constraints
** on all below. All that a server can multiply by what it sends is counted: signatures (each pair
** of certificates is verified once), comparisons of names, and steps. What is used up ends the
** search.
*/
#include "x509Int.h"

#define DEPTH_DEFAULT 8

enum { UNKNOWN = 0, SIGNED, NOT_SIGNED };

typedef struct search {
  const tls_verify *verify;
  const tls_certificate *sent;
  const tls_flaw *flaws;
  size_t count;
  const tls_certificate *path[TLS_CHAIN_MAX]; /* the leaf first; each of sent once at most */
  size_t length;
  unsigned below, depth; /* issuers in path that are not self-issued, and how many there may be */
  unsigned signatures, comparisons, steps;
  uint8_t signed_by[TLS_CHAIN_MAX][TLS_CHAIN_MAX];
  tls_flaw flaw; /* the first that kept an issuer out who has the right name and key identifier */
  tls_role role; /* whose it is */
} search;

/* A wrong signature says least: names are anybody's. */
static void note(search *s, tls_flaw flaw, tls_role role) {
  if (s->flaw != TLS_FLAW_NONE && s->flaw != TLS_FLAW_SIGNATURE && flaw != TLS_FLAW_WORK) return;
  s->flaw = flaw;
  s->role = role;
}

static const tls_certificate *last(const search *s) { return s->path[s->length - 1]; }

static int is_issuer_of(const tls_certificate *issuer, const tls_certificate *c) {
  return tls_bytes_equal(issuer->subject, c->issuer) &&
         (issuer->key_id.n == 0 || c->issuer_key_id.n == 0 ||
          tls_bytes_equal(issuer->key_id, c->issuer_key_id));
}

/* Whose certificate the last of the path is. */
static tls_role place(const search *s) { return s->length == 1 ? TLS_ROLE_LEAF : TLS_ROLE_ISSUER; }

static int verify_signature(search *s, const tls_certificate *issuer) {
  const tls_certificate *c = last(s);
  const uint16_t scheme = tls_signature_algorithm(c->algorithm);
  if (s->signatures == 0) {
    note(s, TLS_FLAW_WORK, TLS_ROLE_LEAF);
    return 0;
  }
  s->signatures--;
  switch (tls_signature_check(&issuer->key, scheme, TLS_SIGNED_CERTIFICATE, c->tbs.p, c->tbs.n,
                              c->signature.p, c->signature.n)) {
  case ECR_OK:
    return 1;
  case ECR_INVALID:
    note(s, TLS_FLAW_ALGORITHM, place(s));
    return 0;
  default:
    note(s, TLS_FLAW_SIGNATURE, place(s));
    return 0;
  }
}

/* verify_signature, once for each pair of what was sent. */
static int verify_sent(search *s, size_t issuer) {
  uint8_t *known = &s->signed_by[last(s) - s->sent][issuer];
  if (*known == UNKNOWN) *known = verify_signature(s, &s->sent[issuer]) ? SIGNED : NOT_SIGNED;
  return *known == SIGNED;
}

/* 6.1.3 (b), (c): all names below, but those of issuers that only renew themselves. */
static int names_permitted(search *s, const tls_certificate *issuer) {
  if (!(issuer->present & TLS_X509_NAME_CONSTRAINTS)) return 1;
  for (size_t i = 0; i < s->length; i++) {
    if (i > 0 && tls_self_issued(s->path[i])) continue;
    const tls_flaw flaw = tls_constraints_check(issuer->constraints, s->path[i], &s->comparisons);
    if (flaw == TLS_FLAW_NONE) continue;
    note(s, flaw, TLS_ROLE_LEAF);
    return 0;
  }
  return 1;
}

static int may_issue(search *s, const tls_certificate *issuer, tls_role role) {
  const tls_flaw flaw = tls_certificate_check(issuer, role, s->verify->now, s->below);
  if (flaw != TLS_FLAW_NONE) note(s, flaw, role);
  return flaw == TLS_FLAW_NONE;
}

/* A step may be taken: there are some left. */
static int step(search *s) {
  if (s->steps == 0) note(s, TLS_FLAW_WORK, TLS_ROLE_LEAF);
  return s->steps > 0 && s->steps-- > 0;
}

/* Roots are read again for each search, which takes microseconds and spares every trust their
** rows. */
static int reaches_root(search *s) {
  size_t count;
  const tls_anchor *anchor = tls_trust_find(s->verify->trust, last(s)->issuer, &count);
  for (; count > 0 && step(s); anchor++, count--) {
    tls_certificate root;
    const tls_bytes der = {anchor->certificate, anchor->certificate_size};
    if (tls_certificate_read(&root, der) != TLS_FLAW_NONE || !is_issuer_of(&root, last(s)))
      continue;
    if (may_issue(s, &root, TLS_ROLE_ROOT) && verify_signature(s, &root) &&
        names_permitted(s, &root))
      return 1;
  }
  return 0;
}

/* A name with a key stands once in a path: what it can vouch for is known then. */
static int in_path(const search *s, const tls_certificate *c) {
  for (size_t i = 0; i < s->length; i++) {
    if (tls_bytes_equal(s->path[i]->subject, c->subject) &&
        tls_bytes_equal(s->path[i]->spki, c->spki))
      return 1;
  }
  return 0;
}

static int within_depth(search *s, unsigned more) {
  if (s->below + more > s->depth) {
    note(s, TLS_FLAW_DEPTH, TLS_ROLE_LEAF);
    return 0;
  }
  return 1;
}

/* Recursion is as deep as path has room. */
static int extend(search *s) {
  if (reaches_root(s)) return 1;
  for (size_t i = 1; i < s->count; i++) {
    const tls_certificate *c = &s->sent[i];
    if (s->flaws[i] == TLS_FLAW_ENCODING || !is_issuer_of(c, last(s)) || in_path(s, c)) continue;
    if (s->flaws[i] != TLS_FLAW_NONE) {
      note(s, s->flaws[i], TLS_ROLE_ISSUER);
      continue;
    }
    const unsigned more = !tls_self_issued(c);
    if (!step(s)) return 0;
    if (!within_depth(s, more) || !may_issue(s, c, TLS_ROLE_ISSUER) || !verify_sent(s, i) ||
        !names_permitted(s, c))
      continue;
    s->path[s->length++] = c;
    s->below += more;
    if (extend(s)) return 1;
    s->below -= more;
    s->length--;
  }
  return 0;
}

tls_flaw tls_path_find(const tls_verify *verify, const tls_certificate *sent, const tls_flaw *flaws,
                       size_t count, tls_role *role) {
  search s = {.verify = verify,
              .sent = sent,
              .flaws = flaws,
              .count = count,
              .path = {sent},
              .length = 1,
              .depth = verify->max_depth ? verify->max_depth : DEPTH_DEFAULT,
              .signatures = TLS_VERIFY_SIGNATURES,
              .comparisons = TLS_VERIFY_COMPARISONS,
              .steps = TLS_VERIFY_STEPS};
  if (verify->max_depth == TLS_DEPTH_NONE) s.depth = 0;
  if (extend(&s)) return TLS_FLAW_NONE;
  *role = s.flaw ? s.role : TLS_ROLE_LEAF;
  return s.flaw ? s.flaw : TLS_FLAW_UNKNOWN_ROOT;
}
