# What write_faults.test and write_faults_sqlserver.test have in common: proxies that break off (faultproxy.c), and what
# must hold afterwards. The suite gives
#
#   [sums]    the sum of v on each server, then here: each row that was written counts
#   [quiet]   returns when no server is about to do something for us any more
#   $place(KIND)   where in [sums] a server is
#   $setup    SQL that defines the servers, through the proxies
#
# FAULTS=n: n rounds at every message; else one round at every sixth.

set thorough [expr {[info exists env(FAULTS)] && $env(FAULTS) ne {}}]
set rounds [expr {$thorough ? $env(FAULTS) : 1}]
set step [expr {$thorough ? 1 : 6}]
set first [expr {1 + [pid] % $step}]
set n 1000
array set counts {runs 0 unknown 0}

# The proxies ---------------------------------------------------------------------------------------------------

proc tell {kind line} {
  puts $::proxy($kind) $line
  while {[gets $::proxy($kind) answer] >= 0 && $answer eq "held"} {}
  return $answer
}

# Starts one; the server's URL through it.
proc behind_proxy {kind option} {
  set protocol [expr {$kind eq "sqlserver" ? "tds" : $kind}]
  set ::proxy($kind) [open |[list $::env(EDB_BUILD_DIR)/faultproxy $protocol [server $kind port]] r+]
  fconfigure $::proxy($kind) -buffering line
  gets $::proxy($kind) port
  set url [string map [list :[server $kind port]/ :$port/] [server $kind url]]
  return $url[expr {$option eq {} ? {} : "?$option"}]
}

# What is written -------------------------------------------------------------------------------------------------

# @N is the scenario's first id: 100 are its own. What it adds to the sums there and here.
set one {
  insert {INSERT INTO @T VALUES (@N, 1)} {1 0}
  batch  {INSERT INTO @T WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 39) SELECT @N + i, 1 FROM c} {40 0}
  update {UPDATE @T SET v = v + 1 WHERE id = 1} {1 0}
  commit {BEGIN; INSERT INTO @T VALUES (@N, 1); INSERT INTO l VALUES (@N, 1); UPDATE @T SET v = v + 1 WHERE id = @N; COMMIT} {2 1}
  exec   {BEGIN; INSERT INTO l VALUES (@N, 1); SELECT edb_exec('@T', 'INSERT INTO r VALUES (@N, 1)'); COMMIT} {1 1}
}

proc differences {before after} { lmap a $before b $after { expr {$b - $a} } }

# Runs the SQL with the action at message k of kind's connection; {code message fired}.
proc attempt {kind action k sql} {
  tell $kind "arm $action $k"
  set result [catchsql $sql]
  lassign [tell $kind disarm] - count fired
  catchsql ROLLBACK
  incr ::counts(runs)
  lappend result $fired
}

# A statement that failed has done nothing, here or there, and one that did not has done all; where nobody can know, the
# error says so.
proc one_phase {kind table sql whole} {
  lassign $whole all mine
  foreach action {cut truncate delay} {
    for {set k $::first} {$k < 400} {incr k $::step} {
      incr ::n 100
      set before [sums]
      execsql "SELECT count(*) FROM $table"
      lassign [attempt $kind $action $k [string map [list @N $::n @T $table] $sql]] code message fired
      quiet
      set there [differences $before [sums]]
      set remote [lindex $there $::place($kind)]
      set local [lindex $there end]
      if {$code == 0} {
        set good [expr {$remote == $all && $local == $mine}]
      } elseif {[string match {*whether the transaction was committed is not known*} $message] && [string match "*$table*" $message]} {
        incr ::counts(unknown)
        set good [expr {$remote in [list 0 $all] && $local == 0}]
      } else {
        set good [expr {$remote == 0 && $local == 0}]
      }
      if {!$good || ($code && ($action eq "delay" || !$fired))} { return "$action at $k: $there: $code $message" }
      if {!$fired} break
    }
  }
  return agreed
}

# Runs SQL in a process that is killed while the proxy holds its k-th message; whether it came so far.
proc kill_at {kind k sql} {
  tell $kind "arm hold $k"
  set host [open |[list {*}[expr {$tester::preload eq {} ? {} : [list env LD_PRELOAD=$tester::preload]}] [info nameofexecutable] \
    [file join $::env(EDB_ROOT) test write_faults_host.tcl] test.db $::setup $sql 2>@1] r]
  set ::event {}
  set ::said {}
  fconfigure $::proxy($kind) -blocking 0
  fconfigure $host -blocking 0
  fileevent $::proxy($kind) readable [list apply {{c} { if {[gets $c line] >= 0} { set ::event $line } }} $::proxy($kind)]
  fileevent $host readable [list apply {{c} { append ::said [read $c]; if {[eof $c]} { set ::event ended } }} $host]
  while {$::event ni {held ended}} { vwait ::event }
  fileevent $::proxy($kind) readable {}
  fconfigure $::proxy($kind) -blocking 1
  set held [expr {$::event eq "held"}]
  if {$held} { exec kill -9 {*}[pid $host] }
  fconfigure $host -blocking 1
  catch {close $host}
  tell $kind disarm
  incr ::counts(runs)
  return $held
}

# A process that was killed has done all or nothing at the server; and nothing here that is not there.
proc killed_one_phase {kind table sql whole} {
  lassign $whole all mine
  for {set k $::first} {$k < 400} {incr k $::step} {
    incr ::n 100
    set before [sums]
    set held [kill_at $kind $k [string map [list @N $::n @T $table] $sql]]
    quiet
    set there [differences $before [sums]]
    set pair [list [lindex $there $::place($kind)] [lindex $there end]]
    if {$pair ni [list {0 0} [list $all 0] $whole] || (!$held && $pair ne $whole)} { return "killed at $k: $there: $::said" }
    if {!$held} { return [expr {$k > 5 ? "agreed" : "only $k messages"}] }
  }
}
