/*
** Calls of T-SQL's functions: what each becomes in SQLite, and its type.
*/
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* `sql` is SQLite's function.  `type` is a type's name; `=n` the type of the n-th argument, `+n` that
** with max length kept, `*` of all combined. */
typedef struct {
  const char *name;
  int8_t min, max;
  const char *sql, *type;
} Function;

static const Function functions[] = {
    {"ABS", 1, 1, "tds_abs", "=1"},
    {"ASCII", 1, 1, "tds_ascii", "int"},
    {"CEILING", 1, 1, "tds_ceiling", "=1"},
    {"CHAR", 1, 1, "tds_char", "char(1)"},
    {"CHARINDEX", 2, 3, "tds_charindex", "int"},
    {"COALESCE", 2, 100, "coalesce", "*"},
    {"COL_LENGTH", 2, 2, "tds_col_length", "smallint"},
    {"COL_NAME", 2, 2, "tds_col_name", "nvarchar(128)"},
    {"COLUMNPROPERTY", 3, 3, "tds_columnproperty", "int"},
    {"CONCAT", 2, 100, "tds_concat", "nvarchar(4000)"},
    {"CONCAT_WS", 3, 100, "tds_concat_ws", "nvarchar(4000)"},
    {"DATABASEPROPERTYEX", 2, 2, "tds_databaseproperty", "nvarchar(128)"},
    {"DATALENGTH", 1, 1, "tds_datalength", "int"},
    {"DAY", 1, 1, "tds_day", "int"},
    {"DB_ID", 0, 1, "tds_db_id", "int"},
    {"DB_NAME", 0, 1, "tds_db_name", "nvarchar(128)"},
    {"ERROR_LINE", 0, 0, "tds_error_line", "int"},
    {"ERROR_MESSAGE", 0, 0, "tds_error_message", "nvarchar(4000)"},
    {"ERROR_NUMBER", 0, 0, "tds_error_number", "int"},
    {"ERROR_PROCEDURE", 0, 0, "tds_error_procedure", "nvarchar(128)"},
    {"ERROR_SEVERITY", 0, 0, "tds_error_severity", "int"},
    {"ERROR_STATE", 0, 0, "tds_error_state", "int"},
    {"FLOOR", 1, 1, "tds_floor", "=1"},
    {"GETDATE", 0, 0, "tds_now", "datetime"},
    {"GETUTCDATE", 0, 0, "tds_now", "datetime"},
    {"HAS_DBACCESS", 1, 1, "tds_has_dbaccess", "int"},
    {"HAS_PERMS_BY_NAME", 3, 5, "tds_one", "int"},
    {"HOST_NAME", 0, 0, "tds_host_name", "nvarchar(128)"},
    {"APP_NAME", 0, 0, "tds_app_name", "nvarchar(128)"},
    {"IDENT_CURRENT", 1, 1, "tds_ident_current", "numeric(38,0)"},
    {"INDEXPROPERTY", 3, 3, "tds_null", "int"},
    {"IS_MEMBER", 1, 1, "tds_one", "int"},
    {"IS_SRVROLEMEMBER", 1, 2, "tds_one", "int"},
    {"ISNULL", 2, 2, "coalesce", "=1"},
    {"ISNUMERIC", 1, 1, "tds_isnumeric", "int"},
    {"ISJSON", 1, 1, "json_valid", "int"},
    {"JSON_VALUE", 2, 2, "tds_json_value", "nvarchar(4000)"},
    {"LEFT", 2, 2, "tds_left", "+1"},
    {"LEN", 1, 1, "tds_len", "int"},
    {"LOWER", 1, 1, "tds_lower", "+1"},
    {"LTRIM", 1, 1, "ltrim", "+1"},
    {"MONTH", 1, 1, "tds_month", "int"},
    {"NCHAR", 1, 1, "tds_nchar", "nchar(1)"},
    {"NEWID", 0, 0, "tds_newid", "uniqueidentifier"},
    {"NEWSEQUENTIALID", 0, 0, "tds_newid", "uniqueidentifier"},
    {"NULLIF", 2, 2, "nullif", "=1"},
    {"OBJECT_DEFINITION", 1, 1, "tds_object_definition", "nvarchar(max)"},
    {"OBJECT_ID", 1, 2, "tds_object_id", "int"},
    {"OBJECT_NAME", 1, 2, "tds_object_name", "nvarchar(128)"},
    {"OBJECT_SCHEMA_NAME", 1, 2, "tds_object_schema_name", "nvarchar(128)"},
    {"OBJECTPROPERTY", 2, 2, "tds_objectproperty", "int"},
    {"OBJECTPROPERTYEX", 2, 2, "tds_objectproperty", "sql_variant"},
    {"ORIGINAL_LOGIN", 0, 0, "tds_user", "nvarchar(128)"},
    {"PI", 0, 0, "pi", "float"},
    {"POWER", 2, 2, "tds_power", "=1"},
    {"PARSENAME", 2, 2, "tds_parsename", "nvarchar(128)"},
    {"QUOTENAME", 1, 2, "tds_quotename", "nvarchar(258)"},
    {"REPLACE", 3, 3, "replace", "+1"},
    {"REPLICATE", 2, 2, "tds_replicate", "+1"},
    {"REVERSE", 1, 1, "tds_reverse", "+1"},
    {"RIGHT", 2, 2, "tds_right", "+1"},
    {"ROUND", 2, 3, "tds_round", "=1"},
    {"ROWCOUNT_BIG", 0, 0, "tds_rowcount", "bigint"},
    {"RTRIM", 1, 1, "rtrim", "+1"},
    {"SCHEMA_ID", 0, 1, "tds_schema_id", "int"},
    {"SCHEMA_NAME", 0, 1, "tds_schema_name", "nvarchar(128)"},
    {"SCOPE_IDENTITY", 0, 0, "tds_identity", "numeric(38,0)"},
    {"SERVERPROPERTY", 1, 1, "tds_serverproperty", "sql_variant"},
    {"SESSIONPROPERTY", 1, 1, "tds_null", "sql_variant"},
    {"SIGN", 1, 1, "sign", "=1"},
    {"SPACE", 1, 1, "tds_space", "varchar(8000)"},
    {"SQL_VARIANT_PROPERTY", 2, 2, "tds_variant_property", "sql_variant"},
    {"SQRT", 1, 1, "sqrt", "float"},
    {"STRING_AGG", 2, 2, "group_concat", "nvarchar(4000)"},
    {"STUFF", 4, 4, "tds_stuff", "+1"},
    {"SUBSTRING", 3, 3, "tds_substring", "+1"},
    {"SUSER_NAME", 0, 1, "tds_user", "nvarchar(128)"},
    {"SUSER_SNAME", 0, 1, "tds_user", "nvarchar(128)"},
    {"SYSDATETIME", 0, 0, "tds_now", "datetime2(7)"},
    {"SYSDATETIMEOFFSET", 0, 0, "tds_now_offset", "datetimeoffset(7)"},
    {"SYSUTCDATETIME", 0, 0, "tds_now", "datetime2(7)"},
    {"TRIM", 1, 1, "trim", "+1"},
    {"TYPE_ID", 1, 1, "tds_type_id", "int"},
    {"TYPE_NAME", 1, 1, "tds_type_name", "nvarchar(128)"},
    {"UNICODE", 1, 1, "unicode", "int"},
    {"UPPER", 1, 1, "tds_upper", "+1"},
    {"USER_NAME", 0, 1, "tds_user_name", "nvarchar(128)"},
    {"XACT_STATE", 0, 0, "tds_xact_state", "smallint"},
    {"YEAR", 1, 1, "tds_year", "int"},
    {"ROW_NUMBER", 0, 0, "row_number", "bigint"},
    {"RANK", 0, 0, "rank", "bigint"},
    {"DENSE_RANK", 0, 0, "dense_rank", "bigint"},
    {"TXTPTR", 1, 1, "tds_null", "varbinary(16)"},
    {"CURRENT_TRANSACTION_ID", 0, 0, "tds_null", "bigint"},
};

