/*
** ext/key.c: which row a rowid or an edb_key names.
**
** edb_key is the key's values as SQL literals, with commas between (scan.c): 17,'de',x'00ff'. To write to the row they
** are read back, and each is compared as the server compares that column when it is looked up (ship.c's templates).
*/
#include "extInt.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading literals ----------------------------------------------------------------------------------- */

/* 'text', its doubled quotes made single ones; memory that sql owns. */
static const char *read_text(Sql *sql, const char *p, edb_value *out) {
  char *text = sqlite3_malloc64(strlen(p) + 1);
  size_t n = 0;
  sql_own(sql, text);
  if (text == NULL || sql->rc != SQLITE_OK) return NULL;
  for (p++; *p; p++) {
    if (*p == '\'' && *++p != '\'') break;
    text[n++] = *p;
  }
  out->kind = EDB_TEXT;
  out->as.text.p = text;
  out->as.text.n = n;
  return p;
}

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *read_bytes(Sql *sql, const char *p, edb_value *out) {
  char *bytes = sqlite3_malloc64(strlen(p) / 2 + 1);
  size_t n = 0;
  sql_own(sql, bytes);
  if (bytes == NULL || sql->rc != SQLITE_OK) return NULL;
  for (p += 2; hex(p[0]) >= 0 && hex(p[1]) >= 0; p += 2) {
    bytes[n++] = (char)(hex(p[0]) << 4 | hex(p[1]));
  }
  if (*p != '\'') return NULL;
  out->kind = EDB_BYTES;
  out->as.bytes.p = bytes;
  out->as.bytes.n = n;
  return p + 1;
}

static const char *read_number(const char *p, edb_value *out) {
  size_t n = strcspn(p, ",");
  char text[40];
  char *end;
  if (n == 0 || n >= sizeof text) return NULL;
  memcpy(text, p, n);
  text[n] = 0;
  if (strpbrk(text, ".einfa")) {
    out->kind = EDB_F64;
    out->as.f64 = value_double(text);
    return p + n;
  }
  if (text[0] == '-') {
    out->kind = EDB_I64;
    out->as.i64 = strtoll(text, &end, 10);
  } else {
    unsigned long long u = strtoull(text, &end, 10);
    out->kind = u <= INT64_MAX ? EDB_I64 : EDB_U64;
    if (u <= INT64_MAX) {
      out->as.i64 = (int64_t)u;
    } else {
      out->as.u64 = u;
    }
  }
  return *end == 0 ? p + n : NULL;
}

static const char *read_literal(Sql *sql, const char *p, edb_value *out) {
  out->kind = EDB_NULL;
  if (strncmp(p, "NULL", 4) == 0) return p + 4;
  if (p[0] == '\'') return read_text(sql, p, out);
  if (p[0] == 'x' && p[1] == '\'') return read_bytes(sql, p, out);
  return read_number(p, out);
}

/* ---- Conditions ------------------------------------------------------------------------------------------ */

/* The text of a date or time stands for it where its column's key is compared. */
static void type_value(const edb_type *type, edb_value *value) {
  edb_time time;
  if (value->kind == EDB_I64 && type->kind == EDB_BOOL) {
    int boolean = value->as.i64 != 0;
    value->kind = EDB_BOOL;
    value->as.boolean = boolean;
  }
  if (value->kind != EDB_TEXT || type->declared < EDB_DECLARED_DATE) return;
  const char *p = value->as.text.p;
  size_t n = value->as.text.n;
  edb_time_form form = type->declared == EDB_DECLARED_DATE   ? EDB_DATE
                       : type->declared == EDB_DECLARED_TIME ? EDB_CLOCK
                                                             : EDB_DATETIME;
  if (edb_time_parse(p, n, form, n > 0 && p[n - 1] == 'Z', &time)) {
    value->kind = EDB_TIME;
    value->as.time = time;
  }
}

/* "column" = $1, or IS NULL. column -1: the identity. */
static int append_equal(Sql *sql, const Definition *d, int column, edb_value *value) {
  const edb_type *type = column < 0 ? NULL : d->columns[column].type;
  char placeholder[EDB_PLACEHOLDER_TEXT];
  char *name = deparse_column(d, column);
  if (name == NULL) return SQLITE_NOMEM;
  if (value->kind == EDB_NULL) {
    append_template(sql->text, type && type->is_null ? type->is_null : "%s IS NULL", name);
  } else {
    if (type) type_value(type, value);
    append_template(sql->text, type && type->compared ? type->compared : "%s", name);
    sqlite3_str_appendall(sql->text, " = ");
    sql_parameter(sql, value, placeholder);
    append_template(sql->text, type && type->parameter ? type->parameter : "%s", placeholder);
  }
  sqlite3_free(name);
  return sql->rc;
}

static int key_column(const Definition *d, int ordinal) {
  for (int i = 0; i < d->count; i++) {
    if (d->columns[i].key == ordinal) return i;
  }
  return -1;
}

int key_where(Sql *sql, const Table *table, sqlite3_value *key) {
  const Definition *d = &table->definition;
  edb_value value = value_parameter(key);
  if (table->identity == IDENTITY_ROWID) {
    int column = -1;
    for (int i = 0; i < d->count; i++) {
      if (d->columns[i].key) column = i;
    }
    if (value.kind != EDB_I64) return SQLITE_MISMATCH;
    if (column >= 0 && d->columns[column].type->kind == EDB_U64 && value.as.i64 < 0) {
      value.kind = EDB_U64; /* the same bits */
    }
    return append_equal(sql, d, column, &value);
  }
  const char *p = (const char *)sqlite3_value_text(key);
  int column = key_column(d, 1);
  if (p == NULL) return SQLITE_MISMATCH;
  for (int ordinal = 1;; ordinal++) {
    p = read_literal(sql, p, &value);
    if (p == NULL) return sql->rc == SQLITE_OK ? SQLITE_MISMATCH : sql->rc;
    int rc = append_equal(sql, d, column, &value);
    if (rc != SQLITE_OK) return rc;
    column = key_column(d, ordinal + 1);
    if (*p == 0 && column < 0) return SQLITE_OK;
    if (*p++ != ',' || column < 0) return SQLITE_MISMATCH;
    sqlite3_str_appendall(sql->text, " AND ");
  }
}
