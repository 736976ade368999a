/*
** Triggers: CREATE TRIGGER name ON table AFTER|FOR INSERT, UPDATE, DELETE AS statements.
**
** The statements run once behind each statement that changes the table, and what they count is told before that
** statement's own count, as SQL Server does without SET NOCOUNT ON. They do not see inserted and deleted. INSTEAD OF
** is not known.
*/
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bits of an object's `detail`, by the first letter of the word. */
static int64_t event_bit(const char *word) { return word[0] == 'I' ? 1 : word[0] == 'U' ? 2 : 4; }

/* A trigger is its text: everything to the end of the batch. */
void create_trigger(Batch *b) {
  static const char *const words[] = {"INSERT", "UPDATE", "DELETE"};
  char schema[130], name[130], table_schema[130], table[130], sqlite[300];
  int64_t events = 0;
  take_table(b, schema, name);
  need_word(b, "ON");
  take_table(b, table_schema, table);
  catalog_name(table_schema, table, sqlite);
  if (!take_word(b, "AFTER")) need_word(b, "FOR");
  do {
    int64_t before = events;
    for (int i = 0; i < 3; i++) {
      if (take_word(b, words[i])) events |= event_bit(words[i]);
    }
    if (events == before) syntax(b);
  } while (take_op(b, ","));
  need_word(b, "AS");
  int body = b->i;
  if (b->failed) return;
  b->i = b->n;
  if (!b->run) return;
  Table t = {.b = b, .db = "main"};
  t.schema = schema_id(b, table_schema);
  t.id = catalog_int(b->s, "SELECT id FROM main.tdsd_object WHERE sqlite = ? AND type = 'U'",
                     sqlite, 0);
  if (t.id == 0)
    fail(b, 8197, 16, "The object '%s' does not exist or is invalid for this operation.", table);
  char *definition = source(b, body, b->n);
  add_object(&t, next_object(b->s), name, "TR", name, definition, events);
  free(definition);
  if (!b->failed) run_script(b, &t.catalog);
  table_free(&t);
}

/* The triggers of a table for the event, in a statement that answers their texts. */
static sqlite3_stmt *triggers(Session *s, const char *sqlite, const char *event) {
  sqlite3_stmt *q = NULL;
  sqlite3_prepare_v2(
      s->db,
      "SELECT definition FROM main.tdsd_object WHERE type = 'TR' AND detail & ?2 AND parent = "
      "(SELECT id FROM main.tdsd_object WHERE sqlite = ?1 AND type = 'U') ORDER BY id",
      -1, &q, NULL);
  sqlite3_bind_text(q, 1, sqlite, -1, SQLITE_TRANSIENT);
  sqlite3_bind_int64(q, 2, event_bit(event));
  return q;
}

bool trigger_exists(Session *s, const char *sqlite, const char *event) {
  sqlite3_stmt *q = triggers(s, sqlite, event);
  bool there = sqlite3_step(q) == SQLITE_ROW;
  sqlite3_finalize(q);
  return there;
}

void trigger_fire(Session *s, const char *sqlite, const char *event, int nesting) {
  char *texts[16];
  int n = 0;
  sqlite3_stmt *q = triggers(s, sqlite, event);
  while (n < 16 && sqlite3_step(q) == SQLITE_ROW) {
    texts[n++] = xstrdup((const char *)sqlite3_column_text(q, 0));
  }
  sqlite3_finalize(q);
  /* A scope of its own: SCOPE_IDENTITY() of the statement stays. */
  int64_t identity = s->identity;
  bool has_identity = s->has_identity, nocount = s->nocount;
  for (int i = 0; i < n; i++) {
    int32_t status;
    if (nesting < 32) batch_run(s, texts[i], strlen(texts[i]), NULL, true, nesting + 1, &status);
    free(texts[i]);
  }
  s->identity = identity;
  s->has_identity = has_identity;
  s->nocount = nocount;
}
