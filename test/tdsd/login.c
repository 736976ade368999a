/*
** PRELOGIN and LOGIN7: [MS-TDS] 2.2.6.5 and 2.2.6.4.
*/
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ENC_OFF, ENC_ON, ENC_NOT_SUP, ENC_REQ };

/* PRELOGIN ---------------------------------------------------------------------------------------*/

/* What the client's options say; the encryption byte, 255 where it is not there. */
static unsigned read_prelogin(Conn *c, const Buf *in) {
  unsigned encryption = 255, previous = 0;
  size_t i = 0;
  bool first = true, version = false;
  for (;;) {
    if (i >= in->n) {
      violation(c, false, "PRELOGIN options without their end");
      return 255;
    }
    unsigned token = in->p[i];
    if (token == 0xFF) break;
    if (i + 5 > in->n) {
      violation(c, false, "a PRELOGIN option cut short");
      return 255;
    }
    size_t at = (size_t)(in->p[i + 1] << 8 | in->p[i + 2]),
           n = (size_t)(in->p[i + 3] << 8 | in->p[i + 4]);
    if (at + n > in->n)
      violation(c, false, "PRELOGIN option %u at %zu+%zu of %zu bytes", token, at, n, in->n);
    if (token > 7) violation(c, false, "PRELOGIN option %u", token);
    if (first && token != 0)
      violation(c, false, "PRELOGIN begins with option %u, not VERSION", token);
    if (!first && token == previous) violation(c, false, "PRELOGIN option %u twice", token);
    if (c->dead) return 255;
    if (token == 0) version = n == 6;
    if (token == 1 && n == 1) encryption = in->p[at];
    previous = token;
    first = false;
    i += 5;
  }
  if (!version) violation(c, false, "PRELOGIN without a VERSION of 6 bytes");
  if (encryption == 255) violation(c, true, "PRELOGIN without ENCRYPTION");
  return encryption;
}

static void answer_prelogin(Conn *c, unsigned encryption) {
  static const uint8_t options[] = {0, 0,  21, 0, 6, 1, 0,  27, 0, 1,   2,
                                    0, 28, 0,  1, 4, 0, 29, 0,  1, 0xFF};
  buf_add(&c->out, options, sizeof options);
  buf_u8(&c->out, (unsigned)c->server->version);
  buf_u8(&c->out, 0);
  buf_u16_be(&c->out, 1000);
  buf_u16_be(&c->out, 0);
  buf_u8(&c->out, encryption);
  buf_u8(&c->out, 0); /* the instance's name is right */
  buf_u8(&c->out, 0); /* no MARS */
  out_finish(c);
}

/* Says nothing any more, until the client goes away. */
static bool stall(Conn *c) {
  while (net_fill(c, 1000) || errno == EAGAIN) c->plain.n = 0;
  c->dead = true;
  return false;
}

static bool prelogin(Conn *c) {
  unsigned type, status;
  Buf in = {0};
  bool ok = msg_read(c, &type, &status, &in) == MSG_OK;
  if (ok && type != P_PRELOGIN)
    violation(c, false, "a message of type %u where PRELOGIN is due", type);
  unsigned encryption = ok && !c->dead ? read_prelogin(c, &in) : 255;
  buf_free(&in);
  if (!ok || c->dead) return false;
  if (c->fault.login_stall == 1) return stall(c);
  if (c->strict) {
    answer_prelogin(c, ENC_NOT_SUP);
    return !c->dead;
  }
  Policy policy = c->server->policy;
  unsigned answer = ENC_REQ;
  if (encryption == ENC_ON || encryption == ENC_REQ) {
    answer = policy == ENCRYPT_NONE ? ENC_NOT_SUP : ENC_ON;
  } else if (encryption == ENC_NOT_SUP || encryption == 255) {
    answer = policy == ENCRYPT_REQUIRED ? ENC_REQ : ENC_NOT_SUP;
  } else if (policy != ENCRYPT_REQUIRED) {
    answer = policy == ENCRYPT_NONE ? ENC_NOT_SUP : ENC_OFF;
  }
  answer_prelogin(c, answer);
  if (answer == ENC_NOT_SUP) return !c->dead;
  if (encryption == ENC_NOT_SUP || encryption == 255) return false; /* no encryption, no login */
  c->login_only = answer == ENC_OFF;
  return net_start_tls(c, true);
}

