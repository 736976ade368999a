/*
** faultproxy.c: a proxy before a server that knows where messages begin and end, and breaks off at the k-th of them.
**
**   faultproxy postgresql|mysql|tds PORT       the server's, on 127.0.0.1; prints a port of its own, then obeys
**
** lines on standard input, and answers each with a line:
**   arm ACTION K     counts messages from here on, of both directions and all connections; at the K-th: ACTION
**   disarm           "ok COUNT FIRED": how many there were, and whether ACTION was due
**   flow             what is held goes on
**   down             cuts all connections, and each new one at once     up   takes them again
** and ends with its standard input. The actions, at the message that they are for:
**   cut        it is not passed on; its connection is closed on both sides
**   truncate   half of it is; then likewise
**   delay      it waits for 30 ms
**   hold       it waits for `flow`; a line "held" tells so. Whoever closes the connection meanwhile has it dropped.
**
** Messages are passed on whole. PostgreSQL's have a type and a length (the first has no type), MySQL's packets a length
** of three bytes; TDS's are TLS records, and before those its own packets. Nothing here may be encrypted but TDS.
*/
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 64
#define DELAY_MS 30
#define LARGEST (64u << 20)

/* What comes from one side: [0, passed) is for the other side, the rest waits for the end of its message. */
typedef struct stream {
  unsigned char *p;
  size_t n, size, passed;
  int begun;   /* a message has passed */
  int counted; /* the one that is held */
} stream;

typedef struct connection {
  int fd[2]; /* client, server; -1: there is no connection */
  stream from[2];
  int held;        /* nothing passes */
  int closing;     /* it ends when what has passed is written */
  long long until; /* of a delay; 0: held until `flow` */
} connection;

typedef enum action { NONE, CUT, TRUNCATE, DELAY, HOLD } action;
static const char *const actions[] = {"", "cut", "truncate", "delay", "hold"};

static connection connections[CONNECTIONS];
static const char *protocol;
static int server_port;
static action armed;
static long at, count;
static int fired, down;

static long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- Messages ------------------------------------------------------------------------------------ */

static size_t big(const unsigned char *p, int n) {
  size_t value = 0;
  for (int i = 0; i < n; i++) value = value << 8 | p[i];
  return value;
}

