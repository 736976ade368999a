/*
** mysql_rogue.h: a MySQL server made by hand, for tests of what happens when a server lies.
**
** It has greeting, login, text queries, prepared statements, cursors (mysql_wire.h). Left alone it is honest: it lets anybody in, answers OK to what sets a
** session up, and gives three rows of all kinds (below) to a statement that has "SELECT x" in it. A script
** replaces its answer at one point by any bytes; rogue_shared says how its bytes leave: up to which one,
** how many at once, how slowly.
**
** The client runs in a process of its own, forked before any thread is there: a crash, a hang or a leak in
** it is an outcome like another. The server keeps every byte that it receives.
*/
#ifndef EDB_MYSQL_ROGUE_H
#define EDB_MYSQL_ROGUE_H

#include "mysql_wire.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Scripts ----------------------------------------------------------------------------------- */

typedef enum point {
  GREETING,
  LOGIN,    /* the answer to the client's login */
  SWITCHED, /* the answer to what the client sends when LOGIN asked for another way */
  SETUP,    /* any statement but those of the tests */
  QUERY,    /* a test's statement in the text protocol */
  PREPARE,
  EXECUTE,
  FETCH,
  RESET,
  PROOF, /* the answer to a client that puts its own library to the proof */
  POINTS
} point;

typedef struct script {
  bytes answers[POINTS]; /* where n is 0, the honest one */
  int silent;            /* a bit for each point at which nothing at all is said */
  int refuses_prepare;   /* 1: statements go through the text protocol */
  int takes_cursors;     /* 1: a cursor is given where one is asked for */
  int listener, port;
  /* What the server saw. */
  pthread_mutex_t lock;
  bytes received;
  int reached; /* a bit for each point */
  long sent;   /* bytes of the longest connection */
} script;

/* Between the processes: how the server's bytes leave, said by the client before it connects. */
typedef struct rogue_control {
  volatile long cut;     /* the connection ends before this byte of it; -1: never */
  volatile int step;     /* bytes at once; 0: all */
  volatile int pause_ms; /* before each of these steps, at the points that are slow */
  volatile int slow;     /* a bit for each of them */
  /* Packet `packet` of the answer at point `where` has only `keep` bytes of its body; -1: all of them. */
  volatile int where, packet, keep;
  volatile int
      kept; /* said by the server: 1 where there was such a packet, with more bytes than that */
  volatile int ends;  /* a bit for each point: the connection ends behind the answer */
  volatile long sent; /* said by the server: bytes of the last connection that was opened */
} rogue_control;

static rogue_control *control;

/* ---- The server -------------------------------------------------------------------------------- */

typedef struct conversation {
  script *s;
  int fd;
  long sent;
  int slow; /* what is answered now goes slowly */
  pthread_t thread;
  unsigned char command;     /* of the last packet */
  bytes body;                /* its body */
  int parameters;            /* of the statement that was prepared last */
  const definition *columns; /* of its rows */
  size_t n_columns;
} conversation;

static inline int rogue_receive(conversation *c, void *p, size_t n) {
  char *to = p;
  while (n > 0) {
    ssize_t got = recv(c->fd, to, n, 0);
    if (got <= 0) return 0;
    pthread_mutex_lock(&c->s->lock);
    put(&c->s->received, to, (size_t)got);
    pthread_mutex_unlock(&c->s->lock);
    to += got;
    n -= (size_t)got;
  }
  return 1;
}

/* A packet of the client; 0 where it has gone. */
static inline int rogue_packet(conversation *c) {
  unsigned char head[4];
  if (!rogue_receive(c, head, sizeof head)) return 0;
  size_t n = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;
  bytes body = {0};
  put(&body, head, sizeof head); /* room for one that is empty */
  body.n = 0;
  if (body.size < n) {
    body.p = realloc(body.p, n);
    if (!body.p) abort();
    body.size = n;
  }
  body.n = n;
  free(c->body.p);
  c->body = body;
  if (!rogue_receive(c, body.p, n)) return 0;
  c->command = n > 0 ? body.p[0] : 0;
  return 1;
}

static inline int rogue_send(conversation *c, const bytes *b) {
  size_t at = 0;
  while (at < b->n) {
    size_t n = b->n - at;
    if (control->step > 0 && (size_t)control->step < n) n = (size_t)control->step;
    if (control->cut >= 0 && (long)n > control->cut - c->sent) n = (size_t)(control->cut - c->sent);
    if (n == 0) return 0;
    if (c->slow) usleep((useconds_t)control->pause_ms * 1000);
    ssize_t put_out = send(c->fd, b->p + at, n, MSG_NOSIGNAL);
    if (put_out <= 0) return 0;
    at += (size_t)put_out;
    c->sent += (long)put_out;
    control->sent = c->sent;
  }
  return 1;
}

