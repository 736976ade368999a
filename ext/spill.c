/*
** ext/spill.c: rows set aside, in the order in which they came.
**
** Rows are written one behind another into a block of memory. A block that is full goes to a temporary database of
** its own, which SQLite keeps in a file once it is larger than its cache: however many rows there are, the memory is
** a block and that cache. They are read once, lent from where they lie.
*/
#include "extInt.h"

#include <string.h>

#define BLOCK_BYTES (256 * 1024) /* a longer row has a block to itself */

struct Spill {
  size_t width; /* values in a row */
  char *block;  /* rows that are in no database */
  size_t used, size;
  sqlite3 *db; /* NULL as long as one block holds them all */
  sqlite3_stmt *put, *get;
  const char *from; /* what is read: the block, or one of the database's */
  size_t at, end;
  int reading;
  edb_value *values;
};

Spill *spill_new(size_t width) {
  Spill *spill = sqlite3_malloc64(sizeof *spill);
  if (spill == NULL) return NULL;
  memset(spill, 0, sizeof *spill);
  spill->width = width;
  spill->values = sqlite3_malloc64((width + 1) * sizeof *spill->values);
  if (spill->values) return spill;
  sqlite3_free(spill);
  return NULL;
}

void spill_free(Spill *spill) {
  if (spill == NULL) return;
  sqlite3_finalize(spill->put);
  sqlite3_finalize(spill->get);
  sqlite3_close(spill->db);
  sqlite3_free(spill->block);
  sqlite3_free(spill->values);
  sqlite3_free(spill);
}

/* ---- Writing ---------------------------------------------------------------------------------------- */

static int spill_open(Spill *spill) {
  int rc = sqlite3_open_v2("", &spill->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  if (rc == SQLITE_OK) {
    rc = sqlite3_exec(spill->db,
                      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                      "CREATE TABLE block(id INTEGER PRIMARY KEY, rows BLOB)",
                      NULL, NULL, NULL);
  }
  if (rc == SQLITE_OK) {
    rc = sqlite3_prepare_v2(spill->db, "INSERT INTO block(rows) VALUES (?)", -1, &spill->put, NULL);
  }
  return rc;
}

/* Moves the block to the database. */
static int spill_flush(Spill *spill) {
  int rc = spill->db ? SQLITE_OK : spill_open(spill);
  if (rc == SQLITE_OK) {
    rc = sqlite3_bind_blob64(spill->put, 1, spill->block, spill->used, SQLITE_STATIC);
  }
  if (rc == SQLITE_OK) {
    sqlite3_step(spill->put);
    rc = sqlite3_reset(spill->put);
  }
  spill->used = 0;
  return rc;
}

static size_t value_bytes(const edb_value *value) {
  int sized = value->kind == EDB_TEXT || value->kind == EDB_BYTES;
  return sizeof *value + (sized ? value->as.text.n : 0);
}

int spill_add(Spill *spill, const edb_value *row) {
  size_t bytes = 1; /* before each row, since one may have no values */
  for (size_t i = 0; i < spill->width; i++) bytes += value_bytes(&row[i]);
  if (spill->used > 0 && spill->used + bytes > BLOCK_BYTES) {
    int rc = spill_flush(spill);
    if (rc != SQLITE_OK) return rc;
  }
  if (spill->used + bytes > spill->size) {
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    char *grown = sqlite3_realloc64(spill->block, size);
    if (grown == NULL) return SQLITE_NOMEM;
    spill->block = grown;
    spill->size = size;
  }
  spill->block[spill->used++] = 0;
  for (size_t i = 0; i < spill->width; i++) {
    char *to = spill->block + spill->used;
    memcpy(to, &row[i], sizeof row[i]);
    size_t more = value_bytes(&row[i]) - sizeof row[i];
    if (more > 0) memcpy(to + sizeof row[i], row[i].as.text.p, more);
    spill->used += sizeof row[i] + more;
  }
  return SQLITE_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

static int spill_rewind(Spill *spill) {
  spill->reading = 1;
  if (spill->db == NULL) {
    spill->from = spill->block;
    spill->end = spill->used;
    return SQLITE_OK;
  }
  int rc = spill->used > 0 ? spill_flush(spill) : SQLITE_OK;
  sqlite3_free(spill->block);
  spill->block = NULL;
  if (rc != SQLITE_OK) return rc;
  return sqlite3_prepare_v2(spill->db, "SELECT rows FROM block ORDER BY id", -1, &spill->get, NULL);
}

/* SQLITE_ROW with the next block in place. */
static int spill_block(Spill *spill) {
  if (spill->get == NULL) return SQLITE_DONE;
  int rc = sqlite3_step(spill->get);
  if (rc != SQLITE_ROW) return rc;
  spill->from = sqlite3_column_blob(spill->get, 0);
  spill->end = (size_t)sqlite3_column_bytes(spill->get, 0);
  spill->at = 0;
  return spill->from ? SQLITE_ROW : SQLITE_NOMEM;
}

int spill_next(Spill *spill, const edb_value **row) {
  int rc = spill->reading ? SQLITE_OK : spill_rewind(spill);
  if (rc != SQLITE_OK) return rc;
  if (spill->at >= spill->end) {
    rc = spill_block(spill);
    if (rc != SQLITE_ROW) return rc;
  }
  spill->at++;
  for (size_t i = 0; i < spill->width; i++) {
    edb_value *value = &spill->values[i];
    memcpy(value, spill->from + spill->at, sizeof *value);
    spill->at += sizeof *value;
    if (value->kind != EDB_TEXT && value->kind != EDB_BYTES) continue;
    value->as.text.p = spill->from + spill->at;
    spill->at += value->as.text.n;
  }
  *row = spill->values;
  return SQLITE_ROW;
}
