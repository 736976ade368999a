/*
** ext/extInt.h: the internal header of ext/, a block per .c file, in reading order; those that write have theirs in
** writeInt.h, which it includes.
*/
#ifndef EDB_EXT_INT_H
#define EDB_EXT_INT_H

#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT3
#include "../drivers/driver.h"

typedef struct Edb Edb;
typedef struct Server Server;
typedef struct Link Link;
typedef struct Session Session;
typedef struct Stream Stream;
typedef struct Spill Spill;
typedef struct Batch Batch;
typedef struct Changes Changes;
typedef struct Definition Definition;
typedef struct Table Table;
typedef struct Plan Plan;
typedef struct Term Term;
typedef struct Sql Sql;
typedef struct Chunks Chunks;
typedef struct Recall Recall;
typedef struct Explaining Explaining;

/* ---- edb.c: what one database connection's edb functions and tables share ------------------ */

typedef struct LogLine {
  edb_time at;
  char *server;
  char *text;
} LogLine;

/* What the last INSERT gave its row (returned.c). */
typedef struct Returned {
  int known;           /* 0: there was no INSERT, or nobody knows its row's key */
  const Table *table;  /* of the INSERT, as long as `given` is not in the JSON */
  edb_row given;       /* the key that came with the row: its columns in their order */
  sqlite3_str *json;   /* an object without its end; NULL: nothing of it is written yet */
  sqlite3_int64 rowid; /* 0 where the row has none */
} Returned;

#define EDB_LOG_LINES 1000 /* older ones are dropped */
#define EDB_FINISHED 16

struct Edb {
  sqlite3 *db;
  int references; /* modules and functions that still hold it */
  edb_host host;
  const volatile int *interrupt; /* what sqlite3_interrupt sets; NULL: not known where */
  Server *servers;
  int configured;            /* 1: servers.ini has been read */
  int log_statements;        /* 1: each remote statement goes to the log */
  int batch;                 /* 1: INSERTs of one statement travel together */
  sqlite3_int64 join_memory; /* bytes that joins may take, all together */
  sqlite3_int64 join_used;   /* and what they take */
  sqlite3_int64 writes;      /* counts what may change a server, or which one a name means */
  int progress; /* 1: how far they are goes to the log every second; 2: to stderr, too */
  LogLine log[EDB_LOG_LINES];
  Returned returned;
  Explaining *explaining; /* while edb_explain prepares a statement */
  Server *entering;       /* while edb_transaction is written to */
  int preparing;          /* transactions of a running one are prepared, or about to be */
  char finished[EDB_FINISHED]
               [EDB_TWO_PHASE_NAME + 1]; /* whose rows in the journal are not needed any more */
  int finished_count;
  sqlite3_int64 logged; /* lines so far: line id is at (id - 1) % EDB_LOG_LINES */
};

void edb_log(Edb *edb, const char *server, const char *text, size_t n);

/* ---- interrupt.c: sqlite3_interrupt --------------------------------------------------------------- */

/* Finds out how SQLite tells; before the others. */
void interrupt_learn(Edb *edb);

/* Whether it was called. anywhere: that may be asked in any thread while a statement runs; else in the one that runs it. */
int interrupt_pending(Edb *edb);
int interrupt_anywhere(const Edb *edb);

/* ---- server.c: servers -------------------------------------------------------------------------- */

/* A name and a URL; a URL that stood where a name may is its own name. */
struct Server {
  Server *next;
  Edb *edb;
  char *name;          /* shown: never with a secret */
  char *url;           /* may hold a secret */
  edb_option *options; /* beside the URL; their strings are in the same allocation */
  size_t option_count;
  size_t option_bytes; /* of that allocation */
  int by_url;          /* 1: taken in from a URL, not defined by name */
  const edb_driver *driver;
  edb_host host; /* its log lines carry the server's name */
  Link *idle;    /* links that nobody uses */
  Session
      *session; /* NULL: no transaction of SQLite that runs has tables there that it writes to */
  Batch *batch; /* NULL: no rows were inserted yet */
  Changes *changes;      /* NULL: none was updated or deleted yet */
  int generation;        /* of url: links of an older one are closed, not used again */
  sqlite3_int64 written; /* edb->writes when it may have changed last */
  int removed;           /* no longer listed; freed with the last of its links */
  int links;             /* and what else holds it */
  int two_phase;         /* the option */
  int readonly;          /* likewise */
  int snapshot;          /* likewise */
  double latency;        /* seconds that the quickest statement took so far; 0: there was none */
  int settled;           /* 1: nothing of this local database hangs there, as far as is known */
  sqlite3_int64 late;    /* seconds since 1970 until when something may still come to hang there */
};

