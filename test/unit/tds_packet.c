/*
** TDS packets: messages laid out in packets of every size, received in every pair of pieces.
*/
#include "primitives.h"

#include "tds/tds.h"

/* ---- Outgoing -------------------------------------------------------------------------------- */

/* What the headers must say, told apart from how they are written. */
static size_t payload_of(const uint8_t *p, size_t n, size_t packet_size, uint8_t type, int number,
                         int last, uint8_t *out) {
  CHECK(n >= 8 && n <= packet_size);
  CHECK_INT(p[0], type);
  CHECK_INT(p[1], last);
  CHECK_INT((p[2] << 8) + p[3], n);
  CHECK_INT(p[4] + p[5] + p[7], 0);
  CHECK_INT(p[6], number & 255);
  if (!last) CHECK_INT(n, packet_size);
  memcpy(out, p + 8, n - 8);
  return n - 8;
}

static void message(size_t packet_size, size_t length) {
  static uint8_t buffer[300000], text[200000], back[300000];
  tds_message m;
  const uint8_t *p;
  size_t n, got = 0;
  int number = 1;
  fill(text, length, 7);
  tds_message_begin(&m, TDS_RPC, packet_size, buffer, sizeof buffer);
  for (size_t i = 0, piece = 1; i < length; i += piece, piece = piece * 2 + 1) {
    if (piece > length - i) piece = length - i;
    tds_put(&m, text + i, piece);
  }
  const size_t payload = packet_size - 8;
  const size_t packets = length ? (length + payload - 1) / payload : 1;
  CHECK_INT(m.n, length + 8 * packets);
  /* Before the end, all but the last packet is there. */
  for (; tds_message_next(&m, &p, &n) == TDS_OK; number++) {
    got += payload_of(p, n, packet_size, TDS_RPC, number, 0, back + got);
  }
  CHECK_INT(number, packets);
  tds_message_end(&m);
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_OK);
  got += payload_of(p, n, packet_size, TDS_RPC, number, 1, back + got);
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_END);
  CHECK_BYTES(back, got, text, length);
}

/* A buffer that is too small is told how large it must be, and nothing is written behind it. */
static void small_buffer(void) {
  for (size_t size = 0; size < 1040; size += 13) {
    uint8_t *buffer = guarded(size ? size : 1);
    tds_message m;
    const uint8_t *p;
    size_t n;
    tds_message_begin(&m, TDS_BATCH, 512, buffer, size);
    for (int i = 0; i < 100; i++) tds_put_u64(&m, 1);
    tds_put_u32(&m, 2);
    tds_message_end(&m);
    CHECK_INT(m.n, 804 + 16);
    CHECK_INT(tds_message_next(&m, &p, &n), size < 820 ? TDS_ROOM : TDS_OK);
  }
}

/* Rows of a bulk load go through a buffer that is smaller than all of them. */
static void flushed(void) {
  uint8_t buffer[1200], back[60000];
  tds_message m;
  const uint8_t *p;
  size_t n, got = 0;
  int number = 1;
  tds_message_begin(&m, TDS_BULK, 512, buffer, sizeof buffer);
  for (uint32_t i = 0; i < 10000; i++) {
    tds_put_u32(&m, i);
    while (tds_message_next(&m, &p, &n) == TDS_OK) {
      got += payload_of(p, n, 512, TDS_BULK, number++, 0, back + got);
    }
    tds_message_flush(&m);
  }
  CHECK(m.n <= sizeof buffer);
  tds_message_end(&m);
  while (tds_message_next(&m, &p, &n) == TDS_OK) {
    got += payload_of(p, n, 512, TDS_BULK, number, got + n - 8 == 40000, back + got);
  }
  CHECK_INT(got, 40000);
  int wrong = 0;
  for (uint32_t i = 0; i < 10000; i++) {
    wrong += back[4 * i] != (i & 255) || back[4 * i + 1] != i >> 8 || back[4 * i + 2] != 0;
  }
  CHECK_INT(wrong, 0);
}

