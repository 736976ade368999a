/*
** A table while CREATE or ALTER reads it: table.c, for ddl.c.
*/
#ifndef TDSD_TABLE_H
#define TDSD_TABLE_H

#include "session.h"

typedef struct Table {
  Batch *b;
  int64_t id;
  int schema;
  const char *db; /* main, or temp for #tables */
  char sqlite[300], name[130];
  Rel rel;
  int room, indexes, objects;
  bool clustered;
  Buf columns, constraints, catalog;
} Table;

typedef struct {
  int column[32];
  bool descending[32];
  int n;
} Key;

void write_text(Buf *out, const char *value);
int64_t next_object(Session *s);
void run_script(Batch *b, Buf *sql);
int schema_id(Batch *b, const char *schema);
void add_object(Table *t, int64_t id, const char *name, const char *type, const char *sqlite,
                const char *definition, int64_t detail);
char *source(Batch *b, int from, int to);
void parse_key(Table *t, Key *key);
void write_key(Table *t, Buf *out, const Key *key);
void describe_index(Table *t, const char *name, const Key *key, bool unique, bool pk, bool uc,
                    bool clustered, const char *filter);
int take_clustered(Batch *b);
void skip_index_options(Batch *b);
void parse_column_def(Table *t);
void table_free(Table *t);
void table_begin(Batch *b, Table *t, const char *schema, const char *name);
void create_table(Batch *b);
void describe_column(Table *t, const Column *k, int id, const char *definition,
                     const char *fallback, bool sparse);

#endif
