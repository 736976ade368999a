# What the suites over other people's vectors share: which folder, and running vector_host, whose head
# says what a request is.
#
#   vectors::expect LABEL REQUEST ANSWER    ANSWER: `OK 00ff…` as it must be, `not OK 00ff…`, or `refused`
#   vectors::run                            runs them all, each in every way that there is
#   vectors::count WHAT                     adds one to it; vectors::print_counts tells
#
# The ways: AEADs by each back end of this machine; hashes and what stands on them, and CBC, with the
# processor's instructions and without; curves and RSA also over a crypto/ without 128-bit products.

namespace eval vectors {
  variable requests {}   ;# label request expected, …
  variable counts {}     ;# "file: what" → number
}

# The folder NAME of the vectors from outside; ends the suite where there is none.
proc vectors::folder {name} {
  set folder ../shared/vectors
  if {[info exists ::env(EDB_VECTORS)] && $::env(EDB_VECTORS) ne {}} { set folder $::env(EDB_VECTORS) }
  set folder [file normalize [file join $::env(EDB_ROOT) $folder $name]]
  if {![file isdirectory $folder]} {
    skip all "there is no folder $folder (EDB_VECTORS)"
    finish_test
  }
  return $folder
}

proc vectors::read_file {path} {
  set channel [open $path]
  fconfigure $channel -encoding utf-8
  set text [read $channel]
  close $channel
  return $text
}

# Bytes as vector_host reads them.
proc vectors::bytes {hex} {
  # Not by expr, which would take some for numbers.
  if {$hex eq {}} { return - }
  return $hex
}

# A number's.
proc vectors::integer {hex} {
  if {[string length $hex] % 2} { return 0$hex }
  return $hex
}

proc vectors::expect {label request answer} {
  variable requests
  lappend requests $label $request $answer
}

# The programs: {name path}.
proc vectors::hosts {} {
  set build $::env(EDB_BUILD_DIR)
  list u128 $build/vector_host u64 $build/nou128/vector_host chains $build/chain_host
}

# The answers to requests, one for one.
proc vectors::ask {host mode lines} {
  set channel [open requests.txt w]
  puts -nonewline $channel [join $lines \n]\n
  close $channel
  exec [dict get [hosts] $host] {*}$mode <requests.txt >answers.txt
  split [string trimright [read_file answers.txt] \n] \n
}

proc vectors::backends {cipher} {
  variable backends
  if {![info exists backends($cipher)]} {
    set backends($cipher) [lindex [ask u128 cpu [list "backends $cipher"]] 0]
  }
  return $backends($cipher)
}

# What runs a request: a list of {host mode request how}.
proc vectors::ways {request} {
  set operation [lindex $request 0]
  if {$operation in {seal open}} {
    return [lmap backend [backends [lindex $request 1]] {
      list u128 cpu [linsert $request 2 $backend] $backend
    }]
  }
  set ways [list [list u128 cpu $request cpu] [list u128 portable $request portable]]
  if {$operation ni {hash hmac hkdf cbc_encrypt cbc_decrypt}} {
    lappend ways [list u64 cpu $request cpu,u64] [list u64 portable $request portable,u64]
  }
  return $ways
}

proc vectors::run {} {
  variable requests
  foreach {label request expected} $requests {
    foreach way [ways $request] {
      lassign $way host mode line how
      lappend lines($host,$mode) $line
      lappend wanted($host,$mode) "$label by $how" $expected
    }
  }
  foreach run [lsort [array names lines]] {
    set answers [ask {*}[split $run ,] $lines($run)]
    foreach {label expected} $wanted($run) answer $answers {
      set refused [expr {$answer in {REFUSED INVALID SHORT TOO_LONG}}]
      if {[string match {not *} $expected]
          ? $refused || ([string match OK* $answer] && "not $answer" ne $expected)
          : $expected eq $answer || ($expected eq "refused" && $refused)} {
        tester::pass $label
      } else {
        tester::fail $label $expected $answer
      }
    }
  }
  set requests {}
}

proc vectors::count {what} {
  variable counts
  dict incr counts $what
}

proc vectors::print_counts {} {
  variable counts
  dict for {what number} $counts { puts "[format %6d $number] $what" }
  foreach cipher {aes128gcm aes256gcm chacha20poly1305} { puts "       $cipher by [backends $cipher]" }
}
