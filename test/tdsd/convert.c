/*
** Conversion between types, as CAST and an assignment to a column do it, on the canonical spellings.
*/
#include "tdsd.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void sql_error(SqlError *e, int number, int severity, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(e->message, sizeof e->message, format, list);
  va_end(list);
  e->number = number;
  e->severity = severity;
  e->state = 1;
}

Val val_null(void) { return (Val){0}; }
Val val_int(int64_t i) { return (Val){.tag = V_INT, .i = i}; }
Val val_real(double r) { return (Val){.tag = V_REAL, .r = r}; }
Val val_text(const char *p, size_t n) { return (Val){.tag = V_TEXT, .p = p, .n = n}; }
Val val_blob(const void *p, size_t n) { return (Val){.tag = V_BLOB, .p = p, .n = n}; }

Val val_value(sqlite3_value *value) {
  switch (sqlite3_value_type(value)) {
  case SQLITE_INTEGER:
    return val_int(sqlite3_value_int64(value));
  case SQLITE_FLOAT:
    return val_real(sqlite3_value_double(value));
  case SQLITE_TEXT: {
    const char *p = (const char *)sqlite3_value_text(value);
    return val_text(p, (size_t)sqlite3_value_bytes(value));
  }
  case SQLITE_BLOB: {
    const void *p = sqlite3_value_blob(value);
    return val_blob(p, (size_t)sqlite3_value_bytes(value));
  }
  default:
    return val_null();
  }
}

Val val_column(sqlite3_stmt *statement, int i) {
  switch (sqlite3_column_type(statement, i)) {
  case SQLITE_INTEGER:
    return val_int(sqlite3_column_int64(statement, i));
  case SQLITE_FLOAT:
    return val_real(sqlite3_column_double(statement, i));
  case SQLITE_TEXT: {
    const char *p = (const char *)sqlite3_column_text(statement, i);
    return val_text(p, (size_t)sqlite3_column_bytes(statement, i));
  }
  case SQLITE_BLOB: {
    const void *p = sqlite3_column_blob(statement, i);
    return val_blob(p, (size_t)sqlite3_column_bytes(statement, i));
  }
  default:
    return val_null();
  }
}

/* An empty value's pointer must not be NULL: that would bind NULL. */
static const char *some(const Val *v) { return v->p ? v->p : ""; }

void val_bind(sqlite3_stmt *statement, int at, const Val *v) {
  switch (v->tag) {
  case V_INT:
    sqlite3_bind_int64(statement, at, v->i);
    break;
  case V_REAL:
    sqlite3_bind_double(statement, at, v->r);
    break;
  case V_TEXT:
    sqlite3_bind_text64(statement, at, some(v), v->n, SQLITE_TRANSIENT, SQLITE_UTF8);
    break;
  case V_BLOB:
    sqlite3_bind_blob64(statement, at, some(v), v->n, SQLITE_TRANSIENT);
    break;
  default:
    sqlite3_bind_null(statement, at);
  }
}

void val_result(sqlite3_context *context, const Val *v) {
  switch (v->tag) {
  case V_INT:
    sqlite3_result_int64(context, v->i);
    break;
  case V_REAL:
    sqlite3_result_double(context, v->r);
    break;
  case V_TEXT:
    sqlite3_result_text64(context, some(v), v->n, SQLITE_TRANSIENT, SQLITE_UTF8);
    break;
  case V_BLOB:
    sqlite3_result_blob64(context, some(v), v->n, SQLITE_TRANSIENT);
    break;
  default:
    sqlite3_result_null(context);
  }
}

/* To text ----------------------------------------------------------------------------------------*/

static void real_to_text(double r, const Type *t, Buf *space) {
  /* CAST of a float shows six digits, CONVERT(…, 3) all; here: what round-trips where short. */
  char text[40];
  int digits = t->kind == K_REAL ? 7 : 6;
  snprintf(text, sizeof text, "%.*g", digits, r);
  if (strtod(text, NULL) != r) snprintf(text, sizeof text, "%.17g", r);
  buf_text(space, text);
}

