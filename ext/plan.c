/*
** ext/plan.c: xBestIndex.
**
** A plan says what travels: columns, conditions, an order, a limit. idxNum is its number in the table's list,
** where scan.c finds it; idxStr is the remote SQL as it is with ordinary values, so that EXPLAIN
** QUERY PLAN shows it. xFilter's arguments are the right sides of plan->terms, then LIMIT's, then
** OFFSET's; the SQL that is sent is built from them anew, since a value may change it (ship.c).
**
** Where less than all rows may do, the plan is a shortcut and has another one, its whole, that is taken when it turns
** out not to do:
**
**     count      SELECT count(*) FROM t WHERE a = 5         only the number of rows travels
**     distinct   SELECT DISTINCT a FROM t                   each value once
**     first      SELECT b FROM t ORDER BY b LIMIT 3         SQLite may still drop rows of those three
**                SELECT max(b) FROM t                       which looks like ORDER BY b DESC
**
** Nothing here asks the server.
*/
#include "extInt.h"

#include <string.h>

/* ---- The table's list of plans ------------------------------------------------------------------ */

static void plan_free(Plan *plan) {
  if (plan == NULL) return;
  sqlite3_free(plan->sql);
  sqlite3_free(plan->written);
  sqlite3_free(plan);
}

void plans_free(Table *table) {
  for (int i = 0; i < table->plan_count; i++) plan_free(table->plans[i]);
  sqlite3_free(table->plans);
  table->plans = NULL;
  table->plan_count = 0;
}

static int terms_equal(const Plan *a, const Plan *b) {
  if (a->count != b->count) return 0;
  for (int i = 0; i < a->count; i++) {
    const Term *s = &a->terms[i];
    const Term *t = &b->terms[i];
    if (s->column != t->column || s->op != t->op || s->in != t->in || s->class != t->class ||
        s->literal != t->literal || s->argument != t->argument) {
      return 0;
    }
  }
  return 1;
}

static int orders_equal(const Plan *a, const Plan *b) {
  if (a->orders != b->orders) return 0;
  for (int i = 0; i < a->orders; i++) {
    if (a->order[i].column != b->order[i].column || a->order[i].desc != b->order[i].desc) return 0;
  }
  return 1;
}

