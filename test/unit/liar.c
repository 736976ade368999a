/*
** liar.c: the ODBC driver that lies (test/liar), seen by a program on unixODBC alone: each lie is told, and without it
** the truth. It uses nothing of the product: what odbc_hostile.test holds the product against is held here.
*/
#include "unit.h"

#include <sql.h>
#include <sqlext.h>
#include <stdlib.h>
#include <unistd.h>

static SQLHENV env;
static SQLHDBC dbc;
static SQLHSTMT stmt;

/* A fresh connection that lies so, and a statement on it. */
static SQLRETURN with(const char *driver, const char *lies) {
  char string[300];
  if (stmt) SQLFreeHandle(SQL_HANDLE_STMT, stmt);
  if (dbc) SQLDisconnect(dbc), SQLFreeHandle(SQL_HANDLE_DBC, dbc);
  stmt = NULL;
  SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
  snprintf(string, sizeof string, "Driver={%s};UID=me;PWD=s3cret;Lie=%s", driver, lies);
  SQLRETURN rc =
      SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
  if (SQL_SUCCEEDED(rc)) SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
  return rc;
}

static SQLRETURN run(const char *sql) {
  char copy[200];
  snprintf(copy, sizeof copy, "%s", sql);
  return SQLExecDirect(stmt, (SQLCHAR *)copy, SQL_NTS);
}

/* ---- Blocks --------------------------------------------------------------------------------------- */

enum { BLOCK = 4 };
static SQLBIGINT numbers[BLOCK];
static char texts[BLOCK][11];
static SQLLEN number_n[BLOCK], text_n[BLOCK];
static SQLULEN fetched;
static SQLUSMALLINT status[BLOCK];

/* The first block of 6 rows of an int and a text of which row 2 has 25 characters where 10 are said. */
static SQLRETURN block(const char *lies) {
  if (!CHECK(SQL_SUCCEEDED(with("liar", lies)))) return SQL_ERROR;
  memset(number_n, 0x55, sizeof number_n);
  memset(text_n, 0x55, sizeof text_n);
  memset(status, 0x55, sizeof status);
  fetched = 77;
  SQLSetStmtAttr(stmt, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)(size_t)BLOCK, 0);
  SQLSetStmtAttr(stmt, SQL_ATTR_ROWS_FETCHED_PTR, &fetched, 0);
  SQLSetStmtAttr(stmt, SQL_ATTR_ROW_STATUS_PTR, status, 0);
  SQLBindCol(stmt, 1, SQL_C_SBIGINT, numbers, 0, number_n);
  SQLBindCol(stmt, 2, SQL_C_CHAR, texts, sizeof texts[0], text_n);
  CHECK(SQL_SUCCEEDED(run("ANSWER 6 int, char(10)*25@2")));
  return SQLFetch(stmt);
}

static void blocks(void) {
  CHECK_INT(block(""), SQL_SUCCESS_WITH_INFO);
  CHECK_INT(fetched, 4);
  CHECK_INT(numbers[3], 4);
  CHECK_STR(texts[1], "bcdefghi");
  CHECK_STR(texts[2], "cdefghijkl");
  CHECK_INT(text_n[1], 8);
  CHECK_INT(text_n[2], 25);
  CHECK_INT(status[1], SQL_ROW_SUCCESS);
  CHECK_INT(status[2], SQL_ROW_SUCCESS_WITH_INFO);
  CHECK_INT(SQLFetch(stmt), SQL_SUCCESS);
  CHECK_INT(fetched, 2);
  CHECK_INT(status[2], SQL_ROW_NOROW);
  CHECK_INT(SQLFetch(stmt), SQL_NO_DATA);

  CHECK_INT(block("quiet"), SQL_SUCCESS);
  CHECK_INT(block("hidden"), SQL_SUCCESS_WITH_INFO);
  CHECK_INT(text_n[2], 10);
  CHECK_INT(block("no-total"), SQL_SUCCESS_WITH_INFO);
  CHECK_INT(text_n[2], SQL_NO_TOTAL);
  CHECK_INT(block("one-row"), SQL_SUCCESS);
  CHECK_INT(fetched, 1);
  block("no-count");
  CHECK_INT(fetched, 77);
  block("high-count");
  CHECK_INT(fetched, 4000);
  block("no-status");
  CHECK_INT(status[0], 0x5555);
  block("narrow");
  CHECK_INT(text_n[0], 0x5555555500000008);
  CHECK_INT(text_n[1], 0x5555555500000008);
  block("packed");
  CHECK_INT(text_n[0], 0x0000000800000008);
  block("negative:1");
  CHECK_INT(text_n[1], -7);
  CHECK_INT(block("row-error:1"), SQL_SUCCESS_WITH_INFO);
  CHECK_INT(status[1], SQL_ROW_ERROR);
  CHECK_INT(block("fetch-error:1"), SQL_ERROR);
  CHECK(SQL_SUCCEEDED(with("liar", "no-array")));
  CHECK_INT(SQLSetStmtAttr(stmt, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)(size_t)BLOCK, 0), SQL_ERROR);
  CHECK(SQL_SUCCEEDED(with("liar", "refuses")));
  CHECK_INT(SQLSetStmtAttr(stmt, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)1, 0), SQL_ERROR);
}

