/*
** ext/import.c: a table for each remote table.
**
**   SELECT edb_import('shop', 'public');           every table of the schema, under its own name
**   SELECT edb_import('shop', 'public', 'shop_');  with something before each name
**
** All or nothing: a name that is taken already undoes the whole, in a savepoint.
*/
#include "extInt.h"

#include <string.h>

/* The names of the schema's tables, each NUL-terminated, one after another. */
typedef struct Names {
  char *p;
  size_t n;
  int count;
} Names;

static int names_add(Names *names, const edb_value *value) {
  if (value->kind != EDB_TEXT) return SQLITE_OK;
  char *grown = sqlite3_realloc64(names->p, names->n + value->as.text.n + 1);
  if (grown == NULL) return SQLITE_NOMEM;
  names->p = grown;
  memcpy(grown + names->n, value->as.text.p, value->as.text.n);
  names->n += value->as.text.n + 1;
  grown[names->n - 1] = 0;
  names->count++;
  return SQLITE_OK;
}

static int names_read(Names *names, Server *server, const char *schema, char **message) {
  edb_parameter parameter = {.name = NULL, .value = {.kind = EDB_TEXT}};
  parameter.value.as.text.p = schema;
  parameter.value.as.text.n = strlen(schema);
  Reader reader;
  int rc = reader_open(&reader, server, server->driver->catalog->tables, &parameter, 1, REPEAT_ONCE,
                       message);
  if (rc != SQLITE_OK) return rc;
  while ((rc = reader_next(&reader, message)) == SQLITE_ROW) {
    rc = names_add(names, &reader.stream.row[1]);
    if (rc != SQLITE_OK) break;
  }
  reader_end(&reader);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int import_table(sqlite3 *db, const char *server, const char *schema, const char *prefix,
                        const char *name, char **message) {
  char *remote = sqlite3_mprintf("\"%w\".\"%w\"", schema, name);
  if (remote == NULL) return SQLITE_NOMEM;
  char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w%w\" USING edb(%Q, %Q)", prefix, name,
                              server, remote);
  sqlite3_free(remote);
  return sql_run(db, sql, message);
}

static int import_all(sqlite3 *db, const Names *names, const char *server, const char *schema,
                      const char *prefix, char **message) {
  int rc = sql_run(db, sqlite3_mprintf("SAVEPOINT edb_import"), message);
  if (rc != SQLITE_OK) return rc;
  for (size_t at = 0; at < names->n && rc == SQLITE_OK; at += strlen(names->p + at) + 1) {
    rc = import_table(db, server, schema, prefix, names->p + at, message);
  }
  if (rc != SQLITE_OK) sql_run(db, sqlite3_mprintf("ROLLBACK TO edb_import"), NULL);
  int released =
      sql_run(db, sqlite3_mprintf("RELEASE edb_import"), rc == SQLITE_OK ? message : NULL);
  return rc == SQLITE_OK ? released : rc;
}

void function_import(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Edb *edb = sqlite3_user_data(context);
  const char *name = argc > 1 ? (const char *)sqlite3_value_text(argv[0]) : NULL;
  const char *schema = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
  const char *prefix = argc > 2 ? (const char *)sqlite3_value_text(argv[2]) : "";
  Names names = {NULL, 0, 0};
  char *message = NULL;
  if (name == NULL || schema == NULL || prefix == NULL || argc > 3) {
    sqlite3_result_error(context,
                         "edb: write edb_import(server, schema) or edb_import(server, "
                         "schema, prefix)",
                         -1);
    return;
  }
  Server *server = server_find(edb, name, &message);
  int rc = server ? names_read(&names, server, schema, &message)
                  : (message ? SQLITE_ERROR : SQLITE_NOMEM);
  if (rc == SQLITE_OK && names.count == 0) {
    message =
        sqlite3_mprintf("edb: %s %s: there are no tables in a schema %s", server->driver->name,
                        server->name, strstr(schema, "://") ? "(a URL)" : schema);
    rc = SQLITE_ERROR;
  }
  if (rc == SQLITE_OK) rc = import_all(edb->db, &names, name, schema, prefix, &message);
  if (rc == SQLITE_OK) {
    sqlite3_result_int(context, names.count);
  } else {
    result_failed(context, rc, message);
  }
  sqlite3_free(names.p);
}
