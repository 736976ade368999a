# Random queries over the round's tables (differential::tables).
#
# A scope is a list of the columns that an expression may name: {sql class values server} as dicts, sql with the
# alias before the column. What is made must have one right answer: no sums of floats, no bare columns beside an
# aggregate, no LIMIT in a place where it decides which rows are looked at, no text made of a REAL column (-0.0 is
# kept by edb, and stored as 0.0). Of 1 and 1.0 in a column without affinity, min, DISTINCT and the like give either:
# such queries are `loose`.

namespace eval differential {
  variable bound                     ;# the query's variables so far
  # Where numbers and moments of one kind meet those of another.
  variable number_edges {0.5 1.5 -0.5 2.5 1e19 -1e19 9e999 -9e999 9223372036854775807 9223372036854775808.0 -9223372036854775808
    -9223372036854775808.0 9223372036854774784.0 9007199254740993 9007199254740992.0 -9007199254740993 9007199254740991
    100000000000000001 1e17 0 1 -0.0 '1' '1.5' ' 2 ' '9007199254740993' 1e-320 1.7976931348623157e308 -1e308
    '9007199254740992.5' '12345678901234567890' 12345678901234567890 12345678901234567.89 '0.1000000000000000000001' 0.1 0.30000000000000004
    '0.12345678901234567890123' 3 1e27 1.2345678901234568e27 '1e28' 1e-20 18446744073709551615 '18446744073709551615'}
  # Integers that no double equals, beside doubles of the tables.
  variable real_edges {9007199254740993 -9007199254740993 100000000000000001 9223372036854775807 9007199254740991 1 2 0
    9e999 -9e999 0.5 '1' '9007199254740993' 1e-320 1.7976931348623157e308}
  variable moment_edges {'2020-01-01' '2020-01-02' '2020-01-02x' '2020-01-02 00:00:00' '2020-01-02 03:04:05' '2020-01-02 03:04:02Z'
    '2020-01-02 03:04:01.5' '2020-01-02 03:04:01.5Z' '2020-01-02T03:04:05' '2020-01-01 03:04' '2020-01-32' '2020-01' '2020'
    '0000-01-01' '0001-01-01' '0001-01-01 00:00:00' '9999-12-31' '9999-12-31 23:59:59.999999' '9999-12-31x' '10000-01-01'
    '2020-01-02 03:04:05.0000005' '03:04:02.4999999' '03:04:01.0000001'
    'infinity' '-infinity' '0044-03-15 BC' '03:04:02' '03:04:02.5' '24:00:00' 2020 ''}
  # Values that belong to nobody.
  variable edges {NULL '' 0 1 -1 '0' '00' ' 1 ' '1.0' 1.0 '1e0' 'abc' 'ABC' 'abc ' 'é' x'' x'30' x'616263' 0.5 1.5 -0.0
    1e308 -1e308 9e999 -9e999 5e-324 9223372036854775807 -9223372036854775808 9223372036854775808.0
    -9223372036854775808.0 9223372036854774784.0 9007199254740992 9007199254740993 9007199254740992.0 '9007199254740993'
    '9223372036854775808' 'Z' 'inf' 'NaN' 'infinity' '-infinity' '2020-01-02' '2020-01-02 03:04:05' '2020-01-02 03:04:05Z'
    '2020-01-02 03:04:05.5' '2020-01-02 03:04:05.5Z' '2020-01-02T03:04:05' '2020-01-02 03:04' '2020-01-32' '2020-01-02x'
    '2020-01' '2020' '0000-01-01' '0001-01-01' '9999-12-31' '9999-12-31 23:59:59.999999' '9999-12-31x' '10000-01-01'
    '1' '5' '+5' '-0' '03:04:05' '24:00:00' '24' '03:04' char(128512) char(65535) '{}' '[1,2]' 100000000000000000000
    12345678901234567890 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'
    2147483648 -2147483649 32768 0.1 16777217 true false 7 2 3}
}

