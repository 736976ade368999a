/*
** tls/x509Int.h: what the files of tls/ that concern certificates share beside tls.h; a bannered
** block for each file or group of files. They know nothing of the rest of tls/, which has tlsInt.h.
*/
#ifndef TLS_X509_INT_H
#define TLS_X509_INT_H

#include <string.h>

#include "tls.h"

/* ---- Bytes ----------------------------------------------------------------------------------- */

static inline tls_bytes tls_bytes_of(const void *p, size_t n) { return (tls_bytes){p, n}; }

/* For what is public: the time depends on the bytes. */
static inline int tls_bytes_equal(tls_bytes a, tls_bytes b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* ---- DER (der.c) ----------------------------------------------------------------------------- */

/* X.690's tags that certificates have. */
enum {
  TLS_DER_BOOLEAN = 0x01,
  TLS_DER_INTEGER = 0x02,
  TLS_DER_BIT_STRING = 0x03,
  TLS_DER_OCTET_STRING = 0x04,
  TLS_DER_NULL = 0x05,
  TLS_DER_OID = 0x06,
  TLS_DER_UTF8_STRING = 0x0c,
  TLS_DER_PRINTABLE_STRING = 0x13,
  TLS_DER_IA5_STRING = 0x16,
  TLS_DER_UTC_TIME = 0x17,
  TLS_DER_GENERALIZED_TIME = 0x18,
  TLS_DER_SEQUENCE = 0x30,
  TLS_DER_SET = 0x31,
  TLS_DER_CONTEXT = 0x80,            /* [0], primitive; [i] is i more */
  TLS_DER_CONTEXT_CONSTRUCTED = 0xa0 /* [0], constructed */
};

/* Reads DER from the front. Sticky: after a failure every call answers nothing, so all fields
** are read first and bad is looked at once. */
typedef struct tls_der {
  const uint8_t *p;
  size_t n, i;
  int bad;
} tls_der;

static inline tls_der tls_der_of(tls_bytes in) { return (tls_der){in.p, in.n, 0, 0}; }

/* All was read, and rightly. */
static inline int tls_der_done(const tls_der *in) { return !in->bad && in->i == in->n; }

/* Something is left: for the loop over a SEQUENCE OF. */
static inline int tls_der_more(const tls_der *in) { return !in->bad && in->i < in->n; }

/* The next element's tag, or -1 at the end. */
int tls_der_peek(const tls_der *in);

/* Takes the next element, which must have that tag: its content, or with its tag and length.
** Tags are of one byte, lengths definite, minimal and within in; anything else is bad. */
tls_bytes tls_der_take(tls_der *in, int tag);
tls_bytes tls_der_whole(tls_der *in, int tag);
/* The same, but nothing and not bad where the next element has another tag. */
tls_bytes tls_der_optional(tls_der *in, int tag);
/* The next element of any tag: its content. */
tls_bytes tls_der_any(tls_der *in, int *tag);
/* A reader of the next element's content; bad where in is. */
tls_der tls_der_enter(tls_der *in, int tag);

/* BOOLEAN (X.690 11.1: 00 or FF). With optional set, absent is 0. */
int tls_der_boolean(tls_der *in, int optional);
/* INTEGER with no byte to spare, of any sign: its bytes. */
tls_bytes tls_der_integer(tls_der *in);
/* INTEGER, not negative: its bytes without the zero that says so. */
tls_bytes tls_der_unsigned(tls_der *in);
/* INTEGER, 0 to 2^31 - 1; more is bad. */
uint32_t tls_der_small(tls_der *in);
/* BIT STRING of whole bytes. */
tls_bytes tls_der_bits(tls_der *in);
/* BIT STRING of named bits, at most 16: bit i of ASN.1 is bit i here. Zero bits at the end,
** which X.690 11.2.2 leaves out, are bad, or set *loose where it is not NULL. */
unsigned tls_der_named_bits(tls_der *in, int *loose);

/* ---- Keys and signatures (x509_key.c, signature.c) ------------------------------------------- */

/* Reads a SubjectPublicKeyInfo, whole. ECR_REFUSED where it is none; ECR_INVALID for a key that
** edb does not take: another algorithm or curve, explicit curve parameters, RSA outside 2,048 to
** 8,192 bits. */
ecr_status tls_public_key_read(tls_public_key *key, tls_bytes spki);

/* What is signed decides which keys may sign by a scheme. */
typedef enum tls_signed { TLS_SIGNED_13 = 0, TLS_SIGNED_12, TLS_SIGNED_CERTIFICATE } tls_signed;
#define TLS_SIGNED_KINDS 3

/* As tls_signature_verify. */
ecr_status tls_signature_check(const tls_public_key *key, uint16_t scheme, tls_signed what,
                               const void *message, size_t n, const uint8_t *signature,
                               size_t signature_size);

/* The scheme that an AlgorithmIdentifier (with tag and length) of a certificate's signature
** stands for; 0 where it is none that edb takes: SHA-1, other parameters than the ones that RFC
** 4055 and RFC 5758 ask for. */
uint16_t tls_signature_algorithm(tls_bytes identifier);

/* ---- Certificates as they are read (x509.c, x509_extensions.c, x509_time.c) ------------------ */

/* Extensions that are known, as bits. */
enum {
  TLS_X509_BASIC_CONSTRAINTS = 1 << 0,
  TLS_X509_KEY_USAGE = 1 << 1,
  TLS_X509_EXTENDED_KEY_USAGE = 1 << 2,
  TLS_X509_ALT_NAMES = 1 << 3,
  TLS_X509_NAME_CONSTRAINTS = 1 << 4,
  TLS_X509_POLICIES = 1 << 5,
  TLS_X509_SUBJECT_KEY_ID = 1 << 6,
  TLS_X509_AUTHORITY_KEY_ID = 1 << 7,
  TLS_X509_AUTHORITY_ACCESS = 1 << 8,
  TLS_X509_POLICY_LIMITS = 1 << 9, /* policyConstraints, inhibitAnyPolicy */
  TLS_X509_UNKNOWN = 1 << 10,
  /* What is obeyed, so that it may be critical: policies too, as any is as good as another. */
  TLS_X509_OBEYED = TLS_X509_BASIC_CONSTRAINTS | TLS_X509_KEY_USAGE | TLS_X509_EXTENDED_KEY_USAGE |
                    TLS_X509_ALT_NAMES | TLS_X509_NAME_CONSTRAINTS | TLS_X509_POLICIES
};

/* KeyUsage's bits (RFC 5280 4.2.1.3) that are asked for. */
enum { TLS_USAGE_DIGITAL_SIGNATURE = 1 << 0, TLS_USAGE_CERT_SIGN = 1 << 5 };

/* Of the purposes of an ExtendedKeyUsage. */
enum { TLS_PURPOSE_SERVER = 1 << 0, TLS_PURPOSE_ANY = 1 << 1, TLS_PURPOSE_OTHER = 1 << 2 };

/* A certificate, read and not yet judged. The pointers are into its DER. */
typedef struct tls_certificate {
  tls_bytes der, tbs;            /* with tag and length, like the next four */
  tls_bytes issuer, subject;     /* Name */
  tls_bytes spki, algorithm;     /* the signature's AlgorithmIdentifier */
  tls_bytes signature;           /* the BIT STRING's bytes */
  tls_bytes serial;              /* INTEGER's content */
  int64_t not_before, not_after; /* seconds since 1970-01-01 UTC, both inclusive */
  tls_public_key key;
  unsigned present, critical; /* TLS_X509_…; what is not present is 0 below */
  int ca;
  int path_length;          /* -1: not limited */
  unsigned usage, purposes; /* TLS_USAGE_…, TLS_PURPOSE_… */
  tls_bytes names;          /* GeneralNames of subjectAltName, content of the SEQUENCE */
  tls_bytes constraints;    /* NameConstraints, content of the SEQUENCE */
  tls_bytes key_id;         /* subjectKeyIdentifier */
  tls_bytes issuer_key_id;  /* authorityKeyIdentifier's keyIdentifier */
  int loose;                /* has an encoding that only roots are let through with */
  tls_bytes issuer_names;   /* its authorityCertIssuer, GeneralNames; p is NULL where absent */
  tls_bytes issuer_serial;  /* its authorityCertSerialNumber */
} tls_certificate;

/* What may be wrong with a certificate or a chain; x509_flaw.c has the alert and the text of
** each. */
typedef enum tls_flaw {
  TLS_FLAW_NONE = 0,
  TLS_FLAW_NO_TRUST,
  TLS_FLAW_NO_NAME,
  TLS_FLAW_NO_CERTIFICATE,
  TLS_FLAW_TOO_MANY,
  TLS_FLAW_WORK,
  TLS_FLAW_ENCODING,
  TLS_FLAW_KEY,
  TLS_FLAW_ALGORITHM,
  TLS_FLAW_SIGNATURE,
  TLS_FLAW_UNKNOWN_ROOT,
  TLS_FLAW_NOT_PINNED,
  TLS_FLAW_DEPTH,
  TLS_FLAW_NOT_YET,
  TLS_FLAW_EXPIRED,
  TLS_FLAW_SERIAL,
  TLS_FLAW_NO_ISSUER,
  TLS_FLAW_CRITICAL,
  TLS_FLAW_POLICY,
  TLS_FLAW_NOT_CA,
  TLS_FLAW_QUIET_CA,
  TLS_FLAW_IS_CA,
  TLS_FLAW_PATH_LENGTH,
  TLS_FLAW_USAGE,
  TLS_FLAW_FALSE_SIGNER,
  TLS_FLAW_PURPOSE,
  TLS_FLAW_NO_PURPOSE,
  TLS_FLAW_UNCLEAR_PURPOSE,
  TLS_FLAW_ROOT_PURPOSE,
  TLS_FLAW_KEY_ID,
  TLS_FLAW_ISSUER_KEY_ID,
  TLS_FLAW_ROOT_KEY_ID,
  TLS_FLAW_CONSTRAINTS,
  TLS_FLAW_QUIET_CONSTRAINTS,
  TLS_FLAW_NOT_PERMITTED,
  TLS_FLAW_ALT_NAMES,
  TLS_FLAW_LOUD_NAMES,
  TLS_FLAW_QUIET_NAMES,
  TLS_FLAW_COMMON_NAME,
  TLS_FLAW_NAME
} tls_flaw;

/* Where in a chain a certificate stands. */
typedef enum tls_role {
  TLS_ROLE_LEAF = 1 << 0,   /* the server's, for which issuers vouch */
  TLS_ROLE_OWN = 1 << 1,    /* the server's, trusted itself: pinned, or a root */
  TLS_ROLE_ISSUER = 1 << 2, /* between leaf and root */
  TLS_ROLE_ROOT = 1 << 3
} tls_role;

/* Reads one certificate. ENCODING, or KEY for a key that edb does not take. */
tls_flaw tls_certificate_read(tls_certificate *certificate, tls_bytes der);

/* Reads Extensions, a SEQUENCE, into what the certificate says of them; 0 where it is not one. */
int tls_certificate_extensions(tls_certificate *certificate, tls_der extensions);

/* Time (RFC 5280 4.1.2.5): UTCTime until 2049, GeneralizedTime after it, both in UTC and to the
** second. An earlier GeneralizedTime is bad, or sets *loose where it is not NULL. */
int64_t tls_der_time(tls_der *in, int *loose);

/* ---- Names (name.c, name_directory.c, name_common.c) ----------------------------------------- */

#define TLS_NAME_MAX 253

/* What a server was asked for as: a DNS name or an address. */
typedef struct tls_name {
  tls_bytes dns; /* into the caller's text, without a dot at its end; n = 0: an address */
  uint8_t address[16];
  size_t address_size; /* 4 or 16; 0: a DNS name */
} tls_name;

/* 0 where text is neither: NULL, empty, longer than TLS_NAME_MAX, not of LDH labels (RFC 1123
** 2.1), … */
int tls_name_read(tls_name *name, const char *text);

/* Labels of letters, digits and hyphens, the last not of digits alone; with wildcard, "*" may be
** the first. */
int tls_dns_valid(tls_bytes name, int wildcard);

/* ASCII's letters alike. */
int tls_text_equal(tls_bytes a, tls_bytes b);

/* Whether one of the GeneralNames is the name (RFC 9525 6.3, 6.4). */
int tls_name_matches(const tls_name *name, tls_bytes names);

/* RFC 5952's text, without a NUL, into out: its length. */
#define TLS_ADDRESS_TEXT 40
size_t tls_address_text(const uint8_t *address, size_t size, char out[TLS_ADDRESS_TEXT]);

/* Whether it is a Name: SEQUENCE OF SET OF SEQUENCE { type, value }. */
int tls_directory_valid(tls_bytes name);
int tls_directory_empty(tls_bytes name);

/* The i-th value of that attribute's type (an OID's content) in a Name: its bytes, or NULL behind
** the last. */
tls_bytes tls_directory_attribute(tls_bytes name, tls_bytes type, size_t i, int *tag);

/* How sure it is that name is base, or below it in the directory. */
typedef enum tls_likeness { TLS_UNLIKE = 0, TLS_PERHAPS, TLS_ALIKE } tls_likeness;
tls_likeness tls_directory_below(tls_bytes name, tls_bytes base);

/* Whether a common name that reads as a host's is none of the names that the certificate is for. */
int tls_common_name_strays(const tls_certificate *certificate);

/* ---- Judging (x509_flaw.c, x509_check.c, name_constraints.c, x509_path.c) -------------------- */

void tls_flaw_tell(tls_flaw flaw, tls_role role, tls_failure *failure);

/* What a certificate must be in its place, but for names: below is the number of issuers between
** it and the leaf that are not self-issued. */
tls_flaw tls_certificate_check(const tls_certificate *certificate, tls_role role, int64_t now,
                               unsigned below);

static inline int tls_self_issued(const tls_certificate *c) {
  return tls_bytes_equal(c->issuer, c->subject);
}

/* Whether NameConstraints (the SEQUENCE's content) are well-formed. */
int tls_constraints_valid(tls_bytes constraints);

/* Whether they let a certificate below theirs have its names. Each comparison of two names is
** taken from *work; WORK where that is used up. */
tls_flaw tls_constraints_check(tls_bytes constraints, const tls_certificate *certificate,
                               unsigned *work);

#define TLS_VERIFY_COMPARISONS 65536 /* of names with constraints */
#define TLS_VERIFY_STEPS 1024        /* issuers that are looked at, and looked at again */

/* Searches a path from the leaf, sent[0], over the others to a root. flaws: what was wrong with
** each when it was read; those are passed over. */
tls_flaw tls_path_find(const tls_verify *verify, const tls_certificate *sent, const tls_flaw *flaws,
                       size_t count, tls_role *role);

/* ---- Trust (pem.c, trust.c) ------------------------------------------------------------------ */

/* Finds the next CERTIFICATE of a PEM text from *at and decodes it: ECR_OK and *size;
** ECR_NOT_FOUND behind the last; ECR_SHORT where out is too small; ECR_INVALID for one that is
** broken. *at is behind it in any case. */
ecr_status tls_pem_next(const char *text, size_t n, size_t *at, uint8_t *out, size_t room,
                        size_t *size);

/* The roots whose subject that is: *count from the answer on. */
const tls_anchor *tls_trust_find(const tls_trust *trust, tls_bytes subject, size_t *count);
/* Whether the certificate itself is a root, or pinned. */
int tls_trust_itself(const tls_trust *trust, const tls_certificate *certificate);

#endif
