/*
** tds_prelogin.c: PRELOGIN's reply. The first byte chooses between that and packets in pieces.
*/
#include <stdlib.h>
#include <string.h>

#include "tds/tds.h"

static void prelogin(const uint8_t *p, size_t n) {
  tds_prelogin out;
  tds_fault fault;
  const tds_status status = tds_prelogin_read(p, n, &out, &fault);
  if ((status == TDS_OK) != (fault.what == NULL) || fault.offset > n) abort();
}

/* The payload is the same in one piece and in two. */
static size_t payload(const uint8_t *p, size_t n, size_t cut, uint8_t *out, int *ends) {
  tds_packets k = {{0}, 0, 0};
  size_t got = 0;
  *ends = 0;
  for (int half = 0; half < 2; half++) {
    const uint8_t *at = half ? p + cut : p;
    size_t left = half ? n - cut : cut;
    tds_chunk chunk;
    tds_status status;
    while ((status = tds_packets_next(&k, &at, &left, &chunk)) == TDS_OK) {
      if (chunk.n) memcpy(out + got, chunk.p, chunk.n);
      got += chunk.n;
      *ends += chunk.last;
    }
    if (status == TDS_MALFORMED) break;
    if (left != 0) abort();
  }
  return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 32000) return 0;
  if (data[0] & 1) {
    prelogin(data + 1, size - 1);
    return 0;
  }
  uint8_t *a = malloc(size), *b = malloc(size);
  int ends_a, ends_b;
  if (!a || !b) abort();
  const size_t n = payload(data + 1, size - 1, 0, a, &ends_a);
  const size_t m = payload(data + 1, size - 1, data[0] < size - 1 ? data[0] : size - 1, b, &ends_b);
  if (n != m || ends_a != ends_b || memcmp(a, b, n) != 0) abort();
  free(a);
  free(b);
  return 0;
}
