# What ship.test and ship_sqlite.test have in common: text on a server under collations of every sort, and each way to
# ask for it, against a local copy.  $kind is the server's; [on_server SQL] runs SQL there without edb.

namespace eval ship {
  # The columns of each kind: name, type, whether it takes but what latin1 has.  Their collations disregard case, accents
  # and blanks at the end, or not; some have their own opinion of ASCII's letters.
  array set columns {
    postgresql {
      plain {text} 0 bytes {text COLLATE "C"} 0 vc {varchar(40) COLLATE "POSIX"} 0 turkish {text COLLATE "tr-x-icu"} 0
      nocase {text COLLATE nocase} 0 padded {char(8)} 0
    }
    mysql {
      ci {varchar(40) COLLATE utf8mb4_general_ci} 0 uni {text COLLATE utf8mb4_unicode_ci} 0 bin {varchar(40) COLLATE utf8mb4_bin} 0
      nopad {varchar(40) COLLATE utf8mb4_nopad_bin} 0 turkish {varchar(40) COLLATE utf8mb4_turkish_ci} 0
      latin {varchar(40) CHARACTER SET latin1} 1 cs {varchar(40) CHARACTER SET latin1 COLLATE latin1_general_cs} 1
      padded {char(12)} 0
    }
    sqlserver {
      ci nvarchar(40) 0 cs {nvarchar(40) COLLATE Latin1_General_CS_AS} 0 bin {nvarchar(40) COLLATE Latin1_General_100_BIN2} 0
      latin varchar(40) 1 utf8 {varchar(80) COLLATE Latin1_General_100_CI_AS_SC_UTF8} 0 padded nchar(12) 0
    }
    sqlite { plain text 0 vc varchar(40) 0 nocase {text COLLATE NOCASE} 0 rtrim {text COLLATE RTRIM} 0 }
  }
  # Values, as SQL of SQLite's: those of latin1 first.
  variable latin {
    '' 'a' 'A' 'ab' 'aB' 'abc' 'Abc' 'b' 'Z' {'a '} {'a  '} {' a'} 'i' 'I' 'k' 'ss' 'a%b' 'a_b' 'a!b' 'a[b' 'a]b' {'a\b'} 'a*b' 'a?b' '%'
    '_' '5' '05' '5.0' 'a-b' 'a^b' '~' {'a'||char(1)} {'a'||char(9)||'b'} 'é' 'É' 'ä' 'ß' NULL
  }
  variable wide {
    {'e'||char(769)} char(8490) char(304) char(305) '日本' char(0x1F600) {'a'||char(0x1F600)||'b'} char(0xE000) char(0xFFFD)
    char(0xFFFC) char(0xFFFF)
  }
  variable nul { {'a'||char(0)||'b'} {'ab'||char(0)} }
  variable patterns {
    '' '%' '_' 'a' 'A%' '%B' 'a_b' 'a!_%' 'a!b' 'a[%' '%]b' '[a]%' {'a\%'} '%!%' 'a%b%' '__' 'é' 'É' '%ß%' 'i' 'I' 'K' 'SS' '5' 5 5.0 '0%'
    '日_' {char(0x1F600)} {'a_b'} {'_'||char(769)} {'a '} {'%'||char(0xFFFD)||'%'} {'a'||char(1)} {x'61'} NULL 'a^b' 'a-%'
  }
  variable globs {
    '' '*' '?' 'a' 'A*' '*B' 'a?b' 'a[%]b' 'a[*]b' '[ab]*' '[^a]*' 'a[]]b' '[a-c]' 'a[' '*[!]*' 'É' 'é' '5' '??' {'?'||char(769)} '日?'
    {char(0x1F600)} {'a\b'} 'a!b' 'a_b' 'a%b' '*%*' NULL 'a^b' {'a '}
  }
}

proc ship::setup {} {
  variable columns
  variable latin
  variable wide
  variable nul
  set options [expr {$::kind eq "mysql" ? "CHARACTER SET utf8mb4" : {}}]
  set list {}
  foreach {name type -} $columns($::kind) { append list ", $name $type" }
  on_server "CREATE TABLE words(id int PRIMARY KEY$list) $options"
  execsql "CREATE VIRTUAL TABLE words USING edb(s, 'words')"
  variable values [concat $latin $wide]
  if {$::kind ne "postgresql"} { lappend values {*}$nul }
  set id 0
  foreach value $values {
    set row [incr id]
    foreach {name - narrow} $columns($::kind) {
      lappend row [expr {$narrow && $id > [llength $latin] ? "NULL" : $value}]
    }
    execsql "INSERT INTO words VALUES ([join $row {, }])"
  }
  copy words
  execsql { CREATE TABLE numbers(v NUMERIC); INSERT INTO numbers VALUES (''), (' '), ('3x'), ('-'), ('5a'), ('x'), ('05.'), (5), (NULL) }
}

# The conditions, @ = the column, that do not hold for the same rows in both.
proc ship::differences {column conditions} {
  set wrong {}
  foreach condition $conditions {
    set condition [string map [list @ $column] $condition]
    set expected [catchsql "SELECT id FROM l_words WHERE $condition ORDER BY id"]
    set got [catchsql "SELECT id FROM words WHERE $condition ORDER BY id"]
    if {$expected ne $got} { lappend wrong $condition $expected $got }
  }
  return $wrong
}