/* Defines (or, with url NULL, forgets) a server. SQLITE_OK, or an error and *message from
** sqlite3_mprintf. */
int server_define(Edb *edb, const char *name, const char *url, char **message);

/* Defines a server of the configuration file, unless the application has defined that name. */
int server_configure(Edb *edb, const char *name, const char *url, const edb_option *options,
                     size_t count, char **message);

/* The server of that name, or of that URL (taken in when first seen). NULL and *message where there
** is none. */
Server *server_find(Edb *edb, const char *name, char **message);

/* One less holds the server, which is freed with the last if it was removed. */
void server_unlink(Server *server);

/* How the server writes SQL: connects, if the driver cannot tell without. SQLITE_OK, or an error and
** *message. */
int server_dialect(Server *server, const edb_dialect **dialect, char **message);

/* Something may have changed there: what is remembered of its tables is not true any more. */
void server_touch(Server *server);

/* Closes all connections and frees the servers. */
void servers_free(Edb *edb);

/* The SQLite result code for an edb_code, and the message "edb: sqlserver shop: … (208, 42S02)": behind the text,
** what there is of the vendor's own number and the SQLSTATE. */
int error_code(edb_code code);
char *error_message(const Server *server, const edb_error *error);
int server_fail(const Server *server, const edb_error *error, char **message);

/* ---- link.c: connections to servers ---------------------------------------------------------------- */

#define LINK_STATEMENTS 16

/* A connection in the hands of one user at a time, with the statements that it keeps prepared. */
struct Link {
  Link *next;
  Server *server;
  int generation;
  int idled;   /* 1: it has waited, and no command since then was answered */
  int touched; /* 1: a statement may have changed the session */
  edb_connection connection;
  Session *session; /* NULL: it has no transaction */
  Stream *stream;   /* whose rows are being read; NULL: none */
  struct Kept {
    char *sql;
    sqlite3_uint64 used; /* when, by `clock` */
    edb_statement statement;
  } kept[LINK_STATEMENTS];
  sqlite3_uint64 clock;
};

/* A connection to the server, an idle one if there is one that still stands; the session's, where it has begun.
** SQLITE_OK, or an error and *message. link_release gives it back, its reader closed. */
int link_acquire(Server *server, Link **link, char **message);
void link_release(Link *link);

/* An idle link that still stands, or a new one, never the session's. take: what hangs at the server is seen to first. */
int link_have(Server *server, Link **link, char **message);
int link_take(Server *server, Link **link, char **message);

/* Begins a transaction over a link that is not the session's: *link, which link_release gives back when it is over. */
int link_begin(Server *server, const edb_transaction_spec *spec, Link **link,
               edb_transaction *transaction, char **message);

/* Closes those that wait. The server may be gone afterwards, if it was removed. */
void server_close_idle(Server *server);

/* Whether a statement that only reads may be sent again over a new connection, when one that had
** waited turns out to be dead. */
typedef enum Repeat { REPEAT_NEVER = 0, REPEAT_ONCE } Repeat;

typedef struct Command {
  const char *sql;
  const edb_parameter *parameters;
  size_t n;
  double expected;    /* rows, 0 if unknown */
  Repeat repeat;      /* outside of a session */
  int prepared;       /* 1: prepared first, unless the link has it prepared */
  int users;          /* 1: it is the user's own SQL */
  int writes;         /* 1: it may change something */
  int careful;        /* 1: it is undone alone if it fails, come what may */
  int on_conflict;    /* what else says so: as sqlite3_vtab_on_conflict has it; 0: as ABORT */
  const Table *table; /* whose statement it is; NULL: none's */
} Command;

double clock_seconds(void); /* since some time */
/* Runs it: its rows are the stream's, a zeroed one, or, with stream NULL, dropped and counted. *link may change
** (REPEAT_ONCE). SQLITE_OK, or an error and *message; affected may be NULL. */
int link_run(Link **link, const Command *command, Stream *stream, sqlite3_int64 *affected,
             char **message);

/* Sends a SAVEPOINT or its like, as it is. */
int link_control(Link *link, const char *sql, char **message);

