/*
** drivers/mysql_wait.c: waiting for the server's answers, and stopping what it does.
**
** The client libraries block. libmariadb calls back whenever it would wait for its socket
** (MARIADB_OPT_IO_WAIT), in the thread that uses the connection: so we wait there, in slices, between which
** the host is asked whether to go on. Rows that lie in the library's buffer cost no wait and so nothing here.
** edb_cancel comes from another thread and only leaves a mark, which the waiting thread finds in its next
** slice.
**
** A command is stopped by KILL QUERY on a second connection, made while the first one waits. The server
** answers the command with an error then, and the connection is as good as before; but a command that ended
** by itself in that moment leaves the kill to hit the next one, so that is a DO 0 of ours.
*/
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(_WIN32)
#include <winsock2.h>
#define poll WSAPoll
#else
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#endif

#include "mysql.h"

#define SLICE_MS 50
#define KILL_MS 2000 /* how long the second connection may take */
#define STOP_MS 5000 /* how long a command may take to end after it was stopped */
#define LONE_MS 500  /* and where nothing could stop it: it may be about to end by itself */

/* The callback gets no context. */
static _Thread_local my_connection *waiting;
static _Thread_local int64_t kill_end; /* 0: it is not the second connection that waits */

int64_t my_now_ms(void) {
#if defined(_WIN32)
  return (int64_t)GetTickCount64();
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
#endif
}

void my_wait_for(my_connection *c) {
  waiting = c;
  if (c) c->wait_end = 0;
}

/* 1: the socket is ready, or broken, which the library finds out; 0: not within ms. */
static int wait_slice(my_socket socket, int for_read, int64_t ms) {
  struct pollfd fd = {0};
  fd.fd = socket;
  fd.events = for_read ? POLLIN : POLLOUT;
  int n = poll(&fd, 1, (int)ms);
#if !defined(_WIN32)
  if (n < 0 && errno == EINTR) return 0;
#endif
  return n != 0;
}

/* Why the command at work should stop now. The host is asked ten times a second at most. */
static int why_stop(my_connection *c, int64_t now, int64_t end) {
  if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) return MY_STOP_INTERRUPTED;
  if (end && now >= end) return MY_STOP_TIMEOUT;
  if (!c->host->interrupted || now - c->asked < 2 * SLICE_MS) return MY_STOP_NONE;
  c->asked = now;
  return c->host->interrupted(c->host->context) ? MY_STOP_INTERRUPTED : MY_STOP_NONE;
}

/* When the call at work has to have its answer; 0: never. The time-out begins at its first wait, however many
** follow: a server that sends a byte now and then does not hold us for ever. */
static int64_t end_of_wait(my_connection *c, int64_t now) {
  if (!c->connected) return c->connect_end;
  if (c->wait_end == 0 && c->host->timeout_ms > 0) c->wait_end = now + c->host->timeout_ms;
  return c->wait_end;
}

/* Waits on behalf of a connection. */
static int wait_on(my_connection *c, my_socket socket, int for_read) {
  int64_t now = my_now_ms(), end = end_of_wait(c, now);
  c->asked = now;
  for (;; now = my_now_ms()) {
    int64_t ms = SLICE_MS;
    if (c->stop == MY_STOP_NONE && (c->stop = why_stop(c, now, end)) != MY_STOP_NONE) {
      /* Half a command may be out, or no session be there yet: nothing but the end helps. */
      if (!c->connected || !for_read) return 0;
      int killed = my_kill(c);
      now = my_now_ms();
      c->stop_end = now + (killed ? STOP_MS : LONE_MS);
    }
    if (c->stop != MY_STOP_NONE && now >= c->stop_end) return 0;
    if (c->stop == MY_STOP_NONE && end && end - now < ms) ms = end - now;
    if (wait_slice(socket, for_read, ms)) return 1;
  }
}

int my_on_wait(my_socket socket, char for_read, int timeout) {
  if (kill_end) {
    int64_t ms = kill_end - my_now_ms();
    return ms > 0 && wait_slice(socket, for_read, ms);
  }
  if (waiting) return wait_on(waiting, socket, for_read);
  return wait_slice(socket, for_read, timeout);
}

int my_wait_ready(my_connection *c, int for_read) {
  return wait_on(c, my.get_socket(c->mysql), for_read);
}

int my_kill(my_connection *c) {
  char sql[48];
  int sent = 0;
  int64_t outer = kill_end;
  kill_end = my_now_ms() + KILL_MS;
  MYSQL *second = my_connect_again(c);
  if (second) {
    int n = snprintf(sql, sizeof sql, "KILL QUERY %lu", c->id);
    c->killed = 1;
    sent = my.real_query(second, sql, (unsigned long)n) == 0;
    my_disconnect(second);
  }
  kill_end = outer;
  return sent;
}

/* MariaDB forgets a kill that finds nothing running; that others do is not relied on. */
void my_after_stop(my_connection *c) {
  if (c->killed && !c->dead) {
    c->stop = MY_STOP_INTERRUPTED; /* nobody is asked, and it does not take for ever */
    c->stop_end = my_now_ms() + STOP_MS;
    /* It is answered with the kill, or with OK if that came before. */
    if (my_query(c, "DO 0", 4) != 0 && my_code_of(my.number(c->mysql), "") == EDB_CLOSED)
      c->dead = 1;
  }
  c->killed = 0;
  c->stop = MY_STOP_NONE;
}

/* The connection's socket; negative where it is not known. libmysqlclient has no function for it, but MYSQL
** begins with NET, and that with five pointers and the socket, in all versions there are; what is no socket
** is not believed to be one. */
static my_socket socket_of(my_connection *c) {
  if (my.get_socket) return my.get_socket(c->mysql);
  my_socket socket = (my_socket)-1;
#if !defined(_WIN32)
  struct stat st;
  memcpy(&socket, (const char *)c->mysql + 5 * sizeof(void *), sizeof socket);
  if (socket < 0 || fstat(socket, &st) != 0 || !S_ISSOCK(st.st_mode)) socket = -1;
#endif
  return socket;
}

void my_stop_if_due(my_connection *c) {
  int64_t now = my_now_ms();
  if (c->stop == MY_STOP_NONE) {
    c->stop = why_stop(c, now, end_of_wait(c, now));
    if (c->stop == MY_STOP_NONE) return;
    int killed = my_kill(c);
    c->stop_end = my_now_ms() + (killed ? STOP_MS : LONE_MS);
  } else if (now >= c->stop_end) {
    my_socket socket = socket_of(c);
    if (socket != (my_socket)-1)
      shutdown(socket, 2); /* both ways: whoever reads from it comes back */
  }
}

int my_readable(my_connection *c) {
  my_socket socket = socket_of(c);
  return socket != (my_socket)-1 && wait_slice(socket, 1, 0);
}
