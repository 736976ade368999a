/*
** drivers/driver.h: the contract between edb and a remote database.
**
** Everything above this header is written once; a driver is one file below it. A driver is a
** const edb_driver: the schemes it serves, the options it takes, how its server spells SQL and its
** catalog (data), how to open a connection, and a const table of methods. driver.c dispatches:
**
**     edb_connection c;
**     edb_error e;
**     if (edb_open("sqlite:shop.db", NULL, 0, &host, &c, &e) != EDB_OK) ...e.message...
**     edb_rows r;
**     if (edb_query(&c, "SELECT id, name FROM item", NULL, 0, &r) != EDB_OK) ...
**         ...edb_detail(&c)->message...
**     const edb_value *v;
**     while ((rc = edb_rows_next_borrowed(&r, &v)) == EDB_ROW) ...v[0].as.i64, v[1].as.text.p...
**     edb_rows_close(&r);
**     edb_close(&c);
**
** Conventions, stated once:
**
**   Results   Every call answers an edb_code. What went wrong is in edb_detail(connection) until the
**             connection's next call; edb_open, which has no connection yet, fills an edb_error.
**   Handles   A handle is a context and its methods, owned by the caller and usually on its stack. Zeroed, or
**             once closed, committed or rolled back, its context is NULL: every call then answers
**             EDB_CLOSED and reaches no driver. Closing twice is harmless. An out parameter that a failing
**             call was given is left closed.
**   Order     A connection has one command in flight: while a reader (edb_rows) is open, every other
**             call on its connection, statements and transactions answers EDB_BUSY, except cancel, detail,
**             alive and the reader's own. Rows are closed before their statement, statements and
**             transactions before their connection; edb_close answers EDB_BUSY until they are.
**   Threads   One thread at a time uses a connection and what came from it; edb_cancel may come from any.
**   Memory    All comes from the edb_host given to edb_open, which outlives the connection. Each driver's
**             head comment says what it keeps there. What a client library allocates is its own.
**   Text      UTF-8, sized, not NUL-terminated unless declared as char *.
*/
#ifndef EDB_DRIVER_H
#define EDB_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* ---- Results ------------------------------------------------------------------------------- */

/* The first four are no failures of a server; the next five are portable: each driver maps its own
** errors to them; EDB_FAILED is a failure with none of these meanings. */
typedef enum edb_code {
  EDB_OK = 0,
  EDB_ROW,           /* rows_next: a row was read */
  EDB_DONE,          /* rows_next: there are no more rows */
  EDB_INTERRUPTED,   /* stopped by edb_cancel, by host->interrupted or by the time-out */
  EDB_CLOSED,        /* a closed handle, or the connection to the server is gone */
  EDB_INVALID_QUERY, /* SQL that the server refuses, a name that is not there, an unfit parameter */
  EDB_CONSTRAINT,    /* unique, foreign key, check, not null */
  EDB_BUSY, /* a reader is open, a lock was not granted, a deadlock, a serialization failure */
  EDB_UNSUPPORTED, /* what this driver or server cannot do */
  EDB_FAILED,      /* everything else: the vendor's code and message say what */
  EDB_NOMEM
} edb_code;

typedef struct edb_error {
  edb_code code;
  int vendor;         /* the vendor's own number; 0 where it has none */
  char sqlstate[6];   /* "" where the vendor gave none */
  char message[1024]; /* one line, no prefix, no secret: "relation \"ordrs\" does not exist" */
  char hint[512];     /* more from the vendor, or what to do; may be "" */
  int foreign_key;    /* 1: an EDB_CONSTRAINT that is a foreign key's */
  int64_t row;        /* of a load: the row that is to blame, from 1; 0: not known */
} edb_error;

/* ---- Values, rows, columns ----------------------------------------------------------------- */

typedef enum edb_kind {
  EDB_NULL = 0,
  EDB_BOOL,
  EDB_I64,
  EDB_U64,
  EDB_F64,
  EDB_TEXT,
  EDB_BYTES,
  EDB_TIME
} edb_kind;

typedef enum edb_time_form { EDB_DATE = 1, EDB_CLOCK, EDB_DATETIME } edb_time_form;

