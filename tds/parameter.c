/*
** tds/parameter.c: types and values as they are written: parameters and the rows of a bulk load. The contracts are
** in tds.h.
*/
#include "tdsInt.h"

#include <math.h>
#include <stdio.h>

#define SHORT_BYTES 8000 /* of nvarchar(4000) and varbinary(8000) */
/* What a variable's text is tagged with; the server compares it by the database's own collation. */
#define COLLATION 0x00D00409u
#define SORT_ID 52
#define PLP_NULL UINT64_C(0xFFFFFFFFFFFFFFFF)

tds_type_info tds_parameter_type(const tds_value *value) {
  switch (value->kind) {
  case TDS_BOOL:
    return (tds_type_info){.type = TDS_BITN, .length = 1};
  case TDS_I64:
    return (tds_type_info){.type = TDS_INTN, .length = 8};
  case TDS_U64:
    return (tds_type_info){.type = TDS_DECIMALN, .precision = 20};
  case TDS_F64:
    return (tds_type_info){.type = TDS_FLTN, .length = 8};
  case TDS_BYTES:
    return (tds_type_info){.type = TDS_BIGVARBINARY,
                           .length = value->as.bytes.n <= SHORT_BYTES ? SHORT_BYTES : TDS_MAX};
  case TDS_TIME:
    if (value->as.time.form == TDS_DATE) return (tds_type_info){.type = TDS_DATEN};
    return (tds_type_info){.type = value->as.time.form == TDS_CLOCK ? TDS_TIMEN
                                   : value->as.time.zoned           ? TDS_DATETIMEOFFSETN
                                                                    : TDS_DATETIME2N,
                           .scale = 7};
  default: {
    const size_t units =
        value->kind == TDS_TEXT ? tds_utf16_units(value->as.text.p, value->as.text.n) : 0;
    return (tds_type_info){.type = TDS_NVARCHAR,
                           .length = units <= SHORT_BYTES / 2 ? SHORT_BYTES : TDS_MAX,
                           .collation = COLLATION,
                           .sort_id = SORT_ID};
  }
  }
}

size_t tds_declare(const tds_type_info *t, char out[TDS_DECLARATION]) {
  const char *name = tds_type_name(t);
  const tds_type_row *row = tds_type_find(t->type);
  const unsigned unit = t->type == TDS_NVARCHAR || t->type == TDS_NCHAR ? 2 : 1;
  int n;
  switch (row ? row->form : TDS_INFO_NONE) {
  case TDS_INFO_DECIMAL:
    n = snprintf(out, TDS_DECLARATION, "%s(%d,%d)", name, t->precision, t->scale);
    break;
  case TDS_INFO_SCALE:
    n = snprintf(out, TDS_DECLARATION, "%s(%d)", name, t->scale);
    break;
  case TDS_INFO_LEN2:
    if (t->length == TDS_MAX) {
      n = snprintf(out, TDS_DECLARATION, "%s(max)", name);
    } else {
      n = snprintf(out, TDS_DECLARATION, "%s(%u)", name, (unsigned)t->length / unit);
    }
    break;
  default:
    n = snprintf(out, TDS_DECLARATION, "%s", name);
    break;
  }
  return (size_t)n;
}

