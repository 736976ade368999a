/*
** drivers/sqlserver_reply.c: what the server answers: rows on the short way, tokens on the long one, and how a
** request is stopped.
**
** A reply is always read to its end, whatever went wrong in it: the first error is the request's, wherever it
** stands.
*/
#include <string.h>

#include "sqlserver.h"

#define DRAIN_MS 5000 /* for a server to stop */
#define ROOM_LEAST 1024

/* ---- Tokens -------------------------------------------------------------------------------------------------- */

/* SQL Server itself may never set the bit that tells of a transaction ([MS-TDS] 2.2.7.6, its note on DONE_INXACT):
** that it is missing says something only where such a token has had it before in this transaction. */
static void take_transaction(ms_connection *c, const tds_token *t) {
  const unsigned kind = 1u << (t->type - TDS_DONE);
  if (t->as.done.status & (TDS_DONE_MORE | TDS_DONE_ATTN)) return;
  if (t->as.done.status & TDS_DONE_INXACT) {
    c->told = (unsigned char)(c->told | kind);
  } else if (c->transaction && !c->ending && (c->told & kind)) {
    c->lost = 1;
  }
}

static void take_done(ms_connection *c) {
  const tds_token *t = &c->stream.token;
  if (t->as.done.status & TDS_DONE_ATTN) {
    c->reply.attention = 1;
    return;
  }
  if (t->as.done.affected >= 0) {
    c->reply.affected += t->as.done.affected;
    c->reply.last = t->as.done.affected;
    c->reply.counted = 1;
  }
  if ((t->as.done.status & (TDS_DONE_ERROR | TDS_DONE_SRVERROR)) && !c->reply.failed) {
    c->reply.failed = 1;
    edb_fail(&c->error, EDB_FAILED, "the statement failed, and the server did not say why");
  }
  take_transaction(c, t);
}

static void take_route(ms_connection *c) {
  const tds_token *t = &c->stream.token;
  if (c->logged_in) return;
  ms_line(c->route, sizeof c->route, t->as.environment.text);
  c->route_port = t->as.environment.port;
  for (char *p = c->route; *p; p++) {
    if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
  }
}

static void take_environment(ms_connection *c) {
  const tds_token *t = &c->stream.token;
  switch (t->as.environment.kind) {
  case TDS_ENV_PACKET_SIZE:
    if (!c->logged_in) c->packet_size = t->as.environment.packet_size;
    break;
  case TDS_ENV_BEGIN:
    c->descriptor = t->as.environment.descriptor;
    break;
  case TDS_ENV_COMMIT:
  case TDS_ENV_ROLLBACK:
  case TDS_ENV_TRANSACTION_ENDED:
    c->descriptor = 0;
    if (c->transaction && !c->ending) c->lost = 1;
    break;
  case TDS_ENV_ROUTING:
    take_route(c);
    break;
  default:
    break;
  }
}

static void take_return_value(ms_connection *c) {
  const tds_token *t = &c->stream.token;
  const tds_value *v = t->as.return_value.value;
  if (t->as.return_value.ordinal != 0 || v->kind != TDS_I64) return;
  c->reply.handle = (int32_t)v->as.i64;
  c->reply.handle_came = 1;
}

/* 1: the first columns have come. */
static int take_token(ms_connection *c) {
  const tds_token *t = &c->stream.token;
  switch (t->type) {
  case TDS_DONE:
  case TDS_DONEPROC:
  case TDS_DONEINPROC:
    take_done(c);
    break;
  case TDS_ERROR:
    ms_take_error(c);
    break;
  case TDS_INFO:
    ms_take_info(c);
    break;
  case TDS_ENVCHANGE:
    take_environment(c);
    break;
  case TDS_LOGINACK:
    c->acknowledged = 1;
    c->tds_version = t->as.loginack.tds_version;
    break;
  case TDS_RETURNSTATUS:
    c->reply.procedure = 1;
    break;
  case TDS_RETURNVALUE:
    take_return_value(c);
    break;
  case TDS_COLMETADATA:
    if (t->as.columns.n == 0) break;
    if (c->reply.columns < 2) c->reply.columns++;
    return c->reply.columns == 1;
  default:
    break;
  }
  return 0;
}

/* ---- What a reader needs ---------------------------------------------------------------------------------------- */

