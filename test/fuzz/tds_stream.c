/*
** tds_stream.c: a reply of SQL Server's, the token stream with its types and rows. The first four bytes say how it
** comes: packets of so many bytes, fed in pieces of so many, and the features that were asked for. Whatever it
** is, it gives the same as one packet in one piece, what is lent lies in what was fed or in a room, and no room is
** asked for that the reply's length does not account for.
*/
#include <stdlib.h>
#include <string.h>

#include "tds/tds.h"

#define ROOM_LIMIT (8u << 20) /* 65,535 columns are 5 MB */

typedef struct run {
  tds_stream s;
  const uint8_t *fed;
  size_t n_fed;
  uint64_t sum; /* of all that was told */
  uint64_t events;
} run;

static void mix(run *r, const void *p, size_t n) {
  const uint8_t *from = p;
  for (size_t i = 0; i < n; i++) r->sum = (r->sum ^ from[i]) * UINT64_C(0x100000001b3);
}

static int lies_in(const void *p, size_t n, const void *room, size_t size) {
  const uintptr_t at = (uintptr_t)p, from = (uintptr_t)room;
  return at >= from && at + n <= from + size;
}

/* Empty text may be lent from anywhere. */
static void lent(run *r, const void *p, size_t n) {
  if (!p) abort();
  if (n == 0) return;
  if (!lies_in(p, n, r->fed, r->n_fed) &&
      !lies_in(p, n, r->s.room[TDS_ROOM_HELD].p, r->s.room[TDS_ROOM_HELD].size) &&
      !lies_in(p, n, r->s.room[TDS_ROOM_TEXT].p, r->s.room[TDS_ROOM_TEXT].size)) {
    abort();
  }
  mix(r, p, n);
}

static void value(run *r, const tds_value *v) {
  mix(r, &v->kind, sizeof v->kind);
  switch (v->kind) {
  case TDS_NULL:
    break;
  case TDS_BOOL:
    mix(r, &v->as.boolean, sizeof v->as.boolean);
    break;
  case TDS_I64:
  case TDS_F64:
    mix(r, &v->as.i64, sizeof v->as.i64);
    break;
  case TDS_TEXT:
  case TDS_BYTES:
    lent(r, v->as.text.p, v->as.text.n);
    break;
  case TDS_TIME:
    if (v->as.time.nanos < 0 || v->as.time.nanos >= INT64_C(86400000000000)) abort();
    if (v->as.time.days < -719162 || v->as.time.days > 2932896) abort();
    mix(r, &v->as.time.nanos, sizeof v->as.time.nanos);
    mix(r, &v->as.time.days, sizeof v->as.time.days);
    break;
  default:
    abort();
  }
}

static void token(run *r) {
  const tds_token *t = &r->s.token;
  mix(r, &t->type, 1);
  if (t->type == TDS_ERROR || t->type == TDS_INFO) {
    mix(r, t->as.message.text.p, 2 * t->as.message.text.units);
    mix(r, &t->as.message.line, sizeof t->as.message.line);
  } else if (t->type == TDS_RETURNVALUE) {
    value(r, t->as.return_value.value);
  } else if (t->type == TDS_COLMETADATA) {
    for (size_t i = 0; i < r->s.n_columns; i++) {
      const tds_utf16 name = tds_column_name(&r->s, i), udt = tds_column_udt(&r->s, i);
      mix(r, name.p, 2 * name.units);
      mix(r, udt.p, 2 * udt.units);
      if (!*tds_type_name(&r->s.columns[i].info)) abort();
    }
  } else if (t->type == TDS_FEDAUTHINFO) {
    tds_fedauth entry;
    for (size_t i = 0; tds_fedauth_entry(t, i, &entry); i++)
      mix(r, entry.text.p, 2 * entry.text.units);
  }
}

static void enlarge(run *r, size_t length) {
  const tds_room room = r->s.wanted.room;
  const size_t size = r->s.wanted.size;
  if (size <= r->s.room[room].size) abort();
  if (size > (room <= TDS_ROOM_VALUES ? ROOM_LIMIT : 16 * length + 4096)) abort();
  r->s.room[room].p = realloc(r->s.room[room].p, size);
  if (!r->s.room[room].p) abort();
  r->s.room[room].size = size;
}

/* All that one piece gives. The last status. */
static tds_status piece(run *r, const uint8_t *p, size_t n, size_t length) {
  tds_status status;
  r->fed = p;
  r->n_fed = n;
  tds_feed(&r->s, p, n);
  while ((status = tds_next(&r->s)) != TDS_MORE && status < TDS_MALFORMED) {
    r->events += status != TDS_ROOM;
    if (status == TDS_ROOM) enlarge(r, length);
    if (status == TDS_TOKEN) token(r);
    if (status == TDS_END) mix(r, "e", 1);
    for (size_t i = 0; status == TDS_ROW && i < r->s.n_columns; i++) value(r, &r->s.values[i]);
  }
  return status;
}

static void feed(run *r, const uint8_t *p, size_t n, size_t packet, size_t every,
                 uint32_t features) {
  uint8_t *in = malloc(9 * n + 16), *copy;
  size_t length = 0, at = 0;
  if (!in) abort();
  do {
    const size_t take = packet < n - at ? packet : n - at;
    const uint8_t header[8] = {4, at + take == n, (uint8_t)((take + 8) >> 8), (uint8_t)(take + 8)};
    memcpy(in + length, header, 8);
    if (take) memcpy(in + length + 8, p + at, take);
    length += take + 8;
    at += take;
  } while (at < n);
  memset(r, 0, sizeof *r);
  tds_stream_begin(&r->s, features);
  for (at = 0; at < length;) {
    const size_t take = every < length - at ? every : length - at;
    copy = malloc(take);
    if (!copy) abort();
    memcpy(copy, in + at, take);
    const tds_status status = piece(r, copy, take, n);
    free(copy);
    at += take;
    if (status >= TDS_MALFORMED) break;
  }
  char text[300];
  if (tds_fault_text(&r->s.fault, text, sizeof text) >= sizeof text) abort();
  for (int i = 0; i < TDS_ROOMS; i++) free(r->s.room[i].p);
  tds_stream_end(&r->s);
  free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4 || size > 32000) return 0;
  const uint32_t features = data[3] & 1 ? UINT32_MAX : 0;
  run whole, split;
  feed(&whole, data + 4, size - 4, 32759, SIZE_MAX, features);
  feed(&split, data + 4, size - 4, 1u + data[0] * (data[1] & 15u), 1u + data[2], features);
  if (whole.sum != split.sum || whole.events != split.events) abort();
  if ((whole.s.fault.what == NULL) != (split.s.fault.what == NULL)) abort();
  return 0;
}
