/*
** Every data type, in ROW and NBCROW, between two other columns, fed in every way: bytes written by hand after
** [MS-TDS] 2.2.5.4 – 2.2.5.6.
*/
#include "tds_feed.h"

#define LATIN "0904d00034" /* SQL_Latin1_General_CP1_CI_AS: sort id 52 */
#define UTF8 "0904d00400"  /* a _UTF8 collation: bit 26 */

static char *text_of(const char *a, const char *b, const char *c, const char *d, const char *e) {
  feed_log log = {0};
  feed_say(&log, "%s%s%s%s%s", a, b, c, d, e);
  return log.p;
}

/* The value (NULL: none is given for it) reads as expected, as ROW and as NBCROW, and is absent in an NBCROW whose
** bit says so. The other columns see to it that no byte is left or taken too much. */
static void type_at(const char *info, const char *name, const char *value, const char *expected,
                    int line) {
  char *described = text_of("81 0300 00000000 0000 30 01 'a' 00000000 0100 ", info,
                            " 01 'v' 00000000 0000 38 01 'z'", "", "");
  char *rows = text_of(" d1 07 ", value, " 01020304  d2 00 08 ", value,
                       " 05060708  d2 02 09 0a0b0c0d d2 05 ");
  char *payload = text_of(described, rows, value, " fd 1000 c100 0400000000000000", "");
  char *said =
      text_of("columns 'a' tinyint 'v' ", name, " 1 'z' int\nrow 7 ", expected, " 67305985\n");
  char *more = text_of("row 8 ", expected, " 134678021\nrow 9 NULL 218893066\nrow NULL ", expected,
                       " NULL\ndone 10 c1 4 -1\nend\n");
  char *all = text_of(said, more, "", "", "");
  feed_check_at(payload, all, line);
  free(described);
  free(rows);
  free(payload);
  free(said);
  free(more);
  free(all);
}
#define type(info, name, value, expected) type_at(info, name, value, expected, __LINE__)

/* Refused with this reason. */
static void refused_at(const char *info, const char *value, const char *what, int line) {
  char *payload = text_of("81 0100 00000000 0000 ", info, " 00 d1 ", value, "");
  feed_bytes b = {0};
  feed_hex(&b, payload);
  for (int way = 0; way < 3; way++) {
    char *got = feed_once(b.p, b.n, 0, way == 1, 0, way == 2);
    if (!unit_check(strstr(got, what) != NULL, __FILE__, line, payload)) printf("%s", got);
    free(got);
  }
  free(b.p);
  free(payload);
}
#define refused(info, value, what) refused_at(info, value, what, __LINE__)

#define WRONG_LENGTH "malformed: a value whose length its type does not have"
#define NO_LENGTH "malformed: a length that the type does not have"
#define TOO_LONG "malformed: a length beyond the type's maximum"

static void numbers(void) {
  type("1f", "null", "", "NULL");
  type("30", "tinyint", "ff", "255");
  type("32", "bit", "00", "false");
  type("32", "bit", "01", "true");
  type("34", "smallint", "0080", "-32768");
  type("38", "int", "ffffff7f", "2147483647");
  type("38", "int", "00000080", "-2147483648");
  type("7f", "bigint", "0000000000000080", "-9223372036854775808");
  type("7f", "bigint", "ffffffffffffff7f", "9223372036854775807");
  type("3b", "real", "0000c03f", "1.5");
  type("3b", "real", "cdcccc3d", "0.10000000149011612");
  type("3e", "float", "9a9999999999b93f", "0.10000000000000001");
  type("3e", "float", "ffffffffffffefff", "-1.7976931348623157e+308");

  type("26 01", "tinyint", "01 ff", "255");
  type("26 02", "smallint", "02 ffff", "-1");
  type("26 04", "int", "04 feffffff", "-2");
  type("26 08", "bigint", "08 fdffffffffffffff", "-3");
  type("26 08", "bigint", "00", "NULL");
  type("68 01", "bit", "01 01", "true");
  type("68 01", "bit", "00", "NULL");
  type("6d 04", "real", "04 000020c0", "-2.5");
  type("6d 08", "float", "08 000000000000f03f", "1");
  type("6d 08", "float", "00", "NULL");
  refused("26 03", "03 000000", NO_LENGTH);
  refused("26 00", "00", NO_LENGTH);
  refused("26 08", "03 000000", WRONG_LENGTH);
  refused("26 04", "08 0000000000000000", TOO_LONG);
  refused("68 02", "00", NO_LENGTH);
  refused("6d 08", "02 0000", WRONG_LENGTH);
  refused("99", "", "malformed: an unknown type 153");
}