void val_to_text(const Val *v, const Type *t, Buf *space, const char **p, size_t *n) {
  space->n = 0;
  switch (v->tag) {
  case V_INT:
    buf_printf(space, "%" PRId64, v->i);
    break;
  case V_REAL:
    real_to_text(v->r, t, space);
    break;
  case V_TEXT:
    *p = some(v);
    *n = v->n;
    return;
  case V_BLOB:
    if (t->kind == K_VARIANT) {
      size_t skip = strnlen(v->p, v->n) + 1;
      *p = v->p + (skip > v->n ? v->n : skip);
      *n = skip > v->n ? 0 : v->n - skip;
      return;
    }
    for (size_t i = 0; i < v->n; i++) buf_printf(space, "%02X", (uint8_t)v->p[i]);
    break;
  default:
    break;
  }
  *p = buf_string(space);
  *n = space->n;
}

/* The parts of convert() -------------------------------------------------------------------------*/

static bool failed(const Val *in, const Type *from, const Type *to, SqlError *error) {
  Buf space = {0};
  const char *p = "";
  size_t n = 0;
  val_to_text(in, from, &space, &p, &n);
  if (type_class(to) == C_TIME) {
    sql_error(error, 241, 16,
              "Conversion failed when converting date and/or time from character string.");
  } else if (to->kind == K_GUID) {
    sql_error(error, 8169, 16,
              "Conversion failed when converting from a character string to uniqueidentifier.");
  } else if (type_class(to) == C_INT) {
    sql_error(error, 245, 16,
              "Conversion failed when converting the %s value '%.*s' to data type %s.",
              type_name(from), (int)(n > 500 ? 500 : n), p, type_name(to));
  } else {
    sql_error(error, 8114, 16, "Error converting data type %s to %s.", type_name(from),
              type_name(to));
  }
  buf_free(&space);
  return false;
}

static bool overflow(const Type *from, const Type *to, SqlError *error) {
  if (type_class(to) == C_TIME) {
    sql_error(
        error, 242, 16,
        "The conversion of a %s data type to a %s data type resulted in an out-of-range value.",
        type_name(from), type_name(to));
  } else {
    sql_error(error, 8115, 16, "Arithmetic overflow error converting %s to data type %s.",
              type_class(from) == C_INT || type_class(from) == C_REAL ? "expression"
                                                                      : type_name(from),
              type_name(to));
  }
  return false;
}

static bool to_int(const Val *in, const Type *from, const Type *to, Val *out, SqlError *error) {
  int64_t i = in->i;
  if (in->tag == V_REAL) {
    if (!(fabs(in->r) < 9.3e18)) return overflow(from, to, error);
    i = (int64_t)in->r;
  } else if (in->tag == V_TEXT) {
    Decimal d;
    bool words = to->kind == K_BIT && in->n >= 4;
    if (words && in->n == 4 && strncmp(in->p, "true", 4) == 0) {
      i = 1;
    } else if (words && in->n == 5 && strncmp(in->p, "false", 5) == 0) {
      i = 0;
    } else {
      bool blank = in->n == 0 && type_class(from) == C_TEXT;
      if (!blank && !decimal_parse(in->p, in->n, &d)) return failed(in, from, to, error);
      if (blank) d = (Decimal){0};
      if (d.scale > 0 && type_class(from) == C_TEXT) return failed(in, from, to, error);
      while (d.scale > 0) d.magnitude /= 10, d.scale--; /* cut, not rounded */
      if (d.magnitude > (U128)INT64_MAX + d.negative) return overflow(from, to, error);
      i = d.negative ? -(int64_t)(d.magnitude - (d.magnitude > 0)) - (d.magnitude > 0)
                     : (int64_t)d.magnitude;
    }
  } else if (in->tag == V_BLOB) {
    i = 0;
    for (size_t k = in->n > 8 ? in->n - 8 : 0; k < in->n; k++)
      i = (int64_t)((uint64_t)i << 8 | (uint8_t)in->p[k]);
  }
  if (to->kind == K_BIT) i = i != 0;
  int64_t high = to->kind == K_TINYINT    ? 255
                 : to->kind == K_SMALLINT ? 32767
                 : to->kind == K_INT      ? INT32_MAX
                                          : INT64_MAX;
  int64_t low = to->kind == K_TINYINT ? 0 : -high - 1;
  if (i < low || i > high) return overflow(from, to, error);
  *out = val_int(i);
  return true;
}

static bool to_real(const Val *in, const Type *from, const Type *to, Val *out, SqlError *error) {
  double r = in->tag == V_INT ? (double)in->i : in->r;
  if (in->tag == V_TEXT) {
    char text[400], *end;
    snprintf(text, sizeof text, "%.*s", (int)(in->n > 399 ? 399 : in->n), in->p);
    r = strtod(text, &end);
    while (*end == ' ') end++;
    if (*end != 0 || (text[0] != 0 && !strpbrk(text, "0123456789")))
      return failed(in, from, to, error);
  } else if (in->tag == V_BLOB) {
    return failed(in, from, to, error);
  }
  if (!isfinite(r)) return overflow(from, to, error);
  if (to->kind == K_REAL) {
    if (fabs(r) > 3.5e38) return overflow(from, to, error);
    r = (double)(float)r;
  }
  *out = val_real(r);
  return true;
}

