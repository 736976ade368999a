/*
** drivers/mysql_each.c: a statement that runs many times in one command: MariaDB's COM_STMT_BULK_EXECUTE.
**
** Parameters are bound as arrays, a column each, of one type that its first value that is not NULL decides. The server
** runs the statement for one row after another and tells the sum of the rows that were changed, which is enough where each
** changes one. What cannot go so (MySQL, older servers, dates, values of several types) is run one by one.
*/
#include <string.h>

#include "mysql.h"

#define BULK_VERSION 100300 /* of MariaDB; it came with 10.2, whose first ones had faults */
#define STMT_ATTR_ARRAY_SIZE 201
#define BULK_BYTES 1000000 /* of a command, which every server takes */

/* A column of parameters. */
typedef struct bulk_column {
  int type;
  int is_unsigned;
  void *buffer; /* of int64_t, double, or pointers */
  unsigned long *lengths;
  char *nulls;
} bulk_column;

int my_can_bulk(const my_connection *c) {
  return my.stmt_attr_set && my.get_info && my_layout_used && my_layout_used->bind_indicator > 0 &&
         strstr(my.get_server_info(c->mysql), "MariaDB") &&
         my.get_server_version(c->mysql) >= BULK_VERSION;
}

/* What a value is bound as; -1: it does not go so. */
static int type_of(const edb_value *v) {
  switch (v->kind) {
  case EDB_BOOL:
  case EDB_I64:
  case EDB_U64:
    return MYSQL_TYPE_LONGLONG;
  case EDB_F64:
    return MYSQL_TYPE_DOUBLE;
  case EDB_TEXT:
    return MYSQL_TYPE_STRING;
  case EDB_BYTES:
    return MYSQL_TYPE_BLOB;
  default:
    return -1;
  }
}

/* 1: all values of the column are of one type. */
static int find_type(bulk_column *column, const edb_parameter *p, size_t n, size_t runs,
                     size_t *bytes) {
  column->type = -1;
  for (size_t i = 0; i < runs; i++) {
    const edb_value *v = &p[i * n].value;
    if (p[i * n].name) return 0;
    if (v->kind == EDB_NULL) continue;
    const int type = type_of(v);
    const int is_unsigned = v->kind == EDB_U64;
    if (type < 0) return 0;
    if (column->type >= 0 && (type != column->type || is_unsigned != column->is_unsigned)) return 0;
    column->type = type;
    column->is_unsigned = is_unsigned;
    *bytes += 9;
    if (v->kind == EDB_TEXT || v->kind == EDB_BYTES) *bytes += v->as.text.n;
  }
  if (column->type < 0) column->type = MYSQL_TYPE_STRING; /* any type has a NULL */
  return *bytes < BULK_BYTES;
}

static void fill(bulk_column *column, const edb_parameter *p, size_t n, size_t runs) {
  for (size_t i = 0; i < runs; i++) {
    const edb_value *v = &p[i * n].value;
    const void *place = "";
    column->nulls[i] = v->kind == EDB_NULL; /* STMT_INDICATOR_NULL is 1 */
    column->lengths[i] = 0;
    if (column->type == MYSQL_TYPE_LONGLONG) {
      const int64_t number = v->kind == EDB_NULL   ? 0
                             : v->kind == EDB_BOOL ? v->as.boolean
                                                   : v->as.i64;
      memcpy((char *)column->buffer + i * sizeof number, &number, sizeof number);
    } else if (column->type == MYSQL_TYPE_DOUBLE) {
      const double number = v->kind == EDB_NULL ? 0 : v->as.f64;
      memcpy((char *)column->buffer + i * sizeof number, &number, sizeof number);
    } else {
      if (v->kind != EDB_NULL) {
        place = v->as.text.p;
        column->lengths[i] = (unsigned long)v->as.text.n;
      }
      memcpy((char *)column->buffer + i * sizeof place, &place, sizeof place);
    }
  }
}

static int set_array(my_statement *s, unsigned runs) {
  return my.stmt_attr_set(s->stmt, STMT_ATTR_ARRAY_SIZE, &runs) == 0;
}

/* The library keeps what was bound: it is to be told anew before the statement runs by itself. */
static int run_bulk(my_statement *s, const bulk_column *columns, size_t n, size_t runs,
                    int64_t *affected) {
  my_connection *c = s->connection;
  memset(s->parameter_binds, 0, n * my_layout_used->bind_size);
  for (size_t i = 0; i < n; i++) {
    my_bound bound = {.type = columns[i].type,
                      .is_unsigned = columns[i].is_unsigned,
                      .buffer = columns[i].buffer,
                      .length = columns[i].lengths};
    my_layout_bind(my_layout_used, s->parameter_binds, i, &bound);
    memcpy((char *)s->parameter_binds + i * my_layout_used->bind_size +
               my_layout_used->bind_indicator,
           &columns[i].nulls, sizeof columns[i].nulls);
  }
  s->rebind = 1;
  int rc = EDB_OK;
  if (!set_array(s, (unsigned)runs) || my.stmt_bind_param(s->stmt, s->parameter_binds) != 0 ||
      my_execute(c, s->stmt) != 0) {
    rc = my_stmt_error(c, s->stmt);
  }
  const unsigned long long changed = rc == EDB_OK ? my.stmt_affected_rows(s->stmt) : 0;
  if (!c->dead) set_array(s, 0);
  for (size_t i = 0; i < runs; i++) affected[i] = changed == runs ? 1 : -1;
  return rc;
}

int my_run_bulk(my_statement *s, const edb_parameter *parameters, size_t n, size_t runs,
                int64_t *affected) {
  const edb_host *host = s->connection->host;
  const size_t widest = sizeof(int64_t) > sizeof(void *) ? sizeof(int64_t) : sizeof(void *);
  const size_t column_bytes = runs * (widest + sizeof(unsigned long) + 1);
  size_t bytes = 64;
  bulk_column *columns = edb_alloc(host, n * (sizeof *columns + column_bytes));
  if (!columns) return edb_fail(&s->connection->error, EDB_NOMEM, "out of memory");
  memset(columns, 0, n * sizeof *columns);
  char *p = (char *)(columns + n);
  int rc = EDB_OK;
  for (size_t i = 0; i < n; i++) {
    columns[i].buffer = p + i * runs * widest;
    columns[i].lengths =
        (unsigned long *)(void *)(p + n * runs * widest + i * runs * sizeof(unsigned long));
    columns[i].nulls = p + n * runs * (widest + sizeof(unsigned long)) + i * runs;
    if (!find_type(&columns[i], parameters + i, n, runs, &bytes)) rc = EDB_UNSUPPORTED;
    if (rc == EDB_OK) fill(&columns[i], parameters + i, n, runs);
  }
  if (rc == EDB_OK) rc = run_bulk(s, columns, n, runs, affected);
  edb_free(host, columns);
  return rc;
}
