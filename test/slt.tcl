# Runs files of SQLite's sqllogictest over remote tables.
#
#   source [file join $dir slt.tcl]             from a suite, after tester.tcl
#   slt::run {file …} local                     in SQLite alone, to see whether a file is right
#   slt::run {file …} $url                      its tables on that server, its queries in SQLite over virtual tables
#
# A file has records with blank lines between: `statement ok`, `statement error`, `query TYPES ?nosort|rowsort|valuesort? ?label?`
# with SQL below and, of a query, its values one a line behind `----`, or `N values hashing to MD5`; `hash-threshold N`, `halt`.
# `skipif NAME` and `onlyif NAME` may stand before a record: what runs the queries is `sqlite`, and a record can be kept
# from a server by its driver's name (skipif mysql) or from all of them (skipif edb).
#
# What makes, fills and drops tables and indexes is sent to the server as it is, and a virtual table is made over each table;
# everything else is SQLite's.  EDB_SLT_WRITES=edb has INSERT, UPDATE and DELETE go through the virtual tables.
# `slt::complete FILE` prints the file with the answers of SQLite alone.

namespace eval slt {
  variable names {}          ;# what skipif and onlyif call us
  variable remote 0          ;# whether tables are on a server
  variable tables {}         ;# those that the file has made
  variable labels            ;# label -> hash of its values
  variable threshold 0
  variable most_failures 20  ;# of a file
}

proc slt::run {files where} {
  variable names
  variable remote [expr {$where ne "local"}]
  set names [expr {$remote ? [list sqlite edb [driver_of $where]] : "sqlite"}]
  foreach file $files {
    reset_db
    if {$remote} { db eval { SELECT edb_server('slt', $where) } }
    set name [file rootname [file tail $file]]
    file_records $file [list slt::check $name]
    drop_tables
  }
}

