/*
** drivers/net.c: TCP with deadlines. The contract is in net.h.
**
** The statics of the first part are the platform: the same names, once for each. Above them a socket is a
** handle that never blocks, and what goes wrong is a row of the table of faults.
*/
#include "net.h"
#include "driverInt.h"

#include <stdio.h>
#include <string.h>

#define SLICE_MS 100   /* between two times that the caller is asked whether to go on */
#define STAGGER_MS 250 /* RFC 8305 5: until the next address is begun */
#define ATTEMPTS 8     /* addresses at a time */

/* ---- The platform ------------------------------------------------------------------------------- */

#ifdef _WIN32

#include <winsock2.h>
#include <ws2tcpip.h>

typedef SOCKET handle_type;
typedef WSAPOLLFD poll_entry;
#define FAULT(name) WSA##name
#define NO_SIGNAL 0

static int last_fault(void) { return WSAGetLastError(); }
static int would_block(int fault) { return fault == WSAEWOULDBLOCK || fault == WSAEINTR; }
static int in_progress(int fault) { return fault == WSAEWOULDBLOCK; }
static void close_handle(handle_type h) { closesocket(h); }
static int poll_handles(poll_entry *entries, unsigned n, int ms) { return WSAPoll(entries, n, ms); }
static int64_t now_ms(void) { return (int64_t)GetTickCount64(); }

/* Once a process; a second time is harmless, and what is never cleaned up ends with the process. */
static int start_network(void) {
  static volatile LONG started;
  WSADATA data;
  if (started) return 1;
  if (WSAStartup(MAKEWORD(2, 2), &data) != 0) return 0;
  InterlockedExchange(&started, 1);
  return 1;
}

static int prepare_handle(handle_type h) {
  u_long on = 1;
  return ioctlsocket(h, (long)FIONBIO, &on) == 0;
}

static long receive_bytes(handle_type h, void *p, size_t n, int flags) {
  return recv(h, p, (int)(n > 1 << 30 ? 1 << 30 : n), flags);
}

static long send_bytes(handle_type h, const void *p, size_t n) {
  return send(h, p, (int)(n > 1 << 30 ? 1 << 30 : n), 0);
}

#define SHUT_WR SD_SEND

#else

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef int handle_type;
typedef struct pollfd poll_entry;
#define FAULT(name) name
#define INVALID_SOCKET (-1)
#if defined(MSG_NOSIGNAL)
#define NO_SIGNAL MSG_NOSIGNAL
#else
#define NO_SIGNAL 0
#endif

static int last_fault(void) { return errno; }
static int would_block(int fault) {
  return fault == EAGAIN || fault == EWOULDBLOCK || fault == EINTR;
}
static int in_progress(int fault) { return fault == EINPROGRESS || fault == EINTR; }
static void close_handle(handle_type h) { close(h); }
static int poll_handles(poll_entry *entries, unsigned n, int ms) { return poll(entries, n, ms); }
static int start_network(void) { return 1; }

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int prepare_handle(handle_type h) {
#if defined(SO_NOSIGPIPE)
  setsockopt(h, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
  return fcntl(h, F_SETFD, FD_CLOEXEC) == 0 && fcntl(h, F_SETFL, O_NONBLOCK) == 0;
}

static long receive_bytes(handle_type h, void *p, size_t n, int flags) {
  return (long)recv(h, p, n, flags);
}

static long send_bytes(handle_type h, const void *p, size_t n) {
  return (long)send(h, p, n, NO_SIGNAL);
}

#endif

/* ---- Faults --------------------------------------------------------------------------------------- */

typedef struct fault {
  int number;
  const char *text, *hint;
} fault;

/* The system's own texts depend on the locale, and say what to do in none. */
static const fault faults[] = {
    {FAULT(ECONNREFUSED), "connection refused",
     "nothing listens there: is the port right, and does the server take TCP/IP connections?"},
    {FAULT(ETIMEDOUT), "no answer", "is the host right, and does a firewall let the port through?"},
    {FAULT(EHOSTUNREACH), "no route to the host",
     "is the host up, and on a network reached from here?"},
    {FAULT(ENETUNREACH), "the network is unreachable",
     "is this machine connected to that network?"},
    {FAULT(ECONNRESET), "the server reset the connection", ""},
    {FAULT(ECONNABORTED), "the connection was aborted", ""},
#if !defined(_WIN32)
    {EPIPE, "the server closed the connection", ""},
#endif
    {FAULT(EADDRNOTAVAIL), "no local address for it",
     "too many connections from here, or no address of that family"},
    {FAULT(EAFNOSUPPORT), "addresses of that family are not supported here", ""},
    {FAULT(EMFILE), "too many open files in this process", "raise the limit (ulimit -n)"},
    {FAULT(ENOBUFS), "the system has no memory for it", ""},
    {FAULT(EACCES), "not permitted", "a firewall of this machine forbids it"},
#if !defined(_WIN32)
    {EPERM, "not permitted", "a firewall of this machine forbids it"},
#endif
};

static const fault *find_fault(int number) {
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    if (faults[i].number == number) return &faults[i];
  }
  return NULL;
}

