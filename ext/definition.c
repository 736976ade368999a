/*
** ext/definition.c: what is known of a remote table, from the words of CREATE VIRTUAL TABLE to the
** declaration.
**
**   CREATE VIRTUAL TABLE orders USING edb(shop, 'public.orders', decimal=text);
**   CREATE VIRTUAL TABLE sums USING edb(shop, query='SELECT region, sum(x) AS x FROM sales GROUP BY region');
**
** The columns come from the server (discover.c) when the table is created, and from its shadow
** tables (shadow.c) whenever the database is opened.
*/
#include "extInt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options -------------------------------------------------------------------------------- */

int set_text(char **out, const char *value) {
  sqlite3_free(*out);
  *out = sqlite3_mprintf("%s", value);
  return *out != NULL;
}

/* The value's place in the list of words, -1 if it is not there. */
static int word_index(const char *value, const char *const *words) {
  for (int i = 0; words[i]; i++) {
    if (sqlite3_stricmp(value, words[i]) == 0) return i;
  }
  return -1;
}

typedef struct Option {
  const char *name;
  const char *values; /* what is allowed, for the error message */
  /* 1, 0 where the value is not allowed */
  int (*set)(Definition *, const char *value);
} Option;

static int set_query(Definition *d, const char *value) { return set_text(&d->query, value); }

static int set_key(Definition *d, const char *value) { return set_text(&d->key, value); }

static int set_decimal(Definition *d, const char *value) {
  static const char *const words[] = {"number", "text", NULL};
  int i = word_index(value, words);
  d->decimal_text = i == 1;
  return i >= 0;
}

static int set_unrepresentable(Definition *d, const char *value) {
  static const char *const words[] = {"text", "null", "error", NULL};
  int i = word_index(value, words);
  d->unrepresentable = i > 0 ? (Unrepresentable)i : UNREPRESENTABLE_TEXT;
  return i >= 0;
}

static int set_pushdown(Definition *d, const char *value) {
  static const char *const words[] = {"0", "1", NULL};
  int i = word_index(value, words);
  d->pushdown = i;
  return i >= 0;
}

static int set_readonly(Definition *d, const char *value) {
  static const char *const words[] = {"0", "1", NULL};
  d->readonly = word_index(value, words);
  return d->readonly >= 0;
}

static int set_nulls(Definition *d, const char *value) {
  static const char *const words[] = {"default", "send", NULL};
  d->send_nulls = word_index(value, words);
  return d->send_nulls >= 0;
}

static int set_rows(Definition *d, const char *value) {
  char *end;
  long rows = strtol(value, &end, 10);
  d->rows_option = (double)rows;
  return end != value && *end == 0 && rows >= 0;
}

/* Digits, perhaps with K, M or G behind; -1 where the value is something else. */
static sqlite3_int64 amount(const char *value) {
  static const char units[] = "KMG";
  char *end;
  if (!isdigit((unsigned char)value[0])) return -1;
  long long n = strtoll(value, &end, 10);
  const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  if (end[unit != NULL] != 0 || n > INT64_MAX >> (shift + 1)) return -1;
  return (sqlite3_int64)n << shift;
}

static int set_join_memory(Definition *d, const char *value) {
  d->join_memory = amount(value);
  return d->join_memory >= 0;
}

static int set_join_lookups(Definition *d, const char *value) {
  d->join_lookups = amount(value);
  return d->join_lookups >= 0;
}

static const Option options[] = {
    {"decimal", "number or text", set_decimal},
    {"join_lookups", "a number", set_join_lookups},
    {"join_memory", "a number of bytes (K, M, G)", set_join_memory},
    {"key", "names of columns, with commas between", set_key},
    {"nulls", "default or send", set_nulls},
    {"on_unrepresentable", "text, null or error", set_unrepresentable},
    {"pushdown", "1 or 0", set_pushdown},
    {"query", "a SELECT in the server's SQL", set_query},
    {"readonly", "1 or 0", set_readonly},
    {"rows", "an estimate of the number of rows", set_rows},
};

#define OPTION_COUNT ((int)(sizeof options / sizeof options[0]))

static int option_set(Definition *d, const char *name, const char *value, char **message) {
  sqlite3_str *known = sqlite3_str_new(NULL);
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (sqlite3_stricmp(name, options[i].name) == 0) {
      sqlite3_free(sqlite3_str_finish(known));
      if (options[i].set(d, value)) return SQLITE_OK;
      *message = sqlite3_mprintf("edb: option %s: \"%s\" is not %s", options[i].name, value,
                                 options[i].values);
      return SQLITE_ERROR;
    }
    sqlite3_str_appendf(known, "%s%s", i ? ", " : "", options[i].name);
  }
  char *list = sqlite3_str_finish(known);
  *message = sqlite3_mprintf("edb: unknown option \"%s\"; valid ones: %s", name, list);
  sqlite3_free(list);
  return SQLITE_ERROR;
}

