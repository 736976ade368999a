/*
** mysql_hostile.c: the MySQL driver against a server that lies, on its own or by what it asks for.
**
** What it says wrong must come out as an error that says so, never as a crash, a hang, a leak, or rows that are
** not there. No file of this computer and no password may leave.
*/
#include "mysql_client.h"

static void test_honest(void) {
  for (int way = BY_PREPARE; way <= BY_EXECUTE; way++) {
    for (int refuses = 0; refuses < 2; refuses++) {
      script *s = new_script();
      common->way = way;
      s->refuses_prepare = refuses;
      s->takes_cursors = !refuses;
      expect(s, "honest", EDB_DONE, "");
    }
  }
}

/* ---- Files and passwords ------------------------------------------------------------------------- */

static char secret_file[64];

static void plant_secret(void) {
  snprintf(secret_file, sizeof secret_file, "/tmp/edb-hostile.XXXXXX");
  int fd = mkstemp(secret_file);
  if (fd < 0 || write(fd, SECRET "\n", sizeof SECRET) != (ssize_t)sizeof SECRET) abort();
  close(fd);
}

/* The server asks for a file wherever it may speak. */
static void test_infile(void) {
  static const struct {
    point where;
    int way, refuses;
  } asks[] = {
      {SETUP, BY_PREPARE, 0},
      {QUERY, BY_QUERY, 1},
      {QUERY, BY_EXECUTE, 0},
      {EXECUTE, BY_PREPARE, 0},
  };
  for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
    char request[80], name[40];
    int sequence = 1;
    script *s = new_script();
    int n = snprintf(request, sizeof request, "\xfb%s", secret_file);
    raw_packet(&s->answers[asks[i].where], &sequence, request, (size_t)n);
    common->way = asks[i].way;
    s->refuses_prepare = asks[i].refuses;
    snprintf(name, sizeof name, "LOCAL INFILE at %d, by %d", (int)asks[i].where, asks[i].way);
    expect(s, name, EDB_FAILED, "infile forbidden");
  }
  /* No answer to COM_STMT_PREPARE is such a request: the library takes it for something else. */
  int sequence = 1;
  script *s = new_script();
  raw_packet(&s->answers[PREPARE], &sequence, "\xfb/etc/hostname", 14);
  common->control.ends = 1 << PREPARE;
  expect(s, "LOCAL INFILE at PREPARE", EDB_CLOSED, "");
}

static void ask_plugin(bytes *out, const char *name, const char *data, size_t n) {
  int sequence = 2;
  bytes body = {0};
  put_int(&body, 0xfe, 1);
  put(&body, name, strlen(name) + 1);
  put(&body, data, n);
  packet(out, &sequence, &body);
}

/* Another way to log in: none may have the password sent as it is. */
static void test_plugins(void) {
  static const char *const names[] = {
      "no_such_plugin",  "mysql_clear_password",  "dialog", "auth_gssapi_client",
      "sha256_password", "caching_sha2_password", "",       "../../../tmp/x"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    script *s = new_script();
    ask_plugin(&s->answers[LOGIN], names[i], "abcdefghijklmnopqrst", 21);
    expect(s, names[i], EDB_FAILED, "");
  }
  /* The same from the first. */
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    script *s = new_script();
    greeting(&s->answers[GREETING], 10, "8.0.36", CAPABILITY_ALL, names[i]);
    int sequence = 2;
    error_packet(&s->answers[LOGIN], &sequence, 1045, "#28000Access denied for user 'u'");
    expect(s, names[i], EDB_FAILED, "");
  }
}

/* ---- Greetings --------------------------------------------------------------------------------- */

