/*
** mysql_wire.h: the MySQL client/server protocol as its public description has it, from the server's side:
** packets, and the answers of a server that is honest. For mysql_rogue.h; nothing of it is the product's.
*/
#ifndef EDB_MYSQL_WIRE_H
#define EDB_MYSQL_WIRE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes and packets ---------------------------------------------------------------------- */

typedef struct bytes {
  unsigned char *p;
  size_t n, size;
} bytes;

static inline void put(bytes *b, const void *p, size_t n) {
  if (b->size - b->n < n) {
    b->size = (b->n + n) * 2;
    b->p = realloc(b->p, b->size);
    if (!b->p) abort();
  }
  if (n > 0) memcpy(b->p + b->n, p, n);
  b->n += n;
}

/* An integer of 1 to 8 bytes, the lowest first. */
static inline void put_int(bytes *b, uint64_t u, int size) {
  for (int i = 0; i < size; i++) put(b, &(unsigned char){(unsigned char)(u >> 8 * i)}, 1);
}

static inline void put_length(bytes *b, uint64_t n) {
  if (n < 251) {
    put_int(b, n, 1);
  } else if (n < 0x10000) {
    put_int(b, 0xfc, 1);
    put_int(b, n, 2);
  } else {
    put_int(b, 0xfd, 1);
    put_int(b, n, 3);
  }
}

static inline void put_string(bytes *b, const void *p, size_t n) {
  put_length(b, n);
  put(b, p, n);
}

static inline void put_text(bytes *b, const char *text) { put_string(b, text, strlen(text)); }

/* A packet of a body, or as many as its length needs; *sequence goes on. The body is freed. */
static inline void packet(bytes *out, int *sequence, bytes *body) {
  size_t at = 0, n;
  do {
    n = body->n - at < 0xffffff ? body->n - at : 0xffffff;
    put_int(out, n, 3);
    put_int(out, (uint64_t)(*sequence)++, 1);
    put(out, body->p + at, n);
    at += n;
  } while (n == 0xffffff);
  free(body->p);
  *body = (bytes){0};
}

static inline void raw_packet(bytes *out, int *sequence, const void *p, size_t n) {
  bytes body = {0};
  put(&body, p, n);
  packet(out, sequence, &body);
}

enum {
  STATUS_AUTOCOMMIT = 2,
  STATUS_MORE_RESULTS = 8,
  STATUS_CURSOR = 0x40,
  STATUS_LAST_ROW = 0x80
};

static inline void ok_packet(bytes *out, int *sequence, int status) {
  bytes body = {0};
  put(&body, "\0\0\0", 3);
  put_int(&body, (uint64_t)status, 2);
  put_int(&body, 0, 2);
  packet(out, sequence, &body);
}

static inline void eof_packet(bytes *out, int *sequence, int status) {
  bytes body = {0};
  put(&body, "\xfe\0\0", 3);
  put_int(&body, (uint64_t)status, 2);
  packet(out, sequence, &body);
}

static inline void error_packet(bytes *out, int *sequence, int number, const char *state_and_text) {
  bytes body = {0};
  put(&body, "\xff", 1);
  put_int(&body, (uint64_t)number, 2);
  put(&body, state_and_text, strlen(state_and_text));
  packet(out, sequence, &body);
}

/* ---- The honest answers ---------------------------------------------------------------------- */

enum {
  CAPABILITY_MYSQL = 1,
  CAPABILITY_CONNECT_WITH_DB = 8,
  CAPABILITY_LOCAL_FILES = 0x80,
  CAPABILITY_41 = 0x200,
  CAPABILITY_TRANSACTIONS = 0x2000,
  CAPABILITY_SECURE = 0x8000,
  CAPABILITY_MULTI = 0x70000,
  CAPABILITY_PLUGIN_AUTH = 0x80000,
  CAPABILITY_ALL = CAPABILITY_MYSQL | 0x6 | CAPABILITY_CONNECT_WITH_DB | CAPABILITY_LOCAL_FILES |
                   CAPABILITY_41 | CAPABILITY_TRANSACTIONS | CAPABILITY_SECURE | CAPABILITY_MULTI |
                   CAPABILITY_PLUGIN_AUTH
};

static inline void greeting(bytes *out, int protocol, const char *version, uint32_t capabilities,
                            const char *plugin) {
  int sequence = 0;
  bytes body = {0};
  put_int(&body, (uint64_t)protocol, 1);
  put(&body, version, strlen(version) + 1);
  put_int(&body, 7, 4);        /* the connection */
  put(&body, "abcdefgh\0", 9); /* the scramble's first part */
  put_int(&body, capabilities, 2);
  put_int(&body, 45, 1); /* utf8mb4_general_ci */
  put_int(&body, STATUS_AUTOCOMMIT, 2);
  put_int(&body, capabilities >> 16, 2);
  put_int(&body, 21, 1);
  put(&body, "\0\0\0\0\0\0\0\0\0\0", 10);
  put(&body, "ijklmnopqrst\0", 13);
  put(&body, plugin, strlen(plugin) + 1);
  packet(out, &sequence, &body);
}

