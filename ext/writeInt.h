/*
** ext/writeInt.h: the blocks of extInt.h about writing and transactions.
*/
#ifndef EDB_WRITE_INT_H
#define EDB_WRITE_INT_H

/* One column of an INSERT or an UPDATE. */
typedef struct Assigned {
  int sent; /* 0: it is left to the server, or as it is */
  edb_value value;
} Assigned;

/* ---- assign.c: values for remote columns ---------------------------------------------------------- */

/* The value as the column takes it. Its bytes are the value's, or in memory that `sql` owns. SQLITE_OK; SQLITE_NOMEM;
** or SQLITE_MISMATCH and *why: what the column is and the value is not. */
int assign_value(Sql *sql, const Definition *definition, const Column *column, sqlite3_value *value,
                 edb_value *out, const char **why);
/* Whether it is JSON that the type's from_json makes a value of. */
int assign_is_json(const edb_type *type, const edb_value *value);

/* ---- key.c: which row ---------------------------------------------------------------------------------- */

/* Appends what names the row of that rowid or edb_key, as it stands behind WHERE. SQLITE_OK; SQLITE_NOMEM;
** SQLITE_MISMATCH where it is no key of this table. */
int key_where(Sql *sql, const Table *table, sqlite3_value *key);

/* ---- returned.c: what the last INSERT gave its row --------------------------------------------------- */

void returned_begin(Returned *returned, const Table *table);
/* The key that came with the row: columns as those of the table. SQLITE_OK or SQLITE_NOMEM. */
int returned_keep(Returned *returned, const Assigned *columns);
/* The key, or the identity, from the stream's row. */
void returned_take(Returned *returned, const Stream *stream);
/* The table is about to go. */
void returned_leave(Returned *returned, const Table *table);
void returned_clear(Returned *returned);

/* ---- write.c: xUpdate -------------------------------------------------------------------------------- */

/* Why a statement fails that has changed another number of rows than the one of that key. */
char *write_unchanged(const Table *table, const char *verb, const char *key,
                      sqlite3_int64 affected);

int write_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid);

/* ---- batch.c: consecutive INSERTs of one statement travel together ------------------------------------ */

/* One run of a statement of SQLite, told from others at the same address by what was changed before it. */
typedef struct Running {
  sqlite3_stmt *statement; /* NULL: none */
  int run, changes;
} Running;

Running running_writer(sqlite3 *db);
int running_same(Running a, Running b);

/* A row of an INSERT whose columns have been checked: *taken, where it travels with others. generated: the server makes
** a part of its key. SQLITE_OK, or an error, perhaps of an earlier row, and *message. */
int batch_insert(const Table *table, const Assigned *columns, int on_conflict, int generated,
                 int *taken, char **message);
/* Sends what waits, before anything else is done over the link; or has it forgotten. */
int batch_end(Server *server, char **message);
void batch_abort(Server *server);
/* A row of the statement failed: what follows is none of it. */
void batch_forget(Server *server);
void batch_free(Server *server);
/* Of batch_end, what ends a load. */
int batch_end_load(Server *server, char **message);

/* ---- changes.c: consecutive UPDATEs or DELETEs of one statement travel together ------------------------- */

/* An UPDATE or DELETE of the row of that key, the next of its statement: *taken, where it is run together with others; else it
** is for the caller to run. waits: whether such a row may. verb: "updated". SQLITE_OK, or an error, perhaps of an
** earlier row, and *message. The rest: by batch_end and the like. */
int changes_add(const Table *table, const Command *command, const char *verb, const char *key,
                int waits, int *taken, char **message);
int changes_end(Server *server, char **message);
void changes_abort(Server *server);
void changes_forget(Server *server);
void changes_free(Server *server);

/* ---- link.c: over the link of a session ---------------------------------------------------------------- */

/* Of a session: runs it for each of `runs` sets of its parameters, as edb_statement_each. */
int link_run_each(Link *link, const Command *command, size_t runs, int64_t *affected, size_t *done,
                  char **message);

/* Begins a load over a link of a session; the command is what it stands for. SQLITE_OK, or an error and *message. */
int link_load(Link *link, const Command *command, const edb_load_spec *spec, edb_load *load,
              char **message);

/* ---- transaction.c: what a transaction of SQLite means for each server ------------------------------ */

int session_join(Server *server, Session **session);

/* The link over which everything goes, once the transaction has begun there; NULL before. */
Link *session_link(const Server *server);

/* Before a read: with snapshot=1 it is what the transaction begins with there. SQLITE_OK, or an error and *message. */
int session_read(Server *server, char **message);

/* Gets the session ready for a command over its link, which is free for it. SQLITE_OK, or an error and *message. */
int session_before(Session *session, const Command *command, char **message);

