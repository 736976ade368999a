/*
** ec.c: P-256 and P-384 by their number: public keys and key agreement.
*/
#include "cryptoInt.h"

const ecr_ec *ecr_ec_get(ecr_curve curve) {
  switch (curve) {
  case ECR_P256:
    return &ecr_ec_p256;
  case ECR_P384:
    return &ecr_ec_p384;
  }
  return NULL;
}

/* Whether the scalar is 1 to order - 1 is known to who is told ECR_INVALID; nothing else of it is. */
static int load_scalar(const ecr_ec *ec, uint64_t *k, const uint8_t *scalar) {
  uint64_t right = ecr_order_load(ec->order, k, scalar);
  ecr_declassify(&right, sizeof(right));
  return right != 0;
}

ecr_status ecr_ec_public(ecr_curve curve, uint8_t *point, const uint8_t *scalar) {
  const ecr_ec *ec = ecr_ec_get(curve);
  uint64_t k[ECR_EC_LIMBS];
  ecr_status status = ECR_INVALID;
  if (!ec) return ECR_INVALID;
  if (load_scalar(ec, k, scalar)) {
    ec->public_point(point, k);
    status = ECR_OK;
  }
  ecr_wipe(k, sizeof(k));
  return status;
}

ecr_status ecr_ecdh(ecr_curve curve, uint8_t *out, const uint8_t *scalar, const uint8_t *point,
                    size_t point_size) {
  const ecr_ec *ec = ecr_ec_get(curve);
  uint64_t k[ECR_EC_LIMBS];
  ecr_status status = ECR_INVALID;
  if (!ec) return ECR_INVALID;
  if (point_size != 2 * ecr_ec_size(curve) + 1) return ECR_REFUSED;
  if (load_scalar(ec, k, scalar)) status = ec->ecdh(out, point, k) ? ECR_OK : ECR_REFUSED;
  ecr_wipe(k, sizeof(k));
  return status;
}
