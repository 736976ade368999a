/*
** tds/tds.h: TDS, SQL Server's protocol: bytes in, values out.
**
** No socket, no TLS, no allocation: the caller moves the bytes and owns all memory. [MS-TDS] names
** Microsoft's specification; section numbers are its own.
**
**     tds_message m;                                       a request, laid out as packets in m's buffer
**     tds_message_begin(&m, TDS_BATCH, packet_size, buffer, sizeof buffer);
**     tds_batch(&m, "SELECT 1", 8, descriptor);
**     tds_message_end(&m);                                 m.n > m.size: a larger buffer, and again
**     while (tds_message_next(&m, &p, &n) == TDS_OK) ...seal p[0..n) as one TLS record, send it...
**
**     tds_feed(&s, bytes, n);                              what was received, in any pieces
**     switch (tds_next(&s)) {
**     case TDS_ROW: ...s.values[i]...                      break;
**     case TDS_TOKEN: ...s.token...                        break;
**     case TDS_END: ...the reply is complete...            break;
**     case TDS_MORE: ...receive, tds_feed...               break;
**     case TDS_ROOM: ...enlarge s.room[s.wanted.room]...   break;
**     default: ...tds_fault_text(&s.fault, ...)...
**     }
**
** Conventions, stated once:
**
**   Results    A tds_status: ok, a note (something is there), a suspension (something is needed, then
**              call again), or an error. An error of a stream is final: each later call repeats it.
**   Pointers   None is NULL unless its length is 0.
**   Lent       What a stream gives (values, strings, slices) points into the bytes that were fed or into its
**              rooms; it is valid until the next tds_next or tds_feed.
**   Text       UTF-8 here, sized. Strings of tokens are left in UTF-16LE as tds_utf16: tds_to_utf8.
**   Numbers    Little-endian on the wire unless BE is said; lengths in bytes unless units (of UTF-16) are said.
**   Trust      No length from the wire is used before it is checked against what is there.
*/
#ifndef TDS_TDS_H
#define TDS_TDS_H

#include <stddef.h>
#include <stdint.h>

typedef enum tds_status {
  TDS_OK = 0,
  TDS_TOKEN,      /* note: tds_stream.token holds a token */
  TDS_ROW,        /* note: tds_stream.values holds a row */
  TDS_END,        /* note: the message is complete; of tds_message_next: no packet is left */
  TDS_MORE,       /* suspension: more bytes are needed */
  TDS_ROOM,       /* suspension: a buffer is too small */
  TDS_MALFORMED,  /* error: bytes that the specification does not allow */
  TDS_UNSUPPORTED /* error: what is legal but not known here (a code page, an element type) */
} tds_status;

/* What was wrong, and where. */
typedef struct tds_fault {
  const char *what; /* static text; NULL: nothing was wrong */
  uint64_t
      offset;    /* of the byte that was refused, in the message's payload (headers not counted) */
  uint8_t token; /* the token it stands in; 0: none */
  uint8_t byte;  /* that byte, where there was one */
  int detail;    /* a number that belongs to what: a code page, a type; 0: none */
} tds_fault;

/* "a length beyond the type's maximum (token 0xD1, byte 0x7F at offset 214)". Writes at most size bytes
** with the NUL; the length that all of it has. */
size_t tds_fault_text(const tds_fault *fault, char *out, size_t size);

/* Text as it travels: UTF-16LE. */
typedef struct tds_utf16 {
  const uint8_t *p;
  size_t units;
} tds_utf16;

/* ---- Text (utf16.c) ------------------------------------------------------------------------- */

/* UTF-16LE to UTF-8: at most 3 × units bytes into out; how many were written. A lone surrogate
** becomes U+FFFD. */
size_t tds_to_utf8(char *out, const uint8_t *p, size_t units);

/* How many bytes tds_to_utf8 would write. */
size_t tds_utf8_size(const uint8_t *p, size_t units);

