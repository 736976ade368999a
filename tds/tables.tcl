# tables.tcl: makes the table of single-byte code pages, from the encodings that Tcl brings.
#
#   tclsh tds/tables.tcl | clang-format >tds/codepage_table.c
#
# Tcl gives a byte without a character its own number: below A0 that is what Windows does too, above it is
# U+FFFD here.  test/tds_codepages.test compares each entry with Python's codecs.

set pages {437 850 874 1250 1251 1252 1253 1254 1255 1256 1257 1258}
set absent {
  874  {0xDB 0xDC 0xDD 0xDE 0xFC 0xFD 0xFE 0xFF}
  1253 {0xAA 0xD2 0xFF}
  1255 {0xD9 0xDA 0xDB 0xDC 0xDD 0xDE 0xDF 0xFB 0xFC 0xFF}
  1257 {0xA1 0xA5}
}
set later {1255 {0xCA 0x05BA}} ;# Windows's, but not in Tcl's table

proc character {page byte} {
  if {[dict exists $::absent $page] && [format 0x%02X $byte] in [dict get $::absent $page]} { return 0xFFFD }
  if {[dict exists $::later $page] && [dict exists $::later $page [format 0x%02X $byte]]} {
    return [dict get $::later $page [format 0x%02X $byte]]
  }
  scan [encoding convertfrom cp$page [format %c $byte]] %c
}

puts "/*"
puts "** tds/codepage_table.c: the characters of the bytes 80…FF in single-byte code pages. Made by tables.tcl."
puts "*/"
puts "#include \"tdsInt.h\"\n"
puts "const tds_page tds_pages\[\] = \{"
foreach page $pages {
  set high {}
  for {set byte 128} {$byte < 256} {incr byte} { lappend high [format 0x%04X [character $page $byte]] }
  puts "\{$page, \{[join $high {, }]\}\},"
}
puts "\};"
puts "const size_t tds_pages_count = sizeof tds_pages / sizeof tds_pages\[0\];"
