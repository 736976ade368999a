/*
** drivers/postgresql_load.c: loads by COPY FROM STDIN.
**
** The rows go in COPY's binary format as long as every value has a binary form in its column's type, and in its
** text format from the first that has none on: then the server reads them as it reads literals. What the types
** are is asked by describing an INSERT that is never run, which also is how values are checked and encoded: as its
** parameters (postgresql_encode.c).
**
** COPY is no INSERT where the relation is a view or has rules, and for row-level security: there the rows go by INSERTs
** (load.c). It would fill identities that are GENERATED ALWAYS; the INSERT that is described is refused for them.
**
** While a COPY runs libpq hears of no error, so the socket is looked at before each chunk: if the server has said
** something, the COPY is ended to hear what. If it was a notice, another goes on where that one ended.
**
** Memory: a chunk, and the largest row whose values are not lent: long text goes from where the caller has it.
*/
#include <string.h>

#include "postgresql.h"

#define CHUNK_BYTES 65536
#define INSERT_ROWS 500 /* of the INSERTs, where there is no COPY */

/* [PostgreSQL] COPY, Binary Format: signature, flags, no extension */
static const char copy_header[19] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
static const char copy_trailer[2] = {(char)255, (char)255};

typedef struct pg_load {
  pg_connection *c;
  const edb_load_spec *spec;
  void *inserts;        /* not NULL: of load.c, in place of all that follows */
  pg_statement *insert; /* of one row, which is only described */
  edb_parameter *row;
  edb_buffer out; /* not handed to libpq yet */
  unsigned char text, copying, failed;
  unsigned char spoken; /* the server has said something since the COPY started */
  int64_t rows;
} pg_load;

static int nomem(pg_connection *c) { return edb_fail(&c->error, EDB_NOMEM, "out of memory"); }

/* ---- Whether COPY can do it ----------------------------------------------------------------------- */

/* $1: the relation. */
static const char question[] =
    "SELECT c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM pg_catalog.pg_rewrite r"
    " WHERE r.ev_class = c.oid AND r.ev_type = '3') AND NOT pg_catalog.row_security_active(c.oid)"
    " FROM pg_catalog.pg_class c WHERE c.oid = $1::text::pg_catalog.regclass";

static int ask(pg_connection *c, const edb_load_spec *spec, int *copies) {
  edb_buffer relation = {c->host, NULL, 0, 0, 0};
  PGresult *result = NULL;
  edb_load_table(&relation, &pg_dialect, spec);
  if (relation.nomem) return nomem(c);
  const char *value = relation.p;
  c->unnamed++;
  int rc = pg_sent(c, pq.sendQueryParams(c->pq, question, 1, NULL, &value, NULL, NULL, 0));
  if (rc == EDB_OK) rc = pg_finish(c, &result);
  edb_buffer_free(&relation);
  if (rc != EDB_OK) return rc;
  *copies = result && pq.ntuples(result) == 1 && *pq.getvalue(result, 0, 0) == 't';
  if (result) pq.clear(result);
  return EDB_OK;
}

/* Whether each value may have a binary form. */
static int may_be_binary(const pg_statement *s) {
  for (int i = 0; i < s->n_parameters; i++) {
    if (!pg_has_binary(s->parameters[i].codec)) return 0;
  }
  return 1;
}

/* ---- One COPY -------------------------------------------------------------------------------------- */

static int start_copy(pg_load *l) {
  pg_connection *c = l->c;
  l->out.n = 0;
  edb_buffer_text(&l->out, "COPY ");
  edb_load_table(&l->out, &pg_dialect, l->spec);
  edb_load_columns(&l->out, &pg_dialect, l->spec);
  edb_buffer_text(&l->out, l->text ? " FROM STDIN" : " FROM STDIN (FORMAT binary)");
  if (l->out.nomem) return nomem(c);
  c->unnamed++;
  int rc = pg_sent(c, pq.sendQuery(c->pq, l->out.p));
  if (rc == EDB_OK) rc = pg_wait(c);
  if (rc != EDB_OK) return rc;
  l->out.n = 0;
  l->spoken = 0;
  PGresult *result = pq.getResult(c->pq);
  if (!result) return pg_lost(c);
  l->copying = pq.resultStatus(result) == PGRES_COPY_IN;
  if (!l->copying) {
    rc = pg_result_error(c, result);
    edb_error why = c->error;
    if (pg_drain(c) != EDB_CLOSED) c->error = why;
    pq.clear(result);
    return rc == EDB_OK ? edb_fail(&c->error, EDB_FAILED, "the server did not start to copy") : rc;
  }
  pq.clear(result);
  c->copied_before = l->rows;
  if (!l->text) edb_buffer_add(&l->out, copy_header, sizeof copy_header);
  return EDB_OK;
}