enum {
  TYPE_TINY = 1,
  TYPE_SHORT = 2,
  TYPE_LONG = 3,
  TYPE_FLOAT = 4,
  TYPE_DOUBLE = 5,
  TYPE_NULL = 6,
  TYPE_TIMESTAMP = 7,
  TYPE_LONGLONG = 8,
  TYPE_DATE = 10,
  TYPE_TIME = 11,
  TYPE_DATETIME = 12,
  TYPE_YEAR = 13,
  TYPE_BIT = 16,
  TYPE_NEWDECIMAL = 246,
  TYPE_BLOB = 252,
  TYPE_VAR_STRING = 253,
  TYPE_GEOMETRY = 255
};
enum { FLAG_NOT_NULL = 1, FLAG_UNSIGNED = 32, FLAG_BINARY = 128 };
enum { CHARSET_UTF8MB4 = 45, CHARSET_BINARY = 63 };

typedef struct definition {
  const char *name;
  int type, flags, charset, decimals;
  uint32_t length;
} definition;

static const definition honest_columns[] = {
    {"id", TYPE_LONGLONG, FLAG_NOT_NULL, CHARSET_BINARY, 0, 20},
    {"size", TYPE_LONG, FLAG_UNSIGNED, CHARSET_BINARY, 0, 10},
    {"score", TYPE_DOUBLE, 0, CHARSET_BINARY, 31, 22},
    {"name", TYPE_VAR_STRING, 0, CHARSET_UTF8MB4, 0, 400},
    {"body", TYPE_BLOB, FLAG_BINARY, CHARSET_BINARY, 0, 65535},
    {"price", TYPE_NEWDECIMAL, 0, CHARSET_BINARY, 2, 12},
    {"at", TYPE_DATETIME, FLAG_BINARY, CHARSET_BINARY, 6, 26},
    {"took", TYPE_TIME, FLAG_BINARY, CHARSET_BINARY, 0, 10},
};
#define HONEST_COLUMNS (sizeof honest_columns / sizeof honest_columns[0])
#define HONEST_ROWS 3

static inline void definition_packet(bytes *out, int *sequence, const definition *d) {
  bytes body = {0};
  put_text(&body, "def");
  put_text(&body, "d");
  put_text(&body, "t");
  put_text(&body, "t");
  put_text(&body, d->name);
  put_text(&body, d->name);
  put_int(&body, 12, 1);
  put_int(&body, (uint64_t)d->charset, 2);
  put_int(&body, d->length, 4);
  put_int(&body, (uint64_t)d->type, 1);
  put_int(&body, (uint64_t)d->flags, 2);
  put_int(&body, (uint64_t)d->decimals, 1);
  put_int(&body, 0, 2);
  packet(out, sequence, &body);
}

static inline void definition_packets(bytes *out, int *sequence, const definition *d, size_t n) {
  for (size_t i = 0; i < n; i++) definition_packet(out, sequence, d + i);
}

static inline void column_count(bytes *out, int *sequence, uint64_t n) {
  bytes body = {0};
  put_length(&body, n);
  packet(out, sequence, &body);
}

/* Row i of the honest rows; the second has nothing but its key. */
static inline void binary_row(bytes *out, int *sequence, int i) {
  static const unsigned char moment[] = {11, 0xea, 7, 2, 28, 23, 59, 58, 0x40, 0xe2, 1, 0};
  static const unsigned char clock[] = {8, 1, 1, 0, 0, 0, 2, 3, 4};
  bytes body = {0};
  put_int(&body, 0, 1);
  put_int(&body, i == 1 ? 0xf8 : 0, 1);
  put_int(&body, i == 1 ? 0x03 : 0, 1);
  put_int(&body, (uint64_t)(i - 1), 8);
  if (i != 1) {
    double score = i + 0.25;
    uint64_t bits;
    memcpy(&bits, &score, sizeof bits);
    put_int(&body, 4000000000u, 4);
    put_int(&body, bits, 8);
    put_text(&body, "Łódź");
    put_string(&body, "\0\1\xff", 3);
    put_text(&body, "-12.50");
    put(&body, moment, sizeof moment); /* 2026-02-28 23:59:58.123456 */
    put(&body, clock, sizeof clock);   /* -26:03:04 */
  }
  packet(out, sequence, &body);
}

