/*
** drivers/postgresql_library.c: libpq, opened at run time.
**
** One edb serves every libpq: what newer ones have (chunked rows, encrypted cancelling, pipelines) is
** looked up as optional and NULL where it is missing.
*/
#include <stdio.h>

#include "postgresql.h"

pg_library pq;

#define REQUIRED(member)                                                                           \
  { "PQ" #member, offsetof(pg_library, member), 0 }
#define OPTIONAL(member)                                                                           \
  { "PQ" #member, offsetof(pg_library, member), 1 }

static const edb_symbol symbols[] = {
    REQUIRED(libVersion),
    REQUIRED(connectStartParams),
    REQUIRED(connectPoll),
    REQUIRED(status),
    REQUIRED(transactionStatus),
    REQUIRED(errorMessage),
    REQUIRED(socket),
    REQUIRED(setnonblocking),
    REQUIRED(setNoticeReceiver),
    REQUIRED(finish),
    REQUIRED(sendQuery),
    REQUIRED(sendQueryParams),
    REQUIRED(sendPrepare),
    REQUIRED(sendDescribePrepared),
    REQUIRED(sendQueryPrepared),
    REQUIRED(setSingleRowMode),
    REQUIRED(flush),
    REQUIRED(consumeInput),
    REQUIRED(isBusy),
    REQUIRED(getResult),
    REQUIRED(getCopyData),
    REQUIRED(putCopyData),
    REQUIRED(putCopyEnd),
    REQUIRED(notifies),
    REQUIRED(freemem),
    REQUIRED(clear),
    REQUIRED(resultStatus),
    REQUIRED(resultErrorMessage),
    REQUIRED(resultErrorField),
    REQUIRED(cmdStatus),
    REQUIRED(cmdTuples),
    REQUIRED(ntuples),
    REQUIRED(nfields),
    REQUIRED(fname),
    REQUIRED(ftype),
    REQUIRED(fmod),
    REQUIRED(getvalue),
    REQUIRED(getlength),
    REQUIRED(getisnull),
    REQUIRED(nparams),
    REQUIRED(paramtype),
    REQUIRED(getCancel),
    REQUIRED(freeCancel),
    REQUIRED(cancel),
    OPTIONAL(setChunkedRowsMode),
    OPTIONAL(cancelCreate),
    OPTIONAL(cancelStart),
    OPTIONAL(cancelPoll),
    OPTIONAL(cancelSocket),
    OPTIONAL(cancelFinish),
    OPTIONAL(enterPipelineMode),
    OPTIONAL(exitPipelineMode),
    OPTIONAL(pipelineSync),
    {NULL, 0, 0},
};

static const char *const names[] = {"libpq.so.5", "libpq.so", "libpq.5.dylib", "libpq.dll", NULL};

static edb_library library = {
    "PostgreSQL's client library",
    "install libpq5 (Debian, Ubuntu), postgresql-libs or libpq (Fedora, Arch, Homebrew)",
    names,
    symbols,
    &pq,
    NULL,
};

int pg_library_load(edb_error *error) { return edb_library_load(&library, error); }

/* PQlibVersion: 150018 is 15.18. */
const char *pg_library_name(void) {
  static char name[32];
  if (!library.handle) return "";
  if (!name[0]) {
    int version = pq.libVersion();
    snprintf(name, sizeof name, "libpq %d.%d", version / 10000, version % 10000);
  }
  return name;
}
