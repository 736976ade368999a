# tables.tcl: makes the files that hold multiples of base points.
#
#   tclsh crypto/tables.tcl p256 | clang-format >crypto/p256_table.c         (or p384, ed25519)
#
# 1, 3, 5, … 127 times G in affine coordinates. test/unit/ec.c and test/unit/ed25519.c check each
# entry, so that a wrong table is not a matter of trust in this script.

# p, x and y of G, limbs (SP 800-186 3.2.1.3 and 3.2.1.4).
set curves {
  p256 {
    0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff
    0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296
    0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5
    4
  }
  p384 {
    0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff
    0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7
    0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f
    6
  }
}

proc power {a e p} {
  set r 1
  for {set a [expr {$a % $p}]} {$e > 0} {set e [expr {$e >> 1}]} {
    if {$e & 1} { set r [expr {$r * $a % $p}] }
    set a [expr {$a * $a % $p}]
  }
  return $r
}

proc inverse {a p} { power $a [expr {$p - 2}] $p }

# a + b on y² = x³ - 3x + b, where neither is at infinity nor the sum.
proc add {a b p} {
  lassign $a x1 y1
  lassign $b x2 y2
  if {$x1 == $x2} {
    set slope [expr {(3 * $x1 * $x1 - 3) * [inverse [expr {2 * $y1}] $p] % $p}]
  } else {
    set slope [expr {($y2 - $y1) * [inverse [expr {$x2 - $x1}] $p] % $p}]
  }
  set x [expr {($slope * $slope - $x1 - $x2) % $p}]
  list $x [expr {($slope * ($x1 - $x) - $y1) % $p}]
}

# a + b on -x² + y² = 1 + d x² y² (RFC 8032 5.1.4).
proc add_edwards {a b p d} {
  lassign $a x1 y1
  lassign $b x2 y2
  set t [expr {$d * $x1 * $x2 * $y1 * $y2 % $p}]
  list [expr {($x1 * $y2 + $x2 * $y1) * [inverse [expr {1 + $t}] $p] % $p}] \
    [expr {($y1 * $y2 + $x1 * $x2) * [inverse [expr {1 - $t}] $p] % $p}]
}

# V in n words of so many bits, the lowest first.
proc words {v n {bits 64}} {
  set out {}
  for {set i 0} {$i < $n} {incr i} {
    lappend out [format "UINT64_C(0x%016llx)" [expr {$v & ((1 << $bits) - 1)}]]
    set v [expr {$v >> $bits}]
  }
  join $out {, }
}

proc weierstrass {name p x y limbs} {
  puts "/*
** ${name}_table.c: odd multiples of [string map {p P-} $name]'s base point. Made by tables.tcl.
*/
#include \"cryptoInt.h\"

const uint64_t ecr_${name}_g\[ECR_EC_G_ODD]\[2 * $limbs] = {"
  set g [list $x $y]
  set two [add $g $g $p]
  for {set i 0} {$i < 64} {incr i} {
    lassign $g x y
    puts "{[words [expr {($x << (64 * $limbs)) % $p}] $limbs], [words [expr {($y << (64 * $limbs)) % $p}] $limbs]},"
    set g [add $g $two $p]
  }
  puts "};"
}

proc ed25519 {} {
  set p [expr {2**255 - 19}]
  set d [expr {-121665 * [inverse 121666 $p] % $p}]
  set y [expr {4 * [inverse 5 $p] % $p}]
  # RFC 8032 5.1.3: x = (u / v)^((p+3)/8), times sqrt(-1) where that is not a root; the even one.
  set square [expr {($y * $y - 1) * [inverse [expr {$d * $y * $y + 1}] $p] % $p}]
  set x [power $square [expr {($p + 3) / 8}] $p]
  if {$x * $x % $p != $square} { set x [expr {$x * [power 2 [expr {($p - 1) / 4}] $p] % $p}] }
  if {$x & 1} { set x [expr {$p - $x}] }
  puts "/*
** ed25519_table.c: odd multiples of Ed25519's base point: y + x, y - x, 2dxy, in radix 2^51. Made by
** tables.tcl.
*/
#include \"cryptoInt.h\"

const uint64_t ecr_ed25519_b\[ECR_ED25519_ODD]\[3]\[5] = {"
  set b [list $x $y]
  set two [add_edwards $b $b $p $d]
  for {set i 0} {$i < 64} {incr i} {
    lassign $b x y
    puts "{{[words [expr {($y + $x) % $p}] 5 51]},"
    puts "{[words [expr {($y - $x) % $p}] 5 51]},"
    puts "{[words [expr {2 * $d * $x * $y % $p}] 5 51]}},"
    set b [add_edwards $b $two $p $d]
  }
  puts "};"
}

set name [lindex $argv 0]
if {$name eq "ed25519"} {
  ed25519
} else {
  weierstrass $name {*}[dict get $curves $name]
}
