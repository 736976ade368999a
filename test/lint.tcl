# make lint: what the compiler's ordinary run does not hold.
#
#   tclsh test/lint.tcl ?-root DIR?        CHECK=NAME runs one check
#
# Each check is a proc check::NAME that returns what it found, a list of `file:line: what`.  It passes
# when that is empty.  lint.test breaks each rule once on purpose.

set root [file dirname [file dirname [file normalize [info script]]]]
if {[lindex $argv 0] eq "-root"} { set root [file normalize [lindex $argv 1]] }
cd $root
# How we were called is not how the builds in here are.
foreach name {MAKEFLAGS MFLAGS SANITIZE COVER WERROR B} { unset -nocomplain env($name) }

set product {ext drivers tds tls crypto}
set folders [concat $product test bench]

# Files -------------------------------------------------------------------------------------------

# The files of the tree that are, or could next be, in a commit; those that GLOBS match.
proc files {args} {
  if {![info exists ::tree]} {
    if {[file exists .git]} {
      set ::tree [split [exec git ls-files -co --exclude-standard] \n]
    } else {
      set ::tree [split [exec find . -type f ! -path ./build/* -printf {%P\n}] \n]
    }
    set ::tree [lsort [lmap path $::tree { expr {[file isfile $path] ? $path : [continue]} }]]
  }
  if {$args eq {}} { return $::tree }
  lmap path $::tree {
    set keep 0
    foreach glob $args { if {[string match $glob $path]} { set keep 1 } }
    expr {$keep ? $path : [continue]}
  }
}

proc c_files {{in {}}} {
  if {$in eq {}} { set in $::folders }
  files {*}[concat {*}[lmap folder $in { list $folder/*.c $folder/*.h }]]
}

proc contents {path} {
  set channel [open $path]
  fconfigure $channel -encoding utf-8
  set text [read $channel]
  close $channel
  return $text
}

# C with its comments and literals blanked, line for line.
proc code {path} {
  set text [contents $path]
  set pattern {/\*([^*]|\*+[^*/])*\*+/|//[^\n]*|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*'}
  set out {}
  set from 0
  foreach range [regexp -all -inline -indices $pattern $text] {
    # The sub-expressions' ranges are within the whole match's, which comes first.
    lassign $range first last
    if {$first < $from} continue
    append out [string range $text $from $first-1]
    append out [regsub -all {[^\n]} [string range $text $first $last] { }]
    set from [expr {$last + 1}]
  }
  append out [string range $text $from end]
}

# `file:line: what` for each line of TEXT that PATTERN matches; %s in WHAT is the match.
proc grep {path text pattern what} {
  set found {}
  set number 0
  foreach line [split $text \n] {
    incr number
    if {[regexp -- $pattern $line match]} {
      lappend found "$path:$number: [string map [list %s [string trim $match]] $what]"
    }
  }
  return $found
}

# Runs a command; its output as findings if it fails, those lines that PATTERN matches if any do.
proc run {pattern args} {
  if {![catch {exec {*}$args 2>@1} output]} { return {} }
  set lines [split $output \n]
  set matching [lsearch -all -inline -regexp $lines $pattern]
  expr {$matching eq {} ? $lines : $matching}
}

# Checks ------------------------------------------------------------------------------------------

namespace eval check {}

proc check::format {} {
  set sources [c_files]
  if {$sources eq {}} return
  run {: (error|warning):} clang-format --dry-run -Werror {*}$sources
}

# Builds all with warnings as errors; what has no target of its own is only parsed.
proc check::gcc {} { build gcc }
proc check::clang {} { build clang }
proc build {compiler} {
  set found [run {(error|warning):|undefined reference} make --no-print-directory -j2 EDB_SETUP=done WERROR=1 \
    B=build/lint/$compiler CC=$compiler all units]
  set flags {-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wwrite-strings -Wvla -Werror -fsyntax-only -I. -isystem
    /usr/include/postgresql -isystem /usr/include/mariadb}
  foreach path [files test/*.c bench/*.c] {
    if {[string match test/unit/*.c $path]} continue
    lappend found {*}[run {(error|warning):} $compiler {*}$flags $path]
  }
  return $found
}

# The big-number code finds the compiler's 128-bit products: 64-bit compilers all have them.
proc check::u128 {} {
  set found {}
  if {[files crypto/cryptoInt.h] eq {}} return
  foreach compiler {gcc clang aarch64-linux-gnu-gcc} {
    if {[auto_execok $compiler] eq {}} continue
    set output [exec $compiler -E -P -x c -I. - << "#include \"crypto/cryptoInt.h\"\nis ECR_U128"]
    if {![regexp {is 1$} $output]} { lappend found "crypto/cryptoInt.h: no 128-bit products with $compiler" }
  }
  return $found
}

# Who may include whom.  A row: the files, the project's files that they may include beside those of
# their own folder, and whether SQLite's headers are among what they may.
set matrix {
  {crypto/*}                   {}                                          0
  {tls/*}                      {crypto/*}                                  0
  {tds/*}                      {crypto/crypto.h}                            0
  {drivers/sqlserver*}         {tls/* tds/* crypto/*}                      0
  {drivers/always_encrypted*}  {tls/* tds/* crypto/*}                      0
  {drivers/trust*}             {tls/* crypto/*}                            0
  {drivers/sqlite*}            {}                                          1
  {drivers/*}                  {}                                          0
  {ext/version.c}              {drivers/driver.h crypto/crypto.h}          1
  {ext/*}                      {drivers/driver.h}                          1
}

# Headers that only some files of their own folder may include.
set reserved {
  drivers/net.h    {drivers/net.c drivers/sqlserver*}
  drivers/trust.h  {drivers/trust.c drivers/sqlserver*}
}

# Headers of the system that may be included: the C library's, an instruction set's, Windows's.  Those
# of client libraries are not among them: edb opens these at run time and is built without them.
set system {^(sys|netinet|arpa)/|^(assert|ctype|dirent|dlfcn|endian|errno|fcntl|fenv|float|inttypes|limits|locale|math|netdb|poll|pthread|pwd|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|time|unistd|wchar|xlocale|cpuid|[a-z]*intrin|arm_neon|arm_acle|iconv|windows|winsock2|ws2tcpip|bcrypt|wincrypt|io|shlobj|process)[.]h$}
# Sockets and memory are the caller's affair in these.
set pure {crypto tls tds}
set sockets {^(sys/(socket|un|select|epoll)|netinet/.*|arpa/.*|netdb|poll|winsock2|ws2tcpip)[.]?h?$}

proc check::includes {} {
  set found {}
  foreach path [c_files $::product] {
    set number 0
    foreach line [split [contents $path] \n] {
      incr number
      if {![regexp {^\s*#\s*include\s*([<"])([^>"]+)[>"]} $line -> bracket name]} continue
      set may [expr {$bracket eq "<" ? [may_include_system $path $name] : [may_include $path $name]}]
      if {!$may} { lappend found "$path:$number: may not include $name" }
    }
  }
  return $found
}

proc matrix_row {path} {
  foreach {glob may sqlite} $::matrix {
    if {[string match $glob $path]} { return [list $may $sqlite] }
  }
}

proc may_include {path name} {
  if {[string match sqlite3*.h $name]} { return [may_include_system $path $name] }
  # An include is relative to its file; ../ leaves the folder.
  set target [string range [file normalize $::root/[file dirname $path]/$name] \
    [string length $::root/] end]
  foreach {header users} $::reserved {
    if {$target eq $header} { return [expr {[lsearch -exact [lmap glob $users { string match $glob $path }] 1] >= 0}] }
  }
  if {[file dirname $target] eq [file dirname $path]} { return 1 }
  foreach glob [lindex [matrix_row $path] 0] { if {[string match $glob $target]} { return 1 } }
  return 0
}

proc may_include_system {path name} {
  if {[string match sqlite3*.h $name]} { return [lindex [matrix_row $path] 1] }
  if {[lindex [file split $path] 0] in $::pure && [regexp $::sockets $name]} { return 0 }
  regexp $::system $name
}

proc check::banned {} {
  set found {}
  foreach path [c_files] {
    lappend found {*}[grep $path [code $path] \
      {\m(strcpy|strcat|sprintf|vsprintf|strtok|atoi|sscanf|alloca)\s*\(} {%s) is banned}]
  }
  foreach path [c_files $::pure] {
    lappend found {*}[grep $path [code $path] {\m(malloc|calloc|realloc|free|socket|connect|recv)\s*\(} \
      {%s) in a folder without memory and sockets of its own}]
  }
  return $found
}

# Nothing but the C library is linked, and one symbol is exported.
proc check::exports {} {
  set found [run {(error|warning):|undefined reference} make --no-print-directory -j2 EDB_SETUP=done B=build/lint/gcc \
    CC=gcc WERROR=1 all]
  if {$found ne {}} { return $found }
  set so build/lint/gcc/edb.so
  foreach {- library} [regexp -all -inline {NEEDED[^\[]*\[([^\]]+)\]} [exec readelf -d $so]] {
    if {![regexp {^(libc|libdl|libpthread|ld-linux[-_a-z0-9]*)[.]so} $library]} {
      lappend found "$so: links $library"
    }
  }
  set symbols [lmap line [split [exec nm -D --defined-only $so] \n] { lindex $line end }]
  if {$symbols ne {sqlite3_edb_init}} { lappend found "$so: exports {$symbols}, not sqlite3_edb_init alone" }
  return $found
}

# Text that holds only on one machine, or names where a registry is.
proc check::paths {} {
  set hosts {(registry[.])?npmjs[.](org|com)|pypi[.]org|pythonhosted[.]org|crates[.]io|proxy[.]golang[.]org|deb[.]debian[.]org|archive[.]ubuntu[.]com|repo1?[.]maven[.]}
  set found {}
  foreach path [text_files] {
    set text [contents $path]
    lappend found {*}[grep $path $text {(^|[^\w.])/(work|root|farm)/[\w.][^\s"']*} {a path of one machine: %s}]
    lappend found {*}[grep $path $text $hosts {a registry's host: %s}]
  }
  return $found
}

proc check::marks {} {
  concat {*}[lmap path [text_files] { grep $path [contents $path] {\m(TO[D]O|FIX[M]E|X[X]X)\M} {left-over mark: %s} }]
}

proc text_files {} {
  files *.c *.h *.tcl *.test *.mut *.sh *.sql *.md *.js *.py *.go *.rs *.java Makefile */Makefile \
    .ci/* test/setup .clang-* .gitignore
}

proc check::length {} {
  set found {}
  foreach path [files *.c *.h *.tcl *.test *.sh *.py *.js *.go Makefile] {
    set lines [expr {[llength [split [contents $path] \n]] - 1}]
    if {$lines > 700} { lappend found "$path:$lines: more than 700 lines" }
  }
  return $found
}

# Each folder that holds something says what it is for, and there is nothing beside them.
proc check::readme {} {
  set found [lmap folder $::folders {
    if {[files $folder/*] eq {} || [file exists $folder/README.md]} continue
    string cat "$folder: has no README.md"
  }]
  foreach name [lsort -unique [lmap path [files] { lindex [file split $path] 0 }]] {
    if {$name in [concat $::folders Makefile README.md LICENSE] || [string match .* $name]} continue
    lappend found "$name: has no place at the top level"
  }
  return $found
}

# -------------------------------------------------------------------------------------------------

fconfigure stdout -encoding utf-8 -buffering line
set names {format includes banned paths marks length readme u128 gcc clang exports}
if {[info exists env(CHECK)] && $env(CHECK) ne {}} { set names $env(CHECK) }
set passed 0
set failed 0
foreach name $names {
  if {[info commands check::$name] eq {}} {
    puts stderr "lint: no check \"$name\": there are [string map {::check:: {}} [info commands ::check::*]]"
    exit 2
  }
  set found [check::$name]
  if {$found eq {}} {
    incr passed
    puts "ok   $name"
  } else {
    incr failed
    puts "FAIL $name"
    foreach line $found { puts "     $line" }
  }
}
puts "$passed passed, $failed failed, 0 skipped"
exit [expr {$failed > 0}]
