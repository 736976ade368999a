# The tls group: build/tlsc beside clients on libssl and wolfSSL, against openssl s_server on loopback.  What counts is
# the client's processor time, of 100 connections or of 1 GB: edb_s and peer_s are that.

namespace eval tls {
  variable connections 100
  variable bytes [expr {1 << 30}]
  variable name bench.example
  variable folder {}
  # A row: the case, the key of the server's certificate, edb's way, and for each peer its way and the target of the
  # ratio.  A way is a participant and what it does; participants are the procs below.
  variable cases {
    tls.connect.rsa2048        rsa2048 {edb connect}          {openssl {openssl connect} 1.0 wolfssl {wolfssl connect} 0.9}
    tls.connect.p256           p256    {edb connect}          {openssl {openssl connect} 1.0 wolfssl {wolfssl connect} 0.9}
    tls.connect.rsa2048.nou128 rsa2048 {edb-nou128 connect}   {u128 {edb connect} {} openssl {openssl connect} {}}
    tls.connect.p256.nou128    p256    {edb-nou128 connect}   {u128 {edb connect} {} openssl {openssl connect} {}}
    tls.resume.rsa2048         rsa2048 {edb resume}           {full {edb connect} 1.5}
    tls.resume.p256            p256    {edb resume}           {full {edb connect} 1.5}
    tls.read                   p256    {edb read}             {openssl {openssl read} 1.5 wolfssl {wolfssl read} {}}
    tls.read.portable          p256    {edb read portable}    {openssl {openssl read} {}}
    tls.read.openssl           p256    {edb read openssl}     {openssl {openssl read} {}}
  }
}

# Participants: each answers a command ---------------------------------------------------------------------

proc tls::edb {port root work {cipher native}} { tlsc tlsc $port $root $work $cipher }
proc tls::edb-nou128 {port root work} { tlsc nou128/tlsc $port $root $work native }

proc tls::tlsc {program port root work cipher} {
  variable connections
  variable bytes
  variable name
  set build [expr {[info exists ::env(EDB_BUILD_DIR)] ? $::env(EDB_BUILD_DIR) : "$peers::root/build"}]
  set how [dict get {connect {-count %n} resume {-count %n -resume 1}
    read {-read %b -say "GET /large HTTP/1.0\r\n\r\n"}} $work]
  list $build/$program -name $name -trust $root -cipher $cipher \
    {*}[string map [list %n $connections %b $bytes] $how] 127.0.0.1 $port
}

proc tls::openssl {port root work} { peer [peers::program tls_openssl] $port $root $work }
proc tls::wolfssl {port root work} { peer [peers::program tls_wolfssl] $port $root $work }

proc tls::peer {program port root work} {
  variable connections
  variable bytes
  variable name
  list $program $work 127.0.0.1 $port $root $name [expr {$work eq "read" ? $bytes : $connections}] large
}

proc peers::build_tls_openssl {} {
  compile tls_openssl tls_openssl.c openssl/ssl.h libssl-dev {} {-lssl -lcrypto}
}
proc peers::build_tls_wolfssl {} {
  compile tls_wolfssl tls_wolfssl.c wolfssl/options.h libwolfssl-dev {} -lwolfssl
}

# The server ---------------------------------------------------------------------------------------------------

# A root and a leaf of the same kind of key; a file of zeros to be read.
proc tls::make_files {} {
  variable folder
  variable name
  variable bytes
  set folder [servers::temporary_directory]
  set channel [open $folder/large w]
  seek $channel [expr {$bytes - 1}]
  puts -nonewline $channel \0
  close $channel
  foreach {key how} {rsa2048 {RSA -pkeyopt rsa_keygen_bits:2048} p256 {EC -pkeyopt ec_paramgen_curve:P-256}} {
    foreach who {root leaf} { exec openssl genpkey -algorithm {*}$how -out $folder/$key.$who.key 2>@1 }
    exec openssl req -x509 -new -key $folder/$key.root.key -subj "/CN=$key root" -days 2 -out $folder/$key.root.pem \
      -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2>@1
    servers::write_file $folder/ext "subjectAltName=DNS:$name\nextendedKeyUsage=serverAuth
keyUsage=digitalSignature\nauthorityKeyIdentifier=keyid\n"
    exec openssl req -new -key $folder/$key.leaf.key -subj /CN=$name -out $folder/csr 2>@1
    exec openssl x509 -req -in $folder/csr -CA $folder/$key.root.pem -CAkey $folder/$key.root.key -CAcreateserial \
      -days 2 -extfile $folder/ext -out $folder/$key.leaf.pem 2>@1
  }
}

