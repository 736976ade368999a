# The rows in the TDS test server, and the participants that only SQL Server's cases have.  Each is as peers.tcl
# says; its program is told the server's port, database, password and certificate instead of a URL.

namespace eval peers {
  # Exact versions.  go-mssqldb's is in gomssql/go.mod, tiberius's in rusttiberius/Cargo.lock, python-tds is Debian's.
  variable tedious tedious@19.2.1
  variable mssql_python {mssql_python==1.16.0}
}

# Makes the tables and views in a database of their own; returns the server's dict with it.  What scans of t read is
# kept as the server's prepared answer, which it then only cuts into packets and encrypts.
proc bench::make_sqlserver_tables {server} {
  variable rows
  set server [servers::database $server bench]
  foreach {table n} [list t $rows t_10k 10000 t_insert 0] {
    servers::tdsd $server "CREATE TABLE $table (id bigint NOT NULL PRIMARY KEY, name nvarchar(40), score float)"
    if {$n > 0} { servers::tdsd $server "INSERT INTO $table SELECT [rows::sqlserver $n]" }
  }
  foreach {view n} {series_10m 10000000 series_10k 10000} {
    servers::tdsd $server "CREATE VIEW $view AS SELECT [rows::sqlserver $n]"
  }
  foreach columns {{id, name, score} {[id], [name], [score]}} table {t [dbo].[t]} {
    set sql "SELECT $columns FROM $table"
    servers::tdsd_control $server "replay bench [string length $sql]" $sql
  }
  return $server
}

# The scan again with each cipher, under the same peers' names.
proc bench::run_ciphers {source facts} {
  set spec {peers {freetds} targets {}}
  foreach cipher {portable native openssl} {
    dict set source url_options &cipher=$cipher
    run_case sqlserver.scan.$cipher scan $spec $source $facts
  }
}

proc peers::sqlserver {source work units args} {
  dict with source {
    dict with server {
      list {*}$args $work $port $database $password $ca $table $rows $units
    }
  }
}

proc peers::freetds {source work units} {
  variable out
  set program [program peer_freetds]
  dict with source {
    dict with server {
      servers::write_file $out/freetds.conf "\[bench\]\nhost = localhost\nport = $port\ntds version = 7.4\n\
        encryption = require\nca file = $ca\nclient charset = UTF-8\n"
      list env FREETDSCONF=$out/freetds.conf $program $work $user $password $database $table $rows $units
    }
  }
}

proc peers::build_peer_freetds {} { compile peer_freetds peer_freetds.c sybdb.h freetds-dev {} -lsybdb }

proc peers::go-mssqldb {source work units} { sqlserver $source $work $units [program gomssql] }
proc peers::build_gomssql {} { build_go gomssql }

proc peers::tiberius {source work units} { sqlserver $source $work $units [program rusttiberius] }
proc peers::build_rusttiberius {} { build_cargo rusttiberius tiberius }

proc peers::tedious {source work units} {
  variable bench
  sqlserver $source $work $units node $bench/peer_tedious.js [program tedious]
}

proc peers::build_tedious {} {
  variable tedious
  if {[catch {servers::npm $tedious} folder]} { skip $folder }
  return $folder
}

proc peers::python-tds {source work units} {
  variable bench
  sqlserver $source $work $units [program python_tds] $bench/peer_mssql.py pytds
}

# The Python that has Debian's python3-tds.
proc peers::build_python_tds {} {
  attempt "python3-tds is not installed" /usr/bin/python3 -c {import pytds}
  return /usr/bin/python3
}

proc peers::mssql-python {source work units} {
  variable bench
  sqlserver $source $work $units [program mssql_python] $bench/peer_mssql.py mssql_python
}

proc peers::build_mssql_python {} {
  variable mssql_python
  build_python mssql_python $mssql_python
}
