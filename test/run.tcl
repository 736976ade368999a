# Runs the C unit tests and the suites, and ends with `N passed, N failed, N skipped`.
#
#   tclsh test/run.tcl ?-interop?      by make, which sets EDB_SO and EDB_BUILD_DIR
#
# SUITE=NAME runs one suite or unit test (or more), SERVER=NAME only with that server (or kind), JOBS=n as many at a time (2),
# SQLITE=newer in a newer SQLite than the system's; SUITE_TIMEOUT=s stops one that hangs (300; what other people wrote may
# have to be built, 900), VERBOSE=1 shows the cases that pass.  A suite says in its head what it wants:
#   # servers: postgresql mysql     one run for each combination of the servers of these kinds
#   # servers: postgresql|mysql     one run for each server of either kind
#   # data: cities                  files that test/data.tcl fetches beforehand
#   # also: newer                   once more, with the first such servers, in that newer SQLite
# and so may a C unit test, where `**` stands for `#`; its `** also: nou128` asks for a second run, as the
# Makefile builds it below nou128/.

set root [file dirname [file dirname [file normalize [info script]]]]
source $root/test/servers.tcl
source $root/test/data.tcl

proc setting {name default} {
  if {[info exists ::env($name)] && $::env($name) ne {}} { return $::env($name) }
  return $default
}

set build [setting EDB_BUILD_DIR $root/build]
set env(EDB_SO) [setting EDB_SO $root/edb.so]
set env(EDB_BUILD_DIR) $build
set env(EDB_ROOT) $root
set only [setting SUITE {}]
set interop [expr {"-interop" in $argv}]
set hosted [setting SQLITE system]
array set total {passed 0 failed 0 skipped 0}
set notes {}           ;# skipped suites and failed ones, told again at the end

# What is to be run -------------------------------------------------------------------------------

