/*
** drivers/postgresql_rows.c: the reader.
**
** Rows come in one of three ways, which do not differ in what they give:
**
**   chunks   PQsetChunkedRowsMode: one PGresult for some rows; libpq 17 and later
**   single   PQsetSingleRowMode: one PGresult a row
**   COPY     COPY (SELECT …) TO STDOUT (FORMAT binary): each message is read where it lies
**
** Memory does not grow with the result in any of them: one PGresult or message is held at a time.
*/
#include <string.h>

#include "postgresql.h"

#define CHUNK_ROWS 256
#define BULKY_CHUNK_ROWS 16  /* where a row may have documents in it */
#define COPY_ROWS 1000       /* from here on COPY saves more than its start costs */
#define SAVEPOINT_ROWS 10000 /* from here on a savepoint is cheaper than reading to the end */

static const char copy_head[11] = "PGCOPY\n\377\r\n"; /* with its NUL */

/* ---- Ending ------------------------------------------------------------------------------------ */

static void drop(pg_rows *r) {
  if (r->result) pq.clear(r->result);
  if (r->copy) pq.freemem(r->copy);
  r->result = NULL;
  r->copy = NULL;
  r->at = r->end = NULL;
  r->row = r->rows = 0;
}

/* The pipeline that the rows came in, if they did, ends with them. */
static int leave(pg_rows *r, int rc) {
  const int pipelined = r->pipelined;
  r->pipelined = 0;
  return pipelined ? pg_leave_pipeline(r->statement->connection, rc) : rc;
}

/* The command is over at the server: nothing more will come. */
static int ended(pg_rows *r, int rc) {
  drop(r);
  r->done = 1;
  return leave(r, rc);
}

/* The server said something that we cannot read on from. */
static int broken(pg_rows *r) {
  pg_connection *c = r->statement->connection;
  edb_error why = c->error;
  drop(r);
  r->done = 1;
  if (leave(r, pg_stop(c)) != EDB_OK) return EDB_CLOSED;
  c->error = why;
  return (int)why.code;
}

/* A result that is an error: the rest of the command is taken first. */
static int failed(pg_rows *r, PGresult *result) {
  pg_connection *c = r->statement->connection;
  int rc = pg_result_error(c, result);
  pq.clear(result);
  edb_error why = c->error;
  int rest = pg_drain(c);
  if (rc == EDB_CLOSED || rest != EDB_CLOSED) c->error = why;
  return ended(r, (int)c->error.code);
}

/* ---- Values ------------------------------------------------------------------------------------- */

static int undecodable(pg_rows *r, int i, size_t n, int rc) {
  pg_statement *s = r->statement;
  edb_error *error = &s->connection->error;
  if (rc == EDB_NOMEM) {
    edb_fail(error, EDB_NOMEM, "out of memory");
  } else {
    edb_fail(error, EDB_FAILED, "column \"%s\": the server sent %zu bytes that are no %s",
             s->columns[i].name, n, s->columns[i].type_name);
  }
  return broken(r);
}

static int decode(pg_statement *s, int i, const char *p, size_t n, pg_scratch *scratch) {
  edb_value *v = &s->values[i];
  pg_codec codec = s->codecs[i];
  if (s->text) return pg_decode_text(codec, p, n, v, scratch);
  /* The most frequent ones here, so that they cost no call. */
  if (codec == PG_INT8 && n == 8) {
    v->kind = EDB_I64;
    v->as.i64 = (int64_t)pg_get64(p);
    return EDB_OK;
  }
  if (codec == PG_TEXT) {
    v->kind = EDB_TEXT;
    v->as.text.p = p;
    v->as.text.n = n;
    return EDB_OK;
  }
  return pg_decode(codec, p, n, v, scratch);
}

/* ---- Rows in results ----------------------------------------------------------------------------- */

