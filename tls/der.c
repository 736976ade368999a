/*
** der.c: a reader of DER (X.690 10 and 11), strict: one encoding for each value, and no other is
** read.
*/
#include "x509Int.h"

static const tls_bytes nothing = {NULL, 0};

static tls_bytes fail(tls_der *in) {
  in->bad = 1;
  return nothing;
}

int tls_der_peek(const tls_der *in) { return tls_der_more(in) ? in->p[in->i] : -1; }

/* The next element, of any tag: its content, and in *whole itself. */
static tls_bytes element(tls_der *in, int *tag, tls_bytes *whole) {
  *whole = nothing;
  *tag = -1;
  if (in->bad || in->n - in->i < 2) return fail(in);
  const uint8_t *p = in->p + in->i, *start = p;
  size_t left = in->n - in->i - 2, size = p[1];
  const int found = p[0];
  p += 2;
  if ((found & 0x1f) == 0x1f) return fail(in); /* tags of several bytes: certificates have none */
  if (size >= 0x80) {
    /* 0x80 is the indefinite form. Four bytes of length are more than anything here may have. */
    size_t bytes = size & 0x7f;
    if (bytes == 0 || bytes > 4 || bytes > left || *p == 0) return fail(in);
    left -= bytes;
    for (size = 0; bytes > 0; bytes--) size = size << 8 | *p++;
    if (size < 0x80) return fail(in);
  }
  if (size > left) return fail(in);
  *tag = found;
  *whole = tls_bytes_of(start, (size_t)(p - start) + size);
  in->i += whole->n;
  return tls_bytes_of(p, size);
}

tls_bytes tls_der_any(tls_der *in, int *tag) {
  tls_bytes whole;
  return element(in, tag, &whole);
}

tls_bytes tls_der_take(tls_der *in, int tag) {
  int found;
  const tls_bytes content = tls_der_any(in, &found);
  return found == tag ? content : fail(in);
}

tls_bytes tls_der_whole(tls_der *in, int tag) {
  int found;
  tls_bytes whole;
  element(in, &found, &whole);
  return found == tag ? whole : fail(in);
}

tls_bytes tls_der_optional(tls_der *in, int tag) {
  return tls_der_peek(in) == tag ? tls_der_take(in, tag) : nothing;
}

tls_der tls_der_enter(tls_der *in, int tag) {
  tls_der inner = tls_der_of(tls_der_take(in, tag));
  inner.bad = in->bad;
  return inner;
}

int tls_der_boolean(tls_der *in, int optional) {
  if (optional && tls_der_peek(in) != TLS_DER_BOOLEAN) return 0;
  const tls_bytes value = tls_der_take(in, TLS_DER_BOOLEAN);
  if (value.n != 1 || (value.p[0] != 0 && value.p[0] != 0xff)) fail(in);
  return !in->bad && value.p[0] != 0;
}

tls_bytes tls_der_integer(tls_der *in) {
  const tls_bytes value = tls_der_take(in, TLS_DER_INTEGER);
  if (value.n == 0) return fail(in);
  /* 8.3.2: the first nine bits are not all alike. */
  if (value.n > 1 &&
      ((value.p[0] == 0 && value.p[1] < 0x80) || (value.p[0] == 0xff && value.p[1] >= 0x80)))
    return fail(in);
  return value;
}

tls_bytes tls_der_unsigned(tls_der *in) {
  tls_bytes value = tls_der_integer(in);
  if (in->bad || value.p[0] >= 0x80) return fail(in);
  if (value.p[0] == 0 && value.n > 1) value.p++, value.n--;
  return value;
}

uint32_t tls_der_small(tls_der *in) {
  const tls_bytes value = tls_der_unsigned(in);
  uint32_t number = 0;
  if (value.n > 4 || (value.n == 4 && value.p[0] >= 0x80)) {
    fail(in);
    return 0;
  }
  for (size_t i = 0; i < value.n; i++) number = number << 8 | value.p[i];
  return number;
}

tls_bytes tls_der_bits(tls_der *in) {
  const tls_bytes value = tls_der_take(in, TLS_DER_BIT_STRING);
  if (value.n == 0 || value.p[0] != 0) return fail(in);
  return tls_bytes_of(value.p + 1, value.n - 1);
}

unsigned tls_der_named_bits(tls_der *in, int *loose) {
  const tls_bytes value = tls_der_take(in, TLS_DER_BIT_STRING);
  unsigned bits = 0;
  if (value.n == 0 || value.n > 3 || value.p[0] > 7 || (value.n == 1 && value.p[0] != 0)) {
    fail(in);
    return 0;
  }
  const size_t used = 8 * (value.n - 1) - value.p[0];
  for (size_t i = 0; i < 8 * (value.n - 1); i++) {
    if (value.p[1 + i / 8] >> (7 - i % 8) & 1) bits |= 1U << i;
  }
  if (used > 0 && !(bits >> (used - 1) & 1)) loose ? (void)(*loose = 1) : (void)fail(in);
  if (bits >> used) fail(in); /* 11.2.1 */
  return in->bad ? 0 : bits;
}
