# make ct: whether time or addresses in crypto/ depend on secrets; ct_host.c says how that is seen.
#
#   tclsh test/ct/ct.tcl       CASE=PREFIX runs the checks whose names begin so; CASE=OPERATION one of
#                              ct_host's alone, on one build for each checker
#
#   valgrind.BUILD   memcheck follows secrets through all that it can run: portable, AES-NI, AVX2
#   msan.BUILD       clang's memory sanitizer follows them through VAES-256, VAES-512 and SHA-NI too
#   planted.…        a lookup and a branch by a key byte, and a lookup by what a cipher makes of one, are
#                    reported by each of the two, and a division is found
#   scan.BUILD       no function has a division, whose time depends on its operands; nor calls one
#
# A build is a compiler with an optimization, as those take different liberties with the same source;
# u64 has 128-bit products forced off.  The sanitizer's has that too, since it takes the add-with-carry
# intrinsics for leaks.

set root [file dirname [file dirname [file dirname [file normalize [info script]]]]]
set folder $root/build/ct
cd $root

# Functions whose divisions are by lengths or by public numbers: file.o:function, why.
set allowed {}

set builds {
  gcc-O2       {gcc -O2}
  gcc-O3       {gcc -O3}
  clang-O2     {clang -O2}
  clang-O3     {clang -O3}
  gcc-O2-u64   {gcc -O2 -DECR_NO_U128}
  clang-O3-u64 {clang -O3 -DECR_NO_U128}
  msan         {clang -O2 -DECR_NO_U128 -DECR_CT_MSAN -fsanitize=memory -fno-omit-frame-pointer}
  aarch64-O2   {aarch64-linux-gnu-gcc -O2}
  aarch64-O3   {aarch64-linux-gnu-gcc -O3}
}

array set total {passed 0 failed 0 skipped 0}

proc pass {name} {
  incr ::total(passed)
  puts "ok   $name"
}

proc fail {name text} {
  incr ::total(failed)
  puts "FAIL $name"
  foreach line [lrange [split $text \n] 0 39] { puts "     $line" }
}

proc skip {name reason} {
  incr ::total(skipped)
  puts "skip $name: $reason"
}

# Builds -------------------------------------------------------------------------------------------

