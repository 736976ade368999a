/*
** edb without SQLite: a program on the drivers' contract (drivers/driver.h), for the works that no SQL of
** SQLite's asks for yet.
**
**     contract WORK URL TABLE ROWS UNITS     do WORK once, print one JSON line
**
** WORK is UNITS rows in one transaction into an empty table: insert, through one prepared statement; load, by the
** driver's fastest way.
*/
#include "participant.h"

#include "drivers/driver.h"

static void *resize(void *context, void *p, size_t n) {
  (void)context;
  if (n > 0) {
    return realloc(p, n);
  }
  free(p);
  return NULL;
}

static const edb_host host = {.resize = resize};

static void must(int rc, const edb_connection *c, const char *what) {
  if (rc != EDB_OK) {
    fprintf(stderr, "contract: %s: %s\n", what, edb_detail(c)->message);
    exit(1);
  }
}

static const edb_load_column columns[] = {{.name = "id"}, {.name = "name"}, {.name = "score"}};

static void load_rows(edb_connection *c, const char *table, int64_t units) {
  edb_transaction transaction;
  edb_load load;
  edb_value row[3] = {{.kind = EDB_I64}, {.kind = EDB_TEXT}, {.kind = EDB_F64}};
  const edb_load_spec spec = {NULL, table, columns, 3, (double)units};
  char name[BENCH_NAME_MAX];
  must(edb_begin(c, &transaction), c, "begin");
  must(edb_load_begin(c, &spec, &load), c, "load");
  for (int64_t id = 1; id <= units; id++) {
    row[0].as.i64 = id;
    row[1].as.text.p = name;
    row[1].as.text.n = (size_t)bench_name(id, name);
    row[2].as.f64 = bench_score(id);
    must(edb_load_row(&load, row), c, "load");
  }
  must(edb_load_end(&load), c, "load");
  must(edb_transaction_commit(&transaction), c, "commit");
}

static void insert_rows(edb_connection *c, edb_statement *statement, int64_t units) {
  edb_transaction transaction;
  edb_parameter row[3] = {
      {.value = {.kind = EDB_I64}}, {.value = {.kind = EDB_TEXT}}, {.value = {.kind = EDB_F64}}};
  char name[BENCH_NAME_MAX];
  int64_t affected;
  must(edb_begin(c, &transaction), c, "begin");
  for (int64_t id = 1; id <= units; id++) {
    row[0].value.as.i64 = id;
    row[1].value.as.text.p = name;
    row[1].value.as.text.n = (size_t)bench_name(id, name);
    row[2].value.as.f64 = bench_score(id);
    must(edb_statement_execute(statement, row, 3, &affected), c, "insert");
    if (affected != 1) {
      fprintf(stderr, "contract: not one row was inserted\n");
      exit(1);
    }
  }
  must(edb_transaction_commit(&transaction), c, "commit");
}

/* What arrived is what counts. */
static void read_rows(edb_connection *c, const char *sql, bench_sums *sums) {
  edb_rows rows;
  const edb_value *v;
  int rc;
  must(edb_query(c, sql, NULL, 0, &rows), c, sql);
  while ((rc = edb_rows_next_borrowed(&rows, &v)) == EDB_ROW) {
    bench_add(sums, v[0].as.i64, v[1].as.text.p, v[1].as.text.n, v[2].as.f64);
  }
  must(rc == EDB_DONE ? EDB_OK : rc, c, sql);
  edb_rows_close(&rows);
}

int main(int argc, char **argv) {
  const int loads = argc > 1 && strcmp(argv[1], "load") == 0;
  if (argc != 6 || (!loads && strcmp(argv[1], "insert") != 0)) {
    fprintf(stderr, "usage: contract insert|load URL TABLE ROWS UNITS\n");
    return 2;
  }
  edb_connection c;
  edb_error error;
  edb_statement statement;
  char sql[256], one[EDB_PLACEHOLDER_TEXT], two[EDB_PLACEHOLDER_TEXT], three[EDB_PLACEHOLDER_TEXT];
  int64_t units = strtoll(argv[5], NULL, 10);
  if (edb_open(argv[2], NULL, 0, &host, &c, &error) != EDB_OK) {
    fprintf(stderr, "contract: %s\n", error.message);
    return 1;
  }
  const edb_dialect *dialect = edb_connection_driver(&c)->dialect;
  snprintf(sql, sizeof sql, "TRUNCATE TABLE %s", argv[3]);
  must(edb_execute(&c, sql, NULL, 0, NULL), &c, sql);
  snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (%s, %s, %s)", argv[3],
           edb_placeholder(dialect, 1, one), edb_placeholder(dialect, 2, two),
           edb_placeholder(dialect, 3, three));
  must(edb_prepare(&c, sql, 0, &statement), &c, sql);

  bench_sums sums = {0, 0, 0, 0};
  bench_clock start = bench_now();
  if (loads) {
    load_rows(&c, argv[3], units);
  } else {
    insert_rows(&c, &statement, units);
  }
  bench_clock end = bench_now();

  edb_statement_close(&statement);
  snprintf(sql, sizeof sql, "SELECT id, name, score FROM %s", argv[3]);
  read_rows(&c, sql, &sums);
  bench_report(argv[1], start, end, &sums, units, "", edb_connection_driver(&c)->library());
  edb_close(&c);
  return 0;
}
