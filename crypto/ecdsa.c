/*
** ecdsa.c: ECDSA verification (FIPS 186-5 6.4.2) of signatures in strict DER (RFC 3279 2.2.3).
**
**   Ecdsa-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }
**
** All is public, so times may depend on it.
*/
#include <string.h>

#include "cryptoInt.h"

typedef struct reader {
  const uint8_t *p;
  size_t n, i;
  int bad;
} reader;

/* The content of what has the tag, and a length of one byte: longer ones are not minimal for a signature
** of these curves (X.690 10.1). NULL sets bad. */
static const uint8_t *content(reader *in, uint8_t tag, size_t *size) {
  if (in->bad || in->n - in->i < 2 || in->p[in->i] != tag || in->p[in->i + 1] >= 0x80 ||
      in->p[in->i + 1] > in->n - in->i - 2) {
    in->bad = 1;
    *size = 0;
    return NULL;
  }
  const uint8_t *start = in->p + in->i + 2;
  *size = start[-1];
  in->i += 2 + *size;
  return start;
}

/* An INTEGER, positive and with no byte to spare (X.690 8.3.2), into n words' bytes. */
static void integer(reader *in, uint8_t *out, size_t n) {
  size_t size;
  const uint8_t *p = content(in, 0x02, &size);
  memset(out, 0, n);
  if (!p || size == 0 || p[0] >= 0x80 || (p[0] == 0 && size > 1 && p[1] < 0x80)) {
    in->bad = 1;
    return;
  }
  if (p[0] == 0) p++, size--;
  if (size > n) {
    in->bad = 1;
    return;
  }
  if (size) memcpy(out + n - size, p, size);
}

/* r and s, each 1 to order - 1. */
static int signature_read(const ecr_ec *ec, uint64_t *r, uint64_t *s, const uint8_t *p, size_t n) {
  const size_t size = 8 * (size_t)ec->order->limbs;
  uint8_t r_bytes[8 * ECR_EC_LIMBS], s_bytes[8 * ECR_EC_LIMBS];
  reader outer = {p, n, 0, 0}, in = {NULL, 0, 0, 0};
  in.p = content(&outer, 0x30, &in.n);
  in.bad = outer.bad || outer.i != outer.n;
  integer(&in, r_bytes, size);
  integer(&in, s_bytes, size);
  if (in.bad || in.i != in.n) return 0;
  return (ecr_order_load(ec->order, r, r_bytes) & ecr_order_load(ec->order, s, s_bytes)) != 0;
}

/* FIPS 186-5 6.4.1: the leftmost bits of the hash, as many as the order has. */
static void hash_read(const ecr_ec *ec, uint64_t *e, const uint8_t *hash, size_t n) {
  const size_t size = 8 * (size_t)ec->order->limbs;
  uint8_t bytes[8 * ECR_EC_LIMBS] = {0};
  if (n > size) n = size;
  if (n) memcpy(bytes + size - n, hash, n);
  (void)ecr_order_load(ec->order, e, bytes); /* order or more is right for ecr_order_mul */
}

ecr_status ecr_ecdsa_verify(ecr_curve curve, const uint8_t *point, size_t point_size,
                            const uint8_t *hash, size_t hash_size, const uint8_t *signature,
                            size_t signature_size) {
  const ecr_ec *ec = ecr_ec_get(curve);
  uint64_t r[ECR_EC_LIMBS], s[ECR_EC_LIMBS], e[ECR_EC_LIMBS], u1[ECR_EC_LIMBS], u2[ECR_EC_LIMBS];
  if (!ec || point_size != 2 * ecr_ec_size(curve) + 1) return ECR_INVALID;
  if (!signature_read(ec, r, s, signature, signature_size)) {
    return ec->has_point(point) ? ECR_REFUSED : ECR_INVALID;
  }
  hash_read(ec, e, hash, hash_size);
  /* s = 1 / s in Montgomery's form; then each product is a plain number. */
  ecr_order_invert_public(ec->order, s, s);
  ecr_order_mul(ec->order, s, s, ec->order->rr);
  ecr_order_mul(ec->order, u1, e, s);
  ecr_order_mul(ec->order, u2, r, s);
  return ec->verify(point, u1, u2, r);
}
