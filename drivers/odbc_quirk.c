/*
** drivers/odbc_quirk.c: what ODBC drivers do otherwise than ODBC says, and what server products are like. Data alone;
** each line was seen, and is held by test/odbc_*.test.
*/
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "odbcInt.h"

/* ---- Drivers, by the names of their files --------------------------------------------------------- */

/* So that an UPDATE tells how many rows it has found, not how many were not like that before. */
#define OPTION_FOUND_ROWS 2u

static const od_quirk quirks[] = {
    /* The whole result is held by libpq unless it comes by a cursor, which costs round trips: so it is decided for
    ** each statement, by SQL_ATTR_PGOPT_USE_DECLAREFETCH. An error rolls back what the driver thinks fit, savepoints of ours
    ** among it, unless its Protocol says that it be left alone (-0). Each row of an array
    ** of parameters is a round trip. */
    {.driver = "psqlodbc",
     .words = "Fetch=1000;",
     .must = "Protocol=7.4-0;",
     .left_failed = 1,
     .stream_attribute = 65539,
     .moments = 1,
     .lean = 1,
     .short_ends = 1,
     .arrays = -1},
    /* The whole result is held unless it is said that it is read but once, which it can since 3.1.17; then SQLGetData reads of the last row of a
    ** block, whatever SQLSetPos has said. A DATE that the calendar does not have is NULL in a structure. Wide text takes
    ** three times as long, and in parts it is an error. */
    {.driver = "maodbc",
     .words = "NO_CACHE=1;FORWARDONLY=1;",
     .must = "CHARSET=utf8mb4;",
     .option_bits = OPTION_FOUND_ROWS,
     .moments = 1,
     .utf8 = 1,
     .trusted = 1,
     .lean = 1,
     .short_ends = 1,
     .arrays = 1,
     .one_reread = 1},
    /* The whole result is held. Wide text lacks what is beyond U+FFFF. After a cancel the next statement is interrupted; one
    ** that was closed before its end keeps its lock, and goes on where it was. A lock is kept until the statement is asked
    ** for more results. */
    {.driver = "sqlite3odbc",
     .words = "StepAPI=1;",
     .moments = 1,
     .utf8 = 1,
     .bound_size = 1,
     .close_ends = 1},
    /* Wide text lacks what is beyond U+FFFF. */
    {.driver = "tdsodbc", .words = "ClientCharset=UTF-8;", .trusted = 1, .utf8 = 1},
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

/* What an option of its own (block, stream, arrays) does not switch. */
#define NAMED(member)                                                                              \
  { #member, offsetof(od_quirk, member) }
static const struct {
  const char *name;
  size_t at;
} named[] = {NAMED(moments), NAMED(one_reread), NAMED(no_block),    NAMED(trusted),
             NAMED(utf8),    NAMED(bound_size), NAMED(left_failed), NAMED(close_ends),
             NAMED(lean),    NAMED(short_ends)};

static unsigned char *flag_of(od_quirk *quirk, const char *name, size_t n) {
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    if (strlen(named[i].name) == n && memcmp(named[i].name, name, n) == 0) {
      return (unsigned char *)quirk + named[i].at;
    }
  }
  return NULL;
}

int od_quirk_change(od_quirk *quirk, const char *names, edb_error *error) {
  while (*names) {
    const unsigned char on = *names != '-';
    names += *names == '-' || *names == '+';
    const size_t n = strcspn(names, ",");
    unsigned char *flag = flag_of(quirk, names, n);
    if (!flag) {
      return edb_fail(error, EDB_INVALID_QUERY,
                      "option quirks: there is no \"%.*s\"; there are moments, one_reread, "
                      "no_block, trusted, utf8, "
                      "bound_size, left_failed, close_ends, lean and short_ends, each with - "
                      "before it to switch it off",
                      (int)(n < 40 ? n : 40), names);
    }
    *flag = on;
    names += n + (names[n] == ',');
  }
  return EDB_OK;
}

/* ---- Servers --------------------------------------------------------------------------------------- */

static const od_flavour flavours[] = {
    {.dbms = "PostgreSQL",
     .dialect = &od_postgresql,
     .quiet_triggers = 1,
     .by_name = 1,
     .catalog_of = &edb_postgresql_driver,
     .snapshot = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
     .readonly = "SET TRANSACTION READ ONLY",
     .insert_rows = 500,
     .dooms = 1,
     .hello = "SET TIME ZONE 'UTC'"},
    {.dbms = "MySQL",
     .dialect = &od_mysql,
     .quiet_triggers = 1,
     .by_name = 1,
     .catalog_of = &edb_mysql_driver,
     .snapshot = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
     .readonly = "SET TRANSACTION READ ONLY",
     .insert_rows = 500,
     .hello = "SET time_zone = '+00:00'"},
    {.dbms = "MariaDB",
     .dialect = &od_mysql,
     .quiet_triggers = 1,
     .by_name = 1,
     .catalog_of = &edb_mysql_driver,
     .snapshot = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
     .readonly = "SET TRANSACTION READ ONLY",
     .insert_rows = 500,
     .hello = "SET time_zone = '+00:00'"},
    {.dbms = "Microsoft SQL Server",
     .dialect = &od_sqlserver,
     .by_name = 1,
     .snapshot = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT",
     .insert_rows = 200,
     .catalog_of = &edb_sqlserver_driver},
    {.dbms = "SQL Server",
     .dialect = &od_sqlserver,
     .by_name = 1,
     .snapshot = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT",
     .insert_rows = 200,
     .catalog_of = &edb_sqlserver_driver},
    {.dbms = "SQLite",
     .dialect = &od_sqlite,
     .quiet_triggers = 1,
     .by_name = 1,
     .insert_rows = 100,
     .snapshot = "",
     .catalog_of = &edb_sqlite_driver},
    {.dbms = "Oracle",
     .dialect = &od_oracle,
     .current_schema = "SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM DUAL"},
    {.dbms = "DB2", .dialect = &od_db2, .current_schema = "VALUES CURRENT SCHEMA"},
    {.dbms = "Snowflake", .dialect = &od_snowflake, .current_schema = "SELECT CURRENT_SCHEMA()"},
    {.dbms = NULL, .dialect = &od_generic},
};

const od_flavour *od_flavour_of(const char *dbms) {
  const od_flavour *f = flavours;
  while (f->dbms && strncasecmp(dbms, f->dbms, strlen(f->dbms)) != 0) f++;
  return f;
}

const od_flavour *od_flavour_quoted(const od_flavour *flavour, const char *quote) {
  static const od_flavour backquote = {.dialect = &od_generic_backquote},
                          bracket = {.dialect = &od_generic_bracket};
  if (flavour->dialect != &od_generic) return flavour;
  return *quote == '`' ? &backquote : *quote == '[' ? &bracket : flavour;
}
