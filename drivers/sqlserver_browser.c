/*
** drivers/sqlserver_browser.c: the port of an instance, from the server's browser service ([MC-SQLR]).
*/
#include <string.h>

#include "sqlserver.h"

#define CLNT_UCAST_INST 0x04
#define SVR_RESP 0x05
#define HEAD 3 /* SVR_RESP and a length */

/* The number behind `;tcp;` in "ServerName;a;InstanceName;b;…;tcp;1433;;"; 0: there is none. */
static unsigned port_of(const char *p, size_t n) {
  static const char key[] = ";tcp;";
  unsigned port = 0;
  for (size_t i = 0; i + sizeof key - 1 < n; i++) {
    if (memcmp(p + i, key, sizeof key - 1) != 0) continue;
    for (i += sizeof key - 1; i < n && p[i] >= '0' && p[i] <= '9' && port <= 65535; i++) {
      port = port * 10 + (unsigned)(p[i] - '0');
    }
    return port <= 65535 ? port : 0;
  }
  return 0;
}

int ms_browse(ms_link *l, const ms_target *target, unsigned *port, edb_error *error) {
  char request[sizeof target->instance + 1] = {CLNT_UCAST_INST}, answer[1500];
  const size_t n = strlen(target->instance);
  size_t got = 0;
  memcpy(request + 1, target->instance, n + 1);
  int rc = edb_net_ask(target->host, target->browser_port, request, n + 2, answer, sizeof answer,
                       &got, l->end, ms_link_asks, l, error);
  if (rc == EDB_CLOSED) {
    edb_fail_hint(
        error,
        "is there an instance %s, and does the browser service run? its port can be given instead",
        target->instance);
  }
  if (rc != EDB_OK) return rc;
  *port = got > HEAD && answer[0] == SVR_RESP ? port_of(answer + HEAD, got - HEAD) : 0;
  if (*port) return EDB_OK;
  return edb_fail(error, EDB_FAILED, "the instance %s does not listen on TCP", target->instance);
}
