/*
** Functions over the catalog and the session.
*/
#include "function.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void result_text(sqlite3_context *c, const char *text) {
  sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
}

static const char *arg(sqlite3_value *v) {
  const char *p = (const char *)sqlite3_value_text(v);
  return p ? p : "";
}

/* Answers the first column of a query with one parameter. */
static void ask(sqlite3_context *c, const char *sql, sqlite3_value *v) {
  sqlite3_stmt *s;
  if (sqlite3_prepare_v2(sqlite3_context_db_handle(c), sql, -1, &s, NULL) != SQLITE_OK) return;
  if (v != NULL) sqlite3_bind_value(s, 1, v);
  if (sqlite3_step(s) == SQLITE_ROW) sqlite3_result_value(c, sqlite3_column_value(s, 0));
  sqlite3_finalize(s);
}

/* `[s].[t]`, `db..t`, `t` as SQLite names it; false: of a database that is not the session's. */
static bool parse_name(const Session *s, const char *text, char out[300]) {
  char parts[4][130];
  name_split(text, parts);
  catalog_name(parts[2], parts[3], out);
  return parts[1][0] == 0 || strcasecmp(parts[1], s->database) == 0 ||
         strcasecmp(parts[1], "tempdb") == 0;
}

/* tds_parsename(name, part): part 1 is the last. */
static void parsename(sqlite3_context *c, int n, sqlite3_value **v) {
  char parts[4][130];
  const int at = 4 - sqlite3_value_int(v[1]);
  (void)n;
  if (any_null(1, v) || at < 0 || at > 3) return;
  name_split(arg(v[0]), parts);
  if (parts[at][0] != 0) result_text(c, parts[at]);
}

static void object_id(sqlite3_context *c, int n, sqlite3_value **v) {
  char name[300];
  if (any_null(1, v) || !parse_name(function_session(c), arg(v[0]), name)) return;
  const char *bare = name[0] == '#'                          ? name
                     : strncasecmp(name, "tempdb.#", 8) == 0 ? name + 7
                                                             : name;
  Buf sql = {0};
  buf_printf(&sql,
             "SELECT id FROM %s.tdsd_object WHERE (sqlite = ?1 OR (sqlite IS NULL AND name = ?1))",
             bare[0] == '#' ? "temp" : "main");
  if (n > 1 && !any_null(1, v + 1))
    buf_printf(&sql, " AND (type = '%.2s' OR ('%.2s' = 'U' AND type = 'U'))", arg(v[1]), arg(v[1]));
  int64_t id = catalog_int(function_session(c), buf_string(&sql), bare, 0);
  if (id != 0) sqlite3_result_int64(c, id);
  buf_free(&sql);
}

static void object_name(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  ask(c, "SELECT name FROM main.tdsd_object WHERE id = ?", v[0]);
}

static void object_schema_name(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  ask(c,
      "SELECT s.name FROM main.tdsd_object AS o JOIN main.tdsd_schema AS s ON s.id = o.schema_id "
      "WHERE o.id = ?",
      v[0]);
}

static void object_definition(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  ask(c, "SELECT definition FROM main.tdsd_object WHERE id = ?", v[0]);
}

static void schema_id_(sqlite3_context *c, int n, sqlite3_value **v) {
  if (n == 0)
    sqlite3_result_int(c, 1);
  else
    ask(c, "SELECT id FROM main.tdsd_schema WHERE name = ?", v[0]);
}

static void schema_name(sqlite3_context *c, int n, sqlite3_value **v) {
  if (n == 0)
    result_text(c, "dbo");
  else
    ask(c, "SELECT name FROM main.tdsd_schema WHERE id = ?", v[0]);
}

static void type_name_(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  ask(c, "SELECT name FROM main.tdsd_type WHERE user_id = ?", v[0]);
}

static void type_id(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  ask(c, "SELECT user_id FROM main.tdsd_type WHERE name = ?", v[0]);
}

