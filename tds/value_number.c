/*
** tds/value_number.c: integers, bit, real and float, decimal, money. The contracts are in tdsInt.h.
*/
#include "tdsInt.h"

static tds_status bad_length(tds_stream *s) {
  return tds_refuse(s, TDS_MALFORMED, "a value whose length its type does not have", 0);
}

tds_status tds_decode_null(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                           tds_value *v) {
  (void)s, (void)t, (void)p, (void)n;
  v->kind = TDS_NULL;
  return TDS_OK;
}

tds_status tds_decode_int(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                          tds_value *v) {
  (void)t;
  switch (n) {
  case 8:
    v->as.i64 = (int64_t)tds_get_u64(p);
    break;
  case 4:
    v->as.i64 = (int32_t)tds_get_u32(p);
    break;
  case 2:
    v->as.i64 = (int16_t)tds_get_u16(p);
    break;
  case 1:
    v->as.i64 = p[0];
    break; /* tinyint has no sign */
  default:
    return bad_length(s);
  }
  v->kind = TDS_I64;
  return TDS_OK;
}

tds_status tds_decode_bit(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                          tds_value *v) {
  (void)t;
  if (n != 1) return bad_length(s);
  v->kind = TDS_BOOL;
  v->as.boolean = p[0] != 0;
  return TDS_OK;
}

tds_status tds_decode_float(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                            tds_value *v) {
  (void)t;
  if (n == 8) {
    const uint64_t bits = tds_get_u64(p);
    memcpy(&v->as.f64, &bits, sizeof bits);
  } else if (n == 4) {
    const uint32_t bits = tds_get_u32(p);
    float f;
    memcpy(&f, &bits, sizeof bits);
    v->as.f64 = (double)f;
  } else {
    return bad_length(s);
  }
  v->kind = TDS_F64;
  return TDS_OK;
}

/* ---- Decimals ------------------------------------------------------------------------------------ */

/* The digits of v in front of end, at least n of them; where they begin. */
static char *digits_before(char *end, uint64_t v, int n) {
  char *p = end;
  for (; v > 0 || n > 0; n--) {
    *--p = (char)('0' + v % 10);
    v /= 10;
  }
  return p;
}

/* The digits of high·2^64 + low: nine at a time by division of 32-bit limbs, as long as there is a high half. */
static char *wide_digits_before(char *end, uint64_t high, uint64_t low) {
  uint32_t limb[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
  while (limb[2] | limb[3]) {
    uint64_t rest = 0;
    for (int i = 3; i >= 0; i--) {
      rest = rest << 32 | limb[i];
      limb[i] = (uint32_t)(rest / 1000000000);
      rest %= 1000000000;
    }
    end = digits_before(end, rest, 9);
  }
  return digits_before(end, (uint64_t)limb[1] << 32 | limb[0], 0);
}

size_t tds_decimal_text(char *out, int negative, uint64_t high, uint64_t low, unsigned scale) {
  char digits[TDS_DECIMAL_TEXT], *end = digits + sizeof digits, *o = out;
  char *p = high ? wide_digits_before(end, high, low) : digits_before(end, low, 0);
  while ((size_t)(end - p) <= scale) *--p = '0';
  if (negative && (high | low)) *o++ = '-';
  const size_t whole = (size_t)(end - p) - scale;
  memcpy(o, p, whole);
  o += whole;
  if (scale > 0) {
    *o++ = '.';
    memcpy(o, end - scale, scale);
    o += scale;
  }
  return (size_t)(o - out);
}

int tds_decimal_parse(const char *p, size_t n, unsigned precision, unsigned scale, int *negative,
                      uint8_t magnitude[16]) {
  uint32_t limb[4] = {0};
  unsigned digits = 0, behind = 0, any = 0;
  int point = 0;
  size_t i = 0;
  *negative = n > 0 && p[0] == '-';
  if (n > 0 && (p[0] == '-' || p[0] == '+')) i = 1;
  for (; i < n || behind < scale; i++) {
    const char c = i < n ? p[i] : '0'; /* filled up with zeros */
    if (i >= n) point = 1;
    if (c == '.' && !point) {
      point = 1;
      continue;
    }
    if (c < '0' || c > '9') return 0;
    any |= i < n;
    if (point && behind == scale) { /* more digits than the type keeps: zeros lose nothing */
      if (c != '0') return 0;
      continue;
    }
    behind += (unsigned)point;
    if (digits > 0 || c != '0') digits++;
    if (digits > precision) return 0;
    uint64_t carry = (uint64_t)(c - '0');
    for (int k = 0; k < 4; k++) {
      carry += (uint64_t)limb[k] * 10;
      limb[k] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  for (int k = 0; k < 4; k++) tds_set_u32(magnitude + 4 * k, limb[k]);
  return any != 0;
}

/* Sign (1 is positive), then the magnitude: two loads, not a loop over its bytes. */
tds_status tds_decode_decimal(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                              tds_value *v) {
  uint64_t low, high = 0;
  switch (n) {
  case 5:
    low = tds_get_u32(p + 1);
    break;
  case 9:
    low = tds_get_u64(p + 1);
    break;
  case 13:
    low = tds_get_u64(p + 1), high = tds_get_u32(p + 9);
    break;
  case 17:
    low = tds_get_u64(p + 1), high = tds_get_u64(p + 9);
    break;
  default:
    return bad_length(s);
  }
  char *out = tds_text_room(s, TDS_DECIMAL_TEXT);
  if (!out) return TDS_ROOM;
  tds_text_done(s, v, out, tds_decimal_text(out, p[0] == 0, high, low, t->scale));
  return TDS_OK;
}

/* Ten-thousandths; of money's eight bytes the high four come first. */
tds_status tds_decode_money(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                            tds_value *v) {
  int64_t amount;
  (void)t;
  if (n == 8) {
    amount = (int64_t)((uint64_t)tds_get_u32(p) << 32 | tds_get_u32(p + 4));
  } else if (n == 4) {
    amount = (int32_t)tds_get_u32(p);
  } else {
    return bad_length(s);
  }
  char *out = tds_text_room(s, TDS_DECIMAL_TEXT);
  if (!out) return TDS_ROOM;
  const uint64_t magnitude = amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;
  tds_text_done(s, v, out, tds_decimal_text(out, amount < 0, 0, magnitude, 4));
  return TDS_OK;
}
