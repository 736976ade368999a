/*
** drivers/odbc_statement.c: statements: prepared, run, their columns described.
**
** A statement without parameters that runs once needs not be prepared. Columns are described when it has run: some
** drivers know them only then, and a parameter's type may decide a column's.
*/
#include <string.h>
#include <strings.h>

#include "odbcInt.h"

#define NAME_UNITS 512

/* ---- Columns ------------------------------------------------------------------------------------- */

void od_forget_columns(od_statement *s) {
  const edb_host *host = s->connection->host;
  od_block_free(s);
  for (size_t i = 0; i < s->n_columns; i++) edb_buffer_free(&s->cells[i].text);
  edb_free(host, s->columns);
  edb_free(host, s->values);
  edb_free(host, s->cells);
  edb_buffer_free(&s->names);
  s->columns = NULL;
  s->values = NULL;
  s->cells = NULL;
  s->n_columns = 0;
}

/* The server's name of the column's type, in lower case and without what stands in parentheses. */
static void type_name(od_statement *s, SQLUSMALLINT i, char *out, size_t size) {
  uint32_t wide[128] = {0};
  SQLSMALLINT n = 0;
  edb_buffer text = {s->connection->host, NULL, 0, 0, 0};
  out[0] = 0;
  if (!od_ok(od.ColAttribute(s->stmt, i, SQL_DESC_TYPE_NAME, wide, sizeof wide, &n, NULL))) return;
  od_text_add(&text, wide, od_wide_length(wide, sizeof wide / (size_t)od_wide));
  if (text.p) edb_copy_line(out, size, text.p, text.n);
  edb_buffer_free(&text);
}

static int is_unsigned(od_statement *s, SQLUSMALLINT i, int sql_type) {
  SQLLEN yes = 0;
  if (od_type_of(sql_type, 0)->kind != EDB_I64) return 0;
  return od_ok(od.ColAttribute(s->stmt, i, SQL_DESC_UNSIGNED, NULL, 0, NULL, &yes)) && yes != 0;
}

/* Numbers that tell whether a column is another one than before: its type, and its size where that is relied on. Unlike
** SQLDescribeCol, which has a name to convert, they are cheap. */
static void sign_column(od_statement *s, size_t i, SQLLEN signs[2]) {
  static const SQLUSMALLINT fields[2] = {SQL_DESC_CONCISE_TYPE, SQL_DESC_OCTET_LENGTH};
  const int sized = s->connection->quirk.trusted && od_fixed_size(s->cells[i].codec) == 0;
  for (int k = 0; k < 2; k++) {
    signs[k] = 0;
    if (k == 1 && !sized) continue;
    od.ColAttribute(s->stmt, (SQLUSMALLINT)(i + 1), fields[k], NULL, 0, NULL, &signs[k]);
  }
}

/* One column; its names go to s->names: how it is called, its type's. */
static int describe_column(od_statement *s, size_t i) {
  od_connection *c = s->connection;
  uint32_t name[NAME_UNITS] = {0};
  char type[128];
  SQLSMALLINT n = 0, sql_type = 0, digits = 0, nullable = 1;
  SQLULEN size = 0;
  const SQLUSMALLINT number = (SQLUSMALLINT)(i + 1);
  od_cell *cell = &s->cells[i];
  if (!od_ok(od.DescribeCol(s->stmt, number, name, NAME_UNITS, &n, &sql_type, &size, &digits,
                            &nullable))) {
    return od_statement_error(s);
  }
  const size_t at = s->names.n;
  od_text_add(&s->names, name, od_wide_length(name, NAME_UNITS));
  edb_buffer_add(&s->names, "", 1);
  if (s->names.nomem) return od_nomem(c);
  type_name(s, number, type, sizeof type);
  const int u = is_unsigned(s, number, sql_type);
  const char *as = strncmp(s->names.p + at, OD_READ_AS, strlen(OD_READ_AS)) == 0
                       ? s->names.p + at + strlen(OD_READ_AS)
                       : NULL;
  const edb_type *what = od_column_type(c->flavour, as ? as : type, sql_type, u);
  cell->sql_type = sql_type;
  cell->codec = od_codec_of(what, sql_type, u, c->quirk.moments);
  if (as) cell->codec = strcmp(as, "quoted") == 0 ? OD_QUOTED : OD_MOMENT;
  if (cell->codec == OD_TEXT && c->quirk.utf8) cell->codec = OD_NARROW;
  edb_buffer_add(&s->names, type, strlen(type) + 1); /* moves what `as` points to */
  sign_column(s, i, cell->signs);
  cell->zoned = what->compare == EDB_COMPARE_INSTANT;
  cell->declared = size > INT32_MAX ? 0 : size;
  cell->text.host = c->host;
  s->columns[i].type = what;
  s->columns[i].kind = what->kind;
  s->columns[i].nullable = nullable != SQL_NO_NULLS;
  return EDB_OK;
}