/* Hands bytes to libpq and has it send them. An error ends the COPY. */
static int put(pg_load *l, const char *p, size_t n) {
  pg_connection *c = l->c;
  while (n > 0) {
    size_t part = n < 2 * CHUNK_BYTES ? n : CHUNK_BYTES;
    int rc = pg_copied(c, pq.putCopyData(c->pq, p, (int)part), &l->spoken);
    if (rc != EDB_OK) {
      l->copying = 0;
      return rc;
    }
    p += part;
    n -= part;
  }
  return EDB_OK;
}

static int put_out(pg_load *l) {
  int rc = l->out.nomem ? nomem(l->c) : put(l, l->out.p, l->out.n);
  l->out.n = 0;
  return rc;
}

/* Ends it and takes the server's word. */
static int end_copy(pg_load *l) {
  pg_connection *c = l->c;
  if (!l->text) edb_buffer_add(&l->out, copy_trailer, sizeof copy_trailer);
  int rc = put_out(l);
  if (rc != EDB_OK) return rc;
  l->copying = 0;
  int64_t counted = 0;
  rc = pg_sent(c, pq.putCopyEnd(c->pq, NULL) == 1);
  if (rc == EDB_OK) rc = pg_affected(c, &counted);
  return rc == EDB_OK ? edb_load_counted(&c->error, l->rows - c->copied_before, counted) : rc;
}

/* Between two rows: sends what has gathered, or listens where the server has spoken. */
static int send_chunk(pg_load *l) {
  int rc = pg_heard(l->c, &l->spoken);
  if (rc != EDB_OK) {
    l->copying = 0;
    return rc;
  }
  if (!l->spoken) return put_out(l);
  rc = end_copy(l);
  return rc == EDB_OK ? start_copy(l) : rc;
}

/* ---- Rows ------------------------------------------------------------------------------------------ */

/* A value whose bytes the caller has, and which is too long to be gathered. */
static int put_long(pg_load *l, const char *p, size_t n) {
  int rc = put_out(l);
  return rc == EDB_OK ? put(l, p, n) : rc;
}

static void add_number(edb_buffer *out, uint32_t u, int size) {
  char wire[4] = {(char)(u >> 24), (char)(u >> 16), (char)(u >> 8), (char)u};
  edb_buffer_add(out, wire + 4 - size, (size_t)size);
}

/* int16 number of fields, each an int32 length (-1: NULL) and its bytes */
static int add_binary(pg_load *l) {
  const pg_statement *s = l->insert;
  int rc = EDB_OK;
  add_number(&l->out, (uint32_t)s->n_parameters, 2);
  for (int i = 0; rc == EDB_OK && i < s->n_parameters; i++) {
    const char *p = s->parameter_values[i];
    size_t n = (size_t)s->lengths[i];
    add_number(&l->out, p ? (uint32_t)n : UINT32_MAX, 4);
    if (p && n > CHUNK_BYTES) {
      rc = put_long(l, p, n);
    } else if (p) {
      edb_buffer_add(&l->out, p, n);
    }
  }
  return rc;
}

/* Fields with tabs between, \N: NULL; what would end a field or a row is escaped. */
static int add_text(pg_load *l) {
  const pg_statement *s = l->insert;
  edb_buffer *literal = &l->c->parameters;
  for (int i = 0; i < s->n_parameters; i++) {
    if (i > 0) edb_buffer_add(&l->out, "\t", 1);
    if (l->row[i].value.kind == EDB_NULL) {
      edb_buffer_add(&l->out, "\\N", 2);
      continue;
    }
    literal->n = 0;
    int rc = pg_encode_text(l->insert, (size_t)i, &l->row[i].value);
    if (rc != EDB_OK) return rc;
    for (const char *p = literal->p, *end = p + literal->n; p < end;) {
      size_t plain = 0;
      while (p + plain < end && !strchr("\\\t\n\r", p[plain])) plain++;
      edb_buffer_add(&l->out, p, plain);
      p += plain;
      if (p == end) break;
      const char escaped[2] = {'\\', *p == '\t' ? 't' : *p == '\n' ? 'n' : *p == '\r' ? 'r' : *p};
      edb_buffer_add(&l->out, escaped, sizeof escaped);
      p++;
    }
    if (l->out.n >= CHUNK_BYTES) {
      rc = put_out(l);
      if (rc != EDB_OK) return rc;
    }
  }
  edb_buffer_add(&l->out, "\n", 1);
  return EDB_OK;
}

static int is_binary(const pg_statement *s) {
  for (int i = 0; i < s->n_parameters; i++) {
    if (s->parameter_values[i] && !s->formats[i]) return 0;
  }
  return 1;
}

