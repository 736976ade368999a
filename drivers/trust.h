/*
** drivers/trust.h: the roots that TLS servers are checked against, parsed once a process. For sqlserver*.c and
** the programs of test/ and bench/.
*/
#ifndef EDB_TRUST_H
#define EDB_TRUST_H

#include "driver.h"
#include "../tls/tls.h"

/* The certificates of a file (PEM, or one in DER), of all files of a folder, or where path is NULL of this system:
** SSL_CERT_FILE or SSL_CERT_DIR, where they are set as for OpenSSL, else where the system keeps them. They are
** parsed at first use and again when a file was changed, added or removed. They stand until edb_trust_done, which is
** called once for each EDB_OK; who wants to add pins copies the struct. Threads may share them.
**
** EDB_OK; EDB_FAILED where there is nothing to read, or no certificate in it; EDB_NOMEM. Memory is malloc's, since it
** outlives any one host; what nobody uses any more goes when edb is unloaded. */
int edb_trust_get(const char *path, const tls_trust **trust, edb_error *error);
void edb_trust_done(const tls_trust *trust);

#endif
