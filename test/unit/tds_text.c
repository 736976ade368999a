/*
** UTF-16LE to UTF-8 and back: every character, lone surrogates, every alignment and length of ASCII runs.
*/
#include "primitives.h"

#include "tds/tds.h"

static void to(const char *units, const char *text) {
  const bytes in = hex(units), expected = hex(text);
  uint8_t *p = guarded(in.n ? in.n : 1);
  char out[200];
  memcpy(p, in.p, in.n);
  CHECK_BYTES(out, tds_to_utf8(out, p, in.n / 2), expected.p, expected.n);
  CHECK_INT(tds_utf8_size(p, in.n / 2), expected.n);
}

static void from(const char *text, const char *units) {
  const bytes in = hex(text), expected = hex(units);
  uint8_t *p = guarded(in.n ? in.n : 1);
  uint8_t out[200];
  memcpy(p, in.p, in.n);
  CHECK_BYTES(out, tds_from_utf8(out, (const char *)p, in.n), expected.p, expected.n);
  CHECK_INT(tds_utf16_units((const char *)p, in.n), expected.n / 2);
}

/* Each scalar value, written down by the definition of both forms. */
static void every_character(void) {
  size_t wrong = 0;
  for (uint32_t c = 0; c < 0x110000; c++) {
    uint8_t units[4], back[8];
    char text[4], out[8];
    size_t n = 2, m;
    if (c >= 0xD800 && c < 0xE000) continue;
    if (c < 0x10000) {
      units[0] = (uint8_t)c, units[1] = (uint8_t)(c / 256);
    } else {
      const uint32_t high = 0xD800 + (c - 0x10000) / 0x400, low = 0xDC00 + (c - 0x10000) % 0x400;
      units[0] = (uint8_t)high, units[1] = (uint8_t)(high / 256);
      units[2] = (uint8_t)low, units[3] = (uint8_t)(low / 256);
      n = 4;
    }
    m = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = m; i-- > 1;) text[i] = (char)(0x80 + (c >> 6 * (m - 1 - i)) % 64);
    text[0] = (char)(m == 1 ? c : (0xF0 << (4 - m) & 0xFF) + (c >> 6 * (m - 1)));
    wrong += tds_to_utf8(out, units, n / 2) != m || memcmp(out, text, m) != 0;
    wrong += tds_from_utf8(back, text, m) != n || memcmp(back, units, n) != 0;
    wrong += tds_utf16_units(text, m) != n / 2 || tds_utf8_size(units, n / 2) != m;
  }
  CHECK_INT(wrong, 0);
}

/* One character that is not ASCII at each place of each length: all paths and their seams. */
static void seams(void) {
  size_t wrong = 0;
  for (size_t units = 0; units < 70; units++) {
    uint8_t *p = guarded(2 * units + (units == 0));
    for (size_t at = 0; at <= units; at++) {
      char out[300], expected[300];
      size_t n = 0;
      for (size_t i = 0; i < units; i++) {
        const uint8_t c = (uint8_t)('!' + i);
        p[2 * i] = c;
        p[2 * i + 1] = 0;
        if (i == at) {
          p[2 * i] = (uint8_t)(i % 2 ? 0x80 : 0); /* U+0080 or U+2000 */
          p[2 * i + 1] = i % 2 ? 0 : 0x20;
          memcpy(expected + n, i % 2 ? "\xc2\x80" : "\xe2\x80\x80", 3);
          n += i % 2 ? 2 : 3;
        } else {
          expected[n++] = (char)c;
        }
      }
      memset(out, 0x55, sizeof out);
      wrong += tds_to_utf8(out, p, units) != n || memcmp(out, expected, n) != 0;
      wrong += tds_utf8_size(p, units) != n;
    }
  }
  CHECK_INT(wrong, 0);
}

int main(void) {
  every_character();
  seams();
  to("", "");
  to("3dd800de", "f09f9880");
  to("3dd8", "efbfbd");                 /* a high surrogate at the end */
  to("3dd84100", "efbfbd41");           /* or before something else */
  to("00de4100", "efbfbd41");           /* a low one alone */
  to("00de3dd8", "efbfbdefbfbd");       /* the wrong way round */
  to("3dd83dd800de", "efbfbdf09f9880"); /* two high ones, the second with its low one */
  to("ffd8ffdf", "f18fbfbf");           /* U+4FFFF */
  to("00d800dc", "f0908080");
  to("ffdbffdf", "f48fbfbf");

  from("", "");
  from("f09f9880", "3dd800de");
  from("80", "fdff");
  from("c3", "fdff");
  from("c341", "fdff4100");
  from("e282", "fdfffdff");
  from("c080", "fdfffdff");             /* overlong */
  from("e08080", "fdfffdfffdff");       /* overlong */
  from("eda080", "fdfffdfffdff");       /* a surrogate */
  from("f4908080", "fdfffdfffdfffdff"); /* beyond U+10FFFF */
  from("f5808080", "fdfffdfffdfffdff");
  from("ff", "fdff");

  /* Pieces of a long text are not torn. */
  static uint8_t buffer[9000];
  static char text[3000];
  tds_message m;
  for (size_t i = 0; i < sizeof text; i += 3) memcpy(text + i, "\xe2\x82\xac", 3);
  tds_message_begin(&m, TDS_BATCH, 4096, buffer, sizeof buffer);
  tds_put_text(&m, text, sizeof text);
  CHECK_INT(m.n, 8 + 2000);
  size_t wrong = 0;
  for (size_t i = 8; i < m.n; i += 2) wrong += buffer[i] != 0xac || buffer[i + 1] != 0x20;
  CHECK_INT(wrong, 0);
  return unit_done("tds_text");
}
