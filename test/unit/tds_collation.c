/*
** Collations and their code pages. Given the argument "read" it reads lines of "collation sort-id bytes" in hexadecimal
** and answers each with the UTF-8 that a varchar of that collation gives, in hexadecimal too: for
** tds_codepages.test, which compares that with other people's codecs.
*/
#include "tds_feed.h"

/* Every sort id and every LCID that has a page of its own, as ranges: written down from [MS-TDS] and Microsoft's
** list of collations, not from the product's table. */
static void pages(void) {
  static const struct {
    int first, last, page;
  } sorts[] = {{30, 35, 437},    {40, 45, 850},    {49, 49, 850},    {50, 54, 1252},
               {55, 61, 850},    {71, 75, 1252},   {80, 98, 1250},   {104, 108, 1251},
               {112, 124, 1253}, {128, 130, 1254}, {136, 138, 1255}, {144, 146, 1256},
               {152, 160, 1257}, {183, 186, 1252}, {192, 193, 932},  {194, 195, 949},
               {196, 197, 950},  {198, 199, 936},  {200, 200, 932},  {201, 201, 949},
               {202, 202, 950},  {203, 203, 936},  {204, 206, 874},  {210, 217, 1252}};
  for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++) {
    for (int id = sorts[i].first; id <= sorts[i].last; id++) {
      CHECK_INT(tds_code_page(0x0000D00419, (uint8_t)id),
                sorts[i].page); /* the LCID would be 1251 */
    }
  }
  static const struct {
    uint32_t collation;
    int page;
  } lcids[] = {{0x00D00409, 1252}, {0x00D0040E, 1250}, {0x00D0104E, 1250}, {0x00D00419, 1251},
               {0x00D01C1A, 1251}, {0x00D00408, 1253}, {0x00D0041F, 1254}, {0x00D0042C, 1254},
               {0x00D0082C, 1251}, {0x00D0040D, 1255}, {0x00D00401, 1256}, {0x00D03C01, 1256},
               {0x00D00429, 1256}, {0x00D00425, 1257}, {0x00D00827, 1257}, {0x00D0042A, 1258},
               {0x00D0041E, 874},  {0x00D00411, 932},  {0x00D10411, 932},  {0x00D00804, 936},
               {0x00D21004, 936},  {0x00D00412, 949},  {0x00D00404, 950},  {0x00D01404, 950},
               {0x00D00439, 0},    {0x00D00461, 0},    {0x00D00407, 1252}, {0x00000000, 1252},
               {0x04D00419, 65001}};
  for (size_t i = 0; i < sizeof lcids / sizeof lcids[0]; i++) {
    CHECK_INT(tds_code_page(lcids[i].collation, 0), lcids[i].page);
  }
  CHECK_INT(tds_code_page(0x04D00409, 52), 65001);
  CHECK_INT(tds_code_page(0x00D00419, 255), 1251); /* a sort id that nobody knows */
  CHECK_INT(tds_code_page_known(65001), 1);
  CHECK_INT(tds_code_page_known(1252), 1);
  CHECK_INT(tds_code_page_known(0), 0);
  CHECK_INT(tds_code_page_known(12345), 0);
}

/* One value of a varchar column of that collation, through a stream as any other. */
static void answer(uint32_t collation, uint8_t sort_id, const uint8_t *p, size_t n) {
  static tds_stream s;
  feed_bytes b = {0};
  const uint8_t head[] = {0x81,
                          1,
                          0,
                          0,
                          0,
                          0,
                          0,
                          0,
                          0,
                          0xA7,
                          0x40,
                          0x1F,
                          (uint8_t)collation,
                          (uint8_t)(collation >> 8),
                          (uint8_t)(collation >> 16),
                          (uint8_t)(collation >> 24),
                          sort_id,
                          0,
                          0xD1,
                          (uint8_t)n,
                          (uint8_t)(n >> 8)};
  feed_append(&b, head, sizeof head);
  feed_append(&b, p, n);
  feed_bytes in = feed_packets(b.p, b.n, 0, 0);
  tds_feed(&s, in.p, in.n);
  tds_status status;
  while ((status = tds_next(&s)) < TDS_MALFORMED && status != TDS_END) {
    if (status == TDS_ROOM) feed_enlarge(&s);
    for (size_t i = 0; status == TDS_ROW && i < s.values[0].as.text.n; i++) {
      printf("%02x", (uint8_t)s.values[0].as.text.p[i]);
    }
  }
  printf(status == TDS_END ? "\n" : "%s\n", s.fault.what);
  if (s.fault.what) exit(1);
  free(in.p);
  free(b.p);
}

static void answer_lines(void) {
  char line[20000];
  while (fgets(line, sizeof line, stdin)) {
    char *end;
    const uint32_t collation = (uint32_t)strtoul(line, &end, 16);
    const uint8_t sort_id = (uint8_t)strtoul(end, &end, 16);
    feed_bytes b = {0};
    end[strcspn(end, "\n")] = 0;
    feed_hex(&b, end);
    answer(collation, sort_id, b.p, b.n);
    free(b.p);
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "read") == 0) {
    answer_lines();
    return 0;
  }
  pages();
  return unit_done("tds_collation");
}
