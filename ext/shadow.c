/*
** ext/shadow.c: the shadow tables beside a virtual table, which keep what discovery found, so that
** the database opens and the table can be dropped while the server is away.
**
**   orders_relation(driver, rows, schema, identity_sql, identity_integer, dialect, bytes, counted)  one row
**   orders_columns(position, name, remote, type, type_name, nullable, key, has_default, sole)     a row each
**
** Those of edb's first days have fewer columns.
**
** The options stand in the CREATE statement itself, which SQLite keeps.
*/
#include "extInt.h"

#include <string.h>

static const char *const shadow_suffixes[] = {"relation", "columns"};

#define SHADOWS ((int)(sizeof shadow_suffixes / sizeof shadow_suffixes[0]))

int definition_is_shadow(const char *suffix) {
  for (int i = 0; i < SHADOWS; i++) {
    if (sqlite3_stricmp(suffix, shadow_suffixes[i]) == 0) return 1;
  }
  return 0;
}

int sql_run(sqlite3 *db, char *sql, char **message) {
  if (sql == NULL) return SQLITE_NOMEM;
  int rc = sqlite3_exec(db, sql, NULL, NULL, message);
  sqlite3_free(sql);
  return rc;
}

static int save_columns(sqlite3 *db, sqlite3_stmt *insert, const Definition *d, char **message) {
  int rc = SQLITE_OK;
  for (int i = 0; i < d->count && rc == SQLITE_OK; i++) {
    const Column *c = &d->columns[i];
    sqlite3_bind_int(insert, 1, i);
    sqlite3_bind_text(insert, 2, c->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, c->remote, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, c->type->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, c->type_name, -1, SQLITE_STATIC);
    sqlite3_bind_int(insert, 6, c->nullable);
    sqlite3_bind_int(insert, 7, c->key);
    sqlite3_bind_int(insert, 8, c->has_default);
    sqlite3_bind_int(insert, 9, c->unique);
    sqlite3_step(insert);
    rc = sqlite3_reset(insert);
  }
  if (rc != SQLITE_OK) *message = sqlite3_mprintf("edb: %s", sqlite3_errmsg(db));
  return rc;
}

int definition_save(sqlite3 *db, const char *schema, const char *name, const Definition *d,
                    char **message) {
  int rc = sql_run(
      db,
      sqlite3_mprintf(
          "CREATE TABLE \"%w\".\"%w_relation\"(driver TEXT, rows REAL, schema TEXT, "
          "identity_sql TEXT, identity_integer INTEGER, dialect TEXT, bytes REAL, counted INTEGER);"
          "CREATE TABLE \"%w\".\"%w_columns\"(position INTEGER PRIMARY KEY, name TEXT, "
          "remote TEXT, type TEXT, type_name TEXT, nullable INTEGER, \"key\" INTEGER, "
          "has_default INTEGER, sole INTEGER);"
          "INSERT INTO \"%w\".\"%w_relation\" VALUES (%Q, %!.17g, %Q, %Q, %d, %Q, %!.17g, %lld)",
          schema, name, schema, name, schema, name, d->driver->name, d->rows, d->schema,
          d->identity_sql, d->identity_integer, d->dialect->name, d->row_bytes, d->counted),
      message);
  if (rc != SQLITE_OK) return rc;
  char *sql =
      sqlite3_mprintf("INSERT INTO \"%w\".\"%w_columns\" VALUES (?,?,?,?,?,?,?,?,?)", schema, name);
  if (sql == NULL) return SQLITE_NOMEM;
  sqlite3_stmt *insert = NULL;
  rc = sqlite3_prepare_v2(db, sql, -1, &insert, NULL);
  sqlite3_free(sql);
  if (rc == SQLITE_OK) {
    rc = save_columns(db, insert, d, message);
  } else {
    *message = sqlite3_mprintf("edb: %s", sqlite3_errmsg(db));
  }
  sqlite3_finalize(insert);
  return rc;
}

static const edb_driver *driver_named(const char *name) {
  for (int i = 0; edb_drivers[i]; i++) {
    if (name && strcmp(edb_drivers[i]->name, name) == 0) return edb_drivers[i];
  }
  return NULL;
}

static const char *column_text(sqlite3_stmt *row, int i) {
  const char *text = (const char *)sqlite3_column_text(row, i);
  return text ? text : "";
}

/* The identity goes into remote SQL as it is, so it must be one that the driver itself would give. */
static int is_identity(const Definition *d, const char *sql) {
  const char *const *known = d->driver->catalog->identities;
  while (known && *known && strcmp(*known, sql) != 0) known++;
  return known && *known;
}

