/*
** curve_peer.h: what the curves' tests share: hexadecimal, random bytes that are the same in every run,
** and libcrypto, opened at run time so that the tests build without its headers.
*/
#ifndef EDB_CURVE_PEER_H
#define EDB_CURVE_PEER_H

#include "unit.h"
#include "crypto/crypto.h"

#include <dlfcn.h>
#include <string.h>

/* ---- Bytes -------------------------------------------------------------------------------------- */

/* Hexadecimal, blanks ignored; the number of bytes. */
static inline size_t unhex(uint8_t *out, const char *hex) {
  size_t n = 0;
  for (; *hex; hex++) {
    const char *digits = "0123456789abcdef", *d = *hex == ' ' ? NULL : strchr(digits, *hex | 32);
    if (!d) continue;
    if (n % 2 == 0) out[n / 2] = 0;
    out[n / 2] = (uint8_t)(out[n / 2] << 4 | (d - digits));
    n++;
  }
  return n / 2;
}

/* xorshift64*: the same numbers in every run. */
static inline uint64_t random64(void) {
  static uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return x * UINT64_C(2685821657736338717);
}

static inline void random_bytes(uint8_t *out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(random64() >> 32);
}

/* ---- libcrypto ------------------------------------------------------------------------------------ */

/* Its function NAME, of the type given; NULL where there is none. */
static inline void *libcrypto(const char *name) {
  static void *library;
  static int tried;
  if (!tried) {
    tried = 1;
    library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) printf("no libcrypto.so.3 here: not compared with it\n");
  }
  return library ? dlsym(library, name) : NULL;
}

/* name = libcrypto's function of that name; a type of object pointers stands for all of its own. */
#define LIBCRYPTO(result, name, ...)                                                               \
  result (*name)(__VA_ARGS__);                                                                     \
  *(void **)&name = libcrypto(#name)

#endif
