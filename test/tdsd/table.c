/*
** CREATE TABLE.  A table becomes one of SQLite's, with affinities and collations that compare its
** values as SQL Server does, and rows in the catalog.
*/
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *affinity(const Type *t) {
  switch (type_class(t)) {
  case C_INT:
    return "INTEGER";
  case C_REAL:
    return "REAL";
  case C_BYTES:
    return "BLOB";
  default:
    return t->kind == K_VARIANT ? "BLOB" : "TEXT";
  }
}

void write_text(Buf *out, const char *value) {
  if (value == NULL) {
    buf_text(out, "NULL");
  } else {
    quote_text(out, value, strlen(value));
  }
}

int64_t next_object(Session *s) {
  return catalog_int(
      s, "UPDATE main.tdsd_sequence SET value = value + 16 WHERE name = 'object' RETURNING value",
      NULL, 1);
}

/* Runs a script of DDL as one. */
void run_script(Batch *b, Buf *sql) {
  SqlError error = {0};
  buf_insert(sql, 0, "SAVEPOINT tdsd_ddl;");
  buf_text(sql, ";RELEASE tdsd_ddl");
  bool ok = engine_enter(b->s, true, &error) && engine_exec(b->s, buf_string(sql), &error);
  if (!ok) {
    fail(b, error.number, error.severity, "%s", error.message);
    sqlite3_exec(b->s->db, "ROLLBACK TO tdsd_ddl; RELEASE tdsd_ddl", NULL, NULL, NULL);
  } else {
    done(b, 0, 0xC6, 0);
  }
}

int schema_id(Batch *b, const char *schema) {
  int id = (int)catalog_int(b->s, "SELECT id FROM main.tdsd_schema WHERE name = ?", schema, -1);
  if (id < 0)
    fail(b, 2760, 16,
         "The specified schema name \"%s\" either does not exist or you do not have permission to "
         "use it.",
         schema);
  return id;
}

void add_object(Table *t, int64_t id, const char *name, const char *type, const char *sqlite,
                const char *definition, int64_t detail) {
  bool table = strcmp(type, "U") == 0 || strcmp(type, "V") == 0 || strcmp(type, "P") == 0 ||
               strcmp(type, "SN") == 0;
  buf_printf(&t->catalog,
             "INSERT INTO %s.tdsd_object(id, schema_id, name, type, parent, sqlite, definition, "
             "system, created, detail) VALUES (%" PRId64 ", %d, ",
             t->db, id, t->schema);
  write_text(&t->catalog, name);
  buf_printf(&t->catalog, ", '%s', %" PRId64 ", ", type, table ? 0 : t->id);
  write_text(&t->catalog, sqlite);
  buf_u8(&t->catalog, ',');
  write_text(&t->catalog, definition);
  buf_printf(&t->catalog,
             ", 0, strftime('%%Y-%%m-%%d %%H:%%M:%%S', 'now') || '.000', %" PRId64 ");", detail);
}

/* A constraint's own name, or one that is made up as SQL Server does. */
static void constraint_name(Table *t, const char *given, const char *prefix, const char *what,
                            char out[260]) {
  if (given != NULL) {
    snprintf(out, 260, "%s", given);
  } else {
    snprintf(out, 260, "%s__%.60s__%.60s%08X", prefix, t->name, what,
             (unsigned)(t->id * 31 + t->objects));
  }
  t->objects++;
}

/* The source text between two tokens. */
char *source(Batch *b, int from, int to) {
  if (to <= from) return xstrdup("");
  return xstrndup(b->text + b->t[from].from, b->t[to - 1].to - b->t[from].from);
}

/* Columns ----------------------------------------------------------------------------------------*/

static Column *new_column(Table *t, const char *name) {
  if (t->rel.n == t->room) {
    t->room = t->room ? 2 * t->room : 32;
    Column *more = batch_alloc(t->b, (size_t)t->room * sizeof *more);
    if (t->rel.n > 0) memcpy(more, t->rel.columns, (size_t)t->rel.n * sizeof *more);
    t->rel.columns = more;
  }
  Column *k = &t->rel.columns[t->rel.n++];
  memset(k, 0, sizeof *k);
  k->nullable = true;
  snprintf(k->name, sizeof k->name, "%s", name);
  return k;
}

static int column_id(Table *t, const char *name) {
  for (int i = 0; i < t->rel.n; i++) {
    if (strcasecmp(t->rel.columns[i].name, name) == 0) return i + 1;
  }
  if (t->b->run)
    fail(t->b, 1911, 16, "Column name '%s' does not exist in the target table or view.", name);
  return 0;
}

