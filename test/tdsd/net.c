/*
** A connection's bytes: the socket, TLS through memory BIOs, the record rule, and the faults that
** happen below TDS.
*/
#include "tdsd.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void write_violation(Conn *c, const char *text) {
  pthread_mutex_lock(&c->server->lock);
  c->server->violations++;
  fprintf(c->server->violations_file, "connection %u (%s), byte %llu: %s\n", c->spid,
          c->library[0] ? c->library : "before login", (unsigned long long)c->received, text);
  fflush(c->server->violations_file);
  pthread_mutex_unlock(&c->server->lock);
  c->dead = true;
}

static bool is_careful(const Conn *c) {
  size_t n = strlen(c->server->careful);
  return n > 0 && strncmp(c->library, c->server->careful, n) == 0;
}

void violation(Conn *c, bool careful, const char *format, ...) {
  char text[500];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (!careful || is_careful(c)) {
    write_violation(c, text);
  } else if (c->library[0] == 0 && c->careless[0] == 0) {
    memcpy(c->careless, text, sizeof text);
  }
}

void violation_known(Conn *c) {
  if (c->careless[0] != 0 && is_careful(c)) write_violation(c, c->careless);
}

void net_close(Conn *c) {
  if (c->ssl != NULL) SSL_free(c->ssl);
  close(c->fd);
  buf_free(&c->plain);
  buf_free(&c->out);
  buf_free(&c->done);
}

/* Writing ----------------------------------------------------------------------------------------*/

static void nap(int milliseconds) {
  struct timespec t = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  nanosleep(&t, NULL);
}

/* Waits until the socket takes more, reading what comes meanwhile: a client that does not read may
** be one that sends an attention. */
static void wait_writable(Conn *c) {
  struct pollfd p = {.fd = c->fd, .events = POLLOUT | POLLIN};
  if (poll(&p, 1, 60000) <= 0) {
    c->dead = true;
  } else if ((p.revents & POLLIN) && !(p.revents & POLLOUT)) {
    if (c->plain.n < 1 << 20) {
      net_fill(c, 0);
    } else {
      nap(1);
    }
  }
}

static void raw_write(Conn *c, const uint8_t *p, size_t n) {
  Fault *f = &c->fault;
  while (n > 0 && !c->dead) {
    size_t step = f->chop > 0 && (size_t)f->chop < n ? (size_t)f->chop : n;
    if (c->logged_in && f->drop > 0) {
      uint64_t left =
          (uint64_t)f->drop > c->sent_after_login ? (uint64_t)f->drop - c->sent_after_login : 0;
      if (left == 0) {
        shutdown(c->fd, SHUT_RDWR);
        c->dead = true;
        return;
      }
      if (step > left) step = left;
    }
    while (c->logged_in && f->stall > 0 && c->sent_after_login >= (uint64_t)f->stall && !c->dead) {
      if (!net_fill(c, 1000) && errno != EAGAIN) c->dead = true;
    }
    ssize_t done = send(c->fd, p, step, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && (errno == EAGAIN || errno == EINTR)) {
      wait_writable(c);
      continue;
    }
    if (done < 0) {
      c->dead = true;
      return;
    }
    p += done;
    n -= (size_t)done;
    c->sent += (uint64_t)done;
    if (c->logged_in) c->sent_after_login += (uint64_t)done;
  }
}

/* What OpenSSL wants sent; a bit of it is flipped where that was asked for. */
static void drain(Conn *c) {
  char *p;
  long n = BIO_get_mem_data(c->to_net, &p);
  if (n <= 0) return;
  Fault *f = &c->fault;
  if (c->logged_in && f->flip > 0 && f->flip <= n) {
    p[f->flip - 1] ^= 1;
    f->flip = 0;
  } else if (c->logged_in && f->flip > 0) {
    f->flip -= n;
  }
  raw_write(c, (const uint8_t *)p, (size_t)n);
  (void)BIO_reset(c->to_net);
}

void net_send(Conn *c, const void *p, size_t n) {
  if (c->dead) return;
  if (c->fault.trickle > 0) nap((int)c->fault.trickle);
  if (c->layer == LAYER_CLEAR) {
    raw_write(c, p, n);
    return;
  }
  if (c->logged_in && c->fault.long_record) {
    static uint8_t record[5 + 16385 + 256] = {0x17, 3, 3, (16385 + 256) >> 8, (16385 + 256) & 0xFF};
    raw_write(c, record, sizeof record);
    return;
  }
  if (n > 0 && SSL_write(c->ssl, p, (int)n) <= 0) c->dead = true;
  drain(c);
}

