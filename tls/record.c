/*
** tls/record.c: one record, opened in place or made (RFC 8446 5; RFC 5246 6.2, RFC 5288, RFC 7905).
**
** Nothing here trusts the cipher with anything but the plaintext: sizes are reckoned before it is
** called, and what it leaves where it refuses is zeroed.
*/
#include "tlsInt.h"

static const tls_content good = {.alert = TLS_ALERT_NONE};

static tls_content refuse(tls_alert alert, const char *reason) {
  const tls_content content = {.alert = alert, .reason = reason};
  return content;
}

static size_t fragment_size(const uint8_t *header) { return (size_t)(header[3] << 8 | header[4]); }

tls_content tls_record_header(const tls_protection *p, const uint8_t header[TLS_HEADER]) {
  const size_t n = fragment_size(header);
  if (header[0] < TLS_CHANGE_CIPHER_SPEC || header[0] > TLS_APPLICATION_DATA || header[1] != 3) {
    return refuse(TLS_ALERT_UNEXPECTED_MESSAGE, "what came is not TLS");
  }
  /* TLS 1.3's CCS are never protected (5). */
  if (header[0] == TLS_CHANGE_CIPHER_SPEC || !p->aead) {
    /* "The length MUST NOT exceed 2^14 bytes" (5.1). */
    if (n > TLS_PLAIN_MAX) return refuse(TLS_ALERT_RECORD_OVERFLOW, "a record is too long");
    return good;
  }
  /* "The length MUST NOT exceed 2^14 + 256 bytes" (5.2). */
  if (n > TLS_PROTECTED_MAX) return refuse(TLS_ALERT_RECORD_OVERFLOW, "a record is too long");
  return good;
}

/* RFC 8446 5.3, RFC 7905 2: the sequence number over the end of the IV; RFC 5288 3: behind the
** salt. */
static void make_nonce(const tls_protection *p, const uint8_t *sequence, uint8_t nonce[ECR_NONCE]) {
  memcpy(nonce, p->iv, ECR_NONCE);
  for (int i = 0; i < 8; i++) {
    nonce[4 + i] = p->explicit_nonce ? sequence[i] : (uint8_t)(nonce[4 + i] ^ sequence[i]);
  }
}

static void put_sequence(uint8_t out[8], uint64_t sequence) {
  for (int i = 0; i < 8; i++) out[i] = (uint8_t)(sequence >> (56 - 8 * i));
}

/* The additional data: TLS 1.3's header (5.2); or sequence, type, version and plaintext's size (RFC
** 5246 6.2.3.3). */
static size_t make_aad(const tls_protection *p, const uint8_t *header, size_t n,
                       uint8_t aad[8 + TLS_HEADER]) {
  if (p->version == TLS_1_3) {
    memcpy(aad, header, TLS_HEADER);
    return TLS_HEADER;
  }
  put_sequence(aad, p->sequence);
  memcpy(aad + 8, header, 3);
  aad[11] = (uint8_t)(n >> 8);
  aad[12] = (uint8_t)n;
  return 13;
}

/* The type stands behind the content and before the padding, which is zeros (RFC 8446 5.2, 5.4). */
static tls_content strip(uint8_t *p, size_t n) {
  /* "the full encoded TLSInnerPlaintext MUST NOT exceed 2^14 + 1 octets" (5.4) */
  const size_t inner = n;
  while (n > 0 && p[n - 1] == 0) n--;
  if (n == 0) return refuse(TLS_ALERT_UNEXPECTED_MESSAGE, "a record is padding alone");
  if (inner > TLS_PLAIN_MAX + 1) {
    return refuse(TLS_ALERT_RECORD_OVERFLOW, "a record holds too much");
  }
  tls_content content = good;
  content.type = p[n - 1];
  content.p = p;
  content.n = n - 1;
  return content;
}