/* Sets aside what is still to be read from it. */
void link_free_for_command(Link *link);

/* Whether the statement only reads, as far as its words tell: 0 in doubt. */
int is_reading(const char *sql);

/* Whether the statement begins or ends a transaction or a part of one, which is SQLite's to say. */
int is_transaction_control(const Server *server, const char *sql);
int transaction_refused(const Server *server, char **message);

/* The SQLite result code, never SQLITE_OK, and *message for a call on the link that answered rc. */
int link_fail(const Link *link, int rc, char **message);

/* ---- config.c: servers.ini ----------------------------------------------------------------------- */

/* Reads the configuration file if there is one and it was not read yet. SQLITE_OK, or an error and
** *message. */
int config_load(Edb *edb, char **message);

/* ---- spill.c: rows set aside --------------------------------------------------------------------- */

/* Of rows of `width` values. SQLite's result codes; next: SQLITE_ROW with a row that is valid until the next call,
** or SQLITE_DONE. Nothing is added once it has been read from. */
Spill *spill_new(size_t width);
int spill_add(Spill *spill, const edb_value *row);
int spill_next(Spill *spill, const edb_value **row);
void spill_free(Spill *spill);

/* ---- stream.c: the rows of a query ----------------------------------------------------------------- */

/* Zeroed, or ended by the end of the rows, an error or stream_end, it holds nothing. It stays where it is in memory
** while it holds something. */
struct Stream {
  Link *link; /* NULL: it reads from no link */
  edb_rows rows;
  const edb_value *row; /* the present one, valid until the next; NULL: there is none */
  edb_row owned;        /* where the driver has nothing to lend */
  int begun;
  const edb_column *columns; /* NULL: nobody has asked */
  size_t count;              /* of columns */
  /* Once it is parked: */
  int parked;
  edb_column *kept;
  edb_row held; /* the row that it stood on */
  Spill *spill;
  int rc; /* what comes behind the last row, if not SQLITE_OK */
  char *message;
};

/* By link_run: it reads from the link. */
void stream_start(Stream *stream, Link *link);
/* The columns, valid until it ends. SQLITE_OK, or an error and *message. */
int stream_columns(Stream *stream, char **message);
/* SQLITE_ROW with a row, SQLITE_DONE, or an error and *message. */
int stream_next(Stream *stream, char **message);
/* Sets the rest of the rows aside and gives the link back. */
void stream_park(Stream *stream);
void stream_end(Stream *stream);

/* ---- reader.c: the rows of a query that is not a table's --------------------------------------------- */

typedef struct Reader {
  Stream stream; /* row, columns, count */
} Reader;

/* repeat REPEAT_NEVER: it may change something. */
int reader_open(Reader *reader, Server *server, const char *sql, const edb_parameter *parameters,
                size_t n, Repeat repeat, char **message);
/* SQLITE_ROW, SQLITE_DONE, or an error and *message. */
int reader_next(Reader *reader, char **message);
void reader_end(Reader *reader);

/* ---- definition.c: what is known of a remote table ------------------------------------------ */

typedef enum Unrepresentable {
  UNREPRESENTABLE_TEXT = 0,
  UNREPRESENTABLE_NULL,
  UNREPRESENTABLE_ERROR
} Unrepresentable;

#define COLUMN_COMPUTED 2

typedef struct Column {
  char *name;      /* in SQLite: unique, never empty */
  char *remote;    /* as the server has it */
  char *type_name; /* the remote type, for people */
  const edb_type *type;
  int nullable;
  int key;         /* 1… within the key that names a row, else 0 */
  int has_default; /* COLUMN_COMPUTED: the server computes it, and takes no value */
  int unique;      /* 1: no two rows have the same, but NULL */
  int holds; /* characters of text, digits before a decimal's point; negative: nobody says how many */
} Column;

/* How a row is told from the others, which `WHERE a OR b` and RIGHT JOIN need (SQLite asks for each
** row's rowid or primary key twice and compares). */
typedef enum Identity {
  IDENTITY_NONE = 0, /* there is none: the rowid cannot be read */
  IDENTITY_ROWID,    /* one integer: it is the rowid */
  IDENTITY_KEY       /* anything else: the hidden column edb_key of a table WITHOUT ROWID */
} Identity;

