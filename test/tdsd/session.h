/*
** What stands between TDS and SQLite: a login's session, and a batch of T-SQL that is being run.
*/
#ifndef TDSD_SESSION_H
#define TDSD_SESSION_H

#include "tdsd.h"

/* A variable or a parameter. */
typedef struct Var {
  char name[130]; /* with its @ */
  Type type;
  Val val;
  Buf space;   /* what val lends from */
  bool output; /* by reference, or OUTPUT */
  int ordinal;
  struct Var *next;
} Var;

typedef struct Handle {
  int id;
  char *sql, *declarations;
  struct Handle *next;
} Handle;

#define KEPT_COUNT 32

typedef struct Kept {
  sqlite3_stmt *statement;
  bool busy; /* someone runs it: a second one prepares one for himself */
  uint64_t used;
} Kept;

typedef struct Session {
  Conn *c;
  sqlite3 *db;
  char database[129], login_database[129];
  int trancount;
  uint64_t descriptor; /* of the transaction; 0 = none */
  bool begun;          /* SQLite has a transaction too */
  bool doomed;         /* only a rollback is left */
  bool xact_abort, nocount, identity_insert, implicit;
  int isolation;    /* 1 read uncommitted, 2 committed, 3 repeatable, 4 serializable, 5 snapshot */
  int lock_timeout; /* ms; -1 = none */
  int64_t rowcount, identity;
  bool has_identity;
  int error;        /* @@ERROR */
  SqlError pending; /* set by a function inside of SQLite */
  SqlError caught;  /* what ERROR_NUMBER() and the like tell */
  bool in_catch;
  Handle *handles;
  int next_handle;
  struct Bulk *bulk; /* what INSERT BULK announced; NULL = nothing */
  Kept kept[KEPT_COUNT];
  uint64_t kept_clock;
} Session;

/* kept.c: SQLite's statements that stay prepared ---------------------------------------------------*/
sqlite3_stmt *kept_prepare(Session *s, const char *sql, int *code); /* NULL: *code */
void kept_finish(Session *s, sqlite3_stmt *statement); /* in place of sqlite3_finalize */
void kept_forget(Session *s);

/* engine.c: SQLite -------------------------------------------------------------------------------*/
bool engine_open(Session *s, const char *database, SqlError *error);
void engine_close(Session *s);
/* Makes another database's tables readable under its name. */
bool engine_attach(Session *s, const char *database, SqlError *error);
bool engine_exists(const Server *server, const char *database);
bool engine_create(Server *server, const char *database);
bool engine_drop(Server *server, const char *database);
/* Runs SQLite's SQL that answers nothing. */
bool engine_exec(Session *s, const char *sql, SqlError *error);
/* Makes SQLite's error SQL Server's. */
void engine_error(Session *s, int code, SqlError *error);
/* Before a statement: joins the transaction as its isolation and kind ask for. */
bool engine_enter(Session *s, bool writes, SqlError *error);
bool tran_begin(Session *s, SqlError *error);
bool tran_commit(Session *s, SqlError *error);
bool tran_rollback(Session *s, const char *name, SqlError *error); /* NULL = all */
bool tran_save(Session *s, const char *name, SqlError *error);
void tran_reset(Session *s); /* rolls back, whatever there is */
/* As after a login, but for the isolation level ([MS-TDS] 2.2.3.1.2); keep: with its transaction and tables. */
void session_reset(Session *s, bool keep);

/* function.c: T-SQL's functions and collations in SQLite */
void function_register(Session *s);

