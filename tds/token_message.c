/*
** tds/token_message.c: ERROR and INFO ([MS-TDS] 2.2.7.10, .13).
*/
#include "tdsInt.h"

tds_status tds_parse_message(tds_stream *s, tds_reader *r) {
  tds_token *t = &s->token;
  t->as.message.number = (int32_t)tds_u32(r);
  t->as.message.state = tds_u8(r);
  t->as.message.severity = tds_u8(r);
  t->as.message.text = tds_us_varchar(r);
  t->as.message.server = tds_b_varchar(r);
  t->as.message.procedure = tds_b_varchar(r);
  t->as.message.line = (int32_t)tds_u32(r);
  if (!r->bad && r->i != r->n)
    return tds_refuse(s, TDS_MALFORMED, "a message longer than its fields", 0);
  return TDS_TOKEN;
}
