/*
** tds/stream.c: from bytes to tokens. The contract is in tds.h.
**
** A token that stands whole in a chunk is parsed there; one that straddles chunks is gathered in the held room,
** byte by byte as its parser wants them, so that no byte of the next token is ever taken. Rows go their own way
** (row.c).
*/
#include "tdsInt.h"

typedef struct token_row {
  uint8_t type;
  uint8_t length; /* bytes of the length that goes before; 0: none */
  tds_parse *parse;
} token_row;

static const token_row rows[] = {
    {TDS_RETURNSTATUS, 0, tds_parse_return_status},
    {TDS_COLMETADATA, 0, tds_parse_columns},
    {TDS_DATACLASSIFICATION, 0, tds_parse_classification},
    {TDS_TABNAME, 2, tds_parse_tabname},
    {TDS_COLINFO, 2, tds_parse_colinfo},
    {TDS_ORDER, 2, tds_parse_order},
    {TDS_ERROR, 2, tds_parse_message},
    {TDS_INFO, 2, tds_parse_message},
    {TDS_RETURNVALUE, 0, tds_parse_return_value},
    {TDS_LOGINACK, 2, tds_parse_loginack},
    {TDS_FEATUREEXTACK, 0, tds_parse_features},
    {TDS_ENVCHANGE, 2, tds_parse_environment},
    {TDS_SESSIONSTATE, 4, tds_parse_session},
    {TDS_SSPI_TOKEN, 2, tds_parse_bytes},
    {TDS_FEDAUTHINFO, 4, tds_parse_fedauth},
    {TDS_DONE, 0, tds_parse_done},
    {TDS_DONEPROC, 0, tds_parse_done},
    {TDS_DONEINPROC, 0, tds_parse_done},
};

static const token_row *find(uint8_t type) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].type == type) return &rows[i];
  }
  return NULL;
}

void tds_stream_begin(tds_stream *s, uint32_t features) {
  tds_stream fresh = {.features = features};
  tds_converters_close(s);
  memcpy(fresh.room, s->room, sizeof fresh.room);
  *s = fresh;
}

void tds_stream_end(tds_stream *s) { tds_converters_close(s); }

void tds_feed(tds_stream *s, const void *p, size_t n) {
  s->fed = p;
  s->n_fed = n;
}

int tds_has_room(tds_stream *s, tds_room room, size_t size) {
  if (size <= s->room[room].size) return 1;
  s->wanted.room = room;
  s->wanted.size = size;
  return 0;
}

/* ---- Chunks -------------------------------------------------------------------------------------- */

/* The chunk is used up: the next one, or the message's end. */
static tds_status next_chunk(tds_stream *s) {
  if (s->chunk.last) {
    if (s->row.mode || s->held.on) {
      tds_refuse(s, TDS_MALFORMED, "a message that ends inside a token", 0);
      tds_locate(s, s->token.type, s->base + s->chunk.n, 0);
      return s->failed;
    }
    s->chunk = (tds_chunk){0};
    s->at = 0;
    s->base = 0;
    return TDS_END;
  }
  s->base += s->chunk.n;
  s->chunk = (tds_chunk){0};
  s->at = 0;
  const tds_status status = tds_packets_next(&s->packets, &s->fed, &s->n_fed, &s->chunk);
  if (status == TDS_MALFORMED) return tds_refuse(s, status, "a packet's length out of range", 0);
  if (status == TDS_OK && s->chunk.type != TDS_REPLY) {
    return tds_refuse(s, TDS_MALFORMED, "a packet that is no reply: type", s->chunk.type);
  }
  return status;
}

tds_status tds_hold(tds_stream *s, uint64_t *want) {
  const size_t there = s->chunk.n - s->at;
  const size_t take = *want < there ? (size_t)*want : there;
  if (take > 0) {
    if (!tds_has_room(s, TDS_ROOM_HELD, s->held.n + take)) return TDS_ROOM;
    memcpy((uint8_t *)s->room[TDS_ROOM_HELD].p + s->held.n, s->chunk.p + s->at, take);
    s->held.n += take;
    s->at += take;
    s->examined += take;
    *want -= take;
  }
  return *want == 0 ? TDS_OK : TDS_MORE;
}