# The query as `try` takes it.
proc differential::query {} {
  variable bound {}
  set made [query_[random::weighted {where 30 or 20 join 18 aggregate 9 distinct 6 limit 8 compound 8 window 5 with 8 select 6
    error 1 topn 16 minmax 5 count 7 group 3 prefix 10 bulk 3 list 2}]]
  dict merge {order {} full {} loose 0} $made [dict create v $bound]
}

# Constants -----------------------------------------------------------------------------------------

# An SQL literal that has to do with the column. SQLite finds no rowid by -9223372036854775808.0, nor by the same
# integer if both are in a list; other columns equal it.
proc differential::constant {column} {
  set value [any_constant $column]
  if {[dict get $column name] eq "rowid" && [regexp {^'?-9[\d.]+(e\+18|\.0)'?$} $value]} { return -1.0 }
  return $value
}

proc differential::any_constant {column} {
  variable edges
  variable number_edges
  variable real_edges
  variable moment_edges
  set values [dict get $column values]
  set class [dict get $column class]
  if {$values eq {} || [random::chance 25]} {
    if {[random::chance 40]} {
      set list $edges
    } elseif {$class eq "real"} {
      set list $real_edges
    } elseif {$class in {int numeric}} {
      set list $number_edges
    } elseif {$class in {date time datetime}} {
      set list $moment_edges
    } else {
      set list $edges
    }
    return [random::pick [literals $list]]
  }
  set value [random::pick $values]
  if {[random::chance [expr {$class eq "text" ? 65 : 45}]]} { return $value }
  literal [lindex [db eval "SELECT quote([changed $value $class])"] 0]
}

# SQL for a value beside the value.
proc differential::changed {value class} {
  set type [lindex [db eval "SELECT typeof($value)"] 0]
  if {$type eq "text" && $class in {int numeric} && [random::chance 60]} { set type digits }
  if {$type eq "text" && $class in {date time datetime} && [random::chance 80]} { set type moment }
  # Less after it than a server keeps.
  if {$type eq "moment" && $class ne "date" && [random::chance 30]} { set type finer }
  switch $type {
    integer - real {
      set form [random::pick {{%s + 1} {%s - 1} {%s + 0.5} {%s + 0.5} {%s - 0.5} {CAST(%s AS INTEGER) + 1} {CAST(%s AS INTEGER) - 1} {CAST(%s AS TEXT)} {CAST(%s AS REAL)} {-(%s)} {' ' || %s} {%s * 1.0000000001}
        {CAST(%s AS INTEGER)} {%s || '.0'} {%s || 'x'}}]
    }
    text {
      set form [random::pick {upper(%s) lower(%s) {%s || ' '} {' ' || %s} {rtrim(%s)} {substr(%s, 1, 10)} {substr(%s, 1, 19)}
        {substr(%s, 1, 1)} {substr(%s, 1, length(%s) - 1)} {%s || 'Z'} {%s || '.5'} {%s || ' 00:00:00'} {%s || '0'} {date(%s, '+1 day')}
        {date(%s, '-1 day')} {datetime(%s, '+1 second')} {%s || char(0xffff)} {replace(%s, 'Z', '')} {replace(%s, ' ', 'T')}
        {CAST(%s AS BLOB)} {%s || '%%'} {replace(%s, '-', '')}}]
    }
    digits {
      set form [random::pick {{CAST(%s AS NUMERIC)} {CAST(%s AS REAL)} {CAST(%s AS REAL) * 1.0000000000000002} {CAST(%s AS REAL) / 1.0000000000000002}
        {%s + 1} {CAST(%s AS INTEGER)} {%s || '1'} {%s || 'e0'} {' ' || %s} {substr(%s, 1, length(%s) - 1)} {CAST(%s AS REAL) * 1.0000000001}}]
    }
    finer { set form "%s || iif(instr(%s, '.'), '', '.') || '0000001'" }
    moment {
      set form [random::pick {{%s || ' '} {%s || 'Z'} {%s || '.5'} {%s || ' 00:00:00'} {%s || ' 12:00:00.5Z'} {%s || 'x'}
        {replace(%s, '.5', '.4999999')} {replace(%s, '.25', '.2499999')}
        {substr(%s, 1, 10)} {substr(%s, 1, 19)} {substr(%s, 1, 16)} {replace(%s, 'Z', '')} {replace(%s, 'Z', '.5Z')}
        {replace(%s, '.', '')} {rtrim(%s, 'Z5') || 'Z'} {date(%s, '+1 day')} {date(%s, '-1 day')} {datetime(%s, '+1 second')}
        {datetime(%s, '-1 second') || 'Z'} {replace(%s, ' ', 'T')} {substr(%s, 1, 19) || '.999'} {' ' || %s}}]
    }
    blob { set form [random::pick {{CAST(%s AS TEXT)} {%s || x'00'} hex(%s)}] }
    default { set form %s }
  }
  string map [list %% % %s $value] $form
}