/* A date, a time of day, or both, in the proleptic Gregorian calendar. Zoned values are in UTC. A
** clock may be negative or exceed a day (MySQL's TIME). Years outside 0001–9999 are not expressed
** so: a driver lends them, infinities and zero dates as EDB_TEXT in the server's own spelling. */
typedef struct edb_time {
  int64_t nanos; /* since midnight, 0 for EDB_DATE */
  int32_t days;  /* since 1970-01-01, 0 for EDB_CLOCK */
  uint8_t form;  /* edb_time_form */
  uint8_t zoned; /* 1: an instant in UTC */
} edb_time;

typedef struct edb_value {
  edb_kind kind;
  union {
    int boolean; /* EDB_BOOL: 0 or 1 */
    int64_t i64;
    uint64_t u64;
    double f64;
    struct {
      const char *p; /* never NULL, even where n is 0 */
      size_t n;      /* bytes */
    } text, bytes;   /* EDB_TEXT, EDB_BYTES: interchangeable layout */
    edb_time time;
  } as;
} edb_value;

/* How SQLite sees a column: the declared types of the value table in README.md ("Values"). */
typedef enum edb_declared {
  EDB_DECLARED_BLOB = 0,
  EDB_DECLARED_INTEGER,
  EDB_DECLARED_REAL,
  EDB_DECLARED_NUMERIC, /* values are EDB_TEXT: the exact decimal, at its stored scale; SQLite's are
                        ** EDB_I64, EDB_F64 or EDB_TEXT, as they are stored */
  EDB_DECLARED_TEXT,
  EDB_DECLARED_JSON, /* TEXT with the JSON subtype */
  EDB_DECLARED_DATE,
  EDB_DECLARED_TIME,
  EDB_DECLARED_DATETIME
} edb_declared;

/* kind is what its values are, NULL apart; a value may still be EDB_TEXT where its column's kind
** cannot express it (above), and any kind where the server is dynamically typed. EDB_NULL: not
** known. */
typedef struct edb_type edb_type;
typedef struct edb_span edb_span;
typedef struct edb_text edb_text;
typedef struct edb_column {
  const char *name;      /* as the server gave it: may be empty, may repeat */
  const char *type_name; /* the remote type, as a person of that server writes it */
  const edb_type *type;  /* what the dialect says of it (below); never NULL */
  edb_kind kind;
  int nullable; /* 0 only where it is known that no value is NULL */
} edb_column;

/* A parameter: positional where name is NULL, else the name with its mark as the SQL has it
** (":id"). EDB_UNSUPPORTED where the server knows no such parameters. */
typedef struct edb_parameter {
  const char *name;
  edb_value value;
} edb_parameter;

/* A row of the caller's, for rows_next. Zero it, set host; edb_row_clear frees what it holds. Its
** text and bytes stay valid until the next edb_rows_next into it or edb_row_clear, also after the
** reader is closed. */
typedef struct edb_host edb_host;
typedef struct edb_row {
  const edb_host *host;
  edb_value *values;
  size_t count; /* of values */
  char *bytes;  /* what text and bytes values point into */
  size_t used, size;
  size_t slots; /* values allocated */
} edb_row;

/* ---- What the host gives ------------------------------------------------------------------- */

struct edb_host {
  void *context;
  /* realloc; size 0 frees and answers NULL. NULL otherwise means out of memory. */
  void *(*resize)(void *context, void *memory, size_t size);
  /* Notices and warnings of the server, one line each. NULL: they are dropped. */
  void (*log)(void *context, const char *text, size_t n);
  /* Asked some times a second while a driver waits: non-zero stops the command. NULL: never. */
  int (*interrupted)(void *context);
  int anywhere; /* 1: in any thread, as long as a call of the contract is at work; 0: in the one that made it */
  int timeout_ms; /* longest wait for an answer of the server, read at each wait; 0: none */
};

/* ---- Handles ------------------------------------------------------------------------------- */

typedef struct edb_methods edb_methods;
typedef struct edb_dialect edb_dialect;
typedef struct edb_connection {
  const edb_methods *methods;
  void *context;
} edb_connection;
typedef struct edb_statement {
  const edb_methods *methods;
  void *context;
} edb_statement;
typedef struct edb_rows {
  const edb_methods *methods;
  void *context;
  int ended; /* 1: nothing more is asked of the driver */
} edb_rows;
typedef struct edb_transaction {
  const edb_methods *methods;
  void *context;
} edb_transaction;
typedef struct edb_load {
  const edb_methods *methods;
  void *context;
} edb_load;