/* catalog.c: what a new database holds; how tables are described ---------------------------------*/
bool catalog_create(sqlite3 *db, const char *database);
/* The name of a table in SQLite: `t` of dbo, `schema.t` of others. */
/* `[server].[database].[schema].[name]` in its four parts, those that are not there empty. */
void name_split(const char *text, char parts[4][130]);
void catalog_name(const char *schema, const char *name, char out[300]);
/* The columns of a table or view by that name; the count, or -1.  The caller frees *columns. */
int catalog_columns(Session *s, const char *sqlite_name, Column **columns);
/* The same of a database that is attached under this name. */
int catalog_columns_of(Session *s, const char *schema, const char *sqlite_name, Column **columns);
/* What the synonym of that name stands for, as `[database].[schema].[name]`; false: there is none. */
bool catalog_synonym(Session *s, const char *sqlite_name, char base[1100]);
int64_t catalog_int(Session *s, const char *sql, const char *text, int64_t none);

/* lex.c ------------------------------------------------------------------------------------------*/
typedef enum {
  L_END,
  L_NAME,
  L_QUOTED,
  L_VAR,
  L_NUMBER,
  L_STRING,
  L_NSTRING,
  L_BYTES,
  L_OP
} Lexeme;

typedef struct {
  Lexeme kind;
  char *text; /* unquoted; of an operator, itself */
  size_t n;   /* of text: strings may hold NUL */
  int line;
  size_t from, to; /* in the batch's text */
} Tok;

/* Lexes text; the count, with an L_END at the end of the array.  -1: the error is set. */
int lex(const char *text, size_t n, Tok **tokens, SqlError *error);
void lex_free(Tok *tokens, int n);

/* batch.c: running a batch -----------------------------------------------------------------------*/
typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_ABORT } Flow;

/* A table in FROM: what its columns are. */
typedef struct Rel {
  char alias[130], name[300];
  char database[130]; /* attached; "": the session's own */
  Column *columns;
  int n;
  bool bare;          /* its columns are written without its name */
  bool unknown;       /* a CTE that is still being read */
  char (*names)[130]; /* a CTE's own names for its columns */
  int names_n;
  struct Rel *next;
} Rel;

typedef struct Scope {
  Rel *rels;
  struct Scope *outer;
} Scope;

typedef struct Batch {
  Session *s;
  Conn *c;
  const char *text;
  Tok *t;
  int n, i;
  bool run;     /* false: only read over */
  bool in_proc; /* DONEINPROC instead of DONE */
  bool failed;  /* error is set; all parsing stops */
  SqlError error;
  Flow flow;
  Var *vars;
  Scope *scope;
  Rel *ctes;
  int try_depth, nesting, depth;
  int32_t status; /* of RETURN */
  void **owned;   /* freed with the batch */
  int owned_n, owned_room;
} Batch;

/* Runs text.  vars are the caller's; new ones are added for DECLARE and freed. */
void batch_run(Session *s, const char *text, size_t n, Var *vars, bool in_proc, int nesting,
               int32_t *status);
void *batch_alloc(Batch *b, size_t n); /* until the batch ends */
Var *var_find(Var *vars, const char *name);
void var_set(Var *v, const Val *value, const Type *from, SqlError *error);
void var_free(Var *vars);
/* `@a int, @b nvarchar(20) OUTPUT`: NULL and an error where that is not well formed. */
bool var_declare(Session *s, const char *declarations, size_t n, Var **vars, SqlError *error);