/* UTF-8 to UTF-16LE: at most 2 × n bytes into out; how many were written. Each byte that is not part
** of a well-formed character becomes U+FFFD. */
size_t tds_from_utf8(uint8_t *out, const char *p, size_t n);

/* How many units tds_from_utf8 would write. */
size_t tds_utf16_units(const char *p, size_t n);

/* ---- Packets (2.2.3.1; packet_out.c, packet_in.c) ------------------------------------------------ */

#define TDS_HEADER 8          /* bytes of a packet's header */
#define TDS_LOGIN_PACKET 4096 /* the packet size until login has ended */
#define TDS_PACKET_MIN 512
#define TDS_PACKET_MAX 32767

enum tds_packet_type {
  TDS_BATCH = 0x01,
  TDS_RPC = 0x03,
  TDS_REPLY = 0x04,
  TDS_ATTENTION = 0x06,
  TDS_BULK = 0x07,
  TDS_FEDAUTH = 0x08,
  TDS_TRANSACTION = 0x0E,
  TDS_LOGIN7 = 0x10,
  TDS_SSPI = 0x11,
  TDS_PRELOGIN = 0x12
};

enum tds_packet_status {
  TDS_EOM = 0x01,
  TDS_IGNORE = 0x02,
  TDS_RESET = 0x08,
  TDS_RESET_KEEP = 0x10 /* RESETCONNECTIONSKIPTRAN */
};

/* An outgoing message. It is written straight into the packets that it will leave in: all but the
** last are full, ids count from 1. n counts on when size is exceeded, so that a caller who finds
** n > size after the end knows how much to give before building the message again. A copy of this struct is
** a place to go back to: put it back with a larger buffer that holds the old one's first n bytes. */
typedef struct tds_message {
  uint8_t *p; /* the caller's */
  size_t size;
  size_t n; /* bytes of all packets so far, headers included */
  const char *
      refused; /* a value that cannot be written as its type, a name too long; static text; sticky */
  /* private */
  size_t packet_size, packet, sent;
  uint8_t type, status, id, next_id, ended;
} tds_message;

/* packet_size within TDS_PACKET_MIN…MAX. */
void tds_message_begin(tds_message *m, uint8_t type, size_t packet_size, uint8_t *p, size_t size);

/* Sets TDS_RESET or TDS_RESET_KEEP in the message's first packet. Before the first byte is put. */
void tds_message_reset(tds_message *m, uint8_t status);

/* Appends bytes; u8…u64 little-endian. */
void tds_put(tds_message *m, const void *p, size_t n);
void tds_put_u8(tds_message *m, uint8_t v);
void tds_put_u16(tds_message *m, uint16_t v);
void tds_put_u32(tds_message *m, uint32_t v);
void tds_put_u64(tds_message *m, uint64_t v);
/* UTF-8 as UTF-16LE, without a length. */
void tds_put_text(tds_message *m, const char *p, size_t n);
/* B_VARCHAR and US_VARCHAR: refused beyond 255 and 65,535 units. */
void tds_put_b_varchar(tds_message *m, const char *p, size_t n);
void tds_put_us_varchar(tds_message *m, const char *p, size_t n);

/* The message ends here: its last packet gets EOM. */
void tds_message_end(tds_message *m);

/* The next packet to send, whole: to be sealed as one TLS record. Before tds_message_end only packets that
** are full and followed by another come out. TDS_END: none (left, or yet). TDS_ROOM: n exceeds size. */
tds_status tds_message_next(tds_message *m, const uint8_t **p, size_t *n);

/* Forgets what tds_message_next has given and moves the rest to the buffer's front: a message of any
** length goes through one buffer (bulk load). */
void tds_message_flush(tds_message *m);

/* Breaks off a message of which packets are sent already: what is left is one empty packet with
** EOM and IGNORE, which makes the server forget the request (2.2.3.1.2). */
void tds_message_cancel(tds_message *m);

