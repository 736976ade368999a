/*
** drivers/odbc_thread.c: calls that may block for long.
**
** ODBC's calls block, and the host may only be asked by the thread that uses the connection. So what waits for the
** server is called by a thread of the connection's own, while the thread that wants the answer waits for that one in
** slices, asks the host, and stops the call by SQLCancel, which ODBC allows from any thread. It costs two
** switches of threads a call.
*/
#include <string.h>
#include <time.h>

#include "odbcInt.h"

#define SLICE_MS 20
#define ASK_MS 100

#if defined(_WIN32)

#include <windows.h>

struct od_thread {
  int unused;
};

int64_t od_now_ms(void) { return (int64_t)GetTickCount64(); }

SQLRETURN od_call(od_connection *c, SQLHANDLE cancel, const od_job *job) {
  (void)cancel;
  c->stop = OD_STOP_NONE;
  return job->call(job);
}

void od_thread_end(od_connection *c) { (void)c; }

#else

#include <pthread.h>

struct od_thread {
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t wanted, done;
  const od_job *job; /* NULL: there is none, or it is done */
  SQLRETURN result;
  int leave;
};

int64_t od_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *work(void *context) {
  od_thread *t = context;
  pthread_mutex_lock(&t->mutex);
  while (!t->leave) {
    if (!t->job) {
      pthread_cond_wait(&t->wanted, &t->mutex);
      continue;
    }
    const od_job *job = t->job;
    pthread_mutex_unlock(&t->mutex);
    const SQLRETURN result = job->call(job);
    pthread_mutex_lock(&t->mutex);
    t->result = result;
    t->job = NULL;
    pthread_cond_signal(&t->done);
  }
  pthread_mutex_unlock(&t->mutex);
  return NULL;
}

/* The connection's thread, or NULL where none can be had. */
static od_thread *start(od_connection *c) {
  pthread_condattr_t clock;
  od_thread *t = edb_alloc(c->host, sizeof *t);
  if (!t) return NULL;
  memset(t, 0, sizeof *t);
  pthread_condattr_init(&clock);
#if !defined(__APPLE__)
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
#endif
  pthread_mutex_init(&t->mutex, NULL);
  pthread_cond_init(&t->wanted, &clock);
  pthread_cond_init(&t->done, &clock);
  pthread_condattr_destroy(&clock);
  if (pthread_create(&t->thread, NULL, work, t) == 0) return t;
  pthread_cond_destroy(&t->wanted);
  pthread_cond_destroy(&t->done);
  pthread_mutex_destroy(&t->mutex);
  edb_free(c->host, t);
  return NULL;
}

static void wait_slice(od_thread *t) {
  struct timespec end;
#if defined(__APPLE__)
  clock_gettime(CLOCK_REALTIME, &end);
#else
  clock_gettime(CLOCK_MONOTONIC, &end);
#endif
  end.tv_nsec += SLICE_MS * 1000000L;
  end.tv_sec += end.tv_nsec / 1000000000L;
  end.tv_nsec %= 1000000000L;
  pthread_cond_timedwait(&t->done, &t->mutex, &end);
}

/* Why the call should stop now. */
static int why_stop(od_connection *c, int64_t now, int64_t end) {
  if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) return OD_STOP_INTERRUPTED;
  if (end && now >= end) return OD_STOP_TIMEOUT;
  if (!c->host->interrupted || now - c->asked < ASK_MS) return OD_STOP_NONE;
  c->asked = now;
  return c->host->interrupted(c->host->context) ? OD_STOP_INTERRUPTED : OD_STOP_NONE;
}

SQLRETURN od_call(od_connection *c, SQLHANDLE cancel, const od_job *job) {
  c->stop = OD_STOP_NONE;
  if (!c->thread) c->thread = start(c);
  od_thread *t = c->thread;
  if (!t) return job->call(job);
  const int64_t from = od_now_ms();
  const int64_t end = c->host->timeout_ms > 0 ? from + c->host->timeout_ms : 0;
  c->asked = from;
  pthread_mutex_lock(&t->mutex);
  t->job = job;
  pthread_cond_signal(&t->wanted);
  while (t->job) {
    wait_slice(t);
    if (!t->job) break;
    /* Nobody holds the mutex while others are talked to. */
    pthread_mutex_unlock(&t->mutex);
    if (c->stop == OD_STOP_NONE) c->stop = why_stop(c, od_now_ms(), end);
    /* A cancel that came before the server had begun is lost: so it is repeated. */
    if (c->stop != OD_STOP_NONE && cancel) od.Cancel(cancel);
    pthread_mutex_lock(&t->mutex);
  }
  const SQLRETURN result = t->result;
  pthread_mutex_unlock(&t->mutex);
  return result;
}

void od_thread_end(od_connection *c) {
  od_thread *t = c->thread;
  if (!t) return;
  pthread_mutex_lock(&t->mutex);
  t->leave = 1;
  pthread_cond_signal(&t->wanted);
  pthread_mutex_unlock(&t->mutex);
  pthread_join(t->thread, NULL);
  pthread_cond_destroy(&t->wanted);
  pthread_cond_destroy(&t->done);
  pthread_mutex_destroy(&t->mutex);
  edb_free(c->host, t);
  c->thread = NULL;
}

#endif