struct Definition {
  const edb_driver *driver;
  const edb_dialect *dialect; /* the server's when the table was created */
  char *server;               /* name or URL, as CREATE VIRTUAL TABLE has it */
  char *schema;               /* NULL for a query */
  char *table;                /* likewise */
  char *query;                /* NULL for a table */
  char *identity_sql; /* remote SQL of the row's identity where no column is the key, else NULL */
  int identity_integer;
  double rows;           /* estimate; negative where there is none */
  double row_bytes;      /* of a row on average; negative where nobody knows */
  sqlite3_int64 counted; /* when the server was asked for both, in seconds since 1970 */
  int utf8;              /* 1: SQLite compares text by its bytes in UTF-8 */
  int aliased; /* 1: a query that gives two columns one name: they are read by their names here */
  Column *columns;
  int count; /* of columns */
  /* Options. */
  char *key; /* names of the columns that make a row's key, or NULL */
  int decimal_text;
  Unrepresentable unrepresentable;
  int pushdown;
  int readonly;
  int send_nulls;             /* NULL is inserted where the server has a default */
  double rows_option;         /* negative where not given */
  sqlite3_int64 join_memory;  /* bytes; negative where not given */
  sqlite3_int64 join_lookups; /* so many before a hash; negative: when it is worth it */
};

/* One with the default options. */
void definition_begin(Definition *definition);

/* Reads 'table', 'schema.table' or '"a.name"."with points"' into schema and table. */
int definition_parse_table(Definition *definition, const char *text, char **message);

/* Begins one and reads the arguments of CREATE VIRTUAL TABLE into it (those behind the module's,
** the database's and the table's names). */
int definition_parse(Definition *definition, int argc, const char *const *argv, char **message);

/* Adds a column, with a name of its own in SQLite; NULL when out of memory. */
Column *definition_add(Definition *definition, const char *remote, const edb_type *type,
                       const char *type_name);

/* The option key= names the columns that tell rows apart. */
int definition_apply_key(Definition *definition, char **message);

/* Sets what follows from the dialect and the columns, once they are all there. */
void definition_settle(Definition *definition);

Identity definition_identity(const Definition *definition);

/* How many rows the table has, by option or catalog; negative: nobody knows. */
double definition_rows(const Definition *definition);

/* How a column of that type is declared in SQLite. */
const char *definition_declared(const Definition *definition, const edb_type *type);

/* The statement for sqlite3_declare_vtab, from sqlite3_mprintf; NULL when out of memory. */
char *definition_declare(const Definition *definition);
void definition_clear(Definition *definition);

/* Puts a copy of value in place of *out; 0 when out of memory. */
int set_text(char **out, const char *value);

/* ---- discover.c, shadow.c: where a definition comes from ------------------------------------ */

/* Asks the server for the columns. */
int definition_discover(Edb *edb, Definition *definition, char **message);
/* Asks for the statistics again, if those that there are have come of age. A failure changes nothing. */
void definition_refresh(Server *server, Definition *definition);

/* What discovery found is kept in the shadow tables NAME_relation and NAME_columns. */
int definition_save(sqlite3 *db, const char *schema, const char *name, const Definition *definition,
                    char **message);
int definition_load(sqlite3 *db, const char *schema, const char *name, Definition *definition,
                    char **message);
int definition_is_shadow(const char *suffix);
int definition_drop(sqlite3 *db, const char *schema, const char *name);
int definition_rename(sqlite3 *db, const char *schema, const char *name, const char *new_name);

/* Runs local SQL that sqlite3_mprintf made, and frees it. message may be NULL. */
int sql_run(sqlite3 *db, char *sql, char **message);

/* ---- plan.c: xBestIndex --------------------------------------------------------------------- */

/* What becomes of a predicate. */
typedef enum ShipClass {
  SHIP_UNSAFE = 0, /* it is not sent: SQLite alone decides */
  SHIP_SUPERSET,   /* the server lets through each row that satisfies it, and others */
  SHIP_EXACT       /* and no others */
} ShipClass;

/* A condition that goes to the server. */
struct Term {
  int column;             /* of the definition; -1: the identity */
  unsigned char op;       /* SQLITE_INDEX_CONSTRAINT_… */
  unsigned char in;       /* EQ against each value of a list */
  unsigned char literal;  /* 1: what it is compared with stands in the statement */
  unsigned char by_rowid; /* SQLite looks at it as the rowid */
  int argument;           /* of xFilter, from 0; -1: it has none */
  unsigned char class;    /* ShipClass: what it can be at best */
  int form;               /* of ship_form, in the plan's `written` */
};

