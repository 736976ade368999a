/*
** tds/row.c: ROW, NBCROW and the value of RETURNVALUE ([MS-TDS] 2.2.7.19, .14, .18). The contract is in tdsInt.h.
**
** A row that stands whole in a chunk, each of its PLP values in one piece, is decoded where it is. Any other
** is copied into the held room by a cursor that knows the column and how many bytes it wants, so that each byte is
** looked at once, however many chunks it comes in; chunks of a PLP value are joined on the way. The copy is
** a row like any other, with one chunk a value, and decoded likewise.
*/
#include "tdsInt.h"

#define PLP_NULL UINT64_C(0xFFFFFFFFFFFFFFFF)
#define PLP_UNKNOWN UINT64_C(0xFFFFFFFFFFFFFFFE)
#define VALUE_MAX 0x7FFFFFFFu /* bytes of a value */
#define TIMESTAMP 8           /* behind a text pointer */

static const char too_long[] = "a length beyond the type's maximum";
static const char plp_differs[] = "PLP chunks that do not make up the length";

/* Columns and values of what is being read. */
static const tds_column *columns_of(const tds_stream *s) {
  return s->row.mode == TDS_RETURNVALUE ? &s->returned : s->columns;
}
static size_t count_of(const tds_stream *s) {
  return s->row.mode == TDS_RETURNVALUE ? 1 : s->n_columns;
}

static int is_null(const uint8_t *bitmap, size_t i) { return bitmap[i / 8] >> i % 8 & 1; }

/* ---- In place ---------------------------------------------------------------------------------------- */

typedef enum found { FOUND, FOUND_NULL, SHORT, CHUNKED, WRONG, LYING } found;

/* The one chunk of a PLP value at *p. */
static found find_plp(const uint8_t **p, const uint8_t *end, size_t *n) {
  const uint8_t *at = *p;
  if (end - at < 8) return SHORT;
  const uint64_t total = tds_get_u64(at);
  at += 8;
  if (total == PLP_NULL) {
    *p = at;
    return FOUND_NULL;
  }
  if (total != PLP_UNKNOWN && total > VALUE_MAX) return WRONG;
  if (end - at < 4) return SHORT;
  *n = tds_get_u32(at);
  at += 4;
  if (*n > 0) {
    if ((size_t)(end - at) < *n || (size_t)(end - at) - *n < 4) return SHORT;
    if (tds_get_u32(at + *n) != 0) return CHUNKED;
  }
  if (total != PLP_UNKNOWN && total != *n) return LYING;
  *p = at;
  return FOUND;
}

static found find_text(const uint8_t **p, const uint8_t *end, size_t *n) {
  const uint8_t *at = *p;
  if (at == end) return SHORT;
  const size_t head = *at++;
  if (head == 0) {
    *p = at;
    return FOUND_NULL;
  }
  if ((size_t)(end - at) < head + TIMESTAMP + 4) return SHORT;
  at += head + TIMESTAMP;
  *n = tds_get_u32(at);
  if (*n > VALUE_MAX) return WRONG;
  *p = at + 4;
  return FOUND;
}

/* The value of type t at *p: its bytes from *p on, *n of them, or none where it is NULL. */
static inline found find_value(const tds_type_info *t, const uint8_t **p, const uint8_t *end,
                               size_t *n) {
  const uint8_t *at = *p;
  found f = FOUND;
  switch (t->layout) {
  case TDS_FIXED:
    *n = t->fixed;
    break;
  case TDS_LEN1:
    if (at == end) return SHORT;
    *n = *at++;
    if (*n == 0) f = FOUND_NULL;
    break;
  case TDS_LEN2:
    if (end - at < 2) return SHORT;
    *n = tds_get_u16(at);
    at += 2;
    if (*n == 0xFFFF) f = FOUND_NULL;
    break;
  case TDS_LEN4:
    if (end - at < 4) return SHORT;
    *n = tds_get_u32(at);
    at += 4;
    if (*n == 0) f = FOUND_NULL;
    break;
  case TDS_TEXTPTR:
    f = find_text(&at, end, n);
    break;
  default:
    f = find_plp(&at, end, n);
    break;
  }
  if (f > FOUND_NULL) return f;
  *p = at;
  if (f == FOUND_NULL) return f;
  if (t->layout <= TDS_LEN4 && *n > t->length) return WRONG;
  return (size_t)(end - at) < *n ? SHORT : FOUND;
}

