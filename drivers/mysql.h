/*
** drivers/mysql.h: what the files of the MySQL and MariaDB driver share. Nothing else includes it.
*/
#ifndef EDB_MYSQL_H
#define EDB_MYSQL_H

#include <stdatomic.h>

#include "driverInt.h"

/* ---- The client library (mysql_library.c) ----------------------------------------------------- */

/* Its own types and numbers: its header is not needed to build edb. They are its ABI, which
** libmariadb and libmysqlclient share but for what mysql_layout.c knows. */
typedef struct MYSQL MYSQL;
typedef struct MYSQL_RES MYSQL_RES;
typedef struct MYSQL_STMT MYSQL_STMT;
typedef struct MYSQL_FIELD MYSQL_FIELD; /* by my_layout alone */
typedef struct MYSQL_BIND MYSQL_BIND;   /* likewise */
#if defined(_WIN64)
typedef unsigned long long my_socket;
#elif defined(_WIN32)
typedef unsigned my_socket;
#else
typedef int my_socket;
#endif

enum {
  MYSQL_NO_DATA = 100,
  MYSQL_DATA_TRUNCATED = 101,
};

/* Types of columns and of what is bound. */
enum {
  MYSQL_TYPE_DECIMAL = 0,
  MYSQL_TYPE_TINY,
  MYSQL_TYPE_SHORT,
  MYSQL_TYPE_LONG,
  MYSQL_TYPE_FLOAT,
  MYSQL_TYPE_DOUBLE,
  MYSQL_TYPE_NULL,
  MYSQL_TYPE_TIMESTAMP,
  MYSQL_TYPE_LONGLONG,
  MYSQL_TYPE_INT24,
  MYSQL_TYPE_DATE,
  MYSQL_TYPE_TIME,
  MYSQL_TYPE_DATETIME,
  MYSQL_TYPE_YEAR,
  MYSQL_TYPE_NEWDATE,
  MYSQL_TYPE_VARCHAR,
  MYSQL_TYPE_BIT,
  MYSQL_TYPE_VECTOR = 242,
  MYSQL_TYPE_JSON = 245,
  MYSQL_TYPE_NEWDECIMAL,
  MYSQL_TYPE_ENUM,
  MYSQL_TYPE_SET,
  MYSQL_TYPE_TINY_BLOB,
  MYSQL_TYPE_MEDIUM_BLOB,
  MYSQL_TYPE_LONG_BLOB,
  MYSQL_TYPE_BLOB,
  MYSQL_TYPE_VAR_STRING,
  MYSQL_TYPE_STRING,
  MYSQL_TYPE_GEOMETRY
};

/* Of a column. */
enum {
  MYSQL_NOT_NULL_FLAG = 1,
  MYSQL_UNSIGNED_FLAG = 32,
  MYSQL_ENUM_FLAG = 256,
  MYSQL_SET_FLAG = 2048,
};
#define MYSQL_BINARY_CHARSET 63

/* MYSQL_TIME, of which newer libraries know more behind the last member here. */
typedef struct my_time {
  unsigned year, month, day, hour, minute, second;
  unsigned long second_part; /* microseconds */
  char negative;
  int type;
  int more[4];
} my_time;

typedef struct my_const_string {
  const char *p;
  size_t n;
} my_const_string;

