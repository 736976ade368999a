/*
** ext/scan.c: the cursor of a remote table.
**
** xFilter has the remote SQL written from the plan and the actual values, sent over a link of the cursor's own, and lends each row
** on to SQLite as the driver lends it. At the end of the rows the link goes back to its server, so that a join's inner side
** needs it only while a lookup lasts; the statement stays prepared there.
**
** Rows come from one of three places: the stream of the statement that was sent (or of several, one after the other, where a
** list is too long for one: chunk.c), an answer that was kept, or a hash (recall.c).
**
** A plan that is a shortcut begins with less than the rows. What it was begun with is kept, so that its whole can take
** over in the middle: when SQLite wants more rows than the first ones, or reads of counted rows what is not known.
*/
#include "extInt.h"

#include <math.h>
#include <string.h>

typedef struct Scan {
  sqlite3_vtab_cursor base;
  const Plan *plan;
  Recall *recall;
  Look look;
  edb_value *kept; /* the present row, unless it is the stream's */
  size_t kept_size;
  int from_memory; /* 1: it is `kept` */
  Stream stream;
  Sql chunked; /* what is sent for each chunk of a list; without chunks: there is nothing more to send */
  int eof;
  int counting;         /* rows are only counted: there is no reader */
  sqlite3_int64 left;   /* then, how many there are yet, the present one included */
  sqlite3_int64 passed; /* and how many there were before it */
  edb_row known;        /* and what each term of the plan says of all of them, EDB_NULL: nothing */
  enum { PART_ALL = 0, PART_FIRST, PART_REST } part;
  sqlite3_int64 bound; /* how many rows were asked for, 0: all */
  int lacking;         /* 1: the first ones lack some that come later */
  Given given;         /* the first ones */
  Sql later;           /* the statement of the plan's whole */
} Scan;

int vtab_fail(sqlite3_vtab *vtab, int rc, char *message) {
  sqlite3_free(vtab->zErrMsg);
  vtab->zErrMsg = message;
  return rc;
}

static Table *scan_table(const Scan *scan) { return (Table *)scan->base.pVtab; }

/* NULL: the cursor is on no row. */
static const edb_value *scan_row(const Scan *scan) {
  return scan->from_memory ? scan->kept : scan->stream.row;
}

/* ---- Open and close ----------------------------------------------------------------------------- */

int scan_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  Scan *scan = sqlite3_malloc64(sizeof *scan);
  if (scan == NULL) return SQLITE_NOMEM;
  memset(scan, 0, sizeof *scan);
  scan->recall = recall_open((Table *)vtab);
  if (scan->recall == NULL) {
    sqlite3_free(scan);
    return SQLITE_NOMEM;
  }
  *cursor = &scan->base;
  return SQLITE_OK;
}

/* Ends the reader and gives the link back. */
static void scan_end(Scan *scan) {
  scan->eof = 1;
  scan->from_memory = 0;
  look_end(&scan->look);
  stream_end(&scan->stream);
  sql_clear(&scan->chunked);
}

/* Nothing of what was done before is left. */
static void scan_clear(Scan *scan) {
  scan_end(scan);
  sql_clear(&scan->later);
  given_clear(&scan->given);
  edb_row_clear(&scan->known);
  scan->counting = 0;
  scan->part = PART_ALL;
}

int scan_close(sqlite3_vtab_cursor *cursor) {
  Scan *scan = (Scan *)cursor;
  scan_clear(scan);
  edb_row_clear(&scan->look.walk.keys);
  recall_close(scan->recall);
  sqlite3_free(scan->kept);
  sqlite3_free(scan);
  return SQLITE_OK;
}

/* ---- xFilter --------------------------------------------------------------------------------------- */

/* Whether the running statements allow to begin with the shortcut. */
static int scan_may_begin(const Scan *scan, const Plan *plan) {
  sqlite3 *db = scan_table(scan)->edb->db;
  switch (plan->shortcut) {
  case SHORTCUT_COUNT: /* it would only be in the way of who reads keys */
    return scan_table(scan)->identity != IDENTITY_KEY || !key_possible(db);
  case SHORTCUT_DISTINCT: /* identities do not travel */
    return !identity_possible(db);
  case SHORTCUT_FIRST: /* without LIMIT, there is only one reason */
    return plan->limit >= 0 || extreme_possible(db);
  default:
    return 1;
  }
}

