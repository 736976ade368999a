/*
** net.c: drivers/net.c against sockets of its own: refused, silent, half-closed, reset, slow and deaf peers,
** deadlines and interruptions.
*/
#include "unit.h"
#include "drivers/net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static edb_error error;
static int asked, stop_after;

static int asks(void *context) {
  CHECK(context == &asked);
  asked++;
  return stop_after > 0 && asked >= stop_after;
}

static void sleep_ms(int ms) {
  nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}

/* A listening socket on 127.0.0.1 (or ::1), which nobody accepts from: *port. */
static int listening(int family, int backlog, unsigned *port) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr *address = family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
  socklen_t size = family == AF_INET ? sizeof four : sizeof six;
  int fd = socket(family, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, address, size) != 0 || listen(fd, backlog) != 0 ||
      getsockname(fd, address, &size) != 0) {
    if (fd >= 0) close(fd);
    return -1;
  }
  *port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
  return fd;
}

/* A pair: the net under test, and the server's end of it. */
static int pair(edb_net *net) {
  unsigned port = 0;
  int fd = listening(AF_INET, 4, &port);
  if (!CHECK_INT(
          edb_net_connect(net, "127.0.0.1", port, edb_net_now_ms() + 5000, asks, &asked, &error),
          EDB_OK)) {
    printf("  %s\n", error.message);
    exit(1);
  }
  int peer = accept(fd, NULL, NULL);
  close(fd);
  return peer;
}

static void connects(void) {
  edb_net net;
  unsigned port = 0;
  int fd = listening(AF_INET, 4, &port), second;
  char text[80];
  /* By name: whichever of ::1 and 127.0.0.1 the name stands for first, the other is tried. */
  CHECK_INT(edb_net_connect(&net, "localhost", port, edb_net_now_ms() + 5000, NULL, NULL, &error),
            EDB_OK);
  snprintf(text, sizeof text, "localhost:%u", port);
  CHECK_STR(net.peer, text);
  CHECK_INT(edb_net_alive(&net), 1);
  edb_net_close(&net);
  edb_net_close(&net);
  CHECK_INT(edb_net_alive(&net), 0);
  CHECK_INT(edb_net_send(&net, "x", 1, 0, &error), EDB_CLOSED);
  size_t got = 9;
  CHECK_INT(edb_net_receive(&net, text, 1, 1, &got, 0, &error), EDB_CLOSED);
  CHECK_INT(got, 0);
  close(fd);

  CHECK_INT(edb_net_connect(&net, "127.0.0.1", port, edb_net_now_ms() + 5000, NULL, NULL, &error),
            EDB_CLOSED);
  snprintf(text, sizeof text, "could not connect to 127.0.0.1:%u: connection refused", port);
  CHECK_STR(error.message, text);
  CHECK(strstr(error.hint, "nothing listens there") != NULL);
  CHECK_INT(net.handle, -1);

  second = listening(AF_INET6, 4, &port);
  if (second >= 0) {
    CHECK_INT(edb_net_connect(&net, "::1", port, 0, NULL, NULL, &error), EDB_OK);
    snprintf(text, sizeof text, "[::1]:%u", port);
    CHECK_STR(net.peer, text);
    edb_net_close(&net);
    close(second);
  }
  CHECK_INT(edb_net_connect(&net, "no-such-host.invalid", 1433, 0, NULL, NULL, &error), EDB_CLOSED);
  CHECK_STR(error.message, "could not find the host of no-such-host.invalid:1433");
  CHECK(error.hint[0] != 0);
  CHECK_INT(edb_net_connect(&net, "127.0.0.1", 0, 0, NULL, NULL, &error), EDB_CLOSED);
  CHECK_STR(error.message, "0 is no port");
  CHECK_INT(edb_net_connect(&net, "127.0.0.1", 65536, 0, NULL, NULL, NULL), EDB_CLOSED);
}