/* ---- SQLGetData ------------------------------------------------------------------------------------ */

static char part[9];
static SQLLEN part_n;

static SQLRETURN get(SQLUSMALLINT column) {
  return SQLGetData(stmt, column, SQL_C_CHAR, part, sizeof part, &part_n);
}

static void long_row(const char *lies) {
  CHECK(SQL_SUCCEEDED(with("liar", lies)));
  CHECK(SQL_SUCCEEDED(run("ANSWER 2 longchar*12, int, longchar*0, longpairs*3")));
  CHECK(SQL_SUCCEEDED(SQLFetch(stmt)));
}

static void parts(void) {
  SQLWCHAR wide[4];
  long_row("");
  CHECK_INT(get(1), SQL_SUCCESS_WITH_INFO);
  CHECK_INT(part_n, 12);
  CHECK_STR(part, "abcdefgh");
  CHECK_INT(get(1), SQL_SUCCESS);
  CHECK_INT(part_n, 4);
  CHECK_STR(part, "ijkl");
  CHECK_INT(get(1), SQL_NO_DATA);
  CHECK_INT(get(3), SQL_SUCCESS);
  CHECK_INT(part_n, 0);
  CHECK_INT(get(2), SQL_ERROR);
  CHECK_INT(SQLGetData(stmt, 4, SQL_C_WCHAR, wide, sizeof wide, &part_n), SQL_SUCCESS_WITH_INFO);
  CHECK_INT(part_n, 12);
  CHECK_INT(wide[2], 0); /* a pair is not split, so one character fits */

  long_row("no-data");
  CHECK_INT(get(3), SQL_NO_DATA);
  long_row("length-once");
  get(1);
  get(1);
  CHECK_INT(part_n, 12);
  long_row("stuck");
  for (int i = 0; i < 3; i++) CHECK_INT(get(1), SQL_SUCCESS_WITH_INFO);
  CHECK_STR(part, "");
  long_row("split");
  SQLGetData(stmt, 4, SQL_C_WCHAR, wide, sizeof wide, &part_n);
  CHECK_INT(wide[2] & 0xFC00, 0xD800);
  long_row("odd-length");
  SQLGetData(stmt, 2, SQL_C_WCHAR, wide, sizeof wide, &part_n);
  CHECK_INT(part_n, 3);
  long_row("getdata-blocks");
  get(3);
  CHECK_INT(get(1), SQL_SUCCESS_WITH_INFO);
  SQLUINTEGER extensions = 0;
  CHECK(
      SQL_SUCCEEDED(SQLGetInfo(dbc, SQL_GETDATA_EXTENSIONS, &extensions, sizeof extensions, NULL)));
  CHECK_INT(extensions & SQL_GD_ANY_ORDER, SQL_GD_ANY_ORDER);
  long_row("false-order");
  get(3);
  CHECK_INT(get(1), SQL_ERROR);
}

/* ---- The rest --------------------------------------------------------------------------------------- */

static int records(SQLCHAR *message, SQLSMALLINT room, SQLSMALLINT *n) {
  SQLCHAR state[6], more[1000];
  int count = 0;
  while (count < 1000 && SQL_SUCCEEDED(SQLGetDiagRec(
                             SQL_HANDLE_STMT, stmt, (SQLSMALLINT)(count + 1), state, NULL,
                             count ? more : message, count ? 1000 : room, count ? NULL : n))) {
    count++;
  }
  return count;
}

static int errors(const char *lies, char message[1000], SQLSMALLINT *n) {
  CHECK(SQL_SUCCEEDED(with("liar", lies)));
  CHECK_INT(run("FAIL 42000"), SQL_ERROR);
  return records((SQLCHAR *)message, 1000, n);
}

