/*
** drivers/postgresql.h: what the files of the PostgreSQL driver share. Nothing else includes it.
*/
#ifndef EDB_POSTGRESQL_H
#define EDB_POSTGRESQL_H

#include <stdatomic.h>

#include "driverInt.h"

/* ---- libpq (postgresql_library.c) ----------------------------------------------------------- */

/* libpq's own types and numbers: its header is not needed to build edb. They are its ABI. */
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;
typedef struct pg_cancel_conn PGcancelConn;
typedef void (*PQnoticeReceiver)(void *context, const PGresult *result);

enum { CONNECTION_OK = 0, CONNECTION_BAD = 1 };
enum { PGRES_POLLING_FAILED = 0, PGRES_POLLING_READING, PGRES_POLLING_WRITING, PGRES_POLLING_OK };
enum { PQTRANS_IDLE = 0, PQTRANS_ACTIVE, PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_UNKNOWN };
enum {
  PGRES_EMPTY_QUERY = 0,
  PGRES_COMMAND_OK = 1,
  PGRES_TUPLES_OK = 2,
  PGRES_COPY_OUT = 3,
  PGRES_COPY_IN = 4,
  PGRES_COPY_BOTH = 8,
  PGRES_SINGLE_TUPLE = 9,
  PGRES_PIPELINE_SYNC = 10,
  PGRES_PIPELINE_ABORTED = 11,
  PGRES_TUPLES_CHUNK = 12
};
enum {
  PG_DIAG_SEVERITY = 'S',
  PG_DIAG_SEVERITY_NONLOCALIZED = 'V',
  PG_DIAG_SQLSTATE = 'C',
  PG_DIAG_MESSAGE_PRIMARY = 'M',
  PG_DIAG_MESSAGE_DETAIL = 'D',
  PG_DIAG_MESSAGE_HINT = 'H',
  PG_DIAG_CONTEXT = 'W'
};

/* Its functions, each named as in libpq without the PQ. */
typedef struct pg_library {
  int (*libVersion)(void);
  PGconn *(*connectStartParams)(const char *const *, const char *const *, int);
  int (*connectPoll)(PGconn *);
  int (*status)(const PGconn *);
  int (*transactionStatus)(const PGconn *);
  char *(*errorMessage)(const PGconn *);
  int (*socket)(const PGconn *);
  int (*setnonblocking)(PGconn *, int);
  PQnoticeReceiver (*setNoticeReceiver)(PGconn *, PQnoticeReceiver, void *);
  void (*finish)(PGconn *);
  int (*sendQuery)(PGconn *, const char *);
  int (*sendQueryParams)(PGconn *, const char *, int, const unsigned *, const char *const *,
                         const int *, const int *, int);
  int (*sendPrepare)(PGconn *, const char *, const char *, int, const unsigned *);
  int (*sendDescribePrepared)(PGconn *, const char *);
  int (*sendQueryPrepared)(PGconn *, const char *, int, const char *const *, const int *,
                           const int *, int);
  int (*setSingleRowMode)(PGconn *);
  int (*flush)(PGconn *);
  int (*consumeInput)(PGconn *);
  int (*isBusy)(PGconn *);
  PGresult *(*getResult)(PGconn *);
  int (*getCopyData)(PGconn *, char **, int);
  int (*putCopyData)(PGconn *, const char *, int);
  int (*putCopyEnd)(PGconn *, const char *);
  void *(*notifies)(PGconn *);
  void (*freemem)(void *);
  void (*clear)(PGresult *);
  int (*resultStatus)(const PGresult *);
  char *(*resultErrorMessage)(const PGresult *);
  char *(*resultErrorField)(const PGresult *, int);
  char *(*cmdStatus)(PGresult *);
  char *(*cmdTuples)(PGresult *);
  int (*ntuples)(const PGresult *);
  int (*nfields)(const PGresult *);
  char *(*fname)(const PGresult *, int);
  unsigned (*ftype)(const PGresult *, int);
  int (*fmod)(const PGresult *, int);
  char *(*getvalue)(const PGresult *, int, int);
  int (*getlength)(const PGresult *, int, int);
  int (*getisnull)(const PGresult *, int, int);
  int (*nparams)(const PGresult *);
  unsigned (*paramtype)(const PGresult *, int);
  PGcancel *(*getCancel)(PGconn *);
  void (*freeCancel)(PGcancel *);
  int (*cancel)(PGcancel *, char *, int);
  /* Not in every version: */
  int (*setChunkedRowsMode)(PGconn *, int); /* 17 */
  PGcancelConn *(*cancelCreate)(PGconn *);  /* 17, and those below */
  int (*cancelStart)(PGcancelConn *);
  int (*cancelPoll)(PGcancelConn *);
  int (*cancelSocket)(const PGcancelConn *);
  void (*cancelFinish)(PGcancelConn *);
  int (*enterPipelineMode)(PGconn *); /* 14, and those below */
  int (*exitPipelineMode)(PGconn *);
  int (*pipelineSync)(PGconn *);
} pg_library;

