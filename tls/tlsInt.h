/*
** tls/tlsInt.h: what the files of tls/ share beside tls.h; a bannered block for each file or group of files.
*/
#ifndef TLS_TLS_INT_H
#define TLS_TLS_INT_H

#include <string.h>

#include "tls.h"

/* ---- Bytes ---------------------------------------------------------------------------------------- */

static inline tls_bytes tls_bytes_of(const void *p, size_t n) { return (tls_bytes){p, n}; }

/* For what is public: the time depends on the bytes. */
static inline int tls_bytes_equal(tls_bytes a, tls_bytes b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* ---- DER (der.c) ------------------------------------------------------------------------------------ */

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

/* Reads DER from the front. Sticky: after a failure every call answers nothing, so all fields are read
** first and bad is looked at once. */
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

/* Takes the next element, which must have that tag: its content, or with its tag and length. Tags are of one
** byte, lengths definite, minimal and within in; anything else is bad. */
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
/* BIT STRING of named bits (X.690 11.2.2: no zero bits at the end), at most 16: bit i of ASN.1 is bit i here. */
unsigned tls_der_named_bits(tls_der *in);

/* ---- Keys and signatures (x509_key.c, signature.c) ----------------------------------------------------- */

/* Reads a SubjectPublicKeyInfo, whole. ECR_REFUSED where it is none; ECR_INVALID for a key that edb does not
** take: another algorithm or curve, explicit curve parameters, RSA outside 2,048 to 8,192 bits. */
ecr_status tls_public_key_read(tls_public_key *key, tls_bytes spki);

/* What is signed decides which keys may sign by a scheme. */
typedef enum tls_signed { TLS_SIGNED_13 = 0, TLS_SIGNED_12, TLS_SIGNED_CERTIFICATE } tls_signed;
#define TLS_SIGNED_KINDS 3

/* As tls_signature_verify. */
ecr_status tls_signature_check(const tls_public_key *key, uint16_t scheme, tls_signed what,
                               const void *message, size_t n, const uint8_t *signature,
                               size_t signature_size);

/* The scheme that an AlgorithmIdentifier (with tag and length) of a certificate's signature stands for;
** 0 where it is none that edb takes: SHA-1, other parameters than the ones that RFC 4055 and RFC 5758 ask for. */
uint16_t tls_signature_algorithm(tls_bytes identifier);

#endif