/* Bytes of the message that begins at p, of which n are there; 0: more are needed to tell. */
static size_t message_size(int untyped, const unsigned char *p, size_t n) {
  if (protocol[0] == 'p') {
    if (untyped) return n < 4 ? 0 : big(p, 4);
    return n < 5 ? 0 : 1 + big(p + 1, 4);
  }
  if (protocol[0] == 'm') {
    return n < 4 ? 0 : 4 + ((size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16);
  }
  if (n < 5) return 0;
  return p[0] >= 20 && p[0] <= 23 ? 5 + big(p + 3, 2) : big(p + 2, 2);
}

static void end_connection(connection *c) {
  for (int side = 0; side < 2; side++) {
    close(c->fd[side]);
    free(c->from[side].p);
  }
  memset(c, 0, sizeof *c);
  c->fd[0] = c->fd[1] = -1;
}

/* Decides on what has come from a side: which messages pass. */
static void pass(connection *c, int side) {
  stream *s = &c->from[side];
  while (!c->held && !c->closing) {
    size_t left = s->n - s->passed;
    size_t size = left ? message_size(side == 0 && !s->begun, s->p + s->passed, left) : 0;
    if (size == 0 || left < size) return;
    if (armed != NONE && !s->counted && ++count == at) {
      fired = 1;
      if (armed == CUT || armed == TRUNCATE) {
        s->passed += armed == TRUNCATE ? size / 2 : 0;
        c->closing = 1;
        return;
      }
      c->held = 1;
      c->until = armed == DELAY ? now_ms() + DELAY_MS : 0;
      s->counted = 1;
      if (armed == HOLD) puts("held");
      return;
    }
    s->passed += size;
    s->begun = 1;
    s->counted = 0;
  }
}

/* Lets the held message pass, and what has come behind it. */
static void let_go(connection *c) {
  c->held = 0;
  c->until = 0;
  for (int side = 0; side < 2; side++) pass(c, side);
}

/* ---- Sockets --------------------------------------------------------------------------------------- */

static void set_up(int fd) {
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static void take_connection(int listener) {
  int client = accept(listener, NULL, NULL);
  if (client < 0) return;
  struct sockaddr_in address = loopback(server_port);
  int server = socket(AF_INET, SOCK_STREAM, 0);
  connection *c = connections;
  while (c < connections + CONNECTIONS && c->fd[0] >= 0) c++;
  if (down || c == connections + CONNECTIONS ||
      connect(server, (struct sockaddr *)&address, sizeof address) != 0) {
    close(client);
    close(server);
    return;
  }
  set_up(client);
  set_up(server);
  c->fd[0] = client;
  c->fd[1] = server;
}

/* 0 at the end of the connection. */
static int read_side(connection *c, int side) {
  stream *s = &c->from[side];
  if (s->size - s->n < 65536) {
    size_t size = s->size ? s->size * 2 : 131072;
    unsigned char *grown = size > LARGEST ? NULL : realloc(s->p, size);
    if (!grown) return 0;
    s->p = grown;
    s->size = size;
  }
  ssize_t got = read(c->fd[side], s->p + s->n, s->size - s->n);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return 0;
  s->n += (size_t)got;
  return 1;
}

static int write_side(connection *c, int side) {
  stream *s = &c->from[!side];
  while (s->passed > 0) {
    ssize_t put = send(c->fd[side], s->p, s->passed, MSG_NOSIGNAL);
    if (put < 0) return errno == EAGAIN || errno == EINTR;
    s->n -= (size_t)put;
    s->passed -= (size_t)put;
    memmove(s->p, s->p + put, s->n);
  }
  return 1;
}

/* What has passed before an end is still written. */
static void serve(connection *c, const struct pollfd fds[2]) {
  int open = 1;
  for (int side = 0; side < 2; side++) {
    if (fds[side].revents & (POLLIN | POLLHUP | POLLERR)) {
      if (!read_side(c, side)) open = 0;
      pass(c, side);
    }
  }
  if (c->until && now_ms() >= c->until) let_go(c);
  for (int side = 0; side < 2; side++) {
    if (!write_side(c, side)) open = 0;
  }
  if (!open || (c->closing && c->from[0].passed == 0 && c->from[1].passed == 0)) end_connection(c);
}

/* ---- Commands ---------------------------------------------------------------------------------------- */

static void arm(const char *words) {
  armed = NONE;
  for (int i = CUT; i <= HOLD; i++) {
    size_t n = strlen(actions[i]);
    if (strncmp(words, actions[i], n) == 0 && words[n] == ' ') {
      armed = (action)i;
      at = strtol(words + n, NULL, 10);
    }
  }
  count = 0;
  fired = 0;
}

static void obey(const char *line) {
  if (strncmp(line, "arm ", 4) == 0) {
    arm(line + 4);
  } else if (strcmp(line, "disarm") == 0) {
    printf("ok %ld %d\n", count, fired);
    armed = NONE;
    return;
  } else if (strcmp(line, "flow") == 0) {
    for (connection *c = connections; c < connections + CONNECTIONS; c++) {
      if (c->held) let_go(c);
    }
  } else {
    down = strcmp(line, "down") == 0;
    for (connection *c = connections; down && c < connections + CONNECTIONS; c++) {
      if (c->fd[0] >= 0) end_connection(c);
    }
  }
  puts("ok");
}

/* 0 at the end of standard input. */
static int read_commands(void) {
  static char line[256];
  static size_t n;
  char c;
  ssize_t got = read(0, &c, 1);
  if (got <= 0) return 0;
  if (c != '\n' && n + 1 < sizeof line) {
    line[n++] = c;
  } else {
    line[n] = 0;
    n = 0;
    obey(line);
  }
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return fputs("usage: faultproxy postgresql|mysql|tds PORT\n", stderr), 2;
  protocol = argv[1];
  server_port = (int)strtol(argv[2], NULL, 10);
  for (int i = 0; i < CONNECTIONS; i++) connections[i].fd[0] = connections[i].fd[1] = -1;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 16) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
    return perror("faultproxy"), 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("%d\n", ntohs(address.sin_port));
  for (;;) {
    struct pollfd fds[2 + 2 * CONNECTIONS] = {{.fd = 0, .events = POLLIN},
                                              {.fd = listener, .events = POLLIN}};
    int wait = -1;
    for (int i = 0; i < CONNECTIONS; i++) {
      const connection *c = &connections[i];
      if (c->until) wait = DELAY_MS;
      for (int side = 0; side < 2; side++) {
        fds[2 + 2 * i + side].fd = c->fd[side];
        fds[2 + 2 * i + side].events = (short)(POLLIN | (c->from[!side].passed ? POLLOUT : 0));
      }
    }
    if (poll(fds, 2 + 2 * CONNECTIONS, wait) < 0) continue;
    for (int i = 0; i < CONNECTIONS; i++) {
      if (connections[i].fd[0] >= 0) serve(&connections[i], &fds[2 + 2 * i]);
    }
    if (fds[1].revents) take_connection(listener);
    if (fds[0].revents && !read_commands()) return 0;
  }
}
