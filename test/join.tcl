# What the suites join*.test have in common: joins of local tables with remote ones, the same as over local copies,
# whichever way they are answered.  The server is `s`; [there SQL] runs SQL there, [url] is its URL.
#
# Each remote table is defined once for each way: NAME as it comes, NAME_hash with a hash at once, NAME_cache with answers that are
# kept and no hash, NAME_ask with neither.

namespace eval join {
  variable ways {
    {} {} _hash join_lookups=0 _late join_lookups=3 _cache join_lookups=1000000000 _ask join_memory=0
  }
}

proc join::table {name schema} {
  variable ways
  foreach {suffix options} $ways {
    set more [expr {$options eq {} ? {} : ", $options"}]
    execsql "CREATE VIRTUAL TABLE $name$suffix USING edb(s, '$schema.$name'$more)"
  }
  set columns {}
  db eval "SELECT name AS n, type AS t FROM pragma_table_info('$name')" { lappend columns "\"$n\" $t" }
  execsql "CREATE TABLE l_$name ([join $columns {, }]); INSERT INTO l_$name SELECT * FROM $name"
}

# SQL with @NAME for each remote table: every way gives what the local copy gives.
proc join::same {name sql} {
  variable ways
  set expected [catchsql [regsub -all {@(\w+)} $sql {l_\1}]]
  foreach {suffix options} $ways {
    set got [catchsql [regsub -all {@(\w+)} $sql "\\1$suffix"]]
    do_test $name$suffix [list set got] $expected
  }
  if {[lindex $expected 0] || [lindex $expected 1] eq {}} { tester::fail $name "rows" $expected }
}

# How many statements are sent while SQL runs.
proc join::asked {sql} { llength [sent $sql] }

# A remote table `parts`, of 1,200 rows, each third one of two, with keys of each common type, and local ones that refer to it.
proc join::tables {schema text double} {
  set rows {}
  for {set i 1} {$i <= 1200} {incr i} {
    set k [expr {$i % 3 == 0 ? "NULL" : $i / 2}]
    set name [expr {$i % 50 == 7 ? "NULL" : "'n[expr {$i % 300}]'"}]
    lappend rows "($i, $k, $name, [expr {$i % 11}], [expr {$i * 0.5}])"
  }
  there "CREATE TABLE parts(id int PRIMARY KEY, k int, name $text, kind int, price $double)"
  foreach {from to} {0 399 400 799 800 1199} {
    there "INSERT INTO parts VALUES [::join [lrange $rows $from $to] {, }]"
  }
  there "CREATE INDEX parts_k ON parts(k)"
  table parts $schema
  execsql {
    CREATE TABLE local(id INTEGER PRIMARY KEY, part INTEGER, any, name TEXT, code INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 160)
      INSERT INTO local SELECT i, i * 7 % 50 * 17, CASE i % 8 WHEN 0 THEN NULL WHEN 1 THEN CAST(i AS TEXT) WHEN 2 THEN i + 0.0
        WHEN 3 THEN ' ' || i WHEN 4 THEN x'31' WHEN 5 THEN i + 0.5 WHEN 6 THEN 'abc' ELSE i END, 'n' || (i * 3 % 350), i % 13 FROM n;
    UPDATE local SET part = NULL WHERE id % 40 = 1;
  }
}

# Each shape of a join -----------------------------------------------------------------------------------

