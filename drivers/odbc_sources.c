/*
** drivers/odbc_sources.c: what the driver manager has: data sources and drivers.
*/
#include <string.h>

#include "odbcInt.h"

#define NAME_UNITS 256
#define TEXT_UNITS 4096

typedef SQLRETURN (*od_lister)(SQLHANDLE, SQLUSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLSMALLINT *,
                               SQLWCHAR *, SQLSMALLINT, SQLSMALLINT *);

/* One list, each name with its text. */
static int list(SQLHANDLE env, const edb_host *host, od_lister next, const char *kind,
                edb_source_taker *take, void *context) {
  edb_buffer name = {host, NULL, 0, 0, 0}, text = {host, NULL, 0, 0, 0};
  uint32_t *wide_name = edb_alloc(host, NAME_UNITS * sizeof *wide_name);
  uint32_t *wide_text = edb_alloc(host, TEXT_UNITS * sizeof *wide_text);
  SQLUSMALLINT direction = SQL_FETCH_FIRST;
  SQLSMALLINT a, b;
  int rc = wide_name && wide_text ? EDB_OK : EDB_NOMEM;
  while (rc == EDB_OK &&
         od_ok(next(env, direction, wide_name, NAME_UNITS, &a, wide_text, TEXT_UNITS, &b))) {
    direction = SQL_FETCH_NEXT;
    name.n = text.n = 0;
    od_text_add(&name, wide_name, od_wide_length(wide_name, NAME_UNITS));
    /* A driver's attributes stand there one behind the other: the first one is as good as its description. */
    od_text_add(&text, wide_text, od_wide_length(wide_text, TEXT_UNITS));
    rc = name.nomem || text.nomem ? EDB_NOMEM : take(context, kind, name.p, text.p);
  }
  edb_free(host, wide_name);
  edb_free(host, wide_text);
  edb_buffer_free(&name);
  edb_buffer_free(&text);
  return rc;
}

int od_sources(const edb_host *host, edb_source_taker *take, void *context, edb_error *error) {
  SQLHANDLE env;
  int rc = od_library_load(error);
  if (rc != EDB_OK) return rc;
  if (!od_ok(od.AllocHandle(SQL_HANDLE_ENV, NULL, &env))) {
    return edb_fail(error, EDB_NOMEM, "out of memory");
  }
  od.SetEnvAttr(env, SQL_ATTR_ODBC_VERSION, (void *)(uintptr_t)SQL_OV_ODBC3, 0);
  rc = list(env, host, od.DataSources, "data source", take, context);
  if (rc == EDB_OK) rc = list(env, host, od.Drivers, "driver", take, context);
  od.FreeHandle(SQL_HANDLE_ENV, env);
  return rc == EDB_NOMEM ? edb_fail(error, EDB_NOMEM, "out of memory") : rc;
}