static int load_relation(sqlite3_stmt *row, Definition *d) {
  d->driver = driver_named(column_text(row, 0));
  if (d->driver == NULL) return SQLITE_ERROR;
  d->dialect = edb_dialect_named(
      d->driver, sqlite3_column_count(row) > 5 ? (const char *)sqlite3_column_text(row, 5) : NULL);
  d->rows = sqlite3_column_double(row, 1);
  if (d->schema == NULL && sqlite3_column_type(row, 2) == SQLITE_TEXT &&
      !set_text(&d->schema, column_text(row, 2))) {
    return SQLITE_NOMEM;
  }
  if (sqlite3_column_type(row, 3) == SQLITE_TEXT && !is_identity(d, column_text(row, 3))) {
    return SQLITE_CORRUPT;
  }
  if (sqlite3_column_type(row, 3) == SQLITE_TEXT &&
      !set_text(&d->identity_sql, column_text(row, 3))) {
    return SQLITE_NOMEM;
  }
  d->identity_integer = sqlite3_column_int(row, 4);
  if (sqlite3_column_count(row) > 7) {
    d->row_bytes = sqlite3_column_double(row, 6);
    d->counted = sqlite3_column_int64(row, 7);
  }
  return SQLITE_OK;
}

static int load_column(sqlite3_stmt *row, Definition *d) {
  const edb_type *type = d->dialect->type(column_text(row, 2));
  Column *column = definition_add(d, column_text(row, 1), type, column_text(row, 3));
  if (column == NULL || !set_text(&column->name, column_text(row, 0))) return SQLITE_NOMEM;
  column->nullable = sqlite3_column_int(row, 4);
  column->key = sqlite3_column_int(row, 5);
  column->has_default = sqlite3_column_int(row, 6);
  column->unique = sqlite3_column_int(row, 7);
  return SQLITE_OK;
}

static int load_rows(sqlite3 *db, char *sql, Definition *d,
                     int (*load)(sqlite3_stmt *, Definition *)) {
  sqlite3_stmt *rows = NULL;
  if (sql == NULL) return SQLITE_NOMEM;
  int rc = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
  sqlite3_free(sql);
  while (rc == SQLITE_OK && sqlite3_step(rows) == SQLITE_ROW) rc = load(rows, d);
  int finalized = sqlite3_finalize(rows);
  return rc == SQLITE_OK ? finalized : rc;
}

static int load_columns(sqlite3 *db, const char *schema, const char *name, const char *sole,
                        Definition *d) {
  return load_rows(db,
                   sqlite3_mprintf("SELECT name, remote, type, type_name, nullable, \"key\", "
                                   "has_default, %s FROM \"%w\".\"%w_columns\" ORDER BY position",
                                   sole, schema, name),
                   d, load_column);
}

int definition_load(sqlite3 *db, const char *schema, const char *name, Definition *d,
                    char **message) {
  int rc = load_rows(db, sqlite3_mprintf("SELECT * FROM \"%w\".\"%w_relation\"", schema, name), d,
                     load_relation);
  if (rc == SQLITE_OK && d->driver) {
    rc = load_columns(db, schema, name, "sole", d);
    if (rc == SQLITE_ERROR && d->count == 0) rc = load_columns(db, schema, name, "0", d);
  }
  if (rc == SQLITE_NOMEM) return rc;
  if (rc == SQLITE_OK && d->driver) {
    definition_settle(d);
    return SQLITE_OK;
  }
  *message = sqlite3_mprintf(
      "edb: the shadow tables of %s cannot be read: drop it and create it again", name);
  return SQLITE_ERROR;
}

int definition_drop(sqlite3 *db, const char *schema, const char *name) {
  int rc = SQLITE_OK;
  for (int i = 0; i < SHADOWS && rc == SQLITE_OK; i++) {
    rc = sql_run(
        db,
        sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\".\"%w_%s\"", schema, name, shadow_suffixes[i]),
        NULL);
  }
  return rc;
}

int definition_rename(sqlite3 *db, const char *schema, const char *name, const char *new_name) {
  int rc = SQLITE_OK;
  for (int i = 0; i < SHADOWS && rc == SQLITE_OK; i++) {
    rc = sql_run(db,
                 sqlite3_mprintf("ALTER TABLE \"%w\".\"%w_%s\" RENAME TO \"%w_%s\"", schema, name,
                                 shadow_suffixes[i], new_name, shadow_suffixes[i]),
                 NULL);
  }
  return rc;
}
