# What of ORDER BY, LIMIT, min() and max(), counts and conditions reaches PostgreSQL, and what planning costs.

namespace eval planner {
  variable works {
    filter      {peers {virtualpg} targets {virtualpg 20}}
    topn        {peers {virtualpg} targets {virtualpg 500}}
    count.where {peers {virtualpg} targets {virtualpg 20}}
    minmax      {peers {virtualpg} targets {virtualpg 200}}
    planning    {peers {local-tables} targets {local-tables 0.667}}
  }
}

proc planner::group {} {
  variable works
  if {[lmap work [dict keys $works] { if {![bench::is_wanted $work]} continue; set work }] eq {}} return
  if {[catch {servers::start postgresql} server options]} {
    if {[dict get $options -errorcode] ne {SERVERS UNAVAILABLE}} { return -options $options $server }
    foreach work [dict keys $works] { bench::record [dict create case $work peer virtualpg skipped $server] }
    return
  }
  bench::progress planner "making $bench::rows rows"
  set server [bench::make_postgresql_tables $server]
  servers::psql $server "CREATE TABLE t_kind AS SELECT *, (id % 10)::int AS kind FROM t;
    ALTER TABLE t_kind ADD PRIMARY KEY (id); CREATE INDEX ON t_kind(kind)"
  servers::psql $server {VACUUM (ANALYZE, FREEZE) t_kind}
  set source [dict create server $server url [dict get $server url] libdir [dict get $server libdir] table t \
    rows $bench::rows indexed 1 schema public. url_options {} secret [servers::percent_encode [dict get $server password]]]
  set facts [bench::facts "PostgreSQL [dict get $server version]" [bench::client_version c-libpq $source]]
  dict for {work spec} $works {
    dict set source table [expr {$work eq "count.where" ? "t_kind" : "t"}]
    bench::run_case $work $work $spec $source $facts
  }
  servers::stop postgresql
}
