/*
** PRINT, RAISERROR, THROW; and WAITFOR, which says nothing for a while.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void statement_print(Batch *b) {
  b->i++;
  Val v;
  Type type;
  Buf space = {0}, text = {0};
  if (take_value(b, &v, &type, &space)) {
    const char *p = "";
    size_t n = 0;
    val_to_text(&v, &type, &text, &p, &n);
    char *copy = xstrndup(p, n);
    token_info(b->c, 0, 0, 1, copy);
    free(copy);
  }
  buf_free(&space);
  buf_free(&text);
}

void statement_raiserror(Batch *b) {
  b->i++;
  Val v, number[2];
  Type type;
  Buf space = {0}, text = {0}, other = {0}, ready = {0};
  need_op(b, "(");
  bool ok = take_value(b, &v, &type, &space);
  for (int i = 0; i < 2; i++) {
    need_op(b, ",");
    ok = take_value(b, &number[i], &type, &other) && ok;
  }
  if (ok && v.tag == V_TEXT) buf_add(&text, v.p, v.n);
  if (ok && v.tag == V_INT) buf_printf(&text, "Error %d", (int)v.i);
  buf_string(&text);
  size_t from = 0;
  while (take_op(b, ",")) { /* %d, %s and the like */
    Val argument;
    Type argument_type;
    if (!take_value(b, &argument, &argument_type, &other)) continue;
    char *p = strchr((char *)text.p + from, '%');
    if (p == NULL || p[1] == 0) continue;
    const char *shown;
    size_t n;
    val_to_text(&argument, &argument_type, &space, &shown, &n);
    buf_add(&ready, text.p + from, (size_t)(p - (char *)text.p) - from);
    buf_add(&ready, shown, n);
    from = (size_t)(p - (char *)text.p) + 2;
  }
  need_op(b, ")");
  if (take_word(b, "WITH")) {
    do take_name(b);
    while (take_op(b, ","));
  }
  if (ok && !b->failed) {
    buf_text(&ready, (char *)text.p + from);
    int severity = (int)number[0].i, state = (int)number[1].i;
    if (severity <= 10) {
      token_info(b->c, 50000, severity, state, buf_string(&ready));
    } else {
      fail(b, v.tag == V_INT ? (int)v.i : 50000, severity > 18 ? 18 : severity, "%s",
           buf_string(&ready));
      b->error.state = state;
    }
  }
  buf_free(&space);
  buf_free(&text);
  buf_free(&other);
  buf_free(&ready);
}

void statement_throw(Batch *b) {
  b->i++;
  Session *s = b->s;
  if (peek(b)->kind != L_NUMBER && peek(b)->kind != L_VAR) {
    if (b->run && !s->in_catch)
      fail(b, 10704, 15,
           "To rethrow an error, a THROW statement must be used inside a CATCH block.");
    if (b->run && s->in_catch) {
      b->error = s->caught;
      b->failed = true;
    }
    return;
  }
  Val number, text, state;
  Type type;
  Buf a = {0}, m = {0}, c = {0};
  bool ok = take_value(b, &number, &type, &a);
  need_op(b, ",");
  ok = take_value(b, &text, &type, &m) && ok;
  need_op(b, ",");
  ok = take_value(b, &state, &type, &c) && ok;
  if (ok) {
    fail(b, (int)number.i, 16, "%.*s", (int)text.n, text.p ? text.p : "");
    b->error.state = (int)state.i;
    b->flow = b->try_depth > 0 ? b->flow : FLOW_ABORT;
  }
  buf_free(&a);
  buf_free(&m);
  buf_free(&c);
}

void statement_waitfor(Batch *b) {
  b->i++;
  need_word(b, "DELAY");
  Val v;
  Type type;
  Buf space = {0};
  if (take_value(b, &v, &type, &space)) {
    Moment m = {0};
    if (v.tag != V_TEXT || !moment_parse(v.p, v.n, &m)) {
      fail(b, 148, 15, "Incorrect time syntax in time string '%.*s' used with WAITFOR.", (int)v.n,
           v.p ? v.p : "");
    }
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += m.ticks / 10000000;
    end.tv_nsec += (m.ticks % 10000000) * 100;
    for (;;) {
      clock_gettime(CLOCK_MONOTONIC, &now);
      int64_t left = (end.tv_sec - now.tv_sec) * 1000 + (end.tv_nsec - now.tv_nsec) / 1000000;
      if (left <= 0 || b->failed || msg_poll(b->c, left > 1000 ? 1000 : (int)left)) break;
    }
    if (!b->c->attention) done(b, 0, 0xFD, 0);
  }
  buf_free(&space);
}
