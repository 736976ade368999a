/*
** order.c: numbers modulo the order of P-256 or P-384, of which there are a few in each signature.
*/
#include "cryptoInt.h"

uint64_t ecr_order_load(const ecr_ec *ec, uint64_t *r, const uint8_t *p) {
  const int n = ec->limbs;
  uint64_t borrow = 0, any = 0;
  for (int i = 0; i < n; i++) {
    r[i] = ecr_load64(p + 8 * (n - 1 - i));
    any |= r[i];
    (void)ecr_sub(r[i], ec->order[i], &borrow);
  }
  return ecr_mask_nonzero(any) & (0 - borrow);
}

/* Montgomery's multiplication, a word of b at a time. */
void ecr_order_mul(const ecr_ec *ec, uint64_t *r, const uint64_t *a, const uint64_t *b) {
  const int n = ec->limbs;
  uint64_t t[ECR_EC_LIMBS + 2] = {0}, s[ECR_EC_LIMBS], borrow = 0;
  for (int i = 0; i < n; i++) {
    uint64_t c = 0, carry = 0;
    for (int j = 0; j < n; j++) t[j] = ecr_mac(a[j], b[i], t[j], c, &c);
    t[n] = ecr_add(t[n], c, &carry);
    t[n + 1] = carry;
    const uint64_t m = t[0] * ec->order_n0;
    (void)ecr_mac(m, ec->order[0], t[0], 0, &c);
    for (int j = 1; j < n; j++) t[j - 1] = ecr_mac(m, ec->order[j], t[j], c, &c);
    carry = 0;
    t[n - 1] = ecr_add(t[n], c, &carry);
    t[n] = t[n + 1] + carry;
  }
  for (int i = 0; i < n; i++) s[i] = ecr_sub(t[i], ec->order[i], &borrow);
  (void)ecr_sub(t[n], 0, &borrow);
  for (int i = 0; i < n; i++) r[i] = s[i] ^ ((0 - borrow) & (s[i] ^ t[i]));
}
