/*
** drivers/odbc_socket.c: the socket of a connection, which ODBC hides: whether the server has closed it while nobody
** used it.
**
** SQL_ATTR_CONNECTION_DEAD is of little use for that: psqlODBC and FreeTDS only tell what a call has met before, MariaDB's
** driver asks the server, which costs a round trip. So the sockets of the process before and after connecting are
** compared: where there is one more, it is the connection's. It is only looked at, never read from. (If another thread
** has opened one in that moment there are two more, and none is taken; if the driver has none of its own, the other's is, and
** the connection may be thought dead once it closes, and replaced.)
*/
#include "odbcInt.h"

#if defined(_WIN32)

void od_sockets_note(od_sockets *sockets) { (void)sockets; }
void od_socket_find(const od_sockets *before, od_socket *socket) {
  (void)before;
  socket->file = -1;
}
int od_socket_is_known(const od_socket *socket) {
  (void)socket;
  return 0;
}
int od_socket_is_same(const od_socket *socket) {
  (void)socket;
  return 0;
}
int od_socket_is_closed(const od_socket *socket) {
  (void)socket;
  return 0;
}

#else

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#if defined(__linux__) && !defined(POLLRDHUP)
#define POLLRDHUP 0x2000
#endif

/* What names the socket behind a file descriptor as long as the process lives; 0: it is none. */
static uint64_t identity(int file) {
  struct stat st;
  return fstat(file, &st) == 0 && S_ISSOCK(st.st_mode) ? (uint64_t)st.st_ino : 0;
}

void od_sockets_note(od_sockets *sockets) {
  for (int i = 0; i < OD_FILES; i++) sockets->identities[i] = identity(i);
}

/* Whether it leads somewhere, as a stream. */
static int is_connected(int file) {
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer, type_size = sizeof(int);
  int type = 0;
  return getpeername(file, (struct sockaddr *)&peer, &size) == 0 &&
         getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_STREAM;
}

void od_socket_find(const od_sockets *before, od_socket *socket) {
  socket->file = -1;
  for (int i = 0; i < OD_FILES; i++) {
    const uint64_t is = identity(i);
    if (is == 0 || is == before->identities[i] || !is_connected(i)) continue;
    if (socket->file >= 0) { /* several */
      socket->file = -1;
      return;
    }
    *socket = (od_socket){i, is};
  }
}

int od_socket_is_known(const od_socket *socket) { return socket->file >= 0; }

int od_socket_is_same(const od_socket *socket) {
  return identity(socket->file) == socket->identity;
}

int od_socket_is_closed(const od_socket *socket) {
  struct pollfd fd = {socket->file, POLLIN, 0};
#if defined(POLLRDHUP)
  /* The server's last words may be there still: what counts is that nothing follows. */
  fd.events = POLLRDHUP;
  return poll(&fd, 1, 0) > 0;
#else
  char byte;
  return poll(&fd, 1, 0) > 0 && recv(socket->file, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
#endif
}

#endif