# Compiles crypto/ and ct_host for a build, unless that is there and newer than all of its sources;
# one for another processor stays without ct_host. Its folder.
proc build {name} {
  set command [dict get $::builds $name]
  set out $::folder/$name
  set sources [glob crypto/*.c]
  set newest 0
  foreach path [concat $sources [glob crypto/*.h test/ct/* test/unit/rsa_facts.h]] {
    set newest [expr {max($newest, [file mtime $path])}]
  }
  if {[file exists $out/built] && [file mtime $out/built] > $newest} { return $out }
  file delete -force $out
  file mkdir $out
  # DWARF 5 is more than Debian's valgrind can read.
  set flags {-std=c11 -D_GNU_SOURCE -fPIC -g -gdwarf-4 -DECR_CT}
  exec xargs -P 2 -I {{}} nice {*}$command {*}$flags -c crypto/{}.c -o $out/{}.o \
    << [join [lmap path $sources { file rootname [file tail $path] }] \n]
  if {![string match aarch64* $name]} {
    exec {*}$command {*}$flags -o $out/ct_host test/ct/ct_host.c {*}[glob $out/*.o] -ldl
  }
  close [open $out/built w]
  return $out
}

# Runs ct_host of a build by its checker: {status text}; 0 is no report and every answer right.
proc run {name args} {
  set out [build $name]
  set command [list $out/ct_host {*}$args]
  if {$name ne "msan"} { set command [list valgrind -q --error-exitcode=9 --num-callers=8 {*}$command] }
  set status [catch {exec {*}$command 2>@1} text]
  list $status $text
}

# Checks -------------------------------------------------------------------------------------------

proc check_run {check name args} {
  lassign [run $name {*}$args] status text
  if {$status} { fail $check $text } else { pass $check }
}

# The back ends that a checker sees are those that it is there for.
proc check_backends {check name wanted} {
  lassign [run $name aead] status text
  foreach backend $wanted {
    if {![string match "*by $backend\n*" $text\n]} { return [skip $check "no $backend on this machine"] }
  }
  pass $check
}

proc check_planted {check name leak} {
  lassign [run $name planted_$leak] status text
  if {$status && [regexp {ninitiali[sz]ed} $text]} { pass $check } else { fail $check "no report: $text" }
}

# Divisions in object files: {object:function instruction}, …
proc divisions {objdump objects} {
  set found {}
  foreach object [lsort $objects] {
    set function {}
    foreach line [split [exec $objdump -dr --no-show-raw-insn $object] \n] {
      if {[regexp {^[0-9a-f]+ <(.*)>:} $line -> function]} continue
      if {[regexp {\s(v?i?div[a-z]*|[us]div|fdiv)\s} $line -> instruction]
          || [regexp {(__u?(?:div|mod)[a-z]*\d)} $line -> instruction]} {
        lappend found [file tail $object]:$function $instruction
      }
    }
  }
  return $found
}

proc check_scan {check name} {
  set objdump [expr {[string match aarch64* $name] ? "aarch64-linux-gnu-objdump" : "objdump"}]
  set bad {}
  foreach {place instruction} [divisions $objdump [glob [build $name]/*.o]] {
    if {![dict exists $::allowed $place]} { lappend bad "$place: $instruction" }
  }
  if {$bad eq {}} { pass $check } else { fail $check [join [lsort -unique $bad] \n] }
}

# The same scan over ct_host.c, which has one.
proc check_planted_scan {check name} {
  set object [build $name]/ct_host.planted
  exec {*}[dict get $::builds $name] -std=c11 -D_GNU_SOURCE -DECR_CT -c test/ct/ct_host.c -o $object
  set found [divisions objdump $object]
  if {[dict exists $found ct_host.planted:planted_division]} { pass $check } else { fail $check $found }
}

proc checks {case} {
  set checks {}
  if {$case in {bytes hash kdf cbc aead x25519 ecdh oaep}} {
    return [list $case.valgrind [list check_run $case.valgrind clang-O2 $case] \
      $case.msan [list check_run $case.msan msan $case]]
  }
  foreach name {gcc-O2 gcc-O3 clang-O2 clang-O3 gcc-O2-u64 clang-O3-u64} {
    lappend checks valgrind.$name [list check_run valgrind.$name $name]
  }
  lappend checks msan.clang-O2 {check_run msan.clang-O2 msan}
  lappend checks valgrind.backends {check_backends valgrind.backends gcc-O2 {portable aesni avx2}}
  lappend checks msan.backends {check_backends msan.backends msan {portable aesni avx2 vaes256 vaes512}}
  foreach leak {lookup branch far} {
    lappend checks planted.valgrind.$leak [list check_planted planted.valgrind.$leak gcc-O2 $leak]
    lappend checks planted.msan.$leak [list check_planted planted.msan.$leak msan $leak]
  }
  foreach name {gcc-O2 gcc-O3 clang-O2 clang-O3 gcc-O2-u64 clang-O3-u64 aarch64-O2 aarch64-O3} {
    lappend checks scan.$name [list check_scan scan.$name $name]
  }
  foreach name {gcc-O2 clang-O3} {
    lappend checks planted.scan.$name [list check_planted_scan planted.scan.$name $name]
  }
  return $checks
}

fconfigure stdout -buffering line
set case {}
if {[info exists env(CASE)]} { set case $env(CASE) }
foreach {name command} [checks $case] {
  if {![string match $case* $name]} continue
  set needs [lindex [dict get $builds [lindex $command 2]] 0]
  if {[auto_execok $needs] eq {}} {
    skip $name "there is no $needs"
  } elseif {[catch $command message options]} {
    fail $name $message
  }
}
if {$total(passed) + $total(failed) + $total(skipped) == 0} { fail $case "there is no such check" }
puts "$total(passed) passed, $total(failed) failed, $total(skipped) skipped"
exit [expr {$total(failed) > 0}]
