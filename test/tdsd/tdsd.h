/*
** tdsd: a server that speaks TDS 7.4 and 8.0, for tests.  SQLite is its engine, OpenSSL its TLS.
**
** It shares nothing with the client that it tests: everything here is written from [MS-TDS] and from
** what other people's clients ask.  README.md has the tour and what it does not do.
**
** One block below for each .c file, in the order in which they rest on each other.
*/
#ifndef TDSD_H
#define TDSD_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Server Server;
typedef struct Conn Conn;

/* buf.c: bytes ------------------------------------------------------------------------------------
** A Buf grows as needed and ends the program when memory does.  Integers are little-endian but where
** the name says _be.  p is never NULL once something was added. */
typedef struct {
  uint8_t *p;
  size_t n, room;
} Buf;

uint8_t *buf_more(Buf *b, size_t n); /* n bytes to be filled in by the caller */
void buf_add(Buf *b, const void *p, size_t n);
void buf_insert(Buf *b, size_t at, const char *text);
void buf_cut(Buf *b, size_t n); /* drops the first n bytes */
void buf_u8(Buf *b, unsigned v);
void buf_int(Buf *b, uint64_t v, int bytes);
void buf_u16(Buf *b, unsigned v);
void buf_u32(Buf *b, uint32_t v);
void buf_u64(Buf *b, uint64_t v);
void buf_u16_be(Buf *b, unsigned v);
void buf_text(Buf *b, const char *text); /* without its NUL */
void buf_printf(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *buf_string(Buf *b); /* NUL-terminated, still b's */
void buf_free(Buf *b);
void put_u16(uint8_t *p, unsigned v);
void put_u32(uint8_t *p, uint32_t v);

/* UTF-16LE and UTF-8; a lone surrogate is kept as three bytes. */
void utf8_to_utf16(Buf *out, const char *text, size_t n);
void utf16_to_utf8(Buf *out, const uint8_t *p, size_t bytes);
void buf_b_varchar(Buf *b, const char *text);  /* u8 count of UTF-16 units, then those */
void buf_us_varchar(Buf *b, const char *text); /* u16 count */

/* A sticky reader: after a read past the end, bad stays set and zeros are answered. */
typedef struct {
  const uint8_t *p;
  size_t n, i;
  bool bad;
} Rd;

const uint8_t *rd_bytes(Rd *r, size_t n);
uint64_t rd_int(Rd *r, int bytes);
unsigned rd_u8(Rd *r);
unsigned rd_u16(Rd *r);
uint32_t rd_u32(Rd *r);
uint64_t rd_u64(Rd *r);
/* count UTF-16 units as UTF-8 with a NUL; the caller frees. */
char *rd_text(Rd *r, size_t count);

void *xmalloc(size_t n); /* zeroed */
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t n);

/* collation.c ------------------------------------------------------------------------------------
** A collation as TYPE_INFO carries it, and the code page of its varchar. */
typedef struct Collation {
  char name[96];
  uint32_t bits; /* LCID, flags and version */
  uint8_t sort;
  uint16_t codepage; /* 65001 = UTF-8 */
  bool ignore_case, ignore_accent, binary;
  struct Collation *next;
} Collation;

const Collation *collation_find(const char *name); /* NULL: there is none */
const Collation *collation_default(void);
uint16_t collation_codepage(uint32_t bits, unsigned sort); /* 0: not a legal collation */
bool collation_encode(unsigned codepage, const char *text, size_t n, Buf *out);
bool collation_decode(unsigned codepage, const uint8_t *p, size_t n, Buf *out);

/* type.c ----------------------------------------------------------------------------------------*/
typedef enum {
  K_NONE,
  K_BIT,
  K_TINYINT,
  K_SMALLINT,
  K_INT,
  K_BIGINT,
  K_REAL,
  K_FLOAT,
  K_DECIMAL,
  K_NUMERIC,
  K_MONEY,
  K_SMALLMONEY,
  K_DATE,
  K_TIME,
  K_SMALLDATETIME,
  K_DATETIME,
  K_DATETIME2,
  K_DATETIMEOFFSET,
  K_CHAR,
  K_VARCHAR,
  K_NCHAR,
  K_NVARCHAR,
  K_TEXT,
  K_NTEXT,
  K_BINARY,
  K_VARBINARY,
  K_IMAGE,
  K_GUID,
  K_VARIANT,
  K_XML,
  K_JSON,
  K_VECTOR,
  K_UDT, /* hierarchyid, geography, geometry: length says which */
  K_ROWVERSION,
  K_COUNT
} Kind;

typedef struct {
  Kind kind;
  int length;                 /* characters or bytes; -1 = max */
  int precision;              /* of decimal and numeric */
  int scale;                  /* of those and of times */
  const Collation *collation; /* of char, varchar and the like; NULL = the default */
} Type;

