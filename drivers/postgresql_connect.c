/*
** drivers/postgresql_connect.c: options, connecting, closing.
**
** Names are resolved inside PQconnectStartParams, which blocks; all else is waited for in slices.
*/
#include <stdlib.h>
#include <string.h>

#include "postgresql.h"

/* ---- Options ---------------------------------------------------------------------------------- */

/* libpq's keywords under their own names, but for database (dbname) and edb's fetch. */
const edb_option_spec pg_options[] = {
    {"host", 0, "host name, address or directory of the socket; several with commas"},
    {"hostaddr", 0, "the host's address, so that its name is not looked up"},
    {"port", 0, "port (5432)"},
    {"user", 0, "user name"},
    {"password", EDB_OPTION_SECRET, "password; else ~/.pgpass is read"},
    {"database", 0, "database (the user's name)"},
    {"sslmode", 0, "disable, allow, prefer, require, verify-ca or verify-full"},
    {"sslrootcert", 0, "file of the authorities that are trusted; system"},
    {"sslcert", EDB_OPTION_LOCAL, "file of the client's certificate"},
    {"sslkey", EDB_OPTION_LOCAL, "file of its key"},
    {"sslpassword", EDB_OPTION_SECRET, "password of the key"},
    {"sslcrl", 0, "file of revoked certificates"},
    {"sslnegotiation", 0, "postgres or direct (libpq 17)"},
    {"channel_binding", 0, "disable, prefer or require"},
    {"gssencmode", 0, "disable, prefer or require"},
    {"krbsrvname", 0, "Kerberos service name"},
    {"require_auth", 0, "authentication methods that are accepted (libpq 16)"},
    {"passfile", EDB_OPTION_LOCAL, "file to read passwords from instead of ~/.pgpass"},
    {"service", EDB_OPTION_LOCAL, "a service of pg_service.conf"},
    {"options", 0, "settings for the session: -c name=value"},
    {"application_name", 0, "the name that the server shows (edb)"},
    {"target_session_attrs", 0, "any, read-write, read-only, primary, standby, prefer-standby"},
    {"load_balance_hosts", 0, "disable or random (libpq 16)"},
    {"connect_timeout", 0, "seconds to wait for the connection"},
    {"keepalives", 0, "0 to send no keep-alives"},
    {"keepalives_idle", 0, "seconds without traffic before the first"},
    {"keepalives_interval", 0, "seconds between two"},
    {"keepalives_count", 0, "how many may be lost"},
    {"tcp_user_timeout", 0, "milliseconds that sent data may stay unacknowledged"},
    {"fetch", 0, "how rows travel: auto, single, chunked or copy"},
    {NULL, 0, NULL},
};

#define N_OPTIONS (sizeof pg_options / sizeof pg_options[0])

static int fetch_of(const char *text, pg_fetch *fetch, edb_error *error) {
  static const char *const names[] = {"auto", "single", "chunked", "copy"};
  for (int i = 0; text && i < 4; i++) {
    if (strcmp(text, names[i]) == 0) {
      *fetch = (pg_fetch)i;
      return EDB_OK;
    }
  }
  if (!text) return EDB_OK;
  return edb_fail(error, EDB_FAILED, "fetch=%s: must be auto, single, chunked or copy", text);
}

/* libpq reads it only where it waits itself. With 0 and less the time-out of statements holds, if there is one. */
static int connect_ms_of(const char *text, int64_t *ms, edb_error *error) {
  if (!text) return EDB_OK;
  char *end;
  long seconds = strtol(text, &end, 10);
  if (end == text || *end || seconds > 86400) {
    return edb_fail(error, EDB_FAILED, "connect_timeout=%s: must be a number of up to 86400", text);
  }
  if (seconds > 0) *ms = (int64_t)seconds * 1000;
  return EDB_OK;
}

/* ---- Connecting -------------------------------------------------------------------------------- */

/* The session as the decoders want it. */
static const char setup[] = "SET client_encoding TO 'UTF8'; SET DateStyle TO 'ISO'; "
                            "SET IntervalStyle TO 'postgres'; SET TimeZone TO 'UTC'; "
                            "SET extra_float_digits TO 3; SET bytea_output TO 'hex'; "
                            "SET standard_conforming_strings TO on";

/* libpq's message, and no password in it whatever it quotes. */
static int refused(PGconn *conn, const char *const secrets[2], edb_error *error) {
  char text[1024];
  const char *message = conn ? pq.errorMessage(conn) : "out of memory";
  edb_copy_line(text, sizeof text, message, pg_trimmed(message));
  for (int i = 0; i < 2; i++) {
    size_t n = secrets[i] ? strlen(secrets[i]) : 0;
    /* Shorter ones stand in any text by chance, and would be told by being masked there. */
    for (char *at = n >= 4 ? strstr(text, secrets[i]) : NULL; at; at = strstr(at, secrets[i])) {
      for (size_t k = 0; k < n; k++) at[k] = '*';
      at += n;
    }
  }
  return edb_fail(error, EDB_FAILED, "%s", text[0] ? text : "the connection was refused");
}

