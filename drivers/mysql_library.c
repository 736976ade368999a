/*
** drivers/mysql_library.c: libmariadb or libmysqlclient, opened at run time.
**
** Which of the two it is shows in a function that only one has: some systems give libmariadb the other's name.
*/
#include <stdio.h>
#include <string.h>

#include "mysql.h"

my_library my;
const my_layout *my_layout_used;
atomic_int my_layout_state;

#define REQUIRED(member)                                                                           \
  { "mysql_" #member, offsetof(my_library, member), 0 }
#define CALLED(name, member, optional)                                                             \
  { name, offsetof(my_library, member), optional }

static const edb_symbol symbols[] = {
    REQUIRED(server_init),
    REQUIRED(thread_init),
    REQUIRED(thread_end),
    REQUIRED(get_client_info),
    REQUIRED(get_client_version),
    REQUIRED(init),
    REQUIRED(options),
    REQUIRED(real_connect),
    REQUIRED(close),
    CALLED("mysql_errno", number, 0),
    REQUIRED(error),
    REQUIRED(sqlstate),
    REQUIRED(thread_id),
    REQUIRED(get_server_version),
    REQUIRED(get_server_info),
    REQUIRED(get_ssl_cipher),
    REQUIRED(real_query),
    REQUIRED(real_escape_string),
    REQUIRED(use_result),
    REQUIRED(next_result),
    REQUIRED(field_count),
    REQUIRED(affected_rows),
    REQUIRED(num_fields),
    REQUIRED(fetch_field_direct),
    REQUIRED(fetch_row),
    REQUIRED(fetch_lengths),
    REQUIRED(free_result),
    REQUIRED(stmt_init),
    REQUIRED(stmt_prepare),
    REQUIRED(stmt_param_count),
    REQUIRED(stmt_bind_param),
    REQUIRED(stmt_execute),
    REQUIRED(stmt_field_count),
    REQUIRED(stmt_result_metadata),
    REQUIRED(stmt_bind_result),
    REQUIRED(stmt_fetch),
    REQUIRED(stmt_fetch_column),
    REQUIRED(stmt_affected_rows),
    REQUIRED(stmt_next_result),
    REQUIRED(stmt_free_result),
    REQUIRED(stmt_close),
    REQUIRED(stmt_errno),
    REQUIRED(stmt_error),
    REQUIRED(stmt_sqlstate),
    REQUIRED(set_local_infile_handler),
    CALLED("mysql_stmt_attr_set", stmt_attr_set, 1),
    CALLED("mysql_get_socket", get_socket, 1),
    CALLED("mysql_stmt_execute_start", stmt_execute_start, 1),
    CALLED("mysql_stmt_execute_cont", stmt_execute_cont, 1),
    CALLED("mariadb_get_info", get_info, 1),
    CALLED("mariadb_field_attr", field_attr, 1),
    CALLED("ERR_clear_error", clear_tls_errors, 1),
    {NULL, 0, 0},
};

/* The version in a name is that of its ABI: 21 is MySQL 8.0, 22 is 8.1, 24 is 8.4 and 9. */
static const char *const names[] = {
#if defined(_WIN32)
    "libmariadb.dll",
    "libmysql.dll",
#else
    "libmariadb.so.3",
    "libmysqlclient.so.24",
    "libmysqlclient.so.22",
    "libmysqlclient.so.21",
    "libmariadb.3.dylib",
    "libmysqlclient.24.dylib",
    "libmysqlclient.21.dylib",
#endif
    NULL,
};

static edb_library library = {
    "the client library of MariaDB or MySQL",
    "install libmariadb3 (Debian, Ubuntu), mariadb-connector-c (Fedora, Homebrew) or mariadb-libs "
    "(Arch)",
    names,
    symbols,
    &my,
    NULL,
};

void my_disconnect(MYSQL *mysql) {
  my.close(mysql);
  if (my.clear_tls_errors) my.clear_tls_errors();
}

static int is_mariadb(void) { return my.get_info != NULL && my.get_socket != NULL; }

/* libmariadb calls its own version by a number of its own: 30320 is 3.3.20. */
int my_library_load(edb_error *error) {
  int rc = edb_library_load(&library, error);
  if (rc != EDB_OK) return rc;
  unsigned long version = my.get_client_version();
  const my_layout *layout = my_layout_of(is_mariadb(), version);
  if (!layout) {
    /* The text protocol needs no more than what all versions have in common. */
    layout = my_layout_of(is_mariadb(), is_mariadb() ? 30000 : 80000);
    atomic_store(&my_layout_state, MY_LAYOUT_MISFIT);
  }
  my_layout_used = layout;
  if (my.server_init(0, NULL, NULL) != 0) {
    return edb_fail(error, EDB_FAILED, "%s cannot be initialised", my_library_name());
  }
  return EDB_OK;
}

const char *my_library_name(void) {
  static char name[64];
  if (!library.handle) return "";
  if (!name[0]) {
    snprintf(name, sizeof name, "%s %.40s", is_mariadb() ? "libmariadb" : "libmysqlclient",
             my.get_client_info());
  }
  return name;
}