static int fail_with(const edb_net *net, const char *what, int number, edb_error *error) {
  const fault *f = find_fault(number);
  if (f) {
    edb_fail(error, EDB_CLOSED, "%s %s: %s", what, net->peer, f->text);
    edb_fail_hint(error, "%s", f->hint);
  } else {
    edb_fail(error, EDB_CLOSED, "%s %s: a system error", what, net->peer);
  }
  if (error) error->vendor = number;
  return EDB_CLOSED;
}

/* ---- Waiting --------------------------------------------------------------------------------------- */

int64_t edb_net_now_ms(void) { return now_ms(); }

/* EDB_OK, and how long to wait before this is asked again; or why not to wait. */
static int may_wait(edb_net *net, int64_t end, int *ms, edb_error *error) {
  int64_t now = now_ms();
  *ms = SLICE_MS;
  if (end && now >= end) {
    edb_fail(error, EDB_INTERRUPTED, "no answer from %s in time", net->peer);
    edb_fail_hint(
        error, "the server is slow or unreachable: raise the time-out, or look at host and port");
    return EDB_INTERRUPTED;
  }
  if (end && end - now < *ms) *ms = (int)(end - now);
  if (!net->asks || now - net->asked < SLICE_MS) return EDB_OK;
  net->asked = now;
  return net->asks(net->context) ? edb_fail(error, EDB_INTERRUPTED, "interrupted") : EDB_OK;
}