static void reset_and_cancel(void) {
  uint8_t buffer[4096];
  tds_message m;
  const uint8_t *p;
  size_t n;
  tds_message_begin(&m, TDS_BATCH, 512, buffer, sizeof buffer);
  tds_message_reset(&m, TDS_RESET);
  for (int i = 0; i < 200; i++) tds_put_u64(&m, 1);
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_OK);
  CHECK_INT(p[1], TDS_RESET);
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_OK);
  CHECK_INT(p[1], 0); /* the first packet alone */
  tds_message_cancel(&m);
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_OK);
  CHECK_HEX(p, n, "0103 0008 0000 03 00");
  CHECK_INT(tds_message_next(&m, &p, &n), TDS_END);

  tds_message_begin(&m, TDS_BATCH, 100, buffer, sizeof buffer);
  CHECK_STR(m.refused, "a packet size out of range");
  memset(buffer, 1, sizeof buffer);
  tds_message_begin(&m, TDS_LOGIN7, 4096, buffer, sizeof buffer);
  tds_message_wipe(&m);
  int left = 0;
  for (size_t i = 0; i < sizeof buffer; i++) left += buffer[i];
  CHECK_INT(left, 0);
}

/* ---- Incoming --------------------------------------------------------------------------------- */

typedef struct seen {
  uint8_t payload[64];
  size_t n;
  int ends;
  size_t end_at[8];
} seen;

static tds_status take(tds_packets *k, seen *s, const uint8_t *p, size_t n) {
  tds_chunk chunk;
  tds_status status;
  while ((status = tds_packets_next(k, &p, &n, &chunk)) == TDS_OK) {
    CHECK_INT(chunk.type, TDS_REPLY);
    CHECK(chunk.n > 0 || chunk.last);
    memcpy(s->payload + s->n, chunk.p, chunk.n);
    s->n += chunk.n;
    if (chunk.last) s->end_at[s->ends++] = s->n;
  }
  if (status == TDS_MORE) CHECK_INT(n, 0);
  return status;
}

static void received(void) {
  /* Two packets and an empty last one; a message of one packet; an empty message. */
  const bytes in = hex("0400000b00000100 010203  0400000a00000200 0405  0401000800000300"
                       "0401000900000100 06  0401000800000100");
  for (size_t a = 0; a <= in.n; a++) {
    for (size_t b = a; b <= in.n; b++) {
      tds_packets k = {0};
      seen s = {0};
      CHECK_INT(take(&k, &s, in.p, a), TDS_MORE);
      CHECK_INT(take(&k, &s, in.p + a, b - a), TDS_MORE);
      CHECK_INT(take(&k, &s, in.p + b, in.n - b), TDS_MORE);
      CHECK_HEX(s.payload, s.n, "010203040506");
      CHECK(s.ends == 3 && s.end_at[0] == 5 && s.end_at[1] == 6 && s.end_at[2] == 6);
    }
  }
  static const char *const lies[] = {"0401000700000100", "0401000000000100", "0401800000000100",
                                     "0401ffff00000100"};
  for (size_t i = 0; i < 4; i++) {
    tds_packets k = {0};
    seen s = {0};
    const bytes lie = hex(lies[i]);
    CHECK_INT(take(&k, &s, lie.p, lie.n), TDS_MALFORMED);
  }
}

int main(void) {
  static const size_t sizes[] = {512, 513, 4096, 8000, 16383, 32767};
  for (size_t i = 0; i < 6; i++) {
    const size_t payload = sizes[i] - 8;
    for (size_t length = 0; length < 20; length++) message(sizes[i], length);
    for (size_t k = 1; k <= 3; k++) {
      for (size_t d = 0; d < 3; d++) message(sizes[i], k * payload - 1 + d);
    }
  }
  message(512, 200000); /* ids pass 255 */
  small_buffer();
  flushed();
  reset_and_cancel();
  received();
  return unit_done("tds_packet");
}
