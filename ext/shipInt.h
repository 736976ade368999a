/*
** ext/shipInt.h: the blocks of extInt.h about what conditions are made of, and the remote SQL that is made of them.
*/
#ifndef EDB_SHIP_INT_H
#define EDB_SHIP_INT_H

/* ---- ship_number.c, ship_time.c, ship_text.c: what a column is compared with ------------------- */

/* A condition being written. */
typedef struct Condition {
  Sql *sql;
  const Definition *definition;
  int number; /* of the column, -1: the identity */
  const edb_type *type;
  const char *name;   /* of the column, as the server has it */
  const char *column; /* as it stands in a comparison */
  int literal;        /* as Term has it */
} Condition;

/* What a column is compared with there, for a comparison with a value here. */
typedef struct Bound {
  Sql *sql;    /* that owns what is made of a value */
  int literal; /* 1: the value stands in the statement, and is no column's */
  int op;      /* SQLITE_INDEX_CONSTRAINT_… */
  int exact;   /* 0: more rows than SQLite's are let through */
  edb_value value;
} Bound;

int ship_is_range(int op);

/* Of a column all of whose values are on one side of what it is compared with; below: that is below them. */
Shipped ship_beyond(int op, int below);

/* Each is given b->op as SQLite has it, b->exact 1, b->sql and b->literal. The value is valid as long as v. */
Shipped ship_bound_number(const edb_type *type, sqlite3_value *v, Bound *b);
Shipped ship_bound_sqlite(sqlite3_value *v, Bound *b);
Shipped ship_bound_time(const edb_type *type, sqlite3_value *v, Bound *b);
Shipped ship_bound_text(const Definition *definition, const edb_type *type, sqlite3_value *v,
                        Bound *b);

/* Whichever of them the type is for. */
Shipped ship_bound(const Definition *definition, const edb_type *type, int op, sqlite3_value *v,
                   Bound *b);

/* Whether the operator is asked of what edb_text says is compared byte by byte, and not of the column itself. */
int ship_by_bytes(const edb_type *type, int op);

/* Whether a server takes it as text: UTF-8, no NUL, no code point beyond the reach (as edb_type has it). */
int ship_is_text(const char *text, size_t n, unsigned reach);

/* Writes the value's placeholder as the column is compared with it. */
void ship_parameter(const Condition *c, const edb_value *value);

/* ---- ship_decimal.c: decimals ------------------------------------------------------------------------- */

Shipped ship_bound_decimal(sqlite3_value *v, Bound *b);
/* Writes the condition, of a range or for equality; f: what ship_bound_decimal made of the value. */
void ship_decimal(const Condition *c, int op, double f);
/* IN; the list is sqlite3_vtab_in_first's. */
Shipped ship_decimal_list(const Condition *c, sqlite3_value *list);

/* ---- ship_like.c: patterns ---------------------------------------------------------------------- */

/* How the server matches for LIKE, GLOB and edb's functions; NULL: it does not. */
const edb_match *ship_match_of(const edb_type *type, int op);

/* Writes the condition. v NULL: for EXPLAIN. exact: set to 0 where it is less. */
Shipped ship_pattern(const Condition *c, int op, sqlite3_value *v, int *exact);

/* ---- ship_list.c: IN ---------------------------------------------------------------------------- */

/* The list is sqlite3_vtab_in_first's. */
Shipped ship_list(const Condition *c, sqlite3_value *list);
/* For EXPLAIN: a list of unknown length. */
Shipped ship_typical_list(const Condition *c);

/* ---- chunk.c: a list that goes out in several statements ------------------------------------------- */

/* `count` parameters of the statement change from chunk to chunk, from `first` on. NULL when out of memory. */
Chunks *chunks_new(const Condition *c, int first, int count);
int chunks_first(const Chunks *chunks);
/* Whether the parameter is one of them. */
int chunks_has(const Chunks *chunks, int parameter);
/* behind: the next chunk's first key; NULL: this is the last. Chunks and the keys in them are in the order of value_compare. */
int chunks_add(Chunks *chunks, const edb_parameter *parameters, const edb_value *behind);
/* SQLITE_ROW: the next chunk's parameters are in place among the statement's, valid until the next call; SQLITE_DONE. */
int chunks_next(Chunks *chunks, edb_parameter *parameters);
/* Whether a row of the present chunk is given: it is not where another chunk gives it. */
int chunks_take(const Chunks *chunks, const Plan *plan, const edb_value *row);
void chunks_free(Chunks *chunks);

/* ---- deparse.c: the remote SQL --------------------------------------------------------------- */

void sql_begin(Sql *sql, const edb_dialect *dialect);
void sql_clear(Sql *sql);
/* Adds a parameter. Its text and bytes must live until the query has been sent. Writes its
** placeholder. */
void sql_parameter(Sql *sql, const edb_value *value, char placeholder[16]);
int sql_add(Sql *sql, const edb_value *value); /* without a placeholder; 0 when out of memory */
void sql_own(Sql *sql, void *memory);          /* freed by sql_clear */
void sql_disown(Sql *sql, int first,
                int end); /* frees what it owns of that number to before that one */
/* Makes `written` and the parameters, but for those of chunks, its own, so that they outlive the values. SQLITE_OK or SQLITE_NOMEM. */
int sql_keep(Sql *sql);

void append_name(sqlite3_str *out, const edb_dialect *dialect, const char *name);
/* The format with argument in place of each %s. */
void append_template(sqlite3_str *out, const char *format, const char *argument);

/* The condition that the first rows have beside the plan's, behind `word`; and " ORDER BY …" (order.c). */
Shipped order_condition(Sql *sql, const Definition *definition, const Plan *plan, const char *word);
void order_deparse(Sql *sql, const Definition *definition, const Plan *plan);

/* The column as the server names it, or the identity's SQL for -1, from sqlite3_mprintf. */
char *deparse_column(const Definition *definition, int column);
/* What stands behind FROM, from sqlite3_mprintf; NULL when out of memory. */
char *deparse_relation(const Definition *definition);
/* The SELECT of a plan. values NULL: as with ordinary values, for EXPLAIN. SHIP_NEVER: the answer
** is empty. */
Shipped deparse_select(Sql *sql, const Definition *definition, const Plan *plan,
                       sqlite3_value **values);
/* The same for sending, in sql->written: it is written once for values of the same forms. */
Shipped deparse_plan(Sql *sql, const Definition *definition, Plan *plan, sqlite3_value **values);

#endif
