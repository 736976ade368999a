/*
** tlsc.c: build/tlsc, a TLS client like s_client over tls/, drivers/net.c and drivers/trust.c: for the live tests and
** the benchmark.
**
**     tlsc [option value]... HOST PORT     standard input goes to the server, what it says to standard output
**
** On standard error: `agreed: …` once connected; `failed: ALERT REASON` or `ended` in the end. Exit status 0 where
** the server ended with close_notify, or where -count or -read came to their end. The options are in the table below.
*/
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../drivers/net.h"
#include "../drivers/trust.h"
#include "../tls/tlsInt.h"

/* ---- Options ---------------------------------------------------------------------------------------- */

static const char *server_name, *trust_path, *pin, *alpn_names, *min_version, *max_version, *cipher,
    *session_file, *ems = "1", *alpn_required = "0", *updates = "0", *step = "0", *record = "16384",
                   *now, *count, *resume = "0", *amount, *limit, *timeout = "20", *say, *keep = "0";

static const struct {
  const char *name, **value, *help;
} options[] = {
    {"-name", &server_name, "the server's name, if not HOST"},
    {"-trust", &trust_path, "a file or folder of roots, or none; the system's if not said"},
    {"-pin", &pin, "SHA-256 of the leaf's SPKI, in hexadecimal"},
    {"-alpn", &alpn_names, "names, with commas between"},
    {"-alpn_required", &alpn_required, "1: a server that chooses none is refused"},
    {"-min", &min_version, "1.2 or 1.3"},
    {"-max", &max_version, "1.2 or 1.3"},
    {"-cipher", &cipher, "a back end: native, portable, aesni, vaes256, vaes512, openssl, …"},
    {"-ems", &ems, "0: TLS 1.2 servers without extended master secret are taken"},
    {"-session", &session_file,
     "a file: what is in it is resumed, what the server gives is put in it"},
    {"-updates", &updates, "how often new keys are asked for: before each record until then"},
    {"-step", &step, "receive so many bytes at a time"},
    {"-record", &record, "bytes of each record that is sent"},
    {"-limit", &limit, "records under one key"},
    {"-now", &now, "seconds since 1970, for the certificates"},
    {"-say", &say, "what is sent, in place of standard input"},
    {"-keep", &keep, "1: standard input's end is not told to the server"},
    {"-count", &count, "so many connections, made and closed; prints their cost"},
    {"-resume", &resume, "1: with -count, each resumes the one before"},
    {"-read", &amount, "bytes to receive and drop, then prints their cost"},
    {"-timeout", &timeout, "seconds for each step"},
};

static const char *host;
static unsigned port;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "failed: %s %s\n", what, why);
  exit(1);
}

static void read_options(int argc, char **argv) {
  int i = 1;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    size_t k = 0, n = sizeof options / sizeof options[0];
    while (k < n && strcmp(options[k].name, argv[i]) != 0) k++;
    if (k == n) break;
    *options[k].value = argv[i + 1];
  }
  if (argc - i != 2 || argv[i][0] == '-') {
    fprintf(stderr, "usage: tlsc [option value]... HOST PORT\n");
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
      fprintf(stderr, "  %-16s %s\n", options[k].name, options[k].help);
    }
    exit(2);
  }
  host = argv[i];
  port = (unsigned)strtoul(argv[i + 1], NULL, 10);
}

static long number(const char *text) { return strtol(text, NULL, 10); }
static unsigned version(const char *text) {
  return !text ? 0 : strcmp(text, "1.2") == 0 ? TLS_1_2 : TLS_1_3;
}

/* ---- The connection ------------------------------------------------------------------------------------ */

#define IN_SIZE (256 << 10)
#define OUT_SIZE (128 << 10)

/* One at a time. */
static struct {
  edb_net net;
  tls_client client;
  uint8_t work[TLS_WORK], in[IN_SIZE], out[OUT_SIZE];
  size_t from, have;         /* of in: what was received and not yet taken */
  size_t out_from, out_have; /* of out: what is to be sent */
  int connected, ended;
} c;

static tls_session session;
static uint8_t pins[1][TLS_SPKI_HASH];
static const char *alpn_list[9];
static edb_error error;

