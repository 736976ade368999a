# Random scripts of INSERT, UPDATE, DELETE, REPLACE, BEGIN, SAVEPOINT and their ends, each statement run through edb and
# over a local copy in another database; after each, both must have failed or both not, have shown and changed as many
# rows, and hold the same ones. A script that differs is reduced to the statements that matter.
#
#   differential_write::run 400 ?SEED?     the seed is printed where a script differs; EDB_WRITE_SCRIPTS=n runs n

namespace eval differential_write {
  # What a table is made of, here and there.
  variable tables {
    w1 {id int NOT NULL PRIMARY KEY, a int CHECK (a < 9), s varchar(20)}
    w2 {id int NOT NULL, k varchar(10) NOT NULL, a int UNIQUE, s varchar(20), PRIMARY KEY (id, k)}
    w3 {id int NOT NULL PRIMARY KEY, a int}
    w4 {k varchar(40) NOT NULL PRIMARY KEY, a int DEFAULT 3, b bigint NOT NULL}
    w5 {id int NOT NULL PRIMARY KEY, a int CHECK (a < 9), s varchar(20)}
    f1 {id int NOT NULL PRIMARY KEY, a int}
    f2 {id int NOT NULL PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES f1(id)}
  }
  variable statements 0 ;# that were run
  variable failures 0   ;# that failed on both sides
}

# Statements --------------------------------------------------------------------------------------------------

proc differential_write::pick {args} { lindex $args [expr {int(rand() * [llength $args])}] }
proc differential_write::number {least most} { expr {$least + int(rand() * ($most - $least + 1))} }
proc differential_write::value {} { pick 0 1 2 3 4 5 6 7 8 9 10 11 NULL }
proc differential_write::text {} { pick '' 's[value]' 's[value]' 'it''s' 'ü€' 'a,b' NULL }
proc differential_write::conflict {} { pick {} {} {} {OR IGNORE} {OR FAIL} {OR ABORT} }

proc differential_write::where {} {
  set v [value]
  switch [number 1 6] {
    1 { return "id = $v" }
    2 { return "a < $v" }
    3 { return "a IS $v" }
    4 { return "id IN ($v, [value], [value])" }
    5 { return "id > (SELECT count(*) FROM [pick w1 w2])" }
    6 { return "s = 's$v' OR a = [value]" }
  }
}

proc differential_write::row {table} {
  switch $table {
    w2 { return "([value], 'k[value]', [value], [text])" }
    w4 { return "('k[value]', [number 0 9], [number 0 9]00000000000)" }
    f1 { return "([value], [value])" }
    f2 { return "([value], [value])" }
  }
  return "([value], [value], [text])"
}

proc differential_write::columns {table} {
  dict get {w1 {id, a, s} w2 {id, k, a, s} w4 {k, a, b} w5 {id, a, s} f1 {id, a} f2 {id, p}} $table
}

# One row at most: where the order of rows would matter (OR FAIL, a unique column), no two are changed.
proc differential_write::one {table} {
  expr {$table eq "w2" ? "id = [value] AND k = 'k[value]'" : "id = [value]"}
}

# Rows enough to travel together; perhaps one that collides, or breaks the CHECK, among them.
proc differential_write::many {table} {
  set n [number 1 60]
  set first [pick 0 5 100 200 300]
  set bad [number 1 80]
  set a [expr {$table eq "w2" ? "1000 + n + [pick 0 0 30]" : "CASE n WHEN $bad THEN [pick 9 1 NULL] ELSE n % 9 END"}]
  set id "CASE n WHEN $bad THEN [pick n 1 NULL] + $first ELSE n + $first END"
  set row [dict get [list w1 "$id, $a, 's' || n" w2 "$id, 'k' || n, $a, 's' || n" w5 "$id, $a, NULL" f1 "$id, 5" f2 "$id, [pick 1 2 NULL]"] $table]
  return "INSERT INTO $table ([columns $table]) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $n) SELECT $row FROM c"
}

# What edb_exec does there, done in the copy by its own means.
proc differential_write::executed {} {
  set sql [pick "UPDATE w1 SET a = [value] WHERE id = [value]" "DELETE FROM w3 WHERE id = [value]" "INSERT INTO w1 (id, a, s) VALUES ([value], [value], 'x')" "DELETE FROM w1 WHERE a = [value]"]
  list "SELECT edb_exec('s', '[string map {' ''} $sql]')" $sql
}

