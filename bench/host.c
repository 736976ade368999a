/*
** The participants that are SQLite: a program that loads extensions, runs statements to set up and
** then times one work over a table. Which participant it is (edb, virtualpg, attach, vtab-floor)
** is a matter of the set-up alone, so all of them pay for the same SQLite.
**
**     host [-load FILE]... [-setup SQL]... [-client SQL] WORK TABLE ROWS UNITS
**
** -load and -setup happen in the order given; -client is a query whose first value names the
** client library. WORK is scan, filter, count, count.where, topn, minmax, planning, lookup, join.lookup, join.hash, join.in (of UNITS keys in
** a local table), join.copy (the remote table is copied for it), or none (set-up only; nothing is printed); or
** one that writes to the table, whose sums are then read back: insert_select (one INSERT ... SELECT of UNITS rows from a local table),
** insert_rows and update_rows (a prepared statement for each row, in one transaction), update (one UPDATE of UNITS rows, whose
** keys and values are in a local table).
*/
#include "participant.h"

#include <sqlite3.h>

#define SUMS "count(*), sum(id), sum(length(name)), sum(score)"

static _Noreturn void fail(sqlite3 *db, const char *what) {
  fprintf(stderr, "host: %s: %s\n", what, db ? sqlite3_errmsg(db) : "out of memory");
  exit(1);
}

static void load(sqlite3 *db, const char *file) {
  char *error = NULL;
  if (sqlite3_load_extension(db, file, NULL, &error) != SQLITE_OK) {
    fprintf(stderr, "host: %s: %s\n", file, error ? error : "cannot be loaded");
    exit(1);
  }
}

static void setup(sqlite3 *db, const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
    fail(db, sql);
  }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *format, const char *table) {
  sqlite3_stmt *stmt = NULL;
  char *sql = sqlite3_mprintf(format, table);
  if (!sql || sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
    fail(db, sql ? sql : format);
  }
  sqlite3_free(sql);
  return stmt;
}

/* One row of sums; a work that does not compute one leaves it 0. */
static void run_sums(sqlite3 *db, sqlite3_stmt *stmt, bench_sums *sums) {
  if (sqlite3_step(stmt) != SQLITE_ROW) {
    fail(db, sqlite3_sql(stmt));
  }
  sums->count = sqlite3_column_int64(stmt, 0);
  if (sqlite3_column_count(stmt) > 1) {
    sums->ids = sqlite3_column_int64(stmt, 1);
    sums->chars = sqlite3_column_int64(stmt, 2);
    sums->score = sqlite3_column_double(stmt, 3);
  }
  if (sqlite3_step(stmt) != SQLITE_DONE) {
    fail(db, sqlite3_sql(stmt));
  }
}

static void run_lookups(sqlite3 *db, sqlite3_stmt *stmt, int64_t rows, int64_t units,
                        bench_sums *sums) {
  for (int64_t i = 0; i < units; i++) {
    int64_t id = bench_key(i, rows);
    sqlite3_bind_int64(stmt, 1, id);
    if (sqlite3_step(stmt) != SQLITE_ROW) {
      fail(db, sqlite3_sql(stmt));
    }
    const char *name = (const char *)sqlite3_column_text(stmt, 0);
    bench_add(sums, id, name, (size_t)sqlite3_column_bytes(stmt, 0),
              sqlite3_column_double(stmt, 1));
    if (sqlite3_step(stmt) != SQLITE_DONE) { /* the key is unique, and SQLite is to find out */
      fail(db, sqlite3_sql(stmt));
    }
    sqlite3_reset(stmt);
  }
}

/* ---- Orders and plans --------------------------------------------------------------------------- */

static void run_topn(sqlite3 *db, const char *table, int64_t units, bench_sums *sums) {
  sqlite3_stmt *stmt = prepare(db, "SELECT id, name, score FROM %s ORDER BY id LIMIT 10", table);
  for (int64_t i = 0; i < units; i++) {
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
      const char *name = (const char *)sqlite3_column_text(stmt, 1);
      bench_add(sums, sqlite3_column_int64(stmt, 0), name, (size_t)sqlite3_column_bytes(stmt, 1),
                sqlite3_column_double(stmt, 2));
    }
    if (rc != SQLITE_DONE) fail(db, sqlite3_sql(stmt));
    sqlite3_reset(stmt);
  }
  sqlite3_finalize(stmt);
}