/* Wipes the buffer: after a login. */
void tds_message_wipe(tds_message *m);

/* Incoming packets. Zero it. */
typedef struct tds_packets {
  uint8_t header[TDS_HEADER];
  uint8_t have;  /* bytes of header */
  uint32_t left; /* payload still to come of this packet */
} tds_packets;

/* A piece of a message's payload. */
typedef struct tds_chunk {
  const uint8_t *p; /* into what was given */
  size_t n;
  uint8_t type; /* tds_packet_type */
  uint8_t last; /* 1: the message ends with it; n may be 0 */
} tds_chunk;

/* Takes bytes off *p, *n and gives the next chunk. TDS_OK, TDS_MORE (all is taken and there is no chunk)
** or TDS_MALFORMED (a length below 8 or beyond TDS_PACKET_MAX). */
tds_status tds_packets_next(tds_packets *k, const uint8_t **p, size_t *n, tds_chunk *chunk);

/* ---- PRELOGIN (2.2.6.5; prelogin.c) --------------------------------------------------------------- */

enum tds_encryption {
  TDS_ENCRYPT_OFF = 0,
  TDS_ENCRYPT_ON = 1,
  TDS_ENCRYPT_NOT_SUPPORTED = 2,
  TDS_ENCRYPT_REQUIRED = 3
};

typedef struct tds_prelogin {
  uint8_t version[4]; /* major, minor, build BE */
  uint16_t subbuild;
  uint8_t encryption;     /* tds_encryption */
  uint8_t mars;           /* 0 or 1 */
  uint8_t fedauth;        /* FEDAUTHREQUIRED; 0 where absent */
  uint8_t instance_wrong; /* in a reply: 1 where the instance's name was not the server's */
  uint32_t thread_id;     /* in a request */
  char instance[64];      /* in a request: its name, NUL-terminated; "" for none */
} tds_prelogin;

/* VERSION, ENCRYPTION, INSTOPT, THREADID, MARS. */
void tds_prelogin_write(tds_message *m, const tds_prelogin *prelogin);

/* A whole reply's payload: TDS_OK or TDS_MALFORMED. VERSION and ENCRYPTION must be there; options
** that are not known are passed over. */
tds_status tds_prelogin_read(const uint8_t *p, size_t n, tds_prelogin *prelogin, tds_fault *fault);

/* ---- LOGIN7 (2.2.6.4; login7.c) ------------------------------------------------------------------- */

#define TDS_VERSION_74 0x74000004u
#define TDS_VERSION_80 0x08000000u

/* Features: bit i stands for the feature id i. */
#define TDS_FEATURE(id) (1u << (id))
enum tds_feature_id {
  TDS_FEATURE_SESSION_RECOVERY = 0x01,
  TDS_FEATURE_FEDAUTH = 0x02,
  TDS_FEATURE_COLUMN_ENCRYPTION = 0x04,
  TDS_FEATURE_GLOBAL_TRANSACTIONS = 0x05,
  TDS_FEATURE_AZURE = 0x08,
  TDS_FEATURE_DATA_CLASSIFICATION = 0x09,
  TDS_FEATURE_UTF8 = 0x0A,
  TDS_FEATURE_JSON = 0x0D,
  TDS_FEATURE_VECTOR = 0x0E
};

/* Strings are NUL-terminated UTF-8 of at most 128 units; NULL: none. */
typedef struct tds_login {
  uint32_t tds_version;
  uint32_t packet_size; /* asked for */
  uint32_t program_version;
  uint32_t process_id;
  uint32_t features; /* of UTF8, JSON and VECTOR */
  uint8_t read_only; /* ApplicationIntent=ReadOnly */
  const char *host, *user, *password, *app, *server, *library, *language, *database;
} tds_login;

/* Writes a LOGIN7 message's payload (obfuscating the password: it is not encrypted, TLS is what
** protects it). A string that is too long: m->refused. tds_message_wipe when it is sent. */
void tds_login_write(tds_message *m, const tds_login *login);

