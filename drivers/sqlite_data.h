/*
** drivers/sqlite_data.h: what the SQLite driver says of its server, to itself.
*/
#ifndef EDB_SQLITE_DATA_H
#define EDB_SQLITE_DATA_H

#include "driver.h"

extern const edb_dialect edb_sqlite_dialect;
extern const edb_catalog edb_sqlite_catalog;

/* The type that a declaration means: SQLite's affinity, or more where its name says more; "": none. */
const edb_type *edb_sqlite_type(const char *declaration);

#endif
