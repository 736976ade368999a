/*
** drivers/odbc_type.c: ODBC's types: how the values of a column are read, what its type is where the server's own
** name for it says nothing (the generic table), and dates and times.
*/
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
} generic[] = {
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

#define N_GENERIC (sizeof generic / sizeof generic[0])

const edb_type *od_type_of(int sql_type, int is_unsigned) {
  const edb_type *found = &other;
  for (size_t i = 0; i < N_GENERIC; i++) {
    if (generic[i].sql_type != sql_type) continue;
    if (found == &other || generic[i].is_unsigned == (is_unsigned != 0)) found = &generic[i].type;
  }
  return found;
}

const edb_type *od_type_called(const char *name) {
  for (size_t i = 0; i < N_GENERIC; i++) {
    if (strcmp(generic[i].type.name, name) == 0) return &generic[i].type;
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
  if (!flavour || !flavour->by_name) return od_type_of(sql_type, is_unsigned);
  /* PostgreSQL calls an array by its element's type. */
  if (plain[0] == '_') return flavour->dialect->type("array");
  return flavour->dialect->type(plain);
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
    return OD_INT;
  case EDB_U64:
    return OD_UINT;
  case EDB_F64:
    return sql_type == SQL_REAL ? OD_FLOAT : OD_DOUBLE;
  case EDB_TIME:
    return codec_of_moment(type, sql_type, moments_as_text);
  case EDB_TEXT:
    if (type->declared == EDB_DECLARED_NUMERIC || sql_type == SQL_GUID) return OD_ASCII;
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
    [OD_ASCII] = {SQL_C_CHAR, 0},
    [OD_BYTES] = {SQL_C_BINARY, 0},
    [OD_INT] = {SQL_C_SBIGINT, sizeof(int64_t)},
    [OD_UINT] = {SQL_C_UBIGINT, sizeof(uint64_t)},
    [OD_BOOL] = {SQL_C_BIT, 1},
    [OD_FLOAT] = {SQL_C_FLOAT, sizeof(float)},
    [OD_DOUBLE] = {SQL_C_DOUBLE, sizeof(double)},
    [OD_DATE] = {SQL_C_TYPE_DATE, sizeof(SQL_DATE_STRUCT)},
    [OD_DATETIME] = {SQL_C_TYPE_TIMESTAMP, sizeof(SQL_TIMESTAMP_STRUCT)},
    [OD_MOMENT] = {SQL_C_CHAR, 0},
    [OD_BOOL_TEXT] = {SQL_C_CHAR, 0},
};

int od_c_type(od_codec codec) { return codecs[codec].c_type; }

size_t od_fixed_size(od_codec codec) { return codecs[codec].size; }

/* ---- Dates and times ------------------------------------------------------------------------------ */

static char *digits(char *out, unsigned value, int width) {
  for (int i = width; i-- > 0; value /= 10) out[i] = (char)('0' + value % 10);
  return out + width;
}

static char *put_date(char *p, int year, unsigned month, unsigned day) {
  if (year < 0) *p++ = '-';
  p = digits(p, (unsigned)(year < 0 ? -year : year), year > 9999 || year < -9999 ? 5 : 4);
  *p++ = '-';
  p = digits(p, month, 2);
  *p++ = '-';
  return digits(p, day, 2);
}

static void lend(edb_value *v, const char *text, size_t n) {
  v->kind = EDB_TEXT;
  v->as.text.p = text;
  v->as.text.n = n;
}

void od_date_value(const SQL_DATE_STRUCT *date, edb_value *v, char text[OD_MOMENT_TEXT]) {
  const size_t n = (size_t)(put_date(text, date->year, date->month, date->day) - text);
  lend(v, text, n);
  if (n == 10 && edb_time_parse(text, n, EDB_DATE, 0, &v->as.time)) {
    v->kind = EDB_TIME;
  } else {
    lend(v, text, n);
  }
}

void od_datetime_value(const SQL_TIMESTAMP_STRUCT *t, int zoned, edb_value *v,
                       char text[OD_MOMENT_TEXT]) {
  const int64_t second = INT64_C(1000000000);
  char *p = put_date(text, t->year, t->month, t->day);
  edb_time time;
  if (p == text + 10 && edb_time_parse(text, 10, EDB_DATE, 0, &time) && t->hour < 24 &&
      t->minute < 60 && t->second < 60 && t->fraction < second) {
    time.form = EDB_DATETIME;
    time.zoned = (uint8_t)zoned;
    time.nanos = ((t->hour * 60 + t->minute) * 60 + t->second) * second + t->fraction;
    v->kind = EDB_TIME;
    v->as.time = time;
    return;
  }
  *p++ = ' ';
  p = digits(p, t->hour, 2);
  *p++ = ':';
  p = digits(p, t->minute, 2);
  *p++ = ':';
  p = digits(p, t->second, 2);
  if (t->fraction > 0) {
    *p++ = '.';
    p = digits(p, t->fraction, 9);
    while (p[-1] == '0') p--;
  }
  lend(v, text, (size_t)(p - text));
}

/* The digits of "HH:MM:SS[.f…]" behind a sign, of any number of hours; -1: it is no such text. */
static int64_t clock_nanos(const char *p, size_t n) {
  int64_t parts[3] = {0}, fraction = 0, unit = 1000000000;
  size_t i = 0;
  for (int part = 0; part < 3; part++) {
    const size_t from = i;
    while (i < n && i - from < 4 && p[i] >= '0' && p[i] <= '9') {
      parts[part] = parts[part] * 10 + (p[i++] - '0');
    }
    if (i == from || (part > 0 && (i - from != 2 || parts[part] > 59))) return -1;
    if (part < 2 && (i >= n || p[i++] != ':')) return -1;
  }
  if (i < n && p[i] == '.') {
    i++;
    while (i < n && unit > 1 && p[i] >= '0' && p[i] <= '9')
      fraction += (p[i++] - '0') * (unit /= 10);
  }
  if (i != n) return -1;
  return ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000000000 + fraction;
}

/* "+02", "-03:30", "Z" at the end: seconds east of UTC, and how many bytes it takes. */
static size_t zone_of(const char *p, size_t n, int64_t *seconds) {
  *seconds = 0;
  if (n > 0 && p[n - 1] == 'Z') return 1;
  for (size_t size = 3; size <= 9 && size < n; size += 3) {
    const char *z = p + n - size;
    if (*z != '+' && *z != '-') continue;
    int64_t total = 0;
    for (size_t i = 1; i < size; i += 3) {
      if (z[i] < '0' || z[i] > '9' || z[i + 1] < '0' || z[i + 1] > '9') return 0;
      total = total * 60 + (z[i] - '0') * 10 + (z[i + 1] - '0');
    }
    for (size_t i = size; i < 9; i += 3) total *= 60;
    *seconds = *z == '-' ? -total : total;
    return size;
  }
  return 0;
}

void od_moment_value(const edb_type *type, const char *p, size_t n, edb_value *v) {
  const int zoned = type->compare == EDB_COMPARE_INSTANT;
  edb_time time = {0};
  int64_t east = 0;
  size_t end = n;
  lend(v, p, n);
  if (type->declared == EDB_DECLARED_TIME) {
    const int negative = n > 0 && *p == '-';
    const int64_t nanos = clock_nanos(p + negative, n - (size_t)negative);
    if (nanos < 0) return;
    time = (edb_time){negative ? -nanos : nanos, 0, EDB_CLOCK, 0};
  } else {
    if (n < 10 || !edb_time_parse(p, 10, EDB_DATE, 0, &time)) return;
    if (type->declared == EDB_DECLARED_DATE) {
      if (n != 10) return;
    } else {
      if (zoned) end -= zone_of(p, n, &east);
      if (end > 10) {
        if (end < 12 || (p[10] != ' ' && p[10] != 'T')) return;
        time.nanos = clock_nanos(p + 11, end - 11);
        if (time.nanos < 0 || time.nanos >= INT64_C(86400000000000)) return;
      }
      time.nanos -= east * 1000000000;
      time.form = EDB_DATETIME;
      time.zoned = (uint8_t)zoned;
    }
  }
  v->kind = EDB_TIME;
  v->as.time = time;
}
