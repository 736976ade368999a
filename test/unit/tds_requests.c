/*
** Requests, byte by byte after [MS-TDS] 2.2.6: batch, transaction manager, RPC with every type of parameter, bulk
** load; and the placeholders of a statement.
*/
#include "tds_feed.h"

static uint8_t buffer[200000];
static tds_message m;

static void begin(uint8_t type) {
  tds_message_begin(&m, type, TDS_PACKET_MAX, buffer, sizeof buffer);
}

/* What was put since begin. */
static void put_at(const char *expected, int line) {
  feed_bytes b = {0};
  feed_hex(&b, expected);
  unit_check(m.refused == NULL, __FILE__, line, m.refused ? m.refused : "");
  unit_check_bytes(buffer + 8, m.n - 8, b.p, b.n, __FILE__, line, expected);
  free(b.p);
}
#define put(expected) put_at(expected, __LINE__)

#define HEADERS "16000000 12000000 0200 8877665544332211 01000000"
#define DESCRIPTOR UINT64_C(0x1122334455667788)
#define COLLATION "0904d00034"

static void batches(void) {
  begin(TDS_BATCH);
  tds_batch(&m, "SELECT 1", 8, DESCRIPTOR);
  put(HEADERS "'SELECT 1'");
  begin(TDS_BATCH);
  tds_batch(&m, "", 0, 0);
  put("16000000 12000000 0200 0000000000000000 01000000");

  begin(TDS_TRANSACTION);
  tds_begin(&m, DESCRIPTOR, TDS_SNAPSHOT);
  put(HEADERS "0500 05 00");
  begin(TDS_TRANSACTION);
  tds_commit(&m, DESCRIPTOR);
  put(HEADERS "0700 00 00");
  begin(TDS_TRANSACTION);
  tds_rollback(&m, DESCRIPTOR, NULL);
  put(HEADERS "0800 00 00");
  begin(TDS_TRANSACTION);
  tds_rollback(&m, DESCRIPTOR, "s1");
  put(HEADERS "0800 02 's1' 00");
  begin(TDS_TRANSACTION);
  tds_save(&m, DESCRIPTOR, "s1");
  put(HEADERS "0900 02 's1'");

  uint8_t attention[8];
  tds_attention(attention);
  CHECK_BYTES(attention, 8, "\x06\x01\x00\x08\x00\x00\x01\x00", 8);
}

/* ---- Types and values -------------------------------------------------------------------------------- */

static tds_value text(const char *p) {
  return (tds_value){.kind = TDS_TEXT, .as.text = {p, strlen(p)}};
}
static tds_value bytes_of(const char *p, size_t n) {
  return (tds_value){.kind = TDS_BYTES, .as.bytes = {p, n}};
}
static tds_value i64(int64_t i) { return (tds_value){.kind = TDS_I64, .as.i64 = i}; }
static tds_value f64(double f) { return (tds_value){.kind = TDS_F64, .as.f64 = f}; }
static tds_value boolean(int b) { return (tds_value){.kind = TDS_BOOL, .as.boolean = b}; }
static tds_value moment(tds_time_form form, int32_t days, int64_t nanos, int zoned) {
  return (tds_value){.kind = TDS_TIME, .as.time = {nanos, days, (uint8_t)form, (uint8_t)zoned}};
}
static const tds_value null = {.kind = TDS_NULL};

/* What a value is declared and sent as by itself. */
static void natural_at(tds_value v, const char *declared, const char *expected, int line) {
  char name[TDS_DECLARATION];
  const tds_type_info t = tds_parameter_type(&v);
  const size_t n = tds_declare(&t, name);
  unit_check_str(name, declared, __FILE__, line, "declared");
  unit_check_int((int64_t)n, (int64_t)strlen(declared), __FILE__, line, "its length");
  begin(TDS_RPC);
  tds_put_type(&m, &t);
  tds_put_value(&m, &t, &v);
  put_at(expected, line);
}
#define natural(v, declared, expected) natural_at(v, declared, expected, __LINE__)

