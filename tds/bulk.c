/*
** tds/bulk.c: the rows of a bulk load ([MS-TDS] 2.2.6.1). The contracts are in tds.h.
*/
#include "tdsInt.h"

#define UPDATABLE_UNKNOWN 0x0008 /* usUpdateable, of a column's flags */

void tds_bulk_columns(tds_message *m, const tds_bulk_column *columns, size_t n) {
  if (n == 0 || n >= 0xFFFF) {
    tds_refuse_value(m, "no columns, or too many");
    return;
  }
  tds_put_u8(m, TDS_COLMETADATA);
  tds_put_u16(m, (uint16_t)n);
  for (size_t i = 0; i < n; i++) {
    tds_put_u32(m, 0); /* UserType */
    tds_put_u16(m, (uint16_t)(UPDATABLE_UNKNOWN | (columns[i].nullable ? TDS_COLUMN_NULLABLE : 0)));
    tds_put_type(m, &columns[i].info);
    tds_put_b_varchar(m, columns[i].name, strlen(columns[i].name));
  }
}

void tds_bulk_row(tds_message *m, const tds_bulk_column *columns, const tds_value *values,
                  size_t n) {
  tds_put_u8(m, TDS_ROW_TOKEN);
  for (size_t i = 0; i < n; i++) tds_put_value(m, &columns[i].info, &values[i]);
}

void tds_bulk_done(tds_message *m) {
  tds_put_u8(m, TDS_DONE);
  tds_put_u32(m, 0); /* status, command */
  tds_put_u64(m, 0);
}
