# What differs between servers in the differential test: a namespace each, with
#
#   define               once, before the first round
#   connect, disconnect  around a round: the server `srv`, and an empty schema for its tables
#   sql SCRIPT           runs it on the server
#   table I              the I-th table of a round as a dict: sql creates and fills it; relation and options are
#                        the arguments of USING edb(srv, …); classes has the class of each column; identity is 0
#                        where edb cannot tell the rows apart; what else render needs
#   render SPECS         of each table its rows as the server itself writes them, as differential::rows would have them
#   classes              {name pattern}: what EXPLAIN QUERY PLAN has to show now and then
#
# Classes of columns, by which constants are made: int real numeric text date time datetime blob.
#
# Text is written in ASCII on its way out of Tcl 8.6, which splits characters beyond U+FFFF in two.

namespace eval differential {
  # Strings that are easily confused.
  variable texts [list {} 0 00 { 1 } 1.0 1 -1 1e3 abc ABC Abc {abc } { abc} ab abcd {a'b} {a"b} {a\b} a%b a_b \
    é e\u0301 É ß ẞ SS İ i ı I \ud83d\ude00 \ud83d\ude00x \uffff \u6771\u4eac z Z _ {[} \x7f {a,b} "a\nb" \
    NULL null true 2020-01-02 {2020-01-02 03:04:05} 9223372036854775807 9007199254740993 0x10 inf nan]
  # Column names with what quoting is for, and two that differ in case alone.
  variable names [list a b A c1 {a b} {a"b} a'b a.b {a]b} a`b select rowid edb_key ü 東 e $ 1 -- {;} {a\b} %s ?1]
}

# The code points of a string.
proc differential::codes {text} {
  set codes {}
  foreach char [split $text {}] {
    scan $char %c code
    if {$code >= 0xDC00 && $code <= 0xDFFF && $codes ne {} && [lindex $codes end] >= 0xD800
        && [lindex $codes end] < 0xDC00} {
      set code [expr {0x10000 + (([lindex $codes end] - 0xD800) << 10) + $code - 0xDC00}]
      set codes [lrange $codes 0 end-1]
    }
    lappend codes $code
  }
  return $codes
}

# An expression of SQLite for the text, which like a literal has no affinity.
proc differential::text_literal {text} {
  if {![regexp {[^\u0001-\ud7ff]} $text]} { return '[string map {' ''} $text]' }
  return "char([join [codes $text] ,])"
}

# SQL literals with spaces between, as a list.
proc differential::literals {text} { regexp -all -inline {'[^']*'|\S+} $text }

# As `rows` writes it, from UTF-8 in hexadecimal.
proc differential::text_cell {hex} {
  set bytes [binary decode hex $hex]
  if {[regexp {^[\x20-\x7e]*$} $bytes]} { return t:$bytes }
  return u:$hex
}

proc differential::random_text {} {
  variable texts
  if {[random::chance 70]} { return [random::pick $texts] }
  set text {}
  for {set n [random::below 4]} {$n >= 0} {incr n -1} {
    append text [random::pick [list a b A B é E ß 0 1 { } % _ ' . - \u6771 \ud83d\ude00]]
  }
  return $text
}

# A value of the class in the spelling that all servers read.
proc differential::random_value {class} {
  switch $class {
    int { expr {[random::below 20] - 5} }
    real { expr {([random::below 100] - 20) / 8.0} }
    numeric { format %d.%02d [random::below 20] [random::below 100] }
    text { random_text }
    date { format 2020-01-%02d [expr {1 + [random::below 5]}] }
    time { format 03:04:%02d [random::below 4] }
    datetime { format {2020-01-%02d 03:04:%02d%s} [expr {1 + [random::below 3]}] [random::below 3] [random::pick {{} .5 .25}] }
    default { return {} }
  }
}

# Of the type's own values, or random. A type is {declaration class kind render values}.
proc differential::type_value {type} {
  lassign $type - class - - values
  if {$class ni {blob other} && [random::chance 40]} {
    set value [random_value $class]
    if {$class ne "text" || [lindex $type 3] eq "text"} { return $value }
  }
  random::pick $values
}

# The rows of each table from the lines that a client printed: `=` after a table, `-` for NULL, else x and the text in
# hexadecimal, of which the driver's `rendered` makes a cell.
proc differential::rendered_tables {driver specs lines separator} {
  set at 0
  set lines [split $lines \n]
  lmap spec $specs {
    set kinds [lmap column [dict get $spec columns] { lindex $column 1 2 }]
    if {"decimal=text" in [dict get $spec options]} { set kinds [string map {num t} $kinds] }
    set rows {}
    while {[set line [lindex $lines $at]] ne "="} {
      if {[incr at] > [llength $lines]} { error "no = after the rows of [dict get $spec from]" }
      if {$line eq {}} continue
      lappend rows [lmap cell [split $line $separator] kind $kinds {
        expr {$cell eq "-" ? "null" : [${driver}::rendered $kind [string range $cell 1 end]]}
      }]
    }
    incr at
    set rows
  }
}

# PostgreSQL ----------------------------------------------------------------------------------------

namespace eval differential::postgresql {
  # declaration, class, kind of SQLite value (num: by its digits), how the server's own text of it is asked for,
  # values. Text with `text` for the render is text of any kind.
  variable types [list \
    {bool int i %s::int::text {true false}} \
    {int2 int i %s::text {0 1 2 -1 7 32767 -32768}} \
    {int4 int i %s::text {0 1 2 -1 10 2147483647 -2147483648}} \
    {int8 int i %s::text {0 1 2 -1 9223372036854775807 -9223372036854775808 9007199254740991 9007199254740992
      9007199254740993 9223372036854775806 -9007199254740993}} \
    {oid int i %s::text {0 1 4294967295}} \
    {positive int i %s::text {0 1 2 3 2147483647}} \
    {float4 real r %s::float8::text {0 -0 1 0.1 -1.5 1e-45 3.4028235e38 Infinity -Infinity NaN NaN 16777216 1e10}} \
    {float8 real r %s::float8::text {0 -0 1 2 0.1 -1.5 5e-324 2.2250738585072014e-308 1.7976931348623157e308 -1e308
      Infinity -Infinity NaN NaN 9007199254740991 9007199254740992 9007199254740994 9223372036854775807 1e15 1e17 123456789.125}} \
    {numeric(10,2) numeric num %s::text {0 0.00 1 1.00 -0.10 12345678.90 99999999.99 -99999999.99 2.50}} \
    {numeric numeric num %s::text {0 1 1.0 1.50 -0.000100 123456789012345 0.123456789012345 1e20 1e-20 1e300 1e-300
      NaN 9000000000000000000 1000000000000000000000 2.5}} \
    {money numeric num %s::numeric::text {0 1 -1.50 1234567.89}} \
    [list text text t text $::differential::texts] \
    [list varchar(40) text t text $::differential::texts] \
    {char(6) text t rpad(%s::text,6) {{} a {a } abc ABC 0 1 é abcdef { a}}} \
    {name text t %s::text {{} a abc ABC 0 é}} \
    {email text t %s::text {a@b {} A@B é@x}} \
    {mood text t %s::text {sad ok happy {} ok}} \
    {uuid text t %s::text {00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff
      a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12}} \
    {json text t %s::text {null {"a"} {{"a": 1}} {[1, 2]} 1 {{"b":null,"a":[{}]}}}} \
    {jsonb text t %s::text {null {"a"} {{"a": 1}} {[1, 2]} 1}} \
    {xml text t %s::text {<a/> <a>b</a> {}}} \
    {inet text t {nullif(format('%%s', %s), '')} {10.0.0.1 10.0.0.0/8 ::1}} \
    {bit(3) text t %s::text {000 101 111}} \
    {varbit text t %s::text {{} 0 101}} \
    {interval text t %s::text {0 {1 day} {1 mon -2 days 03:04:05.5} {-1 year}}} \
    {int4range text t %s::text {empty {[1,5)} (,3)}} \
    {int[] text t to_json(%s)::text {{{}} {{1,2}} {{NULL,3}} {{{1},{2}}}}} \
    {text[] text t to_json(%s)::text {{{}} {{a,"b\"c"}} {{NULL,""}}}} \
    {pair text t to_json(%s)::text {(1,a) (,) {(2,"b ""c")}}} \
    {bytea blob b encode(%s,'hex') {{\x} {\x00} {\x30} {\x00ff} {\x616263}}} \
    {date date t %s::text {0001-01-01 9999-12-31 infinity -infinity {0044-03-15 BC} 10000-01-01 {0001-12-31 BC} 2020-02-29
      1999-12-31 2000-01-01 0999-06-01 5874897-12-31}} \
    {time time t %s::text {00:00:00 24:00:00 23:59:59.999999 12:00:00.5 12:00:00 00:00:00.000001}} \
    {timetz time t {(%s AT TIME ZONE 'UTC')::time::text || 'Z'} {00:00:00+00 12:00:00+02 23:59:59.5-05:30}} \
    {timestamp datetime t %s::text {{0001-01-01 00:00:00} {9999-12-31 23:59:59.999999} infinity -infinity
      {0044-03-15 00:00:00 BC} {10000-01-01 00:00:00} {2020-01-01 00:00:00} {2020-01-01 00:00:00.000001} {2020-01-02 12:00:00.5}
      {294276-12-31 23:59:59.999999} {1999-12-31 23:59:59.5}}} \
    {timestamptz datetime t {CASE WHEN %s BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 23:59:59.999999+00'
      THEN (%s AT TIME ZONE 'UTC')::text || 'Z' ELSE %s::text END} {{0001-01-01 00:00:00+00} {9999-12-31 23:59:59.999999+00}
      infinity -infinity {0044-03-15 00:00:00+00 BC} {10000-01-01 00:00:00+00} {2020-01-01 00:00:00+00}
      {2020-01-01 00:00:00+05:30} {2020-01-02 03:04:05.5+00} {2020-01-02 03:04:05+00} {2020-01-02 03:04:05.000001+00}}}]
  # With decimal=text.
  variable exact {numeric text t %s::text {0 1 1.0 1.50 -0.000100 12345678901234567890 0.12345678901234567890123 1e40
    1e-40 NaN 9007199254740993}}
  # Types of keys, each with what more there is to say.
  variable keys {int2 int4 int8 positive text varchar(40) char(6) uuid date timestamp timestamptz bool float8
    numeric(10,2) mood bytea time numeric}
}

proc differential::postgresql::define {} {
  sql {
    CREATE DOMAIN positive AS int4 CHECK (VALUE >= 0);
    CREATE DOMAIN email AS varchar(60);
    CREATE TYPE mood AS ENUM ('happy', 'sad', 'ok', '');
    CREATE TYPE pair AS (n int, t text);
  }
}

proc differential::postgresql::connect {} {
  set url [server postgresql url]
  execsql { SELECT edb_server('srv', $url) }
  sql {DROP SCHEMA IF EXISTS "S.""x" CASCADE; CREATE SCHEMA "S.""x"}
}

proc differential::postgresql::disconnect {} {}

proc differential::postgresql::sql {script} { psql $script }

proc differential::postgresql::classes {} {
  list {where {VIRTUAL TABLE INDEX \d+:.* WHERE }} {or {^MULTI-INDEX OR}} {limit {VIRTUAL TABLE INDEX .* LIMIT \?}} \
    {array { = ANY \(}} {count {VIRTUAL TABLE INDEX \d+:SELECT count\(}}
}

proc differential::postgresql::quoted {text quote} {
  if {![regexp {[^\u0001-\u007f]} $text]} {
    return $quote[string map [list $quote $quote$quote] $text]$quote
  }
  set out {}
  foreach code [differential::codes $text] {
    append out [expr {$code > 126 || $code in {34 39 92} ? [format {\+%06X} $code] : [format %c $code]}]
  }
  return U&$quote$out$quote
}

proc differential::postgresql::literal {text} { quoted $text ' }
proc differential::postgresql::name {text} { quoted $text \" }

# A column is {name type-row}.
proc differential::postgresql::column_types {shape} {
  variable types
  variable exact
  variable keys
  set columns {}
  set pool [random::sample $differential::names 14]
  switch -glob $shape {
    int* - view-key - query-key - partitioned { set key_types [list [random::pick {int2 int4 int8 positive}]] }
    other { set key_types [list [random::pick $keys]] }
    unique { set key_types [list [random::pick {int8 text uuid date}]] }
    composite { set key_types [random::sample $keys [expr {2 + [random::below 2]}]] }
    default { set key_types {} }
  }
  if {$shape in {view-key query-key}} { set pool [linsert $pool 0 k] }
  foreach name $key_types {
    lappend columns [list [lindex $pool [llength $columns]] [lsearch -inline -exact -index 0 $types $name] key]
  }
  set n [expr {$shape eq "wide" ? 70 : 3 + [random::below 6]}]
  for {set i 0} {$i < $n} {incr i} {
    set name [expr {$shape eq "wide" && $i > 8 ? "w$i" : [lindex $pool [llength $columns]]}]
    # Each type in its turn, the common ones more often.
    if {$shape eq "decimal" && [random::chance 40]} {
      set type $exact
    } elseif {[random::chance 60]} {
      set type [lsearch -inline -exact -index 0 $types \
        [random::pick {bool int4 int8 float8 float4 numeric(10,2) text text varchar(40) date timestamp timestamptz}]]
    } else {
      set type [random::pick $types]
    }
    lappend columns [list $name $type {}]
  }
  return $columns
}

proc differential::postgresql::table {i} {
  set shape [lindex {int composite none other view query decimal unique view-key query-key partitioned wide int-big inherited} \
    [expr {$i < 3 ? $i : 3 + [random::below 11]}]]
  set columns [column_types $shape]
  set key {}
  set definitions {}
  set at 0
  foreach column $columns {
    lassign $column name type is_key
    lappend definitions "[name $name] [lindex $type 0][expr {$shape eq "unique" && $is_key ne {} ? { NOT NULL} : {}}]"
    if {$is_key ne {}} { lappend key [name $name] }
  }
  if {$key ne {} && $shape ni {view-key query-key}} {
    lappend definitions "[expr {$shape eq "unique" ? "UNIQUE" : "PRIMARY KEY"}] ([join $key {, }])"
  }
  set table [random::pick [list t t "T\"$i" {a b} select tä x.y]]$i
  set full "[name S.\"x].[name $table]"
  set sql {}
  set by [expr {$shape eq "partitioned" ? " PARTITION BY HASH ([lindex $key 0])" : {}}]
  append sql "CREATE TABLE $full (gone int, [join $definitions {, }])$by;\n"
  if {$by ne {}} {
    foreach part {0 1} {
      append sql "CREATE TABLE [name S.\"x].part${i}_$part PARTITION OF $full FOR VALUES WITH (modulus 2, remainder $part);\n"
    }
  }
  append sql "ALTER TABLE $full DROP COLUMN gone;\n"
  set rows [random::weighted {0 4 1 6 15 30 30 30 45 30}]
  if {$shape eq "int-big"} { set rows 600 }
  append sql [inserts $full $columns $rows]
  if {$shape eq "inherited"} {
    append sql "CREATE TABLE [name S.\"x].child$i () INHERITS ($full);\n"
    append sql [inserts "[name S.\"x].child$i" $columns 8]
  }
  if {[random::chance 50]} { append sql "ANALYZE $full;\n" }
  set spec [dict create classes [lmap column $columns { lindex $column 1 1 }] columns $columns from $full \
    identity [expr {$shape ni {view query}}]]
  set options {}
  if {$shape in {view view-key}} {
    append sql "CREATE VIEW [name S.\"x].v$i AS SELECT * FROM $full;\n"
    set table v$i
  }
  if {$shape in {query query-key}} {
    set query "SELECT * FROM \"S.\"\"x\".\"[string map {\" \"\"} $table]\""
    dict set spec relation query='[string map {' ''} $query]'
  } else {
    dict set spec relation '"S.""x"."[string map {' '' \" \"\"} $table]"'
  }
  if {$shape in {view-key query-key}} {
    # Unique values, for there is no constraint that would see to it.
    append sql "DELETE FROM $full a USING $full b WHERE a.ctid > b.ctid AND a.[lindex $key 0] = b.[lindex $key 0];\n"
    append sql "DELETE FROM $full WHERE [lindex $key 0] IS NULL;\n"
    lappend options "key='[string map {' ''} [lindex $columns 0 0]]'"
  }
  if {$shape eq "decimal"} { lappend options decimal=text }
  if {[random::chance 60]} { lappend options rows=[random::pick {0 10 1000 1000000 100000000}] }
  dict set spec options $options
  dict set spec sql $sql
}

proc differential::postgresql::inserts {table columns rows} {
  if {$rows == 0} return
  set values {}
  for {set k 0} {$k < $rows} {incr k} {
    lappend values ([join [lmap column $columns {
      lassign $column - type is_key
      if {$is_key eq {} && [random::chance 15]} { string cat NULL } else { literal [value $type $k $is_key] }
    }] {, }])
  }
  return "INSERT INTO $table VALUES [join $values ",\n"] ON CONFLICT DO NOTHING;\n"
}

proc differential::postgresql::value {type k is_key} {
  lassign $type name class
  if {$is_key ne {} && $name in {int2 int4 int8 positive} && $k > 8} { return [expr {$k * 3 % 601}] }
  set value [differential::type_value $type]
  if {$class eq "int"} {
    if {$name eq "bool" && [string is integer $value]} { return [expr {$value > 0}] }
    if {$name in {oid positive} && $value < 0} { return 4 }
  }
  return $value
}

# All by one psql, with a line after each table.
proc differential::postgresql::render {specs} {
  set script {}
  foreach spec $specs {
    set cells [lmap column [dict get $spec columns] {
      lassign $column name type
      set render [lindex $type 3]
      if {$render eq "text"} { set render %s::text }
      set text [string map [list %% % %s [name $name]] $render]
      string cat "coalesce('x' || encode(convert_to($text, 'UTF8'), 'hex'), '-')"
    }]
    append script "SELECT [join $cells ",\n"] FROM [dict get $spec from];\nSELECT '=';\n"
  }
  differential::rendered_tables [namespace current] $specs [psql $script] |
}

# What edb should make of the server's text, by DESIGN's table of values.
proc differential::postgresql::rendered {kind hex} {
  set text [binary decode hex $hex]
  switch $kind {
    i { return i:$text }
    b { return b:$text }
    t { return [differential::text_cell $hex] }
    r { return [real $text] }
    num {
      if {$text eq "NaN"} { return null }
      regexp {^(-?)0*(\d*)\.?(\d*?)0*$} $text -> sign whole fraction
      set digits [string length [string trim [string trimleft $whole$fraction 0] {}]]
      if {$fraction eq {}} { set digits [string length [string trimright $whole 0]] }
      if {$digits > 15} { return [differential::text_cell $hex] }
      if {$fraction eq {} && abs("0$whole.0") < 9.2e18} { return i:[expr {"${sign}1" * [scan 0$whole %lld]}] }
      return [real $text]
    }
  }
}

proc differential::postgresql::real {text} {
  if {$text eq "NaN"} { return null }
  if {$text in {Infinity -Infinity}} { return r:[string map {inity {}} $text] }
  set value [expr {double($text)}]
  return r:[expr {$value == 0 ? "0.0" : $value}]
}

# A file of SQLite ----------------------------------------------------------------------------------

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