/* ---- Values (value_*.c) ---------------------------------------------------------------------------- */

/* A value. Its layout and its kinds' numbers are those of the contract between edb and its drivers, so
** that a driver can hand rows on as they are (and asserts it at compile time). */
typedef enum tds_kind {
  TDS_NULL = 0,
  TDS_BOOL, /* bit */
  TDS_I64,  /* tinyint, smallint, int, bigint */
  TDS_U64,  /* never read; written as decimal(20,0) */
  TDS_F64,  /* real, float */
  TDS_TEXT, /* characters in UTF-8; decimal, numeric, money ("-17.80"); uniqueidentifier in lower case,
            ** 8-4-4-4-12; xml; json; a vector as JSON */
  TDS_BYTES, /* binary, varbinary, image, timestamp, udt */
  TDS_TIME
} tds_kind;

typedef enum tds_time_form { TDS_DATE = 1, TDS_CLOCK, TDS_DATETIME } tds_time_form;

/* Proleptic Gregorian, years 1–9999. datetimeoffset is in UTC and zoned. */
typedef struct tds_time {
  int64_t nanos; /* since midnight, below a day; 0 for TDS_DATE */
  int32_t days;  /* since 1970-01-01; 0 for TDS_CLOCK */
  uint8_t form;  /* tds_time_form */
  uint8_t zoned;
} tds_time;

typedef struct tds_value {
  tds_kind kind;
  union {
    int boolean;
    int64_t i64;
    uint64_t u64;
    double f64;
    struct {
      const char *p; /* never NULL, even where n is 0 */
      size_t n;
    } text, bytes;
    tds_time time;
  } as;
} tds_value;

/* ---- Types (2.2.5.4 – 2.2.5.6; type.c) ------------------------------------------------------------- */

enum tds_type_id {
  TDS_NULLTYPE = 0x1F,
  TDS_IMAGE = 0x22,
  TDS_TEXTTYPE = 0x23,
  TDS_GUID = 0x24,
  TDS_LEGACY_VARBINARY = 0x25,
  TDS_INTN = 0x26,
  TDS_LEGACY_VARCHAR = 0x27,
  TDS_DATEN = 0x28,
  TDS_TIMEN = 0x29,
  TDS_DATETIME2N = 0x2A,
  TDS_DATETIMEOFFSETN = 0x2B,
  TDS_LEGACY_BINARY = 0x2D,
  TDS_LEGACY_CHAR = 0x2F,
  TDS_INT1 = 0x30,
  TDS_BIT = 0x32,
  TDS_INT2 = 0x34,
  TDS_LEGACY_DECIMAL = 0x37,
  TDS_INT4 = 0x38,
  TDS_DATETIM4 = 0x3A,
  TDS_FLT4 = 0x3B,
  TDS_MONEY = 0x3C,
  TDS_DATETIME8 = 0x3D,
  TDS_FLT8 = 0x3E,
  TDS_LEGACY_NUMERIC = 0x3F,
  TDS_VARIANT = 0x62,
  TDS_NTEXT = 0x63,
  TDS_BITN = 0x68,
  TDS_DECIMALN = 0x6A,
  TDS_NUMERICN = 0x6C,
  TDS_FLTN = 0x6D,
  TDS_MONEYN = 0x6E,
  TDS_DATETIMN = 0x6F,
  TDS_MONEY4 = 0x7A,
  TDS_INT8 = 0x7F,
  TDS_BIGVARBINARY = 0xA5,
  TDS_BIGVARCHAR = 0xA7,
  TDS_BIGBINARY = 0xAD,
  TDS_BIGCHAR = 0xAF,
  TDS_NVARCHAR = 0xE7,
  TDS_NCHAR = 0xEF,
  TDS_UDT = 0xF0,
  TDS_XML = 0xF1,
  TDS_JSON = 0xF4,
  TDS_VECTOR = 0xF5
};

