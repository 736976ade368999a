/*
** primitives.h: what the unit tests of crypto/ share: facts in hexadecimal, libcrypto as a second opinion,
** and memory with nothing readable behind it.
*/
#ifndef EDB_UNIT_PRIMITIVES_H
#define EDB_UNIT_PRIMITIVES_H

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crypto/crypto.h"
#include "unit.h"

typedef struct bytes {
  size_t n;
  uint8_t p[600];
} bytes;

static inline unsigned hex_digit(char c) {
  if (c >= '0' && c <= '9') return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a' + 10);
  fprintf(stderr, "not a hexadecimal digit: '%c'\n", c);
  exit(2);
}

/* Spaces are for the reader. */
static inline bytes hex(const char *text) {
  bytes out = {0};
  while (*text) {
    if (*text == ' ') {
      text++;
      continue;
    }
    if (out.n == sizeof out.p) exit(2);
    out.p[out.n++] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
    text += 2;
  }
  return out;
}

#define CHECK_HEX(got, size, text)                                                                 \
  do {                                                                                             \
    const bytes expected_ = hex(text);                                                             \
    unit_check_bytes(got, size, expected_.p, expected_.n, __FILE__, __LINE__, #got);               \
  } while (0)

/* n bytes that end where nothing may be read. */
static inline uint8_t *guarded(size_t n) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (n + page - 1) / page * page + page;
  uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + size - page, page, PROT_NONE) != 0) abort();
  return p + size - page - n;
}

/* Bytes that look like nothing in particular, the same in each run. */
static inline void fill(uint8_t *p, size_t n, uint64_t seed) {
  for (size_t i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    p[i] = (uint8_t)(seed >> 56);
  }
}

/* A function of libcrypto, or NULL with a note where there is no libcrypto. */
static inline void *peer(const char *name) {
  static void *library;
  static int tried;
  if (!tried) {
    tried = 1;
    library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libcrypto.so.1.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) printf("skip libcrypto: %s\n", dlerror());
  }
  return library ? dlsym(library, name) : NULL;
}

/* C has no cast from an object's pointer to a function's. */
#define PEER(pointer, name)                                                                        \
  do {                                                                                             \
    void *found_ = peer(name);                                                                     \
    memcpy(&(pointer), &found_, sizeof found_);                                                    \
  } while (0)

#endif