void describe_column(Table *t, const Column *k, int id, const char *definition,
                     const char *fallback, bool sparse) {
  char type[64];
  type_print(&k->type, type, sizeof type);
  bool collated = type_class(&k->type) == C_TEXT && k->type.kind != K_XML && k->type.kind != K_JSON;
  const Collation *c = k->type.collation ? k->type.collation : collation_default();
  buf_printf(&t->catalog, "INSERT INTO %s.tdsd_column VALUES (%" PRId64 ", %d, ", t->db, t->id, id);
  write_text(&t->catalog, k->name);
  buf_printf(&t->catalog, ", '%s', ", type);
  write_text(&t->catalog, collated ? c->name : NULL);
  buf_printf(&t->catalog, ", %d, %d, %d, %d, %d, ", k->nullable, k->identity, k->computed,
             k->hidden, sparse);
  write_text(&t->catalog, definition);
  buf_u8(&t->catalog, ',');
  write_text(&t->catalog, fallback);
  buf_printf(&t->catalog, ", %d, %d);", k->generated, k->column_set);
}

static void define_column(Table *t, const Column *k, const Buf *fallback, const Buf *generated) {
  buf_text(&t->columns, t->columns.n > 0 ? "," : "");
  quote(&t->columns, k->name);
  buf_printf(&t->columns, " %s", affinity(&k->type));
  const char *collation = collation_of(&k->type);
  if (strcmp(collation, "BINARY") != 0) buf_printf(&t->columns, " COLLATE %s", collation);
  if (generated != NULL) {
    buf_printf(&t->columns, " AS (%s)", (const char *)generated->p);
  } else if (!k->nullable) {
    buf_text(&t->columns, " NOT NULL");
  }
  if (fallback->n > 0) buf_printf(&t->columns, " DEFAULT (%s)", (const char *)fallback->p);
}

/* Indexes and keys -------------------------------------------------------------------------------*/

void parse_key(Table *t, Key *key) {
  need_op(t->b, "(");
  do {
    const char *name = take_name(t->b);
    if (key->n == 32 || t->b->failed) break;
    key->column[key->n] = column_id(t, name);
    key->descending[key->n] = !take_word(t->b, "ASC") && take_word(t->b, "DESC");
    key->n++;
  } while (take_op(t->b, ","));
  need_op(t->b, ")");
}

void write_key(Table *t, Buf *out, const Key *key) {
  for (int i = 0; i < key->n; i++) {
    buf_u8(out, i ? ',' : '(');
    quote(out, key->column[i] > 0 ? t->rel.columns[key->column[i] - 1].name : "");
    if (key->descending[i]) buf_text(out, " DESC");
  }
  buf_u8(out, ')');
}

void describe_index(Table *t, const char *name, const Key *key, bool unique, bool pk, bool uc,
                    bool clustered, const char *filter) {
  int id = clustered ? 1 : 2 + t->indexes++;
  buf_printf(&t->catalog, "INSERT INTO %s.tdsd_index VALUES (%" PRId64 ", %d, ", t->db, t->id, id);
  write_text(&t->catalog, name);
  buf_printf(&t->catalog, ", %d, %d, %d, %d, ", unique, pk, uc, clustered);
  write_text(&t->catalog, filter);
  buf_text(&t->catalog, ");");
  for (int i = 0; i < key->n; i++) {
    buf_printf(&t->catalog,
               "INSERT INTO %s.tdsd_index_column VALUES (%" PRId64 ", %d, %d, %d, %d, 0);", t->db,
               t->id, id, i + 1, key->column[i], key->descending[i]);
  }
}

/* PRIMARY KEY or UNIQUE over a key that was read. */
static void add_key(Table *t, const char *given, bool pk, int clustered, const Key *key) {
  char name[260];
  const char *first =
      key->n > 0 && key->column[0] > 0 ? t->rel.columns[key->column[0] - 1].name : "";
  constraint_name(t, given, pk ? "PK" : "UQ", first, name);
  for (int i = 0; pk && i < key->n; i++) {
    if (key->column[i] == 0) continue;
    t->rel.columns[key->column[i] - 1].nullable = false;
  }
  buf_text(&t->constraints, ",CONSTRAINT ");
  quote(&t->constraints, name);
  buf_text(&t->constraints, pk ? " PRIMARY KEY " : " UNIQUE ");
  write_key(t, &t->constraints, key);
  bool is_clustered = clustered > 0 || (clustered == 0 && pk && !t->clustered);
  t->clustered |= is_clustered;
  describe_index(t, name, key, true, pk, !pk, is_clustered, NULL);
  if (t->b->run) add_object(t, next_object(t->b->s), name, pk ? "PK" : "UQ", NULL, NULL, 0);
}

