/*
** Statements and what they answer. A value is a function of its type, row and column, so that a test knows it:
**
**     ANSWER rows type(size,digits)*length@row/null, ...
**            size is what is described; length (in characters) is how long texts are, at one row alone with @row, others have 8;
**            each null-th row is NULL. Character i of row r (both from 0) is letter (i + r) mod 26, byte i is (i + r) mod 256.
**     ECHO ?, ?      one row: the parameters as text, each described as long as it is
**     CHANGE n       n rows were changed
**     SLEEP ms       one row, later
**     DIE            the connection is gone
**     FAIL state     an error
**     SET, VALUES    nothing, and one row
**     SELECT a, b FROM ... t ...   the columns of the table `t` that are named; its conditions are not looked at
*/
#include "liar.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- Types -------------------------------------------------------------------------------------- */

typedef struct Type {
  const char *name;
  SQLSMALLINT type;
  SQLULEN size;
  SQLSMALLINT digits;
  char *(*make)(const Column *column, long row, size_t *n);
} Type;

__attribute__((format(printf, 2, 3))) static char *print(size_t *n, const char *format, ...) {
  char text[64];
  va_list list;
  va_start(list, format);
  *n = (size_t)vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return strdup(text);
}

static size_t length_at(const Column *column, long row) {
  return column->at < 0 || column->at == row ? column->length : 8;
}

static char *make_int(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "%ld", row + 1);
}
static char *make_bigint(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "%ld", 9007199254740993 + row);
}
static char *make_ubigint(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "%llu", 18446744073709551615ull - (unsigned long long)row);
}
static char *make_bit(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "%ld", (row + 1) % 2);
}
static char *make_double(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "%ld.5", row + 1);
}
static char *make_decimal(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "%ld.25", row + 1);
}
static char *make_date(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "2024-01-%02ld", 1 + row % 28);
}
static char *make_time(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "12:34:%02ld", row % 60);
}
static char *make_stamp(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "2024-01-%02ld 12:34:%02ld.5", 1 + row % 28, row % 60);
}
static char *make_guid(const Column *column, long row, size_t *n) {
  (void)column;
  return print(n, "A0EEBC99-9C0B-4EF8-BB6D-%012lX", row + 1);
}
static char *make_letters(const Column *column, long row, size_t *n) {
  *n = length_at(column, row);
  char *out = malloc(*n + 1);
  for (size_t i = 0; i < *n; i++) out[i] = (char)('a' + (i + (size_t)row) % 26);
  out[*n] = 0;
  return out;
}
/* U+1F600 and on: two units of UTF-16, four bytes of UTF-8 each. */
static char *make_pairs(const Column *column, long row, size_t *n) {
  size_t length = length_at(column, row);
  char *out = malloc(length * 4 + 1);
  for (size_t i = 0; i < length; i++) {
    static const char first[] = "\xF0\x9F\x98\x80";
    memcpy(out + 4 * i, first, 4);
    out[4 * i + 3] = (char)(0x80 + (i + (size_t)row) % 26);
  }
  *n = length * 4;
  out[*n] = 0;
  return out;
}
static char *make_bytes(const Column *column, long row, size_t *n) {
  *n = length_at(column, row);
  char *out = malloc(*n + 1);
  for (size_t i = 0; i < *n; i++) out[i] = (char)((i + (size_t)row) % 256);
  out[*n] = 0;
  return out;
}

static const Type types[] = {{"int", SQL_INTEGER, 10, 0, make_int},
                             {"bigint", SQL_BIGINT, 19, 0, make_bigint},
                             {"ubigint", SQL_BIGINT, 20, 0, make_ubigint},
                             {"bit", SQL_BIT, 1, 0, make_bit},
                             {"double", SQL_DOUBLE, 15, 0, make_double},
                             {"decimal", SQL_DECIMAL, 10, 2, make_decimal},
                             {"char", SQL_VARCHAR, 20, 0, make_letters},
                             {"wchar", SQL_WVARCHAR, 20, 0, make_letters},
                             {"pairs", SQL_WVARCHAR, 40, 0, make_pairs},
                             {"long", SQL_WLONGVARCHAR, 0, 0, make_letters},
                             {"longchar", SQL_LONGVARCHAR, 0, 0, make_letters},
                             {"longpairs", SQL_WLONGVARCHAR, 0, 0, make_pairs},
                             {"bytes", SQL_VARBINARY, 20, 0, make_bytes},
                             {"longbytes", SQL_LONGVARBINARY, 0, 0, make_bytes},
                             {"date", SQL_TYPE_DATE, 10, 0, make_date},
                             {"time", SQL_TYPE_TIME, 8, 0, make_time},
                             {"stamp", SQL_TYPE_TIMESTAMP, 26, 6, make_stamp},
                             {"guid", SQL_GUID, 36, 0, make_guid},
                             {"interval", SQL_INTERVAL_DAY_TO_SECOND, 20, 0, make_time},
                             {"odd", -990, 20, 0, make_letters},
                             {NULL, 0, 0, 0, NULL}};