/* The greatest key and the least one, one after the other. */
static void run_minmax(sqlite3 *db, const char *table, int64_t units, bench_sums *sums) {
  sqlite3_stmt *stmts[] = {prepare(db, "SELECT max(id) FROM %s", table),
                           prepare(db, "SELECT min(id) FROM %s", table)};
  for (int64_t i = 0; i < units; i++) {
    sqlite3_stmt *stmt = stmts[i % 2];
    if (sqlite3_step(stmt) != SQLITE_ROW) fail(db, sqlite3_sql(stmt));
    sums->count++;
    sums->ids += sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
  }
  sqlite3_finalize(stmts[0]);
  sqlite3_finalize(stmts[1]);
}

/* Prepares a join of ten tables, j1 to j10. */
static void run_planning(sqlite3 *db, int64_t units, bench_sums *sums) {
  sqlite3_str *sql = sqlite3_str_new(db);
  sqlite3_str_appendall(sql, "SELECT count(*) FROM j1");
  for (int i = 2; i <= 10; i++)
    sqlite3_str_appendf(sql, " JOIN j%d ON j%d.id = j%d.score", i, i, i - 1);
  sqlite3_str_appendall(sql, " WHERE j1.name = 'a' AND j10.score > 5%s");
  char *text = sqlite3_str_finish(sql);
  if (!text) fail(NULL, "planning");
  for (int64_t i = 0; i < units; i++) {
    sqlite3_finalize(prepare(db, text, ""));
    sums->count++;
  }
  sqlite3_free(text);
}

/* ---- Joins -------------------------------------------------------------------------------------- */

static void make_keys(sqlite3 *db, int64_t rows, int64_t units) {
  setup(db, "CREATE TABLE main.keys(k INTEGER); BEGIN");
  sqlite3_stmt *stmt = prepare(db, "INSERT INTO %s VALUES (?1)", "main.keys");
  for (int64_t i = 0; i < units; i++) {
    sqlite3_bind_int64(stmt, 1, bench_key(i, rows));
    if (sqlite3_step(stmt) != SQLITE_DONE) fail(db, sqlite3_sql(stmt));
    sqlite3_reset(stmt);
  }
  sqlite3_finalize(stmt);
  setup(db, "COMMIT");
}

static void run_join(sqlite3 *db, const char *work, const char *table, bench_sums *sums) {
  int in = !strcmp(work, "join.in"), copy = !strcmp(work, "join.copy");
  if (copy) {
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql,
                        "CREATE TABLE main.copy(id INTEGER PRIMARY KEY, score REAL);"
                        "INSERT INTO main.copy SELECT id, score FROM %s",
                        table);
    char *text = sqlite3_str_finish(sql);
    setup(db, text ? text : "");
    sqlite3_free(text);
  }
  sqlite3_stmt *stmt = prepare(
      db,
      in ? "SELECT count(*), sum(id), 0, sum(score) FROM %s WHERE id IN (SELECT k FROM keys)"
         : "SELECT count(id), sum(id), 0, sum(score) FROM keys LEFT JOIN %s ON id = k",
      copy ? "main.copy" : table);
  run_sums(db, stmt, sums);
  sqlite3_finalize(stmt);
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static void bind_row(sqlite3 *db, sqlite3_stmt *stmt, int64_t id) {
  char name[BENCH_NAME_MAX];
  int n = bench_name(id, name);
  sqlite3_bind_int64(stmt, 1, id);
  sqlite3_bind_double(stmt, 2, bench_score(id));
  if (sqlite3_bind_parameter_count(stmt) > 2) {
    sqlite3_bind_text(stmt, 3, name, n, SQLITE_TRANSIENT);
  }
  if (sqlite3_step(stmt) != SQLITE_DONE) {
    fail(db, sqlite3_sql(stmt));
  }
  sqlite3_reset(stmt);
}

static void write_rows(sqlite3 *db, const char *format, const char *table, int64_t units) {
  setup(db, "BEGIN");
  sqlite3_stmt *stmt = prepare(db, format, table);
  for (int64_t id = 1; id <= units; id++) {
    bind_row(db, stmt, id);
  }
  sqlite3_finalize(stmt);
  setup(db, "COMMIT");
}

static void make_local(sqlite3 *db, int64_t units) {
  setup(db, "CREATE TABLE main.local(id INTEGER PRIMARY KEY, name TEXT, score REAL)");
  write_rows(db, "INSERT INTO %s(id, score, name) VALUES(?1, ?2, ?3)", "main.local", units);
}

static int is_write(const char *work) {
  return !strcmp(work, "insert_select") || !strcmp(work, "insert_rows") ||
         !strncmp(work, "update", 6);
}

/* What arrived is what counts. */
static void read_back(sqlite3 *db, const char *table, bench_sums *sums) {
  sqlite3_stmt *stmt = prepare(db, "SELECT " SUMS " FROM %s", table);
  run_sums(db, stmt, sums);
  sqlite3_finalize(stmt);
}