int edb_net_wait(edb_net *net, int for_what, int *may, int64_t end, edb_error *error) {
  *may = 0;
  if (net->handle < 0) return edb_fail(error, EDB_CLOSED, "the connection is closed");
  for (;;) {
    int ms, rc = may_wait(net, end, &ms, error);
    if (rc != EDB_OK) return rc;
    poll_entry entry = {0};
    entry.fd = (handle_type)net->handle;
    entry.events =
        (short)((for_what & EDB_NET_READ ? POLLIN : 0) | (for_what & EDB_NET_WRITE ? POLLOUT : 0));
    if (poll_handles(&entry, 1, ms) <= 0) continue;
    /* An error or a hang-up is found by the next receive or send. */
    int broken = (entry.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    if (broken || (entry.revents & POLLIN)) *may |= for_what & EDB_NET_READ;
    if (broken || (entry.revents & POLLOUT)) *may |= for_what & EDB_NET_WRITE;
    if (*may) return EDB_OK;
  }
}

/* ---- Connecting ------------------------------------------------------------------------------------- */

typedef struct attempts {
  poll_entry open[ATTEMPTS]; /* begun and not decided */
  unsigned n;
  int first_fault; /* 0: none yet */
  int64_t begin_next;
} attempts;

static void note_fault(attempts *a, int number) {
  if (!a->first_fault) a->first_fault = number;
}

/* Begins to connect to an address. The socket where that succeeded at once, else INVALID_SOCKET. */
static handle_type begin(attempts *a, const struct addrinfo *address) {
  handle_type h = socket(address->ai_family, SOCK_STREAM, IPPROTO_TCP);
  if (h == INVALID_SOCKET) {
    note_fault(a, last_fault());
    return INVALID_SOCKET;
  }
  if (!prepare_handle(h)) {
    note_fault(a, last_fault());
  } else if (connect(h, address->ai_addr, (socklen_t)address->ai_addrlen) == 0) {
    return h;
  } else if (in_progress(last_fault())) {
    poll_entry entry = {0};
    entry.fd = h;
    entry.events = POLLOUT;
    a->open[a->n++] = entry;
    return INVALID_SOCKET;
  } else {
    note_fault(a, last_fault());
  }
  close_handle(h);
  return INVALID_SOCKET;
}

/* The socket of one that has connected, removed from the attempts; those that failed are closed, and the next
** address is then begun at once. */
static handle_type settle(attempts *a) {
  for (unsigned i = 0; i < a->n;) {
    handle_type h = a->open[i].fd;
    int number = 0;
    socklen_t size = sizeof number;
    if (!a->open[i].revents) {
      i++;
      continue;
    }
    if (getsockopt(h, SOL_SOCKET, SO_ERROR, (void *)&number, &size) != 0) number = last_fault();
    a->open[i] = a->open[--a->n];
    if (number == 0) return h;
    note_fault(a, number);
    close_handle(h);
    a->begin_next = 0;
  }
  return INVALID_SOCKET;
}

static int connect_first(edb_net *net, const struct addrinfo *address, int64_t end,
                         edb_error *error) {
  attempts a = {.n = 0};
  handle_type h = INVALID_SOCKET;
  int ms, rc;
  while ((rc = may_wait(net, end, &ms, error)) == EDB_OK) {
    int64_t now = now_ms();
    if (address && a.n < ATTEMPTS && now >= a.begin_next) {
      h = begin(&a, address);
      address = address->ai_next;
      a.begin_next = a.n > 0 ? now + STAGGER_MS : 0;
      if (h != INVALID_SOCKET) break;
      continue;
    }
    if (a.n == 0) {
      rc = fail_with(net, "could not connect to", a.first_fault, error);
      break;
    }
    if (address && a.n < ATTEMPTS && a.begin_next - now < ms) ms = (int)(a.begin_next - now);
    for (unsigned i = 0; i < a.n; i++) a.open[i].revents = 0;
    if (poll_handles(a.open, a.n, ms) > 0 && (h = settle(&a)) != INVALID_SOCKET) break;
  }
  while (a.n > 0) close_handle(a.open[--a.n].fd);
  if (h != INVALID_SOCKET) net->handle = (intptr_t)h;
  return rc;
}

/* A closed net with its peer's name, and the host's addresses for sockets of a kind. */
static int look_up(edb_net *net, const char *host, unsigned port, int kind,
                   struct addrinfo **addresses, edb_error *error) {
  struct addrinfo wanted = {0};
  char service[16];
  snprintf(net->peer, sizeof net->peer, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
  if (port < 1 || port > 65535) return edb_fail(error, EDB_CLOSED, "%u is no port", port);
  if (!start_network()) return edb_fail(error, EDB_CLOSED, "the system has no network");
  snprintf(service, sizeof service, "%u", port);
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = kind;
  wanted.ai_flags = AI_NUMERICSERV;
  *addresses = NULL;
  if (getaddrinfo(host, service, &wanted, addresses) == 0 && *addresses) return EDB_OK;
  edb_fail(error, EDB_CLOSED, "could not find the host of %s", net->peer);
  edb_fail_hint(error, "is the name spelt right, and known to this machine's name service?");
  return EDB_CLOSED;
}

int edb_net_connect(edb_net *net, const char *host, unsigned port, int64_t end,
                    int (*asks)(void *context), void *context, edb_error *error) {
  struct addrinfo *addresses;
  int ms, one = 1;
  *net = (edb_net){.handle = -1, .asks = asks, .context = context};
  int rc = may_wait(net, end, &ms, error);
  if (rc == EDB_OK) rc = look_up(net, host, port, SOCK_STREAM, &addresses, error);
  if (rc != EDB_OK) return rc;
  rc = connect_first(net, addresses, end, error);
  freeaddrinfo(addresses);
  if (rc != EDB_OK) return rc;
  /* A request is whole when it is sent: nothing is gained by waiting for more of it. */
  setsockopt((handle_type)net->handle, IPPROTO_TCP, TCP_NODELAY, (const void *)&one, sizeof one);
  setsockopt((handle_type)net->handle, SOL_SOCKET, SO_KEEPALIVE, (const void *)&one, sizeof one);
  return EDB_OK;
}

/* ---- Datagrams -------------------------------------------------------------------------------------- */

#define AGAIN_MS 1000
#define ASKED_TIMES 5

/* The first address that a socket can be had for: of several, a datagram tells nothing. */
static int open_datagrams(edb_net *net, const char *host, unsigned port, int (*asks)(void *context),
                          void *context, edb_error *error) {
  struct addrinfo *addresses;
  *net = (edb_net){.handle = -1, .asks = asks, .context = context};
  int rc = look_up(net, host, port, SOCK_DGRAM, &addresses, error);
  if (rc != EDB_OK) return rc;
  for (const struct addrinfo *a = addresses; a && net->handle < 0; a = a->ai_next) {
    const handle_type h = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    if (h == INVALID_SOCKET) continue;
    if (prepare_handle(h) && connect(h, a->ai_addr, (socklen_t)a->ai_addrlen) == 0) {
      net->handle = (intptr_t)h;
    } else {
      close_handle(h);
    }
  }
  if (net->handle < 0) rc = fail_with(net, "could not ask", last_fault(), error);
  freeaddrinfo(addresses);
  return rc;
}

/* One round. EDB_DONE: no answer. */
static int ask_once(edb_net *net, const void *request, size_t n, void *answer, size_t size,
                    size_t *got, int64_t end, edb_error *error) {
  const int64_t until = edb_net_now_ms() + AGAIN_MS;
  int may;
  if (send_bytes((handle_type)net->handle, request, n) < 0 && !would_block(last_fault())) {
    return fail_with(net, "could not ask", last_fault(), error);
  }
  int rc = edb_net_wait(net, EDB_NET_READ, &may, end && end < until ? end : until, error);
  if (rc == EDB_INTERRUPTED && (!end || end > until) && edb_net_now_ms() >= until) return EDB_DONE;
  if (rc != EDB_OK) return rc;
  const long moved = receive_bytes((handle_type)net->handle, answer, size, 0);
  if (moved < 0) return fail_with(net, "no answer from", last_fault(), error);
  *got = (size_t)moved;
  return EDB_OK;
}

int edb_net_ask(const char *host, unsigned port, const void *request, size_t n, void *answer,
                size_t size, size_t *got, int64_t end, int (*asks)(void *context), void *context,
                edb_error *error) {
  edb_net net;
  int rc = open_datagrams(&net, host, port, asks, context, error);
  if (rc != EDB_OK) return rc;
  for (int i = 0; i < ASKED_TIMES; i++) {
    rc = ask_once(&net, request, n, answer, size, got, end, error);
    if (rc != EDB_DONE) break;
    edb_fail(error, EDB_CLOSED, "no answer from %s", net.peer);
  }
  edb_net_close(&net);
  return rc == EDB_DONE ? EDB_CLOSED : rc;
}

/* ---- Bytes ------------------------------------------------------------------------------------------- */

int edb_net_send_some(edb_net *net, const void *p, size_t n, size_t *sent, edb_error *error) {
  *sent = 0;
  if (net->handle < 0) return edb_fail(error, EDB_CLOSED, "the connection is closed");
  long moved = send_bytes((handle_type)net->handle, p, n);
  if (moved >= 0) {
    *sent = (size_t)moved;
    return EDB_OK;
  }
  int number = last_fault();
  return would_block(number) ? EDB_OK : fail_with(net, "could not send to", number, error);
}

int edb_net_send(edb_net *net, const void *p, size_t n, int64_t end, edb_error *error) {
  const char *from = p;
  int rc = EDB_OK, may;
  while (n > 0) {
    size_t sent;
    rc = edb_net_send_some(net, from, n, &sent, error);
    if (rc != EDB_OK) break;
    from += sent;
    n -= sent;
    if (n > 0 && (rc = edb_net_wait(net, EDB_NET_WRITE, &may, end, error)) != EDB_OK) break;
  }
  return rc;
}

int edb_net_receive(edb_net *net, void *p, size_t least, size_t most, size_t *got, int64_t end,
                    edb_error *error) {
  char *to = p;
  int may;
  *got = 0;
  if (net->handle < 0) return edb_fail(error, EDB_CLOSED, "the connection is closed");
  if (most == 0) return EDB_OK;
  for (;;) {
    long moved = receive_bytes((handle_type)net->handle, to + *got, most - *got, 0);
    if (moved == 0) return EDB_DONE;
    if (moved > 0) {
      *got += (size_t)moved;
      if (*got >= least) return EDB_OK;
      continue;
    }
    int number = last_fault();
    if (!would_block(number)) return fail_with(net, "could not receive from", number, error);
    if (*got >= least) return EDB_OK;
    int rc = edb_net_wait(net, EDB_NET_READ, &may, end, error);
    if (rc != EDB_OK) return rc;
  }
}

int edb_net_alive(const edb_net *net) {
  char byte;
  if (net->handle < 0) return 0;
  long n = receive_bytes((handle_type)net->handle, &byte, 1, MSG_PEEK);
  return n > 0 || (n < 0 && would_block(last_fault()));
}

void edb_net_end(edb_net *net) {
  if (net->handle >= 0) shutdown((handle_type)net->handle, SHUT_WR);
}

void edb_net_close(edb_net *net) {
  if (net->handle >= 0) close_handle((handle_type)net->handle);
  net->handle = -1;
}
