/*
** drivers/odbc_library.c: the driver manager, opened at run time: unixODBC, else iODBC, whose wide characters
** are four bytes; Windows has its own.
*/
#include <string.h>

#include "odbcInt.h"

od_library od;
int od_wide = 2;

#define NARROW(member)                                                                             \
  { "SQL" #member, offsetof(od_library, member), 0 }
#define WIDE(member)                                                                               \
  { "SQL" #member "W", offsetof(od_library, member), 0 }

static const edb_symbol symbols[] = {
    NARROW(AllocHandle),   NARROW(FreeHandle), NARROW(SetEnvAttr),    WIDE(DriverConnect),
    NARROW(Disconnect),    WIDE(GetInfo),      NARROW(GetFunctions),  WIDE(SetConnectAttr),
    WIDE(GetConnectAttr),  NARROW(EndTran),    WIDE(Prepare),         WIDE(ExecDirect),
    NARROW(Execute),       NARROW(NumParams),  NARROW(DescribeParam), NARROW(BindParameter),
    NARROW(NumResultCols), WIDE(DescribeCol),  WIDE(ColAttribute),    NARROW(BindCol),
    NARROW(Fetch),         NARROW(GetData),    NARROW(SetPos),        NARROW(MoreResults),
    NARROW(RowCount),      NARROW(FreeStmt),   NARROW(Cancel),        WIDE(SetStmtAttr),
    WIDE(GetStmtAttr),     WIDE(GetDiagRec),   WIDE(GetDiagField),    WIDE(Tables),
    WIDE(Columns),         WIDE(PrimaryKeys),  WIDE(Statistics),      WIDE(DataSources),
    WIDE(Drivers),         {NULL, 0, 0},
};

static const char *const names[] = {
#if defined(_WIN32)
    "odbc32.dll",
#elif defined(__APPLE__)
    "libodbc.2.dylib",
#else
    "libodbc.so.2",
    "libodbc.so.1",
#endif
    NULL,
};
static const char *const iodbc_names[] = {
#if defined(__APPLE__)
    "libiodbc.2.dylib",
#else
    "libiodbc.so.2",
#endif
    NULL,
};

#define INSTALL                                                                                    \
  "install libodbc2 or libodbc1 (Debian, Ubuntu), unixODBC (Fedora, openSUSE) or unixodbc (Arch, " \
  "Homebrew)"

static edb_library library = {"ODBC's driver manager", INSTALL, names, symbols, &od, NULL};
static edb_library iodbc = {"ODBC's driver manager", INSTALL, iodbc_names, symbols, &od, NULL};

int od_library_load(edb_error *error) {
  if (iodbc.handle) return EDB_OK;
  const int rc = edb_library_load(&library, error);
  if (rc == EDB_OK) return rc;
  /* The first one's message stays: its name is the one to look for. */
  if (edb_library_load(&iodbc, NULL) != EDB_OK) return rc;
  od_wide = sizeof(wchar_t) == 4 ? 4 : 2;
  return edb_fail(error, EDB_OK, "%s", "");
}

const char *od_library_name(void) {
#if defined(_WIN32)
  return library.handle ? "odbc32" : "";
#else
  return library.handle ? "unixODBC" : iodbc.handle ? "iODBC" : "";
#endif
}
