/*
** drivers/odbc_text.c: UTF-8 and the driver manager's wide characters: UTF-16, or UTF-32 with iODBC.
*/
#include <string.h>

#include "odbcInt.h"

#define REPLACEMENT 0xFFFDu

/* ---- To UTF-8 --------------------------------------------------------------------------------- */

static char *put(char *p, uint32_t code) {
  if (code < 0x80) {
    *p++ = (char)code;
  } else if (code < 0x800) {
    *p++ = (char)(0xC0 | code >> 6);
    *p++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *p++ = (char)(0xE0 | code >> 12);
    *p++ = (char)(0x80 | (code >> 6 & 0x3F));
    *p++ = (char)(0x80 | (code & 0x3F));
  } else {
    *p++ = (char)(0xF0 | code >> 18);
    *p++ = (char)(0x80 | (code >> 12 & 0x3F));
    *p++ = (char)(0x80 | (code >> 6 & 0x3F));
    *p++ = (char)(0x80 | (code & 0x3F));
  }
  return p;
}

static uint16_t unit16(const char *wide, size_t i) {
  uint16_t u;
  memcpy(&u, wide + 2 * i, 2);
  return u;
}

/* Four units at a time, as long as they are ASCII. Answers how many it took. */
static size_t ascii_run(const char *wide, size_t units, char *out) {
  size_t i = 0;
  for (; i + 4 <= units; i += 4) {
    uint64_t four;
    memcpy(&four, wide + 2 * i, 8);
    if (four & UINT64_C(0xFF80FF80FF80FF80)) break;
    four = (four | four >> 8) & UINT64_C(0x0000FFFF0000FFFF);
    const uint32_t bytes = (uint32_t)(four | four >> 16);
    memcpy(out + i, &bytes, 4);
  }
  return i;
}

static char *from_utf16(const char *wide, size_t units, char *p) {
  size_t i = ascii_run(wide, units, p);
  p += i;
  while (i < units) {
    uint32_t code = unit16(wide, i++);
    if (code >= 0xD800 && code < 0xDC00 && i < units) {
      const uint16_t low = unit16(wide, i);
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00u);
        i++;
      }
    }
    if (code >= 0xD800 && code < 0xE000) code = REPLACEMENT;
    p = put(p, code);
  }
  return p;
}

static char *from_utf32(const char *wide, size_t units, char *p) {
  for (size_t i = 0; i < units; i++) {
    uint32_t code;
    memcpy(&code, wide + 4 * i, 4);
    p = put(p, code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? REPLACEMENT : code);
  }
  return p;
}

void od_text_add(edb_buffer *out, const void *wide, size_t units) {
  /* A unit of UTF-16 is three bytes at most, one of UTF-32 is four. */
  char *p = edb_buffer_room(out, units * (size_t)(od_wide == 2 ? 3 : 4));
  if (!p) return;
  char *end = od_wide == 2 ? from_utf16(wide, units, p) : from_utf32(wide, units, p);
  out->n += (size_t)(end - p);
  out->p[out->n] = 0;
}

size_t od_wide_length(const void *wide, size_t n) {
  const char *p = wide;
  static const char nul[4] = {0};
  size_t i = 0;
  while (i < n && memcmp(p + i * (size_t)od_wide, nul, (size_t)od_wide) != 0) i++;
  return i;
}

/* ---- From UTF-8 -------------------------------------------------------------------------------- */

/* The character at p, of at most n bytes; *used: its bytes, 1 where it is none. */
static uint32_t take(const unsigned char *p, size_t n, size_t *used) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned c = p[0];
  const size_t size = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
  *used = 1;
  if (size == 1) return c;
  if (size == 0 || size > n) return REPLACEMENT;
  uint32_t code = c & (0x7Fu >> size);
  for (size_t i = 1; i < size; i++) {
    if ((p[i] & 0xC0) != 0x80) return REPLACEMENT;
    code = code << 6 | (p[i] & 0x3F);
  }
  if (code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    return REPLACEMENT;
  }
  *used = size;
  return code;
}

static char *put16(char *out, uint32_t code) {
  uint16_t units[2] = {(uint16_t)code, 0};
  size_t n = 1;
  if (code >= 0x10000) {
    units[0] = (uint16_t)(0xD800 + ((code - 0x10000) >> 10));
    units[1] = (uint16_t)(0xDC00 + (code & 0x3FF));
    n = 2;
  }
  memcpy(out, units, 2 * n);
  return out + 2 * n;
}

SQLINTEGER od_wide_make(edb_buffer *out, const char *text, size_t n) {
  const unsigned char *p = (const unsigned char *)text;
  const size_t wide = (size_t)od_wide;
  out->n = 0;
  /* A byte makes one unit at most. */
  char *q = n < INT32_MAX / 4 ? edb_buffer_room(out, (n + 1) * wide) : NULL;
  if (!q) return -1;
  char *const from = q;
  for (size_t i = 0, used; i < n; i += used) {
    const uint32_t code = take(p + i, n - i, &used);
    if (wide == 2) {
      q = put16(q, code);
    } else {
      memcpy(q, &code, 4);
      q += 4;
    }
  }
  memset(q, 0, wide);
  out->n = (size_t)(q - from);
  return (SQLINTEGER)(out->n / wide);
}
