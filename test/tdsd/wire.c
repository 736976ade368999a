/*
** Values as they stand in rows, in RETURNVALUE and in parameters: [MS-TDS] 2.2.5.5.
*/
#include "tdsd.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Lengths ----------------------------------------------------------------------------------------*/

static void write_plp(Buf *out, const uint8_t *p, size_t n, int chunk) {
  size_t step = chunk > 0 ? (size_t)chunk : n;
  /* An unknown length where chunks are asked for, so that both ways to say it are met. */
  buf_u64(out, chunk > 0 ? UINT64_C(0xFFFFFFFFFFFFFFFE) : n);
  for (size_t i = 0; i < n; i += step) {
    size_t here = n - i < step ? n - i : step;
    buf_u32(out, (uint32_t)here);
    buf_add(out, p + i, here);
  }
  buf_u32(out, 0);
}

static void write_null(Buf *out, const Type *t) {
  if (type_is_plp(t)) {
    buf_u64(out, UINT64_MAX);
  } else if (t->kind == K_VARIANT) {
    buf_u32(out, 0);
  } else if (t->kind == K_CHAR || t->kind == K_VARCHAR || t->kind == K_NCHAR ||
             t->kind == K_NVARCHAR || t->kind == K_BINARY || t->kind == K_VARBINARY ||
             t->kind == K_ROWVERSION || t->kind == K_VECTOR) {
    buf_u16(out, 0xFFFF);
  } else {
    buf_u8(out, 0);
  }
}

/* The bytes of values ----------------------------------------------------------------------------*/

/* Ticks of 100 ns in the units of a scale. */
static void write_ticks(Buf *out, int64_t ticks, int scale) {
  for (int i = scale; i < 7; i++) ticks /= 10;
  buf_int(out, (uint64_t)ticks, scale <= 2 ? 3 : scale <= 4 ? 4 : 5);
}

static void write_time(Buf *out, const Type *t, const Val *v) {
  Moment m = {0};
  moment_parse(v->p, v->n, &m);
  switch (t->kind) {
  case K_SMALLDATETIME:
    buf_u16(out, (unsigned)(m.days - DAYS_1900));
    buf_u16(out, (unsigned)(m.ticks / 600000000));
    return;
  case K_DATETIME:
    buf_u32(out, (uint32_t)(m.days - DAYS_1900));
    buf_u32(out, (uint32_t)((m.ticks * 3 + 50000) / 100000));
    return;
  case K_DATE:
    buf_int(out, (uint64_t)m.days, 3);
    return;
  case K_TIME:
    write_ticks(out, m.ticks, t->scale);
    return;
  default:
    break;
  }
  int64_t utc = moment_utc(&m);
  if (t->kind == K_DATETIMEOFFSET && utc < 0) utc = 0;
  if (t->kind == K_DATETIME2) utc = m.days * TICKS_PER_DAY + m.ticks;
  write_ticks(out, utc % TICKS_PER_DAY, t->scale);
  buf_int(out, (uint64_t)(utc / TICKS_PER_DAY), 3);
  if (t->kind == K_DATETIMEOFFSET) buf_u16(out, (unsigned)m.offset & 0xFFFF);
}

static void write_decimal(Buf *out, const Type *t, const Val *v) {
  Decimal d = {0};
  decimal_parse(v->p, v->n, &d);
  decimal_rescale(&d, type_scale(t));
  if (t->kind == K_MONEY || t->kind == K_SMALLMONEY) {
    const uint64_t magnitude = (uint64_t)d.magnitude,
                   units = d.negative ? 0 - magnitude : magnitude;
    if (t->kind == K_MONEY) buf_u32(out, (uint32_t)(units >> 32));
    buf_u32(out, (uint32_t)units);
    return;
  }
  buf_u8(out, !(d.negative && d.magnitude != 0));
  int width = type_max_length(t) - 1;
  for (int i = 0; i < width; i++) buf_u8(out, (unsigned)(d.magnitude >> (8 * i)) & 0xFF);
}

