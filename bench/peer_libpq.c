/*
** The peers c-libpq, c-libpq-chunked, c-libpq-whole, c-copy, c-prepared, c-guarded and c-reading: what a C programmer would write
** against PostgreSQL's own client library, with no SQLite anywhere.
**
**     peer_libpq MODE WORK URL TABLE ROWS UNITS     do WORK once, print one JSON line
**     peer_libpq exec URL SQL...                    run statements, print the first column of each
**
** MODE says how rows of `scan` and `filter` travel: single (PQsetSingleRowMode), chunked
** (PQsetChunkedRowsMode, 256 rows, looked up at run time: libpq 17 has it first), whole (PQexec's
** way, the entire result in memory) or copy (COPY ... TO STDOUT, FORMAT binary). Results are binary
** in all of them. WORK is scan, filter, count or lookup. Exit status 3: this libpq has no such
** mode.
**
** insert_select puts UNITS rows into an empty table: by COPY ... FROM STDIN (FORMAT binary) in the mode copy, else
** by a prepared INSERT of one row each. insert_rows and update_rows are one transaction of prepared statements; in the mode
** guarded each has a SAVEPOINT before it and its RELEASE behind it, prepared too and in one pipeline with it; in the mode
** reading each UPDATE is preceded by a SELECT of its row.
*/
#include "participant.h"

#include <dlfcn.h>
#include <libpq-fe.h>

#define CHUNK 256
#define EXIT_UNSUPPORTED 3

enum { OID_INT8 = 20 };

typedef int (*set_chunked_fn)(PGconn *, int);

static _Noreturn void fail(PGconn *conn, const char *what) {
  fprintf(stderr, "peer_libpq: %s: %s", what, conn ? PQerrorMessage(conn) : "\n");
  exit(1);
}

static uint64_t be64(const void *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}

static uint32_t be32(const void *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}

static uint16_t be16(const void *p) {
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}

static double be_double(const void *p) {
  uint64_t bits = be64(p);
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

/* Add the rows (id, name, score) of one binary result. */
static void add_result(bench_sums *sums, const PGresult *res) {
  int n = PQntuples(res);
  for (int i = 0; i < n; i++) {
    bench_add(sums, (int64_t)be64(PQgetvalue(res, i, 0)), PQgetvalue(res, i, 1),
              (size_t)PQgetlength(res, i, 1), be_double(PQgetvalue(res, i, 2)));
  }
}

/* Send sql and add its rows as they come. */
static void read_rows(PGconn *conn, const char *mode, const char *sql, bench_sums *sums) {
  if (!PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 1)) {
    fail(conn, "send");
  }
  if (!strcmp(mode, "single") && !PQsetSingleRowMode(conn)) {
    fail(conn, "single-row mode");
  }
  if (!strcmp(mode, "chunked")) {
    set_chunked_fn set_chunked;
    *(void **)&set_chunked = dlsym(RTLD_DEFAULT, "PQsetChunkedRowsMode");
    if (!set_chunked) {
      fprintf(stderr, "this libpq has no PQsetChunkedRowsMode\n");
      exit(EXIT_UNSUPPORTED);
    }
    if (!set_chunked(conn, CHUNK)) {
      fail(conn, "chunked-rows mode");
    }
  }
  PGresult *res;
  while ((res = PQgetResult(conn)) != NULL) {
    ExecStatusType status = PQresultStatus(res);
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
      fail(conn, sql);
    }
    add_result(sums, res);
    PQclear(res);
  }
}

