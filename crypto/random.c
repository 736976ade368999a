/*
** crypto/random.c: random bytes from the system.
**
** Linux: getrandom, which waits at most until the system's pool is first filled; a signal may make a
** long request short or end it with EINTR. A kernel without it (ENOSYS, or a sandbox's EPERM) is asked
** through /dev/urandom. Windows: BCryptGenRandom, looked up so that nothing need be linked.
*/
#include "crypto.h"

#ifdef _WIN32
#include <windows.h>

#define SYSTEM_PREFERRED_RNG 0x2 /* BCRYPT_USE_SYSTEM_PREFERRED_RNG */

typedef LONG(WINAPI *generate)(void *algorithm, UCHAR *out, ULONG n, ULONG flags);

ecr_status ecr_random(void *out, size_t n) {
  UCHAR *o = out;
  HMODULE bcrypt = LoadLibraryExA("bcrypt.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  ecr_status status = ECR_NOT_FOUND;
  if (!bcrypt) return status;
  const generate call = (generate)(void (*)(void))GetProcAddress(bcrypt, "BCryptGenRandom");
  if (call) {
    status = ECR_OK;
    while (n > 0 && status == ECR_OK) {
      const ULONG part = n > 0x10000000 ? 0x10000000 : (ULONG)n;
      if (call(NULL, o, part, SYSTEM_PREFERRED_RNG) != 0) status = ECR_NOT_FOUND;
      o += part;
      n -= part;
    }
  }
  FreeLibrary(bcrypt);
  return status;
}

#else
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/random.h>

static ssize_t system_random(void *out, size_t n) { return getrandom(out, n, 0); }
#else
static ssize_t system_random(void *out, size_t n) {
  (void)out;
  (void)n;
  errno = ENOSYS;
  return -1;
}
#endif

/* Reads until all is there; NOT_FOUND at an error or an end. */
static ecr_status device_random(uint8_t *out, size_t n) {
  int fd;
  do {
    fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return ECR_NOT_FOUND;
  while (n > 0) {
    const ssize_t got = read(fd, out, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    out += got;
    n -= (size_t)got;
  }
  close(fd);
  return n == 0 ? ECR_OK : ECR_NOT_FOUND;
}

ecr_status ecr_random(void *out, size_t n) {
  uint8_t *o = out;
  while (n > 0) {
    const ssize_t got = system_random(o, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return device_random(o, n);
    o += got;
    n -= (size_t)got;
  }
  return ECR_OK;
}
#endif