/* ---- Tokens ---------------------------------------------------------------------------------------- */

/* Parses the token at p, of which n bytes are there. *used: how many it has, if it was parsed to its end; else
** *need: how many more are wanted, and TDS_MORE is answered. */
static tds_status attempt(tds_stream *s, const uint8_t *p, size_t n, size_t *used, size_t *need) {
  const token_row *row = find(p[0]);
  tds_reader r = {p, n, 1, 0}, body = {p + 1, n - 1, 0, 0};
  if (row->length) {
    const size_t size = row->length == 2 ? tds_u16(&r) : tds_u32(&r);
    if (size > TDS_HELD_MAX) return tds_refuse(s, TDS_MALFORMED, "a token of excessive length", 0);
    body = (tds_reader){tds_take(&r, size), size, 0, 0};
    *need = r.bad;
    if (r.bad) return TDS_MORE;
  }
  body.i = s->resume;
  s->again = 0;
  const tds_status status = row->parse(s, &body);
  const size_t head = 1u + row->length;
  if (!s->failed && body.bad) {
    *need = body.bad;
    if (!row->length) return TDS_MORE;
    tds_refuse(s, TDS_MALFORMED, "a field beyond its token's length", 0);
  }
  if (s->failed) {
    const size_t at = head + body.i - (body.i > 0);
    tds_locate(s, p[0], s->token_at + at, p[at < n ? at : 0]);
    return s->failed;
  }
  if (status == TDS_ROOM) s->again = 1;
  *used = s->again ? 0 : head + body.i;
  return status;
}

static tds_status begin_token(tds_stream *s) {
  const uint8_t *p = s->chunk.p + s->at;
  size_t used = 0, need = 0;
  s->token.type = *p;
  s->token_at = s->base + s->at;
  if (*p == TDS_ROW_TOKEN || *p == TDS_NBCROW) {
    if (s->n_columns == 0) {
      tds_refuse(s, TDS_MALFORMED, "a row without a description of its columns", 0);
      tds_locate(s, *p, s->token_at, *p);
      return s->failed;
    }
    s->at++;
    tds_row_begin(s, *p);
    return TDS_OK;
  }
  if (!find(*p)) {
    tds_refuse(s, TDS_MALFORMED, "an unknown token", 0);
    tds_locate(s, *p, s->token_at, *p);
    return s->failed;
  }
  if (!s->again) s->resume = s->step = 0;
  const tds_status status = attempt(s, p, s->chunk.n - s->at, &used, &need);
  if (status == TDS_MORE) {
    s->held.on = 1;
    s->held.n = 0;
    s->held.need = s->chunk.n - s->at + need;
    s->examined += s->chunk.n - s->at;
    return TDS_OK;
  }
  s->at += used;
  return status;
}

static tds_status gather(tds_stream *s) {
  size_t used = 0;
  uint64_t want = s->held.need;
  if (s->held.n + want > TDS_HELD_MAX) {
    return tds_refuse(s, TDS_MALFORMED, "a token of excessive length", 0);
  }
  tds_status status = tds_hold(s, &want);
  s->held.need = (size_t)want;
  if (status != TDS_OK) return status;
  status = attempt(s, s->room[TDS_ROOM_HELD].p, s->held.n, &used, &s->held.need);
  if (status == TDS_MORE) return TDS_OK; /* wants more: round again */
  if (!s->again) s->held.on = 0;
  return status;
}

static tds_status row_done(tds_stream *s) {
  const uint8_t mode = s->row.mode;
  s->row.mode = 0;
  if (mode != TDS_RETURNVALUE) return TDS_ROW;
  s->token.as.return_value.value = &s->returned_value;
  return TDS_TOKEN;
}

tds_status tds_next(tds_stream *s) {
  if (s->failed) return s->failed;
  for (;;) {
    tds_status status;
    if (s->row.mode) {
      status = tds_row_continue(s);
      if (status == TDS_OK) return row_done(s);
    } else if (s->held.on) {
      status = gather(s);
    } else if (s->at < s->chunk.n) {
      status = begin_token(s);
    } else {
      status = TDS_MORE;
    }
    if (status == TDS_MORE) status = next_chunk(s);
    if (status != TDS_OK) return status;
  }
}
