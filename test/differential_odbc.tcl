# ODBC in the differential test: the tables of another driver's part, read through ODBC.
#
# Tables are made and rendered by the part of the server that is behind the driver.  Left out are values that an ODBC driver
# cannot carry or gives in its own way: `without` lists declarations, by the server.

namespace eval differential::odbc {
  variable without {
    postgresql {int[] text[] pair timetz}
    mysql {point}
    sqlserver {datetimeoffset(7)}
    sqlite {}
  }
  # Of a SQLite file, values of their column's type: its ODBC driver makes them so.
  variable sqlite_types [list \
    {INTEGER int {0 1 2 -1 9223372036854775807 -9223372036854775808 9007199254740992 9007199254740993}} \
    {INT8 int {0 1 2 3}} {BIGINT int {0 1 2 -9007199254740993}} {BOOLEAN int {0 1 1 0}} {SMALLINT int {0 1 -32768}} \
    {REAL real {0 1 2 0.1 -1.5 1.7976931348623157e308 9007199254740992 1e17}} {{DOUBLE PRECISION} real {1 2 2.5}} {FLOAT real {1 0.1}} \
    {TEXT text {}} {VARCHAR(20) text {}} {{TEXT COLLATE NOCASE} text {'abc' 'ABC' 'Abc'}} {{TEXT COLLATE RTRIM} text {'abc' 'abc ' 'abc  '}} \
    {BLOB blob {x'' x'30' x'00ff' x'616263'}} {NUMERIC numeric {0 1 1.5 2 2.25}} \
    {DATE date {'0001-01-01' '9999-12-31' '2020-02-29'}} \
    {TIMESTAMP datetime {'2020-01-02 03:04:05' '2020-01-02 03:04:05.5' '1999-12-31 23:59:59'}}]
}

proc differential::odbc::define {} {
  variable without
  set base differential::[::server odbc base]
  upvar #0 ${base}::types types ${base}::keys keys ${base}::common common
  if {[::server odbc base] eq "sqlite"} {
    set types $differential::odbc::sqlite_types
    # Its driver tells of a query's column a.b that it is called b.
    set ::differential::names [lmap name $::differential::names { if {$name eq "a.b"} continue; set name }]
  }
  set drop [dict get $without [::server odbc base]]
  set types [lmap type $types { if {[lindex $type 0] in $drop} continue; set type }]
  foreach list {keys common} {
    if {[info exists $list]} { set $list [lmap name [set $list] { if {$name in $drop} continue; set name }] }
  }
  # The servers' own clients, on the server behind the driver.
  proc ::psql {sql args} { servers::psql [server_dict odbc] $sql {*}$args }
  proc ::mysql {sql args} { servers::mysql [server_dict odbc] $sql {*}$args }
  proc ::tdsd {sql} { servers::tdsd [server_dict odbc] $sql }
  ${base}::define
}

# The schema is made by the server's part, which also makes `srv` what it is without ODBC.
proc differential::odbc::connect {} {
  set ::env(EDB_TEST_[string toupper [::server odbc base]]_URL) memory:
  if {[::server odbc base] eq "sqlite"} { set ::differential::sqlite::file [servers::odbc_database [server_dict odbc]] }
  differential::[::server odbc base]::connect
  set url [::server odbc url]
  execsql { SELECT edb_server('srv', NULL); SELECT edb_server('srv', $url) }
}

proc differential::odbc::disconnect {} { differential::[::server odbc base]::disconnect }
proc differential::odbc::sql {script} {
  differential::[::server odbc base]::sql $script
}
proc differential::odbc::classes {} { differential::[::server odbc base]::classes }
proc differential::odbc::render {specs} { differential::[::server odbc base]::render $specs }

proc differential::odbc::table {i} { differential::[::server odbc base]::table $i }
