/*
** ext/explain.c: edb_explain, what a statement would ask of servers, and why it would not ask more.
**
**   SELECT "table", sql, predicates FROM edb_explain('SELECT …');
**   SELECT server_plan FROM edb_explain('SELECT …', 1);            the server's own EXPLAIN, too
**
** SQLite calls xBestIndex with many combinations of constraints and does not tell which plan it took. So the statement
** is prepared as `EXPLAIN …` while each plan made for it is noted down and has its note's number as idxStr; the
** program's VFilter instructions hold the idxStr of those that were taken. Nothing of the statement runs. A server is
** asked only for its own plan: a value that is not known before the statement runs (the other side of a join, an
** unbound parameter, a list) is then taken from some row of the table.
*/
#include "extInt.h"

#include <string.h>

#define NOTE_PREFIX "edb_explain "

enum {
  COLUMN_ID,
  COLUMN_TABLE,
  COLUMN_SERVER,
  COLUMN_SQL,
  COLUMN_PREDICATES,
  COLUMN_ROWS,
  COLUMN_COST,
  COLUMN_SERVER_PLAN,
  COLUMN_STATEMENT /* and behind it the option */
};

/* What one call of xBestIndex answered. */
typedef struct Note {
  Table *table;
  const Plan *plan;
  char *predicates; /* JSON */
  sqlite3_value **values;
  sqlite3_stmt **holders; /* whose results they are */
  int count;              /* of values: the arguments of xFilter; NULL: not known */
  sqlite3_int64 rows;
  double cost;
} Note;

struct Explaining {
  Note *notes;
  int count, size;
};

/* A row of the answer. */
typedef struct Access {
  char *table, *server, *sql, *predicates, *server_plan;
  sqlite3_int64 rows;
  double cost;
} Access;

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  Access *accesses;
  int count, size, at;
} Cursor;

/* Room for one more element, zeroed; NULL when out of memory. */
static void *element(void **array, int *count, int *size, size_t bytes) {
  if (*count == *size) {
    int larger = *size ? *size * 2 : 8;
    void *grown = sqlite3_realloc64(*array, (sqlite3_uint64)larger * bytes);
    if (grown == NULL) return NULL;
    *array = grown;
    *size = larger;
  }
  char *added = (char *)*array + (size_t)(*count)++ * bytes;
  return memset(added, 0, bytes);
}

/* ---- Notes ---------------------------------------------------------------------------------------- */

static void note_clear(Note *note) {
  for (int i = 0; i < note->count; i++) sqlite3_finalize(note->holders[i]);
  sqlite3_free(note->holders);
  sqlite3_free(note->values);
  sqlite3_free(note->predicates);
}

static void explaining_clear(Explaining *explaining) {
  for (int i = 0; i < explaining->count; i++) note_clear(&explaining->notes[i]);
  sqlite3_free(explaining->notes);
}

/* "name":"text", after a comma unless it is the first. */
static void json_member(sqlite3_str *out, int first, const char *name, const char *text) {
  static const edb_type type = {.name = "text", .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT};
  edb_value value = {.kind = EDB_TEXT};
  value.as.text.p = text;
  value.as.text.n = strlen(text);
  sqlite3_str_appendf(out, "%s\"%s\":", first ? "" : ",", name);
  value_json(out, &value, &type);
}

static void json_predicate(sqlite3_str *out, const char *predicate, ShipClass class,
                           const char *reason) {
  static const char *const words[] = {
      [SHIP_UNSAFE] = "unsafe", [SHIP_SUPERSET] = "superset", [SHIP_EXACT] = "exact"};
  sqlite3_str_appendall(out, sqlite3_str_length(out) > 1 ? ",{" : "{");
  json_member(out, 1, "predicate", predicate);
  json_member(out, 0, "class", words[class]);
  if (reason) json_member(out, 0, "reason", reason);
  sqlite3_str_appendchar(out, 1, '}');
}

