/*
** drivers/odbc_connect.c: connections: the connection string, what the driver and the server are, closing.
**
** Each connection has an environment of its own: unixODBC holds one lock for all that an environment's handles do.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "odbcInt.h"

const edb_option_spec od_options[] = {
    {"connection", EDB_OPTION_LOCAL, "connection string (the URL itself)"},
    {"user", 0, "user, as the connection string's UID"},
    {"password", EDB_OPTION_SECRET, "password, as the connection string's PWD"},
    {"block", 0, "rows fetched at once (as many as fit 256 KB); 1: one by one"},
    {"stream", 0,
     "1: the driver's own options for results of any size (default); 0: as the string says"},
    {"arrays", 0,
     "1: many rows go by arrays of parameters; 0: never so; default: where it is the fastest way"},
    {"quirks", 0,
     "what the driver does otherwise than ODBC says, where edb does not know it: utf8,-trusted, …"},
    {"dbms", 0, "the server's product, where the driver does not tell it: generic, postgresql, …"},
    {"connect_timeout", 0, "seconds to wait for the connection"},
    {NULL, 0, NULL}};

/* ---- The connection string ------------------------------------------------------------------------ */

/* Whether the string has the keyword. */
static int has_word(const char *string, const char *name) {
  edb_word word;
  while (edb_word_next(&string, &word) > 0) {
    if (edb_word_is(&word, name)) return 1;
  }
  return 0;
}

/* Whether the string has a word for each of these. */
static int has_words(const char *string, const char *words) {
  edb_word word;
  while (edb_word_next(&words, &word) > 0) {
    char name[64];
    edb_copy_line(name, sizeof name, word.name, word.name_n);
    if (!has_word(string, name)) return 0;
  }
  return 1;
}

/* Whether the word's keyword is one of the string's. */
static int has_name(const char *string, const edb_word *word) {
  char name[64];
  if (word->name_n >= sizeof name) return 0;
  memcpy(name, word->name, word->name_n);
  name[word->name_n] = 0;
  return has_word(string, name);
}

static int is_option_bits(const edb_word *word) {
  return edb_word_is(word, "OPTIONS") || edb_word_is(word, "OPTION");
}

#define OUT_UNITS 2048 /* of a connection string that a driver has made */

/* The bits of OPTIONS that the driver knows of, be it from the string or from the data source. */
static unsigned option_bits(od_connection *c, const uint32_t *wide) {
  edb_buffer text = {c->host, NULL, 0, 0, 0};
  unsigned bits = 0;
  edb_word word;
  od_text_add(&text, wide, od_wide_length(wide, OUT_UNITS));
  for (const char *p = text.p ? text.p : ""; edb_word_next(&p, &word) > 0;) {
    if (is_option_bits(&word)) bits |= (unsigned)strtoul(word.value, NULL, 10);
  }
  if (text.p) edb_wipe(text.p, text.size);
  edb_buffer_free(&text);
  return bits;
}

/* Appends the words that out does not have yet. */
static void add_missing(edb_buffer *out, const char *words) {
  edb_word word;
  while (edb_word_next(&words, &word) > 0) {
    char name[64];
    if (word.name_n >= sizeof name) continue;
    memcpy(name, word.name, word.name_n);
    name[word.name_n] = 0;
    if (out->p && has_word(out->p, name)) continue;
    edb_buffer_add(out, name, word.name_n);
    edb_buffer_text(out, "=");
    edb_buffer_add(out, word.value, word.value_n);
    edb_buffer_text(out, ";");
  }
}

