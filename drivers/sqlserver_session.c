/*
** drivers/sqlserver_session.c: TLS sessions, kept for all connections of the process, so that the second connection
** of a pool resumes what the first one has agreed on.
**
** A session is found by the server's address and all that decided whom to trust and how to encrypt: nothing that was
** got under other roots, pins, names or ciphers is even offered (tls/ binds it to name, ALPN and trust besides). It
** is taken out when it is offered, since a ticket of TLS 1.3 is for one use (RFC 8446 C.4), and one that a server
** does not like is not offered to it again.
*/
#include <string.h>

#include "sqlserver.h"

#define PLACES 32 /* sessions at most; the one that is longest unused makes room */

static struct {
  int64_t used; /* 0: the place is free; else when, counted */
  uint8_t key[MS_SESSION_KEY];
  tls_session session;
} places[PLACES]; /* under the lock */

static int64_t uses;

#ifdef _WIN32

#include <windows.h>

static SRWLOCK places_lock = SRWLOCK_INIT;

static void lock(void) { AcquireSRWLockExclusive(&places_lock); }
static void unlock(void) { ReleaseSRWLockExclusive(&places_lock); }

#else

#include <pthread.h>

static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) { pthread_mutex_lock(&places_lock); }
static void unlock(void) { pthread_mutex_unlock(&places_lock); }

#endif

/* Each part with its length before it, so that no two lists of parts are the same bytes. */
static void add(ecr_hash_context *context, const void *p, size_t n) {
  const uint32_t size = (uint32_t)n;
  ecr_sha256.update(context, &size, sizeof size);
  if (n > 0) ecr_sha256.update(context, p, n);
}

static void add_text(ecr_hash_context *context, const char *text) {
  add(context, text ? text : "", text ? strlen(text) : 0);
  add(context, text ? "1" : "0", 1);
}

void ms_session_key(const ms_target *target, const char *peer, const char *name,
                    uint8_t key[MS_SESSION_KEY]) {
  const uint8_t strict = (uint8_t)(target->strict != 0);
  ecr_hash_context context;
  ecr_sha256.init(&context);
  add_text(&context, peer);
  add_text(&context, name);
  add_text(&context, target->ca);
  add(&context, target->pins, target->n_pins * TLS_SPKI_HASH);
  add(&context, &strict, sizeof strict);
  for (size_t i = 0; i < ECR_CIPHERS; i++) {
    add_text(&context, target->ciphers[i] ? target->ciphers[i]->backend : NULL);
  }
  ecr_sha256.digest(&context, key);
}

/* Under the lock: the place of the key, or -1. */
static int find(const uint8_t key[MS_SESSION_KEY]) {
  for (int i = 0; i < PLACES; i++) {
    if (places[i].used && memcmp(places[i].key, key, MS_SESSION_KEY) == 0) return i;
  }
  return -1;
}

int ms_session_take(const uint8_t key[MS_SESSION_KEY], tls_session *session) {
  lock();
  const int at = find(key);
  if (at >= 0) {
    *session = places[at].session;
    ecr_wipe(&places[at], sizeof places[at]);
  }
  unlock();
  return at >= 0;
}

void ms_session_keep(const uint8_t key[MS_SESSION_KEY], const tls_session *session) {
  lock();
  int at = find(key);
  for (int i = 0; at < 0 && i < PLACES; i++) {
    if (!places[i].used) at = i;
  }
  if (at < 0) {
    at = 0;
    for (int i = 1; i < PLACES; i++) {
      if (places[i].used < places[at].used) at = i;
    }
  }
  places[at].used = ++uses;
  memcpy(places[at].key, key, MS_SESSION_KEY);
  places[at].session = *session;
  unlock();
}
