/*
** T-SQL's functions as SQLite's: the tables that function.c registers.
*/
#ifndef TDSD_FUNCTION_H
#define TDSD_FUNCTION_H

#include "session.h"

typedef struct {
  const char *name;
  int8_t n; /* arguments; -1 = any number */
  void (*call)(sqlite3_context *, int, sqlite3_value **);
  bool pure; /* the same arguments give the same answer */
} SqlFunction;

extern const SqlFunction text_functions[], time_functions[], catalog_functions[];

Session *function_session(sqlite3_context *c);
void function_error(sqlite3_context *c, const SqlError *error);
/* The text of a type as `name COLLATE collation`. */
bool function_type(sqlite3_value *v, Type *t);
bool any_null(int n, sqlite3_value **v);

/* compare.c: the collations. */
void compare_register(Session *s);

#endif
