/*
** tds/type.c: the table of data types and TYPE_INFO ([MS-TDS] 2.2.5.4 – 2.2.5.6). The contracts are in tds.h and
** tdsInt.h.
*/
#include "tdsInt.h"

#define BYTES(i) (1u << (i))
#define INT_SIZES (BYTES(1) | BYTES(2) | BYTES(4) | BYTES(8))
#define PAIR (BYTES(4) | BYTES(8))
#define DECIMAL_SIZES (BYTES(5) | BYTES(9) | BYTES(13) | BYTES(17))
#define LONGEST 8000 /* bytes of a type whose length is two bytes and that is not (max) */

/* clang-format off */
static const tds_type_row rows[] = {
  /* type                  TYPE_INFO         length of a value fixed coll. sizes          decoder                    name */
  {TDS_NULLTYPE,           TDS_INFO_NONE,    TDS_FIXED,   0,  0, 0,             tds_decode_null,           "null"},
  {TDS_INT1,               TDS_INFO_NONE,    TDS_FIXED,   1,  0, 0,             tds_decode_int,            "tinyint"},
  {TDS_BIT,                TDS_INFO_NONE,    TDS_FIXED,   1,  0, 0,             tds_decode_bit,            "bit"},
  {TDS_INT2,               TDS_INFO_NONE,    TDS_FIXED,   2,  0, 0,             tds_decode_int,            "smallint"},
  {TDS_INT4,               TDS_INFO_NONE,    TDS_FIXED,   4,  0, 0,             tds_decode_int,            "int"},
  {TDS_INT8,               TDS_INFO_NONE,    TDS_FIXED,   8,  0, 0,             tds_decode_int,            "bigint"},
  {TDS_FLT4,               TDS_INFO_NONE,    TDS_FIXED,   4,  0, 0,             tds_decode_float,          "real"},
  {TDS_FLT8,               TDS_INFO_NONE,    TDS_FIXED,   8,  0, 0,             tds_decode_float,          "float"},
  {TDS_DATETIM4,           TDS_INFO_NONE,    TDS_FIXED,   4,  0, 0,             tds_decode_datetime,       "smalldatetime"},
  {TDS_DATETIME8,          TDS_INFO_NONE,    TDS_FIXED,   8,  0, 0,             tds_decode_datetime,       "datetime"},
  {TDS_MONEY4,             TDS_INFO_NONE,    TDS_FIXED,   4,  0, 0,             tds_decode_money,          "smallmoney"},
  {TDS_MONEY,              TDS_INFO_NONE,    TDS_FIXED,   8,  0, 0,             tds_decode_money,          "money"},

  {TDS_GUID,               TDS_INFO_LEN1,    TDS_LEN1,    0,  0, BYTES(16),     tds_decode_guid,           "uniqueidentifier"},
  {TDS_INTN,               TDS_INFO_LEN1,    TDS_LEN1,    0,  0, INT_SIZES,     tds_decode_int,            "int"},
  {TDS_BITN,               TDS_INFO_LEN1,    TDS_LEN1,    0,  0, BYTES(1),      tds_decode_bit,            "bit"},
  {TDS_FLTN,               TDS_INFO_LEN1,    TDS_LEN1,    0,  0, PAIR,          tds_decode_float,          "float"},
  {TDS_MONEYN,             TDS_INFO_LEN1,    TDS_LEN1,    0,  0, PAIR,          tds_decode_money,          "money"},
  {TDS_DATETIMN,           TDS_INFO_LEN1,    TDS_LEN1,    0,  0, PAIR,          tds_decode_datetime,       "datetime"},
  {TDS_LEGACY_CHAR,        TDS_INFO_LEN1,    TDS_LEN1,    0,  0, 0,             tds_decode_utf8,           "char"},
  {TDS_LEGACY_VARCHAR,     TDS_INFO_LEN1,    TDS_LEN1,    0,  0, 0,             tds_decode_utf8,           "varchar"},
  {TDS_LEGACY_BINARY,      TDS_INFO_LEN1,    TDS_LEN1,    0,  0, 0,             tds_decode_bytes,          "binary"},
  {TDS_LEGACY_VARBINARY,   TDS_INFO_LEN1,    TDS_LEN1,    0,  0, 0,             tds_decode_bytes,          "varbinary"},
  {TDS_LEGACY_DECIMAL,     TDS_INFO_DECIMAL, TDS_LEN1,    0,  0, DECIMAL_SIZES, tds_decode_decimal,        "decimal"},
  {TDS_LEGACY_NUMERIC,     TDS_INFO_DECIMAL, TDS_LEN1,    0,  0, DECIMAL_SIZES, tds_decode_decimal,        "numeric"},
  {TDS_DECIMALN,           TDS_INFO_DECIMAL, TDS_LEN1,    0,  0, DECIMAL_SIZES, tds_decode_decimal,        "decimal"},
  {TDS_NUMERICN,           TDS_INFO_DECIMAL, TDS_LEN1,    0,  0, DECIMAL_SIZES, tds_decode_decimal,        "numeric"},
  {TDS_DATEN,              TDS_INFO_NONE,    TDS_LEN1,    3,  0, 0,             tds_decode_date,           "date"},
  {TDS_TIMEN,              TDS_INFO_SCALE,   TDS_LEN1,    0,  0, 0,             tds_decode_time,           "time"},
  {TDS_DATETIME2N,         TDS_INFO_SCALE,   TDS_LEN1,    3,  0, 0,             tds_decode_datetime2,      "datetime2"},
  {TDS_DATETIMEOFFSETN,    TDS_INFO_SCALE,   TDS_LEN1,    5,  0, 0,             tds_decode_datetimeoffset, "datetimeoffset"},

  {TDS_BIGVARBINARY,       TDS_INFO_LEN2,    TDS_LEN2,    0,  0, 0,             tds_decode_bytes,          "varbinary"},
  {TDS_BIGBINARY,          TDS_INFO_LEN2,    TDS_LEN2,    0,  0, 0,             tds_decode_bytes,          "binary"},
  {TDS_BIGVARCHAR,         TDS_INFO_LEN2,    TDS_LEN2,    0,  1, 0,             tds_decode_utf8,           "varchar"},
  {TDS_BIGCHAR,            TDS_INFO_LEN2,    TDS_LEN2,    0,  1, 0,             tds_decode_utf8,           "char"},
  {TDS_NVARCHAR,           TDS_INFO_LEN2,    TDS_LEN2,    0,  1, 0,             tds_decode_utf16,          "nvarchar"},
  {TDS_NCHAR,              TDS_INFO_LEN2,    TDS_LEN2,    0,  1, 0,             tds_decode_utf16,          "nchar"},
  {TDS_VECTOR,             TDS_INFO_VECTOR,  TDS_LEN2,    0,  0, 0,             tds_decode_vector,         "vector"},

  {TDS_TEXTTYPE,           TDS_INFO_TEXT,    TDS_TEXTPTR, 0,  1, 0,             tds_decode_utf8,           "text"},
  {TDS_NTEXT,              TDS_INFO_TEXT,    TDS_TEXTPTR, 0,  1, 0,             tds_decode_utf16,          "ntext"},
  {TDS_IMAGE,              TDS_INFO_TEXT,    TDS_TEXTPTR, 0,  0, 0,             tds_decode_bytes,          "image"},
  {TDS_VARIANT,            TDS_INFO_LEN4,    TDS_LEN4,    0,  0, 0,             tds_decode_variant,        "sql_variant"},

  {TDS_UDT,                TDS_INFO_UDT,     TDS_PLP,     0,  0, 0,             tds_decode_bytes,          "udt"},
  {TDS_XML,                TDS_INFO_XML,     TDS_PLP,     0,  0, 0,             tds_decode_xml,            "xml"},
  {TDS_JSON,               TDS_INFO_NONE,    TDS_PLP,     0,  0, 0,             tds_decode_json,           "json"},
};
/* clang-format on */