static void write_guid(Buf *out, const Val *v) {
  uint8_t raw[16] = {0};
  size_t digits = 0;
  for (size_t i = 0; i < v->n && digits < 32; i++) {
    int c = toupper((uint8_t)v->p[i]);
    if (!isxdigit(c)) continue;
    int nibble = isdigit(c) ? c - '0' : c - 'A' + 10;
    raw[digits / 2] = (uint8_t)(raw[digits / 2] << 4 | nibble);
    digits++;
  }
  static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int i = 0; i < 16; i++) buf_u8(out, raw[order[i]]);
}

static void write_number(Buf *out, const Type *t, const Val *v) {
  if (type_class(t) == C_INT || t->kind == K_NONE) {
    buf_int(out, (uint64_t)v->i, type_max_length(t));
  } else if (t->kind == K_REAL) {
    float f = (float)(v->tag == V_INT ? (double)v->i : v->r);
    buf_add(out, &f, 4);
  } else {
    double d = v->tag == V_INT ? (double)v->i : v->r;
    buf_add(out, &d, 8);
  }
}

/* The value without length, of all types but the strings'. */
static void write_plain(Buf *out, const Type *t, const Val *v) {
  switch (type_class(t)) {
  case C_DECIMAL:
    write_decimal(out, t, v);
    break;
  case C_TIME:
    write_time(out, t, v);
    break;
  case C_GUID:
    write_guid(out, v);
    break;
  default:
    write_number(out, t, v);
  }
}

/* The bytes of a string type: in its code page, as UTF-16, or as they are. */
static void write_string(Buf *out, const Type *t, const Val *v) {
  if (type_is_unicode(t->kind) || t->kind == K_XML) {
    utf8_to_utf16(out, v->p, v->n);
  } else if (type_is_codepage(t->kind)) {
    collation_encode((t->collation ? t->collation : collation_default())->codepage, v->p, v->n,
                     out);
  } else {
    buf_add(out, v->p, v->n);
  }
}

/* sql_variant: u32 length, the inner type, its properties, the bare value. */
static void write_variant(Buf *out, const Val *v) {
  Type t, variant = type_make(K_VARIANT, 0, 0, 0), varchar = type_make(K_VARCHAR, 8000, 0, 0);
  Buf text = {0}, space = {0}, info = {0};
  const char *p = "";
  size_t n = 0;
  Val inner;
  SqlError error;
  size_t at = out->n;
  buf_u32(out, 0);
  val_to_text(v, &variant, &text, &p, &n);
  Val held = val_text(p, n);
  if (!type_parse(v->p, &t) ||
      !convert(&held, &varchar, &t, type_class(&t) == C_BYTES ? 2 : 0, &space, &inner, &error)) {
    return;
  }
  type_write(&info, &t, false);
  buf_u8(out, info.p[0]);
  if (type_class(&t) == C_TEXT) { /* collation, then maximum length */
    buf_u8(out, 7);
    buf_add(out, info.p + 3, 5);
    buf_add(out, info.p + 1, 2);
    write_string(out, &t, &inner);
  } else if (type_class(&t) == C_BYTES) {
    buf_u8(out, 2);
    buf_add(out, info.p + 1, 2);
    write_string(out, &t, &inner);
  } else if (t.kind == K_DECIMAL || t.kind == K_NUMERIC) {
    buf_u8(out, 2);
    buf_add(out, info.p + 2, 2);
    write_plain(out, &t, &inner);
  } else if (t.kind == K_TIME || t.kind == K_DATETIME2 || t.kind == K_DATETIMEOFFSET) {
    buf_u8(out, 1);
    buf_u8(out, (unsigned)t.scale);
    write_plain(out, &t, &inner);
  } else {
    buf_u8(out, 0);
    write_plain(out, &t, &inner);
  }
  put_u32(out->p + at, (uint32_t)(out->n - at - 4));
  buf_free(&text);
  buf_free(&space);
  buf_free(&info);
}

static void write_vector(Buf *out, const Type *t, const Val *v) {
  char *text = xstrndup(v->p, v->n), *p = text;
  buf_u16(out, (unsigned)type_max_length(t));
  buf_u8(out, 0xA9);
  buf_u8(out, 1);
  buf_u16(out, (unsigned)t->length);
  buf_u32(out, 0);
  for (int i = 0; i < t->length; i++) {
    p += strspn(p, "[, ");
    float f = strtof(p, &p);
    buf_add(out, &f, 4);
  }
  free(text);
}