/* ---- The arguments of CREATE VIRTUAL TABLE --------------------------------------------------- */

/* A copy of p without the quotes around it, if it has any ('', "", [] or ``); NULL when out of
** memory. */
static char *dequote(const char *p) {
  size_t n = strlen(p);
  char close = p[0] == '[' ? ']' : p[0];
  char *out = sqlite3_malloc64(n + 1);
  if (out == NULL) return NULL;
  if (n < 2 || !strchr("'\"[`", p[0]) || p[n - 1] != close) {
    memcpy(out, p, n + 1);
    return out;
  }
  size_t k = 0;
  for (size_t i = 1; i < n - 1; i++) {
    out[k++] = p[i];
    if (p[i] == close && p[i + 1] == close && i + 1 < n - 1) i++;
  }
  out[k] = 0;
  return out;
}

/* Where the value starts in `name = value`, or NULL if the argument does not have that form. */
static const char *option_value(const char *argument, size_t *name_length) {
  size_t i = 0;
  while (isalnum((unsigned char)argument[i]) || argument[i] == '_') i++;
  *name_length = i;
  if (i == 0) return NULL;
  while (isspace((unsigned char)argument[i])) i++;
  if (argument[i] != '=') return NULL;
  i++;
  while (isspace((unsigned char)argument[i])) i++;
  return argument + i;
}

/* One part of schema.table: "quoted", or up to the next point. Answers what follows it; NULL if
** misformed. */
static const char *name_part(const char *p, char **out) {
  size_t n = 0;
  if (p[0] == '"') {
    n = 1;
    while (p[n] && (p[n] != '"' || p[n + 1] == '"')) n += p[n] == '"' ? 2 : 1;
    if (p[n] == 0) return NULL;
    n++;
  } else {
    n = strcspn(p, ".");
    if (n == 0) return NULL;
  }
  char *raw = sqlite3_mprintf("%.*s", (int)n, p);
  if (raw == NULL) return NULL;
  *out = dequote(raw);
  sqlite3_free(raw);
  return *out ? p + n : NULL;
}

/* A URL in the wrong place may hold a password, which no message repeats. */
static int is_misplaced_url(const char *text, char **message) {
  if (text[0] == '"' || strstr(text, "://") == NULL) return 0;
  *message = sqlite3_mprintf("edb: a URL stands where a table's name belongs");
  return 1;
}

int definition_parse_table(Definition *d, const char *text, char **message) {
  char *first = NULL;
  if (is_misplaced_url(text, message)) return SQLITE_ERROR;
  const char *rest = name_part(text, &first);
  if (rest && *rest == 0) {
    d->table = first;
    return SQLITE_OK;
  }
  d->schema = first;
  if (rest && *rest == '.' && (rest = name_part(rest + 1, &d->table)) && *rest == 0) {
    return SQLITE_OK;
  }
  *message = sqlite3_mprintf("edb: \"%s\" is not a table's name: write 'table', 'schema.table', or "
                             "'\"a.name\".\"with points\"'",
                             text);
  return SQLITE_ERROR;
}

static int parse_argument(Definition *d, const char *argument, char **message) {
  size_t name_length;
  const char *value = option_value(argument, &name_length);
  char *text = dequote(value ? value : argument);
  char *name = value ? sqlite3_mprintf("%.*s", (int)name_length, argument) : NULL;
  int rc = SQLITE_OK;
  if (text == NULL || (value && name == NULL)) {
    rc = SQLITE_NOMEM;
  } else if (value) {
    rc = option_set(d, name, text, message);
  } else if (d->server == NULL) {
    d->server = text;
    text = NULL;
  } else if (d->table == NULL) {
    rc = definition_parse_table(d, text, message);
  } else {
    if (!is_misplaced_url(text, message)) {
      *message =
          sqlite3_mprintf("edb: one table too many: \"%s\" (an option's value with a comma in "
                          "it is quoted: key='a,b')",
                          text);
    }
    rc = SQLITE_ERROR;
  }
  sqlite3_free(text);
  sqlite3_free(name);
  return rc;
}

void definition_begin(Definition *d) {
  memset(d, 0, sizeof *d);
  d->pushdown = 1;
  d->rows = d->rows_option = d->row_bytes = -1;
  d->join_memory = d->join_lookups = -1;
}

