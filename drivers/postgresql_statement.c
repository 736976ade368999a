/*
** drivers/postgresql_statement.c: statements: prepared, described, sent.
**
** A statement is described once, in the round trip that prepares it: what its parameters are encoded into and
** how its columns are read is known before it runs. A type without a codec is looked up in the catalog, once a
** connection; if a column has one, the statement's results are asked for in text format.
*/
#include <stdio.h>
#include <string.h>

#include "postgresql.h"

#define CACHED_TYPES 512 /* then the cache starts anew */
#define CLOSED_BYTES 256 /* of DEALLOCATE before they are sent */

/* ---- What the SQL begins with ------------------------------------------------------------------- */

/* Behind space, comments and opening parentheses. */
static const char *first_word(const char *p) {
  for (;;) {
    if (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == '\f' || *p == '(') {
      p++;
    } else if (p[0] == '-' && p[1] == '-') {
      while (*p && *p != '\n') p++;
    } else if (p[0] == '/' && p[1] == '*') {
      int depth = 0;
      do {
        if (p[0] == '/' && p[1] == '*') {
          depth++;
          p++;
        } else if (p[0] == '*' && p[1] == '/') {
          depth--;
          p++;
        }
        if (*p) p++;
      } while (depth && *p);
    } else {
      return p;
    }
  }
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static int is_letter(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}

static int is_word(const char *p, const char *word) {
  while (*word && lower(*p) == *word) {
    p++;
    word++;
  }
  return !*word && !is_letter(*p);
}

static int has_word(const char *p, const char *word) {
  for (int within = 0; *p; within = is_letter(*p++)) {
    if (!within && is_word(p, word)) return 1;
  }
  return 0;
}

/* Whether the statement only reads, as far as its words tell: 0 in doubt. */
static int only_reads(const char *sql) {
  const char *p = first_word(sql);
  if (is_word(p, "values") || is_word(p, "table")) return 1;
  if (is_word(p, "select")) return !has_word(p, "into");
  return is_word(p, "with") && !has_word(p, "insert") && !has_word(p, "update") &&
         !has_word(p, "delete") && !has_word(p, "merge");
}

/* ---- Types that have to be looked up ------------------------------------------------------------- */

static void forget_types(pg_connection *c) {
  for (size_t i = 0; i < c->n_types; i++) edb_free(c->host, c->types[i].name);
  c->n_types = 0;
}

/* A type's name as it is written there, a domain's base, whether its binary form is its text (enums), and what the
** catalog query of columns would call it. */
static int ask_for_type(pg_connection *c, pg_looked_up *type) {
  char sql[1024];
  PGresult *result;
  snprintf(
      sql, sizeof sql,
      "WITH RECURSIVE b AS (SELECT * FROM pg_catalog.pg_type WHERE oid = %u UNION ALL"
      " SELECT t.* FROM pg_catalog.pg_type t JOIN b ON b.typtype = 'd' AND t.oid = b.typbasetype)"
      " SELECT pg_catalog.format_type(%u, %d), b.oid, p.proname IN ('enum_send', 'textsend',"
      " 'varcharsend', 'bpcharsend', 'namesend') AND p.pronamespace = 11, " PG_TYPE_NAME(
          "b") " FROM b LEFT JOIN pg_catalog.pg_proc p ON p.oid = b.typsend WHERE b.typtype <> 'd'",
      type->oid, type->oid, type->typmod);
  int rc = pg_run(c, sql, &result);
  if (rc != EDB_OK) return rc;
  const char *name = "unknown";
  if (result && pq.ntuples(result) == 1 && pq.nfields(result) == 4) {
    unsigned long base = 0;
    name = pq.getvalue(result, 0, 0);
    for (const char *p = pq.getvalue(result, 0, 1); *p >= '0' && *p <= '9'; p++) {
      base = base * 10 + (unsigned long)(*p - '0');
    }
    type->base = (unsigned)base;
    const pg_type *known = pg_type_of(type->base);
    if (known) {
      type->codec = known->codec;
    } else if (*pq.getvalue(result, 0, 2) == 't') {
      type->codec = PG_TEXT;
    }
    type->type = pg_dialect.type(pq.getvalue(result, 0, 3));
  }
  size_t n = strlen(name) + 1;
  type->name = edb_alloc(c->host, n);
  if (type->name) memcpy(type->name, name, n);
  if (result) pq.clear(result);
  return type->name ? EDB_OK : edb_fail(&c->error, EDB_NOMEM, "out of memory");
}

static int look_up(pg_connection *c, unsigned oid, int typmod, const pg_looked_up **found) {
  for (size_t i = 0; i < c->n_types; i++) {
    if (c->types[i].oid == oid && c->types[i].typmod == typmod) {
      *found = &c->types[i];
      return EDB_OK;
    }
  }
  if (c->n_types >= CACHED_TYPES) forget_types(c);
  if (!c->types) {
    c->types = edb_alloc(c->host, CACHED_TYPES * sizeof *c->types);
    if (!c->types) return edb_fail(&c->error, EDB_NOMEM, "out of memory");
  }
  pg_looked_up type = {oid, typmod, oid, PG_OTHER, pg_dialect.type(""), NULL};
  int rc = ask_for_type(c, &type);
  if (rc != EDB_OK) return rc;
  c->types[c->n_types] = type;
  *found = &c->types[c->n_types++];
  return EDB_OK;
}

/* The fractional digits of money are the server's lc_monetary's. */
static int ask_for_money(pg_connection *c) {
  PGresult *result;
  if (c->money_digits >= 0) return EDB_OK;
  int rc = pg_run(c, "SELECT pg_catalog.scale(1::money::numeric)", &result);
  if (rc != EDB_OK) return rc;
  int digits = 2;
  if (result && pq.ntuples(result) == 1 && pq.getlength(result, 0, 0) == 1) {
    digits = *pq.getvalue(result, 0, 0) - '0';
  }
  if (result) pq.clear(result);
  c->money_digits = digits >= 0 && digits <= 9 ? digits : 2;
  return EDB_OK;
}

/* ---- Describing ----------------------------------------------------------------------------------- */

static int describe_column(pg_statement *s, const PGresult *result, int i, edb_buffer *names) {
  pg_connection *c = s->connection;
  unsigned oid = pq.ftype(result, i);
  const pg_type *type = pg_type_of(oid);
  edb_column *column = &s->columns[i];
  const char *name = pq.fname(result, i), *type_name;
  column->nullable = 1;
  if (type) {
    column->type = pg_dialect.type(type->typname);
    s->codecs[i] = type->codec;
    type_name = type->name;
    if (type->codec == PG_MONEY) {
      int rc = ask_for_money(c);
      if (rc != EDB_OK) return rc;
    }
    if (type->codec == PG_BYTEA || column->type->declared == EDB_DECLARED_JSON || oid == 142)
      s->bulky = 1;
  } else {
    const pg_looked_up *found;
    int rc = look_up(c, oid, pq.fmod(result, i), &found);
    if (rc != EDB_OK) return rc;
    s->codecs[i] = found->base == oid ? found->codec : PG_OTHER;
    if (s->codecs[i] == PG_OTHER) s->text = 1;
    column->type = found->type;
    type_name = found->name;
  }
  column->kind = column->type->kind;
  edb_buffer_add(names, name, strlen(name) + 1);
  edb_buffer_add(names, type_name, strlen(type_name) + 1);
  return EDB_OK;
}

static int describe_columns(pg_statement *s, const PGresult *result) {
  pg_connection *c = s->connection;
  size_t n = (size_t)pq.nfields(result);
  edb_buffer names = {c->host, NULL, 0, 0, 0};
  s->n_columns = (int)n;
  if (n == 0) return EDB_OK;
  s->columns = edb_alloc(c->host, n * sizeof *s->columns);
  s->codecs = edb_alloc(c->host, n * sizeof *s->codecs);
  s->values = edb_alloc(c->host, n * sizeof *s->values);
  if (!s->columns || !s->codecs || !s->values) goto nomem;
  memset(s->values, 0, n * sizeof *s->values);
  for (int i = 0; i < (int)n; i++) {
    int rc = describe_column(s, result, i, &names);
    if (rc != EDB_OK) {
      edb_buffer_free(&names);
      return rc;
    }
  }
  if (names.nomem) goto nomem;
  /* The names stay where they are now. */
  s->names = names.p;
  const char *p = names.p;
  for (size_t i = 0; i < n; i++) {
    s->columns[i].name = p;
    p += strlen(p) + 1;
    s->columns[i].type_name = p;
    p += strlen(p) + 1;
  }
  return EDB_OK;
nomem:
  edb_buffer_free(&names);
  return edb_fail(&c->error, EDB_NOMEM, "out of memory");
}

static int describe_parameters(pg_statement *s, const PGresult *result) {
  pg_connection *c = s->connection;
  size_t n = (size_t)pq.nparams(result);
  s->n_parameters = (int)n;
  if (n == 0) return EDB_OK;
  s->parameters = edb_alloc(c->host, n * sizeof *s->parameters);
  s->oids = edb_alloc(c->host, n * sizeof *s->oids);
  s->parameter_values = edb_alloc(c->host, n * sizeof *s->parameter_values);
  s->lengths = edb_alloc(c->host, n * sizeof *s->lengths);
  s->formats = edb_alloc(c->host, n * sizeof *s->formats);
  s->offsets = edb_alloc(c->host, n * sizeof *s->offsets);
  if (!s->parameters || !s->oids || !s->parameter_values || !s->lengths || !s->formats ||
      !s->offsets) {
    return edb_fail(&c->error, EDB_NOMEM, "out of memory");
  }
  for (int i = 0; i < (int)n; i++) {
    unsigned oid = s->oids[i] = pq.paramtype(result, i);
    const pg_type *type = pg_type_of(oid);
    if (!type) {
      const pg_looked_up *found;
      int rc = look_up(c, oid, -1, &found);
      if (rc != EDB_OK) return rc;
      s->parameters[i].codec = found->codec;
      type = found->base != oid ? pg_type_of(found->base) : NULL;
    } else {
      s->parameters[i].codec = type->codec;
    }
    s->parameters[i].name = type ? type->name : "its type";
  }
  return EDB_OK;
}

/* Parse and Describe, in one round trip where libpq has pipelines. */
static int prepare(pg_statement *s, PGresult **result) {
  pg_connection *c = s->connection;
  int rc;
  *result = NULL;
  s->unnamed = ++c->unnamed;
  if (!pq.enterPipelineMode || !pq.exitPipelineMode || !pq.pipelineSync) {
    rc = pg_sent(c, pq.sendPrepare(c->pq, s->name, s->sql, 0, NULL));
    if (rc == EDB_OK) rc = pg_finish(c, NULL);
    if (rc == EDB_OK) rc = pg_sent(c, pq.sendDescribePrepared(c->pq, s->name));
    return rc == EDB_OK ? pg_finish(c, result) : rc;
  }
  c->pipeline = (unsigned char)pq.enterPipelineMode(c->pq);
  rc = pg_sent(c, c->pipeline && pq.sendPrepare(c->pq, s->name, s->sql, 0, NULL) &&
                      pq.sendDescribePrepared(c->pq, s->name) && pq.pipelineSync(c->pq));
  if (rc == EDB_OK) rc = pg_finish(c, result);
  c->pipeline = 0;
  if (!pq.exitPipelineMode(c->pq) && rc == EDB_OK) rc = pg_lost(c);
  return rc;
}

/* Closed statements are forgotten at the server some at a time, and never inside a transaction, which an error
** would doom. */
static int deallocate(pg_connection *c) {
  if (c->closed.n < CLOSED_BYTES || pq.transactionStatus(c->pq) != PQTRANS_IDLE) return EDB_OK;
  int rc = pg_run(c, c->closed.p, NULL);
  c->closed.n = 0;
  return rc == EDB_CLOSED || rc == EDB_INTERRUPTED ? rc : EDB_OK;
}

/* ---- Statements ----------------------------------------------------------------------------------- */

int pg_statement_new(pg_connection *c, const char *sql, double expected, int named,
                     pg_statement **statement) {
  PGresult *result = NULL;
  size_t n = strlen(sql) + 1;
  int rc = deallocate(c);
  if (rc != EDB_OK) return rc;
  pg_statement *s = edb_alloc(c->host, sizeof *s + n);
  if (!s) return edb_fail(&c->error, EDB_NOMEM, "out of memory");
  memset(s, 0, sizeof *s);
  s->connection = c;
  s->sql = (char *)(s + 1);
  memcpy(s->sql, sql, n);
  s->expected = expected;
  s->reads = (unsigned char)only_reads(sql);
  if (named) snprintf(s->name, sizeof s->name, "edb%lu", ++c->serial);
  c->statements++;
  rc = prepare(s, &result);
  if (rc != EDB_OK) {
    s->name[0] = 0; /* the server has none */
  } else if (result) {
    rc = describe_parameters(s, result);
    if (rc == EDB_OK) rc = describe_columns(s, result);
  }
  if (result) pq.clear(result);
  if (rc == EDB_OK) {
    *statement = s;
  } else {
    pg_statement_free(s);
  }
  return rc;
}

void pg_deallocate_later(pg_connection *c, const char *name) {
  if (!name[0] || c->dead) return;
  edb_buffer_text(&c->closed, "DEALLOCATE ");
  edb_buffer_text(&c->closed, name);
  edb_buffer_text(&c->closed, ";");
}

void pg_statement_free(pg_statement *s) {
  pg_connection *c = s->connection;
  pg_deallocate_later(c, s->name);
  c->statements--;
  edb_free(c->host, s->columns);
  edb_free(c->host, s->codecs);
  edb_free(c->host, s->values);
  edb_free(c->host, s->names);
  edb_free(c->host, s->parameters);
  edb_free(c->host, s->oids);
  edb_free(c->host, s->parameter_values);
  edb_free(c->host, s->lengths);
  edb_free(c->host, s->formats);
  edb_free(c->host, s->offsets);
  edb_free(c->host, s);
}

int pg_statement_send(pg_statement *s) {
  pg_connection *c = s->connection;
  int binary = !s->text;
  if (!s->name[0] && s->unnamed != c->unnamed) {
    /* A look-up has replaced it. */
    return pg_sent(c, pq.sendQueryParams(c->pq, s->sql, s->n_parameters, s->oids,
                                         s->parameter_values, s->lengths, s->formats, binary));
  }
  return pg_sent(c, pq.sendQueryPrepared(c->pq, s->name, s->n_parameters, s->parameter_values,
                                         s->lengths, s->formats, binary));
}

/* Most commands have no number in their tag and change no rows; of CALL and DO nobody counts. */
int64_t pg_tag_count(PGresult *result) {
  const char *tag = pq.cmdStatus(result);
  int64_t count = 0;
  if (strcmp(tag, "CALL") == 0 || strcmp(tag, "DO") == 0) return -1;
  if (strncmp(tag, "SELECT", 6) == 0) return 0;
  for (const char *p = pq.cmdTuples(result); *p >= '0' && *p <= '9'; p++) {
    count = count * 10 + (*p - '0');
  }
  return count;
}

int pg_affected(pg_connection *c, int64_t *affected) {
  PGresult *result;
  *affected = 0;
  int rc = pg_finish(c, &result);
  if (rc != EDB_OK || !result) return rc;
  *affected = pg_tag_count(result);
  pq.clear(result);
  return EDB_OK;
}
