/*
** tds/value_text.c: characters in all their encodings, and bytes. The contracts are in tdsInt.h.
**
** What is UTF-8 already, or ASCII (which all code pages here share), is lent where it stands.
*/
#include "tdsInt.h"

char *tds_text_room(tds_stream *s, size_t n) {
  if (!tds_has_room(s, TDS_ROOM_TEXT, s->text + n)) return NULL;
  return (char *)s->room[TDS_ROOM_TEXT].p + s->text;
}

tds_status tds_decode_bytes(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                            tds_value *v) {
  (void)s, (void)t;
  v->kind = TDS_BYTES;
  v->as.bytes.p = (const char *)p;
  v->as.bytes.n = n;
  return TDS_OK;
}

tds_status tds_decode_utf8(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                           tds_value *v) {
  tds_decode_bytes(s, t, p, n, v);
  v->kind = TDS_TEXT;
  return TDS_OK;
}

tds_status tds_decode_json(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                           tds_value *v) {
  return tds_decode_utf8(s, t, p, n, v);
}

/* A room for the worst case saves counting; only where that is not there is the text counted first. */
tds_status tds_decode_utf16(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                            tds_value *v) {
  const size_t units = n / 2;
  (void)t;
  if (n % 2 != 0) return tds_refuse(s, TDS_MALFORMED, "half a character", 0);
  if (units == 0) return tds_decode_utf8(s, t, p, 0, v);
  if (3 * units > s->room[TDS_ROOM_TEXT].size - s->text &&
      !tds_has_room(s, TDS_ROOM_TEXT, s->text + tds_utf8_size(p, units))) {
    return TDS_ROOM;
  }
  char *out = (char *)s->room[TDS_ROOM_TEXT].p + s->text;
  tds_text_done(s, v, out, tds_to_utf8(out, p, units));
  return TDS_OK;
}

/* A byte order mark is not part of a document. */
tds_status tds_decode_xml(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                          tds_value *v) {
  const size_t mark = n >= 2 && p[0] == 0xFF && p[1] == 0xFE ? 2 : 0;
  return tds_decode_utf16(s, t, p + mark, n - mark, v);
}

tds_status tds_decode_single_byte(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                                  tds_value *v) {
  if (tds_is_ascii(p, n)) return tds_decode_utf8(s, t, p, n, v);
  char *out = tds_text_room(s, 3 * n), *o = out;
  if (!out) return TDS_ROOM;
  for (size_t i = 0; i < n; i++) {
    if (p[i] < 0x80) {
      *o++ = (char)p[i];
    } else {
      const uint16_t c = t->high[p[i] - 0x80];
      const uint8_t unit[2] = {(uint8_t)c, (uint8_t)(c >> 8)};
      o += tds_to_utf8(o, unit, 1);
    }
  }
  tds_text_done(s, v, out, (size_t)(o - out));
  return TDS_OK;
}

tds_status tds_decode_multi_byte(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                                 tds_value *v) {
  if (tds_is_ascii(p, n)) return tds_decode_utf8(s, t, p, n, v);
  size_t written;
  char *out = tds_text_room(s, 3 * n);
  if (!out) return TDS_ROOM;
  if (tds_convert_multi_byte(s, t->code_page, p, n, out, 3 * n, &written) != TDS_OK) {
    return tds_refuse(s, TDS_UNSUPPORTED,
                      "text of a code page that the C library does not have (read the column "
                      "as nvarchar): page",
                      t->code_page);
  }
  tds_text_done(s, v, out, written);
  return TDS_OK;
}

tds_status tds_decode_no_page(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                              tds_value *v) {
  if (tds_is_ascii(p, n)) return tds_decode_utf8(s, t, p, n, v);
  return tds_refuse(s, TDS_UNSUPPORTED,
                    "text of a collation without a code page (read the column as nvarchar): LCID",
                    (int)(t->collation & 0xFFFFF));
}
