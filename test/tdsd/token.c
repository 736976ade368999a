/*
** The tokens of a reply: [MS-TDS] 2.2.7.
*/
#include "tdsd.h"
#include "session.h"

#include <string.h>

static const char server_name[] = "tdsd";

/* A token with a u16 length: begin, fill, end. */
static size_t begin(Conn *c, unsigned token) {
  if (c->capture != NULL) c->out.n = 0;
  token_settle(c);
  buf_u8(&c->out, token);
  buf_u16(&c->out, 0);
  return c->out.n;
}

static void end(Conn *c, size_t at) {
  put_u16(c->out.p + at - 2,
          (unsigned)(c->out.n - at) + (c->logged_in && c->fault.lie == 1 ? 3 : 0));
}

static void message(Conn *c, unsigned token, const SqlError *e, const char *procedure) {
  if (c->capture != NULL) {
    if (token == 0xAA) buf_printf(c->capture, "error %d: %s\n", e->number, e->message);
    return;
  }
  size_t at = begin(c, token);
  buf_u32(&c->out, (uint32_t)e->number);
  buf_u8(&c->out, (unsigned)e->state);
  buf_u8(&c->out, (unsigned)e->severity);
  buf_us_varchar(&c->out, e->message);
  buf_b_varchar(&c->out, server_name);
  buf_b_varchar(&c->out, procedure ? procedure : "");
  buf_u32(&c->out, (uint32_t)e->line);
  end(c, at);
}

void token_error(Conn *c, const SqlError *e, const char *procedure) {
  message(c, 0xAA, e, procedure);
}

void token_info(Conn *c, int number, int severity, int state, const char *text) {
  SqlError e = {.number = number, .severity = severity, .state = state, .line = 1};
  snprintf(e.message, sizeof e.message, "%s", text);
  message(c, 0xAB, &e, "");
}

void token_env(Conn *c, int type, const void *new_value, size_t new_n, const void *old_value,
               size_t old_n) {
  size_t at = begin(c, 0xE3);
  buf_u8(&c->out, (unsigned)type);
  buf_u8(&c->out, (unsigned)new_n);
  buf_add(&c->out, new_value, new_n);
  buf_u8(&c->out, (unsigned)old_n);
  buf_add(&c->out, old_value, old_n);
  end(c, at);
}

void token_env_text(Conn *c, int type, const char *new_text, const char *old_text) {
  size_t at = begin(c, 0xE3);
  buf_u8(&c->out, (unsigned)type);
  buf_b_varchar(&c->out, new_text);
  buf_b_varchar(&c->out, old_text);
  end(c, at);
}

void token_loginack(Conn *c) {
  size_t at = begin(c, 0xAD);
  buf_u8(&c->out, 1); /* T-SQL */
  uint32_t v = c->tds_version;
  for (int i = 3; i >= 0; i--) buf_u8(&c->out, v >> (8 * i)); /* this one is big-endian */
  buf_b_varchar(&c->out, "Microsoft SQL Server");
  buf_u8(&c->out, (unsigned)c->server->version);
  buf_u8(&c->out, 0);
  buf_u16_be(&c->out, 1000);
  end(c, at);
}

/* Result sets ------------------------------------------------------------------------------------*/

void token_columns(Conn *c, const Column *columns, int n) {
  token_settle(c);
  Buf *out = &c->out;
  buf_u8(out, 0x81);
  buf_u16(out, (unsigned)n + (c->fault.lie == 4 ? 1 : 0));
  if (c->fault.cek == 1) buf_u16(out, 0);
  for (int i = 0; i < n; i++) {
    const Column *k = &columns[i];
    unsigned flags = (k->nullable ? 1u : 0u) | (k->identity ? 0x10u : 0x08u) |
                     (k->computed ? 0x20u : 0u) | (k->hidden ? 0x2000u : 0u) |
                     (k->key ? 0x4000u : 0u);
    if (k->identity || k->computed) flags &= ~8u;
    if (c->fault.cek) flags |= 0x800u;
    buf_u32(out, k->type.kind == K_ROWVERSION ? 0x50 : 0);
    buf_u16(out, flags);
    type_write(out, &k->type, k->nullable);
    if (wire_is_long(k->type.kind)) {
      buf_u8(out, 1);
      buf_us_varchar(out, k->table);
    }
    buf_b_varchar(out, k->name);
  }
  out_flush(c);
}

