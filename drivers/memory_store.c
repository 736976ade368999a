/*
** drivers/memory_store.c: what stands in the memory driver where other drivers have a client library: a
** list of entries, and just enough SQL to fill and read it. A statement is split into tokens, which are
** read in place. The contract is in memory.h.
*/
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME 64
#define MAX_TOKENS 96
#define SPARE_TOKENS 8 /* ends behind the last one, so that looking ahead needs no check */

typedef struct token {
  char kind; /* w: a word or a number; ' and ": quoted; a mark itself; 0: the end */
  const char *p;
  size_t n;
  size_t parameter; /* of a ?: which */
} token;

static int nomem(memory_store *s) { return edb_fail(s->error, EDB_NOMEM, "out of memory"); }

/* ---- Tokens ---------------------------------------------------------------------------------- */

static int not_understood(memory_store *s, const token *t) {
  return edb_fail(s->error, EDB_INVALID_QUERY, "not understood at \"%s\"", t->p);
}

static int is(const token *t, const char *word) {
  return t->n == strlen(word) && strncasecmp(t->p, word, t->n) == 0;
}

static int tokenize(memory_store *s, const char *sql, token *t, size_t *placeholders) {
  const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
  const char *between = " \t\r\n;";
  size_t n = 0;
  *placeholders = 0;
  for (sql += strspn(sql, between); *sql && n < MAX_TOKENS - SPARE_TOKENS; n++) {
    int quoted = *sql == '\'' || *sql == '"';
    const char *closing = quoted ? strchr(sql + 1, *sql) : NULL;
    t[n].kind = strchr(letters, *sql) ? 'w' : *sql;
    t[n].p = sql + quoted;
    t[n].n = closing ? (size_t)(closing - t[n].p) : t[n].kind == 'w' ? strspn(sql, letters) : 1;
    if (quoted && !closing) return not_understood(s, &t[n]);
    if (t[n].kind == '?') t[n].parameter = (*placeholders)++;
    sql = t[n].p + t[n].n + quoted;
    sql += strspn(sql, between);
  }
  if (*sql) return edb_fail(s->error, EDB_INVALID_QUERY, "the statement is too long");
  for (; n < MAX_TOKENS; n++) t[n] = (token){0, "", 0, 0};
  if (is(t, "CREATE") || is(t, "DROP") || is(t, "INSERT") || is(t, "DELETE") || is(t, "SELECT")) {
    return EDB_OK;
  }
  return not_understood(s, t);
}

int memory_check(memory_store *s, const char *sql) {
  token t[MAX_TOKENS];
  size_t placeholders;
  return tokenize(s, sql, t, &placeholders);
}

/* NULL, 'text', a parameter or an integer (what strtod accepts depends on the host's locale). */
static edb_value value_of(const token *t, const edb_parameter *parameters) {
  edb_value value = {.kind = EDB_NULL};
  if (t->kind == '?') return parameters[t->parameter].value;
  if (t->kind == '\'') {
    value.kind = EDB_TEXT;
    value.as.text.p = t->p;
    value.as.text.n = t->n;
  } else if (!is(t, "NULL")) {
    value.kind = EDB_I64;
    value.as.i64 = strtoll(t->p, NULL, 10);
  }
  return value;
}

static int equal(const edb_value *a, const edb_value *b) {
  if (a->kind != b->kind) return 0;
  if (a->kind == EDB_I64) return a->as.i64 == b->as.i64;
  if (a->kind == EDB_F64) return a->as.f64 == b->as.f64;
  return (a->kind == EDB_TEXT || a->kind == EDB_BYTES) && a->as.text.n == b->as.text.n &&
         memcmp(a->as.text.p, b->as.text.p, a->as.text.n) == 0;
}

/* ---- Entries --------------------------------------------------------------------------------- */

static int append(memory_store *s, size_t table, const edb_value *values, size_t n) {
  memory_entry new = {.table = table, .row.host = s->host}, *all = NULL;
  int rc = edb_row_reset(&new.row, n);
  for (size_t i = 0; rc == EDB_OK && i < n; i++) rc = edb_row_set(&new.row, i, &values[i]);
  if (rc == EDB_OK) all = s->host->resize(s->host->context, s->entries, (s->n + 1) * sizeof *all);
  if (!all) {
    edb_row_clear(&new.row);
    return nomem(s);
  }
  s->entries = all;
  all[s->n++] = new;
  return EDB_OK;
}

