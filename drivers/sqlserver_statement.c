/*
** drivers/sqlserver_statement.c: statements and their parameters.
**
** SQL without parameters is a batch, so that it may be any. With parameters it is run by sp_executesql, the second
** time prepared along with it (sp_prepexec), from then on by its handle (sp_execute): what runs once leaves nothing
** behind. The server's handle is bound to the types of the parameters; where a value does not fit them, the
** statement is prepared anew. A NULL stands in the SQL as NULL, until the parameter has had a value and so a
** type: as an nvarchar it would not convert to everything.
**
** Text of ASCII alone travels as varchar: compared with an nvarchar, a varchar column's index would not be used.
*/
#include <stdio.h>
#include <string.h>

#include "sqlserver.h"

#define UNPREPARE_BYTES 256 /* of EXEC sp_unprepare before they are sent */
#define SHORT_BYTES 8000
#define MOST_PARAMETERS 65535

/* ---- Parameters ------------------------------------------------------------------------------------------- */

static int is_ascii(const char *p, size_t n) {
  unsigned char all = 0;
  for (size_t i = 0; i < n; i++) all |= (unsigned char)p[i];
  return all < 0x80;
}

static tds_type_info type_of(const tds_value *v) {
  tds_type_info t = tds_parameter_type(v);
  if (v->kind == TDS_TEXT && is_ascii(v->as.text.p, v->as.text.n)) {
    t.type = TDS_BIGVARCHAR;
    t.length = v->as.text.n <= SHORT_BYTES ? SHORT_BYTES : TDS_MAX;
  }
  return t;
}

/* Whether a value that by itself would be of type t can be sent as the type that was declared. */
static int fits(const tds_type_info *declared, const tds_type_info *t) {
  const int type =
      declared->type == t->type || (declared->type == TDS_NVARCHAR && t->type == TDS_BIGVARCHAR);
  if (!type) return 0;
  return declared->length == TDS_MAX || t->length != TDS_MAX;
}

_Static_assert(sizeof(tds_value) == sizeof(edb_value) &&
                   offsetof(tds_value, as) == offsetof(edb_value, as) &&
                   offsetof(tds_time, days) == offsetof(edb_time, days) &&
                   offsetof(tds_time, form) == offsetof(edb_time, form) &&
                   offsetof(tds_time, zoned) == offsetof(edb_time, zoned) &&
                   (int)TDS_NULL == (int)EDB_NULL && (int)TDS_BOOL == (int)EDB_BOOL &&
                   (int)TDS_I64 == (int)EDB_I64 && (int)TDS_U64 == (int)EDB_U64 &&
                   (int)TDS_F64 == (int)EDB_F64 && (int)TDS_TEXT == (int)EDB_TEXT &&
                   (int)TDS_BYTES == (int)EDB_BYTES && (int)TDS_TIME == (int)EDB_TIME &&
                   (int)TDS_DATE == (int)EDB_DATE && (int)TDS_CLOCK == (int)EDB_CLOCK &&
                   (int)TDS_DATETIME == (int)EDB_DATETIME,
               "values of tds/ are values of the contract");

static int room_for(ms_connection *c, size_t n) {
  if (n <= c->parameters_size) return EDB_OK;
  tds_parameter *p = c->host->resize(c->host->context, c->parameters, n * sizeof *p);
  if (!p) return ms_nomem(c);
  c->parameters = p;
  c->parameters_size = n;
  return EDB_OK;
}

/* Copies the values to c->parameters; the types are for the caller to set. */
static int take_values(ms_connection *c, const edb_parameter *parameters, size_t n,
                       size_t placeholders) {
  if (n != placeholders) {
    return edb_fail(&c->error, EDB_INVALID_QUERY,
                    "the statement has %zu parameters, %zu were given", placeholders, n);
  }
  if (n > MOST_PARAMETERS) return edb_fail(&c->error, EDB_INVALID_QUERY, "too many parameters");
  const int rc = room_for(c, n);
  if (rc != EDB_OK) return rc;
  for (size_t i = 0; i < n; i++) {
    if (parameters[i].name) {
      return edb_fail(&c->error, EDB_UNSUPPORTED, "parameters have no names here: write ?");
    }
    memcpy(&c->parameters[i].value, &parameters[i].value, sizeof c->parameters[i].value);
  }
  return EDB_OK;
}

