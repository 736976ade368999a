/*
** drivers/sqlserver_catalog.c: how SQL Server writes SQL, its types, and what its catalog is asked. Data alone.
**
** What is compared there rests on these facts:
**
**   text       `=` under any collation holds at least where the characters are the same, whatever it makes of case,
**              accents, width and blanks at the end. text and ntext are not compared; as nvarchar(max) they are.
**   floats     there is no NaN and no infinity; a real is compared as the double that it is read as.
**   datetime   is kept in 1/300 s and read in milliseconds, so that the nearest 1/300 s of what is read is what is
**              kept, and of anything before it is not after it. So the parameter is rounded, and the column's index
**              is used. Against a datetime2, from compatibility level 130 on, it would be .0033333 and not .003.
**   decimal    a number that SQLite holds as a double is not compared.
**   binary     0x01 = 0x0100: bytes are not compared.
*/
#include <stdlib.h>
#include <string.h>

#include "sqlserver.h"

/* ---- Types -------------------------------------------------------------------------------------- */

/* Compared by no server. */
#define PLAIN(its_name, its_kind, its_declared)                                                    \
  { .name = its_name, .kind = its_kind, .declared = its_declared }
#define COMPARED(its_name, its_kind, its_declared, its_compare)                                    \
  { .name = its_name, .kind = its_kind, .declared = its_declared, .compare = its_compare }
#define BYTES(its_name) PLAIN(its_name, EDB_BYTES, EDB_DECLARED_BLOB)
#define DECIMAL(its_name) COMPARED(its_name, EDB_TEXT, EDB_DECLARED_NUMERIC, EDB_COMPARE_DECIMAL)
#define INTEGER(its_name) COMPARED(its_name, EDB_I64, EDB_DECLARED_INTEGER, EDB_COMPARE_INTEGER)
#define FLOAT(its_name) COMPARED(its_name, EDB_F64, EDB_DECLARED_REAL, EDB_COMPARE_FINITE)
#define TEXT(its_name, its_compared, its_text)                                                     \
  {                                                                                                \
    .name = its_name, .kind = EDB_TEXT, .declared = EDB_DECLARED_TEXT,                             \
    .compare = EDB_COMPARE_TEXT, .compared = its_compared, .text = its_text                        \
  }

/* Code points in their order, but blanks at the end are as good as none, and what is beyond U+FFFF stands before what
** is just below it: so bounds end before the surrogates. Patterns are matched by UTF-16's units. That a collation of a
** language matches all that SQLite does is not known: with a combining accent behind it, a letter is another one. */
#define BIN2(column) column " COLLATE Latin1_General_BIN2"
#define AS_UNICODE "CAST(%s AS nvarchar(max))"
#define MATCH(column)                                                                              \
  { .before = column " LIKE ", .after = " ESCAPE '!'", .special = "%_[!", .classes = 1, .units = 1 }
