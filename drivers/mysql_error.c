/*
** drivers/mysql_error.c: what the server and the client library say, as errors of the contract.
*/
#include <string.h>

#include "mysql.h"

/* By number, since one SQLSTATE (HY000, 23000) stands for many things; sorted by meaning. */
static const struct {
  unsigned number;
  edb_code code;
} numbers[] = {
    {1022, EDB_CONSTRAINT},    /* ER_DUP_KEY */
    {1048, EDB_CONSTRAINT},    /* ER_BAD_NULL_ERROR */
    {1062, EDB_CONSTRAINT},    /* ER_DUP_ENTRY */
    {1169, EDB_CONSTRAINT},    /* ER_DUP_UNIQUE */
    {1216, EDB_CONSTRAINT},    /* ER_NO_REFERENCED_ROW */
    {1217, EDB_CONSTRAINT},    /* ER_ROW_IS_REFERENCED */
    {1263, EDB_CONSTRAINT},    /* ER_WARN_NULL_TO_NOTNULL */
    {1364, EDB_CONSTRAINT},    /* ER_NO_DEFAULT_FOR_FIELD */
    {1369, EDB_CONSTRAINT},    /* ER_VIEW_CHECK_FAILED */
    {1451, EDB_CONSTRAINT},    /* ER_ROW_IS_REFERENCED_2 */
    {1452, EDB_CONSTRAINT},    /* ER_NO_REFERENCED_ROW_2 */
    {1557, EDB_CONSTRAINT},    /* ER_FOREIGN_DUPLICATE_KEY_OLD_UNUSED */
    {1586, EDB_CONSTRAINT},    /* ER_DUP_ENTRY_WITH_KEY_NAME */
    {1761, EDB_CONSTRAINT},    /* ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO */
    {1762, EDB_CONSTRAINT},    /* ER_FOREIGN_DUPLICATE_KEY_WITHOUT_CHILD_INFO */
    {3819, EDB_CONSTRAINT},    /* ER_CHECK_CONSTRAINT_VIOLATED (MySQL) */
    {4025, EDB_CONSTRAINT},    /* ER_CONSTRAINT_FAILED (MariaDB) */
    {1020, EDB_BUSY},          /* ER_CHECKREAD: the record has changed */
    {1099, EDB_BUSY},          /* ER_TABLE_NOT_LOCKED_FOR_WRITE */
    {1205, EDB_BUSY},          /* ER_LOCK_WAIT_TIMEOUT */
    {1206, EDB_BUSY},          /* ER_LOCK_TABLE_FULL */
    {1213, EDB_BUSY},          /* ER_LOCK_DEADLOCK */
    {1223, EDB_BUSY},          /* ER_CANT_UPDATE_WITH_READLOCK */
    {1614, EDB_BUSY},          /* ER_XA_RBDEADLOCK */
    {3572, EDB_BUSY},          /* ER_LOCK_NOWAIT (MySQL) */
    {1053, EDB_CLOSED},        /* ER_SERVER_SHUTDOWN */
    {1152, EDB_CLOSED},        /* ER_ABORTING_CONNECTION */
    {1153, EDB_CLOSED},        /* ER_NET_PACKET_TOO_LARGE, after which the server hangs up */
    {1184, EDB_CLOSED},        /* ER_NEW_ABORTING_CONNECTION */
    {1927, EDB_CLOSED},        /* ER_CONNECTION_KILLED (MariaDB) */
    {3169, EDB_CLOSED},        /* ER_SESSION_WAS_KILLED (MySQL) */
    {4031, EDB_CLOSED},        /* ER_CLIENT_INTERACTION_TIMEOUT (MySQL) */
    {2006, EDB_CLOSED},        /* CR_SERVER_GONE_ERROR */
    {2013, EDB_CLOSED},        /* CR_SERVER_LOST */
    {2055, EDB_CLOSED},        /* CR_SERVER_LOST_EXTENDED */
    {2020, EDB_CLOSED},        /* CR_NET_PACKET_TOO_LARGE, after which the library hangs up */
    {2026, EDB_CLOSED},        /* CR_SSL_CONNECTION_ERROR: how the end of an encrypted one shows */
    {2027, EDB_CLOSED},        /* CR_MALFORMED_PACKET: nothing behind it can be read */
    {1028, EDB_INTERRUPTED},   /* ER_FILSORT_ABORT */
    {1317, EDB_INTERRUPTED},   /* ER_QUERY_INTERRUPTED */
    {1969, EDB_INTERRUPTED},   /* ER_STATEMENT_TIMEOUT (MariaDB) */
    {3024, EDB_INTERRUPTED},   /* ER_QUERY_TIMEOUT (MySQL) */
    {1235, EDB_UNSUPPORTED},   /* ER_NOT_SUPPORTED_YET */
    {1289, EDB_UNSUPPORTED},   /* ER_FEATURE_DISABLED */
    {1295, EDB_UNSUPPORTED},   /* ER_UNSUPPORTED_PS */
    {1148, EDB_UNSUPPORTED},   /* ER_NOT_ALLOWED_COMMAND: LOCAL INFILE */
    {3948, EDB_UNSUPPORTED},   /* ER_CLIENT_LOCAL_FILES_DISABLED (MySQL) */
    {4166, EDB_UNSUPPORTED},   /* ER_LOCAL_INFILE … (MariaDB) */
    {2068, EDB_UNSUPPORTED},   /* CR_LOAD_DATA_LOCAL_INFILE_REJECTED */
    {2008, EDB_NOMEM},         /* CR_OUT_OF_MEMORY */
    {1366, EDB_INVALID_QUERY}, /* ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: HY000 before MySQL 8 */
    {1390, EDB_INVALID_QUERY}, /* ER_PS_MANY_PARAM */
};