/* Where the queue of a listening socket is full, Linux drops what knocks: there is no answer at all. */
static void silence(void) {
  edb_net queue[8], net;
  unsigned port = 0;
  int fd = listening(AF_INET, 0, &port), filled = 0;
  int64_t from;
  while (filled < 8 && edb_net_connect(&queue[filled], "127.0.0.1", port, edb_net_now_ms() + 300,
                                       NULL, NULL, &error) == EDB_OK) {
    filled++;
  }
  CHECK(filled < 8);
  from = edb_net_now_ms();
  CHECK_INT(edb_net_connect(&net, "127.0.0.1", port, from + 250, NULL, NULL, &error),
            EDB_INTERRUPTED);
  CHECK(edb_net_now_ms() - from >= 250 && edb_net_now_ms() - from < 2000);
  CHECK(strstr(error.message, "no answer from 127.0.0.1:") == error.message);
  CHECK(strstr(error.message, "in time") != NULL && error.hint[0] != 0);
  CHECK_INT(net.handle, -1);

  asked = 0, stop_after = 2;
  from = edb_net_now_ms();
  CHECK_INT(edb_net_connect(&net, "127.0.0.1", port, from + 20000, asks, &asked, &error),
            EDB_INTERRUPTED);
  CHECK_STR(error.message, "interrupted");
  CHECK_INT(asked, 2);
  CHECK(edb_net_now_ms() - from < 5000);
  stop_after = 0;
  /* A deadline that has passed. */
  CHECK_INT(edb_net_connect(&net, "127.0.0.1", port, edb_net_now_ms() - 1, NULL, NULL, &error),
            EDB_INTERRUPTED);
  while (filled > 0) edb_net_close(&queue[--filled]);
  close(fd);
}

static void *slow_peer(void *fd) {
  for (int i = 0; i < 60; i++) {
    if (send(*(int *)fd, "x", 1, MSG_NOSIGNAL) != 1) break;
    sleep_ms(20);
  }
  return NULL;
}

static void bytes(void) {
  edb_net net;
  char in[64];
  size_t got = 9;
  int peer = pair(&net), may = 0;
  int64_t from;
  pthread_t thread;

  /* Nothing there: least 0 does not wait, 1 does. */
  CHECK_INT(edb_net_receive(&net, in, 0, sizeof in, &got, 0, &error), EDB_OK);
  CHECK_INT(got, 0);
  CHECK_INT(edb_net_wait(&net, EDB_NET_READ | EDB_NET_WRITE, &may, 0, &error), EDB_OK);
  CHECK_INT(may, EDB_NET_WRITE);
  from = edb_net_now_ms();
  CHECK_INT(edb_net_receive(&net, in, 1, sizeof in, &got, from + 120, &error), EDB_INTERRUPTED);
  CHECK(edb_net_now_ms() - from >= 120);
  CHECK_INT(edb_net_alive(&net), 1);

  CHECK_INT(send(peer, "abcdef", 6, 0), 6);
  CHECK_INT(edb_net_wait(&net, EDB_NET_READ, &may, 0, &error), EDB_OK);
  CHECK_INT(may, EDB_NET_READ);
  CHECK_INT(edb_net_alive(&net), 1);
  CHECK_INT(edb_net_receive(&net, in, 2, 4, &got, 0, &error), EDB_OK);
  CHECK_TEXT(in, got, "abcd");
  CHECK_INT(edb_net_receive(&net, in, 0, sizeof in, &got, 0, &error), EDB_OK);
  CHECK_TEXT(in, got, "ef");

  /* A byte each 20 ms: the deadline is for all of them; and the caller is asked all the same. */
  pthread_create(&thread, NULL, slow_peer, &peer);
  asked = 0;
  from = edb_net_now_ms();
  CHECK_INT(edb_net_receive(&net, in, 10, 10, &got, from + 5000, &error), EDB_OK);
  CHECK_INT(got, 10);
  from = edb_net_now_ms();
  CHECK_INT(edb_net_receive(&net, in, sizeof in, sizeof in, &got, from + 300, &error),
            EDB_INTERRUPTED);
  CHECK(edb_net_now_ms() - from < 1000);
  CHECK(got > 1 && got < sizeof in);
  CHECK(asked >= 2);
  asked = 0, stop_after = 1;
  CHECK_INT(edb_net_receive(&net, in, sizeof in, sizeof in, &got, 0, &error), EDB_INTERRUPTED);
  CHECK_STR(error.message, "interrupted");
  stop_after = 0;
  pthread_join(thread, NULL);
  edb_net_close(&net);
  close(peer);
}