int definition_parse(Definition *d, int argc, const char *const *argv, char **message) {
  definition_begin(d);
  for (int i = 0; i < argc; i++) {
    int rc = parse_argument(d, argv[i], message);
    if (rc != SQLITE_OK) return rc;
  }
  if (d->server == NULL || (d->table == NULL) == (d->query == NULL)) {
    *message = sqlite3_mprintf("edb: write USING edb(server, 'schema.table') or "
                               "USING edb(server, query='SELECT …')");
    return SQLITE_ERROR;
  }
  edb_error error;
  if (strchr(d->server, ':') && edb_url_check(d->server, NULL, 0, &error) != EDB_OK) {
    *message = sqlite3_mprintf("edb: %s", error.message);
    return SQLITE_ERROR;
  }
  if (strchr(d->server, ':') && edb_url_has_secret(d->server)) {
    *message =
        sqlite3_mprintf("edb: the URL's password would stay in the database file: define the "
                        "server with edb_server(name, URL) and use its name");
    return SQLITE_ERROR;
  }
  if (strchr(d->server, ':') && edb_url_is_local(d->server)) {
    *message =
        sqlite3_mprintf("edb: a database file does not choose passwords, keys or modes of this "
                        "machine: define the server with edb_server(name, URL) and use its name");
    return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

/* ---- Columns -------------------------------------------------------------------------------- */

static int name_taken(const Definition *d, int count, const char *name) {
  if (sqlite3_stricmp(name, "edb_key") == 0) return 1;
  for (int i = 0; i < count; i++) {
    if (sqlite3_stricmp(d->columns[i].name, name) == 0) return 1;
  }
  return 0;
}

/* A name that SQLite takes: not empty, and not again one that only differs in case. */
static char *unique_name(const Definition *d, int position, const char *remote) {
  char *name = remote[0] ? sqlite3_mprintf("%s", remote) : sqlite3_mprintf("c%d", position + 1);
  for (int k = 2; name && name_taken(d, position, name); k++) {
    sqlite3_free(name);
    name = sqlite3_mprintf("%s_%d", remote[0] ? remote : "c", k);
  }
  return name;
}

/* What stands in the parentheses of varchar(10) and numeric(10,2), as each server writes them. */
static int type_holds(const edb_type *type, const char *name) {
  static const char *const words[] = {"char",      "varchar",           "nchar",   "nvarchar",
                                      "character", "character varying", "decimal", "numeric"};
  const size_t n = strcspn(name, "(");
  int known = 0;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    known = known || (strlen(words[i]) == n && sqlite3_strnicmp(name, words[i], (int)n) == 0);
  }
  char *end;
  if (!known || name[n] == 0 || !strchr("0123456789", name[n + 1])) return -1; /* (max) */
  const long most = strtol(name + n + 1, &end, 10);
  const long scale = *end == ',' ? strtol(end + 1, &end, 10) : 0;
  const int is_number = type->declared == EDB_DECLARED_NUMERIC;
  if (most > 100000 || scale < 0 || scale > most || (*end != ')')) return -1;
  if (!is_number && type->declared != EDB_DECLARED_TEXT) return -1;
  return (int)(is_number ? most - scale : most);
}

Column *definition_add(Definition *d, const char *remote, const edb_type *type,
                       const char *type_name) {
  Column *grown = sqlite3_realloc64(d->columns, sizeof(Column) * (size_t)(d->count + 1));
  if (grown == NULL) return NULL;
  d->columns = grown;
  Column *column = &grown[d->count];
  memset(column, 0, sizeof *column);
  column->type = type;
  column->nullable = 1;
  column->holds = type_holds(type, type_name);
  column->name = unique_name(d, d->count, remote);
  column->remote = sqlite3_mprintf("%s", remote);
  column->type_name = sqlite3_mprintf("%s", type_name);
  d->count++; /* definition_clear frees what is there */
  return column->name && column->remote && column->type_name ? column : NULL;
}

int definition_apply_key(Definition *d, char **message) {
  if (d->key == NULL) return SQLITE_OK;
  for (int i = 0; i < d->count; i++) d->columns[i].key = 0;
  int ordinal = 0;
  for (const char *p = d->key; *p;) {
    while (*p == ' ' || *p == ',') p++;
    size_t n = strcspn(p, ",");
    size_t length = n;
    while (length > 0 && p[length - 1] == ' ') length--;
    if (length == 0) break;
    int found = 0;
    for (int i = 0; i < d->count && !found; i++) {
      const char *name = d->columns[i].name;
      if (strlen(name) == length && sqlite3_strnicmp(name, p, (int)length) == 0) {
        found = d->columns[i].key ? -1 : 1;
        if (found == 1) d->columns[i].key = ++ordinal;
      }
    }
    if (found != 1) {
      *message = sqlite3_mprintf(found ? "edb: option key: %.*s is there twice"
                                       : "edb: option key: there is no column %.*s",
                                 (int)length, p);
      return SQLITE_ERROR;
    }
    p += n;
  }
  if (ordinal > 0) return SQLITE_OK;
  *message = sqlite3_mprintf("edb: option key: \"%s\" names no column", d->key);
  return SQLITE_ERROR;
}

void definition_settle(Definition *d) {
  if (d->dialect->dynamic) d->decimal_text = 0; /* values come as they are */
  d->aliased = 0;
  if (d->query == NULL || !d->dialect->column_aliases) return;
  for (int i = 0; i < d->count && !d->aliased; i++) {
    for (int k = 0; k < i; k++) {
      if (strcmp(d->columns[i].remote, d->columns[k].remote) == 0) d->aliased = 1;
    }
  }
}

Identity definition_identity(const Definition *d) {
  int keys = 0;
  const Column *key = NULL;
  for (int i = 0; i < d->count; i++) {
    if (d->columns[i].key) {
      keys++;
      key = &d->columns[i];
    }
  }
  if (keys == 1 && key->type->compare == EDB_COMPARE_INTEGER) return IDENTITY_ROWID;
  if (keys > 0) return IDENTITY_KEY;
  if (d->identity_sql) return d->identity_integer ? IDENTITY_ROWID : IDENTITY_KEY;
  return IDENTITY_NONE;
}

double definition_rows(const Definition *d) {
  return d->rows_option >= 0 ? d->rows_option : d->rows;
}

const char *definition_declared(const Definition *d, const edb_type *type) {
  static const char *const names[] = {
      [EDB_DECLARED_BLOB] = "BLOB",        [EDB_DECLARED_INTEGER] = "INTEGER",
      [EDB_DECLARED_REAL] = "REAL",        [EDB_DECLARED_NUMERIC] = "NUMERIC",
      [EDB_DECLARED_TEXT] = "TEXT",        [EDB_DECLARED_JSON] = "TEXT",
      [EDB_DECLARED_DATE] = "DATE",        [EDB_DECLARED_TIME] = "TIME",
      [EDB_DECLARED_DATETIME] = "DATETIME"};
  if (type->declared == EDB_DECLARED_NUMERIC && d->decimal_text) return "TEXT";
  return names[type->declared];
}

/* SQLite looks for min() of a column that it takes for nullable in all rows. Only a primary key cannot come to be
** nullable behind our back; but NaN in it is NULL here, and so may be a date. */
static int is_never_null(const Definition *d, const Column *column) {
  return column->key && !column->nullable && d->key == NULL && column->type->is_null == NULL &&
         (column->type->declared < EDB_DECLARED_DATE || d->unrepresentable == UNREPRESENTABLE_TEXT);
}

char *definition_declare(const Definition *d) {
  sqlite3_str *out = sqlite3_str_new(NULL);
  Identity identity = definition_identity(d);
  sqlite3_str_appendall(out, "CREATE TABLE x(");
  for (int i = 0; i < d->count; i++) {
    const Column *column = &d->columns[i];
    sqlite3_str_appendf(out, "%s\"%w\" %s", i ? ", " : "", column->name,
                        definition_declared(d, column->type));
    if (is_never_null(d, column)) sqlite3_str_appendall(out, " NOT NULL");
  }
  /* SQLite has no table without columns: there the key is one that is seen. */
  if (identity == IDENTITY_KEY) {
    sqlite3_str_appendf(out, "%s PRIMARY KEY) WITHOUT ROWID",
                        d->count ? ", edb_key TEXT HIDDEN" : "edb_key TEXT");
  } else if (d->count == 0) {
    sqlite3_str_appendall(out, "edb_key)");
  } else {
    sqlite3_str_appendall(out, ")");
  }
  return sqlite3_str_finish(out);
}

void definition_clear(Definition *d) {
  for (int i = 0; i < d->count; i++) {
    sqlite3_free(d->columns[i].name);
    sqlite3_free(d->columns[i].remote);
    sqlite3_free(d->columns[i].type_name);
  }
  sqlite3_free(d->columns);
  sqlite3_free(d->server);
  sqlite3_free(d->schema);
  sqlite3_free(d->table);
  sqlite3_free(d->query);
  sqlite3_free(d->identity_sql);
  sqlite3_free(d->key);
  memset(d, 0, sizeof *d);
}