proc join::shape_cases {} {
  set n 0
  foreach sql {
    {SELECT count(*), sum(r.id), sum(price), min(r.name) FROM local l CROSS JOIN @parts r ON r.id = l.part}
    {SELECT l.id, r.id, r.name FROM local l LEFT JOIN @parts r ON r.id = l.part ORDER BY 1, 2}
    {SELECT l.id, r.id, r.price FROM local l LEFT JOIN @parts r ON r.k = l.part ORDER BY 1, 2}
    {SELECT l.id, r.id, r.name FROM local l CROSS JOIN @parts r ON r.name = l.name ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.k = l.part AND r.kind = l.code ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.k = l.part AND r.kind = 4 ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.name = l.name AND r.id > 700 AND r.kind IN (1, 4, 7) ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.name = l.name AND r.id > l.part ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.kind = l.code AND r.id < l.id ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.id = l.any ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.name = l.any OR r.id = l.part ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.price = l.any ORDER BY 1, 2}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.k IS l.part WHERE l.id < 50 ORDER BY 1, 2}
    {SELECT id, (SELECT price FROM @parts r WHERE r.id = local.part) FROM local ORDER BY 1}
    {SELECT id, (SELECT count(*) FROM @parts r WHERE r.k = local.part) FROM local ORDER BY 1}
    {SELECT id FROM local WHERE EXISTS (SELECT 1 FROM @parts r WHERE r.k = local.part) ORDER BY 1}
    {SELECT id FROM local WHERE NOT EXISTS (SELECT 1 FROM @parts r WHERE r.name = local.name AND r.kind = 3) ORDER BY 1}
    {SELECT id, (SELECT r.id FROM @parts r WHERE r.kind = local.code ORDER BY r.id DESC LIMIT 1 OFFSET 2) FROM local ORDER BY 1}
    {SELECT l.id, a.id, b.id FROM local l CROSS JOIN @parts a ON a.k = l.part CROSS JOIN @parts b ON b.id = a.kind ORDER BY 1, 2, 3}
    {SELECT l.id, r.id FROM local l CROSS JOIN @parts r ON r.rowid = l.part ORDER BY 1, 2}
    {WITH RECURSIVE w(i, at) AS (SELECT 1, 5 UNION ALL SELECT i + 1, r.k FROM w CROSS JOIN @parts r ON r.id = at WHERE i < 40 AND r.k > 0)
      SELECT count(*), sum(at) FROM w}
    {SELECT l.id, r.c FROM local l LEFT JOIN (SELECT k, count(*) AS c FROM @parts WHERE kind < 8 GROUP BY k) r ON r.k = l.part ORDER BY 1}
    {SELECT count(*) FROM local l WHERE l.part IN (SELECT r.id FROM @parts r WHERE r.kind = l.code)}
    {SELECT l.id, r.id FROM (SELECT * FROM local UNION ALL SELECT * FROM local) l CROSS JOIN @parts r ON r.id = l.part ORDER BY 1, 2}
    {SELECT count(*) FROM local l CROSS JOIN @parts r ON r.id = l.part AND r.name IS NOT NULL AND r.k IS NULL}
  } {
    same 1.[incr n] $sql
  }
}

# What is asked of the server ----------------------------------------------------------------------------

