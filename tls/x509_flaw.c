/*
** x509_flaw.c: what may be wrong with a chain of certificates: the alert that is sent, and the text
** for a person, who should know from it which certificate to look at and what to change.
*/
#include "x509Int.h"

/* What helps where only issuers are held to a rule (README.md, "Trust"). */
#define ITSELF "; have it made anew, or pin it, or add it itself to the roots"
#define THE_SERVERS                                                                                \
  "; have it made anew, or pin the server's certificate, or add that itself to the roots"

/* issuer: the text where it is an issuer's certificate, or a root; NULL: there is one text for
** all. */
static const struct {
  tls_flaw flaw;
  tls_alert alert;
  const char *leaf, *issuer;
} flaws[] = {
    {TLS_FLAW_NO_TRUST, TLS_ALERT_INTERNAL_ERROR, "there is neither a root nor a pin to trust",
     NULL},
    {TLS_FLAW_NO_NAME, TLS_ALERT_INTERNAL_ERROR,
     "the server's name is not a DNS name or an address, so no certificate can be for it", NULL},
    {TLS_FLAW_NO_CERTIFICATE, TLS_ALERT_DECODE_ERROR, "the server sent no certificate", NULL},
    {TLS_FLAW_TOO_MANY, TLS_ALERT_BAD_CERTIFICATE, "the server sent too many certificates", NULL},
    {TLS_FLAW_WORK, TLS_ALERT_BAD_CERTIFICATE,
     "the certificates that the server sent take too much work to check", NULL},
    {TLS_FLAW_ENCODING, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate is malformed (not strict DER of X.509 version 3)",
     "an issuer's certificate is malformed (not strict DER of X.509 version 3)"},
    {TLS_FLAW_KEY, TLS_ALERT_UNSUPPORTED_CERTIFICATE,
     "the certificate's key is not RSA of 2048 to 8192 bits, P-256, P-384 or Ed25519",
     "an issuer's key is not RSA of 2048 to 8192 bits, P-256, P-384 or Ed25519"},
    {TLS_FLAW_ALGORITHM, TLS_ALERT_UNSUPPORTED_CERTIFICATE,
     "the certificate's signature algorithm is not supported (SHA-1?) or not of the issuer's key",
     "an issuer's signature algorithm is not supported (SHA-1?) or not of its issuer's key"},
    {TLS_FLAW_SIGNATURE, TLS_ALERT_BAD_CERTIFICATE, "the signature of the certificate is wrong",
     "the signature of an issuer's certificate is wrong"},
    {TLS_FLAW_UNKNOWN_ROOT, TLS_ALERT_UNKNOWN_CA,
     "no root that is trusted signed the certificate, or the server left out a certificate between",
     NULL},
    {TLS_FLAW_NOT_PINNED, TLS_ALERT_UNKNOWN_CA, "the certificate is not one that is pinned", NULL},
    {TLS_FLAW_DEPTH, TLS_ALERT_UNKNOWN_CA, "the chain of issuers is longer than allowed", NULL},
    {TLS_FLAW_NOT_YET, TLS_ALERT_CERTIFICATE_EXPIRED,
     "the certificate is not valid yet (is this machine's clock right?)",
     "an issuer's certificate is not valid yet (is this machine's clock right?)"},
    {TLS_FLAW_EXPIRED, TLS_ALERT_CERTIFICATE_EXPIRED, "the certificate has expired",
     "an issuer's certificate has expired"},
    {TLS_FLAW_SERIAL, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate's serial number is zero or longer than 20 bytes" ITSELF,
     "an issuer's serial number is zero or longer than 20 bytes" THE_SERVERS},
    {TLS_FLAW_NO_ISSUER, TLS_ALERT_BAD_CERTIFICATE, "the certificate's issuer has no name",
     "the issuer of an issuer's certificate has no name"},
    {TLS_FLAW_CRITICAL, TLS_ALERT_UNSUPPORTED_CERTIFICATE,
     "the certificate has a critical extension that is not known or must not be critical",
     "an issuer's certificate has a critical extension that is not known or must not be critical"},
    {TLS_FLAW_POLICY, TLS_ALERT_UNSUPPORTED_CERTIFICATE,
     "the certificate has constraints on policies, which are not supported",
     "an issuer's certificate has constraints on policies, which are not supported"},
    {TLS_FLAW_NOT_CA, TLS_ALERT_BAD_CERTIFICATE, NULL,
     "an issuer is no certification authority (its basicConstraints lack CA:TRUE)" THE_SERVERS},
    {TLS_FLAW_QUIET_CA, TLS_ALERT_BAD_CERTIFICATE, NULL,
     "an issuer's basicConstraints are not critical" THE_SERVERS},
    {TLS_FLAW_IS_CA, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate is a certification authority's, not a server's (its basicConstraints have "
     "CA:TRUE)" ITSELF,
     NULL},
    {TLS_FLAW_PATH_LENGTH, TLS_ALERT_BAD_CERTIFICATE, NULL,
     "an issuer's basicConstraints allow fewer issuers below it (pathLenConstraint)"},
    {TLS_FLAW_USAGE, TLS_ALERT_BAD_CERTIFICATE, "the certificate's keyUsage lacks digitalSignature",
     "an issuer's keyUsage lacks keyCertSign" THE_SERVERS},
    {TLS_FLAW_FALSE_SIGNER, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate's keyUsage has keyCertSign, which is for authorities", NULL},
    {TLS_FLAW_PURPOSE, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate is not for servers (its extendedKeyUsage lacks serverAuth)",
     "an issuer's certificate is not for issuers of servers (its extendedKeyUsage lacks "
     "serverAuth)" THE_SERVERS},
    {TLS_FLAW_NO_PURPOSE, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate has no extendedKeyUsage with serverAuth" ITSELF, NULL},
    {TLS_FLAW_UNCLEAR_PURPOSE, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate's extendedKeyUsage is critical, or has any purpose beside serverAuth" ITSELF,
     NULL},
    {TLS_FLAW_ROOT_PURPOSE, TLS_ALERT_BAD_CERTIFICATE, NULL,
     "a root has an extendedKeyUsage, which is for those below it" THE_SERVERS},
    {TLS_FLAW_KEY_ID, TLS_ALERT_BAD_CERTIFICATE, NULL,
     "an issuer's certificate has no subjectKeyIdentifier" THE_SERVERS},
    {TLS_FLAW_ISSUER_KEY_ID, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate has no authorityKeyIdentifier with a key identifier" ITSELF,
     "an issuer's certificate has no authorityKeyIdentifier with a key identifier" THE_SERVERS},
    {TLS_FLAW_ROOT_KEY_ID, TLS_ALERT_BAD_CERTIFICATE, NULL,
     "a root's authorityKeyIdentifier is another's than its own" THE_SERVERS},
    {TLS_FLAW_CONSTRAINTS, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate has nameConstraints, which are for issuers",
     "an issuer's nameConstraints are malformed (before a domain stands no dot)" THE_SERVERS},
    {TLS_FLAW_QUIET_CONSTRAINTS, TLS_ALERT_BAD_CERTIFICATE, NULL,
     "an issuer's nameConstraints are not critical" THE_SERVERS},
    {TLS_FLAW_NOT_PERMITTED, TLS_ALERT_BAD_CERTIFICATE,
     "an issuer's nameConstraints do not let the certificate have its names", NULL},
    {TLS_FLAW_ALT_NAMES, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate has no subjectAltName, which is where the server's name is looked for", NULL},
    {TLS_FLAW_LOUD_NAMES, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate's subjectAltName is critical although it has a subject" ITSELF, NULL},
    {TLS_FLAW_QUIET_NAMES, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate's subjectAltName is not critical although it has no subject" ITSELF, NULL},
    {TLS_FLAW_COMMON_NAME, TLS_ALERT_BAD_CERTIFICATE,
     "the certificate's common name is a host's and not, letter for letter, one of its "
     "subjectAltNames" ITSELF,
     NULL},
    {TLS_FLAW_NAME, TLS_ALERT_BAD_CERTIFICATE, "the certificate is for another name", NULL},
};

void tls_flaw_tell(tls_flaw flaw, tls_role role, tls_failure *failure) {
  *failure = (tls_failure){TLS_ALERT_NONE, 0, ""};
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
    if (flaws[i].flaw != flaw) continue;
    const int issuer = (role & (TLS_ROLE_ISSUER | TLS_ROLE_ROOT)) != 0;
    const char *reason = issuer ? flaws[i].issuer : flaws[i].leaf;
    failure->alert = flaws[i].alert;
    failure->reason = reason ? reason : issuer ? flaws[i].leaf : flaws[i].issuer;
  }
}