void fail(Batch *b, int number, int severity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void syntax(Batch *b); /* 102 at the current token */
Tok *peek(Batch *b);
Tok *peek_at(Batch *b, int ahead);
bool is_word(const Tok *t, const char *word);
bool at_word(Batch *b, const char *word);
bool at_op(Batch *b, const char *op);
bool take_word(Batch *b, const char *word);
bool take_op(Batch *b, const char *op);
void need_word(Batch *b, const char *word);
void need_op(Batch *b, const char *op);
/* A name that may be quoted; "" and an error if there is none. */
const char *take_name(Batch *b);
/* `[schema.]name`, with a database before it where that is ours. */
void take_table(Batch *b, char schema[130], char name[130]);
void take_type(Batch *b, Type *t);
void quote(Buf *out, const char *name);
void quote_text(Buf *out, const char *text, size_t n);
void done(Batch *b, unsigned status, unsigned command, uint64_t count);

/* trigger.c: event is INSERT, UPDATE or DELETE ----------------------------------------------------*/
void create_trigger(Batch *b); /* behind CREATE TRIGGER */
bool trigger_exists(Session *s, const char *sqlite, const char *event);
void trigger_fire(Session *s, const char *sqlite, const char *event, int nesting);

/* expr.c -----------------------------------------------------------------------------------------*/
typedef struct {
  Type type;
  bool column; /* a column as it stands, with its own collation in SQLite */
  bool nullable, aggregate;
  const Column *origin;
  char name[130];
} Expr;

void parse_value(Batch *b, Buf *out, Expr *e);
void parse_subquery(Batch *b, Buf *out, Expr *e); /* behind its opening parenthesis */
/* condition.c */
void parse_condition(Batch *b, Buf *out);
/* Writes a conversion around what stands in out from at on. */
void wrap_cast(Buf *out, size_t at, const Type *from, const Type *to, int style, bool try);
void variable_name(Buf *out, const char *name); /* how SQLite's SQL names a variable */
const char *collation_of(const Type *t); /* SQLite's name of how values of the type compare */
/* One value of an expression, evaluated. */
bool evaluate(Batch *b, const char *sql, const Type *type, Val *v, Buf *space);

/* function_call.c: what a T-SQL function becomes */
bool parse_function(Batch *b, Buf *out, Expr *e, const char *name);

/* select.c ---------------------------------------------------------------------------------------*/
typedef struct {
  Column *columns;
  int n;
  char (*assign)[130]; /* variables that are assigned, by column; NULL: none is */
  char into[300], into_schema[130], into_name[130];
  bool ordered; /* by an ORDER BY that no TOP or OFFSET needs */
} Query;

/* A whole query with WITH, UNION, ORDER BY; its columns. */
void parse_query(Batch *b, Buf *out, Query *q);
/* Refuses an ORDER BY of a query within something else that needs none. */
void check_unordered(Batch *b, const Query *q);
void parse_with(Batch *b, Buf *out);
Rel *rel_add(Batch *b, Scope *scope, const char *alias);
void rel_table(Batch *b, Rel *r, const char *schema, const char *name);
void parse_from(Batch *b, Buf *out, Scope *scope);
void parse_top(Batch *b, Buf *limit);
/* One item of a select list or an OUTPUT; adds its column, or columns of a `*`. */
void parse_item(Batch *b, Buf *out, Query *q);

/* message.c */
void statement_print(Batch *b);
void statement_raiserror(Batch *b);
void statement_throw(Batch *b);
void statement_waitfor(Batch *b);

/* statement.c, dml.c, ddl.c, procedure.c ---------------------------------------------------------*/
void run_block(Batch *b); /* statements up to END or the end */
void statement(Batch *b);
/* Reads an expression and, where the batch runs, what it is. */
bool take_value(Batch *b, Val *v, Type *type, Buf *space);
/* Runs prepared SQL and sends its rows; the count of rows. */
bool run_rows(Batch *b, const char *sql, Query *q, int64_t *rows);
sqlite3_stmt *prepare(Batch *b, const char *sql);
void statement_insert(Batch *b, const char *with);
void statement_update(Batch *b, const char *with);
void statement_delete(Batch *b, const char *with);
void statement_truncate(Batch *b);
void statement_create(Batch *b);
void statement_drop(Batch *b);
void statement_alter(Batch *b);
void create_into(Batch *b, const Query *q);
void statement_exec(Batch *b);
/* A system procedure by name; false: there is none.  Parameters are in vars. */
bool procedure_call(Session *s, const char *name, Var *vars, int nesting, int32_t *status,
                    Batch *batch);

/* request.c --------------------------------------------------------------------------------------*/
void serve(Conn *c);

/* bulk.c */
typedef struct Bulk Bulk;
void statement_bulk(Batch *b);
void bulk_load(Session *s, Rd *r);

#endif