# The constant as a literal, or bound.
proc differential::operand {column} {
  variable bound
  set value [constant $column]
  if {[random::chance 65]} { return $value }
  set class [lindex [db eval "SELECT typeof($value)"] 0]
  set name v[expr {[llength $bound] + 1}]
  switch $class {
    blob { set bare [lindex [db eval "SELECT hex($value)"] 0] }
    real { set bare [string map {9e999 Inf} $value] }
    integer { set bare [lindex [db eval "SELECT $value"] 0] }
    default { set bare $value }
  }
  lappend bound [list $name $class $bare]
  return \$$name
}

# Conditions ----------------------------------------------------------------------------------------

proc differential::condition {scope {depth 2} {subqueries 1}} {
  if {$depth > 0} {
    switch [random::weighted {leaf 62 and 16 or 18 not 4}] {
      and { return "[condition $scope [expr {$depth - 1}] $subqueries] AND [condition $scope [expr {$depth - 1}] $subqueries]" }
      or { return "([condition $scope [expr {$depth - 1}] $subqueries] OR [condition $scope [expr {$depth - 1}] $subqueries])" }
      not { return "NOT ([condition $scope [expr {$depth - 1}] $subqueries])" }
    }
  }
  leaf $scope $subqueries
}

proc differential::leaf {scope {subqueries 1}} {
  set column [random::pick $scope]
  set kind [random::weighted {compare 40 near 14 is 8 null 9 between 8 in 12 in_select 5 like 7 columns 6 collate 5 cast 6 row 2
    exists 3 scalar 2 strange 3}]
  if {!$subqueries && $kind in {in_select exists scalar}} { set kind compare }
  condition_$kind $column [dict get $column sql] $scope
}

proc differential::operator {} { random::weighted {= 8 < 3 <= 3 > 3 >= 3 <> 1 == 1} }

proc differential::condition_compare {column c scope} {
  if {[random::chance 12]} { return "[operand $column] [operator] $c" }
  return "$c [operator] [operand $column]"
}

# A number or a moment against one just beside a value that is there.
proc differential::condition_near {column c scope} {
  set found [lmap one $scope {
    expr {[dict get $one class] in {int real date time datetime} && [dict get $one values] ne {} ? $one : [continue]}
  }]
  if {$found eq {}} { return [condition_compare $column $c $scope] }
  set column [random::pick $found]
  set near [changed [random::pick [dict get $column values]] [dict get $column class]]
  set near [literal [lindex [db eval "SELECT quote($near)"] 0]]
  if {[string match -9.22*e+18 $near]} { set near 0 }
  return "[dict get $column sql] [random::pick {< <= > >=}] $near"
}

proc differential::condition_is {column c scope} {
  return "$c [random::pick {IS {IS NOT} {IS NOT DISTINCT FROM} {IS DISTINCT FROM} IS}] [operand $column]"
}

