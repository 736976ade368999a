/*
** tds_feed.h: puts a reply's payload before a tds_stream in every way that it can arrive, and tells what came out
** as text.
**
**     feed_check("fd 0000 c100 0000000000000000", "done 0 c1 0 -1\nend\n");
**
** Every way: one packet; two packets, cut at each byte; one packet in two pieces, cut at each byte; a byte a
** packet; a byte a piece. All memory is exact, and what was fed is freed once it was asked for more, so that
** the sanitizers see each byte too far and each value that was lent too long.
*/
#ifndef EDB_UNIT_TDS_FEED_H
#define EDB_UNIT_TDS_FEED_H

#include <stdarg.h>
#include <stdlib.h>

#include "tds/tds.h"
#include "unit.h"

typedef struct feed_bytes {
  uint8_t *p;
  size_t n;
} feed_bytes;

static inline void feed_append(feed_bytes *b, const void *p, size_t n) {
  if (n == 0) return;
  b->p = realloc(b->p, b->n + n);
  if (!b->p) abort();
  memcpy(b->p + b->n, p, n);
  b->n += n;
}

/* Hexadecimal with spaces; 'text' in quotes stands for its UTF-16LE, "text" for its bytes. */
static inline void feed_hex(feed_bytes *b, const char *text) {
  while (*text) {
    if (*text == ' ') {
      text++;
    } else if (*text == '\'' || *text == '"') {
      const char quote = *text++;
      for (; *text != quote; text++)
        feed_append(b, (const char[2]){*text, 0}, quote == '"' ? 1 : 2);
      text++;
    } else {
      const char digits[3] = {text[0], text[1], 0};
      char *end;
      const uint8_t byte = (uint8_t)strtoul(digits, &end, 16);
      if (end != digits + 2) {
        printf("not hexadecimal: %s\n", text);
        exit(2);
      }
      feed_append(b, &byte, 1);
      text += 2;
    }
  }
}

/* ---- What came out, as text ---------------------------------------------------------------------- */

typedef struct feed_log {
  char *p;
  size_t n, size;
} feed_log;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline void
feed_say(feed_log *log, const char *format, ...) {
  va_list args;
  for (;;) {
    va_start(args, format);
    const int n = vsnprintf(log->p ? log->p + log->n : NULL, log->size - log->n, format, args);
    va_end(args);
    if (n < 0) abort();
    if ((size_t)n < log->size - log->n) {
      log->n += (size_t)n;
      return;
    }
    log->size = 2 * log->size + (size_t)n + 256;
    log->p = realloc(log->p, log->size);
    if (!log->p) abort();
  }
}

static inline void feed_utf16(feed_log *log, tds_utf16 t) {
  char *out = malloc(3 * t.units + 1);
  if (!out) abort();
  const size_t n = tds_to_utf8(out, t.p, t.units);
  feed_say(log, "'%.*s'", (int)n, out);
  free(out);
}