#define TDS_MAX 0xFFFFu /* a length: (max), sent as PLP */

typedef struct tds_stream tds_stream;
typedef struct tds_type_info tds_type_info;

/* Turns the n bytes of a value that is not NULL into *v. TDS_OK, TDS_ROOM or an error. */
typedef tds_status tds_decode(tds_stream *s, const tds_type_info *t, const uint8_t *p, size_t n,
                              tds_value *v);

/* TYPE_INFO. Who writes values sets type, length, precision and scale alone. */
struct tds_type_info {
  uint8_t type;      /* tds_type_id */
  uint8_t precision; /* decimal */
  uint8_t scale;     /* decimal, time, datetime2, datetimeoffset; a vector's element type */
  uint8_t sort_id;   /* of the collation */
  uint32_t length;   /* greatest, in bytes; TDS_MAX for PLP */
  uint32_t collation;
  uint16_t code_page; /* of char, varchar and text: 65001 is UTF-8; 0: the collation has none */
  /* private */
  uint8_t layout, fixed;
  tds_decode *decode;   /* chosen once, when the columns are described */
  const uint16_t *high; /* characters of the bytes 80…FF in code_page */
};

/* What the server calls the type: "nvarchar", "int" for intn of four bytes. Static storage. */
const char *tds_type_name(const tds_type_info *t);

/* Code page of a collation (2.2.5.1.2; collation.c): the UTF-8 bit, else the sort id, else the LCID; 0 for one
** that has none (Indic, Unicode only). */
uint16_t tds_code_page(uint32_t collation, uint8_t sort_id);

/* 1: text of this page can be read here. The multi-byte pages (932, 936, 949, 950) are the C library's
** (iconv), where it has them; without, only ASCII of them is readable. */
int tds_code_page_known(uint16_t code_page);

/* ---- Tokens (2.2.7; token_*.c) ---------------------------------------------------------------------- */

enum tds_token_type {
  TDS_RETURNSTATUS = 0x79,
  TDS_COLMETADATA = 0x81,
  TDS_DATACLASSIFICATION = 0xA3,
  TDS_TABNAME = 0xA4,
  TDS_COLINFO = 0xA5,
  TDS_ORDER = 0xA9,
  TDS_ERROR = 0xAA,
  TDS_INFO = 0xAB,
  TDS_RETURNVALUE = 0xAC,
  TDS_LOGINACK = 0xAD,
  TDS_FEATUREEXTACK = 0xAE,
  TDS_ROW_TOKEN = 0xD1,
  TDS_NBCROW = 0xD2,
  TDS_ENVCHANGE = 0xE3,
  TDS_SESSIONSTATE = 0xE4,
  TDS_SSPI_TOKEN = 0xED,
  TDS_FEDAUTHINFO = 0xEE,
  TDS_DONE = 0xFD,
  TDS_DONEPROC = 0xFE,
  TDS_DONEINPROC = 0xFF
};

enum tds_done_status {
  TDS_DONE_MORE = 0x001,
  TDS_DONE_ERROR = 0x002,
  TDS_DONE_INXACT = 0x004,
  TDS_DONE_COUNT = 0x010,
  TDS_DONE_ATTN = 0x020,
  TDS_DONE_SRVERROR = 0x100
};

#define TDS_COMMAND_SELECT 0x00C1 /* of a DONE: its count is of rows that were read */

enum tds_column_flag {
  TDS_COLUMN_NULLABLE = 0x0001,
  TDS_COLUMN_IDENTITY = 0x0010,
  TDS_COLUMN_COMPUTED = 0x0020,
  TDS_COLUMN_ENCRYPTED = 0x0800,
  TDS_COLUMN_HIDDEN = 0x2000,
  TDS_COLUMN_KEY = 0x4000
};

typedef struct tds_column {
  tds_type_info info;
  uint32_t user_type;
  uint16_t flags;
  /* In the names room: tds_column_name, tds_column_udt. */
  uint16_t name_units, udt_units;
  uint32_t name, udt;
} tds_column;