/* A column that the rows come sorted by. */
typedef struct Sorted {
  int column; /* as in Term */
  int desc;
} Sorted;

/* What a plan leaves out of what would answer the statement in any case; its `whole` does that, when the values, the
** statement's text or what SQLite then asks turn out not to allow it. */
typedef enum Shortcut {
  SHORTCUT_NONE = 0,
  SHORTCUT_COUNT,    /* no row travels, but their number: what is read of them is known */
  SHORTCUT_DISTINCT, /* rows that are equal in all that is read of them travel once */
  SHORTCUT_FIRST     /* the first row alone, since it may be for min() or max() */
} Shortcut;

struct Plan {
  int number; /* idxNum: its place in the table's list */
  char *sql;  /* idxStr: the remote SQL as it is with ordinary values */
  Shortcut shortcut;
  Plan *whole; /* of the same terms, without the shortcut; NULL: itself */
  int *fetch;  /* the columns that travel */
  int fetches;
  int identity; /* the result column of the definition's identity_sql, -1: it does not travel */
  int *slot;    /* by column of the table: which result column it is, -1: it does not travel */
  Term *terms;
  int count; /* of terms */
  Sorted *order;
  int orders;    /* of order */
  int limit;     /* argument of xFilter with LIMIT, -1: none */
  int offset;    /* likewise */
  int settled;   /* 1: no more rows than LIMIT has are ever asked for */
  double rows;   /* estimate */
  char *written; /* as it was sent, for terms of these forms; NULL: it may differ each time */
};

int plan_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);
/* What a constraint, of that column of the definition, can be at best, and why it is no better (ship_class). */
ShipClass plan_class(const Table *table, sqlite3_index_info *info, int constraint, int column,
                     const char **reason);
/* Whether there is a condition among its own that may be of the ON of an outer join. */
int plan_minds_outer(const Plan *plan);
/* How many values its rows have. */
size_t plan_width(const Plan *plan);
/* Whether another plan's rows, of which those are picked out that satisfy the terms, would do as well: in any order, and however
** many there are, since SQLite has a LIMIT of its own. */
int plan_is_plain(const Plan *plan);
/* A plain plan without the terms that are marked: of the rows there are more. */
int plan_without(Table *table, const Plan *plan, const unsigned char *marked, Plan **out);
/* The term that says which value the column has in all rows, if each term turns out to be exact; -1: none. */
int plan_known(const Definition *definition, const Plan *plan, int column);
void plans_free(Table *table);
/* The definition's column for one of the virtual table's: the rowid is the key's, -1 the identity. */
#define PLAN_NO_COLUMN (-2)
int plan_column(const Table *table, int column);

/* ---- explain.c: what a statement would ask ----------------------------------------------------- */

extern const sqlite3_module explain_module; /* edb_explain(statement, option) */

/* Notes down what xBestIndex answered, and gives it an idxStr to be known by. */
int explain_note(Table *table, sqlite3_index_info *info, const Plan *plan);

/* Whether colUsed names the column. */
int is_used(sqlite3_uint64 used, int column);

/* ---- order.c: ORDER BY and DISTINCT ----------------------------------------------------------- */

/* Whether the server can sort the rows as SQLite wants them: the plan's order. */
int plan_order(const Table *table, const sqlite3_index_info *info, Plan *plan);
/* Whether the server can leave out what DISTINCT would: the columns and the order of `plan`, a shortcut to `whole`. */
int plan_distinct(const Table *table, sqlite3_index_info *info, const Plan *whole, Plan *plan);

/* ---- estimate.c: costs ------------------------------------------------------------------------ */

double table_rows(const Definition *definition);
/* Whether the conditions name one row by its key. */
int plan_is_lookup(const Table *table, const Plan *plan);
/* How many of the rows satisfy the term, from 0 to 1. */
double term_selectivity(const Term *term);
double plan_bytes(const Definition *definition, const Plan *plan); /* of a row, on average */
/* Sets plan->rows, and what SQLite is told of costs. */
void plan_estimate(const Table *table, Plan *plan, sqlite3_index_info *info);

/* ---- words.c: what stands in the statements that run ---------------------------------------------- */

#include "wordsInt.h"

/* ---- given.c: rows that a statement has given already --------------------------------------------- */