static void run_write(sqlite3 *db, const char *work, const char *table, int64_t units) {
  if (!strcmp(work, "update_rows")) {
    write_rows(db, "UPDATE %s SET score = ?2 WHERE id = ?1", table, units);
  } else if (!strcmp(work, "insert_rows")) {
    write_rows(db, "INSERT INTO %s(id, score, name) VALUES(?1, ?2, ?3)", table, units);
  } else {
    int update = !strcmp(work, "update");
    sqlite3_stmt *stmt =
        prepare(db,
                update ? "UPDATE %s AS r SET score = (SELECT score FROM main.local AS l WHERE l.id "
                         "= r.id) WHERE id IN (SELECT id FROM main.local)"
                       : "INSERT INTO %s(id, name, score) SELECT id, name, score FROM main.local",
                table);
    if (sqlite3_step(stmt) != SQLITE_DONE) {
      fail(db, sqlite3_sql(stmt));
    }
    sqlite3_finalize(stmt);
  }
}

static void run(sqlite3 *db, const char *work, const char *table, int64_t rows, int64_t units,
                const char *client) {
  bench_sums sums = {0, 0, 0, 0};
  int lookup = !strcmp(work, "lookup"), filter = !strcmp(work, "filter");
  int where = !strcmp(work, "count.where"), planning = !strcmp(work, "planning");
  const char *sql = lookup                  ? "SELECT name, score FROM %s WHERE id = ?1"
                    : filter                ? "SELECT " SUMS " FROM %s WHERE id BETWEEN ?1 AND ?2"
                    : !strcmp(work, "scan") ? "SELECT " SUMS " FROM %s"
                    : where                 ? "SELECT count(*) FROM %s WHERE kind = 7"
                                            : "SELECT count(*) FROM %s";
  int writes = is_write(work);
  if (!strcmp(work, "insert_select") || !strcmp(work, "update")) {
    make_local(db, units);
  }
  int join = !strncmp(work, "join.", 5);
  if (join) make_keys(db, rows, units);
  bench_clock start = bench_now();
  sqlite3_stmt *stmt = writes || planning || join ? NULL : prepare(db, sql, table);
  if (join) {
    run_join(db, work, table, &sums);
  } else if (planning) {
    run_planning(db, units, &sums);
  } else if (!strcmp(work, "topn")) {
    run_topn(db, table, units, &sums);
  } else if (!strcmp(work, "minmax")) {
    run_minmax(db, table, units, &sums);
  } else if (writes) {
    run_write(db, work, table, units);
  } else if (lookup) {
    run_lookups(db, stmt, rows, units, &sums);
  } else {
    if (filter) {
      sqlite3_bind_int64(stmt, 1, bench_filter_low(rows));
      sqlite3_bind_int64(stmt, 2, bench_filter_high(rows));
    }
    run_sums(db, stmt, &sums);
  }
  bench_clock end = bench_now();
  sqlite3_finalize(stmt);
  if (writes) {
    read_back(db, table, &sums);
  }

  char versions[300];
  snprintf(versions, sizeof versions, "SQLite %s", sqlite3_libversion());
  if (client) {
    stmt = prepare(db, "%s", client);
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0)) {
      size_t n = strlen(versions);
      snprintf(versions + n, sizeof versions - n, ", %s",
               (const char *)sqlite3_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
  }
  for (char *p = versions; *p; p++) { /* bench_report takes nothing that JSON would escape */
    *p = *p == '"' || *p == '\\' ? '\'' : (unsigned char)*p < ' ' ? ' ' : *p;
  }
  bench_report(work, start, end, &sums, units, "", versions);
}

int main(int argc, char **argv) {
  sqlite3 *db = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
    fail(db, "open");
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  const char *client = NULL;
  int i = 1;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (!strcmp(argv[i], "-load")) {
      load(db, argv[i + 1]);
    } else if (!strcmp(argv[i], "-setup")) {
      setup(db, argv[i + 1]);
    } else if (!strcmp(argv[i], "-client")) {
      client = argv[i + 1];
    } else {
      break;
    }
  }
  if (argc - i != 4) {
    fprintf(stderr, "usage: host [-load FILE]... [-setup SQL]... [-client SQL] "
                    "WORK TABLE ROWS UNITS\n");
    return 2;
  }
  if (strcmp(argv[i], "none") != 0) {
    run(db, argv[i], argv[i + 1], strtoll(argv[i + 2], NULL, 10), strtoll(argv[i + 3], NULL, 10),
        client);
  }
  sqlite3_close(db);
  return 0;
}
