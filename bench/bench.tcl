# edb and what a user would pick instead, at the same work.  README.md says how to read it.
#
#   make bench                          everything
#   make bench CASE=postgresql.scan     the cases whose name starts so
#   make bench ROUNDS=3 PEERS='c-libpq vtab-floor'
#
# Results go to bench/results/*.jsonl (lines of cases that did not run are kept) and into
# bench/results/report.html.  The exit status is 1 if edb failed or any participant's sums were
# wrong, 0 otherwise: a ratio that misses its target is a result, not an error.

encoding system utf-8
foreach channel {stdout stderr} { fconfigure $channel -encoding utf-8 }

namespace eval bench {
  variable here [file dirname [file normalize [info script]]]
  variable rows 1000000
  variable lookups 20000
  variable inserts 20000
  variable loads 100000               ;# rows of insert_select and load
  variable updates 10000
  variable rounds 9
  variable only {}                    ;# CASE
  variable wanted {}                  ;# PEERS; empty: all
  variable errors 0
  variable results {}
  variable terminal [expr {![catch {exec test -t 2 2>@stderr}]}]

  # What is run: case, work, peers, and the ratios that edb is to reach.
  variable postgresql {
    scan    {peers {c-libpq c-libpq-chunked c-copy virtualpg vtab-floor pgx duckdb}
             targets {c-libpq 0.85 virtualpg 2.5 vtab-floor 0.5}}
    lookup  {peers {c-libpq virtualpg vtab-floor pgx duckdb} targets {c-libpq 0.75 virtualpg 500}}
    count   {peers {c-libpq virtualpg pgx duckdb} targets {virtualpg 20}}
    filter  {peers {c-libpq c-libpq-chunked virtualpg vtab-floor pgx duckdb} targets {}}
    insert_select {peers {c-copy c-prepared virtualpg} targets {c-copy 0.8 c-prepared 8}}
    insert_rows   {peers {c-prepared c-guarded virtualpg} targets {c-prepared 0.85}}
    update        {peers {c-prepared} targets {c-prepared 0.8}}
    update_rows   {peers {c-prepared c-reading} targets {c-prepared 0.8}}
  }
  # The drivers of Go, Node, Rust and Python are shown; PyMySQL has no prepared statements to insert by.
  variable mysql {
    scan    {peers {c-text c-binary vtab-floor go-sql-driver mysql2 rust-mysql pymysql}
             targets {c-text 1.2 c-binary 0.5 vtab-floor 0.5}}
    lookup  {peers {c-prepared vtab-floor go-sql-driver mysql2 rust-mysql pymysql}
             targets {c-prepared 0.8}}
    count   {peers {fetching c-text} targets {fetching 20}}
    filter  {peers {c-text c-binary vtab-floor go-sql-driver mysql2 rust-mysql pymysql} targets {}}
    topn    {peers {vtab-floor} targets {}}
    minmax  {peers {vtab-floor} targets {}}
    insert  {peers {c-prepared go-sql-driver mysql2 rust-mysql} targets {c-prepared 0.85}}
    insert_select {peers {c-multirow c-prepared} targets {c-multirow 0.8}}
    insert_rows   {peers {c-prepared} targets {c-prepared 0.85}}
    update        {peers {c-prepared} targets {c-prepared 0.8}}
    update_rows   {peers {c-prepared} targets {c-prepared 0.8}}
  }
  # freetds, tiberius and python-tds speak TDS 7.4 inside TLS, the others and edb strict TDS 8.0.
  variable sqlserver {
    scan    {peers {freetds go-mssqldb tiberius tedious python-tds mssql-python vtab-floor}
             targets {freetds 2.0 go-mssqldb 1.5 tiberius 1.5 tedious 8 python-tds 30 vtab-floor 0.5}}
    lookup  {peers {freetds go-mssqldb tiberius tedious python-tds mssql-python vtab-floor}
             targets {freetds 1.0}}
    insert  {peers {freetds go-mssqldb tiberius tedious python-tds mssql-python} targets {freetds 1.0}}
    load    {peers {prepared} targets {prepared 3.0}}
  }
  # Cases odbc.WORK are psqlODBC's on PostgreSQL, odbc.mysql.WORK MariaDB Connector/ODBC's.
  variable odbc {
    scan    {peers {c-getdata c-block c-block-utf8 vtab-floor} targets {c-getdata 1.1 c-block 0.85}}
    lookup  {peers {c-prepared vtab-floor} targets {c-prepared 0.85}}
    insert  {peers {c-prepared} targets {c-prepared 1.0}}
  }
  variable odbc_long {peers {c-getdata c-block c-block-utf8} targets {c-getdata 1.1}}
  variable sqlserver_memory {memory {big {series_10m 10000000} small {series_10k 10000} target 1024}}
  variable sqlite {
    scan    {peers {attach vtab-floor} targets {attach 0.28}}
    lookup  {peers {attach vtab-floor} targets {}}
    count   {peers {attach} targets {}}
    filter  {peers {attach vtab-floor} targets {}}
    insert_select {peers {attach} targets {}}
    insert_rows   {peers {attach} targets {}}
    update        {peers {attach} targets {}}
    update_rows   {peers {attach} targets {}}
  }
  # Peak memory: a big and a small scan, and by how many kB the big one may be above the small.
  variable memory {
    memory       {big {series_10m 10000000} small {series_10k 10000}}
    memory.table {big {t 1000000} small {t_10k 10000}}
  }
  variable memory_target 2048
  # Of the crypto group, by patterns of cases: what a peer's time divided by ours is to be at least. The
  # first pattern that matches counts.
  variable crypto {
    openssl {
      crypto.*.256.portable {} crypto.*.256.openssl {} crypto.aes*.256.* 2.5
      crypto.aes128gcm.*.vaes512 3.0 crypto.aes128gcm.*.vaes256 1.8 crypto.aes128gcm.*.aesni 0.95
      crypto.x25519 0.8 crypto.p256.verify 0.35 crypto.p384.verify 1.0 crypto.ed25519.verify 1.0
      crypto.rsa*.verify 0.4 crypto.rsa2048.oaep 0.15
    }
    bearssl { crypto.aes128gcm.*.16384.portable 1.0 }
  }
}
foreach file {../test/servers.tcl rows.tcl peers.tcl mysql.tcl sqlserver.tcl odbc.tcl planner.tcl join.tcl tls.tcl report.tcl} { source -encoding utf-8 $bench::here/$file }

