/*
** tls_openssl.c: a client on libssl, for the tls group; see tls_client.h.
*/
#include "participant.h"

#include <openssl/ssl.h>

#include "tls_client.h"

static SSL_CTX *context;
static SSL *ssl;

static void bench_ready(void) {
  context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
  /* Few calls of the system, as tlsc makes few. */
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, BENCH_IN);
  if (SSL_CTX_load_verify_locations(context, bench_roots, NULL) != 1 ||
      SSL_CTX_set1_groups_list(context, "X25519") != 1 ||
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1 ||
      SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) {
    bench_fail("setting up");
  }
}

static void bench_open(int fd) {
  ssl = SSL_new(context);
  if (!ssl || SSL_set1_host(ssl, bench_server) != 1 ||
      SSL_set_tlsext_host_name(ssl, bench_server) != 1 || SSL_set_fd(ssl, fd) != 1 ||
      SSL_connect(ssl) != 1) {
    bench_fail("the handshake");
  }
}

static void bench_write(const char *text) {
  if (SSL_write(ssl, text, (int)strlen(text)) <= 0) bench_fail("writing");
}

static int bench_read(char *in, int n) { return SSL_read(ssl, in, n); }

static void bench_close(void) {
  SSL_shutdown(ssl);
  SSL_free(ssl);
}

static const char *bench_version(void) { return OpenSSL_version(OPENSSL_VERSION); }
