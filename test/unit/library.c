/*
** library.c: client libraries at run time: found, missing, too old, and loaded from several threads at once.
*/
#include "unit.h"
#include "drivers/driverInt.h"

#include <pthread.h>

typedef struct functions {
  double (*cosine)(double);
  double (*none)(double);
} functions;

static const edb_symbol symbols[] = {{"cos", offsetof(functions, cosine), 0},
                                     {"edb_no_such_function", offsetof(functions, none), 1},
                                     {NULL, 0, 0}};
static const edb_symbol more_symbols[] = {{"cos", offsetof(functions, cosine), 0},
                                          {"edb_no_such_function", offsetof(functions, none), 0},
                                          {NULL, 0, 0}};
static const char *const names[] = {"libedb-no-such.so.1", "libm.so.6", NULL};
static const char *const no_names[] = {"libedb-no-such.so.1", "libedb-no-such.so.0", NULL};

static functions loaded;
static edb_library library = {"The test library", "install it", names, symbols, &loaded, NULL};

static void *load(void *unused) {
  (void)unused;
  return edb_library_load(&library, NULL) == EDB_OK && loaded.cosine ? &loaded : NULL;
}

int main(void) {
  functions table = {NULL, NULL};
  edb_library missing = {"The test library", "install it", no_names, symbols, &table, NULL};
  edb_library old = {"The test library", "install it", names, more_symbols, &table, NULL};
  pthread_t threads[8];
  edb_error e;

  for (int i = 0; i < 8; i++) CHECK_INT(pthread_create(&threads[i], NULL, load, NULL), 0);
  for (int i = 0; i < 8; i++) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    CHECK(result != NULL);
  }
  CHECK(loaded.cosine(0) > 0.999);
  CHECK(loaded.none == NULL);
  CHECK_INT(edb_library_load(&library, &e), EDB_OK);

  CHECK_INT(edb_library_load(&missing, &e), EDB_UNSUPPORTED);
  CHECK_STR(e.message, "The test library was not found (libedb-no-such.so.1); install it");
  CHECK(missing.handle == NULL);
  CHECK_INT(edb_library_load(&old, &e), EDB_UNSUPPORTED);
  CHECK_STR(e.message, "The test library is too old: it has no edb_no_such_function; install it");
  CHECK(old.handle == NULL);
  CHECK_INT(edb_library_load(&old, NULL), EDB_UNSUPPORTED);
  return unit_done("library");
}
