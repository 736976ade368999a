/*
** drivers/memory.h: the store of the memory driver, to itself.
**
** A table is an entry, with its name and those of its columns as values, and a row is one. Nothing is taken
** out before the store is cleared: what is deleted is marked, so that a rollback only unmarks, and drops what
** was appended since.
*/
#ifndef EDB_MEMORY_H
#define EDB_MEMORY_H

#include "driverInt.h"

#define MEMORY_COLUMNS 16

typedef enum memory_mark {
  MEMORY_ALIVE,
  MEMORY_DYING, /* deleted by the open transaction */
  MEMORY_DEAD
} memory_mark;

typedef struct memory_entry {
  size_t table; /* the entry that is its table; a table's is itself */
  memory_mark mark;
  edb_row row;
} memory_entry;

typedef struct memory_store {
  const edb_host *host;
  edb_error *error; /* where what goes wrong is told */
  memory_entry *entries;
  size_t n, n_at_begin;
  int in_transaction;
} memory_store;

/* What a SELECT reads: the store must not change meanwhile. Zero it; memory_cursor_clear frees it. */
typedef struct memory_cursor {
  memory_store *store;
  size_t table, at; /* at: the entry to look at next */
  size_t n;         /* columns, 0 where the statement gives none */
  size_t picked[MEMORY_COLUMNS];
  size_t filter; /* the column that must equal the one value of wanted, or MEMORY_COLUMNS */
  edb_row wanted;
} memory_cursor;

/* Whether the statement is one of those that the store knows: EDB_OK, or EDB_INVALID_QUERY. */
int memory_check(memory_store *store, const char *sql);

/* Runs a statement; where it is a SELECT, the cursor reads what it found. */
int memory_run(memory_store *store, const char *sql, const edb_parameter *parameters, size_t n,
               memory_cursor *cursor, int64_t *affected);

/* The name of a column that was picked, NUL-terminated as long as the store stands. */
const char *memory_column_name(const memory_cursor *cursor, size_t i);

/* The next row as its table has it, or NULL at the end. */
const edb_row *memory_next(memory_cursor *cursor);
void memory_cursor_clear(memory_cursor *cursor);

void memory_begin(memory_store *store);
void memory_commit(memory_store *store);
void memory_rollback(memory_store *store);
void memory_clear(memory_store *store);

#endif
