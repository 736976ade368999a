/*
** ext/stream.c: the rows of a remote query, lent one after another.
**
** They come from the link, which has one command in flight. Inside a transaction all commands share one link, so
** that a stream whose link is wanted for another command is parked: the rest of its rows is read now, set aside
** (spill.c) and lent from there; an error on the way is told where the rows end.
*/
#include "extInt.h"

#include <string.h>

/* ---- Parking ------------------------------------------------------------------------------------------ */

/* A copy of the columns that outlives the driver's, in one allocation. */
static int columns_keep(Stream *stream) {
  size_t bytes = (stream->count + 1) * sizeof(edb_column);
  for (size_t i = 0; i < stream->count; i++) {
    bytes += strlen(stream->columns[i].name) + strlen(stream->columns[i].type_name) + 2;
  }
  edb_column *kept = sqlite3_malloc64(bytes);
  if (kept == NULL) return SQLITE_NOMEM;
  char *p = (char *)(kept + stream->count + 1);
  for (size_t i = 0; i < stream->count; i++) {
    const edb_column *column = &stream->columns[i];
    size_t name = strlen(column->name) + 1;
    size_t type_name = strlen(column->type_name) + 1;
    kept[i] = *column;
    kept[i].name = memcpy(p, column->name, name);
    kept[i].type_name = memcpy(p + name, column->type_name, type_name);
    p += name + type_name;
  }
  stream->kept = kept;
  stream->columns = kept;
  return SQLITE_OK;
}

/* The next row from the link. */
static int stream_fetch(Stream *stream, const edb_value **row) {
  int rc = EDB_UNSUPPORTED;
  if (stream->owned.host == NULL) {
    rc = edb_rows_next_borrowed(&stream->rows, row);
    if (rc == EDB_UNSUPPORTED && !stream->begun) stream->owned.host = &stream->link->server->host;
  }
  if (stream->owned.host) {
    rc = edb_rows_next(&stream->rows, &stream->owned);
    *row = stream->owned.values;
  }
  stream->begun = 1;
  return rc;
}

/* Ends the reader and gives the link back. After an answer that made no sense the connection is not used again,
** nor is the statement that it keeps prepared. */
static void stream_leave(Stream *stream, int code) {
  Link *link = stream->link;
  if (code == EDB_FAILED) link->generation = -1;
  stream->link = NULL;
  link->stream = NULL;
  edb_rows_close(&stream->rows);
  link_release(link);
}

static int stream_failed(Stream *stream, int code, char **message) {
  Session *session = stream->link->session;
  int rc = link_fail(stream->link, code, message);
  stream_leave(stream, code);
  if (session) session_after(session, code, *message);
  return rc;
}

/* The row that the reader stands on is lent to SQLite for as long as it has not moved: it has been taken by then,
** as a value is copied when it is asked for, and may be asked for again. */
static int stream_keep_row(Stream *stream) {
  if (stream->row == NULL) return SQLITE_OK;
  stream->held.host = &stream->link->server->host;
  int code = edb_row_reset(&stream->held, stream->count);
  for (size_t i = 0; i < stream->count && code == EDB_OK; i++) {
    code = edb_row_set(&stream->held, i, &stream->row[i]);
  }
  stream->row = stream->held.values;
  return code == EDB_OK ? SQLITE_OK : SQLITE_NOMEM;
}

int stream_columns(Stream *stream, char **message) {
  if (stream->columns) return SQLITE_OK;
  int code = edb_rows_columns(&stream->rows, &stream->columns, &stream->count);
  return code == EDB_OK ? SQLITE_OK : stream_failed(stream, code, message);
}

void stream_park(Stream *stream) {
  const edb_value *row;
  int rc = stream_columns(stream, &stream->message);
  if (rc == SQLITE_OK) rc = columns_keep(stream);
  if (rc == SQLITE_OK) rc = stream_keep_row(stream);
  if (rc == SQLITE_OK && (stream->spill = spill_new(stream->count)) == NULL) rc = SQLITE_NOMEM;
  while (rc == SQLITE_OK) {
    int code = stream_fetch(stream, &row);
    if (code == EDB_DONE) break;
    rc = code == EDB_ROW ? spill_add(stream->spill, row)
                         : stream_failed(stream, code, &stream->message);
  }
  stream->parked = 1;
  stream->rc = rc;
  if (stream->link) stream_leave(stream, EDB_OK);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

void stream_start(Stream *stream, Link *link) {
  stream->link = link;
  link->stream = stream;
}

static int stream_parked_next(Stream *stream, char **message) {
  int rc = stream->spill ? spill_next(stream->spill, &stream->row) : SQLITE_DONE;
  if (rc == SQLITE_ROW) return rc;
  stream->row = NULL;
  if (rc != SQLITE_DONE && rc != SQLITE_NOMEM && *message == NULL) {
    *message =
        sqlite3_mprintf("edb: rows that were set aside cannot be read: %s", sqlite3_errstr(rc));
  }
  if (rc == SQLITE_DONE && stream->rc != SQLITE_OK) {
    rc = stream->rc;
    *message = stream->message;
    stream->message = NULL;
    if (*message == NULL && rc != SQLITE_NOMEM) {
      *message = sqlite3_mprintf("edb: rows could not be set aside: %s", sqlite3_errstr(rc));
    }
  }
  stream_end(stream);
  return rc;
}

int stream_next(Stream *stream, char **message) {
  if (stream->parked) return stream_parked_next(stream, message);
  if (stream->link == NULL) return SQLITE_DONE;
  int code = stream_fetch(stream, &stream->row);
  if (code == EDB_ROW) return SQLITE_ROW;
  stream->row = NULL;
  int rc = SQLITE_DONE;
  if (code != EDB_DONE) rc = stream_failed(stream, code, message);
  stream_end(stream);
  return rc;
}

void stream_end(Stream *stream) {
  if (stream->link) stream_leave(stream, EDB_OK);
  edb_row_clear(&stream->owned);
  edb_row_clear(&stream->held);
  spill_free(stream->spill);
  sqlite3_free(stream->kept);
  sqlite3_free(stream->message);
  memset(stream, 0, sizeof *stream);
}
