/*
** drivers/sqlserver_load.c: loads by INSERT BULK ([MS-TDS] 2.2.6.1): the rows go as one message of any length, written
** straight into packets, in the types that the server's own description of the columns names.
**
** It means what an INSERT means: CHECK_CONSTRAINTS and FIRE_TRIGGERS, which a bulk load leaves out by itself, and
** KEEP_NULLS, without which a NULL would become the column's default. The server keeps all of its rows or none.
**
** Whatever has no exact form in its column's type (text for an int, text that is too long, a NULL where none may be)
** is for the server to convert or to refuse, as it would in an INSERT: from that row on the rows go by INSERTs
** (load.c), which also tell which row was wrong. So does a whole load where a column's type cannot be sent (xml,
** sql_variant, text, …), or where the server refuses INSERT BULK.
**
** The row to blame. The server says what is wrong and not with which row. So in a transaction, which holds nothing by halves
** anyway, the rows go in pieces of which copies are kept: those of a piece that fails are sent again by INSERTs, up to the
** one that fails by itself. If none does, the rows are in, and the load goes on.
**
** Memory: one row's values; of packets, the largest row and two more; in a transaction, a piece's rows.
*/
#include <string.h>

#include "sqlserver.h"

#define SEND_BYTES (48u << 10) /* of packets before they are sent */
#define INSERT_ROWS 500        /* of an INSERT's at most: 1,000 is the server's own limit */
#define PIECE_VALUES 32768     /* of a piece at most, and bytes of their text */
#define PIECE_BYTES (512u << 10)

typedef struct ms_load {
  ms_connection *c;
  const edb_load_spec *spec;
  void *inserts; /* not NULL: of load.c, in place of all that follows */
  tds_bulk_column *columns;
  tds_value *values;
  tds_message m;
  int64_t rows;     /* written so far */
  int64_t settled;  /* of them, those of pieces that the server has */
  edb_value *piece; /* rows written since; NULL: none are kept */
  char *arena;      /* their text and bytes */
  size_t kept, used;
  unsigned char failed;
} ms_load;

/* ---- Columns -------------------------------------------------------------------------------------------- */

/* Types that can be sent, by what describes them: columns that are NOT NULL come as types of a fixed length. */
static const struct {
  uint8_t described, sent, length; /* length 0: as it is described */
} types[] = {
    {TDS_INT1, TDS_INTN, 1},
    {TDS_INT2, TDS_INTN, 2},
    {TDS_INT4, TDS_INTN, 4},
    {TDS_INT8, TDS_INTN, 8},
    {TDS_INTN, TDS_INTN, 0},
    {TDS_BIT, TDS_BITN, 1},
    {TDS_BITN, TDS_BITN, 0},
    {TDS_FLT4, TDS_FLTN, 4},
    {TDS_FLT8, TDS_FLTN, 8},
    {TDS_FLTN, TDS_FLTN, 0},
    {TDS_MONEY4, TDS_MONEYN, 4},
    {TDS_MONEY, TDS_MONEYN, 8},
    {TDS_MONEYN, TDS_MONEYN, 0},
    {TDS_DATETIM4, TDS_DATETIMN, 4},
    {TDS_DATETIME8, TDS_DATETIMN, 8},
    {TDS_DATETIMN, TDS_DATETIMN, 0},
    {TDS_DECIMALN, TDS_DECIMALN, 0},
    {TDS_NUMERICN, TDS_NUMERICN, 0},
    {TDS_DATEN, TDS_DATEN, 0},
    {TDS_TIMEN, TDS_TIMEN, 0},
    {TDS_DATETIME2N, TDS_DATETIME2N, 0},
    {TDS_DATETIMEOFFSETN, TDS_DATETIMEOFFSETN, 0},
    {TDS_GUID, TDS_GUID, 0},
    {TDS_NVARCHAR, TDS_NVARCHAR, 0},
    {TDS_NCHAR, TDS_NCHAR, 0},
    {TDS_BIGVARCHAR, TDS_BIGVARCHAR, 0},
    {TDS_BIGCHAR, TDS_BIGCHAR, 0},
    {TDS_BIGVARBINARY, TDS_BIGVARBINARY, 0},
    {TDS_BIGBINARY, TDS_BIGBINARY, 0},
};

#define USER_TYPE_TIMESTAMP 80

