/*
** drivers/mysql_statement.c: statements: prepared, run, their columns described and bound.
**
** A statement is prepared by the server, unless the server refuses to (USE, LOCK TABLES, and what newer ones
** still lack), or the client library's structures are not known: it then goes by the text protocol. Columns
** are described when it runs, since a parameter's type may decide a column's; what is as it was the last
** time is not bound again.
*/
#include <string.h>

#include "mysql.h"

#define FIRST_BYTES 512 /* of a text's buffer, where its column may hold more */

/* ---- Columns ---------------------------------------------------------------------------------- */

static void forget_columns(my_statement *s) {
  const edb_host *host = s->connection->host;
  for (size_t i = 0; i < s->n_columns; i++) edb_free(host, s->cells[i].bytes);
  edb_free(host, s->columns);
  edb_free(host, s->values);
  edb_free(host, s->cells);
  edb_free(host, s->result_binds);
  edb_free(host, s->names);
  s->columns = NULL;
  s->values = NULL;
  s->cells = NULL;
  s->result_binds = NULL;
  s->names = NULL;
  s->n_columns = 0;
}

static int same_field(const my_field *a, const my_field *b) {
  return a->type == b->type && a->flags == b->flags && a->decimals == b->decimals &&
         a->charset == b->charset && a->length == b->length;
}

/* Whether the columns are those that are bound. */
static int same_columns(const my_statement *s, MYSQL_RES *result, size_t n) {
  if (n != s->n_columns) return 0;
  for (size_t i = 0; i < n; i++) {
    my_field field;
    my_layout_field(my_layout_used, my.fetch_field_direct(result, (unsigned)i), &field);
    if (!same_field(&field, &s->cells[i].field) || strcmp(field.name, s->columns[i].name) != 0)
      return 0;
  }
  return 1;
}

/* What kind of value a codec gives. */
static edb_kind kind_of(my_codec codec) {
  static const edb_kind kinds[] = {
      [MY_NULL] = EDB_NULL,     [MY_INT] = EDB_I64,       [MY_UINT] = EDB_U64,
      [MY_FLOAT] = EDB_F64,     [MY_DOUBLE] = EDB_F64,    [MY_TEXT] = EDB_TEXT,
      [MY_BYTES] = EDB_BYTES,   [MY_BIT] = EDB_I64,       [MY_DATE] = EDB_TIME,
      [MY_CLOCK] = EDB_TIME,    [MY_DATETIME] = EDB_TIME, [MY_TIMESTAMP] = EDB_TIME,
      [MY_GEOMETRY] = EDB_BYTES};
  return kinds[codec];
}

/* What MariaDB says of a type that it sends as another: 0 its name, 1 its format. */
static my_const_string extended_type(const MYSQL_FIELD *field) {
  my_const_string attribute = {"", 0};
  for (int which = 0; my.field_attr && which < 2 && attribute.n == 0; which++) {
    if (my.field_attr(&attribute, field, which) != 0 || !attribute.p) {
      attribute = (my_const_string){"", 0};
    }
  }
  return attribute;
}

static void describe_column(my_statement *s, MYSQL_RES *result, size_t i, edb_buffer *names) {
  const MYSQL_FIELD *from = my.fetch_field_direct(result, (unsigned)i);
  edb_column *column = &s->columns[i];
  my_cell *cell = &s->cells[i];
  my_layout_field(my_layout_used, from, &cell->field);
  my_const_string more = extended_type(from);
  my_type type = my_type_of(&cell->field, more.p, more.n);
  cell->codec = type.codec;
  column->type_name = type.name;
  column->type = my_dialect.type(type.name);
  column->kind = kind_of(type.codec);
  column->nullable = (cell->field.flags & MYSQL_NOT_NULL_FLAG) == 0;
  edb_buffer_add(names, cell->field.name, strlen(cell->field.name) + 1);
  cell->field.name = NULL;
}

static int out_of_memory(my_connection *c) {
  return edb_fail(&c->error, EDB_NOMEM, "out of memory");
}