/* The string that the driver manager gets, with words of the driver's quirk, once that is known. */
static void make_string(const od_connection *c, const edb_option *options, size_t n,
                        const od_quirk *quirk, edb_buffer *out) {
  const char *given = edb_option_get(options, n, "connection");
  const char *user = edb_option_get(options, n, "user");
  const char *password = edb_option_get(options, n, "password");
  const char *from = given ? given : "";
  edb_word word;
  edb_buffer_text(out, "");
  while (edb_word_next(&from, &word) > 0) {
    if (user && edb_word_is(&word, "UID")) continue;
    if (quirk && quirk->must && has_name(quirk->must, &word)) continue;
    if (quirk && quirk->option_bits && is_option_bits(&word)) continue;
    if (password && (edb_word_is(&word, "PWD") || edb_word_is(&word, "Password"))) continue;
    edb_buffer_add(out, word.name, word.name_n);
    edb_buffer_text(out, "=");
    edb_buffer_add(out, word.value, word.value_n);
    edb_buffer_text(out, ";");
  }
  if (user) edb_word_add(out, "UID", user);
  if (password) edb_word_add(out, "PWD", password);
  if (!quirk) return;
  if (quirk->must) edb_buffer_text(out, quirk->must);
  if (quirk->words && c->streaming) add_missing(out, quirk->words);
  if (quirk->option_bits) {
    char number[16];
    snprintf(number, sizeof number, "%u", c->option_bits | quirk->option_bits);
    edb_word_add(out, "OPTIONS", number);
  }
}

/* Keeps the secrets of the string, which drivers like to repeat. */
static int keep_secrets(od_connection *c, const char *string) {
  size_t n = 1, bytes = 0;
  edb_word word;
  for (const char *p = string; edb_word_next(&p, &word) > 0;) {
    if (edb_word_is_secret(&word)) {
      n += 2;
      bytes += 2 * word.value_n + 2;
    }
  }
  c->secret_bytes = n * sizeof(char *) + bytes;
  c->secrets = edb_alloc(c->host, c->secret_bytes);
  if (!c->secrets) return EDB_NOMEM;
  char *text = (char *)(c->secrets + n);
  size_t i = 0;
  for (const char *p = string; edb_word_next(&p, &word) > 0;) {
    if (!edb_word_is_secret(&word) || word.value_n == 0) continue;
    for (int raw = 0; raw < 2; raw++) { /* as it is meant, and as it is written */
      const size_t size = raw ? word.value_n : edb_word_decode(&word, text);
      if (raw) memcpy(text, word.value, word.value_n);
      if (size == 0) continue;
      text[size] = 0;
      c->secrets[i++] = text;
      text += size + 1;
    }
  }
  c->secrets[i] = NULL;
  return EDB_OK;
}

/* ---- What the driver and the server are ------------------------------------------------------------ */

void od_info_text(od_connection *c, int what, char *out, size_t size) {
  uint32_t wide[256] = {0};
  SQLSMALLINT n = 0;
  edb_buffer text = {c->host, NULL, 0, 0, 0};
  out[0] = 0;
  if (!od_ok(od.GetInfo(c->dbc, (SQLUSMALLINT)what, wide, sizeof wide, &n))) return;
  od_text_add(&text, wide, od_wide_length(wide, sizeof wide / (size_t)od_wide));
  if (text.p) edb_copy_line(out, size, text.p, text.n);
  edb_buffer_free(&text);
}

unsigned od_info_number(od_connection *c, int what) {
  uint32_t number = 0;
  SQLSMALLINT n = 0;
  return od_ok(od.GetInfo(c->dbc, (SQLUSMALLINT)what, &number, sizeof number, &n)) ? number : 0;
}

/* The option dbms names a dialect. */
static const od_flavour *named_flavour(const char *name) {
  const od_flavour *f = od_flavour_of(name);
  return f->dbms || strcasecmp(name, od_generic.name) == 0 ? f : NULL;
}