/* 0: it is not one for a bulk load. One that the server itself fills would be filled from here: an INSERT is
** refused, and says why. */
static int take_column(const tds_column *from, const char *name, tds_bulk_column *to) {
  if (from->flags & (TDS_COLUMN_IDENTITY | TDS_COLUMN_COMPUTED | TDS_COLUMN_ENCRYPTED)) return 0;
  if (from->user_type == USER_TYPE_TIMESTAMP) return 0;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (types[i].described != from->info.type) continue;
    to->info = from->info;
    to->info.type = types[i].sent;
    if (types[i].length) to->info.length = types[i].length;
    to->name = name;
    to->nullable = (from->flags & TDS_COLUMN_NULLABLE) != 0;
    return 1;
  }
  return 0;
}

static void add_column_name(edb_buffer *sql, const char *name) {
  edb_buffer_text(sql, "[");
  for (; *name; name++) {
    edb_buffer_add(sql, name, 1);
    if (*name == ']') edb_buffer_add(sql, name, 1);
  }
  edb_buffer_text(sql, "]");
}

/* What was put together in c->sql, run. */
static int run_sql(ms_connection *c) {
  if (!c->sql.nomem) return ms_run_batch(c, c->sql.p);
  edb_buffer_free(&c->sql);
  c->sql.nomem = 0;
  return ms_nomem(c);
}

/* The server describes the columns. */
static int describe(ms_load *l, int *bulk) {
  ms_connection *c = l->c;
  c->sql.n = 0;
  for (size_t i = 0; i < l->spec->n; i++) {
    edb_buffer_text(&c->sql, i == 0 ? "SELECT " : ", ");
    add_column_name(&c->sql, l->spec->columns[i].name);
  }
  edb_buffer_text(&c->sql, " FROM ");
  edb_load_table(&c->sql, &ms_dialect, l->spec);
  edb_buffer_text(&c->sql, " WHERE 1 = 0");
  const int rc = run_sql(c);
  if (rc != EDB_OK) return rc;
  *bulk = c->stream.n_columns == l->spec->n;
  for (size_t i = 0; i < l->spec->n && *bulk; i++) {
    *bulk = take_column(&c->stream.columns[i], l->spec->columns[i].name, &l->columns[i]);
  }
  return EDB_OK;
}

/* ---- The stream -------------------------------------------------------------------------------------------- */

static void begin_message(ms_load *l) {
  ms_connection *c = l->c;
  tds_message_begin(&l->m, TDS_BULK, c->packet_size, c->request, c->request_size);
  tds_bulk_columns(&l->m, l->columns, l->spec->n);
}

/* Where the packets so far did not fit: more room, in which they are written again from `from` on. */
static int enlarge(ms_load *l, const tds_message *from) {
  ms_connection *c = l->c;
  const int rc = ms_request_room(c, l->m.n + SEND_BYTES, &c->error);
  l->m = *from;
  l->m.p = c->request;
  l->m.size = c->request_size;
  return rc;
}

static int start_stream(ms_load *l) {
  ms_connection *c = l->c;
  char type[TDS_DECLARATION];
  c->sql.n = 0;
  edb_buffer_text(&c->sql, "INSERT BULK ");
  edb_load_table(&c->sql, &ms_dialect, l->spec);
  for (size_t i = 0; i < l->spec->n; i++) {
    edb_buffer_text(&c->sql, i == 0 ? " (" : ", ");
    add_column_name(&c->sql, l->spec->columns[i].name);
    edb_buffer_text(&c->sql, " ");
    edb_buffer_add(&c->sql, type, tds_declare(&l->columns[i].info, type));
  }
  edb_buffer_text(&c->sql, ") WITH (CHECK_CONSTRAINTS, FIRE_TRIGGERS, KEEP_NULLS)");
  int rc = run_sql(c);
  if (rc != EDB_OK) return rc;
  c->loading = 1;
  c->reply = (ms_reply){.open = 1};
  begin_message(l);
  while (rc == EDB_OK && l->m.n > l->m.size) {
    rc = ms_request_room(c, l->m.n, &c->error);
    if (rc == EDB_OK) begin_message(l);
  }
  if (rc == EDB_OK && l->m.refused) rc = edb_fail(&c->error, EDB_UNSUPPORTED, "%s", l->m.refused);
  return rc;
}

