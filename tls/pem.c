/*
** pem.c: certificates in PEM (RFC 7468): what stands between two lines, in base64.
**
** Text outside of blocks, and blocks of other kinds (keys; OpenSSL's TRUSTED CERTIFICATE), are
** passed over. Blanks and line ends are as they come (7468 3, the lax syntax), the padding is not:
** one text for each certificate.
*/
#include "x509Int.h"

static const tls_bytes begin = {(const uint8_t *)"-----BEGIN CERTIFICATE-----", 27};
static const tls_bytes end = {(const uint8_t *)"-----END CERTIFICATE-----", 25};

/* Whether words stand at a place that a line begins at. */
static int is_at(const char *text, size_t n, size_t at, tls_bytes words) {
  return (at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r') && n - at >= words.n &&
         memcmp(text + at, words.p, words.n) == 0;
}

/* Where words next begin a line, or n. */
static size_t find(const char *text, size_t n, size_t at, tls_bytes words) {
  while (at < n && !is_at(text, n, at, words)) {
    const char *line = memchr(text + at, '\n', n - at);
    const char *other = memchr(text + at, '\r', line ? (size_t)(line - text) - at : n - at);
    if (other) line = other;
    at = line ? (size_t)(line - text) + 1 : n;
  }
  return at;
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Base64 (RFC 4648 4), padded, its spare bits zero. */
static ecr_status decode(const char *text, size_t n, uint8_t *out, size_t room, size_t *size) {
  uint32_t bits = 0;
  unsigned have = 0, padding = 0;
  *size = 0;
  for (size_t i = 0; i < n; i++) {
    if (is_blank(text[i])) continue;
    if (text[i] == '=') {
      padding++;
      continue;
    }
    const int value = value_of(text[i]);
    if (value < 0 || padding > 0) return ECR_INVALID;
    bits = bits << 6 | (uint32_t)value;
    have += 6;
    if (have < 8) continue;
    have -= 8;
    if (*size == room) return ECR_SHORT;
    out[(*size)++] = (uint8_t)(bits >> have);
    bits &= (1U << have) - 1;
  }
  /* Two bits left over are made up by one character of padding, four by two; six are of a character
  ** that gives no byte. */
  return padding <= 2 && padding == have / 2 && bits == 0 ? ECR_OK : ECR_INVALID;
}

ecr_status tls_pem_next(const char *text, size_t n, size_t *at, uint8_t *out, size_t room,
                        size_t *size) {
  const size_t from = find(text, n, *at, begin);
  *size = 0;
  *at = n;
  if (from == n) return ECR_NOT_FOUND;
  const size_t body = from + begin.n, to = find(text, n, body, end);
  /* A block that another one begins in is broken off; the other may be whole. */
  const size_t again = find(text, to, body, begin);
  if (to == n || again != to) {
    *at = again != to ? again : n;
    return ECR_INVALID;
  }
  *at = to + end.n;
  return decode(text + body, to - body, out, room, size);
}
