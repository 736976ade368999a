/*
** The peer freetds: a C program on FreeTDS's db-lib, TDS 7.4 inside TLS. No SQLite is in it.
**
**     peer_freetds WORK USER PASSWORD DATABASE TABLE ROWS UNITS     do WORK once, print one JSON line
**
** The server "bench" is in the file that FREETDSCONF names. Values are read where db-lib keeps them, text as UTF-8.
** lookup and insert prepare once by sp_prepare, then call sp_execute: ct-lib's dynamic statements would send text
** in the database's code page, which has not all of the words.
*/
#include "participant.h"

#include <sybfront.h>
#include <sybdb.h>

#ifndef XSYBNVARCHAR
#define XSYBNVARCHAR 231 /* what db-lib calls nvarchar inside */
#endif

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "peer_freetds: %s\n", what);
  exit(1);
}

static void must(RETCODE rc, const char *what) {
  if (rc != SUCCEED) fail(what);
}

static int on_error(DBPROCESS *db, int severity, int number, int os, char *text, char *os_text) {
  (void)db, (void)severity, (void)number, (void)os, (void)os_text;
  fprintf(stderr, "peer_freetds: %s\n", text);
  return INT_CANCEL;
}

static int on_message(DBPROCESS *db, DBINT number, int state, int severity, char *text,
                      char *server, char *procedure, int line) {
  (void)db, (void)number, (void)state, (void)server, (void)procedure, (void)line;
  if (severity > 10) fail(text);
  return 0;
}

static DBPROCESS *open_bench(char **argv) {
  must(dbinit(), "dbinit");
  dberrhandle(on_error);
  dbmsghandle(on_message);
  LOGINREC *login = dblogin();
  DBSETLUSER(login, argv[2]);
  DBSETLPWD(login, argv[3]);
  DBSETLDBNAME(login, argv[4]);
  DBSETLCHARSET(login, "UTF-8");
  DBSETLPACKET(login, 16000);
  DBPROCESS *db = dbopen(login, "bench");
  if (!db) fail("no connection");
  dbloginfree(login);
  return db;
}

/* Reads an answer; its rows are (id, name, score), or (name, score) of the row whose id is key. */
static void read_answer(DBPROCESS *db, int64_t key, bench_sums *sums) {
  RETCODE rc;
  int name = key ? 1 : 2;
  while ((rc = dbresults(db)) == SUCCEED) {
    if (dbnumcols(db) == 0) continue;
    while ((rc = dbnextrow(db)) == REG_ROW) {
      DBBIGINT id = key;
      DBFLT8 score;
      if (!key) memcpy(&id, dbdata(db, 1), sizeof id);
      memcpy(&score, dbdata(db, name + 1), sizeof score);
      bench_add(sums, id, (const char *)dbdata(db, name), (size_t)dbdatlen(db, name), score);
    }
    if (rc != NO_MORE_ROWS) fail("the rows ended early");
  }
  if (rc != NO_MORE_RESULTS) fail("the answer ended early");
}

static void batch(DBPROCESS *db, const char *format, const char *table, bench_sums *sums) {
  must(dbfcmd(db, format, table), "dbfcmd");
  must(dbsqlexec(db), "dbsqlexec");
  read_answer(db, 0, sums);
}

static void parameter(DBPROCESS *db, int type, const void *value, int n) {
  must(dbrpcparam(db, NULL, 0, type, -1, n, (BYTE *)value), "dbrpcparam");
}

static void text(DBPROCESS *db, const char *value, int n) { parameter(db, XSYBNVARCHAR, value, n); }

static void call(DBPROCESS *db, int64_t key, bench_sums *sums) {
  must(dbrpcsend(db), "dbrpcsend");
  must(dbsqlok(db), "dbsqlok");
  read_answer(db, key, sums);
}

static DBINT prepare(DBPROCESS *db, const char *declared, const char *format, const char *table) {
  char sql[300];
  DBINT handle = 0;
  int n = snprintf(sql, sizeof sql, format, table);
  must(dbrpcinit(db, "sp_prepare", 0), "sp_prepare");
  must(dbrpcparam(db, NULL, DBRPCRETURN, SYBINT4, -1, -1, (BYTE *)&handle), "dbrpcparam");
  text(db, declared, (int)strlen(declared));
  text(db, sql, n);
  call(db, 0, NULL);
  if (dbnumrets(db) < 1) fail("no handle");
  memcpy(&handle, dbretdata(db, 1), sizeof handle);
  return handle;
}

static void lookups(DBPROCESS *db, const char *table, int64_t rows, int64_t units,
                    bench_sums *sums) {
  DBINT handle = prepare(db, "@id bigint", "SELECT name, score FROM %s WHERE id = @id", table);
  for (int64_t n = 0; n < units; n++) {
    DBBIGINT key = bench_key(n, rows);
    must(dbrpcinit(db, "sp_execute", 0), "sp_execute");
    parameter(db, SYBINT4, &handle, -1);
    parameter(db, SYBINT8, &key, -1);
    call(db, key, sums);
  }
}

static void insert(DBPROCESS *db, const char *table, int64_t units) {
  char name[BENCH_NAME_MAX];
  batch(db, "BEGIN TRAN", "", NULL);
  DBINT handle = prepare(db, "@id bigint, @name nvarchar(40), @score float",
                         "INSERT INTO %s VALUES (@id, @name, @score)", table);
  for (int64_t i = 1; i <= units; i++) {
    DBBIGINT id = i;
    DBFLT8 score = bench_score(i);
    must(dbrpcinit(db, "sp_execute", 0), "sp_execute");
    parameter(db, SYBINT4, &handle, -1);
    parameter(db, SYBINT8, &id, -1);
    text(db, name, bench_name(i, name));
    parameter(db, SYBFLT8, &score, -1);
    call(db, 0, NULL);
  }
  batch(db, "COMMIT", "", NULL);
}

int main(int argc, char **argv) {
  if (argc != 8) fail("usage: peer_freetds WORK USER PASSWORD DATABASE TABLE ROWS UNITS");
  const char *work = argv[1], *table = argv[5];
  int64_t rows = strtoll(argv[6], NULL, 10), units = strtoll(argv[7], NULL, 10);
  DBPROCESS *db = open_bench(argv);
  bench_sums sums = {0, 0, 0, 0};
  char version[100];
  int n = snprintf(version, sizeof version, "%s", dbversion());
  for (int i = 0; i < n && i < (int)sizeof version; i++)
    if (strchr("\"\\\n(", version[i])) version[i] = 0;
  if (!strcmp(work, "insert")) batch(db, "TRUNCATE TABLE %s", table, NULL);
  bench_clock start = bench_now();
  if (!strcmp(work, "scan"))
    batch(db, "SELECT id, name, score FROM %s", table, &sums);
  else if (!strcmp(work, "lookup"))
    lookups(db, table, rows, units, &sums);
  else if (!strcmp(work, "insert"))
    insert(db, table, units);
  bench_clock end = bench_now();
  /* What arrived is what counts. */
  if (!strcmp(work, "insert")) batch(db, "SELECT id, name, score FROM %s", table, &sums);
  bench_report(work, start, end, &sums, units, "", version);
  dbexit();
  return 0;
}
