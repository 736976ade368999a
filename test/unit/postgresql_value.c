/*
** postgresql_value.c: PostgreSQL's values from hand-built bytes and text, right ones and wrong ones.
*/
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "drivers/postgresql.h"

static void *resize(void *context, void *memory, size_t size) {
  (void)context;
  if (size == 0) {
    free(memory);
    return NULL;
  }
  return realloc(memory, size);
}

static const edb_host host = {.resize = resize};
static pg_scratch scratch = {&host, NULL, 0, 0, NULL, 0, 2};

/* Decodes from a copy that ends where the value does, so that a sanitizer sees a byte too many. */
static int decode(pg_codec codec, int text, const void *p, size_t n, edb_value *v) {
  static char *copy;
  free(copy);
  copy = malloc(n ? n : 1);
  if (!copy) return EDB_NOMEM;
  memcpy(copy, p, n);
  memset(v, 0xA5, sizeof *v);
  scratch.used = 0;
  return (text ? pg_decode_text : pg_decode)(codec, copy, n, v, &scratch);
}

/* The value as text, for comparing: numbers in decimal, times as edb_time_text writes them. */
static const char *shown(const edb_value *v) {
  static char out[70000];
  switch (v->kind) {
  case EDB_BOOL:
    return v->as.boolean ? "true" : "false";
  case EDB_I64:
    snprintf(out, sizeof out, "%" PRId64, v->as.i64);
    return out;
  case EDB_F64:
    snprintf(out, sizeof out, "%.17g", v->as.f64);
    return out;
  case EDB_TIME:
    edb_time_text(&v->as.time, out);
    return out;
  case EDB_TEXT:
    snprintf(out, sizeof out, "'%.*s'", (int)v->as.text.n, v->as.text.p);
    return out;
  default:
    return "?";
  }
}

static void is(pg_codec codec, int text, const void *p, size_t n, const char *expected, int line) {
  edb_value v;
  int rc = decode(codec, text, p, n, &v);
  const char *got = rc == EDB_OK ? shown(&v) : rc == EDB_FAILED ? "failed" : "?";
  unit_check_str(got, expected, __FILE__, line, "the value");
}

#define BINARY(codec, bytes, expected) is(codec, 0, bytes, sizeof(bytes) - 1, expected, __LINE__)
#define TEXT(codec, text, expected) is(codec, 1, text, sizeof(text) - 1, expected, __LINE__)

static void test_numbers(void) {
  BINARY(PG_BOOL, "\1", "true");
  BINARY(PG_BOOL, "\0", "false");
  BINARY(PG_INT2, "\x80\0", "-32768");
  BINARY(PG_INT2, "\x7f\xff", "32767");
  BINARY(PG_INT4, "\x80\0\0\0", "-2147483648");
  BINARY(PG_INT4, "\x7f\xff\xff\xff", "2147483647");
  BINARY(PG_INT8, "\x80\0\0\0\0\0\0\0", "-9223372036854775808");
  BINARY(PG_INT8, "\x7f\xff\xff\xff\xff\xff\xff\xff", "9223372036854775807");
  BINARY(PG_OID, "\xff\xff\xff\xff", "4294967295");
  BINARY(PG_FLOAT4, "\x3d\xcc\xcc\xcd", "0.10000000149011612");
  BINARY(PG_FLOAT8, "\x3f\xb9\x99\x99\x99\x99\x99\x9a", "0.10000000000000001");
  BINARY(PG_FLOAT8, "\x80\0\0\0\0\0\0\0", "-0");
  BINARY(PG_FLOAT8, "\x7f\xf0\0\0\0\0\0\0", "inf");
  edb_value v;
  CHECK_INT(decode(PG_FLOAT8, 0, "\x7f\xf8\0\0\0\0\0\0", 8, &v), EDB_OK);
  CHECK(v.kind == EDB_F64 && isnan(v.as.f64));
  CHECK_INT(decode(PG_FLOAT8, 1, "NaN", 3, &v), EDB_OK);
  CHECK(v.kind == EDB_F64 && isnan(v.as.f64));

  TEXT(PG_BOOL, "t", "true");
  TEXT(PG_BOOL, "f", "false");
  TEXT(PG_BOOL, "true", "failed");
  TEXT(PG_INT8, "-9223372036854775808", "-9223372036854775808");
  TEXT(PG_INT8, "9223372036854775807", "9223372036854775807");
  TEXT(PG_INT8, "9223372036854775808", "failed");
  TEXT(PG_INT8, "-9223372036854775809", "failed");
  TEXT(PG_INT8, "99999999999999999999", "failed");
  TEXT(PG_INT4, "", "failed");
  TEXT(PG_INT4, "-", "failed");
  TEXT(PG_INT4, "1x", "failed");
  TEXT(PG_FLOAT8, "0.1", "0.10000000000000001");
  TEXT(PG_FLOAT8, "4.9406564584124654e-324", "4.9406564584124654e-324");
  TEXT(PG_FLOAT8, "-Infinity", "-inf");
  TEXT(PG_FLOAT8, "-0", "-0");
  TEXT(PG_FLOAT4, "0.1", "0.10000000149011612");
  TEXT(PG_FLOAT8, "0,1", "failed");
  TEXT(PG_FLOAT8, "", "failed");
}

