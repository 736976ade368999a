# Joins of a local table with a remote one, on PostgreSQL and MariaDB (.mysql): few keys, many keys, and a list of keys.

namespace eval joins {
  variable works {
    join.lookup {peers {virtualpg} targets {virtualpg 500}}
    join.hash   {peers {local-copy lookups} targets {local-copy 0.625 lookups 20}}
    join.in     {peers {lookups} targets {lookups 15}}
  }
}

# On the server of that name; `make` makes its tables. VirtualPG speaks to PostgreSQL alone.
proc joins::group {name suffix make} {
  variable works
  set wanted {}
  dict for {work spec} $works {
    if {[bench::is_wanted $work$suffix] && !($suffix ne {} && $work eq "join.lookup")} { lappend wanted $work }
  }
  if {$wanted eq {}} return
  if {[catch {servers::start $name} server options]} {
    if {[dict get $options -errorcode] ne {SERVERS UNAVAILABLE}} { return -options $options $server }
    foreach work $wanted { bench::record [dict create case $work$suffix peer lookups skipped $server] }
    return
  }
  bench::progress join "making $bench::rows rows"
  set server [bench::$make $server]
  set mysql [expr {$suffix ne {}}]
  set source [dict create server $server url [dict get $server url] libdir [dict get $server libdir] table t \
    rows $bench::rows indexed 1 schema [expr {$mysql ? {} : "public."}] url_options [expr {$mysql ? "?ssl-mode=DISABLED" : {}}] \
    secret [servers::percent_encode [dict get $server password]]]
  set title [expr {$mysql ? {} : "PostgreSQL "}]
  set facts [bench::facts "$title[dict get $server version]" [bench::client_version [expr {$mysql ? "c-binary" : "c-libpq"}] $source]]
  foreach work $wanted { bench::run_case $work$suffix $work [dict get $works $work] $source $facts }
  servers::stop $name
}
