/*
** drivers/sqlserver_connect.c: connecting, with an instance's port and routing, and closing.
**
** All that a connection needs at any time is allocated here once, but what grows with values: the packets of a
** request, and the stream's rooms.
*/
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sqlserver.h"

#define ALIGNMENT 64
#define REQUEST_BYTES (32u << 10) /* more than a login takes: its buffer is wiped, not moved */
#define HOPS 2                    /* of routing, at most */

/* ---- The block ------------------------------------------------------------------------------------------ */

static size_t rounded(size_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static ms_connection *allocate(const edb_host *host) {
  const size_t own = rounded(sizeof(ms_connection)), work = rounded(TLS_WORK),
               in = rounded(MS_LINK_IN), out = rounded(MS_LINK_OUT);
  char *block = edb_alloc(host, ALIGNMENT + own + work + in + out);
  if (!block) return NULL;
  char *p = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT);
  ms_connection *c = (ms_connection *)(void *)p;
  memset(c, 0, sizeof *c);
  c->host = c->link.host = c->sql.host = c->unprepare.host = c->rows.names.host = host;
  c->rows.described.host = host;
  c->block = block;
  c->link.work = (uint8_t *)p + own;
  c->link.in = c->link.work + work;
  c->link.out = c->link.in + in;
  c->link.tls = &c->tls;
  c->link.net.handle = -1;
  c->link.broken = 1;
  atomic_init(&c->link.cancelled, 0);
  return c;
}

static void discard(ms_connection *c) {
  const edb_host *host = c->host;
  ms_link_close(&c->link);
  tds_stream_end(&c->stream);
  for (int i = 0; i < TDS_ROOMS; i++) edb_free(host, c->stream.room[i].p);
  ms_rows_free(c);
  edb_free(host, c->request);
  edb_free(host, c->parameters);
  edb_buffer_free(&c->sql);
  edb_buffer_free(&c->unprepare);
  edb_free(host, c->block);
}

/* ---- Connecting ------------------------------------------------------------------------------------------- */

/* The session as the rest wants it, whatever the server's configuration says. A reset leaves the isolation level as
** it is ([MS-TDS] 2.2.3.1.2). */
static const char setup[] =
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET NOCOUNT OFF; SET IMPLICIT_TRANSACTIONS "
    "OFF; SET XACT_ABORT OFF; SET TEXTSIZE 2147483647;"
    " SET ROWCOUNT 0; SET QUOTED_IDENTIFIER ON; SET ANSI_NULLS ON; SET ANSI_PADDING ON;"
    " SET ANSI_WARNINGS ON; SET ARITHABORT ON; SET CONCAT_NULL_YIELDS_NULL ON; SET DATEFORMAT ymd";

int ms_setup(ms_connection *c, int reset) {
  const ms_request request = {
      .kind = MS_BATCH, .sql = setup, .n = sizeof setup - 1, .reset = reset != 0};
  if (reset) {
    c->session++;
    c->unprepare.n = 0;
    c->descriptor = 0;
  }
  return ms_run(c, &request);
}

static int connect_now(ms_connection *c, const ms_target *target, edb_error *error) {
  char host[MS_NAME];
  unsigned port = target->port;
  memcpy(host, target->host, sizeof host);
  if (port == 0) {
    const int rc = ms_browse(&c->link, target, &port, error);
    if (rc != EDB_OK) return rc;
  }
  for (;;) {
    int rc = ms_link_open(&c->link, host, port, error);
    if (rc == EDB_OK) rc = ms_login(c, target, host, port, error);
    const int again = c->link.offered && rc != EDB_INTERRUPTED;
    if (!again && (rc != EDB_OK || !c->route[0])) return rc;
    ms_link_close(&c->link);
    if (again) {
      c->link.anew = 1;
      continue;
    }
    if (++c->hops > HOPS) {
      return edb_fail(error, EDB_CLOSED, "the server sends the connection on and on (now to %s:%u)",
                      c->route, c->route_port);
    }
    memcpy(host, c->route, sizeof host);
    port = c->route_port;
  }
}

int ms_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error) {
  ms_target target;
  int rc = ms_target_of(options, n, &target, error);
  if (rc != EDB_OK) return rc;
  ms_connection *c = allocate(host);
  if (!c) return edb_fail(error, EDB_NOMEM, "out of memory");
  const int64_t ms =
      target.connect_seconds ? target.connect_seconds * INT64_C(1000) : host->timeout_ms;
  if (ms > 0) c->link.end = edb_net_now_ms() + ms;
  rc = ms_request_room(c, REQUEST_BYTES, error);
  if (rc == EDB_OK) rc = connect_now(c, &target, error);
  if (rc == EDB_OK) {
    c->logged_in = 1;
    ms_link_keep_session(&c->link);
    rc = ms_setup(c, 0);
    if (rc != EDB_OK) *error = c->error;
  }
  c->link.end = 0;
  if (rc == EDB_OK) {
    *connection = c;
  } else {
    discard(c);
  }
  return rc;
}

int ms_close(void *connection) {
  ms_connection *c = connection;
  if (c->rows.open || c->statements > 0 || c->transaction) {
    return edb_fail(&c->error, EDB_BUSY, "a reader, statement or transaction is open");
  }
  discard(c);
  return EDB_OK;
}