/* Takes the next result that has rows. EDB_ROW, EDB_DONE or an error. */
static int next_result(pg_rows *r) {
  pg_statement *s = r->statement;
  pg_connection *c = s->connection;
  for (;;) {
    if (r->result) pq.clear(r->result);
    r->result = NULL;
    r->row = r->rows = 0;
    int rc = pg_wait(c);
    if (rc != EDB_OK) return ended(r, rc);
    PGresult *result = pq.getResult(c->pq);
    if (!result) {
      if (pq.status(c->pq) == CONNECTION_BAD) return ended(r, pg_lost(c));
      rc = r->pipelined ? pg_finish(c, NULL) : EDB_OK;
      return ended(r, rc == EDB_OK ? EDB_DONE : rc);
    }
    switch (pq.resultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
    case PGRES_TUPLES_CHUNK:
      r->result = result;
      r->rows = pq.ntuples(result);
      if (pq.nfields(result) != s->n_columns) {
        edb_fail(&c->error, EDB_FAILED, "the server announced %d columns and sent %d", s->n_columns,
                 pq.nfields(result));
        return broken(r);
      }
      if (r->rows > 0) return EDB_ROW;
      break;
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
      pq.clear(result);
      break;
    case PGRES_COPY_OUT:
    case PGRES_COPY_IN:
    case PGRES_COPY_BOTH:
      pq.clear(result);
      rc = pg_drain(c);
      return ended(r, rc == EDB_OK ? EDB_FAILED : rc);
    default:
      return failed(r, result);
    }
  }
}

static int next_of_result(pg_rows *r) {
  pg_statement *s = r->statement;
  if (r->row >= r->rows) {
    int rc = next_result(r);
    if (rc != EDB_ROW) return rc;
  }
  int row = r->row++;
  r->scratch.used = 0;
  for (int i = 0; i < s->n_columns; i++) {
    int n = pq.getlength(r->result, row, i);
    if (n == 0 && pq.getisnull(r->result, row, i)) {
      s->values[i].kind = EDB_NULL;
      continue;
    }
    r->scratch.count = (size_t)i;
    int rc = decode(s, i, pq.getvalue(r->result, row, i), (size_t)n, &r->scratch);
    if (rc != EDB_OK) return undecodable(r, i, (size_t)n, rc);
  }
  return EDB_ROW;
}

/* ---- Rows in COPY's messages ---------------------------------------------------------------------- */

static int bad_copy(pg_rows *r) {
  edb_fail(&r->statement->connection->error, EDB_FAILED, "the server sent rows that COPY has not");
  return broken(r);
}

/* The next message. EDB_ROW, EDB_DONE or an error. */
static int next_message(pg_rows *r) {
  pg_connection *c = r->statement->connection;
  for (;;) {
    if (r->copy) pq.freemem(r->copy);
    r->copy = NULL;
    if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) {
      return ended(r, pg_wait_input(c));
    }
    int n = pq.getCopyData(c->pq, &r->copy, 1);
    if (n > 0) {
      r->at = r->copy;
      r->end = r->copy + n;
      return EDB_ROW;
    }
    if (n < 0) break;
    int rc = pg_wait_input(c);
    if (rc != EDB_OK) return ended(r, rc);
  }
  /* The end of the rows, or an error in their place: the result says. */
  int rc = pg_drain(c);
  return ended(r, rc == EDB_OK ? EDB_DONE : rc);
}

/* One row: int16 number of fields, each an int32 length (-1: NULL) and its bytes. The first is behind the
** header: a signature, flags, and an extension to skip. -1 instead of a number ends them. */
static int next_of_copy(pg_rows *r) {
  pg_statement *s = r->statement;
  for (;;) {
    if (r->at == r->end) {
      int rc = next_message(r);
      if (rc != EDB_ROW) return rc;
    }
    if (!r->headed) {
      if (r->end - r->at < 19 || memcmp(r->at, copy_head, sizeof copy_head) != 0)
        return bad_copy(r);
      uint32_t extension = pg_get32(r->at + 15);
      if (extension > (size_t)(r->end - r->at) - 19) return bad_copy(r);
      r->at += 19 + extension;
      r->headed = 1;
      continue;
    }
    if (r->end - r->at < 2) return bad_copy(r);
    int fields = (int16_t)pg_get16(r->at);
    r->at += 2;
    if (fields != -1) {
      if (fields != s->n_columns) return bad_copy(r);
      break;
    }
  }
  const char *p = r->at, *end = r->end;
  r->scratch.used = 0;
  for (int i = 0; i < s->n_columns; i++) {
    if (end - p < 4) return bad_copy(r);
    int32_t n = (int32_t)pg_get32(p);
    p += 4;
    if (n == -1) {
      s->values[i].kind = EDB_NULL;
      continue;
    }
    if (n < 0 || n > end - p) return bad_copy(r);
    r->scratch.count = (size_t)i;
    int rc = decode(s, i, p, (size_t)n, &r->scratch);
    if (rc != EDB_OK) return undecodable(r, i, (size_t)n, rc);
    p += n;
  }
  r->at = p;
  return EDB_ROW;
}