extern pg_library pq; /* filled by pg_library_load */

int pg_library_load(edb_error *error);
const char *pg_library_name(void); /* "libpq 15.18", "" before it was loaded */

/* ---- Values (postgresql_value.c, postgresql_text.c) ------------------------------------------ */

/* How the values of a type are written. PG_OTHER is read and written in text format alone. */
typedef enum pg_codec {
  PG_OTHER = 0,
  PG_INT8,
  PG_FLOAT8,
  PG_TEXT, /* its binary form is its text */
  PG_INT4,
  PG_INT2,
  PG_BOOL,
  PG_OID,
  PG_FLOAT4,
  PG_NUMERIC,
  PG_BYTEA,
  PG_DATE,
  PG_TIME,
  PG_TIMETZ,
  PG_TIMESTAMP,
  PG_TIMESTAMPTZ,
  PG_UUID,
  PG_JSONB,
  PG_CHAR, /* "char": one byte */
  PG_MONEY,
  PG_BIT
} pg_codec;

/* A type that needs no look-up in the catalog. */
typedef struct pg_type {
  unsigned oid;
  const char *typname; /* as pg_type and the dialect call it */
  const char *name;    /* as a person writes it */
  pg_codec codec;
} pg_type;

const pg_type *pg_type_of(unsigned oid); /* NULL: not one of them */

/* Where values that are rendered live until the next row. It grows, moving the values that point into it. */
typedef struct pg_scratch {
  const edb_host *host;
  char *p;
  size_t used, size;
  edb_value *values; /* of the row being decoded */
  size_t count;
  int money_digits;
} pg_scratch;

/* Decodes n bytes at p, which stay with the caller and may be lent by the value. EDB_OK; EDB_FAILED where
** the bytes are not such a value; EDB_NOMEM. */
int pg_decode(pg_codec codec, const char *p, size_t n, edb_value *value, pg_scratch *scratch);
int pg_decode_text(pg_codec codec, const char *p, size_t n, edb_value *value, pg_scratch *scratch);

char *pg_scratch_room(pg_scratch *scratch, size_t n); /* NULL: out of memory */

/* Days since 1970-01-01 of a date of the proleptic Gregorian calendar, whose year 0 is 1 BC. */
int64_t pg_days_of(int64_t year, unsigned month, unsigned day);

/* The values of one row in the server's spelling under ISO, UTC: n bytes at out, at most PG_MOMENT_TEXT.
** micros: of the day, negative for a date alone. */
#define PG_MOMENT_TEXT 48
size_t pg_moment_text(int64_t days, int64_t micros, int zoned, char out[PG_MOMENT_TEXT]);

static inline uint16_t pg_get16(const char *p) {
  const unsigned char *u = (const unsigned char *)p;
  return (uint16_t)(u[0] << 8 | u[1]);
}

