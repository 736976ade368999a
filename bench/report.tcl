# Results as lines of JSON, as a table on standard output, and as a page with charts.
#
# A result is a dict with the keys of `order` in any number; those that are `texts` are strings in
# JSON and the others numbers, or null where the value is empty.

namespace eval report {
  variable order {
    case peer edb_s peer_s ratio edb_rss_kb rows target scaled skipped edb_skipped
    peer_rss_kb edb_growth_kb peer_growth_kb growth_target_kb edb_cpu_s peer_cpu_s edb_min_s
    peer_min_s rounds commit server client edb_version peer_version cpu cores
  }
  variable texts {
    case peer scaled skipped edb_skipped commit server client edb_version peer_version cpu
  }
  # The order of cases in files and on the page.
  variable width 26                   ;# of a case's name in the table
  variable works {scan lookup count count.where filter topn minmax planning join.lookup join.hash join.in insert memory memory.table}
}

# JSON --------------------------------------------------------------------------------------------

# One flat JSON object on one line, as a dict; null becomes the empty string.
proc report::parse {line} {
  set result {}
  foreach {- key value text} [regexp -all -inline \
      {"(\w+)":\s*(null|-?[0-9][0-9.eE+-]*|"((?:[^"\\]|\\.)*)")} $line] {
    if {[string match {"*} $value]} {
      dict set result $key [string map {\\\\ \\ \\\" \" \\n \n \\t \t} $text]
    } else {
      dict set result $key [expr {$value eq "null" ? {} : $value}]
    }
  }
  if {$result eq {}} { error "not a line of JSON: $line" }
  return $result
}

proc report::json {result} {
  variable order
  variable texts
  set parts {}
  foreach key $order {
    if {![dict exists $result $key]} continue
    set value [dict get $result $key]
    if {$key in $texts} {
      set value "\"[regsub -all {[\u0000-\u001f]+} [string map {\\ \\\\ \" \\\"} $value] { }]\""
    } elseif {$value eq {}} {
      set value null
    } elseif {[string match *_s $key]} {
      set value [format [expr {$value < 0.01 ? "%.9f" : "%.6f"}] $value]
    } elseif {$key eq "ratio"} {
      set value [ratio $value]
    }
    lappend parts "\"$key\":$value"
  }
  return "{[join $parts ,]}"
}

# Three significant digits at least, and no exponent.
proc report::ratio {value} { format [expr {$value < 10 ? "%.3f" : "%.1f"}] $value }

# Files -------------------------------------------------------------------------------------------

# Puts results into FOLDER/GROUP.jsonl, a group being what stands before the case's first dot.
# Results of cases that were not run again stay.
proc report::save {folder results} {
  file mkdir $folder
  foreach result $results {
    dict lappend groups [group $result] $result
    dict set ran [dict get $result case] 1
  }
  dict for {group new} $groups {
    set kept {}
    foreach result [read_results $folder/$group.jsonl] {
      if {![dict exists $ran [dict get $result case]]} { lappend kept $result }
    }
    set channel [open $folder/$group.jsonl w]
    fconfigure $channel -encoding utf-8
    foreach result [lsort -command compare [concat $kept $new]] { puts $channel [json $result] }
    close $channel
  }
}

proc report::group {result} {
  set case [dict get $result case]
  expr {$case in [dict keys $planner::works] ? "planner" : [lindex [split $case .] 0]}
}
proc report::work {result} {
  if {[group $result] eq "planner"} { return [dict get $result case] }
  join [lrange [split [dict get $result case] .] 1 end] .
}

# By work as listed above; lsort is stable, so peers stay as they were run.
proc report::compare {a b} {
  variable works
  expr {[lsearch -exact $works [work $a]] - [lsearch -exact $works [work $b]]}
}

proc report::read_results {path} {
  if {![file exists $path]} return
  set channel [open $path]
  fconfigure $channel -encoding utf-8
  set lines [split [string trim [read $channel]] \n]
  close $channel
  lmap line $lines { if {$line eq {}} continue; parse $line }
}

# The table ---------------------------------------------------------------------------------------

proc report::print_head {} {
  variable width
  puts [format "%-${width}s %-16s %9s %9s %9s %8s %9s" case peer "edb s" "peer s" ratio target "edb kB"]
}

proc report::print {result} {
  variable width
  puts [string trimright [format "%-${width}s %-16s %9s %9s %9s %8s %9s  %s" [dict get $result case] \
    [dict get $result peer] [seconds $result edb_s] [seconds $result peer_s] [shown $result ratio] \
    [shown $result target] [shown $result edb_rss_kb] [remarks $result]]]
  flush stdout
}

proc report::get {result key} {
  if {[dict exists $result $key]} { dict get $result $key }
}

proc report::seconds {result key} {
  set value [get $result $key]
  if {$value eq {}} { return - }
  time $value
}

# Seconds; where that is no time at all, with three digits and an exponent.
proc report::time {value} { format [expr {$value < 0.01 ? "%.2e" : "%.4f"}] $value }

proc report::shown {result key} {
  set value [get $result $key]
  if {$value eq {}} { return [expr {$key eq "target" ? "" : "-"}] }
  if {$key eq "target"} { return ">=$value" }
  if {$key eq "ratio"} { return [ratio $value] }
  return $value
}

# What a reader has to know beside the figures.
proc report::remarks {result} {
  set remarks {}
  set target [get $result target]
  if {$target ne {} && [get $result ratio] ne {} && [get $result ratio] < $target} {
    lappend remarks "below its target"
  }
  foreach {key text} {edb_growth_kb "edb grew by" peer_growth_kb "the peer by"} {
    if {[get $result $key] ne {}} { lappend remarks "$text [get $result $key] kB" }
  }
  set growth [get $result edb_growth_kb]
  if {$growth ne {} && $growth > [get $result growth_target_kb]} {
    lappend remarks "over its limit of [get $result growth_target_kb] kB"
  }
  if {[get $result scaled] ne {}} { lappend remarks "scaled [get $result scaled]" }
  if {[get $result skipped] ne {}} { lappend remarks "skipped: [get $result skipped]" }
  if {[get $result edb_skipped] ne {}} { lappend remarks "edb: [get $result edb_skipped]" }
  join $remarks ", "
}

# The page ----------------------------------------------------------------------------------------

proc report::html {folder} {
  set body {}
  set first {}
  foreach path [lsort [glob -nocomplain -directory $folder *.jsonl]] {
    set results [read_results $path]
    if {$results eq {}} continue
    if {$first eq {}} { set first [lindex $results 0] }
    append body [html_group $results]
  }
  set channel [open $folder/report.html w]
  fconfigure $channel -encoding utf-8
  puts $channel "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>edb: measurements</title>
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2733; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; } h3 { margin: 1.6rem 0 .2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6rem 0; }
th, td { padding: .15rem .8rem .15rem 0; text-align: right; border-bottom: 1px solid #dde3ea; }
th:first-child, td:first-child, td:last-child, th:last-child { text-align: left; }
td:first-child { white-space: nowrap; }
.facts { color: #5a6b7c; font-size: 13px; } .miss { color: #b3261e; }
svg { width: 100%; height: auto; display: block; } svg text { font: 13px system-ui, sans-serif; fill: #1c2733; }
.edb { fill: #1668b8; } .peer { fill: #a9b8c7; } .target { stroke: #b3261e; stroke-width: 2; }
.clip { fill: #fff; }
</style></head><body>
<h1>edb beside what it could be replaced by</h1>
<p>Seconds are medians of alternated rounds; shorter is better. A ratio is the peer's time divided by edb's:
above 1, edb is faster. The red mark in a peer's row is how long edb's bar may be at most to reach
the target set for that pair. How this is measured stands in bench/README.md.</p>
<p class=\"facts\">[escape [get $first cpu]], [escape [get $first cores]] cores</p>
$body</body></html>"
  close $channel
}

proc report::html_group {results} {
  set first [lindex $results 0]
  set title [group $first]
  foreach key {server client} {
    if {[get $first $key] ne {}} { append title ", [get $first $key]" }
  }
  set out "<h2>[escape $title]</h2>\n<p class=\"facts\">[escape "commit [get $first commit],\
    [get $first rounds] rounds; edb: [get $first edb_version]"]</p>\n"
  foreach result $results { dict lappend cases [dict get $result case] $result }
  dict for {case list} $cases {
    append out "<h3>[escape $case]</h3>\n[chart $case $list][html_table $list]"
  }
  return $out
}

proc report::html_table {results} {
  set out "<table><tr><th>peer</th><th>edb s</th><th>peer s</th><th>ratio</th><th>target</th>\
    <th>edb CPU s</th><th>peer CPU s</th><th>edb kB</th><th>peer kB</th><th></th></tr>\n"
  foreach r $results {
    set cells [list [get $r peer] [seconds $r edb_s] [seconds $r peer_s] [shown $r ratio] \
      [shown $r target] [seconds $r edb_cpu_s] [seconds $r peer_cpu_s] [shown $r edb_rss_kb] \
      [shown $r peer_rss_kb] [remarks $r]]
    set class [expr {[string match {*below its*} [remarks $r]] || [string match {*over its*} [remarks $r]]
      ? { class="miss"} : {}}]
    append out "<tr$class>[join [lmap cell $cells { string cat <td> [escape $cell] </td> }] {}]</tr>\n"
  }
  append out </table>\n
}

# Bars of seconds, edb's first. A bar much longer than edb's is cut, and shows that it is.
proc report::chart {case results} {
  set bars {}
  set edb {}
  foreach r $results {
    if {[get $r edb_s] ne {}} { set edb [get $r edb_s] }
    if {[get $r peer_s] ne {}} { lappend bars [list [get $r peer] [get $r peer_s] peer [get $r target]] }
  }
  if {$bars eq {}} return
  if {$edb ne {}} { set bars [linsert $bars 0 [list edb $edb edb {}]] }
  set times [lsort -real [lmap bar $bars { lindex $bar 1 }]]
  set base [expr {$edb ne {} ? $edb : [lindex $times 0]}]
  set limit [expr {min([lindex $times end], 6 * $base)}]
  set height [expr {26 * [llength $bars] + 6}]
  set out "<svg viewBox=\"0 0 900 $height\" role=\"img\" aria-label=\"[escape $case]\">\n"
  set y 4
  foreach bar $bars {
    lassign $bar name time class target
    set width [format %.1f [expr {560.0 * min($time, $limit) / $limit}]]
    append out "<text x=\"125\" y=\"[expr {$y + 15}]\" text-anchor=\"end\">[escape $name]</text>"
    append out "<rect x=\"132\" y=\"$y\" width=\"$width\" height=\"20\" class=\"$class\"/>"
    if {$time > $limit} {
      append out "<path class=\"clip\" d=\"M660 $y l8 0 l-8 20 l-8 0 z\"/>"
    }
    if {$target ne {} && $time / $target <= $limit} {
      set x [format %.1f [expr {132 + 560.0 * $time / $target / $limit}]]
      append out "<line class=\"target\" x1=\"$x\" x2=\"$x\" y1=\"[expr {$y - 2}]\" y2=\"[expr {$y + 22}]\"/>"
    }
    set label "[time $time] s"
    if {$edb ne {} && $class eq "peer"} { append label " (ratio [ratio [expr {$time / $edb}]])" }
    append out "<text x=\"[expr {138 + max($width, 0)}]\" y=\"[expr {$y + 15}]\">[escape $label]</text>\n"
    incr y 26
  }
  append out </svg>\n
}

proc report::escape {text} { string map {& &amp; < &lt; > &gt; \" &quot;} $text }
