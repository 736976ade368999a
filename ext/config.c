/*
** ext/config.c: the servers of the user's configuration file, servers.ini.
**
**   [shop]
**   url = postgresql://app@db.example/shop
**   password_file = /home/app/.shop-password
**
** EDB_CONFIG names the file, else it is edb/servers.ini in the user's configuration directory. A
** section is a server; beside its url it may hold whatever the URL could. The file is read once a
** connection, when a server is looked for that edb_server did not define. Since it may hold
** passwords, it is refused if others can read it.
*/
#include "extInt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST_FILE 1000000

/* ---- The file ------------------------------------------------------------------------------------- */

/* *path NULL: there is none. *named: the user asked for this very file. */
static int config_path(char **path, int *named) {
  const char *file = getenv("EDB_CONFIG");
  *path = NULL;
  *named = file != NULL;
#ifdef _WIN32
  const char *directory = getenv("APPDATA");
  const char *below = "";
#else
  const char *directory = getenv("XDG_CONFIG_HOME");
  const char *below = "";
  if (directory == NULL || directory[0] == 0) {
    directory = getenv("HOME");
    below = "/.config";
  }
#endif
  if (file) {
    if (file[0] == 0) return SQLITE_OK; /* EDB_CONFIG= : no file */
    *path = sqlite3_mprintf("%s", file);
  } else if (directory && directory[0]) {
    *path = sqlite3_mprintf("%s%s/edb/servers.ini", directory, below);
  } else {
    return SQLITE_OK;
  }
  return *path ? SQLITE_OK : SQLITE_NOMEM;
}

static int is_private(FILE *file) {
#ifdef _WIN32
  (void)file; /* a user's APPDATA is the user's own */
  return 1;
#else
  struct stat about;
  return fstat(fileno(file), &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
#endif
}

/* The whole file, NUL-terminated; NULL and *message where it cannot be used; NULL alone: there is
** none. */
static char *config_read(const char *path, int named, size_t *n, char **message) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  if (file == NULL) {
    if (named || (errno != ENOENT && errno != ENOTDIR)) {
      *message = sqlite3_mprintf("edb: %s cannot be read: %s", path, strerror(errno));
    }
    return NULL;
  }
  if (!is_private(file)) {
    *message = sqlite3_mprintf("edb: %s is not used, since others can read it: chmod 600 it", path);
  } else {
    text = sqlite3_malloc64(LARGEST_FILE + 1);
    *n = text ? fread(text, 1, LARGEST_FILE, file) : 0;
    if (text == NULL || ferror(file) || !feof(file)) {
      *message = sqlite3_mprintf("edb: %s cannot be read as a whole", path);
      sqlite3_free(text);
      text = NULL;
    } else {
      text[*n] = 0;
    }
  }
  fclose(file);
  return text;
}

/* ---- Sections --------------------------------------------------------------------------------------- */

#define SECTION_OPTIONS 64

/* The strings are in the file's text. */
typedef struct Section {
  const char *name; /* NULL: before the first */
  const char *url;
  edb_option options[SECTION_OPTIONS];
  size_t count;
} Section;

/* Cuts white space off both ends, in place. */
static char *trim(char *p) {
  while (*p == ' ' || *p == '\t' || *p == '\r') p++;
  char *end = p + strlen(p);
  while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) *--end = 0;
  return p;
}

static int section_end(Edb *edb, const Section *section, char **message) {
  if (section->name == NULL) return SQLITE_OK;
  if (section->url == NULL) {
    *message = sqlite3_mprintf("edb: servers.ini: [%s] has no url", section->name);
    return SQLITE_ERROR;
  }
  return server_configure(edb, section->name, section->url, section->options, section->count,
                          message);
}

static int section_line(Section *section, char *line, int number, char **message) {
  char *equals = strchr(line, '=');
  if (section->name == NULL || equals == NULL || section->count == SECTION_OPTIONS) {
    *message = sqlite3_mprintf("edb: servers.ini, line %d: expected [name of a server] or "
                               "option = value",
                               number);
    return SQLITE_ERROR;
  }
  *equals = 0;
  const char *name = trim(line);
  const char *value = trim(equals + 1);
  if (strcmp(name, "url") == 0) {
    section->url = value;
  } else {
    section->options[section->count].name = name;
    section->options[section->count++].value = value;
  }
  return SQLITE_OK;
}

static int config_parse(Edb *edb, char *text, char **message) {
  Section section = {.name = NULL};
  int rc = SQLITE_OK;
  int number = 0;
  for (char *line = text; line && rc == SQLITE_OK;) {
    char *next = strchr(line, '\n');
    if (next) *next++ = 0;
    line = trim(line);
    number++;
    size_t n = strlen(line);
    if (line[0] == '[' && line[n - 1] == ']') {
      rc = section_end(edb, &section, message);
      line[n - 1] = 0;
      memset(&section, 0, sizeof section);
      section.name = trim(line + 1);
    } else if (line[0] != 0 && line[0] != '#' && line[0] != ';') {
      rc = section_line(&section, line, number, message);
    }
    line = next;
  }
  return rc == SQLITE_OK ? section_end(edb, &section, message) : rc;
}

int config_load(Edb *edb, char **message) {
  char *path;
  int named;
  if (edb->configured) return SQLITE_OK;
  int rc = config_path(&path, &named);
  if (rc != SQLITE_OK) return rc;
  size_t n = 0;
  char *text = path ? config_read(path, named, &n, message) : NULL;
  if (text) {
    rc = config_parse(edb, text, message);
    memset(text, 0, n); /* it may hold passwords */
    sqlite3_free(text);
  }
  sqlite3_free(path);
  if (rc == SQLITE_OK && *message) rc = SQLITE_ERROR;
  edb->configured = rc == SQLITE_OK;
  return rc;
}