static void test_greetings(void) {
  static const struct {
    const char *name, *words;
    int protocol;
    uint32_t capabilities;
    int code;
  } greetings[] = {
      {"protocol 9", "", 9, CAPABILITY_ALL, EDB_FAILED},
      {"protocol 254", "", 254, CAPABILITY_ALL, EDB_DONE}, /* newer ones may be spoken to */
      {"before 4.1", "", 10, CAPABILITY_ALL & ~(uint32_t)CAPABILITY_41, EDB_DONE},
      {"old passwords", "", 10, CAPABILITY_ALL & ~(uint32_t)CAPABILITY_SECURE, EDB_DONE},
  };
  for (size_t i = 0; i < sizeof greetings / sizeof greetings[0]; i++) {
    script *s = new_script();
    greeting(&s->answers[GREETING], greetings[i].protocol, "5.5.5-10.11.6-MariaDB",
             greetings[i].capabilities, "mysql_native_password");
    expect(s, greetings[i].name, greetings[i].code, greetings[i].words);
  }
  static const struct {
    int number;
    const char *text, *words;
  } errors[] = {
      {1040, "Too many connections", "Too many connections"},
      {1040, "#08004Too many connections", "Too many connections"},
      {1129, "Host 'x' is blocked because of many connection errors", "blocked"},
      {1130, "#HY000Host 'x' is not allowed to connect", "not allowed"},
      {2026, "", ""},
      {0, "#", ""},
  };
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    for (int login = 0; login < 2; login++) {
      int sequence = login ? 2 : 0;
      script *s = new_script();
      error_packet(&s->answers[login ? LOGIN : GREETING], &sequence, errors[i].number,
                   errors[i].text);
      expect(s, errors[i].text, EDB_FAILED, errors[i].words);
    }
  }
}

/* Bytes that are no MySQL at all, or next to nothing, wherever an answer is due. */
static void test_garbage(void) {
  static const struct {
    const char *bytes;
    size_t n;
  } garbage[] = {
      {"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 47},
      {"SSH-2.0-OpenSSH_9.2\r\n", 21},
      {"\0\0\0\0", 4},
      {"\0\0\0\1", 4},
      {"\0\0\0\2", 4},
      {"\1\0\0\0\xff", 5},
      {"\1\0\0\1\xff", 5},
      {"\1\0\0\2\xff", 5},
      {"\2\0\0\1\xff\1", 6},
      {"\1\0\0\0\n", 5},
      {"\1\0\0\1\0", 5},
      {"\1\0\0\2\0", 5},
      {"\1\0\0\1\xfb", 5},
      {"\1\0\0\1\xfc", 5},
      {"\1\0\0\1\xfd", 5},
      {"\1\0\0\1\xfe", 5},
      {"\1\0\0\2\xfe", 5},
      {"\3\0\0\1\xfc\xff\xff", 7},
      {"\4\0\0\1\xfd\xff\xff\xff", 8},
      {"\x9\0\0\1\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", 13},
      {"\x9\0\0\1\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 13},
      {"\xff\xff\xff\0", 4},
      {"\xff\xff\xff\1", 4},
      {"\xff\xff\xff\2", 4},
      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10},
      {"\1\0\0\7\0", 5},
  };
  static const struct {
    point where;
    int way, refuses;
  } places[] = {{GREETING, BY_PREPARE, 0}, {LOGIN, BY_PREPARE, 0},   {SETUP, BY_PREPARE, 0},
                {PREPARE, BY_PREPARE, 0},  {EXECUTE, BY_PREPARE, 0}, {QUERY, BY_QUERY, 1},
                {QUERY, BY_EXECUTE, 0}};
  host.timeout_ms = 300;
  for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
    for (size_t j = 0; j < sizeof places / sizeof places[0]; j++) {
      char name[60];
      script *s = new_script();
      put(&s->answers[places[j].where], garbage[i].bytes, garbage[i].n);
      common->control.ends = 1 << places[j].where;
      common->way = places[j].way;
      s->refuses_prepare = places[j].refuses;
      snprintf(name, sizeof name, "garbage %zu at place %zu", i, j);
      int status = rogue_run(s, client_once);
      int held = check_always(s, status, name);
      held &= CHECK(s->reached >> places[j].where & 1);
      /* An OK with no more than its first byte is still taken for one by some libraries. */
      held &= CHECK(common->o.rows == 0 && common->o.wrong == 0);
      if (common->o.rc != EDB_DONE) held &= CHECK(common->o.message[0] != '|');
      if (!held) printf("  in: %s; %d %s\n", name, common->o.rc, common->o.message);
      rogue_free(s);
    }
  }
  host.timeout_ms = 3000;
}

/* ---- Rows and columns -------------------------------------------------------------------------------- */

