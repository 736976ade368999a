# The participants: how each is built, and the command that makes it do one work.
#
# `peers::command NAME SOURCE WORK UNITS` returns a command for exec.  SOURCE is a dict that says
# where the rows are: rows (how many), table, and url, libdir and dict of a server or file of a SQLite
# database.  A participant that cannot be had raises an error with the errorcode {BENCH SKIP}.

namespace eval peers {
  variable root [file dirname [file dirname [file normalize [info script]]]]
  variable bench [file join $root bench]
  variable out [file join $root build bench]
  variable built {}                   ;# what was built or refused: name -> {0 path} or {1 reason}

  # Exact versions, so that a result can be had again.  pgx's are in pgx/go.mod.
  variable duckdb {duckdb==1.5.5 duckdb-extension-postgres-scanner==1.5.5}
  variable virtualpg mod_virtualpg
  variable optimize -O3               ;# as crypto/ in the Makefile

  # A participant with a limit does only so many lookups, since each is a scan or nearly so, or inserts; its
  # time is scaled up to the number that the others do, and the result says so.
  variable limits {
    lookup {virtualpg 4 duckdb 400}
    topn {virtualpg 1 vtab-floor 1}
    minmax {virtualpg 2 vtab-floor 2}
    join.lookup {virtualpg 1}
    insert_select {virtualpg 5000}
    insert_rows {virtualpg 5000}
  }
}

proc peers::units {name work units} {
  variable limits
  if {![dict exists $limits $work $name]} { return $units }
  expr {min($units, [dict get $limits $work $name])}
}

proc peers::command {name source work units} {
  set program [$name $source $work $units]
  if {[dict exists $source libdir] && [dict get $source libdir] ne {}} {
    set program [list env LD_LIBRARY_PATH=[dict get $source libdir] {*}$program]
  }
  if {[dict exists $source server environment]} {
    set program [list env {*}[dict get $source server environment] {*}$program]
  }
  return $program
}

proc peers::skip {reason} { return -code error -errorcode {BENCH SKIP} $reason }

# Participants that are SQLite --------------------------------------------------------------------

proc peers::host {source work table units args} {
  list [program host] {*}$args $work $table [dict get $source rows] $units
}

proc peers::edb {source work units} {
  if {$work in {insert load}} { return [contract $source $work $units] }
  set so [edb_so]
  if {[dict exists $source file]} {
    set url sqlite:[dict get $source file]
    set remote main.[dict get $source table]
  } else {
    set url [dict get $source url][dict get $source url_options]
    set remote [dict get $source schema][dict get $source table]
  }
  set setup [list -load $so -setup "SELECT edb_server('bench', [quote $url])" \
    -setup "CREATE VIRTUAL TABLE t USING edb(bench, [quote $remote][expr {[dict exists $source options] ? ", [dict get $source options]" : {}}])"]
  # Connecting is not what is timed.  (A view of a series is no place to look a row up.)
  if {[dict get $source indexed]} { lappend setup -setup {SELECT name FROM t WHERE id = 1} }
  if {$work eq "planning"} { lappend setup {*}[ten {CREATE VIRTUAL TABLE jN USING edb(bench, 'public.t')}] }
  host $source $work t $units {*}$setup -client {SELECT edb_version()}
}

# Statements to set up the ten tables of `planning`.
proc peers::ten {sql} {
  set setup {}
  for {set i 1} {$i <= 10} {incr i} { lappend setup -setup [string map [list jN j$i] $sql] }
  return $setup
}
proc peers::local-tables {source work units} {
  host $source $work t $units {*}[ten {CREATE TABLE jN(id INTEGER PRIMARY KEY, name TEXT, score REAL)}]
}

# edb with each key looked up by itself, and edb as a way to copy the table first.
proc peers::lookups {source work units} {
  dict set source options join_memory=0
  edb $source join.lookup $units
}
proc peers::local-copy {source work units} { edb $source join.copy $units }

# edb without SQLite: the drivers' own calls.
proc peers::contract {source work units} {
  dict with source { list [program contract] $work $url$url_options $table $rows $units }
}

# What `load` is beside: the same rows through one prepared statement of edb's.
proc peers::prepared {source work units} { contract $source insert $units }

proc peers::edb_so {} {
  variable root
  set so [expr {[info exists ::env(EDB_SO)] && $::env(EDB_SO) ne {} ? $::env(EDB_SO) : "$root/edb.so"}]
  if {![file exists $so]} { skip "edb.so is not built" }
  return $so
}

proc peers::virtualpg {source work units} {
  variable virtualpg
  host $source $work t $units -load $virtualpg \
    -setup "CREATE VIRTUAL TABLE t USING VirtualPostgres([quote [dict get $source url]], 'public',\
      [quote [dict get $source table]][expr {[dict exists $source before] ? {, 'W'} : {}}])"
}