const char *const table_columns[TABLE_COLUMNS] = {"id", "name", "note", "price", "day"};
const char *const table_types[TABLE_COLUMNS] = {"int", "char(20)*8", "long*300", "decimal(10,2)",
                                                "date"};

/* ---- Columns ------------------------------------------------------------------------------------ */

static Column *add_column(Answer *a, const char *name) {
  a->columns = realloc(a->columns, (size_t)(a->count + 1) * sizeof *a->columns);
  Column *column = &a->columns[a->count++];
  *column = (Column){.name = strdup(name), .type = SQL_VARCHAR, .at = -1};
  return column;
}

/* type(size,digits)*length@row/null; answers what is behind it, or NULL where that is no type. */
static const char *add_typed(Answer *a, const char *name, const char *p) {
  size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz");
  const Type *t = types;
  while (t->name && (strlen(t->name) != n || strncmp(t->name, p, n) != 0)) t++;
  if (!t->name) return NULL;
  Column *column = add_column(a, name);
  char *end;
  column->type = t->type;
  column->made = t;
  column->size = t->size;
  column->digits = t->digits;
  p += n;
  if (*p == '(') {
    column->size = strtoul(p + 1, &end, 10);
    if (*end == ',') column->digits = (SQLSMALLINT)strtol(end + 1, &end, 10);
    p = end + 1;
  }
  column->length = column->size < 8 ? column->size : 8;
  if (*p == '*') {
    column->length = strtoul(p + 1, &end, 10);
    p = end;
  }
  if (*p == '@') {
    column->at = strtol(p + 1, &end, 10);
    p = end;
  }
  if (*p == '/') {
    column->null = strtol(p + 1, &end, 10);
    p = end;
  }
  return p;
}

void answer_cells(Answer *a, const char *const *names, int count, const char *const *cells,
                  long rows) {
  size_t n = (size_t)count * (size_t)rows;
  for (int i = 0; i < count; i++) add_column(a, names[i])->size = 200;
  a->rows = rows;
  a->cells = calloc(n + 1, sizeof *a->cells);
  for (size_t i = 0; i < n; i++) {
    if (cells[i]) a->cells[i] = strdup(cells[i]);
  }
}

void answer_clear(Answer *a) {
  for (long i = 0; a->cells && i < a->count * a->rows; i++) free(a->cells[i]);
  for (int i = 0; i < a->count; i++) free(a->columns[i].name);
  free(a->cells);
  free(a->columns);
  *a = (Answer){0};
}

char *answer_value(const Answer *a, int column, long row, size_t *n) {
  const Column *c = &a->columns[column];
  if (a->cells) {
    const char *cell = a->cells[row * a->count + column];
    if (!cell) return NULL;
    *n = strlen(cell);
    return strdup(cell);
  }
  if (c->null > 0 && (row + 1) % c->null == 0) return NULL;
  return c->made->make(c, row, n);
}

int answer_is_binary(const Answer *a, int column) {
  SQLSMALLINT type = a->columns[column].type;
  return type == SQL_VARBINARY || type == SQL_LONGVARBINARY || type == SQL_BINARY;
}

/* ---- Statements ----------------------------------------------------------------------------------- */

static SQLRETURN answer_typed(Statement *s, const char *p) {
  char *end;
  s->answer.rows = strtol(p, &end, 10);
  for (p = end; p && *p;) {
    char name[16];
    p += strspn(p, " ,\n");
    if (!*p || *p == ')') break;
    snprintf(name, sizeof name, "c%d", s->answer.count + 1);
    p = add_typed(&s->answer, name, p);
  }
  return p ? SQL_SUCCESS : fail(s, s->connection, "42000", "no such type");
}

/* The parameter as text, from malloc; NULL for NULL. */
static char *parameter_text(const Parameter *p) {
  SQLLEN n = p->indicator ? *p->indicator : SQL_NTS;
  if (n == SQL_NULL_DATA || !p->value) return NULL;
  size_t length;
  switch (p->type) {
  case SQL_C_WCHAR:
    return utf16_in(p->value, (size_t)n / 2); /* with a length, always */
  case SQL_C_CHAR:
    return n == SQL_NTS ? strdup(p->value) : strndup(p->value, (size_t)n);
  case SQL_C_SBIGINT:
    return print(&length, "%lld", (long long)*(const SQLBIGINT *)p->value);
  case SQL_C_UBIGINT:
    return print(&length, "%llu", (unsigned long long)*(const SQLUBIGINT *)p->value);
  case SQL_C_SLONG:
  case SQL_C_LONG:
    return print(&length, "%d", *(const SQLINTEGER *)p->value);
  case SQL_C_BIT:
    return print(&length, "%d", *(const unsigned char *)p->value);
  case SQL_C_DOUBLE:
    return print(&length, "%.17g", *(const double *)p->value);
  case SQL_C_BINARY: {
    char *out = malloc((size_t)n * 2 + 1);
    for (SQLLEN i = 0; i < n; i++)
      snprintf(out + 2 * i, 3, "%02x", ((const unsigned char *)p->value)[i]);
    out[n * 2] = 0;
    return out;
  }
  default:
    return print(&length, "of type %d", p->type);
  }
}

