/*
** ext/wordsInt.h: what stands in the statements that run, in views and in triggers; part of extInt.h.
*/
#ifndef EDB_WORDS_INT_H
#define EDB_WORDS_INT_H

/* 0 where no running statement can have an outer join. */
int outer_join_possible(sqlite3 *db);
/* 0 where none can ask for rows' identities unless colUsed or a condition says so, but to tell two scans' rows apart. */
int identity_possible(sqlite3 *db);
/* 0 where none names edb_key. */
int key_possible(sqlite3 *db);
/* 0 where no list can have lost a COLLATE of one of its values. */
int lost_collation_possible(sqlite3 *db);
/* 0 where none can have min() or max(). */
int extreme_possible(sqlite3 *db);
/* 0 where none can have an ORDER BY of so many columns that xBestIndex is not told of it. */
int long_order_possible(sqlite3 *db);

#endif
