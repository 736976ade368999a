/*
** crypto/cpu.c: what this processor and its operating system have.
**
** On x86 an instruction of the wider registers counts only where the system saves them too (XCR0):
** without that they fault although CPUID has them. On ARM the kernel's word (AT_HWCAP) is taken.
*/
#include "crypto.h"

#include <stdatomic.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Intel SDM 2, "CPUID"; AMD APM 3, appendix E. */
#define LEAF1_ECX_PCLMUL (1u << 1)
#define LEAF1_ECX_SSSE3 (1u << 9)
#define LEAF1_ECX_SSE41 (1u << 19)
#define LEAF1_ECX_AES (1u << 25)
#define LEAF1_ECX_OSXSAVE (1u << 27)
#define LEAF1_ECX_AVX (1u << 28)
#define LEAF7_EBX_AVX2 (1u << 5)
#define LEAF7_EBX_BMI2 (1u << 8)
#define LEAF7_EBX_ADX (1u << 19)
#define LEAF7_EBX_SHA (1u << 29)
#define LEAF7_EBX_AVX512 (1u << 16 | 1u << 17 | 1u << 30 | 1u << 31) /* F, DQ, BW, VL */
#define LEAF7_ECX_VAES_VPCLMUL (1u << 9 | 1u << 10)
#define XCR0_YMM 0x06u /* the xmm registers and the upper halves of ymm */
#define XCR0_ZMM 0xe6u /* these, the masks, the upper halves of zmm0 to 15, and zmm16 to 31 */

static unsigned saved_state(void) {
  unsigned low, high;
  __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static unsigned all(unsigned word, unsigned bits) { return (word & bits) == bits; }

static void find(ecr_cpu *cpu) {
  unsigned eax, ebx, ecx, edx, ebx7 = 0, ecx7 = 0, state = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return;
  if (!__get_cpuid_count(7, 0, &eax, &ebx7, &ecx7, &edx)) ebx7 = ecx7 = 0;
  if (all(ecx, LEAF1_ECX_OSXSAVE | LEAF1_ECX_AVX)) state = saved_state();
  const unsigned ymm = all(state, XCR0_YMM), zmm = all(state, XCR0_ZMM);

  cpu->pclmul = all(ecx, LEAF1_ECX_PCLMUL) & 1u;
  cpu->ssse3 = all(ecx, LEAF1_ECX_SSSE3) & 1u;
  cpu->sse41 = all(ecx, LEAF1_ECX_SSE41) & 1u;
  cpu->aes = all(ecx, LEAF1_ECX_AES) & 1u;
  cpu->bmi2 = all(ebx7, LEAF7_EBX_BMI2) & 1u;
  cpu->adx = all(ebx7, LEAF7_EBX_ADX) & 1u;
  cpu->sha = all(ebx7, LEAF7_EBX_SHA) & 1u;
  cpu->avx2 = ymm & all(ebx7, LEAF7_EBX_AVX2) & 1u;
  cpu->vaes256 = cpu->avx2 && cpu->aes && cpu->pclmul && all(ecx7, LEAF7_ECX_VAES_VPCLMUL);
  cpu->vaes512 = cpu->vaes256 && zmm && all(ebx7, LEAF7_EBX_AVX512);
}

#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

/* Linux, arch/arm64/include/uapi/asm/hwcap.h. */
static void find(ecr_cpu *cpu) {
  const unsigned long has = getauxval(AT_HWCAP);
  cpu->arm_aes = (has >> 3) & 1;
  cpu->arm_pmull = (has >> 4) & 1;
  cpu->arm_sha2 = (has >> 6) & 1;
}

#elif defined(__aarch64__) && defined(_WIN32)
#include <windows.h>

static void find(ecr_cpu *cpu) {
  const unsigned has = IsProcessorFeaturePresent(PF_ARM_V8_CRYPTO_INSTRUCTIONS_AVAILABLE) != 0;
  cpu->arm_aes = cpu->arm_pmull = cpu->arm_sha2 = has;
}

#elif defined(__aarch64__) && defined(__APPLE__)

/* Every 64-bit processor of theirs has these. */
static void find(ecr_cpu *cpu) { cpu->arm_aes = cpu->arm_pmull = cpu->arm_sha2 = 1; }

#else
static void find(ecr_cpu *cpu) { (void)cpu; }
#endif

const ecr_cpu *ecr_cpu_get(void) {
  static ecr_cpu cpu;
  static atomic_int state; /* 0: nobody looked, 1: somebody is looking, 2: found */
  int expected = 0;
  if (atomic_load_explicit(&state, memory_order_acquire) == 2) return &cpu;
  if (atomic_compare_exchange_strong(&state, &expected, 1)) {
    find(&cpu);
    atomic_store_explicit(&state, 2, memory_order_release);
  } else {
    while (atomic_load_explicit(&state, memory_order_acquire) != 2) {
    }
  }
  return &cpu;
}
