/*
** drivers/postgresql_encode.c: parameters, encoded into the types that the server wants.
**
** Each parameter goes in binary where its value has a binary form in that type, and in text otherwise: then the
** server reads it as it would read a literal. A value that the type cannot hold is refused here, before
** anything is sent.
*/
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgresql.h"

/* One parameter on its way. Its bytes are lent from the value or lie in the connection's buffer. */
typedef struct encoder {
  pg_connection *c;
  const pg_parameter_type *type;
  const edb_value *value;
  const char *name; /* of the column, in a load */
  size_t number;    /* from 1 */
  const char *lent;
  size_t n;
  int binary;
} encoder;

/* ---- Refusals ---------------------------------------------------------------------------------- */

static const char *kind_name(edb_kind kind) {
  switch (kind) {
  case EDB_NULL:
    return "NULL";
  case EDB_BOOL:
    return "a boolean";
  case EDB_I64:
  case EDB_U64:
    return "an integer";
  case EDB_F64:
    return "a floating-point number";
  case EDB_TEXT:
    return "text";
  case EDB_BYTES:
    return "bytes";
  case EDB_TIME:
    return "a date or time";
  }
  return "a value";
}

#define PLACE_TEXT 160

/* What the value is for. */
static const char *place(const encoder *e, char out[PLACE_TEXT]) {
  if (e->name) {
    snprintf(out, PLACE_TEXT, "column \"%s\"", e->name);
  } else {
    snprintf(out, PLACE_TEXT, "parameter $%zu", e->number);
  }
  return out;
}

static int unfit(const encoder *e) {
  char at[PLACE_TEXT];
  return edb_fail(&e->c->error, EDB_INVALID_QUERY, "%s: %s does not fit %s", place(e, at),
                  kind_name(e->value->kind), e->type->name);
}

/* The shortest decimal that reads back as the same double, with a point whatever the locale. */
static size_t double_text(double d, char out[40]) {
  if (isnan(d)) return (size_t)snprintf(out, 40, "NaN");
  if (isinf(d)) return (size_t)snprintf(out, 40, d < 0 ? "-Infinity" : "Infinity");
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, d);
    if (strtod(text, NULL) == d) break;
  }
  size_t n = 0;
  int point = 0; /* the point may have several bytes */
  for (const char *p = text; *p; p++) {
    if ((*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e') {
      out[n++] = *p;
    } else if (!point) {
      out[n++] = '.';
      point = 1;
    }
  }
  out[n] = 0;
  return n;
}

static int out_of_range(const encoder *e) {
  char text[40] = "it";
  const edb_value *v = e->value;
  if (v->kind == EDB_I64) snprintf(text, sizeof text, "%" PRId64, v->as.i64);
  if (v->kind == EDB_U64) snprintf(text, sizeof text, "%" PRIu64, v->as.u64);
  if (v->kind == EDB_F64) double_text(v->as.f64, text);
  char at[PLACE_TEXT];
  return edb_fail(&e->c->error, EDB_INVALID_QUERY, "%s: %s is out of range for %s", place(e, at),
                  text, e->type->name);
}

/* ---- Forms ------------------------------------------------------------------------------------- */

static int add(encoder *e, const void *p, size_t n, int binary) {
  edb_buffer_add(&e->c->parameters, p, n);
  e->n = n;
  e->binary = binary;
  return EDB_OK;
}

/* `size` bytes in network order. */
static int add_number(encoder *e, uint64_t u, size_t size) {
  char wire[8];
  for (size_t i = 0; i < size; i++) wire[i] = (char)(u >> (8 * (size - 1 - i)));
  return add(e, wire, size, 1);
}

static int lend(encoder *e, int binary) {
  if (e->value->as.text.n > INT32_MAX) return out_of_range(e);
  e->lent = e->value->as.text.p;
  e->n = e->value->as.text.n;
  e->binary = binary;
  return EDB_OK;
}

/* In text format a value ends at a NUL, and what is behind it would be lost. */
static int add_text(encoder *e, const char *p, size_t n) {
  if (memchr(p, 0, n)) {
    char at[PLACE_TEXT];
    return edb_fail(&e->c->error, EDB_INVALID_QUERY,
                    "%s: PostgreSQL's text cannot hold a NUL character", place(e, at));
  }
  if (n > INT32_MAX) return out_of_range(e);
  edb_buffer_add(&e->c->parameters, p, n);
  edb_buffer_add(&e->c->parameters, "", 1);
  e->n = n;
  e->binary = 0;
  return EDB_OK;
}

/* Any value but bytes, as a literal of it would be written. */
static int literal(encoder *e) {
  const edb_value *v = e->value;
  char text[EDB_TIME_TEXT > 40 ? EDB_TIME_TEXT : 40];
  switch (v->kind) {
  case EDB_TEXT:
    return add_text(e, v->as.text.p, v->as.text.n);
  case EDB_BOOL:
    return add_text(e, v->as.boolean ? "t" : "f", 1);
  case EDB_I64:
    return add_text(e, text, (size_t)snprintf(text, sizeof text, "%" PRId64, v->as.i64));
  case EDB_U64:
    return add_text(e, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, v->as.u64));
  case EDB_F64:
    return add_text(e, text, double_text(v->as.f64, text));
  case EDB_TIME:
    return add_text(e, text, edb_time_text(&v->as.time, text));
  case EDB_NULL:
  case EDB_BYTES:
    break;
  }
  return unfit(e);
}

