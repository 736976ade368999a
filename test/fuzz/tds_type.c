/*
** tds_type.c: a TYPE_INFO and a value of that type, as a server sends them. The first byte says how many bytes the
** TYPE_INFO has, the second whether features were asked for; the value follows. It is read as the only column of a
** ROW and as that of an NBCROW whose bitmap says that it is there: both give the same, and nothing that the type's
** name or the value's kind does not allow.
*/
#include <stdlib.h>
#include <string.h>

#include "tds/tds.h"

#define ROOM_LIMIT (8u << 20)

typedef struct told {
  uint64_t sum;
  unsigned rows, columns, tokens;
  int failed, ended;
} told;

static void mix(told *t, const void *p, size_t n) {
  const uint8_t *from = p;
  for (size_t i = 0; i < n; i++) t->sum = (t->sum ^ from[i]) * UINT64_C(0x100000001b3);
}

static void value(told *t, const tds_value *v) {
  mix(t, &v->kind, sizeof v->kind);
  if (v->kind == TDS_TEXT || v->kind == TDS_BYTES) {
    if (!v->as.text.p) abort();
    mix(t, v->as.text.p, v->as.text.n);
  } else if (v->kind == TDS_BOOL) {
    if (v->as.boolean != 0 && v->as.boolean != 1) abort();
    mix(t, &v->as.boolean, sizeof v->as.boolean);
  } else if (v->kind == TDS_I64 || v->kind == TDS_F64) {
    mix(t, &v->as.i64, sizeof v->as.i64);
  } else if (v->kind == TDS_TIME) {
    mix(t, &v->as.time.nanos, sizeof v->as.time.nanos);
    mix(t, &v->as.time.days, sizeof v->as.time.days);
  } else if (v->kind != TDS_NULL) {
    abort();
  }
}

static void enlarge(tds_stream *s) {
  const tds_room room = s->wanted.room;
  if (s->wanted.size <= s->room[room].size || s->wanted.size > ROOM_LIMIT) abort();
  s->room[room].p = realloc(s->room[room].p, s->wanted.size);
  if (!s->room[room].p) abort();
  s->room[room].size = s->wanted.size;
}

/* One packet with the column, and behind it the bytes of row and p, and a DONE. */
static told read_reply(const uint8_t *info, size_t k, const uint8_t *row, size_t n_row,
                       const uint8_t *p, size_t n, uint32_t features) {
  static const uint8_t column[] = {TDS_COLMETADATA, 1, 0, 0, 0, 0, 0, 1, 0}, name[] = {1, 'c', 0};
  static const uint8_t done[13] = {TDS_DONE};
  const size_t size = 8 + sizeof column + k + sizeof name + n_row + n + sizeof done;
  uint8_t *in = malloc(size), *at = in;
  tds_status status;
  tds_stream s = {0};
  told t = {0};
  if (!in) abort();
  const uint8_t header[8] = {4, 1, (uint8_t)(size >> 8), (uint8_t)size};
  memcpy(at, header, 8), at += 8;
  memcpy(at, column, sizeof column), at += sizeof column;
  memcpy(at, info, k), at += k;
  memcpy(at, name, sizeof name), at += sizeof name;
  memcpy(at, row, n_row), at += n_row;
  if (n > 0) memcpy(at, p, n);
  memcpy(at + n, done, sizeof done);
  tds_stream_begin(&s, features);
  tds_feed(&s, in, size);
  while ((status = tds_next(&s)) != TDS_MORE && status < TDS_MALFORMED) {
    if (status == TDS_ROOM) enlarge(&s);
    if (status == TDS_TOKEN && s.token.type == TDS_COLMETADATA && s.n_columns > 0) {
      t.columns++;
      mix(&t, &s.columns[0].info.type, 1);
      if (!*tds_type_name(&s.columns[0].info)) abort();
    }
    for (size_t i = 0; status == TDS_ROW && i < s.n_columns; i++) value(&t, &s.values[i]);
    t.rows += status == TDS_ROW;
    t.tokens += status == TDS_TOKEN;
    t.ended = status == TDS_END;
  }
  t.failed = status >= TDS_MALFORMED;
  for (int i = 0; i < TDS_ROOMS; i++) free(s.room[i].p);
  tds_stream_end(&s);
  free(in);
  return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t row[] = {0xD1}, nbcrow[] = {0xD2, 0};
  if (size < 3 || size > 32000) return 0;
  const size_t k = data[0] < size - 2 ? data[0] : size - 2, n = size - 2 - k;
  const uint8_t *info = data + 2, *p = info + k;
  const uint32_t features = data[1] & 1 ? UINT32_MAX : 0;
  const told alone = read_reply(info, k, row, 0, p, 0, features);
  const told a = read_reply(info, k, row, sizeof row, p, n, features);
  const told b = read_reply(info, k, nbcrow, sizeof nbcrow, p, n, features);
  /* Where the TYPE_INFO is shorter or longer than it was said to be, a row is no row. */
  if (alone.failed || !alone.ended || alone.tokens != 2) return 0;
  if (a.sum != b.sum || a.rows != b.rows || a.columns != 1 || b.columns != 1) abort();
  if (a.failed != b.failed) abort();
  return 0;
}
