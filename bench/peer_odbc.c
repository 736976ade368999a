/*
** The peers c-getdata, c-block and c-prepared of ODBC: what a C programmer would write on ODBC, with no SQLite anywhere.
**
**     peer_odbc MODE WORK URL TABLE ROWS UNITS     do WORK once, print one JSON line
**
** URL is a connection string behind `odbc:`. MODE says how the rows of `scan` and `filter` are read: getdata (SQLFetch, then
** SQLGetData for each value as wide text: the way that asks nothing of a driver) or block (256 rows at a time into bound
** arrays of bigints, wide texts and doubles) or utf8 (the same with narrow texts, which are UTF-8 by the settings of
** both drivers here). `lookup` and `insert` go through one prepared statement whose parameters and
** columns are bound once, whatever the mode; inserts are one transaction. `count` asks the server.
*/
#include "participant.h"

#include <sql.h>
#include <sqlext.h>

enum { BLOCK = 256, NAME_UNITS = 64 };

typedef struct session {
  SQLHENV environment;
  SQLHDBC connection;
} session;

/* ---- Errors ------------------------------------------------------------------------------------- */

static _Noreturn void fail(SQLSMALLINT kind, SQLHANDLE handle, const char *what) {
  SQLCHAR state[6] = "", message[500] = "";
  SQLGetDiagRec(kind, handle, 1, state, NULL, message, sizeof message, NULL);
  fprintf(stderr, "peer_odbc: %s: %s %s\n", what, (const char *)state, (const char *)message);
  exit(1);
}

static void must(SQLHSTMT stmt, SQLRETURN rc, const char *what) {
  if (!SQL_SUCCEEDED(rc)) {
    fail(SQL_HANDLE_STMT, stmt, what);
  }
}

/* ---- Text --------------------------------------------------------------------------------------- */

static int64_t wide_chars(const SQLWCHAR *text, SQLLEN bytes) {
  int64_t chars = 0;
  for (SQLLEN i = 0; i < bytes / 2; i++) {
    chars += (text[i] & 0xFC00) != 0xDC00;
  }
  return chars;
}

/* Digits, a point and a sign as narrow text. */
static const char *narrow(const SQLWCHAR *text, SQLLEN bytes, char out[40]) {
  SQLLEN n = bytes / 2 < 39 ? bytes / 2 : 39;
  for (SQLLEN i = 0; i < n; i++) {
    out[i] = (char)text[i];
  }
  out[n] = 0;
  return out;
}

/* The benchmark's names are of the BMP. Answers how many bytes. */
static SQLLEN widen(const char *name, size_t n, SQLWCHAR *out) {
  SQLLEN units = 0;
  for (size_t i = 0; i < n; units++) {
    unsigned char lead = (unsigned char)name[i++];
    unsigned c = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1Fu : lead & 0x0Fu;
    for (int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : 2; more > 0; more--) {
      c = c << 6 | ((unsigned char)name[i++] & 0x3Fu);
    }
    out[units] = (SQLWCHAR)c;
  }
  return units * 2;
}

static void add(bench_sums *sums, int64_t id, const SQLWCHAR *name, SQLLEN bytes, double score) {
  sums->count++;
  sums->ids += id;
  sums->chars += wide_chars(name, bytes);
  sums->score += score;
}

/* ---- Connecting --------------------------------------------------------------------------------- */

static session connect_to(const char *url) {
  session s;
  char string[1024];
  if (strncmp(url, "odbc:", 5) != 0 || strlen(url) >= sizeof string) {
    fprintf(stderr, "peer_odbc: the URL is no odbc:DSN=...\n");
    exit(2);
  }
  memcpy(string, url + 5, strlen(url) - 4);
  SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &s.environment);
  SQLSetEnvAttr(s.environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
  SQLAllocHandle(SQL_HANDLE_DBC, s.environment, &s.connection);
  if (!SQL_SUCCEEDED(SQLDriverConnect(s.connection, NULL, (SQLCHAR *)string, SQL_NTS, NULL, 0, NULL,
                                      SQL_DRIVER_NOPROMPT))) {
    fail(SQL_HANDLE_DBC, s.connection, "connect");
  }
  return s;
}

static void disconnect(session *s) {
  SQLDisconnect(s->connection);
  SQLFreeHandle(SQL_HANDLE_DBC, s->connection);
  SQLFreeHandle(SQL_HANDLE_ENV, s->environment);
}

static SQLHSTMT statement(session *s) {
  SQLHSTMT stmt = SQL_NULL_HSTMT;
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, s->connection, &stmt))) {
    fail(SQL_HANDLE_DBC, s->connection, "statement");
  }
  return stmt;
}

