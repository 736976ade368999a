/*
** drivers/sqlserver.h: what the files of the SQL Server driver share. Nothing else includes it.
*/
#ifndef EDB_SQLSERVER_H
#define EDB_SQLSERVER_H

#include <stdatomic.h>

#include "../tds/tds.h"
#include "../tls/tls.h"
#include "driverInt.h"
#include "net.h"

/* ---- Options (sqlserver_options.c) ---------------------------------------------------------------- */

#define MS_NAME 256 /* bytes of a host's name */
#define MS_PINS 8   /* keys that pin= may name */
#define MS_PORT 1433
#define MS_BROWSER_PORT 1434

/* Where to connect and how. The strings are the options' own, but host. */
typedef struct ms_target {
  char host[MS_NAME]; /* without \instance */
  char instance[64];  /* "": the port is known */
  unsigned port, browser_port;
  const char *user, *password, *database, *app;
  const char *server_name; /* the certificate's; NULL: the host */
  const char *ca;          /* file or folder of roots; NULL: the system's */
  int strict;              /* TDS 8.0; 0: TDS 7.4 with encryption all the same */
  int read_only;
  unsigned packet_size;
  int connect_seconds; /* 0: as the host's time-out says */
  size_t n_pins;
  uint8_t pins[MS_PINS][TLS_SPKI_HASH];
  const ecr_aead *ciphers[ECR_CIPHERS]; /* NULL: the choice of tls/ */
} ms_target;

extern const edb_option_spec ms_options[];

int ms_target_of(const edb_option *options, size_t n, ms_target *target, edb_error *error);

/* ---- TLS sessions of the process (sqlserver_session.c) ------------------------------------------------ */

#define MS_SESSION_KEY 32

/* What a session of this server is kept under. peer: "host:port"; name: what the certificate must say. */
void ms_session_key(const ms_target *target, const char *peer, const char *name,
                    uint8_t key[MS_SESSION_KEY]);

/* Takes out what is kept: 1, or 0 where there is none. */
int ms_session_take(const uint8_t key[MS_SESSION_KEY], tls_session *session);
void ms_session_keep(const uint8_t key[MS_SESSION_KEY], const tls_session *session);

/* ---- The link: bytes to and from the server (sqlserver_link.c) --------------------------------------- */

/* What is received at once, and the rest of a record before it. */
#define MS_LINK_IN (128u << 10)
#define MS_LINK_OUT (TLS_PLAIN_MAX + 2u * TLS_OVERHEAD)

typedef struct ms_link {
  edb_net net;
  const edb_host *host;
  atomic_int cancelled; /* edb_cancel was called */
  int draining;         /* nobody is asked whether to stop */
  int64_t end; /* of edb_net_now_ms, for all waits; 0: each is as long as the host's time-out */
  int64_t asked;
  tls_client *tls;
  uint8_t *work, *in, *out; /* TLS_WORK, MS_LINK_IN, MS_LINK_OUT bytes */
  size_t from, have;        /* of in: received and not yet taken */
  unsigned char secure;     /* records go both ways */
  unsigned char wrapped;    /* 7.4: the handshake travels in PRELOGIN packets */
  unsigned char broken;     /* nothing more can be sent or received */
  unsigned char offered;    /* a session was, and the handshake is not over */
  unsigned char anew;       /* none is to be offered */
  uint8_t session_key[MS_SESSION_KEY];
  tds_packets unwrapping;
} ms_link;

/* Whether someone wants to stop; context: the link. */
int ms_link_asks(void *context);

/* Connects, in the clear. What fails is closed. */
int ms_link_open(ms_link *l, const char *host, unsigned port, edb_error *error);

/* TLS: as it is, or for a target of 7.4 inside PRELOGIN packets. name: what the certificate must say. Where it fails
** and offered is set, the server may have stumbled over the session: a link without one may do. */
int ms_link_secure(ms_link *l, const ms_target *target, const char *name, edb_error *error);

/* Sends one packet, as one record. EDB_INTERRUPTED: someone wants to stop; the packet is sent all the same. */
int ms_link_send(ms_link *l, const uint8_t *p, size_t n, edb_error *error);

