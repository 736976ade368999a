# A SQLite file in the differential test; differential_driver.tcl says what a driver is made of.

namespace eval differential::sqlite {
  # declaration, class, SQL of the values.
  variable types [list \
    {INTEGER int {0 1 2 -1 9223372036854775807 -9223372036854775808 9007199254740992 9007199254740993 'abc' 1.5 x'30'}} \
    {INT8 int {0 1 2 3}} {BOOLEAN int {0 1 1 0 2 'x'}} {{INTEGER COLLATE NOCASE} int {0 1 2 'abc' 'ABC' 'b' 'B'}} \
    {REAL real {0 1 2 0.1 -1.5 5e-324 1.7976931348623157e308 9e999 -9e999 9007199254740992 9007199254740993 1e17 'abc' x'31'}} \
    {{DOUBLE PRECISION} real {1 2 2.5}} {NUMERIC numeric {0 1 1.5 2 '1e3' 'abc' 'ABC' 1e20 9007199254740993 x'' 'b' 'A'}} \
    {{NUMERIC COLLATE NOCASE} numeric {0 1 1.5 'abc' 'ABC' 'b' 'B' 'A'}} \
    {{DECIMAL(10,2)} numeric {0 1 1.5 12345678.9}} \
    {TEXT text {CAST(x'ff41'AS/**/TEXT)}} {VARCHAR(20) text {}} {{TEXT COLLATE NOCASE} text {'abc' 'ABC' 'Abc'}} \
    {{TEXT COLLATE RTRIM} text {'abc' 'abc ' 'abc  '}} \
    {BLOB blob {x'' x'30' x'00ff' x'616263' 'abc' 5 1.5}} {{} blob {0 1 '1' 1.0 'abc' x'616263'}} \
    {DATE date {'0001-01-01' '9999-12-31' '10000-01-01' '-0044-03-15' '2020-02-29' 'infinity' 20200101 '2020-1-2'}} \
    {TIME time {'00:00:00' '24:00:00' '12:00:00.5' '12:00:00.50' '12:00' 12}} \
    {DATETIME datetime {'2020-01-02 03:04:05' '2020-01-02T03:04:05' '2020-01-02 03:04:05Z' '2020-01-02 03:04:05.500' 1577934245 2458850.5}} \
    {TIMESTAMP datetime {'2020-01-02 03:04:05.5' '2020-01-02'}} \
    {JSON text {'{"a":1}' '[1,2]' '"x"' 'null'}}]
  variable file remote.db
}

proc differential::sqlite::define {} {}

proc differential::sqlite::connect {} {
  variable file
  foreach old [glob -nocomplain $file*] { file delete $old }
  sqlite3 remote $file
  remote nullvalue $differential::null
  set url sqlite:[file join [pwd] $file]
  execsql { SELECT edb_server('srv', $url) }
}

proc differential::sqlite::disconnect {} { remote close }

proc differential::sqlite::sql {script} { remote eval "BEGIN; $script; COMMIT" }