proc differential::condition_null {column c scope} {
  random::pick [list "$c IS NULL" "$c IS NOT NULL" "$c ISNULL" "$c NOTNULL" "$c = NULL" "$c IS TRUE" "$c IS NOT FALSE" $c]
}

proc differential::condition_between {column c scope} {
  return "$c [random::pick {BETWEEN BETWEEN {NOT BETWEEN}}] [operand $column] AND [operand $column]"
}

proc differential::condition_in {column c scope} {
  set list {}
  for {set n [random::weighted {0 2 1 10 2 20 3 20 5 20 9 10 40 3}]} {$n > 0} {incr n -1} {
    lappend list [if {[random::chance 6]} { string cat NULL } else { operand $column }]
  }
  return "$c [random::weighted {IN 6 {NOT IN} 1}] ([join $list {, }])"
}

proc differential::condition_in_select {column c scope} {
  set alias [random::pick {s s2}]
  set table [small_table]
  set inner [columns_of $table $alias]
  set what [random::pick [of_class $inner [dict get $column class]]]
  set where [expr {[random::chance 50] ? " WHERE [leaf $inner 0]" : {}}]
  return "$c [random::pick {IN IN {NOT IN}}] (SELECT [dict get $what sql] FROM [from $table] AS $alias$where)"
}

proc differential::condition_exists {column c scope} {
  set table [small_table]
  set inner [columns_of $table z]
  set what [random::pick [of_class $inner [dict get $column class]]]
  set more [expr {[random::chance 50] ? " AND [leaf $inner 0]" : {}}]
  return "[random::pick {EXISTS {NOT EXISTS}}] (SELECT 1 FROM [from $table] AS z WHERE [dict get $what sql] [operator] $c$more)"
}

proc differential::condition_scalar {column c scope} {
  set table [small_table]
  set inner [columns_of $table z]
  set what [random::pick [of_class $inner [dict get $column class]]]
  return "$c [operator] (SELECT [random::pick {min max}]([dict get $what sql]) FROM [from $table] AS z)"
}

proc differential::condition_like {column c scope} {
  # SQLite 3.40 itself takes a rowid's pattern for a range, and a LEFT JOIN to be without rows for it.
  if {[dict get $column class] eq "real" || [dict get $column name] eq "rowid"} { return [condition_compare $column $c $scope] }
  set value [constant $column]
  set start [expr {1 + [random::below 5]}]
  switch [random::weighted {like 5 glob 4 escape 2 whole 2 not 2 other 1 function 3}] {
    like { set sql "substr($value, 1, $start) || '%'"; set word LIKE }
    glob { set sql "substr($value, 1, $start) || '*'"; set word GLOB }
    whole { set sql $value; set word [random::pick {LIKE GLOB}] }
    not { set sql "substr($value, 1, $start) || '%'"; set word "NOT LIKE" }
    other { return "$c LIKE [random::pick {'%' '_%' '%a%' '%_' ''}]" }
    function {
      set name [random::pick {starts ends contains like}]
      return "edb_${name}($c, [random::pick [list $value "substr($value, 1, $start)" "substr($value, -$start)" "substr($value, $start, 1)"]])"
    }
    escape { return "$c LIKE [text_literal [random::pick {a^%% ^_% ab^^ a% A%^% 2020-01-% ^^%}]] ESCAPE '^'" }
  }
  # As a literal, which SQLite makes a range of.
  set pattern [literal [lindex [db eval "SELECT quote($sql)"] 0]]
  return "$c $word $pattern"
}

proc differential::condition_columns {column c scope} {
  return "$c [random::pick {= < <= > IS {IS NOT} =}] [dict get [random::pick [of_class $scope [dict get $column class]]] sql]"
}

