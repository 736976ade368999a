/*
** The data types: their names, TYPE_INFO both ways, and which one an operation has.
*/
#include "tdsd.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One row a type.  `fixed` is the wire type where a column may not be NULL, `wire` else; `id` is its
** system_type_id, `bytes` the width of its value, `rank` its place in the order of precedence. */
static const struct {
  const char *name;
  Class class;
  uint8_t fixed, wire, id;
  int16_t bytes, precision, rank;
} types[K_COUNT] = {
    [K_NONE] = {"null", C_OTHER, 0, 0x26, 56, 4, 0, 0},
    [K_BIT] = {"bit", C_INT, 0x32, 0x68, 104, 1, 1, 9},
    [K_TINYINT] = {"tinyint", C_INT, 0x30, 0x26, 48, 1, 3, 10},
    [K_SMALLINT] = {"smallint", C_INT, 0x34, 0x26, 52, 2, 5, 11},
    [K_INT] = {"int", C_INT, 0x38, 0x26, 56, 4, 10, 12},
    [K_BIGINT] = {"bigint", C_INT, 0x7F, 0x26, 127, 8, 19, 13},
    [K_REAL] = {"real", C_REAL, 0x3B, 0x6D, 59, 4, 24, 18},
    [K_FLOAT] = {"float", C_REAL, 0x3E, 0x6D, 62, 8, 53, 19},
    [K_DECIMAL] = {"decimal", C_DECIMAL, 0, 0x6A, 106, 0, 0, 16},
    [K_NUMERIC] = {"numeric", C_DECIMAL, 0, 0x6C, 108, 0, 0, 15},
    [K_MONEY] = {"money", C_DECIMAL, 0x3C, 0x6E, 60, 8, 19, 15},
    [K_SMALLMONEY] = {"smallmoney", C_DECIMAL, 0x7A, 0x6E, 122, 4, 10, 14},
    [K_DATE] = {"date", C_TIME, 0, 0x28, 40, 3, 10, 21},
    [K_TIME] = {"time", C_TIME, 0, 0x29, 41, 5, 16, 20},
    [K_SMALLDATETIME] = {"smalldatetime", C_TIME, 0x3A, 0x6F, 58, 4, 16, 22},
    [K_DATETIME] = {"datetime", C_TIME, 0x3D, 0x6F, 61, 8, 23, 23},
    [K_DATETIME2] = {"datetime2", C_TIME, 0, 0x2A, 42, 8, 27, 24},
    [K_DATETIMEOFFSET] = {"datetimeoffset", C_TIME, 0, 0x2B, 43, 10, 34, 25},
    [K_CHAR] = {"char", C_TEXT, 0, 0xAF, 175, 0, 0, 4},
    [K_VARCHAR] = {"varchar", C_TEXT, 0, 0xA7, 167, 0, 0, 5},
    [K_NCHAR] = {"nchar", C_TEXT, 0, 0xEF, 239, 0, 0, 6},
    [K_NVARCHAR] = {"nvarchar", C_TEXT, 0, 0xE7, 231, 0, 0, 7},
    [K_TEXT] = {"text", C_TEXT, 0, 0x23, 35, 16, 0, 5},
    [K_NTEXT] = {"ntext", C_TEXT, 0, 0x63, 99, 16, 0, 7},
    [K_BINARY] = {"binary", C_BYTES, 0, 0xAD, 173, 0, 0, 1},
    [K_VARBINARY] = {"varbinary", C_BYTES, 0, 0xA5, 165, 0, 0, 2},
    [K_IMAGE] = {"image", C_BYTES, 0, 0x22, 34, 16, 0, 2},
    [K_GUID] = {"uniqueidentifier", C_GUID, 0, 0x24, 36, 16, 0, 8},
    [K_VARIANT] = {"sql_variant", C_OTHER, 0, 0x62, 98, 8016, 0, 30},
    [K_XML] = {"xml", C_TEXT, 0, 0xF1, 241, -1, 0, 29},
    [K_JSON] = {"json", C_TEXT, 0, 0xF4, 244, -1, 0, 8},
    [K_VECTOR] = {"vector", C_OTHER, 0, 0xF5, 255, 0, 0, 8},
    [K_UDT] = {"hierarchyid", C_BYTES, 0, 0xF0, 240, 892, 0, 31},
    [K_ROWVERSION] = {"timestamp", C_BYTES, 0, 0xAD, 189, 8, 0, 2},
};

