/*
** drivers/odbcInt.h: what the files of the ODBC driver share. Nothing else includes it.
*/
#ifndef EDB_ODBC_INT_H
#define EDB_ODBC_INT_H

#include <stdatomic.h>

#include "driverInt.h"

/* ---- ODBC's own names (odbc_library.c) -------------------------------------------------------- */

/* Its header is not needed to build edb: these are its ABI, in ODBC's own spelling. */
typedef void *SQLHANDLE;
typedef int16_t SQLSMALLINT;
typedef uint16_t SQLUSMALLINT;
typedef int32_t SQLINTEGER;
typedef ptrdiff_t SQLLEN; /* as wide as a pointer in every ODBC of 64 bits */
typedef size_t SQLULEN;
typedef int16_t SQLRETURN;
typedef void SQLWCHAR; /* 2 bytes, 4 with iODBC: od_wide says */

enum {
  SQL_SUCCESS = 0,
  SQL_SUCCESS_WITH_INFO = 1,
  SQL_NEED_DATA = 99,
  SQL_NO_DATA = 100,
  SQL_ERROR = -1,
  SQL_INVALID_HANDLE = -2,
  SQL_NULL_DATA = -1,
  SQL_NTS = -3,
  SQL_NO_TOTAL = -4
};
enum { SQL_HANDLE_ENV = 1, SQL_HANDLE_DBC, SQL_HANDLE_STMT };

/* Types: of columns and parameters, and those in which values are read and bound. */
enum {
  SQL_UNKNOWN_TYPE = 0,
  SQL_CHAR = 1,
  SQL_NUMERIC,
  SQL_DECIMAL,
  SQL_INTEGER,
  SQL_SMALLINT,
  SQL_FLOAT,
  SQL_REAL,
  SQL_DOUBLE,
  SQL_DATETIME, /* ODBC 2: SQL_DATE */
  SQL_TIME,     /* ODBC 2 */
  SQL_TIMESTAMP,
  SQL_VARCHAR = 12,
  SQL_TYPE_DATE = 91,
  SQL_TYPE_TIME,
  SQL_TYPE_TIMESTAMP,
  SQL_INTERVAL_YEAR = 101,
  SQL_INTERVAL_MINUTE_TO_SECOND = 113,
  SQL_LONGVARCHAR = -1,
  SQL_BINARY = -2,
  SQL_VARBINARY = -3,
  SQL_LONGVARBINARY = -4,
  SQL_BIGINT = -5,
  SQL_TINYINT = -6,
  SQL_BIT = -7,
  SQL_WCHAR = -8,
  SQL_WVARCHAR = -9,
  SQL_WLONGVARCHAR = -10,
  SQL_GUID = -11,
  SQL_SS_XML = -152,
  SQL_SS_TIME2 = -154,
  SQL_SS_TIMESTAMPOFFSET = -155,
  SQL_C_CHAR = SQL_CHAR,
  SQL_C_WCHAR = SQL_WCHAR,
  SQL_C_BINARY = SQL_BINARY,
  SQL_C_BIT = SQL_BIT,
  SQL_C_FLOAT = SQL_REAL,
  SQL_C_DOUBLE = SQL_DOUBLE,
  SQL_C_TYPE_DATE = SQL_TYPE_DATE,
  SQL_C_TYPE_TIME = SQL_TYPE_TIME,
  SQL_C_TYPE_TIMESTAMP = SQL_TYPE_TIMESTAMP,
  SQL_C_SBIGINT = -25,
  SQL_C_UBIGINT = -27
};

typedef struct SQL_TIMESTAMP_STRUCT {
  SQLSMALLINT year;
  SQLUSMALLINT month, day, hour, minute, second;
  uint32_t fraction; /* nanoseconds */
} SQL_TIMESTAMP_STRUCT;

typedef struct SQL_DATE_STRUCT {
  SQLSMALLINT year;
  SQLUSMALLINT month, day;
} SQL_DATE_STRUCT;