proc ship::row_cases {} {
  variable columns
  variable values
  variable patterns
  variable globs
  foreach {column - -} $columns($::kind) {
    set compared {}
    set matched {}
    foreach value $values {
      foreach op {= <> < <= > >= IS {IS NOT}} { lappend compared "@ $op $value" }
      lappend compared "@ BETWEEN 'a' AND $value" "@ IN ($value, 'ab', NULL)"
      foreach function {edb_starts edb_ends edb_contains edb_like} { lappend matched "${function}(@, $value)" }
    }
    foreach pattern $patterns { lappend matched "@ LIKE $pattern" "edb_like(@, $pattern)" "@ NOT LIKE $pattern" }
    foreach pattern $globs { lappend matched "@ GLOB $pattern" }
    lappend matched "@ LIKE 'a!_b' ESCAPE '!'" "edb_like(@, 'a\\_b')" "edb_like(@, 'a\\')" "edb_like(@, '\\%')"
    do_test 1.compared.$column { differences $column $compared } {}
    do_test 1.matched.$column { differences $column $matched } {}
    do_test 1.joined.$column {
      execsql "SELECT count(*) FROM
        (SELECT l.id, r.id FROM l_words AS l, words AS r WHERE r.$column >= l.$column AND r.$column LIKE l.$column || '%'
         EXCEPT SELECT l.id, r.id FROM l_words AS l, l_words AS r WHERE r.$column >= l.$column AND r.$column LIKE l.$column || '%')"
    } 0
    # SQLite makes numbers of text that looks like them where the other side holds numbers, too.
    foreach op {< <= > >= =} {
      do_test 1.beside_numbers.$column$op {
        set sql "SELECT n.rowid, w.id FROM numbers AS n CROSS JOIN @words AS w WHERE w.$column $op n.v"
        expr {[lsort [execsql [string map {@ {}} $sql]]] eq [lsort [execsql [string map {@ l_} $sql]]]}
      } 1
    }
  }
}

# What is sent for each column: the condition, its class at best (exact, superset, unsafe), and what stands behind WHERE.
proc ship::sent_cases {cases} {
  set n 0
  foreach {column condition class clause} $cases {
    set sql "SELECT id FROM words WHERE [string map [list @ $column] $condition]"
    do_test 2.[incr n].class {
      db onecolumn { SELECT json_extract(predicates, '$[#-1].class') FROM edb_explain($sql) }
    } $class
    do_test 2.$n.sent {
      expr {[regexp { WHERE (.*)$} [lindex [sent $sql] end] -> where] ? $where : {}}
    } $clause
  }
}

# LIKE that is not SQLite's own is not sent, whoever put it there; nor is one in a file in UTF-16 by its order.
proc ship::own_cases {column} {
  set plan {[lindex [eqp "SELECT id FROM words WHERE $column LIKE '%a'"] 0]}
  do_test 3.1 { regexp WHERE [subst $plan] } 1
  execsql { PRAGMA case_sensitive_like = 1 }
  do_test 3.2 { regexp WHERE [subst $plan] } 0
  do_test 3.3 { differences $column {{@ LIKE 'A%'}} } {}
  do_test 3.4 { regexp {edb_like|LIKE|like} [eqp "SELECT id FROM words WHERE edb_like($column, 'a%')"] } 1
  reconnect
  db function like {ship::contrary}
  do_test 3.5 { regexp WHERE [subst $plan] } 0
  do_test 3.6 { differences $column {{@ LIKE 'A%'}} } {}
  reconnect
  db function glob {ship::contrary}
  do_test 3.7 { regexp GLOB|LIKE [eqp "SELECT id FROM words WHERE $column GLOB '*a'"] } 0
  do_test 3.8 { differences $column {{@ GLOB 'A*'}} } {}
  reconnect
  db function regexp {ship::contrary}
  do_test 3.9 { regexp WHERE [eqp "SELECT id FROM words WHERE $column REGEXP 'a'"] } 0
}
proc ship::contrary {pattern text} { expr {![string match -nocase [string map {% *} $pattern] $text]} }
proc ship::reconnect {} {
  db close
  open_db
  execsql { SELECT edb_server('s', $::url) }
}

# SQLite tells a table of conditions in the ON of an outer join: they are not of the whole.
proc ship::outer_cases {column} {
  set n 0
  foreach condition {{@ LIKE 'a%'} {@ GLOB 'a*'} {@ <> 'a'} {@ IS NOT 'a'} {edb_starts(@, 'a')}} {
    set on [string map [list @ w.$column] $condition]
    set sql "SELECT w.id, l.id FROM words AS w LEFT JOIN l_words AS l ON l.id = w.id AND $on ORDER BY 1"
    do_test 4.[incr n] { expr {[execsql $sql] eq [execsql [string map {{FROM words} {FROM l_words}} $sql]]} } 1
    do_test 4.$n.inner {
      regexp WHERE [lindex [sent "SELECT w.id FROM words AS w JOIN l_words AS l ON l.id = w.id AND $on"] 0]
    } 1
  }
}

# In a database in UTF-16, SQLite's order of text is another one.
proc ship::utf16_cases {column} {
  sqlite3 wide utf16.db
  wide eval "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(x)"
  wide enable_load_extension 1
  wide eval { SELECT load_extension($::env(EDB_SO)) }
  wide eval { SELECT edb_server('s', $::url) }
  wide eval { CREATE VIRTUAL TABLE words USING edb(s, 'words') }
  do_test 5.1 { regexp WHERE [wide eval "EXPLAIN QUERY PLAN SELECT id FROM words WHERE $column > 'a'"] } 0
  do_test 5.2 { regexp WHERE [wide eval "EXPLAIN QUERY PLAN SELECT id FROM words WHERE $column = 'a'"] } 1
  wide close
}