static bool to_decimal(const Val *in, const Type *from, const Type *to, Buf *space, Val *out,
                       SqlError *error) {
  Decimal d = {0};
  int scale = type_scale(to);
  if (in->tag == V_INT) {
    d.negative = in->i < 0;
    d.magnitude = d.negative ? -(U128)in->i : (U128)in->i;
  } else if (in->tag == V_REAL) {
    char text[400];
    int n = snprintf(text, sizeof text, "%.*f", scale > 20 ? scale : 20, in->r);
    char exact[64];
    int m = snprintf(exact, sizeof exact, "%.17g", in->r);
    if (fabs(in->r) >= 1e38) return overflow(from, to, error);
    if (!decimal_parse(exact, (size_t)m, &d) && !decimal_parse(text, (size_t)n, &d)) {
      return overflow(from, to, error);
    }
  } else if (in->tag == V_BLOB || !decimal_parse(in->p, in->n, &d)) {
    return failed(in, from, to, error);
  }
  if (!decimal_rescale(&d, scale)) return overflow(from, to, error);
  U128 limit = (U128)(to->kind == K_MONEY ? INT64_MAX : INT32_MAX) + d.negative;
  bool money = to->kind == K_MONEY || to->kind == K_SMALLMONEY;
  if (money ? d.magnitude > limit : !decimal_fits(&d, to->precision))
    return overflow(from, to, error);
  char text[64];
  decimal_print(&d, text);
  space->n = 0;
  buf_text(space, text);
  *out = val_text(buf_string(space), space->n);
  return true;
}

static bool to_time(const Val *in, const Type *from, const Type *to, Buf *space, Val *out,
                    SqlError *error) {
  Moment m;
  if (in->tag == V_INT || in->tag == V_REAL) {
    double days = in->tag == V_INT ? (double)in->i : in->r;
    m = (Moment){.days = DAYS_1900 + (int32_t)floor(days)};
    m.ticks = (int64_t)((days - floor(days)) * (double)TICKS_PER_DAY);
  } else if (in->tag == V_BLOB || !moment_parse(in->p, in->n, &m)) {
    return failed(in, from, to, error);
  }
  if (to->kind != K_DATETIMEOFFSET && type_class(from) == C_TEXT && m.has_offset &&
      to->kind != K_TIME) {
    /* A zone in text counts for datetime2 and date: the local time is kept. */
    m.offset = 0;
  }
  if (!moment_round(&m, to)) return overflow(from, to, error);
  char text[64];
  moment_print(&m, to, text);
  space->n = 0;
  buf_text(space, text);
  *out = val_text(buf_string(space), space->n);
  return true;
}

static size_t utf16_units(const char *p, size_t n) {
  size_t units = 0;
  for (size_t i = 0; i < n; i++) {
    if ((p[i] & 0xC0) != 0x80) units += (uint8_t)p[i] >= 0xF0 ? 2 : 1;
  }
  return units;
}

/* How many bytes of UTF-8 the first `limit` characters (units, or bytes of the code page) are. */
static size_t prefix(const char *p, size_t n, size_t limit) {
  size_t units = 0, i = 0;
  while (i < n) {
    size_t step = 1;
    while (i + step < n && (p[i + step] & 0xC0) == 0x80) step++;
    units += (uint8_t)p[i] >= 0xF0 ? 2 : 1;
    if (units > limit) break;
    i += step;
  }
  return i;
}

static void datetime_style(const Val *in, const Type *from, int style, Buf *space) {
  Moment m;
  Type t = *from;
  char text[64];
  if (!moment_parse(in->p, in->n, &m)) return;
  if (style == 126 || style == 127) {
    moment_print(&m, &t, text);
    if (text[10] == ' ') text[10] = 'T';
    buf_text(space, text);
  } else if (style == 112) {
    t.kind = K_DATE;
    moment_print(&m, &t, text);
    buf_printf(space, "%.4s%.2s%.2s", text, text + 5, text + 8);
  } else {
    moment_print(&m, &t, text);
    buf_text(space, text);
  }
}

