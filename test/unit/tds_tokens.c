/*
** Every token but rows, from bytes written by hand after [MS-TDS] 2.2.7, fed in every way (tds_feed.h).
*/
#include "tds_feed.h"

static void done(void) {
  feed_check("fd 0000 0000 0000000000000000", "done 0 0 0 -1\nend\n");
  feed_check("fd 1000 c300 0500000000000000", "done 10 c3 5 5\nend\n");
  /* A SELECT's count is of rows that were read; without the bit there is no count. */
  feed_check("fd 1000 c100 0500000000000000", "done 10 c1 5 -1\nend\n");
  feed_check("fd 0000 c300 0500000000000000", "done 0 c3 0 -1\nend\n");
  /* Eight bytes: more than 2^32 rows; and the next token begins behind them. */
  feed_check(
      "fe 1100 c500 0000000001000000 ff 0601 c500 ffffffffffffffff fd 2000 0000 0000000000000000",
      "doneproc 11 c5 4294967296 4294967296\ndoneinproc 106 c5 0 -1\ndone 20 0 0 -1\nend\n");
  feed_check("fd 1000 c300 ffffffffffffffff", "done 10 c3 18446744073709551615 -1\nend\n");
  /* A status has no length before it. */
  feed_check("79 feffffff fe 0000 e000 0000000000000000", "status -2\ndoneproc 0 e0 0 -1\nend\n");
}

static void messages(void) {
  feed_check("aa 1c00 d0000000 02 10 0400 'text' 02 'db' 01 'p' 07000000",
             "error 208 state 2 class 16 'text''db''p' line 7\nend\n");
  feed_check("ab 1000 45160000 01 00 0100 'i' 00 00 00000000"
             "aa 0e00 e3ffffff ff ff 0000 00 00 ffffffff",
             "info 5701 state 1 class 0 'i''''' line 0\n"
             "error -29 state 255 class 255 '''''' line -1\nend\n");
  feed_check("aa 0d00 d0000000 02 10 0000 00 00 000000",
             "malformed: a field beyond its token's length (token 0xAA, byte 0x00 at offset 12)\n");
  feed_check("aa 0f00 d0000000 02 10 0000 00 00 00000000 00",
             "malformed: a message longer than its fields (token 0xAA, byte 0x00 at offset 16)\n");
  feed_check("aa 0e00 d0000000 02 10 ffff 00 00 00000000",
             "malformed: a field beyond its token's length (token 0xAA, byte 0xFF at offset 10)\n");
}