/* number of digits, weight, sign, scale, digits */
static void test_numeric(void) {
  BINARY(PG_NUMERIC, "\0\0\0\0\0\0\0\0", "'0'");
  BINARY(PG_NUMERIC, "\0\0\0\0\0\0\0\2", "'0.00'");
  BINARY(PG_NUMERIC, "\0\1\0\0\0\0\0\0\0\1", "'1'");
  BINARY(PG_NUMERIC, "\0\2\0\0\0\0\0\2\0\x0c\x0d\x48", "'12.34'");
  BINARY(PG_NUMERIC, "\0\1\0\1\0\0\0\0\0\1", "'10000'");
  BINARY(PG_NUMERIC, "\0\1\0\2\0\0\0\1\0\x2a", "'4200000000.0'");
  BINARY(PG_NUMERIC, "\0\1\xff\xff\x40\0\0\6\0\1", "'-0.000100'");
  BINARY(PG_NUMERIC, "\0\1\xff\xfe\x40\0\0\7\x03\xe8", "'-0.0000100'");
  BINARY(PG_NUMERIC, "\0\1\xff\xfd\0\0\0\x0c\x27\x0f", "'0.000000009999'");
  BINARY(PG_NUMERIC, "\0\1\xff\xff\0\0\0\1\x03\xe8", "'0.1'");
  BINARY(PG_NUMERIC, "\0\2\0\0\0\0\0\1\x27\x0f\x27\x0f", "'9999.9'"); /* cut at its scale */
  BINARY(PG_NUMERIC, "\0\0\0\0\xc0\0\0\0", "'NaN'");
  BINARY(PG_NUMERIC, "\0\0\0\0\xd0\0\0\0", "'Infinity'");
  BINARY(PG_NUMERIC, "\0\0\0\0\xf0\0\0\0", "'-Infinity'");
  /* Wrong: short, too few or too many digits, a digit of 10000, a sign and a scale that do not exist. */
  BINARY(PG_NUMERIC, "", "failed");
  BINARY(PG_NUMERIC, "\0\0\0\0\0\0\0", "failed");
  BINARY(PG_NUMERIC, "\0\1\0\0\0\0\0\0", "failed");
  BINARY(PG_NUMERIC, "\0\1\0\0\0\0\0\0\0", "failed");
  BINARY(PG_NUMERIC, "\0\0\0\0\0\0\0\0\0\1", "failed");
  BINARY(PG_NUMERIC, "\xff\xff\0\0\0\0\0\0\0\1", "failed");
  BINARY(PG_NUMERIC, "\0\1\0\0\0\0\0\0\x27\x10", "failed");
  BINARY(PG_NUMERIC, "\0\1\0\0\x12\x34\0\0\0\1", "failed");
  BINARY(PG_NUMERIC, "\0\1\0\0\0\0\x40\0\0\1", "failed");
  /* The farthest weights: 131,072 digits before the point, nothing but zeros behind it. */
  edb_value v;
  CHECK_INT(decode(PG_NUMERIC, 0, "\0\1\x7f\xff\0\0\0\0\x27\x0f", 10, &v), EDB_OK);
  CHECK_INT(v.as.text.n, 131072);
  CHECK_INT(decode(PG_NUMERIC, 0, "\0\1\x80\0\0\0\x3f\xff\x27\x0f", 10, &v), EDB_OK);
  CHECK_INT(v.as.text.n, 2 + 0x3fff);
  TEXT(PG_NUMERIC, "-0.000100", "'-0.000100'");
}

