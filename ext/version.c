/*
** ext/version.c: edb_version(), what is running here, as JSON.
**
**   SELECT edb_version() ->> '$.build';
*/
#include "extInt.h"
#include "../crypto/crypto.h"

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

static void append_pair(sqlite3_str *out, const char *comma, const char *name, const char *value) {
  sqlite3_str_appendall(out, comma);
  append_text(out, name);
  sqlite3_str_appendall(out, ":");
  append_text(out, value);
}

void function_version(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendall(out, "{\"edb\":\"0.1\",\"build\":");
  append_text(out, EDB_BUILD);
  append_pair(out, ",", "sqlite", sqlite3_libversion());
  /* A client library is "" until a server of its kind was first used. */
  sqlite3_str_appendall(out, ",\"drivers\":{");
  for (int i = 0; edb_drivers[i]; i++) {
    append_pair(out, i ? "," : "", edb_drivers[i]->name, edb_drivers[i]->library());
  }
  /* What the compiler gave the big numbers, and what the processor gives each cipher. */
  sqlite3_str_appendall(out, "},\"crypto\":{");
  append_pair(out, "", "bignum", ecr_bignum);
  for (int i = 0; i < ECR_CIPHERS; i++) {
    const ecr_aead *aead = ecr_aead_get((ecr_cipher)i, NULL);
    append_pair(out, ",", aead->cipher, aead->backend);
  }
  sqlite3_str_appendall(out, "}}");
  char *json = sqlite3_str_finish(out);
  if (json == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_result_text(context, json, -1, sqlite3_free);
}
