/*
** drivers/driverInt.h: what the drivers share among themselves. Nothing outside drivers/ includes
** it.
*/
#ifndef EDB_DRIVER_INT_H
#define EDB_DRIVER_INT_H

#include "driver.h"

#if defined(__GNUC__)
#define EDB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define EDB_PRINTF(text, first)
#endif

/* ---- Errors (error.c) ---------------------------------------------------------------------- */

/* Fills the error: code and message (newlines become spaces, cut at a character's end); vendor,
** SQLSTATE and hint are cleared. Answers code. error may be NULL. */
int edb_fail(edb_error *error, edb_code code, const char *format, ...) EDB_PRINTF(3, 4);

/* Adds a hint to an error that edb_fail has filled. Same rules. */
void edb_fail_hint(edb_error *error, const char *format, ...) EDB_PRINTF(2, 3);

/* EDB_UNSUPPORTED of a transaction that asks for more than to begin. */
int edb_spec_plain(const edb_transaction_spec *spec, edb_error *error);

/* Whether that is a name for two-phase commit: EDB_OK, or EDB_INVALID_QUERY. */
int edb_two_phase_check(const char *name, edb_error *error);

/* The code of an end that has failed: EDB_BUSY would say that the transaction goes on. */
int edb_fail_ended(edb_error *error, int code);

/* After a commit that was sent and not answered: its outcome is unknown. */
void edb_fail_unknown(edb_error *error);

/* Copies text to a sized buffer as above: one line, never half a character. */
void edb_copy_line(char *out, size_t size, const char *text, size_t n);

/* ---- Memory -------------------------------------------------------------------------------- */

static inline void *edb_alloc(const edb_host *host, size_t n) {
  return host->resize(host->context, NULL, n ? n : 1);
}

static inline void edb_free(const edb_host *host, void *p) {
  if (p) host->resize(host->context, p, 0);
}

/* Overwrites a secret, also where the compiler sees that nothing reads it again. */
void edb_wipe(void *p, size_t n);

/* A buffer that grows, with a sticky failure: once out of memory it takes nothing more, and `nomem`
** is looked at once at the end. The bytes are followed by a NUL that n does not count. */
typedef struct edb_buffer {
  const edb_host *host;
  char *p;
  size_t n, size;
  int nomem;
} edb_buffer;

void edb_buffer_add(edb_buffer *buffer, const void *p, size_t n);
void edb_buffer_text(edb_buffer *buffer, const char *text);
/* Room for n more bytes at buffer->p + buffer->n, which is not moved; NULL when out of memory. */
char *edb_buffer_room(edb_buffer *buffer, size_t n);
void edb_buffer_free(edb_buffer *buffer);

/* ---- Loads by INSERTs of many rows (load.c) -------------------------------------------------- */

/* What a driver's `load` says of itself; its load_row, load_end and load_abort are then those below. */
typedef struct edb_inserts_spec {
  const edb_methods *methods; /* prepare, execute, statement_execute and statement_close */
  const edb_dialect *dialect;
  void *connection;
  const edb_host *host;
  edb_error *error; /* where the connection's detail is */
  int rows;         /* in one statement at most: what is fastest; 1 for who has no round trips */
  int savepoint;    /* 1: in a transaction that a failed statement would doom */
  /* Another way to send many rows, tried first: one run of the prepared INSERT of one row for all of them. NULL: there is
  ** none. EDB_UNSUPPORTED: not with these rows; some may have been sent all the same. */
  int (*run_many)(void *statement, const edb_parameter *values, size_t rows);
  int many; /* rows that it gets at most */
  /* statement_execute in two halves, between which the next rows are collected. NULL: it has none. After a send that answers
  ** EDB_OK nothing is asked of the connection before receive. Not used with savepoints. */
  int (*send)(void *statement, const edb_parameter *values, size_t n);
  int (*receive)(void *statement, int64_t *affected);
  int undo_many; /* 1: in a transaction, and the dialect has savepoints: what it has sent can be taken back */
} edb_inserts_spec;

/* The spec is copied; load, as in driver.h, lives on. */
int edb_inserts_begin(const edb_inserts_spec *spec, const edb_load_spec *load, void **context);
int edb_inserts_row(void *context, const edb_value *values);
int edb_inserts_end(void *context);
int edb_inserts_abort(void *context);

/* An error unless the server counts as many rows as were sent. counted < 0: it does not tell. */
int edb_load_counted(edb_error *error, int64_t sent, int64_t counted);

/* Whether the rows are at fault, perhaps: then it is found out which one is. */
int edb_load_is_of_rows(int rc);

/* Each appends its part of `INSERT INTO "s"."t" ("a", "b") VALUES ($1, $2), ($3, $4)`. */
void edb_load_table(edb_buffer *sql, const edb_dialect *dialect, const edb_load_spec *load);
void edb_load_columns(edb_buffer *sql, const edb_dialect *dialect, const edb_load_spec *load);
void edb_load_values(edb_buffer *sql, const edb_dialect *dialect, size_t columns, size_t rows);