/* A row as text, for the control channel. */
static void capture_row(Conn *c, const Column *columns, const Val *values, int n) {
  Buf space = {0};
  for (int i = 0; i < n; i++) {
    const char *p = "NULL";
    size_t size = 4;
    if (values[i].tag != V_NULL) val_to_text(&values[i], &columns[i].type, &space, &p, &size);
    if (i > 0) buf_u8(c->capture, '|');
    buf_add(c->capture, p, size);
  }
  buf_u8(c->capture, '\n');
  buf_free(&space);
}

void token_row(Conn *c, const Column *columns, const Val *values, int n, int64_t row) {
  if (c->capture != NULL) {
    capture_row(c, columns, values, n);
    return;
  }
  token_settle(c);
  Buf *out = &c->out;
  int nulls = 0;
  for (int i = 0; i < n; i++) nulls += values[i].tag == V_NULL;
  int64_t way = c->fault.nbcrow;
  bool nbc = way == 2 || (way == 3 && row % 2 == 1) || (way == 0 && nulls > 0);
  buf_u8(out, nbc ? 0xD2 : 0xD1);
  if (nbc) {
    uint8_t *map = buf_more(out, (size_t)(n + 7) / 8);
    memset(map, 0, (size_t)(n + 7) / 8);
    for (int i = 0; i < n; i++) {
      if (values[i].tag == V_NULL) map[i / 8] = (uint8_t)(map[i / 8] | 1 << (i % 8));
    }
  }
  for (int i = 0; i < n; i++) {
    if (nbc && values[i].tag == V_NULL) continue;
    size_t at = out->n;
    wire_write(out, &columns[i].type, columns[i].nullable, &values[i], (int)c->fault.plp);
    bool plp = type_is_plp(&columns[i].type);
    if (c->fault.lie == 3 && plp && out->n - at > 12) out->p[at]++;
    if (c->fault.lie == 5 && !plp && columns[i].nullable) out->p[at] = (uint8_t)(out->p[at] + 40);
  }
  out_flush(c);
}

/* The ends of things -----------------------------------------------------------------------------*/

void token_settle(Conn *c) {
  if (c->done.n == 0) return;
  c->done.p[1] |= DONE_MORE;
  buf_add(&c->out, c->done.p, c->done.n);
  c->done.n = 0;
  out_flush(c);
}

void token_done(Conn *c, int token, unsigned status, unsigned command, uint64_t count) {
  token_settle(c);
  if (c->s != NULL && c->s->trancount > 0) status |= DONE_INXACT;
  buf_u8(&c->done, (unsigned)token);
  buf_u16(&c->done, status);
  buf_u16(&c->done, command);
  buf_u64(&c->done, count);
}

void token_return_status(Conn *c, int32_t status) {
  token_settle(c);
  buf_u8(&c->out, 0x79);
  buf_u32(&c->out, (uint32_t)status);
}

void token_return_value(Conn *c, int ordinal, const char *name, const Type *t, const Val *v) {
  token_settle(c);
  Buf *out = &c->out;
  buf_u8(out, 0xAC);
  buf_u16(out, (unsigned)ordinal);
  buf_b_varchar(out, name);
  buf_u8(out, 1);
  buf_u32(out, 0);
  buf_u16(out, 1);
  type_write(out, t, true);
  wire_write(out, t, true, v, (int)c->fault.plp);
  out_flush(c);
}
