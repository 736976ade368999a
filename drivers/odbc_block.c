/*
** drivers/odbc_block.c: blocks of rows: columns bound as arrays, as many rows at once as a budget of bytes holds.
**
** Fixed sizes are bound as they are; of text and bytes, places of what most values need are bound, and what does not
** fit its place is read again whole (odbc_long.c), where the driver lets a bound column of any row of a block be read
** again. Where it does not, rows come one by one, and columns that have no bound come by SQLGetData. Places grow
** with the values that did not fit them.
*/
#include <string.h>

#include "odbcInt.h"

#define BLOCK_BYTES (256u << 10)
#define BLOCK_ROWS 1024
#define SPARE_UNITS                                                                                \
  3 /* the NUL, and room for a character more: a full place is one that a value was cut for */
#define FIRST_UNITS 64     /* of a place for text or bytes that may be longer */
#define LARGEST_UNITS 4096 /* no place is larger: longer values are read one by one */

/* ---- What can be bound --------------------------------------------------------------------------- */

/* Whether a bound value that was cut can be read again. */
static int rereads(const od_connection *c) { return (c->getdata & SQL_GD_BOUND) != 0; }

/* Whether it can be in any row of a block. */
static int rereads_in_block(const od_connection *c) {
  return rereads(c) && (c->getdata & SQL_GD_BLOCK) != 0 && !c->quirk.one_reread;
}

/* Whether no value of the column is longer than it says, so that it needs no second reading. */
static int is_bounded(const od_connection *c, const od_cell *cell) {
  if (od_fixed_size(cell->codec) > 0) return 1;
  return c->quirk.trusted && cell->declared > 0 && cell->declared <= LARGEST_UNITS &&
         cell->sql_type != SQL_LONGVARCHAR && cell->sql_type != SQL_WLONGVARCHAR &&
         cell->sql_type != SQL_LONGVARBINARY;
}

/* Columns without a bound have to be the last ones, unless the driver takes any. */
static void choose(od_statement *s) {
  const od_connection *c = s->connection;
  const int any = (c->getdata & SQL_GD_ANY_COLUMN) != 0;
  int unbound = 0;
  s->single = c->block_rows == 1 || c->quirk.no_block;
  for (size_t i = 0; i < s->n_columns; i++) {
    od_cell *cell = &s->cells[i];
    const int bounded = is_bounded(c, cell);
    cell->bound = (unsigned char)((bounded || rereads(c)) && (any || !unbound));
    if (!cell->bound) unbound = 1;
    if (!bounded && !rereads_in_block(c)) s->single = 1;
  }
  if (unbound) s->single = 1;
}

/* Bytes of one unit of the column's text. */
static size_t unit_size(const od_cell *cell) {
  return cell->codec == OD_TEXT ? (size_t)od_wide : 1;
}

/* What is bound first: all of a short value, the usual part of one that may be long. */
static size_t first_width(const od_connection *c, const od_cell *cell) {
  const size_t fixed = od_fixed_size(cell->codec);
  if (fixed > 0) return fixed;
  size_t units = cell->declared;
  if (units == 0 || (units > FIRST_UNITS && !is_bounded(c, cell))) units = FIRST_UNITS;
  /* UTF-16 has two units for some characters, UTF-8 up to four. */
  if (cell->codec == OD_TEXT && is_bounded(c, cell)) units *= 2;
  if (cell->codec == OD_NARROW && c->quirk.utf8 && is_bounded(c, cell)) units *= 4;
  /* Numbers and moments have signs, points and zones that their sizes leave out. */
  if (cell->codec != OD_TEXT && cell->codec != OD_BYTES) units = units < 44 ? 48 : units + 4;
  return (units + SPARE_UNITS) * unit_size(cell);
}

/* ---- Making it --------------------------------------------------------------------------------------- */