# Running -----------------------------------------------------------------------------------------

# Runs a participant once; returns what it printed, as a dict, with its sums checked.
proc bench::run_once {name source work units} {
  if {[dict exists $source before]} { foreach sql [dict get $source before] { reset_table $source $sql } }
  set command [peers::command $name $source $work $units]
  if {[catch {exec {*}$command} line options]} {
    # Exit status 3: it works, but not with this library.  An extension that is not there, too.
    if {[lindex [dict get $options -errorcode] 2] == 3 ||
        ($name ne "edb" && [string match "*cannot open shared object*" $line])} {
      peers::skip [lindex [split $line \n] 0]
    }
    error "$name failed: [string map [list [dict get $source secret] ***] $line]"
  }
  set result [report::parse $line]
  set sums [lmap key {count ids chars score} { dict get $result $key }]
  set expected [rows::expected $work [dict get $source rows] $units]
  foreach got $sums want $expected {
    if {$got != $want} { error "$name: wrong sums for $work: $sums, not $expected" }
  }
  return $result
}

# What has to hold before each participant's run, done by the server itself. What it would clean up behind a DELETE later, beside
# somebody's run, is not left to it: PostgreSQL gets a VACUUM, and MariaDB, whose purge nobody can wait for, a TRUNCATE.
proc bench::reset_table {source sql} {
  if {[dict exists $source file]} {
    exec [peers::program host] -setup "ATTACH [peers::quote [dict get $source file]] AS other" \
      -setup [string map {{ t_} { other.t_} {FROM t } {FROM other.t }} $sql] none t 0 0
  } else {
    if {[dict get $source server kind] eq "mysql"} { set sql [string map {{DELETE FROM} TRUNCATE} $sql] }
    servers::sql [dict get $source server] $sql
    if {[dict get $source server kind] eq "postgresql" && [string match DELETE* $sql]} {
      servers::sql [dict get $source server] "VACUUM [lindex $sql 2]"
    }
  }
}

