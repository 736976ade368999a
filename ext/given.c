/*
** ext/given.c: the rows that a first statement has given, for the second one that gives the others.
**
** A statement for the first rows alone (plan.c's shortcut) is cheap, and mostly enough. Where SQLite wants more, the
** whole statement follows, and the rows that it has had are passed over: whichever order they come in now, since rows
** that sort alike need not come as before. All of them must come again. If one does not, the server's rows have changed
** in between, and the two parts would belong to different states: then there is an error rather than a wrong answer.
** So what is given is always what the second statement alone would give.
**
** A row is remembered as 128 bits of hash of all that travelled of it, its key among it.
*/
#include "extInt.h"

#include <string.h>

/* ---- Hashing ------------------------------------------------------------------------------------ */

static void mix(Digest *digest, uint64_t word) {
  digest->a = (digest->a ^ word) * 0x9E3779B97F4A7C15u;
  digest->a ^= digest->a >> 29;
  digest->b = (digest->b + word) * 0xC2B2AE3D27D4EB4Fu;
  digest->b ^= digest->b >> 32;
}

static void mix_bytes(Digest *digest, const char *p, size_t n) {
  mix(digest, n);
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    memcpy(&word, p + i, n - i < 8 ? n - i : 8);
    mix(digest, word);
  }
}

static void mix_value(Digest *digest, const edb_value *value) {
  mix(digest, (uint64_t)value->kind);
  switch (value->kind) {
  case EDB_NULL:
    break;
  case EDB_BOOL:
    mix(digest, value->as.boolean != 0);
    break;
  case EDB_I64:
  case EDB_U64:
  case EDB_F64:
    mix(digest, value->as.u64); /* the same bits */
    break;
  case EDB_TEXT:
  case EDB_BYTES:
    mix_bytes(digest, value->as.text.p, value->as.text.n);
    break;
  case EDB_TIME:
    mix(digest, (uint64_t)value->as.time.nanos);
    mix(digest, (uint64_t)value->as.time.days);
    break;
  }
}

static Digest digest_of(const edb_value *row, int n) {
  Digest digest = {0x243F6A8885A308D3u, 0x13198A2E03707344u};
  for (int i = 0; i < n; i++) mix_value(&digest, &row[i]);
  return digest;
}

/* ---- The rows ----------------------------------------------------------------------------------- */

int given_add(Given *given, const edb_value *row, int n) {
  if (given->count == given->size) {
    int size = given->size ? given->size * 2 : 16;
    Digest *grown = sqlite3_realloc64(given->digests, sizeof *grown * (sqlite3_uint64)size);
    if (grown == NULL) return SQLITE_NOMEM;
    given->digests = grown;
    given->size = size;
  }
  given->digests[given->count++] = digest_of(row, n);
  return SQLITE_OK;
}

/* The places by hash, two for each digest or more: the digest's number from 1, 0 where there is none. */
int given_index(Given *given) {
  int places = 2;
  while (places < given->count * 2) places *= 2;
  given->places = sqlite3_malloc64(sizeof(int) * (sqlite3_uint64)places);
  if (given->places == NULL) return SQLITE_NOMEM;
  memset(given->places, 0, sizeof(int) * (size_t)places);
  given->mask = (unsigned)places - 1;
  given->missing = given->count;
  for (int i = 0; i < given->count; i++) {
    unsigned at = (unsigned)given->digests[i].a & given->mask;
    while (given->places[at]) at = (at + 1) & given->mask;
    given->places[at] = i + 1;
  }
  return SQLITE_OK;
}

/* A digest that was met is not removed, which would break the chain behind it, but marked. */
int given_again(Given *given, const edb_value *row, int n) {
  if (given->missing == 0) return 0;
  Digest digest = digest_of(row, n);
  unsigned at = (unsigned)digest.a & given->mask;
  for (; given->places[at]; at = (at + 1) & given->mask) {
    if (given->places[at] < 0) continue;
    const Digest *other = &given->digests[given->places[at] - 1];
    if (other->a != digest.a || other->b != digest.b) continue;
    given->places[at] = -1;
    given->missing--;
    return 1;
  }
  return 0;
}

void given_clear(Given *given) {
  sqlite3_free(given->digests);
  sqlite3_free(given->places);
  memset(given, 0, sizeof *given);
}
