# test/tdsd for servers.tcl: a server that speaks TDS 7.4 and 8.0.  Its dict also has: ca (what signed
# its certificate), control (the port of its control channel) and browser (the UDP port of its Browser).
#
# A rule of the protocol that a client broke stands in the file `violations` of its dir; the runner
# fails for it.  Rules that only a careful client keeps count for clients whose library is called edb.

proc servers::find_tdsd {} {
  variable root
  set build [expr {[info exists ::env(EDB_BUILD_DIR)] ? $::env(EDB_BUILD_DIR) : "$root/build"}]
  if {![file executable $build/tdsd]} { unavailable "$build/tdsd is not built" }
  dict create program $build/tdsd
}

proc servers::start_sqlserver {name found dir} {
  variable user
  variable password
  set pid [keep $name $dir TERM [dict get $found program] -dir $dir -user $user -password $password \
    -browser yes -careful edb]
  set server [dict create name $name kind sqlserver host 127.0.0.1 user $user password $password \
    database master libdir {} ca $dir/ca.pem pid $pid dir $dir]
  wait_until_ready $server [list servers::tdsd_ports $dir]
  lassign [tdsd_ports $dir] port control browser
  foreach key {port control browser} { dict set server $key [set $key] }
  dict set server version [string trim [tdsd $server {SELECT SERVERPROPERTY('ProductVersion')}]]
  add_urls $server
}

proc servers::tdsd_ports {dir} {
  if {![regexp {ready (\d+) (\d+) (\d+)} [read_file $dir/log] -> port control browser]} { error "not ready yet" }
  list $port $control $browser
}

proc servers::url_sqlserver {server secret} {
  dict with server { return sqlserver://$user$secret@$host:$port/$database?ca=$ca }
}

proc servers::database_sqlserver {server name} { tdsd_control $server "database $name" }

# Runs SQL inside the server, with no client between; returns the rows, a|b|NULL in lines.
proc servers::tdsd {server sql} {
  set bytes [encoding convertto utf-8 $sql]
  tdsd_control $server "sql [dict get $server database] [string length $bytes]" $bytes
}

# One command of the control channel (test/tdsd/control.c); returns its answer, raises its errors: the first is the
# message, all are in the errorcode.
proc servers::tdsd_control {server command {bytes {}}} {
  set channel [socket 127.0.0.1 [dict get $server control]]
  fconfigure $channel -translation binary
  puts -nonewline $channel "$command\n$bytes"
  flush $channel
  set lines {}
  while {[gets $channel line] >= 0 && $line ne "."} { lappend lines [encoding convertfrom utf-8 $line] }
  close $channel
  set errors [lsearch -all -inline -glob $lines "error*: *"]
  if {$errors ne {}} { return -code error -errorcode [list TDSD {*}$errors] "tdsd: [lindex $errors 0]" }
  join $lines \n
}