static int learn(od_connection *c, const edb_option *options, size_t n, edb_error *error) {
  char text[128];
  const char *dbms = edb_option_get(options, n, "dbms");
  SQLUSMALLINT supported = 0;
  od_info_text(c, SQL_DBMS_NAME, text, sizeof text);
  c->flavour = dbms ? named_flavour(dbms) : od_flavour_of(text);
  if (!c->flavour) {
    return edb_fail(error, EDB_INVALID_QUERY, "option dbms: no dialect is called \"%s\"", dbms);
  }
  od_info_text(c, SQL_IDENTIFIER_QUOTE_CHAR, text, sizeof text);
  c->flavour = od_flavour_quoted(c->flavour, text);
  const unsigned folds = od_info_number(c, SQL_IDENTIFIER_CASE);
  if (folds == SQL_IC_UPPER || folds == SQL_IC_LOWER) c->folds = (unsigned char)folds;
  od_info_text(c, SQL_SEARCH_PATTERN_ESCAPE, c->escape, sizeof c->escape);
  c->getdata = od_info_number(c, SQL_GETDATA_EXTENSIONS);
  c->catalog_schemas =
      od_info_number(c, SQL_SCHEMA_USAGE) == 0 && od_info_number(c, SQL_CATALOG_USAGE) != 0;
  if (od_ok(od.GetFunctions(c->dbc, SQL_API_SQLDESCRIBEPARAM, &supported))) {
    c->describes = supported != 0;
  }
  return EDB_OK;
}

/* ---- Opening and closing --------------------------------------------------------------------------- */

/* A connection that is being made. Nothing stops SQLDriverConnect, so that it may be left behind: what it uses is its
** own, and no memory of the host's, which may be gone before. */
typedef struct od_connecting {
  SQLHANDLE env, dbc;
  void *string; /* wide */
  size_t size;
  SQLSMALLINT units;
  uint32_t *out; /* OUT_UNITS, for what the driver made of it */
} od_connecting;

/* Which connection it is, and for how long it may take; 0: for ever. */
typedef struct od_patience {
  od_connection *connection;
  int ms;
} od_patience;

#define GRACE_MS 2000 /* for the driver's own time-out, which says more */

static void free_connecting(od_connecting *made) {
  if (made->string) edb_wipe(made->string, made->size);
  if (made->out) edb_wipe(made->out, OUT_UNITS * sizeof *made->out);
  free(made->string);
  free(made->out);
  free(made);
}

static int call_connect(const void *job) {
  const od_connecting *made = job;
  SQLSMALLINT n;
  return od.DriverConnect(made->dbc, NULL, made->string, made->units, made->out, OUT_UNITS, &n,
                          SQL_DRIVER_NOPROMPT);
}

/* One that nobody has waited for. */
static void drop_connection(void *job, int result) {
  od_connecting *made = job;
  if (od_ok((SQLRETURN)result)) od.Disconnect(made->dbc);
  od.FreeHandle(SQL_HANDLE_DBC, made->dbc);
  od.FreeHandle(SQL_HANDLE_ENV, made->env);
  free_connecting(made);
}

static int leave_connection(void *context, int64_t ms) {
  const od_patience *patience = context;
  od_connection *c = patience->connection;
  if (patience->ms > 0 && ms >= patience->ms + GRACE_MS) c->stop = OD_STOP_TIMEOUT;
  if (c->stop == OD_STOP_NONE && od_is_stopped(c)) c->stop = OD_STOP_INTERRUPTED;
  return c->stop != OD_STOP_NONE;
}

/* SQLDriverConnect; EDB_OK, EDB_NOMEM, EDB_FAILED: the handle says why. */
static int call_driver(od_connection *c, const edb_buffer *wide, SQLINTEGER units, int seconds) {
  od_patience patience = {c, seconds * 1000};
  int result = SQL_ERROR;
  od_connecting *made = malloc(sizeof *made);
  if (!made) return od_nomem(c);
  *made = (od_connecting){c->env,
                          c->dbc,
                          malloc(wide->n + 4),
                          wide->n + 4,
                          (SQLSMALLINT)units,
                          calloc(OUT_UNITS, sizeof *made->out)};
  if (!made->string || !made->out) {
    free_connecting(made);
    return od_nomem(c);
  }
  memcpy(made->string, wide->p, wide->n);
  memset((char *)made->string + wide->n, 0, 4);
  c->stop = OD_STOP_NONE;
  if (edb_call_or_leave(call_connect, made, drop_connection, leave_connection, &patience,
                        &result)) {
    c->option_bits = option_bits(c, made->out);
    free_connecting(made);
    return od_ok((SQLRETURN)result) ? EDB_OK : od_error(c, SQL_HANDLE_DBC, c->dbc);
  }
  c->env = c->dbc = NULL;
  return c->stop == OD_STOP_TIMEOUT
             ? edb_fail(&c->error, EDB_FAILED, "no connection within %d seconds", seconds)
             : edb_fail(&c->error, EDB_INTERRUPTED, "interrupted while connecting");
}

