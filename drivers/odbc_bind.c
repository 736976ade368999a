/*
** drivers/odbc_bind.c: parameters. Each has a place that stays where it is, so that what is bound once is bound for
** all runs; only what has moved or is of another type is told to the driver.
**
** What a parameter is at the server follows from its value. Only a NULL, of which nothing is known, is described by the
** driver where that can.
*/
#include <string.h>

#include "odbcInt.h"

/* What a value is bound as. */
typedef struct od_bound {
  short c_type, sql_type;
  size_t size; /* SQLBindParameter's ColumnSize */
  const void *at;
} od_bound;

/* UTF-8 as it is, for drivers that take it so. */
static int bind_narrow(od_statement *s, od_place *place, const edb_value *v, od_bound *bound) {
  place->bytes.n = 0;
  edb_buffer_add(&place->bytes, v->as.text.p, v->as.text.n);
  if (place->bytes.nomem) return od_nomem(s->connection);
  bound->c_type = SQL_C_CHAR;
  bound->sql_type = v->as.text.n > OD_LONG_UNITS ? SQL_WLONGVARCHAR : SQL_WVARCHAR;
  bound->size = v->as.text.n > 0 ? v->as.text.n : 1;
  bound->at = place->bytes.p;
  place->length = (SQLLEN)v->as.text.n;
  return EDB_OK;
}

static int bind_text(od_statement *s, od_place *place, const edb_value *v, od_bound *bound) {
  if (s->connection->quirk.utf8) return bind_narrow(s, place, v, bound);
  const SQLINTEGER units = od_wide_make(&place->bytes, v->as.text.p, v->as.text.n);
  if (units < 0) {
    return place->bytes.nomem ? od_nomem(s->connection)
                              : edb_fail(&s->connection->error, EDB_INVALID_QUERY,
                                         "a parameter of %zu bytes is too long", v->as.text.n);
  }
  bound->c_type = SQL_C_WCHAR;
  bound->sql_type = units > OD_LONG_UNITS ? SQL_WLONGVARCHAR : SQL_WVARCHAR;
  bound->size = units > 0 ? (size_t)units : 1;
  bound->at = place->bytes.p;
  place->length = (SQLLEN)units * od_wide;
  return EDB_OK;
}

static int bind_bytes(od_statement *s, od_place *place, const edb_value *v, od_bound *bound) {
  place->bytes.n = 0;
  edb_buffer_add(&place->bytes, v->as.bytes.p, v->as.bytes.n);
  if (place->bytes.nomem) return od_nomem(s->connection);
  bound->c_type = SQL_C_BINARY;
  bound->sql_type = v->as.bytes.n > 2 * OD_LONG_UNITS ? SQL_LONGVARBINARY : SQL_VARBINARY;
  bound->size = v->as.bytes.n > 0 || s->connection->quirk.bound_size ? v->as.bytes.n : 1;
  bound->at = place->bytes.p;
  place->length = (SQLLEN)v->as.bytes.n;
  return EDB_OK;
}

size_t od_time_text(const edb_time *time, char out[OD_MOMENT_TEXT]) {
  size_t n = edb_time_text(time, out);
  if (time->zoned && n > 0) n--; /* the session is in UTC */
  out[n] = 0;
  return n;
}

static void bind_time(od_place *place, const edb_time *time, od_bound *bound) {
  const size_t n = od_time_text(time, place->fixed.text);
  bound->c_type = SQL_C_CHAR;
  bound->sql_type = SQL_VARCHAR;
  bound->size = n;
  bound->at = place->fixed.text;
  place->length = (SQLLEN)n;
}

/* What the driver says that the parameter is. */
static short describe(od_statement *s, size_t i, SQLULEN *size) {
  od_place *place = &s->places[i];
  SQLSMALLINT digits, nullable;
  if (place->described == 0) {
    place->described = SQL_VARCHAR;
    if (s->connection->describes &&
        !od_ok(od.DescribeParam(s->stmt, (SQLUSMALLINT)(i + 1), &place->described, size, &digits,
                                &nullable))) {
      place->described = SQL_VARCHAR;
    }
    if (place->described == SQL_UNKNOWN_TYPE) place->described = SQL_VARCHAR;
  }
  return place->described;
}