proc differential::condition_collate {column c scope} {
  if {[random::chance 75]} {
    set column [random::pick [of_class $scope text]]
    set c [dict get $column sql]
  }
  set collation [random::pick {NOCASE NOCASE RTRIM BINARY}]
  switch [random::weighted {right 4 left 4 in 2 like 1}] {
    right { return "$c [operator] [operand $column] COLLATE $collation" }
    left { return "$c COLLATE $collation [operator] [operand $column]" }
    in { return "$c COLLATE $collation IN ([operand $column], [operand $column])" }
    like { return "$c COLLATE $collation BETWEEN [operand $column] AND [operand $column]" }
  }
}

proc differential::condition_cast {column c scope} {
  set real [expr {[dict get $column class] eq "real"}]
  set form [random::pick [expr {$real
    ? {{CAST(%s AS INTEGER)} {CAST(%s AS REAL)} {CAST(%s AS NUMERIC)} {+%s} {%s + 0} {%s * 2} {coalesce(%s, 0)}}
    : {{CAST(%s AS INTEGER)} {CAST(%s AS REAL)} {CAST(%s AS TEXT)} {CAST(%s AS BLOB)} {+%s} {%s + 0} {%s || ''} length(%s) lower(%s)
       {coalesce(%s, '')} {(%s)} typeof(%s)}}]]
  set left [string map [list %s $c] $form]
  if {[random::chance 20]} { return "$c [operator] CAST([operand $column] AS [random::pick {TEXT INTEGER REAL NUMERIC BLOB}])" }
  return "$left [operator] [operand $column]"
}

proc differential::condition_row {column c scope} {
  set other [random::pick $scope]
  set o [dict get $other sql]
  switch [random::pick {equal less in select}] {
    equal { return "($c, $o) = ([operand $column], [operand $other])" }
    less { return "($c, $o) [random::pick {< >=}] ([operand $column], [operand $other])" }
    in { return "($c, $o) IN (VALUES ([constant $column], [constant $other]), ([constant $column], [constant $other]))" }
    select { return "($c, $o) IN (SELECT i, t FROM l1 UNION ALL SELECT [constant $column], [constant $other])" }
  }
}

proc differential::condition_strange {column c scope} {
  random::pick [list "1" "0" "NULL" "$c IN (SELECT NULL)" "$c NOT IN (SELECT 1 WHERE 0)" "$c = $c" "$c <> $c" \
    "likely($c = [operand $column])" "unlikely($c >= [operand $column])" \
    "CASE WHEN $c = [operand $column] THEN 1 END" "$c = (SELECT [operand $column])" \
    "$c = (SELECT x FROM l1 WHERE rowid = 1)" "$c = iif(1, [operand $column], 0)"]
}

# Tables --------------------------------------------------------------------------------------------

proc differential::from {table} {
  if {[dict get $table server]} { return "<T[dict get $table index]>" }
  dict get $table index
}

proc differential::server_table {{most 1000}} {
  variable tables
  set found [lmap table $tables {
    expr {[dict get $table server] && [dict get $table rows] <= $most ? $table : [continue]}
  }]
  random::pick [expr {$found eq {} ? $tables : $found}]
}

# Local or with few rows.
proc differential::small_table {} {
  variable tables
  set found [lmap table $tables { expr {[dict get $table rows] <= 60 ? $table : [continue]} }]
  random::pick $found
}

# The columns of the table under an alias, the rowid too, key columns several times since they are the ones asked for.
proc differential::columns_of {table alias} {
  set columns [lmap column [dict get $table columns] {
    dict merge $column [dict create sql $alias.[dict get $column name]]
  }]
  if {[llength $columns] > 20} { set columns [concat [lrange $columns 0 8] [random::sample [lrange $columns 9 end] 6]] }
  return [concat $columns [lrange $columns 0 1]]
}

# Those of the class, or all of them.
proc differential::of_class {scope class} {
  set found [lmap column $scope { expr {[dict get $column class] eq $class ? $column : [continue]} }]
  if {$found eq {} || [random::chance 25]} { return $scope }
  return $found
}

# What is selected and how it is ordered ------------------------------------------------------------

# Some columns as result columns, with a number for each.
proc differential::selected {scope {most 5}} {
  set list [random::sample $scope [expr {1 + [random::below $most]}]]
  lmap column $list { dict get $column sql }
}