static void natural_types(void) {
  natural(null, "nvarchar(4000)", "e7 401f " COLLATION "ffff");
  natural(boolean(1), "bit", "68 01 01 01");
  natural(i64(-2), "bigint", "26 08 08 feffffffffffffff");
  natural(((tds_value){.kind = TDS_U64, .as.u64 = UINT64_MAX}), "decimal(20,0)",
          "6a 0d 14 00 0d 01 ffffffffffffffff 00000000");
  natural(f64(-0.5), "float", "6d 08 08 000000000000e0bf");
  natural(text("a\xc3\xa9\xf0\x9f\x98\x80"), "nvarchar(4000)",
          "e7 401f " COLLATION "0800 6100 e900 3dd8 00de");
  natural(text(""), "nvarchar(4000)", "e7 401f " COLLATION "0000");
  natural(bytes_of("\0\xff", 2), "varbinary(8000)", "a5 401f 0200 00ff");
  natural(moment(TDS_DATE, -719162, 0, 0), "date", "28 03 000000");
  natural(moment(TDS_DATE, 2932896, 0, 0), "date", "28 03 dab937");
  natural(moment(TDS_CLOCK, 0, INT64_C(86399999999900), 0), "time(7)", "29 07 05 ffbf692ac9");
  natural(moment(TDS_CLOCK, 0, INT64_C(86399999999999), 0), "time(7)", "29 07 05 ffbf692ac9");
  natural(moment(TDS_DATETIME, 2932896, 0, 0), "datetime2(7)", "2a 07 08 0000000000 dab937");
  natural(moment(TDS_DATETIME, 0, 1000, 1), "datetimeoffset(7)", "2b 07 0a 0a00000000 3af90a 0000");

  /* 4,000 units are short, one more is (max); a surrogate pair counts two. */
  static char longest[8002];
  memset(longest, 'x', 8001);
  longest[4000] = 0;
  const tds_value at_limit = text(longest);
  CHECK_INT(tds_parameter_type(&at_limit).length, 8000);
  memcpy(longest + 3997, "\xf0\x9f\x98\x80", 5); /* 3,999 units */
  const tds_value pair = text(longest);
  CHECK_INT(tds_parameter_type(&pair).length, 8000);
  memset(longest, 'x', 4001);
  longest[4001] = 0;
  tds_value v = text(longest);
  tds_type_info t = tds_parameter_type(&v);
  CHECK_INT(t.length, TDS_MAX);
  char name[TDS_DECLARATION];
  tds_declare(&t, name);
  CHECK_STR(name, "nvarchar(max)");
  begin(TDS_RPC);
  tds_put_type(&m, &t);
  tds_put_value(&m, &t, &v);
  CHECK_BYTES(buffer + 8, 20, "\xe7\xff\xff\x09\x04\xd0\x00\x34\x42\x1f\0\0\0\0\0\0\x42\x1f\0\0",
              20);
  CHECK_INT(m.n, 8 + 8 + 12 + 8002 + 4);
  CHECK_BYTES(buffer + m.n - 4, 4, "\0\0\0\0", 4);
  v = bytes_of(longest, 8000);
  CHECK_INT(tds_parameter_type(&v).length, 8000);
  v = bytes_of(longest, 8001);
  t = tds_parameter_type(&v);
  CHECK_INT(t.length, TDS_MAX);
  tds_declare(&t, name);
  CHECK_STR(name, "varbinary(max)");
}

/* A value as a given type; expected NULL: it must be refused. */
static void value_at(tds_type_info t, tds_value v, const char *expected, int line) {
  begin(TDS_BULK);
  tds_put_value(&m, &t, &v);
  if (expected) {
    put_at(expected, line);
  } else {
    unit_check_str(m.refused, "a value that does not fit its type", __FILE__, line, "refused");
  }
}
#define TYPE(...) ((tds_type_info){__VA_ARGS__})
#define value(t, v, expected) value_at(t, v, expected, __LINE__)