/* ---- Calls that block (thread.c) --------------------------------------------------------------- */

/* A connection's thread, by which something can be done beside a call that blocks. */
typedef struct edb_thread edb_thread;
typedef int edb_blocking(const void *job);
typedef struct edb_thread_spec {
  const edb_host *host;
  /* Some times a second while a call lasts that has lasted for ms; never beside itself. */
  void (*tick)(void *context, int64_t ms);
  void *context;
  void (*begin)(void), (*end)(void); /* called by the thread, first and last; NULL: nothing */
} edb_thread_spec;

/* NULL where none can be had: calls are then made without ticks. */
edb_thread *edb_thread_new(const edb_thread_spec *spec);

/* Whether `interrupted` may be asked by another thread than the one that uses the connection. */
static inline int edb_host_anywhere(const edb_host *host) {
  return !host->interrupted || host->anywhere;
}

/* Makes the call and answers its result. here: by the caller's thread, and tick by the other one; else the other way
** round, which takes longer. */
int edb_thread_call(edb_thread *t, int here, edb_blocking *call, const void *job);

void edb_thread_free(edb_thread *t);

/* Makes the call by a thread of its own, and asks leave some times a second whether to wait no longer. Answers 1 and
** the result; or 0: the call is left, the job belongs to its thread, which drops it when the call has come back. */
typedef int edb_leave(void *context, int64_t ms);
typedef void edb_drop(void *job, int result);
int edb_call_or_leave(edb_blocking *call, void *job, edb_drop *drop, edb_leave *leave,
                      void *context, int *result);

/* ---- Numbers ------------------------------------------------------------------------------- */

/* strtod, or strtof's value, of servers' text: the host's locale may write a decimal comma, no server
** does. */
double edb_parse_double(const char *text, char **end, int single);

/* ---- Options ------------------------------------------------------------------------------- */

/* The option's value, or NULL. */
const char *edb_option_get(const edb_option *options, size_t n, const char *name);

/* The options of a URL and those beside it (url.c): checked, decoded, the password resolved. One
** block, beside what options and the environment hold. */
typedef struct edb_option_set {
  edb_option *options;
  size_t n;
  size_t size; /* bytes of the block */
} edb_option_set;

/* EDB_OK, or an error and nothing to free. */
int edb_options_collect(const char *url, const edb_option *options, size_t n, const edb_host *host,
                        const edb_driver **driver, edb_option_set *set, edb_error *error);

#define EDB_PASSWORD_LINE 1024 /* the longest first line of a password_file, its newline included */

/* Reads that line into EDB_PASSWORD_LINE + 1 bytes (password.c). EDB_OK, or EDB_FAILED: it cannot be read, others can read
** it, it is too long. */
int edb_password_file(const char *path, char *line, edb_error *error);

/* Overwrites the block and frees it. */
void edb_options_wipe(const edb_host *host, edb_option_set *set);

/* ---- Connection strings (words.c) ------------------------------------------------------------ */

/* One `keyword=value`, as it is written: blanks around both are left out, braces are not. */
typedef struct edb_word {
  const char *name, *value;
  size_t name_n, value_n;
} edb_word;

/* The next word at *from, which moves behind it: 1, 0 at the end, -1 where there is none such. */
int edb_word_next(const char **from, edb_word *word);
int edb_word_is(const edb_word *word, const char *name); /* without regard to case */
/* Whether the keyword is one of those that hold secrets. */
int edb_word_is_secret(const edb_word *word);
/* The value without its braces, no longer than as it is written; answers its size. out may be NULL. */
size_t edb_word_decode(const edb_word *word, char *out);
/* Appends `name=value;`, in braces where the value needs them. */
void edb_word_add(edb_buffer *out, const char *name, const char *value);

/* ---- Client libraries, opened at run time (library.c) -------------------------------------- */

/* One function to look up: its name and where its pointer goes in the caller's table. */
typedef struct edb_symbol {
  const char *name;
  size_t offset; /* offsetof(table, member) */
  int optional;  /* 1: a missing one leaves NULL */
} edb_symbol;

/* A library that a driver loads once a process. Static storage; table is filled when handle is set.
** */
typedef struct edb_library {
  const char *what;          /* "PostgreSQL's client library" */
  const char *install;       /* "install the package libpq5 (Debian, Ubuntu), …" */
  const char *const *names;  /* file names to try in turn, NULL-terminated */
  const edb_symbol *symbols; /* NULL name ends them */
  void *table;               /* function pointers */
  void *handle;              /* set by edb_library_load */
} edb_library;

/* Loads it if it is not loaded yet. Safe from several threads. EDB_OK, or EDB_UNSUPPORTED with what
** to install. It is never unloaded. */
int edb_library_load(edb_library *library, edb_error *error);

#endif
