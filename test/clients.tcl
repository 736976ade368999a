# Servers' own clients that stay connected, for suites that look at a server very often.
#
#   clients::ask postgresql {SELECT 1}      what psql or mariadb prints; errors are part of it
#   clients::close

namespace eval clients { variable channels }

proc clients::open {kind} {
  variable channels
  set server [server_dict $kind]
  dict with server {
    if {$kind eq "postgresql"} {
      set command [list env -u LD_LIBRARY_PATH PGPASSWORD=$password PGCLIENTENCODING=UTF8 {PGOPTIONS=-c client_min_messages=warning} \
        $psql -X -q -A -t -h $host -p $port -U $user -d $database]
    } else {
      set command [list env -u LD_LIBRARY_PATH MYSQL_PWD=$password $program --no-defaults --batch --skip-column-names --force \
        --unbuffered --protocol=tcp {--init-command=SET autocommit=1, completion_type=0} -h $host -P $port -u $user -D $database]
    }
  }
  set channels($kind) [::open |[concat $command [list 2>@1]] r+]
  fconfigure $channels($kind) -buffering line
}

proc clients::ask {kind sql} {
  variable channels
  if {![info exists channels($kind)]} { open $kind }
  puts $channels($kind) "[string trimright [string trim $sql] {;}];\nSELECT 'done: all of it';"
  set lines {}
  while {[gets $channels($kind) line] >= 0 && $line ne "done: all of it"} {
    lappend lines $line
    # Nothing follows: the server is gone.
    if {[regexp {^ERROR 20(02|03|06|13) } $line]} { error "the $kind server does not answer: $line" }
  }
  join $lines \n
}

proc clients::close {} {
  variable channels
  foreach kind [array names channels] { ::close $channels($kind) }
  unset -nocomplain channels
}
