/*
** ext/scan.c: the cursor of a remote table.
**
** xFilter builds the remote SQL from the plan and the actual values (or takes what it built last, where these
** would make the same), sends it over a link of the cursor's own and lends each row on to SQLite as the driver lends it. At the end of the rows the
** link goes back to its server, so that a join's inner side needs it only while a lookup lasts; the
** statement stays prepared there.
*/
#include "extInt.h"

#include <string.h>

typedef struct Scan {
  sqlite3_vtab_cursor base;
  const Plan *plan;
  Stream stream;
  int eof;
  int counting;         /* rows are only counted: there is no reader */
  sqlite3_int64 left;   /* then, how many there are yet, the present one included */
  sqlite3_int64 passed; /* and how many there were before it */
} Scan;

int vtab_fail(sqlite3_vtab *vtab, int rc, char *message) {
  sqlite3_free(vtab->zErrMsg);
  vtab->zErrMsg = message;
  return rc;
}

static Table *scan_table(const Scan *scan) { return (Table *)scan->base.pVtab; }

/* ---- Open and close ----------------------------------------------------------------------------- */

int scan_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  (void)vtab;
  Scan *scan = sqlite3_malloc64(sizeof *scan);
  if (scan == NULL) return SQLITE_NOMEM;
  memset(scan, 0, sizeof *scan);
  *cursor = &scan->base;
  return SQLITE_OK;
}

/* Ends the reader and gives the link back. */
static void scan_end(Scan *scan) {
  scan->eof = 1;
  stream_end(&scan->stream);
}

