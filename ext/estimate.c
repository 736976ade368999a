/*
** ext/estimate.c: what a plan costs, and how many rows it gives.
**
** Nothing here asks the server. How many rows there are, and how long they are, was asked when the table was created, and is
** asked again when a scan begins a day later (discover.c); how long a statement takes at least is measured on every one
** that runs (link.c).
*/
#include "extInt.h"

/* Costs in units of a row that SQLite steps over in a table of its own. */
#define COST_ROUND_TRIP 200.0 /* on a local network, or while nothing is known */
#define COST_ROW 2.0          /* to read and to hand over a row */
#define COST_BYTE 0.025       /* of it, to be sent and read */
#define COST_SERVER_ROW 0.1   /* for the server to look at one */
#define ROWS_UNKNOWN 100000.0
/* Up to here a round trip is a local network's, however busy the machine. */
#define LOCAL_SECONDS 0.004

double table_rows(const Definition *d) {
  if (d->rows_option >= 0) return d->rows_option;
  return d->rows >= 0 ? d->rows : ROWS_UNKNOWN;
}

/* ---- Rows ------------------------------------------------------------------------------------------- */

/* Whether at most one row has such a value, where the column is the key: decimals that differ may be one double. */
static int names_one(const Definition *d, const Term *term) {
  if (term->op != SQLITE_INDEX_CONSTRAINT_EQ || term->in) return 0;
  return term->column < 0 || d->columns[term->column].type->compare != EDB_COMPARE_DECIMAL;
}

/* Whether the server, too, finds one row at most, whatever the value turns out to be. */
static int names_one_there(const Definition *d, const Term *term) {
  return names_one(d, term) && term->class == SHIP_EXACT && term->column >= 0 &&
         d->columns[term->column].type->compare == EDB_COMPARE_INTEGER && !d->dialect->dynamic;
}

typedef int Naming(const Definition *, const Term *);

static int is_named(const Definition *d, const Plan *plan, int column, Naming *names) {
  for (int t = 0; t < plan->count; t++) {
    if (plan->terms[t].column == column && names(d, &plan->terms[t])) return 1;
  }
  return 0;
}

static int is_key_named(const Definition *d, const Plan *plan, Naming *names) {
  int keys = 0;
  for (int i = 0; i < d->count; i++) {
    if (!d->columns[i].key) continue;
    if (!is_named(d, plan, i, names)) return 0;
    keys++;
  }
  return keys > 0 || is_named(d, plan, -1, names);
}

static int is_unique_named(const Definition *d, const Plan *plan, Naming *names) {
  for (int t = 0; t < plan->count; t++) {
    const Term *term = &plan->terms[t];
    if (term->column >= 0 && d->columns[term->column].unique && names(d, term)) return 1;
  }
  return 0;
}

int plan_is_lookup(const Table *table, const Plan *plan) {
  const Definition *d = &table->definition;
  return is_key_named(d, plan, names_one) || is_unique_named(d, plan, names_one);
}

/* SQLite may end such a scan with its first row, before it has looked at the condition. */
static int is_unique_there(const Table *table, const Plan *plan) {
  const Definition *d = &table->definition;
  return is_key_named(d, plan, table->identity == IDENTITY_ROWID ? names_one : names_one_there) ||
         is_unique_named(d, plan, names_one_there);
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

/* ---- Bytes ------------------------------------------------------------------------------------------ */

/* Of a value on average, as far as the type tells. */
static double column_bytes(const Column *column) {
  switch (column->type->declared) {
  case EDB_DECLARED_TEXT:
  case EDB_DECLARED_BLOB:
    return 24;
  case EDB_DECLARED_JSON:
    return 200;
  default:
    return 9;
  }
}

/* Where the server knows how long a whole row is, the columns share that. */
static double share(const Definition *d) {
  double all = 0;
  if (d->row_bytes <= 0) return 1;
  for (int i = 0; i < d->count; i++) all += column_bytes(&d->columns[i]);
  return d->row_bytes / (all > 0 ? all : 1);
}

double plan_bytes(const Definition *d, const Plan *plan) {
  double bytes = 0;
  for (int i = 0; i < plan->fetches; i++) bytes += column_bytes(&d->columns[plan->fetch[i]]);
  return bytes * share(d);
}

/* ---- Costs ------------------------------------------------------------------------------------------ */

/* In steps, so that a plan does not change with every hiccup: 200 up to 4 ms, 800 up to 16, 3,200 up to 64, … */
static double round_trip(double seconds) {
  double cost = COST_ROUND_TRIP;
  for (double step = LOCAL_SECONDS; seconds > step && step < 10; step *= 4) cost *= 4;
  return cost;
}

void plan_estimate(const Table *table, Plan *plan, sqlite3_index_info *info) {
  const Definition *d = &table->definition;
  const double trip = round_trip(table_latency(table));
  /* A shortcut may have to be left for its whole; and the same rows are not to cost less with a condition that allows one. */
  const double row = COST_ROW + plan_bytes(d, plan->whole ? plan->whole : plan) * COST_BYTE;
  double all = table_rows(d);
  double full = trip + all * row;
  double rows = all;
  int lookup = plan_is_lookup(table, plan);
  for (int i = 0; i < plan->count; i++) rows *= term_selectivity(&plan->terms[i]);
  if (rows < 1 || lookup) rows = 1;
  double cost = trip + rows * row;
  if (!lookup && plan->count > 0) cost += all * COST_SERVER_ROW;
  if (plan->shortcut == SHORTCUT_COUNT) cost = trip + all;
  plan->rows = rows;
  /* Rows that cannot be told apart must not be read by two scans whose results are united: OR is
  ** split only where two such scans seem cheaper than one of the whole, or to give fewer rows to
  ** what is joined with them. */
  if (table->identity == IDENTITY_NONE && plan->count > 0) {
    /* Above 2e9 SQLite knows powers of two alone. */
    const double least = full > 1e9 ? full : full * 0.75;
    if (cost < least) cost = least;
    if (rows < all * 0.75) rows = all * 0.75;
  }
  info->estimatedRows = rows < 1e18 ? (sqlite3_int64)rows : (sqlite3_int64)1e18;
  info->estimatedCost = cost;
  if (lookup && is_unique_there(table, plan)) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}