# The end of a query with n columns: ORDER BY and LIMIT, and what `try` must know of them.
proc differential::ending {sql n {loose 0}} {
  set order {}
  set by {}
  if {[random::chance 45]} {
    for {set i 0} {$i < $n} {incr i} { lappend order $i }
    set order [random::sample $order [expr {[random::chance 60] ? $n : 1}]]
    foreach i $order {
      lappend by "[expr {$i + 1}][random::pick {{} { ASC} { DESC} { DESC} { NULLS LAST} { DESC NULLS FIRST}}]"
    }
    set by " ORDER BY [join $by {, }]"
  }
  set limit {}
  if {[random::chance 25]} { set limit [limit] }
  set total [expr {[llength $order] == $n}]
  dict create sql $sql$by$limit n $n order $order loose $loose full [expr {$limit ne {} && !$total ? $sql : {}}]
}

proc differential::limit {} {
  variable bound
  set number [random::pick {0 1 2 3 10 100 -1 9223372036854775807}]
  if {[random::chance 30]} {
    set name v[expr {[llength $bound] + 1}]
    lappend bound [list $name integer $number]
    set number \$$name
  }
  set limit " LIMIT $number"
  if {[random::chance 50]} { append limit " OFFSET [random::pick {0 1 2 7 50 -1 9223372036854775807}]" }
  return $limit
}

# Queries -------------------------------------------------------------------------------------------

proc differential::query_where {} {
  set table [server_table]
  set scope [columns_of $table t]
  set list [selected $scope]
  if {[random::chance 12] && [llength [dict get $table columns]] < 20} {
    set list {}
    foreach column [dict get $table columns] { lappend list t.[dict get $column name] }
  }
  ending "SELECT [join $list {, }] FROM [from $table] AS t WHERE [condition $scope]" [llength $list]
}

# ORs over several columns, which SQLite may answer by a scan for each.
proc differential::query_or {} {
  set table [server_table]
  set scope [columns_of $table t]
  set arms {}
  for {set n [expr {2 + [random::below 3]}]} {$n > 0} {incr n -1} {
    set column [random::pick [random::pick [list $scope [lrange $scope 0 2]]]]
    set arm [condition_[random::weighted {compare 6 in 2 null 2 between 1 is 2}] $column [dict get $column sql] $scope]
    if {[random::chance 15]} { set arm "($arm AND [leaf $scope 0])" }
    lappend arms $arm
  }
  set where ([join $arms { OR }])
  if {[random::chance 25]} { append where " AND [leaf $scope 0]" }
  set list [expr {[random::chance 25] ? "count(*)" : [selected $scope]}]
  ending "SELECT [join $list {, }] FROM [from $table] AS t WHERE $where" [llength $list]
}

proc differential::query_limit {} {
  set table [server_table]
  set scope [columns_of $table t]
  set list [selected $scope]
  # A condition that SQLite keeps to itself, as it does those between columns of one table.
  set where {}
  if {[random::chance 35]} {
    set column [random::pick $scope]
    set where " WHERE [condition_columns $column [dict get $column sql] $scope]"
  }
  # Where no column is read, old versions of SQLite can be trusted with LIMIT, too.
  if {[random::chance 40]} { set list [random::pick {1 NULL 'x' $v1}] }
  if {{$v1} in $list} {
    variable bound [list {v1 text 'v'}]
  }
  if {[random::chance 30]} {
    return [dict create n 1 sql "SELECT count(*) FROM (SELECT [join $list {, }] FROM [from $table] AS t$where[limit])"]
  }
  set sql "SELECT [join $list {, }] FROM [from $table] AS t$where"
  dict create sql $sql[limit] full $sql n [llength $list]
}