int take_clustered(Batch *b) {
  return take_word(b, "CLUSTERED") ? 1 : take_word(b, "NONCLUSTERED") ? -1 : 0;
}

void skip_index_options(Batch *b) {
  if (at_word(b, "WITH") && peek_at(b, 1)->kind == L_OP) {
    while (!b->failed && !take_op(b, ")") && peek(b)->kind != L_END) b->i++;
  }
  if (take_word(b, "ON")) take_name(b);
}

static void add_check(Table *t, const char *given, const char *what) {
  Batch *b = t->b;
  Scope scope = {.rels = &t->rel}, *outer = b->scope;
  char name[260];
  constraint_name(t, given, "CK", what, name);
  need_op(b, "(");
  int from = b->i;
  buf_text(&t->constraints, ",CONSTRAINT ");
  quote(&t->constraints, name);
  buf_text(&t->constraints, " CHECK (");
  b->scope = &scope;
  parse_condition(b, &t->constraints);
  b->scope = outer;
  buf_u8(&t->constraints, ')');
  char *definition = source(b, from, b->i);
  need_op(b, ")");
  if (b->run && !b->failed) add_object(t, next_object(b->s), name, "C", NULL, definition, 0);
  free(definition);
}

static void add_foreign(Table *t, const char *given, const Key *key) {
  Batch *b = t->b;
  char name[260], schema[130], table[130], referenced[300];
  constraint_name(t, given, "FK", "", name);
  take_table(b, schema, table);
  catalog_name(schema, table, referenced);
  buf_text(&t->constraints, ",CONSTRAINT ");
  quote(&t->constraints, name);
  buf_text(&t->constraints, " FOREIGN KEY ");
  write_key(t, &t->constraints, key);
  buf_text(&t->constraints, " REFERENCES ");
  quote(&t->constraints, referenced);
  int64_t other =
      b->run ? catalog_int(b->s, "SELECT id FROM main.tdsd_object WHERE sqlite = ? AND type = 'U'",
                           referenced, 0)
             : 0;
  if (other == 0 && strcasecmp(referenced, t->sqlite) == 0) other = t->id;
  int64_t id = b->run ? next_object(b->s) : 0;
  if (take_op(b, "(")) {
    int n = 0;
    buf_u8(&t->constraints, '(');
    do {
      const char *column = take_name(b);
      buf_text(&t->constraints, n ? "," : "");
      quote(&t->constraints, column);
      if (n >= key->n) continue;
      buf_printf(&t->catalog,
                 "INSERT INTO %s.tdsd_foreign SELECT %" PRId64 ", %d, %" PRId64 ", %d, %" PRId64
                 ", id FROM %s.tdsd_column WHERE object_id = %" PRId64 " AND name = ",
                 t->db, id, n + 1, t->id, key->column[n], other, t->db, other);
      write_text(&t->catalog, column);
      buf_u8(&t->catalog, ';');
      n++;
    } while (take_op(b, ","));
    need_op(b, ")");
    buf_u8(&t->constraints, ')');
  }
  while (take_word(b, "ON")) {
    bool on_delete = take_word(b, "DELETE");
    if (!on_delete) need_word(b, "UPDATE");
    const char *action = take_word(b, "CASCADE") ? "CASCADE" : NULL;
    if (action == NULL && take_word(b, "SET"))
      action = take_word(b, "NULL") ? "SET NULL" : "SET DEFAULT";
    if (action == NULL) {
      need_word(b, "NO");
      need_word(b, "ACTION");
      action = "NO ACTION";
    }
    buf_printf(&t->constraints, " ON %s %s", on_delete ? "DELETE" : "UPDATE", action);
  }
  if (b->run && !b->failed) add_object(t, id, name, "F", NULL, NULL, other);
}

