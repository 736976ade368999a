/*
** Calls that block, and what ticks beside them (drivers/thread.c): ticks come while a call lasts, in the thread that is
** asked for, and never after it; calls that are left are dropped when they come back.
*/
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "drivers/driverInt.h"
#include "host.h"

static pthread_t self;
static atomic_int ticks, ticked_here, ticked_away, called_here, calling, late;
static atomic_int go_on;
static atomic_int begun, ended;

static void tick(void *context, int64_t ms) {
  (void)context;
  if (!atomic_load(&calling) || ms < 0) atomic_store(&late, 1);
  if (pthread_equal(pthread_self(), self)) {
    atomic_fetch_add(&ticked_here, 1);
  } else {
    atomic_fetch_add(&ticked_away, 1);
  }
  atomic_fetch_add(&ticks, 1);
}

/* A call that comes back after its n-th tick. */
static int until_ticked(const void *job) {
  const int n = *(const int *)job;
  atomic_store(&called_here, pthread_equal(pthread_self(), self) != 0);
  while (atomic_load(&ticks) < n) usleep(1000);
  /* A tick that is at work is waited for before the call is over. */
  usleep(1000);
  return 40 + n;
}

static int quick(const void *job) { return *(const int *)job; }

static int call(edb_thread *t, int here, edb_blocking *what, const int *job) {
  atomic_store(&calling, 1);
  const int result = edb_thread_call(t, here, what, job);
  atomic_store(&calling, 0);
  return result;
}

static void count_begin(void) { atomic_fetch_add(&begun, 1); }
static void count_end(void) { atomic_fetch_add(&ended, 1); }

static void test_calls(int here) {
  const edb_thread_spec spec = {&unit_host, tick, NULL, count_begin, count_end};
  edb_thread *t = edb_thread_new(&spec);
  const int two = 2, seven = 7;
  atomic_store(&ticked_here, 0);
  atomic_store(&ticked_away, 0);
  CHECK(t != NULL);
  for (int round = 0; round < 3; round++) {
    atomic_store(&ticks, 0);
    CHECK_INT(call(t, here, until_ticked, &two), 42);
    CHECK_INT(atomic_load(&called_here), here);
    /* Without a call, and between calls that are over at once, nothing ticks that was not due. */
    for (int i = 0; i < 20000; i++) {
      if (call(t, here, quick, &seven) != 7) CHECK_INT(i, -1);
      if (i % 5000 == 0) usleep(30000);
    }
    /* Long enough for the thread to sleep. */
    if (round == 1) usleep(400000);
  }
  CHECK(atomic_load(here ? &ticked_away : &ticked_here) >= 6);
  CHECK_INT(atomic_load(here ? &ticked_here : &ticked_away), 0);
  edb_thread_free(t);
  CHECK_INT(atomic_load(&begun), atomic_load(&ended));
}

/* Ticks of calls that end in the same moment: none reaches the next call or comes between two. */
static atomic_int current, ticking_at, stray;

static void note(void *context, int64_t ms) {
  (void)context;
  (void)ms;
  const int at = atomic_load(&current);
  atomic_store(&ticking_at, at);
  usleep(3000);
  if (atomic_load(&current) != at || at % 2 == 0) atomic_store(&stray, 1);
}

static int about_a_slice(const void *job) {
  usleep(*(const unsigned *)job);
  return 0;
}

static void test_end(void) {
  const edb_thread_spec spec = {&unit_host, note, NULL, NULL, NULL};
  edb_thread *t = edb_thread_new(&spec);
  CHECK(t != NULL);
  atomic_store(&current, 0);
  for (unsigned i = 0; i < 40; i++) {
    const unsigned us = 20000 + i * 1000;
    atomic_fetch_add(&current, 1); /* odd: a call is at work */
    edb_thread_call(t, 1, about_a_slice, &us);
    atomic_fetch_add(&current, 1);
  }
  CHECK(atomic_load(&ticking_at) > 0);
  CHECK_INT(atomic_load(&stray), 0);
  edb_thread_free(t);
}

/* ---- Calls that are left ------------------------------------------------------------------------ */

static atomic_int dropped;

static int until_told(const void *job) {
  while (!atomic_load(&go_on)) usleep(1000);
  return *(const int *)job;
}

static void drop(void *job, int result) {
  free(job);
  atomic_store(&dropped, result);
}

static int never(void *context, int64_t ms) {
  (void)ms;
  if (++*(int *)context == 3) atomic_store(&go_on, 1);
  return 0;
}

static int third_time(void *context, int64_t ms) {
  (void)ms;
  return ++*(int *)context == 3;
}

static void test_leave(void) {
  int asked = 0, result = 0, *job = malloc(sizeof *job);
  if (!CHECK(job != NULL)) return;
  *job = 5;
  CHECK_INT(edb_call_or_leave(until_told, job, drop, never, &asked, &result), 1);
  CHECK_INT(result, 5);
  CHECK_INT(atomic_load(&dropped), 0);
  atomic_store(&go_on, 0);
  asked = 0;
  CHECK_INT(edb_call_or_leave(until_told, job, drop, third_time, &asked, &result), 0);
  CHECK_INT(asked, 3);
  usleep(50000);
  CHECK_INT(atomic_load(&dropped), 0); /* not before it has come back */
  atomic_store(&go_on, 1);
  for (int i = 0; i < 20000 && !atomic_load(&dropped); i++) usleep(1000);
  CHECK_INT(atomic_load(&dropped), 5); /* with what came of it */
}

int main(void) {
  self = pthread_self();
  test_calls(1);
  test_calls(0);
  test_end();
  test_leave();
  CHECK_INT(atomic_load(&late), 0);
  CHECK_INT(unit_blocks, 0);
  return unit_done("thread");
}