static void numbers(void) {
  value(TYPE(.type = TDS_INTN, .length = 1), i64(255), "01 ff");
  value(TYPE(.type = TDS_INTN, .length = 1), i64(256), NULL);
  value(TYPE(.type = TDS_INTN, .length = 1), i64(-1), NULL);
  value(TYPE(.type = TDS_INTN, .length = 2), i64(-32768), "02 0080");
  value(TYPE(.type = TDS_INTN, .length = 2), i64(32768), NULL);
  value(TYPE(.type = TDS_INTN, .length = 4), i64(INT32_MIN), "04 00000080");
  value(TYPE(.type = TDS_INTN, .length = 4), i64(INT64_C(2147483648)), NULL);
  value(TYPE(.type = TDS_INTN, .length = 8), i64(INT64_MIN), "08 0000000000000080");
  value(TYPE(.type = TDS_INTN, .length = 4), boolean(1), "04 01000000");
  value(TYPE(.type = TDS_INTN, .length = 4), text("1"), NULL);
  value(TYPE(.type = TDS_INTN, .length = 4), null, "00");
  value(TYPE(.type = TDS_BITN, .length = 1), i64(1), "01 01");
  value(TYPE(.type = TDS_BITN, .length = 1), i64(2), NULL);
  value(TYPE(.type = TDS_FLTN, .length = 4), f64(1.5), "04 0000c03f");
  value(TYPE(.type = TDS_FLTN, .length = 4), f64(1e300), NULL);
  value(TYPE(.type = TDS_FLTN, .length = 8), f64(1e308 * 10), NULL);
  value(TYPE(.type = TDS_FLTN, .length = 8), f64(0.0 * -1), "08 0000000000000080");
  value(TYPE(.type = TDS_INT4), null, NULL);
  value(TYPE(.type = TDS_VARIANT), i64(1), NULL);

  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("-17.80"), "05 00 f4060000");
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("+17.8"), "05 01 f4060000");
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("17.8000"), "05 01 f4060000");
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("17.801"), NULL);
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text(".5"), "05 01 32000000");
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("5."), "05 01 f4010000");
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), i64(-17), "05 00 a4060000");
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("0000000000000001"),
        "05 01 64000000");
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("10000000"), NULL);
  value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text("9999999.99"),
        "05 01 ffc99a3b");
  value(TYPE(.type = TDS_DECIMALN, .precision = 38, .scale = 38),
        text("-0.99999999999999999999999999999999999999"),
        "11 00 ffffffff3f228a097ac4865aa84c3b4b");
  value(TYPE(.type = TDS_DECIMALN, .precision = 38, .scale = 0),
        text("99999999999999999999999999999999999999"), "11 01 ffffffff3f228a097ac4865aa84c3b4b");
  value(TYPE(.type = TDS_DECIMALN, .precision = 38, .scale = 0),
        text("100000000000000000000000000000000000000"), NULL);
  static const char *const none[] = {"", "-", ".", "1e5", "1.2.3", "1 ", "NaN", "--1", "0x1"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    value(TYPE(.type = TDS_DECIMALN, .precision = 9, .scale = 2), text(none[i]), NULL);
  }
  const tds_type_info money = {.type = TDS_MONEYN, .length = 8},
                      small = {.type = TDS_MONEYN, .length = 4};
  value(money, text("-17.8"), "08 ffffffff b048fdff");
  value(money, i64(922337203685477), "08 ffffff7f 50e9ffff");
  value(money, text("922337203685477.5807"), "08 ffffff7f ffffffff");
  value(money, text("922337203685477.5808"), NULL);
  value(money, text("-922337203685477.5808"), "08 00000080 00000000");
  value(money, text("-922337203685477.5809"), NULL);
  value(money, text("1.00001"), NULL);
  value(money, f64(1), NULL);
  value(money, null, "00");
  value(small, text("214748.3647"), "04 ffffff7f");
  value(small, text("-214748.3648"), "04 00000080");
  value(small, text("214748.3648"), NULL);
  value(TYPE(.type = TDS_NUMERICN, .precision = 19, .scale = 0), text("9999999999999999999"),
        "09 01 ffffe7890423c78a");
  value(TYPE(.type = TDS_NUMERICN, .precision = 28, .scale = 0), i64(1),
        "0d 01 010000000000000000000000");
}