proc join::asking_cases {} {
  set join {SELECT count(*) FROM local l CROSS JOIN %s r ON r.id = l.part}
  # 50 parts and NULL; a hash is read by one statement, on the fourth lookup, one of the three before being of NULL.
  foreach {way expected} {_hash 1 _late 3 _cache 50 _ask 156} {
    do_test 2.ask$way [list join::asked [format $join parts$way]] $expected
  }
  set sub {SELECT sum((SELECT price FROM %s r WHERE r.id = local.part)) FROM local}
  foreach {way expected} {_hash 1 _cache 50 _ask 156} {
    do_test 2.correlated$way [list join::asked [format $sub parts$way]] $expected
  }
  set exists {SELECT count(*) FROM local WHERE EXISTS (SELECT 1 FROM %s r WHERE r.kind = local.code)}
  # Of answers of a hundred rows only the beginning is read, and not kept; those of two kinds are empty.
  foreach {way expected} {_hash 1 _cache 138 _ask 160} {
    do_test 2.exists$way [list join::asked [format $exists parts$way]] $expected
  }
  # What has the same value throughout is the server's condition, and other columns do not travel.
  do_test 2.projection {
    set sql [lindex [sent { SELECT count(r.price) FROM local l CROSS JOIN parts_late r ON r.k = l.part AND r.kind = 4 }] end]
    list [regexp {WHERE\W+kind\W+[=+]} $sql] [regexp {\Wk\W+=} $sql] [regexp {name} $sql]
  } {1 0 0}
  # A condition whose value stays the same only for a while: a hash for each of its values, three times.
  do_test 2.changing {
    set sql { SELECT count(*), sum(r.id) FROM (SELECT part, id / 40 AS h FROM local ORDER BY id) l CROSS JOIN %s r ON r.k = l.part AND r.kind = l.h }
    list [expr {[execsql [format $sql parts_late]] eq [execsql [format $sql l_parts]]}] [expr {[asked [format $sql parts_late]] < 60}]
  } {1 1}
  # Nothing is kept for the next statement, or the next run of this one.
  do_test 2.again { list [asked [format $join parts_hash]] [asked [format $join parts_hash]] } {1 1}
  do_test 2.nothing { join::asked { SELECT count(*) FROM parts WHERE id = 5; SELECT count(*) FROM parts WHERE id = 5 } } 2
  # Values of another kind that are equal are one key of a hash.
  do_execsql_test 2.numbers {
    SELECT v, id FROM (SELECT 5 AS v UNION ALL SELECT 5.0 UNION ALL SELECT '5' UNION ALL SELECT ' 5 ' UNION ALL SELECT 5.5 UNION ALL SELECT x'35')
      CROSS JOIN parts_hash ON id = v ORDER BY typeof(v), v
  } {5 5 5.0 5 { 5 } 5 5 5}
}

# Writes in between ---------------------------------------------------------------------------------------

# The rows of a join while each of its outer rows changes what it reads: SQL of the server's that is run for each.
proc join::changed {way} {
  there {UPDATE parts SET price = 1 WHERE id = 5}
  execsql "SELECT CAST(price AS INTEGER), edb_exec('s', 'UPDATE parts SET price = price + 1 WHERE id = 5')
    FROM (SELECT value FROM json_each('\[5, 5, 5, 6, 5\]')) CROSS JOIN parts$way ON id = value"
}

proc join::writing_cases {} {
  variable ways
  foreach {way -} $ways {
    do_test 3.exec$way [list join::changed $way] {1 1 2 1 3 1 3 1 5 1}
    do_test 3.table$way {
      there {UPDATE parts SET price = 1 WHERE id = 5}
      set seen {}
      db eval "SELECT CAST(price AS INTEGER) AS p FROM (SELECT value FROM json_each('\[5, 5, 5\]')) CROSS JOIN parts$way ON id = value" {
        lappend seen $p
        db eval { UPDATE parts SET price = price + 1 WHERE id = 5 }
      }
      set seen
    } {1 2 3}
    do_test 3.rollback$way {
      there {UPDATE parts SET price = 1 WHERE id = 5}
      set seen {}
      db eval { BEGIN; UPDATE parts SET price = 7 WHERE id = 6 }
      db eval "SELECT value, CAST(price AS INTEGER) AS p FROM (SELECT value FROM json_each('\[5, 5, 1, 5, 1\]')) CROSS JOIN parts$way ON id = value" {
        lappend seen $p
        if {[llength $seen] == 1} { db eval { SAVEPOINT one; UPDATE parts SET price = 9 WHERE id = 5 } }
        if {[llength $seen] == 3} { db eval { ROLLBACK TO one; RELEASE one } }
      }
      db eval ROLLBACK
      set seen
    } {1 9 0 1 0}
    # A statement that begins while another one runs sees what is there then.
    do_test 3.begins$way {
      there {UPDATE parts SET price = 1 WHERE id = 5}
      set seen {}
      db eval "SELECT value FROM (SELECT value FROM json_each('\[5, 5, 5\]')) CROSS JOIN parts$way ON id = value" {
        there {UPDATE parts SET price = price + 1 WHERE id = 5}
        lappend seen [db eval "SELECT CAST(price AS INTEGER) FROM parts$way WHERE id = 5"]
      }
      set seen
    } {2 3 4}
    # Two statements at once: what one has kept is not true after the other's write.
    do_test 3.two$way {
      there {UPDATE parts SET price = 1 WHERE id = 5}
      set seen {}
      db eval "SELECT CAST(price AS INTEGER) AS p FROM (SELECT value FROM json_each('\[5, 5, 5\]')) CROSS JOIN parts$way ON id = value" {
        lappend seen $p
        lappend seen [db eval "SELECT CAST(price AS INTEGER) FROM parts$way WHERE id = 5"]
        db eval { SELECT edb_exec('s', 'UPDATE parts SET price = price + 1 WHERE id = 5') }
      }
      set seen
    } {1 1 2 2 3 3}
  }
  there {UPDATE parts SET price = 2.5 WHERE id = 5}
  # What a statement writes, it reads as it would without anything kept.
  foreach {way -} $ways {
    execsql "CREATE TABLE copied$way (a, b)"
    do_test 3.select$way {
      execsql "INSERT INTO copied$way SELECT l.id, r.price FROM local l CROSS JOIN parts$way r ON r.id = l.part"
      execsql "SELECT count(*) = (SELECT count(*) FROM local CROSS JOIN l_parts r ON r.id = local.part) FROM copied$way"
    } 1
    do_test 3.update$way {
      execsql "UPDATE parts$way SET price = 4000 + l.id FROM (SELECT id, part FROM local WHERE part IN (17, 34)) l WHERE parts$way.id = l.part AND 0 + l.id < 20"
      set seen [execsql "SELECT count(*) FROM parts WHERE price > 4000"]
      there {UPDATE parts SET price = id * 0.5 WHERE price > 4000}
      set seen
    } [execsql {SELECT count(DISTINCT part) FROM local WHERE part IN (17, 34) AND id < 20}]
  }
}