/* How a transaction begins. Zeroed: as the server has it. */
typedef struct edb_transaction_spec {
  int snapshot; /* 1: from its first read on, all reads see one state of the database */
  int readonly; /* 1: the server refuses writes */
  /* Not NULL: it can be prepared (two-phase commit) under this global name, which is unique at the server:
  ** 1 to EDB_TWO_PHASE_NAME of letters, digits, '_', '-' and '.'. */
  const char *two_phase;
} edb_transaction_spec;

#define EDB_TWO_PHASE_NAME 63

/* What a load fills. Names as the catalog has them, not quoted; types as dialect->type answers for them. All of
** it lives until the load has ended. */
typedef struct edb_load_column {
  const char *name;
  const edb_type *type;
  const char *type_name; /* the remote type, for people */
} edb_load_column;
typedef struct edb_load_spec {
  const char *schema; /* NULL: what an unqualified name finds */
  const char *table;
  const edb_load_column *columns;
  size_t n;
  double expected; /* rows, 0 if unknown */
} edb_load_spec;

/* What each driver implements; the contexts are its own. No context here is ever NULL. `affected`
** is never NULL. Errors go to where detail reads them. NULL where it says so. */
struct edb_methods {
  int version; /* 1 */

  int (*close)(void *connection);
  int (*prepare)(void *connection, const char *sql, double expected, void **statement);
  int (*execute)(void *connection, const char *sql, const edb_parameter *, size_t n,
                 int64_t *affected);
  int (*query)(void *connection, const char *sql, const edb_parameter *, size_t n, void **rows);
  int (*begin)(void *connection, const edb_transaction_spec *, void **transaction);

  int (*statement_close)(void *statement);
  int (*statement_execute)(void *statement, const edb_parameter *, size_t n, int64_t *affected);
  int (*statement_query)(void *statement, const edb_parameter *, size_t n, void **rows);

  /* NULL: not without waiting for each answer. */
  int (*statement_each)(void *statement, const edb_parameter *, size_t n, size_t runs,
                        int64_t *affected, size_t *done);

  int (*rows_columns)(void *rows, const edb_column **columns, size_t *n);
  int (*rows_next)(void *rows, edb_row *row); /* NULL: copied from what is lent */
  int (*rows_next_borrowed)(void *rows, const edb_value **values); /* NULL: nothing to lend */
  int (*rows_close)(void *rows);

  int (*transaction_execute)(void *transaction, const char *sql, const edb_parameter *, size_t n,
                             int64_t *affected);
  int (*transaction_query)(void *transaction, const char *sql, const edb_parameter *, size_t n,
                           void **rows);
  int (*transaction_commit)(void *transaction);   /* the transaction is over, whatever it answers */
  int (*transaction_rollback)(void *transaction); /* likewise */
  int (*transaction_prepare)(void *transaction);  /* likewise; NULL: no two-phase commit */
  int (*resolve)(void *connection, const char *name, int commit); /* NULL likewise */

  /* NULL, all four: there are none, EDB_UNSUPPORTED. One that has nothing faster than INSERTs takes those of
  ** load.c. load_end and load_abort end it, whatever they answer. */
  int (*load)(void *connection, const edb_load_spec *, void **load);
  int (*load_row)(void *load, const edb_value *values);
  int (*load_end)(void *load);
  int (*load_abort)(void *load);

  int (*cancel)(void *connection);
  const edb_error *(*detail)(void *connection);
  int (*alive)(void *connection);                  /* 1 or 0, without a round trip */
  const edb_dialect *(*dialect)(void *connection); /* NULL: the driver's only one */
  int (*reset)(void *connection);                  /* NULL: cannot be done */
};

/* ---- What a driver says of its server, as data --------------------------------------------- */

