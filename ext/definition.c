/*
** ext/definition.c: what is known of a remote table, and where it is kept.
**
**   CREATE VIRTUAL TABLE orders USING edb(shop, 'public.orders', decimal=text);
**   CREATE VIRTUAL TABLE sums USING edb(shop, query='SELECT region, sum(x) AS x FROM sales GROUP BY region');
**
** The columns are asked of the server once, by CREATE, and kept in two shadow tables beside the virtual one, so
** that the database opens, and the table can be dropped, while the server is away:
**
**   orders_relation(driver, rows, schema, identity_sql, identity_integer)               one row
**   orders_columns(position, name, remote, type, type_name, nullable, key, has_default)  a row each
**
** The options stand in the CREATE statement itself, which SQLite keeps.
*/
#include "extInt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options -------------------------------------------------------------------------------- */

static int set_text(char **out, const char *value) {
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

static int set_rows(Definition *d, const char *value) {
  char *end;
  long rows = strtol(value, &end, 10);
  d->rows_option = (double)rows;
  return end != value && *end == 0 && rows >= 0;
}

static const Option options[] = {
    {"decimal", "number or text", set_decimal},
    {"key", "names of columns, with commas between", set_key},
    {"on_unrepresentable", "text, null or error", set_unrepresentable},
    {"pushdown", "1 or 0", set_pushdown},
    {"query", "a SELECT in the server's SQL", set_query},
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

/* A copy of p without the quotes around it, if it has any ('', "", [] or ``); NULL when out of memory. */
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

/* One part of schema.table: "quoted", or up to the next point. Answers what follows it; NULL if misformed. */
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

int definition_parse_table(Definition *d, const char *text, char **message) {
  char *first = NULL;
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
    *message = sqlite3_mprintf("edb: one table too many: \"%s\"", text);
    rc = SQLITE_ERROR;
  }
  sqlite3_free(text);
  sqlite3_free(name);
  return rc;
}

void definition_begin(Definition *d) {
  memset(d, 0, sizeof *d);
  d->pushdown = 1;
  d->rows = d->rows_option = -1;
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
  if (strchr(d->server, ':') && edb_url_has_secret(d->server)) {
    *message =
        sqlite3_mprintf("edb: the URL's password would stay in the database file: define the "
                        "server with edb_server(name, URL) and use its name, or write "
                        "password_env or password_file into the URL");
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

/* Adds a column, with a name of its own in SQLite. */
static Column *column_add(Definition *d, const char *remote, const edb_type *type,
                          const char *type_name) {
  Column *grown = sqlite3_realloc64(d->columns, sizeof(Column) * (size_t)(d->count + 1));
  if (grown == NULL) return NULL;
  d->columns = grown;
  Column *column = &grown[d->count];
  memset(column, 0, sizeof *column);
  column->type = type;
  column->nullable = 1;
  column->name = unique_name(d, d->count, remote);
  column->remote = sqlite3_mprintf("%s", remote);
  column->type_name = sqlite3_mprintf("%s", type_name);
  d->count++; /* definition_clear frees what is there */
  return column->name && column->remote && column->type_name ? column : NULL;
}

/* The option key= names the columns that tell rows apart. */
static int apply_key(Definition *d, char **message) {
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
        d->columns[i].key = ++ordinal;
        found = 1;
      }
    }
    if (!found) {
      *message = sqlite3_mprintf("edb: option key: there is no column %.*s", (int)length, p);
      return SQLITE_ERROR;
    }
    p += n;
  }
  return SQLITE_OK;
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

char *definition_declare(const Definition *d) {
  sqlite3_str *out = sqlite3_str_new(NULL);
  Identity identity = definition_identity(d);
  sqlite3_str_appendall(out, "CREATE TABLE x(");
  for (int i = 0; i < d->count; i++) {
    sqlite3_str_appendf(out, "%s\"%w\" %s", i ? ", " : "", d->columns[i].name,
                        definition_declared(d, d->columns[i].type));
  }
  const char *comma = d->count ? ", " : "";
  if (identity == IDENTITY_KEY) {
    sqlite3_str_appendf(out, "%sedb_key TEXT HIDDEN PRIMARY KEY) WITHOUT ROWID", comma);
  } else if (d->count == 0) {
    sqlite3_str_appendall(out, "edb_key HIDDEN)"); /* SQLite has no table without columns */
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

/* ---- Discovery ------------------------------------------------------------------------------ */

static edb_value text_value(const char *text) {
  edb_value value = {.kind = EDB_NULL};
  if (text) {
    value.kind = EDB_TEXT;
    value.as.text.p = text;
    value.as.text.n = strlen(text);
  }
  return value;
}

/* A copy of the row's text, NULL where the value is not text. */
static char *row_text(const edb_value *value) {
  if (value->kind != EDB_TEXT) return NULL;
  return sqlite3_mprintf("%.*s", (int)value->as.text.n, value->as.text.p);
}

static double row_number(const edb_value *value) {
  if (value->kind == EDB_I64) return (double)value->as.i64;
  if (value->kind == EDB_F64) return value->as.f64;
  if (value->kind == EDB_BOOL) return (double)value->as.boolean;
  return -1;
}

typedef struct Discovery {
  Server *server;
  Definition *definition;
  char **message;
} Discovery;

/* Hands each row of a query to `take`, which answers SQLITE_OK or an error. *count: rows that there were. */
static int each_row(Discovery *v, const char *sql, const edb_parameter *parameters, size_t n,
                    int (*take)(Definition *, const edb_value *), int *count) {
  Reader reader;
  int rc = reader_open(&reader, v->server, sql, parameters, n, REPEAT_ONCE, v->message);
  if (rc != SQLITE_OK) return rc;
  while ((rc = reader_next(&reader, v->message)) == SQLITE_ROW) {
    ++*count;
    rc = take(v->definition, reader.row.values);
    if (rc != SQLITE_OK) break;
  }
  reader_end(&reader);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int take_relation(Definition *d, const edb_value *row) {
  if (d->schema == NULL) d->schema = row_text(&row[0]);
  d->rows = row_number(&row[3]);
  sqlite3_free(d->identity_sql);
  d->identity_sql = row_text(&row[4]);
  d->identity_integer = row_number(&row[5]) > 0;
  return SQLITE_OK;
}

static int take_column(Definition *d, const edb_value *row) {
  char *name = row_text(&row[0]);
  char *type = row_text(&row[1]);
  char *type_name = row_text(&row[2]);
  int rc = SQLITE_NOMEM;
  if (name && type && type_name) {
    Column *column = column_add(d, name, d->driver->dialect->type(type), type_name);
    if (column) {
      column->nullable = row_number(&row[3]) != 0;
      column->key = (int)row_number(&row[4]);
      column->has_default = row_number(&row[5]) > 0;
      if (column->key < 0) column->key = 0;
      rc = SQLITE_OK;
    }
  }
  sqlite3_free(name);
  sqlite3_free(type);
  sqlite3_free(type_name);
  return rc;
}

static int take_estimate(Definition *d, const edb_value *row) {
  d->rows = row_number(&row[0]);
  return SQLITE_OK;
}

/* A driver may know no cheap estimate for this kind of table and let the query fail: then there is none. */
static int discover_estimate(Discovery *v) {
  const Definition *d = v->definition;
  const char *format = d->driver->catalog->estimate;
  if (d->rows >= 0 || format == NULL) return SQLITE_OK;
  char *relation = deparse_relation(d);
  sqlite3_str *text = sqlite3_str_new(NULL);
  append_template(text, format, relation ? relation : "");
  char *sql = sqlite3_str_finish(text);
  int count = 0;
  int rc = SQLITE_NOMEM;
  if (relation && sql) {
    rc = each_row(v, sql, NULL, 0, take_estimate, &count);
    sqlite3_free(*v->message);
    *v->message = NULL;
  }
  sqlite3_free(relation);
  sqlite3_free(sql);
  return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

static int discover_table(Discovery *v) {
  Definition *d = v->definition;
  const edb_catalog *catalog = d->driver->catalog;
  edb_parameter parameters[2] = {{NULL, text_value(d->schema)}, {NULL, text_value(d->table)}};
  char *schema = d->schema; /* take_relation may fill in what was not said */
  int found = 0;
  int columns = 0;
  int rc = each_row(v, catalog->relation, parameters, 2, take_relation, &found);
  if (rc != SQLITE_OK) return rc;
  if (found == 0) {
    *v->message =
        sqlite3_mprintf("edb: %s %s: there is no table %s%s%s", d->driver->name, v->server->name,
                        schema ? schema : "", schema ? "." : "", d->table);
    return SQLITE_ERROR;
  }
  parameters[0].value = text_value(d->schema);
  rc = each_row(v, catalog->columns, parameters, 2, take_column, &columns);
  return rc == SQLITE_OK ? discover_estimate(v) : rc;
}

/* The columns of a query are those of its empty result. */
static int discover_query(Discovery *v) {
  Definition *d = v->definition;
  char *relation = deparse_relation(d);
  sqlite3_str *text = sqlite3_str_new(NULL);
  sqlite3_str_appendf(text, "SELECT * FROM %s", relation ? relation : "");
  append_template(text, d->driver->dialect->limit, "0");
  char *sql = sqlite3_str_finish(text);
  Reader reader;
  int rc = SQLITE_NOMEM;
  if (relation && sql) rc = reader_open(&reader, v->server, sql, NULL, 0, REPEAT_ONCE, v->message);
  if (rc == SQLITE_OK) {
    for (size_t i = 0; i < reader.count && rc == SQLITE_OK; i++) {
      const edb_column *column = &reader.columns[i];
      if (!column_add(d, column->name, column->type, column->type_name)) rc = SQLITE_NOMEM;
    }
    reader_end(&reader);
  }
  sqlite3_free(relation);
  sqlite3_free(sql);
  return rc;
}

int definition_discover(Edb *edb, Definition *d, char **message) {
  Server *server = server_find(edb, d->server, message);
  if (server == NULL) return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  Discovery v = {server, d, message};
  d->driver = server->driver;
  int rc = d->query ? discover_query(&v) : discover_table(&v);
  return rc == SQLITE_OK ? apply_key(d, message) : rc;
}

/* ---- The shadow tables ----------------------------------------------------------------------- */

static const char *const shadow_suffixes[] = {"relation", "columns"};

#define SHADOWS ((int)(sizeof shadow_suffixes / sizeof shadow_suffixes[0]))

int definition_is_shadow(const char *suffix) {
  for (int i = 0; i < SHADOWS; i++) {
    if (sqlite3_stricmp(suffix, shadow_suffixes[i]) == 0) return 1;
  }
  return 0;
}

int sql_run(sqlite3 *db, char *sql, char **message) {
  if (sql == NULL) return SQLITE_NOMEM;
  int rc = sqlite3_exec(db, sql, NULL, NULL, message);
  sqlite3_free(sql);
  return rc;
}

static int save_columns(sqlite3 *db, sqlite3_stmt *insert, const Definition *d, char **message) {
  int rc = SQLITE_OK;
  for (int i = 0; i < d->count && rc == SQLITE_OK; i++) {
    const Column *c = &d->columns[i];
    sqlite3_bind_int(insert, 1, i);
    sqlite3_bind_text(insert, 2, c->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, c->remote, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, c->type->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, c->type_name, -1, SQLITE_STATIC);
    sqlite3_bind_int(insert, 6, c->nullable);
    sqlite3_bind_int(insert, 7, c->key);
    sqlite3_bind_int(insert, 8, c->has_default);
    sqlite3_step(insert);
    rc = sqlite3_reset(insert);
  }
  if (rc != SQLITE_OK) *message = sqlite3_mprintf("edb: %s", sqlite3_errmsg(db));
  return rc;
}

int definition_save(sqlite3 *db, const char *schema, const char *name, const Definition *d,
                    char **message) {
  int rc = sql_run(
      db,
      sqlite3_mprintf("CREATE TABLE \"%w\".\"%w_relation\"(driver TEXT, rows REAL, schema TEXT, "
                      "identity_sql TEXT, identity_integer INTEGER);"
                      "CREATE TABLE \"%w\".\"%w_columns\"(position INTEGER PRIMARY KEY, name TEXT, "
                      "remote TEXT, type TEXT, type_name TEXT, nullable INTEGER, \"key\" INTEGER, "
                      "has_default INTEGER);"
                      "INSERT INTO \"%w\".\"%w_relation\" VALUES (%Q, %!.17g, %Q, %Q, %d)",
                      schema, name, schema, name, schema, name, d->driver->name, d->rows, d->schema,
                      d->identity_sql, d->identity_integer),
      message);
  if (rc != SQLITE_OK) return rc;
  char *sql =
      sqlite3_mprintf("INSERT INTO \"%w\".\"%w_columns\" VALUES (?,?,?,?,?,?,?,?)", schema, name);
  if (sql == NULL) return SQLITE_NOMEM;
  sqlite3_stmt *insert = NULL;
  rc = sqlite3_prepare_v2(db, sql, -1, &insert, NULL);
  sqlite3_free(sql);
  if (rc == SQLITE_OK) {
    rc = save_columns(db, insert, d, message);
  } else {
    *message = sqlite3_mprintf("edb: %s", sqlite3_errmsg(db));
  }
  sqlite3_finalize(insert);
  return rc;
}

static const edb_driver *driver_named(const char *name) {
  for (int i = 0; edb_drivers[i]; i++) {
    if (name && strcmp(edb_drivers[i]->name, name) == 0) return edb_drivers[i];
  }
  return NULL;
}

static const char *column_text(sqlite3_stmt *row, int i) {
  const char *text = (const char *)sqlite3_column_text(row, i);
  return text ? text : "";
}

static int load_relation(sqlite3_stmt *row, Definition *d) {
  d->driver = driver_named(column_text(row, 0));
  if (d->driver == NULL) return SQLITE_ERROR;
  d->rows = sqlite3_column_double(row, 1);
  if (d->schema == NULL && sqlite3_column_type(row, 2) == SQLITE_TEXT &&
      !set_text(&d->schema, column_text(row, 2))) {
    return SQLITE_NOMEM;
  }
  if (sqlite3_column_type(row, 3) == SQLITE_TEXT &&
      !set_text(&d->identity_sql, column_text(row, 3))) {
    return SQLITE_NOMEM;
  }
  d->identity_integer = sqlite3_column_int(row, 4);
  return SQLITE_OK;
}

static int load_column(sqlite3_stmt *row, Definition *d) {
  const edb_type *type = d->driver->dialect->type(column_text(row, 2));
  Column *column = column_add(d, column_text(row, 1), type, column_text(row, 3));
  if (column == NULL || !set_text(&column->name, column_text(row, 0))) return SQLITE_NOMEM;
  column->nullable = sqlite3_column_int(row, 4);
  column->key = sqlite3_column_int(row, 5);
  column->has_default = sqlite3_column_int(row, 6);
  return SQLITE_OK;
}

static int load_rows(sqlite3 *db, char *sql, Definition *d,
                     int (*load)(sqlite3_stmt *, Definition *)) {
  sqlite3_stmt *rows = NULL;
  if (sql == NULL) return SQLITE_NOMEM;
  int rc = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
  sqlite3_free(sql);
  while (rc == SQLITE_OK && sqlite3_step(rows) == SQLITE_ROW) rc = load(rows, d);
  int finalized = sqlite3_finalize(rows);
  return rc == SQLITE_OK ? finalized : rc;
}

int definition_load(sqlite3 *db, const char *schema, const char *name, Definition *d,
                    char **message) {
  int rc = load_rows(db,
                     sqlite3_mprintf("SELECT driver, rows, schema, identity_sql, identity_integer "
                                     "FROM \"%w\".\"%w_relation\"",
                                     schema, name),
                     d, load_relation);
  if (rc == SQLITE_OK && d->driver) {
    rc = load_rows(db,
                   sqlite3_mprintf("SELECT name, remote, type, type_name, nullable, \"key\", "
                                   "has_default FROM \"%w\".\"%w_columns\" ORDER BY position",
                                   schema, name),
                   d, load_column);
  }
  if (rc == SQLITE_NOMEM) return rc;
  if (rc == SQLITE_OK && d->driver) return SQLITE_OK;
  *message = sqlite3_mprintf(
      "edb: the shadow tables of %s cannot be read: drop it and create it again", name);
  return SQLITE_ERROR;
}

int definition_drop(sqlite3 *db, const char *schema, const char *name) {
  int rc = SQLITE_OK;
  for (int i = 0; i < SHADOWS && rc == SQLITE_OK; i++) {
    rc = sql_run(
        db,
        sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\".\"%w_%s\"", schema, name, shadow_suffixes[i]),
        NULL);
  }
  return rc;
}

int definition_rename(sqlite3 *db, const char *schema, const char *name, const char *new_name) {
  int rc = SQLITE_OK;
  for (int i = 0; i < SHADOWS && rc == SQLITE_OK; i++) {
    rc = sql_run(db,
                 sqlite3_mprintf("ALTER TABLE \"%w\".\"%w_%s\" RENAME TO \"%w_%s\"", schema, name,
                                 shadow_suffixes[i], new_name, shadow_suffixes[i]),
                 NULL);
  }
  return rc;
}
