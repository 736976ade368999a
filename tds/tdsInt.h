/*
** tdsInt.h: what the files of tds/ share and nobody else sees.
*/
#ifndef TDS_TDSINT_H
#define TDS_TDSINT_H

#include "tds.h"

#include <string.h>

/* ---- Bytes in any alignment -------------------------------------------------------------------- */

static inline uint16_t tds_get_u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }

static inline uint32_t tds_get_u32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t tds_get_u64(const uint8_t *p) {
  return (uint64_t)tds_get_u32(p) | (uint64_t)tds_get_u32(p + 4) << 32;
}

static inline void tds_set_u32(uint8_t *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> 8 * i);
}

/* ---- The reader --------------------------------------------------------------------------------- */

/* Sticky: a read beyond the end gives zeros and leaves in bad how many bytes were missing for it; all later
** reads give zeros too. Read all fields, test bad once. */
typedef struct tds_reader {
  const uint8_t *p;
  size_t n, i, bad;
} tds_reader;

/* The next n bytes, or NULL. */
static inline const uint8_t *tds_take(tds_reader *r, size_t n) {
  if (r->bad) return NULL;
  if (n > r->n - r->i) {
    r->bad = n - (r->n - r->i);
    return NULL;
  }
  r->i += n;
  return r->p + (r->i - n);
}

static inline uint8_t tds_u8(tds_reader *r) {
  const uint8_t *p = tds_take(r, 1);
  return p ? *p : 0;
}
static inline uint16_t tds_u16(tds_reader *r) {
  const uint8_t *p = tds_take(r, 2);
  return p ? tds_get_u16(p) : 0;
}
static inline uint32_t tds_u32(tds_reader *r) {
  const uint8_t *p = tds_take(r, 4);
  return p ? tds_get_u32(p) : 0;
}
static inline uint64_t tds_u64(tds_reader *r) {
  const uint8_t *p = tds_take(r, 8);
  return p ? tds_get_u64(p) : 0;
}

static inline tds_utf16 tds_units(tds_reader *r, size_t units) {
  const uint8_t *p = tds_take(r, 2 * units);
  return (tds_utf16){p, p ? units : 0};
}
static inline tds_utf16 tds_b_varchar(tds_reader *r) { return tds_units(r, tds_u8(r)); }
static inline tds_utf16 tds_us_varchar(tds_reader *r) { return tds_units(r, tds_u16(r)); }

/* ---- Faults (fault.c) ----------------------------------------------------------------------------- */

/* Records the stream's fault and answers the status. The first fault stays. */
tds_status tds_refuse(tds_stream *s, tds_status status, const char *what, int detail);

/* Says where a fault that was just recorded is, if that is not known yet. */
void tds_locate(tds_stream *s, uint8_t token, uint64_t offset, uint8_t byte);

/* ---- Types (type.c) -------------------------------------------------------------------------------- */

/* How the length of a value is found. */
enum tds_layout {
  TDS_FIXED,   /* from the type: info.fixed */
  TDS_LEN1,    /* u8, 0 is NULL */
  TDS_LEN2,    /* u16, FFFF is NULL */
  TDS_LEN4,    /* u32, 0 is NULL (sql_variant) */
  TDS_TEXTPTR, /* text pointer, timestamp, u32 */
  TDS_PLP
};

/* What TYPE_INFO holds behind the type. */
enum tds_info_form {
  TDS_INFO_NONE,
  TDS_INFO_LEN1,
  TDS_INFO_DECIMAL, /* u8 length, precision, scale */
  TDS_INFO_SCALE,
  TDS_INFO_LEN2,
  TDS_INFO_LEN4,
  TDS_INFO_TEXT, /* u32 length, of characters a collation; then, in COLMETADATA, the table's name */
  TDS_INFO_XML,
  TDS_INFO_UDT,
  TDS_INFO_VECTOR
};

typedef struct tds_type_row {
  uint8_t type;
  uint8_t form;     /* tds_info_form */
  uint8_t layout;   /* tds_layout; TDS_LEN2 turns into TDS_PLP where the length is TDS_MAX */
  uint8_t fixed;    /* length of a TDS_FIXED value */
  uint8_t collated; /* a collation travels behind the length */
  uint32_t lengths; /* bit i: TYPE_INFO may say i bytes; 0: any length */
  tds_decode *decode;
  const char *name;
} tds_type_row;

/* NULL: there is no such type. */
const tds_type_row *tds_type_find(uint8_t type);

/* Reads a TYPE_INFO. r->bad as usual; a status other than TDS_OK is an error already recorded. udt gets a
** udt's type name. with_table: COLMETADATA's, where text types have a table's name behind. */
tds_status tds_read_type(tds_stream *s, tds_reader *r, tds_type_info *t, tds_utf16 *udt,
                         int with_table);

