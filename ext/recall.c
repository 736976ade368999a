/*
** ext/recall.c: what a run of a statement remembers of a remote table, so that a join does not ask for each of its rows.
**
**   SELECT … FROM local JOIN remote ON remote.id = local.k
**
** xFilter is called for each row of the outer table. From the second call on, complete answers are kept (cache.c): the same
** values are answered without the server. And when the lookups have taken half as long as reading the whole table would,
** with the conditions whose values have stayed the same, and the columns that the statement needs, that is done, once, into a
** hash (hash.c) which answers what follows: a join of many rows takes 1.5 times the better way, and one that ends just then 3 times. It must
** fit in the budget by the catalog's estimate; where it does not in fact, the rows are dropped and the lookups go on.
**
** Nothing outlives the run: a cursor has one Recall, and SQLite closes the cursors when a statement ends. A correlated
** sub-query's cursor is opened anew each time, but before the last one is closed; it takes over the Recall of a living cursor of
** the table if only one statement runs, whose cursor that must be. And nothing outlives a write: what goes to the server and may
** change it counts in server->written.
*/
#include "extInt.h"

#include <string.h>

#define KEY_BYTES 4096 /* of the values of a lookup; longer ones are asked for each time */
#define MOST_BUILDS 3  /* of one lookup's hash, as values change that had stayed the same */
#define FEW_LOOKUPS 8

/* What is known of one plan's lookups in this run. */
typedef struct Watch {
  struct Watch *next;
  Plan *plan;
  sqlite3_int64 lookups; /* since the last write or hash */
  double seconds;        /* that the server has taken for them */
  char *first;           /* the key of the first */
  int *ends;             /* where each argument's part of it ends */
  unsigned char *varies; /* by term: whether its values differ */
  unsigned char *is_key; /* by term: the hash is by it */
  Plan *build;           /* what a hash is read by; NULL: not planned with these keys yet */
  Hash *hash;
  int builds;
  int refused; /* 1: no hash any more */
} Watch;

struct Recall {
  Table *table;
  int references;
  sqlite3_int64 written; /* of the server, when this was true */
  Watch *watches;
  Cache cache;
  char *key; /* of the lookup that is made */
  size_t key_used;
};

/* ---- Opening and closing --------------------------------------------------------------------------------- */

static int statements_running(sqlite3 *db) {
  int running = 0;
  for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s; s = sqlite3_next_stmt(db, s)) {
    running += sqlite3_stmt_busy(s) != 0;
  }
  return running;
}

Recall *recall_open(Table *table) {
  Recall *recall = table->recall;
  if (recall && statements_running(table->edb->db) == 1) {
    recall->references++;
    return recall;
  }
  recall = sqlite3_malloc64(sizeof *recall);
  if (recall == NULL) return NULL;
  memset(recall, 0, sizeof *recall);
  recall->table = table;
  recall->references = 1;
  table->recall = recall;
  return recall;
}

static void watch_free(Watch *watch) {
  hash_release(watch->hash);
  sqlite3_free(watch->first);
  sqlite3_free(watch->ends);
  sqlite3_free(watch->varies);
  sqlite3_free(watch);
}

static void recall_forget(Recall *recall) {
  for (Watch *watch = recall->watches, *next; watch; watch = next) {
    next = watch->next;
    watch_free(watch);
  }
  recall->watches = NULL;
  cache_clear(&recall->cache, recall->table->edb);
}

void recall_close(Recall *recall) {
  if (recall == NULL || --recall->references > 0) return;
  if (recall->table->recall == recall) recall->table->recall = NULL;
  recall_forget(recall);
  sqlite3_free(recall->key);
  sqlite3_free(recall);
}

/* ---- The values of a lookup --------------------------------------------------------------------------- */

static int key_add(Recall *recall, const edb_value *value) {
  size_t bytes = pack_bytes(value, 1);
  if (recall->key_used + bytes > KEY_BYTES) return 0;
  pack_row(recall->key + recall->key_used, value, 1);
  recall->key_used += bytes;
  return 1;
}

static int key_add_list(Recall *recall, sqlite3_value *list) {
  sqlite3_value *v;
  int rc = sqlite3_vtab_in_first(list, &v);
  for (; rc == SQLITE_OK && v; rc = sqlite3_vtab_in_next(list, &v)) {
    edb_value value = value_parameter(v);
    if (!key_add(recall, &value)) return 0;
  }
  return rc == SQLITE_OK || rc == SQLITE_DONE;
}

