/*
** drivers/library.c: client libraries, opened when a driver first needs one, so that edb itself links
** nothing but libc. The contract is in driverInt.h.
**
** The statics above edb_library_load are the platform: the same names, once for each.
*/
#include "driverInt.h"

#include <string.h>

#ifdef _WIN32

#include <windows.h>

static SRWLOCK loading = SRWLOCK_INIT;

static void lock(void) { AcquireSRWLockExclusive(&loading); }
static void unlock(void) { ReleaseSRWLockExclusive(&loading); }
static void *open_library(const char *name) { return (void *)LoadLibraryA(name); }
static void close_library(void *handle) { FreeLibrary((HMODULE)handle); }

/* Writes the function's address, or leaves NULL. */
static void find_symbol(void *handle, const char *name, void *pointer) {
  FARPROC p = GetProcAddress((HMODULE)handle, name);
  memcpy(pointer, &p, sizeof p);
}

#else

#include <dlfcn.h>
#include <pthread.h>

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) { pthread_mutex_lock(&loading); }
static void unlock(void) { pthread_mutex_unlock(&loading); }
static void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static void close_library(void *handle) { dlclose(handle); }

/* ISO C has no conversion from an object's pointer to a function's: the bytes are copied. */
static void find_symbol(void *handle, const char *name, void *pointer) {
  void *p = dlsym(handle, name);
  memcpy(pointer, &p, sizeof p);
}

#endif

/* The name of the first function that is not there, or NULL when the table is filled. */
static const char *fill_table(const edb_library *library, void *handle) {
  const edb_symbol *symbol;
  for (symbol = library->symbols; symbol->name; symbol++) {
    char *slot = (char *)library->table + symbol->offset;
    void (*found)(void);
    find_symbol(handle, symbol->name, slot);
    memcpy(&found, slot, sizeof found);
    if (!found && !symbol->optional) return symbol->name;
  }
  return NULL;
}

int edb_library_load(edb_library *library, edb_error *error) {
  const char *const *name;
  const char *missing = NULL;
  int rc = EDB_OK;
  lock();
  for (name = library->names; !library->handle && *name; name++) {
    void *handle = open_library(*name);
    const char *lacks;
    if (!handle) continue;
    lacks = fill_table(library, handle);
    if (!lacks) {
      library->handle = handle;
    } else {
      missing = lacks;
      close_library(handle);
    }
  }
  if (!library->handle && missing) {
    rc = edb_fail(error, EDB_UNSUPPORTED, "%s is too old: it has no %s; %s", library->what, missing,
                  library->install);
  } else if (!library->handle) {
    rc = edb_fail(error, EDB_UNSUPPORTED, "%s was not found (%s); %s", library->what,
                  library->names[0], library->install);
  }
  unlock();
  return rc;
}