static inline uint32_t pg_get32(const char *p) {
  const unsigned char *u = (const unsigned char *)p;
  return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static inline uint64_t pg_get64(const char *p) {
  return (uint64_t)pg_get32(p) << 32 | pg_get32(p + 4);
}

/* ---- Connections (postgresql_connect.c) ------------------------------------------------------ */

typedef enum pg_fetch {
  PG_FETCH_AUTO = 0,
  PG_FETCH_SINGLE,
  PG_FETCH_CHUNKED,
  PG_FETCH_COPY
} pg_fetch;

/* What the dialect's types are called by, of an alias of pg_type. */
#define PG_TYPE_NAME(t)                                                                            \
  "CASE WHEN " t ".typtype = 'c' THEN 'composite' WHEN " t ".typcategory = 'A' AND " t             \
  ".typlen = -1 AND " t ".typelem <> 0 THEN 'array' ELSE " t ".typname END"

/* What the catalog said of a type that pg_type_of does not know. */
typedef struct pg_looked_up {
  unsigned oid;
  int typmod;
  unsigned base;  /* of a domain, else the oid */
  pg_codec codec; /* PG_TEXT for enums and their like, else PG_OTHER */
  const edb_type *type;
  char *name;
} pg_looked_up;

typedef struct pg_statement pg_statement;

/* The reader: there is one a connection, inside it. */
typedef struct pg_rows {
  pg_statement *statement;
  pg_scratch scratch;
  PGresult *result; /* the rows that are read */
  int row, rows;    /* in it */
  char *copy;       /* a message of COPY, from libpq */
  const char *at, *end;
  unsigned char open, done;
  unsigned char copying, headed; /* COPY; its header was read */
  unsigned char owns;            /* the statement ends with the reader */
  unsigned char transaction;     /* in one: stopping would doom it */
  unsigned char savepoint;       /* but for a savepoint */
  unsigned char pipelined;       /* they come in a pipeline, behind what was set down */
} pg_rows;

/* A SAVEPOINT or RELEASE that is prepared at the server. */
typedef struct pg_savepoint {
  char sql[48]; /* "": the place is free */
  char name[24];
  unsigned char fresh; /* 1: it has been sent, and not answered */
} pg_savepoint;

typedef struct pg_connection {
  const edb_host *host;
  PGconn *pq;
  PGcancel *cancel; /* where libpq has no PQcancelCreate */
  edb_error error;
  atomic_int cancelled; /* edb_cancel was called */
  pg_fetch fetch;
  unsigned char dead;        /* the connection is gone */
  unsigned char transaction; /* a handle of one is open */
  unsigned char
      prepares; /* the server has room for prepared transactions; 0: it was not asked yet */
  char two_phase[EDB_TWO_PHASE_NAME + 1]; /* what the transaction is to be prepared as, or "" */
  unsigned char copy_works, copy_refused;
  unsigned char pipeline; /* results end at PGRES_PIPELINE_SYNC */
  int statements;         /* open */
  unsigned unnamed;       /* counts what replaced the unnamed statement at the server */
  int money_digits;
  unsigned long serial; /* of the last statement's name */
  edb_buffer closed;    /* DEALLOCATE of closed statements, not sent yet */
  edb_buffer deferred;  /* SAVEPOINT and RELEASE, likewise, each with a semicolon */
  pg_savepoint savepoints[4];
  unsigned next_savepoint; /* which of them makes room */
  edb_buffer parameters;
  pg_looked_up *types;
  size_t n_types;
  pg_rows rows;
  const char *loading;   /* the table that COPY fills; NULL: no load is open */
  int64_t copied_before; /* rows of the load before the COPY that runs */
} pg_connection;

extern const edb_option_spec pg_options[];

int pg_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error);
int pg_close(void *connection);
int pg_alive(void *connection);

/* ---- Waiting, results, stopping (postgresql_wait.c) -------------------------------------------- */

#define PG_SLICE_MS 100

