/*
** tds/rpc.c: sp_executesql, sp_prepexec, sp_execute, sp_unprepare by their numbers ([MS-TDS] 2.2.6.6). The contracts
** are in tds.h.
*/
#include "tdsInt.h"

#include <stdio.h>

enum { EXECUTE_SQL = 10, EXECUTE = 12, PREPARE_EXECUTE = 13, UNPREPARE = 15 };
enum { BY_REFERENCE = 1 };
#define MOST_PARAMETERS 2100
#define SHORT_BYTES 8000

static void begin(tds_message *m, uint64_t descriptor, uint16_t procedure) {
  tds_put_all_headers(m, descriptor);
  tds_put_u16(m, 0xFFFF);
  tds_put_u16(m, procedure);
  tds_put_u16(m, 0); /* options */
}

/* By position: without a name. */
static void put_head(tds_message *m, uint8_t status, const tds_type_info *t) {
  tds_put_u8(m, 0);
  tds_put_u8(m, status);
  tds_put_type(m, t);
}

static void put_parameters(tds_message *m, const tds_parameter *parameters, size_t count) {
  if (count > MOST_PARAMETERS) tds_refuse_value(m, "more than 2,100 parameters");
  for (size_t i = 0; i < count; i++) {
    put_head(m, 0, &parameters[i].info);
    tds_put_value(m, &parameters[i].info, &parameters[i].value);
  }
}

static void put_statement(tds_message *m, const char *sql, size_t n) {
  const tds_value v = {.kind = TDS_TEXT, .as.text = {sql, n}};
  const tds_type_info t = tds_parameter_type(&v);
  put_head(m, 0, &t);
  tds_put_value(m, &t, &v);
}

/* "@p12 nvarchar(4000)"; the length. */
static size_t declare(size_t i, const tds_type_info *t, char out[TDS_DECLARATION + 16]) {
  char type[TDS_DECLARATION];
  tds_declare(t, type);
  const int n = snprintf(out, TDS_DECLARATION + 16, "%s@p%zu %s", i ? "," : "", i + 1, type);
  return (size_t)n;
}

/* "@p1 bigint,@p2 float", which is written piece by piece: its length is counted first. NULL where there are none. */
static void put_declarations(tds_message *m, const tds_parameter *parameters, size_t count) {
  char text[TDS_DECLARATION + 16];
  size_t units = 0;
  for (size_t i = 0; i < count; i++) units += declare(i, &parameters[i].info, text);
  const int plp = 2 * units > SHORT_BYTES;
  const tds_value null = {.kind = TDS_NULL};
  tds_type_info t = tds_parameter_type(&null);
  if (plp) t.length = TDS_MAX;
  put_head(m, 0, &t);
  if (count == 0) {
    tds_put_value(m, &t, &null);
    return;
  }
  if (plp) {
    tds_put_u64(m, 2 * units);
    tds_put_u32(m, (uint32_t)(2 * units));
  } else {
    tds_put_u16(m, (uint16_t)(2 * units));
  }
  for (size_t i = 0; i < count; i++) tds_put_text(m, text, declare(i, &parameters[i].info, text));
  if (plp) tds_put_u32(m, 0);
}

static void put_handle(tds_message *m, uint8_t status, const tds_value *handle) {
  const tds_type_info t = {.type = TDS_INTN, .length = 4};
  put_head(m, status, &t);
  tds_put_value(m, &t, handle);
}

void tds_execute_sql(tds_message *m, uint64_t descriptor, const char *sql, size_t n,
                     const tds_parameter *parameters, size_t count) {
  begin(m, descriptor, EXECUTE_SQL);
  put_statement(m, sql, n);
  if (count > 0) put_declarations(m, parameters, count);
  put_parameters(m, parameters, count);
}

void tds_prepare_execute(tds_message *m, uint64_t descriptor, const char *sql, size_t n,
                         const tds_parameter *parameters, size_t count) {
  const tds_value none = {.kind = TDS_NULL};
  begin(m, descriptor, PREPARE_EXECUTE);
  put_handle(m, BY_REFERENCE, &none);
  put_declarations(m, parameters, count);
  put_statement(m, sql, n);
  put_parameters(m, parameters, count);
}

void tds_execute_handle(tds_message *m, uint64_t descriptor, int32_t handle,
                        const tds_parameter *parameters, size_t count) {
  const tds_value v = {.kind = TDS_I64, .as.i64 = handle};
  begin(m, descriptor, EXECUTE);
  put_handle(m, 0, &v);
  put_parameters(m, parameters, count);
}

void tds_unprepare(tds_message *m, uint64_t descriptor, int32_t handle) {
  const tds_value v = {.kind = TDS_I64, .as.i64 = handle};
  begin(m, descriptor, UNPREPARE);
  put_handle(m, 0, &v);
}