const tds_type_row *tds_type_find(uint8_t type) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].type == type) return &rows[i];
  }
  return NULL;
}

/* The types whose name depends on their length. */
static const struct {
  uint8_t type, length;
  const char *name;
} sized[] = {{TDS_INTN, 1, "tinyint"},      {TDS_INTN, 2, "smallint"},
             {TDS_INTN, 8, "bigint"},       {TDS_FLTN, 4, "real"},
             {TDS_MONEYN, 4, "smallmoney"}, {TDS_DATETIMN, 4, "smalldatetime"}};

const char *tds_type_name(const tds_type_info *t) {
  for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++) {
    if (sized[i].type == t->type && sized[i].length == t->length) return sized[i].name;
  }
  const tds_type_row *row = tds_type_find(t->type);
  return row ? row->name : "";
}

static int is_text(const tds_type_row *row) { return row->decode == tds_decode_utf8; }

/* What stands behind the type, by its form. */
static void read_form(tds_stream *s, tds_reader *r, const tds_type_row *row, tds_type_info *t,
                      tds_utf16 *udt, int with_table) {
  t->collation = s->collation;
  t->sort_id = s->sort_id;
  switch (row->form) {
  case TDS_INFO_NONE:
    t->length = row->layout == TDS_PLP ? TDS_MAX : row->fixed;
    break;
  case TDS_INFO_LEN1:
    t->length = tds_u8(r);
    break;
  case TDS_INFO_DECIMAL:
    t->length = tds_u8(r);
    t->precision = tds_u8(r);
    t->scale = tds_u8(r);
    break;
  case TDS_INFO_SCALE:
    t->scale = tds_u8(r);
    t->length = tds_time_size(t->scale) + row->fixed;
    break;
  case TDS_INFO_LEN2:
  case TDS_INFO_VECTOR:
    t->length = tds_u16(r);
    break;
  case TDS_INFO_LEN4:
  case TDS_INFO_TEXT:
    t->length = tds_u32(r);
    break;
  case TDS_INFO_XML:
    t->length = TDS_MAX;
    if (tds_u8(r) != 0) {
      tds_b_varchar(r); /* database, schema, XML schema collection */
      tds_b_varchar(r);
      tds_us_varchar(r);
    }
    break;
  case TDS_INFO_UDT:
    t->length = tds_u16(r);
    tds_b_varchar(r); /* database, schema */
    tds_b_varchar(r);
    *udt = tds_b_varchar(r);
    tds_us_varchar(r); /* assembly */
    break;
  default:
    break;
  }
  if (row->form == TDS_INFO_VECTOR) t->scale = tds_u8(r);
  if (row->collated) {
    t->collation = tds_u32(r);
    t->sort_id = tds_u8(r);
  }
  if (row->form == TDS_INFO_TEXT && with_table) {
    for (unsigned parts = tds_u8(r); parts > 0 && !r->bad; parts--) tds_us_varchar(r);
  }
}