/* Drops those that are not sent (of type 0): how many are left. */
static size_t sent_parameters(ms_connection *c, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (c->parameters[i].info.type != 0) c->parameters[kept++] = c->parameters[i];
  }
  return kept;
}

static void choose_types(ms_connection *c, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const tds_value *v = &c->parameters[i].value;
    c->parameters[i].info = v->kind == TDS_NULL ? (tds_type_info){0} : type_of(v);
  }
}

/* Types as they were declared. 0: a value does not fit. */
static int reuse_types(ms_connection *c, const tds_type_info *declared, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const tds_value *v = &c->parameters[i].value;
    c->parameters[i].info = declared[i];
    if (v->kind == TDS_NULL) continue;
    const tds_type_info t = type_of(v);
    if (!fits(&declared[i], &t)) return 0;
  }
  return 1;
}

/* As they were declared where they fit, so that one that was typed stays so. */
static void widen_types(ms_connection *c, const tds_type_info *declared, size_t n) {
  for (size_t i = 0; i < n; i++) {
    tds_parameter *p = &c->parameters[i];
    if (p->value.kind == TDS_NULL) {
      p->info = declared[i];
    } else {
      p->info = type_of(&p->value);
      if (fits(&declared[i], &p->info)) p->info = declared[i];
    }
  }
}

/* The SQL with @p1, @p2 … for its placeholders, and NULL where a parameter is not sent: in c->sql. */
static int rewrite(ms_connection *c, const char *sql, size_t length, size_t n) {
  uint8_t few[64], *null = n <= sizeof few ? few : edb_alloc(c->host, n);
  if (!null) return ms_nomem(c);
  for (size_t i = 0; i < n; i++) null[i] = c->parameters[i].info.type == 0;
  const size_t size = tds_sql_rewrite(NULL, 0, sql, length, null, n);
  c->sql.n = 0;
  char *room = edb_buffer_room(&c->sql, size);
  if (room) {
    tds_sql_rewrite(room, size, sql, length, null, n);
    c->sql.n = size;
  }
  if (null != few) edb_free(c->host, null);
  if (room) return EDB_OK;
  edb_buffer_free(&c->sql);
  c->sql.nomem = 0;
  return ms_nomem(c);
}

static size_t count_placeholders(const char *sql, size_t n) {
  size_t count = 0;
  for (size_t at = tds_sql_placeholder(sql, n, 0); at < n; count++) {
    at = tds_sql_placeholder(sql, n, at + 1);
  }
  return count;
}

/* ---- Running ------------------------------------------------------------------------------------------------ */

/* Up to the first columns, or the end. */
static int start(ms_connection *c, const ms_request *request) {
  int rc = ms_send(c, request);
  if (rc == EDB_OK) rc = ms_next(c);
  return rc == EDB_DONE ? EDB_OK : rc;
}

/* Handles of closed statements are given back some at a time, outside of transactions. */
static int give_back(ms_connection *c) {
  if (c->unprepare.n < UNPREPARE_BYTES || c->transaction || c->descriptor) return EDB_OK;
  const int rc = ms_run_batch(c, c->unprepare.p);
  c->unprepare.n = 0;
  return rc == EDB_CLOSED || rc == EDB_INTERRUPTED || rc == EDB_NOMEM ? rc : EDB_OK;
}

int ms_start(ms_connection *c, const char *sql, const edb_parameter *parameters, size_t n) {
  const size_t length = strlen(sql);
  ms_request request = {.kind = MS_BATCH, .sql = sql, .n = length};
  int rc = give_back(c);
  if (rc == EDB_OK) rc = take_values(c, parameters, n, count_placeholders(sql, length));
  if (rc == EDB_OK && n > 0) {
    choose_types(c, n);
    rc = rewrite(c, sql, length, n);
    request = (ms_request){.kind = MS_EXECUTE_SQL,
                           .sql = c->sql.p,
                           .n = c->sql.n,
                           .parameters = c->parameters,
                           .count = sent_parameters(c, n)};
  }
  return rc == EDB_OK ? start(c, &request) : rc;
}