static SQLRETURN answer_echo(Statement *s) {
  s->answer.rows = 1;
  s->answer.cells = calloc((size_t)s->parameter_count + 1, sizeof *s->answer.cells);
  for (int i = 0; i < s->parameter_count; i++) {
    char name[16];
    snprintf(name, sizeof name, "p%d", i + 1);
    char *text = parameter_text(&s->parameters[i]);
    Column *column = add_column(&s->answer, name);
    column->type = SQL_WVARCHAR;
    column->size = text ? strlen(text) : 1;
    s->answer.cells[i] = text;
  }
  return SQL_SUCCESS;
}

static SQLRETURN answer_sleep(Statement *s, long ms) {
  s->cancelled = 0;
  for (long waited = 0; waited < ms; waited += 10) {
    nanosleep(&(struct timespec){0, 10000000}, NULL);
    if (s->cancelled) return fail(s, s->connection, "HY008", "canceled");
  }
  return answer_typed(s, "1 int");
}

static const char *find_word(const char *from, const char *end, const char *word) {
  size_t n = strlen(word);
  for (const char *p = from; p + n <= end; p++) {
    if (!strncasecmp(p, word, n) && (p == from || !isalnum((unsigned char)p[-1])) &&
        !isalnum((unsigned char)p[n]))
      return p;
  }
  return NULL;
}

/* In the order in which they are named. */
static SQLRETURN answer_table(Statement *s) {
  const char *end = find_word(s->sql, s->sql + strlen(s->sql), "FROM"), *p = s->sql + 6;
  if (!end) return answer_typed(s, "1 int");
  s->answer.rows = TABLE_ROWS;
  if (find_word(p, end, "count")) {
    static const char *const name = "count", *const ten = "10";
    answer_cells(&s->answer, &name, 1, &ten, 1);
    s->answer.columns[0].type = SQL_BIGINT;
    return SQL_SUCCESS;
  }
  for (;;) {
    const char *next = NULL;
    int which = 0;
    for (int i = 0; i < TABLE_COLUMNS; i++) {
      const char *found = find_word(p, end, table_columns[i]);
      if (found && (!next || found < next)) next = found, which = i;
    }
    if (!next) break;
    add_typed(&s->answer, table_columns[which], table_types[which]);
    p = next + strlen(table_columns[which]);
  }
  if (s->answer.count == 0) add_typed(&s->answer, "one", "int");
  return SQL_SUCCESS;
}

SQLRETURN answer_sql(Statement *s) {
  const char *p = s->sql + strspn(s->sql, " \n");
  Connection *c = s->connection;
  size_t word = strcspn(p, " ");
  const char *rest = p + word + strspn(p + word, " ");
  answer_clear(&s->answer);
  s->row = -1;
  s->in_block = 0;
  s->got = -1;
  if (c->dead) return fail(s, c, "08S01", "communication link failure");
  if (!strncasecmp(p, "ANSWER", word)) return answer_typed(s, rest);
  if (!strncasecmp(p, "ECHO", word)) return answer_echo(s);
  if (!strncasecmp(p, "SLEEP", word)) return answer_sleep(s, strtol(rest, NULL, 10));
  if (!strncasecmp(p, "SELECT", word)) return answer_table(s);
  if (!strncasecmp(p, "FAIL", word)) return fail(s, c, rest, "told to fail");
  if (!strncasecmp(p, "DIE", word)) {
    c->dead = 1;
    return fail(s, c, "08S01", "communication link failure");
  }
  if (!strncasecmp(p, "INSERT", word)) return take_sets(s);
  if (!strncasecmp(p, "CHANGE", word)) {
    s->answer.rows = isdigit((unsigned char)*rest) ? strtol(rest, NULL, 10) : 1;
    return SQL_SUCCESS;
  }
  if (answer_count(s, p)) return SQL_SUCCESS;
  /* What servers are told of a session. */
  if (!strncasecmp(p, "SET", word)) return SQL_SUCCESS;
  if (!strncasecmp(p, "VALUES", word)) return answer_typed(s, "1 char(4)");
  return fail(s, c, "42000", "no such statement");
}