static void col_name(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  Buf sql = {0};
  buf_printf(&sql, "SELECT name FROM main.tdsd_column WHERE object_id = ? AND id = %d",
             sqlite3_value_int(v[1]));
  ask(c, buf_string(&sql), v[0]);
  buf_free(&sql);
}

static void columnproperty(sqlite3_context *c, int n, sqlite3_value **v) {
  static const char *const properties[][2] = {
      {"IsIdentity", "identity"},    {"IsComputed", "computed"},
      {"AllowsNull", "nullable"},    {"IsHidden", "hidden"},
      {"IsSparse", "sparse"},        {"ColumnId", "id"},
      {"IsColumnSet", "column_set"}, {"GeneratedAlwaysType", "generated"}};
  (void)n;
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
    if (strcasecmp(arg(v[2]), properties[i][0]) != 0) continue;
    Buf sql = {0};
    buf_printf(&sql,
               "SELECT %s FROM main.tdsd_column WHERE object_id = ? AND name = ", properties[i][1]);
    quote_text(&sql, arg(v[1]), strlen(arg(v[1])));
    ask(c, buf_string(&sql), v[0]);
    buf_free(&sql);
  }
}

static void objectproperty(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  const char *what = arg(v[1]);
  if (strcasecmp(what, "IsUserTable") == 0 || strcasecmp(what, "IsTable") == 0) {
    ask(c, "SELECT type = 'U' FROM main.tdsd_object WHERE id = ?", v[0]);
  } else if (strcasecmp(what, "IsView") == 0) {
    ask(c, "SELECT type = 'V' FROM main.tdsd_object WHERE id = ?", v[0]);
  } else if (strcasecmp(what, "IsMSShipped") == 0) {
    ask(c, "SELECT system FROM main.tdsd_object WHERE id = ?", v[0]);
  }
}

/* tds_rows(table): how many rows; an estimate that is exact. */
static void rows(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  if (any_null(1, v)) return;
  Buf sql = {0};
  buf_text(&sql, "SELECT count(*) FROM main.");
  quote(&sql, arg(v[0]));
  ask(c, buf_string(&sql), NULL);
  buf_free(&sql);
}

/* tds_type_prop(type, what) */
static void type_prop(sqlite3_context *c, int n, sqlite3_value **v) {
  Type t;
  const char *what = arg(v[1]);
  (void)n;
  if (!function_type(v[0], &t)) return;
  bool text = type_class(&t) == C_TEXT, bytes = type_class(&t) == C_BYTES,
       time = type_class(&t) == C_TIME;
  bool number = type_class(&t) == C_INT || type_class(&t) == C_DECIMAL || type_class(&t) == C_REAL;
  bool sysname = strcasecmp(arg(v[0]), "sysname") == 0;
  int length = type_max_length(&t);
  if (strcmp(what, "name") == 0) {
    result_text(c, type_name(&t));
  } else if (strcmp(what, "system") == 0) {
    sqlite3_result_int(c, type_system_id(&t));
  } else if (strcmp(what, "user") == 0) {
    int udt = t.kind == K_UDT ? (t.length == UDT_HIERARCHYID ? 128
                                 : t.length == UDT_GEOMETRY  ? 129
                                                             : 130)
                              : 0;
    sqlite3_result_int(c, sysname ? 256 : udt ? udt : type_system_id(&t));
  } else if (strcmp(what, "length") == 0) {
    sqlite3_result_int(c, length);
  } else if (strcmp(what, "precision") == 0) {
    sqlite3_result_int(c, text || bytes ? 0 : type_precision(&t));
  } else if (strcmp(what, "scale") == 0) {
    sqlite3_result_int(c, type_scale(&t));
  } else if (strcmp(what, "characters") == 0 && (text || bytes)) {
    sqlite3_result_int(c, wire_is_long(t.kind)      ? (t.kind == K_NTEXT ? 1073741823 : INT32_MAX)
                          : length < 0              ? -1
                          : type_is_unicode(t.kind) ? length / 2
                                                    : length);
  } else if (strcmp(what, "octets") == 0 && (text || bytes)) {
    sqlite3_result_int(c, wire_is_long(t.kind) ? INT32_MAX : length);
  } else if (strcmp(what, "digits") == 0 && number && t.kind != K_BIT) {
    sqlite3_result_int(c, type_precision(&t));
  } else if (strcmp(what, "decimals") == 0 && number && t.kind != K_BIT &&
             type_class(&t) != C_REAL) {
    sqlite3_result_int(c, type_scale(&t));
  } else if (strcmp(what, "fraction") == 0 && time) {
    sqlite3_result_int(c, type_scale(&t));
  }
}

