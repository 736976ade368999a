/*
** tds/prelogin.c: PRELOGIN ([MS-TDS] 2.2.6.5). The contracts are in tds.h.
*/
#include "tdsInt.h"

enum option {
  VERSION = 0,
  ENCRYPTION = 1,
  INSTANCE = 2,
  THREAD = 3,
  MARS = 4,
  FEDAUTH_REQUIRED = 6,
  TERMINATOR = 0xFF
};
#define OPTION 5 /* bytes of an option: token, offset BE, length BE */

static void put_be16(tds_message *m, size_t v) {
  const uint8_t b[2] = {(uint8_t)(v >> 8), (uint8_t)v};
  tds_put(m, b, 2);
}

void tds_prelogin_write(tds_message *m, const tds_prelogin *prelogin) {
  const struct {
    uint8_t option;
    uint8_t length;
  } options[] = {
      {VERSION, 6},
      {ENCRYPTION, 1},
      {INSTANCE, (uint8_t)(strnlen(prelogin->instance, sizeof prelogin->instance - 1) + 1)},
      {THREAD, 4},
      {MARS, 1}};
  const size_t n = sizeof options / sizeof options[0];
  size_t offset = n * OPTION + 1;
  for (size_t i = 0; i < n; i++) {
    tds_put_u8(m, options[i].option);
    put_be16(m, offset);
    put_be16(m, options[i].length);
    offset += options[i].length;
  }
  tds_put_u8(m, TERMINATOR);

  tds_put(m, prelogin->version, 4);
  put_be16(m, prelogin->subbuild);
  tds_put_u8(m, prelogin->encryption);
  tds_put(m, prelogin->instance, options[INSTANCE].length - 1u);
  tds_put_u8(m, 0);
  tds_put_u32(m, prelogin->thread_id);
  tds_put_u8(m, prelogin->mars);
}

static tds_status refuse(tds_fault *fault, const char *what, const uint8_t *p, size_t n,
                         size_t offset) {
  *fault = (tds_fault){.what = what, .offset = offset, .byte = offset < n ? p[offset] : 0};
  return TDS_MALFORMED;
}

tds_status tds_prelogin_read(const uint8_t *p, size_t n, tds_prelogin *prelogin, tds_fault *fault) {
  unsigned seen = 0;
  size_t i;
  *prelogin = (tds_prelogin){0};
  *fault = (tds_fault){0};
  for (i = 0; i < n && p[i] != TERMINATOR; i += OPTION) {
    if (n - i < OPTION) return refuse(fault, "a PRELOGIN option that is cut off", p, n, i);
    const size_t offset = (size_t)p[i + 1] << 8 | p[i + 2];
    const size_t length = (size_t)p[i + 3] << 8 | p[i + 4];
    if (offset > n || length > n - offset) {
      return refuse(fault, "a PRELOGIN option beyond the message's end", p, n, i);
    }
    const uint8_t *data = p + offset;
    if (p[i] < 32) seen |= 1u << p[i];
    switch (p[i]) {
    case VERSION:
      if (length != 6) return refuse(fault, "a PRELOGIN version that is not 6 bytes", p, n, i);
      memcpy(prelogin->version, data, 4);
      prelogin->subbuild = (uint16_t)(data[4] << 8 | data[5]);
      break;
    case ENCRYPTION:
      if (length != 1) return refuse(fault, "a PRELOGIN encryption that is not 1 byte", p, n, i);
      prelogin->encryption = data[0];
      break;
    case INSTANCE:
      prelogin->instance_wrong = length > 0 && data[0] == 1;
      break;
    case MARS:
      prelogin->mars = length > 0 ? data[0] : 0;
      break;
    case FEDAUTH_REQUIRED:
      prelogin->fedauth = length > 0 ? data[0] : 0;
      break;
    default:
      break;
    }
  }
  if (i >= n) return refuse(fault, "PRELOGIN options without an end", p, n, n);
  if (!(seen & 1u << VERSION) || !(seen & 1u << ENCRYPTION)) {
    return refuse(fault, "a PRELOGIN reply without version or encryption", p, n, i);
  }
  return TDS_OK;
}
