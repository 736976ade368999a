/*
** ext/hash.c: the rows of a remote table in memory, found by the values of some columns.
**
** They are what one statement answered: the lookup's, without the conditions on these columns. A probe gives each row that may
** be equal as SQLite compares, whatever affinity the other side has, and few others, since SQLite checks again:
**
**   numbers            equal as numbers; text that looks like one, too, in a column of numeric affinity
**   text, blobs        equal byte for byte (BINARY: no other collation comes here)
**   text with numbers  where a column of text is compared with a number, any row may be: all are given
**   NULL               is equal to nothing: such rows are not even kept
**
** A row whose value fits none of these (decimals that SQLite sees as text, unsigned integers from 2^63 on) is loose: it is
** given to every probe. Where these are many there is no hash.
**
** Rows lie packed in blocks, each behind a head that chains those of one bucket. A row's number is where its head is, in
** units of UNIT bytes through all blocks, plus 1.
*/
#include "extInt.h"

#include <string.h>

#define UNIT 8
#define BLOCK_UNITS 32768 /* 256 KB; a longer row is not kept, and there is no hash */
#define BLOCK_BYTES ((size_t)BLOCK_UNITS * UNIT)
#define MOST_BLOCKS (UINT32_MAX / BLOCK_UNITS - 1)
#define MOST_LOOSE 1000
#define NO_ROW 0u

typedef struct Head {
  uint32_t next; /* the number of the next row of the bucket */
  uint32_t hash;
} Head;

struct Hash {
  Edb *edb;
  int references;
  sqlite3_int64 limit, taken; /* of join_take */
  const Definition *definition;
  size_t width; /* values in a row */
  int *keys;    /* columns of the definition */
  int *slots;   /* where they are in a row */
  int key_count;
  char **blocks;
  size_t block_count, block_slots;
  size_t used;        /* units of the last block */
  sqlite3_int64 rows; /* those that are loose not counted */
  uint32_t all;       /* their chain, until there are buckets */
  int loose_count;
  uint32_t loose; /* their chain */
  uint32_t *buckets;
  uint32_t mask; /* of a hash's bits that choose a bucket */
};

/* ---- Memory --------------------------------------------------------------------------------------------- */

static void *hash_resize(Hash *hash, void *memory, size_t old, size_t size) {
  if (!join_take(hash->edb, hash->limit, (sqlite3_int64)(size - old))) return NULL;
  void *grown = sqlite3_realloc64(memory, size);
  if (grown == NULL) {
    join_give(hash->edb, (sqlite3_int64)(size - old));
  } else {
    hash->taken += (sqlite3_int64)(size - old);
  }
  return grown;
}

Hash *hash_new(const Table *table, const Plan *plan, const unsigned char *is_key,
               sqlite3_int64 limit) {
  Hash *hash = sqlite3_malloc64(sizeof *hash);
  if (hash == NULL) return NULL;
  memset(hash, 0, sizeof *hash);
  hash->edb = table->edb;
  hash->references = 1;
  hash->limit = limit;
  hash->definition = &table->definition;
  hash->width = plan_width(plan);
  hash->keys = sqlite3_malloc64(2 * sizeof(int) * (size_t)(plan->count + 1));
  if (hash->keys == NULL) {
    hash_release(hash);
    return NULL;
  }
  hash->slots = hash->keys + plan->count + 1;
  for (int i = 0; i < plan->count; i++) {
    if (!is_key[i]) continue;
    hash->keys[hash->key_count] = plan->terms[i].column;
    hash->slots[hash->key_count++] = plan->slot[plan->terms[i].column];
  }
  return hash;
}

Hash *hash_hold(Hash *hash) {
  hash->references++;
  return hash;
}

void hash_release(Hash *hash) {
  if (hash == NULL || --hash->references > 0) return;
  join_give(hash->edb, hash->taken);
  for (size_t i = 0; i < hash->block_count; i++) sqlite3_free(hash->blocks[i]);
  sqlite3_free(hash->blocks);
  sqlite3_free(hash->buckets);
  sqlite3_free(hash->keys);
  sqlite3_free(hash);
}

