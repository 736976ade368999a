/*
** Collations: their names, the five bytes they have in TYPE_INFO, and their code pages.
**
** [MS-TDS] 2.2.5.1.2: LCID in bits 0-19, ignore-case 20, ignore-accent 21, ignore-width 22,
** ignore-kana 23, binary 24, binary2 25, UTF-8 26; version in bits 28-31; then the sort id, which
** decides the code page where it is not 0.
*/
#include "tdsd.h"

#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  IGNORE_CASE = 1 << 20,
  IGNORE_ACCENT = 1 << 21,
  IGNORE_WIDTH = 1 << 22,
  IGNORE_KANA = 1 << 23,
  BINARY = 1 << 24,
  BINARY2 = 1 << 25,
  UTF8 = 1 << 26
};

/* Windows collations by what their names begin with. */
static const struct {
  const char *name;
  uint16_t lcid, codepage;
} windows[] = {
    {"Latin1_General", 0x409, 1252},
    {"Albanian", 0x41C, 1250},
    {"Arabic", 0x401, 1256},
    {"Chinese_PRC", 0x804, 936},
    {"Chinese_Taiwan_Stroke", 0x404, 950},
    {"Croatian", 0x41A, 1250},
    {"Cyrillic_General", 0x419, 1251},
    {"Czech", 0x405, 1250},
    {"Danish_Norwegian", 0x406, 1252},
    {"Estonian", 0x425, 1257},
    {"Finnish_Swedish", 0x40B, 1252},
    {"French", 0x40C, 1252},
    {"Greek", 0x408, 1253},
    {"Hebrew", 0x40D, 1255},
    {"Hungarian", 0x40E, 1250},
    {"Japanese", 0x411, 932},
    {"Korean_Wansung", 0x412, 949},
    {"Latvian", 0x426, 1257},
    {"Lithuanian", 0x427, 1257},
    {"Modern_Spanish", 0xC0A, 1252},
    {"Polish", 0x415, 1250},
    {"Romanian", 0x418, 1250},
    {"Slovak", 0x41B, 1250},
    {"Slovenian", 0x424, 1250},
    {"Thai", 0x41E, 874},
    {"Turkish", 0x41F, 1254},
    {"Ukrainian", 0x422, 1251},
    {"Vietnamese", 0x42A, 1258},
};

/* SQL Server's own, with a sort id. */
static const struct {
  const char *name;
  uint16_t lcid, codepage;
  uint8_t sort;
  bool ignore_case, ignore_accent;
} sql[] = {
    {"SQL_Latin1_General_CP1_CI_AS", 0x409, 1252, 52, true, false},
    {"SQL_Latin1_General_CP1_CS_AS", 0x409, 1252, 51, false, false},
    {"SQL_Latin1_General_CP1_CI_AI", 0x409, 1252, 54, true, true},
    {"SQL_Latin1_General_CP437_CI_AS", 0x409, 437, 32, true, false},
    {"SQL_Latin1_General_CP437_BIN", 0x409, 437, 30, false, false},
    {"SQL_Latin1_General_CP850_CI_AS", 0x409, 850, 42, true, false},
    {"SQL_Latin1_General_CP850_BIN", 0x409, 850, 40, false, false},
    {"SQL_Latin1_General_CP1250_CI_AS", 0x405, 1250, 82, true, false},
    {"SQL_Latin1_General_CP1251_CI_AS", 0x419, 1251, 106, true, false},
    {"SQL_Latin1_General_CP1253_CI_AS", 0x408, 1253, 114, true, false},
    {"SQL_Latin1_General_CP1254_CI_AS", 0x41F, 1254, 130, true, false},
    {"SQL_Latin1_General_CP1255_CI_AS", 0x40D, 1255, 138, true, false},
    {"SQL_Latin1_General_CP1256_CI_AS", 0x401, 1256, 146, true, false},
    {"SQL_Latin1_General_CP1257_CI_AS", 0x425, 1257, 154, true, false},
};

/* Which code page a sort id stands for: the last of a range, its first, the page. */
static const struct {
  uint8_t first, last;
  uint16_t codepage;
} sorts[] = {
    {30, 35, 437},    {40, 45, 850},    {49, 49, 850},    {50, 54, 1252},   {55, 61, 850},
    {71, 75, 1252},   {80, 98, 1250},   {104, 108, 1251}, {112, 124, 1253}, {128, 130, 1254},
    {136, 138, 1255}, {144, 146, 1256}, {152, 160, 1257}, {183, 186, 1252}, {192, 193, 932},
    {194, 195, 949},  {196, 197, 950},  {198, 199, 936},  {200, 200, 932},  {201, 201, 949},
    {202, 202, 950},  {203, 203, 936},  {204, 206, 874},  {210, 217, 1252},
};