/* text, ntext and image: a text pointer and a timestamp stand before the value. */
static void write_long(Buf *out, const Type *t, const Val *v) {
  static const uint8_t pointer[24] = "dummy textptr\0\0\0dummyTS";
  buf_u8(out, 16);
  buf_add(out, pointer, sizeof pointer);
  size_t at = out->n;
  buf_u32(out, 0);
  write_string(out, t, v);
  put_u32(out->p + at, (uint32_t)(out->n - at - 4));
}

void wire_write(Buf *out, const Type *t, bool nullable, const Val *v, int chunk) {
  if (v->tag == V_NULL) {
    write_null(out, t);
    return;
  }
  if (t->kind == K_VARIANT) {
    write_variant(out, v);
    return;
  }
  if (t->kind == K_VECTOR) {
    write_vector(out, t, v);
    return;
  }
  if (wire_is_long(t->kind)) {
    write_long(out, t, v);
    return;
  }
  if (type_class(t) == C_TEXT || type_class(t) == C_BYTES) {
    if (type_is_plp(t)) {
      Buf bytes = {0};
      write_string(&bytes, t, v);
      buf_string(&bytes);
      write_plp(out, bytes.p, bytes.n, chunk);
      buf_free(&bytes);
    } else {
      size_t at = out->n;
      buf_u16(out, 0);
      write_string(out, t, v);
      put_u16(out->p + at, (unsigned)(out->n - at - 2));
    }
    return;
  }
  Buf info = {0};
  type_write(&info, t, nullable);
  bool fixed = info.p[0] == 0x30 || info.p[0] == 0x32 || info.p[0] == 0x34 || info.p[0] == 0x38 ||
               (info.p[0] >= 0x3A && info.p[0] <= 0x3E) || info.p[0] == 0x7A || info.p[0] == 0x7F;
  buf_free(&info);
  size_t at = out->n;
  if (!fixed) buf_u8(out, 0);
  write_plain(out, t, v);
  if (!fixed) out->p[at] = (uint8_t)(out->n - at - 1);
}

/* Reading parameters -----------------------------------------------------------------------------*/

static const char *read_plp(Rd *r, Buf *bytes, bool *null) {
  uint64_t total = rd_u64(r);
  *null = total == UINT64_MAX;
  if (*null) return NULL;
  for (;;) {
    uint32_t n = rd_u32(r);
    const uint8_t *p = rd_bytes(r, n);
    if (r->bad) return "a PLP value that does not end";
    if (n == 0) break;
    buf_add(bytes, p, n);
  }
  return total != UINT64_C(0xFFFFFFFFFFFFFFFE) && total != bytes->n
             ? "a PLP length that its chunks do not add up to"
             : NULL;
}

/* A string's bytes become canonical text, or a blob. */
static const char *take_string(const Type *t, const uint8_t *p, size_t n, Buf *space, Val *v) {
  size_t at = space->n;
  if (type_is_unicode(t->kind) || t->kind == K_XML) {
    if (n % 2 != 0) return "half a UTF-16 unit";
    utf16_to_utf8(space, p, n);
    if (t->kind == K_XML && n >= 2 && p[0] == 0xFF && p[1] == 0xFE) at += 3; /* byte order mark */
  } else if (type_is_codepage(t->kind)) {
    collation_decode((t->collation ? t->collation : collation_default())->codepage, p, n, space);
  } else {
    buf_add(space, p, n);
  }
  buf_string(space);
  size_t size = space->n - at;
  *v = type_class(t) == C_BYTES ? val_blob(space->p + at, size)
                                : val_text((char *)space->p + at, size);
  return NULL;
}

static Moment read_moment(Rd *r, const Type *t, size_t n) {
  Moment m = {0};
  if (t->kind == K_SMALLDATETIME || t->kind == K_DATETIME) {
    bool small = n == 4;
    m.days = DAYS_1900 + (small ? (int32_t)rd_u16(r) : (int32_t)rd_u32(r));
    m.ticks = small ? rd_u16(r) * INT64_C(600000000) : (rd_u32(r) * INT64_C(10) + 1) / 3 * 10000;
    return m;
  }
  int64_t ticks = 0;
  size_t tail = t->kind == K_DATE ? n : t->kind == K_TIME ? 0 : t->kind == K_DATETIME2 ? 3 : 5;
  if (n > tail) ticks = (int64_t)rd_int(r, (int)(n - tail));
  for (int i = t->scale; i < 7 && n > tail; i++) ticks *= 10;
  m.ticks = ticks;
  m.days = tail > 0 ? (int32_t)rd_int(r, 3) : DAYS_1900;
  if (t->kind == K_DATETIMEOFFSET) {
    m.offset = (int16_t)rd_u16(r);
    int64_t local = m.days * TICKS_PER_DAY + m.ticks + m.offset * INT64_C(600000000);
    m.days = (int32_t)(local / TICKS_PER_DAY);
    m.ticks = local % TICKS_PER_DAY;
  }
  return m;
}