/* Decodes the row from *p on. TDS_OK: *p is behind it. TDS_MORE: it does not stand there whole, in one piece. */
static tds_status decode(tds_stream *s, const uint8_t **p, const uint8_t *end, tds_value *v) {
  const tds_column *c = columns_of(s);
  const uint8_t *at = *p, *nulls = NULL;
  const size_t n = count_of(s);
  s->text = 0;
  if (s->row.mode == TDS_NBCROW) {
    if ((size_t)(end - at) < (n + 7) / 8) return TDS_MORE;
    nulls = at;
    at += (n + 7) / 8;
  }
  for (size_t i = 0; i < n; i++) {
    size_t size = 0;
    if (nulls && is_null(nulls, i)) {
      v[i].kind = TDS_NULL;
      continue;
    }
    const found f = find_value(&c[i].info, &at, end, &size);
    if (f == FOUND) {
      const tds_status status = c[i].info.decode(s, &c[i].info, at, size, &v[i]);
      if (status != TDS_OK) {
        *p = at;
        return status;
      }
      at += size;
      if (c[i].info.layout == TDS_PLP && size > 0)
        at += 4; /* the terminator; an empty value is it */
    } else if (f == FOUND_NULL) {
      v[i].kind = TDS_NULL;
    } else if (f >= WRONG) {
      *p = at;
      return tds_refuse(s, TDS_MALFORMED, f == WRONG ? too_long : plp_differs, 0);
    } else {
      return TDS_MORE;
    }
  }
  *p = at;
  return TDS_OK;
}

/* ---- The cursor ----------------------------------------------------------------------------------------- */

/* What the bytes that are wanted are. */
enum phase {
  START, /* nothing is copied yet */
  BITMAP,
  LENGTH,  /* of a value, in one, two or four bytes */
  POINTER, /* a text pointer's length */
  HEAD,    /* text pointer, timestamp, length */
  DATA,
  PLP_TOTAL,
  PLP_FIRST, /* length of the first chunk, which becomes that of the one chunk */
  PLP_DATA,
  PLP_NEXT /* length of a further chunk, or the terminator */
};

static void want(tds_stream *s, enum phase phase, uint64_t n) {
  s->row.phase = (uint8_t)phase;
  s->row.want = n;
}

/* On to the next column that has something on the wire, if there is one. */
static void begin_column(tds_stream *s) {
  const tds_column *c = columns_of(s);
  const uint8_t *nulls = s->row.mode == TDS_NBCROW ? s->room[TDS_ROOM_HELD].p : NULL;
  const size_t n = count_of(s);
  while (nulls && s->row.column < n && is_null(nulls, s->row.column)) s->row.column++;
  if (s->row.column == n) {
    s->row.whole = 1;
    return;
  }
  const tds_type_info *t = &c[s->row.column].info;
  switch (t->layout) {
  case TDS_FIXED:
    want(s, DATA, t->fixed);
    break;
  case TDS_LEN1:
    want(s, LENGTH, 1);
    break;
  case TDS_LEN2:
    want(s, LENGTH, 2);
    break;
  case TDS_LEN4:
    want(s, LENGTH, 4);
    break;
  case TDS_TEXTPTR:
    want(s, POINTER, 1);
    break;
  default:
    want(s, PLP_TOTAL, 8);
    break;
  }
}

static void end_column(tds_stream *s) {
  s->row.column++;
  begin_column(s);
}

static tds_status refuse(tds_stream *s, const char *what) {
  return tds_refuse(s, TDS_MALFORMED, what, 0);
}

/* A length that was just copied, of a value that is not PLP. */
static tds_status take_length(tds_stream *s, const tds_type_info *t, const uint8_t *end) {
  uint32_t n;
  int null;
  if (t->layout == TDS_LEN1) {
    n = end[-1];
    null = n == 0;
  } else if (t->layout == TDS_LEN2) {
    n = tds_get_u16(end - 2);
    null = n == 0xFFFF;
  } else {
    n = tds_get_u32(end - 4);
    null = n == 0;
  }
  if (null) {
    end_column(s);
    return TDS_OK;
  }
  if (n > t->length) return refuse(s, too_long);
  want(s, DATA, n);
  return TDS_OK;
}

