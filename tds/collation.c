/*
** tds/collation.c: which code page a collation's text is in ([MS-TDS] 2.2.5.1.2). The contract is in tds.h.
*/
#include "tdsInt.h"

#define UTF8_BIT (1u << 26)

static const struct {
  uint8_t first, last; /* sort ids */
  uint16_t page;
} sort_ids[] = {
    {30, 35, 437},    {40, 45, 850},    {49, 49, 850},    {50, 54, 1252},   {55, 61, 850},
    {71, 75, 1252},   {80, 98, 1250},   {104, 108, 1251}, {112, 124, 1253}, {128, 130, 1254},
    {136, 138, 1255}, {144, 146, 1256}, {152, 160, 1257}, {183, 186, 1252}, {192, 193, 932},
    {194, 195, 949},  {196, 197, 950},  {198, 199, 936},  {200, 200, 932},  {201, 201, 949},
    {202, 202, 950},  {203, 203, 936},  {204, 206, 874},  {210, 217, 1252},
};

/* Languages whose page is not 1252; 0: only Unicode. */
static const struct {
  uint16_t lcid, page;
} lcids[] = {
    {0x0405, 1250}, {0x040e, 1250}, {0x0415, 1250}, {0x0418, 1250}, {0x041a, 1250}, {0x041b, 1250},
    {0x041c, 1250}, {0x0424, 1250}, {0x0442, 1250}, {0x081a, 1250}, {0x101a, 1250}, {0x104e, 1250},
    {0x141a, 1250}, {0x181a, 1250}, {0x0402, 1251}, {0x0419, 1251}, {0x0422, 1251}, {0x0423, 1251},
    {0x0428, 1251}, {0x042f, 1251}, {0x043f, 1251}, {0x0440, 1251}, {0x0444, 1251}, {0x0450, 1251},
    {0x046d, 1251}, {0x0485, 1251}, {0x082c, 1251}, {0x0843, 1251}, {0x0850, 1251}, {0x0c1a, 1251},
    {0x1c1a, 1251}, {0x201a, 1251}, {0x0408, 1253}, {0x041f, 1254}, {0x042c, 1254}, {0x0443, 1254},
    {0x040d, 1255}, {0x0420, 1256}, {0x0429, 1256}, {0x0480, 1256}, {0x048c, 1256}, {0x0425, 1257},
    {0x0426, 1257}, {0x0427, 1257}, {0x0827, 1257}, {0x042a, 1258}, {0x041e, 874},  {0x0411, 932},
    {0x0804, 936},  {0x1004, 936},  {0x0412, 949},  {0x0404, 950},  {0x0c04, 950},  {0x1404, 950},
    {0x0439, 0},    {0x0445, 0},    {0x0446, 0},    {0x0447, 0},    {0x0448, 0},    {0x0449, 0},
    {0x044a, 0},    {0x044b, 0},    {0x044c, 0},    {0x044d, 0},    {0x044e, 0},    {0x044f, 0},
    {0x0451, 0},    {0x0453, 0},    {0x0454, 0},    {0x0457, 0},    {0x045a, 0},    {0x0461, 0},
    {0x0463, 0},    {0x0465, 0},    {0x0845, 0},
};

#define PRIMARY_LANGUAGE 0x3FF /* of an LCID; the bits above are the sublanguage */
#define ARABIC 0x001

uint16_t tds_code_page(uint32_t collation, uint8_t sort_id) {
  const uint16_t lcid = (uint16_t)collation;
  if (collation & UTF8_BIT) return 65001;
  if (sort_id != 0) {
    for (size_t i = 0; i < sizeof sort_ids / sizeof sort_ids[0]; i++) {
      if (sort_id >= sort_ids[i].first && sort_id <= sort_ids[i].last) return sort_ids[i].page;
    }
  }
  if ((lcid & PRIMARY_LANGUAGE) == ARABIC) return 1256;
  for (size_t i = 0; i < sizeof lcids / sizeof lcids[0]; i++) {
    if (lcids[i].lcid == lcid) return lcids[i].page;
  }
  return 1252;
}