/* Which comparisons of a remote type mean on the server what they mean in SQLite. */
typedef enum edb_compare {
  EDB_COMPARE_NONE = 0, /* none is known to */
  EDB_COMPARE_INTEGER,
  EDB_COMPARE_UNSIGNED, /* an integer that may be above 2^63-1, which is text here */
  EDB_COMPARE_BOOLEAN,
  EDB_COMPARE_FLOAT,  /* may hold NaN, which sorts above all there and is NULL here */
  EDB_COMPARE_FINITE, /* a float; the server has neither NaN nor infinities */
  EDB_COMPARE_DECIMAL, /* a decimal of any precision: compared there as such, here as the nearest double */
  EDB_COMPARE_DATE,
  EDB_COMPARE_CLOCK,
  EDB_COMPARE_DATETIME,
  EDB_COMPARE_INSTANT, /* a zoned datetime */
  EDB_COMPARE_TEXT,    /* equality there holds at least where it holds here */
  EDB_COMPARE_UUID,    /* written in lower case, 8-4-4-4-12 */
  EDB_COMPARE_SQLITE   /* the server compares as SQLite does */
} edb_compare;

struct edb_type {
  const char *name; /* as the catalog's `type` spells it */
  edb_kind kind;
  edb_declared declared;
  edb_compare compare;
  const char *read; /* how a column of it is selected, %s = the quoted column; NULL: as it is */
  const char *parameter; /* how a placeholder compared with it is written, %s = the placeholder;
                         ** NULL: as it is */
  /* How JSON is made a value of it, where its text begins with `json` ('[' or '{'): %s = the placeholder, %r = the
  ** quoted table, %c = the quoted column, %l = the column's name as a literal; NULL: it is text as any other. */
  const char *from_json;
  char json;
  const char *
      decimal_bound; /* decimals: how a bound's placeholder stands, %s = it; the parameter is text, up to 27 digits
                              ** before the point and 10 behind it; NULL: it is an EDB_F64 */
  const char *array; /* the test against a text parameter that is an array of it, behind the column:
                         ** "= ANY (%s::text::int8[])", its elements written as PostgreSQL's array
                         ** literals are; NULL: a list of parameters is sent */
  /* The same for a long array, which is not to be read, nor gone through, again for each row: where the column has an
  ** index, and where nobody knows. NULL likewise: as a short one. */
  const char *array_indexed, *array_long;
  const char *is_null; /* what holds where the value is NULL in SQLite, %s = the column: NaN is;
                         ** NULL: "%s IS NULL" */
  const char *early;   /* dates and times: what holds for values before 0001-01-01, and for those */
  const char
      *late; /* after 9999-12-31 (of clocks: from 100:00:00 on), which sort elsewhere as text:
                         ** "%s < '0001-01-01'"; NULL where there are none */
  const char
      *compared; /* how a column of it stands in a comparison, %s = the quoted column; NULL: as
                         ** it is */
  const char *
      order; /* how a column of it stands in ORDER BY so that the order is that of its values in SQLite, %s = the quoted
                  ** column; NULL: as it is, if numbers or times without `early` and `late` compare so, else not at all */
  unsigned
      reach;  /* text: the last code point that a parameter may hold: of others, the server may not
                  ** be able to tell that they are in no row. The C1 controls never are, and with
                  ** EDB_REACH_ASCII no `?` either, which may stand for what has no code point. 0: any */
  int finest; /* dates and times: nanoseconds that a parameter of any value keeps; 0: 1000 */
  const edb_span
      *span; /* dates and times: what the type holds; NULL: all that edb_time_parse reads */
  const edb_text *text; /* text: what is known beside equality; NULL: nothing */
};

/* From the beginning of a day (since 1970-01-01; of clocks 0) to this instant. */
struct edb_span {
  int32_t first;
  edb_time last;
  int rounded; /* 1: the type's `parameter` rounds any value to the nearest one, which no value of a column passes:
               ** `<` is sent as `<=` */
};

#define EDB_REACH_ASCII 0x7F

/* How a server matches text with a pattern. */
typedef struct edb_match {
  /* What stands before the pattern's placeholder, %s = the quoted column, and behind it. */
  const char *before, *after;
  /* The pattern is that of SQL's LIKE, with a `!` before each of these characters, itself among them, that stands for
  ** itself; NULL: it is SQLite's own, of LIKE or GLOB. */
  const char *special;
  int folds;   /* 1: a letter of ASCII matches its other case too */
  int classes; /* 1: [aA] stands for either of the two */
  int units;   /* 1: `_` stands for less than a character beyond U+FFFF */
  int plain;   /* 1: it is no pattern, but text that the column contains */
  int exact;   /* 1: beside that, it matches nothing that SQLite does not */
} edb_match;