enum { UDT_HIERARCHYID, UDT_GEOGRAPHY, UDT_GEOMETRY };

typedef enum { C_INT, C_REAL, C_DECIMAL, C_TIME, C_TEXT, C_BYTES, C_GUID, C_OTHER } Class;

Type type_make(Kind kind, int length, int precision, int scale);
Class type_class(const Type *t);
bool type_is_unicode(Kind kind);
bool type_is_codepage(Kind kind);
/* One of `name`, `name(n)`, `name(p,s)`, `name(max)`; false: no such type. */
bool type_parse(const char *text, Type *t);
/* What SQL Server calls it, with its length: `decimal(38,10)`. */
void type_print(const Type *t, char *out, size_t room);
const char *type_name(const Type *t); /* without length */
int type_system_id(const Type *t);    /* sys.types.system_type_id */
int type_max_length(const Type *t);   /* sys.columns.max_length */
int type_precision(const Type *t);
int type_scale(const Type *t);
bool type_is_plp(const Type *t);
/* The type of `a OP b` by SQL Server's precedence. */
Type type_combine(const Type *a, const Type *b);
/* TYPE_INFO; nullable chooses between INTN and INT4 and the like. */
void type_write(Buf *out, const Type *t, bool nullable);
/* Reads a parameter's TYPE_INFO; NULL, or what is wrong with it.  *wire is the type's byte. */
const char *type_read(Rd *r, Type *t, unsigned *wire, uint32_t *max);

/* moment.c: dates and times -----------------------------------------------------------------------
** ticks are 100 ns since midnight; days since 0001-01-01.  With an offset, both are local. */
typedef struct {
  int32_t days;
  int64_t ticks;
  int offset; /* minutes */
  bool has_date, has_time, has_offset;
} Moment;

#define TICKS_PER_DAY INT64_C(864000000000)
#define DAYS_1900 693595

bool moment_parse(const char *text, size_t n, Moment *m);
/* Rounds to the type's grid; false: out of its range. */
bool moment_round(Moment *m, const Type *t);
void moment_print(const Moment *m, const Type *t, char out[64]);
void moment_now(Moment *m);
int64_t moment_utc(const Moment *m); /* ticks since 0001-01-01 in UTC, for comparing */
void moment_civil(int32_t days, int *year, int *month, int *day);
bool moment_days(int year, int month, int day, int32_t *days);

/* decimal.c ---------------------------------------------------------------------------------------
** Up to 38 digits as sign and magnitude. */
__extension__ typedef unsigned __int128 U128;

typedef struct {
  bool negative;
  U128 magnitude;
  int scale;
} Decimal;

bool decimal_parse(const char *text, size_t n, Decimal *d);
bool decimal_rescale(Decimal *d, int scale); /* rounds half away from zero; false: overflow */
bool decimal_fits(const Decimal *d, int precision);
void decimal_print(const Decimal *d, char out[64]);
int decimal_compare(const Decimal *a, const Decimal *b);
int decimal_digits(const Decimal *d);

/* convert.c: values -------------------------------------------------------------------------------
** In SQLite integers and bit are INTEGER, real and float REAL, bytes BLOB, all else TEXT in one
** canonical spelling: a decimal with its scale's digits, times as in ISO 8601 with the digits of
** their scale, sql_variant as BLOB `type NUL text`. */
typedef enum { V_NULL, V_INT, V_REAL, V_TEXT, V_BLOB } Tag;

typedef struct {
  Tag tag;
  int64_t i;
  double r;
  const char *p; /* TEXT and BLOB: lent */
  size_t n;
} Val;

typedef struct {
  int number, state, severity, line;
  char message[2048];
} SqlError;

Val val_null(void);
Val val_int(int64_t i);
Val val_real(double r);
Val val_text(const char *p, size_t n);
Val val_blob(const void *p, size_t n);
Val val_column(sqlite3_stmt *statement, int i);
Val val_value(sqlite3_value *value);
void val_bind(sqlite3_stmt *statement, int at, const Val *v);
void val_result(sqlite3_context *context, const Val *v);
/* As text, in `space` where it was not already. */
void val_to_text(const Val *v, const Type *t, Buf *space, const char **p, size_t *n);
/* Converts as CAST does; out may lend from `space` or from in.  style: of CONVERT, 0 = default. */
bool convert(const Val *in, const Type *from, const Type *to, int style, Buf *space, Val *out,
             SqlError *error);
