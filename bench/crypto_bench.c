/*
** crypto_bench.c: measures edb's primitives and its peers' alternately, in one process.
**
**     crypto_bench NOU128.so ROUNDS PREFIX [PEER…]
**
** does the cases whose names begin with PREFIX and prints, for each and each peer that has such a primitive, a
** line of JSON (seconds for one operation; rows: operations a round). In each round each participant runs
** once, for about SLOT seconds of processor time, each round beginning with another one; the medians of the rounds count.
** A result that is wrong ends with a status of 1.
*/
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crypto_bench.h"

#define SLOT 0.005
#define MOST 16 /* participants in one alternation */
#define ROUNDS_MOST 99

static const bench_participant *const peers[] = {&bench_openssl, &bench_bearssl, &bench_wolfssl};
#define PEERS (sizeof peers / sizeof *peers)

static struct {
  bench_inputs in;
  const bench_participant *nou128;
  const char *prefix;
  char **wanted; /* peers, ended by NULL; empty: all */
  int rounds, wrong;
} run;

/* Our own processor time: what else runs here takes none of it. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- One alternation ------------------------------------------------------------------------------ */

/* Who takes part: what it is called in a result, and its times. */
typedef struct entry {
  const bench_participant *who;
  char name[48]; /* of edb: the case; else the peer */
  bench_task task;
  long repeats;
  double seconds[ROUNDS_MOST], median, least;
} entry;

typedef struct field {
  int n;
  entry entries[MOST];
} field;

static double seconds_of(entry *e, long repeats) {
  const double begin = now();
  for (long i = 0; i < repeats; i++) {
    if (!e->task.run(e->task.state)) {
      fprintf(stderr, "%s: %s failed\n", e->name, e->who->name);
      run.wrong = 1;
      return -1;
    }
  }
  return now() - begin;
}

static int is_wanted(const char *name) {
  return strncmp(name, run.prefix, strlen(run.prefix)) == 0;
}

