/*
** drivers/odbc_dialect.c: how the servers behind ODBC write SQL, and their types. Data alone; which of them it is
** says odbc_quirk.c.
*/
#include <string.h>

#include "odbcInt.h"

/* ---- Types: those of edb's other drivers, but for what ODBC's drivers do to them -------------------------- */

static const edb_type *type_in(const edb_type *types, size_t n, const edb_type *otherwise) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(types[i].name, otherwise->name) == 0) return &types[i];
  }
  return otherwise;
}

/* Drivers have names for types that the server does not: ODBC's own. */
static const edb_type *or_generic(const edb_type *type, const char *name) {
  return type->name[0] ? type : od_type_called(name)->name[0] ? od_type_called(name) : type;
}

/* psqlODBC makes 9999-12-31 of infinity, and leaves BC out: so these are read as text. */
#define MOMENT(its_name, its_declared, its_compare, before, after)                                 \
  {                                                                                                \
    .name = its_name, .kind = EDB_TIME, .declared = its_declared, .compare = its_compare,          \
    .read = "%s::text AS " OD_READ_AS its_name, .parameter = "%s::" its_name,                      \
    .array = "= ANY (%s::text::" its_name "[])", .early = before, .late = after                    \
  }

static const edb_type *postgresql_type(const char *name) {
  static const edb_type own[] = {
      MOMENT("date", EDB_DECLARED_DATE, EDB_COMPARE_DATE, "%s < '0001-01-01'", "%s > '9999-12-31'"),
      MOMENT("timestamp", EDB_DECLARED_DATETIME, EDB_COMPARE_DATETIME, "%s < '0001-01-01'",
             "%s >= '10000-01-01'"),
      MOMENT("timestamptz", EDB_DECLARED_DATETIME, EDB_COMPARE_INSTANT,
             "%s < '0001-01-01 00:00:00+00'", "%s >= '10000-01-01 00:00:00+00'"),
      {.name = "timetz",
       .kind = EDB_TIME,
       .declared = EDB_DECLARED_TIME,
       .read = "%s::text AS " OD_READ_AS "timetz"},
  };
  return type_in(own, sizeof own / sizeof own[0],
                 or_generic(edb_postgresql_driver.dialect->type(name), name));
}
/* MariaDB's driver has words of its own for some. */
static const edb_type *mysql_type(const char *name) {
  static const char *const others[][2] = {{"integer", "int"}, {"integer unsigned", "int unsigned"}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    if (strcmp(name, others[i][0]) == 0) name = others[i][1];
  }
  return or_generic(edb_mysql_driver.dialect->type(name), name);
}
/* A parameter is text, of which the server makes the type of what it is compared with: of a smalldatetime minutes, and an error
** where that goes no further than 2079; of a time(0) whole seconds. So it is made what has all that a parameter may have. */
#define WHOLE(its_name, its_declared, its_compare, as)                                             \
  .name = its_name, .kind = EDB_TIME, .declared = its_declared, .compare = its_compare,            \
  .parameter = "CAST(%s AS " as ")", .finest = 100

static const edb_type *sqlserver_type(const char *name) {
  static const edb_span clocks = {
      0, {86399999999900, 0, EDB_CLOCK, 0}, 0}; /* to 23:59:59.9999999 */
  static const edb_type own[] = {
      {WHOLE("datetime2", EDB_DECLARED_DATETIME, EDB_COMPARE_DATETIME, "datetime2")},
      {WHOLE("datetimeoffset", EDB_DECLARED_DATETIME, EDB_COMPARE_INSTANT, "datetimeoffset")},
      {WHOLE("smalldatetime", EDB_DECLARED_DATETIME, EDB_COMPARE_DATETIME, "datetime2")},
      {WHOLE("time", EDB_DECLARED_TIME, EDB_COMPARE_CLOCK, "time"), .span = &clocks},
  };
  return type_in(own, sizeof own / sizeof own[0],
                 or_generic(edb_sqlserver_driver.dialect->type(name), name));
}
/* A value has a type of its own there, which the driver turns into its column's, and reals of 15 digits: so values are
** read as SQL writes them. What begins as a literal of a blob the driver takes for one, and confuses two of a length:
** so blobs are written otherwise. */
#define QUOTED(its_name, its_kind, its_declared, its_compare)                                      \
  {                                                                                                \
    .name = its_name, .kind = its_kind, .declared = its_declared, .compare = its_compare,          \
    .read = OD_SQLITE_LITERAL("%s") " AS " OD_READ_AS "quoted",                                    \
    .parameter = its_compare == EDB_COMPARE_SQLITE ? "%s COLLATE BINARY" : NULL,                   \
    .order = "%s COLLATE BINARY"                                                                   \
  }

