# A shorter query that still differs, for the one who looks for the cause.
#
# Words are left out, many at a time at first, as long as the local copy answers what the table without pushdown does and
# the other one something else.  Answers are compared as bags of values, so that neither the order of rows nor the
# number of columns has to be known of a query that nobody made.

namespace eval differential {
  variable reduce_tries 400
  variable reduce_seconds 10
}

# What to print beside a query that differs as the VARIANT.
proc differential::reduced {query variant} {
  variable driver
  variable specs
  variable round_seed
  variable query_number
  set sql [dict get $query sql]
  if {[differs $query $variant $sql]} {
    set sql [join [shortest $query $variant [sql_words $sql]]]
    set text "  reduced: $sql"
  } else {
    set text "  cannot be reduced"
  }
  append text "\n  tables: remote-$round_seed.sql in the suite's scratch folder\n  again: make fuzz-sql DRIVER=$driver SEED=$round_seed ONLY=$query_number"
  foreach {whole index} [regexp -all -inline {<T(\d+)>} $sql] {
    if {$index in [dict keys $specs] && ![info exists shown($index)]} {
      set shown($index) 1
      set spec [dict get $specs $index]
      append text "\n  <T$index> is [dict get $spec relation] [dict get $spec options]: [string range [dict get $spec sql] 0 700]"
    }
  }
  return $text
}

proc differential::sql_words {sql} {
  lmap word [regexp -all -inline {'(?:[^']|'')*'|x'[^']*'|"(?:[^"]|"")*"|<T\d+>|[\w.$]+|\s+|[<>=!|]+|.} $sql] {
    if {[string is space $word]} continue
    set word
  }
}

# Leaves out half of the words, then quarters, down to single ones.
proc differential::shortest {query variant words} {
  variable reduce_tries
  variable reduce_seconds
  set tries $reduce_tries
  set until [expr {[clock seconds] + $reduce_seconds}]
  for {set size [expr {[llength $words] / 2}]} {$size > 0} {} {
    set shorter 0
    for {set at 0} {$at < [llength $words] && $tries > 0 && [clock seconds] < $until} {} {
      set fewer [lreplace $words $at [expr {$at + $size - 1}]]
      incr tries -1
      if {[differs $query $variant [join $fewer]]} {
        set words $fewer
        set shorter 1
      } else {
        incr at $size
      }
    }
    if {!$shorter || $size > 1} { set size [expr {$size / 2}] }
  }
  return $words
}

proc differential::differs {query variant sql} {
  dict set query sql $sql
  set expected [answer $query c]
  if {[lindex $expected 0] eq "error"} { return 0 }
  set expected [cells $expected]
  if {$variant ne "p" && [cells [answer $query p]] ne $expected} { return 0 }
  expr {[cells [answer $query $variant]] ne $expected}
}

proc differential::cells {answer} {
  lsort [concat {*}[loosen [lrange $answer 1 end]] [lindex $answer 0]]
}