static bool to_text(const Val *in, const Type *from, const Type *to, int style, Buf *space,
                    Val *out, SqlError *error) {
  Buf made = {0};
  if (in->tag == V_BLOB && type_class(from) == C_BYTES && style == 0) {
    /* Bytes are taken for text of the type's own encoding. */
    if (type_is_unicode(to->kind)) {
      utf16_to_utf8(&made, (const uint8_t *)in->p, in->n);
    } else {
      unsigned page = to->collation ? to->collation->codepage : 1252;
      collation_decode(page, (const uint8_t *)in->p, in->n, &made);
    }
  } else if (in->tag == V_TEXT && type_class(from) == C_TIME && style != 0) {
    datetime_style(in, from, style, &made);
  } else {
    Buf text = {0};
    const char *p = "";
    size_t n = 0;
    val_to_text(in, from, &text, &p, &n);
    if (in->tag == V_BLOB && style == 1) buf_text(&made, "0x");
    buf_add(&made, p, n);
    buf_free(&text);
  }
  if (type_is_codepage(to->kind)) { /* characters that the code page lacks are lost */
    unsigned page = to->collation ? to->collation->codepage : 1252;
    Buf bytes = {0}, back = {0};
    collation_encode(page, buf_string(&made), made.n, &bytes);
    if (to->length > 0 && bytes.n > (size_t)to->length) bytes.n = (size_t)to->length;
    collation_decode(page, bytes.p ? bytes.p : (const uint8_t *)"", bytes.n, &back);
    while (to->kind == K_CHAR && bytes.n < (size_t)to->length) {
      buf_u8(&back, ' ');
      bytes.n++;
    }
    buf_free(&bytes);
    buf_free(&made);
    made = back;
  } else if (to->length > 0 && (to->kind == K_NVARCHAR || to->kind == K_NCHAR)) {
    size_t units = utf16_units(buf_string(&made), made.n);
    if (units > (size_t)to->length) made.n = prefix((char *)made.p, made.n, (size_t)to->length);
    for (; to->kind == K_NCHAR && units < (size_t)to->length; units++) buf_u8(&made, ' ');
  }
  (void)error;
  buf_free(space);
  *space = made;
  *out = val_text(buf_string(space), space->n);
  return true;
}

static int hex(int c) { return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1; }

static bool to_bytes(const Val *in, const Type *from, const Type *to, int style, Buf *space,
                     Val *out, SqlError *error) {
  Buf made = {0};
  if (in->tag == V_BLOB) {
    buf_add(&made, in->p, in->n);
  } else if (in->tag == V_INT) {
    int width = type_max_length(from);
    for (int i = width; i-- > 0;) buf_u8(&made, (unsigned)((uint64_t)in->i >> (8 * i)));
    if (to->length > 0 && made.n > (size_t)to->length) buf_cut(&made, made.n - (size_t)to->length);
  } else if (in->tag == V_TEXT && (style == 1 || style == 2) && type_class(from) == C_TEXT) {
    size_t i = style == 1 ? 2 : 0;
    if (in->n % 2 != 0) return failed(in, from, to, error);
    for (; i + 1 < in->n; i += 2) {
      int high = hex((uint8_t)in->p[i]), low = hex((uint8_t)in->p[i + 1]);
      if (high < 0 || low < 0) {
        buf_free(&made);
        return failed(in, from, to, error);
      }
      buf_u8(&made, (unsigned)(high << 4 | low));
    }
  } else if (in->tag == V_TEXT && type_is_unicode(from->kind)) {
    utf8_to_utf16(&made, in->p, in->n);
  } else if (in->tag == V_TEXT && type_class(from) == C_TEXT) {
    collation_encode(from->collation ? from->collation->codepage : 1252, in->p, in->n, &made);
  } else if (in->tag == V_TEXT && from->kind == K_GUID) {
    wire_write(&made, from, false, in, 0);
    buf_cut(&made, 1);
  } else {
    return failed(in, from, to, error);
  }
  if (to->length > 0 && to->kind != K_UDT && made.n > (size_t)to->length)
    made.n = (size_t)to->length;
  while (to->kind == K_BINARY && made.n < (size_t)to->length) buf_u8(&made, 0);
  buf_string(&made);
  buf_free(space);
  *space = made;
  *out = val_blob(space->p, space->n);
  return true;
}