/* Whether the columns are those that were described when the statement ran before, so that they stay bound. A server
** may have prepared it anew for a table that is another one meanwhile. */
static int same_columns(od_statement *s, SQLSMALLINT count) {
  if (count <= 0 || (size_t)count != s->n_columns) return 0;
  for (size_t i = 0; i < s->n_columns; i++) {
    SQLLEN signs[2];
    sign_column(s, i, signs);
    if (memcmp(signs, s->cells[i].signs, sizeof signs) != 0) return 0;
  }
  return 1;
}

int od_describe(od_statement *s) {
  od_connection *c = s->connection;
  SQLSMALLINT count = 0;
  if (!od_ok(od.NumResultCols(s->stmt, &count))) return od_statement_error(s);
  if (same_columns(s, count)) return EDB_OK;
  od_forget_columns(s);
  if (count < 0) {
    return edb_fail(&c->error, EDB_FAILED, "the driver says that a result has %d columns", count);
  }
  if (count == 0) return EDB_OK;
  const size_t n = (size_t)count;
  s->columns = edb_alloc(c->host, n * sizeof *s->columns);
  s->values = edb_alloc(c->host, n * sizeof *s->values);
  s->cells = edb_alloc(c->host, n * sizeof *s->cells);
  if (!s->columns || !s->values || !s->cells) {
    od_forget_columns(s); /* n_columns is 0 still: no cell is looked at */
    return od_nomem(c);
  }
  memset(s->values, 0, n * sizeof *s->values);
  memset(s->cells, 0, n * sizeof *s->cells);
  s->n_columns = n;
  int rc = EDB_OK;
  for (size_t i = 0; rc == EDB_OK && i < n; i++) rc = describe_column(s, i);
  if (rc == EDB_OK && s->names.nomem) rc = od_nomem(c);
  if (rc != EDB_OK) {
    od_forget_columns(s);
    return rc;
  }
  const char *p = s->names.p;
  for (size_t i = 0; i < n; i++) {
    s->columns[i].name = p;
    p += strlen(p) + 1;
    s->columns[i].type_name = p;
    p += strlen(p) + 1;
  }
  return EDB_OK;
}

/* Whether the text is one statement that has one result, whose columns are always the same ones or none: what follows
** it needs not be asked for each time it runs. */
static int is_plain(const od_flavour *flavour, const char *sql) {
  static const char *const words[] = {"SELECT ", "INSERT ", "UPDATE ", "DELETE "};
  /* Triggers there may have results of their own. */
  const size_t n = flavour && flavour->quiet_triggers ? sizeof words / sizeof words[0] : 1;
  if (strchr(sql, ';')) return 0;
  for (size_t i = 0; i < n; i++) {
    if (strncasecmp(sql, words[i], strlen(words[i])) == 0) return 1;
  }
  return 0;
}

/* ---- Making and freeing ----------------------------------------------------------------------------- */

int od_statement_bare(od_connection *c, od_statement **statement) {
  od_statement *s = edb_alloc(c->host, sizeof *s);
  if (!s) return od_nomem(c);
  memset(s, 0, sizeof *s);
  s->connection = c;
  s->names.host = c->host;
  if (!od_ok(od.AllocHandle(SQL_HANDLE_STMT, c->dbc, &s->stmt))) {
    s->stmt = NULL;
    const int rc = od_error(c, SQL_HANDLE_DBC, c->dbc);
    edb_free(c->host, s);
    return rc;
  }
  *statement = s;
  return EDB_OK;
}

