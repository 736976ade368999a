# A proxy that passes on what a server on loopback says MS milliseconds late: a server far away.
#   tclsh slowproxy.tcl PORT MS     prints its own port, and ends with its standard input
lassign $argv port ms
proc take {client args} {
  set server [socket 127.0.0.1 $::port]
  foreach {from to after} [list $client $server 0 $server $client $::ms] {
    fconfigure $from -translation binary -blocking 0 -buffering none
    fileevent $from readable [list pass $from $to $after]
  }
}
proc pass {from to ms} {
  if {[catch { read $from } bytes] || [eof $from]} { catch { close $from }; catch { close $to }; return }
  after $ms [list give $to $bytes]
}
proc give {to bytes} { catch { puts -nonewline $to $bytes } }
puts [lindex [fconfigure [socket -server take -myaddr 127.0.0.1 0] -sockname] 2]
flush stdout
fconfigure stdin -blocking 0
fileevent stdin readable { read stdin; if {[eof stdin]} exit }
vwait forever