/* A chunk's length that was just copied. The first one stays, and grows by the others; these are taken away. */
static tds_status take_chunk(tds_stream *s, uint8_t *end, int first) {
  const uint32_t n = tds_get_u32(end - 4);
  const uint64_t limit = s->row.total == PLP_UNKNOWN ? VALUE_MAX : s->row.total;
  if (n > limit - s->row.sum) return refuse(s, limit == VALUE_MAX ? too_long : plp_differs);
  s->row.sum += n;
  if (first) s->row.mark = s->held.n - 4;
  if (n == 0) {
    if (s->row.total != PLP_UNKNOWN && s->row.sum != s->row.total) return refuse(s, plp_differs);
    if (!first)
      tds_set_u32((uint8_t *)s->room[TDS_ROOM_HELD].p + s->row.mark, (uint32_t)s->row.sum);
    end_column(s);
    return TDS_OK;
  }
  if (!first) s->held.n -= 4;
  want(s, PLP_DATA, n);
  return TDS_OK;
}

/* What was wanted is copied: what is wanted next. */
static tds_status step(tds_stream *s) {
  if (s->row.phase == START) { /* there may be no held room yet */
    if (s->row.mode == TDS_NBCROW) {
      want(s, BITMAP, (count_of(s) + 7) / 8);
    } else {
      begin_column(s);
    }
    return TDS_OK;
  }
  const tds_type_info *t = &columns_of(s)[s->row.column].info;
  uint8_t *end = (uint8_t *)s->room[TDS_ROOM_HELD].p + s->held.n;
  switch (s->row.phase) {
  case BITMAP:
    begin_column(s);
    return TDS_OK;
  case LENGTH:
    return take_length(s, t, end);
  case POINTER:
    if (end[-1] == 0) {
      end_column(s);
    } else {
      want(s, HEAD, end[-1] + TIMESTAMP + 4u);
    }
    return TDS_OK;
  case HEAD:
    if (tds_get_u32(end - 4) > VALUE_MAX) return refuse(s, too_long);
    want(s, DATA, tds_get_u32(end - 4));
    return TDS_OK;
  case PLP_TOTAL:
    s->row.total = tds_get_u64(end - 8);
    s->row.sum = 0;
    if (s->row.total == PLP_NULL) {
      end_column(s);
    } else if (s->row.total != PLP_UNKNOWN && s->row.total > VALUE_MAX) {
      return refuse(s, too_long);
    } else {
      want(s, PLP_FIRST, 4);
    }
    return TDS_OK;
  case PLP_FIRST:
    return take_chunk(s, end, 1);
  case PLP_NEXT:
    return take_chunk(s, end, 0);
  case PLP_DATA:
    want(s, PLP_NEXT, 4);
    return TDS_OK;
  default:
    end_column(s);
    return TDS_OK;
  }
}

void tds_row_begin(tds_stream *s, uint8_t token) {
  s->row.mode = token;
  s->row.phase = START;
  s->row.whole = 0;
  s->row.column = 0;
  s->row.want = 0;
}

/* A fault in the row from p on: the token began a byte before it. */
static tds_status located(tds_stream *s, tds_status status, const uint8_t *at, uint64_t offset,
                          const uint8_t *end) {
  if (s->failed) tds_locate(s, s->row.mode, offset, at < end ? *at : 0);
  return status;
}

tds_status tds_row_continue(tds_stream *s) {
  tds_value *v = s->row.mode == TDS_RETURNVALUE ? &s->returned_value : s->room[TDS_ROOM_VALUES].p;
  tds_status status;
  if (s->row.phase == START) {
    if (s->at == s->chunk.n) return TDS_MORE;
    const uint8_t *p = s->chunk.p + s->at, *end = s->chunk.p + s->chunk.n, *at = p;
    status = decode(s, &at, end, v);
    if (status != TDS_MORE) {
      if (status == TDS_OK) s->at += (size_t)(at - p);
      return located(s, status, at, s->base + s->at + (uint64_t)(at - p), end);
    }
    s->examined += (uint64_t)(end - p);
    s->held.n = 0;
  }
  while (!s->row.whole) {
    status = tds_hold(s, &s->row.want);
    if (status == TDS_OK) status = step(s);
    if (status != TDS_OK) {
      return located(s, status, s->chunk.p, s->base + s->at, s->chunk.p);
    }
  }
  const uint8_t *at = s->room[TDS_ROOM_HELD].p, *end = s->held.n ? at + s->held.n : at;
  status = decode(s, &at, end, v);
  if (status == TDS_MORE) status = refuse(s, "a row that cannot be read again");
  return located(s, status, at, s->token_at, end);
}