static SQLHSTMT prepare(session *s, const char *format, const char *table) {
  char sql[256];
  SQLHSTMT stmt = statement(s);
  snprintf(sql, sizeof sql, format, table);
  must(stmt, SQLPrepare(stmt, (SQLCHAR *)sql, SQL_NTS), sql);
  return stmt;
}

static void run(SQLHSTMT stmt, const char *sql) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", sql);
  must(stmt, SQLExecDirect(stmt, (SQLCHAR *)copy, SQL_NTS), sql);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static SQLLEN get_wide(SQLHSTMT stmt, SQLUSMALLINT column, SQLWCHAR out[NAME_UNITS]) {
  SQLLEN bytes = 0;
  must(stmt, SQLGetData(stmt, column, SQL_C_WCHAR, out, NAME_UNITS * sizeof(SQLWCHAR), &bytes),
       "SQLGetData");
  return bytes;
}

static void read_getdata(session *s, const char *sql, bench_sums *sums) {
  SQLHSTMT stmt = statement(s);
  SQLWCHAR wide[NAME_UNITS], name[NAME_UNITS];
  char text[40];
  SQLRETURN rc;
  run(stmt, sql);
  while (SQL_SUCCEEDED(rc = SQLFetch(stmt))) {
    SQLLEN n = get_wide(stmt, 1, wide);
    int64_t id = strtoll(narrow(wide, n, text), NULL, 10);
    SQLLEN bytes = get_wide(stmt, 2, name);
    n = get_wide(stmt, 3, wide);
    add(sums, id, name, bytes, strtod(narrow(wide, n, text), NULL));
  }
  if (rc != SQL_NO_DATA) {
    must(stmt, rc, "SQLFetch");
  }
  SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

typedef struct block {
  SQLBIGINT id[BLOCK];
  SQLWCHAR name[BLOCK][NAME_UNITS];
  double score[BLOCK];
  SQLLEN id_n[BLOCK], name_n[BLOCK], score_n[BLOCK];
  SQLULEN fetched;
} block;

static void read_block(session *s, const char *sql, int narrow_text, bench_sums *sums) {
  SQLHSTMT stmt = statement(s);
  block *b = calloc(1, sizeof *b);
  SQLRETURN rc;
  SQLSetStmtAttr(stmt, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)(size_t)BLOCK, 0);
  SQLSetStmtAttr(stmt, SQL_ATTR_ROWS_FETCHED_PTR, &b->fetched, 0);
  SQLBindCol(stmt, 1, SQL_C_SBIGINT, b->id, 0, b->id_n);
  SQLBindCol(stmt, 2, narrow_text ? SQL_C_CHAR : SQL_C_WCHAR, b->name, sizeof b->name[0],
             b->name_n);
  SQLBindCol(stmt, 3, SQL_C_DOUBLE, b->score, 0, b->score_n);
  run(stmt, sql);
  while (SQL_SUCCEEDED(rc = SQLFetch(stmt))) {
    for (SQLULEN i = 0; i < b->fetched; i++) {
      if (narrow_text) {
        bench_add(sums, b->id[i], (const char *)b->name[i], (size_t)b->name_n[i], b->score[i]);
      } else {
        add(sums, b->id[i], b->name[i], b->name_n[i], b->score[i]);
      }
    }
  }
  if (rc != SQL_NO_DATA) {
    must(stmt, rc, "SQLFetch");
  }
  SQLFreeHandle(SQL_HANDLE_STMT, stmt);
  free(b);
}

