/*
** drivers/sqlserver_options.c: options.
*/
#include <stdio.h>
#include <string.h>

#include "sqlserver.h"

const edb_option_spec ms_options[] = {
    {"host", 0, "host name or address, or host\\instance"},
    {"port", 0, "port (1433)"},
    {"user", 0, "login"},
    {"password", EDB_OPTION_SECRET, "password"},
    {"database", 0, "database"},
    {"instance", 0, "name of an instance, whose port the server's browser service is asked for"},
    {"browser_port", 0, "UDP port of that service (1434)"},
    {"encrypt", 0,
     "strict (TDS 8.0: all within TLS; default) or mandatory (TDS 7.4, servers before 2022: "
     "encrypted "
     "from the login on). Both verify the server's certificate"},
    {"ca", 0, "file or directory of the authorities that are trusted (default: this system's)"},
    {"pin", 0,
     "SHA-256 of the server's public key (SubjectPublicKeyInfo) in hexadecimal, or some with "
     "commas "
     "between: such a key is trusted, and no authority"},
    {"server_name", 0, "name that the certificate must have, if not the host's"},
    {"cipher", 0,
     "who encrypts: auto, native (this processor's instructions), portable or openssl"},
    {"packet_size", 0, "bytes of a packet to ask for, 512 to 16383 (16383)"},
    {"app", 0, "name by which the server lists the connection (edb)"},
    {"read_only_intent", 0, "1: a readable secondary of an availability group will do"},
    {"connect_timeout", 0, "seconds to wait for the connection"},
    {NULL, 0, NULL},
};

/* A decimal number within bounds, or the default where there is no option. */
static int number_of(const edb_option *options, size_t n, const char *name, unsigned least,
                     unsigned most, unsigned *number, edb_error *error) {
  const char *text = edb_option_get(options, n, name), *p = text;
  unsigned value = 0;
  if (!text) return EDB_OK;
  while (*p >= '0' && *p <= '9' && value <= most) value = value * 10 + (unsigned)(*p++ - '0');
  if (p == text || *p || value > most || value < least) {
    return edb_fail(error, EDB_FAILED, "%s=%s: must be a number from %u to %u", name, text, least,
                    most);
  }
  *number = value;
  return EDB_OK;
}

