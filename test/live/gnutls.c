/*
** gnutls.c: a test server over GnuTLS; see server.h. -suites is a priority string.
*/
#include <gnutls/gnutls.h>

#include "server.h"

static gnutls_certificate_credentials_t credentials;
static gnutls_priority_t priority;
static gnutls_datum_t ticket_key;

static int live_ready(void) {
  char text[400];
  snprintf(text, sizeof text, "%s%s", live.suites ? live.suites : "NORMAL",
           !live.group                        ? ""
           : strcmp(live.group, "P-384") == 0 ? ":-GROUP-ALL:+GROUP-SECP384R1"
                                              : ":-GROUP-ALL:+GROUP-SECP256R1");
  return gnutls_global_init() == 0 && gnutls_certificate_allocate_credentials(&credentials) == 0 &&
         gnutls_certificate_set_x509_key_file(credentials, live.certificate, live.key,
                                              GNUTLS_X509_FMT_PEM) >= 0 &&
         gnutls_priority_init(&priority, text, NULL) == 0 &&
         gnutls_session_ticket_key_generate(&ticket_key) == 0;
}

static int echo(gnutls_session_t s) {
  static char bytes[16384];
  ssize_t n;
  int reads = 0;
  for (;;) {
    do {
      n = gnutls_record_recv(s, bytes, sizeof bytes);
    } while (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED);
    if (n == 0) return 1;
    if (n < 0) {
      fprintf(stderr, "recv: %s\n", gnutls_strerror((int)n));
      return 0;
    }
    for (ssize_t sent = 0; sent < n;) {
      ssize_t m = live.padding ? gnutls_record_send2(s, bytes + sent, (size_t)(n - sent),
                                                     (size_t)live.padding, 0)
                               : gnutls_record_send(s, bytes + sent, (size_t)(n - sent));
      if (m < 0) return 0;
      sent += m;
    }
    if (++reads <= live.updates && gnutls_session_key_update(s, GNUTLS_KU_PEER) != 0) return 0;
    if (live.late_tickets && gnutls_session_ticket_send(s, 1, 0) != 0) return 0;
  }
}

static int live_serve(int fd) {
  gnutls_session_t s;
  int rc, ok = 0;
  if (gnutls_init(&s, GNUTLS_SERVER) != 0) return 0;
  gnutls_priority_set(s, priority);
  gnutls_credentials_set(s, GNUTLS_CRD_CERTIFICATE, credentials);
  gnutls_session_ticket_enable_server(s, &ticket_key);
  gnutls_certificate_server_set_request(s, live.request ? GNUTLS_CERT_REQUEST : GNUTLS_CERT_IGNORE);
  gnutls_transport_set_int(s, fd);
  do {
    rc = gnutls_handshake(s);
  } while (rc < 0 && !gnutls_error_is_fatal(rc));
  if (rc == 0) {
    char *text = gnutls_session_get_desc(s);
    printf("%s %s\n", gnutls_session_is_resumed(s) ? "resumed" : "new", text);
    gnutls_free(text);
    ok = echo(s) && gnutls_bye(s, GNUTLS_SHUT_WR) == 0;
  } else {
    printf("handshake: %s (alert %d)\n", gnutls_strerror(rc), (int)gnutls_alert_get(s));
  }
  gnutls_deinit(s);
  return ok;
}