static int add_row(pg_load *l, const edb_value *values) {
  pg_statement *s = l->insert;
  for (int i = 0; i < s->n_parameters; i++) l->row[i].value = values[i];
  int rc = pg_encode(s, l->row, (size_t)s->n_parameters);
  if (rc != EDB_OK) {
    l->c->error.row = l->rows + 1;
    return rc;
  }
  if (!l->text && !is_binary(s)) {
    rc = end_copy(l);
    l->text = 1;
    if (rc == EDB_OK) rc = start_copy(l);
    if (rc != EDB_OK) return rc;
  }
  rc = l->text ? add_text(l) : add_binary(l);
  l->rows++;
  return rc == EDB_OK && l->out.n >= CHUNK_BYTES ? send_chunk(l) : rc;
}

int pg_load_row(void *load, const edb_value *values) {
  pg_load *l = load;
  if (l->inserts) return edb_inserts_row(l->inserts, values);
  if (l->failed) return edb_fail(&l->c->error, EDB_FAILED, "the load has failed");
  int rc = add_row(l, values);
  l->failed = rc != EDB_OK;
  return rc;
}

/* ---- Beginning and ending --------------------------------------------------------------------------- */

static void free_load(pg_load *l) {
  pg_connection *c = l->c;
  c->loading = NULL;
  if (l->insert) pg_statement_free(l->insert);
  edb_buffer_free(&l->out);
  edb_free(c->host, l->row);
  edb_free(c->host, l);
}

/* Has the server forget the COPY that runs, if one does. */
static int give_up(pg_load *l) {
  if (!l->copying || l->c->dead) return EDB_OK;
  edb_error why = l->c->error;
  int rc = pg_sent(l->c, pq.putCopyEnd(l->c->pq, "given up") == 1);
  if (rc == EDB_OK && pg_finish(l->c, NULL) == EDB_CLOSED) rc = EDB_CLOSED;
  if (rc == EDB_OK) l->c->error = why;
  return rc;
}

int pg_load_end(void *load) {
  pg_load *l = load;
  pg_connection *c = l->c;
  int rc;
  if (l->inserts) {
    rc = edb_inserts_end(l->inserts);
  } else {
    rc = l->failed ? edb_fail(&c->error, EDB_FAILED, "the load has failed") : end_copy(l);
    if (rc != EDB_OK) give_up(l);
  }
  edb_error why = c->error;
  free_load(l);
  c->error = why;
  return rc;
}

int pg_load_abort(void *load) {
  pg_load *l = load;
  int rc = l->inserts ? edb_inserts_abort(l->inserts) : give_up(l);
  free_load(l);
  return rc;
}

static int begin_copy(pg_load *l) {
  pg_connection *c = l->c;
  edb_buffer sql = {c->host, NULL, 0, 0, 0};
  edb_buffer_text(&sql, "INSERT INTO ");
  edb_load_table(&sql, &pg_dialect, l->spec);
  edb_load_columns(&sql, &pg_dialect, l->spec);
  edb_buffer_text(&sql, " VALUES ");
  edb_load_values(&sql, &pg_dialect, l->spec->n, 1);
  int rc = sql.nomem ? nomem(c) : pg_statement_new(c, sql.p, 0, 0, &l->insert);
  edb_buffer_free(&sql);
  if (rc != EDB_OK) return rc;
  l->insert->loads = l->spec;
  l->row = edb_alloc(c->host, l->spec->n * sizeof *l->row);
  if (!l->row) return nomem(c);
  memset(l->row, 0, l->spec->n * sizeof *l->row);
  l->text = !may_be_binary(l->insert);
  c->loading = l->spec->table;
  return start_copy(l);
}

int pg_load_begin(pg_connection *c, const edb_load_spec *spec, void **load) {
  int copies = 0;
  if (spec->n == 0) return edb_fail(&c->error, EDB_UNSUPPORTED, "a load needs columns");
  int rc = ask(c, spec, &copies);
  if (rc != EDB_OK) return rc;
  pg_load *l = edb_alloc(c->host, sizeof *l);
  if (!l) return nomem(c);
  memset(l, 0, sizeof *l);
  l->c = c;
  l->spec = spec;
  l->out.host = c->host;
  if (copies) {
    rc = begin_copy(l);
  } else {
    const edb_inserts_spec inserts = {
        .methods = edb_postgresql_driver.methods,
        .dialect = &pg_dialect,
        .connection = c,
        .host = c->host,
        .error = &c->error,
        .rows = INSERT_ROWS,
        .savepoint = pq.transactionStatus(c->pq) == PQTRANS_INTRANS,
    };
    rc = edb_inserts_begin(&inserts, spec, &l->inserts);
  }
  if (rc == EDB_OK) {
    *load = l;
    return EDB_OK;
  }
  edb_error why = c->error;
  free_load(l);
  c->error = why;
  return rc;
}