/* Read the rows of sql as a binary COPY: a row is a count of fields, then each one's length and
** bytes; PQgetCopyData lends one row at a time. */
static void read_copy(PGconn *conn, const char *sql, bench_sums *sums) {
  char copy[600];
  snprintf(copy, sizeof copy, "COPY (%s) TO STDOUT (FORMAT binary)", sql);
  PGresult *res = PQexec(conn, copy);
  if (PQresultStatus(res) != PGRES_COPY_OUT) {
    fail(conn, copy);
  }
  PQclear(res);
  char *row;
  int n, first = 1;
  while ((n = PQgetCopyData(conn, &row, 0)) > 0) {
    const char *p = row;
    if (first) { /* signature (11 bytes), flags, length of the header's extension */
      p += 19 + be32(p + 15);
      first = 0;
    }
    if (p < row + n && be16(p) == 3) { /* the trailer has -1 fields */
      int64_t id = (int64_t)be64(p + 6);
      size_t length = be32(p + 14);
      bench_add(sums, id, p + 18, length, be_double(p + 18 + length + 4));
    }
    PQfreemem(row);
  }
  if (n == -2) {
    fail(conn, copy);
  }
  res = PQgetResult(conn);
  if (PQresultStatus(res) != PGRES_COMMAND_OK) {
    fail(conn, copy);
  }
  PQclear(res);
}

static void count_rows(PGconn *conn, const char *table, bench_sums *sums) {
  char sql[256];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
  PGresult *res = PQexecParams(conn, sql, 0, NULL, NULL, NULL, NULL, 1);
  if (PQresultStatus(res) != PGRES_TUPLES_OK) {
    fail(conn, sql);
  }
  sums->count = (int64_t)be64(PQgetvalue(res, 0, 0));
  PQclear(res);
}

static void prepare_lookup(PGconn *conn, const char *table) {
  char sql[256];
  const Oid types[1] = {OID_INT8};
  snprintf(sql, sizeof sql, "SELECT name, score FROM %s WHERE id = $1", table);
  PGresult *res = PQprepare(conn, "lookup", sql, 1, types);
  if (PQresultStatus(res) != PGRES_COMMAND_OK) {
    fail(conn, sql);
  }
  PQclear(res);
}

