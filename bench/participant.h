/*
** What every C participant of the benchmark shares: the rows, the sums, the clock and the one JSON
** line it prints. README.md says what a participant is.
**
** The rows are a pure function of their id, so that any of them can be made without the others:
**
**     id      1 .. rows
**     name    eight digits of the id, a space, one of 16 words of 1 to 21 bytes: 10 to 30 bytes of
**             UTF-8, 5 words in 16 not ASCII
**     score   an eighth of a whole number below 1,000,003: sums of them are exact in a double
**
** bench.tcl spells the same function in SQL for the servers.
*/
#ifndef BENCH_PARTICIPANT_H
#define BENCH_PARTICIPANT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime, RTLD_DEFAULT */
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- the rows ------------------------------------------------------------------------------- */

#define BENCH_NAME_MAX 31

/* clang-format off */
static const char *const bench_words[16] = {
    "a", "to", "sea", "Zürich", "river", "Łódź", "harbour", "東京",
    "mountain", "København", "evening", "lamp", "Straße", "bread", "one quite long word",
    "winter wheat harvest!"};
/* clang-format on */

/* Write the name of row id with its final NUL; returns its length in bytes. */
static inline int bench_name(int64_t id, char name[BENCH_NAME_MAX]) {
  return snprintf(name, BENCH_NAME_MAX, "%08lld %s", (long long)id, bench_words[id & 15]);
}

static inline double bench_score(int64_t id) { return (double)(id * 7919 % 1000003) / 8; }

/* The key of lookup n (from 0) in a table of so many rows: scattered, and never one key twice. */
static inline int64_t bench_key(int64_t n, int64_t rows) { return 1 + n * 618033 % rows; }

/* The range that the work `filter` reads: 1 % of the rows, in the middle. */
static inline int64_t bench_filter_low(int64_t rows) { return rows / 2 + 1; }
static inline int64_t bench_filter_high(int64_t rows) { return rows / 2 + rows / 100; }

/* ---- the sums ------------------------------------------------------------------------------- */

typedef struct bench_sums {
  int64_t count;
  int64_t ids;
  int64_t chars; /* characters, as SQLite's length() counts them */
  double score;
} bench_sums;

static inline int64_t bench_chars(const char *text, size_t n) {
  int64_t chars = 0;
  for (size_t i = 0; i < n; i++) {
    chars += (text[i] & 0xc0) != 0x80;
  }
  return chars;
}

static inline void bench_add(bench_sums *sums, int64_t id, const char *name, size_t n,
                             double score) {
  sums->count++;
  sums->ids += id;
  sums->chars += bench_chars(name, n);
  sums->score += score;
}

/* ---- the clock and the report --------------------------------------------------------------- */

typedef struct bench_clock {
  double wall, user, sys; /* seconds */
} bench_clock;

static inline bench_clock bench_now(void) {
  struct timespec t;
  struct rusage u;
  clock_gettime(CLOCK_MONOTONIC, &t);
  getrusage(RUSAGE_SELF, &u);
  return (bench_clock){(double)t.tv_sec + (double)t.tv_nsec / 1e9,
                       (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6,
                       (double)u.ru_stime.tv_sec + (double)u.ru_stime.tv_usec / 1e6};
}

/*
** The peak resident size in kB. VmHWM, because getrusage's ru_maxrss survives exec: a small
** program would report the size of the harness that started it.
*/
static inline long bench_peak_kb(void) {
  char line[256];
  long kb = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (!strncmp(line, "VmHWM:", 6)) {
      kb = strtol(line + 6, NULL, 10);
    }
  }
  if (f) {
    fclose(f);
  }
  return kb;
}

/*
** Print the participant's one line. units is how much work was done (rows, or lookups); server and
** client name versions and hold no character that JSON would escape.
*/
static inline void bench_report(const char *work, bench_clock from, bench_clock to,
                                const bench_sums *sums, int64_t units, const char *server,
                                const char *client) {
  printf("{\"work\":\"%s\",\"wall_s\":%.6f,\"user_s\":%.6f,\"sys_s\":%.6f,\"rss_kb\":%ld,"
         "\"count\":%lld,\"ids\":%lld,\"chars\":%lld,\"score\":%.3f,\"units\":%lld,"
         "\"server\":\"%s\",\"client\":\"%s\"}\n",
         work, to.wall - from.wall, to.user - from.user, to.sys - from.sys, bench_peak_kb(),
         (long long)sums->count, (long long)sums->ids, (long long)sums->chars, sums->score,
         (long long)units, server, client);
}

#endif