# One statement, or two: for edb, and for the copy.
proc differential_write::statement {} {
  set t [pick w1 w2 w5]
  set or [conflict]
  # For an UPDATE SQLite refuses it; of OR IGNORE it shows rows of virtual tables that were passed over.
  set returning [expr {$or eq "OR IGNORE" ? {} : [pick {} {} { RETURNING *}]}]
  switch [pick 1 1 1 2 2 2 3 4 5 6 7 7 7 8 9 9 10 11 12 13 14 14 15 16 17 18 19 20 20 21] {
    1 { return "INSERT $or INTO $t ([columns $t]) VALUES [join [lmap i [lrange {1 2 3 4} 0 [number 0 3]] { row $t }] ,]$returning" }
    2 { set u [pick w1 w5]; return "UPDATE [pick {} {OR IGNORE}] $u SET a = [pick {a + 1} [value] {a * 2 - 3} "(SELECT max(a) FROM w1)"] WHERE [where]" }
    3 { return "UPDATE $or $t SET id = id + [pick 1 20 -1] WHERE [one $t]" }
    4 { return "DELETE FROM $t WHERE [where]" }
    5 { return "UPDATE [pick {} {OR ABORT}] $t SET s = 's' || id, a = [value] WHERE [where]" }
    6 { return "INSERT $or INTO w1 (id, a, s) SELECT id + [pick 0 5 30], a, s FROM w2 WHERE [where] ORDER BY id, k" }
    7 { return [pick BEGIN {BEGIN IMMEDIATE} "SAVEPOINT s[number 1 3]" "SAVEPOINT s[number 1 3]"] }
    8 { return [pick COMMIT COMMIT ROLLBACK] }
    9 { return "ROLLBACK TO s[number 1 3]" }
    10 { return "RELEASE s[number 1 3]" }
    11 { return "INSERT OR ROLLBACK INTO $t ([columns $t]) VALUES [row $t]" }
    12 { return "INSERT OR REPLACE INTO w3 VALUES ([number 1 4], [value])" }
    13 { return "UPDATE $or w2 SET a = [pick {a + 1} [value]] WHERE [pick [one w2] "a = [value]"]" }
    14 { return [many [pick w1 w2 w5 f1 f2]] }
    15 { return [pick "INSERT $or INTO w4 VALUES [row w4]$returning" "INSERT $or INTO w4 (k, b) VALUES ('[pick ü a,b it''s x]', [number 1 9])" "UPDATE w4 SET b = b + 1, a = [value] WHERE k [pick < >] 'k5'" "UPDATE $or w4 SET k = '[pick k1 k7 z]' WHERE k = 'k[value]'" "DELETE FROM w4 WHERE a = [value]"] }
    16 { return [pick "INSERT $or INTO f1 VALUES [row f1]" "DELETE FROM f1 WHERE id = [value]" "UPDATE f1 SET id = [value] WHERE id = [value]"] }
    17 { return [pick "INSERT INTO f2 VALUES [row f2], [row f2]" "UPDATE f2 SET p = [value] WHERE id = [value]" "DELETE FROM f2 WHERE p = [value]"] }
    18 { return [executed] }
    19 { return "INSERT OR REPLACE INTO [pick w1 w5] (id, a, s) VALUES [row w1]" }
    20 { return [pick "INSERT OR REPLACE INTO l1 SELECT id, a FROM [pick w1 w3 w5] WHERE [pick 1 "id < [value]"]" "DELETE FROM l1" "INSERT OR IGNORE INTO w1 SELECT id + 40, v, 'l' FROM l1 ORDER BY 1" "UPDATE w1 SET a = v FROM l1 WHERE l1.id = w1.id AND w1.id < [value]"] }
    21 { return "DELETE FROM [pick w1 w2 w3 w4 w5 f2]" }
  }
}

# Running ------------------------------------------------------------------------------------------------------

proc differential_write::rows {table connection} { execsql "SELECT * FROM $table ORDER BY 1, 2" $connection }

# How what edb shows differs from the copy; {} if it does not.
proc differential_write::difference {{here db}} {
  variable tables
  foreach table [concat [dict keys $tables] l1] {
    if {$here eq "other" && $table eq "l1"} continue
    if {[set a [rows $table $here]] ne [set b [rows $table copy]]} { return "$table: $a / $b" }
  }
}

proc differential_write::in_transaction {connection} {
  if {[catch { execsql BEGIN $connection }]} { return 1 }
  execsql ROLLBACK $connection
  return 0
}