proc differential::sqlite::classes {} {
  list {where {VIRTUAL TABLE INDEX \d+:.* WHERE }} {or {^MULTI-INDEX OR}} {limit {VIRTUAL TABLE INDEX .* LIMIT \?}} \
    {list { IN \(\?}} {count {VIRTUAL TABLE INDEX \d+:SELECT count\(}}
}

proc differential::sqlite::name {text} { return \"[string map {\" \"\"} $text]\" }

proc differential::sqlite::value {type k is_key} {
  lassign $type name class values
  set values [differential::literals $values]
  if {$name eq "INTEGER" && $is_key ne {}} {
    if {$k > 8} { return [expr {$k * 7 % 101}] }
    return [random::pick [lrange $values 0 7]]
  }
  if {$values ne {} && [random::chance 60]} { return [string map {/**/ { }} [random::pick $values]] }
  if {$class in {text blob}} { return [differential::text_literal [differential::random_text]] }
  set value [differential::random_value $class]
  if {$class in {date time datetime}} { return '$value' }
  return $value
}

proc differential::sqlite::table {i} {
  variable types
  set shape [lindex {int composite none other view query view-key without-rowid wide unique} \
    [expr {$i < 3 ? $i : 3 + [random::below 7]}]]
  set pool [random::sample $differential::names 14]
  set columns {}
  switch $shape {
    int - view-key { set keys {INTEGER} }
    other { set keys [list [random::pick {TEXT INT8 REAL DATE BLOB NUMERIC}]] }
    composite - without-rowid { set keys [random::sample {TEXT INT8 REAL DATE NUMERIC} 2] }
    unique { set keys {TEXT} }
    default { set keys {} }
  }
  if {$shape eq "view-key"} { set pool [linsert $pool 0 k] }
  foreach key $keys {
    lappend columns [list [lindex $pool [llength $columns]] [lsearch -inline -exact -index 0 $types $key] key]
  }
  set n [expr {$shape eq "wide" ? 70 : 3 + [random::below 6]}]
  for {set c 0} {$c < $n} {incr c} {
    set name [expr {$shape eq "wide" && $c > 8 ? "w$c" : [lindex $pool [llength $columns]]}]
    lappend columns [list $name [random::pick $types] {}]
  }
  # SQLite takes no two names that differ in case alone.
  set taken {}
  set definitions {}
  set key {}
  set kept {}
  foreach column $columns {
    lassign $column name type is_key
    if {[string tolower $name] in $taken} { set name "$name [llength $taken]" }
    lappend taken [string tolower $name]
    set null [expr {$is_key ne {} && ($shape eq "unique" || [random::chance 60]) ? " NOT NULL" : {}}]
    if {$shape eq "int" && $is_key ne {}} { set null {} }
    lappend definitions "[name $name] [lindex $type 0]$null"
    if {$is_key ne {}} { lappend key [name $name] }
    lappend kept [list $name $type $is_key]
  }
  set columns $kept
  if {$key ne {}} {
    lappend definitions "[expr {$shape eq "unique" ? "UNIQUE" : "PRIMARY KEY"}] ([join $key {, }])"
  }
  set table [random::pick [list t "T\"$i" {a b} select tä x.y]]$i
  set sql "CREATE TABLE [name $table] ([join $definitions {, }])[expr {$shape eq "without-rowid" ? { WITHOUT ROWID} : {}}];\n"
  for {set k [random::weighted {0 4 1 6 15 30 30 30 45 30}]} {$k > 0} {incr k -1} {
    set values [lmap column $columns {
      lassign $column - type is_key
      # SQLite takes NULL in a key, too, and several of them.
      if {[lindex $type 0] ne "INTEGER" && [random::chance [expr {$is_key eq {} ? 15 : 30}]]} {
        string cat NULL
      } else {
        value $type $k $is_key
      }
    }]
    append sql "INSERT OR IGNORE INTO [name $table] VALUES ([join $values {, }]);\n"
  }
  set options {}
  set spec [dict create classes [lmap column $columns { lindex $column 1 1 }] columns $columns from $table \
    identity [expr {$shape ni {view query}}]]
  if {$shape in {view view-key}} {
    append sql "CREATE VIEW v$i AS SELECT * FROM [name $table];\n"
    set table v$i
  }
  if {$shape eq "query"} {
    dict set spec relation query='[string map {' ''} "SELECT * FROM [name $table]"]'
  } else {
    dict set spec relation 'main.[string map {' ''} [name $table]]'
  }
  if {$shape eq "view-key"} { lappend options "key='[string map {' ''} [lindex $columns 0 0]]'" }
  if {[random::chance 60]} { lappend options rows=[random::pick {0 10 1000 1000000 100000000}] }
  dict set spec options $options
  dict set spec sql $sql
}

proc differential::sqlite::render {specs} {
  lmap spec $specs {
    set names [lmap column [dict get $spec columns] { name [lindex $column 0] }]
    differential::rows [remote eval "SELECT [join $names {, }] FROM [name [dict get $spec from]]"] [llength $names]
  }
}