void od_block_free(od_statement *s) {
  const edb_host *host = s->connection->host;
  if (s->capacity == 0) return;
  od.FreeStmt(s->stmt, SQL_UNBIND);
  for (size_t i = 0; i < s->n_columns; i++) {
    edb_free(host, s->cells[i].data);
    edb_free(host, s->cells[i].lengths);
    s->cells[i].data = NULL;
    s->cells[i].lengths = NULL;
  }
  edb_free(host, s->status);
  s->status = NULL;
  s->capacity = 0;
}

static size_t rows_that_fit(const od_statement *s) {
  size_t row = 2, rows;
  if (s->single) return 1;
  for (size_t i = 0; i < s->n_columns; i++) row += s->cells[i].width + sizeof(SQLLEN);
  if (s->connection->block_rows > 0) return (size_t)s->connection->block_rows;
  rows = BLOCK_BYTES / row;
  if (rows > BLOCK_ROWS) rows = BLOCK_ROWS;
  /* A row more than are likely, since a block that is full is not known to be the last one. */
  if (s->likely > 0 && rows > s->likely + 1) rows = s->likely + 1;
  return rows < 1 ? 1 : rows;
}

static int set_attribute(od_statement *s, int attribute, void *value, int kind) {
  return od_ok(od.SetStmtAttr(s->stmt, attribute, value, kind));
}

/* Tells the driver how many rows there are room for; 0: it has only one at a time. */
static int set_rows(od_statement *s, size_t rows) {
  SQLULEN got = 0;
  if (!set_attribute(s, SQL_ATTR_ROW_ARRAY_SIZE, (void *)rows, SQL_IS_UINTEGER)) return rows == 1;
  if (!od_ok(od.GetStmtAttr(s->stmt, SQL_ATTR_ROW_ARRAY_SIZE, &got, 0, NULL))) return 1;
  return got == rows;
}

static int make_places(od_statement *s, size_t rows) {
  const edb_host *host = s->connection->host;
  s->capacity = rows;
  s->status = edb_alloc(host, rows * sizeof *s->status);
  if (!s->status) return EDB_NOMEM;
  for (size_t i = 0; i < s->n_columns; i++) {
    od_cell *cell = &s->cells[i];
    if (!cell->bound) continue;
    cell->data = edb_alloc(host, rows * cell->width);
    cell->lengths = edb_alloc(host, rows * sizeof *cell->lengths);
    if (!cell->data || !cell->lengths) return EDB_NOMEM;
  }
  return EDB_OK;
}

static int bind_columns(od_statement *s) {
  for (size_t i = 0; i < s->n_columns; i++) {
    const od_cell *cell = &s->cells[i];
    if (!cell->bound) continue;
    if (!od_ok(od.BindCol(s->stmt, (SQLUSMALLINT)(i + 1), (SQLSMALLINT)od_c_type(cell->codec),
                          cell->data, (SQLLEN)cell->width, cell->lengths))) {
      return od_statement_error(s);
    }
  }
  return EDB_OK;
}

static int make_block(od_statement *s) {
  od_connection *c = s->connection;
  size_t rows = rows_that_fit(s);
  if (!set_rows(s, rows)) {
    s->single = 1;
    rows = 1;
    set_rows(s, rows);
  }
  if (make_places(s, rows) != EDB_OK) {
    od_block_free(s);
    return od_nomem(c);
  }
  set_attribute(s, SQL_ATTR_ROW_STATUS_PTR, s->status, SQL_IS_POINTER);
  set_attribute(s, SQL_ATTR_ROWS_FETCHED_PTR, &s->fetched, SQL_IS_POINTER);
  const int rc = bind_columns(s);
  if (rc != EDB_OK) od_block_free(s);
  return rc;
}

int od_block_start(od_statement *s) {
  choose(s);
  for (size_t i = 0; i < s->n_columns; i++) {
    s->cells[i].width = s->cells[i].bound ? first_width(s->connection, &s->cells[i]) : 0;
  }
  s->grow = 0;
  return make_block(s);
}

