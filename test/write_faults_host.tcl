# A process for the suites write_faults* to kill: runs SQL on a file with edb loaded.
#   tclsh write_faults_host.tcl FILE SETUP SQL ?HOOK?
# die(a, b) is a, and the process's end where that is b. HOOK commit: it ends when SQLite is about to commit, which is when
# the servers have.
package require sqlite3
lassign $argv file setup sql hook
proc die {} { exec kill -9 [pid] }
sqlite3 db $file
db enable_load_extension 1
db eval {SELECT load_extension($::env(EDB_SO))}
db function die { apply {{a b} { if {$a == $b} { die }; return $a }} }
db eval $setup
if {$hook eq "commit"} { db commit_hook die }
db eval $sql