/* LOGIN7 -----------------------------------------------------------------------------------------*/

typedef struct {
  uint32_t version, packet_size;
  unsigned flags3;
  char *host, *user, *password, *app, *server, *library, *language, *database;
  bool sspi;
  struct {
    bool given, utf8, json, vector, fedauth;
  } features;
  Buf acknowledged; /* FEATUREEXTACK's entries */
} Login;

/* The string at an offset/length pair; both must lie inside the message. */
static char *login_text(Conn *c, const Buf *in, size_t at, const char *what, unsigned max) {
  Rd r = {in->p, in->n, at, false};
  unsigned offset = rd_u16(&r), n = rd_u16(&r);
  if (n > max) violation(c, false, "LOGIN7's %s of %u characters", what, n);
  if (n > 0 && (offset < 94 || offset + 2 * n > in->n)) {
    violation(c, false, "LOGIN7's %s at %u+%u of %zu bytes", what, offset, 2 * n, in->n);
  }
  if (c->dead || n == 0) return xstrdup("");
  r.i = offset;
  return rd_text(&r, n);
}

static char *login_password(Conn *c, Buf *in) {
  Rd r = {in->p, in->n, 44, false};
  unsigned offset = rd_u16(&r), n = rd_u16(&r);
  if (n > 0 && (offset < 94 || offset + 2 * n > in->n))
    violation(c, false, "LOGIN7's password lies outside of it");
  for (unsigned i = 0; i < 2 * n && !c->dead; i++) {
    uint8_t byte = in->p[offset + i] ^ 0xA5;
    in->p[offset + i] = (uint8_t)(byte << 4 | byte >> 4);
  }
  return login_text(c, in, 44, "password", 128);
}

/* FeatureExt: id, u32 length, data; what we answer for each. */
static void read_features(Conn *c, const Buf *in, Login *l) {
  Rd r = {in->p, in->n, 56, false};
  unsigned offset = rd_u16(&r), n = rd_u16(&r);
  r.i = offset;
  if (n != 4 || offset + 4 > in->n) {
    violation(c, false, "LOGIN7's extension at %u+%u of %zu bytes", offset, n, in->n);
    return;
  }
  uint32_t at = rd_u32(&r);
  if (at < 94 || at >= in->n) {
    violation(c, false, "FeatureExt at %u of %zu bytes", at, in->n);
    return;
  }
  r.i = at;
  l->features.given = true;
  for (;;) {
    unsigned id = rd_u8(&r);
    if (r.bad) {
      violation(c, false, "FeatureExt without its end");
      return;
    }
    if (id == 0xFF) return;
    uint32_t size = rd_u32(&r);
    const uint8_t *data = rd_bytes(&r, size);
    if (data == NULL) {
      violation(c, false, "feature %u of %u bytes", id, size);
      return;
    }
    if (id == 2) l->features.fedauth = true;
    if (id != 0x0A && id != 0x0D && id != 0x0E) continue;
    if (id == 0x0A) l->features.utf8 = true;
    if (id == 0x0D) l->features.json = true;
    if (id == 0x0E) l->features.vector = true;
    buf_u8(&l->acknowledged, id);
    buf_u32(&l->acknowledged, 1);
    buf_u8(&l->acknowledged, 1);
  }
}

