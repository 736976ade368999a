# Random scripts of INSERT, UPDATE, DELETE, REPLACE, BEGIN, SAVEPOINT and their ends, each statement run through edb and
# over a local copy in another database; after each, both must have failed or both not, and hold the same rows.
#
#   differential_write::run 400 ?SEED?     the seed is printed where a script differs; EDB_WRITE_SCRIPTS=n runs n

namespace eval differential_write {
  variable depth 0
}

proc differential_write::pick {args} { lindex $args [expr {int(rand() * [llength $args])}] }
proc differential_write::value {} { pick 0 1 2 3 4 5 6 7 8 9 10 11 NULL }

proc differential_write::where {} {
  set v [value]
  switch [pick 1 2 3 4 5 6] {
    1 { return "id = $v" }
    2 { return "a < $v" }
    3 { return "a IS $v" }
    4 { return "id IN ($v, [value], [value])" }
    5 { return "id > (SELECT count(*) FROM [pick w1 w2])" }
    6 { return "s = 's$v' OR a = [value]" }
  }
}

proc differential_write::row {table} {
  set s [pick 's[value]' NULL ''''']
  set s "'s[value]'"
  if {$table eq "w1"} { return "([value], [value], $s)" }
  return "([value], 'k[value]', [value], $s)"
}

proc differential_write::columns {table} { expr {$table eq "w1" ? "id, a, s" : "id, k, a, s"} }

# One row at most: where the order of rows would matter (OR FAIL, a unique column), no two are changed.
proc differential_write::one {table} {
  expr {$table eq "w1" ? "id = [value]" : "id = [value] AND k = 'k[value]'"}
}

# One statement; {} for one that has no place here.
proc differential_write::statement {} {
  variable depth
  set t [pick w1 w2]
  set or [pick {} {} {} {OR IGNORE} {OR FAIL} {OR ABORT}]
  switch [pick 1 1 1 2 2 2 3 4 5 6 7 7 8 9 10 11 12 13] {
    1 { return "INSERT $or INTO $t ([columns $t]) VALUES [join [lmap i [lrange {1 2 3 4} 0 [expr {int(rand() * 4)}]] { row $t }] ,]" }
    2 { return "UPDATE [pick {} {OR IGNORE}] w1 SET a = [pick {a + 1} [value] {a * 2 - 3} (SELECT\ max(a)\ FROM\ w1)] WHERE [where]" }
    3 { return "UPDATE $or $t SET id = id + [pick 1 20 -1] WHERE [one $t]" }
    13 { return "UPDATE $or w2 SET a = [pick {a + 1} [value]] WHERE [pick [one w2] "a = [value]"]" }
    4 { return "DELETE FROM $t WHERE [where]" }
    5 { return "UPDATE [pick {} {OR ABORT}] $t SET s = 's' || id, a = [value] WHERE [where]" }
    6 { return "INSERT $or INTO w1 (id, a, s) SELECT id + [pick 0 5 30], a, s FROM w2 WHERE [where] ORDER BY id, k" }
    7 { if {!$depth} { set depth 1; return BEGIN }; if {$depth < 4} { set n $depth; incr depth; return "SAVEPOINT s$n" } }
    8 { if {$depth} { set depth 0; return [pick COMMIT COMMIT ROLLBACK] } }
    9 { if {$depth > 1} { return "ROLLBACK TO s[expr {int(rand() * ($depth - 1)) + 1}]" } }
    10 { if {$depth > 1} { incr depth -1; return "RELEASE s$depth" } }
    11 { if {$depth} { return "INSERT OR ROLLBACK INTO $t ([columns $t]) VALUES [row $t]" } }
    12 { return "INSERT OR REPLACE INTO w3 VALUES ([pick 1 2 3 4], [value])" }
  }
}

proc differential_write::same {} {
  foreach table {w1 w2 w3} {
    set rows [execsql "SELECT * FROM $table ORDER BY 1, 2"]
    if {$rows ne [execsql "SELECT * FROM $table ORDER BY 1, 2" copy]} { return "$table: $rows / [execsql "SELECT * FROM $table ORDER BY 1, 2" copy]" }
  }
}

proc differential_write::script {seed} {
  variable depth
  expr {srand($seed)}
  set depth 0
  foreach connection {db copy} { execsql { DELETE FROM w1; DELETE FROM w2; DELETE FROM w3 } $connection }
  set done {}
  for {set i 0} {$i < 25} {incr i} {
    set sql [statement]
    if {$sql eq {}} continue
    lappend done $sql
    set here [catch { execsql $sql } message]
    set there [catch { execsql $sql copy } expected]
    # A failed OR ROLLBACK has ended the transaction.
    if {[catch { execsql BEGIN copy }] == 0} { execsql ROLLBACK copy; set depth 0 }
    set differs [same]
    if {$here != $there || $differs ne {}} {
      foreach connection {db copy} { catch { execsql ROLLBACK $connection } }
      return "seed $seed: [join $done {; }]\n    edb: $here $message\n    copy: $there $expected\n    $differs"
    }
  }
  foreach connection {db copy} { catch { execsql COMMIT $connection } }
  # What another connection sees is what was committed.
  foreach table {w1 w2 w3} {
    if {[execsql "SELECT * FROM $table ORDER BY 1, 2" other] ne [execsql "SELECT * FROM $table ORDER BY 1, 2" copy]} { return "seed $seed: [join $done {; }]\n    $table differs after COMMIT" }
  }
}

# w1: one integer; w2: two columns, one of them text, and a unique column; w3: a table that REPLACE meets.
proc differential_write::run {scripts {seed {}}} {
  if {[info exists ::env(EDB_WRITE_SCRIPTS)]} { set scripts $::env(EDB_WRITE_SCRIPTS) }
  if {$seed eq {}} { set seed [expr {[clock seconds] % 1000000 * 1000}] }
  sqlite3 copy :memory:
  copy nullvalue NULL
  foreach {table columns} {
    w1 {id int NOT NULL PRIMARY KEY, a int CHECK (a < 9), s varchar(20)}
    w2 {id int NOT NULL, k varchar(10) NOT NULL, a int UNIQUE, s varchar(20), PRIMARY KEY (id, k)}
    w3 {id int NOT NULL PRIMARY KEY, a int}
  } {
    write::table $table $columns
    copy eval "CREATE TABLE $table ($columns)"
    other eval "CREATE VIRTUAL TABLE temp.$table USING edb(s, '$table')"
  }
  for {set i 0} {$i < $scripts} {incr i} {
    do_test script.[expr {$seed + $i}] { differential_write::script [expr {$seed + $i}] } {}
    if {$tester::failed > 5} break
  }
}
