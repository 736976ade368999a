# Random queries that a server could answer as a whole: the first rows of an order, the least and the greatest, counts,
# distinct rows, prefixes of text; and joins and lists that are long.

# A condition that a server often has the same idea of.
proc differential::plain {scope} {
  set column [random::pick $scope]
  condition_[random::weighted {compare 10 null 3 between 2 in 3 is 2 near 3}] $column [dict get $column sql] $scope
}

# {} or a WHERE.
proc differential::plain_where {scope} {
  switch [random::weighted {none 5 one 6 two 2 any 2}] {
    none { return }
    one { set where [plain $scope] }
    two { set where "[plain $scope] AND [plain $scope]" }
    any { set where [condition $scope 1] }
  }
  return " WHERE $where"
}

# The first rows by some columns, which are among those selected. `order` ends where rows may be taken for equal.
proc differential::query_topn {} {
  set table [server_table]
  set scope [columns_of $table t]
  set sorted [random::sample [expr {[random::chance 40] ? [lrange $scope 0 2] : $scope}] [random::weighted {1 6 2 3 3 1}]]
  set list [lmap column $sorted { dict get $column sql }]
  set by {}
  set order {}
  set clear 1
  foreach c $list {
    set collate [expr {[random::chance 8] ? " COLLATE [random::pick {NOCASE RTRIM BINARY}]" : {}}]
    if {$collate ni {{} { COLLATE BINARY}}} { set clear 0 }
    if {$clear} { lappend order [llength $order] }
    lappend by "$c$collate[random::pick {{} {} { ASC} { DESC} { DESC} { NULLS LAST} { DESC NULLS FIRST}}]"
  }
  if {[random::chance 50]} { lappend list {*}[selected $scope 3] }
  set distinct [expr {[random::chance 10] ? "DISTINCT " : {}}]
  set sql "SELECT $distinct[join $list {, }] FROM [from $table] AS t[plain_where $scope]"
  dict create sql "$sql ORDER BY [join $by {, }][expr {[random::chance 85] ? [limit] : {}}]" full $sql n [llength $list] \
    order $order loose [expr {$distinct ne {}}]
}

proc differential::query_minmax {} {
  set table [server_table]
  set scope [columns_of $table t]
  set c [dict get [random::pick $scope] sql]
  set sql "SELECT [random::pick {min max}]($c) FROM [from $table] AS t[plain_where $scope]"
  if {[random::chance 15]} { append sql " ORDER BY 1 LIMIT 1" }
  dict create sql $sql n 1 loose 1
}

proc differential::query_count {} {
  set table [server_table]
  set scope [columns_of $table t]
  set from "FROM [from $table] AS t[plain_where $scope]"
  lassign [selected $scope 2] a b
  if {$b eq {}} { set b $a }
  dict create n 1 sql [random::pick [list "SELECT count(*) $from" "SELECT count(*) $from" "SELECT count($a) $from" "SELECT 1 $from" \
    "SELECT EXISTS (SELECT 1 $from)" "SELECT count(*) FROM (SELECT DISTINCT $a, $b $from)" "SELECT count(DISTINCT $a) $from" \
    "SELECT count(*) FROM (SELECT 1 $from[limit])" "SELECT count(*) FROM (SELECT $a $from GROUP BY $a)" "SELECT count(*) $from HAVING count(*) > 1"]]
}

proc differential::query_group {} {
  set table [server_table]
  set scope [columns_of $table t]
  set list [selected $scope 3]
  set sql "SELECT [join $list {, }] FROM [from $table] AS t[plain_where $scope] GROUP BY [join $list {, }]"
  ending $sql[random::pick {{} {} { HAVING count(*) > 1}}] [llength $list] 1
}