static void drop_handle(ms_statement *s) {
  char text[40];
  if (s->handle && s->session == s->connection->session && !ms_dead(s->connection)) {
    snprintf(text, sizeof text, "EXEC sp_unprepare %d;", (int)s->handle);
    edb_buffer_text(&s->connection->unprepare, text);
  }
  s->handle = 0;
}

static void keep_declared(ms_statement *s) {
  for (size_t i = 0; i < s->placeholders; i++) {
    s->declared[i] = s->connection->parameters[i].info;
  }
}

/* By the handle, where there is one that fits; else by the SQL. */
static int choose(ms_statement *s, ms_request *request) {
  ms_connection *c = s->connection;
  const size_t n = s->placeholders;
  if (s->session != c->session) s->handle = 0;
  s->session = c->session;
  if (s->handle && reuse_types(c, s->declared, n)) {
    *request = (ms_request){.kind = MS_EXECUTE, .handle = s->handle};
  } else {
    const int again = s->ran && !s->unprepared;
    drop_handle(s);
    if (s->ran) {
      widen_types(c, s->declared, n);
    } else {
      choose_types(c, n);
    }
    keep_declared(s);
    const int rc = rewrite(c, s->sql, s->n, n);
    if (rc != EDB_OK) return rc;
    *request = (ms_request){
        .kind = again ? MS_PREPARE_EXECUTE : MS_EXECUTE_SQL, .sql = c->sql.p, .n = c->sql.n};
  }
  request->count = sent_parameters(c, n);
  request->parameters = c->parameters;
  return EDB_OK;
}

int ms_statement_start(ms_statement *s, const edb_parameter *parameters, size_t n) {
  ms_connection *c = s->connection;
  if (s->placeholders == 0) {
    const int rc = take_values(c, parameters, n, 0);
    return rc == EDB_OK ? ms_start(c, s->sql, NULL, 0) : rc;
  }
  int rc = give_back(c);
  for (int tries = 0; rc == EDB_OK; tries++) {
    ms_request request = {0};
    rc = take_values(c, parameters, n, s->placeholders);
    if (rc == EDB_OK) rc = choose(s, &request);
    if (rc != EDB_OK) return rc;
    s->ran = 1;
    s->preparing = request.kind == MS_PREPARE_EXECUTE;
    rc = start(c, &request);
    if (!c->reply.open) ms_statement_ended(s);
    if (rc == EDB_OK || ms_dead(c) || tries > 0 || request.kind != MS_EXECUTE ||
        c->error.vendor != MS_NO_HANDLE) {
      break;
    }
    /* The server has forgotten it, and has done nothing. */
    s->handle = 0;
    rc = edb_fail(&c->error, EDB_OK, "%s", "");
  }
  return rc;
}

void ms_statement_ended(ms_statement *s) {
  const ms_reply *reply = &s->connection->reply;
  if (!s->preparing) return;
  s->preparing = 0;
  if (reply->handle_came) {
    s->handle = reply->handle;
  } else if (reply->attention) {
    s->unprepared = 1; /* it would be prepared and its handle lost each time */
  }
}

/* ---- Making and freeing ----------------------------------------------------------------------------------------- */

int ms_statement_new(ms_connection *c, const char *sql, ms_statement **statement) {
  const size_t n = strlen(sql), placeholders = count_placeholders(sql, n);
  ms_statement *s = edb_alloc(c->host, sizeof *s + placeholders * sizeof *s->declared + n + 1);
  if (!s) return ms_nomem(c);
  memset(s, 0, sizeof *s);
  s->connection = c;
  s->declared = (tds_type_info *)(s + 1);
  s->sql = (char *)(s->declared + placeholders);
  s->n = n;
  s->placeholders = placeholders;
  memcpy(s->sql, sql, n + 1);
  c->statements++;
  *statement = s;
  return EDB_OK;
}

void ms_statement_free(ms_statement *s) {
  ms_connection *c = s->connection;
  drop_handle(s);
  c->statements--;
  edb_free(c->host, s);
}