static void others(void) {
  value(TYPE(.type = TDS_TIMEN, .scale = 0), moment(TDS_CLOCK, 0, INT64_C(1999999999), 0),
        "03 010000");
  value(TYPE(.type = TDS_TIMEN, .scale = 3), moment(TDS_CLOCK, 0, INT64_C(1999999999), 0),
        "04 cf070000");
  value(TYPE(.type = TDS_TIMEN, .scale = 7), moment(TDS_CLOCK, 0, INT64_C(86400000000000), 0),
        NULL);
  value(TYPE(.type = TDS_TIMEN, .scale = 7), moment(TDS_CLOCK, 0, -1, 0), NULL);
  value(TYPE(.type = TDS_TIMEN, .scale = 7), moment(TDS_DATE, 0, 0, 0), NULL);
  value(TYPE(.type = TDS_DATEN), moment(TDS_CLOCK, 0, 0, 0), NULL);
  value(TYPE(.type = TDS_DATEN), moment(TDS_DATETIME, 0, 0, 0), NULL);
  value(TYPE(.type = TDS_DATEN), moment(TDS_DATE, -719163, 0, 0), NULL);
  value(TYPE(.type = TDS_DATEN), moment(TDS_DATE, 2932897, 0, 0), NULL);
  value(TYPE(.type = TDS_DATEN), null, "00");
  value(TYPE(.type = TDS_DATETIME2N, .scale = 3),
        moment(TDS_DATETIME, -719162, INT64_C(1000000), 0), "07 01000000 000000");
  value(TYPE(.type = TDS_DATETIMN, .length = 8), moment(TDS_DATETIME, -25567, INT64_C(3333333), 0),
        "08 00000000 01000000");
  value(TYPE(.type = TDS_DATETIMN, .length = 8),
        moment(TDS_DATETIME, -25568, INT64_C(86399999000000), 0),
        "08 00000000 00000000"); /* rounds to the next day */
  value(TYPE(.type = TDS_DATETIMN, .length = 8), moment(TDS_DATETIME, -25567 - 53691, 0, 0), NULL);
  value(TYPE(.type = TDS_DATETIMN, .length = 4), moment(TDS_DATETIME, 0, 0, 0), "04 df63 0000");
  value(TYPE(.type = TDS_DATETIMN, .length = 4),
        moment(TDS_DATETIME, -25567, INT64_C(90000000000), 0), "04 0000 0200"); /* half a minute */
  value(TYPE(.type = TDS_DATETIMN, .length = 4),
        moment(TDS_DATETIME, -25567, INT64_C(86399000000000), 0), "04 0100 0000");
  value(TYPE(.type = TDS_DATETIMN, .length = 4), moment(TDS_DATETIME, -25568, 0, 0), NULL);
  value(TYPE(.type = TDS_DATETIMN, .length = 4), moment(TDS_DATE, 39968, 0, 0), "04 ffff 0000");
  value(TYPE(.type = TDS_DATETIMN, .length = 4), moment(TDS_DATE, 39969, 0, 0), NULL);
  value(TYPE(.type = TDS_DATETIMN, .length = 4), moment(TDS_CLOCK, 0, 0, 0), NULL);

  value(TYPE(.type = TDS_GUID, .length = 16), text("00112233-4455-6677-8899-AABBccddeeff"),
        "10 33221100554477668899aabbccddeeff");
  value(TYPE(.type = TDS_GUID, .length = 16), text("00112233-4455-6677-8899+aabbccddeeff"), NULL);
  value(TYPE(.type = TDS_GUID, .length = 16), text("00112233-4455-6677-8899-aabbccddeefg"), NULL);
  value(TYPE(.type = TDS_GUID, .length = 16), text("00112233-4455-6677-8899-aabbccddeef"), NULL);

  value(TYPE(.type = TDS_NVARCHAR, .length = 4), text("ab"), "0400 'ab'");
  value(TYPE(.type = TDS_NVARCHAR, .length = 4), text("abc"), NULL);
  value(TYPE(.type = TDS_NVARCHAR, .length = TDS_MAX), text("ab"),
        "0400000000000000 04000000 'ab' 00000000");
  value(TYPE(.type = TDS_NVARCHAR, .length = TDS_MAX), text(""), "0000000000000000 00000000");
  value(TYPE(.type = TDS_NVARCHAR, .length = TDS_MAX), null, "ffffffffffffffff");
  value(TYPE(.type = TDS_NVARCHAR, .length = 4), bytes_of("a", 1), NULL);
  value(TYPE(.type = TDS_BIGVARBINARY, .length = 4), bytes_of("ab", 2), "0200 6162");
  value(TYPE(.type = TDS_BIGVARBINARY, .length = TDS_MAX), bytes_of("ab", 2),
        "0200000000000000 02000000 6162 00000000");
  value(TYPE(.type = TDS_BIGVARBINARY, .length = 4), text("ab"), NULL);
  value(TYPE(.type = TDS_BIGVARCHAR, .length = 4, .collation = 0x00D00409), text("ab"),
        "0200 6162");
  value(TYPE(.type = TDS_BIGVARCHAR, .length = 4, .collation = 0x00D00409), text("\xc3\xa9"), NULL);
  value(TYPE(.type = TDS_BIGVARCHAR, .length = 4, .collation = 0x04D00409), text("\xc3\xa9"),
        "0200 c3a9");
  static uint16_t page[128]; /* of 1251 */
  page[0] = 0x402, page[0x18] = 0xFFFD, page[0x7F] = 0x44F;
  const tds_type_info cyrillic = {
      .type = TDS_BIGVARCHAR, .length = 3, .collation = 0x00D00419, .high = page};
  value(cyrillic, text("a\xd1\x8f\xd0\x82"), "0300 61 ff 80");
  value(cyrillic, text("\xd1\x8f\xd0\x82zz"), NULL);
  value(cyrillic, text("\xc3\xa9"), NULL);
  value(cyrillic, text("\xef\xbf\xbd"), NULL);
  value(cyrillic, text("\xf0\x9f\x98\x80"), NULL);
  value(TYPE(.type = TDS_BIGVARCHAR, .length = TDS_MAX, .collation = 0x00D00419, .high = page),
        text("\xd1\x8f"), "0100000000000000 01000000 ff 00000000");
  value(TYPE(.type = TDS_JSON, .length = TDS_MAX), text("{}"),
        "0200000000000000 02000000 7b7d 00000000");

  begin(TDS_RPC);
  tds_put_type(&m, &TYPE(.type = TDS_XML));
  CHECK_STR(m.refused, "a type that is only read, not written");
}