/* The answer with one of its packets shortened. */
static inline void rogue_shorten(bytes *b) {
  size_t from = 0;
  for (int i = 0; from + 4 <= b->n; i++) {
    size_t n = (size_t)b->p[from] | (size_t)b->p[from + 1] << 8 | (size_t)b->p[from + 2] << 16;
    if (i == control->packet) {
      size_t keep = (size_t)control->keep, end = from + 4 + n;
      if (n <= keep) return;
      control->kept = 1;
      b->p[from] = (unsigned char)keep;
      b->p[from + 1] = (unsigned char)(keep >> 8);
      b->p[from + 2] = 0;
      memmove(b->p + from + 4 + keep, b->p + end, b->n - end);
      b->n -= n - keep;
      return;
    }
    from += 4 + n;
  }
}

/* Sends the script's answer at a point, or else the honest one, which it frees. A request for another way
** to log in, or for a file, is followed by what the client has to say to it. */
static inline int rogue_answer(conversation *c, point at, bytes *honest) {
  script *s = c->s;
  bytes *answer = s->answers[at].n > 0 ? &s->answers[at] : honest;
  pthread_mutex_lock(&s->lock);
  s->reached |= 1 << at;
  pthread_mutex_unlock(&s->lock);
  if (control->keep >= 0 && control->where == (int)at) rogue_shorten(answer);
  c->slow = control->slow >> at & 1;
  int ok = s->silent >> at & 1 ? 1 : rogue_send(c, answer);
  if (control->ends >> at & 1) ok = 0;
  int asked = answer->n > 4 ? answer->p[4] : 0;
  free(honest->p);
  *honest = (bytes){0};
  if (ok && at == LOGIN && asked == 0xfe && (ok = rogue_packet(c))) {
    int sequence = 4;
    ok_packet(honest, &sequence, STATUS_AUTOCOMMIT);
    return rogue_answer(c, SWITCHED, honest);
  }
  if (ok && asked == 0xfb && at != GREETING && at != LOGIN) {
    int sequence = 2;
    do {
      ok = rogue_packet(c);
      sequence++;
    } while (ok && c->body.n > 0);
    if (!ok) return 0;
    bytes done = {0};
    ok_packet(&done, &sequence, STATUS_AUTOCOMMIT);
    ok = rogue_send(c, &done);
    free(done.p);
  }
  return ok;
}

/* Does the statement in the last packet have these words? */
static inline int rogue_has(const conversation *c, const char *words) {
  return memmem(c->body.p, c->body.n, words, strlen(words)) != NULL;
}

static inline int rogue_prepare(conversation *c, bytes *honest) {
  int sequence = 1;
  int proof = rogue_has(c, "edb_i");
  c->columns = proof ? echo_columns : honest_columns;
  c->n_columns = proof ? ECHO_COLUMNS : rogue_has(c, "SELECT x") ? HONEST_COLUMNS : 0;
  c->parameters = 0;
  for (size_t i = 1; i < c->body.n; i++) c->parameters += c->body.p[i] == '?';
  if (c->s->refuses_prepare && !proof) {
    error_packet(honest, &sequence, 1295,
                 "#HY000This command is not supported in the prepared statement protocol yet");
  } else {
    honest_prepared(honest, &sequence, c->columns, c->n_columns, c->parameters);
  }
  return rogue_answer(c, proof ? PROOF : PREPARE, honest);
}

static inline int rogue_execute(conversation *c, bytes *honest) {
  int sequence = 1;
  int cursor = c->s->takes_cursors && c->body.n > 5 && c->body.p[5] & 1;
  if (c->columns == echo_columns) {
    echo_result(honest, &sequence, c->body.p, c->body.n);
    return rogue_answer(c, PROOF, honest);
  }
  if (c->n_columns == 0) {
    ok_packet(honest, &sequence, STATUS_AUTOCOMMIT);
  } else if (cursor) {
    honest_head(honest, &sequence, STATUS_AUTOCOMMIT | STATUS_CURSOR);
  } else {
    honest_result(honest, &sequence, 1, STATUS_AUTOCOMMIT);
  }
  return rogue_answer(c, EXECUTE, honest);
}

static inline int rogue_fetch(conversation *c, bytes *honest) {
  int sequence = 1;
  for (int i = 0; i < HONEST_ROWS; i++) binary_row(honest, &sequence, i);
  eof_packet(honest, &sequence, STATUS_AUTOCOMMIT | STATUS_CURSOR | STATUS_LAST_ROW);
  return rogue_answer(c, FETCH, honest);
}