/* SQLSTATEs by their beginning, for the rest. */
static const struct {
  const char *prefix;
  edb_code code;
} states[] = {
    {"23", EDB_CONSTRAINT},     {"40", EDB_BUSY},          {"08", EDB_CLOSED},
    {"0A", EDB_UNSUPPORTED},    {"42", EDB_INVALID_QUERY}, {"22", EDB_INVALID_QUERY},
    {"21", EDB_INVALID_QUERY},  {"3D", EDB_INVALID_QUERY}, {"44", EDB_CONSTRAINT},
    {"70100", EDB_INTERRUPTED},
};

edb_code my_code_of(unsigned number, const char *sqlstate) {
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (numbers[i].number == number) return numbers[i].code;
  }
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    if (strncmp(sqlstate, states[i].prefix, strlen(states[i].prefix)) == 0) return states[i].code;
  }
  return EDB_FAILED;
}

int my_fail(my_connection *c, unsigned number, const char *sqlstate, const char *message) {
  edb_code code = my_code_of(number, sqlstate);
  if (c->stop != MY_STOP_NONE) {
    /* Whatever the server called the end of what was stopped. */
    if (code == EDB_CLOSED) c->dead = 1;
    return edb_fail(&c->error, EDB_INTERRUPTED,
                    c->stop == MY_STOP_TIMEOUT ? "the server did not answer within %d ms%s"
                                               : "interrupted%.0d%s",
                    c->host->timeout_ms, c->dead ? "; the connection ends" : "");
  }
  if (number == 0) { /* the library gave up without a word: nothing behind this can be read */
    code = EDB_CLOSED;
    message = "the server's answer makes no sense";
  }
  edb_fail(&c->error, code, "%s", message && message[0] ? message : "the statement failed");
  c->error.vendor = (int)number;
  c->error.foreign_key = number == 1216 || number == 1217 || number == 1451 || number == 1452;
  edb_copy_line(c->error.sqlstate, sizeof c->error.sqlstate, sqlstate, strlen(sqlstate));
  if (number == 1020) edb_fail_hint(&c->error, "%s", EDB_CHANGED_SINCE);
  if (code == EDB_CLOSED) c->dead = 1;
  /* The transaction is gone at the server, and what follows would commit by itself. */
  if (c->transaction && (number == 1213 || number == 1614 || my_in_transaction(c) == 0))
    c->doomed = 1;
  return (int)code;
}

int my_error(my_connection *c) {
  return my_fail(c, my.number(c->mysql), my.sqlstate(c->mysql), my.error(c->mysql));
}

int my_stmt_error(my_connection *c, MYSQL_STMT *stmt) {
  /* libmariadb tells what comes between two rows of the connection alone. */
  if (my.stmt_errno(stmt) == 0 && my.number(c->mysql) != 0) return my_error(c);
  return my_fail(c, my.stmt_errno(stmt), my.stmt_sqlstate(stmt), my.stmt_error(stmt));
}
