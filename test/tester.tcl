# The words that suites are written in, after SQLite's own test/tester.tcl.
#
#   # servers: postgresql                 once for each server of the kind; `none`: once, with none
#   # servers: postgresql|mysql           once for each server of either kind
#   # also: newer                         once more in a newer SQLite
#   source [file join [file dirname [info script]] tester.tcl]
#   do_execsql_test 1.0 { SELECT 1, 'x', NULL } {1 x NULL}
#   do_catchsql_test 1.1 { SELECT nosuch } {1 {no such column: nosuch}}
#   finish_test
#
# Each suite runs in a process and a scratch folder of its own, with `db` open on ./test.db, edb
# loaded, and NULL shown as NULL.  $name in SQL is bound from the caller's variable.  An expected
# value written /like this/ is a regular expression; ~/like this/ one that must not match.

package require sqlite3

namespace eval tester {
  variable suite [file rootname [file tail [info script]]]
  if {[info exists ::argv0]} { set suite [file rootname [file tail $::argv0]] }
  variable passed 0
  variable failed 0
  variable skipped 0
  # A sanitized edb.so needs its run-time library in the host; other programs are spared it.
  variable preload {}
  if {[info exists ::env(LD_PRELOAD)]} {
    set preload $::env(LD_PRELOAD)
    unset ::env(LD_PRELOAD)
  }
}
foreach channel {stdout stderr} { fconfigure $channel -encoding utf-8 }
unset channel

# Cases -------------------------------------------------------------------------------------------

proc do_test {name script expected} {
  if {[catch {uplevel 1 $script} got options]} {
    tester::fail $name $expected "error: [dict get $options -errorinfo]"
  } elseif {[tester::matches $expected $got]} {
    tester::pass $name
  } else {
    tester::fail $name $expected $got
  }
}

# The rows as one flat list.
proc do_execsql_test {name sql {expected {}}} {
  if {![tester::is_pattern $expected]} { set expected [list {*}$expected] }
  uplevel 1 [list do_test $name [list execsql $sql] $expected]
}

# {0 rows} or {1 message}; either may be a pattern as a whole: {/1 .*no such table.*/}.
proc do_catchsql_test {name sql expected} {
  uplevel 1 [list do_test $name [list catchsql $sql] $expected]
}

# Each of EXPECTED, a glob pattern or !pattern, is in some (in no) detail line of EXPLAIN QUERY PLAN.
proc do_eqp_test {name sql args} {
  if {[catch {uplevel 1 [list eqp $sql]} plan]} {
    return [tester::fail $name $args "error: $plan"]
  }
  foreach pattern $args {
    set wanted 1
    if {[string match !* $pattern]} {
      set wanted 0
      set pattern [string range $pattern 1 end]
    }
    if {([lsearch -glob $plan *$pattern*] >= 0) != $wanted} {
      return [tester::fail $name $args [join $plan \n]]
    }
  }
  tester::pass $name
}

# A case that cannot run here, with the reason.
proc skip {name reason} {
  incr tester::skipped
  puts "skip $tester::suite-$name: $reason"
}

# Ends the suite with the reason if it runs without that kind of server.
proc requires {kind} {
  if {![info exists ::env(EDB_TEST_[string toupper $kind]_URL)]} {
    skip all "no $kind server"
    finish_test
  }
}

proc finish_test {} {
  if {[llength [info commands db]]} { db close }
  puts "$tester::suite: $tester::passed passed, $tester::failed failed, $tester::skipped skipped"
  exit [expr {$tester::failed > 0}]
}

# SQL ---------------------------------------------------------------------------------------------

proc execsql {sql {connection db}} {
  uplevel 1 [list $connection eval $sql]
}

proc catchsql {sql {connection db}} {
  set code [catch {uplevel 1 [list $connection eval $sql]} result]
  list $code $result
}

# The detail column of EXPLAIN QUERY PLAN, a list.
proc eqp {sql {connection db}} {
  set details {}
  foreach {id parent unused detail} [uplevel 1 [list $connection eval "EXPLAIN QUERY PLAN $sql"]] {
    lappend details $detail
  }
  return $details
}

# Opens FILE as COMMAND with edb loaded.
proc open_db {{command db} {file test.db}} {
  sqlite3 $command $file
  $command nullvalue NULL
  $command enable_load_extension 1
  $command eval {SELECT load_extension($::env(EDB_SO))}
  $command enable_load_extension 0
}

