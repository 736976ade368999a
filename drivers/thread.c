/*
** drivers/thread.c: calls of client libraries that block, beside which something has to go on: the host is asked, the
** time-out is looked at, the server is told to stop.
**
** A connection has one thread, made at its first call that may block. Where whoever ticks may do so in any thread,
** the call is made where it is wanted and the thread ticks (edb_thread_call, here): as long as calls are short that costs
** two writes to memory a call and no switch of threads, since a thread that has seen a call looks for the next one by
** itself for a while before it sleeps. Else the thread makes the call and the caller ticks, for two switches a call.
**
** A call that nothing stops (a connection that is being made) is made by a thread that can be left behind with it
** (edb_call_or_leave).
*/
#include <stdlib.h>
#include <string.h>

#include "driverInt.h"

#if defined(_WIN32)

struct edb_thread {
  int unused;
};

edb_thread *edb_thread_new(const edb_thread_spec *spec) {
  (void)spec;
  return NULL;
}

int edb_thread_call(edb_thread *t, int here, edb_blocking *call, const void *job) {
  (void)t;
  (void)here;
  return call(job);
}

void edb_thread_free(edb_thread *t) { (void)t; }

int edb_call_or_leave(edb_blocking *call, void *job, edb_drop *drop, edb_leave *leave,
                      void *context, int *result) {
  (void)drop;
  (void)leave;
  (void)context;
  *result = call(job);
  return 1;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define SLICE_MS 20
#define QUIET_SLICES 10 /* without a call, before the thread sleeps */

/* What is made here: nothing, a call, or a call beside which tick is at work, with the mutex held. */
enum { IDLE, CALLED, TICKING };

struct edb_thread {
  edb_thread_spec spec;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t wanted, done;
  /* Calls made by the thread. */
  edb_blocking *call; /* NULL: there is none, or it is done */
  const void *job;
  int result;
  int leave;
  /* Calls made by the caller. */
  atomic_int state;
  atomic_uint calls; /* made so far */
  atomic_int asleep; /* the thread looks for no call */
};

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void init_condition(pthread_cond_t *condition) {
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
#if !defined(__APPLE__)
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
#endif
  pthread_cond_init(condition, &clock);
  pthread_condattr_destroy(&clock);
}

static void wait_slice(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  struct timespec end;
#if defined(__APPLE__)
  clock_gettime(CLOCK_REALTIME, &end);
#else
  clock_gettime(CLOCK_MONOTONIC, &end);
#endif
  end.tv_nsec += SLICE_MS * 1000000L;
  end.tv_sec += end.tv_nsec / 1000000000L;
  end.tv_nsec %= 1000000000L;
  pthread_cond_timedwait(condition, mutex, &end);
}

/* A thread that takes no signals: they are the host's. */
static int make_thread(pthread_t *thread, void *(*work)(void *), void *context) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const int rc = pthread_create(thread, NULL, work, context);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return rc == 0;
}

/* ---- The thread --------------------------------------------------------------------------------- */

static void make_call(edb_thread *t) {
  edb_blocking *call = t->call;
  const void *job = t->job;
  pthread_mutex_unlock(&t->mutex);
  const int result = call(job);
  pthread_mutex_lock(&t->mutex);
  t->result = result;
  t->call = NULL;
  pthread_cond_signal(&t->done);
}

/* What the thread has seen of the caller's calls. */
typedef struct edb_seen {
  unsigned calls;
  int64_t since; /* when the last one was first seen */
  int quiet;     /* slices in which none was */
} edb_seen;

/* Looks for a call of the caller's; one that has lasted a slice gets its tick. */
static void look(edb_thread *t, edb_seen *seen) {
  int state = CALLED;
  const int called = atomic_compare_exchange_strong(&t->state, &state, TICKING);
  const unsigned calls = atomic_load(&t->calls);
  if (calls != seen->calls) {
    seen->calls = calls;
    seen->since = now_ms();
    seen->quiet = 0;
  } else if (called) {
    t->spec.tick(t->spec.context, now_ms() - seen->since);
  } else {
    seen->quiet++;
  }
  if (called) atomic_store(&t->state, CALLED);
}

/* Nothing has come for a while. Whoever calls looks whether the thread sleeps, after it has written that it calls. */
static void sleep_until_wanted(edb_thread *t, edb_seen *seen) {
  atomic_store(&t->asleep, 1);
  if (atomic_load(&t->calls) == seen->calls) pthread_cond_wait(&t->wanted, &t->mutex);
  atomic_store(&t->asleep, 0);
  seen->quiet = 0;
}

static void *work(void *context) {
  edb_thread *t = context;
  edb_seen seen = {0, 0, QUIET_SLICES};
  if (t->spec.begin) t->spec.begin();
  pthread_mutex_lock(&t->mutex);
  while (!t->leave) {
    if (t->call) {
      make_call(t);
    } else if (seen.quiet >= QUIET_SLICES) {
      sleep_until_wanted(t, &seen);
    } else {
      look(t, &seen);
      if (!t->leave && !t->call) wait_slice(&t->wanted, &t->mutex);
    }
  }
  pthread_mutex_unlock(&t->mutex);
  if (t->spec.end) t->spec.end();
  return NULL;
}

