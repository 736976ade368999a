/*
** drivers/postgresql_wait.c: waiting for the server's answers, and stopping what it does.
**
** libpq is used without blocking: every wait is a poll of its socket in slices, between which the host is
** asked whether to go on. edb_cancel comes from another thread and only leaves a mark; the thread that waits
** finds it in its next slice and does the rest, so libpq never sees two threads.
*/
#include <time.h>
#if defined(_WIN32)
#include <winsock2.h>
#define poll WSAPoll
#else
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include "postgresql.h"

#if defined(MSG_NOSIGNAL)
#define NO_SIGPIPE MSG_NOSIGNAL
#else
#define NO_SIGPIPE 0
#endif

#define STOP_MS 5000 /* how long a command may take to end after it was stopped */

/* ---- Waiting ---------------------------------------------------------------------------------- */

int64_t pg_now_ms(void) {
#if defined(_WIN32)
  return (int64_t)GetTickCount64();
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
#endif
}

/* The host is asked ten times a second, however often we are here. */
static int wants_to_stop(pg_waiting *w, int64_t now) {
  if (w->cancelled && atomic_load_explicit(w->cancelled, memory_order_relaxed)) return 1;
  if (!w->ask || !w->host->interrupted || now - w->asked < PG_SLICE_MS) return 0;
  w->asked = now;
  return w->host->interrupted(w->host->context) != 0;
}

int pg_wait_slice(pg_waiting *w, int handle, int for_write, int ms) {
  int64_t now = pg_now_ms();
  if (wants_to_stop(w, now)) return PG_WAIT_INTERRUPTED;
  if (w->end && now >= w->end) return PG_WAIT_TIMEOUT;
  if (handle < 0) return PG_WAIT_READY; /* libpq closed it and will say so */
  if (w->end && w->end - now < ms) ms = (int)(w->end - now);
  struct pollfd fd = {0};
#if defined(_WIN32)
  fd.fd = (SOCKET)handle;
#else
  fd.fd = handle;
#endif
  fd.events = (short)(POLLIN | (for_write ? POLLOUT : 0));
  int n = poll(&fd, 1, ms);
#if !defined(_WIN32)
  if (n < 0 && errno == EINTR) return PG_WAIT_AGAIN;
#endif
  return n == 0 ? PG_WAIT_AGAIN : PG_WAIT_READY;
}

static pg_waiting start_waiting(pg_connection *c) {
  int64_t now = pg_now_ms();
  int ms = c->host->timeout_ms;
  pg_waiting w = {c->host, &c->cancelled, 1, ms > 0 ? now + ms : 0, now};
  return w;
}

/* Something came or went: the time-out starts anew, the asking goes on. */
static void wait_on(pg_connection *c, pg_waiting *w) {
  int64_t asked = w->asked;
  *w = start_waiting(c);
  w->asked = asked;
}

/* The command is stopped, then the reason becomes the connection's error. */
static int give_up(pg_connection *c, int why) {
  int rc = pg_stop(c);
  if (rc != EDB_OK) return rc;
  if (why == PG_WAIT_TIMEOUT) {
    return edb_fail(&c->error, EDB_INTERRUPTED, "the server did not answer within %d ms",
                    c->host->timeout_ms);
  }
  return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted");
}

/* Waits for one result to be complete. READY also where the connection failed: the result says so. */
static int wait_result(pg_connection *c, pg_waiting *w) {
  while (pq.isBusy(c->pq)) {
    int flushed = pq.flush(c->pq);
    int why = pg_wait_slice(w, pq.socket(c->pq), flushed > 0, PG_SLICE_MS);
    if (why == PG_WAIT_AGAIN) continue;
    if (why != PG_WAIT_READY) return why;
    if (!pq.consumeInput(c->pq)) break;
  }
  return PG_WAIT_READY;
}

int pg_wait(pg_connection *c) {
  if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) {
    return give_up(c, PG_WAIT_INTERRUPTED);
  }
  if (!pq.isBusy(c->pq)) return EDB_OK;
  pg_waiting w = start_waiting(c);
  int why = wait_result(c, &w);
  return why == PG_WAIT_READY ? EDB_OK : give_up(c, why);
}

int pg_wait_input(pg_connection *c) {
  pg_waiting w = start_waiting(c);
  for (;;) {
    int why = pg_wait_slice(&w, pq.socket(c->pq), 0, PG_SLICE_MS);
    if (why == PG_WAIT_AGAIN) continue;
    if (why != PG_WAIT_READY) return give_up(c, why);
    return pq.consumeInput(c->pq) ? EDB_OK : pg_lost(c);
  }
}