/* Room for another one; what must come out of it is checked, and its speed found. */
static void join_in(field *f, const bench_participant *who, const char *name, bench_task task,
                    const uint8_t *expected, size_t n) {
  entry *e = &f->entries[f->n];
  *e = (entry){.who = who, .task = task, .repeats = 1};
  snprintf(e->name, sizeof e->name, "%s", name);
  double seconds = seconds_of(e, 1);
  if (seconds >= 0 && task.out && memcmp(task.out, expected, n) != 0) {
    fprintf(stderr, "%s: %s gave a wrong result\n", name, who->name);
    run.wrong = 1;
    return;
  }
  while (seconds >= 0 && seconds < SLOT / 2) {
    e->repeats *= 2;
    seconds = seconds_of(e, e->repeats);
  }
  if (seconds >= 0) f->n++;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void alternate(field *f) {
  for (int round = 0; round < run.rounds; round++) {
    for (int i = 0; i < f->n; i++) {
      entry *e = &f->entries[(i + round) % f->n];
      e->seconds[round] = seconds_of(e, e->repeats) / (double)e->repeats;
    }
  }
  for (int i = 0; i < f->n; i++) {
    entry *e = &f->entries[i];
    const int half = run.rounds / 2;
    qsort(e->seconds, (size_t)run.rounds, sizeof *e->seconds, by_size);
    e->least = e->seconds[0];
    e->median = run.rounds % 2 ? e->seconds[half] : (e->seconds[half - 1] + e->seconds[half]) / 2;
  }
}

/* ---- Results -------------------------------------------------------------------------------------- */

static void print(const entry *edb, const entry *peer, const char *peer_name) {
  printf("{\"case\":\"%s\",\"peer\":\"%s\",\"edb_s\":%.12f,\"peer_s\":%.12f,\"ratio\":%.6f,"
         "\"rows\":%ld,\"edb_min_s\":%.12f,\"peer_min_s\":%.12f,\"edb_version\":\"%s\","
         "\"peer_version\":\"%s\"}\n",
         edb->name, peer_name, edb->median, peer->median, peer->median / edb->median, edb->repeats,
         edb->least, peer->least, edb->who->version(), peer->who->version());
}

static int is_peer_wanted(const char *name) {
  if (!run.wanted[0]) return 1;
  for (char **p = run.wanted; *p; p++)
    if (strcmp(*p, name) == 0) return 1;
  return 0;
}

/* A line for each of edb's entries and each peer; the build without 128-bit products beside the other
** build and OpenSSL. */
static void print_field(const field *f) {
  for (int i = 0; i < f->n; i++) {
    const entry *edb = &f->entries[i];
    if (edb->who != &bench_edb && edb->who != run.nou128) continue;
    if (!is_wanted(edb->name)) continue;
    for (int j = 0; j < f->n; j++) {
      const entry *peer = &f->entries[j];
      const int is_edb = peer->who == &bench_edb;
      if (edb->who == run.nou128 ? !is_edb && peer->who != &bench_openssl
                                 : is_edb || peer->who == run.nou128)
        continue;
      print(edb, peer, is_edb ? "u128" : peer->name);
    }
    for (size_t j = 0; j < PEERS; j++)
      if (peers[j]->missing && is_peer_wanted(peers[j]->name))
        printf("{\"case\":\"%s\",\"peer\":\"%s\",\"skipped\":\"%s is not installed\"}\n", edb->name,
               peers[j]->name, peers[j]->missing);
  }
  fflush(stdout);
}

/* ---- The cases ------------------------------------------------------------------------------------ */

static void run_aead(const char *cipher, int open, size_t n) {
  static uint8_t sealed[BENCH_RECORD + 16];
  static field f;
  bench_aead what = {cipher, "portable", 0, n, sealed};
  bench_task task;
  char name[48];
  const char *backend;
  int any = 0;
  for (int i = 0; (backend = bench_edb.backend(cipher, i)); i++) {
    snprintf(name, sizeof name, "crypto.%s.%s.%zu.%s", cipher, open ? "open" : "seal", n, backend);
    any |= is_wanted(name);
  }
  if (!any) return;

  /* The portable code makes the record, and every other participant must make or take the same. */
  if (!bench_edb.aead(&what, &run.in, &task) || !task.run(task.state)) exit(2);
  memcpy(sealed, task.out, n + 16);
  what.open = open;
  const uint8_t *expected = open ? run.in.plain : sealed;
  const size_t size = open ? n : n + 16;
  f.n = 0;
  for (int i = 0; (what.backend = bench_edb.backend(cipher, i)); i++) {
    snprintf(name, sizeof name, "crypto.%s.%s.%zu.%s", cipher, open ? "open" : "seal", n,
             what.backend);
    if (is_wanted(name) && bench_edb.aead(&what, &run.in, &task))
      join_in(&f, &bench_edb, name, task, expected, size);
  }
  for (size_t i = 0; i < PEERS; i++)
    if (!peers[i]->missing && is_peer_wanted(peers[i]->name) &&
        peers[i]->aead(&what, &run.in, &task))
      join_in(&f, peers[i], peers[i]->name, task, expected, size);
  alternate(&f);
  print_field(&f);
}

static void run_other(const char *work, int nou128) {
  static field f;
  bench_task task;
  char name[48], name_nou128[48];
  const uint8_t *expected = strcmp(work, "x25519") == 0 ? run.in.shared : run.in.message;
  snprintf(name, sizeof name, "crypto.%s", work);
  snprintf(name_nou128, sizeof name_nou128, "crypto.%s.nou128", work);
  nou128 = nou128 && is_wanted(name_nou128);
  if (!is_wanted(name) && !nou128) return;
  f.n = 0;
  if (bench_edb.other(work, &run.in, &task)) join_in(&f, &bench_edb, name, task, expected, 32);
  if (nou128 && run.nou128->other(work, &run.in, &task))
    join_in(&f, run.nou128, name_nou128, task, expected, 32);
  for (size_t i = 0; i < PEERS; i++)
    if (!peers[i]->missing && is_peer_wanted(peers[i]->name) &&
        peers[i]->other(work, &run.in, &task))
      join_in(&f, peers[i], peers[i]->name, task, expected, 32);
  alternate(&f);
  print_field(&f);
}

int main(int argc, char **argv) {
  static const char *const ciphers[] = {"aes128gcm", "aes256gcm", "chacha20poly1305"};
  static const size_t sizes[] = {256, 4096, BENCH_RECORD};
  if (argc < 4) {
    fprintf(stderr, "usage: crypto_bench NOU128.so ROUNDS PREFIX [PEER...]\n");
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  run.nou128 = library ? dlsym(library, "bench_edb") : NULL;
  run.rounds = (int)strtol(argv[2], NULL, 10);
  run.prefix = argv[3];
  run.wanted = argv + 4;
  if (!run.nou128 || run.rounds < 1 || run.rounds > ROUNDS_MOST) {
    fprintf(stderr, "%s\n", run.nou128 ? "rounds: 1 to 99" : dlerror());
    return 2;
  }
  if (!bench_make_inputs(&run.in)) return 3;
  for (size_t c = 0; c < 3; c++)
    for (int open = 1; open >= 0; open--)
      for (size_t n = 0; n < 3; n++) run_aead(ciphers[c], open, sizes[n]);
  run_other("x25519", 1);
  run_other("p256.verify", 1);
  run_other("p384.verify", 0);
  run_other("ed25519.verify", 0);
  run_other("rsa2048.verify", 1);
  run_other("rsa3072.verify", 0);
  run_other("rsa4096.verify", 0);
  run_other("rsa2048.oaep", 0);
  return run.wrong;
}