static const char *read_decimal(Rd *r, const Type *t, size_t n, Buf *space) {
  Decimal d = {.scale = type_scale(t)};
  char text[64];
  if (t->kind == K_MONEY || t->kind == K_SMALLMONEY) {
    uint64_t high = n == 8 ? rd_u32(r) : 0, low = rd_u32(r);
    int64_t units = n == 8 ? (int64_t)(high << 32 | low) : (int32_t)low;
    d.negative = units < 0;
    d.magnitude = d.negative ? -(U128)units : (U128)units;
  } else {
    unsigned sign = rd_u8(r);
    if (sign > 1) return "a decimal's sign that is neither 0 nor 1";
    d.negative = sign == 0;
    if (n < 2 || n > 17) return "a decimal's length"; /* mssql-jdbc sends the bytes it needs */
    for (size_t i = 0; i + 1 < n; i++) d.magnitude |= (U128)rd_u8(r) << (8 * i);
    if (!decimal_fits(&d, t->precision)) return "a decimal of more digits than its precision";
  }
  decimal_print(&d, text);
  buf_text(space, text);
  return NULL;
}

static const char *read_guid(Rd *r, Buf *space) {
  const uint8_t *p = rd_bytes(r, 16);
  if (p == NULL) return "a uniqueidentifier cut short";
  buf_printf(space, "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-", p[3], p[2], p[1], p[0], p[5],
             p[4], p[7], p[6], p[8], p[9]);
  for (int i = 10; i < 16; i++) buf_printf(space, "%02X", p[i]);
  return NULL;
}

/* Values whose length is one byte, or given by their type. */
static const char *read_plain(Rd *r, const Type *t, size_t n, Buf *space, Val *v) {
  const char *wrong = NULL;
  size_t at = space->n;
  char text[64];
  switch (type_class(t)) {
  case C_INT:
    if (n != 1 && n != 2 && n != 4 && n != 8) return "an integer's length";
    *v = val_int((int64_t)rd_int(r, (int)n));
    if (n > 1) v->i = n == 2 ? (int16_t)v->i : n == 4 ? (int32_t)v->i : v->i;
    return NULL;
  case C_REAL: {
    const uint8_t *p = rd_bytes(r, n);
    float f = 0;
    double d = 0;
    if (p == NULL || (n != 4 && n != 8)) return "a float's length";
    if (n == 4) memcpy(&f, p, 4);
    if (n == 8) memcpy(&d, p, 8);
    *v = val_real(n == 4 ? (double)f : d);
    return NULL;
  }
  case C_DECIMAL:
    wrong = read_decimal(r, t, n, space);
    break;
  case C_GUID:
    wrong = read_guid(r, space);
    break;
  case C_TIME: {
    if (n != (size_t)type_max_length(t)) return "a time's length";
    Moment m = read_moment(r, t, n);
    if (m.days < 0 || m.days > 3652058 || m.ticks < 0 || m.ticks >= TICKS_PER_DAY)
      return "a date outside the calendar";
    moment_print(&m, t, text);
    buf_text(space, text);
    break;
  }
  default:
    rd_bytes(r, n);
    return n == 0 ? NULL : "a null type with a value";
  }
  if (wrong != NULL) return wrong;
  buf_string(space);
  *v = val_text((char *)space->p + at, space->n - at);
  return NULL;
}

