/*
** Packets: messages in, with the rules that a client must keep; replies out.
*/
#include "tdsd.h"

#include <errno.h>
#include <string.h>

enum { EOM = 1, IGNORE = 2, RESET = 8, RESET_KEEP = 0x10 };

static unsigned length_of(const uint8_t *header) { return (unsigned)(header[2] << 8 | header[3]); }

/* The first packet is whole in c->plain. */
static bool have_packet(const Conn *c) {
  return c->plain.n >= 8 && c->plain.n >= length_of(c->plain.p);
}

static void check_header(Conn *c, const uint8_t *h, unsigned limit, bool first, unsigned *id) {
  unsigned length = length_of(h), status = h[1];
  if (length < 8) violation(c, false, "a packet of %u bytes", length);
  if (length > limit) {
    c->wide_login += !c->logged_in;
    violation(c, c->logged_in ? false : true, "a packet of %u bytes where %u are agreed", length,
              limit);
  }
  if (length < limit && !(status & EOM)) {
    c->short_packets++;
    violation(c, true, "a packet of %u bytes that is not the message's last, where %u are agreed",
              length, limit);
  }
  if (status & ~(unsigned)(EOM | IGNORE | RESET | RESET_KEEP))
    violation(c, false, "a packet of status 0x%02x", status);
  if ((status & IGNORE) && !(status & EOM)) violation(c, false, "IGNORE without end of message");
  if ((status & RESET) && (status & RESET_KEEP))
    violation(c, false, "both bits of RESETCONNECTION");
  if (!first && h[6] != ((*id + 1) & 0xFF)) {
    c->id_jumps++;
    violation(c, true, "packet id %u after %u", h[6], *id);
  }
  if (h[7] != 0) violation(c, true, "window %u in a packet", h[7]);
  *id = h[6];
}

static bool known_type(const Conn *c, unsigned type) {
  if (!c->logged_in) return type == P_PRELOGIN || type == P_LOGIN;
  return type == P_BATCH || type == P_RPC || type == P_ATTENTION || type == P_BULK ||
         type == P_TRANSACTION;
}

MsgResult msg_read(Conn *c, unsigned *type, unsigned *status, Buf *payload) {
  bool first = true;
  unsigned id = 0;
  payload->n = 0;
  for (;;) {
    while (!have_packet(c)) {
      if (c->plain.n >= 8 && length_of(c->plain.p) < 8)
        violation(c, false, "a packet shorter than its header");
      if (!net_fill(c, -1)) {
        if (errno == EAGAIN && !c->dead) continue;
        return MSG_CLOSED;
      }
    }
    uint8_t h[8];
    memcpy(h, c->plain.p, 8);
    unsigned length = length_of(h);
    check_header(c, h, c->logged_in ? c->packet_size : 4096, first, &id);
    if (first) {
      *type = h[0];
      *status = h[1];
      if (!known_type(c, *type)) violation(c, false, "a packet of type %u", h[0]);
    } else if (h[0] == P_ATTENTION) {
      violation(c, false, "an attention inside a message");
    } else if (h[0] != *type) {
      violation(c, false, "a packet of type %u inside a message of type %u", h[0], *type);
    }
    if (c->dead) return MSG_CLOSED;
    buf_add(payload, c->plain.p + 8, length - 8);
    buf_cut(&c->plain, length);
    first = false;
    if (*type == P_ATTENTION && length != 8)
      violation(c, false, "an attention with %u bytes", length - 8);
    if (payload->n > 256u << 20) violation(c, false, "a message of more than 256 MB");
    if (c->dead) return MSG_CLOSED;
    if (h[1] & IGNORE) return MSG_IGNORED;
    if (h[1] & EOM) return MSG_OK;
  }
}

bool msg_poll(Conn *c, int timeout) {
  if (c->capture != NULL) return false;
  if (c->attention) return true;
  if (!have_packet(c) && !net_fill(c, timeout) && errno != EAGAIN) c->dead = true;
  if (have_packet(c) && c->plain.p[0] == P_ATTENTION) {
    if (length_of(c->plain.p) != 8) violation(c, false, "an attention with a payload");
    buf_cut(&c->plain, length_of(c->plain.p));
    c->attention = true;
  }
  return c->attention || c->dead;
}

/* Replies ----------------------------------------------------------------------------------------*/

/* The n bytes of the reply behind the first `from`. */
static void send_packet(Conn *c, size_t from, size_t n, bool last) {
  uint8_t header[8] = {P_REPLY,
                       last,
                       (uint8_t)((n + 8) >> 8),
                       (uint8_t)(n + 8),
                       (uint8_t)(c->spid >> 8),
                       (uint8_t)c->spid,
                       ++c->out_id,
                       0};
  Buf packet = {0};
  if (c->logged_in && c->fault.lie == 2) header[2] ^= 0x10;
  buf_add(&packet, header, 8);
  if (n > 0) buf_add(&packet, c->out.p + from, n);
  for (size_t i = 0; i < packet.n; i += 16384) {
    net_send(c, packet.p + i, packet.n - i > 16384 ? 16384 : packet.n - i);
  }
  buf_free(&packet);
  c->out_sent += n;
}

/* How many bytes of the reply the next packet takes at most. */
static size_t packet_room(const Conn *c) {
  const Fault *f = &c->fault;
  size_t room = c->packet_size - 8;
  if (!c->logged_in) return room;
  if (f->split_all > 0 && (size_t)f->split_all < room) room = (size_t)f->split_all;
  if (f->split > 0 && c->out_sent < (uint64_t)f->split && c->out_sent + room > (uint64_t)f->split) {
    room = (size_t)((uint64_t)f->split - c->out_sent);
  }
  return room;
}

void out_flush(Conn *c) {
  if (c->capture != NULL) return;
  size_t from = 0;
  while (c->out.n - from > packet_room(c) && !c->dead) {
    const size_t n = packet_room(c);
    send_packet(c, from, n, false);
    from += n;
  }
  buf_cut(&c->out, from); /* once: a long value is many packets */
}

void out_finish(Conn *c) {
  out_flush(c);
  if (!c->dead) send_packet(c, 0, c->out.n, true);
  c->out.n = 0;
  c->out_sent = 0;
  c->out_id = 0;
}