/* Reading ----------------------------------------------------------------------------------------*/

/* The record rule: no TLS record holds bytes of more than one packet, and no packet those of two records. */
static void follow_packets(Conn *c, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n;) {
    if (c->packet_left > 0) {
      size_t step = n - i < c->packet_left ? n - i : c->packet_left;
      c->packet_left -= step;
      i += step;
    } else {
      c->header[c->header_n++] = p[i++];
      if (c->header_n < 8) continue;
      unsigned length = (unsigned)(c->header[2] << 8 | c->header[3]);
      c->packet_left = length > 8 ? length - 8 : 0;
      c->header_n = 0;
    }
    bool between = c->packet_left == 0 && c->header_n == 0;
    if (between && i < n) {
      c->spanning++;
      violation(c, true,
                "a TLS record of %zu bytes goes on for %zu bytes after the end of a packet", n,
                n - i);
    }
  }
  if (c->packet_left > 0 || c->header_n > 0) {
    c->spanning++;
    violation(c, true, "a TLS record of %zu bytes ends inside a packet", n);
  }
}

/* Moves what TLS holds into plain.  SSL_read answers the bytes of one record at most. */
static bool decrypt(Conn *c) {
  for (;;) {
    uint8_t record[17000];
    ERR_clear_error();
    int n = SSL_read(c->ssl, record, sizeof record);
    if (n > 0) {
      if (c->strict || c->logged_in || !c->login_only) follow_packets(c, record, (size_t)n);
      buf_add(&c->plain, record, (size_t)n);
      continue;
    }
    drain(c); /* an alert, or a key update */
    int why = SSL_get_error(c->ssl, n);
    return why == SSL_ERROR_WANT_READ;
  }
}

/* Bytes from the socket; 0 at its end, -1 with EAGAIN when time is up. */
static ssize_t receive(Conn *c, uint8_t *space, size_t room, int timeout) {
  struct pollfd p = {.fd = c->fd, .events = POLLIN};
  int ready = poll(&p, 1, timeout);
  if (ready < 0 && errno == EINTR) ready = 0;
  if (ready == 0) {
    errno = EAGAIN;
    return -1;
  }
  ssize_t n = recv(c->fd, space, room, MSG_DONTWAIT);
  if (n > 0) c->received += (uint64_t)n;
  return n;
}

bool net_fill(Conn *c, int timeout) {
  uint8_t space[16384];
  if (c->dead) return false;
  if (c->logged_in && c->fault.slow_read > 0) nap((int)c->fault.slow_read);
  ssize_t n = receive(c, space, sizeof space, timeout);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
    errno = EAGAIN;
    return false;
  }
  if (n <= 0) {
    errno = 0;
    return false;
  }
  if (c->layer == LAYER_CLEAR) {
    buf_add(&c->plain, space, (size_t)n);
    return true;
  }
  BIO_write(c->from_net, space, (int)n);
  if (decrypt(c)) return true;
  errno = 0;
  return c->plain.n > 0;
}

/* TLS --------------------------------------------------------------------------------------------*/

/* Offered `tds/8.0`, we choose it; a strict client that does not offer it breaks a rule. */
static int choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_n,
                       const unsigned char *in, unsigned in_n, void *unused) {
  static const unsigned char ours[] = "\x07tds/8.0", wrong[] = "http/1.1";
  Conn *c = SSL_get_app_data(ssl);
  unsigned char *chosen;
  (void)unused;
  if (c->fault.alpn == 1) return SSL_TLSEXT_ERR_NOACK;
  if (c->fault.alpn == 2) {
    *out = wrong;
    *out_n = 8;
    return SSL_TLSEXT_ERR_OK;
  }
  if (SSL_select_next_proto(&chosen, out_n, ours, 8, in, in_n) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

/* A session is offered by a ticket (TLS 1.2, or its id) or by pre_shared_key (1.3). */
int net_look_at_hello(SSL *ssl, int *alert, void *unused) {
  const Conn *c = SSL_get_app_data(ssl);
  const unsigned char *p;
  size_t n;
  (void)unused;
  if (!c->fault.no_resume) return SSL_CLIENT_HELLO_SUCCESS;
  bool offered = SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_psk, &p, &n) == 1 ||
                 (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_session_ticket, &p, &n) == 1 && n > 0);
  *alert = SSL_AD_HANDSHAKE_FAILURE;
  return offered ? SSL_CLIENT_HELLO_ERROR : SSL_CLIENT_HELLO_SUCCESS;
}