static const char *read_variant(Rd *r, Buf *space, Val *v) {
  uint32_t total = rd_u32(r);
  const uint8_t *p = rd_bytes(r, total);
  if (p == NULL) return "a sql_variant longer than the message";
  if (total == 0) return NULL;
  Rd in = {p, total, 0, false};
  Type t, variant = type_make(K_VARIANT, 0, 0, 0);
  unsigned wire = rd_u8(&in), properties = rd_u8(&in);
  const uint8_t *given = rd_bytes(&in, properties);
  Buf info = {0}, bytes = {0};
  buf_u8(&info, wire);
  if (given != NULL && properties == 7) {
    buf_add(&info, given + 5, 2);
    buf_add(&info, given, 5);
  } else if (given != NULL && properties == 2 && (wire == 0x6A || wire == 0x6C)) {
    buf_u8(&info, 17);
    buf_add(&info, given, 2);
  } else if (given != NULL) {
    if (wire == 0x24) buf_u8(&info, 16);
    buf_add(&info, given, properties);
  }
  Rd type = {info.p, info.n, 0, false};
  uint32_t max;
  const char *wrong = type_read(&type, &t, &wire, &max);
  Val inner = {0};
  if (wrong == NULL && type_class(&t) == C_TEXT) {
    wrong = take_string(&t, in.p + in.i, in.n - in.i, &bytes, &inner);
  } else if (wrong == NULL && type_class(&t) == C_BYTES) {
    inner = val_blob(in.p + in.i, in.n - in.i);
  } else if (wrong == NULL) {
    wrong = read_plain(&in, &t, in.n - in.i, &bytes, &inner);
  }
  if (wrong == NULL) {
    SqlError error;
    convert(&inner, &t, &variant, 0, space, v, &error);
  }
  buf_free(&info);
  buf_free(&bytes);
  return wrong;
}

static const char *read_vector(Rd *r, Buf *space, Val *v) {
  unsigned n = rd_u16(r);
  if (n == 0xFFFF) return NULL;
  if (rd_u8(r) != 0xA9 || rd_u8(r) != 1) return "a vector without its mark";
  unsigned dimensions = rd_u16(r);
  rd_u32(r);
  if (n != 8 + 4 * dimensions) return "a vector's length";
  size_t at = space->n;
  for (unsigned i = 0; i < dimensions; i++) {
    float f = 0;
    const uint8_t *p = rd_bytes(r, 4);
    if (p != NULL) memcpy(&f, p, 4);
    buf_printf(space, "%s%.7e", i ? "," : "[", (double)f);
  }
  buf_text(space, "]");
  buf_string(space);
  *v = val_text((char *)space->p + at, space->n - at);
  return NULL;
}

const char *wire_read(Rd *r, const Type *t, unsigned wire, uint32_t max, Buf *space, Val *v) {
  *v = val_null();
  if (t->kind == K_NONE) return NULL;
  if (t->kind == K_VARIANT) return read_variant(r, space, v);
  if (t->kind == K_VECTOR) return read_vector(r, space, v);
  if (type_class(t) == C_TEXT || type_class(t) == C_BYTES) {
    Buf bytes = {0};
    bool null = false;
    const char *wrong = NULL;
    bool is_long = wire_is_long(t->kind),
         legacy = wire == 0x25 || wire == 0x27 || wire == 0x2D || wire == 0x2F;
    if (type_is_plp(t) && !is_long) {
      wrong = read_plp(r, &bytes, &null);
    } else {
      uint32_t n = is_long ? rd_u32(r) : legacy ? rd_u8(r) : rd_u16(r);
      null = n == (is_long ? UINT32_MAX : legacy ? 0 : 0xFFFF);
      if (!null && n > max) wrong = "a value longer than its type";
      const uint8_t *p = rd_bytes(r, null || wrong ? 0 : n);
      if (p != NULL && !null) buf_add(&bytes, p, n);
    }
    if (r->bad && wrong == NULL) wrong = "a value longer than the message";
    if (wrong == NULL && !null) wrong = take_string(t, bytes.p, bytes.n, space, v);
    buf_free(&bytes);
    return wrong;
  }
  bool sized = max != 0 || t->kind == K_DATE || t->kind == K_TIME || t->kind == K_DATETIME2 ||
               t->kind == K_DATETIMEOFFSET;
  size_t n = sized ? rd_u8(r) : (size_t)type_max_length(t);
  if (n == 0) return NULL;
  const char *wrong = read_plain(r, t, n, space, v);
  return r->bad ? "a value longer than the message" : wrong;
}