enum tds_environment {
  TDS_ENV_DATABASE = 1,
  TDS_ENV_LANGUAGE = 2,
  TDS_ENV_PACKET_SIZE = 4,
  TDS_ENV_COLLATION = 7,
  TDS_ENV_BEGIN = 8,
  TDS_ENV_COMMIT = 9,
  TDS_ENV_ROLLBACK = 10,
  TDS_ENV_MIRROR = 13,
  TDS_ENV_TRANSACTION_ENDED = 17,
  TDS_ENV_RESET = 18,
  TDS_ENV_ROUTING = 20
};

#define TDS_FEATURES 16 /* acknowledged by one FEATUREEXTACK, at most */

/* A token; which member holds is said by type. */
typedef struct tds_token {
  uint8_t type; /* tds_token_type */
  union {
    struct { /* TDS_DONE, TDS_DONEPROC, TDS_DONEINPROC */
      uint16_t status, command;
      uint64_t count;   /* 0 unless TDS_DONE_COUNT */
      int64_t affected; /* rows that were changed; -1 where that was not said or rows were read */
    } done;
    struct { /* TDS_ERROR, TDS_INFO */
      int32_t number, line;
      uint8_t state, severity; /* severity: Class */
      tds_utf16 text, server, procedure;
    } message;
    struct {
      uint8_t kind;           /* tds_environment, or another that is passed on as it is */
      tds_utf16 text, former; /* DATABASE, LANGUAGE, MIRROR; ROUTING: text is the host */
      uint32_t packet_size;   /* PACKET_SIZE */
      uint64_t descriptor;    /* BEGIN: the new one; at the end of one: the old one */
      uint32_t collation;     /* COLLATION */
      uint8_t sort_id;
      uint16_t port; /* ROUTING */
    } environment;
    struct {
      uint32_t tds_version;
      uint8_t interface_type, major, minor;
      uint16_t build;
      tds_utf16 program;
    } loginack;
    struct {
      uint32_t mask; /* TDS_FEATURE(id) of each that is below 32 */
      size_t n;
      struct {
        uint8_t id;
        const uint8_t *p;
        size_t n;
      } feature[TDS_FEATURES];
    } features;
    struct {
      size_t n; /* tds_stream.columns */
      int none; /* 1: the server sent no description (count FFFF) */
    } columns;
    int32_t return_status;
    struct {
      uint16_t ordinal;
      uint8_t status; /* 1 output parameter, 2 result of a function */
      tds_utf16 name;
      const tds_column *column;
      const tds_value *value;
    } return_value;
    struct { /* all others: checked, and as it came */
      const uint8_t *p;
      size_t n;
    } bytes;
  } as;
} tds_token;

/* FEDAUTHINFO's entries (2.2.7.12): the i-th, from 0. 1, or 0 behind the last. */
typedef struct tds_fedauth {
  uint32_t id; /* 1 STS URL, 2 service principal name */
  tds_utf16 text;
} tds_fedauth;
int tds_fedauth_entry(const tds_token *token, size_t i, tds_fedauth *out);

/* ---- A stream of tokens and rows (stream.c, row.c) ---------------------------------------------------- */

/* Memory of the caller's, aligned as malloc aligns. What is in a room moves along when it is enlarged. */
typedef enum tds_room {
  TDS_ROOM_COLUMNS = 0, /* tds_column for each column */
  TDS_ROOM_VALUES,      /* tds_value for each column */
  TDS_ROOM_NAMES,       /* the columns' names */
  TDS_ROOM_HELD,        /* a row or a token that straddles packets: as long as the longest */
  TDS_ROOM_TEXT         /* a row's text where it is not lent from the packet */
} tds_room;
#define TDS_ROOMS 5

#define TDS_HELD_MAX (16u << 20) /* bytes of a token that is not a row; more is malformed */