static void test_times(void) {
  BINARY(PG_DATE, "\0\0\0\0", "2000-01-01");
  BINARY(PG_DATE, "\xff\xff\xff\xff", "1999-12-31");
  BINARY(PG_DATE, "\xff\xf4\xdb\xf9", "0001-01-01");
  BINARY(PG_DATE, "\xff\xf4\xdb\xf8", "'0001-12-31 BC'");
  BINARY(PG_DATE, "\0\x2c\x95\xd3", "9999-12-31");
  BINARY(PG_DATE, "\0\x2c\x95\xd4", "'10000-01-01'");
  BINARY(PG_DATE, "\x7f\xff\xff\xff", "'infinity'");
  BINARY(PG_DATE, "\x80\0\0\0", "'-infinity'");
  BINARY(PG_DATE, "\0\0\0", "failed");
  BINARY(PG_TIME, "\0\0\0\0\0\0\0\0", "00:00:00");
  BINARY(PG_TIME, "\0\0\0\x14\x1d\xd7\x5f\xff", "23:59:59.999999");
  BINARY(PG_TIME, "\0\0\0\x14\x1d\xd7\x60\0", "24:00:00");
  BINARY(PG_TIME, "\0\0\0\x14\x1d\xd7\x60\1", "failed");
  BINARY(PG_TIME, "\xff\xff\xff\xff\xff\xff\xff\xff", "failed");
  /* 01:00 at +02 is 23:00 the day before; at -02, 03:00 */
  BINARY(PG_TIMETZ, "\0\0\0\0\xd6\x93\xa4\0\xff\xff\xe3\xe0", "23:00:00Z");
  BINARY(PG_TIMETZ, "\0\0\0\0\xd6\x93\xa4\0\0\0\x1c\x20", "03:00:00Z");
  BINARY(PG_TIMETZ, "\0\0\0\x14\x1d\xd7\x60\0\0\0\0\0", "24:00:00Z");
  BINARY(PG_TIMETZ, "\0\0\0\0\0\0\0\0\x7f\xff\xff\xff", "failed");
  BINARY(PG_TIMESTAMP, "\0\0\0\0\0\0\0\1", "2000-01-01 00:00:00.000001");
  BINARY(PG_TIMESTAMP, "\xff\xff\xff\xff\xff\xff\xff\xff", "1999-12-31 23:59:59.999999");
  BINARY(PG_TIMESTAMPTZ, "\0\0\0\0\0\0\0\0", "2000-01-01 00:00:00Z");
  BINARY(PG_TIMESTAMPTZ, "\x7f\xff\xff\xff\xff\xff\xff\xff", "'infinity'");
  BINARY(PG_TIMESTAMP, "\x80\0\0\0\0\0\0\0", "'-infinity'");
  /* No server has these; they must only do no harm. */
  edb_value v;
  CHECK_INT(decode(PG_TIMESTAMP, 0, "\x80\0\0\0\0\0\0\1", 8, &v), EDB_OK);
  CHECK_INT(decode(PG_TIMESTAMPTZ, 0, "\x7f\xff\xff\xff\xff\xff\xff\xfe", 8, &v), EDB_OK);
  CHECK_INT(decode(PG_DATE, 0, "\x7f\xff\xff\xfe", 4, &v), EDB_OK);
  CHECK_STR(shown(&v), "'5881610-07-10'");
  CHECK_INT(decode(PG_DATE, 0, "\x80\0\0\1", 4, &v), EDB_OK);

  TEXT(PG_DATE, "2024-02-29", "2024-02-29");
  TEXT(PG_DATE, "0044-03-15 BC", "'0044-03-15 BC'");
  TEXT(PG_DATE, "10000-01-01", "'10000-01-01'");
  TEXT(PG_DATE, "infinity", "'infinity'");
  TEXT(PG_DATE, "29.02.2024", "'29.02.2024'"); /* another DateStyle */
  TEXT(PG_TIME, "23:59:59.5", "23:59:59.5");
  TEXT(PG_TIME, "24:00:00", "24:00:00");
  TEXT(PG_TIMETZ, "01:00:00+02", "23:00:00Z");
  TEXT(PG_TIMETZ, "01:00:00-02:30", "03:30:00Z");
  TEXT(PG_TIMETZ, "24:00:00+00", "24:00:00Z");
  TEXT(PG_TIMESTAMP, "2024-12-31 23:59:59.999999", "2024-12-31 23:59:59.999999");
  TEXT(PG_TIMESTAMPTZ, "2024-12-31 23:30:00-01", "2025-01-01 00:30:00Z");
  TEXT(PG_TIMESTAMPTZ, "2025-01-01 00:30:00+05:45", "2024-12-31 18:45:00Z");
  TEXT(PG_TIMESTAMPTZ, "0001-01-01 00:00:00+01", "'0001-01-01 00:00:00+01'");
  TEXT(PG_TIMESTAMP, "2024-12-31", "'2024-12-31'");
}

