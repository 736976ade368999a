/*
** PRELOGIN and LOGIN7, byte by byte.
*/
#include "primitives.h"

#include "tds/tds.h"

static void prelogin_written(void) {
  uint8_t buffer[600];
  tds_message m;
  const uint8_t *p;
  size_t n;
  tds_prelogin out = {.version = {1, 2, 0x12, 0x34},
                      .subbuild = 0x0506,
                      .encryption = TDS_ENCRYPT_REQUIRED,
                      .thread_id = 0x01020304};
  tds_message_begin(&m, TDS_PRELOGIN, TDS_LOGIN_PACKET, buffer, sizeof buffer);
  tds_prelogin_write(&m, &out);
  tds_message_end(&m);
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_OK);
  CHECK_HEX(p, n,
            "1201002f00000100"
            "00 001a 0006  01 0020 0001  02 0021 0001  03 0022 0004  04 0026 0001  ff"
            "010212340506  03  00  04030201  00");

  memcpy(out.instance, "SQLX", 5);
  tds_message_begin(&m, TDS_PRELOGIN, TDS_LOGIN_PACKET, buffer, sizeof buffer);
  tds_prelogin_write(&m, &out);
  CHECK_HEX(buffer + 8 + 10, 5, "02 0021 0005");
  CHECK_HEX(buffer + 8 + 33, 5, "53514c5800");
}

static tds_status reply(const char *text, tds_prelogin *out, const char **what) {
  const bytes in = hex(text);
  uint8_t *p = guarded(in.n ? in.n : 1);
  tds_fault fault;
  memcpy(p, in.p, in.n);
  const tds_status status = tds_prelogin_read(p, in.n, out, &fault);
  *what = fault.what;
  return status;
}

static void prelogin_read(void) {
  tds_prelogin in;
  const char *what;
  /* SQL Server's own shape: VERSION, ENCRYPTION, INSTOPT, THREADID (empty), MARS, TRACEID (empty), FEDAUTH. */
  CHECK_INT(
      reply("00 0024 0006 01 002a 0001 02 002b 0001 03 002c 0000 04 002c 0001 05 002d 0000 06 "
            "002d 0001 ff"
            "100003e80001 01 01 01 02",
            &in, &what),
      TDS_OK);
  CHECK_HEX(in.version, 4, "100003e8");
  CHECK_INT(in.subbuild, 1);
  CHECK_INT(in.encryption, TDS_ENCRYPT_ON);
  CHECK_INT(in.instance_wrong, 1);
  CHECK_INT(in.mars, 1);
  CHECK_INT(in.fedauth, 2);

  static const struct {
    const char *bytes, *what;
  } lies[] = {
      {"", "PRELOGIN options without an end"},
      {"00 0006 0006 01", "a PRELOGIN option beyond the message's end"},
      {"09 0000 0000 01 00", "a PRELOGIN option that is cut off"},
      {"00 000b 0006 01 0011 0001 ff 100003e80001", "a PRELOGIN option beyond the message's end"},
      {"00 000b 0006 01 ffff 0001 ff 100003e80001 00",
       "a PRELOGIN option beyond the message's end"},
      {"00 000b ffff 01 0011 0001 ff 100003e80001 00",
       "a PRELOGIN option beyond the message's end"},
      {"00 000b 0005 01 0010 0001 ff 100003e800 01", "a PRELOGIN version that is not 6 bytes"},
      {"00 000b 0006 01 0011 0000 ff 100003e80001", "a PRELOGIN encryption that is not 1 byte"},
      {"00 0006 0006 ff 100003e80001", "a PRELOGIN reply without version or encryption"},
      {"01 0006 0001 ff 00", "a PRELOGIN reply without version or encryption"},
      {"00 000a 0006 01 0010 0001 100003e80001 00", "a PRELOGIN option beyond the message's end"},
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    CHECK_INT(reply(lies[i].bytes, &in, &what), TDS_MALFORMED);
    CHECK_STR(what, lies[i].what);
  }
}

static size_t u16_at(const uint8_t *p) { return (size_t)(p[0] + 256 * p[1]); }
static size_t u32_at(const uint8_t *p) { return u16_at(p) + 65536 * u16_at(p + 2); }

/* A string of LOGIN7, by the place of its offset. */
static void login_string(const uint8_t *p, size_t at, const char *expected) {
  const size_t offset = u16_at(p + at), units = u16_at(p + at + 2);
  char text[400];
  CHECK_STR((text[tds_to_utf8(text, p + offset, units)] = 0, text), expected);
}