/* What a server knows of a text column beside `=`. */
struct edb_text {
  int equal; /* 1: `=` holds for the same bytes alone: case, accents and blanks at the end count */
  /* How a column stands where it is compared byte by byte in UTF-8, %s = the quoted column: "%s COLLATE \"C\""; and a
  ** placeholder, there. NULL: nothing does that. */
  const char *ordered, *bound;
  /* The last code point that a parameter may hold there, since the order of those behind it is another; 0: any. */
  unsigned reach;
  int padded; /* 1: blanks at the end are as good as none, there */
  /* For SQLite's LIKE; for its GLOB; for text within it, wherever that is (NULL: as for GLOB). Each matches all that
  ** SQLite does; NULL: nothing does. */
  const edb_match *like, *glob, *contains;
};

struct edb_dialect {
  const char *name; /* among those of its driver; NULL: it has no other */
  char quote[2];    /* opening and closing quote of a name; the closing one is doubled inside */
  const char *placeholder; /* "$%d": numbered from 1; or "?" */
  const char *limit;       /* " LIMIT %s" after the rest of a SELECT; NULL: there is no such form */
  const char *
      explain; /* "EXPLAIN %s": its own plan of a SELECT, as rows; NULL: it does not tell that so */
  const char *false_clause;  /* a condition that holds for no row */
  const char *limit_ordered; /* the same behind an ORDER BY; NULL: as limit */
  /* What stands behind a column in ORDER BY that may be NULL, so that NULL comes first, and last in descending order:
  ** " NULLS FIRST", " DESC NULLS LAST"; NULL: nothing and " DESC" do. */
  const char *ascending, *descending;
  int unordered;            /* 1: it is not known where NULL comes in an order */
  int max_parameters;       /* in one statement */
  int column_aliases;       /* 1: FROM (SELECT …) AS t(a, b) is understood */
  int bare_alias;           /* 1: no AS before a table's alias: FROM (SELECT …) t */
  const char *no_two_phase; /* why no transaction can be prepared here; NULL: one can */
  /* Statements with %s = a name of letters, digits and '_'; NULL: there is none (release: it needs none). */
  const char *savepoint, *rollback_to, *release;
  const char *read_only; /* makes a session refuse writes; NULL: nothing does */
  int error_dooms; /* 1: an error in a transaction undoes all of it but what a savepoint holds */
  int each_sums;   /* 1: of many runs at once, the sum of what they change is told */
  int dynamic;     /* 1: a column takes values of any type */
  int no_nul;      /* 1: text cannot hold the character NUL */
  const char *insert_defaults; /* behind INSERT INTO table: a row of defaults */
  const char *
      replace; /* "REPLACE INTO": in place of INSERT INTO, removes all rows that the new one conflicts with */
  int upsert; /* 1: ON CONFLICT (key) DO UPDATE SET c = EXCLUDED.c is understood */
  /* How the key of the row just inserted is told: RETURNING columns at the end of the INSERT; OUTPUT before VALUES, of
  ** columns with this before their names; a question of its own, for an integer. One of the three. */
  int returning;
  const char *output;
  const char *last_identity;
  /* Where a table's triggers make the server refuse `output`, with this vendor's number: what is put behind the INSERT, to
  ** answer the integer that it made, or NULL. */
  int output_refused;
  const char *output_else;
  /* Beginnings of statements that change what the next one on the connection is part of, beside those that
  ** SQL has: lower case, a blank between words, NULL-terminated; NULL: none. */
  const char *const *control;
  /* What a statement that may change the session has somewhere, at a word's beginning, beside what it begins with:
  ** lower case, NULL-terminated; NULL: nothing. Strings and comments count, since they may be run. */
  const char *const *lasting;
  /* The type the catalog calls so; never NULL. Static storage. */
  const edb_type *(*type)(const char *name);
};