static const char *operator_text(int op) {
  static const struct {
    int op;
    const char *text;
  } operators[] = {{SQLITE_INDEX_CONSTRAINT_EQ, "= ?"},
                   {SQLITE_INDEX_CONSTRAINT_LT, "< ?"},
                   {SQLITE_INDEX_CONSTRAINT_LE, "<= ?"},
                   {SQLITE_INDEX_CONSTRAINT_GT, "> ?"},
                   {SQLITE_INDEX_CONSTRAINT_GE, ">= ?"},
                   {SQLITE_INDEX_CONSTRAINT_NE, "<> ?"},
                   {SQLITE_INDEX_CONSTRAINT_IS, "IS ?"},
                   {SQLITE_INDEX_CONSTRAINT_ISNOT, "IS NOT ?"},
                   {SQLITE_INDEX_CONSTRAINT_ISNULL, "IS NULL"},
                   {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, "IS NOT NULL"},
                   {SQLITE_INDEX_CONSTRAINT_LIKE, "LIKE ?"},
                   {SQLITE_INDEX_CONSTRAINT_GLOB, "GLOB ?"},
                   {SQLITE_INDEX_CONSTRAINT_REGEXP, "REGEXP ?"},
                   {SQLITE_INDEX_CONSTRAINT_MATCH, "MATCH ?"},
                   {SHIP_STARTS, "edb_starts ?"},
                   {SHIP_ENDS, "edb_ends ?"},
                   {SHIP_CONTAINS, "edb_contains ?"},
                   {SHIP_LIKE, "edb_like ?"}};
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
    if (operators[i].op == op) return operators[i].text;
  }
  return "?";
}

/* The column as SQLite names it. */
static const char *constraint_column(const Table *table, int column) {
  return column < 0                         ? "rowid"
         : column < table->definition.count ? table->definition.columns[column].name
                                            : "edb_key";
}

static void note_constraint(sqlite3_str *out, const Table *table, sqlite3_index_info *info, int i) {
  const Definition *d = &table->definition;
  const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
  int column = plan_column(table, constraint->iColumn);
  const char *reason = NULL;
  ShipClass class = SHIP_UNSAFE;
  if (!constraint->usable) {
    reason = "what it is compared with is not known yet when this table is read";
  } else if (!d->pushdown) {
    reason = "pushdown=0";
  } else if (column == PLAN_NO_COLUMN) {
    reason = "the server has no such column";
  } else {
    class = plan_class(table, info, i, column, &reason);
  }
  char *text = sqlite3_mprintf("%s %s", constraint_column(table, constraint->iColumn),
                               class != SHIP_UNSAFE && sqlite3_vtab_in(info, i, -1)
                                   ? "IN (…)"
                                   : operator_text(constraint->op));
  if (text) json_predicate(out, text, class, reason);
  sqlite3_free(text);
}

/* A LIMIT of SQLite's reaches the server as one word, with the OFFSET in it. */
static void note_limit(sqlite3_str *out, sqlite3_index_info *info, const Plan *plan) {
  for (int i = 0; i < info->nConstraint; i++) {
    if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_LIMIT) continue;
    if (plan->limit >= 0) {
      json_predicate(out, "LIMIT ?", SHIP_EXACT, "sent while every predicate turns out exact");
    } else {
      json_predicate(out, "LIMIT ?", SHIP_UNSAFE, "SQLite still drops or orders rows itself");
    }
  }
}

/* What SQLite would have the server do with the columns, by sqlite3_vtab_distinct. */
static const struct {
  const char *word, *taken, *left;
} orders[] = {
    {"ORDER BY", "the server's order is SQLite's",
     "the server's order is not proven to be SQLite's"},
    {"GROUP BY", "the server's order is SQLite's",
     "the server's order is not proven to be SQLite's"},
    {"DISTINCT", "the server tells rows apart as SQLite does",
     "the rows are told apart here: by their key, or as no server is proven to"},
    {"DISTINCT … ORDER BY", "the server tells rows apart and sorts them as SQLite does",
     "the server's order is not proven to be SQLite's"},
};

