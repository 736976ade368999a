/*
** wolfssl.c: a test server over wolfSSL; see server.h. -suites is a list of its names.
*/
#include <wolfssl/options.h>
#include <wolfssl/ssl.h>

#include "server.h"

static WOLFSSL_CTX *context;

static int accept_any(int ok, WOLFSSL_X509_STORE_CTX *store) {
  (void)ok, (void)store;
  return 1;
}

static int live_ready(void) {
  wolfSSL_Init();
  context = wolfSSL_CTX_new(wolfSSLv23_server_method());
  if (!context) return 0;
  if (live.request) wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_PEER, accept_any);
  if (live.suites && wolfSSL_CTX_set_cipher_list(context, live.suites) != WOLFSSL_SUCCESS) return 0;
  if (live.group) {
    int groups[1] = {strcmp(live.group, "P-384") == 0 ? WOLFSSL_ECC_SECP384R1
                                                      : WOLFSSL_ECC_SECP256R1};
    if (wolfSSL_CTX_set_groups(context, groups, 1) != WOLFSSL_SUCCESS) return 0;
  }
  return wolfSSL_CTX_use_certificate_chain_file(context, live.certificate) == WOLFSSL_SUCCESS &&
         wolfSSL_CTX_use_PrivateKey_file(context, live.key, WOLFSSL_FILETYPE_PEM) ==
             WOLFSSL_SUCCESS;
}

static int echo(WOLFSSL *s) {
  static char bytes[16384];
  int n, reads = 0;
  while ((n = wolfSSL_read(s, bytes, sizeof bytes)) > 0) {
    if (wolfSSL_write(s, bytes, n) != n) return 0;
    if (++reads <= live.updates && wolfSSL_update_keys(s) != WOLFSSL_SUCCESS) return 0;
  }
  return wolfSSL_get_error(s, n) == WOLFSSL_ERROR_ZERO_RETURN;
}

static int live_serve(int fd) {
  WOLFSSL *s = wolfSSL_new(context);
  int ok = 0, rc;
  if (!s) return 0;
  wolfSSL_set_fd(s, fd);
  if ((rc = wolfSSL_accept(s)) == WOLFSSL_SUCCESS) {
    printf("%s %s %s\n", wolfSSL_session_reused(s) ? "resumed" : "new", wolfSSL_get_version(s),
           wolfSSL_get_cipher_name(s));
    ok = echo(s);
    wolfSSL_shutdown(s);
  } else {
    char text[80];
    printf("handshake: %s\n",
           wolfSSL_ERR_error_string((unsigned long)wolfSSL_get_error(s, rc), text));
  }
  wolfSSL_free(s);
  return ok;
}
