/*
** ext/reader.c: the rows of a query that is not a table's: what the table-valued functions and discovery read.
*/
#include "extInt.h"

#include <string.h>

int reader_open(Reader *reader, Server *server, const char *sql, const edb_parameter *parameters,
                size_t n, Repeat repeat, char **message) {
  Link *link;
  memset(reader, 0, sizeof *reader);
  int rc = link_acquire(server, &link, message);
  if (rc != SQLITE_OK) return rc;
  Command command = {.sql = sql,
                     .parameters = parameters,
                     .n = n,
                     .repeat = repeat,
                     .prepared = 1,
                     .users = repeat == REPEAT_NEVER,
                     .writes = repeat == REPEAT_NEVER};
  rc = link_run(&link, &command, &reader->stream, NULL, message);
  if (rc != SQLITE_OK) {
    link_release(link);
    return rc;
  }
  return stream_columns(&reader->stream, message);
}

int reader_next(Reader *reader, char **message) { return stream_next(&reader->stream, message); }

void reader_end(Reader *reader) { stream_end(&reader->stream); }
