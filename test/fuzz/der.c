/*
** der.c: the reader of DER. The input is a program and what it reads: as many bytes of operations
** as the first byte says, then DER.
*/
#include <stdlib.h>

#include "tls/x509Int.h"

/* What a reader answers lies within what it reads, and it never goes back. */
static void check(const tls_der *in, tls_bytes got, size_t before) {
  if (in->i > in->n || in->i < before) abort();
  if (got.n > 0 && (got.p < in->p || got.p + got.n > in->p + in->i)) abort();
  if (in->bad && got.n > 0) abort();
}

static void run(tls_der *in, uint8_t operation, int depth) {
  static const int tags[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x17,
                             0x18, 0x30, 0x31, 0x80, 0x82, 0xa0, 0xa3, 0xa4};
  const int tag = operation & 8 ? tls_der_peek(in) : tags[operation >> 4];
  const size_t before = in->i;
  const int was_bad = in->bad;
  tls_bytes got = {NULL, 0};
  switch (operation & 7) {
  case 0:
    got = tls_der_take(in, tag);
    break;
  case 1:
    got = tls_der_whole(in, tag);
    break;
  case 2:
    got = tls_der_optional(in, tag);
    break;
  case 3:
    got = tag == TLS_DER_INTEGER ? tls_der_integer(in) : tls_der_unsigned(in);
    break;
  case 4:
    if (tls_der_small(in) > 0x7fffffff) abort();
    break;
  case 5:
    got = tls_der_bits(in);
    break;
  case 6:
    if (operation & 16)
      tls_der_named_bits(in, NULL);
    else
      tls_der_boolean(in, operation & 32);
    break;
  default: {
    tls_der inner = tls_der_enter(in, tag);
    if (inner.bad != in->bad) abort();
    if (depth < 8) run(&inner, (uint8_t)(operation * 5 + 1), depth + 1);
    if (!inner.bad) tls_der_time(&inner, NULL);
    break;
  }
  }
  check(in, got, before);
  if (was_bad && !in->bad) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size - 1 < data[0]) return 0;
  const size_t operations = data[0];
  tls_der in = tls_der_of(tls_bytes_of(data + 1 + operations, size - 1 - operations));
  for (size_t i = 0; i < operations; i++) run(&in, data[1 + i], 0);
  /* Whatever is whole, a second reading agrees with. */
  tls_der a = tls_der_of(tls_bytes_of(in.p, in.n)), b = a;
  while (tls_der_more(&a)) {
    int tag;
    const int next = tls_der_peek(&b);
    const tls_bytes content = tls_der_any(&a, &tag), whole = tls_der_whole(&b, next);
    if (a.bad != b.bad || (!a.bad && (whole.p + whole.n != content.p + content.n || tag != next)))
      abort();
  }
  return 0;
}
