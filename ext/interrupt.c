/*
** ext/interrupt.c: whether sqlite3_interrupt was called, asked while a driver waits for its server.
**
** SQLite tells since 3.41, in any thread. What 3.38 to 3.40 keep of it is an int of the connection that no function
** reads; where in it is found by interrupting a connection of our own and looking for what has changed. With that, too,
** any thread can ask, so that a call that waits need not be made by a thread of its own (drivers/thread.c). Where
** nothing or more than an int has changed, a nested statement is tried, which does not start: that is for the thread
** that uses the connection alone.
*/
#include "extInt.h"

#include <string.h>

#define ABSENT ((size_t)-1)

/* How far in a connection what sqlite3_interrupt sets is; ABSENT: not found. */
static size_t find_flag(void) {
  sqlite3 *db = NULL;
  char *before = NULL;
  size_t found = ABSENT;
  int changes = 0;
  if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
      SQLITE_OK) {
    goto done;
  }
  const size_t size = (size_t)sqlite3_msize(db);
  before = sqlite3_malloc64(size);
  if (before == NULL) goto done;
  memcpy(before, db, size);
  sqlite3_interrupt(db);
  for (size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
    int was, is;
    memcpy(&was, before + at, sizeof was);
    memcpy(&is, (const char *)db + at, sizeof is);
    if (was == is) continue;
    changes++;
    found = was == 0 && is == 1 ? at : ABSENT;
  }
done:
  sqlite3_free(before);
  sqlite3_close(db);
  return changes == 1 ? found : ABSENT;
}

/* sqlite3_close refuses to close over a statement that is kept. */
static int nested_fails(sqlite3 *db) {
  sqlite3_stmt *probe = NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT 1", -1, &probe, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(probe);
  sqlite3_finalize(probe);
  return rc == SQLITE_INTERRUPT;
}

#if SQLITE_VERSION_NUMBER >= 3041000
#define KNOWS_FUNCTION 1
static int is_interrupted(sqlite3 *db) { return sqlite3_is_interrupted(db); }
#else
#define KNOWS_FUNCTION 0
static int is_interrupted(sqlite3 *db) {
  (void)db;
  return 0;
}
#endif

static int has_function(void) { return KNOWS_FUNCTION && sqlite3_libversion_number() >= 3041000; }

void interrupt_learn(Edb *edb) {
  edb->interrupt = NULL;
  if (has_function()) return;
  const size_t at = find_flag();
  if (at != ABSENT)
    edb->interrupt = (const volatile int *)(const void *)((const char *)edb->db + at);
}

int interrupt_anywhere(const Edb *edb) { return has_function() || edb->interrupt != NULL; }

int interrupt_pending(Edb *edb) {
  if (has_function()) return is_interrupted(edb->db);
  return edb->interrupt ? *edb->interrupt != 0 : nested_fails(edb->db);
}
