/*
** tdsd.h: what the tests of the SQL Server driver share that start a tdsd of their own and tell it how to misbehave.
*/
#ifndef EDB_UNIT_TDSD_H
#define EDB_UNIT_TDSD_H

#define LIVE_URL "EDB_TEST_SQLSERVER_OWN"
#include "live.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- The server ---------------------------------------------------------------------------------- */

static pid_t pid;
static int port, control_port, browser_port;
static char dir[1024];

static inline void start_server(void) {
  const char *build = getenv("EDB_BUILD_DIR"), *temporary = getenv("TMPDIR");
  char program[1200], line[200] = "";
  int pipes[2];
  snprintf(dir, sizeof dir, "%s/edb.XXXXXX", temporary ? temporary : "/tmp");
  if (!mkdtemp(dir) || pipe(pipes) != 0) exit(1);
  snprintf(program, sizeof program, "%s/tdsd", build ? build : "build");
  pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(pipes[1], 1);
    execl(program, program, "-dir", dir, "-user", "edb", "-password", "s3cret@edb", "-browser",
          "yes", "-careful", "edb", (char *)NULL);
    _exit(1);
  }
  close(pipes[1]);
  FILE *f = fdopen(pipes[0], "r");
  if (!f || !fgets(line, sizeof line, f)) exit(1);
  char *p = line + strcspn(line, " ");
  port = (int)strtol(p, &p, 10);
  control_port = (int)strtol(p, &p, 10);
  browser_port = (int)strtol(p, &p, 10);
}

/* Every rule was kept, and all memory was given back. */
static inline void stop_server(void) {
  char path[1100];
  struct stat s;
  snprintf(path, sizeof path, "%s/violations", dir);
  CHECK(stat(path, &s) != 0 || s.st_size == 0);
  kill(pid, SIGTERM);
  waitpid(pid, NULL, 0);
  pid = fork();
  if (pid == 0) {
    execlp("rm", "rm", "-rf", dir, (char *)NULL);
    _exit(1);
  }
  waitpid(pid, NULL, 0);
  CHECK_INT(blocks, 0);
}

/* One command of the control channel; its answer's first line. */
static inline const char *tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline const char *tell(const char *format, ...) {
  static char answer[300];
  char line[300];
  va_list list;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)control_port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  va_start(list, format);
  int n = vsnprintf(line, sizeof line - 1, format, list);
  va_end(list);
  line[n++] = '\n';
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
  CHECK(write(fd, line, (size_t)n) == n);
  size_t have = 0;
  ssize_t got;
  while (have < sizeof answer - 1 &&
         (got = read(fd, answer + have, sizeof answer - 1 - have)) > 0) {
    have += (size_t)got;
    if (have >= 2 && memcmp(answer + have - 2, ".\n", 2) == 0) break;
  }
  close(fd);
  CHECK(have > 0 && strncmp(answer, "error", 5) != 0);
  answer[have] = 0;
  answer[strcspn(answer, "\n")] = 0;
  return answer;
}

static char made[2000];

static inline int try_open(const char *name, const char *options, edb_connection *c, edb_error *e) {
  snprintf(made, sizeof made, "sqlserver://edb:s3cret%%40edb@%s:%d/master?ca=%s/ca.pem%s", name,
           port, dir, options);
  return edb_open(made, NULL, 0, &host, c, e);
}

/* Opens and uses it; or the message. */
static inline const char *opened(const char *name, const char *options) {
  static char out[1100];
  edb_connection c;
  edb_error e;
  if (try_open(name, options, &c, &e) != EDB_OK) {
    snprintf(out, sizeof out, "%s", e.message);
    return out;
  }
  snprintf(out, sizeof out, "%s", one(&c, "SELECT 42", 0, NULL, 0));
  CHECK_INT(edb_close(&c), EDB_OK);
  return out;
}

static inline void open_own(edb_connection *c, const char *options) {
  edb_error e;
  if (try_open("127.0.0.1", options, c, &e) != EDB_OK) {
    printf("  open: %s\n", e.message);
    unit_check(0, __FILE__, __LINE__, "a connection");
    exit(1);
  }
}

#define HAS(text, part) CHECK(strstr(text, part) != NULL)

/* How the server misbehaves to this connection from now on. */
static inline void fault(edb_connection *c, const char *name, long value) {
  char sql[100];
  snprintf(sql, sizeof sql, "EXEC tdsd_fault '%s', %ld", name, value);
  run(c, sql);
}

#endif
