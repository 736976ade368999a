/*
** test/liar: an ODBC driver that lies on demand, for odbc_hostile.test.
**
** It has no database. Its SQL says what it answers, and `Lie=` in the connection string in what it is wrong:
**
**     Driver={liar};Lie=one-row,row-error:3
**     ANSWER 5 int, char(10)*25@2, long*5000
**
** What there is of either is in the tables of answer.c (types and statements) and of handle.c (lies). Apart from its lies
** it is a strict ODBC 3 driver without extensions: SQLGetData gives the columns behind the bound ones, in order,
** of single rows. It includes nothing of drivers/.
**
** Built twice: with SQLWCHAR entry points, and (LIAR_ANSI) with SQLCHAR ones alone.
*/
#ifndef LIAR_H
#define LIAR_H

#include <sql.h>
#include <sqlext.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Text: the driver's own is UTF-8 -------------------------------------------------------- */

#ifdef LIAR_ANSI
typedef SQLCHAR Char;
#define ENTRY(name) name
#else
typedef SQLWCHAR Char;
#define ENTRY(name) name##W
#endif
#define EXPORT __attribute__((visibility("default")))

/* A copy as UTF-8, from malloc; n in characters, or SQL_NTS. NULL stays NULL. */
char *text_in(const Char *text, SQLLEN n);
char *utf16_in(const SQLWCHAR *text, size_t units);
/* Writes text into room for `room` bytes, its end included; answers whether it was whole, and how many bytes all
** of it has in *length (NULL: not asked). */
int text_out(const char *text, void *out, SQLLEN room, SQLLEN *length);
/* UTF-16 of UTF-8, from malloc; *n in units. */
SQLWCHAR *to_utf16(const char *text, size_t bytes, size_t *n);

/* ---- Lies (handle.c) ------------------------------------------------------------------------ */

typedef enum Lie {
  LIE_ONE_ROW,        /* the row array is accepted, one row a fetch comes */
  LIE_NO_ARRAY,       /* the row array is refused */
  LIE_NO_COUNT,       /* how many rows were fetched is written nowhere */
  LIE_HIGH_COUNT,     /* a thousand times as many rows are said to have been fetched */
  LIE_NO_STATUS,      /* no row status is written */
  LIE_NO_TOTAL,       /* SQL_NO_TOTAL for the length of what does not fit */
  LIE_QUIET,          /* SQL_SUCCESS where a value was cut */
  LIE_HIDDEN,         /* the indicator of a cut value is what was written of it */
  LIE_NARROW,         /* indicators of 32 bits, in the lower half of their places */
  LIE_PACKED,         /* indicators of 32 bits, one behind the other */
  LIE_NEGATIVE,       /* an indicator of -7, at row N */
  LIE_ROW_ERROR,      /* row N alone fails: SQL_ROW_ERROR among good rows */
  LIE_FETCH_ERROR,    /* SQLFetch fails at the block with row N */
  LIE_FALSE_ORDER,    /* claims that SQLGetData can do all, which it cannot */
  LIE_GETDATA_BLOCKS, /* the truth: SQLSetPos and SQLGetData work in blocks and in any order */
  LIE_STUCK,          /* SQLGetData gives no byte, and always has more */
  LIE_NO_DATA,        /* SQLGetData: SQL_NO_DATA at once for a value without bytes */
  LIE_SPLIT,          /* SQLGetData cuts wide text between the halves of a pair */
  LIE_SHORT_PARTS,    /* SQLGetData fills less than the buffer with text */
  LIE_LENGTH_ONCE,    /* SQLGetData says the same, whole length with each part */
  LIE_DESCRIBES,      /* the truth: SQLDescribeParam works */
  LIE_DESCRIBES_ILL,  /* SQLDescribeParam: everything is an INTEGER of size 0 */
  LIE_INFO,           /* SQLGetInfo gives nonsense */
  LIE_MORE_FIRST,     /* two counts of rows come before the rows */
  LIE_MORE_FOREVER,   /* SQLMoreResults never ends */
  LIE_MORE_ERROR,     /* SQLMoreResults fails */
  LIE_MANY_RECORDS,   /* 300 diagnostic records */
  LIE_HUGE_RECORD,    /* one of 100,000 characters, the password among them */
  LIE_TELLS_PASSWORD, /* the password in each message, also as the connection string has it */
  LIE_NO_RECORD,      /* errors without any */
  LIE_WARNS,          /* SQL_SUCCESS_WITH_INFO for everything */
  LIE_NO_TRANSACTIONS,
  LIE_COMMIT_FAILS,
  LIE_DEAF,             /* SQLCancel does nothing */
  LIE_SAYS_ALIVE,       /* a dead connection says that it lives */
  LIE_CATALOG_FEW,      /* catalog results have fewer columns than they should */
  LIE_CATALOG_MORE,     /* ... more */
  LIE_CATALOG_NULL,     /* ... NULLs where none may be */
  LIE_CATALOG_ALL,      /* ... rows of other tables too */
  LIE_CATALOG_NONE,     /* catalog functions fail */
  LIE_COUNT,            /* SQLRowCount is nonsense */
  LIE_NAMELESS,         /* columns have no names */
  LIE_LONG_NAMES,       /* ... names of 3,000 characters */
  LIE_NEGATIVE_COLUMNS, /* SQLNumResultCols: -3 */
  LIE_REFUSES,          /* no attribute of a statement can be set */
  LIE_ODD_LENGTH,       /* an odd number of bytes of UTF-16 */
  LIE_ARRAYS,           /* the truth: arrays of parameters work */
  LIE_ARRAYS_FIRST,     /* of arrays the first set is taken, and all are said to have been */
  LIE_ARRAYS_SILENT,    /* no status is written for a set */
  LIE_BAD_SET,          /* an INSERT whose first parameter is N fails, in an array it alone */
  LIES
} Lie;

