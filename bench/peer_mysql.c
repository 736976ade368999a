/*
** The peers c-text, c-binary, c-prepared, c-multirow and fetching: what a C programmer would write against MariaDB's
** own client library, with no SQLite anywhere.
**
**     peer_mysql MODE WORK URL TABLE ROWS UNITS     do WORK once, print one JSON line
**
** MODE says how rows of `scan` and `filter` travel, one at a time in each: text (mysql_real_query,
** mysql_use_result, numbers converted here) or binary (a prepared statement whose columns are bound once,
** fetched without mysql_stmt_store_result). `lookup` and `insert` go through one prepared statement,
** whatever the mode. `count` asks the server, except in the mode fetch, which reads all rows as text and
** counts them: the way of a virtual table that knows nothing better.
**
** insert_select and insert_rows are inserts too; insert_select in the mode multirow by prepared statements of 500 rows,
** bound once. update and update_rows set one column by the key, through one prepared statement in one transaction.
*/
#include "participant.h"

#include <mysql.h>

typedef struct address {
  char user[64], password[128], host[128], database[128];
  unsigned port;
} address;

/* The columns that a statement gives, where the client library writes them. */
typedef struct bound_row {
  int64_t id;
  double score;
  char name[4 * BENCH_NAME_MAX];
  unsigned long length;
} bound_row;

static _Noreturn void fail(const char *what, const char *why) {
  fprintf(stderr, "peer_mysql: %s: %s\n", what, why);
  exit(1);
}

static _Noreturn void fail_connection(MYSQL *db, const char *what) { fail(what, mysql_error(db)); }

static _Noreturn void fail_statement(MYSQL_STMT *stmt, const char *what) {
  fail(what, mysql_stmt_error(stmt));
}

/* ---- connecting ----------------------------------------------------------------------------- */

static int hex_digit(char c) {
  return c >= '0' && c <= '9'                 ? c - '0'
         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                              : -1;
}

/* Copies the part of a URL up to one of the stops, %xx decoded; answers where it ended. */
static const char *url_part(const char *p, const char *stops, char *out, size_t size) {
  size_t n = 0;
  while (*p && !strchr(stops, *p)) {
    char c = *p++;
    if (c == '%' && hex_digit(p[0]) >= 0 && hex_digit(p[1]) >= 0) {
      c = (char)(hex_digit(p[0]) * 16 + hex_digit(p[1]));
      p += 2;
    }
    if (n + 1 >= size) {
      fail("URL", "a part of it is too long");
    }
    out[n++] = c;
  }
  out[n] = 0;
  return p;
}

/* mysql://user:password@host:port/database */
static address parse_url(const char *url) {
  address a;
  char port[8];
  const char *p = strstr(url, "://");
  if (!p) {
    fail("URL", "it is no mysql://user:password@host:port/database");
  }
  p = url_part(p + 3, ":@", a.user, sizeof a.user);
  p = url_part(p + (*p == ':'), "@", a.password, sizeof a.password);
  p = url_part(p + (*p == '@'), ":/", a.host, sizeof a.host);
  p = url_part(p + (*p == ':'), "/", port, sizeof port);
  url_part(p + (*p == '/'), "?", a.database, sizeof a.database);
  a.port = (unsigned)strtoul(port, NULL, 10);
  return a;
}