/* One wait for an answer: when it ends, and whom it asks. */
typedef struct pg_waiting {
  const edb_host *host;
  atomic_int *cancelled; /* NULL: it is not asked */
  int ask;               /* whether the host is */
  int64_t end;           /* in pg_now_ms; 0: never */
  int64_t asked;
} pg_waiting;

enum { PG_WAIT_READY, PG_WAIT_AGAIN, PG_WAIT_TIMEOUT, PG_WAIT_INTERRUPTED };

int64_t pg_now_ms(void);

/* Waits for a socket, ms at most. AGAIN: nothing came, and nobody wants to stop. */
int pg_wait_slice(pg_waiting *w, int handle, int for_write, int ms);

/* LISTEN's messages are nobody's: they must not pile up. */
void pg_drop_notifications(pg_connection *c);

/* Waits until libpq can answer the next result without blocking. EDB_OK, EDB_CLOSED, or EDB_INTERRUPTED
** after the command was stopped; the connection's error is set. */
int pg_wait(pg_connection *c);

/* After a PQsend… that answered `sent`: sends all. Same answers. */
int pg_sent(pg_connection *c, int sent);

/* Takes all results of a command until its end. Keeps the first error and, where result is not NULL, the last
** result without error, which the caller clears. Rows are dropped one by one where row mode is on. */
int pg_finish(pg_connection *c, PGresult **result);

/* Runs SQL of ours by the simple protocol. */
int pg_run(pg_connection *c, const char *sql, PGresult **result);

/* Asks the server to stop the command and takes what is left of it. EDB_OK, or EDB_CLOSED where it does not
** end in time. Leaves the connection's error alone unless the connection is gone. */
int pg_stop(pg_connection *c);

/* Takes what is left of a command without stopping it: its first error, or EDB_OK. */
int pg_drain(pg_connection *c);

/* Waits until something has come from the server and was read (COPY). Answers as pg_wait. */
int pg_wait_input(pg_connection *c);

/* Of a COPY to the server. copied: after a PQputCopyData that answered `put`, sends all. Both set *spoken where the
** server has said something, and answer EDB_INTERRUPTED where someone wants to stop. After an error of either the COPY
** has ended. */
int pg_heard(pg_connection *c, unsigned char *spoken);
int pg_copied(pg_connection *c, int put, unsigned char *spoken);

/* ---- Errors (postgresql_error.c) ---------------------------------------------------------------- */

/* Sets the connection's error: from a result, or from the connection when it is gone. Answers the code. */
int pg_result_error(pg_connection *c, const PGresult *result);
int pg_lost(pg_connection *c);
edb_code pg_code_of(const char *sqlstate);
size_t pg_trimmed(const char *text); /* its length without the newlines at its end */

/* A notice receiver whose context is the connection. */
void pg_notice(void *context, const PGresult *result);

/* ---- Parameters (postgresql_encode.c) --------------------------------------------------------- */

typedef struct pg_parameter_type {
  pg_codec codec;
  const char *name;
} pg_parameter_type;

struct pg_statement {
  pg_connection *connection;
  char name[24]; /* "" for the unnamed one */
  char *sql;
  double expected;
  unsigned char reads;  /* SELECT and its like: may be stopped half-way and run by COPY */
  unsigned char text;   /* results in text format */
  unsigned char copied; /* it has been run by COPY before */
  unsigned char bulky;  /* has a column whose values tend to be long */
  unsigned unnamed;     /* the connection's count when it was prepared */
  int n_columns, n_parameters;
  edb_column *columns;
  pg_codec *codecs;
  edb_value *values;
  pg_parameter_type *parameters;
  unsigned *oids; /* of the parameters */
  const char **parameter_values;
  int *lengths, *formats;
  size_t *offsets;            /* of values in the connection's buffer */
  char *names;                /* of columns and types */
  const edb_load_spec *loads; /* of a load: its parameters are those columns */
};

/* Whether values of the type may go in binary. */
int pg_has_binary(pg_codec codec);