static const char *const udts[] = {"hierarchyid", "geography", "geometry"};

/* Other names of types, some with a length. */
static const struct {
  const char *name;
  Kind kind;
  int length;
} aliases[] = {
    {"integer", K_INT, 0},
    {"dec", K_DECIMAL, 0},
    {"double precision", K_FLOAT, 0},
    {"sysname", K_NVARCHAR, 128},
    {"rowversion", K_ROWVERSION, 8},
    {"character", K_CHAR, 0},
    {"numeric", K_NUMERIC, 0},
    {"geography", K_UDT, UDT_GEOGRAPHY},
    {"geometry", K_UDT, UDT_GEOMETRY},
};

Type type_make(Kind kind, int length, int precision, int scale) {
  return (Type){.kind = kind, .length = length, .precision = precision, .scale = scale};
}

Class type_class(const Type *t) { return types[t->kind].class; }

const char *type_name(const Type *t) {
  return t->kind == K_UDT ? udts[t->length] : types[t->kind].name;
}

int type_system_id(const Type *t) { return types[t->kind].id; }

bool type_is_unicode(Kind k) { return k == K_NCHAR || k == K_NVARCHAR || k == K_NTEXT; }
bool type_is_codepage(Kind k) { return k == K_CHAR || k == K_VARCHAR || k == K_TEXT; }
bool wire_is_long(Kind k) { return k == K_TEXT || k == K_NTEXT || k == K_IMAGE; }

static bool has_length(Kind k) {
  return k == K_CHAR || k == K_VARCHAR || k == K_NCHAR || k == K_NVARCHAR || k == K_BINARY ||
         k == K_VARBINARY;
}

static bool has_scale(Kind k) { return k == K_TIME || k == K_DATETIME2 || k == K_DATETIMEOFFSET; }

bool type_is_plp(const Type *t) {
  return (has_length(t->kind) && t->length < 0) || t->kind == K_XML || t->kind == K_JSON ||
         t->kind == K_UDT;
}

int type_max_length(const Type *t) {
  if (t->kind == K_UDT && t->length != UDT_HIERARCHYID) return -1;
  if (t->kind == K_VECTOR) return 8 + 4 * t->length;
  if (has_length(t->kind)) {
    return t->length < 0 ? -1 : type_is_unicode(t->kind) ? 2 * t->length : t->length;
  }
  if (t->kind == K_DECIMAL || t->kind == K_NUMERIC) {
    return t->precision <= 9 ? 5 : t->precision <= 19 ? 9 : t->precision <= 28 ? 13 : 17;
  }
  if (has_scale(t->kind)) return types[t->kind].bytes - (t->scale <= 2 ? 2 : t->scale <= 4 ? 1 : 0);
  return types[t->kind].bytes;
}

int type_precision(const Type *t) {
  if (t->kind == K_DECIMAL || t->kind == K_NUMERIC) return t->precision;
  if (has_scale(t->kind)) {
    return types[t->kind].precision - 7 + t->scale - (t->scale == 0 && t->kind != K_DATE);
  }
  return types[t->kind].precision;
}

int type_scale(const Type *t) {
  return t->kind == K_MONEY || t->kind == K_SMALLMONEY ? 4 : t->kind == K_DATETIME ? 3 : t->scale;
}

/* Names ------------------------------------------------------------------------------------------*/