/* ---- Types ------------------------------------------------------------------------------------- */

static int encode_integer(encoder *e, int64_t least, int64_t most, size_t size) {
  const edb_value *v = e->value;
  int64_t i;
  switch (v->kind) {
  case EDB_BOOL:
    i = v->as.boolean;
    break;
  case EDB_I64:
    i = v->as.i64;
    break;
  case EDB_U64:
    if (v->as.u64 > INT64_MAX) return out_of_range(e);
    i = (int64_t)v->as.u64;
    break;
  case EDB_F64:
    /* 2^63 is a double, INT64_MAX is none. */
    if (!(v->as.f64 >= -0x1p63 && v->as.f64 < 0x1p63)) return out_of_range(e);
    i = (int64_t)v->as.f64;
    if ((double)i < v->as.f64 || (double)i > v->as.f64) return unfit(e);
    break;
  case EDB_TEXT:
    return literal(e);
  default:
    return unfit(e);
  }
  if (i < least || i > most) return out_of_range(e);
  return add_number(e, (uint64_t)i, size);
}

static int encode_bool(encoder *e) {
  const edb_value *v = e->value;
  if (v->kind == EDB_TEXT) return literal(e);
  double number = v->kind == EDB_BOOL  ? v->as.boolean != 0
                  : v->kind == EDB_I64 ? (double)v->as.i64
                  : v->kind == EDB_U64 ? (double)v->as.u64
                  : v->kind == EDB_F64 ? v->as.f64
                                       : -1;
  int one = number >= 1 && number <= 1, zero = number >= 0 && number <= 0;
  if (!one && !zero) {
    return v->kind == EDB_BYTES || v->kind == EDB_TIME ? unfit(e) : out_of_range(e);
  }
  return add(e, one ? "\1" : "\0", 1, 1);
}

static int encode_float(encoder *e) {
  const edb_value *v = e->value;
  double d;
  switch (v->kind) {
  case EDB_BOOL:
    d = v->as.boolean;
    break;
  case EDB_I64:
    d = (double)v->as.i64;
    break;
  case EDB_U64:
    d = (double)v->as.u64;
    break;
  case EDB_F64:
    d = v->as.f64;
    break;
  case EDB_TEXT:
    return literal(e);
  default:
    return unfit(e);
  }
  if (e->type->codec == PG_FLOAT8) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return add_number(e, bits, 8);
  }
  if (isfinite(d) && fabs(d) > (double)FLT_MAX) return out_of_range(e);
  float f = (float)d;
  if (d != 0 && fpclassify(f) == FP_ZERO) return out_of_range(e);
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return add_number(e, bits, 4);
}

/* Text that is written as such a value is read here. */
static int parse_time(const encoder *e, edb_time *time) {
  pg_codec codec = e->type->codec;
  edb_time_form form = codec == PG_DATE                         ? EDB_DATE
                       : codec == PG_TIME || codec == PG_TIMETZ ? EDB_CLOCK
                                                                : EDB_DATETIME;
  int zoned = codec == PG_TIMETZ || codec == PG_TIMESTAMPTZ;
  return edb_time_parse(e->value->as.text.p, e->value->as.text.n, form, zoned, time);
}

/* PostgreSQL keeps microseconds: nanoseconds are rounded, as it does with text. */
static int encode_time(encoder *e) {
  const edb_value *v = e->value;
  edb_time parsed;
  if (v->kind == EDB_TEXT && !parse_time(e, &parsed)) return literal(e);
  if (v->kind != EDB_TIME && v->kind != EDB_TEXT) return unfit(e);
  const edb_time *t = v->kind == EDB_TEXT ? &parsed : &v->as.time;
  int64_t day = INT64_C(86400000000), days = (int64_t)t->days - 10957;
  int64_t micros = t->nanos / 1000 + (t->nanos % 1000 >= 500);
  switch (e->type->codec) {
  case PG_DATE:
    if (t->form == EDB_CLOCK || t->nanos != 0) return unfit(e);
    return add_number(e, (uint64_t)days, 4);
  case PG_TIMESTAMP:
  case PG_TIMESTAMPTZ:
    if (t->form == EDB_CLOCK) return unfit(e);
    if (days > 106751990 || days < -106751990) return out_of_range(e);
    return add_number(e, (uint64_t)(days * day + micros), 8);
  case PG_TIME:
  case PG_TIMETZ:
    if (t->form != EDB_CLOCK) return unfit(e);
    if (micros < 0 || micros > day) return out_of_range(e);
    add_number(e, (uint64_t)micros, 8);
    if (e->type->codec == PG_TIMETZ) {
      add_number(e, 0, 4);
      e->n = 12;
    }
    return EDB_OK;
  default:
    return unfit(e);
  }
}