/* ---- RPC ------------------------------------------------------------------------------------------------ */

static void procedures(void) {
  tds_parameter p[2] = {{.value = i64(7)}, {.value = text("x")}};
  for (int i = 0; i < 2; i++) p[i].info = tds_parameter_type(&p[i].value);
#define SQL "00 00 e7 401f " COLLATION "0a00 'f(@p1'"
#define VALUES "00 00 26 08 08 0700000000000000 00 00 e7 401f " COLLATION "0200 'x'"
  begin(TDS_RPC);
  tds_execute_sql(&m, DESCRIPTOR, "f(@p1", 5, p, 2);
  put(HEADERS "ffff 0a00 0000" SQL "00 00 e7 401f " COLLATION
              "3a00 '@p1 bigint,@p2 nvarchar(4000)'" VALUES);
  begin(TDS_RPC);
  tds_execute_sql(&m, DESCRIPTOR, "f(@p1", 5, NULL, 0);
  put(HEADERS "ffff 0a00 0000" SQL);
  begin(TDS_RPC);
  tds_prepare_execute(&m, DESCRIPTOR, "f(@p1", 5, p, 2);
  put(HEADERS "ffff 0d00 0000 00 01 26 04 00 00 00 e7 401f " COLLATION
              "3a00 '@p1 bigint,@p2 nvarchar(4000)'" SQL VALUES);
  begin(TDS_RPC);
  tds_prepare_execute(&m, DESCRIPTOR, "f(@p1", 5, NULL, 0);
  put(HEADERS "ffff 0d00 0000 00 01 26 04 00 00 00 e7 401f " COLLATION "ffff" SQL);
  begin(TDS_RPC);
  tds_execute_handle(&m, DESCRIPTOR, 1000, p, 2);
  put(HEADERS "ffff 0c00 0000 00 00 26 04 04 e8030000" VALUES);
  begin(TDS_RPC);
  tds_unprepare(&m, DESCRIPTOR, -1);
  put(HEADERS "ffff 0f00 0000 00 00 26 04 04 ffffffff");

  /* 2,100 parameters: the declarations become (max); one more is refused. */
  static tds_parameter many[2101];
  for (int i = 0; i < 2101; i++) {
    many[i].value = i64(i);
    many[i].info = tds_parameter_type(&many[i].value);
  }
  begin(TDS_RPC);
  tds_execute_sql(&m, 0, "f(@p1", 5, many, 2100);
  CHECK_STR(m.refused, NULL);
  feed_bytes expected = {0};
  feed_hex(&expected, "16000000 12000000 0200 0000000000000000 01000000 ffff 0a00 0000" SQL
                      "00 00 e7 ffff " COLLATION);
  /* 9 of "@p1 bigint," … : 9 + 90 + 900 + 1,101 names, and a comma less. */
  const uint32_t units = 9 * 11 + 90 * 12 + 900 * 13 + 1101 * 14 - 1;
  const uint8_t length[12] = {(uint8_t)(2 * units), (uint8_t)(2 * units >> 8), 0, 0, 0, 0, 0, 0,
                              (uint8_t)(2 * units), (uint8_t)(2 * units >> 8)};
  feed_append(&expected, length, 12);
  feed_hex(&expected, "'@p1 bigint,@p2 bigint,'");
  /* The first packet holds 32,759 bytes of it. */
  CHECK_BYTES(buffer + 8, expected.n, expected.p, expected.n);
  free(expected.p);
  begin(TDS_RPC);
  tds_execute_sql(&m, 0, "f", 1, many, 2101);
  CHECK_STR(m.refused, "more than 2,100 parameters");
}