static inline int rogue_query(conversation *c, bytes *honest) {
  int sequence = 1;
  int ours = rogue_has(c, "SELECT x") || rogue_has(c, "DO x");
  if (rogue_has(c, "SELECT x")) {
    honest_result(honest, &sequence, 0, STATUS_AUTOCOMMIT);
  } else {
    ok_packet(honest, &sequence, STATUS_AUTOCOMMIT);
  }
  return rogue_answer(c, ours ? QUERY : SETUP, honest);
}

enum {
  COM_QUIT = 1,
  COM_QUERY = 3,
  COM_STMT_PREPARE = 0x16,
  COM_STMT_EXECUTE,
  COM_STMT_SEND_LONG_DATA,
  COM_STMT_CLOSE,
  COM_STMT_RESET,
  COM_STMT_FETCH = 0x1c
};

/* Answers one command; 0 where the conversation is over. */
static inline int rogue_command(conversation *c) {
  bytes honest = {0};
  int sequence = 1;
  switch (c->command) {
  case COM_QUIT:
    return 0;
  case COM_STMT_CLOSE:
  case COM_STMT_SEND_LONG_DATA:
    return 1;
  case COM_QUERY:
    return rogue_query(c, &honest);
  case COM_STMT_PREPARE:
    return rogue_prepare(c, &honest);
  case COM_STMT_EXECUTE:
    return rogue_execute(c, &honest);
  case COM_STMT_FETCH:
    return rogue_fetch(c, &honest);
  default:
    ok_packet(&honest, &sequence, STATUS_AUTOCOMMIT);
    return rogue_answer(c, c->command == COM_STMT_RESET ? RESET : SETUP, &honest);
  }
}

static inline void *rogue_converse(void *context) {
  conversation *c = context;
  bytes honest = {0};
  int sequence = 2;
  greeting(&honest, 10, "5.5.5-10.11.6-MariaDB", CAPABILITY_ALL, "mysql_native_password");
  int ok = rogue_answer(c, GREETING, &honest) && rogue_packet(c);
  if (ok) {
    ok_packet(&honest, &sequence, STATUS_AUTOCOMMIT);
    ok = rogue_answer(c, LOGIN, &honest);
  }
  while (ok && rogue_packet(c)) ok = rogue_command(c);
  shutdown(c->fd, SHUT_RDWR);
  pthread_mutex_lock(&c->s->lock);
  if (c->sent > c->s->sent) c->s->sent = c->sent;
  pthread_mutex_unlock(&c->s->lock);
  return NULL;
}

/* ---- A client in its own process ------------------------------------------------------------- */

#define ROGUE_CONNECTIONS 4096
#define ROGUE_DEADLINE_S 100 /* much longer than any client takes, also sanitized */

static inline void rogue_listen(script *s) {
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t size = sizeof at;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  s->listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(s->listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(s->listener, 64) < 0 ||
      getsockname(s->listener, (struct sockaddr *)&at, &size) < 0) {
    abort();
  }
  s->port = ntohs(at.sin_port);
}

static inline void rogue_accept(script *s, conversation *c) {
  int one = 1;
  *c = (conversation){.s = s, .fd = accept(s->listener, NULL, NULL)};
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (c->fd < 0 || pthread_create(&c->thread, NULL, rogue_converse, c) != 0) abort();
}

/* Runs the client in a process of its own and serves it until it ends. Its exit status; 1000 + the signal
** that ended it; 2000 where it did not end. */
static inline int rogue_run(script *s, void (*client)(int port)) {
  conversation *all = calloc(ROGUE_CONNECTIONS, sizeof *all);
  int n = 0, status = 0, ended = 0;
  if (!all) abort();
  pthread_mutex_init(&s->lock, NULL);
  rogue_listen(s);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    close(s->listener);
    client(s->port);
    fflush(stdout);
    exit(0); /* with the sanitizer's look for leaks */
  }
  time_t until = time(NULL) + ROGUE_DEADLINE_S;
  struct pollfd wait = {s->listener, POLLIN, 0};
  while (!(ended = waitpid(child, &status, WNOHANG) == child) && time(NULL) < until) {
    if (poll(&wait, 1, 2) > 0 && n < ROGUE_CONNECTIONS) rogue_accept(s, &all[n++]);
  }
  if (!ended) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  close(s->listener);
  for (int i = 0; i < n; i++) {
    shutdown(all[i].fd, SHUT_RDWR);
    pthread_join(all[i].thread, NULL);
    close(all[i].fd);
    free(all[i].body.p);
  }
  free(all);
  pthread_mutex_destroy(&s->lock);
  if (!ended) return 2000;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void rogue_free(script *s) {
  for (int i = 0; i < POINTS; i++) free(s->answers[i].p);
  free(s->received.p);
}

#endif