# The words after `# KEY:` (in C `** KEY:`) in the comment at the head of a suite.
proc header {path key} {
  foreach line [split [servers::read_file $path] \n] {
    if {[regexp "^(?:#|\\*\\*|/\\*) $key:(.*)" $line -> words]} { return [string trim $words] }
    if {![regexp {^(#|\*\*|/\*|\s*$)} $line]} break
  }
  return none
}

# The servers' names of a kind, each started; those that cannot be had are left out with a note.
proc servers_of {kind suite} {
  set names [servers::names $kind]
  if {$names eq {}} {
    note fail $suite "there is no test server of kind $kind"
    return {}
  }
  set started {}
  foreach name $names {
    if {[setting SERVER $name] ni [list $name [servers::kind $name]]} continue
    if {[started $name reason]} {
      lappend started $name
    } else {
      note skip "$suite\[$name\]" $reason
    }
  }
  return $started
}

# Starts a server at its first use and remembers why it could not be.
proc started {name reasonVar} {
  upvar 1 $reasonVar reason
  if {![info exists ::unavailable($name)]} {
    set ::unavailable($name) {}
    if {[catch {servers::start $name} message options]} {
      set ::unavailable($name) $message
      if {[dict get $options -errorcode] ne {SERVERS UNAVAILABLE}} {
        note fail $name $message
      }
    } else {
      puts "server $name: [dict get [servers::start $name] version]"
    }
  }
  set reason $::unavailable($name)
  expr {$reason eq {}}
}

proc note {what name reason} {
  puts "$what $name: $reason"
  lappend ::notes "$what $name: [lindex [split $reason \n] 0]"
  incr ::total([expr {$what eq "skip" ? "skipped" : "failed"}])
}

# A job is {label command servers suite ?folder of the SQLite to use?}.
proc unit_jobs {} {
  set jobs {}
  foreach source [glob -nocomplain $::root/test/unit/*.c] {
    set name [file rootname [file tail $source]]
    lappend jobs {*}[jobs $source $::build/unit/$name]
    if {[header $source also] eq "none"} continue
    foreach variant [header $source also] {
      foreach job [jobs $source $::build/$variant/unit/$name] {
        lappend jobs [lreplace $job 0 0 "[lindex $job 0]\[$variant\]"]
      }
    }
  }
  return $jobs
}

proc suite_jobs {pattern} {
  set jobs {}
  foreach path [lsort [glob -nocomplain $::root/$pattern]] {
    set found [jobs $path [info nameofexecutable] $path]
    if {$::hosted eq "system"} { lappend jobs {*}$found }
    if {$::hosted eq "newer"} { lappend jobs {*}[in_newer $found] }
    if {$::hosted eq "system" && [header $path also] eq "newer"} { lappend jobs {*}[in_newer [lrange $found 0 0]] }
  }
  return $jobs
}

# The jobs in the newer SQLite, which is fetched first.
proc in_newer {jobs} {
  if {$jobs eq {} || ![have_data sqlite "[lindex $jobs 0 0]\[newer\]"]} return
  set folder [data::newer_sqlite]
  lmap job $jobs {
    lassign $job label command servers suite
    list "$label\[newer\]" $command $servers $suite $folder
  }
}

# The jobs of one source: one for each combination of servers that it asks for.
proc jobs {source args} {
  set name [file rootname [file tail $source]]
  if {($::only ne {} && $name ni $::only) || ![have_data [header $source data] $name]} return
  lmap servers [combinations [header $source servers] $name] {
    set label $name
    if {$servers ne {}} { set label "$name\[[join $servers ,]\]" }
    list $label $args $servers $name
  }
}

# For kinds a and b with servers a1 a2 and b1: {a1 b1} {a2 b1}; for a|b: a1 a2 b1.
proc combinations {kinds suite} {
  set combinations {{}}
  if {$kinds eq "none"} { return $combinations }
  foreach either $kinds {
    set longer {}
    foreach kind [split $either |] {
      foreach server [servers_of $kind $suite] {
        foreach shorter $combinations { lappend longer [concat $shorter $server] }
      }
    }
    set combinations $longer
  }
  return $combinations
}

proc have_data {names suite} {
  if {$names eq "none"} { return 1 }
  foreach name $names {
    if {[catch {data::fetch $name} message options]} {
      note [expr {[dict get $options -errorcode] eq {SERVERS UNAVAILABLE} ? "skip" : "fail"}] \
        $suite $message
      return 0
    }
  }
  return 1
}

# Running -----------------------------------------------------------------------------------------

# The environment of one job as words for env(1): edb's and the servers' own settings of whoever
# runs the tests are kept away from them.
proc environment {servers suite scratch sqlite} {
  set words {}
  foreach name [array names ::env] {
    if {[regexp {^(PG|MYSQL_|MARIADB_|ODBC)} $name] || $name in {EDB_CONFIG LD_PRELOAD SUITE FREETDSCONF}} { lappend words -u $name }
  }
  # No data source but those of the suite's servers.
  lappend words ODBCSYSINI=$scratch ODBCINI=$scratch/odbc.ini
  lappend words XDG_CONFIG_HOME=$scratch/config PGPASSFILE=$scratch/pgpass EDB_TEST_SERVERS=$servers
  set libraries {}
  if {$sqlite ne {}} {
    lappend libraries $sqlite
    lappend words EDB_TEST_HOST=[lindex [split [file tail $sqlite] -] 1]
  }
  foreach name $servers {
    set server [servers::database [servers::start $name] [string map {- _} $suite]]
    if {[dict get $server libdir] ne {}} { lappend libraries [dict get $server libdir] }
    if {[dict exists $server environment]} { lappend words {*}[dict get $server environment] }
    set prefix EDB_TEST_[string toupper [servers::kind $name]]
    dict for {key value} $server { lappend words ${prefix}_[string toupper $key]=$value }
  }
  if {[info exists ::env(LD_LIBRARY_PATH)]} { lappend libraries $::env(LD_LIBRARY_PATH) }
  if {$libraries ne {}} { lappend words LD_LIBRARY_PATH=[join $libraries :] }
  concat $words $::sanitizer
}

# What a sanitized edb.so asks of its host's environment.
proc sanitizer_environment {} {
  if {![string match */asan $::build]} { return {} }
  list LD_PRELOAD=[exec cc -print-file-name=libasan.so] \
    ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1 \
    LSAN_OPTIONS=suppressions=$::root/test/leaks.supp:print_suppressions=0 \
    UBSAN_OPTIONS=print_stacktrace=1
}

# A run's scratch folders stay until the next run, unless that is at the same time.
proc make_scratch {} {
  foreach folder [glob -nocomplain $::build/test/*] {
    if {![file exists /proc/[file tail $folder]]} { file delete -force $folder }
  }
  set ::scratch $::build/test/[pid]
}

proc launch {job} {
  lassign $job label command servers suite sqlite
  set scratch $::scratch/[string map {[ - ] {} , -} $label]
  file delete -force $scratch
  file mkdir $scratch
  if {[catch {environment $servers $suite $scratch $sqlite} words]} {
    note fail $label $words
    return [settle]
  }
  incr ::running
  dict set ::busy $label [list $suite $servers]
  # timeout ends the suite with all that it started; pdeathsig does so when the runner dies.
  set channel [open |[list sh -c {cd "$1" && shift && exec "$@" </dev/null 2>&1} sh $scratch \
    setpriv --pdeathsig TERM timeout -k 5 $::limit env {*}$words {*}$command] r]
  fconfigure $channel -blocking 0 -encoding utf-8
  set ::output($channel) {}
  fileevent $channel readable [list collect $channel $label [clock milliseconds]]
}

proc collect {channel label since} {
  append ::output($channel) [read $channel]
  if {![eof $channel]} return
  fconfigure $channel -blocking 1
  set status 0
  if {[catch {close $channel} message options]} {
    set status [lindex [dict get $options -errorcode] 2]
  }
  incr ::running -1
  dict unset ::busy $label
  conclude $label $::output($channel) $status [expr {([clock milliseconds] - $since) / 1000.0}]
  unset ::output($channel)
  settle
}

# Adds up a finished job by its line of counts, the last such line (a sanitizer may report after it);
# a job that broke off before it, or ran nothing at all, has failed.
proc conclude {label text status seconds} {
  set lines [split [string trimright $text] \n]
  set pattern {^[^\s:]+: (\d+) passed, (\d+) failed(?:, (\d+) skipped)?$}
  set at [lindex [lsearch -all -regexp $lines $pattern] end]
  set counted [expr {$at ne {}}]
  lassign {0 0 0} passed failed skipped
  if {$counted} {
    regexp $pattern [lindex $lines $at] -> passed failed skipped
    set lines [lreplace $lines $at $at]
    if {$skipped eq {}} { set skipped 0 }
  }
  set reason {}
  if {$status in {124 137}} {
    set reason "stopped after $::limit seconds"
  } elseif {!$counted} {
    set reason "ended with status $status before it finished"
  } elseif {$failed == 0 && $status != 0} {
    set reason "passed, then ended with status $status"
  } elseif {$passed + $failed + $skipped == 0} {
    set reason "ran nothing"
  }
  if {$reason ne {}} { incr failed }
  puts [format "%-4s %-36s %5d passed %3d failed %3d skipped %7.1f s" \
    [expr {$failed ? "FAIL" : "ok"}] $label $passed $failed $skipped $seconds]
  foreach line $lines { puts "     $line" }
  if {$reason ne {}} { puts "     FAIL $label: $reason" }
  if {$failed} { lappend ::notes "FAIL $label[expr {$reason eq {} ? {} : ": $reason"}]" }
  foreach line $lines {
    if {[string match "skip *" $line] && $line ni $::notes} { lappend ::notes $line }
  }
  incr ::total(passed) $passed
  incr ::total(failed) $failed
  incr ::total(skipped) $skipped
}

# The place in the queue of what may run next. A suite's database on a server bears the suite's name,
# so its runs that share a server take turns.
proc next {} {
  for {set i 0} {$i < [llength $::queue]} {incr i} {
    lassign [lindex $::queue $i] label command servers suite
    set shared 0
    foreach run [dict values $::busy] {
      lassign $run other taken
      if {$other ne $suite} continue
      foreach name $servers {
        if {[servers::shared $name] in [lmap one $taken { servers::shared $one }]} { set shared 1 }
      }
    }
    if {!$shared} { return $i }
  }
  return -1
}

# Starts what may run next; ends the wait when all is done.
proc settle {} {
  set at [expr {$::running < $::parallel ? [next] : -1}]
  if {$at >= 0} {
    set job [lindex $::queue $at]
    set ::queue [lreplace $::queue $at $at]
    launch $job
    after idle settle
  } elseif {$::queue eq {} && $::running == 0} {
    set ::finished 1
  }
}

proc main {} {
  set ::limit [setting SUITE_TIMEOUT [expr {[string match */asan $::build] || $::interop ? 900 : 300}]]
  set ::parallel [setting JOBS 2]
  set ::running 0
  set ::busy {}           ;# label -> {suite servers} of what runs
  make_scratch
  set ::sanitizer [sanitizer_environment]
  if {$::hosted ni {system newer}} { error "SQLITE may be system or newer" }
  if {$::interop} {
    set ::queue [suite_jobs test/interop/*.test]
  } elseif {$::hosted eq "newer"} {
    set ::queue [suite_jobs test/*.test]
  } else {
    set ::queue [concat [unit_jobs] [suite_jobs test/*.test]]
  }
  if {$::queue eq {} && $::only ne {} && $::notes eq {}} { note fail $::only "there is no such suite" }
  after idle settle
  vwait ::finished
}

# An error in an event, such as nobody reading our output any more, ends the run too.
proc bgerror {message} {
  catch {puts stderr $::errorInfo}
  servers::stopall
  exit 1
}

fconfigure stdout -encoding utf-8 -buffering line
# What clients did that the protocol forbids, as far as a server noticed.
proc note_violations {} {
  dict for {name server} $servers::running {
    set file [dict get $server dir]/violations
    if {[file exists $file] && [file size $file] > 0} { note fail "violations\[$name\]" [servers::read_file $file] }
  }
}

set status [catch {main; note_violations} message options]
servers::stopall
if {$status} {
  puts "[dict get $options -errorinfo]"
  incr total(failed)
}
if {$notes ne {}} { puts "\n[join $notes \n]" }
puts "$total(passed) passed, $total(failed) failed, $total(skipped) skipped"
exit [expr {$total(failed) > 0}]