static const edb_type *sqlite_type(const char *name) {
  static const edb_type own[] = {
      QUOTED("", EDB_NULL, EDB_DECLARED_BLOB, EDB_COMPARE_NONE),
      QUOTED("ANY", EDB_NULL, EDB_DECLARED_BLOB, EDB_COMPARE_NONE),
      QUOTED("BLOB", EDB_BYTES, EDB_DECLARED_BLOB, EDB_COMPARE_NONE),
      QUOTED("BOOL", EDB_BOOL, EDB_DECLARED_INTEGER, EDB_COMPARE_SQLITE),
      QUOTED("BOOLEAN", EDB_BOOL, EDB_DECLARED_INTEGER, EDB_COMPARE_SQLITE),
      QUOTED("DATE", EDB_TIME, EDB_DECLARED_DATE, EDB_COMPARE_SQLITE),
      QUOTED("DATETIME", EDB_TIME, EDB_DECLARED_DATETIME, EDB_COMPARE_SQLITE),
      {.name = "INTEGER PRIMARY KEY", /* of the catalog, for another name of the rowid */
       .kind = EDB_I64,
       .declared = EDB_DECLARED_INTEGER,
       .compare = EDB_COMPARE_INTEGER},
      QUOTED("INTEGER", EDB_I64, EDB_DECLARED_INTEGER, EDB_COMPARE_SQLITE),
      QUOTED("NUMERIC", EDB_NULL, EDB_DECLARED_NUMERIC, EDB_COMPARE_SQLITE),
      QUOTED("REAL", EDB_F64, EDB_DECLARED_REAL, EDB_COMPARE_SQLITE),
      QUOTED("TEXT", EDB_TEXT, EDB_DECLARED_TEXT, EDB_COMPARE_TEXT),
      QUOTED("TIME", EDB_TIME, EDB_DECLARED_TIME, EDB_COMPARE_SQLITE),
      QUOTED("TIMESTAMP", EDB_TIME, EDB_DECLARED_DATETIME, EDB_COMPARE_SQLITE),
  };
  return type_in(own, sizeof own / sizeof own[0], edb_sqlite_driver.dialect->type(name));
}

/* Decimals of those that are known to compare them with what is made of a bound. */
#define DECIMAL(its_name, bound)                                                                   \
  {                                                                                                \
    .name = its_name, .kind = EDB_TEXT, .declared = EDB_DECLARED_NUMERIC,                          \
    .compare = EDB_COMPARE_DECIMAL, .decimal_bound = bound                                         \
  }
#define WITH_DECIMALS(function, bound)                                                             \
  static const edb_type *function(const char *name) {                                              \
    static const edb_type own[] = {DECIMAL("decimal", bound), DECIMAL("numeric", bound)};          \
    return type_in(own, sizeof own / sizeof own[0], od_type_called(name));                         \
  }
/* There, text is made a number by the session's language, unless it is said how it is written. */
WITH_DECIMALS(oracle_type, "TO_NUMBER(%s, '9999999999999999999999999999D9999999999', "
                           "'NLS_NUMERIC_CHARACTERS=''.,''')")
WITH_DECIMALS(db2_type, "CAST(%s AS DECFLOAT(34))")
WITH_DECIMALS(snowflake_type, "CAST(%s AS NUMBER(38,10))")

/* ---- Dialects ------------------------------------------------------------------------------------------ */

/* What begins or ends something that lasts, of any of them: it is refused before it is known which one it is. */
static const char *const control[] = {"xa",
                                      "lock",
                                      "unlock",
                                      "set autocommit",
                                      "set transaction",
                                      "save tran",
                                      "prepare trans",
                                      "set implicit_transactions",
                                      "set xact_abort",
                                      "set session autocommit",
                                      "set local autocommit",
                                      "set @@autocommit",
                                      "set @@session.autocommit",
                                      "set @@local.autocommit",
                                      NULL};

#define SAVEPOINTS                                                                                 \
  .savepoint = "SAVEPOINT %s", .rollback_to = "ROLLBACK TO SAVEPOINT %s",                          \
  .release = "RELEASE SAVEPOINT %s"

/* What the standard guarantees, and no more. */
#define GENERIC(its_name, open, close)                                                             \
  {                                                                                                \
    .name = its_name,                                                                              \
    .no_two_phase = "ODBC has no prepared transactions: use the server's own driver",              \
    .quote = {open, close}, .insert_defaults = " DEFAULT VALUES", .placeholder = "?",              \
    .limit = NULL, .unordered = 1, .false_clause = "1 = 0", .max_parameters = 200,                 \
    .control = control, .type = od_type_called                                                     \
  }

