/*
** Decimals of up to 38 digits.
*/
#include "tdsd.h"

#include <ctype.h>
#include <string.h>

static U128 power(int n) {
  U128 p = 1;
  while (n-- > 0) p *= 10;
  return p;
}

bool decimal_fits(const Decimal *d, int precision) { return d->magnitude < power(precision); }

int decimal_digits(const Decimal *d) {
  int n = 1;
  while (n < 38 && d->magnitude >= power(n)) n++;
  return n;
}

/* An exponent, as in 1e-3, is read too.  Digits past the 38th after the point are cut. */
bool decimal_parse(const char *text, size_t n, Decimal *d) {
  const char *p = text, *end = text + n;
  bool point = false, any = false;
  *d = (Decimal){0};
  while (p < end && *p == ' ') p++;
  while (end > p && end[-1] == ' ') end--;
  if (p < end && (*p == '-' || *p == '+')) d->negative = *p++ == '-';
  if (p < end && *p == '$') p++;
  for (; p < end && (isdigit((unsigned char)*p) || *p == '.'); p++) {
    if (*p == '.') {
      if (point) return false;
      point = true;
      continue;
    }
    any = true;
    if (!decimal_fits(d, 37)) {
      if (!point) return false;
      continue;
    }
    d->magnitude = d->magnitude * 10 + (unsigned)(*p - '0');
    d->scale += point;
  }
  if (!any) return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    int exponent = 0;
    bool down = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    while (p < end && isdigit((unsigned char)*p) && exponent < 400)
      exponent = exponent * 10 + (*p++ - '0');
    d->scale += down ? exponent : -exponent;
    while (d->scale < 0 && decimal_fits(d, 37)) {
      d->magnitude *= 10;
      d->scale++;
    }
    while (d->scale > 38) {
      d->magnitude /= 10;
      d->scale--;
    }
  }
  return p == end && d->scale >= 0;
}

bool decimal_rescale(Decimal *d, int scale) {
  while (d->scale > scale) {
    int step = d->scale - scale > 30 ? 30 : d->scale - scale;
    U128 unit = power(step), rest = d->magnitude % unit;
    d->magnitude /= unit;
    d->scale -= step;
    if (d->scale == scale && rest >= unit / 2) d->magnitude++;
  }
  while (d->scale < scale) {
    if (!decimal_fits(d, 37)) return false;
    d->magnitude *= 10;
    d->scale++;
  }
  return true;
}

void decimal_print(const Decimal *d, char out[64]) {
  char digits[48];
  int n = 0;
  U128 rest = d->magnitude;
  while (rest > 0 || n <= d->scale) {
    digits[n++] = (char)('0' + (int)(rest % 10));
    rest /= 10;
  }
  char *to = out;
  if (d->negative && d->magnitude != 0) *to++ = '-';
  while (n > 0) {
    *to++ = digits[--n];
    if (n == d->scale && n > 0) *to++ = '.';
  }
  *to = 0;
}

int decimal_compare(const Decimal *a, const Decimal *b) {
  Decimal x = *a, y = *b;
  if (x.magnitude == 0) x.negative = false;
  if (y.magnitude == 0) y.negative = false;
  if (x.negative != y.negative) return x.negative ? -1 : 1;
  int result = 0;
  /* Widening that overflows means that side is the larger one. */
  if (x.scale < y.scale && !decimal_rescale(&x, y.scale)) {
    result = 1;
  } else if (y.scale < x.scale && !decimal_rescale(&y, x.scale)) {
    result = -1;
  } else {
    result = x.magnitude < y.magnitude ? -1 : x.magnitude > y.magnitude;
  }
  return x.negative ? -result : result;
}
