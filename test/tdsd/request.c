/*
** What a client asks after its login: batches, remote procedures, transactions, bulk loads.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* [MS-TDS] 2.2.5.3: exactly one header, the transaction's, for a careful client. */
static bool read_headers(Conn *c, Rd *r) {
  uint32_t total = rd_u32(r);
  bool transaction = false;
  if (total < 4 || total > r->n) {
    violation(c, false, "ALL_HEADERS of %u bytes in a message of %zu", total, r->n);
    return false;
  }
  if (total != 22) violation(c, true, "ALL_HEADERS of %u bytes, not 22", total);
  while (r->i < total && !r->bad) {
    uint32_t n = rd_u32(r);
    unsigned type = rd_u16(r);
    if (n < 6 || r->i - 6 + n > total) {
      violation(c, false, "a header of %u bytes in ALL_HEADERS", n);
      return false;
    }
    if (type != 2) {
      rd_bytes(r, n - 6);
      continue;
    }
    uint64_t descriptor = rd_u64(r);
    uint32_t outstanding = rd_u32(r);
    transaction = true;
    if (n != 18) violation(c, false, "a transaction header of %u bytes", n);
    if (outstanding != 1) violation(c, true, "%u outstanding requests", outstanding);
    if (descriptor != c->s->descriptor) {
      violation(c, false, "transaction descriptor %llx where %llx is live",
                (unsigned long long)descriptor, (unsigned long long)c->s->descriptor);
    }
  }
  if (!transaction) violation(c, false, "ALL_HEADERS without a transaction");
  return !c->dead && !r->bad;
}

static void serve_batch(Conn *c, Rd *r) {
  Buf text = {0};
  int32_t status;
  if (!read_headers(c, r)) return;
  if ((r->n - r->i) % 2 != 0) violation(c, false, "a batch that ends with half a UTF-16 unit");
  if (c->dead) return;
  utf16_to_utf8(&text, r->p + r->i, r->n - r->i);
  batch_run(c->s, buf_string(&text), text.n, NULL, false, 0, &status);
  buf_free(&text);
}

/* RPC --------------------------------------------------------------------------------------------*/

static const char *const procedures[] = {NULL,
                                         "sp_cursor",
                                         "sp_cursoropen",
                                         "sp_cursorprepare",
                                         "sp_cursorexecute",
                                         "sp_cursorprepexec",
                                         "sp_cursorunprepare",
                                         "sp_cursorfetch",
                                         "sp_cursoroption",
                                         "sp_cursorclose",
                                         "sp_executesql",
                                         "sp_prepare",
                                         "sp_execute",
                                         "sp_prepexec",
                                         "sp_prepexecrpc",
                                         "sp_unprepare"};

/* One parameter; false: it was not well formed. */
static bool read_parameter(Conn *c, Rd *r, Var **tail, int ordinal) {
  Var *v = xmalloc(sizeof *v);
  uint32_t max;
  unsigned wire = 0;
  char *name = rd_text(r, rd_u8(r));
  *tail = v;
  snprintf(v->name, sizeof v->name, "%s", name);
  bool named = name[0] != 0 && name[0] != '@';
  free(name);
  if (named) violation(c, true, "parameter %d is named without @", ordinal);
  unsigned status = rd_u8(r);
  if (status & ~11u) violation(c, false, "parameter %d of status 0x%02x", ordinal, status);
  if (status & 8) violation(c, false, "parameter %d is encrypted", ordinal);
  v->output = (status & 1) != 0;
  v->ordinal = ordinal;
  const char *wrong = c->dead ? NULL : type_read(r, &v->type, &wire, &max);
  if (wrong != NULL) violation(c, false, "parameter %d (%s): %s", ordinal, v->name, wrong);
  if (wrong == NULL && !c->dead) wrong = wire_read(r, &v->type, wire, max, &v->space, &v->val);
  if (wrong != NULL)
    violation(c, false, "the value of parameter %d (%s): %s", ordinal, v->name, wrong);
  if (r->bad) violation(c, false, "an RPC that ends inside parameter %d", ordinal);
  return !c->dead;
}