int scan_close(sqlite3_vtab_cursor *cursor) {
  scan_end((Scan *)cursor);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

static int scan_fetch(Scan *scan) {
  char *message = NULL;
  int rc = stream_next(&scan->stream, &message);
  if (rc == SQLITE_ROW) return SQLITE_OK;
  scan_end(scan);
  return rc == SQLITE_DONE ? SQLITE_OK : vtab_fail(scan->base.pVtab, rc, message);
}

int scan_next(sqlite3_vtab_cursor *cursor) {
  Scan *scan = (Scan *)cursor;
  if (scan->counting) {
    scan->passed++;
    scan->left--;
    scan->eof = scan->left <= 0;
    return SQLITE_OK;
  }
  return scan_fetch(scan);
}

int scan_eof(sqlite3_vtab_cursor *cursor) { return ((Scan *)cursor)->eof; }

/* ---- xFilter --------------------------------------------------------------------------------------- */

/* Sends the plan's statement. *never: the values admit no row, nothing was sent. */
static int scan_send(Scan *scan, Plan *plan, sqlite3_value **values, int *never) {
  Table *table = scan_table(scan);
  char *message = NULL;
  Server *server = NULL;
  Sql sql;
  *never = 0;
  int rc = table_server(table, &server, &message);
  if (rc != SQLITE_OK) return vtab_fail(&table->base, rc, message);
  sql_begin(&sql, table->definition.dialect);
  sql.outer = plan_asks_null(plan) && outer_join_possible(table->edb->db);
  Shipped shipped = deparse_plan(&sql, &table->definition, plan, values);
  if (shipped == SHIP_NEVER) {
    *never = 1;
  } else if (shipped == SHIP_FAIL) {
    rc = SQLITE_NOMEM;
  } else {
    Link *link;
    rc = link_acquire(server, &link, &message);
    if (rc == SQLITE_OK) {
      Command command = {.sql = sql.written,
                         .parameters = sql.parameters,
                         .n = (size_t)sql.count,
                         .expected = plan->rows,
                         .repeat = REPEAT_ONCE,
                         .prepared = 1,
                         .table = table};
      rc = link_run(&link, &command, &scan->stream, NULL, &message);
      if (rc != SQLITE_OK) link_release(link);
    }
    if (rc != SQLITE_OK) scan_end(scan);
  }
  sql_clear(&sql);
  return rc == SQLITE_OK ? rc : vtab_fail(&table->base, rc, message);
}

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
  scan->left = scan->stream.row ? count_of(&scan->stream.row[0]) : -1;
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

int scan_filter(sqlite3_vtab_cursor *cursor, int number, const char *string, int argc,
                sqlite3_value **argv) {
  Scan *scan = (Scan *)cursor;
  Table *table = scan_table(scan);
  int never;
  (void)string;
  (void)argc;
  scan_end(scan);
  scan->counting = 0;
  Plan *plan = table->broken ? NULL : table->plans[number];
  scan->plan = plan;
  int rc = scan_send(scan, plan, argv, &never);
  if (rc != SQLITE_OK || never) return rc;
  scan->eof = 0;
  return scan->plan->count_only ? scan_count(scan) : scan_fetch(scan);
}

/* ---- Columns ---------------------------------------------------------------------------------------- */

/* Counted rows have been told apart by nothing yet, so any order of the real ones will do: reads
** them, and stands at the same place among them. */
static int scan_identify(Scan *scan) {
  Plan *plan;
  int never;
  sqlite3_int64 passed = scan->passed;
  int rc = plan_identities(scan_table(scan), &plan);
  if (rc == SQLITE_OK) rc = scan_send(scan, plan, NULL, &never);
  if (rc != SQLITE_OK) return rc;
  scan->counting = 0;
  scan->plan = plan;
  scan->eof = 0;
  rc = scan_fetch(scan);
  while (rc == SQLITE_OK && !scan->eof && passed-- > 0) rc = scan_fetch(scan);
  if (rc != SQLITE_OK || !scan->eof) return rc;
  return vtab_fail(scan->base.pVtab, SQLITE_ERROR,
                   sqlite3_mprintf("edb: %s: rows went away while they were counted: try again",
                                   scan_table(scan)->name));
}

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
  if (scan->plan->identity >= 0) value_literal(out, &scan->stream.row[scan->plan->identity]);
  for (int ordinal = 1; found && scan->plan->identity < 0; ordinal++) {
    found = 0;
    for (int i = 0; i < d->count; i++) {
      if (d->columns[i].key != ordinal) continue;
      if (ordinal > 1) sqlite3_str_appendchar(out, 1, ',');
      value_literal(out, &scan->stream.row[scan->plan->slot[i]]);
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

int scan_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column) {
  Scan *scan = (Scan *)cursor;
  const Definition *d = &scan_table(scan)->definition;
  if (sqlite3_vtab_nochange(context)) return SQLITE_OK; /* an UPDATE that leaves it as it is */
  if (scan->counting) {
    int rc = scan_identify(scan);
    if (rc != SQLITE_OK) return rc;
  }
  if (scan->stream.row == NULL) return SQLITE_OK;
  if (column >= d->count) {
    if (scan_table(scan)->identity == IDENTITY_KEY) result_key(scan, context);
    return SQLITE_OK;
  }
  int slot = scan->plan->slot[column];
  if (slot < 0) { /* SQLite read a column that it did not announce */
    sqlite3_result_error(context, "edb: a column was read that was not asked for", -1);
    return SQLITE_ERROR;
  }
  if (value_result(context, &scan->stream.row[slot], d->columns[column].type, d) == SQLITE_OK) {
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
  int slot = scan->plan->identity;
  for (int i = 0; i < d->count && slot < 0; i++) {
    if (d->columns[i].key) slot = scan->plan->slot[i];
  }
  const edb_value *key = scan->stream.row ? &scan->stream.row[slot] : NULL;
  int integer = key && (key->kind == EDB_I64 || (key->kind == EDB_U64 && key->as.u64 <= INT64_MAX));
  if (!integer) {
    return vtab_fail(&table->base, SQLITE_ERROR,
                     sqlite3_mprintf("edb: %s: the key of a row is not an integer", table->name));
  }
  *rowid = key->as.i64; /* the same bits */
  return SQLITE_OK;
}