static char *hash_at(const Hash *hash, uint32_t number) {
  uint32_t unit = number - 1;
  return hash->blocks[unit / BLOCK_UNITS] + (size_t)(unit % BLOCK_UNITS) * UNIT;
}

static Head head_of(const Hash *hash, uint32_t number) {
  Head head;
  memcpy(&head, hash_at(hash, number), sizeof head);
  return head;
}

/* Room for so many units in one block: its number, NO_ROW where there is none. */
static uint32_t hash_room(Hash *hash, size_t units) {
  if (hash->block_count == 0 || hash->used + units > BLOCK_UNITS) {
    if (units > BLOCK_UNITS || hash->block_count >= MOST_BLOCKS) return NO_ROW;
    if (hash->block_count == hash->block_slots) {
      size_t slots = hash->block_slots ? hash->block_slots * 2 : 16;
      char **grown =
          hash_resize(hash, hash->blocks, hash->block_slots * sizeof *grown, slots * sizeof *grown);
      if (grown == NULL) return NO_ROW;
      hash->blocks = grown;
      hash->block_slots = slots;
    }
    char *block = hash_resize(hash, NULL, 0, BLOCK_BYTES);
    if (block == NULL) return NO_ROW;
    hash->blocks[hash->block_count++] = block;
    hash->used = 0;
  }
  uint32_t number = (uint32_t)((hash->block_count - 1) * BLOCK_UNITS + hash->used) + 1;
  hash->used += units;
  return number;
}

/* ---- Keys ------------------------------------------------------------------------------------------------- */

/* Whether SQLite gives the column numeric affinity: then text that looks like a number is one in comparisons. */
static int has_numeric_affinity(const Definition *d, const edb_type *type) {
  if (type->declared == EDB_DECLARED_NUMERIC) return !d->decimal_text;
  return type->declared == EDB_DECLARED_INTEGER || type->declared == EDB_DECLARED_REAL ||
         type->declared >= EDB_DECLARED_DATE;
}

static size_t span_of(const char *p, size_t n, size_t i, const char *characters) {
  while (i < n && p[i] && strchr(characters, p[i])) i++;
  return i;
}

/* As SQLite tells it, or more generously. */
static int looks_numeric(const char *p, size_t n) {
  static const char blank[] = " \t\n\v\f\r";
  size_t i = span_of(p, n, 0, blank);
  if (i < n && (p[i] == '+' || p[i] == '-')) i++;
  size_t digits = span_of(p, n, i, "0123456789.");
  if (digits == i) return 0;
  i = digits;
  if (i < n && (p[i] == 'e' || p[i] == 'E')) {
    i++;
    if (i < n && (p[i] == '+' || p[i] == '-')) i++;
    i = span_of(p, n, i, "0123456789");
  }
  return span_of(p, n, i, blank) == n;
}

/* A real that is an integer as that integer: 1.0 and 1 are one key. */
static void key_number(edb_value *key) {
  if (key->kind != EDB_F64) return;
  double f = key->as.f64;
  if (!(f >= -9223372036854775808.0 && f < 9223372036854775808.0)) return;
  if ((double)(int64_t)f != f) return;
  key->kind = EDB_I64;
  key->as.i64 = (int64_t)f;
}

typedef enum KeyKind { KEY_NONE = 0, KEY_IS, KEY_LOOSE } KeyKind;

/* The key of a row's value. */
static KeyKind key_of_row(const Definition *d, const edb_type *type, const edb_value *value,
                          char text[EDB_TIME_TEXT], edb_value *key) {
  if (value_native(value, type, d, text, key) != SQLITE_OK) *key = *value;
  switch (key->kind) {
  case EDB_NULL:
    return KEY_NONE;
  case EDB_I64:
  case EDB_F64:
    key_number(key);
    return has_numeric_affinity(d, type) ? KEY_IS : KEY_LOOSE;
  case EDB_TEXT:
    if (has_numeric_affinity(d, type) && looks_numeric(key->as.text.p, key->as.text.n))
      return KEY_LOOSE;
    return KEY_IS;
  default:
    return KEY_IS;
  }
}

