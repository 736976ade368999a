/*
** tds/value_other.c: uniqueidentifier, sql_variant, vector. The contracts are in tdsInt.h.
*/
#include "tdsInt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tds_status malformed(tds_stream *s, const char *what, int detail) {
  return tds_refuse(s, TDS_MALFORMED, what, detail);
}

/* The first three groups are little-endian. In lower case, as RFC 9562 writes them. */
tds_status tds_decode_guid(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                           tds_value *v) {
  static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  static const char hex[] = "0123456789abcdef";
  (void)t;
  if (n != 16) return malformed(s, "a uniqueidentifier that is not 16 bytes", 0);
  char *out = tds_text_room(s, 36), *o = out;
  if (!out) return TDS_ROOM;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *o++ = '-';
    *o++ = hex[p[order[i]] >> 4];
    *o++ = hex[p[order[i]] & 15];
  }
  tds_text_done(s, v, out, 36);
  return TDS_OK;
}

/* ---- sql_variant (2.2.5.5.4) ------------------------------------------------------------------------ */

/* Bytes of properties behind the base type, by what TYPE_INFO would hold; -1: no base type. */
static int property_bytes(const tds_type_row *row) {
  switch (row->form) {
  case TDS_INFO_NONE:
    return row->layout == TDS_PLP || row->type == TDS_NULLTYPE ? -1 : 0;
  case TDS_INFO_LEN1:
    return row->type == TDS_GUID ? 0 : -1;
  case TDS_INFO_SCALE:
    return 1;
  case TDS_INFO_DECIMAL:
    return 2;
  case TDS_INFO_LEN2:
    return row->collated ? 7 : 2;
  default:
    return -1;
  }
}

tds_status tds_decode_variant(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                              tds_value *v) {
  tds_reader r = {p, n, 0, 0};
  tds_type_info base = {.type = tds_u8(&r)};
  const tds_type_row *row = tds_type_find(base.type);
  const int expected = row ? property_bytes(row) : -1;
  (void)t;
  if (expected < 0) return malformed(s, "an sql_variant of a type that it cannot hold", base.type);
  if (tds_u8(&r) != expected)
    return malformed(s, "an sql_variant with wrong properties", base.type);
  if (row->form == TDS_INFO_DECIMAL) base.precision = tds_u8(&r);
  if (row->form == TDS_INFO_DECIMAL || row->form == TDS_INFO_SCALE) base.scale = tds_u8(&r);
  if (row->collated) {
    base.collation = tds_u32(&r);
    base.sort_id = tds_u8(&r);
  }
  if (row->form == TDS_INFO_LEN2) base.length = tds_u16(&r);
  if (r.bad) return malformed(s, "an sql_variant that is cut off", base.type);
  if (row->form == TDS_INFO_SCALE && base.scale > 7) return malformed(s, "a scale beyond 7", 0);
  if (row->form == TDS_INFO_DECIMAL && base.scale > 38) {
    return malformed(s, "a decimal's precision or scale out of range", 0);
  }
  base.decode = row->decode;
  if (row->decode == tds_decode_utf8) tds_choose_text(&base);
  return base.decode(s, &base, p + r.i, n - r.i, v);
}

/* ---- vector (2.2.5.5.7) ------------------------------------------------------------------------------ */

#define VECTOR_HEADER 8
#define ELEMENT_TEXT 16 /* "-1.17549435e-38" and a comma */
enum { FLOAT32 = 0, FLOAT16 = 1 };

static float half(uint16_t bits) {
  const uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float f = (float)mantissa * 0x1p-24f; /* of a subnormal number */
  if (exponent > 0) {
    const uint32_t wide = (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    memcpy(&f, &wide, sizeof f);
  }
  return bits & 0x8000 ? -f : f;
}

/* Six to nine digits that give the same number again, whatever the locale's point is. */
static size_t float_text(char out[ELEMENT_TEXT], float f) {
  int n = 0;
  for (int precision = 6; precision <= 9; precision++) {
    n = snprintf(out, ELEMENT_TEXT, "%.*g", precision, (double)f);
    const float back = strtof(out, NULL);
    if (memcmp(&back, &f, sizeof f) == 0) break;
  }
  for (int i = 0; i < n; i++) {
    if (out[i] == ',') out[i] = '.';
  }
  return n > 0 ? (size_t)n : 0;
}

tds_status tds_decode_vector(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                             tds_value *v) {
  (void)t;
  if (n < VECTOR_HEADER || p[0] != 0xA9 || p[1] != 1) return malformed(s, "no vector's header", 0);
  const size_t count = tds_get_u16(p + 2), size = p[4] == FLOAT16 ? 2 : 4;
  if (p[4] > FLOAT16) {
    return tds_refuse(s, TDS_UNSUPPORTED, "a vector of elements of type", p[4]);
  }
  if (n - VECTOR_HEADER != count * size) return malformed(s, "a vector of another length", 0);

  char *out = tds_text_room(s, count * ELEMENT_TEXT + 2), *o = out;
  if (!out) return TDS_ROOM;
  *o++ = '[';
  for (size_t i = 0; i < count; i++) {
    const uint8_t *element = p + VECTOR_HEADER + i * size;
    float f;
    if (size == 2) {
      f = half(tds_get_u16(element));
    } else {
      const uint32_t bits = tds_get_u32(element);
      memcpy(&f, &bits, sizeof f);
    }
    if (!isfinite(f)) return malformed(s, "a vector's element that is no number", 0);
    char text[ELEMENT_TEXT];
    const size_t length = float_text(text, f);
    if (i > 0) *o++ = ',';
    memcpy(o, text, length);
    o += length;
  }
  *o++ = ']';
  tds_text_done(s, v, out, (size_t)(o - out));
  return TDS_OK;
}