proc differential::aggregates {scope} {
  set list {}
  for {set n [expr {1 + [random::below 3]}]} {$n > 0} {incr n -1} {
    set c [dict get [random::pick $scope] sql]
    lappend list [random::pick [list count(*) "count($c)" "count(DISTINCT $c)" "min($c)" "max($c)" "count(nullif($c, 1))" \
      "sum($c IS NULL)" "max($c IS NULL)" "count(*) FILTER (WHERE $c IS NOT NULL)"]]
  }
  return $list
}

proc differential::query_aggregate {} {
  set table [server_table]
  set scope [columns_of $table t]
  set where [expr {[random::chance 65] ? " WHERE [condition $scope]" : {}}]
  set list [expr {[random::chance 25] ? "count(*)" : [aggregates $scope]}]
  if {[random::chance 45]} {
    return [dict create n [llength $list] loose 1 sql "SELECT [join $list {, }] FROM [from $table] AS t$where"]
  }
  set by [lmap column [random::sample $scope [expr {1 + [random::below 2]}]] { dict get $column sql }]
  set having [random::pick {{} {} { HAVING count(*) > 1} { HAVING count(*) = 1}}]
  set list [concat $by $list]
  ending "SELECT [join $list {, }] FROM [from $table] AS t$where GROUP BY [join $by {, }]$having" [llength $list] 1
}

proc differential::query_distinct {} {
  set table [server_table]
  set scope [columns_of $table t]
  set list [selected $scope 3]
  set where [expr {[random::chance 50] ? " WHERE [condition $scope]" : {}}]
  ending "SELECT DISTINCT [join $list {, }] FROM [from $table] AS t$where" [llength $list] 1
}

proc differential::query_join {} {
  variable tables
  set a [server_table 60]
  set b [expr {[random::chance 25] ? $a : [small_table]}]
  set joined [list [list $a a] [list $b b]]
  if {[random::chance 20] && [dict get $a rows] * [dict get $b rows] < 1000} { lappend joined [list [random::pick [lrange $tables end-1 end]] c] }
  if {[random::chance 30]} { set joined [lreverse $joined] }
  set scope {}
  set sql {}
  set where {}
  foreach pair $joined {
    lassign $pair table alias
    set own [columns_of $table $alias]
    if {$scope eq {}} {
      set sql "[from $table] AS $alias"
    } else {
      set kind [random::weighted {JOIN 8 {LEFT JOIN} 6 {RIGHT JOIN} 2 {FULL JOIN} 2 {CROSS JOIN} 1 , 2}]
      set on [join_condition $own $scope]
      if {[random::chance 25]} { append on " AND [leaf [concat $own $scope] 0]" }
      if {$kind eq ","} {
        append sql ", [from $table] AS $alias"
        lappend where $on
      } else {
        append sql " $kind [from $table] AS $alias ON $on"
      }
    }
    set scope [concat $scope $own]
  }
  if {[random::chance 60]} { lappend where [condition $scope 1] }
  set where [expr {$where eq {} ? {} : " WHERE [join $where { AND }]"}]
  if {[random::chance 25]} {
    set list [aggregates $scope]
    return [dict create n [llength $list] loose 1 sql "SELECT [join $list {, }] FROM $sql$where"]
  }
  set list [selected $scope]
  ending "SELECT [join $list {, }] FROM $sql$where" [llength $list]
}

# Mostly of columns of one class; text against numbers, too.
proc differential::join_condition {left right} {
  set column [random::pick $left]
  set other [random::pick [of_class $right [dict get $column class]]]
  set condition "[dict get $column sql] [random::weighted {= 12 IS 1 < 1 >= 1}] [dict get $other sql]"
  if {[random::chance 10]} { append condition " COLLATE [random::pick {NOCASE RTRIM BINARY}]" }
  return $condition
}