proc peers::vtab-floor {source work units} {
  host $source $work t $units -load [program vtab_floor.so] \
    -setup "CREATE VIRTUAL TABLE t USING vtab_floor([dict get $source rows])"
}

proc peers::attach {source work units} {
  host $source $work other.[dict get $source table] $units \
    -setup "ATTACH [quote [dict get $source file]] AS other"
}

proc peers::quote {text} { return '[string map {' ''} $text]' }

# A new SQLite file with the benchmark's rows in the table t.
proc peers::make_file {file rows} {
  file delete $file
  exec [program host] -load [program vtab_floor.so] \
    -setup "CREATE VIRTUAL TABLE f USING vtab_floor($rows)" -setup "ATTACH [quote $file] AS other" \
    -setup {CREATE TABLE other.t(id INTEGER PRIMARY KEY, name TEXT, score REAL)} \
    -setup {CREATE TABLE other.t_insert(id INTEGER PRIMARY KEY, name TEXT, score REAL)} \
    -setup {CREATE TABLE other.t_update(id INTEGER PRIMARY KEY, name TEXT, score REAL)} \
    -setup {INSERT INTO other.t SELECT id, name, score FROM f} none t $rows 0
}

# Participants that are not -----------------------------------------------------------------------

proc peers::c-libpq {source work units} { libpq single $source $work $units }
proc peers::c-libpq-chunked {source work units} { libpq chunked $source $work $units }
proc peers::c-copy {source work units} { libpq copy $source $work $units }
proc peers::c-guarded {source work units} { libpq guarded $source $work $units }
proc peers::c-reading {source work units} { libpq reading $source $work $units }

proc peers::libpq {mode source work units} {
  dict with source { list [program peer_libpq] $mode $work $url $table $rows $units }
}

proc peers::pgx {source work units} {
  dict with source { list [program pgx] $work $url $table $rows $units }
}

proc peers::duckdb {source work units} {
  variable bench
  dict with source { list [program duckdb] $bench/peer_duckdb.py $work $url $table $rows $units }
}

# Building ----------------------------------------------------------------------------------------

# The path of a program, built if need be, once a run.
proc peers::program {name} {
  variable built
  if {![dict exists $built $name]} {
    set failed [catch {build_$name} result options]
    if {$failed && [dict get $options -errorcode] ne {BENCH SKIP}} {
      return -options $options $result
    }
    dict set built $name [list $failed $result]
  }
  lassign [dict get $built $name] failed result
  if {$failed} { skip $result }
  return $result
}

proc peers::build_host {} { compile host host.c sqlite3.h libsqlite3-dev {} -lsqlite3 }
proc peers::build_vtab_floor.so {} {
  compile vtab_floor.so vtab_floor.c sqlite3ext.h libsqlite3-dev {-shared -fPIC} {}
}
proc peers::build_contract {} {
  variable root
  set build [build_folder]
  if {![file exists $build/libedb.a]} { skip "libedb.a is not built" }
  file delete [file join $peers::out contract] ;# of another edb
  compile contract contract.c sqlite3.h libsqlite3-dev -I$root [list $build/libedb.a -lsqlite3 -ldl -lpthread -lm]
}
proc peers::build_peer_libpq {} {
  set flags {}
  catch {set flags [list -I[exec pg_config --includedir] -L[exec pg_config --libdir]]}
  compile peer_libpq peer_libpq.c libpq-fe.h libpq-dev $flags {-lpq -ldl}
}

proc peers::build_folder {} {
  variable root
  expr {[info exists ::env(EDB_BUILD_DIR)] ? $::env(EDB_BUILD_DIR) : "$root/build"}
}

# Compiles SOURCE into NAME.  HEADER is what the Debian package PACKAGE would bring.
proc peers::compile {name source header package flags libs} {
  variable bench
  variable out
  set cc [expr {[info exists ::env(CC)] && $::env(CC) ne {} ? $::env(CC) : "cc"}]
  if {[catch {exec {*}$cc {*}$flags -E -x c - << "#include <$header>"}]} {
    skip "$package is not installed"
  }
  file mkdir $out
  set path [file join $out $name]
  if {![is_newer $path [list $bench/$source $bench/participant.h]]} {
    exec {*}$cc -std=c11 -O2 -Wall -Wextra -fvisibility=hidden {*}$flags -o $path $bench/$source \
      {*}$libs >@stderr 2>@1
  }
  return $path
}

