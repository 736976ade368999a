/*
** CREATE, DROP and ALTER of all that there is beside tables.
*/
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Other objects ----------------------------------------------------------------------------------*/

/* The table of an index or an ALTER, from the catalog. */
static bool table_load(Batch *b, Table *t) {
  char schema[130], name[130];
  take_table(b, schema, name);
  *t = (Table){.b = b, .db = name[0] == '#' ? "temp" : "main", .rel = {.bare = true}};
  snprintf(t->name, sizeof t->name, "%s", name);
  rel_table(b, &t->rel, schema, name);
  snprintf(t->sqlite, sizeof t->sqlite, "%s", t->rel.name);
  if (!b->run || b->failed) return false;
  Buf sql = {0};
  buf_printf(&sql, "SELECT id FROM %s.tdsd_object WHERE sqlite = ? AND type = 'U'", t->db);
  t->id = catalog_int(b->s, buf_string(&sql), t->sqlite, 0);
  sql.n = 0;
  buf_printf(&sql, "SELECT coalesce(max(id), 1) FROM %s.tdsd_index WHERE object_id = %" PRId64,
             t->db, t->id);
  t->indexes = (int)catalog_int(b->s, buf_string(&sql), NULL, 1) - 1;
  t->schema = schema_id(b, schema);
  t->room = t->rel.n;
  t->objects = (int)catalog_int(b->s, "SELECT count(*) FROM main.tdsd_object", NULL, 0);
  buf_free(&sql);
  return true;
}

static void create_index(Batch *b, bool unique, int clustered) {
  const char *name = take_name(b);
  Table t;
  Key key = {.n = 0};
  need_word(b, "ON");
  table_load(b, &t);
  parse_key(&t, &key);
  Buf sql = {0};
  char *filter = NULL;
  if (take_word(b, "INCLUDE")) {
    Key included = {.n = 0};
    parse_key(&t, &included);
  }
  buf_printf(&sql, "CREATE %sINDEX %s.", unique ? "UNIQUE " : "", t.db);
  char full[600];
  snprintf(full, sizeof full, "%s.%s", t.sqlite, name);
  quote(&sql, full);
  buf_text(&sql, " ON ");
  quote(&sql, t.sqlite);
  write_key(&t, &sql, &key);
  if (take_word(b, "WHERE")) {
    Scope scope = {.rels = &t.rel}, *outer = b->scope;
    int from = b->i;
    buf_text(&sql, " WHERE ");
    b->scope = &scope;
    parse_condition(b, &sql);
    b->scope = outer;
    filter = source(b, from, b->i);
  }
  skip_index_options(b);
  if (b->run && !b->failed) {
    describe_index(&t, name, &key, unique, false, false, clustered > 0, filter);
    buf_printf(&sql, ";%s", buf_string(&t.catalog));
    run_script(b, &sql);
  }
  free(filter);
  buf_free(&sql);
  table_free(&t);
}

static void create_view(Batch *b, int from) {
  char schema[130], name[130], sqlite[300];
  Buf query = {0}, sql = {0};
  Query q = {0};
  Table t;
  take_table(b, schema, name);
  catalog_name(schema, name, sqlite);
  table_begin(b, &t, schema, name);
  need_word(b, "AS");
  parse_query(b, &query, &q);
  check_unordered(b, &q);
  if (b->run && !b->failed) {
    char *definition = source(b, from, b->i);
    buf_text(&sql, "CREATE VIEW ");
    quote(&sql, sqlite);
    buf_printf(&sql, " AS %s;", buf_string(&query));
    for (int i = 0; i < q.n; i++) {
      Column k = q.columns[i];
      k.identity = k.computed = false;
      if (k.type.kind == K_NONE) k.type = type_make(K_INT, 0, 0, 0);
      describe_column(&t, &k, i + 1, NULL, NULL, false);
    }
    add_object(&t, t.id, name, "V", sqlite, definition, 0);
    buf_text(&sql, buf_string(&t.catalog));
    run_script(b, &sql);
    free(definition);
  }
  buf_free(&query);
  buf_free(&sql);
  table_free(&t);
}

