/*
** ext/write.c: xUpdate: INSERT, UPDATE and DELETE of one row at the server.
**
**   argc = 1                                    DELETE   argv[0]: the row's rowid or edb_key
**   argv[0] NULL                                INSERT   argv[1]: a rowid, or NULL; argv[2…]: the columns
**   else                                        UPDATE   argv[0]: as it was; argv[1]: the rowid as it is to be
**
** One row is affected, or the statement is undone and an error names the row. A value that the row's column does not
** take is refused before anything is sent (assign.c). Columns that an UPDATE leaves alone do not travel. NULL for a
** column that has a default or an identity is left out of an INSERT, since SQLite cannot tell it from a column that
** was not named (nulls=send sends it); what the server computes is never sent.
**
** OR IGNORE and OR FAIL: SQLite goes on, or stops and keeps what there is, after the constraint error of a row that
** undid itself alone; a foreign key's is never passed over so, in SQLite itself either. OR REPLACE of an INSERT: as the
** dialect says.
*/
#include "extInt.h"

#include <string.h>

typedef struct Write {
  Table *table;
  const Definition *d;
  Session *session;
  Sql sql;
  int on_conflict;
  char *message;
} Write;

/* ---- Errors ----------------------------------------------------------------------------------------------- */

static int refuse(Write *w, char *message) {
  w->message = message;
  return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int refuse_value(Write *w, const Column *column, const char *why) {
  return refuse(w, sqlite3_mprintf("edb: %s: column %s (%s) does not take %s", w->table->name,
                                   column->name, column->type_name, why));
}

/* The row as it stands behind WHERE, for people. */
char *write_unchanged(const Table *table, const char *verb, const char *key,
                      sqlite3_int64 affected) {
  if (affected == 0) {
    return sqlite3_mprintf(
        "edb: %s: the row %s was not %s: it is gone, another has changed its key, or a "
        "trigger or rule of the server's left it alone",
        table->name, key, verb);
  }
  if (affected < 0) {
    return sqlite3_mprintf("edb: %s: the server does not tell whether the row %s was %s",
                           table->name, key, verb);
  }
  return sqlite3_mprintf("edb: %s: %lld rows were %s for the row %s: its key names more than one, "
                         "or a trigger of the server's counts",
                         table->name, affected, verb, key);
}

/* ---- Running ------------------------------------------------------------------------------------------------ */

static int write_command(Write *w, Command *command) {
  if (sqlite3_str_errcode(w->sql.text)) w->sql.rc = SQLITE_NOMEM;
  *command = (Command){
      .sql = sqlite3_str_value(w->sql.text),
      .parameters = w->sql.parameters,
      .n = (size_t)w->sql.count,
      .prepared = 1,
      .writes = 1,
      /* Rows that key= names may be several, which is found too late to undo by other means. */
      .careful = w->d->key != NULL,
      .on_conflict = w->on_conflict,
      .table = w->table};
  return w->sql.rc;
}

static int write_run(Write *w, Stream *stream, sqlite3_int64 *affected) {
  Command command;
  int rc = write_command(w, &command);
  return rc == SQLITE_OK ? session_run(w->session, &command, stream, affected, &w->message) : rc;
}

/* ---- What is sent --------------------------------------------------------------------------------------------- */

static int assign_column(Write *w, int i, sqlite3_value *value, Assigned *out) {
  const Column *column = &w->d->columns[i];
  const char *why;
  if (column->has_default == COLUMN_COMPUTED) {
    return refuse(w, sqlite3_mprintf("edb: %s: column %s is computed by the server: leave it out",
                                     w->table->name, column->name));
  }
  int rc = assign_value(&w->sql, w->d, column, value, &out->value, &why);
  if (rc == SQLITE_MISMATCH) return refuse_value(w, column, why);
  out->sent = rc == SQLITE_OK;
  return rc;
}

static int rowid_column(const Table *table) {
  for (int i = 0; i < table->definition.count; i++) {
    if (table->definition.columns[i].key && table->identity == IDENTITY_ROWID) return i;
  }
  return -1;
}

/* NULL is left out where the server has something to put there. */
static int assign_insert(Write *w, sqlite3_value **argv, Assigned *columns) {
  const Definition *d = w->d;
  int key = rowid_column(w->table);
  int rc = SQLITE_OK;
  for (int i = 0; i < d->count && rc == SQLITE_OK; i++) {
    sqlite3_value *value = argv[2 + i];
    int has_default = d->columns[i].has_default;
    if (i == key && sqlite3_value_type(value) == SQLITE_NULL) value = argv[1];
    columns[i].sent = 0;
    columns[i].value.kind = EDB_NULL;
    if (sqlite3_value_type(value) == SQLITE_NULL &&
        (has_default == COLUMN_COMPUTED ||
         (has_default && (!d->send_nulls || d->columns[i].key)))) {
      continue;
    }
    rc = assign_column(w, i, value, &columns[i]);
  }
  return rc;
}

static int assign_update(Write *w, sqlite3_value **argv, Assigned *columns) {
  const Definition *d = w->d;
  int key = rowid_column(w->table);
  int moved = key >= 0 && sqlite3_value_int64(argv[0]) != sqlite3_value_int64(argv[1]);
  int rc = SQLITE_OK;
  for (int i = 0; i < d->count && rc == SQLITE_OK; i++) {
    sqlite3_value *value = argv[2 + i];
    columns[i].sent = 0;
    if (i == key && moved && sqlite3_value_nochange(value)) {
      value = argv[1];
    } else if (sqlite3_value_nochange(value)) {
      continue;
    }
    rc = assign_column(w, i, value, &columns[i]);
  }
  return rc;
}

static void append_column(Write *w, int i) {
  append_name(w->sql.text, w->d->dialect, w->d->columns[i].remote);
}

static int append_relation(Write *w) {
  char *relation = deparse_relation(w->d);
  if (relation == NULL) return SQLITE_NOMEM;
  sqlite3_str_appendall(w->sql.text, relation);
  sqlite3_free(relation);
  return SQLITE_OK;
}

/* A type's from_json (drivers/driver.h). */
static void append_from_json(Write *w, int i, const char *placeholder) {
  for (const char *p = w->d->columns[i].type->from_json; *p; p++) {
    if (*p != '%') {
      sqlite3_str_appendchar(w->sql.text, 1, *p);
      continue;
    }
    switch (*++p) {
    case 'r':
      if (append_relation(w) != SQLITE_OK) w->sql.rc = SQLITE_NOMEM;
      break;
    case 'c':
      append_column(w, i);
      break;
    case 'l':
      sqlite3_str_appendf(w->sql.text, "%Q", w->d->columns[i].remote);
      break;
    default:
      sqlite3_str_appendall(w->sql.text, placeholder);
    }
  }
}

static void append_assigned(Write *w, int i, const edb_value *value) {
  char placeholder[EDB_PLACEHOLDER_TEXT];
  sql_parameter(&w->sql, value, placeholder);
  if (assign_is_json(w->d->columns[i].type, value)) {
    append_from_json(w, i, placeholder);
  } else {
    sqlite3_str_appendall(w->sql.text, placeholder);
  }
}

/* An INSERT that travels with others has no SQL of its own. */
static void sql_restart(Write *w) {
  if (w->sql.text) {
    sqlite3_str_reset(w->sql.text);
  } else {
    w->sql.text = sqlite3_str_new(NULL);
  }
  w->sql.count = 0;
}

/* ---- DELETE and UPDATE ------------------------------------------------------------------------------------------ */

static int append_where(Write *w, sqlite3_value *key) {
  sqlite3_str_appendall(w->sql.text, " WHERE ");
  int rc = key_where(&w->sql, w->table, key);
  if (rc != SQLITE_MISMATCH) return rc;
  return refuse(w, sqlite3_mprintf("edb: %s: %s is no key of a row", w->table->name,
                                   sqlite3_value_text(key)));
}

/* The statement that is written, which changes the row of the key. */
static int write_keyed(Write *w, const char *verb, sqlite3_value *key, int waits) {
  Command command;
  int taken = 0;
  sqlite3_int64 affected;
  const char *name = (const char *)sqlite3_value_text(key);
  int rc = name ? write_command(w, &command) : SQLITE_NOMEM;
  if (rc == SQLITE_OK) rc = changes_add(w->table, &command, verb, name, waits, &taken, &w->message);
  if (rc != SQLITE_OK || taken) return rc;
  rc = session_run(w->session, &command, NULL, &affected, &w->message);
  if (rc != SQLITE_OK || affected == 1) return rc;
  char *why = write_unchanged(w->table, verb, name, affected);
  if (affected != 0) session_undo(w->session, why ? why : "");
  return refuse(w, why);
}

static int write_delete(Write *w, sqlite3_value *key) {
  sql_restart(w);
  sqlite3_str_appendall(w->sql.text, "DELETE FROM ");
  int rc = append_relation(w);
  if (rc == SQLITE_OK) rc = append_where(w, key);
  return rc == SQLITE_OK ? write_keyed(w, "deleted", key, 1) : rc;
}

static int append_set(Write *w, const Assigned *columns) {
  const char *word = " SET ";
  for (int i = 0; i < w->d->count; i++) {
    if (!columns[i].sent) continue;
    sqlite3_str_appendall(w->sql.text, word);
    append_column(w, i);
    sqlite3_str_appendall(w->sql.text, " = ");
    append_assigned(w, i, &columns[i].value);
    word = ", ";
  }
  return word[0] == ',';
}

static int moves(const Write *w, const Assigned *columns) {
  for (int i = 0; i < w->d->count; i++) {
    if (w->d->columns[i].key && columns[i].sent) return 1;
  }
  return 0;
}

static int write_change(Write *w, sqlite3_value **argv, Assigned *columns) {
  sqlite3_value *hidden = w->table->identity == IDENTITY_KEY ? argv[2 + w->d->count] : NULL;
  if (hidden && !sqlite3_value_nochange(hidden) && sqlite3_value_type(hidden) != SQLITE_NULL &&
      strcmp((const char *)sqlite3_value_text(hidden), (const char *)sqlite3_value_text(argv[0]))) {
    return refuse(w,
                  sqlite3_mprintf("edb: %s: edb_key follows from the columns of the key: set those",
                                  w->table->name));
  }
  int rc = assign_update(w, argv, columns);
  if (rc != SQLITE_OK) return rc;
  sql_restart(w);
  sqlite3_str_appendall(w->sql.text, "UPDATE ");
  rc = append_relation(w);
  if (rc == SQLITE_OK && !append_set(w, columns)) return SQLITE_OK;
  if (rc == SQLITE_OK) rc = append_where(w, argv[0]);
  return rc == SQLITE_OK ? write_keyed(w, "updated", argv[0], !moves(w, columns)) : rc;
}

/* ---- INSERT ----------------------------------------------------------------------------------------------------- */

/* Whether the server makes a part of the key. */
static int key_is_generated(const Write *w, const Assigned *columns) {
  int keys = 0;
  for (int i = 0; i < w->d->count; i++) {
    if (!w->d->columns[i].key) continue;
    keys++;
    if (!columns[i].sent) return 1;
  }
  return keys == 0 && w->table->identity == IDENTITY_ROWID;
}

static void append_key_list(Write *w, const char *prefix) {
  const char *comma = "";
  for (int i = 0; i < w->d->count; i++) {
    if (!w->d->columns[i].key) continue;
    sqlite3_str_appendf(w->sql.text, "%s%s", comma, prefix);
    append_column(w, i);
    comma = ", ";
  }
  if (comma[0] == 0) sqlite3_str_appendall(w->sql.text, w->d->identity_sql);
}

/* ON CONFLICT (key) DO UPDATE: the row that is there gets every column but its key anew. */
static void append_upsert(Write *w, const Assigned *columns) {
  const edb_dialect *dialect = w->d->dialect;
  const char *word = " DO UPDATE SET ";
  sqlite3_str_appendall(w->sql.text, " ON CONFLICT (");
  append_key_list(w, "");
  sqlite3_str_appendall(w->sql.text, ")");
  for (int pass = 0; pass < 2 && word[0] == ' '; pass++) {
    for (int i = 0; i < w->d->count; i++) {
      if ((w->d->columns[i].key != 0) != pass || w->d->columns[i].has_default == COLUMN_COMPUTED)
        continue;
      if (pass && word[0] == ',')
        continue; /* there is nothing but the key: it is set to what it is */
      sqlite3_str_appendall(w->sql.text, word);
      append_column(w, i);
      sqlite3_str_appendall(w->sql.text, columns[i].sent ? " = EXCLUDED." : " = DEFAULT");
      if (columns[i].sent) append_name(w->sql.text, dialect, w->d->columns[i].remote);
      word = ", ";
    }
  }
}

static int append_insert(Write *w, const Assigned *columns, int replaces, int returns) {
  const edb_dialect *dialect = w->d->dialect;
  const char *word = " (";
  sqlite3_str_appendall(w->sql.text,
                        replaces && dialect->replace ? dialect->replace : "INSERT INTO");
  sqlite3_str_appendchar(w->sql.text, 1, ' ');
  int rc = append_relation(w);
  for (int i = 0; i < w->d->count; i++) {
    if (!columns[i].sent) continue;
    sqlite3_str_appendall(w->sql.text, word);
    append_column(w, i);
    word = ", ";
  }
  if (word[0] == ',') sqlite3_str_appendchar(w->sql.text, 1, ')');
  if (returns && dialect->output && !w->table->no_output) {
    sqlite3_str_appendall(w->sql.text, " OUTPUT ");
    append_key_list(w, dialect->output);
  }
  if (word[0] == ' ') {
    sqlite3_str_appendall(w->sql.text, dialect->insert_defaults);
  } else {
    word = " VALUES (";
    for (int i = 0; i < w->d->count; i++) {
      if (!columns[i].sent) continue;
      sqlite3_str_appendall(w->sql.text, word);
      append_assigned(w, i, &columns[i].value);
      word = ", ";
    }
    sqlite3_str_appendchar(w->sql.text, 1, ')');
  }
  if (replaces && dialect->upsert) append_upsert(w, columns);
  if (returns && dialect->returning) {
    sqlite3_str_appendall(w->sql.text, " RETURNING ");
    append_key_list(w, "");
  }
  if (returns && w->table->no_output) sqlite3_str_appendall(w->sql.text, dialect->output_else);
  return rc;
}

/* UPDATE by the key, where the server has nothing that replaces: *affected rows. */
static int replace_by_update(Write *w, Assigned *columns, sqlite3_int64 *affected) {
  const char *word = " SET ";
  sqlite3_str_appendall(w->sql.text, "UPDATE ");
  int rc = append_relation(w);
  *affected = 0;
  for (int i = 0; i < w->d->count; i++) {
    if (w->d->columns[i].key || w->d->columns[i].has_default == COLUMN_COMPUTED) continue;
    sqlite3_str_appendall(w->sql.text, word);
    append_column(w, i);
    sqlite3_str_appendall(w->sql.text, " = ");
    if (columns[i].sent) {
      append_assigned(w, i, &columns[i].value);
    } else {
      sqlite3_str_appendall(w->sql.text, "DEFAULT");
    }
    word = ", ";
  }
  if (word[0] == ' ') return rc; /* nothing but the key */
  word = " WHERE ";
  for (int i = 0; i < w->d->count; i++) {
    if (!w->d->columns[i].key) continue;
    sqlite3_str_appendall(w->sql.text, word);
    append_column(w, i);
    sqlite3_str_appendall(w->sql.text, " = ");
    append_assigned(w, i, &columns[i].value);
    word = " AND ";
  }
  if (rc == SQLITE_OK) rc = write_run(w, NULL, affected);
  return rc;
}

static int not_inserted(Write *w, sqlite3_int64 affected) {
  char *why =
      sqlite3_mprintf("edb: %s: %lld rows were inserted for one: a trigger or rule of the server's "
                      "interfered",
                      w->table->name, affected);
  if (affected != 0) session_undo(w->session, why ? why : "");
  return refuse(w, why);
}

/* The key that the server made, from the row that the statement answers, or from a question of its own. */
static int insert_returning(Write *w, Returned *returned) {
  const edb_dialect *dialect = w->d->dialect;
  int asks = !dialect->returning && !dialect->output;
  Stream stream = {0};
  sqlite3_int64 affected = 1;
  int rc = write_run(w, asks ? NULL : &stream, asks ? &affected : NULL);
  if (rc == SQLITE_OK && asks && affected != 1) rc = not_inserted(w, affected);
  if (rc == SQLITE_OK && asks) {
    Command command = {.sql = dialect->last_identity, .prepared = 1};
    rc = session_run(w->session, &command, &stream, NULL, &w->message);
  }
  if (rc == SQLITE_OK) rc = stream_columns(&stream, &w->message);
  if (rc == SQLITE_OK) rc = stream_next(&stream, &w->message);
  if (rc == SQLITE_DONE) rc = not_inserted(w, 0);
  /* Behind the INSERT, only an identity is told of. */
  int untold = rc == SQLITE_ROW && w->table->no_output &&
               (stream.row[0].kind == EDB_NULL || w->table->identity != IDENTITY_ROWID);
  if (untold) {
    returned_clear(returned);
  } else if (rc == SQLITE_ROW) {
    returned_take(returned, &stream);
  }
  if (rc == SQLITE_ROW) rc = SQLITE_OK;
  stream_end(&stream);
  return rc;
}

/* Whether the server takes no OUTPUT for this table, as its error says. */
static int refuses_output(const Write *w) {
  const Link *link = session_link(session_server(w->session));
  int number = w->d->dialect->output_refused;
  return number && !w->table->no_output && link && edb_detail(&link->connection)->vendor == number;
}

static int insert_and_tell(Write *w, const Assigned *columns, int replaces, Returned *returned) {
  int rc = append_insert(w, columns, replaces, 1);
  if (rc == SQLITE_OK) rc = insert_returning(w, returned);
  if (rc == SQLITE_OK || rc == SQLITE_NOMEM || !refuses_output(w)) return rc;
  w->table->no_output = 1;
  sqlite3_free(w->message);
  w->message = NULL;
  sql_restart(w);
  rc = append_insert(w, columns, replaces, 1);
  return rc == SQLITE_OK ? insert_returning(w, returned) : rc;
}

static int write_insert(Write *w, sqlite3_value **argv, Assigned *columns, sqlite3_int64 *rowid) {
  const edb_dialect *dialect = w->d->dialect;
  Returned *returned = &w->table->edb->returned;
  sqlite3_int64 affected = 0;
  int replaces = w->on_conflict == SQLITE_REPLACE && w->table->identity != IDENTITY_NONE;
  if (w->table->identity == IDENTITY_KEY &&
      sqlite3_value_type(argv[2 + w->d->count]) != SQLITE_NULL) {
    return refuse(
        w, sqlite3_mprintf("edb: %s: edb_key follows from the columns of the key: give those",
                           w->table->name));
  }
  int rc = assign_insert(w, argv, columns);
  if (rc != SQLITE_OK) return rc;
  int generated = key_is_generated(w, columns);
  int tells = dialect->returning || dialect->output || dialect->last_identity;
  if (generated) replaces = replaces && dialect->replace;
  returned_begin(returned, w->table);
  if (replaces && !dialect->replace && !dialect->upsert) {
    sql_restart(w);
    rc = replace_by_update(w, columns, &affected);
  }
  int taken = 0;
  if (rc == SQLITE_OK && affected == 0) {
    rc = batch_insert(w->table, columns, w->on_conflict, generated, &taken, &w->message);
  }
  if (rc == SQLITE_OK && taken && generated) {
    returned_clear(returned); /* nobody knows */
  } else if (rc == SQLITE_OK && !taken && affected == 0) {
    sql_restart(w);
    if (generated && tells) {
      rc = insert_and_tell(w, columns, replaces, returned);
    } else {
      rc = append_insert(w, columns, replaces, 0);
      if (rc == SQLITE_OK) rc = write_run(w, NULL, &affected);
      if (rc == SQLITE_OK && affected != 1 && !(replaces && affected == 2)) {
        rc = not_inserted(w, affected);
      }
    }
  }
  if (rc != SQLITE_OK) return rc;
  if (!generated) rc = returned_keep(returned, columns);
  *rowid = returned->rowid;
  return rc;
}

/* ---- xUpdate ------------------------------------------------------------------------------------------------------ */

/* A ctid names a row only as long as the row is not touched, and then perhaps another. */
static int has_key(const Table *table) {
  const Definition *d = &table->definition;
  for (int i = 0; i < d->count; i++) {
    if (d->columns[i].key) return 1;
  }
  return table->identity == IDENTITY_ROWID;
}

static int write_allowed(Write *w, int inserts) {
  const Table *table = w->table;
  if (w->d->query) {
    return refuse(w, sqlite3_mprintf("edb: %s is a query, and cannot be written to", table->name));
  }
  if (session_server(w->session)->readonly) {
    return refuse(w, sqlite3_mprintf("edb: %s: its server is read-only (readonly=1)", table->name));
  }
  if (w->d->readonly) {
    return refuse(w, sqlite3_mprintf("edb: %s is read-only (readonly=1)", table->name));
  }
  if (!inserts && !has_key(table)) {
    return refuse(
        w, sqlite3_mprintf("edb: %s has no key, so no row of it can be updated or deleted: name "
                           "its key with the option key=",
                           table->name));
  }
  return SQLITE_OK;
}

#define FEW_COLUMNS 16 /* for which a row needs no memory of its own */

static int write_row(Write *w, int argc, sqlite3_value **argv, sqlite3_int64 *rowid) {
  int inserts = argc > 1 && sqlite3_value_type(argv[0]) == SQLITE_NULL;
  int rc = write_allowed(w, inserts);
  if (rc != SQLITE_OK || argc == 1) return rc == SQLITE_OK ? write_delete(w, argv[0]) : rc;
  Assigned few[FEW_COLUMNS], *columns = few;
  if (w->d->count >= FEW_COLUMNS) {
    columns = sqlite3_malloc64((size_t)(w->d->count + 1) * sizeof *columns);
    if (columns == NULL) return SQLITE_NOMEM;
  }
  rc = inserts ? write_insert(w, argv, columns, rowid) : write_change(w, argv, columns);
  if (rc != SQLITE_OK) batch_forget(session_server(w->session));
  if (columns != few) sqlite3_free(columns);
  return rc;
}

int write_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid) {
  Table *table = (Table *)vtab;
  Server *server;
  Write w = {.table = table, .d = &table->definition, .session = table->session};
  int rc = table_server(table, &server, &w.message);
  /* A table that was created in this transaction gets no xBegin. */
  if (rc == SQLITE_OK && w.session == NULL) rc = session_enter(server, &w.session, &w.message);
  if (rc == SQLITE_OK && w.session == NULL) {
    rc = refuse(
        &w, sqlite3_mprintf("edb: %s: its server was defined while the statement ran: try again",
                            table->name));
  }
  if (rc == SQLITE_OK) {
    w.on_conflict = sqlite3_vtab_on_conflict(table->edb->db);
    sql_begin(&w.sql, table->definition.dialect);
    rc = write_row(&w, argc, argv, rowid);
    sql_clear(&w.sql);
  }
  /* After any SQLITE_CONSTRAINT SQLite would do as the statement says. */
  if (rc == SQLITE_CONSTRAINT_FOREIGNKEY &&
      (w.on_conflict == SQLITE_IGNORE || w.on_conflict == SQLITE_FAIL))
    rc = SQLITE_ERROR;
  return rc == SQLITE_OK ? rc : vtab_fail(vtab, rc, w.message);
}
