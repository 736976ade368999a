# Random tables and queries: what edb answers against what a local copy of the table answers.
#
#   source [file join $dir differential.tcl]
#   differential::run postgresql 600           from a suite, after tester.tcl
#
# A round has its own seed.  It makes some tables on the server and, of each of them, an edb table eN, one
# without pushdown pN and a local copy cN, compares the copies with the server's own rendering of the values,
# and then puts EDB_ROUND queries to e and c, and some of them to p.  In a query <T3> stands for e3, p3 or c3.
#
#   EDB_SEED=n       the first round's seed
#   EDB_QUERIES=n    how many queries, over all rounds
#   EDB_ONLY='q …'   only those queries of each round (a query depends on the seed and its number alone)
#   EDB_ROUND=n      queries a round (60)
#   EDB_PLAIN=n      of a hundred queries, how many go without pushdown, too (30)
#   EDB_SECONDS=n    no round begins after that many
#
# `make fuzz-sql` sets them.  Files: differential_driver.tcl and differential_{mysql,sqlite,sqlserver,odbc}.tcl have what
# differs between servers, differential_query.tcl and differential_whole.tcl the queries, differential_reduce.tcl makes a short one of one that differs.

foreach part {driver mysql sqlite sqlserver odbc query whole reduce} {
  source [file join [file dirname [info script]] differential_$part.tcl]
}
unset part

# Random numbers of our own, so that a seed means the same under each version of Tcl ------------------

namespace eval random { variable state 1 }

proc random::seed {args} {
  variable state 0x9E3779B97F4A7C15
  foreach n $args {
    set state [expr {(($state ^ $n) * 0xD1342543DE82EF95 + 0xB5) & 0xFFFFFFFFFFFFFFFF}]
    set state [expr {$state ^ ($state >> 29)}]
  }
  for {set i 0} {$i < 4} {incr i} { below 2 }
}

