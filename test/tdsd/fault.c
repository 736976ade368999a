/*
** The table of misbehaviours.
*/
#include "tdsd.h"

#include <stddef.h>
#include <string.h>

#define ROW(name)                                                                                  \
  { #name, offsetof(Fault, name) }
static const struct {
  const char *name;
  size_t at;
} faults[] = {
    ROW(split),       ROW(split_all),   ROW(chop),        ROW(plp),       ROW(nbcrow),
    ROW(drop),        ROW(error_at),    ROW(errors),      ROW(silent),    ROW(between),
    ROW(attention),   ROW(flip),        ROW(long_record), ROW(lie),       ROW(packet),
    ROW(route),       ROW(route_port),  ROW(trickle),     ROW(alpn),      ROW(no_login_features),
    ROW(deadlock),    ROW(login_error), ROW(stall),       ROW(no_resume), ROW(no_bulk),
    ROW(login_stall), ROW(slow_read),   ROW(cek),
};

bool fault_set(Fault *f, const char *name, int64_t value) {
  if (strcmp(name, "reset") == 0) {
    *f = (Fault){0};
    return true;
  }
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    if (strcmp(name, faults[i].name) != 0) continue;
    memcpy((char *)f + faults[i].at, &value, sizeof value);
    return true;
  }
  return false;
}

void fault_names(Buf *out) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    buf_printf(out, " %s", faults[i].name);
}
