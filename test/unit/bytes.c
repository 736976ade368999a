/*
** Wiping, comparing, selecting; and that the processor is found to be one.
*/
#include "primitives.h"

static void equal(void) {
  uint8_t a[70], b[70];
  fill(a, sizeof a, 1);
  memcpy(b, a, sizeof a);
  CHECK_INT(ecr_equal(NULL, NULL, 0), 1);
  for (size_t n = 0; n <= sizeof a; n++) CHECK_INT(ecr_equal(a, b, n), 1);
  /* Each bit that differs is seen, and only within the length. */
  for (size_t i = 0; i < 8 * sizeof a; i++) {
    b[i / 8] ^= (uint8_t)(1 << i % 8);
    CHECK_INT(ecr_equal(a, b, sizeof a), 0);
    CHECK_INT(ecr_equal(a, b, i / 8 + 1), 0);
    CHECK_INT(ecr_equal(a, b, i / 8), 1);
    b[i / 8] ^= (uint8_t)(1 << i % 8);
  }
}

static void selected(void) {
  uint8_t a[70], b[70], out[71];
  fill(a, sizeof a, 1);
  fill(b, sizeof b, 2);
  for (size_t n = 0; n <= sizeof a; n++) {
    for (int choice = 0; choice < 2; choice++) {
      memset(out, 0xa5, sizeof out);
      ecr_select(out, a, b, n, choice);
      CHECK_BYTES(out, n, choice ? a : b, n);
      CHECK_INT(out[n], 0xa5);
      /* In place of either. */
      memcpy(out, a, n);
      ecr_select(out, out, b, n, choice);
      CHECK_BYTES(out, n, choice ? a : b, n);
      memcpy(out, b, n);
      ecr_select(out, a, out, n, choice);
      CHECK_BYTES(out, n, choice ? a : b, n);
    }
  }
}

static void wiped(void) {
  uint8_t buffer[40];
  memset(buffer, 0xa5, sizeof buffer);
  ecr_wipe(buffer + 4, 32);
  for (size_t i = 0; i < sizeof buffer; i++) CHECK_INT(buffer[i], i < 4 || i >= 36 ? 0xa5 : 0);
  ecr_wipe(NULL, 0);
}

/* The flags agree with each other and with the kernel's words in /proc/cpuinfo. */
static void processor(void) {
  const ecr_cpu *cpu = ecr_cpu_get();
  CHECK(cpu == ecr_cpu_get());
  CHECK(!cpu->vaes512 || cpu->vaes256);
  CHECK(!cpu->vaes256 || (cpu->avx2 && cpu->aes && cpu->pclmul));
  /* Under qemu-user it is the host's file, which has no "Features". */
#if defined(__x86_64__)
  const char *const label = "flags";
#else
  const char *const label = "Features";
#endif
  static char line[8192];
  FILE *file = fopen("/proc/cpuinfo", "r");
  int found = 0;
  while (file && !found && fgets(line, sizeof line, file))
    found = strncmp(line, label, strlen(label)) == 0;
  if (file) fclose(file);
  if (!found) return;
  char *end = strchr(line, '\n');
  if (end) *end = ' ';
#define HAS(word) (strstr(line, " " word " ") != NULL)
#if defined(__x86_64__)
  CHECK_INT(cpu->aes, HAS("aes"));
  CHECK_INT(cpu->pclmul, HAS("pclmulqdq"));
  CHECK_INT(cpu->ssse3, HAS("ssse3"));
  CHECK_INT(cpu->sse41, HAS("sse4_1"));
  CHECK_INT(cpu->avx2, HAS("avx2"));
  CHECK_INT(cpu->sha, HAS("sha_ni"));
  CHECK_INT(cpu->bmi2, HAS("bmi2"));
  CHECK_INT(cpu->adx, HAS("adx"));
  CHECK_INT(cpu->vaes256, HAS("avx2") && HAS("vaes") && HAS("vpclmulqdq"));
  CHECK_INT(cpu->vaes512, HAS("avx512f") && HAS("avx512bw") && HAS("vaes") && HAS("vpclmulqdq"));
#elif defined(__aarch64__)
  CHECK_INT(cpu->arm_aes, HAS("aes"));
  CHECK_INT(cpu->arm_pmull, HAS("pmull"));
  CHECK_INT(cpu->arm_sha2, HAS("sha2"));
#endif
}

int main(void) {
  equal();
  selected();
  wiped();
  processor();
  return unit_done("bytes");
}