/* Catalog queries. Parameters 1: schema, NULL for what an unqualified name finds (tables: for all
** but the system's); 2: table. Each answers these columns, in this order:
**   tables    schema, name, kind (table, view, …), rows (estimate or NULL), comment
**   relation  schema, name, kind, rows, identity (SQL of a stable row identity where there is no key, or
**             NULL), identity_integer (1: it is an integer), and as a last one, if it is there, how many bytes a row
**             has on average (or NULL); one row, or none where there is no such table
**   columns   name, type (for dialect->type), type_name (for people), nullable, key (1… within the
**             unique key that names a row, else 0), has_default (1: a default or an identity, 2: the server computes
**             it and takes no value, else 0), and as a last one, if it is there, whether a unique index of all rows is of
**             this column alone; in the table's order
**   estimate  rows; %s = the quoted table; asked where relation's rows is NULL; itself NULL where there
**             is no cheap way
**   in_doubt  (no parameters) the names of prepared transactions, in the last column; itself NULL where there are
**             none */
typedef struct edb_catalog {
  const char *tables;
  const char *relation;
  const char *columns;
  const char *estimate;
  const char *const
      *identities; /* what relation's identity may be, NULL-terminated: nothing else is
                                 ** believed when it is read back from a database file */
  const char *in_doubt;
} edb_catalog;

#define EDB_OPTION_SECRET 1u /* its value is shown nowhere */
#define EDB_OPTION_LOCAL                                                                           \
  2u /* it names what is the user's own here, or lets files be made: for the user to say */

typedef struct edb_option_spec {
  const char *name;
  unsigned flags;
  const char *help; /* one line */
} edb_option_spec;

typedef struct edb_option {
  const char *name;
  const char *value;
} edb_option;

typedef enum edb_url_form {
  EDB_URL_AUTHORITY, /* scheme://user:password@host:port/database?option=value */
  EDB_URL_PATH,      /* scheme:path?option=value */
  EDB_URL_WORDS /* scheme:keyword=value;keyword={value}: words that name an option are that option, the
                     ** others together are the option connection */
} edb_url_form;

/* One thing that can be connected to: kind is static text, the others are lent for the call. EDB_OK goes on, EDB_NOMEM
** ends the list. */
typedef int edb_source_taker(void *context, const char *kind, const char *name,
                             const char *description);

typedef struct edb_driver {
  const char *name;           /* "postgresql" */
  const char *const *schemes; /* NULL-terminated: "postgresql", "postgres" */
  edb_url_form url;
  const edb_option_spec
      *options;               /* ends with a NULL name; the URL's parts are the options host, port,
                                  ** user, password, database (or path) */
  const edb_dialect *dialect; /* what is assumed before a connection tells, if it has several */
  const edb_dialect *const *dialects; /* all, NULL-terminated, with names; NULL: dialect alone */
  const edb_catalog *catalog;
  const edb_methods *methods;
  /* The options are checked, unique, and hold the password in clear. The connection's context, or
  ** an error. */
  int (*open)(const edb_option *options, size_t n, const edb_host *host, void **connection,
              edb_error *error);
  /* The client library in use as "libpq 15.18", or "" before it was needed. */
  const char *(*library)(void);
  /* Lists what the driver knows that can be connected to; NULL: it has no such list. */
  int (*sources)(const edb_host *host, edb_source_taker *take, void *context, edb_error *error);
} edb_driver;

extern const edb_driver edb_memory_driver, edb_mysql_driver, edb_odbc_driver, edb_postgresql_driver,
    edb_sqlite_driver, edb_sqlserver_driver;

/* All drivers, NULL-terminated, in the order in which they are listed to users. */
extern const edb_driver *const edb_drivers[];

/* ---- Servers' URLs (url.c) ------------------------------------------------------------------ */

/* The driver that serves the URL's scheme; NULL and an error that lists the schemes there are. */
const edb_driver *edb_url_driver(const char *url, edb_error *error);

/* Checks the URL and the options beside it as edb_open does, without connecting: form, option names
** (an unknown one is answered with the valid ones), doubles. */
int edb_url_check(const char *url, const edb_option *options, size_t n, edb_error *error);

/* An option of 0 or 1 that any server may have, and its driver does not see ("two_phase"), from the URL or the options;
** 0 where neither has it. EDB_OK, or an error. */
int edb_url_flag(const char *url, const edb_option *options, size_t n, const char *name, int *value,
                 edb_error *error);

/* Whether the URL itself holds a secret. */
int edb_url_has_secret(const char *url);

