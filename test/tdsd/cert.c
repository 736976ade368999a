/*
** A certificate authority of our own and what it signs: made anew at each start, so that nothing
** expires and no key stands in a repository.
*/
#include "tdsd.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

const char *const cert_names[CERT_COUNT] = {"good", "wrong-name", "expired", "self-signed"};

static bool extend(X509 *cert, X509 *issuer, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  bool ok = extension != NULL && X509_add_ext(cert, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return ok;
}

/* What one certificate says.  Days count from now. */
typedef struct {
  const char *name, *alternative;
  long serial, from, to;
  bool is_ca;
} Wish;

static X509 *make(const Wish *wish, EVP_PKEY *key, X509 *ca, EVP_PKEY *ca_key) {
  X509 *cert = X509_new();
  X509 *issuer = ca ? ca : cert;
  X509_set_version(cert, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert), wish->serial);
  X509_gmtime_adj(X509_getm_notBefore(cert), wish->from * 86400);
  X509_gmtime_adj(X509_getm_notAfter(cert), wish->to * 86400);
  X509_set_pubkey(cert, key);
  X509_NAME *name = X509_get_subject_name(cert);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)wish->name, -1, -1,
                             0);
  X509_set_issuer_name(cert, X509_get_subject_name(issuer));
  bool ok =
      extend(cert, issuer, NID_basic_constraints, wish->is_ca ? "critical,CA:TRUE" : "CA:FALSE") &&
      extend(cert, issuer, NID_key_usage,
             wish->is_ca ? "critical,keyCertSign,cRLSign" : "digitalSignature,keyEncipherment") &&
      extend(cert, issuer, NID_subject_key_identifier, "hash") &&
      (ca == NULL || extend(cert, issuer, NID_authority_key_identifier, "keyid:always")) &&
      (wish->is_ca || extend(cert, issuer, NID_ext_key_usage, "serverAuth")) &&
      (wish->alternative == NULL ||
       extend(cert, issuer, NID_subject_alt_name, wish->alternative)) &&
      X509_sign(cert, ca_key ? ca_key : key, EVP_sha256()) > 0;
  if (ok) return cert;
  X509_free(cert);
  return NULL;
}

static bool save(const char *dir, const char *name, const char *suffix, X509 *cert, X509 *chain,
                 EVP_PKEY *key) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%s", dir, name, suffix);
  FILE *file = fopen(path, "w");
  if (file == NULL) return false;
  bool ok = (cert == NULL || PEM_write_X509(file, cert)) &&
            (chain == NULL || PEM_write_X509(file, chain)) &&
            (key == NULL || PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL));
  return fclose(file) == 0 && ok;
}

bool cert_make(const char *dir) {
  static const Wish wishes[CERT_COUNT] = {
      {"localhost", "DNS:localhost,DNS:*.routed.test,IP:127.0.0.1,IP:::1", 2, -1, 30, false},
      {"elsewhere.test", "DNS:elsewhere.test", 3, -1, 30, false},
      {"localhost", "DNS:localhost,IP:127.0.0.1", 4, -30, -1, false},
      {"localhost", "DNS:localhost,IP:127.0.0.1", -5, -1, 30, false},
  };
  static const Wish authority = {"tdsd test authority", NULL, 1, -60, 60, true};
  EVP_PKEY *ca_key = EVP_RSA_gen(2048);
  X509 *ca = ca_key ? make(&authority, ca_key, NULL, NULL) : NULL;
  bool ok = ca != NULL && save(dir, "ca", "pem", ca, NULL, NULL);
  for (int i = 0; i < CERT_COUNT && ok; i++) {
    /* Both kinds of key are met: RSA, and P-256 for those that are refused. */
    EVP_PKEY *key =
        i == CERT_GOOD || i == CERT_SELF_SIGNED ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
    bool self = i == CERT_SELF_SIGNED;
    X509 *cert = key ? make(&wishes[i], key, self ? NULL : ca, self ? NULL : ca_key) : NULL;
    ok = cert != NULL && save(dir, cert_names[i], "pem", cert, self ? NULL : ca, NULL) &&
         save(dir, cert_names[i], "key", NULL, NULL, key);
    X509_free(cert);
    EVP_PKEY_free(key);
  }
  X509_free(ca);
  EVP_PKEY_free(ca_key);
  return ok;
}