/* Attributes, of what their names say, and some of their values. */
enum {
  SQL_ATTR_ODBC_VERSION = 200,
  SQL_OV_ODBC3 = 3,
  SQL_ATTR_AUTOCOMMIT = 102,
  SQL_ATTR_LOGIN_TIMEOUT = 103,
  SQL_ATTR_TXN_ISOLATION = 108,
  SQL_ATTR_CONNECTION_TIMEOUT = 113,
  SQL_ATTR_CONNECTION_DEAD = 1209,
  SQL_ATTR_QUERY_TIMEOUT = 0,
  SQL_ATTR_NOSCAN = 2,
  SQL_ATTR_ROW_BIND_TYPE = 5,
  SQL_ATTR_CURSOR_TYPE = 6,
  SQL_ATTR_PARAM_STATUS_PTR = 20,
  SQL_ATTR_PARAMS_PROCESSED_PTR = 21,
  SQL_ATTR_PARAMSET_SIZE = 22,
  SQL_ATTR_ROW_STATUS_PTR = 25,
  SQL_ATTR_ROWS_FETCHED_PTR = 26,
  SQL_ATTR_ROW_ARRAY_SIZE = 27,
  SQL_ATTR_METADATA_ID = 10014,
  SQL_IS_UINTEGER = -5,
  SQL_IS_POINTER = -4
};

/* What SQLGetInfo is asked. */
enum {
  SQL_DRIVER_NAME = 6,
  SQL_DRIVER_VER = 7,
  SQL_SEARCH_PATTERN_ESCAPE = 14,
  SQL_DBMS_NAME = 17,
  SQL_DBMS_VER = 18,
  SQL_IDENTIFIER_CASE = 28,
  SQL_IC_UPPER = 1,
  SQL_IC_LOWER = 2,
  SQL_IDENTIFIER_QUOTE_CHAR = 29,
  SQL_TXN_CAPABLE = 46,
  SQL_TXN_ISOLATION_OPTION = 72,
  SQL_GETDATA_EXTENSIONS = 81,
  SQL_SCHEMA_USAGE = 91,
  SQL_CATALOG_USAGE = 92,
  SQL_PARAM_ARRAY_ROW_COUNTS = 153,
  SQL_GD_ANY_COLUMN = 1,
  SQL_GD_ANY_ORDER = 2,
  SQL_GD_BLOCK = 4,
  SQL_GD_BOUND = 8
};

enum {
  SQL_DESC_CONCISE_TYPE = 2,
  SQL_DESC_UNSIGNED = 8,
  SQL_DESC_TYPE_NAME = 14,
  SQL_DESC_OCTET_LENGTH = 1013,
  SQL_COLUMN_TYPE_NAME = 14
};

enum { SQL_CLOSE = 0, SQL_UNBIND = 2, SQL_RESET_PARAMS = 3 };
enum { SQL_COMMIT = 0, SQL_ROLLBACK = 1 };
enum { SQL_ROW_SUCCESS = 0, SQL_ROW_NOROW = 3, SQL_ROW_ERROR = 5, SQL_ROW_SUCCESS_WITH_INFO = 6 };
enum { SQL_PARAM_SUCCESS = 0, SQL_PARAM_ERROR = 5, SQL_PARAM_SUCCESS_WITH_INFO = 6 };
enum { SQL_DIAG_ROW_NUMBER = -1248, SQL_POSITION = 0, SQL_LOCK_NO_CHANGE = 0 };
enum { SQL_DRIVER_NOPROMPT = 0, SQL_PARAM_INPUT = 1, SQL_NO_NULLS = 0 };
enum { SQL_FETCH_NEXT = 1, SQL_FETCH_FIRST = 2, SQL_API_SQLDESCRIBEPARAM = 58 };
enum { SQL_INDEX_UNIQUE = 0, SQL_QUICK = 0, SQL_TABLE_STAT = 0 };

