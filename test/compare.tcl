# Tables of a server beside local copies of them: the same SQL must give the same rows.
#
#   source [file join $dir compare.tcl]        after tester.tcl
#   compare pg public                          tables are of this schema of this server
#   remote kind                                its table `kind`, and a copy l_kind
#   same 1.1 { SELECT a FROM @kind WHERE b = 2 ORDER BY a } {*WHERE "b" = *}

proc compare {server schema} {
  set ::compared_server $server
  set ::compared_schema $schema
}

# The remote table NAME as itself, and as a local copy `l_NAME` with the same declared types.
proc remote {name args} {
  set options [join [linsert $args 0 {}] {, }]
  execsql "CREATE VIRTUAL TABLE $name USING edb($::compared_server, '$::compared_schema.$name'$options)"
  copy $name
}
proc copy {name} {
  set columns {}
  db eval "SELECT name AS n, type AS t FROM pragma_table_info('$name')" { lappend columns "\"$n\" $t" }
  execsql "CREATE TABLE l_$name ([join $columns {, }]); INSERT INTO l_$name SELECT * FROM $name"
}

# SQL with @NAME for each table: the same answer from the remote tables as from the local copies. PATTERNS as those of
# do_eqp_test, for the remote one.
proc same {name sql args} {
  set remote [regsub -all {@(\w+)} $sql {\1}]
  if {$args ne {}} { do_eqp_test $name.eqp $remote {*}$args }
  set expected [catchsql [regsub -all {@(\w+)} $sql {l_\1}]]
  set got [catchsql $remote]
  if {$got eq $expected && [lindex $got 0] == 0} { return [tester::pass $name] }
  tester::fail $name "$expected\n  for $remote" $got
}

# What is sent while SQL runs.
proc sent {sql} {
  execsql { SELECT edb_config('log', 1) }
  set before [db onecolumn { SELECT coalesce(max(id), 0) FROM edb_log }]
  uplevel 1 [list execsql $sql]
  set lines [db eval { SELECT text FROM edb_log WHERE id > $before }]
  execsql { SELECT edb_config('log', 0) }
  return $lines
}
proc do_sent_test {name sql expected} {
  uplevel 1 [list do_test $name [list sent $sql] $expected]
}

# The rows of the table `kind` by a condition.
proc where {name condition args} {
  same $name "SELECT id FROM @kind WHERE $condition ORDER BY id" {*}$args
}

# The rows that one has and the other lacks.
proc difference {sql} {
  execsql "SELECT * FROM (SELECT '+', * FROM ([regsub -all @ $sql {}] EXCEPT [regsub -all @ $sql l_]) LIMIT 5)
    UNION ALL SELECT * FROM (SELECT '-', * FROM ([regsub -all @ $sql l_] EXCEPT [regsub -all @ $sql {}]) LIMIT 5)"
}

# Every column of the table against every value by every operator, as a literal and as a join's key of each affinity, and
# as one that is looked for in a hash.
proc every_condition {name table columns values} {
  execsql { CREATE TABLE v_none(k INTEGER PRIMARY KEY, v); CREATE TABLE v_text(k INTEGER PRIMARY KEY, v TEXT);
            CREATE TABLE v_num(k INTEGER PRIMARY KEY, v NUMERIC); CREATE TABLE v_blob(k INTEGER PRIMARY KEY, v BLOB) }
  foreach local {v_none v_text v_num v_blob} {
    foreach value $values { execsql "INSERT INTO $local (v) VALUES ($value)" }
  }
  execsql "CREATE VIRTUAL TABLE hash_$table USING edb($::compared_server, '$::compared_schema.$table', join_lookups=0)"
  foreach column $columns {
    do_test $name.literal.$column {
      set wrong {}
      foreach value $values {
        foreach condition [list "= $value" "< $value" "<= $value" "> $value" ">= $value" "IS $value" \
            "IN ($value, 3)" "IN (SELECT $value UNION ALL SELECT NULL)" "BETWEEN $value AND 'b'"] {
          set sql "SELECT id FROM @$table WHERE $column $condition ORDER BY id"
          if {[execsql [string map {@ {}} $sql]] ne [execsql [string map {@ l_} $sql]]} {
            lappend wrong $condition [difference [string map {{ ORDER BY id} {}} $sql]]
          }
        }
      }
      set wrong
    } {}
    do_test $name.join.$column {
      set wrong {}
      foreach local {v_none v_text v_num v_blob} {
        foreach op {= < <= > >= IS} {
          set sql "SELECT k, id FROM $local CROSS JOIN @$table ON @$table.$column $op v"
          set lost [difference $sql]
          if {$lost ne {}} { lappend wrong "$local $op" $lost }
        }
      }
      set wrong
    } {}
    do_test $name.hash.$column {
      set wrong {}
      foreach local {v_none v_text v_num v_blob} {
        set sql "SELECT k, id FROM $local CROSS JOIN % ON %.$column = v ORDER BY 1, 2"
        if {[execsql [string map "% hash_$table" $sql]] ne [execsql [string map "% l_$table" $sql]]} { lappend wrong $local }
      }
      set wrong
    } {}
    do_test $name.left.$column {
      difference "SELECT k, id FROM v_none LEFT JOIN @$table ON @$table.$column = v AND id < 100"
    } {}
  }
}
