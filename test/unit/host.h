/*
** host.h: a host for unit tests of drivers: an allocator that counts what is out and fails on demand, and
** what the SQLite driver gets from ext/ in a real one.
**
** The SQLite driver calls SQLite through sqlite3_api, the table of routines that a host hands to an
** extension. A test has no host, but SQLite hands the same table to an automatic extension, as its third
** argument, whenever a connection is opened.
*/
#ifndef EDB_UNIT_HOST_H
#define EDB_UNIT_HOST_H

#include <sqlite3.h>
#include <stdlib.h>

#include "drivers/driver.h"
#include "unit.h"

const sqlite3_api_routines *sqlite3_api;

static int unit_blocks;       /* allocated and not freed */
static int unit_fail_in = -1; /* allocations until one fails, which it then does once; -1: never */
static int unit_interrupt;    /* what the host answers when asked whether to stop */
static int unit_asked;

static inline void *unit_resize(void *context, void *p, size_t n) {
  (void)context;
  if (n == 0) {
    unit_blocks -= p != NULL;
    free(p);
    return NULL;
  }
  if (unit_fail_in >= 0 && unit_fail_in-- == 0) return NULL;
  if (!p) unit_blocks++;
  /* Always another place, so that who keeps a pointer to the old one is caught. */
  void *moved = malloc(n);
  if (!moved) abort();
  if (p) {
    p = realloc(p, n);
    if (!p) abort();
    memcpy(moved, p, n);
    free(p);
  }
  return moved;
}

static inline int unit_interrupted(void *context) {
  (void)context;
  unit_asked++;
  return unit_interrupt;
}

static edb_host unit_host = {.resize = unit_resize, .interrupted = unit_interrupted};

static inline int unit_take_api(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  (void)db, (void)error;
  sqlite3_api = api;
  return SQLITE_OK;
}

static inline void unit_use_sqlite(void) {
  sqlite3 *db;
  sqlite3_auto_extension((void (*)(void))unit_take_api);
  if (sqlite3_open(":memory:", &db) != SQLITE_OK || !sqlite3_api) abort();
  sqlite3_close(db);
  sqlite3_cancel_auto_extension((void (*)(void))unit_take_api);
}

/* Parameters and values, written short. */
static inline edb_parameter unit_i64(int64_t i) {
  return (edb_parameter){NULL, {.kind = EDB_I64, .as.i64 = i}};
}

static inline edb_parameter unit_text(const char *text) {
  return (edb_parameter){NULL, {.kind = EDB_TEXT, .as.text = {text, strlen(text)}}};
}

/* Runs SQL that must succeed; answers the affected rows. */
static inline int64_t unit_run(edb_connection *c, const char *sql) {
  int64_t affected = -2;
  if (!CHECK_INT(edb_execute(c, sql, NULL, 0, &affected), EDB_OK)) {
    printf("  %s\n  %s\n", sql, edb_detail(c)->message);
  }
  return affected;
}

#endif