/* Its functions, each named as in the library without mysql_. */
typedef struct my_library {
  int (*server_init)(int, char **, char **);
  char (*thread_init)(void);
  void (*thread_end)(void);
  const char *(*get_client_info)(void);
  unsigned long (*get_client_version)(void);
  MYSQL *(*init)(MYSQL *);
  int (*options)(MYSQL *, int, const void *);
  MYSQL *(*real_connect)(MYSQL *, const char *host, const char *user, const char *password,
                         const char *database, unsigned port, const char *socket, unsigned long);
  void (*close)(MYSQL *);
  unsigned (*number)(MYSQL *); /* mysql_errno */
  const char *(*error)(MYSQL *);
  const char *(*sqlstate)(MYSQL *);
  unsigned long (*thread_id)(MYSQL *);
  unsigned long (*get_server_version)(MYSQL *);
  const char *(*get_server_info)(MYSQL *);
  const char *(*get_ssl_cipher)(MYSQL *);
  int (*real_query)(MYSQL *, const char *, unsigned long);
  unsigned long (*real_escape_string)(MYSQL *, char *, const char *, unsigned long);
  MYSQL_RES *(*use_result)(MYSQL *);
  int (*next_result)(MYSQL *);
  unsigned (*field_count)(MYSQL *);
  unsigned long long (*affected_rows)(MYSQL *);
  unsigned (*num_fields)(MYSQL_RES *);
  MYSQL_FIELD *(*fetch_field_direct)(MYSQL_RES *, unsigned);
  char **(*fetch_row)(MYSQL_RES *);
  unsigned long *(*fetch_lengths)(MYSQL_RES *);
  void (*free_result)(MYSQL_RES *);
  MYSQL_STMT *(*stmt_init)(MYSQL *);
  int (*stmt_prepare)(MYSQL_STMT *, const char *, unsigned long);
  unsigned long (*stmt_param_count)(MYSQL_STMT *);
  char (*stmt_bind_param)(MYSQL_STMT *, MYSQL_BIND *);
  int (*stmt_execute)(MYSQL_STMT *);
  char (*stmt_attr_set)(MYSQL_STMT *, int, const void *);
  unsigned (*stmt_field_count)(MYSQL_STMT *);
  MYSQL_RES *(*stmt_result_metadata)(MYSQL_STMT *);
  char (*stmt_bind_result)(MYSQL_STMT *, MYSQL_BIND *);
  int (*stmt_fetch)(MYSQL_STMT *);
  int (*stmt_fetch_column)(MYSQL_STMT *, MYSQL_BIND *, unsigned, unsigned long);
  unsigned long long (*stmt_affected_rows)(MYSQL_STMT *);
  int (*stmt_next_result)(MYSQL_STMT *);
  char (*stmt_free_result)(MYSQL_STMT *);
  char (*stmt_close)(MYSQL_STMT *);
  unsigned (*stmt_errno)(MYSQL_STMT *);
  const char *(*stmt_error)(MYSQL_STMT *);
  const char *(*stmt_sqlstate)(MYSQL_STMT *);
  /* In both, as functions that refuse what is asked of them: */
  void (*set_local_infile_handler)(MYSQL *, int (*)(void **, const char *, void *),
                                   int (*)(void *, char *, unsigned), void (*)(void *),
                                   int (*)(void *, char *, unsigned), void *);
  /* libmariadb's alone: */
  my_socket (*get_socket)(MYSQL *);
  char (*get_info)(MYSQL *, int, void *); /* mariadb_get_info */
  int (*stmt_execute_start)(int *, MYSQL_STMT *);
  int (*stmt_execute_cont)(int *, MYSQL_STMT *, int);
  int (*field_attr)(my_const_string *, const MYSQL_FIELD *, int);
  /* Of the OpenSSL that it links, where it does: */
  void (*clear_tls_errors)(void);
} my_library;

extern my_library my; /* filled by my_library_load */

int my_library_load(edb_error *error);
/* mysql_close. What goes wrong with TLS in it stays in OpenSSL's queue of the thread, where the next connection to
** read would take it for an error of its own. */
void my_disconnect(MYSQL *mysql);
const char *my_library_name(void); /* "libmariadb 3.3.20", "" before it was loaded */

/* ---- What differs between libraries (mysql_layout.c) ------------------------------------------- */

/* Where the members are that edb reads and writes; sizes and offsets in bytes. */
typedef struct my_layout {
  const char *name;
  unsigned mariadb;       /* 1: libmariadb */
  unsigned long from, to; /* its versions, as mysql_get_client_version has them; to: excluded */
  unsigned short field_name, field_length, field_flags, field_decimals, field_charset, field_type;
  unsigned short bind_size, bind_length, bind_is_null, bind_buffer, bind_error;
  unsigned short bind_buffer_length, bind_type, bind_unsigned;
  unsigned short bind_indicator; /* of arrays; 0: there are none */
  /* mysql_options' numbers; -1: there is none */
  short opt_report_truncation, opt_reconnect, opt_ssl_verify, opt_ssl_key, opt_ssl_cert, opt_ssl_ca;
  short opt_ssl_capath, opt_ssl_cipher, opt_ssl_enforce, opt_ssl_mode, opt_max_packet;
  short opt_restricted_auth, opt_io_wait;
} my_layout;

/* The layout of a library, or NULL of one that is not known. */
const my_layout *my_layout_of(int mariadb, unsigned long version);

extern const my_layout *my_layout_used; /* set by my_library_load; never NULL after it */
extern atomic_int my_layout_state;      /* enum my_layout_fit */
enum my_layout_fit { MY_LAYOUT_UNPROVEN = 0, MY_LAYOUT_FITS, MY_LAYOUT_MISFIT };

/* What a column says of itself, out of the library's own structure. */
typedef struct my_field {
  const char *name;
  unsigned long length;
  unsigned flags, decimals, charset;
  int type;
} my_field;

