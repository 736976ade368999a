# Values of a type, through a table, through query= and through edb_query.
#
#   source [file join $dir check.tcl]          after tester.tcl
#   set checked {pg psql}                      the edb server, and the proc that runs SQL on it
#   check int2 int2 INTEGER {-1 integer -1 0 integer 0}

set tables 0

# Checks TYPE, declared as DECLARED here. VALUES: SQL literal, typeof, value, …; each also by query= and by edb_query,
# where -query and -exec say what differs there (a list as VALUES, without the literals).
proc check {name type declared values args} {
  array set option {-query {} -exec {} -options {} -setup {}}
  array set option $args
  set t v[incr ::tables]
  set server [lindex $::checked 0]
  set expected {}
  set sql "$option(-setup); CREATE TABLE $t (id int PRIMARY KEY, v $type);\n"
  set id 0
  foreach {literal kind value} $values {
    append sql "INSERT INTO $t VALUES ([incr id], $literal);\n"
    lappend expected $kind $value
  }
  append sql "INSERT INTO $t VALUES ([incr id], NULL);"
  [lindex $::checked 1] $sql
  lappend expected null NULL
  set query [expr {$option(-query) eq {} ? $expected : [concat $option(-query) null NULL]}]
  set exec [expr {$option(-exec) eq {} ? $query : [concat $option(-exec) null NULL]}]
  set more [expr {$option(-options) eq {} ? {} : ", $option(-options)"}]
  uplevel #0 [list do_test $name.table [list execsql "
    CREATE VIRTUAL TABLE $t USING edb($server, '$t'$more);
    SELECT type FROM pragma_table_info('$t') WHERE name = 'v';
    SELECT typeof(v), CASE typeof(v) WHEN 'blob' THEN hex(v) ELSE v END FROM $t ORDER BY id"] \
    [list $declared {*}$expected]]
  uplevel #0 [list do_test $name.query [list execsql "
    CREATE VIRTUAL TABLE q$t USING edb($server, query='SELECT id, v FROM $t'$more);
    SELECT typeof(v), CASE typeof(v) WHEN 'blob' THEN hex(v) ELSE v END FROM q$t ORDER BY id"] $query]
  if {$more ne {}} return
  uplevel #0 [list do_test $name.exec [list execsql "
    SELECT typeof(c1), CASE typeof(c1) WHEN 'blob' THEN hex(c1) ELSE c1 END
      FROM edb_query('$server', 'SELECT v FROM $t ORDER BY id')"] $exec]
}