static void decimals(void) {
  type("6a 05 09 02", "decimal", "05 01 f4060000", "'17.80'");
  type("6c 05 09 02", "numeric", "05 00 f4060000", "'-17.80'");
  type("6c 05 09 02", "numeric", "05 00 05000000", "'-0.05'");
  type("6c 05 09 09", "numeric", "05 01 01000000", "'0.000000001'");
  type("6c 05 09 02", "numeric", "05 00 00000000", "'0.00'"); /* no negative zero */
  type("6c 05 09 00", "numeric", "05 01 00000000", "'0'");
  type("6c 05 09 00", "numeric", "00", "NULL");
  type("6a 09 13 00", "decimal", "09 00 ffffe7890423c78a", "'-9999999999999999999'");
  type("6a 0d 1c 04", "decimal", "0d 01 ffffffffffffffff 01000000", "'3689348814741910.3231'");
  /* 10^38 - 1 at every scale that differs in kind. */
  type("6a 11 26 00", "decimal", "11 01 ffffffff3f228a097ac4865aa84c3b4b",
       "'99999999999999999999999999999999999999'");
  type("6a 11 26 26", "decimal", "11 00 ffffffff3f228a097ac4865aa84c3b4b",
       "'-0.99999999999999999999999999999999999999'");
  type("6a 11 26 01", "decimal", "11 01 ffffffff3f228a097ac4865aa84c3b4b",
       "'9999999999999999999999999999999999999.9'");
  type("6a 11 26 26", "decimal", "11 01 01000000000000000000000000000000",
       "'0.00000000000000000000000000000000000001'");
  /* 2^64 and 10^18·2^64: zeros between the groups of nine digits. */
  type("6a 11 26 00", "decimal", "11 01 00000000000000000100000000000000",
       "'18446744073709551616'");
  type("6a 11 26 00", "decimal", "11 01 0000000000000000000064a7b3b6e00d",
       "'18446744073709551616000000000000000000'");
  /* More than 38 digits cannot be, but are shown. */
  type("6a 11 26 00", "decimal", "11 01 ffffffffffffffffffffffffffffffff",
       "'340282366920938463463374607431768211455'");
  type("37 05 09 02", "decimal", "05 01 f4060000", "'17.80'");
  type("3f 05 09 02", "numeric", "05 01 f4060000", "'17.80'");
  refused("6a 06 09 02", "00", NO_LENGTH);
  refused("6a 05 00 00", "00", "malformed: a decimal's precision or scale out of range");
  refused("6a 11 27 00", "00", "malformed: a decimal's precision or scale out of range");
  refused("6a 11 09 0a", "00", "malformed: a decimal's precision or scale out of range");
  refused("6a 11 26 00", "06 000000000000", WRONG_LENGTH);
  refused("6a 05 09 00", "09 010000000000000000", TOO_LONG);

  type("3c", "money", "00000000 10270000", "'1.0000'");
  type("3c", "money", "ffffffff f0d8ffff", "'-1.0000'");
  type("3c", "money", "ffffff7f ffffffff", "'922337203685477.5807'");
  type("3c", "money", "00000080 00000000", "'-922337203685477.5808'");
  type("3c", "money", "01000000 00000000", "'429496.7296'"); /* the high half first */
  type("7a", "smallmoney", "ffffff7f", "'214748.3647'");
  type("7a", "smallmoney", "00000080", "'-214748.3648'");
  type("6e 08", "money", "08 00000000 01000000", "'0.0001'");
  type("6e 04", "smallmoney", "04 ffffffff", "'-0.0001'");
  type("6e 08", "money", "00", "NULL");
}