void my_layout_field(const my_layout *layout, const void *field, my_field *out);

/* One value that is bound. length, is_null and error are written by the library, or read from. */
typedef struct my_bound {
  int type;
  int is_unsigned;
  void *buffer;
  unsigned long buffer_length;
  unsigned long *length;
  char *is_null;
  char *error;
} my_bound;

/* Writes the i-th of an array of MYSQL_BIND, which was zeroed. */
void my_layout_bind(const my_layout *layout, void *binds, size_t i, const my_bound *bound);

/* ---- Values (mysql_value.c, mysql_text.c) ------------------------------------------------------ */

/* How the values of a column are bound and lent. */
typedef enum my_codec {
  MY_NULL = 0, /* nothing but NULL */
  MY_INT,
  MY_UINT,
  MY_FLOAT,
  MY_DOUBLE,
  MY_TEXT,
  MY_BYTES,
  MY_BIT,
  MY_DATE,
  MY_CLOCK,
  MY_DATETIME,
  MY_TIMESTAMP, /* a datetime in UTC */
  MY_GEOMETRY   /* lent as WKB, which stands behind the SRID in the server's form */
} my_codec;

/* What a column is: its codec and the name by which the dialect knows its type. */
typedef struct my_type {
  my_codec codec;
  const char *name;
} my_type;

/* extended: what MariaDB says more of the type ("uuid", "json", …), n bytes; may be empty. */
my_type my_type_of(const my_field *field, const char *extended, size_t n);

/* Room for a date or time as text. */
#define MY_MOMENT_TEXT 48

/* A date or time as the library has it. What is no date of the calendar is lent as text, in the
** server's spelling, written to text. decimals: digits of its fraction. */
void my_moment(my_codec codec, const my_time *time, unsigned decimals, edb_value *value,
               char text[MY_MOMENT_TEXT]);

/* The reverse, for parameters. 0: it cannot be expressed. */
int my_time_of(const edb_time *time, my_time *out);

/* Up to 8 bytes, the most significant first. */
void my_bits(const char *p, size_t n, edb_value *value);

/* A value of the text protocol. EDB_OK, or EDB_FAILED where the bytes are no such value. */
int my_decode_text(my_codec codec, unsigned decimals, const char *p, size_t n, edb_value *value,
                   char text[MY_MOMENT_TEXT]);

/* ---- Waiting and stopping (mysql_wait.c) -------------------------------------------------------- */

typedef struct my_connection my_connection;

enum { MY_STOP_NONE = 0, MY_STOP_INTERRUPTED, MY_STOP_TIMEOUT };

int64_t my_now_ms(void);

/* The wait callback, for the library's option; 0 stops it with an error. */
int my_on_wait(my_socket socket, char for_read, int timeout);

/* The calling thread's waits are from here on for the connection; a call of the contract begins. */
void my_wait_for(my_connection *c);

/* Waits as the library's callback does; 0: give it up. */
int my_wait_ready(my_connection *c, int for_read);

/* Ends the statement that the connection runs, by KILL QUERY on a second connection. 1: it was sent. */
int my_kill(my_connection *c);

/* After a command was stopped: the connection is made fit for the next one. */
void my_after_stop(my_connection *c);

/* For a wait that is not the library's callback: stops the command where the host or the time-out wants it,
** and cuts the connection where that does not help in time. */
void my_stop_if_due(my_connection *c);

/* ---- Calls that may block (mysql_thread.c) ---------------------------------------------------------- */

typedef struct my_job my_job;
struct my_job {
  int (*call)(const my_job *);
  MYSQL *mysql;
  MYSQL_STMT *stmt;
  const char *sql;
  unsigned long n;
};

/* Makes the call by the connection's own thread, and waits for it. Answers what it answered. */
int my_call(my_connection *c, const my_job *job);
void my_thread_end(my_connection *c);

/* mysql_real_query, mysql_stmt_prepare, mysql_stmt_execute: not 0 on failure. */
int my_query(my_connection *c, const char *sql, size_t n);
int my_prepare(my_connection *c, MYSQL_STMT *stmt, const char *sql, size_t n);
int my_execute(my_connection *c, MYSQL_STMT *stmt);

/* Whether something has come from a server that has nothing to say: it has closed the connection. */
int my_readable(my_connection *c);

/* ---- Connections (mysql_connect.c) ------------------------------------------------------------- */

typedef struct my_statement my_statement;

/* The reader: there is one a connection, inside it. */
typedef struct my_rows {
  my_statement *statement;
  MYSQL_RES *result; /* text protocol */
  unsigned char open, done;
  unsigned char owns; /* the statement ends with the reader */
} my_rows;

