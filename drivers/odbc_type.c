/*
** drivers/odbc_type.c: ODBC's types: how the values of a column are read, what its type is where the server's own
** name for it says nothing (the generic table), and dates and times.
*/
#include <stdio.h>
#include <string.h>

#include "odbcInt.h"

/* ---- The generic table ------------------------------------------------------------------------- */

/* Integers compare everywhere as they do here; of nothing else is that promised by the standard. */
#define PLAIN(its_name, its_kind, its_declared)                                                    \
  { .name = its_name, .kind = its_kind, .declared = its_declared }
#define INTEGER(its_name)                                                                          \
  {                                                                                                \
    .name = its_name, .kind = EDB_I64, .declared = EDB_DECLARED_INTEGER,                           \
    .compare = EDB_COMPARE_INTEGER                                                                 \
  }

static const struct {
  short sql_type;
  unsigned char is_unsigned;
  edb_type type;
} generics[] = {
    {SQL_BIT, 0, PLAIN("bit", EDB_BOOL, EDB_DECLARED_INTEGER)},
    {SQL_TINYINT, 0, INTEGER("tinyint")},
    {SQL_SMALLINT, 0, INTEGER("smallint")},
    {SQL_INTEGER, 0, INTEGER("integer")},
    {SQL_BIGINT, 0, INTEGER("bigint")},
    {SQL_BIGINT,
     1,
     {.name = "bigint unsigned",
      .kind = EDB_U64,
      .declared = EDB_DECLARED_INTEGER,
      .compare = EDB_COMPARE_UNSIGNED}},
    {SQL_REAL, 0, PLAIN("real", EDB_F64, EDB_DECLARED_REAL)},
    {SQL_FLOAT, 0, PLAIN("float", EDB_F64, EDB_DECLARED_REAL)},
    {SQL_DOUBLE, 0, PLAIN("double precision", EDB_F64, EDB_DECLARED_REAL)},
    {SQL_NUMERIC, 0, PLAIN("numeric", EDB_TEXT, EDB_DECLARED_NUMERIC)},
    {SQL_DECIMAL, 0, PLAIN("decimal", EDB_TEXT, EDB_DECLARED_NUMERIC)},
    {SQL_CHAR, 0, PLAIN("char", EDB_TEXT, EDB_DECLARED_TEXT)},
    {SQL_VARCHAR, 0, PLAIN("varchar", EDB_TEXT, EDB_DECLARED_TEXT)},
    {SQL_LONGVARCHAR, 0, PLAIN("long varchar", EDB_TEXT, EDB_DECLARED_TEXT)},
    {SQL_WCHAR, 0, PLAIN("nchar", EDB_TEXT, EDB_DECLARED_TEXT)},
    {SQL_WVARCHAR, 0, PLAIN("nvarchar", EDB_TEXT, EDB_DECLARED_TEXT)},
    {SQL_WLONGVARCHAR, 0, PLAIN("long nvarchar", EDB_TEXT, EDB_DECLARED_TEXT)},
    {SQL_BINARY, 0, PLAIN("binary", EDB_BYTES, EDB_DECLARED_BLOB)},
    {SQL_VARBINARY, 0, PLAIN("varbinary", EDB_BYTES, EDB_DECLARED_BLOB)},
    {SQL_LONGVARBINARY, 0, PLAIN("long varbinary", EDB_BYTES, EDB_DECLARED_BLOB)},
    {SQL_GUID, 0, PLAIN("guid", EDB_TEXT, EDB_DECLARED_TEXT)},
    {SQL_TYPE_DATE, 0, PLAIN("date", EDB_TIME, EDB_DECLARED_DATE)},
    {SQL_TYPE_TIME, 0, PLAIN("time", EDB_TIME, EDB_DECLARED_TIME)},
    {SQL_TYPE_TIMESTAMP, 0, PLAIN("timestamp", EDB_TIME, EDB_DECLARED_DATETIME)},
    /* ODBC 2's numbers of the same. */
    {SQL_DATETIME, 0, PLAIN("date", EDB_TIME, EDB_DECLARED_DATE)},
    {SQL_TIME, 0, PLAIN("time", EDB_TIME, EDB_DECLARED_TIME)},
    {SQL_TIMESTAMP, 0, PLAIN("timestamp", EDB_TIME, EDB_DECLARED_DATETIME)},
    {SQL_SS_TIME2, 0, PLAIN("time", EDB_TIME, EDB_DECLARED_TIME)},
};

/* Intervals, and what a driver has of its own: text. */
static const edb_type other = PLAIN("", EDB_TEXT, EDB_DECLARED_TEXT);

#define N_GENERIC (sizeof generics / sizeof generics[0])

const edb_type *od_type_of(int sql_type, int is_unsigned) {
  const edb_type *found = &other;
  for (size_t i = 0; i < N_GENERIC; i++) {
    if (generics[i].sql_type != sql_type) continue;
    if (found == &other || generics[i].is_unsigned == (is_unsigned != 0)) found = &generics[i].type;
  }
  return found;
}

const edb_type *od_type_called(const char *name) {
  for (size_t i = 0; i < N_GENERIC; i++) {
    if (strcmp(generics[i].type.name, name) == 0) return &generics[i].type;
  }
  return &other;
}