int od_statement_new(od_connection *c, const char *sql, double expected, od_statement **statement) {
  od_statement *s;
  od_catalog_query catalog = od_catalog_query_of(sql);
  const char *better = catalog && c->flavour ? od_catalog_sql(c->flavour, catalog) : NULL;
  const int fallback = better ? (int)catalog : OD_SQL;
  if (better) {
    sql = better;
    catalog = OD_SQL;
  }
  const size_t n = strlen(sql) + 1;
  int rc = od_statement_bare(c, &s);
  if (rc != EDB_OK) return rc;
  s->catalog = (int)catalog;
  s->fallback = fallback;
  s->streams = expected == 0 || expected > 2000;
  s->likely = expected < 1 ? 0 : expected < 1000 ? (size_t)expected : 1000;
  s->plain = c->quirk.lean && is_plain(c->flavour, sql);
  s->sql = edb_alloc(c->host, n);
  if (!s->sql) {
    od_statement_free(s);
    return od_nomem(c);
  }
  memcpy(s->sql, sql, n);
  if (better) od_catalog_positions(s->sql, s->order);
  c->statements++;
  *statement = s;
  return EDB_OK;
}

void od_statement_free(od_statement *s) {
  od_connection *c = s->connection;
  od_forget_columns(s);
  if (s->stmt) od.FreeHandle(SQL_HANDLE_STMT, s->stmt);
  od_list_free(s->list);
  for (SQLSMALLINT i = 0; s->places && i < s->n_parameters; i++) {
    edb_buffer_free(&s->places[i].bytes);
  }
  edb_free(c->host, s->places);
  if (s->sql) c->statements--;
  edb_free(c->host, s->sql);
  edb_free(c->host, s);
}

/* ---- Running ------------------------------------------------------------------------------------------ */

static SQLRETURN call_prepare(const od_job *job) {
  return od.Prepare(job->handle, job->text, job->n);
}
static SQLRETURN call_direct(const od_job *job) {
  return od.ExecDirect(job->handle, job->text, job->n);
}
static SQLRETURN call_execute(const od_job *job) { return od.Execute(job->handle); }

/* Warnings are the server's notices. */
static int answered(od_statement *s, SQLRETURN rc) {
  if (rc == SQL_SUCCESS_WITH_INFO) od_notice(s->connection, SQL_HANDLE_STMT, s->stmt);
  if (od_ok(rc) || rc == SQL_NO_DATA) return EDB_OK;
  return od_statement_error(s);
}

/* The server's own time-out, for drivers that wait where nobody can stop them. */
static void set_timeout(od_statement *s) {
  const int ms = s->connection->host->timeout_ms;
  const int seconds = ms > 0 ? (ms + 999) / 1000 + 1 : 0;
  if (seconds == s->timeout) return;
  s->timeout = seconds;
  od.SetStmtAttr(s->stmt, SQL_ATTR_QUERY_TIMEOUT, (void *)(uintptr_t)seconds, SQL_IS_UINTEGER);
}

/* Whether rows come as they are read: for drivers that can be told so. */
static void set_stream(od_statement *s) {
  od_connection *c = s->connection;
  if (!c->streaming || !c->quirk.stream_attribute || c->streams == s->streams) return;
  c->streams = s->streams;
  od.SetConnectAttr(c->dbc, c->quirk.stream_attribute, (void *)(uintptr_t)s->streams,
                    SQL_IS_UINTEGER);
}

/* iODBC takes a length in characters for one in bytes when a driver has no wide entry points; SQL ends with a NUL. */
static SQLINTEGER sql_length(SQLINTEGER units) { return od_wide == 2 ? units : SQL_NTS; }

static int prepare(od_statement *s) {
  od_connection *c = s->connection;
  if (s->prepared) return EDB_OK;
  od_forget_columns(s);
  const SQLINTEGER n = od_wide_make(&c->wide, s->sql, strlen(s->sql));
  if (n < 0) return od_nomem(c);
  const od_job job = {call_prepare, s->stmt, c->wide.p, sql_length(n), 0};
  int rc = answered(s, od_call(c, s->stmt, &job));
  if (rc != EDB_OK) return rc;
  if (!od_ok(od.NumParams(s->stmt, &s->n_parameters))) return od_statement_error(s);
  if (s->n_parameters > 0 && !s->places) {
    const size_t size = (size_t)s->n_parameters * sizeof *s->places;
    s->places = edb_alloc(c->host, size);
    if (!s->places) {
      s->n_parameters = 0;
      return od_nomem(c);
    }
    memset(s->places, 0, size);
    for (SQLSMALLINT i = 0; i < s->n_parameters; i++) s->places[i].bytes.host = c->host;
  }
  s->prepared = 1;
  return EDB_OK;
}