void sql_error(SqlError *e, int number, int severity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* wire.c: values in rows and parameters --------------------------------------------------------- */
/* chunk: bytes per PLP chunk, 0 = one chunk. */
void wire_write(Buf *out, const Type *t, bool nullable, const Val *v, int chunk);
/* A parameter's value after its TYPE_INFO; NULL, or what is wrong.  The value lends from space. */
const char *wire_read(Rd *r, const Type *t, unsigned wire, uint32_t max, Buf *space, Val *v);
/* The legacy text, ntext and image. */
bool wire_is_long(Kind kind);

/* fault.c: misbehaviour on demand -----------------------------------------------------------------
** Numbers by name; 0 is the ordinary way.  The server's are copied into each new connection. */
typedef struct {
  int64_t split;     /* a packet ends at this byte of each reply */
  int64_t split_all; /* every packet of a reply holds this many bytes */
  int64_t chop;      /* TCP writes of this many bytes */
  int64_t plp;       /* bytes in a chunk of a PLP value */
  int64_t nbcrow;    /* 1 never, 2 always, 3 every other row */
  int64_t drop;      /* the connection is closed after this many bytes of replies after login */
  int64_t error_at;  /* an error after this many rows; -1: right after COLMETADATA */
  int64_t errors;    /* how many errors then, 1 if 0 */
  int64_t silent;    /* DONE with its error bit and no ERROR, after that many rows */
  int64_t between;   /* ENVCHANGE and INFO after every so many rows */
  int64_t
      attention; /* acknowledged: 1 in the reply that it ends, 2 after the whole reply, 3 never, 4 where none came */
  int64_t flip;        /* this byte of what follows the login is flipped, below TLS */
  int64_t long_record; /* a TLS record of 16,385+256 bytes */
  int64_t lie; /* 1 token length, 2 packet length, 3 PLP length, 4 column count, 5 value length */
  int64_t packet; /* the packet size that is answered at login */
  int64_t route;  /* the next so many logins are routed */
  int64_t route_port;
  int64_t trickle;           /* milliseconds between packets */
  int64_t alpn;              /* 1 none, 2 a wrong one */
  int64_t no_login_features; /* no FEATUREEXTACK */
  int64_t deadlock;          /* the next so many statements fail with 1205 */
  int64_t login_error;       /* logins fail with this number */
  int64_t stall;             /* nothing is answered after this many bytes */
  int64_t login_stall;       /* 1: PRELOGIN is not answered, 2: LOGIN7 is not */
  int64_t slow_read; /* milliseconds before each read of what the client sends after the login */
  int64_t
      cek; /* columns are sent as encrypted: 1 with a CekTable before them, 2 by their flag alone */
  int64_t no_bulk;   /* INSERT BULK is refused */
  int64_t no_resume; /* a ClientHello that offers a session is answered with an alert */
} Fault;

/* Sets one by name; false: there is none.  The name `reset` clears all. */
bool fault_set(Fault *f, const char *name, int64_t value);
void fault_names(Buf *out);

/* cert.c: certificates, made anew at each start --------------------------------------------------*/
typedef enum { CERT_GOOD, CERT_WRONG_NAME, CERT_EXPIRED, CERT_SELF_SIGNED, CERT_COUNT } Cert;

/* Writes ca.pem, and NAME.pem and NAME.key for each of cert_names, into dir. */
bool cert_make(const char *dir);
extern const char *const cert_names[CERT_COUNT];

/* main.c -----------------------------------------------------------------------------------------*/
typedef enum { ENCRYPT_REQUIRED, ENCRYPT_OPTIONAL, ENCRYPT_LOGIN, ENCRYPT_NONE } Policy;

struct Server {
  const char *dir; /* databases, certificates, the file `violations` */
  const char *user, *password, *port_option, *browser;
  const char *careful; /* clients whose library is called so must keep every rule */
  int port, control_port, browser_port, listener;
  Policy policy;        /* of 7.4 */
  int tls_min, tls_max; /* of strict; 7.4 never goes above TLS 1.2 */
  int cert;
  int version; /* major: 16 */
  char route_host[128];
  pthread_mutex_t lock; /* of all that changes here */
  Fault fault;
  unsigned next_spid, violations;
  uint64_t loaded;              /* rows of bulk loads that were kept */
  unsigned handshakes, resumed; /* of TLS: all, and those that resumed a session */
  FILE *violations_file;
  SSL_CTX *tls[CERT_COUNT];
  Conn *connections;
  struct Replay *replays;
};

/* net.c: the connection's bytes ------------------------------------------------------------------
** Three layers: in the clear, the TLS handshake inside PRELOGIN packets, and TLS. */
typedef enum { LAYER_CLEAR, LAYER_TLS } Layer;

struct Session;

struct Conn {
  Server *server;
  Conn *next; /* of the server's */
  int fd;
  unsigned spid;
  bool dead; /* nothing is read or written any more */
  bool strict;
  Fault fault;
  /* net.c */
  Layer layer;
  SSL *ssl;
  BIO *from_net, *to_net; /* owned by ssl */
  Buf plain;              /* received, decrypted, not yet read as packets */
  uint64_t received, sent, sent_after_login;
  uint8_t header[8]; /* the packet that is being received, for the record rule */
  size_t header_n, packet_left;
  bool login_only;    /* encryption ends with LOGIN7 */
  char careless[500]; /* the first rule of careful clients that was broken before the login */
  unsigned spanning, short_packets, id_jumps, wide_login; /* what a careless client did */
  /* packet.c */
  unsigned packet_size;
  bool logged_in;
  Buf out; /* of the reply, not yet in a packet */
  uint8_t out_id;
  uint64_t out_sent; /* payload bytes of this reply already in packets */
  bool attention;    /* asked for, not yet acknowledged */
  Buf done;          /* a DONE that waits to know whether more follows */
  /* login.c and above */
  char app[129], library[129], user[129], host[129];
  uint32_t tds_version;
  bool utf8, json, vector;
  struct Session *s;
  Buf *capture; /* no client, but the control channel: rows and errors as text */
};

/* False when the connection is gone or time is up (timeout in ms, -1 = none). */
bool net_fill(Conn *c, int timeout);
void net_send(Conn *c, const void *p, size_t n); /* at most 16,384 bytes: one TLS record */
bool net_start_tls(Conn *c, bool wrapped);
/* For SSL_CTX_set_client_hello_cb. */
int net_look_at_hello(SSL *ssl, int *alert, void *unused);
void net_close(Conn *c);
/* A rule broken by the client: logged with its place, and the connection ends.  Rules that only a
** careful client keeps are `careful`: they count for clients whose library's name, which LOGIN7 tells,
** begins as the server's `careful` says; violation_known() is called once it is known. */
void violation_known(Conn *c);
void violation(Conn *c, bool careful, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* packet.c ---------------------------------------------------------------------------------------*/
enum {
  P_BATCH = 1,
  P_RPC = 3,
  P_REPLY = 4,
  P_ATTENTION = 6,
  P_BULK = 7,
  P_TRANSACTION = 14,
  P_LOGIN = 16,
  P_PRELOGIN = 18
};
typedef enum { MSG_OK, MSG_IGNORED, MSG_CLOSED } MsgResult;

/* One whole message; status is that of its first packet. */
MsgResult msg_read(Conn *c, unsigned *type, unsigned *status, Buf *payload);
/* Looks without waiting longer than timeout ms whether an attention came; sets c->attention. */
bool msg_poll(Conn *c, int timeout);
void out_flush(Conn *c);  /* sends packets that are full */
void out_finish(Conn *c); /* ends the message */

/* token.c ----------------------------------------------------------------------------------------*/
enum { DONE_MORE = 1, DONE_ERROR = 2, DONE_INXACT = 4, DONE_COUNT = 0x10, DONE_ATTENTION = 0x20 };
enum { DONE = 0xFD, DONEPROC = 0xFE, DONEINPROC = 0xFF };

typedef struct {
  char name[260];
  Type type;
  bool nullable, identity, computed, hidden, key, has_default;
  bool column_set;
  int generated;   /* 1, 2: ROW START, ROW END of a temporal table */
  char table[260]; /* of text, ntext and image */
} Column;

void token_error(Conn *c, const SqlError *e, const char *procedure);
void token_info(Conn *c, int number, int severity, int state, const char *text);
void token_env(Conn *c, int type, const void *new_value, size_t new_n, const void *old_value,
               size_t old_n);
void token_env_text(Conn *c, int type, const char *new_text, const char *old_text);
void token_loginack(Conn *c);
void token_columns(Conn *c, const Column *columns, int n);
void token_row(Conn *c, const Column *columns, const Val *values, int n, int64_t row);
/* DONE and its like are held back until it is known whether another token follows. */
void token_done(Conn *c, int token, unsigned status, unsigned command, uint64_t count);
void token_settle(Conn *c); /* before any other token */
void token_return_status(Conn *c, int32_t status);
void token_return_value(Conn *c, int ordinal, const char *name, const Type *t, const Val *v);

/* login.c: PRELOGIN and LOGIN7.  False: the connection is to be closed. */
bool login(Conn *c);

/* control.c, replay.c, main.c --------------------------------------------------------------------*/
void *control_thread(void *server);
void *browser_thread(void *server);
int listen_on(int *port, bool datagrams); /* on loopback; *port 0: any, and which is answered */
/* Keeps what a query answers now, for every later one of that very text: nothing is computed then. */
bool replay_prepare(Server *server, const char *database, const char *sql, size_t n);
/* Sends what was kept; the count of rows, or -1 where nothing was for this text. */
int64_t replay_send(Conn *c, const char *sql, size_t n);

#endif
