/*
** ext/pack.c: rows packed in memory, and the memory that joins may take.
**
** A value is a byte that says what it is, then what there is of it: an integer in as many bytes as it needs, text behind its
** length. A row of (bigint, double) so takes some 15 bytes, where two edb_values take 48: the budget is for rows.
*/
#include "extInt.h"

#include <string.h>

int join_take(Edb *edb, sqlite3_int64 limit, sqlite3_int64 bytes) {
  if (bytes > limit || edb->join_used > limit - bytes) return 0;
  edb->join_used += bytes;
  return 1;
}

void join_give(Edb *edb, sqlite3_int64 bytes) { edb->join_used -= bytes; }

/* The low half of a value's first byte is its kind, the high half how many bytes an integer or a length has. */
#define KIND_BITS 4
#define TIME_BYTES 14

static int bytes_needed(uint64_t u) {
  int n = 0;
  for (; u; u >>= 8) n++;
  return n;
}

/* -1 takes as many as 0: the sign is the lowest bit. */
static uint64_t zigzag(int64_t i) { return ((uint64_t)i << 1) ^ (i < 0 ? UINT64_MAX : 0); }

static int64_t unzigzag(uint64_t u) {
  uint64_t magnitude = u >> 1;
  return (int64_t)(u & 1 ? ~magnitude : magnitude);
}

/* What stands behind the first byte as an integer: itself, or the length. */
static uint64_t number_of(const edb_value *value) {
  switch (value->kind) {
  case EDB_BOOL:
    return value->as.boolean ? 1 : 0;
  case EDB_I64:
    return zigzag(value->as.i64);
  case EDB_U64:
    return value->as.u64;
  case EDB_TEXT:
  case EDB_BYTES:
    return value->as.text.n;
  default:
    return 0;
  }
}

static int is_sized(edb_kind kind) { return kind == EDB_TEXT || kind == EDB_BYTES; }

size_t pack_bytes(const edb_value *row, size_t n) {
  size_t bytes = 0;
  for (size_t i = 0; i < n; i++) {
    bytes += 1 + (size_t)bytes_needed(number_of(&row[i]));
    if (is_sized(row[i].kind)) bytes += row[i].as.text.n;
    if (row[i].kind == EDB_F64) bytes += sizeof row[i].as.f64;
    if (row[i].kind == EDB_TIME) bytes += TIME_BYTES;
  }
  return bytes;
}

char *pack_row(char *to, const edb_value *row, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const edb_value *value = &row[i];
    uint64_t number = number_of(value);
    int bytes = bytes_needed(number);
    *to++ = (char)((unsigned)value->kind | (unsigned)bytes << KIND_BITS);
    for (int k = 0; k < bytes; k++) *to++ = (char)(number >> 8 * k);
    if (is_sized(value->kind)) {
      if (value->as.text.n > 0) memcpy(to, value->as.text.p, value->as.text.n);
      to += value->as.text.n;
    } else if (value->kind == EDB_F64) {
      memcpy(to, &value->as.f64, sizeof value->as.f64);
      to += sizeof value->as.f64;
    } else if (value->kind == EDB_TIME) {
      const edb_time *time = &value->as.time;
      memcpy(to, &time->nanos, 8);
      memcpy(to + 8, &time->days, 4);
      to[12] = (char)time->form;
      to[13] = (char)time->zoned;
      to += TIME_BYTES;
    }
  }
  return to;
}

const char *unpack_row(const char *from, edb_value *row, size_t n) {
  for (size_t i = 0; i < n; i++) {
    edb_value *value = &row[i];
    unsigned head = (unsigned char)*from++;
    int bytes = (int)(head >> KIND_BITS);
    uint64_t number = 0;
    for (int k = 0; k < bytes; k++) number |= (uint64_t)(unsigned char)*from++ << 8 * k;
    value->kind = (edb_kind)(head & ((1u << KIND_BITS) - 1));
    switch (value->kind) {
    case EDB_BOOL:
      value->as.boolean = (int)number;
      break;
    case EDB_I64:
      value->as.i64 = unzigzag(number);
      break;
    case EDB_U64:
      value->as.u64 = number;
      break;
    case EDB_TEXT:
    case EDB_BYTES:
      value->as.text.p = from;
      value->as.text.n = (size_t)number;
      from += number;
      break;
    case EDB_F64:
      memcpy(&value->as.f64, from, sizeof value->as.f64);
      from += sizeof value->as.f64;
      break;
    case EDB_TIME: {
      edb_time *time = &value->as.time;
      memcpy(&time->nanos, from, 8);
      memcpy(&time->days, from + 8, 4);
      time->form = (uint8_t)from[12];
      time->zoned = (uint8_t)from[13];
      from += TIME_BYTES;
      break;
    }
    default:
      break;
    }
  }
  return from;
}

uint32_t pack_hash(uint32_t seed, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  uint64_t h = (0xcbf29ce484222325u ^ seed) + n;
  for (size_t i = 0; i < n; i += sizeof h) {
    uint64_t word = 0;
    memcpy(&word, p + i, n - i < sizeof word ? n - i : sizeof word);
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
  }
  return (uint32_t)(h * 0x9E3779B97F4A7C15u >> 32);
}
