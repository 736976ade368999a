# MySQL and MariaDB in the differential test; differential_driver.tcl says what a driver is made of.
#
# The client's session takes anything: what does not fit a column is cut, and a date that is none becomes
# '0000-00-00'.

namespace eval differential::mysql {
  # declaration, class, kind of SQLite value (num: by its digits; m, z: a moment, a zoned one), how the server's own
  # text of it is asked for, values. Text with `text` for the render is text of any kind.
  variable moments {0000-00-00 {2024-00-10 01:02:03.5} {2023-02-31 12:00:00} {0001-01-01 00:00:00}
    {9999-12-31 23:59:59.999999} {2020-01-01 00:00:00} {2020-01-01 00:00:00.000001} {2020-01-02 12:00:00.5}
    {1999-12-31 23:59:59.5} {0000-03-01 00:00:00} {2020-01-02 03:04:02}}
  variable instants {0000-00-00 {1970-01-01 00:00:01} {2038-01-19 03:14:07} {2020-01-01 00:00:00}
    {2020-01-02 03:04:05.5} {2020-01-02 03:04:05} {2020-01-02 03:04:05.000001} {1999-12-31 23:59:59}}
  variable clocks {00:00:00 24:00:00 23:59:59.999999 12:00:00.5 12:00:00 -00:00:01 -12:30:00 100:00:00 99:59:59
    838:59:59 -838:59:59 03:04:01 25:00:00}
  variable types [list \
    {tinyint int i %s {0 1 2 -1 127 -128}} \
    {tinyint(1) int i %s {0 1 0 1 2 -1}} \
    {{tinyint unsigned} int i %s {0 1 2 255}} \
    {{smallint zerofill} int i {cast(%s as unsigned)} {0 1 65535}} \
    {mediumint int i %s {0 1 -8388608 8388607}} \
    {int int i %s {0 1 2 -1 10 2147483647 -2147483648}} \
    {{int unsigned} int i %s {0 1 2 4294967295 2147483648}} \
    {bigint int i %s {0 1 2 -1 9223372036854775807 -9223372036854775808 9007199254740991 9007199254740992
      9007199254740993 9223372036854775806 -9007199254740993}} \
    {{bigint unsigned} int i %s {0 1 2 9223372036854775807 9007199254740993 9223372036854774784
      9223372036854775808 18446744073709551615 10000000000000000001}} \
    {bit(1) int i {%s + 0} {0 1}} \
    {bit(64) int i {%s + 0} {0 1 2 9223372036854775808 18446744073709551615}} \
    {bit(63) int i {%s + 0} {0 1 2 7 9223372036854775807 9007199254740993}} \
    {year int i {%s + 0} {0 1901 2155 1999 2005 2020}} \
    {float real r {%s * 1e0} {0 1 0.1 -1.5 1.5e-45 3.4028234e38 16777216 1e10 0.3}} \
    {float(7,2) real r {%s * 1e0} {0 1.1 2.25 -99999.99}} \
    {double real r %s {0 1 2 0.1 -1.5 2.2250738585072014e-308 1.7976931348623157e308 -1e308 9007199254740991
      9007199254740992 9007199254740994 9223372036854775807 1e15 1e17 123456789.125}} \
    {double(10,2) real r %s {0 1.10 0.05 12345678.90}} \
    {decimal(10,2) numeric num %s {0 0.00 1 1.00 -0.10 12345678.90 99999999.99 -99999999.99 2.50}} \
    {decimal(30,15) numeric num %s {0 1 1.50 -0.000100 123456789012345 0.123456789012345 2.5 900000000000000
      123456789012345.123456789012345 -100000000000000.000000000000001 0.100000000000001}} \
    {decimal(65,30) numeric num %s {0 1 12345678901234567890 0.12345678901234567890123 9007199254740993 9007199254740992.5 1e-30
      -12345678901234567.89 9223372036854775807.5 1234567890123456789012345678 2.999999999999999999999999999999}} \
    [list {varchar(40)} text t text $::differential::texts] \
    [list {varchar(40) COLLATE utf8mb4_bin} text t text $::differential::texts] \
    [list {varchar(40) COLLATE utf8mb4_unicode_ci} text t text $::differential::texts] \
    [list {varchar(40) COLLATE utf8mb4_nopad_bin} text t text $::differential::texts] \
    [list {varchar(40) COLLATE utf8mb4_uca1400_ai_ci} text t text $::differential::texts] \
    [list {varchar(40) COLLATE utf8mb4_uca1400_as_cs} text t text $::differential::texts] \
    [list {varchar(40) COLLATE utf8mb4_general_nopad_ci} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET utf8mb3} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET latin1} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET latin1 COLLATE latin1_german1_ci} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET gbk} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET gbk COLLATE gbk_bin} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET sjis} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET swe7} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET ascii} text t text $::differential::texts] \
    [list {varchar(40) CHARACTER SET utf16} text t text $::differential::texts] \
    [list text text t text $::differential::texts] \
    [list {longtext CHARACTER SET latin1} text t text $::differential::texts] \
    {char(6) text t %s {{} a {a } A abc ABC 0 1 é É abcdef { a} ß ss}} \
    {{char(6) CHARACTER SET latin1 COLLATE latin1_bin} text t %s {{} a {a } abc ABC 0 é \u20ac ?}} \
    {{enum('sad','ok','Ok2','0','1','é')} text t %s {sad ok Ok2 0 1 2 é nosuch}} \
    {{set('a','b','c d') CHARACTER SET latin1} text t %s {a {} b,a {a,c d} nosuch}} \
    {json text t %s {null {"a"} {{"a": 1}} {[1, 2]} 1 {{"b":null,"a":[{}]}}}} \
    {uuid text t %s {00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff
      a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12}} \
    {inet6 text t %s {::1 2001:db8::1 ::ffff:10.0.0.1}} \
    {inet4 text t %s {10.0.0.1 0.0.0.0 255.255.255.255}} \
    {binary(3) blob b hex(%s) {{} 00 30 616263}} \
    {varbinary(10) blob b hex(%s) {{} 00 30 00ff 616263}} \
    {blob blob b hex(%s) {{} 00 30 00ff 616263}} \
    {point geo b hex(st_aswkb(%s)) {{POINT(1 2)} {POINT(0.5 -1e10)}}} \
    {date date m %s {0000-00-00 2024-00-10 2023-02-31 0001-01-01 9999-12-31 2020-02-29 1999-12-31 2000-01-01 0999-06-01}} \
    [list time time m %s $clocks] \
    [list time(6) time m %s $clocks] \
    [list datetime datetime m %s $moments] \
    [list datetime(6) datetime m %s $moments] \
    [list timestamp datetime z %s $instants] \
    [list timestamp(3) datetime z %s $instants]]
  # With decimal=text.
  variable exact {decimal(65,30) text t %s {0 1 1.0 1.50 -0.000100 12345678901234567890 0.12345678901234567890123
    9007199254740993}}
  variable common {tinyint(1) int bigint {int unsigned} double float decimal(10,2) varchar(40) varchar(40)
    {varchar(40) CHARACTER SET latin1} {varchar(40) COLLATE utf8mb4_bin} date datetime timestamp}
  variable keys {tinyint int bigint {int unsigned} {bigint unsigned} varchar(40) {varchar(40) COLLATE utf8mb4_bin}
    {varchar(40) CHARACTER SET latin1} {varchar(40) CHARACTER SET gbk} char(6) uuid date datetime datetime(6) timestamp
    double decimal(10,2) varbinary(10) time bit(63) year {enum('sad','ok','Ok2','0','1','é')}}
  variable schema "S.\"x"
}