static void count_handshake(Conn *c) {
  pthread_mutex_lock(&c->server->lock);
  c->server->handshakes++;
  c->server->resumed += SSL_session_reused(c->ssl) ? 1 : 0;
  pthread_mutex_unlock(&c->server->lock);
}

static bool prepare_tls(Conn *c, bool wrapped) {
  pthread_mutex_lock(&c->server->lock);
  c->ssl = SSL_new(c->server->tls[c->server->cert]);
  int min = c->server->tls_min, max = c->server->tls_max;
  pthread_mutex_unlock(&c->server->lock);
  c->from_net = BIO_new(BIO_s_mem());
  c->to_net = BIO_new(BIO_s_mem());
  if (c->ssl == NULL || c->from_net == NULL || c->to_net == NULL) return false;
  BIO_set_mem_eof_return(c->from_net, -1);
  BIO_set_mem_eof_return(c->to_net, -1);
  SSL_set_bio(c->ssl, c->from_net, c->to_net);
  SSL_set_app_data(c->ssl, c);
  SSL_set_accept_state(c->ssl);
  SSL_set_min_proto_version(c->ssl, wrapped ? TLS1_2_VERSION : min);
  SSL_set_max_proto_version(c->ssl, wrapped ? TLS1_2_VERSION : max);
  if (!wrapped) SSL_CTX_set_alpn_select_cb(SSL_get_SSL_CTX(c->ssl), choose_alpn, NULL);
  return true;
}

/* The handshake's bytes from the client: bare, or the payload of PRELOGIN packets. */
static bool feed(Conn *c, bool wrapped) {
  if (c->plain.n == 0 && !net_fill(c, 30000)) return false;
  if (!wrapped) {
    BIO_write(c->from_net, c->plain.p, (int)c->plain.n);
    c->plain.n = 0;
    return true;
  }
  while (c->plain.n < 8) {
    if (!net_fill(c, 30000)) return false;
  }
  size_t n = (size_t)(c->plain.p[2] << 8 | c->plain.p[3]);
  if (c->plain.p[0] != P_PRELOGIN || n < 8) {
    violation(c, false, "a packet of type %u amid the TLS handshake", c->plain.p[0]);
    return false;
  }
  if (n > 4096) violation(c, false, "a PRELOGIN packet of %zu bytes", n);
  while (c->plain.n < n) {
    if (!net_fill(c, 30000)) return false;
  }
  BIO_write(c->from_net, c->plain.p + 8, (int)(n - 8));
  buf_cut(&c->plain, n);
  return true;
}

/* And to it. */
static void answer(Conn *c, bool wrapped) {
  char *p;
  long n = BIO_get_mem_data(c->to_net, &p);
  for (long i = 0; wrapped && i < n;) {
    long step = n - i > 4088 ? 4088 : n - i;
    uint8_t packet[4096] = {
        P_PRELOGIN, i + step == n, (uint8_t)((step + 8) >> 8), (uint8_t)(step + 8), 0, 0, 1, 0};
    memcpy(packet + 8, p + i, (size_t)step);
    raw_write(c, packet, (size_t)step + 8);
    i += step;
  }
  if (!wrapped && n > 0) raw_write(c, (const uint8_t *)p, (size_t)n);
  (void)BIO_reset(c->to_net);
}

bool net_start_tls(Conn *c, bool wrapped) {
  if (!prepare_tls(c, wrapped)) return false;
  for (;;) {
    ERR_clear_error();
    int done = SSL_do_handshake(c->ssl);
    answer(c, wrapped);
    if (done == 1) break;
    if (SSL_get_error(c->ssl, done) != SSL_ERROR_WANT_READ || c->dead || !feed(c, wrapped))
      return false;
  }
  count_handshake(c);
  const unsigned char *protocol;
  unsigned n;
  SSL_get0_alpn_selected(c->ssl, &protocol, &n);
  if (!wrapped && n == 0 && c->fault.alpn == 0)
    violation(c, false, "no ALPN tds/8.0 in a strict connection");
  c->layer = LAYER_TLS;
  if (c->plain.n > 0) { /* what came bare behind the handshake */
    BIO_write(c->from_net, c->plain.p, (int)c->plain.n);
    c->plain.n = 0;
  }
  return !c->dead && decrypt(c);
}