static bool find_name(const char *name, Type *t) {
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
    if (strcasecmp(name, aliases[i].name) == 0) {
      *t = type_make(aliases[i].kind, aliases[i].length, 0, 0);
      return true;
    }
  }
  for (int k = K_BIT; k < K_COUNT; k++) {
    if (strcasecmp(name, types[k].name) == 0) {
      *t = type_make((Kind)k, 0, 0, 0);
      return true;
    }
  }
  return false;
}

/* What a type is without its numbers, and with them. */
static bool set_numbers(Type *t, int count, const long number[2], bool is_max) {
  switch (t->kind) {
  case K_DECIMAL:
  case K_NUMERIC:
    t->precision = count > 0 ? (int)number[0] : 18;
    t->scale = count > 1 ? (int)number[1] : 0;
    return !is_max && t->precision >= 1 && t->precision <= 38 && t->scale >= 0 &&
           t->scale <= t->precision;
  case K_TIME:
  case K_DATETIME2:
  case K_DATETIMEOFFSET:
    t->scale = count > 0 ? (int)number[0] : 7;
    return !is_max && count < 2 && t->scale >= 0 && t->scale <= 7;
  case K_FLOAT:
    if (count > 0 && number[0] <= 24) t->kind = K_REAL;
    return count == 0 || (number[0] >= 1 && number[0] <= 53);
  case K_VECTOR:
    t->length = (int)number[0];
    return count == 1 && number[0] >= 1 && number[0] <= 1998;
  default:
    break;
  }
  if (!has_length(t->kind)) return count == 0 && !is_max;
  if (is_max) {
    t->length = -1;
    return t->kind == K_VARCHAR || t->kind == K_NVARCHAR || t->kind == K_VARBINARY;
  }
  if (count == 0) {
    if (t->length == 0) t->length = 1;
    return true;
  }
  t->length = (int)number[0];
  return count == 1 && t->length >= 1 && t->length <= (type_is_unicode(t->kind) ? 4000 : 8000);
}

bool type_parse(const char *text, Type *t) {
  char name[64];
  size_t n = 0;
  while (text[n] != 0 && text[n] != '(' && n + 1 < sizeof name) {
    name[n] = text[n];
    n++;
  }
  const char *rest = text + n;
  while (n > 0 && isspace((unsigned char)name[n - 1])) n--;
  name[n] = 0;
  if (!find_name(name, t)) return false;
  long number[2] = {0, 0};
  int count = 0;
  bool is_max = false;
  if (*rest == '(') {
    do {
      rest++;
      while (*rest == ' ') rest++;
      char *end;
      if (strncasecmp(rest, "max", 3) == 0) {
        is_max = true;
        rest += 3;
      } else if (count == 2 || (number[count++] = strtol(rest, &end, 10), end == rest)) {
        return false;
      } else {
        rest = end;
      }
      while (*rest == ' ') rest++;
    } while (*rest == ',');
    if (*rest != ')') return false;
  }
  return set_numbers(t, count, number, is_max);
}

void type_print(const Type *t, char *out, size_t room) {
  const char *name = type_name(t);
  if (t->kind == K_DECIMAL || t->kind == K_NUMERIC) {
    snprintf(out, room, "%s(%d,%d)", name, t->precision, t->scale);
  } else if (has_scale(t->kind)) {
    snprintf(out, room, "%s(%d)", name, t->scale);
  } else if (has_length(t->kind) && t->length < 0) {
    snprintf(out, room, "%s(max)", name);
  } else if (has_length(t->kind) || t->kind == K_VECTOR) {
    snprintf(out, room, "%s(%d)", name, t->length);
  } else {
    snprintf(out, room, "%s", name);
  }
}

/* Precedence -------------------------------------------------------------------------------------*/