short od_described(od_statement *s, size_t i) {
  SQLULEN size = 0;
  return describe(s, i, &size);
}

/* A NULL: as the driver says, else as what stood there before. */
static void bind_null(od_statement *s, od_place *place, size_t i, od_bound *bound) {
  SQLULEN size = 0;
  place->length = SQL_NULL_DATA;
  if (place->c_type) {
    *bound = (od_bound){place->c_type, place->sql_type, place->column_size, place->at};
    return;
  }
  const short sql_type = describe(s, i, &size);
  *bound = (od_bound){SQL_C_CHAR, sql_type, size > 0 && size < OD_LONG_UNITS ? size : 1,
                      place->fixed.text};
}

static int bind_value(od_statement *s, size_t i, const edb_value *v, od_bound *bound) {
  od_place *place = &s->places[i];
  place->length = 0;
  bound->size = 0;
  bound->at = &place->fixed;
  switch (v->kind) {
  case EDB_NULL:
    bind_null(s, place, i, bound);
    return EDB_OK;
  case EDB_BOOL:
    place->fixed.bit = v->as.boolean != 0;
    *bound = (od_bound){SQL_C_BIT, SQL_BIT, 1, &place->fixed};
    return EDB_OK;
  case EDB_U64:
    if (v->as.u64 > INT64_MAX) {
      place->fixed.u64 = v->as.u64;
      *bound = (od_bound){SQL_C_UBIGINT, SQL_NUMERIC, 20, &place->fixed};
      return EDB_OK;
    }
    place->fixed.i64 = (int64_t)v->as.u64;
    *bound = (od_bound){SQL_C_SBIGINT, SQL_BIGINT, 19, &place->fixed};
    return EDB_OK;
  case EDB_I64:
    place->fixed.i64 = v->as.i64;
    *bound = (od_bound){SQL_C_SBIGINT, SQL_BIGINT, 19, &place->fixed};
    return EDB_OK;
  case EDB_F64:
    place->fixed.f64 = v->as.f64;
    *bound = (od_bound){SQL_C_DOUBLE, SQL_DOUBLE, 15, &place->fixed};
    return EDB_OK;
  case EDB_TEXT:
    return bind_text(s, place, v, bound);
  case EDB_BYTES:
    return bind_bytes(s, place, v, bound);
  case EDB_TIME:
    bind_time(place, &v->as.time, bound);
    return EDB_OK;
  }
  return EDB_OK;
}

/* Tells the driver, unless it knows. */
static int tell(od_statement *s, size_t i, const od_bound *bound) {
  od_place *place = &s->places[i];
  const int exact = bound->c_type == SQL_C_BINARY && s->connection->quirk.bound_size;
  const int fits = bound->c_type == place->c_type && bound->sql_type == place->sql_type &&
                   bound->at == place->at &&
                   (exact ? bound->size == place->column_size : bound->size <= place->column_size);
  if (fits) return EDB_OK;
  void *at;
  memcpy(&at, &bound->at, sizeof at);
  if (!od_ok(od.BindParameter(s->stmt, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT, bound->c_type,
                              bound->sql_type, bound->size, 0, at,
                              place->length > 0 ? place->length : 0, &place->length))) {
    return od_statement_error(s);
  }
  place->c_type = bound->c_type;
  place->sql_type = bound->sql_type;
  place->column_size = bound->size;
  place->at = bound->at;
  return EDB_OK;
}

int od_bind(od_statement *s, const edb_parameter *parameters, size_t n) {
  od_connection *c = s->connection;
  if (n != (size_t)s->n_parameters) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "the statement has %d parameters, not %zu",
                    s->n_parameters, n);
  }
  for (size_t i = 0; i < n; i++) {
    od_bound bound = {0};
    if (parameters[i].name) {
      return edb_fail(&c->error, EDB_UNSUPPORTED, "ODBC has no named parameters");
    }
    int rc = bind_value(s, i, &parameters[i].value, &bound);
    if (rc == EDB_OK) rc = tell(s, i, &bound);
    if (rc != EDB_OK) return rc;
  }
  return EDB_OK;
}