/* What is wrong with it, or NULL. */
static const char *wrong(const tds_type_row *row, const tds_type_info *t) {
  if (row->lengths && (t->length > 31 || !(row->lengths & BYTES(t->length)))) {
    return "a length that the type does not have";
  }
  if (row->form == TDS_INFO_DECIMAL &&
      (t->precision < 1 || t->precision > 38 || t->scale > t->precision)) {
    return "a decimal's precision or scale out of range";
  }
  if (row->form == TDS_INFO_SCALE && t->scale > 7) return "a scale beyond 7";
  if (row->form == TDS_INFO_LEN2) {
    const int variable =
        t->type == TDS_BIGVARBINARY || t->type == TDS_BIGVARCHAR || t->type == TDS_NVARCHAR;
    if (t->length > LONGEST && !(variable && t->length == TDS_MAX)) {
      return "a length beyond the type's maximum";
    }
    if (row->decode == tds_decode_utf16 && t->length % 2 != 0 && t->length != TDS_MAX) {
      return "half a character";
    }
  }
  return NULL;
}

tds_status tds_read_type(tds_stream *s, tds_reader *r, tds_type_info *t, tds_utf16 *udt,
                         int with_table) {
  *t = (tds_type_info){.type = tds_u8(r)};
  if (r->bad) return TDS_OK;
  const tds_type_row *row = tds_type_find(t->type);
  if (!row) return tds_refuse(s, TDS_MALFORMED, "an unknown type", t->type);
  read_form(s, r, row, t, udt, with_table);
  if (r->bad) return TDS_OK;
  const char *what = wrong(row, t);
  if (what) return tds_refuse(s, TDS_MALFORMED, what, t->type);

  t->layout = row->layout;
  if (row->form == TDS_INFO_LEN2 && t->length == TDS_MAX) t->layout = TDS_PLP;
  t->fixed = row->fixed;
  t->decode = row->decode;
  if (is_text(row)) tds_choose_text(t);
  return TDS_OK;
}
