// The peer pgx: a Go program on the driver that Go users pick for PostgreSQL. No SQLite is in it.
//
//	pgx WORK URL TABLE ROWS UNITS      do WORK once, print one JSON line
//
// The keys, the range and the line are participant.h's.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

type sums struct {
	count, ids, chars int64
	score             float64
}

func (s *sums) add(id int64, name string, score float64) {
	s.count++
	s.ids += id
	s.chars += int64(utf8.RuneCountInString(name))
	s.score += score
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgx:", err)
		os.Exit(1)
	}
}

// read adds the rows (id, name, score) of a query.
func read(ctx context.Context, conn *pgx.Conn, s *sums, sql string, args ...any) {
	rows, err := conn.Query(ctx, sql, args...)
	check(err)
	var id int64
	var name string
	var score float64
	for rows.Next() {
		check(rows.Scan(&id, &name, &score))
		s.add(id, name, score)
	}
	check(rows.Err())
}

// lookups sends one prepared statement again and again: pgx prepares and keeps it at its first use.
func lookups(ctx context.Context, conn *pgx.Conn, s *sums, table string, rows, units int64) {
	sql := "SELECT name, score FROM " + table + " WHERE id = $1"
	var name string
	var score float64
	for n := int64(0); n < units; n++ {
		key := 1 + n*618033%rows
		check(conn.QueryRow(ctx, sql, key).Scan(&name, &score))
		s.add(key, name, score)
	}
}

func peakKB() int64 {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			check(err)
			return kb
		}
	}
	return 0
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == "github.com/jackc/pgx/v5" {
			return "pgx " + dep.Version
		}
	}
	return "pgx"
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: pgx WORK URL TABLE ROWS UNITS")
		os.Exit(2)
	}
	work, url, table := os.Args[1], os.Args[2], os.Args[3]
	rows, err := strconv.ParseInt(os.Args[4], 10, 64)
	check(err)
	units, err := strconv.ParseInt(os.Args[5], 10, 64)
	check(err)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	check(err)
	query := "SELECT id, name, score FROM " + table
	var s sums
	var before, after syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	start := time.Now() // Go compares monotonic readings
	switch work {
	case "scan":
		read(ctx, conn, &s, query)
	case "filter":
		read(ctx, conn, &s, query+" WHERE id BETWEEN $1 AND $2", rows/2+1, rows/2+rows/100)
	case "count":
		check(conn.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&s.count))
	case "lookup":
		lookups(ctx, conn, &s, table, rows, units)
	default:
		check(fmt.Errorf("no such work: %s", work))
	}
	wall := time.Since(start).Seconds()
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"work": work, "wall_s": wall,
		"user_s": seconds(after.Utime) - seconds(before.Utime),
		"sys_s":  seconds(after.Stime) - seconds(before.Stime),
		"rss_kb": peakKB(), "count": s.count, "ids": s.ids, "chars": s.chars, "score": s.score,
		"units": units, "server": conn.PgConn().ParameterStatus("server_version"), "client": version(),
	}))
	check(conn.Close(ctx))
}