/* What it stands for need not be there. */
static void create_synonym(Batch *b) {
  char schema[130], name[130], sqlite[300];
  Buf base = {0};
  Table t = {.b = b, .db = "main"};
  take_table(b, schema, name);
  catalog_name(schema, name, sqlite);
  need_word(b, "FOR");
  do {
    if (base.n > 0) buf_u8(&base, '.');
    if (!at_op(b, ".")) buf_printf(&base, "[%s]", take_name(b));
  } while (take_op(b, "."));
  if (b->run && !b->failed) {
    t.schema = schema_id(b, schema);
    t.id = next_object(b->s);
    add_object(&t, t.id, name, "SN", sqlite, buf_string(&base), 0);
    run_script(b, &t.catalog);
  }
  buf_free(&base);
  table_free(&t);
}

/* A procedure is its text: everything to the end of the batch. */
static void create_procedure(Batch *b, int from) {
  char schema[130], name[130], sqlite[300];
  take_table(b, schema, name);
  catalog_name(schema, name, sqlite);
  Table t = {.b = b, .db = "main"};
  b->i = b->n;
  if (!b->run || b->failed) return;
  t.schema = schema_id(b, schema);
  t.id = next_object(b->s);
  char *definition = source(b, from, b->n);
  buf_text(&t.catalog, "DELETE FROM tdsd_object WHERE type = 'P' AND sqlite = ");
  write_text(&t.catalog, sqlite);
  buf_u8(&t.catalog, ';');
  add_object(&t, t.id, name, "P", sqlite, definition, 0);
  free(definition);
  run_script(b, &t.catalog);
  table_free(&t);
}

void statement_create(Batch *b) {
  int from = b->i++;
  Buf sql = {0};
  if (take_word(b, "OR")) need_word(b, "ALTER");
  bool unique = take_word(b, "UNIQUE");
  int clustered = take_clustered(b);
  if (take_word(b, "INDEX")) {
    create_index(b, unique, clustered);
  } else if (take_word(b, "TABLE")) {
    create_table(b);
  } else if (take_word(b, "VIEW")) {
    create_view(b, from);
  } else if (take_word(b, "PROCEDURE") || take_word(b, "PROC")) {
    create_procedure(b, from);
  } else if (take_word(b, "TRIGGER")) {
    create_trigger(b);
  } else if (take_word(b, "SYNONYM")) {
    create_synonym(b);
  } else if (take_word(b, "SCHEMA")) {
    const char *name = take_name(b);
    if (take_word(b, "AUTHORIZATION")) take_name(b);
    buf_text(&sql, "INSERT INTO tdsd_schema SELECT max(5, max(id) + 1), ");
    write_text(&sql, name);
    buf_text(&sql, " FROM tdsd_schema");
    if (b->run && !b->failed) run_script(b, &sql);
  } else if (take_word(b, "DATABASE")) {
    const char *name = take_name(b);
    if (take_word(b, "COLLATE")) take_name(b);
    if (b->run && !b->failed) {
      if (engine_exists(b->c->server, name)) {
        fail(b, 1801, 16, "Database '%s' already exists. Choose a different database name.", name);
      } else if (!engine_create(b->c->server, name)) {
        fail(b, 1802, 16, "CREATE DATABASE failed.");
      } else {
        done(b, 0, 0xC6, 0);
      }
    }
  } else {
    syntax(b);
  }
  buf_free(&sql);
}

static void drop_object(Batch *b, const char *kind, const char *type, bool if_exists) {
  char schema[130], name[130], sqlite[300];
  take_table(b, schema, name);
  catalog_name(schema, name, sqlite);
  if (!b->run || b->failed) return;
  const char *db = name[0] == '#' ? "temp" : "main";
  Buf sql = {0};
  buf_printf(&sql, "SELECT id FROM %s.tdsd_object WHERE sqlite = ? AND type = '%s' AND system = 0",
             db, type);
  int64_t id = catalog_int(b->s, buf_string(&sql), sqlite, 0);
  sql.n = 0;
  if (id == 0) {
    if (!if_exists)
      fail(b, 3701, 11,
           "Cannot drop the %s '%s', because it does not exist or you do not have permission.",
           strcmp(type, "U") == 0 ? "table" : "object", name);
    buf_free(&sql);
    return;
  }
  if (kind != NULL) {
    buf_printf(&sql, "DROP %s %s.", kind, db);
    quote(&sql, sqlite);
    buf_u8(&sql, ';');
  }
  buf_printf(&sql,
             "DELETE FROM %s.tdsd_object WHERE %" PRId64
             " IN (id, parent); DELETE FROM %s.tdsd_column WHERE object_id = %" PRId64
             "; DELETE FROM %s.tdsd_index WHERE object_id = %" PRId64
             "; DELETE FROM %s.tdsd_index_column WHERE object_id = %" PRId64
             "; DELETE FROM %s.tdsd_foreign WHERE parent = %" PRId64
             "; DELETE FROM %s.tdsd_identity WHERE name = ",
             db, id, db, id, db, id, db, id, db, id, db);
  write_text(&sql, sqlite);
  run_script(b, &sql);
  buf_free(&sql);
}