static void read_login(Conn *c, Buf *in, Login *l) {
  if (in->n < 94) {
    violation(c, false, "LOGIN7 of %zu bytes", in->n);
    return;
  }
  Rd r = {in->p, in->n, 0, false};
  uint32_t length = rd_u32(&r);
  if (length != in->n) violation(c, false, "LOGIN7 says %u bytes and has %zu", length, in->n);
  l->version = rd_u32(&r);
  l->packet_size = rd_u32(&r);
  uint32_t wanted = c->strict ? 0x08000000 : 0x74000004;
  bool known = l->version == wanted || (l->version >= 0x71000000 && l->version <= 0x74000004);
  /* tedious and others say 7.4 in strict too, as SQL Server lets them. */
  if (l->version != wanted) {
    violation(c, known, "LOGIN7 asks for version 0x%08x, not 0x%08x", l->version, wanted);
  }
  if (l->packet_size != 0 && (l->packet_size < 512 || l->packet_size > 32767))
    violation(c, false, "LOGIN7 asks for packets of %u bytes", l->packet_size);
  l->flags3 = in->p[27];
  if (c->dead) return;
  l->host = login_text(c, in, 36, "host name", 128);
  l->user = login_text(c, in, 40, "user name", 128);
  l->password = login_password(c, in);
  l->app = login_text(c, in, 48, "application name", 128);
  l->server = login_text(c, in, 52, "server name", 128);
  l->library = login_text(c, in, 60, "library name", 128);
  l->language = login_text(c, in, 64, "language", 128);
  l->database = login_text(c, in, 68, "database", 128);
  Rd tail = {in->p, in->n, 78, false};
  unsigned at = rd_u16(&tail), n = rd_u16(&tail);
  l->sspi = n > 0;
  if (at + n > in->n) violation(c, false, "LOGIN7's SSPI lies outside of it");
  if (l->flags3 & 0x10) read_features(c, in, l);
}

static void login_free(Login *l) {
  char *texts[] = {l->host,   l->user,    l->password, l->app,
                   l->server, l->library, l->language, l->database};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
  buf_free(&l->acknowledged);
}

static bool refuse(Conn *c, int number, const char *text) {
  SqlError e = {0};
  sql_error(&e, number, number == 18456 ? 14 : number == 4060 ? 11 : 16, "%s", text);
  e.line = 1;
  token_error(c, &e, NULL);
  if (number == 4060) {
    sql_error(&e, 18456, 14, "Login failed for user '%s'.", c->user);
    token_error(c, &e, NULL);
  }
  token_done(c, DONE, DONE_ERROR, 0, 0);
  buf_add(&c->out, c->done.p, c->done.n);
  c->done.n = 0;
  out_finish(c);
  return false;
}

/* The size of packets from here on: what was asked for, within what we like. */
static unsigned agree_size(const Conn *c, uint32_t asked) {
  if (c->fault.packet > 0) return (unsigned)c->fault.packet;
  if (asked == 0) return 4096;
  /* SQL Server keeps a packet within a TLS record: 16,384 less what TLS may add. */
  if (c->layer == LAYER_TLS && asked > 16368) return c->strict ? 16192 : 16368;
  return asked;
}

static void route(Conn *c) {
  Server *s = c->server;
  Buf value = {0};
  buf_u8(&value, 0);
  buf_u16(&value, (unsigned)(c->fault.route_port ? c->fault.route_port : s->port));
  pthread_mutex_lock(&s->lock);
  buf_us_varchar(&value, s->route_host[0] ? s->route_host : "localhost");
  pthread_mutex_unlock(&s->lock);
  token_settle(c);
  buf_u8(&c->out, 0xE3);
  buf_u16(&c->out, (unsigned)value.n + 5);
  buf_u8(&c->out, 20);
  buf_u16(&c->out, (unsigned)value.n);
  buf_add(&c->out, value.p, value.n);
  buf_u16(&c->out, 0);
  buf_free(&value);
}