/* The session ------------------------------------------------------------------------------------*/

static void db_name(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  result_text(c, function_session(c)->database);
}

static void db_id(sqlite3_context *c, int n, sqlite3_value **v) {
  Session *s = function_session(c);
  if (n == 1 && !engine_exists(s->c->server, arg(v[0]))) return;
  sqlite3_result_int(c, strcasecmp(n == 1 ? arg(v[0]) : s->database, "master") == 0 ? 1 : 5);
}

static void has_dbaccess(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  sqlite3_result_int(c, engine_exists(function_session(c)->c->server, arg(v[0])));
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* tds_databases(): the names as a JSON array, master first. */
static void databases(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  char *names[1000];
  int count = 0;
  Buf out = {0};
  DIR *dir = opendir(function_session(c)->c->server->dir);
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL && count < 1000;) {
    size_t size = strlen(e->d_name);
    if (size > 3 && strcmp(e->d_name + size - 3, ".db") == 0 && strcmp(e->d_name, "master.db") != 0)
      names[count++] = xstrndup(e->d_name, size - 3);
  }
  if (dir != NULL) closedir(dir);
  qsort(names, (size_t)count, sizeof *names, by_name);
  buf_text(&out, "[\"master\"");
  for (int i = 0; i < count; i++) {
    buf_printf(&out, ",\"%s\"", names[i]);
    free(names[i]);
  }
  buf_text(&out, "]");
  result_text(c, buf_string(&out));
  buf_free(&out);
}

static void databaseproperty(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  const char *what = arg(v[1]);
  if (strcasecmp(what, "Collation") == 0)
    result_text(c, collation_default()->name);
  else if (strcasecmp(what, "Status") == 0)
    result_text(c, "ONLINE");
  else if (strcasecmp(what, "Updateability") == 0)
    result_text(c, "READ_WRITE");
}

/* As sql_variant: a blob of type, NUL, text. */
static void result_variant(sqlite3_context *c, const char *type, const char *text) {
  Buf out = {0};
  buf_add(&out, type, strlen(type) + 1);
  buf_text(&out, text);
  sqlite3_result_blob64(c, out.p, out.n, SQLITE_TRANSIENT);
  buf_free(&out);
}

static void serverproperty(sqlite3_context *c, int n, sqlite3_value **v) {
  static const char *const properties[][3] = {
      {"ProductVersion", "nvarchar(128)", NULL},
      {"ProductLevel", "nvarchar(128)", "RTM"},
      {"ProductMajorVersion", "nvarchar(128)", NULL},
      {"Edition", "nvarchar(128)", "Developer Edition (64-bit)"},
      {"EngineEdition", "int", "3"},
      {"ServerName", "nvarchar(128)", "tdsd"},
      {"MachineName", "nvarchar(128)", "tdsd"},
      {"InstanceName", "nvarchar(128)", NULL},
      {"Collation", "nvarchar(128)", "SQL_Latin1_General_CP1_CI_AS"},
      {"IsIntegratedSecurityOnly", "int", "0"},
      {"IsClustered", "int", "0"},
      {"IsHadrEnabled", "int", "0"},
      {"SqlCharSetName", "nvarchar(128)", "iso_1"},
      {"LCID", "int", "1033"}};
  char version[32];
  (void)n;
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
    if (strcasecmp(arg(v[0]), properties[i][0]) != 0) continue;
    const char *text = properties[i][2];
    snprintf(version, sizeof version, i == 0 ? "%d.0.1000.6" : "%d",
             function_session(c)->c->server->version);
    if (i == 0 || i == 2) text = version;
    if (text != NULL) result_variant(c, properties[i][1], text);
  }
}

