/*
** tls_client.h: what the TLS clients beside build/tlsc share: the command line, the socket, the clock and the line.
**
**     tls_PEER connect HOST PORT ROOTS NAME COUNT     COUNT connections, made and closed, each with a whole handshake
**     tls_PEER read HOST PORT ROOTS NAME BYTES PATH   GET PATH, and so many bytes received
**
** The roots are loaded once, chain and name are checked; x25519 and AES-128-GCM as tlsc agrees on them.
*/
#ifndef BENCH_TLS_CLIENT_H
#define BENCH_TLS_CLIENT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "participant.h"

#define BENCH_IN (256 << 10)

static const char *bench_roots, *bench_server;

/* What a library brings: once a process, then for each connection. read answers the bytes, 0 or less at the end. */
static void bench_ready(void);
static void bench_open(int fd);
static void bench_write(const char *text);
static int bench_read(char *in, int n);
static void bench_close(void);
static const char *bench_version(void);

static void bench_fail(const char *what) {
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static int bench_connect(const char *host, const char *port) {
  struct sockaddr_in to = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  inet_pton(AF_INET, host, &to.sin_addr);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) bench_fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void bench_print(const char *work, bench_clock from, long long done) {
  bench_clock to = bench_now();
  printf("{\"work\":\"%s\",\"wall_s\":%.6f,\"user_s\":%.6f,\"sys_s\":%.6f,\"rss_kb\":%ld,\"count\":"
         "%lld,"
         "\"client\":\"%s\"}\n",
         work, to.wall - from.wall, to.user - from.user, to.sys - from.sys, bench_peak_kb(), done,
         bench_version());
}

/* The first connection warms up. */
static void bench_connects(const char *host, const char *port, long long count) {
  bench_clock from = {0};
  for (long long i = 0; i <= count; i++) {
    if (i == 1) from = bench_now();
    int fd = bench_connect(host, port);
    bench_open(fd);
    bench_close();
    close(fd);
  }
  bench_print("connect", from, count);
}

static void bench_reads(const char *host, const char *port, long long wanted, const char *path) {
  static char in[BENCH_IN];
  char request[300];
  long long done = 0;
  int n, fd = bench_connect(host, port);
  bench_open(fd);
  snprintf(request, sizeof request, "GET /%s HTTP/1.0\r\n\r\n", path);
  bench_write(request);
  bench_clock from = bench_now();
  while (done < wanted && (n = bench_read(in, sizeof in)) > 0) done += n;
  if (done < wanted) bench_fail("reading");
  bench_print("read", from, done);
  bench_close();
  close(fd);
}

int main(int argc, char **argv) {
  if (argc < 7) bench_fail("the command line");
  bench_roots = argv[4];
  bench_server = argv[5];
  long long n = strtoll(argv[6], NULL, 10);
  bench_ready();
  if (strcmp(argv[1], "connect") == 0) bench_connects(argv[2], argv[3], n);
  if (strcmp(argv[1], "read") == 0 && argc > 7) bench_reads(argv[2], argv[3], n, argv[7]);
  return 0;
}

#endif