#define FIRST_ROWS 262144 /* at most so many are remembered */

typedef struct Digest {
  uint64_t a, b;
} Digest;

/* Zeroed, it is empty. */
typedef struct Given {
  Digest *digests;
  int count, size;
  int *places; /* by hash */
  unsigned mask;
  int missing; /* how many have not been met again */
} Given;

/* A row of n values was given. SQLITE_OK or SQLITE_NOMEM. */
int given_add(Given *given, const edb_value *row, int n);
/* No more will be added. SQLITE_OK or SQLITE_NOMEM. */
int given_index(Given *given);
/* Whether the row is one of them that has not been met again; now it has. */
int given_again(Given *given, const edb_value *row, int n);
void given_clear(Given *given);

/* ---- ship.c: conditions against remote columns ---------------------------------------------- */

/* A statement under construction, with its parameters. Sticky: looked at once, by sql_finish. */
struct Sql {
  const edb_dialect *dialect;
  sqlite3_str *text;
  const char *written; /* by deparse_plan: the whole of it */
  edb_parameter *parameters;
  int count, size;
  void **owned; /* memory that parameters point into */
  int owned_count, owned_size;
  const edb_host *host; /* the memory of lists */
  int may_chunk;        /* 1: the statement may be run several times, for parts of a list */
  Chunks *chunks;       /* the parts; the parameters are the first's. NULL: there are none */
  int later;            /* terms behind the one that is written */
  int collated; /* 1: a list of text may be compared by another collation, and is not sent */
  int outer;    /* 1: IS [NOT] NULL may be of the ON of an outer join, and is not sent */
  int supersets; /* terms that are less than exact with their values; 0: the rows that come are those that satisfy
                 ** all of the plan's terms, and no others */
  int unbound;         /* 1: it gets no LIMIT */
  sqlite3_int64 bound; /* its LIMIT, 0: it has none */
  int passes_null;     /* 1: rows whose sorted column is NULL are left out of the first ones */
  int rc;
};

typedef enum Shipped {
  SHIP_SENT = 0, /* the condition was written */
  SHIP_PRESENT,  /* every value that is not NULL satisfies it */
  SHIP_SKIP,     /* it cannot be sent: SQLite alone decides */
  SHIP_NEVER,    /* no row can satisfy it */
  SHIP_FAIL      /* out of memory, or an error of SQLite */
} Shipped;

/* What a condition with this operator can be at best, for an ordinary value; type NULL: for an integer identity.
** collation: what SQLite compares by. *reason: why it is no better, static text; NULL where it is exact. reason may be
** NULL. */
ShipClass ship_class(const Definition *definition, const edb_type *type, int op,
                     const char *collation, const char **reason);

/* Writes the condition: all rows that satisfy it in SQLite satisfy it there. Counts it in sql->supersets unless no
** others do. value NULL: as with an ordinary value, for EXPLAIN. Never SHIP_PRESENT. */
Shipped ship_term(Sql *sql, const Definition *definition, const Term *term, sqlite3_value *value);

/* What a condition's SQL depends on: the operator that is written (then *parameter is its only parameter), 0 where
** nothing is, SHIP_OWN where it depends on more. *exact: whether it is, with this value. */
#define SHIP_OWN (-1)
int ship_form(const Definition *definition, const Term *term, sqlite3_value *value,
              edb_value *parameter, int *exact);

/* Whether SQLite may offer it to a table where it stands in the ON of an outer join (words.c). */
int ship_minds_outer(int op);

/* 0 where the operator is a function that the application has put its own in place of. */
int ship_is_own(sqlite3 *db, int op);

/* Operators of conditions, beside SQLite's: the functions of match.c. */
enum { SHIP_STARTS = SQLITE_INDEX_CONSTRAINT_FUNCTION, SHIP_ENDS, SHIP_CONTAINS, SHIP_LIKE };

#include "shipInt.h"

/* ---- value.c: values from and to SQLite ------------------------------------------------------ */

/* A remote value as the result of a column of that type; definition NULL: with the default options.
** SQLITE_OK, or SQLITE_MISMATCH where on_unrepresentable=error and SQLite's types cannot express
** the value. */
int value_result(sqlite3_context *context, const edb_value *value, const edb_type *type,
                 const Definition *definition);