static bool read_name(Conn *c, Rd *r, char name[300]) {
  unsigned n = rd_u16(r);
  if (n == 0xFFFF) {
    unsigned id = rd_u16(r);
    if (id == 0 || id >= sizeof procedures / sizeof *procedures) {
      violation(c, false, "RPC of procedure id %u", id);
      return false;
    }
    snprintf(name, 300, "%s", procedures[id]);
    return true;
  }
  char *text = rd_text(r, n);
  snprintf(name, 300, "%s", text);
  free(text);
  if (r->bad || n == 0) violation(c, false, "RPC without a name");
  return !c->dead;
}

/* One of several RPCs in a message, those behind the first after a byte 0xFF. */
static bool serve_one_rpc(Conn *c, Rd *r) {
  char name[300];
  Var *vars = NULL, **tail = &vars;
  int ordinal = 0;
  int32_t status = 0;
  if (!read_name(c, r, name)) return false;
  unsigned options = rd_u16(r);
  if (options & ~7u) violation(c, false, "RPC options 0x%04x", options);
  bool more = false, ok = !c->dead;
  while (ok && r->i < r->n) {
    if (r->p[r->i] == 0xFF || r->p[r->i] == 0x80) {
      more = true;
      r->i++;
      break;
    }
    ok = read_parameter(c, r, tail, ordinal++);
    tail = &(*tail)->next;
    if (ordinal > 2100 + 4) {
      violation(c, false, "more than 2,100 parameters");
      ok = false;
    }
  }
  if (ok) {
    SqlError error = {0};
    bool found = procedure_call(c->s, name, vars, 1, &status, NULL);
    if (!found) {
      sql_error(&error, 2812, 16, "Could not find stored procedure '%s'.", name);
      token_error(c, &error, NULL);
      token_done(c, DONEPROC, DONE_ERROR, 0xE0, 0);
    } else if (!c->attention) {
      token_return_status(c, status);
      for (Var *v = vars; v != NULL; v = v->next) {
        if (v->output) token_return_value(c, v->ordinal, v->name, &v->type, &v->val);
      }
      token_done(c, DONEPROC, c->s->error != 0 ? DONE_ERROR : 0, 0xE0, 0);
    }
  }
  var_free(vars);
  return ok && more && !c->attention;
}

static void serve_rpc(Conn *c, Rd *r) {
  if (!read_headers(c, r)) return;
  c->s->error = 0;
  while (serve_one_rpc(c, r)) c->s->error = 0;
}

/* Transactions -----------------------------------------------------------------------------------*/

static char *transaction_label(Rd *r) {
  unsigned bytes = rd_u8(r);
  return rd_text(r, bytes / 2);
}

static void serve_transaction(Conn *c, Rd *r) {
  Session *s = c->s;
  SqlError error = {0};
  if (!read_headers(c, r)) return;
  unsigned kind = rd_u16(r), isolation = kind == 5 ? rd_u8(r) : 0;
  char *name = kind == 5 || (kind >= 7 && kind <= 9) ? transaction_label(r) : xstrdup("");
  bool ok = false;
  if (isolation > 5) violation(c, false, "isolation level %u", isolation);
  switch (kind) {
  case 5:
    if (isolation != 0) s->isolation = (int)isolation;
    ok = tran_begin(s, &error);
    break;
  case 7:
    ok = tran_commit(s, &error);
    break;
  case 8:
    ok = tran_rollback(s, name[0] ? name : NULL, &error);
    break;
  case 9:
    ok = tran_save(s, name, &error);
    break;
  default:
    violation(c, false, "a transaction request of kind %u", kind);
  }
  bool again = ok && (kind == 7 || kind == 8) && (rd_u8(r) & 1);
  if (r->bad) violation(c, false, "a transaction request cut short");
  if (again && !c->dead) {
    unsigned level = rd_u8(r);
    if (level != 0) s->isolation = (int)level;
    tran_begin(s, &error);
  }
  free(name);
  if (c->dead) return;
  if (!ok) token_error(c, &error, NULL);
  token_done(c, DONE, ok ? 0 : DONE_ERROR, 0xFD, 0);
}