static void ask_count(session *s, const char *table, bench_sums *sums) {
  char sql[256];
  SQLHSTMT stmt = statement(s);
  SQLBIGINT count = 0;
  snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
  run(stmt, sql);
  must(stmt, SQLFetch(stmt), sql);
  must(stmt, SQLGetData(stmt, 1, SQL_C_SBIGINT, &count, 0, NULL), sql);
  sums->count = count;
  SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

/* ---- Prepared ----------------------------------------------------------------------------------- */

static void bind_id(SQLHSTMT stmt, SQLBIGINT *id) {
  must(stmt,
       SQLBindParameter(stmt, 1, SQL_PARAM_INPUT, SQL_C_SBIGINT, SQL_BIGINT, 0, 0, id, 0, NULL),
       "bind");
}

static void lookup_rows(SQLHSTMT stmt, int64_t rows, int64_t units, bench_sums *sums) {
  SQLBIGINT id;
  SQLWCHAR name[NAME_UNITS];
  SQLLEN bytes, n;
  double score;
  bind_id(stmt, &id);
  SQLBindCol(stmt, 1, SQL_C_WCHAR, name, sizeof name, &bytes);
  SQLBindCol(stmt, 2, SQL_C_DOUBLE, &score, 0, &n);
  for (int64_t i = 0; i < units; i++) {
    id = bench_key(i, rows);
    must(stmt, SQLExecute(stmt), "lookup");
    must(stmt, SQLFetch(stmt), "lookup");
    add(sums, id, name, bytes, score);
    SQLFreeStmt(stmt, SQL_CLOSE);
  }
}

static void insert_rows(session *s, SQLHSTMT stmt, int64_t units) {
  SQLBIGINT id;
  SQLWCHAR wide[NAME_UNITS];
  char name[BENCH_NAME_MAX];
  SQLLEN bytes, affected;
  double score;
  bind_id(stmt, &id);
  must(stmt,
       SQLBindParameter(stmt, 2, SQL_PARAM_INPUT, SQL_C_WCHAR, SQL_WVARCHAR, 40, 0, wide,
                        sizeof wide, &bytes),
       "bind");
  must(stmt,
       SQLBindParameter(stmt, 3, SQL_PARAM_INPUT, SQL_C_DOUBLE, SQL_DOUBLE, 0, 0, &score, 0, NULL),
       "bind");
  SQLSetConnectAttr(s->connection, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
  for (int64_t i = 1; i <= units; i++) {
    id = i;
    bytes = widen(name, (size_t)bench_name(i, name), wide);
    score = bench_score(i);
    must(stmt, SQLExecute(stmt), "insert");
    if (!SQL_SUCCEEDED(SQLRowCount(stmt, &affected)) || affected != 1) {
      fail(SQL_HANDLE_STMT, stmt, "not one row was inserted");
    }
  }
  if (!SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, s->connection, SQL_COMMIT))) {
    fail(SQL_HANDLE_DBC, s->connection, "commit");
  }
}

/* ---- The works ---------------------------------------------------------------------------------- */

static void read_rows(session *s, const char *mode, const char *sql, bench_sums *sums) {
  if (!strcmp(mode, "getdata")) {
    read_getdata(s, sql, sums);
  } else {
    read_block(s, sql, !strcmp(mode, "utf8"), sums);
  }
}

static void report(session *s, const char *work, bench_clock start, bench_clock end,
                   const bench_sums *sums, int64_t units) {
  char client[80], server[40] = "", name[24] = "", version[24] = "";
  SQLGetInfo(s->connection, SQL_DBMS_VER, server, sizeof server, NULL);
  SQLGetInfo(s->connection, SQL_DRIVER_NAME, name, sizeof name, NULL);
  SQLGetInfo(s->connection, SQL_DRIVER_VER, version, sizeof version, NULL);
  snprintf(client, sizeof client, "%s %s", name, version);
  bench_report(work, start, end, sums, units, server, client);
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: peer_odbc getdata|block|utf8 WORK URL TABLE ROWS UNITS\n");
    return 2;
  }
  const char *mode = argv[1], *work = argv[2], *table = argv[4];
  int64_t rows = strtoll(argv[5], NULL, 10), units = strtoll(argv[6], NULL, 10);
  session s = connect_to(argv[3]);
  SQLHSTMT stmt = SQL_NULL_HSTMT;
  char sql[256], empty[160];
  int insert = !strcmp(work, "insert");
  int n = snprintf(sql, sizeof sql, "SELECT id, name, score FROM %s", table);
  if (!strcmp(work, "filter")) {
    snprintf(sql + n, sizeof sql - (size_t)n, " WHERE id BETWEEN %lld AND %lld",
             (long long)bench_filter_low(rows), (long long)bench_filter_high(rows));
  }
  if (!strcmp(work, "lookup")) {
    stmt = prepare(&s, "SELECT name, score FROM %s WHERE id = ?", table);
  } else if (insert) {
    SQLHSTMT first = statement(&s);
    snprintf(empty, sizeof empty, "TRUNCATE TABLE %s", table);
    run(first, empty);
    SQLFreeHandle(SQL_HANDLE_STMT, first);
    stmt = prepare(&s, "INSERT INTO %s VALUES (?, ?, ?)", table);
  }

  bench_sums sums = {0, 0, 0, 0};
  bench_clock start = bench_now();
  if (insert) {
    insert_rows(&s, stmt, units);
  } else if (stmt) {
    lookup_rows(stmt, rows, units, &sums);
  } else if (!strcmp(work, "count")) {
    ask_count(&s, table, &sums);
  } else {
    read_rows(&s, mode, sql, &sums);
  }
  bench_clock end = bench_now();
  if (stmt) {
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
  }
  if (insert) { /* what arrived is what counts */
    read_block(&s, sql, 0, &sums);
    SQLEndTran(SQL_HANDLE_DBC, s.connection, SQL_COMMIT);
  }
  report(&s, work, start, end, &sums, units);
  disconnect(&s);
  return 0;
}
