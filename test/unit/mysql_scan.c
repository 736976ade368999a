/*
** The scanner of the MySQL driver's text protocol: which `?` stand for parameters, as MySQL's lexer sees it.
*/
#include "unit.h"

#include "drivers/mysql.h"

static const my_lexer mysql80 = {0, 0, 80036}, plain = {1, 0, 80036}, mariadb = {0, 1, 101119};

/* The SQL with each parameter shown as @; "second" where a second statement begins. */
static const char *scanned(const my_lexer *lexer, const char *sql) {
  static char out[400];
  size_t n = strlen(sql), from = 0, at;
  memcpy(out, sql, n + 1);
  while ((at = my_scan(lexer, sql, n, from)) < n) {
    out[at] = '@';
    from = at + 1;
  }
  return at == n ? out : "second";
}

static const struct {
  const my_lexer *lexer;
  const char *sql, *expected;
} cases[] = {
    {&mysql80, "", ""},
    {&mysql80, "?", "@"},
    {&mysql80, "SELECT ?, ? + ?", "SELECT @, @ + @"},
    {&mysql80, "SELECT '?', ?", "SELECT '?', @"},
    {&mysql80, "SELECT \"?\", ?", "SELECT \"?\", @"},
    {&mysql80, "SELECT `?`, ?", "SELECT `?`, @"},
    {&mysql80, "SELECT N'?', _utf8mb4'?', x'?', ?", "SELECT N'?', _utf8mb4'?', x'?', @"},
    /* Quotes in strings: doubled, escaped, of the other kind. */
    {&mysql80, "SELECT 'it''s ?', ?", "SELECT 'it''s ?', @"},
    {&mysql80, "SELECT 'it\\'s ?', ?", "SELECT 'it\\'s ?', @"},
    {&mysql80, "SELECT 'a\\\\', ?", "SELECT 'a\\\\', @"},
    {&mysql80, "SELECT 'a\\\\\\'?', ?", "SELECT 'a\\\\\\'?', @"},
    {&mysql80, "SELECT \"a\"\"?\", ?", "SELECT \"a\"\"?\", @"},
    {&mysql80, "SELECT \"it's ?\", ?", "SELECT \"it's ?\", @"},
    {&mysql80, "SELECT 'say \"?', ?", "SELECT 'say \"?', @"},
    {&mysql80, "SELECT `a``?`, ?", "SELECT `a``?`, @"},
    {&mysql80, "SELECT `a\\`, ?", "SELECT `a\\`, @"},
    {&mysql80, "SELECT '', ?, ''", "SELECT '', @, ''"},
    /* NO_BACKSLASH_ESCAPES */
    {&plain, "SELECT 'a\\', ?", "SELECT 'a\\', @"},
    {&plain, "SELECT \"a\\\", ?", "SELECT \"a\\\", @"},
    {&plain, "SELECT 'it\\''s ?', ?", "SELECT 'it\\''s ?', @"},
    {&mysql80, "SELECT 'a\\', ?", "SELECT 'a\\', ?"},
    /* What does not end. */
    {&mysql80, "SELECT ?, '?", "SELECT @, '?"},
    {&mysql80, "SELECT ?, '?\\", "SELECT @, '?\\"},
    {&mysql80, "SELECT ?, \"?", "SELECT @, \"?"},
    {&mysql80, "SELECT ?, `?", "SELECT @, `?"},
    {&mysql80, "SELECT ? /* ?", "SELECT @ /* ?"},
    {&mysql80, "SELECT ? /", "SELECT @ /"},
    {&mysql80, "SELECT ? -", "SELECT @ -"},
    {&mysql80, "SELECT ? /*", "SELECT @ /*"},
    {&mysql80, "SELECT ? /*!", "SELECT @ /*!"},
    {&mysql80, "SELECT ? *", "SELECT @ *"},
    /* Comments. */
    {&mysql80, "SELECT ? -- ?\n, ?", "SELECT @ -- ?\n, @"},
    {&mysql80, "SELECT ? --\t?\n, ?", "SELECT @ --\t?\n, @"},
    {&mysql80, "SELECT ? --\n, ?", "SELECT @ --\n, @"},
    {&mysql80, "SELECT ? --", "SELECT @ --"},
    {&mysql80, "SELECT 1--?, ?", "SELECT 1--@, @"},
    {&mysql80, "SELECT 1---?", "SELECT 1---@"},
    {&mysql80, "SELECT ? -- it's\n, ?", "SELECT @ -- it's\n, @"},
    {&mysql80, "SELECT ? # ? it's\n, ?", "SELECT @ # ? it's\n, @"},
    {&mysql80, "SELECT ?#", "SELECT @#"},
    {&mysql80, "SELECT /* ? it's */ ?", "SELECT /* ? it's */ @"},
    {&mysql80, "SELECT /* ? /* ? */ ?", "SELECT /* ? /* ? */ @"},
    {&mysql80, "SELECT /**/ ?", "SELECT /**/ @"},
    {&mysql80, "SELECT /*/ ? */ ?", "SELECT /*/ ? */ @"},
    {&mysql80, "SELECT 1 /*+ ? */, ?", "SELECT 1 /*+ ? */, @"},
    {&mysql80, "SELECT '/*', ?, '*/'", "SELECT '/*', @, '*/'"},
    {&mysql80, "SELECT '-- ', ?", "SELECT '-- ', @"},
    {&mysql80, "SELECT 2 * ? / ?", "SELECT 2 * @ / @"},
    {&mysql80, "SELECT ?/?", "SELECT @/@"},
    /* Comments whose text is SQL for some servers. */
    {&mysql80, "SELECT /*! ?, */ ?", "SELECT /*! @, */ @"},
    {&mysql80, "SELECT /*!80000 ?, */ ?", "SELECT /*!80000 @, */ @"},
    {&mysql80, "SELECT /*!80036 ?, */ ?", "SELECT /*!80036 @, */ @"},
    {&mysql80, "SELECT /*!80037 ?, */ ?", "SELECT /*!80037 ?, */ @"},
    {&mysql80, "SELECT /*!080000 ?, */ ?", "SELECT /*!080000 @, */ @"},
    {&mysql80, "SELECT /*!100000 ?, */ ?", "SELECT /*!100000 ?, */ @"},
    {&mysql80, "SELECT /*!99999 /* ? */ ?, */ ?", "SELECT /*!99999 /* ? */ ?, */ @"},
    {&mysql80, "SELECT /*!50000 /* ? */ ?, */ ?", "SELECT /*!50000 /* ? */ @, */ @"},
    {&mysql80, "SELECT /*!50000 '*/?', */ ?", "SELECT /*!50000 '*/?', */ @"},
    {&mysql80, "SELECT /*M! ?, */ ?", "SELECT /*M! ?, */ @"},
    {&mysql80, "SELECT /*M!50000 ?, */ ?", "SELECT /*M!50000 ?, */ @"},
    {&mariadb, "SELECT /*M! ?, */ ?", "SELECT /*M! @, */ @"},
    {&mariadb, "SELECT /*M!101100 ?, */ ?", "SELECT /*M!101100 @, */ @"},
    {&mariadb, "SELECT /*M!110000 ?, */ ?", "SELECT /*M!110000 ?, */ @"},
    {&mariadb, "SELECT /*!100000 ?, */ ?", "SELECT /*!100000 @, */ @"},
    {&mariadb, "SELECT /*!50500 ?, */ ?", "SELECT /*!50500 @, */ @"},
    {&mariadb, "SELECT /*!50700 ?, */ ?", "SELECT /*!50700 ?, */ @"},
    {&mariadb, "SELECT /*!80000 ?, */ ?", "SELECT /*!80000 ?, */ @"},
    {&mariadb, "SELECT /*!99999 ?, */ ?", "SELECT /*!99999 ?, */ @"},
    /* One statement at a time. */
    {&mysql80, "SELECT ?;", "SELECT @;"},
    {&mysql80, "SELECT ? ; \n -- done\n /* ? */ # ?", "SELECT @ ; \n -- done\n /* ? */ # ?"},
    {&mysql80, "SELECT ?;;", "SELECT @;;"},
    {&mysql80, "SELECT ?; SELECT 1", "second"},
    {&mysql80, "SELECT ?; ?", "second"},
    {&mysql80, "SELECT ?; 'x'", "second"},
    {&mysql80, "SELECT ?; `x`", "second"},
    {&mysql80, "SELECT ';', ?", "SELECT ';', @"},
    {&mysql80, "SELECT `;`, ?", "SELECT `;`, @"},
    {&mysql80, "SELECT /* ; */ ?", "SELECT /* ; */ @"},
    {&mysql80, "SELECT 1 -- ;\n, ?", "SELECT 1 -- ;\n, @"},
    {&mysql80, "SELECT 1 # ;\n, ?", "SELECT 1 # ;\n, @"},
    /* Letters beyond ASCII are not looked into: no byte of UTF-8's is a quote. */
    {&mysql80, "SELECT '\xc3\xa9?', ?, \xe2\x82\xac", "SELECT '\xc3\xa9?', @, \xe2\x82\xac"},
};

