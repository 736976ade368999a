/*
** drivers/mysql_thread.c: calls that may block for long, with libraries that do not call back while they wait.
**
** libmysqlclient blocks where libmariadb would ask us (mysql_wait.c). So what waits for a statement's answer is
** called by a thread of the connection's own (thread.c), while the thread that wants the answer asks the host, as
** everywhere. Rows are fetched without it: between two rows of one result a wait ends by the library's own read
** time-out alone.
*/
#include "mysql.h"

static void tick(void *context, int64_t ms) {
  (void)ms;
  my_stop_if_due(context);
}

static void thread_begin(void) { my.thread_init(); }
static void thread_end(void) { my.thread_end(); }

static int make(const void *context) {
  const my_job *job = context;
  return job->call(job);
}

int my_call(my_connection *c, const my_job *job) {
  const edb_thread_spec spec = {c->host, tick, c, thread_begin, thread_end};
  if (!c->thread) c->thread = edb_thread_new(&spec);
  return edb_thread_call(c->thread, 0, make, job);
}

void my_thread_end(my_connection *c) {
  edb_thread_free(c->thread);
  c->thread = NULL;
}

/* ---- What is called so ---------------------------------------------------------------------------- */

static int call_query(const my_job *job) { return my.real_query(job->mysql, job->sql, job->n); }

static int call_prepare(const my_job *job) { return my.stmt_prepare(job->stmt, job->sql, job->n); }

static int call_execute(const my_job *job) { return my.stmt_execute(job->stmt); }

static int call(my_connection *c, my_job job) {
  return c->hooked ? job.call(&job) : my_call(c, &job);
}

int my_query(my_connection *c, const char *sql, size_t n) {
  return call(c, (my_job){call_query, c->mysql, NULL, sql, (unsigned long)n});
}

int my_prepare(my_connection *c, MYSQL_STMT *stmt, const char *sql, size_t n) {
  return call(c, (my_job){call_prepare, NULL, stmt, sql, (unsigned long)n});
}

int my_execute(my_connection *c, MYSQL_STMT *stmt) {
  return call(c, (my_job){call_execute, NULL, stmt, NULL, 0});
}
