# Examples out of README files.
#
#   foreach block [markdown::blocks $path] { dict get $block text … }
#
# A block is a dict: section (the last heading of level 1 or 2), language, text, line (of its first
# line), directive (what `<!-- test: … -->` just above it says, or empty), and output: the text of
# the ```text block that follows it with at most a blank line between, if there is one.

namespace eval markdown {}

proc markdown::blocks {path} {
  set channel [open $path]
  fconfigure $channel -encoding utf-8
  set lines [split [read $channel] \n]
  close $channel
  set blocks {}
  set section {}
  set directive {}
  set gap 9                  ;# lines since the last block ended
  for {set i 0} {$i < [llength $lines]} {incr i} {
    set line [lindex $lines $i]
    if {[regexp {^```(\w*)} $line -> language]} {
      set text {}
      set first [expr {$i + 2}]
      while {[incr i] < [llength $lines] && ![string match ```* [lindex $lines $i]]} {
        append text [lindex $lines $i] \n
      }
      if {$language eq "text" && $gap <= 1 && $blocks ne {}} {
        dict set block output $text
        lset blocks end $block
      } else {
        set block [dict create section $section language $language text $text line $first \
          directive $directive]
        lappend blocks $block
      }
      set directive {}
      set gap 0
      continue
    }
    incr gap
    regexp {^##?\s+(.*)} $line -> section
    if {![regexp {^<!-- test: (.*) -->} $line -> directive] && [string trim $line] ne {}} {
      set directive {}
    }
  }
  return $blocks
}