static void test_cases(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    unit_check_str(scanned(cases[i].lexer, cases[i].sql), cases[i].expected, __FILE__, __LINE__,
                   cases[i].sql);
  }
}

/* The end of what was given is the end, wherever it is. */
static void test_prefixes(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[200];
    size_t n = strlen(cases[i].sql);
    for (size_t k = 0; k <= n; k++) {
      memcpy(text, cases[i].sql, k);
      memset(text + k, '?', sizeof text - k);
      size_t from = 0, at;
      while ((at = my_scan(cases[i].lexer, text, k, from)) < k) from = at + 1;
      CHECK(at == k || at == MY_SCAN_SECOND);
    }
  }
}

static const struct {
  const char *sql;
  int reads;
} statements[] = {
    {"SELECT 1", 1},
    {"  (SELECT 1)", 1},
    {"-- it's\n/* hi */ # x\nselect 1", 1},
    {"TABLE t", 1},
    {"VALUES ROW(1)", 1},
    {"SHOW TABLES", 1},
    {"DESCRIBE t", 1},
    {"WITH a AS (SELECT 1) SELECT * FROM a", 1},
    {"WITH a AS (SELECT 1) DELETE FROM t", 0},
    {"WITH a AS (SELECT 1) UPDATE t SET x=1", 0},
    {"SELECT 1 INTO OUTFILE 'x'", 0},
    {"SELECT intox FROM t", 1},
    {"SELECTED", 0},
    {"INSERT INTO t VALUES (1) RETURNING id", 0},
    {"CALL p()", 0},
    {"EXPLAIN SELECT 1", 0},
    {"", 0},
    {"'SELECT'", 0},
};

int main(void) {
  test_cases();
  test_prefixes();
  for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
    unit_check_int(my_only_reads(statements[i].sql), statements[i].reads, __FILE__, __LINE__,
                   statements[i].sql);
  }
  CHECK_STR(my_first_word(" /* a */ (-- b\n SELECT 1"), "SELECT 1");
  CHECK_STR(my_first_word("  "), "");
  CHECK_STR(my_first_word("`SELECT`"), "`SELECT`");
  return unit_done("mysql_scan");
}