# The crypto group's program and the shared object beside it, from crypto/ as make built it. Peers whose
# headers are missing are left out of it, and it says so.
proc peers::build_crypto_bench {} {
  variable bench
  variable out
  variable root
  set build [build_folder]
  set cc [expr {[info exists ::env(CC)] && $::env(CC) ne {} ? $::env(CC) : "cc"}]
  set flags {-std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -fvisibility=hidden}
  set libs {}
  if {![catch {program bearssl} library]} {
    lappend flags -I[file dirname [file dirname $library]]/inc -DBEARSSL_BUILD=$::peers::optimize
    lappend libs $library
  }
  foreach {header library} {openssl/evp.h -lcrypto bearssl.h -lbearssl wolfssl/options.h -lwolfssl} {
    if {![catch {exec $cc -E -x c - << "#include <$header>"}]} { lappend libs $library }
  }
  foreach archive {libedb.a nou128/libcrypto-edb.a} {
    if {![file exists $build/$archive]} { skip "$archive is not built" }
  }
  file mkdir $out
  exec $cc {*}$flags -o $out/crypto_bench {*}[lsort [glob $bench/crypto_*.c]] $build/libedb.a {*}$libs \
    -ldl >@stderr 2>@1
  exec $cc {*}$flags -DECR_NO_U128 -shared -fPIC -o $out/crypto_nou128.so $bench/crypto_edb.c \
    $build/nou128/libcrypto-edb.a -ldl >@stderr 2>@1
  return $out/crypto_bench
}

# BearSSL with the optimization that crypto/ has (Debian's is built for size), from its source package, which
# the system's own package sources have; where they can't be asked, Debian's build is measured.
proc peers::build_bearssl {} {
  variable out
  variable optimize
  set folder $out/bearssl
  set libraries [glob -nocomplain $folder/*/build/libbearssl.a]
  if {$libraries ne {}} { return [lindex $libraries 0] }
  file delete -force $folder
  file mkdir $folder/sources $folder/lists/partial
  foreach path [glob -nocomplain /etc/apt/sources.list.d/*.sources /etc/apt/sources.list] {
    set text [servers::read_file $path]
    set text [regsub -all -line {^Types:.*$} $text {Types: deb-src}]
    set text [regsub -all -line {^deb\s} $text {deb-src }]
    set channel [open $folder/sources/[regsub {sources[.]list$} [file tail $path] edb.list] w]
    puts $channel $text
    close $channel
  }
  set apt [list apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$folder/sources \
    -o Dir::State::lists=$folder/lists -o APT::Sandbox::User=root]
  set cwd [pwd]
  cd $folder
  try {
    puts stderr "Fetching BearSSL's source with apt-get"
    attempt "apt-get could not read the package lists" {*}$apt update
    attempt "apt-get has no source of BearSSL" {*}$apt source --download-only bearssl
    attempt "tar could not unpack BearSSL" tar xf [lindex [glob *.orig.tar.*] 0]
    cd [lindex [glob -types d bearssl-*] 0]
    attempt "BearSSL does not build" make -s lib "CFLAGS=$optimize -fPIC"
    return [pwd]/build/libbearssl.a
  } finally {
    cd $cwd
  }
}

proc peers::is_newer {path sources} {
  if {![file exists $path]} { return 0 }
  foreach source $sources {
    if {[file mtime $source] >= [file mtime $path]} { return 0 }
  }
  return 1
}

proc peers::build_pgx {} { build_go pgx }

# A program of bench/NAME, in Go.
proc peers::build_go {name} {
  variable bench
  variable out
  if {[auto_execok go] eq {}} { skip "go is not installed" }
  attempt "go could not build it" go build -C $bench/$name -o $out/$name .
  return $out/$name
}

# A program of bench/NAME, in Rust, on that crate.  A first build takes minutes; what it made stays in build/peers.
proc peers::build_cargo {name crate} {
  variable bench
  variable root
  if {[auto_execok cargo] eq {}} { skip "cargo is not installed" }
  set target $root/build/peers/cargo
  if {![file exists $target/release/$name]} { puts stderr "Building the crate $crate with cargo" }
  attempt "cargo could not build it" cargo build --quiet --release --locked \
    --manifest-path $bench/$name/Cargo.toml --target-dir $target
  return $target/release/$name
}

# DuckDB and, from a second package, the extension's file: DuckDB would fetch it from its own server
# otherwise.
proc peers::build_duckdb {} {
  variable duckdb
  build_python duckdb $duckdb
}

# A Python of its own that has these packages.
proc peers::build_python {name packages} {
  variable out
  if {[auto_execok python3] eq {}} { skip "python3 is not installed" }
  set stamp $out/$name/installed
  if {![file exists $stamp] || [exec cat $stamp] ne $packages} {
    puts stderr "Fetching [lindex $packages 0] with pip"
    attempt "python3 has no venv" python3 -m venv $out/$name
    attempt "pip could not install it" $out/$name/bin/pip install --quiet \
      --disable-pip-version-check {*}$packages
    set channel [open $stamp w]
    puts -nonewline $channel $packages
    close $channel
  }
  return $out/$name/bin/python
}

proc peers::attempt {failure args} {
  if {[catch {exec {*}$args 2>@1} message]} { skip "$failure: [lindex [split $message \n] 0]" }
}