# Memory ---------------------------------------------------------------------------------------------------

proc join::memory_cases {schema} {
  # The estimate lies: the rows are found out to be too many, and the join goes on by lookups.
  execsql "CREATE VIRTUAL TABLE lying USING edb(s, '$schema.parts', rows=10, join_lookups=2, join_memory='9K')"
  execsql "CREATE VIRTUAL TABLE large USING edb(s, '$schema.parts', rows=1000000, join_lookups=2, join_memory='9K')"
  set sql {SELECT count(*), sum(r.id), sum(r.price) FROM local l CROSS JOIN %s r ON r.id = l.part}
  set expected [execsql [format $sql l_parts]]
  do_test 4.lying { execsql [format $sql lying] } $expected
  do_test 4.large { execsql [format $sql large] } $expected
  # One statement more than lookups, which 9 KB keep no answers of.
  do_test 4.asked { list [asked [format $sql lying]] [asked [format $sql large]] } {157 156}
  # What was taken is given back: however often, and whatever ends it.
  execsql { SELECT edb_config('join_memory', 600000) }
  do_test 4.given_back {
    set counts {}
    for {set i 0} {$i < 20} {incr i} {
      lappend counts [asked [format $sql parts_hash]] [asked [format $sql parts_cache]]
      db eval { SELECT r.id AS id FROM local l CROSS JOIN parts_hash r ON r.name = l.name } { break }
      catchsql { SELECT abs(CASE WHEN r.id > 100 THEN -9223372036854775808 ELSE 1 END) FROM local l CROSS JOIN parts_hash r ON r.id = l.part }
    }
    lsort -unique $counts
  } {1 50}
  # All joins of the connection share it.
  execsql { SELECT edb_config('join_memory', 300000) }
  do_test 4.shared {
    set both { SELECT count(*) FROM local l CROSS JOIN parts_late a ON a.id = l.part CROSS JOIN parts_hash b ON b.id = a.id }
    list [expr {[asked $both] > 20}] [expr {[execsql $both] eq [execsql [string map {parts_late l_parts parts_hash l_parts} $both]]}]
  } {1 1}
  execsql { SELECT edb_config('join_memory', 0) }
  do_test 4.off { asked [format $sql parts_hash] } 156
  do_execsql_test 4.set { SELECT edb_config('join_memory', 67108864), edb_config('join_memory') } {67108864 67108864}
  do_catchsql_test 4.wrong { SELECT edb_config('join_memory', -1) } {1 {edb: setting join_memory takes a number of bytes, 0 for none}}
  foreach value {x -1 5X 5KK 1.5 99999999999G} {
    do_catchsql_test 4.option.$value "CREATE VIRTUAL TABLE wrong USING edb(s, '$schema.parts', join_memory='$value')" \
      "1 {edb: option join_memory: \"$value\" is not a number of bytes (K, M, G)}"
  }
}