/* The value as SQLite will see it: EDB_NULL, EDB_I64, EDB_F64, EDB_TEXT or EDB_BYTES, perhaps in `text`. Answers as
** value_result. */
int value_native(const edb_value *value, const edb_type *type, const Definition *definition,
                 char text[EDB_TIME_TEXT], edb_value *out);
/* How SQLite orders two of these, by BINARY and without affinity: negative, 0 or positive. */
int value_compare(const edb_value *a, const edb_value *b);
/* Whether both are numbers, both text, both blobs or both NULL. */
int value_same_class(const edb_value *a, const edb_value *b);
/* The number that value_literal wrote as that text, in any locale. */
double value_double(const char *text);
/* A value of SQLite as a parameter, valid as long as it. */
edb_value value_parameter(sqlite3_value *value);
/* Appends the value as an SQL literal of SQLite, or as JSON. */
void value_literal(sqlite3_str *out, const edb_value *value);
void value_json(sqlite3_str *out, const edb_value *value, const edb_type *type);

/* ---- table.c, ask.c, scan.c: the module edb ---------------------------------------------------------- */

struct Table {
  sqlite3_vtab base;
  Edb *edb;
  char *schema; /* of the database that holds it: main, temp, … */
  char *name;
  Definition definition;
  Identity identity;
  char *broken;        /* why it cannot be read: it can still be dropped */
  Session *session;    /* of the transaction that writes to it, else NULL */
  Recall *recall;      /* the latest of those that its cursors hold; NULL: there is none */
  int no_output;       /* 1: the server has refused the dialect's `output` for it */
  sqlite3_int64 given; /* rows that were read of it since a statement began in BEGIN … COMMIT */
  Plan **plans;        /* every plan that a statement may hold, by its number */
  int plan_count;
};

extern const sqlite3_module table_module;

/* Its server, or an error and *message: what is wrong with either. */
int table_server(const Table *table, Server **server, char **message);
/* Tells one state of what its server holds from another, as far as this connection's doing goes. */
sqlite3_int64 table_written(const Table *table);
double table_latency(const Table *table); /* its server's */
/* Bytes that its joins may take; 0: nothing is to be remembered. */
sqlite3_int64 table_join_memory(const Table *table);

/* Writes the plan's statement, or its whole's, where the values do not allow the shortcut: *plan is the one that it is. may_chunk:
** it may be the first of several. */
Shipped ask_write(Table *table, Sql *sql, Plan **plan, sqlite3_value **values, int may_chunk);
/* Sends it: its rows are the stream's. SQLITE_OK, or an error and *message. */
int ask_send(const Table *table, const Plan *plan, const Sql *sql, Stream *stream, char **message);

int scan_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor);
int scan_close(sqlite3_vtab_cursor *cursor);
int scan_filter(sqlite3_vtab_cursor *cursor, int number, const char *string, int argc,
                sqlite3_value **argv);
int scan_next(sqlite3_vtab_cursor *cursor);
int scan_eof(sqlite3_vtab_cursor *cursor);
int scan_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column);
int scan_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid);

/* ---- pack.c, cache.c, hash.c, recall.c ------------------------------------------------------------------ */

#include "joinInt.h"

/* ---- assign.c, key.c, returned.c, write.c, batch.c, transaction.c, member.c, journal.c, two_phase.c -------- */

#include "writeInt.h"

/* ---- listing.c, query.c, catalog.c, list.c, sources.c: edb's own tables -------------------------------- */

#include "listingInt.h"

/* ---- function.c, import.c, version.c: SQL functions; the Edb is their user data ------------------ */

void function_server(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_import(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_exec(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_config(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_last_returning(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_resolve(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_version(sqlite3_context *context, int argc, sqlite3_value **argv);

/* ---- match.c: functions of text that can be sent ---------------------------------------------- */

void function_starts(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_ends(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_contains(sqlite3_context *context, int argc, sqlite3_value **argv);
void function_like(sqlite3_context *context, int argc, sqlite3_value **argv);

/* xFindFunction: theirs, and the operators that they are conditions by. */
int match_find(sqlite3_vtab *vtab, int argc, const char *name,
               void (**function)(sqlite3_context *, int, sqlite3_value **), void **data);

/* Fails with the message, if there is one, and frees it. */
void result_failed(sqlite3_context *context, int rc, char *message);

/* Sets a virtual table's message and answers rc. */
int vtab_fail(sqlite3_vtab *vtab, int rc, char *message);

#endif
