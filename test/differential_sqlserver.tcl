# SQL Server in the differential test; differential_driver.tcl says what a driver is made of.
#
# The server is tdsd, which compares as SQL Server does up to a point: text by the case of its collation and without
# blanks at the end, by the accents of Latin letters, not by width or a language's order; decimals, moments and binaries exactly.  What real
# collations make equal beyond that is only more rows that SQLite has to look at again, since `=` is all that is sent
# of text.

namespace eval differential::sqlserver {
  # declaration, class, kind of SQLite value (num: by its digits; m, z: a moment, a zoned one), how the server's own
  # text of it is asked for, values. Text with `text` for the render is text of any kind.
  variable moments {{0001-01-01 00:00:00} {9999-12-31 23:59:59.9999999} {2020-01-01 00:00:00} {2020-01-01 00:00:00.0000001}
    {2020-01-02 12:00:00.5} {1999-12-31 23:59:59.5} {2020-01-02 03:04:02}}
  variable types [list \
    {bit int i %s {0 1 1}} \
    {tinyint int i %s {0 1 2 255}} \
    {smallint int i %s {0 1 -1 32767 -32768}} \
    {int int i %s {0 1 2 -1 10 2147483647 -2147483648}} \
    {bigint int i %s {0 1 2 -1 9223372036854775807 -9223372036854775808 9007199254740991 9007199254740992
      9007199254740993 9223372036854775806 -9007199254740993}} \
    {real real r {CONVERT(nvarchar(max), CAST(%s AS float), 3)} {0 1 0.1 -1.5 3.4028234e38 16777216 1e10 0.3}} \
    {float real r {CONVERT(nvarchar(max), %s, 3)} {0 1 2 0.1 -1.5 2.2250738585072014e-308 1.7976931348623157e308 -1e308
      9007199254740991 9007199254740992 9007199254740994 9223372036854775807 1e15 1e17 123456789.125}} \
    {decimal(10,2) numeric num %s {0 0.00 1 1.00 -0.10 12345678.90 99999999.99 -99999999.99 2.50}} \
    {decimal(38,15) numeric num %s {0 1 1.50 -0.000100 123456789012345 0.123456789012345 2.5 90000000000000
      9007199254740993 9007199254740992.5 -12345678901234567.89 12345678901234567890 0.100000000000001 2.999999999999999
      9223372036854775807.5}} \
    {money numeric num {CONVERT(nvarchar(max), %s, 2)} {0 1 -17.80 0.0001 2.5 92233720368.4775 922337203685477.5807 900719925474.0993}} \
    [list nvarchar(40) text t text $::differential::texts] \
    [list {nvarchar(40) COLLATE Latin1_General_CS_AS} text t text $::differential::texts] \
    [list {nvarchar(40) COLLATE Latin1_General_100_BIN2} text t text $::differential::texts] \
    [list {nvarchar(40) COLLATE Latin1_General_100_CI_AI} text t text $::differential::texts] \
    [list {varchar(40) COLLATE SQL_Latin1_General_CP1_CI_AI} text t text $::differential::texts] \
    [list {varchar(40) COLLATE Latin1_General_BIN2} text t text $::differential::texts] \
    [list {varchar(90) COLLATE Latin1_General_100_BIN2_UTF8} text t text $::differential::texts] \
    [list {varchar(90) COLLATE Latin1_General_100_CI_AS_SC_UTF8} text t text $::differential::texts] \
    [list varchar(40) text t text $::differential::texts] \
    [list {varchar(40) COLLATE Cyrillic_General_CI_AS} text t text $::differential::texts] \
    [list {varchar(40) COLLATE SQL_Latin1_General_CP437_CI_AS} text t text $::differential::texts] \
    [list nvarchar(max) text t text $::differential::texts] \
    [list varchar(max) text t text $::differential::texts] \
    [list ntext text t text $::differential::texts] \
    {char(6) text t %s {{} a {a } A abc ABC 0 1 abcdef { a}}} \
    {nchar(6) text t %s {{} a {a } A abc ABC 0 é É ß ss}} \
    {xml text t %s {<a/> <a>b</a>}} \
    {uniqueidentifier text t {LOWER(CAST(%s AS nvarchar(36)))} {00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff
      a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12}} \
    {binary(3) blob b {CONVERT(nvarchar(max), %s, 2)} {{} 00 30 616263}} \
    {varbinary(10) blob b {CONVERT(nvarchar(max), %s, 2)} {{} 00 30 00ff 616263}} \
    {varbinary(max) blob b {CONVERT(nvarchar(max), %s, 2)} {{} 00 30 00ff 616263}} \
    {date date m %s {0001-01-01 9999-12-31 2020-02-29 1999-12-31 2000-01-01 0999-06-01}} \
    {time(7) time m %s {00:00:00 23:59:59.9999999 12:00:00.5 12:00:00 00:00:00.0000001}} \
    {time(0) time m %s {00:00:00 23:59:59 12:00:00}} \
    {datetime datetime m {CONVERT(nvarchar(max), %s, 121)} {{1753-01-01 00:00:00} {9999-12-31 23:59:59.997} {2020-01-01 00:00:00}
      {2020-01-01 00:00:00.003} {2020-01-01 00:00:00.007} {2020-01-02 12:00:00.5} {1899-12-31 23:59:59.5} {2020-01-02 03:04:02}}} \
    {smalldatetime datetime m {CONVERT(nvarchar(max), %s, 121)} {{1900-01-01 00:00:00} {2079-06-06 23:59:00} {2020-01-02 03:04:00}}} \
    [list datetime2(7) datetime m %s $moments] \
    {datetime2(0) datetime m %s {{0001-01-01 00:00:00} {9999-12-31 23:59:59} {2020-01-01 00:00:00} {2020-01-02 03:04:02}}} \
    [list datetimeoffset(7) datetime z %s $moments]]
  # With decimal=text.
  variable exact {decimal(38,20) text t %s {0 1 1.0 1.50 -0.000100 123456789012345678 0.12345678901234567890 900719925474099.3}}
  variable common {bit int bigint float real decimal(10,2) nvarchar(40) nvarchar(40) varchar(40) date datetime datetime2(7) datetimeoffset(7)}
  variable keys {tinyint int bigint nvarchar(40) {nvarchar(40) COLLATE Latin1_General_100_BIN2} varchar(40) char(6) uniqueidentifier
    date datetime datetime2(7) datetimeoffset(7) float decimal(10,2) varbinary(10) time(7) bit}
  variable schema {}
  variable round 0
}