static void variant_property(sqlite3_context *c, int n, sqlite3_value **v) {
  Val in = val_value(v[0]);
  Type t;
  const char *what = arg(v[1]);
  char text[64];
  (void)n;
  if (in.tag != V_BLOB || memchr(in.p, 0, in.n) == NULL || !type_parse(in.p, &t)) return;
  if (strcasecmp(what, "BaseType") == 0) {
    result_variant(c, "nvarchar(128)", type_name(&t));
  } else if (strcasecmp(what, "Precision") == 0 || strcasecmp(what, "Scale") == 0 ||
             strcasecmp(what, "MaxLength") == 0) {
    snprintf(text, sizeof text, "%d",
             *what == 'P' || *what == 'p'   ? type_precision(&t)
             : *what == 'S' || *what == 's' ? type_scale(&t)
                                            : type_max_length(&t));
    result_variant(c, "int", text);
  } else if (strcasecmp(what, "Collation") == 0 && type_class(&t) == C_TEXT) {
    result_variant(c, "nvarchar(128)", collation_default()->name);
  }
}

static void user(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  result_text(c, function_session(c)->c->user);
}

static void user_name(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  result_text(c, "dbo");
}

static void host_name(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  result_text(c, function_session(c)->c->host);
}

static void app_name(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  result_text(c, function_session(c)->c->app);
}

static void session(sqlite3_context *c, int n, sqlite3_value **v) {
  const Session *s = function_session(c);
  const char *what = arg(v[0]);
  (void)n;
  if (strcmp(what, "spid") == 0)
    sqlite3_result_int(c, (int)s->c->spid);
  else if (strcmp(what, "encrypt") == 0)
    result_text(c, s->c->layer == LAYER_TLS ? "TRUE" : "FALSE");
  else if (strcmp(what, "user") == 0)
    result_text(c, s->c->user);
  else if (strcmp(what, "app") == 0)
    result_text(c, s->c->app);
  else if (strcmp(what, "host") == 0)
    result_text(c, s->c->host);
  else if (strcmp(what, "library") == 0)
    result_text(c, s->c->library);
  else if (strcmp(what, "isolation") == 0)
    sqlite3_result_int(c, s->isolation);
  else if (strcmp(what, "trancount") == 0)
    sqlite3_result_int(c, s->trancount);
}

static void xact_state(sqlite3_context *c, int n, sqlite3_value **v) {
  const Session *s = function_session(c);
  (void)n, (void)v;
  sqlite3_result_int(c, s->doomed ? -1 : s->trancount > 0);
}

static void rowcount(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  sqlite3_result_int64(c, function_session(c)->rowcount);
}

static void identity(sqlite3_context *c, int n, sqlite3_value **v) {
  const Session *s = function_session(c);
  (void)n, (void)v;
  if (s->has_identity) sqlite3_result_int64(c, s->identity);
}

#define CAUGHT(name, result)                                                                       \
  static void name(sqlite3_context *c, int n, sqlite3_value **v) {                                 \
    const Session *s = function_session(c);                                                        \
    (void)n, (void)v;                                                                              \
    if (s->in_catch) result;                                                                       \
  }
CAUGHT(error_number, sqlite3_result_int(c, s->caught.number))
CAUGHT(error_severity, sqlite3_result_int(c, s->caught.severity))
CAUGHT(error_state, sqlite3_result_int(c, s->caught.state))
CAUGHT(error_line, sqlite3_result_int(c, s->caught.line))
CAUGHT(error_message, result_text(c, s->caught.message))

static void one(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  sqlite3_result_int(c, 1);
}

static void null(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  sqlite3_result_null(c);
}

/* Numbers that are handed out --------------------------------------------------------------------*/

