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
    é e\u0301 É ß ẞ SS İ i ı I \ud83d\ude00 \ud83d\ude00x \uffff \u6771\u4eac z Z _ {[} \x7f {a,b} "a\nb" "a\t" "A\x02b" "abc\n" \
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
    numeric { format %d.%02d%s [random::below 20] [random::below 100] [random::pick {{} {} {} 00000000000000000001 5000000000000001}] }
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
      NaN 9000000000000000000 1000000000000000000000 2.5 9007199254740993 9007199254740992.5 12345678901234567890
      -12345678901234567.89 0.1000000000000000000001 0.12345678901234567890123 2.9999999999999999999999 9223372036854775807.5
      1234567890123456789012345678 1e-40 123456789.123456789123456789}} \
    {money numeric num %s::numeric::text {0 1 -1.50 1234567.89 90071992547409.93 92233720368547758.07 -12345678901234567.89}} \
    [list text text t text $::differential::texts] \
    [list varchar(40) text t text $::differential::texts] \
    [list {text COLLATE "C"} text t text $::differential::texts] \
    [list {text COLLATE ci} text t text $::differential::texts] \
    [list {varchar(40) COLLATE ai} text t text $::differential::texts] \
    [list {text COLLATE "en-x-icu"} text t text $::differential::texts] \
    [list nick text t text $::differential::texts] \
    [list citext text t text $::differential::texts] \
    {char(6) text t rpad(%s::text,6) {{} a {a } abc ABC 0 1 é abcdef { a}}} \
    {{char(6) COLLATE ci} text t rpad(%s::text,6) {{} a {a } abc ABC 0 1 é É abcdef { a}}} \
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
  variable definitions {
    CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE COLLATION ai (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
    CREATE DOMAIN nick AS varchar(60) COLLATE ai;
    CREATE EXTENSION citext;
    CREATE DOMAIN positive AS int4 CHECK (VALUE >= 0);
    CREATE DOMAIN email AS varchar(60);
    CREATE TYPE mood AS ENUM ('happy', 'sad', 'ok', '');
    CREATE TYPE pair AS (n int, t text);
  }
  # Types of keys, each with what more there is to say.
  variable keys {int2 int4 int8 positive text varchar(40) {text COLLATE "C"} {text COLLATE ci} citext char(6) uuid date timestamp
    timestamptz bool float8 numeric(10,2) mood bytea time numeric}
}

# Beside the suite's database is one whose columns are by ICU where they say nothing else. Every fourth round is there.
proc differential::postgresql::define {} {
  variable databases {}
  variable definitions
  set first [dict get [server_dict [server_kind]] database]
  lappend databases $first
  if {[has_server postgresql]} {
    sql "DROP DATABASE IF EXISTS ${first}_icu WITH (FORCE)"
    sql "CREATE DATABASE ${first}_icu TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
    lappend databases ${first}_icu
  }
  foreach database [lreverse $databases] {
    go_to $database
    sql $definitions
  }
}

# From now on the suite's server is the one with that database; behind ODBC there is only one.
proc differential::postgresql::go_to {database} {
  variable databases
  if {[llength $databases] == 1} return
  set before [server postgresql url]
  set ::env(EDB_TEST_POSTGRESQL_URL) [string range $before 0 end-[string length [server postgresql database]]]$database
  set ::env(EDB_TEST_POSTGRESQL_DATABASE) $database
}

proc differential::postgresql::connect {} {
  variable databases
  go_to [lindex $databases [expr {$differential::round_seed % 4 == 0 ? "end" : 0}]]
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
        [random::pick {bool int4 int8 float8 float4 numeric(10,2) text text varchar(40) {text COLLATE "C"} {text COLLATE ci} date timestamp timestamptz}]]
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
    i { return [expr {$text > 9223372036854775807 ? "t" : "i"}]:$text }
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