proc differential::sqlserver::define {} {}

proc differential::sqlserver::connect {} {
  variable schema
  variable round
  set url [server sqlserver url]
  execsql { SELECT edb_server('srv', $url) }
  set schema "S.\"x[incr round]"
  sql "CREATE SCHEMA [name $schema]"
}

proc differential::sqlserver::disconnect {} {}

# A key that is there already is not a failure; the batch goes on behind it.
proc differential::sqlserver::sql {script} {
  foreach batch [split $script \f] {
    if {$batch eq {}} continue
    try { tdsd $batch } trap TDSD {message options} {
      foreach one [lrange [dict get $options -errorcode] 1 end] {
        if {![string match {error 2627: *} $one]} { error "$one\n$batch" }
      }
    }
  }
}

proc differential::sqlserver::classes {} {
  list {where {VIRTUAL TABLE INDEX \d+:.* WHERE }} {or {^MULTI-INDEX OR}} {limit {VIRTUAL TABLE INDEX .* FETCH NEXT \?}} \
    {list { IN \(}} {count {VIRTUAL TABLE INDEX \d+:SELECT count\(}}
}

proc differential::sqlserver::name {text} { return \[[string map {] ]]} $text]] }

# By its UTF-16, since Tcl 8.6 has two characters for one beyond U+FFFF.
proc differential::sqlserver::literal {text} {
  set hex {}
  foreach char [split $text {}] { append hex [binary encode hex [binary format s [scan $char %c]]] }
  return "CAST(0x$hex AS nvarchar(max))"
}

# A column is {name type-row key}.
proc differential::sqlserver::column_types {shape} {
  variable types
  variable exact
  variable keys
  variable common
  set pool [random::sample $differential::names 14]
  switch -glob $shape {
    int* - view-key - query-key { set key_types [list [random::pick {tinyint int bigint}]] }
    other { set key_types [list [random::pick $keys]] }
    unique { set key_types [list [random::pick {bigint nvarchar(40) uniqueidentifier date}]] }
    composite { set key_types [random::sample $keys [expr {2 + [random::below 2]}]] }
    default { set key_types {} }
  }
  if {$shape in {view-key query-key}} { set pool [linsert $pool 0 k] }
  set n [expr {$shape eq "wide" ? 70 : 3 + [random::below 6]}]
  set chosen [lmap type $key_types { list $type key }]
  for {set i 0} {$i < $n} {incr i} {
    if {$shape eq "decimal" && [random::chance 40]} {
      lappend chosen {exact {}}
    } else {
      lappend chosen [list [expr {[random::chance 55] ? [random::pick $common] : [lindex [random::pick $types] 0]}] {}]
    }
  }
  # The server takes no two names that differ in case alone.
  set taken {}
  set columns {}
  foreach one $chosen {
    lassign $one type is_key
    set at [llength $columns]
    set name [expr {$shape eq "wide" && $at > 8 ? "w$at" : [lindex $pool $at]}]
    if {[string tolower $name] in $taken} { set name "$name $at" }
    lappend taken [string tolower $name]
    set row [expr {$type eq "exact" ? $exact : [lsearch -inline -exact -index 0 $types $type]}]
    lappend columns [list $name $row $is_key]
  }
  return $columns
}