int pg_sent(pg_connection *c, int sent) {
  if (!sent) {
    if (pq.status(c->pq) == CONNECTION_BAD) return pg_lost(c);
    const char *text = pq.errorMessage(c->pq);
    return edb_fail(&c->error, EDB_FAILED, "%.*s", (int)pg_trimmed(text), text);
  }
  int left = pq.flush(c->pq);
  if (left == 0) return EDB_OK;
  pg_waiting w = start_waiting(c);
  while (left > 0) {
    int why = pg_wait_slice(&w, pq.socket(c->pq), 1, PG_SLICE_MS);
    if (why == PG_WAIT_TIMEOUT || why == PG_WAIT_INTERRUPTED) {
      /* Half a message is out: the connection cannot be used for another. */
      c->dead = 1;
      return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted while sending; the connection ends");
    }
    /* The server may answer, even with an error, while we still send. */
    if (why == PG_WAIT_READY && !pq.consumeInput(c->pq)) return pg_lost(c);
    if (why == PG_WAIT_READY) wait_on(c, &w);
    left = pq.flush(c->pq);
  }
  return left == 0 ? EDB_OK : pg_lost(c);
}

/* libpq reads what comes when it cannot send, so this has to be found out before it does. */
static void hear(pg_connection *c, pg_waiting *w, unsigned char *spoken) {
  if (pg_wait_slice(w, pq.socket(c->pq), 0, 0) == PG_WAIT_READY) *spoken = 1;
}

int pg_heard(pg_connection *c, unsigned char *spoken) {
  pg_waiting w = start_waiting(c);
  w.asked -= PG_SLICE_MS; /* rows may go so fast that nobody ever waits */
  if (wants_to_stop(&w, pg_now_ms())) return give_up(c, PG_WAIT_INTERRUPTED);
  hear(c, &w, spoken);
  return EDB_OK;
}

int pg_copied(pg_connection *c, int put, unsigned char *spoken) {
  pg_waiting w = start_waiting(c);
  int left = put == 1 ? pq.flush(c->pq) : -1;
  while (left > 0) {
    int why = pg_wait_slice(&w, pq.socket(c->pq), 1, PG_SLICE_MS);
    /* A message may be half out: the server drops the rest of it with the COPY. */
    if (why == PG_WAIT_TIMEOUT || why == PG_WAIT_INTERRUPTED) return give_up(c, why);
    if (why == PG_WAIT_AGAIN) continue;
    hear(c, &w, spoken);
    if (!pq.consumeInput(c->pq)) return pg_lost(c);
    wait_on(c, &w);
    left = pq.flush(c->pq);
  }
  return left == 0 ? EDB_OK : pg_lost(c);
}

/* ---- Results ----------------------------------------------------------------------------------- */

static int is_error(const PGresult *result) {
  switch (pq.resultStatus(result)) {
  case PGRES_EMPTY_QUERY:
  case PGRES_COMMAND_OK:
  case PGRES_TUPLES_OK:
  case PGRES_COPY_OUT:
  case PGRES_COPY_IN:
  case PGRES_COPY_BOTH:
  case PGRES_SINGLE_TUPLE:
  case PGRES_PIPELINE_ABORTED: /* the error came before */
  case PGRES_TUPLES_CHUNK:
    return 0;
  default:
    return 1;
  }
}

/* Reads COPY's messages away. 0 at their end, else as pg_wait_slice. */
static int skip_copy(pg_connection *c, pg_waiting *w) {
  for (;;) {
    char *message = NULL;
    int n = pq.getCopyData(c->pq, &message, 1);
    if (message) pq.freemem(message);
    if (n < 0) return PG_WAIT_READY;
    if (wants_to_stop(w, pg_now_ms())) return PG_WAIT_INTERRUPTED;
    if (n > 0) continue;
    int why = pg_wait_slice(w, pq.socket(c->pq), 0, PG_SLICE_MS);
    if (why == PG_WAIT_TIMEOUT || why == PG_WAIT_INTERRUPTED) return why;
    if (why == PG_WAIT_READY && !pq.consumeInput(c->pq)) return PG_WAIT_READY;
  }
}

/* Takes results until the end. each: the time-out is for one result, not for all of them. last: gets the last
** one without error. failed: gets the first error, which becomes the connection's; NULL: errors are dropped. */
static int take_all(pg_connection *c, pg_waiting *w, int each, PGresult **last, int *failed) {
  for (;;) {
    if (each) wait_on(c, w);
    int why = wants_to_stop(w, pg_now_ms()) ? PG_WAIT_INTERRUPTED : wait_result(c, w);
    if (why != PG_WAIT_READY) return why;
    PGresult *result = pq.getResult(c->pq);
    if (!result && c->pipeline && pq.status(c->pq) == CONNECTION_OK) continue;
    if (!result) return PG_WAIT_READY;
    int status = pq.resultStatus(result);
    if (status == PGRES_PIPELINE_SYNC) {
      pq.clear(result);
      c->pipeline = 0;
      return PG_WAIT_READY;
    }
    if (is_error(result)) {
      if (failed && *failed == EDB_OK) *failed = pg_result_error(c, result);
    } else if (status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
      pq.clear(result);
      why = skip_copy(c, w);
      if (why != PG_WAIT_READY) return why;
      if (failed && *failed == EDB_OK) {
        *failed = edb_fail(&c->error, EDB_UNSUPPORTED, "COPY TO STDOUT is not supported");
      }
      continue;
    } else if (status == PGRES_COPY_IN) {
      if (failed && *failed == EDB_OK) {
        *failed = edb_fail(&c->error, EDB_UNSUPPORTED, "COPY FROM STDIN is not supported");
      }
      pq.putCopyEnd(c->pq, "not supported");
    } else if (last) {
      if (*last) pq.clear(*last);
      *last = result;
      continue;
    }
    pq.clear(result);
    if (pq.status(c->pq) == CONNECTION_BAD) {
      c->dead = 1;
      return PG_WAIT_READY;
    }
  }
}

