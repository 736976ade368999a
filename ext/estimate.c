/*
** ext/estimate.c: what a plan costs, and how many rows it gives.
**
** Nothing here asks the server: estimates are those of the catalog when the table was created.
*/
#include "extInt.h"

/* Costs in units of a row that SQLite steps over in a table of its own. */
#define COST_ROUND_TRIP 200.0
#define COST_ROW 3.0        /* to send, to read and to hand over a row */
#define COST_SERVER_ROW 0.1 /* for the server to look at one */
#define ROWS_UNKNOWN 100000.0

double table_rows(const Definition *d) {
  if (d->rows_option >= 0) return d->rows_option;
  return d->rows >= 0 ? d->rows : ROWS_UNKNOWN;
}

/* Whether at most one row has such a value, where the column is the key: decimals that differ may be one double. */
static int names_one(const Definition *d, const Term *term) {
  if (term->op != SQLITE_INDEX_CONSTRAINT_EQ || term->in) return 0;
  return term->column < 0 || d->columns[term->column].type->compare != EDB_COMPARE_DECIMAL;
}

static int is_named(const Definition *d, const Plan *plan, int column) {
  for (int t = 0; t < plan->count; t++) {
    if (plan->terms[t].column == column && names_one(d, &plan->terms[t])) return 1;
  }
  return 0;
}

int plan_is_lookup(const Table *table, const Plan *plan) {
  const Definition *d = &table->definition;
  int keys = 0;
  for (int i = 0; i < d->count; i++) {
    if (!d->columns[i].key) continue;
    if (!is_named(d, plan, i)) return 0;
    keys++;
  }
  return keys > 0 || is_named(d, plan, -1);
}

double term_selectivity(const Term *term) {
  switch (term->op) {
  case SQLITE_INDEX_CONSTRAINT_EQ:
  case SQLITE_INDEX_CONSTRAINT_IS:
    return term->in ? 0.05 : 0.01;
  case SQLITE_INDEX_CONSTRAINT_ISNULL:
    return 0.05;
  case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
  case SQLITE_INDEX_CONSTRAINT_NE:
  case SQLITE_INDEX_CONSTRAINT_ISNOT:
    return 0.9;
  default:
    return 0.25;
  }
}

void plan_estimate(const Table *table, Plan *plan, sqlite3_index_info *info) {
  double all = table_rows(&table->definition);
  double full = COST_ROUND_TRIP + all * COST_ROW;
  double rows = all;
  int lookup = plan_is_lookup(table, plan);
  for (int i = 0; i < plan->count; i++) rows *= term_selectivity(&plan->terms[i]);
  if (rows < 1 || lookup) rows = 1;
  double cost = COST_ROUND_TRIP + rows * COST_ROW;
  if (!lookup && plan->count > 0) cost += all * COST_SERVER_ROW;
  if (plan->shortcut == SHORTCUT_COUNT) cost = COST_ROUND_TRIP + all;
  plan->rows = rows;
  /* Rows that cannot be told apart must not be read by two scans whose results are united: OR is
  ** split only where two such scans seem cheaper than one of the whole, or to give fewer rows to
  ** what is joined with them. */
  if (table->identity == IDENTITY_NONE && plan->count > 0) {
    if (cost < full * 0.75) cost = full * 0.75;
    if (rows < all * 0.75) rows = all * 0.75;
  }
  info->estimatedRows = rows < 1e18 ? (sqlite3_int64)rows : (sqlite3_int64)1e18;
  info->estimatedCost = cost;
  if (lookup && table->identity == IDENTITY_ROWID) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}
