# What snapshot.test, snapshot_odbc.test and snapshot_sqlite.test have in common: snapshot=1 of a server.  $url is the server's
# without it; $several, whether two may write to it at once; `other` is a connection whose server s has no snapshot, by which somebody else writes.

namespace eval snapshot {
  variable sign
}

# Tables a and b of two rows each, on the server and here; c is local.
proc snapshot::begin {} {
  variable sign [expr {[string match odbc:* $::url] ? ";" : [string first ? $::url] >= 0 ? "&" : "?"}]
  execsql "SELECT edb_server('s', '$::url')" other
  foreach t {a b} {
    execsql "SELECT edb_exec('s', 'CREATE TABLE snap_$t (id int NOT NULL PRIMARY KEY, v int)')" other
    execsql "CREATE VIRTUAL TABLE temp.$t USING edb(s, 'snap_$t'); INSERT INTO $t VALUES (1, 1), (2, 2)" other
  }
  execsql "SELECT edb_server('s', '$::url${sign}snapshot=1')"
  execsql { CREATE VIRTUAL TABLE a USING edb(s, snap_a); CREATE VIRTUAL TABLE b USING edb(s, snap_b); CREATE TABLE c(v) }
}

# What tables a and b hold in sum, as a connection sees it.
proc snapshot::sums {{connection db}} {
  execsql { SELECT (SELECT sum(v) FROM a), (SELECT sum(v) FROM b) } $connection
}

# Somebody else writes, where that is possible beside a transaction that is about to.
proc snapshot::meanwhile {sql} { if {$::several} { execsql $sql other } }

proc snapshot::cases {} {
  variable sign
  begin
  do_catchsql_test snap.option "SELECT edb_server('x', '$::url${sign}snapshot=yes')" {/1 .*option "snapshot" is 0 or 1.*/}
  # From the first read on, two tables are as they were, whatever others commit; afterwards they are as they are.
  do_test snap.reads {
    execsql { BEGIN }
    execsql { UPDATE a SET v = 10 WHERE id = 1 } other
    set result [list [execsql { SELECT sum(v) FROM a }]]
    execsql { UPDATE a SET v = 20 WHERE id = 1; UPDATE b SET v = 20 WHERE id = 1 } other
    lappend result [sums] [sums other]
    execsql COMMIT
    lappend result [sums]
  } {12 {12 3} {22 22} {22 22}}
  do_test snap.rollback {
    execsql { BEGIN }
    set result [list [sums]]
    execsql { UPDATE a SET v = 1 WHERE id = 1; UPDATE b SET v = 1 WHERE id = 1 } other
    lappend result [sums]
    execsql ROLLBACK
    lappend result [sums]
  } {{22 22} {22 22} {3 3}}
  # Any SQL of the server's reads the same state, and so do two scans of one statement.
  do_test snap.query {
    execsql { BEGIN; SELECT count(*) FROM a }
    execsql { UPDATE b SET v = 5 WHERE id = 1 } other
    set result [execsql { SELECT c1 FROM edb_query('s', 'SELECT v FROM snap_b WHERE id = 1') }]
    lappend result {*}[execsql { SELECT a.v, b.v FROM a JOIN b USING (id) ORDER BY id; COMMIT; SELECT v FROM b WHERE id = 1 }]
    execsql { UPDATE b SET v = 1 WHERE id = 1 } other
    set result
  } {1 1 1 2 2 5}
  # Its own writes are seen, and go and come with its savepoints.
  do_test snap.writes {
    execsql { BEGIN; SELECT count(*) FROM b }
    meanwhile { UPDATE b SET v = 7 WHERE id = 1 }
    set result [execsql {
      INSERT INTO a VALUES (3, 3); SAVEPOINT x; INSERT INTO a VALUES (4, 4); UPDATE a SET v = 100 WHERE id = 3;
      SELECT sum(v) FROM a; ROLLBACK TO x; SELECT sum(v) FROM a; SELECT v FROM b WHERE id = 1; COMMIT;
      SELECT v FROM b WHERE id = 1; SELECT sum(v) FROM a
    }]
    execsql { UPDATE b SET v = 1 WHERE id = 1; DELETE FROM a WHERE id = 3 } other
    lappend result {*}[sums]
  } [list 107 6 1 [expr {$::several ? 7 : 1}] 6 3 3]
  # ROLLBACK TO the savepoint that is the transaction undoes what was written, and stays where it reads.
  do_test snap.outermost {
    execsql { SAVEPOINT t; SELECT count(*) FROM a }
    meanwhile { UPDATE b SET v = 7 WHERE id = 1 }
    set result [execsql {
      ROLLBACK TO t; SELECT v FROM b WHERE id = 1; INSERT INTO a VALUES (3, 3); SELECT count(*) FROM a;
      ROLLBACK TO t; SELECT count(*) FROM a; SELECT v FROM b WHERE id = 1; INSERT INTO a VALUES (4, 4); RELEASE t;
      SELECT v FROM b WHERE id = 1; SELECT id FROM a ORDER BY id
    }]
    execsql { UPDATE b SET v = 1 WHERE id = 1; DELETE FROM a WHERE id = 4 } other
    set result
  } [list 1 3 2 1 [expr {$::several ? 7 : 1}] 1 2 4]
  # What has changed since is not overwritten.
  if {$::conflict ne {}} { do_test snap.changed {
    execsql { BEGIN; SELECT v FROM a WHERE id = 1 }
    execsql { UPDATE a SET v = 50 WHERE id = 1 } other
    set failed [catch { execsql { UPDATE a SET v = v + 1 WHERE id = 1 } } message]
    set told [regexp {it was changed by another since this transaction began to read: roll back and begin again} $message]
    set result [list $failed $told [expr {$told ? [db errorcode] : $message}]]
    execsql ROLLBACK
    lappend result {*}[execsql { UPDATE a SET v = v + 1 WHERE id = 1; SELECT v FROM a WHERE id = 1 } ]
    execsql { UPDATE a SET v = 1 WHERE id = 1 } other
    set result
  } $::conflict }
  # Nothing stays behind a COMMIT or ROLLBACK, nor before the first read: others may change the table itself.
  do_test snap.idle {
    set codes {}
    foreach {before after} {{BEGIN; SELECT v FROM c} COMMIT {BEGIN; SELECT count(*) FROM a; COMMIT} {} {BEGIN; SELECT count(*) FROM a; ROLLBACK} {}} {
      execsql $before
      lappend codes [catch { execsql { SELECT edb_exec('s', 'CREATE TABLE snap_c (id int)'), edb_exec('s', 'DROP TABLE snap_c') } other } message]
      execsql $after
    }
    set codes
  } {0 0 0}
  # Reads outside of BEGIN hold nothing.
  do_test snap.auto {
    set result {}
    db eval { SELECT v FROM a ORDER BY id } {
      execsql { UPDATE b SET v = v + 4 WHERE id = 1 } other
      lappend result {*}[execsql { SELECT v FROM b WHERE id = 1 }]
    }
    execsql { UPDATE b SET v = 1 WHERE id = 1 } other
    set result
  } {5 9}
}
