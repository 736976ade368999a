/*
** Bytes: growing buffers, a sticky reader, UTF-8 and UTF-16.
*/
#include "tdsd.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p) {
  if (p == NULL) {
    fputs("tdsd: out of memory\n", stderr);
    abort();
  }
  return p;
}

void *xmalloc(size_t n) { return or_die(calloc(1, n ? n : 1)); }

char *xstrndup(const char *text, size_t n) {
  char *copy = xmalloc(n + 1);
  if (n > 0) memcpy(copy, text, n);
  return copy;
}

char *xstrdup(const char *text) { return xstrndup(text, strlen(text)); }

uint8_t *buf_more(Buf *b, size_t n) {
  if (b->n + n > b->room || b->p == NULL) {
    size_t room = b->room < 256 ? 256 : b->room;
    while (room < b->n + n) room *= 2;
    b->p = or_die(realloc(b->p, room));
    b->room = room;
  }
  b->n += n;
  return b->p + b->n - n;
}

void buf_add(Buf *b, const void *p, size_t n) {
  uint8_t *to = buf_more(b, n);
  if (n > 0) memcpy(to, p, n);
}

void buf_insert(Buf *b, size_t at, const char *text) {
  size_t n = strlen(text), tail = b->n - at;
  buf_more(b, n);
  memmove(b->p + at + n, b->p + at, tail);
  memcpy(b->p + at, text, n);
}

void buf_cut(Buf *b, size_t n) {
  b->n -= n;
  if (b->n > 0) memmove(b->p, b->p + n, b->n);
}

void buf_int(Buf *b, uint64_t v, int bytes) {
  uint8_t *p = buf_more(b, (size_t)bytes);
  for (int i = 0; i < bytes; i++) p[i] = (uint8_t)(v >> (8 * i));
}

void buf_u8(Buf *b, unsigned v) { *buf_more(b, 1) = (uint8_t)v; }
void buf_u16(Buf *b, unsigned v) { buf_int(b, v, 2); }
void buf_u32(Buf *b, uint32_t v) { buf_int(b, v, 4); }
void buf_u64(Buf *b, uint64_t v) { buf_int(b, v, 8); }

void buf_u16_be(Buf *b, unsigned v) {
  buf_u8(b, v >> 8);
  buf_u8(b, v);
}

void put_u16(uint8_t *p, unsigned v) {
  p[0] = (uint8_t)v;
  p[1] = (uint8_t)(v >> 8);
}

void put_u32(uint8_t *p, uint32_t v) {
  put_u16(p, v & 0xFFFF);
  put_u16(p + 2, v >> 16);
}

void buf_text(Buf *b, const char *text) { buf_add(b, text, strlen(text)); }

void buf_printf(Buf *b, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(NULL, 0, format, list);
  va_end(list);
  if (n < 0) abort();
  char *to = (char *)buf_more(b, (size_t)n + 1);
  va_start(list, format);
  vsnprintf(to, (size_t)n + 1, format, list);
  va_end(list);
  b->n--;
}

char *buf_string(Buf *b) {
  *buf_more(b, 1) = 0;
  b->n--;
  return (char *)b->p;
}

void buf_free(Buf *b) {
  free(b->p);
  *b = (Buf){0};
}

/* Text -------------------------------------------------------------------------------------------*/

/* The code point at *i; a byte that is no UTF-8 counts as U+FFFD.  Surrogates are let through. */
static uint32_t next_code(const uint8_t *p, size_t n, size_t *i) {
  uint32_t c = p[(*i)++];
  if (c < 0x80) return c;
  int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC2 ? 1 : -1;
  if (more < 0 || *i + (size_t)more > n) return 0xFFFD;
  c &= 0x3Fu >> more;
  for (int k = 0; k < more; k++) {
    if ((p[*i + (size_t)k] & 0xC0) != 0x80) return 0xFFFD;
    c = c << 6 | (p[*i + (size_t)k] & 0x3Fu);
  }
  *i += (size_t)more;
  return c;
}

void utf8_to_utf16(Buf *out, const char *text, size_t n) {
  const uint8_t *p = (const uint8_t *)text;
  for (size_t i = 0; i < n;) {
    uint32_t c = next_code(p, n, &i);
    if (c >= 0x10000) {
      buf_u16(out, 0xD800 + ((c - 0x10000) >> 10));
      c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    buf_u16(out, c);
  }
}

static void add_code(Buf *out, uint32_t c) {
  if (c < 0x80) {
    buf_u8(out, c);
  } else if (c < 0x800) {
    buf_u8(out, 0xC0 | c >> 6);
    buf_u8(out, 0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    buf_u8(out, 0xE0 | c >> 12);
    buf_u8(out, 0x80 | (c >> 6 & 0x3F));
    buf_u8(out, 0x80 | (c & 0x3F));
  } else {
    buf_u8(out, 0xF0 | c >> 18);
    buf_u8(out, 0x80 | (c >> 12 & 0x3F));
    buf_u8(out, 0x80 | (c >> 6 & 0x3F));
    buf_u8(out, 0x80 | (c & 0x3F));
  }
}

static uint32_t unit(const uint8_t *p) { return (uint32_t)(p[0] | p[1] << 8); }

void utf16_to_utf8(Buf *out, const uint8_t *p, size_t bytes) {
  for (size_t i = 0; i + 1 < bytes; i += 2) {
    uint32_t c = unit(p + i);
    if (c >= 0xD800 && c < 0xDC00 && i + 3 < bytes) {
      uint32_t low = unit(p + i + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        i += 2;
      }
    }
    add_code(out, c);
  }
}

void buf_b_varchar(Buf *b, const char *text) {
  size_t at = b->n;
  buf_u8(b, 0);
  utf8_to_utf16(b, text, strlen(text));
  b->p[at] = (uint8_t)((b->n - at - 1) / 2);
}

void buf_us_varchar(Buf *b, const char *text) {
  size_t at = b->n;
  buf_u16(b, 0);
  utf8_to_utf16(b, text, strlen(text));
  put_u16(b->p + at, (unsigned)((b->n - at - 2) / 2));
}

/* Reading ----------------------------------------------------------------------------------------*/

const uint8_t *rd_bytes(Rd *r, size_t n) {
  if (r->bad || n > r->n - r->i) {
    r->bad = true;
    return NULL;
  }
  r->i += n;
  return r->p + r->i - n;
}

uint64_t rd_int(Rd *r, int bytes) {
  const uint8_t *p = rd_bytes(r, (size_t)bytes);
  uint64_t v = 0;
  if (p == NULL) return 0;
  for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
  return v;
}

unsigned rd_u8(Rd *r) { return (unsigned)rd_int(r, 1); }
unsigned rd_u16(Rd *r) { return (unsigned)rd_int(r, 2); }
uint32_t rd_u32(Rd *r) { return (uint32_t)rd_int(r, 4); }
uint64_t rd_u64(Rd *r) { return rd_int(r, 8); }

char *rd_text(Rd *r, size_t count) {
  Buf b = {0};
  const uint8_t *p = count > r->n ? NULL : rd_bytes(r, count * 2);
  if (p == NULL) {
    r->bad = true;
  } else {
    utf16_to_utf8(&b, p, count * 2);
  }
  return buf_string(&b);
}
