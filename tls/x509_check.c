/*
** x509_check.c: what a certificate must be in its place in a chain: a table of rules, in the order
** in which they are told to the user. RFC 5280 where nothing else is said; BR is the CA/Browser
** Forum's Baseline Requirements, which go further, and so hold only where issuers vouch for a
** server, not for a certificate that is trusted itself.
*/
#include "x509Int.h"

#define SERIAL_MAX 20

typedef struct circumstances {
  int64_t now;
  unsigned below;
} circumstances;

#define RULE(name) static int name(const tls_certificate *c, const circumstances *x)

/* Every rule answers whether it is broken; circumstances that are not asked are passed over. */
#define UNUSED (void)x

RULE(not_yet) { return x->now < c->not_before; }
RULE(expired) { return x->now > c->not_after; }

/* Three roots of the browsers' stores have zero bits at the end of keyUsage, or GeneralizedTime
** before 2050. */
RULE(loose) { return UNUSED, c->loose; }

/* 4.2: what is critical and not obeyed. 4.2.1.1, 4.2.1.2, 4.2.2.1: key identifiers and where to
** ask the issuer must not be critical. */
RULE(critical) { return UNUSED, (c->critical & ~(unsigned)TLS_X509_OBEYED) != 0; }

/* 4.2.1.11, 4.2.1.14: must be critical, and are not obeyed. */
RULE(policy) { return UNUSED, (c->present & TLS_X509_POLICY_LIMITS) != 0; }

/* 4.1.2.2. Negative ones are let through, which SQL Server gives to the certificates that it
** makes. Old roots are numbered from 0. */
RULE(serial) { return UNUSED, c->serial.n > SERIAL_MAX || (c->serial.n == 1 && !c->serial.p[0]); }

/* 4.1.2.4. So an issuer has a subject: it is what the one below names. */
RULE(nameless_issuer) { return UNUSED, tls_directory_empty(c->issuer); }

/* 4.2.1.9 */
RULE(not_ca) { return UNUSED, !c->ca; }
RULE(quiet_ca) { return UNUSED, !(c->critical & TLS_X509_BASIC_CONSTRAINTS); }
RULE(path_length) { return c->path_length >= 0 && x->below > (unsigned)c->path_length; }

/* BR 7.1.2.7.8 */
RULE(is_ca) { return UNUSED, c->ca; }

/* 4.2.1.3 */
RULE(no_signer) {
  return UNUSED, (c->present & TLS_X509_KEY_USAGE) && !(c->usage & TLS_USAGE_CERT_SIGN);
}
RULE(false_signer) { return UNUSED, !c->ca && (c->usage & TLS_USAGE_CERT_SIGN); }
/* RFC 8446 4.4.2.2, and ECDHE in TLS 1.2: the server signs. */
RULE(silent) {
  return UNUSED, (c->present & TLS_X509_KEY_USAGE) && !(c->usage & TLS_USAGE_DIGITAL_SIGNATURE);
}

/* 4.2.1.12 */
RULE(other_purpose) {
  return UNUSED, (c->present & TLS_X509_EXTENDED_KEY_USAGE) && !(c->purposes & TLS_PURPOSE_SERVER);
}
/* BR 7.1.2.7.10: serverAuth is there, anyExtendedKeyUsage is not, and the extension is not
** critical. SQL Server asks for serverAuth too. */
RULE(no_purpose) { return UNUSED, !(c->purposes & TLS_PURPOSE_SERVER); }
RULE(unclear_purpose) {
  return UNUSED, (c->purposes & TLS_PURPOSE_ANY) || (c->critical & TLS_X509_EXTENDED_KEY_USAGE);
}
RULE(issuer_purpose) {
  return UNUSED, (c->present & TLS_X509_EXTENDED_KEY_USAGE) &&
                     !(c->purposes & (TLS_PURPOSE_SERVER | TLS_PURPOSE_ANY));
}
/* BR 7.1.2.1.2; an issuer that is trusted as a root without being one may have it. */
RULE(root_purpose) {
  return UNUSED, (c->present & TLS_X509_EXTENDED_KEY_USAGE) && tls_self_issued(c);
}

/* 4.2.1.2 and 4.2.1.1; a root may leave the latter out. */
RULE(no_key_id) { return UNUSED, c->key_id.n == 0; }
RULE(no_issuer_key_id) { return UNUSED, c->issuer_key_id.n == 0; }
/* BR 7.1.2.1.3: then it is the root's own key identifier. The BR want nothing more; but private
** authorities (easy-rsa's) repeat their own name and serial number, which says nothing wrong. X.509
** has both of these or neither. */
static int names_itself(const tls_certificate *c) {
  tls_der in = tls_der_of(c->issuer_names);
  if (!c->issuer_names.p && !c->issuer_serial.p) return 1;
  return tls_bytes_equal(tls_der_take(&in, TLS_DER_CONTEXT_CONSTRUCTED + 4), c->issuer) &&
         tls_der_done(&in) && tls_bytes_equal(c->issuer_serial, c->serial);
}
RULE(root_key_id) {
  return UNUSED, (c->present & TLS_X509_AUTHORITY_KEY_ID) && tls_self_issued(c) &&
                     (!names_itself(c) || !tls_bytes_equal(c->issuer_key_id, c->key_id));
}

