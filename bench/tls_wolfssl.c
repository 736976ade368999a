/*
** tls_wolfssl.c: a client on wolfSSL, for the tls group; see tls_client.h.
*/
#include "participant.h"

#include <wolfssl/options.h>
#include <wolfssl/ssl.h>

#include "tls_client.h"

static WOLFSSL_CTX *context;
static WOLFSSL *ssl;

static void bench_ready(void) {
  wolfSSL_Init();
  context = wolfSSL_CTX_new(wolfTLSv1_3_client_method());
  if (!context ||
      wolfSSL_CTX_load_verify_locations(context, bench_roots, NULL) != WOLFSSL_SUCCESS ||
      wolfSSL_CTX_set_cipher_list(context, "TLS13-AES128-GCM-SHA256") != WOLFSSL_SUCCESS) {
    bench_fail("setting up");
  }
  wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_PEER, NULL);
  wolfSSL_CTX_set_session_cache_mode(context, WOLFSSL_SESS_CACHE_OFF);
}

static void bench_open(int fd) {
  ssl = wolfSSL_new(context);
  if (!ssl || wolfSSL_check_domain_name(ssl, bench_server) != WOLFSSL_SUCCESS ||
      wolfSSL_UseSNI(ssl, WOLFSSL_SNI_HOST_NAME, bench_server,
                     (unsigned short)strlen(bench_server)) != WOLFSSL_SUCCESS ||
      wolfSSL_UseKeyShare(ssl, WOLFSSL_ECC_X25519) != WOLFSSL_SUCCESS ||
      wolfSSL_set_fd(ssl, fd) != WOLFSSL_SUCCESS || wolfSSL_connect(ssl) != WOLFSSL_SUCCESS) {
    bench_fail("the handshake");
  }
}

static void bench_write(const char *text) {
  if (wolfSSL_write(ssl, text, (int)strlen(text)) <= 0) bench_fail("writing");
}

static int bench_read(char *in, int n) { return wolfSSL_read(ssl, in, n); }

static void bench_close(void) {
  wolfSSL_shutdown(ssl);
  wolfSSL_free(ssl);
}

static const char *bench_version(void) { return "wolfSSL " LIBWOLFSSL_VERSION_STRING; }
