/*
** drivers/postgresql_connect.c: a connection's life: options, connecting, waiting, stopping, errors.
**
** libpq is used without blocking: every wait is a poll of its socket in slices, between which the host is
** asked whether to go on. Names are still resolved inside PQconnectStartParams, which blocks.
*/
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(_WIN32)
#include <winsock2.h>
#define poll WSAPoll
#else
#include <errno.h>
#include <poll.h>
#endif

#include "postgresql.h"

#define SLICE_MS 100
#define STOP_MS 5000 /* how long a command may take to end after it was stopped */

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
    {"sslcert", 0, "file of the client's certificate"},
    {"sslkey", 0, "file of its key"},
    {"sslpassword", EDB_OPTION_SECRET, "password of the key"},
    {"sslcrl", 0, "file of revoked certificates"},
    {"sslnegotiation", 0, "postgres or direct (libpq 17)"},
    {"channel_binding", 0, "disable, prefer or require"},
    {"gssencmode", 0, "disable, prefer or require"},
    {"krbsrvname", 0, "Kerberos service name"},
    {"require_auth", 0, "authentication methods that are accepted (libpq 16)"},
    {"passfile", 0, "file to read passwords from instead of ~/.pgpass"},
    {"service", 0, "a service of pg_service.conf"},
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

/* ---- Errors ----------------------------------------------------------------------------------- */

/* SQLSTATEs by their beginning; the first that fits counts. */
static const struct {
  const char *prefix;
  edb_code code;
} codes[] = {
    {"23", EDB_CONSTRAINT},    {"40001", EDB_BUSY},        {"40P01", EDB_BUSY},
    {"55P03", EDB_BUSY},       {"55006", EDB_BUSY},        {"08", EDB_CLOSED},
    {"57P0", EDB_CLOSED},      {"57014", EDB_INTERRUPTED}, {"0A", EDB_UNSUPPORTED},
    {"42", EDB_INVALID_QUERY}, {"22", EDB_INVALID_QUERY},  {"21", EDB_INVALID_QUERY},
    {"26", EDB_INVALID_QUERY}, {"34", EDB_INVALID_QUERY},  {"3D", EDB_INVALID_QUERY},
    {"3F", EDB_INVALID_QUERY}, {"2B", EDB_INVALID_QUERY},  {"44", EDB_CONSTRAINT},
};

edb_code pg_code_of(const char *sqlstate) {
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (strncmp(sqlstate, codes[i].prefix, strlen(codes[i].prefix)) == 0) return codes[i].code;
  }
  return EDB_FAILED;
}

static size_t trimmed(const char *text) {
  size_t n = strlen(text);
  while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) n--;
  return n;
}

int pg_lost(pg_connection *c) {
  const char *text = c->pq ? pq.errorMessage(c->pq) : "";
  size_t n = trimmed(text);
  c->dead = 1;
  if (n == 0) return edb_fail(&c->error, EDB_CLOSED, "the connection to the server is gone");
  return edb_fail(&c->error, EDB_CLOSED, "%.*s", n > 2000 ? 2000 : (int)n, text);
}

int pg_result_error(pg_connection *c, const PGresult *result) {
  const char *message = pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char *sqlstate = pq.resultErrorField(result, PG_DIAG_SQLSTATE);
  const char *detail = pq.resultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
  const char *hint = pq.resultErrorField(result, PG_DIAG_MESSAGE_HINT);
  const char *severity = pq.resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (!message) {
    /* libpq's own: what came was no answer of the server's, or there is no connection any more. */
    if (pq.status(c->pq) == CONNECTION_BAD) return pg_lost(c);
    message = pq.resultErrorMessage(result);
  }
  size_t n = trimmed(message);
  edb_code code = sqlstate ? pg_code_of(sqlstate) : EDB_FAILED;
  /* After these the server ends the connection, whatever the reason. */
  if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)) {
    code = EDB_CLOSED;
    c->dead = 1;
  }
  edb_fail(&c->error, code, "%.*s", n > 2000 ? 2000 : (int)n, message);
  if (sqlstate)
    edb_copy_line(c->error.sqlstate, sizeof c->error.sqlstate, sqlstate, strlen(sqlstate));
  if (detail || hint) {
    edb_fail_hint(&c->error, "%s%s%s", detail ? detail : "", detail && hint ? " " : "",
                  hint ? hint : "");
  }
  return (int)code;
}

static void on_notice(void *context, const PGresult *result) {
  const edb_host *host = ((const pg_connection *)context)->host;
  if (!host->log) return;
  const char *severity = pq.resultErrorField(result, PG_DIAG_SEVERITY);
  const char *message = pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (!message) message = pq.resultErrorMessage(result);
  edb_error line;
  edb_fail(&line, EDB_OK, "%s%s%s", severity ? severity : "", severity ? ": " : "", message);
  host->log(host->context, line.message, strlen(line.message));
}