static int plans_equal(const Plan *a, const Plan *b) {
  if (a->shortcut != b->shortcut || a->whole != b->whole || a->fetches != b->fetches ||
      a->limit != b->limit || a->offset != b->offset) {
    return 0;
  }
  if (!terms_equal(a, b) || !orders_equal(a, b)) return 0;
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

/* One block of memory: SQLite has many plans made, of which few are kept. */
static Plan *plan_new(const Definition *d, int constraints, int orders) {
  size_t columns = sizeof(int) * (size_t)d->count;
  size_t terms = sizeof(Term) * (size_t)constraints;
  Plan *plan =
      sqlite3_malloc64(sizeof *plan + terms + sizeof(Sorted) * (size_t)orders + 2 * columns);
  if (plan == NULL) return NULL;
  memset(plan, 0, sizeof *plan);
  plan->identity = plan->limit = plan->offset = -1;
  plan->terms = (Term *)(plan + 1);
  plan->order = (Sorted *)(plan->terms + constraints);
  plan->fetch = (int *)(plan->order + orders);
  plan->slot = plan->fetch + d->count;
  return plan;
}

/* ---- What travels --------------------------------------------------------------------------------- */

/* Bit 63 of colUsed stands for column 63 and all after it. */
int is_used(sqlite3_uint64 used, int column) { return (used >> (column < 63 ? column : 63)) & 1; }

/* The columns that the statement reads, and those of the key: a row's identity may be asked for in
** any scan (OR, RIGHT JOIN), and colUsed does not say so. */
static void plan_columns(const Table *table, sqlite3_uint64 used, Plan *plan) {
  const Definition *d = &table->definition;
  int by_sql = d->identity_sql && table->identity != IDENTITY_NONE;
  for (int i = 0; i < d->count; i++) {
    plan->slot[i] = -1;
    if (d->columns[i].key) by_sql = 0;
    if (!is_used(used, i) && !d->columns[i].key) continue;
    plan->slot[i] = plan->fetches;
    plan->fetch[plan->fetches++] = i;
  }
  plan->identity = by_sql ? plan->fetches : -1;
}

/* ---- Conditions ------------------------------------------------------------------------------------ */

static int is_limit(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET;
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

/* Whether the right side stands in the statement: a column's value has an affinity, which SQLite does not tell. */
static unsigned char is_literal(sqlite3_index_info *info, int constraint) {
  sqlite3_value *value = NULL;
  return sqlite3_vtab_rhs_value(info, constraint, &value) == SQLITE_OK;
}

ShipClass plan_class(const Table *table, sqlite3_index_info *info, int constraint, int column,
                     const char **reason) {
  const Definition *d = &table->definition;
  int op = info->aConstraint[constraint].op;
  const edb_type *type = column < 0 ? NULL : d->columns[column].type;
  ShipClass class = ship_class(d, type, op, sqlite3_vtab_collation(info, constraint), reason);
  if (class == SHIP_UNSAFE || ship_is_own(table->edb->db, op)) return class;
  if (reason) *reason = "it is a function of the application's, not SQLite's";
  return SHIP_UNSAFE;
}

/* An IS NULL gets an argument too: SQLite takes a LIMIT only beside conditions that have one. */
static void plan_conditions(const Table *table, sqlite3_index_info *info, Plan *plan,
                            int *arguments) {
  const Definition *d = &table->definition;
  for (int i = 0; i < info->nConstraint; i++) {
    int op = info->aConstraint[i].op;
    int column = plan_column(table, info->aConstraint[i].iColumn);
    if (!info->aConstraint[i].usable || column == PLAN_NO_COLUMN || !d->pushdown) continue;
    if (is_limit(op)) continue;
    ShipClass class = plan_class(table, info, i, column, NULL);
    if (class == SHIP_UNSAFE) continue;
    Term *term = &plan->terms[plan->count++];
    memset(term, 0, sizeof *term);
    term->column = column;
    term->by_rowid = info->aConstraint[i].iColumn < 0;
    term->op = (unsigned char)op;
    term->class = (unsigned char)class;
    term->literal = is_literal(info, i);
    term->in = op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info, i, -1);
    term->argument = (*arguments)++;
    if (term->in) sqlite3_vtab_in(info, i, 1);
    info->aConstraintUsage[i].argvIndex = term->argument + 1;
  }
}

int plan_minds_outer(const Plan *plan) {
  for (int i = 0; i < plan->count; i++) {
    if (ship_minds_outer(plan->terms[i].op)) return 1;
  }
  return 0;
}

/* Whether the rows that come can be just those that satisfy the conditions that were told. */
static int is_exact(const Plan *plan) {
  for (int i = 0; i < plan->count; i++) {
    if (plan->terms[i].class != SHIP_EXACT) return 0;
  }
  return 1;
}

static int has_list(const Plan *plan) {
  for (int i = 0; i < plan->count; i++) {
    if (plan->terms[i].in) return 1;
  }
  return 0;
}

static int names_value(const Term *term) {
  return !term->in && term->class == SHIP_EXACT &&
         (term->op == SQLITE_INDEX_CONSTRAINT_EQ || term->op == SQLITE_INDEX_CONSTRAINT_IS ||
          term->op == SQLITE_INDEX_CONSTRAINT_ISNULL);
}

/* Values that are equal may differ yet: -0.0 and 0.0; 5 and 5.0 in a view of a server that holds them to no type. */
int plan_known(const Definition *d, const Plan *plan, int column) {
  if (column < 0 || d->columns[column].type->declared == EDB_DECLARED_REAL) return -1;
  if (d->dialect->dynamic && definition_identity(d) == IDENTITY_NONE) return -1;
  for (int i = 0; i < plan->count; i++) {
    if (plan->terms[i].column == column && names_value(&plan->terms[i])) return i;
  }
  return -1;
}

/* ---- Shortcuts ------------------------------------------------------------------------------------- */

/* Before 3.46, SQLite offers LIMIT and does not tell of conditions that compare columns of this
** table with one another (`a > b`). They read columns: where none is read there is none. */
#define LIMIT_TELLS_ALL 3046000

/* A table of rows that are the same when they are read again, but for changes: a view may call random(). */
static int is_stored(const Table *table) {
  const Definition *d = &table->definition;
  return table->identity != IDENTITY_NONE && d->query == NULL && d->key == NULL;
}

static int is_told_all(const sqlite3_index_info *info) {
  return info->colUsed == 0 || sqlite3_libversion_number() >= LIMIT_TELLS_ALL;
}

typedef struct Limit {
  int limit; /* the constraint, -1: there is none that may be taken */
  int offset;
} Limit;

/* LIMIT is taken only where SQLite would do nothing else to the rows, as far as it tells: each condition is sent, and
** so is the order. */
static Limit find_limit(const Definition *d, const sqlite3_index_info *info, const Plan *whole,
                        int ordered) {
  static const Limit none = {-1, -1};
  Limit found = none;
  if (!d->pushdown || d->dialect->limit == NULL || !is_exact(whole)) return none;
  if (info->nOrderBy > 0 && !ordered) return none;
  for (int i = 0; i < info->nConstraint; i++) {
    int op = info->aConstraint[i].op;
    if (!info->aConstraint[i].usable) return none;
    if (op == SQLITE_INDEX_CONSTRAINT_LIMIT) {
      found.limit = i;
    } else if (op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
      found.offset = i;
    } else if (info->aConstraintUsage[i].argvIndex == 0) {
      return none;
    }
  }
  return found.limit < 0 ? none : found;
}

static void take_limit(sqlite3_index_info *info, Limit limit, Plan *plan) {
  plan->limit = plan->count;
  info->aConstraintUsage[limit.limit].argvIndex = plan->limit + 1;
  if (limit.offset < 0) return;
  plan->offset = plan->limit + 1;
  info->aConstraintUsage[limit.offset].argvIndex = plan->offset + 1;
}

/* All that is read is known, and SQLite looks at no row by its identity, as far as it tells. */
static int may_count(const Table *table, const sqlite3_index_info *info, const Plan *whole) {
  const Definition *d = &table->definition;
  if (plan_is_lookup(table, whole)) return 0; /* a row costs no more */
  for (int i = 0; i < d->count; i++) {
    if (is_used(info->colUsed, i) && plan_known(d, whole, i) < 0) return 0;
  }
  for (int i = 0; i < whole->count; i++) {
    if (whole->terms[i].by_rowid || plan_known(d, whole, whole->terms[i].column) < 0) return 0;
  }
  return d->pushdown || whole->count == 0;
}

/* min(x) and max(x) are ORDER BY x, and read the first row alone. */
static int may_be_extreme(const Table *table, sqlite3_index_info *info, const Plan *whole) {
  const Definition *d = &table->definition;
  if (whole->orders != 1 || sqlite3_vtab_distinct(info) != 0) return 0;
  for (int i = 0; i < info->nConstraint; i++) {
    if (is_limit(info->aConstraint[i].op)) return 0;
    if (info->aConstraintUsage[i].argvIndex == 0) return 0;
  }
  for (int i = 0; i < d->count; i++) {
    if (!is_used(info->colUsed, i) || i == whole->order[0].column) continue;
    int conditioned = 0;
    for (int t = 0; t < whole->count; t++) conditioned |= whole->terms[t].column == i;
    if (!conditioned) return 0;
  }
  return d->dialect->limit != NULL && is_exact(whole);
}

static Shortcut choose(const Table *table, sqlite3_index_info *info, const Plan *whole, Limit limit,
                       Plan *plan) {
  int lists = has_list(whole);
  int again = is_stored(table) && !lists;
  int extreme = again && limit.limit < 0 && may_be_extreme(table, info, whole);
  if (extreme && info->aOrderBy[0].iColumn < 0) return SHORTCUT_FIRST; /* of rowids: none is read */
  if (plan_distinct(table, info, whole, plan)) return SHORTCUT_DISTINCT;
  if (!lists && may_count(table, info, whole)) return SHORTCUT_COUNT;
  return again && (extreme || limit.limit >= 0) ? SHORTCUT_FIRST : SHORTCUT_NONE;
}

/* A shortcut to what the whole gives, whose terms it has; NULL where there is none, or out of memory. */
static Plan *plan_shortcut(const Table *table, sqlite3_index_info *info, const Plan *whole,
                           Limit limit) {
  const Definition *d = &table->definition;
  Plan *plan = plan_new(d, whole->count, whole->orders);
  if (plan == NULL) return NULL;
  plan->count = whole->count;
  plan->rows = whole->rows;
  memcpy(plan->terms, whole->terms, sizeof(Term) * (size_t)whole->count);
  plan->shortcut = choose(table, info, whole, limit, plan);
  if (plan->shortcut != SHORTCUT_DISTINCT)
    plan->fetches = plan->orders = 0; /* as far as it was tried */
  if (plan->shortcut == SHORTCUT_FIRST) {
    plan->orders = whole->orders;
    memcpy(plan->order, whole->order, sizeof(Sorted) * (size_t)whole->orders);
    plan_columns(table, info->colUsed, plan);
  } else if (plan->shortcut == SHORTCUT_COUNT) {
    for (int i = 0; i < d->count; i++) plan->slot[i] = -1;
  }
  return plan;
}

/* ---- Other plans' rows ------------------------------------------------------------------------------- */

size_t plan_width(const Plan *plan) {
  size_t width = (size_t)plan->fetches + (plan->identity >= 0);
  return width ? width : 1;
}

int plan_is_plain(const Plan *plan) { return plan->shortcut == SHORTCUT_NONE && plan->orders == 0; }

int plan_without(Table *table, const Plan *plan, const unsigned char *marked, Plan **out) {
  const Definition *d = &table->definition;
  Plan *rest = plan_new(d, plan->count, 0);
  if (rest == NULL) return SQLITE_NOMEM;
  rest->identity = plan->identity;
  rest->fetches = plan->fetches;
  memcpy(rest->fetch, plan->fetch, sizeof(int) * (size_t)plan->fetches);
  memcpy(rest->slot, plan->slot, sizeof(int) * (size_t)d->count);
  rest->rows = table_rows(d);
  for (int i = 0; i < plan->count; i++) {
    if (marked[i]) continue;
    rest->terms[rest->count++] = plan->terms[i];
    rest->rows *= term_selectivity(&plan->terms[i]);
  }
  return plan_enlist(table, rest, out);
}

/* ---- xBestIndex -------------------------------------------------------------------------------------- */

/* The plan, or the two, of what SQLite offers: *out is the one to begin with. */
static int plan_make(Table *table, sqlite3_index_info *info, Plan *whole, Plan **out) {
  const Definition *d = &table->definition;
  int arguments = 0;
  plan_conditions(table, info, whole, &arguments);
  /* A lookup gives one row, which is in any order. */
  int one = plan_is_lookup(table, whole);
  int ordered = !one && plan_order(table, info, whole);
  Limit limit = find_limit(d, info, whole, ordered || one);
  Plan *plan = plan_shortcut(table, info, whole, limit);
  if (plan == NULL) {
    plan_free(whole);
    return SQLITE_NOMEM;
  }
  if (sqlite3_vtab_distinct(info) == 2 && plan->shortcut == SHORTCUT_NONE) {
    whole->orders = ordered = 0; /* SQLite tells rows apart without an order */
  }
  info->orderByConsumed = ordered || one;
  plan_columns(table, info->colUsed, whole);
  plan_estimate(table, whole, info);
  if (plan->shortcut == SHORTCUT_NONE) {
    plan_free(plan);
    if (limit.limit >= 0 && is_told_all(info)) take_limit(info, limit, whole);
    return plan_enlist(table, whole, out);
  }
  if (limit.limit >= 0) take_limit(info, limit, plan);
  if (plan_enlist(table, whole, &plan->whole) != SQLITE_OK) {
    plan_free(plan);
    return SQLITE_NOMEM;
  }
  plan_estimate(table, plan, info);
  return plan_enlist(table, plan, out);
}

int plan_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  Table *table = (Table *)vtab;
  if (table->broken) return SQLITE_OK; /* the scan says why */
  Plan *plan = plan_new(&table->definition, info->nConstraint, info->nOrderBy);
  if (plan == NULL || plan_make(table, info, plan, &plan) != SQLITE_OK) return SQLITE_NOMEM;
  info->idxNum = plan->number;
  if (table->edb->explaining) return explain_note(table, info, plan);
  info->idxStr = sqlite3_mprintf("%s", plan->sql);
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
