/*
** tds/login7.c: LOGIN7 ([MS-TDS] 2.2.6.4). The contracts are in tds.h.
**
** 94 fixed bytes with the offsets and lengths of the strings; the strings; the offset of FeatureExt, to
** which the field Extension points; FeatureExt, which the specification wants at the end.
*/
#include "tdsInt.h"

#include "../crypto/crypto.h"

#define FIXED 94
#define LONGEST 128 /* units of a string */

enum flags {
  /* OptionFlags1: no BCP dump-load, tell of USE, refuse a login whose database or language is not there */
  DUMPLOAD_OFF = 0x10,
  USE_DB = 0x20,
  DATABASE_FATAL = 0x40,
  SET_LANGUAGE = 0x80,
  /* OptionFlags2: ODBC gives the ANSI settings that clients of today expect */
  LANGUAGE_FATAL = 0x01,
  ODBC = 0x02,
  /* TypeFlags */
  READ_ONLY_INTENT = 0x20,
  /* OptionFlags3 */
  UNKNOWN_COLLATIONS = 0x08,
  EXTENSION = 0x10
};

/* The strings in the order of their offsets; Extension stands between SERVER and LIBRARY. */
enum { HOST, USER, PASSWORD, APP, SERVER, LIBRARY, LANGUAGE, DATABASE, STRINGS };

/* What is advertised, with its data (a version each). */
static const uint8_t features[] = {TDS_FEATURE_UTF8, TDS_FEATURE_JSON, TDS_FEATURE_VECTOR};

static void put_features(tds_message *m, uint32_t wanted) {
  for (size_t i = 0; i < sizeof features; i++) {
    if (!(wanted & TDS_FEATURE(features[i]))) continue;
    tds_put_u8(m, features[i]);
    tds_put_u32(m, 1);
    tds_put_u8(m, 1);
  }
  tds_put_u8(m, 0xFF);
}

static size_t length_of(const char *text) { return text ? strlen(text) : 0; }

/* "first swap the four high bits with the four low bits and then do a bit-XOR with 0xA5" */
static void put_password(tds_message *m, const char *password) {
  uint8_t units[2 * LONGEST];
  size_t n = length_of(password);
  const size_t written =
      tds_utf16_units(password, n) <= LONGEST ? tds_from_utf8(units, password, n) : 0;
  for (size_t i = 0; i < written; i++) {
    units[i] = (uint8_t)((units[i] << 4 | units[i] >> 4) ^ 0xA5);
  }
  tds_put(m, units, written);
  ecr_wipe(units, sizeof units);
}

void tds_login_write(tds_message *m, const tds_login *login) {
  const char *strings[STRINGS];
  size_t units[STRINGS], offset = FIXED;
  strings[HOST] = login->host;
  strings[USER] = login->user;
  strings[PASSWORD] = login->password;
  strings[APP] = login->app;
  strings[SERVER] = login->server;
  strings[LIBRARY] = login->library;
  strings[LANGUAGE] = login->language;
  strings[DATABASE] = login->database;
  for (int i = 0; i < STRINGS; i++) {
    units[i] = tds_utf16_units(strings[i], length_of(strings[i]));
    if (units[i] > LONGEST) {
      tds_refuse_value(m, "a login string of more than 128 characters");
      return;
    }
    offset += 2 * units[i];
  }
  size_t feature_bytes = 1;
  for (size_t i = 0; i < sizeof features; i++) {
    if (login->features & TDS_FEATURE(features[i])) feature_bytes += 6;
  }
  const size_t extension =
      offset; /* behind the strings: the offset of FeatureExt, then that itself */

  tds_put_u32(m, (uint32_t)(extension + 4 + feature_bytes));
  tds_put_u32(m, login->tds_version);
  tds_put_u32(m, login->packet_size);
  tds_put_u32(m, login->program_version);
  tds_put_u32(m, login->process_id);
  tds_put_u32(m, 0); /* ConnectionID */
  tds_put_u8(m, DUMPLOAD_OFF | USE_DB | DATABASE_FATAL | SET_LANGUAGE);
  tds_put_u8(m, LANGUAGE_FATAL | ODBC);
  tds_put_u8(m, login->read_only ? READ_ONLY_INTENT : 0);
  tds_put_u8(m, UNKNOWN_COLLATIONS | EXTENSION);
  tds_put_u32(m, 0); /* ClientTimeZone */
  tds_put_u32(m, 0x409);

  offset = FIXED;
  for (int i = 0; i < STRINGS; i++) {
    tds_put_u16(m, (uint16_t)offset);
    tds_put_u16(m, (uint16_t)units[i]);
    offset += 2 * units[i];
    if (i == SERVER) {
      tds_put_u16(m, (uint16_t)extension);
      tds_put_u16(m, 4);
    }
  }
  static const uint8_t client_id[6] = {0};
  tds_put(m, client_id, sizeof client_id);
  for (int i = 0; i < 3; i++) { /* SSPI, AtchDBFile, ChangePassword */
    tds_put_u16(m, (uint16_t)extension);
    tds_put_u16(m, 0);
  }
  tds_put_u32(m, 0); /* cbSSPILong */

  for (int i = 0; i < STRINGS; i++) {
    if (i == PASSWORD) {
      put_password(m, strings[i]);
    } else {
      tds_put_text(m, strings[i], length_of(strings[i]));
    }
  }
  tds_put_u32(m, (uint32_t)(extension + 4));
  put_features(m, login->features);
}
