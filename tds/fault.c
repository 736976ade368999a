/*
** tds/fault.c: what was wrong, and its text. The contracts are in tds.h and tdsInt.h.
*/
#include "tdsInt.h"

#include <inttypes.h>
#include <stdio.h>

size_t tds_fault_text(const tds_fault *fault, char *out, size_t size) {
  char detail[24] = "", token[24] = "";
  if (fault->detail) snprintf(detail, sizeof detail, " %d", fault->detail);
  if (fault->token) snprintf(token, sizeof token, "token 0x%02X, ", fault->token);
  const int n =
      snprintf(out, size, "%s%s (%sbyte 0x%02X at offset %" PRIu64 ")",
               fault->what ? fault->what : "no fault", detail, token, fault->byte, fault->offset);
  return n < 0 ? 0 : (size_t)n;
}

tds_status tds_refuse(tds_stream *s, tds_status status, const char *what, int detail) {
  if (s->fault.what) return s->failed;
  s->fault.what = what;
  s->fault.detail = detail;
  s->failed = status;
  return status;
}

void tds_locate(tds_stream *s, uint8_t token, uint64_t offset, uint8_t byte) {
  if (!s->fault.what || s->fault.token) return;
  s->fault.token = token;
  s->fault.offset = offset;
  s->fault.byte = byte;
}