/* Its functions, each named as in the library without SQL and without W. */
typedef struct od_library {
  SQLRETURN (*AllocHandle)(SQLSMALLINT, SQLHANDLE, SQLHANDLE *);
  SQLRETURN (*FreeHandle)(SQLSMALLINT, SQLHANDLE);
  SQLRETURN (*SetEnvAttr)(SQLHANDLE, SQLINTEGER, void *, SQLINTEGER);
  SQLRETURN(*DriverConnect)
  (SQLHANDLE, void *, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLSMALLINT *,
   SQLUSMALLINT);
  SQLRETURN (*Disconnect)(SQLHANDLE);
  SQLRETURN (*GetInfo)(SQLHANDLE, SQLUSMALLINT, void *, SQLSMALLINT, SQLSMALLINT *);
  SQLRETURN (*GetFunctions)(SQLHANDLE, SQLUSMALLINT, SQLUSMALLINT *);
  SQLRETURN (*SetConnectAttr)(SQLHANDLE, SQLINTEGER, void *, SQLINTEGER);
  SQLRETURN (*GetConnectAttr)(SQLHANDLE, SQLINTEGER, void *, SQLINTEGER, SQLINTEGER *);
  SQLRETURN (*EndTran)(SQLSMALLINT, SQLHANDLE, SQLSMALLINT);
  SQLRETURN (*Prepare)(SQLHANDLE, SQLWCHAR *, SQLINTEGER);
  SQLRETURN (*ExecDirect)(SQLHANDLE, SQLWCHAR *, SQLINTEGER);
  SQLRETURN (*Execute)(SQLHANDLE);
  SQLRETURN (*NumParams)(SQLHANDLE, SQLSMALLINT *);
  SQLRETURN(*DescribeParam)
  (SQLHANDLE, SQLUSMALLINT, SQLSMALLINT *, SQLULEN *, SQLSMALLINT *, SQLSMALLINT *);
  SQLRETURN(*BindParameter)
  (SQLHANDLE, SQLUSMALLINT, SQLSMALLINT, SQLSMALLINT, SQLSMALLINT, SQLULEN, SQLSMALLINT, void *,
   SQLLEN, SQLLEN *);
  SQLRETURN (*NumResultCols)(SQLHANDLE, SQLSMALLINT *);
  SQLRETURN(*DescribeCol)
  (SQLHANDLE, SQLUSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLSMALLINT *, SQLSMALLINT *, SQLULEN *,
   SQLSMALLINT *, SQLSMALLINT *);
  SQLRETURN(*ColAttribute)
  (SQLHANDLE, SQLUSMALLINT, SQLUSMALLINT, void *, SQLSMALLINT, SQLSMALLINT *, SQLLEN *);
  SQLRETURN (*BindCol)(SQLHANDLE, SQLUSMALLINT, SQLSMALLINT, void *, SQLLEN, SQLLEN *);
  SQLRETURN (*Fetch)(SQLHANDLE);
  SQLRETURN (*GetData)(SQLHANDLE, SQLUSMALLINT, SQLSMALLINT, void *, SQLLEN, SQLLEN *);
  SQLRETURN (*SetPos)(SQLHANDLE, SQLULEN, SQLUSMALLINT, SQLUSMALLINT);
  SQLRETURN (*MoreResults)(SQLHANDLE);
  SQLRETURN (*RowCount)(SQLHANDLE, SQLLEN *);
  SQLRETURN (*FreeStmt)(SQLHANDLE, SQLUSMALLINT);
  SQLRETURN (*Cancel)(SQLHANDLE);
  SQLRETURN (*SetStmtAttr)(SQLHANDLE, SQLINTEGER, void *, SQLINTEGER);
  SQLRETURN (*GetStmtAttr)(SQLHANDLE, SQLINTEGER, void *, SQLINTEGER, SQLINTEGER *);
  SQLRETURN(*GetDiagRec)
  (SQLSMALLINT, SQLHANDLE, SQLSMALLINT, SQLWCHAR *, SQLINTEGER *, SQLWCHAR *, SQLSMALLINT,
   SQLSMALLINT *);
  SQLRETURN(*GetDiagField)
  (SQLSMALLINT, SQLHANDLE, SQLSMALLINT, SQLSMALLINT, void *, SQLSMALLINT, SQLSMALLINT *);
  SQLRETURN(*Tables)
  (SQLHANDLE, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *,
   SQLSMALLINT);
  SQLRETURN(*Columns)
  (SQLHANDLE, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *,
   SQLSMALLINT);
  SQLRETURN(*PrimaryKeys)
  (SQLHANDLE, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT);
  SQLRETURN(*Statistics)
  (SQLHANDLE, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLWCHAR *, SQLSMALLINT,
   SQLUSMALLINT, SQLUSMALLINT);
  SQLRETURN(*DataSources)
  (SQLHANDLE, SQLUSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLSMALLINT *, SQLWCHAR *, SQLSMALLINT,
   SQLSMALLINT *);
  SQLRETURN(*Drivers)
  (SQLHANDLE, SQLUSMALLINT, SQLWCHAR *, SQLSMALLINT, SQLSMALLINT *, SQLWCHAR *, SQLSMALLINT,
   SQLSMALLINT *);
} od_library;