proc differential::query_compound {} {
  set arms {}
  set n [expr {1 + [random::below 3]}]
  set word [random::weighted {{UNION ALL} 6 UNION 2 EXCEPT 1 INTERSECT 1}]
  for {set i [expr {2 + [random::below 2]}]} {$i > 0} {incr i -1} {
    set table [server_table 60]
    set scope [columns_of $table t]
    set list {}
    for {set k 0} {$k < $n} {incr k} { lappend list [dict get [random::pick $scope] sql] }
    set where [expr {[random::chance 50] ? " WHERE [condition $scope 1]" : {}}]
    lappend arms "SELECT [join $list {, }] FROM [from $table] AS t$where"
  }
  ending [join $arms " $word "] $n 1
}

proc differential::query_window {} {
  set table [server_table]
  set scope [columns_of $table t]
  lassign [lmap column [random::sample $scope 3] { dict get $column sql }] a b c
  if {$c eq {}} { set c $a }
  set window [random::pick [list "rank() OVER (ORDER BY $b)" "dense_rank() OVER (PARTITION BY $c ORDER BY $b)" \
    "count(*) OVER (PARTITION BY $c)" "count($b) OVER (PARTITION BY $c ORDER BY $b)" "min($b) OVER (PARTITION BY $c)" \
    "count(*) OVER ()" "max($c) OVER (ORDER BY $b DESC)"]]
  set where [expr {[random::chance 50] ? " WHERE [condition $scope 1]" : {}}]
  ending "SELECT $a, $window FROM [from $table] AS t$where" 2 1
}

proc differential::query_with {} {
  set table [server_table 60]
  set inner [columns_of $table t]
  set columns [random::sample $inner 3]
  set names [lrange {x y w} 0 [llength $columns]-1]
  set list [lmap column $columns { dict get $column sql }]
  set body "SELECT [join $list {, }] FROM [from $table] AS t[expr {[random::chance 50] ? " WHERE [condition $inner 1]" : {}}]"
  set outer [lmap column $columns name $names { dict merge $column [dict create sql w.$name] }]
  set hint [random::pick {{} {} { MATERIALIZED} { NOT MATERIALIZED}}]
  set second {}
  if {[random::chance 40]} {
    set other [small_table]
    set own [columns_of $other o]
    set second " [random::pick {JOIN {LEFT JOIN}}] [from $other] AS o ON [join_condition $own $outer]"
    set outer [concat $outer $own]
  }
  set chosen [selected $outer 3]
  set where [expr {[random::chance 60] ? " WHERE [condition $outer 1]" : {}}]
  set sql "WITH w([join $names {, }]) AS$hint ($body) SELECT [join $chosen {, }] FROM w$second$where"
  ending $sql [llength $chosen]
}

# Sub-queries among the result columns.
proc differential::query_select {} {
  set table [server_table 60]
  set scope [columns_of $table t]
  set column [random::pick $scope]
  set other [small_table]
  set inner [columns_of $other z]
  set match [dict get [random::pick [of_class $inner [dict get $column class]]] sql]
  # Without the +, SQLite takes min of one of '1' and 1 when it compares both with 1.
  set what [random::pick [list count(*) "min(+$match)" "max([dict get [random::pick $inner] sql])"]]
  set more [expr {[random::chance 30] ? " AND [leaf $inner 0]" : {}}]
  set list [list [dict get $column sql] \
    "(SELECT $what FROM [from $other] AS z WHERE $match [random::pick {= = IS <}] [dict get $column sql]$more)" \
    [dict get $column sql]\ IN\ (SELECT\ [random::pick {i r t n x d c}]\ FROM\ l0)]
  set where [expr {[random::chance 40] ? " WHERE [condition $scope 1]" : {}}]
  ending "SELECT [join $list {, }] FROM [from $table] AS t$where" 3 1
}

proc differential::query_error {} {
  set t [from [server_table]]
  dict create n 1 sql [random::pick [list "SELECT nosuch FROM $t" "SELECT * FROM $t WHERE" "SELECT 1 FROM $t LIMIT 'x'" \
    "SELECT count(*) FROM $t, $t AS u WHERE edb_nosuch(1)" "SELECT max(1, 2, 3) OVER () FROM $t"]]
}
