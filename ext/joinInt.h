/*
** ext/joinInt.h: the blocks of extInt.h about joins: what is remembered of remote tables while a statement runs.
*/
#ifndef EDB_JOIN_INT_H
#define EDB_JOIN_INT_H

/* ---- pack.c: rows in memory ----------------------------------------------------------------------- */

/* Counts bytes of what joins may take, `limit` of them at most: 0 where there are not so many left. */
int join_take(Edb *edb, sqlite3_int64 limit, sqlite3_int64 bytes);
void join_give(Edb *edb, sqlite3_int64 bytes);

/* n values packed one behind the other: how many bytes they need; where the next ones go, or are. What is unpacked points
** into the bytes. */
size_t pack_bytes(const edb_value *row, size_t n);
char *pack_row(char *to, const edb_value *row, size_t n);
const char *unpack_row(const char *from, edb_value *row, size_t n);
uint32_t pack_hash(uint32_t seed, const void *bytes, size_t n);

/* ---- cache.c: answers that are kept ----------------------------------------------------------------- */

typedef struct Answer Answer;

#define ANSWER_ROWS 64
#define ANSWER_BYTES 16384 /* a larger answer is not kept */

/* One without rows yet. NULL when out of memory. */
Answer *answer_new(const char *key, size_t n);
/* Adds a row of n values; *answer may move. 0 when out of memory. */
int answer_add(Answer **answer, const edb_value *row, size_t n);
int answer_is_large(const Answer *answer);
void answer_release(Answer *answer);

/* Zeroed: it reads nothing. */
typedef struct Reading {
  Answer *answer;
  int left; /* rows */
  size_t at;
} Reading;

/* The answer is the reading's now; NULL ends it. */
void reading_begin(Reading *reading, Answer *answer);
/* 1: the next row, of n values. */
int reading_next(Reading *reading, edb_value *row, size_t n);

/* Zeroed: it is empty. */
typedef struct Cache {
  Answer **buckets;
  sqlite3_int64 taken; /* of join_take */
} Cache;

/* The answer for the key, held; NULL where there is none. */
Answer *cache_find(const Cache *cache, const char *key, size_t n);
/* Keeps a complete answer, if there is room. */
void cache_put(Cache *cache, Edb *edb, sqlite3_int64 limit, Answer *answer);
void cache_clear(Cache *cache, Edb *edb);

/* ---- hash.c: the rows of a table by some of its columns ---------------------------------------------- */

typedef struct Hash Hash;

/* For the plan's rows, by the columns of the terms that are marked. NULL when out of memory. */
Hash *hash_new(const Table *table, const Plan *plan, const unsigned char *is_key,
               sqlite3_int64 limit);
Hash *hash_hold(Hash *hash);
void hash_release(Hash *hash);
/* 0: there is no room for it, or it is not a row for a hash. */
int hash_add(Hash *hash, const edb_value *row);
/* Behind the last row. 0: there is no room. */
int hash_finish(Hash *hash);

/* Zeroed: it gives no rows. */
typedef struct Walk {
  Hash *hash;    /* held */
  uint32_t next; /* row */
  uint32_t bucket;
  uint32_t code; /* the hash of the keys */
  int all;       /* 1: any row may be one */
  int loose;     /* 1: the loose ones have begun */
  edb_row keys;  /* which the owner clears in the end */
} Walk;

/* The rows that may be equal to the values of the marked terms. SQLITE_OK or SQLITE_NOMEM. */
int walk_begin(Walk *walk, Hash *hash, const Plan *plan, const unsigned char *is_key,
               sqlite3_value **values);
/* 1: the next row, valid as long as the walk. */
int walk_next(Walk *walk, edb_value *row);
void walk_end(Walk *walk);

/* ---- recall.c: what a run of a statement remembers --------------------------------------------------- */

/* Zeroed: nothing was found. */
typedef struct Look {
  int found; /* 1: the rows are the reading's or the walk's, and the server is not asked */
  Reading reading;
  Walk walk;
  struct Watch *watch; /* whom to tell of the server's answer; NULL: nobody */
} Look;

/* A cursor's, for which the table is. NULL when out of memory. */
Recall *recall_open(Table *table);
void recall_close(Recall *recall);

/* Looks up what the arguments of xFilter ask for; may read the whole table for it. SQLITE_OK, or an error and *message. */
int recall_look(Recall *recall, Plan *plan, int argc, sqlite3_value **argv, Look *look,
                char **message);
/* After a look that found nothing, for the server's answer: NULL where it is not to be kept. */
Answer *recall_answer(const Recall *recall, const Look *look, const Plan *plan);
/* Whether the whole plan is better asked than a shortcut to it, since its rows are few and would be kept. */
int recall_wants(const Look *look);
/* The server has answered, and it took so long. complete: with these rows; NULL: they were many. */
void recall_learn(Recall *recall, const Look *look, double seconds, Answer *complete);
void look_end(Look *look);

#endif