static int64_t deadline(void) { return edb_net_now_ms() + number(timeout) * 1000; }

static void fail_tls(void) {
  tls_failure f = tls_failed(&c.client);
  fprintf(stderr, "failed: %s%s %s\n", tls_alert_name((int)f.alert),
          f.from_server ? " (the server's)" : "", f.reason ? f.reason : "");
  exit(1);
}

static void fail_net(void) { fail("net", error.message); }

/* What the client wants to be sent joins the queue. */
static void collect(void) {
  const uint8_t *p;
  size_t n;
  while ((p = tls_output(&c.client, &n)) != NULL) {
    if (n > OUT_SIZE - c.out_have) n = OUT_SIZE - c.out_have;
    if (n == 0) return;
    memcpy(c.out + c.out_have, p, n);
    c.out_have += n;
    tls_sent(&c.client, n);
  }
}

/* Sends the queue: all of it, or what goes without waiting. 0 where the server is gone: what it said before is still to
** be read. */
static int flush(int all) {
  size_t n = 0;
  int rc;
  collect();
  do {
    if (all) {
      rc = edb_net_send(&c.net, c.out + c.out_from, c.out_have - c.out_from, deadline(), &error);
      n = c.out_have - c.out_from;
    } else {
      rc = edb_net_send_some(&c.net, c.out + c.out_from, c.out_have - c.out_from, &n, &error);
    }
    if (rc != EDB_OK) return 0;
    c.out_from += n;
    if (c.out_from < c.out_have) return 1;
    c.out_from = c.out_have = 0;
    collect();
  } while (c.out_have > 0 && n > 0);
  return 1;
}

/* Makes a record of n bytes at the queue's end. */
static void seal(const uint8_t *p, size_t n) {
  static uint8_t sealed[TLS_PLAIN_MAX + TLS_OVERHEAD];
  static long asked;
  size_t written;
  if (asked < number(updates)) {
    asked++;
    tls_update_keys(&c.client);
  }
  if (tls_seal(&c.client, p, n, sealed, sizeof sealed, &written) != ECR_OK) fail_tls();
  collect();
  if (written > OUT_SIZE - c.out_have) fail("queue", "is full");
  memcpy(c.out + c.out_have, sealed, written);
  c.out_have += written;
}

/* Takes one record. TLS_MORE: all that is there was taken. */
static tls_status take(tls_received *got) {
  tls_status status = tls_receive(&c.client, c.in + c.from, c.have - c.from, got);
  if (status == TLS_MORE) {
    memmove(c.in, c.in + c.from, c.have - c.from);
    c.have -= c.from;
    c.from = 0;
  }
  c.from += got->used;
  if (status == TLS_CONNECTED) c.connected = 1;
  if (status == TLS_FAILED) {
    flush(1);
    fail_tls();
  }
  return status;
}

/* Receives more: at least a byte where wait is set. 0 at the end. */
static int receive(int wait) {
  size_t got = 0, most = IN_SIZE - c.have;
  if (number(step) > 0 && (size_t)number(step) < most) most = (size_t)number(step);
  int rc = edb_net_receive(&c.net, c.in + c.have, wait ? 1 : 0, most, &got, deadline(), &error);
  c.have += got;
  if (rc == EDB_OK) return 1;
  /* A reset, too, is an end without close_notify. */
  if (rc == EDB_INTERRUPTED) fail_net();
  return got > 0;
}

static void choose_cipher(void) {
  const ecr_aead *aeads[ECR_CIPHERS] = {NULL};
  if (!cipher || strcmp(cipher, "native") == 0) return;
  int found = 0;
  for (int i = 0; i < ECR_CIPHERS; i++) {
    aeads[i] = ecr_aead_get((ecr_cipher)i, cipher);
    found |= aeads[i] != NULL;
  }
  if (!found) fail("cipher", "is not here");
  if (tls_use_aead(&c.client, aeads) != ECR_OK) fail("cipher", "was refused");
}

