/*
** drivers/net.h: TCP, for a driver that speaks its server's protocol itself. Only sqlserver*.c, trust
** aside, and the programs of test/ and bench/ include it.
**
**     edb_net net;
**     int64_t end = edb_net_now_ms() + 15000;
**     int rc = edb_net_connect(&net, "db.example", 1433, end, asks, context, &error);
**     if (rc == EDB_OK) rc = edb_net_send(&net, p, n, end, &error);
**     if (rc == EDB_OK) rc = edb_net_receive(&net, header, 8, sizeof header, &got, end, &error);
**     edb_net_close(&net);
**
** Conventions, stated once:
**
**   Deadlines  `end` is a time of edb_net_now_ms for the whole call, however the bytes trickle; 0: none.
**   Stopping   While a call waits, `asks` is called ten times a second: non-zero stops the call.
**   Errors     Of one line, with host and port; the hint says what to do. EDB_CLOSED: there is no connection
**              (any more). EDB_INTERRUPTED: the deadline, or asked to stop; bytes may have moved, so whoever
**              cannot tell how many closes the connection.
**   Signals    SIGPIPE is never raised.
**   Memory     None is allocated but by the system's name look-up, which frees it.
*/
#ifndef EDB_NET_H
#define EDB_NET_H

#include "driver.h"

#define EDB_NET_PEER 300 /* bytes of "host:port" */

typedef struct edb_net {
  intptr_t handle;            /* the socket, non-blocking; -1 once closed */
  int (*asks)(void *context); /* NULL: never */
  void *context;
  int64_t asked;           /* when, by edb_net_now_ms */
  char peer[EDB_NET_PEER]; /* "db.example:1433", "[::1]:1433": for errors */
} edb_net;

/* Milliseconds of a clock that only goes forward. */
int64_t edb_net_now_ms(void);

/* Connects to the first of the host's addresses that answers: they are begun in the system's order, the
** next one as soon as one has failed or has been silent for 250 ms (RFC 8305), at most 8 at a time. The
** look-up of the name is the system's, whose own time-outs hold for it: the deadline is seen to before and
** after. A net that fails is closed. EDB_CLOSED names the first address's error. */
int edb_net_connect(edb_net *net, const char *host, unsigned port, int64_t end,
                    int (*asks)(void *context), void *context, edb_error *error);

/* Asks by UDP: sends the request, again every second, until an answer of at most size bytes comes. */
int edb_net_ask(const char *host, unsigned port, const void *request, size_t n, void *answer,
                size_t size, size_t *got, int64_t end, int (*asks)(void *context), void *context,
                edb_error *error);

/* Sends all n bytes. */
int edb_net_send(edb_net *net, const void *p, size_t n, int64_t end, edb_error *error);

/* Receives between least and most bytes (least 0: what is there, without waiting): *got. EDB_DONE where
** the server has ended its side before there were least, or, for least 0, before there was one: *got then
** came before the end. */
int edb_net_receive(edb_net *net, void *p, size_t least, size_t most, size_t *got, int64_t end,
                    edb_error *error);

/* Sends what can be sent without waiting: *sent, which may be 0. */
int edb_net_send_some(edb_net *net, const void *p, size_t n, size_t *sent, edb_error *error);

/* Waits until there is something to receive (or the end), or room to send where for_write: *may is a set of
** EDB_NET_READ and EDB_NET_WRITE. */
#define EDB_NET_READ 1
#define EDB_NET_WRITE 2
int edb_net_wait(edb_net *net, int for_what, int *may, int64_t end, edb_error *error);

/* 1 where the connection stands as far as can be told without asking the server; bytes that wait to be received
** are no reason against it. */
int edb_net_alive(const edb_net *net);

/* Tells the server that no more will be sent. */
void edb_net_end(edb_net *net);

/* Closing twice is harmless. */
void edb_net_close(edb_net *net);

#endif