/* Sends the plan's statement. */
static int scan_send(Scan *scan, const Plan *plan, const Sql *sql) {
  Table *table = scan_table(scan);
  char *message = NULL;
  scan->plan = plan;
  scan->bound = sql->bound;
  scan->lacking = sql->passes_null;
  int rc = ask_send(table, plan, sql, &scan->stream, &message);
  if (rc == SQLITE_OK) return rc;
  scan_end(scan);
  return vtab_fail(&table->base, rc, message);
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

static int scan_changed(Scan *scan) {
  scan_end(scan);
  return vtab_fail(scan->base.pVtab, SQLITE_BUSY,
                   sqlite3_mprintf("edb: %s: rows were changed while they were read: try again",
                                   scan_table(scan)->name));
}

/* The first rows were not enough: the whole, without them. */
static int scan_rest(Scan *scan) {
  scan_end(scan);
  scan->part = PART_REST;
  int rc = given_index(&scan->given);
  if (rc == SQLITE_OK) rc = scan_send(scan, scan->plan->whole, &scan->later);
  scan->eof = rc != SQLITE_OK;
  return rc;
}

/* The next row of the stream, or of the one for the next chunk. SQLITE_ROW, SQLITE_DONE, or an error and *message. */
static int scan_stream_next(Scan *scan, char **message) {
  Sql *sql = &scan->chunked;
  for (;;) {
    int rc = stream_next(&scan->stream, message);
    if (sql->chunks == NULL) return rc;
    if (rc == SQLITE_ROW && chunks_take(sql->chunks, scan->plan, scan->stream.row)) return rc;
    if (rc == SQLITE_ROW) continue;
    if (rc == SQLITE_DONE) rc = chunks_next(sql->chunks, sql->parameters);
    if (rc != SQLITE_ROW) return rc;
    rc = ask_send(scan_table(scan), scan->plan, sql, &scan->stream, message);
    if (rc != SQLITE_OK) return rc;
  }
}

static int scan_fetch(Scan *scan) {
  scan->from_memory = walk_next(&scan->look.walk, scan->kept) ||
                      reading_next(&scan->look.reading, scan->kept, plan_width(scan->plan));
  if (scan->from_memory) {
    scan_table(scan)->given++;
    return SQLITE_OK;
  }
  for (;;) {
    char *message = NULL;
    int width = scan->plan->fetches + (scan->plan->identity >= 0);
    int rc = scan_stream_next(scan, &message);
    if (rc == SQLITE_ROW && scan->part == PART_FIRST) {
      scan_table(scan)->given++;
      return given_add(&scan->given, scan->stream.row, width);
    }
    if (rc == SQLITE_ROW) {
      if (scan->part == PART_ALL || !given_again(&scan->given, scan->stream.row, width)) {
        scan_table(scan)->given++;
        return SQLITE_OK;
      }
      continue;
    }
    if (rc == SQLITE_DONE && scan->part == PART_FIRST &&
        (scan->lacking || scan->given.count == scan->bound)) {
      rc = scan_rest(scan);
      if (rc != SQLITE_OK) return rc;
      continue;
    }
    if (rc == SQLITE_DONE && scan->part == PART_REST && scan->given.missing > 0) {
      return scan_changed(scan);
    }
    scan_end(scan);
    return rc == SQLITE_DONE ? SQLITE_OK : vtab_fail(scan->base.pVtab, rc, message);
  }
}

/* Of counted rows something is read that is not known, or more are wanted than were counted: reads them, and stands at
** the same place among them. Nothing has told them apart yet, so any order of the real ones will do. */
static int scan_whole(Scan *scan) {
  sqlite3_int64 passed = scan->passed;
  scan->counting = 0;
  int rc = scan_send(scan, scan->plan->whole, &scan->later);
  if (rc != SQLITE_OK) return rc;
  scan->eof = 0;
  rc = scan_fetch(scan);
  while (rc == SQLITE_OK && !scan->eof && passed-- > 0) rc = scan_fetch(scan);
  return rc;
}

static int scan_identify(Scan *scan) {
  int rc = scan_whole(scan);
  return rc == SQLITE_OK && scan->eof ? scan_changed(scan) : rc;
}

int scan_next(sqlite3_vtab_cursor *cursor) {
  Scan *scan = (Scan *)cursor;
  if (!scan->counting) return scan_fetch(scan);
  scan->passed++;
  scan->left--;
  scan->eof = scan->left <= 0;
  if (scan->eof && scan->bound > 0 && scan->passed == scan->bound) return scan_whole(scan);
  return SQLITE_OK;
}

int scan_eof(sqlite3_vtab_cursor *cursor) { return ((Scan *)cursor)->eof; }

/* ---- Counting ------------------------------------------------------------------------------------- */

/* A count as a driver gives it: a number, or its digits, as drivers that call it a decimal do. -1: it is none. */
static sqlite3_int64 count_of(const edb_value *v) {
  sqlite3_int64 n = 0;
  if (v->kind == EDB_I64) return v->as.i64;
  if (v->kind != EDB_TEXT || v->as.text.n == 0 || v->as.text.n > 18) return -1;
  for (size_t i = 0; i < v->as.text.n; i++) {
    if (v->as.text.p[i] < '0' || v->as.text.p[i] > '9') return -1;
    n = n * 10 + (v->as.text.p[i] - '0');
  }
  return n;
}

/* The count has come as the only row: its rows can be given without the server. */
static int scan_count(Scan *scan) {
  int rc = scan_fetch(scan);
  if (rc != SQLITE_OK) return rc;
  scan->left = scan_row(scan) ? count_of(&scan_row(scan)[0]) : -1;
  scan_end(scan);
  if (scan->left < 0) {
    return vtab_fail(scan->base.pVtab, SQLITE_ERROR,
                     sqlite3_mprintf("edb: %s: the server counts no rows", scan_table(scan)->name));
  }
  scan->counting = 1;
  scan->passed = 0;
  scan->eof = scan->left <= 0;
  return SQLITE_OK;
}

/* The value as a column of numeric affinity stores it. */
static edb_value stored_value(sqlite3_value *v) {
  sqlite3_value_numeric_type(v);
  edb_value value = value_parameter(v);
  if (value.kind == EDB_F64 && fabs(value.as.f64) < 0x1p51 &&
      value.as.f64 == (double)(int64_t)value.as.f64) {
    value.as.i64 = (int64_t)value.as.f64;
    value.kind = EDB_I64;
  }
  return value;
}

/* What each term says of the rows: the value of its column. */
static int scan_know(Scan *scan, sqlite3_value **values) {
  const Table *table = scan_table(scan);
  const Plan *plan = scan->plan;
  scan->known.host = &table->edb->host;
  if (edb_row_reset(&scan->known, (size_t)plan->count) != EDB_OK) return SQLITE_NOMEM;
  for (int i = 0; i < plan->count; i++) {
    const Term *term = &plan->terms[i];
    edb_value value = {.kind = EDB_NULL}; /* where the value is NULL, so it is */
    int exact;
    if (plan_known(&table->definition, plan, term->column) != i) continue;
    if (table->definition.columns[term->column].type->compare == EDB_COMPARE_SQLITE) {
      value = stored_value(values[term->argument]);
    } else {
      ship_form(&table->definition, term, values[term->argument], &value, &exact);
    }
    if (edb_row_set(&scan->known, (size_t)i, &value) != EDB_OK) return SQLITE_NOMEM;
  }
  return SQLITE_OK;
}

/* Writes what may have to follow, while the values are there. */
static int scan_keep(Scan *scan, sqlite3_value **values) {
  Plan *whole = scan->plan->whole;
  Shipped shipped = ask_write(scan_table(scan), &scan->later, &whole, values, 0);
  return shipped == SHIP_SENT ? sql_keep(&scan->later) : SQLITE_NOMEM;
}

/* Takes the beginning of a lookup's answer into memory, and remembers it if that is all of it. */
static int scan_take(Scan *scan, double started) {
  Answer *answer =
      scan->chunked.chunks ? NULL : recall_answer(scan->recall, &scan->look, scan->plan);
  size_t width = plan_width(scan->plan);
  char *message = NULL;
  int rc = SQLITE_ROW;
  while (answer && rc == SQLITE_ROW && !answer_is_large(answer)) {
    rc = scan_stream_next(scan, &message);
    if (rc == SQLITE_ROW && !answer_add(&answer, scan->stream.row, width)) rc = SQLITE_NOMEM;
  }
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
    answer_release(answer);
    scan_end(scan);
    return vtab_fail(scan->base.pVtab, rc, message);
  }
  recall_learn(scan->recall, &scan->look, clock_seconds() - started,
               rc == SQLITE_DONE ? answer : NULL);
  if (answer) reading_begin(&scan->look.reading, answer);
  return SQLITE_OK;
}