static void bulk(void) {
  const tds_bulk_column columns[2] = {{TYPE(.type = TDS_INTN, .length = 4), "id", 0},
                                      {TYPE(.type = TDS_BIGVARBINARY, .length = TDS_MAX), "v", 1}};
  const tds_value rows[2][2] = {{i64(1), null}, {i64(2), bytes_of("a", 1)}};
  begin(TDS_BULK);
  tds_bulk_columns(&m, columns, 2);
  tds_bulk_row(&m, columns, rows[0], 2);
  tds_bulk_row(&m, columns, rows[1], 2);
  tds_bulk_done(&m);
  put("81 0200 00000000 0800 26 04 02 'id' 00000000 0900 a5 ffff 01 'v'"
      "d1 04 01000000 ffffffffffffffff  d1 04 02000000 0100000000000000 01000000 61 00000000"
      "fd 0000 0000 0000000000000000");
  begin(TDS_BULK);
  tds_bulk_columns(&m, columns, 0);
  CHECK_STR(m.refused, "no columns, or too many");
}

/* A message that outgrew its buffer is taken back and put again: what goes before it is still there. */
static void again(void) {
  uint8_t small[600], large[2000];
  tds_message_begin(&m, TDS_BULK, 512, small, sizeof small);
  tds_put_u32(&m, 1);
  const tds_message before = m;
  for (int i = 0; i < 200; i++) tds_put_u32(&m, 2);
  CHECK(m.n > m.size);
  const size_t needed = m.n;
  memcpy(large, small, before.n);
  m = before;
  m.p = large;
  m.size = sizeof large;
  for (int i = 0; i < 200; i++) tds_put_u32(&m, 2);
  CHECK_INT(m.n, needed);
  CHECK_BYTES(large + 8, 8, "\1\0\0\0\2\0\0\0", 8);
}

