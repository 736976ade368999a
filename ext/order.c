/*
** ext/order.c: in which order rows come, and which of them are left out.
**
** ORDER BY goes to the server where its order is SQLite's. A column's type says how it has to stand there (edb_type's
** `order`), or its comparisons do: numbers sort alike everywhere; dates and times, which are text here, where all that
** the type holds has four digits of year. NULL comes first in SQLite, and last with DESC.
**
** DISTINCT goes there where each column that is read is one of those that must differ, or is known, and equality is
** SQLite's. The key does not travel then, so it must be certain that nobody asks for it (scan.c).
*/
#include "extInt.h"

#include <string.h>

/* ---- Columns ---------------------------------------------------------------------------------- */

/* How a column of the type is sorted by, NULL where not by SQLite's order. */
static const char *type_order(const Definition *d, const edb_type *type) {
  if (type->declared == EDB_DECLARED_NUMERIC && d->decimal_text) return NULL;
  if (type->declared >= EDB_DECLARED_DATE && d->unrepresentable != UNREPRESENTABLE_TEXT)
    return NULL;
  if (type->kind == EDB_TEXT && !d->utf8) return NULL; /* SQLite's is by UTF-16 */
  if (type->order) return type->order;
  switch (type->compare) {
  case EDB_COMPARE_INTEGER:
  case EDB_COMPARE_BOOLEAN:
  case EDB_COMPARE_FINITE:
    return "%s";
  case EDB_COMPARE_DATE:
  case EDB_COMPARE_CLOCK:
  case EDB_COMPARE_DATETIME:
    return type->early || type->late ? NULL : "%s";
  default:
    return NULL;
  }
}

static const char *column_order(const Definition *d, int column) {
  return column < 0 ? "%s" : type_order(d, d->columns[column].type);
}

/* Whether rows may have what is NULL here. */
static int may_be_null(const Definition *d, int column) {
  return column >= 0 && (d->columns[column].nullable || d->columns[column].type->is_null);
}

/* ---- The plan --------------------------------------------------------------------------------- */

static int is_sorted_by(const Plan *plan, int column) {
  for (int i = 0; i < plan->orders; i++) {
    if (plan->order[i].column == column) return 1;
  }
  return 0;
}

int plan_order(const Table *table, const sqlite3_index_info *info, Plan *plan) {
  const Definition *d = &table->definition;
  plan->orders = 0;
  if (info->nOrderBy == 0 || !d->pushdown || d->dialect->unordered) return 0;
  for (int i = 0; i < info->nOrderBy; i++) {
    int column = plan_column(table, info->aOrderBy[i].iColumn);
    if (column == PLAN_NO_COLUMN || column_order(d, column) == NULL) {
      plan->orders = 0;
      return 0;
    }
    if (is_sorted_by(plan, column)) continue;
    plan->order[plan->orders].column = column;
    plan->order[plan->orders++].desc = info->aOrderBy[i].desc != 0;
  }
  return 1;
}

/* Whether two of its values are equal there where they are equal in SQLite, and only there. */
static int is_distinct_alike(const Definition *d, int column) {
  const edb_type *type = column < 0 ? NULL : d->columns[column].type;
  if (type == NULL || type->is_null || type->compare == EDB_COMPARE_FLOAT) return 0;
  return ship_class(d, type, SQLITE_INDEX_CONSTRAINT_EQ, "BINARY", NULL) == SHIP_EXACT;
}

