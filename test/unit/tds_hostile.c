/*
** Replies that are cut off at each byte or changed in each byte: they end in a row, a token or an error, never
** beyond their memory, and what was told before the change stands.
*/
#include "tds_feed.h"

#define LATIN "0904d00034"

/* Something of everything. */
static const char *const replies[] = {
    "e3 0d00 01 04 'shop' 01 'm' ab 1000 45160000 01 00 0100 'i' 00 00 00000000 ad 1000 01 "
    "74000004 03 'SQL' 10 00 0ce4"
    "e3 1300 04 04 '8000' 04 '4096' ae 0a 01000000 01 ff fd 0000 0000 0000000000000000",
    "81 0600 00000000 0900 38 02 'id' 00000000 0000 e7 1400 " LATIN
    "01 'n' 00000000 0000 6a 11 2604 01 'd'"
    "00000000 0000 2a 07 01 't' 00000000 0000 a7 1400 " LATIN "01 'v' 00000000 0000 24 10 01 'g'"
    "a9 0200 0100 d1 01000000 0400 'ab' 05 01 f4060000 08 0000000000 dab937 0200 61e9 10 "
    "33221100554477668899aabbccddeeff"
    "d2 2a 01000000 05 01 f4060000 0200 61e9 fd 1000 c100 0200000000000000",
    "81 0400 00000000 0000 e7 ffff " LATIN
    "01 'n' 00000000 0000 a5 ffff 01 'b' 00000000 0000 f1 00 01 'x'"
    "00000000 0000 f4 01 'j' d1 feffffffffffffff 03000000 610062 01000000 00 00000000"
    "0200000000000000 02000000 0102 00000000 ffffffffffffffff 0200000000000000 02000000 7b7d "
    "00000000"
    "d2 05 0000000000000000 00000000 feffffffffffffff 00000000 fd 1000 c100 0200000000000000",
    "81 0500 00000000 0000 62 491f0000 01 'v' 00000000 0000 23 ffffff7f " LATIN "01 0100 't' 01 'x'"
    "00000000 0000 f0 ffff 00 00 03 'geo' 0000 01 'u' 00000000 0000 f5 281f 00 01 'w' 00000000 "
    "0000 3c 01 'm'"
    "d1 0b000000 a7 07 " LATIN
    "0a00 61e9 10 00112233445566778899aabbccddeeff 0102030405060708 02000000 61e9"
    "0200000000000000 02000000 5ac0 00000000 0c00 a901 0100 00 000000 0000803f 00000000 10270000"
    "d1 09000000 6c 02 0902 00 f4060000 00 ffffffffffffffff ffff ffffffff f0d8ffff fd 1000 c100 "
    "0200000000000000",
    "ac 0100 02 '@h' 02 00000000 0000 e7 ffff " LATIN
    "feffffffffffffff 03000000 610062 01000000 00 00000000"
    "79 00000000 aa 1c00 d0000000 02 10 0400 'text' 02 'db' 01 'p' 07000000 fe 0000 e000 "
    "0000000000000000",
    "e3 2200 14 1d00 00 9905 0c00 'db.example.x' 0000 a4 0700 01 0200 'ab' a5 0900 01 01 20 01 'x' "
    "02 00 04"
    "e4 0f000000 01000000 01 00 02 0102 05 ff 00000000 ed 0300 010203"
    "ee 1a000000 02000000 01 04000000 16000000 02 04000000 16000000 'ab'"
    "a3 0100 03 'low' 01 '1' 0200 01 'a' 00 01 'b' 00 0200 0000 0100 0000 0100 fd 0000 0000 "
    "0000000000000000",
};

/* The same whatever pieces it comes in, changed or not; and what it says ends in an end or an error. */
static void consistent(const uint8_t *p, size_t n, const char *what, size_t at) {
  static const size_t ways[][4] = {{0, 1, 0, 0}, {0, 0, 0, 1}, {0, 3, 0, 7}};
  char *whole = feed_once(p, n, 0, 0, 0, 0);
  const size_t length = strlen(whole);
  int ends = length >= 4 && strcmp(whole + length - 4, "end\n") == 0;
  const char *error = strstr(whole, "malformed: ");
  if (!error) error = strstr(whole, "unsupported: ");
  if (!CHECK(ends || error)) printf("%s at %zu:\n%s", what, at, whole);
  const size_t told = error ? (size_t)(error - whole) : length;
  for (size_t i = 0; i < 3; i++) {
    char *again = feed_once(p, n, ways[i][0], ways[i][1], ways[i][2], ways[i][3]);
    /* Offsets of errors may differ (in place, or in the copy), what was told before may not. */
    const int same = error ? strncmp(whole, again, told) == 0 && strstr(again + told, "ed: ")
                           : strcmp(whole, again) == 0;
    if (!unit_check(same, __FILE__, __LINE__, what)) printf("at %zu:\n%s---\n%s", at, whole, again);
    free(again);
  }
  free(whole);
}

int main(void) {
  static const uint8_t changes[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
  feed_features = TDS_FEATURE(10);
  for (size_t k = 0; k < sizeof replies / sizeof replies[0]; k++) {
    feed_bytes b = {0};
    feed_hex(&b, replies[k]);
    char *whole = feed_once(b.p, b.n, 0, 0, 0, 0);
    if (!CHECK(strstr(whole, "malformed") == NULL && strstr(whole, "unsupported") == NULL))
      printf("%s", whole);
    for (size_t n = 0; n < b.n; n++) {
      char *cut = feed_once(b.p, n, 0, 0, 0, 0);
      /* Either it ends between tokens or it says that it does not. */
      const char *error = strstr(cut, "malformed: a message that ends inside a token");
      const size_t told = error ? (size_t)(error - cut) : strlen(cut) - 4;
      if (!CHECK(strncmp(cut, whole, told) == 0)) printf("cut at %zu:\n%s", n, cut);
      free(cut);
      consistent(b.p, n, replies[k], n);
    }
    for (size_t at = 0; at < b.n; at++) {
      const uint8_t was = b.p[at];
      for (size_t i = 0; i < sizeof changes; i++) {
        b.p[at] = changes[i];
        consistent(b.p, b.n, replies[k], at);
        b.p[at] = (uint8_t)(was ^ 1u << i);
        consistent(b.p, b.n, replies[k], at);
      }
      b.p[at] = was;
    }
    free(whole);
    free(b.p);
  }
  /* The greatest room was asked for by a count of columns. */
  CHECK(feed_wanted_most <= 65535 * sizeof(tds_column));
  return unit_done("tds_hostile");
}