# 0 … n-1.
proc random::below {n} {
  variable state
  set state [expr {($state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF}]
  expr {($state >> 33) % $n}
}

proc random::chance {percent} { expr {[below 100] < $percent} }
proc random::pick {list} { lindex $list [below [llength $list]] }

# Of the words in `word weight word weight …`.
proc random::weighted {pairs} {
  set sum 0
  foreach {word weight} $pairs { incr sum $weight }
  set at [below $sum]
  foreach {word weight} $pairs {
    if {[incr at -$weight] < 0} { return $word }
  }
}

proc random::sample {list n} {
  set out {}
  while {$n > 0 && $list ne {}} {
    set i [below [llength $list]]
    lappend out [lindex $list $i]
    set list [lreplace $list $i $i]
    incr n -1
  }
  return $out
}

namespace eval differential {
  variable null \x01                 ;# stands for no value that a table holds
  variable long_table                ;# a local one of 300 rows
  variable tables                    ;# of the round: a list of dicts, see make_table
  variable specs {}                  ;# how the server's tables were made, by index
  variable driver                    ;# and where we are, to be told
  variable round_seed
  variable query_number
  variable seen                      ;# what the planner did in how many queries
  variable spoken                    ;# queries with rows in the answer
}

# A run ---------------------------------------------------------------------------------------------

proc differential::setting {name default} {
  if {[info exists ::env($name)] && $::env($name) ne {}} { return $::env($name) }
  return $default
}

proc differential::run {name queries} {
  variable driver $name
  variable seen
  variable spoken 0
  variable spent {}
  set seed [setting EDB_SEED 1]
  set queries [setting EDB_QUERIES $queries]
  set each [setting EDB_ROUND 60]
  set seconds [setting EDB_SECONDS {}]
  set began [clock milliseconds]
  puts "SQLite [sqlite3 -version], seeds from $seed, $each queries each"
  foreach class [classes] { set seen([lindex $class 0]) 0 }
  ${driver}::define
  set done 0
  for {set at $seed} {$done < $queries && $tester::failed < 20} {incr at} {
    if {$seconds ne {} && [clock milliseconds] - $began > 1000 * $seconds} break
    set n [expr {min($each, $queries - $done)}]
    round $driver $at $n
    incr done $n
  }
  if {[setting EDB_ONLY {}] ne {}} return
  set counts {}
  foreach class [classes] {
    set name [lindex $class 0]
    lappend counts "$name $seen($name)"
    # One in three hundred at least, or the generator has lost its sense.
    if {$done >= 1000} { do_test effective.$name { expr {$seen($name) * 300 >= $done} } 1 }
  }
  puts "of $done queries, $spoken with rows; [join $counts {, }]"
  set took [expr {([clock milliseconds] - $began) / 1000.0}]
  set parts {}
  dict for {part micros} $spent { lappend parts [format "%s %.1f s" $part [expr {$micros / 1e6}]] }
  puts [format "seeds to %d, %.1f s, %.0f queries/s: %s" [expr {$at - 1}] $took [expr {$done / $took}] [join $parts {, }]]
  if {$done >= 300} { do_test effective.rows { expr {$spoken * 2 >= $done} } 1 }
}

# Runs the script in the caller and adds its time to PART.
proc differential::timed {part script} {
  variable spent
  set since [clock microseconds]
  set code [catch {uplevel 1 $script} result options]
  dict incr spent $part [expr {[clock microseconds] - $since}]
  return -options $options $result
}

proc differential::round {driver seed queries} {
  variable tables
  variable round_seed $seed
  variable query_number
  reset_db
  db nullvalue $differential::null
  execsql { PRAGMA synchronous = off }
  ${driver}::connect
  random::seed $seed
  if {[random::chance 12]} { execsql { PRAGMA case_sensitive_like = 1 } }
  set failed $tester::failed
  timed tables { do_test $seed.tables { differential::make_tables $driver $seed } {} }
  if {$tester::failed > $failed} return
  set only [setting EDB_ONLY {}]
  for {set q 1} {$q <= $queries && $tester::failed - $failed < 5} {incr q} {
    if {$only ne {} && $q ni $only} continue
    random::seed $seed $q
    set query_number $q
    do_test $seed.$q { differential::try $driver [differential::query] } {}
  }
  ${driver}::disconnect
}

# Tables --------------------------------------------------------------------------------------------

# Answers what is wrong with their values.
proc differential::make_tables {driver seed} {
  variable tables {}
  variable specs {}
  set wrong {}
  set script {}
  for {set i 0} {$i < 6} {incr i} {
    set spec [${driver}::table $i]
    append script [dict get $spec sql]
    dict set spec index $i
    dict set specs $i $spec
  }
  set channel [open remote-$seed.sql w]
  fconfigure $channel -encoding utf-8
  puts $channel $script
  close $channel
  ${driver}::sql $script
  foreach spec [dict values $specs] rendered [${driver}::render [dict values $specs]] {
    set table [make_table $driver $spec]
    append wrong [compare_values $spec $table $rendered]
    lappend tables $table
  }
  make_local_tables
  return $wrong
}

# A table: {index columns rowid identity rows}; a column: {name class declared values}, where the values
# are SQL literals.
#
# The copy has the columns as they are declared, and the values to the last digit: made without types, since an INSERT
# converts by affinity, which would turn exact text, as edb gives of a decimal of more than 15 digits, into a number.
proc differential::make_table {driver spec} {
  set i [dict get $spec index]
  set options [join [concat [list {}] [dict get $spec options]] {, }]
  set relation [dict get $spec relation]
  foreach {name more} [list e$i [join_options] p$i {, pushdown=0}] {
    execsql "CREATE VIRTUAL TABLE $name USING edb(srv, $relation$options$more)"
  }
  set columns {}
  set names {}
  set definitions {}
  set untyped {}
  set at 0
  db eval "SELECT name, type, hidden FROM pragma_table_xinfo('e$i')" row {
    if {$row(hidden)} continue
    set name \"[string map {\" \"\"} $row(name)]\"
    lappend names $name
    lappend definitions "$name $row(type)"
    lappend untyped "$name[expr {$row(type) in {INTEGER NUMERIC} ? {} : " $row(type)"}]"
    lappend columns [dict create name $name declared $row(type) class [lindex [dict get $spec classes] $at]]
    incr at
  }
  execsql "CREATE TABLE c${i}([join $untyped {, }])"
  set names [join $names {, }]
  # Where there is a rowid, it is part of what is copied; a column may have taken its name.
  set rowid [expr {![regexp -nocase {"(rowid|oid|_rowid_)"} $names]
                   && ![catch {db eval "SELECT rowid FROM p$i"}]}]
  set more [expr {$rowid ? "rowid, " : {}}]
  execsql "INSERT INTO c${i}($more$names) SELECT $more$names FROM p$i"
  set sql "CREATE TABLE c${i}([join $definitions {, }])"
  execsql { PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = $sql WHERE name = 'c' || $i; PRAGMA writable_schema = reset }
  set table [dict create index $i rowid $rowid identity [dict get $spec identity] \
    rows [db eval "SELECT count(*) FROM c$i"] server 1]
  if {$rowid} { lappend columns [dict create name rowid declared INTEGER class int] }
  dict set table columns [lmap column $columns { sample_values c$i $column }]
}

# Joins that keep what comes from the first row on, or a little of it, or nothing.
proc differential::join_options {} {
  set options {}
  if {[random::chance 50]} { append options ", join_lookups=[random::pick {0 1 3 20}]" }
  if {[random::chance 25]} { append options ", join_memory=[random::pick {0 500 3000 64000000}]" }
  return $options
}

# Some of a column's values as SQL literals.
proc differential::sample_values {table column} {
  set values {}
  db eval "SELECT DISTINCT quote([dict get $column name]) AS q FROM $table LIMIT 200" row {
    lappend values [literal $row(q)]
  }
  dict set column values [random::sample $values 40]
}

# What quote() gave as SQL that SQLite reads, in characters that Tcl keeps.
proc differential::literal {quoted} {
  switch $quoted {
    Inf { return 9e999 }
    -Inf { return -9e999 }
  }
  if {[string index $quoted 0] ne "'" } { return $quoted }
  text_literal [string map {'' '} [string range $quoted 1 end-1]]
}

# The rows of the copy and the server's own text of them, which came by another way.
proc differential::compare_values {spec table expected} {
  set i [dict get $table index]
  set names [lmap column [dict get $table columns] { dict get $column name }]
  if {[dict get $table rowid]} { set names [lrange $names 0 end-1] }
  set got [rows [db eval "SELECT [join $names {, }] FROM c$i"] [llength $names]]
  if {[lsort $got] eq [lsort $expected]} return
  return "values of e$i ([dict get $spec relation]):\n[difference $expected $got]"
}

# Local tables with a column of each affinity, filled with the servers' values and others like them.
proc differential::make_local_tables {} {
  variable tables
  foreach {name rows} {l0 30 l1 7} {
    set columns {i INTEGER int r REAL real t TEXT text n NUMERIC numeric x {} blob d DATE date c {TEXT COLLATE NOCASE} text}
    set definitions {}
    foreach {column declared class} $columns { lappend definitions "$column $declared" }
    execsql "CREATE TABLE ${name}([join $definitions {, }])"
    for {set k 0} {$k < $rows} {incr k} {
      set values [lmap {column declared class} $columns { constant [any_column $class] }]
      execsql "INSERT INTO $name VALUES ([join $values {, }])"
    }
    # By this one SQLite finds no rowid, which other columns would equal.
    foreach {column declared class} $columns { execsql "UPDATE $name SET $column = -1.0 WHERE $column = -9223372036854775808.0 AND typeof($column) = 'real'" }
    set described {}
    foreach {column declared class} $columns {
      lappend described [sample_values $name [dict create name $column declared $declared class $class]]
    }
    lappend described [dict create name rowid declared INTEGER class int values {1 2 3 7 8 30 31}]
    set locals($name) [dict create index $name rowid 1 identity 1 rows $rows server 0 columns $described]
  }
  # A long one of the first one's values, which only some queries use.
  variable long_table [dict replace $locals(l0) index l2 rows 300]
  execsql {
    CREATE TABLE l2(i INTEGER, r REAL, t TEXT, n NUMERIC, x, d DATE, c TEXT COLLATE NOCASE);
    INSERT INTO l2 WITH k(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM k LIMIT 300)
      SELECT i.i, r.r, t.t, n.n, x.x, d.d, c.c FROM k, l0 i, l0 r, l0 t, l0 n, l0 x, l0 d, l0 c
       WHERE i.rowid = k * 7 % 30 + 1 AND r.rowid = k * 11 % 30 + 1 AND t.rowid = k * 13 % 30 + 1 AND n.rowid = k * 17 % 30 + 1
         AND x.rowid = k * 19 % 30 + 1 AND d.rowid = k * 23 % 30 + 1 AND c.rowid = k % 30 + 1
  }
  set tables [concat $tables [array_values locals]]
}

proc differential::array_values {name} {
  upvar 1 $name array
  lmap key [lsort [array names array]] { set array($key) }
}

# A column of the class from some table, or any column where there is none.
proc differential::any_column {class} {
  variable tables
  set all {}
  set fitting {}
  foreach table $tables {
    foreach column [dict get $table columns] {
      lappend all $column
      if {[dict get $column class] eq $class} { lappend fitting $column }
    }
  }
  random::pick [expr {$fitting ne {} && [random::chance 80] ? $fitting : $all}]
}

# One query -----------------------------------------------------------------------------------------

# A query is a dict: sql; n, how many columns the result has; v, a list of variables {name class value};
# order, the columns that it is sorted by; full, the same without its LIMIT, where the LIMIT leaves open which rows
# come; loose, 1 where 1 and 1.0 are the same value, so that either may come.
#
# Answers what is wrong.
proc differential::try {driver query} {
  variable spoken
  set plain [expr {[random::below 100] < [setting EDB_PLAIN 30]}]
  set plan [timed plan { catch_plan $query }]
  note_plan $plan
  set expected [timed local { answer $query c }]
  if {[llength $expected] > 1} { incr spoken }
  foreach {variant asked part} [list e 1 pushed p $plain plain] {
    if {!$asked} continue
    set got [timed $part { answer $query $variant }]
    set wrong [compare $query $expected $got]
    if {$wrong ne {} && ![excused $query $got]} {
      return "[describe $query $variant $plan]\n$wrong\n[reduced $query $variant]"
    }
  }
}

# {ok row …} or {error message}.
proc differential::answer {query variant {sql sql}} {
  foreach variable [dict get $query v] { bind {*}$variable }
  # SQLite 3.40 finds too little by an automatic index under RTRIM. The copy goes without any.
  set indexed [expr {$variant ne "c" && ![string match *RTRIM* [dict get $query $sql]]}]
  db eval "PRAGMA automatic_index = $indexed"
  if {[catch {db eval [for_variant [dict get $query $sql] $variant]} values]} {
    return [list error [regsub -all {\m[cep](\d+)\M} $values {<T\1>}]]
  }
  list ok {*}[rows $values [dict get $query n]]
}

proc differential::for_variant {sql variant} {
  regsub -all {<T(\d+)>} $sql "$variant\\1"
}

# In the caller, where db eval looks for it, with a type of Tcl's that tells SQLite's.
proc differential::bind {name class value} {
  upvar 1 $name variable
  unset -nocomplain variable
  switch $class {
    null {}
    integer { set variable [expr {$value + 0}] }
    real { set variable [expr {double($value)}] }
    text { set variable [lindex [db eval "SELECT $value"] 0] }
    blob { set variable [binary decode hex $value] }
  }
}

# Rows of cells that tell values of different types apart.
proc differential::rows {values n} {
  set rows {}
  set row {}
  set left $n
  foreach value $values {
    lappend row [cell $value]
    if {[incr left -1] == 0} {
      lappend rows $row
      set row {}
      set left $n
    }
  }
  return $rows
}

proc differential::cell {value} {
  switch -glob [tcl::unsupported::representation $value] {
    {value is a int*} - {value is a wideInt*} { return i:$value }
    {value is a double*} { return r:[expr {$value == 0 ? "0.0" : $value}] }
    {value is a bytearray*} { return b:[binary encode hex $value] }
  }
  if {$value eq $differential::null} { return null }
  text_cell [binary encode hex [encoding convertto utf-8 $value]]
}

# Rows in which 1 and 1.0 are the same.
proc differential::loosen {rows} {
  lmap row $rows {
    lmap cell $row {
      if {[string match {[ir]:*} $cell]} { string cat n: [number [string range $cell 2 end]] } else { set cell }
    }
  }
}

proc differential::number {text} {
  if {[regexp {^-?\d+\.0$} $text]} { return [string range $text 0 end-2] }
  if {[string is double -strict $text] && abs($text) < 1e22 && $text == entier($text)} {
    return [expr {entier($text)}]
  }
  return $text
}

proc differential::compare {query expected got} {
  if {[lindex $expected 0] ne [lindex $got 0] || [lindex $got 0] eq "error"} {
    if {$expected eq $got} return
    return "expected: [string range $expected 0 400]\n  got:      [string range $got 0 400]"
  }
  set expected [lrange $expected 1 end]
  set got [lrange $got 1 end]
  if {[dict get $query loose]} {
    set expected [loosen $expected]
    set got [loosen $got]
  }
  if {[dict get $query full] ne {}} {
    set wrong [compare_some $query $expected $got]
  } elseif {[lsort $expected] ne [lsort $got]} {
    set wrong [difference $expected $got]
  } else {
    set wrong {}
  }
  if {$wrong eq {} && [dict get $query order] ne {}} {
    set order [dict get $query order]
    # What is equal without regard to case comes in any order: so is the local column c.
    set fold [expr {[regexp {\.c\M} [dict get $query sql]] ? {string tolower} : {string cat}}]
    if {[{*}$fold [sort_keys $expected $order]] ne [{*}$fold [sort_keys $got $order]]} {
      set wrong "other order:\n  expected: [string range $expected 0 600]\n  got:      [string range $got 0 600]"
    }
  }
  return $wrong
}

# As many rows as expected, each from what there is without the LIMIT.
proc differential::compare_some {query expected got} {
  if {[llength $expected] != [llength $got]} {
    return "[llength $expected] rows expected, got [llength $got]"
  }
  set all [lrange [answer $query c full] 1 end]
  if {[dict get $query loose]} { set all [loosen $all] }
  foreach row $all { incr left($row) }
  foreach row $got {
    if {![info exists left($row)] || [incr left($row) -1] < 0} { return "no such row, or not as often: $row" }
  }
}

proc differential::sort_keys {rows columns} {
  lmap row [loosen $rows] { lmap column $columns { lindex $row $column } }
}

# Rows that are on one side alone.
proc differential::difference {expected got} {
  foreach row $expected { incr left($row) }
  set more {}
  foreach row $got {
    if {[info exists left($row)] && $left($row) > 0} { incr left($row) -1 } else { lappend more $row }
  }
  set missing [lmap row [lsort [array names left]] { expr {$left($row) > 0 ? $row : [continue]} }]
  set text "  [llength $expected] rows expected, got [llength $got]"
  foreach {word rows} [list missing $missing {too much} $more] {
    foreach row [lrange $rows 0 4] { append text "\n  $word: [string range $row 0 300]" }
  }
  return $text
}

# Rows without a key cannot be told apart: edb says so where SQLite needs it, which is in a RIGHT JOIN.
proc differential::excused {query got} {
  expr {[lindex $got 0] eq "error" && [regexp {\m(RIGHT|FULL) JOIN\M} [dict get $query sql]]
        && [string match {edb: * has no key, so its rows cannot be told apart*} [lindex $got 1]]}
}

proc differential::describe {query variant plan} {
  set text "[for_variant [dict get $query sql] $variant]\n"
  foreach variable [dict get $query v] { append text "  \$[lindex $variable 0] = [lrange $variable 1 end]\n" }
  append text "  plan: [join $plan "\n        "]"
}

# What the planner did ------------------------------------------------------------------------------

proc differential::catch_plan {query} {
  foreach variable [dict get $query v] { bind {*}$variable }
  set details {}
  catch {
    db eval "EXPLAIN QUERY PLAN [for_variant [dict get $query sql] e]" row { lappend details $row(detail) }
  }
  return $details
}

# What a driver can show, and what all of them do.
proc differential::classes {} {
  variable driver
  concat [${driver}::classes] {{order {VIRTUAL TABLE INDEX \d+:.* ORDER BY (?!\(SELECT)}}}
}

proc differential::note_plan {plan} {
  variable seen
  foreach class [classes] {
    lassign $class name pattern
    if {[lsearch -regexp $plan $pattern] >= 0} { incr seen($name) }
  }
}