/* ---- Waiting ---------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
#if defined(_WIN32)
  return (int64_t)GetTickCount64();
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
#endif
}

/* One wait for an answer: when it began, and whom it asks. */
typedef struct waiting {
  const edb_host *host;
  atomic_int *cancelled; /* NULL: it is not asked */
  int ask;               /* whether the host is */
  int64_t end;           /* 0: none */
  int64_t asked;
} waiting;

enum { WAIT_READY, WAIT_AGAIN, WAIT_TIMEOUT, WAIT_INTERRUPTED };

/* A slice of it. AGAIN: nothing came, and nobody wants to stop. */
static int wait_slice(waiting *w, int handle, int for_write, int ms) {
  if (w->cancelled && atomic_load_explicit(w->cancelled, memory_order_relaxed)) {
    return WAIT_INTERRUPTED;
  }
  int64_t now = now_ms();
  if (w->ask && w->host->interrupted && now - w->asked >= SLICE_MS) {
    w->asked = now;
    if (w->host->interrupted(w->host->context)) return WAIT_INTERRUPTED;
  }
  if (w->end && now >= w->end) return WAIT_TIMEOUT;
  if (handle < 0) return WAIT_READY; /* libpq closed it and will say so */
  if (w->end && w->end - now < ms) ms = (int)(w->end - now);
  struct pollfd fd = {0};
#if defined(_WIN32)
  fd.fd = (SOCKET)handle;
#else
  fd.fd = handle;
#endif
  fd.events = (short)(POLLIN | (for_write ? POLLOUT : 0));
  int n = poll(&fd, 1, ms);
#if !defined(_WIN32)
  if (n < 0 && errno == EINTR) return WAIT_AGAIN;
#endif
  return n == 0 ? WAIT_AGAIN : WAIT_READY;
}

static waiting start_waiting(pg_connection *c) {
  int64_t now = now_ms();
  int ms = c->host->timeout_ms;
  waiting w = {c->host, &c->cancelled, 1, ms > 0 ? now + ms : 0, now};
  return w;
}

/* The command is stopped, then the reason becomes the connection's error. */
static int give_up(pg_connection *c, int why) {
  int rc = pg_stop(c);
  if (rc != EDB_OK) return rc;
  if (why == WAIT_TIMEOUT) {
    return edb_fail(&c->error, EDB_INTERRUPTED, "the server did not answer within %d ms",
                    c->host->timeout_ms);
  }
  return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted");
}

/* Waits for one result to be complete. READY also where the connection failed: the result says so. */
static int wait_result(pg_connection *c, waiting *w) {
  while (pq.isBusy(c->pq)) {
    int flushed = pq.flush(c->pq);
    int why = wait_slice(w, pq.socket(c->pq), flushed > 0, SLICE_MS);
    if (why == WAIT_AGAIN) continue;
    if (why != WAIT_READY) return why;
    if (!pq.consumeInput(c->pq)) break;
  }
  return WAIT_READY;
}

int pg_wait(pg_connection *c) {
  if (atomic_load_explicit(&c->cancelled, memory_order_relaxed)) {
    return give_up(c, WAIT_INTERRUPTED);
  }
  if (!pq.isBusy(c->pq)) return EDB_OK;
  waiting w = start_waiting(c);
  int why = wait_result(c, &w);
  return why == WAIT_READY ? EDB_OK : give_up(c, why);
}

int pg_wait_input(pg_connection *c) {
  waiting w = start_waiting(c);
  for (;;) {
    int why = wait_slice(&w, pq.socket(c->pq), 0, SLICE_MS);
    if (why == WAIT_AGAIN) continue;
    if (why != WAIT_READY) return give_up(c, why);
    return pq.consumeInput(c->pq) ? EDB_OK : pg_lost(c);
  }
}

int pg_sent(pg_connection *c, int sent) {
  if (!sent) {
    if (pq.status(c->pq) == CONNECTION_BAD) return pg_lost(c);
    const char *text = pq.errorMessage(c->pq);
    return edb_fail(&c->error, EDB_FAILED, "%.*s", (int)trimmed(text), text);
  }
  int left = pq.flush(c->pq);
  if (left == 0) return EDB_OK;
  waiting w = start_waiting(c);
  while (left > 0) {
    int why = wait_slice(&w, pq.socket(c->pq), 1, SLICE_MS);
    if (why == WAIT_TIMEOUT || why == WAIT_INTERRUPTED) {
      /* Half a message is out: the connection cannot be used for another. */
      c->dead = 1;
      return edb_fail(&c->error, EDB_INTERRUPTED, "interrupted while sending; the connection ends");
    }
    /* The server may answer, even with an error, while we still send. */
    if (why == WAIT_READY && !pq.consumeInput(c->pq)) return pg_lost(c);
    left = pq.flush(c->pq);
  }
  return left == 0 ? EDB_OK : pg_lost(c);
}