/* ---- Handles (handle.c) ---------------------------------------------------------------------- */

typedef struct Record {
  char state[6];
  char *message;
} Record;

typedef struct Handle {
  SQLSMALLINT kind;
  Record *records;
  int recorded;
} Handle;

typedef struct Environment {
  Handle head;
} Environment;

typedef struct Connection {
  Handle head;
  int told[LIES]; /* 0: no; else 1 + the number behind the lie's name */
  char *password;
  char *string; /* the connection string */
  char *dbms;   /* what SQL_DBMS_NAME says */
  char *quote;  /* what SQL_IDENTIFIER_QUOTE_CHAR says */
  int upper;    /* the names of schema and tables are in capitals, as SQL_IDENTIFIER_CASE says */
  SQLULEN autocommit;
  long taken, saved, runs; /* rows of INSERTs; at the last SAVEPOINT; how many times one ran */
  int dead;
} Connection;

typedef struct Column {
  char *name;
  SQLSMALLINT type;        /* as described */
  const struct Type *made; /* how its values are made; NULL: they are `cells` */
  SQLULEN size;
  SQLSMALLINT digits;
  size_t length; /* of texts, in characters; at row `at` alone, where that is not negative */
  long at;
  long null; /* every so manieth row is NULL; 0: none */
} Column;

typedef struct Answer {
  Column *columns;
  int count;    /* of columns; 0: no result set */
  long rows;    /* of the result set; else how many rows were changed */
  char **cells; /* rows of texts, NULL for NULL; NULL: values are made */
} Answer;

typedef struct Binding {
  SQLSMALLINT type; /* C */
  void *target;     /* NULL: not bound */
  SQLLEN room;
  SQLLEN *indicator;
} Binding;

typedef struct Parameter {
  SQLSMALLINT type; /* C */
  const void *value;
  SQLLEN *indicator;
} Parameter;

typedef struct Statement {
  Handle head;
  Connection *connection;
  char *sql;
  Answer answer;
  int executed, results; /* results: those gone by SQLMoreResults */
  long row;              /* the first of the block; -1 before it */
  long in_block, at;     /* rows in it, the one that SQLGetData is for */
  int got;               /* SQLGetData: the column, from 0; -1: none yet */
  size_t offset, whole;  /* how much of its value was given, and how much there is */
  Binding *bindings;
  int bound; /* of bindings there are */
  Parameter *parameters;
  int parameter_count;
  SQLULEN array, row_bind, paramset;
  SQLULEN *fetched, *processed;
  SQLUSMALLINT *status, *set_status;
  SQLULEN *offset_by;
  volatile int cancelled;
} Statement;

static inline int lies(const Connection *c, Lie lie) { return c->told[lie] != 0; }
/* The number behind the lie's name. */
static inline long lie_number(const Connection *c, Lie lie) { return c->told[lie] - 1; }

/* Answers SQL_ERROR with a record; the message may be NULL. */
SQLRETURN fail(void *handle, Connection *c, const char *state, const char *message);
SQLRETURN inform(void *handle, const char *state, const char *message);
void forget(void *handle); /* its records */
/* SQL_SUCCESS, or what LIE_WARNS makes of it. */
SQLRETURN succeed(void *handle, Connection *c);

/* ---- Answers (answer.c, catalog.c) ------------------------------------------------------------ */

/* What the type's text is at a row: UTF-8 or bytes, from malloc; NULL for NULL. */
char *answer_value(const Answer *a, int column, long row, size_t *n);
SQLRETURN answer_sql(Statement *s);
void answer_clear(Answer *a);
int answer_is_binary(const Answer *a, int column);
/* A result set of literal rows: names and cells are copied; each cell NULL for NULL. */
void answer_cells(Answer *a, const char *const *names, int count, const char *const *cells,
                  long rows);

enum { TABLE_COLUMNS = 5, TABLE_ROWS = 10 };
extern const char *const table_columns[TABLE_COLUMNS]; /* of the table `t` */
extern const char *const table_types[TABLE_COLUMNS];   /* as ANSWER has them */

/* ---- Rows of INSERTs, which are counted and not kept (arrays.c) -------------------------------- */

SQLRETURN take_sets(Statement *s);
/* SAVEPOINT and ROLLBACK TO SAVEPOINT edb_load, the count's; the statement TAKEN, which answers both counts. 0: another
** statement. */
int answer_count(Statement *s, const char *sql);

/* ---- Values into buffers (fetch.c) ---------------------------------------------------------- */

SQLRETURN fetch_block(Statement *s);
SQLRETURN get_data(Statement *s, int column, SQLSMALLINT type, void *target, SQLLEN room,
                   SQLLEN *indicator);

#endif
