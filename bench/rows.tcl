# The benchmark's rows in SQL, and the sums that every participant must arrive at.  participant.h
# says what the rows are; this file works its sums out from that, not from any participant's answer.

namespace eval rows {
  variable words {
    a to sea Zürich river Łódź harbour 東京 mountain København evening lamp Straße bread
    {one quite long word} {winter wheat harvest!}
  }
  variable period 1000003             ;# scores repeat after so many ids, each residue once
}

# The columns (id, name, score) of the row whose id is the SQL expression ID, for PostgreSQL.
proc rows::postgresql {id} {
  variable words
  variable period
  set list '[join $words ',']'
  return "$id AS id, lpad(($id)::text, 8, '0') || ' ' || (ARRAY\[$list\])\[1 + ($id & 15)\] AS name,\
    ($id * 7919 % $period)::float8 / 8 AS score"
}

# The same for MariaDB, of an ID that is an unsigned bigint.
proc rows::mariadb {id} {
  variable words
  variable period
  return "CAST($id AS SIGNED) AS id, concat(lpad($id, 8, '0'), ' ', elt(1 + ($id & 15), '[join $words ',']')) AS name,\
    ($id * 7919 % $period) / 8e0 AS score"
}

# The same for SQL Server (2022, for its series): the columns and the FROM clause of rows 1 .. N.
proc rows::sqlserver {n} {
  variable words
  variable period
  set cases {}
  for {set i 0} {$i < 16} {incr i} { append cases " WHEN $i THEN N'[lindex $words $i]'" }
  return "value AS id, RIGHT('0000000' + CAST(value AS varchar(20)), 8) + N' ' + CASE value & 15$cases END AS name,\
    CAST(value * 7919 % $period AS float) / 8 AS score\
    FROM GENERATE_SERIES(CAST(1 AS bigint), CAST($n AS bigint))"
}

proc rows::key {n rows} { expr {1 + $n * 618033 % $rows} }

# The first and last id that the work `filter` reads.
proc rows::filter {rows} { list [expr {$rows / 2 + 1}] [expr {$rows / 2 + $rows / 100}] }

# The sums {count ids chars score} of WORK over a table of ROWS rows.
proc rows::expected {work rows units} {
  switch $work {
    scan { sums 1 $rows }
    filter { sums {*}[filter $rows] }
    insert - load - insert_select - insert_rows - update - update_rows { sums 1 $units }
    count { list $rows 0 0 0.0 }
    count.where { list [expr {$rows / 10}] 0 0 0.0 }
    topn { lmap sum [sums 1 10] { expr {$sum * $units} } }
    minmax { list $units [expr {$units / 2 * (1 + $rows)}] 0 0.0 }
    planning { list $units 0 0 0.0 }
    join.lookup - join.hash - join.in {
      lassign [expected lookup $rows $units] count ids - score
      list $count $ids 0 $score
    }
    lookup {
      set total {0 0 0 0.0}
      for {set n 0} {$n < $units} {incr n} {
        set id [key $n $rows]
        set total [lmap a $total b [sums $id $id] { expr {$a + $b} }]
      }
      return $total
    }
    default { error "no such work: $work" }
  }
}

proc rows::sums {low high} {
  variable words
  set count [expr {$high - $low + 1}]
  set chars [expr {9 * $count}]
  for {set i 0} {$i < 16} {incr i} {
    # How many ids in low .. high leave the remainder i.
    set n [expr {($high - $i + 16) / 16 - ($low - 1 - $i + 16) / 16}]
    incr chars [expr {$n * [string length [lindex $words $i]]}]
  }
  set eighths [expr {$count > 100000 ? [eighths $high] - [eighths [expr {$low - 1}]]
                                     : [add_eighths $low $high]}]
  list $count [expr {($low + $high) * $count / 2}] $chars [expr {$eighths / 8.0}]
}

# Eight times the sum of the scores 1 .. n: whole periods, less what is beyond n.
proc rows::eighths {n} {
  variable period
  set periods [expr {($n + $period - 1) / $period}]
  expr {$periods * ($period * ($period - 1) / 2) - [add_eighths [expr {$n + 1}] [expr {$periods * $period}]]}
}

proc rows::add_eighths {low high} {
  variable period
  set sum 0
  for {set id $low} {$id <= $high} {incr id} { incr sum [expr {$id * 7919 % $period}] }
  return $sum
}
