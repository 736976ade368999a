/*
** drivers/trust.c: roots from files, folders and the system, kept for all connections of the process. The contract
** is in trust.h.
**
** A store is what one path held at one time. Connections that began with it keep it when the files have changed and
** a newer store has taken its place; the last of them frees it.
*/
#include "trust.h"
#include "driverInt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_LIMIT (64u << 20) /* bytes of one file; all the roots there are take less than one */

typedef struct store store;
struct store {
  tls_trust trust; /* first: edb_trust_done is given its address */
  store *next;
  char *path;     /* of a file or folder; "" for the system's own */
  uint64_t stamp; /* of the files' names, sizes and times */
  unsigned users;
  int newest; /* 1: what the path holds, as far as is known */
};

static store *stores; /* under the lock */

/* ---- What was read, before it is parsed --------------------------------------------------------- */

/* The bytes of files, one after the other, each with its size before it. Sticky. */
typedef struct pile {
  unsigned char *p;
  size_t n, size;
  size_t files, certificates; /* how many of these there are, or more */
  int nomem;
} pile;

static void pile_add(pile *all, const void *p, size_t n) {
  if (all->nomem) return;
  if (all->size - all->n < n) {
    size_t size = all->size + n + all->size / 2 + 4096;
    unsigned char *moved = realloc(all->p, size);
    if (!moved) {
      all->nomem = 1;
      return;
    }
    all->p = moved;
    all->size = size;
  }
  memcpy(all->p + all->n, p, n);
  all->n += n;
}

static void pile_add_file(pile *all, const void *p, size_t n) {
  pile_add(all, &n, sizeof n);
  pile_add(all, p, n);
  all->files++;
  all->certificates++;
  for (const char *at = p, *end = at + n; (at = memchr(at, 'B', (size_t)(end - at))) != NULL;
       at++) {
    if (end - at > 5 && memcmp(at, "BEGIN ", 6) == 0) all->certificates++;
  }
}

/* ---- The platform --------------------------------------------------------------------------------- */

#ifdef _WIN32

#include <windows.h>
#include <wincrypt.h>

static SRWLOCK stores_lock = SRWLOCK_INIT;

static void lock(void) { AcquireSRWLockExclusive(&stores_lock); }
static void unlock(void) { ReleaseSRWLockExclusive(&stores_lock); }

typedef struct folder {
  HANDLE handle;
  WIN32_FIND_DATAA found;
  int first;
} folder;

static int folder_open(folder *f, const char *path) {
  char pattern[4096];
  snprintf(pattern, sizeof pattern, "%s\\*", path);
  f->handle = FindFirstFileA(pattern, &f->found);
  f->first = 1;
  return f->handle != INVALID_HANDLE_VALUE;
}

static const char *folder_next(folder *f) {
  if (!f->first && !FindNextFileA(f->handle, &f->found)) return NULL;
  f->first = 0;
  return f->found.cFileName;
}

static void folder_close(folder *f) { FindClose(f->handle); }

static const char *const system_paths[] = {NULL};

/* The roots of the machine and of its user, which have no file. */
static void add_system_roots(pile *all) {
  HCERTSTORE roots = CertOpenSystemStoreA(0, "ROOT");
  const CERT_CONTEXT *c = NULL;
  if (!roots) return;
  while ((c = CertEnumCertificatesInStore(roots, c)) != NULL) {
    pile_add_file(all, c->pbCertEncoded, c->cbCertEncoded);
  }
  CertCloseStore(roots, 0);
}

static uint64_t time_of(const struct stat *s) { return (uint64_t)s->st_mtime; }

#else

#include <dirent.h>
#include <pthread.h>

static pthread_mutex_t stores_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) { pthread_mutex_lock(&stores_lock); }
static void unlock(void) { pthread_mutex_unlock(&stores_lock); }

typedef struct folder {
  DIR *handle;
} folder;

static int folder_open(folder *f, const char *path) { return (f->handle = opendir(path)) != NULL; }

static const char *folder_next(folder *f) {
  struct dirent *entry = readdir(f->handle);
  return entry ? entry->d_name : NULL;
}

static void folder_close(folder *f) { closedir(f->handle); }

/* Debian and Ubuntu; Fedora and Red Hat; openSUSE; Alpine, the BSDs and macOS; then folders. */
static const char *const system_paths[] = {"/etc/ssl/certs/ca-certificates.crt",
                                           "/etc/pki/tls/certs/ca-bundle.crt",
                                           "/etc/ssl/ca-bundle.pem",
                                           "/etc/ssl/cert.pem",
                                           "/usr/local/share/certs/ca-root-nss.crt",
                                           "/etc/ssl/certs",
                                           NULL};

static void add_system_roots(pile *all) { (void)all; }

static uint64_t time_of(const struct stat *s) {
#if defined(__APPLE__)
  return (uint64_t)s->st_mtimespec.tv_sec * 1000000000u + (uint64_t)s->st_mtimespec.tv_nsec;
#else
  return (uint64_t)s->st_mtim.tv_sec * 1000000000u + (uint64_t)s->st_mtim.tv_nsec;
#endif
}

#endif

/* ---- Files ------------------------------------------------------------------------------------------ */

static int is_folder(const struct stat *s) { return (s->st_mode & S_IFMT) == S_IFDIR; }
static int is_file(const struct stat *s) { return (s->st_mode & S_IFMT) == S_IFREG; }

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *p, size_t n) {
  const unsigned char *bytes = p;
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
  return hash;
}

