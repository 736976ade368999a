/*
** chain_host.c: judges chains of certificates by tls/, a line of standard input after the other,
** for the suites that have certificates from elsewhere (x509.test, x509_system.test).
**
** Bytes are hexadecimal, `-` where there are none. A request and its answer:
**
**     new                          a trust with nothing in it
**     pem TEXT                     roots from PEM               OK ADDED REFUSED, or the ecr_status
**     der CERTIFICATE              one root
**     pin HASH                     of a SubjectPublicKeyInfo
**     pin_certificate HASH
**     spki_hash CERTIFICATE        OK HASH
**     verify NAME TIME DEPTH CERTIFICATE,…                      OK KIND, or REFUSED ALERT REASON
**                                  NAME: `-` is none; DEPTH: a number, or `none`
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tls/tls.h"

#define ROOTS 400
#define PINS 8
#define CHAIN 200

static tls_anchor anchors[ROOTS];
static uint8_t bytes[1 << 20], pins[2][PINS][32];
static tls_trust trust;

static void broken(const char *why) {
  fprintf(stderr, "chain_host: %s\n", why);
  exit(2);
}

static int digit(char c) {
  static const char digits[] = "0123456789abcdef";
  const char *found = c ? strchr(digits, c | 32) : NULL;
  if (!found) broken("not a hexadecimal digit");
  return (int)(found - digits);
}

/* The bytes of hexadecimal text of that length, in memory that ends where they do, for the
** sanitizers. */
static uint8_t *decode(const char *text, size_t length, size_t *n) {
  *n = length == 1 && *text == '-' ? 0 : length / 2;
  uint8_t *p = malloc(*n ? *n : 1);
  if (!p) broken("no memory");
  for (size_t i = 0; i < *n; i++) {
    p[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
  }
  return p;
}

static void print_status(ecr_status status) {
  static const char *const names[] = {"OK", "REFUSED", "SHORT", "INVALID", "NOT_FOUND", "TOO_LONG"};
  printf("%s", names[status]);
}

static void do_new(char **words) {
  (void)words;
  tls_trust_init(&trust, anchors, ROOTS, bytes, sizeof bytes);
  print_status(ECR_OK);
}

static void do_pem(char **words) {
  tls_added added;
  size_t n;
  uint8_t *p = decode(words[0], strlen(words[0]), &n);
  const ecr_status status = tls_trust_add_pem(&trust, (const char *)p, n, &added);
  print_status(status);
  if (status == ECR_OK) printf(" %zu %zu", added.added, added.refused);
  free(p);
}

static void do_der(char **words) {
  size_t n;
  uint8_t *p = decode(words[0], strlen(words[0]), &n);
  print_status(tls_trust_add_der(&trust, p, n));
  free(p);
}

static void add_pin(const char *word, int kind, size_t *count) {
  size_t n;
  uint8_t *p = decode(word, strlen(word), &n);
  if (n != 32 || *count == PINS) broken("not a pin, or one too many");
  memcpy(pins[kind][(*count)++], p, 32);
  free(p);
  print_status(ECR_OK);
}

static void do_pin(char **words) {
  trust.pins = (const uint8_t(*)[32])pins[0];
  add_pin(words[0], 0, &trust.pin_count);
}

static void do_pin_certificate(char **words) {
  trust.certificate_pins = (const uint8_t(*)[32])pins[1];
  add_pin(words[0], 1, &trust.certificate_pin_count);
}

static void do_spki_hash(char **words) {
  uint8_t hash[TLS_SPKI_HASH];
  size_t n;
  uint8_t *p = decode(words[0], strlen(words[0]), &n);
  const ecr_status status = tls_spki_hash(p, n, hash);
  print_status(status);
  if (status == ECR_OK) printf(" ");
  for (size_t i = 0; status == ECR_OK && i < sizeof hash; i++) printf("%02x", hash[i]);
  free(p);
}

static void do_verify(char **words) {
  static const char *const kinds[] = {"none", "rsa", "rsa_pss", "p256", "p384", "ed25519"};
  const tls_verify verify = {.trust = &trust,
                             .server_name = strcmp(words[0], "-") == 0 ? NULL : words[0],
                             .now = strtoll(words[1], NULL, 10),
                             .max_depth = strcmp(words[2], "none") == 0
                                              ? TLS_DEPTH_NONE
                                              : (unsigned)strtoul(words[2], NULL, 10)};
  tls_bytes chain[CHAIN];
  uint8_t *owned[CHAIN];
  tls_public_key key;
  tls_failure failure;
  size_t n = 0;
  for (const char *p = words[3]; *p; n++) {
    const size_t length = strcspn(p, ",");
    if (n == CHAIN) broken("a chain that is too long for this program");
    owned[n] = decode(p, length, &chain[n].n);
    chain[n].p = owned[n];
    p += length + (p[length] == ',');
  }
  if (tls_verify_chain(&verify, chain, n, &key, &failure) == ECR_OK) {
    printf("OK %s", kinds[key.kind]);
  } else {
    printf("REFUSED %s %s", tls_alert_name((int)failure.alert), failure.reason);
    if (key.kind != TLS_KEY_NONE) broken("a refused chain left a key");
  }
  for (size_t i = 0; i < n; i++) free(owned[i]);
}

static const struct operation {
  const char *name;
  int words;
  void (*run)(char **words);
} operations[] = {
    {"new", 0, do_new},
    {"pem", 1, do_pem},
    {"der", 1, do_der},
    {"pin", 1, do_pin},
    {"pin_certificate", 1, do_pin_certificate},
    {"spki_hash", 1, do_spki_hash},
    {"verify", 4, do_verify},
};

static void request(char *line) {
  char *words[8] = {0};
  int n = 0;
  line[strcspn(line, "\n")] = 0;
  for (char *p = line; p && n < 8; n++) {
    words[n] = p;
    p = strchr(p, ' ');
    if (p) *p++ = 0;
  }
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    if (strcmp(operations[i].name, words[0]) != 0 || operations[i].words != n - 1) continue;
    operations[i].run(words + 1);
    printf("\n");
    return;
  }
  broken("a request that is none");
}

int main(void) {
  char *line = NULL;
  size_t size = 0;
  tls_trust_init(&trust, anchors, ROOTS, bytes, sizeof bytes);
  while (getline(&line, &size, stdin) > 0) request(line);
  free(line);
  return 0;
}