/* The same moments both ways: what is rendered is what the server would write. */
static void test_moment_text(void) {
  char text[PG_MOMENT_TEXT];
  size_t n = pg_moment_text(pg_days_of(-43, 3, 15), -1, 0, text);
  CHECK_TEXT(text, n, "0044-03-15 BC");
  n = pg_moment_text(pg_days_of(0, 12, 31), 1, 1, text);
  CHECK_TEXT(text, n, "0001-12-31 00:00:00.000001+00 BC");
  n = pg_moment_text(pg_days_of(294276, 12, 31), INT64_C(86399999000), 0, text);
  CHECK_TEXT(text, n, "294276-12-31 23:59:59.999");
  CHECK_INT(pg_days_of(1970, 1, 1), 0);
  CHECK_INT(pg_days_of(2000, 3, 1), 11017);
  CHECK_INT(pg_days_of(1, 1, 1), -719162);
}

static void test_texts(void) {
  BINARY(PG_TEXT, "", "''");
  BINARY(PG_TEXT, "h\xc3\xa9", "'h\xc3\xa9'");
  BINARY(PG_JSONB, "\1{}", "'{}'");
  BINARY(PG_JSONB, "\2{}", "failed");
  BINARY(PG_JSONB, "", "failed");
  BINARY(PG_CHAR, "a", "'a'");
  BINARY(PG_CHAR, "\0", "''");
  BINARY(PG_CHAR, "\xe9", "'\\351'");
  BINARY(PG_CHAR, "ab", "failed");
  BINARY(PG_UUID, "\xa0\xee\xbc\x99\x9c\x0b\x4e\xf8\xbb\x6d\x6b\xb9\xbd\x38\x0a\x11",
         "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'");
  BINARY(PG_UUID, "\xa0", "failed");
  BINARY(PG_BIT, "\0\0\0\0", "''");
  BINARY(PG_BIT, "\0\0\0\x0a\xa5\xc0", "'1010010111'");
  BINARY(PG_BIT, "\0\0\0\x0a\xa5", "failed");
  BINARY(PG_BIT, "\0\0\0\x0a\xa5\xc0\0", "failed");
  BINARY(PG_BIT, "\xff\xff\xff\xff\xa5", "failed");
  BINARY(PG_BIT, "\0\0\0", "failed");
  BINARY(PG_MONEY, "\0\0\0\0\0\0\0\5", "'0.05'");
  BINARY(PG_MONEY, "\xff\xff\xff\xff\xff\xff\xff\xfb", "'-0.05'");
  BINARY(PG_MONEY, "\x80\0\0\0\0\0\0\0", "'-92233720368547758.08'");
  BINARY(PG_MONEY, "\0\0\0\0\0\1\xe2\x40", "'1234.56'");
  TEXT(PG_MONEY, "-$1,234.50", "'-1234.50'");
  TEXT(PG_MONEY, "-$92,233,720,368,547,758.08", "'-92233720368547758.08'");
  scratch.money_digits = 0;
  BINARY(PG_MONEY, "\0\0\0\0\0\0\0\0", "'0'");
  BINARY(PG_MONEY, "\xff\xff\xff\xff\xff\xff\xff\xd6", "'-42'");
  scratch.money_digits = 2;
  BINARY(PG_OTHER, "abc", "failed");
  TEXT(PG_OTHER, "{1,2}", "'{1,2}'");
}

static void test_bytes(void) {
  edb_value v;
  CHECK_INT(decode(PG_BYTEA, 0, "\0\xff", 2, &v), EDB_OK);
  CHECK_BYTES(v.as.bytes.p, v.as.bytes.n, "\0\xff", 2);
  CHECK_INT(v.kind, EDB_BYTES);
  CHECK_INT(decode(PG_BYTEA, 1, "\\x00FFab", 8, &v), EDB_OK);
  CHECK_BYTES(v.as.bytes.p, v.as.bytes.n, "\0\xff\xab", 3);
  CHECK_INT(decode(PG_BYTEA, 1, "\\x", 2, &v), EDB_OK);
  CHECK_INT(v.as.bytes.n, 0);
  CHECK_INT(decode(PG_BYTEA, 1, "\\x0", 3, &v), EDB_FAILED);
  CHECK_INT(decode(PG_BYTEA, 1, "\\x0g", 4, &v), EDB_FAILED);
  CHECK_INT(decode(PG_BYTEA, 1, "a\\\\\\377\\000", 11, &v), EDB_OK);
  CHECK_BYTES(v.as.bytes.p, v.as.bytes.n, "a\\\xff\0", 4);
  CHECK_INT(decode(PG_BYTEA, 1, "\\37", 3, &v), EDB_FAILED);
  CHECK_INT(decode(PG_BYTEA, 1, "\\389", 4, &v), EDB_FAILED);
}