# A value of the column or its beginning, in another case now and then, before a wildcard.
proc differential::query_prefix {} {
  set table [server_table]
  set scope [columns_of $table t]
  set texts [lmap column $scope { expr {[dict get $column class] in {text date datetime} ? $column : [continue]} }]
  set column [random::pick [expr {$texts eq {} || [random::chance 10] ? $scope : $texts}]]
  if {[dict get $column class] eq "real" || [dict get $column name] eq "rowid"} { return [query_where] }
  set c [dict get $column sql]
  set value [constant $column]
  if {[random::chance 30]} { set value "[random::pick {upper lower}]($value)" }
  set start [random::weighted {0 1 1 4 2 4 3 3 4 2 9 1}]
  set like {{'%%'} {'%%'} {'%%'} {'_%%'} {'%%a'} {'_'} {''} {'%%%%'}}
  set glob {{'*'} {'*'} {'*'} {'?*'} {'[a-c]*'} {'[^a]*'} {'?'} {''} {'*a'}}
  set word [random::weighted {LIKE 6 GLOB 5 {NOT LIKE} 1 {NOT GLOB} 1}]
  set end [format [random::pick [expr {[string match *LIKE $word] ? $like : $glob}]]]
  set pattern [literal [lindex [db eval "SELECT quote(substr($value, 1, $start) || $end)"] 0]]
  set escape {}
  if {[string match *LIKE $word] && [random::chance 15]} { set escape " ESCAPE '[random::pick {^ % _ a}]'" }
  set where "$c $word $pattern$escape"
  switch [random::weighted {bound 2 and 2 or 1 alone 5}] {
    bound {
      variable bound
      set name v[expr {[llength $bound] + 1}]
      lappend bound [list $name text $pattern]
      set where "$c $word \$$name$escape"
    }
    and { append where " AND [plain $scope]" }
    or { set where "($where OR [plain $scope])" }
  }
  set list [expr {[random::chance 20] ? "count(*)" : [concat [list $c] [selected $scope 2]]}]
  ending "SELECT [join $list {, }] FROM [from $table] AS t WHERE $where" [llength $list]
}

# Some hundred local rows against the remote table, whose values come again and again.
proc differential::query_bulk {} {
  variable long_table
  set table [server_table 60]
  set own [columns_of $table t]
  set local [columns_of $long_table l]
  set column [random::pick $own]
  set other [random::pick [of_class $local [dict get $column class]]]
  set on "[dict get $column sql] [random::weighted {= 9 IS 1}] [dict get $other sql]"
  if {[random::chance 8]} { append on " COLLATE [random::pick {NOCASE RTRIM BINARY}]" }
  if {[random::chance 30]} { append on " AND [plain $own]" }
  set kind [random::weighted {JOIN 4 {LEFT JOIN} 3}]
  set where [expr {[random::chance 30] ? " WHERE [leaf $own 0]" : {}}]
  set from "FROM l2 AS l $kind [from $table] AS t ON $on$where"
  set list [concat [list l.rowid] [selected $own 3]]
  switch [random::weighted {rows 3 count 3 in 2 exists 1}] {
    rows { return [ending "SELECT [join $list {, }] $from" [llength $list]] }
    count { set list [aggregates [concat $own [lrange $local 0 1]]] }
    in {
      set list [selected $own 3]
      return [ending "SELECT [join $list {, }] FROM [from $table] AS t WHERE [dict get $column sql] IN (SELECT [dict get $other sql] FROM l2 AS l)" [llength $list]]
    }
    exists {
      set list [selected $local 2]
      return [ending "SELECT [join $list {, }] FROM l2 AS l WHERE [random::pick {EXISTS {NOT EXISTS}}] (SELECT 1 FROM [from $table] AS t WHERE $on)" [llength $list]]
    }
  }
  dict create sql "SELECT [join $list {, }] $from" n [llength $list] loose 1
}

# A list longer than a server takes at once, where the round's tables chunk at all.
proc differential::query_list {} {
  set table [server_table]
  set scope [columns_of $table t]
  set column [random::pick $scope]
  set values {}
  for {set n [random::pick {20 60 150}]} {$n > 0} {incr n -1} { lappend values [constant $column] }
  set list [expr {[random::chance 30] ? "count(*)" : [selected $scope 3]}]
  set more [expr {[random::chance 30] ? " AND [plain $scope]" : {}}]
  ending "SELECT [join $list {, }] FROM [from $table] AS t WHERE [dict get $column sql] IN ([join $values {, }])$more" [llength $list]
}