# A fresh ./test.db as `db`.
proc reset_db {} {
  catch {db close}
  foreach file [glob -nocomplain test.db*] { file delete $file }
  open_db
}

# Servers and programs ----------------------------------------------------------------------------

# What the runner knows of the suite's server: the keys that the heads of servers.tcl and
# servers_KIND.tcl list.
proc server {kind key} {
  set ::env(EDB_TEST_[string toupper ${kind}_$key])
}

proc has_server {kind} {
  info exists ::env(EDB_TEST_[string toupper $kind]_URL)
}

# Runs SQL on the suite's PostgreSQL database by psql; returns what it prints, unaligned.
proc psql {sql args} {
  servers::psql [server_dict postgresql] $sql {*}$args
}

# The same on its MySQL or MariaDB database by that client; tabs between columns.
proc mysql {sql args} {
  servers::mysql [server_dict mysql] $sql {*}$args
}

# Runs T-SQL inside the TDS test server, with no client between; returns the rows, a|b|NULL in lines.
proc tdsd {sql} { servers::tdsd [server_dict sqlserver] $sql }

# The same on the suite's database, of whichever kind that is, for SQL that all of them know.
proc remote {sql} {
  servers::sql [server_dict [server_kind]] $sql
}

# The kind of the suite's server, where its head leaves that open (`postgresql|mysql`); {} for none.
proc server_kind {} {
  foreach kind {postgresql mysql sqlserver odbc} {
    if {[has_server $kind]} { return $kind }
  }
}

proc server_dict {kind} {
  set server {}
  set prefix EDB_TEST_[string toupper $kind]_
  foreach name [array names ::env $prefix*] {
    dict set server [string tolower [string range $name [string length $prefix] end]] $::env($name)
  }
  return $server
}

# Runs a program that loads edb, with standard error in the result; raises what it fails with.
proc host {args} { exec {*}[host_words {*}$args] 2>@1 }

# The same as words for open and exec.
proc host_words {args} {
  set with {}
  if {$tester::preload ne {}} { lappend with LD_PRELOAD=$tester::preload }
  # SQLite's shell takes no other SQLite than the one it was built with.
  if {[lindex $args 0] eq "sqlite3" && [info exists ::env(EDB_TEST_HOST)]} {
    lappend with LD_LIBRARY_PATH=[join [lsearch -all -inline -not [split $::env(LD_LIBRARY_PATH) :] */sqlite-$::env(EDB_TEST_HOST)] :]
  }
  concat env $with $args
}

# Peak resident memory of this process so far, in KB.
proc peak_memory {} {
  set channel [open /proc/self/status]
  set status [read $channel]
  close $channel
  regexp {VmHWM:\s*(\d+)} $status -> kb
  return $kb
}

# Whether edb.so was built with the sanitizers, which cost time and memory.
proc sanitized {} { expr {$tester::preload ne {}} }

# Inside ------------------------------------------------------------------------------------------

proc tester::is_pattern {expected} { regexp {^~?/.*/$} $expected }

proc tester::matches {expected got} {
  if {[regexp {^/(.*)/$} $expected -> pattern]} { return [regexp -- $pattern $got] }
  if {[regexp {^~/(.*)/$} $expected -> pattern]} { return [expr {![regexp -- $pattern $got]}] }
  string equal $expected $got
}

proc tester::pass {name} {
  variable passed
  variable suite
  incr passed
  if {[info exists ::env(VERBOSE)] && $::env(VERBOSE) ne {}} { puts "ok   $suite-$name" }
}

proc tester::fail {name expected got} {
  variable failed
  variable suite
  incr failed
  puts "FAIL $suite-$name"
  puts "  expected: [clip $expected]"
  puts "  got:      [clip $got]"
}

proc tester::clip {text} {
  if {[string length $text] <= 3000} { return $text }
  return "[string range $text 0 2999]… ([string length $text] characters)"
}

source [file join [file dirname [file normalize [info script]]] servers.tcl]
if {[info exists ::env(EDB_TEST_HOST)] && [sqlite3 -version] ne $::env(EDB_TEST_HOST)} {
  error "this is SQLite [sqlite3 -version], not $::env(EDB_TEST_HOST)"
}
if {[info exists ::env(EDB_SO)] && [file exists $::env(EDB_SO)]} { reset_db }
