/*
** drivers/odbc_list.c: rows of our own making, as a reader lends them: the answers of the catalog.
*/
#include <string.h>

#include "odbcInt.h"

od_list *od_list_new(const edb_host *host, size_t width) {
  od_list *list = edb_alloc(host, sizeof *list);
  if (!list) return NULL;
  memset(list, 0, sizeof *list);
  list->host = host;
  list->width = width;
  list->text.host = host;
  return list;
}

void od_list_free(od_list *list) {
  if (!list) return;
  edb_buffer_free(&list->text);
  edb_free(list->host, list->values);
  edb_free(list->host, list);
}

void od_list_row(od_list *list) {
  if (list->nomem) return;
  if (list->rows == list->room) {
    const size_t room = list->room ? 2 * list->room : 16;
    edb_value *values = list->host->resize(list->host->context, list->values,
                                           room * list->width * sizeof *list->values);
    if (!values) {
      list->nomem = 1;
      return;
    }
    list->values = values;
    list->room = room;
  }
  memset(list->values + list->rows * list->width, 0, list->width * sizeof *list->values);
  list->rows++;
}

static edb_value *place(od_list *list, size_t column) {
  return list->nomem ? NULL : &list->values[(list->rows - 1) * list->width + column];
}

void od_list_text(od_list *list, size_t column, const char *p, size_t n) {
  edb_value *v = place(list, column);
  if (!v) return;
  const size_t offset = list->text.n;
  edb_buffer_add(&list->text, p, n);
  v->kind = EDB_TEXT;
  v->as.text.p = (const char *)(uintptr_t)offset;
  v->as.text.n = n;
}

void od_list_number(od_list *list, size_t column, int64_t number) {
  edb_value *v = place(list, column);
  if (!v) return;
  v->kind = EDB_I64;
  v->as.i64 = number;
}

int od_list_end(od_list *list) {
  if (list->nomem || list->text.nomem) return EDB_NOMEM;
  for (size_t i = 0; i < list->rows * list->width; i++) {
    edb_value *v = &list->values[i];
    if (v->kind != EDB_TEXT) continue;
    v->as.text.p = list->text.p ? list->text.p + (uintptr_t)v->as.text.p : "";
  }
  return EDB_OK;
}