extern od_library od; /* filled by od_library_load */
extern int od_wide;   /* bytes of a SQLWCHAR */

int od_library_load(edb_error *error);
const char *od_library_name(void); /* "unixODBC", "" before it was loaded */

static inline int od_ok(SQLRETURN rc) { return rc == SQL_SUCCESS || rc == SQL_SUCCESS_WITH_INFO; }

/* ---- Wide text (odbc_text.c) ------------------------------------------------------------------- */

/* Appends n units of wide text as UTF-8; what is no character becomes U+FFFD. */
void od_text_add(edb_buffer *out, const void *wide, size_t units);

/* Makes out, emptied before, the wide text of UTF-8, with a NUL behind it that is not counted. Answers the
** units, or -1: out of memory, or more than INT32_MAX. */
SQLINTEGER od_wide_make(edb_buffer *out, const char *text, size_t n);

/* The units up to a NUL, at most n. */
size_t od_wide_length(const void *wide, size_t n);

/* ---- Drivers and servers as data (odbc_quirk.c, odbc_dialect.c) --------------------------------- */

/* What a driver does otherwise than ODBC says, by the name of its file. Each has an option of its own. */
typedef struct od_quirk {
  const char *driver; /* SQL_DRIVER_NAME has this in it, in lower case; NULL: all others */
  const char
      *words; /* for the connection string, where they are not there: what keeps memory bounded */
  const char *must; /* words that replace what the string says: without them answers are wrong */
  unsigned option_bits; /* likewise, of the number OPTIONS, whose others stay */
  int stream_attribute; /* of the connection: 1 lets rows come as they are read, 0 all at once; 0: none */
  unsigned char moments; /* dates and times are read as text: the structures lose some of them */
  unsigned char
      one_reread;         /* a value is read again in a block of one row alone, whatever it says */
  unsigned char no_block; /* rows come one by one whatever it says */
  unsigned char trusted;  /* lengths that it gives for bounded text hold: no value is longer */
  unsigned char
      utf8; /* narrow text is UTF-8, whatever the locale; wide text is not to be trusted */
  unsigned char bound_size; /* bytes are as long as they were when they were bound */
  unsigned char
      left_failed; /* what fails outside of a transaction leaves one behind that takes nothing more */
  unsigned char close_ends; /* what runs ends with its handle alone: neither cancelled nor closed */
  signed char arrays; /* of parameters: 1: the fastest way to load, -1: the slowest; 0: not known */
  unsigned char
      lean; /* a statement of one result is not asked for more, nor closed if that has no rows */
  unsigned char short_ends; /* a block that is not full is the last one */
} od_quirk;

const od_quirk *od_quirk_of(const char *driver);
/* Those that the option `quirks` names: "utf8,-trusted". EDB_OK, or EDB_INVALID_QUERY and what is wrong. */
int od_quirk_change(od_quirk *quirk, const char *names, edb_error *error);