static Collation *known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool begins(const char *text, const char *prefix) {
  return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* Reads what stands behind a Windows collation's language: _100, _CI, _BIN2, _UTF8 and the like. */
static bool read_suffix(const char *at, Collation *c) {
  static const struct {
    const char *word;
    uint32_t clear, set;
  } words[] = {
      {"_90", 0, 1u << 28},    {"_100", 0, 2u << 28},   {"_140", 0, 3u << 28},
      {"_CI", 0, IGNORE_CASE}, {"_CS", IGNORE_CASE, 0}, {"_AI", 0, IGNORE_ACCENT},
      {"_AS", 0, 0},           {"_KS", IGNORE_KANA, 0}, {"_WS", IGNORE_WIDTH, 0},
      {"_SC", 0, 0},           {"_VSS", 0, 0},          {"_UTF8", 0, UTF8},
      {"_BIN2", 0, BINARY2},   {"_BIN", 0, BINARY},
  };
  c->bits |= IGNORE_KANA | IGNORE_WIDTH;
  while (*at != 0) {
    size_t i = 0, count = sizeof words / sizeof *words;
    while (i < count && !begins(at, words[i].word)) i++;
    if (i == count) return false;
    c->bits = (c->bits & ~words[i].clear) | words[i].set;
    at += strlen(words[i].word);
  }
  if (c->bits & (BINARY | BINARY2)) c->bits &= ~(uint32_t)(IGNORE_KANA | IGNORE_WIDTH);
  return true;
}

static bool describe(const char *name, Collation *c) {
  for (size_t i = 0; i < sizeof sql / sizeof *sql; i++) {
    if (strcasecmp(name, sql[i].name) != 0) continue;
    snprintf(c->name, sizeof c->name, "%s", sql[i].name);
    c->sort = sql[i].sort;
    c->codepage = sql[i].codepage;
    c->bits = sql[i].lcid | IGNORE_KANA | IGNORE_WIDTH;
    if (sql[i].ignore_case) c->bits |= IGNORE_CASE;
    if (sql[i].ignore_accent) c->bits |= IGNORE_ACCENT;
    if (strstr(name, "_BIN") != NULL) c->bits = sql[i].lcid | BINARY;
    return true;
  }
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    if (!begins(name, windows[i].name)) continue;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->codepage = windows[i].codepage;
    c->bits = windows[i].lcid;
    if (!read_suffix(name + strlen(windows[i].name), c)) return false;
    if (c->bits & UTF8) c->codepage = 65001;
    return true;
  }
  return false;
}

const Collation *collation_find(const char *name) {
  pthread_mutex_lock(&lock);
  Collation *c = known;
  while (c != NULL && strcasecmp(c->name, name) != 0) c = c->next;
  if (c == NULL) {
    Collation made = {0};
    if (strlen(name) < sizeof made.name && describe(name, &made)) {
      made.ignore_case = (made.bits & IGNORE_CASE) != 0;
      made.ignore_accent = (made.bits & IGNORE_ACCENT) != 0;
      made.binary = (made.bits & (BINARY | BINARY2)) != 0;
      made.next = known;
      c = known = xmalloc(sizeof made);
      *c = made;
    }
  }
  pthread_mutex_unlock(&lock);
  return c;
}

const Collation *collation_default(void) { return collation_find("SQL_Latin1_General_CP1_CI_AS"); }

uint16_t collation_codepage(uint32_t bits, unsigned sort) {
  if (bits & UTF8) return 65001;
  if (sort != 0) {
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
      if (sort >= sorts[i].first && sort <= sorts[i].last) return sorts[i].codepage;
    }
    return 0;
  }
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    if ((bits & 0xFFFF) == windows[i].lcid) return windows[i].codepage;
  }
  return 1252;
}

/* Conversion -------------------------------------------------------------------------------------*/

static const char *page_name(unsigned codepage, char name[16]) {
  if (codepage == 65001) return "UTF-8";
  snprintf(name, 16, "CP%u", codepage);
  return name;
}

static bool run_iconv(const char *from, const char *to, const uint8_t *p, size_t n, Buf *out) {
  iconv_t converter = iconv_open(to, from);
  if (converter == (iconv_t)-1) return false;
  Buf copy = {0}; /* iconv wants a char * that is not const */
  buf_add(&copy, p, n);
  char *in = buf_string(&copy);
  size_t left = n;
  while (left > 0) {
    char space[4096], *to_p = space;
    size_t room = sizeof space;
    size_t done = iconv(converter, &in, &left, &to_p, &room);
    buf_add(out, space, sizeof space - room);
    if (done != (size_t)-1 || room < 64) continue;
    buf_u8(out, '?');
    /* What has no counterpart is skipped: one UTF-8 character or one byte. */
    do {
      in++;
      left--;
    } while (left > 0 && strcmp(from, "UTF-8") == 0 && (*in & 0xC0) == 0x80);
  }
  /* What composes, as 1255 and 1258, has held the last character back. */
  char rest[64], *rest_p = rest;
  size_t rest_room = sizeof rest;
  iconv(converter, NULL, NULL, &rest_p, &rest_room);
  buf_add(out, rest, sizeof rest - rest_room);
  iconv_close(converter);
  buf_free(&copy);
  return true;
}

bool collation_encode(unsigned codepage, const char *text, size_t n, Buf *out) {
  char name[16];
  bool ascii = true;
  for (size_t i = 0; i < n && ascii; i++) ascii = (text[i] & 0x80) == 0;
  if (ascii || codepage == 65001) {
    buf_add(out, text, n);
    return true;
  }
  return run_iconv("UTF-8", page_name(codepage, name), (const uint8_t *)text, n, out);
}

bool collation_decode(unsigned codepage, const uint8_t *p, size_t n, Buf *out) {
  char name[16];
  bool ascii = true;
  for (size_t i = 0; i < n && ascii; i++) ascii = p[i] < 0x80;
  if (ascii || codepage == 65001) {
    buf_add(out, p, n);
    return true;
  }
  return run_iconv(page_name(codepage, name), "UTF-8", p, n, out);
}