/* ---- Results ----------------------------------------------------------------------------------- */

static int is_error(const PGresult *result) {
  switch (pq.resultStatus(result)) {
  case PGRES_EMPTY_QUERY:
  case PGRES_COMMAND_OK:
  case PGRES_TUPLES_OK:
  case PGRES_COPY_OUT:
  case PGRES_COPY_IN:
  case PGRES_COPY_BOTH:
  case PGRES_SINGLE_TUPLE:
  case PGRES_PIPELINE_ABORTED: /* the error came before */
  case PGRES_TUPLES_CHUNK:
    return 0;
  default:
    return 1;
  }
}

/* Reads COPY's messages away. 0 at their end, else as wait_slice. */
static int skip_copy(pg_connection *c, waiting *w) {
  for (;;) {
    char *message = NULL;
    int n = pq.getCopyData(c->pq, &message, 1);
    if (message) pq.freemem(message);
    if (n < 0) return WAIT_READY;
    if (n > 0) continue;
    int why = wait_slice(w, pq.socket(c->pq), 0, SLICE_MS);
    if (why == WAIT_TIMEOUT || why == WAIT_INTERRUPTED) return why;
    if (why == WAIT_READY && !pq.consumeInput(c->pq)) return WAIT_READY;
  }
}

/* Takes results until the end. each: the time-out is for one result, not for all of them. last: gets the last
** one without error. failed: gets the first error, which becomes the connection's; NULL: errors are dropped. */
static int take_all(pg_connection *c, waiting *w, int each, PGresult **last, int *failed) {
  for (;;) {
    if (each) *w = start_waiting(c);
    int why = wait_result(c, w);
    if (why != WAIT_READY) return why;
    PGresult *result = pq.getResult(c->pq);
    if (!result && c->pipeline && pq.status(c->pq) == CONNECTION_OK) continue;
    if (!result) return WAIT_READY;
    int status = pq.resultStatus(result);
    if (status == PGRES_PIPELINE_SYNC) {
      pq.clear(result);
      c->pipeline = 0;
      return WAIT_READY;
    }
    if (is_error(result)) {
      if (failed && *failed == EDB_OK) *failed = pg_result_error(c, result);
    } else if (status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
      pq.clear(result);
      why = skip_copy(c, w);
      if (why != WAIT_READY) return why;
      if (failed && *failed == EDB_OK) {
        *failed = edb_fail(&c->error, EDB_UNSUPPORTED, "COPY TO STDOUT is not supported");
      }
      continue;
    } else if (status == PGRES_COPY_IN) {
      if (failed && *failed == EDB_OK) {
        *failed = edb_fail(&c->error, EDB_UNSUPPORTED, "COPY FROM STDIN is not supported");
      }
      pq.putCopyEnd(c->pq, "not supported");
    } else if (last) {
      if (*last) pq.clear(*last);
      *last = result;
      continue;
    }
    pq.clear(result);
    if (pq.status(c->pq) == CONNECTION_BAD) {
      c->dead = 1;
      return WAIT_READY;
    }
  }
}

/* LISTEN's messages are nobody's: they must not pile up. */
static void drop_notifications(pg_connection *c) {
  void *notification;
  while ((notification = pq.notifies(c->pq))) pq.freemem(notification);
}

int pg_finish(pg_connection *c, PGresult **result) {
  PGresult *last = NULL;
  int failed = EDB_OK;
  if (result) *result = NULL;
  waiting w;
  int why = take_all(c, &w, 1, &last, &failed);
  if (why != WAIT_READY) {
    if (last) pq.clear(last);
    return give_up(c, why);
  }
  drop_notifications(c);
  if (failed == EDB_OK && pq.status(c->pq) == CONNECTION_BAD) failed = pg_lost(c);
  if (failed == EDB_OK && result) {
    *result = last;
  } else if (last) {
    pq.clear(last);
  }
  return failed;
}

int pg_drain(pg_connection *c) {
  waiting w;
  int failed = EDB_OK;
  int why = take_all(c, &w, 1, NULL, &failed);
  if (why != WAIT_READY) return give_up(c, why);
  drop_notifications(c);
  return failed;
}

int pg_run(pg_connection *c, const char *sql, PGresult **result) {
  if (result) *result = NULL;
  c->unnamed++;
  int rc = pg_sent(c, pq.sendQuery(c->pq, sql));
  return rc == EDB_OK ? pg_finish(c, result) : rc;
}

/* ---- Stopping ---------------------------------------------------------------------------------- */