static void note_order(sqlite3_str *out, const Table *table, sqlite3_index_info *info) {
  int kind = sqlite3_vtab_distinct(info) & 3;
  if (info->nOrderBy == 0) return;
  sqlite3_str *text = sqlite3_str_new(NULL);
  sqlite3_str_appendf(text, "%s ", orders[kind].word);
  for (int i = 0; i < info->nOrderBy; i++) {
    sqlite3_str_appendf(text, "%s%s%s", i ? ", " : "",
                        constraint_column(table, info->aOrderBy[i].iColumn),
                        info->aOrderBy[i].desc ? " DESC" : "");
  }
  char *predicate = sqlite3_str_finish(text);
  if (predicate && info->orderByConsumed) {
    json_predicate(out, predicate, SHIP_EXACT, orders[kind].taken);
  } else if (predicate) {
    json_predicate(out, predicate, SHIP_UNSAFE, orders[kind].left);
  }
  sqlite3_free(predicate);
}

/* Keeps a copy of the value. SQLite (3.53) cannot tell the numeric type of one that belongs to no statement: so it is made
** the result of one. */
static int note_value(const Note *note, int argument, sqlite3_value *value) {
  sqlite3_stmt **holder = &note->holders[argument];
  int rc = sqlite3_prepare_v2(note->table->edb->db, "SELECT ?1", -1, holder, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_bind_value(*holder, 1, value);
  if (rc == SQLITE_OK) rc = sqlite3_step(*holder);
  if (rc != SQLITE_ROW) return SQLITE_NOMEM;
  note->values[argument] = sqlite3_column_value(*holder, 0);
  return SQLITE_OK;
}

/* The values that are known before the statement runs. A list's are not, nor those of LIMIT, which may be any. */
static int note_values(Note *note, sqlite3_index_info *info) {
  int most = 0;
  for (int i = 0; i < info->nConstraint; i++) {
    if (info->aConstraintUsage[i].argvIndex > most) most = info->aConstraintUsage[i].argvIndex;
  }
  note->values = sqlite3_malloc64(sizeof *note->values * (size_t)(most + 1));
  note->holders = sqlite3_malloc64(sizeof *note->holders * (size_t)(most + 1));
  if (note->values == NULL || note->holders == NULL) return SQLITE_NOMEM;
  memset(note->values, 0, sizeof *note->values * (size_t)(most + 1));
  memset(note->holders, 0, sizeof *note->holders * (size_t)(most + 1));
  note->count = most;
  for (int i = 0; i < info->nConstraint; i++) {
    int argument = info->aConstraintUsage[i].argvIndex - 1;
    sqlite3_value *value = NULL;
    if (argument < 0 || sqlite3_vtab_in(info, i, -1)) continue;
    if (sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || value == NULL) continue;
    int rc = note_value(note, argument, value);
    if (rc != SQLITE_OK) return rc;
  }
  return SQLITE_OK;
}

int explain_note(Table *table, sqlite3_index_info *info, const Plan *plan) {
  Explaining *explaining = table->edb->explaining;
  Note *note =
      element((void **)&explaining->notes, &explaining->count, &explaining->size, sizeof *note);
  if (note == NULL) return SQLITE_NOMEM;
  sqlite3_str *out = sqlite3_str_new(NULL);
  note->table = table;
  note->plan = plan;
  note->rows = info->estimatedRows;
  note->cost = info->estimatedCost;
  sqlite3_str_appendchar(out, 1, '[');
  for (int i = 0; i < info->nConstraint; i++) {
    int op = info->aConstraint[i].op;
    if (op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET) continue;
    note_constraint(out, table, info, i);
  }
  note_order(out, table, info);
  note_limit(out, info, plan);
  sqlite3_str_appendchar(out, 1, ']');
  note->predicates = sqlite3_str_finish(out);
  info->idxStr = sqlite3_mprintf(NOTE_PREFIX "%d", explaining->count - 1);
  info->needToFreeIdxStr = 1;
  return note->predicates && info->idxStr ? note_values(note, info) : SQLITE_NOMEM;
}

/* ---- The server's own plan ------------------------------------------------------------------------ */

/* A value of some row of the table for a term that has none, unless there is no row, or it cannot be had. */
static void note_some_value(const Note *note, const Term *term) {
  const Table *table = note->table;
  sqlite3_stmt *rows = NULL;
  const char *column = constraint_column(table, term->column);
  char *sql = sqlite3_mprintf("SELECT \"%w\" FROM \"%w\".\"%w\" WHERE \"%w\" IS NOT NULL LIMIT 1",
                              column, table->schema, table->name, column);
  if (sql && sqlite3_prepare_v2(table->edb->db, sql, -1, &rows, NULL) == SQLITE_OK &&
      sqlite3_step(rows) == SQLITE_ROW) {
    note_value(note, term->argument, sqlite3_column_value(rows, 0));
  }
  sqlite3_finalize(rows);
  sqlite3_free(sql);
}

/* Each of the result's rows as a line: its only column, or name=value of all that are not NULL. */
static int append_rows(sqlite3_str *out, Reader *reader, char **message) {
  int rc;
  while ((rc = reader_next(reader, message)) == SQLITE_ROW) {
    if (sqlite3_str_length(out) > 0) sqlite3_str_appendchar(out, 1, '\n');
    const char *blank = "";
    for (size_t i = 0; i < reader->stream.count; i++) {
      const edb_value *value = &reader->stream.row[i];
      if (value->kind == EDB_NULL) continue;
      if (reader->stream.count > 1)
        sqlite3_str_appendf(out, "%s%s=", blank, reader->stream.columns[i].name);
      if (value->kind == EDB_TEXT) {
        sqlite3_str_append(out, value->as.text.p, (int)value->as.text.n);
      } else {
        value_literal(out, value);
      }
      blank = " ";
    }
  }
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int ask_server(const Table *table, const Sql *sql, char **out, char **message) {
  Server *server = NULL;
  Reader reader;
  sqlite3_str *explain = sqlite3_str_new(NULL);
  append_template(explain, sql->dialect->explain, sqlite3_str_value(sql->text));
  char *text = sqlite3_str_finish(explain);
  int rc = text ? table_server(table, &server, message) : SQLITE_NOMEM;
  if (rc == SQLITE_OK) {
    rc = reader_open(&reader, server, text, sql->parameters, (size_t)sql->count, REPEAT_ONCE,
                     message);
    sqlite3_str *lines = sqlite3_str_new(NULL);
    if (rc == SQLITE_OK) rc = append_rows(lines, &reader, message);
    reader_end(&reader);
    *out = sqlite3_str_finish(lines);
    if (rc == SQLITE_OK && *out == NULL) *out = sqlite3_mprintf("");
  }
  sqlite3_free(text);
  return rc;
}

/* The plan as a statement of its own, where each term has one value. */
static int explain_there(const Note *note, char **out, char **message) {
  const Definition *d = &note->table->definition;
  Plan plan = *note->plan;
  Sql sql;
  int rc = SQLITE_OK;
  if (d->dialect->explain == NULL) return SQLITE_OK;
  plan.terms = sqlite3_malloc64(sizeof(Term) * (size_t)(plan.count + 1));
  if (plan.terms == NULL) return SQLITE_NOMEM;
  for (int i = 0; i < plan.count; i++) {
    Term *term = &plan.terms[i];
    *term = note->plan->terms[i];
    term->in = 0;
    if (term->argument >= 0 && note->values[term->argument] == NULL) {
      note_some_value(note, term);
    }
  }
  sql_begin(&sql, d->dialect);
  plan.limit = plan.offset = -1;
  Shipped shipped = deparse_select(&sql, d, &plan, note->values);
  if (shipped == SHIP_FAIL) rc = SQLITE_NOMEM;
  if (shipped == SHIP_SENT) rc = ask_server(note->table, &sql, out, message);
  sql_clear(&sql);
  sqlite3_free(plan.terms);
  return rc;
}

/* ---- The statement ---------------------------------------------------------------------------------- */

/* The SQL that would be sent, as it is with the values that are known. NULL in *out: nothing would be. */
static int access_sql(const Note *note, char **out) {
  Plan plan = *note->plan;
  Sql sql;
  sql_begin(&sql, note->table->definition.dialect);
  int known = (plan.limit < 0 || note->values[plan.limit]) &&
              (plan.offset < 0 || note->values[plan.offset]);
  Shipped shipped =
      deparse_select(&sql, &note->table->definition, &plan, known ? note->values : NULL);
  if (shipped == SHIP_SENT) *out = sqlite3_mprintf("%s", sqlite3_str_value(sql.text));
  int rc =
      shipped == SHIP_FAIL || (shipped == SHIP_SENT && *out == NULL) ? SQLITE_NOMEM : SQLITE_OK;
  sql_clear(&sql);
  return rc;
}

static int access_add(Cursor *cursor, const Note *note, int there, char **message) {
  Access *access =
      element((void **)&cursor->accesses, &cursor->count, &cursor->size, sizeof *access);
  if (access == NULL) return SQLITE_NOMEM;
  access->table = sqlite3_mprintf("%s", note->table->name);
  Server *server = NULL;
  int rc = table_server(note->table, &server, message);
  if (rc != SQLITE_OK) return rc;
  access->server = sqlite3_mprintf("%s", server->name);
  access->predicates = sqlite3_mprintf("%s", note->predicates);
  access->rows = note->rows;
  access->cost = note->cost;
  if (access->table == NULL || access->server == NULL || access->predicates == NULL)
    return SQLITE_NOMEM;
  rc = access_sql(note, &access->sql);
  return rc == SQLITE_OK && there ? explain_there(note, &access->server_plan, message) : rc;
}

/* The note whose number is in an instruction; NULL: it is none of edb's tables that it scans. */
static const Note *instruction_note(const Explaining *explaining, sqlite3_stmt *program) {
  const char *opcode = (const char *)sqlite3_column_text(program, 1);
  const char *p4 = (const char *)sqlite3_column_text(program, 5);
  if (opcode == NULL || p4 == NULL || strcmp(opcode, "VFilter") != 0) return NULL;
  if (strncmp(p4, NOTE_PREFIX, sizeof NOTE_PREFIX - 1) != 0) return NULL;
  sqlite3_int64 number = sqlite3_column_int64(program, 5);
  for (p4 += sizeof NOTE_PREFIX - 1, number = 0; *p4 >= '0' && *p4 <= '9'; p4++)
    number = number * 10 + (*p4 - '0');
  return number < explaining->count ? &explaining->notes[number] : NULL;
}

static int is_blank(const char *text) { return text[strspn(text, "; \t\r\n")] == 0; }

/* Prepares EXPLAIN of the statement, its plans noted down. */
static int explain_prepare(Edb *edb, const char *statement, Explaining *explaining,
                           sqlite3_stmt **program, char **message) {
  const char *rest = NULL;
  char *text = sqlite3_mprintf("EXPLAIN %s", statement);
  if (text == NULL) return SQLITE_NOMEM;
  Explaining *outer = edb->explaining;
  edb->explaining = explaining;
  int rc = sqlite3_prepare_v2(edb->db, text, -1, program, &rest);
  edb->explaining = outer;
  if (rc != SQLITE_OK) {
    *message = sqlite3_mprintf("edb: edb_explain: %s", sqlite3_errmsg(edb->db));
  } else if (*program == NULL || !is_blank(rest)) {
    *message = sqlite3_mprintf("edb: edb_explain takes one statement");
    rc = SQLITE_ERROR;
  }
  sqlite3_free(text);
  return rc;
}

static int explain_run(Cursor *cursor, const char *statement, int there, char **message) {
  Edb *edb = listing_edb(&cursor->base);
  Explaining explaining = {.notes = NULL};
  sqlite3_stmt *program = NULL;
  int rc = explain_prepare(edb, statement, &explaining, &program, message);
  while (rc == SQLITE_OK && (rc = sqlite3_step(program)) == SQLITE_ROW) {
    const Note *note = instruction_note(&explaining, program);
    rc = note ? access_add(cursor, note, there, message) : SQLITE_OK;
  }
  sqlite3_finalize(program);
  explaining_clear(&explaining);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- The table-valued function ------------------------------------------------------------------------ */

static int explain_connect(sqlite3 *db, void *edb, int argc, const char *const *argv,
                           sqlite3_vtab **vtab, char **message) {
  (void)argc;
  (void)argv;
  (void)message;
  return listing_connect(
      db, edb,
      "CREATE TABLE x(id INTEGER, \"table\" TEXT, server TEXT, sql TEXT, predicates TEXT, "
      "rows INTEGER, cost REAL, server_plan TEXT, statement HIDDEN, there HIDDEN)",
      1, vtab);
}

static int explain_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)vtab;
  return arguments_plan(info, COLUMN_STATEMENT, 2);
}

static int explain_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  (void)vtab;
  return listing_open(sizeof(Cursor), out);
}

