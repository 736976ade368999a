/*
** ext/cache.c: the answers to lookups, by the values that were asked for.
**
** An answer is its key and its rows, packed one behind the other. It is held by the cache and by each cursor that reads it. A
** cache that is full forgets all: what is still asked for comes back with one lookup each.
*/
#include "extInt.h"

#include <string.h>

#define BUCKETS 8192

struct Answer {
  Answer *next; /* of the bucket */
  int references;
  uint32_t hash;
  size_t key, used, size; /* bytes: of the key, of key and rows, of what is allocated for them */
  int rows;
};

static char *answer_bytes(Answer *answer) { return (char *)(answer + 1); }

Answer *answer_new(const char *key, size_t n) {
  size_t size = n + 256;
  Answer *answer = sqlite3_malloc64(sizeof *answer + size);
  if (answer == NULL) return NULL;
  memset(answer, 0, sizeof *answer);
  answer->references = 1;
  answer->hash = pack_hash(0, key, n);
  answer->key = answer->used = n;
  answer->size = size;
  if (n > 0) memcpy(answer_bytes(answer), key, n);
  return answer;
}

int answer_add(Answer **in, const edb_value *row, size_t n) {
  Answer *answer = *in;
  size_t bytes = pack_bytes(row, n);
  if (answer->used + bytes > answer->size) {
    size_t size = 2 * (answer->used + bytes);
    Answer *grown = sqlite3_realloc64(answer, sizeof *answer + size);
    if (grown == NULL) return 0;
    grown->size = size;
    *in = answer = grown;
  }
  pack_row(answer_bytes(answer) + answer->used, row, n);
  answer->used += bytes;
  answer->rows++;
  return 1;
}

int answer_is_large(const Answer *answer) {
  return answer->rows >= ANSWER_ROWS || answer->used - answer->key >= ANSWER_BYTES;
}

void answer_release(Answer *answer) {
  if (answer && --answer->references == 0) sqlite3_free(answer);
}

void reading_begin(Reading *reading, Answer *answer) {
  answer_release(reading->answer);
  reading->answer = answer;
  reading->left = answer ? answer->rows : 0;
  reading->at = answer ? answer->key : 0;
}

int reading_next(Reading *reading, edb_value *row, size_t n) {
  if (reading->left == 0) return 0;
  const char *bytes = answer_bytes(reading->answer);
  reading->at = (size_t)(unpack_row(bytes + reading->at, row, n) - bytes);
  reading->left--;
  return 1;
}

/* ---- The cache -------------------------------------------------------------------------------------------- */

static sqlite3_int64 cost_of(const Answer *answer) {
  return (sqlite3_int64)(sizeof *answer + answer->size);
}

void cache_clear(Cache *cache, Edb *edb) {
  for (int i = 0; cache->buckets && i < BUCKETS; i++) {
    for (Answer *answer = cache->buckets[i], *next; answer; answer = next) {
      next = answer->next;
      answer_release(answer);
    }
  }
  sqlite3_free(cache->buckets);
  cache->buckets = NULL;
  join_give(edb, cache->taken);
  cache->taken = 0;
}

Answer *cache_find(const Cache *cache, const char *key, size_t n) {
  if (cache->buckets == NULL) return NULL;
  uint32_t hash = pack_hash(0, key, n);
  for (Answer *answer = cache->buckets[hash % BUCKETS]; answer; answer = answer->next) {
    if (answer->hash == hash && answer->key == n && memcmp(answer_bytes(answer), key, n) == 0) {
      answer->references++;
      return answer;
    }
  }
  return NULL;
}

void cache_put(Cache *cache, Edb *edb, sqlite3_int64 limit, Answer *answer) {
  sqlite3_int64 table = (sqlite3_int64)(BUCKETS * sizeof *cache->buckets);
  sqlite3_int64 most = limit / 4; /* the rest is for a hash */
  sqlite3_int64 bytes = cost_of(answer);
  if (cache->buckets && cache->taken + bytes > most) cache_clear(cache, edb);
  if (cache->buckets == NULL) {
    if (table + bytes > most || !join_take(edb, limit, table)) return;
    cache->buckets = sqlite3_malloc64((sqlite3_uint64)table);
    if (cache->buckets == NULL) {
      join_give(edb, table);
      return;
    }
    memset(cache->buckets, 0, (size_t)table);
    cache->taken = table;
  }
  if (!join_take(edb, limit, bytes)) return;
  cache->taken += bytes;
  answer->references++;
  answer->next = cache->buckets[answer->hash % BUCKETS];
  cache->buckets[answer->hash % BUCKETS] = answer;
}
