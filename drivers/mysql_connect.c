/*
** drivers/mysql_connect.c: options, connecting, closing.
**
** A connection costs the handshake and one round trip, in which the session becomes what the rest relies on.
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <winsock2.h>
#else
#include <sys/socket.h>
#include <sys/time.h>
#endif

#include "mysql.h"

/* ---- Options ---------------------------------------------------------------------------------- */

const edb_option_spec my_options[] = {
    {"host", 0, "host name or address (localhost: its socket, unless a port is given)"},
    {"port", 0, "port (3306)"},
    {"user", 0, "user name"},
    {"password", EDB_OPTION_SECRET, "password"},
    {"database", 0, "database"},
    {"socket", 0, "path of the server's Unix socket"},
    {"ssl-mode", 0,
     "DISABLED, PREFERRED (encrypted where the server can, not verified), REQUIRED, VERIFY_CA or "
     "VERIFY_IDENTITY (these three verify the server; default: PREFERRED, with ssl-ca "
     "VERIFY_IDENTITY)"},
    {"ssl-ca", 0, "file of the authorities that are trusted"},
    {"ssl-capath", 0, "directory of them"},
    {"ssl-cert", EDB_OPTION_LOCAL, "file of the client's certificate"},
    {"ssl-key", EDB_OPTION_LOCAL, "file of its key"},
    {"ssl-cipher", 0, "ciphers that may be used"},
    {"ssl-verify-server-cert", 0, "0: REQUIRED encrypts without verifying"},
    {"charset", 0, "utf8mb4: text always travels in it"},
    {"option_file", EDB_OPTION_LOCAL, "option file to read (none is read unless asked for)"},
    {"option_group", EDB_OPTION_LOCAL, "group of the option files to read, beside [client]"},
    {"connect_timeout", 0, "seconds to wait for the connection"},
    {"compress", 0, "1: compressed protocol"},
    {NULL, 0, NULL},
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static int same_word(const char *a, const char *b) {
  while (*a && lower(*a) == lower(*b)) {
    a++;
    b++;
  }
  return lower(*a) == lower(*b);
}

/* A decimal number of at most `most`, or the default where there is no option. */
static int number_of(const edb_option *options, size_t n, const char *name, long most, long *number,
                     edb_error *error) {
  const char *text = edb_option_get(options, n, name), *p = text;
  long value = 0;
  if (!text) return EDB_OK;
  while (*p >= '0' && *p <= '9' && value <= most) value = value * 10 + (*p++ - '0');
  if (p == text || *p || value > most) {
    return edb_fail(error, EDB_FAILED, "%s=%s: must be a number from 0 to %ld", name, text, most);
  }
  *number = value;
  return EDB_OK;
}

static int tls_of(const edb_option *options, size_t n, my_target *target, edb_error *error) {
  static const struct {
    const char *name;
    enum my_tls tls;
  } modes[] = {
      {"DISABLED", MY_TLS_DISABLED},        {"PREFERRED", MY_TLS_PREFERRED},
      {"REQUIRED", MY_TLS_VERIFIED},        {"VERIFY_CA", MY_TLS_VERIFIED},
      {"VERIFY_IDENTITY", MY_TLS_VERIFIED},
  };
  const char *mode = edb_option_get(options, n, "ssl-mode");
  long verify = 1;
  size_t i = 0;
  int rc = number_of(options, n, "ssl-verify-server-cert", 1, &verify, error);
  if (rc != EDB_OK) return rc;
  if (!mode) {
    int ca = edb_option_get(options, n, "ssl-ca") || edb_option_get(options, n, "ssl-capath");
    target->tls = ca ? MY_TLS_VERIFIED : target->socket ? MY_TLS_DISABLED : MY_TLS_PREFERRED;
  } else {
    while (i < sizeof modes / sizeof modes[0] && !same_word(mode, modes[i].name)) i++;
    if (i == sizeof modes / sizeof modes[0]) {
      return edb_fail(error, EDB_FAILED,
                      "ssl-mode=%s: must be DISABLED, PREFERRED, REQUIRED, VERIFY_CA or "
                      "VERIFY_IDENTITY",
                      mode);
    }
    target->tls = modes[i].tls;
  }
  if (!verify && mode && same_word(mode, "REQUIRED")) target->tls = MY_TLS_REQUIRED;
  return EDB_OK;
}

/* The library passes over a file that it cannot read, and would connect to wherever its defaults say. */
static int check_option_file(const char *path, edb_error *error) {
  FILE *file = path ? fopen(path, "r") : NULL;
  if (path && !file) {
    return edb_fail(error, EDB_FAILED, "option_file=%s: %s", path, strerror(errno));
  }
  if (file) fclose(file);
  return EDB_OK;
}

int my_target_of(const edb_option *options, size_t n, my_target *target, edb_error *error) {
  const char *charset = edb_option_get(options, n, "charset");
  long port = 0, compress = 0, timeout = 0;
  memset(target, 0, sizeof *target);
  target->host = edb_option_get(options, n, "host");
  target->user = edb_option_get(options, n, "user");
  target->password = edb_option_get(options, n, "password");
  target->database = edb_option_get(options, n, "database");
  target->socket = edb_option_get(options, n, "socket");
  if (charset && !same_word(charset, "utf8mb4") && !same_word(charset, "utf8")) {
    return edb_fail(error, EDB_FAILED,
                    "charset=%s: text always travels as utf8mb4, whatever the columns' character "
                    "sets are",
                    charset);
  }
  int rc = number_of(options, n, "port", 65535, &port, error);
  if (rc == EDB_OK) rc = number_of(options, n, "compress", 1, &compress, error);
  if (rc == EDB_OK) rc = number_of(options, n, "connect_timeout", 86400, &timeout, error);
  if (rc == EDB_OK) rc = tls_of(options, n, target, error);
  if (rc == EDB_OK) rc = check_option_file(edb_option_get(options, n, "option_file"), error);
  target->port = (unsigned)port;
  target->compress = (int)compress;
  target->connect_seconds = (int)timeout;
  return rc;
}

/* ---- LOCAL INFILE ------------------------------------------------------------------------------ */

/* A server may ask for any file at any time; whatever an option file says, it gets none. */
static int infile_refuse(void **context, const char *name, void *user) {
  (void)name, (void)user;
  *context = NULL;
  return 1;
}

static int infile_read(void *context, char *buffer, unsigned n) {
  (void)context, (void)buffer, (void)n;
  return -1;
}

static void infile_end(void *context) { (void)context; }

static int infile_error(void *context, char *text, unsigned n) {
  static const char why[] = "the server asked for a file of this computer, which is refused";
  (void)context;
  edb_copy_line(text, n, why, sizeof why - 1);
  return 4166;
}

/* ---- Connecting -------------------------------------------------------------------------------- */

#define PROTOCOL_TCP 1
#define PROTOCOL_SOCKET 2
#define CLIENT_FOUND_ROWS 2ul
#define MAX_PACKET (1ul << 30) /* the protocol's own limit */

/* The options' numbers that all libraries have in common. */
enum {
  OPT_CONNECT_TIMEOUT = 0,
  OPT_COMPRESS = 1,
  OPT_READ_FILE = 4,
  OPT_READ_GROUP = 5,
  OPT_CHARSET = 7,
  OPT_LOCAL_INFILE = 8,
  OPT_PROTOCOL = 9,
  OPT_READ_TIMEOUT = 11,
  OPT_WRITE_TIMEOUT = 12,
  OPT_PLUGIN_DIR = 22 /* libmariadb's */
};

static void set(MYSQL *mysql, int option, const void *value) {
  if (option >= 0 && value) my.options(mysql, option, value);
}

static void set_tls(MYSQL *mysql, const edb_option *options, size_t n, enum my_tls tls) {
  const my_layout *l = my_layout_used;
  const struct {
    int option;
    const char *name;
  } files[] = {
      {l->opt_ssl_ca, "ssl-ca"},   {l->opt_ssl_capath, "ssl-capath"}, {l->opt_ssl_cert, "ssl-cert"},
      {l->opt_ssl_key, "ssl-key"}, {l->opt_ssl_cipher, "ssl-cipher"},
  };
  static const unsigned modes[] = {1, 2, 3, 5}; /* SSL_MODE_… */
  char enforce = tls != MY_TLS_DISABLED, verify = tls == MY_TLS_VERIFIED;
  for (size_t i = 0; tls != MY_TLS_DISABLED && i < sizeof files / sizeof files[0]; i++) {
    set(mysql, files[i].option, edb_option_get(options, n, files[i].name));
  }
  set(mysql, l->opt_ssl_enforce,
      &enforce); /* which libmariadb takes for a wish unless it verifies */
  set(mysql, l->opt_ssl_verify, &verify);
  set(mysql, l->opt_ssl_mode, &modes[tls]);
}

/* Which ways to log in a server may choose. libmariadb would send the password as it is to any that asks
** (mysql_clear_password), or show the server's questions on the terminal (dialog); without TLS it would encrypt
** it with whatever key it is sent (sha256_password, caching_sha2_password). */
#define ALWAYS "mysql_native_password,client_ed25519,parsec,auth_gssapi_client"
#define ENCRYPTED ALWAYS ",caching_sha2_password,sha256_password"
#define PRIVATE ENCRYPTED ",mysql_clear_password"

static void set_plugins(MYSQL *mysql, const my_target *t) {
  const char *allowed = t->socket || t->tls == MY_TLS_VERIFIED ? PRIVATE
                        : t->tls == MY_TLS_DISABLED            ? ALWAYS
                                                               : ENCRYPTED;
  int option = my_layout_used->opt_restricted_auth;
  if (option < 0) return;
  /* A library that does not know it finds no plugins at all, and has only those that are built in. */
  if (my.options(mysql, option, allowed) != 0) my.options(mysql, OPT_PLUGIN_DIR, "/nowhere");
}

/* A connection by the options, not set up yet. NULL: out of memory. seconds: to wait for the connection;
** answer: for a server's answer, where the library does not call back, which `hooked` tells; 0: for ever. */
static MYSQL *prepare(const edb_option *options, size_t n, const my_target *t, unsigned seconds,
                      unsigned answer, unsigned char *hooked) {
  const my_layout *l = my_layout_used;
  const unsigned off = 0;
  const unsigned long most = MAX_PACKET;
  const char no = 0, yes = 1;
  int (*on_wait)(my_socket, char, int) = my_on_wait;
  void *callback;
  unsigned protocol = t->socket ? PROTOCOL_SOCKET : PROTOCOL_TCP;
  MYSQL *mysql = my.init(NULL);
  if (!mysql) return NULL;
  set(mysql, OPT_CHARSET, "utf8mb4");
  set(mysql, OPT_LOCAL_INFILE, &off);
  set(mysql, l->opt_report_truncation, &yes);
  set(mysql, l->opt_reconnect, &no);
  set(mysql, l->opt_max_packet, &most);
  if (t->compress) my.options(mysql, OPT_COMPRESS, NULL);
  if (t->socket || t->port) set(mysql, OPT_PROTOCOL, &protocol);
  if (seconds) set(mysql, OPT_CONNECT_TIMEOUT, &seconds);
  set(mysql, OPT_READ_FILE, edb_option_get(options, n, "option_file"));
  set(mysql, OPT_READ_GROUP, edb_option_get(options, n, "option_group"));
  set_tls(mysql, options, n, t->tls);
  set_plugins(mysql, t);
  memcpy(&callback, &on_wait, sizeof callback);
  *hooked = l->opt_io_wait >= 0 && my.options(mysql, l->opt_io_wait, callback) == 0;
  if (!*hooked && answer) {
    set(mysql, OPT_READ_TIMEOUT, &answer);
    set(mysql, OPT_WRITE_TIMEOUT, &answer);
  }
  my.set_local_infile_handler(mysql, infile_refuse, infile_read, infile_end, infile_error, NULL);
  return mysql;
}

static int connect_now(MYSQL *mysql, const my_target *t) {
  return my.real_connect(mysql, t->host, t->user, t->password, t->database, t->port, t->socket,
                         CLIENT_FOUND_ROWS) != NULL;
}

/* A read that finds nothing has to come back, so that the wait is ours. Without TLS it does; with it, libmariadb
** reads from a blocking socket. That it must stay, since some versions wait for the wrong side of one that
** would block them in writing: so a read gives up after a moment. */
static void return_from_reads(MYSQL *mysql, int hooked) {
#if defined(_WIN32)
  DWORD moment = 1;
#else
  struct timeval moment = {0, 1000};
  if (!my.get_ssl_cipher(mysql)) return;
#endif
  if (!hooked || !my.get_socket) return;
  setsockopt(my.get_socket(mysql), SOL_SOCKET, SO_RCVTIMEO, (const void *)&moment, sizeof moment);
}

/* What went wrong, with where and what to do. */
static int refused(my_connection *c, const my_target *t, edb_error *error) {
  unsigned number = my.number(c->mysql);
  const char *where = t->socket ? t->socket : t->host ? t->host : "localhost";
  char port[16] = "";
  if (!t->socket) snprintf(port, sizeof port, ":%u", t->port ? t->port : 3306);
  if (c->stop == MY_STOP_INTERRUPTED) {
    return edb_fail(error, EDB_INTERRUPTED, "interrupted while connecting to %s%s", where, port);
  }
  if (c->stop == MY_STOP_TIMEOUT) {
    return edb_fail(error, EDB_INTERRUPTED, "no connection to %s%s in time", where, port);
  }
  edb_fail(error, EDB_FAILED, "no connection to %s%s: %s", where, port, my.error(c->mysql));
  error->vendor = (int)number;
  const char *state = my.sqlstate(c->mysql);
  edb_copy_line(error->sqlstate, sizeof error->sqlstate, state, strlen(state));
  if (number == 2002 || number == 2003) {
    edb_fail_hint(error, "is the server running there, and does it accept connections?");
  } else if (number == 2026) {
    edb_fail_hint(error, "see ssl-mode and, for which authorities are trusted, ssl-ca");
  } else if (number == 1045) {
    edb_fail_hint(error, "see user, password, password_env and password_file");
  }
  return EDB_FAILED;
}

/* The session as the rest wants it, whatever the server's configuration says: text in utf8mb4 (a server may be
** told to pass over what the handshake asks for), times in UTC, quoting and dates, each statement a transaction
** unless one was begun, results whole; and a reader that is held for long is not dropped. */
static const char setup[] =
    "SET NAMES utf8mb4, time_zone = '+00:00', autocommit = 1, completion_type = 'NO_CHAIN',"
    " sql_select_limit = 18446744073709551615, group_concat_max_len = 1048576,"
    " div_precision_increment = 4, net_write_timeout = 31536000, sql_mode = "
    "'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_ENGINE_SUBSTITUTION'";

int my_run(my_connection *c, const char *sql) {
  return my_query(c, sql, strlen(sql)) == 0 ? EDB_OK : my_error(c);
}

/* The options, which a second connection needs as long as the first one lives. */
static int keep_options(my_connection *c, const edb_option *options, size_t n) {
  size_t size = n * sizeof *options;
  for (size_t i = 0; i < n; i++) size += strlen(options[i].name) + strlen(options[i].value) + 2;
  c->options = edb_alloc(c->host, size);
  if (!c->options) return EDB_NOMEM;
  char *p = (char *)(c->options + n);
  for (size_t i = 0; i < n; i++) {
    size_t name = strlen(options[i].name) + 1, value = strlen(options[i].value) + 1;
    c->options[i].name = memcpy(p, options[i].name, name);
    c->options[i].value = memcpy(p + name, options[i].value, value);
    p += name + value;
  }
  c->n_options = n;
  c->option_bytes = size;
  return EDB_OK;
}

static void discard(my_connection *c) {
  const edb_host *host = c->host;
  my_wait_for(c);
  c->stop = MY_STOP_INTERRUPTED; /* a farewell that cannot be sent is not waited for */
  c->stop_end = 0;
  my_thread_end(c);
  if (c->mysql) my_disconnect(c->mysql);
  my_wait_for(NULL);
  if (c->options) edb_wipe(c->options, c->option_bytes);
  edb_free(host, c->options);
  edb_buffer_free(&c->sql);
  edb_free(host, c);
}

/* Whether what was asked for has come: libmariadb goes on without TLS where the server has none. */
static int check_tls(my_connection *c, const my_target *t, edb_error *error) {
  if (t->tls < MY_TLS_REQUIRED || my.get_ssl_cipher(c->mysql)) return EDB_OK;
  return edb_fail(error, EDB_FAILED, "the server does not encrypt, which ssl-mode asks for");
}

int my_open(const edb_option *options, size_t n, const edb_host *host, void **connection,
            edb_error *error) {
  my_target target;
  int rc = my_target_of(options, n, &target, error);
  if (rc == EDB_OK) rc = my_library_load(error);
  if (rc != EDB_OK) return rc;
  my_connection *c = edb_alloc(host, sizeof *c);
  if (!c) return edb_fail(error, EDB_NOMEM, "out of memory");
  memset(c, 0, sizeof *c);
  c->host = c->sql.host = host;
  atomic_init(&c->cancelled, 0);
  int64_t ms = target.connect_seconds ? target.connect_seconds * INT64_C(1000) : host->timeout_ms;
  unsigned seconds = (unsigned)((ms + 999) / 1000);
  /* Behind our own time-out, which leaves the connection usable. */
  unsigned answer = host->timeout_ms > 0 ? (unsigned)(host->timeout_ms / 1000) + 4 : 0;
  if (ms > 0) c->connect_end = my_now_ms() + ms;
  if (keep_options(c, options, n) != EDB_OK ||
      !(c->mysql = prepare(options, n, &target, seconds, answer, &c->hooked))) {
    rc = edb_fail(error, EDB_NOMEM, "out of memory");
    goto failed;
  }
  my_wait_for(c);
  if (!connect_now(c->mysql, &target)) {
    rc = refused(c, &target, error);
    goto failed;
  }
  rc = check_tls(c, &target, error);
  if (rc != EDB_OK) goto failed;
  return_from_reads(c->mysql, c->hooked);
  c->connected = 1;
  c->id = my.thread_id(c->mysql);
  rc = my_run(c, setup);
  if (rc == EDB_OK) rc = my_prove(c);
  if (rc != EDB_OK) {
    *error = c->error;
    goto failed;
  }
  *connection = c;
  return EDB_OK;
failed:
  discard(c);
  return rc;
}

/* Why a command goes on at the server although it should stop. */
static void log_lone(my_connection *c, MYSQL *second) {
  char line[600];
  if (!c->host->log) return;
  int n = snprintf(line, sizeof line, "no second connection to stop a statement with: %s",
                   my.error(second));
  if (n > 0)
    c->host->log(c->host->context, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

MYSQL *my_connect_again(my_connection *c) {
  my_target target;
  if (my_target_of(c->options, c->n_options, &target, NULL) != EDB_OK) return NULL;
  unsigned char hooked;
  MYSQL *mysql = prepare(c->options, c->n_options, &target, 2, 2, &hooked);
  if (!mysql) return NULL;
  if (connect_now(mysql, &target)) {
    return_from_reads(mysql, hooked);
    return mysql;
  }
  log_lone(c, mysql);
  my_disconnect(mysql);
  return NULL;
}

int my_close(void *connection) {
  my_connection *c = connection;
  if (c->rows.open || c->statements > 0 || c->transaction) {
    return edb_fail(&c->error, EDB_BUSY, "a reader, statement or transaction is open");
  }
  discard(c);
  return EDB_OK;
}

#define INFO_SERVER_STATUS 30
#define STATUS_IN_TRANSACTION 1u
#define STATUS_AUTOCOMMIT 2u

/* The server's status of the last answer; 0: not known. */
static int status_of(my_connection *c, unsigned *status) {
  return my.get_info && my.get_info(c->mysql, INFO_SERVER_STATUS, status) == 0;
}

int my_in_transaction(my_connection *c) {
  unsigned status = 0;
  if (!status_of(c, &status)) return -1;
  return (status & STATUS_IN_TRANSACTION) != 0;
}

/* A statement may have begun a transaction, or switched autocommit off, inside of a procedure: what follows on
** this connection would be lost at its end. */
static int is_left_open(my_connection *c) {
  unsigned status = 0;
  if (c->transaction || !status_of(c, &status)) return 0;
  return (status & (STATUS_IN_TRANSACTION | STATUS_AUTOCOMMIT)) != STATUS_AUTOCOMMIT;
}

/* An idle server says nothing: what is readable is its farewell. */
int my_alive(void *connection) {
  my_connection *c = connection;
  if (c->dead) return 0;
  if (c->rows.open && !c->rows.done) return 1;
  return !is_left_open(c) && !my_readable(c);
}