static void drop_index(Batch *b, bool if_exists) {
  const char *name = take_name(b);
  Table t;
  Buf sql = {0};
  need_word(b, "ON");
  if (table_load(b, &t)) {
    char full[600];
    snprintf(full, sizeof full, "%s.%s", t.sqlite, name);
    buf_printf(&sql, "DROP INDEX %s", if_exists ? "IF EXISTS " : "");
    quote(&sql, full);
    buf_printf(&sql, ";DELETE FROM %s.tdsd_index WHERE object_id = %" PRId64 " AND name = ", t.db,
               t.id);
    write_text(&sql, name);
    run_script(b, &sql);
  }
  buf_free(&sql);
  table_free(&t);
}

void statement_drop(Batch *b) {
  static const struct {
    const char *word, *kind, *type;
  } kinds[] = {{"TABLE", "TABLE", "U"},
               {"VIEW", "VIEW", "V"},
               {"SYNONYM", NULL, "SN"},
               {"PROCEDURE", NULL, "P"},
               {"PROC", NULL, "P"}};
  b->i++;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!take_word(b, kinds[i].word)) continue;
    bool if_exists = take_word(b, "IF");
    if (if_exists) need_word(b, "EXISTS");
    do drop_object(b, kinds[i].kind, kinds[i].type, if_exists);
    while (take_op(b, ","));
    return;
  }
  bool index = take_word(b, "INDEX"), database = !index && take_word(b, "DATABASE"),
       schema = !index && !database && take_word(b, "SCHEMA");
  bool if_exists = take_word(b, "IF");
  if (if_exists) need_word(b, "EXISTS");
  if (index) {
    drop_index(b, if_exists);
  } else if (database) {
    const char *name = take_name(b);
    if (b->run && !b->failed && !engine_drop(b->c->server, name) && !if_exists)
      fail(
          b, 3701, 11,
          "Cannot drop the database '%s', because it does not exist or you do not have permission.",
          name);
  } else if (schema) {
    Buf sql = {0};
    buf_text(&sql, "DELETE FROM tdsd_schema WHERE id > 4 AND name = ");
    write_text(&sql, take_name(b));
    if (b->run && !b->failed) run_script(b, &sql);
    buf_free(&sql);
  } else {
    syntax(b);
  }
}

/* ALTER TABLE t ADD column …, DROP COLUMN c; ALTER DATABASE … is taken with no effect. */
void statement_alter(Batch *b) {
  b->i++;
  if (take_word(b, "DATABASE")) {
    while (!b->failed && !at_op(b, ";") && peek(b)->kind != L_END) b->i++;
    if (b->run) done(b, 0, 0xC6, 0);
    return;
  }
  need_word(b, "TABLE");
  Table t;
  Buf sql = {0};
  table_load(b, &t);
  buf_text(&sql, "ALTER TABLE ");
  quote(&sql, t.sqlite);
  if (take_word(b, "ADD")) {
    t.columns.n = 0;
    parse_column_def(&t);
    buf_printf(&sql, " ADD COLUMN %s", buf_string(&t.columns));
    if (t.constraints.n > 0) syntax(b);
  } else {
    need_word(b, "DROP");
    need_word(b, "COLUMN");
    const char *name = take_name(b);
    buf_text(&sql, " DROP COLUMN ");
    quote(&sql, name);
    buf_printf(&t.catalog,
               "DELETE FROM %s.tdsd_column WHERE object_id = %" PRId64 " AND name = ", t.db, t.id);
    write_text(&t.catalog, name);
  }
  buf_printf(&sql, ";%s", buf_string(&t.catalog));
  if (b->run && !b->failed) run_script(b, &sql);
  buf_free(&sql);
  table_free(&t);
}