#define BYTE_ORDERED(its_name, column)                                                             \
  static const edb_match its_name##_match = MATCH(column);                                         \
  static const edb_text its_name = {.ordered = column,                                             \
                                    .bound = "%s",                                                 \
                                    .reach = 0xD7FF,                                               \
                                    .padded = 1,                                                   \
                                    .like = &its_name##_match,                                     \
                                    .glob = &its_name##_match}
BYTE_ORDERED(unicode, BIN2("%s"));
BYTE_ORDERED(codepage, BIN2(AS_UNICODE));
/* Its own collation is such a one: its index finds a range. */
BYTE_ORDERED(bin2, "%s");

#define FINEST 100 /* datetime2(7), as which parameters are sent */
#define MOMENT(its_name, its_declared, its_compare)                                                \
  {                                                                                                \
    .name = its_name, .kind = EDB_TIME, .declared = its_declared, .compare = its_compare,          \
    .finest = FINEST                                                                               \
  }

/* 1753-01-01 to 9999-12-31 23:59:59.997; to 23:59:59.9999999. */
static const edb_span datetimes = {-79257, {86399997000000, 2932896, EDB_DATETIME, 0}, 1};
static const edb_span clocks = {0, {86399999999900, 0, EDB_CLOCK, 0}, 0};

/* Sorted by name. */
static const edb_type types[] = {
    INTEGER("bigint"),
    BYTES("binary"),
    COMPARED("bit", EDB_BOOL, EDB_DECLARED_INTEGER, EDB_COMPARE_BOOLEAN),
    TEXT("char", NULL, &codepage),
    COMPARED("date", EDB_TIME, EDB_DECLARED_DATE, EDB_COMPARE_DATE),
    {.name = "datetime",
     .kind = EDB_TIME,
     .declared = EDB_DECLARED_DATETIME,
     .compare = EDB_COMPARE_DATETIME,
     .parameter = "CAST(%s AS datetime)",
     .finest = FINEST,
     .span = &datetimes},
    MOMENT("datetime2", EDB_DECLARED_DATETIME, EDB_COMPARE_DATETIME),
    MOMENT("datetimeoffset", EDB_DECLARED_DATETIME, EDB_COMPARE_INSTANT),
    DECIMAL("decimal"),
    FLOAT("float"),
    BYTES("geography"),
    BYTES("geometry"),
    BYTES("hierarchyid"),
    BYTES("image"),
    INTEGER("int"),
    PLAIN("json", EDB_TEXT, EDB_DECLARED_JSON),
    DECIMAL("money"),
    TEXT("nchar", NULL, &unicode),
    TEXT("nchar bin2", NULL, &bin2),
    TEXT("ntext", AS_UNICODE, &codepage),
    PLAIN("null", EDB_NULL, EDB_DECLARED_BLOB),
    DECIMAL("numeric"),
    TEXT("nvarchar", NULL, &unicode),
    TEXT("nvarchar bin2", NULL, &bin2),
    FLOAT("real"),
    MOMENT("smalldatetime", EDB_DECLARED_DATETIME, EDB_COMPARE_DATETIME),
    INTEGER("smallint"),
    DECIMAL("smallmoney"),
    PLAIN("sql_variant", EDB_NULL, EDB_DECLARED_BLOB),
    TEXT("text", "CAST(%s AS varchar(max))", &codepage),
    {.name = "time",
     .kind = EDB_TIME,
     .declared = EDB_DECLARED_TIME,
     .compare = EDB_COMPARE_CLOCK,
     .finest = FINEST,
     .span = &clocks},
    BYTES("timestamp"),
    INTEGER("tinyint"),
    {.name = "uniqueidentifier",
     .kind = EDB_TEXT,
     .declared = EDB_DECLARED_TEXT,
     .compare = EDB_COMPARE_UUID,
     .parameter = "CAST(%s AS uniqueidentifier)"},
    BYTES("varbinary"),
    TEXT("varchar", NULL, &codepage),
    PLAIN("vector", EDB_TEXT, EDB_DECLARED_JSON),
    PLAIN("xml", EDB_TEXT, EDB_DECLARED_TEXT),
};

/* Types of libraries, and what is new: bytes. */
static const edb_type other = BYTES("");

static int compare_names(const void *name, const void *type) {
  return strcmp(name, ((const edb_type *)type)->name);
}

static const edb_type *type_called(const char *name) {
  const edb_type *found =
      bsearch(name, types, sizeof types / sizeof types[0], sizeof types[0], compare_names);
  return found ? found : &other;
}

/* A transaction that is left open is seen by its token. */
static const char *const lasting[] = {"set", "use", "exec", "sp_", "#", "openrowset", NULL};
static const char *const control[] = {"save tran", "save transaction", "set implicit_transactions",
                                      "set xact_abort", NULL};

/* Of the 2,100 parameters of a call, three are the statement, its declarations and its handle. A row limit has to
** come behind an order, even if it is none. */
const edb_dialect ms_dialect = {
    .quote = {'[', ']'},
    .placeholder = "?",
    .no_two_phase = "SQL Server prepares transactions for a distributed transaction "
                    "coordinator (MSDTC) alone, which edb is not",
    .limit = " ORDER BY (SELECT NULL) OFFSET 0 ROWS FETCH NEXT %s ROWS ONLY",
    .limit_ordered = " OFFSET 0 ROWS FETCH NEXT %s ROWS ONLY",
    .savepoint = "SAVE TRANSACTION %s",
    .rollback_to = "ROLLBACK TRANSACTION %s",
    .insert_defaults = " DEFAULT VALUES",
    .output = "inserted.",
    .output_refused = 334,
    .output_else = "; SELECT CAST(SCOPE_IDENTITY() AS bigint) WHERE @@ROWCOUNT = 1",
    .false_clause = "1=0",
    .max_parameters = 2097,
    .column_aliases = 1,
    .control = control,
    .lasting = lasting,
    .type = type_called};

/* ---- The catalog --------------------------------------------------------------------------------
**
** Written for servers from 2012 on: what came later is asked of COLUMNPROPERTY, which answers NULL where it knows
** nothing of it, and not of columns of sys.columns, which would be an error. */

/* Heaps are index 0, clustered ones 1. A view has no partitions. */
#define ROWS                                                                                       \
  "(SELECT SUM(p.rows) FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id < 2)"

/* A synonym is a table where what it stands for is one, on this server. */
static const char tables[] =
    "SELECT s.name, o.name, CASE o.type WHEN 'U' THEN 'table' WHEN 'V' THEN 'view' ELSE 'synonym' "
    "END, " ROWS ", CAST(e.value AS nvarchar(4000))"
    " FROM (SELECT CAST(? AS nvarchar(128)) AS s) q"
    " JOIN sys.schemas s ON q.s IS NULL OR s.name = q.s"
    " JOIN sys.all_objects o ON o.schema_id = s.schema_id"
    " LEFT JOIN sys.synonyms n ON n.object_id = o.object_id"
    " LEFT JOIN sys.extended_properties e ON e.class = 1 AND e.major_id = o.object_id"
    " AND e.minor_id = 0 AND e.name = 'MS_Description'"
    " WHERE (o.type IN ('U', 'V') OR OBJECT_ID(n.base_object_name, 'U') IS NOT NULL"
    " OR OBJECT_ID(n.base_object_name, 'V') IS NOT NULL) AND (q.s IS NOT NULL OR o.is_ms_shipped = "
    "0)"
    " ORDER BY s.name, o.name";

/* Runs a query (with its apostrophes doubled) of @schema, that of the table, and @name, the whole of it, in the
** database of what a synonym stands for. */
#define IN_ITS_DATABASE(query)                                                                     \
  "DECLARE @s nvarchar(128) = ?, @t nvarchar(128) = ?;"                                            \
  " DECLARE @name nvarchar(1100) = COALESCE(QUOTENAME(@s) + '.', '') + QUOTENAME(@t);"             \
  " DECLARE @schema nvarchar(128) = OBJECT_SCHEMA_NAME(OBJECT_ID(@name));"                         \
  " DECLARE @base nvarchar(1100) = (SELECT n.base_object_name FROM sys.synonyms n"                 \
  " WHERE n.object_id = OBJECT_ID(@name));"                                                        \
  " DECLARE @run nvarchar(300) = COALESCE(QUOTENAME(PARSENAME(@base, 3)) + '.', '')"               \
  " + 'sys.sp_executesql';"                                                                        \
  " IF PARSENAME(@base, 4) IS NOT NULL RAISERROR('%s is a synonym of %s, on another server: use"   \
  " that server, or query=', 16, 1, @name, @base);"                                                \
  " SET @name = COALESCE(@base, @name);"                                                           \
  " EXEC @run N'" query "', N'@schema nvarchar(128), @name nvarchar(1100)', @schema, @name"

static const char relation[] = IN_ITS_DATABASE(
    "SELECT @schema, o.name, CASE o.type WHEN ''U'' THEN ''table'' ELSE ''view'' END, " ROWS
    ", NULL, 0"
    " FROM sys.all_objects o WHERE o.object_id = OBJECT_ID(@name) AND o.type IN (''U'', ''V'')");

/* As a person writes it. */
#define TYPE_NAME                                                                                  \
  "CASE WHEN b.name IN (''decimal'', ''numeric'') AND b.name = u.name"                             \
  " THEN CONCAT(u.name, ''('', c.precision, '','', c.scale, '')'')"                                \
  " WHEN u.name IN (''time'', ''datetime2'', ''datetimeoffset'')"                                  \
  " THEN CONCAT(u.name, ''('', c.scale, '')'')"                                                    \
  " WHEN u.name IN (''char'', ''varchar'', ''nchar'', ''nvarchar'', ''binary'', ''varbinary'')"    \
  " THEN CONCAT(u.name, ''('', CASE WHEN c.max_length = -1 THEN ''max''"                           \
  " WHEN u.name IN (''nchar'', ''nvarchar'') THEN CAST(c.max_length / 2 AS varchar(10))"           \
  " ELSE CAST(c.max_length AS varchar(10)) END, '')'') ELSE u.name END"

/* The primary key, else the first unique index of columns that are never NULL. */
#define KEY_INDEX                                                                                  \
  "(SELECT TOP 1 i.index_id FROM sys.indexes i WHERE i.object_id = o.object_id"                    \
  " AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0 AND i.is_hypothetical = 0"      \
  " AND NOT EXISTS (SELECT 1"                                                                      \
  " FROM sys.index_columns x JOIN sys.all_columns y ON y.object_id = x.object_id"                  \
  " AND y.column_id = x.column_id WHERE x.object_id = i.object_id AND x.index_id = i.index_id"     \
  " AND x.is_included_column = 0 AND y.is_nullable = 1)"                                           \
  " ORDER BY i.is_primary_key DESC, i.index_id)"

#define GENERATED "COLUMNPROPERTY(c.object_id, c.name, ''GeneratedAlwaysType'')"
#define COLUMN_SET "COLUMNPROPERTY(c.object_id, c.name, ''IsColumnSet'')"
#define HIDDEN "COALESCE(COLUMNPROPERTY(c.object_id, c.name, ''IsHidden''), 0)"

/* The server alone fills in computed columns, row versions and the times of a temporal table. It may fill in an identity,
** and a column set, which is only another way to write its sparse columns. Hidden columns are a table's own if
** they are of a temporal or a ledger table; others cannot be read (of a graph's nodes and edges). The vector type is
** stored as a varbinary. */
static const char columns[] = IN_ITS_DATABASE(
    "SELECT c.name, CASE WHEN u.name = ''vector'' THEN u.name WHEN b.name IN "
    "(''nchar'', ''nvarchar'') AND c.collation_name LIKE ''%[_]BIN2'' THEN b.name + '' bin2'' "
    "ELSE COALESCE(b.name, u.name) END, " TYPE_NAME ", c.is_nullable, COALESCE(k.key_ordinal, 0),"
    " CASE WHEN c.is_computed = 1 OR b.name = ''timestamp'' OR " GENERATED " > 0 THEN 2"
    " WHEN c.default_object_id <> 0 OR c.is_identity = 1 OR " COLUMN_SET " = 1 THEN 1 ELSE 0 END,"
    " (SELECT COUNT(*) FROM sys.indexes i JOIN sys.index_columns x ON x.object_id = i.object_id "
    "AND x.index_id = i.index_id"
    " WHERE i.object_id = o.object_id AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = "
    "0 AND i.is_hypothetical = 0"
    " AND x.column_id = c.column_id AND x.is_included_column = 0 AND NOT EXISTS (SELECT 1 FROM "
    "sys.index_columns y"
    " WHERE y.object_id = i.object_id AND y.index_id = i.index_id AND y.is_included_column = 0 AND "
    "y.column_id <> c.column_id))"
    " FROM sys.all_objects o JOIN sys.all_columns c ON c.object_id = o.object_id"
    " JOIN sys.types u ON u.user_type_id = c.user_type_id"
    " LEFT JOIN sys.types b ON b.user_type_id = c.system_type_id"
    " LEFT JOIN sys.index_columns k ON k.object_id = c.object_id AND k.column_id = c.column_id"
    " AND k.is_included_column = 0 AND k.index_id = " KEY_INDEX
    " WHERE o.object_id = OBJECT_ID(@name) AND o.type IN (''U'', ''V'')"
    " AND (" HIDDEN " = 0 OR " GENERATED " > 0) ORDER BY c.column_id");

static const char *const identities[] = {NULL};

/* A view's rows can only be counted by running it. */
const edb_catalog ms_catalog = {
    .tables = tables, .relation = relation, .columns = columns, .identities = identities};