/* Bytes of a decimal with its sign. */
static unsigned decimal_size(unsigned precision) {
  return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

void tds_put_type(tds_message *m, const tds_type_info *t) {
  const tds_type_row *row = tds_type_find(t->type);
  if (!row || row->form > TDS_INFO_LEN2) {
    tds_refuse_value(m, "a type that is only read, not written");
    return;
  }
  tds_put_u8(m, t->type);
  switch (row->form) {
  case TDS_INFO_LEN1:
    tds_put_u8(m, (uint8_t)t->length);
    break;
  case TDS_INFO_DECIMAL:
    tds_put_u8(m, (uint8_t)decimal_size(t->precision));
    tds_put_u8(m, t->precision);
    tds_put_u8(m, t->scale);
    break;
  case TDS_INFO_SCALE:
    tds_put_u8(m, t->scale);
    break;
  case TDS_INFO_LEN2:
    tds_put_u16(m, (uint16_t)t->length);
    break;
  default:
    break;
  }
  if (row->collated) {
    tds_put_u32(m, t->collation);
    tds_put_u8(m, t->sort_id);
  }
}

/* ---- Values, each with its length --------------------------------------------------------------------- */

static void unfit(tds_message *m) { tds_refuse_value(m, "a value that does not fit its type"); }

static void put_int(tds_message *m, const tds_type_info *t, const tds_value *v) {
  int64_t i = v->as.i64;
  if (v->kind == TDS_BOOL) i = v->as.boolean != 0;
  const int bits = 8 * (int)t->length;
  const int64_t least = t->length == 1   ? 0
                        : t->length == 8 ? INT64_MIN
                                         : -(INT64_C(1) << (bits - 1));
  const int64_t most = t->length == 1   ? 255
                       : t->length == 8 ? INT64_MAX
                                        : (INT64_C(1) << (bits - 1)) - 1;
  if ((v->kind != TDS_I64 && v->kind != TDS_BOOL) || i < least || i > most) {
    unfit(m);
    return;
  }
  tds_put_u8(m, (uint8_t)t->length);
  for (uint32_t k = 0; k < t->length; k++) tds_put_u8(m, (uint8_t)((uint64_t)i >> 8 * k));
}

static void put_bit(tds_message *m, const tds_value *v) {
  if (v->kind != TDS_BOOL && !(v->kind == TDS_I64 && (v->as.i64 == 0 || v->as.i64 == 1))) {
    unfit(m);
    return;
  }
  tds_put_u8(m, 1);
  tds_put_u8(m, v->kind == TDS_BOOL ? v->as.boolean != 0 : v->as.i64 == 1);
}

/* The server has neither infinities nor NaN. */
static void put_float(tds_message *m, const tds_type_info *t, const tds_value *v) {
  const float f = (float)v->as.f64;
  if (v->kind != TDS_F64 || !isfinite(v->as.f64) || (t->length == 4 && !isfinite(f))) {
    unfit(m);
    return;
  }
  tds_put_u8(m, (uint8_t)t->length);
  if (t->length == 4) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    tds_put_u32(m, bits);
  } else {
    uint64_t bits;
    memcpy(&bits, &v->as.f64, sizeof bits);
    tds_put_u64(m, bits);
  }
}

static int parse_decimal(const tds_type_info *t, const tds_value *v, int *negative,
                         uint8_t magnitude[16]) {
  char digits[TDS_DECIMAL_TEXT];
  const char *p = digits;
  size_t n = 0;
  if (v->kind == TDS_TEXT) {
    p = v->as.text.p;
    n = v->as.text.n;
  } else if (v->kind == TDS_U64) {
    n = tds_decimal_text(digits, 0, 0, v->as.u64, 0);
  } else if (v->kind == TDS_I64) {
    const int64_t i = v->as.i64;
    n = tds_decimal_text(digits, i < 0, 0, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, 0);
  }
  return tds_decimal_parse(p, n, t->precision, t->scale, negative, magnitude);
}

static void put_decimal(tds_message *m, const tds_type_info *t, const tds_value *v) {
  int negative;
  uint8_t magnitude[16];
  if (!parse_decimal(t, v, &negative, magnitude)) {
    unfit(m);
    return;
  }
  const unsigned size = decimal_size(t->precision);
  tds_put_u8(m, (uint8_t)size);
  tds_put_u8(m, !negative);
  tds_put(m, magnitude, size - 1);
}

/* In ten-thousandths; of money the high half goes first (2.2.5.5.1.2). */
static void put_money(tds_message *m, const tds_type_info *t, const tds_value *v) {
  const tds_type_info digits = {.precision = t->length == 4 ? 10 : 19, .scale = 4};
  const uint64_t most = t->length == 4 ? INT32_MAX : INT64_MAX;
  uint8_t magnitude[16];
  int negative;
  if (!parse_decimal(&digits, v, &negative, magnitude) ||
      tds_get_u64(magnitude) > most + (negative ? 1u : 0u) || tds_get_u64(magnitude + 8) != 0) {
    unfit(m);
    return;
  }
  const uint64_t i = negative ? 0 - tds_get_u64(magnitude) : tds_get_u64(magnitude);
  tds_put_u8(m, (uint8_t)t->length);
  if (t->length == 8) tds_put_u32(m, (uint32_t)(i >> 32));
  tds_put_u32(m, (uint32_t)i);
}

static void put_bytes_of(tds_message *m, uint64_t v, unsigned n) {
  for (unsigned i = 0; i < n; i++) tds_put_u8(m, (uint8_t)(v >> 8 * i));
}

