/*
** ext/returned.c: what the last INSERT gave its row: edb_last_returning(), and the rowid.
**
**   INSERT INTO orders(item) VALUES ('pen');
**   SELECT edb_last_returning();              {"id":1017}
**
** A key that came with the row is kept as it is, and written as JSON when somebody asks: of a million rows, that is the last one's.
*/
#include "extInt.h"

#include <string.h>

static sqlite3_str *returned_text(Returned *returned) {
  if (returned->json == NULL) {
    returned->json = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(returned->json, 1, '{');
  }
  return returned->json;
}

static void drop_text(Returned *returned) {
  if (returned->json) sqlite3_free(sqlite3_str_finish(returned->json));
  returned->json = NULL;
}

void returned_begin(Returned *returned, const Table *table) {
  drop_text(returned);
  returned->known = 1;
  returned->table = table;
  returned->given.count = 0;
  returned->rowid = 0;
}

static void add(Returned *returned, const char *name, const edb_type *type,
                const edb_value *value) {
  static const edb_type text = {.name = "text", .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT};
  edb_value quoted = {.kind = EDB_TEXT};
  sqlite3_str *out = returned_text(returned);
  quoted.as.text.p = name;
  quoted.as.text.n = strlen(name);
  if (sqlite3_str_length(out) > 1) sqlite3_str_appendchar(out, 1, ',');
  value_json(out, &quoted, &text);
  sqlite3_str_appendchar(out, 1, ':');
  value_json(out, value, type);
}

static void add_key(Returned *returned, const edb_value *values, size_t count) {
  const Definition *d = &returned->table->definition;
  size_t at = 0;
  for (int i = 0; i < d->count && at < count; i++) {
    if (d->columns[i].key) add(returned, d->columns[i].name, d->columns[i].type, &values[at++]);
  }
}

static void keep_rowid(Returned *returned, const edb_value *value) {
  if (returned->table->identity != IDENTITY_ROWID) return;
  if (value->kind == EDB_I64 || value->kind == EDB_U64)
    returned->rowid = value->as.i64; /* the same bits */
}

int returned_keep(Returned *returned, const Assigned *columns) {
  const Definition *d = &returned->table->definition;
  size_t keys = 0, at = 0;
  for (int i = 0; i < d->count; i++) keys += d->columns[i].key != 0;
  returned->given.host = &returned->table->edb->host;
  if (edb_row_reset(&returned->given, keys) != EDB_OK) return SQLITE_NOMEM;
  for (int i = 0; i < d->count; i++) {
    if (!d->columns[i].key) continue;
    if (edb_row_set(&returned->given, at++, &columns[i].value) != EDB_OK) return SQLITE_NOMEM;
    keep_rowid(returned, &columns[i].value);
  }
  return SQLITE_OK;
}

void returned_take(Returned *returned, const Stream *stream) {
  const Definition *d = &returned->table->definition;
  if (stream->count == 0) return;
  keep_rowid(returned, &stream->row[0]);
  add_key(returned, stream->row, stream->count);
  if (returned->json == NULL)
    add(returned, d->identity_sql, stream->columns[0].type, &stream->row[0]);
}

/* Writes what was only kept. */
static void settle(Returned *returned) {
  if (returned->table) add_key(returned, returned->given.values, returned->given.count);
  returned->given.count = 0;
  returned->table = NULL;
}

void returned_leave(Returned *returned, const Table *table) {
  if (returned->table == table) settle(returned);
}

void returned_clear(Returned *returned) {
  drop_text(returned);
  edb_row_clear(&returned->given);
  returned->known = 0;
  returned->table = NULL;
}

void function_last_returning(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Returned *returned = &((Edb *)sqlite3_user_data(context))->returned;
  (void)argc;
  (void)argv;
  if (!returned->known) return;
  settle(returned);
  sqlite3_str *text = returned_text(returned);
  char *json = sqlite3_str_errcode(text) ? NULL : sqlite3_mprintf("%s}", sqlite3_str_value(text));
  if (json == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_result_text(context, json, -1, sqlite3_free);
  sqlite3_result_subtype(context, 'J');
}