/* Replies ----------------------------------------------------------------------------------------*/

static void end_done(Conn *c) {
  if (c->done.n > 0) buf_add(&c->out, c->done.p, c->done.n);
  c->done.n = 0;
}

/* Ends the reply; an attention that came, interrupting it or not, is acknowledged as the
** connection's faults ask for. */
static void finish(Conn *c, bool interrupted) {
  if (c->dead) return;
  Session *s = c->s;
  if (s->doomed && !c->attention) { /* the batch left a transaction that cannot be committed */
    SqlError e = {0}, ignored;
    sql_error(&e, 3998, 16,
              "Uncommittable transaction is detected at the end of the batch. The transaction is "
              "rolled back.");
    e.line = 1;
    tran_rollback(s, NULL, &ignored);
    token_error(c, &e, NULL);
    token_done(c, DONE, DONE_ERROR, 0xFD, 0);
  }
  if (!c->attention) {
    if (c->done.n == 0) token_done(c, DONE, 0, 0xFD, 0); /* nothing said that it ended */
    end_done(c);
    if (c->fault.attention == 4) token_done(c, DONE, DONE_ATTENTION, 0xFD, 0);
    end_done(c);
    out_finish(c);
    return;
  }
  c->attention = false;
  if (s->xact_abort && s->trancount > 0) tran_reset(s);
  /* The reply ends, and the acknowledgement follows in a message of its own: tedious needs it so. */
  if (c->fault.attention != 1 && interrupted) {
    if (c->done.n == 0) token_done(c, DONE, DONE_ERROR, 0xFD, 0);
    end_done(c);
    out_finish(c);
  }
  if (c->fault.attention == 3) return;
  token_done(c, DONE, DONE_ATTENTION, 0xFD, 0);
  end_done(c);
  out_finish(c);
}

static void reset(Conn *c, unsigned status) {
  Session *s = c->s;
  if (!(status & 0x18)) return;
  session_reset(s, !(status & 8));
  token_env(c, 18, NULL, 0, NULL, 0);
}

static void serve_message(Conn *c, unsigned type, unsigned status, Buf *payload) {
  Rd r = {payload->p ? payload->p : (const uint8_t *)"", payload->n, 0, false};
  if ((status & 0x18) && type != P_BATCH && type != P_RPC && type != P_TRANSACTION)
    violation(c, false, "RESETCONNECTION on a message of type %u", type);
  reset(c, status);
  c->attention = type == P_ATTENTION;
  switch (type) {
  case P_BATCH:
    serve_batch(c, &r);
    break;
  case P_RPC:
    serve_rpc(c, &r);
    break;
  case P_TRANSACTION:
    serve_transaction(c, &r);
    break;
  case P_BULK:
    bulk_load(c->s, &r);
    break;
  default:
    break;
  }
  finish(c, type != P_ATTENTION);
}

void serve(Conn *c) {
  Session session = {.c = c, .isolation = 2, .lock_timeout = -1};
  Buf payload = {0};
  unsigned type, status;
  c->s = &session;
  c->packet_size = 4096;
  if (net_fill(c, 30000) && c->plain.p[0] == 0x16) {
    c->strict = true;
    if (!net_start_tls(c, false)) c->dead = true;
  }
  bool open = !c->dead && login(c);
  while (open && !c->dead) {
    MsgResult result = msg_read(c, &type, &status, &payload);
    if (result == MSG_CLOSED) break;
    if (result == MSG_IGNORED) { /* cancelled while it was being sent */
      token_done(c, DONE, DONE_ERROR, 0xFD, 0);
      finish(c, false);
      continue;
    }
    serve_message(c, type, status, &payload);
  }
  buf_free(&payload);
  if (session.db != NULL && session.begun) sqlite3_exec(session.db, "ROLLBACK", NULL, NULL, NULL);
  engine_close(&session);
  c->s = NULL;
}