static uint64_t stamp_of(const char *path, const struct stat *s) {
  uint64_t facts[3] = {time_of(s), (uint64_t)s->st_size, (uint64_t)s->st_ino};
  return mix(mix(UINT64_C(14695981039346656037), path, strlen(path)), facts, sizeof facts);
}

static void read_file(pile *all, const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t n = 0, size = 0, got = 0;
  if (!f) return;
  do {
    n += got;
    if (n == size) {
      char *moved = size < FILE_LIMIT ? realloc(text, size += size + 65536) : NULL;
      if (!moved) {
        all->nomem |= size < FILE_LIMIT;
        n = 0;
        break;
      }
      text = moved;
    }
  } while ((got = fread(text + n, 1, size - n, f)) > 0);
  if (n > 0) pile_add_file(all, text, n);
  free(text);
  fclose(f);
}

/* The stamp of a file, or of all files of a folder, in any order; 0 where there is nothing. all: gets their bytes,
** or NULL. */
static uint64_t survey(const char *path, pile *all) {
  struct stat s;
  folder f;
  const char *name;
  char whole[4096];
  uint64_t sum = 1;
  if (stat(path, &s) != 0) return 0;
  if (is_file(&s)) {
    if (all) read_file(all, path);
    return stamp_of(path, &s) | 1;
  }
  if (!is_folder(&s) || !folder_open(&f, path)) return 0;
  while ((name = folder_next(&f)) != NULL) {
    int n = snprintf(whole, sizeof whole, "%s/%s", path, name);
    if (n < 0 || (size_t)n >= sizeof whole || stat(whole, &s) != 0 || !is_file(&s)) continue;
    sum += stamp_of(whole, &s);
    if (all) read_file(all, whole);
  }
  folder_close(&f);
  return sum | 1;
}

/* ---- Stores ------------------------------------------------------------------------------------------ */

static void free_store(store *s) {
  if (!s) return;
  free(s->trust.anchors);
  free(s->trust.bytes);
  free(s->path);
  free(s);
}

/* A certificate in DER is no more than its file; in PEM it is less. */
static int parse(store *s, const pile *all) {
  tls_anchor *anchors = malloc(all->certificates * sizeof *anchors);
  unsigned char *bytes = malloc(all->n);
  tls_trust_init(&s->trust, anchors, all->certificates, bytes, all->n);
  if (!anchors || !bytes) return EDB_NOMEM;
  for (size_t i = 0, n; i < all->n; i += n) {
    memcpy(&n, all->p + i, sizeof n);
    i += sizeof n;
    if (tls_trust_add_pem(&s->trust, (const char *)all->p + i, n, NULL) == ECR_INVALID) {
      tls_trust_add_der(&s->trust, all->p + i, n);
    }
  }
  return EDB_OK;
}

static int load(const char *path, const char *shown, store **out, edb_error *error) {
  pile all = {0};
  store *s = calloc(1, sizeof *s);
  int rc = EDB_NOMEM;
  *out = NULL;
  if (!s || !(s->path = malloc(strlen(path) + 1))) goto done;
  memcpy(s->path, path, strlen(path) + 1);
  s->stamp = *path ? survey(path, &all) : 1;
  if (!*path) add_system_roots(&all);
  if (all.nomem) goto done;
  if (all.files == 0) {
    rc =
        edb_fail(error, EDB_FAILED,
                 "there are no certificates to trust in %s: it cannot be read, or is empty", shown);
    goto done;
  }
  rc = parse(s, &all);
  if (rc == EDB_OK && s->trust.anchor_count == 0) {
    rc = edb_fail(error, EDB_FAILED, "there is no certificate in %s", shown);
    edb_fail_hint(error, "certificates are read as PEM (BEGIN CERTIFICATE), or one as DER");
  }
  if (rc == EDB_OK) *out = s;
done:
  if (rc == EDB_NOMEM) edb_fail(error, EDB_NOMEM, "out of memory");
  if (rc != EDB_OK) free_store(s);
  free(all.p);
  return rc;
}

/* Where path is NULL; "" where it is no file. */
static const char *system_path(void) {
  static const char *const variables[] = {"SSL_CERT_FILE", "SSL_CERT_DIR"};
  for (int i = 0; i < 2; i++) {
    const char *value = getenv(variables[i]);
    if (value && *value) return value;
  }
  for (const char *const *path = system_paths; *path; path++) {
    if (survey(*path, NULL)) return *path;
  }
  return "";
}

static void remove_store(store *s) {
  store **at = &stores;
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  free_store(s);
}

int edb_trust_get(const char *path, const tls_trust **trust, edb_error *error) {
  int rc = EDB_OK;
  *trust = NULL;
  lock();
  const char *where = path ? path : system_path();
  uint64_t stamp = *where ? survey(where, NULL) : 1;
  store *s = stores;
  while (s && !(s->newest && strcmp(s->path, where) == 0)) s = s->next;
  if (s && s->stamp != stamp) {
    s->newest = 0;
    if (s->users == 0) remove_store(s);
    s = NULL;
  }
  if (!s && (rc = load(where, *where ? where : "this system's store", &s, error)) == EDB_OK) {
    s->newest = 1;
    s->next = stores;
    stores = s;
  }
  if (s) {
    s->users++;
    *trust = &s->trust;
  }
  unlock();
  return rc;
}

void edb_trust_done(const tls_trust *trust) {
  lock();
  store *s = stores;
  while (s && &s->trust != trust) s = s->next;
  if (s && --s->users == 0 && !s->newest) remove_store(s);
  unlock();
}

#if defined(__GNUC__)
/* When edb is unloaded. */
__attribute__((destructor)) static void free_stores(void) {
  while (stores) remove_store(stores);
}
#endif