static SQLRETURN call_disconnect(const od_job *job) { return od.Disconnect(job->handle); }

static void set_number(SQLHANDLE dbc, int attribute, size_t number) {
  od.SetConnectAttr(dbc, attribute, (void *)number, SQL_IS_UINTEGER);
}

/* Numbers of options; -1: it is none. */
static int option_number(const edb_option *options, size_t n, const char *name, int absent) {
  const char *text = edb_option_get(options, n, name);
  char *end;
  if (!text) return absent;
  const long number = strtol(text, &end, 10);
  return end != text && *end == 0 && number >= 0 && number <= 1000000 ? (int)number : -1;
}

static int connect_driver(od_connection *c, const edb_option *options, size_t n,
                          const od_quirk *quirk) {
  edb_buffer string = {c->host, NULL, 0, 0, 0}, wide = {c->host, NULL, 0, 0, 0};
  int seconds = option_number(options, n, "connect_timeout", 0);
  int rc = EDB_OK;
  if (seconds == 0 && c->host->timeout_ms > 0) seconds = (c->host->timeout_ms + 999) / 1000;
  make_string(c, options, n, quirk, &string);
  const SQLINTEGER units = string.nomem ? -1 : od_wide_make(&wide, string.p, string.n);
  if (units < 0 || units > INT16_MAX) {
    rc = units < 0 ? od_nomem(c)
                   : edb_fail(&c->error, EDB_INVALID_QUERY, "the connection string is too long");
  } else if (!c->secrets && keep_secrets(c, string.p) != EDB_OK) {
    rc = od_nomem(c);
  } else {
    od_sockets before;
    if (seconds > 0) set_number(c->dbc, SQL_ATTR_LOGIN_TIMEOUT, (size_t)seconds);
    od_sockets_note(&before);
    rc = call_driver(c, &wide, units, seconds);
    if (rc != EDB_OK && c->dbc) {
      if (rc == EDB_UNSUPPORTED || rc == EDB_INTERRUPTED)
        c->error.code = (edb_code)(rc = EDB_FAILED);
      if (strncmp(c->error.sqlstate, "IM002", 5) == 0) {
        edb_fail_hint(&c->error, "SELECT * FROM edb_odbc_sources lists what there is");
      }
    } else if (rc == EDB_OK) {
      od_socket_find(&before, &c->socket);
    }
  }
  if (string.p) edb_wipe(string.p, string.size);
  if (wide.p) edb_wipe(wide.p, wide.size);
  edb_buffer_free(&string);
  edb_buffer_free(&wide);
  return rc;
}

static void free_connection(od_connection *c) {
  if (c->connected) {
    const od_job job = {call_disconnect, c->dbc, NULL, 0, 0};
    od_call(c, NULL, &job);
  }
  od_thread_end(c);
  if (c->dbc) od.FreeHandle(SQL_HANDLE_DBC, c->dbc);
  if (c->env) od.FreeHandle(SQL_HANDLE_ENV, c->env);
  if (c->secrets) edb_wipe(c->secrets, c->secret_bytes);
  edb_free(c->host, c->secrets);
  edb_buffer_free(&c->wide);
  edb_buffer_free(&c->line);
  edb_free(c->host, c);
}

/* Which driver it is shows when it is connected to: where it wants more to be said, that is done once more. */
static int connect_twice(od_connection *c, const edb_option *options, size_t n) {
  char driver[128];
  const char *given = edb_option_get(options, n, "connection");
  int rc = connect_driver(c, options, n, NULL);
  if (rc != EDB_OK) return rc;
  c->connected = 1;
  od_info_text(c, SQL_DRIVER_NAME, driver, sizeof driver);
  const od_quirk *quirk = od_quirk_of(driver);
  const char *changes = edb_option_get(options, n, "quirks");
  c->quirk = *quirk;
  if (changes) rc = od_quirk_change(&c->quirk, changes, &c->error);
  if (rc != EDB_OK) return rc;
  const int words = c->streaming && quirk->words && !has_words(given ? given : "", quirk->words);
  if (!words && !quirk->must && !quirk->option_bits) return rc;
  const od_job job = {call_disconnect, c->dbc, NULL, 0, 0};
  od_call(c, NULL, &job);
  c->connected = 0;
  rc = connect_driver(c, options, n, quirk);
  if (rc == EDB_OK) c->connected = 1;
  return rc;
}