static void ends(void) {
  edb_net net;
  char in[8];
  size_t got = 0;
  int peer = pair(&net);
  /* The server ends its side: what came is delivered, then the end; the other way still works. */
  CHECK_INT(send(peer, "abc", 3, 0), 3);
  shutdown(peer, SHUT_WR);
  CHECK_INT(edb_net_receive(&net, in, 8, 8, &got, edb_net_now_ms() + 2000, &error), EDB_DONE);
  CHECK_TEXT(in, got, "abc");
  CHECK_INT(edb_net_receive(&net, in, 0, 8, &got, 0, &error), EDB_DONE);
  CHECK_INT(edb_net_alive(&net), 0);
  CHECK_INT(edb_net_send(&net, "question", 8, 0, &error), EDB_OK);
  CHECK_INT(recv(peer, in, 8, MSG_WAITALL), 8);
  CHECK_TEXT(in, 8, "question");
  edb_net_end(&net);
  CHECK_INT(recv(peer, in, 8, 0), 0);
  edb_net_close(&net);
  close(peer);

  /* A reset, and a write after it: an error, not a signal. */
  peer = pair(&net);
  struct linger hard = {1, 0};
  setsockopt(peer, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(peer);
  CHECK_INT(edb_net_receive(&net, in, 1, 8, &got, edb_net_now_ms() + 2000, &error), EDB_CLOSED);
  CHECK(strstr(error.message, "the server reset the connection") != NULL);
  CHECK_INT(edb_net_alive(&net), 0);
  CHECK_INT(edb_net_send(&net, "x", 1, 0, &error), EDB_CLOSED);
  CHECK(strstr(error.message, "could not send to 127.0.0.1:") == error.message);
  edb_net_close(&net);
}

static size_t drained;

static void *draining_peer(void *fd) {
  static char in[65536];
  long n;
  while ((n = recv(*(int *)fd, in, sizeof in, 0)) > 0) drained += (size_t)n;
  return NULL;
}

/* A peer that reads nothing: sending stops at the deadline, and goes on where it reads again. */
static void deaf_peer(void) {
  enum { SIZE = 32 << 20 };
  edb_net net;
  char *much = calloc(1, SIZE);
  size_t sent = 0, before;
  int peer = pair(&net), may = 0;
  int64_t from = edb_net_now_ms();
  pthread_t thread;
  asked = 0;
  CHECK_INT(edb_net_send(&net, much, SIZE, from + 250, &error), EDB_INTERRUPTED);
  CHECK(edb_net_now_ms() - from < 2000);
  CHECK(asked >= 1);
  /* The system's buffers may still grow for a while. */
  int rc;
  while ((rc = edb_net_wait(&net, EDB_NET_WRITE, &may, edb_net_now_ms() + 250, &error)) == EDB_OK) {
    CHECK_INT(edb_net_send_some(&net, much, SIZE, &sent, &error), EDB_OK);
  }
  CHECK_INT(rc, EDB_INTERRUPTED);
  pthread_create(&thread, NULL, draining_peer, &peer);
  CHECK_INT(edb_net_send(&net, much, SIZE, edb_net_now_ms() + 10000, &error), EDB_OK);
  edb_net_end(&net);
  pthread_join(thread, NULL);
  before = drained;
  CHECK(before > SIZE);
  edb_net_close(&net);
  close(peer);
  free(much);
}

int main(void) {
  connects();
  silence();
  bytes();
  ends();
  deaf_peer();
  return unit_done("net");
}
