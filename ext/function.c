/*
** ext/function.c: the SQL functions that define servers and run statements.
**
**   SELECT edb_server('shop', 'postgresql://app@db.example/shop');   defines a server; NULL for a URL forgets it
**   SELECT edb_exec('shop', 'VACUUM orders');                        runs a statement: the rows it affected
**   SELECT edb_config('timeout', 30);                                a setting of this connection
*/
#include "extInt.h"

#include <string.h>

void result_failed(sqlite3_context *context, int rc, char *message) {
  if (message) sqlite3_result_error(context, message, -1);
  sqlite3_result_error_code(context, rc); /* keeps the message, if there is one */
  sqlite3_free(message);
}

void function_server(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Edb *edb = sqlite3_user_data(context);
  const char *name = (const char *)sqlite3_value_text(argv[0]);
  const char *url = (const char *)sqlite3_value_text(argv[1]);
  char *message = NULL;
  (void)argc;
  if (name == NULL) {
    sqlite3_result_error(context, "edb: write edb_server(name, URL)", -1);
    return;
  }
  int rc = server_define(edb, name, url, &message);
  if (rc != SQLITE_OK) {
    result_failed(context, rc, message);
    return;
  }
  sqlite3_result_value(context, argv[0]);
}

void function_exec(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Edb *edb = sqlite3_user_data(context);
  const char *name = argc > 1 ? (const char *)sqlite3_value_text(argv[0]) : NULL;
  const char *sql = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
  char *message = NULL;
  Link *link = NULL;
  sqlite3_int64 affected = 0;
  size_t n = argc > 2 ? (size_t)argc - 2 : 0;
  if (name == NULL || sql == NULL) {
    sqlite3_result_error(context, "edb: write edb_exec(server, sql, …)", -1);
    return;
  }
  edb_parameter *parameters = sqlite3_malloc64((n + 1) * sizeof *parameters);
  if (parameters == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    parameters[i].name = NULL;
    parameters[i].value = value_parameter(argv[2 + i]);
  }
  Server *server = server_find(edb, name, &message);
  int rc = server ? SQLITE_OK : (message ? SQLITE_ERROR : SQLITE_NOMEM);
  if (server && is_transaction_control(server, sql)) rc = transaction_refused(server, &message);
  Session *session = NULL;
  Command command = {.sql = sql, .parameters = parameters, .n = n, .users = 1, .writes = 1};
  if (rc == SQLITE_OK) rc = session_enter(server, &session, &message);
  if (rc == SQLITE_OK && session) {
    rc = session_run(session, &command, NULL, &affected, &message);
  } else if (rc == SQLITE_OK) {
    rc = link_acquire(server, &link, &message);
    if (rc == SQLITE_OK) rc = link_run(&link, &command, NULL, &affected, &message);
  }
  if (link) link_release(link);
  sqlite3_free(parameters);
  if (rc != SQLITE_OK) {
    result_failed(context, rc, message);
    return;
  }
  if (affected >= 0) sqlite3_result_int64(context, affected);
}

/* ---- Settings ---------------------------------------------------------------------------------- */

static double timeout_get(const Edb *edb) { return (double)edb->host.timeout_ms / 1000; }

static int timeout_set(Edb *edb, double seconds) {
  if (!(seconds >= 0 && seconds <= 1000000)) return 0;
  edb->host.timeout_ms = seconds > 0 && seconds < 0.001 ? 1 : (int)(seconds * 1000);
  return 1;
}

static double join_memory_get(const Edb *edb) { return (double)edb->join_memory; }

static int join_memory_set(Edb *edb, double bytes) {
  if (!(bytes >= 0 && bytes <= 1e15)) return 0;
  edb->join_memory = (sqlite3_int64)bytes;
  return 1;
}

static double log_get(const Edb *edb) { return edb->log_statements; }

static int log_set(Edb *edb, double value) {
  if (value != 0.0 && value != 1.0) return 0;
  edb->log_statements = value != 0.0;
  return 1;
}

static double batch_get(const Edb *edb) { return edb->batch; }

static int batch_set(Edb *edb, double value) {
  if (value != 0.0 && value != 1.0) return 0;
  edb->batch = value != 0.0;
  return 1;
}

static double progress_get(const Edb *edb) { return edb->progress; }

static int progress_set(Edb *edb, double value) {
  if (value != 0.0 && value != 1.0 && value != 2.0) return 0;
  edb->progress = (int)value;
  return 1;
}

static const struct Setting {
  const char *name;
  const char *values;
  double (*get)(const Edb *);
  int (*set)(Edb *, double); /* 0 where the value is not allowed */
} settings[] = {
    {"batch", "0 or 1", batch_get, batch_set},
    {"join_memory", "a number of bytes, 0 for none", join_memory_get, join_memory_set},
    {"log", "0 or 1", log_get, log_set},
    {"progress", "0, 1 or 2", progress_get, progress_set},
    {"timeout", "a number of seconds, 0 for none", timeout_get, timeout_set},
};

#define SETTINGS (sizeof settings / sizeof settings[0])

static const struct Setting *setting_named(const char *name) {
  for (size_t i = 0; name && i < SETTINGS; i++) {
    if (sqlite3_stricmp(settings[i].name, name) == 0) return &settings[i];
  }
  return NULL;
}

static char *unknown_setting(const char *name) {
  sqlite3_str *out = sqlite3_str_new(NULL);
  sqlite3_str_appendf(out, "edb: unknown setting \"%s\"; valid ones: ", name ? name : "");
  for (size_t i = 0; i < SETTINGS; i++) {
    sqlite3_str_appendf(out, "%s%s", i ? ", " : "", settings[i].name);
  }
  return sqlite3_str_finish(out);
}

void function_config(sqlite3_context *context, int argc, sqlite3_value **argv) {
  Edb *edb = sqlite3_user_data(context);
  const char *name = (const char *)sqlite3_value_text(argv[0]);
  const struct Setting *setting = setting_named(name);
  if (setting == NULL) {
    result_failed(context, SQLITE_ERROR, unknown_setting(name));
    return;
  }
  if (argc > 1) {
    int type = sqlite3_value_numeric_type(argv[1]);
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) ||
        !setting->set(edb, sqlite3_value_double(argv[1]))) {
      result_failed(context, SQLITE_ERROR,
                    sqlite3_mprintf("edb: setting %s takes %s", setting->name, setting->values));
      return;
    }
  }
  double value = setting->get(edb);
  if (value == (double)(sqlite3_int64)value) {
    sqlite3_result_int64(context, (sqlite3_int64)value);
  } else {
    sqlite3_result_double(context, value);
  }
}