/* Text in the form of a number as the number that SQLite makes of it. sqlite3_value_numeric_type would change the value, which is
** not ours, and crashes over a copy of it (SQLite 3.53). */
static KeyKind key_of_numeric_text(sqlite3_value *value, edb_value *key) {
  const char *p = key->as.text.p;
  size_t n = key->as.text.n;
  size_t whole = 0;
  size_t digits = 0;
  size_t points = 0;
  for (size_t i = 0; i < n && p[i] != 'e' && p[i] != 'E'; i++) {
    digits += p[i] >= '0' && p[i] <= '9';
    points += p[i] == '.';
    whole = i + 1;
  }
  /* looks_numeric() is generous. */
  if (digits == 0 || points > 1 || (whole < n && (p[n - 1] < '0' || p[n - 1] > '9')))
    return KEY_LOOSE;
  double f = sqlite3_value_double(value);
  if (points == 0 && whole == n && digits > 18 && !(f > -9.2e18 && f < 9.2e18)) return KEY_LOOSE;
  if (points == 0 && whole == n) {
    key->kind = EDB_I64;
    key->as.i64 = sqlite3_value_int64(value);
  } else {
    key->kind = EDB_F64;
    key->as.f64 = f;
  }
  key_number(key);
  return KEY_IS;
}

/* The key that a value of SQLite's is looked for by; KEY_LOOSE: any row may be equal. */
static KeyKind key_of_value(const Definition *d, const edb_type *type, sqlite3_value *value,
                            edb_value *key) {
  int kind = sqlite3_value_type(value);
  if (kind == SQLITE_NULL) return KEY_NONE;
  *key = value_parameter(value);
  if (!has_numeric_affinity(d, type)) {
    return kind == SQLITE_TEXT || kind == SQLITE_BLOB ? KEY_IS : KEY_LOOSE;
  }
  if (kind == SQLITE_TEXT && looks_numeric(key->as.text.p, key->as.text.n)) {
    return key_of_numeric_text(value, key);
  }
  key_number(key);
  return KEY_IS;
}

static uint32_t key_hash(uint32_t hash, const edb_value *key) {
  switch (key->kind) {
  case EDB_I64:
    return pack_hash(hash + 1, &key->as.i64, sizeof key->as.i64);
  case EDB_F64:
    return pack_hash(hash + 2, &key->as.f64, sizeof key->as.f64);
  default:
    return pack_hash(hash + (uint32_t)key->kind, key->as.text.p, key->as.text.n);
  }
}

/* ---- Building ----------------------------------------------------------------------------------------------- */

int hash_add(Hash *hash, const edb_value *row) {
  char text[EDB_TIME_TEXT];
  Head head = {NO_ROW, 0};
  int loose = 0;
  for (int i = 0; i < hash->key_count; i++) {
    const edb_type *type = hash->definition->columns[hash->keys[i]].type;
    edb_value key;
    KeyKind kind = key_of_row(hash->definition, type, &row[hash->slots[i]], text, &key);
    if (kind == KEY_NONE) return 1;
    if (kind == KEY_LOOSE) {
      loose = 1;
    } else {
      head.hash = key_hash(head.hash, &key);
    }
  }
  size_t bytes = sizeof head + pack_bytes(row, hash->width);
  uint32_t number = bytes > BLOCK_BYTES ? NO_ROW : hash_room(hash, (bytes + UNIT - 1) / UNIT);
  if (number == NO_ROW) return 0;
  char *at = hash_at(hash, number);
  if (loose) {
    if (++hash->loose_count > MOST_LOOSE) return 0;
    head.next = hash->loose;
    hash->loose = number;
  } else {
    hash->rows++;
    head.next = hash->all;
    hash->all = number;
  }
  memcpy(at, &head, sizeof head);
  pack_row(at + sizeof head, row, hash->width);
  return 1;
}

