/*
** tds/packet_in.c: incoming packets ([MS-TDS] 2.2.3.1): their payload, in the pieces in which it arrives. The
** contracts are in tds.h.
*/
#include "tdsInt.h"

enum { TYPE = 0, STATUS = 1, LENGTH = 2 }; /* of the header's bytes */

static tds_status read_header(tds_packets *k, const uint8_t **p, size_t *n) {
  size_t take = (size_t)(TDS_HEADER - k->have);
  if (*n == 0) return TDS_MORE;
  if (take > *n) take = *n;
  memcpy(k->header + k->have, *p, take);
  k->have = (uint8_t)(k->have + take);
  *p += take;
  *n -= take;
  if (k->have < TDS_HEADER) return TDS_MORE;

  const uint32_t length = (uint32_t)k->header[LENGTH] << 8 | k->header[LENGTH + 1];
  if (length < TDS_HEADER || length > TDS_PACKET_MAX) return TDS_MALFORMED;
  k->left = length - TDS_HEADER;
  return TDS_OK;
}

tds_status tds_packets_next(tds_packets *k, const uint8_t **p, size_t *n, tds_chunk *chunk) {
  for (;;) {
    if (k->have < TDS_HEADER) {
      const tds_status status = read_header(k, p, n);
      if (status != TDS_OK) return status;
    } else if (*n == 0) {
      return TDS_MORE;
    }
    const size_t take = k->left < *n ? k->left : *n; /* 0 of an empty packet */
    k->left -= (uint32_t)take;
    const int whole = k->left == 0;
    *chunk = (tds_chunk){*p, take, k->header[TYPE], whole && (k->header[STATUS] & TDS_EOM)};
    *p += take;
    *n -= take;
    if (whole) k->have = 0;
    if (take > 0 || chunk->last) return TDS_OK;
  }
}