/* Encodes into statement->parameter_values, lengths and formats, valid until the next call. EDB_OK,
** EDB_INVALID_QUERY, EDB_UNSUPPORTED or EDB_NOMEM. */
int pg_encode(pg_statement *s, const edb_parameter *parameters, size_t n);

/* A value that pg_encode has taken, as parameter i, not NULL: appends its text to the connection's `parameters`. Same
** answers. */
int pg_encode_text(pg_statement *s, size_t i, const edb_value *value);

/* ---- Statements (postgresql_statement.c) ------------------------------------------------------ */

/* Prepares and describes. One that is not named is for one use, before any other command. */
int pg_statement_new(pg_connection *c, const char *sql, double expected, int named,
                     pg_statement **statement);
void pg_statement_free(pg_statement *s);
/* One that the server has under that name is not needed any more; "": it has none. */
void pg_deallocate_later(pg_connection *c, const char *name);
/* Sends the statement with the parameters that pg_encode has left in it. */
int pg_statement_send(pg_statement *s);
/* Takes the results of what was sent, dropping rows, and counts. */
int64_t pg_tag_count(PGresult *result);
int pg_affected(pg_connection *c, int64_t *affected);

/* ---- Savepoints (postgresql_savepoint.c) ------------------------------------------------------- */

/* 1: the statement is a savepoint's and was set down, to travel with the next command. */
int pg_defer(pg_connection *c, const char *sql);
/* Sends what was set down; or forgets it, since the transaction ends. */
int pg_send_deferred(pg_connection *c);
void pg_drop_deferred(pg_connection *c);
/* Runs a prepared statement without columns, whose parameters are encoded, behind what was set down. Needs
** pipelines. */
int pg_run_with_deferred(pg_statement *s, int64_t *affected);
/* In a pipeline that was entered: sends what was set down, *count commands; 0: libpq failed. And what came of the pipeline. */
int pg_pipeline_deferred(pg_connection *c, size_t *count);
void pg_settle_deferred(pg_connection *c, int rc);
/* Sends a prepared statement, whose parameters are encoded, behind what was set down, and answers when its own results are
** next. They end with those of the pipeline, which the caller leaves then. Needs pipelines. */
int pg_query_with_deferred(pg_statement *s);
/* All of its results were taken, with that outcome. It is the answer, unless the connection is lost. */
int pg_leave_pipeline(pg_connection *c, int rc);

/* ---- Many runs at once (postgresql_each.c) ------------------------------------------------------- */

int pg_run_each(pg_statement *s, const edb_parameter *parameters, size_t n, size_t runs,
                int64_t *affected, size_t *done);

/* ---- Rows (postgresql_rows.c) ----------------------------------------------------------------- */

int pg_rows_start(pg_statement *s, const edb_parameter *parameters, size_t n, int owns,
                  void **rows);
int pg_rows_columns(void *rows, const edb_column **columns, size_t *n);
int pg_rows_next_borrowed(void *rows, const edb_value **values);
int pg_rows_close(void *rows);

/* ---- Loads (postgresql_load.c) ------------------------------------------------------------------ */

int pg_load_begin(pg_connection *c, const edb_load_spec *spec, void **load);
int pg_load_row(void *load, const edb_value *values);
int pg_load_end(void *load);
int pg_load_abort(void *load);

/* ---- Transactions (postgresql.c, postgresql_two_phase.c) ---------------------------------------- */

/* Whether a command can start. */
int pg_ready(pg_connection *c);

/* Ends the transaction by sql, which the server answers with the tag unless it rolls back (NULL: it shall). */
int pg_end(pg_connection *c, const char *sql, const char *tag);

/* Whether one can be prepared under the name here, which is then kept. */
int pg_two_phase_begin(pg_connection *c, const char *name);
int pg_two_phase_prepare(void *transaction);
int pg_two_phase_resolve(void *connection, const char *name, int commit);

/* ---- How PostgreSQL writes SQL (postgresql_catalog.c) ------------------------------------------ */

extern const edb_dialect pg_dialect;
extern const edb_catalog pg_catalog;

#endif