/* Whether ODBC's calls are to answer what the product's own SQL was refused for. */
static int falls_back(od_statement *s, int rc) {
  if (!s->fallback || (rc != EDB_INVALID_QUERY && rc != EDB_FAILED && rc != EDB_UNSUPPORTED)) {
    return 0;
  }
  s->catalog = s->fallback;
  s->fallback = OD_SQL;
  return 1;
}

int od_statement_prepare(od_statement *s) {
  set_stream(s);
  const int rc = prepare(s);
  return falls_back(s, rc) ? EDB_OK : rc;
}

/* Parameters where each ? has one. */
static int bind(od_statement *s, const edb_parameter *parameters, size_t n) {
  edb_parameter ordered[OD_ORDER];
  size_t used = 0;
  if (!s->order[0]) return od_bind(s, parameters, n);
  for (; used < OD_ORDER && s->order[used]; used++) {
    const size_t i = s->order[used] - 1u;
    ordered[used] = i < n ? parameters[i] : (edb_parameter){NULL, {.kind = EDB_NULL}};
  }
  return od_bind(s, ordered, used);
}

int od_statement_run(od_statement *s, const edb_parameter *parameters, size_t n) {
  od_connection *c = s->connection;
  int rc = EDB_OK;
  memset(&c->rows, 0, sizeof c->rows);
  if (s->catalog) return od_catalog_run(s, parameters, n);
  set_timeout(s);
  set_stream(s);
  if (!s->prepared && n == 0) {
    const SQLINTEGER units = od_wide_make(&c->wide, s->sql, strlen(s->sql));
    if (units < 0) return od_nomem(c);
    const od_job job = {call_direct, s->stmt, c->wide.p, sql_length(units), 0};
    rc = answered(s, od_call(c, s->stmt, &job));
  } else {
    rc = prepare(s);
    if (rc == EDB_OK) rc = bind(s, parameters, n);
    if (falls_back(s, rc)) return od_catalog_run(s, parameters, n);
    if (rc != EDB_OK) return rc;
    const od_job job = {call_execute, s->stmt, NULL, 0, 0};
    rc = answered(s, od_call(c, s->stmt, &job));
  }
  if (rc != EDB_OK) {
    /* Before the server refused, FreeTDS's driver has seen a result begin, and runs nothing else over it. */
    od.FreeStmt(s->stmt, SQL_CLOSE);
    return falls_back(s, rc) ? od_catalog_run(s, parameters, n) : rc;
  }
  s->cursor = 1;
  s->fetched = 0;
  return EDB_OK;
}

int od_endless(od_statement *s) {
  return edb_fail(&s->connection->error, EDB_FAILED, "the driver's results have no end");
}

/* A new handle in place of one that cannot be brought to an end; what was bound to it is bound anew. */
static int renew(od_statement *s) {
  od_connection *c = s->connection;
  od_block_free(s);
  od.FreeHandle(SQL_HANDLE_STMT, s->stmt);
  s->stmt = NULL;
  s->prepared = 0;
  s->timeout = 0;
  for (SQLSMALLINT i = 0; i < s->n_parameters; i++) s->places[i].c_type = 0;
  if (od_ok(od.AllocHandle(SQL_HANDLE_STMT, c->dbc, &s->stmt))) return EDB_OK;
  s->stmt = NULL;
  return od_error(c, SQL_HANDLE_DBC, c->dbc);
}

int od_statement_finish(od_statement *s, int stop) {
  od_connection *c = s->connection;
  int rc = EDB_OK;
  if (!s->cursor) return EDB_OK;
  s->cursor = 0;
  if (stop && c->quirk.close_ends) return renew(s);
  if (stop) {
    od.Cancel(s->stmt);
  } else if (!s->plain) {
    /* What a later statement of several did is known when its result is reached. */
    SQLRETURN more = SQL_SUCCESS;
    for (int i = 0; od_ok(more) && i <= OD_MOST_RESULTS; i++) more = od.MoreResults(s->stmt);
    if (more == SQL_ERROR) rc = od_statement_error(s);
    if (od_ok(more)) rc = od_endless(s);
  }
  if (!s->empty) od.FreeStmt(s->stmt, SQL_CLOSE);
  return rc;
}