struct my_connection {
  const edb_host *host;
  MYSQL *mysql;
  edb_error error;
  atomic_int cancelled; /* edb_cancel was called */
  edb_option *options;  /* a copy, for the second connection */
  size_t n_options, option_bytes;
  unsigned long id;       /* the server's thread */
  int64_t connect_end;    /* when connecting has to have ended; 0: never */
  int stop;               /* MY_STOP_…: why the command at work was stopped */
  int64_t wait_end;       /* when the call has to have its answer; 0: it has not waited yet */
  int64_t stop_end;       /* when it has to have ended */
  int64_t asked;          /* when the host was asked last */
  edb_thread *thread;     /* where the library does not call back */
  my_statement *ahead;    /* sent, and not answered yet: nothing else goes; NULL: none */
  int ahead_wait;         /* what its next step waits for; 0: it has its answer */
  int ahead_failed;       /* its result */
  unsigned char hooked;   /* it does */
  unsigned char nonblock; /* the library has been told to keep a stack for non-blocking calls */
  unsigned char connected;
  unsigned char proving; /* the layout is being proven: prepared statements are used all the same */
  unsigned char killed;  /* KILL QUERY was sent: it may hit the next statement */
  unsigned char dead;    /* the connection is gone */
  unsigned char transaction; /* a handle of one is open */
  unsigned char doomed;      /* the server has rolled it back */
  unsigned char committed;   /* a part of it was committed by a statement in it */
  unsigned char prepared;    /* one is prepared: nothing else goes until it is resolved */
  unsigned char snapshots;   /* 1: the session refuses to write to what changed since a snapshot */
  char two_phase[EDB_TWO_PHASE_NAME +
                 1];   /* the name of the XA transaction that is open or prepared, or "" */
  int statements;      /* open */
  uint64_t max_packet; /* the server's; 0: not asked yet */
  edb_buffer sql;      /* text protocol: the rendered statement */
  my_rows rows;
};

extern const edb_option_spec my_options[];

int my_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error);
int my_close(void *connection);
int my_alive(void *connection);

/* The numbers of the protocol: connection options that are read more than once. */
enum my_tls { MY_TLS_DISABLED = 0, MY_TLS_PREFERRED, MY_TLS_REQUIRED, MY_TLS_VERIFIED };

/* How a connection is made, out of its options; the texts are theirs. */
typedef struct my_target {
  const char *host, *user, *password, *database, *socket;
  unsigned port; /* 0: the library's */
  enum my_tls tls;
  int compress;
  int connect_seconds; /* 0: not given */
} my_target;

/* EDB_OK or EDB_FAILED with what is wrong with which option. */
int my_target_of(const edb_option *options, size_t n, my_target *target, edb_error *error);

/* A second connection to where the first one goes, for KILL. NULL: it was not made. */
MYSQL *my_connect_again(my_connection *c);

/* Runs SQL of ours, which gives no rows. */
int my_run(my_connection *c, const char *sql);

/* Proves the layout by a row that is sent and comes back, once a process. EDB_OK, or an error of the
** connection; a misfit is no error but logged (mysql_proof.c). */
int my_prove(my_connection *c);

/* 1 or 0; -1: the library does not tell. */
int my_in_transaction(my_connection *c);

/* ---- Errors (mysql_error.c) --------------------------------------------------------------------- */

edb_code my_code_of(unsigned number, const char *sqlstate);

/* Sets the connection's error: from the connection, or from a statement. Answers the code. */
int my_error(my_connection *c);
int my_stmt_error(my_connection *c, MYSQL_STMT *stmt);
/* From what was said. */
int my_fail(my_connection *c, unsigned number, const char *sqlstate, const char *message);

/* ---- Parameters (mysql_bind.c) ------------------------------------------------------------------ */

/* A parameter's place, which stays where it is while the statement lives. */
typedef struct my_place {
  union {
    int64_t i64;
    uint64_t u64;
    double f64;
    my_time time;
  } fixed;
  char *bytes; /* text and bytes are copied here */
  size_t size;
  const void *lent; /* long values are bound where the caller has them */
  unsigned long length;
  int type; /* what it is bound as; -1: not bound yet */
  char is_unsigned, is_null;
} my_place;

/* EDB_OK, or EDB_INVALID_QUERY where the server would not take a command of so many bytes. */
int my_check_packet(my_connection *c, size_t size);

/* Binds the parameters of a prepared statement: only what is new is told to the library. */
int my_bind(my_statement *s, const edb_parameter *parameters, size_t n);

/* ---- Statements (mysql_statement.c) ------------------------------------------------------------- */