/* A request of its own connection; encrypted as this one is, where libpq can. */
static void request_cancel(pg_connection *c, waiting *w) {
  char ignored[256];
  if (!pq.cancelCreate) {
    if (!c->cancel) c->cancel = pq.getCancel(c->pq);
    if (c->cancel) pq.cancel(c->cancel, ignored, sizeof ignored);
    return;
  }
  PGcancelConn *request = pq.cancelCreate(c->pq);
  int state = request && pq.cancelStart(request) ? PGRES_POLLING_WRITING : PGRES_POLLING_FAILED;
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    int why = wait_slice(w, pq.cancelSocket(request), state == PGRES_POLLING_WRITING, SLICE_MS);
    if (why == WAIT_TIMEOUT) break;
    if (why == WAIT_READY) state = pq.cancelPoll(request);
  }
  if (request) pq.cancelFinish(request);
}

int pg_stop(pg_connection *c) {
  waiting w = {c->host, NULL, 0, now_ms() + STOP_MS, 0};
  request_cancel(c, &w);
  int why = take_all(c, &w, 0, NULL, NULL);
  drop_notifications(c);
  if (why == WAIT_READY && pq.status(c->pq) == CONNECTION_OK) return EDB_OK;
  if (why == WAIT_READY) return pg_lost(c);
  c->dead = 1;
  return edb_fail(&c->error, EDB_CLOSED,
                  "the server did not stop the command within %d s; the connection ends",
                  STOP_MS / 1000);
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
  edb_copy_line(text, sizeof text, message, trimmed(message));
  for (int i = 0; i < 2; i++) {
    size_t n = secrets[i] ? strlen(secrets[i]) : 0;
    for (char *at = n ? strstr(text, secrets[i]) : NULL; at; at = strstr(at, secrets[i])) {
      for (size_t k = 0; k < n; k++) at[k] = '*';
      at += n;
    }
  }
  return edb_fail(error, EDB_FAILED, "%s", text[0] ? text : "the connection was refused");
}

static int connect_all(PGconn *conn, const edb_host *host, const char *timeout,
                       const char *const secrets[2], edb_error *error) {
  int64_t now = now_ms();
  long seconds = timeout ? strtol(timeout, NULL, 10) : 0;
  int64_t ms = seconds > 0 ? (int64_t)seconds * 1000 : host->timeout_ms;
  waiting w = {host, NULL, 1, ms > 0 ? now + ms : 0, now};
  int state = PGRES_POLLING_WRITING;
  if (pq.status(conn) == CONNECTION_BAD) return refused(conn, secrets, error);
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    int why = wait_slice(&w, pq.socket(conn), state == PGRES_POLLING_WRITING, SLICE_MS);
    if (why == WAIT_INTERRUPTED) {
      return edb_fail(error, EDB_INTERRUPTED, "interrupted while connecting");
    }
    if (why == WAIT_TIMEOUT) {
      return edb_fail(error, EDB_INTERRUPTED, "no connection to the server within %lld ms",
                      (long long)ms);
    }
    if (why == WAIT_READY) state = pq.connectPoll(conn);
  }
  return state == PGRES_POLLING_OK ? EDB_OK : refused(conn, secrets, error);
}

int pg_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error) {
  const char *keys[N_OPTIONS + 2], *values[N_OPTIONS + 2];
  int k = 0;
  pg_fetch fetch = PG_FETCH_AUTO;
  int rc = fetch_of(edb_option_get(options, n, "fetch"), &fetch, error);
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
  c->closed.host = c->parameters.host = c->rows.scratch.host = host;
  atomic_init(&c->cancelled, 0);
  c->pq = pq.connectStartParams(keys, values, 0);
  if (!c->pq) {
    rc = refused(NULL, secrets, error);
    goto failed;
  }
  pq.setNoticeReceiver(c->pq, on_notice, c);
  rc = connect_all(c->pq, host, edb_option_get(options, n, "connect_timeout"), secrets, error);
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
  edb_buffer_free(&c->parameters);
  edb_free(host, c);
  return EDB_OK;
}

/* An idle server says nothing: what is readable is its farewell, or notices before it. */
int pg_alive(void *connection) {
  pg_connection *c = connection;
  if (c->dead || pq.status(c->pq) != CONNECTION_OK) return 0;
  if (c->rows.open && !c->rows.done) return 1;
  waiting w = {c->host, NULL, 0, 0, 0};
  while (wait_slice(&w, pq.socket(c->pq), 0, 0) == WAIT_READY) {
    if (!pq.consumeInput(c->pq)) return 0;
    drop_notifications(c);
    (void)pq.isBusy(c->pq); /* parses what came */
    if (pq.status(c->pq) != CONNECTION_OK) return 0;
  }
  return 1;
}