static void delete_entry(const memory_store *s, memory_entry *e) {
  e->mark = s->in_transaction ? MEMORY_DYING : MEMORY_DEAD;
}

/* Where the name stands in the table's entry, whose own is at 0. Names there hold their NUL. */
static size_t find_name(const memory_entry *table, const token *name, size_t from) {
  for (; from < table->row.count; from++) {
    if (is(name, table->row.values[from].as.text.p)) break;
  }
  return from;
}

static int find_table(memory_store *s, const token *name, size_t *table) {
  for (*table = 0; *table < s->n; ++*table) {
    const memory_entry *e = &s->entries[*table];
    if (e->table == *table && e->mark == MEMORY_ALIVE && find_name(e, name, 0) == 0) return EDB_OK;
  }
  return edb_fail(s->error, EDB_INVALID_QUERY, "no such table: %.*s", (int)name->n, name->p);
}

static int find_column(memory_store *s, size_t table, const token *name, size_t *column) {
  *column = find_name(&s->entries[table], name, 1) - 1;
  if (*column + 1 < s->entries[table].row.count) return EDB_OK;
  return edb_fail(s->error, EDB_INVALID_QUERY, "no such column: %.*s", (int)name->n, name->p);
}

/* ---- Cursors --------------------------------------------------------------------------------- */

static memory_entry *next_entry(memory_cursor *c) {
  while (c->at < c->store->n) {
    size_t i = c->at++;
    memory_entry *e = &c->store->entries[i];
    if (e->table == c->table && i != c->table && e->mark == MEMORY_ALIVE &&
        (c->filter == MEMORY_COLUMNS || equal(&e->row.values[c->filter], c->wanted.values))) {
      return e;
    }
  }
  return NULL;
}

const edb_row *memory_next(memory_cursor *c) {
  const memory_entry *e = c->n > 0 ? next_entry(c) : NULL;
  return e ? &e->row : NULL;
}

const char *memory_column_name(const memory_cursor *c, size_t i) {
  return c->store->entries[c->table].row.values[c->picked[i] + 1].as.text.p;
}

void memory_cursor_clear(memory_cursor *c) { edb_row_clear(&c->wanted); }

/* ---- Statements ------------------------------------------------------------------------------ */

/* `FROM table`, or `FROM table WHERE column = value`, to the end of the statement. */
static int read_from(memory_store *s, const token *t, const edb_parameter *parameters,
                     memory_cursor *c) {
  edb_value wanted;
  int rc;
  if (!is(t, "FROM")) return not_understood(s, t);
  rc = find_table(s, t + 1, &c->table);
  if (rc != EDB_OK || !t[2].kind) return rc;
  if (!is(t + 2, "WHERE") || t[4].kind != '=' || !t[5].kind || t[6].kind) {
    return not_understood(s, t + 2);
  }
  rc = find_column(s, c->table, t + 3, &c->filter);
  if (rc != EDB_OK) return rc;
  wanted = value_of(t + 5, parameters);
  if (edb_row_reset(&c->wanted, 1) == EDB_OK && edb_row_set(&c->wanted, 0, &wanted) == EDB_OK) {
    return EDB_OK;
  }
  return nomem(s);
}

static int run_create(memory_store *s, const token *t) {
  char names[MEMORY_COLUMNS + 1][MAX_NAME];
  edb_value values[MEMORY_COLUMNS + 1];
  size_t n = 0, table;
  const token *name = t + 2;
  if (!is(t + 1, "TABLE") || t[3].kind != '(') return not_understood(s, t + 1);
  if (find_table(s, name, &table) == EDB_OK) {
    return edb_fail(s->error, EDB_INVALID_QUERY, "the table %.*s exists", (int)name->n, name->p);
  }
  for (t += 3;; name = t + 1) {
    if (name->n == 0 || name->n >= MAX_NAME || n > MEMORY_COLUMNS) return not_understood(s, name);
    memcpy(names[n], name->p, name->n);
    names[n][name->n] = 0;
    values[n] = (edb_value){.kind = EDB_TEXT, .as.text = {names[n], name->n + 1}};
    if (n++ == 0) continue;
    while (t++, t->kind && t->kind != ',' && t->kind != ')')
      continue; /* a type means nothing here */
    if (t->kind != ',') break;
  }
  if (t->kind != ')' || t[1].kind) return not_understood(s, t);
  return append(s, s->n, values, n);
}

