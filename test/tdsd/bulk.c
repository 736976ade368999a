/*
** INSERT BULK, and the message of type 7 that brings its rows: COLMETADATA, ROWs, DONE.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_COLUMNS = 1024 };

/* What INSERT BULK said; one load is under way on a connection at most. */
struct Bulk {
  char table[300];
  Column columns[MAX_COLUMNS];
  int n;
  bool check,
      keep_nulls; /* else CHECK constraints are not looked at, and a NULL is the column's default */
  bool triggers;  /* they fire, as for an INSERT */
};

/* INSERT BULK [dbo].[t] ([a] int, [b] nvarchar(40) COLLATE …) WITH (…): behind INSERT. */
void statement_bulk(Batch *b) {
  char schema[130], name[130];
  b->i++;
  take_table(b, schema, name);
  Rel *r = batch_alloc(b, sizeof *r);
  rel_table(b, r, schema, name);
  Bulk *bulk = b->run ? xmalloc(sizeof *bulk) : NULL;
  need_op(b, "(");
  do {
    const char *column = take_name(b);
    Type type = {0};
    take_type(b, &type);
    if (bulk == NULL || b->failed || bulk->n == MAX_COLUMNS) continue;
    const Column *found = NULL;
    for (int i = 0; i < r->n; i++) {
      if (strcasecmp(r->columns[i].name, column) == 0) found = &r->columns[i];
    }
    if (found == NULL) {
      fail(b, 207, 16, "Invalid column name '%s'.", column);
    } else {
      bulk->columns[bulk->n++] = *found;
    }
  } while (take_op(b, ","));
  need_op(b, ")");
  if (take_word(b, "WITH")) {
    while (!b->failed && !take_op(b, ")") && peek(b)->kind != L_END) {
      if (bulk != NULL && at_word(b, "CHECK_CONSTRAINTS")) bulk->check = true;
      if (bulk != NULL && at_word(b, "KEEP_NULLS")) bulk->keep_nulls = true;
      if (bulk != NULL && at_word(b, "FIRE_TRIGGERS")) bulk->triggers = true;
      b->i++;
    }
  }
  if (bulk == NULL) return;
  if (b->c->fault.no_bulk)
    fail(b, 4834, 16, "You do not have permission to use the bulk load statement.");
  if (b->failed) {
    free(bulk);
    return;
  }
  snprintf(bulk->table, sizeof bulk->table, "%s", r->name);
  free(b->s->bulk);
  b->s->bulk = bulk;
  done(b, 0, 0xF0, 0);
}

/* The columns that the message itself describes. */
typedef struct {
  Type type;
  unsigned wire;
  uint32_t max;
} Sent;

static bool read_columns(Conn *c, Rd *r, const Bulk *bulk, Sent *sent) {
  if (rd_u8(r) != 0x81) violation(c, false, "a bulk load that does not begin with COLMETADATA");
  unsigned n = rd_u16(r);
  if ((int)n != bulk->n)
    violation(c, false, "a bulk load of %u columns where INSERT BULK named %d", n, bulk->n);
  for (int i = 0; i < bulk->n && !c->dead; i++) {
    rd_u32(r);
    rd_u16(r);
    const char *wrong = type_read(r, &sent[i].type, &sent[i].wire, &sent[i].max);
    if (wrong != NULL) violation(c, false, "column %d of a bulk load: %s", i, wrong);
    if (wire_is_long(sent[i].type.kind)) free(rd_text(r, rd_u16(r)));
    free(rd_text(r, rd_u8(r)));
    if (r->bad) violation(c, false, "a bulk load that ends inside its COLMETADATA");
  }
  return !c->dead;
}

/* `,DEFAULT)` of a column, where a NULL is to become that; else nothing. */
static bool write_default(Session *s, const Bulk *bulk, const Column *k, Buf *out) {
  sqlite3_stmt *statement = NULL;
  static const char sql[] = "SELECT dflt_value FROM pragma_table_info(?) WHERE name = ?";
  if (bulk->keep_nulls || !k->has_default) return false;
  sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);
  sqlite3_bind_text(statement, 1, bulk->table, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, k->name, -1, SQLITE_STATIC);
  bool found = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL;
  if (found) buf_printf(out, ",(%s))", (const char *)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  return found;
}

static sqlite3_stmt *prepare_load(Session *s, const Bulk *bulk, const Sent *sent, SqlError *error) {
  Buf sql = {0}, values = {0};
  char type[64];
  sqlite3_stmt *statement = NULL;
  Column *all;
  buf_text(&sql, "INSERT INTO ");
  quote(&sql, bulk->table);
  for (int i = 0; i < bulk->n; i++) {
    const Column *k = &bulk->columns[i];
    buf_u8(&sql, i ? ',' : '(');
    quote(&sql, k->name);
    type_print(&sent[i].type, type, sizeof type);
    Buf fallback = {0};
    bool has_fallback = write_default(s, bulk, k, &fallback);
    buf_printf(&values, "%s%stds_store(?,'%s','", i ? "," : "", has_fallback ? "coalesce(" : "",
               type);
    type_print(&k->type, type, sizeof type);
    buf_text(&values, type);
    if (k->type.collation != NULL) buf_printf(&values, " COLLATE %s", k->type.collation->name);
    buf_text(&values, "',");
    quote_text(&values, bulk->table, strlen(bulk->table));
    buf_u8(&values, ',');
    quote_text(&values, k->name, strlen(k->name));
    buf_printf(&values, ",%d)%s", k->nullable, has_fallback ? buf_string(&fallback) : "");
    buf_free(&fallback);
  }
  int n = catalog_columns(s, bulk->table, &all);
  for (int i = 0; i < n; i++) { /* an identity that is not among them is given as ever */
    bool given = false;
    for (int j = 0; j < bulk->n; j++) given |= strcasecmp(bulk->columns[j].name, all[i].name) == 0;
    if (given || !all[i].identity) continue;
    buf_u8(&sql, ',');
    quote(&sql, all[i].name);
    buf_text(&values, ",tds_next_identity(");
    quote_text(&values, bulk->table, strlen(bulk->table));
    buf_u8(&values, ')');
  }
  free(all);
  buf_printf(&sql, ") VALUES (%s)", buf_string(&values));
  int code = sqlite3_prepare_v2(s->db, buf_string(&sql), -1, &statement, NULL);
  if (code != SQLITE_OK) engine_error(s, code, error);
  buf_free(&sql);
  buf_free(&values);
  return statement;
}

