/*
** tds/packet_out.c: outgoing messages, written straight into packets ([MS-TDS] 2.2.3.1). The contracts are
** in tds.h.
**
** A packet's header is set aside when its first byte is put, never before: a message that exactly fills its
** packets does not end with an empty one. The headers are filled in when the packets leave or are moved.
*/
#include "tdsInt.h"

#include "../crypto/crypto.h"

static void open_packet(tds_message *m) {
  m->packet = m->n;
  m->n += TDS_HEADER;
}

void tds_message_begin(tds_message *m, uint8_t type, size_t packet_size, uint8_t *p, size_t size) {
  *m = (tds_message){.p = p, .size = size, .packet_size = packet_size, .type = type, .next_id = 1};
  if (packet_size < TDS_PACKET_MIN || packet_size > TDS_PACKET_MAX) {
    m->refused = "a packet size out of range";
    m->packet_size = TDS_LOGIN_PACKET;
  }
  open_packet(m);
}

void tds_message_reset(tds_message *m, uint8_t status) { m->status = status; }

void tds_put(tds_message *m, const void *p, size_t n) {
  const uint8_t *from = p;
  while (n > 0) {
    size_t left = m->packet_size - (m->n - m->packet);
    if (left == 0) {
      open_packet(m);
      left = m->packet_size - TDS_HEADER;
    }
    if (left > n) left = n;
    if (m->n < m->size && left <= m->size - m->n) memcpy(m->p + m->n, from, left);
    m->n += left;
    from += left;
    n -= left;
  }
}

void tds_put_u8(tds_message *m, uint8_t v) { tds_put(m, &v, 1); }

void tds_put_u16(tds_message *m, uint16_t v) {
  const uint8_t b[2] = {(uint8_t)v, (uint8_t)(v >> 8)};
  tds_put(m, b, 2);
}

void tds_put_u32(tds_message *m, uint32_t v) {
  uint8_t b[4];
  tds_set_u32(b, v);
  tds_put(m, b, 4);
}

void tds_put_u64(tds_message *m, uint64_t v) {
  tds_put_u32(m, (uint32_t)v);
  tds_put_u32(m, (uint32_t)(v >> 32));
}

/* Pieces end before a character, so that none is torn. */
void tds_put_text(tds_message *m, const char *p, size_t n) {
  uint8_t units[512];
  while (n > 0) {
    size_t piece = n;
    if (piece > sizeof units / 2) {
      piece = sizeof units / 2;
      for (int i = 0; i < 3 && ((uint8_t)p[piece] & 0xC0) == 0x80; i++) piece--;
    }
    tds_put(m, units, tds_from_utf8(units, p, piece));
    p += piece;
    n -= piece;
  }
}

void tds_refuse_value(tds_message *m, const char *what) {
  if (!m->refused) m->refused = what;
}

void tds_put_b_varchar(tds_message *m, const char *p, size_t n) {
  const size_t units = tds_utf16_units(p, n);
  if (units > 255) {
    tds_refuse_value(m, "a name of more than 255 units");
    return;
  }
  tds_put_u8(m, (uint8_t)units);
  tds_put_text(m, p, n);
}

void tds_put_us_varchar(tds_message *m, const char *p, size_t n) {
  const size_t units = tds_utf16_units(p, n);
  if (units > 65535) {
    tds_refuse_value(m, "a string of more than 65,535 units");
    return;
  }
  tds_put_u16(m, (uint16_t)units);
  tds_put_text(m, p, n);
}

void tds_message_end(tds_message *m) { m->ended = 1; }

static void write_header(tds_message *m, uint8_t *p, size_t length, uint8_t status) {
  const uint8_t header[TDS_HEADER] = {m->type, status, (uint8_t)(length >> 8), (uint8_t)length,
                                      0,       0,      m->next_id++,           0};
  memcpy(p, header, sizeof header);
}

tds_status tds_message_next(tds_message *m, const uint8_t **p, size_t *n) {
  size_t length = m->n - m->sent;
  int last = 0;
  if (m->n > m->size) return TDS_ROOM;
  if (length > m->packet_size) {
    length = m->packet_size;
  } else if (m->ended && length > 0) {
    last = 1;
  } else {
    return TDS_END;
  }
  write_header(m, m->p + m->sent, length, (uint8_t)(m->status | (last ? TDS_EOM : 0)));
  m->status = 0;
  *p = m->p + m->sent;
  *n = length;
  m->sent += length;
  return TDS_OK;
}

void tds_message_flush(tds_message *m) {
  if (m->sent == 0 || m->n > m->size) return;
  memmove(m->p, m->p + m->sent, m->n - m->sent);
  m->n -= m->sent;
  m->packet -= m->packet < m->sent ? m->packet : m->sent;
  m->sent = 0;
}

void tds_message_cancel(tds_message *m) {
  m->sent = 0;
  m->n = TDS_HEADER;
  m->status = TDS_IGNORE;
  m->ended = 1;
}

void tds_message_wipe(tds_message *m) {
  ecr_wipe(m->p, m->size);
  m->n = m->sent = 0;
}