/* date, time, datetime2, datetimeoffset. Digits beyond the scale are cut. */
static void put_time(tds_message *m, const tds_type_info *t, const tds_value *v) {
  static const int64_t unit[8] = {1000000000, 100000000, 10000000, 1000000,
                                  100000,     10000,     1000,     100};
  const tds_time *time = &v->as.time;
  const int dated = t->type != TDS_TIMEN, clocked = t->type != TDS_DATEN;
  const int64_t days = (int64_t)time->days + TDS_DAYS_TO_1970;
  if (v->kind != TDS_TIME || t->scale > 7 || (dated && (days < 0 || days >= TDS_DAYS_END)) ||
      time->nanos < 0 || time->nanos >= TDS_NANOS_PER_DAY || (time->form == TDS_CLOCK) != !dated ||
      (time->form == TDS_DATE) != !clocked) {
    unfit(m);
    return;
  }
  const int zoned = t->type == TDS_DATETIMEOFFSETN;
  const unsigned size = clocked ? tds_time_size(t->scale) : 0;
  tds_put_u8(m, (uint8_t)(size + (dated ? 3 : 0) + (zoned ? 2 : 0)));
  if (clocked) put_bytes_of(m, (uint64_t)(time->nanos / unit[t->scale]), size);
  if (dated) put_bytes_of(m, (uint64_t)days, 3);
  if (zoned) tds_put_u16(m, 0);
}

/* datetime: to the nearest 1/300 s. */
static void put_datetime(tds_message *m, const tds_type_info *t, const tds_value *v) {
  const int64_t first = -53690, last = 2958463; /* 1753-01-01 and 9999-12-31, from 1900-01-01 */
  int64_t days = (int64_t)v->as.time.days + TDS_DAYS_1900_TO_1970;
  int64_t ticks = (v->as.time.nanos / 100 * 3 + 50000) / 100000;
  if (ticks == 25920000) ticks = 0, days++;
  if (v->kind != TDS_TIME || v->as.time.form == TDS_CLOCK || t->length != 8 || days < first ||
      days > last || ticks < 0 || ticks > 25920000) {
    unfit(m);
    return;
  }
  tds_put_u8(m, 8);
  tds_put_u32(m, (uint32_t)days);
  tds_put_u32(m, (uint32_t)ticks);
}

/* smalldatetime: to the nearest minute, of 1900-01-01 to 2079-06-06. */
static void put_smalldatetime(tds_message *m, const tds_value *v) {
  const int64_t minute = INT64_C(60000000000);
  int64_t days = (int64_t)v->as.time.days + TDS_DAYS_1900_TO_1970;
  int64_t minutes = (v->as.time.nanos + minute / 2) / minute;
  if (minutes == 1440) minutes = 0, days++;
  if (v->kind != TDS_TIME || v->as.time.form == TDS_CLOCK || v->as.time.nanos < 0 || days < 0 ||
      days > 65535 || minutes > 1440) {
    unfit(m);
    return;
  }
  tds_put_u8(m, 4);
  tds_put_u16(m, (uint16_t)days);
  tds_put_u16(m, (uint16_t)minutes);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static void put_guid(tds_message *m, const tds_value *v) {
  static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  uint8_t guid[16];
  size_t at = 0;
  int wrong = v->kind != TDS_TEXT || v->as.text.n != 36;
  for (int i = 0; i < 16 && !wrong; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) wrong = v->as.text.p[at++] != '-';
    const int high = hex_digit(v->as.text.p[at]), low = hex_digit(v->as.text.p[at + 1]);
    at += 2;
    if (high < 0 || low < 0) wrong = 1;
    guid[order[i]] = (uint8_t)(high * 16 + low);
  }
  if (wrong) {
    unfit(m);
    return;
  }
  tds_put_u8(m, 16);
  tds_put(m, guid, 16);
}

/* What goes before n bytes of a character or binary type: u16, or for (max) the length and that of the one chunk,
** which there is none of where n is 0. 0 where they are too many. */
static int put_length(tds_message *m, const tds_type_info *t, int plp, size_t n) {
  if (plp && n <= 0x7FFFFFFF) {
    tds_put_u64(m, n);
    if (n > 0) tds_put_u32(m, (uint32_t)n);
    return 1;
  }
  if (plp || n > t->length) {
    unfit(m);
    return 0;
  }
  tds_put_u16(m, (uint16_t)n);
  return 1;
}

