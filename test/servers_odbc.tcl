# ODBC data sources for servers.tcl: another kind's server, or a SQLite file, through an ODBC driver.
#
# Its dict is that of the server behind it (servers_KIND.tcl), with: base (that server's kind), dsn, driver (the .so),
# environment (what a process must have in its environment to see this data source and no other) and secret (what
# an error must not show).  `url` is a connection string: edb's, behind `odbc:`.
#
# Each data source has a folder with an odbcinst.ini and an odbc.ini of its own below build/test, which the runner
# clears; nothing of the system's is read.

namespace eval servers {
  # One table row a data source: the server behind it, Debian's package of the driver and its file, and what the DSN says
  # beside where the server is.  Fetch= is small so that cursors are fetched from more than once.
  variable odbc_sources {
    odbc_postgresql {on postgresql package odbc-postgresql driver psqlodbcw.so
      settings {ByteaAsLongVarBinary 1}}
    odbc_postgresql_cursor {on postgresql package odbc-postgresql driver psqlodbcw.so
      settings {ByteaAsLongVarBinary 1 BoolsAsChar 0 UseDeclareFetch 1 Fetch 64 MaxLongVarcharSize 100}}
    odbc_mysql {on mariadb package odbc-mariadb driver libmaodbc.so settings {}}
    odbc_sqlite {on {} package libsqliteodbc driver libsqlite3odbc.so settings {}}
    odbc_sqlserver {on tdsd package tdsodbc driver libtdsodbc.so settings {}}
  }
}

proc servers::find_odbc {name} {
  variable odbc_sources
  set source [dict get $odbc_sources $name]
  if {![odbc_manager]} { unavailable "unixODBC is not installed" }
  set driver [odbc_driver [dict get $source driver]]
  if {$driver eq {}} { unavailable "[dict get $source package] is not installed" }
  dict set source driver $driver
}

# Where distributions keep ODBC drivers; {} if it is in none of these.
proc servers::odbc_driver {file} {
  lindex [glob -nocomplain /usr/lib/*/odbc/$file /usr/lib64/$file /usr/lib/*/$file /usr/lib/$file] 0
}

proc servers::odbc_manager {} {
  expr {[glob -nocomplain /usr/lib/*/libodbc.so.2 /usr/lib64/libodbc.so.2 /usr/lib/libodbc.so.2] ne {}}
}

proc servers::start_odbc {name found dir} {
  variable root
  file delete -force $dir
  set build [expr {[info exists ::env(EDB_BUILD_DIR)] ? $::env(EDB_BUILD_DIR) : "$root/build"}]
  set dir $build/test/[pid]/$name
  file mkdir $dir
  dict with found {
    set server [expr {$on eq {} ? [odbc_file $dir] : [start $on]}]
    set server [dict merge $server [dict create name $name kind odbc base [dict get $server kind] dsn edb_$name \
      driver $driver ini $dir secret [dict get $server password] \
      version "[dict get $server version] by [file tail $driver]"]]
    write_file $dir/odbcinst.ini "\[$name driver\]\nDriver = $driver\n"
    set lines {}
    foreach {key value} [concat [odbc_[dict get $server base] $server] $settings] { lappend lines "$key = $value" }
    write_file $dir/odbc.ini "\[edb_$name\]\nDriver = $name driver\n[join $lines \n]\n"
  }
  dict set server environment [list ODBCSYSINI=$dir ODBCINI=$dir/odbc.ini FREETDSCONF=$dir/freetds.conf]
  add_urls $server
}

# What a DSN says of where the server is; the user and the password are in the connection string.
proc servers::odbc_postgresql {server} {
  dict with server { list Servername $host Port $port Database $database SSLmode disable }
}
proc servers::odbc_mysql {server} {
  dict with server { list SERVER $host PORT $port DATABASE $database CHARSET utf8mb4 }
}
proc servers::odbc_sqlite {server} { list Timeout 20000 FKSupport 1 }

# FreeTDS looks for the authorities in its own file only.
proc servers::odbc_sqlserver {server} {
  dict with server {
    write_file $ini/freetds.conf "\[edb\]\nhost = localhost\nport = $port\ntds version = 7.4\n\
      encryption = require\nca file = $ca\nclient charset = UTF-8\n"
    list Servername edb
  }
}

# A SQLite file as a server.
proc servers::odbc_file {dir} {
  package require sqlite3
  dict create kind sqlite version "SQLite [sqlite3 -version]" host {} port {} user {} password {} database main \
    libdir {} pid {} dir $dir
}

# The database of a file is its name.
proc servers::odbc_database {server} {
  dict with server { expr {$base eq "sqlite" ? "$dir/$database.db" : $database} }
}

proc servers::url_odbc {server secret} {
  set words [list DSN=[dict get $server dsn] Database=[odbc_database $server]]
  if {[dict get $server base] ne "sqlite"} {
    lappend words UID=[dict get $server user]
    if {$secret ne {}} { lappend words PWD=[dict get $server password] }
  }
  return odbc:[join $words {;}]
}

proc servers::database_odbc {server name} { database_[dict get $server base] $server $name }
proc servers::sql_odbc {server sql} { sql_[dict get $server base] $server $sql }
proc servers::sql_sqlserver {server sql} { tdsd $server $sql }

proc servers::database_sqlite {server name} {
  foreach file [glob -nocomplain [dict get $server dir]/$name.db*] { file delete $file }
}

# Rows as mariadb's client prints them: tabs between columns, NULL for NULL.
proc servers::sql_sqlite {server sql} {
  sqlite3 servers::file [odbc_database $server]
  servers::file timeout 20000
  servers::file nullvalue NULL
  try {
    set lines {}
    # A comment at its beginning would be an option to Tcl.
    servers::file eval "\n$sql" row { lappend lines [join [lmap name $row(*) { set row($name) }] \t] }
    join $lines \n
  } finally {
    servers::file close
  }
}
