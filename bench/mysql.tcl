# The rows in MariaDB, and the participants that only MySQL's cases have.  Each is as peers.tcl says.

namespace eval peers {
  # Exact versions.  go-sql-driver's is in gomysql/go.mod, the crate's in rustmysql/Cargo.lock.
  variable pymysql {PyMySQL==1.2.4}
  variable mysql2 mysql2@3.24.6
}

# Makes the tables and views in a database of their own; returns the server's dict with it.
proc bench::make_mysql_tables {server} {
  variable rows
  set server [servers::database $server bench]
  # All of the rows stay in the server's memory, as PostgreSQL's do in the system's.
  append sql "SET GLOBAL innodb_buffer_pool_size = 512 << 20;\n"
  foreach {table n} [list t $rows t_10k 10000 t_insert 0 t_update 0] {
    append sql "CREATE TABLE $table (id bigint PRIMARY KEY, name text, score double) ENGINE = InnoDB;\n"
    if {$n > 0} { append sql "INSERT INTO $table SELECT [rows::mariadb seq] FROM seq_1_to_$n;\n" }
  }
  foreach {view n} {series_10m 10000000 series_10k 10000} {
    append sql "CREATE VIEW $view AS SELECT [rows::mariadb seq] FROM seq_1_to_$n;\n"
  }
  append sql "ANALYZE TABLE t, t_10k;\n"
  servers::mysql $server $sql
  return $server
}

# What a C programmer would write: rows as text, by a prepared statement, or counted one by one.
proc peers::c-text {source work units} { peer_mysql text $source $work $units }
proc peers::c-binary {source work units} { peer_mysql binary $source $work $units }
# Of ODBC and PostgreSQL, too: one program a client library.
proc peers::c-prepared {source work units} {
  switch -glob [dict get $source url] {
    odbc:* { peer_odbc block $source $work $units }
    postgresql:* { libpq prepared $source $work $units }
    default { peer_mysql binary $source $work $units }
  }
}
proc peers::c-multirow {source work units} { peer_mysql multirow $source $work $units }
proc peers::fetching {source work units} { peer_mysql fetch $source $work $units }

proc peers::peer_mysql {mode source work units} {
  dict with source { list [program peer_mysql] $mode $work $url $table $rows $units }
}

proc peers::build_peer_mysql {} {
  set flags {}
  catch {set flags [list {*}[exec mariadb_config --include]]}
  compile peer_mysql peer_mysql.c mysql.h libmariadb-dev $flags -lmariadb
}

proc peers::go-sql-driver {source work units} {
  dict with source { list [program gomysql] $work $url $table $rows $units }
}

proc peers::build_gomysql {} { build_go gomysql }

proc peers::rust-mysql {source work units} {
  dict with source { list [program rustmysql] $work $url $table $rows $units }
}

proc peers::build_rustmysql {} { build_cargo rustmysql mysql }

proc peers::mysql2 {source work units} {
  variable bench
  dict with source { list node $bench/peer_mysql2.js [program mysql2] $work $url $table $rows $units }
}

proc peers::build_mysql2 {} {
  variable mysql2
  if {[catch {servers::npm $mysql2} folder]} { skip $folder }
  return $folder
}

proc peers::pymysql {source work units} {
  variable bench
  dict with source { list [program pymysql] $bench/peer_pymysql.py $work $url $table $rows $units }
}

proc peers::build_pymysql {} {
  variable pymysql
  build_python pymysql $pymysql
}
