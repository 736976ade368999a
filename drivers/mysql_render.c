/*
** drivers/mysql_render.c: parameters written into SQL, for statements that the server does not prepare.
**
** Each is a literal that the server reads as the same value and type that it would have bound: integers as
** they are, doubles with an exponent (0.1e0, else it were a decimal), text escaped as the session's lexer
** reads it, bytes in hex, times as literals of their type.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mysql.h"

/* Whether a backslash is a letter like any other: the session says so by how the library escapes. */
static int no_backslash(my_connection *c) {
  char out[3];
  return my.real_escape_string(c->mysql, out, "'", 1) != 2 || out[0] != '\\';
}

static int add_text(my_connection *c, const my_lexer *lexer, const char *p, size_t n) {
  edb_buffer *sql = &c->sql;
  if (n > (SIZE_MAX - 16) / 2) return EDB_NOMEM;
  char *out = edb_buffer_room(sql, 2 * n + 3);
  if (!out) return EDB_NOMEM;
  size_t k = 0;
  out[k++] = '\'';
  if (lexer->no_backslash) {
    for (size_t i = 0; i < n; i++) {
      if (p[i] == '\'') out[k++] = '\'';
      out[k++] = p[i];
    }
  } else {
    k += my.real_escape_string(c->mysql, out + k, p, (unsigned long)n);
  }
  out[k++] = '\'';
  sql->n += k;
  sql->p[sql->n] = 0;
  return EDB_OK;
}

static int add_bytes(my_connection *c, const char *p, size_t n) {
  static const char hex[] = "0123456789abcdef";
  edb_buffer *sql = &c->sql;
  if (n > (SIZE_MAX - 16) / 2) return EDB_NOMEM;
  char *out = edb_buffer_room(sql, 2 * n + 3);
  if (!out) return EDB_NOMEM;
  *out++ = 'x';
  *out++ = '\'';
  for (size_t i = 0; i < n; i++) {
    *out++ = hex[(unsigned char)p[i] >> 4];
    *out++ = hex[p[i] & 15];
  }
  *out++ = '\'';
  *out = 0;
  sql->n += 2 * n + 3;
  return EDB_OK;
}

/* The host's locale may write a decimal comma. */
static int add_double(my_connection *c, double f) {
  char text[40];
  if (!isfinite(f)) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "MySQL has neither infinities nor NaN");
  }
  int n = snprintf(text, sizeof text, "%.16e", f);
  for (int i = 0; i < n; i++) {
    if (text[i] == ',') text[i] = '.';
  }
  edb_buffer_text(&c->sql, text);
  return EDB_OK;
}

static int add_time(my_connection *c, const edb_time *time) {
  static const char *const words[] = {"", "DATE'", "TIME'", "TIMESTAMP'"};
  edb_time plain = *time;
  my_time checked;
  char text[EDB_TIME_TEXT];
  if (!my_time_of(time, &checked)) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "a parameter is a time that MySQL does not have");
  }
  plain.zoned = 0;
  plain.nanos -= plain.nanos % 1000;
  edb_time_text(&plain, text);
  edb_buffer_text(&c->sql, words[plain.form]);
  edb_buffer_text(&c->sql, text);
  edb_buffer_text(&c->sql, "'");
  return EDB_OK;
}

static int add_value(my_connection *c, const my_lexer *lexer, const edb_value *v) {
  char text[32];
  switch (v->kind) {
  case EDB_NULL:
    edb_buffer_text(&c->sql, "NULL");
    return EDB_OK;
  case EDB_BOOL:
    edb_buffer_text(&c->sql, v->as.boolean ? "1" : "0");
    return EDB_OK;
  case EDB_I64:
    snprintf(text, sizeof text, "%lld", (long long)v->as.i64);
    edb_buffer_text(&c->sql, text);
    return EDB_OK;
  case EDB_U64:
    snprintf(text, sizeof text, "%llu", (unsigned long long)v->as.u64);
    edb_buffer_text(&c->sql, text);
    return EDB_OK;
  case EDB_F64:
    return add_double(c, v->as.f64);
  case EDB_TEXT:
    return add_text(c, lexer, v->as.text.p, v->as.text.n);
  case EDB_BYTES:
    return add_bytes(c, v->as.bytes.p, v->as.bytes.n);
  case EDB_TIME:
    return add_time(c, &v->as.time);
  }
  return EDB_OK;
}

int my_render(my_statement *s, const edb_parameter *parameters, size_t n) {
  my_connection *c = s->connection;
  my_lexer lexer = {no_backslash(c), strstr(my.get_server_info(c->mysql), "MariaDB") != NULL,
                    my.get_server_version(c->mysql)};
  size_t from = 0, i = 0;
  c->sql.n = 0;
  c->sql.nomem = 0;
  for (;;) {
    size_t at = n == 0 ? s->sql_n : my_scan(&lexer, s->sql, s->sql_n, from);
    if (at == MY_SCAN_SECOND) {
      return edb_fail(&c->error, EDB_INVALID_QUERY, "one statement at a time");
    }
    edb_buffer_add(&c->sql, s->sql + from, at - from);
    if (at == s->sql_n) break;
    if (i < n) {
      if (parameters[i].name) {
        return edb_fail(&c->error, EDB_UNSUPPORTED, "MySQL has no named parameters");
      }
      /* A space keeps it apart from what it would otherwise be one word with: `?` needs none. */
      edb_buffer_text(&c->sql, " ");
      int rc = add_value(c, &lexer, &parameters[i].value);
      edb_buffer_text(&c->sql, " ");
      if (rc == EDB_NOMEM) c->sql.nomem = 1;
      if (rc != EDB_OK && rc != EDB_NOMEM) return rc;
    }
    i++;
    from = at + 1;
  }
  if (i != n) {
    return edb_fail(&c->error, EDB_INVALID_QUERY, "the statement has %zu parameters, not %zu", i,
                    n);
  }
  if (c->sql.nomem) return edb_fail(&c->error, EDB_NOMEM, "out of memory");
  return my_check_packet(c, c->sql.n);
}