/* Packs the values into recall->key; 0 where they are too long. */
static int key_make(Recall *recall, const Plan *plan, int argc, sqlite3_value **argv, int *ends) {
  if (recall->key == NULL) recall->key = sqlite3_malloc64(KEY_BYTES);
  if (recall->key == NULL) return 0;
  edb_value number = {.kind = EDB_I64};
  number.as.i64 = plan->number;
  recall->key_used = 0;
  if (!key_add(recall, &number)) return 0;
  for (int i = 0; i < argc; i++) {
    int in = 0;
    for (int t = 0; t < plan->count; t++) in |= plan->terms[t].argument == i && plan->terms[t].in;
    edb_value value = in ? number : value_parameter(argv[i]);
    if (in ? !key_add_list(recall, argv[i]) : !key_add(recall, &value)) return 0;
    ends[i] = (int)recall->key_used;
  }
  return 1;
}

/* ---- One plan's lookups -------------------------------------------------------------------------------- */

static Watch *watch_of(Recall *recall, Plan *plan, int argc) {
  for (Watch *watch = recall->watches; watch; watch = watch->next) {
    if (watch->plan == plan) return watch;
  }
  Watch *watch = sqlite3_malloc64(sizeof *watch);
  if (watch == NULL) return NULL;
  memset(watch, 0, sizeof *watch);
  watch->plan = plan;
  watch->ends = sqlite3_malloc64(2 * sizeof(int) * (size_t)(argc + 1));
  watch->varies = sqlite3_malloc64(2 * (size_t)(plan->count + 1));
  if (watch->ends == NULL || watch->varies == NULL) {
    watch_free(watch);
    return NULL;
  }
  memset(watch->varies, 0, 2 * (size_t)(plan->count + 1));
  watch->is_key = watch->varies + plan->count + 1;
  watch->refused = !plan_is_plain(plan);
  watch->next = recall->watches;
  recall->watches = watch;
  return watch;
}

static void watch_drop_hash(Watch *watch) {
  hash_release(watch->hash);
  watch->hash = NULL;
  watch->lookups = 1;
  watch->seconds = 0;
}

/* Whether a hash can be by this condition: by bytes, which SQLite compares in its own encoding. */
static int can_be_key(const Watch *watch, const Definition *d, int t) {
  const Term *term = &watch->plan->terms[t];
  if (!d->utf8) return 0;
  return term->op == SQLITE_INDEX_CONSTRAINT_EQ && !term->in && term->column >= 0 &&
         watch->plan->slot[term->column] >= 0;
}

/* Notes which values differ from the first lookup's. */
static void watch_compare(Watch *watch, const Recall *recall, const int *ends) {
  const Plan *plan = watch->plan;
  for (int t = 0; t < plan->count; t++) {
    int i = plan->terms[t].argument;
    if (i < 0 || watch->varies[t]) continue;
    int from = i ? ends[i - 1] : 0;
    int first = i ? watch->ends[i - 1] : 0;
    int n = ends[i] - from;
    if (n == watch->ends[i] - first &&
        memcmp(recall->key + from, watch->first + first, (size_t)n) == 0) {
      continue;
    }
    watch->varies[t] = 1;
    watch->build = NULL;
    if (!can_be_key(watch, &recall->table->definition, t)) watch->refused = 1;
    if (watch->hash && !watch->is_key[t]) watch_drop_hash(watch);
  }
}

/* The first lookup, or another one compared with it; 0 when out of memory. */
static int watch_note(Watch *watch, const Recall *recall, const int *ends, int argc) {
  if (watch->first) {
    watch_compare(watch, recall, ends);
  } else {
    watch->first = sqlite3_malloc64(recall->key_used + 1);
    if (watch->first == NULL) return 0;
    memcpy(watch->first, recall->key, recall->key_used);
    if (argc > 0) memcpy(watch->ends, ends, sizeof *ends * (size_t)argc);
  }
  watch->lookups++;
  return 1;
}

/* ---- The hash ---------------------------------------------------------------------------------------------- */

/* On a local server; a slow network also has slow lookups. */
#define SECONDS_ROW 0.25e-6
#define SECONDS_BYTE 4e-9
#define SECONDS_SERVER_ROW 0.05e-6 /* for the server to pass over one that it does not send */
#define PATIENCE 0.5               /* of the time to read, spent on lookups */

/* Which conditions the hash would be by; 0 where there is none. */
static int choose_keys(Watch *watch, const Recall *recall) {
  int keys = 0;
  for (int t = 0; t < watch->plan->count; t++) {
    watch->is_key[t] = can_be_key(watch, &recall->table->definition, t) &&
                       (watch->varies[t] || watch->lookups == 1);
    keys += watch->is_key[t];
  }
  return keys;
}