/* What comes next of the server's bytes, decrypted, lent until the next call. EDB_DONE, only where wait is not
** set: nothing more is there yet. EDB_INTERRUPTED: nothing is lost, it may be called again. */
int ms_link_receive(ms_link *l, int wait, const uint8_t **p, size_t *n, edb_error *error);

/* Keeps what the server gave for the next link to resume, if it gave something. */
void ms_link_keep_session(ms_link *l);

/* Says farewell if that is possible without waiting, and closes. */
void ms_link_close(ms_link *l);

/* ---- Connections (sqlserver_connect.c, _login.c, _browser.c) --------------------------------------------- */

/* What has become of a request. */
typedef struct ms_reply {
  unsigned char open;      /* its end has not come yet */
  unsigned char columns;   /* a result set was described */
  unsigned char failed;    /* the connection's error is this request's */
  unsigned char counted;   /* affected is known */
  unsigned char procedure; /* a procedure ran that counts as it likes */
  unsigned char attention; /* the server has acknowledged one */
  unsigned char handle_came;
  int64_t affected;
  int64_t last;   /* of the last statement alone, behind what its triggers count */
  int32_t handle; /* of sp_prepexec */
} ms_reply;

typedef struct ms_statement ms_statement;

/* The reader: there is one a connection, inside it. */
typedef struct ms_rows {
  ms_statement *statement; /* NULL: of no statement */
  size_t n;
  edb_column *columns;
  size_t columns_size;
  edb_buffer names;
  edb_buffer described; /* what the columns were described from, as bytes */
  unsigned char open, done;
} ms_rows;

typedef struct ms_connection {
  const edb_host *host;
  void *block; /* what the host gave, in which this stands aligned */
  edb_error error;
  ms_link link;
  tds_stream stream;
  ms_reply reply;
  ms_rows rows;
  tls_client tls;
  uint8_t *request; /* packets of a request */
  size_t request_size;
  unsigned packet_size;
  uint64_t descriptor;       /* of the transaction at the server; 0: none */
  unsigned char snapshot;    /* 1: that is one of snapshot isolation, in which the session stays */
  unsigned char transaction; /* a handle of one is open */
  unsigned char lost;        /* and the server has ended or doomed it */
  unsigned char ending;      /* commit or rollback was sent */
  unsigned char told;        /* bit i: DONE tokens of kind i have told of the transaction */
  unsigned char loading;     /* INSERT BULK was taken, and its rows are due */
  unsigned char logged_in;
  unsigned char acknowledged; /* LOGINACK came */
  unsigned char hops;
  uint32_t tds_version; /* the server's */
  unsigned route_port;
  char route[MS_NAME];  /* "": no routing */
  int statements;       /* open */
  unsigned session;     /* counts its resets, which handles do not outlive */
  edb_buffer unprepare; /* handles of closed statements, as SQL */
  /* Of the request that is made: */
  tds_parameter *parameters;
  size_t parameters_size;
  edb_buffer sql;
} ms_connection;

int ms_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error);
int ms_close(void *connection);

/* Makes the session as the rest wants it, and before, where it is not new, as it was after the login. */
int ms_setup(ms_connection *c, int reset);

/* Asks the host's browser service for the port of the target's instance (sqlserver_browser.c). */
int ms_browse(ms_link *l, const ms_target *target, unsigned *port, edb_error *error);

/* PRELOGIN, the encryption it leads to and LOGIN7, on a link that was opened to host. EDB_OK with c->route
** set: the server sends us elsewhere. */
int ms_login(ms_connection *c, const ms_target *target, const char *host, unsigned port,
             edb_error *error);

/* Whether the session still stands. */
static inline int ms_dead(const ms_connection *c) { return c->link.broken; }

/* ---- Requests (sqlserver_request.c) -------------------------------------------------------------------- */

typedef enum ms_kind {
  MS_BATCH,
  MS_EXECUTE_SQL,
  MS_PREPARE_EXECUTE,
  MS_EXECUTE,
  MS_BEGIN,
  MS_COMMIT,
  MS_ROLLBACK
} ms_kind;

typedef struct ms_request {
  ms_kind kind;
  const char *sql;
  size_t n;
  const tds_parameter *parameters;
  size_t count;
  int32_t handle;
  unsigned char reset; /* the session first (RESETCONNECTION) */
} ms_request;

/* Sends it. The reply is then to be read to its end. */
int ms_send(ms_connection *c, const ms_request *request);