/* ---- Starting ------------------------------------------------------------------------------------ */

/* Where libpq has no chunks, COPY saves 40% of a scan's work on this side (1,000,000 rows of three columns
** through SQLite: 0.30 s single, 0.18 s COPY; in chunks 0.21 s) and costs the server 0.05 s. It is taken where
** it gives the same: a query without parameters, all of whose types are binary. In a transaction only
** once it has worked here, because a refusal would doom the transaction. */
static int wants_copy(const pg_rows *r) {
  const pg_statement *s = r->statement;
  const pg_connection *c = s->connection;
  if (c->fetch == PG_FETCH_SINGLE || c->fetch == PG_FETCH_CHUNKED) return 0;
  if (c->fetch == PG_FETCH_AUTO && (s->expected < COPY_ROWS || pq.setChunkedRowsMode)) return 0;
  return s->reads && !s->text && s->n_parameters == 0 && s->n_columns > 0 && !c->copy_refused &&
         (c->copy_works || !r->transaction) && !strchr(s->sql, ';');
}

/* COPY sends the SQL anew, and tells no types: they are those of the description, which may be of a
** table that was altered since. The server says so when it is asked again (0A000). */
static int still_as_described(pg_statement *s) {
  pg_connection *c = s->connection;
  int rc = pg_sent(c, pq.sendDescribePrepared(c->pq, s->name));
  return rc == EDB_OK ? pg_finish(c, NULL) : rc;
}

/* EDB_OK, an error, or EDB_UNSUPPORTED where the rows should come in another way. */
static int start_copy(pg_rows *r) {
  pg_statement *s = r->statement;
  pg_connection *c = s->connection;
  int rc = s->copied ? still_as_described(s) : EDB_OK;
  if (rc != EDB_OK) return rc;
  s->copied = 1;
  c->parameters.n = 0;
  edb_buffer_text(&c->parameters, "COPY (");
  edb_buffer_text(&c->parameters, s->sql);
  edb_buffer_text(&c->parameters, "\n) TO STDOUT (FORMAT binary)");
  if (c->parameters.nomem) return edb_fail(&c->error, EDB_NOMEM, "out of memory");
  c->unnamed++;
  rc = pg_sent(c, pq.sendQueryParams(c->pq, c->parameters.p, 0, NULL, NULL, NULL, NULL, 0));
  if (rc == EDB_OK) rc = pg_wait(c);
  if (rc != EDB_OK) return rc;
  PGresult *result = pq.getResult(c->pq);
  if (result && pq.resultStatus(result) == PGRES_COPY_OUT) {
    pq.clear(result);
    r->copying = 1;
    c->copy_works = 1;
    return EDB_OK;
  }
  if (!result) return pg_lost(c);
  rc = failed(r, result);
  if (strcmp(c->error.sqlstate, "42601") == 0 || strcmp(c->error.sqlstate, "0A000") == 0) {
    c->copy_refused = !c->copy_works;
    r->done = 0;
    return EDB_UNSUPPORTED;
  }
  return rc;
}

/* Whether SAVEPOINTs that were set down may travel with it. A long reading has its own, or comes by COPY. */
static int joins_deferred(const pg_rows *r) {
  const pg_statement *s = r->statement;
  return s->connection->deferred.n > 0 && s->name[0] && s->n_columns > 0 && pq.pipelineSync &&
         !r->savepoint && !wants_copy(r);
}

static int start_results(pg_rows *r) {
  pg_statement *s = r->statement;
  pg_connection *c = s->connection;
  const int joins = joins_deferred(r);
  int rc = joins ? pg_query_with_deferred(s) : pg_statement_send(s);
  if (rc != EDB_OK) return rc;
  r->pipelined = (unsigned char)joins;
  if (pq.setChunkedRowsMode && c->fetch != PG_FETCH_SINGLE) {
    pq.setChunkedRowsMode(c->pq, s->bulky ? BULKY_CHUNK_ROWS : CHUNK_ROWS);
  } else {
    pq.setSingleRowMode(c->pq);
  }
  /* An error at the start is the query's, not its first row's. */
  rc = next_result(r);
  return rc == EDB_ROW || rc == EDB_DONE ? EDB_OK : rc;
}

