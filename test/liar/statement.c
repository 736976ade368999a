/*
** The functions of a statement and of a connection, as the driver manager calls them.
*/
#include "liar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Environments and connections ------------------------------------------------------------------ */

EXPORT SQLRETURN SQL_API SQLSetEnvAttr(SQLHENV henv, SQLINTEGER attribute, SQLPOINTER value,
                                       SQLINTEGER n) {
  (void)henv, (void)attribute, (void)value, (void)n;
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API ENTRY(SQLSetConnectAttr)(SQLHDBC hdbc, SQLINTEGER attribute,
                                                  SQLPOINTER value, SQLINTEGER n) {
  Connection *c = hdbc;
  (void)n;
  forget(c);
  if (attribute == SQL_ATTR_AUTOCOMMIT) {
    if (lies(c, LIE_NO_TRANSACTIONS) && (size_t)value == SQL_AUTOCOMMIT_OFF) {
      return fail(c, c, "HYC00", "there are no transactions");
    }
    c->autocommit = (SQLULEN)(size_t)value;
  }
  return succeed(c, c);
}

EXPORT SQLRETURN SQL_API ENTRY(SQLGetConnectAttr)(SQLHDBC hdbc, SQLINTEGER attribute,
                                                  SQLPOINTER value, SQLINTEGER room,
                                                  SQLINTEGER *length) {
  Connection *c = hdbc;
  forget(c);
  if (attribute == SQL_ATTR_CURRENT_CATALOG) {
    SQLLEN bytes;
    text_out("nowhere", value, room, &bytes);
    if (length) *length = (SQLINTEGER)bytes;
    return SQL_SUCCESS;
  }
  *(SQLUINTEGER *)value = attribute == SQL_ATTR_CONNECTION_DEAD
                              ? c->dead && !lies(c, LIE_SAYS_ALIVE)
                          : attribute == SQL_ATTR_AUTOCOMMIT ? (SQLUINTEGER)c->autocommit
                                                             : 0;
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLEndTran(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT how) {
  if (kind != SQL_HANDLE_DBC) return SQL_SUCCESS;
  Connection *c = handle;
  forget(c);
  if (c->dead) return fail(c, c, "08S01", "communication link failure");
  if (how == SQL_COMMIT && lies(c, LIE_COMMIT_FAILS))
    return fail(c, c, "40001", "serialization failure");
  return succeed(c, c);
}

/* ---- Attributes of statements ---------------------------------------------------------------------- */

EXPORT SQLRETURN SQL_API ENTRY(SQLSetStmtAttr)(SQLHSTMT hstmt, SQLINTEGER attribute,
                                               SQLPOINTER value, SQLINTEGER n) {
  Statement *s = hstmt;
  SQLULEN number = (SQLULEN)(size_t)value;
  (void)n;
  forget(s);
  if (lies(s->connection, LIE_REFUSES))
    return fail(s, s->connection, "HYC00", "optional feature not implemented");
  switch (attribute) {
  case SQL_ATTR_ROW_ARRAY_SIZE:
    if (number > 1 && lies(s->connection, LIE_NO_ARRAY))
      return fail(s, s->connection, "HYC00", "no blocks");
    s->array = number;
    break;
  case SQL_ATTR_PARAMSET_SIZE:
    if (number > 1 && !lies(s->connection, LIE_ARRAYS) && !lies(s->connection, LIE_ARRAYS_FIRST) &&
        !lies(s->connection, LIE_ARRAYS_SILENT))
      return fail(s, s->connection, "HYC00", "no arrays of parameters");
    s->paramset = number;
    break;
  case SQL_ATTR_ROW_BIND_TYPE:
    s->row_bind = number;
    break;
  case SQL_ATTR_ROW_BIND_OFFSET_PTR:
    s->offset_by = value;
    break;
  case SQL_ATTR_ROWS_FETCHED_PTR:
    s->fetched = value;
    break;
  case SQL_ATTR_ROW_STATUS_PTR:
    s->status = value;
    break;
  case SQL_ATTR_PARAMS_PROCESSED_PTR:
    s->processed = value;
    break;
  case SQL_ATTR_PARAM_STATUS_PTR:
    s->set_status = value;
    break;
  case SQL_ATTR_ASYNC_ENABLE:
    if (number) return fail(s, s->connection, "HYC00", "nothing is asynchronous");
    break;
  default:
    break;
  }
  return succeed(s, s->connection);
}

/* The driver manager asks for the descriptors, and uses them for nothing. */
EXPORT SQLRETURN SQL_API ENTRY(SQLGetStmtAttr)(SQLHSTMT hstmt, SQLINTEGER attribute,
                                               SQLPOINTER value, SQLINTEGER room,
                                               SQLINTEGER *length) {
  Statement *s = hstmt;
  (void)room, (void)length;
  forget(s);
  switch (attribute) {
  case SQL_ATTR_APP_ROW_DESC:
  case SQL_ATTR_APP_PARAM_DESC:
  case SQL_ATTR_IMP_ROW_DESC:
  case SQL_ATTR_IMP_PARAM_DESC:
    *(SQLPOINTER *)value = s;
    break;
  case SQL_ATTR_ROW_ARRAY_SIZE:
    *(SQLULEN *)value = s->array;
    break;
  case SQL_ATTR_PARAMSET_SIZE:
    *(SQLULEN *)value = s->paramset;
    break;
  default:
    *(SQLULEN *)value = 0;
  }
  return SQL_SUCCESS;
}

/* ---- Binding ---------------------------------------------------------------------------------------- */

EXPORT SQLRETURN SQL_API SQLBindCol(SQLHSTMT hstmt, SQLUSMALLINT column, SQLSMALLINT type,
                                    SQLPOINTER target, SQLLEN room, SQLLEN *indicator) {
  Statement *s = hstmt;
  forget(s);
  if (column < 1) return fail(s, s->connection, "07009", "no bookmarks");
  if (column > s->bound) {
    s->bindings = realloc(s->bindings, column * sizeof *s->bindings);
    memset(s->bindings + s->bound, 0, (size_t)(column - s->bound) * sizeof *s->bindings);
    s->bound = column;
  }
  s->bindings[column - 1] = (Binding){type, target, room, indicator};
  return succeed(s, s->connection);
}

EXPORT SQLRETURN SQL_API SQLBindParameter(SQLHSTMT hstmt, SQLUSMALLINT i, SQLSMALLINT direction,
                                          SQLSMALLINT c_type, SQLSMALLINT type, SQLULEN size,
                                          SQLSMALLINT digits, SQLPOINTER value, SQLLEN room,
                                          SQLLEN *indicator) {
  Statement *s = hstmt;
  (void)direction, (void)type, (void)size, (void)digits, (void)room;
  forget(s);
  if (i > s->parameter_count) {
    s->parameters = realloc(s->parameters, i * sizeof *s->parameters);
    memset(s->parameters + s->parameter_count, 0,
           (size_t)(i - s->parameter_count) * sizeof *s->parameters);
    s->parameter_count = i;
  }
  s->parameters[i - 1] = (Parameter){c_type, value, indicator};
  return succeed(s, s->connection);
}

EXPORT SQLRETURN SQL_API SQLFreeStmt(SQLHSTMT hstmt, SQLUSMALLINT what) {
  Statement *s = hstmt;
  forget(s);
  if (what == SQL_UNBIND) s->bound = 0;
  if (what == SQL_RESET_PARAMS) s->parameter_count = 0;
  if (what == SQL_CLOSE) {
    s->row = -1;
    s->in_block = 0;
    s->executed = 0;
  }
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLCloseCursor(SQLHSTMT hstmt) { return SQLFreeStmt(hstmt, SQL_CLOSE); }

/* ---- Running ---------------------------------------------------------------------------------------- */

static SQLRETURN run(Statement *s) {
  forget(s);
  s->results = 0;
  SQLRETURN rc = answer_sql(s);
  if (rc == SQL_ERROR) return rc;
  s->executed = 1;
  if (rc == SQL_SUCCESS_WITH_INFO) return rc;
  return succeed(s, s->connection);
}

static void keep_sql(Statement *s, const Char *sql, SQLINTEGER n) {
  free(s->sql);
  s->sql = text_in(sql, n);
}

/* What it answers without parameters is known before it runs. */
EXPORT SQLRETURN SQL_API ENTRY(SQLPrepare)(SQLHSTMT hstmt, Char *sql, SQLINTEGER n) {
  Statement *s = hstmt;
  forget(s);
  keep_sql(s, sql, n);
  s->executed = 0;
  if (s->connection->dead) return fail(s, s->connection, "08S01", "communication link failure");
  if (!strncmp(s->sql, "ANSWER", 6) || !strncmp(s->sql, "SELECT", 6)) {
    SQLRETURN rc = answer_sql(s);
    if (rc == SQL_ERROR) return rc;
  } else {
    answer_clear(&s->answer);
  }
  return succeed(s, s->connection);
}

EXPORT SQLRETURN SQL_API SQLExecute(SQLHSTMT hstmt) { return run(hstmt); }

EXPORT SQLRETURN SQL_API ENTRY(SQLExecDirect)(SQLHSTMT hstmt, Char *sql, SQLINTEGER n) {
  keep_sql(hstmt, sql, n);
  return run(hstmt);
}

EXPORT SQLRETURN SQL_API SQLCancel(SQLHSTMT hstmt) {
  Statement *s = hstmt;
  if (!lies(s->connection, LIE_DEAF)) s->cancelled = 1;
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLNumParams(SQLHSTMT hstmt, SQLSMALLINT *n) {
  Statement *s = hstmt;
  *n = 0;
  for (const char *p = s->sql; p && *p; p++) *n = (SQLSMALLINT)(*n + (*p == '?'));
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLDescribeParam(SQLHSTMT hstmt, SQLUSMALLINT i, SQLSMALLINT *type,
                                          SQLULEN *size, SQLSMALLINT *digits,
                                          SQLSMALLINT *nullable) {
  Statement *s = hstmt;
  Connection *c = s->connection;
  (void)i;
  forget(s);
  if (!lies(c, LIE_DESCRIBES) && !lies(c, LIE_DESCRIBES_ILL))
    return fail(s, c, "HYC00", "parameters cannot be described");
  *type = lies(c, LIE_DESCRIBES) ? SQL_WVARCHAR : SQL_INTEGER;
  *size = lies(c, LIE_DESCRIBES) ? 4000 : 0;
  *digits = 0;
  *nullable = SQL_NULLABLE_UNKNOWN;
  return SQL_SUCCESS;
}

/* ---- Results ---------------------------------------------------------------------------------------- */

/* With LIE_MORE_FIRST, two results without columns are before the one that was asked for. */
static int is_hidden(const Statement *s) {
  return s->executed && lies(s->connection, LIE_MORE_FIRST) && s->results < 2;
}

EXPORT SQLRETURN SQL_API SQLNumResultCols(SQLHSTMT hstmt, SQLSMALLINT *n) {
  Statement *s = hstmt;
  forget(s);
  *n = (SQLSMALLINT)(is_hidden(s)                                ? 0
                     : lies(s->connection, LIE_NEGATIVE_COLUMNS) ? -3
                                                                 : s->answer.count);
  return SQL_SUCCESS;
}

static char *column_name(const Statement *s, int i) {
  if (lies(s->connection, LIE_NAMELESS)) return strdup("");
  if (!lies(s->connection, LIE_LONG_NAMES)) return strdup(s->answer.columns[i].name);
  char *name = malloc(3001);
  memset(name, 'x', 3000);
  name[3000] = 0;
  snprintf(name + 2980, 21, "%d", i + 1);
  return name;
}

EXPORT SQLRETURN SQL_API ENTRY(SQLDescribeCol)(SQLHSTMT hstmt, SQLUSMALLINT i, Char *name,
                                               SQLSMALLINT room, SQLSMALLINT *length,
                                               SQLSMALLINT *type, SQLULEN *size,
                                               SQLSMALLINT *digits, SQLSMALLINT *nullable) {
  Statement *s = hstmt;
  SQLLEN bytes;
  forget(s);
  if (i < 1 || i > s->answer.count)
    return fail(s, s->connection, "07009", "invalid descriptor index");
  const Column *column = &s->answer.columns[i - 1];
  char *text = column_name(s, i - 1);
  int whole = text_out(text, name, room * (SQLLEN)sizeof(Char), &bytes);
  free(text);
  if (length) *length = (SQLSMALLINT)(bytes / (SQLLEN)sizeof(Char));
  if (type) *type = column->type;
  if (size) *size = column->size;
  if (digits) *digits = column->digits;
  if (nullable) *nullable = SQL_NULLABLE_UNKNOWN;
  return whole ? SQL_SUCCESS : inform(s, "01004", "the name was cut");
}

EXPORT SQLRETURN SQL_API ENTRY(SQLColAttribute)(SQLHSTMT hstmt, SQLUSMALLINT i, SQLUSMALLINT field,
                                                SQLPOINTER text, SQLSMALLINT room,
                                                SQLSMALLINT *length, SQLLEN *number) {
  Statement *s = hstmt;
  forget(s);
  if (i < 1 || i > s->answer.count)
    return fail(s, s->connection, "07009", "invalid descriptor index");
  const Column *column = &s->answer.columns[i - 1];
  SQLLEN bytes = 0, value = 0;
  char *name = NULL;
  switch (field) {
  case SQL_DESC_NAME:
  case SQL_DESC_LABEL:
    name = column_name(s, i - 1);
    break;
  case SQL_DESC_TYPE_NAME:
    name = strdup(column->type == -990 ? "odd" : "");
    break;
  case SQL_DESC_CONCISE_TYPE:
  case SQL_DESC_TYPE:
    value = column->type;
    break;
  case SQL_DESC_LENGTH:
  case SQL_DESC_PRECISION:
  case SQL_DESC_DISPLAY_SIZE:
    value = (SQLLEN)column->size;
    break;
  case SQL_DESC_OCTET_LENGTH:
    value = (SQLLEN)column->size * 2;
    break;
  case SQL_DESC_SCALE:
    value = column->digits;
    break;
  case SQL_DESC_UNSIGNED:
    value = column->size == 20 && column->type == SQL_BIGINT ? SQL_TRUE : SQL_FALSE;
    break;
  case SQL_DESC_NULLABLE:
    value = SQL_NULLABLE_UNKNOWN;
    break;
  default:
    break;
  }
  if (number) *number = value;
  if (name) {
    text_out(name, text, room, &bytes);
    if (length) *length = (SQLSMALLINT)bytes;
    free(name);
  }
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLRowCount(SQLHSTMT hstmt, SQLLEN *n) {
  Statement *s = hstmt;
  *n = lies(s->connection, LIE_COUNT) ? -123456
       : is_hidden(s)                 ? 1
       : s->answer.count > 0          ? -1
                                      : s->answer.rows;
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLMoreResults(SQLHSTMT hstmt) {
  Statement *s = hstmt;
  Connection *c = s->connection;
  forget(s);
  if (lies(c, LIE_MORE_ERROR)) return fail(s, c, "HY000", "there is more, but not for you");
  if (is_hidden(s)) {
    s->results++;
    return SQL_SUCCESS;
  }
  return lies(c, LIE_MORE_FOREVER) ? SQL_SUCCESS : SQL_NO_DATA;
}

EXPORT SQLRETURN SQL_API SQLFetch(SQLHSTMT hstmt) { return fetch_block(hstmt); }

EXPORT SQLRETURN SQL_API SQLFetchScroll(SQLHSTMT hstmt, SQLSMALLINT where, SQLLEN offset) {
  (void)offset;
  if (where != SQL_FETCH_NEXT) return fail(hstmt, NULL, "HY106", "rows come one after the other");
  return fetch_block(hstmt);
}

EXPORT SQLRETURN SQL_API SQLSetPos(SQLHSTMT hstmt, SQLSETPOSIROW row, SQLUSMALLINT operation,
                                   SQLUSMALLINT lock) {
  Statement *s = hstmt;
  (void)lock;
  forget(s);
  if (!lies(s->connection, LIE_GETDATA_BLOCKS) || operation != SQL_POSITION || row < 1 ||
      (long)row > s->in_block) {
    return fail(s, s->connection, "HYC00", "there is no such place");
  }
  s->at = (long)row - 1;
  s->got = -1;
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLGetData(SQLHSTMT hstmt, SQLUSMALLINT column, SQLSMALLINT type,
                                    SQLPOINTER target, SQLLEN room, SQLLEN *indicator) {
  return get_data(hstmt, column - 1, type, target, room, indicator);
}