/* A server's product. */
typedef struct od_flavour {
  const char *dbms; /* SQL_DBMS_NAME begins so; NULL: all others */
  const edb_dialect *dialect;
  unsigned char by_name;      /* types are found by the server's own names, else by ODBC's */
  const char *current_schema; /* SQL of what an unqualified name finds; NULL: it has none */
  const char *hello;          /* SQL for each new connection; NULL: none */
  /* SQL at the beginning of a transaction; NULL: it cannot be had. */
  const char *snapshot, *readonly;
  int insert_rows;              /* of a load, in one INSERT */
  unsigned char quiet_triggers; /* a statement that writes has one result, whatever it sets off */
  unsigned char dooms;          /* a statement that fails dooms its transaction */
  const edb_driver *catalog_of; /* whose SQL says more than ODBC's calls; NULL: those */
} od_flavour;

const od_flavour *od_flavour_of(const char *dbms);
/* The generic one with what SQL_IDENTIFIER_QUOTE_CHAR says; others know better. */
const od_flavour *od_flavour_quoted(const od_flavour *flavour, const char *quote);
extern const edb_dialect *const od_dialects[];
extern const edb_dialect od_generic, od_generic_backquote, od_generic_bracket, od_postgresql,
    od_mysql, od_sqlserver, od_sqlite, od_oracle, od_db2, od_snowflake;

/* ---- Types (odbc_type.c) ------------------------------------------------------------------------ */

/* How the values of a column are bound and lent. */
typedef enum od_codec {
  OD_TEXT = 0, /* wide */
  OD_NARROW,   /* text that is ASCII, like numbers; all text of drivers that have it in UTF-8 */
  OD_BYTES,
  OD_INT,
  OD_UINT,
  OD_BOOL,
  OD_FLOAT,
  OD_DOUBLE,
  OD_DATE,
  OD_DATETIME,
  OD_MOMENT, /* a date, a time or both, as text */
  OD_BOOL_TEXT,
  OD_BITS,  /* bytes of a number, the most significant first */
  OD_QUOTED /* OD_SQLITE_LITERAL: the values have types of their own */
} od_codec;

/* The type that the generic tables have for one of ODBC's; never NULL. */
const edb_type *od_type_of(int sql_type, int is_unsigned);
/* The same by its name; never NULL. */
const edb_type *od_type_called(const char *name);

/* A column's, by the server's name for it where its product is known. */
const edb_type *od_column_type(const od_flavour *flavour, const char *name, int sql_type,
                               int is_unsigned);

od_codec od_codec_of(const edb_type *type, int sql_type, int is_unsigned, int moments_as_text);

/* What drivers have no form for, or get wrong, is selected as text, and its column is called so: the rest of the name
** says what it is ("quoted", or a type of the dialect's). */
#define OD_READ_AS "edb_as_"
/* A value as od_quoted_value reads it. */
#define OD_SQLITE_LITERAL(x)                                                                       \
  "CASE typeof(" x ") WHEN 'blob' THEN 'B' || hex(" x ") ELSE quote(" x ") END"
int od_c_type(od_codec codec);
size_t od_fixed_size(od_codec codec); /* bytes of a value; 0: it has no fixed size */
size_t od_nul_size(od_codec codec);   /* bytes of the NUL behind a text; 0: it is none */

/* What the structures and texts of dates and times are; text of what no calendar has goes to `text`. */
#define OD_MOMENT_TEXT 64
void od_date_value(const SQL_DATE_STRUCT *date, edb_value *value, char text[OD_MOMENT_TEXT]);
void od_datetime_value(const SQL_TIMESTAMP_STRUCT *t, int zoned, edb_value *value,
                       char text[OD_MOMENT_TEXT]);
/* Of the form that the type declares; else it stays text. */
void od_bits_value(const char *p, size_t n, edb_value *value);
/* text: the characters of a text or blob, written over the literal's own. 0: it is no literal. */
int od_quoted_value(char *p, size_t n, edb_value *value);
void od_moment_value(const edb_type *type, const char *p, size_t n, edb_value *value);

/* ---- Sockets (odbc_socket.c) ------------------------------------------------------------------------ */

/* The socket of a connection; file -1: it is not known. */
typedef struct od_socket {
  int file;
  uint64_t identity;
} od_socket;

