# The clients of the TDS test server from other registries: how each is had, and how its program of
# this folder is run.  All run the same script and must print the same.
#
#   tds::expect 1 tedious strict        a case: the script through tedious, in strict

namespace eval tds {
  # Exact versions; those of Go's and Rust's modules are in gomssql/go.mod and tiberius/Cargo.lock.
  variable tedious tedious@19.2.1
  variable mssql_python {mssql_python 1.16.0}
  variable jdbc com.microsoft.sqlserver:mssql-jdbc:13.6.2.jre11
  variable here [file dirname [file normalize [info script]]]
  variable peers $::env(EDB_ROOT)/build/peers
}
source [file join $::env(EDB_ROOT) test data.tcl]

# What the script prints.  SELEC alone is taken for a procedure's name, as SQL Server does.
set tds::expected [string trim {
login: 18456
row: 1 -9223372036854775808 0.1 -12345678901234567890.0123456789 Zürich 東京 😀 Привет 00ff10 2026-02-28T23:59:59.997Z 01020304-0506-0708-090A-0B0C0D0E0F10 true -17.8000 same
row: 2
several: [[1],[2]]
rolled back: 2
committed: 1
errors: 208 2627 8134 50000 2812 245
locked: 1222
cancelled: ECANCEL 7
}]

# Runs a step of building; its failure is a reason to skip.
proc tds::attempt {what args} {
  if {[auto_execok [lindex $args 0]] eq {}} { servers::unavailable "[lindex $args 0] is not installed" }
  if {[catch {exec {*}$args 2>@1} message]} { servers::unavailable "$what: [lindex [split $message \n] end]" }
}

# Each answers the words that run its program.
proc tds::command_tedious {} {
  variable here
  variable tedious
  list node $here/tedious.js [servers::npm $tedious]
}

proc tds::command_mssql-python {} {
  variable here
  variable peers
  variable mssql_python
  data::pip {*}$mssql_python
  list env PYTHONPATH=$peers/python /usr/bin/python3 $here/mssqlpython.py
}

proc tds::command_go-mssqldb {} {
  variable here
  variable peers
  attempt "go could not build it" go build -C $here/gomssql -o $peers/gomssql .
  list $peers/gomssql
}

proc tds::command_mssql-jdbc {} {
  variable here
  variable peers
  variable jdbc
  lassign [split $jdbc :] - artifact version
  set jar $peers/jars/$artifact-$version.jar
  if {![file exists $jar]} {
    attempt "mvn could not fetch it" mvn -q -B dependency:copy -Dartifact=$jdbc -DoutputDirectory=$peers/jars
  }
  list java -XX:TieredStopAtLevel=1 -Dfile.encoding=UTF-8 -cp $jar $here/Jdbc.java
}

proc tds::command_tiberius {} {
  variable here
  variable peers
  attempt "cargo could not build it" cargo build --quiet --locked --manifest-path $here/tiberius/Cargo.toml \
    --target-dir $peers/cargo-tiberius
  list $peers/cargo-tiberius/debug/edb-tiberius
}

proc tds::expect {name client mode} {
  variable expected
  if {[catch {command_$client} command options]} {
    if {[dict get $options -errorcode] eq {SERVERS UNAVAILABLE}} {
      return [skip $name.$client.$mode $command]
    }
    return [tester::fail $name.$client.$mode {} $command]
  }
  servers::tdsd_control [server_dict sqlserver] "database [server sqlserver database]"
  do_test $name.$client.$mode {
    set output [host {*}$command $mode [server sqlserver port] [server sqlserver database] \
      [server sqlserver password] [server sqlserver ca]]
    regsub -all -line { +$} [string trim $output] {}
  } $expected
}