static Type decimal_of(const Type *t) {
  static const int digits[] = {
      [K_BIT] = 1, [K_TINYINT] = 3, [K_SMALLINT] = 5, [K_INT] = 10, [K_BIGINT] = 19};
  if (type_class(t) == C_INT) return type_make(K_DECIMAL, 0, digits[t->kind], 0);
  if (t->kind == K_MONEY) return type_make(K_DECIMAL, 0, 19, 4);
  if (t->kind == K_SMALLMONEY) return type_make(K_DECIMAL, 0, 10, 4);
  return *t;
}

Type type_combine(const Type *a, const Type *b) {
  if (a->kind == K_NONE) return *b;
  if (b->kind == K_NONE) return *a;
  const Type *high = types[a->kind].rank >= types[b->kind].rank ? a : b;
  const Type *low = high == a ? b : a;
  Type t = *high;
  bool sized = has_length(t.kind) && has_length(low->kind);
  if (sized && t.length >= 0 && (low->length < 0 || low->length > t.length)) t.length = low->length;
  if (t.kind == K_CHAR && low->kind == K_VARCHAR) t.kind = K_VARCHAR;
  if (t.kind == K_DECIMAL || t.kind == K_NUMERIC) {
    if (type_class(low) == C_INT || type_class(low) == C_DECIMAL) {
      Type other = decimal_of(low);
      int whole = t.precision - t.scale, whole2 = other.precision - other.scale;
      t.scale = t.scale > other.scale ? t.scale : other.scale;
      t.precision = (whole > whole2 ? whole : whole2) + t.scale;
      if (t.precision > 38) t.precision = 38;
    }
  }
  if (has_scale(t.kind) && has_scale(low->kind) && low->scale > t.scale) t.scale = low->scale;
  return t;
}

/* TYPE_INFO: [MS-TDS] 2.2.5.6 --------------------------------------------------------------------*/

static void write_collation(Buf *out, const Type *t) {
  const Collation *c = t->collation ? t->collation : collation_default();
  buf_u32(out, c->bits);
  buf_u8(out, c->sort);
}

static void write_udt(Buf *out, const Type *t) {
  static const char *const assembly = "Microsoft.SqlServer.Types, Version=11.0.0.0, "
                                      "Culture=neutral, PublicKeyToken=89845dcd8080cc91";
  static const char *const classes[] = {"SqlHierarchyId", "SqlGeography", "SqlGeometry"};
  char qualified[200];
  snprintf(qualified, sizeof qualified, "Microsoft.SqlServer.Types.%s, %s", classes[t->length],
           assembly);
  buf_u16(out, t->length == UDT_HIERARCHYID ? 892 : 0xFFFF);
  buf_b_varchar(out, "master");
  buf_b_varchar(out, "sys");
  buf_b_varchar(out, udts[t->length]);
  buf_us_varchar(out, qualified);
}

void type_write(Buf *out, const Type *t, bool nullable) {
  unsigned fixed = types[t->kind].fixed;
  if (!nullable && fixed != 0) {
    buf_u8(out, fixed);
    return;
  }
  buf_u8(out, types[t->kind].wire);
  int max = type_max_length(t);
  switch (t->kind) {
  case K_DECIMAL:
  case K_NUMERIC:
    buf_u8(out, (unsigned)max);
    buf_u8(out, (unsigned)t->precision);
    buf_u8(out, (unsigned)t->scale);
    return;
  case K_DATE:
  case K_JSON:
    return;
  case K_TIME:
  case K_DATETIME2:
  case K_DATETIMEOFFSET:
    buf_u8(out, (unsigned)t->scale);
    return;
  case K_TEXT:
  case K_NTEXT:
  case K_IMAGE:
    buf_u32(out, t->kind == K_NTEXT ? 0x7FFFFFFE : 0x7FFFFFFF);
    if (t->kind != K_IMAGE) write_collation(out, t);
    return;
  case K_VARIANT:
    buf_u32(out, 8009);
    return;
  case K_XML:
    buf_u8(out, 0);
    return;
  case K_UDT:
    write_udt(out, t);
    return;
  case K_VECTOR:
    buf_u16(out, (unsigned)max);
    buf_u8(out, 0);
    return;
  case K_ROWVERSION:
    buf_u16(out, 8);
    return;
  default:
    break;
  }
  if (!has_length(t->kind)) {
    buf_u8(out, (unsigned)max);
    return;
  }
  buf_u16(out, max < 0 ? 0xFFFF : (unsigned)max);
  if (types[t->kind].class == C_TEXT) write_collation(out, t);
}

