/*
** ext/reader.c: the rows of a query that is not a table's: what the table-valued functions and discovery read.
*/
#include "extInt.h"

#include <string.h>

/* What may write in BEGIN … COMMIT is a part of the transaction. */
int reader_open(Reader *reader, Server *server, const char *sql, const edb_parameter *parameters,
                size_t n, Repeat repeat, char **message) {
  Link *link = NULL;
  Session *session = NULL;
  memset(reader, 0, sizeof *reader);
  Command command = {.sql = sql,
                     .parameters = parameters,
                     .n = n,
                     .repeat = repeat,
                     .prepared = 1,
                     .users = repeat == REPEAT_NEVER,
                     .writes = repeat == REPEAT_NEVER && !is_reading(sql)};
  int rc = command.writes ? session_enter(server, &session, message) : SQLITE_OK;
  if (rc == SQLITE_OK && session) {
    rc = session_run(session, &command, &reader->stream, NULL, message);
  } else if (rc == SQLITE_OK) {
    rc = link_acquire(server, &link, message);
    if (rc == SQLITE_OK) rc = link_run(&link, &command, &reader->stream, NULL, message);
    if (rc != SQLITE_OK && link) link_release(link);
  }
  if (rc != SQLITE_OK) return rc;
  return stream_columns(&reader->stream, message);
}

int reader_next(Reader *reader, char **message) { return stream_next(&reader->stream, message); }

void reader_end(Reader *reader) { stream_end(&reader->stream); }