edb_thread *edb_thread_new(const edb_thread_spec *spec) {
  edb_thread *t = edb_alloc(spec->host, sizeof *t);
  if (!t) return NULL;
  memset(t, 0, sizeof *t);
  t->spec = *spec;
  atomic_init(&t->state, IDLE);
  atomic_init(&t->calls, 0);
  atomic_init(&t->asleep, 0);
  pthread_mutex_init(&t->mutex, NULL);
  init_condition(&t->wanted);
  init_condition(&t->done);
  if (make_thread(&t->thread, work, t)) return t;
  pthread_cond_destroy(&t->wanted);
  pthread_cond_destroy(&t->done);
  pthread_mutex_destroy(&t->mutex);
  edb_free(spec->host, t);
  return NULL;
}

void edb_thread_free(edb_thread *t) {
  if (!t) return;
  pthread_mutex_lock(&t->mutex);
  t->leave = 1;
  pthread_cond_signal(&t->wanted);
  pthread_mutex_unlock(&t->mutex);
  pthread_join(t->thread, NULL);
  pthread_cond_destroy(&t->wanted);
  pthread_cond_destroy(&t->done);
  pthread_mutex_destroy(&t->mutex);
  edb_free(t->spec.host, t);
}

/* ---- The caller --------------------------------------------------------------------------------- */

static int call_here(edb_thread *t, edb_blocking *call, const void *job) {
  int state = CALLED;
  atomic_store_explicit(&t->calls, atomic_load_explicit(&t->calls, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  atomic_store(&t->state, CALLED);
  if (atomic_load(&t->asleep)) {
    pthread_mutex_lock(&t->mutex);
    pthread_cond_signal(&t->wanted);
    pthread_mutex_unlock(&t->mutex);
  }
  const int result = call(job);
  if (!atomic_compare_exchange_strong(&t->state, &state, IDLE)) {
    /* A tick is at work, which may yet tell the server to stop: not what is called next. */
    pthread_mutex_lock(&t->mutex);
    atomic_store(&t->state, IDLE);
    pthread_mutex_unlock(&t->mutex);
  }
  return result;
}

static int call_away(edb_thread *t, edb_blocking *call, const void *job) {
  const int64_t from = now_ms();
  pthread_mutex_lock(&t->mutex);
  t->job = job;
  t->call = call;
  pthread_cond_signal(&t->wanted);
  while (t->call) {
    wait_slice(&t->done, &t->mutex);
    if (!t->call) break;
    /* Nobody holds the mutex while others are talked to. */
    pthread_mutex_unlock(&t->mutex);
    t->spec.tick(t->spec.context, now_ms() - from);
    pthread_mutex_lock(&t->mutex);
  }
  const int result = t->result;
  pthread_mutex_unlock(&t->mutex);
  return result;
}

int edb_thread_call(edb_thread *t, int here, edb_blocking *call, const void *job) {
  if (!t) return call(job);
  return here ? call_here(t, call, job) : call_away(t, call, job);
}

/* ---- Calls that can be left --------------------------------------------------------------------- */

/* What the two threads share, freed by the one that is done with it last. */
typedef struct errand {
  pthread_mutex_t mutex;
  pthread_cond_t done;
  edb_blocking *call;
  void *job;
  edb_drop *drop;
  int result;
  int over, left;
} errand;

static void free_errand(errand *e) {
  pthread_mutex_destroy(&e->mutex);
  pthread_cond_destroy(&e->done);
  free(e);
}

static void *run_errand(void *context) {
  errand *e = context;
  const int result = e->call(e->job);
  pthread_mutex_lock(&e->mutex);
  e->result = result;
  e->over = 1;
  const int left = e->left;
  pthread_cond_signal(&e->done);
  pthread_mutex_unlock(&e->mutex);
  if (left) {
    e->drop(e->job, result);
    free_errand(e);
  }
  return NULL;
}

/* The code of a thread that is left behind stays, even if SQLite unloads the extension. */
static void stay_loaded(void) {
  Dl_info self;
  void *address;
  void *(*code)(void *) = run_errand;
  memcpy(&address, &code, sizeof address);
  if (dladdr(address, &self) && self.dli_fname) dlopen(self.dli_fname, RTLD_NOW | RTLD_NODELETE);
}

int edb_call_or_leave(edb_blocking *call, void *job, edb_drop *drop, edb_leave *leave,
                      void *context, int *result) {
  pthread_t thread;
  errand *e = malloc(sizeof *e);
  if (e) {
    memset(e, 0, sizeof *e);
    e->call = call;
    e->job = job;
    e->drop = drop;
    pthread_mutex_init(&e->mutex, NULL);
    init_condition(&e->done);
  }
  if (!e || !make_thread(&thread, run_errand, e)) {
    if (e) free_errand(e);
    *result = call(job);
    return 1;
  }
  const int64_t from = now_ms();
  int left = 0;
  pthread_mutex_lock(&e->mutex);
  while (!e->over && !left) {
    wait_slice(&e->done, &e->mutex);
    if (e->over) break;
    pthread_mutex_unlock(&e->mutex);
    left = leave(context, now_ms() - from);
    if (left) stay_loaded();
    pthread_mutex_lock(&e->mutex);
  }
  if (e->over) left = 0;
  e->left = left;
  *result = e->result;
  pthread_mutex_unlock(&e->mutex);
  if (left) {
    pthread_detach(thread);
  } else {
    pthread_join(thread, NULL);
    free_errand(e);
  }
  return !left;
}

#endif
