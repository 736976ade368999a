/*
** Rows where they stand and rows that straddle packets: what is lent, what is copied, and that a value of 20 MB costs
** no more than its length, whatever it comes in.
*/
#include "tds_feed.h"

#define LATIN "0904d00034"

static int within(const void *p, const void *from, size_t n) {
  return (uintptr_t)p >= (uintptr_t)from && (uintptr_t)p < (uintptr_t)from + n;
}

/* Bytes, ASCII and UTF-8 are lent from what was fed, and no room for them is ever asked for; a row that straddles is
** lent from the held room. */
static void lent(void) {
  feed_bytes b = {0}, in;
  feed_hex(&b, "81 0300 00000000 0000 a5 0a00 00 00000000 0000 a7 0a00 " LATIN
               "00 00000000 0000 a5 ffff 00"
               "d1 0300 010203 0200 6162 0200000000000000 02000000 0909 00000000"
               "d2 00 0300 010203 0200 6162 0200000000000000 02000000 0909 00000000");
  for (int straddling = 0; straddling < 2; straddling++) {
    in = feed_packets(b.p, b.n, straddling ? b.n - 1 : 0, 0);
    tds_stream s = {0};
    tds_stream_begin(&s, 0);
    tds_feed(&s, in.p, in.n);
    tds_status status;
    int rows = 0;
    while ((status = tds_next(&s)) != TDS_END && CHECK(status < TDS_MALFORMED)) {
      if (status == TDS_ROOM) feed_enlarge(&s);
      if (status != TDS_ROW) continue;
      const int held = straddling && rows++ == 1;
      const void *from = held ? s.room[TDS_ROOM_HELD].p : in.p;
      const size_t n = held ? s.room[TDS_ROOM_HELD].size : in.n;
      for (int i = 0; i < 3; i++) CHECK(within(s.values[i].as.bytes.p, from, n));
    }
    CHECK_INT(s.room[TDS_ROOM_TEXT].size, 0);
    if (!straddling) {
      CHECK_INT(s.room[TDS_ROOM_HELD].size, 0);
      CHECK_INT(s.examined, 0);
    }
    feed_free(&s);
    free(in.p);
  }
  free(b.p);
}

/* ---- 20 MB ------------------------------------------------------------------------------------------------ */

#define LARGE 20000000u