proc differential::sqlserver::table {i} {
  variable schema
  set shape [lindex {int composite none other view query decimal unique view-key query-key wide int-big} \
    [expr {$i < 3 ? $i : 3 + [random::below 9]}]]
  set columns [column_types $shape]
  set key {}
  set definitions {}
  foreach column $columns {
    lassign $column name type is_key
    lappend definitions "[name $name] [lindex $type 0][expr {$is_key ne {} ? { NOT NULL} : {}}]"
    if {$is_key ne {}} { lappend key [name $name] }
  }
  if {$key ne {}} { lappend definitions "[expr {$shape eq "unique" ? "UNIQUE" : "PRIMARY KEY"}] ([join $key {, }])" }
  set table [random::pick [list t t "T\"$i" {a b} select tä x.y {a]b}]]$i
  set full "[name $schema].[name $table]"
  set sql "\fCREATE TABLE $full ([join $definitions {, }])"
  set rows [random::weighted {0 4 1 6 15 30 30 30 45 30}]
  if {$shape eq "int-big"} { set rows 600 }
  append sql [inserts $full $columns $rows]
  set spec [dict create classes [lmap column $columns { lindex $column 1 1 }] columns $columns from $full \
    identity [expr {$shape ni {view query none wide decimal}}]]
  set options {}
  if {$shape in {view view-key}} {
    append sql "\fCREATE VIEW [name $schema].v$i AS SELECT * FROM $full"
    set table v$i
  }
  if {$shape in {query query-key}} {
    dict set spec relation query='[string map {' ''} "SELECT * FROM $full"]'
  } else {
    dict set spec relation '[string map {' ''} \"[string map {\" \"\"} $schema]\".\"[string map {\" \"\"} $table]\"]'
  }
  if {$shape in {view-key query-key}} { lappend options "key='[string map {' ''} [lindex $columns 0 0]]'" }
  if {$shape eq "decimal"} { lappend options decimal=text }
  if {[random::chance 60]} { lappend options rows=[random::pick {0 10 1000 1000000 100000000}] }
  dict set spec options $options
  dict set spec sql $sql
}

proc differential::sqlserver::inserts {table columns rows} {
  set sql {}
  for {set k 0} {$k < $rows} {incr k} {
    append sql "[expr {$k ? "\n" : "\f"}]INSERT INTO $table VALUES ([join [lmap column $columns {
      lassign $column - type is_key
      if {$is_key eq {} && [random::chance 15]} { string cat NULL } else { value $type $k $is_key }
    }] {, }])"
  }
  return $sql
}

proc differential::sqlserver::value {type k is_key} {
  lassign $type name class
  if {$is_key ne {} && [string match *int $name] && $k > 8} {
    return [expr {$k * 3 % ($name eq "tinyint" ? 256 : 601)}]
  }
  set value [differential::type_value $type]
  if {$name eq "tinyint"} { return [expr {abs($value)}] }
  switch $class {
    int - real - numeric { return $value }
    blob { return 0x$value }
    date - time - datetime { return '$value' }
    default { return [literal $value] }
  }
}

# The server's own text of a column, as UTF-16 in hexadecimal.
proc differential::sqlserver::render {specs} {
  set lines {}
  foreach spec $specs {
    set cells [lmap column [dict get $spec columns] {
      lassign $column name type
      set render [lindex $type 3]
      if {$render eq "text"} { set render %s }
      set text [string map [list %s [name $name]] $render]
      string cat "COALESCE('x' + CONVERT(varchar(max), CAST(CAST($text AS nvarchar(max)) AS varbinary(max)), 2), '-')"
    }]
    lappend lines [tdsd "SELECT [join $cells ", "] FROM [dict get $spec from]"] =
  }
  differential::rendered_tables [namespace current] $specs [join $lines \n] |
}

# UTF-16 to UTF-8, both in hexadecimal.
proc differential::sqlserver::utf8 {hex} {
  set text {}
  binary scan [binary decode hex $hex] su* units
  foreach unit $units { append text [format %c $unit] }
  set out {}
  foreach code [differential::codes $text] {
    if {$code > 0xFFFF} {
      append out [format %02x%02x%02x%02x [expr {0xF0 | $code >> 18}] [expr {0x80 | $code >> 12 & 0x3F}] \
        [expr {0x80 | $code >> 6 & 0x3F}] [expr {0x80 | $code & 0x3F}]]
    } else {
      append out [binary encode hex [encoding convertto utf-8 [format %c $code]]]
    }
  }
  return $out
}

# What edb should make of the server's text, by DESIGN's table of values.
proc differential::sqlserver::rendered {kind hex} {
  set hex [utf8 $hex]
  set text [binary decode hex $hex]
  switch $kind {
    m - z {
      # All of them were written in UTC.
      if {$kind eq "z"} { regsub { \+00:00$} $text {} text }
      if {[string match *.* $text]} { set text [string trimright [string trimright $text 0] .] }
      return t:$text[expr {$kind eq "z" ? "Z" : {}}]
    }
    b { return b:[string tolower $text] }
    default { return [differential::postgresql::rendered $kind $hex] }
  }
}
