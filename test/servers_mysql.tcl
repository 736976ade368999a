# MariaDB for servers.tcl.  Its dict also has: program (the client), socket, ca and other_ca: the
# certificate authority that the server's certificate is from, and one that it is not from.  The
# certificate is for 127.0.0.1 alone; the server also listens on 127.0.0.2.

namespace eval servers {
  # What two administrators may have chosen: options, and SQL at start-up.  All of the second one's
  # are for a session to undo: none may show through edb.
  variable mariadb_options {
    mariadb {
      --lower-case-table-names=0
      --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci
    }
    mariadb_permissive {
      --lower-case-table-names=1
      --character-set-server=latin1 --collation-server=latin1_swedish_ci
      --sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE,PAD_CHAR_TO_FULL_LENGTH
      --default-time-zone=+05:30 --div-precision-increment=2 --group-concat-max-len=4
      --skip-character-set-client-handshake
    }
  }
  variable mariadb_sql {
    mariadb {}
    mariadb_permissive {SET GLOBAL sql_select_limit = 1000, autocommit = 0, completion_type = CHAIN;}
  }
}

proc servers::find_system_mariadb {} {
  set found {}
  foreach {key program} {server mariadbd install mariadb-install-db program mariadb openssl openssl} {
    set path [lindex [concat [auto_execok $program] [glob -nocomplain /usr/sbin/$program]] 0]
    if {$path eq {}} { unavailable "$program is not installed" }
    dict set found $key $path
  }
  return $found
}

proc servers::start_mysql {name found dir} {
  variable user
  variable password
  variable mariadb_options
  variable mariadb_sql
  set options [dict get $mariadb_options $name]
  if {[as_user mysql] ne {}} { exec chown mysql:mysql $dir }
  exec {*}[as_user mysql] [dict get $found install] --no-defaults --datadir=$dir/data --skip-test-db \
    --auth-root-authentication-method=normal --skip-name-resolve --innodb-log-file-size=16M \
    --innodb-flush-method=nosync [lsearch -inline $options --lower-case-table-names=*] >$dir/install.log 2>@1
  certificates $found $dir
  # The anonymous users and root go.
  write_file $dir/start.sql [join [list "DELETE FROM mysql.global_priv WHERE User <> 'mariadb.sys';" \
    "FLUSH PRIVILEGES;" "CREATE USER $user@'%' IDENTIFIED BY '$password';" \
    "GRANT ALL ON *.* TO $user@'%' WITH GRANT OPTION;" [dict get $mariadb_sql $name] {}] \n]
  set port [free_port]
  set pid [keep $name $dir TERM {*}[as_user mysql] [dict get $found server] --no-defaults \
    --datadir=$dir/data --socket=$dir/socket --pid-file=$dir/pid --init-file=$dir/start.sql \
    --bind-address=127.0.0.1,127.0.0.2 --port=$port --skip-name-resolve --skip-log-bin \
    --ssl-ca=$dir/ca.pem --ssl-cert=$dir/server.pem --ssl-key=$dir/server.key \
    --innodb-flush-method=nosync --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M \
    --innodb-fast-shutdown=2 --sync-frm=0 --max-allowed-packet=128M --max-connections=100 {*}$options]
  set server [dict create name $name kind mysql host 127.0.0.1 port $port user $user \
    password $password database mysql libdir {} program [dict get $found program] \
    socket $dir/socket ca $dir/ca.pem other_ca $dir/other_ca.pem pid $pid dir $dir]
  wait_until_ready $server [list mysql $server {SELECT 1}]
  dict set server version [mysql $server {SELECT version()}]
  add_urls $server
}

# Two authorities, and the server's certificate from the first of them.
proc servers::certificates {found dir} {
  set new [list exec {*}[as_user mysql] [dict get $found openssl] req -newkey ec \
    -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -batch]
  foreach {ca name} {ca {edb test} other_ca {edb other}} {
    {*}$new -x509 -keyout $dir/$ca.key -out $dir/$ca.pem -subj "/CN=$name" 2>@1
  }
  write_file $dir/names subjectAltName=IP:127.0.0.1\n
  {*}$new -keyout $dir/server.key -out $dir/server.csr -subj /CN=127.0.0.1 2>@1
  exec {*}[as_user mysql] [dict get $found openssl] x509 -req -in $dir/server.csr -CA $dir/ca.pem \
    -CAkey $dir/ca.key -CAcreateserial -extfile $dir/names -days 2 -out $dir/server.pem 2>@1
}

proc servers::url_mysql {server secret} {
  dict with server { return mysql://$user$secret@$host:$port/$database }
}

# Runs SQL through the client, in a session that takes anything; returns the rows, tabs between.
proc servers::mysql {server sql args} {
  exec env -u LD_LIBRARY_PATH -u LD_PRELOAD MYSQL_PWD=[dict get $server password] \
    [dict get $server program] --no-defaults --batch --skip-column-names --raw --binary-mode \
    --default-character-set=utf8mb4 --protocol=tcp \
    {--init-command=SET NAMES utf8mb4, sql_mode='', time_zone='+00:00', sql_select_limit=DEFAULT, autocommit=1, completion_type=0} \
    -h [dict get $server host] -P [dict get $server port] -u [dict get $server user] \
    -D [dict get $server database] {*}$args << $sql
}

proc servers::sql_mysql {server sql} { mysql $server $sql }

# Text columns that say nothing else compare without regard to case, whatever the server's default.
proc servers::database_mysql {server name} {
  mysql [dict replace $server database mysql] "DROP DATABASE IF EXISTS `$name`;
    CREATE DATABASE `$name` CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
}
