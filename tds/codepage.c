/*
** tds/codepage.c: which decoder reads a code page, and multi-byte pages through the C library's iconv. The
** contracts are in tds.h and tdsInt.h.
**
** Differences from Windows that are known: a byte without a character above 9F is U+FFFD (Windows has private
** characters for some).
*/
#include "tdsInt.h"

#if defined(__has_include)
#if __has_include(<iconv.h>)
#include <iconv.h>
#define HAVE_ICONV 1
#endif
#endif
#ifndef HAVE_ICONV
#define HAVE_ICONV 0
#endif

#define UTF8_PAGE 65001

static const uint16_t multi_byte[4] = {932, 936, 949, 950};

static int multi_byte_index(uint16_t page) {
  for (int i = 0; i < 4; i++) {
    if (multi_byte[i] == page) return i;
  }
  return -1;
}

static const uint16_t *single_byte(uint16_t page) {
  for (size_t i = 0; i < tds_pages_count; i++) {
    if (tds_pages[i].page == page) return tds_pages[i].high;
  }
  return NULL;
}

void tds_choose_text(tds_type_info *t) {
  t->code_page = tds_code_page(t->collation, t->sort_id);
  t->high = single_byte(t->code_page);
  t->decode = t->code_page == UTF8_PAGE             ? tds_decode_utf8
              : t->high                             ? tds_decode_single_byte
              : multi_byte_index(t->code_page) >= 0 ? tds_decode_multi_byte
                                                    : tds_decode_no_page;
}

#if HAVE_ICONV

static iconv_t open_page(int index) {
  static const char *const names[4] = {"CP932", "CP936", "CP949", "CP950"};
  return iconv_open("UTF-8", names[index]);
}

int tds_code_page_known(uint16_t page) {
  const int index = multi_byte_index(page);
  if (index < 0) return page == UTF8_PAGE || single_byte(page) != NULL;
  const iconv_t converter = open_page(index);
  if (converter == (iconv_t)-1) return 0;
  iconv_close(converter);
  return 1;
}

/* What iconv refuses: a euro sign that Windows added to 936, else U+FFFD. */
static char *put_refused(char *out, uint16_t page, uint8_t byte) {
  memcpy(out, page == 936 && byte == 0x80 ? "\xe2\x82\xac" : "\xef\xbf\xbd", 3);
  return out + 3;
}

tds_status tds_convert_multi_byte(tds_stream *s, uint16_t page, const uint8_t *p, size_t n,
                                  char *out, size_t size, size_t *written) {
  const int index = multi_byte_index(page);
  if (!(s->converters & 1u << index)) {
    s->converter[index] = open_page(index);
    if (s->converter[index] == (iconv_t)-1) return TDS_UNSUPPORTED;
    s->converters |= (uint8_t)(1u << index);
  }
  char *in, *o = out;
  size_t left = size;
  memcpy(&in, &p, sizeof in); /* iconv's input is char **, though it only reads */
  iconv(s->converter[index], NULL, NULL, NULL, NULL);
  while (n > 0) {
    if (iconv(s->converter[index], &in, &n, &o, &left) != (size_t)-1) break;
    if (n == 0 || left < 3) break;
    o = put_refused(o, page, (uint8_t)*in);
    left -= 3;
    in++;
    n--;
  }
  *written = (size_t)(o - out);
  return TDS_OK;
}

void tds_converters_close(tds_stream *s) {
  for (int i = 0; i < 4; i++) {
    if (s->converters & 1u << i) iconv_close(s->converter[i]);
  }
  s->converters = 0;
}

#else

int tds_code_page_known(uint16_t page) { return page == UTF8_PAGE || single_byte(page) != NULL; }

tds_status tds_convert_multi_byte(tds_stream *s, uint16_t page, const uint8_t *p, size_t n,
                                  char *out, size_t size, size_t *written) {
  (void)s, (void)page, (void)p, (void)n, (void)out, (void)size, (void)written;
  return TDS_UNSUPPORTED;
}

void tds_converters_close(tds_stream *s) { (void)s; }

#endif