static void explain_reset(Cursor *cursor) {
  for (int i = 0; i < cursor->count; i++) {
    Access *access = &cursor->accesses[i];
    sqlite3_free(access->table);
    sqlite3_free(access->server);
    sqlite3_free(access->sql);
    sqlite3_free(access->predicates);
    sqlite3_free(access->server_plan);
  }
  sqlite3_free(cursor->accesses);
  cursor->accesses = NULL;
  cursor->count = cursor->size = cursor->at = 0;
}

static int explain_close(sqlite3_vtab_cursor *base) {
  explain_reset((Cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int explain_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                          sqlite3_value **argv) {
  Cursor *cursor = (Cursor *)base;
  char *message = NULL;
  (void)string;
  (void)argc;
  explain_reset(cursor);
  const char *statement = number > 0 ? (const char *)sqlite3_value_text(argv[0]) : NULL;
  if (statement == NULL) {
    message = sqlite3_mprintf("edb: write edb_explain('SELECT …'), or edb_explain('SELECT …', 1) "
                              "for the server's own plan");
    return vtab_fail(base->pVtab, SQLITE_ERROR, message);
  }
  int rc = explain_run(cursor, statement, number > 1 && sqlite3_value_int(argv[1]), &message);
  if (rc == SQLITE_OK) return rc;
  explain_reset(cursor);
  return vtab_fail(base->pVtab, rc, message);
}

static int explain_next(sqlite3_vtab_cursor *base) {
  ((Cursor *)base)->at++;
  return SQLITE_OK;
}

static int explain_eof(sqlite3_vtab_cursor *base) {
  return ((Cursor *)base)->at >= ((Cursor *)base)->count;
}

static int explain_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const Cursor *cursor = (Cursor *)base;
  const Access *access = &cursor->accesses[cursor->at];
  const char *const texts[] = {[COLUMN_TABLE] = access->table,
                               [COLUMN_SERVER] = access->server,
                               [COLUMN_SQL] = access->sql,
                               [COLUMN_PREDICATES] = access->predicates,
                               [COLUMN_SERVER_PLAN] = access->server_plan};
  if (column == COLUMN_ID) {
    sqlite3_result_int(context, cursor->at + 1);
  } else if (column == COLUMN_ROWS) {
    sqlite3_result_int64(context, access->rows);
  } else if (column == COLUMN_COST) {
    sqlite3_result_double(context, access->cost);
  } else if (column < COLUMN_STATEMENT) {
    sqlite3_result_text(context, texts[column], -1, SQLITE_TRANSIENT);
    if (column == COLUMN_PREDICATES) sqlite3_result_subtype(context, 'J');
  }
  return SQLITE_OK;
}

static int explain_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  *rowid = ((Cursor *)base)->at + 1;
  return SQLITE_OK;
}

const sqlite3_module explain_module = {.iVersion = 1,
                                       .xConnect = explain_connect,
                                       .xBestIndex = explain_best_index,
                                       .xDisconnect = listing_disconnect,
                                       .xOpen = explain_open,
                                       .xClose = explain_close,
                                       .xFilter = explain_filter,
                                       .xNext = explain_next,
                                       .xEof = explain_eof,
                                       .xColumn = explain_column,
                                       .xRowid = explain_rowid};
