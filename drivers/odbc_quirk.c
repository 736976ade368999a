/*
** drivers/odbc_quirk.c: what ODBC drivers do otherwise than ODBC says, and what server products are like. Data alone;
** each line was seen, and is held by test/odbc_*.test.
*/
#include <string.h>
#include <strings.h>

#include "odbcInt.h"

/* ---- Drivers, by the names of their files --------------------------------------------------------- */

static const od_quirk quirks[] = {
    /* The whole result is held by libpq unless it comes by a cursor, which costs round trips: so it is decided for
    ** each statement, by SQL_ATTR_PGOPT_USE_DECLAREFETCH. */
    {.driver = "psqlodbc", .words = "Fetch=1000;", .stream_attribute = 65539, .moments = 1},
    /* The whole result is held unless it is said that it is read but once. A DATE that the calendar does not have is
    ** NULL in a structure. */
    {.driver = "maodbc", .words = "NO_CACHE=1;FORWARDONLY=1;", .moments = 1},
    /* The whole result is held. */
    {.driver = "sqlite3odbc", .words = "StepAPI=1;", .moments = 1},
    {.driver = "tdsodbc"},
    {.driver = NULL},
};

const od_quirk *od_quirk_of(const char *driver) {
  const od_quirk *q = quirks;
  for (; q->driver; q++) {
    const size_t n = strlen(q->driver);
    for (const char *p = driver; *p; p++) {
      if (strncasecmp(p, q->driver, n) == 0) return q;
    }
  }
  return q;
}

/* ---- Servers --------------------------------------------------------------------------------------- */

/* Types by the servers' own names are those of edb's other drivers. */
static const edb_type *postgresql_type(const char *name) {
  return edb_postgresql_driver.dialect->type(name);
}
static const edb_type *mysql_type(const char *name) { return edb_mysql_driver.dialect->type(name); }
static const edb_type *sqlserver_type(const char *name) {
  return edb_sqlserver_driver.dialect->type(name);
}
static const edb_type *sqlite_type(const char *name) {
  return edb_sqlite_driver.dialect->type(name);
}

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

const edb_dialect od_generic = {.name = "generic",
                                .quote = {'"', '"'},
                                .placeholder = "?",
                                .limit = NULL,
                                .false_clause = "1 = 0",
                                .max_parameters = 200,
                                .control = control,
                                .type = od_type_called};
static const edb_dialect postgresql = {.name = "postgresql",
                                       .quote = {'"', '"'},
                                       .placeholder = "?",
                                       .limit = " LIMIT %s",
                                       .false_clause = "false",
                                       .max_parameters = 32767,
                                       .column_aliases = 1,
                                       SAVEPOINTS,
                                       .control = control,
                                       .type = postgresql_type};
static const edb_dialect mysql = {.name = "mysql",
                                  .quote = {'`', '`'},
                                  .placeholder = "?",
                                  .limit = " LIMIT %s",
                                  .false_clause = "FALSE",
                                  .max_parameters = 32767,
                                  SAVEPOINTS,
                                  .control = control,
                                  .type = mysql_type};
static const edb_dialect sqlserver = {
    .name = "sqlserver",
    .quote = {'[', ']'},
    .placeholder = "?",
    .limit = " ORDER BY (SELECT NULL) OFFSET 0 ROWS FETCH NEXT %s ROWS ONLY",
    .false_clause = "1=0",
    .max_parameters = 2000,
    .column_aliases = 1,
    .savepoint = "SAVE TRANSACTION %s",
    .rollback_to = "ROLLBACK TRANSACTION %s",
    .control = control,
    .type = sqlserver_type};
static const edb_dialect sqlite = {.name = "sqlite",
                                   .quote = {'"', '"'},
                                   .placeholder = "?",
                                   .limit = " LIMIT %s",
                                   .false_clause = "0",
                                   .max_parameters = 999,
                                   SAVEPOINTS,
                                   .control = control,
                                   .type = sqlite_type};
static const edb_dialect oracle = {.name = "oracle",
                                   .quote = {'"', '"'},
                                   .placeholder = "?",
                                   .limit = " FETCH FIRST %s ROWS ONLY", /* from 12c on */
                                   .false_clause = "1 = 0",
                                   .max_parameters = 1000,
                                   .bare_alias = 1,
                                   .savepoint = "SAVEPOINT %s",
                                   .rollback_to = "ROLLBACK TO SAVEPOINT %s",
                                   .control = control,
                                   .type = od_type_called};
static const edb_dialect db2 = {.name = "db2",
                                .quote = {'"', '"'},
                                .placeholder = "?",
                                .limit = " FETCH FIRST %s ROWS ONLY",
                                .false_clause = "1 = 0",
                                .max_parameters = 1000,
                                .column_aliases = 1,
                                .savepoint = "SAVEPOINT %s ON ROLLBACK RETAIN CURSORS",
                                .rollback_to = "ROLLBACK TO SAVEPOINT %s",
                                .release = "RELEASE SAVEPOINT %s",
                                .control = control,
                                .type = od_type_called};
static const edb_dialect snowflake = {.name = "snowflake",
                                      .quote = {'"', '"'},
                                      .placeholder = "?",
                                      .limit = " LIMIT %s",
                                      .false_clause = "FALSE",
                                      .max_parameters = 1000,
                                      .column_aliases = 1,
                                      .control = control,
                                      .type = od_type_called};

const edb_dialect *const od_dialects[] = {&od_generic, &postgresql, &mysql,     &sqlserver, &sqlite,
                                          &oracle,     &db2,        &snowflake, NULL};

static const od_flavour flavours[] = {
    {.dbms = "PostgreSQL",
     .dialect = &postgresql,
     .by_name = 1,
     .current_schema = "SELECT current_schema()",
     .hello = "SET TIME ZONE 'UTC'"},
    {.dbms = "MySQL",
     .dialect = &mysql,
     .by_name = 1,
     .catalog_schemas = 1,
     .current_schema = "SELECT DATABASE()",
     .hello = "SET time_zone = '+00:00'"},
    {.dbms = "MariaDB",
     .dialect = &mysql,
     .by_name = 1,
     .catalog_schemas = 1,
     .current_schema = "SELECT DATABASE()",
     .hello = "SET time_zone = '+00:00'"},
    {.dbms = "Microsoft SQL Server",
     .dialect = &sqlserver,
     .by_name = 1,
     .catalog_of = &edb_sqlserver_driver},
    {.dbms = "SQL Server",
     .dialect = &sqlserver,
     .by_name = 1,
     .catalog_of = &edb_sqlserver_driver},
    {.dbms = "SQLite", .dialect = &sqlite, .by_name = 1, .only_schema = "main"},
    {.dbms = "Oracle",
     .dialect = &oracle,
     .current_schema = "SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM DUAL"},
    {.dbms = "DB2", .dialect = &db2, .current_schema = "VALUES CURRENT SCHEMA"},
    {.dbms = "Snowflake", .dialect = &snowflake, .current_schema = "SELECT CURRENT_SCHEMA()"},
    {.dbms = NULL, .dialect = &od_generic},
};

const od_flavour *od_flavour_of(const char *dbms) {
  const od_flavour *f = flavours;
  while (f->dbms && strncasecmp(dbms, f->dbms, strlen(f->dbms)) != 0) f++;
  return f;
}