static void login_written(void) {
  static uint8_t buffer[9000];
  tds_message m;
  const uint8_t *p;
  size_t n;
  const tds_login login = {.tds_version = TDS_VERSION_80,
                           .packet_size = 16000,
                           .program_version = 0x01000000,
                           .process_id = 77,
                           .features = TDS_FEATURE(TDS_FEATURE_UTF8) |
                                       TDS_FEATURE(TDS_FEATURE_JSON) |
                                       TDS_FEATURE(TDS_FEATURE_VECTOR),
                           .read_only = 1,
                           .host = "h",
                           .user = "sa",
                           .password = "a\xc3\xa9",
                           .app = "edb",
                           .server = "db.example",
                           .library = "edb",
                           .database = "shop\xf0\x9f\x98\x80"};
  tds_message_begin(&m, TDS_LOGIN7, TDS_LOGIN_PACKET, buffer, sizeof buffer);
  tds_login_write(&m, &login);
  tds_message_end(&m);
  CHECK_STR(m.refused, NULL);
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_OK);
  CHECK_INT(p[0], TDS_LOGIN7);
  p += 8;
  n -= 8;
  CHECK_INT(u32_at(p), n);
  CHECK_HEX(p + 4, 32,
            "00000008 803e0000 00000001 4d000000 00000000 f0 03 20 18 00000000 09040000");
  login_string(p, 36, "h");
  login_string(p, 40, "sa");
  CHECK_INT(u16_at(p + 46), 2);
  /* 'a' 61 00, 'é' e9 00: nibbles swapped, then XOR a5. */
  CHECK_HEX(p + u16_at(p + 44), 4, "b3a5 3ba5");
  login_string(p, 48, "edb");
  login_string(p, 52, "db.example");
  login_string(p, 60, "edb");
  login_string(p, 64, "");
  login_string(p, 68, "shop\xf0\x9f\x98\x80");
  CHECK_HEX(p + 72, 6, "000000000000");
  CHECK_INT(u16_at(p + 80) + u16_at(p + 84) + u16_at(p + 88), 0);
  CHECK_INT(u32_at(p + 90), 0);
  CHECK_INT(u16_at(p + 36), 94);
  CHECK_INT(u16_at(p + 58), 4);
  const size_t features = u32_at(p + u16_at(p + 56));
  CHECK_HEX(p + features, n - features, "0a 01000000 01  0d 01000000 01  0e 01000000 01  ff");

  /* Nothing asked for: still a terminator. */
  const tds_login plain = {.tds_version = TDS_VERSION_74, .packet_size = 4096, .user = "u"};
  tds_message_begin(&m, TDS_LOGIN7, TDS_LOGIN_PACKET, buffer, sizeof buffer);
  tds_login_write(&m, &plain);
  CHECK_HEX(buffer + 8 + 4, 4, "04000074");
  CHECK_INT(m.n, 8 + 94 + 2 + 4 + 1);
  CHECK_INT(buffer[m.n - 1], 0xff);
  CHECK_INT(u32_at(buffer + 8), m.n - 8);
}

/* Strings of 128 units go, of 129 do not; a login of more than a packet is split at 4,096 bytes. */
static void login_limits(void) {
  static uint8_t buffer[9000];
  char longest[258], name[516];
  tds_message m;
  memset(longest, 'x', sizeof longest);
  longest[128] = 0;
  for (int i = 0; i < 64; i++) memcpy(name + 4 * i, "\xf0\x9f\x98\x80", 4);
  name[256] = 0;
  tds_login login = {.host = longest, .user = name, .password = longest, .app = longest};
  tds_message_begin(&m, TDS_LOGIN7, TDS_PACKET_MIN, buffer, sizeof buffer);
  tds_login_write(&m, &login);
  tds_message_end(&m);
  CHECK_STR(m.refused, NULL);
  const uint8_t *p;
  size_t n;
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_OK);
  CHECK_INT(n, 512);
  CHECK_INT(p[1], 0);
  CHECK_INT(u32_at(p + 8), 94 + 4 * 256 + 5);

  name[256] = 'y';
  name[257] = 0;
  tds_message_begin(&m, TDS_LOGIN7, 4096, buffer, sizeof buffer);
  tds_login_write(&m, &login);
  CHECK_STR(m.refused, "a login string of more than 128 characters");
}

int main(void) {
  prelogin_written();
  prelogin_read();
  login_written();
  login_limits();
  return unit_done("tds_login");
}
