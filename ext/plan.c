/*
** ext/plan.c: xBestIndex.
**
** A plan says what travels: columns, conditions, a limit. idxNum is its number in the table's list,
** where scan.c finds it; idxStr is the remote SQL as it is with ordinary values, so that EXPLAIN
** QUERY PLAN shows it. xFilter's arguments are the right sides of plan->terms (those with argument
** >= 0), then LIMIT's, then OFFSET's; the SQL that is sent is built from them anew, since a value
** may change it (ship.c).
**
** Nothing here asks the server: estimates are those of the catalog when the table was created.
*/
#include "extInt.h"

#include <string.h>

/* Costs in units of a row that SQLite steps over in a table of its own. */
#define COST_ROUND_TRIP 200.0
#define COST_ROW 3.0        /* to send, to read and to hand over a row */
#define COST_SERVER_ROW 0.1 /* for the server to look at one */
#define ROWS_UNKNOWN 100000.0

static double table_rows(const Definition *d) {
  if (d->rows_option >= 0) return d->rows_option;
  return d->rows >= 0 ? d->rows : ROWS_UNKNOWN;
}

/* ---- The table's list of plans ------------------------------------------------------------------ */

static void plan_free(Plan *plan) {
  if (plan == NULL) return;
  sqlite3_free(plan->sql);
  sqlite3_free(plan->written);
  sqlite3_free(plan->fetch);
  sqlite3_free(plan->slot);
  sqlite3_free(plan->terms);
  sqlite3_free(plan);
}

void plans_free(Table *table) {
  for (int i = 0; i < table->plan_count; i++) plan_free(table->plans[i]);
  sqlite3_free(table->plans);
  table->plans = NULL;
  table->plan_count = 0;
}

static int plans_equal(const Plan *a, const Plan *b) {
  if (a->count != b->count || a->fetches != b->fetches || a->limit != b->limit ||
      a->offset != b->offset || a->count_only != b->count_only) {
    return 0;
  }
  for (int i = 0; i < a->count; i++) {
    const Term *s = &a->terms[i];
    const Term *t = &b->terms[i];
    if (s->column != t->column || s->op != t->op || s->in != t->in || s->class != t->class ||
        s->argument != t->argument) {
      return 0;
    }
  }
  return a->fetches == 0 || memcmp(a->fetch, b->fetch, sizeof(int) * (size_t)a->fetches) == 0;
}

