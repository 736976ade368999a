/*
** crypto/bignum_adx.c: bignum.c's rows of products by MULX, ADCX and ADOX (Intel since 2014, AMD since
** 2017): the first multiplies without touching the flags, and the others add with a carry in a flag of
** their own each, so that the low and the high words' carries run beside each other. Compilers do not
** keep two carries in flags, hence the assembler. It takes three quarters of the time of gcc's code.
*/
#include "cryptoInt.h"

#if defined(__x86_64__) && ECR_U128 && !defined(ECR_CT_MSAN)
#include <string.h>

/* What the assembler reads and writes, for the compiler to know. */
typedef struct limbs_8 {
  uint64_t limb[8];
} limbs_8;
typedef struct limbs_4 {
  uint64_t limb[4];
} limbs_4;

/* Limb i / 8: the high word of the one before is in IN, this one's goes to OUT. */
#define LIMB(i, in, out)                                                                           \
  "mulx " #i "(%[a]), %[low], %[" #out "]\n\t"                                                     \
  "adcx %[" #in "], %[low]\n\t"                                                                    \
  "adox " #i "(%[t]), %[low]\n\t"                                                                  \
  "movq %[low], " #i "(%[t])\n\t"
#define BEGIN "xorl %k[low], %k[low]\n\t" /* clears both flags */
#define END                                                                                        \
  "movl $0, %k[low]\n\t"                                                                           \
  "adcx %[low], %[c]\n\t"                                                                          \
  "adox %[low], %[c]\n\t"

/* t[0..7] += a[0..7] × b + c; the word that goes beyond. */
static inline uint64_t add_8(uint64_t *t, const uint64_t *a, uint64_t b, uint64_t c) {
  uint64_t low, high;
  __asm__(BEGIN LIMB(0, c, high) LIMB(8, high, c) LIMB(16, c, high) LIMB(24, high, c)
              LIMB(32, c, high) LIMB(40, high, c) LIMB(48, c, high) LIMB(56, high, c) END
          : [low] "=&r"(low), [high] "=&r"(high), [c] "+&r"(c), "+m"(*(limbs_8 *)t)
          : [a] "r"(a), [t] "r"(t), "d"(b), "m"(*(const limbs_8 *)a)
          : "cc");
  return c;
}

static inline uint64_t add_4(uint64_t *t, const uint64_t *a, uint64_t b, uint64_t c) {
  uint64_t low, high;
  __asm__(BEGIN LIMB(0, c, high) LIMB(8, high, c) LIMB(16, c, high) LIMB(24, high, c) END
          : [low] "=&r"(low), [high] "=&r"(high), [c] "+&r"(c), "+m"(*(limbs_4 *)t)
          : [a] "r"(a), [t] "r"(t), "d"(b), "m"(*(const limbs_4 *)a)
          : "cc");
  return c;
}

/* t[0..k-1] += a × b; the word that goes beyond. */
static inline uint64_t add_row(uint64_t *t, const uint64_t *a, uint64_t b, size_t k) {
  uint64_t c = 0;
  size_t i = 0;
  for (; i < (k & 3); i++) t[i] = ecr_mac(a[i], b, t[i], c, &c);
  if (k & 4) {
    c = add_4(t + i, a + i, b, c);
    i += 4;
  }
  for (; i < k; i += 8) c = add_8(t + i, a + i, b, c);
  return c;
}

int ecr_bn_has_adx(void) { return ecr_cpu_get()->adx && ecr_cpu_get()->bmi2; }

void ecr_bn_mul_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t k) {
  memset(r, 0, k * sizeof *r);
  for (size_t i = 0; i < k; i++) r[i + k] = add_row(r + i, a, b[i], k);
}

void ecr_bn_cross_adx(uint64_t *r, const uint64_t *a, size_t k) {
  memset(r, 0, k * sizeof *r);
  for (size_t i = 0; i < k; i++) r[i + k] = add_row(r + 2 * i + 1, a + i + 1, a[i], k - 1 - i);
}

uint64_t ecr_bn_reduce_adx(uint64_t *t, const uint64_t *n, uint64_t n0, size_t k) {
  uint64_t top = 0;
  for (size_t i = 0; i < k; i++)
    t[i + k] = ecr_add(t[i + k], add_row(t + i, n, t[i] * n0, k), &top);
  return top;
}

#else
int ecr_bn_has_adx(void) { return 0; }
void ecr_bn_mul_adx(uint64_t *r, const uint64_t *a, const uint64_t *b, size_t k) {
  (void)r, (void)a, (void)b, (void)k;
}
void ecr_bn_cross_adx(uint64_t *r, const uint64_t *a, size_t k) { (void)r, (void)a, (void)k; }
uint64_t ecr_bn_reduce_adx(uint64_t *t, const uint64_t *n, uint64_t n0, size_t k) {
  (void)t, (void)n, (void)n0, (void)k;
  return 0;
}
#endif