static tls_content open_protected(tls_protection *p, uint8_t *record, size_t size) {
  const size_t before = TLS_HEADER + p->explicit_nonce;
  uint8_t sequence[8], nonce[ECR_NONCE], aad[8 + TLS_HEADER];
  /* An unprotected record after the keys are there (RFC 8446 5.2: opaque_type is application_data).
  ** */
  if (p->version == TLS_1_3 && record[0] != TLS_APPLICATION_DATA) {
    return refuse(TLS_ALERT_UNEXPECTED_MESSAGE, "a record is not protected");
  }
  if (size < before + ECR_TAG) {
    return refuse(TLS_ALERT_BAD_RECORD_MAC, "a record is too short to be protected");
  }
  /* "Sequence numbers MUST NOT wrap" (5.3). */
  if (p->sequence == UINT64_MAX) {
    return refuse(TLS_ALERT_INTERNAL_ERROR, "the sequence of records has come to its end");
  }
  const size_t n = size - before - ECR_TAG;
  uint8_t *text = record + before;
  if (p->explicit_nonce) {
    memcpy(sequence, record + TLS_HEADER, sizeof sequence);
  } else {
    put_sequence(sequence, p->sequence);
  }
  make_nonce(p, sequence, nonce);
  const size_t aad_size = make_aad(p, record, n, aad);
  if (p->aead->open(&p->context, nonce, aad, aad_size, text, n + ECR_TAG, text, n) != ECR_OK) {
    memset(text, 0, n);
    return refuse(TLS_ALERT_BAD_RECORD_MAC, "a record was not sealed by the server");
  }
  p->sequence++;
  if (p->version == TLS_1_3) return strip(text, n);
  /* "The length MUST NOT exceed 2^14" (RFC 5246 6.2.1). */
  if (n > TLS_PLAIN_MAX) return refuse(TLS_ALERT_RECORD_OVERFLOW, "a record holds too much");
  tls_content content = good;
  content.type = record[0];
  content.p = text;
  content.n = n;
  return content;
}

tls_content tls_record_open(tls_protection *p, uint8_t *record, size_t size) {
  tls_content content = tls_record_header(p, record);
  if (content.alert != TLS_ALERT_NONE) return content;
  const int plain_change =
      record[0] == TLS_CHANGE_CIPHER_SPEC && (!p->aead || p->version == TLS_1_3);
  if (p->aead && !plain_change) {
    content = open_protected(p, record, size);
    /* A CCS within a protected record (5: "abort the handshake with unexpected_message"). */
    if (content.alert == TLS_ALERT_NONE && p->version == TLS_1_3 &&
        (content.type < TLS_ALERT || content.type > TLS_APPLICATION_DATA)) {
      return refuse(TLS_ALERT_UNEXPECTED_MESSAGE, "a record of a type that there is not");
    }
  } else {
    content.type = record[0];
    content.p = record + TLS_HEADER;
    content.n = size - TLS_HEADER;
    if (content.type == TLS_APPLICATION_DATA) {
      return refuse(TLS_ALERT_UNEXPECTED_MESSAGE, "data came in the clear");
    }
  }
  /* "Implementations MUST NOT send zero-length fragments of Handshake types" (5.1), nor of Alert
  ** (5.4). */
  if (content.alert == TLS_ALERT_NONE && content.n == 0 && content.type != TLS_APPLICATION_DATA) {
    return refuse(TLS_ALERT_UNEXPECTED_MESSAGE, "a record is empty");
  }
  return content;
}

size_t tls_record_before(const tls_protection *p) { return TLS_HEADER + p->explicit_nonce; }

size_t tls_record_after(const tls_protection *p) {
  return p->aead ? ECR_TAG + (p->version == TLS_1_3 ? 1 : 0) : 0;
}

ecr_status tls_record_seal(tls_protection *p, int type, const uint8_t *data, size_t n, uint8_t *out,
                           size_t out_size, size_t *written) {
  const size_t before = tls_record_before(p), after = tls_record_after(p);
  const int hidden = p->aead && p->version == TLS_1_3; /* the type */
  uint8_t sequence[8], nonce[ECR_NONCE], aad[8 + TLS_HEADER];
  if (n > TLS_PLAIN_MAX) return ECR_TOO_LONG;
  if (out_size < before + n + after) return ECR_SHORT;
  if (p->aead && p->sequence == UINT64_MAX) return ECR_TOO_LONG;
  uint8_t *text = out + before;
  if (data != text && n) memmove(text, data, n);
  const size_t fragment = before + n + after - TLS_HEADER;
  out[0] = (uint8_t)(hidden ? TLS_APPLICATION_DATA : type);
  out[1] = 3;
  out[2] = 3;
  out[3] = (uint8_t)(fragment >> 8);
  out[4] = (uint8_t)fragment;
  *written = before + n + after;
  if (!p->aead) return ECR_OK;
  put_sequence(sequence, p->sequence);
  if (p->explicit_nonce) memcpy(out + TLS_HEADER, sequence, sizeof sequence);
  make_nonce(p, sequence, nonce);
  const size_t aad_size = make_aad(p, out, n, aad);
  if (hidden) text[n++] = (uint8_t)type;
  const ecr_status status =
      p->aead->seal(&p->context, nonce, aad, aad_size, text, n, text, n + ECR_TAG);
  if (status != ECR_OK) {
    ecr_wipe(text, n);
    return status;
  }
  p->sequence++;
  return ECR_OK;
}