static int connect_all(PGconn *conn, const edb_host *host, int64_t ms, const char *const secrets[2],
                       edb_error *error) {
  int64_t now = pg_now_ms();
  pg_waiting w = {host, NULL, 1, ms > 0 ? now + ms : 0, now};
  int state = PGRES_POLLING_WRITING;
  if (pq.status(conn) == CONNECTION_BAD) return refused(conn, secrets, error);
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    int why = pg_wait_slice(&w, pq.socket(conn), state == PGRES_POLLING_WRITING, PG_SLICE_MS);
    if (why == PG_WAIT_INTERRUPTED) {
      return edb_fail(error, EDB_INTERRUPTED, "interrupted while connecting");
    }
    if (why == PG_WAIT_TIMEOUT) {
      return edb_fail(error, EDB_INTERRUPTED, "no connection to the server within %lld ms",
                      (long long)ms);
    }
    if (why == PG_WAIT_READY) state = pq.connectPoll(conn);
  }
  return state == PGRES_POLLING_OK ? EDB_OK : refused(conn, secrets, error);
}

int pg_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error) {
  const char *keys[N_OPTIONS + 2], *values[N_OPTIONS + 2];
  int k = 0;
  pg_fetch fetch = PG_FETCH_AUTO;
  int64_t ms = host->timeout_ms;
  int rc = fetch_of(edb_option_get(options, n, "fetch"), &fetch, error);
  if (rc == EDB_OK) rc = connect_ms_of(edb_option_get(options, n, "connect_timeout"), &ms, error);
  if (rc == EDB_OK) rc = pg_library_load(error);
  if (rc != EDB_OK) return rc;
  for (const edb_option_spec *spec = pg_options; spec->name; spec++) {
    const char *value = edb_option_get(options, n, spec->name);
    if (!value || strcmp(spec->name, "fetch") == 0) continue;
    keys[k] = strcmp(spec->name, "database") == 0 ? "dbname" : spec->name;
    values[k++] = value;
  }
  keys[k] = "fallback_application_name";
  values[k++] = "edb";
  keys[k] = values[k] = NULL;
  const char *secrets[2] = {edb_option_get(options, n, "password"),
                            edb_option_get(options, n, "sslpassword")};

  pg_connection *c = edb_alloc(host, sizeof *c);
  if (!c) return edb_fail(error, EDB_NOMEM, "out of memory");
  memset(c, 0, sizeof *c);
  c->host = host;
  c->fetch = fetch;
  c->money_digits = -1;
  c->closed.host = c->deferred.host = c->parameters.host = c->rows.scratch.host = host;
  atomic_init(&c->cancelled, 0);
  c->pq = pq.connectStartParams(keys, values, 0);
  if (!c->pq) {
    rc = refused(NULL, secrets, error);
    goto failed;
  }
  pq.setNoticeReceiver(c->pq, pg_notice, c);
  rc = connect_all(c->pq, host, ms, secrets, error);
  if (rc != EDB_OK) goto failed;
  pq.setnonblocking(c->pq, 1);
  rc = pg_run(c, setup, NULL);
  if (rc != EDB_OK) {
    *error = c->error;
    goto failed;
  }
  *connection = c;
  return EDB_OK;
failed:
  if (c->cancel) pq.freeCancel(c->cancel);
  if (c->pq) pq.finish(c->pq);
  edb_free(host, c);
  return rc;
}

int pg_close(void *connection) {
  pg_connection *c = connection;
  const edb_host *host = c->host;
  if (c->rows.open || c->statements > 0 || c->transaction) {
    return edb_fail(&c->error, EDB_BUSY, "a reader, statement or transaction is open");
  }
  if (c->cancel) pq.freeCancel(c->cancel);
  pq.finish(c->pq);
  for (size_t i = 0; i < c->n_types; i++) edb_free(host, c->types[i].name);
  edb_free(host, c->types);
  edb_free(host, c->rows.scratch.p);
  edb_buffer_free(&c->closed);
  edb_buffer_free(&c->deferred);
  edb_buffer_free(&c->parameters);
  edb_free(host, c);
  return EDB_OK;
}

/* An idle server says nothing: what is readable is its farewell, or notices before it. */
int pg_alive(void *connection) {
  pg_connection *c = connection;
  if (c->dead || pq.status(c->pq) != CONNECTION_OK) return 0;
  if (c->rows.open && !c->rows.done) return 1;
  pg_waiting w = {c->host, NULL, 0, 0, 0};
  while (pg_wait_slice(&w, pq.socket(c->pq), 0, 0) == PG_WAIT_READY) {
    if (!pq.consumeInput(c->pq)) return 0;
    pg_drop_notifications(c);
    (void)pq.isBusy(c->pq); /* parses what came */
    if (pq.status(c->pq) != CONNECTION_OK) return 0;
  }
  return 1;
}
