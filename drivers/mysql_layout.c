/*
** drivers/mysql_layout.c: what differs between the client libraries: where the members of MYSQL_FIELD and
** MYSQL_BIND are, and the numbers of mysql_options.
**
** edb is built without any of their headers and runs with any of them. The layouts are written down here, as
** the headers of those versions have them, in types whose sizes are the platform's own (unsigned long is 32
** bits on Windows, 64 elsewhere). A library that is not in the table, or whose layout is not what the table
** says (mysql_connect.c proves it by a row), is used by the text protocol, which needs MYSQL_FIELD alone and
** of that only what every version since 5.1 has had in one place.
*/
#include <string.h>

#include "mysql.h"

/* The members in their order; what is edb's business has a name. Equal in MySQL 5.1 to 9 and in MariaDB
** Connector/C 2 and 3: my_bool became bool, of the same size, and members were renamed. */
typedef struct field_5_1 {
  char *name, *org_name, *table, *org_table, *db, *catalog, *def;
  unsigned long length, max_length;
  unsigned name_length, lengths[6];
  unsigned flags, decimals, charset;
  int type;
  void *extension;
} field_5_1;

typedef struct bind_5_1 {
  unsigned long *length;
  char *is_null;
  void *buffer;
  char *error;
  void *row;
  void (*functions[3])(void);
  unsigned long buffer_length, offset, length_value;
  unsigned number, pack_length;
  int type;
  char error_value, is_unsigned, long_data_used, is_null_value;
  void *extension;
} bind_5_1;

#define FIELD_5_1                                                                                  \
  .field_name = offsetof(field_5_1, name), .field_length = offsetof(field_5_1, length),            \
  .field_flags = offsetof(field_5_1, flags), .field_decimals = offsetof(field_5_1, decimals),      \
  .field_charset = offsetof(field_5_1, charset), .field_type = offsetof(field_5_1, type)
#define BIND_5_1                                                                                   \
  .bind_size = sizeof(bind_5_1), .bind_length = offsetof(bind_5_1, length),                        \
  .bind_is_null = offsetof(bind_5_1, is_null), .bind_buffer = offsetof(bind_5_1, buffer),          \
  .bind_error = offsetof(bind_5_1, error),                                                         \
  .bind_buffer_length = offsetof(bind_5_1, buffer_length), .bind_type = offsetof(bind_5_1, type),  \
  .bind_unsigned = offsetof(bind_5_1, is_unsigned)

static const my_layout layouts[] = {
    {.name = "MariaDB Connector/C 3",
     .mariadb = 1,
     .from = 30000,
     .to = 40000,
     FIELD_5_1,
     BIND_5_1,
     .bind_indicator = offsetof(bind_5_1, row),
     .opt_report_truncation = 19,
     .opt_reconnect = 20,
     .opt_ssl_verify = 21,
     .opt_ssl_key = 25,
     .opt_ssl_cert = 26,
     .opt_ssl_ca = 27,
     .opt_ssl_capath = 28,
     .opt_ssl_cipher = 29,
     .opt_ssl_enforce = 38,
     .opt_ssl_mode = -1,
     .opt_max_packet = 39,
     .opt_restricted_auth = 7026, /* since 3.2 */
     .opt_io_wait = 7024},
    /* MySQL 8.0 dropped six options from the middle. */
    {.name = "MySQL 8 and 9",
     .mariadb = 0,
     .from = 80000,
     .to = 100000,
     FIELD_5_1,
     BIND_5_1,
     .opt_report_truncation = 14,
     .opt_reconnect = -1, /* off by default, deprecated */
     .opt_ssl_verify = -1,
     .opt_ssl_key = 19,
     .opt_ssl_cert = 20,
     .opt_ssl_ca = 21,
     .opt_ssl_capath = 22,
     .opt_ssl_cipher = 23,
     .opt_ssl_enforce = -1,
     .opt_ssl_mode = 35,
     .opt_max_packet = 32,
     .opt_restricted_auth = -1, /* nothing is sent in clear that was not asked for */
     .opt_io_wait = -1},
};

const my_layout *my_layout_of(int mariadb, unsigned long version) {
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
    const my_layout *layout = &layouts[i];
    if ((int)layout->mariadb == !!mariadb && version >= layout->from && version < layout->to)
      return layout;
  }
  return NULL;
}

/* ---- Reading and writing ------------------------------------------------------------------------ */

void my_layout_field(const my_layout *layout, const void *field, my_field *out) {
  const char *p = field;
  unsigned type; /* an enum, which is an int's size in all of them */
  memcpy(&out->name, p + layout->field_name, sizeof out->name);
  memcpy(&out->length, p + layout->field_length, sizeof out->length);
  memcpy(&out->flags, p + layout->field_flags, sizeof out->flags);
  memcpy(&out->decimals, p + layout->field_decimals, sizeof out->decimals);
  memcpy(&out->charset, p + layout->field_charset, sizeof out->charset);
  memcpy(&type, p + layout->field_type, sizeof type);
  out->type = (int)type;
}

void my_layout_bind(const my_layout *layout, void *binds, size_t i, const my_bound *bound) {
  char *p = (char *)binds + i * layout->bind_size;
  memcpy(p + layout->bind_length, &bound->length, sizeof bound->length);
  memcpy(p + layout->bind_is_null, &bound->is_null, sizeof bound->is_null);
  memcpy(p + layout->bind_buffer, &bound->buffer, sizeof bound->buffer);
  memcpy(p + layout->bind_error, &bound->error, sizeof bound->error);
  memcpy(p + layout->bind_buffer_length, &bound->buffer_length, sizeof bound->buffer_length);
  memcpy(p + layout->bind_type, &bound->type, sizeof bound->type);
  p[layout->bind_unsigned] = (char)(bound->is_unsigned != 0);
}