/* The server's name for a type as its table has it: in lower case, without what stands in parentheses. */
static void plain_name(const char *name, char out[64]) {
  static const char identity[] = " identity"; /* SQL Server says so of the type */
  size_t n = 0;
  for (; n < 63 && name[n] && name[n] != '('; n++) {
    out[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] - 'A' + 'a') : name[n];
  }
  out[n] = 0;
  char *cut = strstr(out, identity);
  if (cut) *cut = 0;
  for (n = strlen(out); n > 0 && out[n - 1] == ' '; n--) out[n - 1] = 0;
}

const edb_type *od_column_type(const od_flavour *flavour, const char *name, int sql_type,
                               int is_unsigned) {
  char plain[64];
  plain_name(name, plain);
  if (is_unsigned < 0) is_unsigned = strstr(plain, "unsigned") != NULL;
  const edb_type *generic = od_type_of(sql_type, is_unsigned);
  if (!flavour) return generic;
  if (!flavour->by_name) return flavour->dialect->type(generic->name);
  /* PostgreSQL calls an array by its element's type. */
  if (plain[0] == '_') return flavour->dialect->type("array");
  /* MySQL's driver tells of the missing sign apart. */
  if (is_unsigned && !strstr(plain, "unsigned") && strlen(plain) + 10 < sizeof plain) {
    char longer[64];
    snprintf(longer, sizeof longer, "%s unsigned", plain);
    const edb_type *type = flavour->dialect->type(longer);
    if (strcmp(type->name, longer) == 0) return type;
  }
  const edb_type *type = flavour->dialect->type(plain);
  /* A number of an unknown name is a number all the same. */
  const int number =
      generic->kind == EDB_I64 || generic->kind == EDB_U64 || generic->kind == EDB_F64;
  return type->name[0] || !number ? type : flavour->dialect->type(generic->name);
}

/* ---- How values are read ------------------------------------------------------------------------ */

static int is_binary(int sql_type) {
  return sql_type == SQL_BINARY || sql_type == SQL_VARBINARY || sql_type == SQL_LONGVARBINARY;
}

static int is_moment(int sql_type) { return od_type_of(sql_type, 0)->kind == EDB_TIME; }

static od_codec codec_of_moment(const edb_type *type, int sql_type, int as_text) {
  /* SQL_TIME_STRUCT has no fraction. */
  if (as_text || !is_moment(sql_type) || type->declared == EDB_DECLARED_TIME) return OD_MOMENT;
  return type->declared == EDB_DECLARED_DATE ? OD_DATE : OD_DATETIME;
}

od_codec od_codec_of(const edb_type *type, int sql_type, int is_unsigned, int moments_as_text) {
  switch (type->kind) {
  case EDB_NULL:
    if (od_type_of(sql_type, is_unsigned)->kind == EDB_NULL) return OD_TEXT;
    return od_codec_of(od_type_of(sql_type, is_unsigned), sql_type, is_unsigned, moments_as_text);
  case EDB_BOOL:
    return sql_type == SQL_BIT ? OD_BOOL : OD_BOOL_TEXT;
  case EDB_I64:
  case EDB_U64:
    if (is_binary(sql_type)) return OD_BITS;
    if (sql_type == SQL_BIT) return OD_BOOL;
    return type->kind == EDB_I64 ? OD_INT : OD_UINT;
  case EDB_F64:
    return sql_type == SQL_REAL ? OD_FLOAT : OD_DOUBLE;
  case EDB_TIME:
    return codec_of_moment(type, sql_type, moments_as_text);
  case EDB_TEXT:
    if (type->declared == EDB_DECLARED_NUMERIC || sql_type == SQL_GUID) return OD_NARROW;
    return OD_TEXT;
  case EDB_BYTES:
    /* A type without a name is called bytes where nothing is known of it. */
    return is_binary(sql_type) || type->name[0] ? OD_BYTES : OD_TEXT;
  }
  return OD_TEXT;
}

/* By codec: the C type, the bytes of a value of fixed size. */
static const struct {
  short c_type;
  unsigned char size;
} codecs[] = {
    [OD_TEXT] = {SQL_C_WCHAR, 0},
    [OD_NARROW] = {SQL_C_CHAR, 0},
    [OD_BYTES] = {SQL_C_BINARY, 0},
    [OD_INT] = {SQL_C_SBIGINT, sizeof(int64_t)},
    [OD_UINT] = {SQL_C_UBIGINT, sizeof(uint64_t)},
    [OD_BOOL] = {SQL_C_BIT, 1},
    [OD_FLOAT] = {SQL_C_DOUBLE, sizeof(double)},
    [OD_DOUBLE] = {SQL_C_DOUBLE, sizeof(double)},
    [OD_DATE] = {SQL_C_TYPE_DATE, sizeof(SQL_DATE_STRUCT)},
    [OD_DATETIME] = {SQL_C_TYPE_TIMESTAMP, sizeof(SQL_TIMESTAMP_STRUCT)},
    [OD_MOMENT] = {SQL_C_CHAR, 0},
    [OD_BOOL_TEXT] = {SQL_C_CHAR, 0},
    [OD_BITS] = {SQL_C_BINARY, 0},
    [OD_QUOTED] = {SQL_C_CHAR, 0},
};

int od_c_type(od_codec codec) { return codecs[codec].c_type; }

size_t od_fixed_size(od_codec codec) { return codecs[codec].size; }

size_t od_nul_size(od_codec codec) {
  const int c_type = od_c_type(codec);
  return c_type == SQL_C_WCHAR ? (size_t)od_wide : c_type == SQL_C_CHAR ? 1 : 0;
}