# The participants that can be had: each is tried once, which is the warm-up too.
proc bench::warm_up {case names source work units skippedVar} {
  variable errors
  upvar $skippedVar skipped
  set able {}
  foreach name $names {
    progress $case "warm-up $name"
    if {[catch {run_once $name $source $work [peers::units $name $work $units]} message options]} {
      dict set skipped $name [lindex [split $message \n] 0]
      if {[dict get $options -errorcode] ne {BENCH SKIP}} {
        incr errors
        puts stderr "\r$case: $message"
      }
    } else {
      lappend able $name
    }
  }
  return $able
}

# Alternates the participants; returns name -> {wall {...} cpu {...} rss {...} client TEXT}.
# Every round starts with another participant, so that none is always the one after another.
proc bench::alternate {case able source work units rounds} {
  variable errors
  set samples {}
  for {set round 0} {$round < $rounds} {incr round} {
    progress $case "round [expr {$round + 1}] of $rounds"
    for {set i 0} {$i < [llength $able]} {incr i} {
      set name [lindex $able [expr {($i + $round) % [llength $able]}]]
      set n [peers::units $name $work $units]
      if {[catch {run_once $name $source $work $n} result]} {
        incr errors
        puts stderr "\r$case: $result"
        continue
      }
      set scale [expr {$n == $units ? 1 : double($units) / $n}]
      set wall [expr {[dict get $result wall_s] * $scale}]
      set cpu [expr {([dict get $result user_s] + [dict get $result sys_s]) * $scale}]
      foreach {key value} [list wall $wall cpu $cpu rss [dict get $result rss_kb]] {
        dict set samples $name $key [concat [get $samples $name $key] $value]
      }
      dict set samples $name client [dict get $result client]
    }
  }
  return $samples
}

proc bench::get {dict args} {
  if {[dict exists $dict {*}$args]} { dict get $dict {*}$args }
}

proc bench::median {list} {
  if {$list eq {}} return
  set list [lsort -real $list]
  set n [llength $list]
  expr {$n % 2 ? [lindex $list [expr {$n / 2}]]
               : ([lindex $list [expr {$n / 2 - 1}]] + [lindex $list [expr {$n / 2}]]) / 2.0}
}

proc bench::progress {case what} {
  variable terminal
  if {!$terminal} return
  puts -nonewline stderr [format "\r%-28s %-40s\r" $case $what]
  flush stderr
}

proc bench::is_wanted {case} {
  variable only
  expr {[string range $case 0 [string length $only]-1] eq $only}
}

# Is any case of the group wanted, or one behind it, such as sqlserver.scan.portable?
proc bench::is_group_wanted {group works} {
  variable only
  foreach work $works { if {[is_wanted $group.$work] || [string match $group.$work.* $only]} { return 1 } }
  return 0
}

proc bench::peers_wanted {names} {
  variable wanted
  if {$wanted eq {}} { return $names }
  lmap name $names { if {$name ni $wanted} continue; set name }
}

# Cases -------------------------------------------------------------------------------------------