/* What may stand behind a column's type, in any order. */
static void parse_column_options(Table *t, Column *k, int id, Buf *fallback, char **fallback_source,
                                 bool *sparse) {
  Batch *b = t->b;
  const char *given = NULL;
  Key key = {.column = {id}, .n = 1};
  for (;;) {
    if (take_word(b, "CONSTRAINT")) {
      given = take_name(b);
      continue;
    }
    if (take_word(b, "NOT")) {
      if (take_word(b, "FOR")) {
        need_word(b, "REPLICATION");
      } else {
        need_word(b, "NULL");
        k->nullable = false;
      }
    } else if (take_word(b, "NULL")) {
      k->nullable = true;
    } else if (take_word(b, "IDENTITY")) {
      long seed = 1, step = 1;
      if (take_op(b, "(")) {
        bool minus = take_op(b, "-");
        seed = strtol(peek(b)->text, NULL, 10) * (minus ? -1 : 1);
        b->i++;
        need_op(b, ",");
        minus = take_op(b, "-");
        step = strtol(peek(b)->text, NULL, 10) * (minus ? -1 : 1);
        b->i++;
        need_op(b, ")");
      }
      k->identity = true;
      k->nullable = false;
      buf_printf(&t->catalog, "INSERT OR REPLACE INTO %s.tdsd_identity VALUES (", t->db);
      write_text(&t->catalog, t->sqlite);
      buf_printf(&t->catalog, ", %ld, %ld, %ld);", seed, step, seed - step);
    } else if (take_word(b, "DEFAULT")) {
      int from = b->i;
      Expr e;
      Scope *outer = b->scope;
      b->scope = NULL;
      parse_value(b, fallback, &e);
      b->scope = outer;
      if (b->failed) return;
      wrap_cast(fallback, 0, &e.type, &k->type, 0, false);
      free(*fallback_source);
      *fallback_source = source(b, from, b->i);
      char name[260];
      constraint_name(t, given, "DF", k->name, name);
      if (b->run) add_object(t, next_object(b->s), name, "D", NULL, *fallback_source, id);
    } else if (take_word(b, "PRIMARY")) {
      need_word(b, "KEY");
      add_key(t, given, true, take_clustered(b), &key);
      skip_index_options(b);
    } else if (take_word(b, "UNIQUE")) {
      add_key(t, given, false, take_clustered(b), &key);
      skip_index_options(b);
    } else if (take_word(b, "CHECK")) {
      add_check(t, given, k->name);
    } else if (at_word(b, "REFERENCES") || at_word(b, "FOREIGN")) {
      if (take_word(b, "FOREIGN")) need_word(b, "KEY");
      need_word(b, "REFERENCES");
      add_foreign(t, given, &key);
    } else if (take_word(b, "SPARSE")) {
      *sparse = true;
    } else if (take_word(b, "HIDDEN")) {
      k->hidden = true;
    } else if (take_word(b, "COLUMN_SET")) {
      need_word(b, "FOR");
      need_word(b, "ALL_SPARSE_COLUMNS");
      k->column_set = true;
    } else if (take_word(b, "GENERATED")) {
      need_word(b, "ALWAYS");
      need_word(b, "AS");
      need_word(b, "ROW");
      k->generated = take_word(b, "START") ? 1 : 2;
      if (k->generated == 2) need_word(b, "END");
      k->nullable = false;
      /* Its times are not kept: a row of now, without an end. */
      buf_text(fallback, k->generated == 1 ? "'2026-01-01 00:00:00.0000000'"
                                           : "'9999-12-31 23:59:59.9999999'");
    } else if (take_word(b, "COLLATE")) {
      k->type.collation = collation_find(take_name(b));
    } else if (!take_word(b, "ROWGUIDCOL") && !take_word(b, "PERSISTED")) {
      return;
    }
    given = NULL;
    if (b->failed) return;
  }
}

void parse_column_def(Table *t) {
  Batch *b = t->b;
  Column *k = new_column(t, take_name(b));
  int id = t->rel.n;
  Buf fallback = {0}, generated = {0};
  char *definition = NULL, *fallback_source = NULL;
  bool sparse = false, computed = take_word(b, "AS");
  if (computed) {
    Scope scope = {.rels = &t->rel}, *outer = b->scope;
    Expr e;
    int from = b->i;
    b->scope = &scope;
    parse_value(b, &generated, &e);
    b->scope = outer;
    definition = source(b, from, b->i);
    k->type = e.type;
    k->computed = true;
  } else if (at_word(b, "timestamp") || at_word(b, "rowversion")) {
    take_type(b, &k->type);
    k->nullable = false;
  } else {
    take_type(b, &k->type);
  }
  if (!b->failed) parse_column_options(t, k, id, &fallback, &fallback_source, &sparse);
  k = &t->rel.columns[id - 1];
  buf_string(&fallback);
  buf_string(&generated);
  if (!b->failed) define_column(t, k, &fallback, computed ? &generated : NULL);
  if (!b->failed) describe_column(t, k, id, definition, fallback_source, sparse);
  free(definition);
  free(fallback_source);
  buf_free(&fallback);
  buf_free(&generated);
}