static int run_insert(memory_store *s, const token *t, const edb_parameter *parameters) {
  edb_value values[MEMORY_COLUMNS];
  size_t n = 0, table;
  int rc = find_table(s, t + 2, &table);
  if (rc != EDB_OK) return rc;
  if (!is(t + 3, "VALUES") || t[4].kind != '(') return not_understood(s, t + 3);
  for (t += 4; t->kind == '(' || t->kind == ','; t += 2) {
    if (!t[1].kind || n == MEMORY_COLUMNS) return not_understood(s, t);
    values[n++] = value_of(t + 1, parameters);
  }
  if (t->kind != ')' || t[1].kind) return not_understood(s, t);
  if (n + 1 != s->entries[table].row.count) {
    return edb_fail(s->error, EDB_INVALID_QUERY, "not as many values as columns");
  }
  return append(s, table, values, n);
}

static int run_delete(memory_store *s, const token *t, const edb_parameter *parameters,
                      memory_cursor *c, int64_t *affected) {
  memory_entry *e;
  int rc = read_from(s, t + 1, parameters, c);
  if (rc != EDB_OK) return rc;
  for (; (e = next_entry(c)) != NULL; ++*affected) delete_entry(s, e);
  return EDB_OK;
}

static int run_drop(memory_store *s, const token *t, memory_cursor *c) {
  memory_entry *e;
  int rc = find_table(s, t + 2, &c->table);
  if (rc != EDB_OK || !is(t + 1, "TABLE") || t[3].kind) return rc ? rc : not_understood(s, t);
  while ((e = next_entry(c)) != NULL) delete_entry(s, e);
  delete_entry(s, &s->entries[c->table]);
  return EDB_OK;
}

static int run_select(memory_store *s, const token *t, const edb_parameter *parameters,
                      memory_cursor *c) {
  const token *from = t;
  int all = t[1].kind == '*', rc;
  size_t n;
  while (from->kind && !is(from, "FROM")) from++;
  rc = read_from(s, from, parameters, c);
  if (rc != EDB_OK) return rc;
  n = all ? s->entries[c->table].row.count - 1 : (size_t)(from - t) / 2;
  if (n > MEMORY_COLUMNS || from - t != (all ? 2 : 2 * (ptrdiff_t)n)) return not_understood(s, t);
  for (size_t i = 0; rc == EDB_OK && i < n; i++) {
    c->picked[i] = i;
    if (!all) rc = find_column(s, c->table, &t[1 + 2 * i], &c->picked[i]);
  }
  c->n = n;
  return rc;
}

int memory_run(memory_store *s, const char *sql, const edb_parameter *parameters, size_t n,
               memory_cursor *c, int64_t *affected) {
  token t[MAX_TOKENS];
  size_t placeholders;
  int rc = tokenize(s, sql, t, &placeholders);
  *affected = 0;
  c->store = s;
  c->wanted.host = s->host;
  c->filter = MEMORY_COLUMNS;
  if (rc != EDB_OK) return rc;
  for (size_t i = 0; i < n; i++) {
    if (parameters[i].name) return edb_fail(s->error, EDB_UNSUPPORTED, "parameters have no names");
  }
  if (n != placeholders) {
    return edb_fail(s->error, EDB_INVALID_QUERY, "%zu parameters for %zu placeholders", n,
                    placeholders);
  }
  if (is(t, "SELECT")) return run_select(s, t, parameters, c);
  if (is(t, "DELETE")) return run_delete(s, t, parameters, c, affected);
  if (is(t, "DROP")) return run_drop(s, t, c);
  if (is(t, "CREATE")) return run_create(s, t);
  rc = run_insert(s, t, parameters);
  *affected = rc == EDB_OK;
  return rc;
}

/* ---- Transactions ---------------------------------------------------------------------------- */

void memory_begin(memory_store *s) {
  s->in_transaction = 1;
  s->n_at_begin = s->n;
}

static void end(memory_store *s, memory_mark dying) {
  for (size_t i = 0; i < s->n; i++) {
    if (s->entries[i].mark == MEMORY_DYING) s->entries[i].mark = dying;
  }
  s->in_transaction = 0;
}

void memory_commit(memory_store *s) { end(s, MEMORY_DEAD); }

void memory_rollback(memory_store *s) {
  while (s->n > s->n_at_begin) edb_row_clear(&s->entries[--s->n].row);
  end(s, MEMORY_ALIVE);
}

void memory_clear(memory_store *s) {
  while (s->n > 0) edb_row_clear(&s->entries[--s->n].row);
  edb_free(s->host, s->entries);
  s->entries = NULL;
}
