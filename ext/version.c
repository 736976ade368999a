/*
** ext/version.c: edb_version(), what is running here, as JSON.
**
**   SELECT edb_version() ->> '$.build';
*/
#include "extInt.h"

#ifndef EDB_BUILD
#define EDB_BUILD "unknown"
#endif

static void append_text(sqlite3_str *out, const char *text) {
  static const edb_type type = {.name = "text", .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT};
  edb_value value = {.kind = EDB_TEXT};
  value.as.text.p = text;
  while (text[value.as.text.n]) value.as.text.n++;
  value_json(out, &value, &type);
}

void function_version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendall(out, "{\"edb\":\"0.1\",\"build\":");
  append_text(out, EDB_BUILD);
  sqlite3_str_appendall(out, ",\"sqlite\":");
  append_text(out, sqlite3_libversion());
  /* A client library is "" until a server of its kind was first used. */
  sqlite3_str_appendall(out, ",\"drivers\":{");
  for (int i = 0; edb_drivers[i]; i++) {
    if (i) sqlite3_str_appendall(out, ",");
    append_text(out, edb_drivers[i]->name);
    sqlite3_str_appendall(out, ":");
    append_text(out, edb_drivers[i]->library());
  }
  sqlite3_str_appendall(out, "}}");
  char *json = sqlite3_str_finish(out);
  if (json == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_result_text(context, json, -1, sqlite3_free);
}
