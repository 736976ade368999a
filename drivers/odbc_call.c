/*
** drivers/odbc_call.c: calls that may block for long.
**
** ODBC's calls block. One is made in the thread that wants it, while the connection's own (thread.c) looks at the
** time-out and for cancels, asks the host, and stops it by SQLCancel, which ODBC allows from any thread, and which all
** four drivers of the tests obey so. Only a host that may not be asked from another thread has the call made there, and
** is asked here, which costs two switches of threads a call.
*/
#include <string.h>

#include "odbcInt.h"

int od_is_stopped(od_connection *c) {
  if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) return 1;
  return c->host->interrupted && c->host->interrupted(c->host->context);
}

/* Why the call should stop now. */
static int why_stop(od_connection *c, int64_t ms) {
  if (c->host->timeout_ms > 0 && ms >= c->host->timeout_ms) return OD_STOP_TIMEOUT;
  return od_is_stopped(c) ? OD_STOP_INTERRUPTED : OD_STOP_NONE;
}

static void tick(void *context, int64_t ms) {
  od_connection *c = context;
  if (c->stop == OD_STOP_NONE) c->stop = why_stop(c, ms);
  /* A cancel that came before the server had begun is lost: so it is repeated. */
  if (c->stop != OD_STOP_NONE && c->at_work) od.Cancel(c->at_work);
}

static int make(const void *context) {
  const od_job *job = context;
  return job->call(job);
}

SQLRETURN od_call(od_connection *c, SQLHANDLE cancel, const od_job *job) {
  const edb_thread_spec spec = {c->host, tick, c, NULL, NULL};
  c->stop = OD_STOP_NONE;
  c->at_work = cancel;
  if (!c->thread) c->thread = edb_thread_new(&spec);
  return (SQLRETURN)edb_thread_call(c->thread, edb_host_anywhere(c->host), make, job);
}

void od_thread_end(od_connection *c) {
  edb_thread_free(c->thread);
  c->thread = NULL;
}