static int enlarge(ms_connection *c) {
  const tds_room room = c->stream.wanted.room;
  size_t size = 2 * c->stream.room[room].size;
  if (size < ROOM_LEAST) size = ROOM_LEAST;
  if (size < c->stream.wanted.size) size = c->stream.wanted.size;
  void *p = c->host->resize(c->host->context, c->stream.room[room].p, size);
  if (!p) {
    c->link.broken = 1;
    c->reply.open = 0;
    return ms_nomem(c);
  }
  c->stream.room[room].p = p;
  c->stream.room[room].size = size;
  return EDB_OK;
}

/* The connection is gone; what the server said before tells more. */
static int lost(ms_connection *c, const edb_error *error) {
  c->reply.open = 0;
  c->link.broken = 1;
  if (!c->reply.failed) c->error = *error;
  return (int)c->error.code;
}

static int receive(ms_connection *c) {
  const uint8_t *p;
  size_t n;
  edb_error error;
  const int rc = ms_link_receive(&c->link, 1, &p, &n, &error);
  if (rc == EDB_OK) {
    tds_feed(&c->stream, p, n);
    return EDB_OK;
  }
  if (rc != EDB_INTERRUPTED || c->link.draining || !c->logged_in) return lost(c, &error);
  c->error = error;
  ms_stop(c);
  return EDB_INTERRUPTED;
}

int ms_next(ms_connection *c) {
  if (!c->reply.open) return c->reply.failed ? (int)c->error.code : EDB_DONE;
  for (;;) {
    int rc = EDB_OK;
    switch (tds_next(&c->stream)) {
    case TDS_ROW:
      if (!c->reply.failed) return EDB_ROW;
      break;
    case TDS_TOKEN:
      if (take_token(c)) return EDB_OK;
      break;
    case TDS_END:
      if (c->link.draining && !c->reply.attention) break; /* it comes in a reply of its own */
      c->reply.open = 0;
      return c->reply.failed ? (int)c->error.code : EDB_DONE;
    case TDS_MORE:
      rc = receive(c);
      break;
    case TDS_ROOM:
      rc = enlarge(c);
      break;
    default:
      return ms_refused(c);
    }
    if (rc != EDB_OK) return rc;
  }
}

int ms_finish(ms_connection *c) {
  int rc;
  do {
    rc = ms_next(c);
  } while (rc == EDB_OK || rc == EDB_ROW);
  return rc == EDB_DONE ? EDB_OK : rc;
}

int ms_ended(ms_connection *c, int rc) {
  if (c->transaction || c->descriptor == 0 || ms_dead(c)) return rc;
  ms_link_close(&c->link);
  if (rc != EDB_OK) return rc;
  edb_fail(&c->error, EDB_INVALID_QUERY,
           "the statement left a transaction open, which is rolled back");
  return EDB_INVALID_QUERY;
}

/* ---- Stopping ------------------------------------------------------------------------------------------------------ */

int ms_finish_quickly(ms_connection *c) {
  while (c->reply.open) {
    const uint8_t *p;
    size_t n;
    edb_error error;
    switch (tds_next(&c->stream)) {
    case TDS_ROW:
      break;
    case TDS_TOKEN:
      (void)take_token(c);
      break;
    case TDS_END:
      c->reply.open = 0;
      break;
    case TDS_ROOM:
      if (enlarge(c) != EDB_OK) return EDB_NOMEM;
      break;
    case TDS_MORE: {
      const int rc = ms_link_receive(&c->link, 0, &p, &n, &error);
      if (rc == EDB_DONE || rc == EDB_INTERRUPTED) return EDB_BUSY;
      if (rc != EDB_OK) return lost(c, &error);
      tds_feed(&c->stream, p, n);
      break;
    }
    default:
      return ms_refused(c);
    }
  }
  return c->reply.failed ? (int)c->error.code : EDB_OK;
}

void ms_stop(ms_connection *c) {
  const edb_error why = c->error;
  uint8_t packet[TDS_HEADER];
  if (!c->reply.open || ms_dead(c)) return;
  c->reply.attention = 0;
  c->reply.failed = 1; /* whatever comes now, it is not the reason */
  edb_fail(&c->error, EDB_INTERRUPTED, "stopped");
  c->link.draining = 1;
  c->link.end = edb_net_now_ms() + DRAIN_MS;
  tds_attention(packet);
  if (ms_link_send(&c->link, packet, sizeof packet, NULL) == EDB_OK) (void)ms_finish(c);
  if (c->reply.open) c->link.broken = 1;
  c->reply.open = 0;
  c->link.draining = 0;
  c->link.end = 0;
  c->error = why;
}