static void environment(void) {
  feed_check("e3 0d00 01 04 'shop' 01 'm'", "environment 1 'shop' was 'm'\nend\n");
  feed_check("e3 0700 02 02 'de' 00", "environment 2 'de'\nend\n");
  feed_check("e3 1300 04 04 '8000' 04 '4096'", "environment 4 '8000' was '4096' size 8000\nend\n");
  feed_check("e3 0800 07 05 0904d00034 00", "environment 7 collation d00409 52\nend\n");
  feed_check("e3 0b00 08 08 0102030405060708 00",
             "environment 8 descriptor 807060504030201\nend\n");
  feed_check("e3 0b00 09 00 08 0102030405060708",
             "environment 9 descriptor 807060504030201\nend\n");
  feed_check("e3 0b00 0a 00 08 0102030405060708",
             "environment 10 descriptor 807060504030201\nend\n");
  feed_check("e3 0b00 11 00 08 0102030405060708",
             "environment 17 descriptor 807060504030201\nend\n");
  feed_check("e3 0300 12 00 00", "environment 18\nend\n");
  feed_check("e3 0500 0d 01 'm' 00", "environment 13 'm'\nend\n");
  feed_check("e3 1000 14 0b00 00 9905 0300 'a.b' 0000", "environment 20 'a.b' port 1433\nend\n");
  feed_check("e3 0800 0f 02000000 0102 00", "environment 15\nend\n");
  feed_check("e3 0400 63 010203", "environment 99\nend\n");
  /* Several in one token, and others behind it. */
  feed_check(
      "e3 1000 01 01 'a' 00 12 00 00 07 05 0904d00034 00 79 01000000",
      "environment 1 'a'\nenvironment 18\nenvironment 7 collation d00409 52\nstatus 1\nend\n");
  feed_check("e3 0300 04 00 00",
             "malformed: a packet size out of range (token 0xE3, byte 0x00 at offset 5)\n");
  feed_check("e3 0900 04 03 '511' 00",
             "malformed: a packet size out of range (token 0xE3, byte 0x00 at offset 11)\n");
  feed_check("e3 0d00 04 05 '32768' 00",
             "malformed: a packet size out of range (token 0xE3, byte 0x00 at offset 15)\n");
  feed_check("e3 0b00 04 04 '40x6' 00",
             "malformed: a packet size that is none (token 0xE3, byte 0x00 at offset 13)\n");
  feed_check("e3 0700 07 04 0904d000 00",
             "malformed: a collation that is not 5 bytes (token 0xE3, byte 0x00 at offset 9)\n");
  feed_check("e3 0400 08 01 01 00", "malformed: a transaction descriptor that is not 8 bytes "
                                    "(token 0xE3, byte 0x00 at offset 6)\n");
  feed_check("e3 1000 14 0b00 01 9905 0300 'a.b' 0000",
             "unsupported: routing to a protocol other than TCP: 1 (token 0xE3, byte 0x00 at "
             "offset 18)\n");
  feed_check("e3 1000 14 0b00 00 9905 0400 'a.b' 0000",
             "malformed: a routing address that is none (token 0xE3, byte 0x00 at offset 18)\n");
  feed_check("e3 0400 01 04 'a'",
             "malformed: a field beyond its token's length (token 0xE3, byte 0x04 at offset 4)\n");
}

static void login(void) {
  feed_check("ad 1000 01 74000004 03 'SQL' 10 00 0ce4",
             "loginack 74000004 'SQL' 1 16.0.3300\nend\n");
  feed_check("ad 0a00 01 08000000 00 10 00 0ce4", "loginack 8000000 '' 1 16.0.3300\nend\n");
  feed_check("ad 0b00 01 08000000 00 10 00 0ce4 00",
             "malformed: a LOGINACK longer than its fields (token 0xAD, byte 0xE4 at offset 12)\n");
  feed_check("ae ff", "features 0\nend\n");
  feed_check("ae 0a 01000000 01 0d 01000000 01 0e 02000000 0102 ff 79 00000000",
             "features 6400 10:01 13:01 14:0102\nstatus 0\nend\n");
  feed_check("ae 04 01000000 01 ff", "malformed: a feature acknowledged that was not asked for: 4 "
                                     "(token 0xAE, byte 0x04 at offset 1)\n");
  feed_check("ae 29 01000000 01 ff", "malformed: a feature acknowledged that was not asked for: 41 "
                                     "(token 0xAE, byte 0x29 at offset 1)\n");
  feed_check("ae 0a ffffffff 01 ff",
             "malformed: a feature of excessive length: 10 (token 0xAE, byte 0xFF at offset 5)\n");
  feed_check("ed 0300 010203", "bytes ed 010203\nend\n");
  feed_check("ed 0000", "bytes ed \nend\n");
  feed_check(
      "ee 1e000000 02000000 01 04000000 16000000 02 04000000 1a000000 'ab' 'cd'",
      "bytes ee 0200000001040000001600000002040000001a0000006100620063006400 1 'ab' 2 'cd'\nend\n");
  feed_check(
      "ee 0d000000 01000000 01 04000000 0e000000",
      "malformed: a FEDAUTHINFO entry beyond its end (token 0xEE, byte 0x00 at offset 17)\n");
  feed_check("ee 04000000 ffffffff",
             "malformed: a FEDAUTHINFO entry beyond its end (token 0xEE, byte 0xFF at offset 8)\n");
  feed_check("e4 0f000000 01000000 01 00 02 0102 05 ff 00000000",
             "bytes e4 01000000010002010205ff00000000\nend\n");
  feed_check("e4 08000000 01000000 01 00 02 01",
             "malformed: a field beyond its token's length (token 0xE4, byte 0x02 at offset 11)\n");
}