/* Asks the server. *never: there are no rows. */
static int scan_ask(Scan *scan, Plan *plan, sqlite3_value **values, int *never) {
  double started = clock_seconds();
  Sql sql;
  Shipped shipped = ask_write(scan_table(scan), &sql, &plan, values, 1);
  int rc = shipped == SHIP_FAIL ? SQLITE_NOMEM : SQLITE_OK;
  *never = shipped == SHIP_NEVER;
  if (shipped == SHIP_SENT) rc = scan_send(scan, plan, &sql);
  if (shipped == SHIP_SENT && rc == SQLITE_OK && sql.chunks) {
    scan->chunked = sql;
    memset(&sql, 0, sizeof sql);
    rc = sql_keep(&scan->chunked);
  }
  sql_clear(&sql);
  if (shipped != SHIP_SENT || rc != SQLITE_OK) return rc;
  scan->eof = 0;
  int counted = plan->shortcut == SHORTCUT_COUNT;
  int first = plan->shortcut == SHORTCUT_FIRST && scan->bound > 0;
  if (first) scan->part = PART_FIRST;
  if (counted || first) rc = scan_keep(scan, values);
  if (rc == SQLITE_OK && counted) rc = scan_know(scan, values);
  if (rc == SQLITE_OK && counted) rc = scan_count(scan);
  return rc == SQLITE_OK && !first && !counted ? scan_take(scan, started) : rc;
}