static void diagnostics(void) {
  char message[1000];
  SQLSMALLINT n = 0;
  CHECK_INT(errors("", message, &n), 1);
  CHECK(strstr(message, "told to fail") != NULL);
  CHECK_INT(errors("many-records", message, &n), 300);
  CHECK_INT(errors("tells-password", message, &n), 1);
  CHECK(strstr(message, "s3cret") != NULL);
  CHECK_INT(errors("huge-record", message, &n), 1);
  CHECK(n > 30000 && strstr(message, "PWD=s3cret"));
  CHECK_INT(errors("no-record", message, &n), 0);
}

static void results(void) {
  SQLSMALLINT columns;
  SQLLEN count;
  SQLCHAR name[4000];
  SQLSMALLINT length;
  SQLUINTEGER dead = 0;
  with("liar", "more-first");
  run("ANSWER 2 int");
  SQLNumResultCols(stmt, &columns);
  CHECK_INT(columns, 0);
  CHECK_INT(SQLMoreResults(stmt), SQL_SUCCESS);
  CHECK_INT(SQLMoreResults(stmt), SQL_SUCCESS);
  SQLNumResultCols(stmt, &columns);
  CHECK_INT(columns, 1);
  CHECK_INT(SQLMoreResults(stmt), SQL_NO_DATA);
  with("liar", "more-error");
  run("ANSWER 2 int");
  CHECK_INT(SQLMoreResults(stmt), SQL_ERROR);
  with("liar", "negative-columns");
  run("ANSWER 2 int");
  SQLNumResultCols(stmt, &columns);
  CHECK_INT(columns, -3);
  with("liar", "count");
  run("CHANGE 5");
  SQLRowCount(stmt, &count);
  CHECK_INT(count, -123456);
  with("liar", "long-names");
  run("ANSWER 2 int");
  SQLDescribeCol(stmt, 1, name, sizeof name, &length, NULL, NULL, NULL, NULL);
  CHECK_INT(length, 2981);
  with("liar", "warns");
  CHECK_INT(run("CHANGE 5"), SQL_SUCCESS_WITH_INFO);
  with("liar", "no-transactions");
  CHECK_INT(SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0),
            SQL_ERROR);
  for (int i = 0; i < 2; i++) {
    with("liar", i ? "says-alive" : "");
    CHECK_INT(run("DIE"), SQL_ERROR);
    CHECK_INT(run("ANSWER 1 int"), SQL_ERROR);
    SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead, sizeof dead, NULL);
    CHECK_INT(dead, !i);
  }
  CHECK_INT(with("liar", "no-such-lie"), SQL_ERROR);
}

static SQLSMALLINT catalog_columns(const char *lies) {
  SQLSMALLINT columns = 0;
  SQLCHAR table[] = "t";
  CHECK(SQL_SUCCEEDED(with("liar", lies)));
  if (!SQL_SUCCEEDED(SQLColumns(stmt, NULL, 0, NULL, 0, table, SQL_NTS, NULL, 0))) return -1;
  SQLNumResultCols(stmt, &columns);
  return columns;
}

static int catalog_rows(void) {
  int rows = 0;
  while (SQL_SUCCEEDED(SQLFetch(stmt))) rows++;
  return rows;
}

static void catalogs(void) {
  CHECK_INT(catalog_columns(""), 18);
  CHECK_INT(catalog_rows(), 5);
  CHECK_INT(catalog_columns("catalog-all"), 18);
  CHECK_INT(catalog_rows(), 7);
  CHECK_INT(catalog_columns("catalog-few"), 12);
  CHECK_INT(catalog_columns("catalog-more"), 21);
  CHECK_INT(catalog_columns("catalog-none"), -1);
}

int main(void) {
  char dir[] = "liar.XXXXXX", path[100], *cwd = getcwd(NULL, 0);
  const char *build = getenv("EDB_BUILD_DIR");
  if (!CHECK(build && cwd && mkdtemp(dir))) return unit_done("liar");
  snprintf(path, sizeof path, "%s/odbcinst.ini", dir);
  FILE *f = fopen(path, "w");
  fprintf(f, "[liar]\nDriver = %s/liar.so\n[liar_ansi]\nDriver = %s/liar_ansi.so\n", build, build);
  fclose(f);
  setenv("ODBCSYSINI", dir, 1);
  SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
  SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
  blocks();
  parts();
  diagnostics();
  results();
  catalogs();
  CHECK(SQL_SUCCEEDED(with("liar_ansi", "")));
  CHECK(SQL_SUCCEEDED(run("ANSWER 1 int")));
  SQLFreeHandle(SQL_HANDLE_STMT, stmt);
  SQLDisconnect(dbc);
  SQLFreeHandle(SQL_HANDLE_DBC, dbc);
  SQLFreeHandle(SQL_HANDLE_ENV, env);
  unlink(path);
  rmdir(dir);
  free(cwd);
  return unit_done("liar");
}
