/*
** tds/request.c: SQL batch, transaction manager, attention ([MS-TDS] 2.2.6.7, 2.2.6.9, 2.2.1.7). The contracts are
** in tds.h.
*/
#include "tdsInt.h"

/* One header, of type 2: the transaction's descriptor and how many requests are outstanding. */
void tds_put_all_headers(tds_message *m, uint64_t descriptor) {
  tds_put_u32(m, 22);
  tds_put_u32(m, 18);
  tds_put_u16(m, 2);
  tds_put_u64(m, descriptor);
  tds_put_u32(m, 1);
}

void tds_batch(tds_message *m, const char *sql, size_t n, uint64_t descriptor) {
  tds_put_all_headers(m, descriptor);
  tds_put_text(m, sql, n);
}

enum { BEGIN = 5, COMMIT = 7, ROLLBACK = 8, SAVE = 9 };

static void manager(tds_message *m, uint64_t descriptor, uint16_t request) {
  tds_put_all_headers(m, descriptor);
  tds_put_u16(m, request);
}

static void put_name(tds_message *m, const char *name) {
  tds_put_b_varchar(m, name, name ? strlen(name) : 0);
}

void tds_begin(tds_message *m, uint64_t descriptor, tds_isolation isolation) {
  manager(m, descriptor, BEGIN);
  tds_put_u8(m, (uint8_t)isolation);
  put_name(m, NULL);
}

/* Flags 0: no transaction begins where this one ends. */
void tds_commit(tds_message *m, uint64_t descriptor) {
  manager(m, descriptor, COMMIT);
  put_name(m, NULL);
  tds_put_u8(m, 0);
}

void tds_rollback(tds_message *m, uint64_t descriptor, const char *name) {
  manager(m, descriptor, ROLLBACK);
  put_name(m, name);
  tds_put_u8(m, 0);
}

void tds_save(tds_message *m, uint64_t descriptor, const char *name) {
  manager(m, descriptor, SAVE);
  put_name(m, name);
}

void tds_attention(uint8_t packet[TDS_HEADER]) {
  static const uint8_t attention[TDS_HEADER] = {TDS_ATTENTION, TDS_EOM, 0, TDS_HEADER, 0, 0, 1, 0};
  memcpy(packet, attention, sizeof attention);
}