/* Without parentheses. */
static const Function words[] = {
    {"CURRENT_TIMESTAMP", 0, 0, "tds_now", "datetime"},
    {"CURRENT_USER", 0, 0, "tds_user_name", "nvarchar(128)"},
    {"SESSION_USER", 0, 0, "tds_user_name", "nvarchar(128)"},
    {"SYSTEM_USER", 0, 0, "tds_user", "nvarchar(128)"},
    {"USER", 0, 0, "tds_user_name", "nvarchar(128)"},
};

/* What an aggregate of a type has. */
static Type sum_type(const Type *t, bool average) {
  switch (type_class(t)) {
  case C_INT:
    return type_make(t->kind == K_BIGINT ? K_BIGINT : K_INT, 0, 0, 0);
  case C_DECIMAL:
    if (t->kind == K_MONEY || t->kind == K_SMALLMONEY) return type_make(K_MONEY, 0, 0, 0);
    return type_make(K_DECIMAL, 0, 38, average && t->scale < 6 ? 6 : t->scale);
  default:
    return type_make(K_FLOAT, 0, 0, 0);
  }
}

static void parse_over(Batch *b, Buf *out) {
  if (!take_word(b, "OVER")) return;
  need_op(b, "(");
  buf_text(out, " OVER (");
  Expr e;
  if (take_word(b, "PARTITION")) {
    need_word(b, "BY");
    buf_text(out, "PARTITION BY ");
    do parse_value(b, out, &e);
    while (take_op(b, ",") && (buf_u8(out, ','), true));
  }
  if (take_word(b, "ORDER")) {
    need_word(b, "BY");
    buf_text(out, " ORDER BY ");
    do {
      parse_value(b, out, &e);
      if (!take_word(b, "ASC") && take_word(b, "DESC")) buf_text(out, " DESC");
    } while (take_op(b, ",") && (buf_u8(out, ','), true));
  }
  need_op(b, ")");
  buf_u8(out, ')');
}