/* The types of one width: byte, width (0 = any that is in `widths`), kind. */
static const struct {
  uint8_t wire, width, kind;
} sized[] = {
    {0x26, 1, K_TINYINT},       {0x26, 2, K_SMALLINT},   {0x26, 4, K_INT},
    {0x26, 8, K_BIGINT},        {0x68, 1, K_BIT},        {0x6D, 4, K_REAL},
    {0x6D, 8, K_FLOAT},         {0x6E, 4, K_SMALLMONEY}, {0x6E, 8, K_MONEY},
    {0x6F, 4, K_SMALLDATETIME}, {0x6F, 8, K_DATETIME},   {0x24, 16, K_GUID},
};

/* Character and binary types by wire byte, the legacy ones among them. */
static const struct {
  uint8_t wire, kind, length_bytes;
} strings[] = {
    {0xA5, K_VARBINARY, 2}, {0xAD, K_BINARY, 2},    {0xA7, K_VARCHAR, 2}, {0xAF, K_CHAR, 2},
    {0xE7, K_NVARCHAR, 2},  {0xEF, K_NCHAR, 2},     {0x23, K_TEXT, 4},    {0x63, K_NTEXT, 4},
    {0x22, K_IMAGE, 4},     {0x25, K_VARBINARY, 1}, {0x27, K_VARCHAR, 1}, {0x2D, K_BINARY, 1},
    {0x2F, K_CHAR, 1},
};

static const char *read_collation(Rd *r, Type *t) {
  uint32_t bits = rd_u32(r);
  unsigned sort = rd_u8(r);
  unsigned page = collation_codepage(bits, sort);
  if (page == 0) return "a collation with a sort id that does not exist";
  static const struct {
    uint16_t page;
    const char *name;
  } by_page[] = {{65001, "Latin1_General_100_CI_AS_SC_UTF8"},
                 {437, "SQL_Latin1_General_CP437_CI_AS"},
                 {850, "SQL_Latin1_General_CP850_CI_AS"},
                 {874, "Thai_CI_AS"},
                 {932, "Japanese_CI_AS"},
                 {936, "Chinese_PRC_CI_AS"},
                 {949, "Korean_Wansung_CI_AS"},
                 {950, "Chinese_Taiwan_Stroke_CI_AS"},
                 {1250, "Polish_CI_AS"},
                 {1251, "Cyrillic_General_CI_AS"},
                 {1253, "Greek_CI_AS"},
                 {1254, "Turkish_CI_AS"},
                 {1255, "Hebrew_CI_AS"},
                 {1256, "Arabic_CI_AS"},
                 {1257, "Estonian_CI_AS"},
                 {1258, "Vietnamese_CI_AS"}};
  t->collation = collation_default();
  for (size_t i = 0; i < sizeof by_page / sizeof *by_page; i++) {
    if (by_page[i].page == page) t->collation = collation_find(by_page[i].name);
  }
  return NULL;
}