int my_describe(my_statement *s, MYSQL_RES *result) {
  my_connection *c = s->connection;
  size_t n = my.num_fields(result);
  if (same_columns(s, result, n)) return EDB_OK;
  forget_columns(s);
  if (n == 0) return EDB_OK;
  edb_buffer names = {c->host, NULL, 0, 0, 0};
  s->columns = edb_alloc(c->host, n * sizeof *s->columns);
  s->values = edb_alloc(c->host, n * sizeof *s->values);
  s->cells = edb_alloc(c->host, n * sizeof *s->cells);
  s->result_binds = edb_alloc(c->host, n * my_layout_used->bind_size);
  if (!s->columns || !s->values || !s->cells || !s->result_binds) {
    forget_columns(s); /* n_columns is 0 still: no cell is looked at */
    return out_of_memory(c);
  }
  memset(s->values, 0, n * sizeof *s->values);
  memset(s->cells, 0, n * sizeof *s->cells);
  s->n_columns = n;
  for (size_t i = 0; i < n; i++) describe_column(s, result, i, &names);
  s->names = names.p;
  if (names.nomem) {
    forget_columns(s);
    return out_of_memory(c);
  }
  const char *p = s->names;
  for (size_t i = 0; i < n; i++, p += strlen(p) + 1) s->columns[i].name = p;
  s->grown = 1;
  return EDB_OK;
}

/* Where a column's values go: numbers straight to where they are lent. */
static int bind_column(my_statement *s, size_t i, my_bound *bound) {
  my_cell *cell = &s->cells[i];
  edb_value *v = &s->values[i];
  memset(bound, 0, sizeof *bound);
  bound->length = &cell->length;
  bound->is_null = &cell->is_null;
  bound->error = &cell->error;
  switch (cell->codec) {
  case MY_INT:
  case MY_UINT:
    bound->type = MYSQL_TYPE_LONGLONG;
    bound->is_unsigned = cell->codec == MY_UINT;
    bound->buffer = &v->as.i64;
    return EDB_OK;
  case MY_DOUBLE:
    bound->type = MYSQL_TYPE_DOUBLE;
    bound->buffer = &v->as.f64;
    return EDB_OK;
  case MY_FLOAT:
    bound->type = MYSQL_TYPE_FLOAT;
    bound->buffer = &cell->fixed.f32;
    return EDB_OK;
  case MY_DATE:
  case MY_CLOCK:
  case MY_DATETIME:
  case MY_TIMESTAMP:
    bound->type = cell->codec == MY_DATE    ? MYSQL_TYPE_DATE
                  : cell->codec == MY_CLOCK ? MYSQL_TYPE_TIME
                                            : MYSQL_TYPE_DATETIME;
    bound->buffer = &cell->fixed.time;
    return EDB_OK;
  case MY_BIT:
    bound->type = MYSQL_TYPE_BLOB;
    bound->buffer = &cell->fixed.bits;
    bound->buffer_length = sizeof cell->fixed.bits;
    return EDB_OK;
  case MY_NULL:
  case MY_TEXT:
  case MY_BYTES:
  case MY_GEOMETRY:
    break;
  }
  if (!cell->bytes) {
    cell->size = cell->field.length < FIRST_BYTES ? cell->field.length + 1 : FIRST_BYTES;
    cell->bytes = edb_alloc(s->connection->host, cell->size);
    if (!cell->bytes) return out_of_memory(s->connection);
  }
  bound->type =
      cell->codec == MY_BYTES || cell->codec == MY_GEOMETRY ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
  bound->buffer = cell->bytes;
  bound->buffer_length = cell->size;
  return EDB_OK;
}

int my_bind_columns(my_statement *s) {
  memset(s->result_binds, 0, s->n_columns * my_layout_used->bind_size);
  for (size_t i = 0; i < s->n_columns; i++) {
    my_bound bound;
    int rc = bind_column(s, i, &bound);
    if (rc != EDB_OK) return rc;
    my_layout_bind(my_layout_used, s->result_binds, i, &bound);
  }
  if (my.stmt_bind_result(s->stmt, s->result_binds) != 0) {
    return my_stmt_error(s->connection, s->stmt);
  }
  s->grown = 0;
  return EDB_OK;
}

/* ---- Preparing --------------------------------------------------------------------------------- */

/* The server has no prepared form of the statement, or no room for another prepared one. */
static int not_prepared(unsigned number) {
  return number == 1295 /* ER_UNSUPPORTED_PS */ ||
         number == 1461 /* ER_MAX_PREPARED_STMT_COUNT_REACHED */ ||
         number == 1047 /* ER_UNKNOWN_COM_ERROR: a proxy's */;
}