/* link_run over the session's link, which is had first. */
int session_run(Session *session, const Command *command, Stream *stream, sqlite3_int64 *affected,
                char **message);

/* Runs the command's statement for each of `runs` sets of its parameters: as edb_statement_each. */
int session_run_each(Session *session, const Command *command, size_t runs, int64_t *affected,
                     size_t *done, char **message);

/* The transaction takes nothing more until what failed is undone. */
void session_doom(Session *session, const char *why);

/* After a command that failed so. */
void session_after(Session *session, int code, const char *why);

/* Undoes the last command. Where that cannot be, or fails, the transaction takes nothing more, with that reason. */
int session_undo(Session *session, const char *why);
int session_failed(const Session *session);
Server *session_server(const Session *session);
/* Whether xRelease or xRollbackTo will tell of the end of the statement that runs. */
int session_brackets(const Session *session, Running running);

/* What SQLite tells of its transaction; each is told by every member, and done once. */
int session_sync(Session *session, char **message);
void session_leave(Session *session); /* it was committed */
void session_rollback(Session *session);
/* All but the first say nothing new. One that joins late tells of the highest level alone, and nothing was written
** since those below it began. */
int session_savepoint(Session *session, int number, char **message);
int session_release(Session *session, int number, char **message);
int session_rollback_to(Session *session, int number, char **message);

/* ---- member.c: who hears of SQLite's transaction ---------------------------------------------------- */

/* The session that what is to be done on the server now is a part of, NULL where there is none: in BEGIN … COMMIT there
** always is. SQLITE_OK, or an error and *message. */
int session_enter(Server *server, Session **session, char **message);

/* What came of a call whose message SQLite reads nowhere (xSavepoint, xRelease, xRollbackTo, xCommit; it does in xBegin,
** xUpdate and xSync): for edb_log, and for the application's own error log (SQLITE_CONFIG_LOG). Frees the message; rc. */
int server_unheard(const Server *server, int rc, char *message);

extern const sqlite3_module member_module; /* edb_transaction */

/* Of the module edb. */
int transaction_begin(sqlite3_vtab *vtab);
int transaction_sync(sqlite3_vtab *vtab);
int transaction_commit(sqlite3_vtab *vtab);
int transaction_rollback(sqlite3_vtab *vtab);
int transaction_savepoint(sqlite3_vtab *vtab, int number);
int transaction_release(sqlite3_vtab *vtab, int number);
int transaction_rollback_to(sqlite3_vtab *vtab, int number);

/* ---- journal.c: decisions about prepared transactions, in the local database ------------------------- */

/* The value of a decision in SQL is its word; unknown: NULL. */
typedef enum Decision { DECISION_UNKNOWN = 0, DECISION_COMMIT, DECISION_ROLLBACK } Decision;

/* Whether the local database can keep decisions. SQLITE_OK, or an error and *message. */
int journal_possible(const Edb *edb, char **message);

/* A new name for a transaction, and whether something is one: of any local database, or of this one. */
void journal_name(const Edb *edb, char name[EDB_TWO_PHASE_NAME + 1]);
int journal_is_name(const char *p, size_t n);
int journal_is_own(const Edb *edb, const char *name);
/* When its transaction began: seconds since 1970, and as text. */
sqlite3_int64 journal_began(const char *name);
void journal_since(const char *name, char out[EDB_TIME_TEXT]);

/* Writes, in the running transaction, that the name is to be committed. Nothing is prepared before that. */
int journal_write(Edb *edb, const Server *server, const char *name, char **message);
/* The name is not prepared any more: its row is removed by the next journal_write. */
void journal_finished(Edb *edb, const char *name);

typedef struct Journal {
  Edb *edb;
  sqlite3 *db; /* NULL: there is none */
  int certain; /* 1: the file's write lock is held, and what has no row is to be rolled back */
  int exists;  /* the table */
} Journal;

/* 1: certain. wait_ms: how long the lock is waited for. journal_close ends it either way. */
int journal_open(Journal *journal, Edb *edb, int wait_ms);
void journal_close(Journal *journal);
Decision journal_decision(const Journal *journal, const char *name);
/* All rows: name, server, url. NULL: there are none. */
sqlite3_stmt *journal_rows(const Journal *journal);

/* ---- two_phase.c: what was prepared and is not resolved ------------------------------------------------- */

extern const sqlite3_module in_doubt_module; /* edb_in_doubt */

/* Ends a prepared transaction. SQLITE_OK, or an error and *message. */
int two_phase_resolve(Link *link, const char *name, int commit, char **message);
/* At the first use of a server with two_phase: ends what of this local database hangs there. What cannot be ended is
** logged. */
void two_phase_settle(Link *link);
/* Something may hang there now. late: the connection was lost over a PREPARE. */
void two_phase_unsettle(Server *server, int late);

#endif
