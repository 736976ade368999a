/*
** test/liar/arrays.c: arrays of parameters, and the lies about them. Rows are counted, not kept.
*/
#include "liar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_arrays(const Connection *c) {
  return lies(c, LIE_ARRAYS) || lies(c, LIE_ARRAYS_FIRST) || lies(c, LIE_ARRAYS_SILENT);
}

/* Whether the first parameter of the set is the number that fails. */
static int is_bad(const Statement *s, SQLULEN set) {
  const Parameter *p = s->parameters;
  if (!lies(s->connection, LIE_BAD_SET) || s->parameter_count == 0) return 0;
  if (p->type != SQL_C_SBIGINT || (p->indicator && p->indicator[set] == SQL_NULL_DATA)) return 0;
  return ((const SQLBIGINT *)p->value)[set] == lie_number(s->connection, LIE_BAD_SET);
}

SQLRETURN take_sets(Statement *s) {
  Connection *c = s->connection;
  const SQLULEN sets = has_arrays(c) ? s->paramset : 1;
  const SQLULEN taken = lies(c, LIE_ARRAYS_FIRST) ? 1 : sets;
  const int silent = lies(c, LIE_ARRAYS_SILENT);
  long bad = 0;
  for (SQLULEN set = 0; set < sets; set++) {
    const int wrong = set < taken && is_bad(s, set);
    bad += wrong;
    if (s->set_status && !silent) s->set_status[set] = wrong ? SQL_PARAM_ERROR : SQL_PARAM_SUCCESS;
  }
  c->runs++;
  c->taken += (long)taken - bad;
  s->answer.rows = (long)taken - bad;
  if (s->processed) *s->processed = sets;
  if (bad == 0) return SQL_SUCCESS;
  if (sets == 1) return fail(s, c, "23000", "told not to take it");
  return inform(s, "23000", "told not to take one of them");
}

int answer_count(Statement *s, const char *sql) {
  Connection *c = s->connection;
  if (!strcmp(sql, "SAVEPOINT edb_load")) c->saved = c->taken;
  if (!strcmp(sql, "ROLLBACK TO SAVEPOINT edb_load")) c->taken = c->saved;
  if (!strncmp(sql, "SAVEPOINT ", 10) || !strncmp(sql, "ROLLBACK TO ", 12) ||
      !strncmp(sql, "RELEASE ", 8)) {
    return 1;
  }
  if (strcmp(sql, "TAKEN")) return 0;
  char taken[24], runs[24];
  snprintf(taken, sizeof taken, "%ld", c->taken);
  snprintf(runs, sizeof runs, "%ld", c->runs);
  answer_cells(&s->answer, (const char *const[]){"taken", "runs"}, 2,
               (const char *const[]){taken, runs}, 1);
  return 1;
}
