/*
** tds/utf16.c: UTF-16LE to UTF-8 and back. The contracts are in tds.h.
**
** Most text is ASCII: eight units at a time where there is SSE2, four where there are 64-bit words. What
** is not goes one character at a time, for some characters before the fast way is tried again.
*/
#include "tdsInt.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LITTLE_ENDIAN_WORDS 1
#else
#define LITTLE_ENDIAN_WORDS 0
#endif

#define REPLACEMENT 0xFFFDu
#define SLOW_RUN 16 /* units that are taken one by one before the fast way is tried again */

static int is_high(uint32_t unit) { return (unit & 0xFC00) == 0xD800; }
static int is_low(uint32_t unit) { return (unit & 0xFC00) == 0xDC00; }

/* The character at p, of which left units are there; how many of them it takes in *used. */
static uint32_t character_at(const uint8_t *p, size_t left, size_t *used) {
  const uint32_t unit = tds_get_u16(p);
  *used = 1;
  if ((unit & 0xF800) != 0xD800) return unit;
  if (is_high(unit) && left > 1) {
    const uint32_t low = tds_get_u16(p + 2);
    if (is_low(low)) {
      *used = 2;
      return 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
    }
  }
  return REPLACEMENT;
}

static char *put_character(char *out, uint32_t c) {
  if (c < 0x80) {
    *out++ = (char)c;
  } else if (c < 0x800) {
    *out++ = (char)(0xC0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *out++ = (char)(0xE0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  } else {
    *out++ = (char)(0xF0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3F));
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  }
  return out;
}

/* ASCII units from p on, written to out; how many. */
static size_t ascii_run(char *out, const uint8_t *p, size_t units) {
  size_t i = 0;
#if defined(__SSE2__)
  const __m128i beyond = _mm_set1_epi16((short)0xFF80), zero = _mm_setzero_si128();
  for (; units - i >= 8; i += 8) {
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 2 * i));
    if (_mm_movemask_epi8(_mm_cmpeq_epi16(_mm_and_si128(v, beyond), zero)) != 0xFFFF) break;
    _mm_storel_epi64((__m128i *)(void *)(out + i), _mm_packus_epi16(v, v));
  }
  /* The rest of it, along with some that were written already. */
  if (i > 0 && units - i < 8) {
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 2 * (units - 8)));
    if (_mm_movemask_epi8(_mm_cmpeq_epi16(_mm_and_si128(v, beyond), zero)) == 0xFFFF) {
      _mm_storel_epi64((__m128i *)(void *)(out + units - 8), _mm_packus_epi16(v, v));
      return units;
    }
  }
#endif
#if LITTLE_ENDIAN_WORDS
  for (; units - i >= 4; i += 4) {
    uint64_t w;
    memcpy(&w, p + 2 * i, sizeof w);
    if (w & UINT64_C(0xFF80FF80FF80FF80)) break;
    w = (w | w >> 8) & UINT64_C(0x0000FFFF0000FFFF);
    const uint32_t four = (uint32_t)(w | w >> 16);
    memcpy(out + i, &four, sizeof four);
  }
#endif
  for (; i < units && p[2 * i + 1] == 0 && p[2 * i] < 0x80; i++) out[i] = (char)p[2 * i];
  return i;
}

size_t tds_to_utf8(char *out, const uint8_t *p, size_t units) {
  char *o = out;
  size_t i = 0;
  while (i < units) {
    const size_t ascii = ascii_run(o, p + 2 * i, units - i);
    o += ascii;
    i += ascii;
    for (const size_t end = i + SLOW_RUN; i < units && i < end;) {
      size_t used;
      o = put_character(o, character_at(p + 2 * i, units - i, &used));
      i += used;
    }
  }
  return (size_t)(o - out);
}

size_t tds_utf8_size(const uint8_t *p, size_t units) {
  size_t n = 0, used;
  for (size_t i = 0; i < units; i += used) {
    const uint32_t c = character_at(p + 2 * i, units - i, &used);
    n += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  }
  return n;
}

/* ---- The other way ------------------------------------------------------------------------------ */

/* The character at p, of which n bytes are there, and how many of them it takes; REPLACEMENT and 1 where it is
** not well formed (Unicode 3.9, table 3-7). */
static uint32_t decode(const uint8_t *p, size_t n, size_t *used) {
  uint32_t c = p[0];
  size_t more;
  uint32_t least;
  *used = 1;
  if (c < 0x80) return c;
  if (c >= 0xC2 && c < 0xE0) {
    more = 1, least = 0x80, c &= 0x1F;
  } else if (c >= 0xE0 && c < 0xF0) {
    more = 2, least = 0x800, c &= 0x0F;
  } else if (c >= 0xF0 && c < 0xF5) {
    more = 3, least = 0x10000, c &= 0x07;
  } else {
    return REPLACEMENT;
  }
  if (n <= more) return REPLACEMENT;
  for (size_t i = 1; i <= more; i++) {
    if ((p[i] & 0xC0) != 0x80) return REPLACEMENT;
    c = c << 6 | (p[i] & 0x3F);
  }
  if (c < least || c > 0x10FFFF || (c & 0x1FF800) == 0xD800) return REPLACEMENT;
  *used = 1 + more;
  return c;
}

static uint8_t *put_unit(uint8_t *out, uint32_t unit) {
  out[0] = (uint8_t)unit;
  out[1] = (uint8_t)(unit >> 8);
  return out + 2;
}

size_t tds_from_utf8(uint8_t *out, const char *p, size_t n) {
  const uint8_t *from = (const uint8_t *)p;
  uint8_t *o = out;
  size_t i = 0, used;
  while (i < n) {
    for (; i < n && from[i] < 0x80; i++) o = put_unit(o, from[i]);
    if (i == n) break;
    const uint32_t c = decode(from + i, n - i, &used);
    i += used;
    if (c < 0x10000) {
      o = put_unit(o, c);
    } else {
      o = put_unit(o, 0xD800 + ((c - 0x10000) >> 10));
      o = put_unit(o, 0xDC00 + (c & 0x3FF));
    }
  }
  return (size_t)(o - out);
}

size_t tds_utf16_units(const char *p, size_t n) {
  const uint8_t *from = (const uint8_t *)p;
  size_t units = 0, used;
  for (size_t i = 0; i < n; i += used) units += decode(from + i, n - i, &used) < 0x10000 ? 1 : 2;
  return units;
}

int tds_is_ascii(const uint8_t *p, size_t n) {
  size_t i = 0;
  uint64_t seen = 0;
  for (; n - i >= 8; i += 8) {
    uint64_t w;
    memcpy(&w, p + i, sizeof w);
    seen |= w;
  }
  for (; i < n; i++) seen |= p[i];
  return (seen & UINT64_C(0x8080808080808080)) == 0;
}