/* Zero it, then tds_stream_begin. */
struct tds_stream {
  /* The caller's to set; any may start as {NULL, 0}. */
  struct {
    void *p;
    size_t size; /* bytes */
  } room[TDS_ROOMS];
  uint32_t features; /* asked for at login: the acknowledgement of another is malformed */

  /* The caller's to read. */
  tds_token token;         /* after TDS_TOKEN */
  const tds_value *values; /* after TDS_ROW: as many as there are columns */
  const tds_column *columns;
  size_t n_columns;
  struct {
    tds_room room;
    size_t size; /* bytes: at least so many; double the old size to be called less often */
  } wanted;      /* after TDS_ROOM */
  tds_fault fault;
  uint64_t examined; /* bytes that were looked at in vain or copied, so far: a measure of what rows
                     ** that straddle packets cost */

  /* private */
  tds_packets packets;
  const uint8_t *fed;
  size_t n_fed;
  tds_chunk chunk;
  size_t at;         /* position in chunk */
  uint64_t base;     /* offset of chunk in the message */
  tds_status failed; /* the error, once there was one */
  struct {
    uint8_t on;  /* a token is being gathered in the held room */
    size_t n;    /* bytes there */
    size_t need; /* bytes still wanted before it is tried again */
  } held;
  uint64_t token_at;      /* offset of the token in the message */
  size_t resume;          /* of a token that is parsed step by step: where to go on */
  size_t step;            /* how many steps are done */
  size_t left[2];         /* what is still to come of the step's lists */
  uint8_t again;          /* the same token is to be parsed once more, from resume */
  uint8_t classification; /* version of DATACLASSIFICATION, as acknowledged */
  size_t names;           /* bytes used of the names room */
  size_t text;            /* bytes used of the text room */
  struct {
    uint8_t mode;  /* 0: none, else the token */
    uint8_t phase; /* of column: what the bytes wanted are */
    uint8_t whole; /* the held room has all of it */
    size_t column;
    uint64_t want; /* bytes still to copy in this phase */
    size_t mark;   /* in the held room: the length of a value's one chunk */
    uint64_t total, sum;
  } row;
  tds_column returned; /* RETURNVALUE */
  tds_value returned_value;
  uint8_t returned_name[510];
  uint32_t collation; /* of the connection: for types that travel without one */
  uint8_t sort_id;
  uint8_t converters; /* bit i: converter[i] is open */
  void *converter[4]; /* iconv_t of the multi-byte pages */
};

/* Before the first use, and after a reconnect: forgets all but the rooms. */
void tds_stream_begin(tds_stream *s, uint32_t features);

/* Closes what reading multi-byte pages opened. The rooms are the caller's to free. */
void tds_stream_end(tds_stream *s);

/* Hands in what was received: whole or part of packets. The bytes stay where they are, unchanged, until
** tds_next has answered TDS_MORE. Only then comes the next piece. */
void tds_feed(tds_stream *s, const void *p, size_t n);

/* Goes on to the next row, token or end of message. Rows that stand whole in what was fed are lent from
** there; only one that straddles chunks is copied. */
tds_status tds_next(tds_stream *s);

tds_utf16 tds_column_name(const tds_stream *s, size_t i);
tds_utf16 tds_column_udt(const tds_stream *s, size_t i); /* a udt's type name */

/* ---- Requests (request.c, rpc.c, parameter.c, bulk.c) --------------------------------------------------- */
/* Each writes the whole payload of a message that was begun with the packet type it names; the caller
** ends it. descriptor: of the transaction, from ENVCHANGE; 0 outside of one. */

/* TDS_BATCH (2.2.6.7). */
void tds_batch(tds_message *m, const char *sql, size_t n, uint64_t descriptor);

