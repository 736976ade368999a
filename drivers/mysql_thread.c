/*
** drivers/mysql_thread.c: calls that may block for long, with libraries that do not call back while they wait.
**
** libmysqlclient blocks where libmariadb would ask us (mysql_wait.c). So what waits for a statement's answer is
** called by a thread of the connection's own, while the thread that wants the answer waits for that one in
** slices and asks the host, as everywhere. It costs two switches of threads a statement. Rows are fetched
** without it: between two rows of one result a wait ends by the library's own read time-out alone.
*/
#include <stdlib.h>
#include <string.h>

#include "mysql.h"

#define SLICE_MS 50

#if defined(_WIN32)

struct my_thread {
  int unused;
};

int my_call(my_connection *c, const my_job *job) {
  (void)c;
  return job->call(job);
}

void my_thread_end(my_connection *c) { (void)c; }

#else

#include <pthread.h>
#include <time.h>

struct my_thread {
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const my_job *job; /* NULL: there is none, or it is done */
  int result;
  int leave;
};

static void *work(void *context) {
  my_thread *t = context;
  my.thread_init();
  pthread_mutex_lock(&t->mutex);
  while (!t->leave) {
    if (!t->job) {
      pthread_cond_wait(&t->changed, &t->mutex);
      continue;
    }
    const my_job *job = t->job;
    pthread_mutex_unlock(&t->mutex);
    int result = job->call(job);
    pthread_mutex_lock(&t->mutex);
    t->result = result;
    t->job = NULL;
    pthread_cond_broadcast(&t->changed);
  }
  pthread_mutex_unlock(&t->mutex);
  my.thread_end();
  return NULL;
}

/* The connection's thread, or NULL where none can be had. */
static my_thread *start(my_connection *c) {
  pthread_condattr_t clock;
  my_thread *t = edb_alloc(c->host, sizeof *t);
  if (!t) return NULL;
  memset(t, 0, sizeof *t);
  pthread_condattr_init(&clock);
#if !defined(__APPLE__)
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
#endif
  pthread_mutex_init(&t->mutex, NULL);
  pthread_cond_init(&t->changed, &clock);
  pthread_condattr_destroy(&clock);
  if (pthread_create(&t->thread, NULL, work, t) == 0) return t;
  pthread_cond_destroy(&t->changed);
  pthread_mutex_destroy(&t->mutex);
  edb_free(c->host, t);
  return NULL;
}

static void wait_slice(my_thread *t) {
  struct timespec end;
#if defined(__APPLE__)
  clock_gettime(CLOCK_REALTIME, &end);
#else
  clock_gettime(CLOCK_MONOTONIC, &end);
#endif
  end.tv_nsec += SLICE_MS * 1000000L;
  end.tv_sec += end.tv_nsec / 1000000000L;
  end.tv_nsec %= 1000000000L;
  pthread_cond_timedwait(&t->changed, &t->mutex, &end);
}

int my_call(my_connection *c, const my_job *job) {
  if (!c->thread) c->thread = start(c);
  my_thread *t = c->thread;
  if (!t) return job->call(job);
  pthread_mutex_lock(&t->mutex);
  t->job = job;
  pthread_cond_broadcast(&t->changed);
  while (t->job) {
    wait_slice(t);
    if (!t->job) break;
    /* Nobody holds the mutex while others are talked to. */
    pthread_mutex_unlock(&t->mutex);
    my_stop_if_due(c);
    pthread_mutex_lock(&t->mutex);
  }
  int result = t->result;
  pthread_mutex_unlock(&t->mutex);
  return result;
}

void my_thread_end(my_connection *c) {
  my_thread *t = c->thread;
  if (!t) return;
  pthread_mutex_lock(&t->mutex);
  t->leave = 1;
  pthread_cond_broadcast(&t->changed);
  pthread_mutex_unlock(&t->mutex);
  pthread_join(t->thread, NULL);
  pthread_cond_destroy(&t->changed);
  pthread_mutex_destroy(&t->mutex);
  edb_free(c->host, t);
  c->thread = NULL;
}

#endif

/* ---- What is called so ---------------------------------------------------------------------------- */

static int call_query(const my_job *job) { return my.real_query(job->mysql, job->sql, job->n); }

static int call_prepare(const my_job *job) { return my.stmt_prepare(job->stmt, job->sql, job->n); }

static int call_execute(const my_job *job) { return my.stmt_execute(job->stmt); }

static int call(my_connection *c, my_job job) {
  return c->hooked ? job.call(&job) : my_call(c, &job);
}

int my_query(my_connection *c, const char *sql, size_t n) {
  return call(c, (my_job){call_query, c->mysql, NULL, sql, (unsigned long)n});
}

int my_prepare(my_connection *c, MYSQL_STMT *stmt, const char *sql, size_t n) {
  return call(c, (my_job){call_prepare, NULL, stmt, sql, (unsigned long)n});
}

int my_execute(my_connection *c, MYSQL_STMT *stmt) {
  return call(c, (my_job){call_execute, NULL, stmt, NULL, 0});
}