/* COUNT, SUM, AVG, MIN, MAX. */
static bool parse_aggregate(Batch *b, Buf *out, Expr *e, const char *name) {
  static const char *const names[] = {"COUNT", "COUNT_BIG", "SUM", "AVG", "MIN", "MAX"};
  size_t which = 0;
  while (which < 6 && strcasecmp(name, names[which]) != 0) which++;
  if (which == 6) return false;
  b->i += 2;
  Buf argument = {0};
  Expr in = {0};
  bool distinct = take_word(b, "DISTINCT");
  if (which < 2 && take_op(b, "*")) {
    buf_text(&argument, "*");
  } else {
    take_word(b, "ALL");
    parse_value(b, &argument, &in);
  }
  need_op(b, ")");
  const char *text = buf_string(&argument), *prefix = distinct ? "DISTINCT " : "";
  e->aggregate = true;
  e->nullable = which >= 2;
  if (which < 2) {
    e->type = type_make(which == 0 ? K_INT : K_BIGINT, 0, 0, 0);
    buf_printf(out, "count(%s%s)", prefix, text);
  } else if (which < 4) {
    char type[64];
    e->type = sum_type(&in.type, which == 3);
    type_print(&e->type, type, sizeof type);
    /* DISTINCT takes one argument only; the rest goes by the function's name. */
    if (distinct) {
      buf_printf(out, "tds_cast(%s(DISTINCT %s),'float','%s',0,0)", which == 2 ? "sum" : "avg",
                 text, type);
    } else {
      buf_printf(out, "%s(%s,'%s')", which == 2 ? "tds_sum" : "tds_avg", text, type);
    }
  } else {
    e->type = in.type;
    bool plain = in.column || type_class(&in.type) == C_INT || type_class(&in.type) == C_REAL;
    buf_printf(out, "%s(%s", which == 4 ? "min" : "max", text);
    if (!plain) buf_printf(out, " COLLATE %s", collation_of(&in.type));
    buf_u8(out, ')');
  }
  buf_free(&argument);
  parse_over(b, out);
  return true;
}

/* DATEADD, DATEDIFF, DATEPART, DATENAME: the part is a bare word. */
static bool parse_date_function(Batch *b, Buf *out, Expr *e, const char *name) {
  static const struct {
    const char *name, *sql;
    int arguments;
    Kind kind;
  } rows[] = {{"DATEADD", "tds_dateadd", 2, K_DATETIME},
              {"DATEDIFF", "tds_datediff", 2, K_INT},
              {"DATEDIFF_BIG", "tds_datediff", 2, K_BIGINT},
              {"DATEPART", "tds_datepart", 1, K_INT}};
  size_t i = 0, n = sizeof rows / sizeof *rows;
  while (i < n && strcasecmp(name, rows[i].name) != 0) i++;
  if (i == n) return false;
  b->i += 2;
  buf_printf(out, "%s(", rows[i].sql);
  const char *part = take_name(b);
  quote_text(out, part, strlen(part));
  e->type = type_make(rows[i].kind, 0, 0, 0);
  for (int k = 0; k < rows[i].arguments; k++) {
    Expr in;
    need_op(b, ",");
    buf_u8(out, ',');
    parse_value(b, out, &in);
    if (i == 0 && k == 1 && type_class(&in.type) == C_TIME) e->type = in.type;
  }
  if (i == 0) {
    char type[64];
    type_print(&e->type, type, sizeof type);
    buf_printf(out, ",'%s'", type);
  }
  need_op(b, ")");
  buf_u8(out, ')');
  e->nullable = true;
  return true;
}