int hash_finish(Hash *hash) {
  size_t count = 1;
  while ((sqlite3_int64)count < hash->rows) count *= 2;
  hash->buckets = hash_resize(hash, NULL, 0, count * sizeof *hash->buckets);
  if (hash->buckets == NULL) return 0;
  memset(hash->buckets, 0, count * sizeof *hash->buckets);
  hash->mask = (uint32_t)(count - 1);
  for (uint32_t number = hash->all, next; number != NO_ROW; number = next) {
    Head head = head_of(hash, number);
    uint32_t *bucket = &hash->buckets[head.hash & hash->mask];
    next = head.next;
    head.next = *bucket;
    *bucket = number;
    memcpy(hash_at(hash, number), &head, sizeof head);
  }
  return 1;
}

/* ---- Probing ------------------------------------------------------------------------------------------------ */

void walk_end(Walk *walk) {
  hash_release(walk->hash);
  walk->hash = NULL;
}

int walk_begin(Walk *walk, Hash *hash, const Plan *plan, const unsigned char *is_key,
               sqlite3_value **values) {
  walk_end(walk);
  walk->next = NO_ROW;
  walk->bucket = UINT32_MAX;
  walk->all = walk->loose = 0;
  walk->code = 0;
  walk->keys.host = &hash->edb->host;
  if (edb_row_reset(&walk->keys, (size_t)hash->key_count) != EDB_OK) return SQLITE_NOMEM;
  for (int i = 0, k = 0; i < plan->count; i++) {
    const Term *term = &plan->terms[i];
    edb_value key;
    if (!is_key[i]) continue;
    KeyKind kind = key_of_value(hash->definition, hash->definition->columns[term->column].type,
                                values[term->argument], &key);
    int failed = kind == KEY_IS && edb_row_set(&walk->keys, (size_t)k++, &key) != EDB_OK;
    if (kind == KEY_IS) walk->code = key_hash(walk->code, &key);
    if (kind == KEY_LOOSE) walk->all = 1;
    if (failed) return SQLITE_NOMEM;
    if (kind == KEY_NONE) return SQLITE_OK; /* no row */
  }
  walk->hash = hash_hold(hash);
  if (walk->all) {
    walk->bucket = 0;
    walk->next = hash->buckets[0];
  } else {
    walk->next = hash->buckets[walk->code & hash->mask];
  }
  return SQLITE_OK;
}

/* Whether the row has the keys that are looked for, not only their hash: SQLite stops at the first row that it is given of a
** unique key. */
static int walk_matches(const Walk *walk, const edb_value *row) {
  const Hash *hash = walk->hash;
  char text[EDB_TIME_TEXT];
  for (int i = 0; i < hash->key_count; i++) {
    const edb_type *type = hash->definition->columns[hash->keys[i]].type;
    edb_value key;
    if (key_of_row(hash->definition, type, &row[hash->slots[i]], text, &key) != KEY_IS) return 0;
    if (value_compare(&key, &walk->keys.values[i]) != 0) return 0;
  }
  return 1;
}

/* The next row of the chain; at its end the next bucket's, where all are given, then the loose ones. */
static uint32_t walk_number(Walk *walk) {
  const Hash *hash = walk->hash;
  while (walk->next == NO_ROW && walk->all && !walk->loose && walk->bucket < hash->mask) {
    walk->next = hash->buckets[++walk->bucket];
  }
  if (walk->next == NO_ROW && !walk->loose) {
    walk->loose = 1;
    walk->next = hash->loose;
  }
  return walk->next;
}

int walk_next(Walk *walk, edb_value *row) {
  uint32_t number;
  while (walk->hash && (number = walk_number(walk)) != NO_ROW) {
    Head head = head_of(walk->hash, number);
    int given = walk->all || walk->loose;
    walk->next = head.next;
    if (!given && head.hash != walk->code) continue;
    unpack_row(hash_at(walk->hash, number) + sizeof head, row, walk->hash->width);
    if (given || walk_matches(walk, row)) return 1;
  }
  return 0;
}
