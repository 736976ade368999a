/*
** The control channel, a line a command on a local port, and the SQL Server Browser on a UDP port.
**
**     fault NAME VALUE     a misbehaviour of all connections to come; `fault reset` ends all
**     cert NAME            good, wrong-name, expired, self-signed
**     tls MIN MAX          1.2 or 1.3, of strict
**     policy NAME          required, optional, login, none: encryption of 7.4
**     route HOST           where logins are sent while `fault route` counts down
**     replay DATABASE BYTES  keeps what the query that follows answers: see replay.c
**     violations           how many there were
**     handshakes           how many TLS handshakes there were, and how many of them resumed a session
**     loaded               how many rows bulk loads have brought
**     kill                 breaks off all connections
**     database NAME        an empty database of that name
**     sql DATABASE BYTES   runs that many bytes of T-SQL that follow; rows as a|b|NULL, errors as text
**
** Each answer ends with a line that holds a point.
*/
#include "session.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

int listen_on(int *port, bool datagrams) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
  socklen_t n = sizeof address;
  int fd = socket(AF_INET, datagrams ? SOCK_DGRAM : SOCK_STREAM, 0), on = 1;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&address, n) == 0 &&
            (datagrams || listen(fd, 100) == 0) &&
            getsockname(fd, (struct sockaddr *)&address, &n) == 0;
  if (!ok) {
    perror("tdsd: listen");
    exit(1);
  }
  *port = ntohs(address.sin_port);
  return fd;
}

/* Runs T-SQL with no client, in a session of its own. */
static void run_sql(Server *server, const char *database, const char *sql, size_t n, Buf *reply) {
  Conn c = {.server = server, .fd = -1, .capture = reply, .packet_size = 4096};
  Session s = {.c = &c, .isolation = 2, .lock_timeout = 10000};
  SqlError error = {0};
  int32_t status;
  c.s = &s;
  if (engine_open(&s, database, &error)) {
    batch_run(&s, sql, n, NULL, false, 0, &status);
    if (s.begun) sqlite3_exec(s.db, "ROLLBACK", NULL, NULL, NULL);
  } else {
    buf_printf(reply, "error %d: %s\n", error.number, error.message);
  }
  engine_close(&s);
  buf_free(&c.out);
  buf_free(&c.done);
}

static int word_of(const char *word, const char *const *words, int n) {
  for (int i = 0; i < n; i++) {
    if (strcmp(word, words[i]) == 0) return i;
  }
  return -1;
}

static int tls_version(const char *text) {
  return strcmp(text, "1.2") == 0 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

/* One command with up to two words behind it; false: there is none such. */
static bool obey(Server *s, char *words[3], Buf *reply) {
  static const char *const policies[] = {"required", "optional", "login", "none"};
  const char *command = words[0], *first = words[1] ? words[1] : "",
             *second = words[2] ? words[2] : "";
  bool ok = true;
  int which;
  pthread_mutex_lock(&s->lock);
  if (strcmp(command, "fault") == 0) {
    ok = fault_set(&s->fault, first, strtoll(second, NULL, 10));
  } else if (strcmp(command, "cert") == 0) {
    which = word_of(first, cert_names, CERT_COUNT);
    ok = which >= 0;
    if (ok) s->cert = which;
  } else if (strcmp(command, "tls") == 0) {
    s->tls_min = tls_version(first);
    s->tls_max = tls_version(second);
  } else if (strcmp(command, "policy") == 0) {
    which = word_of(first, policies, 4);
    ok = which >= 0;
    if (ok) s->policy = (Policy)which;
  } else if (strcmp(command, "route") == 0) {
    snprintf(s->route_host, sizeof s->route_host, "%s", first);
  } else if (strcmp(command, "violations") == 0) {
    buf_printf(reply, "%u\n", s->violations);
  } else if (strcmp(command, "handshakes") == 0) {
    buf_printf(reply, "%u %u\n", s->handshakes, s->resumed);
  } else if (strcmp(command, "loaded") == 0) {
    buf_printf(reply, "%llu\n", (unsigned long long)s->loaded);
  } else if (strcmp(command, "kill") == 0) {
    for (const Conn *c = s->connections; c != NULL; c = c->next) shutdown(c->fd, SHUT_RDWR);
  } else if (strcmp(command, "database") == 0) {
    if (engine_exists(s, first)) engine_drop(s, first);
    ok = engine_create(s, first);
  } else {
    ok = false;
  }
  pthread_mutex_unlock(&s->lock);
  return ok;
}

static void serve_line(Server *s, FILE *in, char *line, Buf *reply) {
  char *words[3] = {NULL, NULL, NULL}, *save = NULL;
  for (int i = 0; i < 3; i++) words[i] = strtok_r(i == 0 ? line : NULL, " \r\n", &save);
  if (words[0] == NULL) return;
  bool replay = strcmp(words[0], "replay") == 0;
  if ((replay || strcmp(words[0], "sql") == 0) && words[2] != NULL) {
    size_t n = (size_t)strtoull(words[2], NULL, 10);
    char *sql = xmalloc(n + 1);
    n = fread(sql, 1, n, in);
    if (!replay) run_sql(s, words[1], sql, n, reply);
    if (replay && !replay_prepare(s, words[1], sql, n))
      buf_text(reply, "error: that query fails\n");
    free(sql);
  } else if (!obey(s, words, reply)) {
    buf_printf(reply, "error: no such command as %s\n", words[0]);
  }
}

typedef struct {
  Server *server;
  int fd;
} Control;

static void *serve_control(void *argument) {
  Control control = *(Control *)argument;
  char line[500];
  free(argument);
  FILE *in = fdopen(control.fd, "r+");
  while (in != NULL && fgets(line, sizeof line, in) != NULL) {
    Buf reply = {0};
    serve_line(control.server, in, line, &reply);
    buf_text(&reply, ".\n");
    fseek(in, 0, SEEK_CUR); /* from reading to writing */
    fwrite(reply.p, 1, reply.n, in);
    fflush(in);
    buf_free(&reply);
  }
  if (in != NULL) fclose(in);
  return NULL;
}

void *control_thread(void *argument) {
  Server *server = argument;
  int listener = listen_on(&server->control_port, false);
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    pthread_t thread;
    if (fd < 0) continue;
    Control *control = xmalloc(sizeof *control);
    *control = (Control){server, fd};
    if (pthread_create(&thread, NULL, serve_control, control) == 0) pthread_detach(thread);
  }
}

/* [MC-SQLR]: 4 + instance asks for one instance's port; 2 and 3 for all. */
void *browser_thread(void *argument) {
  Server *server = argument;
  int fd = listen_on(&server->browser_port, true);
  for (;;) {
    char in[600];
    struct sockaddr_storage from;
    socklen_t n = sizeof from;
    ssize_t got = recvfrom(fd, in, sizeof in - 1, 0, (struct sockaddr *)&from, &n);
    if (got < 1 || in[0] < 2 || in[0] > 4) continue;
    in[got] = 0;
    Buf reply = {0};
    if (in[0] == 4 && strcasecmp(in + 1, "TDSD") != 0) continue;
    buf_u8(&reply, 5);
    buf_u16(&reply, 0);
    buf_printf(&reply,
               "ServerName;tdsd;InstanceName;TDSD;IsClustered;No;Version;%d.0.1000.6;tcp;%d;;",
               server->version, server->port);
    put_u16(reply.p + 1, (unsigned)reply.n - 3);
    sendto(fd, reply.p, reply.n, 0, (struct sockaddr *)&from, n);
    buf_free(&reply);
  }
}