# One case: edb and its peers at one work, and a result for each peer.
proc bench::run_case {case work spec source facts} {
  variable rounds
  variable lookups
  variable inserts
  variable loads
  variable updates
  if {![is_wanted $case]} return
  set peers [peers_wanted [dict get $spec peers]]
  switch $work {
    lookup { set units $lookups }
    topn - minmax { set units 20 }
    planning { set units 200 }
    join.lookup { set units 100 }
    join.hash { set units 100000 }
    join.in { set units 10000 }
    insert - load {
      set units [expr {$work eq "load" ? $loads : $inserts}]
      dict set source table t_insert
    }
    insert_select - insert_rows {
      set units [expr {$work eq "insert_select" ? $loads : $inserts}]
      dict set source table t_insert
      dict set source before {{DELETE FROM t_insert}}
    }
    update - update_rows {
      set units $updates
      dict set source table t_update
      dict set source before [list {DELETE FROM t_update} \
        "INSERT INTO t_update SELECT id, name, -1 FROM t WHERE id <= $units"]
    }
    default { set units [dict get $source rows] }
  }
  set skipped {}
  set able [warm_up $case [list edb {*}$peers] $source $work $units skipped]
  set samples [alternate $case $able $source $work $units $rounds]
  foreach peer $peers {
    set result [dict create case $case peer $peer]
    if {[dict exists $skipped $peer]} {
      dict set result skipped [dict get $skipped $peer]
    } else {
      set result [dict merge $result [compare $samples $peer]]
    }
    if {[dict exists $skipped edb]} { dict set result edb_skipped [dict get $skipped edb] }
    dict set result rows $units
    set n [peers::units $peer $work $units]
    if {$n != $units} { dict set result scaled "from $n [expr {$work eq "lookup" ? "lookups" : "rows"}]" }
    if {[dict exists $spec targets $peer]} { dict set result target [dict get $spec targets $peer] }
    record [dict merge $result $facts]
  }
}

# The figures of one peer beside edb's; edb's are null where it was not to be had.
proc bench::compare {samples peer} {
  set edb [median [get $samples edb wall]]
  set other [median [get $samples $peer wall]]
  dict create edb_s $edb peer_s $other \
    ratio [expr {$edb eq {} || $other eq {} ? {} : $other / $edb}] \
    edb_rss_kb [largest [get $samples edb rss]] peer_rss_kb [largest [get $samples $peer rss]] \
    edb_cpu_s [median [get $samples edb cpu]] peer_cpu_s [median [get $samples $peer cpu]] \
    edb_min_s [lindex [lsort -real [get $samples edb wall]] 0] \
    peer_min_s [lindex [lsort -real [get $samples $peer wall]] 0] \
    edb_version [get $samples edb client] peer_version [get $samples $peer client]
}

proc bench::largest {list} { lindex [lsort -integer $list] end }

# Peak memory of a big and of a small scan, for edb and for one peer.
proc bench::run_memory {case spec peer source facts} {
  variable rounds
  variable memory_target
  if {![is_wanted $case]} return
  set skipped {}
  foreach size {small big} {
    lassign [dict get $spec $size] table rows
    dict set source table $table
    dict set source rows $rows
    set able [warm_up "$case ($size)" [list edb $peer] $source scan $rows skipped]
    set samples($size) [alternate "$case ($size)" $able $source scan $rows [expr {min($rounds, 3)}]]
  }
  set result [dict create case $case peer $peer {*}[compare $samples(big) $peer]]
  foreach {key name} [list edb edb peer $peer] {
    set big [largest [get $samples(big) $name rss]]
    set small [largest [get $samples(small) $name rss]]
    dict set result ${key}_growth_kb [expr {$big eq {} || $small eq {} ? {} : $big - $small}]
  }
  if {[dict exists $skipped edb]} { dict set result edb_skipped [dict get $skipped edb] }
  dict set result rows $rows
  dict set result growth_target_kb [expr {[dict exists $spec target] ? [dict get $spec target] : $memory_target}]
  record [dict merge $result $facts]
}

proc bench::record {result} {
  variable results
  lappend results $result
  progress {} {}
  report::print $result
}

# Groups ------------------------------------------------------------------------------------------