static void times(void) {
  type("3d", "datetime", "00000000 00000000", "1900-01-01 00:00:00.000000000");
  type("3d", "datetime", "ffffffff 00000000", "1899-12-31 00:00:00.000000000");
  type("3d", "datetime", "462effff 00000000", "1753-01-01 00:00:00.000000000");
  type("3d", "datetime", "7f242d00 ff818b01", "9999-12-31 23:59:59.997000000");
  type("3d", "datetime", "00000000 01000000", "1900-01-01 00:00:00.003000000");
  type("3d", "datetime", "00000000 02000000", "1900-01-01 00:00:00.007000000");
  type("3d", "datetime", "00000000 03000000", "1900-01-01 00:00:00.010000000");
  type("3d", "datetime", "00000000 00828b01", "1900-01-02 00:00:00.000000000"); /* the day rolls */
  type("3a", "smalldatetime", "ffff 9f05", "2079-06-06 23:59:00.000000000");
  type("6f 08", "datetime", "08 48aa0000 2c010000", "2019-05-09 00:00:01.000000000");
  type("6f 04", "smalldatetime", "04 0100 0100", "1900-01-02 00:01:00.000000000");
  type("6f 08", "datetime", "00", "NULL");
  refused("3d", "00000000 01828b01", "malformed: a time of day beyond 24 hours");
  refused("3d", "7f242d00 00828b01", "malformed: a date outside the years 1 to 9999");
  refused("3d", "00000080 00000000", "malformed: a date outside the years 1 to 9999");
  refused("3a", "0000 a005", "malformed: a time of day beyond 24 hours");

  type("28", "date", "03 000000", "0001-01-01");
  type("28", "date", "03 dab937", "9999-12-31");
  type("28", "date", "03 95950a", "1900-02-28");
  type("28", "date", "00", "NULL");
  refused("28", "03 dbb937", "malformed: a date outside the years 1 to 9999");
  refused("28", "02 0000", WRONG_LENGTH);
  type("29 00", "time", " 03 7f5101", "23:59:59.000000000");
  type("29 01", "time", "03 010000", "00:00:00.100000000");
  type("29 02", "time", "03 010000", "00:00:00.010000000");
  type("29 03", "time", "04 01000000", "00:00:00.001000000");
  type("29 04", "time", "04 01000000", "00:00:00.000100000");
  type("29 05", "time", "05 0100000000", "00:00:00.000010000");
  type("29 06", "time", "05 0100000000", "00:00:00.000001000");
  type("29 07", "time", "05 ffbf692ac9", "23:59:59.999999900");
  type("29 07", "time", "00", "NULL");
  refused("29 07", "05 00c0692ac9", "malformed: a time of day beyond 24 hours");
  refused("29 00", "03 805101", "malformed: a time of day beyond 24 hours");
  refused("29 08", "00", "malformed: a scale beyond 7");
  refused("29 07", "03 000000", WRONG_LENGTH);
  type("2a 07", "datetime2", "08 ffbf692ac9 dab937", "9999-12-31 23:59:59.999999900");
  type("2a 00", "datetime2", "06 000000 000000", "0001-01-01 00:00:00.000000000");
  type("2a 03", "datetime2", "07 01000000 000000", "0001-01-01 00:00:00.001000000");
  type("2a 07", "datetime2", "00", "NULL");
  /* In UTC already: the offset changes nothing. */
  type("2b 07", "datetimeoffset", "0a 0000000000 070000 2efc", "0001-01-08 00:00:00.000000000Z");
  type("2b 00", "datetimeoffset", "08 010000 dab937 4803", "9999-12-31 00:00:01.000000000Z");
  type("2b 07", "datetimeoffset", "00", "NULL");
}