/* Days since 1970 by counting years and months: nothing that the product could share. */
static inline void feed_date(feed_log *log, int32_t days) {
  static const int month[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t left = (int64_t)days + 719162; /* since 0001-01-01 */
  int year = 1, m = 0;
  for (;; year++) {
    const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (left < 365 + leap) {
      while (left >= month[m] + (m == 1 && leap)) {
        left -= month[m] + (m == 1 && leap);
        m++;
      }
      break;
    }
    left -= 365 + leap;
  }
  feed_say(log, "%04d-%02d-%02d", year, m + 1, (int)left + 1);
}

static inline void feed_value(feed_log *log, const tds_value *v) {
  switch (v->kind) {
  case TDS_NULL:
    feed_say(log, "NULL");
    break;
  case TDS_BOOL:
    feed_say(log, v->as.boolean ? "true" : "false");
    break;
  case TDS_I64:
    feed_say(log, "%" PRId64, v->as.i64);
    break;
  case TDS_U64:
    feed_say(log, "%" PRIu64 "u", v->as.u64);
    break;
  case TDS_F64:
    feed_say(log, "%.17g", v->as.f64);
    break;
  case TDS_TEXT:
    feed_say(log, v->as.text.p ? "'%.*s'" : "(NULL pointer)", (int)v->as.text.n, v->as.text.p);
    break;
  case TDS_BYTES:
    feed_say(log, "x'");
    for (size_t i = 0; i < v->as.bytes.n; i++) feed_say(log, "%02x", (uint8_t)v->as.bytes.p[i]);
    feed_say(log, v->as.bytes.p ? "'" : "(NULL pointer)");
    break;
  default: {
    const int64_t nanos = v->as.time.nanos, seconds = nanos / 1000000000;
    if (v->as.time.form != TDS_CLOCK) feed_date(log, v->as.time.days);
    if (v->as.time.form == TDS_DATETIME) feed_say(log, " ");
    if (v->as.time.form != TDS_DATE) {
      feed_say(log, "%02d:%02d:%02d.%09d", (int)(seconds / 3600), (int)(seconds / 60 % 60),
               (int)(seconds % 60), (int)(nanos % 1000000000));
    }
    if (v->as.time.zoned) feed_say(log, "Z");
  }
  }
}

static inline void feed_row(feed_log *log, const tds_value *v, size_t n) {
  feed_say(log, "row");
  for (size_t i = 0; i < n; i++) {
    feed_say(log, " ");
    feed_value(log, &v[i]);
  }
  feed_say(log, "\n");
}

static inline void feed_columns(feed_log *log, const tds_stream *s) {
  feed_say(log, "columns%s", s->token.as.columns.none ? " none" : "");
  for (size_t i = 0; i < s->n_columns; i++) {
    const tds_column *c = &s->columns[i];
    feed_say(log, " ");
    feed_utf16(log, tds_column_name(s, i));
    feed_say(log, " %s", tds_type_name(&c->info));
    if (c->udt_units) feed_utf16(log, tds_column_udt(s, i));
    if (c->flags) feed_say(log, " %x", c->flags);
  }
  feed_say(log, "\n");
}

static inline void feed_environment(feed_log *log, const tds_token *t) {
  feed_say(log, "environment %d", t->as.environment.kind);
  if (t->as.environment.text.units) {
    feed_say(log, " ");
    feed_utf16(log, t->as.environment.text);
  }
  if (t->as.environment.former.units) {
    feed_say(log, " was ");
    feed_utf16(log, t->as.environment.former);
  }
  if (t->as.environment.packet_size) feed_say(log, " size %u", t->as.environment.packet_size);
  if (t->as.environment.descriptor) {
    feed_say(log, " descriptor %" PRIx64, t->as.environment.descriptor);
  }
  if (t->as.environment.collation) {
    feed_say(log, " collation %x %d", t->as.environment.collation, t->as.environment.sort_id);
  }
  if (t->as.environment.port) feed_say(log, " port %d", t->as.environment.port);
  feed_say(log, "\n");
}

static inline void feed_token(feed_log *log, const tds_stream *s) {
  const tds_token *t = &s->token;
  switch (t->type) {
  case TDS_DONE:
  case TDS_DONEPROC:
  case TDS_DONEINPROC:
    feed_say(log, "%s %x %x %" PRIu64 " %" PRId64 "\n",
             t->type == TDS_DONE       ? "done"
             : t->type == TDS_DONEPROC ? "doneproc"
                                       : "doneinproc",
             t->as.done.status, t->as.done.command, t->as.done.count, t->as.done.affected);
    break;
  case TDS_ERROR:
  case TDS_INFO:
    feed_say(log, "%s %d state %d class %d ", t->type == TDS_ERROR ? "error" : "info",
             t->as.message.number, t->as.message.state, t->as.message.severity);
    feed_utf16(log, t->as.message.text);
    feed_utf16(log, t->as.message.server);
    feed_utf16(log, t->as.message.procedure);
    feed_say(log, " line %d\n", t->as.message.line);
    break;
  case TDS_ENVCHANGE:
    feed_environment(log, t);
    break;
  case TDS_LOGINACK:
    feed_say(log, "loginack %x ", t->as.loginack.tds_version);
    feed_utf16(log, t->as.loginack.program);
    feed_say(log, " %d %d.%d.%d\n", t->as.loginack.interface_type, t->as.loginack.major,
             t->as.loginack.minor, t->as.loginack.build);
    break;
  case TDS_FEATUREEXTACK:
    feed_say(log, "features %x", t->as.features.mask);
    for (size_t i = 0; i < t->as.features.n; i++) {
      feed_say(log, " %d:", t->as.features.feature[i].id);
      for (size_t k = 0; k < t->as.features.feature[i].n; k++) {
        feed_say(log, "%02x", t->as.features.feature[i].p[k]);
      }
    }
    feed_say(log, "\n");
    break;
  case TDS_COLMETADATA:
    feed_columns(log, s);
    break;
  case TDS_RETURNSTATUS:
    feed_say(log, "status %d\n", t->as.return_status);
    break;
  case TDS_RETURNVALUE:
    feed_say(log, "value %d ", t->as.return_value.ordinal);
    feed_utf16(log, t->as.return_value.name);
    feed_say(log, " %d %s ", t->as.return_value.status,
             tds_type_name(&t->as.return_value.column->info));
    feed_value(log, t->as.return_value.value);
    feed_say(log, "\n");
    break;
  default: {
    tds_fedauth entry;
    feed_say(log, "bytes %02x ", t->type);
    for (size_t i = 0; i < t->as.bytes.n; i++) feed_say(log, "%02x", t->as.bytes.p[i]);
    for (size_t i = 0; t->type == TDS_FEDAUTHINFO && tds_fedauth_entry(t, i, &entry); i++) {
      feed_say(log, " %u ", entry.id);
      feed_utf16(log, entry.text);
    }
    feed_say(log, "\n");
  }
  }
}

/* ---- How it goes in -------------------------------------------------------------------------------- */

/* The payload in packets: of `every` bytes where that is not 0, else two with the cut at `cut`. */
static inline feed_bytes feed_packets(const uint8_t *p, size_t n, size_t cut, size_t every) {
  feed_bytes out = {0};
  size_t at = 0;
  uint8_t id = 1;
  do {
    size_t piece = every ? every : at == 0 && cut > 0 ? cut : n - at;
    if (piece > n - at) piece = n - at;
    if (piece > TDS_PACKET_MAX - 8) piece = TDS_PACKET_MAX - 8;
    const size_t length = piece + 8;
    const uint8_t header[8] = {
        4, at + piece == n, (uint8_t)(length >> 8), (uint8_t)length, 0, 55, id++, 0};
    feed_append(&out, header, 8);
    if (piece > 0) feed_append(&out, p + at, piece);
    at += piece;
  } while (at < n);
  return out;
}

static size_t feed_wanted_most; /* the greatest room that was asked for */

static inline void feed_enlarge(tds_stream *s) {
  const tds_room room = s->wanted.room;
  CHECK(s->wanted.size > s->room[room].size);
  if (s->wanted.size > feed_wanted_most) feed_wanted_most = s->wanted.size;
  s->room[room].p = realloc(s->room[room].p, s->wanted.size);
  if (!s->room[room].p) abort();
  s->room[room].size = s->wanted.size;
}

static inline void feed_free(tds_stream *s) {
  for (int i = 0; i < TDS_ROOMS; i++) free(s->room[i].p);
  tds_stream_end(s);
  memset(s->room, 0, sizeof s->room);
}

/* Feeds bytes in pieces of `every` where that is not 0, else two cut at `cut`; up to an error or to the end. The last
** status. */
static inline tds_status feed_run(tds_stream *s, feed_log *log, feed_bytes in, size_t cut,
                                  size_t every) {
  tds_status status = TDS_MORE;
  uint8_t *piece = NULL;
  size_t at = 0;
  do {
    size_t n = every ? every : at == 0 && cut > 0 ? cut : in.n - at;
    if (n > in.n - at) n = in.n - at;
    free(piece);
    piece = malloc(n ? n : 1);
    if (!piece) abort();
    memcpy(piece, in.p + at, n);
    at += n;
    tds_feed(s, piece, n);
    while ((status = tds_next(s)) != TDS_MORE && status < TDS_MALFORMED) {
      if (status == TDS_TOKEN) feed_token(log, s);
      if (status == TDS_ROW) feed_row(log, s->values, s->n_columns);
      if (status == TDS_ROOM) feed_enlarge(s);
      if (status == TDS_END) feed_say(log, "end\n");
    }
  } while (status == TDS_MORE && at < in.n);
  if (status >= TDS_MALFORMED) {
    char text[300];
    tds_fault_text(&s->fault, text, sizeof text);
    feed_say(log, "%s: %s\n", status == TDS_MALFORMED ? "malformed" : "unsupported", text);
    CHECK_INT(tds_next(s), status); /* it stays so */
  }
  free(piece);
  return status;
}

static uint32_t feed_features; /* as asked for at login */

/* One way of feeding; the log is the caller's to free. */
static inline char *feed_once(const uint8_t *p, size_t n, size_t packet_cut, size_t packet_every,
                              size_t piece_cut, size_t piece_every) {
  tds_stream s = {0};
  feed_log log = {0};
  tds_stream_begin(&s, feed_features);
  feed_say(&log, "%s", "");
  feed_bytes in = feed_packets(p, n, packet_cut, packet_every);
  feed_run(&s, &log, in, piece_cut, piece_every);
  free(in.p);
  feed_free(&s);
  return log.p;
}

static inline int feed_expect(char *got, const char *expected, const char *way, size_t cut,
                              const char *what, int line) {
  const int same = strcmp(got, expected) == 0;
  if (!same) {
    printf("%s %zu, line %d: %s\n--- expected\n%s--- got\n%s---\n", way, cut, line, what, expected,
           got);
  }
  free(got);
  return same;
}

static inline void feed_check_bytes(const uint8_t *p, size_t n, const char *expected,
                                    const char *what, int line) {
  int same = feed_expect(feed_once(p, n, 0, 0, 0, 0), expected, "whole", 0, what, line);
  same = same && feed_expect(feed_once(p, n, 0, 1, 0, 0), expected, "packets of", 1, what, line);
  same = same && feed_expect(feed_once(p, n, 0, 0, 0, 1), expected, "pieces of", 1, what, line);
  same = same && feed_expect(feed_once(p, n, 0, 1, 0, 1), expected, "both of", 1, what, line);
  for (size_t cut = 1; same && cut < n; cut++) {
    same = feed_expect(feed_once(p, n, cut, 0, 0, 0), expected, "packets cut at", cut, what, line);
  }
  for (size_t cut = 1; same && cut < n + 8; cut++) {
    same = feed_expect(feed_once(p, n, 0, 0, cut, 0), expected, "pieces cut at", cut, what, line);
  }
  unit_check(same, __FILE__, line, what);
}

static inline void feed_check_at(const char *payload, const char *expected, int line) {
  feed_bytes b = {0};
  feed_hex(&b, payload);
  feed_check_bytes(b.p, b.n, expected, payload, line);
  free(b.p);
}
#define feed_check(payload, expected) feed_check_at(payload, expected, __LINE__)

#endif
