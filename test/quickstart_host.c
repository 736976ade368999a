/*
** quickstart_host.c: gives a plain C program what ext/ gives the SQLite driver in a host: the routines of
** the host's SQLite. Linked beside the quick start, whose own text knows the contract alone.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

int sqlite3_edb_init(sqlite3 *db, char **error, const void *api);

__attribute__((constructor)) static void load_edb(void) {
  static sqlite3 *db;
  if (sqlite3_auto_extension((void (*)(void))sqlite3_edb_init) != SQLITE_OK ||
      sqlite3_open(":memory:", &db) != SQLITE_OK) {
    fprintf(stderr, "edb did not load: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
  sqlite3_close(db);
}