static void texts(void) {
  type("e7 1400 " LATIN, "nvarchar", "0600 'abc'", "'abc'");
  type("e7 1400 " LATIN, "nvarchar", "0000", "''");
  type("e7 1400 " LATIN, "nvarchar", "ffff", "NULL");
  type("e7 401f " LATIN, "nvarchar", "0c00 6100e9003dd800de3dd8ac20",
       "'a\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd\xe2\x82\xac'");
  type("ef 0400 " LATIN, "nchar", "0400 6100 2000", "'a '");
  refused("e7 1400 " LATIN, "0300 610062", "malformed: half a character");
  refused("e7 1400 " LATIN, "1600 0000", TOO_LONG);
  refused("e7 1500 " LATIN, "0000", "malformed: half a character");
  refused("e7 421f " LATIN, "0000", TOO_LONG);
  refused("ef ffff " LATIN, "ffffffffffffffff", TOO_LONG);

  type("a7 0a00 " LATIN, "varchar", "0400 \"caf\" e9", "'caf\xc3\xa9'");
  type("a7 0a00 " LATIN, "varchar", "0100 80", "'\xe2\x82\xac'");
  type("a7 0a00 " LATIN, "varchar", "0100 81", "'\xc2\x81'");
  type("a7 0a00 " LATIN, "varchar", "0000", "''");
  type("a7 0a00 " LATIN, "varchar", "ffff", "NULL");
  type("a7 0a00 " UTF8, "varchar", "0500 \"caf\" c3a9", "'caf\xc3\xa9'");
  type("af 0300 " LATIN, "char", "0300 \"a  \"", "'a  '");
  type("a7 0a00 09042000 29", "varchar", "0100 e9", "'\xc3\x9a'");     /* sort id 41: 850 */
  type("a7 0a00 09042000 1e", "varchar", "0100 e9", "'\xce\x98'");     /* 30: 437 */
  type("a7 0a00 19042000 00", "varchar", "0100 c6", "'\xd0\x96'");     /* Russian: 1251 */
  type("a7 0a00 08042000 00", "varchar", "0100 aa", "'\xef\xbf\xbd'"); /* no character in 1253 */
  type("a7 0a00 39042000 00", "varchar", "0100 61", "'a'"); /* Hindi has no page: ASCII alone */
  refused("a7 0a00 39042000 00", "0100 e9", "unsupported: text of a collation without a code page");
  type("a7 0a00 11042000 00", "varchar", "0500 8abf 41 b1 5c",
       "'\xe6\xbc\xa2"
       "A\xef\xbd\xb1\\'");                                                             /* 932 */
  type("a7 0a00 04082000 00", "varchar", "0300 baba 80", "'\xe6\xb1\x89\xe2\x82\xac'"); /* 936 */
  type("a7 0a00 12042000 00", "varchar", "0200 c7d1", "'\xed\x95\x9c'");                /* 949 */
  type("a7 0a00 04042000 00", "varchar", "0200 ba7e", "'\xe6\xbc\xa2'");                /* 950 */
  type("a7 0a00 11042000 00", "varchar", "0200 41 8a",
       "'A\xef\xbf\xbd'"); /* half a character at the end */
  type("a7 0a00 11042000 00", "varchar", "0300 41 ff 42",
       "'A\xef\xbf\xbd"
       "B'");

  type("2f 05", "char", "02 \"ab\"", "'ab'");
  type("27 05", "varchar", "02 \"a\" e9", "'a\xc3\xa9'");
  type("27 05", "varchar", "00", "NULL");
  type("2d 05", "binary", "02 0102", "x'0102'");
  type("25 05", "varbinary", "02 0102", "x'0102'");
  refused("25 05", "06 010203040506", TOO_LONG);

  type("a5 0a00", "varbinary", "0300 00ff80", "x'00ff80'");
  type("a5 0a00", "varbinary", "0000", "x''");
  type("a5 0a00", "varbinary", "ffff", "NULL");
  type("ad 0300", "binary", "0300 010203", "x'010203'");
  refused("ad ffff", "0000", TOO_LONG);
  refused("a5 0a00", "0b00 0102030405060708090a0b", TOO_LONG);

  type("24 10", "uniqueidentifier", "10 33221100554477668899aabbccddeeff",
       "'00112233-4455-6677-8899-aabbccddeeff'");
  type("24 10", "uniqueidentifier", "00", "NULL");
  refused("24 0f", "00", NO_LENGTH);
}

#define UNKNOWN "feffffffffffffff"
#define PLP_NULL "ffffffffffffffff"
#define DIFFERS "malformed: PLP chunks that do not make up the length"

