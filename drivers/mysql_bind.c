/*
** drivers/mysql_bind.c: parameters of a prepared statement.
**
** The library takes a copy of what is bound, and sends the types anew after each binding. So each parameter
** has a place that stays where it is; values are written there, and the library is told only when a
** parameter's type or its place changes. A row of an INSERT so costs its values alone.
*/
#include <string.h>

#include "mysql.h"

#define COPIED_BYTES 65536  /* longer ones are bound where the caller has them */
#define ASKED_BYTES 1000000 /* every server takes this much; from here on it is asked */

/* A server hangs up on a packet that is larger than it takes, without a word that would arrive. So it is asked,
** once a connection, when there is something large to send. */
int my_check_packet(my_connection *c, size_t size) {
  static const char sql[] = "SELECT @@max_allowed_packet";
  if (size < ASKED_BYTES) return EDB_OK;
  if (!c->max_packet) {
    if (my_run(c, sql) != EDB_OK) return (int)c->error.code;
    MYSQL_RES *result = my.use_result(c->mysql);
    char **row = result ? my.fetch_row(result) : NULL;
    for (const char *p = row ? row[0] : NULL; p && *p >= '0' && *p <= '9'; p++) {
      c->max_packet = c->max_packet * 10 + (uint64_t)(*p - '0');
    }
    if (result) my.free_result(result);
    if (!row) return my_error(c);
  }
  if (size < c->max_packet) return EDB_OK;
  edb_fail(&c->error, EDB_INVALID_QUERY, "the parameters have %zu bytes, and the server takes %llu",
           size, (unsigned long long)c->max_packet);
  edb_fail_hint(&c->error, "max_allowed_packet is the server's setting for it");
  return EDB_INVALID_QUERY;
}

static int place_bytes(my_statement *s, my_place *place, const edb_value *v) {
  const edb_host *host = s->connection->host;
  size_t n = v->as.text.n;
  place->length = (unsigned long)n;
  if ((size_t)place->length != n) {
    return edb_fail(&s->connection->error, EDB_INVALID_QUERY,
                    "a parameter of %zu bytes is too long", n);
  }
  if (n > COPIED_BYTES) {
    place->lent = v->as.text.p;
    s->rebind = 1;
    return EDB_OK;
  }
  if (place->lent) s->rebind = 1;
  place->lent = NULL;
  if (n > place->size || !place->bytes) {
    size_t size = place->size ? place->size : 64;
    while (size < n) size *= 2;
    char *bytes = host->resize(host->context, place->bytes, size);
    if (!bytes) return edb_fail(&s->connection->error, EDB_NOMEM, "out of memory");
    place->bytes = bytes;
    place->size = size;
    s->rebind = 1;
  }
  if (n > 0) memcpy(place->bytes, v->as.text.p, n);
  return EDB_OK;
}

/* Writes the value to its place; what it is bound as. */
static int place_value(my_statement *s, size_t i, const edb_value *v, int *type, int *is_unsigned) {
  my_place *place = &s->places[i];
  *is_unsigned = 0;
  switch (v->kind) {
  case EDB_NULL:
    *type = place->type < 0 ? MYSQL_TYPE_NULL : place->type; /* any type has a NULL */
    *is_unsigned = place->is_unsigned;
    return EDB_OK;
  case EDB_BOOL:
    place->fixed.i64 = v->as.boolean != 0;
    *type = MYSQL_TYPE_LONGLONG;
    return EDB_OK;
  case EDB_I64:
    place->fixed.i64 = v->as.i64;
    *type = MYSQL_TYPE_LONGLONG;
    return EDB_OK;
  case EDB_U64:
    place->fixed.u64 = v->as.u64;
    *type = MYSQL_TYPE_LONGLONG;
    *is_unsigned = 1;
    return EDB_OK;
  case EDB_F64:
    place->fixed.f64 = v->as.f64;
    *type = MYSQL_TYPE_DOUBLE;
    return EDB_OK;
  case EDB_TEXT:
    *type = MYSQL_TYPE_STRING;
    return place_bytes(s, place, v);
  case EDB_BYTES:
    *type = MYSQL_TYPE_BLOB;
    return place_bytes(s, place, v);
  case EDB_TIME:
    *type = v->as.time.form == EDB_DATE       ? MYSQL_TYPE_DATE
            : v->as.time.form == EDB_DATETIME ? MYSQL_TYPE_DATETIME
                                              : MYSQL_TYPE_TIME;
    if (my_time_of(&v->as.time, &place->fixed.time)) return EDB_OK;
    return edb_fail(&s->connection->error, EDB_INVALID_QUERY,
                    "parameter %zu is a time that MySQL does not have", i + 1);
  }
  return EDB_OK;
}

static int tell_library(my_statement *s) {
  my_connection *c = s->connection;
  size_t bytes = s->n_parameters * my_layout_used->bind_size;
  memset(s->parameter_binds, 0, bytes);
  for (size_t i = 0; i < s->n_parameters; i++) {
    my_place *place = &s->places[i];
    my_bound bound = {.type = place->type,
                      .is_unsigned = place->is_unsigned,
                      .buffer = &place->fixed,
                      .is_null = &place->is_null,
                      .length = &place->length};
    if (place->type == MYSQL_TYPE_STRING || place->type == MYSQL_TYPE_BLOB) {
      const void *from = place->lent ? place->lent : place->bytes;
      memcpy(&bound.buffer, &from, sizeof from);
      bound.buffer_length = place->length;
    }
    my_layout_bind(my_layout_used, s->parameter_binds, i, &bound);
  }
  if (my.stmt_bind_param(s->stmt, s->parameter_binds) != 0) return my_stmt_error(c, s->stmt);
  s->rebind = 0;
  return EDB_OK;
}

int my_bind(my_statement *s, const edb_parameter *parameters, size_t n) {
  my_connection *c = s->connection;
  if (n != s->n_parameters) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "the statement has %zu parameters, not %zu",
                    s->n_parameters, n);
  }
  size_t bytes = 64 + s->sql_n;
  for (size_t i = 0; i < n; i++) {
    const edb_value *v = &parameters[i].value;
    bytes += 16 + (v->kind == EDB_TEXT || v->kind == EDB_BYTES ? v->as.text.n : 0);
  }
  int rc = my_check_packet(c, bytes);
  if (rc != EDB_OK) return rc;
  for (size_t i = 0; i < n; i++) {
    my_place *place = &s->places[i];
    int type = place->type, is_unsigned = 0;
    if (parameters[i].name) {
      return edb_fail(&c->error, EDB_UNSUPPORTED, "MySQL has no named parameters");
    }
    place->is_null = parameters[i].value.kind == EDB_NULL;
    rc = place_value(s, i, &parameters[i].value, &type, &is_unsigned);
    if (rc != EDB_OK) return rc;
    if (place->type != type || place->is_unsigned != is_unsigned) s->rebind = 1;
    place->type = type;
    place->is_unsigned = (char)is_unsigned;
  }
  return n > 0 && s->rebind ? tell_library(s) : EDB_OK;
}
