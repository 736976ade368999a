# A proxy before a server, for tests of connections that fail: tclsh proxy.tcl HOST PORT.
#
# Prints its own port, then obeys lines on standard input and answers each with "ok":
#   stop   cuts every connection and refuses new ones     start  accepts on the same port again
#   stall  passes nothing on any more                     flow   passes on again
# Ends with its standard input.
lassign $argv host port
set listener {}
set mine 0
set stalled 0
array set peer {}

proc accept {client address remote_port} {
  if {[catch {socket $::host $::port} server]} { close $client; return }
  foreach {from to} [list $client $server $server $client] {
    fconfigure $from -translation binary -blocking 0 -buffering none
    set ::peer($from) $to
    watch $from
  }
}
proc watch {from} { fileevent $from readable [expr {$::stalled ? {} : [list pass $from]}] }
proc pass {from} {
  set to $::peer($from)
  if {[catch {puts -nonewline $to [read $from 65536]}] || [eof $from]} { cut $from }
}
proc cut {channel} {
  set other $::peer($channel)
  foreach one [list $channel $other] {
    unset -nocomplain ::peer($one)
    catch {close $one}
  }
}
proc start {} {
  for {set try 0} {$try < 100} {incr try} {
    if {![catch {socket -server accept -myaddr 127.0.0.1 $::mine} ::listener]} {
      set ::mine [lindex [fconfigure $::listener -sockname] 2]
      return
    }
    after 50
  }
  error $::listener
}
proc obey {} {
  if {[gets stdin line] < 0} exit
  switch $line {
    stop {
      close $::listener
      foreach channel [array names ::peer] { if {[info exists ::peer($channel)]} { cut $channel } }
    }
    start start
    stall - flow {
      set ::stalled [expr {$line eq "stall"}]
      foreach channel [array names ::peer] { watch $channel }
    }
  }
  puts ok
}

fconfigure stdout -buffering line
start
puts $mine
fileevent stdin readable obey
vwait forever
