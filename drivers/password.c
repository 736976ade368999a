/*
** drivers/password.c: the file that the option password_file names.
*/
#include "driverInt.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

int edb_password_file(const char *path, char *line, edb_error *error) {
  size_t n = 0;
  ssize_t got = 1;
  int rc = EDB_OK, fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return edb_fail(error, EDB_FAILED, "the password_file \"%s\" cannot be read: %s", path,
                    strerror(errno));
  }
#ifndef _WIN32
  {
    struct stat st;
    if (fstat(fd, &st) != 0 || (st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
      rc =
          edb_fail(error, EDB_FAILED,
                   "the password_file \"%s\" can be read or written by others; chmod 600 it", path);
      goto done;
    }
  }
#endif
  while (n < EDB_PASSWORD_LINE && got > 0 && !memchr(line, '\n', n)) {
    got = read(fd, line + n, EDB_PASSWORD_LINE - n);
    if (got > 0) n += (size_t)got;
  }
  if (got < 0) {
    rc = edb_fail(error, EDB_FAILED, "the password_file \"%s\" cannot be read: %s", path,
                  strerror(errno));
    goto done;
  }
  if (memchr(line, '\n', n)) {
    n = (size_t)((char *)memchr(line, '\n', n) - line);
    if (n > 0 && line[n - 1] == '\r') n--;
  } else if (n == EDB_PASSWORD_LINE) {
    rc =
        edb_fail(error, EDB_FAILED, "the first line of the password_file \"%s\" is too long", path);
    goto done;
  }
  line[n] = 0;
  if (n == 0 || strlen(line) != n) {
    rc = edb_fail(error, EDB_FAILED, "the first line of the password_file \"%s\" is no password",
                  path);
  }
done:
  close(fd);
  return rc;
}