static int check_options(od_connection *c, const edb_option *options, size_t n) {
  const char *stream = edb_option_get(options, n, "stream");
  c->block_rows = option_number(options, n, "block", 0);
  if (c->block_rows < 0) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "option block: it is a number of rows");
  }
  if (option_number(options, n, "connect_timeout", 0) < 0) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "option connect_timeout: it is a number");
  }
  c->arrays = (unsigned char)option_number(options, n, "arrays", 2);
  if (c->arrays > 1 && edb_option_get(options, n, "arrays")) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "option arrays: it is 0 or 1");
  }
  if (stream && strcmp(stream, "0") != 0 && strcmp(stream, "1") != 0) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "option stream: it is 0 or 1");
  }
  c->streaming = !stream || *stream == '1';
  return EDB_OK;
}

static int make_handles(od_connection *c) {
  if (!od_ok(od.AllocHandle(SQL_HANDLE_ENV, NULL, &c->env))) {
    c->env = NULL;
    return od_nomem(c);
  }
  od.SetEnvAttr(c->env, SQL_ATTR_ODBC_VERSION, (void *)(uintptr_t)SQL_OV_ODBC3, 0);
  if (!od_ok(od.AllocHandle(SQL_HANDLE_DBC, c->env, &c->dbc))) {
    c->dbc = NULL;
    return od_error(c, SQL_HANDLE_ENV, c->env);
  }
  return EDB_OK;
}

int od_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error) {
  int rc = od_library_load(error);
  if (rc != EDB_OK) return rc;
  od_connection *c = edb_alloc(host, sizeof *c);
  if (!c) return edb_fail(error, EDB_NOMEM, "out of memory");
  memset(c, 0, sizeof *c);
  c->host = host;
  c->wide.host = c->line.host = host;
  c->socket.file = -1;
  rc = check_options(c, options, n);
  if (rc == EDB_OK) rc = make_handles(c);
  if (rc == EDB_OK) rc = connect_twice(c, options, n);
  if (rc == EDB_OK) rc = learn(c, options, n, &c->error);
  if (rc == EDB_OK && c->flavour->hello) rc = od_run(c, c->flavour->hello);
  if (rc == EDB_OK) {
    *connection = c;
    return EDB_OK;
  }
  *error = c->error;
  free_connection(c);
  return rc;
}

int od_close(void *connection) {
  od_connection *c = connection;
  if (c->rows.open || c->statements > 0 || c->transaction) {
    return edb_fail(&c->error, EDB_BUSY, "a reader, a statement or a transaction is open");
  }
  free_connection(c);
  return EDB_OK;
}

int od_alive(void *connection) {
  od_connection *c = connection;
  uint32_t dead = 0;
  if (c->dead) return 0;
  if (od_socket_is_known(&c->socket)) {
    if (!od_socket_is_closed(&c->socket)) return 1;
    if (od_socket_is_same(&c->socket)) return 0;
  }
  if (!od_ok(od.GetConnectAttr(c->dbc, SQL_ATTR_CONNECTION_DEAD, &dead, sizeof dead, NULL)))
    return 1;
  return dead == 0;
}

const edb_dialect *od_dialect(void *connection) {
  return ((od_connection *)connection)->flavour->dialect;
}

int od_run(od_connection *c, const char *sql) {
  od_statement *s;
  int rc = od_statement_new(c, sql, 0, &s);
  if (rc != EDB_OK) return rc;
  rc = od_statement_run(s, NULL, 0);
  if (rc == EDB_OK) rc = od_statement_finish(s, 0);
  od_statement_free(s);
  return rc;
}
