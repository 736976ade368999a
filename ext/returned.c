/*
** ext/returned.c: what the last INSERT gave its row: edb_last_returning(), and the rowid.
**
**   INSERT INTO orders(item) VALUES ('pen');
**   SELECT edb_last_returning();              {"id":1017}
*/
#include "extInt.h"

#include <string.h>

static sqlite3_str *returned_text(Returned *returned) {
  if (returned->json == NULL) returned->json = sqlite3_str_new(NULL);
  return returned->json;
}

void returned_begin(Returned *returned, const Table *table) {
  returned_clear(returned);
  returned->table = table;
  returned->rowid = 0;
  sqlite3_str_appendchar(returned_text(returned), 1, '{');
}

void returned_add(Returned *returned, const Column *column, const edb_value *value) {
  static const edb_type text = {.name = "text", .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT};
  edb_value name = {.kind = EDB_TEXT};
  sqlite3_str *out = returned_text(returned);
  name.as.text.p = column->name;
  name.as.text.n = strlen(column->name);
  if (sqlite3_str_length(out) > 1) sqlite3_str_appendchar(out, 1, ',');
  value_json(out, &name, &text);
  sqlite3_str_appendchar(out, 1, ':');
  value_json(out, value, column->type);
  if (returned->table && returned->table->identity == IDENTITY_ROWID &&
      (value->kind == EDB_I64 || value->kind == EDB_U64)) {
    returned->rowid = value->as.i64; /* the same bits */
  }
}

int returned_take(Returned *returned, const Stream *stream) {
  const Definition *d = &returned->table->definition;
  size_t at = 0;
  for (int i = 0; i < d->count && at < stream->count; i++) {
    if (d->columns[i].key) returned_add(returned, &d->columns[i], &stream->row[at++]);
  }
  if (at == 0 && stream->count > 0) { /* the identity */
    Column identity = {.name = d->identity_sql, .type = stream->columns[0].type};
    returned_add(returned, &identity, &stream->row[0]);
  }
  return SQLITE_OK;
}

void returned_clear(Returned *returned) {
  if (returned->json) sqlite3_free(sqlite3_str_finish(returned->json));
  returned->json = NULL;
}

void function_last_returning(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const Edb *edb = sqlite3_user_data(context);
  (void)argc;
  (void)argv;
  if (edb->returned.json == NULL) return;
  if (sqlite3_str_errcode(edb->returned.json)) {
    sqlite3_result_error_nomem(context);
    return;
  }
  char *json = sqlite3_mprintf("%s}", sqlite3_str_value(edb->returned.json));
  if (json == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_result_text(context, json, -1, sqlite3_free);
  sqlite3_result_subtype(context, 'J');
}