static MYSQL *connect_to(const char *url) {
  address a = parse_url(url);
  MYSQL *db = mysql_init(NULL);
  if (!db) {
    fail("connect", "out of memory");
  }
  mysql_options(db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (!mysql_real_connect(db, a.host, a.user, a.password, a.database, a.port, NULL, 0)) {
    fail_connection(db, "connect");
  }
  return db;
}

static void run(MYSQL *db, const char *sql) {
  if (mysql_query(db, sql)) {
    fail_connection(db, sql);
  }
}

/* ---- text ----------------------------------------------------------------------------------- */

static MYSQL_RES *select_text(MYSQL *db, const char *sql) {
  run(db, sql);
  MYSQL_RES *result = mysql_use_result(db);
  if (!result) {
    fail_connection(db, sql);
  }
  return result;
}

static void end_text(MYSQL *db, MYSQL_RES *result, const char *sql) {
  if (mysql_errno(db)) {
    fail_connection(db, sql);
  }
  mysql_free_result(result);
}

static void read_text(MYSQL *db, const char *sql, bench_sums *sums) {
  MYSQL_RES *result = select_text(db, sql);
  MYSQL_ROW row;
  while ((row = mysql_fetch_row(result)) != NULL) {
    unsigned long *lengths = mysql_fetch_lengths(result);
    bench_add(sums, strtoll(row[0], NULL, 10), row[1], lengths[1], strtod(row[2], NULL));
  }
  end_text(db, result, sql);
}

/* Counts by reading; the rows are looked at no further. */
static void fetch_count(MYSQL *db, const char *sql, bench_sums *sums) {
  MYSQL_RES *result = select_text(db, sql);
  while (mysql_fetch_row(result)) {
    sums->count++;
  }
  end_text(db, result, sql);
}

static void ask_count(MYSQL *db, const char *table, bench_sums *sums) {
  char sql[256];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
  MYSQL_RES *result = select_text(db, sql);
  MYSQL_ROW row = mysql_fetch_row(result);
  if (!row) {
    fail_connection(db, sql);
  }
  sums->count = strtoll(row[0], NULL, 10);
  while (mysql_fetch_row(result)) { /* to the end of the answer */
  }
  end_text(db, result, sql);
}

/* ---- prepared ------------------------------------------------------------------------------- */

static MYSQL_STMT *prepare(MYSQL *db, const char *format, const char *table) {
  char sql[256];
  int n = snprintf(sql, sizeof sql, format, table);
  MYSQL_STMT *stmt = mysql_stmt_init(db);
  if (!stmt || mysql_stmt_prepare(stmt, sql, (unsigned long)n)) {
    fail_connection(db, sql);
  }
  return stmt;
}

static void bind_id(MYSQL_BIND *bind, bound_row *row) {
  bind->buffer_type = MYSQL_TYPE_LONGLONG;
  bind->buffer = &row->id;
}

/* name and score, as columns or as parameters. */
static void bind_rest(MYSQL_BIND bind[2], bound_row *row) {
  bind[0].buffer_type = MYSQL_TYPE_STRING;
  bind[0].buffer = row->name;
  bind[0].buffer_length = sizeof row->name;
  bind[0].length = &row->length;
  bind[1].buffer_type = MYSQL_TYPE_DOUBLE;
  bind[1].buffer = &row->score;
}

static void execute(MYSQL_STMT *stmt, const char *what) {
  if (mysql_stmt_execute(stmt)) {
    fail_statement(stmt, what);
  }
}

static void read_binary(MYSQL *db, const char *sql, bench_sums *sums) {
  MYSQL_STMT *stmt = prepare(db, "%s", sql);
  MYSQL_BIND columns[3];
  bound_row row;
  int rc;
  memset(columns, 0, sizeof columns);
  bind_id(columns, &row);
  bind_rest(columns + 1, &row);
  execute(stmt, sql);
  if (mysql_stmt_bind_result(stmt, columns)) {
    fail_statement(stmt, sql);
  }
  while ((rc = mysql_stmt_fetch(stmt)) == 0) {
    bench_add(sums, row.id, row.name, row.length, row.score);
  }
  if (rc != MYSQL_NO_DATA) {
    fail_statement(stmt, sql);
  }
  mysql_stmt_close(stmt);
}

/* A row is read, and then that it was the only one: the answer ends there, and nothing is left to free. */
static void lookup_rows(MYSQL_STMT *stmt, int64_t rows, int64_t units, bench_sums *sums) {
  MYSQL_BIND key, columns[2];
  bound_row row;
  memset(&key, 0, sizeof key);
  memset(columns, 0, sizeof columns);
  bind_id(&key, &row);
  bind_rest(columns, &row);
  if (mysql_stmt_bind_param(stmt, &key)) {
    fail_statement(stmt, "lookup");
  }
  for (int64_t i = 0; i < units; i++) {
    row.id = bench_key(i, rows);
    execute(stmt, "lookup");
    if ((i == 0 && mysql_stmt_bind_result(stmt, columns)) || mysql_stmt_fetch(stmt) != 0) {
      fail_statement(stmt, "lookup");
    }
    bench_add(sums, row.id, row.name, row.length, row.score);
    if (mysql_stmt_fetch(stmt) != MYSQL_NO_DATA) {
      fail_statement(stmt, "lookup");
    }
  }
}

static void insert_rows(MYSQL *db, MYSQL_STMT *stmt, int64_t units) {
  MYSQL_BIND parameters[3];
  bound_row row;
  memset(parameters, 0, sizeof parameters);
  bind_id(parameters, &row);
  bind_rest(parameters + 1, &row);
  if (mysql_stmt_bind_param(stmt, parameters)) {
    fail_statement(stmt, "insert");
  }
  run(db, "START TRANSACTION");
  for (int64_t i = 1; i <= units; i++) {
    row.id = i;
    row.length = (unsigned long)bench_name(i, row.name);
    row.score = bench_score(i);
    execute(stmt, "insert");
    if (mysql_stmt_affected_rows(stmt) != 1) {
      fail("insert", "not one row was inserted");
    }
  }
  run(db, "COMMIT");
}

/* ---- many rows in a statement ----------------------------------------------------------------- */

#define MULTIROW 500

static MYSQL_STMT *prepare_multirow(MYSQL *db, const char *table, int rows) {
  static char sql[256 + MULTIROW * 12];
  MYSQL_STMT *stmt = mysql_stmt_init(db);
  int n = snprintf(sql, sizeof sql, "INSERT INTO %s (id, name, score) VALUES ", table);
  for (int i = 0; i < rows; i++) {
    n += snprintf(sql + n, sizeof sql - (size_t)n, i ? ", (?, ?, ?)" : "(?, ?, ?)");
  }
  if (!stmt || mysql_stmt_prepare(stmt, sql, (unsigned long)n)) {
    fail_connection(db, "insert");
  }
  return stmt;
}

static void insert_multirow(MYSQL *db, const char *table, int64_t units) {
  static bound_row rows[MULTIROW];
  static MYSQL_BIND parameters[3 * MULTIROW];
  MYSQL_STMT *stmt = NULL;
  run(db, "START TRANSACTION");
  for (int64_t id = 1; id <= units;) {
    int n = 0, all = units - id + 1 < MULTIROW ? (int)(units - id + 1) : MULTIROW;
    if (!stmt || all < MULTIROW) { /* the first, and what is left at the end */
      if (stmt) {
        mysql_stmt_close(stmt);
      }
      stmt = prepare_multirow(db, table, all);
      memset(parameters, 0, sizeof parameters);
      for (int i = 0; i < all; i++) {
        bind_id(&parameters[3 * i], &rows[i]);
        bind_rest(&parameters[3 * i + 1], &rows[i]);
      }
      if (mysql_stmt_bind_param(stmt, parameters)) {
        fail_statement(stmt, "insert");
      }
    }
    for (; n < all; n++, id++) {
      rows[n].id = id;
      rows[n].length = (unsigned long)bench_name(id, rows[n].name);
      rows[n].score = bench_score(id);
    }
    execute(stmt, "insert");
  }
  run(db, "COMMIT");
  mysql_stmt_close(stmt);
}

static void update_rows(MYSQL *db, MYSQL_STMT *stmt, int64_t units) {
  MYSQL_BIND parameters[2], *score = &parameters[0], *id = &parameters[1];
  bound_row row;
  memset(parameters, 0, sizeof parameters);
  score->buffer_type = MYSQL_TYPE_DOUBLE;
  score->buffer = &row.score;
  bind_id(id, &row);
  if (mysql_stmt_bind_param(stmt, parameters)) {
    fail_statement(stmt, "update");
  }
  run(db, "START TRANSACTION");
  for (int64_t i = 1; i <= units; i++) {
    row.id = i;
    row.score = bench_score(i);
    execute(stmt, "update");
    if (mysql_stmt_affected_rows(stmt) != 1) {
      fail("update", "not one row was updated");
    }
  }
  run(db, "COMMIT");
}

/* ---- the works ------------------------------------------------------------------------------ */

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: peer_mysql MODE WORK URL TABLE ROWS UNITS\n");
    return 2;
  }
  const char *mode = argv[1], *work = argv[2], *table = argv[4];
  int64_t rows = strtoll(argv[5], NULL, 10), units = strtoll(argv[6], NULL, 10);
  MYSQL *db = connect_to(argv[3]);
  MYSQL_STMT *stmt = NULL;
  char sql[256], empty[160];
  int insert = !strncmp(work, "insert", 6), update = !strncmp(work, "update", 6);
  int multirow = insert && !strcmp(mode, "multirow");
  int n = snprintf(sql, sizeof sql, "SELECT id, name, score FROM %s", table);
  if (!strcmp(work, "filter")) {
    snprintf(sql + n, sizeof sql - (size_t)n, " WHERE id BETWEEN %lld AND %lld",
             (long long)bench_filter_low(rows), (long long)bench_filter_high(rows));
  }
  if (!strcmp(work, "lookup")) {
    stmt = prepare(db, "SELECT name, score FROM %s WHERE id = ?", table);
  } else if (insert) {
    snprintf(empty, sizeof empty, "TRUNCATE TABLE %s", table);
    run(db, empty);
    stmt = prepare(db, "INSERT INTO %s VALUES (?, ?, ?)", table);
  } else if (update) {
    stmt = prepare(db, "UPDATE %s SET score = ? WHERE id = ?", table);
  }

  bench_sums sums = {0, 0, 0, 0};
  bench_clock start = bench_now();
  if (multirow) {
    insert_multirow(db, table, units);
  } else if (insert) {
    insert_rows(db, stmt, units);
  } else if (update) {
    update_rows(db, stmt, units);
  } else if (stmt) {
    lookup_rows(stmt, rows, units, &sums);
  } else if (!strcmp(work, "count") && !strcmp(mode, "fetch")) {
    fetch_count(db, sql, &sums);
  } else if (!strcmp(work, "count")) {
    ask_count(db, table, &sums);
  } else if (!strcmp(mode, "binary")) {
    read_binary(db, sql, &sums);
  } else {
    read_text(db, sql, &sums);
  }
  bench_clock end = bench_now();
  if (stmt) {
    mysql_stmt_close(stmt);
  }
  if (insert || update) { /* what arrived is what counts */
    read_text(db, sql, &sums);
  }

  char client[60];
  snprintf(client, sizeof client, "libmariadb %s", mysql_get_client_info());
  bench_report(work, start, end, &sums, units, mysql_get_server_info(db), client);
  mysql_close(db);
  return 0;
}
