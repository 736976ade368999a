/*
** Random bytes from a system that answers in every way that getrandom and read may: this program's own
** getrandom and read stand before the C library's.
*/
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "primitives.h"

static enum { WELL, SHORT, INTERRUPTED, MISSING, BREAKS_OFF, NOTHING } system_is;
static int calls, reads;

ssize_t getrandom(void *out, size_t n, unsigned flags);
ssize_t getrandom(void *out, size_t n, unsigned flags) {
  calls++;
  if (system_is == INTERRUPTED && calls % 2) {
    errno = EINTR;
    return -1;
  }
  if (system_is >= MISSING && (system_is != BREAKS_OFF || calls > 1)) {
    errno = ENOSYS;
    return -1;
  }
  if (system_is != WELL && n > 5) n = 5;
  return syscall(SYS_getrandom, out, n, flags);
}

/* Of /dev/urandom: short, interrupted, or at once at an end. */
ssize_t read(int fd, void *out, size_t n) {
  reads++;
  if (system_is == NOTHING) return 0;
  if (system_is >= MISSING && reads % 2) {
    errno = EINTR;
    return -1;
  }
  if (system_is >= MISSING && n > 7) n = 7;
  return syscall(SYS_read, fd, out, n);
}

/* n bytes are written, none beside them, and they are not what they were. */
static void try(size_t n) {
  uint8_t buffer[300], first[300];
  calls = reads = 0;
  memset(buffer, 0xa5, sizeof buffer);
  CHECK_INT(ecr_random(buffer + 8, n), ECR_OK);
  for (size_t i = 0; i < 8; i++) CHECK(buffer[i] == 0xa5 && buffer[8 + n + i] == 0xa5);
  memcpy(first, buffer, sizeof buffer);
  calls = reads = 0;
  CHECK_INT(ecr_random(buffer + 8, n), ECR_OK);
  if (n >= 16) {
    size_t same = 0, stayed = 0;
    for (size_t i = 0; i < n; i++) {
      same += first[8 + i] == buffer[8 + i];
      stayed += first[8 + i] == 0xa5;
    }
    CHECK(same < 8 + n / 16 && stayed < 8 + n / 16);
    /* The very end too: a short answer was followed by another, at its place. */
    CHECK(memcmp(first + 4 + n, buffer + 4 + n, 4) != 0);
  }
}

int main(void) {
  static const size_t sizes[] = {0, 1, 5, 6, 16, 33, 256, 280};
  for (system_is = WELL; system_is < NOTHING; system_is++) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) try(sizes[i]);
    CHECK((reads > 0) == (system_is >= MISSING));
  }
  uint8_t buffer[16];
  calls = reads = 0;
  CHECK_INT(ecr_random(buffer, sizeof buffer), ECR_NOT_FOUND);
  CHECK_INT(ecr_random(NULL, 0), ECR_OK);
  return unit_done("random");
}