static void read_pin(tls_trust *trust) {
  if (!pin) return;
  for (size_t i = 0; i < TLS_SPKI_HASH; i++) {
    char digits[3] = {pin[2 * i], pin[2 * i + 1], 0};
    pins[0][i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  trust->pins = (const uint8_t(*)[TLS_SPKI_HASH])pins;
  trust->pin_count = 1;
}

/* Connects and shakes hands. */
static void open_connection(void) {
  const tls_trust *roots = NULL;
  tls_trust trust;
  tls_received got;
  c.from = c.have = c.out_from = c.out_have = 0;
  c.connected = c.ended = 0;
  int without = trust_path && strcmp(trust_path, "none") == 0;
  tls_trust_init(&trust, NULL, 0, NULL, 0);
  if (!without && edb_trust_get(trust_path, &roots, &error) != EDB_OK) fail("trust", error.message);
  if (roots) trust = *roots;
  read_pin(&trust);
  const tls_config config = {.server_name = server_name ? server_name : host,
                             .trust = &trust,
                             .now = now ? strtoll(now, NULL, 10) : (int64_t)time(NULL),
                             .alpn = alpn_names ? alpn_list : NULL,
                             .alpn_required = (int)number(alpn_required),
                             .min_version = version(min_version),
                             .max_version = version(max_version),
                             .allow_no_extended_master_secret = !number(ems),
                             .session = &session};
  if (edb_net_connect(&c.net, host, port, deadline(), NULL, NULL, &error) != EDB_OK) fail_net();
  if (tls_start(&c.client, &config, c.work, sizeof c.work) != ECR_OK) fail_tls();
  choose_cipher();
  for (;;) {
    while (!c.connected && take(&got) != TLS_MORE) continue;
    flush(1);
    if (c.connected) break;
    if (!receive(1)) {
      tls_receive_end(&c.client);
      fail_tls();
    }
  }
  if (roots) edb_trust_done(roots);
  if (limit) {
    tls_state *s = (tls_state *)(void *)c.client.bytes;
    s->read.limit = s->write.limit = (uint64_t)number(limit);
  }
}

static void close_connection(void) {
  tls_close(&c.client);
  flush(1);
  edb_net_close(&c.net);
  tls_clear(&c.client);
}

/* ---- Sessions ------------------------------------------------------------------------------------------- */

static void load_session(void) {
  FILE *f = session_file ? fopen(session_file, "rb") : NULL;
  if (!f) return;
  if (fread(&session, sizeof session, 1, f) != 1) memset(&session, 0, sizeof session);
  fclose(f);
}

static void save_session(void) {
  if (!tls_session_get(&c.client, &session) || !session_file) return;
  int fd = open(session_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, &session, sizeof session) != (ssize_t)sizeof session)
    fail("session", "cannot be kept");
  close(fd);
}

/* ---- Works ------------------------------------------------------------------------------------------------ */

static void report_agreed(void) {
  tls_agreed a;
  tls_agreed_get(&c.client, &a);
  fprintf(stderr, "agreed: %s %s %s alpn=%s backend=%s resumed=%d\n",
          a.version == TLS_1_3 ? "1.3" : "1.2", a.suite, a.group ? a.group : "-",
          a.alpn ? a.alpn : "-", a.cipher_backend, a.resumed);
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

/* One line of JSON, as the benchmark's participants print. */
static void report_cost(const char *work, const struct rusage *from, int64_t began_ms,
                        long long done) {
  struct rusage to;
  tls_agreed a;
  getrusage(RUSAGE_SELF, &to);
  tls_agreed_get(&c.client, &a);
  printf("{\"work\":\"%s\",\"wall_s\":%.6f,\"user_s\":%.6f,\"sys_s\":%.6f,\"rss_kb\":%ld,\"count\":"
         "%lld,"
         "\"client\":\"%s %s %s\"}\n",
         work, (double)(edb_net_now_ms() - began_ms) / 1e3,
         seconds(to.ru_utime) - seconds(from->ru_utime),
         seconds(to.ru_stime) - seconds(from->ru_stime), to.ru_maxrss, done, ecr_bignum, a.suite,
         a.cipher_backend);
}

/* The first connection warms up, and with -resume is the one that has a session. */
static void run_connects(long n) {
  struct rusage from;
  int64_t began = 0;
  for (long i = 0; i <= n; i++) {
    tls_received got;
    tls_agreed a;
    if (i == 1) {
      getrusage(RUSAGE_SELF, &from);
      began = edb_net_now_ms();
    }
    if (!number(resume)) memset(&session, 0, sizeof session);
    open_connection();
    tls_agreed_get(&c.client, &a);
    if (number(resume) && i > 0 && !a.resumed) fail("session", "was not resumed");
    /* A session is good for one connection; the next one's comes with this. */
    if (number(resume)) {
      memset(&session, 0, sizeof session);
      while (!tls_session_get(&c.client, &session)) {
        if (take(&got) == TLS_MORE && !receive(1)) fail("session", "did not come");
      }
    }
    if (i == n) report_cost(number(resume) ? "resume" : "connect", &from, began, n);
    close_connection();
  }
}

static void run_read(long long wanted) {
  struct rusage from;
  long long done = 0;
  open_connection();
  report_agreed();
  seal((const uint8_t *)say, strlen(say));
  flush(1);
  getrusage(RUSAGE_SELF, &from);
  int64_t began = edb_net_now_ms();
  while (done < wanted) {
    tls_received got;
    tls_status status = take(&got);
    if (status == TLS_DATA) done += (long long)got.size;
    if (status == TLS_END) break;
    if (status != TLS_MORE) continue;
    if (c.out_have > 0 || c.have > IN_SIZE / 2) flush(1);
    if (!receive(1)) break;
  }
  if (done < wanted) fail("read", "the server ended too early");
  report_cost("read", &from, began, done);
  close_connection();
}

static void write_out(const uint8_t *p, size_t n) {
  while (n > 0) {
    ssize_t written = write(1, p, n);
    if (written < 0) fail("stdout", "cannot be written to");
    p += written, n -= (size_t)written;
  }
}

/* What is there from the server; 0 at the end. */
static int from_server(void) {
  tls_received got;
  int more = receive(0);
  for (;;) {
    tls_status status = take(&got);
    if (status == TLS_DATA) write_out(got.data, got.size);
    if (status == TLS_END) c.ended = 1;
    if (status == TLS_END) return 0;
    if (status == TLS_MORE) break;
  }
  if (more) return 1;
  if (tls_receive_end(&c.client) == TLS_FAILED) fail_tls();
  return 0;
}

/* Both ways at once. */
static void run_relay(void) {
  static uint8_t line[TLS_PLAIN_MAX];
  size_t most = (size_t)number(record);
  int input = say ? 0 : 1;
  open_connection();
  report_agreed();
  fcntl(1, F_SETFL, fcntl(1, F_GETFL) & ~O_NONBLOCK);
  if (most < 1 || most > sizeof line) most = sizeof line;
  if (say) seal((const uint8_t *)say, strlen(say));
  for (;;) {
    if (!flush(0)) c.out_have = c.out_from = 0;
    struct pollfd fds[2] = {{(int)c.net.handle, POLLIN, 0}, {0, POLLIN, 0}};
    if (c.out_have > 0) fds[0].events |= POLLOUT;
    int ready = poll(fds, input && c.out_have == 0 ? 2 : 1, (int)number(timeout) * 1000);
    if (ready == 0) fail("net", "the server is silent");
    if (ready < 0 && errno != EINTR) fail("poll", "failed");
    if ((fds[0].revents & (POLLIN | POLLERR | POLLHUP)) && !from_server()) break;
    if (!(fds[1].revents & (POLLIN | POLLHUP))) continue;
    ssize_t n = read(0, line, most);
    if (n > 0) {
      seal(line, (size_t)n);
    } else {
      input = 0;
      if (!number(keep)) tls_close(&c.client);
    }
  }
  save_session();
  close_connection();
  fprintf(stderr, "ended\n");
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN); /* of standard output; edb_net raises none */
  read_options(argc, argv);
  if (alpn_names) {
    char *names = strdup(alpn_names), *at = names;
    for (size_t i = 0; i < 8 && at; i++) {
      alpn_list[i] = at;
      at = strchr(at, ',');
      if (at) *at++ = 0;
    }
  }
  load_session();
  if (count) {
    run_connects(number(count));
  } else if (amount) {
    run_read(strtoll(amount, NULL, 10));
  } else {
    run_relay();
  }
  return 0;
}