static void append_u32(feed_bytes *b, uint32_t v) {
  const uint8_t p[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
  feed_append(b, p, 4);
}

/* A row of (int, value, int), the value of LARGE bytes of 'a', NUL, 'b', NUL, … in chunks. */
static feed_bytes large_row(const char *type, size_t chunk, int known) {
  feed_bytes b = {0};
  static uint8_t piece[LARGE];
  for (size_t i = 0; i < LARGE; i++) piece[i] = (uint8_t)(i % 2 ? 0 : 'a' + i / 2 % 26);
  feed_hex(&b, "81 0300 00000000 0000 38 00 00000000 0000");
  feed_hex(&b, type);
  feed_hex(&b, "00 00000000 0000 38 00 d1 01000000");
  append_u32(&b, known ? LARGE : 0xFFFFFFFE);
  append_u32(&b, known ? 0 : 0xFFFFFFFF);
  b.p = realloc(b.p, b.n + LARGE + LARGE / chunk * 4 + 100); /* so that appending copies nothing */
  if (!b.p) abort();
  for (size_t at = 0; at < LARGE; at += chunk) {
    const size_t n = chunk < LARGE - at ? chunk : LARGE - at;
    const uint32_t length = (uint32_t)n;
    memcpy(b.p + b.n,
           (const uint8_t[4]){(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16),
                              (uint8_t)(length >> 24)},
           4);
    memcpy(b.p + b.n + 4, piece + at, n);
    b.n += n + 4;
  }
  feed_hex(&b, "00000000 02000000 fd 1000 c100 0100000000000000");
  return b;
}

static void check_large(const tds_stream *s, int text) {
  const tds_value *v = s->values;
  CHECK_INT(v[0].as.i64, 1);
  CHECK_INT(v[2].as.i64, 2);
  CHECK_INT(v[1].kind, text ? TDS_TEXT : TDS_BYTES);
  CHECK_INT(v[1].as.text.n, text ? LARGE / 2 : LARGE);
  size_t wrong = 0;
  for (size_t i = 0; i < v[1].as.text.n; i++) {
    const char expected = (char)(text ? 'a' + i % 26 : i % 2 ? 0 : 'a' + i / 2 % 26);
    wrong += v[1].as.text.p[i] != expected;
  }
  CHECK_INT(wrong, 0);
}

/* The caller doubles its rooms. Bytes examined stay below three times what came, at any size of packets. */
static void large(const char *type, size_t chunk, int known, size_t packet) {
  const int text = strstr(type, "e7") != NULL;
  feed_bytes b = large_row(type, chunk, known);
  tds_stream s = {0};
  tds_packets packets = {0};
  (void)packets;
  tds_stream_begin(&s, 0);
  size_t at = 0;
  int rows = 0, rooms = 0;
  tds_status status = TDS_MORE;
  uint8_t *one = malloc(packet + 8);
  if (!one) abort();
  while (status != TDS_END && CHECK(status < TDS_MALFORMED)) {
    if (status == TDS_MORE) {
      const size_t n = packet < b.n - at ? packet : b.n - at;
      const uint8_t header[8] = {
          4, at + n == b.n, (uint8_t)((n + 8) >> 8), (uint8_t)(n + 8), 0, 0, 1, 0};
      memcpy(one, header, 8);
      memcpy(one + 8, b.p + at, n);
      at += n;
      tds_feed(&s, one, n + 8);
    }
    status = tds_next(&s);
    if (status == TDS_ROOM) {
      rooms++;
      if (s.wanted.size < 2 * s.room[s.wanted.room].size)
        s.wanted.size = 2 * s.room[s.wanted.room].size;
      feed_enlarge(&s);
    }
    if (status == TDS_ROW) {
      rows++;
      check_large(&s, text);
    }
  }
  CHECK_INT(rows, 1);
  CHECK(rooms < 40);
  CHECK(s.examined < 3 * (uint64_t)b.n);
  /* What is held is the value and not its chunks' lengths. */
  CHECK(s.room[TDS_ROOM_HELD].size <= 4 * (size_t)LARGE);
  feed_free(&s);
  free(one);
  free(b.p);
}

/* A length that lies costs no memory: rooms grow by what has come. */
static void lying_length(void) {
  static const char *const lies[] = {
      "a5 ffff 00 d1 ffffff7f00000000 ffffff7f 01",
      "a5 ffff 00 d1 feffffffffffffff ffffff7f 01",
      "22 ffffff7f 00 00 d1 01 00 0000000000000000 ffffff7f 01",
      "62 ffffffff 00 d1 ffffff7f 01",
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    feed_bytes b = {0};
    feed_hex(&b, "81 0100 00000000 0000");
    feed_hex(&b, lies[i]);
    feed_wanted_most = 0;
    char *said = feed_once(b.p, b.n, 0, 0, 0, 0);
    CHECK(strstr(said, "malformed: a message that ends inside a token"));
    CHECK(feed_wanted_most < 1000);
    free(said);
    free(b.p);
  }
}

/* ---- Many columns ------------------------------------------------------------------------------------------- */

/* 1,000 columns: the bitmap of 125 bytes, each column NULL in one row and alone not NULL in another. */
static void many_columns(void) {
  enum { N = 1000 };
  feed_bytes b = {0};
  feed_log expected = {0};
  feed_hex(&b, "81 e803");
  feed_say(&expected, "columns");
  for (int i = 0; i < N; i++) {
    feed_hex(&b, "00000000 0000 26 02 01 'c'");
    feed_say(&expected, " 'c' smallint");
  }
  feed_say(&expected, "\n");
  for (int row = 0; row < N; row += 37) {
    for (int alone = 0; alone < 2; alone++) {
      uint8_t bitmap[N / 8];
      memset(bitmap, alone ? 0xFF : 0, sizeof bitmap);
      bitmap[row / 8] ^= (uint8_t)(1 << row % 8);
      feed_hex(&b, "d2");
      feed_append(&b, bitmap, sizeof bitmap);
      feed_say(&expected, "row");
      for (int i = 0; i < N; i++) {
        if ((i == row) != alone) {
          feed_say(&expected, " NULL");
          continue;
        }
        const uint8_t v[3] = {2, (uint8_t)i, (uint8_t)(i >> 8)};
        feed_append(&b, v, 3);
        feed_say(&expected, " %d", i);
      }
      feed_say(&expected, "\n");
    }
  }
  feed_say(&expected, "end\n");
  static const size_t packets[] = {32759, 4088, 999, 1};
  for (size_t i = 0; i < 4; i++) {
    char *said = feed_once(b.p, b.n, 0, packets[i], 0, 0);
    CHECK(strcmp(said, expected.p) == 0);
    free(said);
  }
  free(b.p);
  free(expected.p);
}

int main(void) {
  lent();
  for (int known = 0; known < 2; known++) {
    large("a5 ffff", 8040, known, 4088);
    large("e7 ffff " LATIN, LARGE, known, 4088);
    large("e7 ffff " LATIN, 4073, known, 16000);
  }
  large("a5 ffff", 4084, 0, 4088); /* chunks that end with their packets, but for the first */
  large("a5 ffff", 1, 0, 32000);
  lying_length();
  many_columns();
  return unit_done("tds_rows");
}