/* Room for at least size bytes of packets; what there are stay. And the room that only a long request took, given
** back. */
int ms_request_room(ms_connection *c, size_t size, edb_error *error);
void ms_request_shrink(ms_connection *c);

/* Sends the packets that a message has ready; c->reply is open. EDB_INTERRUPTED: the message was broken off. */
int ms_send_message(ms_connection *c, tds_message *m);

/* Breaks off a message of which packets were sent; the server has forgotten it, or the connection is broken. */
void ms_break_off(ms_connection *c, tds_message *m);

/* Sends it and reads its reply to the end; rows are dropped. */
int ms_run(ms_connection *c, const ms_request *request);
int ms_run_batch(ms_connection *c, const char *sql);

/* ---- Replies (sqlserver_reply.c) ------------------------------------------------------------------------- */

/* The next row: EDB_ROW, its values are the stream's. EDB_OK: columns came, reply.columns counts them. EDB_DONE: the
** reply has ended well. Else it has ended with this error, or was stopped. */
int ms_next(ms_connection *c);

/* Reads on to the end, dropping rows. */
int ms_finish(ms_connection *c);

/* As ms_finish, but only what is there already; EDB_BUSY where that was not all. */
int ms_finish_quickly(ms_connection *c);

/* What a request that ended so ends with: one that has left open a transaction of its own fails, and the connection is
** given up, so that the server rolls back. */
int ms_ended(ms_connection *c, int rc);

/* Asks the server to stop, and reads what is left. The connection's error stays as it is. */
void ms_stop(ms_connection *c);

/* ---- Errors (sqlserver_error.c) ---------------------------------------------------------------------------- */

enum { MS_NO_HANDLE = 8179, MS_DOOMED = 3930 };

edb_code ms_code_of(int32_t number, unsigned severity, int logged_in);

/* Sets the connection's error from the token, unless the reply has one already. */
void ms_take_error(ms_connection *c);

/* Hands an INFO token on to the host. */
void ms_take_info(ms_connection *c);

/* A token's text as one line. */
void ms_line(char *out, size_t size, tds_utf16 text);

/* The stream has refused what the server sent: the connection is given up. */
int ms_refused(ms_connection *c);

int ms_nomem(ms_connection *c);

/* ---- Statements (sqlserver_statement.c) --------------------------------------------------------------------- */

struct ms_statement {
  ms_connection *connection;
  char *sql;
  size_t n, placeholders;
  int32_t handle;           /* 0: none */
  unsigned session;         /* c->session, when it was prepared */
  unsigned char ran;        /* it was run before: the next time it is prepared */
  unsigned char preparing;  /* its reply tells the handle */
  unsigned char unprepared; /* the handle would be lost: it is not prepared again */
  tds_type_info
      *declared; /* of the parameters when it was run last; type 0: NULL stood in the SQL */
};

int ms_statement_new(ms_connection *c, const char *sql, ms_statement **statement);
void ms_statement_free(ms_statement *s);

/* Sends the statement and reads up to its first columns or its end: EDB_OK or an error. */
int ms_statement_start(ms_statement *s, const edb_parameter *parameters, size_t n);

/* The same of SQL that is run once. */
int ms_start(ms_connection *c, const char *sql, const edb_parameter *parameters, size_t n);

/* Takes over what the reply told of the statement's handle. */
void ms_statement_ended(ms_statement *s);

/* ---- Rows (sqlserver_rows.c) ----------------------------------------------------------------------------------- */

int ms_rows_start(ms_connection *c, ms_statement *s, void **rows);
int ms_rows_columns(void *rows, const edb_column **columns, size_t *n);
int ms_rows_next_borrowed(void *rows, const edb_value **values);
int ms_rows_close(void *rows);
void ms_rows_free(ms_connection *c);

/* ---- Loads (sqlserver_load.c) ------------------------------------------------------------------------------------ */

int ms_load_begin(ms_connection *c, const edb_load_spec *spec, void **load);
int ms_load_row(void *load, const edb_value *values);
int ms_load_end(void *load);
int ms_load_abort(void *load);

/* ---- How SQL Server writes SQL (sqlserver_catalog.c) -------------------------------------------------------------- */

extern const edb_dialect ms_dialect;
extern const edb_catalog ms_catalog;

#endif