int plan_distinct(const Table *table, sqlite3_index_info *info, const Plan *whole, Plan *plan) {
  const Definition *d = &table->definition;
  int wanted = sqlite3_vtab_distinct(info);
  if (wanted < 2 || whole->orders == 0) return 0;
  /* What DISTINCT is sorted by must be what it selects; and SQLite has a column's own collation there. */
  int plain = wanted == 3 || d->dialect->dynamic;
  for (int i = 0; i < whole->orders; i++) {
    int column = whole->order[i].column;
    if (!is_distinct_alike(d, column)) return 0;
    if (plain && (d->columns[column].type->read || strcmp(column_order(d, column), "%s") != 0)) {
      return 0;
    }
  }
  for (int i = 0; i < d->count; i++) {
    plan->slot[i] = -1;
    if (!is_used(info->colUsed, i)) continue;
    int differs = is_sorted_by(whole, i) || (wanted == 3 && is_distinct_alike(d, i));
    if (!differs && plan_known(d, plan, i) < 0) return 0;
    plan->slot[i] = plan->fetches;
    plan->fetch[plan->fetches++] = i;
  }
  for (int i = 0; i < plan->count; i++) {
    int column = plan->terms[i].column;
    if (column < 0 || plan->slot[column] < 0) return 0; /* SQLite looks at it through the rowid */
  }
  plan->identity = -1;
  plan->orders = wanted == 3 ? whole->orders : 0;
  memcpy(plan->order, whole->order, sizeof(Sorted) * (size_t)plan->orders);
  return plan->fetches > 0;
}

/* ---- The remote SQL ----------------------------------------------------------------------------- */

/* The column as it is sorted by. Where what is selected is an expression, a server may have given that the column's
** name: so the table's name stands before it. */
static void append_column(Sql *sql, const Definition *d, const Plan *plan, int column) {
  sqlite3_str *name = sqlite3_str_new(NULL);
  char *plain = deparse_column(d, column);
  for (int i = 0; column >= 0 && i < plan->fetches; i++) {
    if (d->columns[plan->fetch[i]].type->read == NULL) continue;
    append_name(name, d->dialect, d->query ? "edb" : d->table);
    sqlite3_str_appendchar(name, 1, '.');
    break;
  }
  sqlite3_str_appendall(name, plain ? plain : "");
  char *whole = sqlite3_str_finish(name);
  if (plain == NULL || whole == NULL) sql->rc = SQLITE_NOMEM;
  sqlite3_free(plain);
  append_template(sql->text, sql->passes_null ? "%s" : column_order(d, column), whole ? whole : "");
  sqlite3_free(whole);
}

/* Whether the column alone sorts as SQLite does, once there is no NULL. */
static int is_plain_order(const Definition *d, int column) {
  return column < 0 || d->columns[column].type->compare == EDB_COMPARE_FLOAT ||
         strcmp(column_order(d, column), "%s") == 0;
}

/* ORDER BY x DESC has NULL last in SQLite, and an index does not where the server has NULL first: then the first rows
** are looked for among those without NULL. */
static int passes_null(const Definition *d, const Plan *plan) {
  return plan->shortcut == SHORTCUT_FIRST && plan->orders == 1 && plan->order[0].desc &&
         d->dialect->descending && may_be_null(d, plan->order[0].column) &&
         is_plain_order(d, plan->order[0].column);
}

Shipped order_condition(Sql *sql, const Definition *d, const Plan *plan, const char *word) {
  Term term = {.op = SQLITE_INDEX_CONSTRAINT_ISNOTNULL, .argument = -1};
  if (sql->bound == 0 || !passes_null(d, plan)) return SHIP_SKIP;
  term.column = plan->order[0].column;
  sqlite3_str_appendall(sql->text, word);
  sql->passes_null = 1;
  return ship_term(sql, d, &term, NULL);
}

void order_deparse(Sql *sql, const Definition *d, const Plan *plan) {
  const edb_dialect *dialect = d->dialect;
  for (int i = 0; i < plan->orders; i++) {
    const Sorted *sorted = &plan->order[i];
    int nulls = !sql->passes_null && may_be_null(d, sorted->column);
    sqlite3_str_appendall(sql->text, i ? ", " : " ORDER BY ");
    append_column(sql, d, plan, sorted->column);
    if (sorted->desc) {
      sqlite3_str_appendall(sql->text,
                            nulls && dialect->descending ? dialect->descending : " DESC");
    } else if (nulls && dialect->ascending) {
      sqlite3_str_appendall(sql->text, dialect->ascending);
    }
  }
}