proc bench::group_postgresql {name} {
  variable postgresql
  variable memory
  group_server $name $postgresql [dict create name $name title PostgreSQL \
    schema public. url_options {} memories $memory memory_peer c-libpq make make_postgresql_tables]
}

# MariaDB, in whose results the driver's name stands.
proc bench::group_mysql {} {
  variable mysql
  variable memory
  group_server mysql $mysql [dict create name mariadb title {} schema {} url_options ?ssl-mode=DISABLED \
    memories $memory memory_peer c-binary make make_mysql_tables]
}

# The TDS test server, which sends prepared answers, so that it is not what is measured.
proc bench::group_sqlserver {} {
  variable sqlserver
  variable sqlserver_memory
  group_server sqlserver $sqlserver [dict create name tdsd title tdsd schema dbo. url_options {} \
    memories $sqlserver_memory memory_peer freetds make make_sqlserver_tables also run_ciphers]
}

# A server behind an ODBC driver.
proc bench::group_odbc {group server} {
  variable odbc
  group_server $group $odbc [dict create name $server title {} schema {} url_options {} memories {} memory_peer c-block \
    make make_odbc_tables also [list run_long_texts $group]]
}

# The cases of a server.  OPTIONS: the server's name in servers.tcl and in facts, what stands before a
# table's name and behind the URL in edb, the cases of memory and the peer that is measured in them, the proc that
# makes the rows, and `also`, one that runs cases of its own.
proc bench::group_server {group works options} {
  variable rows
  dict with options {}
  if {![is_group_wanted $group [concat [dict keys $works] [dict keys $memories]]]} return
  if {[catch {servers::start $name} server options]} {
    if {[dict get $options -errorcode] ne {SERVERS UNAVAILABLE}} { return -options $options $server }
    foreach work [concat [dict keys $works] [dict keys $memories]] {
      record [dict create case $group.$work peer $memory_peer skipped $server]
    }
    return
  }
  progress $group "making $rows rows"
  set server [$make $server]
  set source [dict create server $server url [dict get $server url] libdir [dict get $server libdir] table t \
    rows $rows indexed 1 schema $schema url_options $url_options secret [servers::percent_encode [dict get $server password]]]
  # In a connection string it is as it is.
  if {[dict exists $server secret]} { dict set source secret [dict get $server secret] }
  set facts [facts [string trim "$title [dict get $server version]"] [client_version $memory_peer $source]]
  dict for {work spec} $works { run_case $group.$work $work $spec $source $facts }
  if {[info exists also]} { {*}$also $source $facts }
  dict set source indexed 0
  dict for {work spec} $memories { run_memory $group.$work $spec $memory_peer $source $facts }
  servers::stop $name
}

# Makes the tables and views; returns the server's dict, with the database where they are.
proc bench::make_postgresql_tables {server} {
  variable rows
  foreach {table n} [list t $rows t_10k 10000] {
    append sql "CREATE TABLE $table (id bigint PRIMARY KEY, name text, score double precision);
      INSERT INTO $table SELECT [rows::postgresql i] FROM generate_series(1::bigint, $n) AS i;\n"
  }
  foreach table {t_insert t_update} {
    append sql "CREATE TABLE $table (id bigint PRIMARY KEY, name text, score double precision);\n"
  }
  # A series in the SELECT list streams; one in FROM would be kept on the server's disk first.
  foreach {view n} {series_10m 10000000 series_10k 10000} {
    append sql "CREATE VIEW $view AS
      SELECT [rows::postgresql i] FROM (SELECT generate_series(1::bigint, $n) AS i) AS s;\n"
  }
  servers::psql $server $sql
  servers::psql $server {VACUUM (ANALYZE, FREEZE)}
  servers::psql $server CHECKPOINT
  return $server
}

# The client library, in a peer's words.
proc bench::client_version {peer source} {
  if {[catch {exec {*}[peers::command $peer $source count 0]} line]} { return {} }
  dict get [report::parse $line] client
}