void pg_drop_notifications(pg_connection *c) {
  void *notification;
  while ((notification = pq.notifies(c->pq))) pq.freemem(notification);
}

int pg_finish(pg_connection *c, PGresult **result) {
  PGresult *last = NULL;
  int failed = EDB_OK;
  if (result) *result = NULL;
  pg_waiting w = start_waiting(c);
  int why = take_all(c, &w, 1, &last, &failed);
  if (why != PG_WAIT_READY) {
    if (last) pq.clear(last);
    return give_up(c, why);
  }
  pg_drop_notifications(c);
  if (failed == EDB_OK && pq.status(c->pq) == CONNECTION_BAD) failed = pg_lost(c);
  if (failed == EDB_OK && result) {
    *result = last;
  } else if (last) {
    pq.clear(last);
  }
  return failed;
}

int pg_drain(pg_connection *c) {
  pg_waiting w = start_waiting(c);
  int failed = EDB_OK;
  int why = take_all(c, &w, 1, NULL, &failed);
  if (why != PG_WAIT_READY) return give_up(c, why);
  pg_drop_notifications(c);
  return failed;
}

int pg_run(pg_connection *c, const char *sql, PGresult **result) {
  if (result) *result = NULL;
  c->unnamed++;
  int rc = pg_sent(c, pq.sendQuery(c->pq, sql));
  return rc == EDB_OK ? pg_finish(c, result) : rc;
}

/* ---- Stopping ---------------------------------------------------------------------------------- */

#if defined(_WIN32)
static int responds(pg_connection *c, pg_waiting *w) { return c && w; }
#else
/* Whether a second connection to where this one goes is made and answered. The question is an SSLRequest
** ([PostgreSQL] 55.7), which every server answers with a byte. */
static int responds(pg_connection *c, pg_waiting *w) {
  static const char question[8] = {0, 0, 0, 8, 4, (char)210, 22, 47};
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  char answer;
  int yes = 0, why;
  if (getpeername(pq.socket(c->pq), (struct sockaddr *)&address, &size) != 0) return 0;
  int fd = socket(address.ss_family, SOCK_STREAM, 0);
  if (fd < 0) return 0;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, O_NONBLOCK);
#if defined(SO_NOSIGPIPE)
  setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
  if (connect(fd, (struct sockaddr *)&address, size) != 0 && errno != EINPROGRESS) goto done;
  while ((why = pg_wait_slice(w, fd, 1, PG_SLICE_MS)) == PG_WAIT_AGAIN) continue;
  if (why != PG_WAIT_READY || send(fd, question, sizeof question, NO_SIGPIPE) < 0) goto done;
  while ((why = pg_wait_slice(w, fd, 0, PG_SLICE_MS)) == PG_WAIT_AGAIN) continue;
  yes = why == PG_WAIT_READY && recv(fd, &answer, 1, 0) == 1;
done:
  close(fd);
  return yes;
}
#endif

/* PQcancel has no time-out and would hang with a server that is gone, so that is found out before. It is not
** encrypted either: libpq has better since 17. */
static void old_cancel(pg_connection *c, pg_waiting *w) {
  char ignored[256];
  if (!c->cancel) c->cancel = pq.getCancel(c->pq);
  if (c->cancel && responds(c, w)) pq.cancel(c->cancel, ignored, sizeof ignored);
}

static void new_cancel(pg_connection *c, pg_waiting *w) {
  PGcancelConn *request = pq.cancelCreate(c->pq);
  int state = request && pq.cancelStart(request) ? PGRES_POLLING_WRITING : PGRES_POLLING_FAILED;
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    int why =
        pg_wait_slice(w, pq.cancelSocket(request), state == PGRES_POLLING_WRITING, PG_SLICE_MS);
    if (why == PG_WAIT_TIMEOUT) break;
    if (why == PG_WAIT_READY) state = pq.cancelPoll(request);
  }
  if (request) pq.cancelFinish(request);
}

int pg_stop(pg_connection *c) {
  pg_waiting w = {c->host, NULL, 0, pg_now_ms() + STOP_MS, 0};
  (pq.cancelCreate ? new_cancel : old_cancel)(c, &w);
  int why = take_all(c, &w, 0, NULL, NULL);
  pg_drop_notifications(c);
  if (why == PG_WAIT_READY && pq.status(c->pq) == CONNECTION_OK) return EDB_OK;
  if (why == PG_WAIT_READY) return pg_lost(c);
  c->dead = 1;
  return edb_fail(&c->error, EDB_CLOSED,
                  "the server did not stop the command within %d s; the connection ends",
                  STOP_MS / 1000);
}