/* Whether the URL has an option that only the user should set, not a file from elsewhere
** (EDB_OPTION_LOCAL). */
int edb_url_is_local(const char *url);

/* The URL with each secret written as ***, NUL-terminated, from host->resize (the caller frees it
** so); NULL when out of memory. A URL that cannot be parsed is masked as a whole behind its scheme.
** */
char *edb_url_mask(const edb_host *host, const char *url);

/* ---- Calls (driver.c) ------------------------------------------------------------------------ */

/* Connects. options are added to the URL's own, which they override. password_env (a variable) and
** password_file (its first line; refused where others can read it) are other ways to give the option
** password, in all drivers that have it: one of the three in a URL, one in the options. */
int edb_open(const char *url, const edb_option *options, size_t n, const edb_host *host,
             edb_connection *connection, edb_error *error);
int edb_close(edb_connection *connection);

/* expected: how many rows a query is likely to give, 0 if unknown; a driver may choose its way by
** it. */
int edb_prepare(edb_connection *connection, const char *sql, double expected,
                edb_statement *statement);

/* Runs one statement that gives no rows (rows that it gives are dropped). affected may be NULL; -1
** where the server does not count. edb_query on a statement without rows answers a reader without
** columns. */
int edb_execute(edb_connection *connection, const char *sql, const edb_parameter *parameters,
                size_t n, int64_t *affected);
int edb_query(edb_connection *connection, const char *sql, const edb_parameter *parameters,
              size_t n, edb_rows *rows);
/* One at a time: EDB_INVALID_QUERY while another is open. */
int edb_begin(edb_connection *connection, edb_transaction *transaction);

int edb_statement_close(edb_statement *statement);
int edb_statement_execute(edb_statement *statement, const edb_parameter *parameters, size_t n,
                          int64_t *affected);
int edb_statement_query(edb_statement *statement, const edb_parameter *parameters, size_t n,
                        edb_rows *rows);

/* Runs a statement that changes one row at most, by a unique key, once for each of `runs` sets of n parameters, which stand
** one behind the other: in this order, as edb_statement_execute would, but without waiting for one answer before the next
** is sent. affected has a place for each run; all are -1 where the server tells a sum that leaves it open. After an
** error, *done runs before the one that failed have been done (SIZE_MAX: it is not known how many), and those behind it perhaps.
** EDB_UNSUPPORTED, and nothing was run, where there is no such way. can: whether the driver has any. */
int edb_can_run_each(const edb_connection *connection);
int edb_statement_each(edb_statement *statement, const edb_parameter *parameters, size_t n,
                       size_t runs, int64_t *affected, size_t *done);

/* The columns, owned by the reader until it is closed. */
int edb_rows_columns(edb_rows *rows, const edb_column **columns, size_t *n);

/* EDB_ROW with the row, EDB_DONE at the end (also when asked again), or an error, after which the
** reader has no more rows. next copies into the caller's row; next_borrowed lends one value per
** column, valid until the next call on the reader, and answers EDB_UNSUPPORTED where the driver has
** nothing to lend. */
int edb_rows_next(edb_rows *rows, edb_row *row);
int edb_rows_next_borrowed(edb_rows *rows, const edb_value **values);

/* Ends the command too where it has not ended: the rest is cancelled and drained. */
int edb_rows_close(edb_rows *rows);

int edb_transaction_execute(edb_transaction *transaction, const char *sql,
                            const edb_parameter *parameters, size_t n, int64_t *affected);
int edb_transaction_query(edb_transaction *transaction, const char *sql,
                          const edb_parameter *parameters, size_t n, edb_rows *rows);
/* Commit of a transaction that the server has doomed is an error and a rollback. EDB_BUSY leaves
** the transaction as it was; after any other answer it is over. Where the connection was lost after the commit was
** sent, nobody knows what came of it, and the error's hint says so (EDB_OUTCOME_UNKNOWN). */
int edb_transaction_commit(edb_transaction *transaction);
/* The hint of an EDB_BUSY that says that a row has changed since a snapshot's first read. */
#define EDB_CHANGED_SINCE                                                                          \
  "it was changed by another since this transaction began to read: roll back and begin again"
#define EDB_OUTCOME_UNKNOWN "whether the transaction was committed is not known"
int edb_transaction_rollback(edb_transaction *transaction);