static void lookup_rows(PGconn *conn, int64_t rows, int64_t units, bench_sums *sums) {
  const int length = 8, binary = 1;
  for (int64_t i = 0; i < units; i++) {
    int64_t id = bench_key(i, rows);
    uint64_t wire = be64(&id);
    const char *value = (const char *)&wire;
    PGresult *res = PQexecPrepared(conn, "lookup", 1, &value, &length, &binary, 1);
    if (PQresultStatus(res) != PGRES_TUPLES_OK || PQntuples(res) != 1) {
      fail(conn, "lookup");
    }
    bench_add(sums, id, PQgetvalue(res, 0, 0), (size_t)PQgetlength(res, 0, 0),
              be_double(PQgetvalue(res, 0, 1)));
    PQclear(res);
  }
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void run(PGconn *conn, const char *sql) {
  PGresult *res = PQexec(conn, sql);
  if (PQresultStatus(res) != PGRES_COMMAND_OK) {
    fail(conn, sql);
  }
  PQclear(res);
}

static char *put64(char *p, const void *value) {
  uint64_t wire = be64(value);
  memcpy(p, &wire, 8);
  return p + 8;
}

static char *put32(char *p, uint32_t value) {
  uint32_t wire = be32(&value);
  memcpy(p, &wire, 4);
  return p + 4;
}

/* A row of the binary format: the number of fields, then each one's length and bytes. */
static char *put_row(char *p, int64_t id) {
  char name[BENCH_NAME_MAX];
  double score = bench_score(id);
  uint32_t length = (uint32_t)bench_name(id, name);
  *p++ = 0;
  *p++ = 3;
  p = put64(put32(p, 8), &id);
  p = put32(p, length);
  memcpy(p, name, length);
  return put64(put32(p + length, 8), &score);
}

static void copy_in(PGconn *conn, const char *table, int64_t units) {
  static const char header[19] = "PGCOPY\n\377\r\n\0";
  static char buffer[65536 + 256];
  char sql[256];
  snprintf(sql, sizeof sql, "COPY %s (id, name, score) FROM STDIN (FORMAT binary)", table);
  PGresult *res = PQexec(conn, sql);
  if (PQresultStatus(res) != PGRES_COPY_IN) {
    fail(conn, sql);
  }
  PQclear(res);
  memcpy(buffer, header, sizeof header);
  char *p = buffer + sizeof header;
  for (int64_t id = 1; id <= units; id++) {
    p = put_row(p, id);
    if (p - buffer >= 65536) {
      if (PQputCopyData(conn, buffer, (int)(p - buffer)) != 1) {
        fail(conn, sql);
      }
      p = buffer;
    }
  }
  *p++ = (char)255;
  *p++ = (char)255;
  if (PQputCopyData(conn, buffer, (int)(p - buffer)) != 1 || PQputCopyEnd(conn, NULL) != 1) {
    fail(conn, sql);
  }
  res = PQgetResult(conn);
  if (PQresultStatus(res) != PGRES_COMMAND_OK) {
    fail(conn, sql);
  }
  PQclear(res);
  PQclear(PQgetResult(conn));
}

static int is_update(const char *work) { return !strncmp(work, "update", 6); }

static void prepare_write(PGconn *conn, const char *work, const char *table) {
  char sql[256];
  snprintf(sql, sizeof sql,
           is_update(work) ? "UPDATE %s SET score = $2 WHERE id = $1"
                           : "INSERT INTO %s (id, name, score) VALUES ($1, $2, $3)",
           table);
  PGresult *res = PQprepare(conn, "write", sql, 0, NULL);
  if (PQresultStatus(res) != PGRES_COMMAND_OK) {
    fail(conn, sql);
  }
  PQclear(res);
}

/* In one pipeline: what ends the guard of the row before, this row's guard, and its statement. */
static void guarded(PGconn *conn, int first, int n, const char *const *values, const int *lengths,
                    const int *formats) {
  int sent = first || PQsendQueryPrepared(conn, "release", 0, NULL, NULL, NULL, 1);
  if (!sent || !PQsendQueryPrepared(conn, "savepoint", 0, NULL, NULL, NULL, 1) ||
      !PQsendQueryPrepared(conn, "write", n, values, lengths, formats, 1) ||
      !PQpipelineSync(conn)) {
    fail(conn, "send");
  }
  for (int synced = 0; !synced;) {
    PGresult *res = PQgetResult(conn);
    synced = PQresultStatus(res) == PGRES_PIPELINE_SYNC;
    if (res && !synced && PQresultStatus(res) != PGRES_COMMAND_OK) {
      fail(conn, "write");
    }
    PQclear(res);
  }
}

static void prepare_guard(PGconn *conn) {
  PQclear(PQprepare(conn, "savepoint", "SAVEPOINT guard", 0, NULL));
  PQclear(PQprepare(conn, "release", "RELEASE guard", 0, NULL));
  if (!PQenterPipelineMode(conn)) {
    fail(conn, "pipeline");
  }
}

/* The row as it is, as who reads before writing gets it. */
static void read_row(PGconn *conn, const char *key) {
  static const int length = 8, binary = 1;
  PGresult *res = PQexecPrepared(conn, "lookup", 1, &key, &length, &binary, 1);
  if (PQresultStatus(res) != PGRES_TUPLES_OK || PQntuples(res) != 1) {
    fail(conn, "lookup");
  }
  PQclear(res);
}

/* Each row by the prepared statement, in one transaction. */
static void write_rows(PGconn *conn, const char *mode, int update, int64_t units) {
  static const int formats[3] = {1, 1, 1};
  int guards = !strcmp(mode, "guarded"), reads = !strcmp(mode, "reading");
  run(conn, "BEGIN");
  if (guards) {
    prepare_guard(conn);
  }
  for (int64_t id = 1; id <= units; id++) {
    char key[8], number[8], name[BENCH_NAME_MAX];
    double score = bench_score(id);
    int length = bench_name(id, name);
    put64(key, &id);
    put64(number, &score);
    const char *values[3] = {key, update ? number : name, number};
    int lengths[3] = {8, update ? 8 : length, 8};
    if (guards) {
      guarded(conn, id == 1, update ? 2 : 3, values, lengths, formats);
      continue;
    }
    if (reads) {
      read_row(conn, key);
    }
    PGresult *res = PQexecPrepared(conn, "write", update ? 2 : 3, values, lengths, formats, 1);
    if (PQresultStatus(res) != PGRES_COMMAND_OK || strcmp(PQcmdTuples(res), "1") != 0) {
      fail(conn, "write");
    }
    PQclear(res);
  }
  if (guards) {
    PQexitPipelineMode(conn);
  }
  run(conn, "COMMIT");
}

static int is_write(const char *work) {
  return !strcmp(work, "insert_select") || !strcmp(work, "insert_rows") || is_update(work);
}

static PGconn *connect_to(const char *url) {
  PGconn *conn = PQconnectdb(url);
  if (PQstatus(conn) != CONNECTION_OK) {
    fail(conn, "connect");
  }
  return conn;
}

static int run_statements(const char *url, int n, char **sql) {
  PGconn *conn = connect_to(url);
  for (int i = 0; i < n; i++) {
    PGresult *res = PQexec(conn, sql[i]);
    ExecStatusType status = PQresultStatus(res);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      fail(conn, sql[i]);
    }
    for (int row = 0; row < PQntuples(res); row++) {
      printf("%s\n", PQgetvalue(res, row, 0));
    }
    PQclear(res);
  }
  PQfinish(conn);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 3 && !strcmp(argv[1], "exec")) {
    return run_statements(argv[2], argc - 3, argv + 3);
  }
  if (argc != 7) {
    fprintf(stderr, "usage: peer_libpq MODE WORK URL TABLE ROWS UNITS | exec URL SQL...\n");
    return 2;
  }
  const char *mode = argv[1], *work = argv[2], *table = argv[4];
  int64_t rows = strtoll(argv[5], NULL, 10), units = strtoll(argv[6], NULL, 10);
  PGconn *conn = connect_to(argv[3]);
  char sql[512];
  int n = snprintf(sql, sizeof sql, "SELECT id, name, score FROM %s", table);
  if (!strcmp(work, "filter")) {
    snprintf(sql + n, sizeof sql - (size_t)n, " WHERE id BETWEEN %lld AND %lld",
             (long long)bench_filter_low(rows), (long long)bench_filter_high(rows));
  }
  if (!strcmp(work, "lookup") || !strcmp(mode, "reading")) {
    prepare_lookup(conn, table);
  }
  int writes = is_write(work), copies = !strcmp(mode, "copy");
  if (writes && !copies) {
    prepare_write(conn, work, table);
  }

  bench_sums sums = {0, 0, 0, 0};
  bench_clock start = bench_now();
  if (writes && copies) {
    copy_in(conn, table, units);
  } else if (writes) {
    write_rows(conn, mode, is_update(work), units);
  } else if (!strcmp(work, "lookup")) {
    lookup_rows(conn, rows, units, &sums);
  } else if (!strcmp(work, "count")) {
    count_rows(conn, table, &sums);
  } else if (!strcmp(mode, "copy")) {
    read_copy(conn, sql, &sums);
  } else {
    read_rows(conn, mode, sql, &sums);
  }
  bench_clock end = bench_now();
  if (writes) { /* what arrived is what counts */
    read_rows(conn, "single", sql, &sums);
  }

  char client[40];
  int version = PQlibVersion();
  snprintf(client, sizeof client, "libpq %d.%d", version / 10000, version % 10000);
  bench_report(work, start, end, &sums, units, PQparameterStatus(conn, "server_version"), client);
  PQfinish(conn);
  return 0;
}
