/*
** ext/discover.c: asks the server for the columns of a table or a query, its key and the number of
** its rows.
*/
#include "extInt.h"

#include <string.h>
#include <time.h>

static edb_value text_value(const char *text) {
  edb_value value = {.kind = EDB_NULL};
  if (text) {
    value.kind = EDB_TEXT;
    value.as.text.p = text;
    value.as.text.n = strlen(text);
  }
  return value;
}

/* A copy of the row's text, NULL where the value is not text. */
static char *row_text(const edb_value *value) {
  if (value->kind != EDB_TEXT) return NULL;
  return sqlite3_mprintf("%.*s", (int)value->as.text.n, value->as.text.p);
}

static double row_number(const edb_value *value) {
  if (value->kind == EDB_I64) return (double)value->as.i64;
  if (value->kind == EDB_U64) return (double)value->as.u64;
  if (value->kind == EDB_F64) return value->as.f64;
  if (value->kind == EDB_BOOL) return (double)value->as.boolean;
  return -1;
}

typedef struct Discovery {
  Server *server;
  Definition *definition;
  char **message;
} Discovery;

/* Hands each row of a query to `take`, which answers SQLITE_OK or an error. *count: rows that there
** were. */
static int each_row(Discovery *v, const char *sql, const edb_parameter *parameters, size_t n,
                    int (*take)(Definition *, const edb_value *, size_t n), int *count) {
  Reader reader;
  int rc = reader_open(&reader, v->server, sql, parameters, n, REPEAT_ONCE, v->message);
  if (rc != SQLITE_OK) return rc;
  while ((rc = reader_next(&reader, v->message)) == SQLITE_ROW) {
    ++*count;
    rc = take(v->definition, reader.stream.row, reader.stream.count);
    if (rc != SQLITE_OK) break;
  }
  reader_end(&reader);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The server's own name where it is another spelling of what was asked for; a synonym stays what it is called. */
static void respell(char **name, const edb_value *own) {
  char *text = row_text(own);
  if (text && (*name == NULL || sqlite3_stricmp(*name, text) == 0)) {
    sqlite3_free(*name);
    *name = text;
  } else {
    sqlite3_free(text);
  }
}

static int take_statistics(Definition *d, const edb_value *row, size_t n) {
  d->rows = row_number(&row[3]);
  d->row_bytes = n > 6 ? row_number(&row[6]) : -1;
  return SQLITE_OK;
}

static int take_relation(Definition *d, const edb_value *row, size_t n) {
  respell(&d->schema, &row[0]);
  respell(&d->table, &row[1]);
  take_statistics(d, row, n);
  sqlite3_free(d->identity_sql);
  d->identity_sql = row_text(&row[4]);
  d->identity_integer = row_number(&row[5]) > 0;
  return SQLITE_OK;
}

static int take_column(Definition *d, const edb_value *row, size_t n) {
  char *name = row_text(&row[0]);
  char *type = row_text(&row[1]);
  char *type_name = row_text(&row[2]);
  int rc = SQLITE_NOMEM;
  if (name && type && type_name) {
    Column *column = definition_add(d, name, d->dialect->type(type), type_name);
    if (column) {
      column->nullable = row_number(&row[3]) != 0;
      column->key = (int)row_number(&row[4]);
      column->has_default = (int)row_number(&row[5]);
      if (column->has_default < 0) column->has_default = 0;
      if (column->key < 0) column->key = 0;
      column->unique = n > 6 && row_number(&row[6]) > 0;
      rc = SQLITE_OK;
    }
  }
  sqlite3_free(name);
  sqlite3_free(type);
  sqlite3_free(type_name);
  return rc;
}

static int take_estimate(Definition *d, const edb_value *row, size_t n) {
  (void)n;
  d->rows = row_number(&row[0]);
  return SQLITE_OK;
}

/* A driver may know no cheap estimate for this kind of table and let the query fail: then there is
** none. */
static int discover_estimate(Discovery *v) {
  const Definition *d = v->definition;
  const char *format = d->driver->catalog->estimate;
  if (d->rows >= 0 || format == NULL) return SQLITE_OK;
  char *relation = deparse_relation(d);
  sqlite3_str *text = sqlite3_str_new(NULL);
  append_template(text, format, relation ? relation : "");
  char *sql = sqlite3_str_finish(text);
  int count = 0;
  int rc = SQLITE_NOMEM;
  if (relation && sql) {
    rc = each_row(v, sql, NULL, 0, take_estimate, &count);
    sqlite3_free(*v->message);
    *v->message = NULL;
  }
  sqlite3_free(relation);
  sqlite3_free(sql);
  return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

static int discover_table(Discovery *v) {
  Definition *d = v->definition;
  const edb_catalog *catalog = d->driver->catalog;
  /* As it was asked for: take_relation replaces the definition's while these are in use. */
  char *schema = d->schema ? sqlite3_mprintf("%s", d->schema) : NULL;
  char *table = sqlite3_mprintf("%s", d->table);
  edb_parameter parameters[2] = {{NULL, text_value(schema)}, {NULL, text_value(table)}};
  int found = 0;
  int columns = 0;
  int rc = table && (schema || d->schema == NULL) ? SQLITE_OK : SQLITE_NOMEM;
  if (rc == SQLITE_OK) rc = each_row(v, catalog->relation, parameters, 2, take_relation, &found);
  if (rc == SQLITE_OK && found == 0) {
    *v->message = sqlite3_mprintf("edb: %s %s: there is no table %s%s%s", d->driver->name,
                                  v->server->name, schema ? schema : "", schema ? "." : "", table);
    rc = SQLITE_ERROR;
  }
  sqlite3_free(schema);
  sqlite3_free(table);
  if (rc != SQLITE_OK) return rc;
  parameters[0].value = text_value(d->schema);
  parameters[1].value = text_value(d->table);
  rc = each_row(v, catalog->columns, parameters, 2, take_column, &columns);
  return rc == SQLITE_OK ? discover_estimate(v) : rc;
}

/* The columns of a query are those of its empty result. It is not asked for by a limit, since SQL Server refuses one
** of 0. */
static int discover_query(Discovery *v) {
  Definition *d = v->definition;
  char *relation = deparse_relation(d);
  sqlite3_str *text = sqlite3_str_new(NULL);
  sqlite3_str_appendf(text, "SELECT * FROM %s WHERE %s", relation ? relation : "",
                      d->dialect->false_clause);
  char *sql = sqlite3_str_finish(text);
  Reader reader;
  int rc = SQLITE_NOMEM;
  if (relation && sql) rc = reader_open(&reader, v->server, sql, NULL, 0, REPEAT_ONCE, v->message);
  if (rc == SQLITE_OK) {
    for (size_t i = 0; i < reader.stream.count && rc == SQLITE_OK; i++) {
      const edb_column *column = &reader.stream.columns[i];
      if (!definition_add(d, column->name, column->type, column->type_name)) rc = SQLITE_NOMEM;
    }
    reader_end(&reader);
  }
  sqlite3_free(relation);
  sqlite3_free(sql);
  return rc;
}

#define STATISTICS_AGE 86400 /* seconds */

void definition_refresh(Server *server, Definition *d) {
  const sqlite3_int64 now = (sqlite3_int64)time(NULL);
  if (now - d->counted < STATISTICS_AGE || d->table == NULL || d->rows_option >= 0 ||
      server->session) {
    return;
  }
  char *message = NULL;
  Discovery v = {server, d, &message};
  const edb_parameter parameters[2] = {{NULL, text_value(d->schema)}, {NULL, text_value(d->table)}};
  int found = 0;
  d->counted = now;
  if (each_row(&v, d->driver->catalog->relation, parameters, 2, take_statistics, &found) ==
      SQLITE_OK) {
    (void)discover_estimate(&v);
  }
  sqlite3_free(message);
}

int definition_discover(Edb *edb, Definition *d, char **message) {
  Server *server = server_find(edb, d->server, message);
  if (server == NULL) return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  Discovery v = {server, d, message};
  d->driver = server->driver;
  d->counted = (sqlite3_int64)time(NULL);
  int rc = server_dialect(server, &d->dialect, message);
  if (rc != SQLITE_OK) return rc;
  rc = d->query ? discover_query(&v) : discover_table(&v);
  definition_settle(d);
  return rc == SQLITE_OK ? definition_apply_key(d, message) : rc;
}