/* Whether reading all rows is worth it now. */
static int is_worth(const Watch *watch, const Table *table) {
  const Plan *build = watch->build;
  const Definition *d = &table->definition;
  double bytes = 16 + plan_bytes(d, build); /* packed, and what a row takes beside */
  double seconds =
      build->rows * (SECONDS_ROW + bytes * SECONDS_BYTE) + table_rows(d) * SECONDS_SERVER_ROW;
  if (build->rows * bytes > (double)table_join_memory(table)) return 0;
  if (d->join_lookups >= 0) return watch->lookups > d->join_lookups;
  return watch->lookups >= FEW_LOOKUPS && watch->seconds >= seconds * PATIENCE;
}

/* Reads the rows; watch->hash stays NULL where they are too many. */
static int watch_read(Watch *watch, Table *table, sqlite3_value **argv, char **message) {
  Stream stream = {0};
  int room = 1;
  Hash *hash = hash_new(table, watch->plan, watch->is_key, table_join_memory(table));
  if (hash == NULL) return SQLITE_OK;
  Sql sql;
  Plan *build = watch->build;
  Shipped shipped = ask_write(table, &sql, &build, argv, 0);
  int rc = shipped == SHIP_FAIL ? SQLITE_NOMEM : SQLITE_OK;
  if (shipped == SHIP_SENT) {
    rc = ask_send(table, build, &sql, &stream, message);
    if (rc == SQLITE_OK) rc = SQLITE_ROW;
    while (room && rc == SQLITE_ROW) {
      rc = stream_next(&stream, message);
      if (rc == SQLITE_ROW) room = hash_add(hash, stream.row);
    }
    if (!room || rc == SQLITE_DONE) rc = SQLITE_OK;
  }
  sql_clear(&sql);
  stream_end(&stream);
  if (rc == SQLITE_OK && room && hash_finish(hash)) {
    watch->hash = hash;
  } else {
    hash_release(hash);
  }
  return rc;
}

static int watch_build(Watch *watch, Recall *recall, sqlite3_value **argv, char **message) {
  Table *table = recall->table;
  int rc = SQLITE_OK;
  if (watch->refused) return SQLITE_OK;
  if (watch->build == NULL || watch->lookups <= 2) {
    if (!choose_keys(watch, recall)) return SQLITE_OK;
    rc = plan_without(table, watch->plan, watch->is_key, &watch->build);
  }
  if (rc != SQLITE_OK || !is_worth(watch, table)) return rc;
  cache_clear(&recall->cache, table->edb);
  rc = watch_read(watch, table, argv, message);
  watch->refused = watch->hash == NULL || ++watch->builds >= MOST_BUILDS;
  return rc;
}

/* ---- A lookup --------------------------------------------------------------------------------------------- */

int recall_look(Recall *recall, Plan *plan, int argc, sqlite3_value **argv, Look *look,
                char **message) {
  enum { MOST = 32 };
  int ends[MOST];
  Table *table = recall->table;
  look->found = 0;
  look->watch = NULL;
  sqlite3_int64 written = table_written(table);
  if (written != recall->written) recall_forget(recall);
  recall->written = written;
  if (plan->count == 0 || argc > MOST || table_join_memory(table) == 0) return SQLITE_OK;
  Watch *watch = watch_of(recall, plan, argc);
  if (watch == NULL || !key_make(recall, plan, argc, argv, ends)) return SQLITE_OK;
  if (!watch_note(watch, recall, ends, argc)) return SQLITE_OK;
  int rc = watch->hash ? SQLITE_OK : watch_build(watch, recall, argv, message);
  if (rc != SQLITE_OK) return rc;
  look->found = 1;
  if (watch->hash) return walk_begin(&look->walk, watch->hash, plan, watch->is_key, argv);
  Answer *answer = cache_find(&recall->cache, recall->key, recall->key_used);
  if (answer) {
    reading_begin(&look->reading, answer);
    return SQLITE_OK;
  }
  look->found = 0;
  look->watch = watch;
  return SQLITE_OK;
}

int recall_wants(const Look *look) {
  return look->watch && look->watch->lookups >= 2 && look->watch->plan->rows <= ANSWER_ROWS;
}

Answer *recall_answer(const Recall *recall, const Look *look, const Plan *plan) {
  if (look->watch == NULL || look->watch->lookups < 2 || look->watch->plan != plan) return NULL;
  return answer_new(recall->key, recall->key_used);
}

void recall_learn(Recall *recall, const Look *look, double seconds, Answer *complete) {
  if (look->watch == NULL) return;
  look->watch->seconds += seconds;
  if (complete && recall->written == table_written(recall->table)) {
    cache_put(&recall->cache, recall->table->edb, table_join_memory(recall->table), complete);
  }
}

void look_end(Look *look) {
  walk_end(&look->walk);
  reading_begin(&look->reading, NULL);
  look->found = 0;
  look->watch = NULL;
}