/* The SQL for EXPLAIN. */
static int plan_describe(const Definition *d, Plan *plan) {
  Sql sql;
  sql_begin(&sql, d->dialect);
  Shipped shipped = deparse_select(&sql, d, plan, NULL);
  plan->sql = sqlite3_str_finish(sql.text);
  sql.text = NULL;
  sql_clear(&sql);
  return shipped == SHIP_FAIL || plan->sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* The same plan from the list, or this one put there; the plan is the list's, or freed. */
static int plan_enlist(Table *table, Plan *plan, Plan **out) {
  for (int i = 0; i < table->plan_count; i++) {
    if (plans_equal(table->plans[i], plan)) {
      plan_free(plan);
      *out = table->plans[i];
      return SQLITE_OK;
    }
  }
  Plan **grown = sqlite3_realloc64(table->plans, sizeof *grown * (size_t)(table->plan_count + 1));
  if (grown) table->plans = grown;
  if (grown == NULL || plan_describe(&table->definition, plan) != SQLITE_OK) {
    plan_free(plan);
    return SQLITE_NOMEM;
  }
  plan->number = table->plan_count;
  table->plans[table->plan_count++] = plan;
  *out = plan;
  return SQLITE_OK;
}

/* ---- What travels --------------------------------------------------------------------------------- */

/* Bit 63 of colUsed stands for column 63 and all after it. */
static int is_used(sqlite3_uint64 used, int column) {
  return (used >> (column < 63 ? column : 63)) & 1;
}

/* The columns that the statement reads, and those of the key: a row's identity may be asked for in
** any scan (OR, RIGHT JOIN), and colUsed does not say so. */
static void plan_columns(const Table *table, sqlite3_uint64 used, Plan *plan) {
  const Definition *d = &table->definition;
  plan->identity = -1;
  for (int i = 0; i < d->count; i++) {
    plan->slot[i] = -1;
    if (plan->count_only || (!is_used(used, i) && !d->columns[i].key)) continue;
    plan->slot[i] = plan->fetches;
    plan->fetch[plan->fetches++] = i;
  }
  int by_sql = d->identity_sql && table->identity != IDENTITY_NONE;
  for (int i = 0; i < d->count; i++) by_sql = by_sql && !d->columns[i].key;
  if (by_sql && !plan->count_only) plan->identity = plan->fetches;
}

/* ---- Conditions ------------------------------------------------------------------------------------ */

static int has_argument(int op) {
  return op != SQLITE_INDEX_CONSTRAINT_ISNULL && op != SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
}

int plan_column(const Table *table, int column) {
  const Definition *d = &table->definition;
  if (column >= 0) return column < d->count ? column : PLAN_NO_COLUMN;
  if (table->identity != IDENTITY_ROWID) return PLAN_NO_COLUMN;
  for (int i = 0; i < d->count; i++) {
    if (d->columns[i].key) return i;
  }
  return -1;
}

static void plan_conditions(const Table *table, sqlite3_index_info *info, Plan *plan,
                            int *arguments) {
  const Definition *d = &table->definition;
  for (int i = 0; i < info->nConstraint; i++) {
    int op = info->aConstraint[i].op;
    int column = plan_column(table, info->aConstraint[i].iColumn);
    if (!info->aConstraint[i].usable || column == PLAN_NO_COLUMN || !d->pushdown) continue;
    if (op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET) continue;
    const edb_type *type = column < 0 ? NULL : d->columns[column].type;
    ShipClass class = ship_class(d, type, op, sqlite3_vtab_collation(info, i), NULL);
    if (class == SHIP_UNSAFE) continue;
    Term *term = &plan->terms[plan->count++];
    term->column = column;
    term->op = (unsigned char)op;
    term->class = (unsigned char)class;
    term->in = op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info, i, -1);
    term->argument = has_argument(op) ? (*arguments)++ : -1;
    if (term->in) sqlite3_vtab_in(info, i, 1);
    if (term->argument >= 0) info->aConstraintUsage[i].argvIndex = term->argument + 1;
  }
}

/* Before 3.46, SQLite offers LIMIT and does not tell of conditions that compare columns of this
** table with one another (`a > b`). They read columns: where none is read there is none. */
#define LIMIT_TELLS_ALL 3046000

/* LIMIT goes to the server only when there is nothing else that SQLite would still do to the rows:
** no condition, sent or not, and no order. */
static void plan_limit(const Definition *d, sqlite3_index_info *info, Plan *plan, int *arguments) {
  int limit = -1;
  int offset = -1;
  plan->limit = plan->offset = -1;
  if (!d->pushdown || d->dialect->limit == NULL || info->nOrderBy > 0) return;
  if (info->colUsed != 0 && sqlite3_libversion_number() < LIMIT_TELLS_ALL) return;
  for (int i = 0; i < info->nConstraint; i++) {
    int op = info->aConstraint[i].op;
    if (!info->aConstraint[i].usable) return;
    if (op == SQLITE_INDEX_CONSTRAINT_LIMIT) {
      limit = i;
    } else if (op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
      offset = i;
    } else {
      return;
    }
  }
  if (limit < 0) return;
  plan->limit = (*arguments)++;
  info->aConstraintUsage[limit].argvIndex = plan->limit + 1;
  if (offset < 0) return;
  plan->offset = (*arguments)++;
  info->aConstraintUsage[offset].argvIndex = plan->offset + 1;
}

/* ---- Estimates -------------------------------------------------------------------------------------- */

