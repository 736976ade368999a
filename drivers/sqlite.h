/*
** drivers/sqlite.h: what the files of the SQLite driver share. Nothing else includes it.
*/
#ifndef EDB_SQLITE_H
#define EDB_SQLITE_H

#include <stdatomic.h>

#include <sqlite3ext.h>

#include "driverInt.h"

SQLITE_EXTENSION_INIT3

typedef enum lite_stop { LITE_GO_ON = 0, LITE_STOPPED_BY_HOST, LITE_STOPPED_BY_TIME } lite_stop;

typedef struct lite_connection {
  const edb_host *host;
  sqlite3 *db;
  int busy_ms; /* longest wait for another's lock */
  int reading, in_transaction;
  char ended_by[160]; /* what SQLite gave the transaction up for; "": nothing yet */
  int ended_vendor;
  int statements;        /* open ones, a reader's own included */
  atomic_int cancelled;  /* SQLite's own flag is not seen while a lock is waited for */
  lite_stop stopped;     /* why the running call was stopped */
  int64_t waiting_since; /* 0: the running call was not asked yet */
  int64_t waited_for_lock;
  edb_error error;
} lite_connection;

typedef enum lite_state { LITE_AT_ROW, LITE_READ_ROW, LITE_ENDED } lite_state;

typedef struct lite_statement {
  lite_connection *c;
  sqlite3_stmt *stmt;
  lite_state state; /* of its reader */
  int goes_with_reader;
  int reprepared; /* SQLite's count when the columns were read; -1: never */
  int n;
  edb_column *columns;
  edb_value *values; /* behind the columns */
} lite_statement;

/* ---- Connections (sqlite.c) ------------------------------------------------------------------ */

/* What SQLite has just answered, told in its words where it was not we who stopped it. Answers the
** portable code. */
int lite_fail(lite_connection *c, int rc);
int lite_nomem(lite_connection *c);

/* Whether a command may start. After some errors SQLite ends a transaction by itself: what was meant to be
** part of it must not run without it. */
int lite_ready(lite_connection *c);

/* Each call of SQLite that may wait starts so. */
void lite_start_waiting(lite_connection *c);

/* ---- Statements and readers (sqlite_statement.c): methods of driver.h ------------------------ */

int lite_prepare(void *context, const char *sql, double expected, void **statement);
int lite_execute(void *context, const char *sql, const edb_parameter *parameters, size_t n,
                 int64_t *affected);
int lite_query(void *context, const char *sql, const edb_parameter *parameters, size_t n,
               void **rows);
int lite_statement_close(void *context);
int lite_statement_execute(void *context, const edb_parameter *parameters, size_t n,
                           int64_t *affected);
int lite_statement_query(void *context, const edb_parameter *parameters, size_t n, void **rows);
int lite_rows_columns(void *context, const edb_column **columns, size_t *n);
int lite_rows_next_borrowed(void *context, const edb_value **values);
int lite_rows_close(void *context);

#endif