/* Sends the packets that are full, all at the end. */
static int send_packets(ms_load *l) {
  const int rc = ms_send_message(l->c, &l->m);
  if (rc == EDB_OK) tds_message_flush(&l->m);
  return rc;
}

/* The server's answer to all of it. */
static int finish_stream(ms_load *l) {
  ms_connection *c = l->c;
  const tds_message before = l->m;
  int rc = EDB_OK;
  tds_bulk_done(&l->m);
  while (rc == EDB_OK && l->m.n > l->m.size) {
    rc = enlarge(l, &before);
    tds_bulk_done(&l->m);
  }
  tds_message_end(&l->m);
  if (rc == EDB_OK) rc = send_packets(l);
  if (rc == EDB_OK) rc = ms_finish(c);
  c->loading = 0;
  ms_request_shrink(c);
  return rc;
}

/* Ends it without its rows: the server, which waits for them, is told to forget what it has. */
static void drop_stream(ms_load *l) {
  ms_connection *c = l->c;
  if (!c->loading) return;
  if (c->reply.open && !ms_dead(c)) ms_break_off(c, &l->m);
  c->loading = 0;
  ms_request_shrink(c);
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

#define DAY_NANOS INT64_C(86400000000000)

/* Rounded to the digits that the type keeps, as the server would; a day's end is the next one's beginning. */
static void round_time(tds_time *time, unsigned scale) {
  static const int64_t unit[8] = {1000000000, 100000000, 10000000, 1000000,
                                  100000,     10000,     1000,     100};
  if (scale > 7 || time->form == TDS_DATE) return;
  time->nanos = (time->nanos + unit[scale] / 2) / unit[scale] * unit[scale];
  if (time->form != TDS_DATETIME || time->nanos != DAY_NANOS) return;
  time->nanos = 0;
  time->days++;
}

/* Text as edb writes times, or a date where the column wants a clock too. */
static void fit_time(const tds_type_info *t, tds_value *v) {
  const edb_time_form form = t->type == TDS_DATEN   ? EDB_DATE
                             : t->type == TDS_TIMEN ? EDB_CLOCK
                                                    : EDB_DATETIME;
  edb_time time;
  if (v->kind == TDS_TEXT) {
    const int zoned = v->as.text.n > 0 && v->as.text.p[v->as.text.n - 1] == 'Z';
    if (!edb_time_parse(v->as.text.p, v->as.text.n, form, zoned, &time) || time.nanos < 0 ||
        time.nanos >= DAY_NANOS || (zoned && t->type != TDS_DATETIMEOFFSETN)) {
      return;
    }
    v->kind = TDS_TIME;
    v->as.time = (tds_time){time.nanos, time.days, time.form, time.zoned};
  }
  if (v->kind != TDS_TIME) return;
  if (v->as.time.form == TDS_DATE && form == EDB_DATETIME) v->as.time.form = TDS_DATETIME;
  if (t->type != TDS_DATETIMN) round_time(&v->as.time, t->scale);
}

/* Numbers that are the same in the column's type. */
static void fit_number(const tds_type_info *t, tds_value *v) {
  if (t->type == TDS_FLTN) {
    const int64_t exact = INT64_C(1) << (t->length == 4 ? 24 : 53);
    if (v->kind == TDS_I64 && v->as.i64 >= -exact && v->as.i64 <= exact) {
      v->kind = TDS_F64;
      v->as.f64 = (double)v->as.i64;
    }
  } else if (v->kind == TDS_F64 && v->as.f64 >= -0x1p53 && v->as.f64 <= 0x1p53) {
    const int64_t whole = (int64_t)v->as.f64;
    if ((double)whole < v->as.f64 || (double)whole > v->as.f64) return;
    v->kind = TDS_I64;
    v->as.i64 = whole;
  }
}

static void fit(const tds_type_info *t, const edb_value *from, tds_value *to) {
  memcpy(to, from, sizeof *to);
  switch (t->type) {
  case TDS_INTN:
  case TDS_BITN:
  case TDS_FLTN:
  case TDS_DECIMALN:
  case TDS_NUMERICN:
  case TDS_MONEYN:
    fit_number(t, to);
    break;
  case TDS_DATEN:
  case TDS_TIMEN:
  case TDS_DATETIME2N:
  case TDS_DATETIMEOFFSETN:
  case TDS_DATETIMN:
    fit_time(t, to);
    break;
  default:
    break;
  }
}

/* ---- INSERTs instead -------------------------------------------------------------------------------------------- */

static int begin_inserts(const ms_load *l, void **inserts) {
  ms_connection *c = l->c;
  const edb_inserts_spec spec = {.methods = edb_sqlserver_driver.methods,
                                 .dialect = &ms_dialect,
                                 .connection = c,
                                 .host = c->host,
                                 .error = &c->error,
                                 .rows = INSERT_ROWS};
  return edb_inserts_begin(&spec, l->spec, inserts);
}

/* ---- Pieces ----------------------------------------------------------------------------------------------------- */

static int keep_pieces(ms_load *l) {
  const edb_host *host = l->c->host;
  l->piece = edb_alloc(host, (PIECE_VALUES + l->spec->n) * sizeof *l->piece);
  l->arena = l->piece ? edb_alloc(host, PIECE_BYTES) : NULL;
  return l->arena ? EDB_OK : ms_nomem(l->c);
}

static size_t bytes_of(const ms_load *l, const edb_value *values) {
  size_t bytes = 0;
  for (size_t i = 0; i < l->spec->n && bytes <= PIECE_BYTES; i++) {
    if (values[i].kind != EDB_TEXT && values[i].kind != EDB_BYTES) continue;
    if (values[i].as.text.n > PIECE_BYTES) return PIECE_BYTES + 1;
    bytes += values[i].as.text.n;
  }
  return bytes;
}

static int is_full(const ms_load *l, size_t bytes) {
  return l->kept > 0 &&
         ((l->kept + 1) * l->spec->n > PIECE_VALUES || bytes > PIECE_BYTES - l->used);
}

/* One that is larger than the arena stays where the caller has it: its piece ends with it. */
static void keep_row(ms_load *l, const edb_value *values, size_t bytes) {
  edb_value *row = l->piece + l->kept++ * l->spec->n;
  for (size_t i = 0; i < l->spec->n; i++) {
    row[i] = values[i];
    if (bytes > PIECE_BYTES || (row[i].kind != EDB_TEXT && row[i].kind != EDB_BYTES)) continue;
    char *copy = l->arena + l->used;
    if (row[i].as.text.n > 0) memcpy(copy, row[i].as.text.p, row[i].as.text.n);
    row[i].as.text.p = copy;
    l->used += row[i].as.text.n;
  }
}

/* Sends the piece again by INSERTs. */
static int insert_piece(ms_load *l) {
  void *inserts;
  int rc = begin_inserts(l, &inserts);
  if (rc != EDB_OK) return rc;
  for (size_t i = 0; i < l->kept && rc == EDB_OK; i++) {
    rc = edb_inserts_row(inserts, l->piece + i * l->spec->n);
  }
  return rc == EDB_OK ? edb_inserts_end(inserts) : (edb_inserts_abort(inserts), rc);
}

/* The piece's error, with the row that has the same by itself. Another one's error tells nothing of these rows: the
** transaction may be doomed by now. */
static int find_row(ms_load *l, int rc) {
  ms_connection *c = l->c;
  const edb_error why = c->error;
  if (l->kept == 0 || c->lost || ms_dead(c) || !edb_load_is_of_rows(rc)) return rc;
  if (insert_piece(l) == EDB_OK) return EDB_OK;
  const int64_t row = c->error.vendor == why.vendor ? c->error.row : 0;
  c->error = why;
  c->error.row = row > 0 ? l->settled + row : 0;
  return rc;
}

/* The end of a piece, or of all rows. */
static int end_piece(ms_load *l) {
  ms_connection *c = l->c;
  int rc = finish_stream(l);
  if (rc != EDB_OK) {
    rc = find_row(l, rc);
  } else if (c->reply.counted) {
    rc = edb_load_counted(&c->error, l->rows - l->settled, c->reply.last);
  }
  l->settled = l->rows;
  l->kept = l->used = 0;
  return rc;
}

static int insert_row(ms_load *l, const edb_value *values) {
  const int rc = edb_inserts_row(l->inserts, values);
  if (rc != EDB_OK && l->c->error.row > 0) l->c->error.row += l->rows;
  return rc;
}

/* ---- The calls ---------------------------------------------------------------------------------------------------- */

static int fail(ms_load *l, int rc) {
  if (rc != EDB_OK) l->failed = 1;
  return rc;
}

/* 0: a value has no exact form. *rc: out of memory. */
static int put_row(ms_load *l, const edb_value *values, int *rc) {
  const tds_message before = l->m;
  for (size_t i = 0; i < l->spec->n; i++) {
    if (values[i].kind == EDB_NULL && !l->columns[i].nullable) return 0;
    fit(&l->columns[i].info, &values[i], &l->values[i]);
  }
  *rc = EDB_OK;
  tds_bulk_row(&l->m, l->columns, l->values, l->spec->n);
  while (*rc == EDB_OK && l->m.n > l->m.size && !l->m.refused) {
    *rc = enlarge(l, &before);
    if (*rc == EDB_OK) tds_bulk_row(&l->m, l->columns, l->values, l->spec->n);
  }
  if (!l->m.refused) return 1;
  l->m = before;
  l->m.p = l->c->request;
  l->m.size = l->c->request_size;
  return 0;
}

int ms_load_row(void *load, const edb_value *values) {
  ms_load *l = load;
  ms_connection *c = l->c;
  int rc = EDB_OK;
  if (l->failed) return edb_fail(&c->error, EDB_FAILED, "the load has failed");
  if (l->inserts) return fail(l, insert_row(l, values));
  const size_t bytes = l->piece ? bytes_of(l, values) : 0;
  if (l->piece && is_full(l, bytes)) {
    rc = end_piece(l);
    if (rc == EDB_OK) rc = start_stream(l);
    if (rc != EDB_OK) return fail(l, rc);
  }
  if (put_row(l, values, &rc)) {
    l->rows++;
    if (l->piece) keep_row(l, values, bytes);
    if (rc == EDB_OK && l->m.n >= SEND_BYTES) rc = send_packets(l);
    if (rc != EDB_OK || bytes <= PIECE_BYTES) return fail(l, rc);
    rc = end_piece(l);
    if (rc == EDB_OK) rc = start_stream(l);
    return fail(l, rc);
  }
  if (rc == EDB_OK) rc = end_piece(l);
  if (rc == EDB_OK) rc = begin_inserts(l, &l->inserts);
  if (rc == EDB_OK) rc = insert_row(l, values);
  return fail(l, rc);
}

static int end(ms_load *l, int rc) {
  const edb_host *host = l->c->host;
  edb_free(host, l->piece);
  edb_free(host, l->arena);
  edb_free(host, l);
  return rc;
}

int ms_load_end(void *load) {
  ms_load *l = load;
  ms_connection *c = l->c;
  int rc;
  if (l->inserts) {
    rc = edb_inserts_end(l->inserts);
    if (rc != EDB_OK && c->error.row > 0) c->error.row += l->rows;
    return end(l, rc);
  }
  if (!l->failed) return end(l, end_piece(l));
  drop_stream(l);
  return end(l, edb_fail(&c->error, EDB_FAILED, "the load has failed"));
}

int ms_load_abort(void *load) {
  ms_load *l = load;
  if (l->inserts) {
    (void)edb_inserts_abort(l->inserts);
  } else {
    drop_stream(l);
  }
  return end(l, EDB_OK);
}

int ms_load_begin(ms_connection *c, const edb_load_spec *spec, void **load) {
  const size_t columns = spec->n * sizeof(tds_bulk_column);
  int bulk = 0;
  if (spec->n == 0) return edb_fail(&c->error, EDB_UNSUPPORTED, "no columns to load");
  ms_load *l = edb_alloc(c->host, sizeof *l + columns + spec->n * sizeof(tds_value));
  if (!l) return ms_nomem(c);
  memset(l, 0, sizeof *l);
  l->c = c;
  l->spec = spec;
  l->columns = (tds_bulk_column *)(l + 1);
  l->values = (tds_value *)(l->columns + spec->n);
  int rc = describe(l, &bulk);
  if (rc == EDB_OK && bulk && c->transaction) rc = keep_pieces(l);
  if (rc == EDB_OK && bulk) {
    rc = start_stream(l);
    if (rc != EDB_OK) drop_stream(l);
    bulk = rc != EDB_INVALID_QUERY && rc != EDB_FAILED;
    if (!bulk && !c->lost && !ms_dead(c)) rc = EDB_OK;
  }
  if (rc == EDB_OK && !bulk) rc = begin_inserts(l, &l->inserts);
  if (rc != EDB_OK) return end(l, rc);
  *load = l;
  return EDB_OK;
}