static int encode(encoder *e) {
  edb_kind kind = e->value->kind;
  switch (e->type->codec) {
  case PG_BOOL:
    return encode_bool(e);
  case PG_INT2:
    return encode_integer(e, INT16_MIN, INT16_MAX, 2);
  case PG_INT4:
    return encode_integer(e, INT32_MIN, INT32_MAX, 4);
  case PG_INT8:
    return encode_integer(e, INT64_MIN, INT64_MAX, 8);
  case PG_OID:
    return encode_integer(e, 0, UINT32_MAX, 4);
  case PG_FLOAT4:
  case PG_FLOAT8:
    return encode_float(e);
  case PG_TEXT:
    if (kind != EDB_TEXT) return literal(e);
    if (memchr(e->value->as.text.p, 0, e->value->as.text.n)) return literal(e);
    return lend(e, 1);
  case PG_BYTEA:
    return kind == EDB_BYTES || kind == EDB_TEXT ? lend(e, 1) : unfit(e);
  case PG_DATE:
  case PG_TIME:
  case PG_TIMETZ:
  case PG_TIMESTAMP:
  case PG_TIMESTAMPTZ:
    return encode_time(e);
  case PG_UUID:
    if (kind == EDB_BYTES && e->value->as.bytes.n == 16) return lend(e, 1);
    return kind == EDB_TEXT ? literal(e) : unfit(e);
  case PG_NUMERIC:
    return kind == EDB_TIME ? unfit(e) : literal(e);
  case PG_JSONB:
  case PG_CHAR:
  case PG_MONEY:
  case PG_BIT:
  case PG_OTHER:
    break;
  }
  return literal(e);
}

int pg_encode(pg_statement *s, const edb_parameter *parameters, size_t n) {
  pg_connection *c = s->connection;
  if (n != (size_t)s->n_parameters) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "the statement has %d parameter%s, %zu given",
                    s->n_parameters, s->n_parameters == 1 ? "" : "s", n);
  }
  c->parameters.n = 0;
  for (size_t i = 0; i < n; i++) {
    if (parameters[i].name) {
      return edb_fail(&c->error, EDB_UNSUPPORTED,
                      "PostgreSQL's parameters are numbered ($1, $2, ...), not named");
    }
    encoder e = {c,
                 &s->parameters[i],
                 &parameters[i].value,
                 s->loads ? s->loads->columns[i].name : NULL,
                 i + 1,
                 NULL,
                 0,
                 0};
    size_t at = c->parameters.n;
    s->lengths[i] = s->formats[i] = 0;
    s->parameter_values[i] = NULL;
    s->offsets[i] = SIZE_MAX;
    if (e.value->kind == EDB_NULL) continue;
    int rc = encode(&e);
    if (rc != EDB_OK) return rc;
    s->lengths[i] = (int)e.n;
    s->formats[i] = e.binary;
    if (e.lent) {
      s->parameter_values[i] = e.lent;
    } else {
      s->offsets[i] = at;
    }
  }
  if (c->parameters.nomem) {
    edb_buffer_free(&c->parameters);
    return edb_fail(&c->error, EDB_NOMEM, "out of memory");
  }
  /* The buffer has stopped moving. */
  for (size_t i = 0; i < n; i++) {
    if (s->offsets[i] != SIZE_MAX) s->parameter_values[i] = c->parameters.p + s->offsets[i];
  }
  return EDB_OK;
}

int pg_has_binary(pg_codec codec) {
  switch (codec) {
  case PG_NUMERIC:
  case PG_JSONB:
  case PG_CHAR:
  case PG_MONEY:
  case PG_BIT:
  case PG_OTHER:
    return 0;
  default:
    return 1;
  }
}

int pg_encode_text(pg_statement *s, size_t i, const edb_value *value) {
  static const char digits[] = "0123456789abcdef";
  edb_buffer *out = &s->connection->parameters;
  int is_bytea = s->parameters[i].codec == PG_BYTEA;
  if (!is_bytea && value->kind != EDB_BYTES) {
    encoder e = {s->connection,
                 &s->parameters[i],
                 value,
                 s->loads ? s->loads->columns[i].name : NULL,
                 i + 1,
                 NULL,
                 0,
                 0};
    int rc = literal(&e);
    if (rc == EDB_OK && out->n > 0) out->n--; /* its NUL */
    return rc;
  }
  /* bytea's input is \x and hexadecimal digits; uuid's are the digits alone. */
  if (is_bytea) edb_buffer_add(out, "\\x", 2);
  if (value->as.bytes.n > SIZE_MAX / 4) out->nomem = 1;
  char *hex = edb_buffer_room(out, 2 * value->as.bytes.n);
  if (!hex) return edb_fail(&s->connection->error, EDB_NOMEM, "out of memory");
  for (size_t k = 0; k < value->as.bytes.n; k++) {
    *hex++ = digits[(unsigned char)value->as.bytes.p[k] >> 4];
    *hex++ = digits[value->as.bytes.p[k] & 15];
  }
  out->n += 2 * value->as.bytes.n;
  return EDB_OK;
}
