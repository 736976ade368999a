/*
** tds/token_done.c: DONE, DONEPROC, DONEINPROC, RETURNSTATUS ([MS-TDS] 2.2.7.6 – .8, .17).
*/
#include "tdsInt.h"

tds_status tds_parse_done(tds_stream *s, tds_reader *r) {
  tds_token *t = &s->token;
  t->as.done.status = tds_u16(r);
  t->as.done.command = tds_u16(r);
  t->as.done.count = tds_u64(r);
  if (!(t->as.done.status & TDS_DONE_COUNT)) t->as.done.count = 0;
  const int changed =
      (t->as.done.status & TDS_DONE_COUNT) && t->as.done.command != TDS_COMMAND_SELECT;
  t->as.done.affected = changed && t->as.done.count <= INT64_MAX ? (int64_t)t->as.done.count : -1;
  return TDS_TOKEN;
}

/* Four bytes, without a length before them. */
tds_status tds_parse_return_status(tds_stream *s, tds_reader *r) {
  s->token.as.return_status = (int32_t)tds_u32(r);
  return TDS_TOKEN;
}