#define OD_FILES 512 /* file descriptors that are looked at */

typedef struct od_sockets {
  uint64_t identities[OD_FILES];
} od_sockets;

/* Which sockets there are before a connection is made, and which one there is more afterwards. */
void od_sockets_note(od_sockets *sockets);
void od_socket_find(const od_sockets *before, od_socket *socket);

/* Whether its other side has ended; and whether it still is the connection's, should it say so. */
int od_socket_is_known(const od_socket *socket);
int od_socket_is_closed(const od_socket *socket);
int od_socket_is_same(const od_socket *socket);

/* ---- Connections (odbc_connect.c) --------------------------------------------------------------- */

typedef struct od_connection od_connection;
typedef struct od_statement od_statement;

/* A column of a result that is read. */
typedef struct od_cell {
  od_codec codec;
  short sql_type;
  unsigned char bound; /* 0: read by SQLGetData */
  unsigned char zoned;
  SQLLEN signs[2]; /* what would change with the column */
  size_t declared; /* characters, or bytes; 0: not known */
  size_t width;    /* bytes of one value's place */
  size_t wanted;   /* bytes that a value needed more of */
  char *data;      /* places, one a row */
  SQLLEN *lengths; /* likewise */
  edb_buffer text; /* the value that is lent, where it is not in its place */
  char moment[OD_MOMENT_TEXT];
} od_cell;

/* The reader: there is one a connection, inside it. */
typedef struct od_rows {
  od_statement *statement;
  size_t at, have; /* rows of the block: lent, fetched */
  unsigned char open, done;
  unsigned char last; /* no block follows */
  unsigned char owns; /* the statement ends with the reader */
  edb_error trouble;  /* of a row of the block that is yet to be lent */
  size_t trouble_at;  /* that row; SIZE_MAX: none */
} od_rows;

enum { OD_STOP_NONE = 0, OD_STOP_INTERRUPTED, OD_STOP_TIMEOUT };

struct od_connection {
  const edb_host *host;
  SQLHANDLE env, dbc;
  edb_error error;
  od_quirk quirk; /* the driver's, as option quirks has changed them */
  const od_flavour *flavour;
  atomic_int cancelled; /* edb_cancel was called */
  int stop;             /* OD_STOP_…: why the command at work was stopped */
  SQLHANDLE at_work;    /* the statement that SQLCancel stops; NULL: none */
  edb_thread *thread;
  od_socket socket;
  unsigned getdata;              /* SQL_GETDATA_EXTENSIONS */
  unsigned char describes;       /* SQLDescribeParam is there */
  unsigned char catalog_schemas; /* what is a schema here is a catalog there */
  unsigned char folds;           /* names that are not quoted are in: SQL_IC_UPPER, _LOWER; 0 */
  unsigned char connected;
  unsigned char dead;        /* the connection is gone */
  unsigned char transaction; /* a handle of one is open */
  unsigned char doomed;      /* nothing but a rollback is taken */
  unsigned char left;        /* a transaction of the driver's has failed */
  unsigned char streaming;   /* option stream */
  unsigned char arrays;      /* parameters are bound as arrays where many rows go into a table */
  unsigned char no_arrays;   /* the driver was found not to have them */
  unsigned char streams;     /* the stream attribute is set */
  int statements;            /* open */
  int block_rows;            /* option block: rows at a time; -1: by the columns */
  unsigned option_bits;      /* OPTIONS, as the driver has it */
  char escape[8];            /* of search patterns; "" where there is none */
  char **secrets;            /* what no message may show, NULL-terminated, in one allocation */
  size_t secret_bytes;
  edb_buffer wide, line; /* for a call */
  od_rows rows;
};

extern const edb_option_spec od_options[];

int od_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error);
int od_close(void *connection);
int od_alive(void *connection);
const edb_dialect *od_dialect(void *connection);

/* SQLGetInfo's text and numbers; "" and 0 where the driver does not say. */
void od_info_text(od_connection *c, int what, char *out, size_t size);
unsigned od_info_number(od_connection *c, int what);

