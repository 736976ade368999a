# Breaks edb on purpose and tells whether the tests notice; see README.md in this folder.
#
#   tclsh test/mutations/run.tcl       FILE=NAME runs the entries of NAME.mut alone

set root [file dirname [file dirname [file dirname [file normalize [info script]]]]]
set copy $root/build/mutations
array set total {passed 0 failed 0}
# How we were called is not how the builds in here are.
foreach name {MAKEFLAGS MFLAGS SANITIZE COVER WERROR B SUITE} { unset -nocomplain env($name) }
# The copy has other neighbours than the tree.
if {![info exists env(EDB_VECTORS)]} { set env(EDB_VECTORS) [file normalize $root/../shared/vectors] }

proc read_file {path} {
  set channel [open $path]
  fconfigure $channel -encoding utf-8 -translation lf
  set text [read $channel]
  close $channel
  return $text
}

proc write_file {path text} {
  set channel [open $path w]
  fconfigure $channel -encoding utf-8 -translation lf
  puts -nonewline $channel $text
  close $channel
}

# The tree as it stands, with build/peers shared; objects of the last run are kept, for speed.
proc copy_tree {} {
  file mkdir $::copy
  set files [split [exec git -C $::root ls-files -co --exclude-standard] \n]
  foreach path $files {
    if {![file isfile $::root/$path]} continue
    file mkdir [file dirname $::copy/$path]
    # Not with its time: an object of the last run may be newer, and a mutant's.
    if {[catch {exec cmp -s $::root/$path $::copy/$path}]} {
      exec cp -p $::root/$path $::copy/$path
      file mtime $::copy/$path [clock seconds]
    }
  }
  file mkdir $::copy/build
  file delete $::copy/build/peers
  if {[file exists $::root/build/peers]} { file link -symbolic $::copy/build/peers $::root/build/peers }
}

proc build {} {
  exec make -C $::copy -j2 --no-print-directory EDB_SETUP=done all units 2>@1
}

# Runs the suite on the copy; what it printed last, and whether it failed.
proc run_suite {suite seconds outputVar} {
  upvar 1 $outputVar output
  # `ct CASE` is not a suite of make test's.
  set target [list test SUITE=$suite]
  if {[lindex $suite 0] eq "ct"} { set target [list ct CASE=[lindex $suite 1]] }
  catch {exec timeout -k 10 $seconds make -C $::copy --no-print-directory EDB_SETUP=done {*}$target \
    2>@1} output options
  expr {[dict get $options -code] != 0}
}

# `caught`, `missed`, or why the entry proves nothing.
proc try {entry} {
  set seconds 120
  dict with entry {
    if {![file exists $::copy/$file]} { return "there is no $file" }
    set text [read_file $::copy/$file]
    set first [string first $from $text]
    if {$first < 0} { return "what it replaces is not in $file" }
    if {[string first $from $text $first+1] >= 0} { return "what it replaces is more than once in $file" }
    write_file $::copy/$file [string replace $text $first [expr {$first + [string length $from] - 1}] $to]
    if {[catch build output]} {
      set verdict "it does not compile: [lindex [regexp -inline -line {.*error.*} $output] 0]"
    } elseif {[run_suite $suite $seconds output]} {
      # A suite that is not there fails too.
      set verdict [expr {[string match "*there is no such suite*" $output] ? "there is no suite $suite" : "caught"}]
    } else {
      set verdict missed
    }
    write_file $::copy/$file $text
  }
  return $verdict
}

# The word of the files.
proc mutation {title entry} { lappend ::mutations $title $entry }

proc report {title entry} {
  set verdict [try $entry]
  incr ::total([expr {$verdict eq "caught" ? "passed" : "failed"}])
  puts [format "%-7s %s: %s%s" [expr {$verdict in {caught missed} ? $verdict : "error"}] \
    [dict get $entry suite] $title [expr {$verdict in {caught missed} ? {} : " ($verdict)"}]]
}

fconfigure stdout -encoding utf-8 -buffering line
copy_tree
build
set name *
if {[info exists env(FILE)] && $env(FILE) ne {}} { set name $env(FILE) }
set mutations {}
foreach path [lsort [glob -nocomplain $root/test/mutations/$name.mut]] { source -encoding utf-8 $path }
# What fails without a mutation would seem to catch each.
foreach suite [lsort -unique [lmap {- entry} $mutations { dict get $entry suite }]] {
  if {[run_suite $suite 300 output]} {
    puts "error   $suite fails as it is:\n$output"
    incr total(failed)
  }
}
foreach {title entry} $mutations { report $title $entry }
puts "$total(passed) passed, $total(failed) failed, 0 skipped"
exit [expr {$total(failed) > 0}]
