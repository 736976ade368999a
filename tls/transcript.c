/*
** tls/transcript.c: the running hash of the handshake's messages (RFC 8446 4.4.1).
*/
#include "tlsInt.h"

void tls_transcript_start(tls_transcript *t, const ecr_hash *hash) {
  t->hash = hash;
  hash->init(&t->context);
}

void tls_transcript_add(tls_transcript *t, tls_bytes message) {
  t->hash->update(&t->context, message.p, message.n);
}

/* "the value of ClientHello1 is replaced with a special synthetic handshake message of handshake
** type "message_hash" containing Hash(ClientHello1)". */
void tls_transcript_retry(tls_transcript *t) {
  uint8_t message[4 + ECR_HASH_MAX] = {TLS_MESSAGE_HASH, 0, 0, (uint8_t)t->hash->size};
  t->hash->digest(&t->context, message + 4);
  t->hash->init(&t->context);
  t->hash->update(&t->context, message, 4 + t->hash->size);
}

void tls_transcript_digest(const tls_transcript *t, uint8_t *out) {
  t->hash->digest(&t->context, out);
}
