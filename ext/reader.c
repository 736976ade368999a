/*
** ext/reader.c: the rows of a query, one after another, copied: what the table-valued functions and
** discovery read. (Scans of tables lend rows instead: scan.c.)
*/
#include "extInt.h"

#include <string.h>

static int reader_failed(Reader *reader, int code, char **message) {
  int rc = link_fail(reader->link, code, message);
  reader_end(reader);
  return rc;
}

int reader_open(Reader *reader, Server *server, const char *sql, const edb_parameter *parameters,
                size_t n, Repeat repeat, char **message) {
  memset(reader, 0, sizeof *reader);
  int rc = link_acquire(server, &reader->link, message);
  if (rc != SQLITE_OK) return rc;
  rc = link_query(&reader->link, sql, 0, parameters, n, repeat, &reader->rows, message);
  if (rc != SQLITE_OK) {
    reader_end(reader);
    return rc;
  }
  reader->row.host = &server->host;
  int code = edb_rows_columns(&reader->rows, &reader->columns, &reader->count);
  return code == EDB_OK ? SQLITE_OK : reader_failed(reader, code, message);
}

int reader_next(Reader *reader, char **message) {
  int rc = edb_rows_next(&reader->rows, &reader->row);
  if (rc == EDB_ROW) return SQLITE_ROW;
  if (rc != EDB_DONE) return reader_failed(reader, rc, message);
  reader_end(reader);
  return SQLITE_DONE;
}

void reader_end(Reader *reader) {
  edb_row_clear(&reader->row);
  reader->count = 0;
  if (reader->link == NULL) return;
  edb_rows_close(&reader->rows);
  link_release(reader->link);
  reader->link = NULL;
}