/* Which of the words the option is; the first where there is none. */
static int word_of(const edb_option *options, size_t n, const char *name, const char *const *words,
                   const char *listed, int *which, edb_error *error) {
  const char *text = edb_option_get(options, n, name);
  *which = 0;
  if (!text) return EDB_OK;
  for (int i = 0; words[i]; i++) {
    if (strcmp(words[i], text) == 0) {
      *which = i;
      return EDB_OK;
    }
  }
  return edb_fail(error, EDB_FAILED, "%s=%s: must be %s", name, text, listed);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static int pins_of(const edb_option *options, size_t n, ms_target *t, edb_error *error) {
  const char *p = edb_option_get(options, n, "pin");
  if (!p) return EDB_OK;
  if (t->ca) {
    edb_fail(error, EDB_FAILED, "ca= and pin=: one of them is wanted");
    edb_fail_hint(error, "with a pin, the server's own key is trusted and no authority");
    return EDB_FAILED;
  }
  for (;;) {
    if (t->n_pins == MS_PINS) return edb_fail(error, EDB_FAILED, "pin=: more than %d", MS_PINS);
    for (size_t i = 0; i < TLS_SPKI_HASH; i++, p += 2) {
      const int high = hex_digit(p[0]), low = high < 0 ? -1 : hex_digit(p[1]);
      if (low < 0) return edb_fail(error, EDB_FAILED, "pin=: must be 64 hexadecimal digits");
      t->pins[t->n_pins][i] = (uint8_t)(high * 16 + low);
    }
    t->n_pins++;
    if (!*p) return EDB_OK;
    if (*p++ != ',') return edb_fail(error, EDB_FAILED, "pin=: must be 64 hexadecimal digits");
  }
}

/* ---- Ciphers --------------------------------------------------------------------------------------------- */

enum { CIPHER_AUTO, CIPHER_NATIVE, CIPHER_PORTABLE, CIPHER_OPENSSL };

/* Automatically: this processor's instructions, else OpenSSL where it is installed, else our own portable code. */
static int ciphers_of(int choice, ms_target *t, edb_error *error) {
  int found = 0;
  for (int i = 0; i < ECR_CIPHERS; i++) {
    const ecr_aead *best = ecr_aead_get((ecr_cipher)i, NULL);
    const int portable = strcmp(best->backend, "portable") == 0;
    const ecr_aead *chosen = NULL;
    if (choice == CIPHER_PORTABLE) chosen = ecr_aead_get((ecr_cipher)i, "portable");
    if (choice == CIPHER_OPENSSL || (choice == CIPHER_AUTO && portable)) {
      chosen = ecr_aead_get((ecr_cipher)i, "openssl");
    }
    if (choice == CIPHER_NATIVE && !portable) chosen = best;
    found |= chosen != NULL;
    t->ciphers[i] = chosen;
  }
  if (found || choice == CIPHER_AUTO) return EDB_OK;
  if (choice == CIPHER_OPENSSL) {
    edb_fail(error, EDB_UNSUPPORTED, "cipher=openssl: libcrypto is not installed");
    edb_fail_hint(error, "install the package libssl3 (Debian, Ubuntu), openssl-libs (Fedora)");
    return EDB_UNSUPPORTED;
  }
  return edb_fail(error, EDB_UNSUPPORTED,
                  "cipher=native: this processor has no instructions for it");
}

/* ---- All of them ----------------------------------------------------------------------------------------- */

/* host\instance, or both options. */
static int place_of(const edb_option *options, size_t n, ms_target *t, edb_error *error) {
  const char *host = edb_option_get(options, n, "host");
  const char *instance = edb_option_get(options, n, "instance");
  if (!host || !*host) host = "localhost";
  const char *back = strchr(host, '\\');
  const size_t length = back ? (size_t)(back - host) : strlen(host);
  if (back && !instance) instance = back + 1;
  if (length == 0 || length >= sizeof t->host ||
      (instance && strlen(instance) >= sizeof t->instance)) {
    return edb_fail(error, EDB_FAILED, "the name of the host or of the instance is too long");
  }
  if (strchr(host, ',')) return edb_fail(error, EDB_FAILED, "more than one host");
  memcpy(t->host, host, length);
  if (instance) memcpy(t->instance, instance, strlen(instance));
  if (t->port && instance) t->instance[0] = 0; /* the port is known */
  return EDB_OK;
}

int ms_target_of(const edb_option *options, size_t n, ms_target *t, edb_error *error) {
  static const char *const encryptions[] = {"strict", "mandatory", NULL};
  static const char *const ciphers[] = {"auto", "native", "portable", "openssl", NULL};
  unsigned read_only = 0, seconds = 0;
  int mandatory, cipher;
  memset(t, 0, sizeof *t);
  t->browser_port = MS_BROWSER_PORT;
  t->packet_size = TLS_PLAIN_MAX - 1;
  t->user = edb_option_get(options, n, "user");
  t->password = edb_option_get(options, n, "password");
  t->database = edb_option_get(options, n, "database");
  t->server_name = edb_option_get(options, n, "server_name");
  t->ca = edb_option_get(options, n, "ca");
  t->app = edb_option_get(options, n, "app");
  if (!t->app) t->app = "edb";
  int rc = number_of(options, n, "port", 1, 65535, &t->port, error);
  if (rc == EDB_OK) rc = place_of(options, n, t, error);
  if (rc == EDB_OK) rc = number_of(options, n, "browser_port", 1, 65535, &t->browser_port, error);
  if (rc == EDB_OK) {
    rc = number_of(options, n, "packet_size", TDS_PACKET_MIN, TLS_PLAIN_MAX - 1, &t->packet_size,
                   error);
  }
  if (rc == EDB_OK) rc = number_of(options, n, "read_only_intent", 0, 1, &read_only, error);
  if (rc == EDB_OK) rc = number_of(options, n, "connect_timeout", 0, 86400, &seconds, error);
  if (rc == EDB_OK) {
    rc = word_of(options, n, "encrypt", encryptions,
                 "strict or mandatory (there is no connection without encryption)", &mandatory,
                 error);
  }
  if (rc == EDB_OK) {
    rc =
        word_of(options, n, "cipher", ciphers, "auto, native, portable or openssl", &cipher, error);
  }
  if (rc == EDB_OK) rc = ciphers_of(cipher, t, error);
  if (rc == EDB_OK) rc = pins_of(options, n, t, error);
  if (rc != EDB_OK) return rc;
  t->strict = !mandatory;
  t->read_only = (int)read_only;
  t->connect_seconds = (int)seconds;
  if (!t->port && !t->instance[0]) t->port = MS_PORT;
  return EDB_OK;
}