/* Room for what did not fit, before the next block. */
static int regrow(od_statement *s) {
  s->grow = 0;
  for (size_t i = 0; i < s->n_columns; i++) {
    od_cell *cell = &s->cells[i];
    const size_t most = (LARGEST_UNITS + SPARE_UNITS) * unit_size(cell);
    if (cell->wanted > most) cell->wanted = most;
    while (cell->width < cell->wanted) cell->width *= 2;
    if (cell->width > most && cell->wanted > 0) cell->width = most;
    cell->wanted = 0;
  }
  od_block_free(s);
  return make_block(s);
}

/* ---- Fetching ------------------------------------------------------------------------------------------- */

static SQLRETURN call_fetch(const od_job *job) { return od.Fetch(job->handle); }

/* What a driver writes no status for is taken as well read; so is the status that stands before. */
#define NO_STATUS 0xFFFF

/* How many rows the driver says there are, or, where it says nothing of use, for how many it wrote a status. 0: it
** cannot be told. */
static size_t rows_fetched(const od_statement *s) {
  size_t n = 0;
  if (s->fetched <= s->capacity) return s->fetched;
  while (n < s->capacity && s->status[n] != NO_STATUS && s->status[n] != SQL_ROW_NOROW) n++;
  return n > 0 ? n : s->capacity == 1;
}

/* Errors of rows are kept until those before them are lent. One that no row's status tells of is behind the block's
** rows (FreeTDS ends with it, and then has no more), or, where no row has a status, of any of them. */
static void find_trouble(od_statement *s) {
  od_connection *c = s->connection;
  od_rows *r = &c->rows;
  size_t row = 0;
  while (row < r->have && s->status[row] != SQL_ROW_ERROR) row++;
  od_diagnose(c, SQL_HANDLE_STMT, s->stmt, row < r->have ? row : SIZE_MAX, &r->trouble);
  const int warning = strncmp(r->trouble.sqlstate, "01", 2) == 0 || !r->trouble.sqlstate[0];
  if (row < r->have || !warning) r->trouble_at = s->status[0] == NO_STATUS ? 0 : row;
}

int od_block_fetch(od_statement *s) {
  od_connection *c = s->connection;
  od_rows *r = &c->rows;
  const int first = s->fetched == 0;
  int rc;
  if (s->grow && (rc = regrow(s)) != EDB_OK) return rc;
  r->at = r->have = 0;
  r->trouble_at = SIZE_MAX;
  for (size_t i = 0; i < s->n_columns; i++) {
    /* A driver that writes four bytes of a length leaves the others as they are. */
    if (s->cells[i].lengths) memset(s->cells[i].lengths, 0, s->capacity * sizeof(SQLLEN));
  }
  for (size_t i = 0; i < s->capacity; i++) s->status[i] = NO_STATUS;
  s->fetched = SIZE_MAX;
  const od_job job = {call_fetch, s->stmt, NULL, 0, 0};
  /* With some drivers the server works while the first row is asked for. */
  const SQLRETURN got = s->single && !first ? od.Fetch(s->stmt) : od_call(c, s->stmt, &job);
  if (got == SQL_NO_DATA) return EDB_DONE;
  if (!od_ok(got)) return od_statement_error(s);
  r->have = rows_fetched(s);
  if (s->likely > 0 && !s->single && r->have == s->capacity) { /* there are more than was thought */
    s->likely = 0;
    s->grow = 1;
  }
  if (r->have == 0 && s->fetched > 0) {
    return edb_fail(&c->error, EDB_FAILED, "the driver does not say how many rows it read");
  }
  if (got == SQL_SUCCESS_WITH_INFO) find_trouble(s);
  r->last = c->quirk.short_ends && s->fetched < s->capacity && got == SQL_SUCCESS;
  return EDB_ROW;
}