static void long_ones(void) {
  type("a5 ffff", "varbinary", "0300000000000000 03000000 010203 00000000", "x'010203'");
  type("a5 ffff", "varbinary", UNKNOWN "01000000 01 01000000 02 01000000 03 00000000", "x'010203'");
  type("a5 ffff", "varbinary", "0300000000000000 01000000 01 02000000 0203 00000000", "x'010203'");
  type("a5 ffff", "varbinary", "0000000000000000 00000000", "x''");
  type("a5 ffff", "varbinary", UNKNOWN "00000000", "x''");
  type("a5 ffff", "varbinary", PLP_NULL, "NULL");
  type("a7 ffff " LATIN, "varchar", UNKNOWN "02000000 61e9 01000000 62 00000000",
       "'a\xc3\xa9"
       "b'");
  type("a7 ffff " UTF8, "varchar", UNKNOWN "02000000 61c3 01000000 a9 00000000", "'a\xc3\xa9'");
  /* Units and surrogates in different chunks. */
  type("e7 ffff " LATIN, "nvarchar", UNKNOWN "01000000 3d 02000000 d800 01000000 de 00000000",
       "'\xf0\x9f\x98\x80'");
  type("e7 ffff " LATIN, "nvarchar", "0400000000000000 04000000 'ab' 00000000", "'ab'");
  type("e7 ffff " LATIN, "nvarchar", PLP_NULL, "NULL");
  refused("e7 ffff " LATIN, UNKNOWN "01000000 61 00000000", "malformed: half a character");
  refused("a5 ffff", "0300000000000000 02000000 0102 00000000", DIFFERS);
  refused("a5 ffff", "0300000000000000 04000000 01020304 00000000", DIFFERS);
  refused("a5 ffff", "0300000000000000 02000000 0102 02000000 0304 00000000", DIFFERS);
  refused("a5 ffff", "0300000000000000 00000000", DIFFERS);
  refused("a5 ffff", "0300000000000000 04000000 01", DIFFERS); /* said before it has come */
  refused("a5 ffff", "0000008000000000 00000000", TOO_LONG);
  refused("a5 ffff", UNKNOWN "00000080 00000000", TOO_LONG);
  refused("a5 ffff", UNKNOWN "01000000 01 ffffff7f 02", TOO_LONG);

  type("f1 00", "xml", UNKNOWN "0a000000 fffe '<a/>' 00000000", "'<a/>'");
  type("f1 00", "xml", "0800000000000000 08000000 '<a/>' 00000000", "'<a/>'");
  type("f1 01 00 00 0000", "xml", PLP_NULL, "NULL");
  type("f4", "json", "0700000000000000 07000000 \"{\" 22 \"a\" 22 \":1}\" 00000000", "'{\"a\":1}'");
  type("f4", "json", PLP_NULL, "NULL");
  type("f0 ffff 00 00 0b 'hierarchyid' 0000", "udt'hierarchyid'",
       "0200000000000000 02000000 5ac0 00000000", "x'5ac0'");
  type("f0 ffff 00 00 00 0000", "udt", PLP_NULL, "NULL");

#define POINTER "10 00112233445566778899aabbccddeeff 0102030405060708"
  type("23 ffffff7f " LATIN "00", "text", POINTER "02000000 61e9", "'a\xc3\xa9'");
  type("63 feffff7f " LATIN "01 0100 't'", "ntext", POINTER "04000000 'ab'", "'ab'");
  type("22 ffffff7f 00", "image", POINTER "02000000 0102", "x'0102'");
  type("22 ffffff7f 00", "image", POINTER "00000000", "x''");
  type("22 ffffff7f 00", "image", "00", "NULL");
  type("22 ffffff7f 00", "image", "01 00 0102030405060708 01000000 07", "x'07'");
  refused("22 ffffff7f 00", POINTER "00000080", TOO_LONG);
}