static int prepare(my_statement *s) {
  my_connection *c = s->connection;
  if (!c->proving && atomic_load(&my_layout_state) != MY_LAYOUT_FITS) return EDB_OK;
  s->stmt = my.stmt_init(c->mysql);
  if (!s->stmt) return out_of_memory(c);
  if (my_prepare(c, s->stmt, s->sql, s->sql_n) != 0) {
    unsigned number = my.stmt_errno(s->stmt);
    int rc = not_prepared(number) && !c->proving ? EDB_OK : my_stmt_error(c, s->stmt);
    my.stmt_close(s->stmt);
    s->stmt = NULL;
    return rc;
  }
  s->n_parameters = my.stmt_param_count(s->stmt);
  if (s->n_parameters == 0) return EDB_OK;
  s->places = edb_alloc(c->host, s->n_parameters * sizeof *s->places);
  if (!s->places) return out_of_memory(c);
  memset(s->places, 0, s->n_parameters * sizeof *s->places);
  for (size_t i = 0; i < s->n_parameters; i++) s->places[i].type = -1;
  s->parameter_binds = edb_alloc(c->host, s->n_parameters * my_layout_used->bind_size);
  return s->parameter_binds ? EDB_OK : out_of_memory(c);
}

int my_statement_new(my_connection *c, const char *sql, my_statement **statement) {
  size_t n = strlen(sql) + 1;
  my_statement *s = edb_alloc(c->host, sizeof *s + n);
  if (!s) return out_of_memory(c);
  memset(s, 0, sizeof *s);
  s->connection = c;
  s->sql = (char *)(s + 1);
  memcpy(s->sql, sql, n);
  s->sql_n = n - 1;
  s->reads = (unsigned char)my_only_reads(sql);
  c->statements++;
  int rc = prepare(s);
  if (rc == EDB_OK) {
    *statement = s;
  } else {
    my_statement_free(s);
  }
  return rc;
}

void my_statement_free(my_statement *s) {
  my_connection *c = s->connection;
  my_wait_for(c);
  if (c->ahead == s) (void)my_statement_receive(s);
  if (s->stmt) my.stmt_close(s->stmt);
  forget_columns(s);
  for (size_t i = 0; s->places && i < s->n_parameters; i++) edb_free(c->host, s->places[i].bytes);
  edb_free(c->host, s->places);
  edb_free(c->host, s->parameter_binds);
  edb_free(c->host, s);
  c->statements--;
}

/* ---- Running ------------------------------------------------------------------------------------- */

static int describe_prepared(my_statement *s) {
  if (my.stmt_field_count(s->stmt) == 0) {
    forget_columns(s);
    return EDB_OK;
  }
  MYSQL_RES *result = my.stmt_result_metadata(s->stmt);
  if (!result) return my_stmt_error(s->connection, s->stmt);
  int rc = my_describe(s, result);
  my.free_result(result);
  return rc == EDB_OK && s->grown ? my_bind_columns(s) : rc;
}

static int run_text(my_statement *s, const edb_parameter *parameters, size_t n) {
  my_connection *c = s->connection;
  int rc = my_render(s, parameters, n);
  if (rc != EDB_OK) return rc;
  if (my_query(c, c->sql.p, c->sql.n) != 0) return my_error(c);
  if (my.field_count(c->mysql) == 0) {
    forget_columns(s);
    return EDB_OK;
  }
  c->rows.result = my.use_result(c->mysql);
  return c->rows.result ? my_describe(s, c->rows.result) : my_error(c);
}

int my_statement_run(my_statement *s, const edb_parameter *parameters, size_t n) {
  my_connection *c = s->connection;
  int rc;
  if (!s->stmt) {
    rc = run_text(s, parameters, n);
  } else {
    rc = my_bind(s, parameters, n);
    if (rc != EDB_OK) return rc;
    if (my_execute(c, s->stmt) != 0) return my_stmt_error(c, s->stmt);
    rc = describe_prepared(s);
  }
  if (rc != EDB_OK) {
    edb_error why = c->error;
    my_statement_finish(s);
    c->error = why;
  }
  return rc;
}

/* A CALL has one result after another. */
int my_statement_finish(my_statement *s) {
  my_connection *c = s->connection;
  int rc = EDB_OK, more;
  if (s->stmt) {
    do {
      if (my.stmt_free_result(s->stmt) != 0 && rc == EDB_OK) rc = my_stmt_error(c, s->stmt);
      more = c->dead ? -1 : my.stmt_next_result(s->stmt);
    } while (more == 0);
    if (more > 0 && rc == EDB_OK && my.stmt_errno(s->stmt) != 0) rc = my_stmt_error(c, s->stmt);
    return rc;
  }
  do {
    MYSQL_RES *result = c->rows.result ? c->rows.result : my.use_result(c->mysql);
    c->rows.result = NULL;
    if (result) my.free_result(result);
    if (my.number(c->mysql) != 0) return my_error(c);
    more = my.next_result(c->mysql);
  } while (more == 0);
  return more > 0 ? my_error(c) : EDB_OK;
}