/* A scratch that moves takes the values of its row along. */
static void test_scratch(void) {
  edb_value row[3];
  pg_scratch s = {&host, NULL, 0, 0, row, 0, 2};
  static const char uuid[16] = {1};
  memset(row, 0, sizeof row);
  CHECK_INT(pg_decode(PG_UUID, uuid, 16, &row[0], &s), EDB_OK);
  s.count = 1;
  CHECK_INT(pg_decode(PG_TEXT, "lent", 4, &row[1], &s), EDB_OK);
  s.count = 2;
  CHECK_INT(pg_decode(PG_NUMERIC, "\0\1\x7f\xff\0\0\0\0\x27\x0f", 10, &row[2], &s), EDB_OK);
  CHECK(row[0].as.text.p == s.p);
  CHECK_TEXT(row[0].as.text.p, row[0].as.text.n, "01000000-0000-0000-0000-000000000000");
  CHECK_TEXT(row[1].as.text.p, row[1].as.text.n, "lent");
  CHECK(row[2].as.text.p == s.p + 36);
  edb_free(&host, s.p);
}

/* Every prefix of a value of any codec, and random bytes: an answer, and no byte beyond the value. */
static void test_noise(void) {
  unsigned seed = 12345;
  for (int round = 0; round < 20000; round++) {
    char bytes[40];
    edb_value v;
    size_t n = (size_t)round % (sizeof bytes + 1);
    for (size_t i = 0; i < n; i++) {
      seed = seed * 1103515245 + 12345;
      bytes[i] = (char)(round % 3 ? seed >> 16 : (seed >> 16) & 1);
    }
    for (int codec = PG_OTHER; codec <= PG_BIT; codec++) {
      for (int text = 0; text < 2; text++) {
        int rc = decode((pg_codec)codec, text, bytes, n, &v);
        if (rc != EDB_OK && rc != EDB_FAILED) CHECK_INT(rc, EDB_OK);
      }
    }
  }
  CHECK(1);
}

static void test_types(void) {
  CHECK(pg_type_of(0) == NULL);
  CHECK(pg_type_of(3803) == NULL);
  CHECK_STR(pg_type_of(16)->name, "boolean");
  CHECK_STR(pg_type_of(3802)->name, "jsonb");
  static const char *const names[] = {
      "bool", "int2",    "int4",   "int8", "float4",    "float8",      "numeric",
      "text", "varchar", "bpchar", "char", "name",      "bytea",       "date",
      "time", "timetz",  "uuid",   "json", "timestamp", "timestamptz", "jsonb",
      "xml",  "oid",     "money",  "bit",  "varbit",    "array",       "composite"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    CHECK_STR(pg_dialect.type(names[i])->name, names[i]);
  }
  CHECK_STR(pg_dialect.type("interval")->read, "%s::text");
  CHECK_INT(pg_dialect.type("interval")->declared, EDB_DECLARED_TEXT);
}

static void test_codes(void) {
  CHECK_INT(pg_code_of("23505"), EDB_CONSTRAINT);
  CHECK_INT(pg_code_of("40001"), EDB_BUSY);
  CHECK_INT(pg_code_of("40P01"), EDB_BUSY);
  CHECK_INT(pg_code_of("55P03"), EDB_BUSY);
  CHECK_INT(pg_code_of("08006"), EDB_CLOSED);
  CHECK_INT(pg_code_of("57P01"), EDB_CLOSED);
  CHECK_INT(pg_code_of("57014"), EDB_INTERRUPTED);
  CHECK_INT(pg_code_of("0A000"), EDB_UNSUPPORTED);
  CHECK_INT(pg_code_of("42P01"), EDB_INVALID_QUERY);
  CHECK_INT(pg_code_of("22012"), EDB_INVALID_QUERY);
  CHECK_INT(pg_code_of("53200"), EDB_FAILED);
  CHECK_INT(pg_code_of(""), EDB_FAILED);
}

int main(void) {
  test_numbers();
  test_numeric();
  test_times();
  test_moment_text();
  test_texts();
  test_bytes();
  test_scratch();
  test_noise();
  test_types();
  test_codes();
  edb_free(&host, scratch.p);
  return unit_done("postgresql_value");
}
