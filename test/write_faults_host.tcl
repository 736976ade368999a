# A process for write_faults.test to kill: runs SQL on a file with edb loaded.  tclsh write_faults_host.tcl FILE SETUP SQL
package require sqlite3
lassign $argv file setup sql
sqlite3 db $file
db enable_load_extension 1
db eval {SELECT load_extension($::env(EDB_SO))}
db eval $setup
db eval $sql