/* TDS_TRANSACTION (2.2.6.9). name: of a savepoint, or NULL. tds_rollback with a name goes back to it. */
typedef enum tds_isolation {
  TDS_ISOLATION_CURRENT = 0,
  TDS_READ_UNCOMMITTED,
  TDS_READ_COMMITTED,
  TDS_REPEATABLE_READ,
  TDS_SERIALIZABLE,
  TDS_SNAPSHOT
} tds_isolation;
void tds_begin(tds_message *m, uint64_t descriptor, tds_isolation isolation);
void tds_commit(tds_message *m, uint64_t descriptor);
void tds_rollback(tds_message *m, uint64_t descriptor, const char *name);
void tds_save(tds_message *m, uint64_t descriptor, const char *name);

/* An ATTENTION packet (2.2.1.7), to be sent between whole packets. */
void tds_attention(uint8_t packet[TDS_HEADER]);

/* A parameter @p1, @p2, …: what its value is written as. */
typedef struct tds_parameter {
  tds_type_info info;
  tds_value value;
} tds_parameter;

/* The type that suits a value, so that one statement has one plan: bit, bigint, decimal(20,0), float,
** nvarchar(4000) or (max), varbinary(8000) or (max), date, time(7), datetime2(7), datetimeoffset(7).
** NULL is an nvarchar(4000): where that would not convert, write NULL into the SQL instead
** (tds_sql_rewrite). */
tds_type_info tds_parameter_type(const tds_value *value);

/* "nvarchar(4000)": the type as T-SQL declares it, with a NUL; the length. */
#define TDS_DECLARATION 32 /* bytes that it needs at most */
size_t tds_declare(const tds_type_info *t, char out[TDS_DECLARATION]);

/* TDS_RPC (2.2.6.6). sql has the parameters as @p1 …; at most 2,100. prepexec answers the handle as
** RETURNVALUE 0; a handle dies with its connection. */
void tds_execute_sql(tds_message *m, uint64_t descriptor, const char *sql, size_t n,
                     const tds_parameter *parameters, size_t count);
void tds_prepare_execute(tds_message *m, uint64_t descriptor, const char *sql, size_t n,
                         const tds_parameter *parameters, size_t count);
void tds_execute_handle(tds_message *m, uint64_t descriptor, int32_t handle,
                        const tds_parameter *parameters, size_t count);
void tds_unprepare(tds_message *m, uint64_t descriptor, int32_t handle);

/* TYPE_INFO and a value of it. m->refused where the value does not fit, or is one that the type would change but for
** digits of a time beyond its scale, which are cut, and rounded in datetime and smalldatetime. Text of a code page of
** single bytes is written in it where t came from a column's description; of others only ASCII fits. */
void tds_put_type(tds_message *m, const tds_type_info *t);
void tds_put_value(tds_message *m, const tds_type_info *t, const tds_value *value);

/* TDS_BULK (2.2.6.1): after the batch INSERT BULK t (a int, …), whose types are those of the columns here. */
typedef struct tds_bulk_column {
  tds_type_info info;
  const char *name; /* NUL-terminated */
  uint8_t nullable;
} tds_bulk_column;
void tds_bulk_columns(tds_message *m, const tds_bulk_column *columns, size_t n);
void tds_bulk_row(tds_message *m, const tds_bulk_column *columns, const tds_value *values,
                  size_t n);
void tds_bulk_done(tds_message *m);

/* ---- Placeholders (sql.c) ------------------------------------------------------------------------------- */

/* The offset of the next ? at or behind from that is a placeholder: not in 'text', [a name], "a name", a
** -- comment or a nested comment. n where there is none. from is 0 or behind a placeholder found. */
size_t tds_sql_placeholder(const char *sql, size_t n, size_t from);

/* The SQL with its placeholders written @p1, @p2, …; the i-th as NULL where null[i] is set (null itself may be
** NULL) and numbered as if it were not there. Writes at most size bytes; how many there are. */
size_t tds_sql_rewrite(char *out, size_t size, const char *sql, size_t n, const uint8_t *null,
                       size_t count);

#endif
