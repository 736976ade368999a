/*
** ext/ask.c: a plan's statement, written for the actual values and sent.
*/
#include "extInt.h"

#include <string.h>

/* The statement's list may go out in chunks: the rows are wanted in no order and without a limit, and tell which chunk they
** are of. */
static int plan_may_chunk(const Plan *plan) {
  int may = plan_is_plain(plan) && plan->limit < 0;
  for (int i = 0; i < plan->count; i++) {
    const Term *term = &plan->terms[i];
    may = may && !(term->in && term->column >= 0 && plan->slot[term->column] < 0);
  }
  return may;
}

static int plan_has_list(const Plan *plan) {
  for (int i = 0; i < plan->count; i++) {
    if (plan->terms[i].in) return 1;
  }
  return 0;
}

Shipped ask_write(Table *table, Sql *sql, Plan **plan, sqlite3_value **values, int may_chunk) {
  sqlite3 *db = table->edb->db;
  for (;;) {
    sql_begin(sql, table->definition.dialect);
    sql->host = &table->edb->host;
    sql->may_chunk = may_chunk && plan_may_chunk(*plan);
    sql->outer = plan_minds_outer(*plan) && outer_join_possible(db);
    sql->collated = plan_has_list(*plan) && lost_collation_possible(db);
    sql->unbound = (*plan)->whole == NULL && (*plan)->limit >= 0 && (*plan)->orders == 0 &&
                   long_order_possible(db);
    Shipped shipped = deparse_plan(sql, &table->definition, *plan, values);
    int inexact = sql->supersets > 0 &&
                  ((*plan)->shortcut == SHORTCUT_COUNT || (*plan)->shortcut == SHORTCUT_DISTINCT);
    if (shipped != SHIP_SENT || !inexact) return shipped;
    sql_clear(sql);
    *plan = (*plan)->whole;
  }
}

int ask_send(const Table *table, const Plan *plan, const Sql *sql, Stream *stream, char **message) {
  Server *server = NULL;
  Link *link = NULL;
  int rc = table_server(table, &server, message);
  if (rc == SQLITE_OK) rc = link_acquire(server, &link, message);
  if (rc != SQLITE_OK) return rc;
  Command command = {.sql = sql->written,
                     .parameters = sql->parameters,
                     .n = (size_t)sql->count,
                     .expected = sql->bound > 0 ? (double)sql->bound : plan->rows,
                     .repeat = REPEAT_ONCE,
                     .prepared = 1,
                     .table = table};
  rc = link_run(&link, &command, stream, NULL, message);
  if (rc != SQLITE_OK) link_release(link);
  return rc;
}