/* Asks what is remembered. Where there is something, it is the whole's. */
static int scan_look(Scan *scan, Plan *plan, int argc, sqlite3_value **values) {
  char *message = NULL;
  size_t width = plan_width(plan);
  if (width > scan->kept_size) {
    edb_value *grown = sqlite3_realloc64(scan->kept, width * sizeof *grown);
    if (grown == NULL) return SQLITE_NOMEM;
    scan->kept = grown;
    scan->kept_size = width;
  }
  scan->plan = plan;
  int rc = recall_look(scan->recall, plan, argc, values, &scan->look, &message);
  if (rc == SQLITE_OK) return rc;
  scan_end(scan);
  return vtab_fail(scan->base.pVtab, rc, message);
}

int scan_filter(sqlite3_vtab_cursor *cursor, int number, const char *string, int argc,
                sqlite3_value **argv) {
  Scan *scan = (Scan *)cursor;
  Table *table = scan_table(scan);
  Server *server;
  char *message = NULL;
  int never = 0;
  (void)string;
  scan_clear(scan);
  int rc = table_server(table, &server, &message);
  if (rc != SQLITE_OK) return vtab_fail(&table->base, rc, message);
  definition_refresh(server, &table->definition);
  Plan *plan = table->plans[number];
  Plan *whole = plan->whole ? plan->whole : plan;
  rc = scan_look(scan, whole, argc, argv);
  if (rc != SQLITE_OK) return rc;
  if (scan->look.found) {
    scan->eof = 0;
    return scan_fetch(scan);
  }
  if (plan->whole && (!scan_may_begin(scan, plan) || recall_wants(&scan->look))) plan = whole;
  rc = scan_ask(scan, plan, argv, &never);
  if (rc != SQLITE_OK || never || scan->counting || scan->eof) return rc;
  return scan_fetch(scan);
}

/* ---- Columns ---------------------------------------------------------------------------------------- */

static int scan_column_failed(Scan *scan, sqlite3_context *context, const char *column) {
  char *message =
      sqlite3_mprintf("edb: %s: column %s has a value that SQLite's dates cannot express "
                      "(on_unrepresentable=error)",
                      scan_table(scan)->name, column);
  if (message) sqlite3_result_error(context, message, -1);
  sqlite3_free(message);
  return SQLITE_ERROR;
}