/* Runs SQL of ours; its rows are dropped. */
int od_run(od_connection *c, const char *sql);

/* ---- What there is (odbc_sources.c) ---------------------------------------------------------------- */

int od_sources(const edb_host *host, edb_source_taker *take, void *context, edb_error *error);

/* ---- Errors (odbc_error.c) ----------------------------------------------------------------------- */

/* Sets the connection's error from all diagnostic records of a handle. Answers the code. */
int od_error(od_connection *c, int kind, SQLHANDLE handle);
int od_statement_error(od_statement *s);
int od_nomem(od_connection *c);

/* Reads the records into an error of its own. row: those of one row, SIZE_MAX: all. */
void od_diagnose(od_connection *c, int kind, SQLHANDLE handle, size_t row, edb_error *error);

/* Ends what a failed statement has left behind, where the driver leaves that to us. */
void od_settle(od_connection *c);

/* Hands what came with success on to the host's log. */
void od_notice(od_connection *c, int kind, SQLHANDLE handle);

/* ---- Calls that may block (odbc_call.c) ------------------------------------------------------------ */

typedef struct od_job od_job;
struct od_job {
  SQLRETURN (*call)(const od_job *);
  SQLHANDLE handle;
  void *text; /* wide */
  SQLINTEGER n;
  SQLSMALLINT completion;
};

/* Makes the call, while the host and the time-out are asked whether it may go on. cancel: the statement that it runs. */
SQLRETURN od_call(od_connection *c, SQLHANDLE cancel, const od_job *job);
void od_thread_end(od_connection *c);

/* Whether edb_cancel or the host wants it to end. */
int od_is_stopped(od_connection *c);

/* ---- Statements (odbc_statement.c, _block.c, _long.c) ------------------------------------------------ */

/* A parameter's place, which stays where it is while the statement lives. */
typedef struct od_place {
  union {
    int64_t i64;
    uint64_t u64;
    double f64;
    unsigned char bit;
    SQL_DATE_STRUCT date;
    SQL_TIMESTAMP_STRUCT stamp;
    char text[OD_MOMENT_TEXT];
  } fixed;
  edb_buffer bytes;
  SQLLEN length;
  short c_type, sql_type; /* what it is bound as; c_type 0: not bound yet */
  short described;        /* SQLDescribeParam's, 0: not asked */
  size_t column_size;
  const void *at;
} od_place;

#define OD_ORDER 8

struct od_statement {
  od_connection *connection;
  SQLHANDLE stmt;
  int catalog;  /* enum od_catalog_query: answered by ODBC's calls */
  int fallback; /* likewise, if the product's own SQL is refused by what only calls itself so */
  char *sql;
  unsigned char order
      [OD_ORDER]; /* which parameter each ? is, from 1; 0 at the end: they stand in their order */
  unsigned char prepared, cursor; /* a cursor is open */
  unsigned char streams;          /* many rows are expected */
  unsigned char plain;            /* one result, whose columns stay */
  unsigned char empty;            /* which are none, as is known */
  size_t likely;                  /* rows, as is expected; 0: any number */
  SQLSMALLINT n_parameters;
  od_place *places;
  int timeout; /* SQL_ATTR_QUERY_TIMEOUT as it is set */
  size_t n_columns;
  edb_column *columns;
  edb_value *values;
  od_cell *cells;
  edb_buffer names;
  /* The block. */
  size_t capacity; /* rows; 0: nothing is bound */
  SQLULEN fetched;
  SQLUSMALLINT *status;
  unsigned char grow;   /* a place was too small: bind anew before the next block */
  unsigned char single; /* one row at a time */
  struct od_list *list; /* of a catalog query: its rows */
};

int od_statement_new(od_connection *c, const char *sql, double expected, od_statement **statement);
/* One for a call of ODBC's that answers rows, like SQLTables. */
int od_statement_bare(od_connection *c, od_statement **statement);
void od_statement_free(od_statement *s);
int od_statement_prepare(od_statement *s);
int od_statement_run(od_statement *s, const edb_parameter *parameters, size_t n);
/* Describes the columns of what the handle has run, unless they are those that it has described before. */
int od_describe(od_statement *s);
/* How many results one statement may have, and the error for more. */
#define OD_MOST_RESULTS 10000
int od_endless(od_statement *s);

