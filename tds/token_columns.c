/*
** tds/token_columns.c: COLMETADATA, ORDER, TABNAME, COLINFO, RETURNVALUE ([MS-TDS] 2.2.7.4, .16, .23, .3, .18).
*/
#include "tdsInt.h"

#define NONE 0xFFFF /* as a count of columns: no description follows */

/* UserType, Flags, TYPE_INFO: COLMETADATA's columns and RETURNVALUE have them. */
static tds_status read_column(tds_stream *s, tds_reader *r, tds_column *c, tds_utf16 *udt,
                              int with_table) {
  memset(c, 0, sizeof *c);
  c->user_type = tds_u32(r);
  c->flags = tds_u16(r);
  *udt = (tds_utf16){0};
  /* Where it was not asked for, neither CekTable nor CryptoMetadata can be told from what else stands there. */
  if (!r->bad && (c->flags & TDS_COLUMN_ENCRYPTED)) {
    return tds_refuse(s, TDS_UNSUPPORTED,
                      "a column encrypted by Always Encrypted, which was not asked for: number",
                      (int)s->step);
  }
  return tds_read_type(s, r, &c->info, udt, with_table);
}

static uint32_t keep_name(tds_stream *s, tds_utf16 name) {
  const size_t at = s->names;
  if (name.units) memcpy((uint8_t *)s->room[TDS_ROOM_NAMES].p + at, name.p, 2 * name.units);
  s->names += 2 * name.units;
  return (uint32_t)at;
}

static tds_status begin_columns(tds_stream *s, size_t n) {
  if (!tds_has_room(s, TDS_ROOM_COLUMNS, n * sizeof(tds_column))) return TDS_ROOM;
  if (!tds_has_room(s, TDS_ROOM_VALUES, n * sizeof(tds_value))) return TDS_ROOM;
  s->n_columns = 0;
  s->names = 0;
  s->left[0] = n;
  s->step = 1;
  return TDS_OK;
}

/* A column at a time: s->step is one more than how many are done. */
tds_status tds_parse_columns(tds_stream *s, tds_reader *r) {
  if (s->step == 0) {
    const size_t n = tds_u16(r);
    if (r->bad) return TDS_OK;
    const tds_status status = begin_columns(s, n == NONE ? 0 : n);
    if (status != TDS_OK) return status;
    s->token.as.columns.none = n == NONE;
    s->resume = r->i;
  }
  while (s->step <= s->left[0]) {
    tds_column *c = (tds_column *)s->room[TDS_ROOM_COLUMNS].p + (s->step - 1);
    tds_utf16 udt;
    const tds_status status = read_column(s, r, c, &udt, 1);
    if (status != TDS_OK) return status;
    const tds_utf16 name = tds_b_varchar(r);
    if (r->bad) return TDS_OK;
    if (!tds_has_room(s, TDS_ROOM_NAMES, s->names + 2 * (name.units + udt.units))) return TDS_ROOM;
    c->name_units = (uint16_t)name.units;
    c->udt_units = (uint16_t)udt.units;
    c->name = keep_name(s, name);
    c->udt = keep_name(s, udt);
    s->step++;
    s->resume = r->i;
  }
  s->n_columns = s->token.as.columns.n = s->left[0];
  s->columns = s->room[TDS_ROOM_COLUMNS].p;
  s->values = s->room[TDS_ROOM_VALUES].p;
  return TDS_TOKEN;
}

static tds_utf16 kept(const tds_stream *s, uint32_t at, uint16_t units) {
  return (tds_utf16){units ? (const uint8_t *)s->room[TDS_ROOM_NAMES].p + at : NULL, units};
}

tds_utf16 tds_column_name(const tds_stream *s, size_t i) {
  return kept(s, s->columns[i].name, s->columns[i].name_units);
}

tds_utf16 tds_column_udt(const tds_stream *s, size_t i) {
  return kept(s, s->columns[i].udt, s->columns[i].udt_units);
}

/* What goes before the value; that is read like a row of one column. The name is copied: the value may come in
** other chunks. */
tds_status tds_parse_return_value(tds_stream *s, tds_reader *r) {
  tds_token *t = &s->token;
  tds_utf16 udt;
  const uint16_t ordinal = tds_u16(r);
  const tds_utf16 name = tds_b_varchar(r);
  const uint8_t kind = tds_u8(r);
  const tds_status status = read_column(s, r, &s->returned, &udt, 0);
  if (status != TDS_OK || r->bad) return status;
  if (name.units) memcpy(s->returned_name, name.p, 2 * name.units);
  t->as.return_value.ordinal = ordinal;
  t->as.return_value.status = kind;
  t->as.return_value.name = (tds_utf16){s->returned_name, name.units};
  t->as.return_value.column = &s->returned;
  tds_row_begin(s, TDS_RETURNVALUE);
  return TDS_OK;
}

/* ---- Checked, and passed on as bytes ---------------------------------------------------------------- */

tds_status tds_parse_order(tds_stream *s, tds_reader *r) {
  if (r->n % 2 != 0) return tds_refuse(s, TDS_MALFORMED, "half a column's number", 0);
  return tds_parse_bytes(s, r);
}

tds_status tds_parse_tabname(tds_stream *s, tds_reader *r) {
  while (r->i < r->n && !r->bad) {
    for (unsigned parts = tds_u8(r); parts > 0 && !r->bad; parts--) tds_us_varchar(r);
  }
  return r->bad ? TDS_OK : tds_parse_bytes(s, r);
}

#define DIFFERENT_NAME 0x20 /* of COLINFO's status: the base column's name follows */

tds_status tds_parse_colinfo(tds_stream *s, tds_reader *r) {
  while (r->i < r->n && !r->bad) {
    tds_u8(r); /* column, table */
    tds_u8(r);
    if (tds_u8(r) & DIFFERENT_NAME) tds_b_varchar(r);
  }
  return r->bad ? TDS_OK : tds_parse_bytes(s, r);
}
