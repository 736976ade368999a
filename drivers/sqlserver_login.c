/*
** drivers/sqlserver_login.c: from a TCP connection to a session: TLS, PRELOGIN and LOGIN7.
**
**   strict      TLS with ALPN tds/8.0; PRELOGIN and LOGIN7 within
**   mandatory   PRELOGIN in the clear, the TLS handshake inside PRELOGIN packets; then LOGIN7 within TLS
*/
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sqlserver.h"

#define LIBRARY "edb"

static int send_message(ms_connection *c, tds_message *m, edb_error *error) {
  const uint8_t *p;
  size_t n;
  int rc = EDB_OK;
  if (m->refused) return edb_fail(error, EDB_FAILED, "%s", m->refused);
  while (rc == EDB_OK && tds_message_next(m, &p, &n) == TDS_OK) {
    rc = ms_link_send(&c->link, p, n, error);
  }
  return rc;
}

/* ---- PRELOGIN ------------------------------------------------------------------------------------------ */

static int not_a_server(ms_connection *c, edb_error *error) {
  edb_fail(error, EDB_FAILED, "%s does not answer as a SQL Server does", c->link.net.peer);
  c->link.broken = 1;
  return EDB_FAILED;
}

/* The whole payload of the reply, which is short. */
static int receive_prelogin(ms_connection *c, tds_prelogin *reply, edb_error *error) {
  uint8_t payload[512];
  size_t have = 0;
  tds_packets packets = {0};
  for (;;) {
    const uint8_t *p;
    size_t n;
    tds_chunk chunk;
    tds_status status;
    const int rc = ms_link_receive(&c->link, 1, &p, &n, error);
    if (rc != EDB_OK) return rc;
    while ((status = tds_packets_next(&packets, &p, &n, &chunk)) == TDS_OK) {
      if (chunk.type != TDS_REPLY || chunk.n > sizeof payload - have) return not_a_server(c, error);
      memcpy(payload + have, chunk.p, chunk.n);
      have += chunk.n;
      if (!chunk.last) continue;
      tds_fault fault = {0};
      if (tds_prelogin_read(payload, have, reply, &fault) != TDS_OK) return not_a_server(c, error);
      return EDB_OK;
    }
    if (status == TDS_MALFORMED) return not_a_server(c, error);
  }
}

static int prelogin(ms_connection *c, const ms_target *target, edb_error *error) {
  tds_prelogin prelogin = {.version = {1, 0, 0, 0},
                           .encryption =
                               target->strict ? TDS_ENCRYPT_NOT_SUPPORTED : TDS_ENCRYPT_ON,
                           .thread_id = (uint32_t)getpid()};
  tds_message m;
  tds_message_begin(&m, TDS_PRELOGIN, TDS_LOGIN_PACKET, c->request, c->request_size);
  tds_prelogin_write(&m, &prelogin);
  tds_message_end(&m);
  int rc = send_message(c, &m, error);
  if (rc == EDB_OK) rc = receive_prelogin(c, &prelogin, error);
  if (rc != EDB_OK || target->strict) return rc;
  if (prelogin.encryption == TDS_ENCRYPT_ON || prelogin.encryption == TDS_ENCRYPT_REQUIRED) {
    return EDB_OK;
  }
  edb_fail(error, EDB_FAILED, "%s does not encrypt connections, and edb makes no others",
           c->link.net.peer);
  edb_fail_hint(error, "give the server a certificate, and allow it to encrypt");
  return EDB_FAILED;
}

/* ---- LOGIN7 ------------------------------------------------------------------------------------------------ */

static int send_login(ms_connection *c, const ms_target *target, const char *host, unsigned port,
                      edb_error *error) {
  char machine[64] = "", server[MS_NAME + 8];
  tds_message m;
  if (gethostname(machine, sizeof machine - 1) != 0) machine[0] = 0;
  snprintf(server, sizeof server, "%s,%u", host, port);
  const tds_login login = {.tds_version = target->strict ? TDS_VERSION_80 : TDS_VERSION_74,
                           .packet_size = target->packet_size,
                           .process_id = (uint32_t)getpid(),
                           .features = c->stream.features,
                           .read_only = (uint8_t)target->read_only,
                           .host = machine,
                           .user = target->user,
                           .password = target->password,
                           .app = target->app,
                           .server = server,
                           .library = LIBRARY,
                           .language = "us_english",
                           .database = target->database};
  tds_message_begin(&m, TDS_LOGIN7, TDS_LOGIN_PACKET, c->request, c->request_size);
  tds_login_write(&m, &login);
  tds_message_end(&m);
  const int rc = send_message(c, &m, error);
  tds_message_wipe(&m);
  return rc;
}

/* The answer to LOGIN7, as that to any request; the reasons to refuse it are in c->error. */
static int take_login(ms_connection *c, const ms_target *target) {
  const uint32_t wanted = target->strict ? TDS_VERSION_80 : TDS_VERSION_74;
  c->reply = (ms_reply){.open = 1};
  const int rc = ms_finish(c);
  if (rc == EDB_FAILED && c->error.vendor == 18456) {
    edb_fail_hint(&c->error, "see user, password, password_env and password_file");
  }
  if (rc != EDB_OK || c->route[0]) return rc;
  if (!c->acknowledged) {
    return edb_fail(&c->error, EDB_FAILED, "the server did not acknowledge the login");
  }
  if (c->tds_version != wanted) {
    return edb_fail(&c->error, EDB_UNSUPPORTED,
                    "the server speaks TDS version %08X, where %08X is needed",
                    (unsigned)c->tds_version, (unsigned)wanted);
  }
  if (c->packet_size > TLS_PLAIN_MAX) {
    return edb_fail(&c->error, EDB_UNSUPPORTED,
                    "the server wants packets of %u bytes, which no TLS record can hold",
                    c->packet_size);
  }
  return EDB_OK;
}

int ms_login(ms_connection *c, const ms_target *target, const char *host, unsigned port,
             edb_error *error) {
  /* After routing the certificate is the new host's. */
  const char *name = target->server_name && c->hops == 0 ? target->server_name : host;
  int rc = EDB_OK;
  c->route[0] = 0;
  c->acknowledged = 0;
  c->packet_size = TDS_LOGIN_PACKET;
  tds_stream_begin(&c->stream, TDS_FEATURE(TDS_FEATURE_UTF8) | TDS_FEATURE(TDS_FEATURE_JSON) |
                                   TDS_FEATURE(TDS_FEATURE_VECTOR));
  if (target->strict) rc = ms_link_secure(&c->link, target, name, error);
  if (rc == EDB_OK) rc = prelogin(c, target, error);
  if (rc == EDB_OK && !target->strict) rc = ms_link_secure(&c->link, target, name, error);
  if (rc == EDB_OK) rc = send_login(c, target, host, port, error);
  if (rc != EDB_OK) return rc;
  rc = take_login(c, target);
  if (rc != EDB_OK) *error = c->error;
  return rc;
}