int pg_rows_start(pg_statement *s, const edb_parameter *parameters, size_t n, int owns,
                  void **rows) {
  pg_connection *c = s->connection;
  pg_rows *r = &c->rows;
  pg_scratch scratch = r->scratch;
  int rc = pg_encode(s, parameters, n);
  if (rc != EDB_OK) return rc;
  memset(r, 0, sizeof *r);
  r->statement = s;
  r->scratch = scratch;
  r->scratch.used = 0;
  r->scratch.values = s->values;
  r->scratch.money_digits = c->money_digits;
  r->transaction = pq.transactionStatus(c->pq) == PQTRANS_INTRANS;
  if (r->transaction && s->reads && s->expected >= SAVEPOINT_ROWS) {
    rc = pg_send_deferred(c);
    if (rc == EDB_OK) rc = pg_run(c, "SAVEPOINT edb_reader", NULL);
    if (rc != EDB_OK) return rc;
    r->savepoint = 1;
  }
  if (!joins_deferred(r)) rc = pg_send_deferred(c);
  if (rc != EDB_OK) return rc;
  rc = wants_copy(r) ? start_copy(r) : EDB_UNSUPPORTED;
  if (rc == EDB_UNSUPPORTED) rc = start_results(r);
  if (rc != EDB_OK) return rc;
  r->owns = (unsigned char)owns;
  r->open = 1;
  *rows = r;
  return EDB_OK;
}

/* ---- The contract -------------------------------------------------------------------------------- */

int pg_rows_columns(void *rows, const edb_column **columns, size_t *n) {
  const pg_rows *r = rows;
  *columns = r->statement->columns;
  *n = (size_t)r->statement->n_columns;
  return EDB_OK;
}

int pg_rows_next_borrowed(void *rows, const edb_value **values) {
  pg_rows *r = rows;
  if (r->done) return EDB_DONE;
  *values = r->statement->values;
  return r->copying ? next_of_copy(r) : next_of_result(r);
}

/* Whether the end has come already, and lies unread. */
static int at_end(pg_rows *r) {
  pg_connection *c = r->statement->connection;
  if (r->copying || r->pipelined) return 0;
  for (int reads = 0; reads < 2; reads++) {
    while (!pq.isBusy(c->pq)) {
      PGresult *result = pq.getResult(c->pq);
      if (!result) return 1;
      int status = pq.resultStatus(result);
      pq.clear(result);
      if (status == PGRES_COPY_OUT || status == PGRES_COPY_IN) return 0;
    }
    if (!pq.consumeInput(c->pq)) return 0;
  }
  return 0;
}

/* What is left is stopped where that loses nothing: a statement that writes is let to its end, and so is any in a
** transaction, which stopping would doom, unless a savepoint was set. */
static int end_early(pg_rows *r) {
  pg_connection *c = r->statement->connection;
  if (at_end(r)) return pq.status(c->pq) == CONNECTION_OK ? EDB_OK : pg_lost(c);
  if (!r->statement->reads || (r->transaction && !r->savepoint)) return pg_drain(c);
  int rc = pg_stop(c);
  if (rc == EDB_OK && r->savepoint) {
    r->savepoint = 0;
    rc = pg_run(c, "ROLLBACK TO SAVEPOINT edb_reader; RELEASE SAVEPOINT edb_reader", NULL);
  }
  return rc;
}

int pg_rows_close(void *rows) {
  pg_rows *r = rows;
  pg_connection *c = r->statement->connection;
  int rc = EDB_OK;
  drop(r);
  atomic_store(&c->cancelled, 0);
  if (!r->done && !c->dead) rc = leave(r, end_early(r));
  if (r->savepoint && !c->dead && pq.transactionStatus(c->pq) == PQTRANS_INTRANS) {
    rc = pg_run(c, "RELEASE SAVEPOINT edb_reader", NULL);
  }
  r->open = 0;
  r->done = 1;
  if (r->owns) pg_statement_free(r->statement);
  return rc;
}