# An s_server that ends with us at the latest; answers {process port}.
proc tls::serve {key} {
  variable folder
  set port [servers::free_port]
  set pid [exec setpriv --pdeathsig KILL -- sh -c {cd "$1" && shift && exec "$@"} sh $folder openssl s_server \
    -accept 127.0.0.1:$port -cert $key.leaf.pem -key $key.leaf.key -WWW </dev/null >$folder/log 2>@1 &]
  for {set try 0} {$try < 500 && ![string match *ACCEPT* [servers::read_file $folder/log]]} {incr try} { after 10 }
  list $pid $port
}

# Measuring ------------------------------------------------------------------------------------------------------

# Runs a way once; its line with `cpu`, user and system time together.
proc tls::run {way port key} {
  variable folder
  lassign $way participant work
  set command [$participant $port $folder/$key.root.pem {*}[lrange $way 1 end]]
  set result [report::parse [lindex [split [exec {*}$command 2>@1] \n] end]]
  dict set result cpu [expr {[dict get $result user_s] + [dict get $result sys_s]}]
}

proc tls::run_case {case key edb peers} {
  variable connections
  variable bytes
  set ways [dict create edb $edb]
  foreach {peer way target} $peers {
    if {[bench::peers_wanted $peer] eq {}} continue
    dict set ways $peer $way
    dict set targets $peer $target
  }
  lassign [serve $key] pid port
  set samples {}
  set skipped {}
  # Each once, which is the warm-up; then in rounds that begin with another one each time.
  foreach name [dict keys $ways] {
    bench::progress $case "warm-up $name"
    if {[catch {run [dict get $ways $name] $port $key} message options]} {
      dict set skipped $name [lindex [split $message \n] end]
      dict unset ways $name
      if {[dict get $options -errorcode] ne {BENCH SKIP}} {
        incr bench::errors
        puts stderr "\r$case: $name: $message"
      }
    }
  }
  set names [dict keys $ways]
  for {set round 0} {$round < $bench::rounds} {incr round} {
    bench::progress $case "round [expr {$round + 1}] of $bench::rounds"
    for {set i 0} {$i < [llength $names]} {incr i} {
      set name [lindex $names [expr {($i + $round) % [llength $names]}]]
      set result [run [dict get $ways $name] $port $key]
      foreach {sample field} {wall cpu cpu cpu rss rss_kb} {
        dict set samples $name $sample [concat [bench::get $samples $name $sample] [dict get $result $field]]
      }
      dict set samples $name client [dict get $result client]
    }
  }
  exec kill -KILL $pid
  foreach peer [dict keys $targets] {
    set result [dict create case $case peer $peer]
    if {[dict exists $skipped $peer]} {
      dict set result skipped [dict get $skipped $peer]
    } else {
      set result [dict merge $result [bench::compare $samples $peer]]
    }
    if {[dict exists $skipped edb]} { dict set result edb_skipped [dict get $skipped edb] }
    dict set result rows [expr {[lindex $edb 1] eq "read" ? $bytes : $connections}]
    if {[dict get $targets $peer] ne {}} { dict set result target [dict get $targets $peer] }
    bench::record [dict merge $result [bench::facts [exec openssl version] {}]]
  }
}

proc tls::group {} {
  variable cases
  variable folder
  foreach {case key edb peers} $cases {
    if {![bench::is_wanted $case]} continue
    if {$folder eq {}} make_files
    run_case $case $key $edb $peers
  }
  if {$folder ne {}} { file delete -force $folder }
}