/* ---- Placeholders --------------------------------------------------------------------------------------- */

static void rewritten(const char *sql, const char *expected) {
  char out[200];
  const size_t n = tds_sql_rewrite(out, sizeof out - 1, sql, strlen(sql), NULL, 0);
  out[n] = 0;
  CHECK_STR(out, expected);
  /* Never beyond the room that is there, and the same length whatever that is. */
  for (size_t size = 0; size < n; size++) {
    char *exact = malloc(size + 1);
    if (!exact) abort();
    exact[size] = 'x';
    CHECK_INT(tds_sql_rewrite(exact, size, sql, strlen(sql), NULL, 0), n);
    CHECK(exact[size] == 'x' && memcmp(exact, expected, size) == 0);
    free(exact);
  }
}

static void placeholders(void) {
  rewritten("", "");
  rewritten("?", "@p1");
  rewritten("SELECT ?, ?+?", "SELECT @p1, @p2+@p3");
  rewritten("'?' ?", "'?' @p1");
  rewritten("'it''s ?' ?", "'it''s ?' @p1");
  rewritten("N'?' + ?", "N'?' + @p1");
  rewritten("'' ?", "'' @p1");
  rewritten("[a?] = ?", "[a?] = @p1");
  rewritten("[a]]?] = ?", "[a]]?] = @p1");
  rewritten("[a'?] = ? -- '", "[a'?] = @p1 -- '");
  rewritten("\"a?\"\"?\" = ?", "\"a?\"\"?\" = @p1");
  rewritten("-- ?\n?", "-- ?\n@p1");
  rewritten("a - ? -- ?", "a - @p1 -- ?");
  rewritten("a --? ?\r\n?", "a --? ?\r\n@p1");
  rewritten("/* ? */ ?", "/* ? */ @p1");
  rewritten("/* /* ? */ ? */ ?", "/* /* ? */ ? */ @p1");
  rewritten("/*/ ? */ ?", "/*/ ? */ @p1");
  rewritten("a / ? * ?", "a / @p1 * @p2");
  rewritten("/* ' */ ? '/*' ?", "/* ' */ @p1 '/*' @p2");
  rewritten("' ?", "' ?"); /* not closed: the server says so */
  rewritten("[ ?", "[ ?");
  rewritten("/* ?", "/* ?");
  rewritten("?/", "@p1/");
  rewritten("?-", "@p1-");
  rewritten("? ? ? ? ? ? ? ? ? ? ?", "@p1 @p2 @p3 @p4 @p5 @p6 @p7 @p8 @p9 @p10 @p11");
  char out[64];
  const uint8_t nulls[] = {0, 1, 0};
  const size_t n = tds_sql_rewrite(out, sizeof out, "a=? AND b=? AND c=? AND d=?", 27, nulls, 3);
  CHECK_TEXT(out, n, "a=@p1 AND b=NULL AND c=@p2 AND d=@p3");
}

int main(void) {
  batches();
  natural_types();
  numbers();
  others();
  procedures();
  bulk();
  again();
  placeholders();
  return unit_done("tds_requests");
}