# Interrupted, and without memory ---------------------------------------------------------------------------

# SQL is of a view of id and price whose last row takes minutes, so that Ctrl-C comes while a hash is built. What was built by then
# is given back: there is room for another one afterwards, if for no two.
proc join::interrupt_cases {schema sql} {
  there "CREATE VIEW slow AS SELECT id, price FROM parts UNION ALL $sql"
  execsql "CREATE VIRTUAL TABLE slow USING edb(s, '$schema.slow', rows=1000, join_lookups=0)"
  do_test 9.interrupt {
    host /usr/bin/python3 - $::env(EDB_SO) $::url << {
import sqlite3, sys, threading
db = sqlite3.connect('test.db', check_same_thread=False)
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("SELECT edb_server('s', ?), edb_config('join_memory', 500000), edb_config('log', 1)", (sys.argv[2],)).fetchall()
join = 'SELECT count(*), sum(r.id), sum(r.price) FROM local l CROSS JOIN %s r ON r.id = l.part'
expected = db.execute(join % 'l_parts').fetchall()
print(db.execute(join % 'parts_ask').fetchall() == expected)
for attempt in range(4):
    timer = threading.Timer(0.3, db.interrupt)
    timer.start()
    try:
        print(db.execute(join % 'slow').fetchall())
    except sqlite3.OperationalError as e:
        print('interrupted' in str(e))
    timer.join()
    before = db.execute('SELECT count(*) FROM edb_log').fetchall()[0][0]
    same = db.execute(join % 'parts_hash').fetchall() == expected
    print(same, db.execute('SELECT count(*) FROM edb_log').fetchall()[0][0] - before)
}} "True\n[string trimright [string repeat "True\nTrue 1\n" 4]]"
}

# A process whose heap is smaller for each join: it is answered by a hash, by lookups where there is no room for one, or by an error.
# SQLite's limit can only be lowered.
proc join::heap_cases {} {
  set program [file join [pwd] heap.tcl]
  servers::write_file $program {
    package require sqlite3
    lassign $argv url
    sqlite3 db test.db
    db enable_load_extension 1
    db eval {SELECT load_extension($::env(EDB_SO))}
    db eval {SELECT edb_server('s', $url)}
    proc asked {} { db one {SELECT count(*) FROM edb_log} }
    set sql {SELECT count(*) || ' ' || sum(r.id) || ' ' || sum(r.price) FROM local l CROSS JOIN %s r ON r.id = l.part}
    set expected [db one [format $sql l_parts]]
    set log [db eval {SELECT edb_config('log', 1)}]
    db one [format $sql parts_ask]
    array set ended {hash 0 lookups 0 memory 0}
    set wrong {}
    for {set limit 4000000} {$limit > 50000 && $ended(memory) < 30} {incr limit [expr {$ended(memory) ? -1024 : -16384}]} {
      db cache flush
      if {[catch {db eval "PRAGMA hard_heap_limit = $limit"}]} break
      if {[catch asked before]} { set before -1 }
      set failed [catch {db one [format $sql parts_hash]} got]
      if {[catch asked after]} { set after -1 }
      if {$failed} {
        incr ended(memory)
        if {![string match {*out of memory*} $got]} { lappend wrong $got }
      } elseif {$got ne $expected} {
        lappend wrong $got
      } elseif {$before >= 0 && $after >= 0} {
        incr ended([expr {$after - $before == 1 ? "hash" : "lookups"}])
      }
    }
    puts [list $wrong $ended(hash) $ended(lookups) $ended(memory)]
  }
  do_test 9.heap {
    lassign [set ended [host [info nameofexecutable] $program $::url]] wrong hash lookups memory
    puts "heap: $ended"
    list $wrong [expr {$hash > 0}] [expr {$lookups > 0}]
  } {{} 1 1}
}

