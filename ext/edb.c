/*
** ext/edb.c: the entry point, and what one database connection's edb functions and tables share.
*/
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1
#include "extInt.h"

#include <string.h>
#include <time.h>

#define OLDEST_SQLITE 3038000 /* sqlite3_vtab_in, sqlite3_vtab_distinct */

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *host_resize(void *context, void *memory, size_t size) {
  (void)context;
  if (size > 0) return sqlite3_realloc64(memory, size);
  sqlite3_free(memory);
  return NULL;
}

static void edb_release(void *p) {
  Edb *edb = p;
  if (--edb->references > 0) return;
  servers_free(edb);
  for (int i = 0; i < EDB_LOG_LINES; i++) {
    sqlite3_free(edb->log[i].server);
    sqlite3_free(edb->log[i].text);
  }
  returned_clear(&edb->returned);
  sqlite3_free(edb);
}

/* ---- The log --------------------------------------------------------------------------------- */

void edb_log(Edb *edb, const char *server, const char *text, size_t n) {
  char *server_copy = sqlite3_mprintf("%s", server);
  char *text_copy = sqlite3_mprintf("%.*s", n < 4000 ? (int)n : 4000, text);
  if (server_copy == NULL || text_copy == NULL) { /* a line less */
    sqlite3_free(server_copy);
    sqlite3_free(text_copy);
    return;
  }
  LogLine *line = &edb->log[edb->logged++ % EDB_LOG_LINES];
  sqlite3_free(line->server);
  sqlite3_free(line->text);
  line->server = server_copy;
  line->text = text_copy;
  time_t now = time(NULL);
  line->at = (edb_time){.form = EDB_DATETIME,
                        .zoned = 1,
                        .days = (int32_t)(now / 86400),
                        .nanos = (int64_t)(now % 86400) * 1000000000};
}

/* ---- Registration ------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  const sqlite3_module *module;
} modules[] = {
    {"edb", &table_module},
    {"edb_query", &query_module},
    {"edb_explain", &explain_module},
    {"edb_tables", &tables_module},
    {"edb_columns", &columns_module},
    {"edb_servers", &servers_module},
    {"edb_log", &log_module},
    {"edb_odbc_sources", &sources_module},
    {"edb_transaction", &member_module},
    {"edb_in_doubt", &in_doubt_module},
};

#define PURE (SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

/* DIRECTONLY: what a view or a trigger of a database file from elsewhere must not call. */
static const struct {
  const char *name;
  int arguments;
  int flags;
  void (*function)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
    {"edb_server", 2, SQLITE_DIRECTONLY, function_server},
    {"edb_import", -1, SQLITE_DIRECTONLY, function_import},
    {"edb_exec", -1, SQLITE_DIRECTONLY, function_exec},
    {"edb_config", 1, SQLITE_DIRECTONLY, function_config},
    {"edb_config", 2, SQLITE_DIRECTONLY, function_config},
    {"edb_resolve", 1, SQLITE_DIRECTONLY, function_resolve},
    {"edb_resolve", 2, SQLITE_DIRECTONLY, function_resolve},
    {"edb_resolve", 3, SQLITE_DIRECTONLY, function_resolve},
    {"edb_last_returning", 0, 0, function_last_returning},
    {"edb_version", 0, 0, function_version},
    {"edb_starts", 2, PURE, function_starts},
    {"edb_ends", 2, PURE, function_ends},
    {"edb_contains", 2, PURE, function_contains},
    {"edb_like", 2, PURE, function_like},
};

static int edb_register(Edb *edb) {
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof modules / sizeof modules[0] && rc == SQLITE_OK; i++) {
    edb->references++; /* SQLite releases it, also when it refuses */
    rc = sqlite3_create_module_v2(edb->db, modules[i].name, modules[i].module, edb, edb_release);
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0] && rc == SQLITE_OK; i++) {
    edb->references++;
    rc = sqlite3_create_function_v2(edb->db, functions[i].name, functions[i].arguments,
                                    SQLITE_UTF8 | functions[i].flags, edb, functions[i].function,
                                    NULL, NULL, edb_release);
  }
  return rc;
}

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
    int sqlite3_edb_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

int sqlite3_edb_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  if (sqlite3_libversion_number() < OLDEST_SQLITE) {
    *message = sqlite3_mprintf("edb needs SQLite 3.38 or newer; this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  Edb *edb = sqlite3_malloc64(sizeof *edb);
  if (edb == NULL) return SQLITE_NOMEM;
  memset(edb, 0, sizeof *edb);
  edb->db = db;
  edb->host.resize = host_resize;
  edb->references = 1;
  edb->batch = 1;
  edb->join_memory = 64 << 20;
  int rc = edb_register(edb);
  edb_release(edb);
  return rc;
}