/* A result of one column "c", announced by PREPARE too, with a row of these bytes behind its NULL bitmap. */
static void one_column(script *s, const definition *d, const void *row, size_t n) {
  int sequence = 1;
  bytes body = {0};
  honest_prepared(&s->answers[PREPARE], &sequence, d, 1, 1);
  bytes *out = &s->answers[EXECUTE];
  sequence = 1;
  column_count(out, &sequence, 1);
  definition_packet(out, &sequence, d);
  eof_packet(out, &sequence, STATUS_AUTOCOMMIT);
  put(&body, "\0\0", 2);
  put(&body, row, n);
  packet(out, &sequence, &body);
  eof_packet(out, &sequence, STATUS_AUTOCOMMIT);
}

/* What a value of the type can be in bytes that it cannot be. A row that comes all the same is lent as text, or as
** what the library makes of it; that it is one row, and no crash, is what counts there. */
static void test_values(void) {
  static const struct {
    const char *name;
    definition d;
    const char *row;
    size_t n;
    int code;
    const char *words;
  } lies[] = {
#define ROW(bytes) bytes, sizeof(bytes) - 1
#define TEXT(name) {name, TYPE_VAR_STRING, 0, CHARSET_UTF8MB4, 0, 400}
#define MOMENT(type)                                                                               \
  { "c", type, FLAG_BINARY, CHARSET_BINARY, 6, 26 }
      {"text to the end", TEXT("c"), ROW("\3abc"), EDB_DONE, ""},
      {"text past the end", TEXT("c"), ROW("\4abc"), EDB_CLOSED, "Malformed packet"},
      {"text of 65535 bytes", TEXT("c"),
       ROW("\xfc\xff\xff"
           "abc"),
       EDB_CLOSED, "Malformed packet"},
      {"text of 16 MB", TEXT("c"),
       ROW("\xfd\xff\xff\xff"
           "abc"),
       EDB_CLOSED, "Malformed packet"},
      {"text of 2^63 bytes", TEXT("c"),
       ROW("\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"
           "abc"),
       EDB_CLOSED, "Malformed packet"},
      {"text of 2^64 bytes", TEXT("c"),
       ROW("\xfe\xff\xff\xff\xff\xff\xff\xff\xff"
           "abc"),
       EDB_CLOSED, "Malformed packet"},
      {"bytes behind the last column", TEXT("c"), ROW("\3abcdefgh"), EDB_DONE, ""},
      {"bigint of 4 bytes",
       {"c", TYPE_LONGLONG, 0, CHARSET_BINARY, 0, 20},
       ROW("\1\2\3\4"),
       EDB_CLOSED,
       "Malformed packet"},
      {"double of 7 bytes",
       {"c", TYPE_DOUBLE, 0, CHARSET_BINARY, 31, 22},
       ROW("\1\2\3\4\5\6\7"),
       EDB_CLOSED,
       "Malformed packet"},
      {"datetime of 3 bytes", MOMENT(TYPE_DATETIME), ROW("\3\xea\7\2"), EDB_DONE, ""},
      {"datetime of 12 bytes", MOMENT(TYPE_DATETIME), ROW("\14\xea\7\2\1\1\1\1\0\0\0\0\0"),
       EDB_DONE, ""},
      {"datetime of 200 bytes", MOMENT(TYPE_DATETIME), ROW("\xc8\xea\7\2\1\1\1\1"), EDB_CLOSED,
       "Malformed packet"},
      {"datetime of 255 bytes", MOMENT(TYPE_DATETIME), ROW("\xff\xea\7\2\1\1\1\1"), EDB_DONE, ""},
      {"datetime past the end", MOMENT(TYPE_DATETIME), ROW("\13\xea\7\2\1"), EDB_CLOSED,
       "Malformed packet"},
      {"month 99", MOMENT(TYPE_DATETIME), ROW("\7\xea\7\x63\x63\x63\x63\x63"), EDB_DONE, ""},
      {"time of 3 bytes", MOMENT(TYPE_TIME), ROW("\3\0\1\0"), EDB_DONE, ""},
      {"time of 13 bytes", MOMENT(TYPE_TIME), ROW("\15\0\1\0\0\0\1\1\1\0\0\0\0\0"), EDB_DONE, ""},
      {"time of 2^32 - 1 days", MOMENT(TYPE_TIME),
       ROW("\14\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), EDB_DONE, ""},
      {"decimal of letters",
       {"c", TYPE_NEWDECIMAL, 0, CHARSET_BINARY, 2, 12},
       ROW("\3abc"),
       EDB_DONE,
       ""},
      {"decimal past the end",
       {"c", TYPE_NEWDECIMAL, 0, CHARSET_BINARY, 2, 12},
       ROW("\7-12.50"),
       EDB_CLOSED,
       "Malformed packet"},
      {"bit of 9 bytes",
       {"c", TYPE_BIT, FLAG_UNSIGNED, CHARSET_BINARY, 0, 64},
       ROW("\11"
           "123456789"),
       EDB_FAILED,
       "column \"c\": the server sent what is no bit"},
      {"geometry of 3 bytes",
       {"c", TYPE_GEOMETRY, FLAG_BINARY, CHARSET_BINARY, 0, 400},
       ROW("\3abc"),
       EDB_FAILED,
       "column \"c\": the server sent what is no geometry"},
      {"type 99", {"c", 99, 0, CHARSET_BINARY, 0, 20}, ROW("\3abc"), EDB_CLOSED, "field type"},
#undef ROW
#undef TEXT
#undef MOMENT
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    script *s = new_script();
    one_column(s, &lies[i].d, lies[i].row, lies[i].n);
    int status = rogue_run(s, client_once);
    int held = check_always(s, status, lies[i].name) & CHECK_INT(common->o.rc, lies[i].code);
    held &= CHECK_INT(common->o.rows, lies[i].code == EDB_DONE);
    held &= CHECK(strstr(common->o.message, lies[i].words) != NULL);
    if (!held) printf("  in: %s; %s\n", lies[i].name, common->o.message);
    rogue_free(s);
  }
}

/* Values longer than one packet of the protocol can be, whole and cut off. */
static void test_long_values(void) {
  static const definition blob = {"c", TYPE_BLOB, FLAG_BINARY, CHARSET_BINARY, 0, 0xffffffff};
  for (int cut = 0; cut < 2; cut++) {
    const size_t n = 0xffffff + 1000;
    script *s = new_script();
    bytes row = {0};
    put_int(&row, 0xfe, 1);
    put_int(&row, n, 8);
    char *value = calloc(1, n);
    if (!value) abort();
    put(&row, value, n);
    one_column(s, &blob, row.p, row.n);
    free(value);
    free(row.p);
    if (cut) { /* only the first of the row's two packets is there */
      s->answers[EXECUTE].n = 9 + 0xffffff;
      common->control.ends = 1 << EXECUTE;
    }
    int status = rogue_run(s, client_once);
    check_always(s, status, "a value of 16 MB");
    CHECK_INT(common->o.rc, cut ? EDB_CLOSED : EDB_DONE);
    CHECK_INT(common->o.rows, !cut);
    rogue_free(s);
  }
}

enum { ERROR_THEN, EOF_THEN, ANOTHER };

/* Answers to EXECUTE that are made of honest parts in the wrong order. */
static void test_order(void) {
  static const struct {
    const char *name;
    int announced, definitions; /* columns */
    int head_eof, rows, then, code, got;
    const char *words;
  } orders[] = {
      {"an error behind a row", 8, 8, 1, 1, ERROR_THEN, EDB_INTERRUPTED, 1,
       "Query execution was interrupted"},
      {"an error before the rows", 8, 8, 1, 0, ERROR_THEN, EDB_INTERRUPTED, 0,
       "Query execution was interrupted"},
      {"an end before the rows", 8, 8, 1, 0, EOF_THEN, EDB_DONE, 0, ""},
      {"more definitions than announced", 7, 8, 1, 3, EOF_THEN, EDB_CLOSED, 0, ""},
      {"fewer definitions than announced", 9, 8, 1, 3, EOF_THEN, EDB_CLOSED, 0, ""},
      {"no end of the definitions", 8, 8, 0, 3, EOF_THEN, EDB_CLOSED, 0, ""},
      {"no definitions", 8, 0, 1, 3, EOF_THEN, EDB_CLOSED, 0, ""},
      {"another result that never comes", 8, 8, 1, 3, ANOTHER, EDB_CLOSED, 3, ""},
  };
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    script *s = new_script();
    bytes *out = &s->answers[EXECUTE];
    int sequence = 1;
    column_count(out, &sequence, (uint64_t)orders[i].announced);
    definition_packets(out, &sequence, honest_columns, (size_t)orders[i].definitions);
    int more = orders[i].then == ANOTHER ? STATUS_MORE_RESULTS : 0;
    if (orders[i].head_eof) eof_packet(out, &sequence, STATUS_AUTOCOMMIT | more);
    for (int row = 0; row < orders[i].rows; row++) binary_row(out, &sequence, row);
    if (orders[i].then == ERROR_THEN) {
      error_packet(out, &sequence, 1317, "#70100Query execution was interrupted");
    } else { /* libmariadb goes by the status before the rows */
      eof_packet(out, &sequence, STATUS_AUTOCOMMIT | more);
      common->control.ends = 1 << EXECUTE;
    }
    int status = rogue_run(s, client_once);
    int held = check_always(s, status, orders[i].name);
    held &= CHECK_INT(common->o.rc, orders[i].code) & CHECK_INT(common->o.rows, orders[i].got);
    held &=
        CHECK_INT(common->o.wrong, 0) & CHECK(strstr(common->o.message, orders[i].words) != NULL);
    if (!held) {
      printf("  in: %s; rc %d, %d rows, %s\n", orders[i].name, common->o.rc, common->o.rows,
             common->o.message);
    }
    rogue_free(s);
  }
}

/* More than one result, of which the first counts, and results where none was to be. */
static void test_results(void) {
  for (int second = 0; second < 2; second++) {
    script *s = new_script();
    int sequence = 1;
    honest_result(&s->answers[EXECUTE], &sequence, 1, STATUS_AUTOCOMMIT | STATUS_MORE_RESULTS);
    if (second)
      honest_result(&s->answers[EXECUTE], &sequence, 1, STATUS_AUTOCOMMIT | STATUS_MORE_RESULTS);
    ok_packet(&s->answers[EXECUTE], &sequence, STATUS_AUTOCOMMIT);
    expect(s, "more results", EDB_DONE, "");
  }
  script *s = new_script();
  int sequence = 1;
  honest_result(&s->answers[EXECUTE], &sequence, 1, STATUS_AUTOCOMMIT | STATUS_MORE_RESULTS);
  error_packet(&s->answers[EXECUTE], &sequence, 1146, "#42S02Table 'd.t' doesn't exist");
  expect(s, "an error behind the result", EDB_INVALID_QUERY, "doesn't exist");
  s = new_script();
  sequence = 1;
  common->way = BY_EXECUTE;
  honest_result(&s->answers[QUERY], &sequence, 0, STATUS_AUTOCOMMIT);
  expect(s, "rows of a statement that has none", EDB_DONE, "");
}

/* What PREPARE says of parameters and columns. */
static void test_prepared(void) {
  static const struct {
    const char *name;
    int columns, parameters;
    int definitions, code;
    const char *words;
  } lies[] = {
      {"no parameter", 8, 0, 1, EDB_INVALID_QUERY, "parameters"},
      {"65535 parameters", 8, 65535, 0, EDB_CLOSED, ""},
      {"65535 columns", 65535, 1, 0, EDB_CLOSED, ""},
      {"columns without definitions", 8, 1, 0, EDB_CLOSED, ""},
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    script *s = new_script();
    int sequence = 1;
    if (lies[i].definitions) {
      honest_prepared(&s->answers[PREPARE], &sequence, honest_columns, HONEST_COLUMNS,
                      lies[i].parameters);
    } else {
      prepared_packet(&s->answers[PREPARE], &sequence, lies[i].columns, lies[i].parameters);
      common->control.ends = 1 << PREPARE;
    }
    expect(s, lies[i].name, lies[i].code, lies[i].words);
  }
}

int main(void) {
  if (!set_up("mysql_hostile")) return 0;
  plant_secret();
  test_honest();
  test_infile();
  test_plugins();
  unlink(secret_file);
  test_greetings();
  test_garbage();
  test_values();
  test_long_values();
  test_order();
  test_results();
  test_prepared();
  return unit_done("mysql_hostile");
}