/* The decoder of character types by their code page, and what it needs. */
void tds_choose_text(tds_type_info *t);

/* ---- Decoders (value_*.c) --------------------------------------------------------------------------- */

tds_decode tds_decode_int, tds_decode_bit, tds_decode_float, tds_decode_decimal, tds_decode_money,
    tds_decode_datetime, tds_decode_date, tds_decode_time, tds_decode_datetime2,
    tds_decode_datetimeoffset, tds_decode_guid, tds_decode_bytes, tds_decode_utf8,
    tds_decode_single_byte, tds_decode_multi_byte, tds_decode_no_page, tds_decode_utf16,
    tds_decode_xml, tds_decode_json, tds_decode_variant, tds_decode_vector, tds_decode_null;

/* Room for n bytes of text, to be claimed by tds_text_done; NULL: TDS_ROOM was recorded. */
char *tds_text_room(tds_stream *s, size_t n);

static inline void tds_text_done(tds_stream *s, tds_value *v, char *p, size_t n) {
  s->text += n;
  v->kind = TDS_TEXT;
  v->as.text.p = p;
  v->as.text.n = n;
}

/* 1: no byte has its top bit set. */
int tds_is_ascii(const uint8_t *p, size_t n);

/* A number in decimal with scale digits behind the point; magnitude = high·2^64 + low. At most 48 bytes. */
#define TDS_DECIMAL_TEXT 48
size_t tds_decimal_text(char *out, int negative, uint64_t high, uint64_t low, unsigned scale);

/* Digits, one point and a sign to a magnitude at scale; 1, or 0 where it does not fit exactly. */
int tds_decimal_parse(const char *p, size_t n, unsigned precision, unsigned scale, int *negative,
                      uint8_t magnitude[16]);

/* Days from 0001-01-01 to 1970-01-01, and to behind 9999-12-31. */
#define TDS_DAYS_TO_1970 719162
#define TDS_DAYS_END 3652059
#define TDS_DAYS_1900_TO_1970 25567
#define TDS_NANOS_PER_DAY (INT64_C(86400) * 1000000000)

/* Bytes of a time of this scale: 3, 4 or 5. */
static inline unsigned tds_time_size(unsigned scale) { return scale <= 2 ? 3 : scale <= 4 ? 4 : 5; }

/* ---- Code pages (codepage_table.c, made by tables.tcl; codepage.c) ----------------------------------- */

typedef struct tds_page {
  uint16_t page;
  uint16_t high[128]; /* Unicode of the bytes 80…FF */
} tds_page;
extern const tds_page tds_pages[];
extern const size_t tds_pages_count;

/* Text of a multi-byte page to UTF-8 in at most size bytes; how many were written. TDS_UNSUPPORTED where the
** C library has no such page. */
tds_status tds_convert_multi_byte(tds_stream *s, uint16_t page, const uint8_t *p, size_t n,
                                  char *out, size_t size, size_t *written);
void tds_converters_close(tds_stream *s);

/* ---- Tokens ------------------------------------------------------------------------------------------- */

/* Parses one token from r->i on, which is s->resume (0 at first). r begins behind the token's type or, where
** the table says that a length goes before, behind that, and is exactly that long. Otherwise r holds what is
** there so far: a parser that has run out of bytes (r->bad) is called again with more, and s->resume and
** s->step are as it left them. Answers TDS_TOKEN, TDS_OK (nothing to tell), TDS_ROOM (called again) or an
** error. One that sets s->again is called once more on the same bytes. */
typedef tds_status tds_parse(tds_stream *s, tds_reader *r);

tds_parse tds_parse_done, tds_parse_message, tds_parse_environment, tds_parse_loginack,
    tds_parse_features, tds_parse_columns, tds_parse_return_status, tds_parse_return_value,
    tds_parse_bytes, tds_parse_tabname, tds_parse_colinfo, tds_parse_order, tds_parse_fedauth,
    tds_parse_session, tds_parse_classification;

/* ---- Rows (row.c) --------------------------------------------------------------------------------------- */

/* Begins a row (or a RETURNVALUE's value) at s->at, and goes on with it. TDS_OK: the values are there;
** TDS_MORE: the chunk is used up. */
void tds_row_begin(tds_stream *s, uint8_t token);
tds_status tds_row_continue(tds_stream *s);

/* Copies up to *want bytes of the chunk behind what the held room has. TDS_OK once *want is 0. */
tds_status tds_hold(tds_stream *s, uint64_t *want);

/* Asks for a room of at least size bytes. 1 where it is there, else s->wanted says what is needed. */
int tds_has_room(tds_stream *s, tds_room room, size_t size);

/* ---- Writing ----------------------------------------------------------------------------------------------- */

void tds_put_all_headers(tds_message *m, uint64_t descriptor); /* 2.2.5.3 */
void tds_refuse_value(tds_message *m, const char *what);       /* the first stays */

#endif