proc bench::group_sqlite {} {
  variable sqlite
  variable rows
  if {![is_group_wanted sqlite [dict keys $sqlite]]} return
  set file [file join $peers::out bench.db]
  progress sqlite "making $rows rows"
  if {[catch {peers::make_file $file $rows} message options]} {
    if {[dict get $options -errorcode] ne {BENCH SKIP}} { return -options $options $message }
    foreach work [dict keys $sqlite] {
      record [dict create case sqlite.$work peer attach skipped $message]
    }
    return
  }
  set source [dict create file $file table t rows $rows indexed 1 secret {}]
  set facts [facts {} {}]
  dict for {work spec} $sqlite { run_case sqlite.$work $work $spec $source $facts }
  file delete $file
}

# One program has edb's primitives and the peers' in one process, and prints the results.
proc bench::group_crypto {} {
  variable only
  variable rounds
  variable wanted
  variable errors
  if {[string range crypto. 0 [string length $only]-1] ne [string range $only 0 6]} return
  if {[catch {peers::program crypto_bench} program options]} {
    if {[dict get $options -errorcode] ne {BENCH SKIP}} { return -options $options $program }
    record [dict create case crypto peer openssl skipped $program]
    return
  }
  set facts [facts {} {}]
  set channel [open |[list $program [file dirname $program]/crypto_nou128.so $rounds $only \
    {*}$wanted 2>@stderr]]
  while {[gets $channel line] >= 0} {
    set result [report::parse $line]
    set target [crypto_target [dict get $result case] [dict get $result peer]]
    if {$target ne {}} { dict set result target $target }
    record [dict merge $result $facts]
    progress crypto [dict get $result case]
  }
  progress {} {}
  if {[catch {close $channel} message options]} {
    if {[lindex [dict get $options -errorcode] 2] == 3} {
      record [dict create case crypto peer openssl skipped "libssl-dev is not installed"]
    } else {
      incr errors
      puts stderr "crypto: $message"
    }
  }
}

proc bench::crypto_target {case peer} {
  variable crypto
  foreach {pattern target} [get $crypto $peer] {
    if {[string match $pattern $case]} { return $target }
  }
}

# What every result of a group says about where it comes from.
proc bench::facts {server client} {
  variable rounds
  variable here
  set cpu {}
  catch {regexp -line {^model name\s*:\s*(.*)$} [exec cat /proc/cpuinfo] -> cpu}
  set commit unknown
  catch {set commit [exec git -C $here describe --always --dirty --tags 2>/dev/null]}
  dict create server $server client $client rounds $rounds commit $commit cpu $cpu \
    cores [exec nproc]
}

proc bench::main {} {
  variable rounds
  variable only
  variable wanted
  variable here
  variable results
  variable errors
  foreach {name variable} {CASE only ROUNDS rounds PEERS wanted} {
    if {[info exists ::env($name)] && $::env($name) ne {}} { set $variable $::env($name) }
  }
  if {![string is integer -strict $rounds] || $rounds < 1} {
    puts stderr "ROUNDS=$rounds is not a number of rounds"
    exit 2
  }
  if {[string match crypto* $only]} { set report::width 40 }
  if {[catch {
    report::print_head
    group_postgresql postgresql
    group_postgresql postgresql18
    group_mysql
    group_sqlserver
    group_odbc odbc odbc_postgresql
    group_odbc odbc.mysql odbc_mysql
    group_sqlite
    planner::group
    joins::group postgresql {} make_postgresql_tables
    joins::group mariadb .mysql make_mysql_tables
    group_crypto
    tls::group
  } message options]} {
    servers::stopall
    return -options $options $message
  }
  if {$results eq {}} {
    puts stderr "no case starts with \"$only\""
    exit 2
  }
  report::save $here/results $results
  report::html $here/results
  exit [expr {$errors > 0}]
}

bench::main