static bool parse_iif(Batch *b, Buf *out, Expr *e, const char *name) {
  if (strcasecmp(name, "IIF") != 0) return false;
  b->i += 2;
  Expr yes, no;
  buf_text(out, "CASE WHEN ");
  parse_condition(b, out);
  need_op(b, ",");
  buf_text(out, " THEN ");
  parse_value(b, out, &yes);
  need_op(b, ",");
  buf_text(out, " ELSE ");
  parse_value(b, out, &no);
  need_op(b, ")");
  buf_text(out, " END");
  e->type = type_combine(&yes.type, &no.type);
  e->nullable = true;
  return true;
}

static Type result_type(const Function *f, const Type *arguments, int n) {
  Type t = {.kind = K_NONE};
  if (f->type[0] == '=' || f->type[0] == '+') {
    t = n > 0 ? arguments[f->type[1] - '1'] : t;
    if (f->type[0] == '+' && (t.kind == K_CHAR || type_class(&t) != C_TEXT)) {
      if (type_class(&t) != C_BYTES) t = type_make(K_VARCHAR, 8000, 0, 0);
    }
    if (f->type[0] == '+' && t.kind == K_NCHAR) t.kind = K_NVARCHAR;
    if (strcmp(f->name, "REPLACE") == 0 || strcmp(f->name, "REPLICATE") == 0 ||
        strcmp(f->name, "STUFF") == 0) {
      if (t.length > 0) t.length = type_is_unicode(t.kind) ? 4000 : 8000;
    }
    if ((strcmp(f->name, "FLOOR") == 0 || strcmp(f->name, "CEILING") == 0) && t.kind == K_DECIMAL)
      t.scale = 0;
  } else if (f->type[0] == '*') {
    for (int i = 0; i < n; i++) t = type_combine(&t, &arguments[i]);
  } else {
    type_parse(f->type, &t);
  }
  if (strcmp(f->name, "DATALENGTH") == 0 && n > 0 && type_is_plp(&arguments[0])) t.kind = K_BIGINT;
  return t;
}

static void write_call(Batch *b, Buf *out, Expr *e, const Function *f) {
  Type arguments[100] = {{0}};
  bool nullable = false;
  int n = 0;
  buf_printf(out, "%s(", f->sql);
  while (!at_op(b, ")") && !b->failed && n < f->max) {
    Expr in;
    if (n > 0) {
      need_op(b, ",");
      buf_u8(out, ',');
    }
    size_t at = out->n;
    parse_value(b, out, &in);
    bool text = strncmp(f->name, "CONCAT", 6) == 0 || strcmp(f->name, "LEN") == 0;
    Type to = type_make(K_NVARCHAR, -1, 0, 0);
    if (text && type_class(&in.type) != C_TEXT && in.type.kind != K_NONE)
      wrap_cast(out, at, &in.type, &to, 0, false);
    if (strcmp(f->name, "ISNULL") == 0 && n == 1 &&
        type_class(&in.type) != type_class(&arguments[0]))
      wrap_cast(out, at, &in.type, &arguments[0], 0, false);
    arguments[n++] = in.type;
    nullable |= in.nullable;
  }
  if (!b->failed && n < f->min)
    fail(b, 174, 15, "The %s function requires %d argument(s).", f->name, f->min);
  if (strcmp(f->name, "DATALENGTH") == 0 || strcmp(f->name, "SQL_VARIANT_PROPERTY") == 0) {
    char type[64];
    type_print(&arguments[0], type, sizeof type);
    buf_printf(out, ",'%s'", type);
  }
  need_op(b, ")");
  buf_u8(out, ')');
  e->type = result_type(f, arguments, n);
  e->nullable = strcmp(f->name, "ISNULL") == 0 ? nullable : true;
  if (strcmp(f->name, "STRING_AGG") == 0) e->aggregate = true;
  parse_over(b, out);
}

bool parse_function(Batch *b, Buf *out, Expr *e, const char *name) {
  bool call = peek_at(b, 1)->kind == L_OP && strcmp(peek_at(b, 1)->text, "(") == 0;
  if (!call) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
      if (strcasecmp(name, words[i].name) != 0) continue;
      b->i++;
      buf_printf(out, "%s()", words[i].sql);
      type_parse(words[i].type, &e->type);
      return true;
    }
    return false;
  }
  if (parse_aggregate(b, out, e, name) || parse_date_function(b, out, e, name) ||
      parse_iif(b, out, e, name))
    return true;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strcasecmp(name, functions[i].name) != 0) continue;
    b->i += 2;
    write_call(b, out, e, &functions[i]);
    return true;
  }
  fail(b, 195, 15, "'%s' is not a recognized built-in function name.", name);
  return true;
}