static void variants(void) {
  const char *v = "62 491f0000";
  type(v, "sql_variant", "00000000", "NULL");
  type(v, "sql_variant", "06000000 38 00 07000000", "7");
  type(v, "sql_variant", "0a000000 7f 00 0700000000000000", "7");
  type(v, "sql_variant", "04000000 34 00 ffff", "-1");
  type(v, "sql_variant", "03000000 30 00 ff", "255");
  type(v, "sql_variant", "03000000 32 00 01", "true");
  type(v, "sql_variant", "0a000000 3e 00 000000000000f03f", "1");
  type(v, "sql_variant", "06000000 3b 00 0000c03f", "1.5");
  type(v, "sql_variant", "0a000000 3c 00 00000000 10270000", "'1.0000'");
  type(v, "sql_variant", "06000000 7a 00 10270000", "'1.0000'");
  type(v, "sql_variant", "0a000000 3d 00 00000000 2c010000", "1900-01-01 00:00:01.000000000");
  type(v, "sql_variant", "06000000 3a 00 0100 0100", "1900-01-02 00:01:00.000000000");
  type(v, "sql_variant", "12000000 24 00 33221100554477668899aabbccddeeff",
       "'00112233-4455-6677-8899-aabbccddeeff'");
  type(v, "sql_variant", "05000000 28 00 000000", "0001-01-01");
  type(v, "sql_variant", "08000000 29 01 07 0a00000000", "00:00:00.000001000");
  type(v, "sql_variant", "0a000000 2a 01 03 01000000 000000", "0001-01-01 00:00:00.001000000");
  type(v, "sql_variant", "0d000000 2b 01 07 0000000000 070000 2efc",
       "0001-01-08 00:00:00.000000000Z");
  type(v, "sql_variant", "09000000 6c 02 0902 00 f4060000", "'-17.80'");
  type(v, "sql_variant", "15000000 6a 02 2600 01 ffffffff3f228a097ac4865aa84c3b4b",
       "'99999999999999999999999999999999999999'");
  type(v, "sql_variant", "06000000 a5 02 0a00 0102", "x'0102'");
  type(v, "sql_variant", "06000000 ad 02 0200 0102", "x'0102'");
  type(v, "sql_variant", "0b000000 a7 07 " LATIN "0a00 61e9", "'a\xc3\xa9'");
  type(v, "sql_variant", "0b000000 af 07 08042000 00 0a00 61e1", "'a\xce\xb1'");
  type(v, "sql_variant", "0d000000 e7 07 " LATIN "0a00 'ab'", "'ab'");
  type(v, "sql_variant", "09000000 ef 07 " LATIN "0a00", "''");
  refused(v, "01000000 38", "malformed: an sql_variant that is cut off");
  refused(v, "06000000 38 01 07000000", "malformed: an sql_variant with wrong properties");
  refused(v, "05000000 38 00 070000", WRONG_LENGTH);
  refused(v, "03000000 62 00 00", "malformed: an sql_variant of a type that it cannot hold");
  refused(v, "03000000 f1 00 00", "malformed: an sql_variant of a type that it cannot hold");
  refused(v, "03000000 00 00 00", "malformed: an sql_variant of a type that it cannot hold");
  refused(v, "05000000 e7 07 000000", "malformed: an sql_variant that is cut off");
  refused(v, "08000000 29 01 08 0a00000000", "malformed: a scale beyond 7");
  refused(v, "09000000 6c 02 0927 00 f4060000",
          "malformed: a decimal's precision or scale out of range");
  refused(v, "4a1f0000 38 00", TOO_LONG);
}

static void vectors(void) {
  const char *t = "f5 281f 00";
  type(t, "vector", "1400 a901 0300 00 000000 0000803f 000000c0 0000003e", "'[1,-2,0.125]'");
  type(t, "vector", "1000 a901 0200 00 000000 cdcccc3d ffff7f7f", "'[0.1,3.4028235e+38]'");
  type(t, "vector", "0c00 a901 0100 00 000000 01000080", "'[-1.4013e-45]'");
  type(t, "vector", "0800 a901 0000 00 000000", "'[]'");
  type(t, "vector", "ffff", "NULL");
  type("f5 281f 01", "vector", "1000 a901 0400 01 000000 003c 00c0 0100 ff7b",
       "'[1,-2,5.9604645e-08,65504]'");
  refused(t, "0c00 a901 0200 00 000000 0000803f", "malformed: a vector of another length");
  refused(t, "0c00 a801 0100 00 000000 0000803f", "malformed: no vector's header");
  refused(t, "0c00 a901 0100 02 000000 0000803f", "unsupported: a vector of elements of type 2");
  refused(t, "0c00 a901 0100 00 000000 0000807f",
          "malformed: a vector's element that is no number");
  refused("f5 281f 01", "0a00 a901 0100 01 000000 007c",
          "malformed: a vector's element that is no number");
  refused(t, "0400 a901 0100", "malformed: no vector's header");
}

/* A collation that the connection has holds for types that bring none. */
static void connection_collation(void) {
  feed_check("e3 0800 07 05 1904200000 00 81 0100 00000000 0000 27 05 00 d1 01 c6",
             "environment 7 collation 200419 0\ncolumns '' varchar\nrow '\xd0\x96'\nend\n");
}

int main(void) {
  numbers();
  decimals();
  times();
  texts();
  long_ones();
  variants();
  vectors();
  connection_collation();
  return unit_done("tds_types");
}