proc differential::mysql::define {} {}

proc differential::mysql::connect {} {
  variable schema
  set url [server mysql url]
  execsql { SELECT edb_server('srv', $url) }
  sql "DROP DATABASE IF EXISTS [name $schema]; CREATE DATABASE [name $schema] CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
}

proc differential::mysql::disconnect {} {}

# A warning is not a failure: dates of no calendar are among the values.
proc differential::mysql::sql {script} { ::mysql $script }

proc differential::mysql::classes {} {
  list {where {VIRTUAL TABLE INDEX \d+:.* WHERE }} {or {^MULTI-INDEX OR}} {limit {VIRTUAL TABLE INDEX .* LIMIT \?}} \
    {list { IN \(}} {count {VIRTUAL TABLE INDEX \d+:SELECT count\(}}
}

proc differential::mysql::name {text} { return `[string map {` ``} $text]` }

# UTF-8, from the code points, since Tcl 8.6 has two characters for one beyond U+FFFF.
proc differential::mysql::literal {text} {
  set hex {}
  foreach code [differential::codes $text] {
    if {$code > 0xFFFF} {
      append hex [format %02X%02X%02X%02X [expr {0xF0 | $code >> 18}] [expr {0x80 | $code >> 12 & 0x3F}] \
        [expr {0x80 | $code >> 6 & 0x3F}] [expr {0x80 | $code & 0x3F}]]
    } else {
      append hex [binary encode hex [encoding convertto utf-8 [format %c $code]]]
    }
  }
  return "_utf8mb4 X'$hex'"
}

# A column is {name type-row key}.
proc differential::mysql::column_types {shape} {
  variable types
  variable exact
  variable keys
  variable common
  set columns {}
  set pool [random::sample $differential::names 14]
  switch -glob $shape {
    int* - view-key - query-key { set key_types [list [random::pick {tinyint int bigint {int unsigned} {bigint unsigned}}]] }
    other { set key_types [list [random::pick $keys]] }
    unique { set key_types [list [random::pick {bigint varchar(40) uuid date}]] }
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

proc differential::mysql::table {i} {
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
  lappend definitions {*}[indexes $columns]
  set table [random::pick [list t t "T\"$i" {a b} select tä x.y]]$i
  set full "[name $schema].[name $table]"
  set engine [random::pick [expr {$shape eq "wide" ? {Aria MyISAM} : {InnoDB InnoDB Aria MyISAM}}]]
  set sql "CREATE TABLE $full ([join $definitions {, }]) ENGINE=$engine;\n"
  set rows [random::weighted {0 4 1 6 15 30 30 30 45 30}]
  if {$shape eq "int-big"} { set rows 600 }
  append sql [inserts $full $columns $rows]
  if {[random::chance 50]} { append sql "ANALYZE TABLE $full;\n" }
  set spec [dict create classes [lmap column $columns { lindex $column 1 1 }] columns $columns from $full \
    identity [expr {$shape ni {view query none wide decimal}}]]
  set options {}
  if {$shape in {view view-key}} {
    append sql "CREATE VIEW [name $schema].v$i AS SELECT * FROM $full;\n"
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

# By an index, the server compares otherwise than by looking at each row.
proc differential::mysql::indexes {columns} {
  set indexes {}
  foreach column [lrange $columns 0 7] {
    lassign $column name type is_key
    lassign $type declaration class
    if {$class eq "geo" || $declaration eq "json" || ![random::chance 35]} continue
    set prefix [expr {[regexp {^(text|longtext|blob)} $declaration] ? "(5)" : {}}]
    lappend indexes "KEY ([name $name]$prefix)"
  }
  return $indexes
}

proc differential::mysql::inserts {table columns rows} {
  if {$rows == 0} return
  set values {}
  for {set k 0} {$k < $rows} {incr k} {
    lappend values ([join [lmap column $columns {
      lassign $column - type is_key
      if {$is_key eq {} && [random::chance 15]} { string cat NULL } else { value $type $k $is_key }
    }] {, }])
  }
  return "INSERT IGNORE INTO $table VALUES [join $values ",\n"];\n"
}

proc differential::mysql::value {type k is_key} {
  lassign $type name class
  if {$is_key ne {} && [regexp {int} $name] && $k > 8} { return [expr {$k * 3 % 601}] }
  set value [differential::type_value [lreplace $type 1 1 [expr {$class eq "geo" ? "other" : $class}]]]
  switch $class {
    int - real - numeric { return $value }
    blob { return X'$value' }
    geo { return ST_GeomFromText('$value') }
    default { return [literal $value] }
  }
}

# All by one client, with a line after each table.
proc differential::mysql::render {specs} {
  set script {}
  foreach spec $specs {
    set cells [lmap column [dict get $spec columns] {
      lassign $column name type
      set render [lindex $type 3]
      if {$render eq "text"} { set render %s }
      set text [string map [list %s [name $name]] $render]
      string cat "coalesce(concat('x', hex(convert($text USING utf8mb4))), '-')"
    }]
    append script "SELECT [join $cells ",\n"] FROM [dict get $spec from];\nSELECT '=';\n"
  }
  differential::rendered_tables [namespace current] $specs [::mysql $script] \t
}

# What edb should make of the server's text, by DESIGN's table of values.
proc differential::mysql::rendered {kind hex} {
  set text [binary decode hex $hex]
  switch $kind {
    b { return b:[string tolower $text] }
    t { return [differential::text_cell [string tolower $hex]] }
    m - z { return t:[moment $text [expr {$kind eq "z"}]] }
    default { return [differential::postgresql::rendered $kind $hex] }
  }
}

# A date of the calendar without the zeros of its fraction; what is none as the server writes it.
proc differential::mysql::moment {text zoned} {
  if {[scan $text {%4d-%2d-%2d} year month day] == 3 && [string index $text 0] ne "-" && [string index $text 4] eq "-"} {
    set valid [expr {$year > 0 && $month > 0 && $day > 0
      && $day <= [lindex {31 28 31 30 31 30 31 31 30 31 30 31} $month-1]
                 + ($month == 2 && ($year % 4 == 0 && ($year % 100 != 0 || $year % 400 == 0)))}]
    if {!$valid} { return $text }
  }
  if {[string match *.* $text]} { set text [string trimright [string trimright $text 0] .] }
  return $text[expr {$zoned ? "Z" : {}}]
}
