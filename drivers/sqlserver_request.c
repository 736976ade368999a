/*
** drivers/sqlserver_request.c: what is asked of the server: a request is written as packets into one buffer, and
** each packet sealed and sent as one record.
*/
#include <string.h>

#include "sqlserver.h"

#define KEPT (1u << 20) /* a larger buffer is given back */

int ms_request_room(ms_connection *c, size_t size, edb_error *error) {
  if (size <= c->request_size) return EDB_OK;
  uint8_t *p = c->host->resize(c->host->context, c->request, size);
  if (!p) return edb_fail(error, EDB_NOMEM, "out of memory");
  c->request = p;
  c->request_size = size;
  return EDB_OK;
}

static const uint8_t packet_types[] = {
    [MS_BATCH] = TDS_BATCH,         [MS_EXECUTE_SQL] = TDS_RPC,   [MS_PREPARE_EXECUTE] = TDS_RPC,
    [MS_EXECUTE] = TDS_RPC,         [MS_BEGIN] = TDS_TRANSACTION, [MS_COMMIT] = TDS_TRANSACTION,
    [MS_ROLLBACK] = TDS_TRANSACTION};

static void write_payload(ms_connection *c, tds_message *m, const ms_request *r) {
  switch (r->kind) {
  case MS_BATCH:
    tds_batch(m, r->sql, r->n, c->descriptor);
    break;
  case MS_EXECUTE_SQL:
    tds_execute_sql(m, c->descriptor, r->sql, r->n, r->parameters, r->count);
    break;
  case MS_PREPARE_EXECUTE:
    tds_prepare_execute(m, c->descriptor, r->sql, r->n, r->parameters, r->count);
    break;
  case MS_EXECUTE:
    tds_execute_handle(m, c->descriptor, r->handle, r->parameters, r->count);
    break;
  case MS_BEGIN:
    tds_begin(m, c->descriptor, c->snapshot ? TDS_SNAPSHOT : TDS_ISOLATION_CURRENT);
    break;
  case MS_COMMIT:
    tds_commit(m, c->descriptor);
    break;
  case MS_ROLLBACK:
    tds_rollback(m, c->descriptor, NULL);
    break;
  }
}

static int write_message(ms_connection *c, tds_message *m, const ms_request *r) {
  for (;;) {
    tds_message_begin(m, packet_types[r->kind], c->packet_size, c->request, c->request_size);
    if (r->reset) tds_message_reset(m, TDS_RESET);
    write_payload(c, m, r);
    tds_message_end(m);
    if (m->refused) return edb_fail(&c->error, EDB_INVALID_QUERY, "%s", m->refused);
    if (m->n <= m->size) return EDB_OK;
    const int rc = ms_request_room(c, m->n, &c->error);
    if (rc != EDB_OK) return rc;
  }
}

/* The server forgets what it has got ([MS-TDS] 2.2.3.1.2), and is told to stop all the same, since whether it answers
** that is not said. */
void ms_break_off(ms_connection *c, tds_message *m) {
  const uint8_t *p;
  size_t n;
  const edb_error why = c->error;
  int rc = EDB_OK;
  if (m->sent < m->n) {
    tds_message_cancel(m);
    c->link.draining = 1;
    if (tds_message_next(m, &p, &n) == TDS_OK) rc = ms_link_send(&c->link, p, n, NULL);
    c->link.draining = 0;
  }
  if (rc == EDB_OK) ms_stop(c);
  c->error = why;
}

void ms_request_shrink(ms_connection *c) {
  if (c->request_size <= KEPT) return;
  uint8_t *p = c->host->resize(c->host->context, c->request, KEPT);
  if (!p) return;
  c->request = p;
  c->request_size = KEPT;
}

int ms_send_message(ms_connection *c, tds_message *m) {
  const uint8_t *p;
  size_t n;
  int rc = EDB_OK;
  while (rc == EDB_OK && tds_message_next(m, &p, &n) == TDS_OK) {
    rc = ms_link_send(&c->link, p, n, &c->error);
  }
  if (rc == EDB_INTERRUPTED) ms_break_off(c, m);
  if (rc != EDB_OK) c->reply.open = 0;
  return rc;
}

int ms_send(ms_connection *c, const ms_request *request) {
  tds_message m;
  int rc = write_message(c, &m, request);
  if (rc == EDB_OK) {
    c->reply = (ms_reply){.open = 1};
    rc = ms_send_message(c, &m);
  }
  ms_request_shrink(c);
  return rc;
}

int ms_run(ms_connection *c, const ms_request *request) {
  const int rc = ms_send(c, request);
  return rc == EDB_OK ? ms_finish(c) : rc;
}

int ms_run_batch(ms_connection *c, const char *sql) {
  const ms_request request = {.kind = MS_BATCH, .sql = sql, .n = strlen(sql)};
  return ms_run(c, &request);
}