/* A column of the result. */
typedef struct my_cell {
  union {
    float f32;
    my_time time;
    uint64_t bits;
  } fixed;
  char *bytes;
  unsigned long size, length;
  char is_null, error;
  my_codec codec;
  my_field field; /* without its name */
  char moment[MY_MOMENT_TEXT];
} my_cell;

struct my_statement {
  my_connection *connection;
  MYSQL_STMT *stmt; /* NULL: by the text protocol */
  char *sql;
  size_t sql_n;
  unsigned char reads; /* may be stopped half-way */
  size_t n_parameters;
  my_place *places;
  void *parameter_binds;
  unsigned char rebind; /* the library has pointers that are not valid any more */
  size_t n_columns;
  edb_column *columns;
  edb_value *values;
  my_cell *cells;
  void *result_binds;
  unsigned char grown; /* a column's buffer has moved since the library was told */
  char *names;         /* of columns */
};

int my_statement_new(my_connection *c, const char *sql, my_statement **statement);
void my_statement_free(my_statement *s);

/* ---- Many runs at once (mysql_each.c) ----------------------------------------------------------------- */

/* Whether the server takes them, and the library sends them. */
int my_can_bulk(const my_connection *c);
/* Runs a prepared statement for each of the sets of parameters in one command. EDB_OK: what each has changed, as in driver.h; an error; or
** EDB_UNSUPPORTED, where these parameters cannot go so, and nothing was run. */
int my_run_bulk(my_statement *s, const edb_parameter *parameters, size_t n, size_t runs,
                int64_t *affected);

/* ---- The answer later (mysql_ahead.c) ----------------------------------------------------------------- */

/* Whether the library can. */
int my_can_send_ahead(my_connection *c);
/* Sends a prepared statement of which no rows are wanted; after EDB_OK the connection takes nothing but receive, which waits
** for its answer. The parameters may be forgotten meanwhile. */
int my_statement_send(my_statement *s, const edb_parameter *parameters, size_t n);
int my_statement_receive(my_statement *s);

/* Runs it, up to where its first result begins. */
int my_statement_run(my_statement *s, const edb_parameter *parameters, size_t n);

/* Drops what is left of its results. */
int my_statement_finish(my_statement *s);

/* Describes the columns of the result and, where they are not as they were, binds them. result: the
** text protocol's. */
int my_describe(my_statement *s, MYSQL_RES *result);
/* Tells the library where the columns go. */
int my_bind_columns(my_statement *s);

/* ---- SQL by the text protocol (mysql_scan.c, mysql_render.c) -------------------------------------- */

/* How the server reads SQL. */
typedef struct my_lexer {
  int no_backslash;      /* NO_BACKSLASH_ESCAPES */
  int mariadb;           /* which decides what stands in a comment for some versions */
  unsigned long version; /* 101119 is 10.11.19 */
} my_lexer;

/* Finds the next `?` that stands for a parameter at or behind `from`, which is not inside of anything; n where
** there is none, MY_SCAN_SECOND where a second statement begins before it. */
size_t my_scan(const my_lexer *lexer, const char *sql, size_t n, size_t from);
#define MY_SCAN_SECOND SIZE_MAX

/* The first word of the statement, behind comments and parentheses. */
const char *my_first_word(const char *sql);

/* Whether the statement only reads, as far as its words tell. */
int my_only_reads(const char *sql);

/* The SQL with its parameters in it, into connection->sql. */
int my_render(my_statement *s, const edb_parameter *parameters, size_t n);

/* ---- Rows (mysql_rows.c) -------------------------------------------------------------------------- */

int my_rows_start(my_statement *s, const edb_parameter *parameters, size_t n, int owns,
                  void **rows);
int my_rows_columns(void *rows, const edb_column **columns, size_t *n);
int my_rows_next_borrowed(void *rows, const edb_value **values);
int my_rows_close(void *rows);

/* ---- Transactions (mysql.c, mysql_two_phase.c) -------------------------------------------------------- */

/* Whether a command can start, whatever is prepared. */
int my_ready(my_connection *c);

/* The XA transactions, for transactions that began with a name. begin, commit and rollback are the SQL between
** the checks that all transactions have in common. */
int my_two_phase_begin(my_connection *c, const char *name);
int my_two_phase_commit(my_connection *c);
int my_two_phase_rollback(my_connection *c);
int my_two_phase_prepare(void *transaction);
int my_two_phase_resolve(void *connection, const char *name, int commit);

/* ---- How MySQL writes SQL (mysql_catalog.c) -------------------------------------------------------- */

extern const edb_dialect my_dialect;
extern const edb_catalog my_catalog;

#endif