static const char *read_string(Rd *r, Type *t, Kind kind, int length_bytes, uint32_t *max) {
  *max = (uint32_t)rd_int(r, length_bytes);
  bool plp = length_bytes == 2 && *max == 0xFFFF;
  if (plp && (kind == K_CHAR || kind == K_NCHAR || kind == K_BINARY))
    return "a fixed type of (max)";
  if (length_bytes == 2 && !plp && *max > 8000) return "a maximum length above 8000";
  if (kind == K_NTEXT || kind == K_NCHAR || kind == K_NVARCHAR) {
    if (!plp && kind != K_NTEXT && *max % 2 != 0) return "an odd length of a Unicode type";
  }
  *t = type_make(kind, plp || length_bytes == 4 ? -1 : (int)*max, 0, 0);
  if (type_is_unicode(kind) && t->length > 0) t->length /= 2;
  if (type_class(t) == C_TEXT && length_bytes > 1) return read_collation(r, t);
  return NULL;
}

static const char *read_other(Rd *r, Type *t, unsigned wire, uint32_t *max) {
  switch (wire) {
  case 0x1F:
    *t = type_make(K_NONE, 0, 0, 0);
    return NULL;
  case 0x28:
    *t = type_make(K_DATE, 0, 0, 0);
    return NULL;
  case 0x29:
  case 0x2A:
  case 0x2B:
    *t = type_make(wire == 0x29   ? K_TIME
                   : wire == 0x2A ? K_DATETIME2
                                  : K_DATETIMEOFFSET,
                   0, 0, (int)rd_u8(r));
    return t->scale > 7 ? "a scale above 7" : NULL;
  case 0x37:
  case 0x3F: /* the legacy decimal and numeric */
  case 0x6A:
  case 0x6C:
    *max = rd_u8(r);
    *t = type_make(wire == 0x6A || wire == 0x37 ? K_DECIMAL : K_NUMERIC, 0, 0, 0);
    t->precision = (int)rd_u8(r);
    t->scale = (int)rd_u8(r);
    if (t->precision < 1 || t->precision > 38) return "a precision outside 1 to 38";
    if (t->scale > t->precision) return "a scale above the precision";
    if (*max != 5 && *max != 9 && *max != 13 && *max != 17) return "a decimal's length";
    return (int)*max < type_max_length(t) ? "a decimal's length too short for its precision" : NULL;
  case 0x62:
    *max = rd_u32(r);
    *t = type_make(K_VARIANT, 0, 0, 0);
    return NULL;
  case 0xF1:
    *t = type_make(K_XML, 0, 0, 0);
    if (rd_u8(r) != 0) {
      free(rd_text(r, rd_u8(r)));
      free(rd_text(r, rd_u8(r)));
      free(rd_text(r, rd_u16(r)));
    }
    return NULL;
  case 0xF4:
    *t = type_make(K_JSON, 0, 0, 0);
    return NULL;
  case 0xF5:
    *max = rd_u16(r);
    *t = type_make(K_VECTOR, *max < 8 ? 0 : (int)(*max - 8) / 4, 0, 0);
    return rd_u8(r) != 0 ? "a vector of another element type than float32" : NULL;
  default:
    return "a type that does not exist";
  }
}

const char *type_read(Rd *r, Type *t, unsigned *wire, uint32_t *max) {
  *wire = rd_u8(r);
  *max = 0;
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    if (strings[i].wire != *wire) continue;
    return read_string(r, t, (Kind)strings[i].kind, strings[i].length_bytes, max);
  }
  for (int k = K_BIT; k < K_COUNT; k++) {
    if (types[k].fixed != 0 && types[k].fixed == *wire) {
      *t = type_make((Kind)k, 0, 0, 0);
      return NULL;
    }
  }
  bool is_sized = false;
  for (size_t i = 0; i < sizeof sized / sizeof *sized; i++) is_sized |= sized[i].wire == *wire;
  if (!is_sized) return read_other(r, t, *wire, max);
  *max = rd_u8(r);
  for (size_t i = 0; i < sizeof sized / sizeof *sized; i++) {
    if (sized[i].wire == *wire && sized[i].width == *max) {
      *t = type_make((Kind)sized[i].kind, 0, 0, 0);
      return NULL;
    }
  }
  return "a length that its type does not have";
}