# {failed rows changes} of a statement.
proc differential_write::outcome {sql connection} {
  set failed [catch { execsql $sql $connection } result]
  list $failed $result [expr {[regexp {^(INSERT|UPDATE|DELETE)} $sql] ? [$connection changes] : 0}]
}

# Where the two part; {} if they do not.
proc differential_write::execute {script} {
  variable tables
  variable statements
  variable failures
  foreach connection {db copy} {
    catch { execsql ROLLBACK $connection }
    foreach table [concat [lreverse [dict keys $tables]] l1] { execsql "DELETE FROM $table" $connection }
  }
  set done 0
  foreach pair $script {
    incr done
    lassign $pair sql copied
    lassign [outcome $sql db] failed result changes
    lassign [outcome $copied copy] failed_there expected changes_there
    incr statements
    incr failures $failed_there
    # An error that showed when a statement of many rows ended has ended the transaction too.
    if {$failed && $failed_there && [string match *RECURSIVE* $sql] && ![in_transaction db]} { catch { execsql ROLLBACK copy } }
    set differs [difference]
    if {$differs eq {} && $failed != $failed_there} { set differs "one of them failed" }
    if {$differs eq {} && [in_transaction db] != [in_transaction copy]} { set differs "one of them is in a transaction" }
    if {$differs eq {} && !$failed && [lsort $result] ne [lsort $expected] && $sql eq $copied} { set differs "they show other rows" }
    if {$differs eq {} && !$failed && $changes != $changes_there && $sql eq $copied} { set differs "$changes rows changed here, $changes_there there" }
    if {$differs ne {}} { return [list $done "edb: $failed $result\n    copy: $failed_there $expected\n    $differs"] }
  }
  foreach connection {db copy} { catch { execsql COMMIT $connection } }
  set differs [difference other] ;# what another connection sees is what was committed
  if {$differs ne {}} { return [list $done "after COMMIT: $differs"] }
}

# What is left of a script when all that it differs without is gone.
proc differential_write::reduce {script} {
  set failure [execute $script]
  for {set i [expr {[llength $script] - 1}]} {$i >= 0} {incr i -1} {
    set shorter [lreplace $script $i $i]
    set result [execute $shorter]
    if {$result ne {}} { set script $shorter; set failure $result }
  }
  list $script $failure
}

proc differential_write::script {seed} {
  expr {srand($seed)}
  set script {}
  while {[llength $script] < 25} {
    set pair [statement]
    if {[llength $pair] != 2 || ![string match *edb_exec* [lindex $pair 0]]} { set pair [list $pair $pair] }
    lappend script $pair
  }
  set failure [execute $script]
  if {$failure eq {}} return
  lassign [reduce [lrange $script 0 [lindex $failure 0]-1]] reduced less
  if {$less eq {}} { set less $failure; set reduced $script }
  return "seed $seed: [join [lmap pair $reduced { lindex $pair 0 }] ";\n    "]\n    [lindex $less 1]"
}

# The tables are on the server s of both connections, db and other; w5 is on $second, by [on_second SQL].
proc differential_write::run {scripts {seed {}}} {
  variable tables
  variable statements
  variable failures
  if {[info exists ::env(EDB_WRITE_SCRIPTS)]} { set scripts $::env(EDB_WRITE_SCRIPTS) }
  if {[info exists ::env(EDB_WRITE_SEED)]} { set seed $::env(EDB_WRITE_SEED) }
  if {$seed eq {}} { set seed [expr {[clock seconds] % 1000000 * 1000}] }
  sqlite3 copy :memory:
  copy nullvalue NULL
  execsql { PRAGMA synchronous = OFF }
  if {$::kind ne "sqlite"} { copy eval { PRAGMA foreign_keys = ON } }
  foreach connection {db copy} { execsql { CREATE TABLE l1(id INTEGER PRIMARY KEY, v INTEGER) } $connection }
  foreach {table columns} $tables {
    set server [expr {$table eq "w5" ? $::second : "s"}]
    [expr {$table eq "w5" ? "on_second" : "on_server"}] "CREATE TABLE $table ($columns) $write::options($::kind)"
    execsql "CREATE VIRTUAL TABLE $table USING edb($server, '$table')"
    copy eval "CREATE TABLE $table ($columns)"
    other eval "CREATE VIRTUAL TABLE temp.$table USING edb($server, '$table')"
  }
  for {set i 0} {$i < $scripts} {incr i} {
    do_test script.[expr {$seed + $i}] { differential_write::script [expr {$seed + $i}] } {}
    if {$tester::failed > 5} break
  }
  puts "$statements statements, of which $failures failed"
}