/* The byte of a code page whose character is the UTF-8 at p, *used bytes of it; -1: it has none. */
static int encode_single_byte(const uint16_t high[128], const char *p, size_t n, size_t *used) {
  uint8_t units[4];
  size_t length = 1;
  *used = 1;
  if ((uint8_t)*p < 0x80) return *p;
  while (length < n && length < 4 && ((uint8_t)p[length] & 0xC0) == 0x80) length++;
  if (tds_from_utf8(units, p, length) != 2) return -1;
  *used = length;
  for (int i = 0; i < 128; i++) {
    if (high[i] == (units[0] | units[1] << 8) && high[i] != 0xFFFD) return i + 0x80;
  }
  return -1;
}

/* Text of a column whose code page has one byte for each character. */
static void put_single_byte(tds_message *m, const tds_type_info *t, int plp, const char *p,
                            size_t n) {
  size_t used, count = 0;
  for (size_t i = 0; i < n; i += used, count++) {
    if (encode_single_byte(t->high, p + i, n - i, &used) >= 0) continue;
    unfit(m);
    return;
  }
  if (!put_length(m, t, plp, count)) return;
  for (size_t i = 0; i < n; i += used) {
    tds_put_u8(m, (uint8_t)encode_single_byte(t->high, p + i, n - i, &used));
  }
  if (plp) tds_put_u32(m, 0);
}

static void put_long(tds_message *m, const tds_type_row *row, const tds_type_info *t,
                     const tds_value *v) {
  const int plp = row->layout == TDS_PLP || t->length == TDS_MAX,
            wide = row->decode == tds_decode_utf16;
  const tds_kind kind = row->decode == tds_decode_bytes ? TDS_BYTES : TDS_TEXT;
  const int paged =
      row->decode == tds_decode_utf8 && tds_code_page(t->collation, t->sort_id) != 65001;
  const char *p = v->as.text.p;
  const size_t n = v->as.text.n;
  const int other = v->kind == kind && paged && !tds_is_ascii((const uint8_t *)p, n);
  if (other && t->high) {
    put_single_byte(m, t, plp, p, n);
    return;
  }
  if (v->kind != kind || other) {
    unfit(m);
    return;
  }
  if (!put_length(m, t, plp, wide ? 2 * tds_utf16_units(p, n) : n)) return;
  if (wide) {
    tds_put_text(m, p, n);
  } else {
    tds_put(m, p, n);
  }
  if (plp) tds_put_u32(m, 0);
}

static void put_null(tds_message *m, const tds_type_row *row, const tds_type_info *t) {
  if (row->layout == TDS_PLP || (row->layout == TDS_LEN2 && t->length == TDS_MAX)) {
    tds_put_u64(m, PLP_NULL);
  } else if (row->layout == TDS_LEN2) {
    tds_put_u16(m, 0xFFFF);
  } else if (row->layout == TDS_LEN1) {
    tds_put_u8(m, 0);
  } else {
    unfit(m);
  }
}

void tds_put_value(tds_message *m, const tds_type_info *t, const tds_value *v) {
  const tds_type_row *row = tds_type_find(t->type);
  if (!row) {
    unfit(m);
    return;
  }
  if (v->kind == TDS_NULL) {
    put_null(m, row, t);
    return;
  }
  switch (t->type) {
  case TDS_INTN:
    put_int(m, t, v);
    break;
  case TDS_BITN:
    put_bit(m, v);
    break;
  case TDS_FLTN:
    put_float(m, t, v);
    break;
  case TDS_DECIMALN:
  case TDS_NUMERICN:
    put_decimal(m, t, v);
    break;
  case TDS_DATEN:
  case TDS_TIMEN:
  case TDS_DATETIME2N:
  case TDS_DATETIMEOFFSETN:
    put_time(m, t, v);
    break;
  case TDS_DATETIMN:
    if (t->length == 4) {
      put_smalldatetime(m, v);
    } else {
      put_datetime(m, t, v);
    }
    break;
  case TDS_MONEYN:
    put_money(m, t, v);
    break;
  case TDS_GUID:
    put_guid(m, v);
    break;
  case TDS_NVARCHAR:
  case TDS_NCHAR:
  case TDS_BIGVARCHAR:
  case TDS_BIGCHAR:
  case TDS_BIGVARBINARY:
  case TDS_BIGBINARY:
  case TDS_JSON:
    put_long(m, row, t, v);
    break;
  default:
    unfit(m);
    break;
  }
}