/* Ends what the statement runs; further results are read to their ends. */
int od_statement_finish(od_statement *s, int stop);
void od_forget_columns(od_statement *s);

int od_bind(od_statement *s, const edb_parameter *parameters, size_t n);
/* The type that the driver says of a parameter, or SQL_VARCHAR. */
short od_described(od_statement *s, size_t i);
/* Dates and times go as text, which every server reads, with what it has of fractions. Answers the length. */
size_t od_time_text(const edb_time *time, char out[OD_MOMENT_TEXT]);
#define OD_LONG_UNITS 4000 /* longer text is a LONG type to many servers */

/* Runs a prepared INSERT once for each row, all at once (odbc_arrays.c). EDB_UNSUPPORTED: it cannot be done with these
** rows or this driver, which has done none of them or some. An error has the row to blame, from 1, where that is known. */
int od_run_arrays(void *statement, const edb_parameter *values, size_t rows);

/* Makes the places of a block and tells the driver of them. */
int od_block_start(od_statement *s);
void od_block_free(od_statement *s);
/* Fetches the next block; EDB_ROW, EDB_DONE or an error. */
int od_block_fetch(od_statement *s);

/* Reads a value that is not bound or was cut whole, by SQLGetData, into the cell's text. *null: it is NULL. */
int od_long_read(od_statement *s, size_t column, int *null);
/* The error for a length that is none. */
int od_bad_length(od_statement *s, size_t column, SQLLEN length);
/* A length that the driver has written, all bytes of it or the lower four. */
SQLLEN od_length(SQLLEN length);

/* ---- Rows (odbc_rows.c) ------------------------------------------------------------------------------- */

/* The next row of what the statement has run, lent in s->values: EDB_ROW, EDB_DONE, or an error. */
int od_next(od_statement *s);
int od_rows_start(od_statement *s, const edb_parameter *parameters, size_t n, int owns,
                  void **rows);
int od_rows_columns(void *rows, const edb_column **columns, size_t *n);
int od_rows_next_borrowed(void *rows, const edb_value **values);
int od_rows_close(void *rows);

/* ---- The catalog (odbc_catalog.c, odbc_list.c) ---------------------------------------------------------- */

typedef enum od_catalog_query {
  OD_SQL = 0,
  OD_CATALOG_TABLES,
  OD_CATALOG_RELATION,
  OD_CATALOG_COLUMNS
} od_catalog_query;

extern const edb_catalog od_catalog;

/* Which of od_catalog's statements it is. */
od_catalog_query od_catalog_query_of(const char *sql);
/* The SQL that asks the same, where the product's is better than ODBC's calls; else NULL. */
const char *od_catalog_sql(const od_flavour *flavour, od_catalog_query query);
/* Writes ? over each $1 or ?1 to 9, and into order which of them it was. */
void od_catalog_positions(char *sql, unsigned char order[OD_ORDER]);
/* Asks by ODBC's calls, and makes s->list. */
int od_catalog_run(od_statement *s, const edb_parameter *parameters, size_t n);

/* Rows of our own making. */
typedef struct od_list {
  const edb_host *host;
  size_t width, rows, room; /* columns; rows there are, and fit */
  size_t at;                /* next to be lent */
  edb_value *values;
  edb_buffer text; /* a text value's p is its offset here until od_list_end */
  unsigned char nomem;
} od_list;

od_list *od_list_new(const edb_host *host, size_t width);
void od_list_free(od_list *list);
/* A new row of NULLs, and its values. */
void od_list_row(od_list *list);
void od_list_text(od_list *list, size_t column, const char *p, size_t n);
void od_list_number(od_list *list, size_t column, int64_t number);
int od_list_end(od_list *list); /* EDB_OK or EDB_NOMEM */

#endif