static void columns(void) {
  feed_check("81 ffff", "columns none\nend\n");
  feed_check("81 0000", "columns\nend\n");
  feed_check("81 0100 00000000 0900 38 02 'id'", "columns 'id' int 9\nend\n");
  feed_check("81 0300 00000000 1000 26 08 00  00000000 0120 e7 c800 0904d00034 04 'name'"
             "00000000 0000 f0 ffff 02 'db' 03 'sys' 09 'geography' 0300 'asm' 01 'g'",
             "columns '' bigint 10 'name' nvarchar 2001 'g' udt'geography'\nend\n");
  /* text, ntext and image with the table's name in parts; xml with and without a schema; json and date, which
  ** have nothing behind the type. */
  feed_check(
      "81 0700 00000000 0000 23 ffffff7f 0904d00034 02 0300 'dbo' 0100 't' 01 'a'"
      "00000000 0000 63 feffff7f 0904d00034 00 01 'b'  00000000 0000 22 ffffff7f 01 0100 't' 01 'c'"
      "00000000 0000 f1 00 01 'd'  00000000 0000 f1 01 01 'd' 01 's' 0200 'xs' 01 'e'"
      "00000000 0000 f4 01 'f' 00000000 0000 28 01 'g'",
      "columns 'a' text 'b' ntext 'c' image 'd' xml 'e' xml 'f' json 'g' date\nend\n");
  feed_check("a9 0400 0100 0200 a4 0700 01 0200 'ab' a5 0900 01 01 20 01 'x' 02 00 04",
             "bytes a9 01000200\nbytes a4 01020061006200\nbytes a5 010120017800020004\nend\n");
  feed_check("a9 0300 010002",
             "malformed: half a column's number (token 0xA9, byte 0x01 at offset 3)\n");
  feed_check("a4 0600 01 0200 'a' 00",
             "malformed: a field beyond its token's length (token 0xA4, byte 0x00 at offset 5)\n");
  feed_check("81 0100 00000000 0000 99 00",
             "malformed: an unknown type 153 (token 0x81, byte 0x99 at offset 9)\n");
}

static void return_values(void) {
  feed_check("ac 0000 00 01 00000000 0000 26 04 04 07000000", "value 0 '' 1 int 7\nend\n");
  feed_check("ac 0100 02 '@h' 02 00000000 0000 e7 ffff 0904d00034 feffffffffffffff 03000000 610062 "
             "01000000 00"
             "00000000 79 00000000",
             "value 1 '@h' 2 nvarchar 'ab'\nstatus 0\nend\n");
  feed_check("ac 0100 00 01 00000000 0000 26 08 00", "value 1 '' 1 bigint NULL\nend\n");
}

/* A body with what the second version has beside each label, and what tds_token.bytes must be of it. */
#define CLASSIFIED(rank_of_all, rank)                                                              \
  "a3 0100 03 'low' 01 '1' 0200 01 'a' 00 01 'b' 00 " rank_of_all "0200 0000 0100 0000 0100" rank  \
  "fd 0000 0000 0000000000000000"
#define TOLD(rank_of_all, rank)                                                                    \
  "bytes a3 0100036c006f00770001310002000161000001620000" rank_of_all "02000000010000000100" rank  \
  "\ndone 0 0 0 -1\nend\n"

static void classification(void) {
  feed_features = TDS_FEATURE(TDS_FEATURE_DATA_CLASSIFICATION);
  feed_check(CLASSIFIED("", ""), TOLD("", ""));
  feed_check("ae 09 02000000 0201 ff" CLASSIFIED("0a000000", "14000000"),
             "features 200 9:0201\n" TOLD("0a000000", "14000000"));
  feed_features = 0;
}