# Those of EDB_SLT, or our own.
proc slt::files {} {
  if {[info exists ::env(EDB_SLT)] && $::env(EDB_SLT) ne {}} { return $::env(EDB_SLT) }
  lsort [glob $::env(EDB_ROOT)/test/slt/*.slt]
}

# postgresql, mysql, sqlserver, sqlite or odbc.
proc slt::driver_of {url} {
  regexp {^[a-z]+} $url scheme
  string map {mariadb mysql} $scheme
}

# Reading -----------------------------------------------------------------------------------------

# Calls `COMMAND record` for each record that is for us, until it answers false or the file says halt. A record: {line kind
# arguments sql values}, where `values` is {} or {yes value …}.
proc slt::file_records {file command} {
  variable threshold 0
  variable labels
  array unset labels
  set lines [split [string map {\r {}} [servers::read_file $file]] \n]
  set skipped 0
  for {set at 0} {$at < [llength $lines]} {incr at} {
    set words [words_of [lindex $lines $at]]
    set arguments [lassign $words kind]
    switch -- $kind {
      {} continue
      skipif - onlyif { if {([lindex $arguments 0] in $::slt::names) == ($kind eq "skipif")} { set skipped 1 } }
      halt { if {!$skipped} return; set skipped 0 }
      hash-threshold { set threshold [lindex $arguments 0] }
      statement - query {
        set line [expr {$at + 1}]
        set body {}
        while {[set next [lindex $lines [incr at]]] ne {} && $next ne "----"} { lappend body $next }
        set values {}
        if {$next eq "----"} {
          lappend values yes
          while {$at + 1 < [llength $lines] && [set next [lindex $lines [incr at]]] ne {}} { lappend values $next }
        }
        if {!$skipped && ![{*}$command [list $line $kind $arguments [join $body \n] $values]]} return
        set skipped 0
      }
      default { error "$file:[expr {$at + 1}]: what is a $kind?" }
    }
  }
}

# A line's words before its comment.
proc slt::words_of {line} { regexp -all -inline {\S+} [regsub {#.*} $line {}] }

# Checking ----------------------------------------------------------------------------------------

# Answers whether to go on.
proc slt::check {name record} {
  variable most_failures
  lassign $record line kind arguments sql values
  set wrong [check_$kind $arguments $sql $values]
  if {$wrong eq {}} {
    tester::pass $name:$line
    return 1
  }
  tester::fail $name:$line {} "$sql\n$wrong"
  expr {[incr most_failures -1] > 0}
}

proc slt::check_statement {arguments sql values} {
  set failed [catch { execute $sql } message]
  switch [lindex $arguments 0] {
    ok { if {$failed} { return $message } }
    error { if {!$failed} { return "it should fail" } }
    default { return "statement ok or error, not [lindex $arguments 0]" }
  }
}

proc slt::check_query {arguments sql values} {
  variable labels
  lassign $arguments types order label
  if {[catch { answer $sql $types $order } got]} { return $got }
  set hash [hash $got]
  if {$label ne {}} {
    if {[info exists labels($label)] && $labels($label) ne $hash} { return "other values than the query before of label $label" }
    set labels($label) $hash
  }
  if {$values eq {}} return
  set expected [lrange $values 1 end]
  if {[regexp {^(\d+) values hashing to ([0-9a-f]{32})$} [lindex $expected 0] -> n wanted]} {
    if {$n == [llength $got] && $wanted eq $hash} return
    return "expected: $n values hashing to $wanted\n  got:      [llength $got], $hash: [lrange $got 0 40]"
  }
  if {$got eq $expected} return
  return "expected: [lrange $expected 0 100]\n  got:      [lrange $got 0 100]"
}

# The values of a query as text, in order.
proc slt::answer {sql types order} {
  set columns [string length $types]
  set values {}
  set row {}
  set rows {}
  # The number of columns is the statement's own: an empty answer has it, too.
  db nullvalue \x01
  try {
    foreach value [db eval $sql] {
      lappend row [shown $value [string index $types [llength $row]]]
      if {[llength $row] == $columns} {
        lappend rows $row
        set row {}
      }
    }
  } finally { db nullvalue NULL }
  if {$row ne {}} { error "the rows have not $columns columns" }
  switch -- $order {
    {} - nosort {}
    rowsort { set rows [lsort -command slt::compare_rows $rows] }
    valuesort { return [lsort [concat {*}$rows]] }
    default { error "no sort mode $order" }
  }
  concat {*}$rows
}

proc slt::compare_rows {a b} {
  foreach x $a y $b {
    set order [string compare $x $y]
    if {$order} { return $order }
  }
  return 0
}

# As the format has values: NULL, integers, reals to three places, text in printable ASCII.
proc slt::shown {value type} {
  if {$value eq "\x01"} { return NULL }
  switch -- $type {
    I { return [db onecolumn { SELECT CAST($value AS INTEGER) }] }
    R { return [format %.3f [db onecolumn { SELECT CAST($value AS REAL) }]] }
    T {
      if {$value eq {}} { return (empty) }
      return [regsub -all {[^ -~]} [encoding convertto utf-8 $value] @]
    }
  }
  error "types are I, R and T, not $type"
}

proc slt::hash {values} {
  set text {}
  foreach value $values { append text $value\n }
  lindex [exec md5sum << $text] 0
}

# Running -----------------------------------------------------------------------------------------

# Makes it happen on the server, in SQLite, or on both.
proc slt::execute {sql} {
  variable remote
  variable tables
  set name {("[^"]+"|\w+)}
  if {!$remote} { return [db eval $sql] }
  set writes [expr {[info exists ::env(EDB_SLT_WRITES)] && $::env(EDB_SLT_WRITES) eq "edb"}]
  if {[regexp -nocase "^\\s*CREATE\\s+TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?$name" $sql -> table]} {
    db eval { SELECT edb_exec('slt', $sql) }
    lappend tables $table
    set bare [string trim $table \"]
    # Where names are folded, they are so to small letters.
    set there [expr {$bare eq $table && "postgresql" in [list {*}$slt::names [base]] ? [string tolower $bare] : $bare}]
    db eval "CREATE VIRTUAL TABLE $table USING edb(slt, '$there')"
  } elseif {[regexp -nocase "^\\s*DROP\\s+TABLE\\s+(?:IF\\s+EXISTS\\s+)?$name" $sql -> table]} {
    db eval $sql
    set tables [lsearch -all -inline -not -exact $tables $table]
    db eval { SELECT edb_exec('slt', $sql) }
  } elseif {[regexp -nocase {^\s*(CREATE|DROP)\s+(UNIQUE\s+)?INDEX\y} $sql]
            || (!$writes && [regexp -nocase {^\s*(INSERT|REPLACE|UPDATE|DELETE)\y} $sql])} {
    db eval { SELECT edb_exec('slt', $sql) }
  } else {
    db eval $sql
  }
}

# The driver behind ODBC.
proc slt::base {} {
  if {[has_server odbc]} { return [server odbc base] }
}

proc slt::drop_tables {} {
  variable tables
  foreach table $tables { catch { execute "DROP TABLE $table" } }
  set tables {}
}

# The file as it is, with each query's values as SQLite alone has them.
proc slt::complete {file} {
  variable names sqlite
  variable remote 0
  reset_db
  variable lines [split [servers::read_file $file] \n]
  variable inserted 0
  file_records $file slt::complete_record
  puts -nonewline [join $lines \n]
}

proc slt::complete_record {record} {
  variable lines
  variable inserted
  variable threshold
  lassign $record line kind arguments sql values
  if {$kind eq "statement"} {
    catch { execute $sql }
    return 1
  }
  lassign $arguments types order
  set got [answer $sql $types $order]
  if {$threshold > 0 && [llength $got] > $threshold} { set got [list "[llength $got] values hashing to [hash $got]"] }
  # From behind the SQL to the blank line.
  set from [expr {$line + $inserted + [llength [split $sql \n]]}]
  set to $from
  while {$to < [llength $lines] && [lindex $lines $to] ne {}} { incr to }
  set lines [lreplace $lines $from [expr {$to - 1}] ---- {*}$got]
  incr inserted [expr {1 + [llength $got] - ($to - $from)}]
  return 1
}
