/*
** order.c: numbers modulo the order of a curve, of which there are a few in each signature.
*/
#include "cryptoInt.h"

uint64_t ecr_order_load(const ecr_order *order, uint64_t *r, const uint8_t *p) {
  const int n = order->limbs;
  uint64_t borrow = 0, any = 0;
  for (int i = 0; i < n; i++) {
    r[i] = ecr_load64(p + 8 * (n - 1 - i));
    any |= r[i];
    (void)ecr_sub(r[i], order->n[i], &borrow);
  }
  return ecr_mask_nonzero(any) & (0 - borrow);
}

/* Montgomery's multiplication, a word of b at a time. */
void ecr_order_mul(const ecr_order *order, uint64_t *r, const uint64_t *a, const uint64_t *b) {
  const int n = order->limbs;
  uint64_t t[ECR_EC_LIMBS + 2] = {0}, s[ECR_EC_LIMBS], borrow = 0;
  for (int i = 0; i < n; i++) {
    uint64_t c = 0, carry = 0;
    for (int j = 0; j < n; j++) t[j] = ecr_mac(a[j], b[i], t[j], c, &c);
    t[n] = ecr_add(t[n], c, &carry);
    t[n + 1] = carry;
    const uint64_t m = t[0] * order->n0;
    (void)ecr_mac(m, order->n[0], t[0], 0, &c);
    for (int j = 1; j < n; j++) t[j - 1] = ecr_mac(m, order->n[j], t[j], c, &c);
    carry = 0;
    t[n - 1] = ecr_add(t[n], c, &carry);
    t[n] = t[n + 1] + carry;
  }
  for (int i = 0; i < n; i++) s[i] = ecr_sub(t[i], order->n[i], &borrow);
  (void)ecr_sub(t[n], 0, &borrow);
  for (int i = 0; i < n; i++) r[i] = s[i] ^ ((0 - borrow) & (s[i] ^ t[i]));
}

int ecr_non_adjacent_public(int8_t *digits, const uint64_t *k, int limbs, int w) {
  const int bits = 64 * limbs;
  uint64_t t[ECR_EC_LIMBS + 2] = {0};
  int n = 0, carry = 0;
  for (int i = 0; i < limbs; i++) t[i] = k[i];
  for (int i = 0; i <= bits; i++) digits[i] = 0;
  for (int i = 0; i <= bits;) {
    uint64_t v = t[i / 64] >> (i % 64);
    if (i % 64 > 64 - w) v |= t[i / 64 + 1] << (64 - i % 64);
    if ((int)(v & 1) == carry) {
      i++;
      continue;
    }
    int value = (int)(v & ((UINT64_C(1) << w) - 1)) + carry;
    carry = value >> (w - 1);
    digits[i] = (int8_t)(value - carry * (1 << w));
    n = i + 1;
    i += w;
  }
  return n;
}
