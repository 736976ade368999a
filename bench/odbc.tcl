# The rows behind ODBC drivers, and the participants of ODBC's cases.  Each is as peers.tcl says.
#
# `t` has its names in a varchar(40), which drivers describe by its size; `t_long` has them in a text, for which no buffer is
# large enough by what drivers say of it.

# Makes the tables in a database of their own; returns the server's dict with it.
proc bench::make_odbc_tables {server} {
  variable rows
  set server [servers::database $server bench]
  if {[dict get $server base] eq "mysql"} { servers::sql $server "SET GLOBAL innodb_buffer_pool_size = 512 << 20" }
  foreach {table type n} [list t varchar(40) $rows t_long text $rows t_10k varchar(40) 10000 t_insert varchar(40) 0] {
    servers::sql $server "CREATE TABLE $table (id bigint PRIMARY KEY, name $type, score double precision)"
    if {$n == 0} continue
    servers::sql $server "INSERT INTO $table SELECT [expr {[dict get $server base] eq "mysql"
      ? "[rows::mariadb seq] FROM seq_1_to_$n" : "[rows::postgresql i] FROM generate_series(1::bigint, $n) AS i"}]"
  }
  servers::sql $server [expr {[dict get $server base] eq "mysql"
    ? "ANALYZE TABLE t, t_long, t_10k" : "VACUUM (ANALYZE, FREEZE)"}]
  return $server
}

# The scan again where names are of a type without a size.
proc bench::run_long_texts {group source facts} {
  variable odbc_long
  dict set source table t_long
  run_case $group.scan.long scan $odbc_long $source $facts
}

proc peers::c-getdata {source work units} { peer_odbc getdata $source $work $units }
proc peers::c-block {source work units} { peer_odbc block $source $work $units }
proc peers::c-block-utf8 {source work units} { peer_odbc utf8 $source $work $units }

proc peers::peer_odbc {mode source work units} {
  dict with source { list [program peer_odbc] $mode $work $url $table $rows $units }
}

proc peers::build_peer_odbc {} { compile peer_odbc peer_odbc.c sqlext.h unixodbc-dev {} -lodbc }