static bool to_guid(const Val *in, const Type *from, const Type *to, Buf *space, Val *out,
                    SqlError *error) {
  Buf digits = {0};
  bool ok = false;
  if (in->tag == V_BLOB && in->n == 16) {
    static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int i = 0; i < 16; i++) buf_printf(&digits, "%02X", (uint8_t)in->p[order[i]]);
    ok = true;
  } else if (in->tag == V_TEXT) {
    const char *p = in->p, *end = in->p + in->n;
    if (p < end && *p == '{') p++;
    for (; p < end && digits.n < 32; p++) {
      if (*p == '-' && (digits.n == 8 || digits.n == 12 || digits.n == 16 || digits.n == 20))
        continue;
      if (!isxdigit((uint8_t)*p)) break;
      buf_u8(&digits, (unsigned)toupper(*p));
    }
    ok = digits.n == 32;
  }
  space->n = 0;
  if (ok) {
    const char *d = buf_string(&digits);
    buf_printf(space, "%.8s-%.4s-%.4s-%.4s-%.12s", d, d + 8, d + 12, d + 16, d + 20);
    *out = val_text(buf_string(space), space->n);
  }
  buf_free(&digits);
  return ok || failed(in, from, to, error);
}

static void to_variant(const Val *in, const Type *from, Buf *space, Val *out) {
  Buf made = {0}, text = {0};
  char name[64];
  const char *p = "";
  size_t n = 0;
  type_print(from, name, sizeof name);
  buf_text(&made, name);
  buf_u8(&made, 0);
  val_to_text(in, from, &text, &p, &n);
  buf_add(&made, p, n);
  buf_free(&text);
  buf_free(space);
  *space = made;
  *out = val_blob(space->p, space->n);
}

/* What a sql_variant holds, by its own type. */
static bool from_variant(const Val *in, const Type *to, int style, Buf *space, Val *out,
                         SqlError *error) {
  Type inner, varchar = type_make(K_VARCHAR, 8000, 0, 0);
  Buf text = {0};
  const char *p;
  size_t n;
  if (in->n == 0 || memchr(in->p, 0, in->n) == NULL || !type_parse(in->p, &inner)) {
    return failed(in, to, to, error);
  }
  Type variant = type_make(K_VARIANT, 0, 0, 0);
  val_to_text(in, &variant, &text, &p, &n);
  Val held = val_text(p, n), typed;
  Buf middle = {0};
  bool bytes = type_class(&inner) == C_BYTES;
  bool ok = convert(&held, &varchar, &inner, bytes ? 2 : 0, &middle, &typed, error) &&
            convert(&typed, &inner, to, style, space, out, error);
  if (ok && out->p != NULL && (const uint8_t *)out->p != space->p) {
    Buf copy = {0};
    buf_add(&copy, out->p, out->n);
    buf_free(space);
    *space = copy;
    out->p = (const char *)space->p;
  }
  buf_free(&middle);
  buf_free(&text);
  return ok;
}

static bool to_vector(const Val *in, const Type *from, const Type *to, SqlError *error) {
  int count = 0;
  if (in->tag != V_TEXT || in->n == 0 || in->p[0] != '[') return failed(in, from, to, error);
  for (size_t i = 0; i < in->n; i++) count += in->p[i] == ',';
  if (count + 1 == to->length) return true;
  sql_error(error, 42204, 16, "The vector dimensions %d and %d do not match.", to->length,
            count + 1);
  return false;
}

bool convert(const Val *in, const Type *from, const Type *to, int style, Buf *space, Val *out,
             SqlError *error) {
  *out = *in;
  if (in->tag == V_NULL || to->kind == K_NONE) return true;
  if (from->kind == K_VARIANT && in->tag == V_BLOB && to->kind != K_VARIANT) {
    return from_variant(in, to, style, space, out, error);
  }
  switch (to->kind) {
  case K_GUID:
    return to_guid(in, from, to, space, out, error);
  case K_VARIANT:
    if (from->kind != K_VARIANT) to_variant(in, from, space, out);
    return true;
  case K_VECTOR:
    return to_vector(in, from, to, error);
  default:
    break;
  }
  switch (type_class(to)) {
  case C_INT:
    return to_int(in, from, to, out, error);
  case C_REAL:
    return to_real(in, from, to, out, error);
  case C_DECIMAL:
    return to_decimal(in, from, to, space, out, error);
  case C_TIME:
    return to_time(in, from, to, space, out, error);
  case C_TEXT:
    return to_text(in, from, to, style, space, out, error);
  case C_BYTES:
    return to_bytes(in, from, to, style, space, out, error);
  default:
    return true;
  }
}
