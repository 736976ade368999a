/*
** tdsd: options, listeners, a thread a connection.
**
**     tdsd -dir DIR ?-user NAME? ?-password TEXT? ?-port N? ?-browser yes? ?-careful LIBRARY?
**
** Prints `ready PORT CONTROL BROWSER` when it takes connections; ends on SIGTERM or SIGINT.
*/
#include "session.h"

#include <locale.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static SSL_CTX *make_context(const char *dir, const char *name) {
  char cert[4200], key[4200];
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  snprintf(cert, sizeof cert, "%s/%s.pem", dir, name);
  snprintf(key, sizeof key, "%s/%s.key", dir, name);
  if (context == NULL || SSL_CTX_use_certificate_chain_file(context, cert) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
    fprintf(stderr, "tdsd: no TLS with %s\n", cert);
    exit(1);
  }
  SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_client_hello_cb(context, net_look_at_hello, NULL);
  SSL_CTX_set_session_id_context(context, (const unsigned char *)"tdsd", 4);
  return context;
}

static void start(Server *s) {
  if (!cert_make(s->dir)) {
    fprintf(stderr, "tdsd: cannot write certificates into %s\n", s->dir);
    exit(1);
  }
  for (int i = 0; i < CERT_COUNT; i++) s->tls[i] = make_context(s->dir, cert_names[i]);
  if (!engine_exists(s, "master") && !engine_create(s, "master")) exit(1);
  char path[4200];
  snprintf(path, sizeof path, "%s/violations", s->dir);
  s->violations_file = fopen(path, "a");
  if (s->violations_file == NULL) {
    perror("tdsd: violations");
    exit(1);
  }
}

static void *serve_connection(void *argument) {
  Conn *c = argument;
  Server *server = c->server;
  serve(c);
  /* What a client did that only a careful one does not, for the log. */
  if (c->spanning + c->short_packets + c->id_jumps + c->wide_login > 0) {
    fprintf(stderr,
            "tdsd: %s (%s): records over several packets %u, short packets %u, packet ids out of "
            "order %u, wide logins %u\n",
            c->library, c->app, c->spanning, c->short_packets, c->id_jumps, c->wide_login);
  }
  /* Closed under the lock: `kill` must not meet another connection's descriptor. */
  pthread_mutex_lock(&server->lock);
  Conn **at = &server->connections;
  while (*at != c) at = &(*at)->next;
  *at = c->next;
  net_close(c);
  pthread_mutex_unlock(&server->lock);
  free(c);
  return NULL;
}

static bool has_connections(Server *s) {
  pthread_mutex_lock(&s->lock);
  bool some = s->connections != NULL;
  pthread_mutex_unlock(&s->lock);
  return some;
}

static void *accept_connections(void *argument) {
  Server *s = argument;
  for (;;) {
    int fd = accept(s->listener, NULL, NULL), on = 1;
    pthread_t thread;
    if (fd < 0) {
      usleep(1000);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Conn *c = xmalloc(sizeof *c);
    pthread_mutex_lock(&s->lock);
    *c = (Conn){.server = s,
                .fd = fd,
                .spid = 51 + s->next_spid++ % 32000,
                .fault = s->fault,
                .next = s->connections};
    s->connections = c;
    pthread_mutex_unlock(&s->lock);
    if (pthread_create(&thread, NULL, serve_connection, c) != 0) {
      perror("tdsd: a thread");
      exit(1);
    }
    pthread_detach(thread);
  }
  return NULL;
}

static void run_thread(Server *s, void *(*run)(void *), const int *port) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, s) != 0) exit(1);
  pthread_detach(thread);
  while (__atomic_load_n(port, __ATOMIC_ACQUIRE) == 0) usleep(1000);
}

/* The value of an option, or NULL where there is no such option. */
static const char **option(Server *s, const char *name) {
  const struct {
    const char *name, **value;
  } options[] = {{"-dir", &s->dir},          {"-user", &s->user},       {"-password", &s->password},
                 {"-port", &s->port_option}, {"-browser", &s->browser}, {"-careful", &s->careful}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (strcmp(name, options[i].name) == 0) return options[i].value;
  }
  return NULL;
}

int main(int argc, char **argv) {
  static Server s = {.user = "edb",
                     .password = "",
                     .careful = "",
                     .tls_min = TLS1_2_VERSION,
                     .tls_max = TLS1_3_VERSION,
                     .version = 16,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
  for (int i = 1; i < argc; i += 2) {
    const char **value = option(&s, argv[i]);
    if (value == NULL || i + 1 == argc) {
      fprintf(stderr, "tdsd: no option %s, or nothing behind it\n", argv[i]);
      return 2;
    }
    *value = argv[i + 1];
  }
  if (s.dir == NULL) {
    fputs("tdsd: -dir is needed\n", stderr);
    return 2;
  }
  /* No thread takes these signals but this one, which waits for them. */
  sigset_t ends;
  int which;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);
  setlocale(LC_CTYPE, "C.UTF-8");
  signal(SIGPIPE, SIG_IGN);
  start(&s);
  if (s.port_option != NULL) s.port = (int)strtol(s.port_option, NULL, 10);
  s.listener = listen_on(&s.port, false);
  run_thread(&s, control_thread, &s.control_port);
  if (s.browser != NULL) run_thread(&s, browser_thread, &s.browser_port);
  pthread_t thread;
  if (pthread_create(&thread, NULL, accept_connections, &s) != 0) return 1;
  printf("ready %d %d %d\n", s.port, s.control_port, s.browser_port);
  fflush(stdout);
  sigwait(&ends, &which);
  /* Connections that are just ending are given the time for it. */
  for (int i = 0; i < 50 && has_connections(&s); i++) usleep(10000);
  return 0;
}