static void order_of_tokens(void) {
  feed_check("", "end\n");
  feed_check("00", "malformed: an unknown token (byte 0x00 at offset 0)\n");
  feed_check("79 00000000 88",
             "status 0\nmalformed: an unknown token (token 0x88, byte 0x88 at offset 5)\n");
  feed_check("d1 00", "malformed: a row without a description of its columns (token 0xD1, byte "
                      "0xD1 at offset 0)\n");
  feed_check("81 ffff d2 00",
             "columns none\nmalformed: a row without a description of its columns (token 0xD2, "
             "byte 0xD2 at offset 3)\n");
  /* DONEINPROC before LOGINACK; an ERROR after COLMETADATA, after a row; ten in a row. */
  feed_check("ff 0000 0000 0000000000000000 ad 0a00 01 08000000 00 10 00 0ce4",
             "doneinproc 0 0 0 -1\nloginack 8000000 '' 1 16.0.3300\nend\n");
#define ERROR_8134 "aa 0e00 c61f0000 01 10 0000 00 00 01000000"
#define SAID_8134 "error 8134 state 1 class 16 '''''' line 1\n"
  feed_check("81 0100 00000000 0000 30 00 " ERROR_8134 "d1 05 " ERROR_8134
             "fd 0200 c100 0000000000000000",
             "columns '' tinyint\n" SAID_8134 "row 5\n" SAID_8134 "done 2 c1 0 -1\nend\n");
  feed_check(ERROR_8134 ERROR_8134 ERROR_8134 ERROR_8134 ERROR_8134 ERROR_8134 ERROR_8134 ERROR_8134
                 ERROR_8134 ERROR_8134 ERROR_8134,
             SAID_8134 SAID_8134 SAID_8134 SAID_8134 SAID_8134 SAID_8134 SAID_8134 SAID_8134
                 SAID_8134 SAID_8134 SAID_8134 "end\n");
  /* ENVCHANGE and INFO between rows. */
  feed_check(
      "81 0100 00000000 0000 30 00 d1 01 e3 0500 01 01 'a' 00 d1 02 ab 0e00 01000000 01 00 0000 00 "
      "00 00000000"
      "d2 01 d2 00 03 fd 1000 c100 0400000000000000",
      "columns '' tinyint\nrow 1\nenvironment 1 'a'\nrow 2\ninfo 1 state 1 class 0 '''''' line 0\n"
      "row NULL\nrow 3\ndone 10 c1 4 -1\nend\n");
}

/* Two messages in one piece: the second's offsets count anew. */
static void two_messages(void) {
  tds_stream s = {0};
  feed_log log = {0};
  feed_bytes payload = {0}, in;
  feed_hex(&payload, "79 01000000");
  in = feed_packets(payload.p, payload.n, 0, 0);
  const feed_bytes second = feed_packets((const uint8_t *)"\x79\x02\0\0\0\x01", 6, 0, 0);
  feed_append(&in, second.p, second.n);
  tds_stream_begin(&s, 0);
  CHECK_INT(feed_run(&s, &log, in, 0, 0), TDS_MALFORMED);
  CHECK_STR(
      log.p,
      "status 1\nend\nstatus 2\nmalformed: an unknown token (token 0x01, byte 0x01 at offset 5)\n");
  /* After a reconnect all is as at first, but for the rooms. */
  tds_stream_begin(&s, 0);
  log.n = 0;
  in.n = 13;
  CHECK_INT(feed_run(&s, &log, in, 0, 0), TDS_MORE);
  CHECK_STR(log.p, "status 1\nend\n");
  /* A packet that is no reply. */
  in.p[0] = TDS_BATCH;
  log.n = 0;
  CHECK_INT(feed_run(&s, &log, in, 0, 0), TDS_MALFORMED);
  CHECK_STR(log.p, "malformed: a packet that is no reply: type 1 (byte 0x00 at offset 0)\n");
  feed_free(&s);
  free(log.p);
  free(in.p);
  free(second.p);
  free(payload.p);
}

int main(void) {
  done();
  messages();
  environment();
  feed_features = TDS_FEATURE(10) | TDS_FEATURE(13) | TDS_FEATURE(14);
  login();
  feed_features = 0;
  columns();
  return_values();
  classification();
  order_of_tokens();
  two_messages();
  return unit_done("tds_tokens");
}
