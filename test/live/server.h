/*
** server.h: what the test servers over other TLS libraries share: the command line, the socket, the loop. A server
** echoes what comes until the client closes; one connection at a time, on loopback.
**
**     server PORT CERTIFICATE KEY [option value]...
**
** For what openssl s_server does for libssl; gnutls-serv listens on all addresses, and wolfSSL's example is not
** packaged.
*/
#ifndef EDB_LIVE_SERVER_H
#define EDB_LIVE_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
  const char *certificate, *key;
  const char *suites; /* the library's own words */
  const char *group;  /* the only one: "P-256", "P-384" */
  int request;        /* 1: a certificate is asked for */
  int updates;        /* after so many reads, new keys for both sides */
  int late_tickets;   /* 1: a ticket after each echo */
  int padding;        /* bytes behind each record */
} live;

/* What a library brings. Ready is called once; serve gets a connected socket and answers 1 where all went well. */
static int live_ready(void);
static int live_serve(int fd);

static void live_die(const char *what) {
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}

static void live_options(int argc, char **argv) {
  if (argc < 4) live_die("usage: server PORT CERTIFICATE KEY [option value]...");
  live.certificate = argv[2];
  live.key = argv[3];
  for (int i = 4; i + 1 < argc; i += 2) {
    int number = (int)strtol(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "-suites") == 0) live.suites = argv[i + 1];
    if (strcmp(argv[i], "-group") == 0) live.group = argv[i + 1];
    if (strcmp(argv[i], "-request") == 0) live.request = number;
    if (strcmp(argv[i], "-updates") == 0) live.updates = number;
    if (strcmp(argv[i], "-late_tickets") == 0) live.late_tickets = number;
    if (strcmp(argv[i], "-padding") == 0) live.padding = number;
  }
}

int main(int argc, char **argv) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, client;
  signal(SIGPIPE, SIG_IGN);
  setvbuf(stdout, NULL, _IOLBF, 0);
  live_options(argc, argv);
  at.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (!live_ready()) live_die("the library is not ready");
  if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 16) != 0) live_die("bind");
  printf("ACCEPT\n");
  while ((client = accept(fd, NULL, NULL)) >= 0) {
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    printf(live_serve(client) ? "served\n" : "not served\n");
    close(client);
  }
  return 1;
}

#endif
