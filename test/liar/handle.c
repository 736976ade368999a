/*
** Handles, diagnostics, the connection string with its lies, and text in and out.
*/
#include "liar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Text ------------------------------------------------------------------------------------ */

static size_t put_utf8(uint32_t c, char *out) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = n - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (c & 0x3F));
    c >>= 6;
  }
  out[0] = (char)(lead[n] | c);
  return n;
}

char *utf16_in(const SQLWCHAR *text, size_t units) {
  size_t used = 0;
  char *out = malloc(units * 4 + 1);
  for (size_t i = 0; i < units; i++) {
    uint32_t c = text[i];
    if ((c & 0xFC00) == 0xD800 && i + 1 < units) {
      c = 0x10000 + ((c & 0x3FF) << 10) + (text[++i] & 0x3FFu);
    }
    used += put_utf8(c, out + used);
  }
  out[used] = 0;
  return out;
}

char *text_in(const Char *text, SQLLEN n) {
  size_t units = 0;
  if (!text) return NULL;
  if (n == SQL_NTS) {
    while (text[units]) units++;
  } else {
    units = (size_t)n;
  }
  return sizeof(Char) == 1 ? strndup((const char *)text, units)
                           : utf16_in((const SQLWCHAR *)(const void *)text, units);
}

/* UTF-8 that is ours, or came through text_in: it is well-formed, or the tests see that it is not. */
SQLWCHAR *to_utf16(const char *text, size_t bytes, size_t *n) {
  SQLWCHAR *out = malloc((bytes + 1) * sizeof *out);
  size_t used = 0;
  for (size_t i = 0; i < bytes;) {
    unsigned char lead = (unsigned char)text[i++];
    uint32_t c = lead;
    int more = lead < 0xC0 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (more > 0) c = lead & (0x3Fu >> more);
    for (; more > 0 && i < bytes; more--) c = c << 6 | ((unsigned char)text[i++] & 0x3Fu);
    if (c < 0x10000) {
      out[used++] = (SQLWCHAR)c;
    } else {
      out[used++] = (SQLWCHAR)(0xD800 + ((c - 0x10000) >> 10));
      out[used++] = (SQLWCHAR)(0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  out[used] = 0;
  *n = used;
  return out;
}

int text_out(const char *text, void *out, SQLLEN room, SQLLEN *length) {
  size_t n = strlen(text);
  const void *from = text;
  SQLWCHAR *wide = NULL;
  if (sizeof(Char) > 1) from = wide = to_utf16(text, n, &n);
  n *= sizeof(Char);
  if (length) *length = (SQLLEN)n;
  size_t copied = 0;
  if (out && room >= (SQLLEN)sizeof(Char)) {
    copied = (size_t)room / sizeof(Char) * sizeof(Char) - sizeof(Char);
    if (copied > n) copied = n;
    memcpy(out, from, copied);
    memset((char *)out + copied, 0, sizeof(Char));
  }
  free(wide);
  return !out || copied == n;
}

/* ---- Diagnostics ------------------------------------------------------------------------------ */

void forget(void *handle) {
  Handle *h = handle;
  for (int i = 0; i < h->recorded; i++) free(h->records[i].message);
  free(h->records);
  h->records = NULL;
  h->recorded = 0;
}

static void record(Handle *h, const char *state, const char *message) {
  h->records = realloc(h->records, (size_t)(h->recorded + 1) * sizeof *h->records);
  Record *r = &h->records[h->recorded++];
  snprintf(r->state, sizeof r->state, "%s", state);
  r->message = strdup(message);
}

SQLRETURN inform(void *handle, const char *state, const char *message) {
  record(handle, state, message);
  return SQL_SUCCESS_WITH_INFO;
}

static void record_huge(Handle *h, const char *state, const Connection *c) {
  enum { SIZE = 100000 };
  char *message = malloc(SIZE + 1);
  size_t used = 0;
  while (used + 200 < SIZE) {
    used += (size_t)snprintf(message + used, SIZE - used, "words that fill, and PWD=%s; ",
                             c->password ? c->password : "");
  }
  record(h, state, message);
  free(message);
}

SQLRETURN fail(void *handle, Connection *c, const char *state, const char *message) {
  char text[2000];
  Handle *h = handle;
  forget(h);
  if (c && lies(c, LIE_NO_RECORD)) return SQL_ERROR;
  if (c && lies(c, LIE_TELLS_PASSWORD)) {
    snprintf(text, sizeof text, "%s, with password \"%s\" of %s", message,
             c->password ? c->password : "", c->string);
    message = text;
  }
  if (c && lies(c, LIE_HUGE_RECORD)) {
    record_huge(h, state, c);
    return SQL_ERROR;
  }
  record(h, state, message ? message : "");
  for (int i = 0; c && lies(c, LIE_MANY_RECORDS) && i < 299; i++) {
    snprintf(text, sizeof text, "and the reason number %d of it", i);
    record(h, "HY000", text);
  }
  return SQL_ERROR;
}

SQLRETURN succeed(void *handle, Connection *c) {
  if (!c || !lies(c, LIE_WARNS)) return SQL_SUCCESS;
  return inform(handle, "01000", "all is well");
}

/* ---- The connection string -------------------------------------------------------------------- */

/* By Lie. */
static const char *const lie_names[LIES] = {
    [LIE_ONE_ROW] = "one-row",
    [LIE_NO_ARRAY] = "no-array",
    [LIE_NO_COUNT] = "no-count",
    [LIE_HIGH_COUNT] = "high-count",
    [LIE_NO_STATUS] = "no-status",
    [LIE_NO_TOTAL] = "no-total",
    [LIE_QUIET] = "quiet",
    [LIE_HIDDEN] = "hidden",
    [LIE_NARROW] = "narrow",
    [LIE_PACKED] = "packed",
    [LIE_NEGATIVE] = "negative",
    [LIE_ROW_ERROR] = "row-error",
    [LIE_FETCH_ERROR] = "fetch-error",
    [LIE_FALSE_ORDER] = "false-order",
    [LIE_GETDATA_BLOCKS] = "getdata-blocks",
    [LIE_STUCK] = "stuck",
    [LIE_NO_DATA] = "no-data",
    [LIE_SPLIT] = "split",
    [LIE_SHORT_PARTS] = "short-parts",
    [LIE_LENGTH_ONCE] = "length-once",
    [LIE_DESCRIBES] = "describes",
    [LIE_DESCRIBES_ILL] = "describes-ill",
    [LIE_INFO] = "info",
    [LIE_MORE_FIRST] = "more-first",
    [LIE_MORE_FOREVER] = "more-forever",
    [LIE_MORE_ERROR] = "more-error",
    [LIE_MANY_RECORDS] = "many-records",
    [LIE_HUGE_RECORD] = "huge-record",
    [LIE_TELLS_PASSWORD] = "tells-password",
    [LIE_NO_RECORD] = "no-record",
    [LIE_WARNS] = "warns",
    [LIE_NO_TRANSACTIONS] = "no-transactions",
    [LIE_COMMIT_FAILS] = "commit-fails",
    [LIE_DEAF] = "deaf",
    [LIE_SAYS_ALIVE] = "says-alive",
    [LIE_CATALOG_FEW] = "catalog-few",
    [LIE_CATALOG_MORE] = "catalog-more",
    [LIE_CATALOG_NULL] = "catalog-null",
    [LIE_CATALOG_ALL] = "catalog-all",
    [LIE_CATALOG_NONE] = "catalog-none",
    [LIE_COUNT] = "count",
    [LIE_NAMELESS] = "nameless",
    [LIE_LONG_NAMES] = "long-names",
    [LIE_NEGATIVE_COLUMNS] = "negative-columns",
    [LIE_REFUSES] = "refuses",
    [LIE_ODD_LENGTH] = "odd-length",
    [LIE_ARRAYS] = "arrays",
    [LIE_ARRAYS_FIRST] = "arrays-first",
    [LIE_ARRAYS_SILENT] = "arrays-silent",
    [LIE_BAD_SET] = "bad-set",
};

/* The value of a keyword, from malloc, braces taken off; NULL where it is not there. */
static char *keyword(const char *string, const char *key) {
  size_t n = strlen(key);
  for (const char *p = string; *p;) {
    const char *equals = strchr(p, '=');
    if (!equals) break;
    const char *value = equals + 1, *end;
    int braced = *value == '{';
    end = braced ? strchr(value, '}') : strchr(value, ';');
    if (!end) end = value + strlen(value);
    if ((size_t)(equals - p) == n && !strncasecmp(p, key, n)) {
      return strndup(value + braced, (size_t)(end - value - braced));
    }
    p = strchr(end, ';');
    if (!p) break;
    p++;
  }
  return NULL;
}

/* Lie=name,name:number: an unknown one is an error, or a test would test nothing. */
static SQLRETURN learn_lies(Connection *c, char *list) {
  char *rest = list, *name;
  while ((name = strsep(&rest, ",")) != NULL) {
    char *number = strchr(name, ':');
    int known = 0;
    if (number) *number++ = 0;
    for (int i = 0; i < LIES; i++) {
      if (strcmp(name, lie_names[i]) != 0) continue;
      c->told[i] = 1 + (number ? (int)strtol(number, NULL, 10) : 0);
      known = 1;
    }
    if (!known && *name) return fail(c, NULL, "HY000", "no such lie");
  }
  return SQL_SUCCESS;
}

static SQLRETURN connect_with(Connection *c, char *string) {
  c->string = string;
  c->password = keyword(string, "PWD");
  c->dbms = keyword(string, "Product");
  c->quote = keyword(string, "Quote");
  char *folds = keyword(string, "Case");
  c->upper = folds != NULL;
  free(folds);
  char *list = keyword(string, "Lie"), *refused = keyword(string, "Refuse");
  SQLRETURN rc = list ? learn_lies(c, list) : SQL_SUCCESS;
  if (rc == SQL_SUCCESS && refused) rc = fail(c, c, refused, "the connection is refused");
  free(list);
  free(refused);
  return rc == SQL_SUCCESS ? succeed(c, c) : rc;
}

EXPORT SQLRETURN SQL_API ENTRY(SQLDriverConnect)(SQLHDBC hdbc, SQLHWND window, Char *in,
                                                 SQLSMALLINT n, Char *out, SQLSMALLINT room,
                                                 SQLSMALLINT *length, SQLUSMALLINT completion) {
  Connection *c = hdbc;
  SQLLEN bytes = 0;
  (void)window, (void)completion;
  forget(c);
  SQLRETURN rc = connect_with(c, text_in(in, n));
  text_out(c->string, out, room * (SQLLEN)sizeof(Char), &bytes);
  if (length) *length = (SQLSMALLINT)(bytes / (SQLLEN)sizeof(Char));
  return rc;
}

EXPORT SQLRETURN SQL_API SQLDisconnect(SQLHDBC hdbc) {
  (void)hdbc;
  return SQL_SUCCESS;
}

/* ---- Allocating and freeing --------------------------------------------------------------------- */

EXPORT SQLRETURN SQL_API SQLAllocHandle(SQLSMALLINT kind, SQLHANDLE parent, SQLHANDLE *out) {
  static const size_t sizes[] = {[SQL_HANDLE_ENV] = sizeof(Environment),
                                 [SQL_HANDLE_DBC] = sizeof(Connection),
                                 [SQL_HANDLE_STMT] = sizeof(Statement)};
  if (kind < SQL_HANDLE_ENV || kind > SQL_HANDLE_STMT) return SQL_ERROR;
  Handle *h = calloc(1, sizes[kind]);
  h->kind = kind;
  if (kind == SQL_HANDLE_DBC) ((Connection *)(void *)h)->autocommit = SQL_AUTOCOMMIT_ON;
  if (kind == SQL_HANDLE_STMT) {
    Statement *s = (Statement *)(void *)h;
    s->connection = parent;
    s->array = 1;
    s->paramset = 1;
    s->row = -1;
    s->got = -1;
  }
  *out = h;
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API SQLFreeHandle(SQLSMALLINT kind, SQLHANDLE handle) {
  forget(handle);
  if (kind == SQL_HANDLE_DBC) {
    Connection *c = handle;
    free(c->string);
    free(c->password);
    free(c->dbms);
    free(c->quote);
  } else if (kind == SQL_HANDLE_STMT) {
    Statement *s = handle;
    answer_clear(&s->answer);
    free(s->sql);
    free(s->bindings);
    free(s->parameters);
  }
  free(handle);
  return SQL_SUCCESS;
}

EXPORT SQLRETURN SQL_API ENTRY(SQLGetDiagRec)(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT i,
                                              Char *state, SQLINTEGER *native, Char *message,
                                              SQLSMALLINT room, SQLSMALLINT *length) {
  const Handle *h = handle;
  SQLLEN bytes;
  (void)kind;
  if (i < 1 || i > h->recorded) return SQL_NO_DATA;
  const Record *r = &h->records[i - 1];
  text_out(r->state, state, state ? 6 * (SQLLEN)sizeof(Char) : 0, NULL);
  if (native) *native = 4711;
  int whole = text_out(r->message, message, room * (SQLLEN)sizeof(Char), &bytes);
  bytes /= (SQLLEN)sizeof(Char);
  if (length) *length = (SQLSMALLINT)(bytes > 32000 ? 32000 : bytes);
  return whole ? SQL_SUCCESS : SQL_SUCCESS_WITH_INFO;
}

/* unixODBC asks for records only where this is there, and for these fields. */
EXPORT SQLRETURN SQL_API ENTRY(SQLGetDiagField)(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT i,
                                                SQLSMALLINT field, SQLPOINTER out, SQLSMALLINT room,
                                                SQLSMALLINT *length) {
  const Handle *h = handle;
  (void)kind;
  switch (field) {
  case SQL_DIAG_NUMBER:
    *(SQLINTEGER *)out = h->recorded;
    return SQL_SUCCESS;
  case SQL_DIAG_ROW_NUMBER:
    *(SQLLEN *)out = SQL_ROW_NUMBER_UNKNOWN;
    return SQL_SUCCESS;
  case SQL_DIAG_COLUMN_NUMBER:
    *(SQLINTEGER *)out = SQL_COLUMN_NUMBER_UNKNOWN;
    return SQL_SUCCESS;
  case SQL_DIAG_CLASS_ORIGIN:
  case SQL_DIAG_SUBCLASS_ORIGIN:
  case SQL_DIAG_CONNECTION_NAME:
  case SQL_DIAG_SERVER_NAME:
    if (i > h->recorded) return SQL_NO_DATA;
    text_out("liar", out, room, NULL);
    if (length) *length = (SQLSMALLINT)(4 * sizeof(Char));
    return SQL_SUCCESS;
  default:
    return SQL_ERROR;
  }
}