/* Two-phase commit. prepare makes the transaction outlive its connection and any crash, until resolve
** commits it or rolls it back under the name it began with. After an error of prepare it is rolled back, but where the
** connection was lost meanwhile: then it may come to be prepared. Until it is resolved, a connection that has prepared
** may answer EDB_BUSY to everything but resolve and close; any connection of the same user can resolve it after that one
** is closed. EDB_UNSUPPORTED where the server has no such thing (dialect->no_two_phase says why).
** resolve: EDB_INVALID_QUERY where the server knows no prepared transaction of that name, or one that a connection
** still holds; no other error is answered so. */
int edb_begin_with(edb_connection *connection, const edb_transaction_spec *spec,
                   edb_transaction *transaction);
int edb_transaction_prepare(edb_transaction *transaction);
int edb_resolve(edb_connection *connection, const char *name, int commit);

/* Loads: many rows into one table, in the fastest way there is (COPY, bulk load, arrays of parameters,
** INSERTs of many rows), with the meaning of an INSERT: constraints are checked, triggers fire, columns that are not named
** get their defaults, NULL is NULL. While it is open nothing else is asked of its connection, which may answer
** EDB_BUSY. Rows may be sent when they come, later or at the end: after an error, and after abort, any number of them may be in the table, so that a
** load belongs into a transaction, behind a savepoint if the transaction is to go on. row: one value per column; they are
** not needed any more when it answers. An error of row or end: detail's row is the one to blame where it is known;
** after an error of row only abort is of use. */
/* can: whether the driver has any. */
int edb_can_load(const edb_connection *connection);
int edb_load_begin(edb_connection *connection, const edb_load_spec *spec, edb_load *load);
int edb_load_row(edb_load *load, const edb_value *values);
int edb_load_end(edb_load *load);
int edb_load_abort(edb_load *load);

/* The driver of an open connection; NULL of a closed one. */
const edb_driver *edb_connection_driver(const edb_connection *connection);

/* How the server of an open connection writes SQL; NULL of a closed one. */
const edb_dialect *edb_connection_dialect(const edb_connection *connection);

/* The driver's dialect of that name; its first one where there is none of that name, or name is NULL. */
const edb_dialect *edb_dialect_named(const edb_driver *driver, const char *name);

/* Asks the server to stop what the connection runs. Harmless when nothing runs. */
int edb_cancel(const edb_connection *connection);

/* What went wrong last, valid until the connection's next call; never NULL. */
const edb_error *edb_detail(const edb_connection *connection);

/* Whether the connection still stands, as far as can be told without a round trip. */
int edb_alive(const edb_connection *connection);

/* Makes the session what it was when it was opened, whatever statements have changed of it: settings, the database,
** temporary tables, locks. Statements stay usable. EDB_UNSUPPORTED where that cannot be done, EDB_BUSY while a
** transaction is open. */
int edb_reset(edb_connection *connection);

#define EDB_PLACEHOLDER_TEXT 16

/* Parameter i, counted from 1, as the dialect's SQL writes it: "$3" or "?". Answers out. */
char *edb_placeholder(const edb_dialect *dialect, int i, char out[EDB_PLACEHOLDER_TEXT]);

/* ---- Rows and values (value.c) ------------------------------------------------------------- */

/* Starts an owned row anew with n values (EDB_NULL); appends bytes to it; frees it. EDB_OK or
** EDB_NOMEM. */
int edb_row_reset(edb_row *row, size_t n);
int edb_row_set(edb_row *row, size_t i, const edb_value *value); /* copies text and bytes */
void edb_row_clear(edb_row *row);

#define EDB_TIME_TEXT 40 /* bytes that edb_time_text may write, its NUL included */

/* `YYYY-MM-DD`, `HH:MM:SS[.f…]`, `YYYY-MM-DD HH:MM:SS[.f…]`, zeros of the fraction trimmed, `Z`
** behind a zoned one. Answers the length. */
size_t edb_time_text(const edb_time *time, char out[EDB_TIME_TEXT]);

/* The reverse, of exactly what edb_time_text writes for years 0001–9999 and clocks of 0 to 24 h: 1,
** or 0 where the text is anything else. form: what is expected. */
int edb_time_parse(const char *text, size_t n, edb_time_form form, int zoned, edb_time *time);

#endif