static inline void text_row(bytes *out, int *sequence, int i) {
  char id[8], score[8];
  snprintf(id, sizeof id, "%d", i - 1);
  snprintf(score, sizeof score, "%d.25", i);
  const char *values[HONEST_COLUMNS] = {
      id, "4000000000", score, "Łódź", NULL, "-12.50", "2026-02-28 23:59:58.123456", "-26:03:04"};
  bytes body = {0};
  for (size_t column = 0; column < HONEST_COLUMNS; column++) {
    if (i == 1 && column > 0) {
      put_int(&body, 0xfb, 1);
    } else if (!values[column]) {
      put_string(&body, "\0\1\xff", 3);
    } else {
      put_text(&body, values[column]);
    }
  }
  packet(out, sequence, &body);
}

static inline void honest_head(bytes *out, int *sequence, int status) {
  column_count(out, sequence, HONEST_COLUMNS);
  definition_packets(out, sequence, honest_columns, HONEST_COLUMNS);
  eof_packet(out, sequence, status);
}

static inline void honest_result(bytes *out, int *sequence, int binary, int status) {
  honest_head(out, sequence, status);
  for (int i = 0; i < HONEST_ROWS; i++) {
    if (binary) {
      binary_row(out, sequence, i);
    } else {
      text_row(out, sequence, i);
    }
  }
  eof_packet(out, sequence, status);
}

/* The first packet of the answer to COM_STMT_PREPARE. */
static inline void prepared_packet(bytes *out, int *sequence, int columns, int parameters) {
  bytes body = {0};
  put_int(&body, 0, 1);
  put_int(&body, 1, 4);
  put_int(&body, (uint64_t)columns, 2);
  put_int(&body, (uint64_t)parameters, 2);
  put_int(&body, 0, 3);
  packet(out, sequence, &body);
}

static inline void honest_prepared(bytes *out, int *sequence, const definition *columns, size_t n,
                                   int parameters) {
  static const definition parameter = {"?", TYPE_VAR_STRING, 0, CHARSET_BINARY, 0, 0};
  prepared_packet(out, sequence, (int)n, parameters);
  for (int i = 0; i < parameters; i++) definition_packet(out, sequence, &parameter);
  if (parameters > 0) eof_packet(out, sequence, STATUS_AUTOCOMMIT);
  definition_packets(out, sequence, columns, n);
  if (n > 0) eof_packet(out, sequence, STATUS_AUTOCOMMIT);
}

/* Every parameter of a COM_STMT_EXECUTE that has its types with it is given back as it came, under these
** columns, one of which is always NULL: parameters and columns have one form on the wire. For the row by
** which a client may find out whether it understands its own library. */
static const definition echo_columns[] = {
    {"edb_i", TYPE_LONGLONG, 0, CHARSET_BINARY, 0, 20},
    {"edb_u", TYPE_LONGLONG, FLAG_UNSIGNED, CHARSET_BINARY, 0, 20},
    {"edb_f", TYPE_DOUBLE, 0, CHARSET_BINARY, 31, 22},
    {"edb_t", TYPE_VAR_STRING, 0, CHARSET_UTF8MB4, 0, 8000},
    {"edb_b", TYPE_VAR_STRING, FLAG_BINARY, CHARSET_BINARY, 0, 4},
    {"edb_n", TYPE_NULL, FLAG_BINARY, CHARSET_BINARY, 0, 0},
    {"edb_d", TYPE_NEWDECIMAL, 0, CHARSET_BINARY, 3, 11},
    {"edb_c", TYPE_TIME, FLAG_BINARY, CHARSET_BINARY, 6, 17},
    {"edb_m", TYPE_DATETIME, FLAG_BINARY, CHARSET_BINARY, 6, 26},
};
#define ECHO_COLUMNS (sizeof echo_columns / sizeof echo_columns[0])

static inline void echo_result(bytes *out, int *sequence, const unsigned char *command, size_t n) {
  size_t values =
      10 + 1 + 1 + 2 * (ECHO_COLUMNS - 1); /* behind the NULL bitmap, a flag and the types */
  bytes body = {0};
  column_count(out, sequence, ECHO_COLUMNS);
  definition_packets(out, sequence, echo_columns, ECHO_COLUMNS);
  eof_packet(out, sequence, STATUS_AUTOCOMMIT);
  put(&body, "\0\x80\0", 3); /* the sixth column is NULL */
  if (n > values) put(&body, command + values, n - values);
  packet(out, sequence, &body);
  eof_packet(out, sequence, STATUS_AUTOCOMMIT);
}

#endif