static void next_identity(sqlite3_context *c, int n, sqlite3_value **v) {
  Session *s = function_session(c);
  (void)n;
  const char *name = arg(v[0]);
  Buf sql = {0};
  buf_printf(&sql, "UPDATE %s.tdsd_identity SET last = last + step WHERE name = ? RETURNING last",
             name[0] == '#' ? "temp" : "main");
  s->identity = catalog_int(s, buf_string(&sql), name, 0);
  s->has_identity = true;
  sqlite3_result_int64(c, s->identity);
  buf_free(&sql);
}

static void ident_current(sqlite3_context *c, int n, sqlite3_value **v) {
  char name[300];
  (void)n;
  if (!parse_name(function_session(c), arg(v[0]), name)) return;
  int64_t last =
      catalog_int(function_session(c),
                  "SELECT max(last, seed) FROM main.tdsd_identity WHERE name = ?", name, INT64_MIN);
  if (last != INT64_MIN) sqlite3_result_int64(c, last);
}

static void rowversion(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n, (void)v;
  int64_t value = catalog_int(
      function_session(c),
      "UPDATE main.tdsd_sequence SET value = value + 1 WHERE name = 'rowversion' RETURNING value",
      NULL, 0);
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)value >> (56 - 8 * i));
  sqlite3_result_blob(c, bytes, 8, SQLITE_TRANSIENT);
}

static void newid(sqlite3_context *c, int n, sqlite3_value **v) {
  uint8_t r[16];
  char text[37];
  (void)n, (void)v;
  RAND_bytes(r, sizeof r);
  r[6] = (uint8_t)(0x40 | (r[6] & 15));
  r[8] = (uint8_t)(0x80 | (r[8] & 63));
  snprintf(text, sizeof text,
           "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X", r[0], r[1], r[2],
           r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
  result_text(c, text);
}

const SqlFunction catalog_functions[] = {{"tds_object_id", -1, object_id, false},
                                         {"tds_parsename", 2, parsename, false},
                                         {"tds_object_name", -1, object_name, false},
                                         {"tds_object_schema_name", -1, object_schema_name, false},
                                         {"tds_object_definition", 1, object_definition, false},
                                         {"tds_schema_id", -1, schema_id_, false},
                                         {"tds_schema_name", -1, schema_name, false},
                                         {"tds_type_name", 1, type_name_, false},
                                         {"tds_type_id", 1, type_id, false},
                                         {"tds_col_name", 2, col_name, false},
                                         {"tds_col_length", 2, null, false},
                                         {"tds_columnproperty", 3, columnproperty, false},
                                         {"tds_objectproperty", 2, objectproperty, false},
                                         {"tds_rows", 1, rows, false},
                                         {"tds_type_prop", 2, type_prop, true},
                                         {"tds_db_name", -1, db_name, false},
                                         {"tds_db_id", -1, db_id, false},
                                         {"tds_has_dbaccess", 1, has_dbaccess, false},
                                         {"tds_databases", 0, databases, false},
                                         {"tds_databaseproperty", 2, databaseproperty, false},
                                         {"tds_serverproperty", 1, serverproperty, false},
                                         {"tds_variant_property", 3, variant_property, false},
                                         {"tds_user", -1, user, false},
                                         {"tds_user_name", -1, user_name, false},
                                         {"tds_host_name", 0, host_name, false},
                                         {"tds_app_name", 0, app_name, false},
                                         {"tds_session", 1, session, false},
                                         {"tds_xact_state", 0, xact_state, false},
                                         {"tds_rowcount", 0, rowcount, false},
                                         {"tds_identity", 0, identity, false},
                                         {"tds_error_number", 0, error_number, false},
                                         {"tds_error_severity", 0, error_severity, false},
                                         {"tds_error_state", 0, error_state, false},
                                         {"tds_error_line", 0, error_line, false},
                                         {"tds_error_message", 0, error_message, false},
                                         {"tds_error_procedure", 0, null, false},
                                         {"tds_one", -1, one, false},
                                         {"tds_null", -1, null, false},
                                         {"tds_next_identity", 1, next_identity, false},
                                         {"tds_ident_current", 1, ident_current, false},
                                         {"tds_rowversion", 0, rowversion, false},
                                         {"tds_newid", 0, newid, false},
                                         {0}};