/* Whether the conditions name one value for each column of the key. */
static int is_lookup(const Table *table, const Plan *plan) {
  const Definition *d = &table->definition;
  int keys = 0;
  int named = 0;
  for (int i = 0; i < d->count; i++) {
    if (!d->columns[i].key) continue;
    keys++;
    for (int t = 0; t < plan->count; t++) {
      if (plan->terms[t].column == i && plan->terms[t].op == SQLITE_INDEX_CONSTRAINT_EQ &&
          !plan->terms[t].in) {
        named++;
        break;
      }
    }
  }
  if (keys > 0) return keys == named;
  for (int t = 0; t < plan->count; t++) {
    if (plan->terms[t].column == -1 && plan->terms[t].op == SQLITE_INDEX_CONSTRAINT_EQ &&
        !plan->terms[t].in) {
      return 1;
    }
  }
  return 0;
}

static double term_selectivity(const Term *term) {
  switch (term->op) {
  case SQLITE_INDEX_CONSTRAINT_EQ:
  case SQLITE_INDEX_CONSTRAINT_IS:
    return term->in ? 0.05 : 0.01;
  case SQLITE_INDEX_CONSTRAINT_ISNULL:
    return 0.05;
  case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
    return 0.9;
  default:
    return 0.25;
  }
}

static void plan_estimate(const Table *table, Plan *plan, sqlite3_index_info *info) {
  double all = table_rows(&table->definition);
  double full = COST_ROUND_TRIP + all * COST_ROW;
  double rows = all;
  int lookup = is_lookup(table, plan);
  for (int i = 0; i < plan->count; i++) rows *= term_selectivity(&plan->terms[i]);
  if (rows < 1 || lookup) rows = 1;
  double cost = COST_ROUND_TRIP + rows * COST_ROW;
  if (!lookup && plan->count > 0) cost += all * COST_SERVER_ROW;
  if (plan->count_only) cost = COST_ROUND_TRIP + all;
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

/* ---- xBestIndex -------------------------------------------------------------------------------------- */

static Plan *plan_new(const Definition *d, int constraints) {
  Plan *plan = sqlite3_malloc64(sizeof *plan);
  if (plan == NULL) return NULL;
  memset(plan, 0, sizeof *plan);
  plan->fetch = sqlite3_malloc64(sizeof(int) * (size_t)(d->count + 1));
  plan->slot = sqlite3_malloc64(sizeof(int) * (size_t)(d->count + 1));
  plan->terms = sqlite3_malloc64(sizeof(Term) * (size_t)(constraints + 1));
  if (plan->fetch && plan->slot && plan->terms) return plan;
  plan_free(plan);
  return NULL;
}

int plan_asks_null(const Plan *plan) {
  for (int i = 0; i < plan->count; i++) {
    if (!has_argument(plan->terms[i].op)) return 1;
  }
  return 0;
}

int plan_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  Table *table = (Table *)vtab;
  if (table->broken) return SQLITE_OK; /* the scan says why */
  Plan *plan = plan_new(&table->definition, info->nConstraint);
  int arguments = 0;
  if (plan == NULL) return SQLITE_NOMEM;
  plan_conditions(table, info, plan, &arguments);
  plan_limit(&table->definition, info, plan, &arguments);
  /* When nothing is read, rows are only counted. Should their identities be asked for all the same,
  ** they are fetched then (scan.c). */
  plan->count_only = info->colUsed == 0 && plan->count == 0;
  plan_columns(table, info->colUsed, plan);
  plan_estimate(table, plan, info);
  if (plan_enlist(table, plan, &plan) != SQLITE_OK) return SQLITE_NOMEM;
  info->idxNum = plan->number;
  if (table->edb->explaining) return explain_note(table, info, plan);
  info->idxStr = sqlite3_mprintf("%s", plan->sql);
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

int plan_identities(Table *table, Plan **out) {
  Plan *plan = plan_new(&table->definition, 0);
  if (plan == NULL) return SQLITE_NOMEM;
  plan->limit = plan->offset = -1;
  plan->rows = table_rows(&table->definition);
  plan_columns(table, 0, plan);
  return plan_enlist(table, plan, out);
}
