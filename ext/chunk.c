/*
** ext/chunk.c: a list that is too long for one statement goes out in several, one after the other.
**
**   SELECT … FROM remote WHERE id IN (SELECT k FROM local)
**
** ship_list.c cuts the list into chunks, each as many keys as the statement has parameters for (the last one is filled up
** with its last key, so that all are the same prepared statement). The chunks wait in a Spill: however long the list
** is, the memory is one of them and a block.
**
** A server may find a row by keys that SQLite tells from one another: by 'abc' and by 'ABC', which may be in two chunks. SQLite
** would be given that row twice. The keys come in SQLite's order, though, so that each chunk is a range of values, and a row
** is taken from the chunk whose range its own value is in.
*/
#include "extInt.h"

#include <string.h>

struct Chunks {
  const Definition *definition;
  int column;            /* whose list it is, -1: the identity's, which is an integer */
  int first;             /* of the parameters that change */
  int count;             /* of them */
  Spill *spill;          /* rows of these, and of the key behind them, NULL where there is none */
  edb_row low;           /* the present chunk's first key; empty: nothing is below its range */
  const edb_value *high; /* the next chunk's first key, or NULL */
};

Chunks *chunks_new(const Condition *c, int first, int count) {
  Chunks *chunks = sqlite3_malloc64(sizeof *chunks);
  if (chunks == NULL) return NULL;
  memset(chunks, 0, sizeof *chunks);
  chunks->definition = c->definition;
  chunks->column = c->number;
  chunks->first = first;
  chunks->count = count;
  chunks->low.host = c->sql->host;
  chunks->spill = spill_new((size_t)count + 1);
  if (chunks->spill) return chunks;
  sqlite3_free(chunks);
  return NULL;
}

void chunks_free(Chunks *chunks) {
  if (chunks == NULL) return;
  spill_free(chunks->spill);
  edb_row_clear(&chunks->low);
  sqlite3_free(chunks);
}

int chunks_first(const Chunks *chunks) { return chunks->first; }

int chunks_has(const Chunks *chunks, int parameter) {
  return parameter >= chunks->first && parameter < chunks->first + chunks->count;
}

int chunks_add(Chunks *chunks, const edb_parameter *parameters, const edb_value *behind) {
  edb_value *row = sqlite3_malloc64(((size_t)chunks->count + 1) * sizeof *row);
  if (row == NULL) return SQLITE_NOMEM;
  for (int i = 0; i < chunks->count; i++) row[i] = parameters[i].value;
  row[chunks->count] = behind ? *behind : (edb_value){.kind = EDB_NULL};
  int rc = spill_add(chunks->spill, row);
  sqlite3_free(row);
  return rc;
}

int chunks_next(Chunks *chunks, edb_parameter *parameters) {
  const edb_value *row;
  int code = EDB_OK;
  if (chunks->high) {
    code = edb_row_reset(&chunks->low, 1);
    if (code == EDB_OK) code = edb_row_set(&chunks->low, 0, chunks->high);
    chunks->high = NULL;
  }
  if (code != EDB_OK) return SQLITE_NOMEM;
  int rc = spill_next(chunks->spill, &row);
  if (rc != SQLITE_ROW) return rc;
  for (int i = 0; i < chunks->count; i++) parameters[chunks->first + i].value = row[i];
  if (row[chunks->count].kind != EDB_NULL) chunks->high = &row[chunks->count];
  return SQLITE_ROW;
}

int chunks_take(const Chunks *chunks, const Plan *plan, const edb_value *row) {
  char text[EDB_TIME_TEXT];
  edb_value value;
  if (chunks->column < 0) return 1;
  const edb_type *type = chunks->definition->columns[chunks->column].type;
  const edb_value *remote = &row[plan->slot[chunks->column]];
  if (value_native(remote, type, chunks->definition, text, &value) != SQLITE_OK) return 1;
  if (chunks->low.count > 0 && value_same_class(&value, &chunks->low.values[0]) &&
      value_compare(&value, &chunks->low.values[0]) < 0) {
    return 0;
  }
  return !(chunks->high && value_same_class(&value, chunks->high) &&
           value_compare(&value, chunks->high) >= 0);
}
