/*
** Prepared answers: the tokens of a query's rows are made once, and then only cut into packets and
** encrypted, so that a benchmark measures its client.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>

typedef struct Replay {
  char *sql;
  size_t n;
  Buf tokens; /* COLMETADATA and rows, without DONE */
  int64_t rows;
  struct Replay *next;
} Replay;

bool replay_prepare(Server *server, const char *database, const char *sql, size_t n) {
  Conn c = {.server = server, .fd = -1, .packet_size = UINT32_MAX};
  Session s = {.c = &c, .isolation = 2, .lock_timeout = 10000};
  SqlError error;
  int32_t status;
  c.s = &s;
  bool ok = engine_open(&s, database, &error);
  if (ok) batch_run(&s, sql, n, NULL, false, 0, &status);
  ok = ok && s.error == 0 && c.out.n > 0;
  if (ok) {
    Replay *r = xmalloc(sizeof *r);
    r->sql = xstrndup(sql, n);
    r->n = n;
    r->tokens = c.out;
    r->rows = s.rowcount;
    pthread_mutex_lock(&server->lock);
    r->next = server->replays;
    server->replays = r;
    pthread_mutex_unlock(&server->lock);
  } else {
    buf_free(&c.out);
  }
  engine_close(&s);
  buf_free(&c.done);
  return ok;
}

int64_t replay_send(Conn *c, const char *sql, size_t n) {
  pthread_mutex_lock(&c->server->lock);
  const Replay *r = c->server->replays;
  while (r != NULL && (r->n != n || memcmp(r->sql, sql, n) != 0)) r = r->next;
  pthread_mutex_unlock(&c->server->lock);
  if (r == NULL || c->fd < 0) return -1;
  size_t room = c->packet_size - 8;
  token_settle(c);
  for (size_t i = 0; i < r->tokens.n && !c->dead && !c->attention; i += room) {
    buf_add(&c->out, r->tokens.p + i, r->tokens.n - i < room ? r->tokens.n - i : room);
    out_flush(c);
    if (i / room % 64 == 0) msg_poll(c, 0);
  }
  return r->rows;
}