/* 4.2.1.10 */
RULE(stray_constraints) { return UNUSED, (c->present & TLS_X509_NAME_CONSTRAINTS) && !c->ca; }
RULE(bad_constraints) {
  return UNUSED, (c->present & TLS_X509_NAME_CONSTRAINTS) && !tls_constraints_valid(c->constraints);
}
RULE(quiet_constraints) {
  return UNUSED, (c->present & ~c->critical & TLS_X509_NAME_CONSTRAINTS) != 0;
}

/* 4.2.1.6: it is critical where there is no subject; BR 7.1.2.7.12: and only there. */
RULE(no_names) { return UNUSED, !(c->present & TLS_X509_ALT_NAMES); }
RULE(quiet_names) {
  return UNUSED, (c->present & TLS_X509_ALT_NAMES) && tls_directory_empty(c->subject) &&
                     !(c->critical & TLS_X509_ALT_NAMES);
}
RULE(loud_names) {
  return UNUSED, (c->critical & TLS_X509_ALT_NAMES) && !tls_directory_empty(c->subject);
}
RULE(common_name) { return UNUSED, tls_common_name_strays(c); }

enum { LEAF = TLS_ROLE_LEAF, OWN = TLS_ROLE_OWN, ISSUER = TLS_ROLE_ISSUER, ROOT = TLS_ROLE_ROOT };

static const struct {
  unsigned roles;
  tls_flaw flaw;
  int (*broken)(const tls_certificate *c, const circumstances *x);
} rules[] = {
    {LEAF | OWN | ISSUER, TLS_FLAW_ENCODING, loose},
    {LEAF | OWN | ISSUER | ROOT, TLS_FLAW_NOT_YET, not_yet},
    {LEAF | OWN | ISSUER | ROOT, TLS_FLAW_EXPIRED, expired},
    {LEAF | OWN | ISSUER | ROOT, TLS_FLAW_POLICY, policy},
    {LEAF | OWN | ISSUER | ROOT, TLS_FLAW_CRITICAL, critical},
    {LEAF | ISSUER, TLS_FLAW_SERIAL, serial},
    {LEAF | ISSUER | ROOT, TLS_FLAW_NO_ISSUER, nameless_issuer},
    {ISSUER | ROOT, TLS_FLAW_NOT_CA, not_ca},
    {ISSUER | ROOT, TLS_FLAW_QUIET_CA, quiet_ca},
    {ISSUER | ROOT, TLS_FLAW_PATH_LENGTH, path_length},
    {ISSUER | ROOT, TLS_FLAW_USAGE, no_signer},
    {LEAF, TLS_FLAW_IS_CA, is_ca},
    {LEAF | OWN, TLS_FLAW_FALSE_SIGNER, false_signer},
    {LEAF | OWN, TLS_FLAW_USAGE, silent},
    {LEAF | OWN, TLS_FLAW_PURPOSE, other_purpose},
    {LEAF, TLS_FLAW_NO_PURPOSE, no_purpose},
    {LEAF, TLS_FLAW_UNCLEAR_PURPOSE, unclear_purpose},
    {ISSUER | ROOT, TLS_FLAW_PURPOSE, issuer_purpose},
    {ROOT, TLS_FLAW_ROOT_PURPOSE, root_purpose},
    {ISSUER | ROOT, TLS_FLAW_KEY_ID, no_key_id},
    {LEAF | ISSUER, TLS_FLAW_ISSUER_KEY_ID, no_issuer_key_id},
    {ROOT, TLS_FLAW_ROOT_KEY_ID, root_key_id},
    {LEAF | OWN, TLS_FLAW_CONSTRAINTS, stray_constraints},
    {ISSUER | ROOT, TLS_FLAW_CONSTRAINTS, bad_constraints},
    {ISSUER | ROOT, TLS_FLAW_QUIET_CONSTRAINTS, quiet_constraints},
    {LEAF | OWN, TLS_FLAW_ALT_NAMES, no_names},
    {LEAF, TLS_FLAW_QUIET_NAMES, quiet_names},
    {LEAF, TLS_FLAW_LOUD_NAMES, loud_names},
    {LEAF, TLS_FLAW_COMMON_NAME, common_name},
};

tls_flaw tls_certificate_check(const tls_certificate *certificate, tls_role role, int64_t now,
                               unsigned below) {
  const circumstances x = {now, below};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if ((rules[i].roles & role) && rules[i].broken(certificate, &x)) return rules[i].flaw;
  }
  return TLS_FLAW_NONE;
}
