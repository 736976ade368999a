/*
** ext/shipInt.h: the blocks of extInt.h about what conditions are made of.
*/
#ifndef EDB_SHIP_INT_H
#define EDB_SHIP_INT_H

/* ---- ship_number.c, ship_time.c, ship_text.c: what a column is compared with ------------------- */

/* A condition being written. */
typedef struct Condition {
  Sql *sql;
  const Definition *definition;
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

#endif