# Lists -------------------------------------------------------------------------------------------------------

proc join::list_cases {schema} {
  execsql {
    CREATE TABLE keys(k INTEGER, name TEXT, any);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO keys SELECT i * 3 % 2999, 'n' || i, CASE i % 4 WHEN 0 THEN CAST(i AS TEXT) WHEN 1 THEN i + 0.0 WHEN 2 THEN NULL ELSE 'n' || i END FROM n;
  }
  execsql "
    CREATE VIRTUAL TABLE listed USING edb(s, '$schema.parts', rows=1000000);
    CREATE VIRTUAL TABLE few USING edb(s, '$schema.parts', rows=2000);
    CREATE TABLE l_listed AS SELECT * FROM l_parts; CREATE TABLE l_few AS SELECT * FROM l_parts"
  set n 0
  foreach sql {
    {SELECT count(*), sum(id) FROM @parts WHERE id IN (SELECT k FROM keys)}
    {SELECT count(*), sum(id) FROM @parts WHERE id IN (SELECT k FROM keys WHERE k < 2001)}
    {SELECT count(*), sum(id) FROM @parts WHERE id IN (SELECT k FROM keys WHERE k < 1001)}
    {SELECT count(*), sum(id) FROM @parts WHERE id IN (SELECT any FROM keys)}
    {SELECT count(*), sum(id) FROM @parts WHERE name IN (SELECT name FROM keys)}
    {SELECT count(*), sum(id) FROM @parts WHERE name IN (SELECT name FROM keys) AND kind = 4 AND id > 50}
    {SELECT count(*), sum(id) FROM @parts WHERE name IN (SELECT name FROM keys) AND id IN (SELECT k FROM keys) AND kind IN (1, 2, 3)}
    {SELECT count(*), sum(id) FROM @parts WHERE name IN (SELECT any FROM keys)}
    {SELECT count(*), sum(id) FROM @parts WHERE price IN (SELECT k * 0.5 FROM keys)}
    {SELECT id FROM @parts WHERE id IN (SELECT k FROM keys) ORDER BY id DESC LIMIT 20 OFFSET 3}
    {SELECT DISTINCT kind FROM @parts WHERE id IN (SELECT k FROM keys) ORDER BY 1}
    {SELECT count(*) FROM @parts WHERE id IN (SELECT k FROM keys) OR name IN (SELECT name FROM keys WHERE k < 100)}
    {SELECT l.id, count(r.id) FROM local l LEFT JOIN @parts r ON r.kind = l.code AND r.id IN (SELECT k FROM keys) WHERE l.id < 9 GROUP BY 1 ORDER BY 1}
  } {
    list_same 5.[incr n] $sql
  }
  # 3,000 keys are three statements, or one array; for a table of 2,000 rows, one that reads all of it.
  set ids {SELECT count(*) FROM %s WHERE id IN (SELECT k FROM keys)}
  set one [expr {$::kind eq "postgresql"}]
  do_test 5.asked.id [list asked [format $ids listed]] [expr {$one ? 1 : 3}]
  do_test 5.asked.few { list [asked [format $ids few]] [regexp WHERE [sent [format $ids few]]] } [list 1 $one]
  # What needs an order or a limit is one statement.
  do_test 5.asked.limit { regexp LIMIT|TOP|FETCH [sent {SELECT id FROM listed WHERE id IN (SELECT k FROM keys) LIMIT 5}] } 0
  # A list in a join: it is the same for each outer row, and a part of what is asked.
  do_test 5.asked.join { asked {SELECT count(*) FROM local l CROSS JOIN parts_hash r ON r.id = l.part WHERE r.kind IN (SELECT value FROM json_each('[1,2,3]'))} } 1
}

