# What the suites of ODBC share: their server behind the driver, and how its SQL differs.
#
#   source [file join $dir odbc.tcl]        after tester.tcl
#   engine { CREATE TABLE t(a int) }        runs SQL on the server behind the driver, without ODBC
#   $base                                   postgresql, mysql, sqlite or sqlserver

requires odbc
set base [server odbc base]
set url [server odbc url]
set secret [server odbc secret]

proc engine {sql} { servers::sql [server_dict odbc] $sql }

# A word of the row for this server: [by_base postgresql text mysql longtext …]; `else` for those without one.
proc by_base {args} {
  if {[dict exists $args $::base]} { return [dict get $args $::base] }
  dict get $args else
}

# Types by what they hold, as each server calls them.
proc type_of {kind} { dict get $::odbc_types $kind $::base }
set odbc_types {
  text    {postgresql text mysql longtext sqlite TEXT sqlserver nvarchar(max)}
  varchar {postgresql varchar(50) mysql varchar(50) sqlite varchar(50) sqlserver nvarchar(50)}
  bytes   {postgresql bytea mysql longblob sqlite BLOB sqlserver varbinary(max)}
  double  {postgresql float8 mysql double sqlite double sqlserver float}
  moment  {postgresql timestamp mysql datetime(6) sqlite timestamp sqlserver datetime2(6)}
}

# A literal of text, and of bytes in hexadecimal.
proc text_literal {text} { return [by_base sqlserver N else {}]'[string map [by_base mysql {' '' \\ \\\\} else {' ''}] $text]' }
proc bytes_literal {hex} { by_base postgresql "'\\x$hex'" mysql "X'$hex'" sqlite "X'$hex'" sqlserver 0x$hex }

# The numbers 1 to N as the rows of a SELECT with the column i.
proc series {n select} {
  by_base postgresql "SELECT $select FROM generate_series(1, $n) AS s(i)" \
    mysql "SELECT $select FROM (SELECT seq AS i FROM seq_1_to_$n) AS s" \
    sqlite "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < $n) SELECT $select FROM s" \
    sqlserver "SELECT $select FROM (SELECT value AS i FROM GENERATE_SERIES(1, $n)) AS s"
}