static bool parse_table_constraint(Table *t) {
  Batch *b = t->b;
  const char *given = take_word(b, "CONSTRAINT") ? take_name(b) : NULL;
  Key key = {.n = 0};
  if (take_word(b, "PRIMARY") || at_word(b, "UNIQUE")) {
    bool pk = !take_word(b, "UNIQUE");
    if (pk) need_word(b, "KEY");
    int clustered = take_clustered(b);
    parse_key(t, &key);
    add_key(t, given, pk, clustered, &key);
    for (int i = 0; pk && i < key.n; i++) { /* the columns were described as they stood before */
      buf_printf(&t->catalog,
                 "UPDATE %s.tdsd_column SET nullable = 0 WHERE object_id = %" PRId64
                 " AND id = %d;",
                 t->db, t->id, key.column[i]);
    }
    skip_index_options(b);
  } else if (take_word(b, "CHECK")) {
    add_check(t, given, "");
  } else if (take_word(b, "FOREIGN")) {
    need_word(b, "KEY");
    parse_key(t, &key);
    need_word(b, "REFERENCES");
    add_foreign(t, given, &key);
  } else if (given != NULL) {
    syntax(b);
  } else if (at_word(b, "PERIOD") && is_word(peek_at(b, 1), "FOR")) {
    b->i += 3; /* SYSTEM_TIME */
    parse_key(t, &key);
  } else {
    return false;
  }
  return true;
}

void table_free(Table *t) {
  buf_free(&t->columns);
  buf_free(&t->constraints);
  buf_free(&t->catalog);
}

void table_begin(Batch *b, Table *t, const char *schema, const char *name) {
  *t = (Table){.b = b, .db = name[0] == '#' ? "temp" : "main", .rel = {.bare = true}};
  catalog_name(schema, name, t->sqlite);
  snprintf(t->name, sizeof t->name, "%s", name);
  if (!b->run) return;
  Column *columns;
  if (catalog_columns(b->s, t->sqlite, &columns) >= 0)
    fail(b, 2714, 16, "There is already an object named '%s' in the database.", name);
  free(columns);
  t->schema = b->failed ? 0 : schema_id(b, schema);
  if (!b->failed) t->id = next_object(b->s);
}

static void table_end(Batch *b, Table *t) {
  if (b->run && !b->failed) {
    Buf sql = {0};
    buf_printf(&sql, "CREATE TABLE %s.", t->db);
    quote(&sql, t->sqlite);
    buf_printf(&sql, "(%s", buf_string(&t->columns));
    buf_printf(&sql, "%s);", buf_string(&t->constraints));
    buf_string(&t->catalog);
    add_object(t, t->id, t->name, "U", t->sqlite, NULL, 0);
    buf_text(&sql, buf_string(&t->catalog));
    run_script(b, &sql);
    buf_free(&sql);
  }
  table_free(t);
}

void create_table(Batch *b) {
  char schema[130], name[130];
  Table t;
  take_table(b, schema, name);
  table_begin(b, &t, schema, name);
  need_op(b, "(");
  do {
    if (at_op(b, ")")) break;
    if (!parse_table_constraint(&t) && !b->failed) parse_column_def(&t);
  } while (take_op(b, ","));
  need_op(b, ")");
  skip_index_options(b);
  table_end(b, &t);
}

/* SELECT … INTO t: the columns of the query, with its identity. */
void create_into(Batch *b, const Query *q) {
  Table t;
  table_begin(b, &t, q->into_schema, q->into_name);
  for (int i = 0; i < q->n && !b->failed; i++) {
    Column *k = new_column(&t, q->columns[i].name);
    Buf none = {0};
    if (k->name[0] == 0) fail(b, 1038, 15, "An object or column name is missing or empty.");
    k->type = q->columns[i].type.kind == K_NONE ? type_make(K_INT, 0, 0, 0) : q->columns[i].type;
    k->nullable = q->columns[i].nullable;
    define_column(&t, k, &none, NULL);
    describe_column(&t, k, i + 1, NULL, NULL, false);
  }
  bool nocount = b->s->nocount, in_proc = b->in_proc;
  b->s->nocount = b->in_proc = true; /* no DONE of its own */
  table_end(b, &t);
  b->s->nocount = nocount;
  b->in_proc = in_proc;
}
