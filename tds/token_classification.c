/*
** tds/token_classification.c: DATACLASSIFICATION ([MS-TDS] 2.2.7.5). It has no length, so that it must be
** understood to be passed over; an item at a time, of which there may be very many.
*/
#include "tdsInt.h"

/* s->step: what s->left[0] counts. */
enum { BEGIN, LABELS, INFORMATION_TYPES, COLUMNS, PROPERTIES };

#define WITH_RANK 2 /* the version that has a rank beside each label */

/* One item, or a list's count: fields that are read whole or not at all. */
static void one(tds_stream *s, tds_reader *r) {
  const int ranked = s->classification >= WITH_RANK;
  switch (s->step) {
  case BEGIN:
    s->left[0] = tds_u16(r);
    if (!r->bad) s->step = LABELS;
    break;
  case LABELS:
  case INFORMATION_TYPES:
    if (s->left[0] > 0) {
      tds_b_varchar(r); /* name, id */
      tds_b_varchar(r);
      if (!r->bad) s->left[0]--;
    } else {
      const int types = s->step == INFORMATION_TYPES;
      if (types && ranked) tds_u32(r);
      const uint16_t n = tds_u16(r);
      if (r->bad) break;
      s->left[0] = n;
      s->step = types ? COLUMNS : INFORMATION_TYPES;
    }
    break;
  case COLUMNS:
    s->left[1] = tds_u16(r);
    if (r->bad) break;
    s->left[0]--;
    s->step = PROPERTIES;
    break;
  default:
    tds_u16(r); /* label, information type */
    tds_u16(r);
    if (ranked) tds_u32(r);
    if (!r->bad) s->left[1]--;
    break;
  }
}

tds_status tds_parse_classification(tds_stream *s, tds_reader *r) {
  for (;;) {
    if (s->step == PROPERTIES && s->left[1] == 0) s->step = COLUMNS;
    if (s->step == COLUMNS && s->left[0] == 0) break;
    one(s, r);
    if (r->bad) return TDS_OK;
    s->resume = r->i;
  }
  s->token.as.bytes.p = r->p;
  s->token.as.bytes.n = r->i;
  return TDS_TOKEN;
}