# Of the tables with many rows and with few, and each way.
proc join::list_same {name sql} {
  same $name $sql
  foreach table {listed few} {
    set this [string map "@parts @$table" $sql]
    set expected [catchsql [regsub -all {@(\w+)} $this {l_\1}]]
    set got [catchsql [regsub -all {@(\w+)} $this {\1}]]
    do_test $name.$table [list set got] $expected
  }
}

# A server that finds 'A1' by 'a1' is asked for both in different statements, and gives the row twice: it is taken once.
proc join::cased_cases {schema type} {
  set rows {}
  for {set i 0} {$i < 1300} {incr i} { lappend rows "($i, '[expr {$i % 3 ? "k" : "K"}][format %04d $i]')" }
  there "CREATE TABLE cased(id int PRIMARY KEY, name $type)"
  foreach {from to} {0 399 400 799 800 1299} {
    there "INSERT INTO cased VALUES [::join [lrange $rows $from $to] {, }]"
  }
  execsql "CREATE VIRTUAL TABLE cased USING edb(s, '$schema.cased', rows=1000000)"
  execsql { CREATE TABLE l_cased AS SELECT id, name FROM cased; CREATE TABLE words AS
    SELECT upper(name) AS name FROM l_cased UNION ALL SELECT lower(name) FROM l_cased UNION ALL SELECT name || ' ' FROM l_cased }
  do_test 6.found { execsql { SELECT count(*) FROM cased WHERE name = 'k0000' COLLATE NOCASE }; llength [sent { SELECT * FROM cased WHERE name = 'k0000' }] } 1
  foreach {n list} {1 {SELECT name FROM words} 2 {SELECT name FROM words WHERE name > 'K0500'} 3 {SELECT lower(name) FROM words UNION SELECT x'4b' UNION SELECT 5}} {
    set sql "SELECT id, name FROM %s WHERE name IN ($list) ORDER BY id, name"
    do_test 6.rows.$n { execsql [format $sql cased] } [execsql [format $sql l_cased]]
    do_test 6.count.$n { execsql "SELECT count(*) FROM cased WHERE name IN ($list)" } [execsql "SELECT count(*) FROM l_cased WHERE name IN ($list)"]
  }
}

# A join of two remote tables that the server makes, however its SQL ends: conditions go around it.
proc join::query_cases {} {
  set join {SELECT a.id, b.price, a.kind FROM parts a JOIN parts b ON b.id = a.id + 1}
  # SQL Server takes no ORDER BY there.
  set ends [list plain {} semicolon { ; } comment { -- all of them}]
  if {$::kind ne "sqlserver"} { lappend ends order { ORDER BY a.id} ordered { ORDER BY a.id DESC;} }
  if {$::kind eq "mysql"} { lappend ends hash " # all of them" }
  foreach {name end} $ends {
    execsql "CREATE VIRTUAL TABLE joined_$name USING edb(s, query='$join$end')"
    do_test 7.$name {
      list [execsql "SELECT id, CAST(price AS INTEGER), kind FROM joined_$name WHERE id = 7 OR id = 9 ORDER BY id"] \
        [execsql "SELECT count(*) FROM local l CROSS JOIN joined_$name j ON j.id = l.part WHERE j.kind < 9"] \
        [regexp {WHERE\W+id\W} [lindex [sent "SELECT * FROM joined_$name WHERE id = 7"] 0]]
    } [list {7 4 7 9 5 9} [execsql {SELECT count(*) FROM local l CROSS JOIN l_parts a ON a.id = l.part WHERE a.kind < 9 AND a.id < 1200}] 1]
  }
}