static void accept_login(Conn *c, const Login *l, bool routed) {
  char size[16], old[16], text[300];
  unsigned agreed = agree_size(c, l->packet_size);
  Session *s = c->s;
  memcpy(s->login_database, s->database, sizeof s->login_database);
  token_env_text(c, 1, s->database, "master");
  snprintf(text, sizeof text, "Changed database context to '%s'.", s->database);
  token_info(c, 5701, 0, 2, text);
  const Collation *k = collation_default();
  uint8_t collation[5] = {(uint8_t)k->bits, (uint8_t)(k->bits >> 8), (uint8_t)(k->bits >> 16),
                          (uint8_t)(k->bits >> 24), k->sort};
  token_env(c, 7, collation, 5, NULL, 0);
  token_env_text(c, 2, "us_english", "");
  token_info(c, 5703, 0, 1, "Changed language setting to us_english.");
  token_loginack(c);
  snprintf(size, sizeof size, "%u", agreed);
  snprintf(old, sizeof old, "%u", c->packet_size);
  token_env_text(c, 4, size, old);
  if (routed) route(c);
  if (l->features.given && !c->fault.no_login_features) {
    token_settle(c);
    buf_u8(&c->out, 0xAE);
    if (l->acknowledged.n > 0) buf_add(&c->out, l->acknowledged.p, l->acknowledged.n);
    buf_u8(&c->out, 0xFF);
  }
  token_done(c, DONE, 0, 0, 0);
  buf_add(&c->out, c->done.p, c->done.n);
  c->done.n = 0;
  out_finish(c);
  c->packet_size = agreed;
}

static bool check_login(Conn *c, const Login *l) {
  SqlError error = {0};
  Server *s = c->server;
  char text[300];
  if (c->fault.login_error != 0)
    return refuse(c, (int)c->fault.login_error, "The login fails, as was asked for.");
  if (l->sspi || l->features.fedauth)
    return refuse(c, 18452, "Login failed. Only SQL Server's own logins are known here.");
  if (strcasecmp(l->user, s->user) != 0 || strcmp(l->password, s->password) != 0) {
    snprintf(text, sizeof text, "Login failed for user '%s'.", l->user);
    return refuse(c, 18456, text);
  }
  if (!engine_open(c->s, l->database[0] ? l->database : "master", &error)) {
    snprintf(text, sizeof text,
             "Cannot open database \"%s\" requested by the login. The login failed.", l->database);
    return refuse(c, 4060, text);
  }
  return true;
}

/* Takes one of the routed logins that are still due. */
static bool take_route(Conn *c) {
  pthread_mutex_lock(&c->server->lock);
  bool routed = c->server->fault.route > 0;
  if (routed) c->server->fault.route--;
  pthread_mutex_unlock(&c->server->lock);
  return routed;
}

bool login(Conn *c) {
  unsigned type, status;
  Buf in = {0};
  Login l = {0};
  bool ok = prelogin(c) && msg_read(c, &type, &status, &in) == MSG_OK;
  if (ok && type != P_LOGIN) violation(c, false, "a message of type %u where LOGIN7 is due", type);
  if (ok && c->fault.login_stall == 2) ok = stall(c);
  if (ok && !c->dead) read_login(c, &in, &l);
  ok = ok && !c->dead;
  if (ok && c->login_only) {
    c->layer = LAYER_CLEAR;
    c->header_n = c->packet_left = 0;
  }
  if (ok) {
    snprintf(c->app, sizeof c->app, "%s", l.app);
    snprintf(c->user, sizeof c->user, "%s", l.user);
    snprintf(c->host, sizeof c->host, "%s", l.host);
    snprintf(c->library, sizeof c->library, "%s",
             l.library[0] ? l.library : "a client without a name");
    violation_known(c);
    c->tds_version = l.version;
    c->utf8 = l.features.utf8;
    c->json = l.features.json;
    c->vector = l.features.vector;
    ok = !c->dead && check_login(c, &l);
  }
  if (ok) {
    accept_login(c, &l, take_route(c));
    c->logged_in = true;
  }
  login_free(&l);
  buf_free(&in);
  return ok && !c->dead;
}