const edb_dialect od_generic = GENERIC("generic", '"', '"');
const edb_dialect od_generic_backquote = GENERIC("generic_backquote", '`', '`');
const edb_dialect od_generic_bracket = GENERIC("generic_bracket", '[', ']');
const edb_dialect od_postgresql = {.name = "postgresql",
                                   .quote = {'"', '"'},
                                   .error_dooms = 1,
                                   .no_nul = 1,
                                   .insert_defaults = " DEFAULT VALUES",
                                   .upsert = 1,
                                   .returning = 1,
                                   .placeholder = "?",
                                   .limit = " LIMIT %s",
                                   .explain = "EXPLAIN %s",
                                   .ascending = " NULLS FIRST",
                                   .descending = " DESC NULLS LAST",
                                   .false_clause = "false",
                                   .max_parameters = 32767,
                                   .column_aliases = 1,
                                   SAVEPOINTS,
                                   .control = control,
                                   .type = postgresql_type};
const edb_dialect od_mysql = {.name = "mysql",
                              .quote = {'`', '`'},
                              .insert_defaults = " () VALUES ()",
                              .replace = "REPLACE INTO",
                              .last_identity = "SELECT LAST_INSERT_ID()",
                              .placeholder = "?",
                              .limit = " LIMIT %s",
                              .explain = "EXPLAIN %s",
                              .false_clause = "FALSE",
                              .max_parameters = 32767,
                              SAVEPOINTS,
                              .control = control,
                              .type = mysql_type};
const edb_dialect od_sqlserver = {
    .name = "sqlserver",
    .quote = {'[', ']'},
    .insert_defaults = " DEFAULT VALUES",
    .output = "inserted.",
    .placeholder = "?",
    .limit = " ORDER BY (SELECT NULL) OFFSET 0 ROWS FETCH NEXT %s ROWS ONLY",
    .limit_ordered = " OFFSET 0 ROWS FETCH NEXT %s ROWS ONLY",
    .false_clause = "1=0",
    .max_parameters = 2000,
    .column_aliases = 1,
    .savepoint = "SAVE TRANSACTION %s",
    .rollback_to = "ROLLBACK TRANSACTION %s",
    .control = control,
    .type = sqlserver_type};
const edb_dialect od_sqlite = {.name = "sqlite",
                               .quote = {'"', '"'},
                               .dynamic = 1,
                               .insert_defaults = " DEFAULT VALUES",
                               .replace = "INSERT OR REPLACE INTO",
                               /* What RETURNING answers the driver drops. */
                               .last_identity = "SELECT last_insert_rowid()",
                               .placeholder = "?",
                               .limit = " LIMIT %s",
                               .explain = "EXPLAIN QUERY PLAN %s",
                               .false_clause = "0",
                               .max_parameters = 999,
                               SAVEPOINTS,
                               .control = control,
                               .type = sqlite_type};
const edb_dialect od_oracle = {.name = "oracle",
                               .quote = {'"', '"'},
                               .insert_defaults = " VALUES (DEFAULT)",
                               .placeholder = "?",
                               .limit = " FETCH FIRST %s ROWS ONLY", /* from 12c on */
                               .ascending = " NULLS FIRST",
                               .descending = " DESC NULLS LAST",
                               .false_clause = "1 = 0",
                               .max_parameters = 1000,
                               .bare_alias = 1,
                               .savepoint = "SAVEPOINT %s",
                               .rollback_to = "ROLLBACK TO SAVEPOINT %s",
                               .control = control,
                               .type = oracle_type};
const edb_dialect od_db2 = {.name = "db2",
                            .quote = {'"', '"'},
                            .insert_defaults = " VALUES (DEFAULT)",
                            .placeholder = "?",
                            .limit = " FETCH FIRST %s ROWS ONLY",
                            .ascending = " NULLS FIRST",
                            .descending = " DESC NULLS LAST",
                            .false_clause = "1 = 0",
                            .max_parameters = 1000,
                            .column_aliases = 1,
                            .savepoint = "SAVEPOINT %s ON ROLLBACK RETAIN CURSORS",
                            .rollback_to = "ROLLBACK TO SAVEPOINT %s",
                            .release = "RELEASE SAVEPOINT %s",
                            .control = control,
                            .type = db2_type};
const edb_dialect od_snowflake = {.name = "snowflake",
                                  .quote = {'"', '"'},
                                  .insert_defaults = " VALUES (DEFAULT)",
                                  .placeholder = "?",
                                  .limit = " LIMIT %s",
                                  .explain = "EXPLAIN USING TEXT %s",
                                  .ascending = " NULLS FIRST",
                                  .descending = " DESC NULLS LAST",
                                  .false_clause = "FALSE",
                                  .max_parameters = 1000,
                                  .column_aliases = 1,
                                  .control = control,
                                  .type = snowflake_type};

const edb_dialect *const od_dialects[] = {&od_generic,
                                          &od_generic_backquote,
                                          &od_generic_bracket,
                                          &od_postgresql,
                                          &od_mysql,
                                          &od_sqlserver,
                                          &od_sqlite,
                                          &od_oracle,
                                          &od_db2,
                                          &od_snowflake,
                                          NULL};