/* One value; legacy long types have a text pointer before them. */
static const char *read_value(Rd *r, const Sent *sent, Buf *space, Val *v) {
  if (wire_is_long(sent->type.kind)) {
    unsigned pointer = rd_u8(r);
    if (pointer == 0) {
      *v = val_null();
      return NULL;
    }
    rd_bytes(r, pointer + 8);
  }
  return wire_read(r, &sent->type, sent->wire, sent->max, space, v);
}

static bool read_row(Conn *c, Rd *r, const Bulk *bulk, const Sent *sent, bool nbc,
                     sqlite3_stmt *statement, Buf *space) {
  const uint8_t *nulls = nbc ? rd_bytes(r, (size_t)(bulk->n + 7) / 8) : NULL;
  for (int i = 0; i < bulk->n && !c->dead; i++) {
    Val v = {0};
    const char *wrong = NULL;
    space->n = 0;
    bool null = nulls != NULL && (nulls[i / 8] >> (i % 8) & 1);
    if (!null) wrong = read_value(r, &sent[i], space, &v);
    if (wrong != NULL) violation(c, false, "column %d of a bulk row: %s", i, wrong);
    if (r->bad) violation(c, false, "a bulk load that ends inside a row");
    val_bind(statement, i + 1, &v);
  }
  return !c->dead;
}

/* Reads rows up to DONE; the error of the first that was refused is kept. */
static int64_t load_rows(Session *s, Rd *r, const Bulk *bulk, const Sent *sent,
                         sqlite3_stmt *statement, SqlError *error) {
  Conn *c = s->c;
  int64_t rows = 0;
  Buf space = {0};
  for (;;) {
    unsigned token = rd_u8(r);
    if (r->bad) { /* a load without rows may be without DONE too */
      break;
    }
    if (token == 0xFD) {
      rd_bytes(r, 12);
      break;
    }
    if (token != 0xD1 && token != 0xD2) violation(c, false, "token 0x%02x in a bulk load", token);
    if (c->dead || !read_row(c, r, bulk, sent, token == 0xD2, statement, &space)) break;
    if (error->number != 0) continue;
    int code = sqlite3_step(statement);
    if (code != SQLITE_DONE) engine_error(s, code, error);
    sqlite3_reset(statement);
    rows++;
  }
  buf_free(&space);
  return rows;
}

void bulk_load(Session *s, Rd *r) {
  Conn *c = s->c;
  Bulk *bulk = s->bulk;
  SqlError error = {0};
  if (bulk == NULL) {
    violation(c, false, "a bulk load without INSERT BULK");
    return;
  }
  s->bulk = NULL;
  Sent *sent = xmalloc(sizeof *sent * MAX_COLUMNS);
  int64_t rows = 0;
  if (r->n > 0 && read_columns(c, r, bulk, sent)) {
    sqlite3_stmt *statement = prepare_load(s, bulk, sent, &error);
    bool own = s->trancount == 0;
    bool entered = statement != NULL && engine_enter(s, true, &error) &&
                   engine_exec(s, own ? "BEGIN IMMEDIATE" : "SAVEPOINT tdsd_bulk", &error);
    SqlError ignored;
    if (!bulk->check) engine_exec(s, "PRAGMA ignore_check_constraints=ON", &ignored);
    if (entered) rows = load_rows(s, r, bulk, sent, statement, &error);
    engine_exec(s, "PRAGMA ignore_check_constraints=OFF", &ignored);
    sqlite3_finalize(statement);
    bool bad = error.number != 0 || c->dead;
    if (entered && own) engine_exec(s, bad ? "ROLLBACK" : "COMMIT", &ignored);
    if (entered && !own)
      engine_exec(s, bad ? "ROLLBACK TO tdsd_bulk; RELEASE tdsd_bulk" : "RELEASE tdsd_bulk",
                  &ignored);
  }
  if (bulk->triggers && error.number == 0 && !c->dead) trigger_fire(s, bulk->table, "INSERT", 0);
  free(sent);
  free(bulk);
  if (c->dead) return;
  pthread_mutex_lock(&c->server->lock);
  if (error.number == 0) c->server->loaded += (uint64_t)rows;
  pthread_mutex_unlock(&c->server->lock);
  if (error.number != 0) token_error(c, &error, NULL);
  token_done(c, DONE, error.number != 0 ? DONE_ERROR : DONE_COUNT, 0xC3,
             error.number != 0 ? 0 : (uint64_t)rows);
}