/* The key's values as SQL literals, in the key's order: text that is the same for the same key, and
** only then. */
static void result_key(Scan *scan, sqlite3_context *context) {
  const Definition *d = &scan_table(scan)->definition;
  sqlite3_str *out = sqlite3_str_new(NULL);
  int found = 1;
  if (scan->plan->identity >= 0) value_literal(out, &scan_row(scan)[scan->plan->identity]);
  for (int ordinal = 1; found && scan->plan->identity < 0; ordinal++) {
    found = 0;
    for (int i = 0; i < d->count; i++) {
      if (d->columns[i].key != ordinal) continue;
      if (ordinal > 1) sqlite3_str_appendchar(out, 1, ',');
      value_literal(out, &scan_row(scan)[scan->plan->slot[i]]);
      found = 1;
    }
  }
  int n = sqlite3_str_length(out);
  char *text = sqlite3_str_finish(out);
  if (text == NULL) {
    sqlite3_result_error_nomem(context);
  } else {
    sqlite3_result_text(context, text, n, sqlite3_free);
  }
}

/* Rows that stand for all those that are equal to them have no identity. scan_may_begin has looked for what asks. */
static int scan_unidentified(Scan *scan) {
  return vtab_fail(
      scan->base.pVtab, SQLITE_ERROR,
      sqlite3_mprintf("edb: %s: a row of DISTINCT was asked for its key", scan_table(scan)->name));
}

int scan_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column) {
  Scan *scan = (Scan *)cursor;
  const Definition *d = &scan_table(scan)->definition;
  if (sqlite3_vtab_nochange(context)) return SQLITE_OK; /* an UPDATE that leaves it as it is */
  if (scan->counting) {
    int term = column < d->count ? plan_known(d, scan->plan, column) : -1;
    if (term >= 0) {
      return value_result(context, &scan->known.values[term], d->columns[column].type, d);
    }
    int rc = scan_identify(scan);
    if (rc != SQLITE_OK) return rc;
  }
  if (scan_row(scan) == NULL) return SQLITE_OK;
  if (column >= d->count && scan->plan->shortcut == SHORTCUT_DISTINCT) {
    return scan_unidentified(scan);
  }
  if (column >= d->count) {
    if (scan_table(scan)->identity == IDENTITY_KEY) result_key(scan, context);
    return SQLITE_OK;
  }
  int slot = scan->plan->slot[column];
  if (slot < 0) { /* SQLite read a column that it did not announce */
    sqlite3_result_error(context, "edb: a column was read that was not asked for", -1);
    return SQLITE_ERROR;
  }
  if (value_result(context, &scan_row(scan)[slot], d->columns[column].type, d) == SQLITE_OK) {
    return SQLITE_OK;
  }
  return scan_column_failed(scan, context, d->columns[column].name);
}

int scan_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid) {
  Scan *scan = (Scan *)cursor;
  Table *table = scan_table(scan);
  const Definition *d = &table->definition;
  if (table->identity == IDENTITY_NONE) {
    return vtab_fail(
        &table->base, SQLITE_ERROR,
        sqlite3_mprintf("edb: %s has no key, so its rows cannot be told apart: name its key "
                        "with the option key=",
                        table->name));
  }
  if (scan->counting) {
    int rc = scan_identify(scan);
    if (rc != SQLITE_OK) return rc;
  }
  if (scan->plan->shortcut == SHORTCUT_DISTINCT) return scan_unidentified(scan);
  int slot = scan->plan->identity;
  for (int i = 0; i < d->count && slot < 0; i++) {
    if (d->columns[i].key) slot = scan->plan->slot[i];
  }
  const edb_value *key = scan_row(scan) ? &scan_row(scan)[slot] : NULL;
  int integer = key && (key->kind == EDB_I64 || (key->kind == EDB_U64 && key->as.u64 <= INT64_MAX));
  if (!integer) {
    return vtab_fail(&table->base, SQLITE_ERROR,
                     sqlite3_mprintf("edb: %s: the key of a row is not an integer", table->name));
  }
  *rowid = key->as.i64; /* the same bits */
  return SQLITE_OK;
}
